"""A chat model plays the roles of memories of experience, over real HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from stream import LOST, WON, begin, items, made, play

from gym_memory.llm.client import OpenAIChat
from gym_memory.testing.chat import Faults, ScriptedServer

GOAL = "put a potato in shelf"


@pytest.mark.parametrize("spec", ["memrl", "simutil", "skills?paired=never", "memp"])
def test_a_model_writes_what_is_shown(spec: str, server: ScriptedServer) -> None:
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
