"""Tables and sentences of docs/results/ranking.md, from the shipped results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from statistics import mean
from typing import NamedTuple

from agreement import agreement
from keep import measured
from leads import World
from rank import LARGEST, shipped, shipped_cells
from tables_kept import by_run, markdown_table, rows_of

from gym_memory.core.names import Spec
from gym_memory.evaluate.rank.card import areas_of
from gym_memory.evaluate.rank.page import Table, main_table, more_tables, sentences
from gym_memory.evaluate.rank.suite import load_suite
from gym_memory.run.results.intervals import gaps, over_worlds, rank_correlation, scores
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
    rows = rows_of(kept)
    budget = max(row.get("budget", 0) for row in rows)
    ranked = {Spec(card.memory).name: card.area.value or 0.0 for card in shipped(LARGEST)}
    found: dict[str, dict[str, Players]] = {}
    for row in rows:
        if "memory" in row and row.get("budget", 0) == budget:
            world = found.setdefault(row.get("world", ""), {})
            players = world.setdefault(row["memory"], Players([], []))
            players.model.extend(row["model"])
            players.rules.extend(row["rules"])
    played = {memory: Players([], []) for memory in sorted(ranked, key=ranked.__getitem__)[::-1]
              if all(memory in world for world in found.values())}  # fmt: skip
    for world in found.values():
        games = min(len(players.model) for players in world.values())  # a run may have been stopped
        for memory, players in played.items():
            players.model.extend(world[memory].model[:games])
            players.rules.extend(world[memory].rules[:games])
    lines = []
    for memory, both in played.items():
        means = (f"{one.mean:.2f} {format_interval(one.interval())}" for one in map(scores, both))
        lines.append([f"`{memory}`", *means, f"{ranked[memory]:.2f}"])
    table = markdown_table(["memory", name, "planner", "planner, all worlds"], 1, lines)
    model, rules = _means(played)
    by = {"these games": rules, "all worlds": [ranked[memory] for memory in played]}
    said = ", ".join(f"in {where} {_agreement(model, other)}" for where, other in by.items())
    seconds = sum(row.get("cpu_seconds", 0) for row in rows if "memory" not in row)
    return (
        f"{table}\nSpearman's correlation over {len(played)} memories of the order by the {name} "
        f"with the planner's: {said}. {_by_world(found)}{len(both.model)} games each; the "
        f"training took {seconds} CPU-seconds.\n"
    )


class Players(NamedTuple):
    """Scores of another reader and of the planner in the same games, with one memory."""

    model: list[float]
    rules: list[float]


def _means(played: Mapping[str, Players]) -> tuple[list[float], list[float]]:
    model, rules = zip(*([round(mean(one), 9) for one in both] for both in played.values()),
                       strict=True)  # fmt: skip
    return [*model], [*rules]


def _by_world(found: Mapping[str, Mapping[str, Players]]) -> str:
    """Return a sentence on the correlation in each world, empty for one world."""
    known = {world: rank_correlation(*_means(played)) for world, played in found.items()}
    each = {world: correlation[0] for world, correlation in known.items() if correlation}
    if len(each) < 2:
        return ""
    together = over_worlds([*each.values()], [*each])
    shown = ", ".join(f"{_world(world)} {value:.2f}" for world, value in each.items())
    return (
        f"World by world it is {shown}: mean {together.mean:.2f} "
        f"{format_interval(together.interval())}, with the world as the unit. "
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
