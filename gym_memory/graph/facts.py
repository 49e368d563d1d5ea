"""Facts over time: intervals, sources, a log of changes, and snapshots to restore."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, Self, cast

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Triple
from gym_memory.graph.schema import VERBATIM, Slot, slot_of

__all__ = ["Event", "Fact", "GraphSnapshot", "Source", "Timeline", "VersionedFacts"]

Event = tuple[int, Triple, str, bool, str, int]
"""Begin or end of a fact: ``(step, fact, by, same, before, opened)``, a plain tuple for speed.

* by: reason for the end; empty for a begin.
* same: True if the fact ends and begins, in either order, within the step.
* before: reason for its previous end; empty for a new fact.
* opened: position of the event that began it, perhaps this one.
"""

_FIRST = itemgetter(0)


class Source(NamedTuple):
    """A source of a fact: id of the observation and characters ``[start, end)``; -1 for none.

    ``said_by`` names the text or speaker whose words they are; empty for the game's own report.
    """

    episode: int
    start: int = -1
    end: int = -1
    said_by: str = ""


class Fact:
    """A triple with the times when it was true and its sources; read-only.

    ``intervals`` are disjoint and ascending ``[from, to)`` in steps; ``to`` is None while live.
    ``retired_by`` is ``schema``, ``text``, ``llm``, ...; empty while live.
    """

    __slots__ = ("_owner", "_past", "_since", "_slot", "id", "retired_by", "sources", "triple")

    def __init__(
        self, id: int, triple: Triple, slot: Slot | None, owner: object, since: int | None = None
    ):
        self.id = id
        self.triple = triple
        self.sources: Sequence[Source] = ()
        self.retired_by = ""
        self._since = since
        # Most facts of a large graph have one interval and one source, which need no list.
        self._past: Sequence[tuple[int, int]] = ()
        self._slot = slot
        self._owner = owner

    @property
    def intervals(self) -> list[tuple[int, int | None]]:
        """Return the intervals; ``to`` of the last is None while the fact is live."""
        past: list[tuple[int, int | None]] = [*self._past]
        return past if self._since is None else [*past, (self._since, None)]

    def __repr__(self) -> str:
        return f"Fact({self.id}, {str(self.triple)!r}, {self.intervals})"

    def _copy(self, owner: object) -> Fact:
        twin = Fact(self.id, self.triple, self._slot, owner)
        twin._since, twin.retired_by = self._since, self.retired_by
        twin._past, twin.sources = self._past[:], self.sources[:]
        return twin

    def _begin(self, t: int, again: bool) -> None:
        """Begin an interval, or reopen the last one."""
        self._since = t
        if again:
            self._since, self._past = self._past[-1][0], _less(self._past)

    def _end(self, t: int) -> bool:
        """End the open interval; return True if it was empty and is dropped."""
        since, self._since = self._since, None
        assert since is not None
        if since != t:
            self._past = _with(self._past, (since, t))
        return since == t


class Timeline:
    """An append-only list of events that answers questions about any past step.

    It replays from checkpoints: O(events) memory, O(log events + answer) per question.
    """

    _SPACING = 256
    """Least events between two checkpoints."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._first: Sequence[Triple] = ()  # facts that began at step 0, before any event
        self.checkpoints: list[tuple[int, tuple[Triple, ...]]] = [(0, ())]

    def copy(self) -> Timeline:
        """Return an independent copy; O(events) at the speed of a list copy."""
        twin = Timeline()
        twin._events = self.events.copy()
        twin.checkpoints = self.checkpoints.copy()
        return twin

    @property
    def events(self) -> list[Event]:
        """Return the events; a graph built at once writes its first ones on demand."""
        if self._first:
            begun = [(0, triple, "", False, "", n) for n, triple in enumerate(self._first)]
            self._first, self._events = (), begun
        return self._events

    def begin(self, triples: Sequence[Triple]) -> None:
        """Begin facts at step 0, before any other event."""
        self._first = triples

    def truncate(self, length: int) -> None:
        """Forget the events from position ``length`` on."""
        del self.events[length:]
        while self.checkpoints[-1][0] > length:
            self.checkpoints.pop()

    def position(self, t: int) -> int:
        """Count the events up to the end of step ``t``; O(log events)."""
        return bisect_right(self.events, t, key=_FIRST)

    def as_of(self, t: int) -> list[Triple]:
        """Return the facts true at the end of step ``t``, in the order in which they began."""
        end = self.position(t)
        start, facts = self.checkpoints[bisect_right(self.checkpoints, end, key=_FIRST) - 1]
        live = dict.fromkeys(facts)
        last = self.checkpoints[-1][0]
        for position in range(start, end):
            if position - last >= max(self._SPACING, len(live)):
                last = position
                self.checkpoints.append((position, tuple(live)))
            event = self.events[position]
            if event[2]:
                del live[event[1]]
            else:
                live[event[1]] = None
        return list(live)

    def diff(self, a: int, b: int) -> tuple[list[Triple], list[Triple]]:
        """Return the facts true at step ``b`` and not at ``a``, and the reverse, by last change."""
        if a > b:
            removed, added = self.diff(b, a)
            return added, removed
        before: dict[Triple, bool] = {}
        after: dict[Triple, bool] = {}
        for event in self.events[self.position(a) : self.position(b)]:
            fact, ended = event[1], bool(event[2])
            before.setdefault(fact, ended)
            after.pop(fact, None)
            after[fact] = not ended
        added = [fact for fact, live in after.items() if live and not before[fact]]
        removed = [fact for fact, live in after.items() if not live and before[fact]]
        return added, removed


