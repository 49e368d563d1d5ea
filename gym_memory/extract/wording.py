"""Parts that the forms of sentences share: where things are, and verbs of lying and seeing."""

from __future__ import annotations

from gym_memory.core.text import letter_words

__all__ = [
    "BE",
    "BY",
    "ENDS_OF_HERE",
    "HERE",
    "HERE_WORDS",
    "LEADS",
    "LIE",
    "ON_IN",
    "POSED",
    "SEE",
    "STOP",
]
__all__ += ["THINGS"]

THINGS = r"[^.!?:;\n]+?"
STOP = r"[.!]*[\"']?$"
_FLOOR = r"(?:on|upon) the (?:floor|ground)"
HERE = (
    rf"(?:here|there|nearby|near(?:by)? (?:you|me|us)|around (?:you|me|us)|{_FLOOR}"
    r"|in (?:the|this) (?:room|area)|"
    r"in (?:the|a|one) (?:corner|cent(?:er|re)|middle)(?: of (?:the|this) room)?"
    r"|against (?:the|a|one) wall)"
)
ENDS_OF_HERE = (
    *("here", "nearby", " you", " me", " us", "floor", "ground", "room", "area", "corner"),
    *("center", "centre", "middle", "wall"),
)
"""Ends of :data:`HERE`."""
HERE_WORDS = frozenset(
    letter_words(
        "here there nearby near around floor ground room area corner center centre middle wall "
        "above against among at behind below beneath beside between by front next"
    )
)
"""Words without one of which a sentence says of nothing that it is here or close to a thing."""
POSED = (
    r"(?:lying|sitting|standing|resting|hanging|leaning|sleeping|waiting|mounted|placed|put|inserted"
    r"|discarded|left|dropped|shining|glowing|burning|floating|nestled|perched|wedged|tucked"
    r"|hidden|stuck|curled(?: up)?|coiled(?: up)?|seated|asleep|propped(?: up)?|piled(?: up)?"
    r"|stacked|draped|balanced)"
)
BE = r"(?:is|are|has been|have been)"
LIE = r"(?:lies?|lay|stands?|stood|sits?|sat|rests?|hangs?|hung|waits?|sleeps?|leans?|leant|burns?)"
BY = (
    r"(?:above|over|against|among|at|behind|below|beneath|beside|between|by|in front of|near"
    r"|next to"
    r"|(?:on|in)(?= (?:the|a|one) (?:far |other |near )?(?:corner|side|end|middle))"
    r"|(?:to|on|at)(?= (?:the|your) (?:left|right|rear|front)))"
)
"""Prepositions before a thing that another one is close to."""
ON_IN = r"(?:on top of|in(?:side)?|on|under(?:neath)?|upon)"
LEADS = (
    r"(?:leads?|led|goes|runs?|winds?|climbs?|opens?|heads?|descends?|slopes?|continues?|twists?)\b"
)
SEE = r"(?:see|notice|spot|find|discover|observe|spy|make out|unearth|turn up|come across"
SEE += r"|uncover(?= an? ))"
