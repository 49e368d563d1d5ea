"""Play the reference of `gym-memory rank` memory by memory, and keep what ships.

Plays what a folder lacks, so the same command goes on after a stop, then merges all finished
memories into what ships and draws the figure of exam against play::

    python -m benchmarks rank standard results/rank/standard
    python -m benchmarks rank streams results/rank/streams
    python -m benchmarks tables
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from gym_memory.core.errors import ResultsError
from gym_memory.draw.figures import colours
from gym_memory.draw.svg import picture
from gym_memory.evaluate.rank.card import Card, cards
from gym_memory.evaluate.rank.result import build, exam_figure, load_reference
from gym_memory.evaluate.rank.suite import SuiteCell, load_suite

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "gym_memory" / "evaluate" / "rank" / "reference"
FIGURE = ROOT / "docs" / "pictures" / "exam-and-play.svg"


LARGEST = next(t for t in ("full", "standard", "smoke") if load_reference(t)["memories"])
"""The largest tier of single episodes whose results ship."""


def shipped(tier: str) -> list[Card]:
    """Return the cards of the results that ship for a tier."""
    known = load_reference(tier)["memories"]
    cells = {memory: [SuiteCell.from_json(c) for c in found] for memory, found in known.items()}
    return cards(load_suite(tier), cells)


def play(tier: str, folder: Path) -> None:
    """Rank every control and memory of the suite alone, each in a folder of its own."""
    suite = load_suite(tier)
    for memory in (*suite.controls, *suite.memories):
        command = [
            sys.executable,
            "-P",
            "-m",
            "gym_memory",
            "rank",
            memory,
            "--tier",
            tier,
            "--alone",
        ]
        out = folder / re.sub(r"\W", "-", memory)
        subprocess.run([*command, "--out", str(out), "--json"], stdout=subprocess.DEVNULL)


def merge(tier: str, folders: list[Path]) -> None:
    """Write the reference of a tier, and draw the figure of the largest one."""
    suite, found = load_suite(tier), load_reference(tier)
    for folder in folders:
        try:
            record, _ = build(folder, suite, "", "", alone=True)
        except ResultsError as error:
            print(f"left out: {error}")
            continue
        manifest = record["manifest"]
        for name in ("games", "backends"):
            if found[name] not in ({}, manifest[name]):
                sys.exit(f"{folder}: other {name} than those before it; delete them to start again")
            found[name] = manifest[name]
        found["memories"] |= record["memories"]
    order = [m for m in (*suite.controls, *suite.memories) if m in found["memories"]]
    lines: list[Any] = [f'"{m}": {json.dumps(found["memories"][m])}' for m in order]
    head = {"suite": suite.version}
    head |= {name: found[name] for name in ("backends", "games")}
    REFERENCE.mkdir(exist_ok=True)
    text = json.dumps(head)[:-1] + ', "memories": {\n' + ",\n".join(lines) + "\n}}\n"
    (REFERENCE / f"{tier}.json").write_text(text, encoding="utf-8")
    print(f"{len(order)} memories")
    made = shipped(LARGEST)
    figure = picture(exam_figure(made), colours(card.memory for card in made))
    FIGURE.write_text(figure, encoding="utf-8")


if __name__ == "__main__":
    place = Path(sys.argv[2])
    play(sys.argv[1], place)
    merge(sys.argv[1], sorted(place.iterdir()))
