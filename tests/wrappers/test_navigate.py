"""Navigate: every move is a real step, and the walk stops where it should."""

from __future__ import annotations

import importlib.util
from typing import Any

import gymnasium as gym
import pytest

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.graph.map import current_place, visited_places
from gym_memory.testing.fake_env import FAKE_ID, RAW_ID
from gym_memory.wrappers import IndexActions, MemoryObservation, Navigate

TO_PANTRY = ("open wooden door", "go east")


def made(stop_on_new: bool = True, **kwargs: Any) -> Navigate:
    env = Navigate(gym.make(FAKE_ID, memory="arigraph", **kwargs), stop_on_new=stop_on_new)
    env.reset(seed=0)  # in the hall, with the kitchen west and the pantry east behind a door
    return env


def do(env: gym.Env, *actions: str) -> tuple:
    for action in actions:
        result = env.step(action)
    return result


def offers(obs: dict[str, Any]) -> list[str]:
    return [a for a in obs["valid_actions"] if a.startswith("go to ")]


def test_only_visited_places_are_offered() -> None:
    env = made()
    obs, info = env.reset(seed=0)
    assert offers(obs) == []
    assert info["navigate_moves"] == ()
    assert offers(do(env, *TO_PANTRY)[0]) == ["go to hall"]
    assert offers(do(env, "go west", "go west")[0]) == ["go to hall", "go to pantry"]
    obs = do(env, "go east")[0]
    assert sorted(offers(obs)) == ["go to kitchen", "go to pantry"]
    assert env.valid_actions() == obs["valid_actions"]
    assert env.observation_space.contains(obs)


def test_every_move_is_a_step() -> None:
    env = made()
    do(env, *TO_PANTRY, "go west", "go west")
    memory = env.get_wrapper_attr("memory")
    seen, moves = len(memory.store), env.step("look")[4]["moves"]
    obs, reward, terminated, truncated, info = env.step("go to pantry")
    assert info["navigate_moves"] == ("go east", "go east")
    assert info["moves"] == moves + 2
    assert len(memory.store) == seen + 1 + 2
    assert current_place(memory.graph) == "pantry"
    assert "-= Hall =-" in obs["text"]
    assert "-= Pantry =-" in obs["text"]
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert obs["text"].endswith(memory.store[-1].text)


def test_other_actions_pass_through() -> None:
    env, plain = made(), gym.make(FAKE_ID, memory="arigraph")
    plain.reset(seed=0)
    for action in (*TO_PANTRY, "go to narnia", "go to pantry", "go to ", "go west"):
        one, other = env.step(action), plain.step(action)
        assert one[0]["text"] == other[0]["text"]
        assert one[1:4] == other[1:4]
        assert one[4]["navigate_moves"] == ()
        assert one[4]["moves"] == other[4]["moves"]


def test_place_names_ignore_case_and_articles() -> None:
    env = made()
    do(env, *TO_PANTRY)
    assert env.step("go to the Hall")[4]["navigate_moves"] == ("go west",)


def test_walk_stops_when_blocked() -> None:
    """A door that was shut behind the memory's back stops the walk at the door."""
    env = made()
    do(env, *TO_PANTRY, "go west", "go west")
    env.unwrapped.state.open["wooden door"] = False
    obs, *_, info = env.step("go to pantry")
    assert current_place(env.get_wrapper_attr("memory").graph) == "hall"
    assert info["navigate_moves"] == ("go east",)  # the hall shows a closed door: something new
    blind = made(stop_on_new=False)
    do(blind, *TO_PANTRY, "go west", "go west")
    blind.unwrapped.state.open["wooden door"] = False
    obs, *_, info = blind.step("go to pantry")
    assert info["navigate_moves"] == ("go east", "go east")
    assert info["is_action_valid"] is False
    assert "That's not a verb I recognise." in obs["text"]
    assert current_place(blind.get_wrapper_attr("memory").graph) == "hall"
    assert info["moves"] == 6


