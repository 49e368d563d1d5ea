"""Play a game in the page: the one loop, with a person as its policy.

A finished game is a results folder with one job of the policy ``human``, as any agent's; a game
that was left keeps its steps and no episode.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import queue
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from gym_memory.baselines.base import Policy
from gym_memory.core.errors import GymMemoryError, InvalidArgumentError
from gym_memory.core.files import parse_json
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation, Transition
from gym_memory.core.trust import GAMES, check_bare, check_game
from gym_memory.draw.escape import text
from gym_memory.draw.svg import label_of
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.memory.base import MEMORIES
from gym_memory.run import EpisodeResult, rollout
from gym_memory.run.config import EpisodeRow, Job, RunConfig
from gym_memory.run.results import ResultsFolder
from gym_memory.run.results.report import read_source, write_report
from gym_memory.viewer.story import Story
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY
from gym_memory.wrappers.record import RecordTrajectory

__all__ = ["PlayDefaults", "PlayedGame", "play_body", "play_socket"]

_MAX_SAID_CHARS = 4000
"""Most characters of a command."""

Send = Callable[[dict[str, Any]], None]


class PlayDefaults(NamedTuple):
    """Suggestions of the page for playing; ``out`` gets a folder for each game played."""

    env: str = "TreasureHunt?level=easy"
    memory: str = DEFAULT_MEMORY
    seed: int = 0
    budget: int = DEFAULT_BUDGET
    task_id: str = ""
    out: Path = Path("results/human")
    start: bool = False


def play_body(play: PlayDefaults) -> str:
    """Return the page before a game begins."""
    games = {name: _levels(name) for name in GAMES}
    return (
        f'<form id="setup" class="card setup"{" data-start=yes" * play.start}>'
        + _select("env", "Environment", play.env, games)
        + _select("memory", "Memory", play.memory, {"Memories": MEMORIES.names()})
        + _input("seed", "Seed", "number", play.seed)
        + _input("budget", "Memory tokens", "number", play.budget)
        + _input("task_id", "Task (empty: by seed)", "text", play.task_id)
        + '<button type="submit" class="main">New game</button></form>'
        '<div id="play" class="play"></div>'
    )


def _levels(game: str) -> list[str]:
    levels = getattr(ENVIRONMENTS.get(game), "levels", ())
    return [f"{game}?level={level}" for level in levels] or [game]


def _select(key: str, label: str, chosen: str, groups: Mapping[str, Sequence[str]]) -> str:
    """Return a menu of specs by group; a spec outside all groups comes first."""
    given = {} if any(chosen in group for group in groups.values()) else {"Given": [chosen]}
    shown = "".join(
        f'<optgroup label="{text(group)}">'
        + "".join(
            f'<option value="{text(spec)}"{" selected" * (spec == chosen)}>{text(label_of(spec))}'
            "</option>"
            for spec in specs
        )
        + "</optgroup>"
        for group, specs in {**given, **groups}.items()
    )
    return f'<label>{label}<select name="{key}">{shown}</select></label>'


def _input(key: str, label: str, kind: str, value: object) -> str:
    least = " min=0" if kind == "number" else ""
    return f'<label>{label}<input type="{kind}" name="{key}" value="{text(value)}"{least}></label>'


class PlayedGame:
    """One game in its own thread.

    The page may request ``env memory seed budget task_id``: the values of the command line, plain
    games and bare memories. ``send`` takes messages for the page, from any thread.
    """

    def __init__(self, request: dict[str, Any], play: PlayDefaults, send: Send):
        try:
            seed, budget = int(request["seed"]), int(request["budget"])
            env, memory = str(request["env"]), str(request["memory"])
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise InvalidArgumentError(
                f"expected env, memory, seed and budget of a game, got {request!r:.200}"
            ) from error
        if env != play.env:
            check_game(env)
        if memory != play.memory:
            check_bare(MEMORIES, memory, "a memory", "a page")
        self.config = RunConfig(
            (Spec(env),), (Spec(memory),), (Spec("human"),), (seed,), budgets=(budget,),
            task_id=str(request.get("task_id", "")),
        )  # fmt: skip
        (self.job,) = self.config.jobs()
        self.folder = _fresh(play.out, self.job)
        self.file = self.folder / "steps" / self.job.steps_file
        self._send = send
        self._said: queue.Queue[str | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, daemon=True, name="gym-memory-play")

    def start(self) -> None:
        """Start; messages follow."""
        self._thread.start()

    def say(self, words: str) -> None:
        """Play the person's next action."""
        self._said.put(words[:_MAX_SAID_CHARS])

    def leave(self) -> None:
        """End the game early."""
        self._said.put(None)

    def join(self, seconds: float) -> None:
        """Wait until the game is over and stored."""
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            with ResultsFolder(self.folder, self.config) as folder:
                env = RecordTrajectory(self.job.make_env("process"), str(self.file), detail=True)
                with contextlib.closing(env):
                    versions = env.get_wrapper_attr("versions")()
                    packages = " ".join(f"{k} {v}" for k, v in sorted(versions.items()))
                    folder.set_backends({self.job.env: packages})
                    policy = _Person(env, self._said, self._send)
                    result = rollout(env, policy, self.job.seed, task_id=self.job.task_id)
                    result = replace(result, seconds=result.seconds - policy.waited)
                folder.append([EpisodeRow(self.job, 0, result)])
                write_report(folder.path, [read_source(folder.path)])
            self._send(
                {"over": _ending(result), "file": str(self.file), "folder": str(self.folder)}
            )
        except _LeftError:
            pass
        except Exception as error:  # the page shows why the game failed
            name = "" if isinstance(error, GymMemoryError) else f"{type(error).__name__}: "
            self._send({"error": f"{name}{error}"})
        finally:
            if not self.file.exists():  # nothing was played
                shutil.rmtree(self.folder, ignore_errors=True)


