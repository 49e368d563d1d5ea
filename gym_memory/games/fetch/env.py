"""Fetch: bring one thing after another; where it was seen is worth remembering.

The game needs no package beyond the core and speaks like TextWorld, so that all memories and the
planner read it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

from gym_memory.core.records import Oracle, Triple
from gym_memory.core.settings import Help, checked
from gym_memory.games.base import Feedback, TextEnv
from gym_memory.games.fetch.world import House, build
from gym_memory.games.registry import ENVIRONMENTS
from gym_memory.graph.schema import INVENTORY, PLAYER
from gym_memory.version import __version__

__all__ = ["Fetch"]


class _Level(NamedTuple):
    rooms: int
    requests: int
    max_steps: int


_LEVELS = {"easy": _Level(5, 2, 25), "medium": _Level(10, 4, 60), "hard": _Level(20, 6, 150)}
_SPLITS = {"train": 200, "valid": 50, "test": 50}


@ENVIRONMENTS.register("Fetch")
class Fetch(TextEnv):
    """Fetch the things that are wanted, one after another, in a house of 5, 10 or 20 rooms.

    The next thing is named when the last one was brought. Each scores a point; the last one wins.

    Args:
        max_steps: Step limit; None for that of the level, 25, 60 or 150.
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
        self._house = House("", {}, {}, {}, (("", ""),))
        self._room, self._brought = "", 0
        self._places: dict[str, str] = {}

    def _task_ids(self) -> Sequence[str]:
        return self._ids

    def _open(self, task_id: str) -> Feedback:
        level = _LEVELS[self.level]
        self._house = build(task_id, level.rooms, level.requests)
        self._room, self._brought = self._house.start, 0
        self._places = dict(self._house.things)
        return self._answer(f"Welcome to the house!\n\n{self._look()}\n\n{self.goal()}")

    def _send(self, action: str) -> Feedback:
        if action not in self._list_valid_actions():
            return self._answer("That's not a verb I recognise.", accepted=False)
        verb, _, rest = action.partition(" ")
        if verb == "go":
            self._room = self._house.exits[self._room][rest]
            return self._answer(self._look())
        if verb == "take":
            thing, _, piece = rest.partition(" from ")
            self._places[thing] = INVENTORY
            return self._answer(f"You take the {thing} from the {piece}.")
        if verb == "put":
            thing, _, piece = rest.partition(" on ")
            self._places[thing] = piece
            text = f"You put the {thing} on the {piece}."
            if (thing, piece) == self._house.requests[self._brought]:
                self._brought += 1
                text += f"\n\n{self.goal()}"
            return self._answer(text)
        return self._answer(self._look() if verb == "look" else self._carried())

    def _list_valid_actions(self) -> tuple[str, ...]:
        actions = ["inventory", "look", *(f"go {way}" for way in self._house.exits[self._room])]
        piece = self._piece()
        for thing, place in self._places.items():
            if place == piece:
                actions.append(f"take {thing} from {piece}")
            elif place == INVENTORY:
                actions.append(f"put {thing} on {piece}")
        return tuple(sorted(actions))

    def _save(self) -> Any:
        return self._house, self._room, self._brought, dict(self._places)

    def _load(self, native: Any) -> None:
        self._house, self._room, self._brought, places = native
        self._places = dict(places)

    def goal(self) -> str:
        """Return what is wanted now."""
        if self._brought == len(self._house.requests):
            return "All was brought."
        thing, piece = self._house.requests[self._brought]
        return f"Bring the {thing} to the {piece}."

    def versions(self) -> dict[str, str]:
        """Return the version of gym-memory, which holds the whole game."""
        return {"gym-memory": __version__}

    def oracle(self) -> Oracle:
        """Return all that is true now, and how to win from the start."""
        house = self._house
        facts = [Triple(PLAYER, "is in", self._room)]
        for room, ways in house.exits.items():
            facts += [Triple(room, "has exit", way) for way in ways]
            facts += [Triple(to, f"is {way} of", room) for way, to in ways.items()]
        facts += [Triple(piece, "is in", room) for piece, room in house.furniture.items()]
        for thing, place in self._places.items():
            facts.append(Triple(thing, "is in" if place == INVENTORY else "is on", place))
        full = set(self._places.values())
        facts += [Triple(piece, "is", "empty") for piece in house.furniture if piece not in full]
        return Oracle(frozenset(facts), tuple(_walkthrough(house)))

    def _piece(self) -> str:
        return next(p for p, room in self._house.furniture.items() if room == self._room)

    def _answer(self, text: str, *, accepted: bool = True) -> Feedback:
        return Feedback(
            text=text,
            score=float(self._brought),
            max_score=float(len(self._house.requests)),
            won=self._brought == len(self._house.requests),
            inventory=self._carried(),
            accepted=accepted,
        )

    def _carried(self) -> str:
        things = self._things(INVENTORY)
        return f"You are carrying: {things}." if things else "You are carrying nothing."

    def _things(self, place: str) -> str:
        names = [f"{_article(t)} {t}" for t, where in self._places.items() if where == place]
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

    def _look(self) -> str:
        piece = self._piece()
        things = self._things(piece)
        on = f"On the {piece} you can make out {things}." if things else "But the thing is empty."
        ways = " ".join(f"There is an exit to the {way}." for way in self._house.exits[self._room])
        room = f"You are in {_article(self._room)} {self._room}. A normal kind of place."
        return (
            f"-= {self._room.title()} =-\n{room} You can see {_article(piece)} {piece}. {on}\n\n"
            f"{ways}"
        )


def _article(name: str) -> str:
    return "an" if name[0] in "aeiou" else "a"


def _walkthrough(house: House) -> list[str]:
    actions, here = [], house.start
    for thing, piece in house.requests:
        there, back = house.furniture[house.things[thing]], house.furniture[piece]
        actions += [*_way(house, here, there), f"take {thing} from {house.things[thing]}"]
        actions += [*_way(house, there, back), f"put {thing} on {piece}"]
        here = back
    return actions


def _way(house: House, start: str, end: str) -> list[str]:
    """Return the shortest way from room to room."""
    ways, queue = {start: [""]}, deque([start])
    while end not in ways:
        room = queue.popleft()
        for way, to in house.exits[room].items():
            if to not in ways:
                ways[to] = [*ways[room], f"go {way}"]
                queue.append(to)
    return ways[end][1:]
