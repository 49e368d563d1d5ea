"""Rules for English text of any game: the default of all dialects.

They read the forms that text games share: places, things with their states and contents, ways out,
the inventory, what was just done, and lines ``Label: value`` of a status display. Sentences of
another form, and those that deny, suppose or ask, give no facts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gym_memory.core.records import Step, Task
from gym_memory.extract import EXTRACTORS
from gym_memory.extract.base import Extraction
from gym_memory.extract.draft import NOWHERE, Draft
from gym_memory.extract.notes import RULES, Reader, read_writing
from gym_memory.extract.notes.words import (
    DIRECTION_LIST,
    Phrase,
    clean_name,
    direction_in,
    split_things,
)
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import DIRECTIONS, INVENTORY, door_relation, way_relation

__all__ = ["PlainRules"]

_MAX_TEXT_CHARS = 100_000
_MAX_NAME_WORDS = 6
_MAX_SENTENCE_CHARS = 1000
_RELATIVE = "is seen"
"""Relation to where something is as seen from the agent, which holds until the agent acts."""

_NAME = r"[^\s.,;:!?()\[\]\"][^.,;:!?()\[\]\"\n]{0,59}?"
_ARTICLE = r"(?:[Aa]n?|[Tt]he|[Ss]ome|[Yy]our|[Oo]ne|[Tt]wo|[Tt]hree|\d[\w.]*)\b"
_THINGS = r"[^.!?:;\n]+?"
_STATE = (
    r"(?:open|opened|closed|shut|locked|unlocked|empty|lit|unlit|broken|on|off|full|hot|cold|"
    r"cool|raw|cooked|fried|roasted|grilled|burned|burnt|chopped|sliced|diced|clean|dirty|wet|dry)"
)
_SAME = {"opened": "open", "shut": "closed", "burnt": "burned"}
_END = r"(?=\s*(?:[.,;!?]|$))"
_HERE = (
    r"(?:here|nearby|on the (?:floor|ground)|in (?:the|this) (?:room|area)|"
    r"in (?:the|a|one) corner(?: of the room)?|lying (?:here|on the (?:floor|ground)))"
)

_SENTENCE = re.compile(r"(?:[^.!?\n]|\.(?=\w))+[.!?]*[\"']?")
"""A dot inside a number or a name ends nothing."""
_ROOM = re.compile(
    r"(?:You are|You're|You find yourself|You stand)(?: now| currently| standing| back)*"
    rf" (?:in|inside|at) (?P<name>{_NAME})(?: (?:with|where|which|that|and)\b[^.]*)?{_END}"
)
_CALLED = re.compile(
    rf"This (?:\w+ )?(?:room|location|place|area) is (?:called )?(?P<name>{_NAME}){_END}"
)
_ENTERED = re.compile(rf"You (?:enter|arrive (?:at|in)|walk into|go into) (?P<name>{_NAME}){_END}")
_LOOKING = re.compile(r"(?:look (?:at|in|into|through)|examine|inspect|read|x) ", re.IGNORECASE)
_NO_ROOM = re.compile(
    r"(?:the )?(?:middle|centre|center|front|process|midst)\b|"
    r"(?:trouble|danger|luck|charge|control|love|pain|line|position|need|\d)"
)
_SEEN = re.compile(
    rf"(?:(?:[Ii]n|[Oo]n) (?:one|another|the other) (?:part|side|corner) of the room,? )?"
    rf"(?:[Yy]ou (?:can )?(?:also )?(?:see|notice|spot)|[Tt]here(?: is| are|'s)(?: also)?) "
    rf"(?P<things>{_THINGS})[.!]*$"
)
_AWAY = re.compile(
    r"(?P<thing>.+?),? (?P<where>(?:\d+|an?|one|two) steps? (?:to (?:the|your) )?\w+"
    r"(?:(?: and|,) (?:\d+|an?|one|two) steps? (?:to (?:the|your) )?\w+)*)"
)
_TO_THE = re.compile(
    rf"(?:[Tt]hrough (?P<door>{_NAME}),? )?[Tt]o the (?P<way>{DIRECTION_LIST}),? "
    rf"(?:you (?:can )?see|is|there is|lies) (?P<what>{_NAME})[.!]*$",
    re.IGNORECASE,
)
_EXIT = re.compile(
    r"(?:[Tt]here is|[Yy]ou see) (?:an? |the )?(?:[\w-]+ )?(?:exit|way|path|passage|opening)"
    rf"(?: out)?(?: leading| leads| going)? (?:to the )?(?P<ways>{DIRECTION_LIST})[.!]*$",
    re.IGNORECASE,
)
_DOORWAY = re.compile(
    rf"(?:[Tt]here is|[Yy]ou see) (?P<door>{_ARTICLE} {_NAME}),? "
    rf"(?:(?:that |which )?lead(?:s|ing) )?(?:to the )?(?P<way>{DIRECTION_LIST})[.!]*$",
    re.IGNORECASE,
)
_EXITS = re.compile(
    r"(?:(?:(?:[Oo]bvious|[Vv]isible|[Pp]ossible) )?[Ee]xits(?: are)?:?|[Yy]ou can go) "
    rf"(?:to the )?(?P<ways>{DIRECTION_LIST})[.!]*$",
    re.IGNORECASE,
)
_WHERE = re.compile(
    rf"(?P<items>{_ARTICLE} {_THINGS}) (?:is|are|lies|lie|stands|stand|sits|sit)(?: now| lying)? "
    rf"(?P<where>in|inside|on|under) (?P<place>{_NAME})[.!]*$"
)
_HOLDS = re.compile(
    rf"(?P<where>[Ii]n|[Ii]nside|[Oo]n|[Uu]nder) (?P<place>{_ARTICLE} {_NAME}),? "
    rf"(?:is|are|there (?:is|are)|you (?:can )?(?:also )?see|lies|lie) (?P<items>{_THINGS})[.!]*$"
)
_CONTAINS = re.compile(
    rf"(?P<place>{_ARTICLE} {_NAME}) (?:contains?|holds?) (?P<items>{_THINGS})[.!]*$"
)
_IS = re.compile(
    rf"(?P<thing>{_ARTICLE} {_NAME}|[Ii]t|[Tt]his) (?:is|are)(?: now| currently| already)?"
    rf"(?: turned| switched)? (?P<state>{_STATE}|-?\d(?:[\w.]*\w)?)(?: inside)?[.!]*$"
)
_EMPTY = re.compile(r"(?P<thing>[Ii]t)(?:'s| is) (?P<state>empty)(?: inside)?[.!]*$")
_WITH_CONTENTS = re.compile(
    rf"(?P<thing>{_ARTICLE} {_NAME}),? (?:that|which) (?:has|have|contains?|holds?) "
    r"(?P<items>.+?)(?: (?P<where>on|in|inside|under) (?:it|them))?$"
)
_WITH_STATE = re.compile(rf"(?P<thing>.+?),? (?:that|which) (?:is|are) (?P<state>{_STATE})$")
_IN_BRACKETS = re.compile(rf"(?P<thing>[^()]+?) \((?:that is |which is )?(?P<state>{_STATE})\)$")
_STATE_FIRST = re.compile(
    rf"(?P<article>{_ARTICLE} )?(?P<state>open|opened|closed|shut|locked|unlocked|empty) (?=\w)"
)
_LOCATED = re.compile(
    rf"(?P<things>.+?) (?P<where>in|inside|on|under) (?P<place>(?:the|your|an?) {_NAME})$"
)
_AT_HERE = re.compile(rf",? {_HERE}$")
_TAKEN = re.compile(
    rf"You (?:take|pick up|picked up|get|grab|took) (?P<thing>{_ARTICLE} {_NAME})"
    rf"(?: from (?P<place>{_NAME}))?[.!]*$"
)
_PUT = re.compile(
    rf"You (?:put|place|move|insert|set) (?P<items>{_ARTICLE} {_NAME}) "
    rf"(?P<where>into|inside|in|onto|on|under|to) (?P<place>{_ARTICLE} {_NAME})[.!]*$"
)
_DROPPED = re.compile(
    rf"You (?:drop|put down) (?P<thing>{_ARTICLE} {_NAME})(?: on the (?:floor|ground))?[.!]*$"
)
_CHANGED = re.compile(
    rf"You (?P<verb>open|close|unlock|lock) (?P<thing>{_ARTICLE} {_NAME})"
    rf"(?: (?:to|with) {_NAME})?(?:, revealing (?P<items>[^.!?]+))?[.!]*$"
)
_RESULT = {"open": "open", "close": "closed", "unlock": "unlocked", "lock": "locked"}
_USED_UP = re.compile(rf"You (?:eat|drink|ate|drank) (?P<thing>{_ARTICLE} {_NAME})[.!]*$")
_CARRYING = re.compile(
    r"(?:You(?:'re| are) (?:now |currently )?(?:carrying|holding)|You (?:carry|hold)):? "
    rf"(?P<items>{_THINGS})[.!]*$"
)
_HAVING = re.compile(rf"You (?:have|carry|hold):? (?P<items>{_THINGS})[.!]*$")
"""Only in an inventory text: elsewhere one has twenty moves, a choice and a goal."""
_LISTED = re.compile(
    r"^(?:(?:You(?:'re| are) (?:carrying|holding)|You have|(?:Your )?[Ii]nventory"
    r"|In your inventory, you see)(?: \([^)\n]*\))?):[ \t]*\n"
    r"(?P<lines>(?:[ \t]+\S[^\n]*\n?|[-*] \S[^\n]*\n?)*)",
    re.MULTILINE,
)
_LINE = re.compile(r"^[ \t]*(?:[-*] )?(?P<item>\S[^\n]*?)[.,]?[ \t]*$", re.MULTILINE)
_PAIR = re.compile(
    r"^[ \t]*(?P<label>[A-Z][\w'-]*(?: [\w'-]+){0,3}): +(?P<value>\S[^\n]{0,99}?)[ \t]*$",
    re.MULTILINE,
)
_MORE = re.compile(r"(?P<label>[^:,]+): +(?P<value>.+?)(?=, [A-Z][\w ]{0,20}: |[ \t]*$)(?:, )?")
"""Each of several pairs on a line (``Wins: 2, Losses: 3``)."""
_ADVICE = re.compile(
    r"(?:e\.g|examples?|notes?|hints?|tips?|warning|for|to|type|use|format|enter|write|reply|respond|"
    r"choose|your (?:task|goal) is)\b"
)
"""Labels of advice to the player, which states no fact."""
_VERBS = ("shows", "has", "holds", "contains", "starts", "needs")
_ONE = re.compile(rf"^(?:{_ARTICLE}) ", re.IGNORECASE)
_NOTHING = re.compile(r"(?:nothing|no one|nobody|no|not|none|empty)\b", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:that|which|who|it|they|them|this|these|those|he|she|him|her|i|we|you|way|ways|lot|number)$"
)
_DENIED = re.compile(r"\b(?:not|never|no longer|cannot|can't|isn't|aren't|if|would|could|should)\b")
_DOOR = re.compile(r"\b(?:door|gate|hatch|doorway)$")
_SPLIT = re.compile(rf"(?:,? and |, )(?={_ARTICLE})")


@EXTRACTORS.register("plain")
class PlainRules:
    """Extract the facts of one step of any game.

    Args:
        reader: Reads notes and recipes.

    >>> text = "You are in the attic. You see a chest that is closed. To the East you see the hall."
    >>> step = Step(0, text)
    >>> for mention in PlainRules().extract(step, TemporalGraph(), Task("", "")).mentions:
    ...     print(mention.triple)
    you, is in, attic
    chest, is in, attic
    chest, is, closed
    attic, has exit, east
    hall, is seen east of, attic
    """

    general = True
    """True: any English text may be read, so finding facts does not show which game wrote it."""

    def __init__(self, reader: Reader = RULES):
        self._reader = reader

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """See :class:`~gym_memory.extract.base.Extractor`."""
        text = step.text[:_MAX_TEXT_CHARS]
        draft = _Text(step.action, graph, self._reader)
        listed = _LISTED.search(text)
        start, end = listed.span() if listed is not None else (0, 0)
        for sentence, offset in _sentences(text):
            if not start <= offset < end:
                _read(draft, sentence, offset)
        _read_pairs(draft, text, start, end)
        looked = _LOOKING.match(step.action)
        if looked is not None:
            _read_writing(draft, clean_name(step.action[looked.end() :]), text)
        _read_carried(draft, text, evidence=True)
        _read_carried(draft, step.inventory, evidence=False)
        return draft.extraction()


class _Text(Draft):
    """The extraction of a text; nothing in it relates to itself."""

    def __init__(self, action: str, graph: TemporalGraph, reader: Reader):
        super().__init__(graph)
        self.action, self.reader = action, reader
        self.topic = ""
        """What *it* means."""
        if action:
            self.outdate(None, _RELATIVE, None)

    def add(self, subject: str, relation: str, obj: str, start: int = -1, end: int = -1) -> None:
        """See :class:`Draft`."""
        if subject != obj:
            super().add(subject, relation, obj, start, end)


# Sentences


def _read(draft: _Text, sentence: str, offset: int) -> None:
    """Read a sentence by the first form that fits."""
    draft.offset = offset
    if sentence.endswith("?") or _DENIED.search(sentence.lower()):
        return
    for pattern, read in _FORMS:
        found = pattern.match(sentence)
        if found is not None and read(draft, found) is not False:
            return


def _enter(draft: _Text, found: re.Match[str]) -> bool:
    """Put the agent into a place."""
    room, span = clean_name(found["name"]), found.span("name")
    if _NO_ROOM.match(found["name"]) or not _is_name(room):
        return False
    if _LOOKING.match(draft.action):  # at a place from afar
        return True
    direction = direction_in(draft.action)
    draft.enter(room, span, direction)
    if direction is not None and draft.left and draft.left != room:
        draft.outdate(room, _seen_relation(direction), draft.left)
    return True


def _see(draft: _Text, found: re.Match[str]) -> bool:
    """Read things that are here, in a named place, or so many steps away."""
    text, start = found["things"], found.start("things")
    away = _AWAY.fullmatch(text)
    if away is not None:
        for phrase in _things(draft, away["thing"], start):
            draft.add(phrase.name, _RELATIVE, away["where"].lower(), start, start + len(text))
            draft.describe(phrase)
        return True
    whole = _WITH_CONTENTS.fullmatch(text)
    if whole is not None:
        _with_contents(draft, whole, start)
        return True
    bare = _AT_HERE.sub("", text)
    place = _LOCATED.fullmatch(bare) if bare == text else None
    if place is not None and _WITH_STATE.fullmatch(text) is None:
        _put_in(draft, place["things"], start, place["where"], clean_name(place["place"]))
        return True
    _here(draft, bare, start)
    return True


def _here(draft: _Text, text: str, start: int) -> None:
    """Put things into the room."""
    for phrase in _things(draft, text, start):
        if draft.room:
            draft.place(phrase, "is in", draft.room)
        draft.describe(phrase)


def _with_contents(draft: _Text, whole: re.Match[str], start: int) -> None:
    """Read ``a counter that has a knife, and a book on it``."""
    for phrase in _things(draft, whole["thing"], start):
        if draft.room:
            draft.place(phrase, "is in", draft.room)
        draft.describe(phrase)
        holder = phrase.name
        if _NOTHING.match(whole["items"]):
            draft.add(holder, "is", "empty", *(phrase.start, phrase.end))
        else:
            _put_in(
                draft, whole["items"], start + whole.start("items"), whole["where"] or "in", holder
            )
        draft.topic = holder


def _put_in(draft: _Text, text: str, start: int, where: str, place: str) -> None:
    """Put things in, on or under something."""
    where = {"inside": "in", "into": "in", "onto": "on", "to": "in"}.get(where.lower(), where)
    if not _is_name(place):
        return
    if re.fullmatch(r"(?:floor|ground|room|corner|area)", place):
        _here(draft, text, start)
        return
    for phrase in _things(draft, text, start):
        draft.place(phrase, f"is {where.lower()}", place)
        draft.describe(phrase)
        draft.outdate(place, "is", "empty")


def _hold(draft: _Text, found: re.Match[str]) -> bool:
    """Read ``On the table is a lamp``, ``The box contains a coin``."""
    where = found["where"].lower() if "where" in found.groupdict() else "in"
    if _NOTHING.match(found["items"]):
        return False
    _put_in(draft, found["items"], found.start("items"), where, clean_name(found["place"]))
    return True


def _lie(draft: _Text, found: re.Match[str]) -> bool:
    """Read ``The lamp is on the table``, ``You put the lamp on the table``."""
    _put_in(draft, found["items"], found.start("items"), found["where"], clean_name(found["place"]))
    return True


def _way(draft: _Text, found: re.Match[str]) -> bool:
    """Read what is seen in a direction: a place, or a door."""
    direction = found["way"].lower()
    if not draft.room or direction not in DIRECTIONS:
        return False
    draft.add(draft.room, "has exit", direction, *found.span("way"))
    for group in ("door", "what") if "what" in found.groupdict() else ("door",):
        for phrase in _things(draft, found[group] or "", found.start(group)):
            if group == "door" or _DOOR.search(phrase.name):
                draft.add(draft.room, door_relation(direction), phrase.name, *found.span(group))
                draft.describe(phrase)
            else:
                draft.add(phrase.name, _seen_relation(direction), draft.room, *found.span(group))
    return True


def _exits(draft: _Text, found: re.Match[str]) -> bool:
    for direction in re.findall(
        "|".join(sorted(DIRECTIONS, key=len, reverse=True)), found["ways"].lower()
    ):
        if draft.room:
            draft.add(draft.room, "has exit", direction, *found.span("ways"))
    return True


def _state(draft: _Text, found: re.Match[str]) -> bool:
    """Read ``The fridge is closed``; *it* is the last topic."""
    thing = clean_name(found["thing"])
    name = draft.topic if thing in ("it", "this") else thing
    if _is_name(name):
        state = found["state"].lower()
        if state[-1].isdigit():
            draft.outdate(name, "is", None)
        draft.add(name, "is", _SAME.get(state, state), *found.span("state"))
    return True


def _take(draft: _Text, found: re.Match[str]) -> bool:
    for phrase in _things(draft, found["thing"], found.start("thing")):
        draft.place(phrase, "is in", INVENTORY)
    return True


def _drop(draft: _Text, found: re.Match[str]) -> bool:
    _here(draft, found["thing"], found.start("thing"))
    for phrase in _things(draft, found["thing"], 0):
        draft.outdate(phrase.name, "is in", INVENTORY)
    return True


def _change(draft: _Text, found: re.Match[str]) -> bool:
    for phrase in _things(draft, found["thing"], found.start("thing")):
        span = phrase.start, phrase.end
        draft.add(phrase.name, "is", _RESULT[found["verb"]], *span)
        if found["items"] and not _DOOR.search(phrase.name):
            _put_in(draft, found["items"], found.start("items"), "in", phrase.name)
        draft.topic = phrase.name
    return True


def _use_up(draft: _Text, found: re.Match[str]) -> bool:
    for phrase in _things(draft, found["thing"], found.start("thing")):
        draft.place(phrase, "is", "consumed")
        for relation in ("is in", "is on"):
            draft.outdate(phrase.name, relation, None)
    return True


def _carry(draft: _Text, found: re.Match[str]) -> bool:
    if not _NOTHING.match(found["items"]):
        for phrase in _things(draft, found["items"], found.start("items")):
            draft.place(phrase, "is in", INVENTORY)
    return True


# What is written on things


def _read_writing(draft: _Text, name: str, text: str) -> None:
    draft.offset = 0
    draft.add_reported(read_writing(name, text, draft.kind_of, reader=draft.reader))


# Lists and displays


def _read_carried(draft: _Text, text: str, *, evidence: bool) -> None:
    """Read a list of all that is carried: what it leaves out is carried no more."""
    draft.offset = 0
    found = _LISTED.search(text)
    if found is None:
        if not evidence and text:
            for sentence, _ in _sentences(text):
                carried = _CARRYING.match(sentence) or _HAVING.match(sentence)
                if carried is not None:
                    _carried(draft, carried["items"], -1)
        return
    held = set()
    for line in _LINE.finditer(found["lines"]):
        if not _NOTHING.match(line["item"]) and not line["item"].lower().startswith("your "):
            start = found.start("lines") + line.start("item") if evidence else -1
            held |= _carried(draft, line["item"], start)
    draft.keep_only(INVENTORY, held)


def _carried(draft: _Text, text: str, start: int) -> set[str]:
    names = set()
    for phrase in () if _NOTHING.match(text) else _things(draft, text, max(start, 0), bare=True):
        span = (phrase.start, phrase.end) if start >= 0 else NOWHERE
        draft.add(phrase.name, "is in", INVENTORY, *span)
        for state in phrase.states:
            draft.add(phrase.name, "is", state, *span)
        names.add(phrase.name)
    return names


def _read_pairs(draft: _Text, text: str, listed: int, end: int) -> None:
    """Read lines ``Label: value`` outside a list; the latest value holds."""
    draft.offset = 0
    for found in _PAIR.finditer(text):
        if listed <= found.start("label") < end or found["value"].endswith((":", "?")):
            continue
        start = found.start("label")
        for pair in _MORE.finditer(found.group().lstrip()):
            label = clean_name(pair["label"])
            if not label or _VAGUE.search(label) or _ADVICE.match(label):
                continue
            head, _, verb = label.rpartition(" ")
            label, relation = (head, verb) if verb in _VERBS and head else (label, "is")
            value = pair["value"].partition(". ")[0].lower().rstrip(".,;!")
            span = start + pair.start("value"), start + pair.end("value")
            draft.outdate(label, relation, None)
            draft.add(label, relation, value, *span)


# Things


def _things(draft: _Text, text: str, start: int, *, bare: bool = False) -> Iterator[Phrase]:
    """Yield the things of an enumeration; those without an article only if ``bare``."""
    begin = 0
    for cut in [*_SPLIT.finditer(text), None]:
        part = text[begin : cut.start() if cut else len(text)]
        phrase = _one_thing(part, start + begin, bare)
        if phrase is not None:
            draft.topic = phrase.name
            yield phrase
        begin = cut.end() if cut else len(text)


def _seen_relation(direction: str) -> str:
    """Return the relation to a place in view; it is no way yet, for its exit is unexplored."""
    return f"is seen {way_relation(direction).removeprefix('is ')}"


def _sentences(text: str) -> Iterator[tuple[str, int]]:
    """Yield sentences with the position of their first character; overlong ones are left out."""
    for found in _SENTENCE.finditer(text):
        sentence = found.group().strip()
        if sentence and len(sentence) <= _MAX_SENTENCE_CHARS:
            yield sentence, found.start() + found.group().index(sentence[0])


def _one_thing(text: str, start: int, bare: bool) -> Phrase | None:
    """Read one thing, its states before the name, in a clause or in brackets."""
    states: list[str] = []
    end = len(text)
    for pattern in (_WITH_STATE, _IN_BRACKETS):
        found = pattern.fullmatch(text[:end])
        if found is not None:
            states.append(found["state"].lower())
            end = found.end("thing")
    article = _ONE.match(text)
    if (article is None and not bare) or _NOTHING.match(text):
        return None
    begin = 0
    first = _STATE_FIRST.match(text[:end])
    if first is not None:
        states.append(first["state"].lower())
        begin = first.end()
    phrases = split_things(text[begin:end], start + begin)
    if len(phrases) != 1 or not _is_name(phrases[0].name):
        return None
    named = phrases[0]
    own = tuple(_SAME.get(state, state) for state in (*named.states, *states))
    return named._replace(name=clean_name(named.name), states=own)


def _is_name(name: str) -> bool:
    """True if words can be the name of a thing or a place."""
    words = name.split()
    return 0 < len(words) <= _MAX_NAME_WORDS and not _VAGUE.search(name)


_Read = Callable[[_Text, "re.Match[str]"], bool]
_FORMS: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (_ROOM, _enter),
    (_CALLED, _enter),
    (_ENTERED, _enter),
    (_TO_THE, _way),
    (_EXIT, _exits),
    (_EXITS, _exits),
    (_DOORWAY, _way),
    (_SEEN, _see),
    (_HOLDS, _hold),
    (_CARRYING, _carry),
    (_TAKEN, _take),
    (_PUT, _lie),
    (_DROPPED, _drop),
    (_CHANGED, _change),
    (_USED_UP, _use_up),
    (_EMPTY, _state),
    (_IS, _state),
    (_CONTAINS, _hold),
    (_WHERE, _lie),
)
"""Forms of sentences, special ones before general ones."""
