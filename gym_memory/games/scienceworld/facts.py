"""Translate the engine's objects to facts, and find the facts that a step showed.

Only scoring and the control ``oracle`` use this module, since it reads the engine and not the text.
An object was shown if the step printed a description of its holder that contains its own.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator

from gym_memory.core.records import Triple
from gym_memory.core.text import without_article
from gym_memory.games.scienceworld.rules_items import (
    CONNECTED,
    FOCUSED,
    SIGHTED,
    STAGE,
    TEMPERATURE,
    door_state,
    entity,
    exit_to,
    is_plant,
    roams,
)
from gym_memory.graph.schema import INVENTORY, PLAYER, contains, way_relation

__all__ = ["UNDECIDED", "EngineThing", "EngineWorld", "read_world"]

UNDECIDED = frozenset({FOCUSED, SIGHTED, STAGE, TEMPERATURE, "requires"})
"""Relations without an engine counterpart: events, choices and recipes."""

_SEPARATOR = "\x1f"
_NAME_END = re.compile(r", which | \(|\. |, with:|, currently |\.$")
_STAGE = re.compile(r"^(?P<name>.+?) in the (?P<stage>[a-z ]+?) stage(?P<rest>.*)$")
_POWER = re.compile(r"^[^(.]*, which is (?:turned )?(?P<state>on|off|activated|deactivated)\b")
_POWERED_ON = ("on", "activated")
_DOOR_STATE = re.compile(r"^[^(.]*\. the [^.]* door is (?:open|closed)\.")
_BECAME = {"on": " activated", "off": "deactivated", "out of order": "appears broken"}
_MOVE_ANSWERS = ("you move the", "mix to produce")
_NOT_A_ROOM = ("universe", "sewer")
_PART_TYPES = frozenset({"Terminal", "Anode", "Cathode", "Agent"})


@dataclasses.dataclass(eq=False)
class EngineThing:
    """An object of the engine.

    ``text`` is its description, ``name`` its name in the engine, ``called`` its name in facts, and
    ``to`` the room behind a door. ``FastServer.objects`` defines ``flags``.
    """

    uuid: str
    raw_name: str
    kind: str
    text: str
    flags: str
    wires: tuple[str, ...]
    to: str = ""
    holder: EngineThing | None = None
    inside: list[EngineThing] = dataclasses.field(default_factory=list)
    doors: list[EngineThing] = dataclasses.field(default_factory=list)
    name: str = ""
    stage: str = ""
    called: str = ""

    def place(self) -> None:
        """Set the names of the object, given those of its holder."""
        phrase = without_article(_NAME_END.split(self.text, maxsplit=1)[0])
        phrase = phrase.removeprefix("substance called ")
        staged = _STAGE.match(phrase)
        if staged is not None:
            phrase, self.stage = f"{staged['name']}{staged['rest']}", staged["stage"]
        holder = self.holder
        is_room = holder is not None and holder.raw_name == "universe"
        self.name = self.raw_name if is_room or self.kind == "Universe" else phrase
        if self.kind == "Picture":
            self.name = self.raw_name
        within = holder.called if holder is not None and not is_room else ""
        self.called = entity(self.name, within)

    def states(self) -> Iterator[Triple]:
        """Yield the facts about the object itself."""
        if "l" in self.flags:
            yield Triple(self.called, "is", "open" if "o" in self.flags else "closed")
        power = _POWER.match(self.text)
        if power is not None:
            yield Triple(self.called, "is", "on" if power["state"] in _POWERED_ON else "off")
        elif "d" in self.flags:
            yield Triple(self.called, "is", "on" if "a" in self.flags else "off")
        if "b" in self.flags:
            yield Triple(self.called, "is", "out of order")
        if "c" in self.flags and not self.inside:
            yield Triple(self.called, "is", "empty")

    def contents(self) -> Iterator[tuple[EngineThing, Triple]]:
        """Yield each object in or on it, with the corresponding fact."""
        numbers = Counter(thing.called for thing in self.inside)
        for thing in self.inside:
            if roams(thing.name) or is_plant(self.name):
                continue
            if self.called == INVENTORY:
                yield thing, Triple(thing.called, "is in", INVENTORY)
            else:
                yield thing, Triple(self.called, contains(numbers[thing.called]), thing.called)

    def all_inside(self) -> Iterator[EngineThing]:
        """Yield its contents at any depth."""
        for thing in self.inside:
            yield thing
            yield from thing.all_inside()


class EngineWorld:
    """A state of the world; ``room`` is the agent's room."""

    def __init__(self, things: dict[str, EngineThing]):
        self._parts = {uuid: thing for uuid, thing in things.items() if thing.kind in _PART_TYPES}
        agent = next(thing for thing in things.values() if thing.kind == "Agent")
        assert agent.holder is not None
        self.room = agent.holder
        self.inventory = next(t for t in things.values() if t.kind == "InventoryContainer")
        self.rooms = {
            thing.name: thing
            for thing in things.values()
            if thing.holder is not None
            and thing.holder.kind == "Universe"
            and thing.name not in _NOT_A_ROOM
        }
        self.facts = frozenset(self._all())

    def _all(self) -> Iterator[Triple]:
        yield Triple(PLAYER, "is in", self.room.name)
        for holder in (*self.rooms.values(), self.inventory):
            for door in holder.doors:
                yield from self._door(holder, door)
            for thing in (holder, *holder.all_inside()):
                yield from (fact for _, fact in thing.contents())
            for thing in holder.all_inside():
                yield from thing.states()
        for part in self._parts.values():
            for other in part.wires:
                if other in self._parts:
                    yield Triple(part.name, CONNECTED, self._parts[other].name)

    @staticmethod
    def _door(room: EngineThing, door: EngineThing) -> Iterator[Triple]:
        yield Triple(room.name, "has exit", exit_to(door.to))
        yield Triple(room.name, door_state(opened="o" in door.flags), door.to)
        yield Triple(door.to, way_relation(exit_to(door.to)), room.name)

    def shown(self, text: str, action: str, inventory: str) -> frozenset[Triple]:
        """Return the facts in an answer and in the inventory text."""
        seen = {Triple(PLAYER, "is in", self.room.name)}
        answer, did = _single_spaced(text), _single_spaced(action)
        for place in (self.room, self.inventory):
            for thing in (place, *place.all_inside()):
                if f"inside the {thing.name} is:" in answer or (
                    thing is self.room and f"called the {thing.name}." in answer
                ):
                    seen.update(self._listed_facts(thing, answer))
                elif thing.text == answer:
                    seen.update(_described_facts(thing))
        seen.update(self._listed_facts(self.inventory, _single_spaced(inventory)))
        if "in your inventory, you see:" in answer:
            seen.update(self._listed_facts(self.inventory, answer))
        seen.update(self._changed_facts(answer, did))
        return frozenset(seen) & self.facts

    def _listed_facts(self, holder: EngineThing, text: str) -> Iterator[Triple]:
        """Yield the facts of a complete list of contents."""
        for thing, fact in holder.contents():
            if thing.text in text:
                yield fact
                yield from _described_facts(thing)
        for door in holder.doors:
            if door.to and door.text in text:
                yield Triple(holder.name, "has exit", exit_to(door.to))
                yield Triple(holder.name, door_state(opened="o" in door.flags), door.to)
        if "is: nothing" in text:
            yield Triple(holder.called, "is", "empty")

    def _changed_facts(self, answer: str, did: str) -> Iterator[Triple]:
        for door in self.room.doors:
            if answer.startswith("the door is ") and door.to in did:
                yield Triple(self.room.name, door_state(opened="o" in door.flags), door.to)
        moving = answer.startswith("you pour") or any(w in answer for w in _MOVE_ANSWERS)
        in_reach = [t for p in (self.room, self.inventory) for t in (p, *p.all_inside())]
        for thing in _named_things(in_reach, answer, did):
            for fact in thing.states():
                if _BECAME.get(fact.object, fact.object) in answer.rpartition(thing.name)[2]:
                    yield fact
        for thing in in_reach if moving else ():
            yield from self._moved_facts(thing, answer, did)
        if "is now connected to" in answer:
            for fact in self.facts:
                if fact.relation == CONNECTED and fact.subject in answer and fact.object in answer:
                    yield fact

    @staticmethod
    def _moved_facts(holder: EngineThing, answer: str, did: str) -> Iterator[Triple]:
        target = f" {holder.name}." in answer or did.startswith("mix ")
        for thing, fact in holder.contents():
            if thing.name in answer and (target or holder.name in did):
                yield fact
        if f"contents of the {holder.name} into" in answer:
            yield Triple(holder.called, "is", "empty")


