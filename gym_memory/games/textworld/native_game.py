"""Read a generated game from TextWorld's description for playing it without the interpreter.

A game is *native* if Inform's answers can be predicted: its knowledge base is one of TextWorld's,
its descriptions compile, and its facts are complete for each thing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gym_memory.games.textworld.logic import Fact
from gym_memory.games.textworld.native_text import (
    PREPARED,
    UnknownTextError,
    Wording,
    printed,
    printed_objective,
)

__all__ = ["Exit", "NativeGame", "Quest", "Recipe", "read_native"]

_KNOWN_RULES = {
    "231130568243a0ea63daf1e230487ed76a5cfa82191ebc08ff7267481026465f": "house",
    "43be42852a0cfde626606a112c2f624d2ecbfaf4ec29c43d25b05668af7c8195": "coin collector",
    "64ee0d76c0eb614af7fd067dfc0c56b48cc0e587848ee919858f83007ca1e1a7": "cooking",
    "39e87241375be00ffda03afa8dfd894576b11a589d31e285263a21a0d4382673": "cooking",
}
"""Names of TextWorld 1.7.0's knowledge bases by digest."""
DIRECTIONS = ("north", "south", "east", "west")
OPENNESS = ("open", "closed", "locked")
_QUEST_PREDICATES = frozenset({
    "at", "burned", "chopped", "closed", "consumed", "diced", "eaten", "fried", "grilled", "in",
    "locked", "match", "on", "open", "roasted", "sliced",
})  # fmt: skip
"""Predicates of quests on which Inform and the logic agree."""
_UNKNOWN_TO_INFORM = frozenset({"free", "link"})
"""Predicates of quests that TextWorld does not pass to Inform."""
_CAPACITY = 100
"""Inform's default limit on carried things."""


class Exit(NamedTuple):
    """An exit of a room; ``door`` is empty without a door."""

    there: str
    door: str


class Quest(NamedTuple):
    """A quest: alternative sets of facts that lose or score, checked after each turn."""

    reward: int
    required: bool
    repeatable: bool
    losing: tuple[frozenset[Fact], ...]
    scoring: tuple[frozenset[Fact], ...]


class Recipe(NamedTuple):
    """A recipe: the meal, its room, and each ingredient with its heat and cut."""

    meal: str
    kitchen: str
    ingredients: tuple[tuple[str, str, str], ...]


class NativeGame(NamedTuple):
    """A game to play without the interpreter.

    Attributes:
        kinds: Entity to ``c`` container, ``s`` supporter, ``d`` door, ``o`` thing to carry.
        contents: Things in each place at the start, in the order of lists.
        sides: Door to its two rooms.
        keys: Container or door to its key.
        heats: Effect of each appliance on food.
        max_score: Inform's maximum score; None if it has none.
        names: Entities by full name in words.
        phrases: Phrases, of one or more words, that refer to each entity.
    """

    wording: Wording
    objective: str
    cooking: bool
    kinds: Mapping[str, str]
    foods: frozenset[str]
    contents: Mapping[str, tuple[str, ...]]
    exits: Mapping[str, Mapping[str, Exit]]
    sides: Mapping[str, tuple[str, ...]]
    keys: Mapping[str, str]
    heats: Mapping[str, str]
    capacity: int
    recipe: Recipe | None
    quests: tuple[Quest, ...]
    max_score: int | None
    names: Mapping[tuple[str, ...], tuple[str, ...]]
    phrases: Mapping[str, frozenset[tuple[str, ...]]]


def rules_digest(logic: str) -> str:
    """Return a digest of a knowledge base that does not depend on the order of its files."""
    lines = sorted(filter(None, map(str.strip, logic.splitlines())))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def read_native(
    data: Mapping[str, Any], types: Mapping[str, str], subtypes: Mapping[str, frozenset[str]]
) -> NativeGame | None:
    """Return the game of TextWorld's description; None if only the interpreter can play it."""
    rules = _KNOWN_RULES.get(rules_digest(data["KB"]["logic"]))
    if rules is None:
        return None
    try:
        return _read(data, types, subtypes, cooking=rules == "cooking")
    except (UnknownTextError, LookupError, RecursionError, StopIteration):
        return None


def _require(condition: bool, what: object = "") -> None:
    if not condition:
        raise UnknownTextError(str(what))


