"""Extraction rules for ScienceWorld's descriptions and results of actions.

Descriptions of a room, a container, an object or the inventory are complete, so facts about
contents that they omit are retired. ``docs/scienceworld.md`` lists the facts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import Extraction, Pattern
from gym_memory.extract.draft import NOWHERE, Draft, attributed
from gym_memory.games.scienceworld.rules_items import (
    CONNECTED,
    FOCUSED,
    POWERED,
    SIGHTED,
    STAGE,
    TEMPERATURE,
    DescribedThing,
    base_of,
    door_state,
    entity,
    exit_to,
    is_plant,
    name_of,
    read_item,
    read_items,
    roams,
)
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, PLAYER, contains, is_contents, way_relation

__all__ = ["ScienceWorldRules"]

_MAX_TEXT_CHARS = 50_000
_ROOM = re.compile(r"This (?:room|outside location) is called the (?P<name>[^.\n]+)\.[^\n]*")
_INSIDE = re.compile(r"Inside the (?P<name>[^:\n]+) is:[^\n]*")
_CARRIED = re.compile(r"In your inventory, you see:[^\n]*")
_LINE = re.compile(r"^\t(?P<item>\S[^\n]*)", re.MULTILINE)
_DOOR = re.compile(r"A door to the (?P<to>[^(\n]+?) \(that is (?P<state>open|closed)\)")
_LOOK_ACTIONS = ("", "look", "look around")
_DESCRIBING = re.compile(r"(?:look at|examine) (?P<what>.+)")
_IGNORED = ("agent", INVENTORY, "nothing")

_MAX_RESULT_CHARS = 2000
"""Most characters of an answer to match, enough for two names."""


class ScienceWorldRules:
    r"""Extraction rules for one step.

    >>> text = "This room is called the hallway. In it, you see: \n\ta lighter\nYou also see:"
    >>> step = Step(0, text + "\n\tA door to the kitchen (that is open)")
    >>> for mention in ScienceWorldRules().extract(step, TemporalGraph(), Task("t", "")).mentions:
    ...     print(mention.triple)
    you, is in, hallway
    hallway, contains, lighter
    hallway, has exit, door to kitchen
    hallway, has open door to, kitchen
    """

    @attributed
    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """See :class:`~gym_memory.extract.Extractor`."""
        text, action = step.text[:_MAX_TEXT_CHARS], " ".join(step.action.lower().split())
        carried_now = _lines(step.inventory, 0, len(step.inventory)) if step.inventory else None
        names = None if carried_now is None else frozenset(item.name for item in carried_now)
        draft = _HouseDraft(graph, names)
        room, inside, carried = _ROOM.match(text), _INSIDE.match(text), _CARRIED.match(text)
        if room is not None:
            name = name_of(room["name"])
            if action in _LOOK_ACTIONS:
                draft.enter(name, room.span("name"))
            _read_place(name, text, room.end(), draft)
        elif inside is not None:
            name = name_of(inside["name"])
            called = name if name in (draft.room, INVENTORY) else draft.meant(name, action)
            _read_place(called, text, inside.end(), draft)
        elif carried is not None:
            draft.holds(INVENTORY, _lines(text, carried.end(), len(text)))
        elif not _read_result(text, action, draft):
            _read_object(text, action, draft)
        if carried_now is not None:
            draft.holds(INVENTORY, _without_spans(carried_now))
        return draft.extraction()


def _read_place(called: str, text: str, start: int, draft: _HouseDraft) -> None:
    """Read the contents of a room or an object, and the doors of a room."""
    doors = text.find("You also see:", start)
    draft.holds(called, _lines(text, start, len(text) if doors < 0 else doors))
    for door in _DOOR.finditer(text, max(doors, 0)) if doors >= 0 else ():
        draft.door(called, name_of(door["to"]), opened=door["state"] == "open", span=door.span())


def _lines(text: str, start: int, end: int) -> tuple[DescribedThing, ...]:
    """Return the objects of a list, one per line."""
    found = (
        read_item(line["item"], line.start("item")) for line in _LINE.finditer(text, start, end)
    )
    return tuple(item for item in found if item.name not in _IGNORED)


def _read_object(text: str, action: str, draft: _HouseDraft) -> None:
    """Read the description of a single object."""
    looked = _DESCRIBING.fullmatch(action)
    if looked is None or "\n" in text.strip():
        return
    items = read_items(text)
    if len(items) != 1 or items[0].name in _IGNORED:
        return
    called = draft.meant(items[0].name, looked["what"])
    if called == items[0].name and entity(called, draft.room) != called:
        called = entity(called, draft.room)
    draft.add_item(called, items[0])


def _without_spans(items: tuple[DescribedThing, ...]) -> tuple[DescribedThing, ...]:
    """Return the objects without spans of evidence."""
    return tuple(
        item._replace(
            start=-1, end=-1, inside=_without_spans(item.inside) if item.inside else item.inside
        )
        for item in items
    )


_Span = tuple[int, int]


class _HouseDraft(Draft):
    """A draft of one step's facts, which counts contents and resolves names of furniture.

    Args:
        graph: The facts before the step.
        carried: Names in the inventory text; None if it was not shown.
    """

    def __init__(self, graph: TemporalGraph, carried: frozenset[str] | None = None):
        super().__init__(graph)
        self._carried = carried and frozenset(entity(name, INVENTORY) for name in carried)
        self._listed: dict[str, set[Triple]] = {}
        self._numbers: dict[tuple[str, str], int] = {}

    def extraction(self) -> Extraction:
        """Retire the facts that listed holders omit, and return the extraction."""
        for holder, listed in self._listed.items():
            for fact in self.contents(holder):
                if fact not in listed:
                    self.retire(fact)
        for triple in self.mentions:
            self.outdated.pop(Pattern(*triple), None)
        return super().extraction()

    def retire(self, triple: Triple) -> None:
        """Retire a fact of the graph, or one added earlier in this step."""
        self.mentions.pop(triple, None)
        if triple in self.graph:
            self.outdate(*triple)

    def walk(self, room: str, span: _Span) -> None:
        """Record the agent's move to ``room``, and add the way in both directions."""
        left = self.room
        self.enter(room, span)
        if left and left != room:
            for here, there in ((left, room), (room, left)):
                self.add(there, way_relation(exit_to(there)), here, *span)
                self.add(here, "has exit", exit_to(there), *span)
                self._door_state(here, there, opened=True, span=span)

    def door(self, room: str, to: str, *, opened: bool, span: _Span) -> None:
        """Add a door of a room with its state, for both sides."""
        if not room:
            return
        self.add(room, "has exit", exit_to(to), *span)
        self._door_state(room, to, opened=opened, span=span)
        if Triple(to, "has exit", exit_to(room)) in self.graph:
            self._door_state(to, room, opened=opened, span=span)

    def _door_state(self, room: str, to: str, *, opened: bool, span: _Span) -> None:
        self.add(room, door_state(opened=opened), to, *span)
        self.retire(Triple(room, door_state(opened=not opened), to))

    def contents(self, holder: str) -> Iterator[Triple]:
        """Yield the contents of a holder according to the graph."""
        if holder == INVENTORY:
            return (fact for fact in self.graph.incoming(holder) if fact.relation == "is in")
        return (fact for fact in self.graph.outgoing(holder) if is_contents(fact.relation))

    def holds(self, holder: str, items: Iterable[DescribedThing]) -> None:
        """Add the complete contents of a holder."""
        items = [item for item in items if item.name != "drain"]
        numbers = Counter(entity(item.name, holder) for item in items)
        listed = self._listed.setdefault(holder, set())
        for item in items:
            thing = entity(item.name, holder)
            fact = _held(holder, thing, numbers[thing])
            listed.add(fact)
            self.add(*fact, item.start, item.end)
            self.add_item(thing, item)

    def add_item(self, thing: str, item: DescribedThing) -> None:
        """Add the states of an object and its contents."""
        span = (item.start, item.end)
        for state in (item.power, item.lid):
            if state:
                self.add(thing, "is", state, *span)
        if item.stage:
            self.add(thing, STAGE, item.stage, *span)
        if item.inside is not None:
            self.holds(thing, item.inside)
            self.set_empty(thing, empty=not item.inside, span=span)

    def set_empty(self, holder: str, *, empty: bool, span: _Span = NOWHERE) -> None:
        """Add or retire the fact that a holder is empty."""
        fact = Triple(holder, "is", "empty")
        if not empty:
            self.retire(fact)
        elif not (is_plant(holder) or self._is_filling(holder)):
            self.add(*fact, *span)

    def _is_filling(self, holder: str) -> bool:
        """True if an object is under a running tap."""
        return any(
            is_contents(fact.relation) and Triple(fact.subject, "is", "on") in self.graph
            for fact in self.graph.incoming(holder)
            if fact.subject.startswith("sink in ")
        )

    def move(self, name: str, holder: str, action: str, span: _Span) -> None:
        """Move the object that the answer names to a holder.

        The answer may use another name than lists (*common toad* for a frog egg). Then the
        difference of two inventories gives the object.
        """
        thing = self.meant(name, action)
        goal = entity(base_of(thing), holder)
        before = {fact.subject for fact in self.contents(INVENTORY)}
        changed = before ^ self._carried if self._carried is not None else frozenset()
        if len(changed) == 1 and not changed & {thing, goal}:
            (thing,) = changed
            goal = entity(base_of(thing), holder)
        if not thing:  # a drawer that no list names
            return
        self.take(thing, action, span)
        if goal != thing:
            self._rename(thing, goal)
        if holder == INVENTORY:
            self.add(goal, "is in", INVENTORY, *span)
        elif holder:
            self.put(goal, holder, span)
            if holder.startswith("sink in ") and Triple(holder, "is", "on") in self.graph:
                self.set_empty(goal, empty=False)

    def _rename(self, old: str, new: str) -> None:
        """Rename furniture in its facts, since its name includes its place."""
        for fact in self.graph.outgoing(old):
            if fact.relation == "is" or is_contents(fact.relation):
                self.retire(fact)
                self.add(new, fact.relation, fact.object)

    def put(self, thing: str, holder: str, span: _Span, *, number: int = 1) -> None:
        """Add ``number`` objects to a holder."""
        self._add_number(holder, thing, number, span)
        self.set_empty(holder, empty=False)

    def take(self, thing: str, action: str, span: _Span = NOWHERE) -> None:
        """Remove one object from its former place, if known."""
        holder = self._holder_of(thing, action)
        if holder:
            left = self._add_number(holder, thing, -1, span)
            if not left and holder != self.room and len(list(self.contents(holder))) == 1:
                self.set_empty(holder, empty=holder != INVENTORY, span=span)

    def _holder_of(self, thing: str, action: str) -> str:
        """Return the place of an object within reach; the command resolves ambiguity."""
        holders = [INVENTORY] if Triple(thing, "is in", INVENTORY) in self.graph else []
        places = self._places()
        holders += [
            fact.subject
            for fact in self.graph.incoming(thing)
            if is_contents(fact.relation) and fact.subject in places
        ]
        for holder in holders:
            if holder.split(" in ")[0] in action.replace(thing, "", 1):
                return holder
        return holders[0] if holders else ""

    def meant(self, name: str, action: str) -> str:
        """Resolve a name in the text to the name, in facts, of an object within reach.

        It may be longer: *table* is ``table in kitchen``, *inclined plane* is one of two. The
        command resolves ambiguity, else the first known object counts.
        """
        words = set(name.split())
        found = [
            thing
            for thing in self._places()[1:]
            if thing == name or (words <= set(thing.partition(" in ")[0].split()))
        ]
        exact = [thing for thing in found if thing.partition(" in ")[0] == name]
        rest = action.replace(name, "", 1)
        for thing in exact or found:
            short, _, holder = thing.partition(" in ")
            more = holder.split(" in ")[0] if short == name else short
            if more and more in (rest if short == name else action):
                return thing
        unknown = "" if name == "drawer" else entity(name, self.room)
        return (exact or found or [unknown])[0]

    def _places(self) -> list[str]:
        """Return the room, its known contents and the inventory."""
        places = [self.room, *(fact.subject for fact in self.contents(INVENTORY))]
        for place in places:
            places += [f.object for f in self.contents(place) if f.object not in places]
        return places

    def _add_number(self, holder: str, thing: str, more: int, span: _Span) -> int:
        """Change the count of an object in a holder and return it."""
        before = self._numbers.get((holder, thing))
        if before is None:
            known = (f for f in self.contents(holder) if thing in (f.subject, f.object))
            before = next(map(_number_of, known), 0)
        after = self._numbers[holder, thing] = before + more
        if before:
            self.retire(_held(holder, thing, before))
        if after > 0:
            self.add(*_held(holder, thing, after), *span)
        return after


