"""Protocol ``stream``: tasks in sequence with one memory, then read-only tests.

A stream measures learning over tasks, transfer, forgetting and growth. Each episode of a job is a
turn, whose number determines its phase. :class:`Stream` orders and scores the turns,
:class:`StreamRunner` plays them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import random
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Annotated, Any, Literal, NamedTuple

import gymnasium as gym

from gym_memory.baselines.base import Policy, make_policy
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec
from gym_memory.core.records import Task
from gym_memory.core.settings import Help, checked
from gym_memory.memory.base import Memory
from gym_memory.run.loop import EpisodeResult, OnStep, rollout
from gym_memory.run.protocols import EpisodePlayer, JobScore, Kept, Protocol, Terms
from gym_memory.run.replays import Lens, credit_exactly, has_experience, memory_holder
from gym_memory.wrappers.make import make_env

__all__ = ["StoredSize", "Stream", "StreamRunner", "Turn", "stored_size"]

_PLUS = re.compile(r"[+\s]+")


class Turn(NamedTuple):
    """One episode of a stream: its phase, environment (from 0) and position among the tasks."""

    phase: Literal["shown", "learn", "early", "again", "fresh", "late", "test"]
    world: int
    place: int


class StoredSize(NamedTuple):
    """A hash of a memory over tasks, its size in characters of JSON, and its lessons."""

    digest: str
    size: int
    items: int


def stored_size(memory: Memory, dialect: str) -> StoredSize:
    """Return the content of a memory at the start of an episode of an unknown task."""
    twin = memory.fork()
    twin.begin(Task("", "", dialect), None)
    text = json.dumps(twin.state(), sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return StoredSize(digest, len(text), twin.stats().lessons)


class StreamRunner:
    """A player of the turns of a stream, with one memory over several environments.

    ``tasks`` has the environment and seed of each task in order. It adds counters to a result:
    ``store_items`` and ``store_bytes`` are additions to the memory, and ``store_changed`` is 1 if
    the memory's content changed. For a memory of experience, ``recalls`` counts recalls and
    ``recalls_of_task`` those that show the same task.
    """

    def __init__(self, env: gym.Env[Any, Any], policy: Policy, others: Sequence[str]):
        self._env, self._policy = env, policy
        self._holder = memory_holder(env)
        self._raw = [self._holder.env]
        for spec in others:
            world = Spec(spec)
            made = make_env(world.name, memory="none", **world.kwargs)
            self._raw.append(memory_holder(made).env)
        self._empty = self._holder.memory.snapshot()
        self._known: dict[tuple[str, bool], StoredSize] = {}  # by dialect, and whether it is empty
        self.tasks: list[tuple[int, int]] = []

    def length(self, world: int, seed: int) -> int:
        """Return the steps of a task's walkthrough."""
        raw = self._raw[world]
        raw.reset(seed=seed)
        return len(raw.get_wrapper_attr("oracle")().walkthrough)

    def play(self, turn: Turn, on_step: OnStep) -> EpisodeResult:
        """Play one turn; the policy's seed depends on the task alone."""
        if turn.phase in ("early", "late", "test"):
            world, seed = turn.world, len(self.tasks) + turn.place
        else:
            world, seed = self.tasks[turn.place]
        holder = self._holder
        holder.finish()
        holder.env = self._raw[world]
        memory = holder.memory
        if memory.uses_oracle:
            memory.oracle = holder.env.get_wrapper_attr("oracle")
        dialect, kept = holder.get_wrapper_attr("dialect"), memory.snapshot()
        state = dialect, turn.phase == "fresh"
        if turn.phase == "fresh":
            memory.restore(self._empty)
        if state not in self._known:
            self._known[state] = stored_size(memory, dialect)
        before = self._known[state]
        learns = turn.phase in ("shown", "learn")
        policy = make_policy("walkthrough") if turn.phase == "shown" else self._policy
        if learns:
            credit_exactly(self._env, policy, seed)
        else:
            holder.memory = Lens(memory)  # type: ignore[assignment]
        recalls = of_task = 0

        def counted(t: int, info: dict[str, Any]) -> None:
            nonlocal recalls, of_task
            recalls, of_task = recalls + 1, of_task + getattr(memory, "shows_task", False)
            on_step(t, info)

        try:
            result = rollout(self._env, policy, seed, on_step=counted)
            holder.finish()
        finally:
            holder.memory = memory
        after = stored_size(memory, dialect)
        if learns:
            self._known = {state: after}
        else:
            memory.restore(kept)
        grown = {
            "store_items": float(after.items - before.items),
            "store_bytes": float(after.size - before.size),
            "store_changed": float(after.digest != before.digest),
        }
        if has_experience(memory):
            grown |= {"recalls": float(recalls), "recalls_of_task": float(of_task)}
        return dataclasses.replace(result, counters={**result.counters, **grown})

    def close(self) -> None:
        """Close the other environments and restore the job's own."""
        self._holder.env = self._raw[0]
        for raw in self._raw[1:]:
            with suppress(Exception):
                raw.close()


