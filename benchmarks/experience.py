"""Measure what memories of experience are worth over a stream of household tasks.

A stream is ALFWorld's train split in one of several orders. The first fifth of it is demonstrated
by the walkthrough; then the scripted learner plays, and the memory goes on learning. The learner
acts on its observation alone, tries one thing of a kind after the other, and exchanges the words
in which a lesson's goal differs from its own. All memories have the same budget and show the
present trial in the same way (``history``), so they differ in their items alone.

Gains are paired by task and order, with 95 % intervals over tasks. ``placebo`` spoils one thing
about the items of ``memrl``: exchanged actions, actions of another world, the raw actions of the
same episodes, or shuffled outcomes.

What these numbers do not say: rules wrote the items and a rule-based learner read them. It can use
a script for kinds of things and no list of exact actions of another house, so ``exprag``,
``exprecent`` and the raw control are worth nothing to it; a language model would read them. The
script comes from the rewards that were seen, so shuffled outcomes cost little. ``skills`` writes
only while most episodes fail, which demonstrations never do.

Run in the root of the repository::

    OMP_NUM_THREADS=1 python -m benchmarks experience --tasks 200

It writes ``experience.md`` and, beside it, the rows in ``experience.jsonl.gz``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gym_memory.baselines.registry import make_policy
from gym_memory.core.names import format_spec, parse_spec
from gym_memory.run.loop import rollout
from gym_memory.run.results import intervals
from gym_memory.wrappers.make import make_env

BUDGET = 2000
DEMONSTRATED = 5
"""One of so many tasks is demonstrated."""
RIVALS = ("none", "rag", "history", "exprecent", "placebo?how=raw")
LEARNT = ("exprecent", "exprag", "memrl", "simutil", "skills", "memp", "reasoningbank")
LEARNT += ("workflows", "expel", "playbook")
CONTROLS = ("actions", "world", "raw", "outcomes")


def arms() -> dict[str, str]:
    """Return the memories to play by a short name."""
    found = {name: name for name in ("none", "rag", "history", "amem")}
    found |= {name: f"{name}?inner=history" for name in LEARNT}
    of = quote(found["memrl"])
    return {**found, **{f"placebo?how={how}": f"placebo?how={how}&of={of}" for how in CONTROLS}}


def play(arm: str, memory: str, env: str, tasks: int, order: int) -> Iterator[dict[str, Any]]:
    """Play a stream; yield a row for each task that the learner played."""
    name, kwargs = parse_spec(env)
    world = make_env(name, memory=memory, budget=BUDGET, **kwargs)
    seeds = list(range(tasks))
    random.Random(order).shuffle(seeds)
    demonstrated = tasks // DEMONSTRATED
    for at, seed in enumerate(seeds):
        policy = make_policy("walkthrough" if at < demonstrated else "learner")
        result = rollout(world, policy, seed)
        if result.failed:
            raise RuntimeError(f"{arm}, order {order}, seed {seed}: {result.failed}")
        if at >= demonstrated:
            yield {"memory": arm, "order": order, "task": result.task_id, "at": at,
                   "success": bool(result.success), "steps": result.steps,
                   "tokens": round(result.tokens, 1), "ms": round(result.memory_ms, 3)}  # fmt: skip
    world.close()


def mean(rows: Sequence[dict[str, Any]], field: str) -> float:
    """Return the mean of a field."""
    return sum(row[field] for row in rows) / len(rows)


def gain(ours: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]]) -> str:
    """Return the paired gain in success, with its interval."""
    other = {(row["task"], row["order"]): row["success"] for row in theirs}
    gaps = [float(row["success"]) - other[row["task"], row["order"]] for row in ours]
    found = intervals.gaps(gaps, [row["task"] for row in ours])
    low, high = found.interval() or (float("nan"), float("nan"))
    return f"{found.mean:+.2f} [{low:+.2f}, {high:+.2f}]"


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a row for each memory: success, its halves of the stream, cost and gains."""
    of: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        of.setdefault(row["memory"], []).append(row)
    half = (min(r["at"] for r in rows) + max(r["at"] for r in rows)) / 2
    heads = ["memory", "success", "first half", "second half", "steps", "tokens", "ms a step"]
    heads += [f"gain over {rival}" for rival in RIVALS if rival in of]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for arm, own in of.items():
        found = intervals.scores([float(r["success"]) for r in own], [r["task"] for r in own])
        low, high = found.interval() or (float("nan"), float("nan"))
        early, late = ([r for r in own if (r["at"] < half) == first] for first in (True, False))
        cells = [f"`{arm}`", f"{found.mean:.2f} [{low:.2f}, {high:.2f}]"]
        cells += [f"{mean(part, 'success'):.2f}" for part in (early, late)]
        cells += [
            f"{mean(own, 'steps'):.1f}",
            f"{mean(own, 'tokens'):.0f}",
            f"{mean(own, 'ms'):.2f}",
        ]
        cells += ["" if rival == arm else gain(own, of[rival]) for rival in RIVALS if rival in of]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Play every memory in every order, then write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=200, help="length of a stream")
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument("--path", default="generated", help="folder of the official games")
    parser.add_argument("--memory", action="append", help="short name of one memory to play")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    given = parser.parse_args()
    env = format_spec("ALFWorld", {"path": given.path, "split": "train"})
    started = time.process_time()
    rows = []
    for arm, memory in arms().items():
        if given.memory is None or arm in given.memory:
            for order in range(given.orders):
                rows += play(arm, memory, env, given.tasks, order)
            own = [row for row in rows if row["memory"] == arm]
            print(f"{arm}: {mean(own, 'success'):.3f}", flush=True)
    minutes = (time.process_time() - started) / 60
    about = (__doc__ or "").partition("\n\nRun in")[0]
    size = (
        f"{given.tasks} tasks, {given.orders} orders, {BUDGET} tokens, {minutes:.1f} CPU minutes."
    )
    given.out.write_text(f"# {about}\n\n{size}\n\n{table(rows)}\n", encoding="utf-8")
    text = "".join(json.dumps(row) + "\n" for row in rows)
    given.out.with_suffix(".jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