def _number_of(fact: Triple) -> int:
    """Return the count of an object in a fact."""
    return int(fact.relation.rpartition(" ")[2]) if fact.relation[-1].isdigit() else 1


def _held(holder: str, thing: str, number: int) -> Triple:
    if holder == INVENTORY:
        return Triple(thing, "is in", INVENTORY)
    if is_plant(holder) or roams(thing):
        return Triple(thing, SIGHTED, holder)
    return Triple(holder, contains(number), thing)


def _read_result(text: str, action: str, draft: _HouseDraft) -> bool:
    """Add the facts in an answer; return False if no rule reads it."""
    text = text.rstrip()
    start = 0
    while (wire := _UNWIRED.match(text, start)) is not None:
        _disconnect(name_of(wire["thing"]), draft)
        start = wire.end()
    for pattern, rule in _RESULT_RULES:
        match = pattern.match(text, start, start + _MAX_RESULT_CHARS)
        if match is not None:
            rule(match, action, draft)
            return True
    return start > 0


def _walked(match: re.Match[str], action: str, draft: _HouseDraft) -> None:
    draft.walk(name_of(match["room"]), match.span("room"))


def _moved(match: re.Match[str], action: str, draft: _HouseDraft) -> None:
    target = name_of(match["holder"])
    holder = INVENTORY if target == INVENTORY else _holder(target, action, draft)
    draft.move(name_of(match["thing"]), holder, action, match.span())


