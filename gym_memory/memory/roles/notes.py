"""Notes: facts as lines of plain text that a person understands and a rule reads back.

Sections are active goals, read texts, completed actions and places. A line holds what is known of
one thing, the thing seen last first; what no longer fits is forgotten. The text is the whole state.
STMA's rule-based roles write and read them: summariser, relation retriever, aggregator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from gym_memory.core.records import Step, Task, Triple
from gym_memory.core.text import split_sentences
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place, ways_out
from gym_memory.graph.schema import (
    DIRECTIONS,
    EXIT,
    INVENTORY,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    VERBATIM,
    direction_of,
    door_relation,
    way_relation,
)
from gym_memory.memory.base import CHARS_PER_TOKEN
from gym_memory.memory.reading import (
    ACTIONS,
    EARLIER,
    GOALS,
    JOINED,
    PLACES,
    READ,
    LoggedAction,
    fact_lines,
    read_line,
    sections,
    split_entries,
)

__all__ = ["SEEN", "BeliefNotes", "Notes", "describe", "fit_lines", "read_description", "section"]
__all__ += ["stated_facts"]

SEEN = LOCATIONS | {"is", EXIT, *map(way_relation, DIRECTIONS), *map(door_relation, DIRECTIONS)}
"""Relations of observed facts; facts of all others were read or inferred."""

_READ_SHARE = 2 / 3
_PROSE_SHARE = 4


def fit_lines(lines: Iterable[str], left: int) -> list[str]:
    """Return the first of ``lines`` that fit ``left`` characters with line ends, or a beginning.

    A line that does not fit is left out; only prose and texts that come first are cut.
    """
    kept: list[str] = []
    for line in lines:
        if len(line) < left:
            kept.append(line)
            left -= len(line) + 1
        elif left <= 1:
            break
        elif not kept and all(fact.relation in VERBATIM for fact in read_line(line)):
            return [line[: left - 1]]
    return kept


def section(heading: str, lines: Iterable[str], left: int) -> str:
    r"""Return a heading with the first of ``lines`` that fit, line ends included."""
    kept = fit_lines(lines, left - len(heading) - 2)
    return "\n".join([f"{heading}:", *kept, ""]) if kept else ""


@lru_cache(maxsize=8)  # a text that is written is read twice: for its facts, and to be continued
def _parsed(text: str) -> tuple[TemporalGraph, dict[str, None], tuple[str, ...]]:
    """Return the facts of notes, their subjects, latest last, and the lines that state no fact."""
    parts = sections(text)
    lines = [line for part in ("", READ, PLACES, EARLIER) for line in parts[part]]
    facts = [fact for line in reversed(lines) for fact in read_line(line)]
    graph, order = TemporalGraph.of(facts), dict[str, None]()
    for fact in facts:
        subject = graph.normalize(fact.subject)
        order.pop(subject, None)
        order[subject] = None
    for fact in list(graph.live()):
        direction = direction_of(fact.relation)  # a way is written in one direction only
        if direction is not None and graph.value(fact.subject, OPPOSITE[direction]) is None:
            back = Triple(fact.object, way_relation(OPPOSITE[direction]), fact.subject)
            order.setdefault(graph.add(back, 0).triple.subject)
    return graph, order, tuple(line for line in lines if not read_line(line))


class Notes:
    """Facts of some notes and of further steps; prose of a language model is kept, cut short."""

    def __init__(self, text: str = ""):
        graph, order, self.prose = _parsed(text)
        self.graph = graph.fork()
        self._order = dict(order)  # subjects, the one stated last at the end

    def _touch(self, subject: str) -> None:
        self._order.pop(subject, None)
        self._order[subject] = None

    def take(self, step: Step, task: Task) -> None:
        """Add what the extraction rules of the task's dialect read in a step."""
        extraction = get_extractor(task.dialect).extract(step, self.graph, task)
        stated = apply(extraction, self.graph, self.graph.now + 1)
        for subject in dict.fromkeys(fact.subject for fact in reversed(stated)):
            self._touch(subject)

    def text(self, room: int) -> str:
        """Return the notes, player and latest first; texts take 2/3 of ``room``, prose 1/4."""
        needed = {f.object for f in self.graph.outgoing("recipe") if f.relation == "requires"}
        read_lines: list[str] = []
        place_lines: list[str] = []
        self._touch(PLAYER)
        for subject in reversed(self._order):
            facts = self.graph.outgoing(subject)
            known = subject in needed or any(fact.relation not in SEEN for fact in facts)
            lines = fact_lines(subject, self._worth_writing(facts))
            (read_lines if known else place_lines).extend(lines)
        earlier = section(EARLIER, self.prose, room // _PROSE_SHARE)
        room -= len(earlier)
        read = section(READ, read_lines, int(room * _READ_SHARE))
        places = section(PLACES, place_lines, room - len(read))
        return (read + places + earlier).rstrip("\n")

    def _worth_writing(self, facts: Iterable[Triple]) -> Iterator[Triple]:
        """Yield all facts except explored exits and the second direction of a way."""
        for fact in facts:
            direction = direction_of(fact.relation)
            if fact.relation == EXIT and fact.object in ways_out(self.graph, fact.subject):
                continue
            if direction is not None:
                back = Triple(fact.object, way_relation(OPPOSITE[direction]), fact.subject)
                if direction > OPPOSITE[direction] and back in self.graph:
                    continue
            yield fact


def stated_facts(text: str, task: Task) -> list[Triple]:
    """Return the facts of notes, prose or a transcript, oldest first, the latest of each slot."""
    before, entries = split_entries(text)
    notes = Notes(before)
    if notes.prose:
        notes.take(Step(0, "\n".join(notes.prose)), task._replace(dialect="plain"))
    for t, action, answer, reward in entries:
        notes.take(Step(t or 0, answer, action, reward), task)
    return list(notes.graph.live())


_ACTIONS_KEPT = 25
_MAX_ACTION_CHARS = 80
_MAX_GOAL_CHARS = 200
_MOST_LINES = 6
_DOORS = {door_relation(direction): direction for direction in DIRECTIONS}


class BeliefNotes:
    """A summary in ``size`` tokens: active goals, completed actions, places, things, texts."""

    def __init__(self, size: int):
        self._room = size * CHARS_PER_TOKEN

    def __call__(self, previous: str, trace: Sequence[Step], task: Task) -> str:
        """Return the new temporal belief."""
        notes = Notes(previous)
        done = [*sections(previous)[ACTIONS]]
        for step in trace[-1:] if previous else trace:
            before = current_place(notes.graph)
            notes.take(step, task)
            after = current_place(notes.graph)
            if step.action:
                action = " ".join(step.action.split())[:_MAX_ACTION_CHARS]
                places = (before, after or "") if before and after != before else ()
                done.append(str(LoggedAction(step.t, action, *places)))
        goals = section(GOALS, _goals(notes.graph, task), self._room // 4)
        acts = section(ACTIONS, done[-_ACTIONS_KEPT:], self._room // 4)
        return goals + acts + notes.text(self._room - len(goals) - len(acts))


def _goals(graph: TemporalGraph, task: Task) -> Iterator[str]:
    """Yield the open steps of a recipe; without one, the task."""
    needed = [fact.object for fact in graph.outgoing("recipe") if fact.relation == "requires"]
    for thing in needed:
        if Triple(thing, "is", "consumed") in graph:
            continue
        place = graph.value(thing, "location")
        if place is None:
            yield f"- find {thing}"
        elif place.object != INVENTORY:
            yield f"- take {thing} from {place.object}"
        for fact in graph.outgoing(thing):
            if fact.relation == "needs to be" and Triple(thing, "is", fact.object) not in graph:
                yield f"- have {thing} {fact.object}"
    yield "- prepare the meal" if needed else f"- {' '.join(task.goal.split())[:_MAX_GOAL_CHARS]}"


def describe(triples: Sequence[Triple], task: Task) -> str:
    """Describe a subgraph in prose: every triple, and the straight lines that ways form.

    >>> row = [Triple("b", "is west of", "a"), Triple("c", "is west of", "b")]
    >>> print(describe(row, Task("", "")))
    From a, west leads to b. From b, west leads to c. From west to east lie c, b, a: a is east of c.
    """
    return " ".join(_Description(triples).sentences())


class _Description:
    def __init__(self, triples: Iterable[Triple]):
        self.here = ""
        self.ways: dict[str, dict[str, str]] = {}
        self.back: dict[str, dict[str, str]] = {}
        self.exits: dict[str, list[str]] = {}
        self.doors: dict[str, dict[str, str]] = {}
        self.states: dict[str, list[str]] = {}
        self.inside: dict[tuple[str, str], list[str]] = {}
        self.rest: dict[tuple[str, str], list[str]] = {}
        for subject, relation, obj in triples:
            direction, door = direction_of(relation), _DOORS.get(relation)
            if direction is not None:
                self.ways.setdefault(obj, {})[direction] = subject
                self.back.setdefault(subject, {})[OPPOSITE[direction]] = obj
            elif door is not None:
                self.doors.setdefault(subject, {})[door] = obj
            elif relation == EXIT:
                self.exits.setdefault(subject, []).append(obj)
            elif subject == PLAYER and relation == "is in":
                self.here = obj
            elif relation in LOCATIONS:
                self.inside.setdefault((relation, obj), []).append(subject)
            elif relation == "is":
                self.states.setdefault(subject, []).append(obj)
            else:
                self.rest.setdefault((subject, relation), []).append(obj)

    def sentences(self) -> Iterator[str]:
        """Yield the map, the places of things, everything else, and straight lines."""
        named: set[str] = set()
        if self.here:
            yield f"You are in {self.here}."
        for place in dict.fromkeys((*self.ways, *self.exits, *self.doors)):
            yield f"From {place}, {'; '.join(self._leads(place, named))}."
        for (relation, holder), things in self.inside.items():
            listed = ", ".join(self._named(thing, named) for thing in things)
            where = relation.removeprefix("is ").capitalize()
            yield f"You hold {listed}." if holder == INVENTORY else f"{where} {holder}: {listed}."
        for thing, states in self.states.items():
            if thing not in named:
                yield f"{thing} is {' and '.join(states)}."
        for (subject, relation), objects in self.rest.items():
            quoted = relation in VERBATIM
            listed = ", ".join([f'"{obj}"' for obj in objects] if quoted else objects)
            yield f"{subject} {relation} {listed}."
        for direction, line in list(self._lines())[:_MOST_LINES]:
            yield (
                f"From {OPPOSITE[direction]} to {direction} lie {', '.join(line)}: "
                f"{line[-1]} is {direction} of {line[0]}."
            )

    def _leads(self, place: str, named: set[str]) -> Iterator[str]:
        doors = self.doors.get(place, {})
        ways = self.ways.get(place, {})
        for direction, other in ways.items():
            door = doors.get(direction)
            through = f" through {self._named(door, named)}" if door else ""
            yield f"{direction} leads to {other}{through}"
        exits = self.exits.get(place, [])
        for direction in dict.fromkeys((*exits, *(d for d in doors if d not in ways))):
            door = doors.get(direction)
            through = f" with {self._named(door, named)}" if door else ""
            back = self.back.get(place, {}).get(direction)
            if back is not None:
                yield f"{direction} leads back to {back}{through}"
            else:
                yield f"there is an exit {direction}{through}"

    def _named(self, thing: str, named: set[str]) -> str:
        named.add(thing)
        states = self.states.get(thing)
        return f"{thing} ({', '.join(states)})" if states else thing

    def _lines(self) -> Iterator[tuple[str, list[str]]]:
        """Yield straight lines of at least three places, each once."""
        ways: dict[tuple[str, str], str] = {}
        for place, leads in self.ways.items():
            for direction, other in leads.items():
                ways[place, direction] = other
                ways.setdefault((other, OPPOSITE[direction]), place)
        for direction in DIRECTIONS:
            if direction < OPPOSITE[direction] and direction not in ("in", "out"):
                for place, way in ways:
                    if way == direction and (place, OPPOSITE[direction]) not in ways:
                        line = [place]
                        while (following := ways.get((line[-1], direction))) not in (None, *line):
                            line.append(str(following))
                        if len(line) > 2:
                            yield direction, line


_DIRECTION = "|".join(DIRECTIONS)
_HERE = re.compile(r"You are in (.+?)\.?")
_FROM = re.compile(r"From ([^,]+), (.+?)\.?")
_WAY = re.compile(rf"({_DIRECTION}) leads to (.+)")
_EXIT = re.compile(rf"(?:there is an exit ({_DIRECTION})|({_DIRECTION}) leads back to (.+?))")
_DOOR = re.compile(r"(.*?) (?:through|with) (.+)")
_PLACED = re.compile(r"(In|On|Under) ([^:]+): (.+?)\.?")
_HELD = re.compile(r"You hold (.+?)\.?")
_STATES = re.compile(r"(.+?) \(([^()]+)\)")
_BRACKET = re.compile(r"[()]")


def read_description(text: str) -> list[Triple]:
    """Return the facts that a description of places and things states.

    >>> read_description("From hall, east leads to den through oak door (open). On desk: a.")[0]
    Triple(subject='den', relation='is east of', object='hall')
    """
    sentences = split_sentences(text, before="A-Z")
    return [fact for sentence in sentences for fact in _stated(sentence.strip())]


def _stated(sentence: str) -> Iterator[Triple]:
    if here := _HERE.fullmatch(sentence):
        yield Triple(PLAYER, "is in", here[1])
    elif leads := _FROM.fullmatch(sentence):
        for lead in leads[2].split(JOINED):
            yield from _lead(leads[1], lead)
    elif held := _HELD.fullmatch(sentence):
        for thing in _listed(held[1]):
            yield from _thing(thing, "is in", INVENTORY)
    elif placed := _PLACED.fullmatch(sentence):
        for thing in _listed(placed[3]):
            yield from _thing(thing, f"is {placed[1].lower()}", placed[2])


def _listed(text: str) -> list[str]:
    things: list[list[str]] = []
    inside = False
    for piece in reversed(text.split(", ")):
        if inside:
            things[-1].append(piece)
        else:
            things.append([piece])
        bracket = _BRACKET.search(piece)
        inside = bracket[0] == ")" if bracket else inside
    return [", ".join(reversed(pieces)) for pieces in reversed(things)]


def _lead(place: str, lead: str) -> Iterator[Triple]:
    door = _DOOR.fullmatch(lead)
    bare = door[1] if door else lead
    if way := _WAY.fullmatch(bare):
        direction = way[1]
        yield Triple(way[2], way_relation(direction), place)
    elif exit_ := _EXIT.fullmatch(bare):
        direction = exit_[1] or exit_[2]
        yield Triple(place, EXIT, direction)
        if exit_[3]:
            yield Triple(exit_[3], way_relation(direction), place)
    else:
        return
    if door is not None:
        name, states = _named(door[2])
        yield Triple(place, door_relation(direction), name)
        yield from (Triple(name, "is", state) for state in states)


def _thing(text: str, relation: str, holder: str) -> Iterator[Triple]:
    name, states = _named(text)
    yield Triple(name, relation, holder)
    yield from (Triple(name, "is", state) for state in states)


def _named(text: str) -> tuple[str, list[str]]:
    named = _STATES.fullmatch(text)
    return (named[1], named[2].split(", ")) if named else (text, [])
