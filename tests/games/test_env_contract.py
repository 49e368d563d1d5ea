"""Contract of every environment of the package with its users, checked on each of them.

A family that is added to ``ENVIRONMENTS`` is covered here without a change. One whose backend is
not installed is skipped with the reason.
"""

from __future__ import annotations

import json
import pickle
import random
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from gym_memory.core.errors import InvalidArgumentError, MissingDependencyError, UnknownNameError
from gym_memory.games.base import ENVIRONMENTS, env_id
from gym_memory.wrappers.memory import DEFAULT_MEMORY

NAMES = [name for name in ENVIRONMENTS.builtin() if name != "Foreign"]
NAMES += ["FakeHouse", "ForeignHouse"]
"""Those of the package, except the one that needs an id, and two of the tests: others are odd."""
HEAVY = ("Jericho", "NetHack", "ScienceWorld")
"""Those whose engine is slow to start."""
INFO_KEYS = {
    "score", "max_score", "normalized_score", "success", "won", "lost", "moves",
    "is_action_valid", "n_invalid", "task_id", "split", "backend_version", "memory_stats",
}  # fmt: skip
GARBAGE = [
    "", "   ", "\n", "look\nlook", "look\x00", "a" * 10_000, "\N{RED APPLE} \xe9t\xe9", "\\", "'\"",
    "<b>", "%s {0} {x}", "look then look", "look. look", "look, look", "look; look",
    "xyzzy plugh", "restart", "quit", "save", "restore", "undo", "script", "tw-extra-infos score",
    "tw-trace-actions", "restrict commands", "verbose", "[look]", "#random 1", "$ve", "oops",
]  # fmt: skip
JERICHO_COMMANDS = ("look then look", "look, look", "verbose", "oops")


def make(name, memory="none", **kwargs):
    try:
        return gym.make(env_id(name), memory=memory, **kwargs)
    except MissingDependencyError as error:
        pytest.skip(str(error))


@pytest.fixture(params=[pytest.param(n, marks=[pytest.mark.slow] * (n in HEAVY)) for n in NAMES])
def name(request):
    return request.param


@pytest.fixture
def env(name):
    env = make(name)
    yield env
    env.close()


def play(env, actions, seen):
    """Play until the end; appends what was seen."""
    for action in actions:
        obs, reward, terminated, truncated, info = env.step(action)
        info.pop("memory_stats", None)
        seen.append((obs, reward, terminated, truncated, info))
        if terminated or truncated:
            break
    return seen


