"""Extraction rules for TextWorld: the text of a step to facts.

A feedback has up to two parts: an answer to the command (:mod:`.textworld_results`; or something
to read, :mod:`.textworld_reading`) and the description of a room under its banner
(:mod:`.textworld_rooms`). This module puts them together with what the graph knows already:

* moving: going east from the kitchen into the hall makes ``hall is east of kitchen``, and the
  way back, for TextWorld's ways lead both ways;
* complete listings: what a room, an open container, a supporter or the inventory no longer
  lists is no longer there; a holder whose last thing was taken is empty;
* preparing a meal uses up the ingredients that the recipe asks for;
* a key that unlocks something opens it.

The rules are written for the grammars that come with TextWorld, not for particular games.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gym_memory.memory.extract.base import Extraction, Mention, Pattern
from gym_memory.memory.extract.phrases import clean_name, direction_in
from gym_memory.memory.extract.reading import Listing, Reading
from gym_memory.memory.extract.textworld_reading import is_note, read_note, read_recipe, told
from gym_memory.memory.extract.textworld_results import gone, read_inventory, read_results
from gym_memory.memory.extract.textworld_rooms import BANNER, describe
from gym_memory.memory.graph import TemporalGraph
from gym_memory.memory.schema import INVENTORY, LOCATIONS, OPPOSITE, PLAYER, way_relation
from gym_memory.types import Step, Task, Triple

__all__ = ["TextWorldRules"]

_LONGEST = 100_000
_LOOK_AT = re.compile(r"(?:read|examine|x|look at|search|look in) (?P<name>.+)", re.IGNORECASE)
_KEY = re.compile(r"(?:un)?lock (?P<lock>.+) (?:with|using) (?P<key>.+)", re.IGNORECASE)
_PRONOUNS = frozenset(("it", "them", "me", "myself", "all", "everything"))
_PREPARED = "Adding the meal to your inventory"


class TextWorldRules:
    r"""The extraction role for TextWorld, by rules.

    >>> from gym_memory.memory.graph import TemporalGraph
    >>> step = Step(0, "-= Pantry =-\nYou see a shelf. On the shelf you can see a raw egg.")
    >>> said = TextWorldRules().extract(step, TemporalGraph(), Task("t", "cook"))
    >>> for mention in said.mentions:
    ...     print(mention.triple)
    you, is in, pantry
    shelf, is in, pantry
    egg, is on, shelf
    egg, is, raw
    """

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Facts of one step; see :class:`~gym_memory.memory.extract.base.Extractor`."""
        text = step.text[:_LONGEST]
        draft = _Draft(graph)
        banner = BANNER.search(text)
        answer = text if banner is None else text[: banner.start()]
        if step.action:
            self._answer(step.action, answer, draft)
        else:
            draft.tell(told(text))
        if banner is not None:
            draft.enter(clean_name(banner["room"]), banner.span("room"), step.action)
            room = describe(text[banner.end() :], draft.room)
            draft.take(draft.with_full_names(room, step.valid_actions), banner.end())
        if _PREPARED in answer:
            draft.use_up()
        if step.inventory and not step.done:  # a game that is over no longer lists it
            draft.take(read_inventory(step.inventory))
        return draft.extraction()

    def _answer(self, action: str, answer: str, draft: _Draft) -> None:
        """What the answer to a command says."""
        action = " ".join(action.split())
        looked = _LOOK_AT.fullmatch(action)
        thing = draft.meant(clean_name(looked["name"])) if looked else ""
        if looked is not None:
            recipe = read_recipe(answer)
            if recipe:
                draft.add(recipe)
                return
            if thing and is_note(thing, answer):
                draft.tell(read_note(thing, answer, draft.known))
                return
        draft.unlocking = answer.startswith("You unlock ")
        draft.take(read_results(answer, draft.room, thing))
        turned = _KEY.fullmatch(action)
        if turned is not None and answer.startswith(("You lock ", "You unlock ")):
            key, lock = (draft.meant(clean_name(turned[part])) for part in ("key", "lock"))
            if key and lock:
                draft.add((Mention(Triple(key, "opens", lock)),))
        if action.lower() == "goal":
            draft.tell(told(answer))


