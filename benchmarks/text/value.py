"""Play memories with a value of text that is learned from play, and with the planner.

The reader looks one step ahead: it takes the valid action with the highest value, a linear function
of hashed n-grams around the action's words in the observation and in the rendered memory. The value
is learned from returns of exploring episodes in training games, with the memories mixed. It uses
neither the planner, its labels nor its parsers; the reader itself has no memory::

    OMP_NUM_THREADS=1 nice python -m benchmarks text/value     # resumes if interrupted
    python benchmarks/tables.py

``value.jsonl`` has a line for the training and one for each memory.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from readers import PLANNER, PLAYED, READ

from gym_memory.baselines.base import Policy, make_policy
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation, Transition
from gym_memory.run import rollout
from gym_memory.wrappers.make import make_env

KEPT = Path(__file__).with_name("value.jsonl")
WORLDS = (
    *("Cooking?level=rl-3&max_steps=50", "Cooking?level=rl-4&max_steps=50"),
    *("TreasureHunt?level=easy&max_steps=60", "Cleaning?level=voices-room"),
)
"""Worlds in which it learns; it does not learn in Fetch."""
BUDGET, EPISODES, TEST_GAMES = 500, 1600, 10
SIZE = 1 << 20
"""Number of weights, which colliding n-grams share."""
DISCOUNT, RATE, LEAST = 0.9, 0.3, 0.1
"""Discount of a reward a step later, step size, and the last share of random actions."""
_WORD = re.compile(r"[a-z0-9][\w'-]*|[-=>\[\]:;,.]")
_PART = re.compile(r" (?:from|on|in|into|with|to|onto|at) ")
_NEAR = (-3, -2, -1, 1, 2, 3)
_MOST = 6
"""Most mentions of a name to read, the last ones."""

Features = NDArray[np.int64]


class Page(NamedTuple):
    """A text as words, with the places of each word."""

    words: Sequence[str]
    places: dict[str, list[int]]

    @classmethod
    def of(cls, text: str) -> Page:
        """Split a text."""
        words = _WORD.findall(text.lower())
        places: dict[str, list[int]] = {}
        for n, word in enumerate(words):
            places.setdefault(word, []).append(n)
        return cls(words, places)

    def mentions(self, name: Sequence[str]) -> list[int]:
        """Return where a name ends."""
        ends = self.places.get(name[-1], ())
        first = len(name) - 1
        return [e for e in ends if list(self.words[max(e - first, 0) : e + 1]) == [*name]]


def features(obs: Observation, world: str) -> list[Features]:
    """Return the hashed n-grams of each valid action in an observation of a world."""
    pages = {"t": Page.of(obs["text"]), "g": Page.of(obs["task"]), "i": Page.of(obs["inventory"]),
             "m": Page.of(obs["memory"])}  # fmt: skip

    def known(word: str) -> str:
        return "".join(name for name in "tgi" if word in pages[name].places)

    def grams(action: str) -> Iterator[str]:
        verb, _, rest = action.partition(" ")
        yield verb
        yield f"{verb} again {min(obs['memory'].lower().count(action), 3)}"
        for part, name in enumerate(_PART.split(rest)) if rest else ():
            words = _WORD.findall(name.lower())
            for source, page in pages.items() if words else ():
                head = f"{verb} {part} {source}"
                found = page.mentions(words)
                yield f"{head} {min(len(found), 3)}"
                for end in found[-_MOST:]:
                    for far in _NEAR:
                        at = end + far if far > 0 else end - len(words) + 1 + far
                        if 0 <= at < len(page.words):
                            yield f"{head} {far} {page.words[at]}"
                            yield f"{head} {far} #{known(page.words[at])}"

    return [
        np.fromiter({zlib.crc32((world + g).encode()) % SIZE for g in grams(action)}, np.int64)
        for action in obs["valid_actions"]
    ]


class ValueReader(Policy):
    """A policy that takes the action whose value is highest, or a random one."""

    name: ClassVar[str] = "value"

    def __init__(self) -> None:
        self.weights = np.zeros(SIZE)
        self.explore = 0.0
        self._rng, self._world = random.Random(0), ""
        self._taken: list[Features] = []
        self._rewards: list[float] = []

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode."""
        self._rng = random.Random(seed)
        self._world = "/".join(info["task_id"].split("/")[:2])
        self._taken, self._rewards = [], []

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the best action; break ties at random."""
        actions = obs["valid_actions"]
        found = features(obs, self._world)
        values = [self.weights[of].mean() for of in found]
        best = max(values)
        choices = [n for n, value in enumerate(values) if value == best]
        if self._rng.random() < self.explore:
            choices = [*range(len(actions))]
        chosen = self._rng.choice(choices)
        self._taken.append(found[chosen])
        return actions[chosen]

    def update(self, transition: Transition) -> None:
        """Record a reward."""
        self._rewards.append(transition.reward)

    def learn(self) -> None:
        """Move the values of the episode's actions towards their returns."""
        value = 0.0
        for of, reward in zip(reversed(self._taken), reversed(self._rewards), strict=True):
            value = reward + DISCOUNT * value
            self.weights[of] += RATE * (value - self.weights[of].mean())


def episode(world: str, memory: str, split: str, policy: Policy, seed: int) -> float:
    """Play a game with a new memory; return its value."""
    name, settings = Spec(world).parts
    env = make_env(name, memory=memory, budget=BUDGET, split=split, **settings)
    try:
        return rollout(env, policy, seed=seed).value
    finally:
        env.close()


def train(reader: ValueReader, kept: Path) -> dict[str, Any]:
    """Train the reader, or continue its training; return the result."""
    known: dict[str, Any] = {"seconds": 0.0, "scores": []}
    if kept.exists():
        with np.load(kept, allow_pickle=False) as found:
            reader.weights, known = found["weights"], json.loads(str(found["known"]))
    started, scores = time.process_time() - known["seconds"], known["scores"]
    while len(scores) < EPISODES:
        number = len(scores)
        reader.explore = max(1 - 1.5 * number / EPISODES, LEAST)
        rng = random.Random(number)
        world, memory = rng.choice(WORLDS), rng.choice(READ)
        scores.append(episode(world, memory, "train", reader, number))
        reader.learn()
        if len(scores) % 50 == 0 or len(scores) == EPISODES:
            known["seconds"] = time.process_time() - started
            np.savez(kept, weights=reader.weights, known=json.dumps(known))
    reader.explore = 0.0
    last = scores[-EPISODES // 5 :]
    score = round(sum(last) / len(last), 3)
    return {"episodes": EPISODES, "cpu_seconds": round(known["seconds"]), "train_score": score}


def play(memory: str, policy: Policy) -> list[float]:
    """Return the scores of the test games of all worlds, world by world."""
    return [
        round(episode(world, memory, "test", policy, game), 4)
        for world in WORLDS
        for game in range(TEST_GAMES)
    ]


def main() -> None:
    """Train once, then play the missing games with both readers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("results/value.npz"))
    kept = parser.parse_args().out
    kept.parent.mkdir(parents=True, exist_ok=True)
    reader, planner = ValueReader(), make_policy(PLANNER)
    rows = [json.loads(line) for line in KEPT.open()] if KEPT.exists() else []
    trained = train(reader, kept)
    with KEPT.open("a", encoding="utf-8") as file:
        if not rows:
            print(json.dumps(trained), file=file, flush=True)
        for memory in PLAYED:
            if memory not in [row.get("memory") for row in rows]:
                row = {"model": play(memory, reader), "rules": play(memory, planner)}
                print(json.dumps({"memory": memory, **row}), file=file, flush=True)


if __name__ == "__main__":
    main()
