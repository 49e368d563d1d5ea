"""How alike two names are: by their words, and where an encoder is given by their meaning."""

from __future__ import annotations

from gym_memory.baselines.rules.scienceworld.phrases import likeness
from gym_memory.memory.encoders import Encoder, make_encoder

__all__ = ["Meaning"]

_UNRELATED = 0.3
"""A cosine that unrelated names reach."""


class Meaning:
    """Likeness of names.

    Args:
        encoder: Name of a text encoder (:func:`gym_memory.memory.encoders.make_encoder`); empty
            for words alone.

    Raises:
        MissingDependencyError: The encoder is not on this machine.
    """

    def __init__(self, encoder: str = ""):
        self._encoder: Encoder | None = make_encoder(encoder) if encoder else None
        self._known: dict[tuple[str, str], float] = {}

    def alike(self, one: str, other: str) -> float:
        """Likeness in [0, 1]: shared words, or nearness of meaning where that is more."""
        shared = likeness(one, other)
        if self._encoder is None or shared >= 1.0:
            return shared
        pair = one, other
        if pair not in self._known:
            first, second = self._encoder.encode(pair)
            near = (float(first @ second) - _UNRELATED) / (1 - _UNRELATED)
            self._known[pair] = round(max(0.0, near), 4)
        return max(shared, self._known[pair])
