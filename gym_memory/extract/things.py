"""Names of things in English text: one thing with its states, sentences, capitals."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from gym_memory.extract.notes.words import Phrase, split_things
from gym_memory.graph.schema import clean_name

__all__ = ["ANY_STATE", "ARTICLE", "COMPASS", "NAME", "NOTHING", "SAME", "STATE_WORD"]
__all__ += ["VAGUE", "WITH_STATE", "has_any", "is_name", "one_thing"]
__all__ += ["split_sentences", "things_in"]

_MAX_NAME_WORDS = 6
_MAX_SENTENCE_CHARS = 1000
NAME = r"[^\s.,;:!?()\[\]\"][^.,;:!?()\[\]\"\n]{0,59}?"
ARTICLE = r"(?:[Aa]n?|[Tt]he|[Ss]ome|[Yy]our|[Oo]ne|[Tt]wo|[Tt]hree|\d[\w.]*)\b"
STATE_WORD = (
    r"(?:open|opened|closed|shut|locked|unlocked|empty|lit|unlit|broken|on|off|full|hot|cold|"
    r"cool|raw|cooked|fried|roasted|grilled|burned|burnt|chopped|sliced|diced|clean|dirty|wet|dry)"
)
SAME = {"opened": "open", "shut": "closed", "burnt": "burned"}
_SPLIT = re.compile(rf"(?:,? and |, )(?={ARTICLE}|[A-Z][a-z])")
_SENTENCE = re.compile(r"(?:[^.!?\n]+|\.(?=\w))+[.!?]*[\"']?")
"""A dot inside a number or a name ends nothing."""
ANY_STATE = re.compile(rf"\b{STATE_WORD}\b")
WITH_STATE = re.compile(rf"(?P<thing>.+?),? (?:that|which) (?:is|are) (?P<state>{STATE_WORD})$")
_IN_BRACKETS = re.compile(
    rf"(?P<thing>[^()]+?) \((?:that is |which is )?(?P<state>{STATE_WORD})\)$"
)
_STATE_FIRST = re.compile(
    rf"(?P<article>{ARTICLE} )?(?P<state>open|opened|closed|shut|locked|unlocked|empty) (?=\w)"
)
_REMARK = re.compile(
    r"(?: \((?![^)]*\d\))[^()]*\)| (?:here|nearby)\b.*|,? (?:whose|that|which) .*"
    r"|, (?:\w+ing|\w+ed|open) .*)$"
)
_ONE = re.compile(rf"^(?:{ARTICLE}) ", re.IGNORECASE)
_COUNT = re.compile(r"(?:1|\d+(?!.*s$)) (?=[^\W\d])")
"""A number before a singular: how many, which is no part of the name."""
NOTHING = re.compile(r"(?:nothing|no one|nobody|no|not|none|empty)\b", re.IGNORECASE)
_VAGUE_WORDS = (
    *("that", "which", "who", "it", "they", "them", "this", "these", "those", "he", "she", "him"),
    *("her", "i", "we", "you", "way", "ways", "lot", "number"),
)
VAGUE = re.compile(rf"\b(?:{'|'.join(_VAGUE_WORDS)})$")
COMPASS = r"(?:north|south)(?:-?(?:east|west))?|east|west"
_LEADS = re.compile(
    rf"\b(?:to|in|from|leading|going|heading)(?: the)? (?:{COMPASS})\b|\w (?:up|down)(?:wards?)?$"
)


@lru_cache(maxsize=1024)
def split_sentences(text: str) -> tuple[tuple[str, int], ...]:
    """Return sentences with the position of their first character, without overlong ones."""
    found = ((match.group().strip(), match) for match in _SENTENCE.finditer(text))
    return tuple(
        (sentence, match.start() + match.group().index(sentence[0]))
        for sentence, match in found
        if sentence and len(sentence) <= _MAX_SENTENCE_CHARS
    )


@lru_cache(maxsize=4096)
def things_in(text: str, bare: bool) -> tuple[Phrase, ...]:
    """Return the things of an enumeration; those without an article only if ``bare``."""
    begin, found = 0, []
    several = "," in text or " and " in text
    for cut in [*(_SPLIT.finditer(text) if several else ()), None]:
        phrase = one_thing(text[begin : cut.start() if cut else len(text)], bare)
        if phrase is not None:
            found.append(phrase._replace(start=begin + phrase.start, end=begin + phrase.end))
        begin = cut.end() if cut else len(text)
    return tuple(found)


def one_thing(text: str, bare: bool) -> Phrase | None:
    """Read one thing, its states before the name, in a clause or in brackets."""
    states: list[str] = []
    end = len(text)
    clause = " that " in text or " which " in text
    for pattern in (WITH_STATE, _IN_BRACKETS) if clause or ")" in text else ():
        found = pattern.fullmatch(text[:end])
        if found is not None:
            states.append(found["state"].lower())
            end = found.end("thing")
    remark = _REMARK.search(text, 0, end)
    end = remark.start() if remark is not None and remark.start() else end
    article = _ONE.match(text)
    if (article is None and not bare) or NOTHING.match(text):
        return None
    first = _COUNT.match(text[:end]) or _STATE_FIRST.match(text[:end])
    begin = first.end() if first is not None else 0
    if first is not None and first.lastgroup:
        states.append(first["state"].lower())
    phrases = split_things(text[begin:end], begin)
    if len(phrases) != 1 or not is_name(phrases[0].name) or _LEADS.search(phrases[0].name):
        return None
    named = phrases[0]
    own = tuple(SAME.get(state, state) for state in (*named.states, *states))
    return named._replace(name=clean_name(named.name).removeprefix("your "), states=own)


def has_any(text: str, parts: Iterable[str]) -> bool:
    """True if a text has one of the parts; a fast test before a slow pattern."""
    return any(map(text.__contains__, parts))


def is_name(name: str) -> bool:
    """True if words can be the name of a thing or a place."""
    words = name.split()
    if not 0 < len(words) <= _MAX_NAME_WORDS:
        return False
    return not (name.endswith(_VAGUE_WORDS) and VAGUE.search(name))
