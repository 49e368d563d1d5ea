"""The memory protocol: what every memory of the suite offers, and nothing of how.

A memory learns only through :meth:`Memory.observe`, from what the agent saw. The
``MemoryObservation`` wrapper owns it and calls, in this order::

    begin(task, seed)  observe(step 0)  recall(cue)  [observe(step) recall(cue)]...  end(outcome)
"""

from __future__ import annotations

import copy
import json
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar, Literal

from gym_memory.core.errors import InvalidArgumentError, StoreError, other_format
from gym_memory.core.files import read_json, write_atomic
from gym_memory.core.html import cut, table, text
from gym_memory.core.records import Cue, MemoryStats, Oracle, Outcome, Reasons, Recall, Step, Task

__all__ = ["Lifetime", "Memory"]

Lifetime = Literal["step", "episode", "trial", "task", "forever"]
"""How long a layer of memory lives.

``step``: replaced at every step. ``episode``: cleared at reset. ``trial``: kept over repeated
trials of one task instance, cleared when the instance changes. ``task``: kept while the goal
stays the same. ``forever``: kept until it is deleted.
"""

_FORMAT = 1
_SHOWN = 200
"""Facts that a notebook shows."""


class Memory(ABC):
    """Base of all memories.

    A subclass sets ``name``, takes plain keyword arguments, and keeps its whole state reachable
    through :meth:`state` and :meth:`load_state`; snapshots, forks and files follow from these two.
    """

    name: ClassVar[str] = ""
    lifetimes: ClassVar[dict[str, Lifetime]] = {}
    """Lifetime of each layer, e.g. ``{"graph": "episode", "lessons": "forever"}``."""
    oracle: Callable[[], Oracle] | None = None
    """Engine facts; set by the wrapper only where ``uses_oracle`` is True."""
    uses_oracle: ClassVar[bool] = False
    keeps_budget: bool = True
    """Whether recalls stay within their budget; a whole transcript does not."""

    @abstractmethod
    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode; clears the layers whose lifetime is over.

        Args:
            task: The task instance.
            seed: Seed for the memory's own tie-breaks; no other source of chance is used.
        """

    @abstractmethod
    def observe(self, step: Step) -> None:
        """Learn from one environment step, the reset observation (``t`` 0) included."""

    @abstractmethod
    def recall(self, cue: Cue, budget: int) -> Recall:
        """What matters now, rendered within ``budget`` tokens (see :mod:`gym_memory.core.tokens`).

        Only a memory whose ``keeps_budget`` is False may recall more.

        Must not change what later calls answer: recalling twice gives the same.
        """

    def reasons(self, cue: Cue, budget: int) -> Reasons:
        """Why :meth:`recall` shows what it shows for a cue, for a person who looks at it.

        A memory that does not say gives no reasons. To be asked right after that recall.
        """
        return Reasons()

    def end(self, outcome: Outcome) -> None:  # noqa: B027 - most memories do nothing here
        """Close the episode; memories that learn over trials learn here."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """The whole state as JSON-able values; equal states give equal JSON text."""

    @abstractmethod
    def load_state(self, state: dict[str, Any]) -> None:
        """Replace the whole state by one that :meth:`state` returned.

        Objects of its own are replaced, not changed: a fork shares them until then.
        """

    def snapshot(self) -> Any:
        """An opaque copy of the state for :meth:`restore`; later steps do not change it."""
        return copy.deepcopy(self.state())

    def restore(self, snapshot: Any) -> None:
        """Return to a state taken by :meth:`snapshot`; the snapshot may be restored again."""
        self.load_state(copy.deepcopy(snapshot))

    def fork(self) -> Memory:
        """An independent copy, e.g. for a branch of a tree search."""
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | dict | set | deque):  # may be filled anew in place
                setattr(twin, name, copy.copy(value))
        twin.load_state(copy.deepcopy(self.state()))
        return twin

    def stats(self) -> MemoryStats:
        """Sizes and counters; the wrapper fills in the times."""
        return MemoryStats()

    def _repr_html_(self) -> str:
        """A notebook shows what the memory holds, and its facts where it keeps a graph."""
        told = [
            f"{getattr(self.stats(), name)} {name.replace('_', ' ')}"
            for name in ("facts", "live_facts", "episodes", "lessons")
            if getattr(self.stats(), name)
        ]
        head = f"memory {self.name}: {', '.join(told) or 'nothing yet'}"
        graph = getattr(self, "graph", None)
        if graph is None:
            return f"<p>{text(head)}</p>"
        facts = [tuple(cut(part, 200) for part in triple) for triple in graph.live()]
        if len(facts) > _SHOWN:
            head += f"; the first {_SHOWN} of {len(facts)} that hold"
        return table(("subject", "relation", "object"), facts[:_SHOWN], caption=head)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state as JSON, atomically.

        Raises:
            StoreError: The file cannot be written there.
        """
        record = {"format": _FORMAT, "memory": self.name, "state": self.state()}
        try:
            write_atomic(path, json.dumps(record))
        except OSError as error:
            raise StoreError(f"cannot write a memory to {os.fspath(path)!r}: {error}") from error

    def load(self, path: str | os.PathLike[str]) -> None:
        """Read a state written by :meth:`save`; on an error the memory stays as it was.

        Raises:
            StoreError: The file is not such a state, or is one of another memory.
        """
        try:
            record = read_json(path)
            found, version, state = record["memory"], record["format"], record["state"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"expected a memory saved by gym-memory at {os.fspath(path)!r}: {error}"
            ) from error
        if version != _FORMAT:
            raise StoreError(other_format("a memory", record, _FORMAT, os.fspath(path)))
        if found != self.name:
            raise StoreError(
                f"expected memory {self.name!r} at {os.fspath(path)!r}, got {found!r:.80}"
            )
        before = self.snapshot()
        try:
            _check_shape(state, self.state())
            self.load_state(state)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            self.restore(before)
            raise StoreError(
                f"expected the state of memory {self.name!r} at {os.fspath(path)!r}, got "
                f"something else: {type(error).__name__}: {error}"
            ) from error


def _check_shape(state: Any, own: Any) -> None:
    """Refuse a state whose outermost parts are of other kinds than this memory's own."""
    for name, value in own.items():
        found = state[name]
        number = isinstance(value, int | float) and isinstance(found, int | float)
        if value is not None and not number and type(found) is not type(value):
            raise TypeError(f"expected {name!r} as {type(value).__name__}, got {found!r:.80}")


def check_budget(budget: int) -> int:
    """Return ``budget`` if it is a number of tokens.

    Raises:
        InvalidArgumentError: It is not an int >= 0.
    """
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 0:
        raise InvalidArgumentError(f"expected a token budget (int >= 0), got {budget!r}")
    return budget
