"""The commands that a state offers, for every verb of the world.

The package's own list leaves out talking, eating and looking into a container, and raises once a
container is worn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from gym_memory.games.agentodyssey.engine import Engine

__all__ = ["list_actions"]

_HERE, _HANDS, _WORN, _KEPT = "here", "hands", "worn", "kept"
_REACH = {
    "pick up": (_HERE,),
    "store": (_HERE, _HANDS),
    "disassemble": (_HERE, _HANDS),
    "inspect": (_HERE, _HANDS, _WORN, _KEPT),
    "unequip": (_WORN,),
}
"""Verb to where its object is; in the hands for others."""
_INSIDE = frozenset({"take out", "discard"})
_INVENTORY = "inventory"
_COIN = "obj_coin"


def list_actions(engine: Engine) -> tuple[str, ...]:
    """Return the commands whose objects, people and areas are in reach, sorted."""
    return tuple(sorted(set(_commands(engine))))


def _commands(engine: Engine) -> Iterator[str]:
    world, area, agent = engine.world, engine.area, engine.agent
    worn = agent.inventory.container
    reach: dict[str, Mapping[str, float]] = {
        _HERE: area.objects,
        _HANDS: agent.items_in_hands,
        _WORN: agent.equipped_items_in_limb,
        _KEPT: worn.inventory if worn else {},
    }
    boxes = {
        world.container_instances[thing].name: world.container_instances[thing].inventory
        for place in (_HERE, _HANDS, _WORN)
        for thing in reach[place]
        if thing in world.container_instances
    }
    if worn:
        boxes[_INVENTORY] = worn.inventory
    people = [world.npc_instances[npc] for npc in area.npcs]
    papers = [
        engine.name(thing) for thing in agent.items_in_hands if thing in world.writable_instances
    ]
    for action in agent.available_actions:
        verb, kinds = action.verb, tuple(action.params)
        if verb == "craft":
            have = {**reach[_HANDS], **reach[_KEPT]}
            yield from (f"craft 1 {name}" for name in _craftable(engine, have))
        elif verb in _INSIDE:
            for box, inside in boxes.items():
                amount = "1 " * ("amount" in kinds)
                yield from (f"{verb} {amount}{engine.name(thing)} {box}" for thing in inside)
        elif verb == "buy":
            coins = reach[_HANDS].get(_COIN, 0) + reach[_KEPT].get(_COIN, 0)
            for npc in people:
                for thing in npc.inventory if npc.role == "merchant" else ():
                    if (world.objects[thing].value or coins + 1) <= coins:
                        yield f"buy 1 {engine.name(thing)} {npc.name}"
        else:
            places = _REACH.get(verb, (_HANDS,))
            things = [engine.name(thing) for place in places for thing in reach[place]]
            if verb == "inspect" and worn:
                things.append(_INVENTORY)
            buyers = [npc.name for npc in people if verb != "sell" or npc.role == "merchant"]
            values = {
                "amount": ["1"],
                "area_name": [world.area_instances[key].name for key in area.neighbors],
                "npc_name": buyers,
                "object_name": things,
                "obj_name": things,
                "container_name": list(boxes),
                "writable_name": papers,
                "text": ['"hello"'],
            }
            for words in product(*(values.get(kind, things) for kind in kinds)):
                if len(set(words)) == len(words):
                    yield " ".join((verb, *words))


def _craftable(engine: Engine, have: Mapping[str, float]) -> Iterator[str]:
    for thing in engine.world.objects.values():
        needs = thing.craft_ingredients
        if needs and all(have.get(part, 0) >= amount for part, amount in needs.items()):
            yield str(thing.name)
