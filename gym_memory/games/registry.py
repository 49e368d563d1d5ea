"""The one table of games: environment ids, and the dialects that they speak."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

from gym_memory.core.registry import Registry
from gym_memory.extract import EXTRACTORS

__all__ = ["ENVIRONMENTS", "NAMESPACE", "env_id", "register_envs"]

NAMESPACE = "gym_memory"
"""What stands before the slash of every id."""

ENVIRONMENTS = Registry(
    "environment",
    "gym_memory.environments",
    {
        "Cooking": "gym_memory.games.textworld.cooking:Cooking",
        "TreasureHunt": "gym_memory.games.textworld.treasure_hunt:TreasureHunt",
        "Errands": "gym_memory.games.textworld.errands:Errands",
        "Cleaning": "gym_memory.games.textworld.cleaning:Cleaning",
        "ALFWorld": "gym_memory.games.alfworld.env:ALFWorld",
        "WebShop": "gym_memory.games.webshop.env:WebShop",
        "TextWorld": "gym_memory.games.textworld.challenges:make_textworld",
        "ScienceWorld": "gym_memory.games.scienceworld.env:ScienceWorld",
        "Jericho": "gym_memory.games.jericho.env:Jericho",
        "MultiHopQA": "gym_memory.games.qa.env:MultiHopQA",
        "NetHack": "gym_memory.games.nethack.env:NetHack",
        "Foreign": "gym_memory.games.foreign.make:make_foreign",
    },
)
"""Name to raw environment class; the id is ``gym_memory/<name>-v0``."""

EXTRACTORS.declare(
    {
        "textworld": "gym_memory.games.textworld.rules:TextWorldRules",
        "prose": "gym_memory.games.qa.rules:ProseRules",
        "alfworld": "gym_memory.games.alfworld.rules:ALFWorldRules",
        "webshop": "gym_memory.games.webshop.rules:WebShopRules",
        "nethack": "gym_memory.games.nethack.rules:NetHackRules",
        "fiction": "gym_memory.games.jericho.rules:FictionRules",
        "scienceworld": "gym_memory.games.scienceworld.rules:ScienceWorldRules",
    }
)


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
