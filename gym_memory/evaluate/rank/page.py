"""Show cards: the table of a ranking, its page, and the figure of exam against play."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from gym_memory.core.html import frame, inline_page, table, text
from gym_memory.core.names import parse_spec
from gym_memory.evaluate.rank.card import Card, Number, Rank, correlation, place
from gym_memory.evaluate.rank.suite import Suite
from gym_memory.run.results.figures import colours
from gym_memory.run.results.html import COMPARISON
from gym_memory.run.results.score import format_interval
from gym_memory.run.results.svg import Figure, Line, label_of, line_figure

__all__ = ["exam_figure", "main_table", "more_tables", "numbers", "page"]

Table = tuple[str, list[str], list[list[str]]]
"""Title, header and lines."""

_RANKS = (
    "Area: the score under all budgets, over their logarithm. Intervals are 95 %, over games.",
    "Ranks are ranges; memories whose ranges overlap tie. Intervals of gaps are corrected for their"
    " number.",
    "Controls and memories that failed the audit have no rank.",
)
_EPISODES = (
    "Planner results measure the retrieval of typed facts; the text arm has the rendered text"
    " alone, whose statements it reads by a grammar that no memory uses.",
)
_STREAMS = (
    "A game is a task that the learner plays after others, with the memory of all before it: the"
    " mean over the orders.",
    "The learner follows a plan that lessons give, else it explores; it cannot use facts.",
)


def main_table(cards: Sequence[Card]) -> Table:
    """Return the ranking: what is played, what it costs."""
    over = [f"over {parse_spec(control).name}" for control in cards[0].gains] if cards else []
    header = ["memory", "rank", "area", "score", *over, "text", "exam"]
    header += ["tokens", "ms", "bytes", "calls", "failed"]
    lines = [
        [
            card.memory,
            _rank(card.rank) if card.rank else "control" if card.control else "not ranked",
            *(_number(n) for n in (card.area, card.score)),
            *(_number(n, "+") for n in card.gains.values()),
            *(_number(n) for n in (card.text, card.exam)),
            *(f"{card.tokens:.0f}", f"{card.ms:.1f}", f"{card.bytes:,.0f}"),
            *(f"{card.calls:g}", str(card.failed)),
        ]
        for card in cards
    ]
    kept = [any(line[n] != "–" for line in lines) for n in range(len(header))]
    header, *lines = (list(compress(row, kept)) for row in (header, *lines))
    return "Ranking", header, lines


def more_tables(cards: Sequence[Card]) -> list[Table]:
    """Return worlds, the exam by ability, and why memories are not ranked."""
    worlds = list(dict.fromkeys(env for card in cards for env in card.worlds))
    abilities, names = (cards[0].abilities, cards[0].names) if cards else ({}, {})
    faults = [[card.memory, fault] for card in cards for fault in card.faults if not card.control]
    tables: list[Table] = [
        (
            "Area by world, and ranks as each world is left out",
            ["memory", *map(label_of, worlds), "over none, by worlds", "ranks"],
            [
                [
                    card.memory,
                    *(f"{card.worlds[env]:.2f}" if env in card.worlds else "–" for env in worlds),
                    _number(card.over_worlds, "+"),
                    _rank(card.left_out),
                ]
                for card in cards
            ],
        ),
        (
            "Exam by ability: right answers at 500 tokens, no language model",
            ["memory", *abilities, *(f"names={name}" for name in names)],
            [
                [card.memory, *map(_number, (*card.abilities.values(), *card.names.values()))]
                for card in cards
            ],
        ),
        ("Not ranked", ["memory", "reason"], faults),
    ]
    shown = (len(worlds) > 1, any(card.exam.n for card in cards), bool(faults))
    return list(compress(tables, shown))


def numbers(header: Sequence[str]) -> Sequence[str]:
    """Return the columns that hold numbers: all but a memory, or a memory and a reason."""
    return header[1:] if len(header) > 2 else ()


def exam_figure(cards: Sequence[Card]) -> Figure:
    """Return exam against play, a point a memory."""
    found = correlation(cards)
    points = [(card.memory, at) for card in cards if (at := place(card))]
    colour = colours(memory for memory, _ in points)
    lines = [Line("", m, "", m, colour[m], [at]) for m, at in points]
    said = f"Rank correlation {_number(found)} over {found.n} memories"
    panel = (said if found.ci else "Too few memories for a correlation", lines)
    title = "Does the exam predict play?"
    return line_figure("exam-and-play", title, [panel], "exam", "area", (0.0, 1.0))


def page(suite: Suite, cards: Sequence[Card]) -> str:
    """Return ``rank.html``."""
    shown = [
        table(header, lines, caption=title, numbers=numbers(header))
        for title, header, lines in (main_table(cards), *more_tables(cards))
    ]
    notes = [*_RANKS, *(_STREAMS if suite.is_stream else _EPISODES)]
    tables = "".join(f'<div class="card panels">{one}</div>' for one in shown)
    figure = exam_figure(cards) if any(card.exam.n for card in cards) else None
    title = f"The ranking, tier {suite.tier}, suite {suite.version}"
    main = f"<ul>{''.join(f'<li>{text(note)}</li>' for note in notes)}</ul>{tables}"
    if figure is not None:
        caption = f"<figcaption>{text(figure.title)}</figcaption>"
        main += f"<figure>{caption}{''.join(figure.panels)}</figure>"
    return inline_page(title, frame(title, f'<div class="page">{main}</div>'), COMPARISON)


def _number(number: Number, sign: str = "") -> str:
    if number.value is None:
        return "–"
    ends = f" {format_interval(number.ci, sign)}" if number.ci else ""
    return f"{number.value:{sign}.2f}{ends}"


def _rank(rank: Rank | None) -> str:
    return "–" if rank is None else str(rank[0]) if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}"
