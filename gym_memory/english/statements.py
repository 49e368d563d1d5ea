"""What a text tells of keys, locks and places, in whatever words it tells it.

English has more ways to say that a key opens a chest than anyone can list, but few things that a
sentence can say of a key and a chest. So a sentence is not matched against forms. First the
things in it are found, and what each is: known from play, or by its noun. Then the words around
them decide between the few relations that such things can have: a key *opens* what locks, a thing
*is in* a room, *in* or *on* a piece of furniture. Where two of a kind compete, the one that the
sentence speaks against (``not``, ``forget``, ``instead of``) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from gym_memory.english.nouns import (
    CONTAINER,
    DOOR,
    KEY,
    ROOM,
    SUPPORTER,
    TEXT,
    kind_of_noun,
    names_person,
    word_set,
)
from gym_memory.english.phrases import clean_name, head_noun
from gym_memory.memory.extract.base import Mention
from gym_memory.types import Triple

__all__ = ["KindOf", "NamedThing", "Told", "read_statements", "things_in"]

KindOf = Callable[[str], str | None]
"""What is known of a name: ``key``, ``room``, ``container``, ``supporter``, ``door``; ``thing`` for
what can be carried; empty for a name that is known to be none of these, None for an unknown one."""

THING = "thing"
_NONE = "none"
_GENERIC = ("key", "keys")
_MAX_TEXT_CHARS = 10_000
_MOST_SENTENCES = 60
_MOST_SPLITS = 100
_MOST_WORDS = 80

_TOKEN = re.compile(r"[A-Za-z0-9_][\w'’-]*|[.,;:!?/()=–—>]")
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|\n|$)")
_SPLIT = re.compile(r"[;:] |, and ")
_ARTICLES = word_set(
    """
    the a an that this my your his her its their our
    """
)
_FUNCTION = word_set(
    """
    a an the that this these those my your his her its their our and or but nor so if unless
    until when once whoever who which what where how why while than then there here it he she
    they we you i one me him them us to of in on at by for from with without using into onto
    inside within upon under beneath below behind beside near above over atop between among
    against about after before except lacking is are was were be been being am will would can
    could may might must shall should do does did has have had not never no only just also too
    very ago now soon alone nothing nobody somebody everybody someone anyone everyone
    anywhere nowhere somewhere else again yet still as such both either neither each every all
    some any already always up down out off back away first last next yes everything
    """
)
_VERBS = word_set(
    """
    open opens opened opening unlock unlocks unlocked unlocking lock locks locked use uses used
    using fit fits fitted belong belongs belonged need needs needed want wants wanted require
    requires take takes took taken taking get gets got getting go goes going gone went stand
    stands stood lie lies lay lying sit sits rest rests rested reside resides wait waits waiting
    hide hides hid hidden hang hangs keep keeps kept hold holds held contain contains contained
    house houses store stores stored guard guards live lives sleep sleeps dwell dwells turn
    turns turned try tries tried put puts place places placed leave leaves left find finds found
    look looks looked search searches searched seek seeks see sees saw seen say says said tell
    tells told hear heard swear swore stay stays remain remains work works worked suit suits
    match matches accept accepts respond responds operate operates fasten unfasten came come
    comes make makes made cut said meant stores adorns face enter visit bring brings brought
    carry carried move moved moves know knows knew dreams dream yields answers obeys forged laid
    spotted located tucked stashed stowed deposited concealed buried
    """
)
_ABSTRACT = word_set(
    """
    place places way ways walk look goal aim end thing things one ones secret sooner better best
    stop visit destination answer question rumour rumor trip room rooms lock locks inside
    outside hand hands key's time day night moment right wrong left other others rest pair set
    kind sort reason word words truth matter point case fact help use idea hint clue attempt
    step steps business glance click lid furniture floor ground wall walls corner middle top
    bottom back front side light dark air house world people writer same whole name keyhole
    search journey meal dish recipe ingredient ingredients call tour trip stroll pay turn chance
    luck need location whereabouts shape pocket purpose power partner hiding position spot
    advice legend business concern memory mind story content contents combination moment
    pride home trick waste solution result surprise gift prize problem question effort doubt
    message center centre heart depths midst presence touch sight view care custody keeping
    possession company mechanism bolt entrance exit direction distance yesterday today
    usual job task duty work mystery favourite favorite list shopping
    """
)
"""Nouns that stand for no thing one could find, where nothing is known by that name."""
_CONDITIONS = ("locked", "unlocked", "open", "opened", "closed", "shut")
_LABEL = re.compile(r"[A-Z]?\d+|[A-HJ-Z]|[IVX]{2,4}")
_OPENS = re.compile(
    r"\b(?:open\w*|(?:un)?lock(?:s|ed|ing)?|fit(?:s|ted)?|belongs? to|goe?s? with|suit(?:s|ed)?"
    r"|match(?:es)?|turn(?:s|ed)?|operates?|works? (?:on|for)|accepts?|responds? to"
    r"|key (?:to|for)|(?:in)?to the lock|get\w* (?:\w+ )?into|the inside of|past|shut"
    r"|(?:made|cut|meant|forged) to|for|pair|set|attempt|apply|slide|insert|use|try|unseal\w*"
    r"|undo\w*|releases?|admit\w*|access|need(?:s|ed)?|require[sd]?|takes?|wants?)\b",
    re.IGNORECASE,
)
_OPENS_SURELY = re.compile(
    r"\b(?:open\w*|unlock\w*|lock(?:s|ed|ing)?|fits?|suits?|turns?|operates?|key to|the lock of"
    r"|belongs? to|goes with|keyhole|get\w* (?:\w+ )?in\w*|access|other key"
    r"|(?:is|be|are) (?:needed|necessary|required))\b",
    re.IGNORECASE,
)
_ON = ("on", "onto", "upon", "atop")
_BY = ("with", "without", "using", "by", "lacking")
_PLACED = frozenset(("in", "inside", "within", "under", "beneath", "behind", "at", *_ON))
_KEEPING = word_set(
    """
    guards guard holds hold holding contain contains has had hides hide hiding keeps keep houses
    stores store conceals conceal shelters shelter hosts includes boasts offers
    """
)
_KEEPS = re.compile(
    r"\b(?:from|out of|search\w*|check|look\w*|find\w*|found|reach|glance|touch|seek|left"
    r"|examine|inspect|notice|(?:can|may|should|will|would|'ll|’ll) see|hid|where)\b",
    re.IGNORECASE,
)
_SEEKS = re.compile(r"\b(?:from|search\w*|look\w*|check|reach|seek)\b", re.IGNORECASE)
_PUTS = re.compile(
    r"(?:^|, |\band |\bthen |\bto )(?:put|place|insert|sit|set|lay|leave|rest|deposit|drop|stow"
    r"|return|position|move|bring|carry)\b",
    re.IGNORECASE,
)
_READS = re.compile(r"(?:check|consult|read|examine|inspect|study)\b", re.IGNORECASE)
_ORDERS = re.compile(f"{_READS.pattern}|{_PUTS.pattern}", re.IGNORECASE)
_GOVERNS = ("with", "using", "to", "of", "for", "in", "into")
_GO_TO = re.compile(
    r"\b(?:(?:go|walk|head|proceed|travel|move|return|continue|come|wander|run|hurry|way|trip"
    r"|yourself|back|over|on|off|straight) to|visit|enter)$"
)
_TAKES_TO = re.compile(r"\b(?:take|bring|carry)\b[^.]*\bto\b", re.IGNORECASE)
_NOT = word_set(
    """
    not no never nothing nobody useless vain contrary forget spare instead rather neither wrong
    avoid unlike skip ignore once formerly waste wasted
    """
)
_BE = ("is", "are", "was", "were")
_REFUSES = re.compile(
    r"\b(?:not(?! far\b| only\b| just\b)|cannot|never(?! left))\b|n['’]t\b", re.IGNORECASE
)
_SUPPOSES = re.compile(
    r"\b(?:might|may|could|would) (?:think|believe|suppose|expect|guess)\b|\bused to be\b"
    r"|\b(?:was|were) once\b|\? ?no ?[.!]?$",
    re.IGNORECASE,
)
"""What is not, or no longer, so: the next clause tells what is."""
_BREAK = frozenset((",", ";", ":", "?", "but", "and", "however", "it"))
_EXCEPT = re.compile(
    r"\b(?:but|without|unless|until|except|only|nothing|nobody|lacking|no|never|if|else"
    r"|otherwise|than)\b",
    re.IGNORECASE,
)
_THERE = re.compile(r"\bthere\b(?! (?:is|are|was|stands|lies)\b)", re.IGNORECASE)


class Told(NamedTuple):
    """What a text tells.

    Attributes:
        facts: Facts, each with the characters that name its subject.
        names: Things that the text is about, with the characters of each.
    """

    facts: tuple[Mention, ...]
    names: dict[str, tuple[int, int]]


class NamedThing(NamedTuple):
    """Something that a sentence names.

    Attributes:
        name: Its name.
        kind: What it is; empty if unknown.
        first: Position of its first word, article excluded.
        last: One past the position of its last word.
        span: Its characters in the text.
    """

    name: str
    kind: str
    first: int
    last: int
    span: tuple[int, int]


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
    reader = _Reader(text[:_MAX_TEXT_CHARS], kind_of)
    reader.read()
    if note:
        reader.pair_up()
    reader.place_locks()
    return Told(tuple(Mention(fact, *span) for fact, span in reader.facts.items()), reader.names)


def things_in(text: str, start: int, end: int, kind_of: KindOf) -> list[NamedThing]:
    """The things that a sentence names, those set aside for others included."""
    return _Sentence(text, start, end, kind_of).things


class _Reader:
    """Reads one text; what was read before tells what *it* means."""

    def __init__(self, text: str, kind_of: KindOf):
        self._text, self._kind_of = text, kind_of
        self.facts: dict[Triple, tuple[int, int]] = {}
        self.names: dict[str, tuple[int, int]] = {}
        self._before: list[NamedThing] = []
        self._named: dict[str, None] = {}
        self._meant: list[NamedThing] = []
        self._rooms: list[NamedThing] = []  # named alone: where all this happens
        self._splits = _MOST_SPLITS

    def read(self) -> None:
        """Sentence by sentence; a question goes with its answer."""
        start = -1
        for number, found in enumerate(_SENTENCE.finditer(self._text)):
            if number >= _MOST_SENTENCES:
                break
            start = found.start() if start < 0 else start
            if found.group().rstrip().endswith("?"):
                continue
            for begin, end in self._clauses(start, found.end()):
                self._read_sentence(begin, end)
            start = -1
        if start >= 0:
            self._read_sentence(start, len(self._text))

    def _clauses(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """A sentence, or its parts where each says something of its own."""
        for found in islice(_SPLIT.finditer(self._text, start, end), self._splits):
            self._splits -= 1
            cut = found.start()
            first, rest = (
                _Sentence(self._text, *part, self._kind_of) for part in ((start, cut), (cut, end))
            )
            if first.things and len(rest.things) > 1:
                yield start, cut
                start = cut
        yield start, end

    def _read_sentence(self, start: int, end: int) -> None:
        sentence = _Sentence(self._text, start, end, self._kind_of)
        things = [self._whole(thing) for thing in sentence.meant()]
        self._meant += things
        named = [thing for thing in things if thing.kind != ROOM]
        if len(things) == 1 or (things and not named):
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
        self._named[thing.name] = None
        return thing

    def _it(self, sentence: _Sentence) -> list[NamedThing]:
        """What *it* stands for: the thing named last, or the key if something is opened."""
        at = sentence.pronoun
        if at < 0:
            return []
        earlier = [thing for thing in self._before if thing.kind != ROOM]
        present = [thing for thing in sentence.things if thing.kind != ROOM]
        if present and _OPENS.search(sentence.cues):
            key = present[0].kind == KEY
            fitting = [t for t in earlier if (t.kind == KEY) != key]
            earlier = fitting or earlier
        if sentence.stands(at):  # as furniture does, and no key
            earlier = [thing for thing in earlier if thing.kind != KEY]
        return [thing._replace(first=at, last=at + 1) for thing in earlier[-1:]]

    # ------------------------------------------------------------ relations

    def _relate(self, sentence: _Sentence, things: list[NamedThing]) -> None:
        keys = [t for t in things if t.kind == KEY]
        rooms = [t for t in things if t.kind == ROOM]
        others = [t for t in things if t.kind not in (KEY, ROOM)]
        locks = [t for t in others if t.kind in (CONTAINER, DOOR, SUPPORTER)]
        if not keys and len(others) == 2:
            keys, locks = _by_exclusion(others, sentence.cues)
        if len(rooms) == 1 and len(things) == 1:
            self._rooms += rooms
            return
        if sentence.is_refusal():
            return
        holders = locks or [t for t in others if t.kind not in (THING, TEXT)]
        opened = [t for t in holders if t.kind != SUPPORTER]
        if keys and opened and self._turns(sentence, keys[0], opened[0]):
            self._tell(keys[0], "opens", opened[0])
            if rooms and opened[0].kind != DOOR:
                self._tell(opened[0], "is in", rooms[0])
            elif opened[0].kind != DOOR:
                for room in self._there(sentence):
                    self._tell(opened[0], "is in", room)
            return
        if keys and rooms and not others and _TAKES_TO.search(sentence.cues):
            return
        self._locate(sentence, things, rooms or self._there(sentence))

    def _there(self, sentence: _Sentence) -> list[NamedThing]:
        """The room that was named last, where a sentence speaks of what is there."""
        earlier = [t for t in self._before if t.kind == ROOM][:1]
        if not _THERE.search(sentence.cues):
            return []
        self._rooms = [room for room in self._rooms if room not in earlier]
        return earlier

    def _turns(self, sentence: _Sentence, key: NamedThing, lock: NamedThing) -> bool:
        """Whether a sentence about a key and a lock says that they go together."""
        if sentence.preposition(key) in _BY:
            return True
        if sentence.keeps(lock):
            return _OPENS_SURELY.search(sentence.cues) is not None
        word = sentence.preposition(lock)
        if word in _ON and lock.kind == CONTAINER:  # things lie in what locks, not on it
            return True
        if word in _PLACED or sentence.preposition(key) == "from":
            return _OPENS_SURELY.search(sentence.cues) is not None or sentence.works_on
        if _OPENS.search(sentence.cues):
            return not _SEEKS.search(sentence.cues) or bool(_OPENS_SURELY.search(sentence.cues))
        return not _KEEPS.search(sentence.cues)

    def _locate(
        self, sentence: _Sentence, things: list[NamedThing], rooms: list[NamedThing]
    ) -> None:
        """Where things are: in furniture that is named, and that or they in a room."""
        if _PUTS.search(sentence.text):
            for holder, room in pairwise(things):  # the place that it names, as it is found
                if room.kind == ROOM and holder.kind in (CONTAINER, SUPPORTER):
                    self._tell(holder, "is in", room)
            return
        rest = [t for t in things if t.kind != ROOM and t.kind != DOOR]
        place = next((t for t in rest if sentence.preposition(t) in _PLACED), None)
        if place is None and len(rest) > 1:
            said = _KEEPS.search(sentence.cues)
            place = next(
                (
                    t
                    for t in rest
                    if (t.kind in (CONTAINER, SUPPORTER) and said)
                    or (t.kind in (CONTAINER, SUPPORTER, "") and sentence.keeps(t))
                ),
                None,
            )
        if place is not None and len(rest) > 1:
            word = sentence.preposition(place) or sentence.stranded
            on = word in _ON or (word not in ("in", "inside", "within") and place.kind == SUPPORTER)
            sure = word or place.kind or sentence.keeps(place)
            for thing in rest:
                if thing is not place and thing.kind != SUPPORTER and sure:
                    self._tell(thing, "is on" if on else "is in", place)
            rest = [place]
        if rooms and sentence.places_in_room(rest, rooms[0]):
            for thing in rest:
                self._tell(thing, "is in", rooms[0])

    def pair_up(self) -> None:
        """A key and a lock that are named, one each, where nothing is told of what opens what."""
        if any(fact.relation == "opens" for fact in self.facts):
            return
        holders = {fact.object for fact in self.facts}
        keys = {t.name: t for t in self._meant if t.kind == KEY}
        locks = {t.name: t for t in self._meant if t.kind == CONTAINER and t.name not in holders}
        if len(keys) == len(locks) == 1:
            (key,), (lock,) = keys.values(), locks.values()
            self._tell(key, "opens", lock)

    def place_locks(self) -> None:
        """A room that is named alone is where the lock of the text is."""
        names = {room.name: room for room in self._rooms}
        if len(names) != 1:
            return
        placed = {fact.subject for fact in self.facts if fact.relation != "opens"}
        (room,) = names.values()
        for fact in list(self.facts):
            lost = fact.relation == "opens" and fact.object not in placed
            if lost and kind_of_noun(fact.object) != DOOR:
                self.facts[Triple(fact.object, "is in", room.name)] = room.span
                self.names.setdefault(room.name, room.span)

    def _tell(self, subject: NamedThing, relation: str, obj: NamedThing) -> None:
        if subject.name != obj.name:
            self.facts.setdefault(Triple(subject.name, relation, obj.name), subject.span)
            for thing in (subject, obj):
                self.names.setdefault(thing.name, thing.span)


def _bare(word: str) -> str:
    """A word or a name without the ``'s`` of what it owns."""
    return word.removesuffix("'s").removesuffix("’s")


