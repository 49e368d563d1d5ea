"""Recipes in words of many authors: lists, prose, what is denied, and what is no recipe."""

from __future__ import annotations

import pytest

from gym_memory.extract.notes import read_writing
from gym_memory.extract.notes.recipes import read_kitchen, read_prose_recipe, read_recipe


def needs(text: str, *known: str) -> set[tuple[str, str]]:
    """What is to be done to which food."""
    told = read_prose_recipe(text, dict.fromkeys(known, "thing").get)
    return {(t.subject, t.object) for t, _, _ in told if t.relation == "needs to be"}


@pytest.mark.parametrize(
    "text",
    [
        "Dice the swede and then roast it.",
        "Dice and roast the swede.",
        "The swede, diced and roasted.",
        "After dicing the swede, roast it.",
        "Do not roast the swede until it is diced.",
        "The swede must be both diced and roasted.",
        "Dice the swede. Then roast it.",
        "It won't work with the swede undiced. You may want to bake the swede now.",
        "Cut the swede into cubes, then oven-roast it.",
        "Chop the swede into cubes before you bake it.",
        "Start by finely dicing the swede. Roasting the swede brings out the taste.",
        "Don't forget to dice the swede, and do not fail to roast it.",
        "Take the diced swede. Nobody eats the swede unless it is roasted.",
        "The swede tastes of nothing if it isn't diced. Why not roast the swede?",
        "It won't work with a swede that isn't diced. If you don't roast it, all is lost.",
        "It would be a shame to leave the swede undiced, and a mistake not to roast it.",
        "There is no meal without the swede being diced. It is never used other than roasted.",
        "All is lost with a cook who does not dice the swede. God forbid it be served unroasted.",
        "Nothing good comes of the swede that nobody has diced. Not roasting it would be a crime.",
        "Nothing will come of it if the swede stays undiced. The swede won't roast itself.",
        "The swede ought to be diced. Then it ought to be roasted.",
    ],
)
def test_the_same_is_said_in_many_ways(text: str) -> None:
    assert needs(text) == {("swede", "diced"), ("swede", "roasted")}
    assert needs(text, "swede") == {("swede", "diced"), ("swede", "roasted")}


@pytest.mark.parametrize(
    "text",
    [
        "Don't bother to dice the swede.",
        "There is no need to roast the swede.",
        "Whatever you do, don't chop the swede.",
        "The swede should not be sliced.",
        "Leave the swede ungrilled.",
        "The swede must stay undiced.",
        "Do not dice the swede, and do not roast it either.",
        "The swede is fine if it is not diced.",
        "Neither dice nor roast the swede.",
        "Never dice the swede, for that would be a mistake.",
    ],
)
def test_what_is_not_to_be_done_is_not_read_as_to_be_done(text: str) -> None:
    assert needs(text) == set()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Chop the leek and fry the egg.", {("leek", "chopped"), ("egg", "fried")}),
        ("The leek must be sliced, the egg fried.", {("leek", "sliced"), ("egg", "fried")}),
        ("Pan-fry the leek. The egg? Grill it.", {("leek", "fried"), ("egg", "grilled")}),
        ("Sauté the leek and the egg.", {("leek", "fried"), ("egg", "fried")}),
        ("Brown the leek in the pan.", {("leek", "fried")}),
        ("The tomato plant deserves to be grilled.", {("tomato plant", "grilled")}),
        ("Slice the key lime.", {("key lime", "sliced")}),
        ("The celery stick goes in chopped.", {("celery stick", "chopped")}),
        ("Chop the leek with the paring knife.", {("leek", "chopped")}),
        ("We like it with a grilled lettuce.", {("lettuce", "grilled")}),
    ],
)
def test_each_food_has_its_own(text: str, told: set[tuple[str, str]]) -> None:
    assert needs(text) == told


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
    told = read_prose_recipe(f"You need the leek. {text}", known.get)
    assert [tuple(m.triple) for m in told] == [
        ("recipe", "requires", "leek"),
        ("meal", "is prepared in", "bothy"),
    ]


@pytest.mark.parametrize("known", [{"slab": "supporter"}, {}])
def test_an_appliance_is_told_from_other_things_of_a_sentence(known: dict[str, str]) -> None:
    tool = "slab" if known else "kiln"
    text = f"Should you have to fry food, the {tool} is at your service."
    told = read_kitchen(text, known.get)
    assert [tuple(m.triple) for m in told] == [(tool, "used for", "frying")]


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
def test_a_recipe_is_told_by_what_it_says_of_food(name: str) -> None:
    text = "We make this from the swede and the egg. Slice the swede."
    told = {tuple(m.triple) for m in read_writing(name, text, {name: "thing"}.get)}
    assert told >= {
        ("recipe", "requires", "egg"),
        ("recipe", "requires", "swede"),
        ("swede", "needs to be", "sliced"),
    }
    assert not any(relation in ("is in", "opens") for _, relation, _ in told)


@pytest.mark.parametrize(
    "text",
    [
        "The moss key is in the cooking corner.",
        "The brown box stands in the grill room.",
        "The dish is on the oak shelf.",
    ],
)
def test_a_note_that_names_a_place_for_cooking_is_no_recipe(text: str) -> None:
    told = read_writing("poster", text, {"moss key": "thing"}.get)
    assert not any(m.triple.subject == "recipe" for m in told)
