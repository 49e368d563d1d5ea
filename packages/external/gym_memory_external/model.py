"""Parts that these memories share: settings, and our chat model or rules in its place."""

from __future__ import annotations

import itertools
import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from gym_memory.core.errors import ModelError
from gym_memory.core.records import MemoryStats, Step, Task, Triple
from gym_memory.core.settings import Help, checked
from gym_memory.extract import get_extractor
from gym_memory.graph import TemporalGraph
from gym_memory.llm.base import ChatModel, Message, Request
from gym_memory.memory.encoders import Encoder, make_encoder
from gym_memory.memory.external import AddSearch
from gym_memory.memory.reading import item_line
from gym_memory.memory.roles.llm import chat_model

__all__ = ["ExtractionMemory", "Model", "answer", "next_id"]

_MAX_TOKENS = 4096
_TEXT = (
    re.compile(r"<CURRENT[_ ]MESSAGE>\n(.*?)</CURRENT[_ ]MESSAGE>", re.DOTALL),
    re.compile(r"<TEXT>\n(.*?)</TEXT>", re.DOTALL),
    re.compile(r"## New Messages\n(.*?)\n\n## ", re.DOTALL),
    re.compile(r"=\n\n(.*?)\n</session_", re.DOTALL),
    re.compile(r"Content for analysis:\n\s*(.*)", re.DOTALL),
)
_SPEAKER = re.compile(r"^(?:user|assistant): ", re.MULTILINE)


_ids = itertools.count(1)


def next_id() -> uuid.UUID:
    """Return ids in order of creation, which break ties the same way every time."""
    return uuid.UUID(int=next(_ids))


class ExtractionMemory(AddSearch):
    """Base of these memories: a package extracts with a model, and searches by vectors."""

    @checked
    def __init__(
        self,
        *,
        k: Annotated[int, Help("Texts to show at most.", low=1)] = 10,
        lifetime: Annotated[
            Literal["episode", "forever"], Help("Lifetime of the texts.")
        ] = "episode",
        encoder: Annotated[str | Encoder, Help("Encoder of texts and queries.")] = "hash",
        llm: Annotated[
            str | ChatModel | None, Help("Chat model that extracts; None for the plain reader.")
        ] = None,
    ):
        super().__init__(k=k, lifetime=lifetime)
        self._encoder = make_encoder(encoder)
        self.model = Model(chat_model(llm), self.name)

    def stats(self) -> MemoryStats:
        """Return the steps added, and the calls of the model."""
        calls, fallbacks = self.model.calls, self.model.fallbacks
        return replace(super().stats(), extraction_calls=calls, fallbacks=fallbacks)


class Model:
    """Answer the prompts of another program, by rules if there is no model or it fails."""

    def __init__(self, model: ChatModel | None, role: str):
        self._model, self._role = model, role
        self.calls = self.fallbacks = 0

    def __call__(self, messages: Sequence[Message], schema: Any = None) -> str:
        """Return the answer, as JSON of ``schema`` if given."""
        if self._model is None:
            return answer(messages)
        self.calls += 1
        request = Request(messages, role=self._role, max_tokens=_MAX_TOKENS, schema=schema)
        try:
            reply = self._model.complete(request)
            return reply.parsed.model_dump_json() if schema else reply.text
        except ModelError:
            self.fallbacks += 1
            return answer(messages)


def answer(messages: Sequence[Message]) -> str:
    """Answer a prompt of another package by the facts that the plain reader finds in its text.

    mem0 requests sentences, LangMem tool calls with sentences that it does not list as known, A-MEM
    keywords. Graphiti requests things, those with the same name, and relations between two; its
    other prompts get an empty answer.
    """
    prompt = messages[-1]["content"]
    facts = _facts(prompt)
    names = dict.fromkeys(name for fact in facts for name in (fact.subject, fact.object))
    if '"ExtractedEntities"' in prompt:
        entities = [{"name": name, "entity_type_id": 0} for name in names]
        return json.dumps({"extracted_entities": entities})
    if '"NodeResolutions"' in prompt:
        new, old = (_listed(prompt, tag) for tag in ("ENTITIES", "EXISTING ENTITIES"))
        known = {entity["name"]: entity.get("candidate_id", -1) for entity in old}
        resolutions = [
            {"id": number, "name": entity["name"],
             "duplicate_candidate_id": known.get(entity["name"], -1)}
            for number, entity in enumerate(new)
        ]  # fmt: skip
        return json.dumps({"entity_resolutions": resolutions})
    if '"ExtractedEdges"' in prompt:
        edges = [
            {"source_entity_name": fact.subject, "target_entity_name": fact.object,
             "relation_type": fact.relation.upper().replace(" ", "_"), "fact": _sentence(fact)}
            for fact in facts
        ]  # fmt: skip
        return json.dumps({"edges": edges})
    if "## New Messages" in prompt:
        return json.dumps({"memory": [{"text": _sentence(fact)} for fact in facts]})
    if "Content for analysis:" in prompt:
        return json.dumps({"keywords": [*names], "context": "a text game", "tags": ["step"]})
    if "</session_" in prompt:
        listed = "".join(message["content"] for message in messages[:-1])
        notes = [note for note in map(_sentence, facts) if f"'{note}'" not in listed]
        return json.dumps({"calls": [{"name": "Memory", "args": {"content": n}} for n in notes]})
    return json.dumps(_NOTHING)


_NOTHING: dict[str, Any] = {"summaries": [], "summary": "", "should_evolve": False}
_NOTHING |= {"duplicate_facts": [], "contradicted_facts": [], "valid_at": None, "invalid_at": None}


def _listed(prompt: str, tag: str) -> list[dict[str, Any]]:
    found = re.search(rf"<{tag}>\n(.*?)</{tag}>", prompt, re.DOTALL)
    entities: list[dict[str, Any]] = json.loads(found[1]) if found else []
    return entities


def _facts(prompt: str) -> list[Triple]:
    found = next(filter(None, (form.search(prompt) for form in _TEXT)), None)
    text = _SPEAKER.sub("", found[1]).strip() if found else ""
    action, _, rest = text.partition("\n") if text.startswith("> ") else ("", "", text)
    step = Step(1, rest, action.removeprefix("> "))
    mentions = get_extractor("plain").extract(step, TemporalGraph(), Task("", "", "plain")).mentions
    facts = (mention.triple for mention in mentions)
    return [*itertools.islice(dict.fromkeys(f for f in facts if f.subject != f.object), 30)]


def _sentence(fact: Triple) -> str:
    return item_line(fact).removeprefix("- ").replace("..", ".")
