"""Observations with given parts; the others are empty."""

from __future__ import annotations

from typing import Any

from gym_memory.core.records import Observation


def observation(**known: Any) -> Observation:
    empty = dict.fromkeys(("text", "task", "inventory", "memory"), "")
    lists = dict.fromkeys(("valid_actions", "triples", "episodes", "lessons"), ())
    return {**empty, **lists, **known}  # type: ignore[typeddict-item,return-value]
