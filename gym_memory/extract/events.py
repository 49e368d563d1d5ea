"""Events that a clause reports or an action causes.

A clause has a subject, a verb and the words after it. A verb makes an event only if it is in
``events.toml`` and at most adverbs separate it from its subject. So *you try to take the lamp* and
*the path takes you north* report nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from gym_memory.core.text import word_set
from gym_memory.core.text import words as split_words
from gym_memory.extract.notes.words import verb_forms
from gym_memory.extract.wording import phrases
from gym_memory.graph.schema import DIRECTIONS

__all__ = [
    "CONDITIONS",
    "IMMATERIAL",
    "INTANGIBLE",
    "MOVING",
    "PLACING",
    "RESULTS",
    "SELVES",
    "WATERS",
    "ClausePart",
    "Event",
    "action_event",
]
__all__ += ["events_in", "is_base_form", "verbs_of"]

_DATA = tomllib.loads(Path(__file__).with_name("events.toml").read_text(encoding="utf-8"))
RESULTS: dict[str, str] = _DATA["states"]
"""State of a thing after an event of each kind."""
IMMATERIAL = frozenset(_DATA["words"]["immaterial"].split())
"""Nouns for what neither has a place nor is one, as *sound* and *morning*."""
INTANGIBLE = IMMATERIAL | frozenset(_DATA["words"]["intangible"].split())
"""Nouns for what nobody takes, gives or brings."""
CONDITIONS = frozenset(_DATA["words"]["conditions"].split())
"""First words of conditions to be in, which are not places: *in no hurry*."""
WATERS = frozenset(("river", "stream", "brook", "creek", "canal", "water", "current", "tide"))
"""Nouns for what runs somewhere without being a way."""
SELVES = frozenset(("you", "i", "we", "you've", "i've", "we've"))
"""Subjects that mean the agent."""
MOVING = tuple(_DATA["words"]["moving"].split())
"""Verbs that may be followed by their result, *open* or *shut*."""
_ADVERBS = frozenset(_DATA["words"]["adverbs"].split())
_PREPOSITIONS = frozenset(_DATA["words"]["prepositions"].split())
_RESULTS_OF_MOVING = {"open": "open", "shut": "close", "closed": "close"}
"""Kind of event by the word that follows a verb of moving."""
_NOUNS_IN_LY = frozenset(
    ("jelly", "belly", "lily", "fly", "butterfly", "family", "holly", "doily", "dolly", "assembly")
)
_LAST_ADVERBS = _ADVERBS | {"again", "too", "already", "anyway", "instead"}
"""Adverbs that end a clause and name nothing."""
_PARTICLES = frozenset(("up", "down", "on", "off", "out", "away", "over", "back", "behind"))
_PARTICLES |= _RESULTS_OF_MOVING.keys()
_DETERMINERS = frozenset(
    ("a", "an", "the", "your", "my", "his", "her", "its", "their", "some", "one", "two", "three")
)
PLACING = ("on", "in", "beside", "near", "under", "above", "below", "behind", "by")
"""Prepositions after a thing, before what it is on, in or close to."""
_THE = (["the"], ["your"], ["its"], ["a"], ["an"])
_TO_DIRECTIONS = frozenset(f"to the {direction}" for direction in DIRECTIONS)
_EMPHATIC_UP = [["up", word] for word in ("the", "your", "my", "a", "an", "some")]
_PRONOUNS = frozenset(("it", "them", "this", "that"))
_OBJECT_PRONOUNS = frozenset(("you", "me", "us", "him", "her", "them"))
_PERSONAL_PRONOUNS = frozenset(("it", "they", "he", "she"))
_CONJUNCTIONS = frozenset(("and", "but", "until", "then", "as", ",", ";"))
_UNINFLECTED = ("no", "now", "longer")
_DENYING_SUBJECTS = frozenset(("nobody", "nothing", "none", "neither", "no"))
"""First words of subjects that deny the event."""
_UNCERTAIN = frozenset(
    ("nearly", "hardly", "barely", "scarcely", "possibly", "probably", "supposedly", "reportedly")
)
"""Adverbs that deny or doubt the event."""
_BE = frozenset(("is", "are", "was", "were", "am", "be", "isn't", "aren't"))
_PASSIVE = _BE | {"been"}
_PERFECT = ("has", "have", "'ve")
_NO_SUBJECT_STARTS = (_PREPOSITIONS - {"with", "at", "before"}) | {"there", "this", "here", "exits"}
_NO_SUBJECT_STARTS |= {"somewhere", "elsewhere", "it's", "that's", "they're"}
"""First words of sentences that describe and report no event."""
_SUBJECT_BREAKS = _PREPOSITIONS | _BE | {"had", ",", ";", ":", "("}
"""Words and marks that end a subject; *had* is one, as its event may be over."""
_NO_SUBJECT_ENDS = _DETERMINERS | _BE | (_PREPOSITIONS - _PARTICLES)
"""Words that no verb of an event follows."""
_MODIFIER = re.compile(rf" (?:{'|'.join(sorted(_PREPOSITIONS))}) ")
_TOKEN = re.compile(r"[^\s,;:.!?\"()]+|[,;:(]")
_MAX_SUBJECT_WORDS = 5
_LEADING_CLAUSE = re.compile(
    r"(?:As|When|After|Before|With|At|Without) (?:[^,.]{3,80}, (?=[a-zA-Z])"
    r"|an? (?:\w+ )?\w+ (?=the |your |you ))"
    r"|(?!\w*thing)[A-Z][a-z]+ing [^,.]{3,140}, (?=you |your |the )"
)
"""A clause or phrase before the main clause, which reports the event."""
_LAST_THING_OF_LEAD = re.compile(r"\b(?P<thing>(?:the|your|an?) (?:[\w'-]+ ){0,2}?[\w'-]+), $")


def verbs_of(kind: str) -> Iterator[str]:
    """Yield the verbs of a kind."""
    yield from (verb.strip() for verb in _DATA["verbs"][kind].split(","))


_TRAVEL = tuple(verb for verb in verbs_of("travel") if verb != "go")  # an alarm goes off
_COMPOUNDS: tuple[tuple[str, Iterable[str], Iterable[str]], ...] = (
    *((kind, MOVING, (word,)) for word, kind in _RESULTS_OF_MOVING.items()),
    ("leave", _TRAVEL, ("off", "away")),
    ("come", _TRAVEL, ("in",)),
    ("consume", phrases("eating"), ("up", "down")),
    ("switch_on", phrases("enlivening"), ("to life", "into life")),
    ("vanish", phrases("ruining"), phrases("ruins")),
    (
        "vanish",
        (*verbs_of("travel"), *verbs_of("settle"), "fade", "pass"),
        ("from sight", "from view", "out of sight"),
    ),
)
"""Kinds of events, each with verbs and with what must follow any of them."""
_KINDS_OF_VERBS = (
    *((kind, verb.split()) for kind in _DATA["verbs"] for verb in verbs_of(kind)),
    *(
        (kind, [verb, *ending.split()])
        for kind, verbs, endings in _COMPOUNDS
        for verb in verbs
        for ending in endings
    ),
)
"""Pairs of a kind of event and the words of a verb."""


def _verb_table() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the kinds of each verb form, by the first word of the form."""
    table: dict[str, dict[str, tuple[str, ...]]] = {}
    for kind, words in _KINDS_OF_VERBS:
        at = next(n for n, word in enumerate(words) if word not in _UNINFLECTED)
        for form in verb_forms(words[at]):
            verb = " ".join((*words[:at], form, *words[at + 1 :]))
            row = table.setdefault(verb.partition(" ")[0], {})
            row[verb] = tuple(dict.fromkeys((*row.get(verb, ()), kind)))
    return table


