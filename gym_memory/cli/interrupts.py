"""Ctrl-C, a polite kill and a closed terminal: heard once, then time to clear up."""

from __future__ import annotations

import contextlib
import math
import signal
import time
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interrupts"]

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_CLEAR_UP_SECONDS = 10.0


class Interrupts:
    """Raises ``KeyboardInterrupt`` inside for Ctrl-C, SIGTERM and SIGHUP.

    What ends and clears up afterwards is not interrupted itself: more of them are heard only after
    a while, for an error raised in a finaliser is lost. Once interrupted, the process stays deaf
    when the context ends: it is to exit with its own status, and the interpreter gives a last
    Ctrl-C to the system, which kills it instead. What the caller has turned off (``nohup``, a
    shell's background) stays off.
    """

    def __init__(self) -> None:
        self._heard = -math.inf
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        for name in _NAMES:
            with contextlib.suppress(AttributeError, ValueError):  # no such one; not main thread
                kind = getattr(signal, name)
                if signal.getsignal(kind) is not signal.SIG_IGN:
                    self._before[kind] = signal.signal(kind, self._interrupt)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler if self._heard < 0 else signal.SIG_IGN)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._heard > _CLEAR_UP_SECONDS:
            self._heard = now
            raise KeyboardInterrupt
