"""Play rivals of the papers' agents in their own worlds, beside chance, without a language model.

    python -m benchmarks agents/rivals          # writes rivals.json

Twenty games a row with the memory ``arigraph``; LTL-GATA is the shipped player. If interrupted,
run it again; ``python benchmarks/tables.py`` makes the table.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from gym_memory.games.scienceworld.catalog import CLIN
from gym_memory.papers.comparison import TableCell
from gym_memory.papers.experiments import load_experiment
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig, parse_seeds
from gym_memory.run.results.score import grouped, units

SCIENCE = "ScienceWorld?max_steps=30&split=clin"
EVERY_TASK = ",".join(map(str, range(0, 160, 8)))
KITCHEN, HOUSE = "Cooking?level=stma-1", "ALFWorld?path=generated&split=valid_unseen"
RECIPES = "Cooking?gata_actions=true&level=rl-1&max_steps=50"
UNSEEN = "Cooking?gata_actions=true&level=rl-4&max_steps=100&split=test"
PARTS = (
    (SCIENCE, ("saycan", "calm", "random"), EVERY_TASK, "single_episode"),
    (KITCHEN, ("adaplanner", "random"), "0:20", "single_episode"),
    (HOUSE, ("adaplanner", "random"), "0:20", "single_episode"),
    (RECIPES, ("symbolic", "random"), "0:20", "trials?k=3"),
    (UNSEEN, ("ltl-gata?checkpoint=shipped", "random"), "0:20", "single_episode"),
)


def published() -> dict[tuple[str, str], tuple[float, str]]:
    """Return scores that papers report, with their sources; tasks and models differ."""
    science = {
        system: sum(max(task.published[system], 0.0) for task in CLIN) / len(CLIN) / 100
        for system in ("SayCan", "CALM")
    }
    cell = TableCell(KITCHEN, "none", "adaplanner?knowledge=cooking&llm=openai")
    stma = load_experiment("stma-table1").expected[cell]["score"]
    return {
        **{(SCIENCE, name.lower()): (score, "CLIN, Table 2") for name, score in science.items()},
        (KITCHEN, "adaplanner"): (stma, "STMA, Table 1, GPT-4o"),
        (HOUSE, "adaplanner"): (0.9179, "Sun et al., GPT-3, official games"),
    }


def main() -> None:
    """Play and write."""
    os.environ["OMP_NUM_THREADS"] = "1"
    known, rows = published(), []
    for number, (env, policies, seeds, protocol) in enumerate(PARTS):
        config = RunConfig((env,), ("arigraph",), policies, parse_seeds(seeds), protocol)
        played = units(compare(config, Path("results/rivals") / str(number)))
        assert not any(unit.failed for unit in played), played
        for (policy,), own in grouped(played, lambda unit: unit[3:4]).items():
            score, source = known.get((env, policy), (None, ""))
            rows.append({
                "env": env, "protocol": protocol, "policy": policy,
                "normalized": [round(unit.trials[-1], 4) for unit in own],
                "published": score and round(score, 3), "source": source,
            })  # fmt: skip
    lines = ",\n".join(map(json.dumps, rows))
    Path(__file__).with_suffix(".json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