_VERBS = _verb_table()
_MAX_VERB_WORDS = {head: max(verb.count(" ") + 1 for verb in row) for head, row in _VERBS.items()}
"""Number of words of the longest verb with each first word."""
_BASE_FORMS = frozenset(
    word
    for word in {verb[0] for _, verb in _KINDS_OF_VERBS}
    if word not in tuple(verb_forms(word))[1:]
)
"""First words of verbs in the base form, which neither *the thief* nor a name goes with."""


def is_base_form(word: str) -> bool:
    """True unless a word is the past or another inflected form of a verb: *took*."""
    return word in _BASE_FORMS or word not in _VERBS


_EFFECTIVE = frozenset(
    head for head, row in _VERBS.items() if any(kinds != ("nothing",) for kinds in row.values())
)
"""First words of verbs that have an effect, as a fast test."""
_ENDING_PARTICIPLES = frozenset(
    form
    for kind in ("destroy", "consume")
    for verb in verbs_of(kind)
    for form in tuple(verb_forms(verb))[1:]
    if not form.endswith(("s", "ing"))
)
"""Participles for what ceases to exist."""
_RECEIVING_PARTICIPLES = frozenset(
    form
    for verb in ("give", "hand", "pass", "lend", "award")
    for form in tuple(verb_forms(verb))[1:]
    if not form.endswith(("s", "ing"))
)
"""Participles for what the subject receives: *you are handed a map*."""


