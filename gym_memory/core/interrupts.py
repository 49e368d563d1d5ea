"""Handling of signals while the command line still imports its packages."""

from __future__ import annotations

import contextlib
import os
import signal
import sys

__all__ = ["take_signals"]

_INTERRUPTS = ("SIGINT", "SIGTERM", "SIGHUP")


def take_signals(handler: signal._HANDLER) -> dict[signal.Signals, signal._HANDLER]:
    """Handle all interrupts that are not ignored; return the handlers before."""
    before = {}
    for name in _INTERRUPTS:
        with contextlib.suppress(AttributeError, ValueError):  # no such signal; not main thread
            kind = getattr(signal, name)
            if signal.getsignal(kind) is not signal.SIG_IGN:
                before[kind] = signal.signal(kind, handler)
    return before


def _end_early() -> None:
    """Exit with status 130 at once when interrupted, if this process is the command line."""
    words = sys.orig_argv[1:3]
    named = words and os.path.basename(words[0]) == "gym-memory"
    if named or words == ["-m", "gym_memory"]:
        take_signals(lambda number, frame: os._exit(130))


_end_early()
