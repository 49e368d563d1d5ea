"""What happens to things, what answers mean, what ends, and which thing a name means."""

from __future__ import annotations

import pytest

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract.draft import apply
from gym_memory.extract.events import events_in
from gym_memory.extract.plain import PlainRules
from gym_memory.graph import TemporalGraph

HALL = "you|is in|hall"


def after(known: str, *steps: tuple[str, str] | tuple[str, str, str]) -> set[str]:
    """Return the live facts after steps of (action, text, inventory)."""
    graph = TemporalGraph()
    for fact in filter(None, known.split("; ")):
        graph.add(Triple(*fact.split("|")), 0)
    for t, (action, text, *inventory) in enumerate(steps, 1):
        step = Step(t, text, action, 0.0, *inventory)
        apply(PlainRules().extract(step, graph, Task("", "")), graph, t, episode=t)
    return {"|".join(fact) for fact in graph.live()}


@pytest.mark.parametrize(
    "text",
    [
        "You try to take the lamp.",
        "You could drop the lamp here.",
        "The path drops a hundred feet.",
        "You take a look around.",
        "You take a deep breath and wait for the dawn.",
        "You get the feeling that it is late.",
        "The old road takes a turn.",
        "Did the thief take the lamp?",
        "There is a rumour that the king is ill.",
        "You are in no hurry.",
        "You come to a conclusion.",
        "You gain confidence.",
        "You obtain permission to enter the palace.",
        "There is a smell of smoke in the air.",
        "The wind blows from the west.",
        "A chill runs down your spine.",
        "The map is in good condition.",
        "Nobody has opened the chest for years.",
        "The guard nearly drops the map.",
        "The guard believes that the gate is closed.",
        "BOB: I left the torch in the cellar.",
    ],
)
def test_idiom_or_attempt_states_nothing(text: str) -> None:
    known = f"{HALL}; lamp|is in|inventory"
    assert after(known, ("", text)) == set(known.split("; "))


def test_verb_with_its_particle_apart_is_one_event() -> None:
    (event,) = events_in("He picks the lamp up.")
    assert event.kinds == ("take",)


@pytest.mark.parametrize(
    ("action", "answer", "before", "now"),
    [
        ("close box", "Closed.", "box|is|open", "box|is|closed"),
        ("shut box", "You shut it.", "box|is|open", "box|is|closed"),
        ("unlock door with key", "Unlocked.", "door|is|locked", "door|is|unlocked"),
        ("light torch", "It catches at once.", "torch|is|unlit", "torch|is|lit"),
        ("turn off radio", "Okay, it's off now.", "radio|is|on", "radio|is|off"),
        ("drop hat", "Done.", "hat|is in|inventory", "hat|is in|hall"),
        ("put hat on peg", "Okay.", "hat|is in|inventory", "hat|is on|peg"),
    ],
)
def test_short_answer_means_the_action(action: str, answer: str, before: str, now: str) -> None:
    found = after(f"{HALL}; {before}", (action, answer))
    assert now in found
    assert before not in found


@pytest.mark.parametrize(
    "answer",
    [
        "You can't, since it is rusted.",
        "You can't see any such thing.",
        "It won't budge.",
        "It seems to be stuck.",
        "What with?",
        "That is already open.",
        "The knob turns but nothing else happens.",
    ],
)
def test_refusal_changes_nothing(answer: str) -> None:
    assert "box|is|closed" in after(f"{HALL}; box|is|closed", ("open box", answer))


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("The lamp is no longer lit.", "lamp|is|lit"),
        ("Your lamp sputters and dies.", "lamp|is|lit"),
        ("The door is not locked any more.", "door|is|locked"),
        ("You unlock the door.", "door|is|locked"),
        ("You no longer have the coin.", "coin|is in|inventory"),
        ("You hand the coin to the clerk.", "coin|is in|inventory"),
        ("The crow snatches the coin and flies away.", "coin|is in|inventory"),
        ("You are carrying nothing.", "coin|is in|inventory"),
        ("Your hands are empty.", "coin|is in|inventory"),
        ("The goat eats the leaf.", "leaf|is in|hall"),
        ("The vase falls to the floor and breaks.", "vase|is in|hall"),
        ("Odo leaves south.", "odo|is in|hall"),
        ("The jar is empty.", "bean|is in|jar"),
    ],
)
def test_ending_ends_a_fact(text: str, over: str) -> None:
    known = (
        f"{HALL}; lamp|is|lit; door|is|locked; coin|is in|inventory; leaf|is in|hall;"
        " vase|is in|hall; odo|is in|hall; bean|is in|jar"
    )
    assert over in after(known)
    assert over not in after(known, ("wait", text))


