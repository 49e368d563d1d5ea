"""Stable-Baselines3's DQN learns Cooking rl-1 from the recalled facts, then plays test games.

pip install "gym-memory[textworld,rl]" && OMP_NUM_THREADS=1 python examples/dqn.py [steps] [memory]
"""

import sys

import gymnasium as gym
import torch
from stable_baselines3 import DQN

import gym_memory  # noqa: F401  registers the environments
from gym_memory.baselines.rl.sb3 import ActionLogits, RelationFeatures, common_names
from gym_memory.wrappers import IndexActions

steps, memory = int((sys.argv[1:] or ["1000"])[0]), (sys.argv[2:] or ["arigraph"])[0]


def text(split: str = "train") -> gym.Env:
    task = {"level": "rl-1", "gata_actions": True, "memory": memory}
    return gym.make("gym_memory/Cooking-v0", split=split, **task)


def numbered(env: gym.Env) -> gym.Env:
    # DQN takes no mask: a number without an action plays the one at its remainder.
    return RelationFeatures(IndexActions(env, 64, invalid="mask"), names)


torch.set_num_threads(1)
names = common_names(text())
network = {"features_extractor_class": ActionLogits, "net_arch": []}
how = {"learning_starts": 300, "buffer_size": 5000, "gamma": 0.9, "learning_rate": 1e-3}
model = DQN("MultiInputPolicy", numbered(text()), policy_kwargs=network, seed=0, **how)
for net in (model.q_net, model.q_net_target):  # the value of a number is that of its action
    (head,) = net.q_net
    head.weight.data.copy_(torch.eye(*head.weight.shape))
    head.bias.data.zero_()
    head.requires_grad_(False)
model.learn(steps)
env, scores = numbered(text("test")), []
for game in range(20):
    obs, info = env.reset(seed=game)
    done = False
    while not done:
        action, _ = model.predict(obs)
        obs, _, terminated, truncated, info = env.step(int(action))
        done = terminated or truncated
    scores.append(info["normalized_score"])
print(f"{memory}: score on 20 test games: {sum(scores) / 20:.2f}")
