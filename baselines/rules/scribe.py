"""A scribe: all that it knows of earlier steps is what it wrote into its memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from gym_memory.baselines.registry import POLICIES
from gym_memory.baselines.rules.base import RulePolicy
from gym_memory.core.records import Observation, PlanState

__all__ = ["Scribe"]

_NOTE = re.compile(r"(\d+)\. tried in (.+?): (.+)")


@dataclass(frozen=True)
class Itinerary(PlanState):
    """Hold the place of the present step, and of the last action if it is not noted yet."""

    here: str = ""
    tried_in: str = ""


@POLICIES.register("scribe")
class Scribe(RulePolicy):
    """Try in each place, by chance, what its notes do not hold, else what they hold longest.

    Going on so reaches every place (a rotor-router walk). It keeps one note a place, ``tried in
    hall: go east; look``, so it needs a memory that takes notes. Without one it acts at random.

    Args:
        fallback: What to say where no valid action is shown.
    """

    name: ClassVar[str] = "scribe"
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
        action = new[int(self._rng.integers(len(new)))] if new else again[0]
        self.focus = Itinerary(action=action, here=here, tried_in=here)
        return action
