"""Simulacra: the three terms of the score, reflections, recent observations, a model over HTTP."""

from __future__ import annotations

import numpy as np
import pytest

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Cue, Step, Task
from gym_memory.llm.client import OpenAIChat
from gym_memory.memory import simulacra
from gym_memory.memory.base import count_tokens
from gym_memory.memory.encoders import HashEncoder
from gym_memory.memory.simulacra import Simulacra, rule_insights
from gym_memory.testing.chat import Faults, ScriptedServer

TASK = Task("house/0", "Cook a meal by the recipe.", "textworld")
COOKBOOK = (
    "Recipe #1\nIngredients:\n  egg\n  red onion\n\nDirections:\n  fry the egg\n  prepare meal\n"
)
KITCHEN = "-= Kitchen =-\nYou are in a kitchen. You see a counter. On the counter is an egg."
HALL = "-= Hall =-\nYou are in a hall. There is an exit to the west."


def lived(memory: Simulacra, texts, action="go on") -> Simulacra:
    memory.begin(TASK, 0)
    for t, text in enumerate(texts):
        memory.observe(Step(t, text, action))
    return memory


@pytest.fixture
def importance(monkeypatch) -> dict[str, float]:
    """Rate a text by its first word, 1 for unknown words, in memories made later."""
    words: dict[str, float] = {}
    monkeypatch.setattr(simulacra, "importance", lambda text, task: words.get(text.split()[0], 1.0))
    return words


def test_score_by_hand(importance) -> None:
    """Recency 0.5, 1; importance 1, 4, 10; similarity, each scaled from its least to its most."""
    texts = ["oak tree", "elm tree", "ash hill"]
    importance.update(oak=1.0, elm=4.0, ash=10.0)
    memory = lived(Simulacra(decay=0.5, threshold=None), texts)
    similar = HashEncoder().encode(texts) @ HashEncoder().encode(["tall tree"])[0]
    relevance = (similar - similar.min()) / (similar.max() - similar.min())
    expected = np.array([0, 1 / 3, 1]) + np.array([0, 1 / 3, 1]) + relevance
    assert memory.scores(Cue("tall tree")) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("words", "cue", "best"),
    [
        ({}, Cue("nothing"), "beech"),  # the newest
        ({"oak": 10.0}, Cue("nothing"), "oak"),  # the most important
        ({}, Cue("", focus="climb the elm"), "elm"),  # the most relevant
    ],
)
def test_each_term_counts(importance, words, cue, best) -> None:
    importance.update(words)
    memory = lived(Simulacra(k=1, recent=0, threshold=None), ["oak", "elm", "beech", "present"])
    cue = cue._replace(text=cue.text or "present")
    assert memory.recall(cue, 100).episodes[0] == best


def test_equal_terms_count_nothing(importance) -> None:
    memory = lived(Simulacra(threshold=None, decay=1), ["a tree"])
    assert memory.scores(Cue("x")).tolist() == [0.0]


def test_latest_and_retrieved() -> None:
    texts = [f"word{number} is here" for number in range(20)]
    memory = lived(Simulacra(k=2, recent=3, threshold=None), texts)
    recall = memory.recall(Cue(texts[-1], focus="word4 word7"), 1000)
    assert recall.episodes[:3] == tuple(texts[18:15:-1])
    assert set(recall.episodes[3:]) == {texts[4], texts[7]}
    steps = [line for line in recall.text.split("\n") if line.startswith("[step")]
    assert steps == [f"[step {t}] > go on" for t in (4, 7, 16, 17, 18)]


def test_repeated_observation_is_renewed(importance) -> None:
    memory = lived(Simulacra(k=1, recent=0, threshold=None), ["oak", "elm", "oak", "present"])
    assert memory.stats().episodes == 3
    assert memory.recall(Cue("present"), 100).text == "[step 2] > go on\noak"


# ---------------------------------------------------------------- reflections


