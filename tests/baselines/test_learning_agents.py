"""Agents that learn between episodes, over HTTP: LDM2, CLIN and Reflexion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gym_memory.baselines.llm.clin as clin_module
from gym_memory.baselines.base import make_policy
from gym_memory.baselines.llm.clin import Clin
from gym_memory.baselines.llm.ldm2 import Ldm2
from gym_memory.baselines.scripted import Walkthrough
from gym_memory.core.errors import InvalidArgumentError, MissingDependencyError
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation
from gym_memory.core.trajectory import read_trajectory
from gym_memory.llm import Reply, Request
from gym_memory.llm.base import validate
from gym_memory.llm.client import OpenAIChat
from gym_memory.memory.encoders import DEFAULT_MODEL, make_encoder
from gym_memory.memory.ldm2.memory import LDM2
from gym_memory.run import EpisodeResult, rollout
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.play import play_job
from gym_memory.testing.chat import FAULTS, Faults, ScriptedServer
from gym_memory.testing.chat.analogy import analogies, read_examples, read_present
from gym_memory.testing.fake_env import FAKE_ID
from gym_memory.wrappers import RecordTrajectory

pytestmark = pytest.mark.slow

AGENTS = ("clin", "ldm2", "reflexion")


def agent(name: str, server: ScriptedServer, **model: Any) -> str:
    llm = {"model": "scripted", "base_url": server.base_url, "retries": 0, **model}
    light = {"encoder": "hash"} if name == "clin" else {}  # weights take seconds to load
    return Spec.of(name, {"llm": Spec.of("openai", llm), **light})


def played(env: str, memory: str, policy: str, seed: int, protocol: str) -> list[EpisodeResult]:
    results = [row.result for row in play_job(Job(env, memory, policy, seed, protocol, 2000))]
    assert not any(result.failed for result in results)
    return results


class PreparedModel:
    """A chat model that gives prepared answers in turn and keeps its prompts."""

    name = "told"

    def __init__(self, *lines: str):
        self.lines = list(lines)

    def complete(self, request: Request) -> Reply:
        text = self.lines.pop(0)
        return Reply(text, parsed=request.schema and validate(text, request.schema))


def shown(**fields: Any) -> Observation:
    empty: dict[str, Any] = {
        "text": "A hall.", "task": "Find the key.", "inventory": "", "memory": "",
        "valid_actions": ("take red key", "open wooden door", "go north"),
        "triples": (), "episodes": (), "lessons": (),
    }  # fmt: skip
    return Observation(**{**empty, **fields})  # type: ignore[typeddict-item]


# ---------------------------------------------------------------- LDM2


@pytest.fixture(scope="module")
def demonstrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return walkthroughs of twenty training games."""
    path = tmp_path_factory.mktemp("demos") / "rl-2.jsonl.gz"
    env = RecordTrajectory(
        gym.make("gym_memory/Cooking-v0", level="rl-2", split="train", memory="none"), str(path)
    )
    for seed in range(20):
        rollout(env, Walkthrough(), seed)
    env.close()
    return path


def test_examples_transfer_to_unseen_games(demonstrations: Path, server: ScriptedServer) -> None:
    """Foods and preparations of the test split are others; without examples it plays by chance."""
    env, policy = "Cooking?level=rl-2&split=test&max_steps=30", agent("ldm2", server)
    taught, untaught = (
        [played(env, memory, policy, seed, "single_episode")[0] for seed in range(5)]
        for memory in (f"ldm2?store={demonstrations}", "none")
    )
    assert sum(result.success for result in taught) >= 4
    assert sum(result.success for result in untaught) == 0
    for result in taught:
        assert result.counters["fallbacks"] == result.counters["invalid_actions"] == 0
        assert result.counters["llm_calls"] == result.steps


EXAMPLE = """Examples of what was done in situations like this one:
1. Subgoal 1: dice the red potato - complete
Subgoal 2: fry the red potato - incomplete
Subgoal 3: prepare meal - incomplete
Summary: take red potato from counter, dice red potato with knife
Observation: You dice the red potato.
Action: cook red potato with stove
So far in this task:
Subgoal 1: slice the carrot - complete
Subgoal 2: roast the white onion - incomplete
Subgoal 3: fry the carrot - incomplete
Summary: slice carrot with knife"""


