"""Build a shop's products and requests from official files or from a generator."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import re
import string
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import CorruptGameError
from gym_memory.core.files import parse_json
from gym_memory.core.text import enumerated

__all__ = ["GOALS", "KINDS", "NO_LIMIT", "PRODUCTS", "SPLITS", "Catalogue", "Goal", "Product"]
__all__ += ["Records", "build_catalogue", "make_records", "read_catalogue", "synthetic_catalogue"]

SPLITS = ("train", "valid", "test")
NO_LIMIT = 1_000_000.0
"""Price limit of a request without one."""

_TEST_END, _VALID_END, _ALL_GOALS = 500, 1000, 12_087
"""Official sizes: the first 500 requests are for testing, the next 1,000 for validation."""
_MIN_FOR_OFFICIAL_SIZES = 6000
"""Least number of requests for the official split sizes; smaller sets use the same shares."""
_SHUFFLE_SEED = 233
"""Official seed of the order of requests."""
_PRICE_STEP, _MAX_LIMIT, _LIMIT_CHOICES = 10.0, 990.0, 4
_DEFAULT_PRICE = 100.0
_MAX_CODE_CHARS = 10
_NO_ATTRIBUTE = "DUMMY_ATTR"
_ITEMS, _ATTRIBUTES, _HUMAN = "items_shuffle", "items_ins_v2", "items_human_ins.json"


class Product(NamedTuple):
    """A product.

    ``asin`` is its code, ``price_tag`` a price (``$12.5``) or a range (``$12.5 to $15.0``), and
    ``query`` the search that collected it. By default, no page shows the annotated ``attributes``.
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
        """Return title, features and description in lower case, one per line."""
        return "\n".join([self.title, " ".join(self.bullets), self.description]).lower()


class Goal(NamedTuple):
    """A request with its price limit, in dollars, and the intended product."""

    asin: str
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...]
    price_limit: float
    product: Product


class Records(NamedTuple):
    """Contents of the official files.

    These are ``items_shuffle*.json``, ``items_ins_v2*.json`` (attributes and a request by code) and
    ``items_human_ins.json`` (requests by people), or None.
    """

    items: Sequence[Mapping[str, Any]]
    attributes: Mapping[str, Mapping[str, Any]]
    human: Mapping[str, Sequence[Mapping[str, Any]]] | None


class Catalogue:
    """Products and requests, in a fixed order.

    Args:
        name: Prefix of the task ids.
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
        test, valid = _TEST_END, _VALID_END
        if count < _MIN_FOR_OFFICIAL_SIZES:
            test, valid = (max(1, round(count * part / _ALL_GOALS)) for part in (test, valid))
        bounds = {"test": (0, test), "valid": (test, test + valid), "train": (test + valid, count)}
        return range(count)[slice(*bounds[name])]

    @cached_property
    def digest(self) -> str:
        """Return a digest, of twelve hexadecimal digits, of all products and requests."""
        content = hashlib.sha256()
        for record in itertools.chain(self.products, (goal[:5] for goal in self.goals)):
            content.update(json.dumps(record).encode())
        return content.hexdigest()[:12]


def build_catalogue(name: str, records: Records) -> Catalogue:
    """Build products and requests in the same way as the official engine.

    The official engine draws prices within ranges, and price limits, without a seed. Here, the
    product's code is the seed, so a part of a catalogue agrees with the whole.
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
    random.Random(_SHUFFLE_SEED).shuffle(goals)
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
    """Return a text on one line; null, as in some official records, becomes empty."""
    return "" if value is None else " ".join(str(value).split())


