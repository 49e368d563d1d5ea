"""Places of the things in a text: here, in or on something, or some steps away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from gym_memory.extract.events import IMMATERIAL
from gym_memory.extract.notes.words import ROOM, Phrase, kind_of_noun
from gym_memory.extract.scene import RELATIVE, Scene
from gym_memory.extract.things import (
    ARTICLE,
    COMPASS,
    NAME,
    NOTHING,
    STATE_SYNONYMS,
    STATE_WORD,
    has_any,
    is_name,
    one_thing,
    things_in,
)
from gym_memory.extract.wording import POSED
from gym_memory.graph.schema import DIRECTIONS, INVENTORY, head_noun

__all__ = ["POSSESSION", "ROOM_ITSELF", "add_contents", "find_things", "may_hold", "put_here"]
__all__ += ["put_in", "read_away", "read_contents", "relation_for", "some_steps_away"]
__all__ += ["with_contents"]

_NAMELESS = IMMATERIAL | frozenset(("objects", "items", "things"))
"""Nouns that name no thing: *several objects*."""
_ANY_STATE = re.compile(rf"\b{STATE_WORD}\b")
_PREPOSITIONS = {"inside": "in", "into": "in", "to": "in", "onto": "on", "on top of": "on",
                 "from": "on", "upon": "on", "underneath": "under"}  # fmt: skip
_CONTENTS = (
    r"(?:(?P<where>on|in) which (?:is|are)"
    r"|(?:(?:which|that) )?(?:contain(?:ing|s:?)|holds?|holding)) "
    r"(?P<items>(?:[^()]|\([^()]{0,200}\)){1,400})"
)
_IN_BRACKETS = re.compile(
    r"(?P<holder>(?:an?|the|some) [^(),]{1,80}?) \((?P<state>[^()]{0,200}?)"
    rf"(?:,? ?{_CONTENTS})?\)"
)
_BARE_IN_BRACKETS = re.compile(
    rf"(?P<holder>[^()]{{1,80}}?) \((?P<state>[^()]{{0,200}}?),? ?{_CONTENTS}\)"
)
_THAT = r",? (?:that|which)(?: is [\w ]+ and)?"
_WITH_CONTENTS = re.compile(
    rf"(?P<thing>(?:{ARTICLE} )?{NAME})"
    rf"(?:{_THAT}(?: (?:looks|seems|appears) to)? (?:has|have)"
    rf"|(?P<sure>{_THAT} (?:contains?|holds?)|,? containing)|,? with(?=.* (?:on|in|from) it\.?$))"
    rf" (?P<items>.+?)(?:(?: {POSED})? (?P<where>on|in|inside|under|from) (?:it|them))?\.?$"
)
"""A thing and its contents; *sure* if the verb alone implies contents."""
ROOM_ITSELF = re.compile(
    r"(?:floor|ground|room|area)(?: of (?:the |this )?room)?"
    r"|(?:\w+ )?(?:corner|cent(?:er|re)|middle|side|end)(?: of (?:the|this) (?P<of>[\w ]+))?"
    r"|(?:your |the )?(?:left|right|back|front|rear)"
)
POSSESSION = re.compile(
    r"your (?:\w+ )?(?:inventory|hands?|pockets?|backpack|possession|pack|rucksack|knapsack)"
    r"|my (?:inventory|hands?|pockets?|backpack|possession|coat|jacket|cloak|belt|purse|bag"
    r"|wallet|handbag|satchel|rucksack)"
)
_AFTER_HOLDER = re.compile(
    r" (?:near|beside|behind|below|beneath|above|against|by|next to|in front of|opposite|on|in|at"
    r"|under|over|facing|between)"
    r" (?:(?:the|an?|your|his|her) .*|(?:him|her|it|them|you|me)$)"
    r"| \w+ enough\b.*| \w{3,}ing (?:the|an?|some|your) .*"
    rf"| to (?:the|your) (?:{COMPASS}|left|right)$"
)
"""Words after a holder that say where it is or what it suits: *on a nail by the ladder*."""
_HEAD = re.compile(r" (?:of|in|on|at|by|near|to|above|below|under|behind|beside|outside|inside) .*")
"""Words after the head of the name of a place."""
_ARRANGEMENTS = ("row", "rows", "line", "lines", "circle", "group", "pairs", "cluster", "heap")
"""Nouns for arrangements, which contain nothing: *levers stand in a row*."""
_VIEWS = ("distance", "background")
"""Nouns for a view, which holds no things."""
_STEPS = (
    r"(?:(?:right |directly )?in front of you,? )?"
    r"(?:\d+|an?|one|two) steps? (?:in front of (?:you|me)|(?:to (?:the|your|my) )?[\w-]+)"
)
_AWAY = re.compile(
    rf"(?P<thing>(?:(?! steps? | near (?:me|you)\b).)+?),? "
    rf"(?P<where>{_STEPS}(?:(?: and|,) {_STEPS})*)"
)


def put_here(draft: Scene, text: str, start: int, *, bare: bool = False) -> None:
    """Put the things of an enumeration into the place of the agent, and contents into them."""
    whole = with_contents(text)
    for phrase in find_things(draft, whole["thing"] if whole else text, start, bare=bare):
        draft.put(phrase)
        if whole is not None:
            add_contents(draft, whole, start, phrase)


def some_steps_away(text: str) -> re.Match[str] | None:
    """Match a thing that is some steps away: *a ball 2 steps left*."""
    return _AWAY.fullmatch(text) if " step" in text else None


def read_away(draft: Scene, text: str, start: int) -> bool:
    """Read a thing that is some steps away; return False for another text."""
    away = some_steps_away(text)
    if away is None:
        return False
    for phrase in find_things(draft, away["thing"], start, bare=True):
        draft.add(phrase.name, RELATIVE, away["where"].lower(), start, start + len(text))
        draft.describe(phrase)
    return True


def put_in(
    draft: Scene, text: str, start: int, where: str | None, place: str, *, bare: bool = False
) -> None:
    """Put the things of an enumeration in, on or under something."""
    if " " in place:
        place = _AFTER_HOLDER.sub("", place)
    immaterial = head_noun(place) in IMMATERIAL and not draft.graph.knows(place)
    if not is_name(place) or place in _VIEWS or place in DIRECTIONS or immaterial:
        return
    itself = ROOM_ITSELF.fullmatch(place)
    of = itself["of"] or "" if itself is not None else place
    if _is_room_of(draft, of) or (itself is not None and (not of or kind_of_noun(of) == ROOM)):
        put_here(draft, text, start, bare=bare)
        return
    if place in _ARRANGEMENTS:
        put_here(draft, text, start, bare=bare)
        return
    if " side of " not in place:
        place = of  # the left end of the table
    if POSSESSION.fullmatch(place):
        place = INVENTORY
    if " of " not in place:
        place = place.removeprefix("one ")
    for phrase in find_things(draft, text, start, bare=bare):
        draft.place(phrase, relation_for(where), place)
        draft.describe(phrase)
        draft.outdate(place, "is", "empty")


def _is_room_of(draft: Scene, place: str) -> bool:
    """True if a name is short for the room of the agent: *the cell* in *Cell 9*."""
    return (
        place != draft.room
        and place in draft.room.split()
        and (kind_of_noun(place) == ROOM or _HEAD.sub("", draft.room).endswith(f" {place}"))
        and not draft.graph.knows(place)
    )


def find_things(draft: Scene, text: str, start: int, *, bare: bool = False) -> Iterator[Phrase]:
    """Yield the things of an enumeration; those without an article only if ``bare``."""
    if "(" in text:
        text = _read_brackets(draft, text, start, _IN_BRACKETS)
    for name, states, first, last in things_in(text, bare):
        if head_noun(name) in _NAMELESS and not draft.graph.knows(name):
            continue
        draft.topic = name
        yield Phrase(name, states, start + first, start + last)


def with_contents(text: str) -> re.Match[str] | None:
    """Match a thing with contents: *a sack that holds a coin*."""
    possible = has_any(text, (" that ", " which ", " containing ", " with "))
    return _WITH_CONTENTS.fullmatch(text) if possible else None


@lru_cache(maxsize=4096)
def may_hold(text: str) -> bool:
    """True if a part of a list may be a thing with contents."""
    return with_contents(text) is not None or (
        "(" in text and _BARE_IN_BRACKETS.search(text) is not None
    )


def read_contents(draft: Scene, text: str, start: int) -> str:
    """Read the contents in a part of a list; return the part with the contents blanked."""
    if not may_hold(text):
        return text
    whole = with_contents(text)
    phrase = one_thing(whole["thing"], bare=True) if whole is not None else None
    if whole is None or phrase is None:
        return _read_brackets(draft, text, start, _BARE_IN_BRACKETS)
    holder = phrase._replace(start=start + phrase.start, end=start + phrase.end)
    add_contents(draft, whole, start, holder)
    return whole["thing"].ljust(len(text))


def add_contents(draft: Scene, whole: re.Match[str], start: int, holder: Phrase) -> None:
    """Add the contents of a thing from a match of :func:`with_contents`."""
    if NOTHING.match(whole["items"]):
        draft.add(holder.name, "is", "empty", holder.start, holder.end)
        return
    at, bare = start + whole.start("items"), bool(whole["where"] or whole["sure"])
    put_in(draft, whole["items"], at, whole["where"], holder.name, bare=bare)


def _read_brackets(draft: Scene, text: str, start: int, pattern: re.Pattern[str]) -> str:
    """Read states and contents in brackets; return the text with the brackets blanked."""

    def blank(found: re.Match[str]) -> str:
        states = _ANY_STATE.findall(found["state"] or "")
        head = found["holder"].rpartition(" and ")[2]
        at = start + found.end("holder") - len(head)
        phrase = one_thing(head, bare=True)
        if phrase is not None and (states or found["items"]):
            span = at + phrase.start, at + phrase.end
            for state in states:
                draft.add(phrase.name, "is", STATE_SYNONYMS.get(state, state), *span)
            if found["items"]:
                begin, where = start + found.start("items"), found["where"]
                put_in(draft, found["items"], begin, where, phrase.name, bare=True)
        return found["holder"] + " " * (len(found.group()) - len(found["holder"]))

    return pattern.sub(blank, text)


def relation_for(where: str | None) -> str:
    """Return the relation that a preposition states."""
    word = (where or "in").lower()
    return f"is {_PREPOSITIONS.get(word, word)}"
