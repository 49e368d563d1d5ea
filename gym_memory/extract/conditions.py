"""Forms of sentences about the states of things."""

from __future__ import annotations

import re

from gym_memory.extract.events import INTANGIBLE
from gym_memory.extract.notes.words import PLACED
from gym_memory.extract.openings import is_door
from gym_memory.extract.placing import put_in
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import ARTICLE, NAME, STATE_SYNONYMS, STATE_WORD, is_name
from gym_memory.extract.wording import ON_IN, STOP, THINGS, YOU
from gym_memory.graph.schema import DIRECTIONS, clean_name, door_relation, head_noun

__all__ = ["BRACKETED_STATE", "CLOCK", "FOUND_IN_STATE", "IN_STATE", "OF_BARE_NAME"]
__all__ += ["OF_IDENTIFIER", "SCORED", "UNTIL_IN_STATE", "read_counter", "read_identifier"]
__all__ += ["read_state"]

IN_STATE = re.compile(
    rf"(?P<thing>(?:{ARTICLE}|[Tt]h(?:is|at)) {NAME}|[Ii]t|[Tt]hey|[Tt]his)"
    r"(?: is| are| (?:has|have) been(?: left| propped| wedged)?"
    r"|(?: seems?| appears?| looks?)(?: to be)?|'s|'re"
    r"| (?:\w+s|stood|lay|hung)(?: \w+ly)?(?= (?:open|ajar|shut|closed)\b))"
    rf"(?: now| currently| already| slightly| still| wide)?(?: turned| switched| set to)? "
    rf"(?P<state>{STATE_WORD}|-?\d(?:[\w.]*\w)?)(?: and (?P<also>{STATE_WORD}))?"
    rf"(?: inside| once again| again| already| once more| (?:from|by|with) [^.!?]*"
    rf"|(?<=\d) (?:\(|of |out of )[^.]*| now"
    rf"| and (?:contains?|holds?) (?P<items>{THINGS})|,? (?:as|because|since) [^.!?]*)?{STOP}"
)
UNTIL_IN_STATE = re.compile(
    rf"{YOU} .*\b(?:until|so that) "
    rf"(?P<thing>(?:the|your) {NAME}|it) (?:is|are) (?P<state>{STATE_WORD}){STOP}"
)
"""A state that the agent causes: *you turn the wheel until the valve is shut*."""
FOUND_IN_STATE = re.compile(
    rf"{YOU} (?:find|found) (?P<thing>(?:the|your) {NAME}) (?P<state>{STATE_WORD}){STOP}"
)
OF_IDENTIFIER = re.compile(
    rf"(?P<items>(?:[a-zA-Z]+ )?[a-zA-Z]+\d+) (?:is|are) "
    rf"(?:(?P<where>{ON_IN}|at) (?P<place>{NAME})|(?P<state>{STATE_WORD})){STOP}"
)
"""A statement about an identifier, without articles: *ball3 is in room1*."""
OF_BARE_NAME = re.compile(
    rf"(?P<items>[a-z][\w' -]{{1,30}}?) (?:is|are) (?:now )?"
    rf"(?:(?P<where>{ON_IN}) (?P<place>{NAME})|(?P<state>{STATE_WORD})){STOP}"
)
"""A statement about a known thing without an article: *fridge is open*."""
CLOCK = re.compile(rf"It is (?P<state>\d\d?:\d\d(?: ?[AaPp][Mm])?){STOP}")
BRACKETED_STATE = re.compile(
    rf"(?P<thing>[Tt]he {NAME}) \((?P<state>{STATE_WORD})\)(?: [^()]*)?{STOP}"
)
"""A state in brackets after a subject: *the hatch (closed) is forward*."""
SCORED = re.compile(
    r"(?:In \d+ (?:turn|move)s?, )?(?:[Yy]ou(?: have|'ve)?(?: now| so far)*"
    r" (?:scored|earned|(?:have|achieved|reached) (?:a (?:total )?score of|a total of))"
    r"|[Yy]our (?:\w+ )?score"
    r" (?:would be|has (?:now )?(?:gone up|risen|increased|changed) to|stands at))"
    r" (?P<state>-?\d+)(?: points?)?\b(?! for | as )"
)
"""The score in a sentence: *you have so far scored 25 out of a possible 350*."""
_PLACE_OF_PART = re.compile(
    r" (?:on|in|at|under|by|near|beside|above|below|behind|beneath|next to|opposite)"
    r" (?:the|an?|my|his|her|its|their|your) "
)
_DETERMINER = re.compile(r"(?:your|this|that) ")
_PRONOUNS = ("it", "they", "this")


def read_state(draft: Scene, found: re.Match[str]) -> None:
    """Read ``The fridge is closed``; *it* is the thing named last."""
    thing, start = found["thing"], found.start("thing")
    cut = thing.rfind(" and the ") if " and the " in thing else -1
    if cut > 0:  # the lock breaks and the door swings open
        thing, start = thing[cut + 5 :], start + cut + 5
    placed = PLACED.search(thing)
    aside = _PLACE_OF_PART.search(thing) if placed is None else placed
    span = start, start + len(thing)
    thing = clean_name(thing[: aside.start() if aside else None])
    name = draft.topic if thing in _PRONOUNS else draft.thing_called(_DETERMINER.sub("", thing))
    if name == "lock" and draft.handled not in ("", "lock"):
        return  # the lock clicks open: the answer confirms that the door is unlocked
    state = found["state"].lower()
    if state[-1].isdigit():
        draft.outdate(name, "is", None)
    if is_name(name) and (head_noun(name) not in INTANGIBLE or draft.graph.knows(name)):
        draft.topic = name
        way = placed["way"].lower() if placed is not None else ""
        if draft.room and is_door(name) and way in DIRECTIONS:
            draft.add(draft.room, door_relation(way), name, *span)
        draft.add(name, "is", STATE_SYNONYMS.get(state, state), *found.span("state"))
        if (also := found.groupdict().get("also")) is not None:
            draft.add(name, "is", STATE_SYNONYMS.get(also, also), *found.span("also"))
        if state == "empty":
            draft.keep_only(name, ())
        if found.groupdict().get("items"):
            put_in(draft, found["items"], found.start("items"), "in", name)


def read_counter(draft: Scene, found: re.Match[str]) -> None:
    """Read the time, ``It is 9:45 AM``, or the score."""
    name = "time" if found.re is CLOCK else "score"
    draft.outdate(name, "is", None)
    draft.add(name, "is", found["state"].lower(), *found.span("state"))


def read_identifier(draft: Scene, found: re.Match[str]) -> bool:
    """Read the place or the state of an identifier or of a known thing; False for another."""
    name, span = clean_name(found["items"]), found.span("items")
    if found.re is OF_BARE_NAME and not draft.graph.knows(name):
        return False
    if found["state"]:
        draft.add(name, "is", STATE_SYNONYMS.get(found["state"], found["state"]), *span)
    else:
        where = "in" if found["where"] == "at" else found["where"]
        put_in(draft, found["items"], span[0], where, clean_name(found["place"]), bare=True)
    return True
