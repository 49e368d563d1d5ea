"""The draft of one text: the place, the things there, and the way taken."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from gym_memory.core.records import Triple
from gym_memory.core.text import sentence_spans
from gym_memory.extract import Mention, Pattern
from gym_memory.extract.draft import NOWHERE, Draft
from gym_memory.extract.events import IMMATERIAL, action_event
from gym_memory.extract.known import another, meant
from gym_memory.extract.notes.words import (
    ROOM,
    Phrase,
    kind_of_noun,
    names_person,
    singular,
    split_things,
)
from gym_memory.extract.wording import ON_IN, POSED
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import (
    DIRECTIONS,
    EXIT,
    INVENTORY,
    OPPOSITE,
    PLAYER,
    clean_name,
    direction_in,
    direction_of,
    head_noun,
    way_relation,
)

__all__ = ["ARTICLE", "COMPASS", "END_OF", "LOCATED", "LOOKING", "NAME", "NOTHING"]
__all__ += ["POSSESSION", "RELATIVE"]
__all__ += [
    "ROOM_ITSELF",
    "SAME",
    "STATE_WORD",
    "VAGUE",
    "WITH_ARTICLE",
    "Scene",
    "find_things",
    "has_any",
    "here",
]
__all__ += ["is_name", "items_in", "may_hold", "one_thing", "place_name", "put_in", "relation"]
__all__ += ["seen_relation", "short_sentences", "some_steps_away", "things_in", "with_contents"]


_MAX_NAME_WORDS = 6
_NAMELESS = IMMATERIAL | frozenset(("objects", "items", "things"))
"""Nouns that name no thing: *several objects*."""
_MAX_SENTENCE_CHARS = 1000
NAME = r"[^\s.,;:!?()\[\]\"][^.,;:!?()\[\]\"\n]{0,59}?"
ARTICLE = r"(?:[Aa]n?|[Tt]he|[Ss]ome|[Yy]our|[Oo]ne|[Tt]wo|[Tt]hree|\d[\w.]*)\b"
LOCATED = re.compile(
    rf"(?P<things>.+?)(?: {POSED})? (?P<where>{ON_IN}) (?P<place>(?:the|your|an?) {NAME}|it)$"
)
"""Things and where they are: *a mug on the table*."""
WITH_ARTICLE = re.compile(rf"{ARTICLE} ")
STATE_WORD = (
    r"(?:open|opened|ajar|closed|shut|locked|unlocked|empty|lit|unlit|broken|on|off|full|hot|cold|"
    r"providing light|cool|raw|cooked|fried|roasted|grilled|burned|burnt|chopped|sliced|diced"
    r"|clean|dirty|wet|dry)"
)
SAME = {
    "providing light": "lit",
    "ajar": "open",
    "opened": "open",
    "shut": "closed",
    "burnt": "burned",
}
_UNLIKE = {"locked": "unlocked", "unlocked": "locked"}
"""States that exclude each other without filling a slot: an unlocked thing may be closed."""
_SPLIT = re.compile(rf"(?:,? and |, )(?={ARTICLE}|[A-Z][a-z])(?![^()]{{0,200}}\))")
_ANY_STATE = re.compile(rf"\b{STATE_WORD}\b")
_WITH_STATE = re.compile(
    r"(?P<thing>.+?)(?:,? (?:that|which) (?:is|are)(?: currently| now)?|,) "
    rf"(?P<state>{STATE_WORD})"
    r"(?: and .*)?$"
)
_IN_BRACKETS = re.compile(
    rf"(?P<thing>[^()]+?) \((?:that is |which is )?(?P<state>{STATE_WORD})\)$"
)
_STATE_FIRST = re.compile(
    rf"(?P<article>{ARTICLE} )?"
    r"(?P<state>open|opened|closed|shut|locked|unlocked|empty|lit|unlit) (?=\w)"
)
_REMARK = re.compile(
    r"(?: \((?![^()]*\d\))[^()]*\)| (?:here|nearby)\b.*"
    r"| (?:underneath|beneath|inside|within)(?=$)|,? (?:whose"
    r"|that|which) .*"
    r"| on the (?:floor|ground)"
    r"| (?:near|beside|behind|below|beneath|above|against|by|next to|in front of|opposite|between)"
    r" (?:the|an?|your|you|his|her|its|their|it|him|me)\b.*"
    r"| (?:tied|wrapped|covered|filled|decorated|bound|adorned) (?:up )?(?:with|in|by) .*"
    r"|, (?:\w+ly )?(?:\w+ing|\w+ed|made|open) .*|, \w+ly \w+(?:ing|ed)|, [^,]*,"
    r"| attached|,|, (?:on|in|to) .*| with .*"
    r"| (?:you|we|they|he|she)(?:'\w+| \w+)\b.*)$"
)
_ONE = re.compile(rf"^(?:{ARTICLE}) ", re.IGNORECASE)
_COUNT = re.compile(r"(?:[Aa]n? single|\d+|(?:[Tt]wo|[Tt]hree)(?=.*s$)) (?=[^\W\d])")
"""A count, which is no part of the name: it changes while the things stay."""
END_OF = re.compile(r"(?:one|the|an|each|other|the other) (?:end|edge|tip) of (?:the|your|an?) ")
"""Words before a thing of which a part is named."""
_ONE_OF = re.compile(r"(?:one|another) of (?:the|these|those|your|his|her|their) (?=\w)")
_PROPOSED = re.compile(
    r"\bthat (?:an?|the|you|it|he|she|they|someone|there|no|\w+ (?:is|are|was)) "
)
"""First words of a rumour or a doubt."""
NOTHING = re.compile(r"(?:nothing|no one|nobody|no|not|none|null|n/a|empty)\b|\W+$", re.IGNORECASE)
_VAGUE_WORDS = (
    *("that", "which", "who", "it", "they", "them", "this", "these", "those", "he", "she", "him"),
    *("her", "i", "we", "you", "way", "ways", "lot", "number"),
)
_OPEN_ENDS = (" a", " an", " the", " and", " or", " of", " to", " is", " are", " beyond")
"""Ends of no name, after which a phrase goes on: *the boat comes to a*."""
_VAGUE_ENDS = _VAGUE_WORDS + _OPEN_ENDS
VAGUE = re.compile(rf"\b(?:{'|'.join(_VAGUE_WORDS)})$|(?:{'|'.join(_OPEN_ENDS)})$")
COMPASS = r"(?:north|south)(?:-?(?:east|west))?|east|west"
_LEADS = re.compile(
    rf"\b(?:to|in|from|leading|going|heading)(?: the)? (?:{COMPASS})\b|\w (?:up|down)(?:wards?)?$"
)
_WAY_WORDS = ("north", "south", "east", "west", " up", " down")
"""Letters of which a match of :data:`_LEADS` has some, as a fast test."""


@lru_cache(maxsize=1024)
def short_sentences(text: str) -> tuple[tuple[str, int], ...]:
    """Return the sentences that are short enough to read, with their starts."""
    found = sentence_spans(text)
    return tuple(one for one in found if len(one[0]) <= _MAX_SENTENCE_CHARS)


@lru_cache(maxsize=4096)
def things_in(text: str, bare: bool) -> tuple[Phrase, ...]:
    """Return the things of an enumeration; those without an article only if ``bare``."""
    found = []
    for begin, item in items_in(text):
        phrase = one_thing(item, bare)
        if phrase is not None:
            found.append(Phrase(*phrase[:2], begin + phrase.start, begin + phrase.end))
    return tuple(found)


def items_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield the items of an enumeration, each with where it begins."""
    begin = 0
    several = "," in text or " and " in text
    for cut in [*(_SPLIT.finditer(text) if several else ()), None]:
        yield begin, text[begin : cut.start() if cut else len(text)]
        begin = cut.end() if cut else len(text)


