"""From a household's planning facts to the vocabulary of :mod:`gym_memory.graph.schema`.

For scoring and upper bounds only. What follows is true of the game, seen or not:

======================================  ====================================================
``desk 1 | is in | room``               all furniture stands in the one room
``you | is at | desk 1``                the furniture gone to last; at the start ``is in | room``
``pen 1 | is in | drawer 2``            in furniture that opens; ``is on`` for all other
``pen 1 | is in | inventory``           held
``drawer 2 | is | open``                open / closed, of furniture that opens
``shelf 1 | is | empty``                nothing is in or on it
``mug 1 | is | clean``                  clean / hot / cool / sliced, once it was made so
``desklamp 1 | is | on``                switched on; nothing is said of off
``bowl 1 | contains | egg 2``           what a vessel held at the start; play does not change it
``task | requires | mug``               kind of thing that the task is about
``task | requires number | two``        if it is about two of them
``mug | needs to be | hot``             clean / hot / cool
``mug | belongs in | shelf``            kind of furniture where it is to go
``book | is looked at under | desklamp``
======================================  ====================================================
"""

from __future__ import annotations

from collections.abc import Iterator

from gym_memory.core.records import Triple
from gym_memory.games.alfworld.world import Game, Play
from gym_memory.graph.schema import INVENTORY, PLAYER

__all__ = ["triples_of", "visible_now"]

_ROOM, _TASK = "room", "task"
_STATES = {"isclean": "clean", "ishot": "hot", "iscool": "cool", "issliced": "sliced",
           "istoggled": "on"}  # fmt: skip


def triples_of(play: Play) -> frozenset[Triple]:
    """All facts of the present state."""
    names, state = play.game.names, play.state
    facts = set(goal_triples(play.game))
    facts.add(_whereabouts(play))
    openable, full = _sorted_out(play)
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


def _sorted_out(play: Play) -> tuple[set[str], set[str]]:
    """Names of what opens, and of the furniture with something in or on it."""
    names, facts = play.game.names, play.state.facts
    return (
        {names[fact[1]] for fact in facts if fact[0] == "openable"},
        {names[fact[2]] for fact in facts if fact[0] == "inreceptacle"},
    )


def _whereabouts(play: Play) -> Triple:
    return Triple(PLAYER, "is at", play.place) if play.place else Triple(PLAYER, "is in", _ROOM)


def goal_triples(game: Game) -> Iterator[Triple]:
    """What the task asks for."""
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


def visible_now(play: Play, action: str) -> frozenset[Triple]:
    """What the last answer showed, besides what the action changed.

    At the start the furniture and the task; after going somewhere, opening or examining
    something, its contents unless it is shut; always what is held.
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
