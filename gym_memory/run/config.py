"""Runs as data: configuration, jobs and result rows.

A job is one seed of one environment x memory x policy under one protocol. Jobs are independent, so
results depend neither on the number of workers nor on the order of play.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from gym_memory.core.errors import InvalidArgumentError, ResultsError, UnknownNameError
from gym_memory.core.names import NO_SPEC, Spec
from gym_memory.core.records import LARGEST, check_bounded
from gym_memory.core.settings import (
    LARGEST_SEED,
    check_int,
    check_number,
    check_share,
    check_text,
    check_utf8,
    shown,
)
from gym_memory.memory.base import check_budget
from gym_memory.run import EpisodeResult
from gym_memory.run.protocols import Kept, Terms, make_protocol
from gym_memory.wrappers.make import make_env
from gym_memory.wrappers.memory import DEFAULT_BUDGET

__all__ = ["SINGLE_EPISODE", "EpisodeRow", "Job", "RunConfig", "check_result", "format_seeds"]
__all__ += ["panel_in", "parse_seeds"]

SINGLE_EPISODE = Spec("single_episode")
"""Default protocol."""
_MOST_SEEDS = 1_000_000
_MOST_JOBS = 100_000
"""Most jobs of a run, so that an untrusted folder is read in seconds."""
_LISTS = {"envs": str, "memories": str, "policies": str, "seeds": int, "plugins": str}
"""Lists of a configuration, with the types of their elements."""


@dataclasses.dataclass(frozen=True)
class Job:
    """One seed of one combination; names may be given as text."""

    env: Spec
    memory: Spec
    policy: Spec
    seed: int
    protocol: Spec = SINGLE_EPISODE
    budget: int = DEFAULT_BUDGET
    task_id: str = ""

    def __post_init__(self) -> None:
        for name in ("env", "memory", "policy", "protocol"):
            text = getattr(self, name)
            object.__setattr__(self, name, NO_SPEC if text == "" else Spec(text))

    @property
    def config(self) -> str:
        """Return a hash of everything but the seed, equal for the jobs of a combination."""
        record = {k: v for k, v in dataclasses.asdict(self).items() if k != "seed"}
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def key(self) -> tuple[int, str, str]:
        """Return ``(seed, protocol, config)``, unique within a run."""
        return (self.seed, self.protocol, self.config)

    @property
    def kept(self) -> Kept:
        """Return the memory's use of earlier jobs, none without a store."""
        settings = self.memory.kwargs
        stores = any(k == "store" or "store=" in unquote(str(v)) for k, v in settings.items())
        return ("frozen" if settings.get("learn") is False else "online") if stores else "empty"

    @property
    def steps_file(self) -> str:
        """Return the name of its file in the run's folder ``steps``."""
        return f"{self.config}-seed{self.seed}.jsonl.gz"

    def make_env(self, isolate: str = "none") -> Any:
        """Build the environment with its memory, under the protocol's settings.

        ``isolate`` is the default for :func:`.make_env`.
        """
        spec = self.env
        for key, value in make_protocol(self.protocol).environment.items():
            spec = spec.with_parameter(key, value)
        settings = {"isolate": isolate, **spec.kwargs}
        return make_env(spec.name, memory=self.memory, budget=self.budget, **settings)


