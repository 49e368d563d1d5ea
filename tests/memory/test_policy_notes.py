"""Notes that a policy writes: operations, budgets, costs, restore, agents."""

from __future__ import annotations

import json
import random
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_memory.baselines.llm.react import React
from gym_memory.baselines.scripted import Scribe
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Cue, OperationResult, Step, Task
from gym_memory.core.trajectory import read_rows, read_trajectory
from gym_memory.llm.client import OpenAIChat
from gym_memory.memory.base import count_tokens
from gym_memory.memory.experience.notes import PolicyNotes
from gym_memory.memory.reading import read_operation
from gym_memory.run import rollout
from gym_memory.testing.chat import ScriptedServer
from gym_memory.testing.fake_env import FAKE_ID
from gym_memory.wrappers import RecordTrajectory

OPERATIONS = ["note: the key is in the hall", "find: key hall", "note 1: the key is gone",
              "note: east is the pantry", "forget: 1", "find: pantry"]  # fmt: skip


def house(memory: str, **more: Any) -> gym.Env[Any, Any]:
    return gym.make(FAKE_ID, memory=memory, **more)


def begun(**settings: Any) -> PolicyNotes:
    notes = PolicyNotes(**settings)
    notes.begin(Task("house/0", "Find the key."), 0)
    notes.observe(Step(0, "A hall."))
    return notes


def lines(notes: PolicyNotes) -> tuple[str, ...]:
    return notes.recall(Cue(""), 10_000).lessons


def answers(notes: PolicyNotes, *operations: str) -> list[str]:
    written = [notes.write(operation) for operation in operations]
    return [one.answer if one else "" for one in written]


def test_operations_change_the_notes() -> None:
    notes = begun()
    assert answers(notes, *OPERATIONS) == [
        "note 1 written",
        "found 1 of 1 notes: 1",
        "note 1 written",
        "note 2 written",
        "note 1 forgotten",
        "found 1 of 1 notes: 2",
    ]
    assert lines(notes) == ("2. east is the pantry",)
    assert answers(notes, "forget: 1", "note 7: x", "note:", "note: new") == [
        "no note 1: forget one of 2",
        "no note 7: note one of 2",
        "not written: expected 1 to 2044 characters",
        "note 3 written",
    ]
    assert answers(notes, "go east", "notes: x", "forget the key", "forget: the key") == [
        "", "", "", "no note 0: forget one of 2, 3"]  # fmt: skip
    assert notes.stats().writes == 11


def test_full_notes_drop_the_oldest() -> None:
    notes = begun(size=16)
    answers(notes, "note: " + "a" * 20, "note: " + "b" * 20)
    assert answers(notes, "note: " + "c" * 20) == ["note 3 written, 1 dropped: full"]
    assert answers(notes, "note 2: " + "d" * 60) == ["note 2 written, 3 dropped: full"]
    assert answers(notes, "note: " + "e" * 62) == ["not written: expected 1 to 60 characters"]
    assert lines(notes) == ("2. " + "d" * 60,)


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.sampled_from(["note: ", "note 1: ", "note 3: ", "forget: 2", "find: "]),
                  st.text(max_size=90)),
        max_size=40,
    ),
    st.integers(0, 60),
)  # fmt: skip
def test_never_over_a_budget(operations: list[tuple[str, str]], budget: int) -> None:
    notes = begun(size=20)
    for verb, text in operations:
        notes.write(verb + text)
        held = "".join(f"{number}. {text}\n" for number, text in notes.state()["notes"])
        assert count_tokens(held) <= 20
        assert count_tokens(notes.recall(Cue(""), budget).text) <= budget
        other = PolicyNotes(size=20)
        other.load_state(json.loads(json.dumps(notes.state())))
        assert other.recall(Cue(""), budget) == notes.recall(Cue(""), budget)


def test_found_notes_come_before_the_newest() -> None:
    notes = begun()
    answers(notes, *(f"note: room {n} has {thing}" for n, thing in enumerate("abcdefgh")))
    assert [line[:2] for line in notes.recall(Cue(""), 30).lessons] == ["7.", "8."]
    answers(notes, "find: ROOM 0")
    assert [line[:2] for line in notes.recall(Cue(""), 33).lessons] == ["1.", "8."]
    notes.observe(Step(1, "A hall.", "look"))
    assert [line[:2] for line in notes.recall(Cue(""), 27).lessons] == ["7.", "8."]


@pytest.mark.parametrize(
    ("lifetime", "kept"), [("episode", (0, 0, 0)), ("trial", (1, 0, 0)), ("task", (1, 1, 0)),
                           ("forever", (1, 1, 1))]
)  # fmt: skip
def test_lifetimes(lifetime: str, kept: tuple[int, ...]) -> None:
    notes = begun(lifetime=lifetime)
    notes.write("note: the key is in the hall")
    for task, count in zip(("house/0 Find the key.", "house/1 Find the key.", "house/1 Eat."), kept,
                           strict=True):  # fmt: skip
        name, goal = task.split(" ", 1)
        notes.begin(Task(name, goal), 0)
        assert len(lines(notes)) == count
        assert notes.stats().writes == 0


