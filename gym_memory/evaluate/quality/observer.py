"""The ideal observer: what someone who saw the same text and reasons perfectly would know.

Computed from the engine's facts and from whether their names stood in the text; it reads no
sentence, and shares neither pattern nor code with the rules that extract facts, so that a memory
can be scored against it. At each step one sees the room that one is in: its furniture, what lies
on the floor and on supporters, what is in open containers, the exits, the doors and their states,
as far as the text has named them; and what one holds. All that is seen is remembered until an own
action changes it; nothing else changes the world of these games. Besides, one knows

* a way between two rooms once it was walked, and the way back;
* what an own action brought about;
* which key fits a lock once it turned in it;
* what was read: of the writings that the engine lists (what a note, a recipe, a plate or the goal
  says), one that was shown whole tells each true fact whose names stand together in it: which key
  opens what, where something is (in one sentence or one that goes on with *it*, of a note in any
  two that follow each other), what a recipe asks for, what an appliance does;
* that a thing is locked, and not merely shut, once a sentence that is no writing names it beside a
  word for a lock, or once it is at hand and shut and the valid actions do not offer to open it.

So a text that names a key and its lock counts as telling that the one opens the other, however it
is worded. That is how TextWorld shows things. A family that shows them in another way says itself
what each step showed, as ``visible`` among the objects of its oracle; one whose world changes
unseen says all that was shown, what the action changed included, as ``seen``.

For scoring only: a memory never sees any of this.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from gym_memory.core.records import Oracle, Triple
from gym_memory.graph.schema import (
    ACTION_RESULTS,
    INVENTORY,
    LOCATIONS,
    PLAYER,
    VERBATIM,
    direction_of,
)

__all__ = ["IdealObserver", "spaced", "squeezed"]

_OPENNESS = ("open", "closed", "locked")
_LOCK_WORDS = frozenset({"lock", "locked", "unlock", "welded"})
_STEMS = {
    "chopped": ("chop",), "sliced": ("slic",), "diced": ("dic",),
    "fried": ("fry", "fri"), "roasted": ("roast",), "grilled": ("grill",),
    "frying": ("fry", "fri"), "roasting": ("roast",), "grilling": ("grill",),
}  # fmt: skip
"""States and uses to how words for them begin."""
_MEAL, _PREPARED_IN = "meal", "is prepared in"


class IdealObserver:
    """Knows what could be known after each step.

    Args:
        containers: Names of things that are shut where the engine says nothing of it.
        writings: Names of things and what is written on each; an empty name for what the first
            text says of the goal.

    Attributes:
        true: All that is true, in the observer's words: a lock that nothing spoke of is shut.
        rough: What is true though not exact: what lies in a drawer of the hall is in the hall.
        known: What it knows to be true; part of ``true``.
        past: What it knew once and knows to be true no longer.
        shown: What the last step showed or told.
        room: Where the player is.
    """

    def __init__(self, containers: Iterable[str] = (), writings: Iterable[tuple[str, str]] = ()):
        self.true: frozenset[Triple] = frozenset()
        self.rough: frozenset[Triple] = frozenset()
        self.known: frozenset[Triple] = frozenset()
        self.past: frozenset[Triple] = frozenset()
        self.shown: frozenset[Triple] = frozenset()
        self.room = ""
        self._containers = frozenset(containers)
        self._untracked = self._containers
        self._facts: frozenset[Triple] = frozenset()
        self._locked: set[str] = set()
        self._named: set[str] = set()
        self._writings = [(name, squeezed(text)) for name, text in writings]

    @classmethod
    def of(cls, oracle: Oracle) -> IdealObserver:
        """The observer of an episode, from what its oracle says at the start."""
        return cls(oracle.objects.get("shut", ()), oracle.objects.get("writings", ()))

    def see(self, oracle: Oracle, text: str, action: str = "", actions: Iterable[str] = ()) -> None:
        """Take in one step.

        Args:
            oracle: What is true after it. Where it has ``visible``, that is all that was shown or
                told, and nothing is concluded from the text or from the place; where it has
                ``seen``, also no change that it leaves out is noticed but a way that was walked.
            text: What was shown.
            action: What was done; empty for the first observation.
            actions: The valid actions that were shown.
        """
        world = _World(self._completed(oracle.facts))
        visible, seen = oracle.objects.get("visible"), oracle.objects.get("seen")
        news = world.facts - self._facts if self._facts else frozenset()
        if seen is not None:
            news, visible = frozenset(self._walked(world)), seen
        if visible is None:
            visible = self._shown(world, squeezed(text), squeezed(action))
        else:
            self._locked |= {fact.subject for fact in visible if fact.object == "locked"}
        self._locked |= {
            thing
            for thing, state in world.openness.items()
            if state == "locked" and self._was(thing, "closed")
        }
        offered = {offer.lower() for offer in actions}
        self._locked |= {
            fact.subject
            for fact in visible
            if world.openness.get(fact.subject) == "locked"
            and f"examine {fact.subject}" in offered
            and f"open {fact.subject}" not in offered
        }
        self.true = self._in_words(world.facts)
        self.rough = frozenset(world.roughly) - self.true
        self.shown = self._in_words(news | visible)
        known = (self._in_words(self.known) | self.shown) & self.true
        self.past = (self.past | self.known) - known
        self.known = known
        self._facts, self.room = world.facts, world.room

    def is_scored(self, fact: Triple) -> bool:
        """Whether the engine can tell if a fact of this kind is true."""
        subject, relation, obj = fact
        if relation in VERBATIM or relation in ACTION_RESULTS or relation == "mentions":
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

    def _shown(self, world: _World, text: str, action: str) -> frozenset[Triple]:
        """What a text shows and tells, of the facts that are true."""
        said = spaced(f"{action}. {text}")
        self._named |= {name for name in world.names - self._named if spaced(name) in said}
        self._named |= world.held
        in_view = {fact for fact in world.visible() if _names(fact) <= self._named}
        told: set[Triple] = set()
        for name, writing in self._writings:
            if writing and writing in text:
                told |= world.told_by(name, writing)
                text = text.replace(writing, " ")
        in_sight = {fact.subject for fact in in_view}
        about = spaced(action)
        for sentence in map(spaced, _sentences(text)):
            if not _LOCK_WORDS.isdisjoint(sentence.split()):
                self._locked |= {
                    thing
                    for thing, state in world.openness.items()
                    if state == "locked" and thing in in_sight
                    and (spaced(thing) in sentence or spaced(thing) in about)
                }  # fmt: skip
        turned = {
            fact
            for fact in world.facts
            if fact.relation == "opens" and self._turned(fact.object, world)
        }
        return frozenset({*in_view, *told, *turned, *self._walked(world)})

    def _turned(self, lock: str, world: _World) -> bool:
        """Whether a key was just turned in a lock."""
        before = next((state for state in _OPENNESS if self._was(lock, state)), None)
        return {before, world.openness.get(lock)} == {"locked", "closed"}


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

    @property
    def roughly(self) -> set[Triple]:
        """Where that is what things lie in or on."""
        within = {f.subject: f.object for f in self.facts if f.relation in LOCATIONS}
        return {
            Triple(thing, "is in", within[holder])
            for thing, holder in within.items()
            if holder in within
        }

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

    @property
    def held(self) -> set[str]:
        """Names of what the player holds: the inventory names them at every step."""
        return {fact.subject for fact in self._inside.get(INVENTORY, ())}

    @property
    def names(self) -> set[str]:
        """Names of all that the facts are about."""
        return {name for fact in self.facts for name in _names(fact)}

    def told_by(self, name: str, writing: str) -> set[Triple]:
        """The facts all of whose names stand in a writing on something of a name."""
        said = spaced(f"{name} {writing}")
        words = said.split()
        sentences = [spaced(sentence) for sentence in _sentences(writing)]
        near = [  # where names stand together
            f"{spaced(name)}{a}{b if name or b.startswith(' it ') else ' '}"
            for a, b in pairwise([*sentences, " "])
        ]
        required = {fact.object for fact in self.facts if fact.relation == "requires"}
        is_recipe = name not in required and all(spaced(food) in said for food in required)

        def tells(fact: Triple) -> bool:
            subject, relation, obj = fact
            if relation == "requires":
                return is_recipe
            if relation in ("needs to be", "used for"):
                does = any(word.startswith(_STEMS.get(obj, (obj,))) for word in words)
                return does and (
                    is_recipe if relation == "needs to be" else spaced(subject) in said
                )
            if relation == _PREPARED_IN:
                return any(spaced(obj) in s and spaced(_MEAL) in s for s in sentences)
            if relation == "opens" or (relation in LOCATIONS and subject != PLAYER):
                return any(spaced(subject) in s and spaced(obj) in s for s in near)
            return False

        return {fact for fact in self.facts if tells(fact)}


def _names(fact: Triple) -> frozenset[str]:
    """The names of things and rooms in a fact."""
    subject, relation, obj = fact
    if relation in LOCATIONS:
        return frozenset({subject, obj} - {PLAYER, INVENTORY})
    if relation == "opens" or relation.endswith(" door") or direction_of(relation) is not None:
        return frozenset({subject, obj})
    if relation in ("is", "has exit", "used for"):
        return frozenset({subject})
    return frozenset()


def squeezed(text: str) -> str:
    """A text in lower case, without quotation marks and needless blanks."""
    return " ".join(text.lower().replace("'", " ").replace('"', " ").split())


def spaced(text: str) -> str:
    """The words of a text, with one blank before each and behind the last."""
    spaced = "".join(letter if letter.isalnum() else " " for letter in text)
    return f" {' '.join(spaced.split())} "


def _sentences(text: str) -> list[str]:
    """A text in pieces that end with a stop."""
    return text.replace("!", ".").replace("?", ".").split(". ")
