"""Forms in which a description shows a thing here without a word for *here*.

Tried last: *stuck in the sand is a spade*, *a coin falls out*, *someone has left a hat on a chair*.
"""

from __future__ import annotations

import re
from typing import Literal

from gym_memory.core.text import letter_words, word_set
from gym_memory.extract.events import INTANGIBLE
from gym_memory.extract.known import meant
from gym_memory.extract.notes.words import ROOM, Phrase, kind_of_noun
from gym_memory.extract.persons import is_elsewhere
from gym_memory.extract.placing import find_things, put_in
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import ARTICLE, COMPASS, LOCATED, NAME, SEEMING
from gym_memory.extract.ways import is_passable, ways_in
from gym_memory.extract.wording import LIE, POSED, SEE, STOP, THINGS
from gym_memory.graph.schema import clean_name, head_noun

__all__ = ["PRESENCE", "read_shown"]

_LEAD = r"(?:[A-Z][^.!?:;]{3,100}?(?:, (?:and )?| and ))?"
"""A clause or phrase before the one with the thing: *as the door closes, ...*."""
_INDEFINITE = rf"(?P<items>(?:[Aa]n?|[Ss]ome|[Ss]everal|[Tt]wo|[Tt]hree|another) {NAME})"
_ASIDE = r"(?:, [^.!?:;]{3,90}?,)?"
_ON_ITS_OWN = (
    rf"(?:(?:is|are|has been|have been) (?:\w+ly )?(?:{POSED}|\w+(?:ed|en|ewn|uck|ung|ing))|{LIE}"
    r"|sticks?|dangles?|protrudes?|juts?|floats?|(?:has|have) come to rest|gathers? dust)"
)
_LEAVING = ("left", "dropped", "discarded", "abandoned", "forgot", "forgotten", "lost")
_LEFT_BEHIND = re.compile(
    r"(?:Some(?:one|body)|Some [\w' -]{1,30}?) (?:has |have |had |must have )?(?:\w+ly )?"
    rf"(?:{'|'.join(_LEAVING)}) "
    rf"(?:(?P<own>their|his|her) )?(?P<items>{THINGS}){STOP}"
)
_SHOWN_AFTER = re.compile(
    r"(?:[A-Z]\w+(?:ed|ing|en|uck|ung|unk|ught|own|orn|eft|id)|Half|Off|Over|Up|Down|Out|Deep|High|Amid(?:st)?|Among(?:st)?"
    r"|Beside|Behind|Beneath|Atop|Against|Near)\b"
    rf"[^.!?:;]{{2,100}}?,? (?:is|are|{LIE}) "
    rf"(?P<items>(?:what \w+ (?:like|to be) )?{ARTICLE} {THINGS}){STOP}"
)
_SHOWN_WORDS = frozenset(
    ("is", "are", "lie", "lies", "lay", "hangs", "hang", "stands", "sits", "rests")
)
_SETTLED = re.compile(
    rf"(?:(?:Although|While|As|Despite) [^.!?:;]{{3,90}}?, )?{_INDEFINITE}{_ASIDE} {_ON_ITS_OWN}\b"
    rf"[^.!?]*{STOP}"
)
_SETTLED_WORDS = _SHOWN_WORDS | {"been", "come", "gathers", "sticks", "dangles", "protrudes"}
_SETTLED_WORDS |= {"juts", "floats"}
_FALLING: tuple[str, ...] = (
    "falls",
    "drops",
    "tumbles",
    "rolls",
    "slips",
    "slides",
    "pops",
    "spills",
    "flutters",
)
_FALLING += tuple(verb.removesuffix("s") for verb in _FALLING)
_FALLS_OUT = re.compile(
    rf"{_LEAD}{_INDEFINITE} (?:{'|'.join(_FALLING)}) "
    rf"(?:out|down|from|off|onto|to|at|free|loose)\b[^.!?]*{STOP}"
)
_FOUND_AFTER = re.compile(
    rf"[A-Z](?:(?! you )[^.!?:;]){{3,100}}?,? (?:and |but )?(?:you|I) (?:\w+ly )?"
    rf"(?:can )?(?:also |just )?{SEE} "
    rf"(?P<items>{ARTICLE} (?:(?! you )[^.!?:;\n])+?){STOP}"
)
_REMAINS = re.compile(
    rf"(?:{_LEAD}(?:[Oo]nly |but )?{_INDEFINITE} (?:remains?|is (?:all that|left))\b[^.!?]*"
    rf"|.{{0,80}}\b[Aa]ll that (?:is left|remains)\b[^.!?]*? is (?P<rest>an? {THINGS})){STOP}"
)

