"""Loop in which a policy plays an episode of an environment.

All policies go through :func:`rollout`, so their results are comparable. It measures an episode,
and neither prints nor writes.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym

from gym_memory.baselines.base import Act, Policy, make_policy
from gym_memory.core.errors import BudgetExceededError
from gym_memory.core.records import MemoryStats, Transition, check_bounded, value_of
from gym_memory.llm import Meter, episode_usage, logged_calls

__all__ = ["EpisodeResult", "OnStep", "rollout"]

_KEPT = ("max_depth",)
"""Keys of an episode's last info whose values the row keeps."""

OnStep = Callable[[int, dict[str, Any]], None]
"""A function of the number of the step (0 for the reset) and its info."""


@dataclasses.dataclass(frozen=True)
class EpisodeResult:
    """Measurements of an episode.

    ``score`` is in the backend's points; ``max_score`` is 0 and ``normalized`` None if the best
    score is unknown. ``success`` and ``lost`` are the backend's own, None if it does not define a
    win. ``tokens`` is the mean of the recalls, ``memory_ms`` the mean of a step's update and
    recall. ``counters`` are those of policy, memory and models; ``curve`` has points ``(step,
    value)`` where the value changed. ``failed`` says why an episode is incomplete, with more in
    ``detail``. ``notes`` report recalls over the budget, failed calls of models, and
    what was cut or estimated. ``models`` names the models that answered, as their servers do.
    """

    task_id: str = ""
    split: str = ""
    backend_version: str = ""
    score: float = 0.0
    max_score: float = 0.0
    normalized: float | None = 0.0
    success: bool | None = False
    lost: bool = False
    steps: int = 0
    n_invalid: int = 0
    tokens: float = 0.0
    memory_ms: float = 0.0
    seconds: float = 0.0
    cost_usd: float = 0.0
    counters: Mapping[str, float] = dataclasses.field(default_factory=dict)
    curve: tuple[tuple[int, float], ...] = ()
    failed: str = ""
    detail: str = ""
    notes: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    CLOCKS = ("memory_ms", "seconds")
    """Fields with measured times; the others are equal in two runs of an episode."""

    @classmethod
    def failure(cls, reason: str, detail: str = "", **known: Any) -> EpisodeResult:
        """Return the result of an interrupted episode, whose score is 0."""
        return cls(failed=reason or "failed", detail=detail, **known)

    @property
    def value(self) -> float:
        """Return the normalized score, or the score if that is None."""
        return self.score if self.normalized is None else self.normalized

    def with_usage(self, meter: Meter) -> EpisodeResult:
        """Return the result with the usage of language models, if any."""
        if not meter.by_role():
            return self
        usage = meter.counters()
        cost = self.cost_usd + usage.pop("cost_usd")
        counters = {**self.counters, **usage}
        return dataclasses.replace(
            self,
            cost_usd=cost,
            counters=counters,
            notes=(*self.notes, *meter.notes()),
            models=meter.models(),
        )

    @property
    def priced(self) -> bool:
        """True if all calls have a known price, so that ``cost_usd`` is complete."""
        return not self.counters.get("llm_unpriced")

    @property
    def stopped(self) -> bool:
        """True if a limit of money or tokens ended the episode, which can be continued."""
        return self.failed.startswith(BudgetExceededError.__name__)


