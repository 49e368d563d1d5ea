"""Drafts of texts in general English: the place of the agent, its things and its exits."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from gym_memory.core.records import Triple
from gym_memory.extract import Mention, Pattern
from gym_memory.extract.draft import NOWHERE, Draft
from gym_memory.extract.events import action_event
from gym_memory.extract.known import another, meant
from gym_memory.extract.notes.words import Phrase, names_person
from gym_memory.extract.things import is_name, place_name
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import (
    EXIT,
    INVENTORY,
    OPPOSITE,
    PLAYER,
    clean_name,
    direction_in,
    direction_of,
    head_noun,
    way_relation,
)

__all__ = ["LOOKING", "RELATIVE", "Scene", "seen_relation"]

_OPPOSITES = {"locked": "unlocked", "unlocked": "locked"}
"""Opposite states without a slot of their own, as an unlocked thing may also be closed."""


_HANDING = frozenset(("drop", "give", "cast"))
"""Kinds of actions on a carried thing; *it* is the one taken last."""
_SHARED_NAME = "several places"
"""State of a name that several places share, as in a maze."""
_MIN_EXITS_BY_SENTENCES = 3
"""Least product of named exits and sentences with which a text lists all exits."""
RELATIVE = "is seen"
"""Relation of a thing to its place relative to the agent, which holds until the next action."""
_SEEN_BEFORE = Pattern(None, RELATIVE, None)
LOOKING = re.compile(
    r"(?:look (?:at|in|into|inside|through)|examine|inspect|search|read|x) ", re.IGNORECASE
)
_SECOND_PERSON = re.compile(r"(?:> ?)?(?:you|i) (?=[a-z])", re.IGNORECASE)
"""Beginning of an action that is a sentence."""
_BEFORE_AIM = re.compile(rf"{LOOKING.pattern}|(?:ask|beg) .+ for ", re.IGNORECASE)
"""Words of an action before the thing that it is about."""
_CLARIFIED = re.compile(r"\s*\((?:(?:the|your|my) )?(?P<thing>[a-z][\w' -]{1,40})\)\s*\n")
"""First line of an answer that says which thing is meant: *(the matchbox)*."""
_DEFINITE = re.compile(r"\b(?:the|your) ((?:[\w'-]+ ){0,2}[\w'-]+)")
_GOING = re.compile(
    r"(?:(?:go|walk|run|head|travel|ride|sail|drive|fly|enter(?! (?:code )?\d))\b|move(?= to\b))"
    r"(?: (?:to|into|in))? ?(?P<to>.*)"
    r"|(?:exit|leave)$",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def _intent(action: str) -> tuple[str | None, bool, bool]:
    """Return the direction of an action, whether it is a move, and whether it looks at a thing."""
    direction = direction_in(action)
    moves = direction is not None or _GOING.match(action) is not None
    return direction, moves, LOOKING.match(action) is not None


@lru_cache(maxsize=1024)
def command_of(action: str) -> str:
    """Return an action as a command: *You take the key.* as *take the key*."""
    return _SECOND_PERSON.sub("", action).rstrip(".!") if _SECOND_PERSON.match(action) else action


class Scene(Draft):
    """A draft of the extraction of a text in general English.

    Args:
        action: The action before the text.
        graph: Facts before the step.
        text: The text in plain lines.
        inventory: The inventory text of the step.
    """

    def __init__(self, action: str, graph: TemporalGraph, text: str = "", inventory: str = ""):
        super().__init__(graph)
        self.action = action = command_of(action)
        self._text, self._inventory = text, inventory
        self.direction, self.is_move, self.is_look = _intent(action)
        self.arrived = False
        self.sentences = 0
        self.is_listed = False
        """True if the text lists the things here."""
        self.is_first = not (action or self.room)
        """True if the text is the first one, whose place is unknown."""
        self.event = action_event(action)
        """Event that the action causes; None for an action without one."""
        self._topic = ""
        self._has_second = False
        self._lower: str | None = None
        self._handled: str | None = None
        self._held: frozenset[str] | None = None
        if action:
            self.outdated[_SEEN_BEFORE] = None

    @property
    def text(self) -> str:
        """Return the text in lower case, which shows the names in use."""
        if self._lower is None:
            self._lower = self._text.lower()
        return self._lower

    @property
    def handled(self) -> str:
        """Return the thing that the action affects; empty for none."""
        if self._handled is None:
            self._handled = self._find_handled()
        return self._handled

    def _find_handled(self) -> str:
        event = self.event
        if event is None or not event.thing.text or self.direction is not None:
            return ""
        if event.thing.is_pronoun:
            handed = not _HANDING.isdisjoint(event.kinds)
            return (
                next(reversed([f.subject for f in self.contents(INVENTORY)]), "") if handed else ""
            )
        clarified = _CLARIFIED.match(self._text) if "(" in self._text[:2] else None
        said = meant(self, clean_name(clarified["thing"])) if clarified is not None else ""
        several = event.thing.text.lower() in ("all", "everything")
        if said and (several or self.graph.knows(said)):
            return said
        if several:
            return ""
        carried = True if "drop" in event.kinds else False if "take" in event.kinds else None
        return meant(self, clean_name(event.thing.text), carried=carried, typed=True)

    @property
    def aim(self) -> str:
        """Return the thing that the action affects, looks at or asks for; empty for none."""
        looked = None if self.handled else _BEFORE_AIM.match(self.action)
        if looked is None:
            return self.handled
        return meant(self, clean_name(self.action[looked.end() :]), typed=True)

    def is_handled(self, name: str) -> bool:
        """True if an unknown name is short for the thing of the action: *door* for *trapdoor*."""
        handled = self.handled
        if name == handled or self.graph.knows(name):
            return False
        words = name.split()
        known = head_noun(name) == head_noun(handled) and self.graph.knows(handled)
        return (known and set(words) < set(handled.split())) or (
            " " not in handled and len(words) == 1 and handled.endswith(name)
        )

    def thing_called(self, name: str, *, carried: bool | None = None) -> str:
        """Return the thing that a name means: that of the action if the name is short for it."""
        return self.handled if self.is_handled(name) else meant(self, name, carried=carried)

    @property
    def topic(self) -> str:
        """Return what *it* means: the thing named last, or the thing of the action."""
        return self._topic or self._subject_before() or self.aim

    @topic.setter
    def topic(self, name: str) -> None:
        self._topic = name

    def _subject_before(self) -> str:
        """Return the first known thing in the sentence before this one; empty for none."""
        before = self.text[: max(self.offset, 0)].rstrip()
        begin = max(0, *(before.rfind(stop, 0, -1) for stop in (". ", "! ", "\n")))
        for found in _DEFINITE.finditer(before, begin):
            words = found[1].split()
            for end in range(len(words), 0, -1):
                name = " ".join(words[:end])
                if name != self.room and self.graph.knows(name):
                    return name
        return ""

    @property
    def person(self) -> str:
        """Return what *he* or *she* means: the person named last, or the person of the action."""
        gives = self.event is not None and "give" in self.event.kinds
        receiver = clean_name(self.event.holder.text) if self.event is not None and gives else ""
        return next(filter(names_person, (self._topic, self.handled)), meant(self, receiver))

    def add(self, subject: str, relation: str, obj: str, start: int = -1, end: int = -1) -> None:
        """See :class:`Draft`."""
        if subject == obj:
            return
        if relation == "is" and obj in _OPPOSITES:
            self.outdate(subject, relation, _OPPOSITES[obj])
        if relation == "is" and obj == "lit":
            on = Triple(subject, "is", "on")
            if on in self.graph or on in self.mentions:
                return  # it is known as a lamp that is on
        if self.offset < 0:
            start, end = NOWHERE
        self.note(Mention(Triple(subject, relation, obj), start, end))

    def arrive(self, place: str, start: int, end: int) -> None:
        """Put the agent into a place, and add the way that led there."""
        self.arrived = True
        self.enter(place, (start, end))
        way = self.direction or self._named_exit()
        if not way or not self.left:
            return
        if place == self.left:
            self._note_maze(place)
        elif not self._is_several(self.left):
            self.add(place, way_relation(way), self.left, start, end)
            self.outdate(None, seen_relation(way), self.left)

    def _note_maze(self, place: str) -> None:
        """Note that several places share a name, since a move led from one to the next.

        If exits of the place are known, a failed move is more likely.
        """
        if not self._exits_of(place):
            self.add(place, "is", _SHARED_NAME)
            for fact in (*self.graph.outgoing(place), *self.graph.incoming(place)):
                if fact.relation == EXIT or (direction_of(fact.relation) and fact.object == place):
                    self.outdate(*fact)

    def _is_several(self, place: str) -> bool:
        return Triple(place, "is", _SHARED_NAME) in self.graph

    def _exits_of(self, place: str) -> set[str]:
        known = {f.object for f in self.graph.outgoing(place) if f.relation == EXIT}
        return known | {f.object for f in self.mentions if f[:2] == (place, EXIT)}

    @property
    def destination(self) -> str:
        """Return the place that the action goes to; empty if it names none."""
        found = None if self.direction else _GOING.match(self.action)
        name = place_name(found["to"] or "") if found is not None else ""
        return name if is_name(name) else ""

    def _named_exit(self) -> str:
        found = _GOING.match(self.action)
        name = clean_name(found["to"] or "") if found is not None else ""
        return name if name and Triple(self.left, EXIT, name) in self.graph else ""

    def link_back(self) -> None:
        """Add the way back after a move, if the exits of the new place allow it."""
        left, room = self.left, self.room
        if not (self.arrived and self.direction and left and left != room):
            return
        exits = self._exits_of(room)
        back = OPPOSITE[self.direction]
        if not exits or (
            back not in exits
            and len(exits) * (self.sentences or _MIN_EXITS_BY_SENTENCES) >= _MIN_EXITS_BY_SENTENCES
        ):
            return  # the way seems to bend
        way = Triple(left, way_relation(back), room)
        known = self.graph.value(room, back)
        denied = known not in (None, way) or (known is None and self.graph.fact(way) is not None)
        if not (denied or self._is_several(left) or self._is_several(room)):
            self.add(*way)

    def lose_place(self) -> None:
        """Forget the place of the agent."""
        self.room = ""
        self.outdate(PLAYER, "is in", None)

    def lose_way(self, way: str) -> None:
        """End an exit that leads nowhere, and the way assumed there."""
        self.outdate(self.room, EXIT, way)
        self.outdate(None, way_relation(way), self.room)

    def has_exit(self, way: str, start: int, end: int, *, of: str = "") -> None:
        """Add an exit of this place, or of the place ``of``."""
        if of or self.room:
            self.add(of or self.room, EXIT, way, start, end)

    def see_behind(self, way: str, place: str, start: int, end: int, *, of: str = "") -> None:
        """Add a place in view along a way that is not explored yet."""
        room = of or self.room
        if room and is_name(place) and self.graph.value(room, way) is None:
            self.add(place, seen_relation(way), room, start, end)

    def put(self, phrase: Phrase, *, moved: bool = False) -> None:
        """Put a thing into this place; if the place is unknown, note that it is seen.

        A thing with the name of a carried one is another thing, unless it was ``moved``.
        """
        name = phrase.name
        if name in self.held or name in self.moved or not self.graph.knows(name):
            name = meant(self, name, carried=None if moved else False)
            if not moved and self._is_in_hand(name):
                name = another(name)
                self._has_second = True
            if name != phrase.name:
                phrase = phrase._replace(name=name)
        if self.room:
            self.place(phrase, "is in", self.room)
        if phrase.states:
            self.describe(phrase)
        if not self.room and all(fact.subject != phrase.name for fact in self.mentions):
            self.place(phrase, RELATIVE, "here")

    def carry(self, phrase: Phrase) -> str:
        """Put a thing into the inventory, and return its name.

        If the text also shows a thing of that name here, that is another thing.
        """
        name = phrase.name
        if name not in self.held:
            name = meant(self, name, anywhere=True)
        here = self.moved.get(name)
        if here is not None and here.object == self.room != "" and here in self.mentions:
            self.rename(here, another(name))
        if name != phrase.name:
            phrase = phrase._replace(name=name)
        self.place(phrase, "is in", INVENTORY)
        if phrase.states:
            self.describe(phrase)
        return name

    def _is_in_hand(self, name: str) -> bool:
        """True if a thing is still carried after the action, as far as the step says."""
        now = self.moved.get(name)
        if now is not None:
            return now.object == INVENTORY
        if name not in self.held or name == self.handled:
            return False
        if Pattern(name, "is in", INVENTORY) in self.outdated:
            return False
        return not self._inventory or name in self._inventory.lower()

    def outdate(
        self, subject: str | None = None, relation: str | None = None, obj: str | None = None
    ) -> None:
        """See :class:`Draft`; a fact that this text stated before ends too."""
        self.outdated[Pattern(subject, relation, obj)] = None
        if subject is not None and relation is not None and obj is not None:
            self.mentions.pop(Triple(subject, relation, obj), None)

    def keep_only(self, holder: str, names: Collection[str], *, by: str = "text") -> None:
        """See :class:`Draft`; a thing missing from the inventory may be the one seen here.

        What this text said before, *you find a coin*, ends too.
        """
        super().keep_only(holder, names, by=by)
        for fact, mention in tuple(self.mentions.items()):
            inside = fact.relation == "is in" and fact.object == holder
            if inside and mention.start < self.offset and fact.subject not in names:
                self.mentions.pop(fact)
                self.moved.pop(fact.subject, None)
        for name in self.held if holder == INVENTORY and self._has_second else ():
            second = another(name)
            shown = self.moved.get(second)
            if name not in names and shown is not None and not self.graph.knows(second):
                self.rename(shown, name)

    def rename(self, fact: Triple, name: str) -> None:
        """Replace the subject of a fact of this text, and keep its evidence."""
        span = self.mentions.pop(fact)[1:]
        offset, self.offset = self.offset, 0  # the span is one of the whole text
        self.add(name, *fact[1:], *span)
        self.offset = offset

    @property
    def held(self) -> frozenset[str]:
        """Return the names of the things carried before the action."""
        if self._held is None:
            self._held = frozenset([fact.subject for fact in self.contents(INVENTORY)])
        return self._held


def seen_relation(direction: str) -> str:
    """Return the relation of a place in view, which is not a way until the exit is explored."""
    return f"is seen {way_relation(direction).removeprefix('is ')}"
