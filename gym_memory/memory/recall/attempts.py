"""The last attempts: actions without gaps, each with the first line of its answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby, islice
from typing import NamedTuple

from gym_memory.core.text import split_reward, with_reward
from gym_memory.memory.reading import (
    MAX_RUN,
    entry_head,
    without_empty_lines,
)
from gym_memory.memory.stores.episodes import (
    Episode,
)

__all__ = ["Attempt", "fit_attempts", "last_attempts"]

_MAX_ANSWER_CHARS = 80


class Attempt(NamedTuple):
    """An action taken once or repeatedly; ``whole`` is its answer if shown in full, else empty."""

    text: str
    whole: str


def last_attempts(episodes: Iterable[Episode], most: int) -> list[Attempt]:
    """Return at most ``most`` attempts; ``episodes`` are the steps, latest first."""
    attempts = []
    for (action, _), run in islice(groupby(episodes, key=_kind), most):
        last, *before = islice(run, MAX_RUN)
        attempts.append(_attempt(last.t, action, 1 + len(before), last.text))
    return attempts


def _kind(episode: Episode) -> tuple[str, float]:
    return episode.action, split_reward(episode.text)[1]


@lru_cache(maxsize=1 << 10)
def _attempt(t: int, action: str, times: int, text: str) -> Attempt:
    shown = without_empty_lines(text)
    bare, reward = split_reward(shown)
    answer = with_reward(bare.partition("\n")[0][:_MAX_ANSWER_CHARS], reward)
    return Attempt(f"{entry_head(t, action, times)}\n{answer}", text if answer == shown else "")


def fit_attempts(attempts: Sequence[Attempt], left: int) -> tuple[str, frozenset[str]]:
    """Render the latest attempts in ``left`` characters; return what they show whole, too."""
    count = 0
    for attempt in attempts:
        left -= len(attempt.text) + bool(count)
        if left < 0:
            break
        count += 1
    shown = attempts[:count]
    return "\n".join([one.text for one in reversed(shown)]), frozenset(one.whole for one in shown)