def wander(env, seed, steps):
    """Play random valid actions; return what was seen, and the actions."""
    rng = random.Random(seed)
    seen, actions = [], []
    for _ in range(steps):
        choice = env.get_wrapper_attr("valid_actions")()
        if not choice:
            break
        actions.append(rng.choice(choice))
        play(env, actions[-1:], seen)
        if seen[-1][2] or seen[-1][3]:
            break
    return seen, actions


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["none", DEFAULT_MEMORY])
def test_passes_gymnasiums_own_check(name, memory):
    env = make(name, memory, max_steps=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(different from the unwrapped|render).*")
        check_env(env, skip_render_check=True)
    env.close()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_runs_as_a_vector(name, mode):
    make(name).close()
    envs = gym.make_vec(env_id(name), num_envs=2, vectorization_mode=mode, memory="none")
    obs, _ = envs.reset(seed=[3, 4])
    single = make(name)
    for i, seed in enumerate([3, 4]):
        expected = single.reset(seed=seed)[0]
        assert obs["text"][i] == expected["text"]
    obs, rewards, *_ = envs.step(("look", "inventory"))
    assert rewards.shape == (2,)
    assert all(isinstance(text, str) and text for text in obs["text"])
    envs.close()
    single.close()


@pytest.mark.slow
def test_spec_survives_pickle_and_json_and_rebuilds_the_same(env):
    spec = pickle.loads(pickle.dumps(env.spec))
    from_json = gym.envs.registration.EnvSpec.from_json(env.spec.to_json())
    first = env.reset(seed=1)[0]
    for again in (spec, from_json):
        twin = gym.make(again)
        assert repr(twin.reset(seed=1)[0]) == repr(first)
        twin.close()


def test_observation_and_info_keep_their_shape(env):
    obs, info = env.reset(seed=0)
    assert env.observation_space.contains(obs)
    assert set(info) >= INFO_KEYS
    assert info["moves"] == 0
    assert obs["text"]
    assert obs["task"]
    for obs, _, _, _, info in wander(env, 0, 15)[0]:
        assert env.observation_space.contains(obs)
        assert set(info) >= INFO_KEYS - {"memory_stats"}
        if info["max_score"] > 0:
            assert 0.0 <= info["normalized_score"] <= 1.0
        else:
            assert info["normalized_score"] is None
        assert info["is_action_valid"] in (True, False)
        assert json.loads(json.dumps(info)) == info


@pytest.mark.slow
def test_same_seed_same_actions_same_bytes(env, name):
    first = env.reset(seed=5)[0]
    seen, actions = wander(env, 5, 25)
    twin = make(name)
    assert repr(twin.reset(seed=5)[0]) == repr(first)
    assert repr(play(twin, actions, [])) == repr(seen)
    assert repr(env.reset(seed=5)[0]) == repr(first)
    assert repr(play(env, actions, [])) == repr(seen)
    twin.close()


_IN_A_PROCESS = """
import hashlib, random, sys
import gymnasium as gym
import gym_memory
from gym_memory.core.errors import MissingDependencyError
from gym_memory.testing.fake_env import register_fake
register_fake()
for id in sys.argv[1:]:
    try:
        env = gym.make(id, memory="none")
    except MissingDependencyError:
        continue
    obs, info = env.reset(seed=2)
    digest = hashlib.sha256(repr((obs, info["task_id"])).encode())
    rng = random.Random(2)
    for _ in range(25):
        choice = env.get_wrapper_attr("valid_actions")()
        if not choice:
            break
        obs, reward, terminated, truncated, info = env.step(rng.choice(choice))
        info.pop("memory_stats")
        digest.update(repr((obs, reward, terminated, truncated, info)).encode())
        if terminated or truncated:
            break
    oracle = env.get_wrapper_attr("oracle")()
    digest.update(repr((sorted(oracle.facts), oracle.walkthrough)).encode())
    print(id, digest.hexdigest())
    env.close()
"""


@pytest.mark.slow
def test_processes_with_other_hash_seeds_see_the_same(python, tmp_path, monkeypatch):
    outputs = set()
    for hashseed in (1, 2):  # each makes and compiles the games for itself
        monkeypatch.setenv("GYM_MEMORY_CACHE", str(tmp_path / str(hashseed)))
        outputs.add(python(_IN_A_PROCESS, *map(env_id, NAMES), hashseed=hashseed))
    assert len(outputs) == 1
    assert outputs.pop()


@pytest.mark.slow
def test_global_random_state_is_left_alone(name):
    random.seed(123)
    np.random.seed(123)
    before = random.getstate(), repr(np.random.get_state())
    env = make(name)
    env.reset(seed=0)
    wander(env, 1, 5)
    env.get_wrapper_attr("oracle")()
    env.get_wrapper_attr("restore")(env.get_wrapper_attr("snapshot")())
    env.reset()
    env.close()
    assert (random.getstate(), repr(np.random.get_state())) == before


@pytest.mark.slow
def test_bare_resets_continue_the_generator(env):
    def tasks():
        first = env.reset(seed=9)[1]["task_id"]
        return [first, *(env.reset()[1]["task_id"] for _ in range(4))]

    once = tasks()
    assert tasks() == once
    ids = env.get_wrapper_attr("task_ids")
    assert once[0] == ids[9 % len(ids)]
    assert len(ids) == 1 or len(set(once)) > 1


def test_a_task_can_be_pinned(env):
    ids = env.get_wrapper_attr("task_ids")
    wanted = ids[-1]
    obs, info = env.reset(seed=0, options={"task_id": wanted})
    assert info["task_id"] == wanted
    again, _ = env.reset(options={"task_id": wanted})
    assert repr(again) == repr(obs)
    with pytest.raises(UnknownNameError, match="task_id"):
        env.reset(options={"task_id": "no/such/task"})
    with pytest.raises(UnknownNameError, match="reset option"):
        env.reset(options={"difficulty": 3})


@pytest.mark.slow
def test_snapshots_can_be_restored_repeatedly(env):
    raw = env.unwrapped
    raw.reset(seed=0)
    wander(raw, 0, 4)
    snapshot = raw.snapshot()
    here = raw.restore(snapshot)
    facts = raw.oracle().facts
    seen, actions = wander(raw, 1, 8)
    for _ in range(2):
        assert repr(raw.restore(snapshot)) == repr(here)
        assert raw.oracle().facts == facts
        assert repr(play(raw, actions, [])) == repr(seen)
    raw.reset(seed=1)  # another game
    wander(raw, 2, 3)
    assert repr(raw.restore(snapshot)) == repr(here)
    assert repr(play(raw, actions, [])) == repr(seen)


@pytest.mark.slow
def test_unused_valid_actions_cost_nothing(env, name):
    bare = make(name, valid_actions=False)
    obs, _ = env.reset(seed=0)
    without, _ = bare.reset(seed=0)
    assert without["valid_actions"] == ()
    assert bare.get_wrapper_attr("valid_actions")() == obs["valid_actions"]
    assert {**without, "valid_actions": None} == {**obs, "valid_actions": None}
    bare.close()


@pytest.mark.slow
@pytest.mark.parametrize("text", GARBAGE, ids=lambda text: repr(text[:12]))
def test_free_text_costs_only_a_step(name, text, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name == "Jericho" and text in JERICHO_COMMANDS:
        pytest.skip("a command of the game")
    env = _shared(request, name)
    raw = env.unwrapped
    raw.reset(seed=0)
    facts, actions = raw.oracle().facts, raw.valid_actions()
    obs, reward, terminated, truncated, info = raw.step(text)
    assert raw.observation_space.contains(obs)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["moves"] == 1
    assert not info["is_action_valid"]
    assert info["n_invalid"] == 1
    assert raw.oracle().facts == facts
    assert raw.valid_actions() == actions
    obs, *_, info = raw.step("look")
    assert len(obs["text"]) > 10
    assert list(tmp_path.iterdir()) == []


def _shared(request, name):
    """Return one environment for all odd input, so that lasting damage is found, too."""
    cache = request.config.stash.setdefault(_STASH, {})
    if name not in cache:
        cache[name] = make(name)
    return cache[name]


_STASH = pytest.StashKey()


@pytest.mark.slow
def test_walkthrough_wins_with_the_best_score(name, request):
    env = make(name, valid_actions=name not in HEAVY)  # lists take most of the time of these
    request.addfinalizer(env.close)
    for seed in (0, 1):
        _, info = env.reset(seed=seed)
        walkthrough = env.get_wrapper_attr("oracle")().walkthrough
        if not walkthrough:
            pytest.skip("this backend has no walkthrough")
        for action in walkthrough:
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                break
        assert terminated
        assert info["success"]
        assert info["normalized_score"] == 1.0
        assert info["n_invalid"] == 0


def test_steps_are_limited_and_ends_are_final(name):
    env = make(name, max_steps=2)
    with pytest.raises(gym.error.ResetNeeded):
        env.step("look")
    env.reset(seed=0)
    assert env.step("look")[2:4] == (False, False)
    assert env.step("look")[2:4] == (False, True)
    with pytest.raises(gym.error.ResetNeeded):
        env.step("look")
    env.close()
    env.close()


def test_bad_arguments_are_named(name):
    make(name).close()
    with pytest.raises(InvalidArgumentError, match="max_steps"):
        make(name, max_steps=0)
    with pytest.raises(InvalidArgumentError, match="valid_actions"):
        make(name, valid_actions="yes")
    with pytest.raises(UnknownNameError, match="colour"):
        make(name, colour="red")
    with pytest.raises(UnknownNameError, match="render_mode"):
        make(name, render_mode="rgb_array")
    env = make(name)
    env.reset(seed=0)
    with pytest.raises(InvalidArgumentError, match="as text, got int"):
        env.step(3)
    env.close()


def test_render_shows_the_last_text(name):
    env = make(name, render_mode="ansi")
    obs, _ = env.reset(seed=0)
    assert env.render() == obs["text"]
    obs = env.step("look")[0]
    assert env.render() == f"> look\n{obs['text']}"
    env.close()
