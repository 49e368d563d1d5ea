"""Compute what an ideal observer of the same text would know; memories are scored against it.

The observer knows a fact of the engine once its names were in the text. It parses no sentences and
shares no code with extraction, so both cannot share a fault. At each step it sees the room:
furniture, floor, supporters, open containers, exits and doors that the text has named, and what it
holds. It remembers them until an action of its own changes them. It also knows

* a way between two rooms once it was walked, and the way back;
* the effect of its actions, and which key fits a lock once it turned;
* each true fact whose names are together in a writing shown in full (the engine lists these): which
  key opens what, where something is (both names in one sentence or in one that continues with *it*;
  in a note, in adjacent ones), what a recipe requires, what an appliance does;
* that a thing is locked, not only shut, once a sentence outside writings names it beside a word for
  a lock, or once it is in view and shut and no valid action opens it.

This suits TextWorld. The oracle of another family states what each step showed as ``visible`` or,
if the world changes unseen, as ``seen``, with changes by the agent's actions.
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
"""Prefixes of words for states and uses."""
_MEAL, _PREPARED_IN = "meal", "is prepared in"


class IdealObserver:
    """An observer that remembers everything seen in an episode.

    ``containers`` are closed unless the engine states otherwise. ``writings`` maps things to the
    text on them, and an empty name to what the first text says about the goal.

    ``true`` has all true facts in the observer's terms, in which an unmentioned lock is only shut.
    ``rough`` facts are true but inexact: what is in a drawer of the hall is in the hall. ``known``
    is a part of ``true``; ``past`` was known and is no longer true; the last step brought
    ``shown``.
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
        """Return the observer of an episode, given the oracle at its start."""
        return cls(oracle.objects.get("shut", ()), oracle.objects.get("writings", ()))

    def see(self, oracle: Oracle, text: str, action: str = "", actions: Iterable[str] = ()) -> None:
        """Observe a step: its facts, the action before it and the valid actions.

        The oracle's ``visible`` replaces all conclusions from text and place. With ``seen``, other
        changes go unnoticed too, except for a walked way.
        """
        world = _WorldFacts(self._completed(oracle.facts))
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
        """True if the engine can decide whether facts of this kind are true."""
        subject, relation, obj = fact
        if relation in VERBATIM or relation in ACTION_RESULTS or relation == "mentions":
            return False
        if relation == "used for":  # true in every kitchen, even without the appliance
            return any(subject == known.subject for known in self._facts)
        if relation == "is" and obj in (*_OPENNESS, "empty"):
            return subject not in self._untracked
        return True

    def _completed(self, facts: frozenset[Triple]) -> frozenset[Triple]:
        """Add facts that the engine omits, and remove those that it fails to end."""
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
        """Return facts in which unmentioned locks are *closed*."""
        return frozenset(
            fact._replace(object="closed")
            if fact.object == "locked" and fact.subject not in self._locked
            else fact
            for fact in facts
        )

    def _walked(self, world: _WorldFacts) -> Iterable[Triple]:
        """Return the way just walked, in both directions."""
        ends = {self.room, world.room}
        return (fact for fact in world.ways if {fact.subject, fact.object} == ends)

    def _shown(self, world: _WorldFacts, text: str, action: str) -> frozenset[Triple]:
        said = spaced(f"{action}. {text}")
        self._named |= {name for name in world.names - self._named if spaced(name) in said}
        self._named |= world.held
        in_view = {fact for fact in world.visible() if _names(fact) <= self._named}
        read: set[Triple] = set()
        for name, writing in self._writings:
            if writing and writing in text:
                read |= world.written_on(name, writing)
                text = text.replace(writing, " ")
        in_sight = {fact.subject for fact in in_view}
        about = spaced(action)
        for sentence in map(spaced, _scoring_sentences(text)):
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
        return frozenset({*in_view, *read, *turned, *self._walked(world)})

    def _turned(self, lock: str, world: _WorldFacts) -> bool:
        """True if the last action turned a key in a lock."""
        before = next((state for state in _OPENNESS if self._was(lock, state)), None)
        return {before, world.openness.get(lock)} == {"locked", "closed"}


class _WorldFacts:
    """True facts after a step, by topic."""

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
        """Return contents with the places of their holders."""
        within = {f.subject: f.object for f in self.facts if f.relation in LOCATIONS}
        return {
            Triple(thing, "is in", within[holder])
            for thing, holder in within.items()
            if holder in within
        }

    def visible(self) -> set[Triple]:
        """Return what is visible from the player's place."""
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
        """Return the carried things, which the inventory lists at each step."""
        return {fact.subject for fact in self._inside.get(INVENTORY, ())}

    @property
    def names(self) -> set[str]:
        return {name for fact in self.facts for name in _names(fact)}

    def written_on(self, name: str, writing: str) -> set[Triple]:
        """Return the facts whose names all occur in one written text."""
        said = spaced(f"{name} {writing}")
        words = said.split()
        sentences = [spaced(sentence) for sentence in _scoring_sentences(writing)]
        near = [  # sentences that have names together
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
    """Return the names of things and rooms in a fact."""
    subject, relation, obj = fact
    if relation in LOCATIONS:
        return frozenset({subject, obj} - {PLAYER, INVENTORY})
    if relation == "opens" or relation.endswith(" door") or direction_of(relation) is not None:
        return frozenset({subject, obj})
    if relation in ("is", "has exit", "used for"):
        return frozenset({subject})
    return frozenset()


def squeezed(text: str) -> str:
    """Return a text in lower case, without quotation marks and extra blanks."""
    return " ".join(text.lower().replace("'", " ").replace('"', " ").split())


def spaced(text: str) -> str:
    """Return the words of a text, with one blank before each and after the last."""
    spaced = "".join(letter if letter.isalnum() else " " for letter in text)
    return f" {' '.join(spaced.split())} "


def _scoring_sentences(text: str) -> list[str]:
    return text.replace("!", ".").replace("?", ".").split(". ")
