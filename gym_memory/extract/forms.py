"""Forms of sentences that text games share, each with its reader."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from gym_memory.core.text import letter_words
from gym_memory.extract.events import INTANGIBLE, events_in
from gym_memory.extract.known import meant
from gym_memory.extract.notes.words import (
    CONTAINER,
    PEOPLE,
    PLACED,
    ROOM,
    SUPPORTER,
    kind_of_noun,
    names_person,
)
from gym_memory.extract.openings import (
    OPENS,
    REVEALING,
    REVEALS,
    SEARCH_FINDS,
    YOU_OPEN,
    is_door,
    read_opening,
    read_revealed,
    read_search,
)
from gym_memory.extract.persons import (
    BEARS,
    BUSY,
    BUSY_WORDS,
    CALLED_HERE,
    COMES,
    GOES,
    IN_HAND,
    OWNS,
    bear,
    busy,
    called_here,
    come,
    go,
    own,
    read_aside,
)
from gym_memory.extract.places import ARE, PASSABLE, WAYS, YOU
from gym_memory.extract.placing import (
    add_contents,
    find_things,
    put_here,
    put_in,
    read_away,
    some_steps_away,
    with_contents,
)
from gym_memory.extract.scene import Scene, seen_relation
from gym_memory.extract.things import (
    ARTICLE,
    COMPASS,
    LOCATED,
    NAME,
    STATE_SYNONYMS,
    STATE_WORD,
    WITH_ARTICLE,
    is_name,
    items_in,
    place_name,
)
from gym_memory.extract.wording import (
    BE,
    BY,
    ENDS_OF_HERE,
    HERE,
    HERE_WORDS,
    LEADS,
    LIE,
    ON_IN,
    POSED,
    SEE,
    STOP,
    THINGS,
)
from gym_memory.graph.schema import DIRECTIONS, INVENTORY, clean_name, door_relation, head_noun

__all__ = ["CARRYING", "DOUBTFUL", "HAVING", "IS", "Match", "forms_for", "read_state"]

_SEEN = re.compile(
    r"(?:(?:[Ii]n (?:one|another|the other) (?:part|side|corner) of the room|[Nn]earby"
    r"|[Ii]n front of (?:you|me)"
    r"|[Aa]round you),? )?"
    rf"(?:(?:[Yy]ou|I|[Ww]e) (?:can )?(?:also |just )?{SEE}(?: here)?"
    rf"|[Hh]ere (?:you|I) (?:see|find)|[Tt]here(?: is| are|'s)(?: also)?"
    rf"|[Aa]round (?:you|me) (?:is|are)) "
    rf"(?P<things>{THINGS}){STOP}"
)
_AROUND = re.compile(
    r"[A-Z]\w+ing(?: \w+)? (?:around|about)(?: (?:you|me|the \w+))?, (?:you|I|we) (?:can )?"
    rf"{SEE} (?P<things>{THINGS}){STOP}"
)
"""Sentence of what one sees by looking around."""
_INDEFINITE = re.compile(r"There (?:is|are) (?:an?|some) ")
"""Beginning of a sentence that introduces things, so *the room* begins another clause."""
_TO_THE = re.compile(
    rf"(?:[Tt]hrough (?P<door>{NAME}),? )?[Tt]o the (?P<way>\w+),? "
    rf"(?:you (?:can )?see|is|there is|lies) (?P<what>{NAME}){STOP}",
    re.IGNORECASE,
)
_OF_YOU = re.compile(
    rf"(?P<door>(?!))?(?P<way>\w+) of (?:you|me),? (?:is|lies|you (?:can )?see) "
    rf"(?P<what>{NAME}){STOP}",
    re.IGNORECASE,
)
"""A place as seen from here: *north of you is the hallway*."""
_DOORWAY = re.compile(
    rf"(?:[Tt]here is|[Yy]ou see) (?P<door>{ARTICLE} {NAME}),? "
    rf"(?:(?:that |which )?lead(?:s|ing) )?(?:to the )?(?P<way>\w+){STOP}",
    re.IGNORECASE,
)
_POSED_HERE = re.compile(
    rf"(?P<items>{ARTICLE} {THINGS}) "
    rf"(?:{BE}(?: {POSED}| \w+ed (?:to|on|onto|against) {ARTICLE} \w+)?|{LIE}(?: \w+ed)?)(?: now)? "
    rf"(?:{HERE}\b(?P<aside>,(?! and\b)[^.!?]*)?|{BY} (?:{ARTICLE}|his|her|its|their) {NAME}"
    rf"(?:, \w+ing\b[^.!?]*)?){STOP}"
)
_POSED_BY = re.compile(
    rf"(?:(?:[Hh]alf[- ])?[Hh]idden |{POSED} )?{BY} (?:{ARTICLE} {NAME}|it|them),? "
    rf"(?:{LIE}|{BE}|(?:you|I) (?:can )?{SEE}) "
    rf"(?P<items>{ARTICLE} {THINGS}){STOP}",
    re.IGNORECASE,
)
_BY_YOU = re.compile(
    rf"(?:[Nn]ext to|[Bb]eside|[Bb]ehind|[Nn]ear|[Aa]head of) (?:you|me),? (?:{LIE}|{BE}) "
    rf"(?P<items>an? {THINGS}){STOP}"
)
_DOES_BY = re.compile(
    rf"{BY} (?:the|one|a) {NAME},? (?P<items>an? (?:[\w'-]+ ){{1,3}}?)(?!{LEADS})"
    rf"(?=[a-z]+(?:s|ed)\b).*{STOP}",
    re.IGNORECASE,
)
"""A thing at another that does something: *by the window a clock ticks softly*."""
_WHERE = re.compile(
    rf"(?P<items>{ARTICLE} {THINGS}) (?:{BE}(?: now)?(?: {POSED})?|{LIE}) "
    rf"(?P<where>{ON_IN}|(?:(?<=hangs )|(?<=hung )|(?<=hanging ))from) (?P<place>{NAME})"
    rf"(?:, (?:half|almost|nearly|still|only|quite|very|one|two|all|both|some"
    rf"|each)\b[^,.!?]*)?{STOP}"
)
_DOES_ON = re.compile(
    rf"(?P<items>[Aa]n? (?:[\w'-]+ ){{1,3}}?)(?!{LEADS})[a-z]+(?:s|ed)(?: \w+ly)? "
    rf"(?P<where>{ON_IN}) (?P<place>{ARTICLE} {NAME})(?:,(?! and| but| while)[^.!?]*)?{STOP}"
)
"""A thing on another that does something: *a clock ticks on the mantel*."""
_WAY_TO = re.compile(
    rf"(?:{YOU} (?:can|may) )?(?:follow|take) {ARTICLE} [\w' -]*?\b(?:{WAYS})"
    rf"(?: back| down| up| on)? to (?P<place>(?:the )?{NAME}){STOP}",
    re.IGNORECASE,
)
"""A way to a place, without a direction: *follow the lane to the mill*."""
_LEADING = re.compile(rf"\b(?:{WAYS}) (?:{COMPASS}|up|down)\b")
_ALL_WAYS = re.compile(
    r"(?:There are |You see )?(?P<ways>(?:exits|paths|passages|doors|roads|tunnels|corridors) "
    rf".*\ball four (?:directions|sides|walls)){STOP}",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    rf"(?:{POSED} )?(?P<where>{ON_IN}|(?<=ing )from) (?P<place>{ARTICLE} {NAME}),? "
    rf"(?:is|are|there (?:is|are)|(?:you|I) (?:can )?(?:also )?{SEE}|{LIE}) "
    rf"(?P<items>{THINGS}){STOP}",
    re.IGNORECASE,
)
_INSIDE = re.compile(
    rf"(?:[Ii]nside|(?P<where>[Ii]n|[Ii]nside|[Oo]n) it),? "
    rf"(?:(?:is|are|{LIE}|there(?: is| are|'s))|(?:you|I) (?:can )?{SEE}) (?P<items>{THINGS}){STOP}"
    rf"|(?P<shown>{ARTICLE} {THINGS}) (?:is|are|lies?) inside(?: it)?{STOP}"
)
_CONTAINS = re.compile(
    rf"(?P<place>{ARTICLE} {NAME}|It) (?:contains?|holds?|(?P<has>has)) (?P<items>{THINGS}){STOP}"
)
_ROOM_WITH = re.compile(
    rf"(?:(?:[Ii]t|[Tt]his) is|{YOU}{ARE} in) (?:an?|the) (?:[\w'-]+ ){{0,3}}?(?P<room>\w+) with "
    rf"(?P<items>an? {THINGS}){STOP}"
)
"""Sentence of what is in a room: *it is a small room with a bed and a stove*."""
_HAS_ON = re.compile(
    rf"(?P<place>{ARTICLE} {NAME}) has (?P<items>{THINGS}) (?P<where>on|in|inside|under) (?:it"
    rf"|them)"
    rf"{STOP}"
)
IS = re.compile(
    rf"(?P<thing>(?:{ARTICLE}|[Tt]h(?:is|at)) {NAME}|[Ii]t|[Tt]hey|[Tt]his)"
    r"(?: is| are|(?: seems?| appears?)(?: to be)?|(?<=[Ii]t)'s"
    r"| (?:\w+s|stood|lay|hung)(?= (?:open|ajar|shut|closed)\b))"
    rf"(?: now| currently| already)?(?: turned| switched| set to)? "
    rf"(?P<state>{STATE_WORD}|-?\d(?:[\w.]*\w)?)"
    rf"(?: inside| (?:from|by|with) [^.!?]*|(?<=\d) (?:\(|of |out of )[^.]*| now"
    rf"| and (?:contains?|holds?) (?P<items>{THINGS})|, as [^.!?]*)?{STOP}"
)
_UNTIL = re.compile(
    rf"{YOU} .*\b(?:until|so that) (?P<thing>(?:the|your) {NAME}|it) (?:is"
    rf"|are) (?P<state>{STATE_WORD})"
    rf"{STOP}"
)
"""A state that one brings about: *you turn the wheel until the valve is shut*."""
_FOUND = re.compile(
    rf"{YOU} (?:find|found) (?P<thing>(?:the|your) {NAME}) (?P<state>{STATE_WORD}){STOP}"
)
_CLOCK = re.compile(rf"It is (?P<state>\d\d?:\d\d(?: ?[AaPp][Mm])?){STOP}")
_NAMES = re.compile(r"(?!and |, )(?:(?!,? and |, ).)+")
_AT_HERE = re.compile(rf"(?:,? (?:{POSED} )?{HERE})+$")
_NAMED = re.compile(rf"(?:{ARTICLE}|(?:[Ii]t|my|his|her|their|this|that|each|every)\b)|.*[A-Z0-9]")
"""Words that name a thing; bare ones, as in *on fire*, must be known."""
_STEPS_AWAY = re.compile(rf"{ARTICLE} .+? steps? .+")
_NO_MORE = r"(?:,? (?:and|but) nothing (?:else|more))?"
CARRYING = re.compile(
    rf"(?:{YOU}{ARE} (?:now |currently )?(?:carrying|holding|wearing)|{YOU} (?:carry|hold|wear)"
    rf"|{YOU} have (?:in your possession|equipped)|(?:Your|My) inventory contains):? "
    rf"(?P<items>{THINGS}){_NO_MORE}{STOP}"
)
HAVING = re.compile(rf"{YOU}(?: have| have got|'ve got):? (?P<items>{THINGS}){_NO_MORE}{STOP}")
"""Only in an inventory: elsewhere one has twenty moves, a choice and a goal."""
_INVENTORY = re.compile(r"i|inv|inventory|(?:check|show|look at) (?:my )?inventory", re.IGNORECASE)


def _see(draft: Scene, found: re.Match[str]) -> None:
    """Read things that are here, in a named place, or some steps away."""
    text, start = found["things"], found.start("things")
    if _INDEFINITE.match(found.group()):
        text = text.partition(" and the ")[0]  # there is a rumble and the room shakes
    if read_away(draft, text, start) or text.endswith(" from here"):
        return
    whole = with_contents(text)
    if whole is not None:
        for phrase in find_things(draft, _without_here(whole["thing"]), start):
            draft.put(phrase)
            add_contents(draft, whole, start, phrase)
            draft.topic = phrase.name
        return
    bare, items = _seen_items(text)
    if bare and found.group()[:3] != "The":
        draft.is_listed = True
    for begin, item, place in items:
        if place is None:
            if not read_away(draft, item, start + begin):
                put_here(draft, item, start + begin, bare=bare)
        else:
            holder = clean_name(place["place"].partition(" and ")[0])
            holder = draft.topic if holder == "it" else holder
            put_in(draft, place["things"], start + begin, place["where"], holder)


@lru_cache(maxsize=4096)
def _seen_items(text: str) -> tuple[bool, tuple[tuple[int, str, re.Match[str] | None], ...]]:
    """Return whether a text lists what is *here*, and its items, each with where it is.

    An item has its beginning, its text, and the match of a place; a way is no item.
    """
    bare = _without_here(text)
    is_bare = bare != text
    if is_bare and not WITH_ARTICLE.match(bare):  # no articles, so every comma divides
        return True, tuple((name.start(), name.group(), None) for name in _NAMES.finditer(bare))
    located = None if is_bare else LOCATED.fullmatch(bare)
    undivided = "(" in bare or (located is not None and " and " not in located["place"])
    items = []
    for begin, item in [(0, bare)] if undivided else items_in(bare):
        place = LOCATED.fullmatch(item)
        if place is not None or is_door(item) or some_steps_away(item) or not _is_way(item):
            items.append((begin, item, place))
    return is_bare, tuple(items)


def _is_way(item: str) -> bool:
    """True if a thing that one sees is a way: *a passage to the north, an exit down a stair*."""
    return _LEADING.search(item) is not None or (
        PLACED.search(item) is not None and PASSABLE.search(item) is not None
    )


def _without_here(text: str) -> str:
    return _AT_HERE.sub("", text) if text.endswith(ENDS_OF_HERE) else text


def _posed(draft: Scene, found: re.Match[str]) -> bool:
    if events_in(found["items"]):  # the door swings open and a woman stands there
        return False
    put_here(draft, found["items"], found.start("items"))
    read_aside(draft, found)
    return True


def _hold(draft: Scene, found: re.Match[str]) -> bool:
    """Read ``On the table is a lamp``, ``You put the lamp on it``, ``The box contains a coin``."""
    groups, place = found.groupdict(), clean_name(found["place"])
    if not (_NAMED.match(found["place"]) or draft.graph.knows(place) or names_person(place)):
        return False  # in good condition, on sale
    place = draft.topic if place == "it" else meant(draft, place)
    if "where" not in groups and names_person(place):
        return own(draft, found, place)
    if groups.get("has"):  # of things it names parts
        return place == draft.room and _posed(draft, found)
    on = " hold" in found.group() and kind_of_noun(place) == SUPPORTER
    where = groups.get("where") or ("on" if on else None)
    put_in(draft, found["items"], found.start("items"), where, place)
    return True


def _hold_as_furniture(draft: Scene, found: re.Match[str]) -> bool:
    """Read what does something on a piece of furniture, or on a known thing."""
    place = clean_name(found["place"])
    known = kind_of_noun(place) in (CONTAINER, SUPPORTER) or draft.graph.knows(meant(draft, place))
    return known and _hold(draft, found)


def _room_with(draft: Scene, found: re.Match[str]) -> bool:
    """Read what is in the room that a sentence describes."""
    if kind_of_noun(found["room"]) != ROOM:
        return False
    put_here(draft, found["items"], found.start("items"))
    return True


def _away(draft: Scene, found: re.Match[str]) -> bool:
    return read_away(draft, found.group(), found.start())


def _inside(draft: Scene, found: re.Match[str]) -> None:
    """Read ``Inside, you find a key``; of the last topic."""
    if draft.topic:
        where, items = (found["where"] or "in").lower(), "shown" if found["shown"] else "items"
        put_in(draft, found[items], found.start(items), where, draft.topic)


def _way(draft: Scene, found: re.Match[str]) -> bool:
    """Read the view in a direction: a place, or a door."""
    direction = found["way"].lower()
    if direction not in DIRECTIONS:
        return False
    draft.has_exit(direction, *found.span("way"))
    for group in ("door", "what") if "what" in found.groupdict() else ("door",):
        for phrase in find_things(draft, found[group] or "", found.start(group)):
            named = found[group].lower().startswith("the ")  # the hall, not an opening
            if not named and PASSABLE.search(phrase.name) and not is_door(phrase.name):
                continue
            through = "lead" in found.group() or found.group().startswith("Through")
            if (group == "door" and through) or is_door(phrase.name):
                draft.add(draft.room, door_relation(direction), phrase.name, *found.span(group))
                draft.describe(phrase)
            else:
                draft.add(phrase.name, seen_relation(direction), draft.room, *found.span(group))
    return True


def _way_to(draft: Scene, found: re.Match[str]) -> bool:
    """Read that a way leads to a place; it is called by the place."""
    name = place_name(found["place"])
    if is_name(name) and not any(word in DIRECTIONS for word in name.split()):
        draft.has_exit(name, *found.span("place"))
        return True
    return False


def read_state(draft: Scene, found: re.Match[str]) -> None:
    """Read ``The fridge is closed``; *it* is the last topic."""
    placed = PLACED.search(found["thing"])
    aside = _AT_OWN.search(found["thing"]) if placed is None else placed
    thing = clean_name(found["thing"][: aside.start() if aside else None])
    name = draft.topic if thing in _PRONOUNS else draft.thing_called(_OWNED.sub("", thing))
    state = found["state"].lower()
    if state[-1].isdigit():
        draft.outdate(name, "is", None)
    if is_name(name) and (head_noun(name) not in INTANGIBLE or draft.graph.knows(name)):
        draft.topic = name
        way = placed["way"].lower() if placed is not None else ""
        if draft.room and is_door(name) and way in DIRECTIONS:
            draft.add(draft.room, door_relation(way), name, *found.span("thing"))
        draft.add(name, "is", STATE_SYNONYMS.get(state, state), *found.span("state"))
        if state == "empty":
            draft.keep_only(name, ())
        if found.groupdict().get("items"):
            put_in(draft, found["items"], found.start("items"), "in", name)


def _clock(draft: Scene, found: re.Match[str]) -> None:
    draft.outdate("time", "is", None)
    draft.add("time", "is", found["state"].lower(), *found.span("state"))


def _carry(draft: Scene, found: re.Match[str], *, whole: bool = False) -> None:
    """Read carried things; a list without *now* or *the* names all of them."""
    things = tuple(find_things(draft, found["items"], found.start("items")))
    if found["items"].startswith(("your ", "my ")):  # one's ground, one's nose
        things = tuple(phrase for phrase in things if head_noun(phrase.name) not in INTANGIBLE)
    held = [draft.carry(phrase) for phrase in things]
    if held and (whole or _WHOLE.match(found.group()) or " nothing " in found.group()):
        draft.keep_only(INVENTORY, held)


def _open_up(draft: Scene, found: re.Match[str]) -> None:
    for way in _COMPASS_POINTS:
        draft.has_exit(way, *found.span("ways"))


def _carry_listed(draft: Scene, found: re.Match[str]) -> bool:
    listed = _INVENTORY.fullmatch(draft.action) is not None
    if listed:
        _carry(draft, found, whole=True)
    return listed


_PRONOUNS = ("it", "they", "this")
_WHOLE = re.compile(rf"{YOU}(?:{ARE}) (?:carrying|holding)(?!:? the\b)|(?:Your|My)")
"""A sentence that lists all that is carried."""
_Read = Callable[[Scene, "re.Match[str]"], bool | None]
"""Facts of a form; False if the sentence has it by chance, so that another one is tried."""
Match = tuple["re.Match[str]", _Read]
_Form = tuple[re.Pattern[str], _Read, frozenset[str]]
_UNGATED: frozenset[str] = frozenset()
"""Of a form that needs no special word."""
_WAYS = frozenset(DIRECTIONS)
_SEEING = frozenset(("there", "there's", "here", "you", "i", "we", "in", "nearby", "around"))
_SUBJECTS = frozenset(("you", "i", "we", "you're", "i'm", "your", "my", "you've"))
_PLACED = frozenset(letter_words(POSED + ON_IN)) | {"inside", "underneath"}
_COMPASS_POINTS = ("north", "south", "east", "west")
_ALL = frozenset(
    ("there", "you", "exits", "paths", "passages", "doors", "roads", "tunnels", "corridors")
)
_NEAR = frozenset(letter_words(BY + POSED)) | {"half", "hidden"}
_WITHIN = frozenset(("in", "inside", "on", "under", "underneath", "upon", "from"))
_HAVING = frozenset(("contain", "contains", "hold", "holds", "has"))
_STATING = frozenset(
    ("is", "are", "seem", "seems", "appear", "appears", "s", "open", "ajar", "shut", "closed")
)
_FROM = frozenset(("from", "view", "here"))
_AWAY = (_WAYS - {"in"}) | {"off", "away", "back"}
_Openings = frozenset[str] | Literal["general", "name"]
"""First words of a form: some words, any article or pronoun, or a word that may be a name."""
_FORMS: tuple[tuple[_Openings, _Form], ...] = (
    (frozenset(("to", "through")), (_TO_THE, _way, _WAYS)),
    (frozenset(DIRECTIONS), (_OF_YOU, _way, frozenset(("you", "me")))),
    (frozenset(("there", "you")), (_DOORWAY, _way, _WAYS)),
    (frozenset(("you", "follow", "take")), (_WAY_TO, _way_to, frozenset(("follow", "take")))),
    (_ALL, (_ALL_WAYS, _open_up, frozenset(("four",)))),
    (_SUBJECTS, (_FOUND, read_state, frozenset(("find", "found")))),
    (_SEEING, (_SEEN, _see, _UNGATED)),
    (frozenset(("inside", "in", "on")), (_INSIDE, _inside, frozenset(("inside", "it")))),
    ("general", (_INSIDE, _inside, frozenset(("inside",)))),
    ("general", (_AROUND, _see, frozenset(("around", "about")))),
    (_PLACED, (_HOLDS, _hold, _UNGATED)),
    (_NEAR, (_POSED_BY, _posed, _UNGATED)),
    (_NEAR, (_DOES_BY, _posed, _UNGATED)),
    (_NEAR | {"ahead"}, (_BY_YOU, _posed, frozenset(("you", "me")))),
    (_SUBJECTS, (CARRYING, _carry, _UNGATED)),
    (_SUBJECTS, (HAVING, _carry_listed, _UNGATED)),
    (_SUBJECTS, (YOU_OPEN, read_opening, _UNGATED)),
    ("general", (SEARCH_FINDS, read_search, frozenset(("you", "i", "we")))),
    ("general", (OPENS, read_opening, frozenset(("open", "opens", "reveals")))),
    (_SUBJECTS, (REVEALS, read_revealed, REVEALING)),
    (_SUBJECTS, (_UNTIL, read_state, frozenset(("until", "so")))),
    ("general", (REVEALS, read_revealed, REVEALING)),
    (frozenset(("it", "it's")), (_CLOCK, _clock, _UNGATED)),
    (frozenset(("it", "this", "you", "i", "we")), (_ROOM_WITH, _room_with, frozenset(("with",)))),
    ("general", (_STEPS_AWAY, _away, frozenset(("step", "steps")))),
    ("general", (BUSY, busy, BUSY_WORDS)),
    ("general", (IS, read_state, _STATING)),
    ("general", (_POSED_HERE, _posed, HERE_WORDS)),
    ("general", (BEARS, bear, IN_HAND)),
    ("general", (_HAS_ON, _hold, frozenset(("it", "them")))),
    ("general", (_CONTAINS, _hold, _HAVING)),
    (PEOPLE, (OWNS, _hold, _HAVING | {"have"})),
    ("name", (BEARS, bear, IN_HAND)),
    ("name", (CALLED_HERE, called_here, HERE_WORDS)),
    ("general", (_WHERE, _hold, _WITHIN)),
    ("general", (_DOES_ON, _hold_as_furniture, _WITHIN)),
    ("general", (COMES, come, _FROM)),
    ("name", (COMES, come, _FROM)),
    ("general", (GOES, go, _AWAY)),
    ("name", (GOES, go, _AWAY)),
)
"""Forms of sentences, special ones before general ones, with the words that may begin them.

