"""Build ``report.html``: the figures and tables of a run, to filter and to export.

The viewer serves the same comparison.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gym_memory.core.files import read_json
from gym_memory.core.html import Assets, frame, inline_page, table, text
from gym_memory.core.records import LARGEST
from gym_memory.run.results.figures import (
    at_largest,
    budget_figure,
    budgets,
    colours,
    cost_figures,
    curve_figures,
    curves,
    score_figure,
    stem_of,
)
from gym_memory.run.results.score import (
    GAP_NUMBERS,
    Difference,
    TableRow,
    Unit,
    score_cells,
    seeds_go_round,
)
from gym_memory.run.results.score import table as score_table
from gym_memory.run.results.streams import is_stream, stream_figures
from gym_memory.run.results.svg import PALETTE, Figure, Line, label_of, line_figure

__all__ = ["COMPARISON", "comparison", "report_page"]

COMPARISON = Assets((("gym_memory.core.html", "page.js"), ("gym_memory.core.html", "charts.js")))
"""What a comparison uses."""


def report_page(
    all_units: Sequence[Unit], gaps: Sequence[Difference], folders: Sequence[Path]
) -> str:
    """Return the page of a report."""
    main = f'<div class="page">{comparison(all_units, gaps, folders)}</div>'
    return inline_page("gym-memory results", frame("Results", main), COMPARISON)


def comparison(
    all_units: Sequence[Unit], gaps: Sequence[Difference], folders: Sequence[Path]
) -> str:
    """Return filters, figures and tables as HTML.

    A sweep's first figure shows all its budgets, the others the largest. A ``quality.json`` in one
    of the folders gives the quality over time.
    """
    if not all_units:
        return '<p class="card">No job is finished yet.</p>'
    colour = colours(unit.memory for unit in all_units)
    parts = [_filters(all_units, colour)]
    for protocol in dict.fromkeys(u.protocol for u in all_units):
        played = [u for u in all_units if u.protocol == protocol]
        own = at_largest(played)
        rows = score_table(own)
        drawn = stream_figures if is_stream(protocol) else curve_figures
        figures = [score_figure(rows, colour), *drawn(own, colour), *cost_figures(rows, colour)]
        if len(budgets(played)) > 1:
            figures.insert(0, budget_figure(curves(played), colour))
        stem = stem_of(protocol)
        parts.append(f'<section class="card"><h2>Protocol {text(protocol)}</h2>')
        repeated = next((row for row in rows if row.n_tasks < row.n), None)
        if repeated:
            parts.append(
                f"<p><strong>Seeds go round</strong>: {text(seeds_go_round(repeated))}</p>"
            )
        parts += [_certain(rows), *(_figure(figure, stem) for figure in figures)]
        parts.append("</section>")
    parts += [_quality(folder) for folder in folders]
    parts.append(_tables(all_units, gaps))
    return "".join(parts)


def _certain(rows: Sequence[TableRow]) -> str:
    """Explain the interval where all games were won, or none was scored in; empty otherwise."""
    same = [row for row in rows if not row.raw and row.score in (0, 1) and row.score_ci]
    if not same:
        return ""
    row = min(same, key=lambda row: row.n_tasks)
    low, high = row.score_ci or (0, 1)
    played = "full scores" if row.score else "scores of 0"
    return (
        f"<p>{text(label_of(row.memory))} has only {played} on {text(label_of(row.env))}, and yet "
        f"an interval of [{low:.2f}, {high:.2f}]: {row.n_tasks} games cannot show that all other "
        "games end alike. More games narrow it.</p>"
    )


def _filters(all_units: Sequence[Unit], colour: dict[str, int]) -> str:
    groups = []
    for name, key in (("Environment", "env"), ("Memory", "memory"), ("Policy", "policy")):
        boxes = []
        for value in dict.fromkeys(getattr(unit, key) for unit in all_units):
            mark = f'<span class="swatch k{colour[value]}"></span>' if key == "memory" else ""
            boxes.append(
                f'<label><input type="checkbox" checked data-filter="{key}" '
                f'value="{text(value)}">{mark}{text(label_of(value))}</label>'
            )
        groups.append(f"<fieldset><legend>{name}</legend>{''.join(boxes)}</fieldset>")
    return (
        '<form class="card filters" id="filters" aria-label="What is shown">'
        f"{''.join(groups)}</form>"
    )


def _figure(figure: Figure, stem: str) -> str:
    buttons = "".join(
        f'<button type="button" class="quiet" data-export="{form}" '
        f'aria-label="{text(figure.title)} as {form.upper()}">{form.upper()}</button>'
        for form in ("png", "svg", "csv")
    )
    # Data that cannot end its element; the page's script decodes it.
    data = json.dumps(figure.csv).replace("<", "\\u003c")
    return (
        f'<figure data-name="{text(figure.name)}-{stem}"><figcaption>'
        f'<span class="name">{text(figure.title)}</span>{buttons}</figcaption>'
        f'<div class="panels" tabindex="0" role="region" aria-label="{text(figure.title)}">'
        f"{''.join(figure.panels)}</div>"
        f'<script type="text/csv">{data}</script></figure>'
    )


def _quality(folder: Path) -> str:
    """Return the quality over time, if ``gym-memory quality`` measured it."""
    try:
        curves: dict[str, dict[str, Any]] = read_json(folder / "quality.json")["curves"]
        panels = [_quality_panel(name, curves) for name in _measures(curves)]
    except (ArithmeticError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""
    if not panels:
        return ""
    figure = line_figure("quality", "Quality of the memory over time", panels, "step", "value")
    return f'<section class="card"><h2>Quality</h2>{_figure(figure, "all")}</section>'


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


def _tables(all_units: Sequence[Unit], gaps: Sequence[Difference]) -> str:
    scores = score_cells(score_table(all_units))
    parts = [_wide("Scores", scores)]
    if gaps:
        shown = table(
            ("compared", "with", "environment", "memory or policy", *GAP_NUMBERS),
            [(gap.name, gap.against, gap.env, gap.other, *gap.cells()) for gap in gaps],
            caption="Paired on task and seed; positive: the compared one scores higher. p is "
            "corrected for the number of lines (Holm), those of all environments together apart.",
            numbers=GAP_NUMBERS,
        )
        parts.append(_wide("Differences", shown))
    failed = [u for u in all_units if u.failed][:50]
    if failed:
        shown = table(
            ("environment", "memory", "policy", "seed", "reason"),
            [(u.env, u.memory, u.policy, u.seed, u.failed) for u in failed],
        )
        parts.append(_wide("Failures", shown))
    return "".join(parts)


def _wide(title: str, shown: str) -> str:
    return (
        f'<section class="card"><h2>{title}</h2><div class="scroll" tabindex="0" role="region" '
        f'aria-label="{title}">{shown}</div></section>'
    )
