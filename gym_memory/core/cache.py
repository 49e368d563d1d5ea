"""Where gym-memory keeps what it can make again: generated games, exported models, vectors."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_dir"]


def cache_dir() -> Path:
    """``$GYM_MEMORY_CACHE`` where it is set, else the platform's cache folder; may not exist."""
    import platformdirs

    chosen = os.environ.get("GYM_MEMORY_CACHE")
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("gym-memory"))
