"""The ideal observer: what someone who saw the same text and reasons perfectly would know.

Computed from the engine's facts and from what can be seen of them, without any extraction
rules, so that a memory can be scored against it. At each step one sees the room that one is in:
its furniture, what lies on the floor and on supporters, what is in open containers, the exits,
the doors and their states; and what one holds. All that is seen is remembered until an own
action changes it; nothing else changes the world of these games. Besides, one knows

* a way between two rooms once it was walked, and the way back;
* what an own action brought about;
* which key fits a lock once it turned in it;
* what a text told in words: a recipe, what an appliance does, which key opens what, and where
  something is, if a note or the goal says so;
* that a thing is locked, and not merely shut, once the text said so.

That is how TextWorld shows things. A family that shows them in another way says itself what each
step showed, as ``visible`` among the objects of its oracle; one whose world changes unseen says
all that was shown, what the action changed included, as ``seen``.

For scoring only: a memory never sees any of this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gym_memory.memory.schema import INVENTORY, LOCATIONS, PLAYER, VERBATIM, direction_of
from gym_memory.types import Triple

__all__ = ["IdealObserver"]

_OPENNESS = ("open", "closed", "locked")
_BANNER = re.compile(r"^[ \t]*-=[^\n]*=-", re.MULTILINE)
_LOOKED = re.compile(r"(?:read|examine|x|look at) (?P<name>.+)", re.IGNORECASE)
_IN_WORDS = {
    "chopped": "chop", "sliced": "slice", "diced": "dice",
    "fried": "fry", "roasted": "roast", "grilled": "grill",
    "frying": "fr[yi]", "roasting": "roast", "grilling": "grill",
}  # fmt: skip


class IdealObserver:
    """Knows what could be known after each step.

    Args:
        containers: Names of things that are shut where the engine says nothing of it.

    Attributes:
        true: All that is true, in the observer's words: a lock that nothing spoke of is shut.
        known: What it knows to be true; part of ``true``.
        past: What it knew once and knows to be true no longer.
        shown: What the last step showed or told.
        room: Where the player is.
    """

    def __init__(self, containers: Iterable[str] = ()):
        self.true: frozenset[Triple] = frozenset()
        self.known: frozenset[Triple] = frozenset()
        self.past: frozenset[Triple] = frozenset()
        self.shown: frozenset[Triple] = frozenset()
        self.room = ""
        self._containers = frozenset(containers)
        self._untracked = self._containers
        self._facts: frozenset[Triple] = frozenset()
        self._locked: set[str] = set()

    def see(
        self,
        facts: frozenset[Triple],
        text: str,
        action: str = "",
        visible: frozenset[Triple] | None = None,
        seen: frozenset[Triple] | None = None,
    ) -> None:
        """Take in one step.

        Args:
            facts: All that is true after it, in the vocabulary of :mod:`gym_memory.memory.schema`.
            text: What was shown.
            action: What was done; empty for the first observation.
            visible: What the engine says was shown or told, where it says so; then nothing is
                concluded from the text or from the place.
            seen: All that the engine says was shown or told; then no change that it leaves out is
                noticed but a way that was walked.
        """
        world = _World(self._completed(facts))
        shown = _Shown(text.lower(), action.strip().lower())
        self._locked |= {
            thing
            for thing, state in world.openness.items()
            if state == "locked" and (shown.speaks_of_lock(thing) or self._was(thing, "closed"))
        }
        news = world.facts - self._facts if self._facts else frozenset()
        if seen is not None:
            news, visible = frozenset(self._walked(world)), seen
        elif visible is None:
            told = {fact for fact in world.facts - self.known if self._is_told(fact, shown, world)}
            visible = frozenset({*told, *self._walked(world), *world.visible()})
        self.true = self._in_words(world.facts)
        self.shown = self._in_words(news | visible)
        known = (self._in_words(self.known) | self.shown) & self.true
        self.past = (self.past | self.known) - known
        self.known = known
        self._facts, self.room = world.facts, world.room

    def is_scored(self, fact: Triple) -> bool:
        """Whether the engine can tell if a fact of this kind is true."""
        subject, relation, obj = fact
        if relation in VERBATIM or relation == "mentions":
            return False
        if relation == "used for":  # true of all kitchens, those without the appliance too
            return any(subject == known.subject for known in self._facts)
        if relation == "is" and obj in (*_OPENNESS, "empty"):
            return subject not in self._untracked
        return True

    def _completed(self, facts: frozenset[Triple]) -> frozenset[Triple]:
        """The facts with what the engine leaves out, without what it forgets to take back."""
        gone = {f.subject for f in facts if f.relation == "is" and f.object == "consumed"}
        tracked = {f.subject for f in facts if f.relation == "is" and f.object in _OPENNESS}
        self._untracked = self._containers - tracked
        kept = {
            f
            for f in facts
            if f.relation != "is" or f.object == "consumed" or f.subject not in gone
        }
        return frozenset(kept.union(Triple(c, "is", "closed") for c in self._untracked))

    def _was(self, thing: str, state: str) -> bool:
        return Triple(thing, "is", state) in self._facts

    def _in_words(self, facts: Iterable[Triple]) -> frozenset[Triple]:
        """Facts with *closed* for locks that nothing spoke of."""
        return frozenset(
            fact._replace(object="closed")
            if fact.object == "locked" and fact.subject not in self._locked
            else fact
            for fact in facts
        )

    def _walked(self, world: _World) -> Iterable[Triple]:
        """The way that was just walked, in both directions."""
        ends = {self.room, world.room}
        return (fact for fact in world.ways if {fact.subject, fact.object} == ends)

    def _is_told(self, fact: Triple, shown: _Shown, world: _World) -> bool:
        subject, relation, obj = fact
        if relation == "requires":
            return "ingredients" in shown.answer and obj in shown.answer
        if relation == "needs to be":
            direction = f"{_IN_WORDS.get(obj, obj)} the {subject}"
            return "directions" in shown.answer and direction in shown.answer
        if relation == "used for":
            return shown.says(subject, rf"\b{_IN_WORDS.get(obj, obj)}")
        if relation == "is prepared in":
            return shown.says(subject, obj, r"\bprepar")
        if relation == "opens":
            before = next((s for s in _OPENNESS if self._was(obj, s)), None)
            turned = {before, world.openness.get(obj)} == {"locked", "closed"}
            return turned or shown.says(subject, obj, r"\b(?:opens?|(?:un)?lock(?:ed)?)\b")
        if relation in LOCATIONS and shown.says(subject, obj):
            return shown.is_read or (
                shown.is_first and shown.says(obj, r"\b(?:lies|stands) (?:in|on)\b")
            )
        return False


class _World:
    """All that is true after a step, sorted by what it is about."""

    def __init__(self, facts: frozenset[Triple]):
        self.facts = facts
        self._states: list[Triple] = []
        self._exits: list[Triple] = []
        self._inside: dict[str, list[Triple]] = {}
        self.openness: dict[str, str] = {}
        self.ways: list[Triple] = []
        self.room = ""
        for fact in facts:
            subject, relation, obj = fact
            if relation in LOCATIONS:
                if subject == PLAYER:
                    self.room = obj
                self._inside.setdefault(obj, []).append(fact)
            elif relation == "is":
                self._states.append(fact)
                if obj in _OPENNESS:
                    self.openness[subject] = obj
            elif direction_of(relation) is not None:
                self.ways.append(fact)
            elif relation.startswith("has "):
                self._exits.append(fact)

    def visible(self) -> set[Triple]:
        """What can be seen from where the player is."""
        exits = [fact for fact in self._exits if fact.subject == self.room]
        doors = {fact.object for fact in exits if fact.relation.endswith(" door")}
        seen = [*self._inside.get(self.room, ()), *self._inside.get(INVENTORY, ())]
        for fact in tuple(seen):
            if self.openness.get(fact.subject, "open") == "open":
                seen += self._inside.get(fact.subject, ())
        things = {fact.subject for fact in seen} | doors
        shut = {thing for thing in things if self.openness.get(thing, "open") != "open"}
        for fact in self._states:
            if fact.subject in things and (fact.object != "empty" or fact.subject not in shut):
                seen.append(fact)
        return {*seen, *exits}


class _Shown:
    """The text of a step as far as it speaks, descriptions of rooms set apart."""

    def __init__(self, text: str, action: str):
        banner = _BANNER.search(text)
        self.answer = text[: banner.start()] if banner and action else text
        self._description = text[banner.end() :] if banner else ""
        looked = _LOOKED.fullmatch(action)
        self._looked_at = looked["name"] if looked else ""
        self.is_first = not action
        self._sentences: list[str] | None = None

    @property
    def is_read(self) -> bool:
        """Whether the answer is something read: no room, no list of what something holds."""
        return bool(self._looked_at) and not re.search(
            r"\b(?:in|on) the .* (?:is|are) ", self.answer
        )

    def says(self, *words: str) -> bool:
        """Whether one sentence has all words.

        A sentence that begins with *it* goes with the one before; what was looked at is meant
        by the whole answer.
        """
        words = tuple(word for word in words if word != self._looked_at)
        if not all(re.search(word, self.answer) for word in words):
            return False
        if self._sentences is None:
            parts = re.split(r"(?<=[.!?])\s+", self.answer)
            self._sentences = [
                f"{before} {part}" if part.startswith("it ") else part
                for before, part in zip(["", *parts], parts, strict=False)
            ]
        return any(all(re.search(word, s) for word in words) for s in self._sentences)

    def speaks_of_lock(self, thing: str) -> bool:
        """Whether the text says that something is locked."""
        text = self._description if self.is_first else f"{self.answer}\n{self._description}"
        name = re.escape(thing)
        forms = (
            rf"\blocked (?:[\w -]{{1,30}} looking )?{name}\b",
            rf"\bhave to unlock (?:the )?{name}\b",
            rf"\b{name} is (?:locked|welded)",
        )
        if any(re.search(form, text) for form in forms):
            return True
        named = self._looked_at.endswith(thing)
        return named and ("it is locked" in text or "a lock on it" in text)
