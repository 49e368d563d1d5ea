"""Vocabulary of facts, their slots, and the names of things in text.

A new value of a *functional* relation retires the old one of its *slot*. All extraction rules share
this vocabulary (each family adds its own):

==================================  ========================================================
fact                                meaning
==================================  ========================================================
``you | is in | kitchen``           the agent's place
``you | is at | desk 1``            the furniture that the agent stands before
``apple | is in | fridge``          in a container, a room (on its floor) or ``inventory``
``knife | is on | table``           on a supporter
``bowl | contains | orange``        as above, if a name may mean several things
``kitchen | has exit | north``      a way out, wherever it leads, with or without a door
``hall | is east of | kitchen``     a known way: going east from the kitchen leads to the hall
``hall | is through door 4 of |``   a known way by an exit with a name instead of a direction
``jackal | was last seen in | hall``  last place of something that moves by itself
``kitchen | has north door | gate`` the door in that exit
``fridge | is | closed``            open / closed (shut, perhaps locked) / locked
``fridge | is | empty``             seen to hold nothing (containers and supporters)
``apple | is | diced``              chopped / sliced / diced; a text does not mention uncut
``apple | is | fried``              fried / roasted / grilled / burned; raw if to be cooked
``apple | is | hot``                hot / cool, made so; also ``clean``, which nothing undoes
``apple | is | consumed``           eaten, drunk or used up
``recipe | requires | apple``       an ingredient
``apple | needs to be | diced``     a direction of the recipe (cut, cook); they add up
``meal | is prepared in | kitchen`` the only room where that can be done
``stove | used for | frying``       the use of an appliance
``note | says | ...``               text that was read, whole
``note | mentions | red locker``    entities in text that was read
``lamp | means | brass lantern``     a word that commands may use for a thing
``red key | opens | red locker``    seen to work, or stated by the text
``red key | does not open | safe``  both were present, and yet it was no valid action
``cup | was put on | shelf``        put there once, wherever it is now; also ``was put in``
``cup | belongs on | shelf``        its place by praise or reward; also ``belongs in``
``hall | tried | open safe``        an action taken there, only in a recall; ``tried 3 times``
==================================  ========================================================
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache

from gym_memory.core.records import Triple
from gym_memory.core.text import words as words_of

__all__ = ["ACTION_RESULTS", "DETERMINERS", "DIRECTIONS", "EXIT", "INVENTORY", "LOCATIONS"]
__all__ += ["MEANS", "OPPOSITE", "PLAYER", "QUOTED", "RECIPE", "SHORT_DIRECTIONS", "TRIED"]
__all__ += ["UNEXPLORED", "VERBATIM"]
__all__ += ["NameIndex", "Slot", "clean_name", "contains", "direction_in", "direction_of"]
__all__ += ["door_direction", "door_relation", "head_noun", "is_contents", "is_readable"]
__all__ += ["named_in", "nouns", "slot_of", "times_tried", "tried_relation", "way_relation"]


class _Opposites(dict[str, str]):
    """Opposite by direction; a named exit leads back through itself."""

    def __missing__(self, exit_: str) -> str:
        return exit_


PLAYER = "you"
"""Agent, as a subject of facts."""
INVENTORY = "inventory"
"""Place of carried things."""
OPPOSITE = _Opposites({
    "north": "south", "south": "north", "east": "west", "west": "east",
    "northeast": "southwest", "southwest": "northeast",
    "northwest": "southeast", "southeast": "northwest",
    "up": "down", "down": "up", "in": "out", "out": "in",
})  # fmt: skip
"""Direction back, by direction."""
DIRECTIONS = tuple(OPPOSITE)
"""All directions, in the order of searches."""
LOCATIONS = frozenset({"is in", "is on", "is under", "is at", "is carried by"})
"""Relations of a thing to its place; they share the slot ``location``."""

EXIT = "has exit"
"""Relation of a place to an exit, wherever it leads."""
UNEXPLORED = "has unexplored exit"
"""Relation of a place to an exit that was never taken, used in recalls."""

VERBATIM = frozenset({"says"})
"""Relations whose object is verbatim text, not the name of an entity."""
QUOTED = VERBATIM | {"mentions"}
"""Relations of a text to its words and to the things that it mentions."""
RECIPE = frozenset({"requires", "needs to be"})
"""Relations of a recipe, which one text states as a whole."""
ACTION_RESULTS = frozenset(
    {"was put in", "was put on", "belongs in", "belongs on", "does not open"}
)
"""Relations for results of the agent's own actions, which are never superseded."""