def test_analogy_matches_things_in_the_same_state() -> None:
    examples = read_examples(EXAMPLE)
    assert [example.action for example in examples] == [("cook", "red", "potato", "with", "stove")]
    possible = ["look", "cook carrot with oven", "cook carrot with stove",
                "cook white onion with stove", "eat carrot"]  # fmt: skip
    worth = analogies(examples, read_present(EXAMPLE, "You slice the carrot."), possible)
    assert max(worth, key=worth.__getitem__) == "cook carrot with stove"
    assert "look" not in worth
    assert "eat carrot" not in worth
    present = read_present(EXAMPLE, "You slice the carrot.")
    tried = analogies(examples, present, possible, ["cook carrot with stove"])
    assert tried["cook carrot with stove"] < worth["cook carrot with stove"]


@given(st.text(), st.lists(st.text("ab 1.:-\n"), max_size=4))
def test_any_memory_can_be_read_for_examples(memory: str, possible: list[str]) -> None:
    examples = read_examples(memory + "\n1. Summary: x\nObservation: y\nAction: z\n" + memory)
    worth = analogies(examples, read_present(memory, memory), possible)
    assert worth.keys() <= set(possible)


def test_examples_agree_whatever_the_names_of_things() -> None:
    policy = Ldm2(PreparedModel())
    names = ("red key", "tin key", "oak box", "old map")
    lessons = [f"{n}. Observation: x\nAction: take {name}" for n, name in enumerate(names, 1)]
    assert not policy.disagree(shown(lessons=tuple(lessons), valid_actions=("take sword", "look")))
    lessons[0] = lessons[0].replace("take red key", "look")
    assert policy.disagree(shown(lessons=tuple(lessons), valid_actions=("take sword", "look")))
    assert Ldm2(PreparedModel(), agreement=0.7).settings.agreement == 0.7
    assert not Ldm2(PreparedModel(), agreement=0.7).disagree(
        shown(lessons=tuple(lessons), valid_actions=("take sword", "look"))
    )
    assert policy.disagree(shown()), "nobody knows better"
    with pytest.raises(InvalidArgumentError, match="agreement"):
        Ldm2(PreparedModel(), agreement=2)


def test_candidates_come_best_first() -> None:
    answers = {"actions": [{"action": "go north", "confidence": 0.2},
                        {"action": "take red key", "confidence": 0.7}]}  # fmt: skip
    policy = Ldm2(PreparedModel(json.dumps(answers), "nonsense", "nonsense"))
    policy.reset({}, 0)
    assert list(policy.candidates(shown())) == ["take red key", "go north"]
    (stand_in,) = policy.candidates(shown()).items()
    assert stand_in[0] in shown()["valid_actions"]
    assert stand_in[1] == 1.0
    assert policy.counters()["fallbacks"] == 1


# ---------------------------------------------------------------- CLIN


def test_clin_improves_over_trials(server: ScriptedServer) -> None:
    env, policy = "TreasureHunt?level=easy&max_steps=30", agent("clin", server)
    scores = {
        memory: [r.normalized for r in played(env, memory, policy, 1, "trials?k=3")]
        for memory in ("clin", "none")
    }
    assert scores["clin"][0] < scores["clin"][2] == 1.0
    assert scores["none"] == [scores["clin"][0]] * 3


def test_the_executor_compares_meanings() -> None:
    """Match exactly, then by similarity above 0.9; else give the reason and ask again."""
    try:
        make_encoder(DEFAULT_MODEL).encode(["a"])
    except MissingDependencyError as missing:
        pytest.skip(str(missing))
    goal = '{"learnings": [], "goal": "get the key"}'
    model = PreparedModel(
        goal, "Go north.", goal, "taking the red key", goal, "sing", "take red key"
    )
    policy = Clin(model, encoder=DEFAULT_MODEL)
    policy.reset({}, 0)
    assert [policy.act(shown(), {}) for _ in range(3)] == [
        "go north", "take red key", "take red key",
    ]  # fmt: skip
    assert policy.counters() == {"fallbacks": 0, "invalid_actions": 1, "similar_actions": 1}


