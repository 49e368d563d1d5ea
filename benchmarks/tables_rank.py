"""Tables and sentences of docs/results/ranking.md, from the results that ship."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from agreement import agreement
from rank import LARGEST, shipped
from tables_kept import markdown_table

from gym_memory.evaluate.rank.page import Table, main_table, more_tables, sentences
from gym_memory.evaluate.rank.suite import load_suite


def first(tier: str) -> str:
    """Return who is first, and the ranking."""
    made = shipped(tier)
    missing = set(load_suite(tier).memories) - {card.memory for card in made}
    said = [*sentences(made), *(f"Not played yet: {memory}." for memory in sorted(missing))]
    _, header, lines = main_table(made)
    return "\n\n".join([*said, markdown_table(header, 1, lines)])


def rest(tier: str) -> str:
    """Return all other tables."""
    return _titled(more_tables(shipped(tier)))


def smoke() -> str:
    """Return how far smoke agrees with standard."""
    return markdown_table(["`smoke` and `standard`", ""], 1, agreement())


def _titled(tables: Iterable[Table]) -> str:
    return "\n".join(
        f"**{title}**\n\n{markdown_table(header, 1, lines)}" for title, header, lines in tables
    )


TABLES: dict[str, Callable[[], str]] = {
    "ranking": partial(first, LARGEST),
    "ranking_more": partial(rest, LARGEST),
    "ranking_streams": partial(first, "streams"),
    "ranking_streams_more": partial(rest, "streams"),
    "smoke": smoke,
}
