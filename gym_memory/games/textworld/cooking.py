"""Cooking: find the recipe, gather and prepare the ingredients, eat the meal.

TextWorld's cooking games (First TextWorld Problems) at the levels of three papers. Taking, cutting
or cooking an ingredient, preparing the meal and eating it each score a point. Spoiling or eating an
ingredient loses the game. As in TextWorld, games, foods and preparations differ between splits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise, permutations
from typing import Any, ClassVar, NamedTuple

from gym_memory.core.optional import require
from gym_memory.core.settings import check_flag
from gym_memory.games.textworld.env import TextWorldFamily
from gym_memory.games.textworld.games import no_trial_run
from gym_memory.games.textworld.voices.kitchens import make_voiced_kitchen
from gym_memory.graph.map import distances

__all__ = ["Cooking", "Kitchen", "RecipeStep", "cooking_walkthrough", "plan_cooking"]

_RULES = (
    "How to cook here: the stove fries, the oven roasts, and the BBQ grills. Prepare the meal in "
    "the kitchen once everything is ready and in your hands, then eat it."
)


def _level(recipe: int, take: int, go: int, skills: str, steps: int) -> dict[str, int | bool]:
    used = {skill: skill in skills.split() for skill in ("open", "cook", "cut", "drop")}
    return {"recipe": recipe, "take": take, "go": go, **used, "steps": steps}


class Cooking(TextWorldFamily):
    """A recipe to cook.

    =====================  ===========================================================  =========
    levels                 from                                                         max score
    =====================  ===========================================================  =========
    ``rl-1`` .. ``rl-4``   the RL comparison of AriGraph (levels 1-4 of GATA)           4 5 3 11
    ``medium hard``        AriGraph, "Cooking" and "Cooking Hard"                       11 14
    ``hardest``            AriGraph, "Cooking Hardest": closed doors, limited load      17
    ``stma-1`` .. ``-4``   STMA                                                         4 7 10 13
    ``voices``             ours; names and wordings differ between the splits           2 to 12
    =====================  ===========================================================  =========

    Settings of a level: ``recipe`` is the number of ingredients, of which ``take`` must be fetched,
    in ``go`` rooms; whether doors and containers start closed (``open``), ingredients must be
    cooked (``cook``) and cut (``cut``), and the inventory has no more room than for the ingredients
    (``drop``); ``steps``, the paper's step limit.

    Args:
        gata_actions: Whether to omit ``look`` and every ``examine`` but the cookbook's from the
            valid actions, as in GATA. They remain possible.
        hints: Whether the first text ends with the uses of the appliances, which the game does not
            state.
        max_steps: Step limit; None takes the paper's (RL 50, to be evaluated with 100; STMA 50;
            AriGraph 60).
    """

    family = "cooking"
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "rl-1": _level(1, 1, 1, "cut", 50),
        "rl-2": _level(1, 1, 1, "cut cook", 50),
        "rl-3": _level(1, 1, 9, "", 50),
        "rl-4": _level(3, 3, 6, "cut cook", 50),
        "medium": _level(3, 3, 9, "cut cook", 60),
        "hard": _level(4, 4, 12, "cut cook", 60),
        "hardest": _level(5, 5, 12, "cut cook open drop", 60),
        "stma-1": _level(1, 0, 6, "cut cook open", 50),
        "stma-2": _level(2, 1, 9, "cut cook open", 50),
        "stma-3": _level(3, 2, 9, "cut cook open", 50),
        "stma-4": _level(4, 3, 12, "cut cook open", 50),
        "voices": {
            "voice": 2, "recipe": [1, 2, 3], "go": [1, 6, 9, 12], "open": [True, False],
            "cook": [True, False], "cut": [True, False], "drop": [False], "steps": 100,
        },
    }  # fmt: skip

    def __init__(
        self,
        level: str | None = None,
        split: str = "test",
        *,
        gata_actions: bool = False,
        hints: bool = True,
        max_steps: int | None = None,
        valid_actions: bool = True,
        inventory: bool = True,
        engine: str = "auto",
        render_mode: str | None = None,
    ):
        check_flag("gata_actions", gata_actions)
        check_flag("hints", hints)
        super().__init__(
            level,
            split,
            max_steps=max_steps,
            valid_actions=valid_actions,
            inventory=inventory,
            engine=engine,
            render_mode=render_mode,
        )
        self._hints = hints
        if gata_actions:
            self.is_listed = _is_listed_for_gata

    @classmethod
    def make_game(cls, settings: Mapping[str, Any], split: str, seed: int) -> Any:
        """Generate the game of ``tw-make tw-cooking`` with these settings and this seed.

        Only the walkthrough is new, since TextWorld's exceeds the step limit of large levels.
        """
        if "voice" in settings:
            game, settings, names = make_voiced_kitchen(_generate, settings, split, seed)
            knife, book = names.get("knife"), names["cookbook"].name
            walkthrough = cooking_walkthrough(game, settings, knife.name if knife else "", book)
        else:
            game = _generate({**settings, "split": split}, seed)
            walkthrough = cooking_walkthrough(game, settings, "knife", "cookbook")
        game.metadata["walkthrough"] = walkthrough
        return game

    def opening(self) -> str:
        """Return the uses of the appliances if ``hints`` is set."""
        if not self._hints:
            return ""
        return str(self.game.metadata.get("opening", _RULES))


def _is_listed_for_gata(action: str) -> bool:
    return action == "examine cookbook" or not (action == "look" or action.startswith("examine "))


def _generate(settings: Mapping[str, Any], seed: int) -> Any:
    textworld = require("textworld", "textworld", "TextWorld games")
    cooking = require("textworld.challenges.tw_cooking.cooking", "textworld")
    options = textworld.GameOptions()
    options.seeds = seed
    chosen = {**settings, "recipe_seed": 0}
    chosen.pop("steps")
    with no_trial_run():
        return cooking.make(chosen, options)


_CUT_VERBS = {"chopped": "chop", "sliced": "slice", "diced": "dice"}
_CAPACITY = 10
"""Things that the player can carry unless the level limits it."""
_APPLIANCES = {"fried": "stove", "roasted": "oven", "grilled": "toaster"}


class RecipeStep(NamedTuple):
    """An ingredient of the recipe with its preparations; an unneeded one is empty."""

    food: str
    heat: str
    cut: str


class Kitchen:
    """A simulated cooking game for planning a walkthrough.

    Args:
        facts: Propositions with names in place of ids, as (predicate, name, ...).
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
        self._appliances = {t: name for name, t in types.items() if t in _APPLIANCES.values()}
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
        """Return the room of a thing at any depth."""
        while self._types.get(thing) != "r":
            thing = self._place[thing] if thing not in self.held else self.here
        return thing

    def distances(self, start: str) -> dict[str, int]:
        """Return the number of moves from a room to every room."""
        return distances(start, lambda room: dict(sorted(self._exits.get(room, {}).items())))

    def round_trip(self, stops: Iterable[str], ends: tuple[str, ...]) -> list[str]:
        """Order the stops along a shortest way that continues to ``ends``."""
        rooms = sorted(set(stops))
        away = {room: self.distances(room) for room in {self.here, *rooms, *ends}}

        def length(order: Iterable[str]) -> int:
            way = (self.here, *order, *ends)
            return sum(away[a][b] for a, b in pairwise(way))

        return list(min(permutations(rooms), key=length))

    def go(self, goal: str) -> None:
        """Walk to a room, and open doors on the way."""
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
        """Take a thing in this room."""
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
        """True if nothing more can be carried."""
        return len(self.held) >= self.capacity

    def appliance(self, heat: str) -> str:
        """Return the name of the appliance that fries, roasts or grills."""
        return self._appliances[_APPLIANCES[heat]]


