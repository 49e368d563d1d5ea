"""The shop's pages, links, search, and endings."""

from __future__ import annotations

import math
import re
from collections import Counter

import gymnasium as gym
import pytest

from gym_memory.games.webshop.catalogue import Catalogue, Goal, Product, synthetic_catalogue
from gym_memory.games.webshop.shop import ProductSearch, Shop, ShopView

pytest.importorskip("bm25s")
pytest.importorskip("rapidfuzz")

REQUEST = "show me oak chair, solid wood, in red, and price lower than 60.00 dollars"


def product(number, **changes):
    plain = Product(
        asin=f"B00000000{number}",
        title=f"Oak Chair {number}",
        description="A chair.",
        bullets=("solid wood", "four legs"),
        price=42.5,
        price_tag="$42.5",
        options=(("color", ("red", "blue")), ("size", ("small", "large"))),
        attributes=("solid wood",),
        category="garden",
        query="chairs",
        product_category="Home › Chairs",
    )
    return plain._replace(**changes)


@pytest.fixture(scope="module")
def shop():
    products = [product(i) for i in range(9)]
    products += [product(9, asin=f"C0000000{i:02}", title="Oak Chair") for i in range(10, 13)]
    products[0] = product(0, title="Oak Table [Round]", options=(), price_tag="$42.5 to $50.0")
    goal = Goal(products[1].asin, REQUEST, ("solid wood",), ("red",), 60.0, products[1])
    return Shop(Catalogue("chairs", products, [goal]))


@pytest.fixture
def env():
    env = gym.make("gym_memory/WebShop-v0", memory="none").unwrapped
    env.reset(seed=0)
    yield env
    env.close()


def visit(shop, *actions, view=None):
    view = view or ShopView()
    for action in actions:
        view = shop.follow(view, action)
        assert view is not None, action
    return view


def page(shop, *actions):
    return shop.text(visit(shop, *actions), REQUEST)


# ---------------------------------------------------------------- pages


def test_pages_equal_the_official_text_mode(shop):
    head = f"Instruction: [SEP] {REQUEST} [SEP] Back to Search [SEP] "
    assert page(shop) == f"WebShop [SEP] Instruction: [SEP] {REQUEST} [SEP] Search"
    assert page(shop, "search[round table]") == (
        f"{head}Page 1 (Total results: 1) [SEP] "
        "B000000000 [SEP] Oak Table [Round] [SEP] $42.5 to $50.0"
    )
    first = page(shop, "search[oak chair]")
    assert first.startswith(f"{head}Page 1 (Total results: 12) [SEP] Next > [SEP] ")
    assert first.count("$42.5") == 10
    second = page(shop, "search[oak chair]", "click[next >]")
    assert second.startswith(f"{head}Page 2 (Total results: 12) [SEP] < Prev [SEP] ")
    assert page(shop, "search[oak chair]", "click[b000000001]") == (
        f"{head}< Prev [SEP] color [SEP] red [SEP] blue [SEP] size [SEP] small [SEP] large [SEP] "
        "Oak Chair 1 [SEP] Price: $42.5 [SEP] Rating: N.A. [SEP] Description [SEP] Features [SEP] "
        "Reviews [SEP] Buy Now"
    )
    item = ("search[oak chair]", "click[b000000001]")
    assert page(shop, *item, "click[features]") == f"{head}< Prev [SEP] solid wood [SEP] four legs"
    assert page(shop, *item, "click[description]") == f"{head}< Prev [SEP] A chair."
    assert page(shop, *item, "click[reviews]") == f"{head}< Prev [SEP] No reviews found"
    assert page(shop, "search[nothing of that]") == f"{head}Page 1 (Total results: 0)"


def test_attributes_are_shown_only_on_request(shop):
    item = ("search[oak chair]", "click[b000000001]")
    assert shop.follow(visit(shop, *item), "click[attributes]") is None
    showing = Shop(shop.catalogue, with_attributes=True)
    assert page(showing, *item, "click[attributes]").endswith(
        "< Prev [SEP] solid wood [SEP] garden [SEP] chairs [SEP] Home › Chairs"
    )


