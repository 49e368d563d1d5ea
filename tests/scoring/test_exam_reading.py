"""What the exam reads in a recall, whatever its form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_memory.memory.history import History
from gym_memory.memory.registry import make_memory
from gym_memory.scoring.exam.reading import Reading
from gym_memory.types import Cue, Recall, Step, Task, Triple

TASK = Task("house/0", "Eat.")
KITCHEN = (
    "-= Kitchen =-\nYou are in a kitchen. You see an opened fridge. The fridge contains an apple "
    "and an egg.\n\nThere is an exit to the east."
)
HALL = "-= Hall =-\nYou are in a hall.\n\nThere is an exit to the west."
TAKEN = "You take the apple from the fridge."
STEPS = (
    Step(0, KITCHEN),
    Step(1, TAKEN, "take apple from fridge"),
    Step(2, HALL, "go east"),
    Step(3, "Time passes.", "wait"),
)
NOW = STEPS[-1]


def read(text: str = "", triples: tuple[Triple, ...] = (), step: Step = NOW) -> Reading:
    return Reading(Recall(text, triples), step, TASK)


TRANSCRIPT = f"{KITCHEN}\n> take apple from fridge\n{TAKEN}\n> go east\n{HALL}\n> wait"
DATED = (
    f"[step 0]\n{KITCHEN}\n[step 1] > take apple from fridge\n{TAKEN}\n[step 2] > go east\n{HALL}"
)
FACTS = "apple: is in inventory\negg: is in fridge\nfridge: is in kitchen\nhall: is east of kitchen"
PROSE = "The egg is in the fridge. The fridge is in the kitchen."


@pytest.mark.parametrize("text", [TRANSCRIPT, DATED, FACTS])
def test_all_forms_say_what_is_true_now(text: str) -> None:
    reading = read(text)
    assert reading.place("egg") == "fridge"
    assert reading.place("apple") == "inventory"
    assert reading.place("fridge") == "kitchen"
    assert reading.ways("kitchen") == {"east": "hall"}
    assert reading.ways("hall") == {"west": "kitchen"}
    assert reading.contents("fridge") == {"egg"}
    assert reading.place("pear") == ""


def test_prose_is_read_with_the_plain_rules() -> None:
    assert read(PROSE).place("egg") == "fridge"


@pytest.mark.parametrize("text", [TRANSCRIPT, DATED])
def test_transcripts_say_what_was_true(text: str) -> None:
    reading = read(text)
    assert reading.place_at("apple", 0) == "fridge"
    assert reading.place_at("apple", 1) == "inventory"
    assert [reading.place_at("you", t) for t in range(4)] == ["kitchen", "kitchen", "hall", "hall"]
    assert reading.action_at(1) == "take apple from fridge"
    assert reading.action_at(2) == "go east"
    assert reading.first(Triple("you", "is in", "hall")) == 2
    assert reading.first(Triple("apple", "is in", "inventory")) == 1


def test_facts_without_a_step_say_nothing_of_the_past() -> None:
    assert read(FACTS).place_at("egg", 0) == ""
    assert read(FACTS, (Triple("egg", "is in", "fridge"),)).place_at("egg", 0) == ""


def test_dated_facts_say_what_was_true_then() -> None:
    reading = read("[step 1] apple: is in fridge; is raw", (Triple("apple", "is in", "inventory"),))
    assert reading.place_at("apple", 1) == "fridge"
    assert reading.place_at("apple", 0) == ""
    assert reading.place("apple") == "inventory"


def test_a_log_of_actions_is_read() -> None:
    text = "Completed actions:\n1. take apple from fridge\n2. go east (kitchen to hall)"
    reading = read(text)
    assert reading.action_at(2) == "go east"
    assert reading.place_at("you", 2) == "hall"
    assert reading.place_at("apple", 1) == "inventory"
    assert read("Completed actions:\n2. put egg on table").place_at("egg", 2) == "table"
    assert read("Lessons:\n2. Opening the fridge may be necessary").action_at(2) == ""


def test_an_undated_transcript_is_counted_back_from_the_present() -> None:
    text = f"> take apple from fridge\n{TAKEN}\n> go east\n{HALL}\n> wait"
    later = read(text, step=NOW._replace(t=103))
    assert later.action_at(101) == "take apple from fridge"
    assert later.place_at("apple", 101) == "inventory"
    assert later.place_at("you", 102) == "hall"
    assert later.action_at(1) == ""


def test_nothing_is_taken_to_last_over_a_gap() -> None:
    text = f"[step 0]\n{KITCHEN}\n[step 7] > go east\n-= Attic =-\nYou are in an attic."
    reading = read(text, step=NOW._replace(t=20))
    assert reading.ways("kitchen") == {}  # seven steps lie between
    assert reading.place_at("you", 0) == "kitchen"
    assert reading.place_at("you", 3) == ""
    assert reading.place_at("you", 7) == "attic"
    assert reading.place_at("egg", 3) == "fridge"  # things stay where they are


def test_triples_are_believed_before_older_texts() -> None:
    reading = read(f"[step 0]\n{KITCHEN}", (Triple("apple", "is in", "inventory"),))
    assert reading.place("apple") == "inventory"
    first = (Triple("egg", "is in", "pan"), Triple("egg", "is in", "fridge"))
    assert read("", first).place("egg") == "pan"
    gone = read(f"[step 0]\n{KITCHEN}", (Triple("apple", "is", "consumed"),))
    assert gone.contents("fridge") == {"egg"}


def test_a_sentence_cut_short_is_not_read() -> None:
    cut = f"[step 0]\n{KITCHEN[: KITCHEN.index('egg') + 2]}"
    assert "The fridge contains an apple and an eg" in cut
    assert read(cut).contents("fridge") == set()
    assert read(cut).place("fridge") == "kitchen"


def test_the_present_observation_is_read_too() -> None:
    assert read("", step=STEPS[0]).place("egg") == "fridge"
    way = read(TRANSCRIPT.partition("\n> wait")[0].rpartition(f"\n{HALL}")[0], step=STEPS[2])
    assert way.ways("kitchen") == {"east": "hall"}


@given(st.text(max_size=300), st.integers(0, 50))
def test_any_text_can_be_read(text: str, t: int) -> None:
    reading = read(text, step=NOW._replace(t=t))
    assert reading.place("pear") == ""
    reading.place_at("pear", t)
    reading.contents("kitchen")


@given(
    st.lists(
        st.sampled_from(["[step 1] > look", "> go east", HALL, KITCHEN, "[step 9]", FACTS, PROSE]),
        max_size=8,
    ),
    st.integers(0, 12),
)
def test_any_order_of_forms_can_be_read(parts: list[str], t: int) -> None:
    reading = read("\n".join(parts), step=NOW._replace(t=t))
    assert reading.place("pear") == ""
    for past in range(t + 1):
        assert reading.place_at("pear", past) == ""


def test_what_a_memory_recalls_in_full_is_read_as_it_was() -> None:
    for name in ("history", "arigraph", "summary", "stma"):
        memory = make_memory(name)
        memory.begin(TASK, 0)
        for step in STEPS:
            memory.observe(step)
        reading = Reading(memory.recall(Cue(NOW.text, TASK.goal), 2000), NOW, TASK)
        assert reading.place("egg") == "fridge", name
        assert reading.place("apple") == "inventory", name
        assert reading.ways("kitchen") == {"east": "hall"}, name


def test_history_is_counted_to_its_first_step_only_if_it_begins_there() -> None:
    memory = History(window=2)
    memory.begin(TASK, 0)
    for step in STEPS:
        memory.observe(step)
    reading = Reading(memory.recall(Cue(NOW.text, TASK.goal), 2000), NOW, TASK)
    assert reading.place_at("you", 2) == "hall"
    assert reading.place_at("apple", 0) == ""
    assert reading.action_at(1) == "take apple from fridge"
