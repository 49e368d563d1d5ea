"""Draw a forest plot: each row has a name, its mean with an interval, and a dot per part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gym_memory.draw import svg as draw
from gym_memory.draw.escape import text
from gym_memory.draw.svg import Figure

__all__ = ["ForestRow", "forest_figure"]

_WIDTH, _LEFT, _RIGHT, _LINE = 760, 190, 120, 20
_DOT, _MEAN = 4.0, 5.5
_MEAN_COLOUR, _FIRST_COLOUR = 14, 1
_WHOLE_FROM = 10.0
"""Absolute value from which numbers are written without decimals."""


class ForestRow(NamedTuple):
    """A mean with its 95 % interval and the values of its parts by name."""

    name: str
    mean: float
    ci: tuple[float, float] | None
    parts: Mapping[str, float]


def forest_figure(
    name: str, title: str, along: str, rows: Sequence[ForestRow], parts: Sequence[str], unit: str
) -> Figure:
    """Draw one panel, headed by the name of the measure (``along``), with a line at 0.

    The legend lists ``parts`` in order and the ``unit`` of the intervals. A single part is not
    drawn.
    """
    points = [
        (row.name, f"{row.mean:.6g}", *(f"{end:.6g}" for end in row.ci or ()), part, f"{value:.6g}")
        for row in rows
        for part, value in row.parts.items()
    ]
    header = ("memory", "mean", "low", "high", "part", "value")
    return Figure(name, title, (_panel(along, rows, parts, unit),), draw.csv_text(header, points))


def _panel(along: str, rows: Sequence[ForestRow], parts: Sequence[str], unit: str) -> str:
    colour = {part: _FIRST_COLOUR + n for n, part in enumerate(parts)}
    shown = [value for row in rows for value in (row.mean, *(row.ci or ()), *row.parts.values())]
    low, high = min(0.0, *shown), max(0.0, *shown)
    span = (_WIDTH - _LEFT - _RIGHT) / ((high - low) or 1.0)

    def x(value: float) -> float:
        return _LEFT + (value - low) * span

    y = draw.TOP + 10.0
    bottom = y + _LINE * (len(rows) - 0.4)
    body = [_grid(x, draw.ticks(low, high, 6), bottom)]
    for row in rows:
        body.append(_row(row, x, y, colour if len(parts) > 1 else {}))
        y += _LINE
    y = bottom + 34
    if len(parts) > 1:
        for part in parts:
            body.append(f"{draw.dot(14, y, colour[part], _DOT)}{_word(24, y + 4, part)}")
            y += 16
    said = f"mean and 95 % interval; unit: {unit}"
    body.append(f"{draw.dot(14, y, _MEAN_COLOUR, _MEAN)}{_word(24, y + 4, said)}")
    return draw.svg(_WIDTH, y + 14, along, "", "", "".join(body))


def _grid(x: Callable[[float], float], ticks: Sequence[float], bottom: float) -> str:
    lines = [
        f"{draw.rule('grid', x(v), draw.TOP - 2, x(v), bottom)}"
        f'<text class="soft" x="{draw.number(x(v))}" y="{draw.number(bottom + 14)}" '
        f'font-size="10.5" text-anchor="middle">{v:g}</text>'
        for v in ticks
    ]
    return "".join(lines) + draw.rule(f"interval k{_MEAN_COLOUR}", x(0), draw.TOP - 2, x(0), bottom)


def _row(row: ForestRow, x: Callable[[float], float], y: float, colour: Mapping[str, int]) -> str:
    low, high = row.ci or (row.mean, row.mean)
    digits = 2 if max(abs(low), abs(high)) < _WHOLE_FROM else 0
    ends = f" [{low:.{digits}f}, {high:.{digits}f}]" if row.ci else ""
    dots = "".join(
        f"<g><title>{text(f'{row.name}, {part}: {value:.2f}')}</title>"
        f"{draw.dot(x(value), y, colour[part], _DOT)}</g>"
        for part, value in row.parts.items()
        if part in colour
    )
    return (
        f"<g {draw.attributes('', row.name, '')}>"
        f"{_word(_LEFT - 8, y + 4, row.name, 'end')}"
        f"{draw.rule(f'interval k{_MEAN_COLOUR}', x(low), y, x(high), y)}"
        f"{draw.dot(x(row.mean), y, _MEAN_COLOUR, _MEAN)}{dots}"
        f"{_word(_WIDTH - _RIGHT + 8, y + 4, f'{row.mean:.{digits}f}{ends}')}</g>"
    )


def _word(x: float, y: float, name: str, anchor: str = "start") -> str:
    at = f'x="{draw.number(x)}" y="{draw.number(y)}" text-anchor="{anchor}"'
    return f'<text {at} font-size="11.5">{text(name, 60)}</text>'
