"""Answers to actions: what they change, where a thing goes, and what ends."""

from __future__ import annotations

import pytest
from reading import read


@pytest.mark.parametrize(
    ("text", "action", "reward", "facts"),
    [
        ("You put the coat in the box.", "put coat in box", 0.25,
         {"coat|was put in|box", "coat|belongs in|box"}),
        ("You put the coat in the box.", "put coat in box", -0.25, {"coat|was put in|box"}),
        ("You put the coat in the box.", "put coat in box", 0.0, set()),
        ("You take the coat.", "take coat", -0.25, {"coat|belongs on|bed"}),
        ("You take the coat.", "take coat", 0.25, set()),
    ],
)  # fmt: skip
def test_reward_says_whether_a_thing_is_where_it_belongs(
    text: str, action: str, reward: float, facts: set[str]
) -> None:
    known = "you|is in|hall; coat|is on|bed; bed|is in|hall; box|is in|hall"
    _, found = read(text, action, known, reward=reward)
    assert {fact for fact in found if "was put" in fact or "belongs" in fact} == facts


def test_recipe_label_and_listed_answer_are_distinguished() -> None:
    hall = "you|is in|hall"
    assert read("Cooking directions: dice the carrot, fry it", known=hall)[1] == {hall}
    put = read("lamp: taken\nDone.", "put lamp in box")[0].mentions
    assert [m.triple.object for m in put] == ["inventory", "box"]


def test_statement_ends_older_facts() -> None:
    hall = "you|is in|hall; pen|is in|inventory; cup|is in|inventory; box|is|empty"
    dropped = read("You drop the pen.", "drop pen", hall)[1]
    assert "pen|is in|hall" in dropped
    assert "pen|is in|inventory" not in dropped
    for text, action in (("You are now on the bed.", "sit on bed"), ("You get up.", "out")):
        assert "you|is in|hall" in read(text, action, hall)[1]
    assert "pen|is in|inventory" not in read("You hand the pen to Ann.", "", hall)[1]
    assert "box|is|empty" not in read("You put the pen in the box.", "put pen", hall)[1]
    listed = read("Inventory:\n  a cup\n", "inventory", hall)[1]
    assert "pen|is in|inventory" not in listed
    assert "cup|is in|inventory" in listed
    eaten = read("You eat the cup.", "eat cup", hall)[1]
    assert {f for f in eaten if f.startswith("cup")} == {"cup|is|consumed"}
    moved = read("You see a wall 1 step left.", "left", "ball|is seen|2 steps left")[1]
    assert moved == {"wall|is seen|1 step left"}
    assert read("Score: 3", "x", "score|is|2")[1] == {"score|is|3"}


def test_name_written_apart_or_short_is_one_thing() -> None:
    known = "you|is in|hall; trapdoor|is|closed; trapdoor|is in|hall"
    opened = "The door reluctantly opens to reveal a stair."
    assert "trapdoor|is|open" in read(opened, "open trapdoor", known)[1]
    assert "trapdoor|is|open" in read("The trap door is open.", "look", known)[1]


