"""Tables and sentences of docs/results/ranking.md, from the shipped results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from agreement import agreement
from keep import measured
from leads import World
from rank import LARGEST, shipped, shipped_cells
from tables_kept import by_run, markdown_table, rows_of

from gym_memory.core.names import Spec
from gym_memory.evaluate.rank.card import areas_of
from gym_memory.evaluate.rank.page import Table, main_table, more_tables, sentences
from gym_memory.evaluate.rank.suite import load_suite
from gym_memory.run.results.intervals import gaps, rank_correlation, scores
from gym_memory.run.results.score import format_interval


def first(tier: str) -> str:
    """Return the first memory, and the ranking."""
    made = shipped(tier)
    missing = set(load_suite(tier).memories) - {card.memory for card in made}
    said = [*sentences(made), *(f"Not played yet: {memory}." for memory in sorted(missing))]
    _, header, lines = main_table(made)
    return "\n\n".join([*said, markdown_table(header, 1, lines)])


def played_worlds() -> dict[str, World]:
    """Return the area of each memory in each game of the largest tier, by world."""
    suite, found = load_suite(LARGEST), dict[str, dict[str, dict[str, float]]]()
    for memory, cells in shipped_cells(LARGEST).items():
        for (env, task), area in areas_of(suite, cells, bounded=False).items():
            world = found.setdefault(_world(env), {})
            world.setdefault(Spec(memory).name, {})[task] = area
    return found


_MAKERS = {"Cooking": "TextWorld", "TextWorld": "TextWorld"}
"""Environments with games by a third-party generator."""


def worlds() -> str:
    """Return the worlds of the largest tier, with the best memory and the bound of each."""
    found = shipped_cells(LARGEST)
    known = {card.memory: card for card in shipped(LARGEST)}
    lines, below = [], []
    for part in load_suite(LARGEST).parts:
        for env in part.envs if part.measure == "play" else ():
            own = {m: [c for c in cells if c.env == env and c.part == part.name]
                   for m, cells in found.items()}  # fmt: skip
            best = max((c for c in known.values() if c.rank), key=lambda card: card.worlds[env])
            areas = [known[name].worlds[env] for name in ("none", best.memory, "oracle")]
            games = len(own["none"][0].tasks)
            lines.append(
                [
                    *(_world(env), _MAKERS.get(Spec(env).name, "ours"), str(games)),
                    *(f"{area:.2f}" for area in areas),
                ]
            )
            if areas[2] < areas[1]:
                below.append(f"{_world(env)} ({best.memory})")
    heads = ["world", "maker of its games", "games", "`none`", "best memory", "`oracle`"]
    said = f"`oracle` is below a memory in {', '.join(below) or 'no world'}."
    return f"{markdown_table(heads, 2, lines)}\n{said}\n"


def _world(env: str) -> str:
    name, settings = Spec(env).parts
    shown = (settings.get(key) for key in ("challenge", "level"))
    return " ".join([name, *(str(value) for value in shown if value is not None)])


def models(kept: str, name: str) -> str:
    """Return the scores of another reader beside the planner, and their agreement."""
    trained, *rows = rows_of(kept)
    ranked = {Spec(card.memory).name: card.area.value or 0.0 for card in shipped(LARGEST)}
    played: dict[str, dict[str, list[float]]] = {}
    for row in sorted(rows, key=lambda row: -ranked[row["memory"]]):
        for who, scored in played.setdefault(row["memory"], {"model": [], "rules": []}).items():
            scored += row[who]
    games = min(len(by["model"]) for by in played.values())  # a run may have been stopped
    found = {m: [scores(by[who][:games]) for who in by] for m, by in played.items()}
    lines = [
        [f"`{memory}`", *(f"{one.mean:.2f} {format_interval(one.interval())}" for one in both),
         f"{ranked[memory]:.2f}"]
        for memory, both in found.items()
    ]  # fmt: skip
    table = markdown_table(["memory", name, "planner", "planner, all worlds"], 1, lines)
    model, rules = ([round(both[n].mean, 9) for both in found.values()] for n in (0, 1))
    found_by = {"these games": rules, "all worlds": [ranked[memory] for memory in found]}
    said = ", ".join(f"in {where} {_agreement(model, by)}" for where, by in found_by.items())
    return (
        f"{table}\nSpearman's correlation over {len(found)} memories of the order by the {name} "
        f"with the planner's: {said}. {games} games each; the training took "
        f"{trained['cpu_seconds']} CPU-seconds.\n"
    )


def _agreement(one: Sequence[float], other: Sequence[float]) -> str:
    found = rank_correlation(one, other)
    return f"{found[0]:.2f} {format_interval(found[1])}" if found else "unknown"


def rest(tier: str) -> str:
    """Return all other tables."""
    return _titled(more_tables(shipped(tier)))


def smoke() -> str:
    """Return the agreement of smoke with standard, and the time of both."""
    times = [(f"CPU-seconds of `{tier}` with `arigraph`", str(seconds))
             for tier, seconds in measured("rank_time").items()]  # fmt: skip
    return markdown_table(["`smoke` and `standard`", ""], 1, [*agreement(), *times])


def rewards() -> str:
    """Return the scores of memories with rewards shown, and with rewards hidden."""
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
    "ranking_worlds": worlds,
    "ranking_models": partial(models, "text/mixed.jsonl", "model"),
    "ranking_language": partial(models, "smollm/mixed.jsonl", "language model"),
    "ranking_value": partial(models, "text/value.jsonl", "value of text"),
}
