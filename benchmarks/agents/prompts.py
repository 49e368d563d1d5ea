"""Measure calls and tokens a step of agents' prompts, and the share that a server has cached.

    python benchmarks/agents/prompts.py     # writes prompts.json

Over real HTTP against the scripted server, a fresh one for every episode. ``cached`` is the share
of the prompt tokens in a prefix of an earlier prompt of the same episode, in blocks of 16 tokens,
as in the prefix cache of a server such as vLLM. ``layout`` plays each agent with its paper's
memory. ``roles`` gives the four roles of Ariadne's memory to the model, one by one and all
together, and has Ariadne plan every second or fourth step. The scripted server answers the memory's
prompts by the same rules that answer without it, so the scores show that nothing is lost in the
prompts. They do not compare a model with the rules.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gym_memory.baselines.base import make_policy
from gym_memory.core.errors import ModelError
from gym_memory.core.names import Spec
from gym_memory.llm import Reply, Request, episode_usage, make_model
from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.base import MEMORIES
from gym_memory.run import rollout
from gym_memory.testing.chat import ScriptedServer
from gym_memory.wrappers.make import make_env

SEEDS = range(10)
LAYOUT = (
    ("TreasureHunt?level=easy", "arigraph", "ariadne"),
    ("TreasureHunt?level=hard", "arigraph", "ariadne"),
    ("Cooking?level=medium", "arigraph", "ariadne"),
    ("Cooking?level=stma-2", "stma", "stma"),
    ("Cooking?level=medium", "none", "react"),
    ("Cooking?level=medium", "none", "plain"),
    ("Cooking?level=medium", "arigraph", "react"),
    ("Cooking?level=medium", "arigraph", "plain"),
)
ROLES = tuple(
    (game, memory, policy)
    for game in ("TreasureHunt?level=easy", "Cooking?level=medium")
    for memory, policy in (
        ("arigraph", "ariadne"),
        ("arigraph-by-model?role=extract", "ariadne"),
        ("arigraph-by-model?role=outdated", "ariadne"),
        ("arigraph-by-model?role=entities", "ariadne"),
        ("arigraph-by-model?role=explore", "ariadne"),
        ("arigraph-by-model", "ariadne"),
        ("arigraph", "ariadne?plan_every=2"),
        ("arigraph", "ariadne?plan_every=4"),
    )
)


class OneRole:
    """A model that plays one role; the memory's rules play the others."""

    def __init__(self, model: Any, role: str):
        self.name, self._model, self._role = model.name, model, role

    def complete(self, request: Request) -> Reply:
        if self._role not in ("", request.role):
            raise ModelError("refusal", "not my role")
        answer: Reply = self._model.complete(request)
        return answer


def arigraph_by_model(role: str = "", base_url: str = "") -> AriGraph:
    """Return AriGraph with one role, or all of them, played by the scripted model."""
    model = make_model(Spec.of("openai", {"model": "scripted", "base_url": base_url}))
    return AriGraph(llm=OneRole(model, role))  # type: ignore[arg-type]


def measure(env: str, memory: str, policy: str) -> dict[str, Any]:
    """Measure one row: a combination over all seeds."""
    total = {"calls": 0, "prompt": 0, "cached": 0, "answer": 0}
    roles: dict[str, dict[str, int]] = {}
    scores, wins, steps = [], 0, 0
    for seed in SEEDS:
        with ScriptedServer() as server, episode_usage() as meter:
            name, kwargs = Spec(policy).parts
            llm = {"model": "scripted", "base_url": server.base_url}
            player = make_policy(Spec.of(name, {**kwargs, **llm}))
            held, arguments = Spec(memory).parts
            if held == "arigraph-by-model":
                arguments["base_url"] = server.base_url
            game, options = Spec(env).parts
            world: Any = make_env(game, memory=Spec.of(held, arguments), **options)
            result = rollout(world, player, seed)
            world.close()
        scores.append(result.normalized)
        wins += result.success
        steps += result.steps
        for role, usage in meter.by_role().items():
            for seen in (total, roles.setdefault(role, dict.fromkeys(total, 0))):
                seen["calls"] += usage.calls
                seen["prompt"] += usage.prompt_tokens
                seen["cached"] += usage.cached_tokens
                seen["answer"] += usage.completion_tokens
    return {
        "env": env,
        "memory": memory,
        "policy": policy,
        "n": len(scores),
        "score": round(sum(scores) / len(scores), 3),
        "success": round(wins / len(scores), 3),
        "steps": round(steps / len(scores), 1),
        "calls_per_step": round(total["calls"] / steps, 2),
        "prompt_per_step": round(total["prompt"] / steps),
        "new_per_step": round((total["prompt"] - total["cached"]) / steps),
        "answer_per_step": round(total["answer"] / steps),
        "cached": round(total["cached"] / total["prompt"], 3),
        "roles": {role: _of_role(seen, steps) for role, seen in sorted(roles.items())},
    }


def _of_role(seen: Mapping[str, int], steps: int) -> dict[str, float]:
    calls = seen["calls"]
    return {
        "calls_per_step": round(calls / steps, 2),
        "prompt_per_call": round(seen["prompt"] / calls) if calls else 0,
        "answer_per_call": round(seen["answer"] / calls) if calls else 0,
        "cached": round(seen["cached"] / max(seen["prompt"], 1), 3),
    }


def main() -> None:
    MEMORIES.register("arigraph-by-model", arigraph_by_model)
    found = {
        name: [measure(*cell) for cell in cells]
        for name, cells in (("layout", LAYOUT), ("roles", ROLES))
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
