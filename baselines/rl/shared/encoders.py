"""Encoders: bags of features, and texts, to vectors.

Every encoder sums the embeddings of a bag's features. Those that read add what a bag's text says:
the game's answer for the situation, the command for an action. A distinct text is encoded once a
batch, by a frozen MiniLM once in its life.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gym_memory.baselines.rl.shared.features import words_of
from gym_memory.baselines.rl.shared.interning import Batch
from gym_memory.core.optional import require
from gym_memory.memory.encoders import DEFAULT_MODEL, make_encoder
from gym_memory.memory.encoders.pretrained import load_transformer

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["ENCODERS", "Encoder", "MiniLM", "Texts"]

ENCODERS = ("bag", "gru", "minilm", "minilm-tuned")
_WORDS = 4096
"""Rows for words that a GRU reads, by a stable hash."""
_MAX_WORDS = 80
"""Words of a text that are read, the last ones."""


class Texts:
    """Texts by number, each once; number 0 is no text."""

    def __init__(self) -> None:
        self.load_state([])

    def __len__(self) -> int:
        return len(self._texts)

    def number(self, text: str) -> int:
        """The number of a text."""
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self._texts)
            self._texts.append(text)
        return found

    def __getitem__(self, number: int) -> str:
        return self._texts[number]

    def state(self) -> list[str]:
        """All texts in their order."""
        return self._texts[1:]

    def load_state(self, texts: list[str]) -> None:
        """Replace all texts."""
        self._texts = ["", *texts]
        self._numbers = {text: number for number, text in enumerate(self._texts)}


class Encoder(torch.nn.Module):
    """Bags to vectors.

    Args:
        kind: One of ``ENCODERS``. ``bag``: features only; ``gru``, ``minilm`` (frozen) or
            ``minilm-tuned``: also text.
        texts: The texts that bags name by number.
        rows: Rows of the embedding table; row 0 stays zero.
        dim: Size of a vector.

    Raises:
        MissingDependencyError: MiniLM needs a package that is not installed.
    """

    def __init__(self, kind: str, texts: Texts, *, rows: int, dim: int):
        super().__init__()
        self._texts = texts
        self.bag = torch.nn.EmbeddingBag(rows, dim, mode="sum", padding_idx=0)
        # What was met once and hardly trained should say hardly anything.
        torch.nn.init.zeros_(self.bag.weight)
        self.reader: torch.nn.Module | None = None
        if kind == "gru":
            self.reader = _Gru(dim)
        elif kind != "bag":
            self.reader = (_TunedMiniLM if kind == "minilm-tuned" else MiniLM)(dim)

    @property
    def reads(self) -> bool:
        """Whether texts matter; where they do not, bags should name none."""
        return self.reader is not None

    def tuned(self) -> list[torch.nn.Parameter]:
        """Pretrained parameters that are trained on."""
        if isinstance(self.reader, _TunedMiniLM):
            return list(self.reader.model.parameters())
        return []

    def forward(self, bags: Batch) -> torch.Tensor:
        """Encode bags; the first number of each is its text's.

        Returns:
            float32 of shape (bags, dim).
        """
        device = self.bag.weight.device
        texts, rows = bags.split()
        found: torch.Tensor = self.bag(
            torch.from_numpy(rows.values).to(device), torch.from_numpy(rows.offsets).to(device)
        )
        if self.reader is not None:
            used, where = np.unique(texts, return_inverse=True)
            read = self.reader([self._texts[int(number)] for number in used])
            found = found + read[torch.from_numpy(where).to(device)]
        return found


class _Gru(torch.nn.Module):
    """Last state of a GRU over the words of a text."""

    def __init__(self, dim: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(_WORDS, dim, padding_idx=0)
        self.gru = torch.nn.GRU(dim, dim, batch_first=True)

    def forward(self, texts: list[str]) -> torch.Tensor:
        """Encode texts: float32 of shape (texts, dim)."""
        rows = [
            [1 + zlib.crc32(word.encode()) % (_WORDS - 1) for word in words_of(text)[-_MAX_WORDS:]]
            or [0]
            for text in texts
        ]
        lengths = torch.tensor([len(row) for row in rows])
        padded = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)
        for place, row in enumerate(rows):
            padded[place, : len(row)] = torch.tensor(row)
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            self.embedding(padded.to(self.embedding.weight.device)),
            lengths,
            batch_first=True,
            enforce_sorted=False,
        )
        state: torch.Tensor = self.gru(packed)[1][0]
        return state


class MiniLM(torch.nn.Module):
    """A trained layer over sentence embeddings that are never trained and never made twice.

    Args:
        dim: Size of what comes out.
        stretched: Whether a number of an embedding is about 1 in size, not the whole of it.
    """

    def __init__(self, dim: int, *, stretched: bool = False):
        super().__init__()
        self._encoder = make_encoder(DEFAULT_MODEL)
        self._scale = self._encoder.dim**0.5 if stretched else 1.0
        self._kept: dict[str, torch.Tensor] = {}
        self.layer = torch.nn.Linear(self._encoder.dim, dim)

    def forward(self, texts: Sequence[str]) -> torch.Tensor:
        """Encode texts: float32 of shape (texts, dim)."""
        new = [text for text in texts if text not in self._kept]
        if new:
            vectors = torch.from_numpy(np.asarray(self._encoder.encode(new), np.float32))
            self._kept.update(zip(new, vectors * self._scale, strict=True))
        stacked = torch.stack([self._kept[text] for text in texts])
        read: torch.Tensor = self.layer(stacked.to(self.layer.weight.device))
        return read


class _TunedMiniLM(torch.nn.Module):
    """Sentence embeddings trained together with everything else."""

    def __init__(self, dim: int):
        super().__init__()
        # Without dropout, as it was loaded: all chance is the learner's.
        self.model: Any = load_transformer(DEFAULT_MODEL, "encoder=minilm-tuned")
        size = len(self.model.encode("", show_progress_bar=False))
        self.layer = torch.nn.Linear(size, dim)

    def forward(self, texts: list[str]) -> torch.Tensor:
        """Encode texts: float32 of shape (texts, dim)."""
        device = self.layer.weight.device
        asked = self.model.tokenize(texts)
        tokens = {k: v.to(device) if torch.is_tensor(v) else v for k, v in asked.items()}
        read: torch.Tensor = self.layer(self.model(tokens)["sentence_embedding"])
        return read