def _ending(result: EpisodeResult) -> str:
    how = "You won!" if result.success else "You lost." if result.lost else "Out of steps."
    points = (
        f"{result.score:g} of {result.max_score:g}" if result.max_score else f"{result.score:g}"
    )
    return f"{how} {points} points in {result.steps} steps."


def _fresh(out: Path, job: Job) -> Path:
    """Return a folder that does not exist yet, named after the game."""
    digest = hashlib.sha256(json.dumps([job.env, job.memory, job.config]).encode()).hexdigest()[:6]
    name = f"{job.env.name}-{job.memory.name}-seed{job.seed}-{digest}".lower()
    folders = chain([out / name], (out / f"{name}-{number}" for number in count(2)))
    return next(folder for folder in folders if not folder.exists())


class _LeftError(Exception):
    """A signal that the person has left."""


class _Person(Policy):
    """A policy that shows each row to the page and waits for a person; ``waited`` is in seconds."""

    name: ClassVar[str] = "human"
    interactive: ClassVar[bool] = True

    def __init__(self, env: RecordTrajectory, said: queue.Queue[str | None], send: Send):
        self._env, self._said, self._send = env, said, send
        self._story = Story()
        self.waited = 0.0

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Show the first observation."""
        row = self._env.row
        self._send({"begin": {"task_id": row["task_id"], "task": row["task"]}})
        self._show()

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        since = time.perf_counter()
        words = self._said.get()
        thought = time.perf_counter() - since
        self.waited += thought
        self._env.leave_out(thought)
        if words is None:
            raise _LeftError
        return words

    def update(self, transition: Transition) -> None:
        """Show the result of an action."""
        self._show()

    def _show(self) -> None:
        beat = self._story.add(self._env.row)
        self._send(
            {**beat._asdict(), "places": self._story.map(), "keeps_graph": self._story.keeps_graph}
        )


async def play_socket(socket: Any, play: PlayDefaults, key_of: Callable[[Path], str]) -> None:
    """Serve one page: receive ``start`` and ``say``, send rows and the end of the game."""
    await socket.accept()
    loop = asyncio.get_running_loop()
    outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    game: PlayedGame | None = None

    def post(message: dict[str, Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(outbox.put_nowait, message)

    async def send_all() -> None:
        while True:
            message = await outbox.get()
            if "file" in message:
                message["key"] = await asyncio.to_thread(key_of, Path(message.pop("file")))
            await socket.send_text(json.dumps(message))

    sender = asyncio.create_task(send_all())
    try:
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            try:
                request = parse_json(message.get("text") or "")
                if "start" in request:
                    if game is not None:
                        game.leave()
                    game = PlayedGame(request["start"], play, post)
                    game.start()
                elif game is not None and isinstance(request.get("say"), str):
                    game.say(request["say"])
            except (GymMemoryError, ValueError, TypeError, AttributeError) as error:
                post({"error": str(error)})
    finally:
        sender.cancel()
        if game is not None:
            game.leave()
