"""A chat model plays the roles of memories of experience, over real HTTP."""

from __future__ import annotations

import re
from typing import Any

import pytest
from stream import LOST, WAY, WON, begin, items, made, play

from gym_memory.llm.client import OpenAIChat
from gym_memory.testing.chat import Faults, ScriptedServer
from gym_memory.testing.chat.registry import ANSWERS

GOAL = "put a potato in shelf"


@pytest.mark.parametrize("spec", ["memrl", "simutil", "skills?paired=never", "memp"])
def test_items_of_a_model_are_shown(spec: str, server: ScriptedServer) -> None:
    memory = made(spec, llm=OpenAIChat("scripted", server.base_url, retries=0))
    play(memory, GOAL, WON)
    assert "For such a task: move potato 1 to shelf 2." in begin(memory, GOAL)
    memory.end(LOST)
    stats = memory.stats()
    assert stats.extraction_calls >= 1
    assert stats.fallbacks == 0
    assert items(memory)[0].origins[0].author == "model"


def test_a_model_contrasts_and_repairs(server: ScriptedServer) -> None:
    model: Any = OpenAIChat("scripted", server.base_url, retries=0)
    memory = made("simutil", llm=model)
    play(memory, GOAL, WON)
    play(memory, GOAL, LOST, ["look"])
    assert items(memory)[1].text.endswith("Another attempt began with: go to fridge 1.")
    memory = made("memp", llm=model)
    play(memory, GOAL, WON)
    play(memory, GOAL, LOST, ["look"])
    assert items(memory)[0].text.endswith("Do not end with 'look'.")
    assert memory.stats().extraction_calls == 2


def test_the_rule_writes_after_a_failed_call() -> None:
    with ScriptedServer(faults=Faults(rates={"500": 1.0})) as broken:
        memory = made("memrl", llm=OpenAIChat("m", broken.base_url, retries=0))
        play(memory, GOAL, WON)
    assert items(memory)[0].text.startswith(f"Goal: {GOAL}.")
    assert items(memory)[0].origins[0].author == "rules"
    assert memory.stats().fallbacks == 1


def test_a_model_edits_the_rules_of_expel(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, take = "Look around first.", "Take what the task names."
    episodes = [  # goal, outcome, the model's operations, and the rules afterwards
        ("a", WON, f"ADD: {look}\n**ADD**: {take}", {look: 2, take: 2}),
        ("a", LOST, f"REMOVE 1: {look}\n- EDIT 2: Take it. Go.", {"Take it. Go.": 3, look: 1}),
        ("b", WON, "", {"Take it. Go.": 3, look: 1}),
        ("c", WON, f"REMOVE 2: {look}\nAGREE 1: Take it.", {"Take it. Go.": 4}),
    ]
    memory = made("expel?chunk=3&rules=2", llm=OpenAIChat("m", server.base_url, retries=0))
    play(memory, "a", LOST, ["look"])  # a first request declares all answers
    asked: list[Any] = []
    replies = iter([text for _, _, text, _ in episodes if text])
    monkeypatch.setitem(ANSWERS, "rules", lambda slots: asked.append(slots) or next(replies))
    for goal, outcome, _, rules in episodes:
        play(memory, goal, outcome, WAY if outcome is WON else ["look"])
        assert {i.text: i.utility for i in items(memory) if i.kind == "rule"} == rules
    kinds = [re.findall(r"^(Success|Failure): ", slots["trials"], re.MULTILINE) for slots in asked]
    assert kinds == [["Failure", "Success"], ["Failure", "Success"], ["Success"] * 3]
    assert [bool(slots["room"]) for slots in asked] == [False, True, True]
    (rule,) = memory.bank.of_kind("rule")
    assert [(origin.run, origin.author) for origin in rule.origins] == [(2, "model"), (3, "model")]
    assert "Take it. Go." in begin(memory, "d")
    assert memory.stats().fallbacks == 0


def test_a_full_list_of_rules_takes_no_more() -> None:
    memory = made("expel?rules=1")
    for outcome, actions in ((LOST, ["look"]), (WON, WAY[:1]), (LOST, ["look"]), (WON, WAY)):
        play(memory, GOAL, outcome, actions)
    assert [rule.text for rule in memory.bank.of_kind("rule")] == ['It helps to do "go to fridge".']