def test_links_lead_to_their_pages(shop):
    item = ("search[Oak  chair]", "click[next >]", "click[b000000000]")
    view = visit(shop, *item)
    assert (view.page, view.asin, view.number) == ("item", "B000000000", 2)
    assert visit(shop, *item, "click[features]", "click[< prev]") == view
    back = visit(shop, *item, "click[< prev]")
    assert (back.page, back.number, back.asin) == ("results", 2, "")
    assert visit(shop, *item, "click[< prev]", "click[< prev]").number == 1
    assert visit(shop, *item, "click[back to search]").page == "search"


def test_options_stay_chosen_until_the_product_is_left(shop):
    item = ("search[oak chair]", "click[b000000001]")
    chosen = visit(shop, *item, "click[red]", "click[LARGE]", "click[blue]")
    assert dict(chosen.chosen) == {"color": "blue", "size": "large"}
    assert visit(shop, "click[features]", "click[< prev]", view=chosen) == chosen
    assert visit(shop, "click[< prev]", "click[b000000001]", view=chosen).chosen == ()
    assert visit(shop, "search[oak]", view=chosen).chosen == ()


def test_a_search_can_be_typed_on_any_page(shop):
    for before in ((), ("search[oak]",), ("search[oak]", "click[b000000001]", "click[features]")):
        view = visit(shop, *before, "search[Chair]")
        assert (view.page, view.query, view.number) == ("results", "chair", 1)


@pytest.mark.parametrize(
    "action",
    [
        "look", "click[]", "click[nothing]", "click[search]", "search[]", "search[ ]", "search",
        "click[buy now]", "click[b000000001", "buy[b000000001]", "click[next >]", "[chair]",
    ],
)  # fmt: skip
def test_invalid_action_shows_the_same_page_again(shop, action):
    assert shop.follow(visit(shop), action) is None


def test_code_that_is_not_on_page_cannot_be_clicked(shop):
    results = visit(shop, "search[round table]")
    assert shop.follow(results, "click[b000000000]") is not None
    assert shop.follow(results, "click[b000000001]") is None


# ---------------------------------------------------------------- search


@pytest.mark.slow
def test_search_ranks_by_bm25():
    """Against the formula of Lucene's BM25, written out; plurals and stop words as stated."""
    products = synthetic_catalogue().products[:120]
    search = ProductSearch(Catalogue("part", products, ()))

    def words(text):
        found = re.findall(r"[a-z0-9]+(?:[.'’][a-z0-9]+)*", text.lower())
        plural = re.compile(r"(?<=..)(?<=[^su'’])s$")
        return [plural.sub("", w) for w in found if w not in ("a", "and", "for", "of", "it", "in")]

    def text(p):
        options = " ".join(" ".join([name, *values]) for name, values in p.options)
        return f"{p.title} {p.description} {p.bullets[0]} {options}"

    stop = "an are as at be but by if into is no not on or some such that the their then there"
    stop = {*stop.split(), "these", "they", "this", "to", "was", "will", "with"}
    documents = [[w for w in words(text(p)) if w not in stop] for p in products]
    mean = sum(map(len, documents)) / len(documents)
    counts = [Counter(document) for document in documents]
    for query in ("security cameras", "black shoes", "gift idea size 7", "green tea"):
        scores = []
        for count, document in zip(counts, documents, strict=True):
            score = 0.0
            for word in [w for w in words(query) if w not in stop]:
                n = sum(word in c for c in counts)
                idf = math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
                norm = 0.9 * (1 - 0.4 + 0.4 * len(document) / mean)
                score += idf * count[word] / (count[word] + norm)
            scores.append(round(score, 4))
        best = sorted(range(len(products)), key=lambda i: (-scores[i], i))
        expected = [products[i].asin for i in best if scores[i] > 0][:50]
        found = [p.asin for p in search.find(query)]
        assert [scores[best[k]] for k in range(len(found))] == pytest.approx(
            [scores[[p.asin for p in products].index(asin)] for asin in found], abs=2e-4
        )
        assert set(expected[:30]) <= set(found)
        assert len(found) == len(expected)


