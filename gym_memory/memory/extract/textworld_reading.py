"""Text inside TextWorld games: recipes, notes, and what the goal explains.

A note is kept whole (``note | says | ...``), with the things that it names (``note | mentions |
red locker``) and the facts that it tells: which key opens what, where something stands, which
appliance does what.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gym_memory.memory.extract.base import Mention
from gym_memory.memory.extract.phrases import clean_name
from gym_memory.memory.extract.reading import sentences
from gym_memory.types import Triple

__all__ = ["is_note", "read_note", "read_recipe", "told"]

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
    r"\b(?:notes?|letter|message|memo|papers?|page|sign|poster|scroll|diary|journal|map|label|plaque"
    r"|leaflet|newspaper|inscription|riddle|clue|hint|(?:note|text|guide|log)?book|novel|manuscript"
    r"|poem)\b"
)
_REFUSED = re.compile(
    r"You (?:can't|cannot|see nothing)|That's not|I didn't|I only|What do you want"
    r"|Which do you mean|There is nothing"
)


def is_note(name: str, text: str) -> bool:
    """Whether ``text``, the answer to examining ``name``, is something written on it."""
    text = text.strip()
    described = text.lower().startswith((f"the {name}", "it's a", "that's a", "it is what it is"))
    if not text or described or _REFUSED.match(text):
        return False
    tells = any(mention.triple.relation == "opens" for mention in told(text))
    return tells or _READABLE.search(name) is not None


def read_note(name: str, text: str, known: Callable[[str], bool]) -> tuple[Mention, ...]:
    """A note: its text, the facts that it tells and the things that it mentions.

    Args:
        name: The note.
        text: What it says.
        known: Whether a name is one of an entity seen before.
    """
    named: dict[str, tuple[int, int]] = {}
    facts = told(text, named)
    for phrase, *span in _phrases(text, known):
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
_LONGEST_TOLD = 10_000
_WORD = re.compile(r"[\w'-]+")
_ARTICLES = ("a", "an", "the", "some")
_LINKS = "and|in|within|inside|on|there|with|using|to|once|when|after|before"
"""Words that end a name."""
_PLAIN = rf"(?!(?:{_LINKS}|the|that|is|opens?|stands|lies)\b)[\w'-]+"
_NP = rf"{_PLAIN}(?: {_PLAIN}){{0,3}}?"
_STOP = rf"(?=[.,;:!?\n]|$| (?:{_LINKS})\b)"
_KEY, _LOCK, _PLACE = rf"(?P<key>{_NP})", rf"(?P<lock>{_NP})", rf"(?P<place>{_NP})"
_SOMEWHERE = rf"(?: (?:in|within|inside) the {_NP})?"
_TAKEN = r"(?:tak|t[ao]ok|steal|pick|retriev|recover|lift|g[eo]t)\w*"
_LOCKS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bthe {_KEY} opens (?:only )?(?:the|(?P<that>that)) {_LOCK}{_STOP}",
        rf"\bthe {_LOCK}(?: in (?:the )?{_PLACE})? opens (?:only )?with the {_KEY}{_STOP}",
        rf"\b(?:go to (?:the )?{_PLACE} and )?(?:un)?lock(?: and open)? (?:the )?{_LOCK}"
        rf"{_SOMEWHERE},? (?:with|using) (?:the )?{_KEY}{_STOP}",
        rf"\bthe {_LOCK}{_SOMEWHERE} is (?:un)?locked with (?:the )?{_KEY}{_STOP}",
        rf"\bopen the locked {_LOCK} using (?:the )?{_KEY}{_STOP}",
        rf"\btake the {_KEY} to (?:the )?{_PLACE}\. It opens the {_LOCK} there",
        rf"\bthe {_KEY} and use it to unlock the {_LOCK}{_STOP}",
        rf"\b(?:with|hands on|{_TAKEN}(?: up)?) the {_KEY}, [^.,]{{0,40}}?"
        rf"(?:un)?lock the {_LOCK}{_STOP}",
        rf"\b(?:with|hands on|{_TAKEN}(?: up)?) the {_KEY}, [^.,]{{0,40}}?"
        rf"\bthe {_LOCK}{_SOMEWHERE} is (?:un)?locked",
        rf"\b(?:insert|put|place|deposit) the {_KEY} into the {_LOCK}{_SOMEWHERE}"
        r" to (?:un)?lock it",
    )
)
_STANDS = re.compile(
    rf"\b(?:(?P<it>it)|the (?P<name>{_NP})) (?:stands|lies|is hidden|can be found) "
    rf"(?P<where>in|on) (?:the )?(?P<place>{_NP}){_STOP}",
    re.IGNORECASE,
)
_NOUN = re.compile(rf"\bthe (?P<name>{_NP})(?=[.,;:!?])", re.IGNORECASE)
_PREPARE = re.compile(
    rf"\bmeal\b[^.\n]{{0,40}}? (?:only )?in the (?P<place>{_NP}){_STOP}", re.IGNORECASE
)
_APPLIANCE = re.compile(
    r"\b(?:(?P<stove>stove|oven|bbq|barbecue|barbeque|toaster)|(?P<verb>fr(?:y|ies|ying)"
    r"|roast(?:s|ing)?|grill(?:s|ing)?))\b",
    re.IGNORECASE,
)


def told(text: str, named: dict[str, tuple[int, int]] | None = None) -> tuple[Mention, ...]:
    """Lasting facts that a goal or a note states in words.

    Args:
        text: The text.
        named: Takes the things that the facts are about, with the span of each.
    """
    text = text[:_LONGEST_TOLD]
    named = {} if named is None else named
    facts: dict[Triple, tuple[int, int]] = {}
    for pattern in _LOCKS:
        for found in pattern.finditer(text):
            groups = found.groupdict()
            key, lock = clean_name(found["key"]), clean_name(found["lock"]).removesuffix("'s lock")
            if groups.get("that"):
                lock = _before(text, found.start(), lock)
            named.setdefault(key, found.span("key"))
            named.setdefault(lock, found.span("lock"))
            facts.setdefault(Triple(key, "opens", lock), found.span("key"))
            if groups.get("place"):
                place = clean_name(found["place"])
                named.setdefault(place, found.span("place"))
                facts.setdefault(Triple(lock, "is in", place), found.span("lock"))
    for found in _STANDS.finditer(text):
        name = _before(text, found.start()) if found["it"] else clean_name(found["name"])
        if name:
            place = clean_name(found["place"])
            named.setdefault(place, found.span("place"))
            fact = Triple(name, f"is {found['where'].lower()}", place)
            facts.setdefault(fact, found.span("place"))
    for found in _PREPARE.finditer(text):
        place = clean_name(found["place"])
        facts.setdefault(Triple("meal", "is prepared in", place), found.span("place"))
    facts.update(_appliances(text))
    return tuple(Mention(fact, *span) for fact, span in facts.items())


def _before(text: str, position: int, noun: str = "") -> str:
    """The thing that *it* or *that locker* means: the last one named, ending in ``noun``."""
    named = [clean_name(found["name"]) for found in _NOUN.finditer(text, 0, position)]
    return next((name for name in reversed(named) if name.endswith(noun)), noun)


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