_USE = re.compile(r"(?:You|I) use (?:the|your|an?) [\w' -]{1,40}? to (?=\w)")
"""Words before what a thing is used for: *you use the key to unlock the chest*."""


class ClausePart(NamedTuple):
    """Words of a clause and their start in the sentence."""

    text: str
    start: int

    @property
    def is_pronoun(self) -> bool:
        """True for *it*, *them*, *this* and *that*."""
        return self.text.lower() in _PRONOUNS


_NO_PART = ClausePart("", -1)


class Event(NamedTuple):
    """An event of a clause: possible kinds, verb, subject, object and target."""

    kinds: tuple[str, ...]
    verb: str
    subject: ClausePart
    thing: ClausePart = _NO_PART
    preposition: str = ""
    holder: ClausePart = _NO_PART
    tail: str = ""
    """Words after the verb, in lower case."""


class _SentenceWords:
    """A sentence as words and marks in lower case, with their positions."""

    def __init__(self, sentence: str, begin: int):
        self._text = sentence.lower()
        self._sentence = sentence if len(self._text) == len(sentence) else self._text
        self.lower: list[str] = _TOKEN.findall(self._text, begin)
        self._starts: list[int] = []
        self._begin = begin
        self.led = _NO_PART
        """Thing at the end of the clause before, which *it* refers to."""

    def _start(self, at: int) -> int:
        """Return the start of a word; starts are found on demand, since few are needed."""
        starts, lower = self._starts, self.lower
        while len(starts) <= at:
            n = len(starts)
            after = starts[-1] + len(lower[n - 1]) if n else self._begin
            starts.append(self._text.index(lower[n], after))
        return starts[at]

    def is_capital(self, at: int) -> bool:
        """True if a word begins with a capital letter."""
        return self._sentence[self._start(at)].isupper()

    def part(self, begin: int, end: int) -> ClausePart:
        """Return the words from one position up to another."""
        if begin >= end:
            return _NO_PART
        start = self._start(begin)
        last = self._start(end - 1) + len(self.lower[end - 1])
        return ClausePart(self._sentence[start:last], start)

    def first(self, begin: int, end: int, is_wanted: Callable[[_SentenceWords, int], bool]) -> int:
        """Return the first position whose word is wanted; ``end`` if none is."""
        for at in range(begin, end):
            if is_wanted(self, at):
                return at
        return end


