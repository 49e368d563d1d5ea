"""Facts from the answers to commands in TextWorld, and what follows from them."""

from __future__ import annotations

import pytest
from test_extract_textworld import KITCHEN, after, extract, facts_of, said

from gym_memory.core.records import Triple

RESULTS = {
    ("take egg", "You take the egg from the table."): "egg|is in|inventory",
    ("take egg from table", "You take the raw egg from the table."):
        "egg|is in|inventory; egg|is|raw",
    ("take egg", "You pick up the egg from the ground."): "egg|is in|inventory",
    ("drop egg", "You drop the egg on the ground."): "egg|is in|kitchen",
    ("put egg on table", "You put the egg on the table."): "egg|is on|table",
    ("insert egg into box", "You put the egg into the box."): "egg|is in|box",
    ("open box", "You open the box, revealing a pen and a cup."):
        "box|is|open; pen|is in|box; cup|is in|box",
    ("open box", "You open the box."): "box|is|open; box|is|empty",
    ("open oak gate", "You open oak gate."): "oak gate|is|open",
    ("close box", "You close the box."): "box|is|closed",
    ("lock box with key", "You lock the box."): "box|is|locked; key|opens|box",
    ("unlock box with key", "You unlock the box."): "box|is|closed; key|opens|box",
    ("unlock the box with the tin key", "You unlock box."): "box|is|closed; tin key|opens|box",
    ("eat egg", "You eat the egg. Not bad."): "egg|is|consumed",
    ("drink milk", "You drink the milk. Not bad."): "milk|is|consumed",
    ("cook egg with stove", "You fried the egg."): "egg|is|fried; stove|used for|frying",
    ("cook egg with oven", "You roasted the egg."): "egg|is|roasted; oven|used for|roasting",
    ("cook egg with BBQ", "You grilled the egg.\n\nYour score has just gone up by one point."):
        "egg|is|grilled; bbq|used for|grilling",
    ("cook egg with stove", "You burned the egg!"): "egg|is|burned",
    ("slice carrot with knife", "You slice the carrot."): "carrot|is|sliced",
    ("dice carrot with knife", "You dice the carrot."): "carrot|is|diced",
    ("chop carrot with knife", "You chop the carrot."): "carrot|is|chopped",
    ("chop carrot with knife", "The carrot is already sliced."): "carrot|is|sliced",
    ("open box", "You have to unlock the box with the tin key first."):
        "box|is|locked; tin key|opens|box",
    ("open box", "The box is welded shut."): "box|is|locked",
    ("go east", "You have to open the oak gate first."): "oak gate|is|closed",
    ("put egg in box", "The box is closed."): "box|is|closed",
    ("look in box", "In the box are a pen and a cup."):
        "box|is|open; pen|is in|box; cup|is in|box",
    ("examine table", "The table is shaky.\nOn the table is a raw egg."):
        "egg|is on|table; egg|is|raw",
    ("examine box", "The box looks strong, and impossible to break. It is locked."):
        "box|is|locked",
    ("examine box", "The box looks sturdy. You can see inside it."): "box|is|open",
    ("examine box", "The box looks sturdy. You can't see inside it because the lid's in your way."):
        "box|is|closed",
    ("examine box", "The box looks noble. There is a lock on it and seems impossible to open."):
        "box|is|locked",
    ("examine egg", "That's a sliced fried egg!"): "egg|is|sliced; egg|is|fried",
    ("examine stove", "Useful for frying things."): "stove|used for|frying",
    ("prepare meal", "Can only prepare meal in the -= Kitchen =-."): "meal|is prepared in|kitchen",
    ("inventory", "You are carrying: a raw egg and an old key."):
        "egg|is in|inventory; egg|is|raw; old key|is in|inventory",
    ("inventory", "You are carrying nothing."): "",
    ("drop all", "tin key: You drop the tin key on the ground.\negg: You drop the egg on the "
     "ground."): "tin key|is in|kitchen; egg|is in|kitchen",
}  # fmt: skip


@pytest.mark.parametrize(("action", "text"), RESULTS)
def test_results(action: str, text: str) -> None:
    known = f"{KITCHEN}; box|is in|kitchen; egg|is on|table; stove|is in|kitchen; cup|is on|table"
    found = said(text, action, known)
    placed = {f for f in found if f.relation.startswith("was put")}
    assert found - placed - facts_of("table|is|empty") == facts_of(RESULTS[action, text])
    assert bool(placed) == text.startswith("You put ")


REFUSALS = (
    "You can't see any such thing.",
    "You can't go that way.",
    "You need to take the egg first.",
    "That's already open.",
    "That's plainly inedible.",
    "That's fixed in place.",
    "You haven't got that.",
    "Cooking requires a source of heat.",
    "Cutting something requires a knife.",
    "You still miss something.",
    "What do you want to take?",
    "Which do you mean, the red apple or the green apple?",
    "That's not a verb I recognise.",
    "You're carrying too many things already.",
)


@pytest.mark.parametrize("text", REFUSALS)
@pytest.mark.parametrize("action", ["take egg from table", "go east", "eat egg", "read table"])
def test_refused_commands_change_nothing(text: str, action: str) -> None:
    before = f"{KITCHEN}; egg|is on|table; key|is in|inventory"
    assert after(text, action, before) == facts_of(before)


