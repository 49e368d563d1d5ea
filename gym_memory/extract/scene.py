"""The draft of one text: the place, the things there, and the way taken."""

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

_UNLIKE = {"locked": "unlocked", "unlocked": "locked"}
"""States that exclude each other without filling a slot: an unlocked thing may be closed."""


_SEVERAL = "several places"
"""State of a name that several places share, as in a maze."""
_LISTING = 3
"""Exits named, times sentences, from which a text is taken to name all exits."""
RELATIVE = "is seen"
"""Relation to where something is as seen from the agent, which holds until the agent acts."""
LOOKING = re.compile(r"(?:look (?:at|in|into|through)|examine|inspect|read|x) ", re.IGNORECASE)
_ABOUT = re.compile(rf"{LOOKING.pattern}|(?:ask|beg) .+ for ", re.IGNORECASE)
"""Words of an action before what it is about."""
_TRAVEL = re.compile(
    r"(?:(?:go|walk|run|head|travel|ride|sail|drive|fly|enter)\b|move(?= to\b))"
    r"(?: (?:to|into|in))? ?(?P<to>.*)"
    r"|(?:exit|leave)$",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def _intent(action: str) -> tuple[str | None, bool, bool]:
    """Return the direction of an action, whether it moves, and whether it looks at something."""
    direction = direction_in(action)
    moves = direction is not None or _TRAVEL.match(action) is not None
    return direction, moves, LOOKING.match(action) is not None


class Scene(Draft):
    """The extraction of a text; nothing in it relates to itself."""

    def __init__(self, action: str, graph: TemporalGraph, text: str = "", inventory: str = ""):
        super().__init__(graph)
        self.action = action
        self._text, self._inventory = text, inventory
        self.direction, self.is_move, self.is_look = _intent(action)
        self.arrived = False
        self.sentences = 0
        self.is_listed = False
        """True if the text lists what is here."""
        self.event = action_event(action)
        """The action's effect on a thing; None for another action."""
        self._topic = ""
        self._has_second = False
        self._lower: str | None = None
        self._handled: str | None = None
        self._held: frozenset[str] | None = None
        if action:
            self.outdate(None, RELATIVE, None)

    @property
    def text(self) -> str:
        """Return the text in lower case, to see which names it uses."""
        if self._lower is None:
            self._lower = self._text.lower()
        return self._lower

    @property
    def handled(self) -> str:
        """Return the thing that the action is about; empty for none."""
        if self._handled is None:
            self._handled = self._find_handled()
        return self._handled

    def _find_handled(self) -> str:
        event = self.event
        if event is None or not event.thing.text or self.direction is not None:
            return ""
        if event.thing.is_pronoun:
            return ""
        carried = True if "drop" in event.kinds else False if "take" in event.kinds else None
        return meant(self, clean_name(event.thing.text), carried=carried)

    @property
    def aim(self) -> str:
        """Return the thing that the action is about, looks at or asks for; empty for none."""
        looked = None if self.handled else _ABOUT.match(self.action)
        return meant(self, clean_name(self.action[looked.end() :])) if looked else self.handled

    def is_handled(self, name: str) -> bool:
        """True if an unknown name is short for what the action is about: *door, trapdoor*."""
        handled = self.handled
        if name == handled or self.graph.knows(name):
            return False
        words = name.split()
        known = head_noun(name) == head_noun(handled) and self.graph.knows(handled)
        return (known and set(words) < set(handled.split())) or (
            " " not in handled and len(words) == 1 and handled.endswith(name)
        )

    def thing_called(self, name: str, *, carried: bool | None = None) -> str:
        """Return the thing that a name means: the action's, if the name is short for it."""
        return self.handled if self.is_handled(name) else meant(self, name, carried=carried)

    @property
    def topic(self) -> str:
        """Return what *it* means: the thing named last, or what the action is about."""
        return self._topic or self.aim

    @topic.setter
    def topic(self, name: str) -> None:
        self._topic = name

    @property
    def person(self) -> str:
        """Return what *he* or *she* means: the person named last, or whom the action is about."""
        gives = self.event is not None and "give" in self.event.kinds
        receiver = clean_name(self.event.holder.text) if self.event is not None and gives else ""
        return next(filter(names_person, (self._topic, self.handled)), meant(self, receiver))

    def note(self, mention: Mention) -> None:
        """See :class:`Draft`."""
        subject, relation, obj = mention.triple
        if subject == obj:
            return
        if relation == "is" and obj in _UNLIKE:
            self.outdate(subject, relation, _UNLIKE[obj])
        on = Triple(subject, "is", "on")
        if obj == "lit" and relation == "is" and (on in self.graph or on in self.mentions):
            return  # a lamp that is on
        super().note(Mention(mention.triple, *NOWHERE) if self.offset < 0 else mention)

    def arrive(self, place: str, start: int, end: int) -> None:
        """Put the agent into a place, by the way that was taken."""
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
        """Note that several places share a name, if a move leads from one to the next.

        Where exits are known, a move that leads nowhere is more likely.
        """
        if not self._exits_of(place):
            self.add(place, "is", _SEVERAL)
            for fact in (*self.graph.outgoing(place), *self.graph.incoming(place)):
                if fact.relation == EXIT or (direction_of(fact.relation) and fact.object == place):
                    self.outdate(*fact)

    def _is_several(self, place: str) -> bool:
        return Triple(place, "is", _SEVERAL) in self.graph

    def _exits_of(self, place: str) -> set[str]:
        known = {f.object for f in self.graph.outgoing(place) if f.relation == EXIT}
        return known | {f.object for f in self.mentions if f[:2] == (place, EXIT)}

    @property
    def destination(self) -> str:
        """Return the place to which the action goes, if it names one."""
        found = None if self.direction else _TRAVEL.match(self.action)
        name = place_name(found["to"] or "") if found is not None else ""
        return name if is_name(name) else ""

    def _named_exit(self) -> str:
        found = _TRAVEL.match(self.action)
        name = clean_name(found["to"] or "") if found is not None else ""
        return name if name and Triple(self.left, EXIT, name) in self.graph else ""

    def link_back(self) -> None:
        """Add the way back of a move to a place whose exits allow it; others often bend."""
        left, room = self.left, self.room
        if not (self.arrived and self.direction and left and left != room):
            return
        exits = self._exits_of(room)
        back = OPPOSITE[self.direction]
        if not exits or (
            back not in exits and len(exits) * (self.sentences or _LISTING) >= _LISTING
        ):
            return  # the way back bends
        way = Triple(left, way_relation(back), room)
        known = self.graph.value(room, back)
        denied = known not in (None, way) or (known is None and self.graph.fact(way) is not None)
        if not (denied or self._is_several(left) or self._is_several(room)):
            self.add(*way)

    def lose_place(self) -> None:
        """Leave the place unknown."""
        self.room = ""
        self.outdate(PLAYER, "is in", None)

    def lose_way(self, way: str) -> None:
        """End an exit that leads nowhere, and the way that it was taken for."""
        self.outdate(self.room, EXIT, way)
        self.outdate(None, way_relation(way), self.room)

    def has_exit(self, way: str, start: int, end: int, *, of: str = "") -> None:
        """Add an exit of the place, or of another one."""
        if of or self.room:
            self.add(of or self.room, EXIT, way, start, end)

    def see_behind(self, way: str, place: str, start: int, end: int, *, of: str = "") -> None:
        """Add things in view along a way that was not taken yet."""
        room = of or self.room
        if room and is_name(place) and self.graph.value(room, way) is None:
            self.add(place, seen_relation(way), room, start, end)

    def put(self, phrase: Phrase, *, moved: bool = False) -> None:
        """Add a thing here; if the place is unknown, that it is seen.

        A thing with the name of one in hand is another one, unless it was ``moved``.
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
        self.describe(phrase)
        if not self.room and all(fact.subject != phrase.name for fact in self.mentions):
            self.place(phrase, RELATIVE, "here")

    def carry(self, phrase: Phrase) -> str:
        """Add a thing in hand, and return its name.

        A thing of that name which the text shows here is another one.
        """
        name = phrase.name
        if name not in self.held:
            name = meant(self, name, anywhere=True)
        here = self.moved.get(name)
        if here is not None and here.object == self.room != "" and here in self.mentions:
            self._rename(here, another(name))
        if name != phrase.name:
            phrase = phrase._replace(name=name)
        self.place(phrase, "is in", INVENTORY)
        if phrase.states:
            self.describe(phrase)
        return name

    def _is_in_hand(self, name: str) -> bool:
        """True if a thing is carried after the action, as far as the step says."""
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
        """See :class:`Draft`; a fact that the text stated before ends, too."""
        self.outdated[Pattern(subject, relation, obj)] = None
        if subject is not None and relation is not None and obj is not None:
            self.mentions.pop(Triple(subject, relation, obj), None)

    def keep_only(self, holder: str, names: Collection[str], *, by: str = "text") -> None:
        """See :class:`Draft`; what is in hand no more is what the text shows here."""
        super().keep_only(holder, names, by=by)
        for name in self.held if holder == INVENTORY and self._has_second else ():
            second = another(name)
            shown = self.moved.get(second)
            if name not in names and shown is not None and not self.graph.knows(second):
                self._rename(shown, name)

    def _rename(self, fact: Triple, name: str) -> None:
        """Say a fact of this text of a thing of another name, with the same evidence."""
        span = self.mentions.pop(fact)[1:]
        offset, self.offset = self.offset, 0  # the span is one of the whole text
        super().add(name, *fact[1:], *span)
        self.offset = offset

    @property
    def held(self) -> frozenset[str]:
        """Return the names of what was carried before the action."""
        if self._held is None:
            self._held = frozenset(fact.subject for fact in self.contents(INVENTORY))
        return self._held


def seen_relation(direction: str) -> str:
    """Return the relation to a place in view; it is no way yet, for its exit is unexplored."""
    return f"is seen {way_relation(direction).removeprefix('is ')}"
