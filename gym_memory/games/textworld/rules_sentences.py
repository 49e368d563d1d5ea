"""Read TextWorld's sentences: results, informative refusals, inventories and rooms.

A reading depends only on the sentence, so it is cached. Placeholders stand for unnamed things:
:data:`HERE` for the room and :data:`IT` for the last thing. Facts come from the answer and never
from the command, so a refused command changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from gym_memory.core.records import Triple
from gym_memory.core.text import sentence_spans, word_spans
from gym_memory.extract import Mention, Pattern
from gym_memory.extract.notes.words import DIRECTION_LIST, NAME, Phrase, split_things
from gym_memory.graph.schema import INVENTORY, LOCATIONS, clean_name, door_relation

__all__ = ["BANNER", "HERE", "IT", "HolderContents", "Rule", "SentenceFacts", "contents"]
__all__ += ["describe", "first_match", "gone", "located", "read_inventory", "read_result_sentence"]
__all__ += ["read_results", "read_room_sentence", "sentences", "stated"]

HERE = "<here>"
IT = "<it>"

_UNPUNCTUATED = "Oh well"
"""A sentence without punctuation in TextWorld."""
_MAX_SENTENCE_CHARS = 1000


class HolderContents(NamedTuple):
    """A complete list of a holder's contents, which retires all others."""

    holder: str
    names: tuple[str, ...]


class SentenceFacts(NamedTuple):
    """Facts that a text adds and retires."""

    mentions: tuple[Mention, ...] = ()
    listings: tuple[HolderContents, ...] = ()
    outdated: tuple[Pattern, ...] = ()
    topic: str = ""
    """Referent of a following *it*; empty if unchanged."""
    new: bool = False
    """True if the sentence introduces the topic, a piece of furniture in the room."""


Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], SentenceFacts]]
"""A pattern of sentences and the function that reads it."""


def sentences(text: str) -> Iterator[tuple[str, int]]:
    """Yield sentences with their positions, except overlong ones.

    >>> list(sentences("It is dark. Is it?"))
    [('It is dark.', 0), ('Is it?', 12)]
    """
    for sentence, start in sentence_spans(text):
        if sentence.startswith(_UNPUNCTUATED) and sentence[len(_UNPUNCTUATED) :][:1].isspace():
            yield _UNPUNCTUATED, start
            rest = sentence.removeprefix(_UNPUNCTUATED).lstrip()
            start += len(sentence) - len(rest)
            sentence = rest
        if len(sentence) <= _MAX_SENTENCE_CHARS:
            yield sentence, start


def first_match(rules: tuple[Rule, ...], sentence: str, start: int = 0) -> SentenceFacts | None:
    """Read a sentence, from ``start`` on, by the first matching rule; None if none matches."""
    for pattern, build in rules:
        found = pattern.match(sentence, start)
        if found is not None:
            return build(found)
    return None


def stated(subject: str, relation: str, obj: str, found: re.Match[str], group: str) -> Mention:
    """Return a fact with a group of a match as its evidence."""
    return Mention(Triple(subject, relation, obj), *found.span(group))


def located(phrase: Phrase, relation: str, place: str) -> Iterator[Mention]:
    """Yield the place of a thing and the states in its name."""
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
    """Read the complete, possibly empty, contents of a holder.

    ``opened`` is True if this shows that the holder is open; ``span`` is the evidence for its
    states.
    """
    mentions = [m for phrase in things for m in located(phrase, relation, holder)]
    states = ("empty",) * (not things) + ("open",) * opened
    mentions += [Mention(Triple(holder, "is", state), *span) for state in states]
    listing = HolderContents(holder, tuple(phrase.name for phrase in things))
    return SentenceFacts(tuple(mentions), (listing,), topic="" if holder == IT else holder)


_RESULT_STATES = {
    "open": "open", "close": "closed", "lock": "locked", "unlock": "closed",
    "slice": "sliced", "dice": "diced", "chop": "chopped",
    "fried": "fried", "roasted": "roasted", "grilled": "grilled", "burned": "burned",
}  # fmt: skip
"""Resulting state by verb."""


