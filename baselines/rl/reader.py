"""A transformer over bare words with copy attention: observations as numbers, and the network.

It reads the words of the text, the task, the inventory and the rendered memory, and those of each
valid action. There are no facts, no roles, no lexicon, no signposts.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.rl.shared.bags import torch
from gym_memory.baselines.rl.shared.rollouts import NEVER, cells
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.settings import Help, Settings
from gym_memory.memory.encoders import DEFAULT_MODEL, make_encoder

__all__ = ["PARTS", "CopyReader", "Ints", "Observations", "ReaderSettings", "WordList"]
__all__ += ["Words", "lines_of"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

PARTS = ("task", "text", "inventory", "memory")
"""Texts of an observation to read, in addition to its actions."""
_ACTION = len(PARTS)
_TOKEN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*|[>:;,.\n]")
_BLANKS_BETWEEN_TEXTS = 3
"""Blanks between two texts, so that a convolution does not mix them."""
_AGE_CLASSES = 16
_STEM_CHARS = 4
_ENDS = (".", "\n")
"""Words that end a sentence."""


@dataclasses.dataclass(frozen=True)
class ReaderSettings(Settings):
    """Settings of the reader."""

    words: Annotated[
        Literal["own", "minilm"],
        Help("Vectors of words: own, learnt from nothing, or minilm's, frozen."),
    ] = "own"
    vocabulary: Annotated[int, Help("Rows for words and their pieces, by a stable hash.", 2)] = 4096
    dim: Annotated[int, Help("Size of a vector.", low=1)] = 64
    heads: Annotated[int, Help("Heads of the copy attention; they divide dim.", low=1)] = 4
    layers: Annotated[int, Help("Layers.", low=1)] = 3
    forget: Annotated[
        float,
        Help(
            "Share of an observation's words whose vectors are zeroed while cloning, all places "
            "of a word together (Gal and Ghahramani 2016), so that less depends on names.",
            low=0,
            high=1,
        ),
    ] = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dim % self.heads:
            raise InvalidArgumentError(
                f"expected heads that divide dim={self.dim}, got {self.heads}"
            )


# ------------------------------------------------------------ observations


class Words(NamedTuple):
    """An observation as numbers of words: those of its :data:`PARTS` and of each valid action.

    ``label`` is the index of the teacher's action, -1 for none; ``earned`` is the step's reward.
    """

    words: Ints
    parts: Ints
    actions: tuple[Ints, ...]
    label: int
    earned: float


class WordList:
    """Words by number, in the order in which they were first read; number 0 is no word."""

    def __init__(self) -> None:
        self.load_state([])

    def numbers(self, text: str) -> Ints:
        """Return the numbers of a text's words and marks."""
        lines = [self._line(line) for line in text.splitlines(keepends=True)]
        return np.concatenate(lines) if lines else np.zeros(0, np.int32)

    def _read_line(self, line: str) -> Ints:
        return np.array([self._number(word) for word in _TOKEN.findall(line.lower())], np.int32)

    def _number(self, word: str) -> int:
        found = self._numbers.setdefault(word, len(self._words))
        if found == len(self._words):
            self._words.append(word)
        return found

    def __getitem__(self, number: int) -> str:
        return self._words[number]

    def state(self) -> list[str]:
        """Return all words in their order."""
        return self._words[1:]

    def load_state(self, words: list[str]) -> None:
        """Replace all words."""
        self._words = ["", *words]
        self._numbers = {word: number for number, word in enumerate(self._words)}
        # Most lines of a memory stay from step to step.
        self._line = lru_cache(maxsize=16_384)(self._read_line)


