"""``gym-memory mcp``: games and memories as tools of the Model Context Protocol."""

from __future__ import annotations

import os
import secrets
from typing import Annotated

import typer
from typer import Option

from gym_memory.cli import options
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["mcp"]


def mcp(
    env: Annotated[
        str,
        Option(
            "--env",
            "-e",
            metavar="ENV",
            callback=options.named,
            help="Environment to play; without one the memory is served alone.",
        ),
    ] = "",
    memory: options.Memory = DEFAULT_MEMORY,
    budget: options.Budget = DEFAULT_BUDGET,
    http: Annotated[bool, Option("--http", help="Serve HTTP at /mcp; default: stdio.")] = False,
    host: Annotated[
        str, Option(help="With --http: address to listen on; every request needs the token.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(help="With --http: TCP port.", min=1, max=65535)] = 8000,
    most: Annotated[
        int, Option("--max-sessions", metavar="N", min=1, help="Handles at once.")
    ] = 64,
    idle: Annotated[
        float, Option(metavar="SECONDS", help="Time without a call after which a handle is void.")
    ] = 600.0,
    plugins: options.Plugins = None,
) -> None:
    """Serve games, or a memory alone, to MCP clients by stdio or HTTP.

    Tools of a game: new_game, act, valid_actions, recall, map, what_is_where, save, go_back,
    close_game. Of a memory: begin, observe, recall, end, close and the others. Over HTTP a request
    carries the printed token as `Authorization: Bearer TOKEN`; GYM_MEMORY_TOKEN sets it.

    Example: `gym-memory mcp -e "Cooking?level=rl-1" -m arigraph`
    """
    from gym_memory.doors.mcp import game_server
    from gym_memory.doors.mcp_memory import memory_server

    options.load_plugins(plugins)
    if env:
        server = game_server(env, memory, budget, most=most, idle_s=idle)
    else:
        server = memory_server(memory, budget, most=most, idle_s=idle)
    if not http:
        server.run("stdio")
        return
    from gym_memory.core.serving import listen, run_server
    from gym_memory.viewer.server import Guard

    token = os.environ.get("GYM_MEMORY_TOKEN") or secrets.token_urlsafe(24)
    typer.echo(f"serving {env or memory} at http://{host}:{port}/mcp (token: {token})")
    app = Guard(server.streamable_http_app(host=host), host, port, token, programs=True)
    run_server(app, listen(host, port), "mcp")
