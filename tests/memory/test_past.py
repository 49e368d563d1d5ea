"""The past of a graph, and AriGraph's recall of it."""

from __future__ import annotations

import pytest

from gym_memory.core.records import Cue, Step, Task, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.base import count_tokens
from gym_memory.memory.controls import ShuffledGraph
from gym_memory.memory.recall.past import PastQuestion, dated_lines, read_past_question, recollect
from gym_memory.memory.stores.episodes import ActionIndex, EpisodeStore

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
    ("focus", "asked"),
    [
        ("Where was the apple at step 12?", PastQuestion((12,))),
        ("Where was the apple at step 12? (It is step 34 now.)", PastQuestion((12,))),
        ("Tell me where the apple was once you had made 12 moves.", PastQuestion((12,))),
        ("What was your 12th command?", PastQuestion((12,))),
        ("What did you do 12 turns ago?", PastQuestion((22,))),
        ("What did you do between turns 12 and 14?", PastQuestion((12, 14))),
        ("Which did you take first, the apple or the knife?", PastQuestion(order=True)),
        ("Did you get hold of the apple or the knife to begin with?", PastQuestion(order=True)),
        ("When did you see the apple?", PastQuestion(order=True)),
        ("Where did I get the apple from?", PastQuestion(order=True)),
        ("Where's the apple I took?", PastQuestion(order=True)),
        ("The apple was moved here. Out of what?", PastQuestion(order=True)),
        ("Find out where it was that the apple used to be.", PastQuestion(order=True)),
        ("Sort by the time you took them: apple, knife.", PastQuestion(order=True)),
        ("Describe your move 12.", PastQuestion((12,))),
        ("Rewind by 12 moves. Your action?", PastQuestion((22,))),
        ("Where was the last key at step 12?", PastQuestion((12,))),  # so the key is called
        ("How many things are in drawer 2?", None),
        ("Where is the apple?", None),
        ("How does one get from the apple to the knife?", None),
        ("Step 1: take the apple. Step 2: go east.", None),
        ("First take the apple.", None),
        ("take the apple, then go east", None),
        ("", None),
    ],
)
def test_question_about_the_past_is_parsed(focus: str, asked: PastQuestion | None) -> None:
    names = ("you", "apple", "knife", "drawer 2", "last key")
    named = [name for name in names if name in focus.lower()]
    assert read_past_question(focus, named, now=34) == asked


def test_steps_are_read_once_and_not_without_end() -> None:
    def steps(focus: str) -> tuple[int, ...]:
        asked = read_past_question(f"What was true {focus}?", (), now=1000)
        return asked.steps if asked else ()

    assert steps("at step 3, in step 5 and at step 3") == (3, 5)
    assert len(steps(" ".join(f"at step {n}" for n in range(100)))) == 4
    assert steps("at step 99999999999999999999") == ()
    assert steps("2000 steps ago") == ()


def test_past_contents_are_found(graph: TemporalGraph) -> None:
    what = read_past_question("What was first in the fridge?", ["fridge"], 9)
    assert recollect(graph, what, ["fridge"]) == [(0, FRIDGE), (1, IN_FRIDGE)]
    when = read_past_question("When was the fridge where?", ["fridge"], 9)
    assert recollect(graph, when, ["fridge"]) == [(0, FRIDGE)]


def test_past_facts_come_with_their_holders(graph: TemporalGraph) -> None:
    here = Triple("you", "is in", "kitchen")
    assert [f for _, f in recollect(graph, PastQuestion((3,)), ["apple"])] == [
        IN_FRIDGE,
        Triple("apple", "is", "raw"),
        FRIDGE,
        here,
    ]
    assert (5, IN_HAND) in recollect(graph, PastQuestion((5,)), ["apple"])
    assert recollect(graph, PastQuestion((0,)), ["apple"]) == [(0, here)]
    assert recollect(graph, PastQuestion((7,)), []) == [(7, Triple("you", "is in", "hall"))]


def test_arrival_times_are_found(graph: TemporalGraph) -> None:
    assert recollect(graph, PastQuestion(order=True), ["hall", "kitchen"]) == [
        (0, Triple("you", "is in", "kitchen")),
        (6, Triple("you", "is in", "hall")),
    ]
    assert recollect(graph, PastQuestion(order=True), ["apple"]) == [
        (1, IN_FRIDGE),
        (4, IN_HAND),
    ]


