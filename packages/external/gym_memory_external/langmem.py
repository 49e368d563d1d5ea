"""LangMem (langmem 0.0.30): notes that a model writes and changes, in LangGraph's store."""

from __future__ import annotations

import json
import types
import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import BaseModel

from gym_memory.core.optional import require
from gym_memory.llm.base import Message
from gym_memory.memory.encoders import Encoder
from gym_memory_external.model import ExtractionMemory, Model, next_id

__all__ = ["LangMem"]

_SPACE = ("steps",)
_TOOLS = 'Answer by a JSON object {"calls": [{"name": ..., "args": {...}}]} that calls these tools:'
_ROLES = {"human": "user", "ai": "assistant"}


class LangMem(ExtractionMemory):
    """LangMem: every step is a message, of which a model writes notes, or changes the nearest ones.

    The package is the authors', with LangGraph's store in this process. The model is ours; it
    calls the package's tools by JSON. With ``llm`` None the plain reader only adds notes.
    """

    name: ClassVar[str] = "langmem"

    def _open(self) -> _Client:
        return _Client(self.model, self._encoder)


class _Call(BaseModel):
    name: str
    args: dict[str, Any]


class _Calls(BaseModel):
    calls: list[_Call]


class _Client:
    def __init__(self, model: Model, encoder: Encoder):
        langmem = require("langmem", "langmem", "the memory langmem")
        core, messages, outputs, tools = (
            require(f"langchain_core.{part}", "langmem")
            for part in ("language_models", "messages", "outputs", "utils.function_calling")
        )

        class Chat(core.BaseChatModel):  # type: ignore[name-defined]
            tools: str = ""
            _llm_type: ClassVar[str] = "gym-memory"

            def bind_tools(self, given: Sequence[Any], **named: Any) -> Any:
                return Chat(tools=json.dumps([*map(tools.convert_to_openai_tool, given)]))

            def _generate(self, turns: Sequence[Any], *given: Any, **named: Any) -> Any:
                texts: list[Message] = [{"role": "system", "content": f"{_TOOLS} {self.tools}"}]
                for turn in turns:
                    role: Any = _ROLES.get(turn.type, turn.type)
                    texts.append({"role": role, "content": str(turn.content)})
                calls = json.loads(model(texts, _Calls))["calls"]
                said = messages.AIMessage(
                    "", tool_calls=[{**call, "id": str(n)} for n, call in enumerate(calls)]
                )
                return outputs.ChatResult(generations=[outputs.ChatGeneration(message=said)])

        # Ids in order of creation: the authors' are random, and part of the prompt.
        require("langmem.knowledge.extraction", "langmem").uuid = types.SimpleNamespace(
            uuid4=next_id, uuid5=uuid.uuid5, NAMESPACE_DNS=uuid.NAMESPACE_DNS
        )
        self._store = require("langgraph.store.memory", "langmem").InMemoryStore(
            index={"dims": encoder.dim, "embed": lambda texts: encoder.encode(texts).tolist()}
        )
        self._manager = langmem.create_memory_store_manager(
            Chat(), store=self._store, namespace=_SPACE
        )

    def add(self, text: str) -> None:
        self._manager.invoke({"messages": [{"role": "user", "content": text}]})

    def search(self, query: str, k: int) -> list[str]:
        found = self._store.search(_SPACE, query=query, limit=k)
        notes = [(-(item.score or 0.0), item.value["content"]["content"]) for item in found]
        return [note for _, note in sorted(notes)]
