"""Environments of a training on a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gym_memory.baselines.rl.shared.envs import LocalEnvs, MakeEnv
from gym_memory.core.errors import BackendError, GymMemoryError
from gym_memory.core.names import Spec, import_plugin
from gym_memory.run.cluster import MOST_TRIES, connect, go_to, ray_library, room_for
from gym_memory.run.results.folder import check_backends

__all__ = ["RayEnvs"]

_CLOSE_SECONDS = 10.0

Calls = list[tuple[str, tuple[Any, ...]]]


class _Actor:
    def __init__(self, make: MakeEnv, plugins: Sequence[str], workplace: str):
        go_to(workplace)
        for plugin in plugins:
            import_plugin(plugin)
        self._envs = LocalEnvs(make)

    def call(
        self, split: str, name: str, arguments: Mapping[int, tuple[Any, ...]]
    ) -> list[Any] | GymMemoryError:
        """Return the answers, or the error."""
        try:
            return self._envs.call(split, name, arguments)
        except GymMemoryError as error:
            return error

    def close(self, split: str) -> None:
        self._envs.close(split)


class _RemoteEpisode(NamedTuple):
    """An episode in progress: its calls, and the memory's state before; None for a new memory."""

    memory: dict[str, Any] | None
    calls: Calls


class RayEnvs:
    """Environments in actors: a context manager that is called like :class:`.LocalEnvs`.

    Args:
        address: Address of the cluster, as for :class:`.RayPool`.
        env: The environment that ``make`` makes; its engine says how much memory an actor needs.
        make: Makes an environment of a split; is sent to the actors.
        slots: Environments that are stepped together.
        plugins: Modules that every actor imports first.
    """

    def __init__(
        self, address: str, env: str, make: MakeEnv, slots: int, plugins: Sequence[str] = ()
    ):
        self._ray = ray_library(address)
        self._address, self._env, self._make = address, env, make
        self._slots, self._plugins = slots, tuple(plugins)
        self.actors: list[Any] = []
        """Handles of the processes that play; a lost one is replaced."""
        self._episodes: dict[str, dict[int, _RemoteEpisode]] = {}
        self._versions: dict[str, str] = {}

    def __enter__(self) -> RayEnvs:
        self._leave = connect(self._address)
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        self.actors = [self._start() for _ in range(min(self._slots, max(cores, 1)))]
        return self

    def __exit__(self, *error: object) -> None:
        closing = [actor.close.remote(split) for actor in self.actors for split in self._episodes]
        if closing:  # an engine may have its own processes
            self._ray.wait(closing, num_returns=len(closing), timeout=_CLOSE_SECONDS)
        for actor in self.actors:
            self._ray.kill(actor)
        self.actors = []
        self._leave()

    def call(self, split: str, name: str, arguments: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """Call a method in several slots, in all actors at once; see :class:`.Envs`."""
        episodes = self._episodes.setdefault(split, {})
        before: dict[int, Any] = {}
        if name == "reset":  # the episode begins with the memory as it is now
            known = [slot for slot in arguments if slot in episodes]
            before = self._gather(split, "memory", dict.fromkeys(known, ()))
        found = self._gather(split, name, arguments)
        for slot, given in arguments.items():
            if name in ("reset", "replay"):
                episodes[slot] = _RemoteEpisode(before.get(slot), [(name, given)])
            elif name == "step":
                episodes[slot].calls.append((name, given))
        return [found[slot] for slot in arguments]

    def close(self, split: str) -> None:
        """Close the environments of a split."""
        self._episodes.pop(split, None)
        for actor in self.actors:
            actor.close.remote(split)

    def _gather(
        self, split: str, name: str, arguments: Mapping[int, tuple[Any, ...]]
    ) -> dict[int, Any]:
        parts: dict[int, dict[int, tuple[Any, ...]]] = {}
        for slot, given in arguments.items():
            parts.setdefault(slot % len(self.actors), {})[slot] = given
        futures = {at: self.actors[at].call.remote(split, name, part) for at, part in parts.items()}
        found: dict[int, Any] = {}
        for at, part in parts.items():
            answers = self._answer(at, futures[at], split, name, part)
            found.update(zip(part, answers, strict=True))
            if name == "versions":
                for versions in answers:
                    check_backends(self._versions, versions, "the rest of the cluster")
                    self._versions.update(versions)
        return found

    def _answer(self, at: int, future: Any, *call: Any) -> list[Any]:
        for _ in range(MOST_TRIES):
            try:
                found = self._ray.get(future)
            except self._ray.exceptions.RayActorError as error:
                lost = error
                self.actors[at] = self._start()
                self._restore(at)
                future = self.actors[at].call.remote(*call)
                continue
            if isinstance(found, GymMemoryError):
                raise found
            answers: list[Any] = found
            return answers
        raise BackendError(
            f"the actor of {self._env!r} was lost {MOST_TRIES} times: {lost}. The weights are "
            "kept up to the last checkpoint: run the same command again"
        )

    def _restore(self, at: int) -> None:
        for split, episodes in self._episodes.items():
            for slot, (memory, calls) in episodes.items():
                if slot % len(self.actors) == at:
                    again = [("remember", (memory,))] * (memory is not None) + calls
                    for name, given in again:
                        self.actors[at].call.remote(split, name, {slot: given})

    def _start(self) -> Any:
        remote = self._ray.remote(num_cpus=1, memory=room_for(Spec(self._env)))(_Actor)
        return remote.remote(self._make, self._plugins, os.getcwd())
