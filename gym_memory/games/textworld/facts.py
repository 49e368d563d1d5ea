"""Convert TextWorld's propositions, seen or not, to triples.

These facts are only for scoring and the control ``oracle``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gym_memory.core.records import Triple
from gym_memory.games.textworld.logic import Fact
from gym_memory.graph.schema import INVENTORY, PLAYER, door_relation, way_relation

__all__ = ["describe", "triples_of"]

_OPENNESS = frozenset({"open", "closed", "locked"})
_CUTS = frozenset({"chopped", "sliced", "diced"})
_HEATS = frozenset({"fried", "roasted", "grilled"})
_STATES = {
    "burned": "burned", "needs_cooking": "raw", "consumed": "consumed", "used": "consumed",
    "eaten": "consumed",
}  # fmt: skip
"""Words in texts for predicates."""
_USES = {"stove": "frying", "oven": "roasting", "toaster": "grilling"}
"""Use of an appliance by type."""
_CONTAINER_TYPES = frozenset({"c", "oven"})
_SUPPORTER_TYPES = frozenset({"s", "stove", "toaster"})
_RECIPE = "recipe"


def triples_of(
    facts: Iterable[Fact], names: Mapping[str, str], types: Mapping[str, str]
) -> frozenset[Triple]:
    """Return all facts of a state in the shared vocabulary."""
    facts = frozenset(facts)
    found = set(describe(facts, names))
    full = {fact[2] for fact in facts if fact[0] in ("in", "on")}
    for entity, kind in types.items():
        if entity not in names:
            continue
        if kind in _USES:
            found.add(Triple(names[entity].lower(), "used for", _USES[kind]))
        if kind in _CONTAINER_TYPES | _SUPPORTER_TYPES and entity not in full:
            found.add(Triple(names[entity].lower(), "is", "empty"))
    found.update(_exits(facts, names))
    found.update(_recipe(facts, names))
    return frozenset(found)


def describe(facts: Iterable[Fact], names: Mapping[str, str]) -> Iterator[Triple]:
    """Yield the triples of single facts: places, ways, states, keys."""
    facts = frozenset(facts)
    spoken = {entity: name.lower() for entity, name in names.items()}
    spoken.update({"P": PLAYER, "I": INVENTORY})
    for predicate, *entities in facts:
        if any(entity not in spoken for entity in entities):
            continue
        first = spoken[entities[0]] if entities else ""
        last = spoken[entities[-1]] if entities else ""
        if predicate in ("at", "in") and len(entities) == 2:
            yield Triple(first, "is in", last)
        elif predicate == "on":
            yield Triple(first, "is on", last)
        elif predicate == "match":
            yield Triple(first, "opens", last)
        elif predicate.endswith("_of"):
            yield Triple(first, way_relation(predicate.removesuffix("_of")), last)
        elif len(entities) == 1:
            state = _state_word(predicate, entities[0], facts)
            if state:
                yield Triple(first, "is", state)


def _state_word(predicate: str, entity: str, facts: frozenset[Fact]) -> str:
    """Return the state of a one-place predicate in the words of the text; empty if none."""
    if predicate in _HEATS and ("burned", entity) in facts:
        return ""
    return predicate if predicate in _OPENNESS | _CUTS | _HEATS else _STATES.get(predicate, "")


def _exits(facts: frozenset[Fact], names: Mapping[str, str]) -> Iterator[Triple]:
    doors = {(f[1], f[3]): f[2] for f in facts if f[0] == "link"}
    for predicate, *entities in facts:
        direction = predicate.removesuffix("_of")
        if direction == predicate or len(entities) != 2:
            continue
        there, here = entities  # "there is <direction> of here"
        yield Triple(names[here].lower(), "has exit", direction)
        door = doors.get((here, there))
        if door is not None:
            yield Triple(names[here].lower(), door_relation(direction), names[door].lower())


def _recipe(facts: frozenset[Fact], names: Mapping[str, str]) -> Iterator[Triple]:
    """Yield the requirements of a cooking game's recipe."""
    ingredient = {f[2]: names[f[1]].lower() for f in facts if f[0] == "base" and f[1] in names}
    for food in ingredient.values():
        yield Triple(_RECIPE, "requires", food)
    for predicate, *entities in facts:
        if predicate in _CUTS | _HEATS and entities[0] in ingredient:
            yield Triple(ingredient[entities[0]], "needs to be", predicate)
        elif predicate == "cooking_location":
            yield Triple("meal", "is prepared in", names[entities[0]].lower())
