"""Keep the results of a finished run beside a benchmark.

    python -m benchmarks keep results/planner benchmarks/planner

A report becomes a section of report.md. Rows go into one file per benchmark, with the run's name.
Single measurements of a script are in measured.json, under its name.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).with_name("measured.json")
_SECTION = re.compile(r"^# ([^\n]+)\n(.*?)(?=^# |\Z)", re.DOTALL | re.MULTILINE)
_NOT_KEPT = re.compile(r"^!\[.*\n\n?| All package versions: `environment\.json`\.", re.MULTILINE)


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a .jsonl or .jsonl.gz file; none if it is missing."""
    if path.exists():
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as file:
            yield from map(json.loads, file)


def measured(name: str, path: Path = MEASURED) -> Any:
    """Return the last measurement of a script; empty if there is none."""
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found.get(name, {})


def write_measured(name: str, value: Any, path: Path = MEASURED) -> None:
    """Replace the measurement of a script; each script has a line."""
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    found[name] = value
    lines = (f"{json.dumps(k)}: {json.dumps(found[k])}" for k in sorted(found))
    part = path.with_suffix(".part")  # others may read it meanwhile
    part.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    part.replace(path)


def pack(path: Path, run: str, new: Iterable[dict[str, Any]]) -> None:
    """Replace the rows of a run in a .jsonl.gz file, atomically."""
    kept = [row for row in read_rows(path) if row["run"] != run]
    kept += [{"run": run, **_rounded(row)} for row in new]
    part = path.with_suffix(".part")
    text = "".join(json.dumps(row) + "\n" for row in kept)
    part.write_bytes(gzip.compress(text.encode(), mtime=0))
    part.replace(path)


def ship(name: str, player: Path, **settings: Any) -> None:
    """Put a trained player into the package, in 16 bits, with some settings replaced."""
    from gym_memory.baselines.rl.players import SHIPPED  # needs torch
    from gym_memory.core.tensors import read_tensors, write_tensors

    tensors, record = read_tensors(player)
    record["settings"] |= settings
    halves = {key: tensor.half() for key, tensor in tensors.items()}
    write_tensors(SHIPPED / f"{name}.safetensors", halves, record)


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    # The digits of wall times are noise, and would be half of the compressed file.
    digits = {"memory_ms": 1, "seconds": 2}
    return {k: round(v, digits[k]) if k in digits else v for k, v in row.items()}


def section(path: Path, name: str, report: str) -> None:
    """Replace the section of a run in a page by its report, without pictures and title."""
    page = path.read_text("utf-8") if path.exists() else ""
    sections = dict(_SECTION.findall(page))
    sections[name] = _NOT_KEPT.sub("", report.partition("\n")[2])
    text = "\n\n".join(f"# {title}\n\n{body.strip()}" for title, body in sections.items())
    path.write_text(text + "\n", "utf-8")


def keep(run: Path, into: Path, name: str, also: Iterable[str] = ()) -> None:
    """Keep the report, the quality, the training and, on request, the episodes or the table."""
    if (run / "report.md").exists():
        section(into / "report.md", name, (run / "report.md").read_text("utf-8"))
    if (run / "quality.json").exists():
        pack(into / "quality.jsonl.gz", name, [json.loads((run / "quality.json").read_text())])
    if (run / "result.json").exists():
        parts = {p: json.loads((run / f"{p}.json").read_text()) for p in ("config", "result")}
        pack(into / "runs.jsonl.gz", name, [{**parts, "curve": [*read_rows(run / "curve.jsonl")]}])
    if "table" in also:
        table = json.loads((run / "summary.json").read_text())["table"]
        pack(into / "table.jsonl.gz", name, table)
    if "episodes" in also:
        pack(into / "episodes.jsonl.gz", name, read_rows(run / "episodes.jsonl"))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path, help="folder of the run")
    parser.add_argument("into", type=Path, help="folder of the benchmark")
    parser.add_argument("--name", help="name of the run; the folder's own by default")
    parser.add_argument("--also", choices=("episodes", "table"), nargs="+", default=())
    given = parser.parse_args()
    keep(given.run, given.into, given.name or given.run.name, given.also)


if __name__ == "__main__":
    main()
