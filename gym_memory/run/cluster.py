"""Play the jobs of a run on a Ray cluster, with the same rows as on one machine.

Every actor is a :class:`.WorkerPool` of one worker on its node; Ray only sends jobs there and
returns rows, steps and logs. An actor plays one environment and reserves the memory (RAM) that it
needs. A job whose node is lost is played again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import (
    BackendError,
    GymMemoryError,
    InvalidArgumentError,
    UnknownNameError,
)
from gym_memory.core.files import write_atomic
from gym_memory.core.names import Spec
from gym_memory.core.optional import require
from gym_memory.core.process import child_environment
from gym_memory.core.settings import check_int
from gym_memory.games.base import ENVIRONMENTS, TextEnv
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job, RunConfig
from gym_memory.run.pool import Limits, WorkerPool, share_of_memory
from gym_memory.run.results.folder import check_backends

__all__ = ["MOST_TRIES", "RayPool", "connect", "go_to", "ray_library", "room_for"]

MOST_TRIES = 4
"""Lost nodes after which their job counts as the cause."""
PATIENCE = 300.0
"""Seconds to wait for a node after the last one was lost."""
_LOOK_SECONDS = 5.0
_LOG = logging.getLogger("gym_memory")
_GIB = 1 << 30
_SHORT = 24
"""Characters of a folder for temporary files that leave room for the names of Ray's sockets."""


class _JobReport(NamedTuple):
    rows: list[EpisodeRow]
    steps: dict[str, bytes]
    log: bytes


class _Host:
    """A pool of one worker, as the body of an actor."""

    def __init__(
        self,
        limits: Limits,
        plugins: Sequence[str],
        memory: int | None,
        callbacks: Sequence[str],
        workplace: str,
    ):
        go_to(workplace)
        self._folder = Path(tempfile.mkdtemp(prefix="gym-memory-"))
        self._logs, self._steps = self._folder / "logs", self._folder / "steps"
        self._pool = WorkerPool(
            1,
            limits_in_time=limits,
            logs=self._logs,
            steps=self._steps,
            plugins=plugins,
            memory=memory or share_of_memory(os.cpu_count() or 1),
            callbacks=callbacks,
        ).__enter__()

    def check(self, config: RunConfig) -> dict[str, str] | GymMemoryError:
        """Return the backend versions of this node, or the error."""
        try:
            return self._pool.check(config)
        except GymMemoryError as error:
            return error

    def play(self, job: Job) -> _JobReport | GymMemoryError:
        """Play a job; its files are sent back and deleted here."""
        try:
            (rows,) = self._pool.play([job])
        except GymMemoryError as error:
            return error
        steps = {path.name: path.read_bytes() for path in self._steps.glob("*.jsonl.gz")}
        for name in steps:
            (self._steps / name).unlink()
        log = b""
        for path in self._logs.glob("*.log"):
            log += path.read_bytes()
            os.truncate(path, 0)
        return _JobReport(rows, steps, log)

    def close(self) -> None:
        self._pool.__exit__(None, None, None)
        shutil.rmtree(self._folder, ignore_errors=True)


class _WorkerActor(NamedTuple):
    number: int
    env: Spec
    handle: Any
    checked: Any
    """Future of its check."""


