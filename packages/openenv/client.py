"""The client, whose observations are dicts."""

from openenv import GenericEnvClient as GameClient

__all__ = ["GameClient"]
