"""The extraction rules' facts compared with the shop's pages."""

from __future__ import annotations

import random

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.games.webshop.facts import IdealShopper
from gym_memory.games.webshop.rules import (
    listing_of,
    option_groups,
    parts_of,
    queries,
    read_request,
    short_name,
    singular,
    split_words,
)
from gym_memory.graph.temporal import TemporalGraph

REQUEST = (
    "find me trail boots with ankle support, in teal, size 7, and price lower than 130.00 dollars"
)
HEAD = f"Instruction: [SEP] {REQUEST} [SEP] Back to Search [SEP]"
RESULTS = (
    f"{HEAD} Page 1 (Total results: 12) [SEP] Next > [SEP] "
    "B000000001 [SEP] Veltra Trail Boots, Wide Toe - Gift Idea [SEP] $42.5 [SEP] "
    "B000000002 [SEP] Norbeck Clogs [SEP] $20.0 to $30.0"
)
ITEM = (
    f"{HEAD} < Prev [SEP] color [SEP] red [SEP] teal [SEP] size [SEP] 6 [SEP] 7 [SEP] "
    "Veltra Trail Boots, Wide Toe - Gift Idea [SEP] Price: $42.5 [SEP] Rating: N.A. [SEP] "
    "Description [SEP] Features [SEP] Reviews [SEP] Buy Now"
)
FEATURES = f"{HEAD} < Prev [SEP] Ankle support: all day [SEP] Steel toe"
TASK = Task("webshop/1", REQUEST, "webshop")


def read(*steps, graph=None):
    graph = graph or TemporalGraph()
    for action, text in steps:
        t = graph.now + 1
        found = get_extractor("webshop").extract(Step(t, text, action), graph, TASK)
        for triple, start, end in found.mentions:
            assert start == -1 or 0 <= start < end <= len(text), triple
        apply(found, graph, t)
    return graph


def facts(graph, subject):
    return {(f.relation, f.object) for f in graph.outgoing(subject)}


WALK = (
    ("", f"WebShop [SEP] Instruction: [SEP] {REQUEST} [SEP] Search"),
    ("search[trail boots]", RESULTS),
    ("click[b000000001]", ITEM),
    ("click[teal]", ITEM),
    ("click[red]", ITEM),
    ("click[features]", FEATURES),
)


def test_a_walk_is_remembered():
    graph = read(*WALK)
    assert facts(graph, "you") == {("is in", "b000000001"), ("chose", "color: red")}
    assert facts(graph, "search 1") == {("looks for", "trail boots")}
    assert facts(graph, "b000000002") == {
        ("is on", "page 1 of search 1"),
        ("is called", "norbeck clogs"),
        ("costs", "$20.0 to $30.0"),
    }
    assert facts(graph, "b000000001") == {
        ("is on", "page 1 of search 1"),
        ("is called", "veltra trail boots"),
        ("costs", "$42.5"),
        ("mentions", "trail boot"),
        ("mentions", "ankle support"),
        ("was read", "item page"),
        ("was read", "features"),
        *(("has color", value) for value in ("red", "teal")),
        *(("has size", value) for value in ("6", "7")),
    }


def test_leaving_a_product_rejects_it_until_the_return():
    graph = read(*WALK, ("click[< prev]", ITEM), ("click[< prev]", RESULTS))
    assert facts(graph, "you") == {
        ("is in", "page 1 of search 1"),
        ("turned down", "b000000001"),
    }
    read(("click[b000000001]", ITEM), graph=graph)
    assert facts(graph, "you") == {("is in", "b000000001")}


def test_equal_searches_share_a_number():
    graph = read(*WALK, ("search[clogs]", RESULTS), ("search[The trail  boots]", RESULTS))
    assert facts(graph, "search 2") == {("looks for", "clogs")}
    assert not graph.outgoing("search 3")
    assert listing_of(graph, "page 1 of search 2") == ("clogs", 1)
    assert listing_of(graph, "page 1 of some search") is None


def test_product_is_known_again_by_its_name_and_price():
    graph = read(*WALK[:2], ("click[< prev]", ITEM))
    assert ("is in", "b000000001") in facts(graph, "you")


def test_unknown_value_is_marked():
    graph = read(("click[< prev]", RESULTS))
    assert ("is on", "page 1 of some search") in facts(graph, "b000000001")
    graph = read(("click[< prev]", ITEM))
    assert ("has size", "7") in facts(graph, "this product")
    read(("click[features]", FEATURES), ("", RESULTS), ("look", FEATURES), graph=graph)
    assert facts(graph, "this product") == {("mentions", "ankle support")}
    assert ("turned down", "this product") not in facts(graph, "you")


def test_reading_a_page_twice_changes_nothing():
    graph = read(*WALK)
    before = set(graph.live())
    read(WALK[-1], graph=graph)
    assert set(graph.live()) == before