class RayPool:
    """A pool on a Ray cluster, used like :class:`.WorkerPool`, whose arguments it shares.

    Args:
        address: Address of the cluster; ``auto`` for the one of this machine, ``local`` for a new
            one on this machine alone.
        n_workers: Most actors; None for one per core of the cluster.
    """

    def __init__(
        self,
        address: str,
        n_workers: int | None,
        *,
        limits_in_time: Limits,
        logs: Path,
        steps: Path,
        plugins: Sequence[str] = (),
        memory: int | None = None,
        callbacks: Sequence[str] = (),
    ):
        if n_workers is not None:
            check_int("workers", n_workers, 1)
        self._ray = ray_library(address)
        self._address, self._n = address, n_workers
        self._logs, self._steps = logs, steps
        self._settings = (limits_in_time, tuple(plugins), memory, tuple(callbacks), os.getcwd())
        self._numbers = 0
        self._idle: list[_WorkerActor] = []
        self._running: dict[Any, tuple[_WorkerActor, Job, float]] = {}
        self._waiting: dict[Spec, deque[Job]] = {}
        self._backends: dict[str, str] = {}
        self._config: RunConfig | None = None

    def __enter__(self) -> RayPool:
        self.move(self._logs, self._steps)
        self._leave = connect(self._address)
        return self

    def __exit__(self, *exc: object) -> None:
        for actor in self._idle:
            self._retire(actor)
        for actor, *_ in self._running.values():
            self._ray.kill(actor.handle)
        self._idle, self._running = [], {}
        self._leave()

    def move(self, logs: Path, steps: Path) -> None:
        """Change the folders for files of the next jobs; call it between two calls of ``play``."""
        self._logs, self._steps = logs, steps
        for folder in (logs, steps):
            folder.mkdir(parents=True, exist_ok=True)

    def check(self, config: RunConfig) -> dict[str, str]:
        """Build each environment where it will run, and each memory and policy, once."""
        self._config = config
        for env in config.envs:
            if len(self._idle) >= self._most_actors():
                self._retire(self._idle.pop(0))
            self._idle.append(self._start(env))
            self._confirm(self._idle[-1])
        return dict(self._backends)

    def play(self, jobs: Iterable[Job]) -> Iterator[list[EpisodeRow]]:
        """Play jobs; yield the episodes of each when it is finished."""
        tries: Counter[Job] = Counter()
        for job in jobs:
            self._waiting.setdefault(job.env, deque()).append(job)
        while self._waiting or self._running:
            self._assign_jobs()
            ready, _ = self._ray.wait(list(self._running), timeout=_LOOK_SECONDS)
            if not ready:  # an actor may wait for a node
                room_for(next(iter(self._running.values()))[0].env, PATIENCE)
            for future in ready:
                actor, job, began = self._running.pop(future)
                try:
                    self._confirm(actor)
                    played = self._ray.get(future)
                except self._ray.exceptions.RayError as error:
                    tries[job] += 1
                    if tries[job] < MOST_TRIES:
                        self._waiting.setdefault(job.env, deque()).appendleft(job)
                        continue
                    why = f"the node was lost, {MOST_TRIES} times"
                    failure = EpisodeResult.failure(
                        why, str(error), task_id=job.task_id, seconds=time.monotonic() - began
                    )
                    yield [EpisodeRow(job, 0, failure)]
                    continue
                self._idle.append(actor)
                if isinstance(played, GymMemoryError):
                    raise played
                for name, content in played.steps.items():
                    write_atomic(self._steps / name, content)
                with open(self._logs / f"worker-{actor.number}.log", "ab") as file:
                    file.write(played.log)
                yield played.rows

    def _assign_jobs(self) -> None:
        """Give every actor a job of its environment; start and retire actors as jobs need."""
        while self._waiting:
            actor = next((a for a in self._idle if a.env in self._waiting), None)
            if actor is not None:
                self._idle.remove(actor)
            else:
                if self._idle:
                    self._retire(self._idle.pop())
                elif len(self._running) >= self._most_actors():
                    return
                actor = self._start(next(iter(self._waiting)), PATIENCE)
            jobs = self._waiting[actor.env]
            job = jobs.popleft()
            if not jobs:
                del self._waiting[actor.env]
            self._running[actor.handle.play.remote(job)] = actor, job, time.monotonic()
        while self._idle:  # a lost job may wait for their memory
            self._retire(self._idle.pop())

    def _most_actors(self) -> int:
        """Return the cores that the cluster has now, at most ``n_workers``."""
        cores = max(int(self._ray.cluster_resources().get("CPU", 0)), 1)
        return cores if self._n is None else min(self._n, cores)

    def _start(self, env: Spec, patience: float = 0.0) -> _WorkerActor:
        assert self._config is not None, "check() comes first"
        remote = self._ray.remote(num_cpus=1, memory=room_for(env, patience))(_Host)
        handle = remote.remote(*self._settings)
        self._numbers += 1
        checked = handle.check.remote(replace(self._config, envs=(env,)))
        return _WorkerActor(self._numbers - 1, env, handle, checked)

    def _confirm(self, actor: _WorkerActor) -> None:
        """Check that an actor's node can play, with the versions of the other nodes."""
        found = self._ray.get(actor.checked)
        if isinstance(found, GymMemoryError):
            raise found
        check_backends(self._backends, found, "the rest of the cluster")
        self._backends.update(found)

    def _retire(self, actor: _WorkerActor) -> None:
        """Let an actor clean up; Ray ends it when its handle is gone."""
        actor.handle.close.remote()


