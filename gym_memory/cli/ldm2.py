"""``gym-memory ldm2``: form a memory of tuples from demonstrations, refine it by exploration."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text
from typer import Argument, Option

from gym_memory.cli import LOOKS, options
from gym_memory.cli.show import output, print_json, print_table, progress, shown_progress
from gym_memory.core.names import Spec
from gym_memory.wrappers.memory import DEFAULT_BUDGET

if TYPE_CHECKING:
    from gym_memory.core.trajectory import Trajectory
    from gym_memory.memory.ldm2.memory import LDM2
    from gym_memory.papers.comparison import Comparison
    from gym_memory.papers.refine import RefinedTask
    from gym_memory.run.compare import OnProgress

__all__ = ["app", "prepare"]

app = typer.Typer(
    **LOOKS,
    no_args_is_help=True,
    help="""The two stages of LDM2's memory, kept in a store that every run can use.

    Demonstrations are recorded steps: those of any run.

    Example: `gym-memory ldm2 form results/demos/steps -m "ldm2?store=tuples.db"` after
    `gym-memory run -e "Cooking?level=rl-2&split=train" -m none -p walkthrough --seeds 0:20
    --out results/demos`, then

    `gym-memory ldm2 refine -e "Cooking?level=rl-2&split=train" -m "ldm2?store=tuples.db"
    -p "ldm2?model=M" --seeds 20:30`, then

    `gym-memory compare -e "Cooking?level=rl-2&split=test" -m "ldm2?store=tuples.db&learn=false"
    -p "ldm2?model=M" --seeds 0:20`
    """,
)

_STORE = "Memory ldm2?store=STORE, with further parameters."
Store = Annotated[str, Option("--memory", "-m", metavar="MEMORY", help=_STORE)]


@app.command()
def form(
    recordings: Annotated[
        list[Path],
        Argument(metavar="RECORDINGS", help="Recorded steps: *.jsonl.gz, or folders of them."),
    ],
    memory: Store,
    successes: Annotated[
        bool, Option("--successes", help="Skip episodes that were not won.")
    ] = False,
) -> None:
    """Form a memory from demonstrations, batch by batch.

    If interrupted, run the command again: batches that the store has are not formed again.

    Example: `gym-memory ldm2 form results/demos/steps -m "ldm2?store=tuples.db&batch_size=50"`
    """
    played = _recorded(recordings, successes=successes)
    with shown_progress(f"{len(played)} demonstrations") as on_progress:
        opened = _form(memory, played, on_progress)
    output().print(
        f"{len(played)} demonstrations; the store has {opened.stats().lessons} tuples in "
        f"{len(opened.batches)} batch memories.",
        soft_wrap=True,
    )


def _recorded(recordings: Sequence[Path], *, successes: bool) -> list[Trajectory]:
    from gym_memory.core.trajectory import read_trajectory
    from gym_memory.memory.ldm2.formation import recordings as files_of

    return [
        trajectory
        for path in recordings
        for file in files_of(str(path))
        for trajectory in read_trajectory(file)
        if trajectory.outcome.success or not successes
    ]


def _form(memory: str, played: Sequence[Trajectory], on_progress: OnProgress) -> LDM2:
    from gym_memory.papers import refine as stages

    return stages.form(memory, played, lambda done, total: on_progress(done, total, ()))


def prepare(part: Comparison, folder: Path, playing: options.Playing) -> None:
    """Train learners, form and refine tuples: what a part of a published experiment needs."""
    from gym_memory.cli.train import train, train_symbolic
    from gym_memory.memory.stores.store import backup
    from gym_memory.papers import refine as stages
    from gym_memory.run.config import parse_seeds

    for target, what in part.learn.items():
        if what["baseline"] == "symbolic":
            train_symbolic(target, what["env"], what["steps"])
        elif not (target / "result.json").exists():
            train(target, **what)
    memory = part.config.memories[0]
    if part.form:
        steps = [folder / name / "steps" for name in part.form]
        with shown_progress(f"form {part.name}") as on_progress:
            _form(memory, _recorded(steps, successes=True), on_progress)
    if part.refine is not None:
        refined = Path(str(Spec(memory).kwargs["store"]))
        if not refined.exists():
            backup(refined.with_name(refined.name.replace("refined", "store")), refined)
        for number, env in enumerate(part.refine["envs"], 1):
            config = stages.RefineConfig(
                env,
                part.refine.get("memory", memory),
                part.refine["policy"],
                parse_seeds(part.refine["seeds"]),
                budget=part.config.budgets[0],
            )
            with shown_progress(f"refine {part.name}") as on_progress:
                stages.refine(
                    config,
                    folder / f"{refined.stem}-refinement-{number}",  # once for all parts
                    max_cost_usd=playing.max_cost_usd,
                    max_tokens=playing.max_tokens,
                    spending=folder / "spending.sqlite",
                    retry_failed=playing.retry_failed,
                    on_task=lambda done, total, _: on_progress(done, total, ()),
                )


@app.command()
def refine(
    env: options.Env,
    memory: Store,
    policy: options.Policy = "ldm2",
    seeds: options.Seeds = "0:10",
    width: Annotated[int, Option(metavar="N", min=1, help="Paths that stay after every step.")] = 4,
    max_calls: Annotated[
        int | None, Option(metavar="N", min=0, help="Calls of the policy's model for one tree.")
    ] = None,
    tree_steps: Annotated[
        int | None, Option(metavar="N", min=0, help="Environment steps for one tree.")
    ] = None,
    budget: options.Budget = DEFAULT_BUDGET,
    max_steps: options.MaxSteps = None,
    max_cost_usd: options.MaxCost = None,
    max_tokens: options.MaxTokens = None,
    out: options.Out = None,
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
    retry_failed: options.RetryFailed = False,
) -> None:
    """Explore tasks as trees; add what made a process better than the greedy one.

    If interrupted, run the command again: it continues. Use other tasks than those that evaluate
    the memory.

    Example: `gym-memory ldm2 refine -e "Cooking?level=rl-4&split=train" -m "ldm2?store=tuples.db"
    -p "ldm2?model=qwen&base_url=http://localhost:8000/v1" --seeds 20:40 --max-calls 300`
    """
    from gym_memory.papers.refine import RefineConfig
    from gym_memory.papers.refine import refine as run
    from gym_memory.run.config import parse_seeds

    options.load_plugins(plugins)
    config = RefineConfig(
        options.with_max_steps(env, max_steps),
        memory,
        policy,
        parse_seeds(seeds),
        width,
        max_calls,
        tree_steps,
        budget,
    )
    digest = hashlib.sha256(repr(config).encode()).hexdigest()[:8]
    folder = out or Path("results") / f"refine-{digest}"
    with shown_progress(f"{len(config.seeds)} tasks") as on_progress:
        try:
            rows = run(
                config,
                folder,
                max_cost_usd=max_cost_usd,
                max_tokens=max_tokens,
                retry_failed=retry_failed,
                on_task=lambda done, total, _: on_progress(done, total, ()),
            )
        except KeyboardInterrupt:
            progress().print(f"Interrupted. What is explored is in {folder}.")
            raise typer.Exit(130) from None
    if json_lines:
        print_json([dataclasses.asdict(row) for row in rows])
    else:
        _print(rows)
    raise typer.Exit(int(any(row.failed for row in rows)))


def _print(rows: Sequence[RefinedTask]) -> None:
    numbers = ("seed", "greedy", "best", "splits", "calls", "steps", "added", "tuples")
    lines = []
    for row in rows:
        end = "" if row.whole else "cut by a limit"
        lines.append((
            row.task_id, str(row.seed), f"{row.greedy:.3f}", f"{row.best:.3f}",
            *map(str, (row.splits, row.calls, row.steps, row.added, row.tuples)),
            Text(f"failed: {row.failed}", "red") if row.failed else end,
        ))  # fmt: skip
    minor = ("splits", "calls", "tuples", "steps")
    print_table(("task", *numbers, "end"), lines, right=numbers, minor=minor, title="explored")
    better = sum(row.best > row.greedy for row in rows)
    added = sum(row.added for row in rows)
    output().print(f"{better} of {len(rows)} tasks found better; {added} tuples added.")
