"""Extraction rules for NetHack: the sentences of both descriptors to facts.

The description of an area lists all that is in it, so what it leaves out is retired. Two areas
with the same door are the two sides of it. Where two areas prove to be one, what was known of the
one goes over to the other. The vocabulary is that of :mod:`.nethack_words`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from gym_memory.memory.extract.base import Extraction, Mention, Pattern
from gym_memory.memory.extract.nethack_words import (
    HAS_EXIT,
    HAS_ITEM,
    SIGHTING,
    WEARS,
    WIELDS,
    area_facts,
    exit_of,
    item_facts,
    scoped,
)
from gym_memory.memory.graph import TemporalGraph
from gym_memory.memory.schema import INVENTORY, PLAYER, direction_of, way_relation
from gym_memory.types import Step, Task, Triple

__all__ = ["NetHackRules"]

_LONGEST = 100_000
_AREA = r"(?:room|corridor) \d+"
_HERE = re.compile(rf"^You are in (?P<area>{_AREA}) of (?P<level>[^,.]+)(?:, on (?P<on>[^.]+))?")
_TOOK = re.compile(rf"^You took (?P<feature>.+?) of (?P<area>{_AREA} of [^.]+)\.$")
_MERGED = re.compile(rf"^(?P<old>(?i:{_AREA})) of (?P<level>[^.]+) is part of (?P<new>{_AREA}) of ")
_WAY = re.compile(rf"^On the way, in {_AREA} of (?P<level>[^:]+):$")
_BLOCK = re.compile(r"^(?P<area>(?:Room|Corridor) \d+), (?P<words>.+)\.$")
_LISTS = ("- features: ", "- exits: ", "- items: ", "- monsters: ")
_EXPLORED = ("explored", "partly explored")


class NetHackRules:
    r"""The extraction role for NetHack, by rules.

    >>> text = "You are in room 1 of level 2.\nRoom 1, explored.\n- exits: door 3 (closed, 2 east)"
    >>> found = NetHackRules().extract(Step(0, text), TemporalGraph(), Task("t", "", "nethack"))
    >>> for mention in found.mentions:
    ...     print(mention.triple)
    you, is in, room 1 of level 2
    room 1 of level 2, is, explored
    room 1 of level 2, has exit, door 3
    door 3 of level 2, is, closed
    """

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Facts of one step; see :class:`~gym_memory.memory.extract.base.Extractor`."""
        draft = _Draft(graph)
        draft.read(step.text[:_LONGEST])
        if step.inventory:
            draft.carry(step.inventory)
        return Extraction(tuple(draft.mentions.values()), tuple(draft.outdated))


class _Part(NamedTuple):
    """An entry of a list: its name, what stands in brackets, and where the name stands."""

    name: str
    remark: str
    start: int
    end: int


