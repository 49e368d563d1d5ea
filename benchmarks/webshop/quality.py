"""What a graph memory knows of the shop, against all that the pages have shown.

    python benchmarks/webshop/quality.py --seeds 100 --out benchmarks/webshop/quality

writes ``quality.json`` and ``quality.md``. After every step the live facts of ``arigraph`` are held
against those of an ideal shopper, computed from the engine's view of the pages and not from their
text (:class:`gym_memory.envs.webshop.facts.IdealShopper`): *precision* is the share of live facts
that it knows too, *recall* the share of what it knows that is live, *recalled* the share of it that
is among the facts shown within the budget, *facts* their number at the end of an episode. Means are
over all steps. *Odd*: a fifth of the actions is replaced by ones that lead nowhere.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import gymnasium as gym

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.registry import make_policy
from gym_memory.envs.webshop.facts import IdealShopper
from gym_memory.envs.webshop.shop import open_shop

ODD = ("look", "click[nothing]", "search[]", "click[buy]", "click[b012345678]")
FIELDS = ("precision", "recall", "recalled")


def measure(policy_name: str, odd: float, seeds: int, budget: int) -> dict[str, Any]:
    """Play the test requests and compare after each step."""
    env = gym.make("gym_memory/WebShop-v0", memory="arigraph", budget=budget)
    raw: Any = env.unwrapped
    graph_of = env.get_wrapper_attr("memory")
    shop = open_shop(raw.catalogue)
    policy = make_policy(policy_name)
    totals = dict.fromkeys(FIELDS, 0.0)
    steps, facts, wrong = 0, 0, 0
    for seed in range(seeds):
        rng = random.Random(seed)
        obs, info = env.reset(seed=seed)
        policy.reset(info, seed)
        ideal = IdealShopper(shop, obs["task"])
        done = False
        while True:
            ideal.see(raw.oracle().objects["view"])
            live = set(graph_of.graph.live())
            shown = {tuple(triple) for triple in obs["triples"]}
            totals["precision"] += len(live & ideal.known) / len(live)
            totals["recall"] += len(live & ideal.known) / len(ideal.known)
            totals["recalled"] += len(shown & ideal.known) / len(ideal.known)
            wrong += len(live ^ ideal.known)
            steps += 1
            if done:
                break
            action = policy.act(obs, info)
            env.get_wrapper_attr("set_focus")(policy.focus)
            if rng.random() < odd:
                action = rng.choice(ODD)
            obs, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
        facts += len(ideal.known)
    env.close()
    return {
        "policy": policy_name,
        "odd": odd,
        "budget": budget,
        "episodes": seeds,
        "steps": steps - seeds,
        **{name: round(total / steps, 4) for name, total in totals.items()},
        "wrong_or_missing_facts": wrong,
        "facts": round(facts / seeds, 1),
        "catalogue": raw.catalogue.digest,
    }


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = [
        measure(policy, odd, options.seeds, options.budget)
        for policy, odd in (("shopper", 0.0), ("shopper", 0.2), ("random", 0.2))
    ]
    options.out.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
    lines = [
        "| policy | odd | episodes | steps | precision | recall | recalled | facts |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
        *(
            f"| {r['policy']} | {r['odd']:.0%} | {r['episodes']} | {r['steps']:,} | "
            f"{r['precision']:.4f} | {r['recall']:.4f} | {r['recalled']:.2f} | {r['facts']:.0f} |"
            for r in rows
        ),
    ]
    options.out.with_suffix(".md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
