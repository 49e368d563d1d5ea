"""Words, sentences and articles of English: the one place where text is taken apart by them.

Grammars of their own, such as those of notes and of games, have tokens of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

__all__ = ["a_or_an", "compounds", "letter_words", "split_reward", "split_sentences", "stem"]
__all__ += ["with_reward", "without_article", "without_articles", "word_spans", "words"]

_COMPOUND = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_ARTICLES = re.compile(r"\b(?:the|an?)\s+")
_REWARD = re.compile(r"(?:\A|\n)\(([+-]\d+(?:\.\d+)?(?:e[+-]\d+)?)\)\s*\Z")
_LONGEST_REWARD = 32


def with_reward(text: str, reward: float) -> str:
    r"""Return the text of a step, with a last line that says what the step earned, if anything.

    >>> with_reward("You put the apple in the fridge.", 1)
    'You put the apple in the fridge.\n(+1)'
    """
    return "\n".join(filter(None, (text.rstrip(), f"({reward:+g})"))) if reward else text


def split_reward(text: str) -> tuple[str, float]:
    r"""Return the text of a step without the line of :func:`with_reward`, and the reward.

    >>> split_reward("You put the apple in the fridge.\n(+1)")
    ('You put the apple in the fridge.', 1.0)
    """
    end = text.rstrip()
    if not end.endswith(")"):
        return text, 0.0
    found = _REWARD.search(end, max(len(end) - _LONGEST_REWARD, 0))
    return (text[: found.start()], float(found[1])) if found else (text, 0.0)


def words(text: str, marks: str = "") -> list[str]:
    """Return the words of a text, lower case; ``marks`` count as letters.

    >>> words("Tom's well-done steak, 2x")
    ['tom', 's', 'well', 'done', 'steak', '2x']
    >>> words("Tom's well-done steak, 2x", "-")
    ['tom', 's', 'well-done', 'steak', '2x']
    """
    if text.isascii():
        return text.translate(_lettered(marks)).split()
    return _runs(marks).findall(text.lower())


@lru_cache(maxsize=16)
def _lettered(marks: str) -> str:
    """Return ASCII in lower case, with blanks in the place of what is in no word.

    A table for :meth:`str.translate`, which is three times as fast as an expression.
    """
    characters = map(chr, range(128))
    return "".join(c.lower() if c.isalnum() or c in f"_{marks}" else " " for c in characters)


def word_spans(text: str, marks: str = "") -> Iterator[tuple[str, int, int]]:
    """Yield the words of a text, lower case, with the offsets of their start and end.

    >>> list(word_spans("Tom's steak", "'"))
    [("tom's", 0, 5), ('steak', 6, 11)]
    """
    for found in _runs(marks).finditer(text):
        yield found.group().lower(), found.start(), found.end()


@lru_cache(maxsize=16)
def _runs(marks: str) -> re.Pattern[str]:
    return re.compile(rf"[\w{re.escape(marks)}]+")


@lru_cache(maxsize=20_000)
def compounds(text: str) -> tuple[str, ...]:
    """Return the words of a text, lower case; hyphens and apostrophes within a word stay.

    >>> compounds("Tom's well-done steak, 2x")
    ("tom's", 'well-done', 'steak', '2x')
    """
    return tuple(_COMPOUND.findall(text.lower()))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return what the forms of a word share; enough to compare a verb with its participles.

    >>> [stem(w) for w in ("chop", "chopped", "dice", "diced", "fry", "fried", "frying")]
    ['chop', 'chop', 'dic', 'dic', 'fri', 'fri', 'fri']
    """
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) >= len(ending) + 2:
            word = word.removesuffix(ending)
            break
    word = word.removesuffix("e")
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") else word


def letter_words(text: str, least: int = 1) -> list[str]:
    """Return the runs of at least so many letters, lower case.

    >>> letter_words("Tom's well-done steak, 2x", least=3)
    ['tom', 'well', 'done', 'steak']
    """
    return _letters(least).findall(text.lower())


@lru_cache(maxsize=16)
def _letters(least: int) -> re.Pattern[str]:
    return re.compile(rf"[^\W\d_]{{{least},}}")


def split_sentences(
    text: str, ends: str = ".!?", *, before: str = "", lines: bool = False
) -> list[str]:
    """Return the sentences of a text, with their stops.

    Args:
        text: The text.
        ends: Characters that end a sentence before a blank.
        before: Characters of which the next sentence begins with one, as in a pattern, ``A-Z``;
            empty for any.
        lines: True if each line is a sentence, too.

    >>> split_sentences("It is dark. Is it? Dr. who")
    ['It is dark.', 'Is it?', 'Dr.', 'who']
    >>> split_sentences("It is dark. Is it? Dr. who", before="A-Z")
    ['It is dark.', 'Is it?', 'Dr. who']
    """
    return _between_sentences(ends, before, lines).split(text)


@lru_cache(maxsize=16)
def _between_sentences(ends: str, before: str, lines: bool) -> re.Pattern[str]:
    ahead = f"(?=[{before}])" if before else ""
    return re.compile(rf"(?<=[{re.escape(ends)}])\s+{ahead}" + r"|\n" * lines)


def without_articles(text: str) -> str:
    """Return a lower-case text without its articles.

    >>> without_articles("put the pan on a stove")
    'put pan on stove'
    """
    return _ARTICLES.sub("", text)


def without_article(name: str, *others: str) -> str:
    """Return a lower-case name without the article, or another such word, at its beginning.

    >>> without_article("the pan"), without_article("my pan", "my", "some")
    ('pan', 'pan')
    """
    return _leading(others).sub("", name, count=1)


@lru_cache(maxsize=16)
def _leading(others: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"^(?:{'|'.join(('the', 'a', 'an', *others))})\s+")


def a_or_an(name: str) -> str:
    """Return the indefinite article of a name.

    >>> a_or_an("apple"), a_or_an("pan")
    ('an', 'a')
    """
    return "an" if name[0] in "aeiou" else "a"
