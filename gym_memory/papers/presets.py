"""Presets of the papers' agents: policy, memory, protocol and budget."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.baselines.base import POLICIES
from gym_memory.core.errors import UnknownNameError
from gym_memory.core.names import Registry, Spec
from gym_memory.core.settings import check_name
from gym_memory.llm import SMOLLM, model_spec
from gym_memory.memory.base import MEMORIES
from gym_memory.memory.encoders import DEFAULT_MODEL
from gym_memory.wrappers.memory import DEFAULT_BUDGET

__all__ = ["PRESETS", "Preset", "make_preset", "memory_with_model", "policy_with_model"]
__all__ += ["settings_taken"]


class Preset(NamedTuple):
    """A preset of a policy with its paper's memory.

    ``navigate``: the agent has ``go to <place>``; ``llm``: the language model plays the roles of
    the memory, too. The papers cut no recall to a budget.
    """

    policy: str
    memory: str
    protocol: str = "single_episode"
    navigate: bool = False
    llm: bool = False
    budget: int = DEFAULT_BUDGET
    about: str = ""


PRESETS: Mapping[str, Preset] = {
    "ariadne": Preset(
        "ariadne?history_tokens=4000",
        "arigraph?attempts=0&dated=false&recall=semantic",
        navigate=True, llm=True, budget=4000, about="Anokhin et al., AriGraph",
    ),
    "stma": Preset(
        "stma?history_tokens=4000&knowledge=game", f"stma?encoder={DEFAULT_MODEL}&repeat=true",
        llm=True, budget=4000, about="Lei et al., STMA",
    ),
    "clin": Preset(
        "clin?history=null&history_tokens=null", "clin?inner=none", "trials?k=5&stop=true",
        llm=True, budget=4000, about="Majumder et al., CLIN",
    ),
    "ldm2": Preset(
        "ldm2?history=0", f"ldm2?batch=each&encoder={DEFAULT_MODEL}&learn=false",
        "best_of?chooser=model&k=null",
        llm=True, budget=4000, about="Wang et al., LDM2",
    ),
    "reflexion": Preset("reflexion", "none", "trials?k=3", about="Shinn et al., Reflexion"),
    "react": Preset("react", "none", about="Yao et al., ReAct"),
    "plain": Preset("plain", "none", about="full history, the baseline of every memory"),
}  # fmt: skip
"""Presets by name. ReAct, Reflexion and plain keep their own trajectory, so they have no memory."""


def make_preset(spec: str) -> Preset:
    """Build a preset by name.

    ``variant=ours`` gives policy and memory their own defaults. Other parameters go to the policy
    if it takes them, else to the memory.

    >>> make_preset("stma?variant=ours&critic=false&hops=2")[:2]
    ('stma?critic=false', 'stma?hops=2')
    """
    name, kwargs = Spec(spec).parts
    check_name("preset", name, PRESETS)
    preset = PRESETS[name]
    variant = str(kwargs.pop("variant", "paper"))
    check_name("variant", variant, ("paper", "ours"))
    if variant == "ours":
        preset = Preset(
            Spec(preset.policy).name, Spec(preset.memory).name,
            preset.protocol, preset.navigate, about=preset.about,
        )  # fmt: skip
    policy, memory = Spec(preset.policy).parts, Spec(preset.memory).parts
    of_policy, of_memory = (
        settings_taken(POLICIES, preset.policy),
        settings_taken(MEMORIES, preset.memory),
    )
    for key, value in kwargs.items():
        if key not in (*of_policy, *of_memory):
            raise UnknownNameError(
                f"parameter of preset {name!r}", key, sorted({*of_policy, *of_memory})
            )
        (policy if key in of_policy else memory)[1][key] = value
    return preset._replace(policy=Spec.of(*policy), memory=Spec.of(*memory))


def policy_with_model(spec: str, model: Mapping[str, str]) -> str:
    """Add the parameters of a chat model to a policy, if it takes one.

    A policy that scores local weights accepts only local models.

    >>> policy_with_model("react", {"model": "qwen"}), policy_with_model("random", {"model": "q"})
    ('react?model=qwen', 'random')
    >>> [policy_with_model("saycan", {"model": name}) for name in ("qwen", SMOLLM)]
    ['saycan', 'saycan?model=smollm']
    """
    name, kwargs = Spec(spec).parts
    taken = settings_taken(POLICIES, spec)
    weights = model.get("model", "")
    local = "base_url" not in model and (weights == SMOLLM or Path(weights).is_dir())
    if not local and "base_url" not in taken:
        return spec
    return Spec.of(name, {**{k: v for k, v in model.items() if k in taken}, **kwargs})


def memory_with_model(spec: str, model: Mapping[str, str]) -> str:
    """Give the roles of a memory, if any, to the chat model.

    >>> memory_with_model("stma", {}), memory_with_model("history", {})
    ('stma?llm=openai', 'history')
    """
    name, kwargs = Spec(spec).parts
    if "llm" in settings_taken(MEMORIES, spec):
        kwargs = {"llm": model_spec("openai", model), **kwargs}
    return Spec.of(name, kwargs)


def settings_taken(registry: Registry, spec: str) -> Mapping[str, Any]:
    """Return the settings of a component by name."""
    return inspect.signature(registry.get(Spec(spec).name)).parameters