def _is_no_thing(name: str) -> bool:
    """Whether an unknown name stands for nothing that can be found: *place*, *old gardener*."""
    first, *rest = name.split()
    if not rest:
        return first in _ABSTRACT or first in _GENERIC or names_person(name)
    if first == "own":
        return True
    if names_person(name):
        return True
    labelled = _LABEL.fullmatch(rest[-1].upper()) is not None
    vague = rest == ["room"] or not kind_of_noun(name)
    return first in _ABSTRACT and not labelled and vague


def _by_exclusion(things: list[NamedThing], cues: str) -> tuple[list[NamedThing], list[NamedThing]]:
    """Of two things in a sentence about opening, the one that cannot be a lock is the key."""
    for key, lock in (things, things[::-1]):
        could = _OPENS if key.kind == THING else _OPENS_SURELY
        if lock.kind in (CONTAINER, DOOR) and key.kind in ("", THING) and could.search(cues):
            return [key], [lock]
    return [], [t for t in things if t.kind in (CONTAINER, DOOR, SUPPORTER)]


class _Sentence:
    """The words of a sentence and the things that they name."""

    def __init__(self, text: str, start: int, end: int, kind_of: KindOf):
        self.text = text[start:end].strip()
        found = list(islice(_TOKEN.finditer(text, start, end), _MOST_WORDS))
        self._words = [token.group() for token in found]
        self._spans = [token.span() for token in found]
        self._lower = [word.lower() for word in self._words]
        self._kind_of = kind_of
        self.things = list(self._find())
        self.cues = self._without_names()

    def _without_names(self) -> str:
        """The words that are no part of a name, for these tell how things are related."""
        named = {at for thing in self.things for at in range(thing.first, thing.last)}
        return " ".join(word for at, word in enumerate(self._words) if at not in named)

    # ------------------------------------------------------------ finding names

    def _find(self) -> Iterator[NamedThing]:
        at = 0
        while at < len(self._words):
            end = self._known(at) or self._after_article(at) or self._proper(at) or self._object(at)
            if end:
                thing = self._thing(at, end)
                if thing.kind != _NONE:
                    yield thing
                    at = end
                else:
                    at += 1
            else:
                at += 1

    def _thing(self, first: int, last: int) -> NamedThing:
        words = self._lower[first:last]
        name = _bare(clean_name(" ".join(words)))
        kind = self._kind_of(name)
        if kind is None and kind_of_noun(name) in ("", CONTAINER) and self._is_gone_to(first):
            kind = ROOM
        begin, end = self._spans[first][0], self._spans[last - 1][1]
        end -= len(words[-1]) - len(_bare(words[-1]))
        if kind is None and (
            _is_no_thing(name) or (head_noun(name).endswith("s") and kind_of_noun(name) == ROOM)
        ):
            kind = _NONE  # corridors are no place to be
        elif kind is None or (kind == THING and kind_of_noun(name) == KEY):
            kind = kind_of_noun(name)
        return NamedThing(name, kind, first, last, (begin, end))

    def _is_gone_to(self, at: int) -> bool:
        """Whether the words before a name send somebody there: ``walk to the``, ``visit``."""
        while at and self._lower[at - 1] in _ARTICLES:
            at -= 1
        return _GO_TO.search(" ".join(self._lower[:at])) is not None

    def _known(self, at: int) -> int:
        """End of the longest known name that begins here, 0 for none."""
        if self._lower[at] in _FUNCTION:
            return 0
        for length in (5, 4, 3, 2, 1):
            words = self._lower[at : at + length]
            if len(words) == length and self._kind_of(_bare(" ".join(words))) is not None:
                return at + length
        return 0

    def _after_article(self, at: int) -> int:
        """End of the name after an article, 0 where there is none."""
        before = at - 1
        if before > 0 and self._words[before] == "A" and self._words[before - 1] not in _BREAK:
            return 0  # a label: Key A
        if self._lower[before] in ("that", "this") and self._is_verb(at):
            return 0
        while before > 0 and self._lower[before] in _CONDITIONS:
            before -= 1
        if before < 0 or self._lower[before] not in _ARTICLES or self._lower[at] in _CONDITIONS:
            return 0
        end, best = at, 0
        while end < len(self._words) and end - at < 4 and self._is_nominal(end, at):
            end += 1
            if kind_of_noun(" ".join(map(_bare, self._lower[at:end]))):
                best = end
            elif best:
                break
        if best:
            end = best
        elif end - at > 2:
            end = at + 2
        while end < len(self._words) and end > at and _LABEL.fullmatch(_bare(self._words[end])):
            end += 1
            if end < len(self._words) and kind_of_noun(_bare(self._lower[end])):
                end += 1  # type A key
        if self._lower[end : end + 1] == ["of"] and self._is_of_a_kind(end + 1, at):
            end += 2
        return end if end > at and self._lower[end - 1] not in ("lock", "key to") else 0

    def _is_of_a_kind(self, at: int, first: int) -> bool:
        """Whether *sliver of venison* goes on: a plain noun after *of*, and no kind before it."""
        if at >= len(self._words) or kind_of_noun(" ".join(self._lower[first : at - 1])):
            return False
        if kind_of_noun(self._lower[at]):
            return False
        abstract = self._lower[first] in _ABSTRACT
        return not abstract and self._words[at].islower() and self._is_nominal(at, at)

    def _is_verb(self, at: int) -> bool:
        """Whether a word after *that* or *this* says what it does, and is no noun."""
        word, kind = self._lower[at], kind_of_noun(self._lower[at])
        return not kind and (word in _VERBS or word.endswith("s"))

    def _is_nominal(self, at: int, first: int) -> bool:
        word = self._lower[at]
        if at > first and self._lower[at - 1] != _bare(self._lower[at - 1]):
            return False
        if at > first and names_person(self._lower[at - 1]) and not kind_of_noun(word):
            return False  # what somebody does
        if word in _VERBS and at > first and (word.endswith("s") or not kind_of_noun(word)):
            return False
        return word[0].isalnum() and word not in _FUNCTION

    def _proper(self, at: int) -> int:
        """End of a name with capitals or a label: ``Dim Hall``, ``Red safe``, ``opener B``."""
        if self._lower[at] in _FUNCTION or not self._words[at][0].isalpha():
            return 0
        end = at
        while end < len(self._words) and self._is_capital(end):
            end += 1
        if end == at:
            end += 1
            if not (end < len(self._words) and _LABEL.fullmatch(_bare(self._words[end]))):
                compound = "-" in self._words[at] and kind_of_noun(self._lower[at])
                return end if compound else 0
        elif end < len(self._words) and self._is_kind(end):
            end += 1
            if at == 0 and (self._lower[at] in _VERBS or _ORDERS.match(self._words[at])):
                return 0
        while end < len(self._words) and _LABEL.fullmatch(_bare(self._words[end])):
            end += 1
        opening = at == 0 or self._words[at - 1] in (":", ".", "?", "!", ";")
        if opening and end - at > 2 and self._is_capital(at + 1):
            return 0  # an imperative before a name: the name begins at the next word
        if opening and (end - at == 1 or self._lower[at] in _VERBS):
            return 0
        return end

    def _object(self, at: int) -> int:
        """End of a name without article after a verb or preposition: ``unlocks white locker``."""
        before = self._lower[at - 1] if at else ""
        if before not in _VERBS and before not in _GOVERNS:
            return 0
        for end in (at + 2, at + 3):
            if end <= len(self._words) and self._is_kind(end - 1):
                plain = all(self._is_nominal(i, at) for i in range(at, end))
                return end if plain and self._lower[at] not in _VERBS else 0
        return 0

    def _is_kind(self, at: int) -> bool:
        """Whether a plain noun says what a name before it names."""
        word = self._words[at]
        return word.islower() and kind_of_noun(word) in (KEY, CONTAINER, DOOR)

    def _is_capital(self, at: int) -> bool:
        word = self._words[at]
        return len(word) > 1 and word[0].isupper() and self._lower[at] not in _FUNCTION

    # ------------------------------------------------------------ questions

    @property
    def pronoun(self) -> int:
        """Where an *it* stands that means a thing; -1 if nowhere."""
        for at, word in enumerate(self._lower):
            before = self._lower[at - 1] if at else ""
            after = self._lower[at + 1 : at + 3]
            if word != "it" or before in ("do", "does", "doing", "for", "about", "happens"):
                continue
            if after[:1] in (["is"], ["was"]):
                named = at + 2 + (len(after) > 1 and after[1] in _ARTICLES)
                if any(thing.first == named for thing in self.things):
                    continue  # it is Room 4 that ...
            if after[:1] in (["happens"], ["all"]) or after == ["is", "."]:
                continue
            return at
        return -1

    def stands(self, at: int) -> bool:
        """Whether the word after a pronoun is *stands* or *stood*."""
        return self._lower[at + 1 : at + 2] in (["stands"], ["stood"], ["standing"])

    def meant(self) -> list[NamedThing]:
        """The things named, without those that the sentence sets aside for another of its kind."""
        things = self.things
        rooms = {t.name for t in things if t.kind == ROOM}
        if len(rooms) > 1:  # the hall, on the way to a room with a name of its own
            things = [t for t in things if not (t.kind == ROOM and self._is_vague(t))]
        for kinds in ((ROOM, ""), (CONTAINER, SUPPORTER, DOOR), (KEY,)):
            against = {t: self._spoken_against(t) for t in things if t.kind in kinds}
            if len({t.name for t in against}) > 1 and max(against.values()) > min(against.values()):
                out = {t.name for t in against if against[t] == max(against.values())}
                things = [t for t in things if t.name not in out]
        return things

    def _is_vague(self, thing: NamedThing) -> bool:
        return " " not in thing.name and self._kind_of(thing.name) is None

    def _spoken_against(self, thing: NamedThing) -> int:
        """How much a sentence says that it does not mean a thing: 0 to 3."""
        before = [w for w in self._lower[: thing.first] if w not in _ARTICLES]
        after = self._lower[thing.last : thing.last + 4]
        if before[-1:] == ["not"] or (before[-2:-1] == ["not"] and before[-1] in _PLACED):
            return 3
        if after[:2] == ["?", "no"] or after[:1] == ["be"] or "nothing" in after[:2]:
            return 3
        if thing.kind == ROOM and before[-1:] in (["from"], ["through"], ["past"]):
            return 2
        if (before[-1:] == ["left"] and "never" not in before) or self._is_denied(after):
            return 2
        clause: list[str] = []
        for word in reversed(before):
            if word in _BREAK and word != "it":
                break
            if word in _NOT or word.endswith(("n't", "n’t")):
                return 2
            clause.insert(0, word)
        return 2 if _SUPPOSES.search(" ".join(clause)) else 0

    @staticmethod
    def _is_denied(words: list[str]) -> bool:
        """Whether what follows a name says that it *is not*, *never was*."""
        first, second = (*words, "", "")[:2]
        return (first in _BE and second in ("not", "never")) or first.endswith(("sn't", "sn’t"))

    def is_refusal(self) -> bool:
        """Whether it only says that something is not so."""
        if len(self.meant()) < len(self.things):
            return False
        if _SUPPOSES.search(self.cues):
            return True
        excepted = _EXCEPT.search(re.sub(r"\b(?:never|no)\b", "", self.cues))
        return bool(_REFUSES.search(self.cues)) and not excepted

    def preposition(self, thing: NamedThing) -> str:
        """The preposition right before a thing, its article left out."""
        at = thing.first - 1
        while at >= 0 and self._lower[at] in _ARTICLES:
            at -= 1
        word = self._lower[at] if at >= 0 else ""
        return word if word in _FUNCTION else ""

    def keeps(self, holder: NamedThing) -> bool:
        """Whether a verb of keeping follows right after a piece of furniture."""
        after = self._lower[holder.last : holder.last + 4]
        while after and after[0] in (*_BE, *_ARTICLES):
            del after[0]
        return bool(_KEEPING.intersection(after[:1])) and after[1:2] != ["to"]

    @property
    def stranded(self) -> str:
        """A preposition at the end, or before *it*: ``the box has the coin in it``."""
        words = [w for w in self._lower if w[0].isalnum()]
        for word in (*words[-1:], *(words[-2:-1] if words[-1:] == ["it"] else ())):
            if word in _PLACED:
                return word
        return ""

    @property
    def works_on(self) -> bool:
        """Whether its verb acts on what follows the preposition."""
        return bool(re.search(r"\b(?:use|try|turn|works?|apply|lock|click)\b", self.cues, re.I))

    def places_in_room(self, rest: list[NamedThing], room: NamedThing) -> bool:
        """Whether what it says of some things and a room is that they are there."""
        if _READS.match(self.text) and self.things[0].kind != ROOM:
            return False  # what is to be read is in a room, but not said in or on what
        return bool(rest)
