"""Rules for text of which nothing is known but that it is English: the default of all dialects.

What is read are the forms that text games share, whoever made them: where you are, what you see and
in what state, what is in and on it, ways out, what you carry, what you have just done, and lines
``Label: value`` of a status display. A sentence of another form says nothing here, nor does one
that denies, supposes or asks; the episodic memory still has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import EXTRACTORS
from gym_memory.extract.base import Extraction, Mention, Pattern
from gym_memory.extract.notes import RULES, Reader, read_writing
from gym_memory.extract.notes.words import (
    DIRECTION_LIST,
    Phrase,
    clean_name,
    direction_in,
    kind_in,
    split_things,
)
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import (
    DIRECTIONS,
    INVENTORY,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    door_relation,
    way_relation,
)

__all__ = ["PlainRules"]

_MAX_TEXT_CHARS = 100_000
_MAX_NAME_WORDS = 6
_MAX_SENTENCE_CHARS = 1000
_RELATIVE = "is seen"
"""Where something is as seen from the agent: it holds until the agent acts again."""

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
"""Of several pairs on a line (``Wins: 2, Losses: 3``) each one."""
_TELLING = re.compile(
    r"(?:e\.g|examples?|notes?|hints?|tips?|warning|for|to|type|use|format|enter|write|reply|respond|"
    r"choose|your (?:task|goal) is)\b"
)
"""Labels of what is told to the player about playing, not of what is so."""
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
    """The extraction role for text of no known dialect, by rules.

    A memory of a dialect without rules of its own stays useful with it, and an LLM extractor has
    something to fall back on.

    Args:
        reader: Who reads notes and recipes.

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
    """Whether any English text may be read, so that finding facts tells nothing of its author."""

    def __init__(self, reader: Reader = RULES):
        self._reader = reader

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Facts of one step; see :class:`~gym_memory.extract.base.Extractor`."""
        text = step.text[:_MAX_TEXT_CHARS]
        draft = _Draft(step.action, graph, self._reader)
        listed = _LISTED.search(text)
        start, end = listed.span() if listed is not None else (0, 0)
        for sentence, offset in _sentences(text):
            if not start <= offset < end:
                draft.read(sentence, offset)
        draft.read_pairs(text, start, end)
        looked = _LOOKING.match(step.action)
        if looked is not None:
            draft.read_writing(clean_name(step.action[looked.end() :]), text)
        draft.read_carried(text, evidence=True)
        draft.read_carried(step.inventory, evidence=False)
        return draft.extraction()


class _Draft:
    """The extraction of one step while it grows; knows the graph before the step."""

    def __init__(self, action: str, graph: TemporalGraph, reader: Reader):
        self._action, self._graph, self._reader = action, graph, reader
        self._mentions: dict[Triple, Mention] = {}
        self._outdated: dict[Pattern, None] = {}
        left = graph.value(PLAYER, "location")
        self._left = left.object if left is not None else ""
        self._room = self._left
        self._topic = ""
        self._offset = 0
        if action:
            self._outdated[Pattern(None, _RELATIVE, None)] = None

    def extraction(self) -> Extraction:
        return Extraction(tuple(self._mentions.values()), tuple(self._outdated))

    def add(self, subject: str, relation: str, obj: str, span: tuple[int, int]) -> None:
        """Add a fact whose evidence is a span of the sentence; (-1, -1) for none."""
        if span[0] >= 0:
            span = span[0] + self._offset, span[1] + self._offset
        triple = Triple(subject, relation, obj)
        if subject and obj and subject != obj:
            self._mentions.setdefault(triple, Mention(triple, *span))

    # ------------------------------------------------------------ sentences

    def read(self, sentence: str, offset: int) -> None:
        """What the first form that fits makes of a sentence."""
        self._offset = offset
        if sentence.endswith("?") or _DENIED.search(sentence.lower()):
            return
        for pattern, read in _FORMS:
            found = pattern.match(sentence)
            if found is not None and read(self, found) is not False:
                return

    def enter(self, found: re.Match[str]) -> bool:
        """Where the agent is now, and the way it has gone."""
        room, span = clean_name(found["name"]), found.span("name")
        if _NO_ROOM.match(found["name"]) or not _is_name(room):
            return False
        if _LOOKING.match(self._action):  # at a place from afar
            return True
        self.add(PLAYER, "is in", room, span)
        direction = direction_in(self._action)
        if direction is not None and self._left and self._left != room:
            self.add(room, way_relation(direction), self._left, span)
            self.add(self._left, way_relation(OPPOSITE[direction]), room, span)
            self._outdated[Pattern(room, _seen_relation(direction), self._left)] = None
        self._room = room
        return True

    def see(self, found: re.Match[str]) -> bool:
        """Things that are here, or somewhere that is said, or so many steps away."""
        text, start = found["things"], found.start("things")
        away = _AWAY.fullmatch(text)
        if away is not None:
            for phrase in self.things(away["thing"], start):
                self.add(phrase.name, _RELATIVE, away["where"].lower(), (start, start + len(text)))
                self.states(phrase)
            return True
        whole = _WITH_CONTENTS.fullmatch(text)
        if whole is not None:
            self.with_contents(whole, start)
            return True
        bare = _AT_HERE.sub("", text)
        place = _LOCATED.fullmatch(bare) if bare == text else None
        if place is not None and _WITH_STATE.fullmatch(text) is None:
            self.put_in(place["things"], start, place["where"], clean_name(place["place"]))
            return True
        self.here(bare, start)
        return True

    def here(self, text: str, start: int) -> None:
        """Things in the room."""
        for phrase in self.things(text, start):
            if self._room:
                self.add(phrase.name, "is in", self._room, (phrase.start, phrase.end))
            self.states(phrase)

    def states(self, phrase: Phrase) -> None:
        """What is said of a thing beside its name."""
        for state in phrase.states:
            self.add(phrase.name, "is", state, (phrase.start, phrase.end))

    def with_contents(self, whole: re.Match[str], start: int) -> None:
        """``a counter that has a knife, and a book on it``."""
        for phrase in self.things(whole["thing"], start):
            if self._room:
                self.add(phrase.name, "is in", self._room, (phrase.start, phrase.end))
            self.states(phrase)
            holder = phrase.name
            if _NOTHING.match(whole["items"]):
                self.add(holder, "is", "empty", (phrase.start, phrase.end))
            else:
                self.put_in(
                    whole["items"], start + whole.start("items"), whole["where"] or "in", holder
                )
            self._topic = holder

    def put_in(self, text: str, start: int, where: str, place: str) -> None:
        """Things in, on or under something."""
        where = {"inside": "in", "into": "in", "onto": "on", "to": "in"}.get(where.lower(), where)
        if not _is_name(place):
            return
        if re.fullmatch(r"(?:floor|ground|room|corner|area)", place):
            self.here(text, start)
            return
        for phrase in self.things(text, start):
            self.add(phrase.name, f"is {where.lower()}", place, (phrase.start, phrase.end))
            self.states(phrase)
            self._outdated[Pattern(place, "is", "empty")] = None

    def hold(self, found: re.Match[str]) -> bool:
        """``On the table is a lamp``, ``The box contains a coin``."""
        where = found["where"].lower() if "where" in found.groupdict() else "in"
        if _NOTHING.match(found["items"]):
            return False
        self.put_in(found["items"], found.start("items"), where, clean_name(found["place"]))
        return True

    def lie(self, found: re.Match[str]) -> bool:
        """``The lamp is on the table``, ``You put the lamp on the table``."""
        self.put_in(
            found["items"], found.start("items"), found["where"], clean_name(found["place"])
        )
        return True

    def way(self, found: re.Match[str]) -> bool:
        """What is to be seen in a direction: a place, or a door."""
        direction = found["way"].lower()
        if not self._room or direction not in DIRECTIONS:
            return False
        self.add(self._room, "has exit", direction, found.span("way"))
        for group in ("door", "what") if "what" in found.groupdict() else ("door",):
            for phrase in self.things(found[group] or "", found.start(group)):
                if group == "door" or _DOOR.search(phrase.name):
                    self.add(self._room, door_relation(direction), phrase.name, found.span(group))
                    self.states(phrase)
                else:
                    self.add(phrase.name, _seen_relation(direction), self._room, found.span(group))
        return True

    def exits(self, found: re.Match[str]) -> bool:
        """Directions in which one can go."""
        for direction in re.findall(
            "|".join(sorted(DIRECTIONS, key=len, reverse=True)), found["ways"].lower()
        ):
            if self._room:
                self.add(self._room, "has exit", direction, found.span("ways"))
        return True

    def state(self, found: re.Match[str]) -> bool:
        """``The fridge is closed``; *it* is what was spoken of last."""
        thing = clean_name(found["thing"])
        name = self._topic if thing in ("it", "this") else thing
        if _is_name(name):
            state = found["state"].lower()
            if state[-1].isdigit():
                self._outdated[Pattern(name, "is", None)] = None
            self.add(name, "is", _SAME.get(state, state), found.span("state"))
        return True

    def take(self, found: re.Match[str]) -> bool:
        """Something is carried now."""
        for phrase in self.things(found["thing"], found.start("thing")):
            self.add(phrase.name, "is in", INVENTORY, (phrase.start, phrase.end))
        return True

    def drop(self, found: re.Match[str]) -> bool:
        """Something lies here now."""
        self.here(found["thing"], found.start("thing"))
        for phrase in self.things(found["thing"], 0):
            self._outdated[Pattern(phrase.name, "is in", INVENTORY)] = None
        return True

    def change(self, found: re.Match[str]) -> bool:
        """Something was opened, closed, locked."""
        for phrase in self.things(found["thing"], found.start("thing")):
            span = phrase.start, phrase.end
            self.add(phrase.name, "is", _RESULT[found["verb"]], span)
            if found["items"] and not _DOOR.search(phrase.name):
                self.put_in(found["items"], found.start("items"), "in", phrase.name)
            self._topic = phrase.name
        return True

    def use_up(self, found: re.Match[str]) -> bool:
        """Something was eaten or drunk."""
        for phrase in self.things(found["thing"], found.start("thing")):
            self.add(phrase.name, "is", "consumed", (phrase.start, phrase.end))
            for relation in ("is in", "is on"):
                self._outdated[Pattern(phrase.name, relation, None)] = None
        return True

    def carry(self, found: re.Match[str]) -> bool:
        """What is carried, in a sentence."""
        if not _NOTHING.match(found["items"]):
            for phrase in self.things(found["items"], found.start("items")):
                self.add(phrase.name, "is in", INVENTORY, (phrase.start, phrase.end))
        return True

    # ------------------------------------------------------------ what is written on things

    def read_writing(self, name: str, text: str) -> None:
        """A recipe or a note that was asked for; it does not overrule where a thing was seen."""
        self._offset = 0
        for triple, start, end in read_writing(name, text, self.kind_of, reader=self._reader):
            known = self._graph.value(triple.subject, "location")
            if triple.relation not in LOCATIONS or known is None:
                self.add(*triple, (start, end))

    def kind_of(self, name: str) -> str | None:
        """What is known of a name, for a text that speaks of it; None if nothing is."""
        return kind_in(self._graph, name, self._room)

    # ------------------------------------------------------------ lists and displays

    def read_carried(self, text: str, *, evidence: bool) -> None:
        """A list of all that is carried: what it does not name is carried no more."""
        self._offset = 0
        found = _LISTED.search(text)
        if found is None:
            if not evidence and text:
                for sentence, _ in _sentences(text):
                    carried = _CARRYING.match(sentence) or _HAVING.match(sentence)
                    if carried is not None:
                        self._carried(carried["items"], -1)
            return
        held = set()
        for line in _LINE.finditer(found["lines"]):
            if not _NOTHING.match(line["item"]) and not line["item"].lower().startswith("your "):
                start = found.start("lines") + line.start("item") if evidence else -1
                held |= self._carried(line["item"], start)
        for fact in self._graph.incoming(INVENTORY):
            if fact.relation == "is in" and fact.subject not in held:
                self._outdated[Pattern(*fact)] = None

    def _carried(self, text: str, start: int) -> set[str]:
        names = set()
        for phrase in () if _NOTHING.match(text) else self.things(text, max(start, 0), bare=True):
            span = (phrase.start, phrase.end) if start >= 0 else (-1, -1)
            self.add(phrase.name, "is in", INVENTORY, span)
            for state in phrase.states:
                self.add(phrase.name, "is", state, span)
            names.add(phrase.name)
        return names

    def read_pairs(self, text: str, listed: int, end: int) -> None:
        """Lines ``Label: value`` outside a list; the latest value is the one that holds."""
        self._offset = 0
        for found in _PAIR.finditer(text):
            if listed <= found.start("label") < end or found["value"].endswith((":", "?")):
                continue
            start = found.start("label")
            for pair in _MORE.finditer(found.group().lstrip()):
                label = clean_name(pair["label"])
                if not label or _VAGUE.search(label) or _TELLING.match(label):
                    continue
                head, _, verb = label.rpartition(" ")
                label, relation = (head, verb) if verb in _VERBS and head else (label, "is")
                value = pair["value"].partition(". ")[0].lower().rstrip(".,;!")
                span = start + pair.start("value"), start + pair.end("value")
                self._outdated[Pattern(label, relation, None)] = None
                self.add(label, relation, value, span)

    # ------------------------------------------------------------ things

    def things(self, text: str, start: int, *, bare: bool = False) -> Iterator[Phrase]:
        """Things of an enumeration with their states; those without an article only if ``bare``."""
        begin = 0
        for cut in [*_SPLIT.finditer(text), None]:
            part = text[begin : cut.start() if cut else len(text)]
            phrase = _thing(part, start + begin, bare)
            if phrase is not None:
                self._topic = phrase.name
                yield phrase
            begin = cut.end() if cut else len(text)


def _seen_relation(direction: str) -> str:
    """A place that is seen from another is no way yet: the exit to it is still unexplored."""
    return f"is seen {way_relation(direction).removeprefix('is ')}"


def _sentences(text: str) -> Iterator[tuple[str, int]]:
    """Sentences with the position of their first character; overlong ones are left out."""
    for found in _SENTENCE.finditer(text):
        sentence = found.group().strip()
        if sentence and len(sentence) <= _MAX_SENTENCE_CHARS:
            yield sentence, found.start() + found.group().index(sentence[0])


def _thing(text: str, start: int, bare: bool) -> Phrase | None:
    """One thing: its states may stand before the name, in a clause or in brackets."""
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
    """Whether words can be the name of a thing or a place."""
    words = name.split()
    return 0 < len(words) <= _MAX_NAME_WORDS and not _VAGUE.search(name)


_Read = Callable[[_Draft, "re.Match[str]"], bool]
_FORMS: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (_ROOM, _Draft.enter),
    (_CALLED, _Draft.enter),
    (_ENTERED, _Draft.enter),
    (_TO_THE, _Draft.way),
    (_EXIT, _Draft.exits),
    (_EXITS, _Draft.exits),
    (_DOORWAY, _Draft.way),
    (_SEEN, _Draft.see),
    (_HOLDS, _Draft.hold),
    (_CARRYING, _Draft.carry),
    (_TAKEN, _Draft.take),
    (_PUT, _Draft.lie),
    (_DROPPED, _Draft.drop),
    (_CHANGED, _Draft.change),
    (_USED_UP, _Draft.use_up),
    (_EMPTY, _Draft.state),
    (_IS, _Draft.state),
    (_CONTAINS, _Draft.hold),
    (_WHERE, _Draft.lie),
)
"""Forms of sentences, the more special ones first."""