def one_thing(text: str, bare: bool) -> Phrase | None:
    """Read one thing, its states before the name, in a clause or in brackets."""
    states: list[str] = []
    end = len(text)
    clause = has_any(text, (" that ", " which ", ")", ", "))
    for pattern in (_WITH_STATE, _IN_BRACKETS) if clause else ():
        found = pattern.fullmatch(text[:end])
        if found is not None:
            states.append(found["state"].lower())
            end = found.end("thing")
    remark = _REMARK.search(text, 0, end)
    end = remark.start() if remark is not None and remark.start() else end
    article = _ONE.match(text)
    if (article is None and not bare) or NOTHING.match(text):
        return None
    if "that " in text and _PROPOSED.search(text):
        return None
    first = _COUNT.match(text[:end]) or _STATE_FIRST.match(text[:end])
    begin = first.end() if first is not None else 0
    if first is not None and first.lastgroup:
        states.append(first["state"].lower())
    phrases = split_things(text[begin:end], begin)
    if len(phrases) != 1 or not is_name(phrases[0].name) or _leads(phrases[0].name):
        return None
    named = phrases[0]
    own = tuple(SAME.get(state, state) for state in (*named.states, *states))
    name = clean_name(named.name).removeprefix("your ")
    one_of = _ONE_OF.match(name)
    return Phrase(singular(name[one_of.end() :]) if one_of else name, own, *named[2:])


