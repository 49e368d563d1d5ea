"""The controls: ``oracle`` knows what is true, ``shuffled`` says nothing at the same price."""

from __future__ import annotations

import random
from collections import Counter

import gymnasium as gym
import pytest
from fake_env import FAKE_ID, FakeHouse

from gym_memory.errors import InvalidArgumentError
from gym_memory.memory import make_memory
from gym_memory.tokens import count_tokens
from gym_memory.types import Cue, Step, Task

TASK = Task("house/0", "Find the golden key.", "textworld")


def walk(memory, steps: int = 30, seed: int = 0, task: str | None = None) -> Cue:
    env, rng = FakeHouse(max_steps=10_000), random.Random(5)
    if memory.uses_oracle:
        memory.oracle = env.oracle
    obs, info = env.reset(seed=0)
    memory.begin(Task(task or info["task_id"], obs["task"], env.dialect), seed)
    memory.observe(Step(0, obs["text"], "", 0.0, obs["inventory"], obs["valid_actions"]))
    for t in range(1, steps + 1):
        action = rng.choice(
            [a for a in env.valid_actions() if "eat" not in a and not a.endswith("on table")]
        )
        obs, reward, *_ = env.step(action)
        memory.observe(Step(t, obs["text"], action, reward, obs["inventory"], ()))
        if memory.uses_oracle:
            assert set(memory.graph.live()) == set(env.oracle().facts)
    return Cue(obs["text"], obs["task"], obs["inventory"], obs["valid_actions"])


def test_oracle_holds_what_is_true_at_every_step() -> None:
    memory = make_memory("oracle")
    cue = walk(memory)  # asserts it step by step
    recalled = memory.recall(cue, 1000).triples
    assert "apple" in {fact.subject for fact in recalled}
    assert memory.stats().episodes == 31


def test_oracle_knows_from_the_start() -> None:
    memory, plain = make_memory("oracle"), make_memory("arigraph")
    assert len(memory.recall(walk(memory, 0), 1000).triples) > 20
    assert len(plain.recall(walk(plain, 0), 1000).triples) < 12


def test_oracle_remembers_when_things_changed() -> None:
    memory = make_memory("oracle")
    walk(memory, 30)
    graph = memory.graph
    assert any(len(fact.intervals) > 1 for fact in graph.facts())
    assert {fact.retired_by for fact in graph.facts()} <= {"", "oracle", "schema"}


def test_oracle_without_an_engine() -> None:
    memory = make_memory("oracle")
    memory.begin(TASK, 0)
    with pytest.raises(InvalidArgumentError, match="oracle"):
        memory.observe(Step(0, "A hall."))


def test_only_the_oracle_is_given_the_engine() -> None:
    for name in ("arigraph", "shuffled", "oracle"):
        env = gym.make(FAKE_ID, memory=name)
        env.reset(seed=0)
        memory = env.get_wrapper_attr("memory")
        assert (memory.oracle is not None) == (name == "oracle")


@pytest.mark.parametrize("parameters", ["", "recall=semantic&encoder=hash"])
@pytest.mark.parametrize("budget", [40, 300, 2000])
def test_shuffled_costs_the_same_and_says_something_else(parameters, budget) -> None:
    honest, placebo = (make_memory(f"{name}?{parameters}") if parameters else make_memory(name)
                       for name in ("arigraph", "shuffled"))  # fmt: skip
    cue = walk(honest)
    assert walk(placebo) == cue
    one, other = honest.recall(cue, budget), placebo.recall(cue, budget)
    assert len(one.text) == len(other.text)
    assert placebo.stats().tokens == count_tokens(other.text)
    assert one.episodes == other.episodes
    assert [f[:2] for f in one.triples] == [f[:2] for f in other.triples]
    assert Counter(f.object for f in one.triples) == Counter(f.object for f in other.triples)
    if len(one.triples) > 5:
        assert one.triples != other.triples
    # What it learns is not touched.
    assert list(honest.graph.live()) == list(placebo.graph.live())


def test_shuffled_is_chance_on_average() -> None:
    """Over many recalls a fact is kept about as often as a draw among the objects keeps it."""
    kept, expected = 0, 0.0
    for seed in range(60):
        memory = make_memory("shuffled")
        cue = walk(memory, 25, seed)
        honest = make_memory("arigraph")
        walk(honest, 25, seed)
        one, other = honest.recall(cue, 1000).triples, memory.recall(cue, 1000).triples
        kept += sum(a == b for a, b in zip(one, other, strict=True))
        counts = Counter(fact.object for fact in one)
        expected += sum(n * n for n in counts.values()) / len(one)
    assert 0.7 * expected < kept < 1.3 * expected


def test_shuffled_depends_on_task_seed_and_step_only() -> None:
    def recall(steps: int = 20, seed: int = 0, task: str | None = None):
        memory = make_memory("shuffled")
        cue = walk(memory, steps, seed, task)
        return memory.recall(cue, 1000).triples

    assert recall() == recall()
    assert recall() != recall(seed=1)
    assert recall() != recall(task="another")
