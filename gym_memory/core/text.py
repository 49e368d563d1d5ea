"""Words, sentences and articles of English, for the whole package.

Grammars such as those of notes and games have their own tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

__all__ = ["a_or_an", "clauses", "compound_spans", "compounds", "enumerated"]
__all__ += ["letter_words", "sentence_spans", "split_reward", "split_sentences", "stem"]
__all__ += ["with_reward", "without_article", "without_articles", "word_set", "word_spans", "words"]

_REWARD = re.compile(r"(?:\A|\n)\(([+-]\d+(?:\.\d+)?(?:e[+-]\d+)?)\)\s*\Z")
_LONGEST_REWARD = 32


def with_reward(text: str, reward: float) -> str:
    r"""Return the text of a step with a last line about its reward, unless it is 0.

    >>> with_reward("You put the apple in the fridge.", 1)
    'You put the apple in the fridge.\n(+1)'
    """
    return "\n".join(filter(None, (text.rstrip(), f"({reward:+g})"))) if reward else text


@lru_cache(maxsize=1 << 12)
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
    """Return the words of a text in lower case; ``marks`` count as letters.

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
    """Return a table for :meth:`str.translate`: ASCII in lower case, blanks outside words.

    It is three times as fast as a regular expression.
    """
    characters = map(chr, range(128))
    return "".join(c.lower() if c.isalnum() or c in f"_{marks}" else " " for c in characters)


@lru_cache(maxsize=4096)
def word_set(text: str) -> frozenset[str]:
    """Return the set of words of a text, for the fastest test before a slow pattern.

    >>> sorted(word_set("It is what it is."))
    ['is', 'it', 'what']
    """
    return frozenset(words(text))


def word_spans(text: str, marks: str = "") -> Iterator[tuple[str, int, int]]:
    """Yield the words of a text in lower case with their starts and ends.

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
    """Return the words of a text in lower case, with inner hyphens and apostrophes.

    >>> compounds("Tom's well-done steak, 2x")
    ("tom's", 'well-done', 'steak', '2x')
    """
    return tuple(_compound("'-").findall(text.lower()))


@lru_cache(maxsize=20_000)
def clauses(line: str, fillers: frozenset[str]) -> list[str]:
    r"""Return the clauses of a line, less ``fillers``: their words, with a blank around each.

    >>> clauses("Carrot: is on the table; raw.", frozenset(["the"]))
    [' carrot ', ' is on table ', ' raw ', '  ']
    """
    words = map(compounds, re.split(r"[].;:!?>]", line))
    return [f" {' '.join(w for w in clause if w not in fillers)} " for clause in words]


def compound_spans(text: str, within: str = "'-") -> Iterator[tuple[str, int, int]]:
    """Yield words in lower case with their starts and ends, and with inner marks ``within``.

    >>> list(compound_spans("A 2.5-inch nail.", "."))
    [('a', 0, 1), ('2.5', 2, 5), ('inch', 6, 10), ('nail', 11, 15)]
    """
    for found in _compound(within).finditer(text):
        yield found.group().lower(), found.start(), found.end()


@lru_cache(maxsize=16)
def _compound(within: str) -> re.Pattern[str]:
    return re.compile(rf"[^\W_]+(?:[{re.escape(within)}][^\W_]+)*")


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return the stem of a word, enough to compare a verb with its participles.

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
    """Return the runs of at least ``least`` letters, in lower case.

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
        before: Characters that may begin the next sentence, as in a pattern, ``A-Z``; empty for
            any.
        lines: True if each line also ends a sentence.

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


def sentence_spans(
    text: str, ends: str = ".!?", *, initials: bool = False
) -> Iterator[tuple[str, int]]:
    r"""Yield the sentences of each line, with their stops, and their starts.

    A dot inside a number or a name, or after *Mr* or *Dr*, ends no sentence.

    Args:
        text: The text.
        ends: Characters that end a sentence.
        initials: True if a stop after an initial or a short title ends no sentence either.

    >>> list(sentence_spans("It is 3.5 m long.\nIs it?"))
    [('It is 3.5 m long.', 0), ('Is it?', 18)]
    >>> list(sentence_spans("J. Lee met Dr. Orth. It rained.", initials=True))
    [('J. Lee met Dr. Orth.', 0), ('It rained.', 21)]
    """
    for found in _sentence(ends, initials).finditer(text):
        whole = found.group()
        if sentence := whole.strip():
            yield sentence, found.start() + whole.index(sentence[0])


@lru_cache(maxsize=16)
def _sentence(ends: str, initials: bool) -> re.Pattern[str]:
    stop = re.escape(ends)
    if initials:
        end = rf"(?<![A-Z])(?<!\b[A-Z][a-z])[{stop}]{{1,8}}[\"”)]*(?=\s|$)"
        return re.compile(rf"[^\n]+?(?:{end}|$)", re.MULTILINE)
    title = r"(?<=\b[DM][rs])\.|(?<=\bMrs)\."
    return re.compile(rf"(?:[^{stop}\n]+|\.(?=\w)|{title})+[{stop}]*[\"']?")


def without_articles(text: str, *others: str) -> str:
    """Return a lower-case text without articles and ``others``.

    >>> without_articles("put my pan on a stove", "my")
    'put pan on stove'
    """
    return _article(others).sub("", text)


def without_article(name: str, *others: str) -> str:
    """Return a lower-case name without a leading article or pattern of ``others``.

    >>> without_article("the pan"), without_article("two pans", "some", "two")
    ('pan', 'pans')
    """
    found = _article(others).match(name)
    return name[found.end() :] if found else name


@lru_cache(maxsize=16)
def _article(others: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(('the', 'an?', *others))})\s+")


def enumerated(parts: Sequence[str]) -> str:
    """Return ``a, b and c``.

    >>> enumerated(["a", "b", "c"]), enumerated(["a"]), enumerated([])
    ('a, b and c', 'a', '')
    """
    *first, last = parts or ("",)
    return f"{', '.join(first)} and {last}" if first else last


def a_or_an(name: str) -> str:
    """Return the indefinite article of a name.

    >>> a_or_an("apple"), a_or_an("pan")
    ('an', 'a')
    """
    return "an" if name[0] in "aeiou" else "a"
