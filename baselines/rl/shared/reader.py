"""The network that reads bare words: copy attention in time linear in the text.

What a word is matters less than where else it stands: a food of a test game stood in no training
game, but it stands in the recipe, on the table and in the action. So attention goes from a word to
the same word elsewhere, in the manner of induction heads (Olsson et al. 2022); what else stands
near a word, or in its sentence, is mixed in. An uncut history can be read too.

Each layer: (1) a depthwise convolution over the neighbours and a layer over each word; (2) for
every distinct word of the observation, cut to four letters as a stem that knows no language, the
mean of all its places, and for every sentence the mean of its words, both weighted by a softmax,
go back to their places. Of the texts' words those of an
action read the means and tell nothing. The logit of an action is that of its words' mean beside
the situation's.

Words have vectors made of themselves and of their three-letter pieces (fastText, Bojanowski et
al. 2017), trained from nothing; or MiniLM's vectors of single words, frozen, with a trained layer
over them.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.rl.shared.encoders import MiniLM, Texts
from gym_memory.baselines.rl.shared.rollouts import NEVER, Table
from gym_memory.core.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["PARTS", "Ints", "Reader", "Words", "lines_of"]

Ints = NDArray[np.int32]

PARTS = ("task", "text", "inventory", "memory")
"""Texts of an observation that are read, beside its actions."""
_ACTION = len(PARTS)
_GAP = 3
"""Blanks between two texts, so that a convolution sees no word of another."""
_AGES = 16
_STEM = 4


class Words(NamedTuple):
    """An observation as numbers of words.

    Attributes:
        words: Those of task, text, inventory and memory, end to end.
        parts: Which of the four each word is of.
        actions: Those of each valid action.
        label: Index of the teacher's action; -1 where it named none, or there is none.
    """

    words: Ints
    parts: Ints
    actions: tuple[Ints, ...]
    label: int


class Lines(NamedTuple):
    """Observations as one long line of places, texts apart by blanks (word -1).

    Attributes:
        words: Number of the word at each place, shape (places,).
        parts: Its part; that of an action is 4.
        ages: How far it is from the end of its observation, as a logarithm.
        owners: Its observation.
        sentences: Its sentence or line, of all observations together.
        rows: Its action, of all observations end to end; -1 in the observations' own texts.
        counts: Actions of each observation, shape (observations,).
    """

    words: NDArray[np.int64]
    parts: NDArray[np.int64]
    ages: NDArray[np.int64]
    owners: NDArray[np.int64]
    sentences: NDArray[np.int64]
    rows: NDArray[np.int64]
    counts: NDArray[np.int64]


def lines_of(seen: Sequence[Words], ends: frozenset[int]) -> Lines:
    """Lay observations out as one line.

    Args:
        seen: The observations.
        ends: The words that end a sentence; blanks do.
    """
    texts = [text for one in seen for text in (one.words, *one.actions)]
    counts = np.array([len(one.actions) for one in seen], np.int64)
    own = np.zeros(len(texts), bool)  # the others are actions
    own[np.cumsum(counts + 1) - counts - 1] = True
    sizes = np.array([len(text) for text in texts], np.int64)
    which = np.repeat(np.arange(len(texts)), sizes + _GAP)
    ends_at = np.cumsum(sizes + _GAP) - _GAP
    left = ends_at[which] - np.arange(len(which))  # words to the end, this one included
    real = left > 0
    told = real & own[which]

    words, parts, ages = np.full(len(which), -1), np.zeros_like(which), np.zeros_like(which)
    words[real] = np.concatenate(texts)
    parts[real] = _ACTION
    parts[told] = np.concatenate([one.parts for one in seen])
    ages[told] = np.minimum(np.log2(left[told]).astype(int), _AGES - 1)
    owners = np.repeat(np.arange(len(seen)), counts + 1)[which]
    rows = np.where(real & ~own[which], (np.cumsum(~own) - 1)[which], -1)
    sentences = np.cumsum(np.isin(words, [-1, *ends]), dtype=np.int64)
    return Lines(words, parts, ages, owners, sentences, rows, counts)


@lru_cache(maxsize=65_536)
def pieces(word: str, rows: int) -> tuple[int, ...]:
    """Rows of a word and of its three-letter pieces, each in [0, rows).

    >>> len(pieces("diced", 4096)), len(pieces(".", 4096))
    (6, 1)
    """
    marked = f"<{word}>"
    parts = [marked, *(marked[i : i + 3] for i in range(len(marked) - 2) if len(word) > 2)]
    return tuple(zlib.crc32(part.encode()) % rows for part in parts)


class OwnWords(torch.nn.Module):
    """Vectors of words from their pieces."""

    def __init__(self, vocabulary: int, dim: int):
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(vocabulary, dim, mode="mean")
        torch.nn.init.normal_(self.bag.weight, std=0.3)

    def forward(self, words: Sequence[str]) -> torch.Tensor:
        """Float32 of shape (words, dim)."""
        rows = [pieces(word, self.bag.num_embeddings) for word in words]
        starts = np.cumsum([0, *map(len, rows)])[:-1]
        flat = torch.tensor([row for one in rows for row in one])
        device = self.bag.weight.device
        found: torch.Tensor = self.bag(flat.to(device), torch.from_numpy(starts).to(device))
        return found


class Groups(NamedTuple):
    """Places that belong together.

    Attributes:
        groups: Group of each place, shape (places,).
        told: The places whose values go into the means.
        total: Groups in all.
    """

    groups: torch.Tensor
    told: torch.Tensor
    total: int


class Layer(torch.nn.Module):
    """One layer: neighbours, then the same word elsewhere and the rest of the sentence."""

    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm = torch.nn.LayerNorm(dim)
        self.near = torch.nn.Conv1d(dim, dim, 2 * _GAP + 1, padding=_GAP, groups=dim)
        self.mix = torch.nn.Sequential(
            torch.nn.Linear(dim, 2 * dim), torch.nn.GELU(), torch.nn.Linear(2 * dim, dim)
        )
        self.norm_copy = torch.nn.LayerNorm(dim)
        self.score = torch.nn.Linear(dim, 2 * heads)
        self.value = torch.nn.Linear(dim, 2 * dim)
        self.out = torch.nn.Linear(2 * dim, dim)

    def forward(self, h: torch.Tensor, words: Groups, sentences: Groups) -> torch.Tensor:
        """Read; of shape (places, dim) like ``h``."""
        near = self.near(self.norm(h).T[None])[0].T
        h = h + self.mix(near)
        normed = self.norm_copy(h)
        scores, values = self.score(normed).chunk(2, 1), self.value(normed).chunk(2, 1)
        read = [
            spread(score[of.told], value[of.told], of.groups[of.told], of.total)[of.groups]
            for score, value, of in zip(scores, values, (words, sentences), strict=True)
        ]
        changed: torch.Tensor = h + self.out(torch.cat(read, 1))
        return changed


def spread(
    scores: torch.Tensor, values: torch.Tensor, groups: torch.Tensor, count: int
) -> torch.Tensor:
    """Means of values within groups, weighted by a softmax of the scores of each head.

    Args:
        scores: Of shape (n, heads).
        values: Of shape (n, dim), heads side by side.
        groups: Group of each, shape (n,).
        count: Groups in all; one without members has mean 0.

    Returns:
        Of shape (groups, dim).
    """
    # Scores are bounded instead of shifted by a maximum: the same softmax, without a second pass.
    weights = torch.exp(8 * torch.tanh(scores / 8))
    heads = weights.shape[1]
    weighted = (values.unflatten(1, (heads, -1)) * weights[:, :, None]).flatten(1)
    total = weights.new_zeros(count, heads).index_add(0, groups, weights)
    summed = values.new_zeros(count, values.shape[1]).index_add(0, groups, weighted)
    return (summed.unflatten(1, (heads, -1)) / total.clamp(min=1e-9)[:, :, None]).flatten(1)


class Reader(torch.nn.Module):
    """The network.

    Args:
        texts: The words by number.
        words: ``own`` or ``minilm``.
        vocabulary: Rows for ``own`` words and their pieces.
        dim: Size of a vector.
        heads: Heads of the copy attention; they divide ``dim``.
        layers: Layers.
        forget: Share of an observation's words that are forgotten where chance is given.
    """

    def __init__(
        self, texts: Texts, *, words: str, vocabulary: int, dim: int, heads: int, layers: int,
        forget: float,
    ):  # fmt: skip
        super().__init__()
        self._texts, self._forget = texts, forget
        # Unit vectors of 384 numbers are stretched to be as large as those that are learnt.
        minilm = words == "minilm"
        self.words = MiniLM(dim, stretched=True) if minilm else OwnWords(vocabulary, dim)
        self.parts = torch.nn.Embedding(len(PARTS) + 1, dim)
        self.ages = torch.nn.Embedding(_AGES, dim)
        self.layers = torch.nn.ModuleList(Layer(dim, heads) for _ in range(layers))
        self.norm = torch.nn.LayerNorm(dim)
        self.salience = torch.nn.Linear(dim, 2 * heads)
        self.of_state = torch.nn.Linear(dim, dim)
        self.of_action = torch.nn.Linear(dim, dim)
        self.actor = torch.nn.Sequential(
            torch.nn.GELU(), torch.nn.Linear(dim, dim), torch.nn.GELU(), torch.nn.Linear(dim, 1)
        )
        self.critic = torch.nn.Sequential(torch.nn.GELU(), torch.nn.Linear(dim, 1))
        for small in (self.parts, self.ages):
            torch.nn.init.normal_(small.weight, std=0.1)

    def forward(self, lines: Lines, chance: np.random.Generator | None = None) -> Table:
        """Logits and values of observations with at least one action each.

        Args:
            lines: The observations.
            chance: Whose words to forget by; None for none.
        """
        device = self.of_state.weight.device

        def there(values: NDArray[Any]) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(values)).to(device)

        used, which = np.unique(lines.words, return_inverse=True)  # the first is the blank
        vectors = self.words([self._texts[int(number)] for number in used[1:]])
        vectors = torch.cat([torch.zeros_like(vectors[:1]), vectors])
        blank = lines.words < 0
        stems = np.unique([-1, *(self._stem(int(n)) for n in used[1:])], return_inverse=True)[1]
        _, groups = np.unique(lines.owners * len(used) + stems[which], return_inverse=True)
        total = int(groups.max()) + 1
        known = np.ones(total) if chance is None else chance.random(total) >= self._forget
        h = vectors[there(which)] * there(known.astype(np.float32)[groups])[:, None]
        h = h + self.parts(there(lines.parts)) + self.ages(there(lines.ages))
        real = there(~blank)[:, None]
        told = there(np.flatnonzero((lines.rows < 0) & ~blank))
        words = Groups(there(groups), told, total)
        every, ended = there(np.flatnonzero(~blank)), int(lines.sentences[-1]) + 1
        sentences = Groups(there(lines.sentences), every, ended)
        for layer in self.layers:
            h = layer(h * real, words, sentences)
        h = self.norm(h)
        scores = self.salience(h)
        heads = scores.shape[1] // 2
        situation = spread(
            scores[told, :heads], h[told], there(lines.owners)[told], len(lines.counts)
        )
        acting = there(np.flatnonzero(lines.rows >= 0))
        action = spread(
            scores[acting, heads:], h[acting], there(lines.rows)[acting], int(lines.counts.sum())
        )
        return self._judge(situation, action, lines.counts)

    def _stem(self, number: int) -> int:
        return zlib.crc32(self._texts[number][:_STEM].encode())

    def _judge(
        self, situation: torch.Tensor, action: torch.Tensor, counts: NDArray[np.int64]
    ) -> Table:
        owners = torch.from_numpy(np.repeat(np.arange(len(counts)), counts)).to(action.device)
        begins = np.repeat(np.cumsum(counts) - counts, counts)
        columns = torch.from_numpy(np.arange(len(begins)) - begins).to(action.device)
        s = self.of_state(situation)
        mixed = s[owners] + self.of_action(action)
        logits = s.new_full((len(counts), int(counts.max())), NEVER)
        logits[owners, columns] = self.actor(mixed).squeeze(1)
        best = s.scatter_reduce(0, owners[:, None].expand_as(mixed), mixed, "amax")
        return Table(logits, self.critic(best).squeeze(1))
