"""``gym-memory serve``: an environment with memory as an OpenEnv server."""

from __future__ import annotations

import os
import secrets
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
        str, typer.Option(help="Address to listen on; every request needs the token.")
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

    Each connection is a session with a game of its own. `/health` says that it is up. A request
    carries the printed token as `Authorization: Bearer TOKEN`; GYM_MEMORY_TOKEN sets it.

    Example: `gym-memory serve -e "Cooking?level=rl-1" -m arigraph --port 8000`
    """
    from gym_memory.train.openenv import make_app, serve
    from gym_memory.viewer.guard import Guard

    options.load_plugins(plugins)
    app = make_app(
        env,
        memory,
        DEFAULT_BUDGET if budget is None else budget,
        max_sessions=max_sessions,
        idle_s=idle,
    )
    token = os.environ.get("GYM_MEMORY_TOKEN") or secrets.token_urlsafe(24)
    typer.echo(f"serving {env} with memory {memory} at http://{host}:{port} (token: {token})")
    serve(Guard(app, host, port, token, programs=True), host, port)