def _read(
    data: Mapping[str, Any],
    types: Mapping[str, str],
    subtypes: Mapping[str, frozenset[str]],
    *,
    cooking: bool,
) -> NativeGame:
    infos = dict(data["infos"])
    facts = [(f["name"], *(a["name"] for a in f["arguments"])) for f in data["world"]]
    kinds = {
        entity: next((kind for kind in "csdo" if kind_of in subtypes.get(kind, ())), "")
        for entity, kind_of in types.items()
    }
    foods = frozenset(e for e, kind_of in types.items() if kind_of in subtypes.get("f", ()))
    doors = [entity for entity, kind in kinds.items() if kind == "d"]
    wording = Wording(infos, foods if cooking else (), doors)
    wording.check()
    known = frozenset(facts)
    for entity, kind in kinds.items():
        states = sum((state, entity) in known for state in OPENNESS)
        _require(states == 1 if kind == "d" else states <= (kind == "c"), entity)
    for food in foods if cooking else ():
        _require((("edible", food) in known) != (("inedible", food) in known), food)
    exits, sides = _ways(facts)
    objective = data.get("objective") or ""
    _require(objective.isascii() and not any(mark in objective for mark in '"\t\\[]'), objective)
    names, phrases = _vocabulary(infos, types, kinds)
    quests = tuple(_quest(quest, set(_open_ways(exits))) for quest in data["quests"])
    endless = any(q.repeatable for q in quests)
    scored = [q for q in data["quests"] if not q.get("optional") or q["reward"] > 0]
    slots = [entity for entity, kind in types.items() if kind == "slot"]
    contents = _contents(facts, types)
    held = len(contents.get("I", ()))
    _require(not slots or held == sum(("used", slot) in known for slot in slots), "slots")
    return NativeGame(
        wording=wording,
        objective=printed_objective(objective),
        cooking=cooking,
        kinds=kinds,
        foods=foods,
        contents=contents,
        exits=exits,
        sides=sides,
        keys={lock: key for name, key, *lock_ in facts if name == "match" for lock in lock_},
        heats={
            e: {"stove": "fried", "oven": "roasted", "toaster": "grilled"}[kind]
            for e, kind in types.items()
            if kind in ("stove", "oven", "toaster")
        },
        capacity=len(slots) or _CAPACITY,
        recipe=_recipe(facts, types) if cooking else None,
        quests=quests,
        max_score=None if endless else sum(int(q["reward"]) for q in scored),
        names=names,
        phrases=phrases,
    )


def _ways(facts: Iterable[Fact]) -> tuple[dict[str, dict[str, Exit]], dict[str, tuple[str, ...]]]:
    """Return the exits of each room and the rooms of each door.

    The logic moves the player if both rooms are free to each other, Inform if the door, if any, is
    open. At the start both must agree.
    """
    facts = frozenset(facts)
    doors = {(f[1], f[3]): f[2] for f in facts if f[0] == "link"}
    exits: dict[str, dict[str, Exit]] = {}
    for name, *rooms in facts:
        direction = name.removesuffix("_of")
        if direction != name:
            _require(direction in DIRECTIONS and len(rooms) == 2, name)
            there, here = rooms
            door = doors.get((here, there), "")
            _require(door == doors.get((there, here), ""), door)
            is_open = not door or ("open", door) in facts
            _require(is_open == (("free", here, there) in facts), rooms)
            _require(direction not in exits.setdefault(here, {}), rooms)
            exits[here][direction] = Exit(there, door)
    ways = {(here, way.there) for here, found in exits.items() for way in found.values()}
    _require(set(doors) <= ways, doors)
    sides: dict[str, tuple[str, ...]] = {}
    for (here, _), door in sorted(doors.items()):
        sides[door] = (*sides.get(door, ()), here)
    return exits, sides


