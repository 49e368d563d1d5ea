"""Memory protocol, and the table of memories that ``memory=`` takes everywhere.

A memory learns only through :meth:`Memory.observe`. The ``MemoryObservation`` wrapper calls::

    begin(task, seed)  observe(step 0)  recall(cue)  [observe(step) recall(cue)]...  end(outcome)
"""

from __future__ import annotations

import copy
import functools
import inspect
import json
import os
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from gym_memory.core import components
from gym_memory.core.errors import InvalidArgumentError, StoreError, defined_at, other_format
from gym_memory.core.files import read_json, seal, write_atomic
from gym_memory.core.names import Registry, Spec
from gym_memory.core.records import (
    Cue,
    MemoryStats,
    OperationResult,
    Oracle,
    Outcome,
    Reasons,
    Recall,
    Step,
    Task,
    Triple,
)
from gym_memory.core.settings import Help, Settings, make_settings
from gym_memory.core.text import split_reward, with_reward
from gym_memory.core.tokens import CHARS_PER_TOKEN, count_tokens, truncate_tokens
from gym_memory.draw.page import memory_table
from gym_memory.graph import TemporalGraph
from gym_memory.memory.reading import quoted

__all__ = ["CHARS_PER_TOKEN", "MEMORIES", "Lifetime", "Memory", "SharedSettings", "check_budget"]
__all__ += ["count_tokens", "is_over", "make_memory", "truncate_tokens", "unbounded_recall"]

Lifetime = Literal["step", "episode", "trial", "task", "forever"]
"""Lifetime of a layer of memory.

``step``: replaced at every step. ``episode``: cleared at reset. ``trial``: kept over repeated
trials of one task instance, cleared when the instance changes. ``task``: kept while the goal
stays the same. ``forever``: kept until it is deleted.
"""

MEMORIES = Registry(
    "memory",
    "gym_memory.memories",
    components.MEMORIES,
    packages={
        "belief": "pip install ./packages/belief",
        "mem0": "pip install './packages/external[mem0]'",
        "graphiti": "pip install './packages/external[graphiti]'",
        "langmem": "pip install './packages/external[langmem]'",
        "amem_package": "pip install './packages/external[amem]'",
    },
)
"""Memories by name; other packages add theirs by the entry-point group."""

_FORMAT = 1

Trust = Literal["all", "seen"]
Rewards = Literal["shown", "hidden"]


@dataclass(frozen=True)
class SharedSettings(Settings):
    """Settings that every memory takes in addition to its own."""

    trust: Annotated[
        Trust,
        Help(
            "Words to learn from: all, or those of texts that the goal names, such as a cookbook; "
            "of any text if it names none."
        ),
    ] = "all"
    rewards: Annotated[
        Rewards,
        Help(
            "Whether the memory sees what a step earned: shown ends the step's text with it, as in "
            "(+1); hidden gives it a reward of 0."
        ),
    ] = "shown"


