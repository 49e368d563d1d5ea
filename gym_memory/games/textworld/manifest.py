"""Manifests: which games make up the levels and splits of a family.

``test`` is what tests and development may play; ``held_out`` has other games in the same words and
forms, for tables alone: no test plays them.

A manifest lists, for every level and split, the seeds of its games and the SHA-256 of each game
(see :func:`gym_memory.games.textworld.games.game_sha256`), with the settings and the TextWorld
version that made them. No game occurs in two splits of a level. ``list_games.py`` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

__all__ = ["FIRST_SEED", "SIZES", "SPLITS", "Entry", "Manifest", "entries", "load_manifest"]

SPLITS = ("train", "valid", "test", "held_out")
SIZES = {"train": 100, "valid": 20, "test": 20, "held_out": 100}
"""Games a level, unless its family says otherwise."""
FIRST_SEED = {"train": 0, "valid": 100_000, "test": 200_000, "held_out": 300_000}


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
    source = files("gym_memory.games.textworld") / "manifests" / f"{family}.json"
    if not source.is_file():
        return None
    return Manifest(**json.loads(source.read_text(encoding="utf-8")))


def entries(family: str, generator: int, level: str, split: str) -> tuple[Entry, ...]:
    """The games of a level and split, in order.

    Games that no manifest lists (a family of another package, an unlisted level or split) have
    seeds by rule, different in every split, and no digest.
    """
    manifest = load_manifest(family)
    if manifest and manifest.generator == generator and split in manifest.levels.get(level, ()):
        return tuple(Entry(*pair) for pair in manifest.levels[level][split])
    first = FIRST_SEED[split]
    return tuple(Entry(seed) for seed in range(first, first + SIZES[split]))
