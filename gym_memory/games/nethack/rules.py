"""Extraction rules for the texts of both NetHack views.

The description of an area is complete, so facts that it omits are retired. Two areas with the same
door are its two sides. ``docs/nethack.md`` lists the facts.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from gym_memory.core.records import Step, Task, Triple
from gym_memory.core.text import without_article
from gym_memory.extract import Extraction, Mention, Pattern
from gym_memory.extract.draft import Draft, unrewarded
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, PLAYER, direction_of, way_relation

__all__ = ["HAS_EXIT", "HAS_ITEM", "SIGHTING", "NetHackRules", "area_facts", "exit_of"]
__all__ += ["item_facts", "plain_name", "scoped"]

HAS_EXIT, HAS_ITEM, SIGHTING = "has exit", "has item", "was last seen in"
_WIELDS, _WEARS = "wield", "wear"

_MAX_TEXT_CHARS = 100_000
_AREA = r"(?:room|corridor) \d+"
_HERE = re.compile(rf"^You are in (?P<area>{_AREA}) of (?P<level>[^,.]+)(?:, on (?P<on>[^.]+))?")
_TOOK_STAIRS = re.compile(rf"^You took (?P<feature>.+?) of (?P<area>{_AREA} of [^.]+)\.$")
_MERGED = re.compile(rf"^(?P<old>(?i:{_AREA})) of (?P<level>[^.]+) is part of (?P<new>{_AREA}) of ")
_ON_THE_WAY = re.compile(rf"^On the way, in {_AREA} of (?P<level>[^:]+):$")
_AREA_HEADING = re.compile(r"^(?P<area>(?:Room|Corridor) \d+), (?P<words>.+)\.$")
_LIST_STARTS = ("- features", "- exits", "- items", "- monsters")
_EXPLORED = ("explored", "partly explored")
_STAIRS = re.compile(r"^(?:stairs|ladder) (up|down)$")
_DOOR_STATES = frozenset({"open", "closed", "locked", "broken"})
_REMARK = re.compile(r" \([^()]*\)")


class NetHackRules:
    r"""Extraction rules for one step.

    >>> text = "You are in room 1 of level 2.\nRoom 1, explored.\n- exits: door 3 (closed, 2 east)"
    >>> found = NetHackRules().extract(Step(0, text), TemporalGraph(), Task("t", "", "nethack"))
    >>> for mention in found.mentions:
    ...     print(mention.triple)
    you, is in, room 1 of level 2
    room 1 of level 2, is, explored
    room 1 of level 2, has exit, door 3
    door 3 of level 2, is, closed
    """

    @unrewarded
    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """See :class:`~gym_memory.extract.Extractor`."""
        draft = Draft(graph)
        _read(draft, step.text[:_MAX_TEXT_CHARS])
        if step.inventory:
            _carry(draft, step.inventory)
        return draft.extraction()


def _read(draft: Draft, text: str) -> None:
    level = here = ""
    took = None
    doors: dict[tuple[str, str], list[str]] = {}  # (door, level) to areas in this text
    lines = text.split("\n")
    start = number = 0
    while number < len(lines):
        line, at = lines[number], start
        start, number = start + len(line) + 1, number + 1
        if line.startswith("You are in "):
            found = _HERE.match(line)
            level, here = _arrive(draft, found, at, took) if found else ("", "")
        elif level and line.startswith(("Room ", "Corridor ")):
            while number < len(lines) and lines[number].startswith("- "):
                start, number = start + len(lines[number]) + 1, number + 1
            block = _read_block(text[at : start - 1], level)
            if block is not None:
                draft.offset = at
                _take(draft, block, here, doors)
                draft.offset = 0
            level = here.partition(" of ")[2] or level
        elif line.startswith("On the way, in "):
            passed = _ON_THE_WAY.match(line)
            level = passed["level"] if passed else level
        elif line.startswith("You took "):
            took = _TOOK_STAIRS.match(line)
        elif " is part of " in line:
            merged = _MERGED.match(line)
            if merged is not None:
                _merge(draft, merged)


def _arrive(
    draft: Draft, found: re.Match[str], at: int, took: re.Match[str] | None
) -> tuple[str, str]:
    """Record the agent's area, and the stairs that it took; return the level and the area."""
    here = scoped(found["area"], found["level"])
    span = (at + found.start("area"), at + found.end("level"))
    draft.add(PLAYER, "is in", here, *span)
    if took is not None:
        draft.add(here, way_relation(exit_of(took["feature"])), took["area"], *span)
        if found["on"]:
            draft.add(took["area"], way_relation(exit_of(found["on"])), here, *span)
    return found["level"], here