class Observations:
    """Distinct observations by number, as tensors for a checkpoint."""

    def __init__(self) -> None:
        self._kept: list[Words] = []
        self._numbers: dict[int, int] = {}

    def number(self, one: Words) -> int:
        """Return the number of an observation."""
        found = self._numbers.setdefault(id(one), len(self._kept))
        if found == len(self._kept):
            self._kept.append(one)
        return found

    def state(self) -> dict[str, Any]:
        """Return all as tensors and plain values."""
        texts = [text for one in self._kept for text in (one.words, *one.actions)]
        parts = [np.bincount(one.parts, minlength=len(PARTS)).tolist() for one in self._kept]
        return {
            "words": torch.from_numpy(np.concatenate([np.zeros(0, np.int32), *texts])),
            "sizes": torch.tensor([len(text) for text in texts], dtype=torch.int32),
            "parts": parts,
            "actions": [len(one.actions) for one in self._kept],
            "others": [(one.label, one.earned) for one in self._kept],
        }

    @staticmethod
    def read(state: dict[str, Any]) -> Iterator[Words]:
        """Yield the observations of a :meth:`state`."""
        ends = np.cumsum(state["sizes"].numpy())
        texts = iter(np.split(state["words"].numpy(), ends[:-1]))
        rows = zip(state["parts"], state["actions"], state["others"], strict=True)
        for sizes, count, others in rows:
            words, parts = next(texts), np.repeat(np.arange(len(PARTS), dtype=np.int32), sizes)
            yield Words(words, parts, tuple(itertools.islice(texts, count)), *others)


class Lines(NamedTuple):
    """Observations as one long line of places, with blanks between texts.

    The first six arrays have the shape (places,).

    Attributes:
        words: Word at each place, as an index among ``written`` plus 1; 0 for a blank.
        parts: Part of the observation that the place belongs to; 4 for an action.
        ages: Logarithm of the distance to the end of the text.
        stems: Number of the stem, of the observation and the word's first letters.
        sentences: Number of the sentence or line, counted over all observations.
        rows: Number of the action, counted over all observations; -1 outside of actions.
        owners: Index of the observation, of shape (places,).
        written: All words, sorted, so that sums do not depend on their numbers.
        counts: Number of actions of each observation, shape (observations,).
        earned: Reward of the step before each observation, in [-1, 1].
    """

    words: Longs
    parts: Longs
    ages: Longs
    stems: Longs
    sentences: Longs
    rows: Longs
    owners: Longs
    written: list[str]
    counts: Longs
    earned: NDArray[np.float32]


def lines_of(seen: Sequence[Words], known: WordList) -> Lines:
    """Lay observations out as one line; ``known`` has their words."""
    texts = [text for one in seen for text in (one.words, *one.actions)]
    counts = np.array([len(one.actions) for one in seen], np.int64)
    own = np.zeros(len(texts), bool)  # the others are actions
    own[np.cumsum(counts + 1) - counts - 1] = True
    sizes = np.array([len(text) for text in texts], np.int64)
    which = np.repeat(np.arange(len(texts)), sizes + _BLANKS_BETWEEN_TEXTS)
    ends_at = np.cumsum(sizes + _BLANKS_BETWEEN_TEXTS) - _BLANKS_BETWEEN_TEXTS
    left = ends_at[which] - np.arange(len(which))  # words to the end, this one included
    real = left > 0
    own_word = real & own[which]

    words, parts, ages = np.zeros_like(which), np.zeros_like(which), np.zeros_like(which)
    words[real] = np.concatenate(texts)
    parts[real] = _ACTION
    parts[own_word] = np.concatenate([one.parts for one in seen])
    ages[own_word] = np.minimum(np.log2(left[own_word]).astype(int), _AGE_CLASSES - 1)
    owners = np.repeat(np.arange(len(seen)), counts + 1)[which]
    rows = np.where(real & ~own[which], (np.cumsum(~own) - 1)[which], -1)

    used, places = _numbered(words)  # the first is the blank
    written, ranks = np.unique([known[number] for number in used[1:]], return_inverse=True)
    words = np.concatenate([[0], ranks + 1])[places]
    starts = [-1, *(zlib.crc32(word[:_STEM_CHARS].encode()) for word in written)]
    stems = _numbered(owners * len(used) + np.unique(starts, return_inverse=True)[1][words])[1]
    ends = np.array([True, *(word in _ENDS for word in written)])
    sentences = np.cumsum(ends[words], dtype=np.int64)
    earned = np.clip([one.earned for one in seen], -1, 1).astype(np.float32)
    written = written.tolist()
    return Lines(words, parts, ages, stems, sentences, rows, owners, written, counts, earned)


def _numbered(keys: Longs) -> tuple[Longs, Longs]:
    """Return the distinct keys, sorted, and the place of each key among them.

    Like ``np.unique``, but in linear time, for small keys.
    """
    found = np.zeros(int(keys.max()) + 1, bool)
    found[keys] = True
    return np.flatnonzero(found), (np.cumsum(found) - 1)[keys]


