"""Run a shop: search, pages as text and links, actions, and reward.

As in the official engine's text mode, a page is one line of parts separated by ``[SEP]``, with the
request first. Clicks ignore case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.optional import require
from gym_memory.games.webshop.catalogue import Catalogue, Goal, Product
from gym_memory.games.webshop.rules import queries, split_words
from gym_memory.graph.schema import clean_name

__all__ = ["BUY", "MAX_RESULTS", "NEXT", "SUB_PAGES", "WINDOW", "Button", "ProductSearch"]
__all__ += ["ResultPage", "Reward", "Shop", "ShopView", "basic_color", "details_of", "find_listing"]
__all__ += ["matches_option", "open_shop", "rate", "right_products", "title_nouns", "walkthrough"]

WINDOW = 10
"""Number of products on a page of results."""
MAX_RESULTS = 50
BACK, NEXT, PREVIOUS, BUY = "Back to Search", "Next >", "< Prev", "Buy Now"
SUB_PAGES = ("Description", "Features", "Reviews", "Attributes")
_SEPARATOR = " [SEP] "
_K1, _B = 0.9, 0.4
"""Pyserini's defaults of BM25, as in the official engine."""
_DECIMALS = 4
_CACHED_QUERIES = 4096
_STOP_WORDS = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is",
    "it", "no", "not", "of", "on", "or", "some", "such", "that", "the", "their", "then",
    "there", "these", "they", "this", "to", "was", "will", "with",
))  # fmt: skip
_ACTION = re.compile(r"(?P<verb>search|click)\[(?P<what>.+)\]")


class ProductSearch:
    """An index of a catalogue.

    The official engine uses Lucene with Porter stems; here, only the plural *s* is removed. Ties
    keep the order of the catalogue.
    """

    def __init__(self, catalogue: Catalogue):
        bm25s: Any = require("bm25s", "webshop", "the search of WebShop")
        self._products = catalogue.products
        self._index = bm25s.BM25(k1=_K1, b=_B, method="lucene")
        self._index.index([_words(_document(p)) for p in self._products], show_progress=False)
        self.find = lru_cache(maxsize=_CACHED_QUERIES)(self._find)

    def _find(self, query: str) -> tuple[Product, ...]:
        """Return at most 50 products that share a word with the query, best first."""
        words = [word for word in _words(query) if word in self._index.vocab_dict]
        if not words:
            return ()
        scores = np.round(self._index.get_scores(words), _DECIMALS)
        least = 10.0**-_DECIMALS
        if len(scores) > MAX_RESULTS:
            least = max(np.partition(scores, -MAX_RESULTS)[-MAX_RESULTS], least)
        found = np.flatnonzero(scores >= least)
        order = np.argsort(-scores[found], kind="stable")[:MAX_RESULTS]
        return tuple(self._products[i] for i in found[order])


def _document(product: Product) -> str:
    options = ", and ".join(f"{name}: {', '.join(v)}" for name, v in product.options)
    return " ".join((product.title, product.description, *product.bullets[:1], options))


def _words(text: str) -> list[str]:
    return [word.stem for word in split_words(text) if word.stem not in _STOP_WORDS]


class ShopView(NamedTuple):
    """A page in view.

    ``page`` is ``search``, ``results``, ``item``, one of ``SUB_PAGES`` or ``done``. ``search`` is
    the number, from 1, of the last of ``searches``, and ``number`` the page of its results.
    """

    page: str = "search"
    searches: tuple[str, ...] = ()
    search: int = 0
    number: int = 1
    asin: str = ""
    chosen: tuple[tuple[str, str], ...] = ()

    @property
    def query(self) -> str:
        """Return the last search."""
        return self.searches[self.search - 1] if self.search else ""


class Button(NamedTuple):
    """A link to click; its kind is ``button``, ``page``, ``product`` or ``option``."""

    kind: str
    target: str
    option: str = ""


@lru_cache(maxsize=4)
def open_shop(catalogue: Catalogue, with_attributes: bool = False) -> Shop:
    """Return the shop of a catalogue; the index is cached for the process."""
    return Shop(catalogue, with_attributes)


