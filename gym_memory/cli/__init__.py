"""The command line ``gym-memory``: one file a command, one line here.

A command's file holds a function ``command`` (options by annotation, help from its docstring),
or, for a command with commands of its own, a ``typer.Typer`` named ``app``. It is imported when
it is asked for, and should import what is heavy inside the function.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from gym_memory.cli.interrupts import Interrupts
from gym_memory.core.errors import GymMemoryError, UnknownNameError
from gym_memory.core.html import visible
from gym_memory.version import __version__

__all__ = ["COMMANDS", "main"]

COMMANDS = {
    "list": "gym_memory.cli.names",
    "run": "gym_memory.cli.run",
    "compare": "gym_memory.cli.compare",
    "train": "gym_memory.cli.train",
    "report": "gym_memory.cli.report",
    "verify": "gym_memory.cli.verify",
    "export": "gym_memory.cli.export",
    "serve": "gym_memory.cli.serve",
    "quality": "gym_memory.cli.quality",
    "exam": "gym_memory.cli.exam",
    "memory": "gym_memory.cli.memory",
    "ldm2": "gym_memory.cli.ldm2",
    "transfer": "gym_memory.cli.transfer",
    "paper": "gym_memory.cli.paper",
    "view": "gym_memory.cli.view",
    "play": "gym_memory.cli.play",
    "demo": "gym_memory.cli.demo",
    "doctor": "gym_memory.cli.doctor",
    "serve-scripted": "gym_memory.cli.serve_scripted",
}

_LOOKS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "markdown",
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(typer.core.TyperGroup):
    """Finds the commands of :data:`COMMANDS` when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name])
        nested = getattr(module, "app", None)
        if nested is None:
            nested = typer.Typer(**_LOOKS)
            nested.command(cmd_name)(module.command)
        found = typer.main.get_command(nested)
        found.name = cmd_name
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise UnknownNameError("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_Commands, no_args_is_help=True, **_LOOKS)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"gym-memory {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; anywhere on the line.")
    ] = False,
) -> None:
    """Text games with memory in the observation: play them, compare memories and policies.

    Exit status: 0 when all went well, 1 when episodes failed, 2 for a mistake on the command
    line or something missing, 130 after Ctrl-C (the same command goes on).

    Example: `gym-memory compare --env "Cooking?level=medium" --memory none --memory history
    --policy random --seeds 0:20 --workers 2 --out results/first`
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; ends the process with its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what cannot be printed is told as an escape
            stream.reconfigure(errors="backslashreplace")
    try:
        with Interrupts():
            app([word for word in words if word != "--debug"], prog_name="gym-memory")
    except GymMemoryError as error:
        if debug:
            raise
        print(f"error: {visible(' '.join(str(error).split()))}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has left (`| head`); there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that cannot be written, ...
        if debug:
            raise
        print(f"error: {visible(error)}", file=sys.stderr)
        sys.exit(2)
