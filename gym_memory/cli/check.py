"""``gym-memory check``: check your memory, policy or environment against its contract."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text
from typer import Argument

from gym_memory.cli import SHOWN, options
from gym_memory.cli.show import output, print_json, print_table
from gym_memory.core.frames import users_frame
from gym_memory.core.settings import check_name

__all__ = ["check"]

_KINDS = ("memory", "policy", "environment")


def check(
    own: Annotated[
        str, Argument(metavar="NAME", callback=options.named, help="./FILE.py:NAME, or a name.")
    ],
    kind: Annotated[
        str, typer.Option(help="memory, policy or environment; default: what the class is.")
    ] = "",
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
) -> None:
    """Check a memory, policy or environment against its contract, in less than twenty seconds.

    Memories: budget, state in JSON, the same answer twice, snapshot, fork, hostile text, time.
    Policies: actions, chance, resets. Environments: Gymnasium's check, seeds, snapshots.

    Example: `gym-memory check ./mine.py:Mine`
    """
    from gym_memory.evaluate.contract import check_own, kind_of

    options.load_plugins(plugins, own)
    kind = kind or kind_of(own)
    check_name("kind to check", kind, _KINDS)
    found = list(check_own(own, kind))
    faults = [finding for finding in found if not finding.ok]
    if json_lines:
        print_json([finding._asdict() for finding in found])
    else:
        lines = [
            (f.name, Text("ok", "green") if f.ok else Text("fault", "red"), f.sentence, f.found)
            for f in found
        ]
        print_table(("check", "result", "contract", "found"), lines, title=f"{kind} {own}")
        for finding in faults:
            if SHOWN["debug"] and finding.traceback:
                output().print(finding.traceback.rstrip(), soft_wrap=True)
            elif frame := users_frame(finding.traceback):
                output().print(f"{finding.name}: {frame}", soft_wrap=True)
        if faults and len(found) == 1:
            output().print("The other checks need one that plays.")
        verdict = f"{len(faults)} of {len(found)} checks found a fault" if faults else "No fault"
        output().print(f"{verdict}.")
    raise typer.Exit(int(bool(faults)))
