"""An imitator for ScienceWorld: it does next what a demonstration did next in the same situation.

Behaviour cloning from cases. What it learnt are recorded solutions of *train* variations
(``benchmarks/scienceworld/demonstrate.py``). At every step it

1. takes the demonstration of the same task whose goal is nearest, and says it in terms of the
   present goal (another substance, another room, another box);
2. finds how far along it is, from the moves and facts that the memory tells, the last answer, the
   inventory and its own published plan (:mod:`.imitating.progress`);
3. does the next move: goes to its room, looks around there, takes for each thing the one in sight
   that is called so or most like it, and searches the house for what is not in sight, first
   where the memory tells that it was seen, then where the demonstrations saw such things.

It reads the observation only and keeps nothing from step to step but the published plan, so what
the memory is worth shows in the score: with none, it knows neither how often it has waited nor
which rooms it has searched.
"""

from __future__ import annotations

import dataclasses
import os
import re
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.imitating.demonstrations import (
    Demonstration,
    Lore,
    condition_of,
    in_terms_of,
    learn,
    nearest,
)
from gym_memory.baselines.imitating.phrases import Act, likeness, words
from gym_memory.baselines.imitating.progress import progress
from gym_memory.baselines.imitating.scene import Scene, is_refused, read_scene
from gym_memory.errors import InvalidArgumentError
from gym_memory.types import Observation

__all__ = ["Imitator", "Settings"]

LOOK = "look around"
GIVE_UP = 0.05
"""How often a search ends in trying without having found; with no memory, nothing else ends it."""
_CLOSED = re.compile(r"The ([\w ]+?) door is closed")
_STIRRED = re.compile(r"You move to the|The (?!door)[\w ]+ is (?:now|already) open")
_VESSELS = ("mix", "pour", "move")
"""Verbs whose things may be others in every house: a jug here, a cup there."""
_SOUGHT = ("pick up", "focus on", "pour")
"""Verbs whose things are worth searching the house for; others need what is at hand."""
_AMBIGUOUS = "Ambiguous request"
_THRESHOLD = re.compile(r"(above|below) (-?\d+(?:\.\d+)?)")


@dataclasses.dataclass(frozen=True)
class Settings:
    """What may be tuned.

    Attributes:
        alike: Least likeness, in [0, 1], for a thing in sight to stand for a demonstrated one.
        history: Whether moves and facts that the memory tells count for how far along it is.
        search: Whether it searches the house for what is not in sight.
    """

    alike: float = 0.34
    history: bool = True
    search: bool = True


class Imitator(Policy):
    """Does what the nearest demonstration did.

    Args:
        checkpoint: The recorded demonstrations.
        alike: See :class:`Settings`.
        history: See :class:`Settings`.
        search: See :class:`Settings`.

    Raises:
        InvalidArgumentError: No demonstrations are given, or ``alike`` is no share.
        ResultsError: The file is not a recording.
    """

    name: ClassVar[str] = "imitator"

    def __init__(
        self,
        checkpoint: str | os.PathLike[str] | None = None,
        alike: float = Settings.alike,
        history: bool = Settings.history,
        search: bool = Settings.search,
    ):
        if not 0.0 <= alike <= 1.0:
            raise InvalidArgumentError(f"expected alike in [0, 1], got {alike!r}")
        self.settings = Settings(float(alike), bool(history), bool(search))
        self._lore: Lore | None = None if checkpoint is None else _learned(os.fspath(checkpoint))
        self._rng = np.random.default_rng(0)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Learn from recorded demonstrations."""
        self._lore = _learned(os.fspath(path))

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Forget the plan.

        Raises:
            InvalidArgumentError: There are no demonstrations.
        """
        if self._lore is None or not self._lore.demonstrations:
            raise InvalidArgumentError("expected checkpoint=FILE (recorded demonstrations)")
        self._rng = np.random.default_rng(seed)
        self.focus = ""

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """The next move of the nearest demonstration, or a step towards it."""
        assert self._lore is not None
        if obs["text"].startswith(_AMBIGUOUS):
            return "0"
        scene = read_scene(obs, self.focus)
        shown = nearest(obs["task"], self._lore.demonstrations)[0]
        turn = _Turn(self._lore, shown, obs["task"], scene, self.settings, self._rng)
        action = turn.action()
        self.focus = turn.plan
        return action


@lru_cache(maxsize=4)
def _learned(path: str) -> Lore:
    return learn(path)


