"""Count work instead of timing it: a bound then holds on any machine, busy or not."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable


def calls(action: Callable[[], object]) -> int:
    """Count the calls of functions, of Python and of C, that an action makes in this thread."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def guarded(action: Callable[[], object], seconds: float = 5.0) -> None:
    """Run an action that a pattern could make hang; fail after so much time of the processor."""
    late = []

    def stop(*_: object) -> None:
        late.append(True)
        raise AssertionError(f"not done after {seconds:g} seconds of the processor")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        action()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert not late
