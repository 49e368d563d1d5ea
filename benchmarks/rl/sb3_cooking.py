"""Train SB3's PPO and MaskablePPO on Cooking, with our features and with SB3's own.

Each learns from the training games and then plays 20 test games: greedily, by sampling, and both
with a repeat penalty. ``ppo`` and ``maskable`` read the content of the actions (``ActionLogits``);
``plain`` is PPO on the same observations with SB3's usual extractor and head, and plays greedily
and by sampling. ``random`` plays the same test games. Run in the root of the repository::

    OMP_NUM_THREADS=1 python benchmarks/rl/sb3_cooking.py

It writes ``sb3_cooking_<level>.json`` beside this file, curves included. A model in the file is not
trained again.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import sb3_contrib
import stable_baselines3 as sb3
import torch
from stable_baselines3.common.env_util import make_vec_env

import gym_memory  # noqa: F401  registers the environments
from gym_memory.baselines.base import Policy
from gym_memory.baselines.rl.sb3 import POLICY, RelationFeatures, Sb3, common_names, pointed, save
from gym_memory.baselines.scripted import Random
from gym_memory.run import rollout
from gym_memory.run.results import intervals
from gym_memory.wrappers import IndexActions

HOW = {"learning_rate": 1e-3, "n_steps": 64, "n_epochs": 4, "gamma": 0.9, "ent_coef": 0.01}
WAYS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "greedy, repeat penalty": {"repeat_penalty": 0.5},
    "sampled": {"mode": "sample"},
    "sampled, repeat penalty": {"mode": "sample", "repeat_penalty": 0.5},
}


class Headed(Policy):
    """A player of a model whose head has a weight vector for each number."""

    name = "headed"

    def __init__(self, model: Any, env: RelationFeatures, *, greedy: bool):
        self._model, self._env, self._greedy = model, env, greedy

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        torch.manual_seed(seed or 0)

    def act(self, obs: Any, info: dict[str, Any]) -> str:
        number, _ = self._model.predict(self._env.observation(obs), deterministic=self._greedy)
        actions = obs["valid_actions"]
        return actions[int(number)] if number < len(actions) else ""


def text(options: Any, split: str) -> Any:
    game = {"level": options.level, "gata_actions": True, "memory": options.memory}
    return gym.make("gym_memory/Cooking-v0", split=split, **game)


def tested(options: Any, policy: Policy) -> dict[str, Any]:
    results = [rollout(text(options, "test"), policy, seed=g) for g in range(options.games)]
    scores = [result.normalized for result in results]
    interval = intervals.scores(scores).interval() or ()
    return {
        "score": round(float(np.mean(scores)), 3),
        "interval": [round(end, 3) for end in interval],
        "steps": float(np.mean([result.steps for result in results])),
    }


def trained(options: Any, name: str, names: tuple[str, ...]) -> dict[str, Any]:
    started, curve = time.process_time(), []

    def numbered() -> RelationFeatures:
        return RelationFeatures(IndexActions(text(options, "train"), 64), names)

    def note(local: dict[str, Any], _: dict[str, Any]) -> bool:
        model = local["self"]
        if model.num_timesteps % 512 == 0 and model.ep_info_buffer:
            rewards = [episode["r"] for episode in model.ep_info_buffer]
            curve.append([model.num_timesteps, round(float(np.mean(rewards)), 3)])
        return True

    algorithm = sb3_contrib.MaskablePPO if name == "maskable" else sb3.PPO
    kwargs = {} if name == "plain" else {"policy_kwargs": POLICY}
    vector = make_vec_env(numbered, 8, seed=options.seed)
    model: Any = algorithm("MultiInputPolicy", vector, seed=options.seed, **HOW, **kwargs)
    model = model if name == "plain" else pointed(model)
    model.learn(options.steps, callback=note)
    row: dict[str, Any] = {
        "steps": model.num_timesteps,
        "train_cpu_seconds": round(time.process_time() - started, 1),
    }
    if name == "plain":
        env = numbered()
        row["greedy"] = tested(options, Headed(model, env, greedy=True))
        row["sampled"] = tested(options, Headed(model, env, greedy=False))
    else:
        path = options.out / f"{name}.safetensors"
        save(path, model)
        row |= {way: tested(options, Sb3(str(path), **how)) for way, how in WAYS.items()}
    return {**row, "curve": curve}


def main() -> None:
    parser = argparse.ArgumentParser(description="SB3 on Cooking.")
    parser.add_argument("--level", default="rl-1")
    parser.add_argument("--memory", default="arigraph")
    parser.add_argument("--steps", type=int, default=25_000)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", nargs="+", default=["random", "ppo", "maskable", "plain"])
    parser.add_argument("--out", type=Path, default=Path("results/rl"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    path = Path(__file__).with_name(f"sb3_cooking_{options.level}.json")
    setting = {key: getattr(options, key) for key in ("level", "memory", "games", "seed")}
    versions = {"torch": torch.__version__, "stable_baselines3": sb3.__version__}
    record: dict[str, Any] = {**setting, "versions": versions, "models": {}}
    if path.exists():
        record |= json.loads(path.read_text(encoding="utf-8"))
    make = partial(common_names, text(options, "train"))
    for name in options.models:
        if name in record["models"]:
            continue
        play = name == "random"
        row = tested(options, Random()) if play else trained(options, name, make())
        record["models"][name] = row
        print(name, json.dumps({k: v for k, v in row.items() if k != "curve"}), flush=True)
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
