"""A game: a key has to be found in one of three rooms and brought back."""

from __future__ import annotations

from typing import ClassVar

from gym_memory.core.records import Oracle, Triple
from gym_memory.games import Feedback, TextEnv

__all__ = ["Template"]

EXITS = {
    "hall": {"north": "library", "east": "cellar", "west": "attic"},
    "library": {"south": "hall"},
    "cellar": {"west": "hall"},
    "attic": {"east": "hall"},
}
TABLES = {"hall": "table", "library": "desk", "cellar": "barrel", "attic": "trunk"}


class Template(TextEnv):
    """Bring the key to the table. The seed chooses the room of the key."""

    dialect: ClassVar[str] = "textworld"  # which rules read the text; "" reads plain English

    def __init__(
        self, *, max_steps: int = 12, valid_actions: bool = True, render_mode: str | None = None
    ):
        super().__init__(max_steps=max_steps, valid_actions=valid_actions, render_mode=render_mode)
        self._ids = ["key/library", "key/cellar", "key/attic"]
        self.room, self.key = "hall", ""

    def _open(self, task_id: str) -> Feedback:
        self.room, self.key = "hall", TABLES[task_id.partition("/")[2]]
        return self._answer(f"{self._look()}\n\n{self.goal()}")

    def _send(self, action: str) -> Feedback:
        if action not in self._list_valid_actions():
            return self._answer("That's not a verb I recognise.", accepted=False)
        verb, _, rest = action.partition(" ")
        if verb == "go":
            self.room = EXITS[self.room][rest]
        elif verb == "take":
            self.key = "inventory"
            return self._answer(f"You take the key from the {TABLES[self.room]}.")
        elif verb == "put":
            self.key = TABLES[self.room]
            return self._answer(f"You put the key on the {self.key}.")
        return self._answer(self._look())

    def _list_valid_actions(self) -> tuple[str, ...]:
        actions = ["look", *(f"go {way}" for way in EXITS[self.room])]
        if self.key == TABLES[self.room]:
            actions.append(f"take key from {self.key}")
        if self.key == "inventory":
            actions.append(f"put key on {TABLES[self.room]}")
        return tuple(actions)

    def _look(self) -> str:
        table = TABLES[self.room]
        on = f"On the {table} is a key." if self.key == table else "But the thing is empty."
        ways = " ".join(f"There is an exit to the {way}." for way in EXITS[self.room])
        return f"-= {self.room.title()} =-\nYou can see a {table}. {on}\n\n{ways}"

    def _answer(self, text: str, *, accepted: bool = True) -> Feedback:
        held, brought = self.key == "inventory", self.key == "table"
        return Feedback(
            text=text,
            score=float(held + 2 * brought),
            max_score=2.0,
            won=brought,
            inventory="You are carrying: a key." if held else "You are carrying nothing.",
            accepted=accepted,
        )

    def goal(self) -> str:
        """Return the task in words."""
        return "Bring the key to the table."

    def oracle(self) -> Oracle:
        """Return what is true now, only for scores, and the actions that win."""
        facts = {Triple("you", "is in", self.room)}
        for room, ways in EXITS.items():
            facts |= {Triple(room, "has exit", way) for way in ways}
            facts |= {Triple(to, f"is {way} of", room) for way, to in ways.items()}
            facts.add(Triple(TABLES[room], "is in", room))
        facts.add(Triple("key", "is in" if self.key == "inventory" else "is on", self.key))
        room = self.task_id.partition("/")[2]
        way = next(way for way, to in EXITS["hall"].items() if to == room)
        (back,) = EXITS[room]
        steps = (f"go {way}", f"take key from {TABLES[room]}", f"go {back}", "put key on table")
        return Oracle(frozenset(facts), steps)

    def versions(self) -> dict[str, str]:
        """Return the versions that the text depends on."""
        return {"key": "1"}
