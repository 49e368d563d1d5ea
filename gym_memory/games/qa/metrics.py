"""Exact match and F1 of an answer, by the official normalisation of HotpotQA and MuSiQue.

Both normalise alike (lower case, no punctuation, no articles, single spaces) and take the best
over all accepted answers. In HotpotQA ``yes``, ``no`` and ``noanswer`` share no words with any
other answer: they are right or wrong as a whole.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable

__all__ = ["CLOSED_ANSWERS", "exact_match", "f1", "normalize_answer"]

CLOSED_ANSWERS = frozenset({"yes", "no", "noanswer"})
"""HotpotQA's answers that are right or wrong as a whole."""

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_answer(text: str) -> str:
    """Return the form in which answers are compared.

    >>> normalize_answer(" The  7 Habits, of U.S. people!")
    '7 habits of us people'
    """
    text = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", text).split())


def exact_match(answer: str, accepted: Iterable[str]) -> float:
    """Return 1.0 if the answer equals one that is accepted, else 0.0."""
    given = normalize_answer(answer)
    return float(any(given == normalize_answer(right) for right in accepted))


def f1(answer: str, accepted: Iterable[str], *, closed: Iterable[str] = ()) -> float:
    """Return the best F1 over words with an accepted answer, in [0, 1].

    ``closed`` are normalised answers that are right or wrong as a whole, such as
    :data:`CLOSED_ANSWERS`.
    """
    given, whole = normalize_answer(answer), frozenset(closed)
    return max((_f1(given, normalize_answer(right), whole) for right in accepted), default=0.0)


def _f1(given: str, right: str, closed: frozenset[str]) -> float:
    if given == right:
        return 1.0
    if given in closed or right in closed:
        return 0.0
    given_words, right_words = given.split(), right.split()
    same = (Counter(given_words) & Counter(right_words)).total()
    if not same:
        return 0.0
    precision, recall = same / len(given_words), same / len(right_words)
    return 2 * precision * recall / (precision + recall)
