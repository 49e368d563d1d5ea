"""Memories at rest: what a file knows, since when and from which text, and what it would recall.

Two kinds of files give a memory: one saved by :meth:`gym_memory.memory.base.Memory.save`, and the
recorded steps of an episode (``steps/*.jsonl.gz`` of a run), from which any memory is taught
again, for the same steps always make the same memory. A third kind, a durable store
(:mod:`gym_memory.memory.stores.store`), holds what outlives episodes; it is read as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.files import read_json
from gym_memory.core.names import parse_spec
from gym_memory.core.records import Cue, Recall, Step, Task, Triple
from gym_memory.core.trajectory import read_trajectory
from gym_memory.core.trust import check_bare
from gym_memory.graph.facts import Fact
from gym_memory.memory.base import MEMORIES, Memory, make_memory
from gym_memory.memory.stores.episodes import EpisodeStore
from gym_memory.memory.stores.store import is_url
from gym_memory.wrappers.memory import DEFAULT_MEMORY

__all__ = ["Evidence", "FactRecord", "Opened", "fact_records", "file_kind", "open_memory"]

_AROUND = 30
"""Characters shown on either side of a quotation."""

FileKind = Literal["memory", "steps", "store"]


class Evidence(NamedTuple):
    """Where a fact was stated.

    Attributes:
        step: Environment step, on the clock of the memory.
        words: The words that say so; empty where it follows from the action or the inventory.
        context: What stands around them, with the words in guillemets.
    """

    step: int
    words: str
    context: str


class FactRecord(NamedTuple):
    """A fact as the memory holds it.

    Attributes:
        fact: Subject, relation, object.
        intervals: Steps ``[from, to)`` in which it was held to be true; ``to`` None: it still is.
        ended_by: Who ended it; empty while it is true.
        evidence: All observations that stated it.
    """

    fact: Triple
    intervals: tuple[tuple[int, int | None], ...]
    ended_by: str
    evidence: tuple[Evidence, ...]

    @property
    def live(self) -> bool:
        """Whether it is held to be true now."""
        return not self.ended_by

    def holds_at(self, t: int) -> bool:
        """Whether it was held to be true at the end of step ``t``."""
        return any(start <= t and (end is None or t < end) for start, end in self.intervals)

    def to_json(self) -> dict[str, Any]:
        """A flat record."""
        return {
            **self.fact._asdict(),
            "live": self.live,
            "intervals": [list(pair) for pair in self.intervals],
            "ended_by": self.ended_by,
            "evidence": [entry._asdict() for entry in self.evidence],
        }


class Opened(NamedTuple):
    """A memory that was brought back.

    Attributes:
        memory: The memory.
        task: The task of its last episode, as far as the file tells.
        steps: What it saw last, as far as the file tells; the last one is the present.
    """

    memory: Memory
    task: Task
    steps: tuple[Step, ...]

    def recall(self, budget: int, focus: str = "") -> Recall:
        """What it recalls in the last situation that it saw."""
        last = self.steps[-1] if self.steps else Step(0, "")
        cue = Cue(last.text, self.task.goal, last.inventory, last.valid_actions, focus)
        return self.memory.recall(cue, budget)


def file_kind(path: str | os.PathLike[str]) -> FileKind:
    """What a file, or the URL of a server, holds.

    Raises:
        StoreError: There is no such file.
    """
    if is_url(path):
        return "store"
    try:
        with open(path, "rb") as file:
            head = file.read(16)
    except IsADirectoryError as error:
        raise StoreError(
            f"expected one file, got the folder {os.fspath(path)!r}. The recorded steps of a run "
            "are steps/CONFIG-seedN.jsonl.gz in its folder; its episodes.jsonl has the 'config' "
            "of each environment, memory and policy"
        ) from error
    except OSError as error:
        raise StoreError(f"cannot read {os.fspath(path)!r}: {error.strerror}") from error
    if head.startswith(b"SQLite format 3"):
        return "store"
    return "steps" if head.startswith(b"\x1f\x8b") else "memory"


def open_memory(
    path: str | os.PathLike[str],
    spec: str = "",
    *,
    episode: int | None = None,
    as_of: int | None = None,
) -> Opened:
    """Bring a memory back, as it is at the end or as it was after some step.

    Args:
        path: A saved memory, or recorded steps.
        spec: Name of the memory with parameters. Default: the saved one's name; ``arigraph``
            for recorded steps.
        episode: For recorded steps: the episode to go up to; the last one by default.
        as_of: Step after which to stop. A saved memory can go back only if it keeps its
            observations.

    Raises:
        StoreError: The file is of another kind or damaged.
        UntrustedError: It names no memory, or one with parameters.
        ResultsError: The recorded steps cannot be read.
        InvalidArgumentError: What is asked for is not in the file.
    """
    if file_kind(path) == "steps":
        return _taught(path, spec or DEFAULT_MEMORY, episode, as_of)
    if episode is not None:
        raise InvalidArgumentError("expected --episode with recorded steps, got a saved memory")
    name, task = _heading(path)
    if spec and parse_spec(spec).name != name:
        raise InvalidArgumentError(f"expected memory {name!r}, which the file holds, got {spec!r}")
    memory = make_memory(spec or name)
    memory.load(path)
    steps = _observations(memory)
    if as_of is None:
        return Opened(memory, task, steps)
    until = tuple(step for step in steps if step.t <= as_of)
    if not until:
        raise InvalidArgumentError(
            f"expected a memory that keeps its observations from step {as_of} on, got {name!r}, "
            "which does not: use the recorded steps of its run (steps/*.jsonl.gz) instead"
        )
    again = make_memory(spec or name)
    _teach(again, task, until)
    return Opened(again, task, until)


def _heading(path: str | os.PathLike[str]) -> tuple[str, Task]:
    """Name and task of a saved memory."""
    try:
        record = read_json(path)
        name, task = record["memory"], record["state"].get("task")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f"expected a saved memory, a store or recorded steps at {os.fspath(path)!r}: {error!r}"
        ) from error
    name = check_bare(MEMORIES, name, "a saved memory", repr(os.fspath(path)))
    texts = isinstance(task, list) and all(isinstance(part, str) for part in task)
    known = texts and len(task) == len(Task._fields)
    return name, Task(*task) if known else Task("", "")


def _observations(memory: Memory) -> tuple[Step, ...]:
    """The observations that a memory keeps with their steps."""
    store = getattr(memory, "store", None)
    if not isinstance(store, EpisodeStore):
        return ()
    return tuple(Step(episode.t, episode.text, episode.action) for episode in store)


def _taught(
    path: str | os.PathLike[str], spec: str, episode: int | None, as_of: int | None
) -> Opened:
    """A memory that saw the recorded episodes up to one of them."""
    episodes = list(read_trajectory(path))
    numbers = [trajectory.episode for trajectory in episodes]
    last = episode if episode is not None else numbers[-1] if numbers else 0
    if last not in numbers:
        raise InvalidArgumentError(f"expected an episode of the file ({numbers}), got {last}")
    memory = make_memory(spec)
    if memory.uses_oracle:
        raise InvalidArgumentError(
            f"expected a memory that learns from what was seen, got {memory.name!r}: recorded "
            "steps hold no engine facts"
        )
    for trajectory in episodes:
        steps = trajectory.steps
        if trajectory.episode == last:
            break
        _teach(memory, trajectory.task, steps)
        memory.end(trajectory.outcome)
    if as_of is not None:
        steps = tuple(step for step in steps if step.t <= as_of)
        if not steps:
            raise InvalidArgumentError(f"expected a step >= 0, got {as_of}")
    _teach(memory, trajectory.task, steps)
    return Opened(memory, trajectory.task, steps)


def _teach(memory: Memory, task: Task, steps: Iterable[Step]) -> None:
    memory.begin(task, None)
    for step in steps:
        memory.observe(step)


def fact_records(memory: Memory) -> list[FactRecord]:
    """All facts that a memory ever held, in the order in which it learnt them.

    Raises:
        InvalidArgumentError: The memory keeps no graph.
    """
    graph = memory.graph
    if graph is None:
        raise InvalidArgumentError(
            f"expected a memory that keeps a graph, such as 'arigraph', got {memory.name!r}"
        )
    return [_record(fact, _observations(memory)) for fact in graph.facts()]


def _record(fact: Fact, observations: Sequence[Step]) -> FactRecord:
    evidence = []
    for source in fact.sources:
        if 0 <= source.episode < len(observations):
            step = observations[source.episode]
            evidence.append(_quoted(step, source.start, source.end))
    return FactRecord(fact.triple, tuple(fact.intervals), fact.retired_by, tuple(evidence))


def _quoted(step: Step, start: int, end: int) -> Evidence:
    if start < 0:
        return Evidence(step.t, "", "")
    text, words = step.text, step.text[start:end]
    before, after = text[:start].rpartition("\n")[2], text[end:].partition("\n")[0]
    context = f"{before[-_AROUND:]}«{words}»{after[:_AROUND]}"
    return Evidence(step.t, words, " ".join(context.split()))
