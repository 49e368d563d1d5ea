"""Show a failure of the user's own code: the exception, the line, and where the traceback is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gym_memory.cli import SHOWN
from gym_memory.cli.show import progress
from gym_memory.core.frames import users_frame
from gym_memory.draw.svg import short_spec
from gym_memory.run.results.score import Unit, combination

__all__ = ["print_failures"]


def print_failures(all_units: Sequence[Unit], folder: Path) -> None:
    """Print how many jobs failed, the first failure, and the traceback under ``--debug``."""
    failed = [unit for unit in all_units if unit.failed]
    if not failed:
        return
    console, first = progress(), failed[0]
    console.print(
        f"{len(failed)} of {len(all_units)} jobs failed and score 0, the first one: "
        f"{' '.join(map(short_spec, combination(first)))} seed {first.seed}: {first.failed}",
        markup=False,
    )
    detail = next((result.detail for result in first.episodes if result.failed), "")
    frame = users_frame(detail)
    if SHOWN["debug"] and detail:
        console.print(detail.rstrip(), markup=False, soft_wrap=True)
    elif frame is not None:
        console.print(f"  {frame}", markup=False, soft_wrap=True)
    if frame is not None and not SHOWN["debug"]:
        where = f"in {folder / 'logs'} and under --debug"
        console.print(f"The whole traceback is {where}.", markup=False, soft_wrap=True)
