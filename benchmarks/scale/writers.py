"""Write to a store with eight writers, in a file and on a server; check for lost records.

Each writer stores its records one transaction a record and, every 50 records, recalls the latest
20 of its namespace. Then a writer of batches is killed with signal 9 in the middle, and the store
is opened again and checked: by `PRAGMA integrity_check` in a file, by `amcheck` on a server.

    python -m benchmarks scale/writers --writers 8 --records 10000

Writes benchmarks/measured.json. Milliseconds are wall clock on a shared two-core machine; all
writers wait for each other's disk flushes, so a write's time grows with their number.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from keep import MEASURED, write_measured
from server import server

from gym_memory.memory.stores.store import Store

KILLED = """
import sys
from gym_memory.memory.stores.store import Store
store, batch = Store(sys.argv[1]), 0
while True:
    store.add("killed", "k", "x", *[[batch, n] for n in range(50)])
    print(batch, flush=True)
    batch += 1
"""


def write(place: str, name: str, records: int, start, answers) -> None:
    start.wait()
    store = Store(place, timeout=600)
    writes, recalls = [], []
    for n in range(records):
        began = time.perf_counter()
        store.add("bench", name, "x", {"writer": name, "n": n, "text": "x" * 100})
        writes.append(time.perf_counter() - began)
        if n % 50 == 49:
            began = time.perf_counter()
            latest = store.records("bench", name, "x", last=20)
            recalls.append(time.perf_counter() - began)
            assert latest[-1].payload["n"] == n
    answers.put((writes, recalls, time.process_time()))


def measure(place: str, writers: int, records: int) -> dict:
    context = multiprocessing.get_context("spawn")
    start, answers = context.Barrier(writers + 1), context.Queue()
    processes = [
        context.Process(target=write, args=(place, f"w{n}", records, start, answers))
        for n in range(writers)
    ]
    for process in processes:
        process.start()
    start.wait()
    began = time.perf_counter()
    reported = [answers.get() for _ in processes]
    seconds = time.perf_counter() - began
    for process in processes:
        process.join()
    store = Store(place)
    found = [[r.payload["n"] for r in store.records("bench", f"w{n}", "x")] for n in range(writers)]
    numbers = [r.seq for r in store.records("bench")]
    writes = np.array([ms for one, _, _ in reported for ms in one]) * 1e3
    recalls = np.array([ms for _, one, _ in reported for ms in one]) * 1e3
    return {
        "writers": writers,
        "records": records,
        "lost": writers * records - sum(len(set(one)) for one in found),
        "doubled": sum(len(one) - len(set(one)) for one in found)
        + len(numbers) - len(set(numbers)),
        "in_order": all(one == sorted(one) for one in found),
        "seconds": round(seconds, 1),
        "records_per_second": round(writers * records / seconds),
        "cpu_ms_a_record": round(sum(cpu for *_, cpu in reported) / (writers * records) * 1e3, 3),
        "write_ms": spread(writes),
        "recall_ms": spread(recalls),
    }  # fmt: skip


def spread(values) -> dict:
    return {
        "median": round(float(np.median(values)), 2),
        "p95": round(float(np.percentile(values, 95)), 2),
        "max": round(float(values.max()), 1),
    }


def kill(place: str, times: int) -> dict:
    """Kill a writer of batches repeatedly; check that batches are whole and none is lost."""
    reported = 0
    for n in range(times):
        Store(place).delete("killed")
        writer = subprocess.Popen(
            [sys.executable, "-P", "-c", KILLED, place], stdout=subprocess.PIPE
        )
        lines = [writer.stdout.readline() for _ in range(3)]
        time.sleep(0.001 * n)
        os.kill(writer.pid, signal.SIGKILL)
        lines += writer.stdout.read().splitlines()
        writer.wait()
        stored = [r.payload for r in Store(place).records("killed")]
        assert stored == [[batch, n] for batch in range(len(stored) // 50) for n in range(50)]
        assert len(stored) >= 50 * len(lines)
        reported += len(lines)
    return {"kills": times, "batches_reported": reported, "batches_lost": 0, "batches_torn": 0}


def check_file(path: str) -> str:
    with sqlite3.connect(path) as connection:
        return connection.execute("PRAGMA integrity_check").fetchone()[0]


def check_server(url: str) -> str:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")
        except psycopg.Error:
            connection.execute("SELECT count(*) FROM record").fetchone()
            return "read whole (the server has no amcheck)"
        connection.execute("SELECT * FROM verify_heapam('record')").fetchall()
        for (index,) in connection.execute(
            "SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class c ON c.oid = indrelid "
            "WHERE c.relname IN ('record', 'fact', 'event', 'observation', 'mention')"
        ).fetchall():
            connection.execute("SELECT bt_index_check(%s, true)", (index,))
        return "ok"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--out", type=Path, default=MEASURED)
    given = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "store.db")
        results["sqlite"] = measure(path, given.writers, given.records)
        results["sqlite"].update(kill(path, given.kills), integrity=check_file(path))
        print(json.dumps(results["sqlite"]), flush=True)
        with server(os.path.join(folder, "pg")) as url:
            results["postgresql"] = measure(url, given.writers, given.records)
            results["postgresql"].update(kill(url, given.kills), integrity=check_server(url))
            print(json.dumps(results["postgresql"]), flush=True)
    write_measured("scale/writers", results, given.out)


if __name__ == "__main__":
    main()
