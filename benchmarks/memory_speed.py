"""Measure a step of every memory: observe and recall, without a language model.

    OMP_NUM_THREADS=1 python benchmarks/memory_speed.py --out benchmarks/measured.json

CPU milliseconds a step, after 100, 1,000 and 5,000 observations of one episode, all of them
different, in a house of a hundred rooms where things are carried about. The median and the slowest
of 50 steps count; the embedding cache is warm (the episode was seen once before by the same
encoder). A memory that lives longer than an episode observes trials of 50 steps, every other one
won, and is measured in the next trial; the time between trials is not counted. All registered
memories are measured, and those in ``VARIANTS``.
"""

from __future__ import annotations

import argparse
import gc
import platform
import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from keep import write_measured

from gym_memory.core.records import Cue, Oracle, Outcome, Step, Task, Triple
from gym_memory.graph.schema import OPPOSITE, PLAYER, way_relation
from gym_memory.memory import MEMORIES, Memory, make_memory
from gym_memory.memory.encoders import HashEncoder, make_encoder
from gym_memory.memory.experience.base import ExperienceMemory

SIZES = (100, 1_000, 5_000)
STEPS = 50
BUDGET = 1000
LIMIT_MS = 10.0
VARIANTS = ("arigraph?recall=semantic&encoder=hash", "stma?encoder=hash", "history?window=5")
TASK = Task("house/0", "Find the golden key and bring it to room 0.", "textworld")
SIDE = 10
THINGS = 300
MOVES = {"north": -SIDE, "south": SIDE, "east": 1, "west": -1}


class House:
    """A grid of rooms, things on their floors, and an agent that carries some of them about."""

    def __init__(self, seed: int = 0):
        self.random = random.Random(seed)
        self.room, self.t = 0, 0
        self.floor: dict[int, list[str]] = {room: [] for room in range(SIDE * SIDE)}
        for number in range(THINGS):
            self.floor[self.random.randrange(SIDE * SIDE)].append(f"thing {number}")
        self.held: list[str] = []

    def exits(self, room: int) -> dict[str, int]:
        """Return directions that stay in the grid, with the room that each leads to."""
        row, column = divmod(room, SIDE)
        inside = {
            "north": row > 0, "south": row < SIDE - 1, "east": column < SIDE - 1, "west": column > 0
        }  # fmt: skip
        return {way: room + step for way, step in MOVES.items() if inside[way]}

    def look(self) -> str:
        """Return the room as TextWorld describes it."""
        exits = " ".join(f"There is an exit to the {way}." for way in self.exits(self.room))
        things = [f"a {name}" for name in self.floor[self.room]]
        listed = " and ".join([*([", ".join(things[:-1])] if things[1:] else []), *things[-1:]])
        on_floor = f"There is {listed} on the floor." if things else ""
        return f"-= Room {self.room} =-\nYou are in room {self.room}. {exits} {on_floor}"

    def step(self) -> Step:
        """Walk; sometimes take and drop. No two texts are the same."""
        chance, here = self.random.random(), self.floor[self.room]
        if not self.t:
            action, text = "", self.look()
        elif chance < 0.15 and here and len(self.held) < 8:
            self.held.append(here.pop(self.random.randrange(len(here))))
            action = f"take {self.held[-1]}"
            text = f"You pick up the {self.held[-1]} from the ground."
        elif chance < 0.3 and self.held:
            here.append(self.held.pop(self.random.randrange(len(self.held))))
            action, text = f"drop {here[-1]}", f"You drop the {here[-1]} on the ground."
        else:
            way, self.room = self.random.choice(list(self.exits(self.room).items()))
            action, text = f"go {way}", self.look()
        self.t += 1
        valid = (*(f"go {way}" for way in self.exits(self.room)), "look")
        valid += tuple(f"take {name}" for name in self.floor[self.room])
        held = ", ".join(f"a {name}" for name in self.held) or "nothing"
        text_shown = f"{text}\n\nA clock shows {self.t}."
        return Step(self.t - 1, text_shown, action, 0.0, f"You are carrying: {held}.", valid)

    def oracle(self) -> Oracle:
        """Return all true facts."""
        facts = {Triple(PLAYER, "is in", f"room {self.room}")}
        for room, things in self.floor.items():
            facts.update(Triple(name, "is in", f"room {room}") for name in things)
            for way, other in self.exits(room).items():
                facts.add(Triple(f"room {other}", way_relation(way), f"room {room}"))
                facts.add(Triple(f"room {room}", way_relation(OPPOSITE[way]), f"room {other}"))
        facts.update(Triple(name, "is in", "inventory") for name in self.held)
        return Oracle(frozenset(facts))


