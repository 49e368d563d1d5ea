"""A shopper that plays WebShop from the observation and its valid actions alone.

It compares the products in its memory with the request. It buys the first one that satisfies the
request, or the best one once its patience ends. Its only state is its published plan. If the memory
forgets which search a result came from, it buys the best after a random number of steps.
"""

from __future__ import annotations

import dataclasses
import re
from functools import cached_property
from typing import Any, ClassVar

from gym_memory.baselines.rules.base import RulePolicy
from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Plan, RulePlan, track_novelty
from gym_memory.core.records import Observation
from gym_memory.core.settings import check_int
from gym_memory.extract import get_extractor
from gym_memory.games.webshop.rules import (
    SOME_SEARCH,
    THIS,
    ShoppingRequest,
    listing_of,
    page_of,
    queries,
    read_request,
    split_words,
)
from gym_memory.graph.schema import PLAYER
from gym_memory.graph.temporal import TemporalGraph

__all__ = ["Shopper"]

_LOOK, _DECIDE, _BUY = "look at it", "decide", "buy it"
_READ, _LEAVE = "read the ", "look for another than "
_RETURN, _SEARCH = "go back to ", "search for "
_DETAILS = ("features", "description")
_MIN_SHARED_WORDS = 2
"""Least number of requested words on a details page for buying an unknown product."""
_PRICE = re.compile(r"\$(\d+(?:\.\d+)?)")
_PRODUCT_RELATIONS = ("costs", "was read", "mentions")


class Candidate:
    """Known facts about a product, compared with a request."""

    def __init__(self, graph: TemporalGraph, code: str, request: ShoppingRequest):
        self.code, self._request = code, request
        self.options: dict[str, list[str]] = {}
        self.read: set[str] = set()
        self.price = 0.0
        place = graph.value(code, "location")
        self.place = place.object if place else ""
        self._mentioned: set[str] = set()
        for _, relation, obj in graph.outgoing(code):
            if relation == "mentions":
                self._mentioned.update(obj.split())
            elif relation == "was read":
                self.read.add(obj)
            elif relation == "costs":
                self.price = _price(obj)
            elif relation.startswith("has ") and relation != "has attribute":
                self.options.setdefault(relation[4:], []).append(obj)

    @cached_property
    def choice(self) -> dict[str, str]:
        """Return the longest value of each option that the request names."""
        found = {}
        for name, values in self.options.items():
            named = [v for v in values if self._request.names(v)]
            if named:
                found[name] = max(named, key=len)
        return found

    @cached_property
    def covered(self) -> frozenset[str]:
        """Return the words of the request that the product is known to satisfy."""
        chosen = " ".join(word for pair in self.choice.items() for word in pair)
        words = self._mentioned.union(word.stem for word in split_words(chosen))
        return self._request.words & words

    @property
    def affordable(self) -> bool:
        """True if the price is unknown or within the limit."""
        return self.price <= self._request.limit

    @property
    def value(self) -> float:
        """Return the share of the request that the product is known to satisfy, in [0, 1]."""
        return (len(self.covered) + self.affordable) / (len(self._request.words) + 1)


class Shelf:
    """Known products and the present page; ``idle`` counts steps since the last new page."""

    def __init__(self, beliefs: Beliefs, request: ShoppingRequest, idle: int = 0):
        graph = beliefs.graph
        self.idle = idle
        self.actions = beliefs.actions
        self.here = beliefs.here
        self.request = request
        self.graph = graph
        facts = list(graph.live())
        self.refused = {f.object for f in facts if f[:2] == (PLAYER, "turned down")}
        self.chosen = {f.object for f in facts if f[:2] == (PLAYER, "chose")}
        codes = dict.fromkeys(f.subject for f in facts if f.relation in _PRODUCT_RELATIONS)
        self.products = {code: Candidate(graph, code, request) for code in codes}
        offered = {
            word.stem
            for product in self.products.values()
            for name, values in product.options.items()
            for text in (name, *values)
            for word in split_words(text)
        }
        # *rose scent* names an option, *rose water* does not
        runs = (run for run in request.runs if offered.issuperset(run))
        self.option_words = frozenset(word for run in runs for word in run)

    @property
    def looked_at(self) -> int:
        """Return the number of products whose page was opened."""
        return len(self.refused.union(c for c, p in self.products.items() if p.read))

    def lacks(self, product: Candidate) -> bool:
        """True if a product is too expensive or lacks a requested option."""
        missing = self.option_words - product.covered if product.options else frozenset()
        return not product.affordable or bool(missing)

    def promising(self, product: Candidate) -> bool:
        """True if unread details may show that a product satisfies the request."""
        if self.lacks(product) or product.code in self.refused:
            return False
        return not product.read.issuperset(_DETAILS)

    def best(self) -> Candidate | None:
        """Return the best product with a known way to its page."""
        known = [
            p
            for p in self.products.values()
            if self.here in (p.code, p.place) or self.listing(p.place)
        ]
        return max(known, key=lambda p: (p.value, bool(p.read)), default=None)

    def complete(self) -> Candidate | None:
        """Return a product that satisfies the whole request and has a known listing."""
        known = (p for p in self.products.values() if p.value == 1.0 and self.listing(p.place))
        return next(known, None)

    def listing(self, place: str) -> tuple[str, int] | None:
        """Return the query and the page number of results; None if unknown."""
        return listing_of(self.graph, place)


