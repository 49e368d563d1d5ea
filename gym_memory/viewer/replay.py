"""Write a replay as one file: an episode, or two beside each other, in a page on its own."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gym_memory.core.errors import InvalidArgumentError, ResultsError
from gym_memory.core.files import write_atomic
from gym_memory.core.html import Assets, inline_page, packed, text
from gym_memory.viewer.recordings import Recording, load

__all__ = ["PANE", "REPLAY", "frame", "replay_body", "replay_page", "write_replay"]

_SHARED = (
    ("gym_memory.core.html", "page.js"),
    ("gym_memory.viewer", "cytoscape.min.js"),
    ("gym_memory.viewer", "model.js"),
    ("gym_memory.viewer", "graph.js"),
    ("gym_memory.viewer", "pane.js"),
)
_STYLES = (("gym_memory.core.html", "style.css"), ("gym_memory.viewer", "viewer.css"))
PANE = Assets(_SHARED, _STYLES)
"""What shows one step of an episode."""
REPLAY = Assets((*_SHARED, ("gym_memory.viewer", "replay.js")), _STYLES)
"""What a replay uses."""


def frame(title: str, main: str, links: Sequence[tuple[str, str]] = ()) -> str:
    """Return the bar on top of a page and its main part."""
    anchors = "".join(f'<a href="{text(href)}">{text(name)}</a>' for name, href in links)
    nav = f'<nav aria-label="Pages">{anchors}</nav>' if anchors else ""
    return (
        f'<header class="bar"><span class="brand">gym-memory</span><h1>{text(title)}</h1>{nav}'
        '<button type="button" id="theme" class="quiet">Theme: auto</button></header>'
        f"<main>{main}</main>"
    )


def replay_body(title: str, links: Sequence[tuple[str, str]] = (), attributes: str = "") -> str:
    """Return the body of a replay, which its script fills."""
    return frame(title, f'<div id="replay"{attributes}></div>', links)


def replay_page(recordings: Sequence[Recording]) -> str:
    """Return a page of its own that replays one episode, or two side by side."""
    if not 1 <= len(recordings) <= 2:
        raise InvalidArgumentError(f"expected one or two episodes, got {len(recordings)}")
    data = {"count": packed(len(recordings))}
    for number, recording in enumerate(recordings):
        head, story = load(recording)
        data[f"light-{number}"] = packed({"head": head, **story.light()})
        for chunk in range(story.n_chunks):
            data[f"heavy-{number}-{chunk}"] = packed(story.chunk(chunk))
    title = "Replay: " + " | ".join(recording.title for recording in recordings)
    return inline_page(title, replay_body("Replay"), REPLAY, data)


def write_replay(recordings: Sequence[Recording], path: str | os.PathLike[str]) -> None:
    """Write :func:`replay_page` to a file."""
    page = replay_page(recordings)
    try:
        write_atomic(path, page)
    except OSError as error:
        raise ResultsError(f"cannot write a page to {os.fspath(path)!r}: {error}") from error
