"""A player by rules for ScienceWorld, who stands in for a language model in the scripted server.

It brings along what anyone knows: which words name plants and animals, that a door is opened before
one goes through it, that what a task asks for is focused on and then carried where it belongs. All
else it has from the prompt: ways and things from learnings, the latest steps and the observation,
and from learnings about what ended a trial which things to leave alone. Experiments are beyond it:
for a task that is more than finding something, it goes through the house and tries what the
task names. From step to step it keeps its notes in the goal that it states::

    find plant; focused on nothing; been in art studio; doors art studio>hallway; now in hallway
"""

from __future__ import annotations

import re
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.extract.base import apply
from gym_memory.games.scienceworld.rules_items import base_of, is_plant
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place
from gym_memory.graph.schema import EXIT, PLAYER
from gym_memory.memory.reading import split_entries
from gym_memory.testing.chat.learnings import LESSON_FACT, lessons_of, plan_in

__all__ = ["IN_VAIN", "Scientist", "is_science", "plan_for"]

IN_VAIN = "inventory"
"""What it does, for it takes no time, where what learnings tell cannot be done."""
_LOOK = "look around"
_DIALECT = "scienceworld"
_TASK = re.compile(r"Your task is to (?!put )")  # nothing is put anywhere in ScienceWorld
_KIND = re.compile(r"find (?:a\(n\)|an?|the) (non-living thing|living thing|plant|animal)\b")
_ASKED = re.compile(r"[Ff]ocus on the ([\w' ]+?)(?= with | which |[.,]|$)")
_BOX = re.compile(r"move it to the (?P<box>.+?) in the (?P<room>.+?)\.")
_WHERE = re.compile(r"are in the '(.+?)' location")
_THOUGHT = re.compile(r"\n?^Thought: .*$", re.MULTILINE)
_NOTES = re.compile(r"find (.*?); focused on (.*?); been in (.*?); doors (.*?); now in (.*)")
_FOCUSED = re.compile(r"You focus on the (.+?)\.")
_ROOM = re.compile(r"This (?:room|outside location) is called the ")
_FATAL = re.compile(r'"(?P<action>[^"]+)".* NOT CONTRIBUTE TO staying in the game\.')
_REFUSED = re.compile(r"No known action|Unknown action|Ambiguous request")
_OPENING = re.compile(r"open (?:.* )?door\b")
_DOOR_TO = "door to "
_FOCUS = "focus on "
_NOTHING = "nothing"
_STAGES = frozenset({"adult", "baby", "egg", "juvenile", "seedling", "seed", "reproducing", "a"})
_ANIMALS = frozenset({
    "ant", "bear", "beaver", "bee", "bird", "butterfly", "chameleon", "chipmunk", "crocodile",
    "dog", "dove", "dragonfly", "elephant", "fish", "frog", "hedgehog", "jay", "lizard", "moth",
    "mouse", "parrot", "rabbit", "snake", "spider", "squirrel", "toad", "tortoise", "turtle",
    "wolf",
})  # fmt: skip
_TRIED = ("open ", "look in ", "pick up ")
"""Verbs that do no harm where there is nothing better to do."""


def is_science(task: str) -> bool:
    """Whether a task is one of ScienceWorld's, by how it is put.

    >>> is_science("Your task is to boil lead."), is_science("Your task is to: heat the egg.")
    (True, False)
    >>> is_science("Your task is to put the apple on the table.")
    False
    """
    return _TASK.match(task) is not None


def plan_for(task: str, lessons: Mapping[int, str]) -> list[tuple[str, str]]:
    """What lessons tell to do, in order, as (action, place).

    Doors are left out: they are opened on the way where they are closed. Where the task says
    whither to carry what it is about, what follows after taking that is left to the task: lessons
    may come from an environment where it was to be carried elsewhere.
    """
    plan = [item for item in plan_in(lessons) if not _OPENING.match(item[0])]
    taking = [n for n, (action, _) in enumerate(plan) if action.startswith(("pick up ", _FOCUS))]
    return plan[: taking[-1] + 1] if taking and _BOX.search(task) else plan


