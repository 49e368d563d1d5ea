"""Official files of WebShop, which its authors offer for download."""

from __future__ import annotations

import itertools
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from gym_memory.core.errors import CorruptGameError
from gym_memory.core.files import parse_json
from gym_memory.games.webshop.catalogue import Catalogue, Records, build_catalogue

__all__ = ["read_catalogue"]

_ITEMS, _ATTRIBUTES, _HUMAN = "items_shuffle", "items_ins_v2", "items_human_ins.json"


@lru_cache(maxsize=4)
def read_catalogue(
    path: str, *, goals: str = "human", num_products: int | None = None
) -> Catalogue:
    """Read official files; the result is kept for the process.

    Args:
        path: The file ``items_shuffle*.json``, or its folder (the whole catalogue is preferred
            there). Beside it are ``items_ins_v2*.json`` with the same ending and, for
            ``goals="human"``, ``items_human_ins.json``. ``~`` and ``$NAME`` are expanded.
        goals: ``human`` for the requests that people wrote, ``synthetic`` for the others.
        num_products: Only the first of the products; None for all.
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