def _holder(name: str, action: str, draft: _HouseDraft) -> str:
    return name if name == draft.room else draft.meant(name, action)


def _poured(match: re.Match[str], action: str, draft: _HouseDraft) -> None:
    source = draft.meant(name_of(match["source"]), action)
    target = name_of(match["holder"])
    for fact in list(draft.contents(source)):
        draft.retire(fact)
        if target == INVENTORY:
            draft.add(fact.object, "is in", INVENTORY, *match.span())
        else:
            holder = _holder(target, action, draft)
            draft.put(fact.object, holder, match.span(), number=_number_of(fact))
    draft.set_empty(source, empty=True, span=match.span("source"))


def _door(match: re.Match[str], action: str, draft: _HouseDraft) -> None:
    led = _DOOR_TO.search(action)
    rooms = [
        fact.object.removeprefix("door to ")
        for fact in draft.graph.outgoing(draft.room)
        if fact.relation == "has exit"
    ]
    named = [room for room in rooms if room in action] or (rooms if len(rooms) == 1 else [])
    if led is not None:
        named = [led["room"]]
    if len(named) == 1:
        draft.door(draft.room, named[0], opened=match["state"] == "open", span=match.span())


def _switched(match: re.Match[str], action: str, draft: _HouseDraft) -> None:
    name, state = name_of(match["thing"]), POWERED.get(match["state"], match["state"])
    if name == "toilet":  # it stays on only for a moment
        _flushed(match, action, draft)
    elif name != "drain":
        draft.add(draft.meant(name, action), "is", state, *match.span())


