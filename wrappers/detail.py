"""What a memory knew and recalled at a step, and the calls of models, as plain values.

These keys join a recorded row on request (see :class:`.RecordTrajectory`). Facts are numbered in
the order in which a row first names them, so that a row of a long episode stays short::

    facts           [[subject, relation, object], ...]: new numbers, continuing the last row's
    came went       numbers of facts that began; [number, who ended it] of those that ended
    recalled        numbers of the recalled facts, most relevant first
    why             [how many of them in a row, why, score, path, and a note if there is one]; the
                    same for why_episodes and why_lessons
    memory          the rendered recall; episodes, lessons: its parts that are no facts
    focus           what the policy was after, in one line
    plan            the same by name: aim, last action, given up, ...
    valid_actions   the valid actions shown
    stats           facts, live facts, episodes, lessons, tokens; update_ms, recall_ms, ms (wall
                    milliseconds since the last row, without those that a person took)
    calls           role, messages, answer, tokens, cost_usd, hit and ms of each model call since
                    the last row
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from gym_memory.core.records import MemoryStats, PlanState, Reason, Reasons, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.llm import Call

__all__ = ["StepDetail"]


class StepDetail:
    """Collect the detail of one step after another of an episode; one object an episode.

    Args:
        memory: The memory, or None. Changes are known of one with a graph only.
    """

    def __init__(self, memory: Any):
        self._memory = memory
        self._numbers: dict[Triple, int] = {}
        self._reported: int = -1
        self._clock = time.perf_counter()

    def rewind(self) -> None:
        """Go on from the memory's present state: it was taken back to an earlier step."""
        graph = self._find_graph()
        self._reported = 0 if graph is None else len(graph.events)

    def leave_out(self, seconds: float) -> None:
        """Leave seconds out of the next row's ``ms``."""
        self._clock += seconds

    def of(
        self,
        obs: Mapping[str, Any],
        stats: MemoryStats | None,
        plan: PlanState,
        reasons: Reasons,
        calls: Iterable[Call] = (),
    ) -> dict[str, Any]:
        """Return the detail of the step that led to an observation."""
        before = len(self._numbers)
        came, went = self._changes()
        recalled = [self._number(triple) for triple in obs.get("triples", ())]
        row: dict[str, Any] = {
            "facts": list(self._numbers)[before:],
            "came": came,
            "went": went,
            "recalled": recalled,
            "why": _runs(reasons.triples),
            "why_episodes": _runs(reasons.episodes),
            "why_lessons": _runs(reasons.lessons),
            "memory": obs.get("memory", ""),
            "episodes": obs.get("episodes", ()),
            "lessons": obs.get("lessons", ()),
            "focus": str(plan),
            "plan": {"aim": str(plan.aim), **plan.notes()} if str(plan.aim) else {},
            "valid_actions": tuple(obs["valid_actions"]),
            "stats": self._stats(stats),
            "calls": [_call(call) for call in calls],
        }
        return {name: value for name, value in row.items() if value}

    def _number(self, triple: Triple) -> int:
        return self._numbers.setdefault(triple, len(self._numbers))

    def _find_graph(self) -> TemporalGraph | None:
        return None if self._memory is None else self._memory.graph  # it may have been replaced

    def _changes(self) -> tuple[list[int], list[list[Any]]]:
        """Return what began and what ended since the last row."""
        graph = self._find_graph()
        if graph is None:
            return [], []
        if self._reported < 0 or self._reported > len(
            graph.events
        ):  # the first row: all that is known
            self._reported = len(graph.events)
            return [self._number(triple) for triple in graph.live()], []
        began: dict[int, None] = {}
        ended: dict[int, str] = {}
        for position in range(self._reported, len(graph.events)):
            _, triple, by, *_ = graph.events[position]
            number = self._number(triple)
            if not by:
                if ended.pop(number, None) is None:
                    began[number] = None
            elif number in began:
                del began[number]
            else:
                ended[number] = by
        self._reported = len(graph.events)
        return list(began), [[number, by] for number, by in ended.items()]

    def _stats(self, stats: MemoryStats | None) -> dict[str, float]:
        now = time.perf_counter()
        row: dict[str, float] = {"ms": round((now - self._clock) * 1e3, 2)}
        self._clock = now
        if stats is not None:
            for name in ("facts", "live_facts", "episodes", "lessons", "tokens"):
                row[name] = getattr(stats, name)
            row["update_ms"] = round(stats.update_ms, 3)
            row["recall_ms"] = round(stats.recall_ms, 3)
        return row


def _runs(reasons: Iterable[Reason]) -> list[list[Any]]:
    """Return reasons, each with how often it stands in a row."""
    return [
        [len(list(group)), why, score, list(path), *([note] if note else [])]
        for (why, score, path, note), group in groupby(reasons)
    ]


def _call(call: Call) -> dict[str, Any]:
    return {
        "role": call.role,
        "messages": list(call.messages),
        "answer": call.answer,
        "tokens": call.tokens._asdict(),
        "cost_usd": call.cost_usd,
        "hit": call.hit,
        "ms": round(call.seconds * 1e3, 1),
    }
