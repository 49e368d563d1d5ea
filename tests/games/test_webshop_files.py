"""The official files: read like the official engine does; faults are reported."""

from __future__ import annotations

import json

import gymnasium as gym
import pytest

from gym_memory.core.errors import CorruptGameError, InvalidArgumentError, UnknownNameError
from gym_memory.games.webshop.catalogue import (
    GOALS,
    KINDS,
    NO_LIMIT,
    PRODUCTS,
    build_catalogue,
    make_records,
    read_catalogue,
    synthetic_catalogue,
)

pytest.importorskip("bm25s")
pytest.importorskip("rapidfuzz")

KETTLE = {
    "asin": "B000000001",
    "name": "Copper Kettle",
    "category": "garden",
    "query": " Kettles ",
    "product_category": "Home & Kitchen › Kettles",
    "full_description": None,
    "small_description": "It whistles",
    "pricing": "$1,019.50",
    "customization_options": {"Color": [{"value": " Red/Blue "}, {"value": "Black"}], "Size": None},
    "images": ["x.jpg"],
    "average_rating": 4.5,
}
TEAPOT = {
    **KETTLE,
    "asin": "B000000002",
    "name": "Glass Teapot",
    "pricing": "$12.00$18.00",
    "small_description": ["Dishwasher safe", "Holds a litre"],
    "customization_options": "",
}
ATTRIBUTES = {
    "B000000001": {
        "attributes": ["whistling"],
        "instruction": "i need a kettle",
        "instruction_attributes": ["whistling"],
    },
    "B000000002": {"attributes": ["dishwasher safe"], "instruction": None},
}
HUMAN = {
    "B000000001": [
        {
            "instruction": "get me a kettle.",
            "instruction_attributes": ["whistling"],
            "instruction_options": ["black"],
        },
        {"instruction": "no attributes", "instruction_attributes": [], "instruction_options": []},
    ],
    "B000000002": [
        {
            "instruction": "a teapot",
            "instruction_attributes": ["dishwasher safe"],
            "instruction_options": {},
        },
        {
            "instruction": "a glass teapot",
            "instruction_attributes": ["dishwasher safe"],
            "instruction_options": [],
        },
    ],
}


@pytest.fixture
def folder(tmp_path):
    items = [KETTLE, TEAPOT, {**KETTLE, "name": "again"}, {**KETTLE, "asin": "nan"}]
    items.append({**KETTLE, "asin": "B0000000010"})
    write(tmp_path, items, ATTRIBUTES, HUMAN)
    return tmp_path


def write(folder, items, attributes, human, ending=""):
    for name, content in (
        (f"items_shuffle{ending}", items),
        (f"items_ins_v2{ending}", attributes),
        ("items_human_ins", human),
    ):
        if content is not None:
            (folder / f"{name}.json").write_text(json.dumps(content))


def test_products_are_read_as_officially(folder):
    catalogue = read_catalogue(str(folder))
    kettle, teapot = catalogue.products  # repeated, nameless and overlong codes are left out
    assert (kettle.price, kettle.price_tag) == (1019.5, "$1019.5")
    assert kettle.options == (("color", ("red | blue", "black")),)
    assert kettle.bullets == ("It whistles",)
    assert (kettle.description, kettle.query) == ("", "kettles")
    assert kettle.attributes == ("whistling",)
    assert teapot.price_tag == "$12.0 to $18.0"
    assert 12.0 <= teapot.price <= 18.0
    assert teapot.options == ()


@pytest.mark.parametrize(
    ("pricing", "tag"),
    [
        (None, "$100.0"),
        ("", "$100.0"),
        ("$", "$100.0"),
        ("$7.99", "$7.99"),
        ("$1,299.00$2,000.00$3.00", "$1299.0 to $2000.0"),
    ],
)
def test_prices_are_read_as_officially(tmp_path, pricing, tag):
    write(tmp_path, [{**TEAPOT, "pricing": pricing}], ATTRIBUTES, HUMAN)
    assert read_catalogue(str(tmp_path)).products[0].price_tag == tag


def test_requests_are_read_as_officially(folder):
    goals = {goal.instruction.split(",")[0]: goal for goal in read_catalogue(str(folder)).goals}
    assert set(goals) == {"get me a kettle", "a teapot", "a glass teapot"}
    kettle = goals["get me a kettle"]
    assert kettle.options == ("black",)
    assert kettle.price_limit == NO_LIMIT  # no multiple of ten below 1,000 is above its price
    assert "price" not in kettle.instruction
    teapot = goals["a teapot"]
    limits = [10.0 * i for i in range(1, 100) if 10.0 * i > teapot.product.price][1:4]
    assert teapot.price_limit in limits
    assert teapot.instruction == f"a teapot, and price lower than {teapot.price_limit:.2f} dollars"


def test_annotated_requests_come_once_for_each_choice_of_options(folder):
    goals = read_catalogue(str(folder), goals="synthetic").goals
    assert sorted(goal.instruction for goal in goals) == [
        "i need a kettle with color: black",
        "i need a kettle with color: red | blue",
    ]


def test_folder_means_its_whole_catalogue_and_a_file_itself(folder):
    write(folder, [TEAPOT], ATTRIBUTES, None, "_1000")
    assert len(read_catalogue(str(folder)).products) == 2
    small = read_catalogue(str(folder / "items_shuffle_1000.json"))
    assert [product.asin for product in small.products] == ["B000000002"]
    assert len(read_catalogue(str(folder), num_products=1).products) == 1


