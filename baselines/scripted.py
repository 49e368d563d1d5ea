"""Policies that read no game: random, the engine's own solution, notes, and a person."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.rules.base import RulePolicy
from gym_memory.core.records import Observation, PlanState

__all__ = ["Human", "Random", "Scribe", "Walkthrough"]


class Random(Policy):
    """A player that draws one of the valid actions, all equally likely.

    Args:
        fallback: Action if no valid action is shown; every text game takes ``look``.
    """

    def __init__(self, fallback: str = "look"):
        self.fallback = fallback
        self._rng = np.random.default_rng(0)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start the episode's own random numbers; without a seed, unpredictable ones."""
        self._rng = np.random.default_rng(seed)

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return a valid action."""
        actions = obs["valid_actions"]
        return actions[self._rng.integers(len(actions))] if actions else self.fallback


class Walkthrough(Policy):
    """A policy that plays the engine's solution: the upper bound of every score.

    Where the engine has none, and after its end, it plays on at random and counts those steps
    as ``steps_without_walkthrough``, so that a table of such games cannot pass for solved ones.
    """

    uses_oracle: ClassVar[bool] = True

    def __init__(self) -> None:
        self._random = Random()
        self._actions: tuple[str, ...] = ()
        self._position = 0
        self._without = 0

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Get the engine's solution."""
        self._random.reset(info, seed)
        self._actions = self.oracle().walkthrough if self.oracle is not None else ()
        self._position = 0

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the solution's next action."""
        if self._position < len(self._actions):
            self._position += 1
            return self._actions[self._position - 1]
        self._without += 1
        return self._random.act(obs, info)

    def counters(self) -> dict[str, float]:
        """Count the steps played without a solution, over all episodes."""
        return {"steps_without_walkthrough": self._without}


_NOTE = re.compile(r"(\d+)\. tried in (.+?): (.+)")


@dataclass(frozen=True)
class Itinerary(PlanState):
    """Place of the present step, and of the last action if it is not noted yet."""

    here: str = ""
    tried_in: str = ""


class Scribe(RulePolicy):
    """A player that tries actions that its notes lack, then the one tried longest ago.

    Such a rotor-router walk reaches every place. It keeps one note per place, ``tried in hall: go
    east; look``, so it needs a memory that takes notes. Without one it acts at random.

    Args:
        fallback: Action if no valid action is shown.
    """

    start: ClassVar[Itinerary] = Itinerary()
    focus: Itinerary

    def __init__(self, fallback: str = "look"):
        super().__init__()
        self.fallback = fallback

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the note of the last action, else the next action."""
        notes = {
            found[2]: (found[1], found[3].split("; "))
            for found in map(_NOTE.fullmatch, obs["lessons"])
            if found
        }
        last = self.focus
        if last.tried_in and info.get("operations"):
            number, tried = notes.get(last.tried_in, ("", []))
            self.focus = Itinerary(action=last.action, here=last.here)
            tried = [*(action for action in tried if action != last.action), last.action]
            return f"note {number}: tried in {last.tried_in}: {'; '.join(tried)}"
        here = self._place(obs) or last.here or "the first place"
        valid = obs["valid_actions"] or (self.fallback,)
        tried = notes.get(here, ("", []))[1]
        new = [action for action in valid if action not in tried]
        again = [action for action in tried if action in valid]
        action = new[int(self.rng.integers(len(new)))] if new else again[0]
        self.focus = Itinerary(action=action, here=here, tried_in=here)
        return action


_HELP = "a number picks an action, other text is said as it is, ? lists the actions, Ctrl-D ends"
_MAX_LISTED = 40


class Human(Policy):
    """A person at the terminal.

    A blank line asks again. The end of the input raises ``EOFError`` out of ``act``: the person
    has left, and the loop decides what that means.

    Args:
        read: Reads a line after a prompt; ``input`` by default.
        write: Shows a text; ``print`` by default.
    """

    interactive: ClassVar[bool] = True
    """Needs a terminal: cannot play in worker processes."""

    def __init__(self, read: Callable[[str], str] = input, write: Callable[[str], None] = print):
        self._read, self._write = read, write

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Print the task, and how to play."""
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
