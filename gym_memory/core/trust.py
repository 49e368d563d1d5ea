"""Checks of names in untrusted folders, saved memories, checkpoints and pages."""

from __future__ import annotations

import re

from gym_memory.core.errors import UntrustedError
from gym_memory.core.names import Registry, Spec
from gym_memory.core.settings import check_name

__all__ = ["GAMES", "check_bare", "check_game"]

GAMES: tuple[str, ...] = (
    "ALFWorld", "AgentOdyssey", "Cleaning", "Cooking", "Errands", "Fetch", "Jericho",
    "MultiHopQA", "NetHack", "ScienceWorld", "TextWorld", "TreasureHunt", "WebShop",
)  # fmt: skip
"""Environments that a page may start."""
_SETTINGS = frozenset(
    (
        "level", "split", "max_steps", "valid_actions", "inventory", "navigate", "hints",
        "gata_actions", "task", "task_type", "challenge", "variation", "simplification",
        "goals", "show_attributes", "catalogue_seed", "story_seed", "dataset", "metric",
        "search", "candidates", "view", "character", "depth", "max_score", "score", "world",
        "tutorial",
    )
)  # fmt: skip
_PLAIN_VALUE = re.compile(r"\w[\w .,+-]{0,63}")


def check_bare(registry: Registry, name: object, what: str, place: str) -> str:
    """Return ``name`` if it is a registered name without parameters.

    The error names ``what`` it should be (``a saved memory``), and the file or page with it.
    """
    if isinstance(name, str) and name in registry.names():
        return name
    known = ", ".join(registry.names())
    raise UntrustedError(
        f"expected {what} with the name of one of {known}, without parameters, in {place}, "
        f"got {name!r:.80}"
    )


def check_game(spec: str) -> str:
    """Return ``spec`` if it names a game of ours with only numbers, flags and words as settings."""
    name, settings = Spec(spec).parts
    check_name("environment of a page", name, GAMES)
    for key, value in settings.items():
        if key not in _SETTINGS or (isinstance(value, str) and not _PLAIN_VALUE.fullmatch(value)):
            raise UntrustedError(
                f"expected plain settings of a game from a page, got {key}={value!r:.80}: "
                "give all others to 'gym-memory play --web'"
            )
    return spec