@lru_cache(maxsize=4096)
def events_in(sentence: str) -> tuple[Event, ...]:
    """Return the events of a sentence.

    >>> [(e.kinds, e.subject.text) for e in events_in("The thief takes the sword and vanishes.")]
    [(('take',), 'The thief'), (('vanish',), 'The thief')]
    >>> events_in("You try to take the lamp.")
    ()
    """
    if _EFFECTIVE.isdisjoint(word_set(sentence.lower())):
        return ()
    words = split_words(sentence, "'")
    if words[0] in _NO_SUBJECT_STARTS or not _may_have_event(words):
        return ()
    used = _USE.match(sentence) if " use " in sentence and " to " in sentence else None
    if used is not None:
        purpose = _SentenceWords(sentence, used.end())
        found = _verb(purpose, 0)
        you = ClausePart("you", -1)
        return () if found is None else (_event(purpose, you, *found, len(purpose.lower)),)
    return tuple(_events(_words_of(sentence)))


def _may_have_event(words: list[str]) -> bool:
    """True if a word can be the verb of an event, unlike in *open door* and *is locked*."""
    if words[0] in SELVES and len(words) > 1 and words[1] in _BE:
        done = _is_given(words, 1) or not _CONJUNCTIONS.isdisjoint(words)
        return done and not _EFFECTIVE.isdisjoint(words)
    return any(
        word in _EFFECTIVE and (before not in _NO_SUBJECT_ENDS or word in _ENDING_PARTICIPLES)
        for before, word in pairwise(words)
    )


@lru_cache(maxsize=1024)
def action_event(action: str) -> Event | None:
    """Return the event that an action causes; None for an action without one.

    >>> action_event("put the ring on altar").holder.text
    'altar'
    """
    words = _words_of(action)
    found = _verb(words, 0)
    return None if found is None else _event(words, ClausePart("you", -1), *found, len(words.lower))


def _words_of(sentence: str) -> _SentenceWords:
    lead = _LEADING_CLAUSE.match(sentence)
    words = _SentenceWords(sentence, lead.end() if lead else 0)
    last = _LAST_THING_OF_LEAD.search(lead[0]) if lead else None
    if last is not None:
        words.led = ClausePart(last["thing"], last.start("thing"))
    return words


def _events(words: _SentenceWords) -> Iterator[Event]:
    at, clause = 0, _clause(words, 0, _NO_PART)
    if clause is None:
        subject = _idle_subject(words)
        at, clause = _next_clause(words, 1, subject)
        words.led = _idle_object(words, subject) if clause is not None else _NO_PART
    while clause is not None:
        subject, kinds, after = clause
        if at == 0 and subject.text.lower() == "it" and words.led.text:
            subject = words.led
        at, clause = _next_clause(words, after, subject)
        event = _event(words, subject, kinds, after, at)
        if event.thing.is_pronoun and words.led.text:
            event = event._replace(thing=words.led)
        words.led = _NO_PART
        if _is_passive(words, event, after):
            event = event._replace(subject=_NO_PART, thing=event.subject)
        if event.kinds:
            yield event


def _idle_subject(words: _SentenceWords) -> ClausePart:
    """Return the subject of a first verb that makes no event: *the guard yawns and leaves*."""
    lower = words.lower
    if lower[0] in SELVES:
        return words.part(0, 1)
    determined = lower[0] in _DETERMINERS
    if not (determined or words.is_capital(0)):
        return _NO_PART
    for at in range(1 + determined, min(_MAX_SUBJECT_WORDS + 1, len(lower) - 1)):
        if lower[at] in _SUBJECT_BREAKS:
            break
        after = lower[at + 1]
        ends = (
            not determined
            or after in _CONJUNCTIONS
            or after in _PREPOSITIONS
            or after in _DETERMINERS
            or after.endswith("ly")
            or lower[at + 2 : at + 3] == ["and"]
        )
        if ends and lower[at].endswith(("s", "ed")) and not lower[at].endswith(("ss", "us", "is")):
            return words.part(0, at)
    return _NO_PART


