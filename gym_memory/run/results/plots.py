"""Plots of a run: score as bars, against steps, trials and token budget. PNG, no display."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.files import write_atomic
from gym_memory.core.names import parse_spec
from gym_memory.run.results.score import (
    TableRow,
    Unit,
    score_by_trial,
    step_curve,
)
from gym_memory.run.results.sweep import Curve, place

__all__ = ["plot_budgets", "plot_scores", "plot_steps", "plot_trials", "short_label"]

PALETTE = (
    *("#8c8c8c", "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00"),
    *("#56b4e9", "#b8a800", "#7a4fbf", "#6b4226", "#2f4b7c", "#c0392b"),
    *("#00c2b2", "#f4b6c2", "#1b1b1b", "#8f9e00", "#a6761d"),
)
"""Colours told apart by colour-blind readers, as many as there are memories; the first is the
control's."""
_MAX_COLUMNS = 4
_MAX_BANDS = 6
"""Lines in a panel up to which intervals are shaded; more would hide the lines."""
_DPI = 130
_PANEL, _LEGEND, _MARGIN = 3.2, 1.5, 0.2
"""Inches: the width of a panel of lines, a legend's usual width, what is free below one."""
_CHARACTER = 0.7 / 72
"""Inches that a character takes, a point of its size."""
Points = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""Places ``(n,)``, means ``(n,)`` and intervals ``(n, 2)``."""


def short_label(spec: str, width: int = 22) -> str:
    r"""A spec on a few short lines: the name, then its values.

    >>> short_label("Cooking?level=medium&split=test")
    'Cooking\nmedium, test'
    """
    name, kwargs = parse_spec(spec)
    words = [v if isinstance(v, str) else f"{k}={v}" for k, v in kwargs.items()]
    lines = [name]
    for word in words:
        if len(lines) > 1 and len(lines[-1]) + len(word) + 2 <= width:
            lines[-1] += f", {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def _wrapped(text: str, size: float, inches: float) -> str:
    """A title on as many lines as it takes in ``inches``."""
    return textwrap.fill(text, int(inches / (_CHARACTER * size)), break_on_hyphens=False)


def _height(panel: float, titles: Sequence[str], size: float) -> float:
    """Inches of a panel that the longest of the titles takes nothing of but its first line."""
    return panel + max(title.count("\n") for title in titles) * 1.2 * size / 72


def _distinct(items: Any) -> list[str]:
    return list(dict.fromkeys(items))


def _figure(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    """A figure of equal panels that needs no window system."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", color="#e3e3e3", linewidth=0.8)
        axis.set_axisbelow(True)
        axis.set_ylim(0, 1.04)
        axis.tick_params(length=0, labelsize=8)
    for axis in axes[:, 0]:
        axis.set_ylabel("normalized score", fontsize=9)
    return figure, axes


def _save(figure: Any, path: str | os.PathLike[str]) -> None:
    buffer = BytesIO()
    # Without the library's version in the file, so that equal plots are equal files.
    figure.savefig(buffer, format="png", metadata={"Software": None})
    write_atomic(Path(path), buffer.getvalue())


def plot_scores(rows: Sequence[TableRow], path: str | os.PathLike[str]) -> None:
    """Mean score with its interval: a panel a policy, a group an environment, a bar a memory."""
    envs, memories = _distinct(r.env for r in rows), _distinct(r.memory for r in rows)
    policies = _distinct(r.policy for r in rows)
    cells = {(r.env, r.memory, r.policy): r for r in rows}
    width = min(max(4.5, 2.4 + len(envs) * (0.6 + 0.36 * len(memories))), 18.0)
    panel = width - _LEGEND
    titles = [_wrapped(policy, 10, panel) for policy in policies]
    figure, axes = _figure(len(policies), 1, width, 0.6 + _height(2.1, titles, 10) * len(policies))
    bar = min(0.82 / len(memories), 0.3)
    for axis, policy, title in zip(axes[:, 0], policies, titles, strict=True):
        for index, memory in enumerate(memories):
            shift = (index - (len(memories) - 1) / 2) * bar
            found = [(at, cells.get((env, memory, policy))) for at, env in enumerate(envs)]
            shown = [(at + shift, row) for at, row in found if row is not None]
            axis.bar(
                [at for at, _ in shown],
                [row.score for _, row in shown],
                bar * 0.9,
                color=PALETTE[index % len(PALETTE)],
                label=memory,
            )
            for at, row in shown:
                _mark(axis, at, row, numbered=len(memories) * len(envs) <= 40)
        axis.set_title(title, loc="left", fontsize=10, fontweight="bold")
        axis.set_xlim(-0.6, len(envs) - 0.4)
        axis.set_xticks(range(len(envs)), [short_label(env) for env in envs], fontsize=8)
    _legend(figure, axes, "memory", panel)
    _save(figure, path)


def _mark(axis: Any, at: float, row: TableRow, *, numbered: bool) -> None:
    """The interval of a bar, and its number above, or inside where there is no room above."""
    low, high = row.score_ci or (row.score, row.score)
    axis.vlines(at, low, high, color="#222222", linewidth=1.2)
    if numbered:
        above = high <= 0.92
        axis.annotate(
            f"{row.score:.2f}",
            (at, high + 0.015 if above else low - 0.015),
            ha="center",
            va="bottom" if above else "top",
            fontsize=6.5,
            color="#222222" if above else "white",
        )


