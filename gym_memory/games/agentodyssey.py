"""AgentOdyssey: open worlds with quests, crafting, trade and combat, from another package.

The package's engine plays them, so scores are official.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import importlib
import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import distribution, version
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from gym_memory.core.errors import BackendError
from gym_memory.core.records import Oracle, Triple
from gym_memory.core.settings import Help, checked
from gym_memory.games.base import Feedback, TextEnv
from gym_memory.graph.schema import EXIT, INVENTORY, PLAYER, way_relation

__all__ = ["CHALLENGE", "WORLDS", "AgentOdyssey", "Engine", "list_actions"]

_SEEDS = 100
_GOAL = "Explore the world, follow its quests, craft, trade and fight."
WORLDS = ("remnant", "mark", "saltglass", "quarantine", "metropolis", "robot_kingdom")
CHALLENGE = ("remnant", "mark", "metropolis")
"""Worlds of the workshop challenge of 2026, from its script ``challenge_eval.py``."""
_SUPPLEMENTARY = ("side_quest", "exploration", "craft", "unique_kill")
"""Categories whose sum breaks ties in the challenge."""

_TOP_MODULES = ("games", "tools", "utils")
"""Top-level modules of the package that a game imports."""
_LOGGERS = ("EnvLogger", "ExpansionLogger", "RewardLogger", "RuleEngine", "WorldLogger")
_WRITERS = {"export_graph", "_save_goal_tree_png"}
_AGENT = "agent_adam_davis"


class OdysseyAnswer(NamedTuple):
    """An answer of the engine to a command; ``rewards`` are of this step, by category."""

    text: str
    rewards: dict[str, int]
    accepted: bool
    done: bool


class Engine:
    """An engine that plays, inspects and copies one game.

    The package can extend a world during play by calling a language model; this is switched off.

    Args:
        world: A name of :data:`WORLDS`.
        seed: Seed of the world and of all chance in it.
        tutorial: Whether the game begins in the tutorial, if the world has one.
    """

    def __init__(self, world: str, seed: int, *, tutorial: bool):
        module, agents, folder = _load(world)
        place = f"generated/{world}"
        self.agent = agents.Agent(_AGENT, "adam_davis")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # it leaves a file open
            self.env = module.AgentOdysseyEnv(
                seed,
                [self.agent],
                str(folder / "assets/world_definitions" / place / "default.json"),
                "",
                str(folder / "assets/env_configs" / place / "initial.json"),
            )
        definition = self.env.world_definition
        definition.setdefault("features", {})["online_expansion"] = False
        if not tutorial:
            events = definition.get("custom_events", [])
            definition["custom_events"] = [event for event in events if event != "tutorial"]
        self.env.update_config = _write_nothing
        self.text = str(self.env.reset()[_AGENT]["text"])

    def send(self, action: str) -> OdysseyAnswer:
        """Play one command."""
        seen, rewards, done, flags = self.env.step({_AGENT: action})
        reward = rewards[_AGENT]
        parts = dict(vars(reward), total=reward.score_total)
        accepted = not flags["step_invalid_action"][_AGENT]
        return OdysseyAnswer(str(seen[_AGENT]["text"]), parts, accepted, bool(done))

    def copy(self) -> Engine:
        """Return an independent copy."""
        rules = self.agent._action_rules_module
        return copy.deepcopy(self, {id(rules): rules})

    @property
    def world(self) -> Any:
        """Return the engine's world."""
        return self.env.world

    @property
    def area(self) -> Any:
        """Return the agent's area."""
        return self.world.area_instances[self.env.curr_agents_state["area"][_AGENT]]

    def name(self, thing: str) -> str:
        """Return the name of an object, container or paper in texts and commands."""
        world = self.world
        for kind in (world.container_instances, world.writable_instances, world.objects):
            if thing in kind:
                return str(kind[thing].name)
        return thing


class _SortedSet(set[Any]):
    """A set with sorted iteration, for modules that place things in the order of a set.

    The order of a plain set of names differs between processes.
    """

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(super().__iter__(), key=str))

    def pop(self) -> Any:
        first = next(iter(self))
        self.remove(first)
        return first


def _sorted_result(name: str) -> Callable[..., Any]:
    method = getattr(set, name)

    def combine(*sets: Any) -> Any:
        found = method(*sets)
        return found if found is NotImplemented else _SortedSet(found)

    return combine


for _name in ("and", "or", "sub", "xor", "rand", "ror", "rsub", "rxor"):
    setattr(_SortedSet, f"__{_name}__", _sorted_result(f"__{_name}__"))
