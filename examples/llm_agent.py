"""An agent that calls a language model, and its cost; without a key, against a scripted server.

pip install "gym-memory[textworld,llm]"
python examples/llm_agent.py
python examples/llm_agent.py --base-url http://localhost:8000/v1 --model qwen   # your own
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os

from gym_memory.baselines import make_policy
from gym_memory.llm.usage import Budget, episode_usage
from gym_memory.run import rollout
from gym_memory.testing.chat import ScriptedServer
from gym_memory.wrappers import make_env


def play(base_url: str, model: str, memory: str, games: int) -> None:
    """Play games with one memory; print score, steps, calls, tokens and money."""
    env = make_env("TreasureHunt", level="hard", split="test", memory=memory)
    policy = make_policy(f"ariadne?model={model}&base_url={base_url}")
    budget = Budget(max_cost_usd=1.0)  # ends a run before it costs more
    for seed in range(games):
        with episode_usage(budget=budget) as meter:
            result = rollout(env, policy, seed)
        total = meter.total()
        print(
            f"{memory}, game {seed}: score {result.normalized:.2f} in {result.steps} steps, "
            f"{total.calls} calls, {total.prompt_tokens} + {total.completion_tokens} tokens, "
            f"{total.cost_usd:.4f} USD"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--base-url", default="")
    parser.add_argument("--model", default="scripted")
    parser.add_argument("--games", type=int, default=1)
    given = parser.parse_args()
    # US dollars a million tokens: prompt, completion, prompt from the server's cache.
    os.environ.setdefault("GYM_MEMORY_PRICES", json.dumps({given.model: [0.15, 0.60, 0.075]}))
    with contextlib.ExitStack() as stack:
        url = given.base_url or stack.enter_context(ScriptedServer()).base_url
        for name in ("none", "arigraph"):
            play(url, given.model, name, given.games)
