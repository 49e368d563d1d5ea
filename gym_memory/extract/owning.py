"""Forms of sentences about what the agent carries or has."""

from __future__ import annotations

import re

from gym_memory.extract.events import INTANGIBLE
from gym_memory.extract.notes.words import names_person
from gym_memory.extract.placing import find_things
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import NAME, has_any, things_in
from gym_memory.extract.wording import ARE, STOP, THINGS, YOU
from gym_memory.graph.schema import INVENTORY, head_noun

__all__ = ["CARRYING", "HAVING", "OF_YOURS", "read_carrying", "read_having", "read_yours"]

_NOTHING_ELSE = r"(?:,? (?:and|but) nothing (?:else|more))?"
CARRYING = re.compile(
    rf"(?:{YOU}{ARE} (?:now |currently )?(?:carrying|holding|wearing)|{YOU} (?:carry|hold|wear)"
    rf"|{YOU} have (?:in your possession|equipped)|(?:Your|My) inventory contains):? "
    rf"(?P<items>{THINGS}){_NOTHING_ELSE}{STOP}"
)
HAVING = re.compile(rf"{YOU}(?: have| have got|'ve got):? (?P<items>{THINGS}){_NOTHING_ELSE}{STOP}")
"""All carried things after a look at the inventory; else perhaps none: *you have a choice*."""
OF_YOURS = re.compile(
    rf"(?P<items>(?:The|Your) {NAME}|It|They)(?: is| are|'s|'re) (?:now |all )?yours(?: now)?{STOP}"
)
_TAKES_INVENTORY = re.compile(
    r"i|inv|inventory|(?:check|show|look at) (?:my )?inventory", re.IGNORECASE
)
_ALL_CARRIED = re.compile(rf"{YOU}(?:{ARE}) (?:carrying|holding)(?!:? the\b)|(?:Your|My)")
"""Beginning of a complete list of carried things."""
_NO_POSSESSION = (" to ", "the ", " of you", " for ", " that ")
"""Parts of what is no list of carried things: *a plan for the day*."""


def read_carrying(draft: Scene, found: re.Match[str], *, whole: bool = False) -> None:
    """Read carried things; a ``whole`` list, or one without *now* or *the*, names all of them."""
    things = tuple(find_things(draft, found["items"], found.start("items")))
    if found["items"].startswith(("your ", "my ")):  # you hold your ground, your nose
        things = tuple(phrase for phrase in things if head_noun(phrase.name) not in INTANGIBLE)
    held = [draft.carry(phrase) for phrase in things]
    if held and (whole or _ALL_CARRIED.match(found.group()) or " nothing " in found.group()):
        draft.keep_only(INVENTORY, held)


def read_having(draft: Scene, found: re.Match[str]) -> bool:
    """Read what the agent has; return False for what no hand holds."""
    if _TAKES_INVENTORY.fullmatch(draft.action):
        read_carrying(draft, found, whole=True)
        return True
    things = things_in(found["items"], bare=False)
    nouns = {head_noun(phrase.name) for phrase in things}
    of_mind = any(map(names_person, nouns)) or not INTANGIBLE.isdisjoint(nouns)
    if len(things) < 2 and not found["items"].startswith(("a ", "an ", "some ")):
        return False  # you have 3 lives
    if not things or of_mind or has_any(found["items"], _NO_POSSESSION):
        return False  # you have a choice
    read_carrying(draft, found)
    return True


def read_yours(draft: Scene, found: re.Match[str]) -> None:
    """Read ``The coin is yours``."""
    text = found["items"]
    if text in ("It", "They"):
        text = f"the {draft.topic}" if draft.topic else ""
    for phrase in find_things(draft, text, found.start("items")):
        draft.carry(phrase)
