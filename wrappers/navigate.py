"""Navigate: walk to a known place with one action."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation
from gym_memory.core.settings import check_flag
from gym_memory.games.spaces import check_keys
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import Leg, current_place, route, visited_places
from gym_memory.graph.schema import PLAYER, direction_of

__all__ = ["Navigate"]

Obs = Observation

GO_TO = "go to "


class Navigate(gym.Wrapper[Obs, str, Obs, str], gym.utils.RecordConstructorArgs):
    """Add ``go to <place>`` for the places that the agent was in, its own excluded.

    The way is the shortest in the memory's graph. Every move is a real step of the environment:
    counted, seen by the memory, and able to end the episode. The walk stops when a move does not
    lead where the memory expects. (The AriGraph authors' ``go to`` counts as one step, learns
    nothing on the way and runs on when it is blocked.) The observation is that of the last move
    with the texts of all; the reward is their sum. Info: ``navigate_moves``, the commands played.

    Args:
        env: An environment with a memory that keeps a graph (``arigraph``, ``oracle``, ...).
        stop_on_new: True to stop where something appears that the memory did not know.
    """

    def __init__(self, env: gym.Env[Any, str], stop_on_new: bool = True):
        check_keys("Navigate", env, ("memory", "triples"), "wrap it around MemoryObservation")
        check_flag("stop_on_new", stop_on_new)
        memory = env.get_wrapper_attr("memory")
        if memory.graph is None:
            raise InvalidArgumentError(
                f"Navigate: expected a memory with a graph such as 'arigraph', got {memory.name!r}"
            )
        gym.utils.RecordConstructorArgs.__init__(self, stop_on_new=stop_on_new)
        gym.Wrapper.__init__(self, env)
        self._memory = memory
        self._stop_on_new = stop_on_new

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Reset; no place but the present one was visited yet."""
        return self._offering((), *self.env.reset(seed=seed, options=options))

    def step(self, action: str) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Play an action, or the moves of a ``go to``."""
        way = self._way(action)
        if not way:
            obs, reward, terminated, truncated, info = self.env.step(action)
            obs, info = self._offering((), obs, info)
            return obs, float(reward), terminated, truncated, info
        moves: list[str] = []
        texts: list[str] = []
        total = 0.0
        for direction, place in way:
            known = len(self._graph.events)
            moves.append(f"go {direction}")
            obs, reward, terminated, truncated, info = self.env.step(moves[-1])
            texts.append(obs["text"])
            total += float(reward)
            if terminated or truncated or current_place(self._graph) != place:
                break
            if self._stop_on_new and self._something_new(known):
                break
        obs, info = self._offering(tuple(moves), {**obs, "text": "\n".join(texts)}, info)
        return obs, total, terminated, truncated, info

    @property
    def _graph(self) -> TemporalGraph:
        assert self._memory.graph is not None  # checked by the constructor
        return self._memory.graph

    def _way(self, action: str) -> list[Leg]:
        """Return the moves of a ``go to`` that is offered now; empty for every other action."""
        if not isinstance(action, str) or not action.startswith(GO_TO):
            return []
        graph = self._graph
        target = graph.normalize(action.removeprefix(GO_TO))
        return (route(graph, target) or []) if target in visited_places(graph) else []

    def _something_new(self, known: int) -> bool:
        """True if the last move taught more than the agent's own whereabouts."""
        return any(
            not ended and fact.subject != PLAYER and direction_of(fact.relation) is None
            for _, fact, ended, *_ in self._graph.events[known:]
        )

    def valid_actions(self) -> tuple[str, ...]:
        """Return the environment's valid actions and the places to go to."""
        return (*self.env.get_wrapper_attr("valid_actions")(), *self._offers())

    def restore(self, snapshot: Any) -> tuple[Obs, dict[str, Any]]:
        """Return to a snapshot of the environment below."""
        return self._offering((), *self.env.get_wrapper_attr("restore")(snapshot))

    def _offers(self) -> list[str]:
        return [GO_TO + place for place in visited_places(self._graph)]

    def _offering(
        self, moves: tuple[str, ...], obs: Obs, info: dict[str, Any]
    ) -> tuple[Obs, dict[str, Any]]:
        info["navigate_moves"] = moves
        if obs["valid_actions"]:
            obs = {**obs, "valid_actions": (*obs["valid_actions"], *self._offers())}
        return obs, info
