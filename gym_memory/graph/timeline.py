"""The history of a graph: which facts began and ended, in the order in which it happened.

Kept apart from the graph's present, so that the past costs nothing until someone asks for it.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from gym_memory.core.records import Triple

__all__ = ["Event", "Timeline"]

Event = tuple[int, Triple, str, bool, str, int]
"""A fact that began or ended, with what it takes to undo that (a plain tuple: one a change).

``(step, fact, by, same, before, opened)``:

* step: environment step.
* fact: the fact.
* by: who retired it; empty when it began.
* same: it began in the step in which it had ended, or ended in the step in which it had begun.
* before: who had retired it before it began again; empty when it is new.
* opened: position of the event with which it began (this one, if it begins here).
"""

_STEP, _OPENED = itemgetter(0), itemgetter(0)


class Timeline:
    """An append-only list of events that can be asked for any past step.

    ``as_of`` replays the events since the nearest checkpoint. A checkpoint (the facts true at
    some event) is laid, when somebody asks, at the earliest as many events after the last one
    as it has facts. So all checkpoints together take O(events) memory, and once they are laid a
    question costs O(log events + facts true at that step).
    """

    _SPACING = 256
    """Fewest events between two checkpoints."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._checkpoints: list[tuple[int, tuple[Triple, ...]]] = [(0, ())]

    def copy(self) -> Timeline:
        """An independent copy; O(events) at the speed of a list copy."""
        twin = Timeline()
        twin.events = self.events.copy()
        twin._checkpoints = self._checkpoints.copy()
        return twin

    def truncate(self, length: int) -> None:
        """Forget the events from position ``length`` on."""
        del self.events[length:]
        while self._checkpoints[-1][0] > length:
            self._checkpoints.pop()

    def position(self, t: int) -> int:
        """How many events happened up to the end of step ``t``; O(log events)."""
        return bisect_right(self.events, t, key=_STEP)

    def as_of(self, t: int) -> list[Triple]:
        """The facts true at the end of step ``t``, those that began first coming first."""
        end = self.position(t)
        start, facts = self._checkpoints[bisect_right(self._checkpoints, end, key=_OPENED) - 1]
        live = dict.fromkeys(facts)
        last = self._checkpoints[-1][0]
        for position in range(start, end):
            if position - last >= max(self._SPACING, len(live)):
                last = position
                self._checkpoints.append((position, tuple(live)))
            event = self.events[position]
            if event[2]:
                del live[event[1]]
            else:
                live[event[1]] = None
        return list(live)

    def diff(self, a: int, b: int) -> tuple[list[Triple], list[Triple]]:
        """Facts that are true at step ``b`` and not at ``a``, and the other way round.

        O(log events + events between the two steps). Each list is in the order in which the
        facts began or ended last.
        """
        if a > b:
            removed, added = self.diff(b, a)
            return added, removed
        before: dict[Triple, bool] = {}
        after: dict[Triple, bool] = {}
        for event in self.events[self.position(a) : self.position(b)]:
            fact, ended = event[1], bool(event[2])
            before.setdefault(fact, ended)
            after.pop(fact, None)
            after[fact] = not ended
        added = [fact for fact, live in after.items() if live and not before[fact]]
        removed = [fact for fact, live in after.items() if not live and before[fact]]
        return added, removed
