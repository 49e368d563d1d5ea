"""Time the plain reader beside that of an earlier review, on the same steps of eight worlds.

    git archive 0e2da91 gym_memory wrappers baselines | tar x -C /tmp/before
    python -m benchmarks foreign/reader --before /tmp/before

Microseconds of CPU time per step, the minimum of nine interleaved rounds: *first*, new texts;
*play*, all steps of the episodes in order; *again*, the same once more.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WAYS = ("first", "play", "again")
PLAYED = {
    "colossal-cave": (3, 200),
    "agentodyssey": (3, 100),
    "textworld-express": (1, 40),
    "textarena": (1, 40),
    "minigrid": (1, 40),
    "zork1": (2, 100),
}
"""World to seeds and steps of a game, as draw.py plays it."""
STORIES = {"zork1": 12, "zork3": 1}
"""Story to the seed under which its walkthrough wins."""
_REVIEWED = "fiction"


def record() -> dict[str, list[list[tuple[str, str, str]]]]:
    """Return the episodes of each world: text, action and inventory of every step."""
    import jericho
    from draw import GAMES, STORY, LeastTried, environment

    from gym_memory.run import rollout
    from gym_memory.wrappers.make import make_env

    worlds: dict[str, list[list[tuple[str, str, str]]]] = {}

    def keep(raw: Any, episode: list[tuple[str, str, str]]) -> None:
        shown = raw._feedback
        episode.append((shown.text, raw._actions[-1] if raw._actions else "", shown.inventory))

    for name, (seeds, steps) in PLAYED.items():
        for changes in GAMES[name]:
            env = environment(name, changes)
            for seed in range(seeds):
                worlds.setdefault(name, []).append([])
                on_step = functools.partial(keep, env.unwrapped, worlds[name][-1])
                rollout(env, LeastTried(), seed, limit=steps, on_step=lambda *_, f=on_step: f())
            env.close()
    solutions = {known["name"]: known for known in jericho.defines.BINDINGS_DICT.values()}
    for name, seed in STORIES.items():
        path = str(STORY.with_stem(name))
        env = make_env("Jericho", memory="none", path=path, story_seed=seed, max_steps=1000,
                       valid_actions=False)  # fmt: skip
        episode = worlds.setdefault(f"{name}, walkthrough", [[]])[0]
        env.reset(seed=0)
        keep(env.unwrapped, episode)
        for action in solutions[name]["walkthrough"].split("/"):
            ended = env.step(action)[2]
            keep(env.unwrapped, episode)
            if ended:
                break
        env.close()
    return worlds


def times(worlds: dict[str, Any], rounds: int = 3) -> dict[str, dict[str, float]]:
    """Return the microseconds for each world and way, and the number of facts in its steps."""
    try:  # the layout of the review
        from gym_memory.memory.extract import get_extractor
        from gym_memory.memory.extract.base import apply
        from gym_memory.memory.graph import TemporalGraph
        from gym_memory.types import Step, Task
    except ImportError:
        from gym_memory.core.records import Step, Task
        from gym_memory.extract import get_extractor
        from gym_memory.extract.draft import apply
        from gym_memory.graph import TemporalGraph

    def read(name: str, episodes: Any, fresh_only: bool) -> tuple[float, int]:
        rules = get_extractor(_REVIEWED if name.startswith("zork") else "plain")
        seen: set[str] = set()
        spent = counted = facts = 0
        for episode in episodes:
            graph = TemporalGraph()
            for t, (text, action, inventory) in enumerate(episode):
                step = Step(t, text, action, 0.0, inventory)
                began = time.process_time_ns()
                found = rules.extract(step, graph, Task("", ""))
                took = time.process_time_ns() - began
                if not (fresh_only and text in seen):
                    spent, counted = spent + took, counted + 1
                seen.add(text)
                facts += len(found.mentions)
                apply(found, graph, t)
        return spent / counted / 1e3, facts

    least: dict[str, dict[str, float]] = {}
    for name, episodes in worlds.items():
        for _ in range(rounds):
            row = least.setdefault(name, {})
            for way in WAYS:
                if way != "again":
                    for cache in _caches():
                        cache.cache_clear()
                gc.collect()
                spent, facts = read(name, episodes, way == "first")
                row[way] = min(row.get(way, spent), spent)
                row["facts"] = facts
    return least


def _caches() -> Iterator[Any]:
    for thing in gc.get_objects():
        if type(thing) is functools._lru_cache_wrapper and "gym_memory" in str(thing.__module__):
            yield thing


def compare(before: Path) -> list[dict[str, Any]]:
    """Return a row for each world: its size, and the times of both readers."""
    worlds = record()
    with tempfile.NamedTemporaryFile("w+", suffix=".json") as file:
        json.dump(worlds, file)
        file.flush()
        command = [sys.executable, __file__, "--steps", file.name]
        least: dict[str, dict[str, dict[str, float]]] = {"before": {}, "now": {}}
        for _ in range(3):
            for which, root in (("before", before), ("now", Path(__file__).parents[2])):
                path = os.pathsep.join((str(root), str(Path(__file__).parents[1])))
                shown = subprocess.run(
                    command, env={**os.environ, "PYTHONPATH": path}, check=True, text=True,
                    capture_output=True,
                ).stdout  # fmt: skip
                for name, row in json.loads(shown.splitlines()[-1]).items():
                    known = least[which].setdefault(name, row)
                    known.update({k: min(v, known[k]) for k, v in row.items()})
    return [
        {
            "world": name,
            "steps": sum(map(len, episodes)),
            "texts": len({step[0] for episode in episodes for step in episode}),
            **{which: {k: round(v, 1) for k, v in least[which][name].items()} for which in least},
        }
        for name, episodes in worlds.items()
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="a folder with the code of the review")
    parser.add_argument("--steps", type=Path, help="time the reader that is imported on these")
    args = parser.parse_args()
    if args.steps:
        print(json.dumps(times(json.loads(args.steps.read_text("utf-8")))))
    else:
        from keep import write_measured

        write_measured("foreign/reader", compare(args.before))
        subprocess.run([sys.executable, "benchmarks/tables.py"], check=True)
