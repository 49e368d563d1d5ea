"""SB3: the pointer head goes by content, masks are never empty, a player survives the disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_memory.baselines.learning.features import Lexicon
from gym_memory.errors import CheckpointError, InvalidArgumentError, UnknownNameError
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers import IndexActions, MemoryObservation

torch = pytest.importorskip("torch", reason="torch is not installed")
sb3_contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")

from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported  # noqa: E402
from stable_baselines3.common.env_checker import check_env  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv  # noqa: E402

from gym_memory.baselines.learning import checkpoints  # noqa: E402
from gym_memory.baselines.sb3 import PointerPolicy, RelationFeatures, Sb3, Sizes, save  # noqa: E402

SIZES = Sizes(rows=512, state=32, action=24, actions=24)


def raw() -> Any:
    return MemoryObservation(FakeHouse(max_steps=12), memory="arigraph")


def make(lexicon: Lexicon) -> Any:
    return RelationFeatures(IndexActions(raw(), SIZES.actions), lexicon, SIZES)


@pytest.fixture(scope="module")
def trained() -> tuple[Any, Lexicon, list[dict[str, Any]]]:
    """A model after two short rollouts, its lexicon and, for every step, its info.

    Into the info go the mask that MaskablePPO chose by (``used``), its choice and the length of
    the episode so far.
    """
    lexicon, infos, lengths = Lexicon(0.8), [], [0, 0]

    def keep(local: dict[str, Any], _: dict[str, Any]) -> bool:
        for slot, info in enumerate(local["infos"]):
            lengths[slot] += 1
            own = {"used": local["action_masks"][slot], "action": int(local["actions"][slot])}
            infos.append({**info, **own, "length": lengths[slot]})
            if local["dones"][slot]:
                lengths[slot] = 0
        return True

    vector = DummyVecEnv([lambda: make(lexicon)] * 2)
    model = sb3_contrib.MaskablePPO(
        PointerPolicy,
        vector,
        n_steps=16,
        batch_size=16,
        n_epochs=2,
        seed=0,
        policy_kwargs={"dim": 8, "hidden": 8},
    )
    before = [p.clone() for p in model.policy.parameters()]
    model.learn(64, callback=keep)
    changed = [
        not torch.equal(a, b) for a, b in zip(before, model.policy.parameters(), strict=True)
    ]
    assert sum(changed) > len(changed) / 2
    return model, lexicon, infos


def test_sb3_takes_the_environment() -> None:
    env = make(Lexicon(0.8))
    check_env(env, skip_render_check=True)
    assert is_masking_supported(env)
    obs, info = env.reset(seed=0)
    assert env.observation_space.contains(obs)
    assert get_action_masks(env).sum() == info["n_valid"] == (obs["actions"].any(1)).sum()


def test_masks_are_never_empty_and_are_kept_to(trained: Any) -> None:
    _, _, infos = trained
    assert len(infos) == 64
    assert all(info["used"].any() for info in infos)
    assert all(info["used"][info["action"]] for info in infos)
    # The state after the last step has no valid actions; its mask has one entry all the same.
    assert all(info["action_mask"].any() for info in infos)


def test_sb3_is_told_which_episodes_were_cut(trained: Any) -> None:
    _, _, infos = trained
    ends = [info for info in infos if "terminal_observation" in info]
    cut = [info for info in ends if info["TimeLimit.truncated"]]
    assert {info["length"] for info in cut} == {12}
    assert len(cut) == sum(not info["success"] for info in ends)
    assert sum(info["TimeLimit.truncated"] for info in infos) == len(cut)


def test_logits_go_with_the_actions_when_these_change_places(trained: Any) -> None:
    model, lexicon, _ = trained
    obs, _ = make(lexicon).reset(seed=2)
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
    model, lexicon, _ = trained
    path = tmp_path / "player.safetensors"
    save(path, model.policy, lexicon, SIZES)
    policy = Sb3(str(path))
    frozen = RelationFeatures(IndexActions(raw(), SIZES.actions), lexicon, SIZES, train=False)
    obs, info = frozen.reset(seed=1)
    text, told = raw().reset(seed=1)
    number, _ = model.predict(obs, deterministic=True, action_masks=info["action_mask"])
    assert policy.act(text, told) == text["valid_actions"][int(number)]
    assert rollout(raw(), policy, seed=1).steps > 0


def test_sampling_and_a_penalty_break_circles(trained: Any, tmp_path: Path) -> None:
    model, lexicon, _ = trained
    path = tmp_path / "player.safetensors"
    save(path, model.policy, lexicon, SIZES)
    text, told = raw().reset(seed=1)

    def taken(times: int, seed: int = 0, **how: Any) -> list[str]:
        policy = Sb3(str(path), **how)
        policy.reset(told, seed)
        return [policy.act(text, told) for _ in range(times)]

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
    with pytest.raises(InvalidArgumentError, match="24 numbered actions"):
        RelationFeatures(IndexActions(raw(), 8), Lexicon(0.8), SIZES)
    with pytest.raises(InvalidArgumentError, match="checkpoint"):
        Sb3()
    other = tmp_path / "other.safetensors"
    checkpoints.write(other, {"x": torch.zeros(1)}, {"baseline": "drrn"})
    with pytest.raises(CheckpointError, match="'drrn'"):
        Sb3(str(other))
    checkpoints.write(other, {"x": torch.zeros(1)}, {"baseline": "sb3", "share": 0.8})
    with pytest.raises(CheckpointError, match="this version"):
        Sb3(str(other))
