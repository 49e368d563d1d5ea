"""Recipes, as lists or told in sentences, and what appliances are said to do.

As in :mod:`gym_memory.english.statements` a sentence is read by the things in it: one that
speaks of cutting or heating says what a food *needs to be*, one that does not says what the recipe
*requires*, and one about the meal and a room where it *is prepared*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gym_memory.english.named import THING, KindOf, NamedThing
from gym_memory.english.nouns import CONTAINER, DOOR, ROOM, SUPPORTER
from gym_memory.english.phrases import clean_name
from gym_memory.english.said import PLACED, Sentence
from gym_memory.english.sentences import sentences
from gym_memory.memory.extract.base import Mention
from gym_memory.types import Triple

__all__ = ["is_about_cooking", "preparation", "read_prose_recipe", "read_recipe", "told_of_cooking"]

_STATES = {
    "chop": "chopped", "slic": "sliced", "dic": "diced",
    "fr": "fried", "roast": "roasted", "grill": "grilled",
}  # fmt: skip
_USES = {"fr": "frying", "roast": "roasting", "grill": "grilling"}
_PREPARING = re.compile(
    r"\b(?:un)?(?:(?P<chop>chop(?:s|p\w+)?)|(?P<slic>slic(?:e|es|ed|ing))|(?P<dic>dic(?:e|es|ed|ing))"
    r"|(?P<fr>fr(?:y|ies|ied|ying))|(?P<roast>roast(?:s|ed|ing)?)|(?P<grill>grill(?:s|ed|ing)?))\b",
    re.IGNORECASE,
)
_COOKING = re.compile(
    r"\b(?:cook\w+|cook(?= (?:it|them|the|this|that|an?|what|by|for|with|according)\b)|to cook"
    r"|recipes?|meals?|dish(?:es)?|ingredients?)\b",
    re.IGNORECASE,
)
"""Words of cooking; a *cook* may tell of anything."""
_MEAL = re.compile(r"\bmeal\b", re.IGNORECASE)
_LISTING = frozenset(["and", "or", "plus", "a", "an", "the", "some"])
_PLACES = (ROOM, CONTAINER, SUPPORTER, DOOR)
_MAX_TEXT_CHARS = 10_000

_CUTS = {"chop": "chopped", "slice": "sliced", "dice": "diced"}
_HEATS = {"fry": "fried", "roast": "roasted", "grill": "grilled"}
_HEATING = {"fry": "frying", "roast": "roasting", "grill": "grilling"}
_INGREDIENTS = re.compile(
    r"^[ \t]*Ingredients:[ \t]*\n(?P<list>(?:(?!\s*Directions:)[ \t]*[^\s].*\n?)+)",
    re.MULTILINE,
)
_DIRECTIONS = re.compile(r"^[ \t]*Directions:[ \t]*\n(?P<list>(?:[ \t]*[^\s].*\n?)+)", re.MULTILINE)
_DIRECTION = re.compile(r"(?P<verb>[a-z]+) (?:the )?(?P<name>[^\n]{1,80})", re.IGNORECASE)
_LINE = re.compile(r"[^\s][^\n]*")
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


def is_about_cooking(text: str) -> bool:
    """Whether a name or a text speaks of cooking.

    >>> is_about_cooking("recipe folder"), is_about_cooking("cookbook"), is_about_cooking("note")
    (True, True, False)
    """
    return _COOKING.search(text) is not None


def read_recipe(text: str) -> tuple[Mention, ...]:
    """Ingredients and directions of a recipe that is a list; empty where there is none."""
    ingredients = _INGREDIENTS.search(text)
    if ingredients is None:
        return ()
    mentions = []
    for line in _LINE.finditer(text, *ingredients.span("list")):
        name = clean_name(line.group())
        mentions.append(Mention(Triple("recipe", "requires", name), *_trimmed(line)))
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


def read_prose_recipe(text: str, kind_of: KindOf) -> tuple[Mention, ...]:
    """What a recipe in sentences requires, what is to be done to it, and where.

    Args:
        text: The text.
        kind_of: What is known of a name.
    """
    facts: dict[Triple, tuple[int, int]] = {}
    foods: dict[str, None] = {}  # what was named is called so again: *the leek chopped*

    def known(name: str) -> str | None:
        return THING if name in foods else kind_of(name)

    for sentence in _sentences(text, known):
        meant = [t for t in sentence.things if _is_food(sentence, t, known)]
        verbs = _prepared(sentence)
        again = [t for t in meant if t.name in foods]
        meant = again if verbs and again else meant[_is_told_of(sentence, meant) :]
        rooms = [t for t in sentence.things if t.kind == ROOM and t not in meant]
        if _MEAL.search(sentence.cues) and rooms and not meant:
            facts.setdefault(Triple("meal", "is prepared in", rooms[0].name), rooms[0].span)
            continue
        foods.update(dict.fromkeys(food.name for food in meant))
        for food, state in _matched(meant, verbs):
            facts.setdefault(Triple("recipe", "requires", food.name), food.span)
            if state:
                facts.setdefault(Triple(food.name, "needs to be", _STATES[state]), food.span)
    return tuple(Mention(fact, *span) for fact, span in facts.items())


def told_of_cooking(text: str, kind_of: KindOf | None = None) -> tuple[Mention, ...]:
    """Where a meal is prepared, and which appliance does what.

    Args:
        text: The text.
        kind_of: What is known of a name, for a text that may speak of appliances by any name.
    """
    facts: dict[Triple, tuple[int, int]] = {}
    for found in _PREPARE.finditer(text[:_MAX_TEXT_CHARS]):
        place = clean_name(found["place"])
        facts.setdefault(Triple("meal", "is prepared in", place), found.span("place"))
    if kind_of:
        for fact, start, end in _told_uses(text[:_MAX_TEXT_CHARS], kind_of):
            facts.setdefault(fact, (start, end))
    told = {fact.object for fact in facts}
    uses = _appliances(text[:_MAX_TEXT_CHARS])
    facts.update((fact, span) for fact, span in uses if fact.object not in told)
    return tuple(Mention(fact, *span) for fact, span in facts.items())


def _appliances(text: str) -> Iterator[tuple[Triple, tuple[int, int]]]:
    """Pairs of an appliance, by its full name, and what it does, in whichever order they come."""
    for sentence, offset in sentences(text):
        if _APPLIANCE.search(sentence) is None:
            continue
        things = Sentence(text, offset, offset + len(sentence), lambda name: None).things
        first = {thing.span[1]: thing.span[0] for thing in things}
        at: tuple[int, int] | None = None
        verb = ""
        for word in _APPLIANCE.finditer(sentence):
            if word["stove"]:
                end = offset + word.end()
                at = first.get(end, offset + word.start()), end
            else:
                stem = next(v for v in _HEATING if word["verb"].lower().startswith(v[:2]))
                verb = _HEATING[stem]
            if at is not None and verb:
                yield Triple(clean_name(text[slice(*at)]), "used for", verb), at
                at, verb = None, ""


def _told_uses(text: str, kind_of: KindOf) -> Iterator[Mention]:
    """Which appliance is said to do what, one a sentence."""
    if _PREPARING.search(text) is None:
        return
    for sentence in _sentences(text, kind_of):
        verbs = _prepared(sentence)
        tools = [t for t in sentence.things if not _PREPARING.fullmatch(t.name)]
        if len(tools) == 1 and verbs and verbs[0] in _USES:
            yield Mention(Triple(tools[0].name, "used for", _USES[verbs[0]]), *tools[0].span)


def _is_food(sentence: Sentence, thing: NamedThing, kind_of: KindOf) -> bool:
    """Whether a thing is one that a recipe speaks of, and no place or tool.

    A *chicken wing* is no wing of a house: what a noun suggests counts only where the sentence
    says that something is there.
    """
    if thing.name == "meal" or kind_of(thing.name) in _PLACES:
        return False
    if thing.kind == ROOM and _MEAL.search(sentence.cues) and not _prepared(sentence):
        return False
    at_place = sentence.preposition(thing) in (*PLACED, "to", "into", "with", "from")
    return thing.kind not in _PLACES or not at_place


def _is_told_of(sentence: Sentence, things: list[NamedThing]) -> bool:
    """Whether the first of things is what the others are for: *the basis is the egg*."""
    if len(things) < 2:
        return False
    between = sentence.lower[things[0].last : things[1].first]
    return any(word.isalpha() and word not in _LISTING for word in between)


def preparation(word: str) -> str:
    """The state that a word for preparing food names; empty for any other word.

    >>> preparation("chopping"), preparation("unsliced"), preparation("frying")
    ('chopped', 'sliced', 'fried')
    """
    found = _PREPARING.fullmatch(word)
    return _STATES[found.lastgroup or ""] if found else ""


def _prepared(sentence: Sentence) -> list[str]:
    """How a sentence says that food is prepared, as stems, the words of names left out."""
    tools = {
        at
        for t in sentence.things
        if not _PREPARING.fullmatch(t.name)
        for at in range(t.first, t.last)
    }
    words = (word for at, word in enumerate(sentence.lower) if at not in tools)
    found = (_PREPARING.fullmatch(word) for word in words)
    return list(dict.fromkeys(match.lastgroup or "" for match in found if match))


def _matched(foods: list[NamedThing], verbs: list[str]) -> Iterator[tuple[NamedThing, str]]:
    """Each food with what is done to it: all is done to all, or each has its own verb."""
    if len(foods) == len(verbs) > 1:
        yield from zip(foods, verbs, strict=True)
        return
    for food in foods:
        yield from ((food, verb) for verb in verbs or ("",))


def _sentences(text: str, kind_of: KindOf) -> Iterator[Sentence]:
    """Sentences; a question that does not say what is done goes with its answer."""
    begin = -1
    for sentence, start in sentences(text[:_MAX_TEXT_CHARS]):
        begin = start if begin < 0 else begin
        end = start + len(sentence)
        said = Sentence(text, begin, end, kind_of)
        if not sentence.endswith("?") or (said.things and _prepared(said)):
            yield said
            begin = -1
