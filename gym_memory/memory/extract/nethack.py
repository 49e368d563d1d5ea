"""Extraction rules for NetHack: the sentences of both descriptors to facts.

The description of an area lists all that is in it, so what it leaves out is retired. Two areas
with the same door are the two sides of it. Where two areas prove to be one, what was known of the
one goes over to the other. The vocabulary is that of :mod:`.nethack_words`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
        start = 0
        pending: _Block | None = None
        lines = text.split("\n")
        for line in lines:
            if pending is not None and line.startswith("- "):
                pending.add(line, start)
            else:
                if pending is not None:
                    self._close(pending, here)
                    pending = None
                found = _BLOCK.match(line) if level else None
                if found is not None:
                    pending = _Block(found, start, level)
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
        if pending is not None:
            self._close(pending, here)

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

    def _close(self, block: _Block, here: str) -> None:
        """Take in a whole block: state what it lists, retire what it leaves out."""
        area, level = block.area, block.level
        for triple, start, end in block.facts():
            self._say(triple, start, end)
        watched = area == here or block.passed
        for fact in self._graph.outgoing(area):
            gone = fact.relation in (HAS_ITEM, HAS_EXIT) and fact not in self.mentions
            if gone:
                self.outdated[Pattern(*fact)] = None
        for fact in self._graph.incoming(area):
            listed = fact in self.mentions or fact.subject == PLAYER
            if (
                not listed
                and fact.relation in ("is in", SIGHTING)
                and (watched or fact.relation == "is in")
            ):
                self.outdated[Pattern(*fact)] = None
        for door, state, start, end in block.doors():
            if Triple(area, HAS_EXIT, door) not in self._graph:
                self._join(area, level, door, (start, end))
            if state == "doorway":
                shut = self._graph.value(scoped(door, level), "openness")
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


class _Block:
    """The description of one area while it is read."""

    def __init__(self, head: re.Match[str], start: int, level: str):
        words = [w for w in head["words"].split(", ") if not w.startswith("no path")]
        self.level = level
        self.area = scoped(head["area"].lower(), level)
        self.passed = not any(w.endswith(" steps away") for w in head["words"].split(", "))
        self.explored = "explored" in words
        kinds = [w for w in words if w not in _EXPLORED and not w.endswith(" steps away")]
        self.kind = kinds[0].lower() if kinds else ""
        self._span = (start, start + len(head[0]))
        self._lists: dict[str, list[_Part]] = {name: [] for name in _LISTS}

    def add(self, line: str, start: int) -> None:
        """Read one list."""
        for name in _LISTS:
            if line.startswith(name):
                parts, start = [], start + len(name)
                for entry in line[len(name) :].split("; "):
                    said, _, remark = entry.partition(" (")
                    if said:
                        end = start + len(said)
                        parts.append(_Part(said.lower(), remark.rstrip(")"), start, end))
                    start += len(entry) + 2
                self._lists[name] = parts
                return

    def facts(self) -> Iterator[tuple[Triple, int, int]]:
        """All facts with the characters that say them."""
        features, exits, items, creatures = self._lists.values()
        for fact, part in area_facts(
            self.area,
            self.level,
            kind=self.kind,
            explored=self.explored,
            features=features,
            exits=[(part, part.remark.partition(",")[0]) for part in exits],
            items=items,
        ):
            yield (fact, *self._span) if part is None else (fact, part.start, part.end)
        for part in creatures:
            yield Triple(part.name, SIGHTING, self.area), part.start, part.end

    def doors(self) -> Iterator[tuple[str, str, int, int]]:
        """Names of the doors and their states, with the characters that say them."""
        for part in self._lists["- exits: "]:
            yield part.name, part.remark.partition(",")[0], part.start, part.end


@lru_cache(maxsize=256)
def _carried(inventory: str) -> tuple[Triple, ...]:
    lines = [line.partition(" - ") for line in inventory.split("\n")]
    return item_facts(tuple(name for _, dash, name in lines if dash))
