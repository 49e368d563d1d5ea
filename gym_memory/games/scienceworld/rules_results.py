"""What actions in ScienceWorld have done, as the answer says: one form of sentence, one rule."""

from __future__ import annotations

import re
from collections.abc import Callable

from gym_memory.core.records import Triple
from gym_memory.games.scienceworld.rules_draft import Draft
from gym_memory.games.scienceworld.rules_items import name_of
from gym_memory.games.scienceworld.rules_names import CONNECTED, FOCUSED, TEMPERATURE
from gym_memory.graph.schema import INVENTORY, PLAYER

__all__ = ["read_result"]

Rule = Callable[[re.Match[str], str, Draft], None]
_MAX_RESULT_CHARS = 2000
"""Of a longer answer only so much is tried: two names and the words between are shorter."""
_POWER = {"activated": "on", "deactivated": "off"}


def read_result(text: str, action: str, draft: Draft) -> bool:
    """Add what an answer says of the action; False if it has none of the known forms.

    Args:
        text: The answer.
        action: The command, in lower case.
        draft: The facts of the step so far.
    """
    text = text.rstrip()
    found = False
    start = 0
    while (wire := _UNWIRED.match(text, start)) is not None:
        _disconnect(name_of(wire["thing"]), draft)
        start = wire.end()
    for pattern, rule in _RULES:
        match = pattern.match(text, start, start + _MAX_RESULT_CHARS)
        if match is not None:
            rule(match, action, draft)
            found = True
            break
    return found or start > 0


def _walked(match: re.Match[str], action: str, draft: Draft) -> None:
    draft.walk(name_of(match["room"]), match.span("room"))


def _moved(match: re.Match[str], action: str, draft: Draft) -> None:
    target = name_of(match["holder"])
    holder = INVENTORY if target == INVENTORY else _holder(target, action, draft)
    draft.moved(name_of(match["thing"]), holder, action, match.span())


def _holder(name: str, action: str, draft: Draft) -> str:
    return name if name == draft.room else draft.meant(name, action)


def _poured(match: re.Match[str], action: str, draft: Draft) -> None:
    source = draft.meant(name_of(match["source"]), action)
    target = name_of(match["holder"])
    for fact in list(draft.contents(source)):
        draft.retire(fact)
        number = int(fact.relation.split()[-1]) if fact.relation[-1].isdigit() else 1
        if target == INVENTORY:
            draft.add(Triple(fact.object, "is in", INVENTORY), match.span())
        else:
            draft.put(fact.object, _holder(target, action, draft), match.span(), number=number)
    draft.set_empty(source, empty=True, span=match.span("source"))


def _door(match: re.Match[str], action: str, draft: Draft) -> None:
    led = _DOOR_TO.search(action)
    rooms = [
        fact.object.removeprefix("door to ")
        for fact in draft.graph.outgoing(draft.room)
        if fact.relation == "has exit"
    ]
    named = [room for room in rooms if room in action] or (rooms if len(rooms) == 1 else [])
    if led is not None:
        named = [led["room"]]
    if len(named) == 1:
        draft.door(draft.room, named[0], opened=match["state"] == "open", span=match.span())


def _switched(match: re.Match[str], action: str, draft: Draft) -> None:
    name, state = name_of(match["thing"]), _POWER.get(match["state"], match["state"])
    if name == "toilet":  # it is on for a moment
        _flushed(match, action, draft)
    elif name != "drain":
        draft.add(Triple(draft.meant(name, action), "is", state), match.span())


def _broken(match: re.Match[str], action: str, draft: Draft) -> None:
    thing = draft.meant(name_of(match["thing"]), action)
    draft.add(Triple(thing, "is", "out of order"), match.span())


def _focused(match: re.Match[str], action: str, draft: Draft) -> None:
    draft.add(Triple(PLAYER, FOCUSED, name_of(match["thing"])), match.span())


def _measured(match: re.Match[str], action: str, draft: Draft) -> None:
    used = re.match(r"use .* on (?P<thing>.+)", action)
    if used is None:
        return
    thing, _, place = used["thing"].partition(" in ")
    inside = [fact.object for fact in draft.contents(place)] if place else []
    if thing == "substance" and len(inside) == 1:
        thing = inside[0]
    draft.add(Triple(name_of(thing), TEMPERATURE, match["degrees"]), match.span())


