"""The controls: ``oracle`` has true facts, the others random, false or only present ones."""

from __future__ import annotations

import random

import gymnasium as gym
import pytest

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Cue, Step, Task
from gym_memory.memory import make_memory
from gym_memory.memory.base import count_tokens
from gym_memory.testing.fake_env import FAKE_ID, FakeHouse

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


def test_oracle_has_the_true_facts_at_every_step() -> None:
    memory = make_memory("oracle")
    cue = walk(memory)  # asserts it step by step
    recalled = memory.recall(cue, 1000).triples
    assert "apple" in {fact.subject for fact in recalled}
    assert memory.stats().episodes == 31


def test_oracle_knows_from_the_start() -> None:
    memory, plain = make_memory("oracle"), make_memory("arigraph")
    assert len(memory.recall(walk(memory, 0), 1000).triples) > 20
    seen = plain.recall(walk(plain, 0), 1000).triples
    assert len(seen) <= 12
    assert {fact.subject for fact in seen} == {"you", "hall", "wooden door", "table"}
    assert [str(fact) for fact in seen if fact.subject == "table"] == ["table, is in, kitchen"]


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
    for name in ("arigraph", "shuffled", "present", "oracle"):
        env = gym.make(FAKE_ID, memory=name)
        env.reset(seed=0)
        memory = env.get_wrapper_attr("memory")
        assert (memory.oracle is not None) == (name == "oracle")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shuffled", "adversarial", "noise"])
@pytest.mark.parametrize("parameters", ["", "recall=semantic&encoder=hash"])
@pytest.mark.parametrize("budget", [40, 300, 2000])
def test_control_has_similar_size_and_other_content(name, parameters, budget) -> None:
    honest, control = (make_memory(f"{kind}?{parameters}" if parameters else kind)
                       for kind in ("arigraph", name))  # fmt: skip
    cue = walk(honest)
    assert walk(control) == cue
    one, other = honest.recall(cue, budget), control.recall(cue, budget)
    assert count_tokens(other.text) <= budget
    assert len(other.text) > 0.7 * len(one.text)
    if len(one.triples) > 5:
        assert one.triples != other.triples
    # What it learns is not touched, and nobody reaches it.
    assert control.state()["of"] == honest.state()
    assert control.graph is None


def test_shuffled_exchanges_rooms_for_rooms_and_states_for_states() -> None:
    honest, shuffled = make_memory("arigraph"), make_memory("shuffled")
    cue = walk(honest, 40)
    walk(shuffled, 40)
    places = {fact.object for fact in honest.graph.live() if fact.relation == "is in"}
    states = {fact.object for fact in honest.graph.live() if fact.relation == "is"}
    one, other = honest.recall(cue, 2000), shuffled.recall(cue, 2000)
    assert [fact[:2] for fact in one.triples] == [fact[:2] for fact in other.triples]
    for fact in other.triples:
        assert fact.relation != "is in" or fact.object in places
        assert fact.relation != "is" or fact.object in states


def test_shuffled_permutes_observations_like_facts() -> None:
    honest, shuffled = make_memory("arigraph?recent=0"), make_memory("shuffled?recent=0")
    cue = walk(honest, 40)
    walk(shuffled, 40)
    one, other = honest.recall(cue, 2000), shuffled.recall(cue, 2000)
    assert len(one.episodes) == len(other.episodes) > 0
    assert one.episodes != other.episodes


def test_noise_names_nothing_of_this_game() -> None:
    honest, noise = make_memory("arigraph"), make_memory("noise")
    cue = walk(honest)
    walk(noise)
    known = {name for fact in honest.graph.live() for name in (fact.subject, fact.object)}
    recalled = noise.recall(cue, 1000).triples
    assert len(recalled) > 5
    assert not known & {name for fact in recalled for name in (fact.subject, fact.object)}


def test_present_knows_only_the_last_step() -> None:
    memory = make_memory("present")
    memory.begin(TASK, 0)
    memory.observe(Step(0, "-= Hall =-\nYou are in a hall. You see a red key on the floor."))
    assert any(fact.subject == "red key" for fact in memory.graph.live())
    memory.observe(Step(1, "-= Kitchen =-\nYou are in a kitchen.", "go east"))
    assert memory.graph.value("you", "location").object == "kitchen"
    assert not any(fact.triple.subject == "red key" for fact in memory.graph.facts())
    assert memory.stats().episodes == 1


@pytest.mark.parametrize(("name", "offers"), [("arigraph", True), ("shuffled", False)])
def test_graph_behind_a_control_is_hidden(name: str, offers: bool) -> None:
    env = gym.make(FAKE_ID, memory=name, navigate=True)
    env.reset(seed=0)
    env.step("go west")
    obs, *_ = env.step("go east")
    assert any(action.startswith("go to ") for action in obs["valid_actions"]) is offers


def test_shuffled_depends_on_task_seed_and_step_only() -> None:
    def recall(steps: int = 20, seed: int = 0, task: str | None = None):
        memory = make_memory("shuffled")
        cue = walk(memory, steps, seed, task)
        return memory.recall(cue, 1000).triples

    assert recall() == recall()
    assert recall() != recall(seed=1)
    assert recall() != recall(task="another")
