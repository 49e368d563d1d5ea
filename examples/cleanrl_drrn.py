"""DRRN in one file: Deep Reinforcement Relevance Network (He et al. 2016) with torch and Gymnasium.

Q(situation, action) is a network over two bags of words: one of the observation and the recall, one
of a valid action. So the number of actions may change at every step. Double DQN, a uniform replay,
epsilon-greedy acting; the file is self-contained.

    pip install "gym-memory[textworld,rl]"
    python examples/cleanrl_drrn.py                       # learns six kitchens by heart
    python examples/cleanrl_drrn.py --memory none --steps 20000 --games 20
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import time
from collections.abc import Sequence

import gymnasium as gym
import numpy as np
import torch
from torch import nn

import gym_memory  # noqa: F401  registers the environments
from gym_memory.wrappers import EncodeText, IndexActions


@dataclasses.dataclass
class Args:
    """Settings of a training."""

    env: str = "gym_memory/Cooking-v0"
    level: str = "rl-1"  # empty: the environment has no levels
    memory: str = "arigraph"
    games: int = 6  # training games
    test_games: int = 6  # games of the test split, played once at the end
    steps: int = 4000
    episode_steps: int = 50
    seed: int = 0
    vocabulary: int = 4096  # rows of the embedding table; words are hashed into them
    max_actions: int = 96
    dim: int = 64
    lr: float = 1e-3
    gamma: float = 0.9
    batch: int = 64
    capacity: int = 20_000
    learn_start: int = 300
    update_every: int = 2
    target_every: int = 200  # updates
    epsilon_end: float = 0.05
    epsilon_steps: int = 3000
    report_every: int = 1000


def parse() -> Args:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for field in dataclasses.fields(Args):
        kind = type(field.default)
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    return Args(**vars(parser.parse_args()))


def make(args: Args, split: str) -> gym.Env:
    """Make an environment whose observations are word ids and whose actions are numbers."""
    level = {"level": args.level} if args.level else {}
    env = gym.make(args.env, split=split, memory=args.memory, max_steps=args.episode_steps, **level)
    return EncodeText(
        IndexActions(env, args.max_actions), vocabulary=args.vocabulary, triple=0, max_triples=0
    )


class QNetwork(nn.Module):
    """Values of pairs of a situation and an action."""

    def __init__(self, args: Args):
        super().__init__()
        # Word n of the observation and word n of the memory have rows of their own.
        self.state = nn.EmbeddingBag(3 * args.vocabulary, args.dim, mode="mean", padding_idx=0)
        self.action = nn.EmbeddingBag(args.vocabulary, args.dim, mode="sum", padding_idx=0)
        self.head = nn.Sequential(
            nn.Linear(3 * args.dim, args.dim), nn.ReLU(), nn.Linear(args.dim, 1)
        )

    def forward(self, states: torch.Tensor, actions: torch.Tensor, of: torch.Tensor):
        """Return Q of shape (pairs,); ``of`` gives each action's situation."""
        s, a = self.state(states)[of], self.action(actions)
        return self.head(torch.cat([s, a, s * a], 1)).squeeze(1)


@dataclasses.dataclass
class Seen:
    """An observation as the network reads it: words of the situation, words of each action."""

    state: np.ndarray
    actions: np.ndarray


def see(args: Args, obs: dict[str, np.ndarray], info: dict) -> Seen:
    parts = (obs["text"], obs["inventory"], obs["memory"])
    state = [np.where(part > 0, part + n * args.vocabulary, 0) for n, part in enumerate(parts)]
    return Seen(np.concatenate(state), obs["valid_actions"][: int(info["action_mask"].sum())])


def values(network: QNetwork, seen: Sequence[Seen]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return Q of all actions of all observations in one row, and the offset of each
    observation."""
    counts = torch.tensor([len(one.actions) for one in seen])
    found = network(
        torch.from_numpy(np.stack([one.state for one in seen])),
        torch.from_numpy(np.concatenate([one.actions for one in seen])),
        torch.repeat_interleave(torch.arange(len(seen)), counts),
    )
    return found, counts.cumsum(0) - counts


def greedy(network: QNetwork, seen: Seen) -> int:
    with torch.no_grad():
        return int(values(network, [seen])[0].argmax())


def update(args: Args, online: QNetwork, target: QNetwork, optimizer, drawn: list) -> float:
    """Update by double DQN: the online network chooses the next action, the target values it."""
    seen, actions, rewards, next_seen, ended = zip(*drawn, strict=True)
    with torch.no_grad():
        liked, starts = values(online, next_seen)
        ends = [*starts[1:].tolist(), len(liked)]
        spans = zip(starts.tolist(), ends, strict=True)
        best = torch.tensor([start + int(liked[start:end].argmax()) for start, end in spans])
        later = values(target, next_seen)[0][best]
        goal = torch.tensor(rewards) + args.gamma * later * ~torch.tensor(ended)
    found, starts = values(online, seen)
    loss = nn.functional.smooth_l1_loss(found[starts + torch.tensor(actions)], goal)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(online.parameters(), 5.0)
    optimizer.step()
    return float(loss.detach())


def evaluate(args: Args, network: QNetwork | None, split: str, games: int) -> float:
    """Return the mean score of one greedy episode per game, or of random play without a network."""
    env, scores, chance = make(args, split), [], random.Random(0)
    for game in range(games):
        obs, info = env.reset(seed=game)
        over = False
        while not over:
            seen = see(args, obs, info)
            action = greedy(network, seen) if network else chance.randrange(len(seen.actions))
            obs, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        scores.append(info["normalized_score"])
    env.close()
    return float(np.mean(scores))


def train(args: Args) -> QNetwork:
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    online, target = QNetwork(args), QNetwork(args)
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters(), lr=args.lr, fused=True)
    replay: list = []
    env, started, recent, loss = make(args, "train"), time.time(), [], float("nan")
    obs, info = env.reset(seed=random.randrange(args.games))
    seen = see(args, obs, info)
    for step in range(1, args.steps + 1):
        epsilon = max(args.epsilon_end, 1 - step / args.epsilon_steps)
        if random.random() < epsilon:
            action = random.randrange(len(seen.actions))
        else:
            action = greedy(online, seen)
        obs, reward, terminated, truncated, info = env.step(action)
        next_seen = see(args, obs, info)
        # A truncated episode would go on: only a terminal state has no value after it.
        stored = (seen, action, float(reward), next_seen, terminated)
        replay[(step - 1) % args.capacity : (step - 1) % args.capacity + 1] = [stored]
        seen = next_seen
        if terminated or truncated:
            recent.append(info["normalized_score"])
            obs, info = env.reset(seed=random.randrange(args.games))
            seen = see(args, obs, info)
        if step >= args.learn_start and step % args.update_every == 0:
            drawn = random.sample(replay, min(args.batch, len(replay)))
            loss = update(args, online, target, optimizer, drawn)
        if step % (args.update_every * args.target_every) == 0:
            target.load_state_dict(online.state_dict())
        if step % args.report_every == 0:
            speed = step / (time.time() - started)
            score = np.mean(recent) if recent else float("nan")
            print(f"{step} steps: score {score:.2f}, loss {loss:.4f}, {speed:.0f} steps/s")
            recent = []
    env.close()
    return online


if __name__ == "__main__":
    args = parse()
    network = train(args)
    for split, games in (("train", args.games), ("test", args.test_games)):
        learnt, chance = (evaluate(args, player, split, games) for player in (network, None))
        print(f"{split}: score {learnt:.2f} over {games} games, at random {chance:.2f}")
