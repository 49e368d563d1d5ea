"""Measure the worth of LDM2's examples on unseen games, and their cost.

The numbers in ``measured.json`` were made by::

    OMP_NUM_THREADS=1 python benchmarks/ldm2.py

Times are CPU times of one process (``time.process_time``). Parts (``--parts imitation,speed``):

* ``imitation``: tuples are formed from recorded walkthroughs of 20 Cooking games of the train
  split. On 20 games of the test split, whose foods and preparations are others:

  - *retrieval*: along their walkthroughs, how often the verb of the next action is among the
    verbs of the k nearest examples. ``shuffled`` has the actions permuted among the tuples;
    ``random`` shows k random tuples, a baseline for guessing the verb. ``ldm2`` encodes with hashed
    words, its default; MiniLM is measured if it is installed.
  - *play*: a policy that knows only the text of the examples plays them for 50 steps. It takes the
    valid action most similar to the examples' actions, with the name shared by the example's
    subgoals replaced by the name shared by its own subgoals. Without examples (``none``) it plays
    at random. Mean normalized score with its 95 % bootstrap interval.

* ``speed``: milliseconds of a step (``observe`` and ``recall`` of 1,000 tokens) with 100 to
  100,000 tuples, the tuples formed a second, and the memory they take. The tuples come from
  walkthroughs whose words are changed at random, so no two are alike.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from keep import measured, write_measured

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.core.errors import MissingDependencyError
from gym_memory.core.records import Cue, Observation
from gym_memory.core.trajectory import Trajectory, read_trajectory
from gym_memory.memory.encoders import DEFAULT_MODEL, make_encoder
from gym_memory.memory.ldm2.memory import LDM2
from gym_memory.wrappers import RecordTrajectory

TRAIN, TEST = range(20), range(40, 60)
KS = (1, 3, 5)
clock = time.process_time

_SUBGOAL = re.compile(r"^(?:\d+\. )?Subgoal \d+: (.*) - (?:in)?complete$", re.MULTILINE)
_ACTION = re.compile(r"^Action: (.*)$", re.MULTILINE)


def record(path: Path, level: str, split: str, seeds: Sequence[int]) -> list[Trajectory]:
    """Record the walkthroughs in a file and read them."""
    env = gym.make("gym_memory/Cooking-v0", level=level, split=split, memory="none", max_steps=200)
    recorder = RecordTrajectory(env, str(path))
    for seed in seeds:
        recorder.reset(seed=seed)
        for action in env.get_wrapper_attr("oracle")().walkthrough:
            recorder.step(action)
    recorder.close()
    return list(read_trajectory(path))


def shuffled(memory: LDM2) -> LDM2:
    """Return the same memory with the actions permuted among its tuples."""
    state = memory.state()
    entries = [entry for addition in state["tuples"] for entry in addition["entries"]]
    actions = [entry[-1] for entry in entries]
    random.Random(0).shuffle(actions)
    for entry, action in zip(entries, actions, strict=True):
        entry[-1] = action
    placebo = LDM2()
    placebo.load_state(state)
    return placebo


# ---------------------------------------------------------------- retrieval


def verb(action: str) -> str:
    return action.partition(" ")[0]


def retrieval(memory: LDM2, games: Sequence[Trajectory]) -> dict[str, float]:
    hits, count = Counter[int](), 0
    for game in games:
        memory.begin(game.task, 0)
        for step, following in zip(game.steps, game.steps[1:], strict=False):
            memory.observe(step)
            found = memory.nearest(Cue(step.text, game.task.goal))
            verbs = [verb(example.action) for _, example in found]
            hits.update({k: verb(following.action) in verbs[:k] for k in KS})
            count += 1
    return {f"top_{k}": round(hits[k] / count, 3) for k in KS}


def guessing(memory: LDM2, games: Sequence[Trajectory], draws: int = 200) -> dict[str, float]:
    verbs = [verb(e[-1]) for addition in memory.state()["tuples"] for e in addition["entries"]]
    wanted = [verb(step.action) for game in games for step in game.steps[1:]]
    chance = random.Random(0)
    return {
        f"top_{k}": round(
            statistics.fmean(w in chance.sample(verbs, k) for w in wanted for _ in range(draws)), 3
        )
        for k in KS
    }


# ---------------------------------------------------------------- play


def names(text: str) -> list[str]:
    """Return the names that several subgoals of a text share, longest first."""
    subgoals = [s.lower().split() for s in _SUBGOAL.findall(text)]
    shared = {w for w, n in Counter(w for s in subgoals for w in set(s)).items() if n > 1}
    shared -= {"the", "a"}
    runs = {" ".join(w for w in subgoal if w in shared) for subgoal in subgoals}
    return sorted(runs - {""}, key=lambda name: (-len(name), name))


def skeleton(action: str, things: Sequence[str]) -> frozenset[str]:
    """Return the words of an action with the names in it replaced by one mark."""
    for name in things:
        action = action.replace(name, "*")
    return frozenset(action.split())


class Imitator:
    """A policy that repeats the examples' actions if possible."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def act(self, obs: Observation) -> str:
        valid = obs["valid_actions"]
        examples = [
            skeleton(_ACTION.findall(lesson)[-1], names(lesson)) for lesson in obs["lessons"]
        ]
        mine = names(obs["memory"].rpartition("So far in this task:")[2])
        scores = []
        for action in valid:
            words = skeleton(action, mine)
            near = [len(words & e) / len(words | e) / 2**j for j, e in enumerate(examples)]
            scores.append(sum(near))
        best = max(scores)
        return self.random.choice([a for a, s in zip(valid, scores, strict=True) if s == best])