for _name in ("copy", "difference", "intersection", "symmetric_difference", "union"):
    setattr(_SortedSet, _name, _sorted_result(_name))


def _write_nothing(*_: Any, **__: Any) -> None:
    """Do nothing, in place of methods that write the world, its graph or its quest to files."""


def _load(world: str) -> tuple[Any, Any, Path]:
    """Import a world's modules from the package's folder, under their common top-level names."""
    folder = Path(str(distribution("agentodyssey").locate_file("")))
    for top in _TOP_MODULES:
        file = getattr(sys.modules.get(top), "__file__", None)
        if file is not None and not Path(file).is_relative_to(folder):
            raise BackendError(
                f"agentodyssey expected the module {top!r} to be its own, got {file}; "
                f"rename that file or play in another folder"
            )
    for name in _LOGGERS:
        logging.getLogger(name).disabled = True
    sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module(f"games.generated.{world}.env")
        quest = importlib.import_module(f"games.generated.{world}.rules.step_rules.main_quest")
        for kind in (module.World, *vars(quest).values()):
            for name in _WRITERS & set(dir(kind)):
                setattr(kind, name, _write_nothing)
        for name, loaded in list(sys.modules.items()):
            if name.startswith("games."):
                vars(loaded)["set"] = _SortedSet  # in place of the builtin
        return module, importlib.import_module(f"games.generated.{world}.agent"), folder
    finally:
        sys.path.remove(str(folder))


@functools.cache
def _digest(worlds: tuple[str, ...]) -> str:
    """Return a hash of the rules and the definitions of worlds."""
    root = Path(str(distribution("agentodyssey").locate_file("")))
    places = ("games/generated", "assets/world_definitions/generated")
    parts = ["games/base", *(f"{place}/{world}" for place in places for world in worlds)]
    files = (path for part in parts for path in (root / part).rglob("*"))
    found = hashlib.sha256()
    for path in sorted(path for path in files if path.suffix in (".py", ".json")):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:8]


_HERE, _IN_HANDS, _WORN, _IN_CONTAINER = "here", "hands", "worn", "kept"
_OBJECT_PLACES = {
    "pick up": (_HERE,),
    "store": (_HERE, _IN_HANDS),
    "disassemble": (_HERE, _IN_HANDS),
    "inspect": (_HERE, _IN_HANDS, _WORN, _IN_CONTAINER),
    "unequip": (_WORN,),
}
"""Verb to the place of its object; in the hands for other verbs."""
_INSIDE = frozenset({"take out", "discard"})
_INVENTORY = "inventory"
_COIN = "obj_coin"


def list_actions(engine: Engine) -> tuple[str, ...]:
    """Return the commands on objects, people and areas within reach, sorted.

    The package's own list omits talking, eating and looking into containers, and fails once a
    container is worn.
    """
    return tuple(sorted(set(_commands(engine))))


def _commands(engine: Engine) -> Iterator[str]:
    world, area, agent = engine.world, engine.area, engine.agent
    worn = agent.inventory.container
    reach: dict[str, Mapping[str, float]] = {
        _HERE: area.objects,
        _IN_HANDS: agent.items_in_hands,
        _WORN: agent.equipped_items_in_limb,
        _IN_CONTAINER: worn.inventory if worn else {},
    }
    boxes = {
        world.container_instances[thing].name: world.container_instances[thing].inventory
        for place in (_HERE, _IN_HANDS, _WORN)
        for thing in reach[place]
        if thing in world.container_instances
    }
    if worn:
        boxes[_INVENTORY] = worn.inventory
    people = [world.npc_instances[npc] for npc in area.npcs]
    papers = [
        engine.name(thing) for thing in agent.items_in_hands if thing in world.writable_instances
    ]
    for action in agent.available_actions:
        verb, kinds = action.verb, tuple(action.params)
        if verb == "craft":
            have = {**reach[_IN_HANDS], **reach[_IN_CONTAINER]}
            yield from (f"craft 1 {name}" for name in _craftable(engine, have))
        elif verb in _INSIDE:
            for box, inside in boxes.items():
                amount = "1 " * ("amount" in kinds)
                yield from (f"{verb} {amount}{engine.name(thing)} {box}" for thing in inside)
        elif verb == "buy":
            coins = reach[_IN_HANDS].get(_COIN, 0) + reach[_IN_CONTAINER].get(_COIN, 0)
            for npc in people:
                for thing in npc.inventory if npc.role == "merchant" else ():
                    if (world.objects[thing].value or coins + 1) <= coins:
                        yield f"buy 1 {engine.name(thing)} {npc.name}"
        else:
            places = _OBJECT_PLACES.get(verb, (_IN_HANDS,))
            things = [engine.name(thing) for place in places for thing in reach[place]]
            if verb == "inspect" and worn:
                things.append(_INVENTORY)
            buyers = [npc.name for npc in people if verb != "sell" or npc.role == "merchant"]
            values = {
                "amount": ["1"],
                "area_name": [world.area_instances[key].name for key in area.neighbors],
                "npc_name": buyers,
                "object_name": things,
                "obj_name": things,
                "container_name": list(boxes),
                "writable_name": papers,
                "text": ['"hello"'],
            }
            for words in product(*(values.get(kind, things) for kind in kinds)):
                if len(set(words)) == len(words):
                    yield " ".join((verb, *words))


