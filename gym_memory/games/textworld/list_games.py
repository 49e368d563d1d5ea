"""Write the manifest of a family, with seeds and digests of its games.

``--verify`` generates the listed games again and compares them::

    python -m gym_memory.games.textworld.list_games Cooking --level voices --verify
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from gym_memory.games.base import ENVIRONMENTS
from gym_memory.games.textworld.challenges import CHALLENGES
from gym_memory.games.textworld.games import (
    FIRST_SEED,
    Manifest,
    game_sha256,
    generate,
    load_manifest,
)

__all__ = ["collect", "main", "verify"]


def collect(factory: Any, level: str) -> dict[str, list[list[Any]]]:
    """Generate the games of a level and return their seeds and digests.

    Skip a seed if its game is already listed (in any split) or cannot be won within the step limit.
    """
    seen: set[str] = set()
    listed: dict[str, list[list[Any]]] = {}
    for split in factory.sizes:
        listed[split] = []
        for seed, digest, length in _generate(factory, level, split):
            if digest not in seen and length <= factory.default_steps(level):
                seen.add(digest)
                listed[split].append([seed, digest])
            if len(listed[split]) == factory.sizes[split]:
                break
    return listed


def _generate(factory: Any, level: str, split: str) -> Iterator[tuple[int, str, int]]:
    for seed in range(FIRST_SEED[split], FIRST_SEED[split] + 10_000):
        game = generate(factory, factory.levels[level], split, seed)
        yield seed, game_sha256(game.serialize()), len(game.metadata["walkthrough"])


def verify(factory: Any, manifest: Manifest, levels: Iterable[str] = ()) -> list[str]:
    """Generate the listed games of some levels (default: all) again; return differing task ids."""
    wrong = []
    for level in levels or manifest.levels:
        listed = manifest.levels[level]
        for split in factory.sizes:
            for number, (seed, digest) in enumerate(listed[split]):
                game = generate(factory, factory.levels[level], split, seed)
                if game_sha256(game.serialize()) != digest:
                    wrong.append(f"{manifest.family}/{level}/{split}/{number}")
    return wrong


def _dump(manifest: Manifest) -> str:
    text = json.dumps(manifest._asdict(), indent=1)
    return re.sub(r'\[\s+(\d+),\s+("\w*")\s+\]', r"[\1, \2]", text) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or verify the manifest of a family; return the exit status."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("name", help="environment or challenge, e.g. Cooking or simple")
    parser.add_argument("--verify", action="store_true", help="compare instead of writing")
    parser.add_argument(
        "--level", action="append", default=[], help="only this level (may be repeated)"
    )
    parser.add_argument("--out", type=Path, help="folder to write to (default: the package's)")
    options = parser.parse_args(arguments)
    factory = CHALLENGES.get(options.name) or ENVIRONMENTS.get(options.name)
    if options.verify:
        manifest = load_manifest(factory.family)
        missing = [f"no manifest of {options.name}"]
        wrong = verify(factory, manifest, options.level) if manifest else missing
        print("\n".join(wrong) or f"{options.name}: all games as listed")
        return bool(wrong)
    kept = load_manifest(factory.family) if options.level else None
    levels = dict(kept.levels) if kept else {}
    for level in options.level or factory.listed_levels or factory.levels:
        print(level, file=sys.stderr)
        settings = dict(factory.levels[level])
        levels[level] = {"settings": settings, **collect(factory, level)}
    manifest = Manifest(factory.family, factory.generator, version("textworld"), levels)
    folder = options.out or Path(str(files("gym_memory.games.textworld") / "manifests"))
    (folder / f"{factory.family}.json").write_text(_dump(manifest), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
