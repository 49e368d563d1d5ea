"""Draw facts that arigraph read in foreign environments, for a person to judge.

    python benchmarks/foreign/draw.py minigrid

plays the environment of that heading in docs/foreign-environments.md by a policy that prefers the
least tried action. It writes facts drawn by a seeded generator into facts.csv.gz, each with the
text that states it. The last columns are for the verdict: y, or n and why. A fact of this set that
is already there, with the same text, keeps its verdict. AgentOdyssey and Zork I know the truth: it
decides on places of things and ways, and a person on the others. A clock counts once there.

    python benchmarks/foreign/draw.py --score

prints the precision of every set.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import random
import re
from collections import Counter
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import gymnasium as gym

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.base import Policy
from gym_memory.core.records import Triple
from gym_memory.extract.things import place_name
from gym_memory.graph.schema import PLAYER, direction_of
from gym_memory.run import rollout

HERE = Path(__file__).parent
FACTS = HERE / "facts.csv.gz"
STORY = HERE.parents[2] / "shared" / "data" / "stories" / "zork1.z3"
WORDS = (
    *("north", "south", "east", "west", "up", "down", "in", "out", "downstream", "xyzzy"),
    *("look", "inventory", "take lamp", "take keys", "take food", "take bottle", "take cage"),
    *("take rod", "drop keys", "drop lamp", "light lamp", "extinguish lamp", "unlock grate"),
)
"""Commands of Colossal Cave, which lists none."""
DOCS = HERE.parents[1] / "docs" / "foreign-environments.md"
MOVES = '[f"[{a} {b}]" for a in "ABC" for b in "ABC" if a != b]'
GAMES: dict[str, list[dict[str, str]]] = {
    "textworld": [{", 3, 4, 10": f", {seed}, 4, 10"} for seed in (3, 4, 5, 6)],
    "scienceworld": [
        {"find-living-thing": task}
        for task in ("find-living-thing", "boil", "grow-plant", "inclined-plane-determine-angle")
    ],
    "textworld-express": [
        {"cookingworld": game, '"numLocations=5, numIngredients=3"': '""'}
        for game in ("cookingworld", "twc", "coin", "mapreader", "peckingorder", "arithmetic")
    ],
    "textarena": [
        {"TowerOfHanoi": game, MOVES: moves, ", won=solved": ""}
        for game, moves in {
            "TowerOfHanoi": MOVES,
            "Blackjack": '["[Hit]", "[Stand]"]',
            "FrozenLake": '["[up]", "[down]", "[left]", "[right]"]',
            "LogicPuzzle": '[f"[gasoline {b} X]" for b in ("bob", "alice", "red", "green")]',
            "Secretary": '["[continue]", "[continue]", "[accept]"]',
            "Bandit": '["[red]", "[blue]", "[green]", "[yellow]"]',
            "GuessTheNumber": '[f"[{n}]" for n in range(1, 21)]',
            "ThreeCardMonte": '["[0]", "[1]", "[2]"]',
            "LightsOut": '[f"[{n} {m}]" for n in range(5) for m in range(5)]',
        }.items()
    ],
    "colossal-cave": [{'memory="arigraph"': f'memory="arigraph", valid_actions={WORDS}'}],
    "agentodyssey": [{}],
    "zork1": [{}],
    "minigrid": [
        {"BabyAI-UnlockPickup-v0": id}
        for id in ("BabyAI-UnlockPickup-v0", "BabyAI-GoToLocal-v0", "MiniGrid-DoorKey-6x6-v0")
    ],
}
"""A played environment: the snippet with these words changed."""
COLUMNS = (
    "set",
    "game",
    "seed",
    "step",
    "action",
    "subject",
    "relation",
    "object",
    "text",
    "verdict",
    "why",
)
OURS = {
    "agentodyssey": ("AgentOdyssey-v0", {"tutorial": False}),
    "zork1": ("Jericho-v0", {"path": STORY, "story_seed": 12}),
}
"""Environments with a known truth, which no snippet makes."""
_SNIPPET = re.compile(r"^### (?P<name>[\w-]+)\n.*?```python\n(?P<code>.*?)```", re.M | re.S)


def snippets() -> dict[str, str]:
    """Return the code under each heading of the documentation."""
    return {m["name"]: m["code"] for m in _SNIPPET.finditer(DOCS.read_text(encoding="utf-8"))}


def environment(name: str, changes: dict[str, str] | None = None) -> Any:
    """Make the environment of the snippet of that name, with some words changed."""
    if name in OURS:
        game, settings = OURS[name]
        return gym.make(f"gym_memory/{game}", memory="arigraph", **settings)
    code = snippets()[name]
    for old, new in (changes or {}).items():
        assert old in code, old
        code = code.replace(old, new)
    scope: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(code, f"{DOCS.name}#{name}", "exec"), scope)
    return scope["env"]


class LeastTried(Policy):
    """A policy that takes the valid action tried least at this text."""

    name = "least-tried"

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        self._random, self._tried = random.Random(seed), Counter[tuple[str, str]]()

    def act(self, obs: Any, info: dict[str, Any]) -> str:
        actions = obs["valid_actions"] or ("look",)
        least = min(self._tried[obs["text"], action] for action in actions)
        free = [a for a in actions if self._tried[obs["text"], a] == least]
        action = self._random.choice(free)
        self._tried[obs["text"], action] += 1
        return action


def facts(
    env: Any, game: int, seeds: range, steps: int, *, has_truth: bool
) -> list[dict[str, Any]]:
    """Return every fact of every episode once, at its first statement."""
    rows = []
    for seed in seeds:
        texts: list[tuple[str, str]] = []
        truths: list[frozenset[Any]] = []
        clocks: set[str] = set()

        def keep(t: int, info: dict[str, Any], texts: Any = texts, truths: Any = truths) -> None:
            raw = env.unwrapped
            shown = raw._feedback.text
            if raw._feedback.inventory:
                shown += f"\n[inventory] {raw._feedback.inventory}"
            texts.append((raw._actions[-1] if raw._actions else "", shown))
            truths.append(raw.oracle().facts if has_truth else frozenset())

        rollout(env, LeastTried(), seed, limit=steps, on_step=keep)
        for fact in env.get_wrapper_attr("memory").graph.facts():
            source = fact.sources[0]
            action, text = texts[source.episode]
            if has_truth and fact.triple.relation == "is" and fact.triple.subject in clocks:
                continue
            if fact.triple.subject.endswith("time"):
                clocks.add(fact.triple.subject)
            verdict = decide(fact.triple, truths[source.episode], frozenset().union(*truths))
            values = ("", game, seed, source.episode, action, *fact.triple, text, *verdict)
            rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def decide(fact: Triple, now: frozenset[Triple], ever: frozenset[Triple]) -> tuple[str, str]:
    """Return the engine's verdict on a fact: y, n, or nothing.

    Ways are judged at the agent's place: one is false if no visit there had it.
    """
    if direction_of(fact.relation) is None:
        return ("y", "engine") if fact in _plain(now) else ("", "")
    true = _plain(ever)
    if Triple(PLAYER, "is in", fact.object) not in true:
        return "", ""
    return ("y" if fact in true else "n"), "engine"


@lru_cache(maxsize=1024)
def _plain(facts: frozenset[Triple]) -> frozenset[Triple]:
    """Return facts whose names have no article: we call the room *Up a Tree* up tree."""
    return frozenset(Triple(place_name(s), relation, place_name(o)) for s, relation, o in facts)


def drawn_facts() -> list[dict[str, Any]]:
    """Return all drawn facts, set by set."""
    with gzip.open(FACTS, "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def draw(name: str, kept_as: str, seeds: range, steps: int, number: int) -> None:
    """Play, draw, write."""
    others = drawn_facts()
    judged = {_key(row): (row["verdict"], row["why"]) for row in others if row["set"] == kept_as}
    others = [row for row in others if row["set"] != kept_as]
    rows = []
    for game, changes in enumerate(GAMES[name]):
        env = environment(name, changes)
        rows += facts(env, game, seeds, steps, has_truth=name in OURS)
        env.close()
    drawn = random.Random(0).sample(rows, min(number, len(rows)))
    drawn.sort(key=lambda row: (row["game"], row["seed"], row["step"]))
    for row in drawn:
        row["set"] = kept_as
        if not row["verdict"]:
            row["verdict"], row["why"] = judged.get(_key(row), ("", ""))
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(others + drawn, key=lambda row: row["set"]))
    FACTS.write_bytes(gzip.compress(file.getvalue().encode(), mtime=0))
    print(f"{name}: {len(rows)} facts, {len(drawn)} drawn")


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[c] for c in ("subject", "relation", "object", "text"))


def score() -> None:
    """Print the precision of every set."""
    for name, rows in groupby(drawn_facts(), key=lambda row: row["set"]):
        verdicts = Counter(row["verdict"] or "unjudged" for row in rows)
        print(f"{name}: {verdicts['y'] / verdicts.total():.2f} {dict(verdicts)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", choices=(*snippets(), *OURS))
    parser.add_argument("--set", help="the set to write; default: the name")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--score", action="store_true")
    args = parser.parse_args()
    if args.score:
        score()
    else:
        seeds = range(args.first, args.first + args.seeds)
        draw(args.name, args.set or args.name, seeds, args.steps, args.number)
