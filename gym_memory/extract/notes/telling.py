"""What one text has told so far, and what follows from the whole of it."""

from __future__ import annotations

from typing import Generic, NamedTuple, Protocol, TypeVar

from gym_memory.core.records import Triple
from gym_memory.extract.base import Mention
from gym_memory.extract.notes.nouns import CONTAINER, DOOR, KEY, kind_of_noun

__all__ = ["Telling", "Told"]


class Told(NamedTuple):
    """What a text tells.

    Attributes:
        facts: Facts, each with the characters that name its subject.
        names: Things that the text is about, with the characters of each.
    """

    facts: tuple[Mention, ...]
    names: dict[str, tuple[int, int]]


class _Thing(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def span(self) -> tuple[int, int]: ...


ThingT = TypeVar("ThingT", bound=_Thing)


class Telling(Generic[ThingT]):
    """Facts of keys, locks and places as they are read, whoever reads them.

    Attributes:
        facts: What was told, with the characters that name each subject.
        names: The things of these facts, with the characters of each.
        meant: All things that the text named, in its order.
        rooms: Rooms that it named alone: where all this happens.
    """

    def __init__(self) -> None:
        self.facts: dict[Triple, tuple[int, int]] = {}
        self.names: dict[str, tuple[int, int]] = {}
        self.meant: list[ThingT] = []
        self.rooms: list[ThingT] = []

    def tell(self, subject: ThingT, relation: str, obj: ThingT) -> None:
        """Add a fact, unless it relates a thing to itself."""
        if subject.name != obj.name:
            self.facts.setdefault(Triple(subject.name, relation, obj.name), subject.span)
            for thing in (subject, obj):
                self.names.setdefault(thing.name, thing.span)

    def placed(self) -> set[str]:
        """The things of which it was said where they are."""
        return {fact.subject for fact in self.facts if fact.relation != "opens"}

    def pair_up(self) -> None:
        """A key and a lock that are named, one each, where nothing is told of what opens what."""
        if any(fact.relation == "opens" for fact in self.facts):
            return
        holders = {fact.object for fact in self.facts}
        keys = {t.name: t for t in self.meant if t.kind == KEY}
        locks = {t.name: t for t in self.meant if t.kind == CONTAINER and t.name not in holders}
        if len(keys) == len(locks) == 1:
            (key,), (lock,) = keys.values(), locks.values()
            self.tell(key, "opens", lock)

    def place_locks(self) -> None:
        """A room that is named alone is where the lock of the text is."""
        rooms = {room.name: room for room in self.rooms}
        if len(rooms) != 1:
            return
        (room,) = rooms.values()
        placed = self.placed()
        for fact in list(self.facts):
            lost = fact.relation == "opens" and fact.object not in placed
            if lost and kind_of_noun(fact.object) != DOOR:
                self.facts[Triple(fact.object, "is in", room.name)] = room.span
                self.names.setdefault(room.name, room.span)

    def told(self) -> Told:
        """All of it."""
        return Told(tuple(Mention(fact, *span) for fact, span in self.facts.items()), self.names)
