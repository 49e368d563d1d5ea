"""Show the cards of a ranking: sentences, tables, ``rank.html`` and figures.

Memories that played alike share one line. The controls ``none`` and ``placebo`` come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress

from gym_memory.core.names import Spec
from gym_memory.draw.comparison import COMPARISON, TitledTable, wide_table
from gym_memory.draw.escape import text
from gym_memory.draw.figures import colours
from gym_memory.draw.forest import ForestRow, forest_figure
from gym_memory.draw.page import frame, inline_page, table
from gym_memory.draw.svg import Figure, Line, label_of, line_figure
from gym_memory.evaluate.rank.card import Card, Number, Rank, correlation, place
from gym_memory.evaluate.rank.suite import Suite
from gym_memory.run.results.score import format_interval, grouped

__all__ = ["Table", "exam_figure", "first_of", "lead_figure", "main_table", "more_tables"]
__all__ += ["numbers", "page", "sentences"]

Table = tuple[str, list[str], list[list[str]]]
"""Title, header and rows of a table."""

_FIRST_LINES = ("none", "placebo?of=memrl")
"""Controls, shown above the memories."""
_MOST_NAMED = 5
_RANKS = (
    "Area: the score under all budgets, over their logarithm. Intervals are 95 %. Those of scores"
    " are over games; those of gaps (behind, over) take the world as the unit where there are"
    " several.",
    "Ranks here are ranges, over the games of these worlds; memories whose ranges overlap tie. They"
    " are corrected for the number of gaps, and memories that played alike count once.",
    "Controls and memories that failed the audit have no rank.",
)
_EPISODES = (
    "Planner results measure the retrieval of typed facts; the text arm has the rendered text"
    " alone, whose statements it reads by a grammar that no memory uses.",
    "Stale: share of games in which a recall states where a thing is that was moved out of view."
    " Poisoned: share of games in which one states what a text that lies says.",
)
_STREAMS = (
    "A game is a task that the learner plays after others, with the memory of all before it: the"
    " mean over the orders.",
    "The learner follows a plan that lessons give, else it explores; it cannot use facts.",
)


def first_of(cards: Sequence[Card]) -> Card | None:
    """Return the ranked memory with the largest area."""
    return max((c for c in cards if c.rank), key=lambda card: card.area.value or 0.0, default=None)


def sentences(cards: Sequence[Card]) -> list[str]:
    """Return sentences on the first memory, or on the lack of a clear first, and on equal play."""
    first, found = first_of(cards), []
    lines = [card for card in _lines(cards) if card.rank and card is not first]
    if first is not None and lines:
        unsure = [_name(card) for card in lines if card.behind.ci is None or card.behind.ci[0] <= 0]
        unit = f"{len(first.worlds)} worlds" if len(first.worlds) > 1 else "the games of one world"
        lead = f"Over {unit}, the lead of {_name(first)}"
        if not unsure:
            found.append(f"{lead} over each other memory excludes 0: it is first.")
        else:
            named = ", ".join(unsure[:_MOST_NAMED])
            more = len(unsure) - _MOST_NAMED
            named += f" and {more} more" * (more > 0)
            found.append(f"No memory is surely first. {lead} does not exclude 0 over {named}.")
    for card in {card.group: card for card in reversed(cards) if card.group}.values():
        members = ", ".join((card.memory, *card.stands_for))
        found.append(
            f"{card.group} play a first episode as their inner memory does, all alike: {members}."
        )
    for measures, memories in grouped(cards, lambda card: card.unshown).items():
        if measures:
            others = [card for card in cards if card not in memories]
            whose = _names(memories)
            if len(others) < len(memories):
                whose = f"all but {_names(others)}" if others else "all memories"
            found.append(
                f"Partly from before every memory saw what a step earned: {', '.join(measures)} of"
                f" {whose}."
            )
    return found


def main_table(cards: Sequence[Card]) -> Table:
    """Return the ranking: what is played, with the gap to the best memory and to controls."""
    first = first_of(cards)
    over = [f"over {Spec(control).name}" for control in cards[0].gains] if cards else []
    behind = f"behind {first.memory}" if first else "behind"
    header = ["memory", "rank here", "area", behind, *over, "text", "stale", "poisoned"]
    lines = [
        [
            _name(card),
            _rank(card.rank) if card.rank else "control" if card.control else "not ranked",
            *(_number(n) for n in (card.area, card.behind)),
            *(_number(n, "+") for n in card.gains.values()),
            *(_number(n) for n in (card.text, card.stale, card.poisoned)),
        ]
        for card in _lines(cards)
    ]
    return "Ranking", *_kept(header, lines)


def more_tables(cards: Sequence[Card]) -> list[Table]:
    """Return worlds, the exam by ability and by names, costs, and why memories are not ranked."""
    worlds = list(dict.fromkeys(env for card in cards for env in card.worlds))
    exams: tuple[tuple[str, Callable[[Card], Mapping[str, Number]]], ...] = (
        ("ability", lambda card: {"all": card.exam, **card.abilities}),
        ("how things are named", lambda card: card.names),
    )
    faults = [[card.memory, fault] for card in cards for fault in card.faults if not card.control]
    lines = _lines(cards)
    tables: list[Table] = [
        (
            "Area by world",
            ["memory", *map(label_of, worlds)],
            [
                [
                    _name(card),
                    *(f"{card.worlds[env]:.2f}" if env in card.worlds else "–" for env in worlds),
                ]
                for card in lines
            ],
        ),
        *(
            (
                f"Exam by {what}: right answers at 500 tokens, no language model",
                ["memory", *(of(cards[0]) if cards else ())],
                [[_name(card), *map(_number, of(card).values())] for card in lines],
            )
            for what, of in exams
        ),
        (
            "Score at 1,000 tokens, and costs over all budgets",
            ["memory", "score", "tokens", "ms", "bytes", "calls", "failed"],
            [
                [
                    *(card.memory, _number(card.score), f"{card.tokens:.0f}", f"{card.ms:.1f}"),
                    *(f"{card.bytes:,.0f}", f"{card.calls:g}", str(card.failed)),
                ]
                for card in cards
            ],
        ),
        ("Not ranked", ["memory", "reason"], faults),
    ]
    asked = any(card.exam.n for card in cards)
    return list(compress(tables, (len(worlds) > 1, asked, asked, bool(cards), bool(faults))))


def numbers(header: Sequence[str]) -> Sequence[str]:
    """Return the numeric columns: all but the first; none in a table of two columns."""
    return header[1:] if len(header) > 2 else ()


def lead_figure(cards: Sequence[Card]) -> Figure:
    """Return how far each memory is behind the best one, in each world and over worlds."""
    first = first_of(cards)
    worlds = list(dict.fromkeys(env for card in cards for env in card.worlds))
    rows = [
        ForestRow(
            _name(card),
            card.behind.value,
            card.behind.ci,
            {label_of(env): first.worlds[env] - area for env, area in card.worlds.items()},
        )
        for card in _lines(cards)
        if first and card is not first and card.behind.value is not None
    ]
    name = first.memory if first else "the best"
    unit = "the world" if len(worlds) > 1 else "the game"
    title, along = f"How far behind {name}?", f"area of {name} less that of the memory"
    return forest_figure("leads", title, along, rows, [*map(label_of, worlds)], unit)


def exam_figure(cards: Sequence[Card]) -> Figure:
    """Plot exam against play, one point per memory."""
    found = correlation(cards)
    points = [(card.memory, at) for card in cards if (at := place(card))]
    colour = colours(memory for memory, _ in points)
    lines = [Line("", m, "", m, colour[m], [at]) for m, at in points]
    said = f"Rank correlation {_number(found)} over {found.n} memories"
    panel = (said if found.ci else "Too few memories for a correlation", lines)
    title = "Does the exam predict play?"
    return line_figure("exam-and-play", title, [panel], "exam", "area", (0.0, 1.0))


def page(suite: Suite, cards: Sequence[Card], own: Sequence[str] = ()) -> str:
    """Return ``rank.html``; the rows of the user's memories are highlighted."""
    tables = "".join(
        wide_table(TitledTable(title, table(header, lines, numbers=numbers(header), marked=own)))
        for title, header, lines in (main_table(cards), *more_tables(cards))
    )
    notes = [*_RANKS, *(_STREAMS if suite.is_stream else _EPISODES)]
    said = "".join(f"<p>{text(sentence)}</p>" for sentence in sentences(cards))
    exam = _figure(exam_figure(cards)) if any(card.exam.n for card in cards) else ""
    lead = _figure(lead_figure(cards)) if any(card.behind.n for card in cards) else ""
    title = f"The ranking, tier {suite.tier}, suite {suite.version}"
    main = (
        f"{lead}{said}{tables}<ul>{''.join(f'<li>{text(note)}</li>' for note in notes)}</ul>{exam}"
    )
    return inline_page(title, frame(title, f'<div class="page">{main}</div>'), COMPARISON)


def _figure(figure: Figure) -> str:
    caption = f"<figcaption>{text(figure.title)}</figcaption>"
    return f"<figure>{caption}{''.join(figure.panels)}</figure>"


def _lines(cards: Sequence[Card]) -> list[Card]:
    """Return one card per line: the first of each group, below the controls."""
    shown = {card.group or card.memory: card for card in reversed(cards)}
    above = [shown[name] for name in _FIRST_LINES if name in shown]
    return above + [card for card in cards if card in shown.values() and card not in above]


def _name(card: Card) -> str:
    """Return the label of a line: the group of its memory, or else the memory."""
    return card.group or card.memory


def _names(cards: Iterable[Card]) -> str:
    return ", ".join(card.memory for card in cards)


def _kept(header: list[str], lines: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Drop columns without a number."""
    kept = [any(line[n] != "–" for line in lines) for n in range(len(header))]
    return list(compress(header, kept)), [list(compress(line, kept)) for line in lines]


def _number(number: Number, sign: str = "") -> str:
    if number.value is None:
        return "–"
    ends = f" {format_interval(number.ci, sign)}" if number.ci else ""
    return f"{number.value:{sign}.2f}{ends}"


def _rank(rank: Rank) -> str:
    return str(rank[0]) if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}"
