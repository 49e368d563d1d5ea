"""Where a durable store is: a file, or a server."""

from __future__ import annotations

import os
import re

from gym_memory.memory.stores.database import Database
from gym_memory.memory.stores.postgres import PostgresDatabase
from gym_memory.memory.stores.sqlite import SqliteDatabase

__all__ = ["is_url", "open_database"]

_URL = re.compile(r"postgres(ql)?://")


def is_url(place: object) -> bool:
    """True if a store's place is the URL of a server, and not a file."""
    return isinstance(place, str) and _URL.match(place) is not None


def open_database(place: str | os.PathLike[str], timeout: float) -> Database:
    """Open the database at a path or a ``postgresql://`` URL, with the present schema."""
    if is_url(place):
        return PostgresDatabase(str(place), timeout)
    return SqliteDatabase(place, timeout)
