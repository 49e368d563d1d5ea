"""The last actions with what they led to: one after the other, without gaps, and how often.

Facts tell what is true and recalled observations what was once seen, neither what was done a
moment ago. Who does a thing for the fifth time must know of the four times before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, islice
from operator import attrgetter
from typing import NamedTuple

from gym_memory.memory.reading import MAX_RUN, entry_head
from gym_memory.memory.recall.render import without_empty_lines
from gym_memory.memory.stores.episodes import Episode

__all__ = ["Attempt", "fit_attempts", "last_attempts"]

_MAX_ANSWER_CHARS = 80
"""What is shown of an answer, of its first line."""


class Attempt(NamedTuple):
    """What was done at one step, or at several in a row.

    Attributes:
        text: The steps, the action and the first line of the answer.
        whole: The answer where this is all of it; else empty.
    """

    text: str
    whole: str


def last_attempts(episodes: Iterable[Episode], most: int) -> list[Attempt]:
    """The last actions; what was done several times in a row told once, with the last answer.

    Args:
        episodes: What was done, latest first, one each step.
        most: Attempts to give, >= 0.
    """
    attempts = []
    for action, run in islice(groupby(episodes, key=attrgetter("action")), most):
        last, *before = islice(run, MAX_RUN)
        shown = without_empty_lines(last.text)
        answer = shown.partition("\n")[0][:_MAX_ANSWER_CHARS]
        head = entry_head(last.t, action, 1 + len(before))
        attempts.append(Attempt(f"{head}\n{answer}", last.text if answer == shown else ""))
    return attempts


def fit_attempts(attempts: Sequence[Attempt], left: int) -> tuple[str, frozenset[str]]:
    """The latest of ``attempts`` that fit, in the order in which they were made.

    Args:
        attempts: Latest first.
        left: Characters that may be used.

    Returns:
        The text, at most ``left`` characters, and the observations that are told whole in it.
    """
    count = 0
    for attempt in attempts:
        left -= len(attempt.text) + bool(count)
        if left < 0:
            break
        count += 1
    told = attempts[:count]
    return "\n".join([one.text for one in reversed(told)]), frozenset(one.whole for one in told)
