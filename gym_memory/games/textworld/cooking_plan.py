"""A short way to win a cooking game: the walkthrough of the family.

TextWorld's own walkthrough of these games walks back and forth for every ingredient and opens
doors that stand open; on the large levels it is longer than the step limit. This one goes to the
kitchen, reads the cookbook, takes the knife, fetches the ingredients along a shortest round trip,
cuts what it holds, grills on the way back, cooks the rest in the kitchen, and eats.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import pairwise, permutations
from typing import Any, NamedTuple

__all__ = ["Kitchen", "Step", "cooking_walkthrough", "plan_cooking", "recipe_of"]

_CUT = {"chopped": "chop", "sliced": "slice", "diced": "dice"}
_CAPACITY = 10
"""Things that the player can carry unless the level limits it."""
_APPLIANCE = {"fried": "stove", "roasted": "oven", "grilled": "toaster"}


class Step(NamedTuple):
    """What the recipe asks of an ingredient; empty where it asks nothing."""

    food: str
    heat: str
    cut: str


class Kitchen:
    """The world of a cooking game while it is being planned through.

    Args:
        facts: Propositions with names for ids, as (predicate, name, ...).
        types: Name to TextWorld's type.
        capacity: Things that the player can carry.
    """

    def __init__(self, facts: Iterable[tuple[str, ...]], types: Mapping[str, str], capacity: int):
        self.commands: list[str] = []
        self.held: list[str] = []
        self.capacity = capacity
        self.shut: set[str] = set()
        self._place: dict[str, str] = {}
        self._exits: dict[str, dict[str, str]] = {}
        self._doors: dict[tuple[str, str], str] = {}
        self._appliances = {t: name for name, t in types.items() if t in _APPLIANCE.values()}
        self._types = types
        for predicate, *names in sorted(facts):
            if predicate == "closed":
                self.shut.add(names[0])
            elif predicate == "link":
                self._doors[names[0], names[2]] = names[1]
            elif predicate == "cooking_location":
                self.kitchen = names[0]
            elif predicate in ("at", "on", "in"):
                self._place[names[0]] = names[1]
                if names[1] == "I":
                    self.held.append(names[0])
            elif predicate.endswith("_of") and len(names) == 2:
                self._exits.setdefault(names[1], {})[predicate.removesuffix("_of")] = names[0]
        self.here = self._place["P"]

    def room_of(self, thing: str) -> str:
        """The room that a thing is in, at whatever depth."""
        while self._types.get(thing) != "r":
            thing = self._place[thing] if thing not in self.held else self.here
        return thing

    def distances(self, start: str) -> dict[str, int]:
        """Moves from a room to every room."""
        found, queue = {start: 0}, deque([start])
        while queue:
            room = queue.popleft()
            for _, there in sorted(self._exits.get(room, {}).items()):
                if there not in found:
                    found[there] = found[room] + 1
                    queue.append(there)
        return found

    def round_trip(self, stops: Iterable[str], ends: tuple[str, ...]) -> list[str]:
        """The stops in the order of a shortest way that goes on to ``ends``."""
        rooms = sorted(set(stops))
        away = {room: self.distances(room) for room in {self.here, *rooms, *ends}}

        def length(order: Iterable[str]) -> int:
            way = (self.here, *order, *ends)
            return sum(away[a][b] for a, b in pairwise(way))

        return list(min(permutations(rooms), key=length))

    def go(self, goal: str) -> None:
        """Walk to a room, opening doors that are in the way."""
        to_goal = self.distances(goal)
        while self.here != goal:
            direction, there = min(
                self._exits[self.here].items(), key=lambda exit: (to_goal[exit[1]], exit[0])
            )
            self._open(self._doors.get((self.here, there)))
            self.commands.append(f"go {direction}")
            self.here = there

    def _open(self, thing: str | None) -> None:
        if thing in self.shut:
            self.commands.append(f"open {thing}")
            self.shut.discard(str(thing))

    def take(self, thing: str) -> None:
        """Take a thing that is in this room."""
        holder = self._place[thing]
        if holder == self.here:
            self.commands.append(f"take {thing}")
        else:
            self._open(holder)
            self.commands.append(f"take {thing} from {holder}")
        self._place[thing] = "I"
        self.held.append(thing)

    def drop(self, thing: str) -> None:
        """Put a thing on the floor."""
        self.commands.append(f"drop {thing}")
        self._place[thing] = self.here
        self.held.remove(thing)

    @property
    def full(self) -> bool:
        """Whether nothing more can be carried."""
        return len(self.held) >= self.capacity

    def appliance(self, heat: str) -> str:
        """Name of what fries, roasts or grills."""
        return self._appliances[_APPLIANCE[heat]]


def plan_cooking(kitchen: Kitchen, recipe: list[Step], knife: str, book: str) -> list[str]:
    """Commands that win with the maximum score.

    Args:
        kitchen: The world at the start.
        recipe: What is still to be done to each ingredient.
        knife: Name of the knife.
        book: Name of the cookbook.
    """
    world = kitchen
    to_cut = {step.food: step.cut for step in recipe if step.cut}
    to_heat = {step.food: step.heat for step in recipe if step.heat}
    foods = [step.food for step in recipe]

    def cut_held() -> None:
        for food in [f for f in foods if f in to_cut and f in world.held]:
            world.commands.append(f"{_CUT[to_cut.pop(food)]} {food} with {knife}")

    def heat_here() -> None:
        for food, heat in list(to_heat.items()):
            appliance = world.appliance(heat)
            if world.room_of(appliance) == world.here and food in world.held:
                world.commands.append(f"cook {food} with {appliance}")
                del to_heat[food]

    world.go(world.kitchen)
    world.commands.append(f"examine {book}")
    for thing in [t for t in world.held if t not in foods] if world.full else []:
        world.drop(thing)
    if to_cut:
        world.take(knife)
        cut_held()
    missing = [food for food in foods if food not in world.held]
    far = {world.room_of(world.appliance(heat)) for heat in to_heat.values()} - {world.kitchen}
    ends = (*sorted(far), world.kitchen)
    for room in world.round_trip((world.room_of(food) for food in missing), ends):
        world.go(room)
        for food in [f for f in missing if f not in world.held and world.room_of(f) == room]:
            aside = None
            if world.full and food in to_cut:  # the last one: make room, cut it, pick up again
                aside = next(thing for thing in world.held if thing != knife)
                world.drop(aside)
            elif world.full:
                world.drop(knife)
            world.take(food)
            if knife in world.held:
                cut_held()
            if aside:
                world.drop(knife)
                world.take(aside)
    for room in ends:
        world.go(room)
        heat_here()
    return [*world.commands, "prepare meal", "eat meal"]


def recipe_of(metadata: Mapping[str, Any], settings: Mapping[str, Any]) -> list[Step]:
    """What is left to do, from what TextWorld's generator notes.

    Without the skill ``cook`` (``cut``) every ingredient is cooked (cut) as needed from the start.
    """
    return [
        Step(
            food,
            heat if settings["cook"] and heat in _APPLIANCE else "",
            cut if settings["cut"] and cut in _CUT else "",
        )
        for food, heat, cut in metadata["ingredients"]
    ]


def cooking_walkthrough(
    game: Any, settings: Mapping[str, Any], knife: str = "knife", book: str = "cookbook"
) -> list[str]:
    """Commands that win a generated game with the maximum score.

    Args:
        game: A ``textworld.Game`` of the challenge ``tw-cooking``.
        settings: What it was generated from.
        knife: Name of the knife.
        book: Name of the cookbook.
    """
    name = {key: info.name or key for key, info in game.infos.items()}
    types = {name[key]: info.type for key, info in game.infos.items()}
    facts = [(f.name, *(name[v.name] for v in f.arguments)) for f in game.world.facts]
    kitchen = Kitchen(facts, types, settings["recipe"] if settings["drop"] else _CAPACITY)
    return plan_cooking(kitchen, recipe_of(game.metadata, settings), knife, book)
