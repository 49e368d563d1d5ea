"""A story in a process of its own: a fault of the interpreter ends an episode, never Python.

Frotz trusts its input: a story may make it write outside of its memory, or never answer.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from gym_memory.core.errors import BackendError
from gym_memory.core.records import Triple
from gym_memory.games.isolate import HostProcess
from gym_memory.games.jericho.copies import COMMAND_CPU_S, limit_cpu
from gym_memory.games.jericho.engine import ParserEngine
from gym_memory.games.textworld.engine import Answer, GameData
from gym_memory.games.textworld.logic import Index, Logic, World
from gym_memory.games.textworld.story_engine import SavedStory

__all__ = ["StoryHost", "StoryProcess"]

_MEMORY = 1 << 30
_CPU_S = 10**9
_WALL_S = 3600.0
"""A last resort: the process limits its own CPU time, which no other program uses up."""
_MOST_IDLE = 2
_idle: list[HostProcess] = []
"""Processes of closed environments: starting one takes half a second."""

_NO_GAME = GameData(World(Logic({}), {}, {}), Index(()), "", 0.0, {})


class StoryProcess:
    """An engine of a story: the methods of :class:`ParserEngine`, played in another process.

    If the process dies, or a command never returns, the answer says so in a line and the story is
    lost. The next start, or a state to return to, gets a new process.

    Args:
        seed: Seed of the story's own chance; None for the one of jericho's walkthrough, or 1.
        verbose: Whether to type ``verbose`` first.
    """

    facts: frozenset[Any] = frozenset()

    def __init__(self, seed: int | None = None, *, verbose: bool = False) -> None:
        self._seed, self._verbose = seed, verbose
        self._host: HostProcess | None = None
        self._story, self._score, self._over = "", 0.0, True
        self.game = _NO_GAME
        self.debugging_verbs: frozenset[str] = frozenset()
        self._walkthrough: tuple[str, ...] = ()

    def start(self, story: str | os.PathLike[str]) -> Answer:
        """Begin a story."""
        if not self._runs:
            self._host = _take_host()
        self._story = os.path.abspath(story)
        begun = self._call("start", self._story, self._seed, self._verbose)
        fields, most, objective, debugging, self._walkthrough = begun
        self.game = self.game._replace(max_score=most, objective=objective)
        self.debugging_verbs = frozenset(debugging)
        return self._answer(fields)

    def send(self, command: str) -> Answer:
        """Play one command."""
        try:
            return self._answer(self._call("send", command))
        except BackendError as error:
            self._over = True
            line = f"The story cannot continue: {error}."
            return Answer(line, self._score, lost=True, accepted=False)

    def inventory(self) -> str:
        """Return the story's answer to ``inventory``; empty once it is over."""
        try:
            return "" if self._over else str(self._call("inventory"))
        except BackendError:  # the next command reports it
            return ""

    def admissible_commands(self) -> tuple[str, ...]:
        """Return commands that change the world, as :meth:`ParserEngine.admissible_commands`."""
        return tuple(self._call("admissible_commands")) if self._runs else ()

    @property
    def searches(self) -> int:
        """Return how many states were searched for commands since the process began."""
        return int(self._call("searches"))

    def walkthrough(self) -> tuple[str, ...]:
        """Return jericho's solution of a game that it knows, else empty."""
        return self._walkthrough

    def truth(self) -> frozenset[Triple]:
        """Return the facts of the present state; nothing if the story broke."""
        return (
            frozenset(Triple(*fact) for fact in self._call("truth")) if self._runs else frozenset()
        )

    def save(self) -> SavedStory:
        """Return a copy of the present state."""
        return SavedStory(self._story, _unpacked(self._call("save")), self._score, self._over)

    def load(self, state: SavedStory) -> None:
        """Return to a state, of this or another story."""
        if not self._runs or self._story != state.story:
            self.start(state.story)
        self._call("load", _packed(state.machine), state.score, state.over)
        self._score, self._over = state.score, state.over

    def close(self) -> None:
        """Free the process for another environment."""
        host, self._host, self._over = self._host, None, True
        if host is not None and host.pid is not None:
            _idle.append(host)
            while len(_idle) > _MOST_IDLE:
                _idle.pop(0).close()

    def __del__(self) -> None:
        if "_host" in vars(self):
            self.close()

    @property
    def _runs(self) -> bool:
        return self._host is not None and self._host.pid is not None

    def _call(self, name: str, *args: Any) -> Any:
        if self._host is None:
            raise BackendError("no game is running: call reset() first")
        return self._host.call(name, _WALL_S, *args)

    def _answer(self, fields: Sequence[Any]) -> Answer:
        answer = Answer(*fields)
        self._score, self._over = answer.score, answer.won or answer.lost
        return answer


def _take_host() -> HostProcess:
    while _idle:
        host = _idle.pop()
        if host.pid is not None:
            return host
    return HostProcess(StoryHost, memory=_MEMORY, cpu_s=_CPU_S)


def _packed(machine: Sequence[Any]) -> list[Any]:
    """Return a machine's state as JSON values."""
    ram, stack, *registers, chance, narrative = machine
    texts = (base64.b64encode(part).decode() for part in (ram, stack, narrative))
    return [*texts, *map(int, registers), list(map(int, chance))]


def _unpacked(values: Sequence[Any]) -> tuple[Any, ...]:
    ram, stack, narrative = (base64.b64decode(text) for text in values[:3])
    arrays = (np.frombuffer(bytearray(part), np.uint8) for part in (ram, stack))
    return (*arrays, *values[3:-1], tuple(values[-1]), narrative)


class StoryHost:
    """A server of :class:`StoryProcess`: an engine that answers in plain values."""

    def __init__(self) -> None:
        self._settings: tuple[int | None, bool] | None = None
        self._engine = ParserEngine()

    def start(self, story: str, seed: int | None, verbose: bool) -> list[Any]:
        """Begin a story; return answer, best score, objective, debugging verbs and solution."""
        if self._settings != (seed, verbose):
            self._engine.close()
            self._engine = ParserEngine(seed, verbose=verbose)
            self._settings = seed, verbose
        answer = self._limited(self._engine.start, story)
        engine, game = self._engine, self._engine.game
        verbs = sorted(engine.debugging_verbs)
        return [answer[:5], game.max_score, game.objective, verbs, engine.walkthrough()]

    def send(self, command: str) -> tuple[Any, ...]:
        """Play one command."""
        return self._limited(self._engine.send, command)[:5]

    def inventory(self) -> str:
        """Return the answer to ``inventory``."""
        return str(self._limited(self._engine.inventory))

    def admissible_commands(self) -> tuple[str, ...]:
        """Return the commands that change the world."""
        return self._engine.admissible_commands()

    def searches(self) -> int:
        """Return how many states were searched."""
        return self._engine.searches

    def truth(self) -> list[Triple]:
        """Return the facts of the present state."""
        return sorted(self._engine.truth())

    def save(self) -> list[Any]:
        """Return the machine's state."""
        return _packed(self._engine.save().machine)

    def load(self, machine: list[Any], score: float, over: bool) -> None:
        """Return to a state of the present story."""
        self._engine.load(
            self._engine.save()._replace(machine=_unpacked(machine), score=score, over=over)
        )

    def _limited(self, method: Any, *args: Any) -> Any:
        limit_cpu(COMMAND_CPU_S)
        try:
            return method(*args)
        finally:
            limit_cpu(0)
