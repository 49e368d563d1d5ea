"""Labelled lines, lists, and short answers to an action."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from gym_memory.extract.layout import (
    CARRIED,
    CONTENTS,
    EXITS,
    HERE,
    HOLDER,
    STATE,
    LabelItems,
    LayoutItem,
)
from gym_memory.extract.notes.words import Phrase
from gym_memory.extract.scene import (
    NOTHING,
    STATE_WORD,
    VAGUE,
    Scene,
    is_name,
    place_name,
    read_away,
    read_contents,
    relation,
    things_in,
)
from gym_memory.graph.schema import DIRECTIONS, INVENTORY, SHORT_DIRECTIONS, clean_name

__all__ = ["read_answer", "read_carried", "read_label"]

_MAX_VALUE_CHARS = 100
_SHORT = re.compile(
    r"^(?:(?P<name>[\w' -]{2,40}): (?P<answer>[Tt]aken|[Dd]ropped)"
    r"|Taken|Dropped|Done|Ok(?:ay)?|OK)\b",
    re.MULTILINE,
)
_GET = re.compile(r"(?:take|get|pick up|carry|grab) (?P<name>.+)", re.IGNORECASE)
_PUT_DOWN = re.compile(r"(?:drop|put down|throw) (?P<name>.+)", re.IGNORECASE)
_PUT_INTO = re.compile(
    r"(?:put|place|insert) (?P<name>.+) (?P<where>into|inside|in|onto|on|under) (?P<place>.+)",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"(?:e\.g|examples?|notes?|hints?|tips?|warning|for|to|type|use|format|enter|write|reply|respond|"
    r"choose|taken|dropped|your (?:task|goal) is|i|you|we)\b"
)
"""Labels of advice and of what was just done, which state no fact."""
_VERBS = ("shows", "has", "holds", "contains", "starts", "needs")
_NUMBERED = re.compile(r"\d+ ?x (?=\w)")
_TIMES = re.compile(r"(?: x ?\d+| \(x ?\d+\)| ?: \d+)$")
_ARROW = re.compile(
    r"(?P<way>[\w -]+?)[ \t]*(?:->|=>|→|:|\bto\b|\bleads to\b|\()[ \t]*(?:to )?(?:the )?"
    r"(?P<there>[^()]+)\)?"
)
_BRACKETED_STATE = re.compile(rf"(?<=\w) \({STATE_WORD}\)$")
_AREAS = re.compile(r"exit|area|location|room|place|\bgo\b|travel|move", re.IGNORECASE)
"""Labels below which an exit may go by the name of a place; *cooking directions* is none."""
_WAY_TO = re.compile(r"an? (?:way|path|exit|passage|road) (?:leading )?to (?:the )?(?=\w)")
_SPACE = r"(?:(?<!\s)|(?<=and ))\s+"
"""White space from its first character on, so that a long run is tried once."""
_EXIT_SPLIT = re.compile(
    rf",\s*(?:and )?|{_SPACE}and\s+|(?:{_SPACE})?[|/]\s*|;\s*"
    r"|(?:(?<=\b[nsewud])|(?<=\b[ns][ew])) (?=[nsewud][ew]?\b)",
    re.IGNORECASE,
)
_ITEM_SPLIT = re.compile(
    rf"(?:,\s*(?:and )?|{_SPACE}and\s+)(?![^()]{{0,200}}\))|(?:{_SPACE})?\|\s*|;\s*"
)
_HOLDER = re.compile(
    rf"(?:(?P<where>on|in|inside|under) )?(?:the |your )?(?P<place>.+?)(?:{CONTENTS})?$",
    re.IGNORECASE,
)


def read_answer(draft: Scene, text: str) -> None:
    """Read what *Taken*, *Dropped* and *Done* say of the action, or of a named thing each."""
    for found in _SHORT.finditer(text):
        put = _PUT_INTO.fullmatch(draft.action) if found["answer"] is None else None
        done = (found["answer"] or found.group()).capitalize()
        named = found if found["name"] else (
            put or _GET.fullmatch(draft.action) or _PUT_DOWN.fullmatch(draft.action)
        )  # fmt: skip
        if named is None:
            continue
        name = draft.full_name(clean_name(named["name"]))
        if put is not None:
            place = draft.full_name(clean_name(put["place"]))
            draft.add(name, relation(put["where"]), place, *found.span())
        elif done == "Dropped" or (done != "Taken" and _PUT_DOWN.fullmatch(draft.action)):
            draft.outdate(name, "is in", INVENTORY)
            draft.put(Phrase(name, (), *found.span()))
        else:
            draft.add(name, "is in", INVENTORY, *found.span())


def read_label(draft: Scene, labelled: LabelItems) -> None:
    """Read a label by its kind."""
    kind, label, items = labelled
    if kind == EXITS:
        _read_exits(draft, items, names=_AREAS.search(label.text) is not None)
    elif kind == CARRIED:
        read_carried(draft, items, whole=not label.text.lower().startswith("wear"))
    elif kind == HERE:
        _read_here(draft, items)
    elif kind == HOLDER and (found := _HOLDER.match(label.text)):
        for phrase in _listed(draft, items):
            draft.place(phrase, relation(found["where"]), clean_name(found["place"]))
            draft.describe(phrase)
    elif kind == STATE:
        _read_state(draft, label.text, items[0])


def _read_here(draft: Scene, items: tuple[LayoutItem, ...]) -> None:
    """Read a list of what is here: things, things some steps away, and ways to other places."""
    exits, things = [], []
    for item in items:
        way = _WAY_TO.match(item.text)
        if way is None:
            things.append(item)
        else:
            exits.append(LayoutItem(item.text[way.end() :], item.start + way.end()))
    _read_exits(draft, tuple(exits), names=True)
    for phrase in _listed(draft, tuple(t for t in things if not read_away(draft, *t))):
        draft.put(phrase)


def _read_state(draft: Scene, label: str, item: LayoutItem) -> None:
    """Read ``Label: value``; the latest value holds."""
    name = clean_name(label)
    if VAGUE.search(name) or _ADVICE.match(name) or item.text.endswith((":", "?")):
        return
    head, _, verb = name.rpartition(" ")
    name, relation = (head, verb) if verb in _VERBS else (name, "is")
    value = item.text[:_MAX_VALUE_CHARS].partition(". ")[0].lower().rstrip(".,;!")
    draft.outdate(name, relation, None)
    draft.add(name, relation, value, *item.span)


def _read_exits(draft: Scene, items: tuple[LayoutItem, ...], *, names: bool) -> None:
    """Read a list of exits: directions, perhaps with the place that each leads to.

    With ``names`` an exit may also be a place.
    """
    for part in _parts(items, _EXIT_SPLIT):
        arrow = _ARROW.fullmatch(_BRACKETED_STATE.sub("", part.text.rstrip(" .")))
        word = (arrow["way"] if arrow else part.text).strip(" .").lower().removeprefix("the ")
        there = place_name(arrow["there"]) if arrow else ""
        if there in DIRECTIONS:  # Chapel (north)
            word, there = there, place_name(word)
        way = SHORT_DIRECTIONS.get(word, word.replace("-", ""))
        if NOTHING.match(word) or not (way in DIRECTIONS or (names and is_name(clean_name(word)))):
            continue
        way = way if way in DIRECTIONS else clean_name(word)
        draft.has_exit(way, *part.span)
        draft.see_behind(way, there, *part.span)


def read_carried(draft: Scene, items: tuple[LayoutItem, ...], *, whole: bool) -> None:
    """Read a list of all that is carried: what it leaves out is carried no more."""
    held = set()
    for phrase in _listed(draft, items):
        draft.place(phrase, "is in", INVENTORY)
        draft.describe(phrase)
        held.add(phrase.name)
    if whole:
        draft.keep_only(INVENTORY, held)


def _listed(draft: Scene, items: tuple[LayoutItem, ...]) -> tuple[Phrase, ...]:
    """Return the things of a list; names may stand without an article."""
    parts = tuple(_parts(items, _ITEM_SPLIT))
    return _things(tuple(LayoutItem(read_contents(draft, *part), part.start) for part in parts))


@lru_cache(maxsize=1024)
def _things(parts: tuple[LayoutItem, ...]) -> tuple[Phrase, ...]:
    found = []
    for part in parts:
        counted = _NUMBERED.match(part.text)
        begin = counted.end() if counted else 0
        text, at = _TIMES.sub("", part.text[begin:].rstrip(".,")), part.start + begin
        if not text.lower().startswith("your "):
            found += [
                phrase._replace(start=at + phrase.start, end=at + phrase.end)
                for phrase in things_in(text, bare=True)
            ]
    return tuple(found)


def _parts(items: Sequence[LayoutItem], split: re.Pattern[str]) -> Iterator[LayoutItem]:
    """Yield the parts of a value on one line; the lines of a list are parts themselves."""
    for item in items:
        begin = 0
        for cut in [*(split.finditer(item.text) if len(items) == 1 else ()), None]:
            end = cut.start() if cut else len(item.text)
            text = item.text[begin:end]
            if text.strip():
                yield LayoutItem(text.strip(), item.start + begin + len(text) - len(text.lstrip()))
            begin = cut.end() if cut else end
