"""Forms of sentences about persons: who is here, comes or goes, and what they hold."""

from __future__ import annotations

import re

from gym_memory.extract.effects import remove
from gym_memory.extract.events import INTANGIBLE, events_in
from gym_memory.extract.known import meant
from gym_memory.extract.notes.words import Phrase, kind_of_noun, names_person
from gym_memory.extract.placing import find_things, put_here
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import (
    ARTICLE,
    NAME,
    STATE_SYNONYMS,
    STATE_WORD,
    WITH_ARTICLE,
    is_name,
)
from gym_memory.extract.ways import is_passable
from gym_memory.extract.wording import BE, BY, HERE, LEADS, POSED, STOP, THINGS, either, phrases
from gym_memory.graph.schema import DIRECTIONS, clean_name, head_noun

__all__ = ["ACTS", "BEARS", "BUSY", "BUSY_WORDS", "CALLED_HERE", "COMES", "GOES", "IN_HAND", "OWNS"]
__all__ += ["PROPER_NAME", "SUBSTANCES", "add_held", "is_elsewhere", "read_acting", "read_arrival"]
__all__ += ["read_aside", "read_bearer", "read_busy", "read_departure", "read_named"]

_NO_PROPER_NAME = rf"{either('no_proper_names')}\b"
"""Capitalised words that begin no proper name: articles, pronouns, quantities."""
PROPER_NAME = rf"(?!{_NO_PROPER_NAME})(?:(?:Mr|Mrs|Ms|Dr|St)\. )?[A-Z][\w'-]+"
PROPER_NAME += r"(?: (?:(?:of|the|de|van) )?[A-Z][\w'-]+){0,3}(?: the [a-z-]+)?"
"""A proper name, which has no article: *Miss Marsh*."""
CALLED_HERE = re.compile(
    rf"(?P<names>{PROPER_NAME}(?:(?:, {PROPER_NAME})*,? and {PROPER_NAME})?) "
    rf"(?:{BE}(?: \w+ing)?(?: {POSED})?|(?:stand|sit|wait|sleep|lean|kneel)s?|stood|sat|knelt)"
    rf"(?: now)? (?:{HERE}\b(?P<aside>(?:,(?! and\b)| (?=\w+ing\b))[^.!?]*)?"
    rf"|{BY} (?:{ARTICLE}|his|her|its|their) {NAME}){STOP}"
)
BUSY = re.compile(
    rf"(?P<people>(?i:an?|the|some|two|three|several|your|my|\d+) {THINGS}|{PROPER_NAME}) "
    r"(?:(?P<bars>(?:is|are) blocking (?:the|this|all)|(?:(?:is|are) blocking|blocks?) your)\b"
    r"|(?:is|are|sits?|sat|stands?|stood|lies|lay|kneels?|knelt) (?:\w+ly )?(?!com|go|leav|miss"
    r"|approach|noth|any|every|some)\w{2,}ing\b"
    rf"|(?:stands?|keeps?) (?:guard|watch)\b|(?:guard|watch|block)s? (?:{ARTICLE}|your) ).*{STOP}"
)
"""People who are here, since they do something: *two guards are playing dice*."""
ACTS = re.compile(
    rf"(?P<people>[Aa]n? (?:[\w'-]+ ){{0,3}}?[\w'-]+) (?!is\b|{LEADS})[a-z]{{2,}}s"
    rf"(?: (?!and\b)[\w'-]+){{0,9}}{STOP}"
)
"""A new person who acts here: *a guard stares at you*."""
_NOTICES = re.compile(rf"\b{either('noticing')}(?: \w+)? you\b")
"""Verb whose subject is alive: *a cat watches you*."""
_ELSEWHERE = re.compile(
    r"\b(?:through|outside|elsewhere|somewhere|in the distance|far (?:away|off|above|below)"
    r"|from (?:above|below|beyond))\b"
)
"""Words by which the one who acts is not here: *a guard shouts through the door*."""
_ORIGIN = rf"(?:the )?(?:{'|'.join(DIRECTIONS)}|above|below|outside)"
_WHILE = r"(?:,? \w+ing\b[^.!?]*)?"
COMES = re.compile(
    rf"(?:(?P<who>{PROPER_NAME}|{ARTICLE} {NAME}) \w+(?:s|ed)"
    rf" (?:(?:in|up|over|down|back) )+from {_ORIGIN}"
    rf"|(?P<new>An? (?:[\w'-]+ ){{0,2}}?[\w'-]+) (?!leads?|hangs)\w+(?:s|ed)"
    rf" (?:(?:\w+ )?from (?:behind |under |beneath |among )?(?:the|an?|some) {NAME}|into view|in"
    rf"|(?:[\w'-]+ ){{0,5}}here))(?P<aside>{_WHILE}){STOP}"
)
"""A person or a new thing that comes: *Old Tom hobbles in from the south*."""
GOES = re.compile(
    rf"(?P<who>{PROPER_NAME}|{ARTICLE} {NAME}) (?!{LEADS})\w+(?:s|ed)"
    rf" (?P<away>(?:off|away|out|back)\b)?(?: ?(?:to|towards?)(?: the)? )? ?"
    rf"(?P<way>{'|'.join(DIRECTIONS)})?{STOP}"
)
"""A person who goes away: *Old Tom hobbles off*."""
SUBSTANCES = frozenset(
    ("water", "light", "daylight", "smoke", "steam", "mist", "dust", "rain", "snow", "sand", "lava")
)
_ATTIRE = re.compile(r" (?:in|with) .*")
_BETWEEN_NAMES = re.compile(r",? and |, ")
OWNS = re.compile(rf"(?P<place>[\w-]+) (?:has|have|holds?) (?P<items>{ARTICLE} {THINGS}){STOP}")
"""A person without an article who holds a thing: *innkeeper has a key*."""
BEARS = re.compile(
    rf"(?P<place>{PROPER_NAME}|{ARTICLE} {NAME}) (?P<how>has|holds|carries|wears|wields"
    rf"|(?:is|are)(?: \w+ly)?(?: now)? (?:holding|carrying|wearing|wielding)) "
    rf"(?P<items>{ARTICLE} {THINGS}){STOP}"
)
"""A person who holds a thing: *Bob is holding a lamp*."""
_HOLDING = re.compile(
    rf",? (?:carrying|holding|wearing|clutching|gripping|wielding) (?P<items>{ARTICLE} .+)"
)
_STATE_ASIDE = re.compile(rf",? (?P<state>{STATE_WORD})(?: and \w+)?$")
"""State after a thing that is here: *a gate stands here, closed*."""
_BESIDES = re.compile(
    r",? (?:along with|together with|as well as|accompanied by|and so (?:is|are)|as (?:is|are)) "
    r"(?P<items>.+)"
)
"""Further things in a sentence about what is here: *a spade is here, along with a rake*."""
_ON_BODY = re.compile(r" (?:on|in|at|around|over|under) (?:his|her|its|their) .*")
IN_HAND = frozenset(phrases("in_hand"))
BUSY_WORDS = frozenset(phrases("busy"))


