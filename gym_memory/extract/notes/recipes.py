"""Recipes, as lists or told in sentences, and what appliances are said to do.

As in :mod:`gym_memory.extract.notes.statements` a sentence is read by the things in it: one that
speaks of cutting or heating says what a food *needs to be*, one that does not says what the recipe
*requires*, and one about the meal and a room where it *is prepared*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from gym_memory.core.records import Triple
from gym_memory.extract.base import Mention
from gym_memory.extract.notes.named import ARTICLES, THING, KindOf, NamedThing
from gym_memory.extract.notes.nouns import CONTAINER, DOOR, ROOM, SUPPORTER
from gym_memory.extract.notes.phrases import clean_name
from gym_memory.extract.notes.preparing import (
    CUTS,
    HEATS,
    Deed,
    deeds,
    is_reproach,
    is_tool,
    preparation,
)
from gym_memory.extract.notes.said import PLACED, WITHIN, Sentence
from gym_memory.extract.notes.sentences import sentences

__all__ = [
    "calls_itself_recipe",
    "is_about_cooking",
    "read_prose_recipe",
    "read_recipe",
    "speaks_of_preparing",
    "tells_how",
    "told_of_cooking",
]

_COOKING = re.compile(
    r"\b(?:cook\w+|cook(?= (?:it|them|the|this|that|an?|what|by|for|with|according)\b)|to cook"
    r"|recipes?|meals?|dish(?:es)?|ingredients?|dinner|supper|lunch|culinary|gastronomy|menus?"
    r"|chef\S*)\b",
    re.IGNORECASE,
)
"""Words of cooking; a *cook* may tell of anything."""
_INSTRUCTS = re.compile(
    r"\b(?:ingredients?|recipe)\b"
    r"|\b(?:meal|dish)\b[^.]{0,20}\b(?:is|be|are) (?:prepared|made|cooked)\b"
    r"|\b(?:prepar|assembl|cook|mak)(?:e|es|ing)?\b[^.]{0,20}\b(?:meal|dish)\b"
    r"|\b(?:this|the) (?:meal|dish) (?:consists|needs|requires|calls|takes|wants|has|contains)\b",
    re.IGNORECASE,
)
_MEAL = re.compile(r"\bmeal\b", re.IGNORECASE)
_LISTING = frozenset(["and", "or", "plus", "a", "an", "the", "some"])
_PLACES = (ROOM, CONTAINER, SUPPORTER, DOOR)
_PRONOUNS = ("it", "them", "each", "both", "these", "those", "they", "everything", "all")
_MAX_TEXT_CHARS = 10_000

_HEADER = re.compile(r"^[ \t]*(?P<title>[^\n.:]{1,40}):[ \t]*$", re.MULTILINE)
_LISTED = re.compile(
    r"ingredient|component|need|require|shopping|take|gather|list|buy|contents|get|use",
    re.IGNORECASE,
)
"""What stands above a list of ingredients."""
_LINE = re.compile(r"[^\s][^\n]*")
_WORD = re.compile(r"[\w-]+")
_MARK = re.compile(r"(?:[-*+\u2022\u2013]|\d{1,2}[.)])[ \t]+")
_AMOUNT = re.compile(
    r"(?:\d[\d./]*|a|an|one|two|three|four|half an?)[ \t]*(?:(?:k?g|ml|cl|l|oz|lbs?|cups?|tbsp"
    r"|tsp|pinch(?:es)?|dash(?:es)?|grams?|ounces?|pounds?|(?:table|tea)?spoon(?:ful)?s?)\.?"
    r"(?: of)?[ \t]+|[ \t]+)(?=\w)",
    re.IGNORECASE,
)
_MOST_WORDS = 6
"""Words of a line that names an ingredient."""
_PREPARE = re.compile(
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


def is_about_cooking(text: str) -> bool:
    """Whether a name or a text speaks of cooking.

    >>> is_about_cooking("recipe folder"), is_about_cooking("cookbook"), is_about_cooking("note")
    (True, True, False)
    """
    return _COOKING.search(text) is not None


def read_recipe(text: str, kind_of: KindOf = lambda name: None) -> tuple[Mention, ...]:
    """A recipe that lists its ingredients, one a line; empty where there is no such list.

    Args:
        text: The text.
        kind_of: What is known of a name.
    """
    text = text[:_MAX_TEXT_CHARS]
    header = next((h for h in _HEADER.finditer(text) if _LISTED.search(h["title"])), None)
    items = list(takewhile(_is_item, _LINE.finditer(text, header.end()))) if header else []
    if not items:
        return ()
    facts: dict[Triple, tuple[int, int]] = {}
    for line in items:
        name, states, span = _item(line, kind_of)
        facts.setdefault(Triple("recipe", "requires", name), span)
        facts.update((Triple(name, "needs to be", state), span) for state in states)
    foods = [fact.object for fact in facts if fact.relation == "requires"]
    told = _prose(text, kind_of, items[-1].end(), foods)
    for fact, span in told.items():
        if fact.relation != "requires":
            facts.setdefault(fact, span)
    return tuple(Mention(fact, *span) for fact, span in facts.items())


def _is_item(line: re.Match[str]) -> bool:
    """Whether a line names an ingredient: it is short, and neither a heading nor a sentence."""
    text = line.group().rstrip()
    bare = _MARK.sub("", text, count=1)
    words = bare.split()
    if not words or text.endswith((":", "!", "?")) or len(words) > _MOST_WORDS + 4:
        return False
    return not (text.endswith(".") and (len(words) > _MOST_WORDS or text != bare)) and not (
        preparation(words[0]) and not words[0].endswith("ed")
    )


def _item(line: re.Match[str], kind_of: KindOf) -> tuple[str, list[str], tuple[int, int]]:
    """The name on a line of a list, how it is to be prepared, and where it stands."""
    text, start = line.group().rstrip(), line.start()
    for pattern in (_MARK, _AMOUNT):
        found = pattern.match(text)
        known = kind_of(clean_name(text)) is not None
        if found and not known:
            text, start = text[found.end() :], start + found.end()
    name, _, rest = re.sub(r"[,(]", "\n", text, count=1).partition("\n")
    states = [deed.state for deed in deeds(_WORD.findall(rest.lower())) if not deed.denied]
    words = clean_name(name).rstrip(" .").split()
    while len(words) > 1 and preparation(words[0]) == words[0] and kind_of(" ".join(words)) is None:
        states.append(words.pop(0))
    return " ".join(words), states, (start, start + len(text))


def calls_itself_recipe(text: str) -> bool:
    """Whether a text says that it is a recipe, or that it is for a meal.

    >>> calls_itself_recipe("This dish needs an egg."), calls_itself_recipe("The dish is here.")
    (True, False)
    """
    return _INSTRUCTS.search(text[:_MAX_TEXT_CHARS]) is not None


def speaks_of_preparing(text: str) -> bool:
    """Whether a text has a word for preparing food."""
    return any(map(preparation, _WORD.findall(text[:_MAX_TEXT_CHARS].lower())))


def tells_how(facts: tuple[Mention, ...], text: str, name: str) -> bool:
    """Whether a text that was read as a recipe is one: it tells how food is prepared.

    Args:
        facts: What was read.
        text: The text.
        name: What it is written on, which is no food of its own.
    """
    wanted = "requires" if calls_itself_recipe(text) else "needs to be"
    return any(m.triple.relation == wanted and name not in m.triple for m in facts)


def read_prose_recipe(text: str, kind_of: KindOf) -> tuple[Mention, ...]:
    """What a recipe in sentences requires, what is to be done to it, and where.

    Args:
        text: The text.
        kind_of: What is known of a name.
    """
    facts = _prose(text[:_MAX_TEXT_CHARS], kind_of, 0, ())
    return tuple(Mention(fact, *span) for fact, span in facts.items())


def _prose(
    text: str, kind_of: KindOf, start: int, listed: Sequence[str]
) -> dict[Triple, tuple[int, int]]:
    """What sentences from ``start`` on tell; ``listed`` are foods named before."""
    facts: dict[Triple, tuple[int, int]] = {}
    foods = dict.fromkeys(listed)  # what was named is called so again: *the leek chopped*
    before: list[NamedThing] = []

    def known(name: str) -> str | None:
        return THING if name in foods else kind_of(name)

    for sentence in _sentences(text, known, start):
        things = [_without_states(sentence.whole(t), known) for t in sentence.things]
        done = deeds(sentence.lower, _names(things))
        meant = [t for t in things if _is_food(sentence, t, known, bool(done))]
        again = [t for t in meant if t.name in foods]
        meant = again if done and again else meant[_is_told_of(sentence, meant, done) :]
        rooms = [
            t for t in things
            if t not in meant and (t.kind == ROOM or sentence.preposition(t) in WITHIN)
        ]  # fmt: skip
        new = not (done or any(t.name in foods for t in meant))
        if _MEAL.search(sentence.cues) and rooms and new and (foods or not meant):
            facts.setdefault(Triple("meal", "is prepared in", rooms[0].name), rooms[0].span)
            continue
        for food, deed in _matched(sentence, meant or _again(sentence, before), done):
            if deed.denied:
                continue
            facts.setdefault(Triple(food.name, "needs to be", deed.state), food.span)
        for food in meant:
            facts.setdefault(Triple("recipe", "requires", food.name), food.span)
        foods.update(dict.fromkeys(food.name for food in meant))
        before = meant or before
    return facts


def _again(sentence: Sentence, before: list[NamedThing]) -> list[NamedThing]:
    """What a sentence without a food means by *it*: what was named last."""
    said = [word for word in sentence.lower if word in _PRONOUNS]
    if not before or not said:
        return []
    chosen = before[-1:] if said[0] == "it" else before
    return [thing._replace(first=-1, last=0) for thing in chosen]


def told_of_cooking(text: str, kind_of: KindOf | None = None) -> tuple[Mention, ...]:
    """Where a meal is prepared, and which appliance does what.

    Args:
        text: The text.
        kind_of: What is known of a name, for a text that may speak of appliances by any name.
    """
    text = text[:_MAX_TEXT_CHARS]
    facts: dict[Triple, tuple[int, int]] = {}
    for found in _PREPARE.finditer(text):
        place = clean_name(found["place"])
        facts.setdefault(Triple("meal", "is prepared in", place), found.span("place"))
    if kind_of:
        for fact, start, end in _told_uses(text, kind_of):
            facts.setdefault(fact, (start, end))
    told = {fact.object for fact in facts}
    facts.update((fact, span) for fact, span in _appliances(text) if fact.object not in told)
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
                verb = HEATS[preparation(word["verb"])]
            if at is not None and verb:
                yield Triple(clean_name(text[slice(*at)]), "used for", verb), at
                at, verb = None, ""


def _told_uses(text: str, kind_of: KindOf) -> Iterator[Mention]:
    """Yield the appliances of a sentence, in order, with what each is used for."""
    if not speaks_of_preparing(text):
        return
    for sentence in _sentences(text, kind_of):
        done = deeds(sentence.lower, _names(sentence.things))
        uses = [HEATS[d.state] for d in done if d.state in HEATS]
        tools = [t for t in sentence.things if not preparation(t.name)]
        sure = [t for t in tools if is_tool(t.name) or kind_of(t.name) is not None]
        if not sure and len(tools) == 1:
            sure = tools
        if len(sure) == len(uses) == len(set(uses)):  # else it does not say which does what
            for tool, use in zip(sure, uses, strict=True):
                yield Mention(Triple(tool.name, "used for", use), *tool.span)


def _is_food(sentence: Sentence, thing: NamedThing, kind_of: KindOf, prepares: bool) -> bool:
    """Whether a thing is one that a recipe speaks of, and no place or tool.

    A *chicken wing* is no wing of a house: what a noun suggests counts only where the sentence
    says that something is there.
    """
    known = kind_of(thing.name)
    if thing.name == "meal" or known in _PLACES or is_reproach(thing.name):
        return False
    preposition = sentence.preposition(thing)
    placed = thing.kind == ROOM or (known is None and preposition in WITHIN)
    if placed and _MEAL.search(sentence.cues) and not prepares:
        return False
    if is_tool(thing.name) and known is None and preposition:
        return False
    return thing.kind not in _PLACES or preposition not in (*PLACED, "to", "into", "with", "from")


def _without_states(thing: NamedThing, kind_of: KindOf) -> NamedThing:
    """A thing without the states around its name: *grilled lettuce* is lettuce."""
    words = thing.name.split()
    first, last = 0, len(words)
    while first < last - 1 and kind_of(" ".join(words[first:last])) is None:
        if _is_state(words[first]):
            first += 1
        elif _is_state(words[last - 1]):
            last -= 1
        else:
            break
    return thing._replace(
        name=" ".join(words[first:last]),
        first=thing.first + first,
        last=thing.last - len(words) + last,
    )


def _is_state(word: str) -> bool:
    return preparation(word) == word.removeprefix("un")


def _names(things: Sequence[NamedThing]) -> set[int]:
    """Positions of words of names, but for what is named after what is done: *grilling*."""
    return {
        at
        for thing in things
        if not preparation(thing.name)
        for at in range(thing.first, thing.last)
    }


def _is_told_of(sentence: Sentence, things: list[NamedThing], done: list[Deed]) -> bool:
    """Whether the first of things is what the others are for: *the basis is the egg*."""
    if len(things) < 2 or any(food == things[0] for food, _ in _matched(sentence, things, done)):
        return False
    between = sentence.lower[things[0].last : things[1].first]
    return any(word.isalpha() and word not in _LISTING for word in between)


def _matched(
    sentence: Sentence, foods: list[NamedThing], done: list[Deed]
) -> Iterator[tuple[NamedThing, Deed]]:
    """Each food with what is done to it: what follows a verb at once, else what stands before."""
    for group, own in _grouped(sentence, foods, done):
        kinds = [deed.state in CUTS for deed in own]
        if len(own) == len(group) > 1 and (
            len(set(kinds)) == 1 or "respectively" in sentence.lower
        ):
            yield from zip(group, own, strict=True)
        else:
            yield from ((food, deed) for food in group for deed in own)


def _grouped(
    sentence: Sentence, foods: list[NamedThing], done: list[Deed]
) -> Iterator[tuple[list[NamedThing], list[Deed]]]:
    """Foods that are listed together, and what is done to all of them."""
    groups: list[list[NamedThing]] = []
    for food in foods:
        between = sentence.lower[groups[-1][-1].last : food.first] if groups else []
        if groups and all(word in _LISTING or word == "," for word in between):
            groups[-1].append(food)
        else:
            groups.append([food])
    own: list[list[Deed]] = [[] for _ in groups]
    for deed in done if groups else ():
        own[_object(sentence, groups, deed)].append(deed)
    return zip(groups, own, strict=True)


def _object(sentence: Sentence, groups: list[list[NamedThing]], deed: Deed) -> int:
    """Which group of foods something is done to."""
    after = next((i for i, g in enumerate(groups) if g[0].first > deed.at), -1)
    before = max((i for i, g in enumerate(groups) if g[-1].last <= deed.at), default=-1)
    if -1 in (after, before):
        return max(after, before)
    between = sentence.lower[deed.at + 1 : groups[after][0].first]
    words = [word for word in between if word not in ARTICLES]
    if deed.leads:
        ends = any(not word[0].isalnum() or word in _PRONOUNS for word in words)
        return before if ends else after
    return before if words else after


def _sentences(text: str, kind_of: KindOf, start: int = 0) -> Iterator[Sentence]:
    """Sentences; a question that does not say what is done goes with its answer."""
    begin = -1
    for sentence, first in sentences(text[start:_MAX_TEXT_CHARS]):
        begin = start + first if begin < 0 else begin
        said = Sentence(text, begin, start + first + len(sentence), kind_of)
        if not sentence.endswith("?") or (said.things and deeds(said.lower, _names(said.things))):
            yield said
            begin = -1