MEANS = "means"
"""Relation of a word in commands to the name of the thing in texts."""
TRIED = "tried"
"""Relation of a place to an action that was taken there once."""

Slot = tuple[str, str]
"""Entity and name of the slot."""

_STATE_SLOT = {
    **dict.fromkeys(("open", "closed", "locked", "broken"), "openness"),
    **dict.fromkeys(("explored", "partly explored"), "exploration"),
    **dict.fromkeys(("uncut", "chopped", "sliced", "diced"), "cut"),
    **dict.fromkeys(("raw", "fried", "roasted", "grilled", "burned"), "heat"),
    **dict.fromkeys(("on", "off", "lit", "unlit"), "power"),
    **dict.fromkeys(("empty", "full"), "fill"),
    **dict.fromkeys(("wet", "dry"), "moisture"),
    **dict.fromkeys(("clean", "dirty"), "cleanness"),
    **dict.fromkeys(("hot", "cool"), "temperature"),
}
_WAYS = {f"is {d} of": d for d in OPPOSITE}
_THROUGH, _OF = "is through ", " of"
_SLOTS = {
    "was last seen in": "sighting",
    "was last in stage": "stage",
    "had temperature": "temperature reading",
    "focused on": "focus",
    "means": "meaning",
}
_DOORS = {f"has {d} door": f"{d} door" for d in OPPOSITE}
_CONTAINS = "contains"


def contains(number: int = 1) -> str:
    """Return the relation of a holder to several things of the same name in or on it."""
    return _CONTAINS if number == 1 else f"{_CONTAINS} {number}"


def is_contents(relation: str) -> bool:
    """True if a relation is one of :func:`contains`."""
    return relation.startswith(_CONTAINS)


def tried_relation(times: int) -> str:
    """Return the relation of a place to an action that was taken there a number of times.

    >>> tried_relation(1), tried_relation(3)
    ('tried', 'tried 3 times')
    """
    return TRIED if times == 1 else f"{TRIED} {times} times"


def times_tried(relation: str) -> int:
    """Return the number in a relation of :func:`tried_relation`."""
    return 1 if relation == TRIED else int(relation.split()[1])


def way_relation(direction: str) -> str:
    """Return the relation of a known way: ``is east of``, ``is through door 4 of``."""
    return f"is {direction} of" if direction in OPPOSITE else f"{_THROUGH}{direction}{_OF}"


def door_relation(direction: str) -> str:
    """Return the relation of a room to the door in one of its exits: ``has east door``."""
    return f"has {direction} door"


def door_direction(relation: str) -> str:
    """Return the direction in the relation of a room to a door; empty for every other relation.

    >>> door_direction("has east door"), door_direction("has exit")
    ('east', '')
    """
    is_door = relation.startswith("has ") and relation.endswith(" door")
    return relation.removeprefix("has ").removesuffix(" door") if is_door else ""


def direction_of(relation: str) -> str | None:
    """Return the direction in a way's relation; None for every other relation.

    >>> direction_of("is east of"), direction_of("is through door 4 of"), direction_of("is in")
    ('east', 'door 4', None)
    """
    direction = _WAYS.get(relation)
    if direction is None and relation.startswith(_THROUGH) and relation.endswith(_OF):
        return relation[len(_THROUGH) : -len(_OF)]
    return direction


def slot_of(triple: Triple) -> Slot | None:
    """Return the slot that a fact fills, for a way that of the room it starts from; None for none.

    >>> slot_of(Triple("apple", "is on", "table"))
    ('apple', 'location')
    >>> slot_of(Triple("hall", "is east of", "kitchen"))
    ('kitchen', 'east')
    """
    subject, relation, obj = triple
    if relation in LOCATIONS:
        return subject, "location"
    if relation == "is":
        state = _STATE_SLOT.get(obj)
        return (subject, state) if state else None
    direction = direction_of(relation)
    if direction is not None:
        return obj, direction
    if relation in _SLOTS:
        return subject, _SLOTS[relation]
    door = _DOORS.get(relation)
    return (subject, door) if door is not None else None


SHORT_DIRECTIONS = {
    "n": "north", "s": "south", "e": "east", "w": "west", "u": "up", "d": "down",
    "ne": "northeast", "nw": "northwest", "se": "southeast", "sw": "southwest",
}  # fmt: skip
"""Directions by their abbreviations in commands."""
_GOING = frozenset(("go", "walk", "run", "head", "move", "travel"))


