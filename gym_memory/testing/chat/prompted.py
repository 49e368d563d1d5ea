"""Answer the prompt of the agent ``prompted``: the whole state under headings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gym_memory.testing.chat.play import plain
from gym_memory.testing.chat.registry import OTHERS

__all__ = ["prompted"]

_HEADING = re.compile(r"^## (Task|What you (?:remember|carry|see now|can do))$", re.MULTILINE)
_SLOTS = {
    "Task": "task",
    "What you remember": "memory",
    "What you carry": "inventory",
    "What you see now": "observation",
    "What you can do": "actions",
}


def prompted(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the player's action for a state."""
    _, *parts = _HEADING.split(str(messages[-1]["content"]))
    found = dict.fromkeys([*_SLOTS.values(), "history", "lessons"], "")
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        found[_SLOTS[title]] = text.strip()
    actions = re.findall(r"^- (.+)$", found["actions"], re.MULTILINE)
    return plain({**found, "actions": "\n".join(actions)})


OTHERS["## What you see now\n"] = prompted
