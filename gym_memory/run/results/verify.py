"""Check results folders, stores and checkpoints, and remove what a killed process left.

A finished run has ``manifest.json``: the size and SHA-256 of each data file, reports excluded.
Every episode has a hash of its settings, and its number of steps is checked against the recorded
steps. Only what a killed write left is removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from gym_memory.core.errors import GymMemoryError, ResultsError
from gym_memory.core.files import open_file, read_json, seal, unseal, write_atomic
from gym_memory.core.tensors import read_tensors
from gym_memory.core.trajectory import read_rows, read_trajectory
from gym_memory.memory.stores.store import check_store, is_url
from gym_memory.run.config import EpisodeRow, RunConfig
from gym_memory.run.results.archive import file_kind, open_memory
from gym_memory.run.results.citing import panel_findings
from gym_memory.run.results.folder import (
    content,
    iter_folders,
    locked,
    read_config,
    read_environment,
    read_replaced,
)

__all__ = ["MANIFEST", "FolderFinding", "verify", "verify_all", "write_manifest"]

MANIFEST = "manifest.json"
_DATA = ["config.json", "environment.json", "episodes.jsonl", "episodes.failed.jsonl"]
_DATA += ["steps/*.jsonl.gz"]
_SHOWN = 3
_CITED = ("panel", "memory_at_start", "order", "same_task")
"""Values of a row that follow from others; rows of older versions have none."""

State = Literal["ok", "note", "repaired", "unfinished", "damaged"]
Key = tuple[int, str, str]


class FolderFinding(NamedTuple):
    """A part of the folder, its state, and the finding.

    ``note``: worth knowing; ``repaired``: leftovers of a killed process were removed;
    ``unfinished``: run the same command again; ``damaged``: wrong, and only the user can decide
    what to do.
    """

    state: State
    part: str
    text: str


def write_manifest(folder: str | os.PathLike[str]) -> None:
    """Write the size and hash of each data file of a finished folder."""
    record = {name: _digest(path) for name, path in _data_files(Path(folder))}
    write_atomic(Path(folder) / MANIFEST, seal(json.dumps(record, indent=1)) + b"\n")


def verify(folder: str | os.PathLike[str], *, repair: bool = True) -> list[FolderFinding]:
    """Check a results folder.

    ``repair`` removes leftovers of a killed process, if the folder is writable: a torn last line,
    episodes of an unfinished job, temporary files.
    """
    path = Path(folder)
    config = read_config(path)
    may_write = os.access(path, os.W_OK)
    repair = repair and may_write
    with locked(path) if may_write else contextlib.nullcontext():
        findings = [FolderFinding("ok", "config.json", f"{len(config.jobs())} jobs are planned")]
        findings += _temporary(path, repair)
        findings += _versions(path)
        jobs: dict[Key, list[EpisodeRow]] = {}
        findings += _episodes(path, config, repair, jobs)
        with contextlib.suppress(ResultsError, ValueError):  # reported above
            found = panel_findings(jobs.values(), read_environment(path))
            findings += [FolderFinding(*finding) for finding in found]
        findings += _steps(path, jobs)
        findings += _hashes(path)
    return findings


def verify_all(
    places: Iterable[str | os.PathLike[str]], *, repair: bool = True
) -> Iterator[tuple[str, FolderFinding]]:
    """Check results folders and files of other kinds; yield each place with each finding."""
    for place in places:
        if is_url(place) or Path(place).is_file():
            yield from ((os.fspath(place), finding) for finding in _verify_file(place))
            continue
        learnt = sorted(Path(place).glob("*.safetensors"))
        if learnt:  # the folder of a training
            yield from verify_all(learnt)
            continue
        for folder in iter_folders([place]):
            yield from ((str(folder), finding) for finding in verify(folder, repair=repair))


def _verify_file(place: str | os.PathLike[str]) -> Iterator[FolderFinding]:
    """Check a store, a checkpoint, a saved memory or recorded steps."""
    name = os.fspath(place) if is_url(place) else Path(place).name
    try:
        if name.endswith(".safetensors"):
            found, _ = read_tensors(Path(place))
            yield FolderFinding("ok", name, f"{len(found)} tensors are as they were written")
        elif (kind := file_kind(place)) == "store":
            yield from _verify_store(place)
        elif kind == "steps":
            steps = sum(len(trajectory.steps) for trajectory in read_trajectory(place))
            yield FolderFinding("ok", name, f"{steps} recorded steps can be read")
        else:
            memory = open_memory(place).memory
            yield FolderFinding("ok", name, f"a memory {memory.name} can be loaded")
    except GymMemoryError as error:
        yield FolderFinding("damaged", name, str(error))


def _verify_store(place: str | os.PathLike[str]) -> Iterator[FolderFinding]:
    tables = check_store(place)
    for table in tables:
        if not table.damaged:
            older = f", {table.unsealed} without a checksum" if table.unsealed else ""
            yield FolderFinding("ok", table.table, f"{table.rows} rows are whole{older}")
        for line in table.damaged[:_SHOWN]:
            yield FolderFinding("damaged", table.table, line)
    if any(table.damaged for table in tables):
        records = tables[0].rows - len(tables[0].lost)
        graphs = tables[1].rows - len(frozenset().union(*(t.lost for t in tables[1:])))
        text = f"{records} of {tables[0].rows} records and {graphs} of {tables[1].rows} graphs are"
        text += " whole: gym-memory memory backup --salvage keeps these"
        yield FolderFinding("note", "what can be recovered", text)


def _digest(path: Path) -> dict[str, int | str]:
    try:
        with open_file(path) as file:
            sha = hashlib.file_digest(file, "sha256").hexdigest()
            return {"bytes": file.tell(), "sha256": sha}
    except OSError as error:
        raise ResultsError(f"expected a readable file at {str(path)!r}: {error}") from error


def _data_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and path of each data file."""
    for pattern in _DATA:
        for path in sorted(folder.glob(pattern)):
            yield path.relative_to(folder).as_posix(), path


