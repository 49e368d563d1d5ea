"""A foreign text environment as a raw environment of ours."""

from __future__ import annotations

import contextlib
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from types import ModuleType
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import load_env_creator

from gym_memory.core.errors import BackendError, InvalidArgumentError, UnknownNameError
from gym_memory.core.names import PLUGINS, callables
from gym_memory.core.records import Oracle
from gym_memory.core.settings import (
    check_complete,
    check_flag,
    check_int,
    check_known,
    check_name,
    check_text,
)
from gym_memory.extract import EXTRACTORS
from gym_memory.games.base import Feedback, TextEnv
from gym_memory.games.foreign.calls import Caller, GlobalChance, Result, action_names, first_action
from gym_memory.games.foreign.sources import (
    MISSING,
    FixedValue,
    Given,
    ValueSource,
    as_actions,
    as_number,
    as_text,
    detect_dialect,
    is_chat,
    message_text,
    said,
)

__all__ = ["DEFAULT_MAX_STEPS", "ForeignEnv", "make_foreign"]

DEFAULT_MAX_STEPS = 100
"""Step limit of an environment without one."""
_SEEDS = 2**31
_REWARDS, _CUMULATIVE = "rewards", "cumulative"
_NO_ACTION = "There is no such action."
_TOO_LONG = "That command is too long to be understood."
_UNPRINTABLE = "Only printable text can be understood."


