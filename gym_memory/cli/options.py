"""Options that several commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gym_memory.experiment.jobs import with_parameter
from gym_memory.experiment.worker import import_plugin

__all__ = [
    "AllowVersionMismatch",
    "Budget",
    "Env",
    "Envs",
    "Json",
    "MaxCost",
    "MaxSteps",
    "MaxTokens",
    "Memories",
    "Memory",
    "Out",
    "Plugins",
    "Policies",
    "Policy",
    "Protocol",
    "RetryFailed",
    "Seeds",
    "TaskId",
    "Timeout",
    "Workers",
    "default_workers",
    "load_plugins",
    "with_max_steps",
]

_SPEC = "Name or Name?key=value&key=value"

Env = Annotated[
    str,
    typer.Option("--env", "-e", metavar="ENV", help=f"Environment: {_SPEC}."),
]
Envs = Annotated[
    list[str],
    typer.Option("--env", "-e", metavar="ENV", help=f"Environment: {_SPEC}. Repeatable."),
]
Memory = Annotated[str, typer.Option("--memory", "-m", metavar="MEMORY", help="Memory, likewise.")]
Memories = Annotated[
    list[str],
    typer.Option("--memory", "-m", metavar="MEMORY", help="Memory, likewise. Repeatable."),
]
Policy = Annotated[str, typer.Option("--policy", "-p", metavar="POLICY", help="Policy, likewise.")]
Policies = Annotated[
    list[str],
    typer.Option("--policy", "-p", metavar="POLICY", help="Policy, likewise. Repeatable."),
]
Seeds = Annotated[
    str,
    typer.Option(
        "--seeds", "-s", metavar="SEEDS", help="0:20 for the seeds 0 to 19, 1,2,5, or both."
    ),
]
Protocol = Annotated[
    str,
    typer.Option(metavar="PROTOCOL", help="single_episode, trials?k=5, restart_budget?steps=500."),
]
Budget = Annotated[
    int | None,
    typer.Option(metavar="TOKENS", help="What a recalled memory may take, 4 characters a token."),
]
MaxSteps = Annotated[
    int | None,
    typer.Option(metavar="N", help="Step limit of every environment, instead of its own."),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost-usd",
        metavar="USD",
        min=0.0,
        help="Hard stop: what all episodes may spend on language models.",
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", metavar="N", min=0, help="Hard stop in prompt and completion tokens."
    ),
]
TaskId = Annotated[
    str,
    typer.Option("--task-id", metavar="ID", help="Play this task; seeds then vary chance only."),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", "-w", metavar="N", help="Worker processes; default: one a core."),
]
Timeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS", help="An episode that takes longer counts as failed.", min=0.001
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="FOLDER", help="Results; default: results/ and a name of the run."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object a row, and no table.")]
Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        metavar="MODULE",
        help="Module that registers environments, memories or policies of yours. Repeatable.",
    ),
]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Play the failed episodes of the folder again.")
]
AllowVersionMismatch = Annotated[
    bool,
    typer.Option(
        "--allow-version-mismatch",
        help="Put episodes of different backend versions side by side.",
    ),
]


def default_workers() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def with_max_steps(env: str, max_steps: int | None) -> str:
    """The environment with the step limit of ``--max-steps``, where there is one."""
    return env if max_steps is None else with_parameter(env, "max_steps", max_steps)


def load_plugins(plugins: Sequence[str] | None) -> tuple[str, ...]:
    """Import the user's modules, found in the current folder too; returns their names.

    Raises:
        InvalidArgumentError: One cannot be imported.
    """
    if plugins and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    for plugin in plugins or ():
        import_plugin(plugin)
    return tuple(plugins or ())
