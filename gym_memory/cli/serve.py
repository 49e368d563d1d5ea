"""``gym-memory serve`` and ``serve-scripted``: an environment, or a chat server without a model."""

from __future__ import annotations

import os
import secrets
from typing import Annotated

import typer
from typer import Option

from gym_memory.cli import options
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["serve", "serve_scripted"]


def serve(
    env: options.Env,
    memory: options.Memory = DEFAULT_MEMORY,
    budget: options.Budget = DEFAULT_BUDGET,
    host: Annotated[
        str, Option(help="Address to listen on; every request needs the token.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(help="TCP port.", min=1, max=65535)] = 8000,
    max_sessions: Annotated[
        int, Option(metavar="N", min=1, help="Sessions at once; one more is refused.")
    ] = 64,
    idle: Annotated[
        float, Option(metavar="SECONDS", help="Idle time after which a session is closed.")
    ] = 600.0,
    plugins: options.Plugins = None,
) -> None:
    """Serve an environment with a memory to OpenEnv clients; Ctrl-C ends it.

    Each connection is a session with a game of its own. `/health` reports that it is up. A request
    carries the printed token as `Authorization: Bearer TOKEN`; GYM_MEMORY_TOKEN sets it.

    Example: `gym-memory serve -e "Cooking?level=rl-1" -m arigraph --port 8000`
    """
    from gym_memory.train.openenv import make_app
    from gym_memory.train.openenv import serve as run
    from gym_memory.viewer.guard import Guard

    options.load_plugins(plugins)
    app = make_app(env, memory, budget, max_sessions=max_sessions, idle_s=idle)
    token = os.environ.get("GYM_MEMORY_TOKEN") or secrets.token_urlsafe(24)
    typer.echo(f"serving {env} with memory {memory} at http://{host}:{port} (token: {token})")
    run(Guard(app, host, port, token, programs=True), host, port)


def serve_scripted(
    port: Annotated[int, Option(help="TCP port; 0 takes a free one.", min=0, max=65535)] = 0,
    host: Annotated[str, Option(help="Address to listen on.")] = "127.0.0.1",
    latency: Annotated[float, Option(help="Seconds before each response.", min=0)] = 0.0,
    fault: Annotated[
        list[str] | None, Option(help="Fault and its share, NAME=RATE, e.g. 429=0.1. Repeatable.")
    ] = None,
    seed: Annotated[int, Option(help="Seed of the draw of faults.")] = 0,
) -> None:
    """Serve the OpenAI chat format on localhost, answered by rules from the prompt alone.

    Point any client of an OpenAI-compatible endpoint at it; it needs no key. Ctrl-C ends it.

    Example: `gym-memory serve-scripted --port 8000 --latency 0.2 --fault 429=0.1`
    """
    from gym_memory.testing.chat import Faults, ScriptedServer

    rates = {}
    for text in fault or ():
        name, _, share = text.partition("=")
        try:
            rates[name] = float(share)
        except ValueError:
            raise InvalidArgumentError(
                f"expected --fault NAME=RATE such as 429=0.1, got {text!r}"
            ) from None
    faults = Faults(rates=rates, seed=seed)
    try:
        server = ScriptedServer(port, host, latency=latency, faults=faults)
    except OSError as error:
        raise InvalidArgumentError(f"cannot listen on {host}:{port}: {error}") from error
    typer.echo(f"serving at {server.base_url} (model: scripted)")
    try:
        server.serve_forever()
    finally:
        server.close()
