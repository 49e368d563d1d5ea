"""Rules for WebShop: the products seen, where they are listed, and what is known of each.

Vocabulary, besides ``you | is in | ...`` of :mod:`gym_memory.graph.schema`; a product goes by its
code in lower case:

==========================================  ====================================================
fact                                        meaning
==========================================  ====================================================
``search 2 | looks for | hiking boots``     the second different search of the episode
``page 1 of search 2 | is in | search 2``   a page of its results that was seen
``b01 | is on | page 1 of search 2``        where the product was listed last
``b01 | is called | veltra trail boots``    its title as far as the first comma or dash
``b01 | costs | $24.5``                     the price tag; ``$24.5 to $30.99`` for a range
``b01 | has color | black``                 a value that an option of its page offers
``b01 | mentions | ankle support``          words of the request that its texts have, in a row
``b01 | was read | features``               page seen: ``item page features description reviews
                                            attributes``
``b01 | has attribute | ankle support``     from the page of attributes, where the shop has one
``b01 | is of category | shoes``            likewise
``you | chose | color: black``              chosen on the item page that is open
``you | turned down | b01``                 its pages were left without buying
``you | bought | b01``                      the end
==========================================  ====================================================

The text of one page alone does not say which product it is about, or which search found what it
lists. Where nothing else tells, these are called ``this product`` and ``some search``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import EXTRACTORS
from gym_memory.extract.base import Extraction, Mention, Pattern
from gym_memory.extract.notes.words import clean_name
from gym_memory.games.webshop.rules_request import read_request
from gym_memory.graph.map import current_place
from gym_memory.graph.schema import PLAYER
from gym_memory.graph.temporal import TemporalGraph

__all__ = ["SEARCH_PAGE", "SOME_SEARCH", "THIS", "Part", "WebShopRules", "listing_of"]
__all__ += ["option_groups", "page_of", "parts_of", "short_name"]

SEARCH_PAGE = "search page"
THIS = "this product"
SOME_SEARCH = "some search"
_SEPARATOR = re.compile(r"\[SEP\]\s*")
_MAX_TEXT_CHARS = 100_000
_PAGE = re.compile(r"Page (?P<number>\d+) \(Total results: \d+\)")
_PLACE = re.compile(r"page (?P<number>\d+) of (?P<search>search \d+|some search)")
_PRICE = re.compile(r"\$\d+(?:\.\d+)?(?: to \$\d+(?:\.\d+)?)?")
_CODE = re.compile(r"(?=.*\d)[A-Z0-9]{6,10}")
_NAME_END = re.compile(r"(?<!\s)\s*[,|(\[–—]|(?<!\s)\s+-\s|:\s")
_MAX_NAME_CHARS = 60
_OPTION_NAMES = re.compile(
    r"colou?r|size|style|capacity|length|width|height|shape|scent|flavou?r|material|pattern|model"
    r"|configuration|edition|platform|wattage|volume|design|quantity|package|finish|thickness"
    r"|(?:\w+ )+(?:colou?r|size|style|capacity|length|width|name|type|quantity|count|items|number"
    r"|dimensions|orientation|material|weight|diameter)"
)
_ACTION = re.compile(r"(?P<verb>search|click)\[(?P<what>.+)\]")
_DETAILS = ("description", "features", "reviews", "attributes")


class Part(NamedTuple):
    """A part of a page, between two separators, and where it stands in the text."""

    text: str
    start: int
    end: int


@EXTRACTORS.register("webshop")
class WebShopRules:
    """Reads a page of the shop; see the module for the facts.

    A page does not tell everything about itself: which product it is about, or which search its
    results belong to, follows from the action that led there, from the title, or from where the
    agent was.
    """

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Facts of one step; see :class:`~gym_memory.extract.base.Extractor`."""
        return _Reader(step, graph, task).read()


def parts_of(text: str) -> tuple[Part, ...]:
    """The parts of a page; the request with its heading is left out.

    >>> [p.text for p in parts_of("Instruction: [SEP] tea [SEP] Back to Search [SEP] < Prev")]
    ['Back to Search', '< Prev']
    """
    parts, begin = [], 0
    for cut in [*_SEPARATOR.finditer(text), None]:
        part = text[begin : cut.start()].rstrip() if cut else text[begin:]
        parts.append(Part(part, begin, begin + len(part)))
        begin = cut.end() if cut else begin
    heading = next((i for i, part in enumerate(parts[:2]) if part.text == "Instruction:"), None)
    return tuple(parts if heading is None else parts[:heading] + parts[heading + 2 :])


