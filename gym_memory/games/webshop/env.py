"""WebShop (Yao et al., 2022): find, customise and buy a requested product.

Pages, actions, reward and file formats are the official ones; ``docs/webshop.md`` lists what
differs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import version
from typing import Annotated, ClassVar, Literal

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Oracle, Triple
from gym_memory.core.settings import Help, checked
from gym_memory.games.base import Feedback, TextEnv
from gym_memory.games.webshop.catalogue import (
    SPLITS,
    Catalogue,
    Goal,
    Product,
    read_catalogue,
    synthetic_catalogue,
)
from gym_memory.games.webshop.facts import IdealShopper, page_facts, product_facts
from gym_memory.games.webshop.rules import queries
from gym_memory.games.webshop.shop import (
    ShopView,
    find_listing,
    open_shop,
    rate,
    right_products,
    walkthrough,
)
from gym_memory.graph.schema import PLAYER

__all__ = ["WebShop"]

SYNTHETIC = "synthetic"
"""Value of ``path`` for the synthetic catalogue."""
_STEPS = 100
"""Step limit of the official baselines."""


class WebShop(TextEnv):
    """A shop with search, result, item and detail pages.

    The episode ends with a purchase, whose reward in [0, 1] is the score; success is a reward of 1.
    Without a purchase the score is 0. Actions are ``search[words]`` and ``click[text]``. The valid
    actions are the possible clicks; on the search page, they are a few searches made of the
    request's words, for policies that choose from the list. All other searches are also valid.

    Args:
        path: Folder with the official files, or the file ``items_shuffle*.json``; ``$NAME`` and
            ``~`` are expanded. ``synthetic`` for the synthetic catalogue, which needs no files.
            None for ``$WEBSHOP_DATA`` if that is set, else the synthetic catalogue.
        show_attributes: Whether item pages link to the annotated attributes (officially not).
    """

    dialect: ClassVar[str] = "webshop"
    splits: ClassVar[tuple[str, ...]] = SPLITS
    max_action_chars: ClassVar[int] = 1000

    @checked
    def __init__(
        self,
        split: Annotated[str, Help("``train``, ``valid`` or ``test``.", choices=SPLITS)] = "test",
        *,
        path: str | None = None,
        goals: Annotated[
            Literal["human", "synthetic"], Help("Official requests: ``human`` or ``synthetic``.")
        ] = "human",
        num_products: Annotated[
            int | None, Help("Only the first products of official files; None for all.", low=1)
        ] = None,
        catalogue_seed: Annotated[int, Help("Seed of the synthetic catalogue.", low=0)] = 0,
        show_attributes: bool = False,
        max_steps: int = _STEPS,
        valid_actions: bool = True,
        render_mode: str | None = None,
    ):
        super().__init__(
            max_steps=max_steps, valid_actions=valid_actions, split=split, render_mode=render_mode
        )
        path = path or os.environ.get("WEBSHOP_DATA") or SYNTHETIC
        self.catalogue: Catalogue = (
            synthetic_catalogue(catalogue_seed)
            if path == SYNTHETIC
            else read_catalogue(path, goals=goals, num_products=num_products)
        )
        self.shop = open_shop(self.catalogue, show_attributes)
        self._positions = self.catalogue.split(split)
        if not self._positions:
            raise InvalidArgumentError(
                f"the split {split!r} is empty: {self.catalogue.name} has only "
                f"{len(self.catalogue.goals)} requests"
            )
        self._ids = [f"webshop/{self.catalogue.name}/{split}/{i}" for i in self._positions]
        self._index = dict(zip(self._ids, self._positions, strict=True))
        self._goal: Goal = self.catalogue.goals[self._positions[0]]
        self._trail = [ShopView()]
        self._ideal: tuple[IdealShopper, int] | None = None

    def _open(self, task_id: str) -> Feedback:
        self._goal = self.catalogue.goals[self._index[task_id]]
        self._trail, self._ideal = [ShopView()], None
        return self._page()

    def _send(self, action: str) -> Feedback:
        view = self._trail[-1]
        following = self.shop.follow(view, action)
        if following is None:
            return self._page()._replace(accepted=False)
        self._trail.append(following)
        return self._page()

    def _page(self) -> Feedback:
        view, goal = self._trail[-1], self._goal
        text = self.shop.text(view, goal.instruction)
        if view.page != "done":
            return Feedback(text, max_score=1.0)
        product = self.catalogue.by_asin[view.asin]
        score = rate(product, dict(view.chosen), goal).total
        return Feedback(text, score, 1.0, won=score == 1.0, lost=score < 1.0)

    def _list_valid_actions(self) -> tuple[str, ...]:
        view = self._trail[-1]
        if view.page == "search":
            return tuple(f"search[{query}]" for query in queries(self._goal.instruction))
        return tuple(f"click[{text}]" for text in self.shop.links(view))

    def _save(self) -> tuple[Goal, tuple[ShopView, ...]]:
        return self._goal, tuple(self._trail)

    def _load(self, native: tuple[Goal, tuple[ShopView, ...]]) -> None:
        self._goal, trail = native
        self._trail, self._ideal = list(trail), None

    def goal(self) -> str:
        """Return the request."""
        return self._goal.instruction

    def versions(self) -> dict[str, str]:
        """Return the versions of search and text comparison, and the digest of the catalogue."""
        return {
            "bm25s": version("bm25s"),
            "rapidfuzz": version("rapidfuzz"),
            "webshop-catalogue": self.catalogue.digest,
        }

    def oracle(self) -> Oracle:
        """Return the facts of all pages seen and of the products that satisfy the request.

        ``objects`` has ``seen``, facts of the present page and of past actions; ``view``; ``goal``;
        and ``right``, codes of the products that satisfy the request.
        """
        goal, shop, view = self._goal, self.shop, self._trail[-1]
        known = self._known()
        listed = {fact.subject for fact in known if fact.relation == "is on"}
        own = {fact for fact in known if fact.subject == PLAYER}
        facts, right = set(known), right_products(shop, goal)
        for product in right:
            facts.update(product_facts(product, goal.instruction))
            if product.asin.lower() not in listed:
                facts.update(self._listing(product))
        objects = {
            "seen": frozenset(page_facts(shop, view, goal.instruction)) | own,
            "view": view,
            "goal": goal,
            "right": tuple(product.asin for product in right),
        }
        return Oracle(frozenset(facts), walkthrough(shop, goal), objects)

    def _known(self) -> frozenset[Triple]:
        """Return the facts that pages have shown so far, including pages since the last call."""
        ideal, count = self._ideal or (IdealShopper(self.shop, self._goal.instruction), 0)
        for view in self._trail[count:]:
            ideal.see(view)
        self._ideal = ideal, len(self._trail)
        return ideal.known

    def _listing(self, product: Product) -> Iterator[Triple]:
        """Yield facts about the search that lists a product: a past one, or the next one."""
        made, searches = self._trail[-1].searches, queries(self._goal.instruction)
        listing = find_listing(self.shop, product, (*made, *searches))
        if listing is not None:
            search = f"search {(*made, listing.query).index(listing.query) + 1}"
            place = f"page {listing.number} of {search}"
            yield Triple(product.asin.lower(), "is on", place)
            yield Triple(place, "is in", search)
            yield Triple(search, "looks for", listing.query)
