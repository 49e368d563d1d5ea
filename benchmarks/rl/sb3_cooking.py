"""MaskablePPO with a pointer head, and SB3's plain PPO and DQN, on a level of Cooking.

Each learns from 20 training games and is then played once on 20 test games, in which
foods are prepared as in no training game.
``pointer`` makes logits from the content of the actions; ``plain`` is the same MaskablePPO with
SB3's usual head; ``ppo`` and ``dqn`` know no mask either. All see the same features, and
``random`` plays the same test games. Run in the root of the repository::

    OMP_NUM_THREADS=1 python benchmarks/rl/sb3_cooking.py

It writes ``sb3_cooking_<level>.json`` beside this file, and the pointer's player to ``--out`` for
``gym-memory run -p sb3?checkpoint=FILE``.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import sb3_contrib
import stable_baselines3 as sb3
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

from gym_memory.baselines.learning.features import Lexicon
from gym_memory.baselines.sb3 import PointerPolicy, RelationFeatures, Sizes, save
from gym_memory.results import intervals
from gym_memory.wrappers import IndexActions
from gym_memory.wrappers.make import make_env

SIZES = Sizes()
ENVS = 8
PPO = {"n_steps": 64, "batch_size": 64, "n_epochs": 4, "gamma": 0.9, "ent_coef": 0.01}


class Games(gym.Wrapper[Any, Any, Any, Any]):
    """Plays the first ``count`` games of a split in an order of its own."""

    def __init__(self, env: gym.Env[Any, Any], count: int, seed: int):
        super().__init__(env)
        self._count, self._order = count, np.random.default_rng(seed)
        self._queue: list[int] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._queue = self._queue or self._order.permutation(self._count).tolist()
        return self.env.reset(seed=self._queue.pop(), options=options)


class Count(BaseCallback):
    """Counts how episodes ended, and looks at every mask."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = {"episodes": 0, "truncated": 0, "empty_masks": 0, "dropped_actions": 0}
        self.scores: list[float] = []

    def _on_step(self) -> bool:
        for done, info in zip(self.locals["dones"], self.locals["infos"], strict=True):
            self.seen["empty_masks"] += not info["action_mask"].any()
            self.seen["dropped_actions"] += info["n_valid_dropped"]
            if done:
                self.seen["episodes"] += 1
                self.seen["truncated"] += bool(info["TimeLimit.truncated"])
                self.scores.append(info["normalized_score"])
        return True


def environment(options: Any, lexicon: Lexicon, split: str, number: int) -> Any:
    steps = {} if split == "train" else {"max_steps": 100}
    more = {"level": options.level, "gata_actions": True, "split": split, **steps}
    env = IndexActions(make_env("Cooking", memory=options.memory, **more), SIZES.actions)
    features = RelationFeatures(env, lexicon, SIZES, train=split == "train")
    return Games(features, options.games, number) if split == "train" else features


def makers(options: Any, lexicon: Lexicon, count: int) -> list[Any]:
    first = 1000 * options.seed
    return [
        partial(environment, options, lexicon, "train", first + number) for number in range(count)
    ]


def build(name: str, env: Any, seed: int) -> Any:
    if name == "pointer":
        return MaskablePPO(PointerPolicy, env, seed=seed, learning_rate=1e-3, **PPO)
    if name == "plain":
        return MaskablePPO("MultiInputPolicy", env, seed=seed, **PPO)
    if name == "ppo":
        return sb3.PPO("MultiInputPolicy", env, seed=seed, **PPO)
    return sb3.DQN("MultiInputPolicy", env, seed=seed, gamma=0.9, learning_starts=500)


def play(model: Any, env: Any, games: int, seed: int) -> tuple[list[float], list[int]]:
    scores, lengths = [], []
    rng = np.random.default_rng(seed)
    masked = isinstance(model, MaskablePPO)
    for game in range(games):
        obs, info = env.reset(seed=game)
        over, steps = False, 0
        while not over:
            mask = info["action_mask"].astype(bool)
            if model is None:
                action = int(rng.choice(np.flatnonzero(mask)))
            else:
                more = {"action_masks": mask} if masked else {}
                action = int(model.predict(obs, deterministic=True, **more)[0])
            obs, _, terminated, truncated, info = env.step(action)
            over, steps = terminated or truncated, steps + 1
        scores.append(float(info["normalized_score"]))
        lengths.append(steps)
    return scores, lengths


def main() -> None:
    parser = argparse.ArgumentParser(description="SB3 on Cooking.")
    parser.add_argument("--level", default="rl-1")
    parser.add_argument("--memory", default="arigraph")
    parser.add_argument("--steps", type=int, default=8192)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", nargs="+", default=["pointer", "plain", "ppo", "dqn"])
    parser.add_argument("--out", type=Path, default=Path("results/rl/sb3.safetensors"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows: dict[str, Any] = {}
    for name in ["random", *options.models]:
        lexicon, count, started = Lexicon(0.8), Count(), time.process_time()
        model, row = None, {}
        if name != "random":
            count_envs = 1 if name == "dqn" else ENVS
            vector = DummyVecEnv(makers(options, lexicon, count_envs))
            assert is_masking_supported(vector)
            model = build(name, vector, options.seed)
            model.learn(options.steps, callback=count)
            if name == "pointer":
                save(options.out, model.policy, lexicon, SIZES)
            last = count.scores[-50:]
            row = {"steps": model.num_timesteps, **count.seen}
            row["train_score_last_50"] = round(float(np.mean(last)), 3) if last else None
            row["train_cpu_seconds"] = round(time.process_time() - started, 1)
        test = environment(options, lexicon, "test", 0)
        scores, lengths = play(model, test, options.games, options.seed)
        row["test_score"] = round(float(np.mean(scores)), 3)
        row["test_interval"] = [round(v, 3) for v in intervals.scores(scores).interval() or ()]
        row["test_success"] = float(np.mean(np.array(scores) >= 1))
        row["test_steps"] = float(np.mean(lengths))
        rows[name] = row
        print(name, json.dumps(row), flush=True)
    record = {
        "level": options.level,
        "memory": options.memory,
        "games": options.games,
        "seed": options.seed,
        "models": rows,
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "stable_baselines3": sb3.__version__,
            "sb3_contrib": sb3_contrib.__version__,
        },
    }
    path = Path(__file__).with_name(f"sb3_cooking_{options.level}.json")
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
