"""Ways out that sentences name: *a path leads north*."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

from gym_memory.core.text import word_set
from gym_memory.extract.notes.words import ROOM, kind_of_noun
from gym_memory.extract.things import COMPASS, NAME, has_any
from gym_memory.extract.wording import phrases, word_group
from gym_memory.graph.schema import DIRECTIONS

__all__ = ["BARRED", "WAYS", "is_passable", "ways_in"]

WAYS = "|".join(phrases("ways"))
"""Nouns for what the agent can go through or along, divided by ``|``."""
_WAY = re.compile(
    rf"\b(?P<side>{COMPASS})ern (?:{WAYS}|one)\b|\b"
    rf"(?P<way>{COMPASS}|(?:up|down)(?= stair))(?:ward)?s?\b"
    r"(?!-[a-z]*ern|-(?!north|south|east|west)| of\b"
    r"| (?:wall|side|end|edge|face|bank|corner|shore|wing|part|half|tower|coast)\b)"
    r"|(?:\b(?:lead(?:s|ing)?|go(?:es|ing)?|runs?|head(?:s|ing)?|climb(?:s|ing)?|slopes?|winds?"
    r"|twist(?:s|ing)|dips?|bends?|curves?|spirals?|stairs?|staircase|stairway|steps|ladder|ramp"
    r"|path|passage|scramble|slide|chute|(?<!long )ways?|exits?|or|and"
    r"|(?:stairs|staircase|stairway) [a-z]+)|,)"
    r"(?: steeply| sharply| back| off| out| also| is){0,3} \(?"
    r"(?P<steep>up|down)(?:wards?|stairs(?= (?:and|or|to)\b|[,;.!]|$))?\b"
    r"(?! to the (?:floor|ceiling)\b| (?:your|my|his|her|their)\b"
    r"| (?:one|each|either|both|the \w+) (?:sides?|middle|cent(?:er|re)|walls?|face|front|back)\b)"
    r"|\b(?:stairs|steps|staircase|stairway|ladder|path|passage|tunnel|shaft|ramp) "
    r"(?P<falls>descends?|ascends?)\b",
    re.ASCII,
)
_PASSABLE = word_group("ways") | word_group("leading")
"""Nouns and verbs of which a text has one if it tells of a way."""
_LIES = re.compile(
    rf"(?:the|your|an?) (?:[\w-]+, )?(?P<place>{NAME})(?: (?:is|are|lies))?"
    r"(?: (?:back|just|also|outside|inside|off|away|directly|immediately)){0,2}"
    rf"(?: to the| due)? (?P<way>{COMPASS}|above|below)(?:ward)?(?=[,;.!]| and |$)"
)
"""A room beside this one: *the pantry is to the south*."""
_RISING_VERB = re.compile(r"\b(?:go|goes|going|climbs?|climbing|heads?|heading)\b[\w ]*$")
"""Verbs before *up* or *down* that need not mean a way: *the price goes up*."""
_UP_AND_DOWN = re.compile(r"\b(?:you|him|her|it|them|(?:jump|pac|bob|hop|bounc)\w*) up and $")
"""Words before *down* that are an idiom with it: *she looks you up and down*."""
_SLOPE = re.compile(rf"(?:up|down)(?:wards?)? to the {COMPASS}\b")
"""A slope whose exit is the compass direction: *the path goes up to the north*."""
_STEPS = re.compile(r"\b(?:stair(?:s|case|way)|steps|ladder|ramp|scramble|slide|chute)\b")
"""Nouns for what leads up or down, wherever else it leads."""
_WAY_NOUN = re.compile(rf"\b(?:(?:{WAYS})s?|slopes?|shafts?|chutes?|ropes?|it|which|that|you)\b")
_BARRING = (
    *("no", "nothing", "not", "never", "can't", "cannot", "blocked", "blocks", "barred", "bars"),
    *("impossible", "unclimbable", "impassable", "sealed", "nailed", "except", "prevent"),
    *("prevents", "boarded", "rubble", "locked", "collapsed", "once", "might", "would", "could"),
    *("if", "wall"),
)
BARRED = re.compile(rf"\b(?:{'|'.join(_BARRING)}|too \w+ (?:to|for))\b", re.ASCII)
"""Words in a clause by which its directions are not exits."""
_BARRING_WORDS = word_set(" ".join((*_BARRING, "too")))
"""Words of which a barred clause has one, for a fast test."""
_BETWEEN_CLAUSES = re.compile(
    r";|,? \b(?:but|except)\b|, (?:although|though|where|which|while|revealing|exposing)\b"
    r"|,? and (?=there (?:is|are) )|, and (?=(?:the|an?|another) )"
    r"| that (?=is (?:too|blocked|barred|sealed|locked|boarded)\b)",
    re.ASCII,
)
_RELATIVES = (", which ", ", where ")
"""Beginnings of clauses that must have a word for a way of their own."""
_OF_LAST_WAY = re.compile(r",? (?:which|but it|that is)\b")
_DIRECTION_WORDS = frozenset(
    f"{way}{ending}"
    for way in DIRECTIONS
    if way not in ("in", "out")
    for ending in ("", "s", "ward", "wards", "ern", "stairs")
) | {"descend", "descends", "ascend", "ascends"}
"""Words for a fast test: a sentence that names a way has one of them."""
_CAN_GO = re.compile(
    r"\byou can (?:\w+ )?(?:get|return|walk|climb|crawl|escape|slip|squeeze|proceed|retreat)\b"
)
"""Words of a way without a noun: *you can get out to the north*."""
_VERTICAL = frozenset(("above", "below"))
_INSTRUCTION_OR_DISTANCE = re.compile(r"\btype\b(?! of)|\d steps?\b")
"""Instructions, whose directions are commands, and distances in steps."""


def is_passable(text: str) -> bool:
    """True if a text has a word for what the agent can go through, or for where that leads."""
    return not _PASSABLE.isdisjoint(word_set(text))


def ways_in(sentence: str, words: Set[str]) -> Sequence[tuple[int, int]]:
    """Return the spans of the exits that a sentence in lower case, with its words, names."""
    if _DIRECTION_WORDS.isdisjoint(words):
        return () if _VERTICAL.isdisjoint(words) else _rooms_beside(sentence)
    if _PASSABLE.isdisjoint(words) and not ("can" in words and _CAN_GO.search(sentence)):
        return _rooms_beside(sentence)
    if sentence.startswith(
        ("you try", "you want", "you attempt")
    ) or _INSTRUCTION_OR_DISTANCE.search(sentence):
        return ()
    ways: list[tuple[int, int]] = []
    barred = not _BARRING_WORDS.isdisjoint(words)
    for begin, end in _clauses(sentence):
        aside = sentence.startswith(_RELATIVES, begin) and not is_passable(sentence[begin:end])
        if barred and BARRED.search(sentence, begin, end):
            if _OF_LAST_WAY.match(sentence, begin):  # a door to the west, which is nailed shut
                del ways[-1:]
        elif not aside:  # the peak, which looms to the east
            for found in _WAY.finditer(sentence, begin, end):
                at = found.start("steep")
                if at < 0 or not _only_rises(sentence, begin, at, end):
                    ways.append(found.span(found.lastgroup or 0))
    return ways


def _rooms_beside(sentence: str) -> Sequence[tuple[int, int]]:
    """Return where a sentence in lower case says in which directions rooms are."""
    if not has_any(sentence, (" is ", " are ", " lies ")):
        return ()
    lying = (
        found
        for begin, end in _clauses(sentence)
        if not BARRED.search(sentence, begin, end)
        for found in _LIES.finditer(sentence, begin, end)
    )
    return [found.span("way") for found in lying if kind_of_noun(found["place"]) == ROOM]


def _clauses(sentence: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each clause, which begins with its conjunction."""
    begin = 0
    for cut in _BETWEEN_CLAUSES.finditer(sentence):
        yield begin, cut.start()
        begin = cut.start()
    yield begin, len(sentence)


def _only_rises(sentence: str, begin: int, at: int, end: int) -> bool:
    """True if what goes up or down in a clause is not a way: *the curtain goes up*."""
    if _SLOPE.match(sentence, at, end):
        return not _STEPS.search(sentence, begin, at)
    if _UP_AND_DOWN.search(sentence, begin, at):
        return True
    rises = _RISING_VERB.search(sentence, begin, at) is not None
    return rises and not _WAY_NOUN.search(sentence, begin, end)