def _legend(figure: Any, axes: Any, title: str, panel: float) -> None:
    """A legend on the right; every panel keeps ``panel`` inches, however long the names are."""
    shown: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    legend = figure.legend(
        shown.values(),
        shown.keys(),
        title=title,
        loc="outside right upper",
        frameon=False,
        fontsize=8,
        title_fontsize=8,
        alignment="left",
    )
    inches = legend.get_window_extent().size / figure.dpi
    beside = np.array([axes.shape[1] * panel, _MARGIN])
    figure.set_size_inches(np.maximum(figure.get_size_inches(), inches + beside))


def _plot_lines(
    units: Sequence[Any],
    path: str | os.PathLike[str],
    xlabel: str,
    points: Callable[[Sequence[Any]], Points],
    *,
    kind: Literal["steps", "trials", "budgets"],
) -> None:
    """A panel an environment and policy, a line a memory.

    Several policies stand side by side where all play the same; else the panels fill the page.

    Args:
        units: What to show; each says its ``env``, ``memory`` and ``policy``.
        path: File to write.
        xlabel: What runs along the axis.
        points: Places, means and intervals of a line.
        kind: A value holds until the next step; trials are counted; budgets are a logarithm.
    """
    envs, memories = _distinct(u.env for u in units), _distinct(u.memory for u in units)
    policies = _distinct(u.policy for u in units)
    played = {(unit.env, unit.policy) for unit in units}
    panels = [(env, policy) for env in envs for policy in policies if (env, policy) in played]
    beside = len(panels) == len(envs) * len(policies) > len(envs)
    columns = len(policies) if beside else min(_MAX_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    titles = [
        _wrapped(f"{policy} on {short_label(env, 60)}".replace("\n", ", "), 8, _PANEL)
        for env, policy in panels
    ]
    figure, axes = _figure(
        rows, columns, 2.2 + _PANEL * columns, 0.5 + _height(2.2, titles, 8) * rows
    )
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for number, (axis, (env, policy)) in enumerate(zip(axes.flat, panels, strict=False)):
        for index, memory in enumerate(memories):
            group = [u for u in units if (u.env, u.memory, u.policy) == (env, memory, policy)]
            if group:
                # Later ones are thinner, so that equal curves do not hide each other.
                width = 3.6 - 2.2 * index / max(len(memories) - 1, 1)
                style = {"color": PALETTE[index % len(PALETTE)], "linewidth": width}
                x, mean, band = points(group)
                form = {"drawstyle": "steps-post"} if kind == "steps" else {"marker": "o"}
                if kind == "budgets":  # side by side, so that every interval is seen
                    x = x * 1.035 ** (index - (len(memories) - 1) / 2)
                    axis.vlines(x, *band.T, color=style["color"], linewidth=0.9, alpha=0.6)
                axis.plot(x, mean, label=memory, markersize=4, **style, **form)
                if len(memories) <= _MAX_BANDS and kind != "budgets":
                    shade = {"color": style["color"], "alpha": 0.12, "linewidth": 0}
                    step = "post" if kind == "steps" else None
                    axis.fill_between(x, band[:, 0], band[:, 1], step=step, **shade)
                if kind == "trials":
                    axis.set_xticks(x)
        if kind == "budgets":
            axis.set_xscale("log")
            played_under = sorted({row.budget for unit in units for row in unit.points})
            axis.set_xticks(played_under, [f"{budget:,}" for budget in played_under])
            axis.minorticks_off()
        axis.set_title(titles[number], loc="left", fontsize=8)
        if number >= len(panels) - columns:
            axis.set_xlabel(xlabel, fontsize=8)
    _legend(figure, axes, "memory", _PANEL)
    _save(figure, path)


def plot_steps(units: Sequence[Unit], path: str | os.PathLike[str]) -> None:
    """Mean score after each number of steps, with its interval."""
    longest: dict[str, int] = {}
    for unit in units:
        longest[unit.env] = max(longest.get(unit.env, 1), unit.steps)

    def points(group: Sequence[Unit]) -> Points:
        return step_curve(group, longest[group[0].env])

    _plot_lines(units, path, "environment steps", points, kind="steps")


def plot_trials(units: Sequence[Unit], path: str | os.PathLike[str]) -> None:
    """Mean score of each trial, with its interval."""

    def points(group: Sequence[Unit]) -> Points:
        scores = score_by_trial(group)
        means = np.array([mean for mean, _ in scores])
        return (
            np.arange(1.0, len(scores) + 1),
            means,
            np.array([ci or (mean, mean) for mean, ci in scores]),
        )

    _plot_lines(units, path, "trial", points, kind="trials")


def plot_budgets(found: Sequence[Curve], path: str | os.PathLike[str]) -> None:
    """Mean score with its interval against the token budget, on a logarithmic axis.

    A memory that goes over its budget stands where the tokens are that it took.
    """

    def points(group: Sequence[Curve]) -> Points:
        rows = {place(row): row for row in group[0].points}
        return (
            np.array(list(rows)),
            np.array([row.score for row in rows.values()]),
            np.array([row.score_ci or (row.score,) * 2 for row in rows.values()]),
        )

    _plot_lines(found, path, "token budget", points, kind="budgets")
