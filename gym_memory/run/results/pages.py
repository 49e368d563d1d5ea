"""Figures and HTML page of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from gym_memory.core.files import read_json
from gym_memory.core.records import LARGEST
from gym_memory.draw import comparison as page
from gym_memory.draw.comparison import Section, TitledTable
from gym_memory.draw.figures import (
    Points,
    budget_figure,
    colours,
    cost_figures,
    curves_figure,
    score_figure,
)
from gym_memory.draw.page import table
from gym_memory.draw.svg import PALETTE, Figure, Line, label_of, line_figure, short_spec
from gym_memory.run.results.labels import labels
from gym_memory.run.results.score import (
    GAP_NUMBERS,
    Difference,
    TableRow,
    Unit,
    combination,
    grouped,
    notes_on,
    score_by_trial,
    score_cells,
    seeds_go_round,
    step_curve,
)
from gym_memory.run.results.score import table as score_table
from gym_memory.run.results.streams import is_stream, stream_figures
from gym_memory.run.results.sweep import at_largest, budgets, curves

__all__ = ["comparison", "curve_figures", "file_name_of", "report_page"]

_LONGEST_STEM = 150
"""Most characters of a protocol in a file name, which may have 255 in all."""


def file_name_of(protocol: str) -> str:
    """Return a protocol as part of a file name."""
    stem = "".join(c if c.isalnum() else "-" for c in protocol)
    if len(stem) <= _LONGEST_STEM:
        return stem
    return f"{stem[:_LONGEST_STEM]}-{crc32(stem.encode()):08x}"


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

    cells = grouped(all_units, lambda u: (u.env, u.policy))
    memories = {cell: grouped(own, lambda u: u.memory) for cell, own in cells.items()}
    kinds = [("steps", "Score against steps", "environment steps", by_step)]
    if any(len(u.trials) > 1 for u in all_units):
        kinds.append(("trials", "Score by trial", "trial", by_trial))
    return [
        curves_figure(
            name, title, along,
            {
                cell: {memory: curve_of(group) for memory, group in own.items()}
                for cell, own in memories.items()
            },
            colour,
            steps=name == "steps",
        )
        for name, title, along, curve_of in kinds
    ]  # fmt: skip


def report_page(
    all_units: Sequence[Unit], gaps: Sequence[Difference], folders: Sequence[Path]
) -> str:
    """Return the page of a report."""
    return page.comparison_page(comparison(all_units, gaps, folders))


def comparison(
    all_units: Sequence[Unit], gaps: Sequence[Difference], folders: Sequence[Path]
) -> str:
    """Return filters, figures and tables of jobs as HTML.

    A sweep's first figure shows all its budgets, the others the largest. A ``quality.json`` in one
    of the folders gives the quality over time.
    """
    if not all_units:
        return '<p class="card">No job is finished yet.</p>'
    colour = colours(unit.memory for unit in all_units)
    sections = [
        _section(protocol, [u for u in all_units if u.protocol == protocol], colour)
        for protocol in dict.fromkeys(u.protocol for u in all_units)
    ]
    sections += [found for folder in folders if (found := _quality(folder))]
    shown = [*dict.fromkeys(map(combination, all_units))]
    return page.comparison(shown, colour, sections, _tables(all_units, gaps))


def _section(protocol: str, played: Sequence[Unit], colour: dict[str, int]) -> Section:
    own = at_largest(played)
    rows = score_table(own)
    drawn = stream_figures if is_stream(protocol) else curve_figures
    figures = [score_figure(rows, colour), *drawn(own, colour), *cost_figures(rows, colour)]
    if len(budgets(played)) > 1:
        figures.insert(0, budget_figure(curves(played), colour))
    repeated = next((row for row in rows if row.n_tasks < row.n), None)
    sentences = [("Seeds repeat tasks", seeds_go_round(repeated))] if repeated else []
    sentences += [("Who played", sentence) for sentence in labels(rows)]
    sentences += [("Calls of language models", note) for note in notes_on(own)]
    sentences += [("", sentence) for sentence in _certain(rows)]
    return Section(f"Protocol {protocol}", file_name_of(protocol), sentences, figures)


def _certain(rows: Sequence[TableRow]) -> list[str]:
    """Explain the interval if every game was won or every score is 0; otherwise return ""."""
    same = [row for row in rows if not row.raw and row.score in (0, 1) and row.score_ci]
    if not same:
        return []
    row = min(same, key=lambda row: row.n_tasks)
    low, high = row.score_ci or (0, 1)
    played = "full scores" if row.score else "scores of 0"
    return [
        f"{label_of(row.memory)} has only {played} on {label_of(row.env)}, and yet an interval of "
        f"[{low:.2f}, {high:.2f}]: {row.n_tasks} games cannot show that every other game "
        "ends the same way. More games narrow it."
    ]


def _quality(folder: Path) -> Section | None:
    """Return the quality over time, if ``gym-memory quality`` measured it."""
    try:
        curves: dict[str, dict[str, Any]] = read_json(folder / "quality.json")["curves"]
        panels = [_quality_panel(name, curves) for name in _measures(curves)]
    except (ArithmeticError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if not panels:
        return None
    figure = line_figure("quality", "Quality of the memory over time", panels, "step", "value")
    return Section("Quality", "all", (), [figure])


def _measures(curves: dict[str, dict[str, Any]]) -> list[str]:
    names = dict.fromkeys(name for curve in curves.values() for name in curve)
    return [name for name in names if any(isinstance(c.get(name), list) for c in curves.values())]


def _quality_panel(name: str, curves: dict[str, dict[str, Any]]) -> tuple[str, list[Line]]:
    lines = []
    for number, (label, curve) in enumerate(curves.items()):
        points = [(float(t), float(v)) for t, v in enumerate(curve.get(name, ())) if v is not None]
        if not all(abs(value) <= LARGEST for _, value in points):
            raise ValueError("expected finite numbers")
        if points:
            lines.append(Line("", "", "", label, number % len(PALETTE), points))
    return name, lines


def _tables(all_units: Sequence[Unit], gaps: Sequence[Difference]) -> list[TitledTable]:
    scores = score_cells(score_table(all_units))
    parts = [TitledTable("Scores", scores)]
    if gaps:
        shown = table(
            ("compared", "with", "environment", "memory or policy", *GAP_NUMBERS),
            [(*map(short_spec, (g.name, g.against, g.env, g.other)), *g.cells()) for g in gaps],
            caption="Paired by task and seed. Positive: the compared one scores higher. p is "
            "corrected for the number of rows (Holm), separately for all environments together.",
            numbers=GAP_NUMBERS,
        )
        parts.append(TitledTable("Differences", shown))
    failed = [u for u in all_units if u.failed][:50]
    if failed:
        shown = table(
            ("environment", "memory", "policy", "seed", "reason"),
            [(*map(short_spec, combination(u)), u.seed, u.failed) for u in failed],
        )
        parts.append(TitledTable("Failures", shown))
    return parts