class _Draft:
    """The extraction of one step while it grows; knows the graph before the step."""

    def __init__(self, graph: TemporalGraph) -> None:
        self._graph = graph
        here = graph.value(PLAYER, "location")
        self.room = here.object if here else ""
        self.unlocking = False
        self._mentions: dict[Triple, Mention] = {}
        self._outdated: dict[Pattern, None] = {}
        self._moved: dict[str, Triple] = {}  # things whose place this step states

    def known(self, name: str) -> bool:
        """Whether the graph holds a live fact about a thing or a place."""
        return name != PLAYER and bool(self._graph.outgoing(name))

    def meant(self, name: str) -> str:
        """The thing at hand that a command calls ``name``; empty if it may be one of several.

        A player may say ``examine potato`` of the purple potato.
        """
        if name in _PRONOUNS:
            return ""
        if not name or self.known(name):
            return name
        words = set(name.split())
        at_hand = dict.fromkeys(
            fact.subject if fact.relation in LOCATIONS else fact.object
            for place in (self.room, INVENTORY)
            for fact in self._graph.incident(place)
        )
        inside = (fact.subject for thing in at_hand for fact in self._graph.incoming(thing))
        found = {thing for thing in (*at_hand, *inside) if words <= set(thing.split())}
        if not found:
            return name
        return found.pop() if len(found) == 1 else ""

    def with_full_names(self, room: Reading, valid_actions: tuple[str, ...]) -> Reading:
        """The description of a room with its furniture called as commands call it.

        Where names have adjectives, the grammar also writes *chest* of a rusty chest; which one
        is meant shows in the valid actions.
        """
        names: dict[str, str] = {}
        visible: set[str] | None = None
        told = {mention.triple.subject for mention in room.mentions}
        for (subject, _, place), _, _ in room.mentions:
            if place != self.room:
                continue
            before = self._graph.value(subject, "location")
            if before is not None and before.object == place:
                continue
            if visible is None:
                visible = {clean_name(a[8:]) for a in valid_actions if a.startswith("examine ")}
            longer = [n for n in visible if n.endswith(f" {subject}") and n not in told]
            if subject not in visible and len(longer) == 1:
                names[subject] = longer[0]
        if not names:
            return room
        called = names.get
        return room._replace(
            mentions=tuple(
                m._replace(triple=Triple(called(s, s), r, called(o, o)))
                for m in room.mentions
                for s, r, o in (m.triple,)
            ),
            listings=tuple(
                Listing(called(holder, holder), tuple(called(n, n) for n in inside))
                for holder, inside in room.listings
            ),
        )

    def add(self, mentions: Iterable[Mention], offset: int = 0) -> None:
        """Add facts; ``offset`` is where the text that their spans point into begins."""
        for mention in mentions:
            triple, start, end = mention
            if triple[2] == "closed" and not self.unlocking and self._is_locked(triple[0]):
                continue  # a text that shows a locked thing may call it closed
            if triple[2] == "empty" and self._is_door(triple[0]):
                continue  # `You open the gate.` reveals nothing either
            if triple[1] in LOCATIONS:
                self._moved[triple[0]] = triple
            if triple not in self._mentions:
                shifted = offset and start >= 0
                self._mentions[triple] = (
                    Mention(triple, start + offset, end + offset) if shifted else mention
                )

    def _is_locked(self, name: str) -> bool:
        state = self._graph.value(name, "openness")
        return state is not None and state.object == "locked"

    def _is_door(self, name: str) -> bool:
        return any(fact.relation.endswith(" door") for fact in self._graph.incoming(name))

    def take(self, reading: Reading, offset: int = 0) -> None:
        """Add what a text says."""
        self.add(reading.mentions, offset)
        self._outdated.update(dict.fromkeys(reading.outdated))
        for listing in reading.listings:
            self._only(listing)

    def _only(self, listing: Listing) -> None:
        """Retire what a complete listing leaves out."""
        holder, names = listing
        for triple in self._graph.incoming(holder):
            subject, relation, _ = triple
            if relation in LOCATIONS and subject not in names and subject != PLAYER:
                self._outdated[Pattern(*triple)] = None

    def tell(self, mentions: Iterable[Mention]) -> None:
        """Add what a text tells; it does not overrule where a thing was seen."""
        for mention in mentions:
            subject, relation, _ = mention.triple
            if relation not in LOCATIONS or self._graph.value(subject, "location") is None:
                self.add((mention,))

    def enter(self, room: str, span: tuple[int, int], action: str) -> None:
        """The player is in ``room``; after a move this tells a way between two rooms."""
        left, self.room = self.room, room
        self.add((Mention(Triple(PLAYER, "is in", room), *span),))
        direction = direction_in(action) or self._through_door(left, action)
        if direction is not None and left and left != room:
            back = OPPOSITE[direction]
            self.add(
                (
                    Mention(Triple(room, way_relation(direction), left), *span),
                    Mention(Triple(left, way_relation(back), room), *span),
                )
            )

    def _through_door(self, room: str, action: str) -> str | None:
        """The direction of a move that names a door: ``enter the screen door``."""
        action = action.lower()
        for fact in self._graph.outgoing(room) if room and action != "look" else ():
            if fact.relation.endswith(" door") and fact.object in action:
                return fact.relation.split()[1]
        return None

    def use_up(self) -> None:
        """The ingredients of the recipe have gone into the meal."""
        for fact in self._graph.outgoing("recipe"):
            if fact.relation == "requires":
                self._outdated.update(dict.fromkeys(gone(fact.object)))
                self.add((Mention(Triple(fact.object, "is", "consumed")),))

    def extraction(self) -> Extraction:
        """All facts, with what follows for the holders that things left and came to."""
        self._empty_holders()
        return Extraction(tuple(self._mentions.values()), tuple(self._outdated))

    def _empty_holders(self) -> None:
        value = self._graph.value
        for holder in dict.fromkeys(fact.object for fact in self._moved.values()):
            empty = Triple(holder, "is", "empty")
            if empty in self._graph and empty not in self._mentions:
                self._outdated[Pattern(*empty)] = None
        left: dict[str, None] = {}
        for name, now in self._moved.items():
            before = value(name, "location")
            if before is not None and before.object != now.object:
                left[before.object] = None
        for holder in left:
            if value(holder, "location") is None:  # a room, the inventory
                continue
            rest = (f.subject for f in self._graph.incoming(holder) if f.relation in LOCATIONS)
            if all(name in self._moved and self._moved[name].object != holder for name in rest):
                self.add((Mention(Triple(holder, "is", "empty")),))
