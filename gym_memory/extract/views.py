"""Forms of sentences about what is in view: doors, ways and places in a direction."""

from __future__ import annotations

import re

from gym_memory.extract.openings import is_door
from gym_memory.extract.placing import find_things
from gym_memory.extract.scene import Scene, seen_relation
from gym_memory.extract.things import ARTICLE, COMPASS, NAME, is_name, place_name, things_in
from gym_memory.extract.ways import BARRED, WAYS, is_passable
from gym_memory.extract.wording import LETTER, STOP, YOU
from gym_memory.graph.schema import DIRECTIONS, clean_name, door_relation

__all__ = [
    "ALL_WAYS",
    "DOOR_IN_VIEW",
    "DOOR_LIES",
    "EXITS_TO",
    "VIEW_OF_YOU",
    "VIEW_TO_THE",
    "WAY_TO",
]
__all__ += ["read_all_ways", "read_door", "read_exits_to", "read_view", "read_way_to"]

_APPOSITION = r"(?:, (?:the|an?) [^,.]+)?"
VIEW_TO_THE = re.compile(
    rf"(?:[Tt]hrough (?P<door>{NAME}),? )?[Tt]o the (?P<way>\w+),? "
    rf"(?:you (?:can )?see|is|there is|lies) (?P<what>{NAME}){_APPOSITION}{STOP}",
    re.IGNORECASE,
)
VIEW_OF_YOU = re.compile(
    rf"(?P<door>(?!))?(?P<way>\w+) of (?:you|me),? (?:is|lies|you (?:can )?see) "
    rf"(?P<what>{NAME}){_APPOSITION}{STOP}",
    re.IGNORECASE,
)
"""A place in view: *north of you is the hallway*."""
DOOR_IN_VIEW = re.compile(
    rf"(?:[Tt]here(?: is|'s)|[Yy]ou see) (?P<door>{ARTICLE} (?:(?! and ){LETTER})+?),? "
    rf"(?:(?:that |which )?lead(?:s|ing) )?(?:(?:to|on|in|at) (?:the|your) )?(?P<way>\w+)"
    rf"(?: (?:side|wall|end)(?: of (?:the|this) \w+)?)?(?:, which\b[^.!?]*)?{STOP}",
    re.IGNORECASE,
)
DOOR_LIES = re.compile(
    rf"(?P<door>{ARTICLE} {NAME}) (?:is|lies|stands) (?:to|on|in) the (?P<way>{COMPASS})"
    rf"(?: wall| side)?{STOP}"
)
WAY_TO = re.compile(
    rf"(?:{YOU} (?:can|may) )?(?:follow|take) {ARTICLE} [\w' -]*?\b(?:{WAYS})"
    rf"(?: back| down| up| on)? to (?P<place>(?:the )?{NAME}){STOP}",
    re.IGNORECASE,
)
"""A way to a place, without a direction: *follow the lane to the mill*."""
EXITS_TO = re.compile(
    rf"[Tt]here (?:is an exit|are exits) (?:leading )?to (?P<places>(?:the|an?) [^.!?;:]+){STOP}"
)
"""Ways to named places: *there are exits to a kitchen and a hall*."""
ALL_WAYS = re.compile(
    r"(?:There are |You see )?(?P<ways>(?:exits|paths|passages|doors|roads|tunnels|corridors) "
    rf".*\ball four (?:directions|sides|walls)){STOP}",
    re.IGNORECASE,
)
_RELATIVE_CLAUSE = re.compile(r"\b(?:which|that) (?:is|are) .*")
_DIRECTION_WORDS = frozenset(DIRECTIONS)
_COMPASS_POINTS = ("north", "south", "east", "west")


def read_view(draft: Scene, found: re.Match[str]) -> bool:
    """Read a place or a door in a direction."""
    direction = found["way"].lower()
    if direction not in DIRECTIONS:
        return False
    if found.group().startswith("Through ") and not is_passable(found["door"]):
        return False  # through the trees
    if (clause := _RELATIVE_CLAUSE.search(found.group())) and BARRED.search(clause[0]):
        return False
    draft.has_exit(direction, *found.span("way"))
    for group in ("door", "what") if "what" in found.groupdict() else ("door",):
        for phrase in find_things(draft, found[group] or "", found.start(group)):
            named = found[group].lower().startswith("the ")  # a place, not an opening
            if not named and is_passable(phrase.name) and not is_door(phrase.name):
                continue
            through = "lead" in found.group() or found.group().startswith("Through")
            if (group == "door" and through) or is_door(phrase.name):
                draft.add(draft.room, door_relation(direction), phrase.name, *found.span(group))
                draft.describe(phrase)
            else:
                draft.add(phrase.name, seen_relation(direction), draft.room, *found.span(group))
    return True


def read_door(draft: Scene, found: re.Match[str]) -> bool:
    """Read where a door is."""
    return is_door(clean_name(found["door"])) and read_view(draft, found)


def read_way_to(draft: Scene, found: re.Match[str]) -> bool:
    """Read a way to a place as an exit with the name of the place."""
    name = place_name(found["place"])
    if is_name(name) and not any(word in DIRECTIONS for word in name.split()):
        draft.has_exit(name, *found.span("place"))
        return True
    return False


def read_exits_to(draft: Scene, found: re.Match[str]) -> bool:
    """Read exits with the names of places; return False for directions."""
    things = things_in(found["places"], bare=False)
    if not things or not _DIRECTION_WORDS.isdisjoint(found["places"].lower().split()):
        return False
    for thing in things:
        draft.has_exit(thing.name, *found.span("places"))
    return True


def read_all_ways(draft: Scene, found: re.Match[str]) -> None:
    """Read exits in all four directions."""
    for way in _COMPASS_POINTS:
        draft.has_exit(way, *found.span("ways"))
