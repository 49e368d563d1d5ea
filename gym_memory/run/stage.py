"""Play the turns of a stream: one memory over several environments, read only when tested."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import gymnasium as gym

from gym_memory.baselines.base import Policy, make_policy
from gym_memory.core.names import parse_spec
from gym_memory.core.records import Task
from gym_memory.memory.base import Memory
from gym_memory.run.loop import EpisodeResult, OnStep, rollout
from gym_memory.run.protocols import Turn
from gym_memory.run.replays import Lens, credit_exactly, memory_holder
from gym_memory.wrappers.make import make_env

__all__ = ["Stage", "Stored", "stored"]


class Stored(NamedTuple):
    """Hold what a memory keeps over tasks: a hash, the size as JSON, and the lessons in it."""

    digest: str
    size: int
    items: int


def stored(memory: Memory, dialect: str) -> Stored:
    """Return what a memory has when an episode of an unknown task begins."""
    twin = memory.fork()
    twin.begin(Task("", "", dialect), None)
    text = json.dumps(twin.state(), sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Stored(digest, len(text), twin.stats().lessons)


class Stage:
    """Play the turns of a stream, with one memory over several environments.

    ``tasks`` has environment and seed of each task of the stream, which orders them.
    Counters of a result: ``store_items`` and ``store_bytes`` are what it added to the memory, and
    ``store_changed`` is 1 if it changed what the memory keeps.
    """

    def __init__(self, env: gym.Env[Any, Any], policy: Policy, others: Sequence[str]):
        self._env, self._policy = env, policy
        self._holder = memory_holder(env)
        self._raw = [self._holder.env]
        for spec in others:
            name, kwargs = parse_spec(spec)
            self._raw.append(memory_holder(make_env(name, memory="none", **kwargs)).env)
        self._empty = self._holder.memory.snapshot()
        self._known: dict[tuple[str, bool], Stored] = {}  # by dialect, and whether it is empty
        self.tasks: list[tuple[int, int]] = []

    def length(self, world: int, seed: int) -> int:
        """Return the steps of a task's walkthrough."""
        raw = self._raw[world]
        raw.reset(seed=seed)
        return len(raw.get_wrapper_attr("oracle")().walkthrough)

    def play(self, turn: Turn, on_step: OnStep | None = None) -> EpisodeResult:
        """Play one turn; the policy's chance depends on the task alone."""
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
            self._known[state] = stored(memory, dialect)
        before = self._known[state]
        learns = turn.phase in ("shown", "learn")
        policy = make_policy("walkthrough") if turn.phase == "shown" else self._policy
        if learns:
            credit_exactly(self._env, policy, seed)
        else:
            holder.memory = Lens(memory)  # type: ignore[assignment]
        try:
            result = rollout(self._env, policy, seed, on_step=on_step)
            holder.finish()
        finally:
            holder.memory = memory
        after = stored(memory, dialect)
        if learns:
            self._known = {state: after}
        else:
            memory.restore(kept)
        grown = {
            "store_items": float(after.items - before.items),
            "store_bytes": float(after.size - before.size),
            "store_changed": float(after.digest != before.digest),
        }
        return dataclasses.replace(result, counters={**result.counters, **grown})

    def close(self) -> None:
        """Close the further environments; the job's own is put back."""
        self._holder.env = self._raw[0]
        for raw in self._raw[1:]:
            with suppress(Exception):
                raw.close()
