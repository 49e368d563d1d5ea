"""Forms of sentences that text games share, each with its reader."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from gym_memory.core.text import letter_words
from gym_memory.extract.conditions import (
    BRACKETED_STATE,
    CLOCK,
    FOUND_IN_STATE,
    IN_STATE,
    OF_BARE_NAME,
    OF_IDENTIFIER,
    SCORED,
    UNTIL_IN_STATE,
    read_counter,
    read_identifier,
    read_state,
)
from gym_memory.extract.events import CONDITIONS, events_in
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
    FINDS,
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
from gym_memory.extract.owning import (
    CARRYING,
    HAVING,
    OF_YOURS,
    read_carrying,
    read_having,
    read_yours,
)
from gym_memory.extract.persons import (
    ACTS,
    BEARS,
    BUSY,
    BUSY_WORDS,
    CALLED_HERE,
    COMES,
    GOES,
    IN_HAND,
    OWNS,
    SUBSTANCES,
    add_held,
    read_acting,
    read_arrival,
    read_aside,
    read_bearer,
    read_busy,
    read_departure,
    read_named,
)
from gym_memory.extract.placing import (
    add_contents,
    find_things,
    put_here,
    put_in,
    read_away,
    some_steps_away,
    with_contents,
)
from gym_memory.extract.presence import PRESENCE, read_shown
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import (
    ARTICLE,
    COMPASS,
    LOCATED,
    NAME,
    STATE_SYNONYMS,
    STATE_WORD,
    WITH_ARTICLE,
    items_in,
)
from gym_memory.extract.views import (
    ALL_WAYS,
    DOOR_IN_VIEW,
    DOOR_LIES,
    EXITS_TO,
    VIEW_OF_YOU,
    VIEW_TO_THE,
    WAY_TO,
    read_all_ways,
    read_door,
    read_exits_to,
    read_view,
    read_way_to,
)
from gym_memory.extract.ways import BARRED, WAYS, is_passable
from gym_memory.extract.wording import (
    ARE,
    BE,
    BY,
    CLOSE,
    ENDS_OF_HERE,
    HERE,
    HERE_WORDS,
    LEADS,
    LETTER,
    LIE,
    ON_IN,
    POSED,
    SEE,
    STOP,
    THINGS,
    YOU,
    either,
    phrases,
)
from gym_memory.graph.schema import DIRECTIONS, clean_name, head_noun

__all__ = ["DOUBTFUL", "FormMatch", "forms_for"]

_ASIDE = r"(?:, (?:half-)?[a-z]+(?:ed|en|ing)\b[^,]{0,40}(?=,))?"
_SEEN = re.compile(
    r"(?:(?:[Ii]n (?:one|another|the other) (?:part|side|corner) of the room|[Nn]earby"
    r"|[Ii]n front of (?:you|me)|[Aa]round you),? )?"
    rf"(?:(?:[Yy]ou|I|[Ww]e) (?:can )?(?:also |just )?{SEE}(?: here)?"
    rf"|[Hh]ere (?:you|I) (?:see|find)|[Tt]here(?: is| are|'s)(?: also)?"
    rf"|[Aa]round (?:you|me) (?:is|are)) "
    rf"(?P<things>{THINGS}){STOP}"
)
_SEEN_AROUND = re.compile(
    r"[A-Z]\w+ing(?: \w+)? (?:around|about)(?: (?:you|me|the \w+))?, (?:you|I|we) (?:can )?"
    rf"{SEE} (?P<things>{THINGS}){STOP}"
)
"""Things in view: *looking around, you notice a chest*."""
_INDEFINITE = re.compile(r"There (?:is|are) (?:an?|some) ")
"""Introduction of things, after which *and the room* begins another clause."""
_OPENNESS = "open|ajar|closed|shut|empty"
_POSED_HERE = re.compile(
    rf"(?P<items>{ARTICLE} {THINGS}) "
    rf"(?:{BE}(?: {POSED}| \w+ed (?:to|on|onto|against) {ARTICLE} \w+"
    r"|(?: \w+ed(?: up)?)(?= against\b))?"
    rf"|{LIE}(?: \w+(?:ed|ly))?)(?: (?P<state>{_OPENNESS}))?(?: now)? "
    rf"(?:{HERE}\b(?P<aside>"
    r"(?:,(?! and (?!so\b))| (?=\w+ing\b|(?:along|together) with\b|as well as\b"
    r"|with \w+ \w+(?:ed|ing)\b|(?:at|in|on) \w+[.!]*$))[^.!?]*)?"
    rf"|{BY} (?:it\b|(?:{ARTICLE}|his|her|its|their) {NAME})"
    rf"(?:, (?:\w+ing|its|his|her|their|on which|in which|where)\b[^.!?]*)?){STOP}"
)
_FILLS = re.compile(
    rf"(?P<items>[Aa]n? (?:(?! and ){LETTER})+?) {either('filling')}(?: up)? "
    r"(?:(?:most|much|almost all|one half|half) of |almost |nearly )?"
    r"(?:the|this|one|an? (?:entire|whole)) (?:[\w'-]+ ){0,2}"
    rf"(?:room|half|corner|walls?|cent(?:er|re)|middle|space|area|end|floor|chamber|place)\b"
    rf"[^.!?;:]*{STOP}"
)
"""A large thing here: *a desk dominates the room*."""
_BROUGHT = re.compile(
    rf"(?P<items>[Aa]n? (?:(?! and ){LETTER})+?) (?:has|have) been \w+(?:ed|en|ung|id|t) "
    rf"(?:up|across|over|against|along|around|to|onto) {ARTICLE} {NAME}{STOP}"
)
"""A thing that was brought here: *a boat has been dragged up the beach*."""
_IN_VIEW = re.compile(
    rf"(?P<items>[Aa]n? (?:(?! and ){LETTER})+?) (?:is|are) (?:now )?"
    rf"(?:revealed|exposed|uncovered|visible)\b(?! (?:to|from|only|through|in the distance))"
    rf"[^.!?]*{STOP}"
)
"""A thing that comes to light: *a door is revealed at the foot of the stair*."""
_BESIDE_IT = re.compile(rf"{BY} (?:it|them),? (?P<items>{ARTICLE} {THINGS}){STOP}", re.IGNORECASE)
"""A thing in a clause without a verb: *and beside it a trunk*."""
_POSED_BY = re.compile(
    rf"(?:(?:[Hh]alf[- ])?[Hh]idden |{POSED} )?{BY} "
    rf"(?:{ARTICLE} (?:(?! you ){LETTER})+?|it|them){_ASIDE},? "
    rf"(?:{LIE}|{BE}|there (?:is|are)|(?:you|I) (?:can )?{SEE}) "
    rf"(?P<items>{ARTICLE} (?:(?! you )[^.!?:;\n])+?)(?: who(?:m|se)? .*)?{STOP}",
    re.IGNORECASE,
)
_BY_YOU = re.compile(
    rf"(?:(?:[Nn]ext to|[Bb]eside|[Bb]ehind|[Nn]ear|[Aa]head of|[Oo]pposite|(?i:before)) (?:you|me)"
    rf"|[Nn]earby),? "
    rf"(?:{LIE}|{BE}) (?P<items>(?:an?|one) {THINGS}){STOP}"
)
_ACTIVE_BY = re.compile(
    rf"{BY} (?:the|one|a) {NAME},? (?P<items>an? (?:[\w'-]+ ){{1,3}}?"
    rf"(?:(?:named|called) [\w'-]+ )?)(?!{LEADS})"
    rf"(?=[a-z]+(?:s|ed)\b).*{STOP}",
    re.IGNORECASE,
)
"""A thing that acts beside another: *by the window a clock ticks softly*."""
_THING_FIRST = re.compile(
    rf"(?P<items>{ARTICLE} {THINGS}) (?:{BE}(?: now)?(?: {POSED}(?: \w+ly| out)?)?"
    rf"|{LIE}(?: (?P<state>{_OPENNESS})| \w+(?:ed|en))?) "
    rf"(?P<where>{ON_IN}|(?:(?<=hangs )|(?<=hung )|(?<=hanging ))from|(?<=ed )to) (?P<place>{NAME})"
    rf"(?:, (?:half|almost|nearly|still|only|quite|very|one|two|all|both|some"
    rf"|each)\b[^,.!?]*)?{STOP}"
)
_ACTIVE_ON = re.compile(
    rf"(?P<items>[Aa]n? (?:[\w'-]+ ){{1,3}}?)(?!{LEADS})[a-z]+(?:s|ed)(?: \w+ly)? "
    rf"(?P<where>{ON_IN}) (?P<place>{ARTICLE} {NAME})(?:,(?! and| but| while)[^.!?]*)?{STOP}"
)
"""A thing that acts in or on another: *a clock ticks on the mantel*."""
_WAY_WITH_DIRECTION = re.compile(rf"\b(?:{WAYS}) (?:{COMPASS}|up|down)\b")
_PLACE_FIRST = re.compile(
    rf"(?:{POSED} )?(?P<where>{ON_IN}|(?<=ing )from|(?<=ed )to) (?P<place>{ARTICLE} {NAME}),? "
    rf"(?:is|are|there (?:is|are)|(?:you|I) (?:can )?(?:also )?{SEE}|{LIE}) "
    rf"(?P<items>{THINGS}){STOP}",
    re.IGNORECASE,
)
_INSIDE = re.compile(
    rf"(?:[Ii]nside|(?P<where>[Ii]n|[Ii]nside|[Oo]n) it){_ASIDE},? "
    rf"(?:(?:is|are|{LIE}|there(?: is| are|'s))|(?:you|I) (?:can )?{SEE}) (?P<items>{THINGS}){STOP}"
    rf"|(?P<shown>{ARTICLE} {THINGS}) (?:is|are|lies?) inside(?: it)?{STOP}"
)
_CONTAINS = re.compile(
    rf"(?P<place>{ARTICLE} {NAME}|It) (?:contain(?:s|ed)?|holds?|held|(?P<has>has)) "
    rf"(?P<items>{THINGS}){STOP}"
)
_ROOM_WITH = re.compile(
    rf"(?:(?:[Ii]t|[Tt]his) is|{YOU}{ARE} in) (?:an?|the) (?:[\w'-]+ ){{0,3}}?(?P<room>\w+) with "
    rf"(?P<items>an? {THINGS}){STOP}"
)
"""Things in a room: *it is a small room with a bed and a stove*."""
_HAS_ON = re.compile(
    rf"(?P<place>{ARTICLE} {NAME}|It) has (?P<items>{THINGS}) "
    rf"(?:{POSED} )?(?P<where>on|in|inside|under|(?<=ed )to) (?:it|them)"
    rf"(?: (?:that (?:says|reads)|saying|reading|stating)\b.*)?{STOP}"
)
_COMMA_NAME = re.compile(r"(?<!\w)(?!and | |, )(?:(?!,? and |, ).)+")
_BARE_ITEM = (
    r"[\w'-]+(?<!ed)(?<!ing)(?: (?!and\b|of\b)[\w'-]+){0,2}(?: \([a-z ]+\)| (?:on|in) the \w+)?"
)
_BARE_LIST = re.compile(rf"{_BARE_ITEM}(?:, {_BARE_ITEM})+(?:,? and {_BARE_ITEM})?")
"""Several things without articles: *couch, piano (closed), and door A*."""
_HERE_AT_END = re.compile(rf"(?:,? (?:{POSED} )?{HERE})+$")
_NAMED = re.compile(rf"(?:{ARTICLE}|(?:[Ii]t|my|his|her|their|this|that|each|every)\b)|.*[A-Z0-9]")
"""Words that surely name a thing; others, as in *on fire*, must name a known one."""
_OWNER = re.compile(r"\b(?:his|her|its|their) ")
_INVERTED = re.compile(
    rf"(?:{POSED} (?:about|around|nearby|here|there)|Here|All around(?: you)?) "
    rf"(?:is|are|{LIE}) (?P<items>{ARTICLE} {THINGS}){STOP}",
    re.IGNORECASE,
)
"""Things after a verb of place: *scattered about are a shoe and a hat*, *here stands a well*."""
_STEPS_AWAY = re.compile(rf"{ARTICLE} .+? steps? .+")


def _read_seen(draft: Scene, found: re.Match[str]) -> None:
    """Read things in view: here, in a named place, or some steps away."""
    text, start = found["things"], found.start("things")
    if draft.direction and not draft.arrived and BARRED.search(text):
        return  # there is a wall that way
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
    bare, items = _seen_items(text, is_sight=found.group()[:5] not in ("There", "there"))
    if bare and text.endswith(ENDS_OF_HERE) and found.group()[:3] != "The":
        draft.is_listed = True
    for begin, item, place in items:
        if place is None:
            if not read_away(draft, item, start + begin):
                put_here(draft, item, start + begin, bare=bare)
        else:
            holder = clean_name(_OWNER.sub("", place["place"].partition(" and ")[0]))
            holder = draft.topic if holder == "it" else holder
            put_in(draft, place["things"], start + begin, place["where"], holder, bare=bare)


@lru_cache(maxsize=4096)
def _seen_items(
    text: str, *, is_sight: bool = False
) -> tuple[bool, tuple[tuple[int, str, re.Match[str] | None], ...]]:
    """Return whether a text lists things *here*, and its items without the ways.

    An item is its start, its text and the match of its place, if it names one.
    """
    bare = _without_here(text)
    is_bare = bare != text
    is_list = (is_bare and "(" not in bare) or (
        ", " in bare and (is_sight or " and " in bare) and _BARE_LIST.fullmatch(bare) is not None
    )
    if is_list and not WITH_ARTICLE.match(bare):  # without articles, every comma divides
        return True, tuple(
            (name.start(), name.group(), LOCATED.fullmatch(name.group()))
            for name in _COMMA_NAME.finditer(bare)
            if name.group() not in DIRECTIONS and not _is_way(name.group())
        )
    located = None if is_bare else LOCATED.fullmatch(bare)
    undivided = "(" in bare or (
        located is not None
        and " and " not in located["place"]
        and not (located["place"] == "it" and " and a" in bare)
        and LOCATED.fullmatch(located["things"].partition(", and ")[0]) is None
        and not (" with " in located["things"] and " and " in located["things"])
    )
    items = []
    for begin, item in [(0, bare)] if undivided else items_in(bare):
        place = LOCATED.fullmatch(item)
        if place is not None or is_door(item) or some_steps_away(item) or not _is_way(item):
            items.append((begin, item, place))
    return is_bare, tuple(items)


def _is_way(item: str) -> bool:
    """True if an item in view is a way: *a passage to the north*."""
    return is_passable(item) and (
        _WAY_WITH_DIRECTION.search(item) is not None or PLACED.search(item) is not None
    )


def _without_here(text: str) -> str:
    return _HERE_AT_END.sub("", text) if text.endswith(ENDS_OF_HERE) else text


def _read_posed(draft: Scene, found: re.Match[str]) -> bool:
    if events_in(found["items"]):  # the door swings open and a woman stands there
        return False
    if found.re is _POSED_BY and kind_of_noun(clean_name(found["items"])) == ROOM:
        return False  # to your left is a kitchen
    if found.re is _FILLS and head_noun(clean_name(found["items"])) in SUBSTANCES:
        return False
    put_here(draft, found["items"], found.start("items"))
    _add_openness(draft, found)
    read_aside(draft, found)
    return True


def _add_openness(draft: Scene, found: re.Match[str]) -> None:
    """Add the state in *a chest sits open in the corner*."""
    state = found.groupdict().get("state")
    if state:
        draft.add(draft.topic, "is", STATE_SYNONYMS.get(state, state), *found.span("state"))


def _read_holding(draft: Scene, found: re.Match[str]) -> bool:
    """Read ``On the table is a lamp``, ``A lamp is on the table``, ``The box contains a coin``."""
    groups, place = found.groupdict(), clean_name(_OWNER.sub("", found["place"]))
    plural = place.endswith("s") and place not in CONDITIONS
    if not (
        plural or _NAMED.match(found["place"]) or draft.graph.knows(place) or names_person(place)
    ):
        return False  # such as: in good condition
    place = (draft.topic or draft.room) if place == "it" else meant(draft, place)
    if "where" not in groups and names_person(place):
        return add_held(draft, found["items"], found.start("items"), place)
    if groups.get("has"):  # a thing *has* parts, a room has things
        return place == draft.room and _read_posed(draft, found)
    on = " hold" in found.group() and kind_of_noun(place) == SUPPORTER
    where = groups.get("where") or ("on" if on else None)
    where = "on" if where == "to" else where  # nailed to the wall
    plural = found.group().endswith("are ", 0, found.start("items") - found.start())
    put_in(draft, found["items"], found.start("items"), where, place, bare=plural)
    _add_openness(draft, found)
    return True


def _read_active(draft: Scene, found: re.Match[str]) -> bool:
    """Read a thing that acts in or on furniture or a known thing."""
    place = clean_name(found["place"])
    known = kind_of_noun(place) in (CONTAINER, SUPPORTER) or draft.graph.knows(meant(draft, place))
    return known and _read_holding(draft, found)


def _read_room(draft: Scene, found: re.Match[str]) -> bool:
    """Read the things in a room that a sentence describes."""
    if kind_of_noun(found["room"]) != ROOM:
        return False
    for begin, item, place in _seen_items(found["items"])[1]:
        if place is None:
            put_here(draft, item, found.start("items") + begin)
    return True


def _read_away(draft: Scene, found: re.Match[str]) -> bool:
    return read_away(draft, found.group(), found.start())


def _read_inside(draft: Scene, found: re.Match[str]) -> None:
    """Read ``Inside, you find a key``, in the thing named last."""
    if draft.topic:
        where, items = (found["where"] or "in").lower(), "shown" if found["shown"] else "items"
        put_in(draft, found[items], found.start(items), where, draft.topic)


_Read = Callable[[Scene, "re.Match[str]"], bool | None]
"""Reader of a match; it returns False if the sentence fits by chance, so another is tried."""
FormMatch = tuple["re.Match[str]", _Read]
_Form = tuple[re.Pattern[str], _Read, frozenset[str]]
_NO_REQUIRED: frozenset[str] = frozenset()
"""Required words of a form that has none."""
_DIRECTION_WORDS = frozenset(DIRECTIONS)
_SEEING_WORDS = frozenset(("here", "you", "i", "we", "in", "nearby", "around"))
_SEE_WORDS = frozenset(letter_words(SEE, least=3)) | {"is", "are", "s"}
_SUBJECTS = frozenset(("you", "i", "we", "you're", "i'm", "your", "my", "you've"))
_PLACE_WORDS = frozenset(letter_words(POSED + ON_IN)) | {"inside", "underneath"}
_ALL_WAYS_WORDS = frozenset(
    ("there", "you", "exits", "paths", "passages", "doors", "roads", "tunnels", "corridors")
)
_CARRYING_WORDS = frozenset(phrases("carrying"))
_AT_SIDE = frozenset(("on", "in", "to"))
_SIDES = frozenset(("corner", "side", "end", "middle", "left", "right", "rear", "front"))
_NEAR_WORDS = frozenset(phrase.split()[0] for phrase in (*CLOSE, *phrases("posed"), "half"))
_NEAR_WORDS -= _AT_SIDE
_WITHIN_WORDS = frozenset(("to", "in", "inside", "on", "under", "underneath", "upon", "from"))
_HAVING_WORDS = frozenset(("contain", "contains", "contained", "hold", "holds", "held", "has"))
_STATE_WORDS = frozenset(
    letter_words("is are look looks seem seems appear appears s open ajar shut closed")
)
_COMING_WORDS = frozenset(("from", "view", "here", "in"))
_GOING_WORDS = (_DIRECTION_WORDS - {"in"}) | {"off", "away", "back"}
_BRACKETED_STATES = frozenset(letter_words(STATE_WORD))
_VIEW_WORDS = frozenset(("revealed", "exposed", "uncovered", "visible"))
_INVERTING = frozenset(phrase.split()[0] for phrase in phrases("posed")) | {"here", "all"}
_INVERTED_WORDS = frozenset(("about", "around", "nearby", "here", "there"))
_FirstWords = frozenset[str] | Literal["general", "name", "identifier"]
"""First words of a form: given ones, any general word, or any word that may be a name."""
_FORMS: tuple[tuple[_FirstWords, re.Pattern[str], _Read, frozenset[str]], ...] = (
    (frozenset(("to", "through")), VIEW_TO_THE, read_view, _DIRECTION_WORDS),
    (frozenset(DIRECTIONS), VIEW_OF_YOU, read_view, frozenset(("you", "me"))),
    (frozenset(("there", "you")), DOOR_IN_VIEW, read_view, _DIRECTION_WORDS),
    (frozenset(("you", "follow", "take")), WAY_TO, read_way_to, frozenset(("follow", "take"))),
    (_ALL_WAYS_WORDS, ALL_WAYS, read_all_ways, frozenset(("four",))),
    (_SUBJECTS, FOUND_IN_STATE, read_state, frozenset(("find", "found"))),
    (frozenset(("there",)), EXITS_TO, read_exits_to, frozenset(("exit", "exits"))),
    (frozenset(("there", "there's")), _SEEN, _read_seen, _NO_REQUIRED),
    (_SEEING_WORDS, _SEEN, _read_seen, _SEE_WORDS),
    (frozenset(("inside", "in", "on")), _INSIDE, _read_inside, frozenset(("inside", "it"))),
    ("general", _INSIDE, _read_inside, frozenset(("inside",))),
    ("general", _SEEN_AROUND, _read_seen, frozenset(("around", "about"))),
    (_PLACE_WORDS, _PLACE_FIRST, _read_holding, _NO_REQUIRED),
    (_NEAR_WORDS, _POSED_BY, _read_posed, _NO_REQUIRED),
    (_NEAR_WORDS, _ACTIVE_BY, _read_posed, _NO_REQUIRED),
    (_AT_SIDE, _POSED_BY, _read_posed, _SIDES),
    (_AT_SIDE, _ACTIVE_BY, _read_posed, _SIDES),
    (
        _NEAR_WORDS | {"ahead", "nearby", "opposite", "before"},
        _BY_YOU,
        _read_posed,
        frozenset(("you", "me", "nearby")),
    ),
    (_SUBJECTS, CARRYING, read_carrying, _CARRYING_WORDS),
    (_SUBJECTS, HAVING, read_having, frozenset(("have", "ve"))),
    (_SUBJECTS, YOU_OPEN, read_opening, frozenset(("revealing",))),
    (_SUBJECTS, FINDS, read_search, frozenset(("find", "discover", "uncover", "unearth"))),
    ("general", SEARCH_FINDS, read_search, frozenset(("you", "i", "we"))),
    ("general", OPENS, read_opening, frozenset(("open", "opens", "reveals"))),
    (_SUBJECTS, REVEALS, read_revealed, REVEALING),
    (_SUBJECTS, UNTIL_IN_STATE, read_state, frozenset(("until", "so"))),
    ("general", REVEALS, read_revealed, REVEALING),
    ("identifier", OF_IDENTIFIER, read_identifier, _STATE_WORDS),
    ("name", OF_BARE_NAME, read_identifier, _STATE_WORDS),
    (frozenset(("it", "it's")), CLOCK, read_counter, _NO_REQUIRED),
    (
        frozenset(("you", "you've", "your", "in")),
        SCORED,
        read_counter,
        frozenset(("score", "scored", "total", "points")),
    ),
    (frozenset(("it", "this", "you", "i", "we")), _ROOM_WITH, _read_room, frozenset(("with",))),
    ("general", _STEPS_AWAY, _read_away, frozenset(("step", "steps"))),
    ("general", BUSY, read_busy, BUSY_WORDS),
    (_INVERTING, _INVERTED, _read_posed, _INVERTED_WORDS),
    (frozenset(("the",)), BRACKETED_STATE, read_state, _BRACKETED_STATES),
    ("general", OF_YOURS, read_yours, frozenset(("yours",))),
    ("general", IN_STATE, read_state, _STATE_WORDS),
    ("general", DOOR_LIES, read_door, _DIRECTION_WORDS),
    ("general", _POSED_HERE, _read_posed, HERE_WORDS),
    ("general", _FILLS, _read_posed, frozenset(phrases("filling"))),
    (frozenset(("a", "an")), _BROUGHT, _read_posed, frozenset(("been",))),
    (
        frozenset(("a", "an")),
        _IN_VIEW,
        _read_posed,
        _VIEW_WORDS,
    ),
    (_NEAR_WORDS, _BESIDE_IT, _read_posed, frozenset(("it", "them"))),
    ("general", BEARS, read_bearer, IN_HAND),
    ("general", _HAS_ON, _read_holding, frozenset(("it", "them"))),
    ("general", _CONTAINS, _read_holding, _HAVING_WORDS),
    (PEOPLE, OWNS, _read_holding, _HAVING_WORDS | {"have"}),
    ("name", BEARS, read_bearer, IN_HAND),
    ("name", BUSY, read_busy, BUSY_WORDS),
    ("name", CALLED_HERE, read_named, HERE_WORDS),
    ("general", _THING_FIRST, _read_holding, _WITHIN_WORDS),
    ("general", _ACTIVE_ON, _read_active, _WITHIN_WORDS),
    ("general", COMES, read_arrival, _COMING_WORDS),
    ("name", COMES, read_arrival, _COMING_WORDS),
    ("general", GOES, read_departure, _GOING_WORDS),
    ("name", GOES, read_departure, _GOING_WORDS),
    (frozenset(("a", "an")), ACTS, read_acting, _NO_REQUIRED),
    *(
        (first, pattern, read_shown, required)
        for pattern, required, firsts in PRESENCE
        for first in firsts
    ),
)
"""Forms of sentences, special before general: first words, pattern, reader and required words.

