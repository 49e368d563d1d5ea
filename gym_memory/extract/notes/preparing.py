"""Words for what is done to food, what with, and whether a sentence asks for it or forbids it.

A game knows three ways to cut and three ways to heat; people have more words for them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from gym_memory.extract.notes.nouns import word_set
from gym_memory.extract.notes.phrases import head_noun

__all__ = [
    "APPLIANCES",
    "BLADES",
    "CUTS",
    "HEATS",
    "Deed",
    "deeds",
    "is_reproach",
    "is_tool",
    "preparation",
]

CUTS = {"chopped": "chop", "sliced": "slice", "diced": "dice"}
HEATS = {"fried": "frying", "roasted": "roasting", "grilled": "grilling"}
"""States of food, with the verb that makes them and with what appliances are used for."""
APPLIANCES = {
    "frying": (
        "stove", "hob", "cooktop", "stovetop", "cooker", "range", "pan", "fryer", "skillet", "wok",
        "hotplate", "burner", "ring", "griddle", "saucepan",
    ),
    "roasting": ("oven", "roaster", "furnace", "kiln", "tandoor", "rotisserie", "aga"),
    "grilling": (
        "bbq", "barbecue", "barbeque", "grill", "toaster", "griller", "broiler", "smoker",
        "brazier", "hibachi", "campfire", "grate", "spit", "firepit", "pit", "barbie",
    ),
}  # fmt: skip
"""What people use; a text that says otherwise overrules it. The likeliest nouns come first."""
BLADES = (
    "knife", "cleaver", "blade", "machete", "slicer", "chopper", "dagger", "scalpel", "shears",
    "scissors", "razor", "mandoline", "mandolin", "santoku", "ulu", "hatchet", "axe", "saw",
)  # fmt: skip

_HYPHEN = r"(?:[a-z]+-)?"
_VERBS = {
    "chopped": r"chop(?:s|p\w+)?|minc(?:e|es|ed|ing)",
    "sliced": r"slic(?:e|es|ed|ing)|julienn(?:e|es|ed|ing)",
    "diced": r"dic(?:e|es|ed|ing)|cub(?:e|es|ed|ing)",
    "fried": r"fr(?:y|ies|ied|ying)|saut[eé](?:s|ed|ing|ed|eed|eing)?|sear(?:s|ed|ing)?"
    r"|brown(?:s|ed|ing)?",
    "roasted": r"roast(?:s|ed|ing)?|bak(?:e|es|ed|ing)",
    "grilled": r"grill(?:s|ed|ing)?|barbecu(?:e|es|ed|ing)|broil(?:s|ed|ing)?",
}
_PREPARING = re.compile(
    rf"(?:un-?)?{_HYPHEN}(?:"
    + "|".join(f"(?P<{state}>{words})" for state, words in _VERBS.items())
    + ")"
)
_PIECES = {
    "slices": "sliced", "rounds": "sliced", "strips": "sliced", "rings": "sliced",
    "cubes": "diced", "dice": "diced",
    "pieces": "chopped", "chunks": "chopped", "bits": "chopped", "lumps": "chopped",
}  # fmt: skip
"""What something is cut *into*."""
_CUTTING = ("cut", "cuts", "cutting", "carve", "carved", "carving")
_NOUNS = ("brown", "cube", "bake", "mince", "grill", "roast", "barbecue", "dice", "fry")
_BEFORE_NOUNS = ("the", "a", "an", "on", "in", "until", "golden")
"""Words that name or describe something, and what stands before them then."""

_DENIES = word_set(
    "not never no avoid without cannot nobody refrain instead skip neither nor unnecessary"
)
_DENIES_WITH = word_set("nothing none nowhere forbid forbids")
"""What denies in a pair with another word: *nothing comes of a leek that nobody has diced*."""
_FORBIDS = ("don't", "don’t", "never", "without", "instead")
_BAD = re.compile(
    r"mistakes?|shame|crime|sins?|ruin(?:s|ed)?|spoil(?:s|ed|t)?|fool(?:s|ish)?|wrong|errors?|pity"
    r"|wast(?:e|es|ed)|fail(?:s|ed)|useless|worthless|hopeless|pointless|inedible|unthinkable"
    r"|regret(?:s|ted)?|sorry|worse|dreadful|awful|terrible|disaster|unforgivable|hungry|trouble"
    r"|forbid(?:s|den)?|los(?:e|es|t)|angry|blame|complains?"
)
"""What is said of leaving undone what should be done."""
_ACCEPTS = word_set("fine good better best ok okay right nicer allowed perfect may prefer")
_ALLOWS = word_set(
    """
    forget fail neglect omit hesitate skip only just leave leaving stop resist till other otherwise
    except
    """
)
"""What makes a request of a denial: *do not forget to*, *not only*."""
_NEW_CLAUSE = frozenset(
    (",", ";", ":", "?", "but", "until", "unless", "till", "before", "when", "if")
)
_LATER = frozenset(("until", "unless", "till", "before", "itself", "themselves"))
"""*Do not fry it until it is chopped*: it is to be fried then. *It won't fry itself*."""
_STAYS = word_set(
    "leave left stay stays staying remain remains keep kept may serve served use rather"
)