*General* is an article, *it*, *this* and a verb in *-ing*. A sentence without any of the last
words, if there are some, does not have the form. Both are fast tests for slow patterns: without
them a new text takes a quarter longer.
"""
DOUBTFUL: tuple[_Read, ...] = (read_revealed, _way, _way_to, _hold, _carry_listed, _away, bear)
DOUBTFUL += (called_here, busy, _posed, come, go, _hold_as_furniture, _room_with)
"""Readers that may return False, so that a later form is tried too."""
_AT_OWN = re.compile(
    r" (?:on|in|at|under|by|near|beside) (?:(?:my|his|her|its|their|your) "
    r"|the (?:far|near|other|opposite|back|front|left|right) (?:end|side|wall|corner)\b)"
)
_OWNED = re.compile(r"(?:your|this|that) ")
_GENERAL = re.compile(ARTICLE + r"|it|it's|they|this|that|\w+ing")


@lru_cache(maxsize=512)
def forms_for(first: str) -> tuple[_Form, ...]:
    """Return the forms of sentences that a word may begin."""
    general = _GENERAL.fullmatch(first) is not None
    kinds = {"general": general, "name": not general and first not in _SUBJECTS}
    word = first.rstrip(",")
    return tuple(
        form
        for words, form in _FORMS
        if (kinds[words] if isinstance(words, str) else word in words)
    )