class ForeignEnv(TextEnv):
    """A text environment that was not written for gym-memory.

    It is a ``gymnasium.Env`` or any object with ``reset`` and ``step``, including old signatures
    (:class:`~gym_memory.games.foreign.calls.Caller`). Its observation is a string, a Dict with a
    text, or a chat: a list of ``{"role": ..., "content": ...}``, where a step's text is the new
    messages, except the assistant's. Its actions are text, or Discrete with names as commands.

    Text, task, inventory, valid actions, score and ending are found under well-known keys
    (:data:`~gym_memory.games.foreign.sources.KEYS`), or given: as a path (``"obs.KEY"``,
    ``"info.KEY"``, ``"env.ATTRIBUTE"``, deeper with more dots; a method is called) or as a function
    of (obs, info). :attr:`sources` and ``info["sources"]`` at a reset report what was found.

    ``reset(seed=s)`` gives the environment the seed ``s % seeds``; the task id is
    ``<name>/<seed>``. If the environment is deterministic given a seed, an episode can be repeated,
    and snapshots replay it.

    Args:
        env: The environment.
        text: Source of the step's text; None: the observation itself, or a well-known key.
        task: The task's text, or its source; None: a well-known key, a chat's system message, else
            the first text.
        inventory: Source of the inventory text; None: a well-known key, or empty.
        valid_actions: Source of the valid actions, or their list; True: a well-known key, or the
            names of Discrete actions (without those that an ``action_mask`` forbids); False: as
            True, but the observation does not list them. Empty ones are left out, since a step
            would refuse them.
        list_errors: Effect of an error while listing valid actions: ``"fail"`` fails the episode,
            ``"empty"`` gives an empty list.
        actions: Names of Discrete actions; None: the environment's own, or the numbers.
        score: Source of the score so far; ``"rewards"`` for the sum of rewards; ``"cumulative"`` if
            ``step`` returns the score so far as its reward; None: a well-known key, else the sum of
            rewards.
        max_score: The best score, or its source; None: a well-known key, or unknown (0); then
            ``normalized_score`` is None.
        won: Source of success; None: a well-known key, else reaching ``max_score``, else success is
            unknown (None), and episodes are neither won nor lost.
        lost: Source of failure; None: a well-known key, else every end without success. If both are
            given and neither holds, an old ``done`` is a step limit.
        accepted: Source of whether the action was possible; None: a well-known key, else every
            action that reaches the environment is accepted.
        dialect: Extraction rules to use (:data:`gym_memory.extract.EXTRACTORS`); ``auto``: the ones
            that explain the first text, else the general ones.
        begin: Function of (env, seed), called before every reset to choose a game if ``reset``
            cannot.
        seeds: Number of different seeds, >= 1.
        global_random: Whether the environment uses the global generators of ``random`` and
            ``numpy.random``; each call then runs with a private state of them, seeded at reset.
        max_steps: Step limit; None: the registered one, else 100. The environment's own limits also
            apply.
        max_action_chars: Characters above which a command is refused, >= 1.
        name: Name in task ids; empty: its Gymnasium id or its class.
        render_mode: As in ``TextEnv``; None: frames of the environment in its own mode, if any.
    """

    def __init__(
        self,
        env: Any,
        *,
        text: Given = None,
        task: Given = None,
        inventory: Given = None,
        valid_actions: bool | Sequence[str] | Given = True,
        list_errors: Literal["fail", "empty"] = "fail",
        actions: Sequence[str] | None = None,
        score: Given = None,
        max_score: float | Given = None,
        won: Given = None,
        lost: Given = None,
        accepted: Given = None,
        dialect: str = "auto",
        begin: Callable[[Any, int], Any] | None = None,
        seeds: int = _SEEDS,
        global_random: bool = False,
        max_steps: int | None = None,
        max_action_chars: int = 10_000,
        name: str = "",
        render_mode: str | None = None,
    ):
        self._caller = Caller(env)
        spec = getattr(env, "spec", None)
        own_limit = getattr(spec, "max_episode_steps", None)
        super().__init__(
            max_steps=(own_limit or DEFAULT_MAX_STEPS) if max_steps is None else max_steps,
            valid_actions=valid_actions is not False,
            render_mode=render_mode,
        )
        self.foreign = env
        """The given environment."""
        own_mode = getattr(env, "render_mode", None)
        self._own_frames = render_mode is None and own_mode is not None
        if self._own_frames:
            self.render_mode = own_mode
            modes = {**self.metadata, **getattr(env, "metadata", {})}
            self.metadata = modes  # type: ignore[misc]
        self.max_action_chars = check_int(  # type: ignore[misc]
            "max_action_chars", max_action_chars, 1
        )
        self._name = check_text("name", name) or getattr(spec, "id", "") or type(env).__name__
        self._list_errors = check_name("list_errors", list_errors, ("fail", "empty"))
        self._names = action_names(env, actions)
        self._scoring = score if score in (_REWARDS, _CUMULATIVE) else None
        listed = None if isinstance(valid_actions, bool) else valid_actions
        if not (listed is None or isinstance(listed, str) or callable(listed)):
            listed = FixedValue(as_actions(listed))
        given = {
            "text": text,
            "task": FixedValue(task) if isinstance(task, str) and not _is_path(task) else task,
            "inventory": inventory,
            "valid_actions": listed,
            "score": None if self._scoring else score,
            "max_score": FixedValue(max_score) if isinstance(max_score, int | float) else max_score,
            "won": won,
            "lost": lost,
            "accepted": accepted,
        }
        self._sources = {key: ValueSource(key, where, env) for key, where in given.items()}
        if dialect != "auto":
            EXTRACTORS.get(dialect)
        self._given_dialect = self._dialect = dialect
        self._begin = begin
        self._ids = _TaskIds(self._name, check_int("seeds", seeds, 1))
        self._chance = GlobalChance() if check_flag("global_random", global_random) else None
        self._options: dict[str, Any] = {}
        self._goal = self._goal_from = ""
        self.raw: tuple[Any, Mapping[str, Any]] = (None, {})
        """Last observation and info from the environment."""
        self._chat: list[Any] = []
        self._success: bool | None = None
        self._closed = False

    @property
    def dialect(self) -> str:  # type: ignore[override]
        """Return the dialect of this text; with a detected one, the plain reader reads the rest."""
        if self._given_dialect == "auto" and self._dialect not in ("auto", "plain"):
            return f"{self._dialect}+plain"
        return self._dialect if self._dialect != "auto" else "plain"

    @property
    def sources(self) -> dict[str, str]:
        """Return the place where each value was found."""
        found = {name: source.where for name, source in self._sources.items() if source.where}
        found["text"] = found.get("text") or "obs"
        found["task"] = self._goal_from
        if self._names and "valid_actions" not in found:
            found["valid_actions"] = "action_space"
        found.setdefault("score", self._scoring or _REWARDS)
        found.setdefault("won", "score = max_score" if "max_score" in found else "unknown")
        found["dialect"] = self.dialect.partition("+")[0] + " (found)" * (
            self._given_dialect == "auto"
        )
        return found

    def _choose_task(self, seed: int | None, options: dict[str, Any]) -> str:
        self._options = {key: value for key, value in options.items() if key != "task_id"}
        task_id = options.get("task_id")
        if task_id is None:
            return super()._choose_task(seed, {})
        if task_id not in self._ids:
            raise UnknownNameError("task_id", str(task_id), [f"{self._name}/<seed>"])
        return str(task_id)

    def _open(self, task_id: str) -> Feedback:
        seed = int(task_id.rpartition("/")[2])
        if self._chance is not None:
            self._chance.seed(seed)
        with self._own_randomness():
            if self._begin is not None:
                self._begin(self.foreign, seed)
            obs, info = self._caller.reset(seed, self._options)
        self._chat = []
        self._feedback = Feedback("")
        with self._caller.reading("reset"):
            reported = self._feedback_of(Result(obs, 0.0, False, False, info, False))
        self._goal = self._find_goal(reported.text)
        if self._given_dialect == "auto":
            self._dialect = detect_dialect(reported.text, reported.inventory)
        return reported

    def _send(self, action: str) -> Feedback:
        command: Any = action
        if self._names:
            command = first_action(self.foreign) + self._names.index(action)
        with self._own_randomness():
            result = self._caller.step(command)
        with self._caller.reading("step"):
            return self._feedback_of(result)

    def _save(self) -> Any:
        return self.task_id, self._options, tuple(self._actions)

    def _load(self, native: Any) -> None:
        task_id, self._options, actions = native
        self._open(task_id)
        for action in actions:
            if self.refuse(action) is None:
                self._send(action)

    def _own_randomness(self) -> Any:
        return contextlib.nullcontext() if self._chance is None else self._chance.own()

    def _feedback_of(self, result: Result) -> Feedback:
        """Convert a result that follows ``self._feedback``."""
        obs, info = self.raw = (result.obs, result.info)
        reported = {
            key: source(obs, info)
            for key, source in self._sources.items()
            if key not in ("text", "task", "valid_actions")
        }
        before, reward = self._feedback.score, result.reward
        if self._scoring == _CUMULATIVE:
            score, reward = reward, reward - before
        elif reported["score"] is not MISSING and self._scoring is None:
            score = as_number("score", reported["score"])
            if result.old:  # old text games return either a reward or the score so far
                reward = score - before
        else:
            score = before + reward
        best = self._feedback.max_score
        if reported["max_score"] is not MISSING:
            best = as_number("max_score", reported["max_score"])
        won = self._won(result, reported["won"], score, best)
        self._success = won
        lost, over, cut = self._ending(result, reported["lost"], won)
        carried = reported["inventory"]
        return Feedback(
            text=self._text(obs, info),
            score=score,
            max_score=best,
            won=bool(won),
            lost=lost,
            inventory="" if carried is MISSING else as_text("inventory", carried).strip("\n"),
            accepted=reported["accepted"] is MISSING or bool(reported["accepted"]),
            over=over,
            cut=cut,
            reward=reward,
        )

    def _won(self, result: Result, reported: Any, score: float, best: float) -> bool | None:
        """Return the success of an ended episode; None if it cannot be known."""
        if reported is MISSING and best <= 0:
            return None
        return result.terminated and bool(score >= best if reported is MISSING else reported)

    def _ending(self, result: Result, reported: Any, won: bool | None) -> tuple[bool, bool, bool]:
        """Return whether the episode is lost, over without a result, or truncated."""
        if not result.terminated:
            return False, False, result.truncated
        lost = not won and (won is not None if reported is MISSING else bool(reported))
        undecided = not (won or lost)
        limit = undecided and result.old and won is not None
        return lost, undecided and not limit, limit

    def _text(self, obs: Any, info: Mapping[str, Any]) -> str:
        own = self._sources["text"]
        value = (
            obs
            if not own.given and (isinstance(obs, str | bytes) or is_chat(obs))
            else own(obs, info)
        )
        if value is MISSING:
            if own.given or isinstance(obs, Mapping):
                raise InvalidArgumentError(
                    f"no text at {own.where or 'a well-known key'}: the "
                    f"observation has {_keys(obs)}, the info {_keys(info)}; say where it is by "
                    "text='obs.KEY', text='info.KEY' or a function of (obs, info)"
                )
            value = obs
        if is_chat(value):
            before, self._chat = self._chat, list(value)
            value = said(value[len(before) :] if self._chat[: len(before)] == before else value)
        return as_text("text", value).strip("\n").rstrip()

    def _find_goal(self, first: str) -> str:
        obs, info = self.raw
        source = self._sources["task"]
        value = source(obs, info)
        reported = "" if value is MISSING else as_text("task", value)
        if reported.strip() or source.fixed:
            self._goal_from = source.where
            return reported if source.fixed else reported.strip()
        if source.given and value is MISSING:
            raise InvalidArgumentError(
                f"no task at {source.where}: the observation has {_keys(obs)}, the info "
                f"{_keys(info)}; give the task's text, or another place"
            )
        chat = obs if is_chat(obs) else ()
        system = [message for message in chat if message["role"] == "system"]
        self._goal_from = "system message" if system else "first text"
        return message_text(system[0]).strip() if system else first

    def _list_valid_actions(self) -> tuple[str, ...]:
        obs, info = self.raw
        try:
            with self._own_randomness():
                value = self._sources["valid_actions"](obs, info)
        except Exception as error:  # the environment's own code
            if self._list_errors == "empty":
                return ()
            raise BackendError(
                f"listing the valid actions of {self._name} failed with {type(error).__name__}: "
                f"{error!s:.200}; correct it, or use list_errors='empty' or valid_actions=False"
            ) from error
        if value is MISSING and self._names:
            holders = [holder for holder in (info, obs) if isinstance(holder, Mapping)]
            masks = [h["action_mask"] for h in holders if h.get("action_mask") is not None]
            mask = np.asarray(masks[0], dtype=bool) if masks else np.ones(len(self._names), bool)
            return tuple(name for name, on in zip(self._names, mask, strict=True) if on)
        return as_actions(value)

    def refuse(self, action: str) -> str | None:
        """Refuse as :meth:`TextEnv.refuse`, but allow text of several lines."""
        if self._names:
            return None if action in self._names else _NO_ACTION
        space = getattr(self.foreign, "action_space", None)
        longest = min(self.max_action_chars, getattr(space, "max_length", self.max_action_chars))
        if len(action) > longest:
            return _TOO_LONG
        if not action.strip():
            return super().refuse(action)
        printable = all(c.isprintable() or c in "\n\t" for c in action)
        return None if printable else _UNPRINTABLE

    def _command(self, action: str) -> str:
        return action

    def _info(self, *, accepted: bool) -> dict[str, Any]:
        info = super()._info(accepted=accepted)
        info["success"] = info["won"] = self._success
        if not self._actions:
            info["sources"] = self.sources
        return info

    def render(self) -> Any:
        """Return a frame of the environment in its own mode, else the last command and text."""
        return self.foreign.render() if self._own_frames else super().render()

    def _show(self) -> None:
        if not self._own_frames:
            super()._show()

    def _close(self) -> None:
        close = getattr(self.foreign, "close", None)
        if callable(close) and not self._closed:
            close()
        self._closed = True

    def goal(self) -> str:
        """Return the task's text, as found at reset."""
        return self._goal

    def oracle(self) -> Oracle:
        """Return the facts of the environment's own ``oracle()``, if it has one."""
        own = getattr(getattr(self.foreign, "unwrapped", self.foreign), "oracle", None)
        found = own() if callable(own) else None
        return found if isinstance(found, Oracle) else Oracle()

    def versions(self) -> dict[str, str]:
        """Return the version of the package of the environment's class, if it has one."""
        package = type(getattr(self.foreign, "unwrapped", self.foreign)).__module__.split(".")[0]
        try:
            return {package: metadata.version(package)}
        except metadata.PackageNotFoundError:
            return {package: ""}


