"""Read a recall, in the same way for every memory and without the rules of extraction.

* Recalled triples are true now; of two that contradict each other, the more relevant counts.
* Transcript entries (``[step 12] > open fridge`` or ``> open fridge`` with the game's answer
  below) state what the ideal observer was shown by that step, as far as the text names it
  (:meth:`.Account.reported`), in any wording. Lines that the game did not say are prose. Entries
  without a step are counted back from the present.
* ``[step 12] apple: is in fridge`` was true then.
* Numbered lines below ``Completed actions:``, ``12. go east (hall to kitchen)``, are actions, and
  state what they name of their result.
* ``fridge: is in kitchen; is open`` are facts; a sentence of other prose states the facts ever
  known whose names are all in it, the latest last. Both are true now, unless a transcript or a
  triple says otherwise.

The present observation comes last. The agent's place does not last over a gap between entries, so
no way is read into the gap.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from operator import itemgetter

from gym_memory.core.records import Recall, Triple
from gym_memory.core.text import split_sentences
from gym_memory.evaluate.exam.account import Account
from gym_memory.evaluate.quality.observer import spaced, squeezed
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place, ways_out
from gym_memory.graph.schema import LOCATIONS, OPPOSITE, PLAYER, direction_of, way_relation
from gym_memory.memory.reading import ParsedText, TranscriptStep, read_account

__all__ = ["RecallReading"]


class RecallReading:
    """Beliefs of a reader who has only a recall and the present observation."""

    def __init__(self, recall: Recall, account: Account):
        self.triples, self.account, self.step = recall.triples, account, account.moment.step
        self._text = recall.text
        self._sort_out(read_account(recall.text))

    @cached_property
    def now(self) -> TemporalGraph:
        """Return the facts stated to be true now."""
        graph = TemporalGraph()
        _add(graph, self._facts, 0)
        for sentence in self._prose:
            _add(graph, self.account.stated(sentence), 0)
        self._follow(graph)
        before = current_place(graph) or ""
        _add(graph, reversed(self.triples), graph.now)
        self._see(graph, before)
        for subject, relation, obj in list(graph.live()):  # a way is stated in one direction only
            direction = direction_of(relation)
            back = OPPOSITE[direction] if direction else None
            if back and graph.value(subject, back) is None:
                graph.add(Triple(obj, way_relation(back), subject), graph.now)
        return graph

    @cached_property
    def past(self) -> TemporalGraph:
        """Return the facts stated about past steps; time is counted in environment steps."""
        graph = TemporalGraph()
        self._follow(graph)
        self._see(graph, current_place(graph) or "")
        return graph

    def place(self, thing: str) -> str:
        """Return the stated present holder of a thing; "" if none is stated."""
        fact = self.now.value(thing, "location")
        return fact.object if fact else ""

    def place_at(self, thing: str, t: int) -> str:
        """Return the stated holder of a thing after step ``t``."""
        for fact in self.past.as_of(t):
            if fact.subject == thing and fact.relation in LOCATIONS:
                return fact.object
        return ""

    def contents(self, holder: str) -> set[str]:
        """Return the stated direct contents of something."""
        inside = {f.subject for f in self.now.incoming(holder) if f.relation in LOCATIONS}
        return inside - {PLAYER}

    def ways(self, place: str) -> dict[str, str]:
        """Return the stated ways out of a place: direction to the next place."""
        return ways_out(self.now, place)

    def action_at(self, t: int) -> str:
        """Return the stated action of step ``t``."""
        return self._actions.get(t, "")

    def first(self, fact: Triple) -> int | None:
        """Return the first step for which a fact is stated; None if there is none."""
        known = self.past.fact(fact)
        return known.intervals[0][0] if known and known.intervals else None

    def says(self, text: str) -> bool:
        """True if the recall contains a text, ignoring line breaks and quotation marks."""
        return squeezed(text) in self._squeezed

    @cached_property
    def _squeezed(self) -> str:
        return squeezed(self._text)

    def _sort_out(self, recalled: ParsedText) -> None:
        self._facts, self._dated = recalled.facts, recalled.dated
        self._entries = self._counted(list(recalled.entries))
        self._actions = {logged.t: logged.action for logged in recalled.actions}
        self._actions.update((entry.t or 0, entry.action) for entry in self._entries)
        prose = recalled.prose
        undated = bool(recalled.entries) and recalled.entries[0].t is None
        if prose and undated and self._entries[0].t == 1:
            self._entries.insert(0, TranscriptStep(0, "", prose))  # the reset's observation
            prose = ""
        for t, action, before, after in recalled.actions:
            self._entries.append(TranscriptStep(t, action, f"{before}\n{after}"))
        self._prose = [line for line in split_sentences(prose, ".!?;", lines=True) if line]
        self._stated = [self._verified(entry) for entry in self._entries]

    def _counted(self, entries: list[TranscriptStep]) -> list[TranscriptStep]:
        """Return entries with their steps; undated ones are counted back from the present."""
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

    def _verified(self, entry: TranscriptStep) -> tuple[int, str]:
        """Return the step of an entry and the lines that the game printed; others become prose."""
        t = entry.t or 0
        if not 0 <= t < len(self.account.moments):
            return t, ""
        step = self.account.moments[t].step
        said = spaced(squeezed(f"{step.action}. {step.text}"))
        kept = [entry.action] * (entry.action == step.action)
        lines = entry.text.rstrip().split("\n")
        for number, line in enumerate(lines, 1):
            words = spaced(squeezed(line))
            if words not in said and number == len(lines):  # its last word may be cut
                line = line.rpartition(" ")[0]
                words = spaced(squeezed(line))
            if words.strip() and words in said:
                kept.append(line)
            elif words.strip():
                self._prose += split_sentences(line, ".!?;", lines=True)
        return t, "\n".join(kept)

    def _follow(self, graph: TemporalGraph) -> None:
        """Read entries and dated facts in the order of their steps, up to the present one."""
        events: list[tuple[int, str | Triple]] = [*self._stated, *self._dated]
        last = -1
        for t, event in sorted(events, key=itemgetter(0)):
            if t >= self.step.t:
                break  # the present observation is read last
            if t > last + 1:
                graph.retire_matching(subject=PLAYER, t=last + 1, by="gap")
            last = t
            if isinstance(event, Triple):
                graph.add(event, t)
            else:
                self._add_stated(graph, t, event, current_place(graph) or "")
        if 0 <= last < self.step.t - 1:
            graph.retire_matching(subject=PLAYER, t=last + 1, by="gap")

    def _see(self, graph: TemporalGraph, before: str) -> None:
        """Read the present observation."""
        step = self.step
        self._add_stated(graph, step.t, f"{step.action}. {step.text}\n{step.inventory}", before)

    def _add_stated(self, graph: TemporalGraph, t: int, text: str, before: str) -> None:
        """Add what the text of a step states, given the agent's place before."""
        stated = self.account.reported(t, text)
        _add(graph, (fact for fact, missing in stated if missing <= {before}), t)
        here = current_place(graph) or ""
        if here != before:
            _add(graph, (fact for fact, missing in stated if missing == {here}), t)


def _add(graph: TemporalGraph, facts: Iterable[Triple], t: int) -> None:
    for fact in facts:
        graph.add(fact, t)
        if fact[1:] == ("is", "consumed"):  # an older text gives it a place, but it is in none now
            for relation in LOCATIONS:
                graph.retire_matching(fact.subject, relation, t=t)
