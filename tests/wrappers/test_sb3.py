"""Stable-Baselines3 takes the indexed, encoded stack as it is."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_memory.testing.fake_env import FAKE_ID
from gym_memory.wrappers import EncodeText, IndexActions

pytestmark = pytest.mark.slow

sb3 = pytest.importorskip("stable_baselines3", reason="needs the extra rl")
sb3_contrib = pytest.importorskip("sb3_contrib", reason="needs the extra rl")


def make(seed: int = 0, memory: str = "history") -> gym.Env[Any, Any]:
    env = gym.make(FAKE_ID, memory=memory, budget=60, max_steps=12)
    return EncodeText(
        IndexActions(env, 12), vocabulary=256, text=24, task=12, memory=32, max_triples=8
    )


@pytest.mark.parametrize("memory", ["none", "history", "arigraph"])
def test_check_env(memory: str) -> None:
    from stable_baselines3.common.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Advice on images; these arrays are rows of words, for a feature extractor to embed.
        warnings.filterwarnings("ignore", message=".*(image|unconventional shape|CnnPolicy).*")
        check_env(make(memory=memory))


def test_maskable_ppo_gets_the_masks_and_never_acts_outside() -> None:
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    from stable_baselines3.common.vec_env import DummyVecEnv

    envs = DummyVecEnv([make, make])
    assert is_masking_supported(envs)
    obs = envs.reset()
    masks = get_action_masks(envs)
    assert masks.shape == (2, 12)
    assert masks.dtype == bool
    assert (obs["valid_actions"].any(axis=2) == masks).all()

    model = sb3_contrib.MaskablePPO(
        "MultiInputPolicy", envs, n_steps=16, batch_size=16, n_epochs=1, seed=0, device="cpu"
    )
    model.learn(64)
    obs = envs.reset()
    for _ in range(15):
        action, _ = model.predict(obs, action_masks=get_action_masks(envs), deterministic=False)
        obs, _, _, infos = envs.step(action)
        assert all(info["is_action_valid"] for info in infos)


def test_arrays_survive_the_cast_to_float() -> None:
    import torch
    from stable_baselines3.common.preprocessing import preprocess_obs

    env = make()
    obs, _ = env.reset(seed=0)
    tensors = {key: torch.as_tensor(array[None]) for key, array in obs.items()}
    cast = preprocess_obs(tensors, env.observation_space)
    for key, array in obs.items():
        assert cast[key].dtype == torch.float32
        assert (cast[key][0].numpy().astype(np.int64) == array).all()