def short_name(title: str) -> str:
    """What a product is called: its title up to the first comma, bracket or dash, 60 characters.

    >>> short_name("Veltra Nova Trail Boots, Ankle Support - Gift Idea")
    'veltra nova trail boots'
    """
    found = _NAME_END.search(title)
    head = title[: found.start()] if found and found.start() else title
    return clean_name(head)[:_MAX_NAME_CHARS]


def option_groups(parts: Sequence[Part]) -> Iterator[tuple[str, Part]]:
    """Each value offered on an item page with the name of its option.

    Args:
        parts: What stands between the link back and the title. The first is the name of an
            option; further names are told from values by the words that shops use.
    """
    name = ""
    for i, part in enumerate(parts):
        if i == 0 or _OPTION_NAMES.fullmatch(part.text.lower()):
            name = part.text.lower()
        else:
            yield name, part


def listing_of(graph: TemporalGraph, place: str) -> tuple[str, int] | None:
    """The query and the number of a page of results, given its name; None if unknown."""
    found = _PLACE.fullmatch(place)
    if found is None:
        return None
    asked = [f.object for f in graph.outgoing(found["search"]) if f.relation == "looks for"]
    return (asked[0], int(found["number"])) if asked else None


def page_of(text: str) -> int:
    """The number of a page of results; 0 for any other page."""
    found = next(filter(None, (_PAGE.fullmatch(part.text) for part in parts_of(text)[:2])), None)
    return int(found["number"]) if found else 0


@lru_cache(maxsize=4096)
def _mentions(request: str, title: str) -> tuple[tuple[str, int, int], ...]:
    return tuple(read_request(request).phrases_in(title))


