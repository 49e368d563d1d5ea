"""Read and write the results folder of a run.

::

    config.json          configuration; a run with the same one resumes, another is refused
    environment.json     versions, machine, commit
    episodes.jsonl       one line per episode with a checksum, on disk before the next one counts
    episodes.failed.jsonl  failed episodes whose jobs were played again (--retry-failed)
    steps/*.jsonl.gz     one file per job, one line per step (see gym_memory.core.trajectory)
    logs/*.log           output of the workers' backends
    spending.sqlite      tokens and cost of language models, if a run has a limit
    manifest.json        size and hash of the files above, of a finished run (gym-memory verify)
    summary.json report.md report.html *.svg

A killed run leaves whole episodes and at most one torn line, which the next start removes.
Files other than ``episodes.jsonl`` are replaced atomically.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from gym_memory.core.errors import ResultsError, other_format
from gym_memory.core.files import (
    hold,
    open_to_append,
    read_bytes,
    read_json,
    refuse_links,
    seal,
    unseal,
    write_atomic,
)
from gym_memory.core.optional import environment_record
from gym_memory.run.config import EpisodeRow, Job, RunConfig

__all__ = ["ResultsFolder", "check_backends", "content", "read_config", "read_environment"]
__all__ += ["iter_folders", "locked", "read_episodes", "read_replaced"]

_FORMAT = 1
_REPLACED = "episodes.failed.jsonl"
Rows = tuple[EpisodeRow, ...]
"""Episodes of one finished job."""


def _dump(record: Any) -> bytes:
    return seal(json.dumps(record, indent=2, ensure_ascii=False)) + b"\n"


def _read_json(path: Path) -> Any:
    try:
        return read_json(path)
    except (OSError, ValueError) as error:
        raise ResultsError(f"expected a readable {path.name} at {str(path)!r}: {error}") from error


def content(path: Path) -> bytes:
    """Return the content of a file in a results folder; empty if it is missing."""
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ResultsError(f"expected a readable {path.name} at {str(path)!r}: {error}") from error


def read_environment(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Read ``environment.json`` of a results folder; empty before the first session."""
    path = Path(folder) / "environment.json"
    if not path.exists():
        return {}
    record = _read_json(path)
    try:
        texts = [record[name] for name in ("gym_memory", "python", "platform")]
        texts += [text for pair in record["backends"].items() for text in pair]
        if all(isinstance(text, str) for text in texts):
            return dict(record)
    except (AttributeError, KeyError, TypeError):
        pass
    raise ResultsError(
        f"expected the versions of a run in {str(path)!r}: the file is damaged. Move it away to "
        "continue without a check of versions"
    )


def read_config(folder: str | os.PathLike[str]) -> RunConfig:
    """Read the configuration of a results folder; any other folder is a ResultsError."""
    path = Path(folder) / "config.json"
    if not path.is_file():
        raise ResultsError(
            f"{os.fspath(folder)!r} is not a results folder: it has no config.json. "
            "Expected a folder that was given to --out"
        )
    record = _read_json(path)
    if not isinstance(record, dict) or record.get("format") != _FORMAT:
        raise ResultsError(other_format("results", record, _FORMAT, folder))
    return RunConfig.from_json(record)


def read_replaced(folder: str | os.PathLike[str]) -> list[EpisodeRow]:
    """Read the failed episodes whose jobs were played again, in the order of failure."""
    path = Path(folder) / _REPLACED
    lines = content(path).splitlines()
    try:
        rows = [EpisodeRow.from_json(unseal(line)) for line in lines if line]
    except ValueError as error:
        raise ResultsError(f"expected episodes in {str(path)!r}: {error}") from error
    return [row for row in rows if row.result.failed]


def read_episodes(folder: str | os.PathLike[str]) -> list[Rows]:
    """Read the finished jobs of a results folder, in order of completion.

    A torn last line and a job whose last episode is missing are left out: a kill leaves them. Any
    other line that cannot be read is a ResultsError.
    """
    path = Path(folder) / "episodes.jsonl"
    lines = content(path).split(b"\n")
    finished: dict[tuple[int, str, str], Rows] = {}
    open_rows: list[EpisodeRow] = []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            record = unseal(line)
            row, last = EpisodeRow.from_json(record), record["last"]
        except (ValueError, KeyError, TypeError, ResultsError) as error:
            if number == len(lines):
                break
            raise ResultsError(
                f"line {number} of {str(path)!r} is not an episode ({error}): "
                "remove the line to continue"
            ) from error
        if not row.trial or (open_rows and open_rows[-1].job != row.job):
            open_rows = []
        open_rows.append(row)
        if last and len(open_rows) == row.trial + 1:
            finished.setdefault(row.job.key, tuple(open_rows))
            open_rows = []
    return list(finished.values())


def check_backends(known: Mapping[str, str], new: Mapping[str, str], where: str) -> None:
    """Refuse results of different backend versions with a ResultsError."""
    for env, version in new.items():
        if known.get(env, version) != version:
            raise ResultsError(
                f"{env} was played with {known[env]!r} in {where}, here it is {version!r}: scores "
                "of different versions are not comparable. Install the same version, use another "
                "--out, or add --allow-version-mismatch"
            )


