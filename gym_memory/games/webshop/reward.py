"""The reward of a purchase, by WebShop's formula, and the purchases that earn all of it.

With U the attributes and O the options that were requested::

    reward = type * (matched U + matched O + [price <= limit]) / (|U| + |O| + 1)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from gym_memory.core.optional import require
from gym_memory.games.webshop.catalogue import Goal, Product
from gym_memory.games.webshop.rules import queries
from gym_memory.games.webshop.shop import BUY, NEXT, WINDOW, Shop

__all__ = ["ResultPage", "Reward", "basic_color", "find_listing", "matches_option", "rate"]
__all__ += ["right_products", "title_nouns", "walkthrough"]

_ALIKE = 85
_KEPT = 1 << 16
"""Pairs of texts whose comparison is kept."""
_COLORS = (
    "alabaster", "apricot", "aqua", "ash", "asphalt", "azure", "banana", "beige", "black", "blue",
    "blush", "bordeaux", "bronze", "brown", "burgundy", "camel", "camo", "caramel", "champagne",
    "charcoal", "cheetah", "chestnut", "chocolate", "christmas", "coffee", "cognac", "copper",
    "coral", "cranberry", "cream", "crystal", "dark", "denim", "eggplant", "elephant", "espresso",
    "fuchsia", "gold", "granite", "grape", "graphite", "grass", "gray", "green", "grey", "heather",
    "indigo", "ivory", "ivy", "khaki", "lavender", "lemon", "leopard", "light", "lilac", "lime",
    "magenta", "maroon", "mauve", "merlot", "midnight", "mint", "mocha", "multicolor", "mushroom",
    "mustard", "natural", "navy", "nude", "olive", "orange", "peach", "pewter", "pink", "plum",
    "purple", "rainbow", "red", "rose", "royal", "rust", "sand", "sapphire", "seashell", "silver",
    "skull", "slate", "steel", "stone", "stonewash", "sunflower", "tan", "taupe", "teal", "tiger",
    "turquoise", "violet", "walnut", "wheat", "white", "wine", "yellow",
)  # fmt: skip
_NO_NOUNS = frozenset((
    "a", "adjustable", "all", "an", "and", "any", "are", "as", "at", "automatic", "be", "best",
    "big", "both", "by", "casual", "classic", "cold", "comfortable", "cool", "cute", "deep",
    "digital", "dry", "durable", "each", "easy", "electric", "elegant", "every", "extra",
    "fast", "for", "formal", "free", "fresh", "from", "full", "good", "great", "hard", "heavy",
    "high", "hot", "ideal", "in", "into", "is", "it", "its", "large", "light", "long", "low",
    "mini", "modern", "more", "most", "multi", "natural", "new", "no", "non", "not", "of", "on",
    "only", "or", "organic", "other", "our", "out", "over", "perfect", "portable", "premium",
    "pretty", "professional", "pure", "quick", "real", "real-time", "short", "slim", "slow",
    "small", "soft", "super", "that", "the", "these", "thick", "thin", "this", "those", "tiny",
    "to", "ultra", "under", "up", "vintage", "warm", "waterproof", "wet", "wide", "wireless",
    "with", "without", "your",
))  # fmt: skip
_WORD = re.compile(r"[a-z][a-z'’-]+")


class Reward(NamedTuple):
    """Hold the total in [0, 1], the type's factor, what matches, and if the price does."""

    total: float
    kind: float
    attributes: int
    options: int
    price: bool


def rate(product: Product, chosen: Mapping[str, str], goal: Goal) -> Reward:
    """Rate the purchase of a product with the chosen options (name to value)."""
    kind = _kind(product, goal)
    attributes = sum(_has_attribute(product, wanted) for wanted in goal.attributes)
    options = _matched_options(chosen.values(), goal.options)
    price = product.price <= goal.price_limit
    asked = len(goal.attributes) + len(goal.options) + 1
    return Reward(kind * (attributes + options + price) / asked, kind, attributes, options, price)