@lru_cache(maxsize=1 << 14)
def direction_in(action: str) -> str | None:
    """Return the direction of a move; None for any other command.

    >>> direction_in("go north"), direction_in("W"), direction_in("open north door")
    ('north', 'west', None)
    """
    words = action.lower().split()
    if not words or len(words) > 4 or (len(words) > 1 and words[0] not in _GOING):
        return None
    last = SHORT_DIRECTIONS.get(words[-1], words[-1])
    return last if last in DIRECTIONS else None


DETERMINERS = frozenset(
    "the a an my your his her its our their this that these those some any".split()  # noqa: SIM905
)
"""Words before a partial name."""

_NAME_MARKS = "#$%&'’*+-/<=>@[\\]^_`{|}~"
"""Marks that may be part of a name; others separate words."""
_OF_WHAT = re.compile(r"(?<=\w)\s+(?:of|to|for|from|with|in|on)\s")
_LABEL = re.compile(r"#?[a-z]?\d+|[a-z]|[ivx]+|no\.?|number|one|two|three|four|five|six")
_ONE = "one"
_INDEFINITE = ("a", "an", "any", "some")
_MAX_TEXTS = 4096
"""Most texts whose names are cached, such as the task and actions."""
_MAX_PARTIAL_WORDS = 4
_MAX_CANDIDATES = 8
"""Most candidates for a partial name; with more, none is searched."""
_MAX_NEW_NAMES = 32
"""Most new names that are compared with a text one by one, before it is searched again."""


@lru_cache(maxsize=1 << 14)
def head_noun(name: str) -> str:
    """Return the main noun of a name, without a label or an *of* phrase.

    >>> head_noun("brass key"), head_noun("Key 1"), head_noun("key to the vault")
    ('key', 'key', 'key')
    """
    if name.isalpha():
        return name.lower()
    words = _OF_WHAT.split(name.lower(), maxsplit=1)[0].split()
    while len(words) > 1 and _LABEL.fullmatch(words[-1]):
        words.pop()
    return words[-1] if words else ""


@lru_cache(maxsize=1 << 14)
def nouns(name: str) -> tuple[str, ...]:
    """Return the words that can end a partial name: the head noun and the noun after *of*.

    >>> nouns("block of cheese"), nouns("brass key")
    (('block', 'cheese'), ('key',))
    """
    _, of, rest = name.lower().partition(" of ")
    return (head_noun(name), head_noun(rest)) if of and rest else (head_noun(name),)


@lru_cache(maxsize=_MAX_TEXTS)
def _words(text: str) -> list[str]:
    return words_of(text, _NAME_MARKS)


@lru_cache(maxsize=1 << 14)
def _parts(name: str) -> tuple[tuple[str, ...], str, tuple[tuple[str, str], ...]]:
    """Return the words of a name, their joined text, and each pair of a word and a noun."""
    words = tuple(_words(name))
    pairs = tuple((word, noun) for noun in (*nouns(name), _ONE) for word in dict.fromkeys(words))
    return words, " ".join(words), pairs


