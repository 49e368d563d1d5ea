"""Extraction rules for ScienceWorld: the text of a step to facts.

A text is either a description (of a room, of what is inside something, of one thing, of the
inventory; read by :mod:`.scienceworld_items`) or a sentence that says what an action has done
(:mod:`.scienceworld_results`). This module reads descriptions, which list all that is there:
what a holder no longer lists is no longer there. The vocabulary is that of
:mod:`.scienceworld_names`.
"""

from __future__ import annotations

import re

from gym_memory.core.records import Step, Task
from gym_memory.extract import EXTRACTORS
from gym_memory.extract.base import Extraction
from gym_memory.games.scienceworld.rules_draft import Draft
from gym_memory.games.scienceworld.rules_items import Item, name_of, read_item, read_items
from gym_memory.games.scienceworld.rules_names import entity
from gym_memory.games.scienceworld.rules_results import read_result
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY

__all__ = ["ScienceWorldRules"]

_MAX_TEXT_CHARS = 50_000
_ROOM = re.compile(r"This (?:room|outside location) is called the (?P<name>[^.\n]+)\.[^\n]*")
_INSIDE = re.compile(r"Inside the (?P<name>[^:\n]+) is:[^\n]*")
_CARRIED = re.compile(r"In your inventory, you see:[^\n]*")
_LINE = re.compile(r"^\t(?P<item>\S[^\n]*)", re.MULTILINE)
_DOOR = re.compile(r"A door to the (?P<to>[^(\n]+?) \(that is (?P<state>open|closed)\)")
_LOOKED = ("", "look", "look around")
_DESCRIBING = re.compile(r"(?:look at|examine) (?P<what>.+)")
_SKIPPED = ("agent", INVENTORY, "nothing")


@EXTRACTORS.register("scienceworld")
class ScienceWorldRules:
    r"""The extraction role for ScienceWorld, by rules.

    >>> from gym_memory.graph import TemporalGraph
    >>> text = "This room is called the hallway. In it, you see: \n\ta lighter\nYou also see:"
    >>> step = Step(0, text + "\n\tA door to the kitchen (that is open)")
    >>> for mention in ScienceWorldRules().extract(step, TemporalGraph(), Task("t", "")).mentions:
    ...     print(mention.triple)
    you, is in, hallway
    hallway, contains, lighter
    hallway, has exit, door to kitchen
    hallway, has open door to, kitchen
    """

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Facts of one step; see :class:`~gym_memory.extract.base.Extractor`."""
        text, action = step.text[:_MAX_TEXT_CHARS], " ".join(step.action.lower().split())
        carried_now = _lines(step.inventory, 0, len(step.inventory)) if step.inventory else None
        names = None if carried_now is None else frozenset(item.name for item in carried_now)
        draft = Draft(graph, names)
        room, inside, carried = _ROOM.match(text), _INSIDE.match(text), _CARRIED.match(text)
        if room is not None:
            name = name_of(room["name"])
            if action in _LOOKED:
                draft.enter(name, room.span("name"))
            _read_place(name, text, room.end(), draft)
        elif inside is not None:
            name = name_of(inside["name"])
            called = name if name in (draft.room, INVENTORY) else draft.meant(name, action)
            _read_place(called, text, inside.end(), draft)
        elif carried is not None:
            _read_list(INVENTORY, text, carried.end(), len(text), draft)
        elif not read_result(text, action, draft):
            _read_one(text, action, draft)
        if carried_now is not None:
            draft.holds(INVENTORY, _spanless(carried_now))
        return draft.extraction()


def _read_place(called: str, text: str, start: int, draft: Draft) -> None:
    """All that is in a room or in a thing that was looked into, and the doors of a room."""
    doors = text.find("You also see:", start)
    _read_list(called, text, start, len(text) if doors < 0 else doors, draft)
    for door in _DOOR.finditer(text, max(doors, 0)) if doors >= 0 else ():
        draft.door(called, name_of(door["to"]), opened=door["state"] == "open", span=door.span())


def _read_list(called: str, text: str, start: int, end: int, draft: Draft) -> None:
    draft.holds(called, _lines(text, start, end))


def _lines(text: str, start: int, end: int) -> tuple[Item, ...]:
    """The things of a list that has one a line."""
    found = (
        read_item(line["item"], line.start("item")) for line in _LINE.finditer(text, start, end)
    )
    return tuple(item for item in found if item.name not in _SKIPPED)


def _read_one(text: str, action: str, draft: Draft) -> None:
    """The description of a single thing."""
    looked = _DESCRIBING.fullmatch(action)
    if looked is None or "\n" in text.strip():
        return
    items = read_items(text)
    if len(items) != 1 or items[0].name in _SKIPPED:
        return
    called = draft.meant(items[0].name, looked["what"])
    if called == items[0].name and entity(called, draft.room) != called:
        called = entity(called, draft.room)
    draft.describe(called, items[0])


def _spanless(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The same things, with no evidence in the step's text."""
    return tuple(
        item._replace(
            start=-1, end=-1, inside=_spanless(item.inside) if item.inside else item.inside
        )
        for item in items
    )
