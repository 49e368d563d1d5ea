"""AgentOdyssey: its score, its tutorial, the list of actions, the truth, the map in a memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("agentodyssey", reason="needs the package agentodyssey")

from gym_memory.evaluate.quality.score import measure, summarize
from gym_memory.games.agentodyssey import AgentOdyssey
from gym_memory.run.config import Job

REQUIRED = re.compile(r"Required action: `(.*)`")
TRANSCRIPT = """
import random
from gym_memory.games.agentodyssey import AgentOdyssey
for world, seed, steps in (("remnant", 0, 60), ("metropolis", 1, 30)):
    env, rng = AgentOdyssey(world, tutorial=False), random.Random(0)
    obs, _ = env.reset(seed=seed)
    for _ in range(steps):
        print(obs)
        obs = env.step(rng.choice(obs["valid_actions"]))[0]
"""


def test_tutorial_is_passed_by_following_its_text():
    env = AgentOdyssey()
    obs, info = env.reset(seed=0)
    unlisted = []
    for _ in range(40):
        required = REQUIRED.findall(obs["text"])
        if not required:
            break
        if required[-1] not in obs["valid_actions"]:
            unlisted.append(required[-1])
        obs, _, _, _, info = env.step(required[-1])
    assert not REQUIRED.search(obs["text"])
    assert unlisted == ["store 2 coin inventory"]  # the list stores one at a time
    assert info["n_invalid"] == 0


def test_the_score_is_the_sum_of_the_packages_categories():
    env = AgentOdyssey(tutorial=False)
    obs, _ = env.reset(seed=0)
    assert "Tutorial" not in obs["text"]
    for _ in range(2):
        obs, _, _, _, info = env.step("enter library")
    parts = info["rewards"]
    kinds = ("craft", "exploration", "quest", "side_quest", "trade", "unique_kill")
    assert parts["exploration"] == 1
    assert info["score"] == sum(parts[kind] for kind in kinds) - parts["death"] == parts["total"]
    assert info["max_score"] == 0.0


def test_score_quest_counts_the_main_quest_alone():
    env = AgentOdyssey(tutorial=False, score="quest")
    env.reset(seed=0)
    *_, info = env.step("enter library")
    assert info["rewards"]["exploration"] == 1
    assert info["score"] == info["rewards"]["quest"] < info["rewards"]["total"]


def test_challenge_plays_its_three_worlds_in_turn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    env = AgentOdyssey("challenge")
    assert env.max_steps == 500
    for seed, world in enumerate(("remnant", "mark", "metropolis", "remnant")):
        _, info = env.reset(seed=seed)
        assert info["task_id"] == f"agentodyssey/{world}/{seed // 3}"
        own = AgentOdyssey(world, score="quest")
        own.reset(seed=seed // 3)
        for command in ("wait", "inspect inventory"):
            ours, theirs = env.step(command), own.step(command)
            assert ours[0]["text"] == theirs[0]["text"]
            assert ours[1] == theirs[1]
        assert ours[4]["score"] == ours[4]["rewards"]["quest"]
    assert not [*tmp_path.iterdir()]  # the package's own runs write pictures
    alone = {AgentOdyssey(world).versions()["games"] for world in ("remnant", "mark")}
    assert env.versions()["games"] not in alone


def test_supplementary_score_is_the_sum_that_breaks_ties():
    env = AgentOdyssey(tutorial=False, score="supplementary")
    env.reset(seed=0)
    *_, info = env.step("enter library")
    kinds = ("side_quest", "exploration", "craft", "unique_kill")
    assert info["score"] == sum(info["rewards"][kind] for kind in kinds) == 1


def test_versions_distinguish_games_of_one_number():
    versions = AgentOdyssey().versions()
    assert re.fullmatch(r"[0-9a-f]{8}", versions["games"])
    assert versions["games"] != AgentOdyssey("mark").versions()["games"]


def test_list_works_where_the_packages_own_breaks():
    env = AgentOdyssey()
    env.reset(seed=0)
    for action in ("pick up small_bag_1", "equip small_bag_1"):
        obs, *_ = env.step(action)
    with pytest.raises(UnboundLocalError):
        env.engine.env.get_all_valid_actions(env.engine.agent)
    assert "inspect inventory" in obs["valid_actions"]


@pytest.mark.slow
def test_transcripts_do_not_depend_on_the_order_of_sets():
    seen = [
        subprocess.run(
            [sys.executable, "-c", TRANSCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert seen[0] == seen[1]


@pytest.mark.slow
def test_a_memory_knows_the_map():
    env = "AgentOdyssey?max_steps=100&tutorial=false"
    job = Job(env, "arigraph", "random", 0)
    shares = summarize([measure(job)])[0].map.shares
    assert shares["place"] >= 0.95
    assert shares["exit precision"] >= 0.95
    assert shares["exit recall"] >= 0.8
    assert shares["objects"] >= 0.8
