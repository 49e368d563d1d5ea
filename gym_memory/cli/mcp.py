"""``gym-memory mcp``: games and memories as tools of the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from gym_memory.cli import options
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["mcp"]


def mcp(
    env: options.Env = "",
    memory: options.Memory = DEFAULT_MEMORY,
    budget: options.Budget = DEFAULT_BUDGET,
    http: Annotated[bool, Option("--http", help="Serve HTTP at /mcp; default: stdio.")] = False,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8000,
    max_sessions: options.MaxSessions = 64,
    idle: options.Idle = 600.0,
    plugins: options.Plugins = None,
) -> None:
    """Serve games, or without --env a memory alone, to MCP clients by stdio or HTTP.

    Tools of a game: new_game, act, valid_actions, recall, map, what_is_where, save, go_back,
    close_game. Tools of a memory: begin, observe, recall, end, close and others. Over HTTP a
    request carries the printed token as `Authorization: Bearer TOKEN`; GYM_MEMORY_TOKEN sets it.

    Example: `gym-memory mcp -e "Cooking?level=rl-1" -m arigraph`
    """
    from gym_memory.doors.mcp import game_server
    from gym_memory.doors.mcp_memory import memory_server
    from gym_memory.viewer.server import serve_programs

    options.load_plugins(plugins)
    if env:
        server = game_server(env, memory, budget, most=max_sessions, idle_s=idle)
    else:
        server = memory_server(memory, budget, most=max_sessions, idle_s=idle)
    if http:
        app = server.streamable_http_app(host=host)
        serve_programs(app, env or memory, host, port, "/mcp", "mcp")
    else:
        server.run("stdio")
