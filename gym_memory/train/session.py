"""Sessions: the episodes that ``gym-memory run`` plays, by split and index."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from gym_memory.baselines.llm.answers import UnreadableAnswerError, read_action
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec
from gym_memory.core.records import Cue, Observation
from gym_memory.core.settings import LARGEST_SEED, check_int, check_name, check_text
from gym_memory.llm.thinking import without_thinking
from gym_memory.wrappers.make import make_env
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["ALL", "GameTurn", "Session", "check_game", "split_names", "task_names"]

ALL = "all"
"""Name of the split of an environment without splits."""
TRAIN = "train"


class GameTurn(NamedTuple):
    """An observation with memory, and the result of the last command; a reset has reward 0."""

    obs: Observation
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]

    @property
    def done(self) -> bool:
        """True if the episode is over."""
        return self.terminated or self.truncated


class Session:
    """Episodes of one environment with one memory, one after another.

    The environment's own split is played if ``reset`` names none. ``isolate="process"`` plays in a
    process with limits, unless the environment says.
    """

    def __init__(
        self,
        env: str,
        memory: str = DEFAULT_MEMORY,
        budget: int = DEFAULT_BUDGET,
        isolate: str = "none",
    ):
        self.env_spec, self.memory_spec, self.budget = env, memory, budget
        self._isolate = isolate
        self.env: Any = _make(env, "", memory, budget, isolate)
        self._split: str = self.env.get_wrapper_attr("split") or ALL
        self._own_split = self._split
        self._turn: GameTurn | None = None
        self._rng = np.random.default_rng()

    @property
    def turn(self) -> GameTurn:
        """Return the present turn."""
        if self._turn is None:
            raise InvalidArgumentError("expected reset() before anything else")
        return self._turn

    def reset(
        self, *, split: str = "", index: int | None = None, seed: int | None = None
    ) -> GameTurn:
        """Begin an episode.

        Without ``index`` and ``seed`` a task is drawn, from the split ``train`` where none is named
        and the environment has it. A seed also begins the draws after it.

        Args:
            split: A split; empty for the environment's own.
            index: Number of the task in the split; if None the seed chooses.
            seed: Seed of the environment and of the memory, >= 0; by default the index, so that
                index ``i`` alone is seed ``i`` of ``gym-memory run``.
        """
        if seed is not None:
            self._rng = np.random.default_rng(check_int("seed", seed, 0, LARGEST_SEED))
        elif index is None:
            split = check_text("split", split) or self._training_split()
            index = int(self._rng.integers(len(task_names(self.env_spec, split))))
        self._change_split(check_text("split", split) or self._own_split)
        options = None
        if index is not None:
            options = {"task_id": task_name(self.env_spec, self._split, index)}
            seed = index if seed is None else seed
        obs, info = self.env.reset(seed=seed, options=options)
        self._turn = GameTurn(obs, 0.0, bool(info["won"] or info["lost"]), False, info)
        return self._turn

    def step(self, reply: str) -> GameTurn:
        """Play a command, or the reply of a model."""
        check_text("reply", reply)
        if self.turn.done:
            raise InvalidArgumentError("the episode is over: expected reset() before step()")
        try:
            command = read_action(reply, self.turn.obs["valid_actions"]).action
        except UnreadableAnswerError:
            command = without_thinking(reply)
        obs, reward, terminated, truncated, info = self.env.step(command)
        self._turn = GameTurn(obs, float(reward), terminated, truncated, info)
        return self._turn

    def recall(self, question: str, budget: int | None = None) -> str:
        """Return the memory's recall for a question, within the budget; change nothing."""
        obs = self.turn.obs
        cue = Cue(check_text("question", question), obs["task"], obs["inventory"], focus=question)
        room = self.budget if budget is None else budget
        recalled: str = self.env.get_wrapper_attr("memory").recall(cue, room).text
        return recalled

    def valid_actions(self) -> tuple[str, ...]:
        """Return the valid actions of the present state, even if the observation lists none."""
        valid: tuple[str, ...] = self.env.get_wrapper_attr("valid_actions")()
        return valid

    def snapshot(self) -> Any:
        """Return the state of game and memory, for :meth:`restore` before the next reset."""
        return self.env.get_wrapper_attr("snapshot")(), self.turn

    def restore(self, snapshot: Any) -> GameTurn:
        """Return to a snapshot, any number of times; return its turn."""
        state, self._turn = snapshot
        self.env.get_wrapper_attr("restore")(state)
        return self.turn

    def close(self) -> None:
        """Close the game; calling it twice is harmless."""
        self.env.close()
        self._turn = None

    def _training_split(self) -> str:
        named = "split" in Spec(self.env_spec).kwargs
        has_one = TRAIN in split_names(self.env_spec)
        return TRAIN if has_one and not named else self._own_split

    def _change_split(self, split: str) -> None:
        if split == self._split:
            return
        known = split_names(self.env_spec)
        check_name("split", split, known)
        env = _make(self.env_spec, split, self.memory_spec, self.budget, self._isolate)
        self.env.close()
        self.env, self._split = env, split


def _make(env: str, split: str, memory: str, budget: int, isolate: str = "none") -> Any:
    name, kwargs = Spec(env).parts
    for key in ("memory", "budget"):
        if key in kwargs:
            raise InvalidArgumentError(f"{env!r} sets {key!r}: give it by its own option instead")
    if split and split != ALL:
        kwargs = {**kwargs, "split": split}
    kwargs = {"isolate": isolate, **kwargs}
    return make_env(name, memory=memory, budget=budget, **kwargs)


def check_game(env: str, memory: str, budget: int, split: str = "") -> tuple[str, ...]:
    """Return the ids of a split's tasks; raise for a wrong name before clients connect."""
    Session(env, memory, budget, isolate="process").close()
    return task_names(env, split)


@functools.lru_cache(maxsize=64)
def split_names(env: str) -> tuple[str, ...]:
    """Return the splits of an environment, its own first; :data:`ALL` if it has none."""
    made = _make(env, "", "none", 0)
    try:
        own = made.get_wrapper_attr("split") or ALL
        return (own, *(name for name in made.get_wrapper_attr("splits") if name != own))
    finally:
        made.close()


@functools.lru_cache(maxsize=64)
def task_names(env: str, split: str = "") -> tuple[str, ...]:
    """Return the ids of a split's tasks, in the order of their index; by default the own split."""
    known = split_names(env)
    if split:
        check_name("split", split, known)
    made = _make(env, split or known[0], "none", 0)
    try:
        return tuple(made.get_wrapper_attr("task_ids"))
    finally:
        made.close()


def task_name(env: str, split: str, index: int) -> str:
    """Return the id of one task."""
    names = task_names(env, split)
    if not 0 <= check_int("index", index, 0) < len(names):
        raise InvalidArgumentError(
            f"expected an index below {len(names)}, the number of tasks in {split!r}, got {index}"
        )
    return names[index]
