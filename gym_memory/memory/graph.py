"""The temporal knowledge graph: facts with the steps at which they were true and their sources.

The clock is the environment step. A fact is true in one or more disjoint intervals
``[from, to)``; it is retired, never deleted. Adding a fact to a slot (:func:`schema.slot_of`)
that another fact fills retires that one fact in O(1). Entities are the same when their
normalised names are, or when an alias says so; similar names are never merged.

Cost, with n facts ever held and d live facts around an entity: adding, retiring and asking for
the value of a slot are O(1); facts around an entity O(d); ``as_of`` O(log n + answer) once its
checkpoints are laid; ``snapshot`` and ``restore`` O(changes); ``fork`` copies the tables at the
speed of ``dict.copy`` (tens of nanoseconds a fact) and the facts themselves only when one of the
two graphs changes them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from gym_memory.errors import InvalidArgumentError, StoreError
from gym_memory.memory.schema import DIRECTIONS, VERBATIM, Slot, slot_of
from gym_memory.memory.timeline import Event, Timeline
from gym_memory.types import Triple

__all__ = ["Direction", "Fact", "Snapshot", "Source", "TemporalGraph"]

Direction = Literal["both", "out", "in"]
"""Which facts of an entity to follow: as their subject (out), as their object (in)."""

_ARTICLES = frozenset({"a", "an", "the", "some"})


class Source(NamedTuple):
    """Where a fact was stated: observation id and characters ``[start, end)`` of its text.

    ``start`` and ``end`` are -1 where the fact was not read from the text (the action, the
    inventory).
    """

    episode: int
    start: int = -1
    end: int = -1


class Fact:
    """A triple, when it was true, and why it is believed. To be read, not written.

    Attributes:
        id: Number of the fact, in the order in which facts were first added.
        triple: The fact.
        intervals: Disjoint ``(from, to)`` in ascending order, true in ``from <= t < to``; ``to``
            is None while the fact is live. Empty for a fact that was retired in the very step
            in which it was added.
        sources: Observations that stated it, in order.
        retired_by: Who retired it (``schema``, ``text``, ``llm``, ...); empty while it is live.
    """

    __slots__ = ("_owner", "_slot", "id", "intervals", "retired_by", "sources", "triple")

    def __init__(self, id: int, triple: Triple, slot: Slot | None, owner: object):
        self.id = id
        self.triple = triple
        self.intervals: list[tuple[int, int | None]] = []
        self.sources: list[Source] = []
        self.retired_by = ""
        self._slot = slot
        self._owner = owner

    def __repr__(self) -> str:
        return f"Fact({self.id}, {str(self.triple)!r}, {self.intervals})"

    def _copy(self, owner: object) -> Fact:
        twin = Fact(self.id, self.triple, self._slot, owner)
        twin.intervals = self.intervals.copy()
        twin.sources = self.sources.copy()
        twin.retired_by = self.retired_by
        return twin


class _Row(dict[Triple, int]):
    """Live facts around one entity, each with the position of the event that began it."""

    __slots__ = ("owner",)

    owner: object


class Snapshot:
    """A state of a graph, as the changes since an earlier one. Opaque, and never changes."""

    __slots__ = ("_changes", "_depth", "_now", "_parent")

    def __init__(self, parent: Snapshot | None, changes: _Changes, now: int):
        self._parent = parent
        self._changes = changes
        self._now = now
        self._depth: int = 0 if parent is None else parent._depth + 1


class _Changes(NamedTuple):
    """Consecutive changes; the three kinds touch different things and need no common order."""

    events: tuple[tuple[int, Triple, str], ...] = ()
    mentions: tuple[tuple[Triple, Source], ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()


class TemporalGraph:
    """A knowledge graph with a clock. Names are normalised wherever they come in.

    All answers come in the order in which the facts began, the same in every process.

    >>> graph = TemporalGraph()
    >>> _ = graph.add(Triple("apple", "is in", "fridge"), t=0, episode=0)
    >>> _ = graph.add(Triple("The Apple", "is in", "inventory"), t=3, episode=3)
    >>> graph.value("apple", "location").object
    'inventory'
    >>> graph.as_of(2)
    [Triple(subject='apple', relation='is in', object='fridge')]
    """

    def __init__(self) -> None:
        self.now = 0
        """The last step that the graph was told of."""
        self._facts: list[Fact] = []
        self._index: dict[Triple, int] = {}
        self._live: dict[Triple, int] = {}
        self._live_in_order = True
        self._out: dict[str, _Row] = {}
        self._in: dict[str, _Row] = {}
        self._slots: dict[Slot, Triple] = {}
        self._aliases: dict[str, str] = {}
        self._by_episode: dict[int, tuple[int, ...]] = {}
        self._timeline = Timeline()
        self._mentions: list[tuple[Triple, Source]] = []
        self._owner = object()  # facts and rows that carry it are ours alone, see fork()
        self._version = Snapshot(None, _Changes(), 0)
        self._saved = (0, 0, 0)  # events, mentions, aliases that self._version covers

    # Names

    def normalize(self, name: str) -> str:
        """The name under which the graph knows an entity: lower case, no article, no alias."""
        name = _fold(name)
        while name in self._aliases:
            name = self._aliases[name]
        return name

    def alias(self, name: str, canonical: str) -> None:
        """Declare that two names mean one entity, known as ``canonical`` from now on.

        Live facts under ``name`` are retired (by ``alias``) and go on under ``canonical`` with
        their sources. Where both names fill one slot, the fact that began last stays.
        """
        old, new = self.normalize(name), self.normalize(canonical)
        if old == new:
            return
        moved = [(self._live[triple], triple) for triple in self.incident(old)]
        self._aliases[old] = new
        for opened, triple in sorted(moved):
            fact = self._facts[self._index[triple]]
            self._close(triple, self.now, "alias")
            renamed = self._canonical(triple)
            slot = slot_of(renamed)
            rival = self._slots.get(slot) if slot else None
            if rival is None or self._live[rival] < opened:
                self.add(renamed, self.now)
                for source in fact.sources:
                    self._mention(renamed, source)

    def _canonical(self, triple: Triple) -> Triple:
        number = self._index.get(triple)
        if number is not None and not self._aliases:
            return self._facts[number].triple
        subject, relation, obj = triple
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
        self, triple: Triple, t: int, *, episode: int = -1, start: int = -1, end: int = -1
    ) -> Fact:
        """State that a fact is true from step ``t`` on; O(1).

        A live fact stays as it is and gains a source. A retired one opens a new interval; if it
        was retired in this very step, its last interval goes on instead. The fact that filled
        its slot is retired by ``schema``.

        Args:
            triple: The fact.
            t: Environment step, never less than that of an earlier change.
            episode: Id of the observation that states it; -1 for none.
            start: First character of the evidence in that observation's text; -1 for none.
            end: One past its last character; -1 for none.

        Raises:
            InvalidArgumentError: ``t`` lies before ``now``, or a part of the triple is empty.
        """
        self._tick(t)
        number = self._index.get(triple)
        if number is None or self._aliases:
            triple = self._canonical(triple)
            number = self._index.get(triple)
        if triple not in self._live:
            slot = slot_of(triple) if number is None else self._facts[number]._slot
            if slot is not None and slot in self._slots:
                self._close(self._slots[slot], t, "schema")
            self._open(triple, t)
            number = self._index[triple]
        if episode >= 0:
            self._mention(triple, Source(episode, start, end))
        assert number is not None
        return self._facts[number]

    def retire(self, triple: Triple, t: int, by: str = "text") -> bool:
        """State that a fact is no longer true from step ``t`` on; O(1).

        A fact that was added in this very step then holds at no step of its last interval,
        which is dropped.

        Returns:
            Whether the fact was live.

        Raises:
            InvalidArgumentError: ``t`` lies before ``now``, or ``by`` is empty.
        """
        self._tick(t)
        if not by:
            raise InvalidArgumentError("expected who retires the fact, got an empty `by`")
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
        """Retire all live facts that match; None matches anything.

        O(facts of the subject or object), or O(live facts) if neither is given.
        """
        self._tick(t)
        subject = None if subject is None else self.normalize(subject)
        relation = None if relation is None else _fold_relation(relation)
        if object is not None and relation not in VERBATIM:
            object = self.normalize(object)
        if subject is not None:
            candidates: Iterable[Triple] = self._out.get(subject, ())
        elif object is not None:
            candidates = self._in.get(object, ())
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
        return [self._facts[self._index[triple]] for triple in matching]

    def _tick(self, t: int) -> None:
        if t < self.now:
            raise InvalidArgumentError(
                f"expected a step >= {self.now}, the last one told, got {t}: "
                "the clock of a graph cannot go back (use restore() to return to a past state)"
            )
        self.now = t

    def _open(self, triple: Triple, t: int) -> None:
        """Begin an interval; the fact is not live and its slot is free."""
        opened = len(self._timeline.events)
        number = self._index.get(triple)
        same, before = False, ""
        if number is None:
            fact = Fact(len(self._facts), triple, slot_of(triple), self._owner)
            self._index[triple] = fact.id
            self._facts.append(fact)
            fact.intervals.append((t, None))
        else:
            fact = self._own_fact(number)
            before, fact.retired_by = fact.retired_by, ""
            same = bool(fact.intervals) and fact.intervals[-1][1] == t
            if same:
                fact.intervals[-1] = (fact.intervals[-1][0], None)
            else:
                fact.intervals.append((t, None))
        self._timeline.events.append((t, triple, "", same, before, opened))
        self._show(fact, opened)

    def _close(self, triple: Triple, t: int, by: str) -> None:
        """End the open interval of a live fact."""
        fact = self._own_fact(self._index[triple])
        opened = self._hide(fact)
        since = fact.intervals[-1][0]
        if since == t:
            fact.intervals.pop()
        else:
            fact.intervals[-1] = (since, t)
        fact.retired_by = by
        self._timeline.events.append((t, triple, by, since == t, "", opened))

    def _mention(self, triple: Triple, source: Source) -> None:
        fact = self._own_fact(self._index[triple])
        if fact.sources and fact.sources[-1] == source:
            return
        fact.sources.append(source)
        self._mentions.append((triple, source))
        self._by_episode[source.episode] = (*self._by_episode.get(source.episode, ()), fact.id)

    def _show(self, fact: Fact, opened: int) -> None:
        """Put a fact among the live ones."""
        triple = fact.triple
        self._live[triple] = opened
        self._own_row(self._out, triple[0])[triple] = opened
        if triple[1] not in VERBATIM:
            self._own_row(self._in, triple[2])[triple] = opened
        if fact._slot is not None:
            self._slots[fact._slot] = triple

    def _hide(self, fact: Fact) -> int:
        """Take a fact from the live ones; returns the position of the event that began it."""
        triple = fact.triple
        del self._own_row(self._out, triple[0])[triple]
        if triple[1] not in VERBATIM:
            del self._own_row(self._in, triple[2])[triple]
        if fact._slot is not None:
            del self._slots[fact._slot]
        return self._live.pop(triple)

    def _own_fact(self, number: int) -> Fact:
        fact = self._facts[number]
        if fact._owner is not self._owner:
            fact = self._facts[number] = fact._copy(self._owner)
        return fact

    def _own_row(self, table: dict[str, _Row], entity: str) -> _Row:
        row = table.get(entity)
        if row is None or row.owner is not self._owner:
            row = table[entity] = _Row(row or ())
            row.owner = self._owner
        return row

    # The present

    def __contains__(self, triple: object) -> bool:
        """Whether the fact is true now; O(1)."""
        if not isinstance(triple, tuple) or len(triple) != 3:
            return False
        return self._canonical(Triple(*triple)) in self._live

    def __len__(self) -> int:
        """Number of live facts."""
        return len(self._live)

    def __bool__(self) -> bool:
        """A graph is always true, an empty one too."""
        return True

    def live(self) -> Iterator[Triple]:
        """Facts true now, those that began first coming first."""
        if not self._live_in_order:
            _sort(self._live)
            self._live_in_order = True
        return iter(self._live)

    def facts(self) -> Iterator[Fact]:
        """All facts ever held, by id."""
        return iter(self._facts)

    def fact(self, triple: Triple) -> Fact | None:
        """The record of a fact that is or was held."""
        number = self._index.get(self._canonical(triple))
        return None if number is None else self._facts[number]

    def value(self, entity: str, slot: str) -> Triple | None:
        """The live fact in a functional slot, e.g. ``value("apple", "location")``; O(1)."""
        return self._slots.get((self.normalize(entity), slot))

    def outgoing(self, entity: str) -> tuple[Triple, ...]:
        """Live facts about an entity."""
        return tuple(self._out.get(self.normalize(entity), ()))

    def incoming(self, entity: str) -> tuple[Triple, ...]:
        """Live facts whose object is the entity."""
        return tuple(self._in.get(self.normalize(entity), ()))

    def incident(self, entity: str) -> tuple[Triple, ...]:
        """Live facts about an entity, then those whose object it is; each once."""
        return self._around(self.normalize(entity), "both")

    def entities(self) -> Iterator[str]:
        """Entities of live facts."""
        names: dict[str, None] = {}
        for subject, relation, obj in self.live():
            names[subject] = None
            if relation not in VERBATIM:
                names[obj] = None
        return iter(names)

    # The past

    @property
    def events(self) -> Sequence[Event]:
        """All changes in order, to be read, not written: what an index over the graph follows.

        :meth:`restore` takes events away and makes new ones, so as long as the last event that
        an index took in is still the same object at its position, only newer ones are missing.
        """
        return self._timeline.events

    def as_of(self, t: int) -> list[Triple]:
        """Facts true at the end of step ``t``, as ``list(live())`` was then.

        None were true before the first change; after ``now`` the present is taken to last.
        """
        return list(self.live()) if t >= self.now else self._timeline.as_of(t)

    def diff(self, a: int, b: int) -> tuple[list[Triple], list[Triple]]:
        """What came and what went between the ends of steps ``a`` and ``b``.

        O(log n + changes between). ``a`` may be the later step.

        Returns:
            Facts true at ``b`` and not at ``a``, and facts true at ``a`` and not at ``b``.
        """
        return self._timeline.diff(a, b)

    def facts_of_episode(self, episode: int) -> list[Fact]:
        """Facts that an observation stated, in order, each once."""
        return [self._facts[n] for n in dict.fromkeys(self._by_episode.get(episode, ()))]

    def episodes_of(self, triple: Triple) -> tuple[int, ...]:
        """Observations that stated a fact, in order, each once."""
        fact = self.fact(triple)
        return () if fact is None else tuple(dict.fromkeys(s.episode for s in fact.sources))

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
        """Entities that share a live fact with ``entity``, each once, itself excluded."""
        entity = self.normalize(entity)
        names: dict[str, None] = {}
        for subject, relation, obj in self._around(entity, direction):
            if subject != entity:
                names[subject] = None
            elif obj != entity and relation not in VERBATIM:
                names[obj] = None
        return tuple(names)

    def k_hop(self, seeds: Iterable[str], k: int, direction: Direction = "both") -> list[Triple]:
        """Live facts within ``k`` hops of the seeds, breadth first (AriGraph's Algorithm 2).

        Args:
            seeds: Names of entities.
            k: Number of hops; 1 gives the facts incident to the seeds, 0 nothing.
            direction: Which facts to follow.
        """
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

    def shortest_path(self, source: str, target: str) -> list[tuple[str, str]] | None:
        """The shortest known way between two places, over ``B is <direction> of A`` facts.

        O(places). Of equally short ways, the one whose directions come first in
        :data:`schema.DIRECTIONS`.

        Returns:
            ``[(direction, next place), ...]``, empty from a place to itself, None if no way is
            known.
        """
        source, target = self.normalize(source), self.normalize(target)
        came: dict[str, tuple[str, str]] = {source: ("", "")}
        queue = deque([source])
        while queue and target not in came:
            place = queue.popleft()
            for direction in DIRECTIONS:
                way = self._slots.get((place, direction))
                if way is not None and way[0] not in came:
                    came[way[0]] = (direction, place)
                    queue.append(way[0])
        if target not in came:
            return None
        path: list[tuple[str, str]] = []
        while target != source:
            direction, previous = came[target]
            path.append((direction, target))
            target = previous
        return path[::-1]

    # Versions

    def snapshot(self) -> Snapshot:
        """The present state, for :meth:`restore`; O(changes since the last snapshot)."""
        changes = self._unsaved()
        if any(changes) or self.now != self._version._now:
            self._version = Snapshot(self._version, changes, self.now)
            self._saved = self._lengths()
        return self._version

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a state of this graph, or of a graph that it was forked from.

        Any snapshot may be restored at any time and again, those of abandoned branches too.
        O(changes between the two states + facts around the entities that they concern); the
        next ``live()`` may have to sort.

        Raises:
            InvalidArgumentError: The snapshot belongs to an unrelated graph.
        """
        leave: list[_Changes] = []
        enter: list[_Changes] = []
        here: Snapshot | None = self._version
        there: Snapshot | None = snapshot
        while here is not there:
            if here is None or there is None:
                raise InvalidArgumentError(
                    "expected a snapshot of this graph or of one that it was forked from, "
                    "got one of another graph (use state() to carry a graph over)"
                )
            if here._depth >= there._depth:
                leave.append(here._changes)
                here = here._parent
            else:
                enter.append(there._changes)
                there = there._parent
        touched: dict[int, dict[Triple, int]] = {}
        for changes in (self._unsaved(), *leave):
            self._undo(changes, touched)
        for changes in reversed(enter):
            self._redo(changes)
        for row in touched.values():
            _sort(row)
        self._version = snapshot
        self._saved = self._lengths()
        self.now = snapshot._now

    def fork(self) -> TemporalGraph:
        """An independent graph in the same state.

        Copies the tables, O(n) at the speed of ``dict.copy``; facts and rows are shared until
        one of the two graphs changes them. Snapshots taken so far serve both.
        """
        twin = TemporalGraph.__new__(TemporalGraph)
        vars(twin).update(vars(self))
        for name in _TABLES:
            setattr(twin, name, getattr(self, name).copy())
        self._owner, twin._owner = object(), object()
        return twin

    __copy__ = fork

    def __deepcopy__(self, memo: dict[int, Any]) -> TemporalGraph:
        return self.fork()

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_state, (self.state(),)

    def _lengths(self) -> tuple[int, int, int]:
        return len(self._timeline.events), len(self._mentions), len(self._aliases)

    def _unsaved(self) -> _Changes:
        events, mentions, aliases = self._saved
        return _Changes(
            tuple(event[:3] for event in self._timeline.events[events:]),
            tuple(self._mentions[mentions:]),
            tuple(self._aliases.items())[aliases:],
        )

    def _undo(self, changes: _Changes, touched: dict[int, dict[Triple, int]]) -> None:
        """Take back the last changes; notes the rows that are out of order afterwards."""
        for _, source in reversed(changes.mentions):
            triple, source = self._mentions.pop()
            self._own_fact(self._index[triple]).sources.pop()
            rest = self._by_episode[source.episode][:-1]
            if rest:
                self._by_episode[source.episode] = rest
            else:
                del self._by_episode[source.episode]
        for old, _ in reversed(changes.aliases):
            del self._aliases[old]
        for _ in changes.events:
            t, triple, by, same, before, opened = self._timeline.events.pop()
            fact = self._own_fact(self._index[triple])
            if by:
                if same:
                    fact.intervals.append((t, None))
                else:
                    fact.intervals[-1] = (fact.intervals[-1][0], None)
                fact.retired_by = ""
                self._show(fact, opened)
                self._live_in_order = False
                for row in (self._out[triple[0]], self._in.get(triple[2])):
                    if row is not None:
                        touched[id(row)] = row
                continue
            self._hide(fact)
            if same:
                fact.intervals[-1] = (fact.intervals[-1][0], t)
            else:
                fact.intervals.pop()
            fact.retired_by = before
            if not before:
                self._facts.pop()
                del self._index[triple]
        self._timeline.truncate(len(self._timeline.events))

    def _redo(self, changes: _Changes) -> None:
        for t, triple, by in changes.events:
            if by:
                self._close(triple, t, by)
            else:
                self._open(triple, t)
        for triple, source in changes.mentions:
            self._mention(triple, source)
        self._aliases.update(changes.aliases)

    # Export

    def state(self) -> dict[str, Any]:
        """The graph with its history as JSON-able values; equal histories give equal JSON."""
        return {
            "now": self.now,
            "aliases": [list(pair) for pair in self._aliases.items()],
            "facts": [list(fact.triple) for fact in self._facts],
            "events": [[t, self._index[f], by] for t, f, by, *_ in self._timeline.events],
            "mentions": [[self._index[f], *source] for f, source in self._mentions],
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Become the graph that :meth:`state` wrote; O(history). Older snapshots are void.

        Raises:
            StoreError: ``state`` is not such a state; the graph is left as it was.
        """
        fresh = TemporalGraph()
        try:
            facts = [Triple(*map(_text, triple)) for triple in state["facts"]]
            for t, number, by in state["events"]:
                fresh._tick(t)
                if _text(by):
                    fresh.retire(facts[number], t, by)
                else:
                    fresh.add(facts[number], t)
            for number, episode, start, end in state["mentions"]:
                fresh._mention(facts[number], Source(episode, start, end))
            fresh._aliases.update((_text(old), _text(new)) for old, new in state["aliases"])
            fresh._tick(state["now"])
        except (LookupError, TypeError, ValueError) as error:
            raise StoreError(f"expected a state of a temporal graph, got {error!r}") from error
        vars(self).update(vars(fresh))


_TABLES = (
    "_facts", "_index", "_live", "_out", "_in", "_slots", "_aliases", "_by_episode",
    "_timeline", "_mentions",
)  # fmt: skip


@lru_cache(maxsize=1 << 15)
def _fold(name: str) -> str:
    words = name.lower().split()
    if len(words) > 1 and words[0] in _ARTICLES:
        del words[0]
    return " ".join(words)


@lru_cache(maxsize=1 << 10)
def _fold_relation(relation: str) -> str:
    return " ".join(relation.lower().split())


def _sort(row: dict[Triple, int]) -> None:
    """Put facts back into the order in which they began."""
    items = sorted(row.items(), key=itemgetter(1))
    row.clear()
    row.update(items)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a string, got {value!r}")
    return value


def _from_state(state: dict[str, Any]) -> TemporalGraph:
    graph = TemporalGraph()
    graph.load_state(state)
    return graph
