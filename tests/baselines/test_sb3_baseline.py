"""SB3: the pointer head goes by content, masks are never empty, a player survives the disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_memory.core.errors import CheckpointError, InvalidArgumentError, UnknownNameError
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers import IndexActions, MemoryObservation

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch", reason="torch is not installed")
sb3_contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")

from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported  # noqa: E402
from stable_baselines3 import PPO  # noqa: E402
from stable_baselines3.common.env_checker import check_env  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv  # noqa: E402

from gym_memory.baselines.rl.sb3 import (  # noqa: E402
    POLICY,
    RelationFeatures,
    Sb3,
    common_names,
    pointed,
    save,
)
from gym_memory.core.tensors import write_tensors  # noqa: E402

ACTIONS = 24
SIZES = {"rows": 512, "state": 32, "action": 24}
SMALL = {**POLICY, "features_extractor_kwargs": {"dim": 8, "hidden": 8}}
HOW: dict[str, Any] = {"n_steps": 16, "batch_size": 16, "n_epochs": 2, "seed": 0}


def raw() -> Any:
    return MemoryObservation(FakeHouse(max_steps=12), memory="arigraph")


NAMES = common_names(raw(), games=5)


def make() -> Any:
    return RelationFeatures(IndexActions(raw(), ACTIONS), NAMES, **SIZES)


@pytest.fixture(scope="module")
def trained() -> tuple[Any, list[dict[str, Any]]]:
    """Return MaskablePPO after two short rollouts and, for every step, its info.

    Into the info go the mask that MaskablePPO chose by (``used``), its choice and the length of
    the episode so far.
    """
    infos: list[dict[str, Any]] = []
    lengths = [0, 0]

    def keep(local: dict[str, Any], _: dict[str, Any]) -> bool:
        for slot, info in enumerate(local["infos"]):
            lengths[slot] += 1
            own = {"used": local["action_masks"][slot], "action": int(local["actions"][slot])}
            infos.append({**info, **own, "length": lengths[slot]})
            if local["dones"][slot]:
                lengths[slot] = 0
        return True

    vector = DummyVecEnv([make] * 2)
    model = sb3_contrib.MaskablePPO("MultiInputPolicy", vector, policy_kwargs=SMALL, **HOW)
    model = pointed(model)
    before = [p.clone() for p in model.policy.features_extractor.parameters()]
    model.learn(64, callback=keep)
    after = model.policy.features_extractor.parameters()
    changed = [not torch.equal(a, b) for a, b in zip(before, after, strict=True)]
    assert sum(changed) > len(changed) / 2
    return model, infos


def test_sb3_takes_the_environment() -> None:
    env = make()
    check_env(env, skip_render_check=True)
    assert is_masking_supported(env)
    obs, info = env.reset(seed=0)
    assert env.observation_space.contains(obs)
    assert get_action_masks(env).sum() == info["n_valid"] == (obs["actions"].any(1)).sum()


def test_plain_ppo_draws_no_empty_row_and_keeps_heads() -> None:
    model = pointed(PPO("MultiInputPolicy", DummyVecEnv([make] * 2), policy_kwargs=SMALL, **HOW))
    invalid = []
    model.learn(64, callback=lambda local, _: not invalid.extend(local["infos"]))
    assert len(invalid) == 64
    assert all(info["is_action_valid"] for info in invalid)
    policy = model.policy
    assert torch.equal(policy.action_net.weight, torch.eye(ACTIONS + 1)[:ACTIONS])
    assert torch.equal(policy.value_net.weight, torch.eye(ACTIONS + 1)[ACTIONS:])
    assert policy.features_extractor.bag.weight.abs().sum() > 0


def test_common_names_occur_in_most_games() -> None:
    everywhere, anywhere = (common_names(raw(), 6, share=share) for share in (1.0, 0.1))
    assert set(everywhere) < set(anywhere)
    assert everywhere == common_names(raw(), 6, share=1.0)


def test_masks_are_never_empty_and_are_obeyed(trained: Any) -> None:
    _, infos = trained
    assert len(infos) == 64
    assert all(info["used"].any() for info in infos)
    assert all(info["used"][info["action"]] for info in infos)
    # The state after the last step has no valid actions; its mask has one entry all the same.
    assert all(info["action_mask"].any() for info in infos)


def test_sb3_learns_which_episodes_were_truncated(trained: Any) -> None:
    _, infos = trained
    ends = [info for info in infos if "terminal_observation" in info]
    cut = [info for info in ends if info["TimeLimit.truncated"]]
    assert {info["length"] for info in cut} == {12}
    assert len(cut) == sum(not info["success"] for info in ends)
    assert sum(info["TimeLimit.truncated"] for info in infos) == len(cut)


def test_logits_follow_reordered_actions(trained: Any) -> None:
    model, _ = trained
    obs, _ = make().reset(seed=2)
    count = int(obs["actions"].any(1).sum())
    order = np.random.default_rng(0).permutation(count)
    moved = {"state": obs["state"], "actions": obs["actions"].copy()}
    moved["actions"][:count] = obs["actions"][order]

    def look(arrays: dict[str, Any]) -> tuple[Any, float]:
        tensors, _ = model.policy.obs_to_tensor(arrays)
        with torch.no_grad():
            latent = model.policy.extract_features(tensors)
            return model.policy.action_net(latent)[0], float(model.policy.value_net(latent))

    logits, value = look(obs)
    other, same = look(moved)
    assert len(set(logits[:count].tolist())) > 1
    np.testing.assert_allclose(other[:count], logits[:count][order], atol=1e-6)
    assert value == pytest.approx(same, abs=1e-6)


def test_a_saved_player_plays_the_same(trained: Any, tmp_path: Path) -> None:
    model, _ = trained
    path = tmp_path / "player.safetensors"
    save(path, model)
    policy = Sb3(str(path))
    obs, info = make().reset(seed=1)
    text, text_info = raw().reset(seed=1)
    number, _ = model.predict(obs, deterministic=True, action_masks=info["action_mask"])
    assert policy.act(text, text_info) == text["valid_actions"][int(number)]
    assert rollout(raw(), policy, seed=1).steps > 0


def test_sampling_and_a_penalty_break_circles(trained: Any, tmp_path: Path) -> None:
    model, _ = trained
    path = tmp_path / "player.safetensors"
    save(path, model)
    text, text_info = raw().reset(seed=1)

    def taken(times: int, seed: int = 0, **how: Any) -> list[str]:
        policy = Sb3(str(path), **how)
        policy.reset(text_info, seed)
        return [policy.act(text, text_info) for _ in range(times)]

    count = len(text["valid_actions"])
    assert len(set(taken(count))) == 1
    assert set(taken(count, repeat_penalty=100.0)) == set(text["valid_actions"])
    sampled = taken(200, mode="sample")
    assert sampled == taken(200, mode="sample") != taken(200, seed=1, mode="sample")
    assert len(set(sampled)) > 1
    for wrong in ({"mode": "best"}, {"repeat_penalty": -1}):
        with pytest.raises((UnknownNameError, InvalidArgumentError), match=next(iter(wrong))):
            Sb3(str(path), **wrong)


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="numbered actions"):
        RelationFeatures(raw(), NAMES)
    other_policy = PPO("MultiInputPolicy", make(), n_steps=16, batch_size=16)
    with pytest.raises(InvalidArgumentError, match="POLICY"):
        pointed(other_policy)
    with pytest.raises(InvalidArgumentError, match="checkpoint"):
        Sb3()
    other = tmp_path / "other.safetensors"
    write_tensors(other, {"x": torch.zeros(1)}, {"baseline": "drrn"})
    with pytest.raises(CheckpointError, match="'drrn'"):
        Sb3(str(other))
    write_tensors(other, {"x": torch.zeros(1)}, {"baseline": "sb3", "names": []})
    with pytest.raises(CheckpointError, match="this version"):
        Sb3(str(other))
