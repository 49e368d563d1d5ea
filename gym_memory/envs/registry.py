"""The one table of environment ids."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

from gym_memory.registry import Registry

__all__ = ["ENVIRONMENTS", "NAMESPACE", "env_id", "register_envs"]

NAMESPACE = "gym_memory"

ENVIRONMENTS = Registry(
    "environment",
    "gym_memory.environments",
    {
        "Cooking": "gym_memory.envs.textworld.cooking:Cooking",
        "TreasureHunt": "gym_memory.envs.textworld.treasure_hunt:TreasureHunt",
        "Cleaning": "gym_memory.envs.textworld.cleaning:Cleaning",
        "ALFWorld": "gym_memory.envs.alfworld.adapter:ALFWorld",
        "WebShop": "gym_memory.envs.webshop.adapter:WebShop",
        "TextWorld": "gym_memory.envs.textworld.challenges:make_textworld",
        "ScienceWorld": "gym_memory.envs.scienceworld.adapter:ScienceWorld",
        "Jericho": "gym_memory.envs.jericho.adapter:Jericho",
        "MultiHopQA": "gym_memory.envs.qa.adapter:MultiHopQA",
        "NetHack": "gym_memory.envs.nethack.adapter:NetHack",
    },
)
"""Name to raw environment class; the id is ``gym_memory/<name>-v0``."""


def env_id(name: str) -> str:
    """The Gymnasium id of an environment's name."""
    return f"{NAMESPACE}/{name}-v0"


def register_envs() -> None:
    """Register every environment with Gymnasium; imports no backend."""
    for name in ENVIRONMENTS.names():
        if env_id(name) not in registry:
            register(
                id=env_id(name),
                entry_point="gym_memory.wrappers.make:make_env",
                kwargs={"name": name},
                disable_env_checker=True,
                order_enforce=False,
            )
