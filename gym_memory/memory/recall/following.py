"""Following a log: what an index over a graph's events or a store's observations has taken in."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

__all__ = ["Follower", "Log"]

Item = TypeVar("Item")
Told = TypeVar("Told", covariant=True)


class Log(Protocol[Told]):
    """Something that grows at its end; restoring an earlier state cuts it and writes on anew."""

    def __len__(self) -> int:
        """Number of items."""
        ...

    def __getitem__(self, position: int, /) -> Told:
        """The item at a position: the same object as long as it was not cut off."""
        ...


class Follower(Generic[Item]):
    """A place in a log: what comes before it has been taken in.

    As long as the last item that was taken in is still the same object at its position, only
    newer ones are missing.

    >>> follower, log = Follower(), ["a", "b"]
    >>> follower.advance(log), follower.advance([*log, "c"])
    ((False, ['a', 'b']), (False, ['c']))
    >>> follower.advance(["a"])
    (True, ['a'])
    """

    __slots__ = ("_last", "_taken")

    def __init__(self) -> None:
        self._taken = 0
        self._last: Item | None = None

    def advance(self, log: Log[Item]) -> tuple[bool, list[Item]]:
        """Go to the end of the log.

        Returns:
            Whether the log was cut before this place, so that all that was learnt is void; and
            the items to take in: all of them in that case, else those that are new.
        """
        start, end = self._taken, len(log)
        if start == end and (not end or log[end - 1] is self._last):
            return False, []
        cut = start > end or (start > 0 and log[start - 1] is not self._last)
        new = [log[position] for position in range(0 if cut else start, end)]
        self._taken, self._last = end, new[-1] if new else None
        return cut, new
