"""Engine facts in the rules' vocabulary, only for scoring and the control ``oracle``."""

from __future__ import annotations

from collections.abc import Iterator

from gym_memory.core.records import Triple
from gym_memory.games.webshop.catalogue import Product
from gym_memory.games.webshop.rules import SEARCH_PAGE, read_request, short_name
from gym_memory.games.webshop.shop import SUB_PAGES, Shop, ShopView, details_of
from gym_memory.graph.schema import PLAYER

__all__ = ["IdealShopper", "page_facts", "product_facts"]


def page_facts(shop: Shop, view: ShopView, request: str) -> Iterator[Triple]:
    """Yield facts about a page's contents, its place, and the options chosen on it."""
    product = shop.product(view)
    if view.page == "search":
        yield Triple(PLAYER, "is in", SEARCH_PAGE)
    elif view.page == "results":
        place = f"page {view.number} of search {view.search}"
        yield Triple(PLAYER, "is in", place)
        yield Triple(f"search {view.search}", "looks for", view.query)
        yield Triple(place, "is in", f"search {view.search}")
        for listed in shop.shown(view):
            yield Triple(listed.asin.lower(), "is on", place)
            yield from _name_facts(listed, request)
    elif product is not None and view.page == "done":
        yield Triple(PLAYER, "bought", product.asin.lower())
    elif product is not None:
        code = product.asin.lower()
        yield Triple(PLAYER, "is in", code)
        yield from (Triple(PLAYER, "chose", f"{name}: {value}") for name, value in view.chosen)
        if view.page == "item":
            yield Triple(code, "was read", "item page")
            yield from _name_facts(product, request)
            yield from _option_facts(product)
        else:
            yield Triple(code, "was read", view.page.lower())
            yield from _detail_facts(product, view.page, request)


def product_facts(product: Product, request: str) -> Iterator[Triple]:
    """Yield the facts on all pages of a product."""
    yield from _name_facts(product, request)
    yield from _option_facts(product)
    for page in SUB_PAGES[:2]:
        yield from _detail_facts(product, page, request)


def _name_facts(product: Product, request: str) -> Iterator[Triple]:
    code = product.asin.lower()
    yield Triple(code, "is called", short_name(product.title))
    yield Triple(code, "costs", product.price_tag)
    yield from _mentions(product, product.title, request)


def _option_facts(product: Product) -> Iterator[Triple]:
    for name, values in product.options:
        for value in values:
            yield Triple(product.asin.lower(), f"has {name}", value)


def _detail_facts(product: Product, page: str, request: str) -> Iterator[Triple]:
    for text in details_of(product, page):
        yield from _mentions(product, text, request)
    if page == "Attributes":
        code = product.asin.lower()
        for attribute in product.attributes:
            yield Triple(code, "has attribute", attribute.lower())
        for category in (product.category, product.product_category):
            yield Triple(code, "is of category", category.lower())


def _mentions(product: Product, text: str, request: str) -> Iterator[Triple]:
    for phrase in read_request(request).phrases_in(text):
        yield Triple(product.asin.lower(), "mentions", phrase.words)


class IdealShopper:
    """A shopper that remembers every page, against which memories are scored."""

    def __init__(self, shop: Shop, request: str):
        self._shop, self._request = shop, request
        self._last = ShopView()
        self.known: frozenset[Triple] = frozenset()
        """True facts that were shown."""

    def see(self, view: ShopView) -> None:
        """Learn the facts of a page."""
        shown = set(page_facts(self._shop, view, self._request))
        moved = {fact.subject for fact in shown if fact.relation == "is on"}
        kept = {
            fact
            for fact in self.known
            if not (fact.relation == "is on" and fact.subject in moved)
            and not (fact.subject == PLAYER and fact.relation in ("is in", "chose"))
            and fact != (PLAYER, "turned down", view.asin.lower())
        }
        left = self._last.asin.lower()
        if left and left != view.asin.lower():
            kept.add(Triple(PLAYER, "turned down", left))
        if view.page == "done":  # the last page does not name its place
            kept.update(f for f in self.known if f.subject == PLAYER and f.relation != "bought")
        self.known, self._last = frozenset(kept | shown), view
