"""History: the transcript so far, the baseline that every other memory must beat."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, NamedTuple

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Cue, MemoryStats, Recall, Step, Task
from gym_memory.core.settings import Help, check_text, checked
from gym_memory.core.text import split_reward, with_reward
from gym_memory.memory.base import CHARS_PER_TOKEN, Lifetime, Memory, check_budget
from gym_memory.memory.reading import entry_head

__all__ = ["History"]

_MAX_WHOLE_CHARS = 1_000_000  # of the observation space


class _Entry(NamedTuple):
    """An (action, observation) pair, rendered once, and its position in the transcript."""

    action: str
    text: str
    piece: str
    start: int


def _head(action: str) -> str:
    return f"{entry_head(None, action)}\n" if action else ""


class History(Memory):
    """Latest (action, observation) pairs of the episode that fit, as a transcript.

    Leaves out the observation that the cue shows, but not what its action earned. Pairs are whole
    and without gaps; if not even the newest fits, its beginning is shown. ``full`` ignores
    the budget, so compare its tokens as well.
    """

    name: ClassVar[str] = "history"
    lifetimes: Mapping[str, Lifetime] = {"episodes": "episode"}

    @checked
    def __init__(
        self,
        window: Annotated[
            int | None,
            Help(
                "Most past observations to recall; None for as many as fit. Ariadne in the "
                "AriGraph paper's code shows 5.",
                low=1,
            ),
        ] = None,
        *,
        full: Annotated[
            bool, Help("Recall all, whatever the budget, up to 1,000,000 characters.")
        ] = False,
    ):
        if full and window is not None:
            raise InvalidArgumentError(f"expected full or a window, got window {window} and full")
        self.window, self.full = window, full
        self.keeps_budget = not full
        self._entries: list[_Entry] = []
        self._end = 0

    def begin(self, task: Task, seed: int | None) -> None:
        """Forget the last episode."""
        self._entries, self._end = [], 0

    def observe(self, step: Step) -> None:
        """Append one pair."""
        self._append(step.action, step.text.strip())

    def _append(self, action: str, text: str) -> None:
        piece = f"{_head(action)}{text}\n"
        self._entries.append(_Entry(action, text, piece, self._end))
        self._end += len(piece)
        # Keep one more than the window, since the cue may show the newest.
        if self.window is not None and len(self._entries) > self.window + 1:
            del self._entries[0]

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the transcript of the latest pairs; ``episodes`` has the newest first."""
        room = _MAX_WHOLE_CHARS if self.full else check_budget(budget) * CHARS_PER_TOKEN
        entries, end = self._entries, self._end
        stop, tail = len(entries), ""
        if stop and entries[-1].text == cue.text.strip():
            stop, end = stop - 1, entries[-1].start
            reward = with_reward("", split_reward(entries[-1].text)[1])
            tail = f"{_head(entries[-1].action)}{reward}"[:room]
        first = bisect_left(entries, end - (room - len(tail)), 0, stop, key=lambda e: e.start)
        if self.window is not None:
            first = max(first, stop - self.window)
        if first < stop:
            text = "".join([entry.piece for entry in entries[first:stop]]) + tail
            kept = tuple([entry.text for entry in reversed(entries[first:stop])])
        elif stop:
            text, kept = self._beginning(entries[stop - 1], tail, room)
        else:
            text, kept = tail, ()
        text = text.rstrip("\n")
        return Recall(text=text, episodes=kept)

    def _beginning(self, entry: _Entry, tail: str, room: int) -> tuple[str, tuple[str, ...]]:
        size = room - len(tail) - 1
        text = entry.text[: max(size - len(_head(entry.action)), 0)]
        if not text:
            return tail, ()
        return f"{_head(entry.action)}{text}\n{tail}", (text,)

    def state(self) -> dict[str, Any]:
        """Return the pairs, oldest first."""
        return {"pairs": [[entry.action, entry.text] for entry in self._entries]}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace the pairs."""
        self._entries, self._end = [], 0
        for action, text in state["pairs"]:
            self._append(check_text("action", action), check_text("text", text))

    def snapshot(self) -> Any:
        """Return the pairs; copies references, not text."""
        return tuple(self._entries), self._end

    def restore(self, snapshot: Any) -> None:
        """Return to the pairs of a snapshot."""
        entries, self._end = snapshot
        self._entries = list(entries)

    def stats(self) -> MemoryStats:
        """Return the number of observations."""
        return MemoryStats(episodes=len(self._entries))
