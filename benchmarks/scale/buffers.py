"""Measure search in 10,000 of a million facts by what the server keeps in its buffers.

The server scans a partition's vectors: some 800 pages. If they are in its own buffers
(`shared_buffers`, 128 MB by default), the scan is arithmetic; if not, reading them from the system
takes as long again. A million facts in 100 partitions (20 of them made, the others with the same
texts) are inserted by COPY and searched in turn, so that each partition is searched once before any
is repeated.

    python -m benchmarks scale/buffers

Writes benchmarks/measured.json; facts.py explains the figures.
"""

from __future__ import annotations

import json
import os
import tempfile

import psycopg
from facts import facts_of, queries, timed
from keep import write_measured
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from server import server

from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.encoders.vectors import whole
from gym_memory.memory.stores.facts import FactStore

MADE, PARTITIONS = 20, 100
COPY = (
    "COPY fact (partition, number, live, embedding, subject, relation, object) "
    "FROM STDIN WITH (FORMAT BINARY)"
)
AGAIN = (
    "INSERT INTO fact SELECT partition + %s, number, live, embedding, subject, relation, object "
    "FROM fact WHERE partition <= %s"
)


def fill(url: str) -> None:
    encoder = make_encoder("hash")
    FactStore(url)  # makes the schema
    with psycopg.connect(url, autocommit=True) as connection:
        register_vector(connection)
        with connection.cursor().copy(COPY) as copy:
            copy.set_types(["int8", "int8", "int4", "halfvec", "text", "text", "text"])
            for part in range(MADE):
                facts = facts_of(part)
                vectors = whole(encoder._encoder.encode([str(fact) for fact in facts]))
                for number, (fact, vector) in enumerate(zip(facts, vectors, strict=True)):
                    copy.write_row((part + 1, number, 1, HalfVector(vector), *fact))
        for start in range(MADE, PARTITIONS, MADE):
            connection.execute(AGAIN, (start, MADE))
        for part in range(PARTITIONS):
            connection.execute(
                "INSERT INTO partition (env, task, encoder, last) VALUES (%s, '', %s, '')",
                (f"part{part}", encoder.id),
            )
        connection.execute("VACUUM ANALYZE")


def search(url: str) -> dict:
    store, encoder, texts = FactStore(url), make_encoder("hash"), queries(300, MADE)
    with store._database.reading() as connection:
        backend = connection.raw.info.backend_pid
    turns = iter(range(10**9))

    def ask(text: str) -> None:
        assert store.search(encoder, text, 6, f"part{next(turns) % PARTITIONS}")

    for text in texts[:PARTITIONS]:  # every partition once
        ask(text)
    return timed(ask, texts[PARTITIONS:], backend)


def main() -> None:
    os.environ["GYM_MEMORY_CACHE"] = tempfile.mkdtemp()
    result = {}
    for buffers in ("128MB", "1GB"):
        with (
            tempfile.TemporaryDirectory() as folder,
            server(os.path.join(folder, "pg"), shared_buffers=buffers) as url,
        ):
            fill(url)
            result[buffers] = search(url)
            print(buffers, json.dumps(result[buffers]), flush=True)
    write_measured("scale/buffers", result)


if __name__ == "__main__":
    main()
