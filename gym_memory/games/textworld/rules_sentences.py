"""Sentences of TextWorld's answers: results, refusals that state something, the inventory.

A sentence depends on nothing but its characters, so it is read once and kept. Two placeholders
stand for what it does not name: :data:`HERE`, the room, and :data:`IT`, the thing spoken of last.
Only what an answer states becomes a fact, so a refused command changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from gym_memory.core.records import Triple
from gym_memory.extract.base import Mention, Pattern
from gym_memory.extract.notes.words import NAME, Phrase, split_things
from gym_memory.graph.schema import INVENTORY, LOCATIONS, clean_name

__all__ = [
    "HERE",
    "IT",
    "HolderContents",
    "Rule",
    "SentenceFacts",
    "contents",
    "first_match",
    "gone",
    "located",
]
__all__ += ["read_inventory", "read_result_sentence", "read_results", "sentences", "stated"]

HERE = "<here>"
IT = "<it>"

_SENTENCE = re.compile(r"[^\S\n]*Oh well(?=\s)|[^.!?\n]+[.!?]*[\"']?")
_MAX_SENTENCE_CHARS = 1000


class HolderContents(NamedTuple):
    """The complete contents of a holder; whatever else was there is gone."""

    holder: str
    names: tuple[str, ...]


class SentenceFacts(NamedTuple):
    """Facts that a sentence or a longer text states and ends."""

    mentions: tuple[Mention, ...] = ()
    listings: tuple[HolderContents, ...] = ()
    outdated: tuple[Pattern, ...] = ()
    topic: str = ""
    """The thing to which a following *it* refers; empty where that stays the same."""
    new: bool = False
    """True if the sentence introduces the topic: a piece of furniture seen in the room."""


Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], SentenceFacts]]
"""A form of sentence and what it says."""


def sentences(text: str) -> Iterator[tuple[str, int]]:
    """Yield sentences with the position of their first character; overlong ones are left out.

    >>> list(sentences("It is dark. Is it?"))
    [('It is dark.', 0), ('Is it?', 12)]
    """
    for found in _SENTENCE.finditer(text):
        whole = found.group()
        sentence = whole.strip()
        if sentence and len(sentence) <= _MAX_SENTENCE_CHARS:
            yield sentence, found.start() + whole.index(sentence[0])


def first_match(rules: tuple[Rule, ...], sentence: str, start: int = 0) -> SentenceFacts | None:
    """Read a sentence from ``start`` on by the first rule that fits; None if none fits."""
    for pattern, build in rules:
        found = pattern.match(sentence, start)
        if found is not None:
            return build(found)
    return None


def stated(subject: str, relation: str, obj: str, found: re.Match[str], group: str) -> Mention:
    """Return a fact whose evidence is a group of a match."""
    return Mention(Triple(subject, relation, obj), *found.span(group))


def located(phrase: Phrase, relation: str, place: str) -> Iterator[Mention]:
    """Yield where a thing is, and the states in its name."""
    yield Mention(Triple(phrase.name, relation, place), phrase.start, phrase.end)
    for state in phrase.states:
        yield Mention(Triple(phrase.name, "is", state), phrase.start, phrase.end)


def contents(
    holder: str,
    relation: str,
    things: tuple[Phrase, ...],
    span: tuple[int, int],
    *,
    opened: bool = False,
) -> SentenceFacts:
    """Read the complete contents of a holder, which is empty if it has none.

    ``opened`` is True if it follows that the holder is open; ``span`` is evidence for its states.
    """
    mentions = [m for phrase in things for m in located(phrase, relation, holder)]
    states = ("empty",) * (not things) + ("open",) * opened
    mentions += [Mention(Triple(holder, "is", state), *span) for state in states]
    listing = HolderContents(holder, tuple(phrase.name for phrase in things))
    return SentenceFacts(tuple(mentions), (listing,), topic="" if holder == IT else holder)


# Answers

_DONE = {
    "open": "open", "close": "closed", "lock": "locked", "unlock": "closed",
    "slice": "sliced", "dice": "diced", "chop": "chopped",
    "fried": "fried", "roasted": "roasted", "grilled": "grilled", "burned": "burned",
}  # fmt: skip
"""The verb of a report to the state that it leaves."""


def gone(name: str) -> tuple[Pattern, ...]:
    """Return what ends when a thing is nowhere any more: its place and its states."""
    return (*(Pattern(name, relation) for relation in sorted(LOCATIONS)), Pattern(name, "is"))


def _one(found: re.Match[str], group: str = "name") -> Phrase:
    """Return a single name, its leading states taken apart."""
    things = split_things(found[group], found.start(group))
    return things[0] if things else Phrase("", (), *found.span(group))


def _moved(relation: str, place: str, found: re.Match[str]) -> SentenceFacts:
    thing = _one(found)
    return SentenceFacts(tuple(located(thing, relation, place)), topic=thing.name)


def _put(found: re.Match[str]) -> SentenceFacts:
    relation = "is on" if found["where"].startswith("on") else "is in"
    return _moved(relation, clean_name(found["place"]), found)


def _becomes(found: re.Match[str], state: str = "") -> SentenceFacts:
    """Read a thing and its state: the one given, or the one that the verb leaves."""
    thing = _one(found)
    state = state or _DONE[found["verb"]]
    mention = Mention(Triple(thing.name, "is", state), thing.start, thing.end)
    return SentenceFacts((mention,), topic=thing.name)


def _opened(found: re.Match[str]) -> SentenceFacts:
    """Read what opens: a container with what it reveals, a door without an article."""
    changed = _becomes(found)
    if found["the"] is None:
        return changed
    items = found["items"]
    things = split_things(items, found.start("items")) if items else ()
    inside = contents(changed.topic, "is in", things, found.span("name"))
    return inside._replace(mentions=changed.mentions + inside.mentions)


def _consumed(found: re.Match[str]) -> SentenceFacts:
    thing = _one(found)
    mention = Mention(Triple(thing.name, "is", "consumed"), thing.start, thing.end)
    return SentenceFacts((mention,), outdated=gone(thing.name))


def _it_is(found: re.Match[str], state: str = "") -> SentenceFacts:
    return SentenceFacts((Mention(Triple(IT, "is", state or found["state"]), *found.span()),))


def _looks(found: re.Match[str]) -> SentenceFacts:
    thing = _one(found)
    span = (thing.start, thing.end)
    return SentenceFacts(tuple(Mention(Triple(thing.name, "is", s), *span) for s in thing.states))


def _needs_key(found: re.Match[str]) -> SentenceFacts:
    lock, key = _one(found), _one(found, "key")
    return SentenceFacts(
        (
            Mention(Triple(lock.name, "is", "locked"), lock.start, lock.end),
            Mention(Triple(key.name, "opens", lock.name), key.start, key.end),
        )
    )


def _holds(found: re.Match[str]) -> SentenceFacts:
    relation = "is on" if found["where"].lower() == "on" else "is in"
    things = split_things(found["items"], found.start("items"))
    return contents(
        clean_name(found["name"]), relation, things, found.span("name"), opened=relation == "is in"
    )


def _carried(found: re.Match[str]) -> SentenceFacts:
    things = split_things(found["items"], found.start("items"))
    return SentenceFacts(
        tuple(mention for thing in things for mention in located(thing, "is in", INVENTORY)),
        (HolderContents(INVENTORY, tuple(thing.name for thing in things)),),
    )


def _prepared_in(found: re.Match[str]) -> SentenceFacts:
    room = clean_name(found["place"])
    return SentenceFacts((stated("meal", "is prepared in", room, found, "place"),))


_THE = r"(?:[Tt]he )?"
_ONE = rf"{_THE}(?P<name>{NAME})"

_RULES: tuple[Rule, ...] = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (rf"You (?:pick up|take|get) {_ONE} from {_THE}(?P<place>{NAME})\.$",
         lambda m: _moved("is in", INVENTORY, m)),
        (rf"You put {_ONE} (?P<where>on|onto|in|into|inside) {_THE}(?P<place>{NAME})\.$", _put),
        (rf"You drop {_ONE}(?: on the (?:ground|floor))?\.$", lambda m: _moved("is in", HERE, m)),
        (rf"You (?P<verb>open) (?P<the>the )?(?P<name>{NAME})(?:, revealing (?P<items>.+))?\.$",
         _opened),
        (rf"You (?P<verb>close|lock|unlock|slice|dice|chop) {_ONE}\.$", _becomes),
        (rf"You (?P<verb>fried|roasted|grilled|burned) {_ONE}[.!]$", _becomes),
        (rf"You (?:eat|drink) {_ONE}\.$", _consumed),
        (rf"Adding {_ONE} to your inventory\.$", lambda m: _moved("is in", INVENTORY, m)),
        (r"You are carrying:?\s+(?P<items>[^.]+)\.?$", _carried),
        (rf"(?P<where>In|On) {_ONE} (?:is|are) (?P<items>(?:an?|some|two|\d+)\b.+?)\.?$", _holds),
        (r".*\bIt is (?P<state>open|closed|locked)\.?$", _it_is),
        (rf"{_ONE} is already (?P<state>sliced|diced|chopped)\.$",
         lambda m: _becomes(m, m["state"])),
        (rf"{_ONE} is (?P<state>closed|locked)\.$", lambda m: _becomes(m, m["state"])),
        (r"You can see inside it\.$", lambda m: _it_is(m, "open")),
        (r"You can't see inside it because", lambda m: _it_is(m, "closed")),
        (r"There is a lock on it\b", lambda m: _it_is(m, "locked")),
        (rf"You have to unlock {_ONE} with {_THE}(?P<key>{NAME}) first\.$", _needs_key),
        (rf"You have to open {_ONE} first\.$", lambda m: _becomes(m, "closed")),
        (rf"You can't see inside, since {_ONE} is closed\.$", lambda m: _becomes(m, "closed")),
        (rf"{_ONE} is welded shut\.$", lambda m: _becomes(m, "locked")),
        (rf"That's an? (?P<name>{NAME})[.!]$", _looks),
        (r"Useful for (?P<verb>\w+ing) things\.$",
         lambda m: SentenceFacts((stated(IT, "used for", m["verb"].lower(), m, "verb"),))),
        (rf"Can only prepare meal in {_THE}(?:-= )?(?P<place>{NAME})(?: =-)?\.$", _prepared_in),
    )
)  # fmt: skip


_EACH = re.compile(r"[^.:]{1,80}: (?=You )")
"""The thing before each of several answers, after a command such as ``drop all``."""


@lru_cache(maxsize=1 << 10)
def read_result_sentence(sentence: str) -> SentenceFacts | None:
    """Read one sentence of an answer; None if it states nothing."""
    prefix = _EACH.match(sentence)
    return first_match(_RULES, sentence, prefix.end() if prefix else 0)


def read_results(text: str, room: str, thing: str) -> SentenceFacts:
    """Read an answer in ``room``, whose *it* is ``thing``; either is empty if unknown."""
    mentions: list[Mention] = []
    listings: list[HolderContents] = []
    outdated: list[Pattern] = []
    for sentence, offset in sentences(text):
        said = read_result_sentence(sentence)
        if said is None:
            continue
        known = {HERE: room, IT: thing}
        for (subject, relation, obj), start, end in said.mentions:
            triple = Triple(known.get(subject, subject), relation, known.get(obj, obj))
            if triple.subject and triple.object:
                mentions.append(Mention(triple, start + offset, end + offset))
        listings.extend(said.listings)
        outdated.extend(said.outdated)
    return SentenceFacts(tuple(mentions), tuple(listings), tuple(outdated))


@lru_cache(maxsize=1 << 9)
def read_inventory(text: str) -> SentenceFacts:
    """Read an inventory; it is no part of the step's text, so nothing has a span."""
    reading = read_results(text, "", "")
    return reading._replace(mentions=tuple(Mention(m.triple) for m in reading.mentions))