def test_empty_inventory_text_ends_what_was_carried() -> None:
    known = f"{HALL}; coin|is in|inventory"
    assert after(known, ("wait", "Time passes.", "You are carrying nothing.")) == {HALL}


def test_complete_list_ends_what_it_leaves_out() -> None:
    known = f"{HALL}; lamp|is in|hall"
    assert "lamp|is in|hall" not in after(known, ("wait", "I see 1 rope near me."))
    assert "lamp|is in|hall" not in after(known, ("look", "You see nothing here."))


def test_partial_lists_end_nothing_once_that_is_known() -> None:
    steps = [("look", "Items: rope"), ("look", "Items: rope\nThere is a lamp here.")] * 8
    assert "lamp|is in|hall" in after(f"{HALL}; lamp|is in|hall", *steps, ("look", "Items: rope"))


def test_shorter_name_means_the_one_thing_within_reach() -> None:
    known = f"{HALL}; old brass lamp|is in|hall; red ball|is in|hall; blue ball|is in|hall"
    found = after(known, ("take lamp", "Taken."), ("take ball", "Which ball?"))
    assert "old brass lamp|is in|inventory" in found
    assert not any(fact.startswith(("lamp|", "ball|")) for fact in found)


def test_two_things_of_one_name_are_two() -> None:
    steps = [("i", "You are carrying a coin."), ("look", "There is a coin here.")]
    found = after(HALL, *steps)
    assert {"coin|is in|inventory", "another coin|is in|hall"} <= found
    found = after(HALL, *steps, ("take coin", "Taken."))
    assert {"coin|is in|inventory", "another coin|is in|inventory"} <= found


def test_word_of_the_agent_means_what_the_text_names() -> None:
    found = after(
        f"{HALL}; battery-powered brass lantern|is on|shelf",
        ("take lamp", "Taken."),
        ("light lamp", "The brass lantern is now on."),
        ("drop lamp", "Dropped."),
    )
    assert "battery-powered brass lantern|is in|hall" in found
    assert "lamp|means|battery-powered brass lantern" in found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("You have entered the cellar.", "cellar"),
        ("You go down to the cellar.", "cellar"),
        ("You climb the stair and find yourself in a loft.", "loft"),
        ("N. Main Street\nCars pass.", "n. main street"),
        ("Cellar [dark]\nYou can hardly see.", "cellar"),
        ("In a clearing in the wood\nThe sun shines.", "in clearing in wood"),
    ],
)
def test_arrival_in_any_form_is_read(text: str, place: str) -> None:
    assert f"you|is in|{place}" in after(HALL, ("down", text))


def test_inscription_is_no_place() -> None:
    text = "Words are carved into the wall:\nHALL OF KINGS\nHere they sleep."
    assert HALL in after(HALL, ("examine wall", text))
    assert HALL in after(HALL, ("wait", text))


def test_exits_end_at_the_full_stop() -> None:
    found = after("", ("", "You are in the attic. Exits: west. You see a lamp here."))
    assert found == {"you|is in|attic", "attic|has exit|west", "lamp|is in|attic"}
