"""Write ``summary.json``, ``report.md``, ``report.html`` and plots of results folders."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import ResultsError
from gym_memory.core.files import write_atomic
from gym_memory.core.settings import check_name
from gym_memory.draw.escape import without_tags
from gym_memory.draw.figures import budget_figure, colours, score_figure
from gym_memory.draw.svg import Figure, label_of, picture, short_spec
from gym_memory.run.config import EpisodeRow, Job, RunConfig
from gym_memory.run.results.citing import PANEL_HEADS, panel_lines
from gym_memory.run.results.folder import (
    check_backends,
    read_config,
    read_environment,
    read_episodes,
    read_replaced,
)
from gym_memory.run.results.labels import labels
from gym_memory.run.results.pages import curve_figures, file_name_of, report_page
from gym_memory.run.results.score import (
    GAP_NUMBERS,
    SCALE,
    Difference,
    TableRow,
    Unit,
    combination,
    differences,
    format_interval,
    format_number,
    grouped,
    mean_counters,
    notes_on,
    score_by_trial,
    score_lines,
    seeds_go_round,
    table,
    units,
)
from gym_memory.run.results.streams import (
    is_stream,
    stream_figures,
    stream_sentences,
    stream_tables,
    transfer_sentences,
)
from gym_memory.run.results.sweep import Curve, at_largest, budgets, comparable, curves

__all__ = ["ReportSource", "build_report", "read_source", "write_report"]

_MAX_FAILURES = 50
_PANELS = (
    "Cite these with a number: the panel with its digest, and the terms of the protocol "
    "(docs/cite-a-number.md)."
)


class ReportSource(NamedTuple):
    """Parts of a results folder that a report needs; ``replaced`` ones were played again."""

    path: Path
    config: RunConfig
    environment: dict[str, Any]
    rows: list[EpisodeRow]
    replaced: list[EpisodeRow]

    @property
    def planned(self) -> int:
        """Return the number of jobs in the configuration."""
        return len(self.config.jobs())


def read_source(folder: str | os.PathLike[str]) -> ReportSource:
    """Read a results folder; it may be unfinished, and in use."""
    path = Path(folder)
    config = read_config(path)
    found = {rows[0].job.key: rows for rows in read_episodes(path)}
    rows = [row for job in config.jobs() for row in found.get(job.key, ())]
    return ReportSource(path, config, read_environment(path), rows, read_replaced(path))


def build_report(
    folders: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    against: str = "",
    allow_version_mismatch: bool = False,
) -> list[TableRow]:
    """Write a report on results folders with disjoint jobs into ``out``; return its table.

    ``against`` is the memory or policy that the others are compared with; empty for the control.
    """
    sources = [read_source(folder) for folder in folders]
    backends: dict[str, str] = {}
    seen: dict[Any, Path] = {}
    for source in sources:
        new = source.environment.get("backends", {})
        if not allow_version_mismatch:
            check_backends(backends, new, "another of these folders")
        backends = {**new, **backends}
        for key in {row.job.key: None for row in source.rows}:
            if key in seen:
                raise ResultsError(
                    f"{str(source.path)!r} and {str(seen[key])!r} both hold seed {key[0]} of the "
                    "same combination: an episode counts once"
                )
            seen[key] = source.path
    return write_report(out, sources, against=against)


def write_report(
    out: str | os.PathLike[str], sources: Sequence[ReportSource], *, against: str = ""
) -> list[TableRow]:
    """Write summary, plots and report of ``sources`` into ``out``; returns the table."""
    path = Path(out)
    all_units = units(row for source in sources for row in source.rows)
    rows = table(all_units)
    replaced = [row for source in sources for row in source.replaced]
    gaps = _differences(comparable(all_units), against)
    try:
        path.mkdir(parents=True, exist_ok=True)
        parts = [_head(sources, all_units, replaced)]
        cited = panel_lines(row for source in sources for row in source.rows)
        if cited:
            parts.append(f"## Panels\n\n{_PANELS}\n\n{_markdown_table(PANEL_HEADS, cited)}")
        for protocol in dict.fromkeys(u.protocol for u in all_units):
            own = [u for u in all_units if u.protocol == protocol]
            parts.append(_section(path, protocol, own, [d for d in gaps if d.protocol == protocol]))
        parts += [_failures(all_units, replaced), _provenance(sources)]
        write_atomic(path / "report.md", without_tags("\n".join(filter(None, parts))))
        page = report_page(all_units, gaps, [source.path for source in sources])
        write_atomic(path / "report.html", page)
        summary = {
            "complete": len(all_units) == sum(source.planned for source in sources),
            "n_jobs": len(all_units),
            "n_failed": sum(bool(u.failed) for u in all_units),
            "n_replaced": len(replaced),
            "panels": [dict(zip(PANEL_HEADS, line, strict=True)) for line in cited],
            "table": [row.to_json() for row in rows],
            "differences": [gap.to_json() for gap in gaps],
        }
        write_atomic(path / "summary.json", json.dumps(summary, indent=2) + "\n")
    except OSError as error:
        raise ResultsError(f"cannot write a report to {str(path)!r}: {error}") from error
    return rows


def _differences(all_units: Sequence[Unit], against: str) -> list[Difference]:
    """Compare memories, then policies; ``against`` names one of either."""
    memories = dict.fromkeys(u.memory for u in all_units)
    policies = dict.fromkeys(u.policy for u in all_units)
    if against:
        check_name("memory or policy", against, {**memories, **policies})
    return [
        *differences(all_units, "memory", against if against in memories else ""),
        *differences(all_units, "policy", against if against in policies else ""),
    ]


def _markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table: names are aligned left, numbers right."""
    names = {"environment", "memory", "policy", "compared", "with", "task", "reason", "learnt in"}
    names |= {*PANEL_HEADS} - {"tasks"}
    rule = ["---" if name in names else "--:" for name in header]
    lines = [header, rule, *rows]
    return "\n".join("| " + " | ".join(_cell(c) for c in line) + " |" for line in lines) + "\n"


