"""Measure the user's waiting times, and write docs/results/speed.md.

    python -m benchmarks speed                    # all parts, some ten CPU-minutes
    python -m benchmarks speed start textworld    # these; the others keep their numbers

CPU time of one thread, Java and new processes included. Compared sides play the same actions,
interleaved in one run, so that other load on the machine affects all of them.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import gymnasium as gym
import numpy as np
from keep import measured, write_measured

import gym_memory  # noqa: F401 - registers the environments

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "results" / "speed.md"
clock = time.process_time


# ---------------------------------------------------------------- start

_RESET = (
    "from gym_memory.wrappers.make import make_env\n"
    "make_env('Cooking', level='rl-1', memory='arigraph').reset(seed=0)"
)
_MAIN = "from gym_memory.cli import main; main([{}])"
STARTS = {
    "gymnasium alone": "import gymnasium",
    "import": "import gym_memory",
    "make and reset": _RESET,
    "list": _MAIN.format("'list'"),
    "--help": _MAIN.format("'--help'"),
}


def start(runs: int = 5) -> dict[str, float]:
    """Return the median CPU seconds of a new process by its task, with warm caches."""
    seconds: dict[str, list[float]] = {}
    here = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(runs + 1):
        for name, code in STARTS.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-P", "-c", code]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=here)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if turn:
                spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                seconds.setdefault(name, []).append(spent)
    return {name: round(float(np.median(times)), 3) for name, times in seconds.items()}


# ---------------------------------------------------------------- TextWorld

GAMES = {"Cooking": "hard", "TreasureHunt": "hardest"}
_SCORES = dict.fromkeys(("feedback", "score", "max_score", "won", "lost"), True)
BARE: dict[str, dict[str, Any]] = {
    "bare": _SCORES,
    "bare + actions + inventory": {**_SCORES, "admissible_commands": True, "inventory": True},
    # Requests of TALES's TextWorld environment, whose code is not in the package index.
    "as TALES calls it": {
        **_SCORES, "moves": True, "admissible_commands": True, "extras": ["walkthrough"],
    },
}  # fmt: skip
OURS: dict[str, dict[str, Any]] = {
    "none": {"memory": "none", "valid_actions": False, "inventory": False},
    "none + actions": {"memory": "none", "inventory": False},
    "none + actions + inventory": {"memory": "none"},
    "arigraph": {"memory": "arigraph", "inventory": False},
    "arigraph + inventory": {"memory": "arigraph"},
}


def textworld(episodes: int = 6) -> dict[str, dict[str, float]]:
    """Return milliseconds a step by side: the planner, our environments, TextWorld itself."""
    return {f"{name} {level}": _game(name, level, episodes) for name, level in GAMES.items()}


def _game(name: str, level: str, episodes: int) -> dict[str, float]:
    from gym_memory.baselines import make_policy

    def make(settings: dict[str, Any]) -> Any:
        return gym.make(f"gym_memory/{name}-v0", level=level, **settings)

    played, policy = make({"memory": "arigraph"}), make_policy("planner")
    ours = {side: make(settings) for side, settings in OURS.items()}
    _play(played, policy, episodes)  # fills the caches of extraction
    spent = dict.fromkeys(("planner", *OURS, *BARE), 0.0)
    steps = 0
    for seed in range(episodes):
        actions, task, acting = _play(played, policy, seed)
        steps, spent["planner"] = steps + len(actions), spent["planner"] + acting
        for side, env in ours.items():
            env.reset(options={"task_id": task})
            env.unwrapped.game.world.forget()  # training repeats states, not whole episodes
            spent[side] += _again(env, actions)
        story = Path(played.unwrapped.story(task))
        for side, infos in BARE.items():
            spent[side] += _bare(story, infos, actions)
    return {side: round(1e3 * seconds / steps, 3) for side, seconds in spent.items()}


def _play(env: Any, policy: Any, seed: int) -> tuple[list[str], str, float]:
    """Play an episode; return the actions, the task and the CPU seconds of the policy."""
    obs, info = env.reset(seed=seed)
    policy.reset(info, seed)
    actions: list[str] = []
    acting, done = 0.0, False
    while not done:
        started = clock()
        actions.append(policy.act(obs, info))
        acting += clock() - started
        env.get_wrapper_attr("set_focus")(policy.focus)
        obs, _, terminated, truncated, info = env.step(actions[-1])
        done = terminated or truncated
    return actions, info["task_id"], acting


def _again(env: Any, actions: Iterable[str]) -> float:
    started = clock()
    for action in actions:
        env.step(action)
    return clock() - started


def _bare(story: Path, infos: dict[str, Any], actions: Iterable[str]) -> float:
    import textworld
    from textworld.envs.wrappers import Filter

    wrappers = [Filter] if "extras" in infos else []
    env = textworld.start(str(story), textworld.EnvInfos(**infos), wrappers=wrappers)
    env.reset()
    seconds = _again(env, actions)
    env.close()
    return seconds


# ---------------------------------------------------------------- a new game


def fresh(count: int = 8) -> dict[str, float]:
    """Return CPU seconds to generate a new game, and to compile it too, as its story needs."""
    from gym_memory.games.textworld.cooking import Cooking
    from gym_memory.games.textworld.treasure_hunt import TreasureHunt

    spent = {"generated": 0.0, "compiled": 0.0}
    with (
        tempfile.TemporaryDirectory() as cache,
        mock.patch.dict(os.environ, {"GYM_MEMORY_CACHE": cache}),
    ):
        envs = Cooking("hard", "train"), TreasureHunt("hardest", "train")
        for number in range(count + 1):
            env = envs[number % 2]
            for side, make in (("generated", env.description), ("compiled", env.story)):
                before = _spent()
                make(env.task_ids[number])
                if number:  # the first one imports TextWorld
                    spent[side] += _spent() - before
    spent["compiled"] += spent["generated"]
    return {side: round(seconds / count, 3) for side, seconds in spent.items()}


def _spent() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


# ---------------------------------------------------------------- DRRN


_TICKS = 25
"""Ticks of training between turns of the bare engine."""


def _story(env: Any) -> Path:
    return Path(env.unwrapped.story(env.unwrapped.task_id))


def learner(steps: int = 1200) -> dict[str, float]:
    """Return milliseconds a step of DRRN's training, and of the bare engine at the same actions."""
    from rl.speed import Course

    course = Course("rl-1", "none")
    env = course.envs[0]
    step, reset, played = env.step, env.reset, [(_story(env), list[str]())]

    def record(action: str) -> Any:
        played[-1][1].append(action)
        return step(action)

    def begin(**options: Any) -> Any:
        answer = reset(**options)
        played.append((_story(env), []))
        return answer

    env.step, env.reset = record, begin
    before = dict(course.spent)
    bare, count = 0.0, 0
    while course.steps < steps:
        for _ in range(_TICKS):
            course.tick()
        over, played[:] = played[:-1], played[-1:]
        bare += sum(_bare(story, BARE["bare"], actions) for story, actions in over)
        count += sum(len(actions) for _, actions in over)
    total = sum(course.spent.values()) - sum(before.values())
    shares = {part: round((s - before[part]) / total, 3) for part, s in course.spent.items()}
    return {"bare": 1e3 * bare / count, "acting and training": 1e3 * total / course.steps, **shares}