def test_notes_of_step_are_gone_after_the_next_action() -> None:
    notes = begun(lifetime="step")
    notes.write("note: the key is in the hall")
    notes.observe(Step(0, "Noted.", "note: the key is in the hall"))
    assert len(lines(notes)) == 1
    notes.observe(Step(1, "A hall.", "look"))
    assert lines(notes) == ()


@pytest.mark.parametrize("wrong", [{"size": 3}, {"free": -1}])
def test_wrong_settings_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidArgumentError, match=f"expected {next(iter(wrong))}"):
        PolicyNotes(**wrong)  # type: ignore[arg-type]


# --- in an environment --------------------------------------------------------------------------


def test_free_operations_take_no_step_and_others_do() -> None:
    env = house("notes?free=2")
    first, info = env.reset(seed=0)
    assert info["operations"] == PolicyNotes.operations
    moves, texts = [], []
    for operation in OPERATIONS:
        obs, reward, terminated, truncated, info = env.step(operation)
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert isinstance(info["written"], OperationResult)
        moves.append(info["moves"])
        texts.append(obs["text"] == first["text"])
        assert obs in env.observation_space
    # A costly operation is a step, after which two are free again.
    assert moves == [0, 0, 1, 1, 1, 2]
    assert texts == [True, True, False, False, False, False]
    assert "(found 1 of 1 notes: 2)" in obs["memory"]
    obs, *_, info = env.step("look")
    assert "written" not in info
    assert "found" not in obs["memory"]
    assert info["memory_stats"].writes == 6


def test_an_operation_after_the_end_is_refused() -> None:
    env = house("notes", max_steps=1)
    env.reset(seed=0)
    env.step("look")
    with pytest.raises(gym.error.ResetNeeded):
        env.step("note: too late")


def test_other_memories_pass_the_text_to_the_game() -> None:
    env = house("history")
    env.reset(seed=0)
    *_, info = env.step("note: the key is in the hall")
    assert (info["moves"], info["is_action_valid"]) == (1, False)


@pytest.mark.parametrize("memory", ["notes", "notes?free=1", "notes?free=0"])
def test_identical_after_restore(memory: str) -> None:
    env, chance = house(memory), random.Random(0)
    obs, _ = env.reset(seed=0)
    actions = [
        chance.choice([*OPERATIONS, "look", "go north", "go south", "inventory"]) for _ in range(30)
    ]
    for action in actions[:10]:
        env.step(action)
    snapshot = env.get_wrapper_attr("snapshot")()
    ends = []
    for _ in range(2):
        shown = [env.step(action)[0] for action in actions[10:]]
        ends.append((shown, env.get_wrapper_attr("memory").state()))
        obs, _ = env.get_wrapper_attr("restore")(snapshot)
    assert ends[0] == ends[1]
    assert obs["memory"] != ends[0][0][-1]["memory"]


def test_a_recording_keeps_them_beside_the_steps(tmp_path) -> None:
    path = str(tmp_path / "rows.jsonl.gz")
    env = RecordTrajectory(house("notes?free=1", max_steps=20), path)
    env.reset(seed=0)
    for action in ("note: a", "look", "note: b", "note: c", "look"):
        env.step(action)
    env.close()
    rows = list(read_rows(path))
    assert [(row["t"], row["action"], row.get("written")) for row in rows] == [
        (0, "", None),
        (1, "look", ["note: a"]),
        (2, "note: c", ["note: b"]),
        (3, "look", None),
    ]
    assert [step.t for step in next(read_trajectory(path)).steps] == [0, 1, 2, 3]


# --- agents -------------------------------------------------------------------------------------


def scores(memory: str, seeds: int = 10) -> list[float]:
    return [
        rollout(house(memory, max_steps=80), Scribe(), seed).normalized for seed in range(seeds)
    ]


@pytest.mark.slow
def test_a_scribe_plays_better_with_notes() -> None:
    without, with_notes = scores("none"), scores("notes")
    assert sum(with_notes) > sum(without)
    assert with_notes == scores("notes")


def test_steps_of_an_episode_leave_out_free_operations() -> None:
    result = rollout(house("notes", max_steps=30), Scribe(), 2)
    assert result.counters["memory_writes"] > 10
    assert result.steps <= 30
    cut = rollout(house("notes", max_steps=30), Scribe(), 2, limit=7)
    assert cut.steps == 7


def test_a_language_model_writes_notes() -> None:
    with ScriptedServer() as server:
        agent = React(OpenAIChat("scripted", server.base_url, retries=0))
        env = house("notes", max_steps=12)
        result = rollout(env, agent, 0)
    assert result.counters["memory_writes"] >= 1
    assert result.counters["invalid_actions"] == 0
    assert result.steps <= 12
    assert all(read_operation(f"note: {text}") for _, text in env.memory.state()["notes"])