class ResultsFolder:
    """A results folder of a configuration, open in one process at a time.

    ``retry_failed`` puts failed jobs aside, so that they are played again.
    """

    def __init__(
        self, path: str | os.PathLike[str], config: RunConfig, *, retry_failed: bool = False
    ):
        self.path = Path(path)
        self.config = config
        self._retry_failed = retry_failed
        self._finished: dict[tuple[int, str, str], Rows] = {}
        self._episodes: BinaryIO | None = None
        self._lock: BinaryIO | None = None

    def __enter__(self) -> ResultsFolder:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            refuse_links(self.path, ("logs", "steps"))
            self._lock = locked(self.path)
            self._check_config()
            for leftover in self.path.glob(".*.tmp"):
                leftover.unlink()
            self._open_episodes()
        except OSError as error:
            self.close()
            raise ResultsError(f"cannot use {str(self.path)!r} for results: {error}") from error
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the folder; harmless if it is not open."""
        for file in (self._episodes, self._lock):
            if file is not None:
                file.close()
        self._episodes = self._lock = None

    def _check_config(self) -> None:
        entries = [entry for entry in self.path.iterdir() if not entry.name.startswith(".")]
        held = read_config(self.path).to_json() if entries else {}
        wanted_config = self.config.to_json()
        if not entries or (held != wanted_config and not self._has_steps()):
            write_atomic(self.path / "config.json", _dump({"format": _FORMAT, **wanted_config}))
            return
        if changed := _changed_files(held["plugins"], wanted_config["plugins"]):
            raise ResultsError(
                f"{str(self.path)!r} holds a run with {', '.join(changed)} before its last change: "
                "undo the change or use another --out"
            )
        for name, wanted in wanted_config.items():
            if held[name] != wanted:
                raise ResultsError(
                    f"{str(self.path)!r} holds a run with {name} {_short(held[name])}, "
                    f"this one has {_short(wanted)}: use another --out"
                )

    def _has_steps(self) -> bool:
        """True unless the run ended before its first step, for example at a wrong name."""
        steps, episodes = self.path / "steps", self.path / "episodes.jsonl"
        return any(steps.glob("*")) or bool(content(episodes))

    def _open_episodes(self) -> None:
        path = self.path / "episodes.jsonl"
        planned = {job.key for job in self.config.jobs()}
        replaced = []
        for rows in read_episodes(self.path):
            failed = any(row.result.failed for row in rows)
            if failed and (self._retry_failed or any(row.result.stopped for row in rows)):
                replaced.append(rows)
            elif rows[0].job.key in planned:
                self._finished[rows[0].job.key] = rows
        self._keep_aside(replaced)
        clean = b"".join(_lines(rows) for rows in self._finished.values())
        if not path.exists() or content(path) != clean:
            write_atomic(path, clean)
        # Opened without a buffer, so that a line is one write.
        self._episodes = open_to_append(path)

    def _keep_aside(self, replaced: Sequence[Rows]) -> None:
        """Save failed episodes beside the others before their jobs are played again."""
        path = self.path / _REPLACED
        held = content(path)
        # A killed call may have written some of them.
        new = b"".join(lines for rows in replaced if (lines := _lines(rows)) not in held)
        if new:
            write_atomic(path, held + new)

    def todo(self) -> list[Job]:
        """Return the jobs that are not finished, in the order of the configuration."""
        return [job for job in self.config.jobs() if job.key not in self._finished]

    def append(self, rows: Sequence[EpisodeRow]) -> None:
        """Store the episodes of one finished job; they are on disk when this returns."""
        if self._episodes is None:
            raise ResultsError(f"{str(self.path)!r} is not open for writing")
        job = rows[0].job
        if job.key in self._finished:
            raise ResultsError(f"seed {job.seed} of {job.env} {job.memory} {job.policy} came twice")
        for row in rows:
            EpisodeRow.from_json(row.to_json())  # unreadable values are not written
        content = _lines(rows)
        try:
            while content:
                content = content[self._episodes.write(content) or 0 :]
            os.fsync(self._episodes.fileno())
        except OSError as error:
            raise ResultsError(
                f"cannot write to {str(self.path)!r}: {error}. Finished episodes are kept; "
                "run the same command again once there is space"
            ) from error
        self._finished[job.key] = tuple(rows)

    def rows(self) -> list[EpisodeRow]:
        """Return the episodes of all finished jobs, in the order of the configuration."""
        finished = (self._finished.get(job.key, ()) for job in self.config.jobs())
        return [row for rows in finished for row in rows]

    def set_backends(self, backends: Mapping[str, str], *, allow_mismatch: bool = False) -> None:
        """Write the backend versions of this session, which must equal those of the episodes."""
        if self._finished and not allow_mismatch:
            known = read_environment(self.path).get("backends", {})
            check_backends(known, backends, repr(str(self.path)))
        write_atomic(self.path / "environment.json", _dump(environment_record(backends)))


def _lines(rows: Iterable[EpisodeRow]) -> bytes:
    rows = list(rows)
    records = [{**row.to_json(), "last": row is rows[-1]} for row in rows]
    return b"".join(seal(json.dumps(r, ensure_ascii=False)) + b"\n" for r in records)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."


def _changed_files(held: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """List the user's files that two runs have with other contents."""
    before = dict(plugin.partition("@")[::2] for plugin in held)
    now = dict(plugin.partition("@")[::2] for plugin in wanted)
    return [place for place, found in now.items() if before.get(place, found) != found]


def locked(folder: Path) -> BinaryIO:
    """Lock the folder until the file is closed or the process ends."""
    busy = "is in use by another gym-memory process: wait for it or use another --out"
    try:
        file = open_to_append(folder / ".lock")
    except OSError as error:
        raise ResultsError(f"cannot use {str(folder)!r} for results: {error}") from error
    return hold(file, f"{str(folder)!r} {busy}")


def iter_folders(folders: Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    """Yield the folders as paths; replace a folder that is no run by the runs in it."""
    for folder in map(Path, folders):
        inner = sorted(path.parent for path in folder.glob("*/config.json"))
        if (folder / "config.json").exists() or not inner:
            yield folder
        else:
            yield from inner
