"""LTL-GATA: formulas by hand, progression in a game, marks, the bonus, resumed training."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from test_gata import SMALL, kitchen, obs
from trained import assert_same_training

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rl.ltl_gata import (
    TRUE,
    LtlGataLearner,
    LtlGataSettings,
    instructions,
    progress,
)
from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import TrainSettings
from gym_memory.core.records import Triple
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers import MemoryObservation
from gym_memory.wrappers.make import make_env

pytestmark = pytest.mark.slow

LTL = LtlGataSettings(**dataclasses.asdict(SMALL))
HELD = ("fact", "leek", "is in", "inventory")
DICED = ("fact", "leek", "is", "diced")
MEAL = ("eventually", ("fact", "meal", "is in", "inventory"))


def test_progression_equals_hand_worked_formulas() -> None:
    both = ("and", ("eventually", HELD), ("eventually", DICED))
    held, diced = Triple(*HELD[1:]), Triple(*DICED[1:])
    assert progress(both, []) == both
    assert progress(both, [held]) == ("eventually", DICED)
    assert progress(both, [held, diced]) == TRUE
    assert progress(HELD, []) is None
    assert progress(("and", HELD, ("eventually", DICED)), [diced]) is None
    assert progress(("next", HELD), []) == HELD
    assert progress(TRUE, [held]) == TRUE


def test_recipe_gives_the_instructions() -> None:
    facts = kitchen("leek", "plum")["triples"]
    assert instructions(facts) == ("and", ("eventually", HELD), ("eventually", DICED), MEAL)
    assert instructions(facts[:3]) is None


def test_an_instruction_stays_followed_when_its_fact_ends() -> None:
    learner = LtlGataLearner(LTL)
    first = learner.see(obs("cookbook | is on | table", "read cookbook"), "game")
    assert first.todo == ("eventually", ("fact", "cookbook", "is", "read"))
    known = learner.see(kitchen("leek", "plum"), "game", first, 0)
    assert known.todo == ("and", ("eventually", HELD), ("eventually", DICED), MEAL)
    taken = learner.see(obs("leek | is in | inventory", "eat leek"), "game", known, 0)
    eaten = learner.see(obs("leek | is | consumed", "wait"), "game", taken, 0)
    assert taken.todo == eaten.todo == ("and", ("eventually", DICED), MEAL)
    assert learner.unpack(json.loads(json.dumps(learner.pack(eaten)))) == eaten


def test_open_instructions_mark_their_things() -> None:
    learner = LtlGataLearner(LTL)
    learner.see(kitchen("leek", "plum"), "game")
    assert learner.marks_of("leek") == ["n todo is in inventory", "n todo is diced"]
    assert learner.marks_of("plum") == []
    names = learner.vocabulary.names
    assert {"n todo is in inventory", "n todo is diced"} <= set(names)


def test_the_bonus_comes_once_with_the_last_instruction() -> None:
    learner = LtlGataLearner(LTL)
    before = learner.see(kitchen("leek", "plum"), "game")
    after = learner.see(
        obs("leek | is in | inventory, leek | is | diced, meal | is in | inventory", "wait"),
        "game", before, 0,
    )  # fmt: skip
    assert after.todo == TRUE
    rewards = []
    for seen, next_seen in ((before, before), (before, after), (after, after)):
        learner.replay = type(learner.replay)(16)
        learner.observe(0, Experience(seen, 0, 0.5, next_seen, True, False))
        rewards.append(learner.replay.transitions[0].reward)
    assert rewards == [0.5, 1.5, 0.5]


def test_in_a_kitchen_the_planner_follows_all_instructions() -> None:
    """Cooking's own words: the formula gets shorter and ends as true with the meal."""
    pytest.importorskip("textworld")
    env = make_env("Cooking", memory="arigraph", level="rl-1", split="train")
    learner, planner = LtlGataLearner(LTL), make_policy("planner")
    found = []

    class Watched:
        seen = None

        def act(self, o: object, info: object) -> str:
            self.seen = learner.see(o, "", self.seen, 0)  # type: ignore[arg-type]
            found.append(self.seen.todo)
            return planner.act(o, info)  # type: ignore[arg-type]

    result = rollout(env, make_policy(Watched()), 0)  # type: ignore[arg-type]
    env.close()
    assert result.success
    assert found[0][0] == "eventually"
    lengths = [len(todo) for todo in found if todo[0] == "and"]
    assert len(lengths) >= 2
    assert lengths == sorted(lengths, reverse=True)
    assert found[-1] == TRUE


def test_training_resumes_and_plays(tmp_path: Path) -> None:
    def house(split: str) -> MemoryObservation:
        return MemoryObservation(FakeHouse(split=split, max_steps=25), memory="arigraph")

    for folder, steps in (("whole", 120), ("half", 60), ("half", 120)):
        how = TrainSettings(
            steps=steps, games=3, valid_games=1, envs=2, evaluate_every=60, checkpoint_every=60
        )
        learner = LtlGataLearner(dataclasses.replace(LTL, target_every=5, capacity=64), seed=0)
        Trainer(learner, LocalEnvs(house), how, tmp_path / folder, {"env": "FakeHouse"}).run()
    assert_same_training(tmp_path / "whole", tmp_path / "half")
    policy = make_policy(f"ltl-gata?checkpoint={tmp_path / 'whole'}")
    assert rollout(house("valid"), policy, seed=0).failed == ""