@dataclasses.dataclass(frozen=True)
class EpisodeRow:
    """A played episode of a job, ``trial`` from 0: a line of ``episodes.jsonl``."""

    job: Job
    trial: int
    result: EpisodeResult

    @property
    def key(self) -> tuple[str, int, str, str, int]:
        """Return ``(task_id, seed, protocol, config, trial)``, unique within a run."""
        return (self.result.task_id, *self.job.key, self.trial)

    @property
    def panel(self) -> str:
        """Return the panel, ``NAME@DIGEST``; empty for any other environment."""
        return panel_in(self.result.backend_version)

    @property
    def terms(self) -> Terms:
        """Return the terms of the episode, with which its score is cited."""
        return make_protocol(self.job.protocol).terms(self.trial, self.job.kept)

    def to_json(self) -> dict[str, Any]:
        """Return a flat record, with a citation for readers."""
        job = dataclasses.asdict(self.job)
        pinned = job.pop("task_id")
        terms = self.terms
        return {
            **job,
            "config": self.job.config,
            "pinned_task_id": pinned,
            "trial": self.trial,
            **dataclasses.asdict(self.result),
            "panel": self.panel,
            "memory_at_start": terms.memory,
            "order": terms.order,
            "same_task": terms.same_task,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> EpisodeRow:
        """Build a row from :meth:`to_json`'s record; any other is a ResultsError."""
        try:
            job = {f.name: record[f.name] for f in dataclasses.fields(Job)}
            job["task_id"] = record["pinned_task_id"]
            names = [f.name for f in dataclasses.fields(EpisodeResult) if f.name in record]
            result = {name: record[name] for name in names}
            result["curve"] = tuple((step, score) for step, score in record["curve"])
            for name in ("notes", "models"):
                result[name] = tuple(check_text(name, text) for text in record.get(name, ()))
            row = cls(Job(**job), check_int("trial", record["trial"], 0), EpisodeResult(**result))
            _check_types(row.job, Job(NO_SPEC, NO_SPEC, NO_SPEC, 0))
            check_result(row.result)
            return row
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ResultsError(f"expected an episode as gym-memory writes it: {error!r}") from error


_PANEL = re.compile(r"(?:^| )panel (\S+@[0-9a-f]{12})(?= |$)")
"""Panel in a backend's version, which all episodes and folders record."""


def panel_in(version: str) -> str:
    """Return the panel in a backend's version, ``NAME@DIGEST``, or an empty string.

    >>> panel_in("jericho 3.3.1 panel gata-1@0123456789ab textworld 1.7.0")
    'gata-1@0123456789ab'
    """
    found = _PANEL.search(version)
    return found[1] if found else ""


_UNKNOWN = ("normalized", "success")
"""Fields that are None if the best score or a win is undefined."""


def _check_types(found: Any, example: Any) -> None:
    """Raise TypeError or ValueError if a field's type differs from the example's."""
    for field in dataclasses.fields(found):
        value, kind = getattr(found, field.name), type(getattr(example, field.name))
        if value is None and field.name in _UNKNOWN:
            continue
        if kind is not float and (
            not isinstance(value, kind) or isinstance(value, bool) != (kind is bool)
        ):
            raise TypeError(f"expected {field.name} as {kind.__name__}, got {shown(value)}")
        if kind in (int, float):
            check_bounded(field.name, value)


def check_result(result: EpisodeResult) -> None:
    """Raise TypeError or ValueError for a result that a row cannot hold."""
    _check_types(result, EpisodeResult())
    for name, count in result.counters.items():
        check_bounded(name, count)
    known = result.normalized is not None or result.max_score > 0
    if known:
        check_share("normalized", result.normalized)
    for step, score in result.curve:
        check_number("step of the curve", step, low=0, high=LARGEST)
        (check_share if known else check_bounded)("score of the curve", score)


@dataclasses.dataclass(frozen=True)
class RunConfig:
    """A comparison: every environment x memory x policy x budget x seed.

    Names may be given as text. Several ``budgets`` make a sweep. ``task_id`` is the task instance
    of all seeds, if not empty; ``plugins`` are modules that each worker imports.
    """

    envs: tuple[Spec, ...]
    memories: tuple[Spec, ...]
    policies: tuple[Spec, ...]
    seeds: tuple[int, ...]
    protocol: Spec = SINGLE_EPISODE
    budgets: tuple[int, ...] = (DEFAULT_BUDGET,)
    task_id: str = ""
    plugins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("envs", "memories", "policies"):
            specs = tuple(Spec(spec) for spec in getattr(self, name))
            object.__setattr__(self, name, _distinct(name, specs))
        object.__setattr__(self, "seeds", _distinct("seeds", tuple(self.seeds)))
        object.__setattr__(self, "plugins", tuple(self.plugins))
        object.__setattr__(self, "protocol", Spec(self.protocol))
        for env in self.envs:
            for key in ("memory", "budget"):
                if key in env.kwargs:
                    raise InvalidArgumentError(
                        f"{env!r} sets {key!r}: give it by its own option instead, "
                        "so that it appears in the table"
                    )
        for seed in self.seeds:
            wrong = isinstance(seed, bool) or not isinstance(seed, int)
            if wrong or not 0 <= seed <= LARGEST_SEED:
                raise InvalidArgumentError(
                    f"expected seeds as ints >= 0 and below 2 ** 63, got {seed!r:.80}"
                )
        for text in (self.task_id, *self.plugins):
            check_utf8("a task or a plugin", text)
        object.__setattr__(self, "budgets", _distinct("budgets", tuple(self.budgets)))
        for budget in self.budgets:
            check_budget(budget)
        count = math.prod(
            map(len, (self.envs, self.memories, self.policies, self.seeds, self.budgets))
        )
        if count > _MOST_JOBS:
            raise InvalidArgumentError(
                f"expected at most {_MOST_JOBS} jobs in a run, got {count}: divide it into several"
            )
        make_protocol(self.protocol)

    def jobs(self) -> list[Job]:
        """Return all jobs; seeds vary slowest, so an unfinished run is balanced over its cells."""
        return [
            Job(env, memory, policy, seed, self.protocol, budget, self.task_id)
            for seed in self.seeds
            for budget in self.budgets
            for env in self.envs
            for memory in self.memories
            for policy in self.policies
        ]

    def to_json(self) -> dict[str, Any]:
        """Return plain values, equal for equal configurations.

        ``budget`` is a number if there is only one, as in results before sweeps.
        """
        names = {"budgets": "budget"}
        record = {
            names.get(name, name): list(value) if isinstance(value, tuple) else value
            for name, value in dataclasses.asdict(self).items()
        }
        if len(self.budgets) == 1:
            (record["budget"],) = self.budgets
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> RunConfig:
        """Build a configuration from :meth:`to_json`'s record; any other is a ResultsError."""
        try:
            budget = record["budget"]
            record = {**record, "budgets": [budget] if isinstance(budget, int) else budget}
            values: dict[str, Any] = {f.name: record[f.name] for f in dataclasses.fields(cls)}
        except (KeyError, TypeError) as error:
            raise ResultsError(f"expected a run's configuration: {error!r} is missing") from error
        for name, value in values.items():
            kind = _LISTS.get(name)
            if kind is not None:
                if not (isinstance(value, list) and all(type(item) is kind for item in value)):
                    raise ResultsError(f"expected a run's {name} as a list, got {value!r:.80}")
                values[name] = tuple(value)
        try:
            return cls(**values)
        except (InvalidArgumentError, UnknownNameError, TypeError) as error:
            raise ResultsError(f"expected a run's configuration: {error}") from error

    def command(self, out: str) -> str:
        """Return the shell command that makes this run."""
        words = ["gym-memory", "compare"]
        for option, values in (
            ("--env", self.envs),
            ("--memory", self.memories),
            ("--policy", self.policies),
            ("--import", self.plugins),
        ):
            for value in values:
                words += [option, value]
        words += ["--seeds", format_seeds(self.seeds), "--protocol", self.protocol]
        for budget in self.budgets:
            words += ["--budget", str(budget)]
        if self.task_id:
            words += ["--task-id", self.task_id]
        return shlex.join([*words, "--out", out])


def _distinct(name: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise InvalidArgumentError(f"expected at least one of {name}, got none")
    if len(set(values)) < len(values):
        ((twice, _),) = Counter(values).most_common(1)
        raise InvalidArgumentError(f"{twice!r} is given twice in {name}")
    return values


def parse_seeds(text: str) -> tuple[int, ...]:
    """Parse seeds: single ones and ranges ``first:stop`` (stop not included), comma-separated.

    >>> parse_seeds("0:3,7")
    (0, 1, 2, 7)
    """
    seeds: list[int] = []
    try:
        for part in text.split(","):
            first, colon, stop = part.partition(":")
            named = range(int(first), int(stop) if colon else int(first) + 1)
            if named.stop - named.start > _MOST_SEEDS - len(seeds):
                raise InvalidArgumentError(f"expected at most {_MOST_SEEDS} seeds, got {text!r}")
            seeds += named
    except InvalidArgumentError:
        raise
    except ValueError:
        seeds = []
    if not seeds or min(seeds) < 0:
        raise InvalidArgumentError(
            f"expected seeds such as 0:20 (0 to 19) or 1,2,5, each >= 0, got {text!r}"
        )
    return tuple(seeds)


def format_seeds(seeds: Iterable[int]) -> str:
    """Return the text of seeds, consecutive ones as ranges.

    >>> format_seeds((0, 1, 2, 7))
    '0:3,7'
    """
    runs: list[list[int]] = []
    for seed in seeds:
        if runs and seed == runs[-1][1]:
            runs[-1][1] = seed + 1
        else:
            runs.append([seed, seed + 1])
    return ",".join(str(a) if b == a + 1 else f"{a}:{b}" for a, b in runs)
