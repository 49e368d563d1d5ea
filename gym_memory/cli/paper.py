"""``gym-memory paper`` and ``transfer``: repeat published experiments, and compare the scores."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from gym_memory.cli import options
from gym_memory.cli.show import output, print_json, print_table, progress
from gym_memory.memory.encoders import DEFAULT_MODEL

if TYPE_CHECKING:
    from gym_memory.papers.comparison import Comparison
    from gym_memory.papers.experiments import PaperExperiment
    from gym_memory.run.config import EpisodeRow

__all__ = ["paper", "print_records", "transfer"]

_NO_BREAK = "\u00a0"
"""Space inside a name, which is no sentence that wraps."""


@options.grouped
def paper(
    name: Annotated[str, Argument(help="Name of the experiment; none lists them.")] = "",
    model: options.Model = "",
    base_url: options.BaseUrl = "",
    memory_llm: Annotated[
        bool,
        Option(
            "--memory-llm/--memory-rules",
            help="Player of the memories' roles: the model, as in the papers, or rules.",
        ),
    ] = True,
    encoder: Annotated[
        str, Option(metavar="NAME", help="The paper's encoder, such as facebook/contriever.")
    ] = DEFAULT_MODEL,
    seeds: Annotated[
        str, Option("--seeds", "-s", help="Seeds to use instead of the experiment's own.")
    ] = "",
    max_steps: options.MaxSteps = None,
    train_steps: Annotated[
        int | None, Option(metavar="N", min=1, help="Steps of a training; default: the trainer's.")
    ] = None,
    *,
    playing: options.Playing,
) -> None:
    """Run a table or figure of a paper with a language model; print ours, theirs, the difference.

    If interrupted, run the command again: it continues. The hard stops hold for all parts of the
    experiment together. Every part has a folder with its own report; figures are SVG files beside
    these folders.

    Example: `gym-memory paper arigraph-fig3 --model qwen --base-url http://localhost:8000/v1
    --max-tokens 5000000`
    """
    from gym_memory.cli.compare import default_out, play_config
    from gym_memory.cli.ldm2 import prepare
    from gym_memory.papers.experiments import experiment_names, load_experiment
    from gym_memory.papers.results import draw, records
    from gym_memory.run.compare import KeptWorkers

    if not name:
        for known in experiment_names():
            output().print(f"{known}: {load_experiment(known).title}", soft_wrap=True)
        return
    experiment = load_experiment(name)
    chat = options.given_model(model, base_url)
    plan = functools.partial(
        experiment.plan, chat, memory_llm=memory_llm, seeds=seeds, encoder=encoder,
        max_steps=max_steps, train_steps=train_steps,
    )  # fmt: skip
    folder = playing.out or default_out(name, plan()[0].config)
    played: list[tuple[Comparison, list[EpisodeRow]]] = []
    folder.mkdir(parents=True, exist_ok=True)
    spending = folder / "spending.sqlite"
    with KeptWorkers() as kept:
        for part in plan(folder=folder):
            prepare(part, folder, playing)
            rows = play_config(
                part.config, folder / part.name, playing, spending=spending, quiet=True, kept=kept
            )
            played.append((part, rows))
    found = records(experiment, played)
    if playing.json_lines:
        print_json(found)
    else:
        print_records(experiment, found)
        progress().print(experiment.note)
    for path in draw(experiment, played, folder):
        progress().print(f"Figure: {path}", soft_wrap=True)
    raise typer.Exit(int(any(record.get("n_failed") for record in found)))


def print_records(experiment: PaperExperiment, found: list[dict[str, Any]]) -> None:
    """Print a line per record, then the models that answered and what cannot be compared."""
    from gym_memory.papers.results import labels_of, measures_of, row_names, short_names
    from gym_memory.run.results.report import format_interval

    measures = measures_of(experiment)
    published = {
        name for name in measures if any(row[f"paper_{name}"] is not None for row in found)
    }
    compared = [f"{name} (paper, difference)" if name in published else name for name in measures]
    numbers = ("n", "failed", *compared, "95 %", "tokens (paper)", "USD")
    played = [record for record in found if record["memory"]]
    named = ("env", "memory", "policy")
    short = {key: short_names(record[key] for record in played) for key in named}
    short["env"] = row_names(experiment, (record["env"] for record in played))
    lines = [
        (
            record.get("part", ""),
            *(short[key].get(record[key], record[key]).replace(" ", _NO_BREAK) for key in named),
            record["model"] or "no model",
            *(str(record.get(key, "")) for key in ("n", "n_failed")),
            *(_beside(record, name) for name in measures),
            format_interval(record.get("score_ci")),
            f"{_tokens(record.get('tokens'))} ({_tokens(record.get('paper_tokens'))})",
            _number(record.get("cost_usd")),
            _comparable(record),
        )
        for record in found
    ]
    header = ("part", "environment", "memory", "policy", "answers", *numbers, "comparable")
    minor = ("USD", "part", "95 %", "failed", "tokens (paper)", "answers")
    print_table(header, lines, right=numbers, minor=minor, title=experiment.title)
    for sentence in labels_of(found):
        output().print(sentence)


def _beside(record: dict[str, Any], name: str) -> str:
    """Return our score, the paper's if there is one, and the difference if both compare."""
    theirs = record[f"paper_{name}"]
    if theirs is None:
        return _number(record[name])
    gap = f", {_number(record[f'difference_{name}'], '+')}" if record.get("comparable") else ""
    return f"{_number(record[name])} ({_number(theirs)}{gap})"


