"""A policy that knows of the past only what the memory recalls."""

from __future__ import annotations

import re
from typing import Any

from gym_memory.baselines import Policy
from gym_memory.core.records import Observation, PlanState
from gym_memory.graph.map import shortest_path
from gym_memory.graph.schema import OPPOSITE

__all__ = ["Template"]


class Template(Policy):
    """Fetch what the task names: go where the facts say that it is, else where they end."""

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action: one of ``obs["valid_actions"]``, or any other text."""
        wanted = re.search(r"the (\w+) to the (\w+)", obs["task"])
        thing, piece = wanted.groups() if wanted else ("", "")
        for action in obs["valid_actions"]:
            if action.startswith(f"take {thing} ") or action == f"put {thing} on {piece}":
                return action
        where = {s: o for s, relation, o in obs["triples"] if relation in ("is in", "is on")}
        exits: dict[str, dict[str, str]] = {}  # of each room, with the rooms behind them
        for there, relation, here in obs["triples"]:
            if way := re.fullmatch(r"is (\w+) of", relation):
                exits.setdefault(here, {})[way[1]] = there
                exits.setdefault(there, {})[OPPOSITE[way[1]]] = here

        def ways(room: str) -> dict[str, str]:
            return exits.get(room, {})

        here = where.get("you", "")
        target = piece if where.get(thing) == "inventory" else thing
        self.focus = PlanState(f"find {target}")  # steers what the memory recalls next
        room = where.get(where.get(target, ""), where.get(target, ""))
        if legs := shortest_path(here, room, ways):
            return f"go {legs[0].direction}"
        open_ends = [
            (len(path), f"go {path[0].direction}" if path else f"go {way}")
            for room, relation, way in obs["triples"]
            if relation == "has unexplored exit"
            and (path := shortest_path(here, room, ways)) is not None
        ]
        return min(open_ends, default=(0, (obs["valid_actions"] or ("look",))[0]))[1]
