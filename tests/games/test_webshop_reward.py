"""The reward against a second transcription of WebShop's formula.

Written from the formula once more, on the dictionaries of the official files and without any of
the engine's code, but for two things that are data: which colour words there are
(``basic_color``), and which words of a title count as nouns (``title_nouns``; the official engine
asks a spaCy model).
"""

from __future__ import annotations

import random

import pytest

from gym_memory.games.webshop.catalogue import build_catalogue, make_records
from gym_memory.games.webshop.shop import basic_color, rate, title_nouns

fuzz = pytest.importorskip("rapidfuzz.fuzz")
utils = pytest.importorskip("rapidfuzz.utils")

PURCHASES = 1000


def score(one, other):
    return round(fuzz.token_set_ratio(utils.default_process(one), utils.default_process(other)))


def transcribed(item, attributes, price, chosen, goal, wanted_item):
    """Return r_type * (matched attributes + matched options + price ok) / (asked + 1)."""
    n_attributes = 0
    for wanted in goal["attributes"]:
        hit = False
        for own in attributes:
            if score(own, wanted) > 85:
                hit = True
        if wanted in item["name"].lower():
            hit = True
        if wanted in " ".join(item["small_description"]).lower():
            hit = True
        if wanted in item["full_description"].lower():
            hit = True
        n_attributes += hit
    n_options = 0
    for wanted in goal["options"]:
        for value in chosen:
            if score(basic_color(value), basic_color(wanted)) > 85:
                n_options += 1
                break
    price_ok = 1 if price <= goal["price_upper"] else 0

    wanted_nouns = title_nouns(wanted_item["name"])
    overlap = len(wanted_nouns & title_nouns(item["name"]))
    title_score = 0.2 if len(wanted_nouns) == 0 else overlap / len(wanted_nouns)
    own_path = {part.strip() for part in item["product_category"].split("›")}
    wanted_path = {part.strip() for part in wanted_item["product_category"].split("›")}
    r_type = 1.0
    if not (
        item["query"].lower().strip() == wanted_item["query"].lower().strip()
        or len(own_path & wanted_path) >= 2
        or title_score > 0.2
    ):
        r_type = 0.5
    if title_score < 0.1:
        r_type = 0.1
    if title_score == 0.0:
        r_type = 0.0
    asked = len(goal["attributes"]) + len(goal["options"]) + 1
    return (n_attributes + n_options + price_ok) / asked * r_type


def test_equals_the_formula_on_a_thousand_random_purchases():
    records = make_records(seed=3, products=400, goals=800)
    catalogue = build_catalogue("test", records)
    items = {item["asin"]: item for item in records.items}
    by_kind = {}
    for product in catalogue.products:
        by_kind.setdefault(product.query, []).append(product)
    rng = random.Random(7)
    seen = set()
    for _ in range(PURCHASES):
        goal = rng.choice(catalogue.goals)
        near = rng.random()
        product = rng.choice(by_kind[goal.product.query] if near < 0.7 else catalogue.products)
        if near < 0.1:
            product = goal.product
        chosen = {name: rng.choice(v) for name, v in product.options if rng.random() < 0.8}
        if rng.random() < 0.3:  # what was asked for, where it is to be had
            chosen.update({n: o for n, v in product.options for o in goal.options if o in v})
        expected = transcribed(
            items[product.asin],
            records.attributes[product.asin]["attributes"],
            product.price,
            list(chosen.values()),
            {
                "attributes": goal.attributes,
                "options": goal.options,
                "price_upper": goal.price_limit,
            },
            items[goal.asin],
        )
        found = rate(product, chosen, goal)
        assert found.total == pytest.approx(expected, abs=1e-12)
        assert 0.0 <= found.total <= 1.0
        seen.add((found.kind, round(found.total, 1)))
    assert {kind for kind, _ in seen} == {1.0, 0.5, 0.1, 0.0}  # all cases of the type came up
    assert len(seen) > 10


def test_requested_product_has_reward_one():
    catalogue = build_catalogue("test", make_records(seed=1, products=80, goals=160))
    for goal in catalogue.goals:
        options = {n: o for n, v in goal.product.options for o in goal.options if o in v}
        assert rate(goal.product, options, goal) == (1.0, 1.0, 3, len(goal.options), True)


@pytest.mark.parametrize(
    ("value", "color"),
    [
        ("navy blue", "blue"),  # the first by the alphabet, as in the official engine
        ("c1-black", "black"),
        ("rosewood", "rose"),
        ("x-large", "x-large"),
        ("", ""),
    ],
)
def test_colours_are_reduced_to_a_basic_word(value, color):
    assert basic_color(value) == color


def test_expensive_products_and_missing_options_cost_their_share():
    catalogue = build_catalogue("test", make_records(seed=1, products=80, goals=160))
    goal = next(g for g in catalogue.goals if len(g.options) == 2)
    options = {n: o for n, v in goal.product.options for o in goal.options if o in v}
    dear = goal.product._replace(price=goal.price_limit + 0.01)
    assert rate(dear, options, goal).total == pytest.approx(5 / 6)
    assert rate(goal.product, {}, goal).total == pytest.approx(4 / 6)
    other = goal.product._replace(
        title="Nothing Alike", query="else", product_category="Elsewhere", attributes=("none",)
    )
    assert rate(other, options, goal).kind == 0.0
