"""Measure how much of the level view a memory keeps from room views (AriGraph, Table 1).

One game is played by the same actions under both descriptors. At the last step on every level,
the facts that the level view states (exits, doors' states, features, things) are compared with

* the room view alone, at the same step;
* the live facts of a memory that saw only room views;
* the recall of that memory at that step, within the token budget.

Two facts are the same when the extraction rules read the same triple. A recalled way through an
exit counts as that exit. The script is the descender that reads the room view without memory, so no
condition affects its way.

    python -m benchmarks nethack/level_facts --seeds 30 --steps 200
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from keep import write_measured

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.base import make_policy
from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.games.nethack.rules import HAS_EXIT, HAS_ITEM
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import UNEXPLORED, direction_of
from gym_memory.run.results import intervals

KINDS = ("exits", "doors", "features", "items")
TASK = Task("", "", "nethack")
STATES = ("open", "closed", "locked", "broken")


def kind_of(fact: Triple) -> str:
    """Return the compared kind of a fact; "" for a fact that is not compared."""
    if fact.relation == HAS_EXIT:
        return "exits"
    if fact.relation == "is" and fact.object in STATES:
        return "doors"
    if fact.relation == "is in" and fact.subject != "you" and fact.object != "inventory":
        return "features"
    return "items" if fact.relation == HAS_ITEM else ""


def stated(facts: Iterable[Triple], level: str) -> set[Triple]:
    """Return the compared facts about a level, with the exits that ways imply."""
    found: set[Triple] = set()
    for fact in facts:
        subject, relation, obj = fact
        exit_ = direction_of(relation)
        if exit_ is not None:
            found.add(Triple(obj, HAS_EXIT, exit_))
            if exit_.startswith("door"):
                found.add(Triple(subject, HAS_EXIT, exit_))
        elif relation == UNEXPLORED:
            found.add(Triple(subject, HAS_EXIT, obj))
        else:
            found.add(fact)
    ending = f" of {level}"
    return {f for f in found if kind_of(f) and (f.subject.endswith(ending))}


def facts_in(text: str) -> list[Triple]:
    """Return the facts that a text states."""
    extraction = get_extractor("nethack").extract(Step(0, text), TemporalGraph(), TASK)
    return [mention.triple for mention in extraction.mentions]


class Shot(NamedTuple):
    """One step under both descriptors."""

    level: str
    room: dict[str, Any]
    whole: dict[str, Any]
    live: frozenset[Triple]
    depth: int


def play(seed: int, steps: int, budget: int) -> Iterator[Shot]:
    """Yield the last step on each level of one game."""
    actions = script(seed, steps)
    room = gym.make("gym_memory/NetHack-v0", view="room", memory="arigraph", budget=budget)
    whole = gym.make("gym_memory/NetHack-v0", view="level", memory="none")
    last: Shot | None = None
    for action in [None, *actions]:
        if action is None:
            seen, info = room.reset(seed=seed)
            all_, _ = whole.reset(seed=seed)
            over = False
        else:
            seen, _, over, _, info = room.step(action)
            all_, *_ = whole.step(action)
        if over:
            break
        level = room.get_wrapper_attr("oracle")().objects["level"]
        if last is not None and level != last.level:
            yield last
        live = frozenset(room.get_wrapper_attr("memory").graph.live())
        last = Shot(level, seen, all_, live, info["depth"])
    if last is not None:
        yield last
    room.close()
    whole.close()


def script(seed: int, steps: int) -> list[str]:
    """Return the actions of the descender with the room view alone."""
    env = gym.make("gym_memory/NetHack-v0", view="room", memory="none", max_steps=steps)
    policy = make_policy("descender")
    obs, info = env.reset(seed=seed)
    policy.reset(info, seed)
    actions, over = [], False
    while not over:
        actions.append(policy.act(obs, info))
        obs, _, terminated, truncated, info = env.step(actions[-1])
        over = terminated or truncated
    env.close()
    return actions


def measure(shot: Shot, seed: int) -> dict[str, Any]:
    """Return the share of the level view that each condition has, by kind."""
    wanted = stated(facts_in(shot.whole["text"]), shot.level)
    conditions = {
        "room view": stated(facts_in(shot.room["text"]), shot.level),
        "memory": stated(shot.live, shot.level),
        "recall": stated([*shot.room["triples"], *facts_in(shot.room["text"])], shot.level),
    }
    row: dict[str, Any] = {"seed": seed, "level": shot.level, "facts": len(wanted)}
    for name, facts in conditions.items():
        row[name] = len(wanted & facts)
        row[f"{name}, wrong"] = len(facts - wanted)
        for kind in KINDS:
            row[f"{name}, {kind}"] = sum(kind_of(f) == kind for f in wanted & facts)
    for kind in KINDS:
        row[kind] = sum(kind_of(f) == kind for f in wanted)
    row["view, characters"] = len(shot.whole["text"])
    row["room view, characters"] = len(shot.room["text"])
    row["recall, characters"] = len(shot.room["memory"])
    return row


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return shares over all facts, and means over levels with their 95 % interval."""
    total = sum(row["facts"] for row in rows)
    found: dict[str, Any] = {"levels": len(rows), "facts": total}
    for name in ("room view", "memory", "recall"):
        shares = np.array([row[name] / row["facts"] for row in rows if row["facts"]])
        low, high = intervals.scores(shares.tolist()).interval() or (0.0, 1.0)
        kept = sum(row[name] for row in rows)
        wrong = sum(row[f"{name}, wrong"] for row in rows)
        found[name] = {
            "share of facts": round(kept / total, 4),
            "mean over levels": round(float(shares.mean()), 4),
            "interval": [round(low, 4), round(high, 4)],
            "precision": round(kept / max(kept + wrong, 1), 4),
            **{
                kind: round(
                    sum(row[f"{name}, {kind}"] for row in rows)
                    / max(sum(row[kind] for row in rows), 1),
                    4,
                )
                for kind in KINDS
            },
        }
    for name in ("view, characters", "room view, characters", "recall, characters"):
        found[name] = round(float(np.mean([row[name] for row in rows])))
    return found


def main() -> None:
    """Measure and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--budget", type=int, default=1000)
    given = parser.parse_args()
    rows = [
        measure(shot, seed)
        for seed in range(given.seeds)
        for shot in play(seed, given.steps, given.budget)
    ]
    first = [next(row for row in rows if row["seed"] == seed) for seed in range(given.seeds)]
    result = {
        "settings": vars(given),
        "versions": {name: version(name) for name in ("gym-memory", "nle", "numpy", "scipy")},
        "first levels": summary(first),
        "all levels": summary(rows),
        "rows": rows,
    }
    write_measured("nethack/level_facts", result)
    print(json.dumps({k: result[k] for k in ("first levels", "all levels")}, indent=1))


if __name__ == "__main__":
    main()
