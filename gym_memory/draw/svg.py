"""Draw figures as SVG without a plotting library: panels of lines, axes, ticks and a legend.

SVG is the one format of all pictures: a page colours and filters its marks (``data-env``,
``data-memory``, ``data-policy``), Markdown shows the file, a browser exports PNG, and the same
numbers give the same bytes.
"""

from __future__ import annotations

import csv
import io
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.names import Spec
from gym_memory.draw.escape import text

__all__ = ["PALETTE", "Figure", "Line", "attributes", "axes", "csv_text", "dot", "label_of"]
__all__ += ["line_figure", "number", "picture", "rule", "short", "short_label", "short_spec"]
__all__ += ["svg", "ticks"]

PALETTE = (
    "#6e6e6e", "#0072b2", "#b36b00", "#007a5a", "#b0508c", "#c04a00", "#2f86b8", "#7a6d00",
    "#7a4fbf", "#6b4226", "#2f4b7c", "#c0392b", "#00897e", "#a3586d", "#1b1b1b", "#667700",
    "#87601a", "#5b5ea6", "#9c27b0", "#455a64", "#8b0000", "#1e6b1e", "#4b0082", "#a8790a",
    "#008b8b", "#c71585", "#556b2f", "#8b4513", "#483d8b", "#2e8b57", "#cd5c5c", "#d2691e",
    "#33691e", "#607d8b",
)  # fmt: skip
"""Colours that colour-blind readers can distinguish, also in style.css (``--c0``, ...)."""
WIDTH, HEIGHT = 380, 210
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 26, 34
_MOST_BANDS = 6
_MOST_DOTS = 30
Spot = Callable[[float, float], tuple[float, float]]
"""Function from values along both axes to a place in the drawing."""
_COLUMNS, _GAP = 3, 16
_STYLE = (
    "".join(f".k{n}{{fill:{c};stroke:{c}}}" for n, c in enumerate(PALETTE))
    + "text{fill:#16202c;font-family:system-ui,'DejaVu Sans',sans-serif}.soft{fill:#566372}"
    ".grid{stroke:#c9d1da}.line{fill:none;stroke-width:2;stroke-linejoin:round}"
    ".band{stroke:none;fill-opacity:.14}.interval{stroke-width:2}"
    ".dot{stroke:#fff;stroke-width:1.5}"
)


class Figure(NamedTuple):
    """A figure, with panels as SVG and points as CSV with a header."""

    name: str
    title: str
    panels: tuple[str, ...]
    csv: str


class Line(NamedTuple):
    """A line of a panel, with labels, points ``(x, y)``, and a band ``(low, high)`` per point."""

    env: str
    memory: str
    policy: str
    label: str
    colour: int
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float]] = ()


def short_spec(spec: str) -> str:
    """Shorten a spec by dropping addresses of servers and stores.

    >>> short_spec("ariadne?base_url=http://localhost:8000/v1&model=qwen")
    'ariadne?model=qwen'
    """
    if "://" not in spec:
        return spec
    name, kwargs = Spec(spec).parts
    short = {key: _without_address(value) for key, value in kwargs.items()}
    return Spec.of(name, {key: value for key, value in short.items() if value != ""})


def _without_address(value: Any) -> Any:
    if not isinstance(value, str) or "://" not in value:
        return value
    return short_spec(value) if "?" in value.partition("://")[0] else ""


def short_label(spec: str, width: int = 22) -> str:
    r"""Return a spec on a few short lines: its name, then its values.

    >>> short_label("Cooking?level=medium&split=test")
    'Cooking\nmedium, test'
    """
    name, kwargs = Spec(short_spec(spec)).parts
    lines = [name]
    for key, value in kwargs.items():
        word = value if isinstance(value, str) else f"{key}={value}"
        if len(lines) > 1 and len(lines[-1]) + len(word) + 2 <= width:
            lines[-1] += f", {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def label_of(spec: str) -> str:
    """Return a spec on one line, without the names of its parameters; empty for ``none``."""
    return short_label(spec, 60).replace("\n", ", ") if spec else ""


def picture(figure: Figure, legend: Mapping[str, int]) -> str:
    """Return a figure as one SVG file; ``legend`` maps labels to numbers of colours."""
    sizes = [_size(panel) for panel in figure.panels]
    columns = min(_COLUMNS, max(len(sizes), 1))
    wide = max((width for width, _ in sizes), default=WIDTH) + _GAP
    total = columns * wide + _GAP
    y, parts = 34.0, []
    for start in range(0, len(sizes), columns):
        row = range(start, min(start + columns, len(sizes)))
        for column, index in enumerate(row):
            at = f'<svg x="{number(_GAP + column * wide)}" y="{number(y)}" '
            parts.append(figure.panels[index].replace("<svg ", at, 1))
        y += max(sizes[index][1] for index in row) + _GAP
    x = float(_GAP)
    for name, colour in legend.items():
        lines = textwrap.wrap(name, int((total - 2 * _GAP) / 7)) or [""]
        span = 7 * max(map(len, lines)) + 34
        if x > _GAP and x + span > total:
            x, y = float(_GAP), y + 18
        parts.append(dot(x + 6, y + 6, colour, 5.5))
        for line in lines:
            at = f'x="{number(x + 16)}" y="{number(y + 10)}"'
            parts.append(f'<text {at} font-size="11.5">{text(line)}</text>')
            y += 18 * (line is not lines[-1])
        x += span
    head = f'<text x="{_GAP}" y="22" font-size="14" font-weight="600">{text(figure.title)}</text>'
    size = f'width="{number(total)}" height="{number(y + 24)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {number(total)} {number(y + 24)}"><style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>{head}{"".join(parts)}</svg>\n'
    )


