"""``gym-memory serve-scripted``: a chat server without a model, to try things against."""

from __future__ import annotations

from typing import Annotated

import typer

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.testing.chat import FAULTS, Faults, ScriptedServer

__all__ = ["command"]


def command(
    port: Annotated[int, typer.Option(help="TCP port; 0 takes a free one.", min=0, max=65535)] = 0,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    latency: Annotated[float, typer.Option(help="Seconds before each response.", min=0)] = 0.0,
    fault: Annotated[
        list[str] | None,
        typer.Option(help=f"Fault and its share, NAME=RATE; one of {', '.join(FAULTS)}."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw of faults.")] = 0,
) -> None:
    """Serve the OpenAI chat format on localhost, answered by rules from the prompt's text alone.

    Whatever takes an OpenAI-compatible endpoint can be pointed at it, without a key. Ctrl-C ends
    it.

    Example: `gym-memory serve-scripted --port 8000 --latency 0.2 --fault 429=0.1`
    """
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