def plan_cooking(world: Kitchen, recipe: list[RecipeStep], knife: str, book: str) -> list[str]:
    """Plan commands that win with the maximum score.

    The plan is to read the cookbook, take the knife, fetch the ingredients on a shortest round
    trip, cut them, grill on the way back, cook the rest in the kitchen, and eat.
    """
    to_cut = {step.food: step.cut for step in recipe if step.cut}
    to_heat = {step.food: step.heat for step in recipe if step.heat}
    foods = [step.food for step in recipe]

    def cut_held() -> None:
        for food in [f for f in foods if f in to_cut and f in world.held]:
            world.commands.append(f"{_CUT_VERBS[to_cut.pop(food)]} {food} with {knife}")

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
            if world.full and food in to_cut:  # drop a thing until the food is cut
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


def cooking_walkthrough(game: Any, settings: Mapping[str, Any], knife: str, book: str) -> list[str]:
    """Plan commands that win a game of ``tw-cooking`` with the maximum score.

    Without the skill ``cook`` (``cut``) every ingredient is cooked (cut) from the start.
    """
    recipe = [
        RecipeStep(
            food,
            heat if settings["cook"] and heat in _APPLIANCES else "",
            cut if settings["cut"] and cut in _CUT_VERBS else "",
        )
        for food, heat, cut in game.metadata["ingredients"]
    ]
    name = {key: info.name or key for key, info in game.infos.items()}
    types = {name[key]: info.type for key, info in game.infos.items()}
    facts = [(f.name, *(name[v.name] for v in f.arguments)) for f in game.world.facts]
    kitchen = Kitchen(facts, types, settings["recipe"] if settings["drop"] else _CAPACITY)
    return plan_cooking(kitchen, recipe, knife, book)
