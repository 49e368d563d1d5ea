"""Measure the worth of memories of experience over a stream of tasks, and in other worlds.

Four parts: ``alfworld`` and ``scienceworld`` play a stream in three orders, ``grid`` learns in one
world and is tested in all five, ``types`` does so with the six types of household tasks. The
scripted learner acts on its observation alone. All memories have the same budget and show the
present trial in the same way (``history``), so they differ in their items alone. ``placebo``
corrupts one part of the items of ``memrl``: exchanged actions, actions of another world, the raw
actions of the same episodes, or shuffled outcomes.

    python -m benchmarks streams                   # all parts; killed, the command goes on
    python -m benchmarks streams grid --memory none

The rows are kept beside this file, one for a part; ``benchmarks/tables.py`` writes the page.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from urllib.parse import quote

from keep import pack

from gym_memory.core.names import Spec
from gym_memory.games.alfworld.household import TASK_TYPES
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig

HERE = Path(__file__).parent
BUDGET = 2000
LEARNT: tuple[str, ...] = ("memrl", "exprag", "workflows", "memp", "exprecent", "expel")
LEARNT += ("simutil", "skills", "reasoningbank", "playbook")
CONTROLS = ("actions", "world", "raw", "outcomes")
GRID = ("none", "placebo?how=actions", "exprag", "rag", "memrl", "workflows", "memp", "expel")
WORLDS = (
    *("Cooking?level=medium&split=train&max_steps=50", "TreasureHunt?level=easy&split=train"),
    *("Cleaning?split=train&max_steps=50", "ALFWorld?path=generated&split=train"),
    "WebShop?split=train&max_steps=50",
)
TYPES = tuple(f"ALFWorld?path=generated&split=train&task_type={kind}" for kind in TASK_TYPES)
PARTS: dict[str, tuple[tuple[str, ...], dict[str, int | str], int]] = {
    "alfworld": (WORLDS[3:4], {"tasks": 200, "shown": 40, "again": 20}, 3),
    "scienceworld": (("ScienceWorld?split=train",), {"tasks": 60, "shown": 30, "again": 6}, 3),
    "types": (TYPES, {"tasks": 24, "shown": 16, "tests": " ".join(TYPES), "probe": 12}, 1),
    "grid": (WORLDS, {"tasks": 16, "shown": 10, "tests": " ".join(WORLDS), "probe": 6}, 1),
}
"""Environments, settings of the stream, and number of orders."""


def memories() -> dict[str, str]:
    """Return the memories to play by a short name."""
    found = {name: name for name in ("none", "rag", "history", "amem", "arigraph")}
    found |= {name: f"{name}?inner=history" for name in LEARNT}
    found["clin"] = "clin?inner=history&lifetime=forever"
    of = quote(found["memrl"])
    return {**found, **{f"placebo?how={how}": f"placebo?how={how}&of={of}" for how in CONTROLS}}


def config(part: str, names: list[str]) -> RunConfig:
    """Return the jobs of a part."""
    envs, settings, orders = PARTS[part]
    known = memories()
    return RunConfig(
        envs=envs,
        memories=tuple(known[name] for name in names),
        policies=("learner",),
        seeds=tuple(range(orders)),
        protocol=Spec.of("stream", settings),
        budgets=(BUDGET,),
    )


def main() -> None:
    """Play the parts; each memory has a folder, so that a new one repeats nothing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--memory", action="append", choices=memories(), help="default: all")
    parser.add_argument("--out", type=Path, default=Path("results/streams"))
    given = parser.parse_args()
    for part in given.parts or PARTS:
        for name in given.memory or (GRID if part == "grid" else memories()):
            folder = given.out / part / "".join(c if c.isalnum() else "-" for c in name)
            rows = compare(config(part, [name]), folder)
            pack(HERE / f"{part}.jsonl.gz", name, [{**r.to_json(), "curve": []} for r in rows])
            print(part, name, len(rows), [r.result.failed for r in rows if r.result.failed])


if __name__ == "__main__":
    main()
