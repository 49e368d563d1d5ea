"""Decide on the imitator's next move: its room, its objects and its wording."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from gym_memory.baselines.rules.scienceworld.demonstrations import ShownKnowledge, is_demonstrated
from gym_memory.baselines.rules.scienceworld.guide import Guide, choose, decide_object
from gym_memory.baselines.rules.scienceworld.phrases import (
    SAME_ACTION,
    Act,
    Thing,
    fit,
    is_among,
    is_named,
    likeness,
    named_to_focus_on,
    named_words,
    words,
)
from gym_memory.baselines.rules.scienceworld.scene import Pursuit, ScienceScene, is_refused

__all__ = ["WAIT", "ScienceDecision", "Sight"]

_VESSEL_VERBS = ("mix", "pour", "move")
"""Verbs whose vessels (a jug, a cup) differ between episodes."""
_LEAST_SHARED_LOOK = 0.6
"""Least similarity between the descriptions of two interchangeable vessels, without names."""
_STATES = frozenset({"liquid", "solid", "gaseous"})
_LEAST_LIKENESS = 0.34
"""Least similarity between the names of an object and the demonstrated one it replaces."""


class Sight:
    """A resolver of an action's objects to names in view."""

    def __init__(self, knowledge: ShownKnowledge, goal: str, scene: ScienceScene, guide: Guide):
        self._knowledge, self._goal, self._scene, self._guide = knowledge, goal, scene, guide

    def names_of(self, act: Act) -> tuple[str, ...]:
        """Return the names in view of an action's objects; empty for those out of sight."""
        return tuple(self._name_of(phrase, act) for phrase in act.things)

    def _name_of(self, phrase: str, act: Act) -> str:
        things = (*self._scene.carried, *self._scene.view)
        core, _, content = phrase.partition(" containing ")
        if act.verb == "focus on":
            return self._to_focus_on(core, things)
        if content:
            held = self.focused_name(content)
            things = tuple(thing for thing in things if words(held) <= words(thing.line))
        for thing in things:
            if words(core) <= words(thing.name) or words(core) <= words(thing.line):
                return phrase if content and self.focused_name(content) == content else core
        if core.startswith("substance in "):
            return core
        goal_words = named_words(self._goal, core)
        if (
            not goal_words
            and act.verb in _VESSEL_VERBS
            and (empty := self.empty_vessel(phrase, act))
        ):
            return empty
        others = {word for thing in act.things if thing != phrase for word in words(thing)}
        return _likeliest(
            (likeness(core, thing.name), thing.name)
            for thing in things
            if goal_words <= words(thing.line) and (self._scene.view or content)
            and not words(thing.name) <= others
        )  # fmt: skip

    def _to_focus_on(self, phrase: str, things: tuple[Thing, ...]) -> str:
        """Return the object in view that the goal names, or else the likeliest focus.

        Objects with another attribute, such as another life stage or colour, are excluded.
        """
        goal_words = named_words(self._goal, phrase)
        if not goal_words:
            return self.likeliest_focus(phrase)
        whole, _, fruit = phrase.partition(" on ")
        head, _, holder = phrase.rpartition(" in ")
        core = whole if fruit else phrase
        if head and not holder.endswith("stage"):
            core = phrase if head == "substance" else head
        if head == "substance":
            inside = [t.line.partition("containing")[2] for t in things if holder in t.name]
            meant = words(self._goal) - words(phrase)
            return phrase if meant & words(" ".join(inside)) else ""
        exact = [thing.name for thing in things if words(core) == words(thing.name)]
        if exact or fruit:
            return core if exact else ""
        marks = words(core) - goal_words

        def fits(name: frozenset[str]) -> bool:
            marked = bool(marks) and marks <= name
            return name == marks or (
                goal_words <= name and (marked or name - words(core) <= _STATES)
            )

        return _likeliest(
            (likeness(core, thing.name), thing.name) for thing in things if fits(words(thing.name))
        )

    def empty_vessel(self, phrase: str, act: Act) -> str:
        """Return the name of a vessel that looks like the demonstrated one; empty if none does."""
        moves = enumerate(self._guide.shown.moves)
        shown = next((move for n, move in moves if self._guide.here(n) == act), None)
        if shown is None or act.verb == "mix" or phrase != act.things[-1]:
            return ""
        look = words(shown.looks[-1]) - words(shown.act.things[-1])
        for thing in self._scene.view:
            rest = words(thing.line) - words(thing.name)
            shared = len(look & rest) / max(1, len(look | rest))
            if thing.name not in act.things and shared > _LEAST_SHARED_LOOK:
                return thing.name
        return ""

    def likeliest_focus(self, phrase: str) -> str:
        """Return the likeliest object in view to focus on; empty if none is likely."""
        return _likeliest(
            (self._knowledge.focus_chance(self._guide.shown.task, thing.name)
             + 0.2 * likeness(phrase, thing.name), thing.name)
            for thing in self._scene.view
        )  # fmt: skip

    def focused_name(self, held: str) -> str:
        """Return a content's name, or that of the focused object if it replaces the content."""
        moves = self._guide.shown.moves
        shown = next((m.act.things[0] for m in moves if m.act.verb == "focus on"), "")
        if words(shown) & words(self._guide.shown.goal) or not words(shown) & words(held):
            return held
        focused = [act.things[0] for act, answer in self._scene.done if act.verb == "focus on"]
        focused = focused or [f.object for f in self._scene.facts if f.relation == "focused on"]
        return focused[-1].partition(" in the ")[0] if focused else held


