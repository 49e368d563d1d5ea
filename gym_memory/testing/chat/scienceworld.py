"""Play ScienceWorld for the scripted server: focus on a thing and carry it to its box.

The player's stated goal contains its notes: ``find plant; focused on nothing; been in art
studio; doors art studio>hallway; now in hallway``.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.games.scienceworld.rules_items import base_of, is_plant
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place, shortest_path, spread
from gym_memory.graph.schema import EXIT, PLAYER
from gym_memory.memory.reading import split_entries
from gym_memory.testing.chat.memories import LESSON_FACT, lessons_of, plan_in

__all__ = ["IN_VAIN", "ScienceNotes", "Scientist", "is_science", "plan_for"]

IN_VAIN = "inventory"
"""An action that takes no time, chosen if the next item of a plan is impossible."""
_LOOK = "look around"
_DIALECT = "scienceworld"
_TASK = re.compile(r"Your task is to (?!put )")  # ScienceWorld does not use `put`
_KIND = re.compile(r"find (?:a\(n\)|an?|the) (non-living thing|living thing|plant|animal)\b")
_NAMED = re.compile(r"[Ff]ocus on the ([\w' ]+?)(?= with | which |[.,]|$)")
_BOX = re.compile(r"move it to the (?P<box>.+?) in the (?P<room>.+?)\.")
_SITE = re.compile(r"are in the '(.+?)' location")
_THOUGHT = re.compile(r"\n?^Thought: .*$", re.MULTILINE)
_NOTES = re.compile(r"find (.*?); focused on (.*?); been in (.*?); doors (.*?); now in (.*)")
_FOCUSED = re.compile(r"You focus on the (.+?)\.")
_ROOM = re.compile(r"This (?:room|outside location) is called the ")
_FATAL = re.compile(r'"(?P<action>[^"]+)".* NOT CONTRIBUTE TO staying in the game\.')
_REFUSED = re.compile(r"No known action|Unknown action|Ambiguous request")
_OPENING = re.compile(r"open (?:.* )?door\b")
_DOOR_TO = "door to "
_FOCUS, _TAKE, _GO = "focus on ", "pick up ", "go to "
_NOTHING = "nothing"
_STAGES = frozenset({"adult", "baby", "egg", "juvenile", "seedling", "seed", "reproducing", "a"})
_ANIMALS = frozenset({
    "ant", "bear", "beaver", "bee", "bird", "butterfly", "chameleon", "chipmunk", "crocodile",
    "dog", "dove", "dragonfly", "elephant", "fish", "frog", "hedgehog", "jay", "lizard", "moth",
    "mouse", "parrot", "rabbit", "snake", "spider", "squirrel", "toad", "tortoise", "turtle",
    "wolf",
})  # fmt: skip
_HARMLESS = ("open ", "look in ", _TAKE)


def is_science(task: str) -> bool:
    """True if a task is one of ScienceWorld's, by its wording.

    >>> is_science("Your task is to boil lead."), is_science("Your task is to: heat the egg.")
    (True, False)
    """
    return _TASK.match(task) is not None


def plan_for(task: str, lessons: Mapping[int, str]) -> list[tuple[str, str]]:
    """Return the plan of lessons as (action, place), without doors, which are opened in passing.

    If the task names a box, the plan ends once the thing is taken: lessons of another environment
    may name another box.
    """
    plan = [item for item in plan_in(lessons) if not _OPENING.match(item[0])]
    taking = [n for n, (action, _) in enumerate(plan) if action.startswith((_TAKE, _FOCUS))]
    return plan[: taking[-1] + 1] if taking and _BOX.search(task) else plan


class ScienceNotes(NamedTuple):
    """Notes of the player: ``doors`` are pairs of rooms, ``been`` are known rooms."""

    find: str
    focused: str = ""
    been: tuple[str, ...] = ()
    doors: tuple[tuple[str, str], ...] = ()
    here: str = ""

    @classmethod
    def read(cls, text: str) -> ScienceNotes | None:
        """Return the inverse of ``str``; None if the text is no such notes."""
        found = _NOTES.fullmatch(text)
        if found is None:
            return None
        find, *rest = found.groups()
        focused, been, doors, here = ("" if part == _NOTHING else part for part in rest)
        pairs = (pair.partition(">") for pair in doors.split(", ") if pair)
        known = tuple((room, beyond) for room, _, beyond in pairs)
        return cls(find, focused, tuple(been.split(", ")) if been else (), known, here)

    def __str__(self) -> str:
        been, doors = ", ".join(self.been), ", ".join(map(">".join, self.doors))
        rest = (self.focused, been, doors, self.here)
        focused, been, doors, here = (part or _NOTHING for part in rest)
        return (
            f"find {self.find}; focused on {focused}; been in {been}; doors {doors}; now in {here}"
        )


class Scientist:
    """A decision from the slots of a prompt and the notes of the step before.

    ``actions`` may be empty if only a goal is needed.
    """

    def __init__(self, slots: Mapping[str, str], aim: str):
        self.task = slots["task"]
        self._valid = [action for action in slots["actions"].split("\n") if action]
        self._inventory = slots["inventory"]
        self._chance = zlib.crc32((slots["history"] + slots["observation"]).encode())
        self._box, self._site = _BOX.search(self.task), _SITE.search(self.task)
        lessons = lessons_of(slots["memory"])
        self._plan = plan_for(self.task, lessons)
        self._shunned = {m["action"] for x in lessons.values() if (m := _FATAL.fullmatch(x))}
        self._ways: dict[str, dict[str, str]] = {}
        self._things: dict[str, list[str]] = {}
        for found in map(LESSON_FACT.fullmatch, lessons.values()):
            if found is not None and found["action"]:
                self._join(found["here"], found["there"] or found["action"].removeprefix(_GO))
            elif found is not None and found["thing"]:
                self._things.setdefault(found["place"], []).append(found["thing"])
        self._steps = list(_steps(slots))
        self._shunned |= {step.action for step in self._steps if _REFUSED.match(step.text)}
        self.notes = self._noted(ScienceNotes.read(aim))

    # ------------------------------------------------------------ what is known

    def _join(self, room: str, beyond: str) -> None:
        for here, there in ((room, beyond), (beyond, room)):
            self._ways.setdefault(here, {})[there] = there

    def _noted(self, before: ScienceNotes | None) -> ScienceNotes:
        """Return the notes with the findings of the latest steps."""
        kind = _KIND.search(self.task)
        wanted = kind[1] if kind else ", ".join(_NAMED.findall(self.task)) or "what the task names"
        if before is None:  # a plan, if there is one, was carried out
            planned = (_core(a.removeprefix(_FOCUS)) for a, _ in self._plan if a.startswith(_FOCUS))
            before = ScienceNotes(wanted, next((x for x in planned if x in self._inventory), ""))
        here, seen = self._read(before.here)
        pairs = dict.fromkeys(before.doors)
        for room, beyond in seen:
            if (beyond, room) not in pairs:
                pairs[room, beyond] = None
        for pair in pairs:
            self._join(*pair)
        focused = before.focused
        for step in self._steps:
            found = _FOCUSED.match(step.text)
            if found is not None and step.action.startswith(_FOCUS):
                focused = found[1]
            elif self._box is not None and step.action.endswith(f" to {self._box['box']}"):
                focused = ""  # the task would be over after a successful focus
        looked = _ROOM.match(self._steps[-1].text) is not None or here in self._things
        been = dict.fromkeys([*before.been, *([here] if looked else [])])
        return ScienceNotes(wanted, focused, tuple(been), tuple(pairs), here)

    def _read(self, here: str) -> tuple[str, list[tuple[str, str]]]:
        """Return the goals of the latest moves from a place, and the doors that they showed."""
        graph, rules, task = TemporalGraph(), get_extractor(_DIALECT), Task("", self.task, _DIALECT)
        if here:
            graph.add(Triple(PLAYER, "is in", here), 0)
        for t, step in enumerate(self._steps):
            apply(rules.extract(step, graph, task), graph, t)
        exits = [fact for fact in graph.live() if fact.relation == EXIT]
        doors = [(fact.subject, fact.object.removeprefix(_DOOR_TO)) for fact in exits]
        return current_place(graph) or "", doors

    def _fits(self, thing: str) -> bool:
        """True if the task is to find this thing."""
        core = _core(thing)
        alive = is_plant(core) or core.rstrip(" 0123456789").rpartition(" ")[2] in _ANIMALS
        if self.notes.find == "non-living thing":
            return not alive and f"{_TAKE}{thing}" in self._valid and base_of(thing) == thing
        if self.notes.find == "living thing":
            return alive
        if self.notes.find in ("plant", "animal"):
            return alive and is_plant(core) == (self.notes.find == "plant")
        return core in map(_core, self.notes.find.split(", "))

    # ------------------------------------------------------------ what to do

    def act(self) -> str:
        """Return the next action without a plan; empty if no actions are shown."""
        if not self._valid or all(action.isdigit() for action in self._valid):
            return self._valid[0] if self._valid else ""
        here = self.notes.here
        if not here or here not in (*self.notes.been, *self._things):
            return _LOOK
        if self.notes.focused:
            action = self._carry()
        elif self._site is None or self._site[1] == here:
            action = self._first(_FOCUS, self._fits)
        else:
            action = ""
        return action or self._explore() or self._try()

    def carry_out(self, action: str, place: str) -> str:
        """Return a step towards a planned action and its place; :data:`IN_VAIN` if impossible."""
        if not self.notes.here:
            return _LOOK
        if place and place != self.notes.here:
            step = self._towards([place])
            if step:
                return step
        way = self._through(action.removeprefix(_GO)) if action.startswith(_GO) else ""
        if way or action in self._valid:
            return way or action
        core = _core(action)  # a growing thing changes its name
        return next((a for a in self._valid if _core(a) == core), IN_VAIN)

    def _carry(self) -> str:
        """Return a step to the box with the focused thing."""
        box, what = self._box, _core(self.notes.focused)
        if box is None:
            return ""
        if what not in self._inventory:
            return self._first(_TAKE, lambda rest: _core(rest) == what)
        if self.notes.here != box["room"]:
            return self._towards([box["room"]])
        end = f" to {box['box']}"
        return self._first("move ", lambda rest: rest.endswith(end) and what in rest)

    def _explore(self) -> str:
        """Return a step to the site, to a likely room, or to the nearest unknown room."""
        new = [room for room in self._ways if room not in self.notes.been]
        likely = [room for room in new if any(map(self._fits, self._things.get(room, ())))]
        unseen = [room for room in new if room not in self._things]
        site = [self._site[1]] if self._site else []
        for rooms in (site, [] if self.notes.focused else likely, unseen, new):
            step = self._towards(rooms)
            if step:
                return step
        return ""

    def _towards(self, rooms: Collection[str]) -> str:
        """Return the first step to the nearest of some rooms; empty if no way is known."""

        def ways(room: str) -> dict[str, str]:
            return self._ways.get(room, {})

        for _, (_, room) in spread(self.notes.here, ways):
            if room in rooms:
                path = shortest_path(self.notes.here, room, ways)
                return self._through(path[0].place) if path else ""
        return ""

    def _through(self, room: str) -> str:
        """Return the way to the next room, or to open its door."""
        options = (f"{_GO}{room}", f"open {_DOOR_TO}{room}", f"open {room} door", "open door")
        return next((action for action in options if action in self._valid), "")

    def _try(self) -> str:
        """Return a random harmless action, if possible one on a thing that the task names."""
        harmless = [a for a in self._valid if a.startswith(_HARMLESS) and a not in self._shunned]
        named = [a for a in harmless if _core(a.partition(" ")[2]) in self.task]
        options = named or harmless or self._valid
        return options[self._chance % len(options)]

    def _first(self, verb: str, wanted: Callable[[str], bool]) -> str:
        allowed = (a for a in self._valid if a.startswith(verb) and a not in self._shunned)
        return next((a for a in allowed if wanted(a.removeprefix(verb))), "")


def _steps(slots: Mapping[str, str]) -> Iterator[Step]:
    """Yield the latest steps that a prompt shows, the present one last."""
    action = ""
    for _, action, text, reward in split_entries(_THOUGHT.sub("", slots["history"]))[1]:
        if text.strip():
            yield Step(0, text.strip(), action, reward)
    yield Step(0, slots["observation"], action, inventory=slots["inventory"])


def _core(thing: str) -> str:
    """Return a thing without its stage of life and its place.

    >>> _core("baby baby wolf"), _core("egg giant tortoise in inventory")
    ('wolf', 'giant tortoise')
    """
    words = thing.partition(" in ")[0].split()
    return " ".join(word for word in words if word not in _STAGES)