# ---------------------------------------------------------------- a million facts

SIZES = (10_000, 100_000, 1_000_000)


def facts(sizes: Iterable[int] = SIZES) -> list[dict[str, float]]:
    """Return bytes a fact and milliseconds of updates and recalls, at each number of facts.

    For comparison, a pass over all facts, and the product of all vectors with the texts.
    """
    rows = []
    for size in sizes:  # each in a process of its own: freed memory would hide what is used
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            rows.append(process.submit(_facts, size).result())
        print(json.dumps(rows[-1]), flush=True)
    return rows


def _facts(size: int, recalls: int = 40) -> dict[str, float]:
    from scale.facts import SIZE, facts_of, queries

    from gym_memory.core.records import Cue, Step, Task
    from gym_memory.memory.arigraph import AriGraph
    from gym_memory.memory.stores.episodes import EpisodeStore

    row: dict[str, float] = {"facts": size}
    parts = size // SIZE
    memories = {
        "structural": AriGraph(),
        "semantic": AriGraph(recall="semantic", encoder="hash"),
    }
    for memory in memories.values():
        memory.begin(Task("house/0", "Find the brass key.", "plain"), 0)
    graph, before = memories["structural"].graph, _resident()
    for part in range(parts):
        for fact in facts_of(part):
            graph.add(fact, 0)
    row["bytes a fact"] = round((_resident() - before) / size)
    memories["semantic"]._hold(graph, EpisodeStore())
    t = 0
    for kind, memory in memories.items():
        texts = queries(recalls + 1, parts)
        memory.recall(Cue("", focus=texts.pop()), 500)  # builds the indexes
        gc.collect()
        gc.freeze()  # as a worker does after its first job
        spent: dict[str, list[float]] = {"update": [], kind: []}
        for text in texts:
            t += 1
            step = Step(t, f"You are in the hall {t}. The lamp {t} is on the table.", "look")
            cue = Cue(f"You see the {text}.", "Find the brass key.", focus=text)
            began = clock()
            memory.observe(step)
            learnt = clock()
            memory.recall(cue, 500)
            spent["update"].append(1e3 * (learnt - began))
            spent[kind].append(1e3 * (clock() - learnt))
            if t % _TURN == 0:
                beside, spare = _BESIDE[kind]
                spent.setdefault(beside, []).append(1e3 * spare(graph))
        for name, values in spent.items():
            row[name] = round(float(np.median(values)), 2)
            row[f"{name}, p95"] = round(float(np.percentile(values, 95)), 2)
        gc.unfreeze()
    return row


