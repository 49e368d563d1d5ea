"""MemoryObservation: the maintained memory as part of the observation."""

from __future__ import annotations

import time
from typing import Any

import gymnasium as gym

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import (
    Cue,
    Observation,
    Outcome,
    PlanState,
    Reasons,
    Step,
    Task,
    changed,
)
from gym_memory.core.settings import check_text
from gym_memory.draw.page import observation_table
from gym_memory.games.spaces import RAW_KEYS, check_keys, memory_observation_space
from gym_memory.memory.base import Memory, check_budget, count_tokens, make_memory

__all__ = ["DEFAULT_BUDGET", "DEFAULT_MEMORY", "MemoryObservation"]

DEFAULT_MEMORY = "arigraph"
"""Name of the default memory."""
DEFAULT_BUDGET = 1000
"""Default budget of a recall, in tokens."""

Obs = dict[str, Any]

_WRAP = (
    "wrap a text environment; one that was not written for gym-memory is made by "
    "gym_memory.wrap(env), on the command line by Foreign?entry=MODULE:FUNCTION"
)


class MemoryObservation(gym.Wrapper[Observation, str, Obs, str], gym.utils.RecordConstructorArgs):
    """An observation extended by the recall of a memory.

    It adds ``memory triples episodes lessons`` to the raw observation, whatever the memory, and
    ``memory_stats`` to info. The memory learns the end of an episode (``Memory.end``) when the
    environment ends it, by :meth:`finish` if it is cut from outside, or at the latest by the next
    ``reset``, so that a memory that learns over trials learns from every episode.

    An action that is an operation of the memory (``note: ...``, see :meth:`.Memory.write`) goes to
    the memory. A free operation takes no step: the observation stays the same but for the recall,
    and the reward is 0. Any other takes a step that the game does not see. Info has ``operations``
    if the memory takes any, and ``written``, the result of one.

    Every memory sees what a step earned (:class:`.SharedSettings`, ``rewards``); ``text`` stays the
    game's. Info has this reward as ``earned``; it is 0 if rewards are hidden.

    Args:
        env: A raw text environment.
        memory: Name of a memory with optional parameters, e.g. ``"history?window=5"``.
        budget: Tokens that the rendered recall may take, >= 0.
    """

    def __init__(
        self, env: gym.Env[Any, str], memory: str = DEFAULT_MEMORY, budget: int = DEFAULT_BUDGET
    ):
        check_keys("MemoryObservation", env, RAW_KEYS, _WRAP)
        if not isinstance(memory, str):
            got = getattr(memory, "__name__", type(memory).__name__)
            raise InvalidArgumentError(
                f"expected memory as a name such as 'arigraph?depth=2', got {got}; register a "
                "class of your own with gym_memory.memory.MEMORIES.register(name, cls)"
            )
        check_budget(budget)
        gym.utils.RecordConstructorArgs.__init__(self, memory=memory, budget=budget)
        gym.Wrapper.__init__(self, env)
        self.observation_space: gym.Space[Any] = memory_observation_space()
        self.memory: Memory = make_memory(memory)
        self.budget = budget
        self._plan = PlanState()
        self._cue, self._step = Cue(""), Step(0, "")
        self._open: Outcome | None = None
        self._seen: tuple[Obs, dict[str, Any]] = {}, {}
        if self.memory.uses_oracle:
            self.memory.oracle = env.get_wrapper_attr("oracle")

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the parts that rebuild this environment with its memory in any process."""
        shown = self._plan, self._cue, self._step, self._open, self._seen
        saved = self._saved_kwargs
        return _remake, (self.env, saved["memory"], saved["budget"], self.memory.state(), shown)

    def set_focus(self, focus: PlanState | str) -> None:
        """Steer the recalls of this episode by the aim of a plan, or by an aim in words."""
        if not isinstance(focus, PlanState):
            focus = PlanState(check_text("focus", focus))
        self._plan = focus

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Reset the environment; the memory begins an episode and sees the first observation."""
        obs, info = self.env.reset(seed=seed, options=options)
        self._plan = PlanState()
        dialect = self.env.get_wrapper_attr("dialect")
        started = time.perf_counter()
        self.finish()
        self.memory.begin(Task(info["task_id"], obs["task"], dialect), seed)
        return self._remember(obs, info, "", 0.0, done=False, started=started)

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Step the environment; the memory learns from it, then recalls."""
        running = self._open is not None and isinstance(action, str)
        written = self.memory.write(action) if running else None
        if written and written.free:
            shown, info = self._show(*self._seen, 0.0)
            return shown, 0.0, False, False, {**info, "earned": 0.0, "written": written}
        obs, reward, terminated, truncated, info = self.env.step("" if written else action)
        done = terminated or truncated
        shown, info = self._remember(obs, info, action, float(reward), done=done)
        if written:
            info["written"] = written
        return shown, float(reward), terminated, truncated, info

    @property
    def focus(self) -> str:
        """Return the plan that steered the last recall, together with the observation."""
        return self._cue.focus

    @property
    def plan(self) -> PlanState:
        """Return the plan that the policy published last, with its own notes.

        Set it in vector environments, ``envs.set_attr("plan", [player.focus for ...])``.
        """
        return self._plan

    @plan.setter
    def plan(self, plan: PlanState | str) -> None:
        self.set_focus(plan)

    def reasons(self) -> Reasons:
        """Return the reasons for each item of the last recall; see :meth:`.Memory.reasons`."""
        return self.memory.reasons(self._cue, self.budget)

    def finish(self) -> None:
        """Close an episode that was cut from outside; do nothing if none is open."""
        if self._open is not None and self._open.steps:
            self.memory.end(self._open)
        self._open = None

    def _remember(
        self,
        obs: Obs,
        info: dict[str, Any],
        action: str,
        reward: float,
        *,
        done: bool,
        started: float | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        started = time.perf_counter() if started is None else started
        step = Step(
            t=info["moves"],
            text=obs["text"],
            action=" ".join(action.splitlines()),
            reward=reward,
            inventory=obs["inventory"],
            valid_actions=obs["valid_actions"],
            done=done,
            thought=self._plan.thought if action else "",
        )
        self._step = self.memory.admit(step, obs["task"])
        self.memory.observe(self._step)
        self._open = Outcome.from_info(info)
        if done:
            self.memory.end(self._open)
            self._open = None
        learnt = time.perf_counter()
        return self._show(obs, info, (learnt - started) * 1e3)

    def _show(
        self, obs: Obs, info: dict[str, Any], update_ms: float
    ) -> tuple[Observation, dict[str, Any]]:
        self._seen = obs, info
        started = time.perf_counter()
        aim = str(self._plan.aim)
        seen = self._step
        self._cue = Cue(seen.text, obs["task"], seen.inventory, obs["valid_actions"], aim)
        recall = self.memory.recall(self._cue, self.budget)
        recall_ms = (time.perf_counter() - started) * 1e3
        stats = changed(
            self.memory.stats(),
            tokens=count_tokens(recall.text),
            update_ms=update_ms,
            recall_ms=recall_ms,
        )
        shown: Observation = {
            "text": obs["text"],
            "task": obs["task"],
            "inventory": obs["inventory"],
            "valid_actions": obs["valid_actions"],
            "memory": recall.text,
            "triples": recall.triples,
            "episodes": recall.episodes,
            "lessons": recall.lessons,
        }
        extra: dict[str, Any] = {"earned": seen.reward}
        if self.memory.operations:
            extra["operations"] = self.memory.operations
        return shown, {**info, "memory_stats": stats, **extra}

    def _repr_html_(self) -> str:
        """Return the present observation and the memory's content as HTML, for a notebook."""
        return observation_table(str(self), self._seen[0]) + self.memory._repr_html_()

    def snapshot(self) -> Any:
        """Return the state of the environment and of the memory together, for tree search."""
        below = self.env.get_wrapper_attr("snapshot")()
        return below, self.memory.snapshot(), self._plan, self._open, self._step

    def restore(self, snapshot: Any) -> tuple[Observation, dict[str, Any]]:
        """Return to a snapshot of both; return its observation and info."""
        below, memory, self._plan, self._open, self._step = snapshot
        obs, info = self.env.get_wrapper_attr("restore")(below)
        self.memory.restore(memory)
        return self._show(obs, info, 0.0)


def _remake(
    env: gym.Env[Any, str], memory: str, budget: int, state: dict[str, Any], shown: tuple[Any, ...]
) -> MemoryObservation:
    """Build the copied or unpickled environment, with its memory as it was."""
    made = MemoryObservation(env, memory, budget)
    made._plan, made._cue, made._step, made._open, made._seen = shown
    if made._seen[0]:
        made.memory.load_state(state)
    return made
