"""Base class of raw text environments, with Gymnasium's contract, and their registry.

A backend sets ``_ids`` and implements four hooks (``_open _send _list_valid_actions _close``), and,
if its engine supports it, ``_save`` and ``_load``, which are faster than replaying the actions.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import gymnasium as gym
from gymnasium.envs.registration import register, registry

from gym_memory.core import components
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Registry
from gym_memory.core.optional import check_installed
from gym_memory.core.records import Oracle, check_bounded
from gym_memory.core.settings import check_flag, check_int
from gym_memory.draw.escape import visible
from gym_memory.draw.page import observation_table
from gym_memory.games.spaces import FreeText, raw_observation_space

__all__ = ["ENVIRONMENTS", "NAMESPACE", "Feedback", "Snapshot", "TextEnv", "env_id"]
__all__ += ["register_envs"]

_REFUSED_LONG = "That command is too long to be understood."
_REFUSED_EMPTY = "Nothing was said, so nothing happens."
_REFUSED_LINES = "Only one command on one line can be understood."

_opening = threading.RLock()
"""Lock for opening games, as readers of engines are not thread-safe; environments may nest."""


class Feedback(NamedTuple):
    """A backend's answer to a command.

    Attributes:
        text: Bare feedback, without banner and status line.
        max_score: Highest score; 0 if unknown.
        inventory: Inventory text; empty if not requested.
        accepted: Whether the engine understood and accepted the command.
        over: The backend ended the episode without a win or a loss.
        cut: The backend's own limit was reached.
        reward: Reward of the command; None for the change of the score.
    """

    text: str
    score: float = 0.0
    max_score: float = 0.0
    won: bool = False
    lost: bool = False
    inventory: str = ""
    accepted: bool = True
    over: bool = False
    cut: bool = False
    reward: float | None = None


def _expect_feedback(found: Any) -> Feedback:
    """Check the types of a feedback from a game's code and return it."""
    if not isinstance(found, Feedback):
        raise InvalidArgumentError(f"expected a Feedback, got {type(found).__name__}")
    for name, kind in (("text", str), ("inventory", str), ("score", Real), ("max_score", Real)):
        value = getattr(found, name)
        if not isinstance(value, kind):
            wanted = "text" if kind is str else "a number"
            raise InvalidArgumentError(
                f"expected Feedback.{name} as {wanted}, got {value!r:.60} ({type(value).__name__})"
            )
    return found


class Snapshot(NamedTuple):
    """A state of the environment, for :meth:`TextEnv.restore` in the same process."""

    task_id: str
    actions: tuple[str, ...]
    feedback: Feedback
    invalid: int
    done: bool
    native: Any


