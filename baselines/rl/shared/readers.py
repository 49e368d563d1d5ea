"""Encoders of bare text, which a learner may use beside features."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gym_memory.baselines.rl.shared.replay import torch
from gym_memory.core.text import compounds
from gym_memory.memory.encoders import DEFAULT_MODEL, make_encoder
from gym_memory.memory.encoders.pretrained import load_transformer

__all__ = ["READERS", "MiniLM"]

_WORDS = 4096
"""Rows for words that a GRU reads, by a stable hash."""
_MAX_WORDS = 80
"""Words of a text that are read, the last ones."""


class _TextEncoder(torch.nn.Module):
    """An encoder of texts: float32 of shape (texts, dim)."""

    def tuned(self) -> list[torch.nn.Parameter]:
        """Return the pretrained parameters that are trained on."""
        return []


class _Gru(_TextEncoder):
    """Last state of a GRU over the words of a text."""

    def __init__(self, dim: int):
        super().__init__()
        self.embedding = torch.nn.Embedding(_WORDS, dim, padding_idx=0)
        self.gru = torch.nn.GRU(dim, dim, batch_first=True)

    def forward(self, texts: list[str]) -> torch.Tensor:
        rows = [
            [1 + zlib.crc32(word.encode()) % (_WORDS - 1) for word in compounds(text)[-_MAX_WORDS:]]
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


class MiniLM(_TextEncoder):
    """A trained layer over frozen sentence embeddings, each computed once.

    If ``stretched``, each number of an embedding is about 1 in size, and not the whole of it.
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


class _TunedMiniLM(_TextEncoder):
    """An encoder of sentences trained together with everything else."""

    def __init__(self, dim: int):
        super().__init__()
        # Without dropout, as it was loaded: all chance is the learner's.
        self.model: Any = load_transformer(DEFAULT_MODEL, "encoder=minilm-tuned")
        size = len(self.model.encode("", show_progress_bar=False))
        self.layer = torch.nn.Linear(size, dim)

    def forward(self, texts: list[str]) -> torch.Tensor:
        device = self.layer.weight.device
        tokens = {
            name: value.to(device) if torch.is_tensor(value) else value
            for name, value in self.model.tokenize(texts).items()
        }
        read: torch.Tensor = self.layer(self.model(tokens)["sentence_embedding"])
        return read

    def tuned(self) -> list[torch.nn.Parameter]:
        return list(self.model.parameters())


READERS: dict[str, Callable[[int], _TextEncoder]] = {
    "gru": _Gru,
    "minilm": MiniLM,
    "minilm-tuned": _TunedMiniLM,
}
"""The settings ``encoder`` that read a text beside its features."""
