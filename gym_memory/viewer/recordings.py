"""Find the recorded episodes of results folders, load their stories, write a replay as a file."""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import GymMemoryError, InvalidArgumentError, ResultsError
from gym_memory.core.files import read_json, write_atomic
from gym_memory.core.names import NO_SPEC, Spec
from gym_memory.core.records import Cue, PlanState
from gym_memory.core.trajectory import Row, outcome_of, read_rows, reading_rows, step_of, task_of
from gym_memory.core.trust import check_bare
from gym_memory.draw.figures import colours
from gym_memory.draw.page import Assets, frame, inline_page, packed
from gym_memory.draw.svg import short_spec
from gym_memory.memory.base import MEMORIES, Memory, make_memory
from gym_memory.run.config import EpisodeRow, Job
from gym_memory.run.results.folder import iter_folders, read_config, read_episodes
from gym_memory.run.results.learning import is_training
from gym_memory.run.results.losses import Loss
from gym_memory.run.results.score import Unit
from gym_memory.viewer.story import Story, build_story
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY
from gym_memory.wrappers.record import StepDetail

__all__ = ["PANE", "REPLAY", "Recording", "choose", "compared_at", "find", "head_of", "load"]
__all__ += ["lost", "replay_body", "replay_page", "write_replay"]


class Recording(NamedTuple):
    """A recorded episode.

    ``key`` is safe in an address and stays when runs are added; ``episode`` is the number in the
    file. Outside a results folder ``job`` has only the memory to replay into; ``row`` is None if
    it is unfinished.
    """

    key: str
    file: Path
    episode: int
    job: Job
    row: EpisodeRow | None

    @property
    def run(self) -> str:
        """Return the results folder, or the file outside of one."""
        return str(self.file.parent.parent if self.file.parent.name == "steps" else self.file)

    @property
    def title(self) -> str:
        """Return the job and the outcome on one line."""
        job = self.job
        parts = [job.env, job.memory, job.policy, f"seed {job.seed}", f"trial {self.episode + 1}"]
        return " · ".join(part for part in parts if part)


def find(paths: Iterable[str | os.PathLike[str]]) -> list[Recording]:
    """Return the recorded episodes of results folders, folders of them, and single files."""
    found: list[Recording] = []
    for path in map(Path, paths):
        if path.is_file():
            found += _in_file(path)
        else:
            played = (folder for folder in iter_folders([path]) if not is_training(folder))
            found += chain.from_iterable(map(_in_folder, played))
    return found


def _in_folder(folder: Path) -> Iterator[Recording]:
    prefix = _address(folder)
    rows = {rows[0].job.key: rows for rows in read_episodes(folder)}
    for job in read_config(folder).jobs():
        file = folder / "steps" / job.steps_file
        if not file.is_file():
            continue
        for row in rows.get(job.key, (None,)):
            trial = row.trial if row else 0
            yield Recording(f"{prefix}-{job.config}-{job.seed}-{trial}", file, trial, job, row)


def _in_file(file: Path) -> Iterator[Recording]:
    job, seeds = _named_beside(file)
    for episode in _episodes_of(file, file.stat().st_mtime_ns):
        own = replace(job, seed=seeds[episode]) if episode < len(seeds) else job
        yield Recording(f"{_address(file)}-{episode}", file, episode, own, None)


def _named_beside(file: Path) -> tuple[Job, list[int]]:
    """Return the job that a file's folder names, and the seed of each episode."""
    unknown = Job(NO_SPEC, Spec(DEFAULT_MEMORY), NO_SPEC, 0)
    try:
        record = read_json(file.with_name(PLAYED))
        env, memory, policy = (Spec(record[name]) for name in ("env", "memory", "policy"))
        seeds = [int(seed) for seed in record["seeds"]]
        return Job(env, memory, policy, 0), seeds
    except (OSError, ValueError, KeyError, TypeError, GymMemoryError):
        return unknown, []


def _address(path: Path) -> str:
    """Return a name for a path in addresses, made unique by a digest."""
    whole = path.resolve()
    digest = hashlib.sha256(os.fsencode(whole)).hexdigest()[:6]
    return f"{re.sub('[^A-Za-z0-9]+', '-', whole.name.partition('.')[0])[:40]}-{digest}"


