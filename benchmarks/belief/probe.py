"""Measure how well true facts can be read off the belief of unseen games.

A random policy plays games; every few steps the engine's facts give the places of things, and the
ideal observer (gym_memory/evaluate/quality/) those stated in texts so far. For each such thing a
linear probe predicts its holder from its edges to every other name. The probe is fitted on training
games and measured on test games (foods prepared as in no training game), against

* chance: one name out of those known;
* ``present``: the same weights, but a belief that saw the present step only;
* ``untrained``: the initial weights;
* ``one_relation``: no probe, but the strongest edge of the one relation and direction that serves
  best in the training games.

``older`` has the things that neither the present text nor the inventory nor a valid action names,
so that only the belief knows them. Accuracies are means over games with 95 % intervals. The last
part measures milliseconds a step. Run in the root of the repository::

    OMP_NUM_THREADS=1 python benchmarks/belief/probe.py

It writes ``probe.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from gym_memory.core.names import Spec
from gym_memory.core.records import Cue, Step, Task
from gym_memory.evaluate.quality.observer import IdealObserver
from gym_memory.graph.schema import INVENTORY, LOCATIONS, PLAYER
from gym_memory.run.results import intervals
from gym_memory.wrappers.make import make_env
from gym_memory_belief.command import DEFAULT_ENVS
from gym_memory_belief.memory import Belief, relation_name
from gym_memory_belief.network import UpdaterNetwork
from gym_memory_belief.weights import load_weights, save_weights

STEPS, EVERY, BUDGET = 40, 4, 1000
BELIEFS = ("belief", "present", "untrained")


class Question(NamedTuple):
    """A question about a thing's place: edges to each name, the right one, visibility."""

    game: str
    edges: np.ndarray
    right: int
    older: bool


def play(spec: str, split: str, seed: int, weights: dict[str, str], spent: list[float]) -> Iterator:
    """Yield the questions of one game, by belief."""
    name, parameters = Spec(spec).parts
    env = make_env(name, memory="none", **{**parameters, "split": split, "max_steps": STEPS})
    memories = {belief: Belief(weights[belief]) for belief in BELIEFS}
    observer, rng = IdealObserver(), random.Random(seed)
    obs, info = env.reset(seed=seed)
    task, action = Task(info["task_id"], obs["task"]), ""
    for memory in memories.values():
        memory.begin(task, seed)
    for t in range(STEPS):
        oracle = env.get_wrapper_attr("oracle")()
        observer.see(oracle, obs["text"], action)
        step = Step(t, obs["text"], action, 0.0, obs["inventory"], obs["valid_actions"])
        memories["present"].begin(task, seed)
        for belief, memory in memories.items():
            started = time.process_time()
            memory.observe(step)
            memory.recall(Cue(*step[1:2]), BUDGET)
            if belief == "belief":
                spent.append(time.process_time() - started)
        if t % EVERY == EVERY - 1:
            yield from questions(task.id, memories, observer, step)
        action = rng.choice(obs["valid_actions"])
        obs, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            break
    env.close()


def questions(
    game: str, memories: dict[str, Belief], observer: IdealObserver, step: Step
) -> Iterator:
    now = " ".join((step.text, step.inventory, *step.valid_actions)).lower()
    for thing, relation, holder in sorted(observer.known):
        holder = PLAYER if holder == INVENTORY else holder
        names = memories["belief"].names
        if relation in LOCATIONS and thing != PLAYER and {thing, holder} <= {*names}:
            older = thing not in now
            questions = {}
            for belief, memory in memories.items():
                # A belief that does not know a name has no edges of it.
                own = {name: i for i, name in enumerate(memory.names)}
                edges, at = memory.strengths, own.get(thing)
                table = np.zeros((len(names) - 1, 2 * edges.shape[2]), dtype=np.float32)
                others = [name for name in names if name != thing]
                for row, other in zip(table, others, strict=True):
                    if at is not None and other in own:
                        row[:] = [*edges[at, own[other]], *edges[own[other], at]]
                questions[belief] = Question(game, table, others.index(holder), older)
            yield questions


