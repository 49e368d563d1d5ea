"""Sentences of TextWorld's rooms: furniture and its contents, the floor, exits and doors.

Wording is taken loosely, so that the cooking, house and basic grammars are read by the same forms.
Furniture without contents and without a state is a closed container: the grammar always gives the
contents of a supporter and of an open container.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from gym_memory.core.records import Triple
from gym_memory.extract.base import Mention
from gym_memory.extract.notes.words import DIRECTION_LIST, NAME, split_things
from gym_memory.games.textworld.rules_sentences import (
    HERE,
    IT,
    HolderContents,
    Rule,
    SentenceFacts,
    contents,
    first_match,
    located,
    sentences,
    stated,
)
from gym_memory.graph.schema import clean_name, door_relation

__all__ = ["BANNER", "describe", "read_room_sentence"]

_MAX_KEPT_CHARS = 10_000
"""Most characters of a description whose reading is kept."""

BANNER = re.compile(r"^[ \t]*-=[ \t]*(?P<room>[^\s=][^\n=]{0,79}?)[ \t]*=-", re.MULTILINE)
"""The line over a room's description: ``-= Living Room =-``."""

_STATE = r"(?P<state>locked|unlocked|opened|open|closed)"
_WAYS = rf"(?P<ways>{DIRECTION_LIST})"
_OPENNESS = {"locked": "locked", "opened": "open", "open": "open", "closed": "closed"}
_LIST = r"(?P<items>(?:an?|some|the|one|two|\d+|nothing)\b[^.!?;]*?)"
_END = r"(?=[.!,]|$)"
_LIST_END = r"(?=[.!]|, so (?:there's|why)|$)"
_YOU_SEE = r"[Yy]ou (?:can )?(?:see|make out)"
_LEAD = (
    r"(?:.*, where you can see|You (?:can (?:even |suddenly )?)?(?:see|make out)|.*, seeing"
    r"|.* follow it to|.* fall onto|.* other than|.* to reveal|.*, and you find|.*, you notice"
    r"|.*(?:over|by).*, it's|.*never mind, it's just|It(?: looks like it)?'s"
    r"|.*, you can even see|.*[Ll]ook over there[,!]|(?:Oh, great\. )?Here's)"
)
"""Words after which the grammar names a piece of furniture."""

# Doors and exits


def _door(found: re.Match[str]) -> SentenceFacts:
    name = clean_name(found["name"])
    state = _OPENNESS.get((found.groupdict().get("state") or "").lower())
    mentions = [*_ways(found)]
    for way in found["ways"].replace(",", " ").split():
        if way != "and":
            mentions.append(stated(HERE, door_relation(way.lower()), name, found, "name"))
    if state is not None:
        mentions.append(stated(name, "is", state, found, "name"))
    return SentenceFacts(tuple(mentions), topic=name)


def _ways(found: re.Match[str]) -> Iterator[Mention]:
    start = found.start("ways")
    for way in re.finditer(r"\w+", found["ways"]):
        if way.group() != "and":
            yield Mention(
                Triple(HERE, "has exit", way.group().lower()),
                start + way.start(),
                start + way.end(),
            )


def _exits(found: re.Match[str]) -> SentenceFacts:
    return SentenceFacts(tuple(_ways(found)))


# Furniture


def _thing(found: re.Match[str]) -> SentenceFacts:
    """Read furniture; a *typical looking chest* and one *which looks typical* are a chest."""
    begin = found["name"].find(" looking ")
    start = found.start("name") + (begin + len(" looking ") if begin > 0 else 0)
    name, span = clean_name(found.string[start : found.end("name")]), (start, found.end("name"))
    mentions = [Mention(Triple(name, "is in", HERE), *span)]
    state = _OPENNESS.get((found["state"] or "").lower())
    if state is not None:
        mentions.append(Mention(Triple(name, "is", state), *span))
    return SentenceFacts(tuple(mentions), topic=name, new=True)


def _several(found: re.Match[str]) -> SentenceFacts:
    """Read ``two chests, one rusty and one big``, ``two rustythings, a chest and a table``."""
    noun = found["kind"].lower().removesuffix("s")
    adjective = found["kind"].lower().removesuffix("things")
    mentions = []
    for one in re.finditer(r"(?P<one>an?|one) (?P<word>[^,]+?)(?=, | and |$)", found["items"]):
        word = one["word"].lower()
        name = f"{word} {noun}" if one["one"] == "one" else f"{adjective} {word}".strip()
        start = found.start("items")
        span = (start + one.start("word"), start + one.end("word"))
        mentions.append(Mention(Triple(name, "is in", HERE), *span))
    return SentenceFacts(tuple(mentions), new=True)


