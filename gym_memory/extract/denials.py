"""Sentences that end facts: a past state, a missing thing, empty hands, an empty room."""

from __future__ import annotations

import re
from collections.abc import Callable, Set

from gym_memory.core.text import word_set
from gym_memory.extract.effects import end_state, lose, remove
from gym_memory.extract.known import meant
from gym_memory.extract.notes.words import names_person
from gym_memory.extract.placing import find_things
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import ARTICLE, NAME, STATE_WORD
from gym_memory.extract.wording import ARE, STOP, YOU
from gym_memory.graph.schema import INVENTORY, clean_name

__all__ = ["EMPTY_HANDS", "is_denied", "read_denial"]

_BAG = r"(?:hands?|arms?|gripper|pockets|inventory|pack|bag|backpack)"
_NOTICED = re.compile(
    rf"{YOU} (?:suddenly )?(?:(?:reali[sz]e|discover)(?: that)?|(?:see|notice|find) that) "
)
"""Introduction of a clause: *you realize that the lamp is gone*."""
_THING = rf"(?P<thing>{ARTICLE} {NAME}|[Ii]t|[Tt]hey|[A-Z][a-z'-]+)"
EMPTY_HANDS = re.compile(
    rf"{YOU}(?:{ARE}| (?:have|carry|hold)) (?:now |currently )?(?:(?:carrying|holding) )?"
    rf"(?:nothing(?: at all)?|no (?:objects|items|things)|empty[- ]handed)"
    rf"(?: with you| in your {_BAG})?{STOP}"
    rf"|(?:Currently, you|{YOU})(?: are not|'re not|'m not| aren't| am not) (?:currently )?"
    rf"(?:carrying|holding|grabbing) (?:anything|a (?:single )?thing)"
    rf"(?: at all| in (?:your )?hands?)?{STOP}"
    rf"|{YOU} (?:don't|do not) have anything(?: with you)?{STOP}"
    rf"|(?:Your|My)(?: current)? {_BAG}(?: is| are) (?:now |currently )?empty{STOP}"
    rf"|There(?: is|'s) nothing in your {_BAG}{STOP}"
)
"""Sentence that the agent carries nothing."""
_NOT_HELD = re.compile(
    rf"{YOU} (?:don't|do not|are not|aren't|'re not) (?:have|carry|hold|carrying|holding) "
    rf"(?P<thing>(?:the|your) {NAME})(?: any ?more| any longer)?{STOP}"
)
_NOTHING_HERE = re.compile(
    rf"(?:{YOU} (?:can )?(?:see|find|notice) "
    r"(?:nothing(?: of (?:interest|note|use))?|no (?:one|objects|items|things))"
    r"(?: (?:here|nearby|around|near (?:you|me)))?|There(?:'s| is) nothing (?:here|nearby)"
    rf"|Nothing is (?:here|nearby)|The room is (?:completely )?empty){STOP}"
)
_NOT_SO = re.compile(
    rf"{_THING}(?: (?:is|are|was|were)(?:n't| not| no longer)|'s not)"
    rf" (?:\w+ly )?(?P<state>{STATE_WORD}|here|there)(?: any ?more| any longer| now)?{STOP}"
)
_GONE = re.compile(
    rf"{_THING}(?: is| are| has| have|(?<=[Ii]t)'s) (?:now )?"
    r"(?i:dead|gone|destroyed|missing|no more|vanished|disappeared"
    r"|nowhere (?:to be (?:seen|found)|in sight))"
    rf"(?: from {ARTICLE} {NAME})?{STOP}"
)
_LEAVING = re.compile(rf"{_THING} (?:is|are) leaving\b(?! \w+ (?:on|in|to)\b).*")
_NO_SIGN = re.compile(
    r"(?:Soon |Now )?[Tt]here(?: is|'s| was) (?:no(?: longer any)? (?:sign|trace)|nothing left) of "
    rf"{_THING}(?: any ?more| any longer| here)?{STOP}"
)
_HINTS = frozenset(
    (
        *("t", "leaving", "no", "not", "nothing", "empty", "dead", "gone", "destroyed", "missing"),
        *("vanished", "disappeared", "nowhere", "alone", "nobody"),
    )
)
"""Words for a fast test: every form below has one of them; *t* is the end of *isn't*."""
_NOTHING_IN = re.compile(
    rf"(?:There(?: is|'s) nothing|Nothing is|{YOU} (?:can )?(?:see|find) nothing(?: \w+)?)"
    rf" (?:else )?(?:in|inside|on|under) (?P<thing>(?:the|your|an?) {NAME}){STOP}"
    rf"|(?P<holder>{ARTICLE} {NAME}) (?:contains?|holds?) nothing{STOP}"
)
_NOBODY_HERE = re.compile(
    rf"(?:There(?:'s| is) (?:no ?one|nobody) (?:else )?(?:here|around|in sight)"
    rf"|You(?:'re| are) (?:now |all )?alone(?: here| now)?){STOP}"
)
_SEARCHES = re.compile(r"(?:look|search|feel|reach|dig)\b.", re.IGNORECASE)
_DOUBTS = (
    *("usually", "normally", "typically", "sometimes", "rarely", "seldom"),
    *("perhaps", "maybe", "probably"),
)
"""Adverbs of sentences that report no present state."""
_DENIED = re.compile(
    r"\b(?:not|never|no longer|cannot|can't|don't|isn't|aren't|if|would|could|should"
    rf"|{'|'.join(_DOUBTS)})\b"
)
_DENYING = frozenset(
    ("not", "never", "longer", "cannot", "t", "if", "would", "could", "should", *_DOUBTS)
)
"""Words for a fast test: every match of :data:`_DENIED` has one of them."""


