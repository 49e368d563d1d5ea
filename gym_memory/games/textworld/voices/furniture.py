"""Furniture and things of a game in many voices, drawn and then written into TextWorld's maker."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable
from typing import Any

from gym_memory.games.textworld.voices.voice import Name, sentence
from gym_memory.games.textworld.worldgen import Cell, new_holder

__all__ = ["Holder", "add_holders", "add_things"]


@dataclasses.dataclass(frozen=True)
class Holder:
    """A piece of furniture that is not locked; kind ``c`` container or ``s`` supporter."""

    name: Name
    kind: str
    cell: Cell
    shut: bool = False

    @property
    def prep(self) -> str:
        """Where a thing of it is."""
        return "in" if self.kind == "c" else "on"


def add_holders(
    maker: Any, rng: random.Random, places: dict[Any, Any], holders: Iterable[Holder]
) -> None:
    """Put furniture into its rooms.

    Args:
        maker: TextWorld's game maker.
        rng: Draws the descriptions.
        places: Cell to room; the furniture comes beside.
        holders: The furniture.
    """
    for holder in holders:
        piece = new_holder(maker, rng, holder.kind, holder.name.name)
        if holder.kind == "c":
            piece.add_property("closed" if holder.shut else "open")
        places[holder.cell].add(piece)
        places[holder] = piece


def add_things(
    maker: Any, places: dict[Any, Any], things: Iterable[tuple[Name, Cell | Holder]]
) -> None:
    """Put things where they are: on the floor of a cell, or in or on furniture."""
    for thing, place in things:
        look = sentence(f"{thing} look ordinary") if thing.indefinite else None
        entity = maker.new("o", thing.name, look)
        entity.infos.indefinite = thing.indefinite or None
        places[place].add(entity)