def connect(address: str) -> Callable[[], None]:
    """Join a Ray cluster; return a function that leaves it, unless it was joined already."""
    ray = ray_library(address)
    if ray.is_initialized():
        return lambda: None
    _check_address(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage reports
    before, workplace = signal.getsignal(signal.SIGTERM), os.getcwd()
    # Ray's own folder keeps logs forever and lets every user read the token.
    files = _own_folder() if address == "local" else None
    temporary = {"TMPDIR": files} if files else {}  # also keeps the files of killed actors

    def leave() -> None:
        ray.shutdown()
        if files:
            shutil.rmtree(files, ignore_errors=True)

    try:
        os.chdir(os.path.abspath(os.sep))  # Ray's workers import from its first folder
        with child_environment(**temporary):
            ray.init(address=address, log_to_driver=False, logging_level="warning", _temp_dir=files)
    except (ConnectionError, ValueError, RuntimeError) as error:
        leave()
        raise InvalidArgumentError(
            f"expected the address of a Ray cluster, got {address!r}: {error}. "
            "`ray start --head` starts one; 'local' is one for this run"
        ) from error
    finally:
        os.chdir(workplace)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)  # Ray's would end this process at once
    return leave


def _own_folder() -> str:
    """Create a folder for a cluster with a name so short that its sockets fit in 107 bytes."""
    usual = tempfile.gettempdir()
    return tempfile.mkdtemp(prefix="ray-", dir=usual if len(usual) < _SHORT else "/tmp")


def go_to(workplace: str) -> None:
    """Change to the folder of the process that sends the jobs, if this node has it."""
    with contextlib.suppress(OSError):
        os.chdir(workplace)


def ray_library(address: str) -> Any:
    """Import Ray; a cluster of this run alone listens on the loopback address."""
    if address == "local":
        # Read when Ray is imported: without it Ray binds to every address of the machine.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    return require("ray", "ray", "--ray")


def _check_address(address: str) -> None:
    """Check that the address answers: Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise InvalidArgumentError(
                f"expected the address of a Ray cluster, got {address!r}: {error}"
            ) from error


def room_for(env: Spec, patience: float = 0.0) -> int:
    """Return the bytes that an actor of an environment reserves, apart from a core.

    It waits up to ``patience`` seconds for such a node, since one may return.
    """
    try:
        made: Any = ENVIRONMENTS.get(env.name)
    except (UnknownNameError, ImportError):  # the name is of a plugin, which only workers import
        made = None
    need = int(getattr(made, "worker_gib", TextEnv.worker_gib) * _GIB)
    what = f"a core and {need / _GIB:g} GiB of memory, which a worker of {env} needs"
    deadline, warned = time.monotonic() + patience, False
    while True:
        nodes = [node["Resources"] for node in require("ray", "ray").nodes() if node["Alive"]]
        if any(n.get("CPU", 0) >= 1 and n.get("memory", 0) >= need for n in nodes):
            return need
        if time.monotonic() >= deadline:
            raise BackendError(f"no node of the Ray cluster has {what}")
        if not warned:
            _LOG.warning(
                "waiting at most %g s for a node of the Ray cluster with %s", patience, what
            )
        warned = True
        time.sleep(1)
