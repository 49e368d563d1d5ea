"""Rules for interactive fiction as Inform and Infocom write it.

A room begins with its title on a line of its own; things are listed (*You can see a workbench (on
which are a lantern and a coil of rope) here*); the inventory follows *You are carrying*; answers
are short (*Taken.*). Of free sentences only exits that a direction word names are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gym_memory.core.records import Step, Task
from gym_memory.extract import EXTRACTORS
from gym_memory.extract.base import Extraction
from gym_memory.extract.draft import NOWHERE, Draft
from gym_memory.extract.notes.words import (
    DIRECTION_LIST,
    NAME,
    clean_name,
    direction_in,
    split_things,
)
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, OPPOSITE

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
    """Extract the facts of one step."""

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """See :class:`~gym_memory.extract.base.Extractor`."""
        text = step.text[:_MAX_TEXT_CHARS]
        draft, carried = Draft(graph, latest=True), Draft(graph, latest=True)
        title = _title(text)
        if title is not None:
            draft.enter(clean_name(title["name"]), title.span("name"), direction_in(step.action))
        if draft.room:
            start = title.end() if title is not None else 0
            _read_lists(draft, text, start)
            if title is not None:
                _read_exits(draft, text, start)
        _read_carried(carried, text, evidence=True)
        _read_carried(carried, step.inventory, evidence=False)
        held = dict.fromkeys(triple.subject for triple in carried.mentions)
        _read_results(draft, text, step.action, [*held, *graph.entities()])
        if _CARRYING.search(step.inventory) or _CARRYING.search(text):
            draft.keep_only(INVENTORY, held)
        for triple in [t for t in draft.mentions if t.relation == "is in" and t.subject in held]:
            del draft.mentions[triple]
        for triple, begin, end in carried.mentions.values():
            draft.add(*triple, begin, end)
        return draft.extraction()


def _title(text: str) -> re.Match[str] | None:
    """Return the title of a room: a line in title case right above a description."""
    for found in _TITLE.finditer(text):
        words = found["name"].split()
        named = all(map(_TITLE_WORD.match, words)) and not _DARK.match(found["name"])
        if named and _DESCRIPTION.match(text, found.end()):
            return found
    return None


def _read_exits(draft: Draft, text: str, start: int) -> None:
    for found in _EXITS.finditer(text, start):
        for way in _WAY.findall(found["ways"]):
            draft.add(draft.room, "has exit", way.lower(), *found.span("ways"))


def _read_lists(draft: Draft, text: str, start: int) -> None:
    """Read things that are in the room, or on and in things there."""
    for found in _SEEN.finditer(text, start):
        _read_things(draft, found["things"], found.start("things"), "is in", draft.room)
    for found in _ON.finditer(text, start):
        relation = "is on" if found["where"] == "On" else "is in"
        holder = clean_name(found["holder"])
        _read_things(draft, found["things"], found.start("things"), relation, holder)


def _read_things(draft: Draft, text: str, start: int, relation: str, place: str) -> None:
    """Read an enumeration whose brackets give states and contents."""
    for found in _INSIDE.finditer(text):
        holder = clean_name(found["holder"].rpartition(" and ")[2])
        for state in _STATE.findall(found["state"] or ""):
            draft.add(
                holder, "is", state, start + found.start("holder"), start + found.end("holder")
            )
        if found["things"]:
            inner = "is on" if found["where"] == "on" else "is in"
            for phrase in split_things(found["things"], start + found.start("things")):
                draft.place(phrase, inner, holder)
    bare = _INSIDE.sub(lambda m: m["holder"] + " " * (len(m.group()) - len(m["holder"])), text)
    for phrase in split_things(bare, start):
        draft.place(phrase, relation, place)


def _read_results(draft: Draft, text: str, action: str, names: Iterable[str]) -> None:
    """Read what a short answer says of the action."""
    for found in _REVEALED.finditer(text):
        holder = clean_name(found["holder"])
        draft.add(holder, "is", "open", *found.span("holder"))
        if found["things"]:
            _read_things(draft, found["things"], found.start("things"), "is in", holder)
    for found in _CHANGED.finditer(text):
        state = _RESULT[found["verb"]]
        draft.add(clean_name(found["name"]), "is", state, *found.span("name"))
    for found in _SWITCHED.finditer(text):
        draft.add(clean_name(found["name"]), "is", found["state"], *found.span("name"))
    for pattern, answer, goal in ((_GET, _TAKEN, INVENTORY), (_PUT_DOWN, _DROPPED, draft.room)):
        done, said = pattern.fullmatch(action.strip()), answer.search(text)
        if done is not None and said is not None and goal:
            name = _full_name(clean_name(done["name"]), names)
            draft.add(name, "is in", goal, *said.span())


def _full_name(name: str, known: Iterable[str]) -> str:
    """Return the known thing that a short name means, if there is just one."""
    words = set(name.split())
    meant = dict.fromkeys(other for other in known if words <= set(other.split()))
    return next(iter(meant)) if len(meant) == 1 else name


def _read_carried(draft: Draft, text: str, *, evidence: bool) -> None:
    """Read the lines of an inventory; with ``evidence`` spans point into the step's text."""
    found = _CARRYING.search(text)
    if found is None:
        return
    start = found.start("lines")
    for line in re.finditer(
        r"(?<![ \t])[ \t]+(?P<thing>\S[^\n(]*)(?P<state>\([^\n]*\))?", found["lines"]
    ):
        for phrase in split_things(line["thing"].rstrip(), start + line.start("thing")):
            span = (phrase.start, phrase.end) if evidence else NOWHERE
            draft.add(phrase.name, "is in", INVENTORY, *span)
            for state in _STATE.findall(line["state"] or ""):
                draft.add(phrase.name, "is", state, *span)
