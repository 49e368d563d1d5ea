"""Measure work in units of a fixed computation: a bound then holds on any machine, busy or not."""

from __future__ import annotations

import time
from collections.abc import Callable


def work(action: Callable[[], object]) -> float:
    """Return the processor time of a call; 1 is the time of `unit` just before or after it."""
    before = unit()
    started = time.process_time()
    action()
    return (time.process_time() - started) / max(before, unit())


def unit() -> float:
    """Return the processor seconds of a sum of 100,000 squares, some 0.004."""
    started = time.process_time()
    sum(number * number for number in range(100_000))
    return time.process_time() - started