# --- what follows -------------------------------------------------------------------------------


def test_move_gives_the_way_and_the_way_back() -> None:
    text = "-= Hall =-\nYou are in a hall.\n\nThere is an exit to the west."
    live = after(text, "go east", KITCHEN)
    assert facts_of("hall|is east of|kitchen; kitchen|is west of|hall; you|is in|hall") <= live
    assert Triple("you", "is in", "kitchen") not in live


@pytest.mark.parametrize("action", ["look", "e gate", "go sideways"])
def test_no_move_no_way(action: str) -> None:
    live = after("-= Kitchen =-\nYou are in a kitchen.", action, KITCHEN)
    assert not [fact for fact in live if fact.relation.endswith(" of")]


def test_named_door_gives_the_direction() -> None:
    before = f"{KITCHEN}; kitchen|has east door|oak gate"
    live = after("-= Hall =-\nYou are in a hall.", "enter the oak gate", before)
    assert Triple("hall", "is east of", "kitchen") in live


def test_the_last_thing_taken_leaves_the_holder_empty() -> None:
    before = f"{KITCHEN}; egg|is on|table; cup|is on|table"
    live = after("You take the egg from the table.", "take egg from table", before)
    assert Triple("table", "is", "empty") not in live
    again = "; ".join(" | ".join(fact) for fact in live)
    live = after("You take the cup from the table.", "take cup from table", again)
    assert Triple("table", "is", "empty") in live
    again = "; ".join(" | ".join(fact) for fact in live)
    live = after("You put the cup on the table.", "put cup on table", again)
    assert Triple("table", "is", "empty") not in live


def test_thing_missing_in_a_room_is_gone() -> None:
    before = f"{KITCHEN}; egg|is on|table; cup|is in|kitchen; key|is in|inventory"
    live = after("-= Kitchen =-\nYou see a table. On the table you see a pen.", "look", before)
    assert live == facts_of(
        "you|is in|kitchen; kitchen|has exit|east; table|is in|kitchen; pen|is on|table;"
        "key|is in|inventory"
    )


def test_the_inventory_is_complete() -> None:
    before = f"{KITCHEN}; egg|is in|inventory; key|is in|inventory; egg|is|raw"
    live = after("Time passes.", "wait", before, inventory="You are carrying: a key.")
    assert Triple("egg", "is in", "inventory") not in live
    assert Triple("key", "is in", "inventory") in live
    live = after("Time passes.", "wait", before, inventory="You are carrying: a key.", done=True)
    assert Triple("egg", "is in", "inventory") in live  # a game that is over lists nothing


def test_facts_from_the_inventory_have_no_span() -> None:
    extraction, _ = extract("Time passes.", "wait", inventory="You are carrying: a raw egg.")
    assert [(m.start, m.end) for m in extraction.mentions] == [(-1, -1), (-1, -1)]


def test_eaten_thing_has_no_place_or_state() -> None:
    before = f"{KITCHEN}; egg|is in|inventory; egg|is|fried; egg|needs to be|fried"
    live = after("You eat the egg. Not bad.", "eat egg", before)
    assert live == facts_of(f"{KITCHEN}; egg|needs to be|fried; egg|is|consumed")


def test_preparing_the_meal_uses_up_the_ingredients() -> None:
    before = (
        f"{KITCHEN}; recipe|requires|egg; recipe|requires|salt; egg|is in|inventory;"
        "egg|is|fried; salt|is in|inventory; knife|is in|inventory"
    )
    live = after("Adding the meal to your inventory.", "prepare meal", before)
    assert facts_of("meal|is in|inventory; egg|is|consumed; knife|is in|inventory") <= live
    assert not live & facts_of("egg|is in|inventory; salt|is in|inventory; egg|is|fried")


def test_a_locked_thing_that_is_shown_closed_stays_locked() -> None:
    before = f"{KITCHEN}; oak gate|is|locked; kitchen|has east door|oak gate"
    shown = "-= Kitchen =-\nThere is a closed oak gate leading east."
    assert Triple("oak gate", "is", "locked") in after(shown, "look", before)
    live = after("You unlock oak gate.", "unlock oak gate with tin key", before)
    assert facts_of("oak gate|is|closed; tin key|opens|oak gate") <= live
    assert Triple("oak gate", "is", "locked") not in live


def test_a_door_that_opens_is_not_empty() -> None:
    before = f"{KITCHEN}; kitchen|has east door|oak gate; oak gate|is|closed"
    assert said("You open the oak gate.", "open oak gate", before) == facts_of("oak gate|is|open")


def test_part_of_a_name_means_the_thing_nearby() -> None:
    text = "The antique trunk looks noble. It is locked."
    before = f"{KITCHEN}; antique trunk|is in|kitchen"
    assert said(text, "examine trunk", before) == facts_of("antique trunk|is|locked")
    two = f"{before}; old trunk|is in|kitchen"
    assert said("It is locked.", "examine trunk", two) == set()


def test_cooking_supersedes_only_its_own_state() -> None:
    before = f"{KITCHEN}; egg|is|raw; egg|is|sliced; egg|is in|inventory"
    live = after("You fried the egg.", "cook egg with stove", before)
    assert facts_of("egg|is|fried; egg|is|sliced; egg|is in|inventory") <= live
    assert Triple("egg", "is", "raw") not in live
