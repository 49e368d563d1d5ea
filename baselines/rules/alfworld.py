"""An ALFWorld player that finds, cleans, heats, cools and delivers objects.

Its only state is its published plan. It knows which appliance cleans, heats or cools, and where
objects usually are, from counts over ALFWorld's train games.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files

import numpy as np

from gym_memory.baselines.rules.base import AdvisedPolicy
from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Kind, Move, if_any
from gym_memory.core.records import Triple
from gym_memory.core.settings import check_flag
from gym_memory.games.alfworld.rules import HouseholdTask, goal_in
from gym_memory.graph.schema import PLAYER

__all__ = ["Chance", "HouseholdStep", "Searcher", "chance", "kind_of"]

_CHANCE_ELSEWHERE = 0.005
"""Probability of finding an object in furniture where no train game puts its kind."""


@lru_cache(maxsize=1)
def _placement_shares() -> dict[str, dict[str, float]]:
    source = files("gym_memory.baselines.rules") / "alfworld.json"
    shares: dict[str, dict[str, float]] = json.loads(source.read_text(encoding="utf-8"))["share"]
    return shares


def kind_of(name: str) -> str:
    """Return the kind of a numbered object.

    >>> kind_of("desk 2")
    'desk'
    """
    return name.rpartition(" ")[0] or name


def chance(thing: str, furniture: str) -> float:
    """Return the probability, in (0, 1], that furniture (``desk 2``) holds a kind (``mug``)."""
    return max(_placement_shares().get(thing, {}).get(kind_of(furniture), 0.0), _CHANCE_ELSEWHERE)


Chance = Callable[[str, str], float]
"""A function from a kind of object and furniture to a probability."""

_APPLIANCES = {
    "clean": ("clean", "sinkbasin"),
    "hot": ("heat", "microwave"),
    "cool": ("cool", "fridge"),
}
"""Verb that causes each state, and the appliance for it."""
_NUMBER = re.compile(r"\d+")


class HouseholdStep:
    """A choice of the next step of a task.

    Args:
        beliefs: Beliefs from the observation.
        goal: The task.
        chance: Probability that furniture holds a kind of object.
        rng: Generator for the choice of furniture if the memory forgets searched places.
    """

    def __init__(
        self, beliefs: Beliefs, goal: HouseholdTask, chance: Chance, rng: np.random.Generator
    ):
        self.beliefs, self.goal, self._chance, self._rng = beliefs, goal, chance, rng
        self.here = beliefs.here
        self.held = beliefs.held()
        offered = [a.removeprefix("go to ") for a in beliefs.options("go")]
        known = [*offered, *beliefs.subjects("is in", "room"), self.here]
        self.furniture = sorted(
            (name for name in dict.fromkeys(known) if _NUMBER.search(name)), key=_by_kind_and_number
        )

    def next_move(self) -> Move | None:
        """Return the next step; None if there is nothing left to try."""
        if not self.held:
            return self._fetch()
        thing = self.held[0]
        if kind_of(thing) != self.goal.thing:
            return self._put_away(thing)
        if self.goal.lamp:
            return self._look_at(thing)
        return self._treat(thing) or self._bring(thing)

    def _fetch(self) -> Move | None:
        aim = Aim(f"find {self.goal.thing}", Kind.FIND)
        done = self._delivered()
        for thing in self._located(self.goal.thing):
            holder = self.beliefs.holder(thing)
            if holder == done:
                continue
            take = f"take {thing} from {holder}"
            if take in self.beliefs.actions or (holder == self.here and self.beliefs.can(take)):
                return Move(take, Aim(f"take {thing}"))
            if holder != self.here or self.beliefs.openness(holder) != "open":
                return self._go(holder, Aim(f"fetch {thing}"))
        return self._search(self.goal.thing, aim)

    def _located(self, kind: str) -> list[str]:
        """Return the located objects of a kind, those within reach first."""
        found = [
            fact.subject
            for place in self.furniture
            for fact in self._contents(place)
            if kind_of(fact.subject) == kind
        ]
        return sorted(found, key=lambda thing: self.beliefs.holder(thing) != self.here)

    def _delivered(self) -> str:
        if self.goal.number == 1:
            return ""
        counts = {
            place: sum(kind_of(fact.subject) == self.goal.thing for fact in self._contents(place))
            for place in self._target_places()
        }
        best = max(counts, key=lambda place: counts[place], default="")
        return best if counts.get(best) else ""

    def _contents(self, place: str) -> list[Triple]:
        return [
            fact
            for fact in self.beliefs.graph.incoming(place)
            if fact.relation in ("is in", "is on") and fact.subject != PLAYER
        ]

    def _put_away(self, thing: str) -> Move | None:
        for action in self._putting_actions(thing):
            return Move(action, Aim(f"put down {thing}"))
        free = [
            place
            for place in self.furniture
            if place != self.here and self.beliefs.openness(place) != "closed"
        ]
        if not free:
            return None
        return self._go(free[int(self._rng.integers(len(free)))], Aim(f"put down {thing}"))

    def _look_at(self, thing: str) -> Move | None:
        for action in self.beliefs.options("use"):
            if kind_of(action.removeprefix("use ")) == self.goal.lamp:
                return Move(action, Aim(f"look at {thing}", Kind.READ))
        for lamp in self._located(self.goal.lamp):
            if self.beliefs.holder(lamp) != self.here:
                aim = Aim(f"look at {thing} with {lamp}", Kind.READ)
                return self._go(self.beliefs.holder(lamp), aim)
        return self._search(self.goal.lamp, Aim(f"find {self.goal.lamp}", Kind.FIND))

    def _treat(self, thing: str) -> Move | None:
        state, bringing = self.goal.state, self.beliefs.plan.aim.text.startswith(f"bring {thing}")
        if not state or self.beliefs.is_state(thing, state) or bringing:
            return None
        verb, appliance = _APPLIANCES[state]
        for action in self.beliefs.options(verb):
            if action.startswith(f"{verb} {thing} with "):
                return Move(action, Aim(f"{verb} {thing}"))
        there = [place for place in self.furniture if kind_of(place) == appliance]
        going = [place for place in there if place != self.here]
        return self._go(going[0], Aim(f"{verb} {thing}")) if going else None

    def _bring(self, thing: str) -> Move | None:
        aim = Aim(f"bring {thing} to {self.goal.place}")
        done = self._delivered()
        targets = [done] if done else self._target_places()
        for action in self._putting_actions(thing):
            if action.endswith(tuple(f" {place}" for place in targets)):
                return Move(action, aim)
        if self.here in targets and f"open {self.here}" in self.beliefs.actions:
            return Move(f"open {self.here}", aim)
        going = [place for place in targets if place != self.here]
        return self._go(going[0], aim) if going else None

    def _target_places(self) -> list[str]:
        """Return furniture of the target kind, open pieces and those without a door first."""
        found = [place for place in self.furniture if kind_of(place) == self.goal.place]
        return sorted(found, key=lambda place: not self._searched(place))

    def _putting_actions(self, thing: str) -> Iterator[str]:
        for action in self.beliefs.options("move", "put"):
            if action.split(" ", 1)[1].startswith(f"{thing} "):
                yield action

    def _search(self, kind: str, aim: Aim) -> Move | None:
        """Go to the furniture with the best ratio of probability to steps.

        If the memory forgets which furniture was searched, draw it with these ratios as weights,
        since the best one would be visited forever.
        """
        if self.here and not self._searched(self.here) and self.beliefs.can(f"open {self.here}"):
            return Move(f"open {self.here}", aim)
        others = [place for place in self.furniture if place != self.here]
        left = [place for place in others if not self._searched(place)]
        knows = 0 < len(left) < len(others)
        left = left or others  # the object was overlooked or forgotten
        if not left:
            return None
        worth = np.array([self._chance(kind, p) / (1 + self._is_shut(p)) for p in left])
        if knows:
            worth = np.where(worth == worth.max(), 1.0, 0.0)
        return self._go(left[int(self._rng.choice(len(left), p=worth / worth.sum()))], aim)

    def _searched(self, place: str) -> bool:
        return bool(self._contents(place)) or self.beliefs.is_state(place, "empty")

    def _is_shut(self, place: str) -> bool:
        """True if a place must be opened first, judged by its kind if it was never seen."""
        like = [place, *(p for p in self.furniture if kind_of(p) == kind_of(place))]
        states = [self.beliefs.openness(p) for p in like]
        return next((state == "closed" for state in states if state), False)

    def _go(self, place: str, aim: Aim) -> Move:
        for action in (f"go to {place}", f"open {place}", f"examine {place}"):
            if self.beliefs.can(action):
                return Move(action, replace(aim, text=f"{aim.text}: {place}"))
        return Move("look", aim)


def _by_kind_and_number(name: str) -> tuple[str, int]:
    found = _NUMBER.search(name)
    return kind_of(name), int(found[0]) if found else 0


class Searcher(AdvisedPolicy):
    """An ALFWorld player for all six task types; it explores if the task has another type.

    Args:
        habits: Whether to use knowledge of usual places; else all furniture is equally likely.
    """

    def __init__(self, habits: bool = True) -> None:
        super().__init__(self._run_errand)
        check_flag("habits", habits)
        self._chance = chance if habits else _equal_chance

    def _run_errand(self, beliefs: Beliefs) -> tuple[Move, ...]:
        goal = goal_in(beliefs.task.goal)
        if goal is None:
            return ()
        return if_any(HouseholdStep(beliefs, goal, self._chance, self.rng).next_move())


def _equal_chance(thing: str, furniture: str) -> float:
    return 1.0
