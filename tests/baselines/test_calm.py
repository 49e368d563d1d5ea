"""CALM: proposals by rule and by a model, the DRRN's choice, hidden actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.llm.calm import Calm
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation, Transition
from gym_memory.llm import Reply
from gym_memory.run import rollout
from gym_memory.testing.chat import ScriptedServer
from gym_memory.testing.fake_env import FAKE_ID

pytest.importorskip("torch")
pytestmark = pytest.mark.slow


def shown(text: str, *actions: str, **fields: Any) -> Observation:
    empty: dict[str, Any] = {
        "task": "Find the key.", "inventory": "", "memory": "", "triples": (),
        "episodes": (), "lessons": (), "valid_actions": actions,
    }  # fmt: skip
    return Observation(**{"text": text, **empty, **fields})  # type: ignore[typeddict-item]


class Says:
    """A model that always gives the same answer."""

    def __init__(self, text: str):
        self.text = text

    def complete(self, request: Any) -> Reply:
        return Reply(self.text)


def ready(**settings: Any) -> Calm:
    policy = Calm(**settings)
    policy.reset({"task_id": "game"}, 0)
    return policy


def test_worked_example_of_the_rule() -> None:
    """Forms of earlier lists are filled with things in sight if nothing is listed."""
    policy = ready(k=100)
    policy.propose(shown("A hall.", "unlock chest with key", "sing"))
    found = policy.propose(shown("A cellar leads east. You see a lamp and a rusty key here."))
    assert {"take rusty key", "open lamp", "unlock lamp with rusty key", "sing"} <= set(found)
    assert {"go east"} == {action for action in found if action.startswith("go ")}
    assert found.index("take rusty key") < found.index("take lamp")  # the task names a key
    assert len(found) == len(set(found))
    assert not [action for action in found if "<>" in action]


def test_recall_holds_at_most_k_with_ineffective_actions_last() -> None:
    hall = shown("A hall.", "wave", "sing", "dance")
    policy = ready(k=2)
    assert policy.propose(hall) == ["wave", "sing"]
    policy.act(hall, {})
    policy.update(Transition(hall, "wave", 0.0, hall, False, False, {"moves": 1}))
    assert policy.propose(hall) == ["sing", "dance"]
    with pytest.raises(InvalidArgumentError, match="k"):
        Calm(k=0)


def test_valid_actions_filter_the_proposals_of_a_model() -> None:
    policy = ready(llm=Says("1. Take the lamp.\n2. fly\n- look\nlook"))
    assert policy.propose(shown("A hall.", "look", "take lamp", "wait")) == ["take lamp", "look"]
    assert policy.propose(shown("A hall.")) == ["Take the lamp.", "fly", "look"]
    assert policy.counters()["fallbacks"] == 0
    useless = ready(llm=Says("fly"))
    assert useless.propose(shown("A hall.", "look")) == ["look"]
    assert useless.counters()["fallbacks"] == 1


def test_drrn_learns_which_proposal_is_rewarded() -> None:
    """Red pays one point, blue none: one step a game, so Q is the reward."""
    policy = ready(llm=Says("pull red lever\npull blue lever"))
    hall, end = shown("A hall with two levers."), shown("The end.")
    pulled = []
    for seed in range(200):
        policy.reset({"task_id": "levers"}, seed)
        pulled.append(policy.act(hall, {}))
        reward = 5.0 * (pulled[-1] == "pull red lever")
        policy.update(Transition(hall, pulled[-1], reward, end, True, False, {"moves": 1}))
    offered = {**hall, "valid_actions": tuple(policy.propose(hall))}
    (values,) = policy.learner.values([policy.learner.see(offered, "levers")])
    assert values[0] > 0.5 > 0.3 > values[1]  # rewards are clipped to 1
    assert "pull blue lever" in pulled[:40]
    assert pulled[-20:].count("pull red lever") >= 18


def test_a_trained_drrn_takes_its_best_proposal(tmp_path: Path) -> None:
    from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings

    learner = DrrnLearner(DrrnSettings(dim=8, hidden=8, vocabulary=64), seed=1)
    learner.see(shown("A hall.", "take key", "look", "go east"), "game")
    learner.save(tmp_path / "best.safetensors", {})
    policy = ready(checkpoint=str(tmp_path / "best.safetensors"))
    hall = shown("A hall.", "take key", "look", "go east")
    action = policy.act(hall, {})
    offered = policy.propose(hall)
    (values,) = learner.values([learner.see({**hall, "valid_actions": tuple(offered)})])
    assert action == offered[int(np.argmax(np.round(values, 4)))]
    policy.update(Transition(hall, action, 1.0, hall, False, False, {"moves": 1}))
    assert policy.learner.steps == 0


@pytest.mark.parametrize("listed", [True, False])
def test_calm_plays_with_and_without_listed_actions(listed: bool, server: ScriptedServer) -> None:
    def play(spec: str, seed: int = 0) -> Any:
        env = gym.make(FAKE_ID, memory="arigraph", valid_actions=listed)
        return rollout(env, make_policy(spec), 0, policy_seed=seed, limit=30)

    model = Spec.of("calm", {"llm": f"openai?model=scripted&base_url={server.base_url}"})
    actions = []
    for spec in ("calm", model):
        first, again = play(spec), play(spec)
        assert first.failed == ""
        assert first.steps == 30 or first.success
        assert (first.score, first.n_invalid) == (again.score, again.n_invalid)
        assert first.counters["fallbacks"] == 0
        actions.append(first.counters.get("llm_calls", 0))
        assert listed <= (first.n_invalid == 0)
    assert actions[0] == 0 < actions[1]
