"""Rules for text of which nothing is known but that it is English: the default of all dialects."""

from __future__ import annotations

import re

from gym_memory.memory.extract.base import Extraction, Mention
from gym_memory.memory.extract.phrases import NAME, clean_name, direction_in, split_things
from gym_memory.memory.extract.reading import sentences
from gym_memory.memory.graph import TemporalGraph
from gym_memory.memory.schema import INVENTORY, OPPOSITE, PLAYER, way_relation
from gym_memory.types import Step, Task, Triple

__all__ = ["PlainRules"]

_LONGEST = 100_000
_END = r"(?=[.,;!?]|$)"
_ROOM = re.compile(
    rf"(?:You are|You're|You find yourself) (?:now )?in (?:the )?(?P<name>{NAME}){_END}"
)
_WHERE = re.compile(
    rf"(?P<items>(?:[Tt]he|[Aa]n?|[Ss]ome) [^.!?]*?) (?:is|are|lies|stands) (?P<where>in|on|under) "
    rf"(?:the |a )?(?P<place>{NAME}){_END}"
)
_CARRIED = re.compile(r"You (?:are carrying|carry|have):?\s+(?P<items>[^.!?]+)")


class PlainRules:
    """Where you are, where things are said to be, what you carry, and ways that were gone.

    A memory of a dialect without rules of its own stays useful with it, and an LLM extractor has
    something to fall back on. Sentences of other forms are left to the episodic memory.
    """

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Facts of one step; see :class:`~gym_memory.memory.extract.base.Extractor`."""
        mentions: list[Mention] = []
        for sentence, offset in sentences(step.text[:_LONGEST]):
            mentions += _room(sentence, offset, step, graph)
            found = _WHERE.match(sentence)
            if found is not None:
                place, relation = clean_name(found["place"]), f"is {found['where']}"
                for thing in split_things(found["items"], offset + found.start("items")):
                    fact = Triple(thing.name, relation, place)
                    mentions.append(Mention(fact, thing.start, thing.end))
        for text, seen in ((step.text[:_LONGEST], True), (step.inventory, False)):
            carried = _CARRIED.search(text)
            for thing in split_things(carried["items"], carried.start("items")) if carried else ():
                span = (thing.start, thing.end) if seen else (-1, -1)
                mentions.append(Mention(Triple(thing.name, "is in", INVENTORY), *span))
        return Extraction(tuple({m.triple: m for m in reversed(mentions)}.values())[::-1])


def _room(sentence: str, offset: int, step: Step, graph: TemporalGraph) -> list[Mention]:
    found = _ROOM.match(sentence)
    if found is None:
        return []
    room = clean_name(found["name"])
    span = (offset + found.start("name"), offset + found.end("name"))
    facts = [Triple(PLAYER, "is in", room)]
    direction, left = direction_in(step.action), graph.value(PLAYER, "location")
    if direction is not None and left is not None and left.object != room:
        facts.append(Triple(room, way_relation(direction), left.object))
        facts.append(Triple(left.object, way_relation(OPPOSITE[direction]), room))
    return [Mention(fact, *span) for fact in facts]
