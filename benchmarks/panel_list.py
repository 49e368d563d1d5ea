"""Lists what the panels of the package hold, and where their tasks and data come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gym_memory.core.names import Spec

__all__ = ["PANELS", "PlannedPanel", "PlannedWorld"]


class PlannedWorld(NamedTuple):
    """An environment with all of its settings, and how many of its tasks; None for all."""

    env: str
    first: int | None = None


class PlannedPanel(NamedTuple):
    """A panel before its texts are read; the fields are those of a panel."""

    name: str
    about: str
    worlds: tuple[PlannedWorld, ...]
    source: str = ""
    get: str = ""
    protocol: str = "single_episode"


_SHOWN = {"valid_actions": True, "inventory": True}
_OURS = "Games of our generators, which nothing was tuned on (split held_out)."


def _world(env: str, settings: Mapping[str, Any], first: int | None = None) -> PlannedWorld:
    return PlannedWorld(Spec.of(env, {**_SHOWN, **settings}), first)


def _generated(
    name: str, about: str, env: str, level: str, max_steps: int, **more: Any
) -> PlannedPanel:
    settings = {"level": level, "split": "held_out", "max_steps": max_steps, **more}
    return PlannedPanel(name, about, (_world(env, settings, 20),), _OURS)


PANELS = (
    _generated("cooking-medium", "Cooking, AriGraph's level.", "Cooking", "medium", 60),
    _generated("cooking-hard", "Cooking Hard, AriGraph's level.", "Cooking", "hard", 60),
    _generated("cooking-hardest", "Cooking Hardest, AriGraph's level.", "Cooking", "hardest", 60),
    *(
        _generated(
            f"gata-{level}",
            f"Cooking, level {level} of GATA, with its list of actions and 100 steps.",
            *("Cooking", f"rl-{level}", 100),
            gata_actions=True,
        )
        for level in (1, 2, 3, 4)
    ),
    *(
        _generated(f"treasure-hunt-{level}", f"Treasure Hunt, {level}.", "TreasureHunt", level, 150)
        for level in ("easy", "hard", "hardest")
    ),
    _generated("cleaning", "Cleaning, AriGraph's house.", "Cleaning", "standard", 150),
    _generated("errands-short", "Errands in a house of 12 rooms.", "Errands", "short", 150),
    _generated("errands-long", "Errands in a house of 64 rooms.", "Errands", "long", 1000),
)
"""All panels, in the order of the documents."""