def is_denied(sentence: str) -> bool:
    """True if a sentence in lower case denies, supposes, or reports a habit."""
    return not _DENYING.isdisjoint(word_set(sentence)) and _DENIED.search(sentence) is not None


def read_denial(sentence: str, words: Set[str]) -> tuple[re.Match[str], _Read] | None:
    """Return the match of a sentence that ends facts, and its reader; None for another sentence."""
    if _HINTS.isdisjoint(words):
        return None
    lead = _NOTICED.match(sentence)
    for pattern, read in _FORMS:
        found = pattern.match(sentence, lead.end() if lead is not None else 0)
        if found is not None:
            return found, read
    return None


def _empty_hands(draft: Scene, found: re.Match[str]) -> None:
    draft.keep_only(INVENTORY, ())


def _drop(draft: Scene, found: re.Match[str]) -> None:
    for phrase in find_things(draft, found["thing"], found.start("thing")):
        lose(draft, meant(draft, phrase.name, carried=True))


def _empty_room(draft: Scene, found: re.Match[str]) -> None:
    if not (draft.is_look or _SEARCHES.match(draft.action)):
        draft.is_listed = True


def _nobody(draft: Scene, found: re.Match[str]) -> None:
    """End the facts about persons here."""
    for fact in draft.contents(draft.room):
        if names_person(fact.subject):
            draft.outdate(*fact)


def _end_state(draft: Scene, found: re.Match[str]) -> None:
    """Read ``The lamp is no longer lit``."""
    name, state = _named(draft, found), found["state"].lower()
    if state in ("here", "there"):
        draft.outdate(name, "is in", draft.room or None)
    else:
        end_state(draft, name, state)


def _empty(draft: Scene, found: re.Match[str]) -> None:
    """Read ``There is nothing in the desk``."""
    draft.keep_only(meant(draft, clean_name(found["thing"] or found["holder"])), ())


def _remove(draft: Scene, found: re.Match[str]) -> None:
    remove(draft, _named(draft, found))


def _named(draft: Scene, found: re.Match[str]) -> str:
    thing = clean_name(found["thing"]).removeprefix("your ")
    return draft.topic if thing in ("it", "they") else meant(draft, thing)


_Read = Callable[[Scene, "re.Match[str]"], bool | None]
_FORMS: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (EMPTY_HANDS, _empty_hands),
    (_NOTHING_HERE, _empty_room),
    (_NOBODY_HERE, _nobody),
    (_NOTHING_IN, _empty),
    (_NOT_HELD, _drop),
    (_NOT_SO, _end_state),
    (_GONE, _remove),
    (_LEAVING, _remove),
    (_NO_SIGN, _remove),
)