@functools.lru_cache(maxsize=64)
def _episodes_of(file: Path, changed: int) -> tuple[int, ...]:
    """Return the numbers of the episodes in a file, which is read again only if it changes."""
    with reading_rows(file):
        return tuple(dict.fromkeys(int(row["episode"]) for row in read_rows(file)))


def choose(recordings: list[Recording], wanted: str) -> Recording:
    """Return the first recording whose title has all the words, or the one of a number from 0.

    ``wanted`` are words such as ``arigraph planner seed 3``.
    """
    if wanted.isdecimal() and int(wanted) < len(recordings):
        return recordings[int(wanted)]
    words = set(_numbered(wanted))
    for recording in recordings:
        if words <= _search_terms(recording.title):
            return recording
    titles = "; ".join(f"{n}: {r.title}" for n, r in enumerate(recordings[:8]))
    raise InvalidArgumentError(
        f"expected words of a recorded episode, got {wanted!r}. There are {len(recordings)}: "
        f"{titles}{'; ...' if len(recordings) > 8 else ''}"
    )


def _numbered(text: str) -> list[str]:
    """Split into words, ``seed 3`` as one."""
    return re.sub(r"\b(seed|trial)[ =](\d+)", r"\1=\2", text.lower()).split()


def _search_terms(title: str) -> set[str]:
    """Return the words of a title, and the parts of names with parameters."""
    whole = _numbered(title)
    parts = (part for word in whole for part in re.split("[?&]", word))
    values = (part.partition("=")[2] for word in whole for part in re.split("[?&]", word)[1:])
    return {*whole, *parts, *values}


def compared_at(pair: Sequence[Recording]) -> str:
    """Return the address of the replay of one episode, or of two where they first differ.

    >>> one = Recording("first-0-3-0", Path(), 0, Job(NO_SPEC, NO_SPEC, NO_SPEC, 3), None)
    >>> compared_at([one, one._replace(key="first-1-3-0")])
    'replay?a=first-0-3-0&b=first-1-3-0#difference'
    """
    keys = "&".join(f"{side}={each.key}" for side, each in zip("ab", pair, strict=False))
    return f"replay?{keys}{'#difference' if len(pair) > 1 else ''}"


def lost(loss: Loss, recordings: Sequence[Recording]) -> list[int]:
    """Return the numbers of both episodes of a game that cost score; empty if one is missing."""

    def game(of: Job | Unit) -> tuple[object, ...]:
        return of.protocol, of.env, of.memory, of.policy, of.budget, of.seed

    numbers = {game(each.job): n for n, each in enumerate(recordings) if each.row}
    found = [numbers[game(each)] for each in loss if game(each) in numbers]
    return found if len(found) == len(loss) else []


PLAYED = "played.json"
"""File beside single recordings that names environment, memory, policy and seeds."""


def head_of(recording: Recording, task: str = "", note: str = "") -> dict[str, Any]:
    """Return the head of a page: values of the episode as a whole."""
    job, row = recording.job, recording.row
    head: dict[str, Any] = {
        "env": short_spec(job.env),
        "memory": short_spec(job.memory),
        "colour": colours([job.memory])[job.memory],
        "policy": short_spec(job.policy),
        "seed": job.seed,
        "trial": recording.episode,
        "task": task,
        "note": note,
    }
    if row is not None:
        result = row.result
        head |= {
            "task_id": result.task_id,
            "score": result.value,
            "success": result.success,
            "steps": result.steps,
            "failed": result.failed,
        }
    return head


