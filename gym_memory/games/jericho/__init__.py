"""Interactive fiction on the Z-machine: any story, with valid actions found by trying."""

from gym_memory.games.jericho.env import Jericho

__all__ = ["Jericho"]
