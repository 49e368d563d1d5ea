"""Measure search among a million facts and in a partition of 10,000, in process and by a server.

A hundred partitions of 10,000 facts with different names, encoded by the hash encoder (256
numbers), are appended to a PostgreSQL server through `FactStore`, and searched there by SQL: one
partition by an exact scan, all by the index. The same vectors are searched in this process by
`VectorIndex`; the finds of its sketches are compared with a scan of all rows. A partition is loaded
as a replica and queried through AriGraph's own recalls, and an episode of 50 steps is added to it.

    python -m benchmarks scale/facts --partitions 100

Writes benchmarks/measured.json. Milliseconds are wall clock (and CPU of this process) on a shared
two-core machine, one numeric thread; query texts are new, and the figures include the time to
encode them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from keep import MEASURED, write_measured

from gym_memory.core.records import Cue, Outcome, Step, Task, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.encoders.vectors import VectorIndex, whole
from gym_memory.memory.recall.semantic import SemanticIndex
from gym_memory.memory.stores import facts as module
from gym_memory.memory.stores.facts import FactStore

SIZE = 10_000
LOOKS = ["red", "green", "blue", "brass", "wooden", "silver", "old", "tiny", "heavy", "broken"]
THINGS = ["apple", "key", "lamp", "knife", "coin", "rope", "book", "cup", "hammer", "map", "stone"]
RELATIONS = ("is in", "is on", "opens", "belongs to")
PLACES = ["kitchen", "cellar", "garden", "hall", "attic", "library", "stable", "tower", "study"]


def facts_of(part: int) -> list[Triple]:
    chance = random.Random(part)
    found: dict[Triple, None] = {}
    while len(found) < SIZE:
        thing = f"{chance.choice(LOOKS)} {chance.choice(THINGS)} {chance.randrange(10**6)}"
        place = f"{chance.choice(PLACES)} {part}-{chance.randrange(300)}"
        found[Triple(thing, chance.choice(RELATIONS), place)] = None
    return list(found)


def queries(count: int, parts: int) -> list[str]:
    chance = random.Random(-1)
    chosen = []
    for n in range(count):
        fact = chance.choice(facts_of(n % parts))
        chosen.append(chance.choice([fact.subject, fact.object, f"where is the {fact.subject}"]))
    return chosen


def used_by(backend: int) -> float:
    """Return the CPU seconds of a process of the server."""
    fields = Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(ask, texts, backend: int = 0) -> dict:
    walls, start = [], time.process_time()
    before = used_by(backend) if backend else 0.0
    for text in texts:
        began = time.perf_counter()
        ask(text)
        walls.append((time.perf_counter() - began) * 1e3)
    cpu = (time.process_time() - start) / len(texts) * 1e3
    return {
        "fastest_tenth_ms": round(float(np.percentile(walls, 10)), 2),
        "median_ms": round(float(np.median(walls)), 2),
        "p95_ms": round(float(np.percentile(walls, 95)), 2),
        "cpu_ms": round(cpu, 2),
        **(
            {"server_cpu_ms": round((used_by(backend) - before) / len(texts) * 1e3, 2)}
            if backend
            else {}
        ),
    }


def rss_mb() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() >> 20


def in_process(parts: int, texts: list[str]) -> dict:
    encoder, before = make_encoder("hash")._encoder, rss_mb()
    index, began = VectorIndex(encoder.dim), time.process_time()
    encoding = 0.0
    for part in range(parts):
        start = time.process_time()
        vectors = encoder.encode([str(fact) for fact in facts_of(part)])
        encoding += time.process_time() - start
        index.add(range(part * SIZE, (part + 1) * SIZE), vectors)
    result = {
        "facts": len(index),
        "build_cpu_s": round(time.process_time() - began - encoding, 1),
        "encode_cpu_s": round(encoding, 1),
        "memory_mb": rss_mb() - before,
        "search": timed(lambda text: index.search(encoder.encode([text]), 6), texts),
    }
    right = 0
    for text in texts[:50]:
        numbers = whole(encoder.encode([text]))
        blocks = [
            index._products(numbers, index._rows[at : at + SIZE])[0]
            for at in range(0, len(index), SIZE)
        ]
        similar = np.concatenate(blocks)
        best = sorted(np.partition(-similar, 5)[:6])
        found = [-value for _, value in index.search(encoder.encode([text]), 6)[0]]
        right += sum(np.isclose(a, b, atol=2e-6) for a, b in zip(found, best, strict=True))
    result["found_of_the_best_six"] = round(right / (6 * 50), 4)
    return result


def one_partition() -> dict:
    """Measure ten thousand facts in this process."""
    encoder, graph = make_encoder("hash"), TemporalGraph()
    for fact in facts_of(0):
        graph.add(fact, 0)
    index = VectorIndex(encoder.dim)
    index.add(range(SIZE), encoder.encode([str(fact) for fact in facts_of(0)]))
    texts = queries(200, 1)
    meaning = SemanticIndex(graph, encoder)
    meaning.search([("warm", 1)])
    memory = AriGraph(recall="semantic", encoder="hash")
    memory.begin(Task("bench/0", "Find the brass key.", "plain"), 0)
    memory.graph.load_state(graph.state())
    memory._index()
    plain = AriGraph()
    plain.begin(Task("bench/0", "Find the brass key.", "plain"), 0)
    plain.graph.load_state(graph.state())
    plain._index()
    cues = {text: Cue(f"You see the {text}.", "Find the brass key.", focus=text) for text in texts}
    for one in (memory, plain):
        one.recall(cues[texts[0]], 500)
    return {
        "facts": SIZE,
        "vector_search": timed(lambda text: index.search(encoder.encode([text]), 6), texts),
        "algorithm_2_depth_1": timed(lambda text: meaning.search([(text, 1)]), texts[1:]),
        "recall_semantic_depth_2": timed(lambda text: memory.recall(cues[text], 500), texts[1:]),
        "recall_structural": timed(lambda text: plain.recall(cues[text], 500), texts[1:]),
    }


def episode(store_place: str, number: int) -> None:
    """Play fifty steps with a memory that is kept in the store."""
    memory = AriGraph(lifetime="forever", store=store_place, recall="semantic", encoder="hash")
    memory.begin(Task(f"part0/{number}", "Find the brass key.", "plain"), 0)
    for t in range(50):
        text = f"You are in the hall {number}. The brass key {t} is on the table {number}-{t}."
        memory.observe(Step(t, text, "look" if t else ""))
    began = time.perf_counter()
    memory.end(Outcome(steps=50))
    episode.appends.append((time.perf_counter() - began) * 1e3)


def on_server(url: str, folder: str, parts: int, texts: list[str]) -> dict:
    import psycopg

    store, encoder = FactStore(url, timeout=3600), make_encoder("hash")
    began, cpu = time.perf_counter(), time.process_time()
    for part in range(parts):
        facts = facts_of(part)
        store.partition(f"part{part}", "", encoder).append(
            lambda graph, episodes, last, facts=facts: [graph.add(fact, 0) for fact in facts]
        )
    result: dict = {
        "facts": sum(store.partitions().values()),
        "append_s": round(time.perf_counter() - began, 1),
        "append_cpu_s": round(time.process_time() - cpu, 1),
    }
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")
    one = iter(range(10**9))
    with store._database.reading() as connection:
        backend = connection.raw.info.backend_pid
    result["search_partition"] = timed(
        lambda text: store.search(encoder, text, 6, f"part{next(one) % parts}"), texts, backend
    )
    result["search_all_by_scan"] = timed(lambda text: store.search(encoder, text, 6), texts[:5])
    exact = [store.search(encoder, text, 6) for text in texts[:40]]
    print(json.dumps(result), flush=True)
    began = time.perf_counter()
    store.index(encoder)
    result["index_s"] = round(time.perf_counter() - began, 1)
    for text in texts:  # into the server's memory
        store.search(encoder, text, 6)
    result["search_all_by_index"] = timed(
        lambda text: store.search(encoder, text, 6), texts, backend
    )
    found = [store.search(encoder, text, 6) for text in texts[:40]]
    same = sum(
        len({f.similarity for f in a} & {f.similarity for f in b})
        / max(len({f.similarity for f in a}), 1)
        for a, b in zip(exact, found, strict=True)
    )
    result["found_of_the_best_six"] = round(same / len(exact), 4)
    result["as_of"] = timed(lambda _: store.as_of("part1", "", 0), texts[:20])
    module.forget_replicas()
    result["load_replica"] = timed(
        lambda n: store.partition(f"part{n}", "", encoder).copy(), list(range(1, 6))
    )
    result["refresh_replica"] = timed(
        lambda n: store.partition("part5", "", encoder).copy(), list(range(50))
    )
    episode.appends = []
    for number in range(20):
        episode(url, number)
    result["append_episode_median_ms"] = round(float(np.median(episode.appends)), 1)
    result["disk_mb"] = int(subprocess.check_output(["du", "-sm", folder]).split()[0])
    with psycopg.connect(url) as connection:
        for table in ("fact", "event"):
            size = connection.execute(f"SELECT pg_table_size('{table}')").fetchone()[0]
            result[f"{table}_mb"] = size >> 20
        size = connection.execute("SELECT pg_indexes_size('fact')").fetchone()[0]
        result["fact_indexes_mb"] = size >> 20
    return result


def main() -> None:
    from server import server

    parser = argparse.ArgumentParser()
    parser.add_argument("--partitions", type=int, default=100)
    parser.add_argument("--out", type=Path, default=MEASURED)
    given = parser.parse_args()
    os.environ["GYM_MEMORY_CACHE"] = tempfile.mkdtemp()
    texts = queries(200, given.partitions)
    result = {"one_partition": one_partition()}
    print(json.dumps(result), flush=True)
    result["in_process"] = in_process(given.partitions, texts)
    print(json.dumps(result["in_process"]), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        options = "&options=-c%20maintenance_work_mem%3D2GB"
        with server(os.path.join(folder, "pg")) as url:
            result["server"] = on_server(url + options, folder, given.partitions, texts)
    write_measured("scale/facts", result, given.out)
    print(json.dumps(result["server"]), flush=True)


if __name__ == "__main__":
    main()
