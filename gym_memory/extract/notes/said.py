"""What the words around the things of a sentence say: what is done, where, and what is denied."""

from __future__ import annotations

import re
from functools import cached_property

from gym_memory.extract.notes.named import ARTICLES, BREAKS, KindOf, NamedThing, Words
from gym_memory.extract.notes.nouns import CONTAINER, DOOR, KEY, ROOM, SUPPORTER, word_set
from gym_memory.extract.notes.verbs import (
    GO,
    INSERT,
    KEEP,
    LIE,
    OPEN,
    PUT,
    REFUSE,
    REQUIRE,
    SEEK,
    TELL,
    VERBS,
    is_base,
    is_past,
    senses,
)

__all__ = ["ON", "PLACED", "WITHIN", "Sentence"]

ON = ("on", "onto", "upon", "atop")
WITHIN = ("in", "inside", "within")
PLACED = (*WITHIN, *ON, "under", "beneath", "behind", "at")
_BY = ("with", "without", "using", "by", "lacking")
_MAY = ("will", "would", "can", "could", "does", "did", "has", "may")
_BE = ("is", "are", "was", "were")
_WORD_BEFORE_OF = {
    "out": "from", "inside": "in", "middle": "in", "corner": "in", "back": "in", "front": "in",
    "centre": "in", "center": "in", "bottom": "in", "depths": "in", "top": "on", "means": "with",
    "help": "with", "use": "with", "aid": "with", "turn": "with", "click": "with",
    "slot": "into", "hole": "into", "mouth": "into", "lock": "into", "keyhole": "into",
}  # fmt: skip
"""What a word before *of* makes of it: ``out of the box``, ``by means of the key``."""
_OPENS_SURELY = re.compile(
    r"\b(?:keyhole|keys?|lock|tool|access|inside of|(?:as|are|came as) a (?:set|pair)|the catch"
    r"|belongs? to|goe?s with|way in(?:to)?"
    r"|(?:g[eo]t\w*|go(?:es)?|slots?|slips?) (?:\w+ )?(?:into|inside)|owns?"
    r"|match|partner|counterpart"
    r"|(?:is|be|are|was) (?:needed|necessary|required)"
    r"|(?:unless|once|if|when|whenever|until|till) (?:you|one|they|someone|somebody)(?: \w+)?"
    r" (?:have|has|got|hold|holding|carry|carrying|bring|own|possess)"
    r"|(?:have|keep|bring|take|hold|carry) (?:(?:the|your|an?) )?"
    r"(?:ready|handy|(?:at|to|in) hand|on you|with you|along)"
    r"|(?:stay|remain)(?:s|ed|ing)? (?:\w+ )?(?:shut|closed|locked|sealed))\b",
    re.IGNORECASE,
)
_HIDING = re.compile(r"\b(?:place|home|spot|site|shelter) (?:of|for|to)\b", re.IGNORECASE)
_NOT = word_set(
    """
    not no never nothing nobody useless vain contrary forget spare instead rather neither
    wrong avoid unlike skip ignore once formerly waste wasted although though while whereas
    despite cannot nor clear emptied
    """
)
_ENDS_CLAUSE = BREAKS - {"it"}
_REFUSES = re.compile(
    r"\b(?:not(?! far\b| only\b| just\b)|cannot|never(?! left\b| move[sd]?\b))\b|n['’]t\b",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"\b(?:might|may|could|would)(?: well)? "
    r"(?:think|believe|suppose|expect|guess|look|seem|appear)\b"
    r"|(?<!is )(?<!are )(?<!be )\bused to\b|\b(?:thought|believed|assumed|imagined)\b"
    r"|\b(?:may|might) expect\b"
    r"|\b(?:until|till) (?:yesterday|recently|today|last|now)\b"
    r"|\b(?:was|were) once\b|\bseems? (?:made|right|meant|as)\b|\? ?no ?[.!]?$",
    re.IGNORECASE,
)
"""What is not, or no longer, so: the next clause tells what is."""
_EXCEPT = re.compile(
    r"\b(?:but|without|unless|until|except|only|nothing|nobody|lacking|no|never|if|else"
    r"|otherwise|than|lack|yet)\b|, or\b",
    re.IGNORECASE,
)
_NOBODY = re.compile(r"\b(?:nobody|no one|no-one)\b", re.IGNORECASE)
_AFTER_ALL = re.compile(r"[:;,–—] ?it(?:['’]s| is| stands| lies| was)\b", re.IGNORECASE)
_SOFT = word_set(
    """
    also still even always among other things all one of just only both you me us
    """
)


