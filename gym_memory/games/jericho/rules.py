"""Rules for interactive fiction as Inform and Infocom write it.

They share a form: a room begins with its title on a line of its own, then its description; things
are listed (*You can see a workbench (on which are a lantern and a coil of rope) and a tin box
(closed) here*); the inventory is a list under *You are carrying*; answers are short (*Taken.*).
Of the free sentences only exits that a direction word names are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import EXTRACTORS
from gym_memory.extract.base import Extraction, Mention, Pattern
from gym_memory.extract.notes.words import (
    DIRECTION_LIST,
    NAME,
    Phrase,
    clean_name,
    direction_in,
    split_things,
)
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, OPPOSITE, PLAYER, way_relation

__all__ = ["FictionRules"]

_MAX_TEXT_CHARS = 20_000
_TITLE = re.compile(
    r"^(?P<name>[A-Z][^.!?:;\"*\n]{0,48}?)(?: \((?:on|in) [^()\n]*\))?$", re.MULTILINE
)
_TITLE_WORD = re.compile(r"[A-Z0-9(]|(?:of|the|in|at|on|to|and|a|an|by|with|from|for)$")
_LIST = r"[^.!?\n]{1,2000}"  # a bound, for it may begin at every word
_SEEN = re.compile(
    rf"(?:You can (?:also )?see|There (?:is|are)|You see) (?P<things>{_LIST}?)(?: here)?[.!]"
)
_ON = re.compile(
    rf"(?P<where>On|In|Inside) the (?P<holder>{NAME}) (?:is|are|you (?:can )?see) "
    rf"(?P<things>{_LIST})[.!]"
)
_INSIDE = re.compile(
    r"(?P<holder>(?:an?|the|some) [^(),]{1,80}?) \((?P<state>[^()]*?)"
    r"(?:,? ?(?P<where>on|in) which (?:is|are) (?P<things>[^()]+))?\)"
)
_REVEALED = re.compile(rf"You open the (?P<holder>{NAME})(?:, revealing (?P<things>{_LIST}))?\.")
_CARRYING = re.compile(
    r"You(?:'re| are)? (?:carrying|have|holding):?\n(?P<lines>(?:[ \t]+\S.*\n?)+)"
)
_EXITS = re.compile(
    r"\b(?:(?:to|in|on|off to) the|leads?(?: off)?|lies?|leave|go|runs?|goes) "
    rf"(?P<ways>{DIRECTION_LIST})\b(?! to [^.]*\b(?:in|to) the (?:{DIRECTION_LIST}))",
    re.IGNORECASE,
)
_WAY = re.compile("|".join(sorted(OPPOSITE, key=len, reverse=True)), re.IGNORECASE)
_STATE = re.compile(r"\b(open|closed|locked|empty)\b")
_CHANGED = re.compile(rf"You (?P<verb>open|close|unlock|lock) the (?P<name>{NAME})\.")
_RESULT = {"open": "open", "close": "closed", "unlock": "closed", "lock": "locked"}
_SWITCHED = re.compile(rf"You switch the (?P<name>{NAME}) (?P<state>on|off)\.")
_DESCRIPTION = re.compile(r"\n[A-Z\"'(][^\n]*[.!?]")
_DARK = re.compile(r"^(?:Darkness|It is (?:now )?pitch dark)", re.MULTILINE)
_TAKEN = re.compile(r"^Taken\b", re.MULTILINE)
_DROPPED = re.compile(r"^Dropped\b", re.MULTILINE)
_GET = re.compile(r"(?:take|get|pick up|carry) (?P<name>.+)", re.IGNORECASE)
_PUT_DOWN = re.compile(r"(?:drop|put down) (?P<name>.+)", re.IGNORECASE)


@EXTRACTORS.register("fiction")
class FictionRules:
    """Where you are, what is there and in it, what you carry, ways gone and exits named."""

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Facts of one step; see :class:`~gym_memory.extract.base.Extractor`."""
        text = step.text[:_MAX_TEXT_CHARS]
        left = graph.value(PLAYER, "location")
        place = left.object if left is not None else ""
        mentions: list[Mention] = []
        outdated: list[Pattern] = []
        title = _title(text)
        if title is not None:
            place = clean_name(title["name"])
            span = title.span("name")
            mentions.append(Mention(Triple(PLAYER, "is in", place), *span))
            mentions += _way(step.action, left.object if left else "", place, span)
        if place:
            start = title.end() if title is not None else 0
            mentions += _listed(text, start, place)
            if title is not None:
                mentions += _exits(text, start, place)
        carried = list(_carried(text)) + [Mention(m.triple) for m in _carried(step.inventory)]
        names = [*(mention.triple.subject for mention in carried), *graph.entities()]
        mentions += _results(text, step.action, place, names)
        if _CARRYING.search(step.inventory) or _CARRYING.search(text):
            held = {mention.triple.subject for mention in carried}
            for fact in graph.incoming(INVENTORY):
                if fact.relation == "is in" and fact.subject not in held:
                    outdated.append(Pattern(*fact))
        known = dict.fromkeys(mention.triple for mention in carried)
        elsewhere = {fact.subject for fact in known}
        kept = [m for m in mentions if m.triple[1] != "is in" or m.triple[0] not in elsewhere]
        unique = {mention.triple: mention for mention in reversed([*kept, *carried])}
        return Extraction(tuple(unique.values())[::-1], tuple(outdated))


