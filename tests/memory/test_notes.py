"""Notes: lines of facts that are read back, dropped facts, transcripts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.records import Step, Task, Triple
from gym_memory.memory.reading import fact_lines, read_line, sections
from gym_memory.memory.roles.notes import Notes, fit_lines, section, stated_facts

TASK = Task("t", "Cook a meal.", "textworld")
KITCHEN = (
    "-= Kitchen =-\nYou are in a kitchen. You see a fridge. The fridge is closed. You see a table. "
    "On the table is a knife. There is an exit to the east."
)
COOKBOOK = (
    "Ingredients:\n  red onion\n  egg\n\nDirections:\n  slice the red onion\n  prepare meal\n"
)

name = st.text("abc :;=-.'\n\u2028", min_size=1, max_size=12)
relation = st.sampled_from(["is in", "is", "is east of", "has exit", "says", "weighs", "= ", "is:"])
fact = st.builds(Triple, name, relation, name)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(fact, max_size=4), name)
def test_lines_state_exactly_the_written_facts(facts, subject) -> None:
    facts = [f._replace(subject=subject) for f in facts]
    lines = fact_lines(subject, facts)
    read = [f for line in lines for f in read_line(line)]
    written = [f for f in facts if f.relation != "says" and f in read]
    assert [f for f in read if f.relation != "says"] == written
    for f in read:
        if f.relation == "says":
            assert any(g.relation == "says" and g.object.strip() == f.object for g in facts)


@given(st.text(max_size=300), st.integers(-3, 400))
def test_any_text_can_be_read(text, left) -> None:
    for line in text.split("\n"):
        assert all(len(f) == 3 and all(f) for f in read_line(line))
    assert sum(len(line) + 1 for line in fit_lines(text.split("\n"), left)) <= max(left, 0)
    parts = sections(text)
    assert all(line in text for lines in parts.values() for line in lines)
    assert len(section("Read", text.split("\n"), left)) <= max(left, 0)
    Notes(text).text(1000)
    stated_facts(text, TASK)


@pytest.mark.parametrize(
    "line",
    [
        "fridge: is in kitchen; is closed",
        "hall: has exit east; has east door gate; is east of kitchen",
        "beaker: holds = 3 ml of water",
        "- the knife is on the table.",
        "note says: Go east; then: north.",
    ],
)
def test_forms_of_lines(line) -> None:
    assert read_line(line)


@pytest.mark.parametrize(
    "line",
    [
        *("", "Places:", "> go east", "[step 3] > go east", "He said: hello there.", "x" * 5000),
        *("-   is in x", "  says: x", " : is in x"),
    ],
)
def test_prose_is_not_a_fact(line) -> None:
    assert read_line(line) == ()


def test_a_relation_of_another_vocabulary_survives() -> None:
    odd = Triple("beaker", "substance", "water")
    assert read_line(fact_lines("beaker", [odd])[0]) == (odd,)


def test_name_with_separator_is_left_out_not_torn_apart() -> None:
    assert fact_lines("a: b", [Triple("a: b", "is in", "c")]) == []
    assert fact_lines("a", [Triple("a", "is in", "b; is c")]) == []
    assert fact_lines("a", [Triple("a", "is", "in b")]) == []


def test_step_adds_and_ends_facts() -> None:
    notes = Notes()
    notes.take(Step(0, KITCHEN), TASK)
    notes.take(Step(1, "You take the knife from the table.", "take knife"), TASK)
    lines = notes.text(2000).split("\n")
    assert lines[:2] == ["Places:", "you: is in kitchen"]
    assert "knife: is in inventory" in lines
    assert not any("on table" in line for line in lines)
    assert lines.index("knife: is in inventory") < lines.index("fridge: is in kitchen; is closed")


def test_text_is_the_whole_state() -> None:
    """Reading what was written and writing it again gives the same, step after step."""
    steps = [
        Step(0, KITCHEN),
        Step(1, COOKBOOK, "examine cookbook"),
        Step(2, "-= Hall =-\nA hall. There is an exit to the west.", "go east"),
        Step(3, KITCHEN, "go west"),
    ]
    text = ""
    for step in steps:
        notes = Notes(text)
        notes.take(step, TASK)
        text = notes.text(4000)
        assert Notes(text).text(4000) == text
    assert "recipe: requires red onion; requires egg" in text
    live = set(Notes(text).graph.live())
    assert Triple("hall", "is east of", "kitchen") in live
    assert Triple("kitchen", "is west of", "hall") in live, "written once, read both ways"
    assert "is west of" not in text
    assert "has exit" not in text, "both exits were taken"


def test_oldest_facts_are_dropped_and_read_ones_kept() -> None:
    notes = Notes()
    notes.take(Step(0, COOKBOOK, "examine cookbook"), TASK)
    for room in range(60):
        text = f"-= Room {room} =-\nYou see a chest {room}. There is an exit to the east."
        notes.take(Step(room + 1, text, "go east"), TASK)
    text = notes.text(800)
    assert len(text) <= 800
    assert "recipe: requires red onion" in text
    assert "red onion: needs to be sliced" in text
    assert "room 59" in text
    assert "room 3:" not in text


def test_a_transcript_is_read_step_by_step() -> None:
    account = f"[step 0]\n{KITCHEN}\n[step 4] > take knife\nYou take the knife from the table."
    facts = stated_facts(account, TASK)
    assert Triple("knife", "is in", "inventory") in facts
    assert Triple("knife", "is on", "table") not in facts


def test_prose_is_read_with_the_plain_rules_and_kept() -> None:
    prose = "The knife is on the table. I went east."
    assert Triple("knife", "is on", "table") in stated_facts(prose, TASK)
    notes = Notes(prose)
    notes.take(Step(3, KITCHEN, "go west"), TASK)
    assert notes.text(2000).endswith(f"Earlier:\n{prose}")
    assert Notes(notes.text(2000)).text(2000) == notes.text(2000)


def test_a_recipe_is_read_without_its_empty_line() -> None:
    """A recalled observation is shown without empty lines."""
    squeezed = COOKBOOK.replace("\n\n", "\n")
    facts = stated_facts(f"[step 1] > examine cookbook\n{squeezed}", TASK)
    assert [f.object for f in facts if f.relation == "requires"] == ["red onion", "egg"]
