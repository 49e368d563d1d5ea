"""Map in a graph: places, ways, exits, shortest paths, and squares of a grid.

A *way* ``hall | is east of | kitchen`` goes east from the kitchen; an *exit* is ``has exit``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import NamedTuple, TypeVar

from gym_memory.core.records import Triple
from gym_memory.graph.schema import DIRECTIONS, EXIT, INVENTORY, PLAYER, UNEXPLORED, direction_of
from gym_memory.graph.temporal import TemporalGraph

__all__ = ["Leg", "Square", "Ways", "beyond", "current_place", "distances", "first_steps"]
__all__ += ["is_door", "lay_out", "nearest_places", "ordered_ways", "outermost", "positions"]
__all__ += ["route", "shortest_path", "spread", "unexplored_exits", "visited_places", "ways_out"]

P = TypeVar("P", bound=Hashable)
Ways = Callable[[str], Mapping[str, str]]
"""Function from a place to its ways: the next place by direction."""
Square = tuple[int, int]
"""Column (east is +1) and row (south is +1)."""

_COMPASS: dict[str, Square] = {
    "north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0),
    "northeast": (1, -1), "southwest": (-1, 1), "northwest": (-1, -1), "southeast": (1, 1),
}  # fmt: skip
_MAX_NESTING = 8
"""Most nested holders that are followed, since facts may form a circle."""
_DRAWN = {**_COMPASS, "up": (1, -1), "down": (-1, 1), "in": (1, 1), "out": (-1, -1)}


class Leg(NamedTuple):
    """A move of a path, and the place that it leads to."""

    direction: str
    place: str


def current_place(graph: TemporalGraph) -> str | None:
    """Return where the agent is; None if unknown."""
    fact = graph.value(PLAYER, "location")
    return fact.object if fact else None


def outermost(graph: TemporalGraph, name: str) -> str:
    """Return the outermost holder of a thing, or its own name if nothing holds it."""
    for _ in range(_MAX_NESTING):
        fact = graph.value(name, "location")
        if fact is None or name == INVENTORY:
            break
        name = fact.object
    return name


def ways_out(graph: TemporalGraph, place: str) -> dict[str, str]:
    """Return the known ways from a place, in the order learned; O(facts around it)."""
    return {
        direction: fact.subject
        for fact in graph.incoming(place)
        if (direction := direction_of(fact.relation)) is not None
    }


def ordered_ways(graph: TemporalGraph, place: str) -> dict[str, str]:
    """Return the known ways from a place: directions in a fixed order, then named exits."""
    ways = ways_out(graph, place)
    return {way: ways[way] for way in (*DIRECTIONS, *ways) if way in ways}


def unexplored_exits(graph: TemporalGraph, place: str) -> tuple[Triple, ...]:
    """Return facts ``place | has unexplored exit | way`` (AriGraph, Algorithm 3), in order."""
    known = ways_out(graph, place)
    return tuple(
        Triple(fact.subject, UNEXPLORED, fact.object)
        for fact in graph.outgoing(place)
        if fact.relation == EXIT and fact.object not in known
    )


def nearest_places(graph: TemporalGraph, start: str) -> tuple[str, ...]:
    """Return a place and all places that it leads to by known ways, nearest first."""
    return tuple(distances(start, partial(ways_out, graph)))


def visited_places(graph: TemporalGraph) -> tuple[str, ...]:
    """Return the visited places that the agent can reach, nearest first, except its own."""
    here = current_place(graph)
    if here is None:
        return ()
    _, *others = nearest_places(graph, here)
    return tuple(p for p in others if graph.fact(Triple(PLAYER, "is in", p)) is not None)


def route(graph: TemporalGraph, target: str) -> list[Leg] | None:
    """Return the shortest known path from the agent's place; None if there is none."""
    here = current_place(graph)
    if here is None:
        return None
    return shortest_path(here, graph.normalize(target), partial(ordered_ways, graph))


def spread(start: str, ways: Ways) -> Iterator[tuple[str, Leg]]:
    """Yield each place in reach, breadth first, with the move to it and the place before it."""
    seen, queue = {start}, [start]
    for place in queue:  # grows while it is read
        for direction, following in ways(place).items():
            if following not in seen:
                seen.add(following)
                queue.append(following)
                yield place, Leg(direction, following)


