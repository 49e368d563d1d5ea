"""Files with wrong values: every reader raises its own error."""

from __future__ import annotations

import contextlib
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gym_memory.core.errors import CheckpointError, GymMemoryError, ResultsError, StoreError
from gym_memory.core.files import read_json, unseal
from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.core.tensors import read_tensors
from gym_memory.core.trajectory import read_rows, read_trajectory
from gym_memory.memory import make_memory
from gym_memory.memory.stores.store import Store, exported_records
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, RunConfig
from gym_memory.run.results import ResultsFolder, read_config, read_episodes
from gym_memory.run.results.archive import fact_records, open_memory
from gym_memory.run.results.folder import read_environment
from gym_memory.run.results.report import build_report
from gym_memory.run.results.verify import verify, write_manifest
from gym_memory.testing.fake_env import FakeHouse

pytestmark = pytest.mark.slow

WRONG: list[Any] = [
    None, True, -1, 3.5, float("nan"), float("inf"), 10**30, "x", "", "\ud800", [], {}, [1],
    {"a": 1}, [[]], "gone",
]  # fmt: skip
DEEP = b"[" * 100_000
CONFIG = RunConfig(("E",), ("none",), ("random",), (0, 1), protocol="trials?k=2")


def damaged(value: Any, n: int, seed: int = 0) -> Iterator[Any]:
    """Yield copies of a JSON value with one part each replaced or removed."""
    chance = random.Random(seed)
    for _ in range(n):
        copy = json.loads(json.dumps(value))
        part = copy
        while True:
            keys = list(part) if isinstance(part, dict) else list(range(len(part)))
            key = chance.choice(keys)
            inner = part[key]
            if isinstance(inner, dict | list) and inner and chance.random() < 0.8:
                part = inner
                continue
            break
        wrong = chance.choice(WRONG)
        if wrong == "gone":
            del part[key]
        else:
            part[key] = wrong
        yield copy


def filled(path: Path) -> None:
    with ResultsFolder(path, CONFIG) as folder:
        folder.set_backends({"E": "engine 1"})
        for job in folder.todo():
            result = EpisodeResult(curve=((0, 0.0), (3, 0.5)), counters={"calls": 3})
            folder.append([EpisodeRow(job, 0, result), EpisodeRow(job, 1, result)])


def use(path: Path) -> None:
    """Read a results folder in every way."""
    read_config(path)
    with ResultsFolder(path, CONFIG) as folder:
        folder.rows()
        read_environment(path)


@pytest.mark.parametrize("name", ["config.json", "environment.json", "episodes.jsonl"])
def test_damaged_results_are_reported(tmp_path: Path, name: str) -> None:
    filled(tmp_path)
    whole = (tmp_path / name).read_text()
    lines = whole.splitlines() if name.endswith("l") else [whole]
    refused = 0
    for record in damaged(unseal(lines[0].encode()), 120):
        text = "\n".join([json.dumps(record), *lines[1:]]) + "\n"
        (tmp_path / name).write_text(text)
        try:
            use(tmp_path)
        except GymMemoryError:
            refused += 1
    assert refused > 30


def test_report_of_folder_with_a_torn_record_of_versions(tmp_path: Path) -> None:
    filled(tmp_path / "run")
    for content in (b"", b"{", b"{}", b"[]", b"\xff", DEEP, b'{"backends": {}}'):
        (tmp_path / "run" / "environment.json").write_bytes(content)
        with pytest.raises(ResultsError, match=r"environment\.json"):
            build_report([tmp_path / "run"], tmp_path / "report")
        with ResultsFolder(tmp_path / "run", CONFIG) as folder, pytest.raises(ResultsError):
            folder.set_backends({"E": "engine 1"})


def test_newer_format_is_named(tmp_path: Path) -> None:
    filled(tmp_path)
    record = read_json(tmp_path / "config.json")
    (tmp_path / "config.json").write_text(json.dumps({**record, "format": 2}))
    with pytest.raises(ResultsError, match=r"format 1 .* got format 2: upgrade gym-memory"):
        read_config(tmp_path)
    (tmp_path / "m.json").write_text('{"format": 2, "memory": "history", "state": {}}')
    with pytest.raises(StoreError, match=r"format 1 .* got format 2: upgrade gym-memory"):
        make_memory("history").load(tmp_path / "m.json")


