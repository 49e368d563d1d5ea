"""MiniLM in plain torch, which loads five CPU-seconds faster than sentence-transformers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gym_memory.core.optional import require
from gym_memory.memory.encoders.vectors import Vectors

__all__ = ["MiniLM"]

_PURPOSE = "semantic recall"


class MiniLM:
    """all-MiniLM-L6-v2, a BERT with mean pooling; bits equal those of sentence-transformers.

    Args:
        folder: Weights, tokenizer and settings as published.
    """

    def __init__(self, folder: Path):
        self._torch = require("torch", "offline", _PURPOSE)
        settings = json.loads((folder / "config.json").read_text())
        self._heads, self._depth = settings["num_attention_heads"], settings["num_hidden_layers"]
        self._epsilon = settings["layer_norm_eps"]
        file = folder / "tokenizer.json"
        self._tokenizer = require("tokenizers", "offline", _PURPOSE).Tokenizer.from_file(str(file))
        self._tokenizer.no_padding()
        limits = json.loads((folder / "sentence_bert_config.json").read_text())
        self._tokenizer.enable_truncation(limits["max_seq_length"])
        weights = require("safetensors.torch", "offline", _PURPOSE)
        self._weights = weights.load_file(folder / "model.safetensors")

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Return the length of each text in tokens."""
        return list(map(len, self._tokens(texts)))

    def encode(self, texts: Sequence[str], batch: int) -> Vectors:
        """Return unit vectors of texts of one length in tokens."""
        torch, tokens = self._torch, self._tokens(texts)
        with torch.inference_mode():
            batches = [tokens[at : at + batch] for at in range(0, len(tokens), batch)]
            found: Vectors = torch.cat([self._run(torch.tensor(ids)) for ids in batches]).numpy()
        return found

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]

    def _run(self, ids: Any) -> Any:
        words, kinds, places = (
            self._weights[f"embeddings.{name}_embeddings.weight"]
            for name in ("word", "token_type", "position")
        )
        hidden = words[ids] + kinds[0] + places[: ids.shape[1]]
        hidden = self._normalized("embeddings.LayerNorm", hidden)
        for layer in range(self._depth):
            hidden = self._layer(f"encoder.layer.{layer}", hidden)
        mean = hidden.sum(1) / ids.shape[1]
        return self._torch.nn.functional.normalize(mean, dim=1)

    def _layer(self, name: str, hidden: Any) -> Any:
        functions, shape = self._torch.nn.functional, hidden.shape
        parts = (
            self._linear(f"{name}.attention.self.{part}", hidden)
            for part in ("query", "key", "value")
        )
        heads = [part.view(*shape[:2], self._heads, -1).transpose(1, 2) for part in parts]
        attended = functions.scaled_dot_product_attention(*heads).transpose(1, 2).reshape(shape)
        attended = self._linear(f"{name}.attention.output.dense", attended)
        hidden = self._normalized(f"{name}.attention.output.LayerNorm", attended + hidden)
        wide = functions.gelu(self._linear(f"{name}.intermediate.dense", hidden))
        narrow = self._linear(f"{name}.output.dense", wide)
        return self._normalized(f"{name}.output.LayerNorm", narrow + hidden)

    def _linear(self, name: str, hidden: Any) -> Any:
        return self._torch.nn.functional.linear(hidden, *self._pair(name))

    def _normalized(self, name: str, hidden: Any) -> Any:
        layer_norm = self._torch.nn.functional.layer_norm
        return layer_norm(hidden, hidden.shape[-1:], *self._pair(name), self._epsilon)

    def _pair(self, name: str) -> tuple[Any, Any]:
        return self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