def _leads(name: str) -> bool:
    """True if a name ends with where something leads."""
    return has_any(name, _WAY_WORDS) and _LEADS.search(name) is not None


def has_any(text: str, parts: Iterable[str]) -> bool:
    """True if a text has one of the parts; a fast test before a slow pattern."""
    return any(map(text.__contains__, parts))


def is_name(name: str) -> bool:
    """True if words can be the name of a thing or a place."""
    words = name.split()
    if not 0 < len(words) <= _MAX_NAME_WORDS or words[0] == "too":
        return False
    if "]" in name or "}" in name or "{" in name:
        return False
    return not (name.endswith(_VAGUE_ENDS) and VAGUE.search(name))


_SEVERAL = "several places"
"""State of a name that several places share, as in a maze."""
_LISTING = 3
"""Exits named, times sentences, from which a text is taken to name all exits."""
RELATIVE = "is seen"
"""Relation to where something is as seen from the agent, which holds until the agent acts."""
_RELATION = {"inside": "in", "into": "in", "to": "in", "onto": "on", "on top of": "on",
             "from": "on", "upon": "on", "underneath": "under"}  # fmt: skip
LOOKING = re.compile(r"(?:look (?:at|in|into|through)|examine|inspect|read|x) ", re.IGNORECASE)
_CONTENTS = (
    r"(?:(?P<where>on|in) which (?:is|are)|contain(?:ing|s:?)|holding) "
    r"(?P<items>(?:[^()]|\([^()]{0,200}\)){1,400})"
)
_BRACKETED = re.compile(
    r"(?P<holder>(?:an?|the|some) [^(),]{1,80}?) \((?P<state>[^()]{0,200}?)"
    rf"(?:,? ?{_CONTENTS})?\)"
)
_HOLDING = re.compile(rf"(?P<holder>[^()]{{1,80}}?) \((?P<state>[^()]{{0,200}}?),? ?{_CONTENTS}\)")
_THAT = r",? (?:that|which)(?: is [\w ]+ and)?"
_WITH_CONTENTS = re.compile(
    rf"(?P<thing>(?:{ARTICLE} )?{NAME})"
    rf"(?:{_THAT}(?: (?:looks|seems|appears) to)? (?:has|have)"
    rf"|(?P<sure>{_THAT} (?:contains?|holds?)|,? containing)|,? with(?=.* (?:on|in) it\.?$))"
    r" (?P<items>.+?)(?: (?P<where>on|in|inside|under) (?:it|them))?\.?$"
)
"""A thing and its contents; *sure* by the verb alone."""
ROOM_ITSELF = re.compile(
    r"(?:floor|ground|room|area)(?: of (?:the |this )?room)?"
    r"|(?:\w+ )?(?:corner|cent(?:er|re)|middle|side|end)(?: of (?:the|this) (?P<of>[\w ]+))?"
    r"|(?:your |the )?(?:left|right)"
)
POSSESSION = re.compile(
    r"your (?:\w+ )?(?:inventory|hands?|pockets?|backpack|possession)"
    r"|my (?:inventory|hands?|pockets?|backpack|possession|coat|jacket|cloak|belt|purse|bag"
    r"|wallet|handbag|satchel|rucksack)"
)
_CLOSE_BY = re.compile(
    r" (?:near|beside|behind|below|beneath|above|against|by|next to|in front of|opposite)"
    r" (?:the|an?|your) .*| \w+ enough\b.*"
)
"""Words behind a holder that say where it is, or what for: *on a nail by the ladder*."""
_FAR = ("distance", "background")
"""Words for distant things in view, which hold nothing."""
_ABOUT = re.compile(rf"{LOOKING.pattern}|(?:ask|beg) .+ for ", re.IGNORECASE)
"""Words of an action before what it is about."""
_TRAVEL = re.compile(
    r"(?:(?:go|walk|run|head|travel|ride|sail|drive|fly|enter)\b|move(?= to\b))"
    r"(?: (?:to|into|in))? ?(?P<to>.*)"
    r"|(?:exit|leave)$",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def _intent(action: str) -> tuple[str | None, bool, bool]:
    """Return the direction of an action, whether it moves, and whether it looks at something."""
    direction = direction_in(action)
    moves = direction is not None or _TRAVEL.match(action) is not None
    return direction, moves, LOOKING.match(action) is not None


class Scene(Draft):
    """The extraction of a text; nothing in it relates to itself."""

    def __init__(self, action: str, graph: TemporalGraph, text: str = "", inventory: str = ""):
        super().__init__(graph)
        self.action = action
        self._text, self._inventory = text, inventory
        self.direction, self.is_move, self.is_look = _intent(action)
        self.arrived = False
        self.sentences = 0
        self.is_listed = False
        """True if the text lists what is here."""
        self.event = action_event(action)
        """The action's effect on a thing; None for another action."""
        self._topic = ""
        self._has_second = False
        self._lower: str | None = None
        self._handled: str | None = None
        self._held: frozenset[str] | None = None
        if action:
            self.outdate(None, RELATIVE, None)

    @property
    def text(self) -> str:
        """Return the text in lower case, to see which names it uses."""
        if self._lower is None:
            self._lower = self._text.lower()
        return self._lower

    @property
    def handled(self) -> str:
        """Return the thing that the action is about; empty for none."""
        if self._handled is None:
            self._handled = self._find_handled()
        return self._handled

    def _find_handled(self) -> str:
        event = self.event
        if event is None or not event.thing.text or self.direction is not None:
            return ""
        if event.thing.is_pronoun:
            return ""
        carried = True if "drop" in event.kinds else False if "take" in event.kinds else None
        return meant(self, clean_name(event.thing.text), carried=carried)

    @property
    def aim(self) -> str:
        """Return the thing that the action is about, looks at or asks for; empty for none."""
        looked = None if self.handled else _ABOUT.match(self.action)
        return meant(self, clean_name(self.action[looked.end() :])) if looked else self.handled

    def is_handled(self, name: str) -> bool:
        """True if an unknown name is short for what the action is about: *door, trapdoor*."""
        handled = self.handled
        if name == handled or self.graph.knows(name):
            return False
        words = name.split()
        known = head_noun(name) == head_noun(handled) and self.graph.knows(handled)
        return (known and set(words) < set(handled.split())) or (
            " " not in handled and len(words) == 1 and handled.endswith(name)
        )

    def thing_called(self, name: str, *, carried: bool | None = None) -> str:
        """Return the thing that a name means: the action's, if the name is short for it."""
        return self.handled if self.is_handled(name) else meant(self, name, carried=carried)

    @property
    def topic(self) -> str:
        """Return what *it* means: the thing named last, or what the action is about."""
        return self._topic or self.aim

    @topic.setter
    def topic(self, name: str) -> None:
        self._topic = name

    @property
    def person(self) -> str:
        """Return what *he* or *she* means: the person named last, or whom the action is about."""
        gives = self.event is not None and "give" in self.event.kinds
        receiver = clean_name(self.event.holder.text) if self.event is not None and gives else ""
        return next(filter(names_person, (self._topic, self.handled)), meant(self, receiver))

    def note(self, mention: Mention) -> None:
        """See :class:`Draft`."""
        subject, relation, obj = mention.triple
        if subject == obj:
            return
        if relation == "is" and obj in _UNLIKE:
            self.outdate(subject, relation, _UNLIKE[obj])
        on = Triple(subject, "is", "on")
        if obj == "lit" and relation == "is" and (on in self.graph or on in self.mentions):
            return  # a lamp that is on
        super().note(Mention(mention.triple, *NOWHERE) if self.offset < 0 else mention)

    def arrive(self, place: str, start: int, end: int) -> None:
        """Put the agent into a place, by the way that was taken."""
        self.arrived = True
        self.enter(place, (start, end))
        way = self.direction or self._named_exit()
        if not way or not self.left:
            return
        if place == self.left:
            self._note_maze(place)
        elif not self._is_several(self.left):
            self.add(place, way_relation(way), self.left, start, end)
            self.outdate(None, seen_relation(way), self.left)

    def _note_maze(self, place: str) -> None:
        """Note that several places share a name, if a move leads from one to the next.

        Where exits are known, a move that leads nowhere is more likely.
        """
        if not self._exits_of(place):
            self.add(place, "is", _SEVERAL)
            for fact in (*self.graph.outgoing(place), *self.graph.incoming(place)):
                if fact.relation == EXIT or (direction_of(fact.relation) and fact.object == place):
                    self.outdate(*fact)

    def _is_several(self, place: str) -> bool:
        return Triple(place, "is", _SEVERAL) in self.graph

    def _exits_of(self, place: str) -> set[str]:
        known = {f.object for f in self.graph.outgoing(place) if f.relation == EXIT}
        return known | {f.object for f in self.mentions if f[:2] == (place, EXIT)}

    @property
    def destination(self) -> str:
        """Return the place to which the action goes, if it names one."""
        found = None if self.direction else _TRAVEL.match(self.action)
        name = place_name(found["to"] or "") if found is not None else ""
        return name if is_name(name) else ""

    def _named_exit(self) -> str:
        found = _TRAVEL.match(self.action)
        name = clean_name(found["to"] or "") if found is not None else ""
        return name if name and Triple(self.left, EXIT, name) in self.graph else ""

    def link_back(self) -> None:
        """Add the way back of a move to a place whose exits allow it; others often bend."""
        left, room = self.left, self.room
        if not (self.arrived and self.direction and left and left != room):
            return
        exits = self._exits_of(room)
        back = OPPOSITE[self.direction]
        if not exits or (
            back not in exits and len(exits) * (self.sentences or _LISTING) >= _LISTING
        ):
            return  # the way back bends
        way = Triple(left, way_relation(back), room)
        known = self.graph.value(room, back)
        denied = known not in (None, way) or (known is None and self.graph.fact(way) is not None)
        if not (denied or self._is_several(left) or self._is_several(room)):
            self.add(*way)

    def lose_place(self) -> None:
        """Leave the place unknown."""
        self.room = ""
        self.outdate(PLAYER, "is in", None)

    def lose_way(self, way: str) -> None:
        """End an exit that leads nowhere, and the way that it was taken for."""
        self.outdate(self.room, EXIT, way)
        self.outdate(None, way_relation(way), self.room)

    def has_exit(self, way: str, start: int, end: int, *, of: str = "") -> None:
        """Add an exit of the place, or of another one."""
        if of or self.room:
            self.add(of or self.room, EXIT, way, start, end)

    def see_behind(self, way: str, place: str, start: int, end: int, *, of: str = "") -> None:
        """Add things in view along a way that was not taken yet."""
        room = of or self.room
        if room and is_name(place) and self.graph.value(room, way) is None:
            self.add(place, seen_relation(way), room, start, end)

    def put(self, phrase: Phrase, *, moved: bool = False) -> None:
        """Add a thing here; if the place is unknown, that it is seen.

        A thing with the name of one in hand is another one, unless it was ``moved``.
        """
        name = phrase.name
        if name in self.held or name in self.moved or not self.graph.knows(name):
            name = meant(self, name, carried=None if moved else False)
            if not moved and self._is_in_hand(name):
                name = another(name)
                self._has_second = True
            if name != phrase.name:
                phrase = phrase._replace(name=name)
        if self.room:
            self.place(phrase, "is in", self.room)
        self.describe(phrase)
        if not self.room and all(fact.subject != phrase.name for fact in self.mentions):
            self.place(phrase, RELATIVE, "here")

    def carry(self, phrase: Phrase) -> str:
        """Add a thing in hand, and return its name.

        A thing of that name which the text shows here is another one.
        """
        name = phrase.name
        if name not in self.held:
            name = meant(self, name, anywhere=True)
        here = self.moved.get(name)
        if here is not None and here.object == self.room != "" and here in self.mentions:
            self._rename(here, another(name))
        if name != phrase.name:
            phrase = phrase._replace(name=name)
        self.place(phrase, "is in", INVENTORY)
        if phrase.states:
            self.describe(phrase)
        return name

    def _is_in_hand(self, name: str) -> bool:
        """True if a thing is carried after the action, as far as the step says."""
        now = self.moved.get(name)
        if now is not None:
            return now.object == INVENTORY
        if name not in self.held or name == self.handled:
            return False
        if Pattern(name, "is in", INVENTORY) in self.outdated:
            return False
        return not self._inventory or name in self._inventory.lower()

    def outdate(
        self, subject: str | None = None, relation: str | None = None, obj: str | None = None
    ) -> None:
        """See :class:`Draft`; a fact that the text stated before ends, too."""
        self.outdated[Pattern(subject, relation, obj)] = None
        if subject is not None and relation is not None and obj is not None:
            self.mentions.pop(Triple(subject, relation, obj), None)

    def keep_only(self, holder: str, names: Collection[str], *, by: str = "text") -> None:
        """See :class:`Draft`; what is in hand no more is what the text shows here."""
        super().keep_only(holder, names, by=by)
        for name in self.held if holder == INVENTORY and self._has_second else ():
            second = another(name)
            shown = self.moved.get(second)
            if name not in names and shown is not None and not self.graph.knows(second):
                self._rename(shown, name)

    def _rename(self, fact: Triple, name: str) -> None:
        """Say a fact of this text of a thing of another name, with the same evidence."""
        span = self.mentions.pop(fact)[1:]
        offset, self.offset = self.offset, 0  # the span is one of the whole text
        super().add(name, *fact[1:], *span)
        self.offset = offset

    @property
    def held(self) -> frozenset[str]:
        """Return the names of what was carried before the action."""
        if self._held is None:
            self._held = frozenset(fact.subject for fact in self.contents(INVENTORY))
        return self._held


def place_name(text: str) -> str:
    """Return the name of a place as facts hold it: without any article."""
    return " ".join(word for word in clean_name(text).split() if word not in ("a", "an", "the"))


def here(draft: Scene, text: str, start: int, *, bare: bool = False) -> None:
    """Add the things of an enumeration to those here."""
    for phrase in find_things(draft, text, start, bare=bare):
        draft.put(phrase)


_STEPS = r"(?:\d+|an?|one|two) steps? (?:to (?:the|your|my) )?[\w-]+"
_AWAY = re.compile(
    rf"(?P<thing>(?:(?! steps? | near (?:me|you)\b).)+?),? (?P<where>{_STEPS}(?:(?: and"
    rf"|,) {_STEPS})*)"
)


def some_steps_away(text: str) -> re.Match[str] | None:
    """Return the parts of a thing that is some steps away; None for others."""
    return _AWAY.fullmatch(text) if " step" in text else None


def read_away(draft: Scene, text: str, start: int) -> bool:
    """Read a thing that is some steps away; return whether the text has this form."""
    away = some_steps_away(text)
    if away is None:
        return False
    for phrase in find_things(draft, away["thing"], start, bare=True):
        draft.add(phrase.name, RELATIVE, away["where"].lower(), start, start + len(text))
        draft.describe(phrase)
    return True


def put_in(
    draft: Scene, text: str, start: int, where: str | None, place: str, *, bare: bool = False
) -> None:
    """Put things in, on or under something; those without an article only if ``bare``."""
    if " " in place:
        place = _CLOSE_BY.sub("", place)
    immaterial = head_noun(place) in IMMATERIAL and not draft.graph.knows(place)
    if not is_name(place) or place in _FAR or place in DIRECTIONS or immaterial:
        return
    itself = ROOM_ITSELF.fullmatch(place)
    if itself is not None and (not itself["of"] or kind_of_noun(itself["of"]) == ROOM):
        here(draft, text, start, bare=bare)
        return
    if POSSESSION.fullmatch(place):
        place = INVENTORY
    for phrase in find_things(draft, text, start, bare=bare):
        draft.place(phrase, relation(where), place)
        draft.describe(phrase)
        draft.outdate(place, "is", "empty")


def find_things(draft: Scene, text: str, start: int, *, bare: bool = False) -> Iterator[Phrase]:
    """Yield the things of an enumeration; those without an article only if ``bare``."""
    if "(" in text:
        text = _read_brackets(draft, text, start, _BRACKETED)
    for name, states, first, last in things_in(text, bare):
        if head_noun(name) in _NAMELESS and not draft.graph.knows(name):
            continue
        draft.topic = name
        yield Phrase(name, states, start + first, start + last)


def with_contents(text: str) -> re.Match[str] | None:
    """Return the parts of a thing with contents: *a sack that holds a coin*; None for others."""
    possible = has_any(text, (" that ", " which ", " containing ", " with "))
    return _WITH_CONTENTS.fullmatch(text) if possible else None


@lru_cache(maxsize=4096)
def may_hold(text: str) -> bool:
    """True if a part of a list has the form of a thing with contents."""
    return with_contents(text) is not None or ("(" in text and _HOLDING.search(text) is not None)


def read_contents(draft: Scene, text: str, start: int) -> str:
    """Read the contents in a part of a list; return the part with blanks in their place."""
    if not may_hold(text):
        return text
    whole = with_contents(text)
    phrase = one_thing(whole["thing"], bare=True) if whole is not None else None
    if whole is None or phrase is None:
        return _read_brackets(draft, text, start, _HOLDING)
    hold(draft, whole, start, phrase._replace(start=start + phrase.start, end=start + phrase.end))
    return whole["thing"].ljust(len(text))


def hold(draft: Scene, whole: re.Match[str], start: int, holder: Phrase) -> None:
    """Read the contents of a thing by a match of :func:`with_contents`."""
    if NOTHING.match(whole["items"]):
        draft.add(holder.name, "is", "empty", holder.start, holder.end)
        return
    at, bare = start + whole.start("items"), bool(whole["where"] or whole["sure"])
    put_in(draft, whole["items"], at, whole["where"], holder.name, bare=bare)


def _read_brackets(draft: Scene, text: str, start: int, pattern: re.Pattern[str]) -> str:
    """Read states and contents in brackets; return the text with blanks in their place."""

    def blank(found: re.Match[str]) -> str:
        states = _ANY_STATE.findall(found["state"] or "")
        head = found["holder"].rpartition(" and ")[2]
        at = start + found.end("holder") - len(head)
        phrase = one_thing(head, bare=True)
        if phrase is not None and (states or found["items"]):
            span = at + phrase.start, at + phrase.end
            for state in states:
                draft.add(phrase.name, "is", SAME.get(state, state), *span)
            if found["items"]:
                begin, where = start + found.start("items"), found["where"]
                put_in(draft, found["items"], begin, where, phrase.name, bare=True)
        return found["holder"] + " " * (len(found.group()) - len(found["holder"]))

    return pattern.sub(blank, text)


def relation(where: str | None) -> str:
    """Return the relation that a preposition states."""
    word = (where or "in").lower()
    return f"is {_RELATION.get(word, word)}"


def seen_relation(direction: str) -> str:
    """Return the relation to a place in view; it is no way yet, for its exit is unexplored."""
    return f"is seen {way_relation(direction).removeprefix('is ')}"