def play(memory: Memory, records: int) -> Iterator[float]:
    """Yield milliseconds of each of the ``STEPS`` steps after ``records`` observations."""
    house = House()
    memory.oracle = house.oracle if memory.uses_oracle else None
    lasting = not {"step", "episode"}.issuperset(memory.lifetimes.values())
    memory.begin(TASK, 0)
    for number in range(records + STEPS):
        if lasting and number and number % STEPS == 0:
            won = number % (2 * STEPS) == 0
            memory.end(Outcome(float(won), 1.0, float(won), won, False, STEPS))
            memory.begin(TASK, 0)
        step = house.step()
        if lasting:
            step = step._replace(t=number % STEPS, action=step.action if number % STEPS else "")
        cue = Cue(step.text, TASK.goal, step.inventory, step.valid_actions, "take thing 7")
        started = time.process_time()
        memory.observe(step)
        if number >= records:
            memory.recall(cue, BUDGET)
            yield (time.process_time() - started) * 1e3
        elif number % STEPS == 0 or number == records - 1:
            memory.recall(cue, BUDGET)


def warm() -> None:
    """Encode every text of the longest episode once."""
    house = House()
    encoder = make_encoder("hash")
    encoder.encode([house.step().text for _ in range(max(SIZES) + STEPS)])


def measure(spec: str, records: int) -> dict[str, object]:
    """Measure one row: a memory at one size."""
    memory = make_memory(spec)
    gc.collect()
    gc.freeze()  # as a worker does after its first job; else a step pays for the rows before
    times = sorted(play(memory, records))
    return {
        "memory": spec,
        "records": records,
        "median_ms": round(statistics.median(times), 3),
        "p90_ms": round(times[int(0.9 * len(times))], 3),
        "max_ms": round(times[-1], 3),
    }


def with_items(name: str, items: int = 1_000) -> dict[str, object]:
    """Measure one row: a memory of experience with many items, whose vectors are cached.

    The items are copies of its own, each with a number in its key and text.
    """
    memory = MEMORIES.get(name)(encoder=HashEncoder(384))
    list(play(memory, 2 * STEPS))
    own = list(memory.bank.items.values())
    for number in range(items - len(own)):
        item = own[number % len(own)]
        memory.bank.add(item._replace(key=f"{item.key} {number}", text=f"{item.text} {number}"))
    list(play(memory, 0))  # encodes every text
    gc.collect()
    gc.freeze()
    times = list(play(memory, 0))
    median, slowest = round(statistics.median(times), 2), round(max(times), 2)
    return {"memory": name, "items": items, "median_ms": median, "max_ms": slowest}


def main() -> None:
    """Measure, print one row a memory and size, and write them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--memory", action="append", help="a memory (default: all)")
    parser.add_argument("--out", type=Path, help="file for the rows")
    arguments = parser.parse_args()
    warm()
    rows = []
    for spec in arguments.memory or (*MEMORIES.names(), *VARIANTS):
        for records in SIZES:
            row = measure(spec, records)
            rows.append(row)
            late = " above the limit" if row["median_ms"] > LIMIT_MS else ""  # type: ignore[operator]
            print(
                f"{spec:40s} {records:6d} records  median {row['median_ms']:8.3f} ms"
                f"  p90 {row['p90_ms']:8.3f} ms  slowest {row['max_ms']:8.3f} ms{late}",
                flush=True,
            )
    if arguments.out:
        host: dict[str, object] = {
            "python": platform.python_version(),
            "machine": platform.machine(),
        }
        names = [n for n in MEMORIES.builtin() if issubclass(MEMORIES.get(n), ExperienceMemory)]
        host["items"] = [with_items(name) for name in names]
        report = {"limit_ms": LIMIT_MS, "budget": BUDGET, "steps": STEPS, **host, "rows": rows}
        write_measured("memory_speed", report, arguments.out)


if __name__ == "__main__":
    main()
