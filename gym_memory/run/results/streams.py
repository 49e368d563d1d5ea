"""Report a stream: a memory's gain over a stream of tasks, its retention, forgetting and transfer.

All gains are paired by task and order; their 95 % intervals take tasks as their unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gym_memory.core.names import Spec
from gym_memory.draw.figures import HeatMap, Points, curves_figure, heat_figure
from gym_memory.draw.svg import Figure, label_of
from gym_memory.run.protocols import make_protocol
from gym_memory.run.results import intervals
from gym_memory.run.results.intervals import Estimate
from gym_memory.run.results.score import Unit, format_interval, grouped, is_raw
from gym_memory.run.streams import Stream

__all__ = ["Table", "is_stream", "stream_figures", "stream_sentences", "stream_tables"]
__all__ += ["transfer_sentences"]

RIVALS = ("none", "placebo", "exprag", "exprecent", "rag", "history")
"""Baseline memories: none, spoiled items, raw episodes."""
_POINTS = 8
"""Number of points of a curve; each averages an equal number of neighbouring tasks."""

Found = dict[tuple[str, int, int, int], tuple[str, float]]
"""Task and value of each turn by environment, order, world and place."""


class Table(NamedTuple):
    """A table of a page: its title, headings and rows; the first ``words`` columns are text."""

    title: str
    heads: list[str]
    words: int
    rows: list[list[str]]

    def columns(self, keep: Callable[[int, set[str]], bool]) -> Table:
        """Return the table with the columns whose number and values are accepted."""
        columns = ({row[n] for row in self.rows} for n in range(len(self.heads)))
        kept = [n for n, values in enumerate(columns) if keep(n, values)]
        heads, *rows = ([line[n] for n in kept] for line in (self.heads, *self.rows))
        return Table(self.title, heads, sum(n < self.words for n in kept), rows)


def is_stream(protocol: str) -> bool:
    """True for a specification of the protocol ``stream``."""
    return protocol.partition("?")[0] == "stream"


@lru_cache(maxsize=64)
def _stream(protocol: str) -> Stream:
    found = make_protocol(protocol)
    assert isinstance(found, Stream)
    return found


def _found(group: Iterable[Unit], *phases: str, test: str = "") -> Found:
    """Return the turns of some phases; turns that a failed job did not play have value 0."""
    found: Found = {}
    for unit in group:
        stream = _stream(unit.protocol)
        for n, turn in enumerate(stream.turns):
            if turn.phase in phases and (not test or stream.tested(turn) == test):
                result = unit.episodes[n] if n < len(unit.episodes) else None
                task = result.task_id if result else f"turn {n} of {unit.seed}"
                value = result.value if result and not result.failed else 0.0
                found[unit.env, unit.seed, turn.world, turn.place] = task, value
    return found


@lru_cache(maxsize=1024)  # tables and the heat map show the same cells
def _estimate(
    by: Callable[..., Estimate], values: tuple[float, ...], tasks: tuple[str, ...]
) -> Estimate:
    return by(values, tasks)


def _mean(found: Found, raw: bool) -> Estimate:
    by = intervals.values if raw else intervals.scores
    return _estimate(by, tuple(v for _, v in found.values()), tuple(t for t, _ in found.values()))


def _gain(ours: Found, theirs: Found, raw: bool) -> Estimate:
    keys = [key for key in ours if key in theirs]
    gaps = tuple(ours[key][1] - theirs[key][1] for key in keys)
    by = intervals.values if raw else intervals.gaps
    return _estimate(by, gaps, tuple(ours[key][0] for key in keys))


def _shown(found: Estimate, sign: str = "") -> str:
    if not found.clusters:
        return ""
    return f"{found.mean:{sign}.2f} {format_interval(found.interval(), sign)}"


def _worlds(own: Sequence[Unit]) -> dict[tuple[str, str], dict[str, list[Unit]]]:
    """Group the jobs by environment and policy, then by memory."""
    cells = grouped(own, lambda unit: (unit.env, unit.policy))
    return {cell: grouped(group, lambda unit: unit.memory) for cell, group in cells.items()}


def _rivals(memories: Iterable[str]) -> list[str]:
    found = [m for m in memories if Spec(m).name in RIVALS]
    return sorted(found, key=lambda m: RIVALS.index(Spec(m).name))


def stream_tables(own: Sequence[Unit]) -> list[Table]:
    """Return the tables of the stream, of gains, of the store and of transfer that have data."""
    rivals = _rivals(dict.fromkeys(unit.memory for unit in own))
    heads = ["environment", "memory", "policy"]
    scores, gains, stores = [], [], []
    for (env, policy), memories in _worlds(own).items():
        raw = is_raw(own)
        for memory, group in memories.items():
            names = [f"`{env}`", f"`{memory}`", policy]
            learn = _found(group, "learn")
            places = [key[3] for key in learn]
            middle = (min(places) + max(places)) / 2
            halves = ({k: v for k, v in learn.items() if (k[3] < middle) == first}
                      for first in (True, False))  # fmt: skip
            again, fresh, early, late = (
                _found(group, phase) for phase in ("again", "fresh", "early", "late")
            )
            means = (learn, *halves, again, late)
            scores.append([*names, str(len(learn)), *(_shown(_mean(p, raw)) for p in means)])
            over = ["" if rival == memory or rival not in memories
                    else _shown(_gain(learn, _found(memories[rival], "learn"), raw), "+")
                    for rival in rivals]  # fmt: skip
            pairs = ((again, fresh), (again, learn), (late, early))
            gains.append([*names, *over, *(_shown(_gain(a, b, raw), "+") for a, b in pairs)])
            stores.append([*names, *_store(group)])
    parts = ["n", "learning", "first half", "second half", "again", "late"]
    over = [f"over {label_of(rival)}" for rival in rivals]
    over += ["again over fresh", "again over first time", "late over early"]
    store = ["items", "kB", "changed while reading"]
    tables = [Table("Score", heads + parts, 3, scores), Table("Gain", heads + over, 3, gains),
              Table("Store at the end of the stream", heads + store, 3, stores)]  # fmt: skip
    return [*(t.columns(lambda _, values: any(values)) for t in tables), *_transfer(own)]


def _store(group: Sequence[Unit]) -> list[str]:
    """Return items and kB per job, and the count of episodes that changed a read-only memory."""
    grown = {"items": 0.0, "bytes": 0.0}
    changed = reads = 0
    for unit in group:
        for turn, result in zip(_stream(unit.protocol).turns, unit.episodes, strict=False):
            if turn.phase in ("shown", "learn"):
                for name in grown:
                    grown[name] += result.counters.get(f"store_{name}", 0.0) / len(group)
            else:
                reads += 1
                changed += bool(result.counters.get("store_changed"))
    return [f"{grown['items']:.0f}", f"{grown['bytes'] / 1000:.1f}",
            f"{changed} of {reads}" if reads else ""]  # fmt: skip


def _tests(own: Sequence[Unit]) -> list[str]:
    return list(dict.fromkeys(t for u in own for t in _stream(u.protocol).tests))


def _tested(own: Sequence[Unit], pairs: Iterable[tuple[str, str]], memory: str) -> Estimate:
    """Return the gain over ``none`` on tests; without rows of ``none``, the score itself.

    ``pairs`` are pairs of environments: learnt in, tested in.
    """
    found: dict[str, Found] = {memory: {}, "none": {}}
    for env, test in pairs:
        for name, turns in found.items():
            turns |= _found((u for u in own if (u.env, u.memory) == (env, name)), "test", test=test)
    if memory == "none" or not found["none"]:
        return _mean(found[memory], is_raw(own))
    return _gain(found[memory], found["none"], is_raw(own))


def _names(envs: Iterable[str]) -> dict[str, str]:
    """Return short names of environments, without their common part."""
    found = {env: Spec(env) for env in dict.fromkeys(envs)}
    games = [spec.name for spec in found.values()]
    shared = set.intersection(*(set(spec.kwargs.items()) for spec in found.values()))
    names = {}
    for env, spec in found.items():
        game, settings = spec.parts
        own = [str(value) for key, value in settings.items() if (key, value) not in shared]
        alone = [game] if len(set(games)) > 1 else []
        names[env] = game if games.count(game) == 1 else ", ".join(alone + own)
    return names


def _transfer(own: Sequence[Unit]) -> list[Table]:
    tests = _tests(own)
    if not tests:
        return []
    names = _names(unit.env for unit in own)
    rows, means = [], []
    for (policy, memory), group in grouped(own, lambda u: (u.policy, u.memory)).items():
        rivals = [u for u in own if u.policy == policy]
        sign = "" if memory == "none" else "+"
        for env in dict.fromkeys(unit.env for unit in group):
            cells = (_tested(rivals, [(env, test)], memory) for test in tests)
            rows.append([f"`{memory}`", names[env], policy, *(_shown(c, sign) for c in cells)])
        cells = (_tested(rivals, part, memory) for part in _parts(own))
        means.append([f"`{memory}`", policy, *(_shown(cell, sign) for cell in cells)])
    heads = ["memory", "learnt in", "policy", *_names(tests).values()]
    over = ["memory", "policy", "in the same environment", "in others"]
    return [Table("Transfer: gain over none in further tasks", over, 2, means),
            Table("Transfer, by environment", heads, 3, rows)]  # fmt: skip


def _parts(own: Sequence[Unit]) -> list[list[tuple[str, str]]]:
    """Return the pairs (learnt in, tested in) within one environment, and those across two."""
    pairs = [(env, test) for env in dict.fromkeys(u.env for u in own) for test in _tests(own)]
    return [[pair for pair in pairs if (pair[0] == pair[1]) == same] for same in (True, False)]


def stream_sentences(own: Sequence[Unit]) -> list[str]:
    """Return sentences that name the memories not distinguished from a rival."""
    lines = []
    for (env, _), memories in _worlds(own).items():
        for rival in _rivals(memories):
            theirs, raw = _found(memories[rival], "learn"), is_raw(own)
            lines += _same(f"On {label_of(env)}", rival, {
                memory: _gain(_found(group, "learn"), theirs, raw)
                for memory, group in memories.items() if memory != rival
            })  # fmt: skip
    return [*lines, *_recalls_of_task(own)]


def _recalls_of_task(own: Sequence[Unit]) -> list[str]:
    """Return a sentence on the share of recalls with an item of the same task, if known."""
    shares = []
    for memory, group in grouped(own, lambda unit: unit.memory).items():
        total, of_task = (
            sum(unit.counters.get(name, 0) for unit in group)
            for name in ("recalls", "recalls_of_task")
        )
        if total:
            shares.append(f"`{memory}` {of_task / total:.1%}")
    return [f"Recalls that show the same task: {', '.join(shares)}."] if shares else []


def transfer_sentences(own: Sequence[Unit]) -> list[str]:
    """Return sentences that name the memories not distinguished from ``none`` in tests."""
    lines = []
    for where, part in zip(("in the same environment", "in others"), _parts(own), strict=True):
        for group in grouped(own, lambda unit: unit.policy).values():
            memories = dict.fromkeys(unit.memory for unit in group)
            if part and "none" in memories:
                lines += _same(f"Tested {where}", "none", {
                    m: _tested(group, part, m) for m in memories if m != "none"
                })  # fmt: skip
    return lines


def _same(where: str, rival: str, gains: Mapping[str, Estimate]) -> list[str]:
    """Return a sentence on the gains whose interval contains 0, if there are any."""
    ends = {memory: gain.interval() or (0.0, 0.0) for memory, gain in gains.items()}
    same = ", ".join(f"`{memory}`" for memory, (low, high) in ends.items() if low <= 0 <= high)
    return [f"{where}, {same} cannot be distinguished from `{rival}`."] if same else []


def stream_figures(own: Sequence[Unit], colour: dict[str, int]) -> list[Figure]:
    """Return the score along the stream, and the heat map of transfer if there are tests."""
    curves = {
        cell: {memory: _along(group) for memory, group in memories.items()}
        for cell, memories in _worlds(own).items()
    }
    curve = curves_figure("stream", "Score along the stream", "task", curves, colour)
    return [curve, *([_heat(own)] if _tests(own) else [])]


def _along(group: Sequence[Unit]) -> tuple[Points, Points]:
    """Return the mean score of each part of the stream with its interval, placed at the middle."""
    learn = _found(group, "learn")
    points, band = [], []
    for part in np.array_split(sorted({key[3] for key in learn}), _POINTS):
        if len(part):
            near = {key: value for key, value in learn.items() if key[3] in part}
            found = _mean(near, is_raw(group))
            points.append((float(part.mean()) + 1, found.mean))
            band.append(found.interval() or (found.mean, found.mean))
    return points, band


def _heat(own: Sequence[Unit]) -> Figure:
    tests, maps = _tests(own), []
    names = _names([*tests, *(unit.env for unit in own)])
    for (policy, memory), group in grouped(own, lambda u: (u.policy, u.memory)).items():
        envs = list(dict.fromkeys(u.env for u in group))
        rivals = [unit for unit in own if unit.policy == policy]
        values = {
            (env, test): _tested(rivals, [(env, test)], memory).mean
            for env in envs
            for test in tests
        }
        rows, columns = ([(key, names[key]) for key in keys] for keys in (envs, tests))
        maps.append(HeatMap(memory, policy, rows, columns, values, "" if memory == "none" else "+"))
    return heat_figure("Transfer from rows to columns", maps)