def _likeliest(ranked: Iterable[tuple[float, str]]) -> str:
    value, name = max(ranked, default=(0.0, ""), key=lambda pair: pair[0])
    return name if value >= _LEAST_LIKENESS else ""


LOOK = "look around"
WAIT = "wait1"
GIVE_UP_CHANCE = 0.05
"""Probability of ending a search at each step, which matters without a memory."""
_CHANCE_ELSEWHERE = 0.02
"""Probability of finding an object in a room where no demonstration saw it."""
_SHUT = re.compile(r"because the ([\w ]+?) isn't open")
_CLOSED_DOOR = re.compile(r"The ([\w ]+?) door is closed")
_ROOM_CHANGED = re.compile(r"You move to the|The (?!door)[\w ]+ is (?:now|already) open")
_SEARCH_VERBS = ("pick up", "focus on", "pour")
"""Verbs whose objects are searched for in the whole house."""


class ScienceDecision:
    """One decision of the player.

    ``plan`` becomes the published plan; ``aim`` is the action pursued at the last step.
    ``abandoned`` has actions that had no success.
    """

    def __init__(
        self,
        knowledge: ShownKnowledge,
        goal: str,
        scene: ScienceScene,
        rng: np.random.Generator,
        abandoned: tuple[Act, ...] = (),
    ):
        self._abandoned = abandoned
        self._knowledge, self._goal, self._scene = knowledge, goal, scene
        self._rng = rng
        guides = choose(knowledge.demonstrations, goal, scene, rng, abandoned)
        self._guide = guides[0]
        if abandoned:
            self._guide = next(filter(self._is_usable, guides), guides[0])
        self._sight = Sight(knowledge, goal, scene, self._guide)
        self._is_shown = is_demonstrated(goal, knowledge.demonstrations)
        self._until: Act | None = None
        self.plan = Pursuit()
        self.aim = scene.last.until or scene.pursued

    def action(self) -> str:
        """Return the next action."""
        scene, shown = self._scene, self._guide.shown
        if scene.taken and is_refused(scene.text) and not scene.last.retried:
            shut = _SHUT.search(scene.text)
            self.plan = Pursuit(scene.last.act, deferred=bool(shut), retried=not shut)
            return f"open {shut[1]}" if shut else LOOK
        focus = None if self._is_shown else self._named_focus()
        if focus is not None:
            rooms = [room for room in sorted(self._knowledge.house.exits) if room in self._goal]
            return self._fulfil(focus, next(iter(rooms), ""))
        number = self._next_move()
        act = decide_object(self._guide.here(number), self._goal, self._guide, scene)
        start = {end: first for first, end in shown.rounds}.get(number)
        if start is not None and (act is None or not self._ready(act)):
            self._until = act or self._guide.here(number)
            return self._fulfil(self._guide.here(start), self.own_room(shown.moves[start].room))
        act = act or self._guide.here(number)
        return self._fulfil(act, self.own_room(shown.moves[number].room))

    @property
    def has_looked(self) -> bool:
        """True if the last answer describes the room."""
        return bool(self._scene.view)

    def look(self) -> str:
        """Look around, in case something has changed."""
        last = self._scene.last
        self.plan = Pursuit(last.act, until=last.until, deferred=True)
        return LOOK

    def round_of_aim(self) -> tuple[Act, ...]:
        """Return the aim with all actions of its round."""
        guide, act = self._guide, self.aim
        if act is None:
            return ()
        for start, end in guide.shown.rounds:
            acts = [guide.here(number) for number in range(start, end)]
            if any(fit(act, one) > SAME_ACTION for one in acts):
                shown = (guide.translation.apply(move.act) for move in guide.shown.moves[start:end])
                return (*shown, *acts, act)
        return (act,)

    def _next_move(self) -> int:
        shown, number = self._guide.shown, self._guide.progress.done
        while number < len(shown.moves) and self.is_needless(number):
            number += 1
        if number >= len(shown.moves):
            again = [start for start, end in shown.rounds if end == len(shown.moves)]
            # without a round left, the task should be over, so something went wrong
            return again[0] if again else int(self._rng.integers(len(shown.moves)))
        act = shown.moves[number].act
        reads = [i for i, move in enumerate(shown.moves[:number]) if move.act.verb == "read"]
        if reads and not self._scene.recipe and not set(shown.recipe).isdisjoint(act.things):
            self._until = act
            return reads[0]
        return self.first_missed_focus(number)

    def _is_usable(self, guide: Guide) -> bool:
        self._guide = guide
        return not is_among(guide.here(self._next_move()), self._abandoned)

    def is_needless(self, number: int) -> bool:
        """True if a demonstrated move is needless, as its object is held or already in place."""
        if self._guide.translation.omits(self._guide.shown.moves[number].act):
            return True
        act = self._guide.here(number)
        if act.verb == "pick up":
            return any(words(act.things[0]) <= words(t.name) for t in self._scene.carried)
        if act.verb not in ("move", "pour"):
            return False
        return any(
            words(act.things[1]) <= words(thing.name)
            and words(act.things[0]) <= words(thing.line) - words(thing.name)
            for thing in (*self._scene.view, *self._scene.carried)
        )

    def first_missed_focus(self, number: int) -> int:
        """Return the number of the first missed focus before a move, or of the move itself."""
        scene, moves = self._scene, self._guide.shown.moves
        due = [i for i, move in enumerate(moves[:number]) if move.act.verb == "focus on"]
        made = {a for a, answer in scene.done if a.verb == "focus on" and not is_refused(answer)}
        kept = scene.facts and not any(fact.relation == "focused on" for fact in scene.facts)
        known = bool(kept) if scene.cut else bool(scene.done)
        if not due or not known:
            return number
        return due[len(made)] if len(due) > len(made) else number

    def own_room(self, room: str) -> str:
        """Return the room of this goal that replaces a demonstrated one."""
        put = self._guide.translation.apply(Act("go to", (room,))).things[0]
        return put if put in self._knowledge.house.exits else room

    def _ready(self, act: Act) -> bool:
        return not self._scene.view or all(self._sight.names_of(act))

    def _named_focus(self) -> Act | None:
        """Return the next focus that the goal names; None if none is left."""
        done = {act.things[0] for act, _ in self._scene.done if act.verb == "focus on"}
        done |= {fact.object for fact in self._scene.facts if fact.relation == "focused on"}
        seen = self._knowledge.house.seen
        for name in named_to_focus_on(self._goal):
            if not any(words(name) <= words(one) for one in done):
                known = name in seen or (" " in name and is_named(self._goal, name))
                return Act("focus on", (name,)) if known else None
        return None

    def _is_unknown(self, name: str) -> bool:
        if self._is_shown and (not self._abandoned or f"focus on the {name}" in self._goal):
            return False
        return not is_named(self._goal, name)

    def _publish(self, act: Act, room: str, *, deferred: bool = False) -> None:
        retried = self._is_retried(act) and not deferred
        self.plan = Pursuit(act, room, self._until, deferred, retried)

    def _is_retried(self, act: Act) -> bool:
        return self._scene.last.retried and self._scene.last.act == act

    def _fulfil(self, act: Act, room: str) -> str:
        scene = self._scene
        if not act.things:
            if room and scene.room and scene.room != room:
                return self._go(room, act)
            self._publish(act, room or scene.room)
            return str(act)
        free = act.verb == "focus on" and not named_words(self._goal, act.things[0])
        if free and scene.room != room and f"room {room}" not in scene.sights:
            return self._go(room, act)
        names = self._sight.names_of(act)
        if act.verb == "focus on" and self._is_unknown(names[0] or act.things[0]):
            return self._explore(act)  # a wrong focus ends the task
        if all(names):
            self._publish(act, scene.room)
            return str(act._replace(things=names))
        missing = next(p for p, name in zip(act.things, names, strict=True) if not name)
        where = self._place_of(missing, room, act)
        retried = self._is_retried(act)
        if scene.room and where != scene.room and not retried:
            return self._go(where, act)
        unseen = _ROOM_CHANGED.match(scene.text) or not scene.room or act.verb == "focus on"
        if not scene.view and unseen:
            self._publish(act, scene.room, deferred=True)
            return LOOK
        if not scene.view or (retried and act.verb != "focus on"):
            self._publish(act, scene.room)
            return str(act)  # the object may be here unseen; if not, the action is refused
        closed = _CLOSED_DOOR.findall(scene.text)
        if closed and self._is_sought(missing, act):
            self._publish(act, scene.room, deferred=True)
            return f"open {closed[0]}"
        return self._search(missing, act)

    def _place_of(self, phrase: str, room: str, act: Act) -> str:
        """Return the room in which to search for an object: its usual or its last one."""
        scene = self._scene
        core = phrase.partition(" containing ")[0]
        if (
            scene.last.deferred
            and scene.last.act == act
            and scene.last.room in self._knowledge.house.exits
            and not scene.view
        ):
            return scene.last.room
        looked = bool(scene.view) if scene.room == room else f"room {room}" in scene.sights
        if room and not looked:
            return room
        where = [
            where
            for name, where in scene.sights.items()
            if where in self._knowledge.house.exits and words(core) <= words(name)
        ]
        if not where:
            return scene.room if scene.room and self._is_sought(phrase, act) else room
        if scene.room in where:
            return scene.room
        return room if room in where else where[-1]

    def _is_sought(self, phrase: str, act: Act) -> bool:
        named = bool(named_words(self._goal, phrase)) or phrase in self._scene.recipe
        return act.verb in _SEARCH_VERBS or (act.verb == "move" and named)

    def _go(self, room: str, act: Act) -> str:
        self._publish(act, room, deferred=True)
        way = self._knowledge.house.way(self._scene.room, room)
        if not way or is_refused(self._scene.text):
            return LOOK
        text = self._scene.text
        opened = text.startswith(("The door is now open", "The door is already open"))
        if opened or f"door to the {way[0]} (that is open)" in text:
            return f"go to {way[0]}"
        return f"open door to {way[0]}"

    def _explore(self, aim: Act) -> str:
        """Open what is closed here, or go to the nearest room not seen yet."""
        scene, house = self._scene, self._knowledge.house
        explore, self._until = Act("explore"), aim
        self._publish(explore, scene.room, deferred=True)
        closed = _CLOSED_DOOR.findall(scene.text) if scene.view else []
        if closed:
            return f"open {closed[0]}"
        if not scene.view and (not scene.room or f"room {scene.room}" not in scene.sights):
            return LOOK
        ways = {
            room: len(house.way(scene.room, room))
            for room in sorted(house.exits)
            if room != scene.room and f"room {room}" not in scene.sights
        }
        rooms = [room for room in ways if ways[room]]
        return self._go(min(rooms, key=ways.__getitem__), explore) if rooms else WAIT

    def _search(self, phrase: str, act: Act) -> str:
        house, scene = self._knowledge.house, self._scene
        likely = house.likely(phrase.partition(" containing ")[2] or phrase)
        rooms = [
            room for room in sorted(house.exits)
            if room != scene.room and f"room {room}" not in scene.sights
        ]  # fmt: skip
        weights = np.array(
            [_CHANCE_ELSEWHERE + likely[room] / max(1, likely.total()) for room in rooms]
        )
        sought = self._is_sought(phrase, act)
        if not sought or not rooms or self._rng.random() < GIVE_UP_CHANCE:
            if act.verb == "focus on":  # a wrong focus ends the task
                self._publish(act, scene.room, deferred=True)
                return WAIT
            self._publish(act, scene.room)
            return str(act)
        target = rooms[int(self._rng.choice(len(rooms), p=weights / weights.sum()))]
        return self._go(target, act)
