"""From a prompt to its answer: one function a prompt, found by the system message.

To teach the server a prompt, write a function from its slots to the answer::

    @answers("explore")
    def explore(slots):
        return str("find" in slots["plan"])
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gym_memory.llm.prompts import Prompt, load_prompt, prompt_names, read_slots

__all__ = ["UNKNOWN_PROMPT", "Slots", "answer", "answers", "asked_slots", "prompt_of"]

Slots = Mapping[str, str]
"""The text between the tags of a prompt, by name."""

UNKNOWN_PROMPT = "I know no answer to this prompt."
_MODULES = (
    "gym_memory.testing.chat.graph_answers",
    "gym_memory.testing.chat.lesson_answers",
    "gym_memory.testing.chat.play_answers",
    "gym_memory.testing.chat.nethack_answers",
    "gym_memory.testing.chat.qa_answers",
    "gym_memory.testing.chat.learnt_answers",
)
_ANSWERS: dict[str, Callable[[Slots], str]] = {}

Answer = Callable[[Slots], str]


def answers(prompt: str) -> Callable[[Answer], Answer]:
    """Declare the function that answers a prompt."""

    def declare(function: Answer) -> Answer:
        _ANSWERS[prompt] = function
        return function

    return declare


@functools.cache
def _prompts() -> tuple[Prompt, ...]:
    """All prompts, once the functions that answer them are declared."""
    for module in _MODULES:
        importlib.import_module(module)
    return tuple(map(load_prompt, prompt_names()))


def prompt_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """The name of the prompt that a chat begins with, empty when it is none of ours."""
    system = str(messages[0].get("content", "")) if messages else ""
    user = _asked(messages)
    return next((prompt.name for prompt in _prompts() if prompt.asked_in(system, user)), "")


def answer(messages: Sequence[Mapping[str, Any]]) -> str:
    """The answer to a chat, from its text alone."""
    function = _ANSWERS.get(prompt_of(messages))
    return UNKNOWN_PROMPT if function is None else function(asked_slots(messages))


def asked_slots(messages: Sequence[Mapping[str, Any]]) -> Slots:
    """The slots of the prompt that a chat begins with."""
    return read_slots(_asked(messages))


def _asked(messages: Sequence[Mapping[str, Any]]) -> str:
    """What the user says first: later turns ask to mend an answer."""
    said = (m.get("content", "") for m in messages if m.get("role") == "user")
    return str(next(said, ""))