def _kind(product: Product, goal: Goal) -> float:
    wanted, offered = title_nouns(goal.product.title), title_nouns(product.title)
    shared = len(wanted & offered) / len(wanted) if wanted else 0.2
    if shared == 0.0:
        return 0.0
    if shared < 0.1:
        return 0.1
    same_query = product.query == goal.product.query
    categories = _categories(product) & _categories(goal.product)
    return 1.0 if same_query or len(categories) >= 2 or shared > 0.2 else 0.5


def title_nouns(title: str) -> set[str]:
    """Return the words of a title that count as nouns: no numbers, function words or adjectives.

    The official nouns come from a large spaCy model, which needs a download.

    >>> sorted(title_nouns("Veltra Wireless Speaker for 2 Phones"))
    ['phones', 'speaker', 'veltra']
    """
    return {word for word in _WORD.findall(title.lower()) if word not in _NO_NOUNS}


def _categories(product: Product) -> set[str]:
    return {part.strip() for part in product.product_category.split("›")}


def _has_attribute(product: Product, wanted: str) -> bool:
    alike = any(_alike(attribute, wanted) for attribute in product.attributes)
    return alike or any(wanted in text for text in product.texts.split("\n"))


def _matched_options(chosen: Iterable[str], wanted: Iterable[str]) -> int:
    values = list(chosen)
    return sum(any(matches_option(value, one) for value in values) for one in wanted)


def matches_option(chosen: str, wanted: str) -> bool:
    """True if a chosen value counts as the wanted one, with colours reduced."""
    return _alike(basic_color(chosen), basic_color(wanted))


@lru_cache(maxsize=_KEPT)
def basic_color(value: str) -> str:
    """Return the alphabetically first colour word in an option's value; else the value.

    >>> basic_color("navy blue stripes"), basic_color("size 7")
    ('blue', 'size 7')
    """
    return next((color for color in _COLORS if color in value), value)


@lru_cache(maxsize=_KEPT)
def _alike(one: str, other: str) -> bool:
    """True if thefuzz's ratio, rounded to a whole number as it does, is above 85."""
    fuzz: Any = require("rapidfuzz.fuzz", "webshop", "the reward of WebShop")
    utils: Any = require("rapidfuzz.utils", "webshop", "the reward of WebShop")
    return round(fuzz.token_set_ratio(one, other, processor=utils.default_process)) > _ALIKE


class ResultPage(NamedTuple):
    """Hold a search and the number of a page of its results."""

    query: str
    number: int


def choice_of(product: Product, goal: Goal) -> dict[str, str]:
    """Return the options of a product that come nearest to the request: name to value."""
    chosen = {}
    for name, values in product.options:
        wanted = [o for o in goal.options if o in values]
        wanted += [v for v in values if any(matches_option(v, o) for o in goal.options)]
        if wanted:
            chosen[name] = wanted[0]
    return chosen


@lru_cache(maxsize=1024)
def right_products(shop: Shop, goal: Goal) -> tuple[Product, ...]:
    """Return the products rated 1, among those that a search for the request finds."""
    found = dict.fromkeys([goal.product, *_candidates(shop, goal)])
    return tuple(p for p in found if rate(p, choice_of(p, goal), goal).total == 1.0)


def _candidates(shop: Shop, goal: Goal) -> Iterator[Product]:
    for query in (*queries(goal.instruction), goal.product.query):
        yield from shop.find(query)


def find_listing(shop: Shop, product: Product, searches: tuple[str, ...]) -> ResultPage | None:
    """Return the first of some searches, or else that for its title, that lists a product."""
    for query in (*searches, " ".join(product.title.lower().split())):
        found = shop.find(query)
        if product in found:
            return ResultPage(query, found.index(product) // WINDOW + 1)
    return None


def walkthrough(shop: Shop, goal: Goal) -> tuple[str, ...]:
    """Return actions that buy a right product; empty where no search lists one."""
    for product in right_products(shop, goal):
        listing = find_listing(shop, product, queries(goal.instruction))
        if listing is not None:
            return (
                f"search[{listing.query}]",
                *[f"click[{NEXT.lower()}]"] * (listing.number - 1),
                f"click[{product.asin.lower()}]",
                *[f"click[{value}]" for value in choice_of(product, goal).values()],
                f"click[{BUY.lower()}]",
            )
    return ()
