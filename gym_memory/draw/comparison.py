"""Build the page of a comparison, with figures and tables to filter and to export."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gym_memory.draw.escape import text
from gym_memory.draw.page import Assets, frame, inline_page
from gym_memory.draw.svg import Figure, label_of, short_spec

__all__ = ["COMPARISON", "Section", "TitledTable", "comparison", "comparison_page", "wide_table"]

COMPARISON = Assets((("gym_memory.draw", "page.js"), ("gym_memory.draw", "charts.js")))
"""Scripts of a comparison."""
_FILTERS = ("env", "memory", "policy")
_TITLES = ("Environment", "Memory", "Policy")


class Section(NamedTuple):
    """A section of a comparison: sentences and figures; ``stem`` ends the names of exports."""

    title: str
    stem: str
    sentences: Sequence[tuple[str, str]]
    figures: Sequence[Figure]


class TitledTable(NamedTuple):
    """A table with its title; ``html`` is escaped."""

    title: str
    html: str


def comparison_page(main: str) -> str:
    """Return a comparison as a self-contained page."""
    body = frame("Results", f'<div class="page">{main}</div>')
    return inline_page("gym-memory results", body, COMPARISON)


def comparison(
    combinations: Sequence[tuple[str, str, str]],
    colour: Mapping[str, int],
    sections: Sequence[Section],
    tables: Sequence[TitledTable],
    titles: Sequence[str] = _TITLES,
) -> str:
    """Return filters, figures and tables as HTML; ``combinations`` are env, memory, policy."""
    parts = [_filters(combinations, colour, titles)]
    for section in sections:
        parts.append(f'<section class="card"><h2>{text(section.title)}</h2>')
        for strong, rest in section.sentences:
            start = f"<strong>{text(strong)}</strong>: " if strong else ""
            parts.append(f"<p>{start}{text(rest)}</p>")
        parts += [_figure_html(figure, section.stem) for figure in section.figures]
        parts.append("</section>")
    return "".join([*parts, *map(wide_table, tables)])


def _filters(
    combinations: Sequence[tuple[str, str, str]], colour: Mapping[str, int], titles: Sequence[str]
) -> str:
    groups = []
    for number, (name, key) in enumerate(zip(titles, _FILTERS, strict=True)):
        boxes = []
        for value in dict.fromkeys(combination[number] for combination in combinations):
            mark = f'<span class="swatch k{colour[value]}"></span>' if key == "memory" else ""
            boxes.append(
                f'<label><input type="checkbox" checked data-filter="{key}" '
                f'value="{text(value)}" data-short="{text(short_spec(value))}">{mark}'
                f"{text(label_of(value))}</label>"
            )
        groups.append(f"<fieldset><legend>{name}</legend>{''.join(boxes)}</fieldset>")
    return (
        '<form class="card filters" id="filters" aria-label="What is shown">'
        f"{''.join(groups)}</form>"
    )


def _figure_html(figure: Figure, stem: str) -> str:
    buttons = "".join(
        f'<button type="button" class="quiet" data-export="{form}" '
        f'aria-label="{text(figure.title)} as {form.upper()}">{form.upper()}</button>'
        for form in ("png", "svg", "csv")
    )
    # encoded, so data cannot end its element; the page's script decodes it
    data = json.dumps(figure.csv).replace("<", "\\u003c")
    return (
        f'<figure data-name="{text(figure.name)}-{stem}"><figcaption>'
        f'<span class="name">{text(figure.title)}</span>{buttons}</figcaption>'
        f'<div class="panels" tabindex="0" role="region" aria-label="{text(figure.title)}">'
        f"{''.join(figure.panels)}</div>"
        f'<script type="text/csv">{data}</script></figure>'
    )


def wide_table(shown: TitledTable) -> str:
    """Return a table that scrolls horizontally on a narrow page."""
    return (
        f'<section class="card"><h2>{shown.title}</h2><div class="scroll" tabindex="0" '
        f'role="region" aria-label="{shown.title}">{shown.html}</div></section>'
    )