class _Reader:
    """One step."""

    def __init__(self, step: Step, graph: TemporalGraph, task: Task):
        self.graph, self.task = graph, task
        self.parts = parts_of(step.text[:_MAX_TEXT_CHARS])
        found = _ACTION.fullmatch(" ".join(step.action.split()))
        self.verb, self.what = (found["verb"], found["what"].strip().lower()) if found else ("", "")
        self.place = current_place(graph) or ""
        self.mentions: list[Mention] = []
        self.outdated: list[Pattern] = []

    def read(self) -> Extraction:
        texts = [part.text for part in self.parts]
        results = next((i for i, text in enumerate(texts[:2]) if _PAGE.fullmatch(text)), None)
        if texts[:1] == ["WebShop"]:
            self._leave_product("")
            self._be_in(SEARCH_PAGE)
        elif results is not None:
            self._read_results(self.parts[results], self.parts[results + 1 :])
        elif texts and texts[0].startswith("Thank you for shopping"):
            bought = [part for part in self.parts if _CODE.fullmatch(part.text)]
            for part in bought[:1]:
                self._add(PLAYER, "bought", part.text, part)
        elif texts[:2] == ["Back to Search", "< Prev"]:
            price = next((i for i, t in enumerate(texts) if t.startswith("Price: $")), None)
            if price is not None and "Buy Now" in texts:
                self._read_item(self.parts[2 : price - 1], *self.parts[price - 1 : price + 1])
            else:
                self._read_details(self.parts[2:])
        return Extraction(
            tuple({m.triple: m for m in reversed(self.mentions)}.values())[::-1],
            tuple(self.outdated),
        )

    def _add(self, subject: str, relation: str, obj: str, part: Part | None = None) -> None:
        span = (part.start, part.end) if part else (-1, -1)
        self.mentions.append(Mention(Triple(subject, relation, obj.lower()), *span))

    def _be_in(self, place: str, part: Part | None = None) -> None:
        self._add(PLAYER, "is in", place, part)

    # ------------------------------------------------------------ results

    def _read_results(self, page: Part, listed: Sequence[Part]) -> None:
        search = self._search()
        self._leave_product("")
        found = _PAGE.fullmatch(page.text)
        assert found is not None
        place = f"page {found['number']} of {search}"
        self._be_in(place, page)
        self._add(place, "is in", search, page)
        for code, title, price in zip(listed, listed[1:], listed[2:], strict=False):
            if not (_CODE.fullmatch(code.text) and _PRICE.fullmatch(price.text)):
                continue
            product = code.text.lower()
            self._add(product, "is on", place, code)
            self._name(product, title)
            self._add(product, "costs", price.text, price)

    def _search(self) -> str:
        """The search whose results are shown."""
        if self.verb == "search":
            query = clean_name(self.what)
            known = [f.subject for f in self.graph.incoming(query) if f.relation == "looks for"]
            if known:
                return known[0]
            number = 1
            while self.graph.outgoing(f"search {number}"):
                number += 1
            self._add(f"search {number}", "looks for", query)
            return f"search {number}"
        place = self.place
        if not _PLACE.fullmatch(place):
            holder = self.graph.value(place, "location") if place else None
            place = holder.object if holder else ""
        found = _PLACE.fullmatch(place)
        return found["search"] if found else SOME_SEARCH

    def _name(self, product: str, title: Part) -> None:
        self._add(product, "is called", short_name(title.text), title)
        self._mention(product, title)

    def _mention(self, product: str, part: Part) -> None:
        for words, start, end in _mentions(self.task.goal, part.text):
            self.mentions.append(
                Mention(Triple(product, "mentions", words), part.start + start, part.start + end)
            )

    def _leave_product(self, product: str) -> None:
        """The agent is no longer on the pages of a product, unless it is ``product``."""
        left = self.place
        if self._in_product() and left != product:
            self.outdated.append(Pattern(PLAYER, "chose"))
            if left != THIS:
                self._add(PLAYER, "turned down", left)

    # ------------------------------------------------------------ a product

    def _read_item(self, options: Sequence[Part], title: Part, price: Part) -> None:
        tag = price.text.removeprefix("Price: ")
        product = self._come_to(self._product(title, tag))
        self.outdated.append(Pattern(PLAYER, "turned down", product))
        self._name(product, title)
        self._add(product, "costs", tag, price)
        self._add(product, "was read", "item page")
        for name, value in option_groups(options):
            self._add(product, f"has {name}", value.text, value)
            if self.verb == "click" and value.text.lower() == self.what:
                self._choose(name, value)

    def _come_to(self, product: str) -> str:
        """Be on the pages of a product; of one that cannot be told, nothing is known yet."""
        if not product:
            product = THIS
            self.outdated.append(Pattern(THIS))
        self._leave_product(product)
        self._be_in(product)
        return product

    def _choose(self, name: str, value: Part) -> None:
        for fact in self.graph.outgoing(PLAYER):
            if fact.relation == "chose" and fact.object.startswith(f"{name}: "):
                self.outdated.append(Pattern(*fact))
        self._add(PLAYER, "chose", f"{name}: {value.text}")

    def _product(self, title: Part, tag: str) -> str:
        """Code of the product on an item page: clicked, or known by this name and price.

        Only from a page of results does such a click lead to another product; a transcript may
        have left that page out.
        """
        clicked = self.what if self.verb == "click" and _CODE.fullmatch(self.what.upper()) else ""
        if clicked and not self._in_product():
            return clicked
        named = [
            fact.subject
            for fact in self.graph.incoming(short_name(title.text))
            if fact.relation == "is called"
            and Triple(fact.subject, "costs", tag.lower()) in self.graph
        ]
        for known in (self.place, clicked):
            if known in named:
                return known
        if not named and self._in_product():
            return self.place
        return named[0] if len(named) == 1 else ""

    def _in_product(self) -> bool:
        return bool(self.place) and self.place != SEARCH_PAGE and not _PLACE.fullmatch(self.place)

    def _read_details(self, parts: Sequence[Part]) -> None:
        product = self._come_to(self.place if self._in_product() else "")
        if self.verb == "click" and self.what in _DETAILS:
            self._add(product, "was read", self.what)
        if self.what == "attributes" and len(parts) >= 3:
            *attributes, category, _, path = parts
            for part in attributes:
                self._add(product, "has attribute", part.text, part)
            self._add(product, "is of category", category.text, category)
            self._add(product, "is of category", path.text, path)
        for part in parts:
            self._mention(product, part)