def _merge(draft: Draft, found: re.Match[str]) -> None:
    """Move the facts of an area to the one that contains it."""
    old = scoped(found["old"].lower(), found["level"])
    new = scoped(found["new"], found["level"])
    for fact in draft.graph.incident(old):
        draft.outdate(*fact)
        subject = new if fact.subject == old else fact.subject
        obj = new if fact.object == old else fact.object
        stays = fact.relation in (HAS_ITEM, HAS_EXIT, SIGHTING, "is in")
        is_way = direction_of(fact.relation) is not None
        if (stays or is_way) and subject != obj != PLAYER != fact.subject:
            draft.add(subject, fact.relation, obj)


def _carry(draft: Draft, inventory: str) -> None:
    """Add new objects in the pack, and retire those that left it."""
    facts = _carried(inventory)
    graph = draft.graph
    before = {fact for fact in graph.incoming(INVENTORY) if fact[1] == "is in"}
    before.update([f for f in graph.outgoing(PLAYER) if f[1] in (_WIELDS, _WEARS)])
    if before != facts.keys():
        for fact in facts:
            if fact not in before:
                draft.add(*fact)
        for fact in sorted(before.difference(facts)):
            draft.outdate(*fact)


@lru_cache(maxsize=256)
def _carried(inventory: str) -> dict[Triple, None]:
    lines = [line.partition(" - ") for line in inventory.split("\n")]
    return dict.fromkeys(item_facts(tuple(name for _, dash, name in lines if dash)))


class _AreaBlock(NamedTuple):
    """A description of one area, with positions relative to its start."""

    area: str
    level: str
    passed: bool
    """True if the player is or was there, so that the text gives no distance."""
    facts: tuple[tuple[Triple, int], ...]
    """Facts with the numbers of their spans."""
    doors: tuple[tuple[str, str, int], ...]
    """Doors with their states and the numbers of their spans."""
    spans: list[tuple[int, int]]
    """Spans of the area's name and of each entry of its lists."""


def _take(
    draft: Draft, block: _AreaBlock, here: str, doors: dict[tuple[str, str], list[str]]
) -> None:
    """Add the facts of a block, and retire those that it omits."""
    area, level, graph, stated = block.area, block.level, draft.graph, draft.mentions
    offset = draft.offset
    for fact, number in block.facts:
        if fact not in stated:
            start, end = block.spans[number]
            stated[fact] = Mention(fact, start + offset, end + offset)
    exits = set()
    for fact in graph.outgoing(area):
        if fact[1] == HAS_EXIT:
            exits.add(fact[2])
        elif fact[1] != HAS_ITEM:
            continue
        if fact not in stated:
            draft.outdate(*fact)
    watched = ("is in", SIGHTING) if area == here or block.passed else ("is in",)
    for fact in graph.incoming(area):
        if fact[1] in watched and fact not in stated and fact[0] != PLAYER:
            draft.outdate(*fact)
    for door, state, number in block.doors:
        if door not in exits:
            _join(draft, block, door, block.spans[number], doors.setdefault((door, level), []))
        if state == "doorway":
            shut = graph.value(scoped(door, level), "openness")
            if shut is not None:
                draft.outdate(*shut)


def _join(
    draft: Draft, block: _AreaBlock, door: str, span: tuple[int, int], areas: list[str]
) -> None:
    """Add the way through a door between its known areas, and extend ``areas``."""
    ending = f" of {block.level}"
    others = [
        fact.subject
        for fact in draft.graph.incoming(door)
        if fact.relation == HAS_EXIT
        and fact.subject.endswith(ending)
        and Pattern(*fact) not in draft.outdated
    ]
    for other in dict.fromkeys((*areas, *others)):
        if other != block.area:
            for one, two in ((other, block.area), (block.area, other)):
                if Triple(one, way_relation(door), two) not in draft.graph:
                    draft.add(one, way_relation(door), two, *span)
    areas.append(block.area)


