"""``gym-memory transfer``: CLIN's experiments, from training episodes to new environments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gym_memory.cli import options

__all__ = ["command"]


@options.grouped
def command(
    setup: Annotated[str, typer.Argument(help="adapt, gen-env, gen-task or gen-adapt.")],
    env: options.Envs,
    memory: Annotated[
        list[str], typer.Option("--memory", "-m", help="A memory that keeps an archive.")
    ] = ["clin"],  # noqa: B006 - typer copies it
    policy: Annotated[list[str], typer.Option("--policy", "-p", help="Policies.")] = ["clin"],  # noqa: B006
    seeds: options.Seeds = "0:10",
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--from", metavar="ENV", help="Train on this one; default: the split train. Repeatable."
        ),
    ] = None,
    train_seeds: Annotated[
        str | None,
        typer.Option(
            metavar="SEEDS", help="Training episodes; default: 0:10, with --from as --seeds."
        ),
    ] = None,
    trials: Annotated[int, typer.Option(metavar="K", min=1, help="Trials of an episode.")] = 5,
    *,
    asked: options.Asked,
    playing: options.Playing,
) -> None:
    """Learn on some tasks, then play others with what was learnt: CLIN's experiments.

    `adapt`: trials from an empty memory. `gen-env`: one trial from a meta-memory of the best
    trial of each training episode, the same task elsewhere. `gen-task`: likewise from another
    task (`--from`) in the same environment. `gen-adapt`: trials that start so and go on learning.
    A trial that wins is the last. Interrupted, the same command goes on where it was.

    Example: `gym-memory transfer gen-env -e "Cooking?level=rl-3&split=test" --seeds 0:20
    --model scripted --base-url http://127.0.0.1:8000/v1 --out results/gen-env`
    """
    from gym_memory.cli.compare import default_out, play_config, play_parts
    from gym_memory.papers.transfer import transfer
    from gym_memory.run.jobs import RunConfig, parse_seeds

    config = asked.config(env, memory, policy, seeds, "single_episode")

    def parts(folder: Path) -> dict[str, RunConfig]:
        return transfer(
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