def _idle_object(words: _SentenceWords, subject: ClausePart) -> ClausePart:
    """Return the object of a first verb that makes no event: *you polish the ring and drop it*."""
    verb_at = len(subject.text.split())
    if not subject.text or words.lower[verb_at + 1 : verb_at + 2] == []:
        return _NO_PART
    if words.lower[verb_at + 1] not in _DETERMINERS:
        return _NO_PART
    return words.part(verb_at + 1, words.first(verb_at + 2, len(words.lower), _ends_name))


def _is_passive(words: _SentenceWords, event: Event, after: int) -> bool:
    """True if the subject is acted upon: *your lamp has been stolen*."""
    before = words.lower[max(after - 3, 0) : after]
    return not event.thing.text and "vanish" not in event.kinds and not _PASSIVE.isdisjoint(before)


def _joins_verbs(words: _SentenceWords, at: int) -> bool:
    """True if *and* joins two verbs of one subject: *yawns and wanders off*."""
    before, after = words.lower[at - 1], words.lower[at + 1 : at + 2]
    return before.endswith("s") and after != [] and after[0] in _VERBS and after[0].endswith("s")


def _next_clause(words: _SentenceWords, at: int, subject: ClausePart) -> tuple[int, _Clause | None]:
    """Return the start of the next clause with an event, and the clause; or the end, and None."""
    lower = words.lower
    for joint in range(at, len(lower) - 1):
        if lower[joint] in _CONJUNCTIONS and lower[joint + 1] not in _CONJUNCTIONS:
            clause = _clause(words, joint + 1, subject)
            if clause is not None:
                return joint + 1, clause
    return len(lower), None


_Clause = tuple[ClausePart, tuple[str, ...], int]
"""The subject and kinds of a clause, and the position after its verb."""


def _clause(words: _SentenceWords, at: int, last: ClausePart) -> _Clause | None:
    """Return the subject and kinds of the clause at a position, and the position after its verb."""
    lower, first, verb_at = words.lower, words.lower[at], at
    determined = first in _DETERMINERS
    if first in _DENYING_SUBJECTS:
        return None
    if first in SELVES or first in _PERSONAL_PRONOUNS:
        verb_at = at + 1
        if first in SELVES and lower[verb_at : verb_at + 1] and _is_given(lower, verb_at):
            return words.part(at, verb_at), ("gain",), verb_at + 2
    elif determined or (first not in _VERBS and first not in _ADVERBS and words.is_capital(at)):
        verb_at = _subject_end(words, at, determined)
        if verb_at < 0:
            return None
        if lower[verb_at] in _SUBJECT_BREAKS and lower[verb_at] not in _VERBS:
            return _passive(words, at, verb_at)
    elif last is _NO_PART:
        return None
    if verb_at > at and lower[verb_at - 1] in _CONJUNCTIONS:
        return None  # the boat inflates and appears seaworthy
    if not _UNCERTAIN.isdisjoint(lower[at:verb_at]):
        return None
    named = verb_at
    while named > at + 2 and lower[named - 1].endswith("ly"):  # the door reluctantly opens
        named -= 1
    return _predicate(words, words.part(at, named) if verb_at > at else last, verb_at)


def _subject_end(words: _SentenceWords, at: int, determined: bool) -> int:
    """Return the position of the verb, adverb or break after a subject; -1 for another clause."""
    lower, end = words.lower, min(at + _MAX_SUBJECT_WORDS + 1, len(words.lower))
    at += 1 + determined
    while at < end:
        word = lower[at]
        if word in _VERBS or word in _ADVERBS:
            return at
        if word == "to" and " ".join(lower[at : at + 3]) in _TO_DIRECTIONS:
            at, end = at + 3, min(end + 3, len(lower))  # the door to the north closes
            continue
        if word in PLACING and lower[at + 1 : at + 2] in _THE:
            at, end = at + 2, min(end + 4, len(lower))  # the lamp on the desk goes out
            continue
        if word in _SUBJECT_BREAKS:
            return at
        if word == "and" and _joins_verbs(words, at):
            return -1
        at += 1
    return -1