@lru_cache(maxsize=1024)
def _read_block(text: str, level: str) -> _AreaBlock | None:
    """Return the description of an area, or None.

    Cached, since the text describes an area at each step until a move.
    """
    first, *lines = text.split("\n")
    head = _AREA_HEADING.match(first)
    if head is None:
        return None
    lists: dict[str, str] = dict.fromkeys(_LIST_STARTS, "")
    starts = dict.fromkeys(_LIST_STARTS, 0)
    start = len(first) + 1
    for line in lines:
        label, colon, listed = line.partition(": ")
        if colon and label in lists:
            lists[label], starts[label] = listed, start + len(label) + len(colon)
        start += len(line) + 1
    spans = [(0, len(first))]
    features, exits, items, creatures = [
        _entries(lists[label], starts[label], spans) for label in _LIST_STARTS
    ]
    words = head["words"].split(", ")
    kinds = [w for w in words if w not in _EXPLORED and not w.endswith((" away", " known"))]
    area = scoped(head["area"].lower(), level)
    doors = tuple([(name, remark.rstrip(")").partition(",")[0]) for name, remark in exits])
    facts = area_facts(
        area,
        level,
        kinds[0].lower() if kinds else "",
        "explored" in words,
        tuple([name for name, _ in features]),
        doors,
        tuple([name for name, _ in items]),
        tuple([name for name, _ in creatures]),
    )
    passed = not any(word.endswith((" steps away", "no path known")) for word in words)
    numbered = [(*door, number) for number, door in enumerate(doors, len(features) + 1)]
    return _AreaBlock(area, level, passed, facts, tuple(numbered), spans)


def _entries(listed: str, start: int, spans: list[tuple[int, int]]) -> list[tuple[str, str]]:
    """Return the names in a list with the text after each, and append their spans."""
    entries = []
    for entry in listed.split("; "):
        name, _, remark = entry.partition(" (")
        if name:
            entries.append((name.lower(), remark))
            spans.append((start, start + len(name)))
        start += len(entry) + 2
    return entries


def scoped(name: str, level: str) -> str:
    """Return the full name of a numbered area, door or stairs of a level.

    >>> scoped("room 3", "level 2")
    'room 3 of level 2'
    """
    return f"{name} of {level}"


def exit_of(feature: str) -> str:
    """Return the name of an exit; for stairs, their direction.

    >>> exit_of("stairs down"), exit_of("stairs down 2"), exit_of("door 4")
    ('down', 'stairs down 2', 'door 4')
    """
    stairs = _STAIRS.match(feature)
    return stairs[1] if stairs else feature


@lru_cache(maxsize=4096)
def area_facts(
    area: str,
    level: str,
    kind: str,
    explored: bool,
    features: tuple[str, ...],
    exits: tuple[tuple[str, str], ...],
    items: tuple[str, ...],
    creatures: tuple[str, ...] = (),
) -> tuple[tuple[Triple, int], ...]:
    """Return the facts in the description of an area, each with the number of its entry.

    Entries of the lists count from 1, and 0 is the area itself. ``kind`` is the kind of the room.
    Cached, since distances change more often than contents.
    """
    facts = [(Triple(area, "is", kind), 0)] if kind else []
    facts.append((Triple(area, "is", "explored" if explored else "partly explored"), 0))
    numbers = count(1)
    for name in features:
        number = next(numbers)
        facts.append((Triple(scoped(name, level), "is in", area), number))
        if name.startswith(("stairs ", "ladder ")):
            facts.append((Triple(area, HAS_EXIT, exit_of(name)), number))
    for door, state in exits:
        number = next(numbers)
        facts.append((Triple(area, HAS_EXIT, door), number))
        if state in _DOOR_STATES:
            facts.append((Triple(scoped(door, level), "is", state), number))
    seen: Counter[str] = Counter()
    for item in items:
        seen[item] += 1
        name = item if seen[item] == 1 else f"{item} {seen[item]}"
        facts.append((Triple(area, HAS_ITEM, name), next(numbers)))
    facts += [(Triple(name, SIGHTING, area), next(numbers)) for name in creatures]
    return tuple(facts)


def plain_name(item: str) -> str:
    """Return the name of an object without its number and remarks.

    >>> plain_name("a +1 long sword (weapon in hand)")
    '+1 long sword'
    """
    return _REMARK.sub("", without_article(item, "some", r"\d+"))


@lru_cache(maxsize=1024)
def item_facts(names: tuple[str, ...]) -> tuple[Triple, ...]:
    """Return the facts about the pack, given its names in the game.

    >>> for fact in item_facts(("a +1 long sword (weapon in hand)",)):
    ...     print(fact)
    +1 long sword, is in, inventory
    you, wield, +1 long sword
    """
    facts: dict[Triple, None] = {}
    for name in names:
        plain = " ".join(plain_name(name.lower()).split())
        if not plain:
            continue
        facts[Triple(plain, "is in", INVENTORY)] = None
        if "(weapon in hand" in name or "(wielded" in name:
            facts[Triple(PLAYER, _WIELDS, plain)] = None
        elif "(being worn" in name or "(on " in name:
            facts[Triple(PLAYER, _WEARS, plain)] = None
    return tuple(facts)
