"""An imitator for ScienceWorld: it does next what a demonstration did next in the same situation.

Behaviour cloning from cases. What it learnt are recorded solutions of *train* variations
(``benchmarks/scienceworld/demonstrate.py``). At every step it

1. says demonstrations of the same task in terms of the present goal (another substance, another
   room, another recipe), holds them beside the moves and facts that the memory tells, the last
   answer, the inventory and its own published plan, and takes the one that agrees best
   (:mod:`.progress`);
2. finds the move that is due: the next one, or a round of waiting and measuring once more where
   what is to be focused on is not there yet, or what decides is not known yet;
3. does it (:mod:`.turn`): goes to its room, looks around there, takes for each thing the
   one in sight that is called so, that stood for it before or is most like it, and searches the
   house for what is not in sight, first where the memory tells that it was seen, then where the
   demonstrations saw such things. It focuses on nothing that it does not see.

It is stuck once it has seen nothing new for longer than it ever took when the task was shown. Then
it looks around; if that shows nothing new either, it gives up what it was
doing and follows what agrees best without it.

In a task that nobody showed it follows the nearest one as far as that goes, but focuses on nothing
that the goal itself does not name, for a wrong one ends the task; where something unknown would be
focused on it explores: opens what is shut, and enters the rooms that it has not looked into.

It reads the observation only and keeps nothing from step to step but the published plan, so what
the memory is worth shows in the score: with none, it knows neither how often it has waited nor
which rooms it has searched.
"""

from __future__ import annotations

import dataclasses
import os
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.registry import POLICIES
from gym_memory.baselines.rules.plan import saw
from gym_memory.baselines.rules.scienceworld.demonstrations import (
    Lore,
    learn,
    usual_pause,
)
from gym_memory.baselines.rules.scienceworld.phrases import Meaning
from gym_memory.baselines.rules.scienceworld.scene import Experiment, read_scene
from gym_memory.baselines.rules.scienceworld.turn import Settings, Turn
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation
from gym_memory.games.scienceworld.rules_items import AMBIGUOUS

__all__ = ["Imitator", "Settings"]


_PATIENCE = 12
"""Steps without anything new after which what is being done is given up."""
_PAUSES = 2
"""Or, where that is more, so many times the steps without anything new when the task was shown."""


@POLICIES.register("imitator")
class Imitator(Policy):
    """Does what the demonstration did that agrees best.

    Args:
        checkpoint: The recorded demonstrations.
        alike: See :class:`Settings`.
        history: See :class:`Settings`.
        search: See :class:`Settings`.
        encoder: See :class:`Settings`.

    Raises:
        InvalidArgumentError: No demonstrations are given, or ``alike`` is no share.
        MissingDependencyError: The encoder is not on this machine.
        ResultsError: The file is not a recording.
    """

    name: ClassVar[str] = "imitator"
    focus: Experiment

    def __init__(
        self,
        checkpoint: str | os.PathLike[str] | None = None,
        alike: float = Settings.alike,
        history: bool = Settings.history,
        search: bool = Settings.search,
        encoder: str = Settings.encoder,
    ):
        if not 0.0 <= alike <= 1.0:
            raise InvalidArgumentError(f"expected alike in [0, 1], got {alike!r}")
        self.settings = Settings(float(alike), bool(history), bool(search), encoder)
        self._lore: Lore | None = None if checkpoint is None else _learned(os.fspath(checkpoint))
        self._meaning = Meaning(encoder)
        self._rng = np.random.default_rng(0)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Learn from recorded demonstrations."""
        self._lore = _learned(os.fspath(path))

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Forget the plan.

        Raises:
            InvalidArgumentError: There are no demonstrations.
        """
        if self._lore is None or not self._lore.demonstrations:
            raise InvalidArgumentError("expected checkpoint=FILE (recorded demonstrations)")
        self._rng = np.random.default_rng(seed)
        self.focus = Experiment()

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """The next move of the demonstration that agrees best, or a step towards it."""
        assert self._lore is not None
        if obs["text"].startswith(AMBIGUOUS):
            return "0"
        idle, seen = saw(self.focus, obs["text"], obs["inventory"])
        plan = dataclasses.replace(self.focus, idle=idle, seen=seen)
        turn = self._turn(obs, plan)
        pause = usual_pause(obs["task"], self._lore.demonstrations)
        stuck = turn.aim is not None and idle > max(_PATIENCE, _PAUSES * pause)
        if stuck and turn.has_looked:
            plan = dataclasses.replace(plan.giving_up(turn.series()), idle=0)
            turn = self._turn(obs, plan)
        action = turn.look() if stuck and not turn.has_looked else turn.action()
        self.focus = dataclasses.replace(plan, aim=turn.plan, action=action)
        return action

    def _turn(self, obs: Observation, plan: Experiment) -> Turn:
        assert self._lore is not None
        scene = read_scene(obs, plan.aim)
        how = self.settings, self._meaning, self._rng
        return Turn(self._lore, obs["task"], scene, *how, plan.abandoned)


@lru_cache(maxsize=4)
def _learned(path: str) -> Lore:
    return learn(path)