def gone(name: str) -> tuple[Pattern, ...]:
    """Return patterns of all facts about a thing that no longer exists."""
    return (*(Pattern(name, relation) for relation in sorted(LOCATIONS)), Pattern(name, "is"))


def _one(found: re.Match[str], group: str = "name") -> Phrase:
    """Return a name with the states before it."""
    things = split_things(found[group], found.start(group))
    return things[0] if things else Phrase("", (), *found.span(group))


def _moved(relation: str, place: str, found: re.Match[str]) -> SentenceFacts:
    thing = _one(found)
    return SentenceFacts(tuple(located(thing, relation, place)), topic=thing.name)


def _put(found: re.Match[str]) -> SentenceFacts:
    relation = "is on" if found["where"].startswith("on") else "is in"
    return _moved(relation, clean_name(found["place"]), found)


def _becomes(found: re.Match[str], state: str = "") -> SentenceFacts:
    """Read a thing and its state: the given one, that in the text, or the verb's result."""
    thing = _one(found)
    state = state or found.groupdict().get("state") or _RESULT_STATES[found["verb"]]
    mention = Mention(Triple(thing.name, "is", state), thing.start, thing.end)
    return SentenceFacts((mention,), topic=thing.name)


def _opened(found: re.Match[str]) -> SentenceFacts:
    """Read the opening of a container, with its contents, or of a door."""
    changed = _becomes(found)
    if found["the"] is None:
        return changed
    items = found["items"]
    things = split_things(items, found.start("items")) if items else ()
    inside = contents(changed.topic, "is in", things, found.span("name"))
    return inside._replace(mentions=changed.mentions + inside.mentions)


def _consumed(found: re.Match[str]) -> SentenceFacts:
    eaten = _becomes(found, "consumed")
    return eaten._replace(outdated=gone(eaten.topic))


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


def _answer_holds(found: re.Match[str]) -> SentenceFacts:
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
_NOUN = rf"{_THE}(?P<name>{NAME})"

_RESULT_RULES: tuple[Rule, ...] = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (rf"You (?:pick up|take|get) {_NOUN} from {_THE}(?P<place>{NAME})\.$",
         lambda m: _moved("is in", INVENTORY, m)),
        (rf"You put {_NOUN} (?P<where>on|onto|in|into|inside) {_THE}(?P<place>{NAME})\.$", _put),
        (rf"You drop {_NOUN}(?: on the (?:ground|floor))?\.$", lambda m: _moved("is in", HERE, m)),
        (rf"You (?P<verb>open) (?P<the>the )?(?P<name>{NAME})(?:, revealing (?P<items>.+))?\.$",
         _opened),
        (rf"You (?P<verb>close|lock|unlock|slice|dice|chop) {_NOUN}\.$", _becomes),
        (rf"You (?P<verb>fried|roasted|grilled|burned) {_NOUN}[.!]$", _becomes),
        (rf"You (?:eat|drink) {_NOUN}\.$", _consumed),
        (rf"Adding {_NOUN} to your inventory\.$", lambda m: _moved("is in", INVENTORY, m)),
        (r"You are carrying:?\s+(?P<items>[^.]+)\.?$", _carried),
        (rf"(?P<where>In|On) {_NOUN} (?:is|are) (?P<items>(?:an?|some|two|\d+)\b.+?)\.?$",
         _answer_holds),
        (r".*\bIt is (?P<state>open|closed|locked)\.?$", _it_is),
        (rf"{_NOUN} is already (?P<state>sliced|diced|chopped)\.$", _becomes),
        (rf"{_NOUN} is (?P<state>closed|locked)\.$", _becomes),
        (r"You can see inside it\.$", lambda m: _it_is(m, "open")),
        (r"You can't see inside it because", lambda m: _it_is(m, "closed")),
        (r"There is a lock on it\b", lambda m: _it_is(m, "locked")),
        (rf"You have to unlock {_NOUN} with {_THE}(?P<key>{NAME}) first\.$", _needs_key),
        (rf"You have to open {_NOUN} first\.$", lambda m: _becomes(m, "closed")),
        (rf"You can't see inside, since {_NOUN} is closed\.$", lambda m: _becomes(m, "closed")),
        (rf"{_NOUN} is welded shut\.$", lambda m: _becomes(m, "locked")),
        (rf"That's an? (?P<name>{NAME})[.!]$", _looks),
        (r"Useful for (?P<verb>\w+ing) things\.$",
         lambda m: SentenceFacts((stated(IT, "used for", m["verb"].lower(), m, "verb"),))),
        (rf"Can only prepare meal in {_THE}(?:-= )?(?P<place>{NAME})(?: =-)?\.$", _prepared_in),
    )
)  # fmt: skip

