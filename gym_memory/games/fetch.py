"""Fetch: bring things one after another, so their places are worth remembering.

The game needs no other package, and its texts follow TextWorld's, so all memories and the planner
can read them.
"""

from __future__ import annotations

import random
from typing import Annotated, Any, ClassVar, NamedTuple

from gym_memory.core.records import Oracle, Triple
from gym_memory.core.settings import Help, checked
from gym_memory.core.text import a_or_an, enumerated
from gym_memory.core.version import __version__
from gym_memory.games.base import Feedback, TextEnv
from gym_memory.graph.map import shortest_path
from gym_memory.graph.schema import INVENTORY, OPPOSITE, PLAYER

__all__ = ["Fetch", "House", "build"]

_MOVES = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
_ROOMS = (
    "attic", "bathroom", "bedroom", "cellar", "corridor", "garage", "garden", "kitchen",
    "laundry", "library", "lounge", "nursery", "office", "pantry", "parlor", "porch",
    "sauna", "studio", "study", "workshop",
)  # fmt: skip
_FURNITURE = (
    "bench", "bookcase", "chair", "chest", "counter", "couch", "crate", "desk", "dresser",
    "nightstand", "pedestal", "rack", "shelf", "sideboard", "stand", "stool", "table",
    "tray", "trunk", "workbench",
)  # fmt: skip
_THINGS = (
    "bell", "book", "bottle", "bowl", "broom", "brush", "bucket", "candle", "clock", "coin",
    "comb", "compass", "cup", "fork", "hammer", "hat", "kettle", "lamp", "letter", "mirror",
    "mug", "needle", "pen", "pillow", "plate", "ring", "rope", "saw", "scarf", "spoon",
    "towel", "umbrella", "vase", "whistle",
)  # fmt: skip


class House(NamedTuple):
    """A house before the game.

    ``exits`` maps each room to its directions and the rooms there, ``furniture`` each piece to its
    room, ``things`` each thing to its piece; ``requests`` are pairs (thing, piece).
    """

    start: str
    exits: dict[str, dict[str, str]]
    furniture: dict[str, str]
    things: dict[str, str]
    requests: tuple[tuple[str, str], ...]


def build(seed: str, rooms: int, requests: int) -> House:
    """Build the house of a seed: a tree of ``rooms`` in [2, 20]."""
    rng = random.Random(seed)
    names = rng.sample(_ROOMS, rooms)
    spots = {(0, 0): names[0]}
    exits: dict[str, dict[str, str]] = {names[0]: {}}
    for name in names[1:]:
        free = [
            (spot, way)
            for spot in spots
            for way, (x, y) in _MOVES.items()
            if (spot[0] + x, spot[1] + y) not in spots
        ]
        spot, way = rng.choice(free)
        spots[spot[0] + _MOVES[way][0], spot[1] + _MOVES[way][1]] = name
        exits[spots[spot]][way] = name
        exits[name] = {OPPOSITE[way]: spots[spot]}
    furniture = dict(zip(rng.sample(_FURNITURE, rooms), names, strict=True))
    pieces = list(furniture)
    things = {thing: rng.choice(pieces[1:]) for thing in rng.sample(_THINGS, rooms + 4)}
    wanted = rng.sample(list(things), requests)
    return House(names[0], exits, furniture, things, tuple((t, pieces[0]) for t in wanted))


class _HouseSize(NamedTuple):
    rooms: int
    requests: int
    max_steps: int


_LEVELS = {
    "easy": _HouseSize(5, 2, 25),
    "medium": _HouseSize(10, 4, 60),
    "hard": _HouseSize(20, 6, 150),
}
_SPLITS = {"train": 200, "valid": 50, "test": 50}