class Stream(Protocol):
    """Tasks in sequence with one memory, whose layers keep their lifetimes.

    The walkthrough plays the first tasks (``shown``), the policy the others (``learn``), whose mean
    is the score. In all later phases the memory is read-only. ``again`` repeats tasks of the stream
    after all learning, ``fresh`` with an empty memory. ``early`` and ``late`` are new tasks of the
    first environment, after its part of the stream and at the end; ``test`` are new tasks of each
    environment in ``tests``. The seed of a job determines the order.
    """

    @checked
    def __init__(
        self,
        *,
        tasks: Annotated[int, Help("Tasks of the stream.", low=1)] = 30,
        shown: Annotated[
            int, Help("Number of these tasks that the walkthrough plays first.", low=0)
        ] = 6,
        order: Annotated[
            Literal["shuffled", "easy", "hard", "blocks"],
            Help(
                "By chance, by the length of the walkthrough (short or long first), or one "
                "environment after the other."
            ),
        ] = "shuffled",
        also: Annotated[str, Help("More environments of the stream, joined by ``+``.")] = "",
        again: Annotated[
            int,
            Help("Tasks to play again, with the memory read-only and with an empty one.", low=0),
        ] = 0,
        tests: Annotated[str, Help("Environments to test on, joined by ``+``.")] = "",
        probe: Annotated[
            int, Help("Number of further tasks of each environment to test on.", low=0)
        ] = 0,
        leave_one_task_out: Annotated[
            bool, Help("Show no item that comes from the task being played.")
        ] = False,
    ):
        self.leave_one_task_out = leave_one_task_out
        self.tasks, self.shown, self.order, self.probe = tasks, shown, order, probe
        self._also, self.tests = ([s for s in _PLUS.split(t) if s] for t in (also, tests))
        if shown >= tasks:
            raise InvalidArgumentError(f"expected shown below tasks={tasks}, got {shown}")
        if again > tasks - shown:
            raise InvalidArgumentError(f"expected again at most tasks - shown, got {again}")
        if bool(self.tests) > bool(probe):
            raise InvalidArgumentError("expected probe, the tasks of each test, got 0")
        self.again = [shown + n * (tasks - shown) // again for n in range(again)]

    @property
    def parts(self) -> int:
        """Return the number of environments that share the tasks."""
        return 1 + len(self._also)

    @property
    def worlds(self) -> list[str]:
        """Return the environments other than the job's own."""
        return [*self._also, *self.tests]

    @cached_property
    def turns(self) -> list[Turn]:
        """Return all turns; ``place`` counts the tasks of the stream or of a test phase."""
        turns = [Turn("shown" if n < self.shown else "learn", 0, n) for n in range(self.tasks)]
        if self._also and self.probe:
            first = -(-self.tasks // self.parts)
            turns[first:first] = [Turn("early", 0, n) for n in range(self.probe)]
        for phase in ("again", "fresh"):
            turns += [Turn(phase, 0, n) for n in self.again]
        if self._also:
            turns += [Turn("late", 0, n) for n in range(self.probe)]
        for world in range(self.parts, self.parts + len(self.tests)):
            turns += [Turn("test", world, n) for n in range(self.probe)]
        return turns

    def terms(self, trial: int, kept: Kept) -> Terms:
        """Return the terms of a turn: tasks of a stream differ until it repeats them at its end."""
        phase = self.turns[min(trial, len(self.turns) - 1)].phase
        if phase == "fresh":
            return Terms("empty", self.order)
        state: Kept = "online" if phase in ("shown", "learn") else "frozen"
        return Terms(state, self.order, phase == "again" and not self.leave_one_task_out)

    def tested(self, turn: Turn) -> str:
        """Return the environment of a test."""
        return self.worlds[turn.world - 1]

    def run(self, player: EpisodePlayer) -> Generator[EpisodeResult, None, None]:
        """Play all turns by a :class:`StreamRunner`."""
        if self.leave_one_task_out:
            memory = memory_holder(player.env).memory
            if has_experience(memory):
                memory.leave_one_task_out = True
            else:
                raise InvalidArgumentError(
                    f"expected a memory of experience for leave_one_task_out, got {memory.name!r}: "
                    "others do not record the task of an item"
                )
        runner = StreamRunner(player.env, player.policy, self.worlds)
        try:
            runner.tasks = self._ordered(random.Random(player.seed), runner.length)
            for turn in self.turns:
                yield player.play_by(partial(runner.play, turn))
        finally:
            runner.close()

    def _ordered(
        self, chance: random.Random, length: Callable[[int, int], int]
    ) -> list[tuple[int, int]]:
        """Return the environment and seed of each task, in equal shares."""
        worlds = [n * self.parts // self.tasks for n in range(self.tasks)]
        tasks = [(world, n - worlds.index(world)) for n, world in enumerate(worlds)]
        chance.shuffle(tasks)
        if self.order == "blocks":
            tasks.sort(key=lambda task: task[0])
        elif self.order != "shuffled":
            lengths = {task: length(*task) for task in tasks}
            tasks.sort(key=lengths.__getitem__, reverse=self.order == "hard")
        return tasks

    def summarize(self, results: Sequence[EpisodeResult]) -> JobScore:
        """Return the mean over the tasks of the phase ``learn``."""
        own = [r for r, t in zip(results, self.turns, strict=False) if t.phase == "learn"]
        total, steps, curve = 0.0, 0, [(0, 0.0)]
        for number, result in enumerate(own, 1):
            total, steps = total + result.value, steps + result.steps
            curve.append((steps, total / number))
        return JobScore(curve[-1][1], None, steps, tuple(curve))
