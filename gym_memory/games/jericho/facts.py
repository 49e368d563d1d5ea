"""Object tree of a running story, and the truth that it states, for scoring alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.records import Triple
from gym_memory.games.jericho.vocabulary import Bytes, decoded, object_region
from gym_memory.graph.schema import EXIT, INVENTORY, PLAYER

__all__ = ["Tree", "find_player", "holders_of", "is_circular", "object_names", "true_facts"]


@lru_cache(maxsize=64)
def object_names(story: bytes) -> tuple[str, ...]:
    """Return the names of a story's objects by number, in lower case; "" for none."""
    region, names = object_region(story), [""]
    for entry in region.entries(region.of(np.frombuffer(story, np.uint8))):
        text = int.from_bytes(entry[-2:].tobytes(), "big")
        data = story[text + 1 : text + 1 + 2 * story[text]]
        names.append(" ".join(decoded(story, data, short=False).lower().split()))
    return tuple(names)


def holders_of(story: bytes, memory: Bytes) -> NDArray[np.int64]:
    """Return the number of each object's holder by the object's number; 0 for none."""
    region = object_region(story)
    entries = region.entries(region.of(memory)).astype(np.int64)
    found = entries[:, 4] if story[0] <= 3 else entries[:, 6] << 8 | entries[:, 7]
    return np.concatenate(([0], np.where(found <= region.objects, found, 0)))


def is_circular(holders: NDArray[np.int64]) -> bool:
    """True if a thing is inside of itself: a story that looks there never answers."""
    outer = holders
    for _ in range(len(holders).bit_length()):
        outer = outer[outer]
    return bool(outer.any())


class Tree:
    """Objects of a story in one state: names and holders by number, 0 for none.

    Args:
        story: The story file.
        memory: The machine's dynamic memory.
        room: The room, where the story states it; 0 finds it from the player.
        title: First line of the answer to ``look``, which names a room without a name.
    """

    def __init__(self, story: bytes, memory: Bytes, room: int, title: str):
        self.names: Sequence[str] = object_names(story)
        self.holders: Sequence[int] = holders_of(story, memory).tolist()
        self._room, self._title = room, title
        self._rooms_held = story[0x12:0x13] == b"8"
        """True for Infocom, by the serial number: one object holds all rooms."""

    def around(self, number: int) -> Iterator[int]:
        """Yield the holders of an object, from the inside to the outside."""
        seen = {0}
        while (number := self.holders[number]) not in seen:
            seen.add(number)
            yield number

    def room(self, player: int) -> int:
        """Return the player's room."""
        outside = list(self.around(player))[::-1]
        return self._room or next(iter(outside[self._rooms_held :]), 0)

    def place(self, player: int) -> str:
        """Return the name of the player's room."""
        return self.names[self.room(player)] or self._title.lower()


def find_player(walked: Mapping[str, Tree]) -> int:
    """Return the object that gets to most places by the moves; 0 if there is none."""
    held = zip(*(tree.holders for tree in walked.values()), strict=True)
    places = [len(set(holders)) for holders in held]
    return places.index(max(places)) if places and max(places) > 1 else 0


def true_facts(here: Tree, walked: Mapping[str, Tree], player: int) -> frozenset[Triple]:
    """Return where the player is, what is in the room and in hand, and the passable exits.

    ``walked`` maps moves to the states that they lead to now: a closed door is no exit.
    """
    at, room = here.room(player), here.place(player)
    facts = {Triple(PLAYER, "is in", room)}
    for number, (name, holder) in enumerate(zip(here.names, here.holders, strict=True)):
        hidden = name.startswith("(")  # Inform's own objects
        if name and not hidden and number != player and at in here.around(number):
            place = INVENTORY if holder == player else here.names[holder]
            facts.add(Triple(name, "is in", place or room))
    for move, there in walked.items():
        if there.room(player) != at:
            facts |= {Triple(room, EXIT, move), Triple(there.place(player), f"is {move} of", room)}
    return frozenset(facts)