A general first word is an article, *it*, *this* or a verb in *-ing*. A sentence must have one of
the required words, if a form has any. Both are fast tests before slow patterns: without them a new
text takes a quarter longer.
"""
DOUBTFUL: tuple[_Read, ...] = (
    read_identifier, read_door, read_exits_to, read_view, read_way_to, _read_holding,
    read_having, _read_away, _read_posed, _read_active, _read_room, read_revealed,
    read_bearer, read_named, read_acting,
    read_busy, read_arrival, read_departure, read_shown,
)  # fmt: skip
"""Readers that may return False, after which a later form is tried."""
_GENERAL_WORD = re.compile(ARTICLE + r"|(?:it|they|this|that)(?:'s|'re)?|\w+ing")
_SPECIAL_WORDS = frozenset[str]().union(*(row[0] for row in _FORMS if not isinstance(row[0], str)))
"""Words that may begin a form by themselves."""


@lru_cache(maxsize=512)
def forms_for(first: str) -> tuple[_Form, ...]:
    """Return the forms that may begin with a word."""
    general = _GENERAL_WORD.fullmatch(first) is not None
    kind = "general" if general else "" if first in _SUBJECTS else "name"
    if general and first.endswith("ing"):  # Wandering Minstrel
        return _forms_of(first if first in _SPECIAL_WORDS else "", ("general", "name"))
    kinds = (kind, "identifier") if first[-1:].isdigit() and first[0].isalpha() else (kind,)
    word = first.rstrip(",")
    return _forms_of(word if word in _SPECIAL_WORDS else "", kinds)


@lru_cache(maxsize=512)
def _forms_of(word: str, kinds: tuple[str, ...]) -> tuple[_Form, ...]:
    """Return the forms that may begin with a special word, or with any word of some kinds."""
    return tuple(
        row[1:]
        for row in _FORMS
        if (row[0] in kinds if isinstance(row[0], str) else word in row[0])
    )