def _predicate(words: _SentenceWords, subject: ClausePart, at: int) -> _Clause | None:
    """Return a subject, the kinds of its verb after adverbs, and the position after the verb."""
    lower = words.lower
    while at < len(lower) and (lower[at] in _ADVERBS or lower[at].endswith("ly")):
        if lower[at] in _UNCERTAIN:
            return None
        if _verb(words, at) is not None:
            break
        at += 1
    found = _verb(words, at)
    if found is None:
        return None
    is_base = lower[at] in _BASE_FORMS and lower[at - 1] not in _PERFECT
    if lower[at] == "light" and subject.text.lower() not in SELVES:
        return None  # the blade reflects light
    return None if is_base and not _is_plural(subject) else (subject, *found)


def _passive(words: _SentenceWords, at: int, be_at: int) -> _Clause | None:
    """Return a passive clause: a thing is destroyed, or moved as in *the gate is pushed shut*."""
    after = words.first(be_at + 1, len(words.lower), _is_no_adverb)
    if words.lower[be_at] not in _BE:
        return None
    if after < len(words.lower) and words.lower[after] in _ENDING_PARTICIPLES:
        return words.part(at, be_at), ("vanish",), after + 1
    moved = _verb(words, after) if words.lower[after + 1 : after + 2] else None
    if moved is not None and words.lower[moved[1] - 1] in _RESULTS_OF_MOVING:
        return words.part(at, be_at), *moved
    return None


def _is_given(lower: list[str], at: int) -> bool:
    """True if the words after the agent say that it receives something: *are handed a map*."""
    return lower[at] in _BE and not _RECEIVING_PARTICIPLES.isdisjoint(lower[at + 1 : at + 2])


def _is_no_adverb(words: _SentenceWords, at: int) -> bool:
    return words.lower[at] not in _ADVERBS


def _is_plural(subject: ClausePart) -> bool:
    """True if a subject goes with the base form of a verb: *you*, *they*, *the guards*."""
    text = subject.text.lower()
    if text in SELVES or text == "they" or " and " in text:
        return True
    return _MODIFIER.split(text, maxsplit=1)[0].endswith("s")


def _verb(words: _SentenceWords, at: int) -> tuple[tuple[str, ...], int] | None:
    """Return the kinds of the longest verb at a position, and the position after it.

    A verb whose particle comes later, as in *picks the lamp up*, has no kind yet.
    """
    lower = words.lower
    known = _VERBS.get(lower[at]) if at < len(lower) else None
    if known is None:
        return None
    for end in range(min(at + _MAX_VERB_WORDS[lower[at]], len(lower)), at, -1):
        kinds = known.get(" ".join(lower[at:end]))
        if kinds is not None:
            return kinds, end
    later = _PARTICLES.intersection(lower[at + 2 : at + _MAX_SUBJECT_WORDS + 2])
    return ((), at + 1) if any(f"{lower[at]} {word}" in known for word in later) else None


