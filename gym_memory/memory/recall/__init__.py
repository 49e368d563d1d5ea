"""Recall: find what matters now and render it within a budget; nothing here changes a memory."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

__all__ = ["Follower", "Log"]

Item = TypeVar("Item")
Logged = TypeVar("Logged", covariant=True)


class Log(Protocol[Logged]):
    """A sequence that grows at its end; a restore cuts it and then adds other items."""

    def __len__(self) -> int:
        """Count the items."""
        ...

    def __getitem__(self, position: int, /) -> Logged:
        """Return an item: the same object as long as it was not cut off."""
        ...


class Follower(Generic[Item]):
    """A position in a log, up to which an index has taken in the items."""

    __slots__ = ("_last", "_taken")

    def __init__(self) -> None:
        self._taken = 0
        self._last: Item | None = None

    def advance(self, log: Log[Item]) -> tuple[bool, list[Item]]:
        """Move to the end of the log; return whether it was cut before here, and the new items.

        If it was cut, the index must start again, and all items are new.

        >>> follower, log = Follower(), ["a", "b"]
        >>> follower.advance(log), follower.advance([*log, "c"])
        ((False, ['a', 'b']), (False, ['c']))
        >>> follower.advance(["a"])
        (True, ['a'])
        """
        start, end = self._taken, len(log)
        if start == end and (not end or log[end - 1] is self._last):
            return False, []
        cut = start > end or (start > 0 and log[start - 1] is not self._last)
        new = [log[position] for position in range(0 if cut else start, end)]
        self._taken, self._last = end, new[-1] if new else None
        return cut, new
