"""``gym-memory credit``: what each remembered item was worth."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

from typer import Option

from gym_memory.cli import options
from gym_memory.cli.show import output, print_json, print_table, progress, shown_progress
from gym_memory.core.errors import InvalidArgumentError, ResultsError
from gym_memory.core.files import write_atomic
from gym_memory.run.jobs import Job, parse_seeds
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gym_memory.evaluate.credit import Credited

__all__ = ["credit"]

_SHOWN_CHARS = 70


def credit(
    env: options.Env,
    memory: options.Memory = DEFAULT_MEMORY,
    policy: options.Policy = "planner",
    seeds: options.Seeds = "0",
    demonstrated: Annotated[
        int, Option(metavar="N", min=0, help="First episodes, which the walkthrough plays.")
    ] = 0,
    step: Annotated[
        int | None, Option(metavar="T", min=0, help="Measure the recall of this step alone.")
    ] = None,
    kinds: Annotated[str, Option(metavar="KINDS", help="Kinds of items, comma-separated.")] = (
        "fact,episode,lesson"
    ),
    most: Annotated[int, Option(metavar="N", min=1, help="Items of an episode at most.")] = 20,
    alone: Annotated[bool, Option("--alone", help="Measure each without all others, too.")] = False,
    samples: Annotated[
        int, Option(metavar="N", min=0, help="Random orders for Shapley values.")
    ] = 0,
    budget: options.Budget = DEFAULT_BUDGET,
    max_steps: options.MaxSteps = None,
    out: options.Out = None,
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
) -> None:
    """Measure what each recalled fact, episode and lesson was worth, by leaving it out.

    Every episode is replayed with the same policy and seed, once without each item. The seeds make
    a stream: one memory goes on from episode to episode. Prints the worth of each item in score and
    steps, how far published rules are from it where there are lessons, and the replays that it
    took. `--out` keeps the numbers in `credit.json` and the episodes, with the worths beside the
    recalls, in `steps.jsonl.gz` for `gym-memory view`.

    Example: `gym-memory credit --env "TreasureHunt?level=easy" --policy planner --seeds 3
    --alone --samples 4 --out results/credit`
    """
    from gym_memory.baselines.base import make_policy
    from gym_memory.evaluate.credit import credit as credited
    from gym_memory.run.replays import KINDS
    from gym_memory.wrappers.record import RecordTrajectory

    options.load_plugins(plugins)
    chosen = [kind for kind in KINDS if kind in kinds.split(",")]
    if set(kinds.split(",")) != set(chosen):
        raise InvalidArgumentError(f"expected --kinds of {','.join(KINDS)}, got {kinds!r}")
    stream = parse_seeds(seeds)
    job = Job(options.with_max_steps(env, max_steps), memory, policy, stream[0], budget=budget)
    world = job.make_env()
    if out is not None:
        world = RecordTrajectory(world, str(out / "steps.jsonl.gz"), detail=True)
    episodes: list[Credited] = []
    with closing(world), shown_progress("credit") as update:
        for episode in credited(
            *(world, make_policy(policy), stream),
            demonstrated=demonstrated, step=step, kinds=chosen, most=most, alone=alone,
            samples=samples,
        ):  # fmt: skip
            episodes.append(episode)
            update(len(episodes), len(stream) - demonstrated, ())
    rows = [episode.to_json() for episode in episodes]
    if json_lines:
        print_json(rows)
    else:
        _print(episodes, f"{memory}, {policy}, {env}")
    if out is not None:
        try:
            write_atomic(out / "credit.json", json.dumps(rows, indent=1) + "\n")
        except OSError as error:
            raise ResultsError(f"cannot write to {str(out)!r}: {error}") from error
        progress().print(f"Written: {out / 'credit.json'}", markup=False, soft_wrap=True)


def _print(episodes: Sequence[Credited], title: str) -> None:
    from gym_memory.evaluate.credit import by_item, rule_errors
    from gym_memory.run.results.score import format_interval, format_number

    numbers = ("episodes", "score", "steps", "alone", "Shapley")
    lines = [
        (
            " ".join(f"{item.key.kind}: {item.text}".split())[:_SHOWN_CHARS],
            *(str(item.episodes), f"{item.score:+.3f}", f"{item.steps:+.1f}"),
            *(format_number(part, "+.3f") for part in (item.alone, item.shapley)),
        )
        for item in by_item(episodes)
    ]
    print_table(("item", *numbers), lines, right=numbers, title=title)
    errors = rule_errors([episodes])
    if errors[0].items:
        counted = ("items", "rank", "95 %", "harmful", "kept", "useful", "dropped")
        lines = [
            (
                *(row.rule, str(row.items), f"{row.rank:+.2f}"),
                format_interval((row.low, row.high), "+"),
                *map(str, (row.harmful, row.kept, row.useful, row.dropped)),
            )
            for row in errors
        ]
        print_table(("rule", *counted), lines, right=counted, title="rules against the worth")
    replays, steps = sum(e.replays for e in episodes), sum(e.steps for e in episodes)
    left = sum(episode.items - len(episode.worths) for episode in episodes)
    output().print(
        f"{replays} replays, {steps} steps, {sum(e.seconds for e in episodes):.1f} CPU seconds; "
        f"{left} items not measured.",
        markup=False,
    )
