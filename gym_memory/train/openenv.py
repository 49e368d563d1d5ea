"""Any environment with any memory as an OpenEnv server, over WebSocket and HTTP."""

from __future__ import annotations

import functools
import uuid
from typing import Any

from gym_memory.core.errors import GymMemoryError, InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.core.optional import require
from gym_memory.core.settings import check_amount, check_int
from gym_memory.core.version import __version__
from gym_memory.train.session import GameTurn, Session, check_game, split_names, task_names
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["GameAction", "GameEnvironment", "GameObservation", "GameState", "make_app"]

_server: Any = require("openenv.core.env_server", "openenv", "the OpenEnv server")
_types: Any = require("openenv.core.env_server.types", "openenv", "the OpenEnv server")

_SCORES = (
    "score",
    "max_score",
    "normalized_score",
    "success",
    "lost",
    "moves",
    "is_action_valid",
)


class GameAction(_types.Action):
    """One command, or the reply of a model."""

    text: str


class GameObservation(_types.Observation):
    """An observation with memory; ``metadata`` has scores and the state of the episode."""

    text: str = ""
    task: str = ""
    inventory: str = ""
    valid_actions: tuple[str, ...] = ()
    memory: str = ""
    triples: tuple[tuple[str, str, str], ...] = ()
    episodes: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()


class GameState(_types.State):
    """A state of a session: its present task and score."""

    task_id: str = ""
    normalized_score: float | None = None
    success: bool | None = False


class GameEnvironment(_server.Environment):
    """An environment of one session, made at its first reset."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, env: str, memory: str = DEFAULT_MEMORY, budget: int = DEFAULT_BUDGET):
        super().__init__()
        self._made_from = (env, memory, budget)
        self._session: Session | None = None
        self._closed = False
        self._episode_id: str | None = None

    # ------------------------------------------------------------ episodes

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str = "",
        index: int | None = None,
        **unknown: Any,
    ) -> GameObservation:
        """Begin an episode, see :meth:`.Session.reset`; without arguments a training task."""
        if unknown:
            raise UnknownNameError(
                "argument of reset", next(iter(unknown)), ("seed", "episode_id", "split", "index")
            )
        if self._closed:
            raise InvalidArgumentError("the session was closed: connect again")
        if self._session is None:
            self._session = Session(*self._made_from, isolate="process")
        self._episode_id = episode_id or str(uuid.uuid4())
        return _observation(self._session.reset(split=split, index=index, seed=seed))

    def step(self, action: GameAction, timeout_s: float | None = None) -> GameObservation:
        """Play one command."""
        if self._session is None:
            raise InvalidArgumentError("expected reset() before step()")
        return _observation(self._session.step(action.text))

    @property
    def state(self) -> GameState:
        """Return the present task and its score."""
        if self._session is None:
            return GameState()
        info = self._session.turn.info
        return GameState(
            episode_id=self._episode_id,
            step_count=info["moves"],
            task_id=info["task_id"],
            normalized_score=info["normalized_score"],
            success=info["success"],
        )

    def close(self) -> None:
        """Close the game; a session closed for idleness accepts no more commands."""
        self._closed = True
        if self._session is not None:
            self._session.close()
            self._session = None

    # ------------------------------------------------------------ tasks

    def list_splits(self) -> list[str]:
        """List the splits, the environment's default first."""
        return list(split_names(self._made_from[0]))

    def num_tasks(self, split: str) -> int:
        """Return the number of tasks of a split."""
        return len(self._ids(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return the id and index of one task."""
        if not 0 <= index < self.num_tasks(split):
            raise IndexError(f"expected an index below {self.num_tasks(split)}, got {index}")
        return self.list_tasks(split)[index]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """List all tasks of a split."""
        return [{"id": name, "index": i} for i, name in enumerate(self._ids(split))]

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """List the tasks of a slice of a split."""
        return self.list_tasks(split)[start:stop]

    def _ids(self, split: str) -> tuple[str, ...]:
        return task_names(self._made_from[0], split)

    def get_metadata(self) -> Any:
        """Return the metadata of this server."""
        env, memory, budget = self._made_from
        return _types.EnvironmentMetadata(
            name=Spec(env).name,
            description=f"{env} with memory {memory} of at most {budget} tokens",
            version=__version__,
        )


def _observation(turn: GameTurn) -> GameObservation:
    obs, info = turn.obs, turn.info
    return GameObservation(
        **{name: obs[name] for name in ("text", "task", "inventory", "memory")},
        valid_actions=obs["valid_actions"],
        triples=tuple(tuple(triple) for triple in obs["triples"]),
        episodes=obs["episodes"],
        lessons=obs["lessons"],
        reward=turn.reward,
        done=turn.done,
        metadata={
            **{name: info[name] for name in _SCORES},
            "task_id": info["task_id"],
            "terminated": turn.terminated,
            "truncated": turn.truncated,
        },
    )


def make_app(
    env: str,
    memory: str = DEFAULT_MEMORY,
    budget: int = DEFAULT_BUDGET,
    *,
    max_sessions: int = 64,
    idle_s: float = 600.0,
    web: bool = False,
) -> Any:
    """Return the application: OpenEnv's routes over :class:`GameEnvironment`.

    More than ``max_sessions`` are refused; a session is closed after ``idle_s`` seconds without a
    message. ``web`` adds OpenEnv's page ``/web``, whose one session all visitors share.
    """
    check_int("max_sessions", max_sessions, 1)
    if not check_amount("idle_s", idle_s):
        raise InvalidArgumentError("expected idle_s above 0, got 0")
    check_game(env, memory, budget)
    make = _server.create_web_interface_app if web else _server.create_fastapi_app
    app = make(
        functools.partial(GameEnvironment, env, memory, budget),
        GameAction,
        GameObservation,
        concurrency_config=_types.ConcurrencyConfig(
            max_concurrent_envs=max_sessions, session_timeout=idle_s
        ),
        env_name=Spec(env).name,
        state_cls=GameState,
        mode="simulation",
    )
    app.add_exception_handler(GymMemoryError, _mistake)
    return app


def _mistake(request: Any, error: Exception) -> Any:
    """Answer a client's mistake, such as an unknown split, in one line."""
    responses = require("starlette.responses", "openenv", "the OpenEnv server")
    return responses.PlainTextResponse(f"{error}\n", 422)
