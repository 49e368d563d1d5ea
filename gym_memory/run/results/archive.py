"""Restore memories from files: their facts with times and sources, and their recall.

A file is a memory saved by :meth:`gym_memory.memory.base.Memory.save`, the recorded steps of an
episode (``steps/*.jsonl.gz`` of a run), which are replayed into a memory, or a durable store
(:mod:`gym_memory.memory.stores.store`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.files import open_file, read_json
from gym_memory.core.names import Spec
from gym_memory.core.records import Cue, Recall, Step, Task, Triple
from gym_memory.core.trajectory import read_trajectory
from gym_memory.core.trust import check_bare
from gym_memory.graph.facts import Fact, Source
from gym_memory.memory.base import MEMORIES, Memory, make_memory
from gym_memory.memory.stores.episodes import EpisodeStore
from gym_memory.memory.stores.store import is_url
from gym_memory.wrappers.memory import DEFAULT_MEMORY

__all__ = ["FactRecord", "Quotation", "RestoredMemory", "fact_records", "file_kind", "open_memory"]

_CONTEXT_CHARS = 30
"""Characters of context on each side of a quotation."""

FileKind = Literal["memory", "steps", "store"]


class Quotation(NamedTuple):
    """A place where a fact was stated.

    ``words`` is empty if it follows from the action or the inventory; guillemets mark the words in
    ``context``. ``said_by`` names the text or speaker, if not the game itself.
    """

    step: int
    words: str
    context: str
    said_by: str = ""


class FactRecord(NamedTuple):
    """A fact in a memory, with the steps ``[from, to)`` of each interval in which it was believed.

    While the memory still believes it, ``to`` is None and ``ended_by`` is empty.
    """

    fact: Triple
    intervals: tuple[tuple[int, int | None], ...]
    ended_by: str
    evidence: tuple[Quotation, ...]

    @property
    def live(self) -> bool:
        """True if the memory believes the fact now."""
        return not self.ended_by

    def to_json(self) -> dict[str, Any]:
        """Return a flat record."""
        return {
            **self.fact._asdict(),
            "live": self.live,
            "intervals": [list(pair) for pair in self.intervals],
            "ended_by": self.ended_by,
            "evidence": [entry._asdict() for entry in self.evidence],
        }


class RestoredMemory(NamedTuple):
    """A restored memory, with the last task and the last steps in its file."""

    memory: Memory
    task: Task
    steps: tuple[Step, ...]

    def recall(self, budget: int, focus: str = "") -> Recall:
        """Return the memory's recall in the last situation that it saw."""
        last = self.steps[-1] if self.steps else Step(0, "")
        cue = Cue(last.text, self.task.goal, last.inventory, last.valid_actions, focus)
        return self.memory.recall(cue, budget)


def file_kind(path: str | os.PathLike[str]) -> FileKind:
    """Return the kind of a file, or of the URL of a server; a missing file is a StoreError."""
    if is_url(path):
        return "store"
    try:
        with open_file(path) as file:
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
) -> RestoredMemory:
    """Restore a memory from a file or recorded steps: its last state, or that after step ``as_of``.

    ``spec`` defaults to the saved memory's name, or to ``arigraph`` for recorded steps. ``episode``
    is the last recorded episode to replay. A saved memory can go back only if it keeps its
    observations.
    """
    if file_kind(path) == "steps":
        return _restored_from_steps(path, spec or DEFAULT_MEMORY, episode, as_of)
    if episode is not None:
        raise InvalidArgumentError("expected --episode with recorded steps, got a saved memory")
    name, task = _heading(path)
    if spec and Spec(spec).name != name:
        raise InvalidArgumentError(f"expected memory {name!r}, which the file holds, got {spec!r}")
    memory = make_memory(spec or name)
    memory.load(path)
    steps = _observations(memory)
    if as_of is None:
        return RestoredMemory(memory, task, steps)
    until = tuple(step for step in steps if step.t <= as_of)
    if not until:
        raise InvalidArgumentError(
            f"expected a memory that keeps its observations from step {as_of} on, got {name!r}, "
            "which does not: use the recorded steps of its run (steps/*.jsonl.gz) instead"
        )
    again = make_memory(spec or name)
    return RestoredMemory(again, task, _replay_into(again, task, until))


def _heading(path: str | os.PathLike[str]) -> tuple[str, Task]:
    """Return the name and the task of a saved memory."""
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
    """Return the observations that a memory keeps, with their steps."""
    store = getattr(memory, "store", None)
    if not isinstance(store, EpisodeStore):
        return ()
    return tuple(Step(episode.t, episode.text, episode.action) for episode in store)


def _restored_from_steps(
    path: str | os.PathLike[str], spec: str, episode: int | None, as_of: int | None
) -> RestoredMemory:
    """Replay the recorded episodes up to one of them into a new memory."""
    episodes = list(read_trajectory(path))
    numbers = [trajectory.episode for trajectory in episodes]
    last = episode if episode is not None else numbers[-1] if numbers else 0
    if last not in numbers:
        raise InvalidArgumentError(f"expected an episode of the file ({numbers}), got {last}")
    memory = make_memory(spec)
    if memory.uses_oracle:
        raise InvalidArgumentError(
            f"expected a memory that learns from observations, got {memory.name!r}: recorded "
            "steps contain no engine facts"
        )
    for trajectory in episodes:
        steps = trajectory.steps
        if trajectory.episode == last:
            break
        _replay_into(memory, trajectory.task, steps)
        memory.end(trajectory.outcome)
    if as_of is not None:
        steps = tuple(step for step in steps if step.t <= as_of)
        if not steps:
            raise InvalidArgumentError(f"expected a step >= 0, got {as_of}")
    return RestoredMemory(memory, trajectory.task, _replay_into(memory, trajectory.task, steps))


def _replay_into(memory: Memory, task: Task, steps: Iterable[Step]) -> tuple[Step, ...]:
    """Replay steps into a memory; return them as it saw them."""
    memory.begin(task, None)
    admitted = tuple(memory.admit(step, task.goal) for step in steps)
    for step in admitted:
        memory.observe(step)
    return admitted


def fact_records(memory: Memory) -> list[FactRecord]:
    """Return all facts that a memory ever believed, in the order in which it learned them."""
    graph = memory.graph
    if graph is None:
        raise InvalidArgumentError(
            f"expected a memory that keeps a graph, such as 'arigraph', got {memory.name!r}"
        )
    observations = _observations(memory)
    return [_record(fact, observations) for fact in graph.facts()]


def _record(fact: Fact, observations: Sequence[Step]) -> FactRecord:
    evidence = tuple(
        _quoted(observations[source.episode], source)
        for source in fact.sources
        if 0 <= source.episode < len(observations)
    )
    return FactRecord(fact.triple, tuple(fact.intervals), fact.retired_by, evidence)


def _quoted(step: Step, source: Source) -> Quotation:
    if source.start < 0:
        return Quotation(step.t, "", "", source.said_by)
    text, words = step.text, step.text[source.start : source.end]
    before, after = text[: source.start].rpartition("\n")[2], text[source.end :].partition("\n")[0]
    context = f"{before[-_CONTEXT_CHARS:]}«{words}»{after[:_CONTEXT_CHARS]}"
    return Quotation(step.t, words, " ".join(context.split()), source.said_by)
