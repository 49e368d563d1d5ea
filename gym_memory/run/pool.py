"""Play jobs in worker processes, whose crashes and hangs fail an episode, not the run.

Each worker is a fresh process (engines do not survive a fork) with one numeric thread. A worker
that hangs is killed with everything that it started, one that dies is replaced, and its episode
fails with the reason. When the parent dies, its workers kill themselves.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import pickle
import shutil
import signal
import tempfile
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import BackendError, InvalidArgumentError, MachineError
from gym_memory.core.machine import machine_fault
from gym_memory.core.process import child_environment
from gym_memory.core.settings import check_int
from gym_memory.games.isolate import cause_of_end
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job, RunConfig
from gym_memory.run.worker import MARK, WorkerPlace, WorkerSettings, kill_marked, serve

__all__ = ["LOOK_SECONDS", "Limits", "WorkerPool", "share_of_memory"]

START_SECONDS = 120.0
"""Seconds that a worker may take to start; imports are slow on a busy machine."""
_MOST_STARTS = 4
"""Consecutive failed starts that end the run. A start that was killed or lacked memory may succeed
later; one without a library never does.
"""
_END_SECONDS = 5.0
"""Seconds to wait for the exit status of a process that is ending, before it is killed."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_LOG_CHARS = 2000
_LOG_BYTES = 8 << 20
"""Bytes at which a log is cut to its end."""
LOOK_SECONDS = 5.0
"""Seconds between checks of the logs of silent workers."""
_LEAST_MEMORY = 2 << 30
_MOST_STACKS = 8
"""Most lanes whose stacks are reported when one hangs."""


class Limits(NamedTuple):
    """Seconds after which a worker counts as hung.

    ``reset`` is part of ``episode``. ``step`` covers the policy's choice, the engine's answer and
    the memory's work; a hang is noticed at most a tenth late.
    """

    episode: float
    reset: float = math.inf
    step: float = math.inf


class _Play:
    """A job in play in a worker, as the parent sees it."""

    def __init__(self, job: Job, limits: Limits, *, alone: bool):
        self.job, self.alone = job, alone
        self.rows: list[EpisodeRow] = []
        self.in_episode = False
        self.task_id = job.task_id
        self._limits = limits
        self._due: dict[str, float] = {}
        self._began = time.monotonic()
        self.expect("end", limits.episode)

    def expect(self, what: str, seconds: float = math.inf) -> None:
        """Set a deadline for the next message; the other deadlines stay."""
        self._due[what] = time.monotonic() + seconds

    def hear(self, kind: str, content: Sequence[Any]) -> None:
        """Handle a message of the worker."""
        if kind == "begin":
            self.in_episode = True
            self._began = time.monotonic()
            self.expect("end", self._limits.episode)
            self.expect("reset", self._limits.reset)
        elif kind == "step":
            self.task_id = content[0] or self.task_id
            self.expect("reset")
            self.expect("step", self._limits.step)
        elif kind == "row":
            self.in_episode = False
            self.rows.append(content[0])
            self.expect("step")

    @property
    def deadline(self) -> float:
        return min(self._due.values())

    @property
    def timeout_reason(self) -> str:
        """Return why the worker counts as hung after its deadline."""
        what = min(self._due, key=lambda name: self._due[name])
        seconds = self._limits._asdict()["episode" if what == "end" else what]
        return f"timeout: no {what} within {seconds:g} s"

    @property
    def is_done(self) -> bool:
        """True if the job has ended, apart from closing its environment."""
        return bool(self.rows) and not self.in_episode

    def rows_after_fault(self, reason: str, detail: str) -> list[EpisodeRow]:
        """Return the rows received and, unless the job is done, a failed one with the reason."""
        if self.is_done:
            return self.rows
        took = time.monotonic() - self._began
        failure = EpisodeResult.failure(reason, detail, task_id=self.task_id, seconds=took)
        return [*self.rows, EpisodeRow(self.job, len(self.rows), failure)]


