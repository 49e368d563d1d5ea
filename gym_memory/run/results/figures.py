"""Draw a run's figures: score with intervals, against steps, trials, token budget and cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np

from gym_memory.core.html import text
from gym_memory.run.results import svg as draw
from gym_memory.run.results.intervals import Interval
from gym_memory.run.results.score import (
    TableRow,
    Unit,
    combination,
    estimate,
    grouped,
    score_by_trial,
    step_curve,
    table,
)
from gym_memory.run.results.svg import PALETTE, Figure, Line, label_of, line_figure

__all__ = ["NEARLY", "Curve", "area", "at_largest", "budget_figure", "budgets", "colours"]
__all__ += ["comparable", "cost_figures", "curve_figures", "curves", "place", "score_figure"]
__all__ += ["stem_of"]


NEARLY = 0.95
"""Share of the best score that counts as reached."""
_UPPER_BOUND = "oracle"
"""Knows what nobody saw, so the best score is that of the others."""
Points = list[tuple[float, float]]


class Curve(NamedTuple):
    """Hold the scores of one memory by budget, the least first.

    ``area`` is in [0, 1] (points if raw), None if a budget is missing or exceeded; ``area_ci`` its
    95 % interval over tasks. ``enough`` is the mean tokens recalled at the least budget with
    :data:`NEARLY` the best score that any memory but ``oracle`` has; None if that is not reached.
    """

    env: str
    memory: str
    policy: str
    points: tuple[TableRow, ...]
    area: float | None
    area_ci: Interval | None
    enough: float | None


def budgets(all_units: Iterable[Unit]) -> list[int]:
    """Return the budgets that were played, the least first."""
    return sorted({unit.budget for unit in all_units})


def at_largest(all_units: Sequence[Unit]) -> list[Unit]:
    """Return the jobs of each combination under its largest budget."""
    groups = grouped(all_units, lambda u: (u.protocol, *combination(u)))
    most = {key: max(u.budget for u in group) for key, group in groups.items()}
    return [u for u in all_units if u.budget == most[u.protocol, *combination(u)]]


def place(row: TableRow) -> float:
    """Return where a score belongs among budgets: at the limit, or the tokens taken if more."""
    return max(row.budget, row.tokens or 0.0, 1.0)


def comparable(all_units: Sequence[Unit]) -> list[Unit]:
    """Return jobs as they compare: a sweep's with the area as score, others as they are."""
    found: list[Unit] = []
    for own in grouped(all_units, lambda u: u.protocol).values():
        found += _areas(own) if len(budgets(own)) > 1 else own
    return found


def curves(own: Sequence[Unit]) -> list[Curve]:
    """Return the curve of every combination of one protocol, in order of first appearance."""
    by_combination = grouped(_areas(own), combination)
    cells = grouped(table(own), combination)
    best: dict[tuple[str, str], float] = {}
    for (env, memory, policy), rows in cells.items():
        if memory.partition("?")[0] != _UPPER_BOUND:
            top = max(row.score for row in rows)
            best[env, policy] = max(best.get((env, policy), 0.0), top)
    found = []
    for (env, memory, policy), rows in cells.items():
        group = by_combination.get((env, memory, policy), [])
        of_area = estimate([u.score for u in group], group) if group else None
        points = tuple(sorted(rows, key=lambda row: row.budget))
        target = NEARLY * best.get((env, policy), 0.0)
        reached = [row.tokens for row in points if row.score >= target > 0]
        found.append(
            Curve(
                *(env, memory, policy, points),
                of_area.mean if of_area else None,
                of_area.interval() if of_area else None,
                reached[0] if reached else None,
            )
        )
    return found


def _areas(own: Sequence[Unit]) -> list[Unit]:
    """Join the jobs of all budgets into one, with the area as its score."""
    every = budgets(own)
    exceeding = {combination(row) for row in table(own) if (row.tokens or 0) > row.budget}
    found = []
    for group in grouped(own, lambda u: (*combination(u), u.seed)).values():
        by_budget = {unit.budget: unit for unit in group}
        if len(by_budget) == len(every) and combination(group[0]) not in exceeding:
            scores = [by_budget[budget].score for budget in every]
            found.append(by_budget[every[-1]]._replace(score=area(every, scores)))
    return found


def area(at: Sequence[int], scores: Sequence[float]) -> float:
    """Return the area under ``scores`` over the logarithm of ``at``, as a share of that under 1.

    >>> area([100, 1000, 10_000], [0.0, 0.5, 1.0])
    0.5
    """
    logs = [math.log(max(budget, 1)) for budget in at]
    return round(float(np.trapezoid(scores, logs)) / (logs[-1] - logs[0]), 12)