def _size(panel: str) -> tuple[float, float]:
    head = panel.partition(">")[0]
    width, height = (
        head.partition(f' {key}="')[2].partition('"')[0] for key in ("width", "height")
    )
    return float(width), float(height)


def attributes(env: str, memory: str, policy: str) -> str:
    """Return the attributes for finding the marks of an environment, memory and policy."""
    names = {"env": env, "memory": memory, "policy": policy}
    return " ".join(f'data-{key}="{text(value)}"' for key, value in names.items() if value)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV with a header."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()


def number(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def short(value: float) -> str:
    """Format a number of an axis: 1500 as 1.5k."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    if 0 < abs(value) < 0.01:
        return f"{value:.2g}" if "e" in f"{value:.2g}" else f"{value:.1e}".replace("e-0", "e-")
    return f"{value:.4g}"


def dot(x: float, y: float, colour: int, radius: float) -> str:
    """Return a filled circle."""
    return f'<circle class="dot k{colour}" cx="{number(x)}" cy="{number(y)}" r="{radius:g}"/>'


def rule(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """Return a straight line."""
    ends = f'x1="{number(x1)}" x2="{number(x2)}" y1="{number(y1)}" y2="{number(y2)}"'
    return f'<line class="{kind}" {ends}/>'


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers from ``low`` to ``high``."""
    if high <= low:
        return [low + 0.0]
    raw = (high - low) / most
    size = 10.0 ** np.floor(np.log10(raw))
    step = next(s * size for s in (1, 2, 2.5, 5, 10) if s * size >= raw * 0.999)
    first = np.ceil(low / step - 1e-9) * step
    return [float(v) + 0.0 for v in np.arange(first + 0.0, high + step * 1e-6, step)]


def _decades(low: float, high: float) -> list[float]:
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    return [10.0**power for power in powers] or [low, high]


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
    at: Mapping[float, str] | None = None,
    start: float | None = None,
) -> Figure:
    """Draw panels, each with a title and lines.

    ``span`` is the axis of values, widened to include all points. ``steps``: a value holds until
    the next place; ``log``: places are shown at their logarithm; ``at``: places to be labelled;
    ``start``: a place that is shown in any case.
    """
    svgs, points = [], []
    for heading, lines in panels:
        svgs.append(_line_panel(heading, lines, along, span, steps, log, at, start))
        for line in lines:
            for n, (x, y) in enumerate(line.points):
                band = [f"{v:.6g}" for v in line.band[n]] if line.band else ["", ""]
                points.append(
                    (line.env, line.memory, line.policy, line.label, short(x), f"{y:.6g}", *band)
                )
    header = ("environment", "memory", "policy", "line", along, value, "low", "high")
    return Figure(name, title, tuple(svgs), csv_text(header, points))


def _line_panel(
    heading: str,
    lines: Sequence[Line],
    along: str,
    span: tuple[float, float] | None,
    steps: bool,
    log: bool,
    at: Mapping[float, str] | None,
    start: float | None,
) -> str:
    places = [x for line in lines for x, _ in line.points]
    places += [] if start is None else [start]
    values = [y for line in lines for _, y in line.points]
    low, high = span or (min(0.0, *values), max(values))
    if span:
        bands = [y for line in lines for ends in line.band for y in ends]
        low, high = min(low, *values, *bands), max(high, *values, *bands)
    round_ = _decades if log else ticks
    labels = at or {x: short(x) for x in round_(min(places), max(places))}
    if log:
        places = [math.log10(x) for x in places]
    first, last = min(places), max(places)
    scale_x = (WIDTH - LEFT - RIGHT) / ((last - first) or 1)
    scale_y = (HEIGHT - TOP - BOTTOM) / ((high - low) or 1)

    def spot(x: float, y: float) -> tuple[float, float]:
        along_x = math.log10(x) if log else x
        return LEFT + (along_x - first) * scale_x, HEIGHT - BOTTOM - (y - low) * scale_y

    single = [spot(*line.points[0]) for line in lines if len(line.points) == 1]
    taken = [(x - 4, y + 3.5, 8.0) for x, y in single]
    banded = len(lines) <= _MOST_BANDS
    parts = [
        axes(spot, labels, ticks(low, high, 4), along),
        *(_curve(line, spot, steps=steps, banded=banded, taken=taken) for line in lines),
    ]
    policies = {line.policy for line in lines}
    policy = policies.pop() if len(policies) == 1 else ""
    env = lines[0].env if lines else ""
    return svg(WIDTH, HEIGHT, heading, env, policy, "".join(parts))


