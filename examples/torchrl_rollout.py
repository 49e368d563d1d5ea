"""TorchRL plays an environment with memory through plain Gymnasium, without adapters.

pip install "gym-memory[textworld,rl]" torchrl
python examples/torchrl_rollout.py
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import torch
from tensordict.nn import TensorDictModule
from torchrl.envs import GymWrapper

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.wrappers import EncodeText, IndexActions


class Scorer(torch.nn.Module):
    """Scores every valid action by its words and those of the recall; empty rows never win."""

    def __init__(self, vocabulary: int):
        super().__init__()
        self.words = torch.nn.EmbeddingBag(vocabulary, 32, mode="sum", padding_idx=0)

    def forward(self, actions: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        rows = self.words(actions.flatten(0, -2).long()).view(*actions.shape[:-1], -1)
        state = self.words(memory.reshape(-1, memory.shape[-1]).long())
        scores = (rows * state.view(*memory.shape[:-1], 1, -1)).sum(-1)
        scores = scores.masked_fill(actions.sum(-1) == 0, -torch.inf)
        choice = scores.argmax(-1)
        return torch.nn.functional.one_hot(choice, actions.shape[-2])  # TorchRL's Discrete


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=10)
    given = parser.parse_args()
    torch.manual_seed(0)
    game = gym.make("gym_memory/Cooking-v0", level="rl-1", memory="arigraph")
    env = GymWrapper(EncodeText(IndexActions(game), vocabulary=2048, max_triples=8))
    seen = ["valid_actions", "memory"]
    policy = TensorDictModule(Scorer(2048), in_keys=seen, out_keys=["action"])
    played = env.rollout(given.steps, policy)
    print(played["next", "reward"].squeeze(-1).tolist())
    print(f"{played.shape[0]} steps, rewards sum to {played['next', 'reward'].sum().item():.1f}")