def _cell(text: str) -> str:
    """Escape a text for a table: games and errors may hold markup.

    An ``&`` that begins no entity stays, since code shows entities as they are written.
    """
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text).replace("<", "&lt;")
    return " ".join(text.replace("|", "\\|").splitlines())


def _head(
    sources: Sequence[ReportSource], all_units: Sequence[Unit], replaced: Sequence[EpisodeRow]
) -> str:
    planned = sum(source.planned for source in sources)
    n_failed = sum(bool(u.failed) for u in all_units)
    parts = ["# Results"]
    if len(all_units) < planned:
        done = f"{len(all_units)} of {planned} jobs are done"
        parts.append(f"**Unfinished**: {done}; run the same command again to continue.")
    if n_failed:
        share = f"{n_failed} of {len(all_units)} jobs failed"
        parts.append(f"**{share}** and count with score 0: see Failures.")
    if replaced:
        again = f"{len(replaced)} failed episodes were played again"
        parts.append(f"**{again}** (`--retry-failed`): see Failures.")
    parts.append(
        f"{SCALE}, averaged over seeds; 95 % intervals of that mean "
        "take tasks as their unit. A job is one seed of one combination."
    )
    return "\n\n".join(parts) + "\n"


def _section(path: Path, protocol: str, own: Sequence[Unit], gaps: Sequence[Difference]) -> str:
    rows = table(own)
    stem = file_name_of(protocol)
    colour = colours(unit.memory for unit in own)
    legend = {label_of(memory): number for memory, number in colour.items()}

    def drawn(figure: Figure) -> list[str]:
        name = f"{figure.name}-{stem}.svg"
        write_atomic(path / name, picture(figure, legend))
        return [f"![{figure.title}]({name})", ""]

    lines = [f"## Protocol `{protocol}`", ""]
    swept = len(budgets(own)) > 1
    if swept:
        found = curves(own)
        lines += [_SWEEP, "", _budget_table(found), *drawn(budget_figure(found, colour))]
        lines += ["### Every budget", ""]
    header, scores = score_lines(rows)
    lines += [_markdown_table(header, [(f"`{env}`", *rest) for env, *rest in scores])]
    lines += [" ".join(labels(rows)).replace("`", "'"), ""]
    if swept:
        own = at_largest(own)
        lines += ["Everything below, except the differences, is for the largest budget.", ""]
    repeated = next((row for row in rows if row.n_tasks < row.n), None)
    if repeated:
        lines += [f"**Seeds repeat tasks**: {seeds_go_round(repeated)}", ""]
    if notes := notes_on(own):
        # A note may quote a server, so it is set as code.
        quoted = (note.replace("`", "'") for note in notes)
        lines += ["Calls of language models:", "", *(f"- `{note}`" for note in quoted), ""]
    lines += drawn(score_figure(table(own), colour))
    by_step, *by_trial = curve_figures(own, colour)
    if is_stream(protocol):
        for each in stream_tables(own):
            lines += [f"### {each.title}", "", _markdown_table(each.heads, each.rows)]
        lines += [*stream_sentences(own), *transfer_sentences(own), ""]
        for figure in stream_figures(own, colour):
            lines += drawn(figure)
    for figure in by_trial if protocol.startswith("trials") else ():
        lines += ["### Score by trial", "", _trial_table(own), *drawn(figure)]
    lines += drawn(by_step)
    counters = _counter_table(own)
    if counters:
        lines += ["### Counted by policies and memories, mean per job", "", counters]
    if gaps:
        lines += ["### Differences, paired by task and seed", ""]
        if swept:
            lines += ["Differences are between areas under the score over the token budget.", ""]
        lines += [
            "Positive: the compared one scores higher. An interval without 0 is a difference "
            "that these tasks show; p is corrected for the number of rows (Holm), separately for "
            "all environments together. Both are left out if a job failed.",
            "",
            _difference_table(gaps),
        ]
    return "\n".join(lines)


