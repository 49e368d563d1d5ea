"""Recording: rows, appending, undoing, and surviving a kill."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from work import calls

from gym_memory.core.errors import InvalidArgumentError, ResultsError
from gym_memory.core.records import Outcome, Task
from gym_memory.core.trajectory import read_rows, read_trajectory
from gym_memory.testing.fake_env import FAKE_ID, RAW_ID
from gym_memory.wrappers import IndexActions, RecordTrajectory


@pytest.fixture
def path(tmp_path) -> str:
    return str(tmp_path / "new folder" / "rows.jsonl.gz")


def make(path: str, **kwargs: Any) -> RecordTrajectory:
    return RecordTrajectory(gym.make(FAKE_ID, memory="history", max_steps=20), path, **kwargs)


def win(env: gym.Env[Any, Any], seed: int) -> list[tuple[dict, float, bool, bool, dict]]:
    env.reset(seed=seed)
    return [env.step(action) for action in env.get_wrapper_attr("oracle")().walkthrough]


def test_rows_have_the_recorded_fields(path: str) -> None:
    env = make(path, valid_actions=True, memory=True)
    first, _ = env.reset(seed=1)
    obs, *_ = env.step("go south")
    env.close()
    rows = list(read_rows(path))
    assert rows[0]["text"] == first["text"]
    assert rows[0]["action"] == ""
    assert rows[1] == {
        "episode": 0,
        "t": 1,
        "task_id": "fakehouse/train/1",
        "task": obs["task"],
        "dialect": "textworld",
        "action": "go south",
        "text": obs["text"],
        "inventory": "You are carrying nothing.",
        "reward": 0.0,
        "terminated": False,
        "truncated": False,
        "score": 0.0,
        "max_score": 2.0,
        "normalized_score": 0.0,
        "success": False,
        "lost": False,
        "is_action_valid": True,
        "valid_actions": list(obs["valid_actions"]),
        "memory": obs["memory"],
    }
    assert all(type(v) in (int, float, str, bool, list) for row in rows for v in row.values())


def test_valid_actions_and_memory_only_on_request(path: str) -> None:
    env = make(path)
    win(env, 0)
    env.close()
    assert all(not {"valid_actions", "memory"} & set(row) for row in read_rows(path))


def test_episodes_come_back_as_steps(path: str) -> None:
    env = make(path, valid_actions=True)
    seen = win(env, 0)
    env.reset(seed=2)
    env.step("look")
    env.close()
    won, broken_off = read_trajectory(path)
    assert won.task == Task("fakehouse/train/0", seen[0][0]["task"], "textworld")
    assert won.finished
    assert won.outcome == Outcome(2.0, 2.0, 1.0, True, False, len(seen))
    assert [step.t for step in won.steps] == list(range(len(seen) + 1))
    for step, (obs, reward, terminated, _, _) in zip(won.steps[1:], seen, strict=True):
        assert step.text == obs["text"]
        assert step.inventory == obs["inventory"]
        assert step.valid_actions == obs["valid_actions"]
        assert (step.reward, step.done) == (reward, terminated)
    assert (broken_off.episode, len(broken_off.steps), broken_off.finished) == (1, 2, False)
    assert broken_off.outcome.steps == 1


def test_recorded_steps_form_the_same_memory_as_playing(path: str) -> None:
    env = make(path, valid_actions=True)
    win(env, 3)
    env.close()
    memory, played = env.get_wrapper_attr("memory").fork(), env.get_wrapper_attr("memory")
    (episode,) = read_trajectory(path)
    memory.begin(episode.task, 0)
    for step in episode.steps:
        memory.observe(memory.admit(step, episode.task.goal))
    memory.end(episode.outcome)
    assert memory.state() == played.state()


def test_any_gzip_program_reads_a_closed_file(path: str) -> None:
    env = make(path)
    win(env, 0)
    win(env, 1)
    env.close()
    with gzip.open(path, "rt") as file:
        assert [json.loads(line) for line in file] == list(read_rows(path))


def test_recorder_appends_and_continues_numbers(path: str) -> None:
    for seed in range(3):
        env = make(path)
        win(env, seed)
        env.close()
        env.close()
    episodes = list(read_trajectory(path))
    assert [e.episode for e in episodes] == [0, 1, 2]
    assert [e.task.id for e in episodes] == [f"fakehouse/train/{n}" for n in range(3)]


def test_same_bytes_for_the_same_play(tmp_path) -> None:
    contents = []
    for name in ("a", "b"):
        env = make(str(tmp_path / name), memory=True)
        win(env, 0)
        env.close()
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]


def test_odd_actions_are_recorded_unchanged(path: str) -> None:
    odd = ["", "x" * 10_000, "go east then go west\nlook", "🗝️ nehmen", "\ud83d", "\x00\x1b"]
    env = make(path)
    env.reset(seed=0)
    for action in odd:
        env.step(action)
    env.close()
    (episode,) = read_trajectory(path)
    assert [step.action for step in episode.steps[1:]] == odd
    assert not any(row["is_action_valid"] for row in list(read_rows(path))[1:])


def test_undone_steps_are_left_out(path: str) -> None:
    env = make(path)
    env.reset(seed=0)
    env.step("open wooden door")
    snapshot = env.snapshot()
    env.step("go north")
    env.step("look")
    env.restore(snapshot)
    env.step("go east")
    env.close()
    (episode,) = read_trajectory(path)
    assert [step.action for step in episode.steps] == ["", "open wooden door", "go east"]
    assert len(list(read_rows(path))) == 5


def test_snapshot_of_another_episode_is_refused(path: str) -> None:
    env = make(path)
    env.reset(seed=0)
    snapshot = env.snapshot()
    env.reset(seed=0)
    with pytest.raises(InvalidArgumentError, match="expected a snapshot of episode 1"):
        env.restore(snapshot)


def test_one_writer_a_file(path: str) -> None:
    env, other = make(path), make(path)
    env.reset(seed=0)
    with pytest.raises(ResultsError, match="give each environment its own file"):
        other.reset(seed=0)
    env.close()
    other.reset(seed=0)
    other.close()


@pytest.mark.parametrize("content", [b"not gzip at all", gzip.compress(b'{"a": 1}\n', mtime=0)])
def test_will_not_append_to_another_kind_of_file(tmp_path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ResultsError, match="expected a recorded trajectory to append to at"):
        make(str(path)).reset(seed=0)
    assert path.read_bytes() == content


def test_unwritable_path_is_reported(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    for bad in (tmp_path, tmp_path / "file" / "rows"):
        with pytest.raises(ResultsError, match="cannot record to"):
            make(str(bad)).reset(seed=0)


PLAY_FOREVER = """
import sys
from gym_memory.testing.fake_env import register_fake
import gymnasium as gym
from gym_memory.wrappers import RecordTrajectory
register_fake()
env = RecordTrajectory(gym.make("gym_memory/FakeHouse-v0", memory="history"), sys.argv[1])
for seed in range(10**9):
    env.reset(seed=seed)
    for _ in range(7):
        env.step("look")
        print(flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("steps", [3, 400])
def test_a_killed_recording_is_read_and_continued(path: str, steps: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PLAY_FOREVER, path],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert process.stdout is not None
    for _ in range(steps):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    printed = steps + len(process.stdout.read().splitlines())
    process.wait()
    rows = list(read_rows(path))
    # Whatever step returned before the kill is there.
    assert sum(row["t"] > 0 for row in rows) >= printed
    env = make(path)
    win(env, 0)
    env.close()
    assert list(read_rows(path))[: len(rows)] == rows
    episodes = list(read_trajectory(path))
    assert [e.episode for e in episodes] == list(range(rows[-1]["episode"] + 2))
    assert episodes[-1].outcome.success
    with gzip.open(path) as file:  # the torn member was closed
        assert len(file.readlines()) == len(rows) + len(episodes[-1].steps)


def test_recording_costs_little(path: str) -> None:
    """Recording a row makes fewer calls than a step of a real game."""
    env = make(path, valid_actions=True)
    plain = gym.make(FAKE_ID, memory="history", max_steps=20)
    without, recorded = (
        calls(lambda e=e: [win(e, seed) for seed in range(20)]) for e in (plain, env)
    )
    env.close()
    assert (recorded - without) / (20 * 8) < 150


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"path": ""}, "expected path as the name of a file, got ''"),
        ({"path": 3}, "expected path as the name of a file, got 3"),
        ({"path": "x", "memory": 1}, "expected memory as True or False, got 1"),
        ({"path": "x", "valid_actions": "no"}, "expected valid_actions as True or False"),
        ({"path": "x", "memory": True}, "put MemoryObservation below it"),
    ],
)
def test_bad_arguments(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        RecordTrajectory(gym.make(RAW_ID), **kwargs)


def test_recorder_belongs_below_the_numbering() -> None:
    with pytest.raises(InvalidArgumentError, match="put it below IndexActions"):
        RecordTrajectory(IndexActions(gym.make(RAW_ID), 5), "x")  # type: ignore[arg-type]


def test_numbered_actions_are_recorded_as_text(path: str) -> None:
    env = IndexActions(make(path), 12)
    obs, _ = env.reset(seed=0)
    env.step(1)
    env.close()
    (episode,) = read_trajectory(path)
    assert episode.steps[1].action == obs["valid_actions"][1]
