"""Statements in notes and goals about keys, locks and places.

There are many ways to say that a key opens a chest, but few relations between the two. So no
patterns are matched: ordered tables of rules choose a relation by the tags of a clause, and the
first rule that applies decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from gym_memory.core.records import Triple
from gym_memory.core.text import sentence_spans
from gym_memory.extract import Mention
from gym_memory.extract.notes.clause import (
    ARTICLES,
    ON,
    PLACED,
    WITHIN,
    Clause,
    NamedThing,
    is_known,
    named_in,
)
from gym_memory.extract.notes.words import (
    CONTAINER,
    DOOR,
    KEY,
    ROOM,
    SUPPORTER,
    THING,
    KindOf,
    kind_of_noun,
    senses,
    word_group,
)

__all__ = ["Report", "read_statements"]

_MAX_TEXT_CHARS = 10_000
_MAX_SENTENCES = 60
_MAX_SPLITS = 100
_BETWEEN_PARTS = re.compile(r"[;:] |, and ")


class Report(NamedTuple):
    """Facts of a text with the spans of their subjects, and the things that it names."""

    facts: tuple[Mention, ...]
    names: dict[str, tuple[int, int]]


def read_statements(
    text: str, kind_of: KindOf = lambda name: None, *, note: bool = False
) -> Report:
    """Read what a text says about keys, locks and places.

    A ``note`` has one topic: its only key belongs to its only lock even if no sentence says so.

    >>> for fact, _, _ in read_statements("The key 1 fits the red chest. It is in the hall.").facts:
    ...     print(fact)
    key 1, opens, red chest
    red chest, is in, hall
    """
    text = text[:_MAX_TEXT_CHARS]
    reading = _TextReader(text, kind_of, note)
    reading.read()
    learnt = reading.learnt() if note else {}
    if learnt:  # read again, now that keys and locks are known
        opened = {f: span for f, span in reading.facts.items() if f.relation == "opens"}
        reading = _TextReader(text, lambda name: kind_of(name) or learnt.get(name), note)
        reading.read()
        reading.facts = opened | reading.facts
    if note:
        reading.pair_up()
    reading.place_locks()
    return reading.report()


# Relations of two things in a clause


class _Pair(NamedTuple):
    """Two things in a clause: a possible key and a possible lock."""

    clause: Clause
    key: NamedThing
    lock: NamedThing
    note: bool

    def surely(self) -> bool:
        """True if the clause is surely about opening."""
        return self.clause.opens(surely=True)


class _ConditionRule(NamedTuple):
    """A condition and its conclusion: yes, no, or the result of a test."""

    reason: str
    fits: Callable[[_Pair], bool]
    says: bool | Callable[[_Pair], bool]


def _decide(rules: tuple[_ConditionRule, ...], pair: _Pair) -> bool:
    for rule in rules:
        if rule.fits(pair):
            return rule.says if isinstance(rule.says, bool) else rule.says(pair)
    return False


_LOCK_VERBS = frozenset(word_group("clauses", "lock_verbs"))
_SUBJECT_WORDS = frozenset(word_group("clauses", "subjects"))
_AGENT_WORDS = frozenset(word_group("clauses", "others"))
_BEFORE_ORDERS = ("", *word_group("clauses", "commanded"))
_INTO = ("into", "to", "in", "on", "inside")


def _wants(clause: Clause, lock: NamedThing, key: NamedThing) -> bool:
    """True if a verb with the lock as its subject leads to the key: *responds to*."""
    return any(
        lock.last <= at < key.first
        and (clause.lower[at] in _LOCK_VERBS or "require" in found)
        and _SUBJECT_WORDS.isdisjoint(clause.lower[lock.last : at])
        for at, found in clause.verbs
    )


def _has_lock(clause: Clause, lock: NamedThing, key: NamedThing) -> bool:
    """True if the word *lock* or *keyhole* is between the lock and the key."""
    words = clause.lower[lock.last : key.first + 1]
    return any(
        word in ("lock", "keyhole") and after not in ("of", "on") for word, after in pairwise(words)
    )


def _acts_on(clause: Clause, key: NamedThing, lock: NamedThing) -> bool:
    """True if a verb of opening leads from the key to the lock."""
    return any(
        "open" in found
        and key.last <= at < lock.first
        and _AGENT_WORDS.isdisjoint(clause.lower[key.last : at])
        for at, found in clause.verbs
    )


def _is_all_opening(pair: _Pair) -> bool:
    """True if only verbs of opening are between the two things."""
    one, other = sorted((pair.key, pair.lock), key=lambda thing: thing.first)
    words = [w for w in pair.clause.lower[one.last : other.first] if w not in ARTICLES]
    return all("open" in senses(word) and word not in _LOCK_VERBS for word in words)


def _keeps(clause: Clause, holder: NamedThing, thing: NamedThing) -> bool:
    """True if a verb of keeping leads from a holder to a thing."""
    if thing.last <= holder.first:  # the coin that the box holds
        after = clause.lower[holder.last : holder.last + 1]
        words = clause.lower[thing.last : holder.first]
        return "that" in words and any("keep" in senses(word) for word in after)
    words = clause.lower[holder.last : thing.first]
    at = next((at for at, word in enumerate(words) if "keep" in senses(word)), -1)
    if at < 0 or not _SUBJECT_WORDS.isdisjoint(words[:at]):
        return False
    return not any(word.isalpha() and word not in ARTICLES for word in words[at + 1 :])


def _seeks(clause: Clause) -> bool:
    """True if a clause says that things are found in another."""
    in_it = any(word in PLACED and after == "it" for word, after in pairwise(clause.lower))
    return in_it or "where" in clause.lower or clause.has("seek")


_IS_KEY: tuple[tuple[str, Callable[[_Pair], bool]], ...] = (
    ("the lock's keyhole leads to it", lambda p: _has_lock(p.clause, p.lock, p.key)),
    ("the lock wants it", lambda p: _wants(p.clause, p.lock, p.key)),
    (
        "it opens the lock, and does not want it",
        lambda p: _acts_on(p.clause, p.key, p.lock) and not _wants(p.clause, p.key, p.lock),
    ),
    ("it goes into the lock", lambda p: p.clause.has("insert") and p.lock.preposition in _INTO),
)
"""Evidence that a thing of unknown kind is the key to another."""


def _is_first_key(pair: _Pair) -> bool | None:
    """True if the first thing is the key, False if the second is, None if neither surely is."""
    first, second, clause = pair.key, pair.lock, pair.clause
    if any(
        "go" in found and clause.lower[at + 1 : at + 2] == ("with",) for at, found in clause.verbs
    ):
        return None
    if clause.is_used(first) != clause.is_used(second):
        return clause.is_used(first)
    for key, lock in ((first, second), (second, first)):
        if any(fits(pair._replace(key=key, lock=lock)) for _, fits in _IS_KEY):
            return key is first
    return None


_MAY_BE_KEY = (
    _ConditionRule(
        "a goal names a prize and its place",
        lambda p: not p.note and p.key.kind == "" and not _is_all_opening(p),
        False,
    ),
    _ConditionRule("the other one is the key", lambda p: _is_first_key(p) is False, False),
    _ConditionRule(
        "it is used as one",
        lambda p: _is_first_key(p) is True,
        lambda p: p.key.kind == THING or p.clause.opens(),
    ),
    _ConditionRule(
        "a note names a portable thing for its use",
        lambda p: p.key.kind == THING,
        lambda p: p.note and (p.lock.kind != "" or p.lock.preposition == "for"),
    ),
    _ConditionRule("nothing says that the other one locks", lambda p: p.lock.kind == "", False),
    _ConditionRule("a note names it with a lock", lambda p: p.note, _Pair.surely),
)
"""Evidence that a thing whose noun is not *key* is the key to another."""

_OPENS = (
    _ConditionRule(
        "the key is used",
        lambda p: p.clause.is_used(p.key) or p.clause.before(p.key) in ("use", "uses", "used"),
        True,
    ),
    _ConditionRule(
        "the key is a place to start from", lambda p: p.key.preposition == "from", False
    ),
    _ConditionRule(
        "what is in a place does not open it",
        lambda p: p.key.kind != KEY and p.key.preposition in PLACED,
        False,
    ),
    _ConditionRule(
        "something is taken from there",
        lambda p: any(t.preposition == "from" for t in p.clause.things if t.name == p.lock.name),
        False,
    ),
    _ConditionRule(
        "the lock holds the key",
        lambda p: _keeps(p.clause, p.lock, p.key),
        _Pair.surely,
    ),
    _ConditionRule(
        "things are in what locks, not on it",
        lambda p: p.lock.kind == CONTAINER and p.lock.preposition in ON,
        True,
    ),
    _ConditionRule(
        "the key is there, or works there",
        lambda p: p.lock.preposition in PLACED,
        lambda p: p.surely() or p.clause.has("insert"),
    ),
    _ConditionRule(
        "the key was put into what may hold it",
        lambda p: p.lock.preposition == "into" and p.clause.has("put"),
        _Pair.surely,
    ),
    _ConditionRule(
        "the key is for the lock, unless it is searched for there",
        lambda p: p.lock.preposition in ("for", "with", "against", "into"),
        lambda p: p.surely() or not p.clause.looks_at(p.lock),
    ),
    _ConditionRule("something is found there", lambda p: _seeks(p.clause), _Pair.surely),
    _ConditionRule("a note names them for that", lambda p: p.note, True),
    _ConditionRule("a verb says so", lambda p: p.clause.opens(), True),
    _ConditionRule(
        "there is nothing but the two names",
        lambda p: not p.clause.cues.replace("the", "").replace("The", "").strip(" .=->"),
        True,
    ),
)
"""Evidence that the key opens the lock."""

_HOLDS: tuple[tuple[str, Callable[[Clause, NamedThing, list[NamedThing]], bool]], ...] = (
    (
        "a preposition says so, and a verb that something is there",
        lambda c, holder, _: holder.preposition in PLACED and bool(holder.kind or _is_placing(c)),
    ),
    ("something is taken from it", lambda c, holder, _: holder.preposition == "from"),
    (
        "the only furniture where something is found",
        lambda c, holder, things: _seeks(c) and _furniture(things) == [holder],
    ),
    (
        "a verb of keeping leads from it to a thing",
        lambda c, holder, things: any(_keeps(c, holder, thing) for thing in things),
    ),
)
"""Evidence that a thing holds the others, strongest first."""


def _furniture(things: list[NamedThing]) -> list[NamedThing]:
    return [thing for thing in things if thing.kind in (CONTAINER, SUPPORTER)]


def _is_placing(clause: Clause) -> bool:
    """True if a clause has a verb of being somewhere."""
    is_there = not {"is", "are", "was", "were"}.isdisjoint(clause.lower)
    return is_there or clause.has("lie", "put", "seek", "keep")


def _is_order_to_put(clause: Clause) -> bool:
    """True if something is to be put somewhere, so that it is not there yet."""
    return any(
        "put" in found
        and (clause.lower[at - 1] if at else "") in _BEFORE_ORDERS
        and not clause.named.isdisjoint((at + 1, at + 2))
        for at, found in clause.verbs
    )


# Facts of a text

_TAKES_TO = re.compile(r"\b(?:take|bring|carry)\b[^.]*\bto\b", re.IGNORECASE)
_THERE = re.compile(r"\bthere\b(?! (?:is|are|was|stands|lies)\b)", re.IGNORECASE)
_LOOK_VERBS = frozenset(word_group("clauses", "look_verbs"))


class _TextReader:
    """A reader of one text that resolves *it* by earlier sentences."""

    def __init__(self, text: str, kind_of: KindOf, note: bool):
        self.facts: dict[Triple, tuple[int, int]] = {}
        self.names: dict[str, tuple[int, int]] = {}
        self.meant: list[NamedThing] = []
        """All named things in order."""
        self.rooms: list[NamedThing] = []
        """Rooms named alone, where the text seems to be set."""
        self._text, self._kind_of, self._note = text, kind_of, note
        self._before: list[NamedThing] = []
        self._named: dict[str, int] = {}
        """Number of occurrences of each name."""
        self._unknown: list[NamedThing] = []
        """Names alone in a clause, which may be rooms."""
        self._splits = _MAX_SPLITS

    def _clause(self, start: int, end: int) -> Clause:
        return Clause.of(self._text, start, end, self._kind_of)

    def read(self) -> None:
        """Read sentence by sentence, and a question together with its answer."""
        start = -1
        for sentence, first in islice(sentence_spans(self._text), _MAX_SENTENCES):
            start = first if start < 0 else start
            if sentence.rstrip("\"'").endswith("?"):
                continue
            for begin, end in self._parts(start, first + len(sentence)):
                self._read_clause(self._clause(begin, end))
            start = -1
        if start >= 0:
            self._read_clause(self._clause(start, len(self._text)))
        once = {
            t.name
            for t in self.meant
            if self._named.get(t.name, 0) < 2 and not is_known(t, self._kind_of)
        }  # an unknown word that occurs once names no object
        self.facts = {
            fact: span
            for fact, span in self.facts.items()
            if once.isdisjoint((fact.subject, fact.object))
        }

    def _parts(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the span of a sentence, or those of its parts if each is a statement."""
        for found in islice(_BETWEEN_PARTS.finditer(self._text, start, end), self._splits):
            self._splits -= 1
            cut = found.start()
            first, rest = (
                named_in(self._text, *part, self._kind_of) for part in ((start, cut), (cut, end))
            )
            if first and len(rest) > 1:
                yield start, cut
                start = cut
        yield start, end

    def _read_clause(self, clause: Clause) -> None:
        things = [self._whole(thing) for thing in clause.meant]
        things = list({thing.name: thing for thing in reversed(things)}.values())[::-1]
        self.meant += things
        rooms = [thing for thing in things if thing.kind == ROOM]
        if things and (len(things) == 1 or rooms == things or self._is_of_it(clause, things)):
            things = sorted([*things, *self._it(clause)], key=lambda thing: thing.first)
        self._relate(clause, things)
        self._before = things or self._before

    def _whole(self, thing: NamedThing) -> NamedThing:
        """Return a thing under the last name that ends in it: *that locker*."""
        if " " not in thing.name and self._kind_of(thing.name) is None:
            for earlier in reversed(self._named):
                if earlier.endswith(f" {thing.name}"):
                    return thing._replace(name=earlier)
        self._named[thing.name] = self._named.get(thing.name, 0) + 1
        return thing

    @staticmethod
    def _is_of_it(clause: Clause, things: list[NamedThing]) -> bool:
        """True if all things in a clause are places of *it*: *it sits on the shelf in the hall*."""
        placed = all(thing.preposition in PLACED for thing in things)
        return placed and 0 <= clause.pronoun < things[0].first

    def _it(self, clause: Clause) -> list[NamedThing]:
        """Return what *it* means: the thing named last, or the key or lock of an opening."""
        if clause.pronoun < 0:
            return []
        earlier = [thing for thing in self._before if thing.kind != ROOM]
        present = [
            thing
            for thing in clause.things
            if thing.kind != ROOM and (thing.kind or thing.preposition not in PLACED)
        ]
        if present and clause.opens():
            key = present[0].kind == KEY
            earlier = [t for t in earlier if (t.kind == KEY) != key] or earlier
        if not present:
            earlier = [thing for thing in earlier if thing.name not in self.placed()]
            earlier = _furniture(earlier) or earlier
        for thing in earlier[-1:]:
            self._named[thing.name] = self._named.get(thing.name, 0) + 1
        return [clause.moved(thing, clause.pronoun) for thing in earlier[-1:]]

    def _relate(self, clause: Clause, things: list[NamedThing]) -> None:
        rooms = [t for t in things if t.kind == ROOM]
        if len(rooms) == len(things) == 1:
            warns_off = clause.refuses and not _LOOK_VERBS.isdisjoint(clause.lower)
            self.rooms += [] if warns_off else rooms
            return
        if not things or clause.refuses:
            return
        leads = clause.has("go", "seek", "tell") or not clause.verbs
        if len(things) == 1 and things[0].kind == "" and leads:
            self._unknown += [t for t in things if is_known(t, self._kind_of)]
        pair = self._key_and_lock(clause, things) or self._portable_and_lock(clause, things)
        if pair is not None:
            key, lock = pair
            self.add(key, "opens", lock)
            for room in (rooms or self._there(clause))[:1] if lock.kind != DOOR else ():
                self.add(lock, "is in", room)
        elif not (
            all(t.kind in (KEY, ROOM) for t in things) and _TAKES_TO.search(clause.cues)
        ):  # a key to be taken to a room is not there yet
            rooms = rooms or self._there(clause) or self._place_of(clause, things)
            self._locate(clause, things, rooms)

    def _key_and_lock(
        self, clause: Clause, things: list[NamedThing]
    ) -> tuple[NamedThing, NamedThing] | None:
        """Return a key and its lock if the clause relates them; None otherwise."""
        others = [t for t in things if t.kind not in (KEY, ROOM)]
        keys = [t for t in things if t.kind == KEY]
        sure = [t for t in others if t.kind in (CONTAINER, DOOR)]
        locks = sure or [t for t in others if t.kind == "" and is_known(t, self._kind_of)]
        pairs = [(keys[0], lock) for lock in locks[:1]] if keys else []
        if not keys and len(others) == 2:  # the one that cannot be a lock is the key
            pairs = [
                (key, lock)
                for key, lock in (others, others[::-1])
                if lock in locks
                and key.kind in ("", THING)
                and _decide(_MAY_BE_KEY, _Pair(clause, key, lock, self._note))
            ]
        for key, lock in pairs:
            if _decide(_OPENS, _Pair(clause, key, lock, self._note)):
                return key, lock
        return None

    def _portable_and_lock(
        self, clause: Clause, things: list[NamedThing]
    ) -> tuple[NamedThing, NamedThing] | None:
        """Return a portable thing and a lock if a note says nothing else of them, or None."""
        named = [t for t in things if t.kind != ROOM]
        keys = [t for t in named if t.kind == THING]
        locks = [t for t in named if t.kind == CONTAINER]
        if not self._note or len(named) != 2 or len(keys) != 1 or len(locks) != 1:
            return None
        (key,), (lock,) = keys, locks
        placed = any(t.preposition in (*PLACED, "from", "into") for t in named)
        searched = "seek" in senses(clause.before(lock))
        return None if placed or searched or _keeps(clause, lock, key) else (key, lock)

    def _place_of(self, clause: Clause, things: list[NamedThing]) -> list[NamedThing]:
        """Return an unknown name that a note gives as the place of furniture."""
        standing = _furniture(things)
        unknown = [t for t in things if t.kind == ""]
        if not self._note or len(things) != 2 or len(standing) != 1 or len(unknown) != 1:
            return []
        (holder,), (place,) = standing, unknown
        holds = holder.preposition in (*PLACED, "from") or _keeps(clause, holder, place)
        if holds or clause.opens() or clause.looks_at(holder) or clause.is_stranded():
            return []
        is_where = "where" in clause.lower[place.last : holder.first]
        goes = clause.has("lie", "put", "seek", "go")
        return [place] if goes or is_where or _keeps(clause, place, holder) else []

    def _there(self, clause: Clause) -> list[NamedThing]:
        """Return the room of the clause before if this one says *there*."""
        earlier = [t for t in self._before if t.kind == ROOM][:1]
        if not _THERE.search(clause.cues):
            return []
        self.rooms = [room for room in self.rooms if room not in earlier]
        return earlier

    def _locate(self, clause: Clause, things: list[NamedThing], rooms: list[NamedThing]) -> None:
        """Add the places of things: in furniture, which is in a room, or in a room."""
        if _is_order_to_put(clause):
            for holder, room in pairwise(things):  # the holder is there, the thing is not
                if room.kind == ROOM and holder.kind in (CONTAINER, SUPPORTER):
                    self.add(holder, "is in", room)
            return
        rest = [t for t in things if t.kind not in (ROOM, DOOR) and t not in rooms]
        place = next((t for _, fits in _HOLDS for t in rest if fits(clause, t, rest)), None)
        if place is not None:
            word = place.preposition
            on = word in ON or (word not in WITHIN and place.kind == SUPPORTER)
            for thing in rest:
                sure = word in (*ON, *WITHIN) or place.kind or thing.kind == CONTAINER
                if sure and thing.kind != SUPPORTER:
                    self.add(thing, "is on" if on else "is in", place)
            rest = [place]
        reads = clause.lower[0] in ("check", "consult", "read", "examine", "inspect", "study")
        if rooms and not (reads and clause.things[0].kind not in (ROOM, CONTAINER, SUPPORTER)):
            for thing in rest:
                self.add(thing, "is in", rooms[0])

    def place_locks(self) -> None:
        """Put locks into the only room named alone or, in a note, into what may be a room."""
        if self._note and not self.rooms:
            related = {name for fact in self.facts for name in (fact.subject, fact.object)}
            self.rooms = [room for room in self._unknown if room.name not in related]
        rooms = {room.name: room for room in self.rooms}
        if len(rooms) != 1:
            return
        (room,) = rooms.values()
        placed = self.placed()
        for fact in list(self.facts):
            lost = fact.relation == "opens" and fact.object not in placed
            if lost and kind_of_noun(fact.object) != DOOR:
                self.facts[Triple(fact.object, "is in", room.name)] = room.span
                self.names.setdefault(room.name, room.span)

    def learnt(self) -> dict[str, str]:
        """Return the kinds of unknown names that turn out to be keys and locks."""
        pairs = [(fact.subject, fact.object) for fact in self.facts if fact.relation == "opens"]
        kinds = {lock: CONTAINER for _, lock in pairs if not kind_of_noun(lock)}
        kinds |= {key: KEY for key, _ in pairs if not kind_of_noun(key)}
        return {name: kind for name, kind in kinds.items() if self._kind_of(name) is None}

    def add(self, subject: NamedThing, relation: str, obj: NamedThing) -> None:
        """Add a fact unless it relates a thing to itself."""
        if subject.name != obj.name:
            self.facts.setdefault(Triple(subject.name, relation, obj.name), subject.span)
            for thing in (subject, obj):
                self.names.setdefault(thing.name, thing.span)

    def placed(self) -> set[str]:
        """Return the things with a place."""
        return {fact.subject for fact in self.facts if fact.relation != "opens"}

    def pair_up(self) -> None:
        """Relate the only key to the only lock if no sentence says what opens what."""
        if any(fact.relation == "opens" for fact in self.facts):
            return
        holders = {fact.object for fact in self.facts}
        keys = {t.name: t for t in self.meant if t.kind == KEY}
        locks = {t.name: t for t in self.meant if t.kind == CONTAINER and t.name not in holders}
        if len(keys) == len(locks) == 1:
            (key,), (lock,) = keys.values(), locks.values()
            self.add(key, "opens", lock)

    def report(self) -> Report:
        """Return the content of the text."""
        return Report(tuple(Mention(fact, *span) for fact, span in self.facts.items()), self.names)