def test_a_part_of_a_catalogue_agrees_with_the_whole(folder):
    whole = read_catalogue(str(folder))
    write(folder, [TEAPOT], ATTRIBUTES, HUMAN)
    read_catalogue.cache_clear()
    part = read_catalogue(str(folder))
    assert part.products == whole.products[1:]
    assert set(part.goals) == {g for g in whole.goals if g.asin == "B000000002"}
    assert part.digest != whole.digest


def test_official_files_can_be_played(folder, monkeypatch):
    monkeypatch.setenv("THE_SHOP", str(folder))
    env = gym.make("gym_memory/WebShop-v0", path="$THE_SHOP", split="test", memory="arigraph")
    _, info = env.reset(seed=0)
    assert info["task_id"].startswith("webshop/items_shuffle-human/test/")
    for action in env.get_wrapper_attr("oracle")().walkthrough:
        obs, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    assert "you: " in obs["memory"]
    env.close()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("items_shuffle.json", None, "cannot read the WebShop file .*items_shuffle.json"),
        ("items_shuffle.json", "[{", "cannot read the WebShop file .*items_shuffle.json"),
        ("items_shuffle.json", "{}", "expected a JSON array .*items_shuffle.json.*got dict"),
        ("items_shuffle.json", '[{"asin": "B1"}]', "official form: no field"),
        ("items_shuffle.json", "[3]", "official form: 'int'"),
        ("items_shuffle.json", "[]", "expected requests .* found none"),
        ("items_ins_v2.json", None, "cannot read the WebShop file .*items_ins_v2.json"),
        ("items_ins_v2.json", "[]", "expected a JSON object .*got list"),
        ("items_human_ins.json", None, "cannot read the WebShop file .*items_human_ins"),
        ("items_human_ins.json", b"\xff\xfe", "cannot read the WebShop file .*items_human_ins"),
        ("items_human_ins.json", '{"B000000001": [{}]}', "no field 'instruction_attributes'"),
    ],
)
def test_fault_of_a_file_is_reported(folder, name, content, message):
    path = folder / name
    path.unlink()
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CorruptGameError, match=message):
        gym.make("gym_memory/WebShop-v0", path=str(folder), memory="none")


def test_bad_arguments_are_named(folder):
    for kwargs, error, message in (
        ({"path": str(folder / "nowhere")}, CorruptGameError, "path= takes the folder"),
        ({"path": "$NOT_SET_ANYWHERE"}, CorruptGameError, "NOT_SET_ANYWHERE"),
        ({"path": 3}, InvalidArgumentError, "path as text"),
        ({"path": str(folder), "num_products": 0}, InvalidArgumentError, "num_products"),
        (
            {"path": str(folder), "num_products": 1, "split": "train"},
            InvalidArgumentError,
            "only 1",
        ),
        ({"goals": "robots"}, UnknownNameError, "goals"),
        ({"split": "dev"}, UnknownNameError, "split"),
        ({"catalogue_seed": -1}, InvalidArgumentError, "catalogue_seed"),
        ({"show_attributes": 1}, InvalidArgumentError, "show_attributes"),
    ):
        with pytest.raises(error, match=message):
            gym.make("gym_memory/WebShop-v0", memory="none", **kwargs)


def test_files_named_in_the_environment_are_played(tmp_path, monkeypatch):
    write(tmp_path, *make_records(seed=5, products=60, goals=90))
    monkeypatch.setenv("WEBSHOP_DATA", str(tmp_path))
    env = gym.make("gym_memory/WebShop-v0", memory="none")
    _, info = env.reset(seed=0)
    assert not info["task_id"].startswith("webshop/synthetic")
    for action in env.get_wrapper_attr("oracle")().walkthrough:
        *_, info = env.step(action)
    assert info["success"]
    own = gym.make("gym_memory/WebShop-v0", memory="none", path="synthetic")
    assert own.reset(seed=0)[1]["task_id"].startswith("webshop/synthetic-0/")


# ---------------------------------------------------------------- the synthetic catalogue


def test_the_synthetic_catalogue_is_written_in_the_official_form(tmp_path):
    records = make_records(seed=5, products=60, goals=90)
    write(tmp_path, *records)
    again = read_catalogue(str(tmp_path))
    made = build_catalogue("made", records)
    assert again.products == made.products
    assert again.goals == made.goals


@pytest.mark.slow
def test_the_synthetic_catalogue_stays_the_same():
    """Scores are comparable only on the same catalogue: a change here needs WebShop-v1."""
    catalogue = synthetic_catalogue()
    assert (len(catalogue.products), len(catalogue.goals)) == (PRODUCTS, GOALS)
    assert catalogue.digest == "37568bba7eab"
    assert synthetic_catalogue(1).digest != catalogue.digest


def test_splits_share_no_request_and_leave_none_out():
    catalogue = synthetic_catalogue()
    splits = [catalogue.split(name) for name in ("test", "valid", "train")]
    assert [len(split) for split in splits] == [100, 200, 2120]
    assert [i for split in splits for i in split] == list(range(GOALS))


def test_official_sizes_where_there_are_enough_requests():
    catalogue = synthetic_catalogue()
    catalogue = type(catalogue)("many", catalogue.products, catalogue.goals * 3)
    assert [len(catalogue.split(s)) for s in ("test", "valid", "train")] == [500, 1000, 5760]


def test_texts_of_product_name_its_attributes_and_no_others():
    kinds = {kind.names[0]: kind for kind in KINDS}
    for product in synthetic_catalogue().products:
        kind = kinds[product.query]
        shown = {a for a in (*kind.own, *kind.shared) if a in product.texts}
        assert shown == set(product.attributes)
        assert sum(name in product.title.lower() for name in kind.names) >= 2
