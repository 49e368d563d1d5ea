"""The papers' agents by name: who plays, with which memory, under which protocol.

``--preset ariadne`` of ``gym-memory run`` and ``compare`` takes one of these names. Parameters
go to the policy where it takes them, else to the memory::
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from gym_memory.baselines.registry import POLICIES
from gym_memory.core.errors import UnknownNameError
from gym_memory.core.names import Registry, format_spec, parse_spec
from gym_memory.llm import model_spec
from gym_memory.memory.base import MEMORIES

__all__ = ["PRESETS", "Preset", "make_preset", "memory_with_model", "policy_with_model"]


class Preset(NamedTuple):
    """A policy and the memory that its paper gives it.

    Attributes:
        policy: The policy.
        memory: The memory.
        protocol: The protocol of the paper's numbers.
        navigate: Whether the agent has ``go to <place>``.
        about: Where it comes from.
    """

    policy: str
    memory: str
    protocol: str = "single_episode"
    navigate: bool = False
    about: str = ""


PRESETS: Mapping[str, Preset] = {
    "ariadne": Preset("ariadne", "arigraph", navigate=True, about="Anokhin et al., AriGraph"),
    "stma": Preset("stma", "stma", about="Lei et al., STMA"),
    "clin": Preset("clin", "clin", "trials?k=5", about="Majumder et al., CLIN"),
    "ldm2": Preset("ldm2", "ldm2", about="Wang et al., LDM2"),
    "reflexion": Preset("reflexion", "none", "trials?k=3", about="Shinn et al., Reflexion"),
    "react": Preset("react", "none", about="Yao et al., ReAct"),
    "plain": Preset("plain", "none", about="full history, the baseline of every memory"),
}
"""Name to pairing. ReAct, Reflexion and plain keep their trajectory themselves: no memory."""


def make_preset(spec: str) -> Preset:
    """Build a preset by name; its parameters go to its policy or its memory.

    >>> make_preset("stma?critic=false&hops=2")[:2]
    ('stma?critic=false', 'stma?hops=2')

    Raises:
        UnknownNameError: No such preset, or neither policy nor memory takes a parameter.
    """
    name, kwargs = parse_spec(spec)
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    preset = PRESETS[name]
    policy, memory = parse_spec(preset.policy), parse_spec(preset.memory)
    of_policy, of_memory = _taken(POLICIES, policy.name), _taken(MEMORIES, memory.name)
    for key, value in kwargs.items():
        if key not in (*of_policy, *of_memory):
            raise UnknownNameError(
                f"parameter of preset {name!r}", key, sorted({*of_policy, *of_memory})
            )
        (policy if key in of_policy else memory).kwargs[key] = value
    return preset._replace(policy=format_spec(*policy), memory=format_spec(*memory))


def policy_with_model(spec: str, model: Mapping[str, str]) -> str:
    """Return a policy with the parameters of a chat model, if it has such a part.

    >>> policy_with_model("react", {"model": "qwen"}), policy_with_model("random", {"model": "q"})
    ('react?model=qwen', 'random')
    """
    name, kwargs = parse_spec(spec)
    taken = _taken(POLICIES, name)
    return format_spec(name, {**{k: v for k, v in model.items() if k in taken}, **kwargs})


def memory_with_model(spec: str, model: Mapping[str, str]) -> str:
    """Return a memory whose roles the chat model plays, if it has roles.

    >>> memory_with_model("stma", {}), memory_with_model("history", {})
    ('stma?llm=openai', 'history')
    """
    name, kwargs = parse_spec(spec)
    if "llm" in _taken(MEMORIES, name):
        kwargs = {"llm": format_spec(*model_spec("openai", model)), **kwargs}
    return format_spec(name, kwargs)


def _taken(registry: Registry, name: str) -> Mapping[str, Any]:
    return inspect.signature(registry.get(name)).parameters
