"""Temporal knowledge graph: facts with the steps at which they were true, and their sources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Self

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.files import typed
from gym_memory.core.optional import require
from gym_memory.core.records import Triple
from gym_memory.core.settings import check_text
from gym_memory.graph.facts import Event, Fact, Source, VersionedFacts
from gym_memory.graph.schema import LOCATIONS, PLAYER, VERBATIM, Slot, clean_name, slot_of

if TYPE_CHECKING:
    import networkx

__all__ = ["REWIND", "Direction", "TemporalGraph", "rewind"]

Direction = Literal["both", "out", "in"]
"""Facts to follow from an entity: those about it (out) or those with it as their object (in)."""
REWIND = "rewind"
"""Reason for the end of facts when an episode ends."""


class TemporalGraph(VersionedFacts):
    """A graph of facts that hold in intervals ``[from, to)`` of environment steps.

    No fact is ever deleted; a new one retires the fact in its slot (:func:`schema.slot_of`).
    Entities are equal by normalised name or by alias. Answers come in the order in which the facts
    began.

    >>> graph = TemporalGraph()
    >>> _ = graph.add(Triple("apple", "is in", "fridge"), t=0, episode=0)
    >>> _ = graph.add(Triple("The Apple", "is in", "inventory"), t=3, episode=3)
    >>> graph.as_of(2)
    [Triple(subject='apple', relation='is in', object='fridge')]
    """

    @classmethod
    def of(cls, triples: Iterable[Triple]) -> Self:
        """Return a graph of facts that hold from step 0 on; if some share a slot, only the last."""
        graph = cls()
        filed = list(map(_filed, triples))
        if not graph._begin_all(filed):
            for triple, _ in filed:
                graph.add(triple, 0)
        return graph

    def normalize(self, name: str) -> str:
        """Return the graph's name of an entity: lower case, no article, no alias."""
        if name in self._out:
            return name  # subjects of live facts have their final names
        name = clean_name(name)
        while name in self._aliases:
            name = self._aliases[name]
        return name

    def alias(self, name: str, canonical: str) -> None:
        """Declare that two names mean one entity, which is called ``canonical`` from now on.

        Its facts continue under that name; if two share a slot, the later one stays.
        """
        old, new = self.normalize(name), self.normalize(canonical)
        if old == new:
            return
        moved = sorted((self._live[triple], triple) for triple in self.incident(old))
        for _, triple in moved:
            self._close(triple, self.now, "alias")
        self._aliases[old] = new
        for opened, triple in moved:
            renamed = self._canonical(triple)
            slot = slot_of(renamed)
            rival = self._slots.get(slot) if slot else None
            if rival in (None, renamed) or self._live[rival] < opened:
                number = self.add(renamed, self.now).id
                for source in self._fact(self._index[triple]).sources:
                    self._mention(number, source)

    def _canonical(self, triple: Triple) -> Triple:
        number = self._index.get(triple)
        if number is not None and not self._aliases:
            return self._triple(number)
        subject, relation, obj = triple
        if self._aliases or not _is_filed(triple):
            relation = _fold_relation(relation)
            subject = self.normalize(subject)
            if relation not in VERBATIM:
                obj = self.normalize(obj)
        if not (subject and relation and obj):
            raise InvalidArgumentError(
                f"expected a triple of three non-empty strings, got {tuple(triple)!r}"
            )
        return Triple(subject, relation, obj)

    # Changes

    def add(
        self,
        triple: Triple,
        t: int,
        *,
        episode: int = -1,
        start: int = -1,
        end: int = -1,
        said_by: str = "",
    ) -> Fact:
        """State that a fact is true from step ``t`` on; O(1).

        Args:
            triple: The fact; a live one gains a source, and the one in its slot is retired.
            t: Environment step, >= that of every earlier change.
            episode: Id of the observation that states it; -1 for none.
            start: First character of the evidence in that observation's text; -1 for none.
            end: One past its last character; -1 for none.
            said_by: Text or speaker that states it; empty if the game does.
        """
        if t != self.now:
            self.tick(t)
        number = self._index.get(triple)
        if number is None or self._aliases:
            triple = self._canonical(triple)
            number = self._index.get(triple)
        fact = None if number is None else self._fact(number)
        if fact is None or fact.retired_by:
            fact = self._open(triple, t)
        if episode >= 0 or said_by:
            fact = self._mention(fact.id, Source(episode, start, end, said_by))
        return fact

    def retire(self, triple: Triple, t: int, by: str = "text") -> bool:
        """State that a fact is not true from step ``t`` on; return True if it was live; O(1)."""
        self.tick(t)
        if not by:
            raise InvalidArgumentError("expected a reason to retire the fact, got an empty `by`")
        triple = self._canonical(triple)
        if triple not in self._live:
            return False
        self._close(triple, t, by)
        return True

    def retire_matching(
        self,
        subject: str | None = None,
        relation: str | None = None,
        object: str | None = None,
        *,
        t: int,
        by: str = "text",
    ) -> list[Fact]:
        """Retire all live facts that match; None matches anything."""
        self.tick(t)
        subject = None if subject is None else self.normalize(subject)
        relation = None if relation is None else _fold_relation(relation)
        if object is not None and relation not in VERBATIM:
            object = self.normalize(object)
        if subject is not None:
            candidates: Iterable[Triple] = self._out.get(subject, ())
        elif object is not None:
            candidates = self._in.get(object, ())
        elif relation is not None:
            candidates = self.related(relation)
        else:
            candidates = self.live()
        matching = [
            triple
            for triple in candidates
            if (relation is None or triple[1] == relation)
            and (object is None or triple[2] == object)
        ]
        for triple in matching:
            self.retire(triple, t, by)
        return [self._fact(self._index[triple]) for triple in matching]

    def tick(self, t: int) -> None:
        """Set the clock to step ``t``, >= ``now``."""
        if t < self.now:
            raise InvalidArgumentError(
                f"expected a step >= {self.now}, the last one, got {t}: "
                "the clock of a graph cannot go back (use restore() to return to a past state)"
            )
        self.now = t

    def mention(self, triple: Triple, source: Source) -> None:
        """Add a source to a fact that is or was true; O(1)."""
        self._mention(self._index[self._canonical(triple)], source)

    # The present

    def __contains__(self, triple: object) -> bool:
        """True if the fact holds now; O(1)."""
        if not isinstance(triple, tuple) or len(triple) != 3:
            return False
        if triple in self._live:
            return True
        fact = triple if isinstance(triple, Triple) else Triple(*triple)
        if not self._aliases and _is_filed(fact):
            return False
        try:
            return self._canonical(fact) in self._live
        except InvalidArgumentError:  # no fact has an empty part
            return False

    def __len__(self) -> int:
        """Count the live facts."""
        return len(self._live)

    def __bool__(self) -> bool:
        """Return True, for an empty graph too."""
        return True

    def fact(self, triple: Triple) -> Fact | None:
        """Return the record of a fact that is or was true; None for another."""
        number = self._index.get(self._canonical(triple))
        return None if number is None else self._fact(number)

    def value(self, entity: str, slot: str) -> Triple | None:
        """Return the live fact in a functional slot, e.g. ``value("apple", "location")``; O(1)."""
        fact = self._slots.get((entity, slot))
        if fact is None and entity not in self._out:
            fact = self._slots.get((self.normalize(entity), slot))
        return fact

    def knows(self, entity: str) -> bool:
        """True if a live fact is about an entity, given in lower case without article; O(1)."""
        return entity in self._out or (bool(self._aliases) and self.normalize(entity) in self._out)

    def uses(self, relation: str) -> bool:
        """True if a live fact has a relation, given in lower case; O(1)."""
        return relation in self._relations()

    def outgoing(self, entity: str) -> tuple[Triple, ...]:
        """Return the live facts about an entity."""
        row = self._out.get(entity)
        return tuple(self._out.get(self.normalize(entity), ()) if row is None else row)

    def incoming(self, entity: str) -> tuple[Triple, ...]:
        """Return the live facts whose object is the entity."""
        row = self._in.get(entity)
        return tuple(self._in.get(self.normalize(entity), ()) if row is None else row)

    def related(self, relation: str) -> tuple[Triple, ...]:
        """Return the live facts with a relation; O(those facts)."""
        row: Iterable[Triple] = self._relations().get(_fold_relation(relation), ())
        return tuple(sorted(row, key=self._live.__getitem__))

    def incident(self, entity: str) -> tuple[Triple, ...]:
        """Return the live facts about an entity, then those with it as their object; each once."""
        return self._around(self.normalize(entity), "both")

    def entities(self) -> Iterator[str]:
        """Iterate over the entities of live facts."""
        names: dict[str, None] = {}
        for subject, relation, obj in self.live():
            names[subject] = None
            if relation not in VERBATIM:
                names[obj] = None
        return iter(names)

    def entities_with(self, words: Collection[str]) -> list[str]:
        """Return the entities of live facts with all these words in their names."""
        for number in range(self._worded, len(self._facts)):
            subject, relation, obj = self._triple(number)
            for name in (subject,) if relation in VERBATIM else (subject, obj):
                for word in name.split():
                    self._by_word.setdefault(word, {})[name] = None
        self._worded = len(self._facts)
        if len(words) == 1:
            named = self._by_word.get(next(iter(words)), {})
            return [name for name in named if name in self._out or name in self._in]
        fewest, *others = sorted((self._by_word.get(word, {}) for word in words), key=len) or ({},)
        return [
            name
            for name in fewest
            if (name in self._out or name in self._in) and all(name in row for row in others)
        ]

    # The past

    @property
    def events(self) -> Sequence[Event]:
        """Return all changes in order, read-only; a restore may replace the last ones."""
        return self._timeline.events

    def mentions(self) -> list[tuple[int, Source]]:
        """List all statements in order, as a fact's id and a source; O(statements)."""
        return list(zip(self._mentioned, self._sources, strict=True))

    def as_of(self, t: int) -> list[Triple]:
        """Return ``list(live())`` as of the end of step ``t``, at most that of ``now``."""
        return list(self.live()) if t >= self.now else self._timeline.as_of(t)

    def diff(self, a: int, b: int) -> tuple[list[Triple], list[Triple]]:
        """Return the facts true at the end of step ``b`` but not of ``a``, and the reverse."""
        return self._timeline.diff(a, b)

    def said_by(self, triple: Triple) -> tuple[str, ...]:
        """Return the sources of a fact, each once; empty if the game itself reported it."""
        fact = self.fact(triple)
        names = dict.fromkeys(s.said_by for s in fact.sources) if fact else {}
        return () if "" in names else tuple(names)

    def was_seen_otherwise(self, triple: Triple) -> bool:
        """True if a live fact that the game itself reported excludes this one."""
        slot = slot_of(self._canonical(triple))
        rival = self._slots.get(slot) if slot else None
        return rival not in (None, triple) and not self.said_by(rival)

    # Search

    def _around(self, entity: str, direction: Direction) -> tuple[Triple, ...]:
        out: Iterable[Triple] = self._out.get(entity, ())
        into: Iterable[Triple] = self._in.get(entity, ())
        if direction == "both":
            return (*out, *(triple for triple in into if triple[0] != entity))
        if direction not in ("out", "in"):
            raise InvalidArgumentError(
                f"expected direction 'both', 'out' or 'in', got {direction!r}"
            )
        return tuple(out if direction == "out" else into)

    def neighbours(self, entity: str, direction: Direction = "both") -> tuple[str, ...]:
        """Return the other entities of the live facts with ``entity``, each once."""
        entity = self.normalize(entity)
        names: dict[str, None] = {}
        for subject, relation, obj in self._around(entity, direction):
            if subject != entity:
                names[subject] = None
            elif obj != entity and relation not in VERBATIM:
                names[obj] = None
        return tuple(names)

    def k_hop(self, seeds: Iterable[str], k: int, direction: Direction = "both") -> list[Triple]:
        """Return the live facts at most ``k - 1`` facts away from a seed, breadth first."""
        frontier = dict.fromkeys(self.normalize(seed) for seed in seeds)
        seen = dict(frontier)
        found: dict[Triple, None] = {}
        for _ in range(k):
            reached: dict[str, None] = {}
            for entity in frontier:
                for triple in self._around(entity, direction):
                    found[triple] = None
                    other = triple[2] if triple[0] == entity else triple[0]
                    if other not in seen:
                        seen[other] = reached[other] = None
            frontier = reached
        return list(found)

    # Export

    def state(self) -> dict[str, Any]:
        """Return the graph with its history as JSON values; equal histories give equal JSON."""
        return {
            "now": self.now,
            "aliases": [list(pair) for pair in self._aliases.items()],
            "facts": [list(fact.triple) for fact in self.facts()],
            "events": [[t, self._index[f], by] for t, f, by, *_ in self._timeline.events],
            "mentions": [
                [number, *(source if source.said_by else source[:3])]
                for number, source in self.mentions()
            ],
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace this graph by one that :meth:`state` wrote; raises StoreError.

        Older snapshots become invalid.
        """
        fresh = TemporalGraph()
        try:
            facts = [typed(Triple, triple) for triple in state["facts"]]
            for t, number, by in state["events"]:
                fresh.tick(t)
                if check_text("the reason of an event", by):
                    fresh.retire(facts[number], t, by)
                else:
                    fresh.add(facts[number], t)
            for number, *source in state["mentions"]:
                fresh._mention(number, typed(Source, source))
            for old, new in state["aliases"]:
                fresh.alias(old, new)
            fresh.tick(state["now"])
        except (LookupError, TypeError, ValueError) as error:
            raise StoreError(f"expected a state of a temporal graph, got {error!r}") from error
        vars(self).update(vars(fresh))

    __getstate__ = state
    __setstate__ = load_state

    def to_networkx(self) -> networkx.MultiDiGraph:
        """Return the live facts as edges with the attributes ``relation`` and ``since``, a step."""
        exported = require("networkx", "dev", "exporting a graph to networkx").MultiDiGraph()
        for triple in self.live():
            subject, relation, obj = triple
            since = self._fact(self._index[triple]).intervals[-1][0]
            exported.add_edge(subject, obj, key=relation, relation=relation, since=since)
        return exported


def rewind(graph: TemporalGraph, t: int) -> None:
    """Return things to their place and state at first sight, for a new trial from ``t`` on.

    States without a slot stay only if they belong to a first sight. The place of the agent becomes
    unknown; the map and what was read stay. O(all changes).
    """
    began: dict[Triple, int] = {}
    sight: dict[str, int] = {}
    for step, triple, _, *_ in graph.events:
        began.setdefault(triple, step)
        sight.setdefault(triple.subject, step)
    initial: dict[Slot, Triple] = {}
    changed: list[Triple] = []
    for triple, step in began.items():
        slot = slot_of(triple)
        if triple.subject == PLAYER:
            changed.append(triple)
        elif triple.relation == "is" or triple.relation in LOCATIONS:
            first_seen = step == sight[triple.subject]
            if not (first_seen if slot is None else initial.setdefault(slot, triple) == triple):
                changed.append(triple)
    for triple in changed:
        graph.retire(triple, t, by=REWIND)
    for triple in initial.values():
        graph.add(triple, t)


@lru_cache(maxsize=1 << 14)
def _filed(triple: Triple) -> tuple[Triple, Slot | None]:
    """Return a fact under final names, and its slot."""
    subject, relation, obj = triple
    relation = _fold_relation(relation)
    named = Triple(clean_name(subject), relation, obj if relation in VERBATIM else clean_name(obj))
    return named, slot_of(named)


def _is_filed(triple: Triple) -> bool:
    """True if a fact already has final names in a graph without aliases."""
    return _filed(triple)[0] == triple


@lru_cache(maxsize=1 << 10)
def _fold_relation(relation: str) -> str:
    return " ".join(relation.lower().split())
