"""What a text tells of keys, locks and places, in whatever words it tells it.

English has more ways to say that a key opens a chest than anyone can list, but few things that a
sentence can say of a key and a chest. So a sentence is not matched against forms. First the
things in it are found, and what each is: known from play, or by its noun. Then the words around
them decide between the few relations that such things can have, the sense of the verb before all:
a key *opens* what locks, a thing *is in* a room, *in* or *on* a piece of furniture. Where two of a
kind compete, the one that the sentence speaks against (``not``, ``forget``, ``instead of``) is
left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from gym_memory.extract.notes.named import THING, KindOf, NamedThing, is_known
from gym_memory.extract.notes.nouns import (
    CONTAINER,
    DOOR,
    KEY,
    ROOM,
    SUPPORTER,
    kind_of_noun,
)
from gym_memory.extract.notes.said import ON, PLACED, WITHIN, Sentence
from gym_memory.extract.notes.telling import Telling, Told

__all__ = ["read_statements", "sentence_spans"]

_MAX_TEXT_CHARS = 10_000
_MOST_SENTENCES = 60
_MOST_SPLITS = 100

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|\n|$)")
_SPLIT = re.compile(r"[;:] |, and ")
_TAKES_TO = re.compile(r"\b(?:take|bring|carry)\b[^.]*\bto\b", re.IGNORECASE)
_THERE = re.compile(r"\bthere\b(?! (?:is|are|was|stands|lies)\b)", re.IGNORECASE)


def read_statements(text: str, kind_of: KindOf = lambda name: None, *, note: bool = False) -> Told:
    """What a text tells of keys, locks and places.

    Args:
        text: The text; only the beginning of a very long one is read.
        kind_of: What is known of a name.
        note: Whether it is short and of one matter, so that the only key and the only lock in it
            belong together even where no sentence says so.

    >>> for fact, _, _ in read_statements("The key 1 fits the red chest. It is in the hall.").facts:
    ...     print(fact)
    key 1, opens, red chest
    red chest, is in, hall
    """
    text = text[:_MAX_TEXT_CHARS]
    reader = _Reader(text, kind_of, note)
    reader.read()
    learnt = reader.learnt() if note else {}
    if learnt:  # once more, now that it is known what is a key and what locks
        opened = {f: span for f, span in reader.facts.items() if f.relation == "opens"}
        reader = _Reader(text, lambda name: kind_of(name) or learnt.get(name), note)
        reader.read()
        reader.facts = opened | reader.facts
    if note:
        reader.pair_up()
    reader.place_locks()
    return reader.told()


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a text begin and end, each with its stop."""
    return (found.span() for found in _SENTENCE.finditer(text))


