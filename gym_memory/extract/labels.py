"""Reading of labels, by their kind: exits, carried things, things here, contents and states."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from gym_memory.extract.known import meant
from gym_memory.extract.label_kinds import (
    CARRIED,
    CONTENTS,
    EXITS,
    GAINED,
    HERE,
    HOLDER,
    LOST,
    STATE,
)
from gym_memory.extract.layout import LabelItems, LayoutItem
from gym_memory.extract.notes.words import CONTAINER, SUPPORTER, Phrase, kind_of_noun
from gym_memory.extract.placing import may_hold, put_in, read_away, read_contents, relation_for
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import (
    LOCATED,
    NOTHING,
    STATE_WORD,
    VAGUE_END,
    has_any,
    is_name,
    place_name,
    things_in,
)
from gym_memory.extract.ways import BARRED
from gym_memory.graph.schema import DIRECTIONS, INVENTORY, SHORT_DIRECTIONS, clean_name

__all__ = ["read_carried", "read_label"]

_MAX_VALUE_CHARS = 100
_NO_FACT = re.compile(
    r".*\b(?:actions?(?: results?)?|commands?|options?|choices?|input|error|success(?:ful)?"
    r"|observation|feedback|response|output|message|outcome|description|narration"
    r"|unlocked|completed|failed|started)$|events?$|.* updated$|"
    r"(?:e\.g|examples?|notes?|hints?|tips?|warning|for|to|type|use|format|enter|write|reply|respond|"
    r"choose|taken|dropped|i|you|we|chapter|act|scene|part|authors?|version|release|copyright|credits)\b"
    r"|(?:(?:your|the|current|main|new) )?(?:tasks?|goals?|objectives?|quests?|mission|aim)\b"
)
"""Labels of advice and of the last action, which state no facts."""
_SPEECH = re.compile(
    r"(?:i|you|we|he|she|they|it|there|your|my|our|let's)(?:'\w+)? \w|['\"“]\w[^'\"”]* \w",
    re.IGNORECASE,
)
"""Beginning of speech or a reminder, which is not a value."""
_STATUS_LABELS = ("status", "stats", "state", "condition")
_STATUS_PAIR = re.compile(
    r"(?:^|, |; )(?P<name>[A-Za-z][\w ]*?):? (?P<value>\d+ of \d+|[\w/%.-]+)(?=\.?$|[,;])"
)
"""One of several values in a line of status."""
_RELATION_VERBS = ("shows", "has", "holds", "contains", "starts", "needs")
_EXPLANATION = re.compile(r"(?<=\w\w)(?::| [-–—]) [^()]*$")
"""Explanation after the name of an item: *sword: sharp*, *Ann - asleep*."""
_CLOSE_STATE = re.compile(rf"(?<=[a-z])\((?={STATE_WORD}\))")
"""Bracket right after a name, before a state: *candle(lit)*."""
_EXPLAINING = (": ", " - ", " – ", " — ")
_CLOSE_REMARK = re.compile(r"(?<=[a-z])\([^()]*\)$")
"""Remark in brackets right after a name: *ghoul(8hp)*."""
_COUNT_BEFORE = re.compile(r"(?:\d+ ?x|[a-zA-Z] -) (?=\w)")
_COUNT_AFTER = re.compile(r"(?: x ?\d+| \(x ?\d+\)| ?: \d+)$")
_ENDS_OF_COUNT = "0123456789)"
_WAY_IN_BRACKETS = re.compile(r"[\[(](?P<way>\w+)[\])] (?=[A-Z])")
"""Key of an exit before the name of the place: *[N] Gallery*."""
_EXIT_TO_PLACE = re.compile(
    r"(?P<way>[\w -]+?)(?:,(?= to\b))?[ \t]*(?:->|=>|→|:| [-–—]+(?= )|\bto\b|\bleads to\b|\()"
    r"[ \t]*\(?(?:to )?(?:the )?(?P<there>[^()]+)\)?"
)
_BRACKETED_STATE = re.compile(
    rf"(?<=\w) \((?:{STATE_WORD}|blocked|barred|sealed|guarded|hidden|dark|unknown|(?:un)?explored"
    r"|visited|unvisited)\)$"
)
_WAY_NOUN = re.compile(
    rf"(?:{STATE_WORD} )?(?:doors?|doorway|gate|stairs?|staircase|stairway|steps|ladder|path"
    r"|trail|ramp|rope|hatch|trapdoor|opening|hole)"
)
_DESCRIBED_WAY = re.compile(rf"(?:[a-z-]+ )?{_WAY_NOUN.pattern}(?:, .*)?")
"""Way with its description, in lower case unlike the name of a place: *small door, locked*."""
_NOT_PLACE = re.compile(
    rf"{STATE_WORD}|true|yes|unknown|un(?:explored|visited)|\W+|{_WAY_NOUN.pattern}"
)
"""Words after an exit that do not name the place behind it: *up (stairs)*."""
_STATE_HOLDING = re.compile(
    rf"(?P<state>{STATE_WORD}) \((?:contain(?:s|ing)|holding|holds):? (?P<items>[^()]+)\)"
)
_STOREYS = {"upstairs": "up", "downstairs": "down"}
_SEVERAL = re.compile(rf"(?!{STATE_WORD}\b)[^()\d]+, [^()\d]+")
"""Value of a label that lists things."""
_BRACKETED_WAYS = re.compile(r"(?:\([^()]+\)[ ,]*){2,}")
_ONE_BRACKET = re.compile(r"\([^()]+\)")
_DIRECTION_LETTERS = re.compile(r"[NSEWUD]{2,6}")
_NAMED_EXITS = re.compile(
    r"exit|path|way|area|location|room|place|connect|lead|\bgo\b|travel|move", re.IGNORECASE
)
"""Labels whose exits may have names of places; *cooking directions* is not one."""
_PARTLY_CARRIED = re.compile(r"wear|wield|worn|using|equip|left|right|you now\b", re.IGNORECASE)
"""Labels of only some of the carried things."""
_IN_PLACE = (" on the ", " in the ", " under the ", " inside the ")
"""Phrases for a fast test: an item that names the place of a thing has one of them."""
_OF_PLACE = re.compile(r" (?:of|from) (?!here\b|this )(?P<place>.+)")
_WAY_TO_PLACE = re.compile(r"an? (?:way|path|exit|passage|road) (?:leading )?to (?:the )?(?=\w)")
_SPACE = r"(?:(?<!\s)|(?<=and ))\s+"
"""White space from its first character on, so a long run is tried once."""
_EXIT_SPLIT = re.compile(
    rf"(?=[,|/;·•\s])(?:(?:,\s*(?:and |or )?|{_SPACE}(?:and|or)\s+)(?![^()]{{0,200}}+\))"
    rf"|(?:{_SPACE})?[|/·•]\s*|;\s*)"
)
"""Boundary between exits; the characters ahead are a fast test."""
_WAY_WORDS = "|".join((*DIRECTIONS, *SHORT_DIRECTIONS))
_ONLY_WAYS = re.compile(rf"(?:\W*\b(?:{_WAY_WORDS})\b){{2,}}\W*", re.IGNORECASE)
_BETWEEN_WAYS = re.compile(r"\W+")
_ITEM_SPLIT = re.compile(
    rf"(?=[,|;·•\s\d])(?:(?:,(?! (?:which|that) )\s*(?:and )?|{_SPACE}and\s+)(?![^()]{{0,200}}+\))"
    rf"|(?:{_SPACE})?[|·•]\s*|;\s*|{_SPACE}\*\s+|(?:^|{_SPACE})\d{{1,2}}\)\s+)"
)
_BETWEEN_DASHES = re.compile(r" - ")
"""Boundary in a list of several items with dashes: *lamp - rope - axe*."""
_ONE_ITEM = re.compile(
    r"An? [a-z-]+(?:, [a-z-]+)+(?:, | )[a-z-]+\.?$|[A-Z][\w' -]{1,40}: ?(?:An?|The) "
)
"""One thing with adjectives or a description: *A small, portable, stove*, *Tom: A cat*."""
_HOLDER = re.compile(
    r"(?:it (?:looks|seems|appears) (?:like|as if|that) )?"
    r"(?:(?P<where>on|in|inside|under) |contents of )?(?:the |your )?(?P<place>.+?)"
    rf"(?:(?: is| are)(?: the following(?: \w+)?)?|{CONTENTS})?$",
    re.IGNORECASE,
)


def read_label(draft: Scene, labelled: LabelItems) -> None:
    """Read a label by its kind."""
    kind, label, items = labelled
    if label.text.lower() == "opened" and draft.handled and draft.aim != label.text.lower():
        draft.add(draft.handled, "is", "open", *label.span)
        _read_contents(draft, f"in the {draft.handled}", items)
        return
    if kind == CARRIED and draft.is_look and clean_name(label.text) == draft.aim:
        kind = HOLDER
    if kind == STATE and (way := label.text.lower().removesuffix(" exit")) in DIRECTIONS:
        _read_way(draft, way, label.start, items[0])
    elif kind == EXITS:
        other = _OF_PLACE.search(label.text)
        place = place_name(other["place"]) if other is not None else ""
        _read_exits(draft, items, names=_NAMED_EXITS.search(label.text) is not None, place=place)
    elif kind == CARRIED:
        read_carried(draft, items, whole=not _PARTLY_CARRIED.search(label.text))
    elif kind == HERE:
        _read_here(draft, items)
    elif kind in (GAINED, LOST):
        for phrase in _listed(draft, items):
            if kind == GAINED:
                draft.carry(phrase)
            else:
                draft.outdate(meant(draft, phrase.name), "is in", INVENTORY)
    elif kind == HOLDER:
        _read_contents(draft, label.text, items)
    elif kind == STATE and _is_holder(label.text) and _SEVERAL.fullmatch(items[0].text):
        on = kind_of_noun(label.text.lower()) == SUPPORTER
        _read_contents(draft, f"{'on' if on else 'in'} the {label.text}", items)
    elif kind == STATE and _are_ways(label.text, items):
        _read_exits(draft, items, names=False)
    elif kind == STATE:
        _read_state(draft, label.text, items[0])


def _is_holder(label: str) -> bool:
    """True if a label names furniture, whose contents are its value: *table: cup, plate*."""
    return kind_of_noun(label.lower()) in (CONTAINER, SUPPORTER)


def _read_contents(draft: Scene, label: str, items: tuple[LayoutItem, ...]) -> None:
    """Read the complete contents of a holder."""
    found = _HOLDER.match(label)
    if found is None:
        return
    name = clean_name(found["place"])
    name = "it" if name in ("inside", "within") else name
    if " consist" in label:  # a collection is not a holder; its things are in what is looked at
        holder = draft.aim
    else:
        holder = draft.topic if name in ("it", "this") else meant(draft, name)
    if not holder:
        return
    listed = _listed(draft, items)
    for phrase in listed:
        draft.place(phrase, relation_for(found["where"]), holder)
        draft.describe(phrase)
    draft.keep_only(holder, [phrase.name for phrase in listed])


def _read_way(draft: Scene, way: str, start: int, value: LayoutItem) -> None:
    """Read ``North: Kitchen``, or ``North: open`` for a door; a wall is not a way."""
    behind = _BRACKETED_STATE.sub("", value.text.rstrip(" ."))
    lower, end = behind.lower(), value.start + len(behind)
    is_door = _NOT_PLACE.fullmatch(lower) is not None
    if (
        NOTHING.match(behind)
        or lower.startswith("you ")
        or behind.isdecimal()
        or not (is_door or is_name(lower))
    ):
        return
    if is_door or not (BARRED.search(lower) or lower == "false"):
        draft.has_exit(way, start, end)
        if not is_door:
            draft.see_behind(way, place_name(behind), value.start, end)


def _read_here(draft: Scene, items: tuple[LayoutItem, ...]) -> None:
    """Read a list of things here, distant things and ways to other places."""
    exits, things = [], []
    for item in items:
        way = _WAY_TO_PLACE.match(item.text)
        if way is None:
            things.append(item)
        else:
            exits.append(LayoutItem(item.text[way.end() :], item.start + way.end()))
    _read_exits(draft, tuple(exits), names=True)
    near, placed = _placed(tuple(t for t in things if not read_away(draft, *t)))
    for text, start, where, place in placed:
        holder = draft.topic if place == "it" else meant(draft, clean_name(place))
        put_in(draft, text, start, where, holder, bare=True)
    for phrase in _listed(draft, near):
        draft.put(phrase)
    draft.is_listed = draft.is_listed or bool(things)


@lru_cache(maxsize=1024)
def _placed(
    items: tuple[LayoutItem, ...],
) -> tuple[tuple[LayoutItem, ...], tuple[tuple[str, int, str, str], ...]]:
    """Return a list without its things in a named place, and these things.

    Such a thing, *a mug on the table*, is its text, its start, the preposition and the place.
    """
    if not any(has_any(text, _IN_PLACE) for text, _ in items):
        return items, ()
    placed = []
    for part in tuple(_parts(items, exits=False)):
        located = LOCATED.fullmatch(part.text) if has_any(part.text, _IN_PLACE) else None
        if located is not None:
            placed.append((located["things"], part.start, located["where"], located["place"]))
            items = tuple(_blanked(item, part) for item in items)
    return items, tuple(placed)


def _blanked(item: LayoutItem, part: LayoutItem) -> LayoutItem:
    """Return an item of a list with a part of it blanked."""
    begin = part.start - item.start
    if not 0 <= begin < len(item.text):
        return item
    end = begin + len(part.text)
    return LayoutItem(f"{item.text[:begin]}{' ' * len(part.text)}{item.text[end:]}", item.start)


def _read_state(draft: Scene, label: str, item: LayoutItem) -> None:
    """Read ``Label: value``, which replaces the value before."""
    name, relation = _state_named(label)
    if name in _STATUS_LABELS and (pairs := list(_STATUS_PAIR.finditer(item.text))):
        for pair in pairs:
            at = item.start + pair.start("value")
            _read_state(draft, pair["name"], LayoutItem(pair["value"], at))
        return
    if not relation or _SPEECH.match(item.text) or item.text.endswith((":", "?")):
        return
    holding = _STATE_HOLDING.fullmatch(item.text) if relation == "is" else None
    if holding is not None:
        thing = draft.thing_called(name)
        draft.add(thing, "is", holding["state"], *item.span)
        items = LayoutItem(holding["items"], item.start + holding.start("items"))
        for phrase in _listed(draft, (items,)):
            draft.place(phrase, "is in", thing)
        return
    value = item.text[:_MAX_VALUE_CHARS].partition(". ")[0].lower().rstrip(".,;!")
    draft.outdate(name, relation, None)
    draft.add(name, relation, value, *item.span)


@lru_cache(maxsize=1024)
def _state_named(label: str) -> tuple[str, str]:
    """Return the subject and the relation of a label; no relation for advice."""
    name = clean_name(label)
    if VAGUE_END.search(name) or _NO_FACT.match(name):
        return name, ""
    head, _, verb = name.rpartition(" ")
    return (head, verb) if verb in _RELATION_VERBS else (name, "is")


def _are_ways(label: str, items: tuple[LayoutItem, ...]) -> bool:
    """True if all values of a label are directions; a single one may be the way a thing faces."""
    if items[0].text[:1].isalnum() and not items[0].text.lower().startswith(DIRECTIONS):
        return False
    ways = [_BRACKETED_STATE.sub("", part.text.rstrip(" .")) for part in _parts(items, exits=True)]
    return (len(ways) > 1 or label.endswith("s")) and all(way.lower() in DIRECTIONS for way in ways)


def _read_exits(
    draft: Scene, items: tuple[LayoutItem, ...], *, names: bool, place: str = ""
) -> None:
    """Read a list of exits, perhaps with the place that each leads to.

    Args:
        draft: Draft of the step.
        items: Items of the list.
        names: True if an exit may be the name of a place.
        place: Place with the exits; empty for this one.
    """
    for part in _parts(items, exits=True):
        way, there = _exit_of(part.text, names)
        if way:
            draft.has_exit(way, *part.span, of=place)
            draft.see_behind(way, there, *part.span, of=place)


@lru_cache(maxsize=4096)
def _exit_of(text: str, names: bool) -> tuple[str, str]:
    """Return the exit that an item names and the place behind it; empty if unknown."""
    text = _BRACKETED_STATE.sub("", text.rstrip(" ."))
    text = _WAY_IN_BRACKETS.sub(r"\g<way>: ", text).strip("[]()\"'")
    arrow = _EXIT_TO_PLACE.fullmatch(text)
    word = (arrow["way"] if arrow else text).strip(" .").lower().removeprefix("the ")
    means, _, last = clean_name(word).rpartition(" ")
    last = SHORT_DIRECTIONS.get(last, last)
    if last in DIRECTIONS and _WAY_NOUN.fullmatch(means):  # a stairway up
        word = last
    first, _, means = clean_name(word).partition(" ")
    if first in DIRECTIONS and _WAY_NOUN.fullmatch(means):  # a north door
        word = first
    there = place_name(arrow["there"]) if arrow else ""
    if there in DIRECTIONS:  # Chapel (north)
        word, there = there, place_name(word)
    word = _STOREYS.get(word, word)
    way = SHORT_DIRECTIONS.get(word, word.replace("-", ""))
    described = arrow is not None and _DESCRIBED_WAY.fullmatch(arrow["there"]) is not None
    if (
        described or _NOT_PLACE.fullmatch(there) or ("(" in text and way not in DIRECTIONS)
    ):  # Town Hall (TH)
        there = ""
    if NOTHING.match(word) or not (way in DIRECTIONS or (names and is_name(clean_name(word)))):
        return "", ""
    return way if way in DIRECTIONS else clean_name(word), there


def read_carried(draft: Scene, items: tuple[LayoutItem, ...], *, whole: bool) -> None:
    """Read a list of carried things; a ``whole`` one ends the others."""
    held = set()
    for phrase in _listed(draft, items):
        held.add(draft.carry(phrase))
    if whole:
        draft.keep_only(INVENTORY, held)


def _listed(draft: Scene, items: tuple[LayoutItem, ...]) -> tuple[Phrase, ...]:
    """Return the things of a list, which need no articles."""
    things = _without_contents(items)
    if things is not None:
        return things
    parts = _parts(items, exits=False)
    return _things(tuple(LayoutItem(read_contents(draft, *part), part.start) for part in parts))


@lru_cache(maxsize=1024)
def _without_contents(items: tuple[LayoutItem, ...]) -> tuple[Phrase, ...] | None:
    """Return the things of a list; None if one may have contents."""
    parts = tuple(_parts(items, exits=False))
    return None if any(may_hold(part.text) for part in parts) else _things(parts)


@lru_cache(maxsize=1024)
def _things(parts: tuple[LayoutItem, ...]) -> tuple[Phrase, ...]:
    found = []
    for part in parts:
        part = part._replace(text=_CLOSE_STATE.sub(" (", part.text))
        counted = _COUNT_BEFORE.match(part.text)
        begin = counted.end() if counted else 0
        whole = _unwrapped(part.text[begin:]).rstrip(" .,!").strip("\"'[]*").strip(" .,!")
        text = _COUNT_AFTER.sub("", whole) if whole[-1:] in _ENDS_OF_COUNT else whole
        text, at = (
            _EXPLANATION.sub("", text) if has_any(text, _EXPLAINING) else text,
            part.start + begin,
        )
        found += [
            Phrase(*phrase[:2], at + phrase.start, at + phrase.end)
            for phrase in things_in(text, bare=True)
        ]
    return tuple(found)


def _unwrapped(text: str) -> str:
    """Return a text without brackets around it or a remark in brackets after it."""
    name, _, remark = text.partition(" [")
    if name and remark:
        return name
    if text.endswith(")"):
        text = _CLOSE_REMARK.sub("", text)
    return text[1:-1] if text[:1] == "(" and text.find(")") == len(text) - 1 else text


def _parts(items: Sequence[LayoutItem], *, exits: bool) -> Iterator[LayoutItem]:
    """Yield the parts of a value on one line, or else the lines of a list."""
    for item in items:
        for text, begin in _split(item.text, exits, len(items) == 1):
            yield LayoutItem(text, item.start + begin)


@lru_cache(maxsize=4096)
def _split(text: str, exits: bool, alone: bool) -> tuple[tuple[str, int], ...]:
    """Return the parts of a value with their starts; a list is divided already."""
    split = _BETWEEN_DASHES if text.count(" - ") > 1 and ", " not in text else _ITEM_SPLIT
    if exits and _DIRECTION_LETTERS.fullmatch(text) and text.lower() not in SHORT_DIRECTIONS:
        return tuple((letter, at) for at, letter in enumerate(text))
    if exits and _BRACKETED_WAYS.fullmatch(text):
        return tuple((way[0].strip("()"), way.start() + 1) for way in _ONE_BRACKET.finditer(text))
    if exits:
        split = _BETWEEN_WAYS if alone and _ONLY_WAYS.fullmatch(text) else _EXIT_SPLIT
    begin, parts = 0, []
    alone = alone and not (split is _ITEM_SPLIT and _ONE_ITEM.match(text))
    for cut in [*(split.finditer(text) if alone else ()), None]:
        end = cut.start() if cut else len(text)
        part = text[begin:end]
        if part.strip():
            parts.append((part.strip(), begin + len(part) - len(part.lstrip())))
        begin = cut.end() if cut else end
    return tuple(parts)
