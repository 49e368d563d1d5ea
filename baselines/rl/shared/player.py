"""The policy that plays what a learner has learnt."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from gym_memory.baselines.base import Policy
from gym_memory.baselines.rl.shared.checkpoints import load_player
from gym_memory.baselines.rl.shared.learner import Learner, playable
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation

__all__ = ["LearnedPolicy"]


class LearnedPolicy(Policy):
    """Plays what a learner has learnt, greedily, in the same loop as every other policy.

    Args:
        checkpoint: Folder that ``gym-memory train`` wrote, or the ``best`` or ``last`` in it.
        device: ``cpu`` or ``cuda``.

    Raises:
        InvalidArgumentError: No checkpoint is given, or there is no such device here.
        CheckpointError: It cannot be read, or is one of another baseline.
    """

    learner_class: ClassVar[type[Learner]]
    explores: bool = False

    def __init__(self, checkpoint: str = "", *, device: str = "cpu"):
        if not checkpoint:
            raise InvalidArgumentError(
                f"expected {self.name}?checkpoint=FOLDER: train one with "
                f"'gym-memory train {self.name} --env ENV --out FOLDER'"
            )
        self.device = device
        self.load(checkpoint)
        self._seen: Any = None
        self._action = -1

    def load(self, path: str | os.PathLike[str]) -> None:
        """Read a checkpoint."""
        self.learner = load_player(path, self.learner_class, self.device)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode."""
        self._seen, self._action = None, -1

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """The valid action of the highest value; ``look`` where none is listed."""
        obs = playable(obs)
        self._seen = self.learner.see(obs, "", self._seen, self._action)
        self._action = self.learner.act([self._seen], explore=self.explores)[0]
        return obs["valid_actions"][self._action]
