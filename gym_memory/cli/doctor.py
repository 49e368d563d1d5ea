"""``gym-memory doctor``: what is installed, what is missing, how to get it."""

from __future__ import annotations

import typer
from rich.markup import escape

from gym_memory.cli import options
from gym_memory.cli.health import examine
from gym_memory.cli.show import new_table, output, print_json

__all__ = ["command"]

_COLOURS = {"ok": "green", "missing": "yellow", "broken": "red"}


def command(json_lines: options.Json = False) -> None:
    """Show what is installed, what is missing and the command that brings it.

    Exit status 1 when something that gym-memory itself needs is broken; missing extras are
    no fault.

    Example: `gym-memory doctor`
    """
    findings = examine()
    if json_lines:
        print_json([finding._asdict() for finding in findings])
    else:
        table = new_table("part", "what", "state", "found", "to do")
        part = ""
        for finding in findings:
            head = finding.part
            if finding.purpose:
                head += f": {finding.purpose}"
            if part and finding.part != part:
                table.add_section()
            colour = _COLOURS[finding.state]
            table.add_row(
                escape(head) if finding.part != part else "",
                escape(finding.name),
                f"[{colour}]{finding.state}[/{colour}]",
                escape(finding.found),
                escape(finding.remedy),
            )
            part = finding.part
        output().print(table)
    raise typer.Exit(int(any(f.part == "core" and f.state == "broken" for f in findings)))
