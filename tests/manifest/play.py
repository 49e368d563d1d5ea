"""Play a cell of the record and hash the results."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import gymnasium as gym

from gym_memory.baselines.base import Policy, make_policy
from gym_memory.run import rollout
from gym_memory.run.config import Job
from gym_memory.run.protocols import make_protocol
from gym_memory.testing.chat import ScriptedServer
from gym_memory.wrappers import MemoryObservation

from .known import Known, KnownPlays

__all__ = ["hashed", "play", "scripted_model"]

ROOT = Path(__file__).parents[2]
SEEDS, STEPS = (0, 1, 2), 30
RECALLED = ("memory", "triples", "episodes", "lessons")


def hashed(parts: list[Any]) -> str:
    """Return the first 12 digits of the SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


class Watched(gym.Wrapper[dict[str, Any], str, dict[str, Any], str]):
    """Record observations of an environment, recalls of its memory, and actions of a policy."""

    def __init__(self, env: Any, policy: Policy, seen: dict[str, list[Any]]):
        super().__init__(env)
        self._policy, self._seen = policy, seen

    def reset(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        obs, info = self.env.reset(**options)
        self._note(obs, info["task_id"])
        return obs, info

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        self._seen["plan"].append(str(self._policy.focus))
        self._seen["action"].append(action)
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._note(obs, [reward, terminated, truncated, info["score"], info["is_action_valid"]])
        return obs, reward, terminated, truncated, info

    def _note(self, obs: dict[str, Any], came_with: Any) -> None:
        recalled = {key: obs[key] for key in RECALLED}
        self._seen["recall"].append(recalled)
        shown = {key: value for key, value in obs.items() if key not in recalled}
        self._seen["observation"].append([shown, came_with])


def _make_env(job: Job, known: Known) -> Any:
    made = holder = job.make_env()
    while not isinstance(holder, MemoryObservation):
        holder = holder.env
    holder.env = KnownPlays(holder.env, (job.env, job.protocol), known)
    if holder.memory.uses_oracle:
        holder.memory.oracle = holder.env.get_wrapper_attr("oracle")
    return made


def play(first: Job, known: Known) -> dict[str, str]:
    """Play the job with each of the seeds; return a hash of what was seen, by kind.

    The job names files relative to the repository, so its key is the same everywhere. ``known``
    has the plays of the jobs before.
    """
    seen: dict[str, list[Any]] = {
        kind: [] for kind in ("observation", "recall", "action", "plan", "key")
    }
    with contextlib.chdir(ROOT):
        for seed in SEEDS:
            job = dataclasses.replace(first, seed=seed)
            policy = make_policy(job.policy)
            env = Watched(_make_env(job, known), policy, seen)
            with contextlib.closing(env):
                episode = functools.partial(rollout, env, policy, seed, limit=STEPS)
                list(make_protocol(job.protocol).episodes(episode))
            seen["key"].append(job.key)
    return {kind: hashed(parts) for kind, parts in seen.items()}


@contextlib.contextmanager
def scripted_model() -> Iterator[None]:
    """Serve every policy and memory whose language model is the default with scripted answers."""
    with ScriptedServer() as server:
        chosen = {"OPENAI_BASE_URL": server.base_url, "GYM_MEMORY_MODEL": "scripted"}
        with mock.patch.dict(os.environ, chosen):
            yield
