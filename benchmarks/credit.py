"""Measure the worth of items of experience by leaving each out, and the errors of rules.

Two worlds, in several orders: households of ALFWorld and tasks of Cooking. The first third of a
stream is demonstrated by the walkthrough; then the scripted learner plays, and each lesson shown is
left out in a replay with the same policy, seed and engine. The worth is the score with it minus the
score without it. The true worth of an item is the mean over the episodes that showed it.

The first table compares published rules with the worth of the same items; each rule sees the
outcome of every episode that showed an item. The second compares memories whose values follow the
outcome (``rule``) with the same memories whose values follow the worth (``exact``): an upper bound
for the gain by credit assignment. Gains are paired by task and order, with 95 % intervals over
tasks.

Limits: the learner draws random numbers, so a replay also differs in its draws after the item is
missing. Worths are exact for this policy and seed, but noisy as a property of the item. Rules wrote
the items.

Run in the root of the repository::

    OMP_NUM_THREADS=1 python -m benchmarks credit

It writes ``credit.md`` and, beside it, the rows in ``credit.jsonl.gz``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gym_memory.baselines.base import make_policy
from gym_memory.core.names import Spec
from gym_memory.evaluate.credit import EpisodeCredit, RuleError, credit, rule_errors
from gym_memory.run.results import intervals
from gym_memory.wrappers.make import make_env

WORLDS = {
    "households": "ALFWorld?path=generated&split=train",
    "cooking": "Cooking?level=rl-2&split=train&valid_actions=true&max_steps=30",
}
BUDGET = 2000
MEMORIES = {
    "memrl": "memrl?inner=history",
    "simutil": "simutil?inner=history",
    "skills": "skills?inner=history",
    "playbook": "playbook?inner=history&k=5",
}
SOURCES = ("memrl", "simutil")
"""The memories whose items the rules are compared on."""


def play(world: str, memory: str, tasks: int, order: int) -> list[EpisodeCredit]:
    """Play a stream; return its episodes with the worth of their lessons."""
    name, kwargs = Spec(WORLDS[world]).parts
    env = make_env(name, memory=memory, budget=BUDGET, **kwargs)
    seeds = list(range(tasks))
    random.Random(order).shuffle(seeds)
    found = credit(
        *(env, make_policy("learner"), seeds),
        demonstrated=tasks // 3, kinds=("lesson",), most=None,
    )  # fmt: skip
    episodes = list(found)
    env.close()
    return episodes


def rules(errors: Sequence[RuleError]) -> str:
    """Return the table of the rules' errors."""
    heads = ["rule", "items", "rank correlation", "harmful", "of these kept", "useful"]
    heads.append("of these dropped")
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in errors:
        rank = f"{row.rank:+.2f} [{row.low:+.2f}, {row.high:+.2f}]"
        cells = (row.rule, row.items, rank, row.harmful, row.kept, row.useful, row.dropped)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def gains(played: dict[tuple[str, int], list[EpisodeCredit]]) -> str:
    """Return a row for each memory: score by the rule and by exact worths, and the gain."""
    lines = ["| memory | rule | exact | gain | steps saved |", "|" + "---|" * 5]
    orders = sorted({order for _, order in played})
    for memory in MEMORIES:
        by = [[e.result for order in orders for e in played[name, order]]
              for name in (memory, f"{memory}, exact")]  # fmt: skip
        gaps = [b.value - a.value for a, b in zip(*by, strict=True)]
        found = intervals.gaps(gaps, [a.task_id for a in by[0]])
        low, high = found.interval() or (float("nan"), float("nan"))
        steps = [a.steps - b.steps for a, b in zip(*by, strict=True)]
        means = (sum(r.value for r in part) / len(part) for part in by)
        cells = [f"`{memory}`", *(f"{mean:.3f}" for mean in means)]
        cells += [f"{found.mean:+.3f} [{low:+.3f}, {high:+.3f}]", f"{sum(steps) / len(steps):+.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Play every memory in every order, then write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=75, help="length of a stream")
    parser.add_argument("--orders", type=int, default=2)
    parser.add_argument("--world", action="append", choices=WORLDS)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    given = parser.parse_args()
    parts, rows = [], list[dict[str, Any]]()
    for world in given.world or WORLDS:
        started = time.process_time()
        played: dict[tuple[str, int], list[EpisodeCredit]] = {}
        for memory, plain in MEMORIES.items():
            for name, spec in ((memory, plain), (f"{memory}, exact", f"{plain}&utility=exact")):
                for order in range(given.orders):
                    played[name, order] = episodes = play(world, spec, given.tasks, order)
                    rows += [{"world": world, "memory": name, "order": order, **e.to_json()}
                             for e in episodes]  # fmt: skip
                print(f"{world}, {name}: {time.process_time() - started:.0f} s", flush=True)
        source = [played[name, order] for name in SOURCES for order in range(given.orders)]
        replays = sum(e.replays for stream in source for e in stream)
        minutes = (time.process_time() - started) / 60
        size = (
            f"{sum(map(len, source))} measured episodes of {' and '.join(SOURCES)} with "
            f"{replays} replays; {minutes:.1f} CPU minutes for all memories. {BUDGET} tokens."
        )
        parts += [f"## {world}: `{WORLDS[world]}`", size, rules(rule_errors(source)), gains(played)]
        _write(given.out, parts, rows)


def _write(out: Path, parts: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    about = (__doc__ or "").partition("\n\nRun in")[0]
    out.write_text(f"# {about}\n\n" + "\n\n".join(parts) + "\n", encoding="utf-8")
    text = "".join(json.dumps(row) + "\n" for row in rows)
    out.with_suffix(".jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
