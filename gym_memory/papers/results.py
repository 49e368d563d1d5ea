"""Compare results of a published experiment with the paper's, and draw its figures."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gym_memory.baselines.base import POLICIES
from gym_memory.core.files import write_atomic
from gym_memory.core.names import Spec
from gym_memory.draw.figures import colours, score_figure
from gym_memory.draw.svg import Figure, Line, label_of, line_figure, picture
from gym_memory.papers.comparison import Comparison, TableCell
from gym_memory.papers.experiments import PaperExperiment
from gym_memory.papers.measures import GAINS, MEASURES, growth, tokens_of
from gym_memory.papers.presets import settings_taken
from gym_memory.run.config import EpisodeRow
from gym_memory.run.protocols import make_protocol
from gym_memory.run.results.labels import SCRIPTED, decider
from gym_memory.run.results.pages import curve_figures
from gym_memory.run.results.score import (
    TableRow,
    Unit,
    combination,
    grouped,
    table,
    total_cost,
    units,
)

__all__ = ["Played", "draw", "labels_of", "measures_of", "records", "row_names", "short_names"]

Played = Sequence[tuple[Comparison, Sequence[EpisodeRow]]]
"""Finished comparisons with their episodes."""
_ALL = "all"
_ABSENT = object()


def measures_of(experiment: PaperExperiment) -> list[str]:
    """Return the measures of an experiment: score, success and the paper's."""
    reported = [*experiment.expected.values()]
    reported += [numbers for one in experiment.published for numbers in one.numbers.values()]
    named = {"score", "success", *experiment.shown}.union(*reported)
    return [name for name in (*MEASURES, *GAINS) if name in named]


def short_names(specs: Iterable[str]) -> dict[str, str]:
    """Shorten specs by dropping parameters with equal values in all.

    A parameter that some specs lack is kept if names would be equal without it.

    >>> list(short_names(["rag?by=hash&k=5", "rag?by=hash&k=9", "clin?past=2"]).values())
    ['rag?k=5', 'rag?k=9', 'clin']
    >>> list(short_names(["stma?hops=2", "stma?critic=false&hops=2", "stma?memory=false"]).values())
    ['stma', 'stma?critic=false', 'stma?memory=false']
    """
    short: dict[str, str] = {}
    for own in grouped(dict.fromkeys(specs), lambda spec: Spec(spec).name).values():
        given = {spec: Spec(spec).kwargs for spec in own}
        values = {
            key: [kwargs.get(key, _ABSENT) for kwargs in given.values()]
            for key in dict.fromkeys(key for kwargs in given.values() for key in kwargs)
        }
        idle = {k for k, found in values.items() if len({*map(repr, found)} - {repr(_ABSENT)}) < 2}
        # Parts that only some have distinguish the names; of these the commonest go.
        idle = {k for k in idle if 2 * values[k].count(_ABSENT) < len(own)}
        names = _without(idle, given)
        if len({*names.values()}) < len(own):
            names = _without({k for k in idle if _ABSENT not in values[k]}, given)
        short |= names
    return short


