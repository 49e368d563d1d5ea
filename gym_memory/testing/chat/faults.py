"""What can go wrong at a chat server, on demand."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError

__all__ = ["FAULTS", "Faults"]

FAULTS = {
    "429": "too many requests, with Retry-After",
    "quota": "429 because the money is gone: waiting does not help",
    "401": "wrong key",
    "400": "a request that the server rejects (prompt too long)",
    "500": "internal error",
    "503": "overloaded, with Retry-After",
    "timeout": "no response for an hour, or until the client leaves",
    "cut": "the connection closes in the middle of the response",
    "half_json": "the body of the response ends in the middle, its length is right",
    "no_choice": "a response without an answer",
    "refusal": "the model refuses",
    "empty": "an empty answer",
    "wrong_json": "an answer in JSON that nobody asked for",
    "other_action": "the answer, with an action in it that was never possible",
    "unasked_text": "an answer in prose that nobody asked for",
    "half_answer": "the first half of the answer, finish reason stop",
    "huge": "an answer of one megabyte",
    "slow": "one second late",
}
"""Faults and what they do."""


class Faults:
    """Which request meets which fault.

    Args:
        schedule: Faults of the first requests in their order; an empty name is no fault.
        rates: Share of the later requests that meets a fault, by name; they add up to at
            most 1. Drawn from the number of the request and ``seed``.
        seed: Seed of the draw.

    Raises:
        UnknownNameError: A fault is not known.
        InvalidArgumentError: The rates are no shares.
    """

    def __init__(
        self,
        schedule: Sequence[str] = (),
        rates: Mapping[str, float] | None = None,
        seed: int = 0,
    ):
        self.schedule, self.rates, self.seed = tuple(schedule), dict(rates or {}), seed
        for name in (*self.schedule, *self.rates):
            check_fault(name)
        if not all(rate >= 0 for rate in self.rates.values()) or sum(self.rates.values()) > 1:
            raise InvalidArgumentError(
                f"expected rates >= 0 that add up to at most 1, got {self.rates}"
            )

    def of(self, request: int) -> str:
        """The fault of the request of that number (from 0), empty for none."""
        if request < len(self.schedule):
            return self.schedule[request]
        if not self.rates:
            return ""
        draw = hashlib.sha256(f"{self.seed}/{request}".encode()).digest()
        point = int.from_bytes(draw[:8], "big") / 2**64
        for name in sorted(self.rates):
            point -= self.rates[name]
            if point < 0:
                return name
        return ""


def check_fault(name: str) -> str:
    """Return ``name`` if it is a fault or empty.

    Raises:
        UnknownNameError: It is neither.
    """
    if name and name not in FAULTS:
        raise UnknownNameError("fault", name, FAULTS)
    return name