class Sentence(Words):
    """A sentence, and questions about what it says of its things."""

    def __init__(self, text: str, start: int, end: int, kind_of: KindOf):
        super().__init__(text, start, end, kind_of)
        self._end = self.lower[-1:] == ["?"]

    @cached_property
    def cues(self) -> str:
        """The words that are no part of a name, for these tell how things are related."""
        return " ".join(word for at, word in enumerate(self.words) if at not in self.named)

    @cached_property
    def _verbs(self) -> list[tuple[int, frozenset[str]]]:
        """Where verbs stand that are no part of a name, and their senses."""
        found = []
        for at, word in enumerate(self.lower):
            if at in self.named or word not in VERBS or self._is_idle(at):
                continue
            before = self.lower[at - 1] if at and at - 1 not in self.named else ""
            if before in ARTICLES and before not in ("that", "this"):
                continue  # a noun: the need for
            if word == "lock" and before in _PREPOSITIONS and before != "to":
                continue  # under lock and key
            found.append((at, senses(word)))
        return found

    def _is_idle(self, at: int) -> bool:
        """Whether a verb does not mean what it says: *used to*, *try looking*, *turned up*."""
        after = self.lower[at + 1] if at + 1 < len(self.lower) else ""
        idle = {"used": ("to",), "try": ("to",), "lay": ("hands", "your"), "open": ("your",)}
        if self.lower[at] in ("get", "gets", "got") and after in (
            "along",
            "into",
            "in",
            "past",
            "you",
        ):
            return True
        if after in idle.get(self.lower[at], ()) or (self.lower[at] == "try" and after in VERBS):
            return True
        if self.lower[at] in ("locked", "sealed", "shut"):  # away in a chest, and not with a key
            return not {"in", "into", "inside"}.isdisjoint(self.lower[at + 1 : at + 3])
        return self.lower[at].startswith("turn") and after in ("up", "out")

    def _has(self, *wanted: str) -> bool:
        return any(not found.isdisjoint(wanted) for _, found in self._verbs)

    # ------------------------------------------------------------ opening

    @property
    def opens_surely(self) -> bool:
        """Whether it speaks of opening, whatever else it says."""
        return self._has(OPEN) or _OPENS_SURELY.search(self.cues) is not None

    @property
    def opens(self) -> bool:
        """Whether it may speak of opening: what is needed for a lock opens it."""
        return self.opens_surely or self._has(REQUIRE, INSERT)

    def only_opens(self, first: NamedThing, second: NamedThing) -> bool:
        """Whether two things have nothing between them but that one opens the other."""
        one, other = sorted((first, second), key=lambda thing: thing.first)
        words = [w for w in self.lower[one.last : other.first] if w not in ARTICLES]
        plain = (*_BY, *_BE, *_MAY, "be", "must")
        said = all(OPEN in senses(w) or w in plain for w in words)
        return said and self.opens_surely and _OF_THE_LOCK.isdisjoint(words)

    def is_used(self, thing: NamedThing) -> bool:
        """Whether something is done with a thing, or cannot be done without it."""
        begins = re.search(r"\b(?:begin|start)\w* with$", self._before(thing))
        return self.preposition(thing) in _BY and begins is None

    def uses(self, key: NamedThing, lock: NamedThing) -> bool:
        """Whether somebody uses a key, and not one that lies where the lock is named."""
        lies_there = self.preposition(lock) == "from" and lock.first - key.last <= _BESIDE
        return not lies_there and self._before(key).rpartition(" ")[2] in _USE

    def _before(self, thing: NamedThing) -> str:
        """The words before a thing, its article left out."""
        words = self.lower[: thing.first]
        while words and words[-1] in ARTICLES:
            words.pop()
        return " ".join(words)

    def acts_on(self, first: NamedThing, second: NamedThing) -> bool:
        """Whether the first opens the second, with the verb between them in the active."""
        return any(
            OPEN in found
            and first.last <= at < second.first
            and _OTHERS.isdisjoint(self.lower[first.last : at])
            and not (is_past(self.lower[at]) and self.lower[at - 1] in (*_BE, "be", "been"))
            for at, found in self._verbs
        )

    def turns_in(self, first: NamedThing, second: NamedThing) -> bool | None:
        """Which of two things of no known kind is the key, by what is done with each.

        Returns:
            True if the first opens the second, False if the second opens the first, None if the
            sentence does not say.
        """
        if self.goes_with:
            return None
        if self.is_used(first) != self.is_used(second):
            return self.is_used(first)
        for key, lock, answer in ((first, second, True), (second, first, False)):
            if self._has_lock(lock, key):
                return answer
            if self._wants(lock, key):
                return answer
            if self.acts_on(key, lock) and not self._wants(key, lock):
                return answer
            if self._has(INSERT) and self.preposition(lock) in _INTO and key.last <= lock.first:
                return answer
        return None

    @property
    def goes_with(self) -> bool:
        """Whether it says that two things go *with* each other, and not which is used."""
        pairs = zip(self.lower, self.lower[1:], strict=False)
        return any(GO in senses(word) and after == "with" for word, after in pairs)

    def _has_lock(self, lock: NamedThing, key: NamedThing) -> bool:
        """Whether it is the lock's own lock that leads to the key: *shut by a lock made for*."""
        return any(
            self.lower[at] in ("lock", "keyhole") and self.lower[at + 1] not in ("of", "on")
            for at in range(lock.last, key.first)
        )

    def _wants(self, lock: NamedThing, key: NamedThing) -> bool:
        """Whether a verb whose subject is the lock leads to the key: *responds to, takes*."""
        return any(
            self.lower[at] in _OF_THE_LOCK or REQUIRE in found
            for at, found in self._verbs
            if lock.last <= at < key.first and _SUBJECTS.isdisjoint(self.lower[lock.last : at])
        )

    def works_on(self, note: bool) -> bool:
        """Whether somebody is to do something with a key in a lock."""
        acts = self._has(INSERT) or (note and self._commands(PUT))
        return acts and not self.was_put

    @property
    def was_put(self) -> bool:
        """Whether it tells where somebody put something."""
        return any(PUT in found and is_past(self.lower[at]) for at, found in self._verbs)

    @property
    def is_in_it(self) -> bool:
        """Whether something is *in it* or *on it*."""
        pairs = zip(self.lower, self.lower[1:], strict=False)
        return any(word in PLACED and after == "it" for word, after in pairs)

    # ------------------------------------------------------------ places

    def seeks(self, holder: NamedThing) -> bool:
        """Whether it speaks of searching a thing, or seeing or taking something there."""
        if self.says_where or _HIDING.search(self.cues):
            return True
        return any(
            SEEK in found and not (at == holder.last and self.lower[at].startswith("t"))
            for at, found in self._verbs
        )

    @property
    def places(self) -> bool:
        """Whether it may say where something is: a verb of being somewhere, or no verb at all."""
        brief = not self._verbs and len(self.cues.split()) <= _BRIEF
        return brief or self._has(LIE, PUT, SEEK, KEEP) or not set(_BE).isdisjoint(self.lower)

    @property
    def goes(self) -> bool:
        """Whether somebody goes somewhere, or something was put or stands there."""
        return self._has(LIE, PUT, SEEK, GO)

    @property
    def is_bare(self) -> bool:
        """Whether it only puts names beside each other: *the key = the chest*."""
        return not self._verbs and not self.cues.replace("the", "").replace("The", "").strip(
            " .=->"
        )

    @property
    def says_where(self) -> bool:
        """Whether one thing is *where* another is."""
        return "where" in self.lower

    def is_where(self, place: NamedThing, thing: NamedThing) -> bool:
        """Whether it says that a place is where a thing is: *the hall is where the box stands*."""
        return "where" in self.lower[place.last : thing.first]

    @property
    def commands_to_put(self) -> bool:
        """Whether something is to be brought somewhere: it is not there yet."""
        return self._commands(PUT)

    def _commands(self, sense: str) -> bool:
        for at, found in self._verbs:
            if sense not in found or not is_base(self.lower[at]):
                continue
            before = self.lower[at - 1] if at else ""
            if before in _COMMANDED and not self.named.isdisjoint((at + 1, at + 2)):
                return True
        return False

    def looks_at(self, holder: NamedThing) -> bool:
        """Whether somebody looks *into* a thing or reaches *for* it."""
        at = holder.first - 1
        while at >= 0 and self.lower[at] in ARTICLES:
            at -= 1
        return any(SEEK in found and where == at - 1 for where, found in self._verbs)

    def searches(self, holder: NamedThing) -> bool:
        """Whether somebody searches a thing: *check the biscuit tin*."""
        return SEEK in senses(self._before(holder).rpartition(" ")[2])

    def keeps(self, holder: NamedThing, thing: NamedThing) -> bool:
        """Whether a verb of keeping, in the active, leads from a holder to a thing."""
        if thing.last <= holder.first:  # the coin is what the box holds
            told = self.lower[thing.last : holder.first]
            after = self.lower[holder.last] if holder.last < len(self.lower) else ""
            return KEEP in senses(after) and ("what" in told or "that" in told)
        between = self.lower[holder.last : thing.first]
        at = next((at for at, word in enumerate(between) if KEEP in senses(word)), -1)
        if at < 0 or not _SUBJECTS.isdisjoint(between[:at]):
            return False
        if at and between[at - 1] in _BE:
            return between[at].endswith("ing")
        rest = [w for w in between[at + 1 :] if w not in ARTICLES and w not in _SOFT]
        named = rest[:1] in (["what"], ["something"]) and rest[-1] in (",", ":")
        return named or not any(w.isalpha() for w in rest) or rest == ["is"]

    @property
    def stranded(self) -> str:
        """A preposition at the end, or before *it*: ``the box has the coin in it``."""
        words = [w for w in self.lower if w[0].isalnum()]
        for word in (*words[-1:], *(words[-2:-1] if words[-1:] == ["it"] else ())):
            if word in PLACED:
                return word
        return ""

    @property
    def places_in_room(self) -> bool:
        """Whether what it says of things and a room is that they are there."""
        reads = self.lower[0] in ("check", "consult", "read", "examine", "inspect", "study")
        return not (reads and self.things[0].kind not in (ROOM, CONTAINER, SUPPORTER))

    def preposition(self, thing: NamedThing) -> str:
        """The preposition right before a thing, its article left out; empty for none."""
        at = thing.first - 1
        while at >= 0 and (self.lower[at] in ARTICLES or self.lower[at] in _CONDITIONS):
            at -= 1
        word = self.lower[at] if at >= 0 else ""
        if self.lower[at - 1 : at] == ["hands"]:
            return ""  # lay hands on
        if word == "of" and not _KEPT.isdisjoint(self.lower[max(at - 4, 0) : at - 1]):
            return ""  # keeps you out of
        if word == "of":
            word = _WORD_BEFORE_OF.get(self.lower[at - 1] if at else "", word)
        put = thing.kind != ROOM and at > 0 and self.lower[at - 1] in _OTHERS
        if word == "off" or (word == "left" and not put):
            word = "from"  # but where I left the key, it is
        return word if word and not word[0].isupper() and word in _PREPOSITIONS else ""

    # ------------------------------------------------------------ pronouns

    @property
    def pronoun(self) -> int:
        """Where an *it* stands that means a thing; -1 if nowhere."""
        for at, word in enumerate(self.lower):
            before = self.lower[at - 1] if at else ""
            after = self.lower[at + 1 : at + 3]
            if word not in ("it", "it's") or before in _IT_IS_ALL:
                continue
            if word == "it's":
                after = ["is", *after[:1]]
                at -= 1
            if after[:1] in (["is"], ["was"]):
                named = at + 2 + (len(after) > 1 and after[1] in ARTICLES)
                if any(thing.first == named for thing in self.things):
                    continue  # it is Room 4 that ...
                if after[1:] and after[1] in _IMPERSONAL and self.lower[at + 3 : at + 4] != ["to"]:
                    continue  # it is time, it is said that
            if after[:1] in (["happens"], ["all"], ["takes"]) or after == ["is", "."]:
                continue
            return max(at, 0)
        return 0 if self._leaves_out_what() else -1

    def _leaves_out_what(self) -> bool:
        """Whether it begins with its verb, as labels do: *Opens the red chest*."""
        first = self.lower[0] if 0 not in self.named else ""
        found = senses(first)
        return (OPEN in found or LIE in found) and first.endswith("s") and not is_base(first)

    def stands(self, at: int) -> bool:
        """Whether the word after a pronoun is *stands* or *stood*."""
        return self.lower[at + 1 : at + 2] in (["stands"], ["stood"], ["standing"])

    # ------------------------------------------------------------ what is denied

    @property
    def suggests(self) -> bool:
        """Whether a question only proposes something: *why not visit it*."""
        return self.lower[0] in _PROPOSES or self.lower[1:2] == ["about"]

    @property
    def leads(self) -> bool:
        """Whether it may send somebody to its only thing: somebody goes or looks, or no verb."""
        verbs = [at for at, _ in self._verbs if self.lower[at] not in _BE]
        return self._has(GO, SEEK, TELL) or not verbs

    @property
    def warns_off(self) -> bool:
        """Whether it says where not to look."""
        return self.is_refusal() and not _LOOKS.isdisjoint(self.lower)

    def sends_to(self, room: NamedThing) -> bool:
        """Whether somebody is sent to a room: *the note leads you to the hall*."""
        words = [word for word in self.lower[: room.first] if word not in ARTICLES]
        return words[-2:-1] == ["you"] and words[-1] in ("to", "into", "towards")

    def meant(self) -> list[NamedThing]:
        """The things named, without those that the sentence sets aside for another of its kind."""
        things = self.things
        rooms = {t.name for t in things if t.kind == ROOM}
        if len(rooms) > 1:  # the hall, on the way to a room with a name of its own
            things = [t for t in things if not (t.kind == ROOM and self._is_vague(t))]
        for kinds in ((ROOM, ""), (CONTAINER, SUPPORTER, DOOR, ""), (KEY,)):
            against = {t: self._spoken_against(t) for t in things if t.kind in kinds}
            if len({t.name for t in against}) > 1 and max(against.values()) > min(against.values()):
                out = {t.name for t in against if against[t] == max(against.values())}
                things = [t for t in things if t.name not in out]
        return things

    def _is_vague(self, thing: NamedThing) -> bool:
        return " " not in thing.name and self._kind_of(thing.name) is None

    def _spoken_against(self, thing: NamedThing) -> int:
        """How much a sentence says that it does not mean a thing: 0 to 3."""
        before = [w for w in self.lower[: thing.first] if w not in ARTICLES]
        after = self.lower[thing.last : thing.last + 4]
        if before[-1:] == ["not"] or (before[-2:-1] == ["not"] and before[-1] in PLACED):
            return 3
        if after[:2] == ["?", "no"] or after[:1] == ["be"] or "nothing" in after[:2]:
            return 3
        if thing.kind == ROOM and before[-1:] in (["from"], ["through"], ["past"]):
            return 2
        if thing.kind == ROOM and (before[-2:] == ["out", "of"] or before[-2:] == ["pass", "by"]):
            return 2
        if (before[-1:] == ["left"] and "never" not in before) or self._is_denied(after):
            return 2
        if before[-2:] in (["out", "of"], ["back", "on"]) or before[-1:] == ["from"]:
            return 1
        if after[:1] == ["alone"] or REFUSE in senses(after[0] if after else ""):
            return 2
        clause: list[str] = []
        for word in reversed(before):
            if word in _ENDS_CLAUSE:
                break
            if word in _NOT or word.endswith(("n't", "n’t")) or REFUSE in senses(word):
                return 2
            clause.insert(0, word)
        return 2 if _SUPPOSES.search(" ".join(clause)) else 0

    @staticmethod
    def _is_denied(words: list[str]) -> bool:
        """Whether what follows a name says that it *is not*, *never was*."""
        first, second, third = (*words, "", "", "")[:3]
        if first in (*_BE, *_MAY) and second in ("not", "never"):
            return third[:1].isalnum()  # the box does not: as another one does
        return (
            first in ("cannot", "never")
            or first.endswith(("n't", "n’t"))
            or (first in _BE and second in ("out", "empty", "useless"))
        )

    def is_refusal(self) -> bool:
        """Whether it only says that something is not so."""
        if len(self.meant()) < len(self.things):
            return False
        said = self.cues.rpartition("?")[2]
        if _SUPPOSES.search(self.cues) and not _NOBODY.search(said):
            return True
        excepted = _EXCEPT.search(re.sub(r"\b(?:never|no)\b", "", said)) or _AFTER_ALL.search(said)
        return bool(_REFUSES.search(said)) and not excepted


