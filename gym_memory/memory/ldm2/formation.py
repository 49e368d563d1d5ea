"""LDM2's long-term part: formation of tuples (3.2, Eqs. 1, 6 to 8), refinement, and the store."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import StoreError
from gym_memory.core.records import Step, Task
from gym_memory.core.text import compounds
from gym_memory.core.trajectory import Trajectory
from gym_memory.extract import get_extractor
from gym_memory.llm.base import ChatModel
from gym_memory.memory.encoders import Encoder, calibrated_threshold
from gym_memory.memory.ldm2.index import (
    ALIKE,
    SAME_SIGHT,
    Addition,
    EncodedTypes,
    Example,
    IndexedExample,
    Library,
    NearestType,
    Process,
)
from gym_memory.memory.roles.base import EvaluateSubgoals, Subgoal, Summarize, compare
from gym_memory.memory.roles.llm import RoleCounts, role_counts
from gym_memory.memory.roles.llm_lessons import (
    LLMClassify,
    LLMCluster,
    LLMCompare,
    LLMEvaluateSubgoals,
    LLMSummarize,
)
from gym_memory.memory.stores.store import Record, Store

__all__ = ["LONGEST", "Historian", "TupleBank", "choose", "clipped", "evaluate", "examples_of"]
__all__ += ["recordings", "summarize"]

LONGEST = 512
"""Steps of a process that are looked at; older ones are forgotten."""
_TEXT_CHARS = 32_000
"""Most characters of a text: more than pages have, so that an untrusted recording stays bounded."""
_ACTION_CHARS = 1000
_LATEST_ACTIONS = 10
_MOST_SUBGOALS = 12
_SUBGOAL_CHARS = 160
_SUMMARY_CHARS = 8000
_ENOUGH_SHARE = 0.75
_CLAUSE = re.compile(r"[.;!?\n]+|,? (?:and then|then|and) ")
_DIRECTIONS = re.compile(
    r"^[ \t]*(?:directions|instructions|steps|method)[ \t]*:[ \t]*\n"
    r"((?:[ \t]*[^\s:][^\n:]*(?:\n|$))+)",
    re.IGNORECASE | re.MULTILINE,
)
_REFUSED = re.compile(
    r"\b(?:can't|cannot|not|nothing happens|isn't|don't|doesn't)\b", re.IGNORECASE
)
_SMALL = frozenset({
    "a", "an", "the", "you", "your", "it", "to", "of", "in", "on", "at", "with", "from", "some",
    "for", "is", "are",
})  # fmt: skip


def summarize(previous: str, trace: Sequence[Step], task: Task) -> str:
    """Summarize what was done, the latest actions in order, and the points."""
    actions = [step.action for step in trace if step.action]
    points = sum(step.reward for step in trace)
    latest = ", ".join(actions[-_LATEST_ACTIONS:])
    more = "earlier steps, then " if len(actions) > _LATEST_ACTIONS else ""
    return f"{more}{latest or 'nothing was done yet'}" + (f" ({points:g} points)" if points else "")


def evaluate(trace: Sequence[Step], task: Task) -> list[Subgoal]:
    """Return the directions that were read, else the parts of the goal, each judged.

    Parts are those of the dialect (``subgoals``), else the clauses. A part is complete if one
    accepted action and the first line of its answer had over three quarters of its words.
    """
    read = [
        line for step in trace for block in _directions(step.text) for line in block.splitlines()
    ]
    split = getattr(get_extractor(task.dialect), "subgoals", None)
    parts = (
        read or (split and split(task.goal[:_TEXT_CHARS])) or _CLAUSE.split(task.goal[:_TEXT_CHARS])
    )
    subgoals = list(dict.fromkeys(" ".join(part.split())[:_SUBGOAL_CHARS] for part in parts))
    judged = [(text, words) for text in subgoals if (words := _meaning(text))][-_MOST_SUBGOALS:]
    done = {_done(step.action, _first_line(step.text)): None for step in trace if step.action}
    return [Subgoal(text, any(_covers(did, words) for did in done)) for text, words in judged]


@lru_cache(maxsize=1 << 12)
def _directions(text: str) -> tuple[str, ...]:
    return tuple(_DIRECTIONS.findall(text))


def _first_line(text: str) -> str:
    return text.lstrip()[:_SUBGOAL_CHARS].partition("\n")[0]


def _meaning(text: str) -> frozenset[str]:
    return frozenset(compounds(text)) - _SMALL


@lru_cache(maxsize=1 << 14)
def _done(action: str, answer: str) -> frozenset[str]:
    return frozenset() if _REFUSED.search(answer) else _meaning(f"{action} {answer}")


@lru_cache(maxsize=1 << 12)
def _forms(word: str) -> tuple[str, ...]:
    return word, word + "d", word + "ed", word[:-1] + "ied", word[:-1] + "ying"


@lru_cache(maxsize=1 << 14)
def _covers(did: frozenset[str], words: frozenset[str]) -> bool:
    if not did:
        return False
    return sum(any(f in did for f in _forms(word)) for word in words) > _ENOUGH_SHARE * len(words)


class Historian(NamedTuple):
    """A writer of h, the history of a tuple: evaluation and summary (Eq. 6, Table 4)."""

    evaluate: EvaluateSubgoals
    summarize: Summarize

    def __call__(self, trace: Sequence[Step], task: Task) -> str:
        """Return the history after the steps of ``trace``, the last of which is the present one."""
        lines = [
            f"Subgoal {n}: {' '.join(s.text.split())[:_SUBGOAL_CHARS]} - "
            f"{'complete' if s.complete else 'incomplete'}"
            for n, s in enumerate(self.evaluate(trace, task)[:_MOST_SUBGOALS], 1)
        ]
        past = len(trace) > 1  # nothing to summarize before the first action
        summary = self.summarize("", trace, task) if past else "nothing was done yet"
        return "\n".join([*lines, f"Summary: {' '.join(summary.split())[:_SUMMARY_CHARS]}"])


def clipped(step: Step) -> Step:
    """Return a step with its texts clipped."""
    return Step(step.t, step.text[:_TEXT_CHARS].strip(), step.action[:_ACTION_CHARS], step.reward)


def examples_of(
    steps: Sequence[Step], task: Task, historian: Historian, start: int = 0
) -> list[Example]:
    """Return the tuples of a process from index ``start`` on, one for every action."""
    kept = [clipped(step) for step in steps]
    return [
        Example(
            task.goal[:_TEXT_CHARS],
            historian(kept[max(at + 1 - LONGEST, 0) : at + 1], task),
            kept[at].text,
            kept[at + 1].action,
        )
        for at in range(start, len(kept) - 1)
    ]


def choose(processes: Sequence[Trajectory]) -> int:
    """Return the best process by score, then steps, then order (Eq. 5; the paper asks a model)."""
    return min(
        range(len(processes)),
        key=lambda i: (-processes[i].outcome.value, len(processes[i].steps), i),
    )


_RECORDED = ".jsonl.gz"
_GZIP = b"\x1f\x8b"
_RECORD = ("ldm2", "library", "addition")


class TupleBank:
    """A library of tuples, and the roles that make and search it.

    ``batch_size`` is B, trajectories per batch memory; learning ends at ``capacity`` tuples.
    Without a ``model``, rules play the roles; without a ``store``, this process keeps the tuples.
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
            LLMEvaluateSubgoals.or_rule(model, evaluate),
            LLMSummarize.or_rule(model, summarize, "past"),
        )
        self._goals = LLMCluster.or_rule(model, goals)
        self._sights = LLMCluster.or_rule(model, sights)
        self._classify = LLMClassify(model, NearestType(encoder)) if model else None
        self._compare = LLMCompare.or_rule(model, compare)
        self._store, self._stored = store, 0
        self.formed = self.library = Library(encoder)
        self.refresh()

    def form(self, trajectories: Iterable[Trajectory]) -> int:
        """Form batch memories from trajectories worth imitating; return the number of tuples.

        Types of goals (Eq. 7) and, in them, of observations (Eq. 8) are found batch by batch.
        """
        before, rest = len(self.library), iter(trajectories)
        while batch := list(islice(rest, self.batch_size)):
            played = [t for t in batch if len(t.steps) > 1]
            kinds = self._goals([t.task.goal for t in played])
            entries: list[IndexedExample] = []
            processes: list[Process] = []
            for kind in dict.fromkeys(kinds):
                own = [t for t, name in zip(played, kinds, strict=True) if name == kind]
                examples = [e for t in own for e in examples_of(t.steps, t.task, self.historian)]
                types = self._sights([example.observation for example in examples])
                entries += map(IndexedExample, [kind] * len(types), types, examples)
                best = own[choose(own)]
                steps = tuple(clipped(step) for step in best.steps[:LONGEST])
                processes.append(Process(kind, best.outcome.value, steps))
            if entries:
                number = max(self.library.batches, default=-1) + 1
                self._keep(Addition(number, tuple(entries), tuple(processes)), lasting=True)
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

        Without ``worse`` it must beat the best process of its goal type; without ``batch`` it joins
        the memory with the nearest goal type. A ``lasting`` part stays, as formed ones do.
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
        entries = tuple(map(IndexedExample, [kind] * len(types), types, examples))
        best = known is None or score > known.score
        process = (Process(kind, score, tuple(steps)),) if best else ()
        self._keep(Addition(number, entries, process), lasting)
        return len(entries)

    def goal_types(self, goal: str, batch: int | None = None) -> list[tuple[float, int, str]]:
        """Return a goal's related type in each batch memory, or in one: (cosine, batch, type)."""
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
        """Load additions of this and other processes from the store; skip record ``own``."""
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
        """Return to a snapshot; additions to the store since then stay there."""
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
    """Return the recorded files that a path names; none if it names a store."""
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