class _Reader(Telling[NamedThing]):
    """Reads one text; what was read before tells what *it* means."""

    def __init__(self, text: str, kind_of: KindOf, note: bool):
        super().__init__()
        self._text, self._kind_of, self._note = text, kind_of, note
        self._before: list[NamedThing] = []
        self._named: dict[str, int] = {}  # how often
        self._unknown: list[NamedThing] = []  # named alone, and perhaps a room
        self._splits = _MOST_SPLITS

    def read(self) -> None:
        """Sentence by sentence; a question goes with its answer."""
        start = -1
        for first, last in islice(sentence_spans(self._text), _MOST_SENTENCES):
            start = first if start < 0 else start
            if self._text[first:last].rstrip().endswith("?") and self._is_open(start, last):
                continue
            for begin, end in self._clauses(start, last):
                self._read_sentence(begin, end)
            start = -1
        if start >= 0:
            self._read_sentence(start, len(self._text))
        self._drop_what_is_nothing()

    def _is_open(self, start: int, end: int) -> bool:
        """Whether a question asks for what comes next; *why not visit the hall?* asks nothing."""
        sentence = Sentence(self._text, start, end, self._kind_of)
        rooms = [thing.kind == ROOM for thing in sentence.things]
        return rooms != [True] or not sentence.suggests

    def _clauses(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """A sentence, or its parts where each says something of its own."""
        for found in islice(_SPLIT.finditer(self._text, start, end), self._splits):
            self._splits -= 1
            cut = found.start()
            first, rest = (
                Sentence(self._text, *part, self._kind_of) for part in ((start, cut), (cut, end))
            )
            if first.things and len(rest.things) > 1:
                yield start, cut
                start = cut
        yield start, end

    def _read_sentence(self, start: int, end: int) -> None:
        sentence = Sentence(self._text, start, end, self._kind_of)
        things = [self._whole(thing) for thing in sentence.meant()]
        things = list({thing.name: thing for thing in reversed(things)}.values())[::-1]
        self.meant += things
        named = [thing for thing in things if thing.kind != ROOM]
        alone = len(things) == 1 or (things and not named)
        if alone or (named and self._is_of_it(sentence, things)):
            things = sorted([*things, *self._it(sentence)], key=lambda thing: thing.first)
        self._relate(sentence, things)
        if things:
            self._before = things

    def _whole(self, thing: NamedThing) -> NamedThing:
        """The thing that *that locker* means: the last one named whose name ends so."""
        if " " not in thing.name and self._kind_of(thing.name) is None:
            for earlier in reversed(self._named):
                if earlier.endswith(f" {thing.name}"):
                    return thing._replace(name=earlier)
        self._named[thing.name] = self._named.get(thing.name, 0) + 1
        return thing

    @staticmethod
    def _is_of_it(sentence: Sentence, things: list[NamedThing]) -> bool:
        """Whether all that it names is where *it* is: *it sits on the shelf in the hall*."""
        placed = all(sentence.preposition(thing) in PLACED for thing in things)
        return placed and 0 <= sentence.pronoun < things[0].first

    def _it(self, sentence: Sentence) -> list[NamedThing]:
        """What *it* stands for: the thing named last, or the key if something is opened."""
        at = sentence.pronoun
        if at < 0:
            return []
        earlier = [thing for thing in self._before if thing.kind != ROOM]
        present = [
            thing
            for thing in sentence.things
            if thing.kind != ROOM and (thing.kind or sentence.preposition(thing) not in PLACED)
        ]
        if present and sentence.opens:
            key = present[0].kind == KEY
            fitting = [t for t in earlier if (t.kind == KEY) != key]
            earlier = fitting or earlier
        if not present:
            earlier = [thing for thing in earlier if thing.name not in self.placed()]
            standing = [t for t in earlier if t.kind in (CONTAINER, SUPPORTER)]
            earlier = standing or [t for t in earlier if t.kind != KEY] or earlier
        for thing in earlier[-1:]:
            self._named[thing.name] = self._named.get(thing.name, 0) + 1
        return [thing._replace(first=at, last=at + 1) for thing in earlier[-1:]]

    # ------------------------------------------------------------ relations

    def _relate(self, sentence: Sentence, things: list[NamedThing]) -> None:
        rooms = [t for t in things if t.kind == ROOM]
        if len(rooms) == 1 and (len(things) == 1 or sentence.sends_to(rooms[0])):
            self.rooms += [] if sentence.warns_off else rooms
            return
        if not things or sentence.is_refusal():
            return
        if len(things) == 1 and things[0].kind == "" and sentence.leads:
            self._unknown += [t for t in things if is_known(t, self._kind_of)]
        key, lock = self._key_and_lock(sentence, things)
        if not key:
            key, lock = self._at_hand(sentence, things)
        if key and lock:
            self.tell(key, "opens", lock)
            for room in (rooms or self._there(sentence))[:1] if lock.kind != DOOR else ():
                self.tell(lock, "is in", room)
            return
        keys = [t for t in things if t.kind == KEY]
        if keys and len(keys) + len(rooms) == len(things) and _TAKES_TO.search(sentence.cues):
            return
        rooms = rooms or self._there(sentence) or self._place_of(sentence, things)
        self._locate(sentence, things, rooms)

    def _place_of(self, sentence: Sentence, things: list[NamedThing]) -> list[NamedThing]:
        """What a note names beside furniture and nobody knows: where that stands."""
        standing = [t for t in things if t.kind in (CONTAINER, SUPPORTER)]
        unknown = [t for t in things if t.kind == "" and is_known(t, self._kind_of)]
        if not self._note or len(things) != 2 or len(standing) != 1 or len(unknown) != 1:
            return []
        (holder,), (place,) = standing, unknown
        holds = sentence.preposition(holder) in (*PLACED, "from") or sentence.keeps(holder, place)
        if holds or sentence.opens or sentence.looks_at(holder) or sentence.stranded:
            return []
        told = sentence.goes or sentence.keeps(place, holder) or sentence.is_where(place, holder)
        return [place] if told else []

    def _key_and_lock(
        self, sentence: Sentence, things: list[NamedThing]
    ) -> tuple[NamedThing, NamedThing] | tuple[None, None]:
        """The key and what it opens, if the sentence says so of two of its things."""
        others = [t for t in things if t.kind not in (KEY, ROOM)]
        keys = [t for t in things if t.kind == KEY]
        sure = [t for t in others if t.kind in (CONTAINER, DOOR) and t.name != DOOR]
        unknown = [t for t in others if t.kind == "" and is_known(t, self._kind_of)]
        locks = sure or unknown
        if keys:
            pairs = [(keys[0], lock) for lock in locks[:1]]
        elif len(others) == 2:  # what cannot be a lock is the key
            pairs = [(k, o) for k, o in (others, others[::-1]) if o in locks]
            pairs = [
                (k, o) for k, o in pairs if k.kind in ("", THING) and self._turns_so(sentence, k, o)
            ]
        else:
            return None, None
        for key, lock in pairs:
            if self._turns(sentence, key, lock):
                return key, lock
        return None, None

    def _at_hand(
        self, sentence: Sentence, things: list[NamedThing]
    ) -> tuple[NamedThing, NamedThing] | tuple[None, None]:
        """What was seen elsewhere and what locks: a note has no more to tell of the two."""
        named = [t for t in things if t.kind != ROOM]
        keys = [t for t in named if t.kind == THING]
        locks = [t for t in named if t.kind == CONTAINER]
        if not self._note or len(named) != 2 or len(keys) != 1 or len(locks) != 1:
            return None, None
        (key,), (lock,) = keys, locks
        places = any(sentence.preposition(t) in (*PLACED, "from", "into") for t in named)
        if places or sentence.searches(lock) or sentence.keeps(lock, key):
            return None, None
        if sentence.commands_to_put or sentence.was_put:
            return None, None
        return key, lock

    def _turns_so(self, sentence: Sentence, key: NamedThing, lock: NamedThing) -> bool:
        """Whether a thing that is not called a key is used as one."""
        if not self._note and key.kind == "" and not sentence.only_opens(key, lock):
            return False  # a goal names what is to be had, and where
        turns = sentence.turns_in(key, lock)
        if turns is not None:
            loosely = self._note or key.kind == THING
            serves = self._note and key.kind == THING and sentence.is_used(key)
            return turns and (serves or (sentence.opens if loosely else sentence.opens_surely))
        if key.kind == THING:
            serves = lock.kind != "" or sentence.preposition(lock) == "for"
            return self._note and (serves or sentence.opens_surely)
        if not self._note or lock.kind == "":
            return False
        told = lock.kind == CONTAINER and self._named.get(key.name, 0) > 1
        return sentence.opens_surely or told

    def _there(self, sentence: Sentence) -> list[NamedThing]:
        """The room that was named last, where a sentence speaks of what is there."""
        earlier = [t for t in self._before if t.kind == ROOM][:1]
        if not _THERE.search(sentence.cues):
            return []
        self.rooms = [room for room in self.rooms if room not in earlier]
        return earlier

    def _turns(self, sentence: Sentence, key: NamedThing, lock: NamedThing) -> bool:
        """Whether a sentence about a key and a lock says that they go together."""
        if sentence.is_used(key) or sentence.uses(key, lock):
            return True
        surely = sentence.opens_surely
        if key.kind != KEY and sentence.preposition(key) in (*PLACED, "from"):
            return False
        if any(sentence.preposition(t) == "from" for t in sentence.things if t.name == lock.name):
            return False
        where = sentence.preposition(lock)
        if sentence.preposition(key) == "from" and where == "to":
            return False
        if sentence.keeps(lock, key) or sentence.preposition(key) == "from":
            return surely
        if where in ON and lock.kind == CONTAINER:  # things lie in what locks, not on it
            return True
        if where in PLACED:
            return surely or sentence.works_on(self._note)
        if where in ("for", "with", "against", "into"):
            looks = sentence.looks_at(lock)
            return surely or not (looks or (where == "into" and sentence.was_put))
        if sentence.is_in_it or sentence.seeks(lock):
            return surely
        return self._note or sentence.opens or sentence.is_bare

    def _locate(
        self, sentence: Sentence, things: list[NamedThing], rooms: list[NamedThing]
    ) -> None:
        """Where things are: in furniture that is named, and that or they in a room."""
        if sentence.commands_to_put:
            for holder, room in pairwise(things):  # the place that it names, as it is found
                if room.kind == ROOM and holder.kind in (CONTAINER, SUPPORTER):
                    self.tell(holder, "is in", room)
            return
        rest = [t for t in things if t.kind not in (ROOM, DOOR) and t not in rooms]
        place = self._holder(sentence, rest)
        if place is not None:
            word = sentence.preposition(place) or sentence.stranded
            on = word in ON or (word not in WITHIN and place.kind == SUPPORTER)
            sure = word in (*ON, *WITHIN) or place.kind
            for thing in rest:
                if thing is place or thing.kind == SUPPORTER:
                    continue
                if sure or thing.kind == CONTAINER:
                    self.tell(thing, "is on" if on else "is in", place)
            rest = [place]
        if rooms and sentence.places_in_room:
            for thing in rest:
                self.tell(thing, "is in", rooms[0])

    @staticmethod
    def _holder(sentence: Sentence, things: list[NamedThing]) -> NamedThing | None:
        """The thing that another is said to be in or on."""
        if len(things) < 2:
            return None
        for thing in things:
            if sentence.preposition(thing) in PLACED and (thing.kind or sentence.places):
                return thing
        for thing in things:
            if sentence.stranded and thing.kind in (CONTAINER, SUPPORTER):
                return thing
            if sentence.preposition(thing) == "from":
                return thing
        furniture = [t for t in things if t.kind in (CONTAINER, SUPPORTER)]
        if len(furniture) == 1 and (sentence.is_in_it or sentence.seeks(furniture[0])):
            return furniture[0]
        for thing in things:
            if thing.kind not in (CONTAINER, SUPPORTER, ""):
                continue
            if any(t is not thing and sentence.keeps(thing, t) for t in things):
                return thing
        return None

    def place_locks(self) -> None:
        """A room that is named alone, or in a note what may be one, is where its lock is."""
        if self._note and not self.rooms:
            told = {name for fact in self.facts for name in (fact.subject, fact.object)}
            self.rooms = [room for room in self._unknown if room.name not in told]
        super().place_locks()

    def learnt(self) -> dict[str, str]:
        """What the text tells of names that nobody knew: which are keys, and which lock."""
        pairs = [(fact.subject, fact.object) for fact in self.facts if fact.relation == "opens"]
        kinds = {lock: CONTAINER for _, lock in pairs if not kind_of_noun(lock)}
        kinds |= {key: KEY for key, _ in pairs if not kind_of_noun(key)}
        return {name: kind for name, kind in kinds.items() if self._kind_of(name) is None}

    def _drop_what_is_nothing(self) -> None:
        """A word that nobody knows, said once, names nothing that could be found."""
        once = {
            t.name
            for t in self.meant
            if self._named.get(t.name, 0) < 2 and not is_known(t, self._kind_of)
        }
        self.facts = {
            fact: span
            for fact, span in self.facts.items()
            if once.isdisjoint((fact.subject, fact.object))
        }
