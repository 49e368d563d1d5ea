"""AgentOdyssey: an open world, played for its official score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Annotated, Any

from gym_memory.core.records import Oracle, Triple
from gym_memory.core.settings import Help, checked
from gym_memory.games.agentodyssey.engine import WORLDS, Engine, list_actions
from gym_memory.games.base import ENVIRONMENTS, Feedback, TextEnv
from gym_memory.graph.schema import EXIT, INVENTORY, PLAYER, way_relation

__all__ = ["AgentOdyssey"]

_SEEDS = 100
_GOAL = "Explore the world, follow its quests, craft, trade and fight."


@ENVIRONMENTS.register("AgentOdyssey")
class AgentOdyssey(TextEnv):
    """Play the worlds of the package ``agentodyssey`` on its own engine.

    The score is the package's: a point for each stage of the main quest, side quest, new area,
    new kind crafted, traded or defeated; a death costs one. Nothing in the tutorial counts.
    ``info["rewards"]`` has the sums by category, of which ``quest`` ranks the workshop challenge.
    There is no best score; the end of the main quest wins.

    Args:
        tutorial: Whether a world that has a tutorial begins in it, as in the official setting.
        max_steps: Step limit; 500 is the challenge's.
    """

    dialect = "plain"
    needs = "agentodyssey"
    needs_extra = "pip install --no-deps agentodyssey==0.1.0 termcolor"

    @checked
    def __init__(
        self,
        world: Annotated[str, Help("Which world.", choices=WORLDS)] = "remnant",
        *,
        tutorial: Annotated[bool, Help("Whether to begin in the tutorial.")] = True,
        max_steps: int = 500,
        valid_actions: bool = True,
        render_mode: str | None = None,
    ):
        super().__init__(max_steps=max_steps, valid_actions=valid_actions, render_mode=render_mode)
        self.world = world
        self.tutorial = tutorial
        self._ids = [f"agentodyssey/{world}/{seed}" for seed in range(_SEEDS)]
        self._engine: Engine | None = None
        self._rewards: dict[str, int] = {}

    @property
    def engine(self) -> Engine:
        """Return the game in progress."""
        assert self._engine is not None, "reset() starts a game"
        return self._engine

    def _open(self, task_id: str) -> Feedback:
        seed = int(task_id.rpartition("/")[2])
        self._engine = Engine(self.world, seed, tutorial=self.tutorial)
        self._rewards = {}
        return Feedback(self._engine.text.strip())

    def _send(self, action: str) -> Feedback:
        answer = self.engine.send(action)
        for name, points in answer.rewards.items():
            self._rewards[name] = self._rewards.get(name, 0) + points
        return Feedback(
            answer.text.strip(),
            score=float(self._rewards["total"]),
            won=answer.done,
            accepted=answer.accepted,
        )

    def _list_valid_actions(self) -> tuple[str, ...]:
        return list_actions(self.engine)

    def _save(self) -> Any:
        return self.engine.copy(), dict(self._rewards)

    def _load(self, native: Any) -> None:
        self._engine, self._rewards = native[0].copy(), dict(native[1])

    def _info(self, *, accepted: bool) -> dict[str, Any]:
        return super()._info(accepted=accepted) | {"rewards": dict(self._rewards)}

    def goal(self) -> str:
        """Return the aim in our words; the world states its quests in its texts."""
        return _GOAL

    def oracle(self) -> Oracle:
        """Return where everything is and all exits; a solution is not known."""
        return Oracle(true_facts(self.engine), ())

    def versions(self) -> dict[str, str]:
        """Return the version of the engine."""
        return {"agentodyssey": version("agentodyssey")}


def true_facts(engine: Engine) -> frozenset[Triple]:
    """Return where all things, people and the agent are, and all exits."""
    world = engine.world
    facts = {Triple(PLAYER, "is in", place_name(world, engine.area))}
    for area in world.area_instances.values():
        here = place_name(world, area)
        for other in area.neighbors:
            there = world.area_instances[other]
            way = there.name.lower()
            facts.add(Triple(here, EXIT, way))
            facts.add(Triple(place_name(world, there), way_relation(way), here))
        facts.update(_inside(engine, area.objects, here))
        facts.update(
            Triple(world.npc_instances[npc].name.lower(), "is in", here) for npc in area.npcs
        )
    agent = engine.agent
    for held in (agent.items_in_hands, agent.equipped_items_in_limb):
        facts.update(_inside(engine, held, INVENTORY))
    return frozenset(facts)


def _inside(engine: Engine, things: Mapping[str, float], holder: str) -> Iterator[Triple]:
    """Yield what is in a holder, and what is in the containers in it."""
    for thing in things:
        name = engine.name(thing).lower()
        yield Triple(name, "is in", holder)
        box = engine.world.container_instances.get(thing)
        if box is not None:
            yield from _inside(engine, box.inventory, name)


def place_name(world: Any, area: Any) -> str:
    """Return what texts call an area: its place and its own name."""
    place = world.place_instances[world.auxiliary["area_to_place"][area.id]]
    return f"{place.name}, {area.name}".lower()
