"""The suite as data: tiers, each a list of parts that the common runner plays."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, get_args

from gym_memory.core.errors import InvalidArgumentError, ResultsError, UnknownNameError
from gym_memory.core.names import format_spec, parse_spec
from gym_memory.run.jobs import EpisodeRow, RunConfig, parse_seeds
from gym_memory.run.results.score import grouped

__all__ = ["Cell", "Measure", "Part", "Suite", "cells_of", "load_suite"]

Measure = Literal["play", "text", "exam", "audit", "stream", "poison"]
"""``text`` is play by the rendered text alone; ``stream`` and ``poison`` by their protocols."""

_HERE = "gym_memory.evaluate.rank"
_AROUND = {"exam": f"{_HERE}.watched:Examined", "audit": f"{_HERE}.watched:Audited"}
_TEXT_ONLY = f"{_HERE}.textual:TextOnly"
_PLUGINS = (f"{_HERE}.textual", f"{_HERE}.watched")


class Part(NamedTuple):
    """Hold a part of a tier: what is measured, on which games, by which players."""

    name: str
    measure: Measure
    envs: Sequence[str]
    policies: Sequence[str]
    seeds: str
    budgets: Sequence[int]
    protocol: str = "single_episode"

    def config(self, memories: Sequence[str], plugins: Sequence[str]) -> RunConfig:
        """Return what the runner plays for these memories."""
        around, budgets = _AROUND.get(self.measure), tuple(self.budgets)
        specs = [format_spec(*parse_spec(memory)) for memory in memories]
        if around:
            specs = [format_spec(around, {"of": spec}) for spec in specs]
        players = list(self.policies)
        if self.measure == "text":
            players = [format_spec(_TEXT_ONLY, {"of": player}) for player in players]
        return RunConfig(
            *(tuple(self.envs), tuple(specs), tuple(players), parse_seeds(self.seeds)),
            *(self.protocol, budgets),
            plugins=(*_PLUGINS, *plugins),
        )


class Suite(NamedTuple):
    """Hold one tier of the suite; ``controls`` and ``memories`` have results that ship."""

    version: int
    tier: str
    parts: tuple[Part, ...]
    controls: Mapping[str, str]
    memories: tuple[str, ...]
    abilities: Mapping[str, Sequence[str]]


@cache
def load_suite(tier: str) -> Suite:
    """Read a tier: ``smoke``, ``standard`` or ``full``."""
    record = json.loads((files(_HERE) / "suite.json").read_text("utf-8"))
    if tier not in record["tiers"]:
        raise UnknownNameError("tier", tier, record["tiers"])
    parts = tuple(Part(**part) for part in record["tiers"][tier])
    for part in parts:
        if part.measure not in get_args(Measure):
            raise InvalidArgumentError(
                f"expected a measure of {get_args(Measure)}, got {part.measure!r}"
            )
    memories = tuple(format_spec(*parse_spec(memory)) for memory in record["memories"])
    return Suite(
        record["version"], tier, parts, record["controls"], memories, record["abilities"]
    )


@dataclasses.dataclass(frozen=True)
class Cell:
    """Hold what one memory did in one cell: a part's environment, policy and budget.

    ``tasks`` and ``scores`` are one a seed, in order, a failed one 0; the others are means over the
    seeds that did not fail (``tokens`` an observation, ``calls`` of language models an episode,
    ``ms`` a step), but ``failed`` counts. ``marks`` has a count of each counter a seed.
    """

    part: str
    env: str
    policy: str
    budget: int
    tasks: tuple[str, ...]
    scores: tuple[float, ...]
    steps: float
    tokens: float
    calls: float
    failed: int
    marks: Mapping[str, tuple[int, ...]]
    ms: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values; ``ms`` alone comes from a clock."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Cell:
        """Build a cell from :meth:`to_json`'s record; any other is a ResultsError."""
        try:
            values = {f.name: record[f.name] for f in dataclasses.fields(cls)}
            values |= {name: tuple(values[name]) for name in ("tasks", "scores")}
            values["marks"] = {name: tuple(v) for name, v in values["marks"].items()}
            return cls(**values)
        except (AttributeError, KeyError, TypeError) as error:
            raise ResultsError(f"expected a cell of a ranking: {error!r}") from error


def cells_of(part: Part, rows: Sequence[EpisodeRow]) -> dict[str, list[Cell]]:
    """Return the cells of each memory, from the rows of a part."""
    found: dict[str, list[Cell]] = {}
    around = _AROUND.get(part.measure)
    cells = grouped(rows, lambda r: (r.job.memory, r.job.env, r.job.policy, r.job.budget))
    for (memory, env, policy, budget), group in cells.items():
        spec = parse_spec(memory).kwargs["of"] if around else memory
        found.setdefault(spec, []).append(_cell(part, env, policy, budget, group))
    return found


def _cell(part: Part, env: str, policy: str, budget: int, rows: Sequence[EpisodeRow]) -> Cell:
    results = [row.result for row in sorted(rows, key=lambda row: row.job.seed)]
    played = [result for result in results if not result.failed]

    def mean(values: Sequence[float]) -> float:
        return round(sum(values) / max(len(values), 1), 3)

    names = sorted({name for r in played for name in r.counters}) if part.measure in _AROUND else []
    return Cell(
        *(part.name, env, policy, budget),
        tasks=tuple(r.task_id for r in results),
        scores=tuple(round(r.value, 6) for r in results),
        steps=mean([r.steps for r in played]),
        tokens=mean([r.tokens for r in played]),
        calls=mean([r.counters.get("llm_calls", 0) for r in played]),
        failed=len(results) - len(played),
        marks={n: tuple(int(r.counters.get(n, 0)) for r in results) for n in names},
        ms=mean([r.memory_ms for r in played]),
    )