class _TaskIds(Sequence[str]):
    """``name/0`` to ``name/<n - 1>``, made on demand."""

    def __init__(self, name: str, n: int):
        self._name, self._n = name, n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: Any) -> Any:
        chosen = range(self._n)[index]
        if isinstance(chosen, range):
            return [f"{self._name}/{seed}" for seed in chosen]
        return f"{self._name}/{chosen}"

    def __contains__(self, task_id: object) -> bool:
        name, _, seed = str(task_id).rpartition("/")
        canonical = seed.isascii() and seed.isdecimal() and str(int(seed)) == seed
        return name == self._name and canonical and int(seed) < self._n


def _is_path(text: str) -> bool:
    return text.split(".")[0] in ("obs", "info", "env") and " " not in text


def _keys(holder: Any) -> str:
    if not isinstance(holder, Mapping):
        return f"no keys, it is {type(holder).__name__}"
    return ", ".join(map(str, holder)) or "no keys"


def make_foreign(entry: str = "", *, id: str = "", **kwargs: Any) -> ForeignEnv:
    """Make any other text environment, given its Gymnasium id or a function.

    Args:
        entry: A Gymnasium id, ``module:id`` with the module that registers it, or
            ``module:function`` for a function that returns an object with ``reset`` and ``step``.
            On the command line a module may be a file, ``./my_envs.py:make``.
        id: Former name of ``entry``, which ``gym.make`` cannot pass.
        **kwargs: Arguments of :class:`ForeignEnv`, ``max_steps`` also overriding the registered
            limit, and of the environment.
    """
    entry = check_text("entry", entry or id)
    if not entry:
        raise InvalidArgumentError(
            "expected entry as a Gymnasium id, 'module:id' or 'module:function', as in "
            "'Foreign?entry=module:function'; for an environment call gym_memory.wrap(env)"
        )
    ours = {key: kwargs.pop(key) for key in _settings() if key in kwargs}
    env = _make(entry, ours.get("max_steps"), kwargs)
    return ForeignEnv(env, **{"name": entry, **ours})


