"""The shop: its search, and how actions lead from page to page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from gym_memory.core.optional import require
from gym_memory.extract.notes.words import clean_name
from gym_memory.games.webshop.catalogue import Catalogue, Product
from gym_memory.games.webshop.pages import (
    BACK,
    BUY,
    NEXT,
    PREVIOUS,
    SUB_PAGES,
    WINDOW,
    Button,
    ShopView,
    clickables,
    render,
)
from gym_memory.games.webshop.rules import split_words

__all__ = ["MOST_RESULTS", "ProductSearch", "Shop", "open_shop"]

MOST_RESULTS = 50
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
        if len(scores) > MOST_RESULTS:
            least = max(np.partition(scores, -MOST_RESULTS)[-MOST_RESULTS], 10.0**-_DECIMALS)
        else:
            least = 10.0**-_DECIMALS
        found = np.flatnonzero(scores >= least)
        order = np.argsort(-scores[found], kind="stable")[:MOST_RESULTS]
        return tuple(self._products[i] for i in found[order])


def _document(product: Product) -> str:
    options = ", and ".join(f"{name}: {', '.join(v)}" for name, v in product.options)
    parts: Iterable[str] = (product.title, product.description, *product.bullets[:1], options)
    return " ".join(parts)


def _words(text: str) -> list[str]:
    return [word.stem for word in split_words(text) if word.stem not in _STOP_WORDS]


@lru_cache(maxsize=4)
def open_shop(catalogue: Catalogue) -> Shop:
    """Return the shop of a catalogue; its index is built once in a process."""
    return Shop(catalogue)


class Shop:
    """Lead from page to page of a catalogue; a shop keeps no state of its own."""

    def __init__(self, catalogue: Catalogue):
        self.catalogue = catalogue
        self.find = ProductSearch(catalogue).find

    def product(self, view: ShopView) -> Product | None:
        """Return the product of a page."""
        return self.catalogue.by_asin.get(view.asin)

    def shown(self, view: ShopView) -> tuple[Product, ...]:
        """Return the products on a page of results."""
        return self._found(view)[(view.number - 1) * WINDOW : view.number * WINDOW]

    def links(self, view: ShopView, *, with_attributes: bool = False) -> dict[str, Button]:
        """Return the links of a page, by text in lower case."""
        return clickables(
            view, self._found(view), self.product(view), with_attributes=with_attributes
        )

    def text(self, view: ShopView, request: str, *, with_attributes: bool = False) -> str:
        """Return the text of a page."""
        return render(
            view, request, self._found(view), self.product(view), with_attributes=with_attributes
        )

    def _found(self, view: ShopView) -> tuple[Product, ...]:
        return self.find(view.query) if view.page == "results" else ()

    def follow(
        self, view: ShopView, action: str, *, with_attributes: bool = False
    ) -> ShopView | None:
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
        link = self.links(view, with_attributes=with_attributes).get(what)
        return None if link is None else _clicked(view, link)


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
