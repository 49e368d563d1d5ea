"""Extraction rules for WebShop: products, result pages, and the request.

A page names neither its product nor the search of its results. If these cannot be inferred, they
are ``this product`` and ``some search``. ``docs/webshop.md`` lists the facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gym_memory.core.records import Step, Task, Triple
from gym_memory.core.text import compound_spans
from gym_memory.extract import Extraction
from gym_memory.extract.draft import Draft, unrewarded
from gym_memory.graph.map import current_place
from gym_memory.graph.schema import PLAYER, clean_name
from gym_memory.graph.temporal import TemporalGraph

__all__ = ["SEARCH_PAGE", "SOME_SEARCH", "THIS", "PagePart", "SharedWords", "ShoppingRequest"]
__all__ += ["WebShopRules", "Word", "listing_of", "option_groups", "page_of", "parts_of", "queries"]
__all__ += ["read_request", "short_name", "singular", "split_words"]

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
_PROSE = ("description", "features", "reviews")
"""Pages with text by the seller or by buyers."""
_DETAILS = (*_PROSE, "attributes")


class PagePart(NamedTuple):
    """A part of a page between two separators, with its position."""

    text: str
    start: int
    end: int


class WebShopRules:
    """Extraction rules for one page.

    The product, or the search of the results, follows from the last action, the title or the last
    page.
    """

    @unrewarded
    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """See :class:`~gym_memory.extract.Extractor`."""
        page = _PageDraft(step, graph, task)
        page.read()
        return page.extraction()


def parts_of(text: str) -> tuple[PagePart, ...]:
    """Return the parts of a page, without the request and its heading.

    >>> [p.text for p in parts_of("Instruction: [SEP] tea [SEP] Back to Search [SEP] < Prev")]
    ['Back to Search', '< Prev']
    """
    parts, begin = [], 0
    for cut in [*_SEPARATOR.finditer(text), None]:
        part = text[begin : cut.start()].rstrip() if cut else text[begin:]
        parts.append(PagePart(part, begin, begin + len(part)))
        begin = cut.end() if cut else begin
    heading = next((i for i, part in enumerate(parts[:2]) if part.text == "Instruction:"), None)
    return tuple(parts if heading is None else parts[:heading] + parts[heading + 2 :])


def short_name(title: str) -> str:
    """Return a title up to the first comma, bracket or dash, in at most 60 characters.

    >>> short_name("Veltra Nova Trail Boots, Ankle Support - Gift Idea")
    'veltra nova trail boots'
    """
    found = _NAME_END.search(title)
    head = title[: found.start()] if found and found.start() else title
    return clean_name(head)[:_MAX_NAME_CHARS]


def option_groups(parts: Sequence[PagePart]) -> Iterator[tuple[str, PagePart]]:
    """Yield each value on an item page with the name of its option.

    ``parts`` are those between the link back and the title. The first one is the name of an option;
    common words for options distinguish further names from values.
    """
    name = ""
    for i, part in enumerate(parts):
        if i == 0 or _OPTION_NAMES.fullmatch(part.text.lower()):
            name = part.text.lower()
        else:
            yield name, part


def listing_of(graph: TemporalGraph, place: str) -> tuple[str, int] | None:
    """Return the query and the number of a result page by its name; None if unknown."""
    found = _PLACE.fullmatch(place)
    if found is None:
        return None
    sought = [f.object for f in graph.outgoing(found["search"]) if f.relation == "looks for"]
    return (sought[0], int(found["number"])) if sought else None


def page_of(text: str) -> int:
    """Return the number of a result page; 0 for any other page."""
    found = next(filter(None, (_PAGE.fullmatch(part.text) for part in parts_of(text)[:2])), None)
    return int(found["number"]) if found else 0


class _PageDraft(Draft):
    """A draft of one page's facts, given the action that led to it."""

    def __init__(self, step: Step, graph: TemporalGraph, task: Task):
        super().__init__(graph, latest=True)
        self._goal = task.goal
        self.parts = parts_of(step.text[:_MAX_TEXT_CHARS])
        found = _ACTION.fullmatch(" ".join(step.action.split()))
        self.verb, self.what = (found["verb"], found["what"].strip().lower()) if found else ("", "")
        self.here = current_place(graph) or ""

    def read(self) -> None:
        """Read the page according to its kind."""
        texts = [part.text for part in self.parts]
        results = next((i for i, text in enumerate(texts[:2]) if _PAGE.fullmatch(text)), None)
        if texts[:1] == ["WebShop"]:
            self._leave_product("")
            self._add(PLAYER, "is in", SEARCH_PAGE)
        elif results is not None:
            self._read_results(*self.parts[results:])
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

    def _add(self, subject: str, relation: str, obj: str, part: PagePart | None = None) -> None:
        if part is None:
            self.add(subject, relation, obj.lower())
        else:
            self.add(subject, relation, obj.lower(), part.start, part.end)

    def _read_results(self, page: PagePart, *listed: PagePart) -> None:
        search = self._search()
        self._leave_product("")
        place = f"page {page.text.split()[1]} of {search}"
        self._add(PLAYER, "is in", place, page)
        self._add(place, "is in", search, page)
        for code, title, price in zip(listed, listed[1:], listed[2:], strict=False):
            if not (_PRICE.fullmatch(price.text) and _CODE.fullmatch(code.text)):
                continue
            product = code.text.lower()
            self._add(product, "is on", place, code)
            self._name(product, title)
            self._add(product, "costs", price.text, price)

    def _search(self) -> str:
        """Return the search of the results in view."""
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
        place = self.here
        if not _PLACE.fullmatch(place):
            holder = self.graph.value(place, "location") if place else None
            place = holder.object if holder else ""
        found = _PLACE.fullmatch(place)
        return found["search"] if found else SOME_SEARCH

    def _name(self, product: str, title: PagePart) -> None:
        self._add(product, "is called", short_name(title.text), title)
        self._mention(product, title)

    def _mention(self, product: str, part: PagePart) -> None:
        for words, start, end in _mentions(self._goal, part.text):
            self.add(product, "mentions", words, part.start + start, part.start + end)

    def _leave_product(self, product: str) -> None:
        """Record that the agent left the pages of products other than ``product``."""
        left = self.here
        if self._in_product() and left != product:
            self.outdate(PLAYER, "chose")
            if left != THIS:
                self._add(PLAYER, "turned down", left)

    def _read_item(self, options: Sequence[PagePart], title: PagePart, price: PagePart) -> None:
        tag = price.text.removeprefix("Price: ")
        product = self._enter_product(self._product(title, tag))
        self.outdate(PLAYER, "turned down", product)
        self._name(product, title)
        self._add(product, "costs", tag, price)
        self._add(product, "was read", "item page")
        for name, value in option_groups(options):
            self._add(product, f"has {name}", value.text, value)
            if self.verb == "click" and value.text.lower() == self.what:
                self._choose(name, value)

    def _enter_product(self, product: str) -> str:
        """Record that the agent entered the pages of a product."""
        if not product:
            product = THIS
            self.outdate(THIS)
        self._leave_product(product)
        self._add(PLAYER, "is in", product)
        return product

    def _choose(self, name: str, value: PagePart) -> None:
        for fact in self.graph.outgoing(PLAYER):
            if fact.relation == "chose" and fact.object.startswith(f"{name}: "):
                self.outdate(*fact)
        self._add(PLAYER, "chose", f"{name}: {value.text}")

    def _product(self, title: PagePart, tag: str) -> str:
        """Return the code of an item page's product: the last click, or a match by name and price.

        A click leads to another product only from a result page, which a transcript may omit.
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
        for known in (self.here, clicked):
            if known in named:
                return known
        if not named and self._in_product():
            return self.here
        return named[0] if len(named) == 1 else ""

    def _in_product(self) -> bool:
        return bool(self.here) and self.here != SEARCH_PAGE and not _PLACE.fullmatch(self.here)

    def _read_details(self, parts: Sequence[PagePart]) -> None:
        product = self._enter_product(self.here if self._in_product() else "")
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
        if self.what in _PROSE:
            self.said = {t: self.what for t, mention in self.mentions.items() if mention.start >= 0}


_LESS_THAN = r"(?:lower|less|cheaper|under|below)(?: than)? "
_LIMIT = re.compile(
    r"(?<![\s,])[\s,]*(?:and )?(?:the )?(?:"
    rf"(?:price|cost)s?\s*(?:is |of )?{_LESS_THAN}\$?(?P<named>\d+(?:\.\d+)?)(?: dollars?)?"
    rf"|{_LESS_THAN}(?:\$(?P<sign>\d+(?:\.\d+)?)|(?P<word>\d+(?:\.\d+)?) dollars?))"
)
_FILLERS = frozenset((
    "a", "about", "also", "am", "an", "and", "any", "are", "as", "at", "be", "buy", "by", "can",
    "care", "could", "do", "find", "for", "from", "get", "give", "has", "have", "i", "i'd",
    "i'm", "if", "in", "is", "it", "it's", "let", "like", "look", "looking", "me", "must", "my",
    "need", "of", "offer", "on", "one", "or", "please", "purchase", "search", "searching",
    "shop", "should", "show", "some", "something", "that", "the", "them", "there", "this",
    "trying", "type", "want", "which", "will", "with", "would", "you",
))  # fmt: skip
_INNER_WORD = "to"
"""A filler that counts between two words: *easy to clean*."""
_MAX_QUERIES = 8


class Word(NamedTuple):
    """A word in the singular, with its position."""

    stem: str
    start: int
    end: int


class SharedWords(NamedTuple):
    """Consecutive words of a request that a text shares, with their position in the text."""

    words: str
    start: int
    end: int


class ShoppingRequest(NamedTuple):
    """A parsed request, with words in the singular."""

    runs: tuple[tuple[str, ...], ...]
    """Sequences of words between fillers and commas; the first usually names the product."""
    limit: float
    """Highest price in dollars; infinite if not stated."""
    line: str
    """All words except those about the price."""

    @property
    def words(self) -> frozenset[str]:
        """Return the words of all runs."""
        return frozenset(word for run in self.runs for word in run)

    def names(self, value: str) -> bool:
        """True if the request has the words of an option's value in order.

        >>> read_request("tea bags, pack of 12").names("Pack of 12")
        True
        """
        words = " ".join(word.stem for word in split_words(value))
        return bool(words) and f" {words} " in f" {self.line} "

    def phrases_in(self, text: str) -> Iterator[SharedWords]:
        """Yield the longest parts of each run in a text.

        A number alone does not count, since any text may have it.

        >>> request = read_request("find me hiking boots with ankle support, size 8")
        >>> [p.words for p in request.phrases_in("Boots, Ankle Support, 8 eyelets")]
        ['boot', 'ankle support']
        """
        words = split_words(text)
        line = f" {' '.join(word.stem for word in words)} "
        for run in self.runs:
            position = 0
            while position < len(run):
                end = position
                while end < len(run) and f" {' '.join(run[position : end + 1])} " in line:
                    end += 1
                phrase = " ".join(run[position:end])
                if phrase and not phrase.isdigit():
                    first = line.count(" ", 0, line.index(f" {phrase} "))
                    last = first + end - position - 1
                    yield SharedWords(phrase, words[first].start, words[last].end)
                position = max(end, position + 1)


def singular(word: str) -> str:
    """Return a word without a plural *s*.

    >>> singular("shoes"), singular("dress"), singular("gps"), singular("women's")
    ('shoe', 'dress', 'gps', "women's")
    """
    if len(word) > 3 and word[-1] == "s" and word[-2] not in "su'’":
        return word[:-1]
    return word


def split_words(text: str) -> list[Word]:
    """Return the words of a text, in lower case."""
    found = compound_spans(text, ".'’")
    return [Word(singular(word), start, end) for word, start, end in found]


@lru_cache(maxsize=256)
def read_request(text: str) -> ShoppingRequest:
    """Parse a request.

    >>> found = read_request("need black tea bags, caffeine free, price less than $20.00")
    >>> found.runs, found.limit, found.line
    ((('black', 'tea', 'bag'), ('caffeine', 'free')), 20.0, 'need black tea bag caffeine free')
    """
    text = text.lower()
    found = _LIMIT.search(text)
    limit = next((float(n) for n in found.groups() if n), 0.0) if found else float("inf")
    runs: list[tuple[str, ...]] = []
    text = _LIMIT.sub(" , ", text)
    for part in re.split(r"[,;:!?()]|\.(?!\d)", text):
        run: list[str] = []
        for word, _, _ in [*compound_spans(part, ".'’"), ("a", 0, 0)]:
            if word not in _FILLERS and (run or word != _INNER_WORD):
                run.append(singular(word))
            elif run:
                runs.append(tuple(run[:-1] if run[-1] == _INNER_WORD else run))
                run = []
    line = " ".join(word.stem for word in split_words(text))
    return ShoppingRequest(tuple(dict.fromkeys(runs)), limit, line)


@lru_cache(maxsize=256)
def queries(text: str) -> tuple[str, ...]:
    """Return searches for a request: all runs, the first run with each other run, the first alone.

    >>> queries("find me hiking boots with ankle support, size 8")
    ('hiking boot ankle support size 8', 'hiking boot ankle support', 'hiking boot size 8', \
'hiking boot')
    """
    runs = [" ".join(run) for run in read_request(text).runs]
    if not runs:
        return (" ".join(text.split()),)
    first, others = runs[0], runs[1:]
    found = [" ".join(runs), *[f"{first} {other}" for other in others], first]
    return tuple(dict.fromkeys(found))[:_MAX_QUERIES]


@lru_cache(maxsize=4096)
def _mentions(request: str, title: str) -> tuple[tuple[str, int, int], ...]:
    return tuple(read_request(request).phrases_in(title))