def fit(questions: list[Question]) -> np.ndarray:
    """Fit weights of a softmax over names, linear in the edges, by gradient ascent (L2 1e-3)."""
    weights = np.zeros(questions[0].edges.shape[1])
    momentum = np.zeros_like(weights)
    for _ in range(200):
        gradient = -1e-3 * weights
        for _, edges, right, _ in questions:
            scores = edges @ weights
            share = np.exp(scores - scores.max())
            gradient += (edges[right] - share @ edges / share.sum()) / len(questions)
        momentum = 0.9 * momentum + gradient
        weights += momentum
    return weights


def right(questions: list[Question], weights: np.ndarray) -> np.ndarray:
    """Return the share of a right answer: names that tie with it share it."""
    shares = []
    for _, edges, answer, _ in questions:
        scores = edges @ weights
        best = scores >= scores.max() - 1e-9
        shares.append(best[answer] / best.sum())
    return np.array(shares)


def mean_over(games: np.ndarray, hits: np.ndarray) -> list[float]:
    """Return the mean over games of their means, and its interval."""
    means = [float(hits[games == game].mean()) for game in sorted({*games.tolist()})]
    return [
        round(value, 4)
        for value in (float(np.mean(means)), *(intervals.scores(means).interval() or ()))
    ]


def untrained(path: Path) -> str:
    sizes = load_weights().sizes
    torch.manual_seed(0)
    arrays = {n: p.detach().numpy() for n, p in UpdaterNetwork(sizes).named_parameters()}
    save_weights(path, sizes, arrays, {})
    return str(path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Probe the belief for true facts.")
    parser.add_argument("--weights", default="", help="default: those of the package")
    parser.add_argument("--games", type=int, default=4, help="training and test games of each")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("probe.json"))
    arguments = parser.parse_args()
    blank = arguments.out.with_suffix(".untrained")
    weights = {"belief": arguments.weights, "present": arguments.weights}
    weights["untrained"] = untrained(blank)
    spent: list[float] = []
    questions: dict[str, list[dict[str, Question]]] = {"train": [], "test": []}
    for split, found in questions.items():
        for spec in DEFAULT_ENVS:
            for seed in range(arguments.games):
                found += play(spec, split, seed, weights, spent)
    older = np.array([question["belief"].older for question in questions["test"]])
    games = np.array([question["belief"].game for question in questions["test"]])
    chance = np.array([1 / len(question["belief"].edges) for question in questions["test"]])
    result: dict[str, Any] = {
        "games": arguments.games * len(DEFAULT_ENVS),
        "questions": len(older),
        "older_questions": int(older.sum()),
        "chance": round(float(chance.mean()), 4),
    }
    for belief in BELIEFS:
        probe = fit([question[belief] for question in questions["train"]])
        hits = right([question[belief] for question in questions["test"]], probe)
        result[belief] = {
            "accuracy": mean_over(games, hits),
            "older_accuracy": mean_over(games[older], hits[older]),
        }
    beliefs = {
        split: [question["belief"] for question in found] for split, found in questions.items()
    }
    units = np.eye(beliefs["train"][0].edges.shape[1])
    best = max(units, key=lambda unit: right(beliefs["train"], unit).mean())
    hits = right(beliefs["test"], best)
    relation, back = int(best.argmax()) % (len(units) // 2), bool(best.argmax() >= len(units) // 2)
    result["one_relation"] = {
        "relation": f"{'holder' if back else 'thing'} | {relation_name(relation)} | ...",
        "accuracy": mean_over(games, hits),
        "older_accuracy": mean_over(games[older], hits[older]),
    }
    result["cpu_ms_a_step"] = {
        "median": round(1e3 * float(np.median(spent)), 3),
        "slowest_of_100": round(1e3 * float(np.quantile(spent, 0.99)), 3),
        "steps": len(spent),
    }
    result["weights"] = load_weights(arguments.weights).id
    result["python"], result["numpy"] = platform.python_version(), np.__version__
    arguments.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))
    blank.unlink()


if __name__ == "__main__":
    main()
