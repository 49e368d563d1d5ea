"""The parts of a policy with a model: answers, transcripts, facts in prompts, plans."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_llm_policies import chat, moved, play, shown

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.llm.answers import match_action, read_action
from gym_memory.baselines.llm.ariadne import Ariadne
from gym_memory.baselines.llm.react import Plain, PlainSettings
from gym_memory.core.errors import (
    InvalidArgumentError,
    ModelError,
    ModelSetupError,
    UnknownNameError,
)
from gym_memory.core.names import Spec
from gym_memory.core.records import Triple
from gym_memory.graph import TemporalGraph
from gym_memory.memory.reading import render_facts
from gym_memory.testing.chat import ScriptedServer
from gym_memory.testing.chat.play import ariadne_act, ariadne_plan, facts_of, observation_of

pytestmark = pytest.mark.slow


@given(st.lists(st.text("abc dE-", min_size=1), min_size=1, unique=True), st.data())
def test_literal_valid_action_is_found(valid: list[str], data: Any) -> None:
    action = data.draw(st.sampled_from(valid))
    if action == action.strip():
        assert match_action(action, valid) == action
        assert match_action(f"\n > {action.upper()}.\nand more", valid).lower().split() == (
            next(a for a in valid if a.lower().split() == action.lower().split()).lower().split()
        )


@given(st.text())
def test_any_answer_is_matched_or_not(answer: str) -> None:
    assert match_action(answer, ("look", "take key")) in ("", "look", "take key")


def test_other_words_are_another_action() -> None:
    valid = ("take red key", "take blue key", "go north")
    assert match_action("`Take the Red Key`.", valid) == "take red key"
    assert match_action("take key", valid) == ""
    assert match_action("go north then go east", valid) == ""
    assert match_action("", valid) == ""


@pytest.mark.parametrize("text", ["", "Action:", "Thought: I wonder.", "act: fly"])
def test_answer_without_action_gives_none(text: str) -> None:
    with pytest.raises(ModelError):
        read_action(text, ("look",))


@given(
    st.lists(st.text(max_size=300), max_size=12),
    st.integers(0, 6) | st.none(),
    st.integers(0, 60),
)
def test_the_transcript_keeps_to_its_limits(
    texts: list[str], history: int | None, tokens: int
) -> None:
    policy = Plain.__new__(Plain)
    policy.settings = PlainSettings(history=history, history_tokens=tokens)
    policy.reset({}, 0)
    for number, text in enumerate(texts):
        policy.update(moved(shown(text), f"do {number}", number + 1))
    transcript = policy.transcript()
    last = f"[step {len(texts)}] > do {len(texts) - 1}"
    assert transcript.endswith(last) == bool(texts)
    assert len(transcript) <= 4 * tokens + len(last) + len(" [...]\n")
    if history is not None:
        assert transcript.count("] > do ") <= history + 1


@pytest.mark.parametrize(("info", "line"), [({}, "(+1)"), ({"earned": 0.0}, "> wave")])
def test_transcript_shows_rewards_unless_hidden(info: dict[str, float], line: str) -> None:
    policy = Plain.__new__(Plain)
    policy.settings = PlainSettings()
    policy.reset({}, 0)
    policy.update(moved(shown(), "wave", 1, **info)._replace(reward=1.0))
    assert policy.transcript().endswith(line)


@pytest.mark.parametrize(("history", "tokens"), [(5, 10_000), (None, 200), (4, 150)])
def test_transcript_is_rarely_cut(history: int | None, tokens: int) -> None:
    policy = Plain.__new__(Plain)
    policy.settings = PlainSettings(history=history, history_tokens=tokens)
    policy.reset({}, 0)
    transcript, restarts = "", 0
    for number in range(40):
        policy.update(moved(shown("You see a hall. " * 5), f"do {number}", number + 1))
        before, transcript = transcript, policy.transcript()
        restarts += not transcript.startswith(before)
        assert transcript.count("hall.") >= 5, "the last observation is always there"
    assert 0 < restarts <= 20


_WORD = st.sampled_from(["red key", "kitchen", "fridge", "apple", "hall", "wooden door"])
_FACT = st.builds(
    Triple, _WORD, st.sampled_from(["is in", "is", "is east of", "has exit", "opens"]), _WORD
)


@given(st.lists(_FACT, max_size=12, unique=True))
def test_recalled_facts_can_be_read_in_the_prompt(facts: list[Triple]) -> None:
    assert facts_of(render_facts(facts)) == facts
    assert facts_of("\n".join(f"[{', '.join(fact)}]" for fact in facts)) == facts
    graph = TemporalGraph()
    for fact in facts:
        graph.add(fact, 0)
    slots = {"memory": render_facts(facts) + "\n[step 3] > look\nA hall: is in a house.",
             "history": "", "observation": "x", "task": "", "inventory": "",
             "actions": "look"}  # fmt: skip
    assert list(observation_of(slots)["triples"]) == facts


def test_planned_exit_is_taken_even_if_explored() -> None:
    known = (
        "you: is in gym\ngym: has unexplored exit south\ngarage: is west of gym\n"
        "music room: is south of garage\noffice: is east of music room; has unexplored exit north"
    )
    slots = {
        "memory": known, "history": "", "observation": "-= Gym =-", "task": "Tidy up the house!",
        "inventory": "", "plan": "1. look round, south of gym",
        "actions": "go south\ngo west\nlook",
    }  # fmt: skip
    assert json.loads(ariadne_act(slots))["action_to_take"] == "go south"


def test_reachable_thing_comes_before_the_planned_exit() -> None:
    slots = {
        "memory": "you: is in hall\nhall: has unexplored exit west\niron key: opens olive locker",
        "history": "", "observation": "-= Hall =-\nYou see a locked olive locker.",
        "task": "Find the treasure!", "inventory": "You are carrying: an iron key.",
        "plan": "1. explore, west of hall",
        "actions": "go west\nlook\nunlock olive locker with iron key",
    }  # fmt: skip
    chosen = json.loads(ariadne_act(slots))["action_to_take"]
    assert chosen == "unlock olive locker with iron key"


def test_transcript_that_begins_with_a_place_stays_transcript() -> None:
    transcript = (
        "Find the treasure!\n\n-= Room T =-\nYou are in Room T. A quiet one.\n\n"
        "There is a note on the floor.\n> examine note\nThe red key opens the chest."
    )
    slots = {"memory": transcript, "history": "[step 1] > examine note", "observation": "x",
             "task": "", "inventory": "", "actions": "look"}  # fmt: skip
    assert facts_of(transcript) == []
    assert observation_of(slots)["memory"] == transcript


def test_plan_names_things_already_looked_at() -> None:
    slots = {
        "memory": "you: is in hall\nrack: is in hall\nnote: is in hall",
        "observation": "-= Hall =-\nYou see a rack and a note.", "task": "Find the treasure!",
        "inventory": "", "plan": "1. explore", "history": "[step 4] > examine rack",
    }  # fmt: skip
    step = json.loads(ariadne_plan(slots))["plan_steps"][0]
    assert "read rack x1" in step["reason"]
    plan = f"1. {step['sub_goal_1']}\n   {step['reason']}"
    later = {**slots, "plan": plan, "history": "[step 5] > examine note"}
    plan = json.loads(ariadne_plan(later))["plan_steps"][0]["reason"]
    assert "read rack x1" in plan
    assert "read note x1" in plan


def test_arguments_are_checked(server: ScriptedServer) -> None:
    with pytest.raises(ModelSetupError):
        make_policy("ariadne")
    with pytest.raises(UnknownNameError):
        make_policy("ariadne?llm=opanai")
    with pytest.raises(InvalidArgumentError, match="history"):
        make_policy(f"ariadne?model=m&base_url={server.base_url}&history=-1")
    with pytest.raises(InvalidArgumentError, match="keep"):
        make_policy(f"reflexion?model=m&base_url={server.base_url}&keep=0")
    with pytest.raises(InvalidArgumentError, match="model"):
        Ariadne(chat(server), model="other")
    assert make_policy(f"ariadne?model=m&base_url={server.base_url}").llm.name == "m"


def test_a_plan_may_be_kept_for_some_steps(server: ScriptedServer) -> None:
    env = "Cooking?level=rl-2&max_steps=6"
    llm = {"model": "scripted", "base_url": server.base_url, "plan_every": 3}
    counters = play(env, "arigraph", Spec.of("ariadne", llm)).counters
    assert counters["llm_calls_ariadne_plan"] * 3 >= counters["llm_calls_ariadne_act"]
    assert counters["llm_calls_ariadne_plan"] <= 2
    with pytest.raises(InvalidArgumentError, match="plan_every"):
        make_policy(Spec.of("ariadne", {**llm, "plan_every": 0}))
