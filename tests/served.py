"""A command that serves HTTP, in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TOKEN = "a-token-of-ours"


@contextmanager
def serving(*words: str, cwd: Path | None = None) -> Iterator[int]:
    """Run ``python WORDS --port PORT`` until the block ends; yield the port once it answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, *words, "--port", str(number)],
        cwd=cwd,
        env={**os.environ, "GYM_MEMORY_TOKEN": TOKEN},
    )
    end = time.monotonic() + 600
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", number)).close()
                break
            except ConnectionRefusedError:
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.1)
        yield number
    finally:
        process.terminate()
        process.wait(600)
