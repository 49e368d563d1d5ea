"""What a shopper asks for, read from the words of the request: phrases, price limit, searches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Phrase", "Request", "Word", "queries", "read_request", "split_words", "stem"]

_WORD = re.compile(r"[a-z0-9]+(?:[.'’][a-z0-9]+)*")
_BELOW = r"(?:lower|less|cheaper|under|below)(?: than)? "
_PRICE = re.compile(
    r"(?<![\s,])[\s,]*(?:and )?(?:the )?(?:"
    rf"(?:price|cost)s?\s*(?:is |of )?{_BELOW}\$?(?P<named>\d+(?:\.\d+)?)(?: dollars?)?"
    rf"|{_BELOW}(?:\$(?P<sign>\d+(?:\.\d+)?)|(?P<word>\d+(?:\.\d+)?) dollars?))"
)
_FILLERS = frozenset((
    "a", "about", "also", "am", "an", "and", "any", "are", "as", "at", "be", "buy", "by", "can",
    "care", "could", "do", "find", "for", "from", "get", "give", "has", "have", "i", "i'd",
    "i'm", "if", "in", "is", "it", "it's", "let", "like", "look", "looking", "me", "must", "my",
    "need", "of", "offer", "on", "one", "or", "please", "purchase", "search", "searching",
    "shop", "should", "show", "some", "something", "that", "the", "them", "there", "this",
    "trying", "type", "want", "which", "will", "with", "would", "you",
))  # fmt: skip
_INSIDE = "to"
"""No filler between words: *easy to clean*."""
_MOST_QUERIES = 8


class Word(NamedTuple):
    """A word without the *s* of a plural, and where it stands in the text."""

    stem: str
    start: int
    end: int


class Phrase(NamedTuple):
    """Words of a request that stand side by side in a text, and where."""

    words: str
    start: int
    end: int


class Request(NamedTuple):
    """A request, taken apart.

    Attributes:
        runs: Words that follow each other without a filler or a comma between, plurals cut; the
            first run is as a rule what is looked for.
        limit: Highest price in dollars; infinite where none is named.
        line: All words but those about the price, plurals cut.
    """

    runs: tuple[tuple[str, ...], ...]
    limit: float
    line: str

    @property
    def words(self) -> frozenset[str]:
        """All words that describe something."""
        return frozenset(word for run in self.runs for word in run)

    def names(self, value: str) -> bool:
        """Whether the request has all words of an option's value in a row.

        >>> read_request("tea bags, pack of 12").names("Pack of 12")
        True
        """
        words = " ".join(word.stem for word in split_words(value))
        return bool(words) and f" {words} " in f" {self.line} "

    def phrases_in(self, text: str) -> Iterator[Phrase]:
        """The longest parts of each run that stand word for word in a text.

        A number alone says nothing, for any text may have it.

        >>> request = read_request("find me hiking boots with ankle support, size 8")
        >>> [p.words for p in request.phrases_in("Boots, Ankle Support, 8 eyelets")]
        ['boot', 'ankle support']
        """
        words = split_words(text)
        line = f" {' '.join(word.stem for word in words)} "
        for run in self.runs:
            position = 0
            while position < len(run):
                end = position
                while end < len(run) and f" {' '.join(run[position : end + 1])} " in line:
                    end += 1
                phrase = " ".join(run[position:end])
                if phrase and not phrase.isdigit():
                    first = line.count(" ", 0, line.index(f" {phrase} "))
                    last = first + end - position - 1
                    yield Phrase(phrase, words[first].start, words[last].end)
                position = max(end, position + 1)


def stem(word: str) -> str:
    """Without the *s* of a plural.

    >>> stem("shoes"), stem("dress"), stem("gps"), stem("women's")
    ('shoe', 'dress', 'gps', "women's")
    """
    if len(word) > 3 and word[-1] == "s" and word[-2] not in "su'’":
        return word[:-1]
    return word


def split_words(text: str) -> list[Word]:
    """The words of a text, in lower case."""
    return [Word(stem(m[0]), m.start(), m.end()) for m in _WORD.finditer(text.lower())]


@lru_cache(maxsize=256)
def read_request(text: str) -> Request:
    """Take a request apart.

    >>> found = read_request("need black tea bags, caffeine free, price less than $20.00")
    >>> found.runs, found.limit, found.line
    ((('black', 'tea', 'bag'), ('caffeine', 'free')), 20.0, 'need black tea bag caffeine free')
    """
    text = text.lower()
    found = _PRICE.search(text)
    limit = next((float(n) for n in found.groups() if n), 0.0) if found else float("inf")
    runs: list[tuple[str, ...]] = []
    text = _PRICE.sub(" , ", text)
    for part in re.split(r"[,;:!?()]|\.(?!\d)", text):
        run: list[str] = []
        for word in [*_WORD.findall(part), "a"]:
            if word not in _FILLERS and (run or word != _INSIDE):
                run.append(stem(word))
            elif run:
                runs.append(tuple(run[:-1] if run[-1] == _INSIDE else run))
                run = []
    line = " ".join(word.stem for word in split_words(text))
    return Request(tuple(dict.fromkeys(runs)), limit, line)


@lru_cache(maxsize=256)
def queries(text: str) -> tuple[str, ...]:
    """Searches that a request suggests: all of it, its first run with each other one, and alone.

    >>> queries("find me hiking boots with ankle support, size 8")
    ('hiking boot ankle support size 8', 'hiking boot ankle support', 'hiking boot size 8', \
'hiking boot')
    """
    runs = [" ".join(run) for run in read_request(text).runs]
    if not runs:
        return (" ".join(text.split()),)
    first, others = runs[0], runs[1:]
    found = [" ".join(runs), *[f"{first} {other}" for other in others], first]
    return tuple(dict.fromkeys(found))[:_MOST_QUERIES]