def add_held(draft: Scene, items: str, start: int, person: str) -> bool:
    """Add the things that a person holds, except parts of a body, thoughts and relatives.

    Return False if the words name no thing, as in *the guard has left*.
    """
    things = list(find_things(draft, _ON_BODY.sub("", items), start))
    for phrase in things:
        if head_noun(phrase.name) not in INTANGIBLE and not names_person(phrase.name):
            draft.place(phrase, "is carried by", person)
    return bool(things)


def read_bearer(draft: Scene, found: re.Match[str]) -> bool:
    """Read what a person holds; return False for another subject."""
    words = found["place"]
    name = meant(draft, clean_name(words))
    article = WITH_ARTICLE.match(words) is not None
    if (article and not names_person(name)) or head_noun(name) in INTANGIBLE or kind_of_noun(name):
        return False
    return add_held(draft, found["items"], found.start("items"), name)


def read_named(draft: Scene, found: re.Match[str]) -> bool:
    """Read who is here by name; return False if all names are intangible."""
    start, done = found.start("names"), False
    for name in _BETWEEN_NAMES.split(found["names"]):
        at = start + found["names"].index(name)
        if head_noun(clean_name(name)) not in INTANGIBLE:
            draft.put(Phrase(clean_name(name), (), at, at + len(name)))
            draft.topic, done = clean_name(name), True
    if done:
        read_aside(draft, found)
    return done


