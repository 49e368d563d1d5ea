"""Text games with a maintained memory as an OpenEnv environment."""

from .client import GameClient

__all__ = ["GameClient"]
