"""The products and requests of a shop, built from records of the official files or a generator."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import CorruptGameError
from gym_memory.core.files import parse_json

__all__ = ["NO_LIMIT", "SPLITS", "Catalogue", "Goal", "Product", "Records", "build_catalogue"]
__all__ += ["read_catalogue"]

SPLITS = ("train", "valid", "test")
NO_LIMIT = 1_000_000.0
"""Price limit of a request that names none."""

_TEST, _VALID, _ALL = 500, 1000, 12_087
"""Official sizes: the first 500 requests are for testing, the next 1,000 for validation."""
_ENOUGH = 6000
"""Requests from which on the official sizes are taken; of fewer, the same shares."""
_SHUFFLE = 233
"""The official seed that puts the requests in order."""
_PRICE_STEP, _HIGHEST_LIMIT, _LIMITS = 10.0, 990.0, 4
_DEFAULT_PRICE = 100.0
_MAX_CODE_CHARS = 10
_NO_ATTRIBUTE = "DUMMY_ATTR"
_ITEMS, _ATTRIBUTES, _HUMAN = "items_shuffle", "items_ins_v2", "items_human_ins.json"


class Product(NamedTuple):
    """Hold a product.

    ``asin`` is its code, ``price_tag`` is ``$12.5`` or, for a range, ``$12.5 to $15.0``, ``query``
    the search by which it was collected. By default no page shows the annotated ``attributes``.
    """

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    price: float
    price_tag: str
    options: tuple[tuple[str, tuple[str, ...]], ...]
    attributes: tuple[str, ...]
    category: str
    query: str
    product_category: str

    @property
    def texts(self) -> str:
        """Return title, features and description in lower case, a line each."""
        return "\n".join([self.title, " ".join(self.bullets), self.description]).lower()


class Goal(NamedTuple):
    """Hold a request, its price limit in dollars, and the product that it was written for."""

    asin: str
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...]
    price_limit: float
    product: Product


class Records(NamedTuple):
    """Hold the content of the official files.

    These are ``items_shuffle*.json``, ``items_ins_v2*.json`` (attributes and a request by code) and
    ``items_human_ins.json``, requests that people wrote, or None.
    """

    items: Sequence[Mapping[str, Any]]
    attributes: Mapping[str, Mapping[str, Any]]
    human: Mapping[str, Sequence[Mapping[str, Any]]] | None


class Catalogue:
    """Hold products and requests, in a fixed order.

    Args:
        name: Begins the task ids.
        products: Products with distinct codes.
        goals: Requests in the official order.
    """

    def __init__(self, name: str, products: Sequence[Product], goals: Sequence[Goal]):
        self.name = name
        self.products = tuple(products)
        self.goals = tuple(goals)
        self.by_asin = {product.asin: product for product in self.products}

    def split(self, name: str) -> range:
        """Return the positions of the requests of a split."""
        count = len(self.goals)
        test, valid = _TEST, _VALID
        if count < _ENOUGH:
            test, valid = (max(1, round(count * part / _ALL)) for part in (_TEST, _VALID))
        first, last = {
            "test": (0, test),
            "valid": (test, test + valid),
            "train": (test + valid, count),
        }[name]
        return range(min(first, count), min(last, count))

    @cached_property
    def digest(self) -> str:
        """Return twelve hexadecimal digits that change with any product or request."""
        content = hashlib.sha256()
        for record in itertools.chain(self.products, (goal[:5] for goal in self.goals)):
            content.update(json.dumps(record).encode())
        return content.hexdigest()[:12]


def build_catalogue(name: str, records: Records) -> Catalogue:
    """Build products and requests as the official engine does from its files.

    The official engine draws prices within a range, and price limits, without a seed. Here the
    product's code seeds them, so a part of a catalogue agrees with the whole.
    """
    products = []
    codes = set[str]()
    for item in records.items:
        asin = item["asin"]
        if asin == "nan" or len(asin) > _MAX_CODE_CHARS or asin in codes:
            continue
        codes.add(asin)
        products.append(_product(item, records.attributes.get(asin, {})))
    requests = _synthetic_goals if records.human is None else _human_goals
    goals = [goal for product in products for goal in requests(product, records)]
    random.Random(_SHUFFLE).shuffle(goals)
    return Catalogue(name, products, goals)


def _product(item: Mapping[str, Any], annotated: Mapping[str, Any]) -> Product:
    asin = str(item["asin"])
    prices = _prices(item.get("pricing"))
    between = random.Random(f"webshop/price/{asin}").uniform(*prices) if prices[1:] else prices[0]
    bullets = item["small_description"]
    options: dict[str, tuple[str, ...]] = {}
    for option, contents in (item["customization_options"] or {}).items():
        if contents is not None:
            values = (str(content["value"]) for content in contents)
            options[option.lower()] = tuple(v.strip().replace("/", " | ").lower() for v in values)
    return Product(
        asin=asin,
        title=_text(item["name"]),
        description=_text(item["full_description"]),
        bullets=tuple(map(_text, bullets if isinstance(bullets, list) else [bullets])),
        price=between,
        price_tag="$" + " to $".join(str(price) for price in prices),
        options=tuple(options.items()),
        attributes=tuple(map(str, annotated.get("attributes", (_NO_ATTRIBUTE,)))),
        category=str(item["category"]),
        query=str(item["query"]).lower().strip(),
        product_category=str(item["product_category"]),
    )


def _text(value: Any) -> str:
    """Return text on one line; some official records have null."""
    return "" if value is None else " ".join(str(value).split())


def _prices(pricing: str | None) -> tuple[float, ...]:
    """Return one price, or the two ends of a range."""
    parts = [re.sub(r"[^\d.]", "", part) for part in (pricing or "").split("$")[1:]]
    return tuple(float(part) for part in parts if part)[:2] or (_DEFAULT_PRICE,)


def _human_goals(product: Product, records: Records) -> Iterator[Goal]:
    for number, request in enumerate((records.human or {}).get(product.asin, ())):
        if request["instruction_attributes"]:
            yield _goal(
                product,
                str(request["instruction"]).strip("."),
                request["instruction_attributes"],
                request["instruction_options"],
                number,
            )


def _synthetic_goals(product: Product, records: Records) -> Iterator[Goal]:
    """Yield the annotated request, once for each choice of options."""
    annotated = records.attributes.get(product.asin, {})
    if not annotated.get("instruction"):
        return
    options = sorted(product.options)
    for number, chosen in enumerate(itertools.product(*(values for _, values in options))):
        named = [f"{name}: {value}" for (name, _), value in zip(options, chosen, strict=True)]
        words = " with " + ", and ".join(named) if named else ""
        instruction = f"{annotated['instruction']}{words}"
        yield _goal(product, instruction, annotated["instruction_attributes"], chosen, number)


def _goal(
    product: Product,
    instruction: str,
    attributes: Sequence[str],
    options: Sequence[str] | Mapping[str, str],
    number: int,
) -> Goal:
    limit = _price_limit(product, number)
    words = f", and price lower than {limit:.2f} dollars" if limit < NO_LIMIT else ""
    wanted = options.values() if isinstance(options, Mapping) else options
    return Goal(
        product.asin,
        " ".join(instruction.split()) + words,
        tuple(map(str, attributes)),
        tuple(map(str, wanted)),
        limit,
        product,
    )


def _price_limit(product: Product, number: int) -> float:
    """Return the higher of two draws among the next four multiples of ten dollars."""
    first = int(product.price // _PRICE_STEP) + 1
    limits = [_PRICE_STEP * i for i in range(first, first + _LIMITS)]
    limits = [limit for limit in limits if limit <= _HIGHEST_LIMIT]
    if len(limits) < 2:
        return NO_LIMIT
    return max(random.Random(f"webshop/limit/{product.asin}/{number}").sample(limits, 2))


@lru_cache(maxsize=4)
def read_catalogue(
    path: str, *, goals: str = "human", num_products: int | None = None
) -> Catalogue:
    """Read official files; the result is kept for the process.

    ``path`` is the file ``items_shuffle*.json`` or its folder, with ``~`` and ``$NAME`` expanded;
    the other files are beside it. ``num_products`` takes only the first of the products.
    """
    items = _items_file(Path(os.path.expandvars(path)).expanduser())
    attributes = items.with_name(items.name.replace(_ITEMS, _ATTRIBUTES))
    human = items.with_name(_HUMAN) if goals == "human" else None
    records = Records(
        _read(items, list)[:num_products],
        _read(attributes, dict),
        _read(human, dict) if human else None,
    )
    try:
        catalogue = build_catalogue(f"{items.stem}-{goals}", records)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        why = f"no field {error}" if isinstance(error, KeyError) else str(error)
        raise CorruptGameError(
            f"the WebShop files beside {str(items)!r} do not have the official form: {why}"
        ) from error
    if not catalogue.goals:
        raise CorruptGameError(
            f"expected requests for the products of {str(items)!r} in "
            f"{(human or attributes).name}, found none"
        )
    return catalogue


def _items_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = sorted(path.glob(f"{_ITEMS}*.json"), key=lambda file: (len(file.name), file.name))
    return next(itertools.chain(found, [path / f"{_ITEMS}.json"]))


def _read(path: Path, form: type) -> Any:
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorruptGameError(
            f"cannot read the WebShop file {str(path)!r}: {error}; path= takes the folder with "
            f"{_ITEMS}.json, {_ATTRIBUTES}.json and {_HUMAN}"
        ) from error
    if not isinstance(content, form):
        raise CorruptGameError(
            f"expected a JSON {'array' if form is list else 'object'} in {str(path)!r}, got "
            f"{type(content).__name__}"
        )
    return content