_TURN = 10
"""Steps between two turns of the compared side."""
_TEXTS, _NUMBERS = 20, 256
"""Texts that a semantic recall searches for, and numbers of a vector of the hash encoder."""
_ROWS = 1 << 15


def _look_at_each(graph: Any) -> float:
    began = clock()
    found = [fact for fact in graph.live() if "hall 0" in fact]
    assert not found
    return clock() - began


def _compare_all(graph: Any) -> float:
    """Multiply as many vectors as there are facts with those of the texts, a block at a time."""
    block = np.ones((min(_ROWS, len(graph)), _NUMBERS), dtype=np.int16)
    texts = np.ones((_NUMBERS, _TEXTS), dtype=np.float32)
    began = clock()
    for _ in range(0, len(graph), len(block)):
        block.astype(np.float32) @ texts
    return clock() - began


_BESIDE_FACTS = ("look at each", "compare all")
_BESIDE: dict[str, tuple[str, Callable[[Any], float]]] = {
    "structural": (_BESIDE_FACTS[0], _look_at_each),
    "semantic": (_BESIDE_FACTS[1], _compare_all),
}


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


# ---------------------------------------------------------------- the page

PARTS: dict[str, Callable[[], Any]] = {
    "start": start,
    "textworld": textworld,
    "fresh": fresh,
    "learner": learner,
    "facts": facts,
}
SCRIPTS = {
    "scienceworld/speed": ("scienceworld/replay", "speed"),
    "arigraph_speed": ("arigraph_speed", "--parts", "steps"),
    "memory_speed": ("memory_speed", "--out", "benchmarks/measured.json"),
    "viewer_speed": ("viewer_speed",),
}
"""Other benchmarks, by their name in measured.json, with their arguments."""


class Row(NamedTuple):
    """A line of the table: measure, comparison, earlier value, goal, and format."""

    what: str
    beside: str
    before: float
    wanted: float
    now: Callable[[], float]
    source: str
    more: bool = False
    """True if a greater number is better."""


def _game_ratio(above: str, below: str, game: str = "Cooking hard") -> Callable[[], float]:
    def ratio() -> float:
        row = measured("speed")["textworld"][game]
        one, two = (sum(row[side] for side in sides.split(", ")) for sides in (above, below))
        return float(one / two)

    return ratio


def _of(part: str, *keys: Any) -> Callable[[], float]:
    def value() -> float:
        found = measured("speed")[part] if part in PARTS else measured(part)
        for key in keys:
            found = found[key]
        return float(found)

    return value


def _authors(place: int) -> Callable[[], float]:
    return lambda: float(measured("arigraph_speed")["authors"][place]["times_faster"])


def _at_once(latency: float) -> float:
    lines = (HERE / "agents" / "concurrency.jsonl").read_text("utf-8").splitlines()
    runs = [run for run in map(json.loads, lines) if run["latency_s"] == latency]
    quiet = min(runs, key=lambda run: run.get("load_before", 99))
    return max(r["times_one"] for r in quiet["rows"] if r["agent"] == "ariadne")


def _start(name: str) -> float:
    return _of("start", name)() / _of("start", "gymnasium alone")()