def _comparable(record: dict[str, Any]) -> str:
    if "comparable" not in record:
        return "published"
    return "yes" if record["comparable"] else "not comparable"


def _tokens(value: list[float] | None) -> str:
    return "-" if value is None else "+".join(f"{number:.0f}" for number in value)


def _number(value: float | None, sign: str = "") -> str:
    return "-" if value is None else f"{value:{sign}.2f}"


@options.grouped
def transfer(
    setup: Annotated[str, Argument(help="adapt, gen-env, gen-task or gen-adapt.")],
    env: options.Envs,
    memory: Annotated[
        list[str], Option("--memory", "-m", help="A memory that keeps an archive.")
    ] = ["clin"],  # noqa: B006 - typer copies it
    policy: Annotated[list[str], Option("--policy", "-p", help="Policies.")] = ["clin"],  # noqa: B006
    seeds: options.Seeds = "0:10",
    source: Annotated[
        list[str] | None,
        Option(
            "--from",
            metavar="ENV",
            help="Environment to train on; default: the split train. Repeatable.",
        ),
    ] = None,
    train_seeds: Annotated[
        str | None,
        Option(metavar="SEEDS", help="Training episodes; default: 0:10, with --from as --seeds."),
    ] = None,
    trials: Annotated[int, Option(metavar="K", min=1, help="Trials of an episode.")] = 5,
    *,
    chosen: options.RunChoices,
    playing: options.Playing,
) -> None:
    """Learn on some tasks, then play others with what was learnt: CLIN's experiments.

    `adapt`: trials from an empty memory. `gen-env`: one trial from a meta-memory of the best
    trial of each training episode, the same task elsewhere. `gen-task`: the same from another
    task (`--from`) in the same environment. `gen-adapt`: trials that start this way and keep
    learning. A trial that wins is the last. If interrupted, run the command again: it continues.

    Example: `gym-memory transfer gen-env -e "Cooking?level=rl-3&split=test" --seeds 0:20
    --model scripted --base-url http://127.0.0.1:8000/v1 --out results/gen-env`
    """
    from gym_memory.cli.compare import default_out, play_config, play_parts
    from gym_memory.papers.transfer import transfer as plan
    from gym_memory.run.config import RunConfig, parse_seeds

    config = chosen.config(env, memory, policy, seeds, "single_episode")

    def parts(folder: Path) -> dict[str, RunConfig]:
        return plan(
            setup,
            config,
            folder / "archive.db",
            sources=source or (),
            train_seeds=parse_seeds(train_seeds) if train_seeds else None,
            trials=trials,
        )

    folder = playing.out or default_out(setup, *parts(Path()).values())
    runs = {folder / name: run for name, run in parts(folder).items()}
    test = runs.pop(folder / "test")
    trained = play_parts(runs, folder, playing)
    rows = play_config(test, folder / "test", playing, spending=folder / "spending.sqlite")
    everything = [row for part in (*trained, rows) for row in part]
    raise typer.Exit(int(any(row.result.failed for row in everything)))
