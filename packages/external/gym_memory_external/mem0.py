"""mem0 (mem0ai 2.2): sentences that a model extracts, in a vector store."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any, ClassVar

from gym_memory.core.optional import require
from gym_memory.memory.encoders import Encoder
from gym_memory_external.model import ExtractionMemory, Model

__all__ = ["Mem0"]

_WHOSE = "agent"


class Mem0(ExtractionMemory):
    """mem0: every step is a message, of which a model extracts sentences to keep.

    The package is the authors', with a Qdrant store in this process, without its telemetry and
    without downloads. The model is ours; with ``llm`` None the plain reader answers the prompts.
    """

    name: ClassVar[str] = "mem0"

    def _open(self) -> _Client:
        return _Client(self.model, self._encoder)


class _Client:
    def __init__(self, model: Model, encoder: Encoder):
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mem0-"))
        mem0 = require("mem0", "mem0", "the memory mem0")
        qdrant = require("qdrant_client", "mem0", "the memory mem0")
        models = require("mem0.utils.spacy_models", "mem0")
        models._load_failed_full = models._load_failed_lemma = True  # or it downloads a model
        store = {"client": qdrant.QdrantClient(":memory:"), "embedding_model_dims": encoder.dim}
        unused = {"provider": "openai", "config": {"api_key": "unused"}}
        config = require("mem0.configs.base", "mem0").MemoryConfig(
            vector_store={"provider": "qdrant", "config": store},
            history_db_path=":memory:",
            llm=unused,
            embedder=unused,
        )
        self._memory = mem0.Memory(config)
        self._memory.llm, self._memory.embedding_model = _Llm(model), _Embedder(encoder)

    def add(self, text: str) -> None:
        self._memory.add(text, user_id=_WHOSE)

    def search(self, query: str, k: int) -> list[str]:
        found = self._memory.search(query, filters={"user_id": _WHOSE}, top_k=k)["results"]
        ranked = sorted(found, key=lambda result: (-result["score"], result["memory"]))
        return [result["memory"] for result in ranked]


class _Llm:
    def __init__(self, model: Model):
        self._model = model

    def generate_response(self, messages: Any, **given: Any) -> str:
        return self._model(messages)


class _Embedder:
    def __init__(self, encoder: Encoder):
        self._encoder = encoder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
        return [vector.tolist() for vector in self._encoder.encode(list(texts))]
