"""``gym-memory view``: look at what was recorded, in a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gym_memory.cli.show import progress
from gym_memory.core.errors import ResultsError
from gym_memory.core.html import visible

__all__ = ["command"]


def command(
    paths: Annotated[
        list[Path], typer.Argument(help="Results folders, folders of them, or steps/*.jsonl.gz.")
    ],
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a replay as one file instead of serving pages."),
    ] = None,
    episode: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORDS",
            help="With --html: the episode, e.g. `arigraph planner seed 3`; twice for two side by "
            "side. Default: the first.",
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Print the recorded episodes.")] = False,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than this machine need the token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="TCP port; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Browse, replay and compare recorded runs in the browser; or write a replay as one file.

    Example: `gym-memory view results/first`

    A file to keep or to send: `gym-memory view results/first --html replay.html
    --episode "arigraph planner seed 3" --episode "history planner seed 3"`
    """
    from gym_memory.viewer.recordings import choose, find
    from gym_memory.viewer.replay import write_replay

    recordings = find(paths)
    if listed:
        for number, recording in enumerate(recordings):
            print(f"{number}: {visible(recording.title)}")
        return
    if html is not None:
        if not recordings:
            raise ResultsError("expected recorded episodes (steps/*.jsonl.gz), found none there")
        chosen = [choose(recordings, words) for words in episode or ["0"]]
        write_replay(chosen, html)
        told = " | ".join(recording.title for recording in chosen)
        progress().print(f"{html}: {told}", markup=False, soft_wrap=True)
        return
    from gym_memory.viewer.server import serve

    serve(paths, host=host, port=port, browser=browser)
