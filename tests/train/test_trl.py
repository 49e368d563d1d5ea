"""The class for TRL: the same games, and tools that a chat template can describe."""

from __future__ import annotations

import inspect

import pytest
from twenty import BUDGET, ENV, MEMORY, Games, observation

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.train.session import Session, split_names, task_names
from gym_memory.train.steps import opening, turn_text
from gym_memory.train.trl import environment_factory, rows

pytestmark = pytest.mark.slow


def test_twenty_games_are_those_of_a_run(games: Games) -> None:
    game = environment_factory(ENV, MEMORY, BUDGET, None)()
    for row in rows(ENV, limit=20):
        recorded = games.recorded[row["seed"]].rows
        shown = game.reset(**row)
        assert shown == opening(observation(recorded[0]), None)
        for known in recorded[1:]:
            shown = game.act(known["action"])
            expected = turn_text(observation(known), None)
            if known["terminated"] or known["truncated"]:
                expected += "\n\nThe game is over."
            assert shown == expected
        assert game.get_reward() == games.results[row["seed"]].result.normalized
        with pytest.raises(ValueError, match="over"):
            game.act("look")


def test_tools_can_be_described_to_a_model() -> None:
    utils = pytest.importorskip("transformers.utils")
    game = environment_factory(ENV, "history")()
    names = {n for n, _ in inspect.getmembers(type(game), inspect.isfunction) if n[0] != "_"}
    assert names == {"reset", "get_reward", "act", "valid_actions", "recall"}
    for name in names - {"reset", "get_reward"}:
        schema = utils.get_json_schema(getattr(game, name))["function"]
        assert schema["description"]
        assert all(p["description"] for p in schema["parameters"]["properties"].values())
    game.reset(index=3)
    assert "look" in game.valid_actions().split("\n")
    before = game.valid_actions()
    assert "kitchen" in game.recall("Where am I?").lower()
    assert game.valid_actions() == before


def test_splits_indices_and_seeds_of_a_session() -> None:
    session = Session(ENV, "none")
    assert split_names(ENV) == ("train", "valid", "test", "held_out")
    assert len(task_names(ENV)) == 100
    assert len(task_names(ENV, "test")) == 20
    assert session.reset(split="test", index=7).info["task_id"] == "cooking/rl-1/test/7"
    assert session.reset(seed=101).info["task_id"] == "cooking/rl-1/train/1"
    with pytest.raises(UnknownNameError, match="split"):
        session.reset(split="exam")
    with pytest.raises(InvalidArgumentError, match="below 100"):
        session.reset(index=100)
    session.close()


def test_a_reply_that_names_a_valid_action_plays_it() -> None:
    one, other = Session(ENV, "none"), Session(ENV, "none")
    one.reset(index=0)
    other.reset(index=0)
    action = next(a for a in one.turn.obs["valid_actions"] if a.startswith("examine"))
    assert one.step(action).obs == other.step(f'"{action.upper()}."\n').obs
    assert one.turn.info["is_action_valid"]
    assert not one.step("I would rather not.").info["is_action_valid"]
