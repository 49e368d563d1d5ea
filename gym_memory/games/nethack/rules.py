"""Extraction rules for NetHack: the sentences of both descriptors to facts.

The description of an area lists all that is in it, so what it leaves out is retired. Two areas
with the same door are the two sides of it. Where two areas prove to be one, what was known of the
one goes over to the other. The vocabulary is that of :mod:`.nethack_words`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import EXTRACTORS
from gym_memory.extract.base import Extraction, Mention, Pattern
from gym_memory.games.nethack.rules_words import (
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
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, PLAYER, direction_of, way_relation

__all__ = ["NetHackRules"]

_MAX_TEXT_CHARS = 100_000
_AREA = r"(?:room|corridor) \d+"
_HERE = re.compile(rf"^You are in (?P<area>{_AREA}) of (?P<level>[^,.]+)(?:, on (?P<on>[^.]+))?")
_TOOK = re.compile(rf"^You took (?P<feature>.+?) of (?P<area>{_AREA} of [^.]+)\.$")
_MERGED = re.compile(rf"^(?P<old>(?i:{_AREA})) of (?P<level>[^.]+) is part of (?P<new>{_AREA}) of ")
_WAY = re.compile(rf"^On the way, in {_AREA} of (?P<level>[^:]+):$")
_BLOCK = re.compile(r"^(?P<area>(?:Room|Corridor) \d+), (?P<words>.+)\.$")
_LISTS = ("- features", "- exits", "- items", "- monsters")
_EXPLORED = ("explored", "partly explored")


@EXTRACTORS.register("nethack")
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
        """Facts of one step; see :class:`~gym_memory.extract.base.Extractor`."""
        draft = _Draft(graph)
        draft.read(step.text[:_MAX_TEXT_CHARS])
        if step.inventory:
            draft.carry(step.inventory)
        return Extraction(tuple(draft.mentions.values()), tuple(draft.outdated))


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
        lines = text.split("\n")
        start = number = 0
        while number < len(lines):
            line, at = lines[number], start
            start, number = start + len(line) + 1, number + 1
            if line.startswith("You are in "):
                level, here = self._arrive(line, at)
            elif level and line.startswith(("Room ", "Corridor ")):
                while number < len(lines) and lines[number].startswith("- "):
                    start, number = start + len(lines[number]) + 1, number + 1
                block = _read_block(text[at : start - 1], level)
                if block is not None:
                    self._close(block, at, here)
                level = here.partition(" of ")[2] or level
            elif line.startswith("On the way, in "):
                passed = _WAY.match(line)
                level = passed["level"] if passed else level
            elif line.startswith("You took "):
                self._took = _TOOK.match(line)
            elif " is part of " in line:
                self._merge(line)

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
        area, level, graph, said = block.area, block.level, self._graph, self.mentions
        for fact, number in block.facts:
            if fact not in said:
                start, end = block.spans[number]
                said[fact] = Mention(fact, start + offset, end + offset)
        exits = set()
        for fact in graph.outgoing(area):
            if fact[1] == HAS_EXIT:
                exits.add(fact[2])
            elif fact[1] != HAS_ITEM:
                continue
            if fact not in said:
                self.outdated[Pattern(*fact)] = None
        watched = ("is in", SIGHTING) if area == here or block.passed else ("is in",)
        for fact in graph.incoming(area):
            if fact[1] in watched and fact not in said and fact[0] != PLAYER:
                self.outdated[Pattern(*fact)] = None
        for door, state, number in block.doors:
            if door not in exits:
                start, end = block.spans[number]
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
        before = {fact for fact in graph.incoming(INVENTORY) if fact[1] == "is in"}
        before.update([f for f in graph.outgoing(PLAYER) if f[1] in (WIELDS, WEARS)])
        if before != facts.keys():
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
        facts: What it states, each fact with the number of the span that says so.
        doors: Names of doors and their states, likewise.
        spans: Where the area as such is named, then every entry of its lists.
    """

    area: str
    level: str
    passed: bool
    facts: tuple[tuple[Triple, int], ...]
    doors: tuple[tuple[str, str, int], ...]
    spans: list[tuple[int, int]]


@lru_cache(maxsize=1024)
def _read_block(text: str, level: str) -> _Block | None:
    """The description of an area; None if it is none.

    Kept, for the same area is described again as long as nobody moves.
    """
    first, *lines = text.split("\n")
    head = _BLOCK.match(first)
    if head is None:
        return None
    lists: dict[str, str] = dict.fromkeys(_LISTS, "")
    starts = dict.fromkeys(_LISTS, 0)
    start = len(first) + 1
    for line in lines:
        label, colon, listed = line.partition(": ")
        if colon and label in lists:
            lists[label], starts[label] = listed, start + len(label) + len(colon)
        start += len(line) + 1
    spans = [(0, len(first))]
    features, exits, items, creatures = [
        _entries(lists[label], starts[label], spans) for label in _LISTS
    ]
    words = head["words"].split(", ")
    kinds = [w for w in words if w not in _EXPLORED and not w.endswith((" away", " known"))]
    area = scoped(head["area"].lower(), level)
    facts, doors = _stated(
        area,
        level,
        kinds[0].lower() if kinds else "",
        "explored" in words,
        tuple([name for name, _ in features]),
        tuple([(name, remark.rstrip(")").partition(",")[0]) for name, remark in exits]),
        tuple([name for name, _ in items]),
        tuple([name for name, _ in creatures]),
    )
    passed = not any(word.endswith((" steps away", "no path known")) for word in words)
    return _Block(area, level, passed, facts, doors, spans)


def _entries(listed: str, start: int, spans: list[tuple[int, int]]) -> list[tuple[str, str]]:
    """Names in a list with what stands after each; adds to ``spans`` where the names stand."""
    entries = []
    for entry in listed.split("; "):
        name, _, remark = entry.partition(" (")
        if name:
            entries.append((name.lower(), remark))
            spans.append((start, start + len(name)))
        start += len(entry) + 2
    return entries


class _Entry(NamedTuple):
    """An entry of a list: its name, and the number of its span."""

    name: str
    span: int


@lru_cache(maxsize=4096)
def _stated(
    area: str,
    level: str,
    kind: str,
    explored: bool,
    features: tuple[str, ...],
    exits: tuple[tuple[str, str], ...],
    items: tuple[str, ...],
    creatures: tuple[str, ...],
) -> tuple[tuple[tuple[Triple, int], ...], tuple[tuple[str, str, int], ...]]:
    """The facts and the doors of an area, each with the number of its span.

    Kept, for what is in an area changes less often than where that lies as seen from the player.
    """
    numbers = count(1)
    listed = [_Entry(name, next(numbers)) for name in features]
    doors = [(_Entry(name, next(numbers)), state) for name, state in exits]
    things = [_Entry(name, next(numbers)) for name in items]
    stated = area_facts(
        area, level, kind=kind, explored=explored, features=listed, exits=doors, items=things
    )
    facts = [(fact, entry.span if entry else 0) for fact, entry in stated]
    facts += [(Triple(name, SIGHTING, area), next(numbers)) for name in creatures]
    return tuple(facts), tuple((door.name, state, door.span) for door, state in doors)


@lru_cache(maxsize=256)
def _carried(inventory: str) -> dict[Triple, None]:
    """Facts about a pack, in its order; not to be changed."""
    lines = [line.partition(" - ") for line in inventory.split("\n")]
    return dict.fromkeys(item_facts(tuple(name for _, dash, name in lines if dash)))