def _mixed(match: re.Match[str], action: str, draft: Draft) -> None:
    named = action.removeprefix("mix ")
    base = named.partition(" in ")[0].partition(" containing ")[0]
    words = set(match["from"].lower().split())
    holder = draft.meant(name_of(base), action)
    for fact in list(draft.contents(holder)):
        if set(fact.object.split()) <= words:
            draft.retire(fact)
    draft.put(name_of(match["to"]), holder, match.span())


def _eaten(match: re.Match[str], action: str, draft: Draft) -> None:
    thing = name_of(match["thing"])
    draft.take(thing, action)
    _disconnect(thing, draft)


def _flushed(match: re.Match[str], action: str, draft: Draft) -> None:
    for fact in list(draft.contents(draft.meant(name_of(match["thing"]), action))):
        if fact.object == "water":
            draft.retire(fact)


def _connected(match: re.Match[str], action: str, draft: Draft) -> None:
    one, other = (
        f"{terminal.lower()} on {name_of(thing)}"
        for terminal, _, thing in (match[part].partition(" on ") for part in ("one", "other"))
    )
    draft.add(Triple(one, CONNECTED, other), match.span())
    draft.add(Triple(other, CONNECTED, one), match.span())


def _disconnect(thing: str, draft: Draft) -> None:
    """All wires of a thing are off."""
    for terminal in ("anode", "cathode", "terminal 1", "terminal 2"):
        name = f"{terminal} on {thing}"
        for fact in (*draft.graph.outgoing(name), *draft.graph.incoming(name)):
            if fact.relation == CONNECTED:
                draft.retire(fact)


def _unwired(match: re.Match[str], action: str, draft: Draft) -> None:
    _disconnect(name_of(match["thing"]), draft)


def _recipe(match: re.Match[str], action: str, draft: Draft) -> None:
    for part in re.split(r", (?:and )?| and ", match["parts"].rstrip(".")):
        draft.add(Triple(name_of(match["made"]), "requires", name_of(part)), match.span("parts"))


_DOOR_TO = re.compile(r"door to (?:the )?(?P<room>.+)")
_UNWIRED = re.compile(r"\(disconnecting (?P<thing>.+?)\)\s*(?=[A-Z(]|$)")
_RULES: tuple[tuple[re.Pattern[str], Rule], ...] = (
    (re.compile(r"You move through the door to the (?P<room>[^.]+)\."), _walked),
    (re.compile(r"You move to the (?P<room>[^.]+)\."), _walked),
    (re.compile(r"You teleport to the (?P<room>[^.]+)\."),
     lambda m, a, d: d.enter(name_of(m["room"]), m.span("room"))),
    (re.compile(r"You move the (?P<thing>.+) to the (?P<holder>[^.]+)\."), _moved),
    (re.compile(r"You pour the contents of the (?P<source>.+) into the (?P<holder>[^.]+)\."),
     _poured),
    (re.compile(r"You pour the (?P<thing>.+) into the (?P<holder>[^.]+)\."), _moved),
    (re.compile(r"The door is (?:now|already) (?P<state>open|closed)\."), _door),
    (re.compile(r"The (?P<thing>.+) is (?:now|already) "
                r"(?P<state>open|closed|activated|deactivated|on|off)\."), _switched),
    (re.compile(r"The (?P<thing>.+) appears broken"), _broken),
    (re.compile(r"The (?P<thing>.+) is now flushing"), _flushed),
    (re.compile(r"You focus on the (?P<thing>[^.]+)\."), _focused),
    (re.compile(r"the thermometer measures a temperature of (?P<degrees>-?\d+) degrees"),
     _measured),
    (re.compile(r"(?P<from>[^.]+) mix to produce (?P<to>[^.]+)\."), _mixed),
    (re.compile(r"The (?P<thing>.+) was delicious"), _eaten),
    (re.compile(r"(?P<one>.+ on .+) is now connected to (?P<other>.+ on .+)$"), _connected),
    (re.compile(r"(?P<thing>.+) has been disconnected"), _unwired),
    (re.compile(r"The [^:]* reads:\s*To make (?P<made>[^,]+), you need to mix (?P<parts>[^\n]+)"),
     _recipe),
)  # fmt: skip