@pytest.mark.parametrize(
    ("known", "action", "text", "facts"),
    [
        ("you|is in|hut; small mailbox|is in|hut", "open mailbox", "You open the mailbox.",
         "small mailbox|is in|hut; small mailbox|is|open"),
        ("you|is in|hut; desk|is|closed", "open desk", "You pull the desk open and look in.",
         "desk|is|open"),
        ("you|is in|hut; desk|is|open", "close desk", "You push the desk shut.", "desk|is|closed"),
        ("you|is in|hut; iron gate|is|locked; hut|has west door|iron gate", "unlock gate", "Click!",
         "iron gate|is|unlocked; hut|has west door|iron gate"),
        ("you|is in|hut; oak box|is|open; oak box|is in|hut; rope|is in|inventory",
         "put rope in box", "You coil the rope and stow it in the box.",
         "rope|is in|oak box; oak box|is in|hut; oak box|is|open"),
        ("you|is in|hut; trapdoor|is in|hut; hut|has west door|iron door", "open trapdoor",
         "The door opens with a creak.",
         "trapdoor|is in|hut; trapdoor|is|open; hut|has west door|iron door"),
        ("you|is in|hut; bar|is in|inventory", "drop bar", "The gold bar thuds onto the floor.",
         "bar|is in|hut"),
        ("you|is in|hut; vase|is in|hut; pin|is in|hut", "smash vase",
         "You smash the vase but recover nothing useful.", "pin|is in|hut"),
        ("you|is in|hut; bar|is in|inventory", "drop bar", "The bar slips, but you catch it.",
         "bar|is in|inventory"),
        ("you|is in|hut; bar|is in|inventory", "drop bar", "You let the bar slide to the ground.",
         "bar|is in|hut"),
        ("you|is in|hut; oak box|is|closed", "open box", "You can't, since the oak box is locked.",
         "oak box|is|locked"),
        ("you|is in|hut; oak box|is in|hut", "open box", "You pry the lid off, revealing a pin.",
         "oak box|is in|hut; oak box|is|open; pin|is in|oak box"),
        ("you|is in|hut; vase|is in|inventory", "eat vase", "That's plainly inedible.",
         "vase|is in|inventory"),
        ("you|is in|hut; oak box|is|closed", "open box", "The oak box seems to be locked.",
         "oak box|is|locked"),
        ("you|is in|hut; pin|is in|desk", "look in desk", "There is nothing in the desk.", ""),
        ("you|is in|hut; flask|is|empty", "fill flask", "You fill the flask with oil.",
         "oil|is in|flask"),
        ("you|is in|hut; vase|is in|hut", "take vase", "As you reach for the vase, it tips over.",
         "vase|is in|hut"),
        ("you|is in|hut; rope|is in|inventory", "tie rope to post", "You tie the rope to the post.",
         "rope|is on|post"),
        ("you|is in|hut; lamp|is in|inventory", "wait", "Your lamp has been stolen!", ""),
        ("you|is in|hut; lamp|is in|inventory", "wait", "You realize the lamp is missing.", ""),
        ("you|is in|hut; lamp|is carried by|thief", "wait", "You recover your lamp.",
         "lamp|is in|inventory"),
        ("you|is in|hut; ann|is in|yard", "wait", "Ann follows you.", "ann|is in|hut"),
        ("you|is in|hut; ann|is in|hut; bar|is in|hut", "wait", "Ann heads upstairs.",
         "bar|is in|hut"),
        ("you|is in|hut; pin|is in|inventory", "i", "You have a torch and nothing else.",
         "torch|is in|inventory"),
        ("you|is in|hut; oak box|is in|hut", "open it", "You open it.", "oak box|is in|hut"),
        ("you|is in|hut; gate|is|open", "wait", "The gate is slammed shut by a gust.",
         "gate|is|closed"),
        ("you|is in|hut; cell|is in|radio", "remove cell", "You pop the cell out of the radio.",
         "cell|is in|inventory"),
        ("you|is in|hut; radio|is|off", "turn on radio", "The radio crackles to life.",
         "radio|is|on"),
        ("you|is in|hut; door|is in|hut", "open door", "The door is locked from the other side.",
         "door|is in|hut; door|is|locked"),
        ("you|is in|hut; boy|is in|hut; bar|is in|hut", "wait",
         "The boy bumps into you and scampers off.", "bar|is in|hut"),
        ("you|is in|hut; watch|is carried by|ann", "wait", "Ann returns your watch.",
         "watch|is in|inventory"),
        ("you|is in|hut; axe|is carried by|troll", "attack", "The troll's axe lands on the floor.",
         "axe|is in|hut"),
        ("you|is in|hut; dial|is|3", "turn dial to 5", "The dial is now set to 5.", "dial|is|5"),
        ("you|is in|hut; guard|is in|hut; bar|is in|hut", "wait",
         "The guard yawns and wanders off to the east.", "bar|is in|hut"),
    ],
)  # fmt: skip
def test_answer_changes_what_the_action_names(
    known: str, action: str, text: str, facts: str
) -> None:
    assert read(text, action, known)[1] == {"you|is in|hut", *filter(None, facts.split("; "))}


def test_thing_that_falls_and_breaks_is_nowhere() -> None:
    known = "you|is in|hut; vase|is on|shelf"
    assert read("The vase falls to the floor and breaks.", "", known)[1] == {"you|is in|hut"}


def test_pronoun_is_subject_of_later_verb() -> None:
    known = "you|is in|hut; match|is|lit; match|is in|inventory"
    found = read("It sputters for a moment and goes out.", "examine match", known)[1]
    assert "match|is|lit" not in found


@pytest.mark.parametrize(
    ("answer", "held"),
    [("The rope sails through the air.", False), ("You throw the rope.", False), ("Thrown.", False),
     ("You'd better not.", True)],
)  # fmt: skip
def test_thrown_thing_is_in_hand_no_more(answer: str, held: bool) -> None:
    found = read(answer, "throw rope at wall", "you|is in|hut; rope|is in|inventory")[1]
    assert ("rope|is in|inventory" in found) == held