def rollout(
    env: gym.Env[Any, Any],
    policy: Policy | Act,
    seed: int,
    *,
    task_id: str = "",
    policy_seed: int | None = None,
    limit: int | None = None,
    returns: bool = False,
    on_step: OnStep | None = None,
) -> EpisodeResult:
    """Play one episode and measure it; errors of environment and policy pass through.

    Args:
        env: An environment, usually with a memory in its observation.
        policy: The player, or a function ``act(obs, info) -> str``.
        seed: Seed of the environment's reset.
        task_id: Task instance; empty to choose it by ``seed``.
        policy_seed: Seed of the policy; ``seed`` if None.
        limit: Most steps of the episode, in addition to the environment's limit.
        returns: Whether the policy may go back to kept states until the limit; it takes no step.
        on_step: Called after the reset and after every step.
    """
    policy = make_policy(policy)
    with episode_usage() as meter, logged_calls() as calls:
        if env.has_wrapper_attr("model_calls"):  # steps are recorded, with the calls of models
            env.set_wrapper_attr("model_calls", calls)
        if policy.uses_oracle:
            policy.oracle = env.get_wrapper_attr("oracle")
        set_focus = env.get_wrapper_attr("set_focus") if env.has_wrapper_attr("set_focus") else None
        tally = _Tally(env, policy, on_step)
        policy.keep_state = env.get_wrapper_attr("snapshot") if returns else None
        obs, info = env.reset(seed=seed, options={"task_id": task_id} if task_id else None)
        policy.reset(info, seed if policy_seed is None else policy_seed)
        tally.add(info)
        terminated, truncated = bool(info.get("won") or info.get("lost")), False
        while True:
            left = returns and tally.steps < (limit or 0) and not info.get("won")
            kept = policy.back() if left else None
            if kept is not None:
                obs, info = env.get_wrapper_attr("restore")(kept)
            elif terminated or truncated:
                break
            policy.substitute = None
            action = policy.act(obs, info)
            if policy.substitute is not None and env.has_wrapper_attr("model_calls"):
                env.set_wrapper_attr("substitute", policy.substitute)
            if set_focus is not None:
                set_focus(policy.focus)
            next_obs, reward, terminated, truncated, info = env.step(action)
            if limit is not None and not terminated:
                truncated = truncated or tally.steps + tally.counts(info) >= limit
            policy.update(
                Transition(obs, action, float(reward), next_obs, terminated, truncated, info)
            )
            obs = next_obs
            tally.add(info)
        if limit is not None and env.has_wrapper_attr("finish"):
            env.get_wrapper_attr("finish")()  # a memory also learns from a truncated episode
        result = tally.result()
    return result.with_usage(meter)


class _Tally:
    def __init__(self, env: gym.Env[Any, Any], policy: Policy, on_step: OnStep | None):
        memory = env.get_wrapper_attr("memory") if env.has_wrapper_attr("memory") else None
        self._memory, self._over_before = memory, getattr(memory, "over_budget", 0)
        self._counting: list[Any] = [c for c in (policy, memory) if hasattr(c, "counters")]
        self._before = self._counters()
        self._started = time.perf_counter()
        self._on_step = on_step
        self._info: dict[str, Any] = {}
        self._curve: list[tuple[int, float]] = []
        self._tokens = self._shown = 0
        self._memory_ms = 0.0
        self.steps = -1

    def _counters(self) -> dict[str, float]:
        total: dict[str, float] = {}
        for part in self._counting:
            for name, value in part.counters().items():
                total[name] = total.get(name, 0) + value
        return total

    def counts(self, info: dict[str, Any]) -> bool:
        """True if a step was taken and not a free operation on the memory."""
        return not ("written" in info and info["written"].free)

    def add(self, info: dict[str, Any]) -> None:
        """Count one observation, of the reset or a step."""
        self.steps += self.counts(info)
        self._shown += 1
        self._info = info
        stats = info.get("memory_stats") or MemoryStats()
        self._tokens += stats.tokens
        self._memory_ms += stats.update_ms + stats.recall_ms
        value = value_of(info)
        if not self._curve or self._curve[-1][1] != value:
            self._curve.append((self.steps, value))
        if self._on_step is not None:
            self._on_step(self.steps, info)

    def result(self) -> EpisodeResult:
        info, shown = self._info, self._shown
        normalized = info.get("normalized_score")
        counters = {
            name: value - self._before.get(name, 0) for name, value in self._counters().items()
        }
        counters |= {name: float(info[name]) for name in _KEPT if name in info}
        stats = info.get("memory_stats")
        if stats is not None and stats.writes:
            counters["memory_writes"] = stats.writes
        over = getattr(self._memory, "over_budget", 0) > self._over_before
        name = type(self._memory).__name__
        return EpisodeResult(
            task_id=info.get("task_id", ""),
            split=info.get("split", ""),
            backend_version=info.get("backend_version", ""),
            score=float(check_bounded("score", info.get("score", 0.0))),
            max_score=float(check_bounded("max_score", info.get("max_score", 0.0))),
            normalized=None
            if normalized is None
            else float(check_bounded("normalized_score", normalized)),
            success=info.get("success", False),
            lost=bool(info.get("lost", False)),
            steps=self.steps,
            n_invalid=int(info.get("n_invalid", 0)),
            tokens=self._tokens / shown,
            memory_ms=self._memory_ms / shown,
            seconds=time.perf_counter() - self._started,
            cost_usd=float(counters.pop("cost_usd", 0.0)),
            counters=counters,
            curve=tuple(self._curve),
            notes=(f"{name} recalls more than its budget: such recalls are shown empty",)
            if over
            else (),
        )
