"""The scripted shopper: its purchases with each memory, and its lack of own state."""

from __future__ import annotations

import gymnasium as gym
import pytest
from heirs import heirs_go_on_as_the_first_would

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rules.webshop import Shopper
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.run import rollout

pytest.importorskip("bm25s")
pytest.importorskip("rapidfuzz")

REQUESTS = 12


def make(memory, **kwargs):
    return gym.make("gym_memory/WebShop-v0", memory=memory, split="valid", **kwargs)


def play(memory, policy=None, **kwargs):
    env = make(memory, **kwargs)
    results = [rollout(env, policy or Shopper(), seed) for seed in range(REQUESTS)]
    env.close()
    assert not any(result.n_invalid for result in results)
    return results


def mean(results, field):
    return sum(getattr(result, field) for result in results) / len(results)


@pytest.mark.slow
def test_memory_improves_purchases():
    scores, wins = {}, {}
    for memory in ("none", "arigraph", "oracle"):
        results = play(memory)
        scores[memory], wins[memory] = mean(results, "score"), mean(results, "success")
    assert scores["none"] + 0.05 < scores["arigraph"] <= scores["oracle"]
    assert wins["none"] + 0.25 < wins["arigraph"]
    assert scores["arigraph"] >= 0.9
    assert wins["oracle"] == 1.0


@pytest.mark.slow
def test_complete_transcript_is_as_good_as_the_graph():
    """The same rules read both, so that the comparison is about the contents."""
    whole = play("history", budget=100_000)
    graph = play("arigraph", budget=100_000)
    assert [(r.score, r.steps) for r in whole] == [(r.score, r.steps) for r in graph]


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["rag", "shuffled", "summary", "stma", "placebo"])
def test_shopper_buys_with_any_memory(memory):
    results = play(memory)
    assert mean(results, "score") > 0.4


@pytest.mark.parametrize("seed", range(3))
def test_shopper_keeps_only_its_plan(seed):
    heirs_go_on_as_the_first_would(make("arigraph"), Shopper, seed, longest=200)


def test_same_seed_gives_the_same_purchases():
    assert [(r.score, r.steps) for r in play("none")] == [(r.score, r.steps) for r in play("none")]


@pytest.mark.slow
def test_patience_limits_the_products_read():
    hasty, thorough = (play("arigraph", Shopper(patience=n)) for n in (1, 16))
    assert mean(hasty, "steps") < mean(thorough, "steps")
    assert mean(hasty, "score") < mean(thorough, "score")


@pytest.mark.slow
def test_further_searches_find_other_products():
    one, three = (
        play("arigraph", Shopper(patience=60, pages=1, searches=n), budget=100_000) for n in (1, 3)
    )
    assert mean(one, "steps") < mean(three, "steps")
    assert mean(one, "score") < mean(three, "score")


@pytest.mark.parametrize("name", ["patience", "pages", "searches"])
@pytest.mark.parametrize("value", [0, True, "3", 1.5])
def test_bad_arguments_are_named(name, value):
    with pytest.raises(InvalidArgumentError, match=name):
        Shopper(**{name: value})


def test_shopper_is_registered():
    assert make_policy("shopper?patience=4").patience == 4


@pytest.mark.parametrize("text", ["", "[SEP]", "\N{RED APPLE}", "Page 1 (Total results: x)"])
def test_odd_observations_do_no_harm(text):
    obs = {
        "text": text, "task": "", "inventory": "", "valid_actions": (), "memory": "[step 1] > x",
        "triples": (), "episodes": (), "lessons": (),
    }  # fmt: skip
    shopper = Shopper()
    shopper.reset({}, 0)
    assert shopper.act(obs, {}).startswith("search[")