_MULTIPLE_ANSWER_PREFIX = re.compile(r"[^.:]{1,80}: (?=You )")
"""Name before each answer to a command such as ``drop all``."""


@lru_cache(maxsize=1 << 10)
def read_result_sentence(sentence: str) -> SentenceFacts | None:
    """Read one sentence of an answer; None without a statement."""
    prefix = _MULTIPLE_ANSWER_PREFIX.match(sentence)
    return first_match(_RESULT_RULES, sentence, prefix.end() if prefix else 0)


@lru_cache(maxsize=1 << 9)
def read_results(text: str, room: str, thing: str) -> SentenceFacts:
    """Read an answer in ``room`` in which *it* refers to ``thing``; both may be empty."""
    mentions: list[Mention] = []
    listings: list[HolderContents] = []
    outdated: list[Pattern] = []
    for sentence, offset in sentences(text):
        facts = read_result_sentence(sentence)
        if facts is None:
            continue
        known = {HERE: room, IT: thing}
        for (subject, relation, obj), start, end in facts.mentions:
            triple = Triple(known.get(subject, subject), relation, known.get(obj, obj))
            if triple.subject and triple.object:
                mentions.append(Mention(triple, start + offset, end + offset))
        listings.extend(facts.listings)
        outdated.extend(facts.outdated)
    return SentenceFacts(tuple(mentions), tuple(listings), tuple(outdated))


@lru_cache(maxsize=1 << 9)
def read_inventory(text: str) -> SentenceFacts:
    """Read an inventory, without spans because it is not part of the step's text."""
    reading = read_results(text, "", "")
    return reading._replace(mentions=tuple(Mention(m.triple) for m in reading.mentions))


# The patterns are loose, so that one set reads the cooking, house and basic grammars. Furniture
# without contents and state is a closed container, since the grammars always give the contents of
# supporters and of open containers.

_MAX_KEPT_CHARS = 10_000
"""Longest description, in characters, with a cached reading."""

BANNER = re.compile(r"^[ \t]*-=[ \t]*(?P<room>[^\s=][^\n=]{0,79}?)[ \t]*=-", re.MULTILINE)
"""Line above a room's description: ``-= Living Room =-``."""

_STATE = r"(?P<state>locked|unlocked|opened|open|closed)"
_DIRECTION_GROUP = rf"(?P<ways>{DIRECTION_LIST})"
_OPENNESS = {"locked": "locked", "opened": "open", "open": "open", "closed": "closed"}
_LIST = r"(?P<items>(?:an?|some|the|one|two|\d+|nothing)\b[^.!?;]*?)"
_END = r"(?=[.!,]|$)"
_LIST_END = r"(?=[.!]|, so (?:there's|why)|$)"
_YOU_SEE = r"[Yy]ou (?:can )?(?:see|make out)"
_INTRODUCTION = (
    r"(?:.*, where you can see|You (?:can (?:even |suddenly )?)?(?:see|make out)|.*, seeing"
    r"|.* follow it to|.* fall onto|.* other than|.* to reveal|.*, and you find|.*, you notice"
    r"|.*(?:over|by).*, it's|.*never mind, it's just|It(?: looks like it)?'s"
    r"|.*, you can even see|.*[Ll]ook over there[,!]|(?:Oh, great\. )?Here's)"
)
"""Phrases of the grammar that introduce a piece of furniture."""