def distances(start: P, ways: Callable[[P], Mapping[str, P]]) -> dict[P, int]:
    """Return the number of moves to each place in reach, nearest first; 0 for the start."""
    moves, queue = {start: 0}, [start]
    for place in queue:  # grows while it is read
        for following in ways(place).values():
            if following not in moves:
                moves[following] = moves[place] + 1
                queue.append(following)
    return moves


def first_steps(away: Mapping[str, int], ways: Ways) -> dict[str, dict[str, None]]:
    """Return the directions that begin a shortest path to each place of :func:`distances`."""
    steps: dict[str, dict[str, None]] = {place: {} for place in away}
    for place in away:
        for direction, other in ways(place).items():
            if away[other] == away[place] + 1:
                steps[other] |= steps[place] or {direction: None}
    return steps


def shortest_path(start: str, target: str, ways: Ways) -> list[Leg] | None:
    """Return a shortest path, with a preference for earlier ways; None if there is none."""
    came: dict[str, tuple[str, Leg]] = {}
    for before, move in spread(start, ways) if start != target else ():
        came[move.place] = before, move
        if move.place == target:
            break
    path: list[Leg] = []
    while target != start:
        if target not in came:
            return None
        target, move = came[target]
        path.append(move)
    return path[::-1]


def beyond(square: Square | None, direction: str) -> Square | None:
    """Return the next square in a compass direction; None if either is unknown."""
    step = _COMPASS.get(direction)
    return (square[0] + step[0], square[1] + step[1]) if square and step else None


def positions(start: str, ways: Ways) -> dict[str, Square]:
    """Return the square of each place by dead reckoning; squares may coincide."""
    squares, queue = {start: (0, 0)}, [start]
    for place in queue:  # grows while it is read
        for direction, following in ways(place).items():
            square = beyond(squares[place], direction)
            if square is not None and following not in squares:
                squares[following] = square
                queue.append(following)
    return squares


def lay_out(facts: Iterable[Triple], at: Mapping[str, Square] | None = None) -> dict[str, Square]:
    """Return a square for each place of a drawing; where it does not fit, the nearest free one.

    Args:
        facts: Facts in the order learned; all but ways are ignored.
        at: Fixed squares.

    >>> lay_out([Triple("hall", "is east of", "kitchen"), Triple("shed", "is north of", "hall")])
    {'kitchen': (0, 0), 'hall': (1, 0), 'shed': (1, -1)}
    """
    ways: dict[str, dict[str, Square]] = {}
    for subject, relation, obj in facts:
        direction = direction_of(relation)
        if direction is not None:
            column, row = _DRAWN.get(direction, (1, 1))
            ways.setdefault(obj, {})[subject] = (column, row)
            ways.setdefault(subject, {}).setdefault(obj, (-column, -row))
    squares = dict(at or {})
    taken = set(squares.values())
    for start in [*squares, *ways]:
        if start not in squares:  # an unconnected part of the map
            left = min((column for column, _ in taken), default=0)
            lowest = max((row for _, row in taken), default=-2)
            squares[start] = (left, lowest + 2)
            taken.add(squares[start])
        queue = [start]
        for place in queue:  # grows while it is read
            column, row = squares[place]
            for neighbour, (right, down) in ways.get(place, {}).items():
                if neighbour not in squares:
                    squares[neighbour] = _free((column + right, row + down), (right, down), taken)
                    taken.add(squares[neighbour])
                    queue.append(neighbour)
    return squares


def _free(square: Square, towards: Square, taken: set[Square]) -> Square:
    """Return the nearest free square; ties go to the farthest in a direction."""
    column, row = square
    for radius in count():
        ring = [
            (x, y)
            for x in range(-radius, radius + 1)
            for y in range(-radius, radius + 1)
            if max(abs(x), abs(y)) == radius and (column + x, row + y) not in taken
        ]
        if ring:
            x, y = max(
                ring, key=lambda s: (-abs(s[0]) - abs(s[1]), s[0] * towards[0] + s[1] * towards[1])
            )
            return column + x, row + y
    raise AssertionError("unreachable")


def is_door(graph: TemporalGraph, name: str) -> bool:
    """True if a thing is in an exit of a room."""
    return any(fact.relation.endswith(" door") for fact in graph.incoming(name))
