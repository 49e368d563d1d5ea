"""A teacher beside the learner, which sees the same game through a memory of its own."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from gym_memory.baselines.rl.shared.learner import PlannerTeacher, TeacherAdvice
from gym_memory.wrappers.memory import DEFAULT_BUDGET, MemoryObservation

__all__ = ["AdvisedObservation"]

Obs = dict[str, Any]
_OF_MEMORY = ("memory", "triples", "episodes", "lessons")


class _Relay(gym.Wrapper[Obs, str, Obs, str]):
    """Repeats the last answer of another environment."""

    answer: tuple[Obs, float, bool, bool, dict[str, Any]]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        return self.answer[0], dict(self.answer[4])

    def step(self, action: str) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.answer
        return obs, reward, terminated, truncated, dict(info)


class AdvisedObservation(gym.Wrapper[Obs, str, Obs, str]):
    """Add ``advice`` to an observation: the action of a planner with a memory of its own.

    So learners that see different memories have the same teacher.
    """

    def __init__(
        self, env: gym.Env[Any, str], memory: str = "arigraph", budget: int = DEFAULT_BUDGET
    ):
        super().__init__(env)
        space = env.observation_space
        assert isinstance(space, gym.spaces.Dict)
        self.observation_space = gym.spaces.Dict(
            {**space.spaces, "advice": gym.spaces.Text(10_000, min_length=0)}
        )
        self._relay = _Relay(env.unwrapped)
        self._view = MemoryObservation(self._relay, memory, budget)
        self._teacher = PlannerTeacher(env.get_wrapper_attr("dialect"))
        self._advice: TeacherAdvice | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Reset game and teacher."""
        obs, info = self.env.reset(seed=seed, options=options)
        self._advice = None
        self._pass_on(obs, 0.0, False, False, info)
        return self._advised(obs, self._view.reset(seed=seed)[0], info, ""), info

    def step(self, action: str) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Step; the teacher sees the result."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._pass_on(obs, float(reward), terminated, truncated, info)
        view = self._view.step(action)[0]
        over = terminated or truncated
        shown = {**obs, "advice": ""} if over else self._advised(obs, view, info, action)
        return shown, float(reward), terminated, truncated, info

    def _pass_on(self, obs: Obs, *rest: Any) -> None:
        raw = {key: value for key, value in obs.items() if key not in _OF_MEMORY}
        self._relay.answer = (raw, *rest)

    def _advised(self, obs: Obs, view: Any, info: dict[str, Any], action: str) -> Obs:
        self._advice = self._teacher.advise(view, info["task_id"], self._advice, action)
        return {**obs, "advice": self._advice.action}
