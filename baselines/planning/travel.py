"""Going places: along known ways, through doors, and into the unknown."""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

from gym_memory.baselines.planning.beliefs import Beliefs
from gym_memory.memory.schema import DIRECTIONS

__all__ = ["Move", "explore", "go_to", "open_here", "step_towards"]

_EXIT = re.compile(rf", (?P<direction>{'|'.join(DIRECTIONS)}) of (?P<place>[^|,]+?)(?: \||$)")


class Move(NamedTuple):
    """An action and what it is for."""

    action: str
    aim: str


def step_towards(beliefs: Beliefs, place: str) -> str | None:
    """The next action on the shortest known way to a place; None if there is none."""
    if not beliefs.here or place == beliefs.here:
        return None
    came: dict[str, tuple[str, str]] = {beliefs.here: ("", "")}
    queue = deque([beliefs.here])
    while queue and place not in came:
        current = queue.popleft()
        for direction, other in beliefs.ways(current).items():
            if other not in came:
                came[other] = (direction, current)
                queue.append(other)
    if place not in came:
        return None
    direction = ""
    while place != beliefs.here:
        direction, place = came[place]
    return _leave(beliefs, direction)


def go_to(beliefs: Beliefs, place: str, aim: str) -> Move | None:
    """A move towards a place."""
    action = step_towards(beliefs, place)
    return Move(action, aim) if action else None


def _leave(beliefs: Beliefs, direction: str) -> str | None:
    """Go in a direction, opening the door in it first."""
    action = f"go {direction}"
    if beliefs.can(action) and beliefs.actions:
        return action
    door = beliefs.door(beliefs.here, direction)
    if door:
        for opening in (f"open {door}", *_unlocking(beliefs, door)):
            if opening and beliefs.can(opening):
                return opening
    return action if beliefs.can(action) else None


def _unlocking(beliefs: Beliefs, lock: str) -> list[str]:
    return [a for a in beliefs.options("unlock") if a.startswith(f"unlock {lock} with ")]


def explore(beliefs: Beliefs, aim: str) -> Move | None:
    """Towards an exit that nobody took, and through it.

    The nearest one, unless the plan is under way to another: what a memory recalls changes from
    place to place, and turning round at every step leads nowhere. The exit goes into the plan.
    """
    frontier = [exit_ for _, exit_ in beliefs.frontier()]
    planned = _EXIT.search(beliefs.plan)
    if planned is not None and (planned["place"], planned["direction"]) in frontier:
        frontier.insert(0, (planned["place"], planned["direction"]))
    for place, direction in frontier:
        if place == beliefs.here:
            action = _leave(beliefs, direction)
        else:
            action = step_towards(beliefs, place)
        if action:
            return Move(action, f"{aim}, {direction} of {place}")
    return None


def open_here(beliefs: Beliefs, aim: str) -> Move | None:
    """Open something shut in this place, to see what it holds."""
    for thing in beliefs.contents(beliefs.here):
        if beliefs.openness(thing) != "open" and beliefs.actions:
            action = f"open {thing}"
            if action in beliefs.actions:
                return Move(action, aim)
    return None
