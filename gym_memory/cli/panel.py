"""``gym-memory panel``: list, show, check and run the panels."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer import Argument, Option

from gym_memory.cli import LOOKS, options
from gym_memory.cli.show import now_and_then, print_json, print_table, progress
from gym_memory.core.errors import GymMemoryError, InvalidArgumentError
from gym_memory.core.names import Spec
from gym_memory.panels.digests import TextDifference, check_panel
from gym_memory.panels.env import make_world
from gym_memory.panels.panel import Panel, PanelTask, load_panel, panel_names

__all__ = ["app"]

app = typer.Typer(
    **LOOKS,
    no_args_is_help=True,
    help="""Panels: fixed lists of tasks with checked texts, for scores to be cited.

    A panel holds its tasks, their settings and digests of all that an agent sees at reset and
    along the walkthrough. `-e panel:NAME` plays one wherever an environment is named.

    Example: `gym-memory panel run cooking-hard -m none -m arigraph -p planner`
    """,
)

Name = Annotated[str, Argument(metavar="PANEL", help="Name of a panel, or the path of a file.")]
_SHOWN_CHARS = 60
_MOST_SHOWN = 20


@app.command("list")
def list_panels(json_lines: options.Json = False) -> None:
    """List the panels with their number of tasks, digested texts, digest and description.

    Example: `gym-memory panel list`
    """
    panels = [load_panel(name) for name in panel_names()]
    if json_lines:
        print_json([_summary(panel) for panel in panels])
        return
    lines = [
        (p.name, str(len(p.tasks)), f"{p.n_texts:,}", str(len(p.rows)), p.digest, p.about)
        for p in panels
    ]
    heads = ("panel", "tasks", "texts", "rows", "digest", "about")
    print_table(heads, lines, right=heads[1:4], minor=("rows", "texts", "about"), whole=("panel",))


def _summary(panel: Panel) -> dict[str, Any]:
    names = ("name", "about", "source", "get", "protocol", "digest", "n_texts")
    values = {name: getattr(panel, name) for name in names}
    return {**values, "tasks": len(panel.tasks), "worlds": list(panel.worlds)}


@app.command()
def show(name: Name, json_lines: options.Json = False) -> None:
    """Show a panel: worlds with settings, protocol, source, expected rows.

    Example: `gym-memory panel show cooking-hard`
    """
    from gym_memory.run.results.expected import expected_rows
    from gym_memory.run.results.score import format_interval

    panel = load_panel(name)
    if json_lines:
        print_json([{**_summary(panel), "task_ids": [t.task_id for t in panel.tasks]}])
        return
    first, last = panel.tasks[0].task_id, panel.tasks[-1].task_id
    lines = [
        ("about", panel.about), ("cite as", f"panel:{panel.name}@{panel.digest}"),
        ("tasks", f"{len(panel.tasks)}: {first} to {last}"),
        *(("world", world) for world in panel.worlds),
        ("protocol", panel.protocol), ("source", panel.source), ("data", panel.get),
        ("rows", panel.unplayed),
        ("texts", f"{panel.n_texts:,} digests of text, inventory and actions"),
    ]  # fmt: skip
    print_table(("what", "is"), [line for line in lines if line[1]], title=panel.name)
    rows = [
        (row.memory, row.policy, str(row.budget), str(len(row.scores)), f"{found.mean:.3f}",
         format_interval(found.interval()))
        for row in expected_rows(panel)
        for found in [row.estimate]
    ]  # fmt: skip
    if rows:
        heads = ("memory", "policy", "budget", "n", "score", "95 %")
        print_table(heads, rows, right=heads[2:], title="expected rows")


@app.command()
def check(
    names: Annotated[
        list[str] | None, Argument(metavar="PANEL", help="Panels, or files; default: all.")
    ] = None,
    rows: Annotated[
        bool, Option("--rows", help="Play a sample of the expected rows, too.")
    ] = False,
    sample: Annotated[
        int, Option(min=0, metavar="N", help="Tasks of each row to play; 0 plays all.")
    ] = 1,
    leaks: Annotated[
        bool, Option("--leaks", help="Search the training splits for the tasks, by content.")
    ] = False,
    json_lines: options.Json = False,
) -> None:
    """Compare the texts of this installation with those of the panels; print what differs.

    It plays each task's walkthrough and digests the texts. If a panel's data is missing, it says
    where to get it. Exit status: 1 if a text or a row differs, or a task leaks.

    Example: `gym-memory panel check cooking-hard --rows`
    """
    report: list[dict[str, Any]] = []
    found: list[tuple[str, TextDifference]] = []
    here: list[Panel] = []
    for name in names or panel_names():
        panel = load_panel(name)
        try:
            differences = _differences(panel)
        except GymMemoryError as error:
            report.append({"panel": panel.name, "state": "not checked", "why": str(error)})
            continue
        found += [(panel.name, difference) for difference in differences]
        report.append({
            **{"panel": panel.name, "digest": panel.digest, "tasks": len(panel.tasks)},
            **{"texts": panel.n_texts, "differ": len(differences)},
            "state": "differs" if differences else "same" if _is_known(panel) else "no digests",
        })  # fmt: skip
        if rows:
            report[-1] |= _replayed(panel, name, sample or None)
        here.append(panel)
    if leaks:
        _leaks(here, [entry for entry in report if "why" not in entry])
    if json_lines:
        print_json([*report, *({"panel": name, **d._asdict()} for name, d in found)])
    else:
        _print_check(report, found)
    marks = ("differ", "rows_differ", "leaked")
    wrong = any(entry.get(mark) for entry in report for mark in marks)
    raise typer.Exit(int(wrong))


def _is_known(panel: Panel) -> bool:
    return all(task.shown or task.content for task in panel.tasks)


def _differences(panel: Panel) -> list[TextDifference]:
    say = now_and_then(10)
    found: list[TextDifference] = []
    done = 0
    for world in panel.worlds:
        with contextlib.closing(make_world(panel, world)) as env:
            own: Sequence[PanelTask] = [t for t in panel.tasks if t.env == world]
            for _, differences in check_panel(own, env):
                found += differences
                done += 1
                say(f"{panel.name}: {done} of {len(panel.tasks)} tasks, {len(found)} texts differ")
    return found


def _replayed(panel: Panel, name: str, sample: int | None) -> dict[str, Any]:
    from gym_memory.run.results.expected import replay

    jobs = list(replay(panel, name, sample))
    for job in jobs:
        if not job.equal:
            what = job.failed or f"score and steps {job.found}, expected {job.expected}"
            progress().print(
                f"{panel.name}, {job.job.memory}, {job.job.policy}, task {job.job.seed}: {what}"
            )
    return {"rows_played": len(jobs), "rows_differ": sum(not job.equal for job in jobs)}


def _leaks(panels: Sequence[Panel], report: Sequence[dict[str, Any]]) -> None:
    from gym_memory.panels.leaks import find_leaks

    say = now_and_then(10)
    entries = {panel.name: entry for panel, entry in zip(panels, report, strict=True)}
    for entry in report:
        entry |= {"training_tasks": 0, "leaked": 0}
    for found in find_leaks(panels):
        say(f"{found.world}: {found.tasks} tasks, {len(found.shared)} of them in a panel")
        for panel in panels:
            if any(world.name == found.world.name for world in panel.worlds):
                entries[panel.name]["training_tasks"] += found.tasks
        for name, own, other in found.shared:
            entries[name]["leaked"] += 1
            progress().print(f"{name}: {own} is {other} of {found.world}")


def _print_check(
    report: Sequence[dict[str, Any]], found: Sequence[tuple[str, TextDifference]]
) -> None:
    heads: tuple[str, ...] = ("panel", "tasks", "texts", "differ", "state")
    extra = ("rows played", "rows differ", "training tasks", "leaked")
    given = {key for entry in report for key in entry}
    heads += tuple(head for head in extra if head.replace(" ", "_") in given)
    lines = [[str(entry.get(head.replace(" ", "_"), "")) for head in heads] for entry in report]
    print_table(heads, lines, right=(*heads[1:4], *heads[5:]), minor=heads[1:2])
    for entry in report:
        if "why" in entry:
            progress().print(f"{entry['panel']}: {entry['why']}")
    lines = [
        [name, d.task_id, str(d.step), d.part, " ".join(d.found.split())[:_SHOWN_CHARS]]
        for name, d in found[:_MOST_SHOWN]
    ]
    if lines:
        columns = ("panel", "task", "step", "part", "text of this installation")
        print_table(columns, lines, right=("step",), title="texts that differ")
    if len(found) > _MOST_SHOWN:
        progress().print(f"and {len(found) - _MOST_SHOWN} more: --json prints all")


@app.command()
@options.grouped
def run(
    name: Name,
    memory: options.Memories = [],  # noqa: B006 - typer copies it
    policy: options.Policies = [],  # noqa: B006
    *,
    chosen: options.RunChoices,
    playing: options.Playing,
) -> None:
    """Play all tasks of a panel once with each memory and policy, under the panel's protocol.

    It is `compare` on the panel. It refuses other settings, and a results folder of other tasks,
    texts or versions.

    Example: `gym-memory panel run cooking-hard -m none -m arigraph -p planner --workers 2`
    """
    from gym_memory.cli.compare import default_out, play_config
    from gym_memory.wrappers.memory import DEFAULT_MEMORY

    panel = load_panel(name)
    if chosen.max_steps is not None or chosen.task_id or playing.allow_version_mismatch:
        raise InvalidArgumentError(
            "a panel is played whole, with its own settings and one version: expected no "
            "--max-steps, --task-id or --allow-version-mismatch (gym-memory compare has them)"
        )
    seeds = f"0:{len(panel.tasks)}"
    env = Spec.of("Panel", {"panel": name})
    config = chosen.config(
        [env], memory or [DEFAULT_MEMORY], policy or ["random"], seeds, panel.protocol
    )
    rows = play_config(config, playing.out or default_out(panel.name, config), playing)
    raise typer.Exit(int(any(row.result.failed for row in rows)))