@pytest.mark.parametrize(
    "spec",
    ["history", "arigraph", "stma", "summary", "rag", "simulacra", "clin", "reflexion", "placebo",
     "shuffled", "ldm2"],
)  # fmt: skip
def test_damaged_memories_are_reported(tmp_path: Path, spec: str) -> None:
    memory, env = make_memory(spec), FakeHouse(max_steps=50)
    obs, info = env.reset(seed=0)
    task = Task(info["task_id"], obs["task"], env.dialect)
    for trial in range(2):
        obs, info = env.reset(seed=0)
        memory.begin(task, 0)
        memory.observe(Step(0, obs["text"], "", 0.0, obs["inventory"], obs["valid_actions"]))
        for t in range(1, 9):
            action = env.valid_actions()[t % 3]
            obs, reward, *_ = env.step(action)
            step = Step(t, obs["text"], action, reward, obs["inventory"], obs["valid_actions"])
            memory.observe(step)
        if not trial:
            memory.end(Outcome(1.0, 2.0, 0.5, False, False, 8))
    memory.save(tmp_path / "m.json")
    cue = Cue(obs["text"], obs["task"], obs["inventory"], obs["valid_actions"])
    for record in damaged(read_json(tmp_path / "m.json"), 60):
        (tmp_path / "m.json").write_text(json.dumps(record))
        with contextlib.suppress(GymMemoryError):
            opened = open_memory(tmp_path / "m.json", spec)
            opened.recall(300)
            opened.memory.recall(cue, 300)
            opened.memory.stats()
            opened.memory.fork().observe(Step(30, "You are in the hall.", "look"))
            fact_records(opened.memory)


def test_values_nested_too_deep_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep"
    path.write_bytes(b'{"format": 1, "memory": "history", "state": ' + DEEP)
    with pytest.raises(StoreError, match="too deep"):
        make_memory("history").load(path)
    with pytest.raises(StoreError, match="too deep"):
        open_memory(path)
    with pytest.raises(StoreError, match="too deep"):
        Store(tmp_path / "s.db").import_records(exported_records(path))
    filled(tmp_path / "run")
    episodes = tmp_path / "run" / "episodes.jsonl"
    episodes.write_bytes(DEEP + b"\n" + episodes.read_bytes())
    with pytest.raises(ResultsError, match="too deep"):
        read_episodes(tmp_path / "run")
    (tmp_path / "run" / "config.json").write_bytes(DEEP)
    with pytest.raises(ResultsError, match="too deep"):
        read_config(tmp_path / "run")
    import gzip

    path.write_bytes(gzip.compress(DEEP + b"\n"))
    with pytest.raises(ResultsError, match="too deep"):
        list(read_rows(path))


def test_store_with_flipped_bytes_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    store = Store(path)
    for number in range(200):
        store.add("clin", f"task {number % 5}", "lesson", {"text": f"lesson é {number}", "n": [1]})
    # The log goes into the file when the last connection is closed.
    whole, chance = path.read_bytes(), random.Random(0)
    reported = 0
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(chance.choice((1, 8, 64))):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        for extra in tmp_path.glob("s.db-*"):
            extra.unlink()
        path.write_bytes(content)
        try:
            opened = Store(path)
            opened.records()
            opened.namespaces()
            opened.update("clin", "task 1", "lesson", lambda payloads: payloads[:3])
            opened.export_jsonl(tmp_path / "e.jsonl")
        except StoreError:
            reported += 1
    assert reported > 20


FILES = ("config.json", "environment.json", "episodes.jsonl", "episodes.failed.jsonl")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipe_or_device_in_a_folder_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    """A pipe would block for ever, and /dev/zero would fill the memory."""
    filled(tmp_path)
    place(tmp_path / name, kind)
    for read in (use, verify):
        with contextlib.suppress(ResultsError):
            read(tmp_path)
    for read in (write_manifest, lambda run: build_report([run], run / "report")):
        with pytest.raises(ResultsError, match=r"got a pipe or device|it has no config"):
            read(tmp_path)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipe_or_device_as_steps_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x-seed0.jsonl.gz"
    place(path, kind)
    for read in (read_rows, read_trajectory):
        with pytest.raises(ResultsError, match="got a pipe or device"):
            list(read(path))
    with pytest.raises(StoreError, match="got a pipe or device"):
        open_memory(path)
    pytest.importorskip("safetensors")
    with pytest.raises(CheckpointError, match="got a pipe or device"):
        read_tensors(path)


def test_a_pipe_for_a_lock_is_not_waited_for(tmp_path: Path) -> None:
    filled(tmp_path)
    place(tmp_path / ".lock", "pipe")
    with pytest.raises(ResultsError, match=r"\.lock"):
        use(tmp_path)


def place(path: Path, kind: str) -> None:
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize("values", ["[" * 99_999, "[NaN]", "[1e999, 1]", f"[1{'0' * 400}]", "[1]"])
def test_odd_measures_of_quality_are_left_out_of_report(tmp_path: Path, values: str) -> None:
    filled(tmp_path)
    (tmp_path / "quality.json").write_text(f'{{"curves": {{"a": {{"f1": {values}}}}}}}')
    build_report([tmp_path], tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text("utf-8")
    assert ("Quality of the memory" in page) == (values == "[1]")
