"""Rank facts by a model of their worth, beside the ranking by rules.

    python -m benchmarks learned_rank

Credit leaves each fact out of the recalls of training games (``gym-memory credit --export``). Ridge
regression learns that worth from a fact's features, its rank by rules among them. Both rankings
then fill the same budgets on held-out games with the same player. Gains are paired by game. If
interrupted, run it again: exports are kept in ``results/learned-rank``.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from gym_memory.baselines.base import make_policy
from gym_memory.core.names import Spec
from gym_memory.core.records import Cue, Recall
from gym_memory.memory import MEMORIES
from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.base import CHARS_PER_TOKEN
from gym_memory.memory.reading import Page
from gym_memory.memory.recall.features import FactFeatures, fact_features
from gym_memory.run import rollout
from gym_memory.run.results import intervals
from gym_memory.wrappers.make import make_env

OUT = Path("results/learned-rank")
WORLDS = {
    "Cooking hardest": "Cooking?level=hardest",
    "TreasureHunt hardest": "TreasureHunt?level=hardest",
    "Cleaning voices-house": "Cleaning?level=voices-house",
}
PLAYER, RULES = "planner?encoder=hash", "arigraph?episodic=false"
LEARNT_FROM, LEARNT_AT, FACTS = "0:10", 400, 20
"""Training games, their budget in tokens, and facts a game."""
GAMES, BUDGETS = 20, (100, 200, 300)
RIDGE = 3.0
STEPS_WORTH = 0.002
"""Score equivalent of a saved step, since most facts affect only steps."""


def exported(world: str) -> list[dict[str, Any]]:
    """Return the rows of credit for a world; play if they are missing."""
    file = OUT / f"{world.replace(' ', '-')}.parquet"
    if not file.exists():
        words = ["gym-memory", "credit", "-e", f"{WORLDS[world]}&split=train", "-p", PLAYER]
        words += ["-m", RULES, "--budget", str(LEARNT_AT), "--kinds", "fact", "--json"]
        words += ["--seeds", LEARNT_FROM, "--most", str(FACTS), "--export", str(file)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    rows: list[dict[str, Any]] = parquet.read_table(file).to_pylist()
    return rows


class Model:
    """A linear model of the worth of a fact.

    Args:
        rows: Rows of credit.
    """

    def __init__(self, rows: list[dict[str, Any]]):
        self.relations = sorted({row["relation"] for row in rows})
        features = [FactFeatures(*(row[name] for name in FactFeatures._fields)) for row in rows]
        x = self.columns(features)
        worth = np.array([row["worth"] - STEPS_WORTH * row["steps"] for row in rows])
        penalty = RIDGE * np.eye(x.shape[1])
        self.weights = np.linalg.solve(x.T @ x + penalty, x.T @ (worth - worth.mean()))

    def columns(self, features: list[FactFeatures]) -> NDArray[np.float64]:
        """Return features as numbers, float64 of shape (facts, columns)."""
        return np.array([
            [
                *(f.relation == relation for relation in self.relations),
                np.log1p(f.rank), f.rank < 10, f.moves < 0, f.moves == 0, 1 / (2 + f.moves),
                1 / (2 + f.age), f.in_aim, f.in_task, f.in_actions, f.held, f.said,
            ]
            for f in features
        ], np.float64)  # fmt: skip

    def worth(self, features: list[FactFeatures]) -> NDArray[np.float64]:
        """Return the predicted worth of each fact."""
        return self.columns(features) @ self.weights


class LearnedRank(AriGraph):
    """An AriGraph without observations that orders facts by a model's worth."""

    model: Model

    def __init__(self, **settings: Any):
        super().__init__(episodic=False, **settings)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Recall all facts in the order of the rules, and keep the most valuable that fit."""
        facts = tuple(dict.fromkeys(super().recall(cue, 1_000_000).triples))
        found = fact_features(self.graph, cue, facts, self.graph.now)
        page = Page(budget * CHARS_PER_TOKEN)
        if facts:
            worths = self.model.worth([found[fact] for fact in facts])
            for place in np.argsort(-worths, kind="stable"):
                page.put_facts([facts[place]])
        return Recall(page.text(), tuple(page.triples))


def scores(world: str, memory: str, budget: int) -> list[float]:
    """Return the score of each held-out game."""
    name, kwargs = Spec(WORLDS[world]).parts
    env = make_env(name, memory=memory, budget=budget, split="held_out", **kwargs)
    player = make_policy(PLAYER)
    return [rollout(env, player, seed).value for seed in range(GAMES)]


def main() -> None:
    """Learn, play, and write ``learned_rank.json`` beside this file."""
    rows = {world: exported(world) for world in WORLDS}
    LearnedRank.model = Model([row for own in rows.values() for row in own])
    MEMORIES.register("learned_rank", LearnedRank)
    table = []
    for world, own in rows.items():
        for budget in BUDGETS:
            rules, learned = (scores(world, m, budget) for m in (RULES, "learned_rank"))
            gaps = [after - before for after, before in zip(learned, rules, strict=True)]
            low, high = intervals.gaps(gaps, [str(game) for game in range(GAMES)]).interval()
            table.append({
                "world": world, "facts": len(own), "budget": budget,
                "rules": round(float(np.mean(rules)), 3),
                "learned": round(float(np.mean(learned)), 3),
                "gain": [round(float(v), 3) for v in (np.mean(gaps), low, high)],
            })  # fmt: skip
            print(table[-1], flush=True)
    lines = ",\n".join(map(json.dumps, table))
    Path(__file__).with_suffix(".json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
