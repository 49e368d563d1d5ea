"""Types of goals and observations without a language model: clusters of embeddings.

The rule-based roles Cluster and Classify of LDM2 (Eqs. 7 and 8, Table 4).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gym_memory.memory.encoders import Encoder, unit

__all__ = ["ALIKE", "SAME_SIGHT", "EncodedTypes", "NearestType"]

ALIKE = 0.6
"""Cosine from which goals are of one type: instances of one template reach it."""
SAME_SIGHT = 0.9
"""Cosine from which observations need not be told apart."""

_DECIMALS = 5
"""Digits of a cosine that count, so that the last bits of a matrix product never do."""
_ROUNDS = 10
_WORD = re.compile(r"[^\W\d_]{3,}")
_NAMING = 400
"""Characters of a text that its type is named after."""

Vectors = NDArray[np.float32]


class EncodedTypes:
    """The role Cluster without a language model: spherical k-means over embeddings.

    Centres start from the text nearest to the mean and go on with the one farthest from all
    centres, until every text resembles one or there are as many as the root of the number of
    distinct texts; types come out about equally large, as the paper's prompt wants. It is
    deterministic. A type is named by the words that set it apart.

    Args:
        encoder: Encodes the texts.
        alike: Cosine from which two texts count as one, in (0, 1].
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
        for turn in range(_ROUNDS):
            found = np.round(vectors @ centers.T, _DECIMALS).argmax(axis=1)
            if turn and np.array_equal(found, labels):
                break
            labels = found
            sums = np.zeros_like(centers)
            np.add.at(sums, labels, vectors * weights[:, None])
            centers = unit(sums[np.unique(labels)])  # a centre that nobody is near is dropped
            labels = np.searchsorted(np.unique(labels), labels)
        return [int(label) for label in labels]

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
        found = sorted(set(_WORD.findall(text[:_NAMING].lower())))
        words.setdefault(label, Counter()).update(found)
        everywhere.update(found)
    sizes = Counter(labels)
    names: dict[int, str] = {}
    taken: Counter[str] = Counter()
    for label in sorted(words):
        told = words[label]
        ranked = sorted(
            told, key=lambda w: (everywhere[w] / len(texts) - 2 * told[w] / sizes[label], w)
        )
        name = " ".join(ranked[:3]) or "other"
        taken[name] += 1
        names[label] = name if taken[name] == 1 else f"{name} {taken[name]}"
    return names


class NearestType:
    """The role Classify without a language model: the type whose examples are nearest."""

    def __init__(self, encoder: Encoder):
        self.encoder = encoder

    def __call__(self, text: str, types: Mapping[str, Sequence[str]]) -> str:
        """Return one key of ``types``; of equally near ones the first."""
        vector = self.encoder.encode([text])[0]
        names = list(types)
        near = [(self.encoder.encode(list(types[n])) @ vector).mean() for n in names]
        return names[int(np.round(near, _DECIMALS).argmax())]
