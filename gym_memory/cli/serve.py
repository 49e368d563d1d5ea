"""``gym-memory serve``: an environment with memory as an OpenEnv server."""

from __future__ import annotations

from typing import Annotated

import typer

from gym_memory.cli import options
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["command"]


def command(
    env: options.Env,
    memory: options.Memory = DEFAULT_MEMORY,
    budget: options.Budget = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; sessions ask for no password.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="TCP port.", min=1, max=65535)] = 8000,
    max_sessions: Annotated[
        int, typer.Option(metavar="N", min=1, help="Sessions at once; one more is refused.")
    ] = 64,
    idle: Annotated[
        float, typer.Option(metavar="SECONDS", help="Idle time after which a session is closed.")
    ] = 600.0,
    plugins: options.Plugins = None,
) -> None:
    """Serve an environment with a memory to OpenEnv clients; Ctrl-C ends it.

    Each connection is a session with a game of its own. `/health` tells that it is up.

    Example: `gym-memory serve -e "Cooking?level=rl-1" -m arigraph --port 8000`
    """
    from gym_memory.training.openenv import make_app, serve

    options.load_plugins(plugins)
    app = make_app(
        env,
        memory,
        DEFAULT_BUDGET if budget is None else budget,
        max_sessions=max_sessions,
        idle_s=idle,
    )
    typer.echo(f"serving {env} with memory {memory} at http://{host}:{port}")
    serve(app, host, port)