def read_arrival(draft: Scene, found: re.Match[str]) -> bool:
    """Read who comes; return False if the subject cannot come."""
    name, is_actor = _actor(draft, found)
    if is_actor:
        draft.put(Phrase(name, (), *found.span("new" if found["new"] else "who")))
        draft.topic = name
        read_aside(draft, found)
    return is_actor


def read_departure(draft: Scene, found: re.Match[str]) -> bool:
    """Read who goes away; return False if the subject is unknown or cannot go."""
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
    named = named and noun not in SUBSTANCES and noun not in INTANGIBLE
    named = named and not (new and is_passable(noun))
    timed = " later " in name  # a moment later Ann comes in
    return name, is_name(name) and not timed and (named or names_person(name))


def read_busy(draft: Scene, found: re.Match[str]) -> bool:
    """Read people who are here; return False if the subject is not people."""
    people, start = found["people"], found.start("people")
    attire = _ATTIRE.search(people)
    if attire is not None and names_person(people[: attire.start()]):
        people = people[: attire.start()]  # a gardener in a straw hat
    if people.startswith("The ") and not IN_HAND.isdisjoint(found.group().split()):
        return False  # the guard is holding a lamp
    if found["bars"] and WITH_ARTICLE.match(people) and not people.startswith("The"):
        put_here(draft, people, start)
        return True
    if WITH_ARTICLE.match(people):
        phrases = list(find_things(draft, people, start))
        known = all(names_person(phrase.name) for phrase in phrases)
    else:
        phrases = [Phrase(clean_name(people), (), *found.span("people"))]
        known = names_person(people.partition(" ")[0].lower()) or _is_somebody(people)
    if not phrases or not known:
        return False
    for phrase in phrases:
        draft.put(phrase)
    return True


def _is_somebody(name: str) -> bool:
    """True if a proper name is not one of a place, a thing or a time: *Old Meg*."""
    noun = head_noun(name.lower())
    return " " in name and not (
        kind_of_noun(name.lower()) or is_passable(noun) or noun in INTANGIBLE
    )


def read_acting(draft: Scene, found: re.Match[str]) -> bool:
    """Read a new person who acts; return False for a thing, an arrival or a departure."""
    watches = _NOTICES.search(found.group(), found.end("people")) is not None
    noun = head_noun(found["people"].lower())
    alive = watches and noun not in INTANGIBLE and noun not in SUBSTANCES
    if (
        is_elsewhere(found.group())
        or not (alive or names_person(found["people"]))
        or events_in(found.group())
    ):
        return False
    put_here(draft, found["people"], found.start("people"))
    return True


def is_elsewhere(sentence: str) -> bool:
    """True if what a sentence reports happens somewhere else."""
    return _ELSEWHERE.search(sentence) is not None


def read_aside(draft: Scene, found: re.Match[str]) -> None:
    """Read what a person here holds, *carrying a tray*, or what else is here, *with a cat*."""
    aside = found.groupdict().get("aside")
    besides = _BESIDES.match(aside) if aside else None
    if besides is not None:
        put_here(draft, besides["items"], found.start("aside") + besides.start("items"))
    state = _STATE_ASIDE.match(aside) if aside else None
    if state is not None and draft.topic:
        so = STATE_SYNONYMS.get(state["state"], state["state"])
        at = found.start("aside") + state.start("state")
        draft.add(draft.topic, "is", so, at, at + len(state["state"]))
    held = _HOLDING.match(aside) if aside else None
    if held is not None and draft.topic:
        add_held(draft, held["items"], found.start("aside") + held.start("items"), draft.topic)
