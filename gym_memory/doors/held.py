"""Games and memories that clients of a server use by handles."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.settings import check_amount, check_int

__all__ = ["Lease", "LeaseShelf"]

T = TypeVar("T")
_MOST_SNAPSHOTS = 100


class Lease(Generic[T]):
    """A game or memory that a client uses, with its snapshots."""

    thing: T

    def __init__(self) -> None:
        self.lock, self.used = threading.Lock(), time.monotonic()
        self.snapshots: dict[str, Any] = {}

    def keep(self, snapshot: Any) -> str:
        """Return the handle of a snapshot."""
        if len(self.snapshots) >= _MOST_SNAPSHOTS:
            raise InvalidArgumentError(f"expected at most {_MOST_SNAPSHOTS} snapshots at once")
        handle = secrets.token_hex(8)
        self.snapshots[handle] = snapshot
        return handle

    def kept(self, handle: str) -> Any:
        """Return the snapshot of a handle."""
        if handle not in self.snapshots:
            raise InvalidArgumentError(
                f"unknown snapshot {handle!r:.40}: expected a handle that save returned"
            )
        return self.snapshots[handle]


class LeaseShelf(Generic[T]):
    """Games or memories of all clients, by handles that cannot be guessed.

    Args:
        kind: Noun for messages.
        close: Function that closes a removed object.
        most: Most objects at once; more are refused.
        idle_s: Seconds without a call after which an object is removed.
    """

    def __init__(self, kind: str, close: Callable[[T], None], most: int, idle_s: float):
        self._kind, self._close = kind, close
        self._most, self._idle_s = check_int("most", most, 1), check_amount("idle_s", idle_s)
        self._leases: dict[str, Lease[T]] = {}
        self._lock = threading.Lock()

    def put(self, make: Callable[[], T], handle: str = "") -> str:
        """Create an object and return its handle; a known handle keeps its object."""
        self._drop_idle(except_for=handle)
        lease = Lease[T]()
        with lease.lock:  # a call that finds the lease waits for its object
            with self._lock:
                if handle in self._leases:
                    return handle
                if len(self._leases) >= self._most:
                    raise InvalidArgumentError(
                        f"expected at most {self._most} {self._kind}s at once: close one"
                    )
                handle = handle or secrets.token_hex(8)
                self._leases[handle] = lease
            try:
                lease.thing = make()
            except BaseException:
                del self._leases[handle]
                raise
        return handle

    @contextlib.contextmanager
    def use(self, handle: str) -> Iterator[Lease[T]]:
        """Yield the lease of a handle, to one call at a time."""
        self._drop_idle(except_for=handle)
        lease = self._leases.get(handle) or Lease[T]()
        with lease.lock:
            if self._leases.get(handle) is not lease:  # another call may have closed it
                raise InvalidArgumentError(
                    f"unknown {self._kind} {handle!r:.40}: it was closed, was idle for "
                    f"{self._idle_s:g} s, or never was"
                )
            lease.used = time.monotonic()
            yield lease
            lease.used = time.monotonic()

    def take(self, handle: str) -> None:
        """Close the object of a handle, and forget the handle."""
        with self.use(handle) as lease:
            del self._leases[handle]
            self._close(lease.thing)

    def _drop_idle(self, except_for: str) -> None:
        now = time.monotonic()
        for handle, lease in list(self._leases.items()):
            idle = handle != except_for and now - lease.used > self._idle_s
            if idle and lease.lock.acquire(blocking=False):
                try:
                    if self._leases.pop(handle, None) is not None:
                        self._close(lease.thing)
                finally:
                    lease.lock.release()
