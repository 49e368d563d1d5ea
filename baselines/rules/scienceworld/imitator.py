"""A ScienceWorld imitator: behaviour cloning from recorded solutions of *train* variations.

It follows the demonstration that agrees best with the goal, the memory and the view
(:mod:`.guide`), and takes its next move (:mod:`.turn`). Its only state is its published plan.
"""

from __future__ import annotations

import dataclasses
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.rules.plan import track_novelty
from gym_memory.baselines.rules.scienceworld.demonstrations import (
    ShownKnowledge,
    learn,
    usual_pause,
)
from gym_memory.baselines.rules.scienceworld.scene import Experiment, read_scene
from gym_memory.baselines.rules.scienceworld.turn import ScienceDecision
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation
from gym_memory.games.scienceworld.rules_items import AMBIGUOUS

__all__ = ["SHIPPED", "Imitator"]

SHIPPED = Path(__file__).with_name("demonstrations.jsonl.gz")
"""Shipped demonstrations, recorded by benchmarks/scienceworld/demonstrate.py."""

_PATIENCE = 12
"""Least number of steps without anything new before a move is given up."""
_PATIENCE_PAUSES = 2
"""Same limit as a multiple of the demonstration's longest pause; the larger limit counts."""


class Imitator(Policy):
    """A ScienceWorld player that follows the best demonstration.

    Without a demonstration of the task it uses the nearest one, but then focuses only on objects
    that the goal names, since a wrong focus ends the task. If nothing new happens for longer than
    in any demonstration, it looks around and then gives up its move.

    Args:
        checkpoint: The recorded demonstrations, or ``shipped``: solutions of train variations of
            18 tasks.
    """

    focus: Experiment

    def __init__(self, checkpoint: str | os.PathLike[str] | None = None):
        self._knowledge: ShownKnowledge | None = (
            None if checkpoint is None else _learned(os.fspath(checkpoint))
        )
        self._rng = np.random.default_rng(0)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Learn from recorded demonstrations."""
        self._knowledge = _learned(os.fspath(path))

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Forget the plan."""
        if self._knowledge is None or not self._knowledge.demonstrations:
            raise InvalidArgumentError(
                "expected checkpoint=FILE (recorded demonstrations), or shipped"
            )
        self._rng = np.random.default_rng(seed)
        self.focus = Experiment()

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next move of the best demonstration, or a step towards it."""
        assert self._knowledge is not None
        if obs["text"].startswith(AMBIGUOUS):
            return "0"
        idle, seen = track_novelty(self.focus, obs["text"], obs["inventory"])
        plan = dataclasses.replace(self.focus, idle=idle, seen=seen)
        turn = self._turn(obs, plan)
        pause = usual_pause(obs["task"], self._knowledge.demonstrations)
        stuck = turn.aim is not None and idle > max(_PATIENCE, _PATIENCE_PAUSES * pause)
        if stuck and turn.has_looked:
            plan = dataclasses.replace(plan.giving_up(turn.round_of_aim()), idle=0)
            turn = self._turn(obs, plan)
        action = turn.look() if stuck and not turn.has_looked else turn.action()
        self.focus = dataclasses.replace(plan, aim=turn.plan, action=action)
        return action

    def _turn(self, obs: Observation, plan: Experiment) -> ScienceDecision:
        assert self._knowledge is not None
        scene = read_scene(obs, plan.aim)
        return ScienceDecision(self._knowledge, obs["task"], scene, self._rng, plan.abandoned)


@lru_cache(maxsize=4)
def _learned(path: str) -> ShownKnowledge:
    return learn(SHIPPED if path == "shipped" else path)
