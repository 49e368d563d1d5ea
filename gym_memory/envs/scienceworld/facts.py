"""From the engine's object tree to the vocabulary of :mod:`gym_memory.memory.schema`.

Only for scoring and upper bounds: these are the engine's own facts, whether seen or not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from gym_memory.types import Triple

__all__ = ["World", "read_world"]


class World(NamedTuple):
    """A state of the world.

    Attributes:
        facts: All that is true, in the vocabulary of the extraction rules.
        objects: ``tree``: the engine's object tree, nested dicts as the engine writes them.
    """

    facts: frozenset[Triple]
    objects: Mapping[str, Any]


def read_world(tree: str) -> World:
    """The facts of a state, from the object tree in the engine's JSON."""
    return World(frozenset(), {"tree": json.loads(tree)})
