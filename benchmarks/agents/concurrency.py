"""Measure steps a second of many episodes at once against a slow chat server.

    python benchmarks/agents/concurrency.py 0.2 >> benchmarks/agents/concurrency.jsonl

The argument is the server's latency in seconds; every run adds a line. One worker process plays
``n`` episodes at a time (``--concurrency n`` of ``gym-memory compare``); the scripted server runs
in this process, so two cores are busy. The time runs from the first call to the end of the last
episode: the start of the worker and the report are left out. It is wall time, so run it on a quiet
machine; each line has the load of the last minute before and after.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from gym_memory import __version__
from gym_memory.papers.presets import make_preset, policy_with_model
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig
from gym_memory.testing.chat import ScriptedServer

ENV = "Cooking?level=medium&max_steps=12"
AGENTS = ("ariadne", "stma", "react", "plain")
EPISODES = {1: 1, 32: 64}


def measure(agent: str, concurrency: int, latency: float) -> dict[str, Any]:
    preset = make_preset(f"{agent}?variant=ours")
    with ScriptedServer(latency=latency) as server, tempfile.TemporaryDirectory() as folder:
        policy = policy_with_model(
            preset.policy, {"model": "scripted", "base_url": server.base_url}
        )
        config = RunConfig((ENV,), (preset.memory,), (policy,), tuple(range(EPISODES[concurrency])))
        first = _Started(server)
        ended = 0.0

        def on_progress(done: int, total: int, rows: Any) -> None:
            nonlocal ended
            ended = time.perf_counter()

        rows = compare(
            config, Path(folder) / "run", workers=1, concurrency=concurrency,
            on_progress=on_progress,
        )  # fmt: skip
        assert not any(row.result.failed for row in rows)
        seconds = ended - first.when
        steps = sum(row.result.steps for row in rows)
        return {
            "agent": agent,
            "memory": preset.memory,
            "concurrency": concurrency,
            "episodes": len(rows),
            "steps": steps,
            "calls_per_step": round(server.received / steps, 2),
            "seconds": round(seconds, 2),
            "steps_per_second": round(steps / seconds, 2),
            "most_calls_at_once": server.most_active,
        }


class _Started(threading.Thread):
    """A server that records the time of the first call."""

    def __init__(self, server: ScriptedServer):
        super().__init__(daemon=True)
        self.when, self._server = 0.0, server
        self.start()

    def run(self) -> None:
        while not self._server.received:
            time.sleep(0.005)
        self.when = time.perf_counter()


def main() -> None:
    latency = float(sys.argv[1])
    setting: dict[str, Any] = {"env": ENV, "latency_s": latency, "workers": 1}
    setting |= {"cores": os.cpu_count(), "gym_memory": __version__, "load_before": _load()}
    rows = []
    for agent in AGENTS:
        one = 0.0
        for concurrency in EPISODES:
            row = measure(agent, concurrency, latency)
            one = one or row["steps_per_second"]
            row["times_one"] = round(row["steps_per_second"] / one, 1)
            rows.append(row)
    print(json.dumps({**setting, "load_after": _load(), "rows": rows}))


def _load() -> float:
    return round(os.getloadavg()[0], 1)


if __name__ == "__main__":
    main()