def play(level: str, spec: str, placebo: LDM2 | None = None) -> dict[str, Any]:
    env = gym.make("gym_memory/Cooking-v0", level=level, split="test", memory=spec, max_steps=50)
    if placebo is not None:
        env.get_wrapper_attr("memory").load_state(placebo.state())
    scores, wins, tokens = [], 0, []
    for seed in TEST:
        policy = Imitator(seed)
        obs, info = env.reset(seed=seed)
        over = False
        while not over:
            obs, _, terminated, truncated, info = env.step(policy.act(obs))
            tokens.append(info["memory_stats"].tokens)
            over = terminated or truncated
        scores.append(info["normalized_score"])
        wins += info["success"]
    env.close()
    draws = np.random.default_rng(0).choice(scores, (2000, len(scores))).mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return {
        "score": round(statistics.fmean(scores), 3),
        "interval": [round(float(low), 3), round(float(high), 3)],
        "won": wins,
        "games": len(scores),
        "tokens": round(statistics.fmean(tokens)),
    }


def minilm_here() -> bool:
    try:
        return bool(make_encoder(DEFAULT_MODEL))
    except MissingDependencyError:
        return False


def imitation() -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for level in ("rl-1", "rl-2", "rl-4"):
            path = Path(folder) / f"{level}.jsonl.gz"
            record(path, level, "train", TRAIN)
            unseen = record(Path(folder) / f"{level}-test.jsonl.gz", level, "test", TEST)
            memory = LDM2(store=str(path))
            placebo = shuffled(memory)
            rows += [
                {"level": level, "memory": "ldm2", "tuples": memory.stats().lessons,
                 **retrieval(memory, unseen), **play(level, f"ldm2?store={path}")},
                {"level": level, "memory": "ldm2, shuffled", "tuples": placebo.stats().lessons,
                 **retrieval(placebo, unseen), **play(level, "ldm2", placebo)},
                {"level": level, "memory": "none (retrieval: random tuples)", "tuples": 0,
                 **guessing(memory, unseen), **play(level, "none")},
            ]  # fmt: skip
            if minilm_here():
                rows.append({
                    "level": level, "memory": "ldm2 with MiniLM", "tuples": memory.stats().lessons,
                    **retrieval(LDM2(store=str(path), encoder=DEFAULT_MODEL), unseen),
                })  # fmt: skip
            for row in rows[-4:]:
                print(row, file=sys.stderr)
    return rows


# ---------------------------------------------------------------- speed


def varied(games: Sequence[Trajectory], tuples: int, seed: int = 0) -> list[Trajectory]:
    """Return trajectories with about that many tuples, each with words of its own."""
    chance = random.Random(seed)
    made: list[Trajectory] = []
    while tuples > 0:
        game = chance.choice(games)
        words = sorted({w for step in game.steps for w in step.text.split() if len(w) > 4})
        swap = {w: f"{w[:3]}{chance.randrange(10**5)}" for w in words if chance.random() < 0.3}
        steps = tuple(
            step._replace(
                text=re.sub(r"\S+", lambda m: swap.get(m[0], m[0]), step.text)  # noqa: B023
                + f" It is {chance.randrange(24)}:{chance.randrange(60)}."
            )
            for step in game.steps
        )
        made.append(game._replace(steps=steps))
        tuples -= len(steps) - 1
    return made


def speed(sizes: Sequence[int] = (100, 1_000, 5_000, 100_000)) -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        games = record(Path(folder) / "train.jsonl.gz", "rl-4", "train", TRAIN)
        unseen = record(Path(folder) / "test.jsonl.gz", "rl-4", "test", TEST)
    for size in sizes:
        demonstrations = varied(games, size)
        memory = LDM2()
        started = clock()
        formed = memory.form(demonstrations)
        forming = clock() - started
        begins, updates, recalls = [], [], []
        for turn in range(2):  # the second time everything is in the embedding cache
            for game in unseen[:8]:
                started = clock()
                memory.begin(game.task, 0)
                begins.append((clock() - started) * 1e3)
                for step in game.steps:
                    before = clock()
                    memory.observe(step)
                    between = clock()
                    memory.recall(Cue(step.text, game.task.goal), 1000)
                    if turn:
                        updates.append((between - before) * 1e3)
                        recalls.append((clock() - between) * 1e3)
        tracemalloc.start()
        twin = LDM2()
        if size <= 5_000:  # tracing is slow; the cost per tuple is the same
            twin.form(demonstrations)
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        both = [u + r for u, r in zip(updates, recalls, strict=True)]
        rows.append({
            "tuples": formed,
            "batches": len(memory.batches),
            "formed_a_second": round(formed / forming),
            "begin_ms": round(statistics.median(begins), 3),
            "observe_ms": round(statistics.median(updates), 3),
            "recall_ms": round(statistics.median(recalls), 3),
            "step_ms": round(statistics.median(both), 3),
            "step_ms_p95": round(float(np.quantile(both, 0.95)), 3),
            "bytes_a_tuple": round(held / formed) if size <= 5_000 else None,
        })  # fmt: skip
        print(rows[-1], file=sys.stderr)
    return rows


PARTS = {"imitation": imitation, "speed": speed}


def main() -> None:
    """Run the chosen parts and write their results over the old ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default=",".join(PARTS))
    results = measured("ldm2")
    results["command"] = "OMP_NUM_THREADS=1 python benchmarks/ldm2.py"
    for name in parser.parse_args().parts.split(","):
        results[name] = PARTS[name]()
    write_measured("ldm2", results)


if __name__ == "__main__":
    main()