def _temporary(folder: Path, repair: bool) -> Iterator[FolderFinding]:
    for left in sorted(folder.glob(".*.tmp")):
        if repair:
            left.unlink()
        yield _removed(repair, left.name, "a temporary file of a killed write")


def _removed(repair: bool, part: str, what: str) -> FolderFinding:
    if repair:
        return FolderFinding("repaired", part, f"{what} was removed")
    return FolderFinding("damaged", part, f"{what}: it is removed without --no-repair")


def _versions(folder: Path) -> Iterator[FolderFinding]:
    try:
        versions = read_environment(folder)
        replaced = read_replaced(folder)
    except (ResultsError, ValueError) as error:
        yield FolderFinding("damaged", "environment.json or episodes.failed.jsonl", str(error))
        return
    if versions:
        backends = ", ".join(sorted({*versions["backends"].values()}))
        text = f"gym-memory {versions['gym_memory']}, {backends}"
        yield FolderFinding("ok", "environment.json", text)
    elif (folder / "episodes.jsonl").exists():
        yield FolderFinding("damaged", "environment.json", "is missing: the versions are unknown")
    if replaced:
        text = f"{len(replaced)} failed episodes were played again"
        yield FolderFinding("note", "episodes.failed.jsonl", text)


def _episodes(
    folder: Path, config: RunConfig, repair: bool, jobs: dict[Key, list[EpisodeRow]]
) -> Iterator[FolderFinding]:
    """Check every line; fill ``jobs`` with the episodes of each finished job."""
    name, path = "episodes.jsonl", folder / "episodes.jsonl"
    lines = list(io.BytesIO(content(path)))
    planned = {job.key for job in config.jobs()}
    whole = 0
    begun: list[EpisodeRow] = []
    twice: Counter[Key] = Counter()
    for number, line in enumerate(lines, 1):
        try:
            record = unseal(line)
            row, last = EpisodeRow.from_json(record), record["last"]
        except (ValueError, KeyError, TypeError, ResultsError) as error:
            if number < len(lines) or line.endswith(b"\n"):
                yield FolderFinding("damaged", name, f"line {number} is not an episode: {error}")
                begun = []
            continue
        if row.job.config != record.get("config"):
            text = f"line {number} was not played with the settings that it names"
            yield FolderFinding("damaged", name, text)
        cited = [(name, value) for name, value in row.to_json().items() if name in _CITED]
        if any(record.get(name, value) != value for name, value in cited):
            text = f"line {number} does not name its panel or the terms of its protocol"
            yield FolderFinding("damaged", name, text)
        if row.trial != len(begun) or (begun and begun[-1].job != row.job):
            if row.trial or begun:
                text = f"line {number} does not follow from the one before: episodes are missing"
                yield FolderFinding("damaged", name, text)
            begun = []
        begun.append(row)
        if last:
            twice[row.job.key] += 1
            jobs.setdefault(row.job.key, begun)
            begun, whole = [], number
    if whole < len(lines) and not any(b"\n" in line for line in lines[whole + len(begun) :]):
        if repair:
            write_atomic(path, b"".join(lines[:whole]))
        yield _removed(repair, name, f"the unfinished end, {len(lines) - whole} lines,")
    yield from _counted(name, config, planned, jobs, twice)