class Notes(NamedTuple):
    """What the player writes down for itself.

    Attributes:
        find: What it is after.
        focused: What it focused on; empty before.
        been: Rooms that it was in and knows.
        doors: Pairs of rooms with a door between them.
        here: Where it is; empty where it does not know.
    """

    find: str
    focused: str = ""
    been: tuple[str, ...] = ()
    doors: tuple[tuple[str, str], ...] = ()
    here: str = ""

    @classmethod
    def read(cls, text: str) -> Notes | None:
        """Notes as they were written; None where there are none."""
        found = _NOTES.fullmatch(text)
        if found is None:
            return None
        find, *rest = found.groups()
        focused, been, doors, here = ("" if told == _NOTHING else told for told in rest)
        pairs = (pair.partition(">") for pair in doors.split(", ") if pair)
        known = tuple((room, beyond) for room, _, beyond in pairs)
        return cls(find, focused, tuple(been.split(", ")) if been else (), known, here)

    def __str__(self) -> str:
        focused, here = self.focused or _NOTHING, self.here or _NOTHING
        been = ", ".join(self.been) or _NOTHING
        doors = ", ".join(map(">".join, self.doors)) or _NOTHING
        parts = (f"find {self.find}", f"focused on {focused}", f"been in {been}", f"doors {doors}")
        return "; ".join((*parts, f"now in {here}"))


