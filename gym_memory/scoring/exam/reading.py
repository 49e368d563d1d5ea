"""What a recall says, read alike for every memory.

A memory may recall facts, transcripts, notes or prose. All of it is read, and nothing else:

* recalled triples are what is true now; where two exclude each other the more relevant counts;
* transcript entries, ``[step 12] > open fridge`` or ``> open fridge`` with the game's answer
  below, are read with the extraction rules of the game family, in the order of their steps.
  Entries without a step are taken to be the latest ones without a gap, so they are counted back
  from the present;
* ``[step 12] apple: is in fridge`` says what was true then;
* numbered lines below ``Completed actions:``, ``12. go east (hall to kitchen)``, are actions and
  say what follows from them;
* lines ``fridge: is in kitchen; is open`` are facts, other prose is read with the rules for plain
  English; both say what is true now, unless a transcript or a triple says otherwise.

Last comes the present observation, which whoever asks has before them anyway. Where the agent was
is not taken to last over a gap between two entries, so that no way is read into it. A sentence
that a budget cut short at the end of an entry is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from operator import itemgetter

from gym_memory.memory.extract import get_extractor
from gym_memory.memory.extract.base import apply
from gym_memory.memory.graph import TemporalGraph
from gym_memory.memory.reading import Account, Entry, LoggedAction, read_account
from gym_memory.schema import (
    INVENTORY,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    direction_of,
    way_relation,
)
from gym_memory.types import Recall, Step, Task, Triple

__all__ = ["Reading"]

_MOVED = re.compile(
    r"(?:take|get|pick up) (?P<taken>.+?)(?: from .+)?"
    r"|(?:put|insert|place) (?P<put>.+?) (?P<how>in|into|on|onto) (?P<to>.+)"
)
_ENDS = (".", "!", "?")


class Reading:
    """The beliefs of someone who has a recall and the present observation, and nothing else.

    Args:
        recall: What the memory recalled.
        step: The present step.
        task: The task; its dialect chooses the extraction rules.
    """

    def __init__(self, recall: Recall, step: Step, task: Task):
        self.triples, self.step, self.task = recall.triples, step, task
        self._sort_out(read_account(recall.text))

    # ------------------------------------------------------------ what is asked of it

    @cached_property
    def now(self) -> TemporalGraph:
        """What is said to be true now."""
        graph = TemporalGraph()
        for fact in self._facts:
            graph.add(fact, 0)
        if self._prose:
            self._read(graph, Step(0, self._prose), "plain")
        self._follow(graph)
        for fact in reversed(self.triples):
            graph.add(fact, graph.now)
            if fact[1:] == ("is", "consumed"):  # it is nowhere, whatever an older text says
                for relation in LOCATIONS:
                    graph.retire_matching(fact.subject, relation, t=graph.now)
        # Recalled facts place the agent where the last action led, so it says nothing new.
        self._read(graph, self.step._replace(action="") if self.triples else self.step)
        for subject, relation, obj in list(graph.live()):  # a way is told in one direction only
            direction = direction_of(relation)
            if direction and graph.value(subject, OPPOSITE[direction]) is None:
                graph.add(Triple(obj, way_relation(OPPOSITE[direction]), subject), graph.now)
        return graph

    @cached_property
    def past(self) -> TemporalGraph:
        """What is said of past steps; its clock is the environment step."""
        graph = TemporalGraph()
        self._follow(graph)
        self._read(graph, self.step)
        return graph

    def place(self, thing: str) -> str:
        """What a thing is said to be in or on now; "" if nothing is said."""
        fact = self.now.value(thing, "location")
        return fact.object if fact else ""

    def place_at(self, thing: str, t: int) -> str:
        """What a thing is said to have been in or on after step ``t``."""
        for fact in self.past.as_of(t):
            if fact.subject == thing and fact.relation in LOCATIONS:
                return fact.object
        return ""

    def contents(self, holder: str) -> set[str]:
        """What is said to be right in or on something."""
        inside = {f.subject for f in self.now.incoming(holder) if f.relation in LOCATIONS}
        return inside - {PLAYER}

    def ways(self, place: str) -> dict[str, str]:
        """Ways said to lead out of a place: direction to the next place."""
        return {
            direction: fact.subject
            for fact in self.now.incoming(place)
            if (direction := direction_of(fact.relation)) is not None
        }

    def action_at(self, t: int) -> str:
        """What is said to have been done in step ``t``."""
        return self._actions.get(t, "")

    def first(self, fact: Triple) -> int | None:
        """The first step for which a fact is told; None if none is."""
        known = self.past.fact(fact)
        return known.intervals[0][0] if known and known.intervals else None

    # ------------------------------------------------------------ reading

    def _sort_out(self, account: Account) -> None:
        """Date what is dated by the present, and tell what follows from logged actions."""
        self._facts, self._prose = account.facts, account.prose
        self._dated = [*account.dated, *_follows(account.actions)]
        self._entries = self._counted([e._replace(text=_uncut(e.text)) for e in account.entries])
        self._actions = {logged.t: logged.action for logged in account.actions}
        self._actions.update((entry.t or 0, entry.action) for entry in self._entries)
        undated = bool(account.entries) and account.entries[0].t is None
        if self._prose and undated and self._entries[0].t == 1:
            self._entries.insert(0, Entry(0, "", self._prose))  # the reset's observation
            self._prose = ""

    def _counted(self, entries: list[Entry]) -> list[Entry]:
        """Entries with their steps, those that tell none counted back from the present."""
        t = self.step.t
        if entries and entries[-1].text not in ("", self.step.text.strip()):
            t -= 1
        counted = []
        for entry in reversed(entries):
            if entry.t is None:
                counted.append(entry._replace(t=t))
                t -= 1
            else:
                counted.append(entry)
        return counted[::-1]

    def _follow(self, graph: TemporalGraph) -> None:
        """Read entries and dated facts in the order of their steps, up to the present one."""
        events: list[tuple[int, Entry | Triple]] = [(e.t or 0, e) for e in self._entries]
        events += self._dated
        last = -1
        for t, event in sorted(events, key=itemgetter(0)):
            if t >= self.step.t:
                break  # the present is read last, as what it is
            if t > last + 1:
                graph.retire_matching(subject=PLAYER, t=last + 1, by="gap")
            last = t
            if isinstance(event, Triple):
                graph.add(event, t)
            else:
                self._read(graph, Step(t, event.text, event.action))
        if 0 <= last < self.step.t - 1:
            graph.retire_matching(subject=PLAYER, t=last + 1, by="gap")

    def _read(self, graph: TemporalGraph, step: Step, dialect: str = "") -> None:
        task = self.task._replace(dialect=dialect or self.task.dialect)
        apply(get_extractor(task.dialect).extract(step, graph, task), graph, step.t)


def _follows(actions: Iterable[LoggedAction]) -> Iterator[tuple[int, Triple]]:
    """Steps, and where the action of each brought the agent or a thing."""
    for t, action, _, after in actions:
        moved = _MOVED.fullmatch(action)
        if after:
            yield t, Triple(PLAYER, "is in", after)
        elif moved and moved["taken"]:
            yield t, Triple(moved["taken"], "is in", INVENTORY)
        elif moved:
            how = "is on" if moved["how"].startswith("on") else "is in"
            yield t, Triple(moved["put"], how, moved["to"])


def _uncut(text: str) -> str:
    """A text without its last sentence where a budget cut that short; lists stay whole."""
    text = text.strip()
    if not text or text[-1] in _ENDS or text.rpartition("\n")[2].startswith("  "):
        return text
    return text[: max(text.rfind(end) for end in (*_ENDS, "\n")) + 1]
