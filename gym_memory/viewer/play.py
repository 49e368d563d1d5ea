"""A game played in the page: the one loop, a person as its policy, rows as every agent's.

A finished game is a results folder with one job of the policy ``human``, so it stands in the same
tables as any agent's; a game that was left keeps its steps and no episode.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import queue
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from gym_memory.baselines.base import Policy
from gym_memory.core.errors import GymMemoryError, InvalidArgumentError
from gym_memory.core.files import parse_json
from gym_memory.core.html import text
from gym_memory.core.names import parse_spec
from gym_memory.core.records import Observation, Transition
from gym_memory.core.trust import check_bare, check_game
from gym_memory.memory.base import MEMORIES
from gym_memory.run import EpisodeResult, rollout
from gym_memory.run.jobs import EpisodeRow, Job, RunConfig
from gym_memory.run.results import ResultsFolder
from gym_memory.run.results.report import read_source, write_report
from gym_memory.viewer.story import Story
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY
from gym_memory.wrappers.record import RecordTrajectory

__all__ = ["Game", "PlayDefaults", "play_body", "play_socket"]

_MAX_SAID_CHARS = 4000
"""Characters that can be said at once."""

Tell = Callable[[dict[str, Any]], None]


class PlayDefaults(NamedTuple):
    """What the page for playing suggests.

    Attributes:
        env: The environment, as ``memory``, ``seed``, ``budget`` and ``task_id`` from the user.
        out: Folder for the folders of games played.
    """

    env: str = "TreasureHunt?level=easy"
    memory: str = DEFAULT_MEMORY
    seed: int = 0
    budget: int = DEFAULT_BUDGET
    task_id: str = ""
    out: Path = Path("results/human")


def play_body(play: PlayDefaults) -> str:
    """The page before a game begins."""
    fields = (
        ("env", "Environment", "text", play.env),
        ("memory", "Memory", "text", play.memory),
        ("seed", "Seed", "number", str(play.seed)),
        ("budget", "Memory tokens", "number", str(play.budget)),
        ("task_id", "Task (empty: by seed)", "text", play.task_id),
    )
    inputs = "".join(
        f'<label>{name}<input type="{kind}" name="{key}" value="{text(value)}"'
        f"{' min=0' if kind == 'number' else ''}></label>"
        for key, name, kind, value in fields
    )
    return (
        f'<form id="setup" class="card setup">{inputs}'
        '<button type="submit" class="main">New game</button></form>'
        '<div id="play" class="play"></div>'
    )


class Game:
    """One game in a thread of its own.

    Args:
        asked: ``env memory seed budget task_id``.
        play: What the command line gave; a page may name this, plain games and bare memories.
        tell: Takes messages for the page, from any thread.

    Raises:
        InvalidArgumentError: A value is wrong.
        GymMemoryError: A name is wrong, or none that a page may give.
    """

    def __init__(self, asked: dict[str, Any], play: PlayDefaults, tell: Tell):
        try:
            seed, budget = int(asked["seed"]), int(asked["budget"])
            env, memory = str(asked["env"]), str(asked["memory"])
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise InvalidArgumentError(
                f"expected env, memory, seed and budget of a game, got {asked!r:.200}"
            ) from error
        if env != play.env:
            check_game(env)
        if memory != play.memory:
            check_bare(MEMORIES, memory, "a memory", "a page")
        self.config = RunConfig(
            (env,), (memory,), ("human",), (seed,), budgets=(budget,),
            task_id=str(asked.get("task_id", "")),
        )  # fmt: skip
        (self.job,) = self.config.jobs()
        self.folder = _fresh(play.out, self.job)
        self.file = self.folder / "steps" / f"{self.job.config}-seed{self.job.seed}.jsonl.gz"
        self._tell = tell
        self._said: queue.Queue[str | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, daemon=True, name="gym-memory-play")

    def start(self) -> None:
        """Begin; messages follow."""
        self._thread.start()

    def say(self, words: str) -> None:
        """What the person does next."""
        self._said.put(words[:_MAX_SAID_CHARS])

    def leave(self) -> None:
        """End the game before its end."""
        self._said.put(None)

    def join(self, seconds: float) -> None:
        """Wait until the game is over and stored."""
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            with ResultsFolder(self.folder, self.config) as folder:
                env = RecordTrajectory(self.job.make_env(), str(self.file), detail=True)
                with contextlib.closing(env):
                    versions = env.get_wrapper_attr("versions")()
                    told = " ".join(f"{k} {v}" for k, v in sorted(versions.items()))
                    folder.set_backends({self.job.env: told})
                    policy = _Person(env, self._said, self._tell)
                    result = rollout(env, policy, self.job.seed, task_id=self.job.task_id)
                folder.append([EpisodeRow(self.job, 0, result)])
                write_report(folder.path, [read_source(folder.path)])
            self._tell(
                {"over": _ending(result), "file": str(self.file), "folder": str(self.folder)}
            )
        except _LeftError:
            pass
        except Exception as error:  # the page shows what a game of any kind died of
            name = "" if isinstance(error, GymMemoryError) else f"{type(error).__name__}: "
            self._tell({"error": f"{name}{error}"})


def _ending(result: EpisodeResult) -> str:
    how = "You won!" if result.success else "You lost." if result.lost else "Out of steps."
    points = (
        f"{result.score:g} of {result.max_score:g}" if result.max_score else f"{result.score:g}"
    )
    return f"{how} {points} points in {result.steps} steps."


def _fresh(out: Path, job: Job) -> Path:
    """A folder that is not there yet, named after what is played."""
    digest = hashlib.sha256(json.dumps([job.env, job.memory, job.config]).encode()).hexdigest()[:6]
    name = (
        f"{parse_spec(job.env).name}-{parse_spec(job.memory).name}-seed{job.seed}-{digest}".lower()
    )
    for number in count(1):
        folder = out / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
    raise AssertionError("unreachable")


class _LeftError(Exception):
    """The person has left."""


class _Person(Policy):
    """Shows each row to the page and waits for what the person says."""

    name: ClassVar[str] = "human"
    interactive: ClassVar[bool] = True

    def __init__(self, env: RecordTrajectory, said: queue.Queue[str | None], tell: Tell):
        self._env, self._said, self._tell = env, said, tell
        self._story = Story()

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Show what is seen at the beginning."""
        row = self._env.row
        self._tell({"begin": {"task_id": row["task_id"], "task": row["task"]}})
        self._show()

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Wait for the person."""
        words = self._said.get()
        if words is None:
            raise _LeftError
        return words

    def update(self, transition: Transition) -> None:
        """Show what came of it."""
        self._show()

    def _show(self) -> None:
        beat = self._story.add(self._env.row)
        self._tell(
            {**beat._asdict(), "places": self._story.map(), "keeps_graph": self._story.keeps_graph}
        )


async def play_socket(socket: Any, play: PlayDefaults, key_of: Callable[[Path], str]) -> None:
    """Speak with one page: ``start`` and ``say`` come, rows and the end of the game go."""
    await socket.accept()
    loop = asyncio.get_running_loop()
    outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    game: Game | None = None

    def tell(message: dict[str, Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(outbox.put_nowait, message)

    async def send() -> None:
        while True:
            message = await outbox.get()
            if "file" in message:
                message["key"] = await asyncio.to_thread(key_of, Path(message.pop("file")))
            await socket.send_text(json.dumps(message))

    sender = asyncio.create_task(send())
    try:
        async for said in socket.iter_text():
            try:
                request = parse_json(said)
                if "start" in request:
                    if game is not None:
                        game.leave()
                    game = Game(request["start"], play, tell)
                    game.start()
                elif game is not None and isinstance(request.get("say"), str):
                    game.say(request["say"])
            except (GymMemoryError, ValueError, TypeError, AttributeError) as error:
                tell({"error": str(error)})
    finally:
        sender.cancel()
        if game is not None:
            game.leave()
