"""The truth of a state in the vocabulary of facts, for scoring and upper bounds alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gym_memory.core.records import Triple
from gym_memory.games.agentodyssey.engine import Engine
from gym_memory.graph.schema import EXIT, INVENTORY, PLAYER, way_relation

__all__ = ["true_facts"]


def true_facts(engine: Engine) -> frozenset[Triple]:
    """Return where all things, people and the agent are, and all exits."""
    world = engine.world
    facts = {Triple(PLAYER, "is in", place_name(world, engine.area))}
    for area in world.area_instances.values():
        here = place_name(world, area)
        for other in area.neighbors:
            there = world.area_instances[other]
            way = there.name.lower()
            facts.add(Triple(here, EXIT, way))
            facts.add(Triple(place_name(world, there), way_relation(way), here))
        facts.update(_inside(engine, area.objects, here))
        facts.update(
            Triple(world.npc_instances[npc].name.lower(), "is in", here) for npc in area.npcs
        )
    agent = engine.agent
    for held in (agent.items_in_hands, agent.equipped_items_in_limb):
        facts.update(_inside(engine, held, INVENTORY))
    return frozenset(facts)


def _inside(engine: Engine, things: Mapping[str, float], holder: str) -> Iterator[Triple]:
    """Yield what is in a holder, and what is in the containers in it."""
    for thing in things:
        name = engine.name(thing).lower()
        yield Triple(name, "is in", holder)
        box = engine.world.container_instances.get(thing)
        if box is not None:
            yield from _inside(engine, box.inventory, name)


def place_name(world: Any, area: Any) -> str:
    """Return what texts call an area: its place and its own name."""
    place = world.place_instances[world.auxiliary["area_to_place"][area.id]]
    return f"{place.name}, {area.name}".lower()
