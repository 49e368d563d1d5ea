"""Compare each memory with and without rewards, to separate them from its mechanism.

Plays Cleaning, whose texts never mention rewards, with rewards shown to every memory and hidden
from all::

    python -m benchmarks rewards results/rewards
"""

from __future__ import annotations

import sys
from pathlib import Path

from keep import pack

from gym_memory.core.names import Spec, specs
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig

KEPT = Path(__file__).with_name("rewards.jsonl.gz")
MEMORIES = ("arigraph", "summary", "stma", "history", "oracle")
WORLD = "Cleaning?level=voices-house&split=held_out"
_FIELDS = ("task_id", "score", "max_score", "steps", "backend_version")


def config() -> RunConfig:
    """Return the jobs: each memory with both settings, in 20 games at 1,000 tokens."""
    memories = [f"{name}{setting}" for name in MEMORIES for setting in ("", "?rewards=hidden")]
    return RunConfig(
        *(specs([WORLD]), specs(memories), specs(["planner?encoder=hash"]), tuple(range(20))),
        *(Spec("single_episode"), (1000,)),
    )


def main() -> None:
    """Play the missing jobs of a folder, and keep its rows."""
    rows = compare(config(), Path(sys.argv[1]))
    kept = [
        {**{name: getattr(row.result, name) for name in _FIELDS}, "value": row.result.value}
        for row in rows
    ]
    for memory in config().memories:
        own = [kept[n] for n, row in enumerate(rows) if row.job.memory == memory]
        pack(KEPT, memory, own)


if __name__ == "__main__":
    main()
