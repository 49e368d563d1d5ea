"""Plain PPO of Stable-Baselines3 learns Cooking rl-1, then plays the 20 test games in four ways.

pip install "gym-memory[textworld,rl]" && OMP_NUM_THREADS=1 python examples/ppo.py [steps] [memory]
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

steps, memory = int((sys.argv[1:] or ["2000"])[0]), (sys.argv[2:] or ["arigraph"])[0]
PLAY = ({}, {"repeat_penalty": 0.5}, {"mode": "sample"}, {"mode": "sample", "repeat_penalty": 0.5})


def text(split: str = "train") -> gym.Env:
    task = {"level": "rl-1", "gata_actions": True, "memory": memory}
    return gym.make("gym_memory/Cooking-v0", split=split, **task)


torch.set_num_threads(1)
names = common_names(text())
envs = make_vec_env(lambda: RelationFeatures(IndexActions(text(), 64), names), 8, seed=0)
how = {"learning_rate": 1e-3, "n_steps": 64, "n_epochs": 4, "gamma": 0.9, "ent_coef": 0.01}
model = pointed(PPO("MultiInputPolicy", envs, policy_kwargs=POLICY, seed=0, **how))
model.set_logger(configure(f"results/ppo-{memory}", ["stdout", "csv"]))  # the curve: progress.csv
model.learn(steps)
save(f"results/ppo-{memory}/player.safetensors", model)
for way in PLAY:
    player, env = Sb3(f"results/ppo-{memory}/player.safetensors", **way), text("test")
    mean = sum(rollout(env, player, seed=game).normalized for game in range(20)) / 20
    print(f"{memory} {way}: {mean:.2f} after {time.process_time():.0f} CPU-seconds")
