"""Words and patterns that the forms of sentences share, with the word lists of wording.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from gym_memory.core.text import letter_words

__all__ = ["ARE", "BE", "BY", "CLOSE", "ENDS_OF_HERE", "HERE", "HERE_WORDS", "LEADS", "LETTER"]
__all__ += ["LIE", "ON_IN", "POSED", "SEE", "STOP", "THINGS", "YOU", "either", "phrases"]
__all__ += ["word_group"]

_GROUPS = tomllib.loads(Path(__file__).with_name("wording.toml").read_text(encoding="utf-8"))


def phrases(group: str) -> tuple[str, ...]:
    """Return the words and phrases of a group, in order."""
    return tuple(" ".join(phrase.split()) for phrase in _GROUPS[group].split(","))


def either(group: str) -> str:
    """Return a regular expression for any one of the phrases of a group."""
    return f"(?:{'|'.join(phrases(group))})"


def word_group(group: str) -> frozenset[str]:
    """Return the words of a group, with and without each letter that is optional."""
    forms = ((word.replace("?", ""), re.sub(r".\?", "", word)) for word in phrases(group))
    return frozenset(form for both in forms for form in both)


YOU = r"(?:You|I|We)"
ARE = r"(?:'re| are|'m| am)"
THINGS = r"[^.!?:;\n]+?"
LETTER = r"[^.,;:!?()\[\]\"\n]"
"""A character of a name."""
STOP = r"[.!]*[\"']?$"
_FLOOR = r"(?:on|upon) the (?:floor|ground)(?: (?:next to|beside|by|before) (?:you|me)| here)?"
HERE = (
    rf"(?:here|there|nearby|near(?:by)? (?:you|me|us)|around (?:you|me|us)|{_FLOOR}"
    r"|(?:in|(?:all )?around|throughout) (?:the|this) (?:room|area)|"
    r"in (?:the|a|one) (?:corner|cent(?:er|re)|middle)(?: of (?:the|this) (?:\w+ )?room)?"
    r"|at (?:the|one) (?:cent(?:er|re)|back|front|rear|far end)"
    r"|against (?:the|a|one) wall)"
)
ENDS_OF_HERE = (
    *("here", "nearby", " you", " me", " us", "floor", "ground", "room", "area", "corner"),
    *("center", "centre", "middle", "wall", "back", "front", "rear", "end"),
)
"""Endings for a fast test: every match of :data:`HERE` has one of them."""
HERE_WORDS = frozenset(
    letter_words(
        "here there nearby near around floor ground room area corner center centre middle wall "
        "above against among at behind below beneath beside between by front next"
    )
)
"""Words for a fast test: every match of :data:`HERE` or :data:`BY` has one of them."""
POSED = either("posed")
BE = r"(?:is|are|has been|have been)"
LIE = r"(?:lies?|lay|stands?|stood|sits?|sat|rests?|hangs?|hung|waits?|sleeps?|leans?|leant|burns?"
LIE += r"|squats?|looms?|perches|nestles|kneels?|knelt|crouches|slumps?|sprawls?)"
CLOSE = (
    *("above", "over", "against", "along", "among", "at", "behind", "below", "beneath", "beside"),
    *("between", "by", "in front of", "near", "next to"),
)
BY = (
    rf"(?:{'|'.join(CLOSE)}"
    r"|(?:on|in)(?= (?:the|a|one) (?:far |other |near )?(?:corner|side|end|middle))"
    r"|(?:to|on|at)(?= (?:the|your) (?:left|right|rear|front)))"
)
"""Prepositions for a thing close to another, *beside the door*, and with a side, *on the left*."""
ON_IN = r"(?:on top of|in(?:side)?(?! front of)|on|under(?:neath)?|upon)"
LEADS = (
    r"(?:leads?|led|goes|runs?|winds?|climbs?|opens?|heads?|descends?|slopes?|continues?|twists?)\b"
)
SEE = r"(?:see|notice|spot|find|discover|observe|spy|make out|unearth|turn up|come across"
SEE += r"|uncover(?= an? ))"