class Shop:
    """A stateless shop: pages of a catalogue and the links between them.

    Args:
        catalogue: The products.
        with_attributes: Whether item pages link to the annotated attributes.
    """

    def __init__(self, catalogue: Catalogue, with_attributes: bool = False):
        self.catalogue = catalogue
        self.find = ProductSearch(catalogue).find
        self._sub_pages = SUB_PAGES[: 3 + with_attributes]

    def product(self, view: ShopView) -> Product | None:
        """Return the product of a page."""
        return self.catalogue.by_asin.get(view.asin)

    def shown(self, view: ShopView) -> tuple[Product, ...]:
        """Return the products on a page of results."""
        return self.find(view.query)[(view.number - 1) * WINDOW : view.number * WINDOW]

    def _page_links(self, view: ShopView) -> Iterator[str]:
        """Yield the links to the page before and the page after."""
        if view.number > 1:
            yield PREVIOUS
        if view.number * WINDOW < len(self.find(view.query)):
            yield NEXT

    def text(self, view: ShopView, request: str) -> str:
        """Return the text of a page."""
        parts = ["Instruction:", request]
        product = self.product(view)
        if view.page == "search":
            parts = ["WebShop", *parts, "Search"]
        elif view.page == "results":
            total = len(self.find(view.query))
            parts += [BACK, f"Page {view.number} (Total results: {total})", *self._page_links(view)]
            parts += [t for p in self.shown(view) for t in (p.asin, p.title, p.price_tag)]
        elif product is not None and view.page == "item":
            parts += [BACK, PREVIOUS]
            parts += [text for name, values in product.options for text in (name, *values)]
            parts += [product.title, f"Price: {product.price_tag}", "Rating: N.A."]
            parts += [*self._sub_pages, BUY]
        elif product is not None and view.page == "done":
            chosen = [text for pair in view.chosen for text in pair]
            parts = ["Thank you for shopping with us!", "Purchased", product.asin, *chosen]
        elif product is not None:
            parts += [BACK, PREVIOUS, *details_of(product, view.page)]
        return _SEPARATOR.join(part for part in parts if part)

    def links(self, view: ShopView) -> dict[str, Button]:
        """Return the links of a page, in order, by lower-case text.

        If two options share a value, the link selects the last one, as in the official engine.
        """
        if view.page in ("search", "done"):
            return {}
        links, product = [Button("button", BACK)], self.product(view)
        if view.page == "results":
            links += [Button("button", turn) for turn in self._page_links(view)]
            links += [Button("product", p.asin) for p in self.shown(view)]
        else:
            links.append(Button("button", PREVIOUS))
        if view.page == "item" and product is not None:
            links += [Button("page", page) for page in self._sub_pages]
            links.append(Button("button", BUY))
            links += [Button("option", v, name) for name, values in product.options for v in values]
        return {link.target.lower(): link for link in links}

    def follow(self, view: ShopView, action: str) -> ShopView | None:
        """Return the page after an action; None if it is invalid.

        As in the official engine, a search works on every page, although only the first has a
        search box.
        """
        found = _ACTION.fullmatch(action)
        if found is None:
            return None
        what = found["what"].strip().lower()
        if found["verb"] == "search":
            return _searched(view, clean_name(what)) if what else None
        link = self.links(view).get(what)
        return None if link is None else _clicked(view, link)


def details_of(product: Product, page: str) -> tuple[str, ...]:
    """Return the parts of a page in ``SUB_PAGES``."""
    if page == "Description":
        return (product.description,)
    if page == "Features":
        return product.bullets
    if page == "Reviews":
        return ("No reviews found",)
    return (*product.attributes, product.category, product.query, product.product_category)


def _searched(view: ShopView, query: str) -> ShopView:
    searches = view.searches if query in view.searches else (*view.searches, query)
    return ShopView("results", searches, searches.index(query) + 1)


def _clicked(view: ShopView, link: Button) -> ShopView:
    if link.kind == "product":
        return view._replace(page="item", asin=link.target)
    if link.kind == "option":
        chosen = {**dict(view.chosen), link.option: link.target}
        return view._replace(chosen=tuple(chosen.items()))
    if link.kind == "page":
        return view._replace(page=link.target)
    if link.target == BUY:
        return view._replace(page="done")
    if link.target == BACK:
        return ShopView(searches=view.searches)
    if view.page == "results":
        return view._replace(number=view.number + {NEXT: 1, PREVIOUS: -1}[link.target])
    if view.page in SUB_PAGES:
        return view._replace(page="item")
    return ShopView("results", view.searches, view.search, view.number)


