"""gym-memory: Gymnasium environments whose observation carries a maintained memory.

Files beside this one, ``doctor.py`` apart, are the ground that all folders stand on: records,
errors, checks, names with parameters. They know no memory, no game and no policy.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gym_memory.links import follow_links

follow_links(Path(__file__).parent)

from gym_memory.games.registry import register_envs  # noqa: E402
from gym_memory.version import __version__  # noqa: E402

if TYPE_CHECKING:
    from gym_memory.wrappers.wrap import wrap

__all__ = ["__version__", "wrap"]

register_envs()


def __getattr__(name: str) -> Any:
    if name == "wrap":  # imported when it is asked for: it brings all wrappers along
        from gym_memory.wrappers.wrap import wrap

        return wrap
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
