"""The table of policies; ``--policy`` takes one of these names."""

from __future__ import annotations

import contextlib
from typing import Any

from gym_memory.baselines.base import Policy
from gym_memory.core.registry import Registry
from gym_memory.core.specs import Spec

__all__ = ["POLICIES", "learner_classes", "make_policy"]

POLICIES = Registry(
    "policy",
    "gym_memory.policies",
    {
        "random": "gym_memory.baselines.rules.scripted:Random",
        "walkthrough": "gym_memory.baselines.rules.scripted:Walkthrough",
        "human": "gym_memory.baselines.human:Human",
        "planner": "gym_memory.baselines.rules.textworld.planner:Planner",
        "ariadne": "gym_memory.baselines.llm.ariadne:Ariadne",
        "react": "gym_memory.baselines.llm.react:React",
        "reflexion": "gym_memory.baselines.llm.reflexion:Reflexion",
        "plain": "gym_memory.baselines.llm.plain:Plain",
        "lm": "gym_memory.train.lm:Lm",
        "prompted": "gym_memory.train.policy:Prompted",
        "stma": "gym_memory.baselines.llm.stma:Stma",
        "clin": "gym_memory.baselines.llm.clin:Clin",
        "ldm2": "gym_memory.baselines.llm.ldm2:Ldm2",
        "choose": "gym_memory.baselines.llm.choose:Choose",
        "netplay": "gym_memory.baselines.llm.netplay:NetPlay",
        "descender": "gym_memory.baselines.rules.nethack.descender:Descender",
        "shopper": "gym_memory.baselines.rules.webshop.shopper:Shopper",
        "answerer": "gym_memory.baselines.llm.answerer:Answerer",
        "reader": "gym_memory.baselines.rules.qa.reader:Reader",
        "learner": "gym_memory.baselines.rules.learner:Learner",
        "drrn": "gym_memory.baselines.rl.drrn:Drrn",
        "bc": "gym_memory.baselines.rl.bc:Bc",
        "a2c": "gym_memory.baselines.rl.a2c:A2c",
        "text": "gym_memory.baselines.rl.text:Text",
        "gata": "gym_memory.baselines.rl.gata:Gata",
        "sb3": "gym_memory.baselines.rl.sb3:Sb3",
        "searcher": "gym_memory.baselines.rules.alfworld.searcher:Searcher",
        "imitator": "gym_memory.baselines.rules.scienceworld.imitator:Imitator",
    },
)
"""Names of policies; other packages add theirs by the group ``gym_memory.policies``."""


def make_policy(spec: str | Spec | Policy) -> Policy:
    """Build a policy from a name with parameters; a ready policy is returned as it is."""
    return spec if isinstance(spec, Policy) else POLICIES.make(spec)


def learner_classes() -> dict[str, Any]:
    """The learners of the policies that ``gym-memory train`` trains, where packages allow it."""
    found = {}
    for name in POLICIES.names():
        with contextlib.suppress(ImportError):
            found[name] = getattr(POLICIES.get(name), "learner_class", None)
    return {name: learner for name, learner in found.items() if learner is not None}
