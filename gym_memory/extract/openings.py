"""Forms of sentences about openings and searches, and about what they reveal."""

from __future__ import annotations

import re

from gym_memory.extract.known import meant
from gym_memory.extract.notes.words import CONTAINER, SUPPORTER, kind_of_noun
from gym_memory.extract.placing import find_things, put_here, put_in
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import ARTICLE, NAME
from gym_memory.extract.wording import LETTER, SEE, STOP, THINGS, YOU, phrases
from gym_memory.graph.schema import clean_name, head_noun

__all__ = ["FINDS", "OPENS", "REVEALING", "REVEALS", "SEARCH_FINDS", "YOU_OPEN", "is_door"]
__all__ += ["read_opening", "read_revealed", "read_search"]

_KEPT = r", which you (?:take|pocket|pick up|keep|slip|put|stow)\b.*"
SEARCH_FINDS = re.compile(
    r"(?P<doing>[A-Z]\w+ing)(?: (?P<where>through|in|inside|into|on|under|beneath))? "
    rf"(?P<place>(?:the|your|an?) {NAME}),? (?:you|I|we) (?:can )?{SEE} "
    rf"(?P<items>{THINGS})(?P<kept>{_KEPT})?{STOP}"
)
"""Sentence about a search: *rummaging through the desk, you find a pin*."""
FINDS = re.compile(
    rf"{YOU} (?:\w+ly )?(?P<doing>\w+)(?: around| about)?"
    r"(?: (?P<where>through|in|inside|into|on|under|beneath))? "
    rf"(?P<place>(?:the|your|an?) {NAME}) and (?:find|discover|uncover|unearth) "
    r"(?:several (?:items|things|objects)(?: inside)?, including )?"
    rf"(?P<items>{THINGS})(?: inside)?(?P<kept>{_KEPT})?{STOP}"
)
"""Sentence about a search: *you dig in the sand and find a pin*."""
_SEARCHING = re.compile(
    r"search|open|examine|examining|check|empt|unlock|inspect|poke|rummag|explor|dig", re.IGNORECASE
)
YOU_OPEN = re.compile(
    rf"{YOU} open (?P<thing>{ARTICLE} {NAME})(?: with {NAME})?, revealing (?P<items>[^.!?]+){STOP}"
)
OPENS = re.compile(
    rf"(?:(?P<doing>[A-Z]\w+ing) )?(?P<thing>[Tt]he (?:(?! and ){LETTER})+?)"
    rf"(?:(?: opens| \w+s open)(?:, revealing (?P<items>{THINGS})| with [^.!?]+)?"
    rf"| reveals (?P<more>{THINGS})){STOP}"
)
REVEALS = re.compile(
    r"(?:[^.!?:]+?,? (?:revealing|exposing|uncovering|to (?:reveal|expose|show|uncover))"
    r"|Opening [^.!?:]+ reveals) "
    rf"(?P<items>{THINGS}){STOP}"
)
"""Sentence about contents that an opening reveals."""
_MOVES_AWAY = re.compile(
    r"(?:You|I|We|The|Your|An?) "
    r".*\b(?:push|pull|drag|move|lift|shove|roll|slide|swing|turn)(?:s|e?d)? "
    r".*(?:aside|away|back|side|corner|over|up|out|behind)\b"
)
"""Sentence in which a thing is moved, so that it may uncover another."""
_DOOR_NOUN = re.compile(r"\b(?:door|gate|hatch|doorway)$")
_DOOR_ENDINGS = ("door", "gate", "hatch", "doorway")
REVEALING = frozenset(
    ("revealing", "exposing", "uncovering", "reveal", "reveals", "expose", "show", "uncover")
)


def is_door(name: str) -> bool:
    """True if a name is that of a door, which has no contents."""
    return name.endswith(_DOOR_ENDINGS) and _DOOR_NOUN.search(name) is not None


def read_opening(draft: Scene, found: re.Match[str]) -> None:
    """Read an opening, and the contents that it reveals."""
    groups = found.groupdict()
    shown = "more" if groups.get("more") else "items"
    opens = (groups.get("doing") or "Open").startswith(("Open", "Un"))  # but: searching the box
    for phrase in find_things(draft, found["thing"], found.start("thing")):
        name = draft.thing_called(phrase.name)
        if opens and not (name == "lock" and draft.handled):  # the door is unlocked
            draft.add(name, "is", "open", phrase.start, phrase.end)
        if groups.get(shown) and not is_door(name):
            put_in(draft, found[shown], found.start(shown), "in", name)
        draft.topic = name


def read_search(draft: Scene, found: re.Match[str]) -> None:
    """Read what a search finds: in the thing searched, here, or in the hands that keep it."""
    items, start = found["items"], found.start("items")
    place = meant(draft, clean_name(found["place"]))
    if found["doing"].lower().startswith(("open", "unlock")):
        draft.add(place, "is", "open", *found.span("place"))
    if found["kept"]:
        for phrase in find_things(draft, items, start):
            draft.carry(phrase)
        return
    where = None if found["where"] == "through" else found["where"]
    if place in phrases("lid_parts") and draft.aim and not draft.graph.knows(place):
        place = draft.aim  # you lift the lid and find a ring
        put_in(draft, items, start, where, place)
        return
    searched = found["where"] or _SEARCHING.match(found["doing"])
    if searched and (
        draft.graph.knows(place)
        or kind_of_noun(place) in (CONTAINER, SUPPORTER)
        or head_noun(place) in draft.action.lower()
    ):
        put_in(draft, items, start, where, place)
    else:
        put_here(draft, items, start)


def read_revealed(draft: Scene, found: re.Match[str]) -> bool:
    """Read what the opened thing contains, or what a moved thing uncovers."""
    opened = draft.handled if draft.event is not None and "open" in draft.event.kinds else ""
    if opened:
        draft.add(opened, "is", "open", *found.span())
    if opened and not is_door(opened):
        put_in(draft, found["items"], found.start("items"), "in", opened)
        draft.topic = opened
    elif not opened and (moved := _MOVES_AWAY.match(found.group())):
        put_here(draft, found["items"], found.start("items"))
        return moved is not None
    return opened != ""
