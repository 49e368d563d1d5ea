"""Count the library's lines, files and docstrings, and the files that one step visits.

    python -m benchmarks structure            # per folder, and the longest files
    python -m benchmarks structure --step     # also every file of the tenth step

The step is one of the planner's with ``arigraph`` in Cooking hard: policy, environment and memory.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("gym_memory", "wrappers", "baselines")
STEP = 10


def library() -> list[Path]:
    """Return the library's Python files, each once: two of its folders are links."""
    return sorted(path for f in FOLDERS for path in _files(ROOT / f) if path.is_file())


def _files(folder: Path) -> list[Path]:
    walked = os.walk(folder)  # does not follow links
    return [Path(at) / name for at, _, names in walked for name in names if name.endswith(".py")]


def docstring_lines(text: str) -> int:
    """Return how many lines of a module are docstrings, those of attributes included."""
    return sum(
        node.end_lineno - node.lineno + 1
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        and node.end_lineno is not None
    )


def sizes(depth: int, longest: int) -> None:
    """Print lines, files and the share of docstrings per folder, then the longest files."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lengths: dict[str, int] = {}
    for path in library():
        text = path.read_text("utf-8")
        name = path.relative_to(ROOT)
        lengths[name.as_posix()] = lines = text.count("\n")
        folder = "/".join(name.parent.parts[:depth])
        for key in (folder, "all"):
            found[key].append((lines, docstring_lines(text)))
    print(f"{'folder':32}{'files':>7}{'lines':>8}{'docstrings':>12}")
    for folder in sorted(found, key=lambda key: (key == "all", key)):
        lines, docs = (sum(column) for column in zip(*found[folder], strict=True))
        print(f"{folder:32}{len(found[folder]):7}{lines:8}{docs / max(lines, 1):12.1%}")
    print("\nlongest files")
    for name in sorted(lengths, key=lengths.__getitem__, reverse=True)[:longest]:
        print(f"{lengths[name]:6}  {name}")


def visited() -> dict[str, int]:
    """Play until the tenth step; return the project's files that it visits, with its calls."""
    import gymnasium as gym

    import gym_memory  # noqa: F401 - registers the games
    from gym_memory.baselines import make_policy
    from gym_memory.run import rollout

    calls: dict[str, int] = defaultdict(int)

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls[frame.f_code.co_filename] += 1

    def on_step(step: int, info: dict[str, Any]) -> None:
        sys.setprofile(count if step == STEP - 1 else None)

    env = gym.make("gym_memory/Cooking-v0", level="hard", memory="arigraph")
    rollout(env, make_policy("planner"), seed=0, limit=STEP, on_step=on_step)
    env.close()
    ours = ((Path(name).resolve(), number) for name, number in calls.items())
    return {p.relative_to(ROOT).as_posix(): n for p, n in ours if p in set(library())}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--depth", type=int, default=2, help="depth of the folders")
    parser.add_argument("--longest", type=int, default=10, help="how many of the longest files")
    parser.add_argument("--step", action="store_true", help="trace one step")
    given = parser.parse_args()
    sizes(given.depth, given.longest)
    if given.step:
        calls = visited()
        print(f"\nstep {STEP} visits {len(calls)} files")
        for name, number in sorted(calls.items()):
            print(f"{number:6} calls  {name}")


if __name__ == "__main__":
    main()