class Scientist:
    """One decision, from the slots of a prompt.

    Args:
        slots: ``task``, ``history``, ``observation``, ``inventory``, ``memory`` (or the
            learnings) and ``actions``, which may be empty where only a goal is asked for.
        aim: The notes of the step before; empty at the start.
    """

    def __init__(self, slots: Mapping[str, str], aim: str):
        self.task = slots["task"]
        self._valid = [action for action in slots["actions"].split("\n") if action]
        self._inventory = slots["inventory"]
        self._chance = zlib.crc32((slots["history"] + slots["observation"]).encode())
        lessons = lessons_of(slots["memory"])
        self._plan = plan_for(self.task, lessons)
        self._shunned = {m["action"] for x in lessons.values() if (m := _FATAL.fullmatch(x))}
        self._ways: dict[str, dict[str, None]] = {}
        self._things: dict[str, dict[str, None]] = {}
        for lesson in lessons.values():
            self._learn(lesson)
        self._steps = list(_steps(slots))
        self._shunned |= {step.action for step in self._steps if _REFUSED.match(step.text)}
        self.notes = self._noted(Notes.read(aim))

    # ------------------------------------------------------------ what is known

    def _learn(self, lesson: str) -> None:
        found = LESSON_FACT.fullmatch(lesson)
        if found is not None and found["action"]:
            there = found["there"] or found["action"].removeprefix("go to ")
            self._join(found["here"], there)
        elif found is not None and found["thing"]:
            self._things.setdefault(found["place"], {})[found["thing"]] = None

    def _join(self, room: str, beyond: str) -> None:
        """Note a door between two rooms."""
        for here, there in ((room, beyond), (beyond, room)):
            self._ways.setdefault(here, {})[there] = None

    def _noted(self, before: Notes | None) -> Notes:
        """The notes, brought up to date by the latest steps."""
        wanted = self._wanted()
        if before is None:  # a plan, if there is one, was carried out
            planned = (_core(a.removeprefix(_FOCUS)) for a, _ in self._plan if a.startswith(_FOCUS))
            before = Notes(wanted, next((x for x in planned if x in self._inventory), ""))
        here, seen = self._read(before.here)
        pairs = dict.fromkeys(before.doors)
        for room, beyond in seen:
            if (beyond, room) not in pairs:
                pairs[room, beyond] = None
        for pair in pairs:
            self._join(*pair)
        focused, box = before.focused, _BOX.search(self.task)
        for step in self._steps:
            told = _FOCUSED.match(step.text)
            if told is not None and step.action.startswith(_FOCUS):
                focused = told[1]
            elif box is not None and step.action.endswith(f" to {box['box']}"):
                focused = ""  # that it did not end the task says that it was not in focus
        looked = _ROOM.match(self._steps[-1].text) is not None or here in self._things
        been = dict.fromkeys([*before.been, *([here] if looked else [])])
        return Notes(wanted, focused, tuple(been), tuple(pairs), here)

    def _read(self, here: str) -> tuple[str, list[tuple[str, str]]]:
        """Where the latest steps, begun at a place, ended, and the doors that they showed."""
        graph, rules, task = TemporalGraph(), get_extractor(_DIALECT), Task("", self.task, _DIALECT)
        if here:
            graph.add(Triple(PLAYER, "is in", here), 0)
        for t, step in enumerate(self._steps):
            apply(rules.extract(step, graph, task), graph, t)
        exits = [fact for fact in graph.live() if fact.relation == EXIT]
        doors = [(fact.subject, fact.object.removeprefix(_DOOR_TO)) for fact in exits]
        return current_place(graph) or "", doors

    def _wanted(self) -> str:
        kind = _KIND.search(self.task)
        return kind[1] if kind else ", ".join(_ASKED.findall(self.task)) or "what the task names"

    def _fits(self, thing: str) -> bool:
        """Whether a thing is what is to be found."""
        core = _core(thing)
        alive = is_plant(core) or core.rstrip(" 0123456789").rpartition(" ")[2] in _ANIMALS
        if self.notes.find == "non-living thing":
            return not alive and f"pick up {thing}" in self._valid and base_of(thing) == thing
        if self.notes.find == "living thing":
            return alive
        if self.notes.find in ("plant", "animal"):
            return alive and is_plant(core) == (self.notes.find == "plant")
        return core in map(_core, self.notes.find.split(", "))

    # ------------------------------------------------------------ what to do

    def act(self) -> str:
        """The next action on its own account; empty where no actions are shown."""
        if not self._valid or all(action.isdigit() for action in self._valid):
            return self._valid[0] if self._valid else ""
        here = self.notes.here
        if not here or here not in (*self.notes.been, *self._things):
            return _LOOK
        carried = self._carry() if self.notes.focused else self._focus()
        return carried or self._explore() or self._try()

    def carry_out(self, action: str, place: str) -> str:
        """A step towards an action that learnings tell, at the place where they tell it.

        Where it cannot be done there, :data:`IN_VAIN`, which says so to the controller.
        """
        if not self.notes.here:
            return _LOOK
        if place and place != self.notes.here:
            step = self._towards(lambda room: room == place)
            if step:
                return step
        way = self._through(action.removeprefix("go to ")) if action.startswith("go to ") else ""
        if way or action in self._valid:
            return way or action
        core = _core(action)  # what grows is called otherwise at another time
        return next((a for a in self._valid if _core(a) == core), IN_VAIN)

    def _focus(self) -> str:
        where = _WHERE.search(self.task)
        if where is not None and where[1] != self.notes.here:
            return ""
        return self._first(_FOCUS, lambda thing: self._fits(thing))

    def _carry(self) -> str:
        """Take what was focused on to its box."""
        box, what = _BOX.search(self.task), _core(self.notes.focused)
        if box is None:
            return ""
        if what not in self._inventory:
            return self._first("pick up ", lambda rest: _core(rest) == what)
        if self.notes.here != box["room"]:
            return self._towards(lambda room: room == box["room"])
        end = f" to {box['box']}"
        return self._first("move ", lambda rest: rest.endswith(end) and what in rest)

    def _explore(self) -> str:
        """A step to where such a thing was seen, else to the nearest room that is not known."""
        where, been = _WHERE.search(self.task), self.notes.been
        likely = [room for room, things in self._things.items() if any(map(self._fits, things))]
        if where is not None and self.notes.here != where[1]:
            step = self._towards(lambda room: room == where[1])
            if step:
                return step
        if not self.notes.focused:
            step = self._towards(lambda room: room in likely and room not in been)
            if step:
                return step
        return self._towards(lambda room: room not in been and room not in self._things) or (
            self._towards(lambda room: room not in been)
        )

    def _towards(self, wanted: Callable[[str], bool]) -> str:
        """The first step to the nearest room that is wanted; empty where no way is known."""
        first: dict[str, str] = {self.notes.here: ""}
        queue = deque([self.notes.here])
        while queue:
            room = queue.popleft()
            if room != self.notes.here and wanted(room):
                return self._through(first[room])
            for beyond in self._ways.get(room, ()):
                if beyond not in first:
                    first[beyond] = first[room] or beyond
                    queue.append(beyond)
        return ""

    def _through(self, room: str) -> str:
        """Go to the next room, or open its door."""
        if f"go to {room}" in self._valid:
            return f"go to {room}"
        doors = [f"open {_DOOR_TO}{room}", f"open {room} door", "open door"]
        return next((action for action in doors if action in self._valid), "")

    def _try(self) -> str:
        """Anything harmless that the task speaks of, else anything harmless, by chance."""
        harmless = [a for a in self._valid if a.startswith(_TRIED) and a not in self._shunned]
        named = [a for a in harmless if _core(a.partition(" ")[2]) in self.task]
        options = named or harmless or self._valid
        return options[self._chance % len(options)]

    def _first(self, verb: str, wanted: Callable[[str], bool]) -> str:
        allowed = (a for a in self._valid if a.startswith(verb) and a not in self._shunned)
        return next((a for a in allowed if wanted(a.removeprefix(verb))), "")


def _steps(slots: Mapping[str, str]) -> Iterator[Step]:
    """The latest steps that a prompt shows, the present one last."""
    action = ""
    for _, action, text in split_entries(_THOUGHT.sub("", slots["history"]))[1]:
        if text.strip():
            yield Step(0, text.strip(), action)
    yield Step(0, slots["observation"], action, inventory=slots["inventory"])


def _core(thing: str) -> str:
    """A thing without its stage of life and where it is.

    >>> _core("baby baby wolf"), _core("egg giant tortoise in inventory")
    ('wolf', 'giant tortoise')
    """
    words = thing.partition(" in ")[0].split()
    return " ".join(word for word in words if word not in _STAGES)
