"""Products that satisfy a request, and how to buy one: upper bounds, never shown to an agent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from gym_memory.games.webshop.catalogue import Goal, Product
from gym_memory.games.webshop.pages import BUY, NEXT, WINDOW
from gym_memory.games.webshop.reward import matches_option, rate
from gym_memory.games.webshop.rules import queries
from gym_memory.games.webshop.shop import Shop

__all__ = ["Listing", "find_listing", "right_products", "walkthrough"]


class Listing(NamedTuple):
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


def find_listing(shop: Shop, product: Product, searches: tuple[str, ...]) -> Listing | None:
    """Return the first of some searches, or else that for its title, that lists a product."""
    for query in (*searches, " ".join(product.title.lower().split())):
        found = shop.find(query)
        if product in found:
            return Listing(query, found.index(product) // WINDOW + 1)
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
