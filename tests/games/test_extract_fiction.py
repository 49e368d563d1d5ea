"""Rules for interactive fiction: titles, listings, inventories, short answers, odd text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.graph import TemporalGraph

TASK = Task("t", "score", "fiction")
SHED = (
    "Shed\nNets, floats, and a smell of tar.\n\nYou can see a workbench (on which are a brass "
    "lantern and a coil of rope) and a tin box (closed) here."
)


def facts_after(*steps):
    """Return the live facts after steps (action, text) or (action, text, inventory)."""
    graph, rules = TemporalGraph(), get_extractor("fiction")
    for t, (action, text, *inventory) in enumerate(steps):
        step = Step(t, text, action, inventory=inventory[0] if inventory else "")
        apply(rules.extract(step, graph, TASK), graph, t, episode=t)
    return {tuple(fact) for fact in graph.live()}


def test_room_is_read_with_its_contents():
    assert facts_after(("", SHED)) == {
        ("you", "is in", "shed"),
        ("workbench", "is in", "shed"),
        ("tin box", "is in", "shed"),
        ("tin box", "is", "closed"),
        ("brass lantern", "is on", "workbench"),
        ("coil of rope", "is on", "workbench"),
    }


def test_moving_makes_a_map():
    facts = facts_after(("", SHED), ("west", "Old Yard\nA yard. A path leads north to the mill."))
    assert {
        ("you", "is in", "old yard"),
        ("old yard", "is west of", "shed"),
        ("shed", "is east of", "old yard"),
        ("old yard", "has exit", "north"),
    } <= facts
    assert ("you", "is in", "shed") not in facts


@pytest.mark.parametrize(
    ("action", "text", "fact"),
    [
        (
            "open box",
            "You open the tin box, revealing an iron key.",
            ("iron key", "is in", "tin box"),
        ),
        ("open box", "You open the tin box.", ("tin box", "is", "open")),
        ("take lantern", "Taken.", ("brass lantern", "is in", "inventory")),
        ("drop lantern", "Dropped.", ("brass lantern", "is in", "shed")),
        ("switch on lantern", "You switch the brass lantern on.", ("brass lantern", "is", "on")),
        ("lock box with key", "You lock the tin box.", ("tin box", "is", "locked")),
        ("unlock box with key", "You unlock the tin box.", ("tin box", "is", "closed")),
    ],
)
def test_short_answers(action, text, fact):
    assert fact in facts_after(("", SHED), (action, text))


def test_inventory_lists_everything_carried():
    first = "You are carrying:\n  an iron key\n  a wool cap (being worn)\n  a sack (open)\n"
    facts = facts_after(("", SHED, first))
    assert {fact[0] for fact in facts if fact[2] == "inventory"} == {"iron key", "wool cap", "sack"}
    assert ("sack", "is", "open") in facts
    facts = facts_after(
        ("", SHED, first), ("drop key", "Dropped.", "You are carrying:\n  a wool cap\n")
    )
    assert ("iron key", "is in", "shed") in facts
    assert {fact[0] for fact in facts if fact[2] == "inventory"} == {"wool cap"}


@pytest.mark.parametrize(
    "text",
    ["", "Time passes.", "The Tide Mill\nA small story",
     "It is pitch dark, and you can't see a thing.", "Darkness\nIt is pitch dark.",
     "You can't go that way.", "Really? Yes."],
)  # fmt: skip
def test_text_without_facts_gives_none(text):
    assert facts_after(("wait", text)) == set()


def test_banner_is_not_a_room():
    facts = facts_after(
        ("", "Welcome!\n\nThe Tide Mill\nA story\nRelease 1\n\nLoft\nIt is warm here.")
    )
    assert facts == {("you", "is in", "loft")}


PIECES = st.sampled_from(
    ["Loft\n", "It is dry.", "You can see ", "a tin box (closed)", " and ", "a loaf)", " here.",
     "an oak chest (in which is ", "\n\n", "You are carrying:\n  ", "a key\n  ", "On the shelf is ",
     "Taken.", "(", ")", "north", "to the west", "You open the ", "You switch the lamp on.",
     "\u00e9", "?"]
)  # fmt: skip


@pytest.mark.slow
@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    st.lists(PIECES, max_size=25).map("".join),
    st.sampled_from(["", "take key", "north", "drop it"]),
)
def test_every_fact_can_be_held_and_shows_its_evidence(text, action):
    graph, rules = TemporalGraph(), get_extractor("fiction")
    graph.add(Triple("you", "is in", "cellar"), 0)
    found = rules.extract(Step(1, text, action, inventory=text), graph, TASK)
    for _, start, end in found.mentions:
        assert (start, end) == (-1, -1) or 0 <= start < end <= len(text)
    apply(found, graph, 1)
    assert rules.extract(Step(1, text, action, inventory=text), graph, TASK) is not None
