"""Generated households: planning problems in ALFWorld's domain, drawn from a seed.

Domain and grammar come from the installed ``alfworld`` package, and a game has the format of the
official files. ``train`` and ``valid_seen`` share their floors (sets of furniture);
``valid_unseen`` has others.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from gym_memory.core.errors import BackendError, MissingDependencyError
from gym_memory.games.alfworld.world import entity_names

__all__ = ["GENERATOR", "SIZES", "SPLITS", "TASK_TYPES"]
__all__ += ["alfworld_files", "alfworld_version", "make_household"]

GENERATOR = 1
"""Version of the generator; raise it whenever the household of a seed changes."""
TASK_TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
SPLITS = ("train", "valid_seen", "valid_unseen")
SIZES = {"train": 100, "valid_seen": 20, "valid_unseen": 20}
"""Households of each task type and split."""
_FLOORS = {"train": range(12), "valid_seen": range(12), "valid_unseen": range(12, 16)}
_MAX_FLOORS = 16
_GOALS = {
    "pick_and_place_simple": ("put a {o} in {r}", "put some {o} on {r}"),
    "look_at_obj_in_light": ("look at {o} under the {r}", "examine the {o} with the {r}"),
    "pick_clean_then_place_in_recep": (
        "put a clean {o} in {r}",
        "clean some {o} and put it in {r}",
    ),
    "pick_heat_then_place_in_recep": ("put a hot {o} in {r}", "heat some {o} and put it in {r}"),
    "pick_cool_then_place_in_recep": ("put a cool {o} in {r}", "cool some {o} and put it in {r}"),
    "pick_two_obj_and_place": ("put two {o} in {r}", "find two {o} and put them in {r}"),
}
_TREATMENTS = {"clean": ("isClean", "cleanable"), "heat": ("isHot", "heatable"),
         "cool": ("isCool", "coolable"), "slice": ("", "sliceable")}  # fmt: skip
_APPLIANCES = {"clean": "SinkBasin", "heat": "Microwave", "cool": "Fridge"}
_ATTEMPTS = 100


class _ThingKind(NamedTuple):
    uses: Sequence[str]
    places: Sequence[str]


class _Room(NamedTuple):
    furniture: Mapping[str, tuple[int, int]]
    things: Mapping[str, tuple[int, int]]
    lamp: tuple[str, Sequence[str]] | None = None


_CATALOG = tomllib.loads((files(__package__) / "catalog.toml").read_text("utf-8"))
_THINGS = {name: _ThingKind(**kind) for name, kind in _CATALOG["things"].items()}
_ROOMS = {name: _Room(**room) for name, room in _CATALOG["rooms"].items()}
_OPENABLE = frozenset(_CATALOG["openable"])


class _DrawnTask(NamedTuple):
    kind: str
    thing: str
    target: str

    @property
    def use(self) -> str:
        """Return ``clean``, ``heat``, ``cool`` or an empty string."""
        return self.kind.split("_")[1] if self.kind.split("_")[1] in _APPLIANCES else ""


class _HouseholdPlan(NamedTuple):
    """A plan of a household: kind of each entity, place of each thing."""

    kinds: Mapping[str, str]
    where: Mapping[str, str]

    def of(self, kind: str) -> list[str]:
        """Return the entities of a kind."""
        return [entity for entity, its in self.kinds.items() if its == kind]


def make_household(kind: str, split: str, number: int) -> dict[str, object]:
    """Build household ``number`` of a task type and split, as the content of a game file."""
    domain, grammar = alfworld_files()
    rng = random.Random(f"household {GENERATOR} {kind} {split} {number}")
    for _ in range(_ATTEMPTS):
        name = rng.choice(_rooms_for(kind))
        floor = _floors(name)[rng.choice(_FLOORS[split])]
        furnished = _furnish(kind, _ROOMS[name], floor, rng)
        if furnished is not None:
            break
    else:
        raise BackendError(f"no household found for {kind} {split} {number}")
    task, plan = furnished
    goal = rng.choice(_GOALS[kind]).format(o=task.thing.lower(), r=task.target.lower())
    return {
        "pddl_domain": domain,
        "grammar": grammar.replace("UNKNOWN GOAL", goal),
        "pddl_problem": _problem(task, plan, f"household_{kind}_{split}_{number}"),
        "solvable": True,
        "walkthrough": list(_walkthrough(task, plan)),
    }


def alfworld_version() -> str:
    """Return the version of the installed package."""
    alfworld_files()
    return version("alfworld")


@lru_cache(maxsize=1)
def alfworld_files() -> tuple[str, str]:
    """Return the paths of domain and grammar, without an import that would create a folder."""
    spec = find_spec("alfworld")
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError(
            "alfworld", "pip install 'gym-memory[alfworld]'", "ALFWorld's domain and grammar"
        )
    folder = Path(spec.submodule_search_locations[0]) / "data"
    return (
        (folder / "alfred.pddl").read_text(encoding="utf-8"),
        (folder / "alfred.twl2").read_text(encoding="utf-8"),
    )


def _rooms_for(kind: str) -> list[str]:
    if kind == "look_at_obj_in_light":
        return [name for name, room in _ROOMS.items() if room.lamp]
    use = _DrawnTask(kind, "", "").use
    return [n for n, room in _ROOMS.items() if not use or _APPLIANCES[use] in room.furniture]


@lru_cache(maxsize=len(_ROOMS))
def _floors(name: str) -> tuple[Mapping[str, int], ...]:
    """Draw the furniture of each floor; all floors differ."""
    rng = random.Random(f"floors {GENERATOR} {name}")
    found: list[Mapping[str, int]] = []
    while len(found) < _MAX_FLOORS:
        counts = _counts(_ROOMS[name].furniture, rng)
        if counts not in found:
            found.append(counts)
    return tuple(found)


def _furnish(
    kind: str, room: _Room, counts: Mapping[str, int], rng: random.Random
) -> tuple[_DrawnTask, _HouseholdPlan] | None:
    """Return a furnished room with an unfinished task; None if none was found."""
    furniture = [kind for kind, n in counts.items() for _ in range(n)]
    kinds = dict(zip(_ids(furniture, "_bar__plus_00_dot_00"), furniture, strict=True))
    things = [kind for kind, n in _counts(room.things, rng).items() for _ in range(n)]
    if room.lamp:
        things.append(room.lamp[0])
    names = dict(zip(_ids(things, "_bar__plus_01_dot_00"), things, strict=True))
    task = _choose_task(kind, room, things, furniture, rng)
    if task is None:
        return None
    where = {}
    for thing, its in names.items():
        places = room.lamp[1] if room.lamp and its == room.lamp[0] else _THINGS[its].places
        open_to = [p for p in places if counts.get(p)]
        if its == task.thing and not task.use:  # else the task might already be done
            open_to = [p for p in open_to if p != task.target]
        if not open_to:
            return None
        chosen = rng.choice(open_to)
        where[thing] = rng.choice([e for e, kind in kinds.items() if kind == chosen])
    return task, _HouseholdPlan({**kinds, **names}, where)


def _counts(ranges: Mapping[str, tuple[int, int]], rng: random.Random) -> dict[str, int]:
    return {kind: rng.randint(*ends) for kind, ends in ranges.items()}


def _ids(kinds: Sequence[str], middle: str) -> Iterator[str]:
    """Yield ids in ALFWorld's format; a basin is part of another object."""
    for i, kind in enumerate(kinds):
        whole = kind.removesuffix("Basin")
        part = f"_bar_{kind}" if whole != kind else ""
        yield f"{whole}{middle}_bar__plus_{i // 100:02d}_dot_{i % 100:02d}{part}"


