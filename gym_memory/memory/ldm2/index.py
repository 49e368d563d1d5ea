"""LDM2's tuples and the two-level index over them: goal types, then observation types (3.2)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.records import Step
from gym_memory.core.text import letter_words, words
from gym_memory.memory.encoders import Encoder, unit
from gym_memory.memory.encoders.vectors import Vectors

__all__ = ["ALIKE", "SAME_SIGHT", "Addition", "EncodedTypes", "Example", "IndexedExample"]
__all__ += ["Library", "NearestType", "Process", "pending", "said"]

ALIKE = 0.6
"""Cosine from which goals are of one type: instances of one template reach it."""
SAME_SIGHT = 0.9
"""Cosine from which observations count as one."""

_DECIMALS = 5
"""Digits of a cosine that count, so that the last bits of a matrix product never do."""
_MOST_ROUNDS = 10
_NAME_CHARS = 400
"""Characters of a text that its type is named after."""


class EncodedTypes:
    """A Cluster role without a language model: spherical k-means over embeddings.

    The first centre is the text nearest to the mean; each next one is the text farthest from all
    centres, until every text resembles one (``alike``, a cosine in (0, 1]) or their number is the
    root of the number of texts. Types have about equal sizes and are named by distinctive words.
    """

    def __init__(self, encoder: Encoder, alike: float):
        self.encoder, self.alike = encoder, alike

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Return the name of each text's type."""
        counts = Counter(texts)
        distinct = list(counts)
        if not distinct:
            return []
        vectors = self.encoder.encode(distinct)
        labels = self._labels(vectors, np.array([counts[t] for t in distinct], dtype=np.float32))
        names = _names(distinct, labels)
        of = {text: names[label] for text, label in zip(distinct, labels, strict=True)}
        return [of[text] for text in texts]

    def _labels(self, vectors: Vectors, weights: NDArray[np.float32]) -> list[int]:
        centers = self._starts(vectors, weights)
        labels = np.zeros(len(vectors), dtype=np.int64)
        for turn in range(_MOST_ROUNDS):
            found = np.round(vectors @ centers.T, _DECIMALS).argmax(axis=1)
            if turn and np.array_equal(found, labels):
                break
            labels = found
            sums = np.zeros_like(centers)
            np.add.at(sums, labels, vectors * weights[:, None])
            kept, labels = np.unique(labels, return_inverse=True)
            centers = unit(sums[kept])  # a centre without texts is dropped
        return list(map(int, labels))

    def _starts(self, vectors: Vectors, weights: NDArray[np.float32]) -> Vectors:
        mean = unit((vectors * weights[:, None]).sum(axis=0, keepdims=True))
        chosen = [int(np.round(vectors @ mean[0], _DECIMALS).argmax())]
        nearest = np.round(vectors @ vectors[chosen[0]], _DECIMALS)
        while len(chosen) ** 2 < len(vectors) and nearest.min() < self.alike:
            chosen.append(int(nearest.argmin()))
            nearest = np.maximum(nearest, np.round(vectors @ vectors[chosen[-1]], _DECIMALS))
        return vectors[chosen]


def _names(texts: Sequence[str], labels: Sequence[int]) -> dict[int, str]:
    """Name each label by three words: often in its texts, seldom elsewhere; numbered if taken."""
    words: dict[int, Counter[str]] = {}
    everywhere: Counter[str] = Counter()
    for text, label in zip(texts, labels, strict=True):
        found = sorted(set(letter_words(text[:_NAME_CHARS], least=3)))
        words.setdefault(label, Counter()).update(found)
        everywhere.update(found)
    sizes = Counter(labels)
    names: dict[int, str] = {}
    taken: Counter[str] = Counter()
    for label in sorted(words):
        counts = words[label]
        ranked = sorted(
            counts, key=lambda w: (everywhere[w] / len(texts) - 2 * counts[w] / sizes[label], w)
        )
        name = " ".join(ranked[:3]) or "other"
        taken[name] += 1
        names[label] = name if taken[name] == 1 else f"{name} {taken[name]}"
    return names


class NearestType:
    """A Classify role without a language model: the type whose examples are nearest."""

    def __init__(self, encoder: Encoder):
        self.encoder = encoder

    def __call__(self, text: str, types: Mapping[str, Sequence[str]]) -> str:
        """Return one key of ``types``; ties go to the first."""
        vector = self.encoder.encode([text])[0]
        near = [(self.encoder.encode(list(texts)) @ vector).mean() for texts in types.values()]
        return list(types)[int(np.round(near, _DECIMALS).argmax())]


