"""Sentences about persons: who is here by name or by what they do, and what they have in hand."""

from __future__ import annotations

import re

from gym_memory.core.text import letter_words
from gym_memory.extract.effects import remove
from gym_memory.extract.events import INTANGIBLE
from gym_memory.extract.known import meant
from gym_memory.extract.notes.words import Phrase, kind_of_noun, names_person
from gym_memory.extract.places import PASSABLE
from gym_memory.extract.placing import find_things
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import ARTICLE, NAME, WITH_ARTICLE, is_name
from gym_memory.extract.wording import BE, BY, HERE, LEADS, POSED, STOP, THINGS
from gym_memory.graph.schema import DIRECTIONS, clean_name, head_noun

__all__ = ["BEARS", "BUSY", "BUSY_WORDS", "CALLED_HERE", "IN_HAND", "OWNS", "bear", "busy"]
__all__ += ["COMES", "GOES", "called_here", "come", "go", "own", "read_aside"]

_NO_NAMES = (
    r"(?:A|An|The|It|He|She|They|We|You|I|This|That|These|Those|There|Here|Nothing|Nobody|No|None|One"
    r"|Two|Three|Every\w*|Some\w*|Any\w*|All|Both|Each|Another|Other|Others|Many|Much|Most|Several|Few"
    r"|Who|What|Which|Where|When|Your|My|His|Her|Its|Their|Our|And|But|Now|Then|In|On|At|Not|Only)\b"
)
_CALLED = rf"(?!{_NO_NAMES})(?:(?:Mr|Mrs|Ms|Dr|St)\. )?[A-Z][\w'-]+"
_CALLED += r"(?: (?:(?:of|the|de|van) )?[A-Z][\w'-]+){0,3}(?: the [a-z]+)?"
"""A name of its own, without an article: *Miss Marsh*."""
CALLED_HERE = re.compile(
    rf"(?P<names>{_CALLED}(?:(?:, {_CALLED})*,? and {_CALLED})?) "
    rf"(?:{BE}(?: \w+ing)?(?: {POSED})?|(?:stand|sit|wait|sleep|lean|kneel)s?|stood|sat|knelt)"
    rf"(?: now)? (?:{HERE}\b(?P<aside>,(?! and\b)[^.!?]*)?"
    rf"|{BY} (?:{ARTICLE}|his|her|its|their) {NAME}){STOP}"
)
BUSY = re.compile(
    rf"(?P<people>(?i:an?|some|two|three|several|\d+) {THINGS}) "
    r"(?:(?:is|are|sits?|sat|stands?|stood|lies|lay|kneels?|knelt) (?:\w+ly )?(?!com|go|leav|miss"
    r"|approach|noth|any|every|some)\w{2,}ing\b"
    rf"|(?:stands?|keeps?) (?:guard|watch)\b|(?:guard|watch|block)s? (?:{ARTICLE}|your) ).*{STOP}"
)
"""People who are here, as they do something: *two guards are playing dice*."""
_WHENCE = rf"(?:the )?(?:{'|'.join(DIRECTIONS)}|above|below|outside)"
COMES = re.compile(
    rf"(?P<who>{_CALLED}|{ARTICLE} {NAME}) \w+(?:s|ed) (?:(?:in|up|over|down|back) )+from {_WHENCE}"
    rf"{STOP}|(?P<new>An? (?:[\w'-]+ ){{0,2}}?[\w'-]+) (?!leads?|hangs)\w+(?:s|ed)"
    rf" (?:(?:\w+ )?from (?:behind |under |beneath |among )?(?:the|an?|some) {NAME}|into view"
    rf"|(?:[\w'-]+ ){{0,5}}here){STOP}"
)
"""A person who comes in any way: *Old Tom hobbles in from the south*; or a new thing."""
GOES = re.compile(
    rf"(?P<who>{_CALLED}|{ARTICLE} {NAME}) (?!{LEADS})\w+(?:s|ed)"
    rf" (?P<away>(?:off|away|out|back)\b)?(?: ?(?:to|towards?)(?: the)? )? ?"
    rf"(?P<way>{'|'.join(DIRECTIONS)})?{STOP}"
)
"""A person who goes away in any way: *Old Tom hobbles off*."""
_STUFF = frozenset(
    ("water", "light", "daylight", "smoke", "steam", "mist", "dust", "rain", "snow", "sand", "lava")
)
_AND = re.compile(r",? and |, ")
OWNS = re.compile(rf"(?P<place>[\w-]+) (?:has|have|holds?) (?P<items>{ARTICLE} {THINGS}){STOP}")
"""A person without an article: *innkeeper has a key*."""
BEARS = re.compile(
    rf"(?P<place>{_CALLED}|{ARTICLE} {NAME}) (?P<how>has|holds|carries|wears|wields"
    rf"|(?:is|are)(?: \w+ly)?(?: now)? (?:holding|carrying|wearing|wielding)) "
    rf"(?P<items>{ARTICLE} {THINGS}){STOP}"
)
"""A person by name, or one with a thing in hand: *Bob is holding a lamp*."""
_HELD = re.compile(
    rf",? (?:carrying|holding|wearing|clutching|gripping|wielding) (?P<items>{ARTICLE} .+)"
)
_ON_PERSON = re.compile(r" (?:on|in|at|around|over|under) (?:his|her|its|their) .*")
IN_HAND = frozenset(
    letter_words("holding carrying wearing wielding has holds carries wears wields")
)
BUSY_WORDS = frozenset(
    letter_words(
        "is are sits sat stands stood lies lay kneels knelt guard guards watch watches block blocks"
        " keep keeps"
    )
)


