"""Recipes, as lists or in sentences, and uses of appliances.

A sentence about cutting or heating says what a food *needs to be*; any other says what the recipe
*requires*. A sentence about the meal and a room says where the meal *is prepared*.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from gym_memory.core.records import Triple
from gym_memory.core.text import sentence_spans
from gym_memory.core.text import words as split_words
from gym_memory.extract import Mention
from gym_memory.extract.notes.clause import ARTICLES, PLACED, WITHIN, Clause, NamedThing, named_in
from gym_memory.extract.notes.kept import kept
from gym_memory.extract.notes.words import (
    CONTAINER,
    DOOR,
    ROOM,
    SUPPORTER,
    THING,
    KindOf,
    word_group,
)
from gym_memory.graph.schema import clean_name, head_noun

__all__ = ["APPLIANCES", "BLADES", "CUTS", "HEATS", "Preparation", "calls_itself_recipe"]
__all__ += ["is_about_cooking", "is_tool", "preparation", "preparations", "read_kitchen"]
__all__ += ["read_prose_recipe", "read_recipe", "speaks_of_preparing"]

# Preparations

CUTS = {"chopped": "chop", "sliced": "slice", "diced": "dice"}
HEATS = {"fried": "frying", "roasted": "roasting", "grilled": "grilling"}
"""Verb or use of an appliance that brings food into each state."""
APPLIANCES = {use: word_group("appliances", use) for use in HEATS.values()}
BLADES = word_group("cooking", "blades")

_PREPARING_WORDS = {
    "chopped": r"chop(?:s|p\w+)?|minc(?:e|es|ed|ing)",
    "sliced": r"slic(?:e|es|ed|ing)|julienn(?:e|es|ed|ing)",
    "diced": r"dic(?:e|es|ed|ing)|cub(?:e|es|ed|ing)",
    "fried": r"fr(?:y|ies|ied|ying)|saut[eé](?:s|ed|ing|ed|eed|eing)?|sear(?:s|ed|ing)?"
    r"|brown(?:s|ed|ing)?",
    "roasted": r"roast(?:s|ed|ing)?|bak(?:e|es|ed|ing)",
    "grilled": r"grill(?:s|ed|ing)?|barbecu(?:e|es|ed|ing)|broil(?:s|ed|ing)?",
}
_PREPARATION = re.compile(
    r"(?:un-?)?(?:[a-z]+-)?(?:"
    + "|".join(f"(?P<{state}>{words})" for state, words in _PREPARING_WORDS.items())
    + ")"
)
_MAY_PREPARE = re.compile(rf"\?|{'|'.join(_PREPARING_WORDS.values())}", re.IGNORECASE)
"""Words for preparing food, and the mark of a question before such a sentence."""
_NOUN_VERBS = word_group("cooking", "noun_verbs")
_BEFORE_NOUNS = word_group("cooking", "before_nouns")
_DENIALS = frozenset(word_group("cooking", "denies"))
_DOUBLE_DENIALS = frozenset(word_group("cooking", "denies_with")) | _DENIALS
_APPROVALS = frozenset(word_group("cooking", "accepts"))
_REQUESTS = frozenset(word_group("cooking", "allows"))
_DELAYS = frozenset(word_group("cooking", "later"))
_LEAVING = frozenset(word_group("cooking", "stays"))
_DENIAL_ENDS = word_group("cooking", "new_clause")
_REPROACHES = frozenset(word_group("cooking", "reproaches"))


class Preparation(NamedTuple):
    """A preparation of food: the resulting state, the position of its word, and its denial."""

    state: str
    at: int
    denied: bool


def preparation(word: str) -> str:
    """Return the state that a word for preparing food names; empty for another word.

    >>> preparation("chopping"), preparation("unsliced"), preparation("pan-fried")
    ('chopped', 'sliced', 'fried')
    """
    found = _PREPARATION.fullmatch(word.lower())
    return found.lastgroup or "" if found else ""


def is_tool(name: str) -> bool:
    """True if a name is that of a blade or an appliance."""
    noun = head_noun(name)
    return noun in BLADES or any(noun in nouns for nouns in APPLIANCES.values())


def preparations(words: Sequence[str], named: Collection[int] = ()) -> list[Preparation]:
    """Return the preparations that a sentence states, in order.

    Args:
        words: Words and punctuation in lower case.
        named: Positions of the words of names.

    >>> [(p.state, p.denied) for p in preparations("do not fry it , but cut it into cubes".split())]
    [('fried', True), ('diced', False)]
    """
    found = []
    for at, word in enumerate(words):
        state = "" if at in named else preparation(word)
        before = words[at - 1] if at else ""
        if not state or (word in _NOUN_VERBS and before in _BEFORE_NOUNS):
            continue
        rest = words[at + 1 :]
        cubes = "into" in rest[:-1] and preparation(rest[rest.index("into") + 1])
        if not (word.startswith("chop") and cubes):
            found.append(Preparation(state, at, _is_denied(words, at)))
    return found


def _is_denied(words: Sequence[str], at: int) -> bool:
    """True if a sentence denies the preparation at a position."""
    start = max((i + 1 for i in range(at) if words[i] in _DENIAL_ENDS), default=0)
    reproached = not _REPROACHES.isdisjoint(words)
    opener = words[start - 1] if start else ""
    if words[at].startswith("un"):
        return not (opener == "if" or reproached or _LEAVING.isdisjoint(words))
    denials = [i for i in range(start, at) if _denies(words[i])]
    if not denials:
        return False
    denial = denials[-1]
    before = words[max(start, denial - 2) : denial]
    supposes = opener in ("if", "when") or "who" in before
    done = max((i + 1 for i in range(start, at) if preparation(words[i])), default=start)
    not_doing = words[denial + 1] == "to" or words[denial + 1].endswith("ing")
    return not (
        not _REQUESTS.isdisjoint(words[denial:at])  # do not forget to
        or "why" in before  # why not
        or not _DELAYS.isdisjoint(words[at:])  # not until
        or _cancels(words[done:at])
        or (supposes and (reproached or _APPROVALS.isdisjoint(words)))  # a cook who does not
        or (not supposes and not_doing and reproached)  # not doing it would be a shame
    )


def _denies(word: str) -> bool:
    return word in _DENIALS or word.endswith(("n't", "n’t"))


def _cancels(words: Sequence[str]) -> bool:
    """True if one denial cancels another: *you cannot go on without dicing it*."""
    said = [word for word in words if _denies(word) or word in _DOUBLE_DENIALS]
    paired = "neither" in said and "nor" in said
    return bool(said) and (len(said) - paired) % 2 == 0


# Recipes

_COOKING_WORD = re.compile(
    r"\b(?:cook\w+|cook(?= (?:it|them|the|this|that|an?|what|by|for|with|according)\b)|to cook"
    r"|recipes?|meals?|dish(?:es)?|ingredients?|dinner|supper|lunch|culinary|gastronomy|menus?"
    r"|chef\S*)\b",
    re.IGNORECASE,
)
"""Words about cooking, without an ambiguous *cook*."""
_INSTRUCTS = re.compile(
    r"\b(?:ingredients?|recipe)\b"
    r"|\b(?:meal|dish)\b[^.]{0,20}\b(?:is|be|are) (?:prepared|made|cooked)\b"
    r"|\b(?:prepar|assembl|cook|mak)(?:e|es|ing)?\b[^.]{0,20}\b(?:meal|dish)\b"
    r"|\b(?:this|the) (?:meal|dish) (?:consists|needs|requires|calls|takes|wants|has|contains)\b",
    re.IGNORECASE,
)
_LIST_WORDS = frozenset(["and", "or", "plus", "a", "an", "the", "some"])
_PLACES = (ROOM, CONTAINER, SUPPORTER, DOOR)
_PRONOUNS = ("it", "them", "each", "both", "these", "those", "they", "everything", "all")
_MAX_TEXT_CHARS = 10_000
_MAX_INGREDIENT_WORDS = 10
"""Most words of a line that names an ingredient."""

_HEADER = re.compile(r"^[ \t]*(?P<title>[^\n.:]{1,40}):[ \t]*$", re.MULTILINE)
_INGREDIENT_HEADING = re.compile(
    r"ingredient|component|need|require|shopping|take|gather|list|buy|contents|get|use",
    re.IGNORECASE,
)
"""Words in the heading of a list of ingredients."""
_LINE = re.compile(r"[^\s][^\n]*")
_MARK = re.compile(r"(?:[-*+\u2022\u2013]|\d{1,2}[.)])[ \t]+")
_AMOUNT = re.compile(
    r"(?:\d[\d./]*|a|an|one|two|three|four|half an?)[ \t]*(?:(?:k?g|ml|cl|l|oz|lbs?|cups?|tbsp"
    r"|tsp|pinch(?:es)?|dash(?:es)?|grams?|ounces?|pounds?|(?:table|tea)?spoon(?:ful)?s?)\.?"
    r"(?: of)?[ \t]+|[ \t]+)(?=\w)",
    re.IGNORECASE,
)


def is_about_cooking(text: str) -> bool:
    """True if a name or a text is about cooking.

    >>> is_about_cooking("recipe folder"), is_about_cooking("cookbook"), is_about_cooking("note")
    (True, True, False)
    """
    return _COOKING_WORD.search(text) is not None


def calls_itself_recipe(text: str) -> bool:
    """True if a text says that it is a recipe or instructs how to make a meal.

    >>> calls_itself_recipe("This dish needs an egg."), calls_itself_recipe("The dish is here.")
    (True, False)
    """
    return _INSTRUCTS.search(text[:_MAX_TEXT_CHARS]) is not None


def speaks_of_preparing(text: str) -> bool:
    """True if a text has a word for preparing food."""
    return any(map(preparation, split_words(text[:_MAX_TEXT_CHARS], "-")))


def read_recipe(text: str, kind_of: KindOf = lambda name: None) -> tuple[Mention, ...]:
    """Read a recipe with a list of ingredients, one per line; empty for another text."""
    text = text[:_MAX_TEXT_CHARS]
    headers = _HEADER.finditer(text)
    header = next((h for h in headers if _INGREDIENT_HEADING.search(h["title"])), None)
    items = list(takewhile(_is_item, _LINE.finditer(text, header.end()))) if header else []
    if not items:
        return ()
    facts: dict[Triple, tuple[int, int]] = {}
    for line in items:
        name, states, span = _item(line)
        facts.setdefault(Triple("recipe", "requires", name), span)
        facts.update((Triple(name, "needs to be", state), span) for state in states)
    foods = {fact.object for fact in facts if fact.relation == "requires"}
    for fact, span in _prose(text, kind_of, items[-1].end(), foods).items():
        if fact.relation != "requires":
            facts.setdefault(fact, span)
    return tuple(Mention(fact, *span) for fact, span in facts.items())


def _is_item(line: re.Match[str]) -> bool:
    """True if a line names an ingredient, and is no heading or instruction."""
    text = line.group().rstrip()
    words = _MARK.sub("", text, count=1).split()
    if not words or text.endswith((":", "!", "?")) or len(words) > _MAX_INGREDIENT_WORDS:
        return False
    return not preparation(words[0]) or words[0].endswith("ed")


def _item(line: re.Match[str]) -> tuple[str, list[str], tuple[int, int]]:
    """Return the ingredient of a line, its preparations and its span."""
    text, start = line.group().rstrip(), line.start()
    for pattern in (_MARK, _AMOUNT):
        found = pattern.match(text)
        if found:
            text, start = text[found.end() :], start + found.end()
    name, _, rest = re.sub(r"[,(]", "\n", text, count=1).partition("\n")
    states = [found.state for found in preparations(split_words(rest, "-"))]
    words = clean_name(name).rstrip(" .").split()
    while len(words) > 1 and preparation(words[0]) == words[0]:
        states.append(words.pop(0))
    return " ".join(words), states, (start, start + len(text))


def read_prose_recipe(text: str, kind_of: KindOf) -> tuple[Mention, ...]:
    """Read the ingredients, preparations and kitchen of a recipe in sentences."""
    facts = _prose(text[:_MAX_TEXT_CHARS], kind_of, 0, set())
    return tuple(Mention(fact, *span) for fact, span in facts.items())


def _prose(
    text: str, kind_of: KindOf, start: int, known: set[str]
) -> dict[Triple, tuple[int, int]]:
    """Read the sentences from ``start`` on, and add each food to ``known``."""
    facts: dict[Triple, tuple[int, int]] = {}
    before: list[NamedThing] = []

    def kind(name: str) -> str | None:
        return THING if name in known else kind_of(name)

    for clause in _clauses(text, kind, start, owns=False):
        things = [_without_states(thing) for thing in clause.things]
        named = {at for thing in things for at in range(thing.first, thing.last)}
        done = preparations(clause.lower, named)
        foods = [thing for thing in things if _is_food(clause, thing)]
        rooms = [t for t in things if t.kind == ROOM or t.preposition in WITHIN]
        if "meal" in clause.cues.lower().split() and rooms and not done:
            facts.setdefault(Triple("meal", "is prepared in", rooms[0].name), rooms[0].span)
            continue
        foods = foods[_is_about_first(clause, foods, done) :]
        for food, state in _matched(clause, foods or _meant_by_pronoun(clause, before), done):
            facts.setdefault(Triple(food.name, "needs to be", state), food.span)
        for food in foods:
            facts.setdefault(Triple("recipe", "requires", food.name), food.span)
        known.update(food.name for food in foods)
        before = foods or before
    return facts


def _clauses(
    text: str, kind_of: KindOf, start: int, *, owns: bool, preparing: bool = False
) -> Iterator[Clause]:
    """Yield sentences, with a question that states no preparation as part of its answer.

    With ``preparing``, yield only sentences that have a word for preparing food.
    """
    begin = -1
    for sentence, first in sentence_spans(text[:_MAX_TEXT_CHARS]):
        last = first + len(sentence)
        if last <= start:
            continue
        if preparing and begin < 0 and not _MAY_PREPARE.search(text, first, last):
            continue
        begin = max(first, start) if begin < 0 else begin
        clause = Clause.of(text, begin, last, kind_of, owns=owns)
        open_question = clause.lower[-1:] == ("?",) and not (
            clause.things and preparations(clause.lower, clause.named)
        )
        if clause.lower and not open_question:
            yield clause
            begin = -1


def _is_food(clause: Clause, thing: NamedThing) -> bool:
    """True if a recipe names a thing as food, not as a place or a tool.

    A *chicken wing* is not the wing of a house, so a noun for a place counts only after a
    preposition.
    """
    if thing.name == "meal" or clause.kind_of(thing.name) in _PLACES or thing.name in _REPROACHES:
        return False
    if is_tool(thing.name) and thing.preposition:
        return False
    return thing.kind not in _PLACES or thing.preposition not in (
        *PLACED, "to", "into", "with", "from",
    )  # fmt: skip


def _without_states(thing: NamedThing) -> NamedThing:
    """Return a thing without the states around its name, as in *grilled lettuce*."""
    words = thing.name.split()
    first, last = 0, len(words)
    while first < last - 1 and _is_state(words[first]):
        first += 1
    while first < last - 1 and _is_state(words[last - 1]):
        last -= 1
    name = " ".join(words[first:last])
    return thing._replace(name=name, first=thing.first + first, last=thing.last - len(words) + last)


def _is_state(word: str) -> bool:
    return preparation(word) == word.removeprefix("un")


def _meant_by_pronoun(clause: Clause, before: list[NamedThing]) -> list[NamedThing]:
    """Return the foods that a pronoun means in a sentence without a food."""
    said = [word for word in clause.lower if word in _PRONOUNS]
    chosen = (before[-1:] if said[0] == "it" else before) if said else []
    return [thing._replace(first=-1, last=0) for thing in chosen]


def _is_about_first(clause: Clause, foods: list[NamedThing], done: list[Preparation]) -> bool:
    """True if the sentence describes the first food by the others: *the basis is the egg*."""
    if len(foods) < 2 or any(food == foods[0] for food, _ in _matched(clause, foods, done)):
        return False
    between = clause.lower[foods[0].last : foods[1].first]
    return any(word.isalpha() and word not in _LIST_WORDS for word in between)


def _matched(
    clause: Clause, foods: list[NamedThing], done: list[Preparation]
) -> Iterator[tuple[NamedThing, str]]:
    """Yield each food with each required state; the foods of a list share their states."""
    groups: list[list[NamedThing]] = []
    for food in foods:
        between = clause.lower[groups[-1][-1].last : food.first] if groups else ()
        if groups and all(word in _LIST_WORDS or word == "," for word in between):
            groups[-1].append(food)
        else:
            groups.append([food])
    states: list[list[str]] = [[] for _ in groups]
    for found in done if groups else ():
        if not found.denied:
            states[_group_of(clause, groups, found.at)].append(found.state)
    for group, own in zip(groups, states, strict=True):
        yield from ((food, state) for food in group for state in own)


def _group_of(clause: Clause, groups: list[list[NamedThing]], at: int) -> int:
    """Return the group of foods right after a verb, or else the one before it."""
    after = next((i for i, group in enumerate(groups) if group[0].first > at), -1)
    before = max((i for i, group in enumerate(groups) if group[-1].last <= at), default=-1)
    if -1 in (after, before):
        return max(after, before)
    between = clause.lower[at + 1 : groups[after][0].first]
    return after if ARTICLES.issuperset(between) else before


# Kitchens

_MEAL_IN_PLACE = re.compile(
    r"\bmeal\b(?! (?!in\b|only\b|is\b|can\b|must\b|should\b|has\b|will\b|may\b|be\b)\w)"
    r"[^.\n]{0,40}? (?:only )?in (?:the )?(?P<place>[\w'-]+(?: [\w'-]+){0,3}?)"
    r"(?=[.,;:!?\n]|$| (?:and|once|when|after|before|to)\b)",
    re.IGNORECASE,
)
_APPLIANCE = re.compile(
    r"(?<![\w-])(?:(?P<stove>stove|oven|bbq|barbecue|barbeque|toaster)|(?P<verb>fr(?:y|ies|ying)"
    r"|roast(?:s|ing)?|grill(?:s|ing)?))(?![\w-])",
    re.IGNORECASE,
)


def read_kitchen(text: str, kind_of: KindOf | None = None) -> tuple[Mention, ...]:
    """Read where a meal is prepared, and the use of each appliance.

    With ``kind_of``, an appliance may have any name.
    """
    text = text[:_MAX_TEXT_CHARS]
    facts: dict[Triple, tuple[int, int]] = {}
    for found in _MEAL_IN_PLACE.finditer(text):
        place = clean_name(found["place"])
        facts.setdefault(Triple("meal", "is prepared in", place), found.span("place"))
    for fact, start, end in _uses(text, kind_of) if kind_of else ():
        facts.setdefault(fact, (start, end))
    read = {fact.object for fact in facts}
    facts.update((fact, span) for fact, span in _appliances(text) if fact.object not in read)
    return tuple(Mention(fact, *span) for fact, span in facts.items())


@kept
def _uses(text: str, kind_of: KindOf) -> tuple[Mention, ...]:
    """Return the tools of each sentence with their uses, in order."""
    mentions: list[Mention] = []
    for clause in _clauses(text, kind_of, 0, owns=True, preparing=True):
        done = preparations(clause.lower, clause.named)
        uses = [HEATS[found.state] for found in done if found.state in HEATS]
        tools = [t for t in clause.things if not preparation(t.name)]
        sure = [t for t in tools if is_tool(t.name) or kind_of(t.name) is not None]
        if not sure and len(tools) == 1:
            sure = tools
        if len(sure) == len(uses) == len(set(uses)):  # else it is unclear what is for what
            for tool, use in zip(sure, uses, strict=True):
                mentions.append(Mention(Triple(tool.name, "used for", use), *tool.span))
    return tuple(mentions)


def _appliances(text: str) -> Iterator[tuple[Triple, tuple[int, int]]]:
    """Yield the use of each appliance by its full name, with its span."""
    for sentence, begin in sentence_spans(text) if _APPLIANCE.search(text) else ():
        end = begin + len(sentence)
        kinds = {word.lastgroup for word in _APPLIANCE.finditer(text, begin, end)}
        if len(kinds) < 2:
            continue  # no pair
        things = named_in(text, begin, end, lambda name: None)
        first = {thing.span[1]: thing.span[0] for thing in things}
        at: tuple[int, int] | None = None
        verb = ""
        for word in _APPLIANCE.finditer(text, begin, end):
            if word["stove"]:
                at = first.get(word.end(), word.start()), word.end()
            else:
                verb = HEATS[preparation(word["verb"])]
            if at is not None and verb:
                yield Triple(clean_name(text[slice(*at)]), "used for", verb), at
                at, verb = None, ""
