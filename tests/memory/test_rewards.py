"""The reward of a step is shown to every memory, or to none."""

from __future__ import annotations

import pytest

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.core.names import Spec
from gym_memory.core.records import Cue, Observation, Oracle, Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.memory.base import Memory, make_memory
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers import MemoryObservation
from gym_memory.wrappers.make import make_env

TASK = Task("house/0", "Tidy up.")
PUT = "put red apple on white shelf"
STEPS = [
    Step(0, "-= Hall =-\nYou see a white shelf. There is a red apple on the floor."),
    Step(1, "You pick up the red apple.", "take red apple"),
    Step(2, "You put the red apple on the white shelf.", PUT, 1.0),
    Step(3, "Time passes.", "wait"),
]
BELONGS = Triple("red apple", "belongs on", "white shelf")


def taught(spec: str, steps: list[Step]) -> tuple[Memory, Cue]:
    memory = make_memory(spec)
    memory.begin(TASK, 0)
    for step in steps:
        seen = memory.admit(step, TASK.goal)
        memory.observe(seen)
    return memory, Cue(seen.text, TASK.goal)


def believed(spec: str, steps: list[Step]) -> bool:
    memory, cue = taught(spec, steps)
    recall = memory.recall(cue, 1000)
    obs = Observation(
        text=steps[-1].text,
        task=TASK.goal,
        inventory="",
        valid_actions=(),
        memory=recall.text,
        triples=recall.triples,
        episodes=recall.episodes,
        lessons=recall.lessons,
    )
    return BELONGS in Beliefs(obs, get_extractor(TASK.dialect), TASK).graph


MEMORIES = ["history", "arigraph", "summary", "stma", "rag", "fusion?of=history%2Brag"]


@pytest.mark.parametrize("memory", MEMORIES)
def test_shown_rewards_become_facts(memory: str) -> None:
    assert believed(memory, STEPS)
    joined = "&" if "?" in memory else "?"
    assert not believed(f"{memory}{joined}rewards=hidden", STEPS)


def test_transcript_shows_reward_of_present_step() -> None:
    assert believed("history", STEPS[:3])
    memory, cue = taught("history", STEPS[:3])
    assert memory.recall(cue, 1000).text.endswith(f"> {PUT}\n(+1)")


@pytest.mark.parametrize("name", ["history", "arigraph", "reflexion", "amem", "stma"])
def test_hidden_reward_leaves_the_state_of_none(name: str) -> None:
    bare = [step._replace(reward=0.0) for step in STEPS]
    hidden = taught(f"{name}?rewards=hidden", STEPS)[0].state()
    assert hidden == taught(name, bare)[0].state()


def test_admitted_step_is_admitted_again_unchanged() -> None:
    memory = make_memory("history")
    once = memory.admit(STEPS[2], TASK.goal)
    assert once.text.endswith("\n(+1)")
    assert memory.admit(once, TASK.goal) == once


def test_reward_line_of_the_game_is_quoted() -> None:
    seen = make_memory("history").admit(Step(1, "A note.\n(+5)", "wait"), TASK.goal)
    assert seen.text == "A note.\n| (+5)"


def test_oracle_knows_praised_actions_under_any_budget() -> None:
    shelf, other = Triple("white shelf", "is in", "hall"), Triple("pear", "is in", "hall")
    memory = make_memory("oracle")
    memory.oracle = lambda: Oracle(frozenset([shelf, other]), objects={"praised": (BELONGS,)})
    memory.begin(TASK, 0)
    memory.observe(STEPS[0])
    recalled = memory.recall(Cue("Where does the red apple belong?", TASK.goal), 1).triples
    assert {BELONGS, shelf, other} <= set(recalled)


@pytest.mark.parametrize(("setting", "earned"), [("", 1.0), ("&rewards=hidden", 0.0)])
def test_info_has_the_reward_that_memory_sees(setting: str, earned: float) -> None:
    env = MemoryObservation(FakeHouse(), f"notes?free=1{setting}")
    assert env.reset(seed=1)[1]["earned"] == 0
    reward, way = 0.0, iter(env.get_wrapper_attr("oracle")().walkthrough)
    while not reward:
        _, reward, _, _, info = env.step(next(way))
    assert info["earned"] == earned
    paid = env.snapshot()
    noted = env.step("note: this pays")[4]
    assert noted["written"].free
    assert noted["earned"] == env.step("look")[4]["earned"] == 0
    assert env.restore(paid)[1]["earned"] == earned


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "said"),
    [("Cooking?level=rl-4", True), ("TreasureHunt?level=voices-easy", True), ("Cleaning", False)],
)
def test_text_of_cooking_and_hunts_mentions_each_gain(game: str, said: bool) -> None:
    name, settings = Spec(game).parts
    env = make_env(name, memory="none", **settings)
    gains = []
    for seed in range(3):
        env.reset(seed=seed)
        for action in env.get_wrapper_attr("oracle")().walkthrough:
            obs, reward, _, _, _ = env.step(action)
            if reward:
                gains.append("Your score has just gone up" in obs["text"])
    env.close()
    assert len(gains) > 5
    assert set(gains) == {said}
