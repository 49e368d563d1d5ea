"""The main job: play every combination of a configuration, keep every episode, sum it up."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.llm import Budget
from gym_memory.run.cluster import RayPool
from gym_memory.run.jobs import EpisodeRow, RunConfig
from gym_memory.run.pool import Limits, WorkerPool
from gym_memory.run.results import ResultsFolder
from gym_memory.run.results.report import read_source, write_report
from gym_memory.run.results.verify import MANIFEST, write_manifest

__all__ = [
    "DEFAULT_STEP_TIMEOUT",
    "DEFAULT_TIMEOUT",
    "OnProgress",
    "compare",
    "default_workers",
]

DEFAULT_TIMEOUT = 1800.0
"""Seconds that a job may take."""
DEFAULT_STEP_TIMEOUT = 600.0
"""A model may be asked several times, and a first reset may compile a game."""
OnProgress = Callable[[int, int, Sequence[EpisodeRow]], None]
"""Called with jobs finished, jobs in all, and the episodes of the job just finished."""


def default_workers() -> int:
    """Cores that this process may use."""
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
    on_progress: OnProgress | None = None,
) -> list[EpisodeRow]:
    """Play what ``config`` asks for and is not in the folder yet; write the report.

    An interrupted or killed call leaves every finished job on disk, and the same call goes on
    from there. Call it under ``if __name__ == "__main__":`` in a script, because workers are
    spawned.

    Args:
        config: What to play.
        out: Results folder.
        workers: Worker processes, >= 1; results do not depend on it. None for one a core.
        ray: Address of a Ray cluster to play on (:class:`.RayPool`); None for this machine.
        concurrency: Episodes played at once over all workers, those of a worker in threads of
            it, so that a server of a language model has much to do at a time; None for one a
            worker. An engine that dies takes the episodes beside it along: they are played again.
        timeout: Seconds that an episode may take; one that takes longer counts as failed.
        step_timeout: Seconds that a step may take, the policy's choice and the memory's work
            included; likewise.
        reset_timeout: Seconds that a reset may take, likewise.
        allow_version_mismatch: Go on with other backend versions than the folder's.
        retry_failed: Play failed jobs of an earlier call again; what failed stays in
            ``episodes.failed.jsonl``.
        max_cost_usd: Most US dollars that the folder's episodes may spend on language models,
            earlier calls included; those that meet the stop fail. Needs the model's price.
        max_tokens: Most prompt and completion tokens, likewise.
        spending: File that counts towards these stops, for several folders to share; one in
            the folder when None.
        worker_memory: GiB of data that a worker may hold; an episode that asks for more fails.
            None shares the machine's memory out among the workers.
        on_progress: Called at the start and after every job.

    Returns:
        All episodes of the run, in the order of the configuration.

    Raises:
        ResultsError: The folder cannot be used for this.
        InvalidArgumentError: A limit is negative, or does not go with ``ray``.
        GymMemoryError: Something that ``config`` names cannot be built.
    """
    if ray is not None and (concurrency, max_cost_usd, max_tokens) != (None, None, None):
        raise InvalidArgumentError(
            "expected no concurrency, max_cost_usd or max_tokens together with ray: what counts "
            "them is a file, which the machines of a cluster do not share"
        )
    limits: dict[str, Any] = {}
    if max_cost_usd is not None or max_tokens is not None:
        limits = {"max_cost_usd": max_cost_usd, "max_tokens": max_tokens}
        Budget(**limits).close()  # a wrong limit is told before anything is played
        limits["path"] = os.fspath(spending or os.path.join(out, "spending.sqlite"))
    with ResultsFolder(out, config, retry_failed=retry_failed) as folder:
        todo, total = folder.todo(), len(config.jobs())
        done = total - len(todo)
        if on_progress is not None:
            on_progress(done, total, ())
        if todo:
            memory = None if worker_memory is None else int(worker_memory * (1 << 30))
            shared: dict[str, Any] = {
                "limits_in_time": Limits(timeout, reset_timeout, step_timeout),
                "logs": folder.path / "logs",
                "steps": folder.path / "steps",
                "plugins": config.plugins,
                "memory": memory,
            }
            pool: WorkerPool | RayPool
            if ray is not None:
                pool = RayPool(ray, workers, **shared)
            else:
                here = default_workers() if workers is None else workers
                at_once = here if concurrency is None else concurrency
                pool = WorkerPool(
                    min(here, at_once, len(todo)),
                    limits=limits,
                    concurrency=None if concurrency is None else min(at_once, len(todo)),
                    **shared,
                )
            with pool:
                backends = pool.check(config)
                folder.set_backends(backends, allow_mismatch=allow_version_mismatch)
                for rows in pool.play(todo):
                    folder.append(rows)
                    done += 1
                    if on_progress is not None:
                        on_progress(done, total, rows)
        rows = folder.rows()
        write_report(folder.path, [read_source(folder.path)])
        if todo or not (folder.path / MANIFEST).exists():  # else it is to tell of later damage
            write_manifest(folder.path)
        return rows
