"""A clock for clients that wait."""

from __future__ import annotations


class Clock:
    """A clock that counts the seconds that are waited for, instead of waiting."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
