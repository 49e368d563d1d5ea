"""The updater computes the next belief from a belief and a step, in numpy.

GATA (Adhikari et al. 2020, section 3.2) keeps one hidden vector, changes it by a recurrent cell
that sees the previous graph, the observation and the action attended to each other, and decodes it
into an adjacency tensor over a closed list of entities. Here entities are the names in the texts,
so each *pair* of them has its own hidden state, which is its edge: R numbers in [0, 1], one a
latent relation, changed by one gated cell that all pairs share::

    C      = relu(context of each word)                    (words, dim)
    n_i    = relu(words that name i, where it is named, edges of i before, its name)
    p_ij   = relu(n_i, n_j, how they stand together, words between, edges ij and ji, action)
    A'_ij  = A_ij + sigmoid(gate(p_ij)) * (sigmoid(new(p_ij)) - A_ij)

The cell runs on pairs of which a step names at least one; other edges do not change. Edges are
rounded to float16 after every step, as in a stored state.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory_belief.sight import SEGMENTS, Sight
from gym_memory_belief.weights import Weights

__all__ = ["Updater", "row_of"]

Floats = NDArray[np.float32]
_CACHED = 4096


def row_of(word: str, rows: int) -> int:
    """Return the row of a word in a table of hashed words.

    >>> row_of("carrot", 2048) == row_of("carrot", 2048)
    True
    """
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) % rows


class _Text(NamedTuple):
    """A segment with context: its vectors, and the sums of those before each word."""

    context: Floats
    sums: Floats
    mean: Floats


class Updater:
    """Applies weights; its only state is a cache.

    Args:
        weights: The weights.
    """

    def __init__(self, weights: Weights):
        self.weights = weights
        self._rows: dict[str, int] = {}
        self._texts: dict[tuple[str, ...], _Text] = {}
        self._names: dict[str, Floats] = {}

    def update(self, edges: Floats, names: list[str], sight: Sight) -> Floats:
        """Return the next belief.

        Args:
            edges: The belief, float32 of shape (nodes, nodes, R), in [0, 1].
            names: Name of each node, ``you`` first.
            sight: The step, as arrays over these nodes.

        Returns:
            A new array of that shape.
        """
        w = self.weights.arrays
        texts = [self._text(words) for words in sight.words]
        nodes = self._nodes(edges, names, sight, texts)
        changed = np.flatnonzero(sight.flags.any(1))
        pair = (nodes @ w["pair_first"] + w["pair_bias"])[:, None] + nodes @ w["pair_second"]
        pair += edges @ w["pair_edge"] + edges.transpose(1, 0, 2) @ w["pair_back"]
        pair += texts[-1].mean @ w["pair_action"]
        first, second, kind = sight.pairs.T
        np.add.at(pair, (first, second), w["pair_kind"][kind])
        everyone = np.arange(len(names))
        pair[everyone, everyone] += w["pair_kind"][-1]
        self._between(pair, sight, texts)
        np.maximum(pair, 0, out=pair)
        gate = _sigmoid(pair @ w["gate"] + w["gate_bias"])
        new = _sigmoid(pair @ w["new"] + w["new_bias"])
        moved = (edges + gate * (new - edges)).astype(np.float16).astype(np.float32)
        kept = edges.copy()
        kept[changed] = moved[changed]
        kept[:, changed] = moved[:, changed]
        return kept

    def _nodes(self, edges: Floats, names: list[str], sight: Sight, texts: list[_Text]) -> Floats:
        w = self.weights.arrays
        count, dim = len(names), self.weights.sizes.dim
        said = np.zeros((count, len(SEGMENTS), dim), dtype=np.float32)
        for number, text in enumerate(texts):
            _, word, node = sight.named[sight.named[:, 0] == number].T
            np.maximum.at(said[:, number], node, text.context[word])
        everyone = np.arange(count)
        parts = [said.reshape(count, -1), sight.flags, edges[everyone, everyone]]
        parts += [edges[0], edges[:, 0], edges.max(1), edges.max(0)]
        named = np.stack([self._name(name) for name in names])
        own = np.concatenate(parts, axis=1) @ w["node"] + named @ w["node_name"] + w["node_bias"]
        return np.maximum(own, 0)

    def _between(self, pair: Floats, sight: Sight, texts: list[_Text]) -> None:
        """Add the words between linked nodes."""
        if not len(sight.links):
            return
        w = self.weights.arrays
        means = np.zeros((len(sight.links), self.weights.sizes.dim), dtype=np.float32)
        for number, text in enumerate(texts):
            mine = np.flatnonzero(sight.links[:, 2] == number)
            start, end = sight.links[mine, 3], sight.links[mine, 4]
            means[mine] = (text.sums[end] - text.sums[start]) / np.maximum(end - start, 1)[:, None]
        first, second = sight.links[:, 0], sight.links[:, 1]
        pair[first, second] += means @ w["pair_after"]
        np.add.at(pair, (second, first), means @ w["pair_before"])

    def _text(self, words: tuple[str, ...]) -> _Text:
        found = self._texts.get(words)
        if found is None:
            if len(self._texts) >= _CACHED:
                self._texts.clear()
            found = self._texts[words] = self._read(words)
        return found

    def _read(self, words: tuple[str, ...]) -> _Text:
        w, sizes = self.weights.arrays, self.weights.sizes
        dim, reach = sizes.dim, sizes.reach
        vectors = w["words"][[self._row(word) for word in words]].reshape(len(words), dim)
        padded = np.pad(vectors, ((reach, reach), (0, 0)))
        around = [padded[i : i + len(words)] for i in range(2 * reach + 1)]
        context = np.maximum(np.concatenate(around, 1) @ w["context"] + w["context_bias"], 0)
        sums = np.concatenate([np.zeros((1, dim), dtype=np.float32), np.cumsum(context, 0)])
        mean = vectors.sum(0) / np.float32(max(len(words), 1))
        return _Text(context, sums.astype(np.float32), mean.astype(np.float32))

    def _name(self, name: str) -> Floats:
        found = self._names.get(name)
        if found is None:
            if len(self._names) >= _CACHED:
                self._names.clear()
            rows = [self._row(word) for word in name.split()]
            found = self._names[name] = self.weights.arrays["words"][rows].mean(0)
        return found

    def _row(self, word: str) -> int:
        row = self._rows.get(word)
        if row is None:
            if len(self._rows) >= _CACHED:
                self._rows.clear()
            row = self._rows[word] = row_of(word, self.weights.sizes.rows)
        return row


def _sigmoid(x: Floats) -> Floats:
    return np.float32(1) / (np.float32(1) + np.exp(-np.clip(x, -30, 30)))