def _choose_task(
    kind: str, room: _Room, things: Sequence[str], furniture: Sequence[str], rng: random.Random
) -> _DrawnTask | None:
    if kind == "look_at_obj_in_light":
        lamp = room.lamp[0] if room.lamp else ""
        return _DrawnTask(kind, rng.choice([t for t in things if t != lamp]), lamp)
    use = _DrawnTask(kind, "", "").use
    least = 2 if kind == "pick_two_obj_and_place" else 1
    found = [
        _DrawnTask(kind, thing, target)
        for thing in dict.fromkeys(things)
        if thing in _THINGS and things.count(thing) >= least
        if not use or use in _THINGS[thing].uses
        for target in dict.fromkeys(furniture)
        if target in _THINGS[thing].places and target != _APPLIANCES.get(use)
    ]
    return rng.choice(found) if found else None


def _problem(task: _DrawnTask, plan: _HouseholdPlan, name: str) -> str:
    places = [entity for entity, kind in plan.kinds.items() if entity not in plan.where]
    location = {place: f"loc_bar_{i}" for i, place in enumerate(places, 1)}
    furniture = {kind for room in _ROOMS.values() for kind in room.furniture}
    furniture.update(place for thing in _THINGS.values() for place in thing.places)
    objects = ["agent1 - agent", "loc_bar_0 - location"]
    objects += [f"{kind}Type - otype" for kind in sorted({*_THINGS, "DeskLamp", "FloorLamp"})]
    objects += [f"{kind}Type - rtype" for kind in sorted(furniture)]
    objects += [f"{entity} - object" for entity in plan.where]
    objects += [f"{place} - receptacle" for place in places]
    objects += [f"{spot} - location" for spot in location.values()]
    facts = ["atLocation agent1 loc_bar_0"]
    for kind, thing in _THINGS.items():
        facts += [f"canContain {place}Type {kind}Type" for place in dict.fromkeys(thing.places)]
    for place in places:
        facts.append(f"receptacleType {place} {plan.kinds[place]}Type")
        facts.append(f"receptacleAtLocation {place} {location[place]}")
        if plan.kinds[place] in _OPENABLE:
            facts.append(f"openable {place}")
    for entity, place in plan.where.items():
        kind = plan.kinds[entity]
        facts.append(f"objectType {entity} {kind}Type")
        facts.append(f"inReceptacle {entity} {place}")
        facts.append(f"objectAtLocation {entity} {location[place]}")
        if kind in _THINGS:
            facts.append(f"pickupable {entity}")
            facts += [f"{_TREATMENTS[use][1]} {entity}" for use in _THINGS[kind].uses]
        else:
            facts.append(f"toggleable {entity}")
    lines = "\n  ".join
    return (
        f"(define (problem {name})\n (:domain alfred)\n (:objects\n  {lines(objects)}\n )\n"
        f" (:init\n  {lines(f'({fact})' for fact in facts)}\n )\n (:goal {_goal(task)})\n)\n"
    )


