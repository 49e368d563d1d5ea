"""An environment together with an ideal observer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym

from gym_memory.core.records import Oracle
from gym_memory.evaluate.quality.observer import IdealObserver

__all__ = ["ObserveOracle", "StepSight"]


class StepSight(NamedTuple):
    """A step: the result of an action (empty at the reset), and the engine's facts.

    ``observer`` continues with the episode, so its knowledge is valid until the next step.
    """

    obs: dict[str, Any]
    info: dict[str, Any]
    action: str
    reward: float
    done: bool
    oracle: Oracle
    observer: IdealObserver


class ObserveOracle(gym.Wrapper[dict[str, Any], str, dict[str, Any], str]):
    """An environment, and an observer that sees each step with the engine's facts.

    Args:
        env: An environment of this package.
        on_sight: Called after the reset and after every step.
        choose: Returns the action to play in place of the policy's.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        on_sight: Callable[[StepSight], None],
        choose: Callable[[str], str] = str,
    ):
        super().__init__(env)
        self.observer = IdealObserver()
        self._on_sight, self._choose = on_sight, choose
        self._oracle: Callable[[], Oracle] = env.get_wrapper_attr("oracle")

    def reset(self, **given: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode with an observer that knows nothing yet."""
        obs, info = self.env.reset(**given)
        self.observer = IdealObserver.of(self._oracle())
        self._see(obs, info, "", 0.0, done=False)
        return obs, info

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play the chosen action."""
        action = self._choose(action)
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._see(obs, info, action, float(reward), done=terminated or truncated)
        return obs, float(reward), terminated, truncated, info

    def _see(
        self, obs: dict[str, Any], info: dict[str, Any], action: str, reward: float, *, done: bool
    ) -> None:
        oracle = self._oracle()
        self.observer.see(oracle, obs["text"], action, obs["valid_actions"])
        self._on_sight(StepSight(obs, info, action, reward, done, oracle, self.observer))