def _craftable(engine: Engine, have: Mapping[str, float]) -> Iterator[str]:
    for thing in engine.world.objects.values():
        needs = thing.craft_ingredients
        if needs and all(have.get(part, 0) >= amount for part, amount in needs.items()):
            yield str(thing.name)


class AgentOdyssey(TextEnv):
    """Worlds of the package ``agentodyssey`` on its own engine.

    The world ``challenge`` has the three worlds of the workshop challenge as its tasks, in turn.

    The score is the package's: one point for each stage of the main quest, side quest, new area,
    and new kind crafted, traded or defeated; a death costs one. The tutorial gives no points.
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
        world: Annotated[str, Help("Which world.", choices=(*WORLDS, "challenge"))] = "remnant",
        *,
        tutorial: Annotated[bool, Help("Whether to begin in the tutorial.")] = True,
        score: Annotated[
            Literal["", "total", "quest", "supplementary"],
            Help(
                "Points to count: all, or those of the main quest, which rank the challenge and "
                "are its default, or those that break its ties."
            ),
        ] = "",
        max_steps: int = 500,
        valid_actions: bool = True,
        render_mode: str | None = None,
    ):
        super().__init__(max_steps=max_steps, valid_actions=valid_actions, render_mode=render_mode)
        self.world = world
        self.tutorial = tutorial
        self.worlds = CHALLENGE if world == "challenge" else (world,)
        self.counted = score or ("quest" if world == "challenge" else "total")
        self._ids = [f"agentodyssey/{w}/{seed}" for seed in range(_SEEDS) for w in self.worlds]
        self._engine: Engine | None = None
        self._rewards: dict[str, int] = {}

    @property
    def engine(self) -> Engine:
        """Return the game in progress."""
        assert self._engine is not None, "reset() starts a game"
        return self._engine

    def _open(self, task_id: str) -> Feedback:
        _, world, seed = task_id.split("/")
        self._engine = Engine(world, int(seed), tutorial=self.tutorial)
        self._rewards = {}
        return Feedback(self._engine.text.strip())

    def _send(self, action: str) -> Feedback:
        answer = self.engine.send(action)
        for name, points in answer.rewards.items():
            self._rewards[name] = self._rewards.get(name, 0) + points
        kinds = _SUPPLEMENTARY if self.counted == "supplementary" else (self.counted,)
        return Feedback(
            answer.text.strip(),
            score=float(sum(self._rewards[kind] for kind in kinds)),
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
        """Return the goal in general terms; the texts state the quests."""
        return _GOAL

    def oracle(self) -> Oracle:
        """Return the true locations and all exits; no solution is known."""
        return Oracle(true_facts(self.engine), ())

    def versions(self) -> dict[str, str]:
        """Return the version of the engine, and a digest of its games.

        The head of the package's repository has the released version number, but other games.
        """
        return {"agentodyssey": version("agentodyssey"), "games": _digest(self.worlds)}


def true_facts(engine: Engine) -> frozenset[Triple]:
    """Return the locations of all things, people and the agent, and all exits."""
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
    """Yield the contents of a holder, and of the containers in it."""
    for thing in things:
        name = engine.name(thing).lower()
        yield Triple(name, "is in", holder)
        box = engine.world.container_instances.get(thing)
        if box is not None:
            yield from _inside(engine, box.inventory, name)


def place_name(world: Any, area: Any) -> str:
    """Return the name of an area in texts: its place and its own name."""
    place = world.place_instances[world.auxiliary["area_to_place"][area.id]]
    return f"{place.name}, {area.name}".lower()
