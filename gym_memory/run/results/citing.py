"""Data to cite with a score: the panel with its digest, and the terms of the protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from gym_memory.core.errors import GymMemoryError
from gym_memory.core.names import Spec
from gym_memory.panels.panel import Panel, load_panel, panel_names
from gym_memory.run.config import EpisodeRow, panel_in
from gym_memory.run.results.score import grouped

__all__ = ["PANEL_HEADS", "cited_panels", "panel_findings", "panel_lines"]


def cited_panels(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the panels that a folder's ``environment.json`` names, by environment."""
    backends: Mapping[str, str] = environment.get("backends") or {}
    found = {env: panel_in(version) for env, version in backends.items()}
    return {env: panel for env, panel in found.items() if panel}


def panel_lines(rows: Iterable[EpisodeRow]) -> list[tuple[str, ...]]:
    """Return the rows of a citation table: panel, memory, policy, tasks played, and the terms."""
    named = [row for row in rows if row.panel]
    cells = grouped(named, lambda row: (row.panel, row.job.memory, row.job.policy, row.terms))
    return [
        (
            panel, memory, policy, _tasks(group),
            terms.memory, terms.order or "any", "yes" if terms.same_task else "no",
        )
        for (panel, memory, policy, terms), group in cells.items()
    ]  # fmt: skip


PANEL_HEADS = (
    "panel", "memory", "policy", "tasks",
    "memory at start", "order of tasks", "same task recalled",
)  # fmt: skip
"""Headings of :func:`panel_lines`."""


def _tasks(rows: Sequence[EpisodeRow]) -> str:
    played = len({row.result.task_id for row in rows})
    try:
        return f"{played} of {len(load_panel(rows[0].job.env.kwargs['panel']).tasks)}"
    except GymMemoryError:  # another version of the panel, or a moved file
        return str(played)


Finding = tuple[Literal["ok", "note", "damaged"], str, str]


def panel_findings(
    jobs: Iterable[Sequence[EpisodeRow]], environment: Mapping[str, Any]
) -> Iterator[Finding]:
    """Check that the rows of each panel name the folder's digest, and that no task is missing."""
    cited = cited_panels(environment)
    rows = [row for job in jobs for row in job if row.job.env.name == "Panel"]
    for env, own in grouped(rows, lambda row: row.job.env).items():
        played = [row for row in own if row.result.backend_version]
        others = {row.panel for row in played} - {cited.get(env, "")}
        if others:
            known = cited.get(env) or "none"
            text = f"episodes name {', '.join(map(repr, sorted(others)))}, the run {known}"
            yield "damaged", str(env), text
        elif played:
            yield _installed(env, cited[env], own)


def _installed(env: Spec, cited: str, rows: Sequence[EpisodeRow]) -> Finding:
    try:
        panel = load_panel(env.kwargs["panel"])
    except GymMemoryError as error:
        return "note", str(env), f"{cited} cannot be compared: {error}"
    if not cited.endswith(f"@{panel.digest}"):
        return "note", str(env), f"played as {cited}, this installation has @{panel.digest}"
    wrong = "; ".join(_deviations(panel, rows))
    if wrong:
        return "note", str(env), f"{cited}: {wrong}, so this is no score of the panel"
    return "ok", str(env), f"{cited}: each of its {len(panel.tasks)} tasks"


def _deviations(panel: Panel, rows: Sequence[EpisodeRow]) -> Iterator[str]:
    """Yield the deviations of rows from a panel's protocol."""
    if panel.name in panel_names() and load_panel(panel.name).digest != panel.digest:
        yield f"a panel of this package has its name and is @{load_panel(panel.name).digest}"
    protocols = {row.job.protocol for row in rows} - {panel.protocol}
    if protocols:
        yield f"played under {', '.join(sorted(protocols))}, not under {panel.protocol}"
    failed = sum(bool(row.result.failed) for row in rows)
    if failed:
        yield f"{failed} of {len(rows)} episodes failed"
    cells = grouped(rows, lambda row: (row.job.memory, row.job.policy, row.job.budget))
    fewest = min(len({row.result.task_id for row in cell}) for cell in cells.values())
    if fewest < len(panel.tasks):
        yield f"{fewest} of {len(panel.tasks)} tasks"
    elif any(
        {row.job.seed for row in cell} != {*range(len(panel.tasks))} for cell in cells.values()
    ):
        yield f"other seeds than 0:{len(panel.tasks)}, which play each task once"