def _broken(match: re.Match[str], action: str, draft: _HouseDraft) -> None:
    thing = draft.meant(name_of(match["thing"]), action)
    draft.add(thing, "is", "out of order", *match.span())


def _measured(match: re.Match[str], action: str, draft: _HouseDraft) -> None:
    used = re.match(r"use .* on (?P<thing>.+)", action)
    if used is None:
        return
    thing, _, place = used["thing"].partition(" in ")
    inside = [fact.object for fact in draft.contents(place)] if place else []
    if thing == "substance" and len(inside) == 1:
        thing = inside[0]
    draft.add(name_of(thing), TEMPERATURE, match["degrees"], *match.span())


def _mixed(match: re.Match[str], action: str, draft: _HouseDraft) -> None:
    named = action.removeprefix("mix ")
    base = named.partition(" in ")[0].partition(" containing ")[0]
    words = set(match["from"].lower().split())
    holder = draft.meant(name_of(base), action)
    for fact in list(draft.contents(holder)):
        if set(fact.object.split()) <= words:
            draft.retire(fact)
    draft.put(name_of(match["to"]), holder, match.span())


def _eaten(match: re.Match[str], action: str, draft: _HouseDraft) -> None:
    thing = name_of(match["thing"])
    draft.take(thing, action)
    _disconnect(thing, draft)