def _curve(
    line: Line, spot: Spot, *, steps: bool, banded: bool, taken: list[tuple[float, float, float]]
) -> str:
    """Return a line with its band and points; a single point has the memory's name beside it."""
    body = f"<title>{text(line.label)}</title>"
    if line.band and banded:
        lows = [(x, b[0]) for (x, _), b in zip(line.points, line.band, strict=True)]
        highs = [(x, b[1]) for (x, _), b in zip(line.points, line.band, strict=True)]
        upper = _way(spot, highs, steps=steps)
        lower = _way(spot, lows, steps=steps, back=True)
        body += f'<path class="band k{line.colour}" d="M{upper}L{lower}Z"/>'
    body += f'<path class="line k{line.colour}" d="M{_way(spot, line.points, steps=steps)}"/>'
    if not steps and len(line.points) <= _MOST_DOTS:
        places = [spot(x, y) for x, y in line.points]
        body += "".join(dot(x, y, line.colour, 4) for x, y in places)
        if len(places) == 1:
            body += _point_label(label_of(line.memory), *places[0], taken)
    return f"<g {attributes(line.env, line.memory, line.policy)}>{body}</g>"


def _point_label(name: str, x: float, y: float, taken: list[tuple[float, float, float]]) -> str:
    """Return a label near a point that avoids all of ``taken``; empty if there is no room."""
    wide = 6.0 * min(len(name), 20)
    beside = [left for left in (x + 7, x - 7 - wide) if left > LEFT and left + wide < WIDTH]
    rows = range(-int((y - TOP) // 11), int((HEIGHT - BOTTOM - y) // 11) + 1)
    for row in sorted(rows, key=lambda row: (abs(row), -row)):  # the nearest first, then below
        down = y + 3.5 + 11 * row
        for left in beside:
            if not any(
                abs(down - b) < 11 and left < a + w and a < left + wide for a, b, w in taken
            ):
                taken.append((left, down, wide))
                at = f'x="{number(left)}" y="{number(down)}"'
                return f'<text class="soft" {at} font-size="10.5">{text(name, 20)}</text>'
    return ""


def _way(
    at: Spot, points: Sequence[tuple[float, float]], *, steps: bool, back: bool = False
) -> str:
    corners: list[tuple[float, float]] = []
    for n, (x, y) in enumerate(points):
        if steps and n:
            corners.append(at(x, points[n - 1][1]))
        corners.append(at(x, y))
    if back:
        corners.reverse()
    return "L".join(f"{number(x)} {number(y)}" for x, y in corners)


def axes(at: Spot, along: Mapping[float, str], up: Sequence[float], name: str) -> str:
    """Return grid lines, axis values and the name of the horizontal axis."""
    parts = []
    for value in up:
        _, y = at(next(iter(along)), value)
        parts.append(
            f"{rule('grid', LEFT, y, WIDTH - RIGHT, y)}"
            f'<text class="soft" x="{LEFT - 6}" y="{number(y + 3.5)}" font-size="10.5" '
            f'text-anchor="end">{short(value)}</text>'
        )
    for value, label in along.items():
        x, _ = at(value, up[0])
        parts.append(
            f'<text class="soft" x="{number(x)}" y="{HEIGHT - BOTTOM + 14}" font-size="10.5" '
            f'text-anchor="middle">{text(label)}</text>'
        )
    parts.append(
        f'<text class="soft" x="{WIDTH - RIGHT}" y="{HEIGHT - 5}" font-size="10.5" '
        f'text-anchor="end">{text(name)}</text>'
    )
    return "".join(parts)


def svg(width: float, height: float, heading: str, env: str, policy: str, body: str) -> str:
    """Return a panel with its heading."""
    return (
        f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" width="{number(width)}" '
        f'height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}" role="img" '
        f'aria-label="{text(heading)}" {attributes(env, "", policy)}>'
        f"{_heading(heading, width)}"
        f"{body}</svg>"
    )


def _heading(heading: str, width: float) -> str:
    """Return a heading, in a smaller size if it is long."""
    size = min(12.5, (width - 8) / max(len(heading), 1) / 0.64)
    length = f' textLength="{number(width - 8)}" lengthAdjust="spacingAndGlyphs"'
    fitted = length if size < 8 else ""
    shown = f'font-size="{max(size, 8):.3g}" font-weight="600"{fitted}'
    return f'<text x="4" y="14" {shown}>{text(heading)}</text>'