def _contents(facts: Iterable[Fact], types: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the contents of each place, ordered by type and facts as Inform creates things."""
    order: dict[str, int] = {}
    places: dict[str, str] = {}
    for name, *entities in facts:
        if types[entities[0]] == "r":
            continue
        mentioned = entities[:2] if name in ("match", "in", "on", "at") else entities[:1]
        for entity in mentioned:
            order.setdefault(entity, len(order))
        if name in ("in", "on", "at") and entities[0] != "P":
            _require(entities[0] not in places, entities)
            places[entities[0]] = entities[1]
    contents: dict[str, tuple[str, ...]] = {}
    for thing in sorted(places, key=lambda thing: (types[thing], order[thing])):
        contents[places[thing]] = (*contents.get(places[thing], ()), thing)
    return contents


def _recipe(facts: Iterable[Fact], types: Mapping[str, str]) -> Recipe:
    facts = tuple(facts)
    bases = {f[2]: f[1] for f in facts if f[0] == "base"}
    prepared = {(f[1], f[0]) for f in facts if len(f) == 2}
    ingredients: dict[str, None] = {}
    for name, *entities in facts:
        if types[entities[0]] == "ingredient" and name != "base":
            ingredients.setdefault(entities[0])
    inside = {f[1] for f in facts if f[0] == "in" and f[2] == "RECIPE"}

    def state(ingredient: str, words: tuple[str, ...], default: str) -> str:
        return next((word for word in words if (ingredient, word) in prepared), default)

    return Recipe(
        meal=next(f[1] for f in facts if f[0] == "out"),
        kitchen=next(f[1] for f in facts if f[0] == "cooking_location"),
        ingredients=tuple(
            (
                bases[one],
                state(one, ("fried", "roasted", "grilled"), "raw"),
                state(one, ("sliced", "diced", "chopped"), "uncut"),
            )
            for one in ingredients
            if one in inside
        ),
    )


def _open_ways(exits: Mapping[str, Mapping[str, Exit]]) -> Iterator[Fact]:
    """Yield the facts about ways without a door, which are constant in Inform."""
    for here, ways in exits.items():
        for direction, way in ways.items():
            if not way.door:
                yield f"{direction}_of", way.there, here


def _quest(quest: Mapping[str, Any], always: Container[Fact]) -> Quest:
    def alternatives(events: Iterable[Mapping[str, Any]]) -> tuple[frozenset[Fact], ...]:
        found = []
        for event in events:
            conditions = (
                (f["name"], *(a["name"] for a in f["arguments"]))
                for f in event["condition"]["preconditions"]
                if f["name"] not in _UNKNOWN_TO_INFORM
            )
            facts = frozenset(fact for fact in conditions if fact not in always)
            _require(bool(facts) and all(fact[0] in _QUEST_PREDICATES for fact in facts), facts)
            found.append(facts)
        return tuple(found)

    reward = quest["reward"]
    _require(reward == int(reward), reward)
    return Quest(
        reward=int(reward),
        required=not quest.get("optional") and bool(quest["win_events"]),
        repeatable=bool(quest.get("repeatable")),
        losing=alternatives(quest["fail_events"]),
        scoring=alternatives(quest["win_events"]),
    )


_RESERVED_WORDS = frozenset({
    "a", "an", "the", "some", "any", "another", "other", "that", "this", "these", "those", "my",
    "his", "her", "their", "its", "lit", "lighted", "unlit", "all", "each", "every", "everything",
    "both", "it", "him", "them", "me", "myself", "self", "yourself", "and", "but", "except",
    "with", "using", "from", "in", "inside", "into", "on", "onto", "off", "out", "outside", "to",
    "at", "against", "about", "for", "up", "down", "under", "over", "through", "top", "north",
    "south", "east", "west", "northeast", "northwest", "southeast", "southwest", "n", "s", "e",
    "w", "ne", "nw", "se", "sw", "u", "d", "one", "two", "three", "four", "five", "six", "seven",
    "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
    "seventeen", "eighteen", "nineteen", "twenty", "again", "g", "oops", "undo",
})  # fmt: skip
"""Words that the parser never reads as names."""
_DICTIONARY_LETTERS = 9
"""Length of a word in the Z-machine's dictionary; characters other than letters count twice."""


def word_key(word: str) -> str:
    """Return the dictionary form of a lower-case word.

    >>> word_key("refrigerator"), word_key("box1234567")
    ('refrigera', 'box123')
    """
    kept, room = "", _DICTIONARY_LETTERS
    for letter in word:
        room -= 1 if letter.isalpha() else 2
        if room < 0:
            break
        kept += letter
    return kept


def parser_words(text: str) -> tuple[str, ...]:
    """Return the words of a name as the parser compares them."""
    return tuple(map(word_key, text.lower().split()))


_NAME_PUNCTUATION = str.maketrans(" -'", "aaa")


def _vocabulary(
    infos: Mapping[str, Mapping[str, Any]], types: Mapping[str, str], kinds: Mapping[str, str]
) -> tuple[dict[tuple[str, ...], tuple[str, ...]], dict[str, frozenset[tuple[str, ...]]]]:
    names: dict[tuple[str, ...], tuple[str, ...]] = {}
    phrases: dict[str, frozenset[tuple[str, ...]]] = {}
    for entity, info in infos.items():
        _require(not info.get("definite"), info.get("definite"))
        name = info["name"]
        if not name or not (kinds[entity] or types[entity] == "r"):
            continue
        _require(name.isascii() and name.translate(_NAME_PUNCTUATION).isalnum(), name)
        _require(types[entity] == "r" or printed(name) == name, name)
        wholes = [parser_words(text) for text in (name, *(info.get("synonyms") or ()))]
        for words in wholes:
            names[words] = (*names.get(words, ()), entity)
        if kinds[entity]:
            single = [w for w in name.lower().split() if w not in ("the", "of")]
            alone = {(word_key(w),) for w in single} if len(wholes[0]) > 1 else set()
            phrases[entity] = frozenset({*wholes, *alone})
    return names, phrases


def matched(phrases: frozenset[tuple[str, ...]], words: tuple[str, ...], *, food: bool) -> int:
    """Return the number of leading words that may refer to a thing with these phrases."""
    at = 0
    while at < len(words):
        lengths = [len(p) for p in phrases if words[at : at + len(p)] == p]
        if food and words[at] in PREPARED:
            lengths.append(1)
        if not lengths:
            break
        at += max(lengths)
    return at


def is_plain(words: Iterable[str]) -> bool:
    """True if the parser reads the words only as a name."""
    return _RESERVED_WORDS.isdisjoint(words)
