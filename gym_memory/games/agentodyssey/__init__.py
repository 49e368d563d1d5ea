"""AgentOdyssey: open worlds of another package, with quests, crafting, trade and combat."""

from gym_memory.games.agentodyssey.env import AgentOdyssey

__all__ = ["AgentOdyssey"]