@contextlib.contextmanager
def _all_is_kept() -> Iterator[None]:
    """Pause garbage collection, which takes a third of the time of reading a long episode."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_all_is_kept()
def load(recording: Recording) -> tuple[dict[str, Any], Story]:
    """Return head and story of a recorded episode.

    If rows were recorded without detail, a rule-based memory learns them again: the same steps
    always make the same memory.
    """
    with reading_rows(recording.file):
        return _load(recording)


def _load(recording: Recording) -> tuple[dict[str, Any], Story]:
    episodes = groupby(read_rows(recording.file), key=lambda row: row["episode"])
    before: list[list[Row]] = []
    rows: list[Row] = []
    for number, group in episodes:
        rows = list(group)
        if number == recording.episode:
            break
        before.append(rows)
    else:
        raise ResultsError(f"{str(recording.file)!r} has no episode {recording.episode}")
    note = ""
    if not any("stats" in row for row in rows):
        rows, note = _taught(recording.job, before, rows)
    return head_of(recording, rows[-1]["task"], note), build_story(rows)


def _taught(job: Job, before: list[list[Row]], rows: list[Row]) -> tuple[list[Row], str]:
    """Return the rows with the memory's details, and a note on how they were made.

    A folder only names the memory: a parameter could open a file, a store or a connection.
    """
    name, given = job.memory.parts
    try:
        memory = make_memory(check_bare(MEMORIES, name, "a memory", "a recording"))
    except GymMemoryError as error:
        return rows, f"What the memory held was not recorded, and it cannot be made again: {error}"
    if memory.uses_oracle or "llm" in given:
        return rows, "What the memory held was not recorded, and cannot be learnt again."
    for earlier in before:
        _learn(memory, job, earlier)
        memory.end(outcome_of(earlier[-1]))
    learnt = _learn(memory, job, rows)
    settings = " with its default settings" if given else ""
    return learnt, (
        f"What the memory held was learnt again from the recorded steps, by {name}{settings}."
    )


def _learn(memory: Memory, job: Job, rows: list[Row]) -> list[Row]:
    task = task_of(rows[0])
    memory.begin(task, job.seed)
    detail, budget = StepDetail(memory), job.budget or DEFAULT_BUDGET
    learnt: list[Row] = []
    for row in rows:
        step = memory.admit(step_of(row), task.goal)
        memory.observe(step)
        cue = Cue(step.text, row["task"], step.inventory, step.valid_actions)
        recall = memory.recall(cue, budget)
        seen = {"memory": recall.text, "valid_actions": step.valid_actions}
        reasons = memory.reasons(cue, budget)
        learnt.append(
            {**row, **detail.of({**recall._asdict(), **seen}, memory.stats(), PlanState(), reasons)}
        )
    return learnt


_SHARED = (
    ("gym_memory.draw", "page.js"),
    ("gym_memory.viewer", "cytoscape.min.js"),
    ("gym_memory.viewer", "model.js"),
    ("gym_memory.viewer", "graph.js"),
    ("gym_memory.viewer", "pane.js"),
)
_STYLES = (("gym_memory.draw", "style.css"), ("gym_memory.viewer", "viewer.css"))
PANE = Assets(_SHARED, _STYLES)
"""Scripts and styles that show one step of an episode."""
REPLAY = Assets((*_SHARED, ("gym_memory.viewer", "replay.js")), _STYLES)
"""Scripts and styles of a replay."""


def replay_body(title: str, links: Sequence[tuple[str, str]] = (), attributes: str = "") -> str:
    """Return the body of a replay, which its script fills."""
    return frame(title, f'<div id="replay"{attributes}></div>', links)


def replay_page(recordings: Sequence[Recording]) -> str:
    """Return a page of its own that replays one episode, or two side by side."""
    if not 1 <= len(recordings) <= 2:
        raise InvalidArgumentError(f"expected one or two episodes, got {len(recordings)}")
    data = {"count": packed(len(recordings))}
    for number, recording in enumerate(recordings):
        head, story = load(recording)
        data[f"light-{number}"] = packed({"head": head, **story.light()})
        for chunk in range(story.n_chunks):
            data[f"heavy-{number}-{chunk}"] = packed(story.chunk(chunk))
    title = "Replay: " + " | ".join(recording.title for recording in recordings)
    return inline_page(title, replay_body("Replay"), REPLAY, data)


def write_replay(recordings: Sequence[Recording], path: str | os.PathLike[str]) -> None:
    """Write :func:`replay_page` to a file."""
    page = replay_page(recordings)
    try:
        write_atomic(path, page)
    except OSError as error:
        raise ResultsError(f"cannot write a page to {os.fspath(path)!r}: {error}") from error
