"""A catalogue of made-up products, drawn from a seed, so that the shop opens without a download.

It has the official records, and the real shop's difficulty: about 25 products share a kind under
other names; titles show only some attributes, detail pages the others; the wanted colour or size
is often missing.
"""

from __future__ import annotations

import random
import string
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from gym_memory.games.webshop.catalogue import Catalogue, Records, build_catalogue

__all__ = ["GOALS", "KINDS", "PRODUCTS", "make_records", "synthetic_catalogue"]

PRODUCTS = 1000
GOALS = 2420
"""Requests of all products; a fifth of the official number, so 100 are for testing."""

_RANGES = 0.15
"""Share of the products with a price range."""
_PLACES = ("title", "first bullet", "bullet", "description")
_ODDS = (12, 3, 75, 10)
"""Odds of each place of an attribute, in percent. The search knows all but the later bullets."""

_REQUESTS = (
    "i am looking for {what} with {attributes}{options}",
    "i need {what}{options}. it should be {attributes}",
    "find me {what} that has {attributes}{options}",
    "i want to buy {what} which is {attributes}{options}",
    "looking for {what}, {attributes}{options}",
    "can you get me {what}{options}? i care about {attributes}",
    "i would like {what} with {attributes}{options}",
    "show me {what}, it must offer {attributes}{options}",
)
_ABOUT = (
    "{attribute}: {remark}",
    "{remark}, {attribute}",
    "{attribute} - {remark}",
)


class ProductKind(NamedTuple):
    """A kind of product; ``shared`` attributes also occur in related kinds, ``own`` do not."""

    department: str
    shared: Sequence[str]
    names: Sequence[str]
    category: Sequence[str]
    own: Sequence[str]
    price: Sequence[int]
    options: dict[str, Sequence[str]]


def _kinds() -> Iterator[ProductKind]:
    for kind in _WORDS["kinds"]:
        options = {
            name: _WORDS["values"][values] if isinstance(values, str) else values
            for name, values in kind["options"].items()
        }
        family = _WORDS["families"][kind["family"]]
        rest = {part: kind[part] for part in ("names", "category", "own", "price")}
        yield ProductKind(**family, **rest, options=options)


_WORDS = tomllib.loads((files(__package__) / "products.toml").read_text("utf-8"))
KINDS = tuple(_kinds())


@lru_cache(maxsize=4)
def synthetic_catalogue(seed: int = 0, products: int = PRODUCTS, goals: int = GOALS) -> Catalogue:
    """Return the catalogue of a seed; kept for the process."""
    return build_catalogue(f"synthetic-{seed}", make_records(seed, products, goals))


def make_records(seed: int = 0, products: int = PRODUCTS, goals: int = GOALS) -> Records:
    """Draw products and requests, in the form of the official files.

    Some kinds are much more frequent than others; each product has about as many requests.
    """
    rng = random.Random(f"webshop/{seed}")
    codes = set[str]()
    while len(codes) < products:
        codes.add("B0" + "".join(rng.choices(string.ascii_uppercase + string.digits, k=8)))
    items: list[dict[str, Any]] = []
    attributes: dict[str, dict[str, Any]] = {}
    kinds = rng.choices(KINDS, list(_popularity()), k=products)
    # Two of three names a title, so that the titles of a kind have a name in common.
    names = [rng.sample(kind.names, 2) for kind in kinds]
    for asin, kind, called in zip(sorted(codes), kinds, names, strict=True):
        own = rng.sample(kind.own, rng.randint(1, 2))
        own += rng.sample(kind.shared, rng.randint(2, 3))
        items.append(_item(rng, asin, kind, called, own))
        attributes[asin] = {"attributes": own}
    human: dict[str, list[dict[str, Any]]] = {}
    for number in range(goals):
        i = number % products
        asin = items[i]["asin"]
        request = _request(rng, items[i], names[i], attributes[asin]["attributes"])
        human.setdefault(asin, []).append(request)
    return Records(items, attributes, human)


def _popularity() -> Iterator[float]:
    """Yield weights by Zipf's law over the kinds of each department."""
    seen: dict[str, int] = {}
    for kind in KINDS:
        seen[kind.department] = seen.get(kind.department, 0) + 1
        yield 1 / seen[kind.department]


