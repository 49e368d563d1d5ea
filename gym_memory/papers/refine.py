"""LDM2's refinement (Wang et al., 3.3): explore tasks, and add the tuples of better processes.

The store keeps the tuples, and a folder one line per task, so a run can be resumed. Findings are
written before the memory adds them, so a killed run neither explores a task again nor adds twice.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_memory.baselines.base import make_policy
from gym_memory.core.errors import BudgetExceededError, InvalidArgumentError, ResultsError
from gym_memory.core.files import parse_json, read_json, write_atomic
from gym_memory.core.names import Spec
from gym_memory.core.records import Outcome, Step, Task
from gym_memory.core.trajectory import Trajectory
from gym_memory.llm import Budget, Meter, episode_usage
from gym_memory.memory.base import Memory, make_memory
from gym_memory.memory.ldm2.memory import LDM2
from gym_memory.memory.stores.store import Store
from gym_memory.papers.explore import Exploration, explore
from gym_memory.run.config import Job
from gym_memory.wrappers.memory import DEFAULT_BUDGET

__all__ = ["RefineConfig", "RefinedTask", "form", "refine"]

_FORMED = ("ldm2", "library", "formed")

_FILE = "explored.jsonl"
_FOUND = "found.json"
"""File of the findings that the memory is adding."""


@dataclasses.dataclass(frozen=True)
class RefineConfig:
    """A configuration of an exploration; limits are those of :func:`.explore`.

    The tasks should differ from those that evaluate the memory. The memory is ``ldm2`` with the
    path of its store; the policy can be explored (:class:`.Exploring`).
    """

    env: str
    memory: str
    policy: str
    seeds: tuple[int, ...]
    width: int = 4
    max_calls: int | None = None
    max_steps: int | None = None
    budget: int = DEFAULT_BUDGET

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**dataclasses.asdict(self), "seeds": list(self.seeds)}


@dataclasses.dataclass(frozen=True)
class RefinedTask:
    """An outcome of a task, one line of ``explored.jsonl``.

    ``greedy`` and ``best`` are scores of processes, ``success`` is that of the best; ``leaves``
    have score, confidence and number of steps. ``added`` tuples were gained, ``tuples`` are held.
    ``failed`` says why the task could not be explored.
    """

    seed: int
    task_id: str = ""
    greedy: float = 0.0
    best: float = 0.0
    success: bool = False
    leaves: Sequence[Sequence[float]] = ()
    calls: int = 0
    steps: int = 0
    splits: int = 0
    whole: bool = False
    added: int = 0
    tuples: int = 0
    counters: Mapping[str, float] = dataclasses.field(default_factory=dict)
    failed: str = ""


def form(
    memory: str,
    trajectories: Sequence[Trajectory],
    on_batch: Callable[[int, int], None] | None = None,
) -> LDM2:
    """Form batch memories in a store, skipping those already there.

    ``on_batch`` is called before every batch, with the finished and total demonstrations, and at
    the end.
    """
    opened = _with_store(make_memory(memory), memory)
    store, total = Store(str(Spec(memory).kwargs["store"])), len(trajectories)
    known = {record.payload for record in store.records(*_FORMED)}
    for start in range(0, total, opened.batch_size):
        if on_batch is not None:
            on_batch(start, total)
        batch = trajectories[start : start + opened.batch_size]
        digest = hashlib.sha256(repr(batch).encode()).hexdigest()
        if digest not in known:
            opened.form(batch)
            store.add(*_FORMED, digest)
    if on_batch is not None:
        on_batch(total, total)
    return opened


def _with_store(opened: Memory, memory: str) -> LDM2:
    if not isinstance(opened, LDM2) or opened.lifetime != "forever":
        raise InvalidArgumentError(
            f"expected a memory ldm2?store=STORE, which keeps its tuples, got {memory!r}"
        )
    return opened


def refine(
    config: RefineConfig,
    out: str | os.PathLike[str],
    *,
    max_cost_usd: float | None = None,
    max_tokens: int | None = None,
    spending: str | os.PathLike[str] | None = None,
    retry_failed: bool = False,
    on_task: Callable[[int, int, RefinedTask | None], None] | None = None,
) -> list[RefinedTask]:
    """Explore the remaining tasks, and refine the memory after each of them.

    Args:
        config: What to explore.
        out: Folder for ``config.json`` and ``explored.jsonl``.
        max_cost_usd: Most US dollars that the folder's tasks may spend on language models, earlier
            calls included; the task that meets the stop is not kept.
        max_tokens: The same in prompt and completion tokens.
        spending: File that counts towards these stops, for several runs to share.
        retry_failed: Explore failed tasks again.
        on_task: Called at the start and after every task, with tasks done and in all, and the last.
    """
    folder = Path(out)
    done = {row.seed: row for row in _opened(folder, config) if not (row.failed and retry_failed)}
    limits: dict[str, Any] = {"max_cost_usd": max_cost_usd, "max_tokens": max_tokens}
    stopped = any(limit is not None for limit in limits.values())
    path = os.fspath(spending or folder / "spending.sqlite")
    stop = Budget(**limits, path=path) if stopped else None
    if on_task is not None:
        on_task(len(done), len(config.seeds), None)
    still = Spec(config.memory).with_parameter("learn", False)
    env = Job(Spec(config.env), still, Spec(config.policy), 0, budget=config.budget).make_env()
    try:
        memory = _with_store(env.get_wrapper_attr("memory"), config.memory)
        policy = make_policy(config.policy)
        for seed in config.seeds:
            if seed not in done:
                done[seed] = _task(config, env, memory, policy, seed, stop, folder / _FOUND)
                _write(folder, done.values())
                (folder / _FOUND).unlink(missing_ok=True)
                if on_task is not None:
                    on_task(len(done), len(config.seeds), done[seed])
    finally:
        env.close()
        if stop is not None:
            stop.close()
    return [done[seed] for seed in config.seeds]


def _task(
    config: RefineConfig,
    env: Any,
    memory: LDM2,
    policy: Any,
    seed: int,
    spending: Budget | None,
    path: Path,
) -> RefinedTask:
    """Explore a task, unless ``path`` has its findings, and refine the memory."""
    meter, earlier = Meter(), Counter[str]()
    try:
        with episode_usage(spending) as meter:
            noted = _noted(path, seed)
            if noted:
                earlier.update(noted[0].counters)
            else:
                limits = {"max_calls": config.max_calls, "max_steps": config.max_steps}
                found = explore(env, policy, seed, width=config.width, **limits)
                noted = _row(seed, found, memory, meter), found.best, found.greedy
                write_atomic(path, json.dumps([dataclasses.asdict(noted[0]), *noted[1:]]))
            row, better, worse = noted
            if memory.stats().lessons == row.tuples:  # a killed run may have progressed further
                memory.refine(better, worse)
        earlier.update(meter.counters())
        tuples = memory.stats().lessons
        return dataclasses.replace(
            row, added=tuples - row.tuples, tuples=tuples, counters=dict(earlier)
        )
    except (BudgetExceededError, InvalidArgumentError):
        raise
    except Exception as error:  # continue with the other tasks, as in every run
        message = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        return RefinedTask(seed, counters=meter.counters(), failed=message)


def _row(seed: int, found: Exploration, memory: LDM2, meter: Meter) -> RefinedTask:
    """Return the result of an exploration, before the memory adds it."""
    return RefinedTask(
        seed,
        found.greedy.task.id,
        found.greedy.outcome.value,
        found.best.outcome.value,
        bool(found.best.outcome.success),
        tuple(
            (leaf.outcome.value, confidence, leaf.outcome.steps)
            for leaf, confidence in zip(found.leaves, found.confidences, strict=True)
        ),
        found.calls,
        found.steps,
        found.splits,
        found.whole,
        tuples=memory.stats().lessons,
        counters=meter.counters(),
    )


def _opened(folder: Path, config: RefineConfig) -> list[RefinedTask]:
    """Return the finished tasks of a folder; write the configuration to a new one."""
    path = folder / "config.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = read_json(path) if path.exists() else None
        if held is None:
            write_atomic(path, json.dumps(config.to_json(), indent=2) + "\n")
        elif held != config.to_json():
            changed = [name for name, value in config.to_json().items() if held.get(name) != value]
            raise ResultsError(
                f"{str(folder)!r} holds another exploration, with other {', '.join(changed)}: "
                "use another --out"
            )
        explored = folder / _FILE
        lines = explored.read_text("utf-8").splitlines() if explored.exists() else []
        return [_read(parse_json(line)) for line in lines]
    except (OSError, TypeError, ValueError, AttributeError) as error:
        raise ResultsError(f"cannot use {str(folder)!r} for an exploration: {error}") from error


def _read(record: dict[str, Any]) -> RefinedTask:
    leaves = tuple(map(tuple, record.pop("leaves")))
    return RefinedTask(**record, leaves=leaves)


def _noted(path: Path, seed: int) -> tuple[RefinedTask, Trajectory, Trajectory] | None:
    """Return the best and the greedy process of a task; None if not written yet."""
    if not path.exists():
        return None
    record, *processes = read_json(path)
    row = _read(record)
    better, worse = map(_trajectory, processes)
    return (row, better, worse) if row.seed == seed else None


def _trajectory(record: Sequence[Any]) -> Trajectory:
    episode, task, rows, outcome, finished = record
    steps = tuple(Step(*row)._replace(valid_actions=tuple(row[5])) for row in rows)
    return Trajectory(episode, Task(*task), steps, Outcome(*outcome), finished)


def _write(folder: Path, rows: Any) -> None:
    lines = [json.dumps(dataclasses.asdict(row), ensure_ascii=False) for row in rows]
    write_atomic(folder / _FILE, "\n".join(lines) + "\n")