def _named_things(things: list[EngineThing], answer: str, did: str) -> list[EngineThing]:
    """Return the objects that an answer names; the command resolves equal names."""
    named = [t for t in things if answer.startswith(f"the {t.name} ")]
    if len(named) < 2:
        return named
    return [t for t in named if t.holder is not None and t.holder.name in did] or named


def read_world(lines: str) -> EngineWorld:
    """Build a world from the lines of :meth:`Engine.objects`."""
    things: dict[str, EngineThing] = {}
    path: list[EngineThing] = []
    for line in lines.splitlines():
        depth, uuid, name, kind, text, flags, wires, *to = line.split(_SEPARATOR)
        found = tuple(wires.split(",")) if wires else ()
        thing = EngineThing(uuid, name.lower(), kind, text.lower(), flags, found, "".join(to))
        del path[int(depth) :]
        thing.holder = path[-1] if path else None
        path.append(thing)
        thing.place()
        if to:
            assert thing.holder is not None
            thing.holder.doors.append(thing)
            continue
        things[uuid] = thing
        hidden = "h" in flags or kind in _PART_TYPES
        if thing.holder is not None and not hidden:
            thing.holder.inside.append(thing)
    return EngineWorld(things)


def _described_facts(thing: EngineThing) -> Iterator[Triple]:
    """Yield the facts in the engine's description of an object."""
    for fact in thing.states():
        if fact.object in ("open", "closed"):
            if _DOOR_STATE.match(thing.text):
                yield fact
        elif fact.object == "empty":
            if "containing nothing" in thing.text or "is: nothing" in thing.text:
                yield fact
        elif fact.object in ("on", "off") and _POWER.match(thing.text):
            yield fact
    for inner, fact in thing.contents():
        if inner.text in thing.text.removeprefix(thing.name):
            yield fact
            yield from _described_facts(inner)


def _single_spaced(text: str) -> str:
    return " ".join(text.lower().split())