def _without(idle: Container[str], given: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {
        spec: Spec.of(Spec(spec).name, {k: v for k, v in kwargs.items() if k not in idle})
        for spec, kwargs in given.items()
    }


def row_names(experiment: PaperExperiment, envs: Iterable[str]) -> dict[str, str]:
    """Return environments by the paper's names of rows, such as Temp1, and short names."""
    short = short_names(envs)
    for env in short:
        for value in Spec(env).kwargs.values():
            if value in experiment.rows:
                short[env] = f"{experiment.rows[value]}:{value}"
    return short


def records(experiment: PaperExperiment, played: Played) -> list[dict[str, Any]]:
    """Return a record per cell: our value, the paper's and their difference for each measure.

    A record says who answered, on which seeds, and what keeps it from being ``comparable``. After
    the cells of one agent in several environments come records for groups of them and for all.
    Systems that are not played come last, with the paper's numbers alone.
    """
    names = measures_of(experiment)
    cells = list(_cells(played))
    based = {
        (cell.env, unit.seed): unit
        for _, cell, group in cells
        if cell[1:] == experiment.base
        for unit in group
    }
    found: list[dict[str, Any]] = []
    for part, cell, group in cells:
        rows = [row for p, played_rows in played if p is part for row in played_rows]
        rows = [row for row in rows if combination(row.job) == combination(group[0])]
        (scored,) = table(group)
        ours, theirs = tokens_of(rows, experiment.tokens_per), experiment.tokens.get(cell.memory)
        reasons = _reasons(experiment, part, group, scored)
        found.append({
            "part": part.name,
            "protocol": group[0].protocol,
            **cell._asdict(),
            "n": len(group),
            "n_failed": scored.n_failed,
            "score_ci": scored.score_ci,
            **_compared(
                _measured(names, group, {} if cell[1:] == experiment.base else based, cell),
                experiment.expected.get(cell, {}),
            ),
            "tokens": list(ours) if ours else None,
            "paper_tokens": list(theirs) if theirs else None,
            "cost_usd": scored.cost_usd,
            "model": decider(scored.models),
            "seeds": scored.seeds,
            "max_steps": scored.max_steps,
            "comparable": not reasons,
            "reasons": reasons,
        })  # fmt: skip
    found = list(_with_means(experiment, names, found))
    return [*found, *_best(experiment, names, found), *_published(experiment)]


def _reasons(
    experiment: PaperExperiment, part: Comparison, group: Sequence[Unit], scored: TableRow
) -> list[str]:
    """Return the reasons why a cell is not comparable with the paper's number."""
    found = list(part.doubts[TableCell(*combination(group[0]))])
    if SCRIPTED in scored.models:
        found.insert(0, "scripted rules answered")
    elif not scored.models and "base_url" in settings_taken(POLICIES, scored.policy):
        found.insert(0, "rules decided")
    games = scored.n if part.config.task_id else scored.n_tasks
    if games < part.games:
        found.append(f"{games} of {part.games} games")
    tasks = {unit.task_id for unit in group}
    marks = experiment.ours.items()
    found += [said for mark, said in marks if any(task.startswith(mark) for task in tasks)]
    return found


def labels_of(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """Describe the models, seeds and steps of records, and how many are comparable."""
    played = [row for row in found if "comparable" in row]
    who = dict.fromkeys(row["model"] for row in played if row["model"])
    seeds = dict.fromkeys(row["seeds"] for row in played)
    limits = dict.fromkeys(row["max_steps"] for row in played)
    steps = [f"at most {limit}" if limit else "the game's own" for limit in limits]
    reasons = dict.fromkeys(reason for row in played for reason in row["reasons"])
    why = f" Not comparable, since: {'; '.join(reasons)}." if reasons else ""
    count = sum(row["comparable"] for row in played)
    return [
        f"Calls for a language model are answered by {', '.join(who) or 'none'}.",
        f"Seeds {'; '.join(seeds)}. Steps of an episode: {', '.join(steps)}.",
        f"{count} of {len(played)} lines can be compared with the paper's numbers.{why}",
    ]


def _cells(played: Played) -> Iterator[tuple[Comparison, TableCell, list[Unit]]]:
    for part, rows in played:
        for cell, group in grouped(units(rows) if part.cells else [], combination).items():
            yield part, part.cells[TableCell(*cell)], group


def _measured(
    names: Sequence[str], group: Sequence[Unit], based: Mapping[Any, Unit], cell: TableCell
) -> dict[str, float | None]:
    pairs = [(u, based[cell.env, u.seed]) for u in group if (cell.env, u.seed) in based]
    return {n: MEASURES[n](group) if n in MEASURES else GAINS[n](pairs) for n in names}


def _compared(
    ours: Mapping[str, float | None], theirs: Mapping[str, float]
) -> dict[str, float | None]:
    row: dict[str, float | None] = {}
    for name, value in ours.items():
        paper = theirs.get(name)
        gap = None if value is None or paper is None else value - paper
        row |= {name: value, f"paper_{name}": paper, f"difference_{name}": gap}
    return row


def _with_means(
    experiment: PaperExperiment, names: Sequence[str], found: Sequence[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield records, followed, for each agent, by means over groups and over all environments."""
    for own in grouped(found, lambda row: (row["memory"], row["policy"], row["protocol"])).values():
        yield from own
        groups = {**experiment.groups, _ALL: tuple(row["env"] for row in own)}
        for name, envs in groups.items():
            inside = [row for row in own if row["env"] in envs]
            if len({row["env"] for row in inside}) > 1:
                yield _mean_record(experiment, names, name, inside)


def _mean_record(
    experiment: PaperExperiment, names: Sequence[str], name: str, own: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return the mean of an agent's records, weighted by episodes if pooled."""
    memory, policy = own[0]["memory"], own[0]["policy"]
    weights = [row["n"] if experiment.pool else 1 for row in own]
    averaged = {
        measure: mean
        for measure in names
        if (mean := _average([row[f"paper_{measure}"] for row in own], weights)) is not None
    }
    theirs = {**averaged, **experiment.expected.get(TableCell(name, memory, policy), {})}
    means = {measure: _average([row[measure] for row in own], weights) for measure in names}
    limits = {row["max_steps"] for row in own}
    return {
        **dict.fromkeys(own[0]), "part": own[0]["part"], "protocol": own[0]["protocol"],
        "env": name, "memory": memory, "policy": policy, "n": sum(row["n"] for row in own),
        "n_failed": sum(row["n_failed"] for row in own), **_compared(means, theirs),
        "cost_usd": total_cost(row["cost_usd"] for row in own),
        "model": " and ".join(dict.fromkeys(row["model"] for row in own if row["model"])),
        "seeds": ", ".join(dict.fromkeys(row["seeds"] for row in own)),
        "max_steps": limits.pop() if len(limits) == 1 else None,
        "comparable": all(row["comparable"] for row in own),
        "reasons": list(dict.fromkeys(reason for row in own for reason in row["reasons"])),
    }  # fmt: skip


def _best(
    experiment: PaperExperiment, names: Sequence[str], found: Sequence[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield, for each ``best``, the records of its policy with the most wins."""
    for name, policies in experiment.best.items():
        own = [row for row in found if row["policy"] in policies]
        won = {row["policy"]: row["success"] or 0.0 for row in own if row["env"] == _ALL}
        if not won:
            continue
        first = max(won, key=lambda policy: won[policy])
        for row in (row for row in own if row["policy"] == first):
            theirs = experiment.expected.get(TableCell(row["env"], "best", name), {})
            ours = {measure: row[measure] for measure in names}
            yield {**row, "policy": name, "memory": "best", **_compared(ours, theirs)}


def _average(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.average(known, weights=weights)) if len(known) == len(weights) else None


def _published(experiment: PaperExperiment) -> Iterator[dict[str, Any]]:
    for system, by_env in experiment.published:
        for env, numbers in by_env.items():
            row = _compared(dict.fromkeys(measures_of(experiment)), numbers)
            yield {"env": env, "memory": "", "policy": system, **row, "model": "not played"}


def draw(experiment: PaperExperiment, played: Played, folder: Path) -> list[Path]:
    """Draw the figures of an experiment into a folder, each as SVG with its points as CSV."""
    cells = list(_cells(played))
    memories, policies = (short_names(cell[at] for _, cell, _ in cells) for at in (1, 2))
    own = [u for _, cell, group in cells for u in _labelled(cell, group, memories, policies)]
    colour = colours(dict.fromkeys(unit.memory for unit in own))
    made: list[Figure] = []
    for name in experiment.figures:
        if name == "scores":
            made.append(score_figure(table(own), colour))
        elif name == "growth":
            made.append(_growth_figure(played, folder))
        elif name == "batches":
            made.append(_batch_figure(played))
        else:
            made += [figure for figure in curve_figures(own, colour) if figure.name == name]
    legend = {label_of(memory): number for memory, number in colour.items()}
    paths = []
    for figure in made:
        keys = {"facts": 0, "updates": 1} if figure.name == "growth" else legend
        paths.append(folder / f"{figure.name}.svg")
        write_atomic(paths[-1], picture(figure, {} if figure.name == "batches" else keys))
        write_atomic(folder / f"{figure.name}.csv", figure.csv)
    return paths


def _labelled(
    cell: TableCell, group: Sequence[Unit], memories: Mapping[str, str], policies: Mapping[str, str]
) -> Iterator[Unit]:
    """Yield units with the agent's name as memory if several agents play."""
    memory, policy = memories[cell.memory], policies[cell.policy]
    if len(policies) > 1:
        player, kept = Spec(policy), Spec(memory)
        names = [name for name in (player.name, kept.name) if name != "none"]
        memory = Spec.of("-".join(names), {**player.kwargs, **kept.kwargs})
        policy = "agents"
    for unit in group:
        yield unit._replace(env=cell.env, memory=memory, policy=policy)


def _growth_figure(played: Played, folder: Path) -> Figure:
    panels = []
    for part, rows in played:
        for env, own in grouped(rows, lambda row: row.job.env).items():
            files = sorted({row.job.steps_file for row in own})
            curves = growth(str(folder / part.name / "steps" / file) for file in files)
            lines = [
                Line(env, name, "", name, number, points)
                for number, (name, points) in enumerate(curves.items())
            ]
            panels.append((label_of(env), lines))
    title = "Facts of the graph, and facts that were replaced"
    return line_figure("growth", title, panels, "environment steps", "facts")


def _batch_figure(played: Played) -> Figure:
    points: dict[TableCell, list[tuple[float, float]]] = {}
    for part, cell, group in _cells(played):
        number = getattr(make_protocol(part.config.protocol), "k", 1)
        points.setdefault(cell, []).append((float(number), MEASURES["score"](group) or 0.0))
    panels = [
        (label_of(c.env), [Line(*c, label_of(c.memory), 1, line)]) for c, line in points.items()
    ]
    title = "Score against the number of batch memories"
    return line_figure("batches", title, panels, "batch memories", "score", (0.0, 1.0))
