"""Notes: facts as lines of plain text that a person understands and a rule reads back.

Several papers keep what happened as text that a language model writes anew at every step. The
rules that stand in for the model write this::

    Active goals:
    - get the carrot
    Read:
    recipe: requires carrot; requires egg
    note says: Go east.
    Completed actions:
    3. open fridge
    Places:
    you: is in kitchen
    fridge: is in kitchen; is open

A line holds what is known of one thing, the thing seen last stands first, and what no longer fits
is forgotten. The text is the whole state: nothing is known that it does not say.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from gym_memory.memory.extract import get_extractor
from gym_memory.memory.extract.base import apply
from gym_memory.memory.graph import TemporalGraph
from gym_memory.memory.graph.places import EXIT, ways_out
from gym_memory.memory.schema import (
    DIRECTIONS,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    VERBATIM,
    direction_of,
    door_relation,
    way_relation,
)
from gym_memory.types import Step, Task, Triple

__all__ = ["ACTIONS", "GOALS", "PLACES", "READ", "Notes", "fact_lines", "fit_lines"]
__all__ += ["read_account", "read_line", "section", "sections"]

ACTIONS, PLACES, GOALS, READ = "Completed actions", "Places", "Active goals", "Read"
"""Headings, those that the prompt ``belief`` asks a language model for."""

_EARLIER = "Earlier"
_HEADINGS = {heading.lower(): heading for heading in (ACTIONS, PLACES, GOALS, READ, _EARLIER)}
_WAYS = frozenset(way_relation(d) for d in DIRECTIONS)
_MAP = _WAYS | {door_relation(d) for d in DIRECTIONS} | {EXIT}
_PLAIN = LOCATIONS | {"is"} | _MAP
"""Relations of what is seen; all others are of what was read or worked out."""

_RELATIONS = sorted(
    (*_PLAIN, "requires", "needs to be", "is prepared in", "used for", "mentions", "opens"),
    key=lambda relation: (-len(relation), relation),
)
_KNOWN = frozenset(_RELATIONS)
_FACT = re.compile(rf"({'|'.join(map(re.escape, _RELATIONS))}) (\S.*)")
_OTHER = " = "
"""Between relation and object where the relation is none of the above."""
_BULLET = re.compile(
    rf"[-*•] +(\S.*?) ({'|'.join(map(re.escape, (*_RELATIONS, *sorted(VERBATIM))))}) (\S.*?)\.?"
)
_SAYS = re.compile(rf"([^:\s][^:]*?) ({'|'.join(sorted(VERBATIM))}): (\S.*)")
_ENTRY = re.compile(r"\[step (\d+)\](?: > (.*))?")
_LONGEST_OBJECT = 1500
_LONGEST_LINE = 4000
_READ_SHARE = 2 / 3
_PROSE_SHARE = 4


@lru_cache(maxsize=1 << 14)
def read_line(line: str) -> tuple[Triple, ...]:
    """The facts that a line states, in its order; none where it has none of the forms.

    >>> read_line("fridge: is in kitchen; is open")[1]
    Triple(subject='fridge', relation='is', object='open')
    >>> read_line("- hall is east of kitchen.")
    (Triple(subject='hall', relation='is east of', object='kitchen'),)
    >>> read_line("note says: Go east; then: north.")[0].object
    'Go east; then: north.'
    """
    if not 0 < len(line) <= _LONGEST_LINE:
        return ()
    whole = _BULLET.fullmatch(line) or _SAYS.fullmatch(line)
    if whole is not None:
        return (Triple(*whole.groups()),)
    subject, colon, rest = line.partition(": ")
    if not colon or not subject.strip():
        return ()
    facts = []
    for part in rest.split("; "):
        found = _FACT.fullmatch(part)
        relation, obj = found.groups() if found else part.partition(_OTHER)[::2]
        if not (relation.strip() and obj.strip()):
            return ()
        facts.append(Triple(subject, relation, obj))
    return tuple(facts)


def _written(fact: Triple) -> str:
    """A fact as it stands after its subject."""
    relation, obj = fact[1], fact[2]
    return f"{relation} {obj}" if relation in _KNOWN else f"{relation}{_OTHER}{obj}"


@lru_cache(maxsize=1 << 14)
def _can_be_read(fact: Triple) -> bool:
    """Whether the line of a fact says just this fact, so no separator is part of a name."""
    return "\n" not in "".join(fact) and read_line(f"{fact[0]}: {_written(fact)}") == (fact,)


def fact_lines(subject: str, facts: Iterable[Triple]) -> list[str]:
    """The lines that state facts about one subject; facts that no line can state are left out."""
    plain, lines = [], []
    for fact in facts:
        if fact.relation in VERBATIM:
            line = f"{subject} {fact.relation}: {fact.object[:_LONGEST_OBJECT].strip()}"
            if read_line(line) and read_line(line)[0][:2] == fact[:2]:
                lines.append(line)
        elif _can_be_read(fact):
            plain.append(_written(fact))
    return [f"{subject}: {'; '.join(plain)}", *lines] if plain else lines


def sections(text: str) -> dict[str, list[str]]:
    r"""The lines under each heading; those under none are found under ``""``.

    >>> sections("**Read:**\nA recipe.")["Read"]
    ['A recipe.']
    """
    found: dict[str, list[str]] = {name: [] for name in ("", *_HEADINGS.values())}
    heading = ""
    for line in text.split("\n"):
        bare = line.strip(" *#:").lower()
        if bare in _HEADINGS:
            heading = _HEADINGS[bare]
        elif line.strip():
            found[heading].append(line)
    return found


def fit_lines(lines: Iterable[str], left: int) -> list[str]:
    """The first of ``lines`` that together, with line ends, take at most ``left`` characters.

    A line that does not fit is left out and shorter ones are tried. If it is prose or a text that
    was read, and nothing stands before it, its beginning is kept.
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
    r"""A heading with the first of ``lines``, in at most ``left`` characters, line ends included.

    >>> section("Read", ["note says: Go."], 100)
    'Read:\nnote says: Go.\n'
    """
    kept = fit_lines(lines, left - len(heading) - 2)
    return "\n".join([f"{heading}:", *kept, ""]) if kept else ""


