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
        "You are at your wits' end.",
        "You thought that the gate was open.",
        "The river runs north here.",
        "A tree stands 2 steps to your north.",
        "Doorways open off the hall.",
        "Observation: nothing has changed.",
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
        ("unlock box", "The bolt gives with a clack.", "box|is|locked", "box|is|unlocked"),
        ("turn off pump", "It rattles to a stop.", "pump|is|on", "pump|is|off"),
        ("put pin in slot", "It drops out of sight.", "pin|is in|inventory", "pin|is in|slot"),
        ("give pin to maid", "She pockets it.", "pin|is in|inventory", "pin|is carried by|maid"),
        ("close hatch", "The hatch bangs.", "hatch|is|open", "hatch|is|closed"),
        ("turn on lamp", "The lamp is now glowing.", "lamp|is|off", "lamp|is|on"),
        ("light lamp", "(Taken)\nThe lamp is now on.", "lamp|is in|hall", "lamp|is in|inventory"),
        ("north", "(first opening the gate)\nYard", "gate|is|closed", "gate|is|open"),
        ("kick door", "As you kick the door, it flies open.", "door|is|closed", "door|is|open"),
        ("enter barn", "You duck inside.", HALL, "you|is in|barn"),
        (
            "put pin on pile",
            "You set it gently right on top.",
            "pin|is in|inventory",
            "pin|is on|pile",
        ),
        ("open jar", "The cork comes out.", "jar|is|closed", "jar|is|open"),
        ("switch off lamp", "The room goes dark.", "lamp|is|on", "lamp|is|off"),
        ("take hat", "You lift the hat off its peg.", "hat|is on|peg", "hat|is in|inventory"),
        ("take hat", "You sling the hat over your arm.", "hat|is on|peg", "hat|is in|inventory"),
        ("unlock box", "You turn the key and hear a click.", "box|is|locked", "box|is|unlocked"),
        ("open box", "It's locked.", "box|is|closed", "box|is|locked"),
        ("open box", "You flip up the lid.", "box|is|closed", "box|is|open"),
        ("drop net", "The net clatters to the floor.", "net|is in|inventory", "net|is in|hall"),
        ("put all on shelf", "pin: Done.\ncup: Done.", "pin|is in|inventory", "pin|is on|shelf"),
        ("drop net", "The net splashes into the lake.", "net|is in|inventory", "net|is in|lake"),
        ("open box", "It is ajar now.", "box|is|closed", "box|is|open"),
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
        ("Your lamp has run out of oil.", "lamp|is|lit"),
        ("The lamp flares up, then goes out.", "lamp|is|lit"),
        ("Odo is DEAD!", "odo|is in|hall"),
        ("Odo bows low and walks off.", "odo|is in|hall"),
        ("Odo limps away.", "odo|is in|hall"),
        ("You trade your coin for the hat.", "coin|is in|inventory"),
        ("The coin rolls out of sight.", "coin|is in|inventory"),
        ("The coin slips from your hand.", "coin|is in|inventory"),
        ("The wind takes the coin.", "coin|is in|inventory"),
        ("The leaf turns to dust.", "leaf|is in|hall"),
        ("The goat snatches the coin and lies down.", "coin|is in|inventory"),
        ("The coin falls from your hand into the drain.", "coin|is in|inventory"),
        ("You move the bean from the jar to the shelf.", "bean|is in|jar"),
        ("You leave the coin behind.", "coin|is in|inventory"),
        ("The trader gives you a map for the coin.", "coin|is in|inventory"),
        ("You polish the coin and drop it into the well.", "coin|is in|inventory"),
        ("Odo has left the game.", "odo|is in|hall"),
        ("You tumble through a trapdoor!", HALL),
    ],
)
def test_ending_ends_a_fact(text: str, over: str) -> None:
    known = (
        f"{HALL}; lamp|is|lit; door|is|locked; coin|is in|inventory; leaf|is in|hall;"
        " vase|is in|hall; odo|is in|hall; bean|is in|jar"
    )
    assert over in after(known)
    assert over not in after(known, ("wait", text))


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("You close the lid, but it springs open again.", "lid|is|open"),
        ("You lift the coin, but it slips back.", "coin|is in|hall"),
    ],
)
def test_contrast_undoes_what_came_before(text: str, before: str) -> None:
    assert after(f"{HALL}; {before}", ("wait", text)) == {HALL, before}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Old Tom hobbles in from the west.", "old tom|is in|hall"),
        ("A grey rat drops from the beam.", "grey rat|is in|hall"),
        ("Ida the cook is here, humming.", "ida the cook|is in|hall"),
        ("A ferryman sits mending a net.", "ferryman|is in|hall"),
        ("By the fire sat an old woman with a cane.", "old woman|is in|hall"),
        ("The clerk slides a pass over the desk to you.", "pass|is in|inventory"),
        ("The cook pours you a cup of tea.", "cup of tea|is in|inventory"),
        ("You slip the pass into your coat pocket.", "pass|is in|inventory"),
        ("You gather up the coins.", "coins|is in|inventory"),
        ("You shove the crate aside, uncovering a hatch.", "hatch|is in|hall"),
        ("A clock ticks on the mantel.", "clock|is on|mantel"),
        ("A board is nailed to a post here.", "board|is in|hall"),
        ("You turn the wheel until the valve is shut.", "valve|is|closed"),
        ("The chest stood open; inside lay a map.", "map|is in|chest"),
        ("The door at the far end was locked.", "door|is|locked"),
        ("Glancing about, you see a stool.", "stool|is in|hall"),
        ("A lean dog sniffs around here.", "lean dog|is in|hall"),
        ("The crib has a doll on it.", "doll|is on|crib"),
        ("The drawer slides open. There is a pin in it.", "pin|is in|drawer"),
        ("There is a harp with broken strings here.", "harp|is in|hall"),
        ("You rinse the cup using the sink.", "cup|is|clean"),
        ("You accept the key from the monk.", "key|is in|inventory"),
        ("You find the cellar door unlocked.", "cellar door|is|unlocked"),
        ("Next to you is a crate.", "crate|is in|hall"),
        ("The maid sets a tray on the table and withdraws.", "tray|is on|table"),
        ("The door to the north closes.", "door|is|closed"),
        ("The counter holds a plate.", "plate|is on|counter"),
        ("A smith hammers at a bar here.", "smith|is in|hall"),
        ("A soldier steps from behind the pillar.", "soldier|is in|hall"),
        ("The gate was locked, as it was every night.", "gate|is|locked"),
        ("You draw the knife from the block.", "knife|is in|inventory"),
        ("The agent picks up the ball.", "ball|is in|inventory"),
        ("The gate creaks open a few inches.", "gate|is|open"),
        ("The crate is open and contains a saw.", "saw|is in|crate"),
        ("There is a stove on the counter and an egg inside it.", "egg|is in|stove"),
        ("It is a small bedroom with a cot and a lamp.", "cot|is in|hall"),
        ("Lifting the rug, you see a hatch underneath.", "hatch|is in|hall"),
        ("Ida wields a black axe.", "black axe|is carried by|ida"),
        ("North of you is the porch.", "porch|is seen north of|hall"),
        ("[ALERT] The gate is now closed.", "gate|is|closed"),
        ("With a mighty tug you free the axe from the log.", "axe|is in|inventory"),
    ],
)
def test_who_comes_and_what_changes_hands(text: str, fact: str) -> None:
    assert fact in after(HALL, ("wait", text))


def test_lamp_that_is_on_stays_on_when_it_gives_light() -> None:
    found = after(f"{HALL}; lamp|is|on", ("i", "You are carrying:\n  a lamp (providing light)"))
    assert found == {HALL, "lamp|is|on", "lamp|is in|inventory"}


def test_machine_that_starts_and_dies_is_not_on() -> None:
    assert "pump|is|on" not in after(HALL, ("turn on pump", "It coughs, then dies."))


def test_asked_person_hands_over_what_was_asked_for() -> None:
    found = after(HALL, ("ask guard for pass", "The guard nods and hands it over."))
    assert "pass|is in|inventory" in found


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
        ("You scramble into a gully.", "gully"),
        ("You pick your way down to the beach.", "beach"),
        ("You climb out of the cart onto a quay.", "quay"),
        ("You emerge, coughing, into a yard.", "yard"),
        ("The flood rises, and you are swept back to the weir.", "weir"),
        ("Chapter 2\n\nThe Weir\n\nYou stop for breath.", "weir"),
        ("Goat Track, above the Falls\nIt is steep.", "goat track"),
        ("Area: Weir (safe zone)", "weir"),
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
