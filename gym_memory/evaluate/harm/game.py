"""A game with an attack of ``attacks.toml``: a false note or answer, or a thing that moves.

A log records the actions and places of the agent.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, NamedTuple, cast

import gymnasium as gym

from gym_memory.baselines.base import Policy, make_policy
from gym_memory.core.errors import UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation, Oracle, Transition, Triple
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.games.fetch import Fetch

__all__ = ["READ", "Attack", "AttackedGame", "NoteReader", "PlantedFacts", "attacked", "attacks"]

_NOTE = "crumpled note"
READ = (f"read {_NOTE}", f"examine {_NOTE}")
"""Actions that read the note."""
_ENTRIES = ("visit", "seek")
_LOOKS = ("look", "examine", "read", "inventory", "go")


class Attack(NamedTuple):
    """One attack; see ``attacks.toml``."""

    name: str
    env: str = "Cooking?level=medium"
    note: str = "Nothing is written on it."
    answer: str = ""
    facts: tuple[tuple[str, str, str], ...] = ()
    item: str = ""
    acts: tuple[str, ...] = ()
    later: bool = False
    moved: str = ""

    @property
    def control(self) -> Attack:
        """Return the same game without the attack."""
        names = {"blank": True, "later": self.later, "moved before": bool(self.moved)}
        name = ", ".join(name for name, holds in names.items() if holds)
        return Attack(name, self.env, later=self.later, moved="before" if self.moved else "")


@cache
def attacks() -> dict[str, Attack]:
    """Return the attacks of ``attacks.toml`` by name."""
    listed = tomllib.loads((files(__package__) / "attacks.toml").read_text("utf-8"))["attack"]
    return {attack["name"]: Attack(**attack) for attack in listed}


class PlantedFacts(NamedTuple):
    """False facts of an attack, the thing that they are about, and whether it forges steps."""

    facts: frozenset[Triple]
    item: str
    forged: bool


class AttackedGame(gym.Wrapper[Any, str, Any, str]):
    """A game with an attack, and a log of what the agent did and where it was.

    The note is in the first room. With ``later``, only the first episode has a note, and the attack
    counts in the episodes after it.
    """

    def __init__(self, env: Any, attack: Attack):
        super().__init__(env)
        self.attack, self.slots, self.log = attack, dict[str, str](), list[str]()
        self._episodes, self._has_note, self._here = 0, False, ""

    def fill(self, text: str) -> str:
        """Return a text of the attack, filled with the names of this game."""
        return text.format(**self.slots)

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode; plant the note, or choose the thing to move."""
        obs, info = self.env.reset(**options)
        first, self._episodes = not self._episodes, self._episodes + 1
        self.log, self._has_note = [], not self.attack.moved and (first or not self.attack.later)
        self.slots = self._stage() if self.attack.moved else self._plant()
        if self._has_note:
            text = re.sub(
                r"(?<==-\n)[^\n]+", rf"\g<0> There is a {_NOTE} on the floor.", obs["text"]
            )
            obs = {**obs, "text": text}
        self._enter()
        return self._offer(obs), info

    def _plant(self) -> dict[str, str]:
        facts, kinds = self._engine()
        needed = sorted(f.object for f in facts if f[:2] == ("recipe", "requires"))
        foods = sorted(name for name, kind in kinds.items() if kind == "f" and name not in needed)
        placed = {f.subject: f.object for f in facts if f.relation in ("is in", "is on")}
        rooms = sorted({f.subject for f in facts if f.relation == "has exit"})
        near = placed["you"], placed.get(needed[0])
        return {
            "bait": next((food for food in foods if food in placed), ""),
            "target": needed[0],
            "place": next((room for room in reversed(rooms) if room not in near), ""),
        }

    def _stage(self) -> dict[str, str]:
        """Choose a thing that is needed late, and the last piece of furniture to move it to."""
        house = self._fetch.house
        wanted = [thing for thing, _ in house.requests]
        rooms = {thing: house.furniture[house.things[thing]] for thing in wanted}
        target = next(thing for thing in reversed(wanted) if rooms[thing] != house.start)
        old = house.things[target]
        new = [p for p, room in house.furniture.items() if p != old and room != house.start][-1]
        if self.attack.moved == "before":
            self._fetch.places[target] = new
        return {"target": target, "old": old, "place": rooms[target], "new": new}

    def _move(self) -> None:
        """Move the thing once it is needed, if it was seen and neither place is in view."""
        places, house = self._fetch.places, self._fetch.house
        target, old, new = (self.slots[name] for name in ("target", "old", "new"))
        away = self._here not in (house.furniture[old], house.furniture[new])
        if places[target] == old and away and self._is_wanted and self.did("visit {place}"):
            places[target] = new

    @property
    def _fetch(self) -> Fetch:
        """Return the game with the things that attacks move."""
        return cast(Fetch, self.unwrapped)

    @property
    def _is_wanted(self) -> bool:
        return self.fill("Bring the {target} ") in self._fetch.goal()

    def _enter(self) -> None:
        here = next(f.object for f in self._engine()[0] if f[:2] == ("you", "is in"))
        if not self.log or here != self._here:
            self._here = here
            self.log.append(f"visit {here}")
            if self.attack.moved and self._is_wanted:
                self.log.append(f"seek {here}")

    def step(self, action: str) -> Any:
        """Play a command; one that reads the note shows its text, which the engine lacks."""
        reads = self._has_note and action in READ
        obs, reward, terminated, truncated, info = self.env.step("look" if reads else action)
        if reads:
            obs = {**obs, "text": self.fill(self.attack.note)}
        elif info["is_action_valid"]:
            self.log.append(action)
            self._enter()
            if self.attack.moved == "after":
                self._move()
        self._has_note = self._has_note and not action.startswith("go ")
        if info["moves"] == 2 and self.attack.answer:
            obs = {**obs, "text": obs["text"] + self.fill(self.attack.answer)}
        return self._offer(obs), reward, terminated, truncated, info

    def _offer(self, obs: Any) -> Any:
        more = READ[1:] if self._has_note else ()
        return {**obs, "valid_actions": (*obs["valid_actions"], *more)}

    def oracle(self) -> Oracle:
        """Return the engine's facts and the planted facts that are now false."""
        found: Oracle = self.env.get_wrapper_attr("oracle")()
        attack = self.attack
        facts = frozenset(Triple(*map(self.fill, fact)) for fact in attack.facts) - found.facts
        there = facts or not attack.moved  # until the thing moves, its place is true
        planted = PlantedFacts(facts, self.fill(attack.item) if there else "", bool(attack.answer))
        return found._replace(objects={**found.objects, "planted": planted})

    def _engine(self) -> tuple[list[Triple], dict[str, str]]:
        oracle = self.env.get_wrapper_attr("oracle")()
        return sorted(oracle.facts), oracle.objects.get("types", {})

    def did(self, act: str) -> bool:
        """True if the log contains an action of an attack."""
        verb, _, thing = self.fill(act).partition(" ")
        if verb in _ENTRIES:
            return f"{verb} {thing}" in self.log
        return any(thing in a and not a.startswith((*_LOOKS, *_ENTRIES)) for a in self.log)


def attacked(attack: str) -> AttackedGame:
    """Build the game of an attack from its name."""
    if attack not in attacks():
        raise UnknownNameError("attack", attack, attacks())
    found = attacks()[attack]
    name, settings = Spec(found.env).parts
    return AttackedGame(ENVIRONMENTS.get(name)(**settings), found)


class NoteReader(Policy):
    """A policy that reads a note in the first room, and otherwise plays like another one.

    Args:
        of: The policy.
    """

    name: ClassVar[str] = "note-reader"

    def __init__(self, of: str = "planner"):
        self._player = make_policy(of)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode."""
        self._player.reset(info, seed)

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the other policy's action, or the action that reads the note."""
        player = self._player
        action = player.act(obs, info)
        if info["moves"] == 0 and READ[1] in obs["valid_actions"]:
            action = READ[1]
            player.focus = dataclasses.replace(player.focus, action=action)
        self.focus = player.focus
        return action

    def update(self, transition: Transition) -> None:
        """Pass a step to the other policy."""
        self._player.update(transition)