def _here(found: re.Match[str]) -> SentenceFacts:
    things = split_things(found["items"], found.start("items"))
    return SentenceFacts(tuple(m for phrase in things for m in located(phrase, "is in", HERE)))


# What furniture holds


def _holds(found: re.Match[str]) -> SentenceFacts:
    groups = found.groupdict()
    holder = clean_name(groups.get("name") or "") or IT
    where = groups.get("where") or ("on" if groups.get("verb") == "holds" else "in")
    relation = "is on" if where.lower() in ("on", "upon") else "is in"
    things = split_things(found["items"], found.start("items"))
    return contents(holder, relation, things, found.span("items"), opened=relation == "is in")


def _empty(found: re.Match[str]) -> SentenceFacts:
    holder = clean_name(found.groupdict().get("name") or "") or IT
    return contents(IT if holder == "thing" else holder, "is on", (), found.span())


def _empty_inside(found: re.Match[str]) -> SentenceFacts:
    holder = clean_name(found.groupdict().get("name") or "") or IT
    return contents(holder, "is in", (), found.span(), opened=True)


def _state(found: re.Match[str]) -> SentenceFacts:
    name = clean_name(found["name"])
    state = _OPENNESS.get(found["state"].lower())
    return SentenceFacts((stated(name, "is", state, found, "name"),) if state else (), topic=name)


_NAMED = rf"the (?P<name>{NAME})"
_THING = rf"(?:{_STATE} )?(?P<name>{NAME})"
_LOOKS = r"(?:, which looks [^.,]{1,80},?)?"
_NEAR = r"(?:here|in the room|nearby|close by|in the corner|right there by you)"
_CONTAINS = (
    r"(?P<verb>contains|has|is filled with|reveals inside it|holds|shelters|offers you"
    r"|reveals to you)"
)

_RULES: tuple[Rule, ...] = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        # doors and exits
        (rf"There (?:is|are) an? {_STATE} (?P<name>{NAME}) leading {_WAYS}", _door),
        (rf"(?:Nearby )?[Aa]n? (?P<name>{NAME}) leads {_WAYS}", _door),
        (rf"The exits? to the {_WAYS} (?:is|are) going through (?:an? )?"
         rf"(?P<name>{NAME}){_END}", _door),
        (rf"The {_WAYS} exits? (?:has|have) an? (?P<name>{NAME}) blocking", _door),
        (r".*?\b(?:[Ee]xits?(?: \w+){0,2} to the|can exit to the|try going|leave by the"
         rf"|[Ww]hy not go|[Yy]ou (?:can|could) (?:also )?go|if you go) {_WAYS}",
         _exits),
        # the floor, groups of furniture
        (rf"There (?:is|are) {_LIST} on the (?:floor|ground){_END}", _here),
        (r"(?:You can see|Your attention is drawn to) (?:two|several|three|four) "
         r"(?P<kind>[^.,]{1,60}), (?P<items>(?:an?|one) [^.!]+?)(?=, here|, so |[.!]|$)", _several),
        # what furniture holds
        (rf"(?P<where>On|Upon|In) {_NAMED},? (?:{_YOU_SEE}|is|are) {_LIST}{_LIST_END}", _holds),
        (rf"{_YOU_SEE} {_LIST} (?P<where>on|in) the (?!room\b|corner\b)(?P<name>{NAME}){_END}",
         _holds),
        (rf"The (?P<name>{NAME}) {_CONTAINS} {_LIST}{_LIST_END}", _holds),
        (rf"(?:It|Something about it)(?: is [^.!]*?, and)? {_CONTAINS} {_LIST}{_LIST_END}", _holds),
        (rf".*?\b[Tt]here (?:is|are) {_LIST} (?:found )?(?P<where>in|on) (?:it|{_NAMED}){_END}",
         _holds),
        (rf"(?P<where>In|On|Upon) it,? {_YOU_SEE} {_LIST}{_LIST_END}", _holds),
        (r"(?:Contents|Contained within|Inside are the following|Inventory is as follows"
         rf"|Here's what's inside|Let's see what's inside) ?- ?{_LIST}{_LIST_END}", _holds),
        (rf"Oh, how they also \w+(?: \w+)*? {_LIST}{_LIST_END}", _holds),
        (rf"The (?P<name>{NAME}) is empty(?=[!,])|Empty!", _empty_inside),
        (rf"(?:However, )?[Tt]he (?P<name>{NAME})(?:, like an empty .*, has nothing on it"
         rf"| is empty| appears to be empty){_END}", _empty),
        (rf"(?:There isn't a thing|There is nothing) (?:on|in) the (?P<name>{NAME}){_END}", _empty),
        (rf"But the (?P<name>{NAME}) (?:hasn't got anything on it|is empty)", _empty),
        (r".*\b(?:isn't a thing on it|nothing on this piece of|taken everything off it)"
         r"|.*, there's nothing here", _empty),
        # furniture
        (rf"The (?P<name>{NAME}) is {_STATE}\.?$", _state),
        (rf"(?:Look at the (?P<name>{NAME})\.?$"
         rf"|The (?P<like>{NAME}) (?:reminds|looks like|floods|is reminiscent|is just like) )",
         lambda m: SentenceFacts(topic=clean_name(m["name"] or m["like"]))),
        (r"You can (?:also )?see (?P<items>.+ and an? .+) here\.?$", _here),
        (rf"{_LEAD} an? {_THING}{_LOOKS}(?:,? {_NEAR})?(?=[.!,]|$)", _thing),
        (rf"An? {_THING}{_LOOKS} is {_NEAR}(?=[.!,]|$)", _thing),
        (rf"There is an? {_THING} here\.?$", _thing),
        (rf"an? {_THING}(?=[.!,]|$)(?!.*\?)", _thing),
    )
)  # fmt: skip


