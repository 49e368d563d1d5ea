"""True facts of the engine in the vocabulary of the rules, for scoring and ``oracle`` alone.

``docs/alfworld.md`` lists the facts.
"""

from __future__ import annotations

from collections.abc import Iterator

from gym_memory.core.records import Triple
from gym_memory.games.alfworld.world import Game, HouseholdPlay
from gym_memory.graph.schema import INVENTORY, PLAYER

__all__ = ["triples_of", "visible_now"]

_ROOM, _TASK = "room", "task"
_STATES = {"isclean": "clean", "ishot": "hot", "iscool": "cool", "issliced": "sliced",
           "istoggled": "on"}  # fmt: skip


def triples_of(play: HouseholdPlay) -> frozenset[Triple]:
    """Return all facts of the present state."""
    names, state = play.game.names, play.state
    facts = set(goal_triples(play.game))
    facts.add(Triple(PLAYER, "is at", play.place) if play.place else Triple(PLAYER, "is in", _ROOM))
    openable = {names[fact[1]] for fact in state.facts if fact[0] == "openable"}
    full = {names[fact[2]] for fact in state.facts if fact[0] == "inreceptacle"}
    for predicate, *entities in state.facts:
        first, last = names.get(entities[0], ""), names.get(entities[-1], "")
        if predicate == "receptacleatlocation":
            facts.add(Triple(first, "is in", _ROOM))
            if first in openable:
                opened = ("opened", entities[0]) in state
                facts.add(Triple(first, "is", "open" if opened else "closed"))
            if first not in full:
                facts.add(Triple(first, "is", "empty"))
        elif predicate == "inreceptacle":
            facts.add(Triple(first, "is in" if last in openable else "is on", last))
        elif predicate == "inreceptacleobject":
            facts.add(Triple(last, "contains", first))
        elif predicate == "holds":
            facts.add(Triple(last, "is in", INVENTORY))
        elif predicate in _STATES:
            facts.add(Triple(first, "is", _STATES[predicate]))
    return frozenset(facts)


def goal_triples(game: Game) -> Iterator[Triple]:
    """Yield the requirements of the task."""
    wanted: dict[int, str] = {}
    states: dict[int, str] = {}
    lamps: set[int] = set()
    things: list[str] = []
    target = ""
    for predicate, slots in game.goal.cases[0].holds:
        slot, kind = slots[0], game.goal.slots[slots[-1]].removesuffix("type")
        if predicate == "objecttype":
            wanted[slot] = kind
        elif predicate == "receptacletype":
            target = kind
        elif predicate == "istoggled":
            lamps.add(slot)
        elif predicate in _STATES:
            states[slot] = _STATES[predicate]
    for slot, kind in wanted.items():
        if slot not in lamps:
            things.append(kind)
            yield Triple(_TASK, "requires", kind)
            if slot in states:
                yield Triple(kind, "needs to be", states[slot])
            if target:
                yield Triple(kind, "belongs in", target)
    if len(things) == 2:
        yield Triple(_TASK, "requires number", "two")
    for lamp in lamps:
        yield Triple(things[0], "is looked at under", wanted[lamp])


def visible_now(play: HouseholdPlay, action: str) -> frozenset[Triple]:
    """Return the facts that the last answer showed, except those that the action changed.

    The first answer shows the furniture and the task. Going to, opening or examining something
    shows its contents unless it is closed. Held objects are always shown.
    """
    facts = triples_of(play)
    shown = {fact for fact in facts if fact.object == INVENTORY or fact.subject == PLAYER}
    if not action:
        shown |= {fact for fact in facts if fact.object == _ROOM} | set(goal_triples(play.game))
        return frozenset(shown)
    verb, _, thing = action.replace("go to ", "go ").partition(" ")
    if verb in ("go", "open", "examine") and thing in play.game.ids:
        shut = Triple(thing, "is", "closed") in facts
        shown |= {
            fact
            for fact in facts
            if (fact.subject == thing and fact.relation in ("is", "contains"))
            or (fact.object == thing and fact.relation in ("is in", "is on") and not shut)
        }
        if shut:
            shown.discard(Triple(thing, "is", "empty"))
    return frozenset(shown)
