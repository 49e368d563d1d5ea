"""The answer to ``inventory`` from the logical state, word for word as the engine gives it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gym_memory.games.textworld.logic import State, World

__all__ = ["inventory_text", "order_of"]

_PLAIN = frozenset({"f", "k", "meal", "o"})
"""Types of things without contents or properties of a list."""
_CUTS = ("sliced", "diced", "chopped")
_HEATS = ("needs_cooking", "burned", "fried", "roasted", "grilled")
"""Predicates of food that the list names; the first that holds counts."""
_NAMED = {"needs_cooking": "raw"}


def inventory_text(
    things: Sequence[str], state: State, world: World, articles: Mapping[str, str]
) -> str | None:
    """Return the list of carried ``things``, the latest first; None if only the engine knows it."""
    if not all(world.types.get(x) in _PLAIN and x in world.names for x in things):
        return None
    if not things:
        return "You are carrying nothing."
    *others, last = (_phrase(x, state, world, articles) for x in things)
    return f"You are carrying: {' and '.join(filter(None, (', '.join(others), last)))}."


def order_of(
    text: str, things: Iterable[str], state: State, world: World, articles: Mapping[str, str]
) -> tuple[str, ...] | None:
    """Return carried things in the order of the engine's list; None if it lists them otherwise."""
    order = sorted(things, key=lambda x: (text.find(world.names.get(x, "")), x))
    return tuple(order) if inventory_text(order, state, world, articles) == text else None


def _phrase(thing: str, state: State, world: World, articles: Mapping[str, str]) -> str:
    holds = (next((p for p in table if (p, thing) in state), "") for table in (_CUTS, _HEATS))
    words = " ".join(filter(None, (*(_NAMED.get(p, p) for p in holds), world.names[thing])))
    article = articles.get(thing) or ("an" if words[0] in "aeiouAEIOU" else "a")
    return f"{article} {words}"