def _event(
    words: _SentenceWords, subject: ClausePart, kinds: tuple[str, ...], at: int, end: int
) -> Event:
    """Return the event of a verb, with the object and target in the words up to ``end``."""
    lower = words.lower
    while end > at and (lower[end - 1] in _CONJUNCTIONS or lower[end - 1] in _LAST_ADVERBS):
        end -= 1
    verb, tail = lower[at - 1], " ".join(lower[at:end])
    if lower[at : at + 1] == [","]:  # the door opens, and
        return Event(kinds, verb, subject, tail=tail)
    bare = at < end and (lower[at] in _PREPOSITIONS or lower[at] == "and")
    after = at if bare else words.first(at + 1, end, _ends_name)
    thing = words.part(at, min(after, end))
    if after < end and lower[after] in _PARTICLES and _is_of_verb(lower, verb, at, after, end):
        kinds = _VERBS.get(verb, {}).get(f"{verb} {lower[after]}", kinds)
        if after == at:  # pick up the lamp
            after = words.first(at + 1, end, _ends_name)
            thing = words.part(at + 1, after)
        else:  # pick the lamp up
            after += 1
    while after + 1 < end and lower[after].endswith("ly"):  # set the jar carefully on the shelf
        after += 1
    if after + 1 >= end or lower[after] not in _PREPOSITIONS:
        return Event(kinds, verb, subject, thing, tail=tail)
    stop = words.first(after + 1, end, _ends_holder)
    return Event(kinds, verb, subject, thing, lower[after], words.part(after + 1, stop), tail)


def _is_of_verb(lower: list[str], verb: str, at: int, particle: int, end: int) -> bool:
    """True if a particle belongs to the verb before ``at``, and not to the words after it."""
    if lower[particle] in _RESULTS_OF_MOVING or particle + 1 >= end:
        return True
    after = lower[particle + 1]
    if after in _PREPOSITIONS or after == "of":
        return True
    if particle != at:
        return False
    emphatic = [lower[particle], after] in _EMPHATIC_UP  # gather up the coins
    return emphatic or f"{verb} {lower[particle]}" in _VERBS.get(verb, {})


def _ends_name(words: _SentenceWords, at: int) -> bool:
    """True if a name ends before a word: *but*, a preposition, a comma before no further thing."""
    word = words.lower[at]
    after = words.lower[at + 1] if at + 1 < len(words.lower) else ""
    if word == "but" or after == "enough":
        return True
    if word in ("free", "loose"):  # you work the nail loose and
        return not after or after in _CONJUNCTIONS or after in _PREPOSITIONS or after == "and"
    if word in ",;:(":
        joined = after == "and" and not _begins_clause(words, at + 2)
        listed = after in _DETERMINERS or joined or _joins_adjectives(words.lower, at)
        return word != "," or not listed
    if word in _RESULTS_OF_MOVING:  # pull the door open and go in; but: take the open box
        return not after or after in _PREPOSITIONS or after in _CONJUNCTIONS
    if word.endswith("ly") and word not in _NOUNS_IN_LY:
        return after in _PREPOSITIONS
    return word in _PREPOSITIONS or (word == "and" and _begins_clause(words, at + 1))


def _joins_adjectives(lower: list[str], at: int) -> bool:
    """True if a comma divides two adjectives before the noun: *the tiny, shiny coin*."""
    if at < 2 or lower[at - 2] not in _DETERMINERS or len(lower) < at + 3:
        return False
    last, noun = lower[at + 1 : at + 3]
    ends = lower[at + 3 : at + 4]
    return (
        not last.endswith(("ed", "ing", "ly"))
        and noun.isalpha()
        and noun not in _PREPOSITIONS
        and (not ends or ends[0] in _PREPOSITIONS or ends[0] in _CONJUNCTIONS)
    )


def _begins_clause(words: _SentenceWords, at: int) -> bool:
    """True if the word after *and* is a pronoun, or a verb before an object or a particle."""
    verb, after = [*words.lower[at : at + 2], "", ""][:2]
    goes = after in ("away", "off", "down", "up", "back")
    return verb in _PERSONAL_PRONOUNS or (
        verb not in _DETERMINERS and (goes or after in _DETERMINERS | _PRONOUNS | _OBJECT_PRONOUNS)
    )


def _ends_holder(words: _SentenceWords, at: int) -> bool:
    word = words.lower[at]
    return word in _PREPOSITIONS or word in ",;:(" or word == "and"
