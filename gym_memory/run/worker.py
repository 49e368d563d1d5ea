"""Play the jobs that arrive through a pipe, in a worker process, and report progress.

A worker takes a :class:`RunConfig` to check, a :class:`Job` to play, and a :class:`WorkerPlace` to
write to from then on. It sends tuples: ``ready``; ``checked`` or ``error``; for a job ``begin``,
``step`` (after a reset and at intervals), ``row`` (an episode), ``done`` or ``error``. With several
lanes each job has a thread.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.baselines.base import make_policy
from gym_memory.core.errors import (
    BackendError,
    GymMemoryError,
    InvalidArgumentError,
    MachineError,
    ModelDownError,
    ResultsError,
)
from gym_memory.core.files import open_to_append
from gym_memory.core.frames import raised_at
from gym_memory.core.names import NO_SPEC, Spec, import_plugin
from gym_memory.core.secrets import ScrubbedStream, scrubbed
from gym_memory.core.settings import check_name
from gym_memory.games.isolate import limit_memory
from gym_memory.llm import BaseChatModel, Budget, make_model
from gym_memory.memory.base import make_memory
from gym_memory.run.callbacks import Callback, make_callback
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.play import Listener, play_job

__all__ = ["MARK", "WorkerPlace", "WorkerSettings", "kill_marked", "serve"]

MARK = "GYM_MEMORY_WORKER"
"""Environment variable that marks a worker and its child processes."""


class WorkerSettings(NamedTuple):
    """Settings that all workers of a pool share.

    ``limits`` are the arguments of a Budget, empty for none; ``memory`` is the limit in bytes of
    data; ``silence`` the most seconds of play without a message.
    """

    plugins: tuple[str, ...]
    callbacks: tuple[str, ...]
    limits: Mapping[str, Any]
    lanes: int
    memory: int
    silence: float


class WorkerPlace(NamedTuple):
    """Files of a worker: its log, and the folder of the step logs, None for none."""

    log: Path
    steps: Path | None = None


def serve(connection: Connection, place: WorkerPlace, settings: WorkerSettings) -> None:
    """Play jobs that arrive through a connection; the body of a worker process."""
    _isolate()
    _print_into(place.log, all_threads=settings.lanes > 1)
    limit_memory(settings.memory)
    try:
        for plugin in settings.plugins:
            import_plugin(plugin)
        followers = [make_callback(spec) for spec in settings.callbacks]
    except GymMemoryError as error:
        connection.send(("error", error))
        return
    spending = Budget(**settings.limits) if settings.limits else None
    connection.send(("ready",))
    send = _Outbox(connection)
    called: set[Spec] = set()
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        if isinstance(request, WorkerPlace):
            place = request
            _print_into(place.log, all_threads=settings.lanes > 1)
        elif isinstance(request, RunConfig):
            connection.send(_check(request, spending, called))
        elif settings.lanes == 1:
            _play(send, request, place.steps, spending, followers, settings.silence)
            if not gc.get_freeze_count():  # freeze the objects that the first game loaded:
                gc.collect()  # a full collection took 50 ms in the middle of a step
                gc.freeze()
        else:
            lane = (send, request, place.steps, spending, followers, settings.silence)
            threading.Thread(target=_play_in_lane, args=lane, daemon=True).start()


def _isolate() -> None:
    """Detach from the terminal, and end when the parent ends."""
    if hasattr(os, "setsid"):
        os.setsid()
    sys.stdout, sys.stderr = ScrubbedStream(sys.stdout), ScrubbedStream(sys.stderr)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_die_with, args=(parent.sentinel,), daemon=True).start()


def _print_into(log: Path, *, all_threads: bool) -> None:
    """Redirect the output of engines and the stacks of crashes to a log."""
    output = open_to_append(log)
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    faulthandler.enable(output)
    if hasattr(signal, "SIGUSR1"):
        # The parent sends this to a hanging worker before it kills it.
        faulthandler.register(signal.SIGUSR1, output, all_threads=all_threads)


def _die_with(sentinel: int) -> None:
    wait([sentinel])
    kill_marked(os.environ.get(MARK, ""))
    if hasattr(os, "killpg"):
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def kill_marked(mark: str) -> None:
    """Kill all processes with the mark of a worker, except this one.

    A child with its own session is in no process group of the worker. Needs ``/proc``.
    """
    wanted = f"{MARK}={mark}".encode()
    for place in Path("/proc").glob("[0-9]*/environ") if mark else ():
        with contextlib.suppress(OSError):
            if wanted in place.read_bytes().split(b"\0") and int(place.parent.name) != os.getpid():
                os.kill(int(place.parent.name), signal.SIGKILL)


def _check(config: RunConfig, spending: Budget | None, called: set[Spec]) -> tuple[str, Any]:
    """Build everything once, so that a wrong name is reported before play.

    ``called`` has the specs of models that have answered; those that answer now are added.
    """
    backends = {}
    try:
        for memory in config.memories:
            make_memory(memory)
            if (llm := memory.kwargs.get("llm")) and Spec(llm) not in called:
                _check_model(make_model(llm), spending)
                called.add(Spec(llm))
        for policy in config.policies:
            player = make_policy(policy)
            if policy not in called:
                _check_model(getattr(player, "llm", None), spending, player)
                called.add(policy)
            if getattr(player, "interactive", False):
                raise InvalidArgumentError(
                    f"policy {policy!r} needs a terminal: use gym-memory play"
                )
        for spec in config.envs:
            env = Job(spec, Spec("none"), NO_SPEC, 0, budget=config.budgets[0]).make_env()
            with contextlib.closing(env):
                ids = env.get_wrapper_attr("task_ids") if config.task_id else ()
                if config.task_id:
                    check_name(f"task of {spec}", config.task_id, ids)
                versions = env.get_wrapper_attr("versions")()
                backends[spec] = " ".join(f"{k} {v}" for k, v in sorted(versions.items()))
    except Exception as error:
        traceback.print_exc()
        return "error", _portable(error)
    return "checked", backends


def _check_model(model: Any, spending: Budget | None, player: Any = None) -> None:
    """Call a model once, as its agent would; a limit in dollars needs its price."""
    if isinstance(model, BaseChatModel):
        if spending is not None:
            model.check_price(spending)
        (player if hasattr(player, "preflight") else model).preflight()


def _portable(error: Exception) -> GymMemoryError:
    """Return the error itself if it is one of ours and can be sent, else its text."""
    if isinstance(error, GymMemoryError):
        with contextlib.suppress(Exception):
            pickle.loads(pickle.dumps(error))
            return error
        return GymMemoryError(scrubbed(error))
    if isinstance(error, PackageNotFoundError):
        return BackendError(
            f"the package {error.name!r} is not installed: gym-memory doctor says how to get it"
        )
    return BackendError(scrubbed(f"{type(error).__name__}: {error}{raised_at(error)}"))


class _Outbox:
    """A sender of messages to the parent, from any thread."""

    def __init__(self, connection: Connection):
        self._connection, self._turn = connection, threading.Lock()

    def __call__(self, *message: Any) -> None:
        with self._turn:
            self._connection.send(message)


def _play(
    send: _Outbox,
    job: Job,
    steps: Path | None,
    spending: Budget | None,
    followers: Sequence[Callback],
    silence: float,
) -> None:
    record = ""
    if steps is not None:
        path = steps / job.steps_file
        path.unlink(missing_ok=True)  # left by a killed run of this job
        record = str(path)
    reporter = _Reporter(send, job, silence, followers)
    try:
        for row in play_job(job, reporter, record, spending):
            if row.result.detail:
                print(f"{job}\n{row.result.detail}", file=sys.stderr, flush=True)
            send("row", job, row)
    except (ResultsError, ModelDownError, MachineError) as error:
        send("error", job, error)
    else:
        sys.stdout.flush()  # into the log of this job, before it counts as ended
        send("done", job)


def _play_in_lane(send: _Outbox, job: Job, *how: Any) -> None:
    """Play in a thread; an exception that would end a main thread ends the process."""
    try:
        _play(send, job, *how)
    except BaseException as error:
        traceback.print_exc()
        code = error.code if isinstance(error, SystemExit) else 1
        os._exit(code if isinstance(code, int) else 1)


class _Reporter(Listener):
    """A reporter of the job in play; a report also restarts the clocks of its limits."""

    def __init__(self, send: _Outbox, job: Job, silence: float, followers: Sequence[Callback]):
        self._send, self._job, self._silence = send, job, silence
        self._followers = followers
        self._sent = 0.0

    def begin(self, trial: int) -> None:
        self._send("begin", self._job)

    def step(self, trial: int, t: int, info: dict[str, Any]) -> None:
        now = time.monotonic()
        if t == 0 or now - self._sent > self._silence:
            self._sent = now
            self._send("step", self._job, info.get("task_id", ""))
        for follower in self._followers:
            follower.step(self._job, trial, t, info)