_INDEFINITE_WORDS = frozenset(("a", "an", "some", "several", "two", "three", "another"))
_INDEFINITE_WORDS |= {"although", "while", "as", "despite"}
_FirstWords = tuple[frozenset[str] | Literal["general", "name"], ...]
_ANY: _FirstWords = ("general", "name", frozenset(("you", "i", "we", "your", "my")))
PRESENCE: tuple[tuple[re.Pattern[str], frozenset[str], _FirstWords], ...] = (
    (_LEFT_BEHIND, frozenset(_LEAVING), (frozenset(("some", "someone", "somebody")),)),
    (_SHOWN_AFTER, _SHOWN_WORDS, ("name",)),
    (_SETTLED, _SETTLED_WORDS, (_INDEFINITE_WORDS,)),
    (_FALLS_OUT, frozenset(_FALLING), _ANY),
    (_FOUND_AFTER, frozenset(letter_words(SEE, least=3)), ("general", "name")),
    (_REMAINS, frozenset(("remain", "remains", "left")), _ANY),
)
"""Forms, each with words of which a sentence has one, and the first words it may have."""

_IN_A_DIRECTION = re.compile(
    rf"\b(?:to|in) (?:the|your) (?:far )?(?:{COMPASS})\b|\b(?:{COMPASS})(?:ward)? of\b"
)
"""Words by which what a sentence shows may be in another place."""
_NO_THING = re.compile(
    rf"^(?:of|in|on|at|by|to)\b|\b(?:has|have|had|been|is|are|was|were)\b|\w(?:ly|{COMPASS})$"
    r"|^(?:top|bottom|foot|end|edge|side|cent(?:re|er)|middle|entrance|view) of "
    r"| (?!(?:\w*string|ring|earring|painting|building|railing|clothing|carving|drawing|thing|wing"
    r"|king|spring|sling|writing|covering|bearing)$)[a-z]+ing(?: \w+(?:er|ly|wards?)"
    r"| (?:and|into|up|down|out|over|around|across|from|away|by|past|toward).*)?$"
)
"""Names that are cut out of a clause, *white door hovering*, or mean a part of a place."""


def read_shown(draft: Scene, found: re.Match[str]) -> bool:
    """Put the things of a form here; return False if it names none that can lie here."""
    groups = found.groupdict()
    group = "rest" if groups.get("rest") else "items"
    text, start = found[group], found.start(group)
    seeming = SEEMING.match(text)
    begin = seeming.end() if seeming is not None else 0
    bare = groups.get("own") is not None
    sentence = found.group().lower()
    elsewhere = is_elsewhere(sentence) or _IN_A_DIRECTION.search(sentence) is not None
    if elsewhere or ways_in(sentence, word_set(sentence)):
        return False
    located = LOCATED.fullmatch(text)
    if located is not None:
        place = meant(draft, clean_name(located["place"]))
        put_in(draft, located["things"], start, located["where"], place, bare=bare)
        return True
    named = find_things(draft, text[begin:], start + begin, bare=bare)
    things = [phrase for phrase in named if _is_thing(phrase)]
    for phrase in things:
        draft.put(phrase)
    return bool(things)


def _is_thing(phrase: Phrase) -> bool:
    """True if a name means a thing that can lie here, and is not cut out of a clause."""
    noun = head_noun(clean_name(phrase.name))
    if noun in INTANGIBLE or is_passable(noun) or kind_of_noun(phrase.name) == ROOM:
        return False
    return not _NO_THING.search(phrase.name)