def test_a_later_episode_counts_its_own_steps(graph: TemporalGraph) -> None:
    graph.add(IN_FRIDGE, 12)
    assert (2, IN_FRIDGE) in recollect(graph, PastQuestion((2,)), ["apple"], origin=10)


def test_lines_stay_within_their_room(graph: TemporalGraph) -> None:
    dated = recollect(graph, PastQuestion((3,)), ["apple"])
    text = dated_lines(dated, 1000)
    assert text == (
        "[step 3] apple: is in fridge; is raw\n[step 3] fridge: is in kitchen\n"
        "[step 3] you: is in kitchen"
    )
    for left in range(len(text) + 1):
        assert len(dated_lines(dated, left)) <= left


# ---------------------------------------------------------------- in AriGraph

ROOM = (
    "-= Kitchen =-\nYou are in a kitchen. You see an opened fridge. The fridge contains an apple."
)


def taught(memory: AriGraph, seed: int = 0) -> AriGraph:
    memory.begin(Task("house/0", "Eat."), seed)
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


def test_recall_has_past_places() -> None:
    recall = taught(AriGraph()).recall(cue("Where was the apple at step 0?"), 300)
    assert "[step 0] apple: is in fridge" in recall.text
    assert IN_HAND in recall.triples
    assert IN_FRIDGE not in recall.triples  # triples are what is true now


def test_recall_shows_the_observation_that_was_asked_for() -> None:
    memory = taught(AriGraph(attempts=0))
    recall = memory.recall(cue("What did you do at step 1?"), 300)
    assert "[step 1] > take apple from fridge\nYou take the apple" in recall.text
    assert recall.text.count("You take the apple") == 1
    assert "You take the apple from the fridge." in recall.episodes
    assert memory.recall(cue("What did you do at step 99?"), 300).text


def test_recall_shows_the_result_of_a_command() -> None:
    memory = taught(AriGraph())
    text = memory.recall(cue("What came of 'take apple from fridge'?"), 300).text
    assert "[step 1] > take apple from fridge\nYou take the apple" in text
    assert "[step 3]" not in memory.recall(cue("How long did you wait?"), 300).text


def test_other_cues_are_recalled_as_usual() -> None:
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


def test_control_states_no_past_facts() -> None:
    wrong = 0
    for seed in range(20):
        memory = taught(ShuffledGraph(), seed)
        text = memory.recall(cue("Where were you at step 1?"), 300).text
        assert "[step 1] you: is in" in text
        wrong += "[step 1] you: is in kitchen" not in text
    assert wrong > 5


def test_without_dates_question_is_aim_as_in_the_paper() -> None:
    recall = taught(AriGraph(dated=False)).recall(cue("Where was the apple at step 0?"), 300)
    assert "[step 0] apple" not in recall.text


def test_everyday_questions_about_the_past_are_read() -> None:
    start = read_past_question("Where did I start?", [], 30)
    assert start is not None
    assert start.steps == (0,)
    dropped = read_past_question("Where did I leave the knife?", ["knife"], 30)
    assert dropped is not None
    assert dropped.order
    after = read_past_question('What did I do right after "open box"?', [], 30, [4])
    assert after is not None
    assert after.done == (4, 5)
    assert read_past_question("leave the knife on the table", ["knife", "table"], 30) is None


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("What was inside when I opened the chest?", [3]),
        ("I dropped the lamp. What happened?", [4]),
        ("What happened when I kicked the chest?", [3, 1]),  # no such verb: whatever was done to it
        ("I like the chest. Where is it?", []),
        ("Where is the chest?", []),
    ],
)
def test_question_about_a_thing_finds_the_action(text: str, steps: list[int]) -> None:
    store = EpisodeStore()
    for t, action in enumerate(
        ["", "examine tool chest", "go east", "open tool chest", "drop lamp"]
    ):
        store.add(t, f"text {t}", action)
    things = [thing for thing in ("tool chest", "lamp") if thing.split()[-1] in text]
    assert ActionIndex(store).named(text, ["you", *things]) == steps