class _Turn:
    """One decision.

    Attributes:
        plan: What is to be published.
    """

    def __init__(
        self,
        lore: Lore,
        shown: Demonstration,
        goal: str,
        scene: Scene,
        settings: Settings,
        rng: np.random.Generator,
    ):
        self._lore, self._shown, self._goal = lore, shown, goal
        self._scene, self._settings, self._rng = scene, settings, rng
        self.plan = ""

    def action(self) -> str:
        scene, shown = self._scene, self._shown
        done = progress(shown, scene, self._goal, self._rng, history=self._settings.history)
        refused = scene.made and is_refused(scene.text)
        if refused and not scene.again:
            return self._once_more(scene.plan)
        if done >= len(shown.moves):
            done = int(self._rng.integers(done))  # it should be over: something went wrong
        move = shown.moves[done]
        act = self._decided(in_terms_of(move.act, shown.goal, self._goal), move.act)
        room = self._put_room(move.room)
        if not act.things:
            return self._do(act, room)
        return self._fulfil(act, room)

    # ------------------------------------------------------------ what

    def _put_room(self, room: str) -> str:
        """The room of a move where the goal names another one than the demonstration's."""
        put = in_terms_of(Act("go to", (room,)), self._shown.goal, self._goal).things[0]
        return put if put in self._lore.house.exits else room

    def _decided(self, act: Act, shown: Act) -> Act:
        """The action with the thing that the goal asks for under the condition that holds."""
        for number, phrase in enumerate(act.things):
            condition, other = condition_of(self._goal, phrase)
            found = _THRESHOLD.search(condition)
            if found is None or not self._scene.readings:
                continue
            above = self._scene.readings[-1] > float(found[2])
            if above != (found[1] == "above"):
                name = _asked(other)
                things = list(act.things)
                things[number] = name
                return act._replace(things=tuple(things))
        return act

    # ------------------------------------------------------------ where and how

    def _once_more(self, act: Act | None) -> str:
        self.plan = f"once more: {act}"
        return LOOK

    def _do(self, act: Act, room: str) -> str:
        """Do it in its room."""
        here = self._scene.room
        if room and here and here != room:
            return self._go(room, act)
        self._publish(act, room or here)
        return str(act)

    def _publish(self, act: Act, room: str, *, later: bool = False) -> None:
        again = "once more: " if self._scene.again and self._scene.plan == act else ""
        how = "later: " if later else again
        self.plan = f"{how}{act}" + (f", in the {room}" if room else "")

    def _fulfil(self, act: Act, room: str) -> str:
        """Find the things of an action and do it."""
        scene = self._scene
        act = act._replace(things=tuple(self._same(phrase) for phrase in act.things))
        free = act.verb == "focus on" and not words(act.things[0]) & words(self._goal)
        if free and scene.room != room and f"room {room}" not in scene.sights:
            return self._go(room, act)
        names = [self._in_sight(phrase, act) for phrase in act.things]
        if all(names):
            self._publish(act, scene.room)
            return str(act._replace(things=tuple(names)))
        missing = next(p for p, name in zip(act.things, names, strict=True) if not name)
        where = self._place_of(missing, room, act)
        if scene.room and where != scene.room and not scene.again:
            return self._go(where, act)
        if not scene.view and (_STIRRED.match(scene.text) or not scene.room):
            self._publish(act, scene.room, later=True)
            return LOOK
        if not scene.view or scene.again:
            self._publish(act, scene.room)
            return str(act)  # what cannot be seen may be there; a refusal makes it look
        closed = _CLOSED.findall(scene.text)
        if closed and self._settings.search and act.verb in _SOUGHT:
            self._publish(act, scene.room, later=True)
            return f"open {closed[0]}"
        return self._search(missing, act)

    def _same(self, phrase: str) -> str:
        """What was focused on, for a phrase that means what the demonstration focused on."""
        shown = next((m.act.things[0] for m in self._shown.moves if m.act.verb == "focus on"), "")
        if words(shown) & words(self._shown.goal) or likeness(shown, phrase) < 0.5:
            return phrase
        return self._focused(phrase)

    def _in_sight(self, phrase: str, act: Act) -> str:
        """What to call a thing that is in sight or carried; empty where there is none like it."""
        things = (*self._scene.carried, *self._scene.view)
        core, _, shown = phrase.partition(" containing ")
        held = self._focused(shown)
        head, _, holder = core.rpartition(" in ")
        if act.verb == "focus on" and head and not holder.endswith("stage"):
            core = core if head == "substance" else head
        asked = words(core) & words(self._goal)
        if act.verb == "focus on" and not asked:
            return self._liked(core)
        if held:
            things = tuple(thing for thing in things if words(held) <= words(thing.line))
            if things and held == shown:
                return phrase
        else:
            for thing in things:
                if words(core) <= words(thing.name) or words(core) <= words(thing.line):
                    return core
            holder = core.rpartition(" in ")[2]
            if core.startswith("substance in ") and any(
                words(holder) <= words(thing.name) for thing in things
            ):
                return core
        if not asked and act.verb in _VESSELS:
            for other in self._played(phrase, act):
                if any(words(other) <= words(thing.name) for thing in things):
                    return other
        ranked = [
            (likeness(core, thing.name), thing.name)
            for thing in things
            if asked <= words(thing.name if act.verb == "focus on" else thing.line)
            and (self._scene.view or held)
        ]
        value, name = max(ranked, default=(0.0, ""), key=lambda pair: pair[0])
        return name if value >= self._settings.alike else ""

    def _played(self, phrase: str, act: Act) -> list[str]:
        """What played the same part in other demonstrations of the task."""
        slot = act.things.index(phrase)
        return sorted(
            {
                move.act.things[slot]
                for shown in self._lore.demonstrations
                if shown.task == self._shown.task
                for move in shown.moves
                if move.act.verb == act.verb and len(move.act.things) == len(act.things)
            }
        )

    def _liked(self, phrase: str) -> str:
        """The thing in sight that demonstrations would choose."""
        likings = [
            (self._lore.liking(self._shown.task, thing.name) + 0.2 * likeness(phrase, thing.name),
             thing.name)
            for thing in self._scene.view
        ]  # fmt: skip
        value, name = max(likings, default=(0.0, ""), key=lambda pair: pair[0])
        return name if value >= self._settings.alike else ""

    def _focused(self, held: str) -> str:
        """What was focused on, as the memory tells, in the place of what a demonstration held."""
        told = [act.things[0] for act, answer in self._scene.done if act.verb == "focus on"]
        told = told or [f.object for f in self._scene.facts if f.relation == "focused on"]
        return told[-1] if held and told else held

    def _place_of(self, phrase: str, room: str, act: Act) -> str:
        """Where to look for a thing: where it usually is, else where the memory saw it."""
        scene = self._scene
        core = phrase.partition(" containing ")[0]
        if scene.bound in self._lore.house.exits and scene.plan == act and not scene.view:
            return scene.bound
        looked = bool(scene.view) if scene.room == room else f"room {room}" in scene.sights
        if room and not looked:
            return room
        where = [
            where
            for name, where in scene.sights.items()
            if where in self._lore.house.exits and words(core) <= words(name)
        ]
        if scene.room in where or not where:
            return scene.room or room
        return room if room in where else where[-1]

    def _go(self, room: str, act: Act) -> str:
        """A step on the way, through doors that may be closed."""
        self._publish(act, room, later=True)
        way = self._lore.house.way(self._scene.room, room)
        if not way or is_refused(self._scene.text):
            return LOOK
        text = self._scene.text
        opened = text.startswith(("The door is now open", "The door is already open"))
        if opened or f"door to the {way[0]} (that is open)" in text:
            return f"go to {way[0]}"
        return f"open door to {way[0]}"

    def _search(self, phrase: str, act: Act) -> str:
        """Go where such things were seen in demonstrations, to rooms not searched first."""
        house, scene = self._lore.house, self._scene
        likely = house.likely(phrase.partition(" containing ")[0])
        rooms = [
            room for room in sorted(house.exits)
            if room != scene.room and f"room {room}" not in scene.sights
        ]  # fmt: skip
        weights = np.array([0.2 + likely[room] for room in rooms])
        sought = self._settings.search and act.verb in _SOUGHT
        if not sought or not rooms or self._rng.random() < GIVE_UP:
            self._publish(act, scene.room)
            return str(act)
        target = rooms[int(self._rng.choice(len(rooms), p=weights / weights.sum()))]
        return self._go(target, act)


def _asked(clause: str) -> str:
    """The thing that a clause of a goal asks for.

    >>> _asked("place it in the red box")
    'red box'
    """
    return clause.rpartition(" the ")[2] if " the " in clause else clause
