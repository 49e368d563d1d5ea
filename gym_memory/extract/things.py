"""Names of things and places, and enumerations of things."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from gym_memory.extract.notes.words import Phrase, singular, split_things
from gym_memory.extract.wording import ON_IN, POSED, either
from gym_memory.graph.schema import clean_name

__all__ = ["ARTICLE", "COMPASS", "END_OF", "LOCATED", "NAME", "NOTHING", "SEEMING"]
__all__ += ["STATE_SYNONYMS"]
__all__ += ["STATE_WORD", "VAGUE_END", "WITH_ARTICLE", "has_any", "is_name"]
__all__ += ["is_place_name"]
__all__ += ["items_in", "one_thing", "place_name", "things_in"]

_MAX_NAME_WORDS = 6
_MAX_PLACE_WORDS = 10
_NO_NAMES = ("too", "a", "an", "the")
"""First words of what names nothing; a name has no article."""
NAME = r"[^\s.,;:!?()\[\]\"][^.,;:!?()\[\]\"\n]{0,59}?"
_SEVERAL = (
    r"(?:[Tt](?:wo|hree|en|welve)|[Ff](?:our|ive)|[Ss](?:ix|even|everal)|[Ee](?:ight|leven)|(?i:nine)"
    r"|(?i:various))"
)
ARTICLE = rf"(?:[Aa]n?|[Tt]he|[Ss]ome|[Yy]our|[Oo]ne|{_SEVERAL}|(?i:quite a few)|\d[\w.]*)\b"
LOCATED = re.compile(
    rf"(?P<things>(?:(?!, \w{{3,}}ed ).)+?)(?: {POSED})? (?P<where>{ON_IN}) "
    rf"(?P<place>(?:the|your|my|an?|its|his|her|their) {NAME}|it)(?:, \w+ing\b.*)?$"
)
"""Things and their place: *a mug on the table*."""
WITH_ARTICLE = re.compile(rf"{ARTICLE} ")
STATE_WORD = either("states")
STATE_SYNONYMS = {
    "providing light": "lit", "ajar": "open", "opened": "open", "shut": "closed", "burnt": "burned",
}  # fmt: skip
SEEMING = re.compile(r"what (?:appears?|looks?|seems?) (?:to be|like) ")
_BETWEEN_THINGS = re.compile(
    r"(?:,? and |,? (?:along|together) with |,? as well as |, )"
    r"(?:(?:you(?:'re| are) |are )?(?:wearing|carrying|holding) )?"
    rf"(?={ARTICLE}|[A-Z][a-z]|[a-z]+s, and )(?![^()]{{0,200}}+\))"
)
_COMMA_OR_AND = re.compile(r", (?:and )?| and ")
_ANY_ARTICLE = re.compile(rf"\b{ARTICLE} ")
_OF_PERSON = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)?'s? [a-z]+")
"""A thing of a named person, which needs no article: *Aunt May's hat*."""
_APPOSITION = re.compile(r"(?:an?|the|one) [\w'-]+(?: [\w'-]+)? of |the [^,]+$")
_WITH_ONE = re.compile(r"(?<!,) with an? [\w' -]+$")
_STATE_IN_CLAUSE = re.compile(
    r"(?P<thing>.+?)(?:,? (?:that|which) (?:is|are)(?: currently| now)?(?: turned| switched)?|,) "
    rf"(?P<state>{STATE_WORD})(?: and .*)?,?$"
)
_STATE_IN_BRACKETS = re.compile(
    rf"(?P<thing>[^()]+?) \((?:that is |which is )?(?P<state>{STATE_WORD})"
    rf"(?:(?:,|,? and|,? but) (?P<more>{STATE_WORD}))?\)$"
)
_LEADING_STATE = re.compile(
    rf"(?P<article>{ARTICLE} )?"
    r"(?P<state>open|opened|closed|shut|locked|unlocked|empty|lit|unlit) (?=\w)"
)
_AFTER_PARTICIPLE = (
    r"(?:an?|the|some|any|all|its|his|her|their|your|you|it|with|by|from|to|into|of|over|in|on|at"
    r"|under|along|through|across|around|about|for|against|and|as|up|down|out|off|away|like"
    r"|white|black|red|blue|green|gold|brown|grey)"
)
_REMARK = re.compile(
    r"(?: \((?![^()]*\d\))[^()]*\)| (?:here|nearby)\b.*"
    r"| (?:underneath|beneath|inside|within)(?=$)| (?:whose|who|that|which)(?:'s)? .*"
    r"|, (?:whose|who|that|which)(?:'s)? .*"
    r"| on the (?:floor|ground)| (?:on|over|around|about) (?:your|my) \w+$"
    r"| (?:just |right |directly )?(?:near|besides?|behind|below|beneath|above|against|around|by"
    r"|next to|in front of|opposite|between|amid(?:st)?|among(?:st)?)"
    r" (?:the|an?|your|you|his|her|its|their|it|him|me)\b.*"
    r"| (?:bound|tied|half[- ]\w+|[a-z]{2,}(?!e)[a-z]ed|drawn|driven|written|woven|sewn|torn|hewn"
    r"|strung|slung|sunk|hidden) (?:up )?"
    r"(?:with|in|into|by|from|under|beneath|among|behind|over|on|to|across|around) .*"
    rf"| (?:\w+ly )?{POSED} (?:above|against|among|at|by|from|in|near|on|over|to|under) .*"
    r"| at the (?:front|back|rear)$| as well$| left$| remaining$"
    r"| \w{2,}ing (?:an?|the|some|your|his|her|its|their) .*| (?:reading|saying)$"
    r"| where .*|, (?:\w+ )?where .*| and (?:next to|beside|near|above|below|behind|under) .*"
    r"|, and (?:next to|beside|near|above|below|behind|under) .*"
    r"| (?:once )?[a-z]+ by [A-Z].*| \w+ing (?:over|at|towards?) (?:you|your)\b.*"
    r"| (?:through|across|along) (?:the|an?) .*"
    rf"|, (?:\w+ly )?(?:\w+ing|\w+ed|made|open) (?:{_AFTER_PARTICIPLE}|\w+ly)\b.*"
    r"|, \w+ly \w+(?:ing|ed)|, [^,]*,"
    r"|, (?:both|all|each|none) .*"
    r"| attached|,|, as well as .*| as well as .*|, (?:on|in|to) .*| with .*"
    r"| (?:you|we|they|he|she)(?:'\w+| \w+)\b.*)$"
)
"""Words after the name of a thing.

Each alternative begins with a blank or a comma itself, so that a search skips to those.
"""
_LEADING_ARTICLE = re.compile(rf"^(?:{ARTICLE}) ", re.IGNORECASE)
_IDENTIFIER = re.compile(r"[a-zA-Z]{1,20}\d{1,3}")
"""A name with a number, which needs no article: *ball3*."""
_COUNT = re.compile(
    r"(?:[Aa]n? (?:single|few|couple of|dozen(?: or so)?)|(?i:quite a few)|\d+|[Oo]ne(?! of)"
    rf"|{_SEVERAL}(?=.*(?:s|men|feet|teeth|mice|geese)$)) (?=[^\W\d])"
)
"""A count, which is not part of the name, since it changes while the things stay."""
END_OF = re.compile(r"(?:one|the|an|each|other|the other) (?:end|edge|tip) of (?:the|your|an?) ")
"""Words that name a part of the thing after them."""
_CALLED = re.compile(
    r" (?:named|called) (?P<name>[A-Z][\w'-]+(?: (?:(?:the|of|de) )?[A-Z][\w'-]+)*)"
)
"""Proper name of a person or a thing: *a dwarf named Brunna*."""
_ONE_OF = re.compile(r"(?:one|another) of (?:the|these|those|your|his|her|their) (?=\w)")
_ONE_OF_SEVERAL = re.compile(r"one (?:\w+(?:ed|ing)|with|at|by|on|in|for|to) ", re.IGNORECASE)
"""One of the things that were named before: *one with a view*."""
_THAT_CLAUSE = re.compile(
    r"\bthat (?:an?|the|you|it|he|she|they|someone|there|no|\w+ (?:is|are|was)) "
)
"""Beginning of a clause that reports a rumour or a doubt."""
NOTHING = re.compile(r"(?:nothing|no one|nobody|no|not|none|null|n/a|empty)\b|\W+$", re.IGNORECASE)
_VAGUE_WORDS = (
    *("that", "which", "who", "it", "they", "them", "this", "these", "those", "he", "she", "him"),
    *("her", "i", "we", "you", "way", "ways", "number", "later", "ago", "where", "when"),
)
_BROKEN_ENDS = (" a", " an", " the", " and", " or", " of", " to", " is", " are", " beyond")
"""Ends of a phrase that breaks off, which is no name: *the boat comes to a*."""
_VAGUE_ENDS = (*_VAGUE_WORDS, *_BROKEN_ENDS, "lot")
VAGUE_END = re.compile(
    rf"(?:(?<! )\blot|\b(?:{'|'.join(_VAGUE_WORDS)}))$|(?:{'|'.join(_BROKEN_ENDS)})$"
)
COMPASS = r"(?:north|south)(?:-?(?:east|west))?|east|west"
_ENDS_IN_DIRECTION = re.compile(
    rf"\b(?:to|in|from|leading|going|heading)(?: the)? (?:{COMPASS})\b|\w (?:up|down)(?:wards?)?$"
)
_DIRECTION_PARTS = ("north", "south", "east", "west", " up", " down")
"""Parts for a fast test: every match of :data:`_ENDS_IN_DIRECTION` has one of them."""