def _door(found: re.Match[str]) -> SentenceFacts:
    name = clean_name(found["name"])
    state = _OPENNESS.get((found.groupdict().get("state") or "").lower())
    mentions = [*_ways(found)]
    ways = [mention.triple.object for mention in mentions]
    mentions += [stated(HERE, door_relation(way), name, found, "name") for way in ways]
    if state is not None:
        mentions.append(stated(name, "is", state, found, "name"))
    return SentenceFacts(tuple(mentions), topic=name)


def _ways(found: re.Match[str]) -> Iterator[Mention]:
    start = found.start("ways")
    for way, begin, end in word_spans(found["ways"]):
        if way != "and":
            yield Mention(Triple(HERE, "has exit", way), start + begin, start + end)


def _thing(found: re.Match[str]) -> SentenceFacts:
    """Read furniture; a *typical looking chest*, or one *which looks typical*, is a chest."""
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


def _holder(found: re.Match[str]) -> str:
    return clean_name(found.groupdict().get("name") or "") or IT


def _holds(found: re.Match[str]) -> SentenceFacts:
    groups = found.groupdict()
    where = groups.get("where") or ("on" if groups.get("verb") == "holds" else "in")
    relation = "is on" if where.lower() in ("on", "upon") else "is in"
    things = split_things(found["items"], found.start("items"))
    opened = relation == "is in"
    return contents(_holder(found), relation, things, found.span("items"), opened=opened)


def _empty(found: re.Match[str]) -> SentenceFacts:
    holder = _holder(found)
    return contents(IT if holder == "thing" else holder, "is on", (), found.span())


def _state(found: re.Match[str]) -> SentenceFacts:
    name = clean_name(found["name"])
    state = _OPENNESS.get(found["state"].lower())
    return SentenceFacts((stated(name, "is", state, found, "name"),) if state else (), topic=name)


_NAMED = rf"the (?P<name>{NAME})"
_THING = rf"(?:{_STATE} )?(?P<name>{NAME})"
_LOOKS = r"(?:, which looks [^.,]{1,80},?)?"
_HERE_PHRASE = r"(?:here|in the room|nearby|close by|in the corner|right there by you)"
_CONTAINS = (
    r"(?P<verb>contains|has|is filled with|reveals inside it|holds|shelters|offers you"
    r"|reveals to you)"
)

_ROOM_RULES: tuple[Rule, ...] = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        # doors and exits
        (rf"There (?:is|are) an? {_STATE} (?P<name>{NAME}) leading {_DIRECTION_GROUP}", _door),
        (rf"(?:Nearby )?[Aa]n? (?P<name>{NAME}) leads {_DIRECTION_GROUP}", _door),
        (rf"The exits? to the {_DIRECTION_GROUP} (?:is|are) going through (?:an? )?"
         rf"(?P<name>{NAME}){_END}", _door),
        (rf"The {_DIRECTION_GROUP} exits? (?:has|have) an? (?P<name>{NAME}) blocking", _door),
        (r".*?\b(?:[Ee]xits?(?: \w+){0,2} to the|can exit to the|try going|leave by the"
         rf"|[Ww]hy not go|[Yy]ou (?:can|could) (?:also )?go|if you go) {_DIRECTION_GROUP}",
         lambda m: SentenceFacts(tuple(_ways(m)))),
        # the floor, groups of furniture
        (rf"There (?:is|are) {_LIST} on the (?:floor|ground){_END}", _here),
        (r"(?:You can see|Your attention is drawn to) (?:two|several|three|four) "
         r"(?P<kind>[^.,]{1,60}), (?P<items>(?:an?|one) [^.!]+?)(?=, here|, so |[.!]|$)", _several),
        # contents of furniture
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
        (rf"The (?P<name>{NAME}) is empty(?=[!,])|Empty!",
         lambda m: contents(_holder(m), "is in", (), m.span(), opened=True)),
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
        (rf"{_INTRODUCTION} an? {_THING}{_LOOKS}(?:,? {_HERE_PHRASE})?(?=[.!,]|$)", _thing),
        (rf"An? {_THING}{_LOOKS} is {_HERE_PHRASE}(?=[.!,]|$)", _thing),
        (rf"There is an? {_THING} here\.?$", _thing),
        (rf"an? {_THING}(?=[.!,]|$)(?!.*\?)", _thing),
    )
)  # fmt: skip


