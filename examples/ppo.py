"""Plain PPO of Stable-Baselines3 learns to cook, then plays 20 new games in four ways.

pip install "gym-memory[textworld,rl]"
OMP_NUM_THREADS=1 python examples/ppo.py [steps] [memory] [level]    # 50000 arigraph rl-4
"""

import sys
import time

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure

import gym_memory  # noqa: F401  registers the environments
from gym_memory.baselines.rl.sb3 import POLICY, RelationFeatures, Sb3, common_names, pointed, save
from gym_memory.run import rollout
from gym_memory.wrappers import IndexActions

DEFAULTS = ["50000", "arigraph", "rl-4"]
steps, memory, level = [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]
PLAY = ({}, {"repeat_penalty": 0.5}, {"mode": "sample"}, {"mode": "sample", "repeat_penalty": 0.5})


def text(split: str = "train") -> gym.Env:
    task = {"level": level, "gata_actions": True, "memory": memory}
    return gym.make("gym_memory/Cooking-v0", split=split, **task)


torch.set_num_threads(1)
names = common_names(text())
envs = make_vec_env(lambda: RelationFeatures(IndexActions(text(), 128), names), 8, seed=0)
how = {"learning_rate": 1e-3, "n_steps": 64, "batch_size": 256, "n_epochs": 4, "gamma": 0.95}
model = pointed(PPO("MultiInputPolicy", envs, policy_kwargs=POLICY, ent_coef=0.01, seed=0, **how))
model.set_logger(configure(f"results/ppo-{memory}", ["stdout", "csv"]))  # the curve: progress.csv
model.learn(int(steps))
save(f"results/ppo-{memory}/player.safetensors", model)
for way in PLAY:
    player, env = Sb3(f"results/ppo-{memory}/player.safetensors", **way), text("test")
    mean = sum(rollout(env, player, seed=game).normalized for game in range(20)) / 20
    print(f"{memory} {way}: {mean:.2f} after {time.process_time():.0f} CPU-seconds")
