"""What becomes of episodes when the server, or the network, fails: one row a fault.

    python benchmarks/agents/faults/faults.py > benchmarks/agents/faults/result.json

Every third call meets the fault (a wrong key and a spent quota: one of a hundred, for they end an
episode). Four agents play three games each with the memory arigraph, at most 30 steps, over real
HTTP on the path of ``gym-memory compare``, with a hard stop in US dollars; the model has a price
and two retries. A row says how many episodes broke off and why, what was scored, how often a rule
stood in, what was spent by the run's own books (answers that got lost count in full) as a share of
the stop, and in how many files of the run the key was found. In the row ``stop`` there is no fault
but a stop that is too low.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gym_memory.experiment.compare import compare
from gym_memory.experiment.jobs import EpisodeRow, RunConfig
from gym_memory.llm import Budget
from gym_memory.serve import FAULTS, Faults, ScriptedServer
from gym_memory.specs import format_spec

AGENTS = ("ariadne", "stma", "react", "plain")
ENV = "Cooking?level=stma-2&max_steps=30"
SEEDS = (0, 1, 2)
STOP, LOW_STOP = 3.0, 0.15
KEY = "sk-THIS-MUST-NOT-BE-FOUND-0123456789"
RATES = {"401": 0.01, "quota": 0.01}
MODEL = {
    "model": "scripted",
    "prompt_price": 1.0,
    "completion_price": 4.0,
    "cached_price": 1.0,
    "retries": 2,
    "backoff": 0.01,
}
QUICK = {"timeout": 0.5}
"""Where nothing ever comes; elsewhere a busy machine must not add timeouts of its own."""


def measure(fault: str, stop: float = STOP) -> dict[str, Any]:
    rates = {fault: RATES.get(fault, 1 / 3)} if fault in FAULTS else {}
    with (
        ScriptedServer(faults=Faults(rates=rates), key=KEY) as server,
        tempfile.TemporaryDirectory() as name,
    ):
        llm = {**MODEL, **(QUICK if fault == "timeout" else {}), "base_url": server.base_url}
        agents = {format_spec(n, {"llm": format_spec("openai", llm)}): n for n in AGENTS}
        config = RunConfig((ENV,), ("arigraph",), tuple(agents), SEEDS)
        folder = Path(name) / "run"
        rows = compare(config, folder, workers=1, concurrency=12, max_cost_usd=stop, timeout=600)
        assert len(rows) == len(config.jobs())
        assert not any(row.result.n_invalid for row in rows)
        files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
        budget = Budget(path=folder / "spending.sqlite")
        spent = budget.spent()[1]
        budget.close()
    return {
        "fault": fault,
        "what": FAULTS.get(fault, "nothing amiss"),
        "episodes": len(rows),
        "why_broken_off": sorted({r.result.failed.partition(":")[0] for r in rows} - {""}),
        "usd_told": round(sum(row.result.cost_usd for row in rows), 4),
        "spent_of_stop": round(spent / stop, 3),
        "files_with_key": sum(KEY.encode() in content for content in files),
        "agents": {
            name: _of_agent([row for row in rows if row.job.policy == policy])
            for policy, name in agents.items()
        },
    }


def _of_agent(rows: Sequence[EpisodeRow]) -> dict[str, float]:
    steps = max(sum(row.result.steps for row in rows), 1)

    def per_step(counter: str) -> float:
        return round(sum(row.result.counters.get(counter, 0) for row in rows) / steps, 2)

    return {
        "broke_off": sum(bool(row.result.failed) for row in rows),
        "score": round(sum(row.result.normalized for row in rows) / len(rows), 3),
        "failed_attempts_per_step": per_step("llm_failures"),
        "repairs_per_step": per_step("llm_repairs"),
        "rule_stood_in_per_step": per_step("fallbacks"),
        "impossible_actions_per_step": per_step("invalid_actions"),
    }


def main() -> None:
    os.environ["OPENAI_API_KEY"] = KEY
    rows = [measure("none"), *(measure(fault) for fault in FAULTS), measure("stop", LOW_STOP)]
    print(json.dumps({"env": ENV, "seeds": SEEDS, "stop_usd": STOP, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