class Memory(ABC):
    """Base of all memories.

    A subclass sets ``name``, takes plain keyword arguments, and keeps its whole state reachable
    through :meth:`state` and :meth:`load_state`; snapshots, forks and files follow from these two.
    """

    name: ClassVar[str] = ""
    lifetimes: Mapping[str, Lifetime] = {}
    """Lifetime of each layer, e.g. ``{"graph": "episode", "lessons": "forever"}``.

    Set by the class, or by its constructor if it depends on a setting.
    """
    graph: TemporalGraph | None = None
    """Return the graph of facts for wrappers, viewer and scores; None without one."""
    oracle: Callable[[], Oracle] | None = None
    """Engine facts; set by the wrapper only if ``uses_oracle`` is True."""
    uses_oracle: ClassVar[bool] = False
    keeps_budget: bool = True
    """True if recalls stay within their budget, unlike a whole transcript."""
    over_budget: int = 0
    """Number of recalls shown empty so far, because they exceeded every budget that they got."""
    operations: tuple[str, ...] = ()
    """Forms of the texts that :meth:`write` accepts, shown to the policy; e.g. ``note: TEXT``."""
    trust: Trust = "all"
    """See :class:`SharedSettings`; a memory around others takes over their values."""
    rewards: Rewards = "shown"
    """See :class:`SharedSettings`."""

    _room = sys.maxsize
    """Budget of the last recall, reduced so that its text fits into the caller's."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Limit every recall to its budget, in any script, and reasons to the same items."""
        super().__init_subclass__(**kwargs)
        for name, hold in (("recall", _within_budget), ("reasons", _as_recalled)):
            if name in vars(cls):
                setattr(cls, name, hold(vars(cls)[name]))

    @abstractmethod
    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode; clear layers whose lifetime is over; ``seed`` breaks ties."""

    def admit(self, step: Step, goal: str) -> Step:
        """Return a step as the memory may see it: no text of the game looks like its own records.

        The text ends with the reward, if any; with ``rewards="hidden"`` the step has none. With
        ``trust="seen"``, untrusted words are left out.
        """
        text, shown = split_reward(step.text)
        if not shown or shown != step.reward:  # unless the step was admitted by a remote memory
            text = step.text
        step = step._replace(text=quoted(text), inventory=quoted(step.inventory))
        if self.trust == "seen":
            from gym_memory.extract.draft import without_words  # a tenth of the time of `list`

            step = without_words(step, goal)
        if not step.reward:
            return step
        reward = step.reward if self.rewards == "shown" else 0.0
        return step._replace(text=with_reward(step.text, reward), reward=reward)

    def share_settings(self, *inner: Memory) -> None:
        """Adopt the strictest value of each shared setting of the inner memories."""
        self.trust = max(memory.trust for memory in inner)
        self.rewards = min(memory.rewards for memory in inner)

    @abstractmethod
    def observe(self, step: Step) -> None:
        """Learn from one environment step, the reset observation (``t`` 0) included.

        Callers pass a step of a game through :meth:`admit` before.
        """

    @abstractmethod
    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return what matters now within ``budget`` tokens, equal if called twice.

        Only a memory whose ``keeps_budget`` is False may recall more.
        """

    def reasons(self, cue: Cue, budget: int) -> Reasons:
        """Explain to a person what :meth:`recall` shows for a cue; call it right after."""
        return Reasons()

    def write(self, operation: str) -> OperationResult | None:
        """Change or search the memory by a text of the policy; None if it is no operation."""
        return None

    def end(self, outcome: Outcome) -> None:  # noqa: B027 - most memories do nothing here
        """Close the episode; memories that learn over trials learn here."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the whole state as JSON values; equal states give equal JSON text."""

    @abstractmethod
    def load_state(self, state: dict[str, Any]) -> None:
        """Replace the whole state; build new objects, because forks share the old ones."""

    @property
    def exact(self) -> bool:
        """True if replays credit its items, which only a memory of experience may use."""
        return False

    def snapshot(self) -> Any:
        """Return an opaque copy of the state for :meth:`restore`."""
        return copy.deepcopy(self.state())

    def restore(self, snapshot: Any) -> None:
        """Return to a state taken by :meth:`snapshot`, any number of times."""
        self.load_state(copy.deepcopy(snapshot))

    def fork(self) -> Memory:
        """Return an independent copy, e.g. for a branch of a tree search."""
        twin = self._twin()
        twin.load_state(copy.deepcopy(self.state()))
        return twin

    def _twin(self) -> Self:
        """Return a copy with its own containers; their items and other objects are shared."""
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | dict | set | deque):  # may be modified in place
                setattr(twin, name, copy.copy(value))
        return twin

    def stats(self) -> MemoryStats:
        """Return sizes and counters; the wrapper fills in tokens and times."""
        return MemoryStats()

    def _repr_html_(self) -> str:
        """Return the memory's content as HTML, for a notebook."""
        facts = list(self.graph.live()) if self.graph is not None else None
        return memory_table(self.name, self.stats(), facts)

    def state_as_json(self) -> str:
        """Return the state as JSON text; raises InvalidArgumentError if it is none."""
        try:
            return json.dumps(self.state(), allow_nan=False)
        except (RecursionError, TypeError, ValueError) as error:
            raise InvalidArgumentError(
                f"expected {type(self).__name__}.state to return lists, dicts, numbers and text, "
                f"as JSON has them: {error}{defined_at('state', self.state)}"
            ) from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state as JSON, atomically; StoreError if the file cannot be written."""
        head = json.dumps({"format": _FORMAT, "memory": self.name})
        try:
            write_atomic(path, seal(f'{head[:-1]}, "state": {self.state_as_json()}}}'))
        except OSError as error:
            raise StoreError(f"cannot write a memory to {os.fspath(path)!r}: {error}") from error

    def load(self, path: str | os.PathLike[str]) -> None:
        """Read a state written by :meth:`save`; raises StoreError and then stays as it was."""
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
        except _WRONG_STATE as error:
            self.restore(before)
            raise StoreError(
                f"expected the state of memory {self.name!r} at {os.fspath(path)!r}, got "
                f"something else: {type(error).__name__}: {error}"
            ) from error


_WRONG_STATE = (
    ArithmeticError, AttributeError, LookupError, RecursionError, StoreError, TypeError, ValueError,
)  # fmt: skip
"""Errors of :meth:`Memory.load_state` that mean a state of something else."""


def _within_budget(recall: Callable[[Any, Cue, int], Recall]) -> Callable[[Any, Cue, int], Recall]:
    """Return a recall that is repeated with less room while its text exceeds the budget.

    Memories count four characters per token; a text in another script needs more tokens.
    """

    @functools.wraps(recall)
    def held(self: Memory, cue: Cue, budget: int) -> Recall:
        room, found = budget, _shaped(self, recall(self, cue, budget))
        size = count_tokens(found.text) if self.keeps_budget else 0
        while size > budget and room > 0:
            room = max(min(room - 1, room * budget // size), 0)
            found = _shaped(self, recall(self, cue, room))
            size = count_tokens(found.text)
        self._room = room
        if size <= max(budget, 0) or not self.keeps_budget:
            return found
        self.over_budget += 1
        return Recall()

    return held


def _shaped(memory: Memory, found: Any) -> Recall:
    """Return a recall with tuples for lists; refuse any other value."""
    if not isinstance(found, Recall) or not _are_texts((found.text,)) or not _has_parts(found):
        raise InvalidArgumentError(
            f"expected {type(memory).__name__}.recall to return a Recall with its text, "
            f"got {found!r:.60}: return Recall(text=..., triples=(), episodes=(), lessons=())"
            ", with text everywhere and three texts a triple"
        )
    triples = tuple(one if type(one) is Triple else Triple(*one) for one in found.triples)
    return Recall(found.text, triples, tuple(found.episodes), tuple(found.lessons))


def _has_parts(recall: Recall) -> bool:
    if not isinstance(recall.triples, tuple | list):
        return False
    others = [triple for triple in recall.triples if type(triple) is not Triple]
    triples = all(_are_texts(triple) and len(triple) == 3 for triple in others)
    return triples and _are_texts(recall.episodes) and _are_texts(recall.lessons)


def _are_texts(items: Any) -> bool:
    if not isinstance(items, tuple | list):
        return False
    return all(issubclass(kind, str) for kind in set(map(type, items)))


def unbounded_recall(memory: Memory, cue: Cue, budget: int) -> Recall:
    """Return a memory's own recall in the room that :meth:`Memory.recall` left it.

    Call it right after. Only a memory that ignores the budget exceeds it here.
    """
    recall = inspect.unwrap(type(memory).recall)
    return _shaped(memory, recall(memory, cue, min(budget, memory._room)))


def _as_recalled(reasons: Callable[[Any, Cue, int], Reasons]) -> Callable[[Any, Cue, int], Reasons]:
    @functools.wraps(reasons)
    def held(self: Memory, cue: Cue, budget: int) -> Reasons:
        return reasons(self, cue, min(budget, self._room))

    return held


def _check_shape(state: Any, own: Any) -> None:
    """Refuse a state whose top-level parts have other types than this memory's own."""
    for name, value in own.items():
        found = state[name]
        number = isinstance(value, int | float) and isinstance(found, int | float)
        if value is not None and not number and type(found) is not type(value):
            raise TypeError(f"expected {name!r} as {type(value).__name__}, got {found!r:.80}")


