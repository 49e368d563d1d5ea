"""Answerer: a language model that answers from the memory's recall (AriGraph's QA experiment).

It reads every passage without a call. Then the model sees the recall for the question and names
what to look up next, which becomes the focus of the next look. It answers after ``hops`` looks, or
earlier if it knows enough. The paper's baselines are the memories ``history`` (full context),
``rag`` (retrieval) and ``oracle`` (supporting facts).
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any

from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.baselines.rules.qa import Inquiry, before_answering
from gym_memory.core.errors import ModelError
from gym_memory.core.optional import require
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help

__all__ = ["Answerer", "AnswererSettings"]

_MAX_ANSWER_CHARS = 190
"""Longest answer, in characters, within the environment's limit."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnswererSettings(LanguageSettings):
    """Settings of the model and the number of looks; the memory has the past."""

    history: int | None = dataclasses.field(default=0, init=False)
    history_tokens: int = dataclasses.field(default=0, init=False)
    temperature: float = 0.0
    hops: Annotated[
        int,
        Help(
            "Most looks at what the memory recalls; before each but the last the model says what "
            "to look up next.",
            low=1,
            high=4,
        ),
    ] = 2
    constrain: bool = dataclasses.field(default=False, init=False)


class Answerer(LanguagePolicy):
    """A model that looks up passages, then answers."""

    settings_class = AnswererSettings
    settings: AnswererSettings

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the action to read on, to look up the model's query, or to answer."""
        question = obs["task"]
        plan = self.focus = Inquiry.about(question, self.focus)
        command = before_answering(obs)
        if command:
            return command
        slots = {"task": question, "memory": obs["memory"]}
        if plan.done < self.settings.hops - 1:
            wanted = self.attempt(lambda: self._wanted(slots), "")
            if wanted:
                self.focus = plan.with_name(wanted)
                return "look"
        return f"answer[{self.attempt(lambda: self._answer(slots), 'unknown')}]"

    def _wanted(self, slots: dict[str, str]) -> str:
        answer = self.ask("qa_query", _query_schema(), **slots)
        return " ".join(str(answer.parsed.look_up).split())[:_MAX_ANSWER_CHARS]

    def _answer(self, slots: dict[str, str]) -> str:
        answer = self.ask("qa_answer", _answer_schema(), **slots)
        words = " ".join(str(answer.parsed.answer).split())[:_MAX_ANSWER_CHARS]
        if not words:
            raise ModelError("answer", "expected an answer, got none")
        return words


@functools.cache
def _query_schema() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    return pydantic.create_model("Query", look_up=(str, ""))


@functools.cache
def _answer_schema() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    words = Annotated[str, pydantic.Field(min_length=1, max_length=1000)]
    return pydantic.create_model("Answer", reason=(str, ""), answer=(words, ...))