class _TripleRow(dict[Triple, int]):
    __slots__ = ("owner",)

    owner: object


_Rows = _TripleRow | Sequence[Triple]
"""Facts around a name, in the order in which they began: few as a tuple, which takes a fifth of the
space, and many as a list until one changes, as are all facts of a graph built at once."""
_FEW = 6


class GraphSnapshot:
    """A state of a graph as the changes since an earlier state; opaque and immutable."""

    __slots__ = ("_changes", "_depth", "_now", "_parent")

    def __init__(self, parent: GraphSnapshot | None, changes: _Changes, now: int):
        self._parent = parent
        self._changes = changes
        self._now = now
        self._depth: int = 0 if parent is None else parent._depth + 1

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphSnapshot:
        return self


class _Changes(NamedTuple):
    """Consecutive changes of three independent kinds."""

    events: tuple[Event, ...] = ()
    mentions: tuple[tuple[int, Source], ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()


class VersionedFacts:
    """Tables of a graph, with changes that can be undone.

    Snapshots form a tree; a restore undoes changes up to the common ancestor and repeats others. A
    fork shares facts and rows; a graph copies one that it does not own before it changes it.
    """

    def __init__(self) -> None:
        self.now = 0
        """Last step that the graph knows."""
        self._facts: list[Fact | Triple] = []  # a triple that began at step 0 needs no record yet
        self._bare = 0  # facts of which some have no record
        self._index: dict[Triple, int] = {}
        self._live: dict[Triple, int] = {}
        self._live_in_order = True
        self._out: dict[str, _Rows] = {}
        self._in: dict[str, _Rows] = {}
        self._related: dict[str, _Rows] | None = None  # by relation, unordered; built on first use
        self._slots: dict[Slot, Triple] = {}
        self._aliases: dict[str, str] = {}
        self._timeline = Timeline()
        self._mentioned: list[int] = []  # mentions in order: the fact ...
        self._sources: list[Source] = []  # ... and its source
        self._owner = object()
        self._version = GraphSnapshot(None, _Changes(), 0)
        self._by_word: dict[str, dict[str, None]] = {}  # all names so far, shared with forks
        self._worded = 0  # number of facts with their names in it
        self._saved = (0, 0, 0)  # events, mentions and aliases in self._version

    def live(self) -> Iterator[Triple]:
        """Iterate over the facts true now, in the order in which they began."""
        if not self._live_in_order:
            _sort(self._live)
            self._live_in_order = True
        return iter(self._live)

    def facts(self) -> Iterator[Fact]:
        """Iterate over all facts so far, by id."""
        if self._bare:
            for number in range(self._bare):
                self._fact(number)
            self._bare = 0
        return iter(cast("list[Fact]", self._facts))

    def _fact(self, number: int) -> Fact:
        fact = self._facts[number]
        if isinstance(fact, Triple):
            fact = self._facts[number] = Fact(number, fact, slot_of(fact), self._owner, 0)
        return fact

    def _triple(self, number: int) -> Triple:
        fact = self._facts[number]
        return fact if isinstance(fact, Triple) else fact.triple

    def _relations(self) -> dict[str, _Rows]:
        if self._related is None:
            lists = defaultdict[str, list[Triple]](list)
            for triple in self._live:
                lists[triple[1]].append(triple)
            self._related = dict(lists)
        return self._related

    def _open(self, triple: Triple, t: int) -> Fact:
        """Begin a fact, and end the one in its slot."""
        number = self._index.get(triple)
        same, before = False, ""
        if number is None:
            number = self._index[triple] = len(self._facts)
            fact = Fact(number, triple, slot_of(triple), self._owner)
            self._facts.append(fact)
        else:
            fact = self._own_fact(number)
            before, fact.retired_by = fact.retired_by, ""
            same = bool(fact._past) and fact._past[-1][1] == t
        fact._begin(t, again=same)
        rival = self._slots.get(fact._slot) if fact._slot is not None else None
        if rival is not None:
            self._close(rival, t, "schema")
        events = self._timeline.events
        opened = len(events)
        events.append((t, triple, "", same, before, opened))
        self._show(fact, opened)
        return fact

    def _begin_all(self, filed: Sequence[tuple[Triple, Slot | None]]) -> bool:
        """Begin facts at step 0 in an empty graph; return False, unchanged, if two share a slot."""
        triples, held = zip(*filed, strict=True) if filed else ((), ())
        index = dict(zip(triples, range(len(triples)), strict=True))
        slots = dict(zip(held, triples, strict=True))
        free = held.count(None)
        if len(index) < len(triples) or len(slots) < len(held) - free + bool(free):
            return False
        slots.pop(None, None)
        self._facts += index
        self._bare = len(index)
        self._timeline.begin(tuple(index))
        out: dict[str, Any] = {}
        into: dict[str, Any] = {}
        for triple in index:  # faster than with setdefault, or with a defaultdict
            subject, relation, obj = triple
            if subject in out:
                out[subject].append(triple)
            else:
                out[subject] = [triple]
            if relation in VERBATIM:
                continue
            if obj in into:
                into[obj].append(triple)
            else:
                into[obj] = [triple]
        self._index, self._live, self._slots = index, index.copy(), slots
        self._out, self._in = out, into
        return True

    def _close(self, triple: Triple, t: int, by: str) -> None:
        fact = self._own_fact(self._index[triple])
        opened = self._hide(fact)
        empty = fact._end(t)
        fact.retired_by = by
        self._timeline.events.append((t, triple, by, empty, "", opened))

    def _mention(self, number: int, source: Source) -> Fact:
        fact = self._own_fact(number)
        if not fact.sources or fact.sources[-1] != source:
            fact.sources = _with(fact.sources, source)
            self._mentioned.append(number)
            self._sources.append(source)
        return fact

    def _show(self, fact: Fact, opened: int) -> None:
        triple = fact.triple
        self._live[triple] = opened
        self._enter(self._out, triple[0], triple, opened)
        if self._related is not None:
            self._enter(self._related, triple[1], triple, opened)
        if triple[1] not in VERBATIM:
            self._enter(self._in, triple[2], triple, opened)
        if fact._slot is not None:
            self._slots[fact._slot] = triple

    def _hide(self, fact: Fact) -> int:
        """Remove a fact from the live ones; return the position of the event that began it."""
        triple = fact.triple
        self._drop(self._out, triple[0], triple)
        if self._related is not None:
            self._drop(self._related, triple[1], triple)
        if triple[1] not in VERBATIM:
            self._drop(self._in, triple[2], triple)
        if fact._slot is not None:
            del self._slots[fact._slot]
        return self._live.pop(triple)

    def _enter(self, table: dict[str, _Rows], key: str, triple: Triple, opened: int) -> None:
        row = table.get(key, ())
        if isinstance(row, _TripleRow) or len(row) >= _FEW:
            self._own_row(table, key)[triple] = opened
        elif row and self._live[row[-1]] > opened:  # its end is undone
            table[key] = tuple(sorted((*row, triple), key=self._live.__getitem__))
        else:
            table[key] = (*row, triple)

    def _drop(self, table: dict[str, _Rows], key: str, triple: Triple) -> None:
        row = table[key]
        if len(row) == 1:
            del table[key]
        elif isinstance(row, _TripleRow) or len(row) > _FEW:
            del self._own_row(table, key)[triple]
        else:
            table[key] = tuple(other for other in row if other != triple)

    def _own_fact(self, number: int) -> Fact:
        fact = self._fact(number)
        if fact._owner is not self._owner:
            fact = self._facts[number] = fact._copy(self._owner)
        return fact

    def _own_row(self, table: dict[str, _Rows], key: str) -> _TripleRow:
        row = table[key]
        if not isinstance(row, _TripleRow):
            row = _TripleRow(zip(row, map(self._live.__getitem__, row), strict=True))
        elif row.owner is not self._owner:
            row = _TripleRow(row)
        else:
            return row
        table[key] = row
        row.owner = self._owner
        return row

    def snapshot(self) -> GraphSnapshot:
        """Return the current state for :meth:`restore`; O(changes since the last snapshot)."""
        changes = self._unsaved()
        if any(changes) or self.now != self._version._now:
            self._version = GraphSnapshot(self._version, changes, self.now)
            self._saved = self._lengths()
        return self._version

    def restore(self, snapshot: GraphSnapshot) -> None:
        """Return to a state of this graph, or of a graph that it was forked from.

        O(changes between the two states + facts around their entities).
        """
        leave: list[_Changes] = []
        enter: list[_Changes] = []
        here: GraphSnapshot | None = self._version
        there: GraphSnapshot | None = snapshot
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

    def fork(self) -> Self:
        """Return an independent graph in the same state; snapshots serve both. O(history)."""
        twin = type(self).__new__(type(self))
        vars(twin).update(vars(self))
        for name in _TABLES:
            table = getattr(self, name)
            setattr(twin, name, None if table is None else table.copy())
        self._owner, twin._owner = object(), object()
        return twin

    __copy__ = fork

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.fork()

    def _lengths(self) -> tuple[int, int, int]:
        return len(self._timeline.events), len(self._mentioned), len(self._aliases)

    def _unsaved(self) -> _Changes:
        events, mentions, aliases = self._saved
        return _Changes(
            tuple(self._timeline.events[events:]),
            tuple(zip(self._mentioned[mentions:], self._sources[mentions:], strict=True)),
            tuple(self._aliases.items())[aliases:],
        )

    def _undo(self, changes: _Changes, touched: dict[int, dict[Triple, int]]) -> None:
        """Undo the last changes; add the rows that are then out of order to ``touched``."""
        for number, _ in reversed(changes.mentions):
            fact = self._own_fact(number)
            fact.sources = _less(fact.sources)
        del self._mentioned[len(self._mentioned) - len(changes.mentions) :]
        del self._sources[len(self._mentioned) :]
        for old, _ in reversed(changes.aliases):
            del self._aliases[old]
        for _ in changes.events:
            t, triple, by, same, before, opened = self._timeline.events.pop()
            fact = self._own_fact(self._index[triple])
            if by:
                fact._begin(t, again=not same)
                fact.retired_by = ""
                self._show(fact, opened)
                self._live_in_order = False
                for row in (self._out[triple[0]], self._in.get(triple[2])):
                    if isinstance(row, _TripleRow):
                        touched[id(row)] = row
                continue
            self._hide(fact)
            fact._end(t)  # empty unless it was reopened
            fact.retired_by = before
            if not before:
                self._facts.pop()
                del self._index[triple]
        self._timeline.truncate(len(self._timeline.events))
        self._worded, self._bare = (min(n, len(self._facts)) for n in (self._worded, self._bare))

    def _redo(self, changes: _Changes) -> None:
        for t, triple, by, *_ in changes.events:
            if by:
                self._close(triple, t, by)
            else:
                self._open(triple, t)
        for number, source in changes.mentions:
            self._mention(number, source)
        self._aliases.update(changes.aliases)


_TABLES = (
    "_facts", "_index", "_live", "_out", "_in", "_related", "_slots", "_aliases", "_timeline",
    "_mentioned", "_sources",
)  # fmt: skip


def _with(row: Sequence[Any], item: Any) -> Sequence[Any]:
    """Append an item to a tuple of at most one, or to a list."""
    if isinstance(row, list):
        row.append(item)
        return row
    return [*row, item] if row else (item,)


def _less(row: Sequence[Any]) -> Sequence[Any]:
    """Remove the last item."""
    if isinstance(row, list):
        row.pop()
        return row
    return ()


def _sort(row: dict[Triple, int]) -> None:
    items = sorted(row.items(), key=itemgetter(1))
    row.clear()
    row.update(items)