def _flushed(match: re.Match[str], action: str, draft: _HouseDraft) -> None:
    for fact in list(draft.contents(draft.meant(name_of(match["thing"]), action))):
        if fact.object == "water":
            draft.retire(fact)


def _connected(match: re.Match[str], action: str, draft: _HouseDraft) -> None:
    one, other = (
        f"{terminal.lower()} on {name_of(thing)}"
        for terminal, _, thing in (match[part].partition(" on ") for part in ("one", "other"))
    )
    draft.add(one, CONNECTED, other, *match.span())
    draft.add(other, CONNECTED, one, *match.span())


def _disconnect(thing: str, draft: _HouseDraft) -> None:
    """Disconnect an object from all wires."""
    for terminal in ("anode", "cathode", "terminal 1", "terminal 2"):
        name = f"{terminal} on {thing}"
        for fact in (*draft.graph.outgoing(name), *draft.graph.incoming(name)):
            if fact.relation == CONNECTED:
                draft.retire(fact)


def _recipe(match: re.Match[str], action: str, draft: _HouseDraft) -> None:
    for part in re.split(r", (?:and )?| and ", match["parts"].rstrip(".")):
        draft.add(name_of(match["made"]), "requires", name_of(part), *match.span("parts"))


_ResultRule = Callable[["re.Match[str]", str, _HouseDraft], None]
_DOOR_TO = re.compile(r"door to (?:the )?(?P<room>.+)")
_UNWIRED = re.compile(r"\(disconnecting (?P<thing>.+?)\)\s*(?=[A-Z(]|$)")
_RESULT_RULES: tuple[tuple[re.Pattern[str], _ResultRule], ...] = (
    (re.compile(r"You move through the door to the (?P<room>[^.]+)\."), _walked),
    (re.compile(r"You move to the (?P<room>[^.]+)\."), _walked),
    (re.compile(r"You teleport to the (?P<room>[^.]+)\."),
     lambda m, a, d: d.enter(name_of(m["room"]), m.span("room"))),
    (re.compile(r"You move the (?P<thing>.+) to the (?P<holder>[^.]+)\."), _moved),
    (re.compile(r"You pour the contents of the (?P<source>.+) into the (?P<holder>[^.]+)\."),
     _poured),
    (re.compile(r"You pour the (?P<thing>.+) into the (?P<holder>[^.]+)\."), _moved),
    (re.compile(r"The door is (?:now|already) (?P<state>open|closed)\."), _door),
    (re.compile(r"The (?P<thing>.+) is (?:now|already) "
                r"(?P<state>open|closed|activated|deactivated|on|off)\."), _switched),
    (re.compile(r"The (?P<thing>.+) appears broken"), _broken),
    (re.compile(r"The (?P<thing>.+) is now flushing"), _flushed),
    (re.compile(r"You focus on the (?P<thing>[^.]+)\."),
     lambda m, a, d: d.add(PLAYER, FOCUSED, name_of(m["thing"]), *m.span())),
    (re.compile(r"the thermometer measures a temperature of (?P<degrees>-?\d+) degrees"),
     _measured),
    (re.compile(r"(?P<from>[^.]+) mix to produce (?P<to>[^.]+)\."), _mixed),
    (re.compile(r"The (?P<thing>.+) was delicious"), _eaten),
    (re.compile(r"(?P<one>.+ on .+) is now connected to (?P<other>.+ on .+)$"), _connected),
    (re.compile(r"(?P<thing>.+) has been disconnected"),
     lambda m, a, d: _disconnect(name_of(m["thing"]), d)),
    (re.compile(r"The [^:]* reads:\s*To make (?P<made>[^,]+), you need to mix (?P<parts>[^\n]+)"),
     _recipe),
)  # fmt: skip
