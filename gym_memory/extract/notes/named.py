"""The things that a sentence names, found before it is known what is said of them.

A name is one that is known from play, or a noun with its article, or words with capitals, or a word
with a label (*Key 4*). What it is of is told by what is known of it, or by its noun.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from gym_memory.extract.notes.nouns import (
    CONTAINER,
    DOOR,
    KEY,
    ROOM,
    SUPPORTER,
    kind_of_noun,
    names_person,
    word_set,
)
from gym_memory.extract.notes.phrases import clean_name, head_noun
from gym_memory.extract.notes.verbs import OTHER, VERBS, is_base, is_past, senses

__all__ = [
    "ARTICLES",
    "CARRIED",
    "THING",
    "KindOf",
    "NamedThing",
    "Words",
    "is_known",
    "is_no_thing",
]

KindOf = Callable[[str], str | None]
"""What is known of a name: ``key``, ``room``, ``container``, ``supporter``, ``door``; ``thing`` for
what can be carried, to judge by where it was seen, ``carried`` where that is sure; empty for a name
that is known to be none of these, None for an unknown one."""

THING, CARRIED = "thing", "carried"
_NONE = "none"
_GENERIC = ("key", "keys")
_MOST_WORDS = 80
_MOST_NAME_WORDS = 4
_TOKEN = re.compile(r"[A-Za-z0-9_][\w'’-]*|[.,;:!?/()=–—>]")
_LABEL = re.compile(r"[A-Z]?\d+|[A-HJ-Z]|[IVX]{2,4}")
ARTICLES = word_set("the a an that this my your his her its their our")
_FUNCTION = word_set(
    """
    a an the that this these those my your his her its their our and or but nor so if unless
    until when once whoever who which what where how why while than then there here it he she
    they we you i one me him them us to of in on at by for from with without using into onto
    inside within upon under beneath below behind beside near above over atop between among
    against about after before except lacking is are was were be been being am will would can
    could may might must shall should ought do does did has have had not never no only just also too
    very ago now soon alone nothing nobody somebody everybody someone anyone everyone
    anywhere nowhere somewhere else again yet still as such both either neither each every all
    some any already always up down out off back away first last next yes everything
    although though whereas whether because since despite instead rather even ever thus hence
    therefore however namely perhaps maybe alas indeed really quite almost anything
    something whatever whichever wherever whenever toward towards through throughout across
    along around past via per upon till during concerning regarding like unlike besides beyond
    together ready handy aside nearby let's today tonight tomorrow yesterday please
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
    usual job task duty work mystery favourite favorite list shopping path trail trails hunt
    target route sign signs track tracks course adventure quest eye eyes nose ear ears arm
    arms leg feet foot finger fingers tooth teeth good bad hour minute second week month year
    years catch latch hinge hinges master tool access move moves part parts kingdom food foods
    property treasure's guess bet notion thought thoughts belief opinion suggestion
    recommendation plan order command instruction instructions start beginning finish
    chapter line page half bit lot deal lots rumours whisper gossip tale tales remedy mercy
    favour favor rule basis meantime bearer teeth match counterpart friend friends enemy
    silence entry visitors sense courage haste fun errand fate family quarter generation
    slot hole mouth taste flavour flavor scent aroma dinner supper lunch breakfast feast banquet
    menu
    """
)
"""Nouns that stand for no thing one could find, where nothing is known by that name."""
_VAGUE = word_set(
    """
    right proper correct only matching same very wrong other next last first second best perfect
    suitable ideal exact fitting single sole actual true real following previous final only
    different current certain particular own good nice
    """
)
"""What is said of a thing that is named elsewhere: *the right key*, *the next stop*."""
_MADE_OF = word_set("tin square safe")
"""Nouns that may stand before another as adjectives do, be that known or not."""
_ASKS = frozenset(("do", "does", "did", "can", "will", "could", "would"))
_SHORT = re.compile(r"n['’]t$|['’](?:ll|d|ve|re|m)$")
_PLACEHOLDERS = word_set("place way thing one spot time day stop step part side part")
_TELLING = (KEY, CONTAINER, SUPPORTER, DOOR)
"""Kinds that a noun tells of what has been seen to lie about, and not what it is."""
_CONDITIONS = ("locked", "unlocked", "open", "opened", "closed", "shut")
_GOVERNS = ("is", "are", "was", "from", "on", "with", "using", "to", "of", "for", "in", "into")
_GO_TO = re.compile(
    r"\b(?:(?:go|walk|head|proceed|travel|move|return|continue|come|wander|run|hurry|way|trip"
    r"|yourself|back|over|on|off|straight|march|stroll|set out) to|visit|enter|make for)$"
)


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


def is_known(thing: NamedThing, kind_of: KindOf) -> bool:
    """Whether something is known by this name, or its noun or form shows that it names a thing."""
    return bool(thing.kind or " " in thing.name or kind_of(thing.name) is not None)


class Words:
    """The words of a sentence and the things that they name.

    Args:
        text: The text.
        start: Where the sentence begins in it.
        end: One past its last character.
        kind_of: What is known of a name.
    """

    def __init__(self, text: str, start: int, end: int, kind_of: KindOf):
        found = list(islice(_TOKEN.finditer(text, start, end), _MOST_WORDS))
        self.words = [token.group() for token in found]
        self.lower = [word.lower() for word in self.words]
        self._spans = [token.span() for token in found]
        self._kind_of = kind_of
        self.things = list(self._find())
        self.named = frozenset(at for thing in self.things for at in range(thing.first, thing.last))
        """Positions of the words that are part of a name."""

    def whole(self, thing: NamedThing) -> NamedThing:
        """A thing by its whole name: *pig's trotter* is no pig, and *table grape* no table.

        For texts that name nothing that owns or does anything, such as recipes.
        """
        end = thing.last
        owner = _bare(self.lower[end - 1]) != self.lower[end - 1]
        kind = self._kind_of(thing.name)
        if not (owner or kind_of_noun(thing.name)) or kind in (THING, CARRIED):
            return thing
        while end < len(self.words) and end - thing.first < _MOST_NAME_WORDS:
            if not (self._is_nominal(end, end if owner else thing.first)):
                break
            end, owner = end + 1, False
        return self._thing(thing.first, end) if end > thing.last else thing

    def _find(self) -> Iterator[NamedThing]:
        at = 0
        while at < len(self.words):
            end = self._known(at)
            if not end:
                end = self._after_article(at) or self._proper(at) or self._object(at)
                at, end = self._known_within(at, end)
            thing = self._thing(at, end) if end else None
            if thing is not None and thing.kind != _NONE:
                yield thing
                at = end
            else:
                at += 1

    def _thing(self, first: int, last: int) -> NamedThing:
        words = self.lower[first:last]
        name = _bare(clean_name(" ".join(words)))
        kind = self._kind_of(name)
        if kind is None and kind_of_noun(name) in ("", CONTAINER) and self._is_gone_to(first):
            kind = ROOM
        begin, end = self._spans[first][0], self._spans[last - 1][1]
        end -= len(words[-1]) - len(_bare(words[-1]))
        if kind is None and (
            is_no_thing(name) or (head_noun(name).endswith("s") and kind_of_noun(name) == ROOM)
        ):
            kind = _NONE  # corridors are no place to be
        elif kind is None or (kind == THING and kind_of_noun(name) in _TELLING):
            kind = kind_of_noun(name)
        elif kind == CARRIED:
            kind = KEY if kind_of_noun(name) == KEY else THING
        return NamedThing(name, kind, first, last, (begin, end))

    def _is_gone_to(self, at: int) -> bool:
        """Whether the words before a name send somebody there: ``walk to the``, ``visit``."""
        while at and self.lower[at - 1] in ARTICLES:
            at -= 1
        return _GO_TO.search(" ".join(self.lower[:at])) is not None

    def _known(self, at: int) -> int:
        """End of the longest known name that begins here, 0 for none."""
        for length in (5, 4, 3, 2, 1):
            words = self.lower[at : at + length]
            if length == 1 and words[0] in _FUNCTION:
                return 0
            if len(words) == length and self._kind_of(_bare(" ".join(words))) is not None:
                return at + length
        return 0

    def _known_within(self, first: int, end: int) -> tuple[int, int]:
        """The name, or a known one that begins in it and goes on: *a grilled leg of lamb*."""
        for at in range(first + 1, end):
            known = self._known(at)
            if known > end:
                return at, known
        return first, end

    def _after_article(self, at: int) -> int:
        """End of the name after an article, 0 where there is none."""
        before = at - 1
        if before > 0 and self.words[before] == "A" and self.words[before - 1] not in BREAKS:
            return 0  # a label: Key A
        if self.lower[before] in ("that", "this") and self._is_verb(at):
            return 0
        while before > 0 and self.lower[before] in _CONDITIONS:
            before -= 1
        if before < 0 or self.lower[before] not in ARTICLES or self.lower[at] in _CONDITIONS:
            return 0
        end, best = at, 0
        while end < len(self.words) and end - at < 4 and self._is_nominal(end, at):
            end += 1
            if kind_of_noun(" ".join(map(_bare, self.lower[at:end]))):
                best = end
        bare = best == at + 1 and self.lower[at] in _GENERIC  # the key lime
        if not (bare or (best and self.lower[best - 1] in _MADE_OF)):
            end = best or end
        while end < len(self.words) and end > at and _LABEL.fullmatch(_bare(self.words[end])):
            end += 1
            if end < len(self.words) and kind_of_noun(_bare(self.lower[end])):
                end += 1  # type A key
        if self.lower[end : end + 1] == ["of"] and self._is_of_a_kind(end + 1):
            end += 2
        return end if end > at and self.lower[end - 1] not in ("lock", "key to") else 0

    def _is_of_a_kind(self, at: int) -> bool:
        """Whether a name goes on after *of*: *sliver of venison*, *Library of Dust*.

        What is of another thing does not: *the lid of Trunk 4*, *the corner of the hall*.
        """
        head = self.lower[at - 2]
        titled = at < len(self.words) and self._is_capital(at) and self._is_capital(at - 2)
        if at >= len(self.words) or names_person(head):
            return False
        if head in _ABSTRACT and not (titled and kind_of_noun(head)):
            return False  # but the Case of Felt
        alike = self.words[at].islower() == self.words[at - 2].islower()
        return alike and not (
            self._known(at) or self._is_label(at + 1) or not self._is_nominal(at, at)
        )

    def _is_verb(self, at: int) -> bool:
        """Whether a word after *that* or *this* says what it does, and is no noun."""
        word = self.lower[at]
        agrees = word.endswith("s") and not word.endswith("ss")
        return agrees or (word in VERBS and not kind_of_noun(word))

    def _is_nominal(self, at: int, first: int) -> bool:
        word = self.lower[at]
        if word == "back" and at == first and kind_of_noun(" ".join(self.lower[at + 1 : at + 2])):
            return True  # the back yard
        if not word[0].isalnum() or word in _FUNCTION or _SHORT.search(word):
            return False
        if at == first:
            return True
        if self.lower[at - 1] != _bare(self.lower[at - 1]) or word.endswith("ly"):
            return False
        if (
            names_person(self.lower[at - 1])
            and word.endswith(("s", "ed"))
            and not kind_of_noun(word)
        ):
            return False  # what somebody does
        if self._tells(at, first):
            return False
        if word in VERBS and self.words[at].islower():
            if self._is_attribute(at):
                return True
            if self.lower[at + 1 : at + 2] == ["?"] and not _ASKS.isdisjoint(self.lower[:first]):
                return False  # does the chest stand?
            plural = word.endswith("s") and not word.endswith("ss")
            return not plural and (bool(kind_of_noun(word)) or self._ends_here(at))
        return True

    def _tells(self, at: int, first: int) -> bool:
        """Whether a word of no list ends like a verb, behind what is a name already."""
        word = self.words[at]
        if not word.islower() or not word.endswith("s") or word.endswith(("ss", "us", "is")):
            return False
        whole = self.words[at - 1][0].isupper() or at - first > 1
        return whole and not kind_of_noun(word)

    def _ends_here(self, at: int) -> bool:
        """Whether a word that may be a verb ends a name: *the pork chop*, *slice it*."""
        after = self.lower[at + 1] if at + 1 < len(self.words) else "."
        ends = not after[0].isalnum() or after in _FUNCTION or after in VERBS
        plain = is_base(self.lower[at]) and after not in ARTICLES
        return plain and ends and after not in ("it", "them")

    def _is_attribute(self, at: int) -> bool:
        """Whether a participle stands before a noun: ``heavy carved chest``."""
        after = self.words[at + 1] if at + 1 < len(self.words) else ""
        word = self.lower[at]
        carved = is_past(word) and senses(word) <= {OTHER}
        return (carved or word.endswith("ing")) and after.islower() and bool(kind_of_noun(after))

    def _proper(self, at: int) -> int:
        """End of a name with capitals or a label: ``Dim Hall``, ``Red safe``, ``opener B``."""
        if self.lower[at] in _FUNCTION or not self.words[at][0].isalpha():
            return 0
        opening = at == 0 or self.words[at - 1] in OPENINGS
        orders = opening and self._is_action(at)
        end = at
        while end < len(self.words) and self._is_capital(end):
            end += 1
        if end == at:
            end += 1
            said = at and self.lower[at - 1] in ("am", "is", "are", "was", "were")
            plain = end < len(self.words) and self.lower[at] not in VERBS and not said
            if plain and self._is_label(end + 1) and kind_of_noun(self.words[end]):
                return end + 2  # chain key B
            if not self._is_label(end):
                compound = "-" in self.words[at] and kind_of_noun(self.lower[at])
                return end if compound else 0
        elif end < len(self.words) and self._is_kind(end):
            end += 1
        elif self.lower[end : end + 1] == ["of"] and self._is_of_a_kind(end + 1):
            end += 2  # Hall of Saints
        if orders and end - at > 1 and not self._is_label(at + 1):
            return 0  # an imperative before a name: the name begins at the next word
        while self._is_label(end):
            end += 1
        labelled = _LABEL.fullmatch(_bare(self.words[end - 1])) is not None
        if opening and not labelled and (end - at == 1 or self.lower[at] in VERBS):
            return 0
        return end

    def _is_action(self, at: int) -> bool:
        """Whether a sentence begins with what is to be done: *visit*, no *sitting room*."""
        word, after = self.lower[at], self.lower[at + 1 : at + 2]
        if word.endswith("ing") and after and kind_of_noun(after[0]) == ROOM:
            return False
        return word in VERBS and (is_base(word) or not kind_of_noun(word))

    def _is_label(self, at: int) -> bool:
        return at < len(self.words) and _LABEL.fullmatch(_bare(self.words[at])) is not None

    def _object(self, at: int) -> int:
        """End of a name without article after a verb or preposition: ``unlocks white locker``."""
        before = self.lower[at - 1] if at else ""
        if before not in VERBS and before not in _GOVERNS:
            return 0
        for end in (at + 2, at + 3):
            if end <= len(self.words) and (self._is_kind(end - 1) or self._is_label(end)):
                plain = all(self._is_nominal(i, at) for i in range(at, end))
                end += plain and self._is_label(end)
                return end if plain and not senses(self.lower[at]) else 0
        return 0

    def _is_kind(self, at: int) -> bool:
        """Whether a plain noun says what a name before it names."""
        word = self.words[at]
        return word.islower() and kind_of_noun(word) in (KEY, CONTAINER, DOOR)

    def _is_capital(self, at: int) -> bool:
        word = self.words[at]
        return len(word) > 1 and word[0].isupper() and self.lower[at] not in _FUNCTION


BREAKS = frozenset((",", ";", ":", "?", "but", "and", "however", "it", "yet"))
"""Words at which something else may begin to be said."""
OPENINGS = frozenset((":", ".", "?", "!", ";", ">", "=", "–", "—"))


def _bare(word: str) -> str:
    """A word or a name without the ``'s`` of what it owns."""
    return word.removesuffix("'s").removesuffix("’s")


def is_no_thing(name: str) -> bool:
    """Whether an unknown name stands for nothing that can be found: *place*, *old gardener*."""
    first, *rest = name.split()
    if not rest:
        return first in _ABSTRACT or first in _GENERIC or first in _VAGUE or names_person(name)
    if names_person(name):
        return True
    labelled = _LABEL.fullmatch(rest[-1].upper()) is not None
    if labelled:
        return False
    if first in _VAGUE and len(rest) == 1:
        return True
    if rest == ["room"]:
        return first in _ABSTRACT
    return not kind_of_noun(name) and (first in _ABSTRACT or rest[-1] in _PLACEHOLDERS)
