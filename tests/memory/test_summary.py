"""The iterative summary: by rules, by a model over HTTP, and from one to the other."""

from __future__ import annotations

import pytest

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Cue, Step, Task, Triple
from gym_memory.llm.client import OpenAIChat
from gym_memory.memory import make_memory
from gym_memory.memory.base import count_tokens
from gym_memory.memory.summary import FactNotes, Summary
from gym_memory.testing.chat import Faults, ScriptedServer

TASK = Task("house/0", "Find the red key.", "textworld")
HALL = "-= Hall =-\nYou are in a hall. You see a chest. There is an exit to the west."
CHEST = "You open the chest, revealing a red key."
TOOK = "You take the red key from the chest."


def summarized(memory: Summary, *steps: tuple[str, str]) -> Summary:
    memory.begin(TASK, 0)
    for t, (action, text) in enumerate(steps):
        memory.observe(Step(t, text, action))
    return memory


def test_last_statement_about_each_thing() -> None:
    memory = summarized(Summary(), ("", HALL), ("open chest", CHEST), ("take red key", TOOK))
    recall = memory.recall(Cue(""), 500)
    assert recall.text.split("\n") == [
        "Places:",
        "you: is in hall",
        "red key: is in inventory",
        "chest: is in hall; is open; is empty",
        "hall: has exit west",
    ]
    assert Triple("red key", "is in", "inventory") in recall.triples
    assert Triple("chest", "is", "closed") not in recall.triples
    assert len(recall.triples) == memory.stats().live_facts == 6


def test_the_next_summary_needs_only_the_last_one() -> None:
    """The rule is a function of the previous summary and the step."""
    rule = FactNotes(1000)
    first = rule("", (Step(0, HALL),), TASK)
    both = rule(first, (Step(1, CHEST, "open chest"),), TASK)
    assert both == rule("", (Step(0, HALL), Step(1, CHEST, "open chest")), TASK)
    assert rule(both, (), TASK) == both


@pytest.mark.slow
def test_bounded_over_thousands_of_rooms() -> None:
    memory = summarized(Summary(size=200))
    for t in range(2_000):
        text = f"-= Room {t} =-\nYou see a chest. There is an exit to the west."
        memory.observe(Step(t, text, "go west"))
        if t % 100 == 0:
            assert count_tokens(memory.state()["summary"]) <= 200
    recall = memory.recall(Cue(""), 1000)
    assert count_tokens(recall.text) <= 200
    assert Triple("you", "is in", "room 1999") in recall.triples


def test_only_whole_facts_are_recalled() -> None:
    memory = summarized(Summary(), ("", HALL), ("open chest", CHEST))
    facts = set(memory.recall(Cue(""), 1000).triples)
    for budget in range(40):
        recall = memory.recall(Cue(""), budget)
        assert set(recall.triples) <= facts
        assert count_tokens(recall.text) <= budget


@pytest.mark.parametrize("size", [0, 15, True, "1000", 2.5])
def test_size_is_checked(size) -> None:
    with pytest.raises(InvalidArgumentError, match="size"):
        Summary(size=size)


# ---------------------------------------------------------------- a language model


def test_model_writes_the_summary() -> None:
    with ScriptedServer() as server:
        model = OpenAIChat("scripted", server.base_url, retries=0)
        memory = summarized(Summary(llm=model), ("", HALL), ("open chest", CHEST))
        recall = memory.recall(Cue(""), 500)
        assert server.served["summary"] == 2
        assert "red key is in chest" in recall.text
        assert "open chest" in recall.text
        assert Triple("red key", "is in", "chest") in recall.triples
        assert memory.recall(Cue(""), 500) == recall
        assert server.served["summary"] == 2, "recalling asks nobody"
        assert memory.stats().fallbacks == 0
        assert memory.stats().extraction_calls == 2


def test_rule_continues_from_a_models_prose() -> None:
    with ScriptedServer(faults=Faults(rates={"500": 1.0})) as server:
        memory = Summary(llm=OpenAIChat("m", server.base_url, retries=0))
        memory.begin(TASK, 0)
        memory.load_state({"summary": "A ghost told me to dig.", "task": list(TASK), "steps": 4})
        memory.observe(Step(5, HALL, "go east"))
        text = memory.recall(Cue(""), 500).text
        assert "chest: is in hall" in text
        assert text.endswith("A ghost told me to dig.")
        assert memory.stats().fallbacks == 1


def test_a_spec_names_the_model() -> None:
    with ScriptedServer() as server:
        spec = {"llm": f"openai?model=m&base_url={server.base_url}"}
        memory = make_memory("summary", **spec)
        assert "chest is in hall" in summarized(memory, ("", HALL)).recall(Cue(""), 500).text
