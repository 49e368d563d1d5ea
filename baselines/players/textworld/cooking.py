"""Cooking by a recipe: read it, gather, cut, heat, prepare, eat."""

from __future__ import annotations

import re
from itertools import chain

from gym_memory.baselines.players.beliefs import Beliefs
from gym_memory.baselines.players.plan import Move, only
from gym_memory.baselines.players.travel import explore, go_to, open_here
from gym_memory.english.phrases import head_noun
from gym_memory.english.recipes import is_about_cooking
from gym_memory.english.writing import is_readable
from gym_memory.schema import PLAYER

__all__ = ["cook"]

_CUTS = {"chopped": "chop", "sliced": "slice", "diced": "dice"}
_HEATS = {"fried": "frying", "roasted": "roasting", "grilled": "grilling"}
_APPLIANCES = {
    "frying": ("stove", "hob", "cooktop", "cooker", "range", "pan", "fryer"),
    "roasting": ("oven", "roaster", "furnace"),
    "grilling": ("bbq", "barbecue", "barbeque", "grill", "toaster", "griller"),
}
"""What people use; a text that says otherwise overrules it."""
_BLADES = ("knife", "cleaver", "blade", "machete", "slicer", "chopper", "dagger", "scalpel")

_TASK = re.compile(r"\b(?:cook(?:ing|book)?|recipes?|meals?|dinner|dine|supper)\b", re.IGNORECASE)


def cook(beliefs: Beliefs) -> tuple[Move, ...]:
    """The next step towards the meal; nothing when the task is not about one."""
    needed = beliefs.ingredients()
    if not (needed or _book(beliefs) or _TASK.search(beliefs.task.goal)):
        return ()
    if "eat meal" in beliefs.actions:
        return (Move("eat meal", "eat meal"),)
    if needed:
        return only(_Kitchen(beliefs, needed).step())
    return (*only(_find_recipe(beliefs)), *only(_heat_wanted(beliefs)))


def _book(beliefs: Beliefs) -> str:
    """Something that is known and called like a book of recipes; empty if nothing is."""
    known = [x for x in beliefs.graph.entities() if x != PLAYER and not beliefs.is_place(x)]
    called = [name for name in known if is_readable(name) and is_about_cooking(name)]
    goal = beliefs.task.goal.lower() if _TASK.search(beliefs.task.goal) else ""
    named = [
        name for name in known
        if name in goal and not beliefs.openness(name) and not beliefs.tried(f"examine {name}")
    ]  # fmt: skip
    return next(iter((*called, *named)), "")


def _find_recipe(beliefs: Beliefs) -> Move | None:
    book = _book(beliefs) or "cookbook"
    aim = f"read the {book} in the kitchen"
    for action in (f"read {book}", f"examine {book}"):
        if action in beliefs.actions:
            return Move(action, aim)
    room = beliefs.room_of(book) or ("kitchen" if beliefs.is_place("kitchen") else "")
    if room and room != beliefs.here:
        return go_to(beliefs, room, aim) or explore(beliefs, aim)
    return explore(beliefs, aim) or open_here(beliefs, aim)


def _heat_wanted(beliefs: Beliefs) -> Move | None:
    """What the task wants *grilled*, where no recipe tells how: on one appliance after another."""
    goal, known = beliefs.task.goal.lower(), list(beliefs.graph.entities())
    for state, use in _HEATS.items():
        thing = next((x for x in known if re.search(rf"\b{state} {re.escape(x)}\b", goal)), "")
        if not thing:
            continue
        aim = f"heat {thing}"
        if not beliefs.holds(thing):
            action = beliefs.taking(thing)
            return Move(action, aim) if action else go_to(beliefs, beliefs.room_of(thing), aim)
        nouns = (*_APPLIANCES[use], *chain.from_iterable(_APPLIANCES.values()))
        done = beliefs.put_before(thing)
        places = [x for noun in nouns for x in known if head_noun(x) == noun and x not in done]
        for place in places:
            if putting := beliefs.putting(thing, place):
                return Move(putting, aim)
            if beliefs.room_of(place) != beliefs.here:
                return go_to(beliefs, beliefs.room_of(place), aim)
    return None


