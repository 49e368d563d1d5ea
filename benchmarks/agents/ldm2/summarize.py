"""Write the table of a run of ``run.sh``: ``results.md`` beside this file.

Usage: ``python benchmarks/agents/ldm2/summarize.py results/ldm2``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gym_memory.run.results import read_episodes
from gym_memory.run.results.score import differences, table, units

HERE = Path(__file__).parent


def exploration(folder: Path) -> dict[str, Any]:
    """Summarize the explored tasks: the finds of the trees, and the tuples gained."""
    lines = (folder / "explored.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return {
        "tasks": len(rows),
        "failed": sum(bool(row["failed"]) for row in rows),
        "better": sum(row["best"] > row["greedy"] for row in rows),
        "greedy": round(sum(row["greedy"] for row in rows) / len(rows), 3),
        "best": round(sum(row["best"] for row in rows) / len(rows), 3),
        "calls": sum(row["calls"] for row in rows),
        "cut by the limit": sum(not row["whole"] for row in rows),
        "tuples added": sum(row["added"] for row in rows),
        "tuples": rows[-1]["tuples"],
    }


def tested(folder: Path) -> dict[str, Any]:
    """Return scores on unseen games by memory, and the refined memory against the initial one."""
    played = units([row for rows in read_episodes(folder) for row in rows])
    cells = {}
    for row in table(played):
        path = row.memory.rpartition("path=")[2]
        name = row.memory if path == row.memory else (
            "refined" if path.endswith("-refined.db") else "initial"
        )  # fmt: skip
        cells[name] = {
            "n": row.n,
            "failed": row.n_failed,
            "score": round(row.score, 3),
            "interval": [round(bound, 3) for bound in row.score_ci or ()],
            "success": round(row.success, 3),
            "steps": round(row.steps, 1) if row.steps is not None else None,
        }
    gaps = [gap for gap in differences(played, "memory") if "-refined.db" in gap.name + gap.against]
    gap = next((g for g in gaps if "ldm2" in g.name and "ldm2" in g.against), None)
    if gap is not None:
        sign = 1 if "-refined.db" in gap.name else -1
        cells["refined - initial"] = {"n": gap.n, "score": round(sign * gap.difference, 3)}
    return cells


def main() -> None:
    """Read the folder of a run, write the table."""
    work = Path(sys.argv[1])
    heads = ["level", "demonstrations", "tuples", "initial", "refined", "none", "explored tasks"]
    heads += ["found better", "tuples added"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for folder in sorted(work.glob("*/*-test")):
        level, kind = folder.parent.name, folder.name.removesuffix("-test")
        cells = tested(folder)
        found = exploration(folder.with_name(f"{kind}-refine"))
        shown = [
            f"{cells[name]['score']:.2f} {cells[name]['interval']}"
            for name in ("initial", "refined", "none")
        ]
        count = {"demos": "20", "few": "3"}[kind]
        formed = found["tuples"] - found["tuples added"]
        row = [level, count, str(formed), *shown, str(found["tasks"])]
        lines.append(
            "| " + " | ".join([*row, str(found["better"]), str(found["tuples added"])]) + " |"
        )
    (HERE / "results.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
