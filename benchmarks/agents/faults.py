"""Play episodes while the server, or the network, fails.

    python benchmarks/agents/faults.py > benchmarks/agents/faults.json

Every third call meets the fault (a wrong key and a spent quota: one of twenty, because they end an
episode). Four agents play three games each with the memory arigraph, at most 20 steps, over real
HTTP in one run of ``gym-memory compare``, 16 episodes at a time; every fault has a server and a
hard stop in US dollars of its own; the model has a price and two retries. A row has the number of
aborted episodes with reasons, the scores, the number of decisions by a rule, and the accounted
spending (lost answers count in full) as a share of the stop. The row ``stop`` has no fault, but a
stop that is too low. ``files_with_key`` counts the files of the whole run that contain the key.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from gym_memory import __version__
from gym_memory.core.names import Spec
from gym_memory.llm import Budget
from gym_memory.run.compare import compare
from gym_memory.run.config import EpisodeRow, RunConfig
from gym_memory.testing.chat import FAULTS, Faults, ScriptedServer

AGENTS = ("ariadne", "stma", "react", "plain")
ENV = "Cooking?level=stma-2&max_steps=20"
SEEDS = (0, 1, 2)
STOP, LOW_STOP = 2.0, 0.1
KEY = "sk-THIS-MUST-NOT-BE-FOUND-0123456789"
RATES = {"401": 0.05, "quota": 0.05, "none": 0.0, "stop": 0.0}
MODEL = {
    "model": "scripted",
    "prompt_price": 1.0,
    "completion_price": 4.0,
    "cached_price": 1.0,
    "retries": 2,
    "backoff": 0.01,
    "timeout": 60.0,
}


def main() -> None:
    os.environ["OPENAI_API_KEY"] = KEY
    agents: dict[str, tuple[str, str]] = {}  # policy to its fault and name
    stops = dict.fromkeys(("none", *FAULTS), STOP) | {"stop": LOW_STOP}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for fault, stop in stops.items():
            rates = {fault: RATES.get(fault, 1 / 3)} if fault in FAULTS else {}
            server = stack.enter_context(ScriptedServer(faults=Faults(rates=rates), key=KEY))
            llm = {**MODEL, "base_url": server.base_url, "max_cost_usd": stop}
            llm |= {"budget": str(folder / f"{fault}.sqlite")}
            if fault == "timeout":
                llm["timeout"] = 1.0
            for name in AGENTS:
                policy = Spec.of(name, {"llm": Spec.of("openai", llm)})
                agents[policy] = fault, name
        config = RunConfig((ENV,), ("arigraph",), tuple(agents), SEEDS)
        rows = compare(config, folder / "run", workers=1, concurrency=16, timeout=3600)
        assert len(rows) == len(config.jobs()), "every episode is accounted for"
        assert not any(row.result.n_invalid for row in rows), "only valid actions were played"
        files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
        records = [
            _of_fault(fault, [row for row in rows if agents[row.job.policy][0] == fault], agents)
            | {"spent_of_stop": round(_spent(folder / f"{fault}.sqlite") / stop, 3)}
            for fault, stop in stops.items()
        ]
    leaks = sum(KEY.encode() in content for content in files)
    about = {"env": ENV, "seeds": SEEDS, "stop_usd": STOP, "low_stop_usd": LOW_STOP}
    about |= {"files": len(files), "files_with_key": leaks, "gym_memory": __version__}
    print(json.dumps({**about, "rows": records}, indent=1))


def _spent(path: Path) -> float:
    budget = Budget(path=path)
    try:
        return budget.spent()[1]
    finally:
        budget.close()


def _of_fault(
    fault: str, rows: Sequence[EpisodeRow], agents: Mapping[str, tuple[str, str]]
) -> dict[str, Any]:
    by_name: dict[str, list[EpisodeRow]] = {name: [] for name in AGENTS}
    for row in rows:
        by_name[agents[row.job.policy][1]].append(row)
    return {
        "fault": fault,
        "what": FAULTS.get(fault, "nothing amiss"),
        "episodes": len(rows),
        "broke_off": sum(bool(row.result.failed) for row in rows),
        "why": sorted({row.result.failed.partition(":")[0] for row in rows} - {""}),
        "agents": {name: _of_agent(mine) for name, mine in by_name.items()},
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


if __name__ == "__main__":
    main()
