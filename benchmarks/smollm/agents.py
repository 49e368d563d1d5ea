"""Language agents against a real llama.cpp server, on a real game, to the end of each episode.

    OMP_NUM_THREADS=1 python benchmarks/smollm/agents.py > benchmarks/smollm/agents.jsonl

A row an episode: the server's own count of tokens beside ours, which must agree, what the agent
answered, and the score. An answer has at most 120 tokens, an episode 6 steps.
"""

from __future__ import annotations

import json
import time
from itertools import product

from gym_memory.baselines.language import LanguagePolicy
from gym_memory.baselines.registry import make_policy
from gym_memory.run import rollout
from gym_memory.specs import format_spec, parse_spec
from gym_memory.testing.llama import LlamaServer
from gym_memory.wrappers.make import make_env

GAME = "Cooking?level=rl-1&gata_actions=true"
AGENTS = ("plain", "react", "ariadne")


def play(llama: LlamaServer, agent: str, constrain: bool) -> dict[str, object]:
    """One episode."""
    spec = {"model": "smollm", "base_url": llama.base_url, "history": 1, "temperature": 0.0}
    policy = make_policy(format_spec(agent, {**spec, "constrain": constrain}))
    assert isinstance(policy, LanguagePolicy)
    policy.max_tokens = 120
    name, kwargs = parse_spec(GAME)
    env = make_env(name, memory="arigraph", budget=300, split="test", max_steps=6, **kwargs)
    before, started = llama.counts(), time.perf_counter()
    result = rollout(env, policy, seed=0)
    env.close()
    server = {f"server_{kind}": count - before[kind] for kind, count in llama.counts().items()}
    told = {"game": GAME, "agent": agent, "constrain": constrain, "steps": result.steps}
    seconds = round(time.perf_counter() - started)
    scored = {"score": result.normalized, "n_invalid": result.n_invalid, "seconds": seconds}
    return {**told, **scored, **server, **result.counters}


def main() -> None:
    with LlamaServer() as llama:
        for agent, constrain in product(AGENTS, (False, True)):
            print(json.dumps(play(llama, agent, constrain)), flush=True)


if __name__ == "__main__":
    main()
