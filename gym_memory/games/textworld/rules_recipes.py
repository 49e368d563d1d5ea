"""Recipes that are told in sentences, and what appliances are said to do.

As in :mod:`gym_memory.memory.extract.statements` a sentence is read by the things in it: one that
speaks of cutting or heating says what a food *needs to be*, one that does not says what the recipe
*requires*, and one about the meal and a room where it *is prepared*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gym_memory.memory.extract.base import Mention
from gym_memory.memory.extract.nouns import CONTAINER, ROOM, SUPPORTER
from gym_memory.memory.extract.sentences import sentences
from gym_memory.memory.extract.statements import KindOf, things_in
from gym_memory.types import Triple

__all__ = ["is_about_cooking", "read_prose_recipe", "told_uses"]

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
_COOKING = re.compile(
    r"\b(?:cook\w*(?!['’\w])|recipes?|meals?|dish(?:es)?|ingredients?)\b", re.IGNORECASE
)
_MEAL = re.compile(r"\bmeal\b", re.IGNORECASE)
_MAX_TEXT_CHARS = 10_000


def is_about_cooking(text: str) -> bool:
    """Whether a name or a text speaks of cooking.

    >>> is_about_cooking("recipe folder"), is_about_cooking("cookbook"), is_about_cooking("note")
    (True, True, False)
    """
    return _COOKING.search(text) is not None


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


def told_uses(text: str, kind_of: KindOf) -> Iterator[Mention]:
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
