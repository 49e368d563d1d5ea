"""``gym-memory memory pretrain``: make the weights of the memory ``belief``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import TextColumn

from gym_memory.cli import options
from gym_memory.cli.show import new_progress, output, print_json, print_table, progress
from gym_memory.cli.train import interrupted, read_settings
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec

__all__ = ["command"]

_COOKING = "Cooking?gata_actions=true&max_steps=50&level="
DEFAULT_ENVS = [*(f"{_COOKING}rl-{level}" for level in (1, 2, 3, 4)),
                "TreasureHunt?level=easy&max_steps=50"]  # fmt: skip
DEFAULT_POLICIES = ["random", "planner"]


def command(
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder of recordings, weights and curve.")
    ],
    env: Annotated[
        list[str] | None,
        typer.Option("--env", "-e", metavar="ENV", help="Games to learn from, without a split."),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", "-p", metavar="POLICY", help="Policies that play them."),
    ] = None,
    games: Annotated[int, typer.Option(min=1, help="Training games of each.")] = 20,
    held_out: Annotated[int, typer.Option(min=1, help="Valid and test games of each.")] = 8,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of training.")] = 300,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Another setting. Repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all chance.")] = 0,
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
) -> None:
    """Play training games and train the memory `belief` to predict what comes next.

    Prints how often the memory chooses the true next observation among others, on valid games
    during training and on test games at the end. The folder keeps `belief.safetensors` and the
    curve. If interrupted, run the command again. `--set remember=false` trains the control, which
    sees the present observation only.

    Example: `gym-memory memory pretrain --out runs/belief`, then
    `gym-memory run -e Cooking -m "belief?weights=runs/belief/belief.safetensors"`
    """
    options.load_plugins(plugins)
    from gym_memory.core.settings import make_settings
    from gym_memory_belief.corpus import play, read_corpus
    from gym_memory_belief.pretrain import Pretrainer, PretrainSettings

    envs, policies = env or DEFAULT_ENVS, policy or DEFAULT_POLICIES
    values = {**read_settings(settings or []), "rounds": rounds, "seed": seed}
    how = make_settings(PretrainSettings, values)
    splits = {"train": games, "valid": held_out, "test": held_out}
    played = {split: [_of_split(spec, split) for spec in envs] for split in splits}
    counted = "{task.completed:.0f}/{task.total:.0f}  {task.fields[shown]}"
    with new_progress(TextColumn(counted)) as bar:
        total = sum(splits.values()) * len(envs) * len(policies)
        task = bar.add_task("play", total=total, shown="")
        episodes = {}
        for split, count in splits.items():
            folder = out / "corpus" / split
            paths = play(folder, played[split], policies, range(count), lambda: bar.advance(task))
            episodes[split] = read_corpus(paths, how.nodes)
        task = bar.add_task("pretrain", total=rounds, shown="")

        def listener(number: int, row: dict[str, Any] | None) -> None:
            bar.update(task, completed=number)
            if row is not None:
                bar.update(task, shown=f"valid {row['accuracy']:.3f}")

        config = {"envs": envs, "policies": policies, "games": games, "held_out": held_out}
        trainer = Pretrainer(episodes["train"], episodes["valid"], how, out, config, listener)
        with interrupted(trainer) as caught:
            curve = trainer.run()
    if caught:
        progress().print(f"stopped at round {trainer.round}: run the command again")
        raise KeyboardInterrupt
    result = _finish(trainer, episodes["test"], out)
    if json_lines:
        print_json([*curve, result])
    else:
        _print(curve, result, out)


def _of_split(spec: str, split: str) -> str:
    name, parameters = Spec(spec).parts
    if "split" in parameters:
        raise InvalidArgumentError(f"expected {spec!r} without a split: pretraining sets it")
    return Spec.of(name, {**parameters, "split": split})


def _finish(trainer: Any, test: Any, out: Path) -> dict[str, Any]:
    """Measure on test games, and note the result with the versions and the machine."""
    from gym_memory.core.files import write_atomic
    from gym_memory.core.optional import environment_record

    result = {
        "valid": trainer.curve[-1],
        "test": trainer.measure(test),
        "environment": environment_record({}),
    }
    write_atomic(out / "result.json", json.dumps(result, indent=2) + "\n")
    return result


def _print(curve: list[dict[str, Any]], result: dict[str, Any], out: Path) -> None:
    names = ("generation", "contrast", "words", "accuracy", "older_accuracy", "cpu_seconds")
    lines = [("valid", str(row["round"]), *(f"{row[name]:g}" for name in names)) for row in curve]
    test = result["test"]
    shown = [f"{test[name]:g}" if name in test else "" for name in names]
    lines.append(("test", str(curve[-1]["round"]), *shown))
    numbers = ("round", *names)
    print_table(("games", *numbers), lines, right=numbers, title=str(out))
    output().print(
        f"Chance {test['chance']:g}; {test['questions']} test questions, {test['older_questions']} "
        "of them about names that the present observation does not have.",
        markup=False,
    )