def test_walk_stops_at_something_new() -> None:
    for stop, moves in ((True, ("go east",)), (False, ("go east", "go east"))):
        env = made(stop)
        do(env, *TO_PANTRY, "go west", "go west")
        env.unwrapped.state.places["rake"] = "hall"  # somebody dropped a rake there
        info = env.step("go to pantry")[4]
        assert info["navigate_moves"] == moves
        assert "go to pantry" in env.valid_actions() or not stop
    # What is known already does not stop it.
    env = made()
    do(env, *TO_PANTRY, "go west", "go west")
    assert len(env.step("go to pantry")[4]["navigate_moves"]) == 2


def test_walk_stops_at_the_end() -> None:
    env = made(max_steps=5)
    do(env, *TO_PANTRY, "go west", "go west")
    obs, _, terminated, truncated, info = env.step("go to pantry")
    assert (terminated, truncated) == (False, True)
    assert info["navigate_moves"] == ("go east",)
    assert info["moves"] == 5
    assert offers(obs) == []


class Paid(gym.Wrapper):
    """Pays for every move."""

    def step(self, action: str) -> Any:
        obs, reward, *rest = self.env.step(action)
        return obs, reward + 3 * action.startswith("go "), *rest


def test_rewards_are_summed() -> None:
    env = Navigate(MemoryObservation(Paid(gym.make(RAW_ID)), memory="arigraph"))
    env.reset(seed=0)
    do(env, *TO_PANTRY, "go west", "go west")
    assert env.step("go to pantry")[1] == 6.0


def test_without_listed_actions() -> None:
    env = made(valid_actions=False)
    obs = do(env, *TO_PANTRY)[0]
    assert obs["valid_actions"] == ()
    assert "go to hall" in env.valid_actions()
    assert env.step("go to hall")[4]["navigate_moves"] == ("go west",)


def test_numbered_actions_include_places() -> None:
    env = IndexActions(made(), 40)
    obs, _ = env.reset(seed=0)
    for action in TO_PANTRY:
        obs, *_ = env.step(obs["valid_actions"].index(action))
    obs, *_, info = env.step(obs["valid_actions"].index("go to hall"))
    assert info["navigate_moves"] == ("go west",)


def test_snapshot_and_restore() -> None:
    env = made()
    obs = do(env, *TO_PANTRY, "go west", "go west")[0]
    snapshot = env.get_wrapper_attr("snapshot")()
    first = env.step("go to pantry")
    again, info = env.restore(snapshot)
    assert again == obs
    assert info["navigate_moves"] == ()
    second = env.step("go to pantry")
    assert second[0] == first[0]
    assert second[4]["moves"] == first[4]["moves"]


def test_navigate_needs_a_graph() -> None:
    with pytest.raises(InvalidArgumentError, match="graph"):
        Navigate(gym.make(FAKE_ID, memory="history"))
    with pytest.raises(InvalidArgumentError, match="MemoryObservation"):
        Navigate(gym.make(RAW_ID))
    with pytest.raises(InvalidArgumentError, match="stop_on_new"):
        Navigate(gym.make(FAKE_ID, memory="arigraph"), stop_on_new=1)


@pytest.mark.skipif(importlib.util.find_spec("textworld") is None, reason="needs textworld")
def test_walks_reach_every_visited_place() -> None:
    """Walk the winning walkthrough of a real game, then go to every place that was visited."""
    env = Navigate(gym.make("gym_memory/Cooking-v0", level="hard", max_steps=400))
    env.reset(seed=0)
    graph = lambda: env.get_wrapper_attr("memory").graph  # noqa: E731
    for action in env.get_wrapper_attr("oracle")().walkthrough[:-3]:
        _, _, terminated, *_ = env.step(action)
        assert not terminated
    places = visited_places(graph())
    assert len(places) >= 3
    for place in places:
        assert f"go to {place}" in env.valid_actions()
        _, _, terminated, _, info = env.step(f"go to {place}")
        assert not terminated
        assert current_place(graph()) == place
        assert len(info["navigate_moves"]) >= 1
    env.close()