class _Draft:
    """The extraction of one step while it grows; knows the graph before the step."""

    def __init__(self, graph: TemporalGraph):
        self._graph = graph
        self.mentions: dict[Triple, Mention] = {}
        self.outdated: dict[Pattern, None] = {}
        self._doors: dict[tuple[str, str], list[str]] = {}  # (door, level) to areas in this text
        self._took: re.Match[str] | None = None

    def read(self, text: str) -> None:
        """Read all lines of a text."""
        level = here = ""
        start = taken = 0
        lines = text.split("\n")
        for number, line in enumerate(lines):
            if number >= taken:
                if level and line.startswith(("Room ", "Corridor ")):
                    taken = number + 1
                    while taken < len(lines) and lines[taken].startswith("- "):
                        taken += 1
                    block = _read_block("\n".join(lines[number:taken]), level)
                    if block is not None:
                        self._close(block, start, here)
                    level = here.partition(" of ")[2] or level
                elif line.startswith("You are in "):
                    level, here = self._arrive(line, start)
                elif line.startswith("On the way, in "):
                    passed = _WAY.match(line)
                    level = passed["level"] if passed else level
                elif line.startswith("You took "):
                    self._took = _TOOK.match(line)
                elif " is part of " in line:
                    self._merge(line)
            start += len(line) + 1

    def _say(self, triple: Triple, start: int = -1, end: int = -1) -> None:
        if triple not in self.mentions:
            self.mentions[triple] = Mention(triple, start, end)

    def _arrive(self, line: str, start: int) -> tuple[str, str]:
        found = _HERE.match(line)
        if found is None:
            return "", ""
        here = scoped(found["area"], found["level"])
        span = (start + found.start("area"), start + found.end("level"))
        self._say(Triple(PLAYER, "is in", here), *span)
        if self._took is not None:
            left, feature = self._took["area"], self._took["feature"]
            self._say(Triple(here, way_relation(exit_of(feature)), left), *span)
            if found["on"]:
                self._say(Triple(left, way_relation(exit_of(found["on"])), here), *span)
        return found["level"], here

    def _close(self, block: _Block, offset: int, here: str) -> None:
        """Take in a whole block: state what it lists, retire what it leaves out."""
        area, level, graph = block.area, block.level, self._graph
        for triple, start, end in block.facts:
            self._say(triple, start + offset, end + offset)
        said = self.mentions
        for fact in graph.outgoing(area):
            if fact[1] in (HAS_ITEM, HAS_EXIT) and fact not in said:
                self.outdated[Pattern(*fact)] = None
        watched = ("is in", SIGHTING) if area == here or block.passed else ("is in",)
        for fact in graph.incoming(area):
            if fact[1] in watched and fact not in said and fact[0] != PLAYER:
                self.outdated[Pattern(*fact)] = None
        for door, state, start, end in block.doors:
            if Triple(area, HAS_EXIT, door) not in graph:
                self._join(area, level, door, (start + offset, end + offset))
            if state == "doorway":
                shut = graph.value(scoped(door, level), "openness")
                if shut is not None:
                    self.outdated[Pattern(*shut)] = None

    def _join(self, area: str, level: str, door: str, span: tuple[int, int]) -> None:
        """The way through a door to the area on its other side, where that is known."""
        ending = f" of {level}"
        known = self._doors.setdefault((door, level), [])
        others = [
            fact.subject
            for fact in self._graph.incoming(door)
            if fact.relation == HAS_EXIT
            and fact.subject.endswith(ending)
            and Pattern(*fact) not in self.outdated
        ]
        for other in dict.fromkeys((*known, *others)):
            if other != area:
                for one, two in ((other, area), (area, other)):
                    way = Triple(one, way_relation(door), two)
                    if way not in self._graph:
                        self._say(way, *span)
        known.append(area)

    def _merge(self, line: str) -> None:
        """What was known of one area goes over to the one that it is part of."""
        found = _MERGED.match(line)
        if found is None:
            return
        old = scoped(found["old"].lower(), found["level"])
        new = scoped(found["new"], found["level"])
        for fact in self._graph.incident(old):
            self.outdated[Pattern(*fact)] = None
            renamed = fact._replace(
                subject=new if fact.subject == old else fact.subject,
                object=new if fact.object == old else fact.object,
            )
            stays = fact.relation in (HAS_ITEM, HAS_EXIT, SIGHTING, "is in")
            is_way = direction_of(fact.relation) is not None
            if (stays or is_way) and renamed.subject != renamed.object != PLAYER != fact.subject:
                self._say(renamed)

    def carry(self, inventory: str) -> None:
        """The pack: what is new in it, and what is gone from it."""
        facts = _carried(inventory)
        graph = self._graph
        before = {fact for fact in graph.incoming(INVENTORY) if fact.relation == "is in"}
        before.update(f for f in graph.outgoing(PLAYER) if f.relation in (WIELDS, WEARS))
        for fact in facts:
            if fact not in before:
                self._say(fact)
        for fact in sorted(before.difference(facts)):
            self.outdated[Pattern(*fact)] = None


class _Block(NamedTuple):
    """The description of one area, read; positions count from its beginning.

    Attributes:
        area: Full name of the area.
        level: Name of its level.
        passed: Whether the player is or was there: no distance is told.
        facts: What it states, with the characters that say it.
        doors: Names of doors, their states, and where they stand.
    """

    area: str
    level: str
    passed: bool
    facts: tuple[tuple[Triple, int, int], ...]
    doors: tuple[tuple[str, str, int, int], ...]


@lru_cache(maxsize=1024)
def _read_block(text: str, level: str) -> _Block | None:
    """The description of an area; None if it is none.

    Kept, for the same area is described again as long as nobody moves.
    """
    first, *lines = text.split("\n")
    head = _BLOCK.match(first)
    if head is None:
        return None
    lists: dict[str, list[_Part]] = {name: [] for name in _LISTS}
    start = len(first) + 1
    for line in lines:
        for name in _LISTS:
            if line.startswith(name):
                lists[name] = _parts(line[len(name) :], start + len(name))
        start += len(line) + 1
    words = head["words"].split(", ")
    passed = not any(word.endswith((" steps away", "no path known")) for word in words)
    kinds = [w for w in words if w not in _EXPLORED and not w.endswith((" away", " known"))]
    area = scoped(head["area"].lower(), level)
    features, exits, items, creatures = lists.values()
    stated = area_facts(
        area,
        level,
        kind=kinds[0].lower() if kinds else "",
        explored="explored" in words,
        features=features,
        exits=[(part, part.remark.partition(",")[0]) for part in exits],
        items=items,
    )
    facts = [
        (fact, 0, len(first)) if part is None else (fact, part.start, part.end)
        for fact, part in stated
    ]
    facts += [(Triple(p.name, SIGHTING, area), p.start, p.end) for p in creatures]
    doors = [(p.name, p.remark.partition(",")[0], p.start, p.end) for p in exits]
    return _Block(area, level, passed, tuple(facts), tuple(doors))


def _parts(text: str, start: int) -> list[_Part]:
    """The entries of a list."""
    parts = []
    for entry in text.split("; "):
        name, _, remark = entry.partition(" (")
        if name:
            parts.append(_Part(name.lower(), remark.rstrip(")"), start, start + len(name)))
        start += len(entry) + 2
    return parts


@lru_cache(maxsize=256)
def _carried(inventory: str) -> tuple[Triple, ...]:
    lines = [line.partition(" - ") for line in inventory.split("\n")]
    return item_facts(tuple(name for _, dash, name in lines if dash))
