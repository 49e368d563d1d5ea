"""Descriptions that show a thing without a word for *here*, and what only seems to be one."""

from __future__ import annotations

import pytest
from reading import changes

HUT = "you|is in|hut"


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("Caught in the reeds, and a little torn, is a paper kite.", "paper kite"),
        ("Half hidden by the curtain is a ladle.", "ladle"),
        ("Off in one corner stands a churn!", "churn"),
        ("Resting on its side is what seems to be a bell.", "bell"),
        ("A bent nail juts out of the beam, its head worn flat.", "bent nail"),
        ("A sickle, old but sharp, is driven into the doorpost.", "sickle"),
        ("While the loft is nearly bare, a milk pail is standing on a beam.", "milk pail"),
        ("Some hasty baker has left a rolling pin among the crumbs.", "rolling pin"),
        ("Somebody forgot their thimble here.", "thimble"),
        ("You shake the coat and a button drops out!", "button"),
        ("As you lift the sack, a turnip rolls out of it and comes to rest.", "turnip"),
        ("When the dust settles, you notice a small hatchet near the stove.", "small hatchet"),
        ("Only a length of wire remains.", "length of wire"),
        ("With a crash the shelf collapses, revealing a tin.", "tin"),
        ("You rummage through the rags and a bead falls out!", "bead"),
        ("Sitting on a stool, whittling a stick, is Orla.", "orla"),
        ("A short ladder lies half-hidden in the straw.", "short ladder"),
        ("All that is left of the snowman is a carrot.", "carrot"),
    ],
)
def test_description_puts_the_thing_here(text: str, thing: str) -> None:
    assert changes(HUT, "look", text) == {f"{thing}|is in|hut"}


@pytest.mark.parametrize(
    "text",
    [
        "Talking to the wall is a mistake.",
        "A storm is brewing.",
        "A ship is drifting in the distance.",
        "A mill is standing to the far north.",
        "A mule stands 3 steps to your west.",
        "Some people have left in a hurry.",
        "Leading down from the loft are steep stairs.",
    ],
)
def test_description_puts_nothing_here(text: str) -> None:
    assert not any("|is in|hut" in fact for fact in changes(HUT, "look", text))


@pytest.mark.parametrize(
    ("known", "action", "text", "facts"),
    [
        (f"{HUT}; hatbox|is in|hut; tool box|is in|hut", "take box", "(the hatbox)\nTaken.",
         "hatbox|is in|inventory; -hatbox|is in|hut"),
        (f"{HUT}; spade|is in|inventory", "drop all", "(the rusty spade)\nDropped.",
         "spade|is in|hut; -spade|is in|inventory"),
        (HUT, "drop all", "(the rusty spade)\nDropped.", "rusty spade|is in|hut"),
        (f"{HUT}; coin|is in|inventory", "drop coin", "You drop the coin into the well.",
         "coin|is in|well; -coin|is in|inventory"),
        (f"{HUT}; hatch|is|open", "pull rope", "The hatch crashes down. It is shut.",
         "hatch|is|closed; -hatch|is|open"),
        (f"{HUT}; file|is in|bag; twine|is in|bag", "look in bag", "In the bag is a file.",
         "-twine|is in|bag"),
        (f"{HUT}; ring|is in|inventory", "talk", "He takes it and returns it to the proper place.",
         ""),
        (HUT, "east", "You duck under the beam and slide down into Mill Lane.",
         "you|is in|mill lane; -" + HUT),
        (HUT, "east", "You clamber over the wall into a walled orchard.",
         "you|is in|walled orchard; -" + HUT),
        (HUT, "east", "You surface in the Mill Pond.",
         "you|is in|mill pond; -" + HUT),
        (HUT, "east", "You bang into the wall.", ""),
        (HUT, "score", "You have so far scored 40 out of a possible 300, in 12 turns.",
         "score|is|40"),
        (HUT, "", "A baker comes in from the north, carrying a tray.",
         "baker|is in|hut; tray|is carried by|baker"),
        (f"{HUT}; cart|is in|hut", "", "The cart rumbles off.", "-cart|is in|hut"),
        (HUT, "i", "You are carrying:\n  a tin (open but empty)\n  one odd glove",
         "tin|is in|inventory; tin|is|open; tin|is|empty; odd glove|is in|inventory"),
        (HUT, "", "Exits:\n N: Mill\n S: (unknown)",
         "hut|has exit|north; hut|has exit|south; mill|is seen north of|hut"),
        (HUT, "", "Somebody left their thimble on the sill.", "thimble|is on|sill"),
        (HUT, "", "[Go Back]\nBlue Towel\n$4.50\n[Buy Now]", ""),
    ],
)  # fmt: skip
def test_step_changes_these_facts(known: str, action: str, text: str, facts: str) -> None:
    assert changes(known, action, text) == set(filter(None, facts.split("; ")))


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ('<b>Mill</b><br/>Exits: <a href="#n">north</a> <a href="#u">up</a>',
         "you|is in|mill; mill|has exit|north; mill|has exit|up"),
        ("<p>You are carrying:</p><ul><li>a file</li><li>a cork</li></ul>",
         "file|is in|inventory; cork|is in|inventory"),
        ('<view turn="6"><location>Mill</location></view>', "turn|is|6; you|is in|mill"),
        ('<view turn="6" turn="7"><location>Mill</location></view>', "turn|is|7; you|is in|mill"),
        ("30H 12M 90V >", "h|is|30; m|is|12; v|is|90"),
        ("<30/40hp 9/9sp>", "hp|is|30/40; sp|is|9/9"),
        ("Observation Room\nStars wheel past.", "you|is in|observation room"),
        ("I am in a bog. Obvious exits: EAST.", "you|is in|bog; bog|has exit|east"),
        (" Mill Yard                      10:42 p.m.\n\nSnow falls.", "you|is in|mill yard"),
        ('The "3" cube: Dropped.\nThe "1" cube: Dropped.', ""),
    ],
)  # fmt: skip
def test_first_text_states_these_facts(text: str, facts: str) -> None:
    assert changes("", "", text) == set(filter(None, facts.split("; ")))