def test_enough_importance_starts_a_reflection(importance, monkeypatch) -> None:
    asked = []

    def reflect(statements, task):
        asked.append(list(statements))
        return [f"insight {len(asked)}"]

    importance["door"] = 4.0
    monkeypatch.setattr(simulacra, "rule_insights", reflect)
    memory = lived(Simulacra(threshold=10), [f"door {number}" for number in range(9)])
    # 4 + 4 + 4 > 10 at steps 2, 5 and 8; each reflects on what came in since.
    assert [[s.split("\n")[1] for s in statements] for statements in asked] == [
        ["door 0", "door 1", "door 2"],
        ["door 3", "door 4", "door 5"],
        ["door 6", "door 7", "door 8"],
    ]
    assert memory.stats().lessons == 3
    recall = memory.recall(Cue("door", focus="insight"), 1000)
    assert set(recall.lessons) == {"insight 1", "insight 2", "insight 3"}
    assert recall.text.startswith("- insight")


def test_no_reflections() -> None:
    memory = lived(Simulacra(threshold=None), [COOKBOOK, *(f"note {n}" for n in range(60))])
    assert memory.stats().lessons == 0


def test_insights_come_from_read_texts() -> None:
    statements = [f"[step 0]\n{KITCHEN}", f"[step 1] > examine cookbook\n{COOKBOOK}"]
    insights = rule_insights(statements, TASK)
    assert "recipe: requires egg; requires red onion" in insights
    assert "egg: needs to be fried" in insights
    assert not any("counter" in insight for insight in insights)
    assert rule_insights([f"[step 0]\n{KITCHEN}"], TASK) == []
    notes = [f"[step {n}] > read note {n}\nThe key {n} opens the locker {n}." for n in range(9)]
    assert len(rule_insights(notes, TASK)) == 5
    assert "key 8" in rule_insights(notes, TASK)[0] + rule_insights(notes, TASK)[1]


def test_the_recipe_is_reflected_on_in_play() -> None:
    memory = Simulacra(threshold=12)
    memory.begin(TASK, 0)
    steps = [("", KITCHEN), ("examine cookbook", COOKBOOK), *[("go east", HALL)] * 12]
    for t, (action, text) in enumerate(steps):
        memory.observe(Step(t, text, action))
    recall = memory.recall(Cue(HALL, focus="the recipe requires"), 1000)
    assert "recipe: requires egg; requires red onion" in recall.lessons


@pytest.mark.slow
def test_memory_grows_with_distinct_texts() -> None:
    memory = lived(Simulacra(), (f"Room {t % 40}. A note." for t in range(5_000)))
    assert memory.stats().episodes == 40
    assert memory.stats().lessons <= 200
    for budget in (0, 1, 10, 100, 1000):
        assert count_tokens(memory.recall(Cue("Room 3."), budget).text) <= budget


@pytest.mark.parametrize(
    "wrong",
    [
        *({"k": -1}, {"recent": -1}, {"k": True}),
        *({"decay": 0}, {"decay": 1.1}, {"decay": "x"}, {"decay": float("nan")}),
        *({"threshold": 0}, {"threshold": True}, {"threshold": "x"}),
    ],
)
def test_arguments_are_checked(wrong) -> None:
    with pytest.raises(InvalidArgumentError, match=next(iter(wrong))):
        Simulacra(**wrong)


# ---------------------------------------------------------------- a language model


def test_a_model_rates_and_reflects() -> None:
    with ScriptedServer() as server:
        memory = Simulacra(llm=OpenAIChat("scripted", server.base_url, retries=0), threshold=9)
        lived(memory, [KITCHEN, COOKBOOK, HALL, KITCHEN, COOKBOOK])
        assert server.served["insights"] >= 1
        assert memory.stats().fallbacks == 0
        assert memory.stats().lessons >= 1
        recall = memory.recall(Cue(HALL), 1000)
        assert any("It matters that" in lesson for lesson in recall.lessons)
        calls = server.served["importance"]
        lived(memory, [KITCHEN, KITCHEN, KITCHEN])
        assert server.served["importance"] == calls + 1, "an observation is rated once"


def test_rules_replace_a_failing_model() -> None:
    texts = [KITCHEN, COOKBOOK, HALL, KITCHEN, COOKBOOK]
    with ScriptedServer(faults=Faults(rates={"500": 1.0})) as server:
        failing = Simulacra(llm=OpenAIChat("m", server.base_url, retries=0), threshold=9)
        memory, rules = lived(failing, texts), lived(Simulacra(threshold=9), texts)
        assert memory.state() == rules.state()
        assert memory.stats().fallbacks > 3