class _Worker:
    """A worker process, as its parent sees it."""

    def __init__(
        self,
        slot: int,
        place: WorkerPlace,
        settings: WorkerSettings,
        limits: Limits,
        temporary: str,
    ):
        self._limits = limits
        self.slot, self.lanes = slot, settings.lanes
        self.plays: dict[Job, _Play] = {}
        self.ready = False
        self.idle_deadline = time.monotonic() + START_SECONDS
        self._log = place.log
        self._log_start = self._log_size()
        context = multiprocessing.get_context("spawn")
        self.connection, child_end = context.Pipe()
        self.process = context.Process(target=serve, args=(child_end, place, settings))
        self._mark = uuid.uuid4().hex
        with _child_settings(self._mark, temporary):
            self.process.start()
        child_end.close()

    @property
    def deadline(self) -> float:
        if not self.ready or not self.plays:
            return self.idle_deadline
        return min(play.deadline for play in self.plays.values())

    def has_room(self, *, alone: bool) -> bool:
        """True if the worker can take one more job, or one that must run alone."""
        free = self.ready and len(self.plays) < (1 if alone else self.lanes)
        return free and not any(play.alone for play in self.plays.values())

    def give(self, job: Job, *, alone: bool) -> None:
        """Send a job; a dead worker is noticed afterwards."""
        if not self.plays:
            self._log_start = self._log_size()
        self.plays[job] = _Play(job, self._limits, alone=alone)
        with contextlib.suppress(OSError):
            self.connection.send(job)

    def move(self, place: WorkerPlace) -> None:
        """Redirect an idle worker to other files."""
        self._log = place.log
        with contextlib.suppress(OSError):
            self.connection.send(place)

    def needs_attention(self, ready: Sequence[Any]) -> bool:
        """True if the worker sent a message, died, or missed its deadline."""
        return (
            self.connection in ready
            or self.process.sentinel in ready
            or time.monotonic() >= self.deadline
        )

    def _log_size(self) -> int:
        return self._log.stat().st_size if self._log.exists() else 0

    def log_tail(self) -> str:
        """Return the last output of the worker during its jobs."""
        return self._end_of_log(_LOG_CHARS * min(self.lanes, _MOST_STACKS), self._log_start)

    def _end_of_log(self, most: int, start: int = 0) -> str:
        """Return the last ``most`` bytes of the log, none of them before ``start``."""
        try:
            with open(self._log, "rb") as file:
                file.seek(max(start, self._log_size() - most))
                return file.read(most).decode(errors="replace").strip()
        except OSError:
            return ""

    def trim_log(self) -> None:
        """Cut a long log to its end; the worker continues to append to it."""
        with contextlib.suppress(OSError):
            if self._log_size() > _LOG_BYTES:
                end = self._end_of_log(_LOG_BYTES // 8)
                os.truncate(self._log, 0)
                with open(self._log, "a", encoding="utf-8") as file:
                    file.write(f"... (the log was longer than {_LOG_BYTES} bytes)\n{end}\n")
                self._log_start = 0

    def log_stack(self) -> None:
        """Make a hanging worker write its stack to its log."""
        if hasattr(signal, "SIGUSR1") and self.process.pid is not None:
            with contextlib.suppress(OSError):
                os.kill(self.process.pid, signal.SIGUSR1)
            self.process.join(0.2)

    def kill(self) -> None:
        """Kill the worker and everything that it started."""
        if self.process.pid is not None:
            with contextlib.suppress(OSError, AttributeError):
                # Fails if the worker has no process group yet; then there is nothing else to kill.
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        kill_marked(self._mark)
        self.connection.close()


def _start_tracker() -> None:
    """Start the process that frees the semaphores of killed workers.

    It starts before any worker, so that it does not carry the workers' mark.
    """
    filters = os.environ.get("PYTHONWARNINGS", "")
    with child_environment(PYTHONWARNINGS=f"{filters},ignore:resource_tracker".lstrip(",")):
        resource_tracker.ensure_running()


@contextlib.contextmanager
def _child_settings(mark: str, temporary: str) -> Iterator[None]:
    """Give child processes a mark and one numeric thread, and shield them from Ctrl-C.

    Files of a killed engine stay in the folder ``temporary``, which is removed with the pool. The
    mark finds a worker with all its children, in any session. The parent handles Ctrl-C, but only
    after the start.
    """
    masks: set[signal.Signals] | set[int] = set()
    if hasattr(signal, "pthread_sigmask"):
        _start_tracker()
        masks = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    threads = {name: "1" for name in _THREADS if name not in os.environ}
    try:
        with child_environment(**threads, **{MARK: mark, "TMPDIR": temporary}):
            yield
    finally:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_SETMASK, masks)


