"""A-MEM (a-mem 0.2.6, a fork of the authors' code): linked notes in a Chroma database."""

from __future__ import annotations

import os
import tempfile
import types
from collections.abc import Sequence
from typing import Any, ClassVar

from gym_memory.core.optional import require
from gym_memory.core.records import Recall
from gym_memory.memory.base import CHARS_PER_TOKEN, check_budget
from gym_memory.memory.encoders import Encoder
from gym_memory_external.model import ExtractionMemory, Model, next_id

__all__ = ["AMemPackage"]


class AMemPackage(ExtractionMemory):
    """A-MEM's package: every step is a note, which a model annotates and may link to the nearest.

    The package is a fork of the authors' code, who publish none, with its store in a temporary
    folder. The model and the encoder are ours. With ``llm`` None a note's keywords are the things
    that the plain reader finds, and no note is linked. ``amem`` is our own version of the paper.
    """

    name: ClassVar[str] = "amem_package"

    def _open(self) -> _Client:
        return _Client(self.model, self._encoder)

    def _shown(self, texts: Sequence[str], budget: int) -> Recall:
        """Show whole steps as a transcript: the most relevant that fit, in order of time."""
        room, shown = check_budget(budget) * CHARS_PER_TOKEN, list[tuple[int, str]]()
        for text in texts:
            number, _, entry = text.partition(" ")
            head = f"[step {number}]" + (" " if entry.startswith(">") else "\n")
            room -= len(head + entry) + 1
            if room < 0:
                break
            shown.append((int(number), head + entry))
        entries = tuple(entry for _, entry in sorted(shown))
        return Recall("\n".join(entries), episodes=entries)


class _Client:
    def __init__(self, model: Model, encoder: Encoder):
        os.environ["ANONYMIZED_TELEMETRY"] = "False"
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or it fetches a list of prices
        system, retrievers = (
            require(f"agentic_memory.{part}", "amem", "the memory amem_package")
            for part in ("memory_system", "retrievers")
        )
        chroma = require("chromadb", "amem")

        class Embed(chroma.EmbeddingFunction):  # type: ignore[name-defined]
            def __init__(self, **named: Any):
                """Ignore the arguments: the encoder is ours."""

            def __call__(self, input: Sequence[str]) -> Any:
                return [*encoder.encode(list(input))]

        retrievers.SentenceTransformerEmbeddingFunction = Embed
        system.uuid = types.SimpleNamespace(uuid4=next_id)
        self._folder = tempfile.TemporaryDirectory(prefix="amem-")
        self._notes = system.AgenticMemorySystem(api_key="unused", storage_path=self._folder.name)
        self._notes.llm_controller.llm = types.SimpleNamespace(
            get_completion=lambda prompt, **named: model([{"role": "user", "content": prompt}])
        )

    def add(self, text: str) -> None:
        self._notes.add_note(text, time=str(self._notes.retriever.count()))

    def search(self, query: str, k: int) -> list[str]:
        found = (self._notes.read(note["id"]) for note in self._notes.search(query, k))
        return [f"{note.timestamp} {note.content}" for note in found]
