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
from gym_memory.extract.openings import REVEALING
from gym_memory.extract.persons import PROPER_NAME, is_elsewhere
from gym_memory.extract.placing import find_things, put_in
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import ARTICLE, COMPASS, LOCATED, NAME, SEEMING
from gym_memory.extract.ways import is_passable, ways_in
from gym_memory.extract.wording import LIE, POSED, SEE, STOP, THINGS, either, word_group
from gym_memory.graph.schema import clean_name, head_noun

__all__ = ["PRESENCE", "read_shown"]

_LEAD = r"(?:[A-Z][^.!?:;]{3,100}?(?:, (?:and )?| and ))?"
"""A clause or phrase before the one with the thing: *as the door closes, ...*."""
_INDEFINITE = rf"(?P<items>(?:[Aa]n?|[Ss]ome|[Ss]everal|[Tt]wo|[Tt]hree|another) {NAME})"
_ASIDE = r"(?:, [^.!?:;]{3,90}?,)?"
_PARTICIPLE = r"\w+(?:ed|ing|en|uck|ung|unk|ught|own|orn|eft|id)"
_LEFT_BEHIND = re.compile(
    r"(?:Some(?:one|body)|Some [\w' -]{1,30}?) (?:has |have |had |must have )?(?:\w+ly )?"
    rf"{either('leaving')} (?:(?P<own>their|his|her) )?(?P<items>{THINGS}){STOP}"
)
"""*Someone has left a hat on the chair.*"""
_INVERTED = re.compile(
    rf"(?:[A-Z]{_PARTICIPLE}|Half|Off|Over|Up|Down|Out|Deep|High|Amid(?:st)?|Among(?:st)?|Beside"
    rf"|Behind|Beneath|Atop|Against|Near)\b[^.!?:;]{{2,100}}?,? (?:is|are|{LIE}) "
    rf"(?P<items>(?:what \w+ (?:like|to be) )?{ARTICLE} {THINGS}|{PROPER_NAME}){STOP}"
)
"""*Stuck in the sand, handle down, is a spade.*"""
_STAYS = re.compile(
    rf"(?:(?:Although|While|As|Despite) [^.!?:;]{{3,90}}?, )?{_INDEFINITE}{_ASIDE} "
    rf"(?:(?:is|are|has been|have been) (?:\w+ly )?(?:{POSED}|{_PARTICIPLE})|{LIE}"
    rf"|{either('staying')})\b[^.!?]*{STOP}"
)
"""*A dagger, rusty but sharp, is driven into the post.*"""
_FALLS_OUT = re.compile(
    rf"{_LEAD}{_INDEFINITE} {either('falls_out')} (?:out|down|from|off|onto|to|at|free|loose)\b"
    rf"[^.!?]*{STOP}"
)
"""*You shake the coat and a button drops out.*"""
_FOUND_AFTER = re.compile(
    rf"[A-Z](?:(?! you )[^.!?:;]){{3,100}}?,? (?:and |but )?(?:you|I) (?:\w+ly )?"
    rf"(?:can )?(?:also |just )?{SEE} (?P<items>{ARTICLE} (?:(?! you )[^.!?:;\n])+?){STOP}"
)
"""*As the dust settles, you notice a key.*"""
_REVEALED = re.compile(
    rf"[A-Z][^.!?:;]{{3,100}}?, (?:{'|'.join(sorted(REVEALING))}) "
    rf"(?P<items>{ARTICLE} {THINGS}){STOP}"
)
"""*The heap collapses, revealing a bell.*"""
_REMAINS = re.compile(
    rf"(?:{_LEAD}(?:[Oo]nly |but )?{_INDEFINITE} (?:remains?|is (?:all that|left))\b[^.!?]*"
    rf"|.{{0,80}}\b[Aa]ll that (?:is left|remains)\b[^.!?]*? is (?P<rest>an? {THINGS})){STOP}"
)
"""*All that is left of the snowman is a carrot.*"""
_FirstWords = tuple[frozenset[str] | Literal["general", "name"], ...]
_INDEFINITE_WORDS = frozenset(("a", "an", "some", "several", "two", "three", "another"))
_ANY: _FirstWords = ("general", "name", frozenset(("you", "i", "we", "your", "my")))
_LIE_WORDS = frozenset(
    ("is", "are", "lie", "lies", "lay", "hangs", "hang", "stands", "sits", "rests")
)
PRESENCE: tuple[tuple[re.Pattern[str], frozenset[str], _FirstWords], ...] = (
    (_LEFT_BEHIND, word_group("leaving"), (frozenset(("some", "someone", "somebody")),)),
    (_INVERTED, _LIE_WORDS, ("name",)),
    (
        _STAYS,
        _LIE_WORDS | {"been"} | frozenset(letter_words(either("staying"), least=3)),
        (_INDEFINITE_WORDS | {"although", "while", "as", "despite"},),
    ),
    (_FALLS_OUT, word_group("falls_out"), _ANY),
    (_FOUND_AFTER, frozenset(letter_words(SEE, least=3)), ("general", "name")),
    (_REVEALED, REVEALING, _ANY),
    (_REMAINS, frozenset(("remain", "remains", "left")), _ANY),
)
"""Forms, each with words of which a sentence has one, and the first words it may have."""
_IN_A_DIRECTION = re.compile(
    rf"\b(?:to|in) (?:the|your) (?:far )?(?:{COMPASS})\b|\b(?:{COMPASS})(?:ward)? of\b"
)
"""Words by which what a sentence shows may be in another place."""
_MOVABLE_WAYS = ("ladder", "door", "gate", "window")
"""Ways that are things, too."""
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
    sentence, groups = found.group().lower(), found.groupdict()
    group, bare = "rest" if groups.get("rest") else "items", groups.get("own") is not None
    text, start = found[group], found.start(group)
    elsewhere = is_elsewhere(sentence[start - found.start() :])
    elsewhere = elsewhere or _IN_A_DIRECTION.search(sentence) is not None
    if elsewhere or ways_in(sentence, word_set(sentence)):
        return False
    located = LOCATED.fullmatch(text)
    if located is not None:
        place = meant(draft, clean_name(located["place"]))
        put_in(draft, located["things"], start, located["where"], place, bare=bare)
        return True
    seeming = SEEMING.match(text)
    begin = seeming.end() if seeming is not None else 0
    named = find_things(draft, text[begin:], start + begin, bare=bare or text[:1].isupper())
    things = [phrase for phrase in named if _is_thing(phrase)]
    for phrase in things:
        draft.put(phrase)
    return bool(things)


def _is_thing(phrase: Phrase) -> bool:
    """True if a name means a thing that can lie here, and is not cut out of a clause."""
    noun = head_noun(clean_name(phrase.name))
    passable = is_passable(noun) and noun not in _MOVABLE_WAYS
    if noun in INTANGIBLE or passable or kind_of_noun(phrase.name) == ROOM:
        return False
    return not _NO_THING.search(phrase.name)
