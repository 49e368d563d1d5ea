"""What to cut and to heat with: known by what was read or seen of it, by its name, or by trying."""

from __future__ import annotations

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.extract.notes import is_readable
from gym_memory.extract.notes.recipes import APPLIANCES, BLADES, CUTS, is_tool
from gym_memory.extract.notes.words import STATES, head_noun

__all__ = ["appliance", "blade", "is_food", "is_portable", "offered", "unclear_appliances"]

_SURE = ("stove", "oven", "bbq", "barbecue", "toaster", "grill", "hob")
"""Appliances of which everybody knows what they do."""


def is_portable(beliefs: Beliefs, thing: str) -> bool:
    """True if it may be carried about: it neither opens nor holds things."""
    fixed = beliefs.openness(thing) or beliefs.is_state(thing, "empty") or beliefs.contents(thing)
    return not fixed


def is_food(beliefs: Beliefs, thing: str) -> bool:
    """True if a thing is known to be eaten, or to be prepared for that."""
    eaten = (f"eat {thing}" in beliefs.actions, f"drink {thing}" in beliefs.actions)
    return any(eaten) or any(beliefs.is_state(thing, state) for state in STATES)


def blade(beliefs: Beliefs, foods: list[str]) -> str:
    """Return what cuts ``foods``: what is offered, what is called so, or what may turn out to."""
    cutting = [action.rpartition(" with ")[2] for action in beliefs.options(*CUTS.values())]
    known = [name for name in beliefs.things() if head_noun(name) in BLADES]
    if cutting or known:
        return [*cutting, *known][0]
    in_vain = any(beliefs.holds(food) for food in foods)  # what is held cuts nothing
    distances = beliefs.distances
    others = [
        (distances[room], thing)
        for room in distances
        for thing in beliefs.contents(room)
        if is_portable(beliefs, thing)
        and not (is_food(beliefs, thing) or is_readable(thing) or is_tool(thing) or thing in foods)
    ]
    if beliefs.frontier() or not others:
        return BLADES[0]
    held = [thing for thing in beliefs.held() if thing not in foods]
    return min(others)[1] if in_vain or not held else BLADES[0]


def offered(beliefs: Beliefs, food: str) -> list[str]:
    """Return on what a food can be heated here."""
    start = f"cook {food} with "
    return [a.removeprefix(start) for a in beliefs.options("cook") if a.startswith(start)]


def appliance(beliefs: Beliefs, use: str) -> str:
    """Return what serves for ``frying``, ``roasting`` or ``grilling``; empty if unknown."""
    reported = beliefs.subjects("used for", use)
    named = (
        name
        for name in beliefs.things()
        if head_noun(name) in APPLIANCES[use] and not beliefs.objects(name, "used for")
    )
    return next(iter((*reported, *named)), "")


def unclear_appliances(beliefs: Beliefs) -> list[str]:
    """Return appliances in reach of which neither a text nor the name surely says what they do."""
    here = dict.fromkeys(a.rpartition(" with ")[2] for a in beliefs.options("cook"))
    return [x for x in here if not beliefs.objects(x, "used for") and head_noun(x) not in _SURE]