class _Kitchen:
    """One decision: what is needed, what is done, what is where."""

    def __init__(self, beliefs: Beliefs, needed: list[str]):
        self.b = beliefs
        self.needed = needed
        self.knife = self._known(_BLADES)
        self.held = [x for x in needed if beliefs.holds(x)]
        self.missing = [x for x in needed if x not in self.held]
        self.cuts = {x: c for x in needed if (c := self._due(x, _CUTS))}
        self.heats = {x: h for x in needed if (h := self._due(x, _HEATS))}
        self.aim = self._aim()

    def _known(self, nouns: tuple[str, ...]) -> str:
        """Something that is known and called so; the first of the nouns if nothing is."""
        known = [name for name in self.b.graph.entities() if head_noun(name) in nouns]
        return known[0] if known else nouns[0]

    def _due(self, thing: str, states: dict[str, str]) -> str:
        """The state that the recipe asks for and the thing does not have yet."""
        for state in self.b.objects(thing, "needs to be"):
            if state in states and not self.b.is_state(thing, state):
                return state
        return ""

    def _aim(self) -> str:
        parts = [
            " ".join(filter(None, ["get", x, self.cuts.get(x), self.heats.get(x)]))
            for x in self.missing
        ]
        parts += [f"{x} {s}" for x in self.held for s in (self.cuts.get(x), self.heats.get(x)) if s]
        if self.cuts:
            parts.append(self.knife)
        parts += dict.fromkeys(self._appliance(h) for h in self.heats.values())
        return "cook: " + ", ".join(parts or ["prepare meal"])

    def step(self) -> Move | None:
        """The first of the things to do that can be done."""
        action = (
            self._cut()
            or self._heat()
            or self._take_knife()
            or self._take_ingredient()
            or self._make_room()
        )
        if action:
            return Move(action, self.aim)
        return self._search_here() or self._go() or self._finish()

    # ------------------------------------------------------------ at this place

    def _cut(self) -> str | None:
        for thing in self.held:
            if thing in self.cuts:
                verb = _CUTS[self.cuts[thing]]
                for action in self.b.options(verb):
                    if f"{action} with ".startswith(f"{verb} {thing} with "):
                        return action
        return None

    def _heat(self) -> str | None:
        for thing in self.held:
            if thing in self.heats:
                told = self._appliance(self.heats[thing])
                nouns = _APPLIANCES[_HEATS[self.heats[thing]]]
                for action in self.b.options("cook"):
                    food, _, appliance = action.removeprefix("cook ").partition(" with ")
                    if food == thing and (appliance == told or head_noun(appliance) in nouns):
                        return action
        return None

    def _take_knife(self) -> str | None:
        """The knife, as long as something is to be cut; its blade is needed all the way."""
        return self.b.taking(self.knife) if self.cuts and not self.b.holds(self.knife) else None

    def _take_ingredient(self) -> str | None:
        """Something needed; what must still be cut first, for the knife may have to go."""
        for thing in sorted(self.missing, key=lambda x: x not in self.cuts):
            action = self.b.taking(thing)
            if action:
                return action
        return None

    def _make_room(self) -> str | None:
        """Drop something when the hands are full and something needed lies here."""
        here = self.b.contents(self.b.here)
        wanted = [x for x in self.missing if x in here and not self._shut_in(x)]
        if self.cuts and self.knife in here and not self.b.holds(self.knife):
            wanted.append(self.knife)
        if not wanted:
            return None
        junk = [x for x in self.b.held() if x not in self.needed and x != self.knife]
        if not self.cuts:
            junk += [x for x in self.b.held() if x == self.knife]
        done = [x for x in self.held if x not in self.cuts]
        for thing in (*junk, *done, *(self.held if self.knife in wanted else ())):
            if f"drop {thing}" in self.b.actions:
                return f"drop {thing}"
        return None

    def _shut_in(self, thing: str) -> bool:
        return self.b.openness(self.b.holder(thing)) == "closed"

    def _search_here(self) -> Move | None:
        """Open what is shut here, if it holds or may hold something needed."""
        unknown = [x for x in self.missing if not self.b.room_of(x)]
        shut = [x for x in self.missing if self._shut_in(x)]
        if self.cuts and not self.b.room_of(self.knife):
            unknown.append(self.knife)
        if unknown or shut:
            return open_here(self.b, self.aim)
        return None

    # ------------------------------------------------------------ elsewhere

    def _appliance(self, heat: str) -> str:
        use = _HEATS[heat]
        told = self.b.subjects("used for", use)
        return told[0] if told else self._known(_APPLIANCES[use])

    def _go(self) -> Move | None:
        """To the nearest place with something to do; into the unknown when none is known."""
        distances = self.b.distances()
        rooms = [self.b.room_of(x) for x in self.missing]
        if self.cuts and not self.b.holds(self.knife):
            rooms.append(self.b.room_of(self.knife))
        waiting = {self._appliance(self.heats[x]) for x in self.missing if x in self.heats}
        for thing in self.held:
            if thing in self.heats:
                appliance = self._appliance(self.heats[thing])
                if appliance not in waiting or not any(rooms):
                    rooms.append(self.b.room_of(appliance))
        known = [(distances[r], r) for r in rooms if r in distances and r != self.b.here]
        if known:
            return go_to(self.b, min(known)[1], self.aim)
        lacking = any(not r for r in rooms) or bool(self.missing) or bool(self.heats)
        if not lacking:
            return None
        move = explore(self.b, self.aim)
        if move:
            return move
        for thing in self.held:  # nothing is left to find: heat what can be heated
            if thing in self.heats:
                room = self.b.room_of(self._appliance(self.heats[thing]))
                if room in distances and room != self.b.here:
                    return go_to(self.b, room, self.aim)
        return None

    def _finish(self) -> Move | None:
        if self.missing or self.cuts or self.heats:
            return None
        if "prepare meal" in self.b.actions:
            return Move("prepare meal", "prepare meal")
        stove = self.b.room_of(self._known(_APPLIANCES["frying"]))
        rooms = [*self.b.objects("meal", "is prepared in"), "kitchen", stove]
        room = next((room for room in rooms if self.b.is_place(room)), rooms[0])
        return go_to(self.b, room, f"prepare meal in {room}")