class NameIndex:
    """An index that finds the names of known entities in text, in O(words).

    A partial name is a determiner and at most four words of a name, the last of them one of its
    :func:`nouns`, or *one* as in *the red one*. It counts if it fits exactly one name.

    Args:
        partial: True to find partial names, too.

    >>> names = NameIndex(partial=True)
    >>> for name in ("apple", "red apple", "block of cheese", "brass key", "iron key"):
    ...     names.learn(name)
    >>> names.find("Take the RED apple, then an apple (no pineapple).")
    ('red apple', 'apple')
    >>> names.find("Where's the cheese? And the key, the iron one?")
    ('block of cheese', 'iron key')
    """

    def __init__(self, *, partial: bool = False) -> None:
        self._is_partial = partial
        self._names: set[str] = set()
        self._by_words: dict[str, str] = {}
        self._longest: dict[str, int] = {}  # first word to the most words of a name
        self._by_noun: dict[tuple[str, str], list[str]] = {}  # by a word and a noun of the name
        self._learnt: list[tuple[str, ...]] = []  # words that texts with each name have, in order
        self._found: dict[str, tuple[tuple[str, ...], int]] = {}  # and how many were learnt then

    @property
    def all(self) -> Container[str]:
        """Return the names in the index."""
        return self._names

    def learn(self, name: str) -> None:
        """Add a name, in lower case as the graph keeps them."""
        if name in self._names:
            return
        self._names.add(name)
        words, phrase, pairs = _parts(name)
        self._learnt.append((*words, _ONE) if self._is_partial else words[:1])
        if words:
            self._by_words[phrase] = name
            if len(words) > self._longest.get(words[0], 0):
                self._longest[words[0]] = len(words)
        for pair in pairs if self._is_partial else ():
            self._by_noun.setdefault(pair, []).append(name)

    def find(self, text: str) -> tuple[str, ...]:
        """Return the names in ``text``, in order, each once; of nested names, the longest."""
        found, learnt = self._found.get(text, ((), -1))
        if learnt < len(self._learnt):
            if learnt < 0 or self._may_name_more(text, learnt):
                found = tuple(dict.fromkeys(self._search(_words(text))))
            if len(self._found) >= _MAX_TEXTS:
                self._found.clear()
            self._found[text] = found, len(self._learnt)
        return found

    def _may_name_more(self, text: str, learnt: int) -> bool:
        """True if a text may have a name that was added after the first ones."""
        new = self._learnt[learnt:]
        text = text.lower()
        return len(new) > _MAX_NEW_NAMES or any(word in text for words in new for word in words)

    def _search(self, words: Sequence[str]) -> Iterator[str]:
        position = 0
        while position < len(words):
            name, end = self._full(words, position)
            if self._is_partial and words[position] in DETERMINERS and name is None:
                name, end = max(
                    (self._full(words, position + 1), self._partial(words, position + 1)),
                    key=lambda found: found[1],
                )
            if name is not None:
                yield name
            position = position + 1 if name is None else end

    def _full(self, words: Sequence[str], start: int) -> tuple[str | None, int]:
        """Return the longest name at a position, and the position after it."""
        longest = self._longest.get(words[start], 0) if start < len(words) else 0
        for end in range(start + longest, start, -1):
            name = self._by_words.get(" ".join(words[start:end]))
            if name is not None:
                return name, end
        return None, start

    def _partial(self, words: Sequence[str], start: int) -> tuple[str | None, int]:
        """Return the only name for the longest partial name at a position, as :meth:`_full`."""
        for end in range(min(start + _MAX_PARTIAL_WORDS, len(words)), start, -1):
            if words[end - 1] == _ONE and words[start - 1] in _INDEFINITE:
                continue
            fits = self._by_noun.get((words[start], words[end - 1]), ())
            if 0 < len(fits) <= _MAX_CANDIDATES:
                phrase = set(words[start:end]) - {_ONE}
                fits = [name for name in fits if phrase.issubset(_words(name))]
                if len(fits) == 1:
                    return fits[0], end
        return None, start


def named_in(text: str, names: Iterable[str]) -> frozenset[str]:
    """Return the names that occur in a text, in full or as an unambiguous part.

    >>> sorted(named_in("Take the red one, and milk.", ("red apple", "green apple", "milk")))
    ['milk', 'red apple']
    """
    words = frozenset(_words(text))
    return _named_in(text, frozenset(n for n in names if not words.isdisjoint(_parts(n)[0])))


@lru_cache(maxsize=1 << 10)
def _named_in(text: str, names: frozenset[str]) -> frozenset[str]:
    index = NameIndex(partial=True)
    for name in sorted(names):
        index.learn(name)
    return frozenset(index.find(text))


_READABLE = re.compile(
    r"(?:foot)?notes?|letters?|messages?|memo(?:randum)?s?|papers?|pages?|signs?|posters?|scrolls?"
    r"|diary|journal|maps?|labels?|plaques?|tablets?|leaflets?|flyers?|newspaper|inscription|riddle"
    r"|clues?|hints?|(?:note|text|guide|log|cook|hand|hymn)?books?|novel|manuscript|poem|parchment"
    r"|pamphlet|brochure|postcard|telegram|receipt|ledger|missive|epistle|notice|placard|document"
    r"|instructions?|script|folder|recipes?|binder|guide|manual|slip|ticket|tag|chart|dispatch"
    r"|bulletin|reminder|almanac|booklet|notepad|cards?|envelopes?|sheets?|scraps?|stickers?"
    r"|menus?|tomes?|(?:black|white|chalk|clip)board"
)


@lru_cache(maxsize=1 << 15)
def clean_name(text: str) -> str:
    """Return a name as in facts: lower case, single spaces, no article.

    >>> clean_name("The  Living Room")
    'living room'
    """
    words = text.lower().split()
    if len(words) > 1 and words[0] in ("a", "an", "the", "some"):
        del words[0]
    return " ".join(words)


@lru_cache(maxsize=1 << 14)
def is_readable(name: str) -> bool:
    """True if the name of a thing is one of something with text on it.

    >>> is_readable("note 2"), is_readable("cookbook"), is_readable("notepad holder")
    (True, True, False)
    """
    return _READABLE.fullmatch(head_noun(name)) is not None
