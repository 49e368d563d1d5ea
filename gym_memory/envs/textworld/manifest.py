"""Manifests: which games make up the levels and splits of a family.

A manifest lists, for every level and split, the seeds of its games and the SHA-256 of each game
(see :func:`gym_memory.envs.textworld.games.game_sha256`), with the settings and the TextWorld
version that made them. No game occurs in two splits of a level. Write one with::

    python -m gym_memory.envs.textworld.manifest Cooking
    python -m gym_memory.envs.textworld.manifest Cooking --verify   # makes them again and compares
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.envs.textworld.games import game_sha256, generate

__all__ = ["SIZES", "SPLITS", "Entry", "Manifest", "entries", "load_manifest", "main"]

SPLITS = ("train", "valid", "test")
SIZES = {"train": 100, "valid": 20, "test": 20}
"""Games a level, unless its family says otherwise."""
_FIRST_SEED = {"train": 0, "valid": 100_000, "test": 200_000}


class Entry(NamedTuple):
    """One listed game; ``sha256`` is empty where no manifest lists it."""

    seed: int
    sha256: str = ""


class Manifest(NamedTuple):
    """All listed games of a family.

    Attributes:
        family: Name of the family.
        generator: Version of the family's generator that made them.
        textworld: Version of TextWorld that made them.
        levels: Level to ``{"settings": ..., "train": [[seed, sha256], ...], ...}``.
    """

    family: str
    generator: int
    textworld: str
    levels: Mapping[str, Mapping[str, Any]]


@lru_cache(maxsize=32)
def load_manifest(family: str) -> Manifest | None:
    """The manifest of a family; None where the package has none."""
    source = files("gym_memory.envs.textworld") / "manifests" / f"{family}.json"
    if not source.is_file():
        return None
    return Manifest(**json.loads(source.read_text(encoding="utf-8")))


def entries(family: str, generator: int, level: str, split: str) -> tuple[Entry, ...]:
    """The games of a level and split, in order.

    Games that no manifest lists (a family of another package, an unlisted level) have seeds by
    rule, different in every split, and no digest.
    """
    manifest = load_manifest(family)
    if manifest and manifest.generator == generator and level in manifest.levels:
        return tuple(Entry(*pair) for pair in manifest.levels[level][split])
    first = _FIRST_SEED[split]
    return tuple(Entry(seed) for seed in range(first, first + SIZES[split]))


# ---------------------------------------------------------------- writing


def collect(factory: Any, level: str) -> dict[str, list[list[Any]]]:
    """Make the games of a level and note their seeds and digests.

    A seed is passed over when its game is already listed (in any split) or cannot be won within
    the step limit.
    """
    seen: set[str] = set()
    listed: dict[str, list[list[Any]]] = {}
    for split in SPLITS:
        listed[split] = []
        for seed, digest, length in _made(factory, level, split):
            if digest not in seen and length <= factory.default_steps(level):
                seen.add(digest)
                listed[split].append([seed, digest])
            if len(listed[split]) == factory.sizes[split]:
                break
    return listed


def _made(factory: Any, level: str, split: str) -> Iterator[tuple[int, str, int]]:
    for seed in range(_FIRST_SEED[split], _FIRST_SEED[split] + 10_000):
        game = generate(factory, factory.levels[level], split, seed)
        yield seed, game_sha256(game.serialize()), len(game.metadata["walkthrough"])


def verify(factory: Any, manifest: Manifest) -> list[str]:
    """Make every listed game again; returns the task ids whose digest differs."""
    wrong = []
    for level, listed in manifest.levels.items():
        for split in SPLITS:
            for number, (seed, digest) in enumerate(listed[split]):
                game = generate(factory, factory.levels[level], split, seed)
                if game_sha256(game.serialize()) != digest:
                    wrong.append(f"{manifest.family}/{level}/{split}/{number}")
    return wrong


def _dump(manifest: Manifest) -> str:
    """JSON with one game a line."""
    text = json.dumps(manifest._asdict(), indent=1)
    return re.sub(r'\[\s+(\d+),\s+("\w*")\s+\]', r"[\1, \2]", text) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or verify the manifest of a family; returns the exit status."""
    from gym_memory.envs.registry import ENVIRONMENTS
    from gym_memory.envs.textworld.challenges import CHALLENGES

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("name", help="environment or challenge, e.g. Cooking or simple")
    parser.add_argument("--verify", action="store_true", help="compare instead of writing")
    parser.add_argument("--out", type=Path, help="folder to write to (default: the package's)")
    options = parser.parse_args(arguments)
    factory = CHALLENGES.get(options.name) or ENVIRONMENTS.get(options.name)
    if options.verify:
        manifest = load_manifest(factory.family)
        wrong = verify(factory, manifest) if manifest else [f"no manifest of {options.name}"]
        print("\n".join(wrong) or f"{options.name}: all games as listed")
        return bool(wrong)
    levels = {}
    for level in factory.listed_levels or factory.levels:
        print(level, file=sys.stderr)
        settings = dict(factory.levels[level])
        levels[level] = {"settings": settings, **collect(factory, level)}
    manifest = Manifest(factory.family, factory.generator, version("textworld"), levels)
    folder = options.out or Path(str(files("gym_memory.envs.textworld") / "manifests"))
    (folder / f"{factory.family}.json").write_text(_dump(manifest), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