class TextEnv(gym.Env[dict[str, Any], str]):
    """A base class of raw text environments.

    Observation: Dict of ``text task inventory valid_actions``. Action: text. Reward: score
    delta. ``terminated``: won or lost. ``truncated``: step limit.

    Args:
        max_steps: Step limit of an episode, >= 1.
        valid_actions: Whether the observation lists the valid actions, which takes time.
            :meth:`valid_actions` returns them in any case.
        split: Name of one of the backend's splits of tasks.
        render_mode: None, ``"ansi"`` (``render`` returns the last command and text) or ``"human"``
            (each is printed at once).
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "human"],
        "render_fps": 1,  # keep a text until the next one
    }
    dialect: ClassVar[str] = ""
    """Dialect of the text, which selects the extraction rules."""
    splits: ClassVar[tuple[str, ...]] = ()
    """Valid values of ``split``; empty if there are no splits."""
    max_action_chars: ClassVar[int] = 200
    """Longest command for the engine, in characters."""
    needs: ClassVar[str] = ""
    """Module of the engine, checked when the environment is made."""
    needs_extra: ClassVar[str] = ""
    """Extra of gym-memory that installs it, or a full command."""
    worker_gib: ClassVar[float] = 0.5
    """Memory, in GiB, that a process of this environment requests from a cluster."""
    _made_with: tuple[tuple[Any, ...], dict[str, Any]]
    _ids: Sequence[str]
    """Task ids of the split, in a fixed order."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Record the arguments, from which copies are made."""
        env = super().__new__(cls)
        env._made_with = args, kwargs
        return env

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments and actions that rebuild this environment in any process."""
        state = self.snapshot()._replace(native=None) if self.task_id else None
        return _remake, (type(self), *self._made_with, state, self._np_random)

    def __init__(
        self,
        *,
        max_steps: int,
        valid_actions: bool = True,
        split: str = "",
        render_mode: str | None = None,
    ):
        check_int("max_steps", max_steps, 1)
        check_flag("valid_actions", valid_actions)
        modes = self.metadata["render_modes"]
        if render_mode not in (None, *modes):
            raise UnknownNameError("render_mode", str(render_mode), modes)
        if self.needs:
            check_installed(self.needs, self.needs_extra, type(self).__name__)
        self.max_steps = max_steps
        self.split = split
        self.render_mode = render_mode
        self.observation_space = raw_observation_space()
        self.action_space = FreeText(max_length=100_000)
        self.task_id = ""
        self._list_actions = valid_actions
        self._feedback = Feedback("")
        self._actions: list[str] = []
        self._invalid = 0
        self._done = True
        self._valid: tuple[str, ...] | None = None

    # ------------------------------------------------------------ hooks for backends

    @abstractmethod
    def _open(self, task_id: str) -> Feedback:
        """Start a task from its beginning and return its first feedback."""

    @abstractmethod
    def _send(self, action: str) -> Feedback:
        """Play one command, which is stripped, on one line and not too long."""

    @abstractmethod
    def _list_valid_actions(self) -> tuple[str, ...]:
        """Return all valid actions of the present state, in a fixed order."""

    def _close(self) -> None:
        """Free the engine."""

    def _save(self) -> Any:
        """Return a copy of the engine's state; None replays the actions instead."""
        return None

    def _load(self, native: Any) -> None:
        """Return the engine to a state from :meth:`_save`."""

    @abstractmethod
    def goal(self) -> str:
        """Return the task's goal in words, the observation's ``task``."""

    @abstractmethod
    def oracle(self) -> Oracle:
        """Return the engine's facts of the present state; only for scoring and ``oracle``."""

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Return the versions of the backend's packages, e.g. ``{"textworld": "1.7.0"}``."""

    # ------------------------------------------------------------ Gymnasium

    @property
    def task_ids(self) -> Sequence[str]:
        """Return ids for ``options={"task_id": ...}``; ``reset(seed=s)`` plays ``ids[s % n]``."""
        return self._ids

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode.

        Args:
            seed: Seed that selects the task ``task_ids[seed % n]`` and determines later resets
                without a seed.
            options: ``{"task_id": ...}`` chooses the task.
        """
        super().reset(seed=seed)
        task_id = self._choose_task(seed, options or {})
        self._actions.clear()
        self._invalid = 0
        self._done = True  # until the task is open
        with _opening:
            self._feedback = _expect_feedback(self._open(task_id))
        self.task_id = task_id
        self._done = self._feedback.won or self._feedback.lost
        self._valid = None
        self._show()
        return self._observation(), self._info(accepted=True)

    def _choose_task(self, seed: int | None, options: dict[str, Any]) -> str:
        for key in options:
            if key != "task_id":
                raise UnknownNameError("reset option", str(key), ["task_id"])
        ids = self._ids
        if "task_id" in options:
            task_id = options["task_id"]
            if task_id not in ids:
                raise UnknownNameError("task_id", str(task_id), ids)
            return str(task_id)
        index = seed % len(ids) if seed is not None else int(self.np_random.integers(len(ids)))
        return ids[index]

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play one command.

        Raises:
            InvalidArgumentError: The action is not a string.
            gymnasium.error.ResetNeeded: No episode is in progress.
        """
        if not isinstance(action, str):
            raise InvalidArgumentError(
                f"expected the action as text, got {type(action).__name__}; "
                "wrap the environment in IndexActions to act by number"
            )
        if self._done:
            raise gym.error.ResetNeeded("no episode is in progress: call reset() before step()")
        before = self._feedback
        refusal = self.refuse(action)
        if refusal is not None:
            self._feedback = before._replace(text=refusal, accepted=False, reward=None)
        else:
            self._feedback = _expect_feedback(self._send(self._command(action)))
            self._valid = None
        self._actions.append(action)
        self._invalid += not self._feedback.accepted
        terminated = self._feedback.won or self._feedback.lost or self._feedback.over
        cut = self._feedback.cut or len(self._actions) >= self.max_steps
        truncated = not terminated and cut
        self._done = terminated or truncated
        reward = self._feedback.reward
        if reward is None:
            reward = float(self._feedback.score - before.score)
        self._show()
        return (
            self._observation(),
            check_bounded("reward", reward),
            terminated,
            truncated,
            self._info(accepted=self._feedback.accepted),
        )

    def refuse(self, action: str) -> str | None:
        """Return the message to the agent if a command must not reach the engine, else None.

        Such a command could hang or crash the engine, or play several moves. It costs a step and is
        invalid.
        """
        if not action.strip():
            return _REFUSED_EMPTY
        if len(action) > self.max_action_chars:
            return _REFUSED_LONG
        if not action.strip().isprintable():
            return _REFUSED_LINES
        return None

    def _command(self, action: str) -> str:
        """Return the action as the engine's input: one line, single spaces."""
        return " ".join(action.split())

    def render(self) -> str | None:  # type: ignore[override]
        """Return the last command and its feedback if ``render_mode="ansi"``."""
        return self._frame() if self.render_mode == "ansi" else None

    def _frame(self) -> str:
        head = f"> {self._actions[-1]}\n" if self._actions else ""
        return head + self._feedback.text

    def _show(self) -> None:
        if self.render_mode == "human":
            print(f"{visible(self._frame())}\n", flush=True)

    def _repr_html_(self) -> str:
        """Return the present observation as HTML for notebooks."""
        return observation_table(str(self), self._observation() if self.task_id else {})

    def close(self) -> None:
        """Free the engine."""
        self._close()

    # ------------------------------------------------------------ beyond Gymnasium

    def valid_actions(self) -> tuple[str, ...]:
        """Return the valid actions of the present state, cached until it changes."""
        if self._valid is None:
            self._valid = () if self._done else self._list_valid_actions()
        return self._valid

    def snapshot(self) -> Snapshot:
        """Return the present state, which later steps leave unchanged."""
        return Snapshot(
            self.task_id,
            tuple(self._actions),
            self._feedback,
            self._invalid,
            self._done,
            self._save(),
        )

    def restore(self, snapshot: Snapshot) -> tuple[dict[str, Any], dict[str, Any]]:
        """Restore a snapshot and return its observation and info."""
        if snapshot.native is not None:
            self._load(snapshot.native)
        else:
            with _opening:
                self._open(snapshot.task_id)
            for action in snapshot.actions:
                if self.refuse(action) is None:
                    self._send(self._command(action))
        self.task_id = snapshot.task_id
        self._actions = list(snapshot.actions)
        self._feedback = snapshot.feedback
        self._invalid = snapshot.invalid
        self._done = snapshot.done
        self._valid = None
        return self._observation(), self._info(accepted=self._feedback.accepted)

    @cached_property
    def _backend_version(self) -> str:
        return " ".join(f"{name} {number}" for name, number in sorted(self.versions().items()))

    def _observation(self) -> dict[str, Any]:
        return {
            "text": self._feedback.text,
            "task": self.goal(),
            "inventory": self._feedback.inventory,
            "valid_actions": self.valid_actions() if self._list_actions else (),
        }

    def _info(self, *, accepted: bool) -> dict[str, Any]:
        score = check_bounded("score", self._feedback.score)
        best = check_bounded("max_score", self._feedback.max_score)
        return {
            "score": score,
            "max_score": best,
            "normalized_score": min(max(score, 0.0), best) / best if best > 0 else None,
            "success": self._feedback.won,
            "won": self._feedback.won,
            "lost": self._feedback.lost,
            "moves": len(self._actions),
            "is_action_valid": accepted,
            "n_invalid": self._invalid,
            "task_id": self.task_id,
            "dialect": self.dialect,
            "split": self.split,
            "backend_version": self._backend_version,
        }


def _remake(
    cls: type[TextEnv],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    state: Snapshot | None,
    chance: Any,
) -> TextEnv:
    """Rebuild a copied or unpickled environment by replaying its actions."""
    env = cls(*args, **kwargs)
    env._np_random = chance
    if state is not None:
        env.restore(state)
    return env


NAMESPACE = "gym_memory"
"""First part of every id."""

ENVIRONMENTS = Registry("environment", "gym_memory.environments", components.ENVIRONMENTS)
"""Raw environment classes by name; the id is ``gym_memory/<name>-v0``."""


def env_id(name: str) -> str:
    """Return the Gymnasium id of an environment's name."""
    return f"{NAMESPACE}/{name}-v0"


def register_envs() -> None:
    """Register every environment with Gymnasium; imports no backend."""
    for name in (*ENVIRONMENTS.names(), *ENVIRONMENTS.needing()):
        if env_id(name) not in registry:
            register(
                id=env_id(name),
                entry_point="gym_memory.wrappers.make:make_env",
                kwargs={"name": name},
                disable_env_checker=True,
                order_enforce=False,
            )
