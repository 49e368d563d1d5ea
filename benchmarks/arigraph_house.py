"""A house in TextWorld's sentences, and walks in it whose steps are timed with AriGraph.

walk = Walk(200, "structural", strolls=90)
print(summary(walk.steps))
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator

import numpy as np

from gym_memory.core.records import Cue, Recall, Step, Task
from gym_memory.graph.schema import OPPOSITE
from gym_memory.memory.arigraph import AriGraph

BUDGET = 1000
"""Tokens of a recall."""
clock = time.process_time


class House:
    """A grid of rooms described in TextWorld's sentences; about 14 live facts a room."""

    def __init__(self, rooms: int, seed: int = 0):
        self.width = max(int(rooms**0.5), 1)
        self.rooms = rooms
        self.random = random.Random(seed)
        self.here, self.t, self.back = 0, 0, ""
        self.floor: list[list[str]] = [[f"rake {r}", f"lamp {r}"] for r in range(rooms)]
        self.inside = [[f"red apple {r}", f"key {r}"] for r in range(rooms)]
        self.held: list[str] = []

    def exits(self, room: int) -> dict[str, int]:
        column = room % self.width
        ways = {"north": room - self.width, "south": room + self.width}
        if column > 0:
            ways["west"] = room - 1
        if column < self.width - 1:
            ways["east"] = room + 1
        return {d: r for d, r in sorted(ways.items()) if 0 <= r < self.rooms}

    def look(self) -> str:
        room = self.here
        held = " and ".join(f"a {name}" for name in self.inside[room])
        floor = " and ".join(f"a {name}" for name in self.floor[room])
        return (
            f"-= Room {room} =-\nYou are in a room {room}. A normal kind of place. "
            f"You can see an opened chest {room}. The chest {room} contains {held}. "
            f"You can see a table {room}. But the thing is empty.\n\n"
            + " ".join(f"There is an exit to the {d}." for d in self.exits(room))
            + (f"\nThere is {floor} on the floor." if floor else "")
        )

    def valid_actions(self) -> tuple[str, ...]:
        return (
            *(f"drop {name}" for name in self.held),
            *(f"go {direction}" for direction in self.exits(self.here)),
            "inventory", "look",
            *(f"take {name}" for name in self.floor[self.here]),
            *(f"take {n} from chest {self.here}" for n in self.inside[self.here]),
        )  # fmt: skip

    def step(self, action: str) -> tuple[Step, Cue]:
        """Play ``go <direction>``, ``take <thing>``, ``drop <thing>`` or ``look``."""
        verb, _, rest = action.partition(" ")
        if verb == "go":
            self.here, text = self.exits(self.here)[rest], ""
        elif verb == "take":
            self.floor[self.here].remove(rest)
            self.held.append(rest)
            text = f"You pick up the {rest} from the ground."
        elif verb == "drop":
            self.held.remove(rest)
            self.floor[self.here].append(rest)
            text = f"You drop the {rest} on the ground."
        self.t += 1
        text = self.look() if verb in ("go", "look") else text
        held = ", ".join(f"a {name}" for name in self.held) or "nothing"
        carrying = f"You are carrying: {held}."
        valid = self.valid_actions()
        step = Step(self.t, text, action, 0.0, carrying, valid)
        return step, Cue(text, "Find the golden key.", carrying, valid, "look into chest 7")

    def tour(self) -> Iterator[str]:
        """Yield every room once, row by row, in alternating directions."""
        for row in range((self.rooms + self.width - 1) // self.width):
            across = "east" if row % 2 == 0 else "west"
            while across in self.exits(self.here):
                yield f"go {across}"
            if row * self.width + self.width < self.rooms:
                while self.here + self.width >= self.rooms:
                    yield f"go {OPPOSITE[across]}"
                yield "go south"

    def stroll(self) -> str:
        """Walk; every third time take or drop something."""
        if self.t % 3 == 0 and (self.held or self.floor[self.here]):
            if len(self.held) > 3 or not self.floor[self.here]:
                return f"drop {self.held[0]}"
            return f"take {self.floor[self.here][0]}"
        return f"go {self.random.choice(list(self.exits(self.here)))}"


def begun(memory: AriGraph) -> AriGraph:
    memory.begin(Task("house/0", "Find the golden key.", "textworld"), 0)
    return memory


def played(memory: AriGraph, house: House, action: str) -> tuple[float, float, Recall]:
    """Return milliseconds of ``observe`` and ``recall``, and the recall."""
    step, cue = house.step(action)
    started = clock()
    memory.observe(step)
    learnt = clock()
    recall = memory.recall(cue, BUDGET)
    return (learnt - started) * 1e3, (clock() - learnt) * 1e3, recall


def summary(values: list[float]) -> dict[str, float]:
    return {
        "median": round(statistics.median(values), 4),
        "mean": round(statistics.fmean(values), 4),
        "p95": round(float(np.quantile(values, 0.95)), 4),
    }


class Walk:
    """A walk through a new house with a new memory: all rooms once, then random ones."""

    def __init__(self, size: int, recall: str, strolls: int, threshold: float | None = None):
        self.house = House(round(size / 12.5))
        self.memory = begun(AriGraph(recall=recall, threshold=threshold))
        played(self.memory, self.house, "look")
        self.explored = [sum(played(self.memory, self.house, a)[:2]) for a in self.house.tour()]
        self.updates, self.recalls = [], []
        for _ in range(strolls):
            update, recall, self.shown = played(self.memory, self.house, self.house.stroll())
            self.updates.append(update)
            self.recalls.append(recall)

    @property
    def steps(self) -> list[float]:
        return [u + r for u, r in zip(self.updates, self.recalls, strict=True)]