def _counted(
    name: str,
    config: RunConfig,
    planned: set[Key],
    jobs: dict[Key, list[EpisodeRow]],
    twice: Counter[Key],
) -> Iterator[FolderFinding]:
    """Check that every planned job is there exactly once, with one task per seed."""
    for key in [key for key, times in twice.items() if times > 1][:_SHOWN]:
        text = f"seed {key[0]} of {_cell(jobs[key])} occurs {twice[key]} times"
        yield FolderFinding("damaged", name, text)
    for key in [key for key in jobs if key not in planned][:_SHOWN]:
        text = f"seed {key[0]} of {_cell(jobs[key])} is no job of config.json"
        yield FolderFinding("damaged", name, text)
    tasks: dict[tuple[str, int], str] = {}
    for key, rows in jobs.items():
        task = rows[0].result.task_id
        if task and tasks.setdefault((rows[0].job.env, key[0]), task) != task:
            text = f"seed {key[0]} of {rows[0].job.env} has two tasks, one of them {task}"
            yield FolderFinding("damaged", name, text)
    done = [rows for key, rows in jobs.items() if key in planned]
    episodes = f"{len(done)} jobs, {sum(map(len, done))} episodes, each job once"
    if len(done) < len(planned):
        left = f"{episodes}; {len(planned) - len(done)} are not played: {config.command('FOLDER')}"
        yield FolderFinding("unfinished", name, left)
    elif not any(times > 1 for times in twice.values()):
        yield FolderFinding("ok", name, episodes)
    failed = [rows for rows in done if rows[-1].result.failed]
    if failed:
        first = failed[0][-1]
        text = f"{len(failed)} jobs failed, the first one (seed {first.job.seed}): "
        yield FolderFinding("note", name, text + first.result.failed)


def _cell(rows: list[EpisodeRow]) -> str:
    job = rows[0].job
    return f"{job.env} {job.memory} {job.policy}"


def _steps(folder: Path, jobs: dict[Key, list[EpisodeRow]]) -> Iterator[FolderFinding]:
    """Check that each finished job has as many recorded steps as its episodes say."""
    if not (folder / "steps").is_dir():
        yield FolderFinding("note", "steps", "there are no recorded steps")
        return
    wrong = 0
    for rows in jobs.values():
        path = folder / "steps" / rows[0].job.steps_file
        expected = [row.result.steps for row in rows if not row.result.failed]
        if not expected:
            continue
        try:
            found: Counter[int] = Counter()
            for step in read_rows(path):
                found[step["episode"]] = max(found[step["episode"]], step["t"])
        except (ResultsError, KeyError, TypeError) as error:
            wrong += 1
            yield FolderFinding("damaged", path.name, str(error))
            continue
        if [found[number] for number in range(len(expected))] != expected:
            wrong += 1
            text = f"expected episodes of {expected} steps, got {[found[n] for n in sorted(found)]}"
            yield FolderFinding("damaged", path.name, text)
    if not wrong:
        yield FolderFinding("ok", "steps", "every finished episode has all its steps")


def _hashes(folder: Path) -> Iterator[FolderFinding]:
    path = folder / MANIFEST
    if not path.exists():
        yield FolderFinding("note", MANIFEST, "is missing: a run writes it when it finishes")
        return
    try:
        known = read_json(path)
        saved = {name: (entry["bytes"], entry["sha256"]) for name, entry in known.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        yield FolderFinding("damaged", MANIFEST, f"cannot be read: {error!r}")
        return
    there = {name: tuple(_digest(path).values()) for name, path in _data_files(folder)}
    other = [name for name in {**saved, **there} if saved.get(name) != there.get(name)]
    for name in other:
        how = (
            "is missing" if name not in there else "is new" if name not in saved else "has changed"
        )
        yield FolderFinding("damaged", name, f"{how} since the run was finished")
    if not other:
        yield FolderFinding("ok", MANIFEST, f"{len(there)} files are unchanged")