@pytest.mark.slow
def test_search_finds_nothing_for_unknown_words():
    search = ProductSearch(synthetic_catalogue())
    assert search.find("xyzzy") == ()
    assert search.find("the of and") == ()
    assert search.find("\N{RED APPLE}") == ()
    assert len(search.find("shoes")) == 50


# ---------------------------------------------------------------- the environment


def test_reward_comes_with_the_purchase_and_ends_the_episode(env):
    *before, last = env.oracle().walkthrough
    for action in before:
        _, reward, terminated, _, info = env.step(action)
        assert (reward, terminated, info["score"]) == (0.0, False, 0.0)
    assert env.valid_actions()
    obs, reward, terminated, truncated, info = env.step(last)
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)
    assert obs["text"].startswith("Thank you for shopping with us! [SEP] Purchased [SEP] B0")
    assert obs["valid_actions"] == ()


def test_poor_purchase_is_worth_a_part_and_no_success(env):
    goal = env.oracle().objects["goal"]
    wrong = next(
        p
        for p in env.catalogue.products
        if p.query == goal.product.query and p.asin not in env.oracle().objects["right"]
    )
    for action in (f"search[{wrong.title}]", f"click[{wrong.asin.lower()}]", "click[buy now]"):
        _, reward, terminated, _, info = env.step(action)
    assert terminated
    assert 0.0 < reward < 1.0
    assert (info["normalized_score"], info["success"], info["lost"]) == (reward, False, True)


def test_an_episode_without_a_purchase_scores_nothing(env):
    env.max_steps = 3
    for _ in range(3):
        *_, truncated, info = env.step("search[chair]")
    assert truncated
    assert (info["score"], info["success"], info["lost"]) == (0.0, False, False)


def test_valid_actions_are_the_links_and_some_searches(env):
    searches = env.valid_actions()
    assert all(re.fullmatch(r"search\[.+\]", action) for action in searches)
    assert 2 <= len(searches) <= 8
    request = env.goal()
    words = re.findall(r"[a-z0-9]+", searches[0][7:-1])
    assert all(word in request for word in words)  # nothing that the request does not say
    for action in searches:
        env.reset(seed=0)
        obs, *_, info = env.step(action)
        assert info["is_action_valid"]
        assert "Page 1 (Total results: " in obs["text"]
    assert env.valid_actions()[:2] == ("click[back to search]", "click[next >]")
    assert len(env.valid_actions()) == 12


def test_every_valid_action_has_an_effect(env):
    env.step(env.valid_actions()[0])
    env.step(env.valid_actions()[2])
    here = env.snapshot()
    for action in env.valid_actions():
        env.restore(here)
        *_, info = env.step(action)
        assert info["is_action_valid"], action


def test_unknown_action_shows_the_same_page(env):
    before = env.step("search[chair]")[0]
    for action in ("look", "click[nothing]", "search[]", "click[buy now]"):
        obs, reward, terminated, _, info = env.step(action)
        assert obs == before
        assert (reward, terminated, info["is_action_valid"]) == (0.0, False, False)


def test_search_of_megabyte_costs_a_step_and_no_time(env):
    obs, reward, terminated, _, info = env.step(f"search[{'chair ' * 170_000}]")
    assert (reward, terminated, info["is_action_valid"]) == (0.0, False, False)
    assert "too long" in obs["text"]
    assert env.step("search[chair]")[4]["is_action_valid"]


@pytest.mark.slow
def test_every_test_request_can_be_satisfied(env):
    for task_id in env.task_ids:
        env.reset(options={"task_id": task_id})
        objects = env.oracle().objects
        assert objects["goal"].asin in objects["right"]
        assert env.oracle().walkthrough[-1] == "click[buy now]"


def test_a_snapshot_is_the_state_itself(env):
    env.step("search[chair]")
    snapshot = env.snapshot()
    assert snapshot.native is not None
    env.step("click[next >]")
    env.reset(seed=4)
    obs, _ = env.restore(snapshot)
    assert "Page 1" in obs["text"]