class WorkerPool:
    """A pool of worker processes that play jobs.

    Args:
        n_workers: Most processes, >= 1.
        limits_in_time: Seconds after which a worker counts as hung.
        logs: Folder for the output of the backends.
        steps: Folder for the step logs; None keeps none.
        plugins: Modules that every worker imports first.
        limits: Arguments of the :class:`gym_memory.llm.Budget` of all workers together.
        concurrency: Jobs played at once over all workers, in threads; None for one per worker.
        memory: Bytes of data that a worker, or a process that it starts, may hold; None divides
            the machine's memory by the workers.
        callbacks: Callbacks that each worker builds, to follow steps.
    """

    def __init__(
        self,
        n_workers: int,
        *,
        limits_in_time: Limits,
        logs: Path,
        steps: Path | None = None,
        plugins: Sequence[str] = (),
        limits: Mapping[str, Any] | None = None,
        concurrency: int | None = None,
        memory: int | None = None,
        callbacks: Sequence[str] = (),
    ):
        check_int("workers", n_workers, 1)
        for seconds in limits_in_time:
            if not seconds > 0:
                raise InvalidArgumentError(f"expected a timeout in seconds > 0, got {seconds!r}")
        self._n, self._in_time = n_workers, limits_in_time
        self._most = n_workers if concurrency is None else concurrency
        check_int("concurrency", self._most, self._n)
        memory = share_of_memory(n_workers) if memory is None else check_int("memory", memory, 1)
        self._logs, self._steps = logs, steps
        self._settings = WorkerSettings(
            plugins=tuple(plugins),
            callbacks=tuple(callbacks),
            limits=limits or {},
            lanes=math.ceil(self._most / self._n),
            memory=memory,
            silence=limits_in_time.step / 10,
        )
        self._workers: dict[int, _Worker] = {}
        self._temporary = ""
        self._failed_starts = 0  # in a row
        self._waiting: deque[Job] = deque()
        self._suspects: set[Job] = set()  # one of several jobs in play when a worker died

    def __enter__(self) -> WorkerPool:
        self.move(self._logs, self._steps)
        self._temporary = tempfile.mkdtemp(prefix="gym-memory-")
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        if kind is None:  # all jobs are done: wait for the workers to clean up
            for worker in self._workers.values():
                worker.connection.close()
            for worker in self._workers.values():
                worker.process.join(_END_SECONDS)
        for worker in self._workers.values():
            worker.kill()
        self._workers.clear()
        shutil.rmtree(self._temporary, ignore_errors=True)

    def move(self, logs: Path, steps: Path | None) -> None:
        """Change the folders for files of the next jobs; call it between two calls of ``play``."""
        self._logs, self._steps = logs, steps
        for folder in (logs, steps):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        for slot, worker in self._workers.items():
            worker.move(self._place(slot))

    def _place(self, slot: int) -> WorkerPlace:
        return WorkerPlace(self._logs / f"worker-{slot}.log", self._steps)

    def _start(self, slot: int) -> None:
        """Start a worker; if the system refuses, leave the slot empty for the next try."""
        place = self._place(slot)
        try:
            self._workers[slot] = _Worker(
                slot, place, self._settings, self._in_time, self._temporary
            )
        except OSError as error:
            self._count_failed_start(f"a worker process cannot be started: {error}")

    def _count_failed_start(self, why: str) -> None:
        """Count a failed start; raise a BackendError after too many in a row."""
        self._failed_starts += 1
        if self._failed_starts >= _MOST_STARTS:
            raise BackendError(
                f"{why}. It was tried {_MOST_STARTS} times. "
                "A script must start workers under `if __name__ == '__main__':`"
            )

    def check(self, config: RunConfig) -> dict[str, str]:
        """Build each environment, memory and policy once; return the backend versions."""
        while True:
            if 0 not in self._workers:
                self._start(0)
                continue
            worker = self._workers[0]
            with contextlib.suppress(OSError):  # the worker is dead, which the next receive notices
                worker.connection.send(config)
            worker.idle_deadline = time.monotonic() + max(self._in_time.episode, START_SECONDS)
            while message := self._receive(worker):
                if message[0] == "checked":
                    self._failed_starts = 0
                    backends: dict[str, str] = message[1]
                    return backends

    def play(self, jobs: Iterable[Job]) -> Iterator[list[EpisodeRow]]:
        """Play jobs; yield the episodes of each when it is finished."""
        self._waiting, self._suspects = deque(jobs), set()
        while self._waiting or any(worker.plays for worker in self._workers.values()):
            self._start_missing()
            self._assign_jobs()
            busy = [w for w in self._workers.values() if w.plays or not w.ready]
            if not busy:  # no worker could be started: try again, but not forever
                continue
            sources = [s for w in busy for s in (w.connection, w.process.sentinel)]
            left = min(worker.deadline for worker in busy) - time.monotonic()
            ready = wait(sources, min(max(left, 0.0), LOOK_SECONDS))
            for worker in busy:
                worker.trim_log()
            for worker in [w for w in busy if w.needs_attention(ready)]:
                yield from self._advance(worker)

    def _start_missing(self) -> None:
        """Start as many workers as there is work for; replace workers that died while idle."""
        in_play = sum(len(worker.plays) for worker in self._workers.values())
        for slot in range(min(self._n, len(self._waiting) + in_play)):
            worker = self._workers.get(slot)
            if worker is not None and not worker.plays and not worker.process.is_alive():
                worker.kill()
                worker = None
            if worker is None and self._waiting:
                self._start(slot)

    def _assign_jobs(self) -> None:
        """Assign waiting jobs to the workers with the fewest jobs."""
        in_play = sum(len(worker.plays) for worker in self._workers.values())
        while self._waiting and in_play < self._most:
            alone = self._waiting[0] in self._suspects
            free = [w for w in self._workers.values() if w.has_room(alone=alone)]
            if not free:
                return
            worker = min(free, key=lambda w: (len(w.plays), w.slot))
            worker.give(self._waiting.popleft(), alone=alone)
            in_play += 1

    def _advance(self, worker: _Worker) -> list[list[EpisodeRow]]:
        """Take one message of a worker, or retire it; return the rows of the jobs that ended."""
        if not worker.plays:
            if self._receive(worker):
                self._failed_starts = 0
            return []
        if not worker.connection.poll() and time.monotonic() >= worker.deadline:
            worker.log_stack()
            late = [play for play in worker.plays.values() if time.monotonic() >= play.deadline]
            return self._retire(worker, late[0].timeout_reason, [play.job for play in late])
        try:
            if not worker.connection.poll():
                # The worker is ending; its last messages can still be read.
                worker.process.join(_END_SECONDS)
                if not worker.connection.poll():
                    raise EOFError
            kind, job, *content = worker.connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            worker.process.join(_END_SECONDS)
            if fault := machine_fault():
                raise MachineError(
                    f"{fault}. It ended a worker: run the same command again"
                ) from None
            dead = list(worker.plays)
            self._suspects.update(dead[1:] and dead)
            cause = cause_of_end(worker.process.exitcode, "worker")
            return self._retire(worker, cause, dead if len(dead) == 1 else [])
        if kind == "error":
            raise content[0]
        if kind == "done":
            return [worker.plays.pop(job).rows]
        worker.plays[job].hear(kind, content)
        return []

    def _retire(
        self, worker: _Worker, reason: str, guilty: Sequence[Job]
    ) -> list[list[EpisodeRow]]:
        """End a worker: its ``guilty`` jobs failed, the others are played again.

        If a worker died with several jobs in play, the cause is unknown: each job is played again
        in its own worker.
        """
        detail = worker.log_tail()
        worker.kill()
        del self._workers[worker.slot]
        ended = []
        for job, play in worker.plays.items():
            if play.is_done or job in guilty:
                ended.append(play.rows_after_fault(reason, detail))
            else:
                self._waiting.append(job)
        return ended

    def _receive(self, worker: _Worker) -> tuple[Any, ...]:
        """Return the next message of an idle worker; empty if it died, and is retired."""
        left = max(worker.deadline - time.monotonic(), 0.0)
        if not wait([worker.connection, worker.process.sentinel], left):
            why = "a worker process did not answer in time while it was starting"
            if worker.ready:  # another worker would hang in the same place
                raise BackendError(f"{why}: {worker.log_tail()}")
            self._give_up_start(worker, why)
            return ()
        try:
            message: tuple[Any, ...] = worker.connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            worker.process.join(_END_SECONDS)
            cause = cause_of_end(worker.process.exitcode, "worker")
            printed = worker.log_tail() or "it printed nothing"
            self._give_up_start(
                worker, f"a worker process ended while it was starting ({cause}): {printed}"
            )
            return ()
        if message[0] == "error":
            raise message[1]
        if message[0] == "ready":
            worker.ready = True
        return message

    def _give_up_start(self, worker: _Worker, why: str) -> None:
        """Retire a worker that has played nothing."""
        worker.kill()
        del self._workers[worker.slot]
        self._count_failed_start(why)


def share_of_memory(n_workers: int) -> int:
    """Return the bytes of memory for each worker; a tenth of the machine stays free."""
    pages = os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    whole = pages * os.sysconf("SC_PAGE_SIZE") if pages > 0 else 0
    return max(_LEAST_MEMORY, whole * 9 // 10 // n_workers)