@lru_cache(maxsize=65_536)
def pieces(word: str, rows: int) -> tuple[int, ...]:
    """Return rows of a word and of its three-letter pieces, each in [0, rows).

    >>> len(pieces("diced", 4096)), len(pieces(".", 4096))
    (6, 1)
    """
    marked = f"<{word}>"
    parts = [marked, *(marked[i : i + 3] for i in range(len(marked) - 2) if len(word) > 2)]
    return tuple(zlib.crc32(part.encode()) % rows for part in parts)


# ------------------------------------------------------------ the network


class OwnWords(torch.nn.Module):
    """Vectors of words made of their pieces (fastText, Bojanowski et al. 2017)."""

    def __init__(self, vocabulary: int, dim: int):
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(vocabulary, dim, mode="mean")
        torch.nn.init.normal_(self.bag.weight, std=0.3)

    def forward(self, words: Sequence[str]) -> torch.Tensor:
        """Return vectors, float32 of shape (words, dim)."""
        rows = [pieces(word, self.bag.num_embeddings) for word in words]
        starts = np.cumsum([0, *map(len, rows)])[:-1]
        flat = torch.tensor([row for one in rows for row in one])
        device = self.bag.weight.device
        found: torch.Tensor = self.bag(flat.to(device), torch.from_numpy(starts).to(device))
        return found


class FrozenMiniLM(torch.nn.Module):
    """Vectors of words by a trained layer over MiniLM's frozen embeddings, each computed once.

    Unit vectors are scaled, so that each number is about 1 in size.
    """

    def __init__(self, dim: int):
        super().__init__()
        self._encoder = make_encoder(DEFAULT_MODEL)
        self._scale = self._encoder.dim**0.5
        self._kept: dict[str, torch.Tensor] = {}
        self.layer = torch.nn.Linear(self._encoder.dim, dim)

    def forward(self, words: Sequence[str]) -> torch.Tensor:
        """Return vectors, float32 of shape (words, dim)."""
        new = [word for word in words if word not in self._kept]
        if new:
            vectors = torch.from_numpy(np.asarray(self._encoder.encode(new), np.float32))
            self._kept.update(zip(new, vectors * self._scale, strict=True))
        stacked = torch.stack([self._kept[word] for word in words])
        read: torch.Tensor = self.layer(stacked.to(self.layer.weight.device))
        return read


class Groups(NamedTuple):
    """Group of each place, its weight in the mean, shape (places, 1), and the number of groups."""

    groups: torch.Tensor
    counted: torch.Tensor
    total: int


class Layer(torch.nn.Module):
    """A layer that adds neighbours, then other places of the word and the sentence."""

    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm = torch.nn.LayerNorm(dim)
        self.near = torch.nn.Conv1d(
            dim, dim, 2 * _BLANKS_BETWEEN_TEXTS + 1, padding=_BLANKS_BETWEEN_TEXTS, groups=dim
        )
        self.mix = torch.nn.Sequential(
            torch.nn.Linear(dim, 2 * dim), torch.nn.GELU(), torch.nn.Linear(2 * dim, dim)
        )
        self.norm_copy = torch.nn.LayerNorm(dim)
        self.score = torch.nn.Linear(dim, 2 * heads)
        self.value = torch.nn.Linear(dim, 2 * dim)
        self.out = torch.nn.Linear(2 * dim, dim)

    def forward(self, h: torch.Tensor, words: Groups, sentences: Groups) -> torch.Tensor:
        """Return the next ``h``, of shape (places, dim)."""
        near = self.near(self.norm(h).T[None])[0].T
        h = h + self.mix(near)
        normed = self.norm_copy(h)
        scores, values = self.score(normed).chunk(2, 1), self.value(normed).chunk(2, 1)
        h = h + self.out.bias
        outs = self.out.weight.chunk(2, 1)
        for score, value, out, of in zip(scores, values, outs, (words, sentences), strict=True):
            # A group's mean is projected once, before it goes to the places of the group.
            means = spread(score, value, of) @ out.T
            h = h + means.index_select(0, of.groups)
        return h


