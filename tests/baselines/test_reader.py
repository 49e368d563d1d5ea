"""Policies that answer questions: the reader by rules, the answerer by a model over real HTTP."""

from __future__ import annotations

import functools
from typing import Any

import gymnasium as gym
import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.llm.answerer import Answerer
from gym_memory.baselines.rules.qa import (
    Evidence,
    Reader,
    answer_to,
    bridge_from,
    evidence_in,
)
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec
from gym_memory.llm.client import OpenAIChat
from gym_memory.run import rollout
from gym_memory.run.config import Job
from gym_memory.run.play import play_job
from gym_memory.testing.chat import Faults, ScriptedServer

GRAPH = "arigraph?recall=semantic&encoder=hash&recent=0&episodes=5&episodic_score=relevance"
HARBOUR = Evidence("Violet Harbour", ("It is a port in Oun.", "It was designed by Ada Quill."))
QUILL = Evidence("Ada Quill", ("Ada Quill was an engineer.", "She studied in Port Lamb in 1690."))
VENN = Evidence("Otto Venn", ("Otto Venn (born 1702) was a singer from Tarm.",))
OLDER = Evidence("Ina Venn", ("Ina Venn (born 1699) was a singer and painter.",))


# ---------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("question", "evidence", "answer"),
    [
        ("Who designed Violet Harbour?", [HARBOUR, VENN], "Ada Quill"),
        ("Where did the designer of Violet Harbour study?", [HARBOUR, QUILL, VENN], "Port Lamb"),
        ("In which year did the designer of Violet Harbour study?", [HARBOUR, QUILL], "1690"),
        ("Who was born first, Otto Venn or Ina Venn?", [VENN, OLDER], "Ina Venn"),
        ("Who was born later, Otto Venn or Ina Venn?", [VENN, OLDER], "Otto Venn"),
        ("Was Otto Venn born before Ina Venn?", [VENN, OLDER], "no"),
        ("Were Otto Venn and Ina Venn both singers?", [VENN, OLDER], "yes"),
        ("Were Otto Venn and Ada Quill both singers?", [VENN, QUILL], "no"),
        ("Who designed Violet Harbour?", [], "unknown"),
        ("Was it?", [VENN], "no"),
        ("", [VENN], "Otto Venn"),
    ],
)
def test_rules_answer_questions(question: str, evidence: list[Evidence], answer: str) -> None:
    assert answer_to(question, evidence) == answer


def test_bridge_is_a_new_name_close_to_the_question() -> None:
    question = "Where did the designer of Violet Harbour study?"
    assert bridge_from(question, [HARBOUR, VENN]) == "Ada Quill"
    assert bridge_from(question, [HARBOUR], but="Ada Quill; Oun") == ""
    assert bridge_from(question, []) == ""


def test_evidence_is_read_from_any_rendered_memory() -> None:
    memory = (
        "ada quill: studied in port lamb; says She sang. She left.\nA line of prose. Another one.\n"
        "[step 3] > read next\nViolet Harbour\nIt is a port. It is old.\n[step 4]\nAn introduction."
    )
    assert evidence_in(memory) == [
        Evidence("Violet Harbour", ("It is a port.", "It is old.")),
        Evidence("ada quill", ("studied in port lamb", "She sang.", "She left.")),
        Evidence("", ("A line of prose.", "Another one.")),
    ]
    assert evidence_in("") == []


def test_reader_keeps_only_its_focus() -> None:
    env = gym.make("gym_memory/MultiHopQA-v0", memory=GRAPH)
    policy, twin = Reader(), Reader()
    obs, info = env.reset(seed=0)
    policy.reset(info)
    looks = 0
    while True:
        twin.reset(info)
        twin.focus = policy.focus
        action = policy.act(obs, info)
        assert twin.act(obs, info) == action
        assert twin.focus == policy.focus
        looks += action == "look"
        env.get_wrapper_attr("set_focus")(policy.focus)
        obs, _, done, _, info = env.step(action)
        if done:
            break
    assert looks == 2
    assert str(policy.focus.aim).startswith(obs["task"] + "; then ")


@pytest.mark.parametrize("policy", ["reader", "answerer"])
@pytest.mark.parametrize("hops", [0, 5, True, "2"])
def test_bad_hops_are_named(policy: str, hops: Any) -> None:
    model = OpenAIChat("scripted", "http://127.0.0.1:9/v1")
    make = Reader if policy == "reader" else functools.partial(Answerer, model)
    with pytest.raises(InvalidArgumentError, match="hops"):
        make(hops=hops)


# ---------------------------------------------------------------- a model, over HTTP


def spec(server: ScriptedServer, **options: Any) -> str:
    pytest.importorskip("pydantic")
    llm = Spec.of("openai", {"model": "scripted", "base_url": server.base_url})
    return Spec.of("answerer", {"llm": llm, **options})


@pytest.mark.slow
@pytest.mark.parametrize("memory", [GRAPH, "rag?k=5", "oracle", "history", "none", "summary"])
def test_prompts_contain_the_input_of_the_rules(memory: str, server: ScriptedServer) -> None:
    """The server answers by the reader's rules, from the prompt alone: same answers, same score."""
    for seed in range(4):
        (by_model,) = play_job(Job("MultiHopQA", memory, spec(server), seed))
        by_rules = rollout(
            gym.make("gym_memory/MultiHopQA-v0", memory=memory), make_policy("reader"), seed
        )
        assert by_model.result.failed == ""
        assert by_model.result.normalized == by_rules.normalized
        assert by_model.result.steps == by_rules.steps
        assert by_model.result.counters["fallbacks"] == 0
        assert by_model.result.counters["llm_calls"] <= 3
        assert by_model.result.counters["llm_calls_qa_answer"] == 1


def test_reading_costs_no_call(server: ScriptedServer) -> None:
    before = server.received
    (row,) = play_job(Job("MultiHopQA", "rag?k=5", spec(server, hops=1), 0))
    assert server.received - before == row.result.counters["llm_calls"] == 1
    assert row.result.steps == 12  # ten passages, a look, the answer


def test_failing_model_still_leaves_an_answer(server: ScriptedServer) -> None:
    with ScriptedServer(faults=Faults(("500",) * 20)) as broken:
        model = OpenAIChat("scripted", broken.base_url, retries=0, backoff=0.01, timeout=5.0)
        policy = Answerer(model)
        result = rollout(gym.make("gym_memory/MultiHopQA-v0", memory="rag"), policy, 0)
    assert (result.failed, result.normalized) == ("", 0.0)
    assert result.counters["fallbacks"] == 2
