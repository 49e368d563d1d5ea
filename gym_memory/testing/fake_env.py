"""A small deterministic house in pure Python that speaks like TextWorld, for fast tests."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

from gymnasium.envs.registration import register, registry

from gym_memory.core.errors import BackendError
from gym_memory.core.records import Oracle, Triple
from gym_memory.core.settings import check_name
from gym_memory.core.text import a_or_an, enumerated
from gym_memory.games.base import ENVIRONMENTS, Feedback, TextEnv, env_id, register_envs
from gym_memory.games.foreign import make_foreign

__all__ = ["FAKE_ID", "RAW_ID", "FakeHouse", "register_fake"]

RAW_ID = "FakeHouseRaw-v0"
"""Gymnasium id of the bare house."""
FAKE_ID = env_id("FakeHouse")
"""Gymnasium id of the house with a memory."""

_EXITS = {
    "kitchen": {"east": "hall"},
    "hall": {"west": "kitchen", "north": "study", "east": "pantry", "south": "garden"},
    "study": {"south": "hall"},
    "pantry": {"west": "hall"},
    "garden": {"north": "hall"},
}
_DOOR = "wooden door"
_DOORWAYS = {("hall", "east"), ("pantry", "west")}
_SUPPORTERS = {"table": "kitchen", "desk": "study", "bench": "garden"}
_FRIDGE, _FRIDGE_ROOM = "fridge", "pantry"
_FOODS = ("apple", "carrot", "red onion", "lettuce", "pork chop")
_STARTS = ("hall", "study", "garden")
_SPLITS = {"train": range(0, 8), "valid": range(8, 10), "test": range(10, 14)}
_CARRIED = "inventory"


@dataclasses.dataclass
class _HouseState:
    food: str
    room: str
    places: dict[str, str]
    open: dict[str, bool]
    score: int = 0
    found: bool = False
    won: bool = False
    lost: bool = False


def _listed(names: Sequence[str]) -> str:
    return enumerated([f"{a_or_an(name)} {name}" for name in names])


class FakeHouse(TextEnv):
    """A simulation of the house.

    ``native`` snapshots copy the state, others replay the actions; the backend fails at move
    ``fail_at``.
    """

    dialect: ClassVar[str] = "textworld"

    def __init__(
        self,
        *,
        split: str = "train",
        max_steps: int = 50,
        valid_actions: bool = True,
        native: bool = True,
        fail_at: int | None = None,
        render_mode: str | None = None,
    ):
        check_name("split", split, _SPLITS)
        super().__init__(
            max_steps=max_steps, valid_actions=valid_actions, split=split, render_mode=render_mode
        )
        self._ids = [f"fakehouse/{split}/{number}" for number in _SPLITS[split]]
        self._native, self._fail_at = native, fail_at
        self.state = _HouseState("", "hall", {}, {})
        """Present house, which a test may change out of view."""

    # ------------------------------------------------------------ hooks

    def _open(self, task_id: str) -> Feedback:
        number = int(task_id.rpartition("/")[2])
        food, other = _FOODS[number % 5], _FOODS[(number + 1) % 5]
        self.state = _HouseState(
            food,
            _STARTS[number % 3],
            {food: _FRIDGE, other: "bench", "knife": "table", "lamp": "desk", "rake": "garden"},
            {_DOOR: False, _FRIDGE: False},
        )
        return self._answer(f"Welcome to the house! {self.goal()}\n\n{self._look()}")

    def _send(self, action: str) -> Feedback:
        if self._fail_at is not None and len(self._actions) + 1 >= self._fail_at:
            raise BackendError(f"the house fell down at move {self._fail_at}")
        if action not in self._list_valid_actions():
            return self._answer("That's not a verb I recognise.", accepted=False)
        verb, _, rest = action.partition(" ")
        hooks = {"look": self._look, "inventory": self._carrying}
        text = hooks[verb]() if verb in hooks else getattr(self, f"_do_{verb}")(rest)
        return self._answer(text)

    def _list_valid_actions(self) -> tuple[str, ...]:
        state = self.state
        if state.won or state.lost:
            return ()
        actions = ["inventory", "look"]
        for direction in _EXITS[state.room]:
            if (state.room, direction) in _DOORWAYS:
                actions.append(f"{'close' if state.open[_DOOR] else 'open'} {_DOOR}")
            if (state.room, direction) not in _DOORWAYS or state.open[_DOOR]:
                actions.append(f"go {direction}")
        if state.room == _FRIDGE_ROOM:
            actions.append(f"{'close' if state.open[_FRIDGE] else 'open'} {_FRIDGE}")
        holders = [name for name, room in _SUPPORTERS.items() if room == state.room]
        if state.room == _FRIDGE_ROOM and state.open[_FRIDGE]:
            holders.append(_FRIDGE)
        for thing, place in state.places.items():
            if place == _CARRIED:
                actions.append(f"drop {thing}")
                actions += [
                    f"insert {thing} into {h}" if h == _FRIDGE else f"put {thing} on {h}"
                    for h in holders
                ]
                if thing in _FOODS:
                    actions.append(f"eat {thing}")
            elif place == state.room:
                actions.append(f"take {thing}")
            elif place in holders:
                actions.append(f"take {thing} from {place}")
        return tuple(sorted(actions))

    def _save(self) -> Any:
        return copy.deepcopy(self.state) if self._native else None

    def _load(self, native: Any) -> None:
        self.state = copy.deepcopy(native)

    def goal(self) -> str:
        """Return the goal in words."""
        return f"Your task is to put the {self.state.food} on the table in the kitchen."

    def versions(self) -> dict[str, str]:
        """Return the version of the house."""
        return {"fakehouse": "1"}

    def oracle(self) -> Oracle:
        """Return all facts that are true now."""
        state = self.state
        facts = [Triple("you", "is in", state.room), Triple("fridge", "is in", _FRIDGE_ROOM)]
        facts += [Triple(name, "is in", room) for name, room in _SUPPORTERS.items()]
        for room, exits in _EXITS.items():
            facts += [Triple(room, "has exit", direction) for direction in exits]
            facts += [Triple(to, f"is {direction} of", room) for direction, to in exits.items()]
        facts += [Triple(room, f"has {d} door", _DOOR) for room, d in _DOORWAYS]
        facts += [
            Triple(name, "is", "open" if is_open else "closed")
            for name, is_open in state.open.items()
        ]
        for thing, place in state.places.items():
            relation = "is on" if place in _SUPPORTERS else "is in"
            facts.append(Triple(thing, relation, place))
        full = set(state.places.values())
        facts += [Triple(h, "is", "empty") for h in (*_SUPPORTERS, _FRIDGE) if h not in full]
        number = _FOODS.index(state.food)
        foods = (state.food, _FOODS[(number + 1) % 5])
        facts += [Triple(f, "is", "consumed") for f in foods if f not in state.places]
        return Oracle(frozenset(facts), self._walkthrough())

    def _walkthrough(self) -> tuple[str, ...]:
        number = int(self.task_id.rpartition("/")[2]) if self.task_id else 0
        food = _FOODS[number % 5]
        start = {"hall": (), "study": ("go south",), "garden": ("go north",)}
        return (
            *start[_STARTS[number % 3]],
            "open wooden door",
            "go east",
            "open fridge",
            f"take {food} from fridge",
            "go west",
            "go west",
            f"put {food} on table",
        )

    # ------------------------------------------------------------ the world

    def _answer(self, text: str, *, accepted: bool = True) -> Feedback:
        state = self.state
        return Feedback(
            text=text,
            score=float(state.score),
            max_score=2.0,
            won=state.won,
            lost=state.lost,
            inventory=self._carrying(),
            accepted=accepted,
        )

    def _things(self, place: str) -> list[str]:
        return [thing for thing, where in self.state.places.items() if where == place]

    def _carrying(self) -> str:
        things = self._things(_CARRIED)
        return f"You are carrying: {_listed(things)}." if things else "You are carrying nothing."

    def _look(self) -> str:
        state, room = self.state, self.state.room
        sentences = [f"You are in a {room}. A normal kind of place."]
        for name, where in _SUPPORTERS.items():
            if where == room:
                things = self._things(name)
                sentences.append(f"You can see a {name}.")
                sentences.append(
                    f"On the {name} you can make out {_listed(things)}."
                    if things
                    else "But the thing is empty."
                )
        if room == _FRIDGE_ROOM:
            is_open = state.open[_FRIDGE]
            sentences.append(f"You can see {'an opened' if is_open else 'a closed'} {_FRIDGE}.")
            things = self._things(_FRIDGE)
            if is_open and things:
                sentences.append(f"The {_FRIDGE} contains {_listed(things)}.")
        ways = []
        for direction in _EXITS[room]:
            if (room, direction) in _DOORWAYS:
                kind = "an open" if state.open[_DOOR] else "a closed"
                ways.append(f"There is {kind} {_DOOR} leading {direction}.")
            else:
                ways.append(f"There is an exit to the {direction}.")
        parts = [f"-= {room.title()} =-", " ".join(sentences) + "\n", " ".join(ways)]
        floor = self._things(room)
        if floor:
            parts.append(f"\nThere is {_listed(floor)} on the floor.")
        return "\n".join(parts)

    def _do_go(self, direction: str) -> str:
        self.state.room = _EXITS[self.state.room][direction]
        return self._look()

    def _do_open(self, name: str) -> str:
        self.state.open[name] = True
        inside = self._things(name)
        return f"You open the {name}" + (f", revealing {_listed(inside)}." if inside else ".")

    def _do_close(self, name: str) -> str:
        self.state.open[name] = False
        return f"You close the {name}."

    def _do_take(self, rest: str) -> str:
        state = self.state
        thing, _, holder = rest.partition(" from ")
        state.places[thing] = _CARRIED
        if thing == state.food and not state.found:
            state.found, state.score = True, state.score + 1
        if holder:
            return f"You take the {thing} from the {holder}."
        return f"You pick up the {thing} from the ground."

    def _do_drop(self, thing: str) -> str:
        self.state.places[thing] = self.state.room
        return f"You drop the {thing} on the ground."

    def _do_put(self, rest: str) -> str:
        state = self.state
        thing, _, holder = rest.partition(" on ")
        state.places[thing] = holder
        if (thing, holder) == (state.food, "table"):
            state.won, state.score = True, state.score + 1
        return f"You put the {thing} on the {holder}."

    def _do_insert(self, rest: str) -> str:
        thing, _, holder = rest.partition(" into ")
        self.state.places[thing] = holder
        return f"You put the {thing} into the {holder}."

    def _do_eat(self, thing: str) -> str:
        del self.state.places[thing]
        self.state.lost = thing == self.state.food
        return f"You eat the {thing}. Not bad."


def foreign_house(**kwargs: Any) -> TextEnv:
    """Build the house as a third-party environment."""
    return make_foreign(RAW_ID, **kwargs)


def register_fake() -> None:
    """Register the house with Gymnasium and gym-memory, once."""
    if RAW_ID not in registry:
        register(
            RAW_ID,
            entry_point="gym_memory.testing.fake_env:FakeHouse",
            disable_env_checker=True,
            order_enforce=False,
        )
    if "FakeHouse" not in ENVIRONMENTS.names():
        ENVIRONMENTS.register("FakeHouse", FakeHouse)
        ENVIRONMENTS.register("ForeignHouse", foreign_house)
        register_envs()
