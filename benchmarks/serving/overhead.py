"""Measure the time that the OpenEnv server adds to a step; write measured.json.

Server, client and bare environment are in one process and play the same commands, so that the CPU
time of the process covers both. Each step's wall time is the minimum of the repeats, which removes
the effect of other processes.

    python -m benchmarks serving/overhead
"""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import numpy as np
import uvicorn
from keep import write_measured
from openenv import GenericEnvClient

from gym_memory.core.names import Spec
from gym_memory.train.openenv import make_app
from gym_memory.wrappers.make import make_env

ENV, MEMORY, STEPS, REPEATS, PORT = "Cooking?level=hard", "arigraph", 60, 8, 8131


def timed(call: Any) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3


def main() -> None:
    app = make_app(ENV, MEMORY)
    server = uvicorn.Server(uvicorn.Config(app, port=PORT, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    name, parameters = Spec(ENV).parts
    bare, rng = make_env(name, memory=MEMORY, **parameters), np.random.default_rng(0)
    commands = []
    obs, _ = bare.reset(seed=0)
    while len(commands) < STEPS:
        valid = [a for a in obs["valid_actions"] if not a.startswith(("eat", "cook"))]
        commands.append(valid[int(rng.integers(len(valid)))])
        obs, *_ = bare.step(commands[-1])
    times = np.zeros((2, REPEATS, STEPS, 2))
    with GenericEnvClient(base_url=f"http://127.0.0.1:{PORT}").sync() as client:
        for repeat in range(REPEATS):
            bare.reset(seed=0)
            client.reset(seed=0)
            for t, command in enumerate(commands):
                times[0, repeat, t] = timed(lambda c=command: bare.step(c))
                times[1, repeat, t] = timed(lambda c=command: client.step({"text": c}))
    wall = times[..., 0].min(axis=1)
    cpu = times[..., 1].min(axis=1)
    over, over_cpu = wall[1] - wall[0], cpu[1] - cpu[0]
    result = {
        "env": ENV,
        "memory": MEMORY,
        "steps": STEPS,
        "repeats": REPEATS,
        "bare_wall_ms": {"p50": np.median(wall[0]), "p95": np.percentile(wall[0], 95)},
        "overhead_wall_ms": {"p50": np.median(over), "p95": np.percentile(over, 95)},
        "overhead_cpu_ms": {"p50": np.median(over_cpu), "p95": np.percentile(over_cpu, 95)},
    }
    text = json.dumps(result, indent=2, default=lambda v: round(float(v), 3))
    write_measured("serving/overhead", json.loads(text))
    print(text)
    server.should_exit = True


if __name__ == "__main__":
    main()
