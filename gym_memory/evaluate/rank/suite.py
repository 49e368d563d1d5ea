"""Suite as data: tiers, each a list of parts that the common runner plays."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from gym_memory.core.errors import InvalidArgumentError, ResultsError, UnknownNameError
from gym_memory.core.names import Spec, specs
from gym_memory.core.records import Recall, Triple
from gym_memory.core.trajectory import read_rows
from gym_memory.memory.base import SharedSettings, count_tokens
from gym_memory.memory.reading import render_facts
from gym_memory.run.config import EpisodeRow, Job, RunConfig, parse_seeds
from gym_memory.run.protocols import make_protocol
from gym_memory.run.results.score import grouped
from gym_memory.run.streams import Stream

__all__ = ["NAMES", "Measure", "Suite", "SuiteCell", "SuitePart", "cells_of", "is_over"]
__all__ += ["load_suite"]

Measure = Literal["play", "text", "exam", "audit", "stale", "poison", "stream"]
"""``text`` is play by the rendered text alone; ``stale`` and ``poison`` are of attacks, which their
``envs`` name; ``stream`` is many tasks with one memory."""

_HERE = "gym_memory.evaluate.rank"
_AROUND = {
    "exam": f"{_HERE}.watched:ExaminedMemory",
    "audit": f"{_HERE}.watched:AuditedMemory",
    **dict.fromkeys(("stale", "poison"), f"{_HERE}.watched:DeceivedMemory"),
}
NAMES = ("partial", "everyday")
"""Wordings of an exam, in addition to full names."""
_TEXT_ONLY = f"{_HERE}.textual:TextOnly"
_SPELLING = 1.1
"""Share of the budget that typed facts may take; they are longer than the rendered text."""
_ATTACKS = "gym_memory.evaluate.harm.game"
_PLUGINS = (f"{_HERE}.textual", f"{_HERE}.watched", _ATTACKS)


class SuitePart(NamedTuple):
    """A part of a tier: a measure with its games and policies."""

    name: str
    measure: Measure
    envs: Sequence[str]
    policies: Sequence[str]
    seeds: str
    budgets: Sequence[int]
    protocol: str = "single_episode"

    @property
    def played(self) -> tuple[Spec, ...]:
        """Return the environments; those of attacks are named after the attack."""
        if self.measure not in ("stale", "poison"):
            return specs(self.envs)
        return tuple(Spec.of(f"{_ATTACKS}:attacked", {"attack": name}) for name in self.envs)

    def config(self, memories: Sequence[str], plugins: Sequence[str]) -> RunConfig:
        """Return what the runner plays for these memories."""
        around, budgets = _AROUND.get(self.measure), tuple(self.budgets)
        kept, players = specs(memories), specs(self.policies)
        if around:
            kept = tuple(Spec.of(around, {"of": spec}) for spec in kept)
        if self.measure == "text":
            players = tuple(Spec.of(_TEXT_ONLY, {"of": player}) for player in players)
        if self.measure in ("stale", "poison"):
            players = tuple(Spec.of(f"{_ATTACKS}:NoteReader", {"of": p}) for p in players)
        return RunConfig(
            self.played, kept, players, parse_seeds(self.seeds),
            Spec(self.protocol), budgets,
            plugins=(*_PLUGINS, *plugins),
        )  # fmt: skip


class Suite(NamedTuple):
    """One tier of the suite; ``controls`` and ``memories`` have results that ship.

    The memories of a group recall in a first episode what their inner memory recalls, so in tiers
    of single episodes the first one plays for all.
    """

    version: int
    tier: str
    parts: tuple[SuitePart, ...]
    controls: Mapping[str, str]
    memories: tuple[str, ...]
    groups: Mapping[str, Sequence[str]]
    abilities: Mapping[str, Sequence[str]]

    @property
    def is_stream(self) -> bool:
        """True if memories are ranked by streams of tasks, not by single episodes."""
        return any(part.measure == "stream" for part in self.parts)

    @property
    def rivals(self) -> tuple[str, ...]:
        """Return the controls that a card compares with."""
        return ("none", "placebo?of=memrl") if self.is_stream else ("none",)


@cache
def load_suite(tier: str) -> Suite:
    """Read a tier: ``check``, ``smoke``, ``standard``, ``full`` or ``streams``."""
    record = json.loads((files(_HERE) / "suite.json").read_text("utf-8"))
    if tier not in record["tiers"]:
        raise UnknownNameError("tier", tier, record["tiers"])
    parts = tuple(SuitePart(**part) for part in record["tiers"][tier])
    for part in parts:
        if part.measure not in get_args(Measure):
            raise InvalidArgumentError(
                f"expected a measure of {get_args(Measure)}, got {part.measure!r}"
            )
    memories, groups = tuple(map(Spec, record["memories"])), record["groups"]
    suite = Suite(
        record["version"], tier, parts, record["controls"], memories, groups, record["abilities"]
    )
    later = {memory for members in groups.values() for memory in members[1:]}
    played = tuple(memory for memory in memories if suite.is_stream or memory not in later)
    return suite._replace(memories=played)


@dataclasses.dataclass(frozen=True)
class SuiteCell:
    """Results of one memory in one cell: a part's environment, policy and budget.

    ``tasks`` and ``scores`` have one entry per seed, in order, 0 if it failed. In a stream they
    have one per task that the policy played while the memory learnt, the mean over the orders, and
    none if an order failed. ``failed`` is a count; the other numbers are means over the episodes
    that did not fail: ``tokens`` per observation, ``calls`` of language models per episode, ``ms``
    per step. ``marks`` has the counts of an exam or an audit per seed, and as ``over`` the number
    of observations whose recall exceeded the budget. ``rewards`` is the memory's setting; empty in
    older results, when only memories of facts saw what a step earned.
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
    rewards: str = "shown"

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> SuiteCell:
        """Build a cell from its plain values; any others are a ResultsError."""
        try:
            record = {"rewards": "", **record}
            values = {f.name: record[f.name] for f in dataclasses.fields(cls)}
            values |= {name: tuple(values[name]) for name in ("tasks", "scores")}
            values["marks"] = {name: tuple(v) for name, v in values["marks"].items()}
            return cls(**values)
        except (AttributeError, KeyError, TypeError) as error:
            raise ResultsError(f"expected a cell of a ranking: {error!r}") from error


