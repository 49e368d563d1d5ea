"""Which dialect a text is in: that whose rules explain most of it, if any's do."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from gym_memory.core.records import Step, Task
from gym_memory.extract import EXTRACTORS, Extractor, get_extractor
from gym_memory.extract.base import apply
from gym_memory.graph import TemporalGraph

__all__ = ["detect_dialect", "explained"]

GENERAL = "plain"
_LEAST = 0.15
"""Share of a text that a dialect must explain."""
_BESIDE = 0.5
"""What it must explain of what general rules do: they read more words, and less in them."""
_MAX_TEXT_CHARS = 20_000
_LOOKED = "look"
"""Texts are read as answers: a first text has a goal, which is plain English in any dialect."""
_UNIT = re.compile(r"[^.!?\n]+")
_WORD = re.compile(r"[A-Za-z]{2,}")


@lru_cache(maxsize=256)
def detect_dialect(*texts: str) -> str:
    """The dialect of the first texts of an episode; ``plain`` where none stands out.

    Every dialect's rules read the texts in turn; the share of words in sentences from which they
    took a fact is compared. Rules that read any English (``general = True`` on their class) do
    not compete: that they find something says nothing about who wrote the text.

    >>> detect_dialect("The weather is fine today.")
    'plain'
    """
    scores = {name: explained(texts, rules) for name, rules in _candidates().items()}
    own = explained(texts, get_extractor(GENERAL))
    best = max(scores, key=lambda name: scores[name], default=GENERAL)
    return best if scores.get(best, 0.0) >= max(_LEAST, own * _BESIDE) else GENERAL


@cache
def _candidates() -> dict[str, Extractor]:
    """The rules of all dialects that are none for English at large; found once."""
    found = {}
    for name in EXTRACTORS.names():
        try:
            rules = get_extractor(name)
        except ImportError:  # its package is not there, so neither is its text
            continue
        if not getattr(rules, "general", False):
            found[name] = rules
    return found


def explained(texts: tuple[str, ...], rules: Extractor) -> float:
    """Share of the words that stand in a sentence or line from which rules read a fact, in [0, 1].

    Args:
        texts: What an episode showed, in order.
        rules: An extraction role.
    """
    graph, words, hit = TemporalGraph(), 0, 0
    for t, text in enumerate(text[:_MAX_TEXT_CHARS] for text in texts):
        extraction = rules.extract(Step(t, text, _LOOKED), graph, Task("", ""))
        apply(extraction, graph, t)
        spans = [(m.start, m.end) for m in extraction.mentions if m.start >= 0]
        for unit in _UNIT.finditer(text):
            weight = len(_WORD.findall(unit.group()))
            words += weight
            if any(start < unit.end() and end > unit.start() for start, end in spans):
                hit += weight
    return hit / words if words else 0.0