@lru_cache(maxsize=1 << 9)
def read_room_sentence(sentence: str) -> SentenceFacts | None:
    """Read one sentence of a description; None if it has no facts."""
    return first_match(_ROOM_RULES, sentence)


def describe(text: str, room: str) -> SentenceFacts:
    """Read the description of a room, whose last listing is of the room itself."""
    return (_describe if len(text) <= _MAX_KEPT_CHARS else _describe.__wrapped__)(text, room)


@lru_cache(maxsize=1 << 8)
def _describe(text: str, room: str) -> SentenceFacts:
    seen = _DescriptionState(room)
    for sentence, offset in sentences(text):
        facts = read_room_sentence(sentence)
        if facts is not None:
            seen.take(facts, offset)
    return seen.reading()


class _DescriptionState:
    """A state of reading a description."""

    def __init__(self, room: str) -> None:
        self.room = room
        self.mentions: list[Mention] = []
        self.listings: list[HolderContents] = []
        self.furniture: dict[str, int] = {}
        """Position in ``mentions`` of the first fact about each name."""
        self.last = ""

    def take(self, facts: SentenceFacts, offset: int) -> None:
        topic = facts.topic if facts.new or not facts.topic else self._resolve(facts.topic)
        known = {HERE: self.room, IT: self._it(), facts.topic: topic}
        for (subject, relation, obj), start, end in facts.mentions:
            triple = Triple(known.get(subject, subject), relation, known.get(obj, obj))
            if facts.new and obj == HERE:
                self.furniture.setdefault(triple.subject, len(self.mentions))
            if triple.subject and triple.object:
                self.mentions.append(Mention(triple, start + offset, end + offset))
        for holder, names in facts.listings:
            self.listings.append(HolderContents(known.get(holder, holder), names))
            topic = topic or self.listings[-1].holder
        self.last = topic or self.last

    def _it(self) -> str:
        """Return the last thing; of a group, the next one without contents."""
        listed = {listing.holder for listing in self.listings}
        if self.last and self.last not in listed:
            return self.last
        return next((name for name in self.furniture if name not in listed), self.last)

    def _resolve(self, name: str) -> str:
        """Resolve a short name of furniture: *chest* or *rusty one* is a rusty chest."""
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
        """Rename furniture whose full name follows later, such as a *chest* that is rusty."""
        begin = self.furniture[new] = self.furniture.pop(old)
        for i, ((subject, relation, obj), start, end) in enumerate(self.mentions[begin:], begin):
            if subject == old:
                self.mentions[i] = Mention(Triple(new, relation, obj), start, end)

    def reading(self) -> SentenceFacts:
        """Return all facts, including conclusions from omissions."""
        described = {listing.holder for listing in self.listings}
        described.update(m.triple.subject for m in self.mentions if m.triple.relation == "is")
        for name, begin in self.furniture.items():
            if name not in described:
                shut = self.mentions[begin]._replace(triple=Triple(name, "is", "closed"))
                self.mentions.append(shut)
        inside = (m.triple.subject for m in self.mentions if m.triple.object == self.room)
        self.listings.append(HolderContents(self.room, tuple(dict.fromkeys(inside))))
        return SentenceFacts(tuple(self.mentions), tuple(self.listings))
