"""Names for things here: by the words of a demonstration, by the goal, by what is in sight."""

from __future__ import annotations

import re

from gym_memory.baselines.rules.scienceworld.demonstrations import Knowledge
from gym_memory.baselines.rules.scienceworld.goals import asked
from gym_memory.baselines.rules.scienceworld.guide import Guide
from gym_memory.baselines.rules.scienceworld.phrases import (
    Act,
    Meaning,
    Thing,
    likeness,
    things_in,
    words,
)
from gym_memory.baselines.rules.scienceworld.scene import Scene
from gym_memory.games.scienceworld.rules_items import AMBIGUOUS

__all__ = ["Sight"]

_HELD = re.compile(r"\(containing ([^(),]*)")
_LIQUID = "can't pick up a liquid"
_VESSELS = ("mix", "pour", "move")
"""Verbs whose things may be others in every house: a jug here, a cup there."""
_SAME_USE = 0.3
"""Least likeness of what two things are put to, for one to serve in the place of the other."""
_SAME_LOOK = 0.6
"""Least share of words, but for its name, that a vessel's look has in common with another's."""
_STATES = frozenset({"liquid", "solid", "gaseous"})


class Sight:
    """Name what is in sight.

    ``alike`` is the least likeness, in [0, 1], for a thing in sight to replace a demonstrated one.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        goal: str,
        scene: Scene,
        guide: Guide,
        meaning: Meaning,
        alike: float,
    ):
        self._knowledge, self._goal, self._scene, self._guide = knowledge, goal, scene, guide
        self._meaning, self._alike = meaning, alike

    def names_of(self, act: Act) -> tuple[str, ...]:
        """Return what to call the things of an action; empty for one that is not in sight."""
        return tuple(self._name_of(phrase, act) for phrase in act.things)

    def asked(self, phrase: str) -> frozenset[str]:
        """Return the words of a phrase by which the goal names the thing."""
        return asked(self._goal, phrase)

    def now_called(self, phrase: str) -> str:
        """Return what a melted or frozen substance is called, by the last answer that names it."""
        for _, answer in reversed(self._scene.done):
            names = [] if answer.startswith(AMBIGUOUS) else [t.name for t in things_in(answer)]
            if any(words(name) == words(phrase) for name in names):
                return phrase
            for name in names:
                if words(name) ^ words(phrase) <= _STATES:
                    return name
        return phrase

    def poured(self, act: Act) -> Act:
        """Return a move of what cannot be picked up: its vessel is poured out instead."""
        reported = next((answer for one, answer in reversed(self._scene.done) if one == act), "")
        if act.verb != "move" or _LIQUID not in reported:
            return act
        inside = rf"\ban? ([\w ]+) \(containing [^()]*\b{re.escape(act.things[0])}\b"
        vessel = re.search(inside, self._scene.text.lower())
        return Act("pour", (vessel[1], act.things[1]), "into") if vessel else act

    def _name_of(self, phrase: str, act: Act) -> str:
        things = (*self._scene.carried, *self._scene.view)
        core, _, content = phrase.partition(" containing ")
        if act.verb == "focus on":
            return self._to_focus_on(core, things)
        if content:
            held = self._focused(content)
            things = tuple(thing for thing in things if words(held) <= words(thing.line))
        changed = self._changed(core, things)
        if changed:
            return changed
        for thing in things:
            if words(core) <= words(thing.name) or words(core) <= words(thing.line):
                return phrase if content and self._focused(content) == content else core
        if core.startswith("substance in "):
            return self._content(core, things)
        asks = self.asked(core)
        if not asks and act.verb in _VESSELS and self._scene.view:
            for other in self._played(phrase, act):
                if any(words(other) <= words(thing.name) for thing in things):
                    return other
            empty = self._as_empty(phrase, act)
            if empty:
                return empty
        others = {word for thing in act.things if thing != phrase for word in words(thing)}
        ranked = [
            (self._meaning.alike(core, thing.name), thing.name)
            for thing in things
            if asks <= words(thing.line) and (self._scene.view or content)
            and not words(thing.name) <= others
        ]  # fmt: skip
        value, name = max(ranked, default=(0.0, ""), key=lambda pair: pair[0])
        return name if value >= self._alike else ""

    def _changed(self, core: str, things: tuple[Thing, ...]) -> str:
        others = [words(thing.name) ^ words(core) for thing in things]
        if frozenset() in others:
            return ""
        pairs = zip(things, others, strict=True)
        return next((thing.name for thing, other in pairs if other <= _STATES), "")

    def _content(self, phrase: str, things: tuple[Thing, ...]) -> str:
        """Return what to call the substance in a vessel: some are only known by their names."""
        holder = phrase.rpartition(" in ")[2]
        lines = [thing.line for thing in things if words(holder) <= words(thing.name)]
        named = [_HELD.search(line) for line in lines if holder in line]
        if any(found is None or "substance called" in found[1] for found in named):
            return phrase
        return named[0][1].strip() if named and named[0] else ""

    def _to_focus_on(self, phrase: str, things: tuple[Thing, ...]) -> str:
        """Return the thing in sight that is meant; where the goal leaves it free, the best liked.

        What has other marks than the one that is meant, another stage or colour, is not meant.
        """
        asks = self.asked(phrase)
        if not asks:
            return self._liked(phrase)
        whole, _, fruit = phrase.partition(" on ")
        head, _, holder = phrase.rpartition(" in ")
        core = whole if fruit else phrase
        if head and not holder.endswith("stage"):
            core = phrase if head == "substance" else head
        if head == "substance":
            inside = [t.line.partition("containing")[2] for t in things if holder in t.name]
            meant = words(self._goal) - words(phrase)
            return self._content(phrase, things) if meant & words(" ".join(inside)) else ""
        exact = [thing.name for thing in things if words(core) == words(thing.name)]
        if exact or fruit:
            return core if exact else ""
        marks = words(core) - asks
        fitting = [
            (self._meaning.alike(core, thing.name), thing.name)
            for thing in things
            if words(thing.name) == marks
            or (
                asks <= words(thing.name)
                and (
                    (marks and marks <= words(thing.name))
                    or words(thing.name) - words(core) <= _STATES
                )
            )
        ]
        value, name = max(fitting, default=(0.0, ""), key=lambda pair: pair[0])
        return name if value >= self._alike else ""

    def _as_empty(self, phrase: str, act: Act) -> str:
        """Return a thing in sight that looks, but for its name, as the demonstrated vessel did."""
        moves = enumerate(self._guide.shown.moves)
        shown = next((move for n, move in moves if self._guide.here(n) == act), None)
        if shown is None or act.verb == "mix" or phrase != act.things[-1]:
            return ""
        look = words(shown.looks[-1]) - words(shown.act.things[-1])
        for thing in self._scene.view:
            rest = words(thing.line) - words(thing.name)
            shared = len(look & rest) / max(1, len(look | rest))
            if thing.name not in act.things and shared > _SAME_LOOK:
                return thing.name
        return ""

    def _played(self, phrase: str, act: Act) -> list[str]:
        slot, count = act.things.index(phrase), len(act.things)
        return sorted(
            {
                other[slot]
                for shown in self._knowledge.demonstrations
                if shown.task == self._guide.shown.task
                for verb, other, _ in (move.act for move in shown.moves)
                if verb == act.verb and len(other) == count and other[slot] not in act.things
                and (slot == count - 1 or likeness(other[-1], act.things[-1]) > _SAME_USE)
            }
        )  # fmt: skip

    def _liked(self, phrase: str) -> str:
        likings = [
            (self._knowledge.liking(self._guide.shown.task, thing.name)
             + 0.2 * self._meaning.alike(phrase, thing.name), thing.name)
            for thing in self._scene.view
        ]  # fmt: skip
        value, name = max(likings, default=(0.0, ""), key=lambda pair: pair[0])
        return name if value >= self._alike else ""

    def _focused(self, held: str) -> str:
        moves = self._guide.shown.moves
        shown = next((m.act.things[0] for m in moves if m.act.verb == "focus on"), "")
        if words(shown) & words(self._guide.shown.goal) or not words(shown) & words(held):
            return held
        reported = [act.things[0] for act, answer in self._scene.done if act.verb == "focus on"]
        reported = reported or [f.object for f in self._scene.facts if f.relation == "focused on"]
        return reported[-1].partition(" in the ")[0] if reported else held