@lru_cache(maxsize=8)  # a text that is written is read twice: for its facts, and to be continued
def _parsed(text: str) -> tuple[TemporalGraph, dict[str, None], tuple[str, ...]]:
    """The facts of notes, their subjects, latest last, and the lines that state no fact."""
    parts = sections(text)
    lines = [line for part in ("", READ, PLACES, _EARLIER) for line in parts[part]]
    graph, order = TemporalGraph(), dict[str, None]()
    for line in reversed(lines):
        for fact in read_line(line):
            subject = graph.add(fact, 0).triple.subject
            order.pop(subject, None)
            order[subject] = None
    for fact in list(graph.live()):
        direction = direction_of(fact.relation)  # a way is written in one direction only
        if direction is not None and graph.value(fact.subject, OPPOSITE[direction]) is None:
            back = Triple(fact.object, way_relation(OPPOSITE[direction]), fact.subject)
            order.setdefault(graph.add(back, 0).triple.subject)
    return graph, order, tuple(line for line in lines if not read_line(line))


class Notes:
    """What some notes say, and what a step adds to it.

    Prose of a language model, should the rule have to go on from it, is kept as it is, cut short.

    Args:
        text: The notes.
    """

    def __init__(self, text: str = ""):
        graph, order, self.prose = _parsed(text)
        self.graph = graph.fork()
        self._order = dict(order)  # subjects, the one stated last at the end

    def _touch(self, subject: str) -> None:
        self._order.pop(subject, None)
        self._order[subject] = None

    def take(self, step: Step, task: Task) -> None:
        """Add what the extraction rules of the task's dialect read in a step."""
        found = get_extractor(task.dialect).extract(step, self.graph, task)
        stated = apply(found, self.graph, self.graph.now + 1)
        for subject in dict.fromkeys(fact.subject for fact in reversed(stated)):
            self._touch(subject)

    def text(self, room: int) -> str:
        """The notes as text, latest first, the player before all.

        Args:
            room: Characters; what was read may take two thirds of them, prose a quarter.
        """
        needed = {f.object for f in self.graph.outgoing("recipe") if f.relation == "requires"}
        read: list[str] = []
        seen: list[str] = []
        self._touch(PLAYER)
        for subject in reversed(self._order):
            facts = self.graph.outgoing(subject)
            known = subject in needed or any(fact.relation not in _PLAIN for fact in facts)
            (read if known else seen).extend(fact_lines(subject, self._worth_writing(facts)))
        earlier = section(_EARLIER, self.prose, room // _PROSE_SHARE)
        room -= len(earlier)
        told = section(READ, read, int(room * _READ_SHARE))
        return (told + section(PLACES, seen, room - len(told)) + earlier).rstrip("\n")

    def _worth_writing(self, facts: Iterable[Triple]) -> Iterator[Triple]:
        """Facts without exits that were taken and without the second direction of a way."""
        for fact in facts:
            direction = direction_of(fact.relation)
            if fact.relation == EXIT and fact.object in ways_out(self.graph, fact.subject):
                continue
            if direction is not None:
                back = Triple(fact.object, way_relation(OPPOSITE[direction]), fact.subject)
                if direction > OPPOSITE[direction] and back in self.graph:
                    continue
            yield fact


def read_account(text: str, task: Task) -> list[Triple]:
    """All facts that a text states, oldest first, of those that exclude each other the latest.

    The text may be notes, prose, or a transcript (``[step 3] > open fridge`` and the answer), or
    notes and prose followed by a transcript.
    """
    lines = text.split("\n")
    marks = [i for i, line in enumerate(lines) if line[:6] == "[step " and _ENTRY.fullmatch(line)]
    first = marks[0] if marks else len(lines)
    notes = Notes("\n".join(lines[:first]))
    if notes.prose:
        notes.take(Step(0, "\n".join(notes.prose)), task._replace(dialect="plain"))
    for begin, end in itertools.pairwise([*marks, len(lines)]):
        entry = _ENTRY.fullmatch(lines[begin])
        assert entry is not None
        action, answer = entry[2] or "", "\n".join(lines[begin + 1 : end])
        notes.take(Step(int(entry[1]), answer, action), task)
    return list(notes.graph.live())