def own(draft: Scene, found: re.Match[str], person: str) -> bool:
    """Read what a person has in hand: no part of a body, no thought and no relative."""
    _take_up(draft, found["items"], found.start("items"), person)
    return True


def _take_up(draft: Scene, items: str, start: int, person: str) -> None:
    for phrase in find_things(draft, _ON_PERSON.sub("", items), start):
        if head_noun(phrase.name) not in INTANGIBLE and not names_person(phrase.name):
            draft.place(phrase, "is carried by", person)


def bear(draft: Scene, found: re.Match[str]) -> bool:
    """Read who holds what: by name, or a person."""
    words = found["place"]
    name = meant(draft, clean_name(words))
    article = WITH_ARTICLE.match(words) is not None
    if (article and not names_person(name)) or head_noun(name) in INTANGIBLE or kind_of_noun(name):
        return False
    return own(draft, found, name)


def called_here(draft: Scene, found: re.Match[str]) -> bool:
    """Read who is here, by name."""
    start, done = found.start("names"), False
    for name in _AND.split(found["names"]):
        at = start + found["names"].index(name)
        if head_noun(clean_name(name)) not in INTANGIBLE:
            draft.put(Phrase(clean_name(name), (), at, at + len(name)))
            draft.topic, done = clean_name(name), True
    if done:
        read_aside(draft, found)
    return done


def come(draft: Scene, found: re.Match[str]) -> bool:
    """Read who comes: a person or a known thing."""
    name, is_actor = _actor(draft, found)
    if is_actor:
        draft.put(Phrase(name, (), *found.span(found.lastgroup or 0)))
        draft.topic = name
    return is_actor


def go(draft: Scene, found: re.Match[str]) -> bool:
    """Read that one who is here goes away."""
    name, is_actor = _actor(draft, found)
    goes = is_actor and (found["away"] or found["way"]) and draft.graph.knows(name)
    if goes:
        remove(draft, name)
    return bool(goes)


def _actor(draft: Scene, found: re.Match[str]) -> tuple[str, bool]:
    new = found.groupdict().get("new")
    name = meant(draft, clean_name(new or found["who"]))
    noun = head_noun(name)
    named = new is not None or not WITH_ARTICLE.match(found["who"])
    named = named and noun not in _STUFF and noun not in INTANGIBLE
    named = named and not (new and PASSABLE.search(noun))
    return name, is_name(name) and (named or names_person(name))


def busy(draft: Scene, found: re.Match[str]) -> bool:
    """Read that people are here who do something."""
    phrases = list(find_things(draft, found["people"], found.start("people")))
    if not phrases or not all(names_person(phrase.name) for phrase in phrases):
        return False
    for phrase in phrases:
        draft.put(phrase)
    return True


def read_aside(draft: Scene, found: re.Match[str]) -> None:
    """Read what one who is here has in hand: *the butler is here, carrying a tray*."""
    aside = found.groupdict().get("aside")
    held = _HELD.match(aside) if aside else None
    if held is not None and draft.topic:
        _take_up(draft, held["items"], found.start("aside") + held.start("items"), draft.topic)