def _item(
    rng: random.Random,
    asin: str,
    kind: ProductKind,
    names: Sequence[str],
    attributes: Sequence[str],
) -> dict[str, Any]:
    department = _WORDS["departments"][kind.department]
    shown: dict[str, list[str]] = {place: [] for place in _PLACES}
    for attribute in attributes:
        shown[rng.choices(_PLACES, _ODDS)[0]].append(attribute)
    brand, series = rng.choice(_WORDS["brands"]), rng.choice(_WORDS["series"])
    title = f"{brand} {series} {' '.join(names).title()}"
    title += "".join(f", {attribute.title()}" for attribute in shown["title"])
    title += f" - {rng.choice(department['uses'])}"
    remarks = rng.sample(department["remarks"], len(department["remarks"]))
    first = _bullet(rng, ", ".join(shown["first bullet"]), remarks)
    others = [_bullet(rng, attribute, remarks) for attribute in shown["bullet"]]
    others += [remarks.pop() for _ in range(min(len(remarks), rng.randint(1, 2)))]
    rng.shuffle(others)
    return {
        "asin": asin,
        "name": title,
        "category": kind.department,
        "query": kind.names[0],
        "product_category": " › ".join([department["path"], *kind.category]),
        "full_description": _description(rng, brand, names[0], shown["description"]),
        "small_description": [first, *others],
        "pricing": _pricing(rng, kind.price),
        "customization_options": {
            option: [{"value": value, "image": None} for value in _some(rng, values)]
            for option, values in kind.options.items()
        },
        "images": [f"{asin}.jpg"],
    }


def _bullet(rng: random.Random, attribute: str, remarks: list[str]) -> str:
    """Return a feature about an attribute and a remark; only one of them where one is missing."""
    if not (attribute and remarks):
        return attribute.capitalize() or remarks.pop()
    text = rng.choice(_ABOUT).format(attribute=attribute, remark=remarks.pop())
    return text[0].upper() + text[1:]


def _description(rng: random.Random, brand: str, name: str, attributes: Sequence[str]) -> str:
    sentences = [f"{brand} presents {name}.", *rng.sample(_WORDS["comments"], 2)]
    if attributes:
        sentences.insert(2, f"Customers like: {', '.join(attributes)}.")
    return " ".join(sentences)


def _pricing(rng: random.Random, bounds: Sequence[int]) -> str:
    """Draw a price tag; cheap products are more frequent than dear ones."""
    low, high = bounds
    price = low * (high / low) ** rng.random()
    tag = f"${int(price)}.{rng.choice(('99', '49', '95', '00'))}"
    return f"{tag}${int(price * 1.3) + 1}.99" if rng.random() < _RANGES else tag


def _some(rng: random.Random, values: Sequence[str]) -> list[str]:
    """Draw some of the values, in their order."""
    count = rng.randint((len(values) + 1) // 2, len(values))
    chosen = set(rng.sample(range(len(values)), count))
    return [value for i, value in enumerate(values) if i in chosen]


def _request(
    rng: random.Random, item: dict[str, Any], names: Sequence[str], attributes: Sequence[str]
) -> dict[str, Any]:
    wanted = rng.sample(attributes, 3)
    options = {
        name: rng.choice(values)["value"] for name, values in item["customization_options"].items()
    }
    if rng.random() < 0.2:
        options.pop(rng.choice(sorted(options)))
    words = "".join(f", {_choice(name, value)}" for name, value in options.items())
    attribute_words = " and ".join([", ".join(wanted[:-1]), wanted[-1]])
    instruction = rng.choice(_REQUESTS).format(
        what=rng.choice(names), attributes=attribute_words, options=words
    )
    return {
        "asin": item["asin"],
        "instruction": instruction + ".",
        "instruction_attributes": wanted,
        "instruction_options": list(options.values()),
    }


def _choice(name: str, value: str) -> str:
    """Return an option in a request: ``in red``, ``size 7``, ``lemon flavor``."""
    if name == "color":
        return f"in {value}"
    if name == "size" and value[:1].isdigit() and " " not in value:
        return f"size {value}"
    return value if name in ("size", "capacity", "length") else f"{value} {name.split()[0]}"
