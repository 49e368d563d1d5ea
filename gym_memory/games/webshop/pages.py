"""The shop's pages as text, in the official engine's text mode, and their links.

A page is one line of parts separated by ``[SEP]``, the request first. Clicks ignore case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gym_memory.games.webshop.catalogue import Product

__all__ = ["BACK", "BUY", "NEXT", "PREVIOUS", "SUB_PAGES", "WINDOW"]
__all__ += ["Button", "ShopView", "clickables", "details_of", "render"]

WINDOW = 10
"""Products on a page of results."""
BACK, NEXT, PREVIOUS, BUY = "Back to Search", "Next >", "< Prev", "Buy Now"
SUB_PAGES = ("Description", "Features", "Reviews", "Attributes")
_SEPARATOR = " [SEP] "


class ShopView(NamedTuple):
    """Hold the position of a customer.

    Attributes:
        page: ``search``, ``results``, ``item``, one of ``SUB_PAGES`` or ``done``.
        searches: Distinct queries so far.
        search: Number of the last of them, from 1; 0 before the first search.
        number: Page of its results, from 1.
        asin: The product in view; empty for none.
        chosen: Options chosen on its page: (name, value).
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
    """Hold something that can be clicked.

    Attributes:
        kind: ``button``, ``page`` (about the product), ``product`` or ``option``.
        target: A button, a page of ``SUB_PAGES``, a code or a value.
        option: Name of the option that the value belongs to.
    """

    kind: str
    target: str
    option: str = ""


def render(
    view: ShopView,
    request: str,
    found: tuple[Product, ...],
    product: Product | None,
    *,
    with_attributes: bool = False,
) -> str:
    """Return the text of a page; ``found`` are all results of the last search."""
    parts = ["Instruction:", request]
    if view.page == "search":
        parts = ["WebShop", *parts, "Search"]
    elif view.page == "results":
        shown = found[(view.number - 1) * WINDOW : view.number * WINDOW]
        parts += [BACK, f"Page {view.number} (Total results: {len(found)})"]
        parts += _turns(view, found)
        parts += [text for p in shown for text in (p.asin, p.title, p.price_tag)]
    elif product is not None and view.page == "item":
        parts += [BACK, PREVIOUS]
        parts += [text for name, values in product.options for text in (name, *values)]
        parts += [product.title, f"Price: {product.price_tag}", "Rating: N.A."]
        parts += [*SUB_PAGES[: 3 + with_attributes], BUY]
    elif product is not None and view.page == "done":
        chosen = [text for pair in view.chosen for text in pair]
        parts = ["Thank you for shopping with us!", "Purchased", product.asin, *chosen]
    elif product is not None:
        parts += [BACK, PREVIOUS, *details_of(product, view.page)]
    return _SEPARATOR.join(part for part in parts if part)


def _turns(view: ShopView, found: tuple[Product, ...]) -> Iterator[str]:
    """Yield the links to the page before and the page after."""
    if view.number > 1:
        yield PREVIOUS
    if view.number * WINDOW < len(found):
        yield NEXT


def details_of(product: Product, page: str) -> tuple[str, ...]:
    """Return the parts of one of ``SUB_PAGES``."""
    if page == "Description":
        return (product.description,)
    if page == "Features":
        return product.bullets
    if page == "Reviews":
        return ("No reviews found",)
    return (*product.attributes, product.category, product.query, product.product_category)


def clickables(
    view: ShopView,
    found: tuple[Product, ...],
    product: Product | None,
    *,
    with_attributes: bool = False,
) -> dict[str, Button]:
    """Return the links of a page in its order, by text in lower case.

    Where two options share a value it is the last one's, as in the official engine.
    """
    if view.page in ("search", "done"):
        return {}
    links = [Button("button", BACK)]
    if view.page == "results":
        shown = found[(view.number - 1) * WINDOW : view.number * WINDOW]
        links += [Button("button", turn) for turn in _turns(view, found)]
        links += [Button("product", p.asin) for p in shown]
    else:
        links.append(Button("button", PREVIOUS))
    if view.page == "item" and product is not None:
        links += [Button("page", page) for page in SUB_PAGES[: 3 + with_attributes]]
        links.append(Button("button", BUY))
        links += [Button("option", v, name) for name, values in product.options for v in values]
    return {link.target.lower(): link for link in links}
