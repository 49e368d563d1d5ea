"""A-MEM: keywords, links by shared keywords, recall of notes with linked ones."""

from __future__ import annotations

import json

import pytest

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.records import Cue, Step, Task
from gym_memory.llm.client import OpenAIChat
from gym_memory.memory.base import count_tokens
from gym_memory.memory.experience.amem import AMem, annotate, link_notes
from gym_memory.testing.chat import ScriptedServer
from gym_memory.testing.chat.registry import ANSWERS

TASK = Task("house/0", "Find the apple.")
KITCHEN = "-= Kitchen =-\nYou are in a kitchen. You see a fridge. On the table you see an apple."


def watched(*texts: str, **settings: int | str) -> AMem:
    memory = AMem(**settings)  # type: ignore[arg-type]
    memory.begin(TASK, 0)
    for t, text in enumerate(texts):
        memory.observe(Step(t, text, "look" if t else ""))
    return memory


def links(memory: AMem) -> list[list[int]]:
    return [note[-1] for note in memory.state()["notes"]]


def test_keywords_are_nouns_and_the_context_place_and_outcome() -> None:
    keywords, tags, context = annotate(Step(3, KITCHEN, "open fridge", 1.0), TASK)
    assert {"kitchen", "fridge", "apple", "table"} <= set(keywords)
    assert not {"you", "see", "player", "inventory"} & set(keywords)
    assert tags == ["kitchen", "open", "+1 points"]
    assert context == "kitchen, +1 points"
    assert annotate(Step(0, "The brook babbles."), TASK)[0] == ["brook", "babbles"]


def test_two_shared_keywords_link() -> None:
    neighbours = [("", ("a", "b", "x")), ("", ("a",)), ("", ()), ("", ("b", "c"))]
    assert link_notes("", ("a", "b", "c"), neighbours) == ([0, 3], {})


def test_links_lead_both_ways_and_only_among_the_nearest() -> None:
    texts = ("dark brick wall", "green grass field", "dark brick tower", "dark brick house")
    assert links(watched(*texts)) == [[2, 3], [], [0, 3], [2, 0]]
    assert links(watched(*texts, neighbours=0)) == [[], [], [], []]
    one = links(watched(*texts, neighbours=1))
    assert [len(linked) for linked in one][1] == 0
    assert sum(map(len, one)) == 4


def test_a_repeated_observation_is_one_note() -> None:
    memory = watched("dark brick wall", "green grass field")
    memory.observe(Step(7, "green grass field", "look"))
    assert memory.stats().episodes == 2
    assert memory.state()["notes"][1][0] == 7


def test_recall_follows_links() -> None:
    texts = ("dark brick wall by night", "green grass field", "white sheep", "dark brick moon")
    memory = watched(*texts, k=1)
    cue = Cue("somewhere", focus="night wall")
    assert memory.recall(cue, 1000).episodes[0].startswith("dark brick wall by night\n(")
    assert memory.recall(cue, 1000).episodes[1].startswith("dark brick moon\n(")
    assert len(memory.recall(cue, 1000).episodes) == 2
    assert [r.why for r in memory.reasons(cue, 1000).episodes] == [
        "similar to what is seen or planned", "linked to step 0"]  # fmt: skip
    # What the cue shows is not recalled.
    assert (
        memory.recall(Cue("dark brick wall by night"), 1000)
        .episodes[0]
        .startswith("dark brick moon")
    )
    assert count_tokens(memory.recall(cue, 12).text) <= 12


@pytest.mark.parametrize(("lifetime", "kept"), [("step", 0), ("episode", 0), ("trial", 0),
                                                ("task", 2), ("forever", 2)])  # fmt: skip
def test_lifetimes(lifetime: str, kept: int) -> None:
    memory = watched("dark brick wall", "green grass field", lifetime=lifetime)
    assert memory.stats().episodes == (1 if lifetime == "step" else 2)
    memory.begin(Task("house/1", TASK.goal), 0)
    assert memory.stats().episodes == kept


def test_a_model_annotates_and_links() -> None:
    with ScriptedServer() as server:
        memory = AMem(llm=OpenAIChat("scripted", server.base_url, retries=0))
        memory.begin(TASK, 0)
        for t, text in enumerate(("dark brick wall", "green grass field")):
            memory.observe(Step(t, text, "look"))
    assert links(memory) == [[1], [0]]
    assert memory.state()["notes"][0][3] == "What came of look."
    assert (memory.stats().extraction_calls, memory.stats().fallbacks) == (3, 0)


def test_a_model_renews_the_context_of_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    evolved = {"should_evolve": True, "suggested_connections": [1],
               "new_context_neighborhood": ["A wall by a field.", "of none"]}  # fmt: skip
    with ScriptedServer() as server:
        memory = AMem(k=1, llm=OpenAIChat("scripted", server.base_url, retries=0))
        memory.begin(TASK, 0)
        memory.observe(Step(0, "dark brick wall"))  # a first request declares all answers
        memory.recall(Cue("sheep"), 1000)
        monkeypatch.setitem(ANSWERS, "note_links", lambda slots: json.dumps(evolved))
        memory.observe(Step(1, "green grass field", "look"))
        monkeypatch.setitem(ANSWERS, "note_links", lambda slots: '{"should_evolve": false}')
        memory.observe(Step(2, "white sheep", "look"))
    assert [note[3] for note in memory.state()["notes"]] == [
        "A wall by a field.", "What came of look.", "What came of look."]  # fmt: skip
    assert links(memory) == [[1], [0], []]
    shown = memory.recall(Cue("somewhere", focus="A wall by a field."), 1000).episodes
    assert shown[0].startswith("dark brick wall"), "it is found by its new context"


def test_state_with_dangling_links_is_refused(tmp_path) -> None:
    memory = watched("dark brick wall", "dark brick tower")
    memory.save(tmp_path / "notes.json")
    state = memory.state()
    state["notes"][0][-1] = [5]
    with pytest.raises(ValueError, match="expected links to 2 notes"):
        memory.load_state(state)
    assert links(memory) == [[1], [0]]
    (tmp_path / "other.json").write_text(
        json.dumps({"format": 1, "memory": "amem", "state": state})
    )
    with pytest.raises(StoreError):
        memory.load(tmp_path / "other.json")
    with pytest.raises(InvalidArgumentError, match="expected k"):
        AMem(k=0)
