"""Observation and action spaces of text games."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

__all__ = ["FreeText", "memory_observation_space", "raw_observation_space", "triple_space"]

_SAMPLE_ALPHABET = "abcdefghijklmnopqrstuvwxyz "


class FreeText(spaces.Text):
    """Any string up to ``max_length`` characters; samples are short lower-case words.

    Gymnasium's ``Text`` lists its characters and so refuses "", spaces and accents.
    """

    def __init__(
        self, max_length: int = 1_000_000, *, seed: int | np.random.Generator | None = None
    ):
        super().__init__(max_length, min_length=0, charset=_SAMPLE_ALPHABET, seed=seed)

    def contains(self, x: Any) -> bool:
        """True if ``x`` is a string that is short enough."""
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a random lower-case string of at most 20 characters."""
        if mask is not None or probability is not None:
            return super().sample(mask=mask, probability=probability)
        length = int(self.np_random.integers(1, min(20, self.max_length) + 1))
        letters = self.np_random.integers(0, len(_SAMPLE_ALPHABET), size=length)
        return "".join(_SAMPLE_ALPHABET[i] for i in letters)

    def __repr__(self) -> str:
        return f"FreeText({self.max_length})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, FreeText) and self.max_length == other.max_length

    def __hash__(self) -> int:
        return hash((FreeText, self.max_length))


def triple_space() -> spaces.Tuple:
    """Return the space of one (subject, relation, object)."""
    return spaces.Tuple((FreeText(), FreeText(), FreeText()))


def raw_observation_space() -> spaces.Dict:
    """Return the observation space of a raw text environment."""
    return spaces.Dict(
        {
            "text": FreeText(),
            "task": FreeText(),
            "inventory": FreeText(),
            "valid_actions": spaces.Sequence(FreeText()),
        }
    )


def memory_observation_space() -> spaces.Dict:
    """Return the observation space with memory, the flat Dict that every policy sees."""
    return spaces.Dict(
        {
            **raw_observation_space().spaces,
            "memory": FreeText(),
            "triples": spaces.Sequence(triple_space()),
            "episodes": spaces.Sequence(FreeText()),
            "lessons": spaces.Sequence(FreeText()),
        }
    )