def spread(scores: torch.Tensor, values: torch.Tensor, of: Groups) -> torch.Tensor:
    """Return means within groups, weighted by a softmax of the scores, of shape (groups, dim).

    A group without members has mean 0.

    Args:
        scores: Of shape (n, heads).
        values: Of shape (n, dim), heads side by side.
        of: Groups.
    """
    # Scores are bounded instead of shifted by a maximum: the same softmax, without a second pass.
    weights = torch.exp(8 * torch.tanh(scores / 8)) * of.counted
    heads = weights.shape[1]
    weighted = (values.unflatten(1, (heads, -1)) * weights[:, :, None]).flatten(1)
    total = weights.new_zeros(of.total, heads).index_add(0, of.groups, weights)
    summed = values.new_zeros(of.total, values.shape[1]).index_add(0, of.groups, weighted)
    return (summed.unflatten(1, (heads, -1)) / total.clamp(min=1e-9)[:, :, None]).flatten(1)


class CopyReader(torch.nn.Module):
    """A reader of bare words by copy attention, in time linear in the text.

    The other places of a word matter more than the word itself: a food of a test game occurs in no
    training game, but it is in the recipe, on the table and in the action. So attention goes from a
    word to the same word elsewhere, in the manner of induction heads (Olsson et al. 2022).
    """

    def __init__(self, settings: ReaderSettings):
        super().__init__()
        self._forget = settings.forget
        dim, heads = settings.dim, settings.heads
        minilm = settings.words == "minilm"
        self.words = FrozenMiniLM(dim) if minilm else OwnWords(settings.vocabulary, dim)
        self.parts = torch.nn.Embedding(len(PARTS) + 1, dim)
        self.ages = torch.nn.Embedding(_AGE_CLASSES, dim)
        self.layers = torch.nn.ModuleList(Layer(dim, heads) for _ in range(settings.layers))
        self.norm = torch.nn.LayerNorm(dim)
        self.salience = torch.nn.Linear(dim, 2 * heads)
        self.of_state = torch.nn.Linear(dim, dim)
        self.of_action = torch.nn.Linear(dim, dim)
        self.actor = torch.nn.Sequential(
            torch.nn.GELU(), torch.nn.Linear(dim, dim), torch.nn.GELU(), torch.nn.Linear(dim, 1)
        )
        for small in (self.parts, self.ages):
            torch.nn.init.normal_(small.weight, std=0.1)
        self.earned = torch.nn.Parameter(torch.zeros(dim))

    def forward(self, lines: Lines, chance: np.random.Generator | None = None) -> torch.Tensor:
        """Return a number per action; with ``chance``, a share of the words is zeroed."""
        device = self.of_state.weight.device

        def to_device(values: NDArray[Any]) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(values)).to(device)

        vectors = self.words(lines.written)
        vectors = torch.cat([torch.zeros_like(vectors[:1]), vectors])
        total = int(lines.stems.max()) + 1
        h = vectors.index_select(0, to_device(lines.words))
        if chance is not None:
            known = chance.random(total) >= self._forget
            h = h * to_device(known.astype(np.float32)[lines.stems])[:, None]
        h = h + self.parts.weight.index_select(0, to_device(lines.parts))
        h = h + self.ages.weight.index_select(0, to_device(lines.ages))
        # The weights of places: real ones count, and only those outside of actions are read.
        real = to_device((lines.words > 0).astype(np.float32))[:, None]
        own = real * to_device((lines.rows < 0).astype(np.float32))[:, None]
        words = Groups(to_device(lines.stems), own, total)
        sentences = Groups(to_device(lines.sentences), real, int(lines.sentences[-1]) + 1)
        for layer in self.layers:
            h = layer(h * real, words, sentences)
        h = self.norm(h)
        of_situation, of_action = self.salience(h).chunk(2, 1)
        owners = Groups(to_device(lines.owners), own, len(lines.counts))
        situation = spread(of_situation, h, owners)
        acting = to_device(np.flatnonzero(lines.rows >= 0))
        rows = to_device(lines.rows).index_select(0, acting)
        actions = Groups(rows, real.index_select(0, acting), int(lines.counts.sum()))
        action = spread(of_action.index_select(0, acting), h.index_select(0, acting), actions)
        s = self.of_state(situation) + to_device(lines.earned)[:, None] * self.earned
        return self._judge(s, action, lines.counts)

    def _judge(self, s: torch.Tensor, action: torch.Tensor, counts: Longs) -> torch.Tensor:
        owners, columns = cells(counts, action.device)
        mixed = s[owners] + self.of_action(action)
        logits = s.new_full((len(counts), int(counts.max())), NEVER)
        logits[owners, columns] = self.actor(mixed).squeeze(1)
        return logits
