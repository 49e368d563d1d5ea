"""Find the answer to a prompt: the system message names the prompt's function."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gym_memory.llm.prompts import Prompt, load_prompt, prompt_names, read_slots

__all__ = ["ANSWERS", "OTHERS", "UNKNOWN_PROMPT", "Slots", "answer", "answers", "prompt_of"]
__all__ += ["slots_of"]

Slots = Mapping[str, str]
"""Texts between the tags of a prompt, by name."""
Answer = Callable[[Slots], str]

UNKNOWN_PROMPT = "I know no answer to this prompt."
ANSWERS: dict[str, Answer] = {}
"""Answering functions by the name of their prompt."""
OTHERS: dict[str, Callable[[Any], str]] = {}
"""Functions that answer prompts of other packages, by words of the last message."""
_MODULES = ("memories", "play", "analogy")


def answers(prompt: str) -> Callable[[Answer], Answer]:
    """Declare the function that answers a prompt."""

    def declare(function: Answer) -> Answer:
        ANSWERS[prompt] = function
        return function

    return declare


@functools.cache
def _prompts() -> tuple[Prompt, ...]:
    """Return all prompts, once the functions that answer them are declared."""
    for module in _MODULES:
        importlib.import_module(f"gym_memory.testing.chat.{module}")
    return tuple(map(load_prompt, prompt_names()))


def prompt_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of the prompt that a chat begins with; empty if it is unknown."""
    system = str(messages[0].get("content", "")) if messages else ""
    user = _request(messages)
    return next((prompt.name for prompt in _prompts() if prompt.asked_in(system, user)), "")


def answer(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the answer to a chat, from its text alone."""
    function = ANSWERS.get(prompt_of(messages))
    if function is not None:
        return function(slots_of(messages))
    last = str(messages[-1].get("content", "")) if messages else ""
    foreign = next((answer for words, answer in OTHERS.items() if words in last), None)
    return UNKNOWN_PROMPT if foreign is None else foreign(messages)


def slots_of(messages: Sequence[Mapping[str, Any]]) -> Slots:
    """Return the slots of the prompt that a chat begins with."""
    return read_slots(_request(messages))


def _request(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the first message of the user: later ones request a corrected answer."""
    contents = (m.get("content", "") for m in messages if m.get("role") == "user")
    return str(next(contents, ""))