_EXAMPLES_OF_A_TYPE = 3
_SUBGOAL = re.compile(r"^Subgoal \d+: (.*) - (incomplete|complete)$", re.MULTILINE)
_PROGRESS_WEIGHT = 1.0
"""Weight of what remains to be done beside the observation, in a tuple's vector."""

Said = tuple[str, str, str]


class Example(NamedTuple):
    """A standard state-action tuple ``<g, h, o -> a>`` (Eq. 1), its history h by Eq. 6."""

    goal: str
    history: str
    observation: str
    action: str


class Process(NamedTuple):
    """A decision process that others of its goal type are measured against (Eqs. 4 and 10)."""

    goal_type: str
    score: float
    steps: tuple[Step, ...]


class IndexedExample(NamedTuple):
    """A tuple and its place in the index."""

    goal_type: str
    observation_type: str
    example: Example


class Addition(NamedTuple):
    """Tuples that enter one batch memory together, and the processes they come from."""

    batch: int
    entries: tuple[IndexedExample, ...]
    processes: tuple[Process, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain values for a store or a file."""
        return {
            "batch": self.batch,
            "entries": [[e.goal_type, e.observation_type, *e.example] for e in self.entries],
            "processes": [
                [p.goal_type, p.score, [[s.t, s.action, s.text, s.reward] for s in p.steps]]
                for p in self.processes
            ],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Addition:
        """Return the inverse of :meth:`to_json`."""
        return cls(
            int(value["batch"]),
            tuple(IndexedExample(row[0], row[1], Example(*row[2:])) for row in value["entries"]),
            tuple(
                Process(name, score, tuple(Step(t, text, a, r) for t, a, text, r in steps))
                for name, score, steps in value["processes"]
            ),
        )


def pending(history: str) -> str:
    r"""Return the words of the incomplete subgoals, without those that several share (names).

    >>> pending("Subgoal 1: crack egg - complete\nSubgoal 2: fry egg - incomplete\nSummary: -")
    'fry'
    """
    found = [(words(text), state) for text, state in _SUBGOAL.findall(history)]
    counts = Counter(word for words, _ in found for word in set(words))
    left = [[w for w in words if counts[w] == 1] for words, state in found if state[0] == "i"]
    return ". ".join(" ".join(words) for words in left)


class _ObservationType(NamedTuple):
    """An observation type: its tuples, their vectors of shape (n, dim), and their texts."""

    examples: tuple[Example, ...]
    vectors: Vectors
    total: Vectors
    said: frozenset[Said]

    def new_ones(self, examples: Iterable[Example]) -> list[Example]:
        fresh: dict[Said, Example] = {}
        for example in examples:
            if said(example) not in self.said:
                fresh.setdefault(said(example), example)
        return list(fresh.values())

    def with_more(
        self, examples: Sequence[Example], keys: Vectors, seen: Vectors
    ) -> _ObservationType:
        return _ObservationType(
            (*self.examples, *examples),
            np.concatenate([self.vectors, keys]),
            self.total + seen.sum(axis=0),
            self.said.union(map(said, examples)),
        )


def said(example: Example) -> Said:
    """Return the content of a tuple; equal ones are kept once."""
    return example.observation, pending(example.history), example.action


class _Goals(NamedTuple):
    goals: tuple[str, ...]
    total: Vectors
    situations: dict[str, _ObservationType]
    centers: Vectors
    best: Process | None


class Library:
    """All batch memories, indexed; of equal tuples the first is kept.

    It is immutable: adding returns a new library that shares the unchanged parts. It keeps one
    vector of ``4 * encoder.dim`` bytes per tuple, and the ``additions`` that rebuild it, in order.
    """

    def __init__(self, encoder: Encoder):
        self.encoder = encoder
        self.additions: tuple[Addition, ...] = ()
        self._batches: dict[int, dict[str, _Goals]] = {}
        self._size = 0

    def __len__(self) -> int:
        """Return the number of tuples."""
        return self._size

    @property
    def batches(self) -> tuple[int, ...]:
        """Return the numbers of the batch memories."""
        return tuple(sorted(self._batches))

    def extended(self, additions: Iterable[Addition]) -> Library:
        """Return a library with more tuples; this one stays as it is."""
        new = Library(self.encoder)
        new.additions, new._size = self.additions, self._size
        new._batches = {batch: dict(kinds) for batch, kinds in self._batches.items()}
        for addition in additions:
            new._add(addition)
        return new

    def _add(self, addition: Addition) -> None:
        self.additions += (addition,)
        kinds = self._batches.setdefault(addition.batch, {})
        grouped: dict[str, dict[str, list[Example]]] = {}
        for goal_type, situation, example in addition.entries:
            grouped.setdefault(goal_type, {}).setdefault(situation, []).append(example)
        for name, situations in grouped.items():
            kinds[name] = self._grown(kinds.get(name), situations)
        for process in addition.processes:
            kind = kinds.get(process.goal_type)
            if kind and (kind.best is None or process.score > kind.best.score):
                kinds[process.goal_type] = kind._replace(best=process)

    def _grown(self, kind: _Goals | None, added: Mapping[str, Sequence[Example]]) -> _Goals:
        nothing = np.zeros(self.encoder.dim, dtype=np.float32)
        none = _ObservationType(
            (), np.empty((0, self.encoder.dim), dtype=np.float32), nothing, frozenset()
        )
        kind = kind or _Goals((), nothing, {}, none.vectors, None)
        situations, total = dict(kind.situations), kind.total
        goals: dict[str, None] = dict.fromkeys(kind.goals)
        for name, given in added.items():
            examples = situations.get(name, none).new_ones(given)
            if not examples:
                continue
            self._size += len(examples)
            seen = self.encoder.encode([e.observation for e in examples])
            keys = self.keys(seen, [e.history for e in examples])
            situations[name] = situations.get(name, none).with_more(examples, keys, seen)
            total = total + self.encoder.encode([e.goal for e in examples]).sum(axis=0)
            goals.update(dict.fromkeys(e.goal for e in examples))
        centers = unit(np.stack([situation.total for situation in situations.values()]))
        shown = tuple(goals)[:_EXAMPLES_OF_A_TYPE]
        return _Goals(shown, total, situations, centers, kind.best)

    def keys(self, observations: Vectors, histories: Sequence[str]) -> Vectors:
        """Return the vectors that tuples are compared by: observation and remaining subgoals."""
        left = self.encoder.encode([pending(history) for history in histories])
        return unit(observations + np.float32(_PROGRESS_WEIGHT) * left)

    def goal_types(self, batch: int) -> dict[str, tuple[str, ...]]:
        """Return the goal types of a batch memory and some goals of each."""
        return {name: kind.goals for name, kind in self._batches.get(batch, {}).items()}

    def nearest_goal_type(self, batch: int, goal: str) -> tuple[str, float]:
        """Return the goal type of the nearest centre and its cosine; ("", -1) in an empty batch."""
        kinds = self._batches.get(batch)
        if not kinds:
            return "", -1.0
        centers = unit(np.stack([kind.total for kind in kinds.values()]))
        near = np.round(centers @ self.encoder.encode([goal])[0], _DECIMALS)
        return list(kinds)[int(near.argmax())], float(near.max())

    def best(self, batch: int, goal_type: str) -> Process | None:
        """Return the best process known for a goal type."""
        kind = self._batches.get(batch, {}).get(goal_type)
        return kind.best if kind else None

    def observation_types(self, batch: int, goal_type: str) -> dict[str, list[str]]:
        """Return the observation types of a goal type and some observations of each."""
        return {
            name: [example.observation for example in situation.examples[:_EXAMPLES_OF_A_TYPE]]
            for name, situation in self._batches[batch][goal_type].situations.items()
        }

    def nearest_observation_type(self, batch: int, goal_type: str, seen: Vectors) -> str:
        """Return the observation type whose centre is nearest to a vector of shape (dim,)."""
        kind = self._batches[batch][goal_type]
        return list(kind.situations)[int(np.round(kind.centers @ seen, _DECIMALS).argmax())]

    def nearest(
        self, batch: int, goal_type: str, situation: str, key: Vectors, k: int
    ) -> list[tuple[float, Example]]:
        """Return the ``k`` tuples nearest to a key, within an observation type, best first."""
        examples, vectors, _, _ = self._batches[batch][goal_type].situations[situation]
        near = np.round(vectors @ key, _DECIMALS)
        order = np.argsort(-near, kind="stable")[:k]
        return [(float(near[i]), examples[i]) for i in order]