def _prices(pricing: str | None) -> tuple[float, ...]:
    """Return a price, or both ends of a range."""
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
    """Yield the annotated request with each choice of options."""
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
    """Return the higher of two draws from the next four multiples of ten dollars."""
    first = int(product.price // _PRICE_STEP) + 1
    limits = [_PRICE_STEP * i for i in range(first, first + _LIMIT_CHOICES)]
    limits = [limit for limit in limits if limit <= _MAX_LIMIT]
    if len(limits) < 2:
        return NO_LIMIT
    return max(random.Random(f"webshop/limit/{product.asin}/{number}").sample(limits, 2))


@lru_cache(maxsize=4)
def read_catalogue(
    path: str, *, goals: str = "human", num_products: int | None = None
) -> Catalogue:
    """Read official files; cached for the process.

    ``path`` is the file ``items_shuffle*.json`` or its folder, with ``~`` and ``$NAME`` expanded;
    the other files are beside it. ``num_products`` limits the products to the first ones.
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
    found = path.glob(f"{_ITEMS}*.json")
    default = path / f"{_ITEMS}.json"
    return min(found, key=lambda file: (len(file.name), file.name), default=default)


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


PRODUCTS = 1000
GOALS = 2420
"""Number of requests; a fifth of the official number, so 100 are for testing."""

_PRICE_RANGE_SHARE = 0.15
"""Share of the products with a price range."""
_PLACES = ("title", "first bullet", "bullet", "description")
_PLACE_WEIGHTS = (12, 3, 75, 10)
"""Probability, in percent, of each place of an attribute. The search index omits later bullets."""

_REQUEST_FORMS = (
    "i am looking for {what} with {attributes}{options}",
    "i need {what}{options}. it should be {attributes}",
    "find me {what} that has {attributes}{options}",
    "i want to buy {what} which is {attributes}{options}",
    "looking for {what}, {attributes}{options}",
    "can you get me {what}{options}? i care about {attributes}",
    "i would like {what} with {attributes}{options}",
    "show me {what}, it must offer {attributes}{options}",
)
_FEATURE_FORMS = ("{attribute}: {remark}", "{remark}, {attribute}", "{attribute} - {remark}")


class ProductKind(NamedTuple):
    """A kind of product; ``shared`` attributes also occur in related kinds, ``own`` ones do not."""

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
    """Return the catalogue of a seed; cached for the process."""
    return build_catalogue(f"synthetic-{seed}", make_records(seed, products, goals))


def make_records(seed: int = 0, products: int = PRODUCTS, goals: int = GOALS) -> Records:
    """Draw products and requests in the format of the official files.

    Frequencies of kinds are skewed; all products have about the same number of requests.
    """
    rng = random.Random(f"webshop/{seed}")
    codes = set[str]()
    while len(codes) < products:
        codes.add("B0" + "".join(rng.choices(string.ascii_uppercase + string.digits, k=8)))
    items: list[dict[str, Any]] = []
    attributes: dict[str, dict[str, Any]] = {}
    kinds = rng.choices(KINDS, list(_popularity()), k=products)
    # two of three names per title, so that titles of a kind share a name
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
    """Yield weights of kinds by Zipf's law within each department."""
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
        shown[rng.choices(_PLACES, _PLACE_WEIGHTS)[0]].append(attribute)
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
            option: [{"value": value, "image": None} for value in _sample_in_order(rng, values)]
            for option, values in kind.options.items()
        },
        "images": [f"{asin}.jpg"],
    }


def _bullet(rng: random.Random, attribute: str, remarks: list[str]) -> str:
    """Return a feature from an attribute, a remark, or both."""
    if not (attribute and remarks):
        return attribute.capitalize() or remarks.pop()
    text = rng.choice(_FEATURE_FORMS).format(attribute=attribute, remark=remarks.pop())
    return text[0].upper() + text[1:]


def _description(rng: random.Random, brand: str, name: str, attributes: Sequence[str]) -> str:
    sentences = [f"{brand} presents {name}.", *rng.sample(_WORDS["comments"], 2)]
    if attributes:
        sentences.insert(2, f"Customers like: {', '.join(attributes)}.")
    return " ".join(sentences)


def _pricing(rng: random.Random, bounds: Sequence[int]) -> str:
    """Draw a price tag; cheap products are more frequent than expensive ones."""
    low, high = bounds
    price = low * (high / low) ** rng.random()
    tag = f"${int(price)}.{rng.choice(('99', '49', '95', '00'))}"
    return f"{tag}${int(price * 1.3) + 1}.99" if rng.random() < _PRICE_RANGE_SHARE else tag


def _sample_in_order(rng: random.Random, values: Sequence[str]) -> list[str]:
    """Draw some of the values, keeping their order."""
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
    instruction = rng.choice(_REQUEST_FORMS).format(
        what=rng.choice(names), attributes=enumerated(wanted), options=words
    )
    return {
        "asin": item["asin"],
        "instruction": instruction + ".",
        "instruction_attributes": wanted,
        "instruction_options": list(options.values()),
    }


def _choice(name: str, value: str) -> str:
    """Return the wording of an option in a request: ``in red``, ``size 7``, ``lemon flavor``."""
    if name == "color":
        return f"in {value}"
    if name == "size" and value[:1].isdigit() and " " not in value:
        return f"size {value}"
    return value if name in ("size", "capacity", "length") else f"{value} {name.split()[0]}"
