"""Draw facts that arigraph read in foreign environments, for a person to judge.

    python benchmarks/foreign/draw.py minigrid --out benchmarks/foreign/minigrid.csv

plays the environment of that heading in docs/foreign-environments.md by a policy that tries what
it has tried least, and writes facts drawn by a seeded generator, each with the step's text it was
read from. The last column is for the verdict: y, or n and why. A fact that is in a file of
that name already, with the same text, keeps its verdict.

    python benchmarks/foreign/draw.py --score

prints the precision of every file in this folder.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

from gym_memory.baselines.base import Policy
from gym_memory.run import rollout

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "foreign-environments.md"
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
        {"TowerOfHanoi": game, '[f"[{a} {b}]" for a in "ABC" for b in "ABC" if a != b]': moves}
        for game, moves in {
            "TowerOfHanoi": '[f"[{a} {b}]" for a in "ABC" for b in "ABC" if a != b]',
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
    "minigrid": [
        {"BabyAI-UnlockPickup-v0": id}
        for id in ("BabyAI-UnlockPickup-v0", "BabyAI-GoToLocal-v0", "MiniGrid-DoorKey-6x6-v0")
    ],
}
"""What is played: the snippet with these words changed."""
COLUMNS = (
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
_SNIPPET = re.compile(r"^### (?P<name>[\w-]+)\n.*?```python\n(?P<code>.*?)```", re.M | re.S)


def snippets() -> dict[str, str]:
    """The code under each heading of the documentation."""
    return {m["name"]: m["code"] for m in _SNIPPET.finditer(DOCS.read_text(encoding="utf-8"))}


def environment(name: str, changes: dict[str, str] | None = None) -> Any:
    """What the snippet of that name makes, with some words changed."""
    code = snippets()[name]
    for old, new in (changes or {}).items():
        assert old in code, old
        code = code.replace(old, new)
    scope: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(code, f"{DOCS.name}#{name}", "exec"), scope)
    return scope["env"]


class LeastTried(Policy):
    """Of the valid actions, one that was tried least at this text."""

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


def facts(env: Any, game: int, seeds: range, steps: int) -> list[dict[str, Any]]:
    """Every fact of every episode once, where it was stated first."""
    rows = []
    for seed in seeds:
        texts: list[tuple[str, str]] = []

        def keep(t: int, info: dict[str, Any], texts: list[tuple[str, str]] = texts) -> None:
            raw = env.unwrapped
            shown = raw._feedback.text
            if raw._feedback.inventory:
                shown += f"\n[inventory] {raw._feedback.inventory}"
            texts.append((raw._actions[-1] if raw._actions else "", shown))

        rollout(env, LeastTried(), seed, limit=steps, on_step=keep)
        for fact in env.get_wrapper_attr("memory").graph.facts():
            source = fact.sources[0]
            action, text = texts[source.episode]
            values = (game, seed, source.episode, action, *fact.triple, text)
            rows.append(dict(zip(COLUMNS, values, strict=False)))
    return rows


def draw(name: str, out: Path, seeds: range, steps: int, number: int) -> None:
    """Play, draw, write."""
    judged = {}
    if out.exists():
        with out.open(newline="", encoding="utf-8") as file:
            judged = {_key(row): (row["verdict"], row["why"]) for row in csv.DictReader(file)}
    rows = []
    for game, changes in enumerate(GAMES[name]):
        env = environment(name, changes)
        rows += facts(env, game, seeds, steps)
        env.close()
    drawn = random.Random(0).sample(rows, min(number, len(rows)))
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in sorted(drawn, key=lambda row: (row["game"], row["seed"], row["step"])):
            verdict, why = judged.get(_key(row), ("", ""))
            writer.writerow({**row, "verdict": verdict, "why": why})
    print(f"{name}: {len(rows)} facts, {len(drawn)} drawn")


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[c] for c in ("subject", "relation", "object", "text"))


def score() -> None:
    """Precision of every judged file."""
    for path in sorted(HERE.rglob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            verdicts = Counter(row["verdict"] or "unjudged" for row in csv.DictReader(file))
        share = verdicts["y"] / verdicts.total()
        print(f"{path.relative_to(HERE).with_suffix('')}: {share:.2f} {dict(verdicts)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", choices=snippets())
    parser.add_argument("--out", type=Path)
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
        draw(args.name, args.out or HERE / f"{args.name}.csv", seeds, args.steps, args.number)
