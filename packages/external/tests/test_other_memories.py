"""Real packages and stores; the model is rules, or the scripted server that answers by them."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gym_memory_external")

from gym_memory.core.names import Spec
from gym_memory.core.records import Cue, Step, Task
from gym_memory.llm import make_model
from gym_memory.memory.base import Memory
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig
from gym_memory.testing.chat.server import Faults, ScriptedServer
from gym_memory_external.amem import AMemPackage
from gym_memory_external.graphiti import Graphiti
from gym_memory_external.langmem import LangMem
from gym_memory_external.mem0 import Mem0
from gym_memory_external.model import answer
from gym_memory_external.scripted import answer_prompts

NEEDS = {Mem0: "mem0", Graphiti: "graphiti_core", LangMem: "langmem", AMemPackage: "agentic_memory"}
WHOLE = (AMemPackage,)
"""Memories that show whole steps; the others show sentences of a model."""
TEXTS = (
    "You are in the attic. You see a chest that is closed. To the East you see the hall.",
    "You are in the hall. You see a lamp. There is a rug on the floor.",
)


@pytest.fixture(params=[*NEEDS], ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Any:
    if importlib.util.find_spec(NEEDS[request.param]) is None:
        pytest.skip(f"{NEEDS[request.param]} is not installed")
    return request.param


def model(server: ScriptedServer) -> Any:
    return make_model(Spec.of("openai", {"model": "scripted", "base_url": server.base_url}))


def chest(kind: Any) -> str:
    return "You are in the attic. You see a chest" if kind in WHOLE else "chest is in attic"


def see(memory: Memory, texts: Any = TEXTS) -> None:
    memory.begin(Task("house/1", "open the chest"), 0)
    for t, text in enumerate(texts):
        memory.observe(Step(t, text, "go east" if t else ""))


def ask(memory: Memory, budget: int = 200) -> str:
    return memory.recall(Cue("Where is the chest?", "open the chest"), budget).text


def test_store_finds_seen_facts(kind: Any) -> None:
    memory = kind(k=3)
    see(memory)
    text = ask(memory)
    assert chest(kind) in text
    found = memory.recall(Cue("Where is the chest?", "open the chest"), 200)
    assert len(found.episodes) <= 3
    assert ask(memory) == text
    assert len(ask(memory, 10)) <= 40
    again = kind(k=3)
    see(again)
    assert ask(again) == text, "the same steps recall the same in a fresh store"


def test_state_fork_and_episode_are_exact(kind: Any) -> None:
    memory = kind()
    see(memory, TEXTS[:1])
    before, text, twin = memory.snapshot(), ask(memory), memory.fork()
    json.dumps(before)
    memory.observe(Step(1, TEXTS[1], "go east"))
    changed = ask(memory)
    assert changed != text
    assert ask(twin) == text
    memory.restore(before)
    assert ask(memory) == text
    see(memory, TEXTS[1:])
    assert "attic" not in ask(memory), "an episode forgets the last one"


def test_the_model_is_called_over_http_and_counted(kind: Any) -> None:
    answer_prompts()
    with ScriptedServer() as server:
        llm = model(server)
        memory, plain = kind(llm=llm), kind()
        see(memory)
        see(plain)
        assert ask(memory) == ask(plain), "the server answers by the same rules"
        stats = memory.stats()
        assert stats.extraction_calls >= 2
        assert stats.fallbacks == 0
        usage = llm.meter.by_role()[kind.name]
        assert usage.calls == stats.extraction_calls == server.received
        assert usage.prompt_tokens > 0


def test_a_model_of_langmem_changes_a_note() -> None:
    pytest.importorskip("langmem")

    def patch(messages: Any, schema: Any) -> str:
        known = re.search(r"instance id=(\w+) .*\n.*chest is closed", messages[1]["content"])
        if known is None:
            return answer(messages)
        patches = [{"op": "replace", "path": "/content", "value": "chest is open."}]
        args = {"json_doc_id": known[1], "planned_edits": "", "patches": patches}
        return json.dumps({"calls": [{"name": "PatchDoc", "args": args}]})

    memory = LangMem(k=20)
    memory.model = patch  # type: ignore[assignment]
    see(memory, [TEXTS[0], "You are in the attic. You see a chest that is open."])
    text = ask(memory)
    assert "chest is open." in text
    assert "chest is closed" not in text


def test_a_dead_model_falls_back_to_rules(kind: Any) -> None:
    answer_prompts()
    with ScriptedServer(faults=Faults(rates={"400": 1.0})) as server:
        llm = model(server)
        memory = kind(llm=llm)
        see(memory)
        assert memory.stats().fallbacks > 0
        assert chest(kind) in ask(memory)


def test_an_episode_in_a_worker_is_played(kind: Any, tmp_path: Path) -> None:
    config = RunConfig(("Fetch?level=easy&max_steps=4",), (kind.name,), ("planner",), (0, 1))
    rows = compare(config, tmp_path / "run", workers=1)
    assert [row.result.failed for row in rows] == ["", ""]
