"""Command line ``gym-memory``: a table of commands, imported when they are called."""

from __future__ import annotations

import gc
import importlib
import io
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from types import FrameType
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from gym_memory.core.components import Component
from gym_memory.core.errors import GymMemoryError, InvalidArgumentError, UnknownNameError
from gym_memory.core.interrupts import take_signals
from gym_memory.core.secrets import scrubbed
from gym_memory.core.version import __version__
from gym_memory.draw.escape import visible

__all__ = ["COMMANDS", "LOOKS", "SHOWN", "main"]

_GROUPS = {
    "Commands to play and compare": {
        "run": "compare:run",
        "compare": "compare:compare_all",
        "demo": "compare:demo",
        "panel": "panel:app",
        "play": "play:play",
        "view": "play:view",
    },
    "Commands for results": {
        "report": "results:report",
        "verify": "results:check",
        "export": "results:export",
    },
    "Commands for something of your own": {"new": "new:new", "check": "check:check"},
    "Commands to train and serve": {
        "train": "train:command",
        "serve": "play:serve",
        "mcp": "mcp:mcp",
        "serve-scripted": "play:serve_scripted",
    },
    "Commands to judge and keep memories": {
        "rank": "judge:rank",
        "exam": "judge:exam",
        "quality": "judge:quality",
        "credit": "judge:credit",
        "memory": "memory:app",
    },
    "Commands to repeat papers": {
        "paper": "paper:paper",
        "transfer": "paper:transfer",
        "ldm2": "ldm2:app",
    },
    "Commands to look around": {"list": "names:command", "doctor": "doctor:command"},
}
COMMANDS = {name: target for group in _GROUPS.values() for name, target in group.items()}
"""Name of a command to file and function."""

LOOKS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,  # plain help wraps at any width and cuts nothing
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}
SHOWN = {"wide": False, "debug": False}
"""``wide`` keeps all columns of tables, however narrow the terminal; ``debug`` adds tracebacks."""
_CLEAR_UP_SECONDS = 10.0
_IMPORT_SECONDS = 5.0
"""Longest wait of an interrupt for the end of an import."""


class _Commands(typer.core.TyperGroup):
    """A group of commands that are imported when called, and listed without an import."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        file, _, name = COMMANDS[cmd_name].partition(":")
        gc.disable()  # imports leave no garbage, but collecting takes a tenth of their time
        try:
            found = getattr(importlib.import_module(f"gym_memory.cli.{file}"), name)
        finally:
            gc.enable()
        if not isinstance(found, typer.Typer):
            nested = typer.Typer(**LOOKS)
            nested.command(cmd_name)(found)
            found = nested
        command = typer.main.get_command(found)
        command.name = cmd_name
        _refuse_repeated(command)
        return _without_marks(command)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise UnknownNameError("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, group in _GROUPS.items():
            with formatter.section(title):
                found = {name: Component(f"gym_memory.cli.{path}") for name, path in group.items()}
                formatter.write_dl([(name, command.about) for name, command in found.items()])


def _refuse_repeated(command: Any) -> None:
    """Refuse an option with one value that is given twice; the last one used to win."""
    for nested in getattr(command, "commands", {}).values():
        _refuse_repeated(nested)
    parse = command.parse_args

    def parse_args(ctx: Any, args: list[str]) -> Any:
        _, _, order = command.make_parser(ctx).parse_args(args=list(args))
        for option in dict.fromkeys(p for p in order if p.param_type_name == "option"):
            takes_one = not (option.multiple or option.is_flag)
            if takes_one and order.count(option) > 1:
                raise InvalidArgumentError(
                    f"expected {option.opts[0]} once, got it {order.count(option)} times: "
                    "gym-memory compare plays several environments, memories and policies"
                )
        return parse(ctx, args)

    command.parse_args = parse_args


def _without_marks(command: Any) -> Any:
    """Remove Markdown backticks from a command's help, and do not cut its lines."""
    for part in (command, *command.params):
        if getattr(part, "help", None):
            part.help = part.help.replace("`", "")
    for nested in getattr(command, "commands", {}).values():
        _without_marks(nested)
        nested.short_help = " ".join((nested.help or "").partition("\n\n")[0].split())
    return command


app = typer.Typer(cls=_Commands, no_args_is_help=True, **LOOKS)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gym-memory {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; anywhere on the line.")
    ] = False,
    wide: Annotated[
        bool, typer.Option("--wide", help="Show all columns of a table; anywhere on the line.")
    ] = False,
) -> None:
    """Text games with memory in the observation: play them, compare memories and policies."""


def _is_importing(frame: FrameType | None) -> bool:
    """True while a module is imported, which may swallow or disguise an exception."""
    while frame and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


class _Interrupts:
    """A context that raises ``KeyboardInterrupt`` once for Ctrl-C, SIGTERM and SIGHUP.

    The interrupt waits for the end of an import, is repeated where Python had to ignore it, and
    leaves time to end: further signals count after ten seconds.
    """

    def __enter__(self) -> None:
        self.heard, self.raised = -math.inf, False
        self.before = take_signals(self.interrupt)
        self.report, sys.unraisablehook = sys.unraisablehook, self.repeat

    def interrupt(self, kind: int, frame: FrameType | None) -> None:
        """Raise ``KeyboardInterrupt``, or ask again in a moment during an import."""
        now = time.monotonic()
        if now - self.heard > _CLEAR_UP_SECONDS:
            self.heard, self.raised = now, False
        if self.raised:
            return
        if now - self.heard < _IMPORT_SECONDS and _is_importing(frame):
            self.ask_again(kind)
        else:
            self.raised = True
            raise KeyboardInterrupt

    def repeat(self, lost: Any) -> None:
        """Repeat an interrupt that Python could not raise, as in the end of a generator."""
        if lost.exc_type is KeyboardInterrupt and self.raised:
            self.raised = False
            self.ask_again(next(iter(self.before)))
        else:
            self.report(lost)

    def ask_again(self, kind: int) -> None:
        """Send the signal to this process once more."""
        threading.Timer(0.01, os.kill, (os.getpid(), kind)).start()

    def __exit__(self, *error: object) -> None:
        for kind, handler in self.before.items():
            signal.signal(kind, handler if self.heard < 0 else signal.SIG_IGN)
        sys.unraisablehook = self.report
        exec("")  # Python ends by SIGINT if the last `exec` was interrupted (as of a dataclass)
        if self.heard > 0 and not self.raised:
            raise KeyboardInterrupt


def _print_scrubbed(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Print the traceback of an error that ends the process, without secrets."""
    import traceback

    print(scrubbed("".join(traceback.format_exception(error))), end="", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; ends the process with its exit status."""
    sys.excepthook = _print_scrubbed
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    for name in SHOWN:
        SHOWN[name] = f"--{name}" in words
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # escape characters that cannot be encoded
            stream.reconfigure(errors="backslashreplace")
    try:
        with _Interrupts():
            app([w for w in words if w.removeprefix("--") not in SHOWN], prog_name="gym-memory")
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has closed the pipe (`| head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (GymMemoryError, OSError) as error:  # also a full disk, a folder without access, ...
        if SHOWN["debug"]:
            raise
        print(f"error: {visible(' '.join(scrubbed(error).split()))}", file=sys.stderr)
        sys.exit(2)
