"""Play a few steps through `gym-memory mcp` by stdio; print the milliseconds of a call.

python benchmarks/doors/client.py -e "Cooking?level=rl-1" -m arigraph
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from typing import Any

import mcp
from mcp.client.stdio import StdioServerParameters

from gym_memory.train.session import Session

STEPS = 20


async def played(words: list[str]) -> list[float]:
    """Return the milliseconds of each step through the server."""
    server: Any = StdioServerParameters(
        command=sys.executable, args=["-m", "gym_memory", "mcp", *words]
    )
    times = []
    async with mcp.Client(server) as client:
        begun = await client.call_tool("new_game", {"seed": 0})
        handle = begun.structured_content["handle"]
        for _ in range(STEPS):
            began = time.perf_counter()
            done = await client.call_tool("act", {"handle": handle, "command": "look"})
            times.append((time.perf_counter() - began) * 1e3)
            assert not done.is_error, done.content
    return times


def bare(words: list[str]) -> list[float]:
    """Return the milliseconds of each step in this process."""
    named = dict(zip(words[::2], words[1::2], strict=True))
    session = Session(named["-e"], named["-m"])
    session.reset(seed=0)
    times = []
    for _ in range(STEPS):
        began = time.perf_counter()
        session.step("look")
        times.append((time.perf_counter() - began) * 1e3)
    session.close()
    return times


def main() -> None:
    through, here = asyncio.run(played(sys.argv[1:])), bare(sys.argv[1:])
    print(f"median of a step: {statistics.median(here):.2f} ms bare, "
          f"{statistics.median(through):.2f} ms through MCP")  # fmt: skip


if __name__ == "__main__":
    main()