_MIN_LIKENESS_PERCENT = 85
_CACHE_SIZE = 1 << 16
"""Size of the cache of text comparisons."""
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
_NOT_NOUNS = frozenset((
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
_SCORING_WORD = re.compile(r"[a-z][a-z'’-]+")


class Reward(NamedTuple):
    """A total reward in [0, 1] and its parts."""

    total: float
    kind: float
    attributes: int
    options: int
    price: bool


def rate(product: Product, chosen: Mapping[str, str], goal: Goal) -> Reward:
    """Return the reward for buying a product with the chosen options (name to value)."""
    kind = _product_type_match(product, goal)
    attributes = sum(_has_attribute(product, wanted) for wanted in goal.attributes)
    options = sum(any(matches_option(v, one) for v in chosen.values()) for one in goal.options)
    price = product.price <= goal.price_limit
    criteria = len(goal.attributes) + len(goal.options) + 1
    return Reward(
        kind * (attributes + options + price) / criteria, kind, attributes, options, price
    )


def _product_type_match(product: Product, goal: Goal) -> float:
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
    """Return the words of a title but for numbers, function words and adjectives.

    The official engine finds nouns with a large spaCy model, which needs a download.

    >>> sorted(title_nouns("Veltra Wireless Speaker for 2 Phones"))
    ['phones', 'speaker', 'veltra']
    """
    return {word for word in _SCORING_WORD.findall(title.lower()) if word not in _NOT_NOUNS}


def _categories(product: Product) -> set[str]:
    return {part.strip() for part in product.product_category.split("›")}


def _has_attribute(product: Product, wanted: str) -> bool:
    alike = any(_is_alike(attribute, wanted) for attribute in product.attributes)
    return alike or wanted in product.texts


def matches_option(chosen: str, wanted: str) -> bool:
    """True if two values are similar after reducing colours to basic ones."""
    return _is_alike(basic_color(chosen), basic_color(wanted))


@lru_cache(maxsize=_CACHE_SIZE)
def basic_color(value: str) -> str:
    """Return the alphabetically first colour word in a value, or the value itself.

    >>> basic_color("navy blue stripes"), basic_color("size 7")
    ('blue', 'size 7')
    """
    return next((color for color in _COLORS if color in value), value)


@lru_cache(maxsize=_CACHE_SIZE)
def _is_alike(one: str, other: str) -> bool:
    """True if thefuzz's ratio of two texts, in percent, exceeds 85."""
    fuzz: Any = require("rapidfuzz.fuzz", "webshop", "the reward of WebShop")
    utils: Any = require("rapidfuzz.utils", "webshop", "the reward of WebShop")
    return (
        round(fuzz.token_set_ratio(one, other, processor=utils.default_process))
        > _MIN_LIKENESS_PERCENT
    )


class ResultPage(NamedTuple):
    """A search and the number of a page of its results."""

    query: str
    number: int


def choice_of(product: Product, goal: Goal) -> dict[str, str]:
    """Return the options (name to value) closest to the goal."""
    chosen = {}
    for name, values in product.options:
        wanted = [o for o in goal.options if o in values]
        wanted += [v for v in values if any(matches_option(v, o) for o in goal.options)]
        if wanted:
            chosen[name] = wanted[0]
    return chosen


@lru_cache(maxsize=1024)
def right_products(shop: Shop, goal: Goal) -> tuple[Product, ...]:
    """Return the products with reward 1 among the results for the request."""
    searches = (*queries(goal.instruction), goal.product.query)
    found = dict.fromkeys([goal.product, *(p for query in searches for p in shop.find(query))])
    return tuple(p for p in found if rate(p, choice_of(p, goal), goal).total == 1.0)


def find_listing(shop: Shop, product: Product, searches: tuple[str, ...]) -> ResultPage | None:
    """Return the first result page that lists a product; its title is the last search."""
    for query in (*searches, " ".join(product.title.lower().split())):
        found = shop.find(query)
        if product in found:
            return ResultPage(query, found.index(product) // WINDOW + 1)
    return None


def walkthrough(shop: Shop, goal: Goal) -> tuple[str, ...]:
    """Return actions that buy a product with reward 1; empty if no search lists one."""
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
