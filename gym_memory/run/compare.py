"""Play every combination of a configuration, save every episode, and write the report."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import import_plugin, sources
from gym_memory.llm import Budget
from gym_memory.run import DEFAULT_STEP_TIMEOUT, DEFAULT_TIMEOUT
from gym_memory.run.callbacks import following, watches_steps
from gym_memory.run.cluster import RayPool
from gym_memory.run.config import EpisodeRow, RunConfig
from gym_memory.run.pool import Limits, WorkerPool
from gym_memory.run.results import ResultsFolder
from gym_memory.run.results.report import read_source, write_report
from gym_memory.run.results.verify import MANIFEST, write_manifest

__all__ = ["DEFAULT_STEP_TIMEOUT", "DEFAULT_TIMEOUT", "KeptWorkers", "OnProgress", "compare"]
__all__ += ["default_workers"]

OnProgress = Callable[[int, int, Sequence[EpisodeRow]], None]
"""Callback for progress: finished jobs, all jobs, and the episodes of the last job."""


class KeptWorkers:
    """Workers shared by several comparisons, so that engines start only once.

    Comparisons use it one after the other inside its ``with`` block, whose end stops the workers.
    """

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._settings: Any = None
        self._pool: WorkerPool | RayPool | None = None

    def __enter__(self) -> KeptWorkers:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def pool(
        self, kind: type[WorkerPool | RayPool], args: Sequence[Any], folder: Path, **settings: Any
    ) -> WorkerPool | RayPool:
        """Return workers that write into a folder; workers of other settings are replaced."""
        logs, steps = folder / "logs", folder / "steps"
        if self._pool is not None and self._settings == (kind, args, settings):
            self._pool.move(logs, steps)
            return self._pool
        self._stack.close()
        made: WorkerPool | RayPool = kind(*args, logs=logs, steps=steps, **settings)
        self._stack.enter_context(made)
        self._pool, self._settings = made, (kind, args, settings)
        return made


def default_workers() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compare(
    config: RunConfig,
    out: str | os.PathLike[str],
    *,
    workers: int | None = 1,
    ray: str | None = None,
    concurrency: int | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    step_timeout: float = DEFAULT_STEP_TIMEOUT,
    reset_timeout: float = DEFAULT_STEP_TIMEOUT,
    allow_version_mismatch: bool = False,
    retry_failed: bool = False,
    max_cost_usd: float | None = None,
    max_tokens: int | None = None,
    spending: str | os.PathLike[str] | None = None,
    worker_memory: float | None = None,
    callbacks: Sequence[str] = (),
    on_progress: OnProgress | None = None,
    kept: KeptWorkers | None = None,
) -> list[EpisodeRow]:
    """Play the jobs of ``config`` that the folder lacks, then write the report.

    If interrupted or killed, call it again: finished jobs are kept. In a script, call it under ``if
    __name__ == "__main__":``, because workers are spawned.

    Args:
        config: Combinations to play.
        out: Results folder.
        workers: Worker processes, >= 1; None for one per core. Results do not depend on it.
        ray: Address of a Ray cluster to play on (:class:`.RayPool`); None for this machine.
        concurrency: Episodes played at once over all workers, in threads, for policies that wait
            for a model server. If an engine dies, the other episodes of its worker are played
            again.
        timeout: Seconds that an episode may take before it fails.
        step_timeout: The same for a step with the policy's choice and the memory's work.
        reset_timeout: The same for a reset.
        allow_version_mismatch: Continue with other backend versions than the folder's.
        retry_failed: Play failed jobs of an earlier call again.
        max_cost_usd: US dollars that the folder's episodes may spend on language models, earlier
            calls included; episodes over it fail. Needs the model's price.
        max_tokens: The same in prompt and completion tokens.
        spending: File that counts towards these limits, which folders may share.
        worker_memory: GiB of data that a worker may hold, over which an episode fails; None
            divides the machine's memory by the workers.
        callbacks: Callbacks by name, see :mod:`gym_memory.run.callbacks`.
        on_progress: Called at the start and after every job.
        kept: Workers that earlier and later comparisons use too; None starts and ends its own.

    Returns:
        All episodes of the run, in the order of the configuration.
    """
    if ray is not None and (concurrency, max_cost_usd, max_tokens) != (None, None, None):
        raise InvalidArgumentError(
            "expected no concurrency, max_cost_usd or max_tokens together with ray: a file "
            "counts them, which the machines of a cluster do not share"
        )
    limits: dict[str, Any] = {}
    if max_cost_usd is not None or max_tokens is not None:
        limits = {"max_cost_usd": max_cost_usd, "max_tokens": max_tokens}
        Budget(**limits).close()  # a wrong limit is reported before play
        limits["path"] = os.fspath(spending or os.path.join(out, "spending.sqlite"))
    with ResultsFolder(out, config, retry_failed=retry_failed) as folder:
        todo, total = folder.todo(), len(config.jobs())
        done = total - len(todo)
        if on_progress is not None:
            on_progress(done, total, ())
        if todo:
            memory = None if worker_memory is None else int(worker_memory * (1 << 30))
            settings: dict[str, Any] = {
                "limits_in_time": Limits(timeout, reset_timeout, step_timeout),
                "plugins": (*config.plugins, *map(import_plugin, sources(callbacks))),
                "callbacks": tuple(filter(watches_steps, callbacks)),
                "memory": memory,
            }
            kind: type[WorkerPool | RayPool] = WorkerPool
            args: tuple[Any, ...] = (ray, workers)
            if ray is not None:
                kind = RayPool
            else:
                most = len(todo) if kept is None else sys.maxsize
                here = default_workers() if workers is None else workers
                at_once = here if concurrency is None else concurrency
                args = (min(here, at_once, most),)
                settings["limits"] = limits
                settings["concurrency"] = None if concurrency is None else min(at_once, most)
            with (
                following(callbacks, config.to_json(), folder.path) as followers,
                contextlib.nullcontext(kept) if kept else KeptWorkers() as workers_of,
            ):
                pool = workers_of.pool(kind, args, folder.path, **settings)
                backends = pool.check(config)
                folder.set_backends(backends, allow_mismatch=allow_version_mismatch)
                for rows in pool.play(todo):
                    folder.append(rows)
                    done += 1
                    for follower in followers:
                        for row in rows:
                            follower.episode(row)
                    if on_progress is not None:
                        on_progress(done, total, rows)
        rows = folder.rows()
        write_report(folder.path, [read_source(folder.path)])
        if todo or not (folder.path / MANIFEST).exists():  # a new manifest would hide later damage
            write_manifest(folder.path)
        return rows
