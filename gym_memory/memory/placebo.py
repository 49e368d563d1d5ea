"""Placebo: lessons that say nothing, the control for memories that learn over trials."""

from __future__ import annotations

import random
import re
import zlib
from itertools import islice
from typing import Any, ClassVar

from gym_memory.core.records import Recall, Step, Task
from gym_memory.core.settings import check_text
from gym_memory.memory.base import MEMORIES, Lifetime, Memory
from gym_memory.memory.controls import Altered

__all__ = ["Placebo"]

_QUOTED = re.compile(r'"([^"]*)"')
_MOST_ACTIONS = 5000


@MEMORIES.register("placebo")
class Placebo(Altered):
    """Recalls what another memory would, with every action in its lessons exchanged by chance.

    The lessons keep their number, their forms and about their length, the rest of the recall is
    the other memory's own, and so is the budget. Each action in quotes is replaced, the same one
    always by the same within a trial, by an action that was seen to be valid in the trials of
    this task instance. So a policy that plays as well with the placebo gains nothing from what
    the lessons say. The exchange depends on task, seed and trial; a run can be repeated.

    Args:
        of: The memory, a name with parameters.
    """

    name: ClassVar[str] = "placebo"

    def __init__(self, of: str = "clin"):
        from gym_memory.memory.base import make_memory  # which knows this class by name

        super().__init__(make_memory(of))
        self._trial = 0
        self._seen: dict[str, None] = {}
        self._known = 0

    @property
    def lifetimes(self) -> dict[str, Lifetime]:  # type: ignore[override]
        """Those of the other memory; the actions seen are kept over trials."""
        return {**super().lifetimes, "actions": "trial"}

    def begin(self, task: Task, seed: int | None) -> None:
        """Start a trial; the actions seen so far are what lessons will be made of."""
        same = (task.id, task.goal) == (self._task.id, self._task.goal)
        self._trial = self._trial + 1 if same else 0
        if not same:
            self._seen = {}
        self._known = len(self._seen)
        super().begin(task, seed)

    def observe(self, step: Step) -> None:
        """Note the valid actions; the other memory learns."""
        if len(self._seen) < _MOST_ACTIONS:
            self._seen.update(dict.fromkeys(a for a in step.valid_actions if '"' not in a))
        super().observe(step)

    def _alter(self, honest: Recall, budget: int, chance: random.Random) -> Recall:
        """The recall with the lessons exchanged; by trial, not by step."""
        text, lessons = honest.text, []
        for lesson in honest.lessons:
            lessons.append(_QUOTED.sub(self._other, lesson))
            text = text.replace(lesson, lessons[-1], 1)
        return honest._replace(text=text, lessons=tuple(lessons))

    def _other(self, quoted: re.Match[str]) -> str:
        """Another action, the same one for the same action during a trial."""
        known = [action for action in islice(self._seen, self._known) if action != quoted[1]]
        if not known:
            return quoted[0]
        key = f"{self._task.id}/{self._seed}/{self._trial}/{quoted[1]}"
        return f'"{random.Random(zlib.crc32(key.encode("utf-8", "replace"))).choice(known)}"'

    # ------------------------------------------------------------ state

    def state(self) -> dict[str, Any]:
        """The other memory's state, and what the exchange depends on."""
        own = {"actions": list(self._seen), "trial": self._trial, "known": self._known}
        return {**super().state(), **own}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._seen = dict.fromkeys(check_text("action", action) for action in state["actions"])
        self._trial, self._known = int(state["trial"]), int(state["known"])
        super().load_state(state)

    def snapshot(self) -> Any:
        """The present state."""
        return super().snapshot(), tuple(self._seen), self._trial, self._known

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot."""
        below, seen, self._trial, self._known = snapshot
        self._seen = dict.fromkeys(seen)
        super().restore(below)

    def fork(self) -> Memory:
        """An independent copy."""
        twin = super().fork()
        twin._seen = dict(self._seen)  # type: ignore[attr-defined]
        return twin
