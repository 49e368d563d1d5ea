"""Text inside TextWorld games: recipes, notes, and what the goal explains.

A note is kept whole (``note | says | ...``), with the things that it names (``note | mentions |
red locker``) and the facts that it tells: which key opens what, where something stands, which
appliance does what.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gym_memory.games.textworld.rules_recipes import told_uses
from gym_memory.memory.extract.base import Mention
from gym_memory.memory.extract.named import KindOf
from gym_memory.memory.extract.phrases import clean_name, head_noun
from gym_memory.memory.extract.sentences import sentences
from gym_memory.memory.extract.statements import Told, read_statements
from gym_memory.types import Triple

__all__ = ["is_described", "is_note", "is_readable", "read_note", "read_recipe", "tells_of_locks"]
__all__ += ["told", "told_of_cooking"]

RECIPE = "recipe"

_CUTS = {"chop": "chopped", "slice": "sliced", "dice": "diced"}
_HEATS = {"fry": "fried", "roast": "roasted", "grill": "grilled"}
_HEATING = {"fry": "frying", "roast": "roasting", "grill": "grilling"}

# Recipes

_INGREDIENTS = re.compile(
    r"^[ \t]*Ingredients:[ \t]*\n(?P<list>(?:(?!\s*Directions:)[ \t]*[^\s].*\n?)+)",
    re.MULTILINE,
)
_DIRECTIONS = re.compile(r"^[ \t]*Directions:[ \t]*\n(?P<list>(?:[ \t]*[^\s].*\n?)+)", re.MULTILINE)
_DIRECTION = re.compile(r"(?P<verb>[a-z]+) (?:the )?(?P<name>[^\n]{1,80})", re.IGNORECASE)
_LINE = re.compile(r"[^\s][^\n]*")


def read_recipe(text: str) -> tuple[Mention, ...]:
    """Ingredients and directions of a recipe; empty where there is none."""
    ingredients = _INGREDIENTS.search(text)
    if ingredients is None:
        return ()
    mentions = []
    for line in _LINE.finditer(text, *ingredients.span("list")):
        name = clean_name(line.group())
        mentions.append(Mention(Triple(RECIPE, "requires", name), *_trimmed(line)))
    directions = _DIRECTIONS.search(text, ingredients.end())
    for line in _LINE.finditer(text, *directions.span("list")) if directions else ():
        step = _DIRECTION.match(line.group())
        state = {**_CUTS, **_HEATS}.get(step["verb"].lower()) if step else None
        if step is not None and state is not None:
            name = clean_name(step["name"])
            mentions.append(Mention(Triple(name, "needs to be", state), *_trimmed(line)))
    return tuple(mentions)


def _trimmed(line: re.Match[str]) -> tuple[int, int]:
    return line.start(), line.start() + len(line.group().rstrip())


# Notes

_READABLE = re.compile(
    r"(?:foot)?notes?|letters?|messages?|memo(?:randum)?s?|papers?|pages?|signs?|posters?|scrolls?"
    r"|diary|journal|maps?|labels?|plaques?|tablets?|leaflets?|flyers?|newspaper|inscription|riddle"
    r"|clues?|hints?|(?:note|text|guide|log|cook|hand|hymn)?books?|novel|manuscript|poem|parchment"
    r"|pamphlet|brochure|postcard|telegram|receipt|ledger|missive|epistle|notice|placard|document"
    r"|instructions?|script|folder|recipes?|binder|guide|manual|slip|ticket|tag|chart|dispatch|bulletin|reminder|almanac|booklet|notepad"
    r"|cards?|envelopes?|sheets?|scraps?|stickers?"
)
_REFUSED = re.compile(
    r"You (?:can't|cannot|see nothing)|That's not|I didn't|I only|What do you want"
    r"|Which do you mean|There is nothing"
)


def is_readable(name: str) -> bool:
    """Whether a thing is called like something that has text on it.

    >>> is_readable("note 2"), is_readable("cookbook"), is_readable("notepad holder")
    (True, True, False)
    """
    return _READABLE.fullmatch(head_noun(name)) is not None


def is_described(name: str, text: str) -> bool:
    """Whether ``text``, the answer to examining ``name``, says how it looks."""
    text = text.strip().lower()
    return text.startswith((f"the {name}", "it's a", "that's a", "it is what it is"))


def is_note(name: str, text: str, kind_of: KindOf = lambda name: None) -> bool:
    """Whether ``text``, the answer to examining ``name``, is something written on it."""
    text = text.strip()
    if not text or is_described(name, text) or _REFUSED.match(text):
        return False
    return tells_of_locks(text, kind_of) or is_readable(name)


def tells_of_locks(text: str, kind_of: KindOf) -> bool:
    """Whether a text says what opens something."""
    return any(mention.triple.relation == "opens" for mention in told(text, kind_of).facts)


def read_note(name: str, text: str, kind_of: KindOf) -> tuple[Mention, ...]:
    """A note: its text, the facts that it tells and the things that it mentions.

    Args:
        name: The note.
        text: What it says.
        kind_of: What is known of a name; None for that of nothing seen before.
    """
    facts, names = told(text, kind_of, note=True)
    named = dict(names)
    for phrase, *span in _phrases(text, lambda word: kind_of(word) is not None):
        named.setdefault(phrase, (span[0], span[1]))
    named.pop(name, None)
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    whole = Mention(Triple(name, "says", " ".join(text.split())), start, end)
    mentions = (Mention(Triple(name, "mentions", word), *at) for word, at in named.items())
    return (whole, *mentions, *facts)


def _phrases(text: str, known: Callable[[str], bool]) -> Iterator[tuple[str, int, int]]:
    """Known names of up to four words in a text, the longest where several begin."""
    words = [(word.group().lower(), *word.span()) for word in _WORD.finditer(text)][:_MOST_WORDS]
    i = 0
    while i < len(words):
        for length in (4, 3, 2, 1) if words[i][0] not in _ARTICLES else ():
            phrase = " ".join(word for word, _, _ in words[i : i + length])
            if i + length <= len(words) and known(phrase):
                yield phrase, words[i][1], words[i + length - 1][2]
                i += length - 1
                break
        i += 1


# Facts told in words

_MOST_WORDS = 300
_MAX_TOLD_CHARS = 10_000
_WORD = re.compile(r"[\w'-]+")
_ARTICLES = ("a", "an", "the", "some")
_PREPARE = re.compile(
    r"\bmeal\b(?! (?!in\b|only\b|is\b|can\b|must\b|should\b|has\b|will\b|may\b|be\b)\w)"
    r"[^.\n]{0,40}? (?:only )?in (?:the )?(?P<place>[\w'-]+(?: [\w'-]+){0,3}?)"
    r"(?=[.,;:!?\n]|$| (?:and|once|when|after|before|to)\b)",
    re.IGNORECASE,
)
_APPLIANCE = re.compile(
    r"\b(?:(?P<stove>stove|oven|bbq|barbecue|barbeque|toaster)|(?P<verb>fr(?:y|ies|ying)"
    r"|roast(?:s|ing)?|grill(?:s|ing)?))\b",
    re.IGNORECASE,
)


def told(text: str, kind_of: KindOf = lambda name: None, *, note: bool = False) -> Told:
    """Lasting facts that a goal or a note states in words.

    Args:
        text: The text.
        kind_of: What is known of a name.
        note: Whether it is a note, which is of one matter.
    """
    text = text[:_MAX_TOLD_CHARS]
    facts, names = read_statements(text, kind_of, note=note)
    facts = tuple(m for m in facts if m.triple.subject != "meal")
    return Told((*facts, *told_of_cooking(text)), names)


def told_of_cooking(text: str, kind_of: KindOf | None = None) -> tuple[Mention, ...]:
    """Where a meal is prepared, and which appliance does what.

    Args:
        text: The text.
        kind_of: What is known of a name, for a text that may speak of appliances by any name.
    """
    facts: dict[Triple, tuple[int, int]] = {}
    for found in _PREPARE.finditer(text[:_MAX_TOLD_CHARS]):
        place = clean_name(found["place"])
        facts.setdefault(Triple("meal", "is prepared in", place), found.span("place"))
    if kind_of:
        for fact, start, end in told_uses(text[:_MAX_TOLD_CHARS], kind_of):
            facts.setdefault(fact, (start, end))
    told = {fact.object for fact in facts}
    uses = _appliances(text[:_MAX_TOLD_CHARS])
    facts.update((fact, span) for fact, span in uses if fact.object not in told)
    return tuple(Mention(fact, *span) for fact, span in facts.items())


def _appliances(text: str) -> Iterator[tuple[Triple, tuple[int, int]]]:
    """Pairs of an appliance and what it does, in whichever order they come."""
    for sentence, offset in sentences(text):
        stove: re.Match[str] | None = None
        verb = ""
        for word in _APPLIANCE.finditer(sentence):
            if word["stove"]:
                stove = word
            else:
                stem = next(v for v in _HEATING if word["verb"].lower().startswith(v[:2]))
                verb = _HEATING[stem]
            if stove is not None and verb:
                fact = Triple(clean_name(stove.group()), "used for", verb)
                yield fact, (offset + stove.start(), offset + stove.end())
                stove, verb = None, ""
