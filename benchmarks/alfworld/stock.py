"""Compare our ALFWorld engine with the stock one, step by step.

    OMP_NUM_THREADS=1 python benchmarks/alfworld/stock.py --data $ALFWORLD_DATA

writes ``stock.json``. The official games of valid_seen and six of our households (one a type) are
played by both sides in one process, in turn: the game's walkthrough, and 25 commands drawn at
random from the admissible ones (half of them no walking, one in twenty refused). After every
command the text, all admissible commands and the win must be the same; the script ends with an
error if one differs. All games take a quarter of an hour of CPU time. The result of each game is in
``results/alfworld/stock.jsonl``: a killed run continues from it, and ``--seconds`` ends a run
early, with the numbers of the games played so far.

Times are CPU seconds (``time.process_time``) of ``textworld.start`` with ALFWorld's wrappers and
infos (won, admissible commands) against our raw environment without the inventory text, once with
valid actions in every observation and once without; ``load`` is opening a game for the first time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gym_memory.games.alfworld import env
from gym_memory.games.alfworld.env import ALFWorld, find_source
from gym_memory.games.alfworld.household import TASK_TYPES, make_household
from gym_memory.games.alfworld.world import load_game

RESULT = Path(__file__).with_name("stock.json")
GAMES = Path("results/alfworld/stock.jsonl")
BANNER = "-= Welcome to TextWorld, ALFRED! =-\n\n"
RANDOM_STEPS = 25
clock = time.process_time


class Timed:
    """A sum of CPU seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, name: str, call: Any, *arguments: Any) -> Any:
        started = clock()
        answer = call(*arguments)
        self.seconds[name] = self.seconds.get(name, 0.0) + clock() - started
        return answer


def stock_env(path: Path) -> Any:
    import textworld
    from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos

    infos = textworld.EnvInfos(won=True, admissible_commands=True)
    return textworld.start(str(path), infos, wrappers=[AlfredDemangler, AlfredInfos])


def same(task_id: str, command: str, theirs: Any, obs: dict[str, Any], won: bool) -> None:
    assert theirs.feedback.removeprefix(BANNER) == obs["text"], (task_id, command)
    assert tuple(theirs.admissible_commands) == obs["valid_actions"], (task_id, command)
    assert bool(theirs.won) == won, (task_id, command)


def play(path: Path, ours: ALFWorld, bare: ALFWorld, task_id: str, timed: Timed) -> int:
    """Play one game on both sides; returns the number of commands compared."""
    stock = timed("stock load", stock_env, path)
    theirs = timed("stock load", stock.reset)
    timed("our load", ours.reset)
    steps, rng = 0, random.Random(task_id)
    for script in (ours.oracle().walkthrough, (None,) * RANDOM_STEPS):
        played = []
        if steps:
            theirs = stock.reset()
        obs, info = ours.reset()
        for written in script:
            command = written or draw(obs["valid_actions"], rng)
            theirs, _, done = timed("stock", stock.step, command)
            obs, *_, info = timed("ours, valid actions", ours.step, command)
            # the stock engine lists commands after the end, too
            expected = {**obs, "valid_actions": ours.play.commands()}
            same(task_id, command, theirs, expected, info["won"])
            steps += 1
            played.append(command)
            if done:
                break
        load_game.cache_clear()
        env._household.cache_clear()
        bare.reset()
        for command in played:
            timed("ours, no valid actions", bare.step, command)
        assert info["won"] or script[0] is None, task_id
    return steps


def draw(valid: tuple[str, ...], rng: random.Random) -> str:
    if rng.random() < 0.05:
        return "open fridge 17"
    handling = [c for c in valid if not c.startswith(("go ", "look", "help", "inventory"))]
    return rng.choice(handling if handling and rng.random() < 0.5 else valid)


class OneGame(ALFWorld):
    """Plays one task, whatever the seed."""

    def __init__(self, task_id: str, **kwargs: Any):
        super().__init__(inventory=False, max_steps=10_000, **kwargs)
        self._ids = (task_id,)


def measure(name: str, games: dict[str, Path], path: str, most: float) -> dict[str, Any]:
    """Play the missing games and record each; return the results of all.

    No game is begun after ``most`` CPU seconds of the process.
    """
    lines = GAMES.read_text(encoding="utf-8").splitlines() if GAMES.exists() else []
    played = {row["game"]: row for row in map(json.loads, lines)}
    for task_id, file in games.items():
        if task_id in played or clock() > most:
            continue
        load_game.cache_clear()
        ours, bare = (OneGame(task_id, path=path, valid_actions=shown) for shown in (True, False))
        timed = Timed()
        steps = play(file, ours, bare, task_id, timed)
        played[task_id] = {"game": task_id, "steps": steps, "seconds": timed.seconds}
        with GAMES.open("a", encoding="utf-8") as out:
            out.write(json.dumps(played[task_id]) + "\n")
        print(name, task_id, flush=True)
    return summary([played[task_id] for task_id in games if task_id in played])


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    steps = sum(row["steps"] for row in rows)
    seconds = {name: sum(row["seconds"][name] for row in rows) for name in rows[0]["seconds"]}
    rates = {n: round(steps / s, 1) for n, s in seconds.items() if not n.endswith("load")}
    return {
        "games": len(rows),
        "commands compared": steps,
        "differences": 0,
        "steps per CPU second": rates,
        "times as fast": {n: round(r / rates["stock"]) for n, r in rates.items()},
        "CPU seconds to open a game": {
            side: round(seconds[f"{side} load"] / len(rows), 4) for side in ("stock", "our")
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("ALFWORLD_DATA"), required=False)
    parser.add_argument("--every", type=int, default=1, help="take every n-th official game")
    parser.add_argument("--seconds", type=float, default=math.inf, help="CPU seconds to take")
    options = parser.parse_args()
    official = find_source(options.data, "valid_seen", None)
    taken = official.task_ids[:: options.every]
    mixed = [t for start in range(5) for t in taken[start::5]]  # whenever it ends, a fair sample
    files = {t: official._files[t] for t in mixed}  # type: ignore[attr-defined]
    result: dict[str, Any] = {
        "alfworld": version("alfworld"),
        "textworld": version("textworld"),
        "python": platform.python_version(),
    }
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ALFWORLD_DATA"] = folder  # importing alfworld makes that folder
        own = {}
        for kind in TASK_TYPES:
            file = Path(folder) / f"{kind}.tw-pddl"
            file.write_text(json.dumps(make_household(kind, "valid_seen", 0)))
            own[f"household/{kind}/valid_seen/0"] = file
        GAMES.parent.mkdir(parents=True, exist_ok=True)
        result["our households"] = measure("ours", own, "generated", options.seconds)
        result["official valid_seen"] = measure("official", files, options.data, options.seconds)
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
