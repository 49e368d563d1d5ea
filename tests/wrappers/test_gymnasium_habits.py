"""What users of Gymnasium expect: vectors, rendering, notebooks, types, and errors of one line."""

from __future__ import annotations

import re
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from mypy import api as mypy

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.records import Triple
from gym_memory.games import Feedback
from gym_memory.games.fetch import Fetch
from gym_memory.games.spaces import FreeText
from gym_memory.memory import make_memory
from gym_memory.wrappers import IndexActions, MemoryObservation

FETCH = "gym_memory/Fetch-v0"
ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("how", [{}, {"copy": False}, {"shared_memory": False}])
def test_four_processes_show_the_games_of_one(how: dict[str, bool]) -> None:
    kwargs = {"num_envs": 4, "level": "hard", "memory": "arigraph"}
    vector = gym.make_vec(FETCH, vectorization_mode="async", vector_kwargs=how, **kwargs)
    single = gym.make_vec(FETCH, vectorization_mode="sync", **kwargs)
    rng = np.random.default_rng(0)
    ours, _ = vector.reset(seed=5)
    theirs, _ = single.reset(seed=5)
    before = None
    for _ in range(30):
        assert list(ours) == list(theirs)
        for key in theirs:
            assert tuple(ours[key]) == tuple(theirs[key])
        actions = tuple(valid[rng.integers(len(valid))] for valid in theirs["valid_actions"])
        before = ours if how == {} else None
        texts = tuple(ours["text"])
        ours, *_ = vector.step(actions)
        theirs, *_ = single.step(actions)
        if before is not None:
            assert before["text"] == texts, "a copy does not change afterwards"
    assert any(ours["triples"][3])
    assert tuple(ours["text"][1:3]) == tuple(theirs["text"])[1:3]
    vector.close()
    single.close()


class Chatterbox(Fetch):
    """Says more than shared memory holds."""

    def _open(self, task_id: str) -> Feedback:
        return super()._open(task_id)._replace(text="word " * 100_000)


@pytest.mark.slow
def test_too_long_observation_for_shared_memory_says_the_remedy() -> None:
    vector = gym.vector.AsyncVectorEnv([Chatterbox, Chatterbox])
    with pytest.raises(InvalidArgumentError, match="give AsyncVectorEnv shared_memory=False"):
        vector.reset(seed=0)
    vector.close(terminate=True)


def test_human_mode_prints_as_it_plays(capsys: pytest.CaptureFixture[str]) -> None:
    env = gym.make(FETCH, render_mode="human")
    obs, _ = env.reset(seed=0)
    assert obs["text"] in capsys.readouterr().out
    obs, *_ = env.step("look")
    assert capsys.readouterr().out == f"> look\n{obs['text']}\n\n"
    assert env.render() is None


def test_ansi_mode_returns_the_text_and_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    env = gym.make(FETCH, render_mode="ansi")
    obs, _ = env.reset(seed=0)
    assert env.render() == obs["text"]
    assert capsys.readouterr().out == ""
    with pytest.raises(UnknownNameError, match="expected one of ansi, human"):
        gym.make(FETCH, render_mode="rgb_array")


def test_a_notebook_shows_observation_and_memory() -> None:
    env = gym.make(FETCH, memory="arigraph")
    assert "call reset()" in env._repr_html_()
    obs, _ = env.reset(seed=0)
    shown = env._repr_html_()
    assert obs["task"] in shown
    assert "memory arigraph" in shown
    assert "<td>you</td><td>is in</td>" in shown
    assert obs["task"] in env.unwrapped._repr_html_()
    assert "<script>" not in MemoryObservation(Chatterbox())._repr_html_()
    assert make_memory("history")._repr_html_() == "<p>memory history: nothing yet</p>"
    memory = make_memory("arigraph")
    for number in range(201):
        memory.graph.add(Triple(f"thing {number}", "is in", "hall"), 0)
    assert "201 live facts; the first 200 of 201 live facts" in memory._repr_html_()


def test_free_text_space_follows_gymnasium() -> None:
    space, other = FreeText(30, seed=0), FreeText(30, seed=0)
    assert {space: "same"}[other] == "same"
    assert space != FreeText(31)
    assert all(space.sample() in space for _ in range(50))
    assert len(space.sample(mask=(7, None))) == 7


@pytest.mark.slow
@pytest.mark.parametrize("wrap", [lambda env: env, IndexActions])
def test_sb3_on_text_says_which_wrappers_it_needs(wrap) -> None:
    sb3 = pytest.importorskip("stable_baselines3", reason="needs the extra rl")
    with pytest.raises(InvalidArgumentError, match=r"wrap the environment in EncodeText .*IndexA"):
        sb3.PPO("MultiInputPolicy", wrap(gym.make(FETCH, memory="none")))


def test_number_without_an_action_follows_the_setting() -> None:
    def played(invalid: str) -> tuple[IndexActions, int]:
        env = IndexActions(gym.make(FETCH, memory="none"), 32, invalid=invalid)
        _, info = env.reset(seed=0)
        return env, info["n_valid"]

    env, _ = played("noop")
    assert env.action_text(31) == ""
    *_, info = env.step(31)
    assert (info["n_invalid"], info["moves"]) == (1, 1)
    env, n = played("error")
    with pytest.raises(InvalidArgumentError, match=f"one of the {n} valid actions .*, got 31"):
        env.step(31)
    env, n = played("mask")
    assert env.action_text(31) == env.action_text(31 % n) != ""
    *_, info = env.step(31)
    assert info["n_invalid"] == 0
    with pytest.raises(UnknownNameError, match="invalid"):
        played("maybe")


@pytest.mark.slow
def test_a_type_checker_knows_the_observation(tmp_path: Path) -> None:
    code = tmp_path / "typed.py"
    code.write_text(
        "import gymnasium as gym\n"
        "from gym_memory.core.records import Observation\n"
        "from gym_memory.wrappers import make_env\n"
        "obs, info = make_env('Fetch', memory='arigraph').reset(seed=0)\n"
        "reveal_type(obs['triples'])\n"
        "env: gym.Env[Observation, str] = gym.make('gym_memory/Fetch-v0')\n"
        "obs, *rest = env.step('look')\n"
        "reveal_type(obs['valid_actions'])\n"
        "obs['tripels']\n"
    )
    shown, _, _ = mypy.run(["--config-file", "", "--follow-imports=silent", str(code)])
    triples, actions, error, *_ = shown.splitlines()
    assert "fallback=gym_memory.core.records.Triple], ...]" in triples
    assert re.search(r"tuple\[(builtins\.)?str, \.\.\.\]", actions)
    assert 'has no key "tripels"' in error
