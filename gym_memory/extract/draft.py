"""The growing extraction of one step, beside the graph as it was before the step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from gym_memory.core.records import Triple
from gym_memory.extract.base import Extraction, Mention, Pattern
from gym_memory.extract.notes.words import Phrase, kind_in
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import LOCATIONS, OPPOSITE, PLAYER, way_relation

__all__ = ["NOWHERE", "Draft"]

NOWHERE = (-1, -1)
"""Evidence of a fact that no characters of the text state."""


class Draft:
    """Collect what one step states and ends; the rules of a game are functions over it.

    Args:
        graph: The facts before the step; only read.
        latest: True if a fact that is stated again counts as stated last: of two places of a
            thing the one named last holds.
    """

    def __init__(self, graph: TemporalGraph, *, latest: bool = False) -> None:
        self.graph = graph
        self.mentions: dict[Triple, Mention] = {}
        self.outdated: dict[Pattern, None] = {}
        self.said: dict[Triple, str] = {}
        self.moved: dict[str, Triple] = {}
        """Thing to the place that this step states."""
        self.offset = 0
        """Where the part of the text begins into which spans point."""
        self._latest = latest
        here = graph.value(PLAYER, "location")
        self.left = self.room = here.object if here else ""
        """Where the agent was before the step, and where it is now."""

    def extraction(self) -> Extraction:
        """Return all that the step stated and ended."""
        return Extraction(tuple(self.mentions.values()), tuple(self.outdated), self.said)

    # Stating

    def add(self, subject: str, relation: str, obj: str, start: int = -1, end: int = -1) -> None:
        """Add a fact with its evidence; none about a thing without a name."""
        if not subject or not obj:
            return
        triple = Triple(subject, relation, obj)
        if relation in LOCATIONS:
            self.moved[subject] = triple
        mentions = self.mentions
        self.said.pop(triple, None)
        if triple not in mentions:
            if self.offset and start >= 0:
                start, end = start + self.offset, end + self.offset
            mentions[triple] = Mention(triple, start, end)
        elif self._latest:
            mentions[triple] = mentions.pop(triple)

    def place(self, thing: Phrase, relation: str, place: str) -> None:
        """Add where a thing is."""
        self.add(thing.name, relation, place, thing.start, thing.end)

    def describe(self, thing: Phrase) -> None:
        """Add the states that stand beside the name of a thing."""
        for state in thing.states:
            self.add(thing.name, "is", state, thing.start, thing.end)

    def enter(self, room: str, span: tuple[int, int], direction: str | None = None) -> None:
        """Put the agent into ``room``; a move in a direction makes a way there and back."""
        self.room = room
        self.add(PLAYER, "is in", room, *span)
        if direction is not None and self.left and self.left != room:
            self.add(room, way_relation(direction), self.left, *span)
            self.add(self.left, way_relation(OPPOSITE[direction]), room, *span)

    def add_reported(self, mentions: Iterable[Mention], said_by: str = "") -> None:
        """Add what a note or a goal says; it does not overrule where a thing was seen."""
        for triple, start, end in mentions:
            known = triple in self.mentions and triple not in self.said
            if triple[1] not in LOCATIONS or self.graph.value(triple[0], "location") is None:
                self.add(*triple, start, end)
                if said_by and not known:
                    self.said[triple] = said_by

    # Ending

    def outdate(
        self, subject: str | None = None, relation: str | None = None, obj: str | None = None
    ) -> None:
        """End the facts that match; None matches anything."""
        self.outdated[Pattern(subject, relation, obj)] = None

    def keep_only(self, holder: str, names: Collection[str]) -> None:
        """End what the complete contents of a holder leave out."""
        for fact in self.contents(holder):
            if fact.subject not in names:
                self.outdate(*fact)

    # Knowing

    def contents(self, holder: str) -> Iterator[Triple]:
        """Yield the facts that put things, not the agent, in or on a holder before the step."""
        for fact in self.graph.incoming(holder):
            if fact.relation in LOCATIONS and fact.subject != PLAYER:
                yield fact

    def full_name(self, name: str) -> str:
        """Return the known thing that a short name means, if there is just one."""
        meant = self.graph.entities_with(name.split())
        return meant[0] if len(meant) == 1 else name

    def kind_of(self, name: str) -> str | None:
        """Return what is known of a name, see :func:`kind_in`; None for an unknown one."""
        return kind_in(self.graph, name, self.room)
