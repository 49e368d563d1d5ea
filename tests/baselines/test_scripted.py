"""Random, walkthrough and human: their choices and their random numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_memory.baselines import POLICIES, Policy, make_policy
from gym_memory.baselines.scripted import Human, Random, Walkthrough
from gym_memory.core.errors import UnknownNameError
from gym_memory.core.records import Oracle
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FAKE_ID


def obs(*actions: str, **values: Any) -> Any:
    empty = {"text": "", "task": "", "inventory": "", "memory": ""}
    more = {"triples": (), "episodes": (), "lessons": ()}
    return {**empty, **more, "valid_actions": actions, **values}


def test_names_agree_with_the_table() -> None:
    for name in ("random", "walkthrough", "human"):
        policy = make_policy(name)
        assert isinstance(policy, Policy)
        assert type(policy) is POLICIES.get(name)
    with pytest.raises(UnknownNameError, match="Did you mean 'random'"):
        make_policy("randon")


def test_random_is_fair_seeded_and_leaves_other_chance_alone() -> None:
    policy, state = Random(), np.random.get_state()[1].tolist()
    policy.reset({}, 3)
    drawn = [policy.act(obs("a", "b", "c"), {}) for _ in range(3000)]
    assert all(900 < n < 1100 for n in Counter(drawn).values())
    policy.reset({}, 3)
    assert [policy.act(obs("a", "b", "c"), {}) for _ in range(3000)] == drawn
    policy.reset({}, 4)
    assert [policy.act(obs("a", "b", "c"), {}) for _ in range(3000)] != drawn
    assert np.random.get_state()[1].tolist() == state


def test_random_acts_without_listed_actions() -> None:
    assert Random().act(obs(), {}) == "look"
    assert make_policy("random?fallback=wait").act(obs(), {}) == "wait"
    env = gym.make(FAKE_ID, memory="none", valid_actions=False, max_steps=5)
    assert rollout(env, Random(), 0).steps == 5


@pytest.mark.parametrize("seed", range(14))
def test_the_walkthrough_wins_every_game(seed: int) -> None:
    split = ("train", "valid", "test")[seed % 3]
    result = rollout(gym.make(FAKE_ID, memory="none", split=split), Walkthrough(), seed)
    assert result.normalized == 1.0
    assert result.counters == {"steps_without_walkthrough": 0}


def test_missing_walkthrough_is_reported() -> None:
    policy = Walkthrough()
    env = gym.make(FAKE_ID, memory="none", max_steps=20)
    policy.oracle = Oracle

    class Blind(Walkthrough):
        uses_oracle = False

    result = rollout(env, Blind(), 0)
    assert result.steps == 20
    assert result.counters == {"steps_without_walkthrough": 20}
    policy.reset({}, 0)
    assert policy.act(obs("a"), {}) == "a"


def test_random_play_follows_the_end_of_walkthrough() -> None:
    policy = Walkthrough()
    policy.oracle = lambda: Oracle(walkthrough=("x", "y"))
    policy.reset({}, 0)
    assert [policy.act(obs("a"), {}) for _ in range(4)] == ["x", "y", "a", "a"]
    assert policy.counters() == {"steps_without_walkthrough": 2}


class Terminal:
    """A person that types given lines and keeps the output."""

    def __init__(self, lines: Iterable[str]):
        self.lines = iter(lines)
        self.shown: list[str] = []

    def read(self, prompt: str) -> str:
        for line in self.lines:
            return line
        raise EOFError

    def human(self) -> Human:
        return Human(read=self.read, write=self.shown.append)


def test_a_person_may_type_numbers_words_and_nonsense() -> None:
    terminal = Terminal(["", "  ", "7", "0", "?", "2", "Open the door!", "٣"])
    human = terminal.human()
    seen = obs("go east", "take apple", text="A hall.", memory="apple, is in, hall")
    assert human.act(seen, {"score": 1.0, "max_score": 3.0, "moves": 4}) == "take apple"
    assert human.act(seen, {}) == "Open the door!"
    shown = "\n".join(terminal.shown)
    assert "step 4  score 1 of 3" in shown
    assert "  2 take apple" in shown
    assert "apple, is in, hall" in shown
    assert "There is no action 7: choose 1 to 2." in shown
    assert "There is no action 0" in shown
    with pytest.raises(EOFError):
        human.act(seen, {})


def test_long_lists_are_cut_and_shown_whole_on_request() -> None:
    terminal = Terminal(["?", "60"])
    actions = [f"take thing {n}" for n in range(60)]
    assert terminal.human().act(obs(*actions), {}) == "take thing 59"
    assert "and 20 more" in terminal.shown[0]
    assert "take thing 59" not in terminal.shown[0]
    assert "take thing 59" in terminal.shown[1]


def test_a_person_plays_in_the_same_loop() -> None:
    env = gym.make(FAKE_ID, memory="history")
    env.reset(seed=0)
    terminal = Terminal(env.get_wrapper_attr("oracle")().walkthrough)
    assert rollout(env, terminal.human(), 0).success
    assert "fakehouse/train/0" in terminal.shown[0]
    assert "--- memory" in terminal.shown[3]
