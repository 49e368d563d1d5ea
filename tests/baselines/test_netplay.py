"""NetPlay against the scripted server over real HTTP."""

from __future__ import annotations

import dataclasses
from typing import Any

import gymnasium as gym
import pytest

from gym_memory.baselines.llm.netplay import NetPlay
from gym_memory.baselines.rules.nethack import Descender, Descent
from gym_memory.core.records import Observation, Transition, Triple
from gym_memory.llm import Reply, Request
from gym_memory.llm.base import validate
from gym_memory.llm.client import OpenAIChat
from gym_memory.llm.prompts import load_prompt, read_slots
from gym_memory.testing.chat import Faults, ScriptedServer
from gym_memory.testing.chat.play import facts_recalled


def chat(server: ScriptedServer) -> OpenAIChat:
    return OpenAIChat("scripted", server.base_url, retries=0, backoff=0.01, timeout=10.0)


def shown(**fields: Any) -> Observation:
    empty: dict[str, Any] = {
        "text": "You are in room 1 of level 1.", "task": "Go down.", "inventory": "",
        "valid_actions": ("explore level", "go down", "search"), "memory": "", "triples": (),
        "episodes": (), "lessons": (),
    }  # fmt: skip
    return Observation(**{**empty, **fields})  # type: ignore[typeddict-item]


class Saying:
    """A model that says one thing and keeps what it was asked."""

    def __init__(self, text: str):
        self.text = text
        self.asked: list[Any] = []

    def complete(self, request: Request) -> Reply:
        self.asked.append(request.messages)
        return Reply(self.text, parsed=validate(self.text, request.schema))


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ('{"thought": "t", "skill": "go down"}', "go down"),
        ('{"skill": "Search", "arguments": []}', "search"),
        ('Well: {"thought": "t", "skill": "go to", "arguments": ["room 4"]}', "go to room 4"),
        ('{"skill": "zap", "arguments": ["wand (f)", "east"]}', "zap wand (f) east"),
        ('{"skill": "press key", "arguments": ["s"]}', "press key s"),
    ],
)
def test_a_skill_with_its_arguments_is_an_action(said: str, action: str) -> None:
    policy = NetPlay(llm=Saying(said))
    policy.reset({}, 0)
    assert policy.act(shown(), {}) == action
    assert policy.counters() == {"fallbacks": 0, "invalid_actions": 0}


def test_thoughts_are_published_and_read_again() -> None:
    model = Saying('{"thought": "the  stairs\\nfirst", "skill": "search", "arguments": []}')
    policy = NetPlay(llm=model)
    policy.reset({}, 0)
    obs = shown(memory="room 4 of level 1: has exit down")
    action = policy.act(obs, {})
    assert policy.focus.aim == "the stairs first"
    policy.update(Transition(obs, action, 0.0, obs, False, False, {"moves": 1}))
    policy.act(obs, {})
    slots = read_slots(model.asked[-1][1]["content"])
    assert "Thought: the stairs first" in slots["history"]
    assert slots["history"].endswith("> search")
    assert slots["memory"] == "room 4 of level 1: has exit down"
    assert set(slots) == set(load_prompt("netplay").slots)


@pytest.mark.parametrize("said", ["", "explore level", '{"skill": ""}', '{"thought": "hm"}'])
def test_an_answer_without_a_skill_is_counted_and_replaced(said: str) -> None:
    policy = NetPlay(llm=OneThatFails(said))
    policy.reset({}, 0)
    assert policy.act(shown(), {}) in shown()["valid_actions"]
    assert policy.counters()["fallbacks"] == 1


OneThatFails = Saying


def test_recall_is_read_from_the_prompt() -> None:
    memory = (
        "room 4 of level 1: has unexplored exit down; has item egg\n"
        "corridor 1 of level 1: is through door 2 of room 4 of level 1\n"
        "[step 3] > search\nRoom 9: has exit door 1"
    )
    assert facts_recalled(memory) == [
        Triple("room 4 of level 1", "has unexplored exit", "down"),
        Triple("room 4 of level 1", "has item", "egg"),
        Triple("corridor 1 of level 1", "is through door 2 of", "room 4 of level 1"),
    ]


@pytest.mark.slow
def test_netplay_over_http_plays_like_the_descender(server: ScriptedServer) -> None:
    """With a prompt that carries the observation and the memory, the rules decide the same."""
    pytest.importorskip("nle", reason="NLE is not installed")
    env = gym.make("gym_memory/NetHack-v0", memory="arigraph", max_steps=40)
    policy, script = NetPlay(llm=chat(server)), Descender()
    obs, info = env.reset(seed=1)
    policy.reset(info, 1)
    script.reset(info, 1)
    over, same, kept = False, [], Descent()
    while not over:
        script.focus = kept
        expected, action = script.act(obs, info), policy.act(obs, info)
        same.append(expected == action)
        kept = dataclasses.replace(script.focus, action=action)
        env.get_wrapper_attr("set_focus")(policy.focus)
        before = obs
        obs, reward, terminated, truncated, info = env.step(action)
        policy.update(Transition(before, action, float(reward), obs, terminated, truncated, info))
        over = terminated or truncated
    assert sum(same) / len(same) > 0.9  # dice differ
    assert policy.counters() == {"fallbacks": 0, "invalid_actions": 0}
    assert info["turn"] > 40
    env.close()


@pytest.mark.slow
def test_a_faulty_server_does_not_end_the_game() -> None:
    pytest.importorskip("nle", reason="NLE is not installed")
    schedule = [name for fault in ("500", "wrong_json", "empty") for name in (fault, "")]
    with ScriptedServer(faults=Faults(schedule)) as faulty:
        env = gym.make("gym_memory/NetHack-v0", memory="none", max_steps=8)
        model = OpenAIChat("scripted", faulty.base_url, retries=0, backoff=0.01)
        policy = NetPlay(llm=model)
        obs, info = env.reset(seed=1)
        policy.reset(info, 1)
        for _ in range(8):
            obs, *_, info = env.step(policy.act(obs, info))
        env.close()
    assert 0 < policy.counters()["fallbacks"] <= 8
