"""PromptObservation: the observation as one string for a language model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym

from gym_memory.core.records import Observation
from gym_memory.core.settings import check_int, check_text
from gym_memory.games.spaces import RAW_KEYS, FreeText, check_keys
from gym_memory.wrappers.actions import keep_evenly

__all__ = ["INSTRUCTIONS", "PromptObservation", "prompt_space", "render_prompt"]

INSTRUCTIONS = (
    "You are playing a text game. Work towards the task with one command at a time. "
    "Answer with the next command only, written exactly as the game expects it."
)
"""The instructions of every prompt."""

_SECTIONS = (
    ("Task", "task"),
    ("What you remember", "memory"),
    ("What you carry", "inventory"),
    ("What you see now", "text"),
)


def render_prompt(
    obs: Observation | Mapping[str, Any],
    instructions: str = INSTRUCTIONS,
    max_actions: int | None = None,
) -> str:
    """Return an observation as one prompt, without its empty parts.

    What changes least comes first, so that a model's prompt cache can keep the beginning. At
    most ``max_actions`` valid actions are listed, evenly spaced over all; None lists all. The
    prompt says how many are not listed.

    >>> print(render_prompt({"text": "A hall.", "task": "", "inventory": "", "memory": "",
    ...     "valid_actions": ("go east",)}, "Play."))
    Play.
    <BLANKLINE>
    ## What you see now
    A hall.
    <BLANKLINE>
    ## What you can do
    - go east
    """
    parts = [instructions.strip()]
    for title, key in _SECTIONS:
        text = str(obs.get(key, "")).strip()
        parts.append(f"## {title}\n{text}" if text else "")
    actions = tuple(obs["valid_actions"])
    if actions and max_actions != 0:
        listed = actions if max_actions is None else keep_evenly(actions, max_actions)
        lines = [f"- {action}" for action in listed]
        if len(listed) < len(actions):
            lines.append(f"({len(actions) - len(listed)} more are not listed)")
        parts.append("\n".join(["## What you can do", *lines]))
    return "\n\n".join(part for part in parts if part)


def prompt_space() -> FreeText:
    """Return the space of :func:`render_prompt`."""
    return FreeText(max_length=10_000_000)


class PromptObservation(
    gym.ObservationWrapper[str, str, dict[str, Any]], gym.utils.RecordConstructorArgs
):
    """Turn the observation Dict into one string for a language model (:func:`render_prompt`).

    Only the memory has a token budget (that of ``MemoryObservation``); ``max_actions`` bounds the
    longest of the other parts.

    Args:
        env: A text environment, usually with memory.
        instructions: The first part of the prompt; empty for none.
        max_actions: Valid actions to list at most, >= 0; None for all.
    """

    def __init__(
        self,
        env: gym.Env[dict[str, Any], str],
        instructions: str = INSTRUCTIONS,
        max_actions: int | None = None,
    ):
        check_keys("PromptObservation", env, RAW_KEYS, "wrap a text environment")
        check_text("instructions", instructions)
        if max_actions is not None:
            check_int("max_actions", max_actions, 0)
        gym.utils.RecordConstructorArgs.__init__(
            self, instructions=instructions, max_actions=max_actions
        )
        gym.ObservationWrapper.__init__(self, env)
        self._instructions = instructions
        self._max_actions = max_actions
        self.observation_space = prompt_space()

    def observation(self, observation: dict[str, Any]) -> str:
        """Render one observation."""
        return render_prompt(observation, self._instructions, self._max_actions)

    def restore(self, snapshot: Any) -> tuple[str, dict[str, Any]]:
        """Return to a snapshot of the environment below and render its observation."""
        obs, info = self.env.get_wrapper_attr("restore")(snapshot)
        return self.observation(obs), info
