"""An episode as it was played, and what an ideal observer could know of it at every step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import gymnasium as gym

from gym_memory.baselines.registry import make_policy
from gym_memory.run import rollout
from gym_memory.run.jobs import Job
from gym_memory.schema import LOCATIONS
from gym_memory.scoring.quality.observer import IdealObserver
from gym_memory.types import Oracle, Step, Task, Triple

__all__ = ["Account", "Moment", "Recording", "record"]


class Moment(NamedTuple):
    """One step of a played episode.

    Attributes:
        step: What the agent saw; what a memory is fed with.
        facts: All that was true; for scoring, and for memories that use the oracle.
        known: What the ideal observer knew after it.
        shown: What the step itself showed or told.
    """

    step: Step
    facts: frozenset[Triple]
    known: frozenset[Triple]
    shown: frozenset[Triple]


class Recording(NamedTuple):
    """A played episode.

    Attributes:
        job: What was played.
        task: The task, as the memory is told it.
        moments: The reset and every step; moment ``t`` is environment step ``t``.
    """

    job: Job
    task: Task
    moments: tuple[Moment, ...]


def record(job: Job) -> Recording:
    """Play an episode and note everything.

    Args:
        job: Environment, policy, seed, and the memory that the policy plays with.
    """
    env = job.make_env()
    try:
        watched = _Watched(env)
        rollout(watched, make_policy(job.policy), job.seed, task_id=job.task_id)
    finally:
        env.close()
    return Recording(job, watched.task, tuple(watched.moments))


class _Watched(gym.Wrapper[dict[str, Any], str, dict[str, Any], str]):
    """Notes every step."""

    def __init__(self, env: gym.Env[Any, Any]):
        super().__init__(env)
        self.task = Task("", "")
        self.moments: list[Moment] = []
        self._oracle = env.get_wrapper_attr("oracle")
        self._observer = IdealObserver()

    def reset(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin to watch an episode."""
        obs, info = self.env.reset(**kwargs)
        self.task = Task(info["task_id"], obs["task"], self.env.get_wrapper_attr("dialect"))
        self._observer = IdealObserver.of(self._oracle())
        self.moments = []
        self._note(obs, info, "", 0.0, done=False)
        return obs, info

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play a step and note it."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._note(obs, info, action, float(reward), done=terminated or truncated)
        return obs, float(reward), terminated, truncated, info

    def _note(
        self, obs: dict[str, Any], info: dict[str, Any], action: str, reward: float, *, done: bool
    ) -> None:
        oracle: Oracle = self._oracle()
        self._observer.see(oracle, obs["text"], action)
        step = Step(
            info["moves"], obs["text"], action, reward, obs["inventory"], obs["valid_actions"], done
        )
        self.moments.append(Moment(step, oracle.facts, self._observer.known, self._observer.shown))


class Account:
    """What can be asked about an episode after some step.

    Args:
        moments: The episode up to that step, from its reset.

    Attributes:
        now: The step.
        moment: The last moment.
        known: What is known now, in a fixed order.
    """

    def __init__(self, moments: Sequence[Moment]):
        self.moments = moments
        self.moment = moments[-1]
        self.now = len(moments) - 1
        self.known = sorted(self.moment.known)
        self._shown: dict[Triple, list[int]] = {}
        for t, moment in enumerate(moments):
            for fact in moment.shown:
                self._shown.setdefault(fact, []).append(t)
        self._places = [
            {f.subject: f.object for f in moment.known if f.relation in LOCATIONS}
            for moment in moments
        ]

    def place(self, thing: str, t: int | None = None) -> str:
        """What a thing was known to be in or on after step ``t`` (now, if None); "" if unknown."""
        return self._places[self.now if t is None else t].get(thing, "")

    def places(self, t: int | None = None) -> dict[str, str]:
        """Things and what they were known to be in or on."""
        return self._places[self.now if t is None else t]

    def first(self, fact: Triple) -> int | None:
        """The step that first showed a fact; None if none did."""
        steps = self._shown.get(fact)
        return steps[0] if steps else None

    def age(self, facts: Iterable[Triple], t: int | None = None) -> int:
        """Steps since the evidence of all of these facts was last shown, no later than ``t``."""
        end = self.now if t is None else t
        oldest = end
        for fact in facts:
            steps = self._shown.get(fact, [0])
            oldest = min(oldest, steps[max(bisect_right(steps, end) - 1, 0)])
        return self.now - oldest
