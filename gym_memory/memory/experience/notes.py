"""Notes that the policy writes itself: the state of MEM1, the files of AutoMem."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar

from gym_memory.core.files import typed
from gym_memory.core.records import Cue, MemoryStats, OperationResult, Recall, Step, Task
from gym_memory.core.settings import Help, check_text, checked
from gym_memory.core.tokens import CHARS_PER_TOKEN, count_tokens, fitting_chars
from gym_memory.memory.base import Lifetime, Memory, check_budget, is_over
from gym_memory.memory.reading import read_operation

__all__ = ["PolicyNotes"]

_HEADING = "Notes of your own (note: TEXT, note N: TEXT, forget: N, find: WORDS):"
_MOST_NAMED = 20


class PolicyNotes(Memory):
    """A memory of the policy's own numbered notes, within a budget.

    The policy sends an operation instead of an action: ``note: TEXT`` inserts,
    ``note N: TEXT`` replaces, ``forget: N`` deletes, ``find: WORDS`` shows the notes that hold all
    the words. If the notes are full, the oldest go: AgentOdyssey's MEM1 (arXiv 2506.15841)
    keeps the tail of its state.
    """

    name: ClassVar[str] = "notes"
    operations = ("note: TEXT", "note N: TEXT", "forget: N", "find: WORDS")

    @checked
    def __init__(
        self,
        *,
        size: Annotated[
            int, Help("Tokens that the notes may hold; 512 in AgentOdyssey's MEM1.", low=16)
        ] = 512,
        free: Annotated[
            int,
            Help(
                "Operations after each step that take no step of the game; 0: each takes one, in "
                "which nothing is said. AutoMem has 5 rounds.",
                low=0,
            ),
        ] = 5,
        lifetime: Annotated[Lifetime, Help("Time that the notes are kept.")] = "episode",
    ):
        self.size, self.free, self.lifetime = size, free, lifetime
        self.lifetimes = {"notes": lifetime}
        self._task = Task("", "")
        self._notes: dict[int, str] = {}
        self._next = 1
        self._clear_counts()

    def _clear_counts(self) -> None:
        self._writes = self._since = 0  # operations in the episode, and since the last step
        self._answer = ""  # to the last operation, until the next action
        self._found: list[int] = []

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode; clear the notes if their lifetime is over."""
        if is_over(self.lifetime, self._task, task):
            self._notes, self._next = {}, 1
        self._task = task
        self._clear_counts()

    def observe(self, step: Step) -> None:
        """Allow free operations again; clear the notes if they last one step."""
        self._since = 0
        if read_operation(step.action) is None:
            self._answer, self._found = "", []
            if self.lifetime == "step":
                self._notes = {}

    def write(self, operation: str) -> OperationResult | None:
        """Do one operation; the answer is part of the recall until the next action."""
        found = read_operation(operation)
        if found is None:
            return None
        free = self._since < self.free
        self._since += 1
        self._writes += 1
        self._found = []
        if found.verb == "find":
            words = found.text.lower().split()
            self._found = [
                number
                for number, text in self._notes.items()
                if all(word in text.lower() for word in words)
            ]
            self._answer = f"found {len(self._found)} of {len(self._notes)} notes"
            self._answer += f": {_listed(self._found)}" if self._found else ""
        elif found.number not in self._notes and (found.number or found.verb == "forget"):
            known = (
                f"{found.verb} one of {_listed(self._notes)}" if self._notes else "there is none"
            )
            self._answer = f"no note {found.number}: {known}"
        elif found.verb == "forget":
            del self._notes[found.number]
            self._answer = f"note {found.number} forgotten"
        else:
            self._answer = self._put(found.number or self._next, found.text)
        return OperationResult(self._answer, free)

    def _put(self, number: int, text: str) -> str:
        line = _line(number, text)
        if not text or count_tokens(line) > self.size:
            longest = _line(number, text or " " * self.size * CHARS_PER_TOKEN)
            most = fitting_chars(longest, self.size) - len(_line(number, ""))
            return f"not written: expected 1 to {most} characters"
        others = [n for n in self._notes if n != number]
        gone = []
        self._notes[number] = text
        while count_tokens("".join(_line(n, t) for n, t in self._notes.items())) > self.size:
            gone.append(others.pop(0))
            del self._notes[gone[-1]]
        self._next = max(self._next, number + 1)
        return f"note {number} written" + (f", {_listed(gone)} dropped: full" if gone else "")

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the notes by number, also as ``lessons``: those found last, then the newest."""
        answer = [f"({self._answer})"] if self._answer else []
        room = check_budget(budget) * CHARS_PER_TOKEN - len("\n".join([_HEADING, *answer]))
        lines: dict[int, str] = {}
        for number in dict.fromkeys([*self._found, *sorted(self._notes, reverse=True)]):
            line = _line(number, self._notes[number])
            if len(line) <= room:
                lines[number] = line[:-1]
                room -= len(line)
        kept = tuple(lines[number] for number in sorted(lines))
        text = "\n".join([_HEADING, *kept, *answer]) if room >= 0 else ""
        return Recall(text, lessons=kept)

    def state(self) -> dict[str, Any]:
        """Return notes and counts."""
        return {
            "task": list(self._task),
            "notes": [[number, text] for number, text in self._notes.items()],
            "next": self._next,
            "writes": [self._writes, self._since],
            "answer": self._answer,
            "found": list(self._found),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        task = typed(Task, state["task"])
        notes = {int(number): check_text("note", text) for number, text in state["notes"]}
        found = [number for number in state["found"] if number in notes]
        self._task, self._notes, self._found = task, notes, found
        self._next, self._answer = int(state["next"]), check_text("answer", state["answer"])
        self._writes, self._since = map(int, state["writes"])

    def stats(self) -> MemoryStats:
        """Return the number of notes and operations."""
        return MemoryStats(lessons=len(self._notes), writes=self._writes)


def _line(number: int, text: str) -> str:
    return f"{number}. {text}\n"


def _listed(numbers: Iterable[int]) -> str:
    numbers = list(numbers)
    more = ", ..." if len(numbers) > _MOST_NAMED else ""
    return ", ".join(map(str, numbers[:_MOST_NAMED])) + more
