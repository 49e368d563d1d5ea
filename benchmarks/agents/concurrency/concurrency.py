"""Steps a second of many episodes at once against a chat server that takes 200 ms a call.

    python benchmarks/agents/concurrency/concurrency.py > benchmarks/agents/concurrency/result.json

One worker process plays ``n`` episodes at a time (``--concurrency n`` of ``gym-memory compare``);
the scripted server runs in this process. The clock runs from the first call to the end of the
last episode, so the start of the worker and the report are left out.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from gym_memory.experiment.compare import compare
from gym_memory.experiment.jobs import RunConfig
from gym_memory.papers.presets import make_preset, policy_with_model
from gym_memory.serve import ScriptedServer
from gym_memory.version import __version__

LATENCY = 0.2
ENV = "Cooking?level=medium&max_steps=12"
AGENTS = ("ariadne", "stma", "react", "plain")
EPISODES = {1: 2, 32: 96}


def measure(agent: str, concurrency: int) -> dict[str, Any]:
    preset = make_preset(agent)
    with ScriptedServer(latency=LATENCY) as server, tempfile.TemporaryDirectory() as folder:
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
    """Notes when the first call comes."""

    def __init__(self, server: ScriptedServer):
        super().__init__(daemon=True)
        self.when, self._server = 0.0, server
        self.start()

    def run(self) -> None:
        while not self._server.received:
            time.sleep(0.005)
        self.when = time.perf_counter()


def main() -> None:
    rows = []
    for agent in AGENTS:
        one = 0.0
        for concurrency in EPISODES:
            row = measure(agent, concurrency)
            one = one or row["steps_per_second"]
            row["times_one"] = round(row["steps_per_second"] / one, 1)
            rows.append(row)
    setting = {"env": ENV, "latency_s": LATENCY, "workers": 1, "gym_memory": __version__}
    print(json.dumps({**setting, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