def cells_of(
    part: SuitePart, rows: Sequence[EpisodeRow], steps: Path
) -> dict[str, list[SuiteCell]]:
    """Return the cells of each memory, from the rows of a part and the folder of their steps."""
    found: dict[str, list[SuiteCell]] = {}
    cells = grouped(rows, lambda r: (r.job.memory, r.job.env, r.job.policy, r.job.budget))
    for group in cells.values():
        memory = _played_memory(part, group[0].job)
        found.setdefault(memory, []).append(_cell(part, group, steps))
    return found


def _played_memory(part: SuitePart, job: Job) -> str:
    """Return the memory that is ranked, without what measures it."""
    return str(job.memory.kwargs["of"]) if part.measure in _AROUND else job.memory


def _cell(part: SuitePart, rows: Sequence[EpisodeRow], steps: Path) -> SuiteCell:
    rows = sorted(rows, key=lambda row: (row.job.seed, row.trial))
    job, results = rows[0].job, [row.result for row in rows]
    played = [row for row in rows if not row.result.failed]
    failed = {row.job.seed for row in rows if row.result.failed}
    names = {n for row in played for n in row.result.counters if part.measure in _AROUND}
    marks = {n: tuple(int(r.counters.get(n, 0)) for r in results) for n in sorted(names)}
    tokens = {}
    if part.measure not in _AROUND:
        jobs = {row.job.seed: row.job for row in played if row.job.seed not in failed}
        tokens = {seed: _recalled(steps / job.steps_file, job.budget) for seed, job in jobs.items()}
        seeds = dict.fromkeys(row.job.seed for row in rows)
        marks["over"] = tuple(tokens.get(seed, (0.0, 0))[1] for seed in seeds)
    scores = [(r.task_id, r.value) for r in results]
    if part.measure == "stream":
        scores = [] if failed else _learnt(part.protocol, rows)
        marks |= _kept(rows)

    def mean(values: Iterable[float]) -> float:
        values = list(values)
        return round(sum(values) / max(len(values), 1), 3)

    return SuiteCell(
        part.name, job.env, job.policy, job.budget,
        tasks=tuple(task for task, _ in scores),
        scores=tuple(round(score, 6) for _, score in scores),
        steps=mean(row.result.steps for row in played),
        tokens=mean(used for used, _ in tokens.values()),
        calls=mean(row.result.counters.get("llm_calls", 0) for row in played),
        failed=len(failed),
        marks=marks,
        ms=mean(row.result.memory_ms for row in played),
        rewards=Spec(_played_memory(part, job)).kwargs.get("rewards", SharedSettings().rewards),
    )  # fmt: skip


def _learnt(protocol: str, rows: Iterable[EpisodeRow]) -> list[tuple[str, float]]:
    """Return the tasks that the policy played while the memory learnt: means over the orders."""
    stream = make_protocol(protocol)
    assert isinstance(stream, Stream)
    found: dict[str, list[float]] = {}
    for row in rows:
        if stream.turns[row.trial].phase == "learn":
            found.setdefault(row.result.task_id, []).append(row.result.value)
    return [(task, sum(values) / len(values)) for task, values in sorted(found.items())]


def _kept(rows: Sequence[EpisodeRow]) -> dict[str, tuple[int, ...]]:
    """Return the bytes of each order's store at its end, and the steps that it came from."""
    orders = [[row.result for row in o] for o in grouped(rows, lambda row: row.job.seed).values()]
    return {
        "bytes": tuple(int(sum(r.counters.get("store_bytes", 0) for r in o)) for o in orders),
        "moments": tuple(sum(r.steps for r in o) for o in orders),
    }


def _recalled(path: Path, budget: int) -> tuple[float, int]:
    """Return the mean tokens of recorded recalls, and how many are over the budget.

    Only what a player was shown counts, not what the memory reports of itself.
    """
    facts: list[Triple] = []
    shown = over = used = 0
    episode = None
    for row in read_rows(path):
        if row["episode"] != episode:  # each order numbers its facts from 0
            episode, facts = row["episode"], []
        facts += [Triple(*fact) for fact in row.get("facts", ())]
        triples = tuple(facts[number] for number in row.get("recalled", ()))
        recall = Recall(row.get("memory", ""), triples, (), tuple(row.get("lessons", ())))
        shown, used = shown + 1, used + count_tokens(recall.text)
        over += is_over(recall, budget)
    return used / max(shown, 1), over


def is_over(recall: Recall, budget: int) -> bool:
    """True if a part of a recall that a player may take is over the budget."""
    typed = max(count_tokens(render_facts(recall.triples)), count_tokens("\n".join(recall.lessons)))
    return count_tokens(recall.text) > budget or typed > _SPELLING * budget + 1