@pytest.mark.slow
@pytest.mark.parametrize("show_attributes", [False, True])
def test_memory_has_exactly_the_shown_facts(show_attributes):
    """Precision and recall 1 in random walks, odd commands and revisits among them."""
    env = gym.make(
        "gym_memory/WebShop-v0",
        memory="arigraph",
        split="valid",
        show_attributes=show_attributes,
        max_steps=60,
    )
    raw, memory = env.unwrapped, env.get_wrapper_attr("memory")
    odd = (
        "search[red rug]",
        "look",
        "click[nothing]",
        "click[b012345678]",
        "search[The black shoes]",
        "search[black shoes]",
    )
    for seed in range(6):
        rng = random.Random(seed)
        obs, info = env.reset(seed=seed)
        ideal, done = IdealShopper(raw.shop, obs["task"]), False
        ideal.see(raw.oracle().objects["view"])
        while not done:
            seen = sorted({fact.subject for fact in ideal.known if fact.relation == "costs"})
            strange = [*odd, *(f"click[{code}]" for code in seen[:3])]
            action = rng.choice(obs["valid_actions"] if rng.random() < 0.85 else strange)
            if action == "click[buy now]" and info["moves"] < 50:
                action = "click[features]"
            obs, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
            ideal.see(raw.oracle().objects["view"])
            assert set(memory.graph.live()) == ideal.known, (seed, info["moves"], action)
    env.close()


@given(st.lists(st.sampled_from([*parts_of(ITEM), *parts_of(RESULTS), *parts_of(FEATURES)])))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_any_page_is_read(parts):
    text = " [SEP] ".join(part.text for part in parts)
    for action in ("", "click[b000000001]", "click[attributes]", "search[x]", "click[features]"):
        read((action, text))
        read(*WALK, (action, text))


@pytest.mark.slow
@given(st.text(max_size=200), st.text(max_size=60))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_any_text_is_read(text, action):
    read((action, text), (f"search[{action}]", f"{text} [SEP] Page 1 (Total results: 1)"))


# ---------------------------------------------------------------- requests


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("tea, and price lower than 20.00 dollars", 20.0),
        ("tea under $15", 15.0),
        ("tea that costs less than 9.5 dollars", 9.5),
        ("tea with a price of below 30", 30.0),
        ("tea, 5.1 ounce", float("inf")),
        ("tea under 5.1 ounce", float("inf")),
    ],
)
def test_price_limits_are_read(text, limit):
    request = read_request(text)
    assert request.limit == limit
    assert request.words <= {"tea", "under", "5.1", "ounce"}


def test_requests_are_parsed():
    request = read_request(REQUEST)
    assert request.runs == (("trail", "boot"), ("ankle", "support"), ("teal",), ("size", "7"))
    assert queries(REQUEST)[0] == "trail boot ankle support teal size 7"
    assert queries(REQUEST)[-1] == "trail boot"
    assert read_request("easy to clean rug to buy").runs == (("easy", "to", "clean", "rug"),)
    assert read_request("tea, pack of 12").names("Pack of 12")
    assert not read_request("tea, pack of 12").names("pack of 1")
    assert queries("?!") == ("?!",)
    assert read_request("").runs == ()


@given(st.lists(st.sampled_from(["trail", "boots", "boot", "ankle", "support", "7", "and", "."])))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_phrases_have_correct_spans_in_the_request(words):
    text = " ".join(words)
    request = read_request(REQUEST)
    for phrase in request.phrases_in(text):
        assert any(phrase.words in " ".join(run) for run in request.runs)
        said = [word.stem for word in split_words(text[phrase.start : phrase.end])]
        assert " ".join(said) == phrase.words
    found = {word for phrase in request.phrases_in(text) for word in phrase.words.split()}
    assert found == {singular(word) for word in words} & {"trail", "boot", "ankle", "support"}


# ---------------------------------------------------------------- parts of pages


def test_options_are_recognised_by_their_names():
    parts = parts_of(ITEM)[2:8]
    assert [(name, value.text) for name, value in option_groups(parts)] == [
        ("color", "red"),
        ("color", "teal"),
        ("size", "6"),
        ("size", "7"),
    ]
    assert list(option_groups(())) == []


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("L'eau D'issey By Someone for Men - Spray, 6.7 Oz", "l'eau d'issey by someone for men"),
        ("The T-Shirt (Pack of 2)", "t-shirt"),
        ("(Pack of 2) Socks", "(pack of 2) socks"),
        ("x" * 99, "x" * 60),
    ],
)
def test_titles_are_shortened(title, name):
    assert short_name(title) == name


def test_facts_of_the_vocabulary_need_no_new_slots():
    """Where a product is listed is a place: a later listing replaces it."""
    graph = TemporalGraph()
    for page in (1, 2):
        graph.add(Triple("b01", "is on", f"page {page} of search 1"), page)
    assert [f.object for f in graph.outgoing("b01")] == ["page 2 of search 1"]
