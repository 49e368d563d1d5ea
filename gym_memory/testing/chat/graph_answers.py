"""Answers to the prompts about facts: extraction, outdated facts, relations, what to look up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from gym_memory.core.errors import ModelError
from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import LOCATIONS, direction_of
from gym_memory.memory.reading import read_item
from gym_memory.memory.roles import rules
from gym_memory.memory.roles.text import fact_lines, read_triple_lists, read_triples, triples_json
from gym_memory.testing.chat.answers import Slots, answers

__all__ = ["facts_in", "graph_of", "items_of"]

_THING = re.compile(
    r"\b(?:the|an?|some|your)\s+([a-z][a-z'-]*(?:\s+[a-z][a-z'-]*){0,3}?)"
    r"(?=\s*(?:[.,;:!?)\n]|$)|\s+(?:is|are|in|on|at|and|or|to|of|from|with|here|that|which)\b)"
)


def facts_in(
    text: str, task: str, action: str = "", inventory: str = "", known: str = ""
) -> list[Triple]:
    """The facts that the extraction rules read in an observation, given those known."""
    graph = graph_of(_facts(known))
    step = Step(1, text, action, inventory=inventory)
    for dialect in ("textworld", "plain"):
        goal = Task("", task, dialect)
        mentions = get_extractor(dialect).extract(step, graph, goal).mentions
        if mentions:
            return [mention.triple for mention in mentions]
    return []


def _facts(lines: str) -> list[Triple]:
    """The facts in the lines of a slot; none where there are none."""
    try:
        return read_triples(lines)
    except ModelError:
        return []


def graph_of(triples: list[Triple]) -> TemporalGraph:
    """A graph of facts that hold together."""
    graph = TemporalGraph()
    for triple in triples:
        graph.add(triple, 0)
    return graph


def items_of(lines: Iterable[str]) -> list[Triple]:
    """The facts that an account lists; its lines with stars tell what was done."""
    items = (read_item(line.strip()) for line in lines if line.lstrip().startswith("- "))
    # What an account says of a meal's kitchen it takes for a state of the meal.
    return [
        fact._replace(relation="is", object=f"prepared in {fact.object}")
        if fact.relation == "is prepared in"
        else fact
        for fact in items
        if fact
    ]


@answers("extract")
def extract(slots: Slots) -> str:
    """What the rules read in the observation, as the prompt asks for it."""
    facts = facts_in(
        slots["observation"], slots["task"], slots["action"], slots["inventory"], slots["known"]
    )
    return "; ".join(fact_lines([fact]) for fact in facts) or "none"


@answers("outdated")
def outdated(slots: Slots) -> str:
    """Facts whose slot is filled anew, contents that left, and empty things that are not."""
    existing, new = _facts(slots["existing"]), _facts(slots["new"])
    placed = [fact for fact in new if fact.relation in LOCATIONS]
    place = {fact.subject: fact for fact in placed}
    content = {fact.object: fact for fact in placed}
    pairs = []
    for fact in existing:
        moved = place.get(fact.object)
        if rules.outdated([fact], new, Task("", "")):
            pairs.append((fact, next(f for f in new if f.subject in fact or f.object in fact)))
        elif fact.relation in ("contains", "holds") and moved and moved.object != fact.subject:
            pairs.append((fact, moved))
        elif fact[1:] == ("is", "empty") and fact.subject in content:
            pairs.append((fact, content[fact.subject]))
    return (
        "[" + ", ".join(f"[{fact_lines([old])} -> {fact_lines([by])}]" for old, by in pairs) + "]"
    )


@answers("entities")
def entities(slots: Slots) -> str:
    """Things that the plan names (2 hops), then those in view and held (1 hop)."""
    depth: dict[str, int] = {}
    for name, hops in (("plan", 2), ("task", 2), ("observation", 1), ("inventory", 1)):
        for thing in _THING.findall(slots[name].lower()):
            depth.setdefault(thing, hops)
    return json.dumps(dict(list(depth.items())[:10]))


@answers("explore")
def explore(slots: Slots) -> str:
    """Whether the plan speaks of seeking."""
    return str(rules.explore(slots["plan"], Task("", slots["task"])))


@answers("relations")
def relations(slots: Slots) -> str:
    """The spatial facts among the lines of the belief, the latest of each slot."""
    stated = items_of(slots["belief"].split("\n"))
    spatial = [
        fact
        for fact in graph_of(stated).live()
        if fact.relation in LOCATIONS | {"has exit"} or direction_of(fact.relation)
    ]
    return f"```\n{triples_json(spatial)}\n```"


@answers("aggregate")
def aggregate(slots: Slots) -> str:
    """The triples as sentences, and what follows from two ways in one direction."""
    try:
        triples = read_triple_lists(slots["triples"])
    except ModelError:
        triples = []
    sentences = [f"The {t.subject} {t.relation} the {t.object}." for t in triples]
    ways = {(t.object, t.relation): t.subject for t in triples if direction_of(t.relation)}
    for (start, relation), middle in ways.items():
        end = ways.get((middle, relation))
        if end is not None and end != start:
            sentences.append(f"So the {end} {relation} the {start}, beyond the {middle}.")
    return " ".join(sentences) or "Nothing is known."
