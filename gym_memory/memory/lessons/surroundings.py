"""What a trial shows of its environment, as causes: ways, exits nobody took, where things lie.

A trial that found nothing more to score still went somewhere. Said as abstractions, that lets the
next one go straight to where nobody has been, instead of round in the same circle::

    "go east" in the hall MAY BE NECESSARY TO reaching the kitchen.
    "go north" in the kitchen MAY BE NECESSARY TO finding something new.
    going to the kitchen MAY BE NECESSARY TO finding the fridge, which is closed.
    making the apple fried MAY BE NECESSARY TO following the recipe.
    having the red key MAY BE NECESSARY TO opening the red locker.
    reading the note MAY BE NECESSARY TO knowing that it says: the key is in the attic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import unexplored_exits, ways_out
from gym_memory.graph.schema import INVENTORY, LOCATIONS, OPPOSITE, PLAYER, VERBATIM, is_contents
from gym_memory.graph.temporal import rewind
from gym_memory.memory.lessons.causes import Act

__all__ = ["FINDING", "FOLLOWING", "NEW", "OPENING", "REACHING", "SAYS", "surroundings"]

REACHING = "reaching the "
FINDING = "finding the "
FOLLOWING = "following the "
NEW = "finding something new"
OPENING = "opening the "
SAYS = "knowing that it says: "

_DOOR_TO = "door to "
_MAX_TEXT_CHARS = 160
_DEEPEST = 4
"""Things in things in things that are looked through for the room."""


def surroundings(acts: Sequence[Act], graph: TemporalGraph, t: int) -> list[tuple[str, str]]:
    """Pairs (cause, effect), with causes as they are written.

    Things are where they were seen first, for the next trial begins as this one did.

    Args:
        acts: The acts of the trial.
        graph: What the trial showed; it is put back to the beginning.
        t: A step later than all of the trial's.
    """
    moves = [act for act in acts if act.moved]
    places = list(dict.fromkeys(p for act in moves for p in (act.where, act.to)))
    told = [(f'"{action}" in the {here}', NEW) for action, here in _not_taken(moves, places, graph)]
    told += [(f'"{action}" in the {a}', REACHING + b) for action, a, b in _ways(moves, graph)]
    rewind(graph, t)
    held = _holders(graph)
    for thing, holder in held.items():
        place = _room(holder, graph, held)
        # What is named after its place is furniture: every room has some.
        if place in places and not thing.endswith(f" in {holder}"):
            told.append(_found(thing, holder, place))
    for fact in graph.live():
        if fact.relation in LOCATIONS and fact.subject != PLAYER and fact.object != INVENTORY:
            place = _room(fact.object, graph, held)
            if place in places:
                state = graph.value(fact.subject, "openness")
                how = f", which is {state.object}" if state else ""
                told.append(_found(fact.subject, fact.object, place, how))
        elif fact.relation == "opens":
            told.append((f"having the {fact.subject}", OPENING + fact.object))
        elif fact.relation == "requires":
            told.append((f"having the {fact.object}", FOLLOWING + fact.subject))
        elif fact.relation == "needs to be":
            told.append((f"making the {fact.subject} {fact.object}", FOLLOWING + "recipe"))
        elif fact.relation in VERBATIM:
            text = " ".join(fact.object.split())[:_MAX_TEXT_CHARS].rstrip(". ")
            told.append((f"reading the {fact.subject}", SAYS + text))
    return list(dict.fromkeys(told))


def _found(thing: str, holder: str, place: str, how: str = "") -> tuple[str, str]:
    inside = f" in the {holder}" if holder != place else ""
    return f"going to the {place}", f"{FINDING}{thing}{inside}{how}"


def _ways(moves: Sequence[Act], graph: TemporalGraph) -> Iterator[tuple[str, str, str]]:
    """Moves that lead from place to place, and the ways back that the text tells of."""
    for act in moves:
        yield act.action, act.where, act.to
        start, direction = _split(act)
        back = OPPOSITE.get(direction, "")
        if back and ways_out(graph, act.to).get(back) == act.where:
            yield start + back, act.to, act.where


def _not_taken(
    moves: Sequence[Act], places: Sequence[str], graph: TemporalGraph
) -> Iterator[tuple[str, str]]:
    """Moves through exits that were seen and never taken, as (action, place)."""
    starts = [start for act in moves for start, end in [_split(act)] if end]
    for place in places if starts else ():
        for _, _, end in unexplored_exits(graph, place):
            room = end.removeprefix(_DOOR_TO)  # exits may be named after where they lead
            if room not in places:
                yield starts[0] + room, place


def _split(act: Act) -> tuple[str, str]:
    """A move as the words before its direction or aim, and that; ("", "") for any other."""
    for end in (act.action.rpartition(" ")[2], act.to):
        if end and act.action.endswith(f" {end}") and (end in OPPOSITE or end == act.to):
            return act.action[: -len(end)], end
    return "", ""


def _holders(graph: TemporalGraph) -> dict[str, str]:
    """Things to what held them when they were seen first, where texts tell that of the holder.

    Where something is put after it was carried is no place to find it.
    """
    held: dict[str, str] = {}
    for _, fact, *_ in graph.events:
        if is_contents(fact.relation):
            held.setdefault(fact.object, fact.subject)
        elif fact.object == INVENTORY:
            held.setdefault(fact.subject, INVENTORY)
    return held


def _room(holder: str, graph: TemporalGraph, held: Mapping[str, str]) -> str:
    """The outermost thing that holds something."""
    for _ in range(_DEEPEST):
        fact = graph.value(holder, "location")
        above = held.get(holder) if fact is None else fact.object
        if above is None:
            break
        holder = above
    return holder
