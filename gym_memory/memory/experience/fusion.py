"""Fusion: several memories in one observation, under one budget with declared shares."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Annotated, Any, ClassVar

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import (
    Cue,
    MemoryStats,
    OperationResult,
    Outcome,
    Reason,
    Reasons,
    Recall,
    Step,
    Task,
)
from gym_memory.core.settings import Help, checked
from gym_memory.graph import TemporalGraph
from gym_memory.memory.base import CHARS_PER_TOKEN, Memory, check_budget, make_memory
from gym_memory.memory.reading import read_head
from gym_memory.memory.roles.text import unmarked

__all__ = ["Fusion"]

_PLUS = re.compile(r"[+\s]+")


class Fusion(Memory):
    """Several memories one after another, each within its share of the budget.

    The rest of a part's share goes to the next part. A line, an entry of a transcript, a fact, an
    observation or a lesson that an earlier part shows is not shown again. The graph is that of the
    first part that keeps one.
    """

    name: ClassVar[str] = "fusion"

    @checked
    def __init__(
        self,
        *,
        of: Annotated[
            str, Help("Memories with their parameters, joined by ``+``.")
        ] = "arigraph+clin",
        shares: Annotated[
            str | float, Help("Shares of the budget, joined by ``+``; empty for equal ones.")
        ] = "",
    ):
        self._parts = [make_memory(name) for name in _PLUS.split(of) if name]
        if not self._parts or any(part.uses_oracle for part in self._parts):
            raise InvalidArgumentError(
                f"expected of as memories without engine facts, 'arigraph+clin', got {of!r}"
            )
        count = len(self._parts)
        try:
            numbers = [float(share) for share in _PLUS.split(str(shares)) if share]
        except ValueError:
            numbers = [-1.0]
        self._shares = numbers or [1 / count] * count
        if len(self._shares) != count or min(self._shares) < 0 or abs(sum(self._shares) - 1) > 1e-6:
            raise InvalidArgumentError(
                f"expected {count} shares >= 0 that sum to 1, such as '.6+.4', got {shares!r}"
            )
        self.lifetimes = {
            f"{number}.{part.name}.{layer}": lifetime
            for number, part in enumerate(self._parts, 1)
            for layer, lifetime in part.lifetimes.items()
        }
        self.keeps_budget = all(part.keeps_budget for part in self._parts)
        self.share_settings(*self._parts)
        self.operations = tuple(o for part in self._parts for o in part.operations)

    @property
    def graph(self) -> TemporalGraph | None:  # type: ignore[override]
        """Return the first graph of a part."""
        return next((part.graph for part in self._parts if part.graph is not None), None)

    def begin(self, task: Task, seed: int | None) -> None:
        """Begin an episode in every part."""
        for part in self._parts:
            part.begin(task, seed)

    def observe(self, step: Step) -> None:
        """Let every part learn."""
        for part in self._parts:
            part.observe(step)

    def write(self, operation: str) -> OperationResult | None:
        """Pass an operation to the first part that takes it."""
        return next((w for part in self._parts if (w := part.write(operation))), None)

    def end(self, outcome: Outcome) -> None:
        """Let every part learn over trials."""
        for part in self._parts:
            part.end(outcome)

    def recall_parts(self, cue: Cue, budget: int) -> Iterator[tuple[Memory, int, Recall]]:
        """Yield each part with its tokens and its recall."""
        whole = check_budget(budget) * CHARS_PER_TOKEN + 1  # the last line has no break
        given = share = 0.0
        for part, part_share in zip(self._parts, self._shares, strict=True):
            share += part_share
            tokens = max(int(share * whole + 1e-6) - int(given) - 1, 0) // CHARS_PER_TOKEN
            recall = part.recall(cue, tokens)
            given += len(recall.text) + 1 if recall.text else 0
            yield part, tokens, recall

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the recalls of the parts, without repetitions of an earlier one."""
        texts, shown = [], dict[tuple[str, str], None]()
        triples, episodes, lessons = dict[Any, None](), dict[str, None](), dict[str, str]()
        for _, _, recall in self.recall_parts(cue, budget):
            blocks = list(_blocks(recall.text)) if recall.text else []
            texts += [text for key, text in blocks if key not in shown]
            shown.update((key, None) for key, _ in blocks)
            triples.update(dict.fromkeys(recall.triples))
            episodes.update(dict.fromkeys(recall.episodes))
            for lesson in recall.lessons:
                lessons.setdefault(unmarked(lesson), lesson)
        text = "\n".join(texts)
        return Recall(text, tuple(triples), tuple(episodes), tuple(lessons.values()))

    def reasons(self, cue: Cue, budget: int) -> Reasons:
        """Return the reasons of the part that shows a fact or an observation first."""
        why: dict[str, dict[Any, Reason]] = {"triples": {}, "episodes": {}}
        for part, tokens, recall in self.recall_parts(cue, budget):
            reasons, usual = part.reasons(cue, tokens), Reason(f"recalled by {part.name}")
            for name, known in why.items():
                items, given = getattr(recall, name), getattr(reasons, name)
                for item, reason in zip_longest(items, given[: len(items)], fillvalue=usual):
                    known.setdefault(item, reason)
        return Reasons(*(tuple(known.values()) for known in why.values()))

    def state(self) -> dict[str, Any]:
        """Return the states of the parts."""
        return {"parts": [part.state() for part in self._parts]}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace the states of the parts."""
        for part, own in zip(self._parts, state["parts"], strict=True):
            part.load_state(own)

    def snapshot(self) -> Any:
        """Return the snapshots of the parts."""
        return [part.snapshot() for part in self._parts]

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot."""
        for part, own in zip(self._parts, snapshot, strict=True):
            part.restore(own)

    def fork(self) -> Memory:
        """Return an independent copy."""
        twin = copy.copy(self)
        twin._parts = [part.fork() for part in self._parts]
        return twin

    def stats(self) -> MemoryStats:
        """Return the sums over the parts, with the tokens of the whole recall."""
        parts = [part.stats() for part in self._parts]
        names = [field.name for field in dataclasses.fields(MemoryStats)]
        sums = {name: sum(getattr(stats, name) for stats in parts) for name in names}
        return MemoryStats(**sums)


def _blocks(text: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the lines of a text and, whole, the entries of a transcript, each after its key."""
    head, lines = "", list[str]()
    for line in [*text.split("\n"), None]:
        found = read_head(line) if line is not None else None
        if lines and (found or line is None or not head):
            key = "\n".join(lines[1:]) if head else unmarked(lines[0])
            yield (head if key else lines[0], key), "\n".join(lines)
            head, lines = "", []
        if line is not None:
            head = f"> {found.action}" if found else head
            lines.append(line)
