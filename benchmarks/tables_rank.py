"""Tables and sentences of docs/results/ranking.md, from the results that ship."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from agreement import agreement
from rank import LARGEST, shipped
from tables_kept import by_run, markdown_table

from gym_memory.evaluate.rank.page import Table, main_table, more_tables, sentences
from gym_memory.evaluate.rank.suite import load_suite
from gym_memory.run.results.intervals import gaps, scores
from gym_memory.run.results.score import format_interval


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


def rewards() -> str:
    """Return what memories come to where they see what a step earned, and where none does."""
    kept = by_run("rewards.jsonl.gz")
    lines = []
    for memory in dict.fromkeys(name.partition("?")[0] for name in kept):
        shown, hidden = (
            {row["task_id"]: row["value"] for row in kept[f"{memory}{setting}"]}
            for setting in ("", "?rewards=hidden")
        )
        gap = gaps([shown[task] - score for task, score in hidden.items()])
        means = (scores([*found.values()]) for found in (shown, hidden))
        line = [f"{one.mean:.2f} {format_interval(one.interval())}" for one in means]
        lines.append([memory, *line, f"{gap.mean:+.2f} {format_interval(gap.interval(), '+')}"])
    heads = ["memory", "rewards shown", "`rewards=hidden`", "shown - hidden"]
    return markdown_table(heads, 1, lines)


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
    "ranking_rewards": rewards,
}