@lru_cache(maxsize=1 << 9)
def read_room_sentence(sentence: str) -> SentenceFacts | None:
    """Read one sentence of a description; None for an aside."""
    return first_match(_RULES, sentence)


def describe(text: str, room: str) -> SentenceFacts:
    """Read the description of a room; the last listing is that of the room itself."""
    return (_describe if len(text) <= _MAX_KEPT_CHARS else _describe.__wrapped__)(text, room)


@lru_cache(maxsize=1 << 8)
def _describe(text: str, room: str) -> SentenceFacts:
    seen = _Seen(room)
    for sentence, offset in sentences(text):
        said = read_room_sentence(sentence)
        if said is not None:
            seen.take(said, offset)
    return seen.reading()


class _Seen:
    """The sentences of a description that were read so far."""

    def __init__(self, room: str) -> None:
        self.room = room
        self.mentions: list[Mention] = []
        self.listings: list[HolderContents] = []
        self.furniture: dict[str, int] = {}
        """Name to the position in ``mentions`` where its facts begin."""
        self.last = ""

    def take(self, said: SentenceFacts, offset: int) -> None:
        topic = said.topic if said.new or not said.topic else self._meant(said.topic)
        known = {HERE: self.room, IT: self._it(), said.topic: topic}
        for (subject, relation, obj), start, end in said.mentions:
            triple = Triple(known.get(subject, subject), relation, known.get(obj, obj))
            if said.new and obj == HERE:
                self.furniture.setdefault(triple.subject, len(self.mentions))
            if triple.subject and triple.object:
                self.mentions.append(Mention(triple, start + offset, end + offset))
        for holder, names in said.listings:
            self.listings.append(HolderContents(known.get(holder, holder), names))
            topic = topic or self.listings[-1].holder
        self.last = topic or self.last

    def _it(self) -> str:
        """Return the thing seen last; of a group, the next one without contents so far."""
        listed = {listing.holder for listing in self.listings}
        if self.last and self.last not in listed:
            return self.last
        return next((name for name in self.furniture if name not in listed), self.last)

    def _meant(self, name: str) -> str:
        """Return the furniture that a name means: *chest* or *rusty one* is a rusty chest."""
        if name in self.furniture:
            return name
        if name.endswith(" one"):
            return next((f for f in self.furniture if f.startswith(name[:-3])), name)
        for thing in (self.last, *reversed(self.furniture)):
            if thing.endswith(f" {name}"):
                return thing
        if self.last in self.furniture and name.endswith(f" {self.last}"):
            self._rename(self.last, name)
        return name

    def _rename(self, old: str, new: str) -> None:
        """Rename furniture whose full name comes later: a *chest* that is a rusty chest."""
        begin = self.furniture[new] = self.furniture.pop(old)
        for i, ((subject, relation, obj), start, end) in enumerate(self.mentions[begin:], begin):
            if subject == old:
                self.mentions[i] = Mention(Triple(new, relation, obj), start, end)

    def reading(self) -> SentenceFacts:
        """Return all facts, with what follows from what was left unsaid."""
        described = {listing.holder for listing in self.listings}
        described.update(m.triple.subject for m in self.mentions if m.triple.relation == "is")
        for name, begin in self.furniture.items():
            if name not in described:
                shut = self.mentions[begin]._replace(triple=Triple(name, "is", "closed"))
                self.mentions.append(shut)
        inside = (m.triple.subject for m in self.mentions if m.triple.object == self.room)
        self.listings.append(HolderContents(self.room, tuple(dict.fromkeys(inside))))
        return SentenceFacts(tuple(self.mentions), tuple(self.listings))
