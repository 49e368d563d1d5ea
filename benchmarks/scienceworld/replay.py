"""Compare answers with the engine's own server, and speed with the package's ``step``.

For ten tasks a recorded play (the engine's solution, or random valid actions) is replayed by

* the adapter, which is compared at every step with the engine's own server in a second Java
  process (``PythonInterface.step``, ``getScore``, ``getValidActionObjectCombinations``): text,
  score, end, and the whole list of valid actions. Both processes run with the same hash codes,
  and the listing of the second is kept from the random numbers of its world, so that it can be
  compared (see ``gym_memory/games/scienceworld/engine.py``);
* the package's ``ScienceWorldEnv.step``, the adapter with valid actions at every step, and
  without, interleaved in one run: CPU seconds of Python and Java together, without loading, after
  one discarded round.

    python -m benchmarks scienceworld/replay same
    python -m benchmarks scienceworld/replay speed
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keep import write_measured

from gym_memory.games.scienceworld.engine import ScienceWorldEngine
from gym_memory.games.scienceworld.env import ScienceWorld

TASKS = {
    "boil": 21,
    "use-thermometer": 405,
    "test-conductivity": 675,
    "find-living-thing": 225,
    "grow-fruit": 93,
    "chemistry-mix": 24,
    "lifespan-longest-lived": 93,
    "identify-life-stages-1": 9,
    "inclined-plane-determine-angle": 126,
    "mendelian-genetics-known-plant": 90,
}
"""One test variation of one task of each of the paper's ten topics."""
RANDOM_STEPS = 40


class Server:
    """The engine's own server from the package, made deterministic."""

    def __init__(self, engine: ScienceWorldEngine):
        self._jvm = engine.gateway.jvm
        self._server = self._jvm.scienceworld.runtime.pythonapi.PythonInterface()
        self._scala = getattr(getattr(self._jvm.scala.util, "Random$"), "MODULE$")
        self._game, self._own = self._scala.self(), self._jvm.java.util.Random(0)
        scala_random = self._jvm.java.lang.Class.forName("scala.util.Random")
        self._field = scala_random.getDeclaredField("self")
        self._field.setAccessible(True)

    def load(self, task: str, variation: int) -> None:
        self._server.load(task, variation, "", False)

    def step(self, action: str) -> tuple[str, int, bool]:
        text = self._server.step(action)
        score = round(100 * self._server.getScore())
        return text.strip(), score, self._server.getCompleted()

    def valid(self) -> tuple[str, ...]:
        self._own.setSeed(0)
        self._field.set(self._scala, self._own)
        found = self._server.getValidActionObjectCombinations()
        lines = str(self._jvm.java.lang.String.join("\n", found))
        self._field.set(self._scala, self._game)
        return tuple(lines.split("\n"))


def plays(env: ScienceWorld, task: str, variation: int) -> dict[str, list[str]]:
    """Return the engine's solution, and random play."""
    env.reset(options={"task_id": f"scienceworld/{task}/{variation}"})
    solution = list(env.oracle().walkthrough)
    rng, wandering = random.Random(variation), []
    for _ in range(RANDOM_STEPS):
        wandering.append(rng.choice(_sensible(env.valid_actions())))
        if any(env.step(wandering[-1])[2:4]):
            break
    return {"solution": solution, "random": wandering}


def _sensible(actions: tuple[str, ...]) -> list[str]:
    """Leave out most wirings, nine in ten of all choices, and any focus, which may end play."""
    dull = ("connect", "disconnect", "focus", "mix", "reset", "wait")
    return [a for a in actions if not a.startswith(dull)] or list(actions)


def compare(env: ScienceWorld, server: Server, name: tuple[str, int], play: list[str]) -> dict:
    """Replay once; return steps and differences."""
    env.reset(options={"task_id": f"scienceworld/{name[0]}/{name[1]}"})
    server.load(*name)
    differ = {"text": 0, "score": 0, "end": 0, "valid": int(env.valid_actions() != server.valid())}
    steps = listed = 0
    for action in play:
        obs, _, terminated, _, info = env.step(action)
        text, score, completed = server.step(action)
        steps += 1
        differ["text"] += obs["text"] != text
        differ["score"] += info["score"] != score
        differ["end"] += terminated != (completed or score < 0)
        if terminated:
            break
        listed += len(env.valid_actions())
        differ["valid"] += env.valid_actions() != server.valid()
    return {"steps": steps, "mean_valid_actions": round(listed / max(steps, 1)), "differ": differ}