_LONGEST_STEM = 150


_OWN_COLOUR = (
    *("none", "arigraph", "history", "stma", "summary", "rag", "present", "oracle", "shuffled"),
    *("clin", "ldm2", "reflexion", "simulacra", "belief", "noise", "adversarial", "placebo"),
    *("amem", "evotest", "expel", "exprag", "exprecent", "fusion", "memp", "memrl", "notes"),
    *("playbook", "reasoningbank", "simutil", "skills", "workflows"),
)
"""Memories in the order of :data:`.PALETTE`, so that each has one colour in every picture."""


def colours(memories: Iterable[str]) -> dict[str, int]:
    """Return the colour of each memory: its own in every picture, the next free if that is taken.

    A memory without a place in the list, and one with parameters, has a colour by its text.
    """
    order = list(dict.fromkeys(memories))
    found: dict[str, int] = {}
    for memory in sorted(order, key=lambda spec: (spec not in _OWN_COLOUR, spec)):
        listed = memory in _OWN_COLOUR
        own = _OWN_COLOUR.index(memory) if listed else crc32(memory.encode()) % len(PALETTE)
        turn = ((own + further) % len(PALETTE) for further in range(len(PALETTE)))
        found[memory] = next((number for number in turn if number not in found.values()), own)
    return {memory: found[memory] for memory in order}


def stem_of(protocol: str) -> str:
    """Return a protocol as part of a file name, which has at most 255 characters."""
    stem = "".join(c if c.isalnum() else "-" for c in protocol)
    if len(stem) <= _LONGEST_STEM:
        return stem
    return f"{stem[:_LONGEST_STEM]}-{crc32(stem.encode()):08x}"


def score_figure(rows: Sequence[TableRow], colour: dict[str, int]) -> Figure:
    """Return the mean score of every combination with its interval, a panel an environment."""
    panels = []
    for env in dict.fromkeys(row.env for row in rows):
        own = [row for row in rows if row.env == env]
        panels.append(_score_panel(env, own, colour))
    points = [
        (r.env, r.memory, r.policy, r.n, f"{r.score:.6f}", *(r.score_ci or ("", ""))) for r in rows
    ]
    header = ("environment", "memory", "policy", "n", "score", "low", "high")
    return Figure(
        "scores",
        "Score by environment, memory and policy",
        tuple(panels),
        draw.csv_text(header, points),
    )


def _score_panel(env: str, rows: Sequence[TableRow], colour: dict[str, int]) -> str:
    policies = list(dict.fromkeys(row.policy for row in rows))
    left, line, gap = 150, 20, 24
    parts: list[str] = []
    y = draw.TOP + 6
    width = draw.WIDTH + 80
    ends = [end for row in rows for end in (row.score_ci or (row.score,))]
    first, last = min(0.0, *ends), max(1.0, *ends)
    span = (width - left - 62) / (last - first)

    def x(value: float) -> float:
        return left + span * (value - first)

    for policy in policies:
        if len(policies) > 1 or policy:
            parts.append(
                f'<text class="soft" x="4" y="{y + 4}" font-size="11" '
                f"{draw.attributes(env, '', policy)}>{text(label_of(policy), 60)}</text>"
            )
            y += 15
        for row in (r for r in rows if r.policy == policy):
            low, high = row.score_ci or (row.score, row.score)
            k = colour[row.memory]
            shown = f"{label_of(row.memory)}, {policy}: {row.score:.3f}"
            interval = f" [{low:.2f}, {high:.2f}]" if row.score_ci else ""
            parts.append(
                f"<g {draw.attributes(env, row.memory, policy)}>"
                f"<title>{text(shown + interval)}, {row.n} seeds</title>"
                f'<text x="{left - 8}" y="{y + 4}" font-size="11.5" text-anchor="end">'
                f"{text(label_of(row.memory), 22)}</text>"
                f"{draw.rule(f'interval k{k}', x(low), y, x(high), y)}"
                f"{draw.dot(x(row.score), y, k, 5.5)}"
                f'<text x="{width - 8}" y="{y + 4}" font-size="11.5" text-anchor="end">'
                f"{row.score:.2f}</text></g>"
            )
            y += line
        y += gap - line + 4
    bottom = y - 2
    grid = "".join(
        f"{draw.rule('grid', x(v), draw.TOP - 4, x(v), bottom)}"
        f'<text class="soft" x="{draw.number(x(v))}" y="{bottom + 15}" font-size="10.5" '
        f'text-anchor="middle">{v:g}</text>'
        for v in draw.ticks(first, last, 4)
    )
    return draw.svg(width, bottom + 24, f"Score on {label_of(env)}", env, "", grid + "".join(parts))


