"""Draw the figures of a run: score with intervals, against steps, trials, tokens and cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol
from zlib import crc32

from gym_memory.draw import svg as draw
from gym_memory.draw.escape import text
from gym_memory.draw.svg import PALETTE, Figure, Line, label_of, line_figure

__all__ = ["Curves", "HeatMap", "Points", "ScoredRow", "SweptScores", "budget_figure"]
__all__ += ["colours", "cost_figures", "curves_figure", "heat_figure", "place", "score_figure"]

Points = list[tuple[float, float]]
Curves = Mapping[tuple[str, str], Mapping[str, tuple[Points, Points]]]
"""Points and band of each memory, by environment and policy."""


class LabelledRow(Protocol):
    """A row with an environment, a memory and a policy as labels."""

    @property
    def env(self) -> str:
        """Return the environment."""

    @property
    def memory(self) -> str:
        """Return the memory."""

    @property
    def policy(self) -> str:
        """Return the policy."""


class ScoredRow(LabelledRow, Protocol):
    """A mean score of ``n`` jobs with its 95 % interval."""

    @property
    def n(self) -> int:
        """Return the number of jobs."""

    @property
    def score(self) -> float:
        """Return the mean score."""

    @property
    def score_ci(self) -> tuple[float, float] | None:
        """Return the interval of the mean."""

    @property
    def tokens(self) -> float | None:
        """Return the recalled tokens per observation."""

    @property
    def cost_usd(self) -> float | None:
        """Return the cost of all jobs."""

    @property
    def budget(self) -> int:
        """Return the token limit."""


class SweptScores(LabelledRow, Protocol):
    """Scores of one memory over token budgets."""

    @property
    def points(self) -> Sequence[ScoredRow]:
        """Return a row for each budget."""


_OWN_COLOUR = (
    "none", "arigraph", "history", "stma", "summary", "rag", "present", "oracle", "shuffled",
    "clin", "ldm2", "reflexion", "simulacra", "belief", "noise", "adversarial", "placebo",
    "amem", "evotest", "expel", "exprag", "exprecent", "fusion", "memp", "memrl", "notes",
    "playbook", "reasoningbank", "simutil", "skills", "workflows",
)  # fmt: skip
"""Memories in the order of :data:`.PALETTE`, so each has the same colour in all pictures."""


def colours(memories: Iterable[str]) -> dict[str, int]:
    """Return the colour of each memory: its own, or the next free one if taken.

    Memories that are not listed, or have parameters, get a colour from their spec.
    """
    order = list(dict.fromkeys(memories))
    found: dict[str, int] = {}
    for memory in sorted(order, key=lambda spec: (spec not in _OWN_COLOUR, spec)):
        listed = memory in _OWN_COLOUR
        own = _OWN_COLOUR.index(memory) if listed else crc32(memory.encode()) % len(PALETTE)
        turn = ((own + further) % len(PALETTE) for further in range(len(PALETTE)))
        found[memory] = next((number for number in turn if number not in found.values()), own)
    return {memory: found[memory] for memory in order}


def place(row: ScoredRow) -> float:
    """Return the position of a score among budgets: the limit, or the tokens if more."""
    return max(row.budget, row.tokens or 0.0, 1.0)


def score_figure(rows: Sequence[ScoredRow], colour: Mapping[str, int]) -> Figure:
    """Draw the mean score of every combination with its interval, one panel per environment."""
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


def _score_panel(env: str, rows: Sequence[ScoredRow], colour: Mapping[str, int]) -> str:
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


def budget_figure(sweep: Sequence[SweptScores], colour: Mapping[str, int]) -> Figure:
    """Draw score against token budget, one panel per environment and policy."""
    panels: dict[tuple[str, str], list[Line]] = {}
    for curve in sweep:
        rows = sorted(curve.points, key=place)
        line = Line(
            curve.env, curve.memory, curve.policy, label_of(curve.memory), colour[curve.memory],
            [(place(row), row.score) for row in rows],
            [row.score_ci or (row.score, row.score) for row in rows],
        )  # fmt: skip
        panels.setdefault((curve.env, curve.policy), []).append(line)
    named = [
        (f"{label_of(policy)} on {label_of(env)}", own) for (env, policy), own in panels.items()
    ]
    played = sorted({row.budget for curve in sweep for row in curve.points})
    at = {float(budget): draw.short(budget) for budget in played}
    title = "Score against token budget"
    return line_figure("budgets", title, named, "tokens", "score", (0.0, 1.0), log=True, at=at)


def curves_figure(
    name: str,
    title: str,
    along: str,
    curves: Curves,
    colour: Mapping[str, int],
    *,
    steps: bool = False,
) -> Figure:
    """Draw curves with their bands, one panel per environment and policy."""
    panels = []
    for (env, policy), memories in curves.items():
        lines = [
            Line(env, memory, policy, label_of(memory), colour[memory], points, band)
            for memory, (points, band) in memories.items()
        ]
        panels.append((f"{label_of(policy)} on {label_of(env)}", lines))
    return line_figure(name, title, panels, along, "score", (0.0, 1.0), steps=steps)


def cost_figures(rows: Sequence[ScoredRow], colour: Mapping[str, int]) -> list[Figure]:
    """Draw score against memory tokens, and against cost if there is any."""
    found = [
        _scatter(
            "tokens", "Memory tokens against score", "tokens of the recalled memory",
            [(row, row.tokens) for row in rows if row.tokens is not None], colour,
        )
    ]  # fmt: skip
    paid = [(row, (row.cost_usd or 0.0) / row.n) for row in rows]
    if any(cost for _, cost in paid):
        found.append(_scatter("cost", "Cost against score", "US dollars a job", paid, colour))
    return found


def _scatter(
    name: str,
    title: str,
    along: str,
    pairs: Sequence[tuple[ScoredRow, float]],
    colour: Mapping[str, int],
) -> Figure:
    panels = []
    for env in dict.fromkeys(row.env for row, _ in pairs):
        lines = []
        for row, value in (pair for pair in pairs if pair[0].env == env):
            names = f"{label_of(row.memory)}, {label_of(row.policy)}"
            label = f"{names}: {row.score:.3f}, {draw.short(value)}"
            point = [(value, row.score)]
            lines.append(Line(env, row.memory, row.policy, label, colour[row.memory], point))
        panels.append((label_of(env), lines))
    return line_figure(name, title, panels, along, "score", (0.0, 1.0), start=0.0)


_LEFT, _TOP, _WIDE, _HIGH = 104, 44, 74, 24
_GAIN, _LOSS = 1, 11
"""Colours of a heat map: blue and red."""


class HeatMap(NamedTuple):
    """Values, in [-1, 1], of one memory and policy by environment and test.

    ``rows`` and ``columns`` have pairs of a key and its short name; ``sign`` is a number format.
    """

    memory: str
    policy: str
    rows: Sequence[tuple[str, str]]
    columns: Sequence[tuple[str, str]]
    values: Mapping[tuple[str, str], float]
    sign: str


def heat_figure(title: str, maps: Sequence[HeatMap]) -> Figure:
    """Draw a panel of coloured cells for each memory and policy."""
    points = [
        (own.policy, own.memory, env, test, f"{own.values[env, test]:.6f}")
        for own in maps
        for env, _ in own.rows
        for test, _ in own.columns
    ]
    head = ("policy", "memory", "learnt in", "tested in", "gain")
    panels = tuple(_heat_panel(own) for own in maps)
    return Figure("transfer", title, panels, draw.csv_text(head, points))


def _heat_panel(own: HeatMap) -> str:
    parts = [
        _word(_LEFT + _WIDE * (column + 0.5), _TOP - 6, "middle", name, 12)
        for column, (_, name) in enumerate(own.columns)
    ]
    for row, (env, name) in enumerate(own.rows):
        y = _TOP + _HIGH * row
        parts.append(_word(_LEFT - 6, y + 16, "end", name, 14))
        for column, (test, _) in enumerate(own.columns):
            x, mean = _LEFT + _WIDE * column, own.values[env, test]
            parts.append(
                f'<rect class="k{_GAIN if mean >= 0 else _LOSS}" stroke-opacity="0" x="{x}" '
                f'y="{y}" width="{_WIDE - 2}" height="{_HIGH - 2}" '
                f'fill-opacity="{min(abs(mean), 1) * 0.7:.2f}"/>'
                f'<text x="{x + _WIDE / 2 - 1:g}" y="{y + 15}" font-size="11" '
                f'text-anchor="middle">{mean:{own.sign}.2f}</text>'
            )
    size = _LEFT + _WIDE * len(own.columns) + 8, _TOP + _HIGH * len(own.rows) + 8
    body = f"<g {draw.attributes('', own.memory, own.policy)}>{''.join(parts)}</g>"
    heading = f"{label_of(own.memory)}, {label_of(own.policy)}"
    return draw.svg(*size, heading, "", own.policy, body)


def _word(x: float, y: float, anchor: str, name: str, most: int) -> str:
    at = f'x="{draw.number(x)}" y="{draw.number(y)}" text-anchor="{anchor}"'
    return (
        f'<text class="soft" {at} font-size="10.5"><title>{text(name)}</title>'
        f"{text(name, most)}</text>"
    )