class Clock:
    """CPU seconds of this process and a Java process."""

    def __init__(self, java: int):
        self._stat = Path(f"/proc/{java}/stat")

    def __call__(self) -> float:
        fields = self._stat.read_text().rsplit(")", 1)[1].split()
        ticks = int(fields[11]) + int(fields[12])
        return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def timed(clock: Clock, step: Callable[[str], bool], play: list[str]) -> tuple[float, int]:
    """Return CPU seconds and steps until the play or the episode ends."""
    start, steps = clock(), 0
    for action in play:
        steps += 1
        if step(action):
            break
    return clock() - start, steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("same", "speed"))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--first", type=int, default=25, help="steps of a play that are timed")
    arguments = parser.parse_args()
    bare = ScienceWorld(split="test", max_steps=10_000, valid_actions=False)
    recorded = {(t, v): plays(bare, t, v) for t, v in TASKS.items()}
    result: dict[str, Any] = {"versions": {**bare.versions(), "python": platform.python_version()}}
    if arguments.part == "same":
        result.update(same(bare, recorded))
    else:
        result.update(speed(bare, recorded, arguments.rounds, arguments.first))
    write_measured(f"scienceworld/{arguments.part}", result)
    print(json.dumps({k: v for k, v in result.items() if k != "replays"}, indent=1))


def same(env: ScienceWorld, recorded: dict) -> dict[str, Any]:
    """Replay all; return steps and differences."""
    server, rows = Server(ScienceWorldEngine()), []
    for name, both in recorded.items():
        for kind, play in both.items():
            row = {"task": name[0], "variation": name[1], "play": kind}
            rows.append({**row, **compare(env, server, name, play)})
            print(rows[-1], flush=True)
    return {
        "replays": rows,
        "steps": sum(row["steps"] for row in rows),
        "differ": {k: sum(r["differ"][k] for r in rows) for k in rows[0]["differ"]},
    }


def speed(bare: ScienceWorld, recorded: dict, rounds: int, first: int) -> dict[str, Any]:
    """Return the CPU milliseconds of a step, and the ratios to the package's step."""
    from scienceworld import ScienceWorldEnv

    listing = ScienceWorld(split="test", max_steps=10_000)
    listing.reset()
    stock = ScienceWorldEnv("", envStepLimit=10_000)
    clocks = {
        "stock": Clock(stock._gateway.java_process.pid),
        "valid actions at every step": Clock(listing.engine.process_id),
        "without valid actions": Clock(bare.engine.process_id),
    }
    spent: dict[str, dict[str, list[float]]] = {}
    for turn in range(rounds + 1):  # the first one warms up
        for (task, variation), both in recorded.items():
            for play in (whole[:first] for whole in both.values()):
                stock.load(task, variation, "")
                for env in (listing, bare):
                    env.reset(options={"task_id": f"scienceworld/{task}/{variation}"})
                steppers = (
                    lambda action: bool(stock.step(action)[2]),
                    lambda action: bool(listing.step(action)[2]),
                    lambda action: bool(bare.step(action)[2]),
                )
                for (kind, clock), step in zip(clocks.items(), steppers, strict=True):
                    seconds, steps = timed(clock, step, play)
                    if turn:
                        total = spent.setdefault(task, {}).setdefault(kind, [0.0, 0])
                        total[0] += seconds
                        total[1] += steps
    milliseconds = {
        task: {kind: round(1000 * s / n, 2) for kind, (s, n) in kinds.items()}
        for task, kinds in spent.items()
    }
    overall = {
        kind: 1000
        * sum(k[kind][0] for k in spent.values())
        / sum(k[kind][1] for k in spent.values())
        for kind in clocks
    }
    return {
        "rounds": rounds,
        "steps_timed": sum(int(kinds["stock"][1]) for kinds in spent.values()),
        "cpu_ms_a_step": milliseconds,
        "cpu_ms_a_step_overall": {kind: round(ms, 2) for kind, ms in overall.items()},
        "times_faster": {k: round(overall["stock"] / ms, 1) for k, ms in overall.items()},
        "times_faster_by_task": {
            task: {kind: round(row["stock"] / ms, 1) for kind, ms in row.items()}
            for task, row in milliseconds.items()
        },
    }


if __name__ == "__main__":
    main()