_IMPORT = "import of `gymnasium` alone"
_TALES, _HUNT = "as TALES calls it", "TreasureHunt hardest"
_AUTHORS = "AriGraph authors' code, cached vectors, x faster"
ROWS = (
    Row("planner with its environment", "TextWorld, actions and inventory", 0.78, 0.31,
        _game_ratio("planner, arigraph + inventory", "bare + actions + inventory"), "textworld"),
    Row("Cooking hard with actions: `none`", "as TALES calls TextWorld, x faster", 1.73, 10,
        _game_ratio(_TALES, "none + actions"), "textworld", more=True),
    Row("the same: `arigraph`", "as TALES calls TextWorld, x faster", 1.37, 4,
        _game_ratio(_TALES, "arigraph"), "textworld", more=True),
    Row("TreasureHunt hardest with actions: `none`", "as TALES calls TextWorld, x faster", 1.88, 10,
        _game_ratio(_TALES, "none + actions", _HUNT), "textworld", more=True),
    Row("the same: `arigraph`", "as TALES calls TextWorld, x faster", 1.54, 4,
        _game_ratio(_TALES, "arigraph", _HUNT), "textworld", more=True),
    Row("a new game of TextWorld", "with compilation, x faster", 1, 5,
        lambda: _of("fresh", "compiled")() / _of("fresh", "generated")(), "fresh", more=True),
    Row("DRRN, acting and training", "bare TextWorld", 2.05, 1.0,
        lambda: _of("learner", "acting and training")() / _of("learner", "bare")(), "learner"),
    Row("ScienceWorld with actions", "package's `step`, x faster", 4.6, 8,
        _of("scienceworld/speed", "times_faster", "valid actions at every step"),
        "scienceworld/speed", more=True),
    Row("ScienceWorld without", "package's `step`, x faster", 11.7, 15,
        _of("scienceworld/speed", "times_faster", "without valid actions"),
        "scienceworld/speed", more=True),
    Row("AriGraph step, semantic, 1,000 facts", _AUTHORS, 7, 20,
        _authors(0), "arigraph_speed", more=True),
    Row("AriGraph step, semantic, 5,000 facts", _AUTHORS, 23, 20,
        _authors(1), "arigraph_speed", more=True),
    Row("recall of 1e6 facts, structural", "a look at each, x faster", 0.512, 37.6,
        lambda: _of("facts", -1, "look at each")() / _of("facts", -1, "structural")(),
        "facts", more=True),
    Row("recall of 1e6 facts, semantic", "all vectors compared, x faster", 0.531, 2.95,
        lambda: _of("facts", -1, "compare all")() / _of("facts", -1, "semantic")(),
        "facts", more=True),
    Row("graph of 1e6 facts", "bytes a fact", 1226, 613, _of("facts", -1, "bytes a fact"), "facts"),
    Row("make and reset, after the import", _IMPORT, 1.94, 1.56,
        lambda: _start("make and reset") - _start("import"), "start"),
    Row("`gym-memory list`", _IMPORT, 18.4, 2.5, lambda: _start("list"), "start"),
    Row("`gym-memory --help`", _IMPORT, 4.19, 1.88, lambda: _start("--help"), "start"),
    Row("32 episodes of a language model, 2 s a call", "one episode, x steps", 12, 28,
        lambda: _at_once(2.0), "agents/concurrency", more=True),
    Row("the same, 0.2 s a call", "one episode, x steps", 12, 28,
        lambda: _at_once(0.2), "agents/concurrency", more=True),
)  # fmt: skip
Table = tuple[list[str], int, list[list[str]]]


def table() -> Table:
    """Return the goals, and the results."""
    rows = []
    for row in ROWS:
        now = row.now()
        reached = now >= row.wanted if row.more else now <= row.wanted
        numbers = (f"{n:,.0f}" if n >= 1000 else f"{n:.3g}" for n in (row.before, row.wanted, now))
        rows.append([row.what, row.beside, row.source, *numbers, "yes" if reached else "no"])
    heads = ["what", "measured in, or against", "part", "before", "wanted", "now", "reached"]
    return heads, 3, rows


def growth() -> Table:
    """Return the cost of a step by the number of facts."""
    names = ("update", "structural", "semantic")
    heads = ["facts", "bytes a fact", *(f"{n}, {q}" for n in names for q in ("median", "p95"))]
    keys = ["bytes a fact", *(k for n in names for k in (n, f"{n}, p95"))]
    heads, keys = [*heads, *_BESIDE_FACTS], [*keys, *_BESIDE_FACTS]
    rows = measured("speed")["facts"]
    cells = [[f"{row['facts']:,}", *(str(row.get(key, "")) for key in keys)] for row in rows]
    return heads, 0, cells


def games() -> Table:
    """Return the milliseconds of a step of TextWorld by player."""
    found = measured("speed")["textworld"]
    sides = list(next(iter(found.values())))
    rows = [[side, *(f"{row[side]:.2f}" for row in found.values())] for side in sides]
    return ["ms a step", *found], 1, rows


def items() -> Table:
    """Return the milliseconds of a step of the memories over tasks that hold many items."""
    rows = measured("memory_speed")["items"]
    cells = [[f"`{r['memory']}`", str(r["median_ms"]), str(r["max_ms"])] for r in rows]
    return ["ms a step", "median of 50", "slowest"], 1, cells


TABLES = {"speed": table, "growth": growth, "steps": games, "items": items}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, *SCRIPTS, []], default=[])
    parts = parser.parse_args().parts or [*PARTS, *SCRIPTS]
    for part in parts:
        if part in SCRIPTS:
            command = [sys.executable, "-m", "benchmarks", *SCRIPTS[part]]
            subprocess.run(command, cwd=HERE.parent, check=True)
            continue
        result = PARTS[part]()
        load = {**measured("speed").get("load", {}), part: round(os.getloadavg()[0], 1)}
        write_measured("speed", {**measured("speed"), part: result, "load": load})
        print(part, json.dumps(result, indent=1), flush=True)
    from tables import PAGES, differing

    PAGE.write_text(differing(PAGE.read_text("utf-8"), PAGES[PAGE])[0], "utf-8")


if __name__ == "__main__":
    main()