_SWEEP = (
    "Score by token budget. *Area*: the area under the mean score over the logarithm of the "
    "budget, as a share of the area of a constant score of 1. A memory that exceeds its budget has "
    "none; the plot shows it at the tokens that it used. *Tokens for 95 %*: mean tokens recalled "
    "at the smallest budget that reaches 95 % of the best score of any memory except `oracle`."
)


def _budget_table(found: Sequence[Curve]) -> str:
    every = sorted({row.budget for curve in found for row in curve.points})
    header = ["environment", "memory", "policy", "area", "95 %", "tokens for 95 %"]
    return _markdown_table(
        [*header, *(f"{budget:,}" for budget in every)],
        [
            (
                f"`{curve.env}`", short_spec(curve.memory), short_spec(curve.policy),
                format_number(curve.area, ".3f"), format_interval(curve.area_ci),
                format_number(curve.enough, ",.0f"),
                *(format_number(scores.get(budget), ".2f") for budget in every),
            )
            for curve in found
            for scores in [{row.budget: row.score for row in curve.points}]
        ],
    )  # fmt: skip


def _counter_table(own: Sequence[Unit]) -> str:
    """Return the mean counters of policies and memories per job; empty if there are none."""
    cells = grouped(own, combination)
    counted = {cell: mean_counters(group) for cell, group in cells.items()}
    names = list(dict.fromkeys(name for counters in counted.values() for name in counters))
    if not names:
        return ""
    return _markdown_table(
        ("environment", "memory", "policy", *(name.replace("_", " ") for name in names)),
        [
            (
                f"`{env}`",
                short_spec(memory),
                short_spec(policy),
                *(f"{counters.get(name, 0):.1f}" for name in names),
            )
            for (env, memory, policy), counters in counted.items()
            if counters
        ],
    )


def _trial_table(own: Sequence[Unit]) -> str:
    length = max(len(u.trials) for u in own)
    return _markdown_table(
        ("environment", "memory", "policy", *(str(i + 1) for i in range(length))),
        [
            (
                f"`{env}`", short_spec(memory), short_spec(policy),
                *(f"{mean:.3f} {format_interval(ci)}" for mean, ci in score_by_trial(group)),
            )
            for (env, memory, policy), group in grouped(own, combination).items()
        ],
    )  # fmt: skip


def _difference_table(gaps: Sequence[Difference]) -> str:
    return _markdown_table(
        ("compared", "with", "environment", "memory", "policy", *GAP_NUMBERS),
        [
            (
                *map(short_spec, (gap.name, gap.against)),
                gap.env if gap.env == "all" else f"`{gap.env}`",
                *map(short_spec, ("", gap.other) if gap.axis == "memory" else (gap.other, "")),
                *gap.cells(),
            )
            for gap in gaps
        ],
    )


def _failures(all_units: Sequence[Unit], replaced: Sequence[EpisodeRow]) -> str:
    failed = [(u, u.task_id, u.failed) for u in all_units if u.failed]
    again = [(row.job, row.result.task_id, row.result.failed) for row in replaced]
    parts = ["## Failures\n"] if failed or again else []
    if failed:
        parts.append(_failure_table(failed, "episodes.jsonl"))
    if again:
        parts += ["Failed at first and played again:\n"]
        parts.append(_failure_table(again, "episodes.failed.jsonl"))
    return "\n".join(parts)


def _failure_table(failed: Sequence[tuple[Unit | Job, str, str]], file: str) -> str:
    shown = _markdown_table(
        ("environment", "memory", "policy", "seed", "task", "reason"),
        [
            (
                f"`{of.env}`",
                short_spec(of.memory),
                short_spec(of.policy),
                str(of.seed),
                task or "–",
                reason,
            )
            for of, task, reason in failed[:_MAX_FAILURES]
        ],
    )
    more = len(failed) - _MAX_FAILURES
    rest = f"\n... and {more} more, all in `{file}`.\n" if more > 0 else ""
    return f"Details are in `{file}`.\n\n{shown}{rest}"


def _provenance(sources: Sequence[ReportSource]) -> str:
    lines = ["## How to repeat it", ""]
    for source in sources:
        env = source.environment
        lines += ["```", source.config.command(str(source.path)), "```", ""]
        if env:
            commit = f", commit {env['git_commit']}" if env.get("git_commit") else ""
            lines += [
                f"gym-memory {env['gym_memory']}{commit}, Python {env['python']}, "
                f"{env['platform']}. Backends: "
                + "; ".join(f"`{name}`: {version}" for name, version in env["backends"].items())
                + ". All package versions: `environment.json`.",
                "",
            ]
    return "\n".join(lines)
