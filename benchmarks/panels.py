"""Write the panels of the package: their tasks, and digests of their texts.

::

    python -m benchmarks panels                 # write all whose data is available
    python -m benchmarks panels cooking-hard    # write one
    python -m benchmarks panels --list
    python -m benchmarks panels --rows FOLDER   # expect the rows of results folders
    python -m benchmarks panels --replay        # play all expected rows again; measured.json
    python -m benchmarks panels --leaks         # compare with all training splits; measured.json
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
from keep import measured, write_measured
from panel_list import PANELS, PlannedPanel, PlannedWorld

from gym_memory.core.errors import GymMemoryError
from gym_memory.core.names import Spec
from gym_memory.core.optional import git_commit
from gym_memory.panels.digests import MOST_STEPS, content_of, observe, shown
from gym_memory.panels.env import make_world
from gym_memory.panels.leaks import find_leaks
from gym_memory.panels.panel import Panel, PanelTask, load_panel, panel_names, write_panel
from gym_memory.run.results.expected import expected_rows, replay, rows_of
from gym_memory.run.results.folder import iter_folders
from gym_memory.run.results.report import read_source

FOLDER = Path(__file__).parents[1] / "gym_memory" / "panels" / "data"
_COUNTS = ("tasks", "alike")


def made(plan: PlannedPanel) -> Panel:
    """Play the walkthrough of every task of a panel and return the panel, with its present rows."""
    tasks: list[PanelTask] = []
    draft = Panel(plan.name, plan.about, (PanelTask(Spec("Cooking"), "none"),), get=plan.get)
    for world in plan.worlds:
        tasks += _played(draft, world) or [
            PanelTask(Spec(world.env), task_id, (), content)
            for task_id, content in world.known.items()
        ]
    known = load_panel(plan.name) if plan.name in panel_names() else None
    texts = {name: getattr(plan, name) for name in ("source", "get", "protocol", "unplayed")}
    panel = Panel(plan.name, plan.about, tuple(tasks), **texts)
    if known is None or known.digest != panel.digest:
        return panel
    return dataclasses.replace(panel, rows=known.rows)


def _played(draft: Panel, world: PlannedWorld) -> list[PanelTask]:
    """Return the tasks of a world with their texts; none if its data is missing."""
    spec, tasks = Spec(world.env), []
    try:
        env = make_world(draft, spec)
        for task_id in list(env.get_wrapper_attr("task_ids"))[: world.first]:
            digests, content = [], ""
            for step, obs in enumerate(observe(env, task_id)):
                digests.append(shown(obs, step))
                content = content or content_of(env, obs)
            way = env.get_wrapper_attr("oracle")().walkthrough[:MOST_STEPS] if world.solved else ()
            tasks.append(PanelTask(spec, task_id, tuple(digests), content, tuple(way)))
        env.close()
    except (GymMemoryError, ImportError, OSError) as error:
        if not world.known:
            raise
        print(f"{draft.name}: no texts of {spec}: {error}")
        return []
    return tasks


def expect(folder: Path) -> Panel:
    """Add the rows of a results folder to the expected rows of its panel."""
    rows = read_source(folder).rows
    panel = load_panel(rows[0].job.env.kwargs["panel"])
    cited = f"{panel.name}@{panel.digest}"
    for row in rows:
        if row.panel != cited or row.result.failed:
            sys.exit(f"{folder}: expected rows of {cited}, got {row.panel} {row.result.failed}")
    found = {(r.memory, r.policy, r.budget): r for r in (*expected_rows(panel), *rows_of(rows))}
    return dataclasses.replace(panel, rows=tuple(found[key].to_json() for key in sorted(found)))


def replayed(name: str) -> dict[str, Any]:
    """Play all expected rows of a panel again; return how many differ, CPU seconds and commit."""
    panel = load_panel(name)
    started = _cpu_seconds()
    jobs = list(replay(panel, name, None))
    for job in jobs:
        if not job.equal:
            print(f"{name}: {job}")
    differ, seconds = sum(not job.equal for job in jobs), _cpu_seconds() - started
    cited = f"{name}@{panel.digest}"
    return {
        **{"panel": cited, "episodes": len(jobs), "differ": differ},
        **{"cpu_s": round(seconds, 1), "commit": git_commit(FOLDER.parent)[:8]},
    }


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and of the engines that it started."""
    running = psutil.Process().children(recursive=True)
    return sum(os.times()[:4]) + sum(sum(child.cpu_times()[:2]) for child in running)


def leaks(names: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Compare panels with all training splits; yield each environment with tasks and leaks."""
    panels = [panel for panel in map(load_panel, names) if any(t.shown for t in panel.tasks)]
    for env in dict.fromkeys(panel.worlds[0].name for panel in panels):
        own = [panel for panel in panels if panel.worlds[0].name == env]
        found = list(find_leaks(own))
        if found:
            yield (
                env,
                {
                    **{"panels": [panel.name for panel in own], "splits": len(found)},
                    **{kind: sum(getattr(report, kind) for report in found) for kind in _COUNTS},
                    "shared": [pair for report in found for pair in report.shared],
                },
            )


def main() -> None:
    """Write the named panels, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks panels", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="list the panels")
    parser.add_argument("--rows", nargs="+", default=[], metavar="FOLDER", help="results folders")
    parser.add_argument("--replay", action="store_true", help="play the expected rows again")
    parser.add_argument("--leaks", action="store_true", help="compare with the training splits")
    chosen = parser.parse_args()
    names = chosen.names or panel_names()
    for folder in iter_folders(chosen.rows):
        panel = expect(folder)
        write_panel(panel, FOLDER / f"{panel.name}.json.gz")
        print(f"{panel.name}: {len(panel.rows)} rows")
    for env, found in leaks(names) if chosen.leaks else ():
        write_measured("panel_leaks", {**measured("panel_leaks"), env: found})
        print(env, found, flush=True)
    for name in names if chosen.replay else ():
        if load_panel(name).rows:
            played = replayed(name)
            write_measured("panel_replay", {**measured("panel_replay"), name: played})
            print(played, flush=True)
    if chosen.rows or chosen.leaks or chosen.replay:
        return
    for plan in PANELS:
        if chosen.list:
            print(plan.name, *(world.env for world in plan.worlds), sep="  ")
        elif not chosen.names or plan.name in chosen.names:
            started = time.process_time()
            try:
                panel = made(plan)
            except (GymMemoryError, ImportError) as error:
                print(f"{plan.name}: not written: {error}")
                continue
            write_panel(panel, FOLDER / f"{plan.name}.json.gz")
            size = (FOLDER / f"{plan.name}.json.gz").stat().st_size
            seconds = time.process_time() - started
            print(
                f"{panel.name}@{panel.digest}: {len(panel.tasks)} tasks, {panel.n_texts} texts, "
                f"{size} bytes, {seconds:.0f} CPU-s",
                flush=True,
            )


if __name__ == "__main__":
    main()
