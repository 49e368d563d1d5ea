"""Notes: facts as lines of plain text that a person understands and a rule reads back.

Sections are active goals, read texts, completed actions and places. A line holds what is known of
one thing, the thing seen last first; what no longer fits is forgotten. The text is the whole state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.extract.base import apply
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import ways_out
from gym_memory.graph.schema import (
    DIRECTIONS,
    EXIT,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    VERBATIM,
    direction_of,
    door_relation,
    way_relation,
)
from gym_memory.memory.reading import (
    EARLIER,
    PLACES,
    READ,
    fact_lines,
    read_line,
    sections,
    split_entries,
)

__all__ = ["Notes", "fit_lines", "section", "stated_facts"]

_MAP = frozenset({EXIT, *map(way_relation, DIRECTIONS), *map(door_relation, DIRECTIONS)})
_PLAIN = LOCATIONS | {"is"} | _MAP
"""Relations of what is seen; all others are of what was read or worked out."""

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
            known = subject in needed or any(fact.relation not in _PLAIN for fact in facts)
            lines = fact_lines(subject, self._worth_writing(facts))
            (read_lines if known else place_lines).extend(lines)
        earlier = section(EARLIER, self.prose, room // _PROSE_SHARE)
        room -= len(earlier)
        read = section(READ, read_lines, int(room * _READ_SHARE))
        places = section(PLACES, place_lines, room - len(read))
        return (read + places + earlier).rstrip("\n")

    def _worth_writing(self, facts: Iterable[Triple]) -> Iterator[Triple]:
        """Yield facts but exits that were taken and the second direction of a way."""
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
    """Return the facts of notes, prose or a transcript, oldest first, latest of exclusive."""
    before, entries = split_entries(text)
    notes = Notes(before)
    if notes.prose:
        notes.take(Step(0, "\n".join(notes.prose)), task._replace(dialect="plain"))
    for t, action, answer in entries:
        notes.take(Step(t or 0, answer, action), task)
    return list(notes.graph.live())