class Deed(NamedTuple):
    """What is done to food, and where the word for it stands.

    Attributes:
        state: The state that it leaves.
        at: Position of the word in its sentence.
        leads: Whether it is a verb before its object: *chop it*, *chopping it*.
        denied: Whether the sentence says that it is not to be done.
    """

    state: str
    at: int
    leads: bool
    denied: bool


def preparation(word: str) -> str:
    """The state that a word for preparing food names; empty for any other word.

    >>> preparation("chopping"), preparation("unsliced"), preparation("pan-fried")
    ('chopped', 'sliced', 'fried')
    """
    found = _PREPARING.fullmatch(word.lower())
    return found.lastgroup or "" if found else ""


def is_tool(name: str) -> bool:
    """Whether a thing is called like what food is cut with or heated on."""
    noun = head_noun(name)
    return noun in BLADES or any(noun in nouns for nouns in APPLIANCES.values())


def is_reproach(word: str) -> bool:
    """Whether a word speaks ill of something: *shame*, *mistake*."""
    return _BAD.fullmatch(word) is not None


def deeds(words: Sequence[str], named: Collection[int] = ()) -> list[Deed]:
    """What a sentence says is done, in its order.

    Args:
        words: Its words and marks, in lower case.
        named: Positions of words that are part of the name of a thing.

    >>> words = "do not fry it , but cut it into cubes".split()
    >>> [(deed.state, deed.denied) for deed in deeds(words)]
    [('fried', True), ('diced', False)]
    """
    return list(_deeds(words, named))


def _deeds(words: Sequence[str], named: Collection[int]) -> Iterator[Deed]:
    for at, word in enumerate(words):
        if at in named:
            continue
        state = _pieces(words, at) or preparation(word)
        before = words[at - 1] if at else ""
        if not state or (word in _NOUNS and before in _BEFORE_NOUNS):
            continue
        later = range(at + 1, len(words))
        if word.startswith("chop") and any(_pieces(words, i) for i in later):
            continue  # into cubes
        leads = not (word.endswith("ed") or state == word)
        yield Deed(state, at, leads, _is_denied(words, at, named))


def _pieces(words: Sequence[str], at: int) -> str:
    """The state of what is cut into such pieces; empty for another word."""
    state = _PIECES.get(words[at], "")
    if not state or "into" not in words[max(0, at - 3) : at]:
        return ""
    verbs = [w for w in words[:at] if w in _CUTTING or preparation(w) in CUTS]
    own = preparation(verbs[-1]) if verbs else ""
    return "" if not verbs or own in ("sliced", "diced") else state


def _is_denied(words: Sequence[str], at: int, named: Collection[int]) -> bool:
    start = max((i + 1 for i in range(at) if words[i] in _NEW_CLAUSE), default=0)
    denials = [i for i in range(start, at) if _denies(words[i])]
    if words[at].startswith("un"):
        supposed = words[start - 1 : start] == ["if"] and _ACCEPTS.isdisjoint(words)
        left = not (denials or supposed or _STAYS.isdisjoint(words))
        return left and not _is_deplored(words, at)
    if not denials or not _ALLOWS.isdisjoint(words[denials[-1] : at]):
        return False
    asks_why = words[: denials[-1]][-1:] == ["why"]
    if asks_why or not _LATER.isdisjoint(words[at:]):
        return False
    done = (i + 1 for i in range(start, at) if i not in named and preparation(words[i]))
    if _takes_back(words[max(done, default=start) : at]):
        return False
    return not _is_no_option(words, start, denials[-1], at)


def _denies(word: str) -> bool:
    return word in _DENIES or word.endswith(("n't", "n’t"))


def _takes_back(words: Sequence[str]) -> bool:
    """Whether one denial takes back another: *you cannot go on without dicing it*."""
    said = [word for word in words if _denies(word) or word in _DENIES_WITH]
    paired = "neither" in said and "nor" in said
    return bool(said) and (len(said) - paired) % 2 == 0


def _is_no_option(words: Sequence[str], start: int, denial: int, at: int) -> bool:
    """Whether a sentence supposes that something is not done, and holds that against it."""
    before = words[max(start, denial - 2) : denial]
    opens = words[start - 1] if start else ""
    if opens in ("if", "when") or "who" in before:
        return _ACCEPTS.isdisjoint(words) or _is_deplored(words, at)
    supposed = (
        words[denial] == "without"
        or words[denial + 1 : denial + 2] == ["to"]
        or words[denial + 1].endswith("ing")
        or not {"that", "which"}.isdisjoint(before)
    )
    return supposed and _is_deplored(words, at)


def _is_deplored(words: Sequence[str], at: int) -> bool:
    """Whether a sentence speaks ill of something, or denies what would follow from it."""
    later = [i for i in range(at + 1, len(words)) if _denies(words[i])]
    finite = (i for i in later if words[i] not in _FORBIDS and words[i - 1] != "do")
    return any(map(is_reproach, words)) or any(finite)