def test_without_weights_words_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def absent(name: str) -> Any:
        made.append(name)
        if name == DEFAULT_MODEL:
            raise MissingDependencyError("sentence_transformers", "offline", "encoding")
        return make_encoder(name)

    monkeypatch.setattr(clin_module, "make_encoder", absent)
    clin_module.usual_encoder.cache_clear()
    try:
        goal = '{"learnings": [], "goal": "leave"}'
        policy = Clin(PreparedModel(goal, "open up wooden door", goal, "open up wooden door"))
        policy.reset({}, 0)
        for _ in range(2):
            assert policy.act(shown(), {}) == "open wooden door"
    finally:
        clin_module.usual_encoder.cache_clear()
    assert made == [DEFAULT_MODEL, "hash"], "looked for once"
    policy = Clin(PreparedModel(goal, "open up wooden door"), encoder=DEFAULT_MODEL)
    policy.reset({}, 0)
    with pytest.raises(MissingDependencyError):  # who names an encoder wants that one
        policy.act(shown(), {})


# ---------------------------------------------------------------- when the model fails


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_every_episode_is_accounted_for_under_every_fault(fault: str, tmp_path: Path) -> None:
    """Wrong keys and spent quotas fail an episode; nothing else does."""
    with ScriptedServer(faults=Faults(rates={fault: 0.5}, seed=2)) as server:
        quick = {"timeout": 0.2} if fault == "timeout" else {}
        policies = tuple(agent(name, server, **quick) for name in AGENTS)
        memory = Spec.of(
            "clin", {"llm": Spec.of("openai", {
                "model": "scripted", "base_url": server.base_url, "retries": 0, **quick,
            })}
        )  # fmt: skip
        config = RunConfig(
            ("FakeHouse?max_steps=2",), (memory,), policies, (0,), protocol="trials?k=2"
        )
        if fault == "slow":
            config = RunConfig(("FakeHouse?max_steps=1",), ("none",), policies[1:2], (0,))
        rows = [row for job in config.jobs() for row in play_job(job)]
    fatal = fault in ("401", "quota")
    for job in config.jobs():
        mine = [row.result for row in rows if row.job == job]
        assert mine
        assert all(not result.failed for result in mine[:-1])
        if mine[-1].failed:
            assert fatal
            assert mine[-1].failed.partition(":")[0] in ("ModelSetupError", "BudgetExceededError")
        else:
            assert len(mine) == (1 if fault == "slow" else 2)
            assert all(result.n_invalid == 0 and result.steps for result in mine)
    if fatal:
        assert any(row.result.failed for row in rows)
    elif fault != "slow":
        counted = ("fallbacks", "invalid_actions", "llm_failures")
        assert sum(row.result.counters.get(name, 0) for row in rows for name in counted) > 0


def test_policy_is_restored_exactly(server: ScriptedServer) -> None:
    """The prompt after a restore equals that at the snapshot."""
    env = gym.make(FAKE_ID, memory="none", max_steps=6)
    policy = make_policy(agent("ldm2", server))
    assert isinstance(policy, Ldm2)
    rollout(env, policy, 0, limit=3)
    seen = shown()
    saved, asked = policy.snapshot(), policy.situation(seen)
    rollout(env, policy, 1, limit=2)
    assert policy.situation(seen) != asked
    policy.restore(saved)
    assert policy.situation(seen) == asked
    assert isinstance(policy.llm, OpenAIChat)


def test_the_recorded_walkthroughs_form_the_memory(demonstrations: Path) -> None:
    memory = LDM2(store=str(demonstrations))
    actions = sum(len(t.steps) - 1 for t in read_trajectory(demonstrations))
    assert 0 < memory.stats().lessons <= actions
