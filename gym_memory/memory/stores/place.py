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
    """Whether a store's place is the URL of a server, and not a file."""
    return isinstance(place, str) and _URL.match(place) is not None


def open_database(place: str | os.PathLike[str], timeout: float) -> Database:
    """The database at a path or a ``postgresql://`` URL, brought to the present schema.

    Raises:
        StoreError: It cannot be used.
        MissingDependencyError: The package for a server is absent.
    """
    if is_url(place):
        return PostgresDatabase(str(place), timeout)
    return SqliteDatabase(place, timeout)
