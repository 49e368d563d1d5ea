"""An episode of any length, written as rows, to measure the pages."""

from __future__ import annotations

import os
from typing import Any

from gym_memory.core.trajectory import RowWriter

__all__ = ["write_long_episode"]

_SIDE = 40


def write_long_episode(
    path: str | os.PathLike[str], *, steps: int, facts: int, recalled: int = 120
) -> None:
    """Write the rows of a walk through a large house; every step adds facts and recalls some.

    Args:
        path: The file.
        steps: Steps to take.
        facts: Facts at the end: ways between rooms of a grid, and things in rooms.
        recalled: Facts that each step recalls.
    """
    writer = RowWriter(path)
    named = known = 0  # facts with a number, and those of them about the house
    held: list[int] = []
    here = -1
    for t in range(steps + 1):
        new = [_fact(n) for n in range(known, max(facts * t // steps, 1))]
        known += len(new)
        came = list(range(named, named + len(new) + 1))
        new.append(["you", "is in", f"room {t % _SIDE}.0"])
        named += len(new)
        held += came[:-1]
        went = [[here, "schema"]] if t else []
        here = came[-1]
        detail = {"facts": new, "came": came, "went": went, "recalled": [here, *held[-recalled:]]}
        writer.write({**_row(t, steps), **detail})
    writer.close()


def _row(t: int, steps: int) -> dict[str, Any]:
    lines = [f"thing {t + n}: is in room {n}.{t % 9}; is closed" for n in range(90)]
    return {
        "episode": 0,
        "t": t,
        "task_id": "long/1",
        "task": "Walk on.",
        "dialect": "textworld",
        "action": f"go east {t}" if t else "",
        "text": f"step {t}: " + "You see a long corridor with many doors. " * 12,
        "inventory": "You carry nothing.",
        "reward": float(t % 500 == 499),
        "terminated": False,
        "truncated": t == steps,
        "score": t // 500,
        "max_score": steps // 500 or 1,
        "normalized_score": t / steps,
        "success": False,
        "lost": False,
        "is_action_valid": True,
        "memory": "\n".join(lines),
        "why": [[1, "here", None, []], [200, "map, nearest first", None, []]],
        "valid_actions": [f"go {n}" for n in range(20)],
        "stats": {"ms": 1.0, "facts": t, "live_facts": t, "episodes": t, "lessons": 0,
                  "tokens": 900, "update_ms": 0.2, "recall_ms": 0.1},
    }  # fmt: skip


def _fact(number: int) -> list[str]:
    room = number // 5
    column, line = room % _SIDE, room // _SIDE
    if number % 5:
        return [f"thing {number}", "is in", f"room {column}.{line}"]
    if column:
        return [f"room {column}.{line}", "is east of", f"room {column - 1}.{line}"]
    return [f"room {column}.{line + 1}", "is south of", f"room {column}.{line}"]
