"""Features of a recalled fact: all that a ranking could go by, as plain values."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from gym_memory.core.records import Cue, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place, distances, outermost, ways_out
from gym_memory.graph.schema import EXIT, INVENTORY, UNEXPLORED

__all__ = ["FactFeatures", "fact_features"]


class FactFeatures(NamedTuple):
    """Features of a fact in a recall.

    ``rank`` counts the facts before it; ``moves`` lead to the place of its subject, -1 if unknown;
    ``age`` is in steps since it became true, -1 if unknown. ``in_aim``, ``in_task`` and
    ``in_actions``: subject or object is named there. ``held``: the subject is carried. ``said``: a
    note, sign or person states it and the game itself does not.
    """

    relation: str
    rank: int
    moves: int
    age: int
    in_aim: bool
    in_task: bool
    in_actions: bool
    held: bool
    said: bool


def fact_features(
    graph: TemporalGraph, cue: Cue, facts: tuple[Triple, ...], t: int
) -> dict[Triple, FactFeatures]:
    """Return the features of the facts of a recall; ``t`` is the present step of the graph."""
    here = current_place(graph)
    moves = distances(here, partial(ways_out, graph)) if here else {}
    actions = "\n".join(cue.valid_actions)
    found = {}
    for rank, triple in enumerate(facts):
        subject, relation, obj = triple
        kept = Triple(subject, EXIT, obj) if relation == UNEXPLORED else triple
        fact = graph.fact(kept)
        begun = fact.intervals[-1][0] if fact else t + 1
        place = outermost(graph, subject)
        named = (subject in text or obj in text for text in (cue.focus, cue.task, actions))
        in_aim, in_task, in_actions = named
        found[triple] = FactFeatures(
            relation, rank, moves.get(place, -1), max(t - begun, -1), in_aim, in_task, in_actions,
            held=place == INVENTORY, said=bool(graph.said_by(kept)),
        )  # fmt: skip
    return found