def is_over(lifetime: Lifetime, last: Task, task: Task) -> bool:
    """True if a layer of this lifetime ends between the episodes ``last`` and ``task``."""
    same_goal = task.goal == last.goal
    kept = {"trial": same_goal and task.id == last.id, "task": same_goal, "forever": True}
    return not kept.get(lifetime, False)


def check_budget(budget: int) -> int:
    """Return ``budget`` if it is a number of tokens, an int >= 0."""
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 0:
        raise InvalidArgumentError(f"expected a token budget (int >= 0), got {budget!r}")
    return budget


def make_memory(spec: str | Memory, **more: Any) -> Memory:
    """Build a memory from a name with parameters; return a ready memory as it is.

    ``more`` are parameters that a name cannot express, such as a chat model.
    """
    if isinstance(spec, Memory):
        return spec
    name, kwargs = Spec(spec).parts
    kwargs |= more
    shared = {key: kwargs[key] for key in vars(SharedSettings()) if key in kwargs}
    make_settings(SharedSettings, shared)
    memory = MEMORIES.build(name, {k: v for k, v in kwargs.items() if k not in shared})
    if not isinstance(memory, Memory):
        raise InvalidArgumentError(
            f"expected {spec!r} as a subclass of gym_memory.memory.Memory, got {memory!r:.80}"
        )
    vars(memory).update(shared)
    return memory