class Fetch(TextEnv):
    """Things to fetch, one after another, in a house of 5, 10 or 20 rooms.

    After each delivery the next thing is named. Each delivery scores a point, and the last one
    wins.

    Args:
        max_steps: Step limit; None for the level's: 25, 60 or 150.
    """

    dialect: ClassVar[str] = "textworld"
    levels: ClassVar[tuple[str, ...]] = tuple(_LEVELS)
    splits: ClassVar[tuple[str, ...]] = tuple(_SPLITS)

    @checked
    def __init__(
        self,
        level: Annotated[str, Help("Size of the house.", choices=tuple(_LEVELS))] = "medium",
        *,
        split: Annotated[str, Help("Which houses.", choices=tuple(_SPLITS))] = "train",
        max_steps: int | None = None,
        valid_actions: bool = True,
        render_mode: str | None = None,
    ):
        super().__init__(
            max_steps=_LEVELS[level].max_steps if max_steps is None else max_steps,
            valid_actions=valid_actions,
            split=split,
            render_mode=render_mode,
        )
        self.level = level
        self._ids = [f"fetch/{level}/{split}/{number}" for number in range(_SPLITS[split])]
        self.house = House("", {}, {}, {}, (("", ""),))
        """House of the present game, as it was before the first step."""
        self.places: dict[str, str] = {}
        """Present piece, or ``inventory``, of each thing; assign to it to move a thing."""
        self._room, self._brought = "", 0

    def _open(self, task_id: str) -> Feedback:
        level = _LEVELS[self.level]
        self.house = build(task_id, level.rooms, level.requests)
        self._room, self._brought = self.house.start, 0
        self.places = dict(self.house.things)
        return self._answer(f"Welcome to the house!\n\n{self._look()}\n\n{self.goal()}")

    def _send(self, action: str) -> Feedback:
        if action not in self._list_valid_actions():
            return self._answer("That's not a verb I recognise.", accepted=False)
        verb, _, rest = action.partition(" ")
        if verb == "go":
            self._room = self.house.exits[self._room][rest]
            return self._answer(self._look())
        if verb == "take":
            thing, _, piece = rest.partition(" from ")
            self.places[thing] = INVENTORY
            return self._answer(f"You take the {thing} from the {piece}.")
        if verb == "put":
            thing, _, piece = rest.partition(" on ")
            self.places[thing] = piece
            text = f"You put the {thing} on the {piece}."
            if (thing, piece) == self.house.requests[self._brought]:
                self._brought += 1
                text += f"\n\n{self.goal()}"
            return self._answer(text)
        return self._answer(self._look() if verb == "look" else self._carried())

    def _list_valid_actions(self) -> tuple[str, ...]:
        actions = ["inventory", "look", *(f"go {way}" for way in self.house.exits[self._room])]
        piece = self._piece()
        for thing, place in self.places.items():
            if place == piece:
                actions.append(f"take {thing} from {piece}")
            elif place == INVENTORY:
                actions.append(f"put {thing} on {piece}")
        return tuple(sorted(actions))

    def _save(self) -> Any:
        return self.house, self._room, self._brought, dict(self.places)

    def _load(self, native: Any) -> None:
        self.house, self._room, self._brought, places = native
        self.places = dict(places)

    def goal(self) -> str:
        """Return the present goal."""
        if self._brought == len(self.house.requests):
            return "All was brought."
        thing, piece = self.house.requests[self._brought]
        return f"Bring the {thing} to the {piece}."

    def versions(self) -> dict[str, str]:
        """Return the version of gym-memory, which includes the game."""
        return {"gym-memory": __version__}

    def oracle(self) -> Oracle:
        """Return all true facts and a walkthrough."""
        house = self.house
        facts = [Triple(PLAYER, "is in", self._room)]
        for room, ways in house.exits.items():
            facts += [Triple(room, "has exit", way) for way in ways]
            facts += [Triple(to, f"is {way} of", room) for way, to in ways.items()]
        facts += [Triple(piece, "is in", room) for piece, room in house.furniture.items()]
        for thing, place in self.places.items():
            facts.append(Triple(thing, "is in" if place == INVENTORY else "is on", place))
        full = set(self.places.values())
        facts += [Triple(piece, "is", "empty") for piece in house.furniture if piece not in full]
        return Oracle(frozenset(facts), tuple(_walkthrough(house)))

    def _piece(self) -> str:
        return next(p for p, room in self.house.furniture.items() if room == self._room)

    def _answer(self, text: str, *, accepted: bool = True) -> Feedback:
        return Feedback(
            text=text,
            score=float(self._brought),
            max_score=float(len(self.house.requests)),
            won=self._brought == len(self.house.requests),
            inventory=self._carried(),
            accepted=accepted,
        )

    def _carried(self) -> str:
        things = self._things(INVENTORY)
        return f"You are carrying: {things}." if things else "You are carrying nothing."

    def _things(self, place: str) -> str:
        things = (thing for thing, where in self.places.items() if where == place)
        return enumerated([f"{a_or_an(thing)} {thing}" for thing in things])

    def _look(self) -> str:
        piece = self._piece()
        things = self._things(piece)
        on = f"On the {piece} you can make out {things}." if things else "But the thing is empty."
        ways = " ".join(f"There is an exit to the {way}." for way in self.house.exits[self._room])
        room = f"You are in {a_or_an(self._room)} {self._room}. A normal kind of place."
        return (
            f"-= {self._room.title()} =-\n{room} You can see {a_or_an(piece)} {piece}. {on}\n\n"
            f"{ways}"
        )


def _walkthrough(house: House) -> list[str]:
    actions: list[str] = []
    here = house.start
    for thing, piece in house.requests:
        for goal, act in (
            (house.things[thing], f"take {thing} from {house.things[thing]}"),
            (piece, f"put {thing} on {piece}"),
        ):
            there = house.furniture[goal]
            legs = shortest_path(here, there, house.exits.__getitem__) or ()
            actions += [*(f"go {leg.direction}" for leg in legs), act]
            here = there
    return actions