@lru_cache(maxsize=4096)
def things_in(text: str, bare: bool) -> tuple[Phrase, ...]:
    """Return the things of an enumeration; those without an article only if ``bare``."""
    found = []
    for begin, item in items_in(text, bare=bare):
        phrase = one_thing(item, bare)
        if phrase is not None:
            name, states, start, end = phrase
            found.append(Phrase(name, states, begin + start, begin + end) if begin else phrase)
    return tuple(found)


def items_in(text: str, *, bare: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the items of an enumeration with their starts.

    If the items may be ``bare`` and none has an article, every comma divides them.
    """
    seeming = SEEMING.match(text) if text.startswith("what ") else None
    begin = seeming.end() if seeming is not None else 0
    several = has_any(text, (",", " and ", " with ", " as well as "))
    between = _BETWEEN_THINGS
    if bare and ", " in text and "(" not in text and not _ANY_ARTICLE.search(text):
        between = _COMMA_OR_AND
    cuts = [*(between.finditer(text) if several else ())]
    if len(cuts) == 1 and _APPOSITION.match(text, cuts[0].end()) and cuts[0][0] == ", ":
        text, cuts = text[: cuts[0].start()], []  # a pit, the work of moles
    if len(cuts) == 1 and _WITH_ONE.search(text, 0, cuts[0].start()):
        cuts = []  # a case with a switch and a key
    for cut in [*cuts, None]:
        yield begin, text[begin : cut.start() if cut else len(text)]
        begin = cut.end() if cut else len(text)


def one_thing(text: str, bare: bool) -> Phrase | None:
    """Return the thing that a text names, with its states; None if the text names none."""
    states: list[str] = []
    end = len(text)
    clause = has_any(text, (" that ", " which ", ")", ", "))
    for pattern in (_STATE_IN_CLAUSE, _STATE_IN_BRACKETS) if clause else ():
        found = pattern.fullmatch(text, 0, end)
        if found is not None:
            more = found.groupdict().get("more")
            states += [state.lower() for state in (found["state"], more) if state]
            end = found.end("thing")
    remark = _REMARK.search(text, 0, end)
    end = remark.start() if remark is not None and remark.start() else end
    article = _LEADING_ARTICLE.match(text)
    bare = bare or _OF_PERSON.match(text) is not None
    if (article is None and not bare and not _IDENTIFIER.fullmatch(text)) or NOTHING.match(text):
        return None
    if ("that " in text and _THAT_CLAUSE.search(text)) or _ONE_OF_SEVERAL.match(text):
        return None
    first = _COUNT.match(text, 0, end) or _LEADING_STATE.match(text, 0, end)
    begin = first.end() if first is not None else 0
    if first is not None and first.lastgroup:
        states.append(first["state"].lower())
    called = _CALLED.search(text, begin, end) if has_any(text, (" named ", " called ")) else None
    begin = called.start("name") if called is not None else begin
    phrases = split_things(text[begin:end], begin)
    if len(phrases) != 1 or not is_name(phrases[0].name) or _ends_in_direction(phrases[0].name):
        return None
    named = phrases[0]
    own = tuple(STATE_SYNONYMS.get(state, state) for state in (*named.states, *states))
    name = clean_name(named.name).removeprefix("your ")
    one_of = _ONE_OF.match(name)
    return Phrase(singular(name[one_of.end() :]) if one_of else name, own, *named[2:])


def _ends_in_direction(name: str) -> bool:
    """True if a name ends with the direction of a way: *a passage to the north*."""
    return has_any(name, _DIRECTION_PARTS) and _ENDS_IN_DIRECTION.search(name) is not None


def has_any(text: str, parts: Iterable[str]) -> bool:
    """True if a text has one of the parts, as a fast test before a slow pattern."""
    return any(map(text.__contains__, parts))


def is_place_name(name: str) -> bool:
    """True if the words can name a place, which may have more words than a thing."""
    return is_name(name, _MAX_PLACE_WORDS)


@lru_cache(maxsize=4096)
def is_name(name: str, most: int = _MAX_NAME_WORDS) -> bool:
    """True if the words can name a thing, of at most so many words."""
    words = name.split()
    if not 0 < len(words) <= most or words[0] in _NO_NAMES:
        return False
    if "]" in name or "}" in name or "{" in name or '"' in name or " is " in name:
        return False
    return not (name.endswith(_VAGUE_ENDS) and VAGUE_END.search(name))


@lru_cache(maxsize=4096)
def place_name(text: str) -> str:
    """Return the name of a place as in facts: in lower case, without articles."""
    *words, last = clean_name(text).split() or [""]
    return " ".join([*[word for word in words if word not in ("a", "an", "the")], last])