def _settings() -> list[str]:
    return [key for key in inspect.signature(ForeignEnv).parameters if key != "env"]


def _make(entry: str, max_steps: int | None, kwargs: Mapping[str, Any]) -> Any:
    module_name, colon, name = entry.rpartition(":")
    own: list[str] = []
    if colon:
        module = PLUGINS.get(module_name) or _import(module_name)
        function = getattr(module, name, None)
        if callable(function):
            check_known(f"environment {entry!r}", function, kwargs, also=_settings())
            check_complete("environment", entry, function, kwargs)
            return function(**kwargs)
        own = callables(module)
    try:
        spec = gym.spec(name)
    except gym.error.Error as error:
        known = [i for i in gym.registry if i.split("/")[-1][:3] == name.split("/")[-1][:3]]
        if colon:
            kind = f"environment of {module_name}"
            raise UnknownNameError(kind, name, [*own, *known]) from error
        if not known:
            raise InvalidArgumentError(
                f"expected the id of a registered environment, got {entry!r}: name the module "
                f"that registers it, 'module:{entry}'"
            ) from error
        raise UnknownNameError("Gymnasium id", entry, known) from error
    if spec.entry_point is not None:
        made = spec.entry_point
        creator: Callable[..., Any] = load_env_creator(made) if isinstance(made, str) else made
        check_known(f"environment {entry!r}", creator, kwargs, also=_settings())
    limit = {} if max_steps is None else {"max_episode_steps": check_int("max_steps", max_steps, 1)}
    return gym.make(name, disable_env_checker=True, **limit, **kwargs)


def _import(name: str) -> ModuleType:
    if name.endswith(".py"):
        raise InvalidArgumentError(f"expected a module, got {name!r}: import the file first")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InvalidArgumentError(
            f"expected entry as 'module:name' with a module that can be imported: {error}"
        ) from error
