"""Prompts for training: one of constant size for every step, or turns that are appended.

A prompt of constant size holds the memory instead of the transcript, so that step 150 costs what
step 10 did; it is the one of :func:`gym_memory.wrappers.prompt.render_prompt`, so that what is
trained and what plays see the same.
"""

from __future__ import annotations

from gym_memory.core.records import Observation
from gym_memory.llm import Message
from gym_memory.wrappers.prompt import INSTRUCTIONS, render_prompt

__all__ = ["MAX_ACTIONS", "opening", "state_prompt", "turn_text"]

MAX_ACTIONS = 30
"""Valid actions that a prompt lists, at most."""


def state_prompt(obs: Observation, max_actions: int | None = MAX_ACTIONS) -> list[Message]:
    """The whole state as one prompt: task, memory, inventory, what is seen, what can be done."""
    shown = render_prompt(obs, instructions="", max_actions=max_actions)
    return [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": shown},
    ]


def opening(obs: Observation, max_actions: int | None = MAX_ACTIONS) -> str:
    """The first turn of a conversation that grows: task, what is remembered, what is seen."""
    return render_prompt(obs, instructions="", max_actions=max_actions)


def turn_text(obs: Observation, max_actions: int | None = MAX_ACTIONS) -> str:
    """A later turn of it: only what is new; the rest stands above."""
    shown: Observation = {**obs, "task": "", "memory": ""}
    return render_prompt(shown, instructions="", max_actions=max_actions)
