"""Treasure hunts with voices.

They extend :mod:`gym_memory.games.textworld.treasure_hunt` by notes in many wordings. A note may
omit the room or be apart from its key, some locks have no key, and the goal may be complete,
partial or absent.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gym_memory.games.textworld import worldgen
from gym_memory.games.textworld.voices import Holder, Name, Voice, add_holders, add_things
from gym_memory.games.textworld.worldgen import Cell, Grid

if TYPE_CHECKING:
    from textworld.generator.game import Game

__all__ = ["VoicedHunt", "make_voiced_hunt", "plan_voiced_hunt"]


@dataclasses.dataclass(frozen=True)
class KeyAndLock:
    """A key, its note, and the lock that it opens, in ``cell``.

    ``apart`` is the furniture with the key if the note is elsewhere.
    """

    key: Name
    note: Name
    text: str
    lock: Name
    cell: Cell
    apart: Holder | None = None


@dataclasses.dataclass(frozen=True)
class VoicedHunt:
    """A drawn game before TextWorld builds it.

    Note ``i + 1`` of the chain is in lock ``i``, the first near the player on ``first`` (None: on
    the floor). ``decoys`` has locks without a key, ``things`` objects without use.
    """

    grid: Grid
    rooms: dict[Cell, Name]
    start: Cell
    links: tuple[KeyAndLock, ...]
    first: Holder | None
    decoys: tuple[tuple[Name, Cell], ...]
    holders: tuple[Holder, ...]
    things: tuple[tuple[Name, Cell | Holder], ...]
    treasure: Name
    goal: str

    def walkthrough(self) -> list[str]:
        """Return the shortest solution, which reads the notes on the way."""
        commands: list[str] = []
        here, inside = self.start, self.first.name.name if self.first else ""
        if self.first and self.first.shut:
            commands.append(f"open {inside}")
        for link in self.links:
            source = inside
            commands.append(f"examine {link.note.name}")
            if link.apart is not None:
                commands += worldgen.route(self.grid, here, link.apart.cell)
                here, source = link.apart.cell, link.apart.name.name
                opening = f"open {source}"
                if link.apart.shut and opening not in commands:
                    commands.append(opening)
            commands.append(f"take {link.key.name}" + (f" from {source}" if source else ""))
            commands += worldgen.route(self.grid, here, link.cell)
            inside = link.lock.name
            commands += [f"unlock {inside} with {link.key.name}", f"open {inside}"]
            here = link.cell
        return [*commands, f"take {self.treasure.name} from {inside}"]


def plan_voiced_hunt(
    settings: Mapping[str, Any], split: str, seed: int
) -> tuple[VoicedHunt, random.Random]:
    """Draw a game; return it with the random generator for TextWorld's wording.

    ``rooms``, ``keys`` and ``decoys`` of the settings are (fewest, most); ``hidden`` is the share
    of notes without the room, ``apart`` the share of keys apart from their note.
    """
    rng = random.Random(f"voices/hunt/{split}/{seed}")
    voice = Voice(split, rng)
    count = rng.randint(*settings["rooms"])
    side = math.isqrt(count) + 1
    grid = worldgen.make_grid(rng, count, (side, side), rng.choice((0.1, 0.3, 0.5)))
    cells = sorted(grid)
    rooms = {cell: voice.name("room") for cell in cells}
    start = rng.choice(cells)
    holders = _furnish(rng, voice, cells)
    keys = rng.randint(*settings["keys"])
    locks = [(voice.name("lock"), rng.choice(cells)) for _ in range(keys)]
    decoys = [
        (voice.name("lock"), rng.choice(cells)) for _ in range(rng.randint(*settings["decoys"]))
    ]
    places: list[Cell | Holder] = [*cells, *holders]
    things = tuple((thing, rng.choice(places)) for thing in voice.things(rng.randint(0, count + 2)))
    notes = _HuntNotes(rng, voice, settings, rooms, holders, [*locks, *decoys])
    links = tuple(notes.link(i, *lock) for i, lock in enumerate(locks))
    treasure = Name(rng.choice(voice.words["treasures"]))
    near = [None, *(holder for holder in holders if holder.cell == start)]
    goals = voice.data["forms"]["hunt goal"]
    goal = voice.say(
        goals[rng.choice(("all", "all", "some", "none"))],
        treasure=treasure, lock=links[-1].lock, key=links[0].key, note=links[0].note,
        room=rooms[start],
    )  # fmt: skip
    hunt = VoicedHunt(
        grid, rooms, start, links, rng.choice(near), tuple(decoys), holders, things, treasure, goal
    )
    return hunt, rng


def _furnish(rng: random.Random, voice: Voice, cells: list[Cell]) -> tuple[Holder, ...]:
    """Draw zero to two pieces of furniture for each room."""
    wanted = [cell for cell in cells for _ in range(rng.choice((0, 1, 1, 2)))]
    kinds = [rng.choice("sc") for _ in wanted]
    names = {
        "s": iter(voice.furniture("supporters", kinds.count("s"))),
        "c": iter(voice.furniture("containers", kinds.count("c"))),
    }
    found = []
    for cell, kind in zip(wanted, kinds, strict=True):
        name = next(names[kind], None)  # the voice may have too few words
        if name is not None:
            found.append(Holder(name, kind, cell, kind == "c" and rng.random() < 0.5))
    return tuple(found)


class _HuntNotes:
    def __init__(
        self,
        rng: random.Random,
        voice: Voice,
        settings: Mapping[str, Any],
        rooms: dict[Cell, Name],
        holders: tuple[Holder, ...],
        locks: list[tuple[Name, Cell]],
    ):
        self._rng, self._voice, self._settings = rng, voice, settings
        self._rooms, self._holders, self._locks = rooms, holders, locks

    def link(self, number: int, lock: Name, cell: Cell) -> KeyAndLock:
        """Build a link of the chain, with new names for its key and note."""
        key, note = self._voice.name("key"), self._voice.name("note")
        apart = None
        if number and self._holders and self._rng.random() < self._settings["apart"]:
            apart = self._rng.choice(self._holders)
        sentences = self._lock(key, lock, cell)
        if apart is not None:
            sentences = [*self._key(key, apart), *sentences]
        return KeyAndLock(key, note, " ".join(sentences), lock, cell, apart)

    def _lock(self, key: Name, lock: Name, cell: Cell) -> list[str]:
        rng, say = self._rng, self._voice.say
        names: dict[str, Any] = {
            "key": key,
            "lock": lock,
            **self._other([name for name, _ in self._locks], lock),
        }
        opens = say("opens", **names)
        if rng.random() < self._settings["hidden"]:
            return [opens, say("unknown room")]
        room: dict[str, Any] = {"room": self._rooms[cell], **self._other_room(cell)}
        if rng.random() < 0.4:
            return rng.choice(([opens, say("go", **room)], [say("go", **room), opens]))
        if rng.random() < 0.5:
            return [say("room", x=lock, **room), opens]
        last = opens.rstrip(".").endswith(str(lock))
        return [opens, say("room", it="x" if last else "", x=lock, **room)]

    def _key(self, key: Name, apart: Holder) -> list[str]:
        say, room = self._voice.say, self._rooms[apart.cell]
        other: dict[str, Any] = self._other([holder.name for holder in self._holders], apart.name)
        where = say("holder", x=key, y=apart.name, prep=apart.prep, **other)
        last = where.rstrip(".").endswith(str(apart.name))
        names: dict[str, Any] = {"x": apart.name, "room": room, **self._other_room(apart.cell)}
        return [where, say("room", it="x" if last else "", **names)]

    def _other_room(self, cell: Cell) -> dict[str, Name]:
        return self._other(list(self._rooms.values()), self._rooms[cell])

    def _other(self, names: list[Name], this: Name) -> dict[str, Name]:
        """Draw another thing of the same kind, if there is one."""
        others = [name for name in names if name != this]
        return {"other": self._rng.choice(others)} if others else {}


def make_voiced_hunt(settings: Mapping[str, Any], split: str, seed: int) -> Game:
    """Generate the game of a seed; see :func:`plan_voiced_hunt`."""
    hunt, rng = plan_voiced_hunt(settings, split, seed)
    maker = worldgen.new_maker(rng)
    names = {cell: name.name for cell, name in hunt.rooms.items()}
    places: dict[Any, Any] = dict(worldgen.add_rooms(maker, rng, hunt.grid, names))
    add_holders(maker, rng, places, hunt.holders)
    for lock, cell in [*((link.lock, link.cell) for link in hunt.links), *hunt.decoys]:
        places[lock] = worldgen.new_holder(maker, rng, "c", lock.name)
        places[lock].add_property("locked")
        places[cell].add(places[lock])
    add_things(maker, places, hunt.things)
    maker.set_player(places[hunt.start])
    place = places[hunt.first] if hunt.first else places[hunt.start]
    quests = []
    for link in hunt.links:
        key = maker.new("k", link.key.name)
        maker.add_fact("match", key, places[link.lock])
        (places[link.apart] if link.apart else place).add(key)
        place.add(maker.new("o", link.note.name, link.text))
        quests.append(worldgen.held(maker, key, 1))
        place = places[link.lock]
    treasure = maker.new("o", hunt.treasure.name)
    place.add(treasure)
    quests.append(worldgen.held(maker, treasure, 3))
    return worldgen.finish_game(
        maker,
        objective=hunt.goal,
        walkthrough=hunt.walkthrough(),
        quests=quests,
        chain=[[hunt.rooms[link.cell].name, link.lock.name, link.key.name] for link in hunt.links],
    )
