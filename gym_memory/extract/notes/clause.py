"""Tags of a clause in a note: its things, verbs, prepositions and denials.

A clause is tagged once. ``statements.py`` and ``recipes.py`` interpret the tags, and read no words
but those between two things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from gym_memory.core.records import changed
from gym_memory.extract.notes.kept import kept
from gym_memory.extract.notes.words import (
    CARRIED,
    CONTAINER,
    DOOR,
    KEY,
    ROOM,
    SUPPORTER,
    THING,
    VERBS,
    KindOf,
    is_base,
    kind_of_noun,
    names_person,
    phrase_pattern,
    senses,
    word_group,
)
from gym_memory.graph.schema import clean_name

__all__ = ["ARTICLES", "ON", "PLACED", "WITHIN", "Clause", "NamedThing", "is_known", "named_in"]

ON = ("on", "onto", "upon", "atop")
WITHIN = ("in", "inside", "within")
PLACED = (*WITHIN, *ON, "under", "beneath", "behind", "at")
ARTICLES = frozenset(word_group("names", "articles"))
_FUNCTION = frozenset(word_group("names", "function"))
_ABSTRACT = frozenset(word_group("names", "abstract"))
_VAGUE = frozenset(word_group("names", "vague"))
_NOUN_ADJECTIVES = word_group("names", "made_of")
_CONDITIONS = word_group("names", "conditions")
_CLAUSE_STARTS = word_group("names", "openings")
_DENIAL_ENDS = frozenset(word_group("clauses", "breaks"))
_NEGATIONS = frozenset(word_group("clauses", "negations"))
_KEEPING_VERBS = frozenset(word_group("clauses", "kept"))
_PREPOSITIONS = frozenset(word_group("clauses", "prepositions"))

_OF_TOOLS = ("with", "without", "using", "by", "lacking")
_BEGINNING_VERBS = {"begin", "begins", "beginning", "start", "starts", "starting"}
_MAX_WORDS = 80
_TOKEN = re.compile(r"[A-Za-z0-9_][\w'’-]*|[.,;:!?/()=–—>]")
_LABEL = re.compile(r"[A-Z]?\d+|[A-HJ-Z]|[IVX]{2,4}")
_CONTRACTION = re.compile(r"n['’]t$|['’](?:ll|d|ve|re|m)$")
_GO_TO = re.compile(rf"{phrase_pattern('goes_to')}$")
_STRONG_KINDS = (KEY, CONTAINER, SUPPORTER, DOOR)
"""Kinds of nouns that count for more than a known location."""
_OPENING_PHRASE = re.compile(rf"{phrase_pattern('opens')}\b", re.IGNORECASE)
"""Phrases about opening that have no verb of opening."""


class NamedThing(NamedTuple):
    """A thing that a clause names, with its tags.

    Its words are those from ``first`` up to ``last``, without the article; ``span`` is in
    characters.
    """

    name: str
    kind: str
    first: int
    last: int
    span: tuple[int, int]
    preposition: str = ""
    """Preposition before the thing; empty for none."""
    against: int = 0
    """Weight, from 0 to 3, of the evidence that the clause rejects the thing."""


@dataclass(frozen=True)
class Clause:
    """A clause with its tags, built by :meth:`of`."""

    lower: tuple[str, ...]
    """Words and punctuation in lower case."""
    named: frozenset[int]
    """Positions of the words of names."""
    things: tuple[NamedThing, ...]
    meant: tuple[NamedThing, ...]
    """Things without those that the clause rejects in favour of another of their kind."""
    verbs: tuple[tuple[int, frozenset[str]], ...]
    """Positions of verbs outside names, with their senses."""
    cues: str
    """Words outside names, which relate the things."""
    refuses: bool
    """True if the clause only denies."""
    pronoun: int
    """Position of an *it* that means a thing, or of a verb without subject; -1 for none."""
    kind_of: KindOf

    @classmethod
    def of(cls, text: str, start: int, end: int, kind_of: KindOf, *, owns: bool = True) -> Clause:
        """Return the tagged clause from ``start`` to ``end`` in a text.

        Set ``owns`` to False for a text whose things own nothing, such as a recipe: *pig's trotter*
        then names no pig, and *table grape* no table.
        """
        clause = _tagged(text[start:end], owns, kind_of)
        things = tuple(_shifted(thing, start) for thing in clause.things)
        meant = tuple(_shifted(thing, start) for thing in clause.meant)
        return changed(clause, things=things, meant=meant, kind_of=kind_of)

    def has(self, *wanted: str) -> bool:
        """True if a verb has one of these senses."""
        return any(not found.isdisjoint(wanted) for _, found in self.verbs)

    def opens(self, *, surely: bool = False) -> bool:
        """True if the clause is about opening or, unless ``surely``, about what a lock needs."""
        perhaps = not surely and self.has("require", "insert")
        return perhaps or self.has("open") or _OPENING_PHRASE.search(self.cues) is not None

    def is_stranded(self) -> bool:
        """True if the clause ends in a preposition, perhaps with *it*: ``has the coin in it``."""
        words = [word for word in self.lower if word[0].isalnum()]
        if words[-1:] == ["it"]:
            words.pop()
        return bool(words) and words[-1] in PLACED

    def is_used(self, thing: NamedThing) -> bool:
        """True if the clause says that a thing is used or needed."""
        words = self.lower[max(thing.first - 3, 0) : thing.first]
        return thing.preposition in _OF_TOOLS and _BEGINNING_VERBS.isdisjoint(words)

    def looks_at(self, holder: NamedThing) -> bool:
        """True if a verb of seeking comes right before the preposition of a thing."""
        at = self.start(holder) - 2
        return any("seek" in found and where == at for where, found in self.verbs)

    def before(self, thing: NamedThing) -> str:
        """Return the word before a thing and its article; empty at the start."""
        at = self.start(thing)
        return self.lower[at - 1] if at else ""

    def start(self, thing: NamedThing) -> int:
        """Return the position of the first article or word of a thing."""
        at = thing.first
        while at and self.lower[at - 1] in ARTICLES:
            at -= 1
        return at

    def moved(self, thing: NamedThing, at: int) -> NamedThing:
        """Return a thing of an earlier clause at the position of a pronoun."""
        return thing._replace(first=at, last=at + 1, preposition=_preposition(self.lower, at))


def named_in(text: str, start: int, end: int, kind_of: KindOf) -> list[NamedThing]:
    """Return the things that a part of a text names, without other tags."""
    return _words_and_names(text, start, end, kind_of, owns=True)[1]


# Tags


@kept
def _tagged(text: str, owns: bool, kind_of: KindOf) -> Clause:
    words, names = _words_and_names(text, 0, len(text), kind_of, owns)
    lower = tuple(word.lower() for word in words)
    named = frozenset(at for thing in names for at in range(thing.first, thing.last))
    things = tuple(
        thing._replace(preposition=_preposition(lower, thing.first), against=_against(lower, thing))
        for thing in names
    )
    meant = _meant(things)
    cues = " ".join(word for at, word in enumerate(words) if at not in named)
    return Clause(
        lower,
        named,
        things,
        meant,
        tuple(_verbs(lower, named)),
        cues,
        len(meant) == len(things) and _is_refusal(cues),
        _pronoun(lower, named),
        kind_of,
    )


def _shifted(thing: NamedThing, start: int) -> NamedThing:
    """Return a thing with its span in the whole text."""
    first, last = thing.span
    return thing._replace(span=(start + first, start + last))


def _pronoun(lower: Sequence[str], named: frozenset[int]) -> int:
    for at, word in enumerate(lower):
        if word in ("it", "it's") and _means_thing(lower, named, at):
            return at
    first = lower[0] if lower and 0 not in named else ""
    return 0 if "open" in senses(first) and first.endswith("s") else -1  # Opens the red chest


def _means_thing(lower: Sequence[str], named: frozenset[int], at: int) -> bool:
    """True if an *it* means a thing, unlike in *does it* and in *it is Room 4 that*."""
    if at and lower[at - 1] in ("do", "does", "doing", "for", "about"):
        return False
    if lower[at + 1 : at + 2] not in (("is",), ("was",)):
        return True
    return at + 2 not in named and not (lower[at + 2 : at + 3] == ("the",) and at + 3 in named)


def _verbs(lower: Sequence[str], named: frozenset[int]) -> Iterator[tuple[int, frozenset[str]]]:
    for at, word in enumerate(lower):
        is_noun = at and at - 1 not in named and lower[at - 1] in ARTICLES  # the need for
        is_kept = word in ("locked", "sealed", "shut") and not {"in", "into", "inside"}.isdisjoint(
            lower[at + 1 : at + 3]
        )  # locked away in a chest, not by a key
        if word in VERBS and at not in named and not (is_noun or is_kept):
            yield at, senses(word)


_MEANING_OF_OF = {
    "out": "from", "inside": "in", "middle": "in", "corner": "in", "back": "in", "front": "in",
    "centre": "in", "center": "in", "bottom": "in", "depths": "in", "top": "on", "means": "with",
    "help": "with", "use": "with", "aid": "with", "turn": "with", "click": "with",
    "slot": "into", "hole": "into", "mouth": "into", "lock": "into", "keyhole": "into",
}  # fmt: skip
"""Meaning of *of* after a word: ``out of the box``, ``a turn of the key``."""


def _preposition(lower: Sequence[str], first: int) -> str:
    at = first - 1
    while at >= 0 and (lower[at] in ARTICLES or lower[at] in _CONDITIONS):
        at -= 1
    word, before = (lower[at] if at >= 0 else ""), (lower[at - 1] if at > 0 else "")
    if before == "hands":
        return ""  # lay hands on
    if word == "of":
        if not _KEEPING_VERBS.isdisjoint(lower[max(at - 4, 0) : at - 1]):
            return ""  # keeps you out of
        word = _MEANING_OF_OF.get(before, word)
    if word == "left":
        return "from"
    return word if word in _PREPOSITIONS else ""


_SUPPOSES = re.compile(
    r"\b(?:might|may|could|would)(?: well)? "
    r"(?:think|believe|suppose|expect|guess|look|seem|appear)\b"
    r"|(?<!is )(?<!are )(?<!be )\bused to\b|\b(?:thought|believed|assumed|imagined)\b"
    r"|\b(?:may|might) expect\b"
    r"|\b(?:until|till) (?:yesterday|recently|today|last|now)\b"
    r"|\b(?:was|were) once\b|\bseems? (?:made|right|meant|as)\b|\? ?no ?[.!]?$",
    re.IGNORECASE,
)
"""An opinion or a past state, after which the next clause states the present."""
_REFUSES = re.compile(
    r"\b(?:not(?! far\b| only\b| just\b)|cannot|never(?! left\b| move[sd]?\b))\b|n['’]t\b",
    re.IGNORECASE,
)
_EXCEPT = re.compile(rf"\b(?:{'|'.join(word_group('clauses', 'except'))})\b|, or\b", re.IGNORECASE)
"""Words that turn a denial into a statement: ``not without the key``."""
_BEFORE_NOT = word_group("clauses", "before_not")


def _against(lower: Sequence[str], thing: NamedThing) -> int:
    """Return the weight of the evidence that the words around a thing reject it."""
    before = [word for word in lower[: thing.first] if word not in ARTICLES]
    after = lower[thing.last : thing.last + 4]
    if after[:2] == ("?", "no") or after[:1] == ("be",) or "nothing" in after[:2]:
        return 3  # the box? no; let the box be; the box has nothing to do with it
    if before[-1:] == ["left"] or _is_denied(after):
        return 2
    if before[-1:] == ["from"]:
        return 1  # it was there before
    return 2 if _is_negated(before) else 0


def _is_denied(after: Sequence[str]) -> bool:
    first, second, third = (*after, "", "", "")[:3]
    if first in _BEFORE_NOT and second in ("not", "never"):
        return third[:1].isalnum()  # unlike: the box does not.
    return first in ("cannot", "never") or first.endswith(("n't", "n’t"))


def _is_negated(before: Sequence[str]) -> bool:
    clause: list[str] = []
    for word in reversed(before):
        if word in _DENIAL_ENDS:
            break
        if word in _NEGATIONS or word.endswith(("n't", "n’t")):
            return True
        clause.insert(0, word)
    return _SUPPOSES.search(" ".join(clause)) is not None


def _meant(things: tuple[NamedThing, ...]) -> tuple[NamedThing, ...]:
    """Return the things without the most rejected of each kind."""
    for kinds in ((ROOM, ""), (CONTAINER, SUPPORTER, DOOR, ""), (KEY,)):
        rivals = [thing for thing in things if thing.kind in kinds]
        weights = [thing.against for thing in rivals]
        if len({thing.name for thing in rivals}) > 1 and max(weights) > min(weights):
            out = {thing.name for thing in rivals if thing.against == max(weights)}
            things = tuple(thing for thing in things if thing.name not in out)
    return things


def _is_refusal(cues: str) -> bool:
    said = cues.rpartition("?")[2]
    if _SUPPOSES.search(cues):
        return True
    return bool(_REFUSES.search(said)) and _EXCEPT.search(said) is None


# Names


def is_known(thing: NamedThing, kind_of: KindOf) -> bool:
    """True if earlier play, the noun or the form of a name shows that it is a thing's."""
    return bool(thing.kind or " " in thing.name or kind_of(thing.name) is not None)


