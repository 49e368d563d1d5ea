"""A shopper by rules that plays WebShop from the observation alone.

It looks at one product after the other, compares what it remembers of them with the request, and
buys the first that has everything, or else the best once it has looked at enough. From step to
step it keeps nothing but its published plan (``focus``): what it is about to do, and the last
action. So which products it saw, where, and what they lacked is what the memory recalls.

Who cannot tell any more which search the results before him come from has lost track. He would
look at the same products for ever, so he takes the best that he knows of after a while, by chance.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.planning.beliefs import Beliefs
from gym_memory.errors import InvalidArgumentError
from gym_memory.memory.extract import get_extractor
from gym_memory.memory.extract.webshop import SOME_SEARCH, THIS, listed_on, page_of
from gym_memory.memory.extract.webshop_request import (
    Request,
    queries,
    read_request,
    split_words,
)
from gym_memory.memory.graph.temporal import TemporalGraph
from gym_memory.memory.schema import PLAYER
from gym_memory.types import Observation, Task

__all__ = ["Shopper"]

_SEPARATOR = " | last: "
_BUY, _LEAVE = "buy it", "look for another"
_DETAILS = ("features", "description")
_TOLD = ("costs", "was read", "mentions")


class Move(NamedTuple):
    """An action and what it is for."""

    action: str
    aim: str


class Candidate:
    """What is known of a product.

    Args:
        graph: All that is known.
        code: Its name in the graph.
        request: What is asked for.
    """

    def __init__(self, graph: TemporalGraph, code: str, request: Request):
        self.code, self._request = code, request
        self.options: dict[str, list[str]] = {}
        self.read: set[str] = set()
        self.price = 0.0
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
        """The value of each option that the request names; the longest one of several."""
        found = {}
        for name, values in self.options.items():
            named = [v for v in values if _is_named(v, self._request)]
            if named:
                found[name] = max(named, key=len)
        return found

    @cached_property
    def covered(self) -> frozenset[str]:
        """Words of the request that it is known to satisfy."""
        chosen = " ".join(word for pair in self.choice.items() for word in pair)
        words = self._mentioned.union(word.stem for word in split_words(chosen))
        return self._request.words & words

    @property
    def affordable(self) -> bool:
        """Whether the price is within the limit, as far as it is known."""
        return self.price <= self._request.limit

    @property
    def value(self) -> float:
        """Share of the request that it is known to satisfy, in [0, 1]."""
        return (len(self.covered) + self.affordable) / (len(self._request.words) + 1)


class Shelf:
    """All products known of, and where the shopper stands.

    Args:
        beliefs: What the observation shows and the memory recalls.
        request: What is asked for.
    """

    def __init__(self, beliefs: Beliefs, request: Request):
        graph = beliefs.graph
        self.actions = beliefs.actions
        self.here = beliefs.here
        self.request = request
        self.graph = graph
        facts = list(graph.live())
        self.refused = {f.object for f in facts if f[:2] == (PLAYER, "turned down")}
        self.chosen = {f.object for f in facts if f[:2] == (PLAYER, "chose")}
        self.searches = [f.object for f in facts if f.relation == "looks for"]
        codes = dict.fromkeys(f.subject for f in facts if f.relation in _TOLD)
        self.products = {code: Candidate(graph, code, request) for code in codes}
        offered = {
            word.stem
            for product in self.products.values()
            for name, values in product.options.items()
            for text in (name, *values)
            for word in split_words(text)
        }
        self.option_words = request.words & offered

    @property
    def looked_at(self) -> int:
        """Products whose page was opened."""
        return len(self.refused.union(c for c, p in self.products.items() if p.read))

    def lacks(self, product: Candidate) -> bool:
        """Whether it cannot satisfy the request: too dear, or not in the colour or size."""
        missing = self.option_words - product.covered if product.options else frozenset()
        return not product.affordable or bool(missing)

    def promising(self, product: Candidate) -> bool:
        """Whether looking (further) at it may show that it has everything."""
        if self.lacks(product) or product.code in self.refused:
            return False
        return not product.read.issuperset(_DETAILS)

    def best(self) -> Candidate | None:
        """The product to buy if no further one is looked at."""
        known = [
            p for p in self.products.values() if p.code == self.here or self.where(p) is not None
        ]
        return max(known, key=lambda p: (p.value, bool(p.read)), default=None)

    def where(self, product: Candidate) -> tuple[str, int] | None:
        """The query and the page of its results that list a product."""
        return listed_on(self.graph, product.code)


class Shopper(Policy):
    """Searches, compares, buys.

    Args:
        patience: Products to look at before it takes the best one, >= 1.
        pages: Pages of results to look through a search, >= 1.
        searches: Different searches to make, >= 1.

    Raises:
        InvalidArgumentError: An argument is no int >= 1.
    """

    name: ClassVar[str] = "shopper"

    def __init__(self, patience: int = 12, pages: int = 3, searches: int = 3):
        for label, number in (("patience", patience), ("pages", pages), ("searches", searches)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise InvalidArgumentError(f"expected {label} as an int >= 1, got {number!r}")
        self.patience, self.pages, self.searches = patience, pages, searches
        self._rng = np.random.default_rng(0)
        self._task_id, self._dialect = "", "webshop"
        self.focus = ""

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan."""
        self._rng = np.random.default_rng(seed)
        self._task_id = info.get("task_id", "")
        self._dialect = info.get("dialect", self._dialect)
        self.focus = ""

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """The next action; publishes the plan behind it as ``focus``."""
        aim, _, last = self.focus.rpartition(_SEPARATOR)
        task = Task(self._task_id, obs["task"], self._dialect)
        beliefs = Beliefs(obs, get_extractor(self._dialect), task, plan=self.focus, action=last)
        shelf = Shelf(beliefs, read_request(obs["task"]))
        move = self._decide(shelf, obs, aim, last)
        self.focus = f"{move.aim}{_SEPARATOR}{move.action}"
        return move.action

    def _decide(self, shelf: Shelf, obs: Observation, aim: str, last: str) -> Move:
        if "click[buy now]" in shelf.actions:
            return self._on_item(shelf, aim, last)
        if page_of(obs["text"]):
            return self._on_results(shelf, obs)
        if "click[< prev]" in shelf.actions:
            return self._on_details(shelf)
        return self._search(shelf, obs["task"])

    # ------------------------------------------------------------ a product

    def _on_item(self, shelf: Shelf, aim: str, last: str) -> Move:
        product = shelf.products.get(shelf.here)
        if product is None or aim == _LEAVE:
            return Move("click[< prev]", _LEAVE)
        if aim == _BUY or product.value == 1.0 or self._settles_for(shelf, product):
            return self._buy(shelf, product, last)
        if shelf.here != THIS and not self._had_enough(shelf) and shelf.promising(product):
            unread = [page for page in _DETAILS if page not in product.read]
            return Move(f"click[{unread[0]}]", "read on")
        return Move("click[< prev]", _LEAVE)

    def _settles_for(self, shelf: Shelf, product: Candidate) -> bool:
        """Whether it has looked at enough, and this is the best."""
        return self._had_enough(shelf) and shelf.best() is product

    def _had_enough(self, shelf: Shelf) -> bool:
        return shelf.looked_at >= self.patience

    def _buy(self, shelf: Shelf, product: Candidate, last: str) -> Move:
        """Choose what the request names, one option after the other, then buy."""
        wanted = list(product.choice.items())
        clicked = [i for i, (_, value) in enumerate(wanted) if last == f"click[{value}]"]
        for name, value in wanted[clicked[0] + 1 if clicked else 0 :]:
            if f"{name}: {value}" not in shelf.chosen:
                return Move(f"click[{value}]", _BUY)
        return Move("click[buy now]", _BUY)

    def _on_details(self, shelf: Shelf) -> Move:
        product = shelf.products.get(shelf.here)
        if shelf.here == THIS:  # which one is forgotten, and so what its first page said
            satisfies = product is not None and product.covered
            return Move("click[< prev]", _BUY if satisfies else _LEAVE)
        if product is not None and product.value < 1.0 and shelf.promising(product):
            return Move("click[< prev]", "read on")
        return Move("click[< prev]", "decide")

    # ------------------------------------------------------------ the way to one

    def _on_results(self, shelf: Shelf, obs: Observation) -> Move:
        found = [a for a in shelf.actions if a[6:-1] in shelf.products]
        listed = [shelf.products[a[6:-1]] for a in found]
        lost = shelf.here.endswith(SOME_SEARCH)
        if self._had_enough(shelf) or (lost and self._rng.random() < 1 / self.patience):
            return self._settle(shelf, obs)
        kind = frozenset(shelf.request.runs[0]) if shelf.request.runs else frozenset()
        fresh = [p for p in listed if shelf.promising(p) and kind & p.covered]
        if fresh:
            most = max(len(p.covered) for p in fresh)
            near = [p for p in fresh if len(p.covered) == most or lost]
            product = near[int(self._rng.integers(len(near)))] if lost else near[0]
            return Move(f"click[{product.code}]", "look at it")
        if "click[next >]" in shelf.actions and page_of(obs["text"]) < self.pages:
            return Move("click[next >]", "see more")
        if len(shelf.searches) < self.searches:
            return Move("click[back to search]", "search again")
        return self._settle(shelf, obs)

    def _settle(self, shelf: Shelf, obs: Observation) -> Move:
        """Go to the best product known, by one click."""
        best = shelf.best()
        if best is None:
            return Move("click[back to search]", "search again")
        if f"click[{best.code}]" in shelf.actions:
            return Move(f"click[{best.code}]", _BUY)
        where = shelf.where(best)
        here = listed_on_page(shelf)
        if where is None or here is None or where[0] != here[0]:
            return Move("click[back to search]", f"go back to {best.code}")
        turn = "next >" if where[1] > here[1] else "< prev"
        return Move(f"click[{turn}]", f"go back to {best.code}")

    def _search(self, shelf: Shelf, task: str) -> Move:
        fresh = [query for query in queries(task) if query not in shelf.searches]
        best = shelf.best()
        where = shelf.where(best) if best is not None else None
        if where and (self._had_enough(shelf) or len(shelf.searches) >= self.searches or not fresh):
            return Move(f"search[{where[0]}]", f"go back to {best.code}" if best else "")
        return Move(f"search[{(fresh or list(queries(task)))[0]}]", "search")


def listed_on_page(shelf: Shelf) -> tuple[str, int] | None:
    """The query and the number of the page of results in view."""
    for fact in shelf.graph.incoming(shelf.here):
        if fact.relation == "is on":
            return listed_on(shelf.graph, fact.subject)
    return None


def _is_named(value: str, request: Request) -> bool:
    """Whether a request has the words of an option's value in a row."""
    words = " ".join(word.stem for word in split_words(value))
    return bool(words) and any(f" {words} " in f" {' '.join(run)} " for run in request.runs)


def _price(tag: str) -> float:
    """The price of a tag, the middle of a range.

    >>> _price("$10.0 to $20.0")
    15.0
    """
    numbers = [float(part) for part in tag.replace("$", "").split(" to ")]
    return sum(numbers) / len(numbers)
