"""The long-term part of LDM2: formation, refinement, and the store that outlives a process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gym_memory.core.errors import StoreError
from gym_memory.core.records import Step, Task
from gym_memory.core.trajectory import Trajectory
from gym_memory.llm.base import ChatModel
from gym_memory.memory.encoders import Encoder, calibrated_threshold
from gym_memory.memory.ldm2.formation import (
    LONGEST,
    Historian,
    clipped,
    evaluate,
    examples_of,
    form,
    summarize,
)
from gym_memory.memory.ldm2.index import Addition, Entry, Library, Process
from gym_memory.memory.ldm2.records import ALIKE, SAME_SIGHT, EncodedTypes, NearestType
from gym_memory.memory.roles import (
    Classify,
    Cluster,
    Compare,
    LLMClassify,
    LLMCluster,
    LLMCompare,
    LLMEvaluateSubgoals,
    LLMSummarize,
    RoleCounts,
    role_counts,
    rules,
)
from gym_memory.memory.stores.store import Record, Store

__all__ = ["Bank", "recordings"]

_RECORDED = ".jsonl.gz"
_GZIP = b"\x1f\x8b"
_RECORD = ("ldm2", "library", "addition")


class Bank:
    """The library of tuples, and the roles that make and search it.

    Args:
        encoder: Encodes goals, observations and subgoals.
        model: A chat model that plays the roles; None for the rules.
        store: Keeps what is formed or learnt; None keeps it in this process.
        batch_size: Trajectories a batch memory, B.
        capacity: Number of tuples at which learning from episodes ends.

    Attributes:
        formed: Tuples that outlive a lifetime: formed from trajectories, or refined.
    """

    def __init__(
        self,
        encoder: Encoder,
        model: ChatModel | None,
        store: Store | None,
        batch_size: int,
        capacity: int,
    ):
        self.batch_size, self.capacity = batch_size, capacity
        self._related = calibrated_threshold(encoder)
        goals, sights = EncodedTypes(encoder, ALIKE), EncodedTypes(encoder, SAME_SIGHT)
        self.historian = Historian(
            LLMEvaluateSubgoals(model, evaluate) if model else evaluate,
            LLMSummarize(model, summarize, "past") if model else summarize,
        )
        self._goals: Cluster = LLMCluster(model, goals) if model else goals
        self._sights: Cluster = LLMCluster(model, sights) if model else sights
        self._classify: Classify | None = (
            LLMClassify(model, NearestType(encoder)) if model else None
        )
        self._compare: Compare = LLMCompare(model) if model else rules.compare
        self._store, self._stored = store, 0
        self.formed = self.library = Library(encoder)
        self.refresh()

    def form(self, trajectories: Iterable[Trajectory]) -> int:
        """Form batch memories from trajectories worth imitating; return the number of tuples."""
        before = len(self.library)
        first = max(self.library.batches, default=-1) + 1
        for addition in form(
            trajectories,
            self.historian,
            self._goals,
            self._sights,
            batch_size=self.batch_size,
            first_batch=first,
        ):
            self._keep(addition, lasting=True)
        return len(self.library) - before

    def learn(
        self,
        task: Task,
        steps: Sequence[Step],
        score: float,
        worse: Sequence[Step] | None = None,
        batch: int | None = None,
        *,
        lasting: bool = False,
    ) -> int:
        """Add the part of a process that made it better (Eq. 10); return the number of tuples.

        Args:
            task: The task of the process.
            steps: The process.
            score: Its score.
            worse: The process to compare with. None: the best process of its goal type, which it
                must beat; without one, all of it is added.
            batch: The batch memory to add to; None for the one with the nearest goal type.
            lasting: Whether it stays like what was formed.
        """
        steps = [clipped(step) for step in steps[:LONGEST]]
        if len(steps) < 2 or len(self.library) + len(steps) > self.capacity:
            return 0
        places = self.goal_types(task.goal, batch)
        nearest = max(places, key=lambda p: (p[0], -p[1]), default=(0.0, batch or 0, ""))
        near, number, kind = nearest
        kind = kind if near >= ALIKE else ""
        known = self.library.best(number, kind)
        if worse is None:
            if score <= (known.score if known else 0.0):
                return 0
            worse = known.steps if known else ()
        worse = [clipped(step) for step in worse[:LONGEST]]
        start = max(self._compare(steps, worse, task) - 1, 0) if worse else 0
        examples = examples_of(steps, task, self.historian, start)
        seen = [example.observation for example in examples]
        if kind:
            types = [self.observation_type(number, kind, text) for text in seen]
        else:  # a goal of a new type
            types, kind = self._sights(seen), self._goals([task.goal])[0]
        entries = tuple(map(Entry, [kind] * len(types), types, examples))
        best = known is None or score > known.score
        process = (Process(kind, score, tuple(steps)),) if best else ()
        self._keep(Addition(number, entries, process), lasting)
        return len(entries)

    def goal_types(self, goal: str, batch: int | None = None) -> list[tuple[float, int, str]]:
        """Return a goal's type in each batch memory, or in one: (cosine, batch, type).

        Batches without a related type are left out.
        """
        found = []
        for number in self.library.batches if batch is None else (batch,):
            kind, near = self.library.nearest_goal_type(number, goal)
            if near >= self._related:
                if self._classify:
                    kind = self._classify(goal, self.library.goal_types(number))
                found.append((near, number, kind))
        return found

    def _keep(self, addition: Addition, lasting: bool) -> None:
        self.library = self.library.extended([addition])
        if lasting:
            self.formed = self.formed.extended([addition])
        if self._store:
            self.refresh(self._store.add(*_RECORD, addition.to_json())[0])

    def refresh(self, own: int | None = None) -> None:
        """Load what this and other processes added to the store; skip record ``own``."""
        if self._store is None:
            return
        records: list[Record] = []
        while (count := self._store.namespaces().get(_RECORD, 0)) > self._stored + len(records):
            records = self._store.records(*_RECORD, last=count - self._stored)
        try:
            more = [Addition.from_json(r.payload) for r in records if r.seq != own]
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"expected tuples of LDM2 in {self._store.place!r}: {error!r}"
            ) from error
        self.library = self.library.extended(more)
        self._stored += len(records)

    def observation_type(self, batch: int, kind: str, text: str) -> str:
        """Return the observation type of what is seen, within a goal type."""
        if self._classify:
            return self._classify(text, self.library.observation_types(batch, kind))
        seen = self.library.encoder.encode([text])[0]
        return self.library.nearest_observation_type(batch, kind, seen)

    def counts(self) -> RoleCounts:
        """Return the calls of the language model, and those that the rules answered instead."""
        return role_counts(
            *self.historian, self._goals, self._sights, self._classify, self._compare
        )

    def snapshot(self) -> Any:
        """Return everything by reference: libraries never change."""
        return self.library, self.formed, self._stored

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot; what went into the store since then stays there."""
        self.library, self.formed, self._stored = snapshot

    def state(self) -> dict[str, Any]:
        """Return all tuples with their types, which of them were formed, and known records."""
        formed = {id(addition) for addition in self.formed.additions}
        additions = self.library.additions
        return {
            "tuples": [addition.to_json() for addition in additions],
            "formed": [at for at, addition in enumerate(additions) if id(addition) in formed],
            "stored": self._stored,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned; embeddings are made again."""
        tuples = [Addition.from_json(value) for value in state["tuples"]]
        empty = Library(self.library.encoder)
        formed = empty.extended(tuples[at] for at in state["formed"])
        self.restore((empty.extended(tuples), formed, int(state["stored"])))


def recordings(path: str) -> list[Path]:
    """Return the recorded files that a path stands for; none if it is to be a store."""
    place = Path(path)
    try:
        if path and place.is_dir():
            return sorted(place.glob(f"*{_RECORDED}"))
        if path.endswith(_RECORDED):  # one that does not exist is reported by the reader
            return [place]
        if path and place.is_file():
            with place.open("rb") as file:
                return [place] if file.read(2) == _GZIP else []
    except OSError as error:
        raise StoreError(f"cannot read tuples from {path!r}: {error}") from error
    return []