def _words_and_names(
    text: str, start: int, end: int, kind_of: KindOf, owns: bool
) -> tuple[list[str], list[NamedThing]]:
    tokens = list(islice(_TOKEN.finditer(text, start, end), _MAX_WORDS))
    words = [token.group() for token in tokens]
    return words, list(_Finder(words, [token.span() for token in tokens], kind_of, owns).find())


class _Finder:
    """A finder of the things that a clause names.

    A name is known from play, or it is a noun with an article, words with capitals or a word with a
    label (*Key 4*).
    """

    def __init__(
        self, words: Sequence[str], spans: Sequence[tuple[int, int]], kind_of: KindOf, owns: bool
    ):
        self._words, self._spans, self._kind_of, self._owns = words, spans, kind_of, owns
        self._lower = [word.lower() for word in words]

    def find(self) -> Iterator[NamedThing]:
        """Yield the things in order."""
        at = 0
        while at < len(self._words):
            end = self._known(at)
            if not end:
                end = self._after_article(at) or self._proper(at) or self._object(at)
                at, end = self._known_within(at, end)
            thing = self._thing(at, end) if end else None
            if thing is None:
                at += 1
            else:
                yield thing
                at = thing.last

    def _thing(self, first: int, last: int) -> NamedThing | None:
        """Return the thing that the words name, with its kind; None if they name none."""
        name = _bare(clean_name(" ".join(self._lower[first:last])))
        kind = self._kind_of(name)
        noun = kind_of_noun(name)
        if not self._owns and kind not in (THING, CARRIED):
            end = self._whole(first, last, noun)
            if end > last:
                return self._thing(first, end)
        if kind is None and noun in ("", CONTAINER) and self._is_gone_to(first):
            kind = ROOM
        if kind is None and _is_no_thing(name):
            return None
        if kind is None or (kind == THING and noun in _STRONG_KINDS):
            kind = noun
        elif kind == CARRIED:
            kind = KEY if noun == KEY else THING
        end = self._spans[last - 1][0] + len(_bare(self._words[last - 1]))
        return NamedThing(name, kind, first, last, (self._spans[first][0], end))

    def _whole(self, first: int, last: int, noun: str) -> int:
        """Return the end of a name that begins with an owner or a noun for furniture."""
        owner = self._lower[last - 1] != _bare(self._lower[last - 1])
        end = last
        while (owner or noun) and self._is_nominal(end, end if owner else first):
            end, owner = end + 1, False
        return end

    def _is_gone_to(self, at: int) -> bool:
        """True if the clause sends the reader to the name, which makes it a room."""
        while at and self._lower[at - 1] in ARTICLES:
            at -= 1
        return _GO_TO.search(" ".join(self._lower[:at])) is not None

    def _known(self, at: int) -> int:
        """Return the end of the longest known name at a position; 0 for none."""
        for length in (5, 4, 3, 2, 1):
            words = self._lower[at : at + length]
            if length == 1 and words[0] in _FUNCTION:
                return 0
            if len(words) == length and self._kind_of(_bare(" ".join(words))) is not None:
                return at + length
        return 0

    def _known_within(self, first: int, end: int) -> tuple[int, int]:
        """Return the span of a name, or of a longer known name that starts inside it."""
        longer = ((at, self._known(at)) for at in range(first + 1, end))
        return next(((at, known) for at, known in longer if known > end), (first, end))

    def _after_article(self, at: int) -> int:
        """Return the end of a name after an article; 0 for none."""
        before = at - 1
        if before > 0 and self._words[before] == "A":
            return 0  # a label, as in Key A
        if self._lower[before] in ("that", "this") and self._lower[at] in VERBS:
            return 0
        while before > 0 and self._lower[before] in _CONDITIONS:
            before -= 1
        if before < 0 or self._lower[before] not in ARTICLES or self._lower[at] in _CONDITIONS:
            return 0
        end, best = at, 0
        while end - at < 4 and self._is_nominal(end, at):
            end += 1
            if kind_of_noun(" ".join(map(_bare, self._lower[at:end]))):
                best = end
        adjective = self._lower[at] == "key" or (best and self._lower[best - 1] in _NOUN_ADJECTIVES)
        end = end if adjective else best or end
        while end > at and self._is_label(end):
            end += 1
            end += end < len(self._words) and bool(
                kind_of_noun(self._lower[end])
            )  # as in: type A key
        if end == at:
            return 0
        return end + 2 if self._is_of_a_kind(end) else end

    def _is_of_a_kind(self, at: int) -> bool:
        """True if *of* is part of the name: *sliver of venison*, not *the lid of Trunk 4*."""
        if self._lower[at : at + 1] != ["of"] or at + 1 == len(self._words):
            return False
        alike = self._words[at + 1].islower() == self._words[at - 1].islower()
        return alike and self._is_nominal(at + 1, at + 1)

    def _is_nominal(self, at: int, first: int) -> bool:
        """True if a word can be part of the name that begins at ``first``."""
        if at >= len(self._words):
            return False
        word = self._lower[at]
        after = self._lower[at + 1] if at + 1 < len(self._words) else "."
        if word == "back" and at == first and kind_of_noun(after):
            return True  # the back yard
        if not word[0].isalnum() or word in _FUNCTION or _CONTRACTION.search(word):
            return False
        if at == first:
            return True
        if not kind_of_noun(word) and (names_person(self._lower[at - 1]) or self._acts(at, first)):
            return False
        if word in VERBS and self._words[at].islower():  # as in: the pork chop
            ends = not after[0].isalnum() or after in VERBS or after in _FUNCTION - ARTICLES
            return is_base(word) and ends and not word.endswith("s")
        return True

    def _acts(self, at: int, first: int) -> bool:
        """True if an unlisted word after a whole name ends as a verb does."""
        word = self._words[at]
        named = at - first > 1 or self._words[at - 1][0].isupper()
        return named and word.islower() and re.search(r"[^sui]s$", word) is not None

    def _proper(self, at: int) -> int:
        """Return the end of a name with capitals or a label, ``Dim Hall``; 0 for none."""
        if self._lower[at] in _FUNCTION or not self._words[at][0].isalpha():
            return 0
        end = at
        while end < len(self._words) and self._is_capital(end):
            end += 1
        if end == at:
            end += 1
            noun = end < len(self._words) and kind_of_noun(self._words[end])
            if noun and self._lower[at] not in VERBS and self._is_label(end + 1):
                return end + 2  # as in: chain key B
            if not self._is_label(end):
                return end if "-" in self._words[at] and kind_of_noun(self._lower[at]) else 0
        elif self._is_kind(end):
            end += 1
        elif self._is_of_a_kind(end):
            end += 2  # as in: Hall of Saints
        opening = at == 0 or self._words[at - 1] in _CLAUSE_STARTS
        if opening and self._lower[at] in VERBS and end - at > 1 and not self._is_label(at + 1):
            return 0  # a command; the name begins at the next word
        while self._is_label(end):
            end += 1
        labelled = _LABEL.fullmatch(_bare(self._words[end - 1])) is not None
        return 0 if opening and not labelled and end - at == 1 else end

    def _object(self, at: int) -> int:
        """Return the end of a name without an article, ``white locker``; 0 for none."""
        for end in (at + 2, at + 3):
            if self._is_kind(end - 1) or self._is_label(end):
                plain = all(self._is_nominal(i, at) for i in range(at, end))
                end += plain and self._is_label(end)
                return end if plain and not senses(self._lower[at]) else 0
        return 0

    def _is_kind(self, at: int) -> bool:
        """True if a word is a noun for a key, container or door."""
        word = self._words[at] if at < len(self._words) else ""
        return word.islower() and kind_of_noun(word) in (KEY, CONTAINER, DOOR)

    def _is_label(self, at: int) -> bool:
        return at < len(self._words) and _LABEL.fullmatch(_bare(self._words[at])) is not None

    def _is_capital(self, at: int) -> bool:
        word = self._words[at]
        return len(word) > 1 and word[0].isupper() and self._lower[at] not in _FUNCTION


def _bare(word: str) -> str:
    """Return a word or a name without its ``'s``."""
    return word.removesuffix("'s").removesuffix("’s")


def _is_no_thing(name: str) -> bool:
    """True if an unknown name cannot name an object: *place*, *old gardener*."""
    first, _, rest = name.partition(" ")
    if names_person(name) or (rest and first in _VAGUE):
        return True
    if rest:
        return first in _ABSTRACT and not kind_of_noun(name)
    return first in _ABSTRACT or first in ("key", "keys")
