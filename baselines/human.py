"""A person at the terminal, in the same loop as every other policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from gym_memory.baselines.base import POLICIES, Policy
from gym_memory.core.records import Observation

__all__ = ["Human"]

_HELP = "a number picks an action, other text is said as it is, ? lists the actions, Ctrl-D ends"
_MAX_LISTED = 40


@POLICIES.register("human")
class Human(Policy):
    """Shows the observation and asks what to do.

    A blank line asks again. The end of the input raises ``EOFError`` out of ``act``: the person
    has left, and whoever runs the loop decides what that means.

    Args:
        read: Reads a line after a prompt; ``input`` by default.
        write: Shows a text; ``print`` by default.
    """

    interactive: ClassVar[bool] = True
    """Needs a terminal: cannot play in worker processes."""

    def __init__(self, read: Callable[[str], str] = input, write: Callable[[str], None] = print):
        self._read, self._write = read, write

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Say what is played and how."""
        self._write(f"{info.get('task_id', '')}  ({_HELP})")

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return what the person types.

        Raises:
            EOFError: The input has ended.
        """
        self._show(obs, info)
        actions = obs["valid_actions"]
        while True:
            said = self._read("> ").strip()
            if said.isdecimal() and 1 <= int(said) <= len(actions):
                return actions[int(said) - 1]
            if said.isdecimal() and actions:
                self._write(f"There is no action {said}: choose 1 to {len(actions)}.")
            elif said == "?":
                self._write(self._numbered(actions, len(actions)) or "No actions are listed.")
            elif said:
                return said

    def _show(self, obs: Observation, info: dict[str, Any]) -> None:
        head = f"step {info.get('moves', 0)}  score {info.get('score', 0):g}"
        if info.get("max_score"):
            head += f" of {info['max_score']:g}"
        parts = [f"\n----- {head} -----", obs["text"].strip()]
        if obs["memory"]:
            parts += ["--- memory", obs["memory"]]
        if obs["inventory"]:
            parts += ["--- inventory", obs["inventory"].strip()]
        parts.append(self._numbered(obs["valid_actions"], _MAX_LISTED))
        self._write("\n".join(part for part in parts if part))

    @staticmethod
    def _numbered(actions: tuple[str, ...], limit: int) -> str:
        lines = [f"{number:3} {action}" for number, action in enumerate(actions[:limit], start=1)]
        if len(actions) > limit:
            lines.append(f"    and {len(actions) - limit} more: ? lists them all")
        return "\n".join(lines)