# ---------------------------------------------------------------- lines


def budget_figure(sweep: Sequence[Curve], colour: dict[str, int]) -> Figure:
    """Return score against token budget, a panel an environment and policy."""
    panels: dict[tuple[str, str], list[Line]] = {}
    for curve in sweep:
        rows = sorted(curve.points, key=place)
        line = Line(
            *(curve.env, curve.memory, curve.policy, label_of(curve.memory), colour[curve.memory]),
            [(place(row), row.score) for row in rows],
            [row.score_ci or (row.score, row.score) for row in rows],
        )
        panels.setdefault((curve.env, curve.policy), []).append(line)
    named = [
        (f"{label_of(policy)} on {label_of(env)}", own) for (env, policy), own in panels.items()
    ]
    played = sorted({row.budget for curve in sweep for row in curve.points})
    at = {float(budget): draw.short(budget) for budget in played}
    title = "Score against token budget"
    return line_figure("budgets", title, named, "tokens", "score", (0.0, 1.0), log=True, at=at)


def curve_figures(all_units: Sequence[Unit], colour: dict[str, int]) -> list[Figure]:
    """Return score against steps, and score by trial where there are several trials."""
    by_env = grouped(all_units, lambda u: u.env)
    longest = {env: max(1, *(u.steps for u in own)) for env, own in by_env.items()}

    def by_step(group: Sequence[Unit]) -> tuple[Points, Points]:
        steps, means, band = step_curve(group, longest[group[0].env], 80)
        return [*zip(steps.tolist(), means.tolist(), strict=True)], [*map(tuple, band.tolist())]

    def by_trial(group: Sequence[Unit]) -> tuple[Points, Points]:
        scores = score_by_trial(group)
        points = [(float(n), mean) for n, (mean, _) in enumerate(scores, 1)]
        return points, [ci or (mean, mean) for mean, ci in scores]

    found = [
        _curves("steps", "Score against steps", "environment steps", all_units, colour, by_step)
    ]
    if any(len(u.trials) > 1 for u in all_units):
        found.append(_curves("trials", "Score by trial", "trial", all_units, colour, by_trial))
    return found


def _curves(
    name: str,
    title: str,
    along: str,
    all_units: Sequence[Unit],
    colour: dict[str, int],
    curve_of: Callable[[Sequence[Unit]], tuple[Points, Points]],
) -> Figure:
    panels = []
    for (env, policy), own in grouped(all_units, lambda u: (u.env, u.policy)).items():
        lines = []
        for memory, group in grouped(own, lambda u: u.memory).items():
            drawn = curve_of(group)
            lines.append(Line(env, memory, policy, label_of(memory), colour[memory], *drawn))
        panels.append((f"{label_of(policy)} on {label_of(env)}", lines))
    return line_figure(name, title, panels, along, "score", (0.0, 1.0), steps=name == "steps")


# ---------------------------------------------------------------- costs


def cost_figures(rows: Sequence[TableRow], colour: dict[str, int]) -> list[Figure]:
    """Return score against memory tokens, and against money where any was spent."""
    found = [
        _scatter(
            "tokens", "Memory tokens against score", "tokens of the recalled memory",
            [(row, row.tokens) for row in rows if row.tokens is not None], colour,
        )
    ]  # fmt: skip
    paid = [(row, row.cost_usd / row.n) for row in rows]
    if any(cost for _, cost in paid):
        found.append(_scatter("cost", "Cost against score", "US dollars a job", paid, colour))
    return found


def _scatter(
    name: str,
    title: str,
    along: str,
    pairs: Sequence[tuple[TableRow, float]],
    colour: dict[str, int],
) -> Figure:
    panels = []
    for env, own in grouped(pairs, lambda pair: pair[0].env).items():
        lines = []
        for row, value in own:
            names = f"{label_of(row.memory)}, {label_of(row.policy)}"
            label = f"{names}: {row.score:.3f}, {draw.short(value)}"
            point = [(value, row.score)]
            lines.append(Line(env, row.memory, row.policy, label, colour[row.memory], point))
        panels.append((label_of(env), lines))
    return line_figure(name, title, panels, along, "score", (0.0, 1.0), start=0.0)