def _goal(task: _DrawnTask) -> str:
    thing, target = f"{task.thing}Type", f"{task.target}Type"
    if task.kind == "look_at_obj_in_light":
        return (
            "(and (exists (?lamp - object ?r - receptacle ?a - agent ?l - location)"
            f" (and (objectType ?lamp {target}) (toggleable ?lamp) (isToggled ?lamp)"
            " (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?lamp ?r)))"
            f" (exists (?o - object ?a - agent) (and (objectType ?o {thing}) (holds ?a ?o))))"
        )
    count = 2 if task.kind == "pick_two_obj_and_place" else 1
    things = [f"?o{i}" for i in range(1, count + 1)]
    wanted = [f"(receptacleType ?r {target})"]
    for name in things:
        wanted += [f"(objectType {name} {thing})", f"(inReceptacle {name} ?r)"]
        wanted += [f"({_TREATMENTS[task.use][0]} {name})"] if task.use else []
    if count == 2:
        wanted.append("(not (= ?o1 ?o2))")
    return f"(exists (?r - receptacle {' '.join(things)} - object) (and {' '.join(wanted)}))"


def _walkthrough(task: _DrawnTask, plan: _HouseholdPlan) -> Iterator[str]:
    """Yield commands that solve the task."""
    names = entity_names(entity.lower() for entity in plan.kinds)

    def name(entity: str) -> str:
        return names[entity.lower()]

    opened: set[str] = set()

    def open_up(place: str) -> Iterator[str]:
        if plan.kinds[place] in _OPENABLE and place not in opened:
            opened.add(place)
            yield f"open {name(place)}"

    count = 2 if task.kind == "pick_two_obj_and_place" else 1
    for thing in plan.of(task.thing)[:count]:
        here = plan.where[thing]
        yield f"go to {name(here)}"
        yield from open_up(here)
        yield f"take {name(thing)} from {name(here)}"
        if task.kind == "look_at_obj_in_light":
            lamp = plan.of(task.target)[0]
            if plan.where[lamp] != here:
                yield f"go to {name(plan.where[lamp])}"
            yield f"use {name(lamp)}"
            return
        if task.use:
            appliance = plan.of(_APPLIANCES[task.use])[0]
            if appliance != here:
                yield f"go to {name(appliance)}"
                here = appliance
            yield f"{task.use} {name(thing)} with {name(appliance)}"
        target = next((p for p in plan.of(task.target) if p != here), plan.of(task.target)[0])
        if target != here:
            yield f"go to {name(target)}"
        yield from open_up(target)
        yield f"move {name(thing)} to {name(target)}"