@dataclasses.dataclass(frozen=True)
class ClickAim:
    """An aim of a click: a purpose and its page, product or query."""

    purpose: str = ""
    what: str = ""

    def __str__(self) -> str:
        return self.purpose + self.what


Choice = tuple[str, ClickAim]
"""An action and its aim."""
NO_AIM = ClickAim()


@dataclasses.dataclass(frozen=True)
class Trip(RulePlan):
    """A plan of a shopper."""

    aim: ClickAim = NO_AIM


class Shopper(RulePolicy):
    """A WebShop player that searches, compares and buys.

    Args:
        patience: Most products to open, and most steps without a new page, before it buys the best
            known product, >= 1.
        pages: Most result pages to read per search, >= 1.
        searches: Most different searches, >= 1.
    """

    dialect: ClassVar[str] = "webshop"
    start: ClassVar[Trip] = Trip()
    focus: Trip

    def __init__(self, patience: int = 16, pages: int = 5, searches: int = 3):
        super().__init__()
        for label, number in (("patience", patience), ("pages", pages), ("searches", searches)):
            check_int(label, number, 1)
        self.patience, self.pages, self.searches = patience, pages, searches

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action and publish its plan as ``focus``."""
        plan = self.focus
        idle, seen = track_novelty(plan, obs["text"], obs["inventory"])
        rules = get_extractor(self._dialect)
        acted = Plan(action=plan.action)
        beliefs = Beliefs(obs, rules, self._task(obs), acted, transcript=self._transcript)
        shelf = Shelf(beliefs, read_request(obs["task"]), idle)
        action, aim = self._decide(shelf, obs, plan.aim, plan.action)
        self.focus = Trip(aim, action, idle=idle, seen=seen)
        return beliefs.spelled(action)

    def _decide(self, shelf: Shelf, obs: Observation, aim: ClickAim, last: str) -> Choice:
        if "click[buy now]" in shelf.actions:
            return self._on_item(shelf, aim, last)
        if page_of(obs["text"]):
            return self._on_results(shelf, obs, aim)
        if "click[< prev]" in shelf.actions:
            return self._on_details(shelf, aim)
        return self._search(shelf, obs["task"], aim)

    def _on_item(self, shelf: Shelf, aim: ClickAim, last: str) -> Choice:
        product = shelf.products.get(shelf.here)
        if product is None:
            return ("click[< prev]", ClickAim(_LEAVE))
        enough = self._had_enough(shelf)
        settled = aim.purpose == _DECIDE and enough and shelf.best() is product
        if aim.purpose == _BUY or product.value == 1.0 or settled:
            return self._buy(shelf, product, last)
        if not enough and aim.purpose == _READ:
            return (f"click[{aim.what}]", aim)
        if not enough and aim.purpose == _LOOK and shelf.promising(product):
            unread = [page for page in _DETAILS if page not in product.read]
            return (f"click[{unread[0]}]", ClickAim(_READ, unread[0]))
        return ("click[< prev]", ClickAim(_LEAVE, product.code))

    def _had_enough(self, shelf: Shelf) -> bool:
        return max(shelf.looked_at, shelf.idle) >= self.patience

    def _buy(self, shelf: Shelf, product: Candidate, last: str) -> Choice:
        wanted = [pair for pair in product.choice.items() if f"click[{pair[1]}]" in shelf.actions]
        clicked = [i for i, (_, value) in enumerate(wanted) if last == f"click[{value}]"]
        for name, value in wanted[clicked[0] + 1 if clicked else 0 :]:
            if f"{name}: {value}" not in shelf.chosen:
                return (f"click[{value}]", ClickAim(_BUY))
        return ("click[buy now]", ClickAim(_BUY))

    def _on_details(self, shelf: Shelf, aim: ClickAim) -> Choice:
        product = shelf.products.get(shelf.here)
        if shelf.here == THIS:  # the memory no longer knows the product
            satisfies = product is not None and len(product.covered) >= _MIN_SHARED_WORDS
            return ("click[< prev]", ClickAim(_BUY if satisfies else _LEAVE))
        page = aim.what if aim.purpose == _READ else ""
        unread = _DETAILS[_DETAILS.index(page) + 1 :] if page in _DETAILS else ()
        if unread and product is not None and product.value < 1.0:
            return ("click[< prev]", ClickAim(_READ, unread[0]))
        return ("click[< prev]", ClickAim(_DECIDE))

    def _on_results(self, shelf: Shelf, obs: Observation, aim: ClickAim) -> Choice:
        target = shelf.products.get(aim.what) if aim.purpose == _RETURN else None
        target = target or shelf.complete()
        if target is not None:
            return self._go_to(shelf, target)
        at_unknown_search = shelf.here.endswith(SOME_SEARCH)
        if aim.purpose == _LEAVE and aim.what not in shelf.refused:
            at_unknown_search = True
        if self._had_enough(shelf) or (at_unknown_search and self.rng.random() < 1 / self.patience):
            return self._go_to_best(shelf)
        product = self._next_product(shelf, at_random=at_unknown_search)
        if product is not None:
            return (f"click[{product.code}]", ClickAim(_LOOK))
        if "click[next >]" in shelf.actions and page_of(obs["text"]) < self.pages:
            return ("click[next >]", ClickAim("see more"))
        searches = list(queries(obs["task"]))[: self.searches]
        now = shelf.listing(shelf.here)
        if now is not None and now[0] in searches[:-1]:
            following = searches[searches.index(now[0]) + 1]
            return ("click[back to search]", ClickAim(_SEARCH, following))
        return self._go_to_best(shelf)

    def _next_product(self, shelf: Shelf, *, at_random: bool) -> Candidate | None:
        kind = frozenset(shelf.request.runs[0]) if shelf.request.runs else frozenset()
        listed = [p for a in shelf.actions if (p := shelf.products.get(a[6:-1])) is not None]
        fresh = [p for p in listed if shelf.promising(p) and kind & p.covered]
        if at_random and fresh:
            return fresh[int(self.rng.integers(len(fresh)))]
        return max(fresh, key=lambda p: len(p.covered), default=None)

    def _go_to_best(self, shelf: Shelf) -> Choice:
        best = shelf.best()
        if best is None:
            return ("click[back to search]", ClickAim("start over"))
        return self._go_to(shelf, best)

    def _go_to(self, shelf: Shelf, product: Candidate) -> Choice:
        """Return the next click towards the page of a product to buy."""
        if f"click[{product.code}]" in shelf.actions:
            return (f"click[{product.code}]", ClickAim(_BUY))
        where, here = shelf.listing(product.place), shelf.listing(shelf.here)
        turn = "back to search"
        if where is not None and here is not None and where[0] == here[0]:
            turn = "next >" if where[1] > here[1] else "< prev"
        if f"click[{turn}]" not in shelf.actions:
            turn = "back to search"
        return (f"click[{turn}]", ClickAim(_RETURN, product.code))

    def _search(self, shelf: Shelf, task: str, aim: ClickAim) -> Choice:
        if aim.purpose == _RETURN:
            target = shelf.products.get(aim.what) or shelf.best()
        else:
            target = shelf.complete()
        if target is not None and (where := shelf.listing(target.place)):
            return (f"search[{where[0]}]", ClickAim(_RETURN, target.code))
        query = aim.what if aim.purpose == _SEARCH else queries(task)[0]
        return (f"search[{query}]", ClickAim("search"))


def _price(tag: str) -> float:
    """Return the price on a tag, the middle of a range; 0 if there is none.

    >>> _price("$10.0 to $20.0")
    15.0
    """
    found = [float(number) for number in _PRICE.findall(tag)]
    return sum(found) / len(found) if found else 0.0
