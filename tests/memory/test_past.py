"""The past of a graph, and AriGraph's recall of it."""

from __future__ import annotations

import pytest

from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.controls import Shuffled
from gym_memory.memory.graph import TemporalGraph
from gym_memory.memory.recall.past import asks_about_past, dated_lines, recollect, steps_asked_for
from gym_memory.tokens import count_tokens
from gym_memory.types import Cue, Step, Task, Triple

IN_FRIDGE = Triple("apple", "is in", "fridge")
IN_HAND = Triple("apple", "is in", "inventory")
FRIDGE = Triple("fridge", "is in", "kitchen")


@pytest.fixture
def graph() -> TemporalGraph:
    graph = TemporalGraph()
    graph.add(Triple("you", "is in", "kitchen"), 0)
    graph.add(FRIDGE, 0)
    graph.add(IN_FRIDGE, 1)
    graph.add(Triple("apple", "is", "raw"), 1)
    graph.add(IN_HAND, 4)
    graph.add(Triple("you", "is in", "hall"), 6)
    graph.add(Triple("you", "is in", "kitchen"), 8)
    return graph


@pytest.mark.parametrize(
    ("focus", "asks"),
    [
        ("Where was the apple at step 12?", True),
        ("Which did you take first, the apple or the knife?", True),
        ("When did you see the apple?", True),
        ("Step 1: take the apple. Step 2: go east.", False),
        ("First take the apple.", False),
        ("take the apple, then go east", False),
        ("", False),
    ],
)
def test_only_questions_about_the_past_are_taken_for_such(focus: str, asks: bool) -> None:
    assert asks_about_past(focus) == asks


def test_steps_are_read_once_and_not_without_end() -> None:
    assert steps_asked_for("at step 3, after step 5 and at step 3") == [3, 5]
    assert len(steps_asked_for(" ".join(f"at step {n}" for n in range(100)))) == 4
    assert steps_asked_for("at step 99999999999999999999") == []


def test_what_was_in_something(graph: TemporalGraph) -> None:
    assert recollect(graph, "What was first in the fridge?", ["fridge"]) == [
        (0, FRIDGE),
        (1, IN_FRIDGE),
    ]
    assert recollect(graph, "When was the fridge where?", ["fridge"]) == [(0, FRIDGE)]


def test_what_was_true_then_with_what_held_it(graph: TemporalGraph) -> None:
    asked = "Where was the apple at step 3?"
    assert [f for _, f in recollect(graph, asked, ["apple"])] == [
        IN_FRIDGE,
        Triple("apple", "is", "raw"),
        FRIDGE,
    ]
    assert (5, IN_HAND) in recollect(graph, "Where was the apple at step 5?", ["apple"])
    assert recollect(graph, "Where was the apple at step 0?", ["apple"]) == []
    assert recollect(graph, asked, []) == []


def test_when_things_and_the_agent_came_where_they_were(graph: TemporalGraph) -> None:
    asked = "Which did you enter first, the hall or the kitchen?"
    assert recollect(graph, asked, ["hall", "kitchen"]) == [
        (0, Triple("you", "is in", "kitchen")),
        (6, Triple("you", "is in", "hall")),
    ]
    assert recollect(graph, "When was the apple where?", ["apple"]) == [
        (1, IN_FRIDGE),
        (4, IN_HAND),
    ]


def test_a_later_episode_counts_its_own_steps(graph: TemporalGraph) -> None:
    graph.add(IN_FRIDGE, 12)
    asked = "Where was the apple at step 2?"
    assert (2, IN_FRIDGE) in recollect(graph, asked, ["apple"], origin=10)


def test_lines_stay_within_their_room(graph: TemporalGraph) -> None:
    dated = recollect(graph, "Where was the apple at step 3?", ["apple"])
    text = dated_lines(dated, 1000)
    assert text == "[step 3] apple: is in fridge; is raw\n[step 3] fridge: is in kitchen"
    for left in range(len(text) + 1):
        assert len(dated_lines(dated, left)) <= left


# ---------------------------------------------------------------- in AriGraph

ROOM = (
    "-= Kitchen =-\nYou are in a kitchen. You see an opened fridge. The fridge contains an apple."
)


def taught(memory: AriGraph) -> AriGraph:
    memory.begin(Task("house/0", "Eat."), seed=0)
    memory.observe(Step(0, f"{ROOM}\n\nThere is an exit to the east."))
    memory.observe(Step(1, "You take the apple from the fridge.", "take apple from fridge"))
    memory.observe(
        Step(2, "-= Hall =-\nYou are in a hall. There is an exit to the west.", "go east")
    )
    for t in range(3, 12):
        memory.observe(Step(t, "Time passes.", "wait"))
    return memory


def cue(focus: str) -> Cue:
    return Cue("Time passes.", "Eat.", focus=focus)


def test_recall_says_where_a_thing_was() -> None:
    recall = taught(AriGraph()).recall(cue("Where was the apple at step 0?"), 300)
    assert "[step 0] apple: is in fridge" in recall.text
    assert IN_HAND in recall.triples
    assert IN_FRIDGE not in recall.triples  # triples are what is true now


def test_recall_shows_the_observation_that_was_asked_for() -> None:
    memory = taught(AriGraph())
    recall = memory.recall(cue("What did you do at step 1?"), 300)
    assert "[step 1] > take apple from fridge\nYou take the apple" in recall.text
    assert recall.text.count("You take the apple") == 1
    assert "You take the apple from the fridge." in recall.episodes
    assert memory.recall(cue("What did you do at step 99?"), 300).text


def test_other_cues_recall_as_ever() -> None:
    memory = taught(AriGraph())
    assert "[step 0] apple" not in memory.recall(cue("find the apple"), 300).text


@pytest.mark.parametrize("budget", [0, 1, 7, 20, 50, 100, 200])
def test_questions_about_the_past_keep_to_the_budget(budget: int) -> None:
    memory = taught(AriGraph())
    for focus in (
        "Where was the apple at step 0?",
        "Which did you enter first, the hall or the kitchen?",
        "What did you do at step 2?",
    ):
        assert count_tokens(memory.recall(cue(focus), budget).text) <= budget


def test_the_placebo_says_nothing_of_the_past_either() -> None:
    wrong = 0
    for seed in range(20):
        memory = taught(Shuffled())
        memory._seed = seed
        text = memory.recall(cue("Where were you at step 1?"), 300).text
        assert "[step 1] you: is in" in text
        wrong += "[step 1] you: is in kitchen" not in text
    assert wrong > 5
