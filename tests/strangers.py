"""Exploits that a stranger may try, and a monitor that detects them."""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CANARY = "canary_of_strangers"
"""A module that leaves a file behind where it is imported."""


def set_trap(folder: Path) -> list[str]:
    """Put the canary into a folder; return names that would import, write or connect."""
    (folder / f"{CANARY}.py").write_text(
        "import pathlib\npathlib.Path(__file__).with_name('sang').touch()\nrun = print\n"
    )
    return [
        f"Foreign?id={CANARY}:run",
        f"Foreign?cmd=touch+{folder}/sang&id=subprocess:getoutput",
        f"{CANARY}:run",
        f"{folder}/{CANARY}.py",
        f"arigraph?lifetime=forever&store={folder}/loot/a.db",
        f"clin?lifetime=forever&store={folder}/loot/b.db",
        "clin?lifetime=forever&store=postgresql://victim@127.0.0.1:{port}/db",
        f"ldm2?store={folder}/loot/c.db",
        "clin?llm=openai?base_url=http://127.0.0.1:{port}/v1",
        f"belief?weights={folder}/{CANARY}.py",
        f"placebo?of=clin?store={folder}/loot/d.db",
        f"TextWorld?path={folder}/{CANARY}.py",
    ]


@contextlib.contextmanager
def listener() -> Iterator[socket.socket]:
    """Yield a port that a stranger listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.0)
        yield server


def knocked(server: socket.socket) -> bool:
    """True if anything has connected."""
    with contextlib.suppress(BlockingIOError):
        server.accept()[0].close()
        return True
    return False


_EVENTS: list[list[str]] = []
_WATCHED = ("socket.connect", "sqlite3.connect", "subprocess.Popen", "os.system", "os.mkdir")


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _EVENTS:
        return
    writes = event == "open" and set(str(args[1])) & set("wax+")
    if writes or event in _WATCHED:
        _EVENTS[-1].append(f"{event} {args!r}")


sys.addaudithook(_hook)


@contextlib.contextmanager
def watched() -> Iterator[list[str]]:
    """Collect what is written, connected to or started meanwhile."""
    _EVENTS.append([])
    try:
        yield _EVENTS[-1]
    finally:
        _EVENTS.pop()
