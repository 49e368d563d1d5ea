"""Labels and their kinds: of a place, of exits, of carried things, of things here and others."""

from __future__ import annotations

import re
from functools import lru_cache

from gym_memory.extract.notes.words import PEOPLE
from gym_memory.extract.wording import either
from gym_memory.graph.schema import DIRECTIONS

__all__ = ["CARRIED", "EXITS", "GAINED", "HERE", "HOLDER", "LOST", "PLACE", "STATE"]
__all__ += ["CONTENTS", "LABEL", "WITHIN", "kind_of_label"]

PLACE, EXITS, CARRIED, GAINED, LOST = "place", "exits", "carried", "gained", "lost"
HERE, HOLDER, STATE = "here", "holder", "state"
"""Kinds of labels: the place, exits, all carried things, things gained and lost, things here, the
contents of a thing, and any other value."""
LABEL = re.compile(
    r"(?P<label>(?:[A-Za-z]|\$(?=:))[\w'/]*(?:\.[A-Za-z][\w]+)*(?:,?[ -][\w'/]+){0,11})"
    r"(?: \([^()\n]{1,60}\))?[ \t]*"
    r"(?:(?:\*\*|__)[ \t]*)?"
    r"(?::(?!//)(?!(?<=\d:)\d\d\b)|=>?|->|\|)[ \t]*(?:(?:\*\*|__)[ \t]*)?(?P<value>[^\n]*)"
)
_THINGS = either("things_listed")
_INVENTORY = r"(?:your |my |the )?(?:inventory|backpack|bag|pack|pockets?)"
_DIRECTION = rf"(?:{'|'.join(DIRECTIONS)}) "
_KINDS = re.compile(
    "|".join(f"(?P<{kind}>{words})" for kind, words in (
        (PLACE, r"(?:(?:your|my|the|current|agent|player)(?:'s)? ){0,2}"
                r"(?:loc(?:ation)?|room|place|area|position|zone|region|scene|setting)(?: name)?"
                r"|(?:you|i)(?:'re|'m| are| am)(?: (?:now|currently|located|standing)){0,2}"
                r"(?: (?:here|in|at))?"
                r"|(?:(?:you|i)(?: have|'ve)? )?(?:now (?:at|in)|entered|arrived (?:at|in)|reached"
                r"|(?:moved|went|travell?ed) to)|where"),
        (EXITS, rf"(?:there (?:are|is) )?(?:(?!{_DIRECTION})[a-z]+ ){{0,2}}"
                r"(?:exits?|paths|ways|ways? (?:out|on|off))"
                r"(?: (?:are|here|(?:of|from) (?:the )?[\w' -]+))?"
                r"|doors|(?:connects?|connected|leads?) to|neighbou?rs|[a-z]+ directions"
                r"|(?:from here )?you can (?:go|move|travel|walk)(?: to)?"
                r"|(?:neighbou?ring|nearby|connected|adjacent|reachable|linked)"
                r" (?:areas?|locations?|rooms?|places?)"),
        (CARRIED, r"(?:in )?(?:(?:your|my|the|current|agent|player)(?:'s)? ){0,2}inv(?:entory)?"
                  r"(?:,? you see| contains)?"
                  r"|(?:(?:you|i)(?:'re|'m| are| am) |(?:agent|player) (?:is )?)?"
                  r"(?:now |currently )?(?:carrying|holding|wearing|wielding|using)"
                  r"(?: the following(?: \w+)?)?"
                  r"|(?:you|i) (?:now )?(?:have|carry|hold|wear|wield|possess|own)"
                  r"(?: the following(?: \w+)?)?"
                  r"|(?:(?:items|things) )?(?:held|carried|worn|wielded|equipped)"
                  r"(?: (?:items?|things?|objects?))?"
                  r"|(?:(?:your|my|robot|agent)(?:'s)? )?(?:gripper|hands|left hand|right hand)"
                  r"|in your (?:hands?|pockets?|bag|possession)"
                  r"|(?:your )?(?:backpack|rucksack|satchel|bag|pack)"
                  r"(?: (?:contains|holds)(?: \d+(?: of \d+)?(?: items| things)?)?)?"),
        (GAINED, r"(?:(?:you|i)(?: have|'ve)? )?"
                 r"(?:(?:gain|receive|get|obtain|acquire|find|earn|take)(?:ed|d)?"
                 r"|got|found|took|pick(?:ed)? up|gained|obtained)"
                 r"(?: the following(?: \w+)?)?|new items?"
                 r"|(?:items? )?(?:gained|received|acquired|obtained|found|added|taken)"
                 rf"(?: to {_INVENTORY})?"),
        (LOST, r"(?:(?:you|i) )?(?:lose|lost|used up|no longer (?:have|carry|hold))"
               r"|(?:items? )?(?:lost|removed)"
               rf"|(?:items? )?(?:removed|lost|taken) from {_INVENTORY}"),
        (HERE, rf"(?:(?:(?:in|on|at|inside|after) [\w' -]+|around (?:you|me)),? )?"
               r"(?:you|i) (?:can )?(?:also )?(?:see|notice|find)"
               rf"(?: here| the following(?: \w+)?| \d+ {_THINGS})?"
               r"|(?:\w+ )?things? (?:catch|draw|attract)(?:es|s)? your (?:eye|attention)"
               r"|who(?:'s| is) here"
               r"|visible|nearby|present|also (?:here|present|nearby)|contents|(?:in )?view"
               r"|in sight|sees?|seen(?: here)?"
               rf"|(?:there are (?:some |several |many )?)?"
               rf"(?:(?:visible|nearby|other|present|available|mundane|interesting) )?{_THINGS}"
               r"(?: (?:here|nearby|in view|present|on the map|around(?: (?:you|me))?"
               r"|(?:in|on) (?:the |this )?"
               r"(?:room|area|location|place|floor|ground|tile|square|spot)"
               r"|(?:that )?you (?:can )?see)){0,2}|here|on the (?:ground|floor)"),
        (HOLDER, r"(?:(?:on|in|inside) )?(?:the |your )?[\w', -]+?"
                 r" (?:contains?|holds?|consists? of)(?: the following(?: \w+)?)?"
                 r"|(?:on|in|inside|under) (?:(?:the|a|an) [\w'-]+(?: [\w'-]+){0,3}|it)"
                 r"|inside|within"
                 r"|contents of [\w' -]+"),
    )), re.IGNORECASE,
)  # fmt: skip
_WORD_BOUNDARY = re.compile(r"[_.]|(?<=[a-z])(?=[A-Z])")
"""Boundaries between the words of an identifier."""
CONTENTS = r"(?:,? (?:that|which)\b| (?:contains?|holds?|consists? of)\b).*"
"""Regular expression for the words after a holder in a label."""
WITHIN = re.compile(r"(?:in|at|inside) (?=(?:the|an?) )")
"""Preposition before the name of a place."""


_OWNER = re.compile(
    r"(?:the|this) (?:(?P<room>room|place|area|location)|player|character) (?:has|have) "
    r"(?:this |these |the following )?(?=(?:item|object|thing|exit|creature|character)s?$)",
    re.IGNORECASE,
)
"""Words before what a room or the player has: *this room has these items*."""


@lru_cache(maxsize=1024)
def kind_of_label(label: str) -> str:
    """Return the kind of a label."""
    words = _WORD_BOUNDARY.sub(" ", label).removeprefix("What ")
    owner = _OWNER.match(words) if " has " in words or " have " in words else None
    if owner is not None:
        words = words[owner.end() :] if owner["room"] else "carrying"
    if words[-1:] in "sS" and words[:-1].lower() in PEOPLE:
        return HERE
    found = _KINDS.fullmatch(words)
    return STATE if found is None else found.lastgroup or STATE
