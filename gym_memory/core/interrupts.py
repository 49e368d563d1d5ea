"""Handling of signals while the command line still imports its packages."""

from __future__ import annotations

import contextlib
import os
import signal
import sys

__all__ = ["INTERRUPTS"]

INTERRUPTS = ("SIGINT", "SIGTERM", "SIGHUP")


def _end_early() -> None:
    """Exit with status 130 at once when interrupted, if this process is the command line."""
    words = sys.orig_argv[1:3]
    named = words and os.path.basename(words[0]) == "gym-memory"
    if not (named or words == ["-m", "gym_memory"]):
        return
    for name in INTERRUPTS:
        with contextlib.suppress(AttributeError, ValueError):  # no such signal; not main thread
            if signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:
                signal.signal(getattr(signal, name), lambda number, frame: os._exit(130))


_end_early()
