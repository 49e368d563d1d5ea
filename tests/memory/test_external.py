"""Adapters in both directions: a memory of ours behind another interface, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.memory import make_memory
from gym_memory.memory.external import AddSearch, AsAddSearch, AsInjectUpdate, InjectUpdate

GOAL = "put a mug in desk."
ACTIONS = ("take mug 1 from shelf 1", "move mug 1 to desk 1")


class Words:
    """A client that finds texts by shared words."""

    opened = 0

    def __init__(self) -> None:
        Words.opened += 1
        self.texts: list[str] = []

    def add(self, text: str) -> None:
        self.texts.append(text)

    def search(self, query: str, k: int) -> Sequence[str]:
        words = set(query.lower().split())
        return sorted(self.texts, key=lambda t: -len(words & set(t.lower().split())))[:k]


class Theirs(AddSearch):
    name: ClassVar[str] = "theirs"

    def _open(self) -> Words:
        return Words()


class Through(InjectUpdate):
    name: ClassVar[str] = "through"

    def _open(self) -> AsInjectUpdate:
        return AsInjectUpdate("memrl?inner=none", budget=2000, dialect="alfworld")


def seen(memory: Any, *texts: str) -> None:
    memory.begin(Task("house/1", "find the key"), 0)
    for t, text in enumerate(texts):
        memory.observe(Step(t, text, "look" if t else ""))


def test_finds_of_a_client_are_shown_within_budget() -> None:
    memory = Theirs(k=2)
    seen(memory, "A hall.", "The key is here.", "A cellar.")
    recall = memory.recall(Cue("key", "find the key"), 100)
    assert recall.text == "- > look The key is here.\n- A hall."
    assert recall.episodes == ("> look The key is here.", "A hall.")
    assert memory.recall(Cue("key"), 4).text == ""
    assert len(memory.recall(Cue("key"), 12).text) < 48


def test_client_receives_only_the_lines_it_lacks() -> None:
    memory = Theirs()
    seen(memory, "A hall.")
    before = memory.snapshot()
    json.dumps(before)
    twin = memory.fork()
    memory.observe(Step(1, "The key is here.", "go"))
    after, opened = memory.snapshot(), Words.opened
    memory.restore(after)
    assert Words.opened == opened, "nothing to do"
    memory.restore(before)
    assert "key" not in memory.recall(Cue("key"), 100).text
    assert Words.opened == opened + 1
    memory.restore(after)
    assert Words.opened == opened + 1, "only the new text is added"
    assert "key" in memory.recall(Cue("key"), 100).text
    assert "key" not in twin.recall(Cue("key"), 100).text
    seen(memory, "Another day.")
    assert memory.recall(Cue("key"), 100).text == "- Another day."


def test_a_memory_through_evomembench_and_back_recalls_as_itself() -> None:
    texts = []
    for memory in (make_memory("memrl?inner=none"), Through()):
        for _ in range(2):
            memory.begin(Task("alfworld/0", GOAL, "alfworld"), 0)
            memory.observe(Step(0, f"You are in a room.\nYour task is to: {GOAL}"))
            texts.append(memory.recall(Cue("", GOAL), 500).text)
            for t, action in enumerate(ACTIONS, 1):
                memory.observe(Step(t, f"You do {t}.", action))
            memory.end(Outcome(1.0, 1.0, 1.0, True, steps=len(ACTIONS)))
    assert texts[0] == texts[2] == ""
    assert 'These steps won: "take mug from shelf"' in texts[1]
    assert [line.removeprefix("- ") for line in texts[3].splitlines()] == texts[1].splitlines()


def test_an_episode_through_evomembench_goes_on_from_its_state() -> None:
    memory, other, step = Through(), Through(), Step(0, f"Your task is to: {GOAL}")
    for _ in range(2):
        memory.begin(Task("alfworld/0", GOAL, "alfworld"), 0)
        memory.observe(step)
        if not memory.stats().episodes:
            memory.observe(Step(1, "You do it.", ACTIONS[0]))
            memory.end(Outcome(1.0, 1.0, 1.0, True, steps=1))
    other.load_state(json.loads(json.dumps(memory.state())))
    for each in (memory, other):
        each.observe(Step(1, "You do it.", ACTIONS[1]))
        each.end(Outcome(1.0, 1.0, 1.0, True, steps=1))
    assert other.state() == memory.state()
    cue = Cue(step.text, GOAL)
    assert other.recall(cue, 500) == memory.recall(cue, 500)
    assert memory.recall(cue, 500).lessons
    assert other.client.memory.state() == memory.client.memory.state()


def test_ours_learns_and_injects_by_their_interface(tmp_path: Any) -> None:
    first = f"You are in a room.\nYour task is to: {GOAL}"
    episode = [{"role": "user", "content": first}]
    for action in ACTIONS:
        episode += [{"role": "assistant", "content": action}, {"role": "user", "content": "Done."}]
    client = AsInjectUpdate("memrl", dialect="alfworld")
    ask = [{"role": "system", "content": "Play."}, {"role": "user", "content": first}]
    assert client.inject(ask)[0] == ask, "nothing is known yet"
    state = client.memory.state()
    client.update(episode, 0, 1.0)
    turns, used = client.inject(ask)
    assert turns[0]["content"].startswith("Play.\n\n")
    assert "put a mug in desk" in turns[0]["content"]
    assert used["input_tokens"] > 0
    assert ask[0]["content"] == "Play."
    bare, _ = client.inject(ask[1:])
    assert bare[0] == {"role": "system", "content": turns[0]["content"].removeprefix("Play.\n\n")}
    client.memory.save(tmp_path / "memory.json")
    other = AsInjectUpdate("memrl", read_only=True, dialect="alfworld")
    other.load_from_disk(tmp_path / "memory.json")
    assert other.inject(ask)[0] == turns
    other.update(episode, 1, 0.0)
    assert other.memory.state() == client.memory.state() != state


def test_add_and_search_over_a_graph() -> None:
    client = AsAddSearch("arigraph")
    client.add("You are in the attic. You see a chest that is closed.")
    client.add("You are in the hall.", "go east")
    assert any("chest: is in attic" in line for line in client.search("chest"))
    assert make_memory("arigraph").state() != client.memory.state()
