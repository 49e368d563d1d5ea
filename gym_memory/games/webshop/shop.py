"""The shop: its search, its pages as text and as links, and what each action leads to.

A page is one line of parts separated by ``[SEP]``, the request first, as in the official engine's
text mode. Clicks ignore case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.optional import require
from gym_memory.games.webshop.catalogue import Catalogue, Product
from gym_memory.games.webshop.rules import split_words
from gym_memory.graph.schema import clean_name

__all__ = ["BUY", "MOST_RESULTS", "NEXT", "SUB_PAGES", "WINDOW"]
__all__ += ["Button", "ProductSearch", "Shop", "ShopView", "details_of", "open_shop"]

WINDOW = 10
"""Products on a page of results."""
MOST_RESULTS = 50
BACK, NEXT, PREVIOUS, BUY = "Back to Search", "Next >", "< Prev", "Buy Now"
SUB_PAGES = ("Description", "Features", "Reviews", "Attributes")
_SEPARATOR = " [SEP] "
_K1, _B = 0.9, 0.4
"""Pyserini's values, which the official engine leaves as they are."""
_DECIMALS = 4
_KEPT_QUERIES = 4096
_STOP_WORDS = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is",
    "it", "no", "not", "of", "on", "or", "some", "such", "that", "the", "their", "then",
    "there", "these", "they", "this", "to", "was", "will", "with",
))  # fmt: skip
_ACTION = re.compile(r"(?P<verb>search|click)\[(?P<what>.+)\]")


class ProductSearch:
    """Index a catalogue.

    The official engine searches with Lucene, which also reduces words to their Porter stem; here
    a plural's *s* is dropped. Of equally good products the first of the catalogue comes first.
    """

    def __init__(self, catalogue: Catalogue):
        bm25s: Any = require("bm25s", "webshop", "the search of WebShop")
        self._products = catalogue.products
        self._index = bm25s.BM25(k1=_K1, b=_B, method="lucene")
        self._index.index([_words(_document(p)) for p in self._products], show_progress=False)
        self.find = lru_cache(maxsize=_KEPT_QUERIES)(self._find)

    def _find(self, query: str) -> tuple[Product, ...]:
        """Return the best products for a query, at most 50, each with a word of it."""
        words = [word for word in _words(query) if word in self._index.vocab_dict]
        if not words:
            return ()
        scores = np.round(self._index.get_scores(words), _DECIMALS)
        least = 10.0**-_DECIMALS
        if len(scores) > MOST_RESULTS:
            least = max(np.partition(scores, -MOST_RESULTS)[-MOST_RESULTS], least)
        found = np.flatnonzero(scores >= least)
        order = np.argsort(-scores[found], kind="stable")[:MOST_RESULTS]
        return tuple(self._products[i] for i in found[order])


def _document(product: Product) -> str:
    options = ", and ".join(f"{name}: {', '.join(v)}" for name, v in product.options)
    return " ".join((product.title, product.description, *product.bullets[:1], options))


def _words(text: str) -> list[str]:
    return [word.stem for word in split_words(text) if word.stem not in _STOP_WORDS]


class ShopView(NamedTuple):
    """Hold the position of a customer.

    ``page`` is ``search``, ``results``, ``item``, one of ``SUB_PAGES`` or ``done``. ``search`` is
    the number of the last of the ``searches``, from 1, and ``number`` the page of its results.
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
    """Hold what can be clicked; its kind is ``button``, ``page``, ``product`` or ``option``."""

    kind: str
    target: str
    option: str = ""


@lru_cache(maxsize=4)
def open_shop(catalogue: Catalogue, with_attributes: bool = False) -> Shop:
    """Return the shop of a catalogue; its index is built once in a process."""
    return Shop(catalogue, with_attributes)


class Shop:
    """Lead from page to page of a catalogue; a shop keeps no state of its own.

    ``with_attributes`` is True if item pages link to the annotated attributes.
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

    def _turns(self, view: ShopView) -> Iterator[str]:
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
            parts += [BACK, f"Page {view.number} (Total results: {total})", *self._turns(view)]
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
        """Return the links of a page in its order, by text in lower case.

        Where two options share a value it is the last one's, as in the official engine.
        """
        if view.page in ("search", "done"):
            return {}
        links, product = [Button("button", BACK)], self.product(view)
        if view.page == "results":
            links += [Button("button", turn) for turn in self._turns(view)]
            links += [Button("product", p.asin) for p in self.shown(view)]
        else:
            links.append(Button("button", PREVIOUS))
        if view.page == "item" and product is not None:
            links += [Button("page", page) for page in self._sub_pages]
            links.append(Button("button", BUY))
            links += [Button("option", v, name) for name, values in product.options for v in values]
        return {link.target.lower(): link for link in links}

    def follow(self, view: ShopView, action: str) -> ShopView | None:
        """Return the page that an action leads to; None for one that leads nowhere.

        As in the official engine a search can be typed on any page, although only the first one
        shows where.
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
    """Return the parts of one of ``SUB_PAGES``."""
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
