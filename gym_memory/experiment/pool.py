"""A pool of worker processes: jobs played side by side, and none can take the run down.

Each worker is a fresh process (never a fork: engines and their virtual machines do not survive
one) in a process group of its own, with one numeric thread. A worker that hangs is killed with
everything that it started, one that dies is replaced, and the episode that it played counts as
failed with the reason. When the parent dies, its workers kill themselves.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from types import TracebackType
from typing import Any

from gym_memory.errors import BackendError, InvalidArgumentError
from gym_memory.experiment.jobs import EpisodeRow, Job, RunConfig
from gym_memory.experiment.worker import serve
from gym_memory.run import EpisodeResult

__all__ = ["WorkerPool"]

START_SECONDS = 120.0
"""Time that a worker may take to start: it imports packages, on a busy machine slowly."""
_END_SECONDS = 5.0
"""Time to wait for a process that is ending, to learn how; it is killed in any case."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_LOG_CHARS = 2000


class _Worker:
    """A worker process as the parent sees it."""

    def __init__(
        self,
        slot: int,
        plugins: Sequence[str],
        log: Path,
        steps: Path | None,
        limits: Mapping[str, Any],
    ):
        self.slot = slot
        self.job: Job | None = None
        self.rows: list[EpisodeRow] = []
        self.in_episode = False
        self.task_id = ""
        self.ready = False
        self.deadline = time.monotonic() + START_SECONDS
        self._log = log
        self._log_start = self._log_size()
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        arguments = (theirs, tuple(plugins), str(log), str(steps or ""), dict(limits))
        self.process = context.Process(target=serve, args=arguments)
        with _child_settings():
            self.process.start()
        theirs.close()

    def give(self, job: Job, timeout: float) -> None:
        """Send a job; if the worker is dead, the next look at it tells."""
        self.job, self.rows, self.task_id = job, [], job.task_id
        self.in_episode = False
        self.deadline = time.monotonic() + timeout
        self._log_start = self._log_size()
        with contextlib.suppress(OSError):
            self.connection.send(job)

    def awake(self, ready: Sequence[Any]) -> bool:
        """Whether it has something to say, has died, or is past its deadline."""
        return (
            self.connection in ready
            or self.process.sentinel in ready
            or time.monotonic() >= self.deadline
        )

    def failed_rows(self, reason: str) -> list[EpisodeRow]:
        """The rows of a job that broke off: those received and one that says why.

        Where the job had ended but for the closing of its environment, nothing is amiss.
        """
        assert self.job is not None
        if self.rows and not self.in_episode:
            return self.rows
        failure = EpisodeResult.failure(reason, self.log_tail(), task_id=self.task_id)
        return [*self.rows, EpisodeRow(self.job, len(self.rows), failure)]

    def _log_size(self) -> int:
        return self._log.stat().st_size if self._log.exists() else 0

    def log_tail(self) -> str:
        """The end of what the worker printed during its job."""
        try:
            text = self._log.read_bytes()[self._log_start :].decode(errors="replace")
        except OSError:
            return ""
        return text[-_LOG_CHARS:].strip()

    def ask_where(self) -> None:
        """Have a hanging worker write its stack to its log."""
        if hasattr(signal, "SIGUSR1") and self.process.pid is not None:
            with contextlib.suppress(OSError):
                os.kill(self.process.pid, signal.SIGUSR1)
            self.process.join(0.2)

    def kill(self) -> None:
        """End the worker and everything that it started."""
        if self.process.pid is not None:
            with contextlib.suppress(OSError, AttributeError):
                # Fails where the worker has no group of its own yet, so nothing else to end.
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.connection.close()


@contextlib.contextmanager
def _child_settings() -> Iterator[None]:
    """What a process started inside inherits.

    One numeric thread, unless the user chose otherwise, and deafness to Ctrl-C: that is for the
    parent to hear.
    """
    added = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main else None
    try:
        yield
    finally:
        if in_main:
            signal.signal(signal.SIGINT, before)
        for name in added:
            del os.environ[name]


