"""Figures of a run as SVG, drawn by hand: they take the page's colours and carry their data.

Every mark says in attributes which environment, memory and policy it is of (``data-env`` and so
on), so that a page can hide it; every figure carries its points as CSV.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from gym_memory.core.html import text
from gym_memory.run.results.plots import short_label
from gym_memory.run.results.score import TableRow, Unit, score_by_trial, step_curve
from gym_memory.run.results.sweep import Curve, place

__all__ = ["Figure", "budget_figure", "cost_figures", "curve_figures", "line_figure"]
__all__ += ["score_figure"]

_COLOURS = 10
_WIDTH, _HEIGHT = 380, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 12, 26, 34
_MOST_BANDS = 6


class Figure(NamedTuple):
    """A figure in one or several panels.

    Attributes:
        name: Short, for file names.
        title: What it shows.
        panels: SVG of each panel.
        csv: Its points, with a header.
    """

    name: str
    title: str
    panels: tuple[str, ...]
    csv: str


class Line(NamedTuple):
    """One line of a panel.

    Attributes:
        env: Where it was played; likewise ``memory`` and ``policy``.
        label: What the line is called.
        colour: Number of its colour.
        points: Pairs of a place and a value.
        band: Low and high for each point, or nothing.
    """

    env: str
    memory: str
    policy: str
    label: str
    colour: int
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float]] = ()


def colours(all_units: Iterable[Unit]) -> dict[str, int]:
    """The colour of each memory, the same in all figures of a page."""
    names = dict.fromkeys(unit.memory for unit in all_units)
    return {name: number % _COLOURS for number, name in enumerate(names)}


def _attributes(env: str, memory: str, policy: str) -> str:
    names = {"env": env, "memory": memory, "policy": policy}
    return " ".join(f'data-{key}="{text(value)}"' for key, value in names.items() if value)


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()


def _label(spec: str) -> str:
    return short_label(spec, 60).replace("\n", ", ")


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from ``low`` to ``high``."""
    if high <= low:
        return [low + 0.0]
    raw = (high - low) / most
    size = 10.0 ** np.floor(np.log10(raw))
    step = next(s * size for s in (1, 2, 2.5, 5, 10) if s * size >= raw * 0.999)
    first = np.ceil(low / step - 1e-9) * step
    return [float(v) + 0.0 for v in np.arange(first + 0.0, high + step * 1e-6, step)]


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten from ``low`` to ``high``, or the two where there are none."""
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    return [10.0**power for power in powers] or [low, high]


def _short(value: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:.4g}"


# ---------------------------------------------------------------- scores


def score_figure(rows: Sequence[TableRow], colour: dict[str, int]) -> Figure:
    """Mean score of every combination with its interval, a panel an environment."""
    panels = []
    for env in dict.fromkeys(row.env for row in rows):
        own = [row for row in rows if row.env == env]
        panels.append(_score_panel(env, own, colour))
    points = [
        (r.env, r.memory, r.policy, r.n, f"{r.score:.6f}", *(r.score_ci or ("", ""))) for r in rows
    ]
    header = ("environment", "memory", "policy", "n", "score", "low", "high")
    return Figure(
        "score", "Score by environment, memory and policy", tuple(panels), _csv(header, points)
    )


def _score_panel(env: str, rows: Sequence[TableRow], colour: dict[str, int]) -> str:
    policies = list(dict.fromkeys(row.policy for row in rows))
    left, line, gap = 150, 20, 24
    parts: list[str] = []
    y = _TOP + 6
    width = _WIDTH + 80
    span = width - left - 62

    def x(value: float) -> float:
        return left + span * value

    for policy in policies:
        if len(policies) > 1 or policy:
            parts.append(
                f'<text class="soft" x="4" y="{y + 4}" font-size="11" '
                f"{_attributes(env, '', policy)}>{text(_label(policy), 60)}</text>"
            )
            y += 15
        for row in (r for r in rows if r.policy == policy):
            low, high = row.score_ci or (row.score, row.score)
            k = colour[row.memory]
            told = f"{_label(row.memory)}, {policy}: {row.score:.3f}"
            interval = f" [{low:.2f}, {high:.2f}]" if row.score_ci else ""
            parts.append(
                f"<g {_attributes(env, row.memory, policy)}>"
                f"<title>{text(told + interval)}, {row.n} seeds</title>"
                f'<text x="{left - 8}" y="{y + 4}" font-size="11.5" text-anchor="end">'
                f"{text(_label(row.memory), 22)}</text>"
                f'<line class="interval k{k}" x1="{_n(x(low))}" x2="{_n(x(high))}" '
                f'y1="{y}" y2="{y}"/>'
                f'<circle class="dot k{k}" cx="{_n(x(row.score))}" cy="{y}" r="5.5"/>'
                f'<text x="{width - 8}" y="{y + 4}" font-size="11.5" text-anchor="end">'
                f"{row.score:.2f}</text></g>"
            )
            y += line
        y += gap - line + 4
    bottom = y - 2
    grid = "".join(
        f'<line class="grid" x1="{_n(x(v))}" x2="{_n(x(v))}" y1="{_TOP - 4}" y2="{bottom}"/>'
        f'<text class="soft" x="{_n(x(v))}" y="{bottom + 15}" font-size="10.5" '
        f'text-anchor="middle">{v:g}</text>'
        for v in (0, 0.25, 0.5, 0.75, 1)
    )
    return _svg(width, bottom + 24, f"Score on {_label(env)}", env, "", grid + "".join(parts))


# ---------------------------------------------------------------- lines


def budget_figure(sweep: Iterable[Curve], colour: dict[str, int]) -> Figure:
    """Score against token budget, a panel an environment and policy."""
    panels: dict[tuple[str, str], list[Line]] = {}
    for curve in sweep:
        rows = sorted(curve.points, key=place)
        line = Line(
            *(curve.env, curve.memory, curve.policy, _label(curve.memory), colour[curve.memory]),
            [(place(row), row.score) for row in rows],
            [row.score_ci or (row.score, row.score) for row in rows],
        )
        panels.setdefault((curve.env, curve.policy), []).append(line)
    named = [(f"{_label(policy)} on {_label(env)}", own) for (env, policy), own in panels.items()]
    title = "Score against token budget"
    return line_figure("budgets", title, named, "tokens", "score", (0.0, 1.0), log=True)


def curve_figures(all_units: Sequence[Unit], colour: dict[str, int]) -> list[Figure]:
    """Score against steps, and score by trial where there are several trials."""
    longest: dict[str, int] = {}
    for unit in all_units:
        longest[unit.env] = max(longest.get(unit.env, 1), unit.steps)

    def by_step(group: Sequence[Unit]) -> tuple[list[float], list[float], list[Sequence[float]]]:
        steps, means, band = step_curve(group, longest[group[0].env], 80)
        return steps.tolist(), means.tolist(), band.tolist()

    def by_trial(group: Sequence[Unit]) -> tuple[list[float], list[float], list[Sequence[float]]]:
        scores = score_by_trial(group)
        return (
            [float(n) for n in range(1, len(scores) + 1)],
            [mean for mean, _ in scores],
            [ci or (mean, mean) for mean, ci in scores],
        )

    found = [
        _curves("steps", "Score against steps", "environment steps", all_units, colour, by_step)
    ]
    if any(len(u.trials) > 1 for u in all_units):
        found.append(_curves("trials", "Score by trial", "trial", all_units, colour, by_trial))
    return found


Points = Callable[[Sequence[Unit]], tuple[list[float], list[float], list[Sequence[float]]]]


def _curves(
    name: str,
    title: str,
    along: str,
    all_units: Sequence[Unit],
    colour: dict[str, int],
    points: Points,
) -> Figure:
    cells: dict[tuple[str, str], dict[str, list[Unit]]] = {}
    for unit in all_units:
        cells.setdefault((unit.env, unit.policy), {}).setdefault(unit.memory, []).append(unit)
    panels = []
    for (env, policy), memories in cells.items():
        lines = []
        for memory, group in memories.items():
            x, y, band = points(group)
            pairs = [(low, high) for low, high in band]
            lines.append(
                Line(env, memory, policy, _label(memory), colour[memory],
                     list(zip(x, y, strict=True)), pairs)
            )  # fmt: skip
        panels.append((f"{_label(policy)} on {_label(env)}", lines))
    return line_figure(name, title, panels, along, "score", (0.0, 1.0), steps=name == "steps")


def line_figure(
    name: str,
    title: str,
    panels: Sequence[tuple[str, Sequence[Line]]],
    along: str,
    value: str,
    span: tuple[float, float] | None = None,
    *,
    steps: bool = False,
    log: bool = False,
) -> Figure:
    """Lines in panels.

    Args:
        name: Short, for file names.
        title: What it shows.
        panels: A title and its lines each.
        along: What runs along the axis below.
        value: What the lines tell.
        span: Lowest and highest value of the axis; from the points when None.
        steps: Whether a value holds until the next place.
        log: Whether places, all above 0, stand at their logarithm.
    """
    svgs, points = [], []
    for heading, lines in panels:
        svgs.append(_line_panel(heading, lines, along, span, steps=steps, log=log))
        for line in lines:
            for n, (x, y) in enumerate(line.points):
                band = [f"{v:.6g}" for v in line.band[n]] if line.band else ["", ""]
                points.append(
                    (line.env, line.memory, line.policy, line.label, _short(x), f"{y:.6g}", *band)
                )
    header = ("environment", "memory", "policy", "line", along, value, "low", "high")
    return Figure(name, title, tuple(svgs), _csv(header, points))


def _line_panel(
    heading: str,
    lines: Sequence[Line],
    along: str,
    span: tuple[float, float] | None,
    *,
    steps: bool,
    log: bool,
) -> str:
    places = [x for line in lines for x, _ in line.points]
    values = [y for line in lines for _, y in line.points]
    low, high = span or (min(0.0, *values), max(values))
    ticks = _decades(min(places), max(places)) if log else _ticks(min(places), max(places))
    if log:
        places = [math.log10(x) for x in places]
    first, last = min(places), max(places)
    scale_x = (_WIDTH - _LEFT - _RIGHT) / ((last - first) or 1)
    scale_y = (_HEIGHT - _TOP - _BOTTOM) / ((high - low) or 1)

    def at(x: float, y: float) -> tuple[float, float]:
        along_x = math.log10(x) if log else x
        return _LEFT + (along_x - first) * scale_x, _HEIGHT - _BOTTOM - (y - low) * scale_y

    parts = [_axes(at, ticks, _ticks(low, high, 4), along)]
    for line in lines:
        body = f"<title>{text(line.label)}</title>"
        if line.band and len(lines) <= _MOST_BANDS:
            lows = [(x, b[0]) for (x, _), b in zip(line.points, line.band, strict=True)]
            highs = [(x, b[1]) for (x, _), b in zip(line.points, line.band, strict=True)]
            upper = _way(at, highs, steps=steps)
            lower = _way(at, lows, steps=steps, back=True)
            body += f'<path class="band k{line.colour}" d="M{upper}L{lower}Z"/>'
        body += f'<path class="line k{line.colour}" d="M{_way(at, line.points, steps=steps)}"/>'
        if not steps and len(line.points) <= 30:
            for x, y in line.points:
                cx, cy = at(x, y)
                body += f'<circle class="dot k{line.colour}" cx="{_n(cx)}" cy="{_n(cy)}" r="4"/>'
        parts.append(f"<g {_attributes(line.env, line.memory, line.policy)}>{body}</g>")
    env, policy = (lines[0].env, lines[0].policy) if lines else ("", "")
    return _svg(_WIDTH, _HEIGHT, heading, env, policy, "".join(parts))


def _way(
    at: Callable[[float, float], tuple[float, float]],
    points: Sequence[tuple[float, float]],
    *,
    steps: bool,
    back: bool = False,
) -> str:
    corners: list[tuple[float, float]] = []
    for n, (x, y) in enumerate(points):
        if steps and n:
            corners.append(at(x, points[n - 1][1]))
        corners.append(at(x, y))
    if back:
        corners.reverse()
    return "L".join(f"{_n(x)} {_n(y)}" for x, y in corners)


def _axes(
    at: Callable[[float, float], tuple[float, float]],
    along: Sequence[float],
    up: Sequence[float],
    name: str,
) -> str:
    parts = []
    for value in up:
        _, y = at(along[0], value)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_n(y)}" y2="{_n(y)}"/>'
            f'<text class="soft" x="{_LEFT - 6}" y="{_n(y + 3.5)}" font-size="10.5" '
            f'text-anchor="end">{_short(value)}</text>'
        )
    for value in along:
        x, _ = at(value, up[0])
        parts.append(
            f'<text class="soft" x="{_n(x)}" y="{_HEIGHT - _BOTTOM + 14}" font-size="10.5" '
            f'text-anchor="middle">{_short(value)}</text>'
        )
    parts.append(
        f'<text class="soft" x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 5}" font-size="10.5" '
        f'text-anchor="end">{text(name)}</text>'
    )
    return "".join(parts)


# ---------------------------------------------------------------- costs


def cost_figures(rows: Sequence[TableRow], colour: dict[str, int]) -> list[Figure]:
    """Score against what it took: tokens of memory, and money where any was spent."""
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
    for env in dict.fromkeys(row.env for row, _ in pairs):
        own = [(row, value) for row, value in pairs if row.env == env]
        last = max(value for _, value in own) or 1.0
        scale_x = (_WIDTH - _LEFT - _RIGHT - 8) / last

        def at(x: float, y: float, scale_x: float = scale_x) -> tuple[float, float]:
            return _LEFT + 4 + x * scale_x, _HEIGHT - _BOTTOM - y * (_HEIGHT - _TOP - _BOTTOM)

        parts = [_axes(at, _ticks(0, last), (0.0, 0.25, 0.5, 0.75, 1.0), along)]
        for row, value in own:
            x, y = at(value, row.score)
            told = f"{_label(row.memory)}, {_label(row.policy)}: {row.score:.3f}, {_short(value)}"
            parts.append(
                f"<g {_attributes(env, row.memory, row.policy)}><title>{text(told)}</title>"
                f'<circle class="dot k{colour[row.memory]}" cx="{_n(x)}" cy="{_n(y)}" r="6"/></g>'
            )
        panels.append(_svg(_WIDTH, _HEIGHT, _label(env), env, "", "".join(parts)))
    points = [(r.env, r.memory, r.policy, f"{r.score:.6f}", f"{value:.6g}") for r, value in pairs]
    header = ("environment", "memory", "policy", "score", along)
    return Figure(name, title, tuple(panels), _csv(header, points))


def _svg(width: float, height: float, heading: str, env: str, policy: str, body: str) -> str:
    return (
        f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" '
        f'height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}" role="img" '
        f'aria-label="{text(heading)}" {_attributes(env, "", policy)}>'
        f'<text x="4" y="14" font-size="12.5" font-weight="600">{text(heading, 62)}</text>'
        f"{body}</svg>"
    )