_CONDITIONS = ("locked", "unlocked", "open", "opened", "closed", "shut")
_LOOKS = word_set(
    """
    look search seek expect try
    """
)
_PROPOSES = word_set(
    """
    why shall have can could will would did do are
    """
)
_USE = ("use", "uses", "used")
_BESIDE = 2
_KEPT = word_set("keep keeps kept keeping lock locks locked shut shuts")
_COMMANDED = ("", ",", ".", ":", ";", "and", "then", "to", "please")
_BRIEF = 4
_INTO = ("into", "to", "in", "on", "inside")
_OF_THE_LOCK = word_set(
    """
    yield yields yielded respond responds responded obey obeys obeyed surrender surrenders accept
    accepts accepted admit admits answer answers answered takes
    """
)
"""Verbs of opening whose subject is what is opened."""
_SUBJECTS = word_set(
    """
    you i we they he she one who whoever anyone everyone unless if when
    """
)
_OTHERS = word_set("you i we they he she one who whoever anyone everyone by")
"""Who acts, where it is not the thing before."""
_IT_IS_ALL = ("do", "does", "doing", "for", "about", "happens")
_IMPERSONAL = word_set(
    """
    time said best wise important necessary that all only known
    """
)
_PREPOSITIONS = word_set(
    """
    to of in on at by for from with without using into onto inside within upon under beneath
    below behind beside near above over atop between among against about after before except
    lacking than through past
    """
)
