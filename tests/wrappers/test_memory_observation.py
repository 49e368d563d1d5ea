"""The wrapper that owns the memory: order of calls, focus, lifetimes, info, make_env."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import pytest

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.records import Cue, MemoryStats, Outcome, Recall, Step, Task, Triple
from gym_memory.memory import MEMORIES, Memory
from gym_memory.memory.base import Lifetime, count_tokens
from gym_memory.testing.fake_env import FAKE_ID, RAW_ID
from gym_memory.wrappers import MemoryObservation


class Diary(Memory):
    """A memory that records every call and keeps its trials."""

    name: ClassVar[str] = "diary"
    lifetimes: ClassVar[dict[str, Lifetime]] = {"calls": "forever"}

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.cues: list[Cue] = []

    def begin(self, task: Task, seed: int | None) -> None:
        self.calls.append(["begin", *task, seed])

    def observe(self, step: Step) -> None:
        self.calls.append(["observe", step.t, step.action, step.reward, step.done])

    def recall(self, cue: Cue, budget: int) -> Recall:
        self.cues.append(cue)
        return Recall(f"{len(self.calls)}", (Triple("a", "is in", "b"),), ("seen",), ("learnt",))

    def end(self, outcome: Outcome) -> None:
        self.calls.append(["end", *outcome])

    def state(self) -> dict[str, Any]:
        return {"calls": self.calls}

    def load_state(self, state: dict[str, Any]) -> None:
        self.calls = state["calls"]

    def stats(self) -> MemoryStats:
        return MemoryStats(lessons=1)


@pytest.fixture(autouse=True)
def listed_for_this_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEMORIES.loaded, "diary", Diary)


@pytest.fixture
def env() -> MemoryObservation:
    return MemoryObservation(gym.make(RAW_ID, max_steps=3), memory="diary")


def diary(env: MemoryObservation) -> Diary:
    assert isinstance(env.memory, Diary)
    return env.memory


def test_order_of_calls(env: MemoryObservation) -> None:
    env.reset(seed=0)
    goal = "Your task is to put the apple on the table in the kitchen."
    env.step("open wooden door")
    env.step("xyzzy")
    _, _, terminated, truncated, info = env.step("go east")
    assert (terminated, truncated) == (False, True)
    env.reset(seed=0)
    task = ["begin", "fakehouse/train/0", goal, "textworld", 0]
    assert diary(env).calls == [
        task,
        ["observe", 0, "", 0.0, False],
        ["observe", 1, "open wooden door", 0.0, False],
        ["observe", 2, "xyzzy", 0.0, False],
        ["observe", 3, "go east", 0.0, True],
        ["end", 0.0, 2.0, 0.0, False, False, 3],
        task,
        ["observe", 0, "", 0.0, False],
    ]
    assert info["n_invalid"] == 1


def test_outcome_of_a_win() -> None:
    env = MemoryObservation(gym.make(RAW_ID), memory="diary")
    env.reset(seed=0)
    for action in env.get_wrapper_attr("oracle")().walkthrough:
        _, _, terminated, _, info = env.step(action)
    assert terminated
    assert diary(env).calls[-1] == ["end", 2.0, 2.0, 1.0, True, False, 7]
    assert info["memory_stats"].lessons == 1


def test_episode_cut_from_outside_is_closed_at_reset(env: MemoryObservation) -> None:
    env.reset(seed=0)
    env.step("open wooden door")
    env.reset(seed=1)
    assert diary(env).calls[3] == ["end", 0.0, 2.0, 0.0, False, False, 1]
    assert diary(env).calls[4][0] == "begin"
    # An episode without a step was not played.
    env.reset(seed=2)
    assert [call[0] for call in diary(env).calls].count("end") == 1


def test_observation_and_info(env: MemoryObservation) -> None:
    obs, info = env.reset(seed=0)
    assert list(obs) == [
        *("text", "task", "inventory", "valid_actions"),
        *("memory", "triples", "episodes", "lessons"),
    ]
    assert obs["memory"] == "2"
    assert obs["triples"] == (("a", "is in", "b"),)
    assert obs["episodes"] == ("seen",)
    assert obs["lessons"] == ("learnt",)
    stats = info["memory_stats"]
    assert stats == MemoryStats(lessons=1, tokens=count_tokens(obs["memory"]))
    assert stats.update_ms > 0
    assert stats.recall_ms > 0
    assert obs in env.observation_space


def test_text_is_not_augmented() -> None:
    raw, env = gym.make(RAW_ID), gym.make(FAKE_ID, memory="history")
    for a, b in zip(raw.reset(seed=4)[0].items(), env.reset(seed=4)[0].items(), strict=False):
        assert a == b
    assert raw.step("look")[0]["text"] == env.step("look")[0]["text"]


def test_cue_and_focus(env: MemoryObservation) -> None:
    obs, _ = env.reset(seed=0)
    env.set_focus("find the apple")
    env.step("look")
    env.step("look")
    env.reset(seed=0)
    cues = diary(env).cues
    assert [cue.focus for cue in cues] == ["", "find the apple", "find the apple", ""]
    assert cues[0] == Cue(obs["text"], obs["task"], obs["inventory"], obs["valid_actions"])
    with pytest.raises(InvalidArgumentError, match="expected focus as text, got 3"):
        env.set_focus(3)  # type: ignore[arg-type]


def test_snapshot_holds_memory_focus_and_open_episode(env: MemoryObservation) -> None:
    env.reset(seed=0)
    env.set_focus("find the apple")
    env.step("open wooden door")
    snapshot = env.snapshot()
    env.set_focus("elsewhere")
    env.step("look")
    env.step("look")
    obs, info = env.restore(snapshot)
    assert info["moves"] == 1
    assert obs["memory"] == "3"
    assert diary(env).cues[-1].focus == "find the apple"
    env.reset(seed=0)
    assert diary(env).calls[3][0] == "end"


def test_policy_never_sees_the_oracle() -> None:
    env = gym.make(FAKE_ID, memory="history")
    obs, info = env.reset(seed=0)
    walkthrough = env.get_wrapper_attr("oracle")().walkthrough
    assert not any(str(walkthrough) in str(value) for value in (obs, info))


@pytest.mark.parametrize("budget", [-1, 2.5, True, "many"])
def test_bad_budget_is_refused(budget: object) -> None:
    with pytest.raises(InvalidArgumentError, match="expected a token budget"):
        gym.make(FAKE_ID, memory="history", budget=budget)


def test_bad_memory_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'history'"):
        gym.make(FAKE_ID, memory="histroy")
    with pytest.raises(UnknownNameError, match="Did you mean 'window'"):
        gym.make(FAKE_ID, memory="history?windwo=3")
    for own in (Diary(), Diary):
        with pytest.raises(InvalidArgumentError, match=r"expected memory as a name.*got Diary"):
            MemoryObservation(gym.make(RAW_ID), memory=own)  # type: ignore[arg-type]


def test_bad_environment_parameter_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'memory'"):
        gym.make(FAKE_ID, memry="history")
    with pytest.raises(UnknownNameError, match="Did you mean 'max_steps'"):
        gym.make(FAKE_ID, memory="history", max_step=3)


def test_recall_is_a_shorthand() -> None:
    with pytest.raises(UnknownNameError, match="'recall'"):
        gym.make(FAKE_ID, memory="none", recall="semantic")


def test_budget_bounds_the_memory() -> None:
    env = gym.make(FAKE_ID, memory="history", budget=30)
    env.reset(seed=0)
    for _ in range(10):
        obs, _, _, _, info = env.step("look")
        assert 0 < count_tokens(obs["memory"]) <= 30
        assert info["memory_stats"].tokens == count_tokens(obs["memory"])


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_make_vec(mode: str) -> None:
    kwargs = {"shared_memory": False} if mode == "async" else {}
    vector = gym.make_vec(FAKE_ID, 2, mode, vector_kwargs=kwargs, memory="history", max_steps=3)
    obs, infos = vector.reset(seed=[0, 1])
    assert obs["text"][0] != obs["text"][1]
    for _ in range(5):  # past the end of an episode
        obs, *_, infos = vector.step(("look", "look"))
        assert infos["memory_stats"][0].episodes >= 1
    vector.close()


def test_time_limit_around_it() -> None:
    env = gym.make(FAKE_ID, memory="history", max_episode_steps=2)
    env.reset(seed=0)
    env.step("look")
    assert env.step("look")[3]
    assert gym.make(env.spec).spec == env.spec
