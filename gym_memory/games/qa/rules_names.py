"""Names, titles of works and dates in English prose, found by their capitals and marks."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Name", "names_in", "words_of"]

_CAPITAL = r"[^\W\d_a-zà-öø-ÿ]"
_WORD = rf"{_CAPITAL}(?:\.(?:{_CAPITAL}\.)*|[\w'’–-]*)"
_ABBREVIATED = r"(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Lt|Col|Gen|No|vs)\."
_PART = rf"(?:{_ABBREVIATED}|{_WORD})"
_LINK = r"(?:of the|of|de la|de|del|di|da|du|la|le|van der|van|von|der|al|bin|ibn|and|&)"
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = rf"(?:\d{{1,2}} (?:{_MONTH})|(?:{_MONTH})(?: \d{{1,2}})?)(?:,? \d{{4}})?|[12]\d{{3}}s?"
_NAME = re.compile(
    r"[\"“](?P<quoted>[\w'’][^\"“”\n]{1,80})[\"”]"
    rf"|(?<![\w-])(?P<date>{_DATE})(?![\w-])"
    rf"|(?<!\w)(?P<name>{_PART}(?: (?:{_LINK} )?(?:{_PART}|\d+(?![\w,])))*)"
)
_MAX_NAME_CHARS = 100
_JOINED = re.compile(r" and ")
_DEMONYM = re.compile(
    r"\w{2,}(?:ian|ish|ese|ean|can|ch)|Dutch|Greek|Swiss|Thai|Czech|German|Roman|Norman|Iraqi|Israeli"
)

_SMALL_WORDS = """
a about above after again all although also among an and another any are as at be because been
before being between both but by can could did do does during each early either every few first
following for from had has have having he her here hers him his how however i if in into is it its
itself just last late later like many more most much my near neither no nor not notable now of off
often on once one only or other others our out over own per she since so some such than that the
their them then there these they this those though three through thus to today together two under
until up upon us was we were what when where whereas whether which while who whom whose why will
with within without would yet you your
"""
_NO_NAMES = frozenset(_SMALL_WORDS.split())
"""Words that a sentence may begin with and no name consists of."""


class Name(NamedTuple):
    """A name as it stands in a text.

    Attributes:
        text: As it is written, quotation marks taken off.
        start: First character.
        end: One past its last character.
        date: Whether it is a date or a year.
    """

    text: str
    start: int
    end: int
    date: bool = False


def names_in(text: str, start: int = 0) -> list[Name]:
    """Names in their order.

    Args:
        text: A sentence.
        start: Where it begins in the text that the spans shall point into.

    >>> [name.text for name in names_in("In 1913 Ann Lee of Ely sang “The Sea” to the Duke.")]
    ['1913', 'Ann Lee of Ely', 'The Sea', 'Duke']
    """
    names: list[Name] = []
    for found in _NAME.finditer(text):
        if found["quoted"] is not None:
            inner = found["quoted"].strip(" ,.;")
            if inner:
                names.append(Name(inner, start + found.start(), start + found.end()))
        elif found["date"] is not None:
            names.append(Name(found["date"], start + found.start(), start + found.end(), True))
        else:
            rest = text[found.start() : found.end() + 2]
            names += _proper(found["name"], start + found.start(), rest)
    return names


def _proper(text: str, start: int, rest: str) -> list[Name]:
    """A run of capitals without the small words at its ends; two names joined by *and* apart."""
    names = []
    begin = 0
    for cut in [*_JOINED.finditer(text), None]:
        end = cut.start() if cut else len(text)
        piece, at = text[begin:end], start + begin
        words = piece.split(" ")
        while words and words[0].lower() in _NO_NAMES:
            at += len(words.pop(0)) + 1
        if words and words[0].isdigit():  # "In 1913 Ann"
            number = words.pop(0)
            if len(number) == 4:
                names.append(Name(number, at, at + 4, True))
            at += len(number) + 1
        while words and words[-1].lower() in _NO_NAMES:
            words.pop()
        piece = " ".join(words)
        short = piece.removesuffix("'s").removesuffix("’s").rstrip("'’-–")
        following = rest[at - start + len(piece) : at - start + len(piece) + 2]
        adjective = _DEMONYM.fullmatch(short) and following[:1] == " " and following[1:].islower()
        if 1 < len(short) <= _MAX_NAME_CHARS and not adjective:
            names.append(Name(short, at, at + len(short)))
        begin = cut.end() if cut else end
    return names


def words_of(name: str) -> list[str]:
    """The words that tell a name from others, in lower case, marks taken off.

    >>> words_of("Buechner & Orth, Jr.")
    ['buechner', 'orth', 'jr']
    """
    return [w for w in re.findall(r"\w+", name.lower()) if w not in _NO_NAMES]
