"""SayCan: likelihood times affordance, by the paper's equation, a rule, a model and a DRRN."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_memory.baselines.llm.saycan import Affordances, SayCan, overlap
from gym_memory.core.errors import CheckpointError, ModelError
from gym_memory.core.records import Observation, Transition
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FAKE_ID

pytestmark = pytest.mark.slow


def shown(text: str = "A kitchen.", *actions: str, **fields: Any) -> Observation:
    empty: dict[str, Any] = {
        "task": "Take the red key.", "inventory": "", "memory": "", "triples": (),
        "episodes": (), "lessons": (), "valid_actions": actions,
    }  # fmt: skip
    return Observation(**{"text": text, **empty, **fields})  # type: ignore[typeddict-item]


def step(before: Observation, action: str, after: str, reward: float = 0.0, **more: Any) -> Any:
    fields = {"terminated": False, "truncated": False, "info": {"moves": 1}, **more}
    return Transition(before, action, reward, shown(after), **fields)


class Scorer:
    """A model whose likelihoods are given."""

    def __init__(self, **likelihoods: float):
        self.likelihoods = likelihoods

    def score(self, messages: Any, continuations: Any) -> list[float]:
        if not self.likelihoods:
            raise ModelError("connection", "away")
        return [float(np.log(self.likelihoods[action])) for action in continuations]


def test_worked_example() -> None:
    """The likelier action loses once it has failed twice: 0.6 x 1/4 < 0.4 x 1/2."""
    policy = SayCan(llm=Scorer(sing=0.6, dance=0.4))
    hall, kitchen = shown("A hall."), shown("A kitchen.", "sing", "dance")
    assert policy.act(kitchen, {}) == "sing"
    policy.update(step(hall, "sing", "A hall."))
    policy.update(step(hall, "sing", "A hall."))
    assert policy.affordances(kitchen) == pytest.approx([1 / 4, 1 / 2])
    assert np.exp(policy.scores(kitchen)) == pytest.approx([0.6 / 4, 0.4 / 2])
    assert policy.act(kitchen, {}) == "dance"


@pytest.mark.parametrize(
    ("won", "after", "reward", "ended"),
    [
        (True, "A garden.", 0, False), (True, "A hall.", 1, False), (True, "You won.", 1, True),
        (False, "A hall.", 0, False), (False, "You die.", 0, True), (False, "A pit.", -1, False),
    ],
)  # fmt: skip
def test_success_is_points_or_new_state_without_a_loss(
    won: bool, after: str, reward: float, ended: bool
) -> None:
    learnt = Affordances()
    learnt.add(step(shown("A hall."), "wave", after, reward, terminated=ended))
    assert learnt.of(shown("A cellar."), "wave") == pytest.approx(2 / 3 if won else 1 / 3)


def test_state_is_forgotten_with_episode_and_form_is_not() -> None:
    learnt = Affordances()
    hall = shown("A hall.")
    for _ in range(2):
        learnt.add(step(hall, "take red apple from the table", "A hall."))
    assert learnt.of(hall, "take red apple from the table") == pytest.approx((1 / 4) / (1 + 2))
    assert learnt.of(hall, "take knife from shelf") == pytest.approx(1 / 4)
    assert learnt.of(hall, "take knife") == pytest.approx(1 / 2)
    learnt.begin()
    assert learnt.of(hall, "take red apple from the table") == pytest.approx(1 / 4)


def test_the_rule_counts_the_sources_that_hold_each_word() -> None:
    seen = shown(
        "A kitchen.", "dice carrot", "eat carrot", "look", lessons=("Eat nothing.",),
        memory="carrot, needs to be, diced", task="Cook.",
    )  # fmt: skip
    weights = np.array([1 + 2 / 2, 1 + 2 / 2, 1])
    assert np.exp(overlap(seen)) == pytest.approx(weights / weights.sum())


def test_rule_plays_without_a_model() -> None:
    results = [rollout(gym.make(FAKE_ID, memory="arigraph"), SayCan(), 0) for _ in range(2)]
    assert results[0].failed == ""
    assert results[0].n_invalid == 0
    assert results[0].score == results[1].score > 0


def test_unreachable_model_is_a_counted_fallback() -> None:
    policy = SayCan(llm=Scorer())
    assert policy.act(shown("A hall.", "look"), {}) == "look"
    assert policy.act(shown("A hall."), {}) == "look"
    assert policy.counters()["fallbacks"] == 1


def test_a_trained_drrn_gives_the_affordances(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings

    learner = DrrnLearner(DrrnSettings(dim=8, hidden=8, vocabulary=64), seed=1)
    learner.save(tmp_path / "best.safetensors", {})
    policy = SayCan(value=str(tmp_path / "best.safetensors"))
    seen = shown("A hall.", "take key", "look", "go east")
    (values,) = learner.values([learner.see(seen)])
    expected = np.maximum(values, 1e-3)
    assert policy.affordances(seen) == pytest.approx(expected)
    assert policy.scores(seen) == pytest.approx(overlap(seen) + np.log(expected), rel=1e-4)
    with pytest.raises(CheckpointError):
        SayCan(value=str(tmp_path / "absent"))
