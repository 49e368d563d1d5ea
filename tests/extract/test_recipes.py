"""Recipes in words of many authors: lists, prose, what is denied, and what is no recipe."""

from __future__ import annotations

import pytest

from gym_memory.extract.notes import read_report, read_writing
from gym_memory.extract.notes.recipes import read_kitchen, read_prose_recipe, read_recipe


@pytest.mark.parametrize("known", [{}, {"table": "supporter", "pig": "", "garden": "room"}])
@pytest.mark.parametrize(
    "food", ["pig's trotter", "table grape", "pan fish", "garden pea", "lamb rack", "chicken wing"]
)
def test_a_food_is_called_by_its_whole_name(food: str, known: dict[str, str]) -> None:
    text = f"You need the {food} and the leek. The {food} deserves to be fried. Slice the {food}."
    assert {tuple(m.triple) for m in read_prose_recipe(text, known.get)} == {
        ("recipe", "requires", "leek"),
        ("recipe", "requires", food),
        (food, "needs to be", "fried"),
        (food, "needs to be", "sliced"),
    }


@pytest.mark.parametrize(
    "text", ["The meal takes shape in the bothy.", "The bothy suits the making of the meal."]
)
def test_what_a_meal_is_made_in_is_no_food(text: str) -> None:
    known = {"bothy": "room"} if "making" in text else {}
    stated = read_prose_recipe(f"You need the leek. {text}", known.get)
    assert [tuple(m.triple) for m in stated] == [
        ("recipe", "requires", "leek"),
        ("meal", "is prepared in", "bothy"),
    ]


@pytest.mark.parametrize("known", [{"slab": "supporter"}, {}])
def test_appliance_is_distinguished_from_other_things_of_sentence(known: dict[str, str]) -> None:
    tool = "slab" if known else "kiln"
    text = f"Should you have to fry food, the {tool} is at your service."
    stated = read_kitchen(text, known.get)
    assert [tuple(m.triple) for m in stated] == [(tool, "used for", "frying")]


LISTS = [
    "What you need:\n- red leek\n- eggs\nSteps:\n1. Slice the red leek.\n2. Fry the eggs.",
    "Ingredients:\n2 eggs\n1 cup of red leek\n\nMethod:\nslice the red leek\nfry the eggs\n",
    "Shopping:\n* red leek, sliced\n* fried eggs\nPreparation:\n* Do not chop the red leek.",
    "Ingredients:\nred leek\neggs\nSlice the red leek. Then fry the eggs.",
]


@pytest.mark.parametrize("text", LISTS)
def test_lists_may_be_headed_and_marked_as_anybody_likes(text: str) -> None:
    assert {tuple(m.triple) for m in read_recipe(text)} == {
        ("recipe", "requires", "red leek"),
        ("recipe", "requires", "eggs"),
        ("red leek", "needs to be", "sliced"),
        ("eggs", "needs to be", "fried"),
    }


@pytest.mark.parametrize("name", ["menu", "placemat", "clipboard", "chef's notes", "tattered tome"])
def test_recipe_is_recognised_by_what_it_says_of_food(name: str) -> None:
    text = "We make this from the swede and the egg. Slice the swede."
    stated = {tuple(m.triple) for m in read_writing(name, text, {name: "thing"}.get)}
    assert stated >= {
        ("recipe", "requires", "egg"),
        ("recipe", "requires", "swede"),
        ("swede", "needs to be", "sliced"),
    }
    assert not any(relation in ("is in", "opens") for _, relation, _ in stated)


@pytest.mark.parametrize(
    "text",
    [
        "The moss key is in the cooking corner.",
        "The brown box stands in the grill room.",
        "The dish is on the oak shelf.",
    ],
)
def test_note_that_names_place_for_cooking_is_no_recipe(text: str) -> None:
    stated = read_writing("poster", text, {"moss key": "thing"}.get)
    assert not any(m.triple.subject == "recipe" for m in stated)


USES = (
    "frying can be done only with stove, roasting only with oven and grilling only with BBQ",
    "Fry only on the stove, roast only in the oven and grill only on the BBQ.",
    "Remember: use the stove for frying, the oven for roasting and the BBQ for grilling.",
    "Only the stove fries, only the oven roasts, and only the BBQ grills.",
    "Food is fried on a stove, roasted in an oven and grilled on a BBQ, never otherwise.",
    "Anything to be fried goes on the stove, anything to be roasted goes in the oven, anything to "
    "be grilled goes on the BBQ.",
    "Without a stove there is no frying, without an oven no roasting, without a BBQ no grilling.",
    "The BBQ, the stove and the oven are there for grilling, frying and roasting respectively.",
)


@pytest.mark.parametrize("known", [{}, {"bbq": "supporter"}, {"stove": "supporter", "oven": ""}])
@pytest.mark.parametrize("text", USES)
def test_every_appliance_keeps_its_use_whatever_is_known(text: str, known: dict[str, str]) -> None:
    stated = {m.triple for m in read_report(text, known.get).facts}
    assert stated == {
        ("stove", "used for", "frying"), ("oven", "used for", "roasting"),
        ("bbq", "used for", "grilling"),
    }  # fmt: skip


def test_text_is_read_again_when_a_name_is_known() -> None:
    kinds: dict[str, str] = {}
    text = "The bulb hangs in the scullery. The ledge is in the yard."
    first = read_writing("note", text, kinds.get)
    assert read_writing("note", text, kinds.get) is first
    kinds["ledge"] = "supporter"
    with_ledge = read_writing("note", text, kinds.get)
    assert with_ledge is not first
    assert read_writing("note", text, dict(kinds).get) is with_ledge