def _title(text: str) -> re.Match[str] | None:
    """The title of a room: a line in title case right above a description."""
    for found in _TITLE.finditer(text):
        words = found["name"].split()
        named = all(map(_TITLE_WORD.match, words)) and not _DARK.match(found["name"])
        if named and _DESCRIPTION.match(text, found.end()):
            return found
    return None


def _way(action: str, left: str, place: str, span: tuple[int, int]) -> Iterator[Mention]:
    direction = direction_in(action)
    if direction is not None and left and left != place:
        yield Mention(Triple(place, way_relation(direction), left), *span)
        yield Mention(Triple(left, way_relation(OPPOSITE[direction]), place), *span)


def _exits(text: str, start: int, place: str) -> Iterator[Mention]:
    for found in _EXITS.finditer(text, start):
        for way in _WAY.findall(found["ways"]):
            yield Mention(Triple(place, "has exit", way.lower()), *found.span("ways"))


def _listed(text: str, start: int, place: str) -> Iterator[Mention]:
    """Things that are listed as being in the room, or on and in things there."""
    for found in _SEEN.finditer(text, start):
        yield from _things(found["things"], found.start("things"), "is in", place)
    for found in _ON.finditer(text, start):
        relation = "is on" if found["where"] == "On" else "is in"
        holder = clean_name(found["holder"])
        yield from _things(found["things"], found.start("things"), relation, holder)


def _things(text: str, start: int, relation: str, place: str) -> Iterator[Mention]:
    """An enumeration whose brackets tell states and contents."""
    for found in _INSIDE.finditer(text):
        holder = clean_name(found["holder"].rpartition(" and ")[2])
        span = start + found.start("holder"), start + found.end("holder")
        for state in _STATE.findall(found["state"] or ""):
            yield Mention(Triple(holder, "is", state), *span)
        if found["things"]:
            inner = "is on" if found["where"] == "on" else "is in"
            for phrase in split_things(found["things"], start + found.start("things")):
                yield _located(phrase, inner, holder)
    bare = _INSIDE.sub(lambda m: m["holder"] + " " * (len(m.group()) - len(m["holder"])), text)
    for phrase in split_things(bare, start):
        yield _located(phrase, relation, place)


def _located(phrase: Phrase, relation: str, place: str) -> Mention:
    return Mention(Triple(" ".join(phrase.name.split()), relation, place), phrase.start, phrase.end)


def _results(text: str, action: str, place: str, names: Sequence[str]) -> Iterator[Mention]:
    """What a short answer says of what was done."""
    for found in _REVEALED.finditer(text):
        holder = clean_name(found["holder"])
        yield Mention(Triple(holder, "is", "open"), *found.span("holder"))
        if found["things"]:
            yield from _things(found["things"], found.start("things"), "is in", holder)
    for found in _CHANGED.finditer(text):
        state = _RESULT[found["verb"]]
        yield Mention(Triple(clean_name(found["name"]), "is", state), *found.span("name"))
    for found in _SWITCHED.finditer(text):
        yield Mention(Triple(clean_name(found["name"]), "is", found["state"]), *found.span("name"))
    for pattern, answer, goal in ((_GET, _TAKEN, INVENTORY), (_PUT_DOWN, _DROPPED, place)):
        done, said = pattern.fullmatch(action.strip()), answer.search(text)
        if done is not None and said is not None and goal:
            name = _full_name(clean_name(done["name"]), names)
            yield Mention(Triple(name, "is in", goal), *said.span())


def _full_name(name: str, known: Sequence[str]) -> str:
    """The known thing that a short name means, if there is just one."""
    words = set(name.split())
    meant = dict.fromkeys(other for other in known if words <= set(other.split()))
    return next(iter(meant)) if len(meant) == 1 else name


def _carried(text: str) -> Iterator[Mention]:
    """Lines of an inventory."""
    found = _CARRYING.search(text)
    if found is None:
        return
    start = found.start("lines")
    for line in re.finditer(
        r"(?<![ \t])[ \t]+(?P<thing>\S[^\n(]*)(?P<state>\([^\n]*\))?", found["lines"]
    ):
        for phrase in split_things(line["thing"].rstrip(), start + line.start("thing")):
            yield _located(phrase, "is in", INVENTORY)
            for state in _STATE.findall(line["state"] or ""):
                yield Mention(Triple(phrase.name, "is", state), phrase.start, phrase.end)
