"""Write the planner's plan as a line of text, and read it back from a model's prompt."""

from __future__ import annotations

import re
from dataclasses import replace

from gym_memory.baselines.rules.plan import Aim, Kind, Plan
from gym_memory.baselines.rules.textworld.errands import Delivery
from gym_memory.baselines.rules.textworld.hunting import Reading, Round
from gym_memory.baselines.rules.textworld.tidying import Tidying
from gym_memory.graph.schema import DIRECTIONS

__all__ = ["read_aim", "read_plan", "write_plan"]

_KINDS = {
    "explore": Kind.EXPLORE, "look round": Kind.EXPLORE, "wander": Kind.WANDER,
    "survey": Kind.SURVEY, "search ": Kind.SEARCH, "find ": Kind.FIND, "cook: ": Kind.COOK,
    "tidy: ": Kind.TIDY, "read ": Kind.READ, "look at ": Kind.READ, "try ": Kind.TRY,
}  # fmt: skip
_DIRECTION = "|".join(DIRECTIONS)
_AIM = re.compile(
    rf"(?P<text>.*?)(?:, (?P<exit>{_DIRECTION}) of (?P<place>[^,]+?))?"
    rf"(?:, by (?P<route>(?:{_DIRECTION})(?: (?:{_DIRECTION}))*))?"
    r"(?: \(not again: (?P<given_up>.+)\))?"
)
_COUNTED = re.compile(r"(?P<aim>.+) x(?P<times>\d+)")
_INSTRUCTION = re.compile(r"do (\d+): ")
_DELIVERY = re.compile(
    r"(?:find|fetch|bring) (?P<thing>[\w -]+?) for (?P<holder>[\w -]+?)"
    r"(?: (?:in|near) (?P<room>[\w -]+?))?(?: but not (?P<been>[\w -]+?))?(?::.*)?"
)


def read_plan(text: str) -> Plan:
    """Read a plan written by :func:`write_plan`, which omits the player's counts.

    >>> read_plan("fetch bowl, by east south").aim
    Aim(text='fetch bowl', kind=<Kind.OTHER: 1>, exit=None, route=('east', 'south'), instruction=0)
    """
    found = _AIM.fullmatch(text)
    assert found is not None
    counted = (_COUNTED.fullmatch(one) for one in (found["given_up"] or "").split("; "))
    given_up = tuple((read_aim(one["aim"]).key, int(one["times"])) for one in counted if one)
    exit_ = (found["place"], found["exit"]) if found["exit"] else None
    route = tuple((found["route"] or "").split())
    return Plan(replace(read_aim(found["text"]), exit=exit_, route=route), given_up=given_up)


def read_aim(text: str) -> Aim:
    """Read an aim written by ``str``, without exit and route."""
    kind = next((kind for start, kind in _KINDS.items() if text.startswith(start)), Kind.OTHER)
    if kind is Kind.TIDY:
        pairs = (entry.rpartition(" to ") for entry in text.removeprefix("tidy: ").split("; "))
        return Tidying.of([(thing, target) for thing, _, target in pairs if thing])
    if kind is Kind.SEARCH:
        purpose, _, been = text.partition(" after ")
        return Round.of(purpose, been.split(" and ") if been else ())
    if delivery := _DELIVERY.fullmatch(text):
        thing, holder, room, been = delivery.groups("")
        rooms = tuple(been.split(" and ")) if been else ()
        return Delivery(text, kind, thing=thing, holder=holder, room=room, been=rooms)
    if text.startswith("read "):
        return Reading(text, kind, pages=tuple(text.removeprefix("read ").split(", ")))
    instruction = _INSTRUCTION.match(text)
    return Aim(text, kind, instruction=int(instruction[1]) if instruction else 0)


def write_plan(plan: Plan) -> str:
    """Return a plan in words: the aim and the aims given up."""
    given_up = "; ".join(f"{aim} x{times}" for aim, times in plan.given_up)
    return f"{plan.aim} (not again: {given_up})" if given_up else str(plan.aim)
