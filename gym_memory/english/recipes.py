"""Recipes, as lists or told in sentences, and what appliances are said to do.

As in :mod:`gym_memory.english.statements` a sentence is read by the things in it: one that
speaks of cutting or heating says what a food *needs to be*, one that does not says what the recipe
*requires*, and one about the meal and a room where it *is prepared*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gym_memory.english.nouns import CONTAINER, ROOM, SUPPORTER
from gym_memory.english.phrases import clean_name
from gym_memory.english.sentences import sentences
from gym_memory.english.statements import KindOf, things_in
from gym_memory.memory.extract.base import Mention
from gym_memory.types import Triple

__all__ = ["is_about_cooking", "read_prose_recipe", "read_recipe", "told_of_cooking"]

_STATES = {
    "chop": "chopped", "slic": "sliced", "dic": "diced",
    "fr": "fried", "roast": "roasted", "grill": "grilled",
}  # fmt: skip
_USES = {"fr": "frying", "roast": "roasting", "grill": "grilling"}
_PREPARING = re.compile(
    r"\b(?:un)?(?:(?P<chop>chop(?:s|p\w+)?)|(?P<slic>slic(?:e|es|ed|ing))|(?P<dic>dic(?:e|es|ed|ing))"
    r"|(?P<fr>fr(?:y|ies|ied|ying))|(?P<roast>roast\w*)|(?P<grill>grill\w*))\b",
    re.IGNORECASE,
)
_COOKING = re.compile(r"\b(?:cook\w*|recipes?|meals?|dish(?:es)?|ingredients?)\b", re.IGNORECASE)
_MEAL = re.compile(r"\bmeal\b", re.IGNORECASE)
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
    r"\bmeal\b[^.\n]{0,40}? (?:only )?in (?:the )?(?P<place>[\w'-]+(?: [\w'-]+){0,3}?)"
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
    for start, end, verb in _sentences(text):
        things = things_in(text, start, end, kind_of)
        rooms = [t for t in things if t.kind == ROOM]
        foods = [t for t in things if t.kind not in (ROOM, SUPPORTER, CONTAINER)]
        foods = [t for t in foods if t.name != "meal"]
        if _MEAL.search(text, start, end) and rooms and not foods:
            facts.setdefault(Triple("meal", "is prepared in", rooms[0].name), rooms[0].span)
            continue
        for food in foods:
            facts.setdefault(Triple("recipe", "requires", food.name), food.span)
            if verb:
                facts.setdefault(Triple(food.name, "needs to be", _STATES[verb]), food.span)
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


def _told_uses(text: str, kind_of: KindOf) -> Iterator[Mention]:
    """Which appliance is said to do what, one a sentence."""
    for start, end, verb in _sentences(text):
        things = things_in(text, start, end, kind_of) if verb in _USES else []
        if len(things) == 1:
            yield Mention(Triple(things[0].name, "used for", _USES[verb]), *things[0].span)


def _sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """Sentences, a question with its answer, and how they say that food is prepared, if so."""
    begin = -1
    for sentence, start in sentences(text[:_MAX_TEXT_CHARS]):
        begin = start if begin < 0 else begin
        end = start + len(sentence)
        if not sentence.endswith("?"):
            found = _PREPARING.search(text, begin, end)
            yield begin, end, (found.lastgroup or "") if found else ""
            begin = -1
