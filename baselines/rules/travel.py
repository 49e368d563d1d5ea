"""Going places: along known ways, through doors, and into the unknown."""

from __future__ import annotations

import re
from collections import deque

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import NEW_EXIT, Move
from gym_memory.graph.schema import DIRECTIONS

__all__ = ["explore", "follow", "go_to", "open_here", "step_towards"]

_DIRECTION = "|".join(DIRECTIONS)
_ROUTE = re.compile(rf", by (?P<route>(?:{_DIRECTION})(?: (?:{_DIRECTION}))*)(?: \||$)")


def _path(beliefs: Beliefs, place: str) -> list[str] | None:
    """Directions of the shortest known way to a place; None if there is none."""
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
    path = []
    while place != beliefs.here:
        direction, place = came[place]
        path.append(direction)
    return path[::-1]


def step_towards(beliefs: Beliefs, place: str) -> str | None:
    """The next action on the shortest known way to a place; None if there is none."""
    path = _path(beliefs, place)
    return _leave(beliefs, path[0]) if path else None


def go_to(beliefs: Beliefs, place: str, aim: str) -> Move | None:
    """A move towards a place; the rest of the way goes into the plan."""
    return _along(beliefs, _path(beliefs, place), aim)


def follow(beliefs: Beliefs, aim: str) -> Move | None:
    """The next move of the way that was planned for this very aim.

    What a memory recalls changes from place to place; a way once known is not given up because
    the map that it was found on is no longer recalled.
    """
    route = _ROUTE.search(beliefs.plan)
    if route is None or not beliefs.plan.startswith(aim):
        return None
    return _along(beliefs, route["route"].split(), beliefs.plan[: route.start()])


def _along(beliefs: Beliefs, path: list[str] | None, aim: str) -> Move | None:
    action = _leave(beliefs, path[0]) if path else None
    if not path or not action:
        return None
    rest = path[1:] if action == f"go {path[0]}" else path
    return Move(action, f"{aim}, by {' '.join(rest)}" if rest else aim)


def _leave(beliefs: Beliefs, direction: str) -> str | None:
    """Go in a direction, opening the door in it first."""
    action = f"go {direction}"
    shut = beliefs.openness(beliefs.door(beliefs.here, direction)) in ("closed", "locked")
    if beliefs.can(action) and beliefs.actions and not shut:
        return action
    opening = _open_way(beliefs, direction)
    return opening or (action if beliefs.can(action) else None)


def _open_way(beliefs: Beliefs, direction: str) -> str | None:
    """How the door in a direction can be opened or unlocked; None if it cannot."""
    door = beliefs.door(beliefs.here, direction)
    that_way = (a for a in beliefs.options("open") if direction in a.split())
    named = (f"open {door}", *_unlocking(beliefs, door)) if door else ()
    return next((a for a in (*named, *that_way) if beliefs.can(a)), None)


def _unlocking(beliefs: Beliefs, lock: str) -> list[str]:
    return [a for a in beliefs.options("unlock") if a.startswith(f"unlock {lock} with ")]


def explore(beliefs: Beliefs, aim: str) -> Move | None:
    """Towards an exit that nobody took, and through it.

    The nearest one, unless the plan is under way to another: what a memory recalls changes from
    place to place, and turning round at every step leads nowhere. The exit goes into the plan.
    """
    frontier = [exit_ for _, exit_ in beliefs.frontier()]
    planned = NEW_EXIT.search(beliefs.plan)
    last = Move.read(beliefs.plan).action
    here = planned is not None and planned["place"] == beliefs.here
    failed = here and not beliefs.tells_place  # who goes somewhere is told where
    if planned is not None and failed and last == f"go {planned['direction']}":
        opening = _open_way(beliefs, planned["direction"]) if beliefs.actions else None
        if opening:  # a door that was taken to be open, or is not known by its name
            return Move(opening, f"{aim}, {planned['direction']} of {beliefs.here}")
        frontier.sort(key=lambda exit_: exit_ == (beliefs.here, planned["direction"]))
    elif planned is not None and beliefs.plan.startswith(aim):
        goal = (planned["place"], planned["direction"])
        if goal in frontier:
            frontier.insert(0, goal)
        else:
            move = follow(beliefs, aim)
            if move is not None:
                return move
    for place, direction in frontier:
        path = _path(beliefs, place)
        if path is not None:
            move = _along(beliefs, [*path, direction], f"{aim}, {direction} of {place}")
            if move is not None:
                return move
    return _ask_the_way(beliefs, aim)


def _ask_the_way(beliefs: Beliefs, aim: str) -> Move | None:
    """Pause for a memory that tells of an exit and not how to get there: the plan names it now."""
    far = beliefs.far_exits()
    asked = f"{aim}, {far[0][1]} of {far[0][0]}" if far else aim
    return None if not far or beliefs.plan.startswith(asked) else Move("look", asked)


def open_here(beliefs: Beliefs, aim: str) -> Move | None:
    """Open something shut in this place, to see what it holds."""
    for thing in beliefs.contents(beliefs.here):
        opening = beliefs.opening(thing)
        if opening and beliefs.openness(thing) != "open":
            return Move(opening, aim)
    return None