class WorkerPool:
    """Plays jobs in worker processes.

    Args:
        n_workers: Processes at most, >= 1.
        timeout: Seconds that an episode may take before its worker is taken for hung.
        logs: Folder for what the backends print.
        steps: Folder for the step logs; None keeps none.
        plugins: Modules that every worker imports first.
        limits: Arguments of the :class:`gym_memory.llm.Budget` of all workers together; None for
            no limit.
    """

    def __init__(
        self,
        n_workers: int,
        *,
        timeout: float,
        logs: Path,
        steps: Path | None = None,
        plugins: Sequence[str] = (),
        limits: Mapping[str, Any] | None = None,
    ):
        if isinstance(n_workers, bool) or not isinstance(n_workers, int) or n_workers < 1:
            raise InvalidArgumentError(f"expected workers as an int >= 1, got {n_workers!r}")
        if not timeout > 0:
            raise InvalidArgumentError(f"expected a timeout in seconds > 0, got {timeout!r}")
        self._n, self._timeout = n_workers, timeout
        self._logs, self._steps, self._plugins = logs, steps, tuple(plugins)
        self._limits = limits or {}
        self._workers: dict[int, _Worker] = {}

    def __enter__(self) -> WorkerPool:
        for folder in (self._logs, self._steps):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers.values():
            worker.kill()
        self._workers.clear()

    def _start(self, slot: int) -> _Worker:
        log = self._logs / f"worker-{slot}.log"
        self._workers[slot] = worker = _Worker(slot, self._plugins, log, self._steps, self._limits)
        return worker

    def check(self, config: RunConfig) -> dict[str, str]:
        """Build each environment, memory and policy once.

        Returns:
            Environment to the versions of the packages behind it.

        Raises:
            GymMemoryError: Something cannot be built, with its own message.
        """
        worker = self._workers.get(0) or self._start(0)
        worker.connection.send(config)
        worker.deadline = time.monotonic() + max(self._timeout, START_SECONDS)
        while True:
            kind, *content = self._receive(worker)
            if kind == "checked":
                backends: dict[str, str] = content[0]
                return backends

    def play(self, jobs: Iterable[Job]) -> Iterator[list[EpisodeRow]]:
        """Play jobs; yields the episodes of each as it is finished, in order of completion.

        Raises:
            BackendError: Worker processes cannot be started.
        """
        waiting = deque(jobs)
        for slot in range(min(self._n, len(waiting))):
            if slot not in self._workers:
                self._start(slot)
        while waiting or any(worker.job for worker in self._workers.values()):
            for worker in list(self._workers.values()):
                if worker.ready and worker.job is None and waiting:
                    if not worker.process.is_alive():
                        worker.kill()
                        self._start(worker.slot)
                        continue
                    worker.give(waiting.popleft(), self._timeout)
            busy = [w for w in self._workers.values() if w.job is not None or not w.ready]
            sources = [s for w in busy for s in (w.connection, w.process.sentinel)]
            left = min(worker.deadline for worker in busy) - time.monotonic()
            ready = wait(sources, max(left, 0.0))
            for worker in [w for w in busy if w.awake(ready)]:
                rows = self._advance(worker)
                if rows and worker.slot not in self._workers and waiting:
                    self._start(worker.slot)
                if rows:
                    yield rows

    def _advance(self, worker: _Worker) -> list[EpisodeRow]:
        """Take one message of a worker, or bury it; returns the rows of a job that ended."""
        if worker.job is None:
            self._receive(worker)
            return []
        if not worker.connection.poll() and time.monotonic() >= worker.deadline:
            worker.ask_where()
            return self._bury(worker, f"timeout: no end within {self._timeout:g} s")
        try:
            if not worker.connection.poll():
                # It is ending; what it said before can be read when it has.
                worker.process.join(_END_SECONDS)
                if not worker.connection.poll():
                    raise EOFError
            kind, *content = worker.connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            worker.process.join(_END_SECONDS)
            return self._bury(worker, _cause(worker.process.exitcode))
        if kind == "begin":
            worker.in_episode = True
            worker.task_id = content[0] or worker.task_id
            worker.deadline = time.monotonic() + self._timeout
        elif kind == "row":
            worker.in_episode = False
            worker.rows.append(content[0])
        elif kind == "done":
            worker.job = None
            return worker.rows
        return []

    def _bury(self, worker: _Worker, reason: str) -> list[EpisodeRow]:
        rows = worker.failed_rows(reason)
        worker.kill()
        del self._workers[worker.slot]
        return rows

    def _receive(self, worker: _Worker) -> tuple[Any, ...]:
        """The next message of a worker that has no job."""
        left = max(worker.deadline - time.monotonic(), 0.0)
        if not wait([worker.connection, worker.process.sentinel], left):
            raise BackendError("a worker process did not answer in time while it was starting")
        try:
            message: tuple[Any, ...] = worker.connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            worker.process.join(_END_SECONDS)
            raise BackendError(
                f"a worker process ended while it was starting ({_cause(worker.process.exitcode)})"
                f": {worker.log_tail() or 'it printed nothing'}"
            ) from None
        if message[0] == "error":
            raise message[1]
        if message[0] == "ready":
            worker.ready = True
        return message


def _cause(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        with contextlib.suppress(ValueError):
            return f"worker died of {signal.Signals(-exitcode).name}"
    return f"worker died with exit status {exitcode}"
