"""Print the beginning of each pair of CLIN's Gen-Task, and the archive of each half.

    gym-memory paper clin-gentask --model MODEL --seeds 0:1 --out results/gentask
    python -m benchmarks papers/pairs results/gentask      # all texts; the table into measured.json

A half is played in a test variation after the other half was learnt there: its archive is the list
of learnings in the call that writes its meta-memory.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import NamedTuple

from keep import write_measured

from gym_memory.core.trajectory import read_rows
from gym_memory.papers.experiments import load_experiment

_ARCHIVE = re.compile(r"<archive>\n(.*?)\n</archive>", re.DOTALL)
_PLACE = re.compile(r"called the ([^.]+)\.|^This (outside) location", re.MULTILINE)
_LEARNT = re.compile(r"^\d+\. ", re.MULTILINE)


class PlayedHalf(NamedTuple):
    """One task of a pair, played after the other.

    Attributes:
        seen: Its first observation.
        archive: Learnings in its memory's prompt.
        recalled: Meta-memory in the agent's prompt.
    """

    task: str
    seen: str
    archive: str
    recalled: str


def half(folder: Path) -> PlayedHalf:
    """Read the first game of a part of the experiment."""
    file = min((folder / "steps").glob("*.jsonl.gz"))
    row = next(iter(read_rows(file)))
    texts = [message["content"] for call in row.get("calls", ()) for message in call["messages"]]
    found = [match[1] for text in texts if (match := _ARCHIVE.search(text))]
    return PlayedHalf(
        row["task_id"], row["text"], "\n".join(dict.fromkeys(found)), row.get("memory", "")
    )


def main() -> None:
    """Print each pair; keep a line for each half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="Results of gym-memory paper clin-gentask.")
    folder: Path = parser.parse_args().folder
    lines = []
    names = [part["name"] for part in load_experiment("clin-gentask").parts]
    pairs = sorted(name.split("-")[1] for name in names if name.startswith("first-"))
    for number in (pair.removesuffix("b") for pair in pairs):
        for name, train in (("first", f"second-{number}b"), ("second", f"first-{number}a")):
            one = half(folder / f"{name}-{number}{train[-1]}")
            before = half(folder / f"train-{train}")
            print(f"## Pair {number}: {one.task}, after {before.task}\n\nBegins with:\n")
            print(f"{one.seen}\n\nGot:\n\n{one.archive}\n\nRecalled:\n\n{one.recalled}\n")
            learnt = str(len(_LEARNT.findall(one.archive)))
            rooms = [_PLACE.search(each.seen) for each in (before, one)]
            places = [(room[1] or room[2]) if room else "" for room in rooms]
            lines.append([number, before.task, places[0], one.task, places[1], learnt])
    write_measured("papers/pairs", lines)


if __name__ == "__main__":
    main()
