"""Cook a recipe: read it, gather the ingredients, cut, heat, prepare and eat.

The use of a tool is known from texts, from its name or from trying it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain

from gym_memory.baselines.rules.base import explore, go_to, open_here
from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Kind, Move, if_any
from gym_memory.baselines.rules.textworld.hunting import is_portable, tour
from gym_memory.baselines.rules.textworld.tidying import is_about_tidying
from gym_memory.extract.notes.recipes import (
    APPLIANCES,
    BLADES,
    CUTS,
    HEATS,
    is_about_cooking,
    is_tool,
)
from gym_memory.extract.notes.words import STATES
from gym_memory.graph.schema import head_noun, is_readable

__all__ = ["appliance", "blade", "cook", "find_recipe", "is_food", "offered"]
__all__ += ["unclear_appliances"]

_FAMILIAR_APPLIANCES = ("stove", "oven", "bbq", "barbecue", "toaster", "grill", "hob")
"""Appliances whose use is known from their name."""


def is_food(beliefs: Beliefs, thing: str) -> bool:
    """True if an object can be eaten or drunk, or has the state of a food."""
    eaten = (f"eat {thing}" in beliefs.actions, f"drink {thing}" in beliefs.actions)
    return any(eaten) or any(beliefs.is_state(thing, state) for state in STATES)


def blade(beliefs: Beliefs, foods: list[str]) -> str:
    """Return a tool to cut foods: from a valid action, a known blade, or an untried object."""
    cutting = [action.rpartition(" with ")[2] for action in beliefs.options(*CUTS.values())]
    known = [name for name in beliefs.things if head_noun(name) in BLADES]
    if cutting or known:
        return [*cutting, *known][0]
    in_vain = any(beliefs.holds(food) for food in foods)  # no held object cuts
    distances = beliefs.distances
    others = [
        (distances[room], thing)
        for room in distances
        for thing in beliefs.contents(room)
        if is_portable(beliefs, thing)
        and not (is_food(beliefs, thing) or is_readable(thing) or is_tool(thing) or thing in foods)
    ]
    if beliefs.frontier() or not others:
        return BLADES[0]
    held = [thing for thing in beliefs.held() if thing not in foods]
    return min(others)[1] if in_vain or not held else BLADES[0]


def offered(beliefs: Beliefs, food: str) -> list[str]:
    """Return the appliances of the valid actions that heat a food."""
    start = f"cook {food} with "
    return [a.removeprefix(start) for a in beliefs.options("cook") if a.startswith(start)]


def appliance(beliefs: Beliefs, use: str) -> str:
    """Return the appliance for ``frying``, ``roasting`` or ``grilling``; empty if unknown."""
    stated = beliefs.subjects("used for", use)
    named = (
        name
        for name in beliefs.things
        if head_noun(name) in APPLIANCES[use] and not beliefs.objects(name, "used for")
    )
    return next(iter((*stated, *named)), "")


def unclear_appliances(beliefs: Beliefs) -> list[str]:
    """Return the appliances here whose use is unknown."""
    here = dict.fromkeys(a.rpartition(" with ")[2] for a in beliefs.options("cook"))
    return [
        x
        for x in here
        if not beliefs.objects(x, "used for") and head_noun(x) not in _FAMILIAR_APPLIANCES
    ]


_COOKING = re.compile(r"\b(?:cook(?:ing)? (?!book)|recipes?|prepare \w+ meal)", re.IGNORECASE)
_MEAL_TASK = re.compile(
    r"\b(?:cook(?:ing|book)?|recipes?|meals?|dinner|dine|supper|lunch|breakfast|dish|feast|hungry"
    r"|starving)\b",
    re.IGNORECASE,
)
_SEARCH_KITCHEN = "search a place to prepare the meal"
_SEARCH_TEXTS = "search what tells how to cook"


def cook(beliefs: Beliefs) -> Iterator[Move]:
    """Yield the next steps towards a meal, if the task asks for one."""
    needed = beliefs.ingredients()
    if not (needed or _is_about_meal(beliefs.task.goal)):
        return
    if "eat meal" in beliefs.actions:
        yield Move("eat meal", Aim("eat meal"))
    elif any(is_tool(place) for food in needed for place in beliefs.put_before(food)):
        # in this game, putting food on an appliance cooks it
        yield from if_any(_heat_wanted(beliefs))
    elif needed:
        yield from _CookingView(beliefs, needed).step()
        yield from if_any(_heat_wanted(beliefs))
    else:
        yield from if_any(_find_recipe(beliefs))
        yield from if_any(_heat_wanted(beliefs))
        yield from _read_all(beliefs)


def _is_about_meal(goal: str) -> bool:
    """True if a task asks for a meal, and not only for tidying after dinner."""
    if is_about_tidying(goal):
        return _COOKING.search(goal) is not None
    return _MEAL_TASK.search(goal) is not None


def _recipe_book(beliefs: Beliefs) -> str:
    known = beliefs.things
    called = [name for name in known if is_readable(name) and is_about_cooking(name)]
    goal = beliefs.task.goal.lower() if _MEAL_TASK.search(beliefs.task.goal) else ""
    named = [
        name for name in known
        if name in goal and not beliefs.openness(name) and not beliefs.tried(f"examine {name}")
    ]  # fmt: skip
    return next(iter((*called, *named)), "")


def _find_recipe(beliefs: Beliefs) -> Move | None:
    book = _recipe_book(beliefs) or "cookbook"
    aim = Aim(f"read the {book} in the kitchen", Kind.READ)
    for action in (f"read {book}", f"examine {book}"):
        if action in beliefs.actions:
            return Move(action, aim)
    room = beliefs.room_of(book) or ("kitchen" if beliefs.is_place("kitchen") else "")
    if room and room != beliefs.here:
        return go_to(beliefs, room, aim) or explore(beliefs, aim)
    return explore(beliefs, aim) or open_here(beliefs, aim)


def find_recipe(beliefs: Beliefs) -> Iterator[Move]:
    """Search for a recipe if there is food to prepare and no recipe is known."""
    if not beliefs.ingredients() and (
        beliefs.options("cook") or any(is_food(beliefs, thing) for thing in beliefs.things)
    ):
        yield from _read_all(beliefs)


def _read_all(beliefs: Beliefs) -> Iterator[Move]:
    for thing in beliefs.contents(beliefs.here):
        looking = f"examine {thing}"
        is_known = is_food(beliefs, thing) or not is_portable(beliefs, thing)
        if not is_known and looking in beliefs.actions and not beliefs.tried(looking):
            yield Move(looking, Aim(f"look at {thing}", Kind.READ))
    if not beliefs.frontier():  # exploring comes first
        yield from tour(
            beliefs, _SEARCH_TEXTS, (r for r in beliefs.distances if beliefs.contents(r))
        )


def _heat_wanted(beliefs: Beliefs) -> Move | None:
    """Heat, without a recipe, an object that a text wants *grilled*, trying each appliance."""
    texts = " ".join((beliefs.task.goal, *beliefs.texts_read())).lower()
    known = beliefs.things
    for state, use in HEATS.items():
        thing = next((x for x in known if re.search(rf"\b{state} {re.escape(x)}\b", texts)), "")
        if not thing:
            continue
        aim = Aim(f"heat {thing}")
        if not beliefs.holds(thing):
            action = beliefs.taking(thing)
            return Move(action, aim) if action else go_to(beliefs, beliefs.room_of(thing), aim)
        nouns = (*APPLIANCES[use], *chain.from_iterable(APPLIANCES.values()))
        done = beliefs.put_before(thing)
        places = [x for noun in nouns for x in known if head_noun(x) == noun and x not in done]
        for place in places:
            if putting := beliefs.putting(thing, place):
                return Move(putting, aim)
            if beliefs.room_of(place) != beliefs.here:
                return go_to(beliefs, beliefs.room_of(place), aim)
    return None


class _CookingView:
    """A state of the recipe at one decision: needed, held and missing ingredients."""

    def __init__(self, beliefs: Beliefs, needed: list[str]):
        self.beliefs = beliefs
        self.needed = needed
        self.held = [x for x in needed if beliefs.holds(x)]
        self.missing = [x for x in needed if x not in self.held]
        self.cuts = {x: c for x in needed if (c := self._missing_state(x, CUTS))}
        self.heats = {x: h for x in needed if (h := self._missing_state(x, HEATS))}
        self.knife = blade(beliefs, list(self.cuts))
        self._appliances: dict[str, str] = {}
        self.aim = self._aim()

    def _missing_state(self, thing: str, states: Mapping[str, str]) -> str:
        for state in self.beliefs.objects(thing, "needs to be"):
            if state in states and not self.beliefs.is_state(thing, state):
                return state
        return ""

    def _aim(self) -> Aim:
        parts = [
            " ".join(filter(None, ["get", x, self.cuts.get(x), self.heats.get(x)]))
            for x in self.missing
        ]
        parts += [f"{x} {s}" for x in self.held for s in (self.cuts.get(x), self.heats.get(x)) if s]
        if self.cuts:
            parts.append(self.knife)
        parts += dict.fromkeys(self._appliance(h) for h in self.heats.values())
        return Aim("cook: " + ", ".join(parts or ["prepare meal"]), Kind.COOK)

    def step(self) -> Iterator[Move]:
        """Yield the most urgent step, then others that may help."""
        yield from self._look_at_appliances()
        action = self._cut() or self._heat() or self._take_knife() or self._take_ingredient()
        # a valid take action may fail if the inventory is full
        for doing in filter(None, (action, self._make_room())):
            yield Move(doing, self.aim)
        yield from if_any(self._search_here() or self._go())
        yield from self._finish()
        yield from self._try_appliances()

    def _cut(self) -> str | None:
        for thing in self.held:
            if thing in self.cuts:
                verb = CUTS[self.cuts[thing]]
                for action in self.beliefs.options(verb):
                    if f"{action} with ".startswith(f"{verb} {thing} with "):
                        return action
        return None

    def _heat(self) -> str | None:
        for thing in self.held:
            if thing in self.heats:
                use = HEATS[self.heats[thing]]
                for tool in offered(self.beliefs, thing):
                    uses = self.beliefs.objects(tool, "used for")
                    if use in uses or (not uses and head_noun(tool) in APPLIANCES[use]):
                        return f"cook {thing} with {tool}"
        return None

    def _look_at_appliances(self) -> Iterator[Move]:
        """Examine appliances of unknown use if one is needed."""
        uses = {HEATS[heat] for heat in self.heats.values()}
        if all(self.beliefs.subjects("used for", use) for use in uses):
            return
        for tool in unclear_appliances(self.beliefs):
            if self.beliefs.can(f"examine {tool}") and not self.beliefs.tried(f"examine {tool}"):
                yield Move(f"examine {tool}", Aim(f"look at {tool}", Kind.READ))

    def _try_appliances(self) -> Iterator[Move]:
        """Try appliances of unknown use, on food that the recipe does not need if possible."""
        spare = [x for x in self.beliefs.held() if x not in self.needed]
        for thing in (*spare, *(x for x in self.held if x in self.heats)):
            for tool in offered(self.beliefs, thing):
                if tool in unclear_appliances(self.beliefs):
                    yield Move(f"cook {thing} with {tool}", Aim(f"try {tool}", Kind.TRY))

    def _take_knife(self) -> str | None:
        wanted = self.cuts and not self.beliefs.holds(self.knife)
        return self.beliefs.taking(self.knife) if wanted else None

    def _take_ingredient(self) -> str | None:
        """Take an ingredient; those to cut first, since the knife may have to be dropped later."""
        for thing in sorted(self.missing, key=lambda x: x not in self.cuts):
            if action := self.beliefs.taking(thing):
                return action
        return None

    def _make_room(self) -> str | None:
        here = self.beliefs.contents(self.beliefs.here)
        wanted = [x for x in self.missing if x in here and not self._shut_in(x)]
        if self.cuts and self.knife in here and not self.beliefs.holds(self.knife):
            wanted.append(self.knife)
        if not wanted:
            return None
        junk = [x for x in self.beliefs.held() if x not in self.needed and x != self.knife]
        if not self.cuts:
            junk += [x for x in self.beliefs.held() if x == self.knife]
        done = [x for x in self.held if x not in self.cuts]
        for thing in (*junk, *done, *(self.held if self.knife in wanted else ())):
            if f"drop {thing}" in self.beliefs.actions:
                return f"drop {thing}"
        return None

    def _shut_in(self, thing: str) -> bool:
        return self.beliefs.openness(self.beliefs.holder(thing)) == "closed"

    def _search_here(self) -> Move | None:
        unknown = [x for x in self.missing if not self.beliefs.room_of(x)]
        shut = [x for x in self.missing if self._shut_in(x)]
        if self.cuts and not self.beliefs.room_of(self.knife):
            unknown.append(self.knife)
        if unknown or shut:
            return open_here(self.beliefs, self.aim)
        return None

    def _appliance(self, heat: str) -> str:
        if heat not in self._appliances:
            use = HEATS[heat]
            self._appliances[heat] = appliance(self.beliefs, use) or APPLIANCES[use][0]
        return self._appliances[heat]

    def _go(self) -> Move | None:
        distances = self.beliefs.distances
        rooms = [self.beliefs.room_of(x) for x in self.missing]
        if self.cuts and not self.beliefs.holds(self.knife):
            rooms.append(self.beliefs.room_of(self.knife))
        waiting = {self._appliance(self.heats[x]) for x in self.missing if x in self.heats}
        for thing in self.held:
            if thing in self.heats:
                appliance = self._appliance(self.heats[thing])
                if appliance not in waiting or not any(rooms):
                    rooms.append(self.beliefs.room_of(appliance))
        known = [(distances[r], r) for r in rooms if r in distances and r != self.beliefs.here]
        if known:
            return go_to(self.beliefs, min(known)[1], self.aim)
        if all(rooms) and not self.missing and not self.heats:
            return None
        if move := explore(self.beliefs, self.aim):
            return move
        for thing in self.held:  # nothing is left to find, so heat any food
            if thing in self.heats:
                room = self.beliefs.room_of(self._appliance(self.heats[thing]))
                if room in distances and room != self.beliefs.here:
                    return go_to(self.beliefs, room, self.aim)
        return None

    def _finish(self) -> Iterator[Move]:
        found = [x for x in self.needed if self.beliefs.room_of(x)]  # the others may be no food
        due = (*self.missing, *self.cuts, *self.heats)
        if not found or any(x in found for x in due):
            return
        if "prepare meal" in self.beliefs.actions:
            yield Move("prepare meal", Aim("prepare meal"))
            return
        stoves = [self.beliefs.room_of(self._appliance(heat)) for heat in HEATS]
        kitchens = [*self.beliefs.objects("meal", "is prepared in"), "kitchen", *stoves]
        for room in kitchens:
            if self.beliefs.is_place(room):
                yield from if_any(go_to(self.beliefs, room, Aim(f"prepare meal in {room}")))
                break
        yield from tour(self.beliefs, _SEARCH_KITCHEN, [*stoves, *self.beliefs.distances])
