"""Sentences, read by the forms of their clauses, the ways that they name and their events."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from gym_memory.core.text import word_set
from gym_memory.extract.conditions import IN_STATE, read_state
from gym_memory.extract.denials import is_denied, read_denial
from gym_memory.extract.effects import perform
from gym_memory.extract.events import IMMATERIAL, SELVES, WATERS, Event, events_in
from gym_memory.extract.forms import DOUBTFUL, FormMatch, forms_for
from gym_memory.extract.notes.words import names_person, verb_forms
from gym_memory.extract.places import MOVED, named_places
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import NAME, WITH_ARTICLE, place_name
from gym_memory.extract.ways import WAYS, is_passable, ways_in
from gym_memory.extract.wording import BY, LIE, ON_IN, phrases
from gym_memory.graph.schema import direction_in, head_noun

__all__ = ["read_sentence", "states_nothing"]

_BEHIND = re.compile(
    rf"(?:ern|wards?)?(?: (?:{WAYS}|one))?,? (?:leads? )?to (?P<place>the {NAME})(?=,|;| and "
    rf"| from |[.!]*$)"
)
"""Place at the end of a way: *north to the mill*."""
_BETWEEN_CLAUSES = re.compile(
    r", (?:and|but|while|with|where) |; | and (?=(?:there|beneath|under|on|in|beside|behind|above"
    r"|near|to (?:the|your)|beside it|next to it|it is|you (?:can )?(?:see|notice|find)) )"
    r"|, (?=to the \w+ (?:is|are|lies|you|there)\b)"
)
_SECOND_PLACE = re.compile(
    rf", and (?:(?:an?|the) [\w' -]{{1,30}} (?:is|are|{LIE}) (?:{ON_IN}|from|{BY}|\w+ing) "
    rf"|(?:{ON_IN}|{BY}) (?:the|an?|it|them)\b(?: [\w' -]{{1,30}})? (?:is|are|{LIE}|you) )"
)
"""Second clause that says where something is, so that no form covers both."""
_JOINING = frozenset(("and", "but", "while", "with", "where"))
"""Words for a fast test: a sentence with several clauses has one of them or a semicolon."""
_IN_NAME = re.compile(r"[A-Z][a-z]+ (?!Exits?\b|Doors?\b)[A-Z]")
"""Direction at the start of a name: *North Road*."""
_WAY_WORDS = {"descend": "down", "ascend": "up", "below": "down", "above": "up"}
"""Direction of a way by a verb or an adverb."""
_OPINIONS = frozenset(
    (*(f for verb in phrases("opining") for f in verb_forms(verb)), *phrases("hearsay"))
)
"""Words of an opinion, which may be untrue."""
_OPINION_JOINT = re.compile(rf",? (?:and|but) (?:you )?(?:{'|'.join(phrases('opining'))})\b.*")
_QUOTES = ('"', "\N{LEFT DOUBLE QUOTATION MARK}", "'")
_SPEECH = re.compile(
    r"(?:[\"“'][^\"”]*[\"”']|[x' ]{3,}) ?"
    r"(?:(?P<who>(?:the|an?|your) [\w' -]{2,30}?|[A-Z]\w+|he|she)"
    r" \w+s|\w+s (?P<whom>(?:the|an?|your) [\w' -]{2,30}?|[A-Z]\w+|he|she)),? and (?=[a-z]+s\b)"
)
"""Speech, perhaps blanked, with its speaker, before what the speaker does."""
_REPORTED_SPEECH = re.compile(
    r"(?<=\w) (?:(?:says?|said|announces?|explains?|(?:tells?|told|warns?) (?:you|us|me|\w+))"
    r"(?: that)? (?=(?:the|an?|you|your|it|he|she|they|there|this|that|his|her|no|not|nobody"
    r"|nothing)\b)"
    r"|(?:warns?|reads?) that )"
)
"""Introduction of reported speech: *the guard says that the*."""
_SAYING = frozenset(form for verb in phrases("saying") for form in verb_forms(verb))
"""Words for a fast test: reported speech has one of them."""
_NEXT_CLAUSE = re.compile(r";|, (?:and|but|while) ")
_INTERJECTION = re.compile(r"(?!If|Unless)[A-Z][a-z]{1,11}, (?=(?:the|your|you|it) )")
"""Word before a statement: *Okay, the gate is open*."""
_MAX_INTERJECTION_CHARS = 14
_LEAD = re.compile(
    r"(?:As|When|After|Before|[A-Z][a-z]+ing) [^.;:!?]{3,140}?, "
    r"(?=you (?:\w+ly )?[a-z]+ (?:the|your|an?) )"
)
"""Leading clause, whose denial is not one of the sentence: *seeing no one, you take the cup*."""
_REASON = re.compile(r"\b(?:since|because|as) |[;:—–] ?| - ")
_UNDONE = re.compile(
    r"\bbut (?:it|they) (?:\w+ly )?(?!is|are|was|were|do|does|seem|look|feel|appear|ha[sd]|have"
    r"|contain|smell|taste|sound|weigh|reveal|turns? out)\w"
)
"""A contrast that undoes an event, not one that describes the thing."""
_LOSING = re.compile(r"no longer (?=have|carry|hold)")
_COMING_OR_LEAVING = frozenset(("come", "leave"))


class Analysis(NamedTuple):
    """Spans of the ways of a sentence, the matches of each of its clauses, and its events."""

    ways: Sequence[tuple[int, int]] = ()
    clauses: Sequence[Sequence[FormMatch]] = ()
    events: Sequence[Event] = ()


def read_sentence(draft: Scene, sentence: str, offset: int) -> None:
    """Read the ways that a sentence names, then its forms, or else its events."""
    draft.offset = offset
    ways, clauses, events = _analyze(sentence)
    named = ways and draft.room and not draft.is_look and MOVED.match(sentence) is None
    for start, end in ways if named else ():
        way = sentence[start:end].lower().replace("-", "").rstrip("s")
        way = _WAY_WORDS.get(way, way)
        draft.has_exit(way, start, end)
        there = _BEHIND.match(sentence, end)
        name = place_name(there["place"]) if there is not None else ""
        if there is not None and direction_in(name.rpartition(" ")[2]) is None:
            draft.see_behind(way, name, *there.span("place"))
    done = False
    for clause in clauses:
        for found, read in clause:
            if read(draft, found) is not False:
                done = True
                break
    for event in () if done else events:
        perform(draft, event)


def states_nothing(sentence: str) -> bool:
    """True if a sentence names no way or place, has no form and reports no event."""
    ways, clauses, events = _analyze(sentence)
    return not (ways or events or any(clauses) or named_places(sentence))


@lru_cache(maxsize=4096)
def _analyze(sentence: str) -> Analysis:
    """Return what a sentence states; a question, an opinion or another's words state nothing."""
    sentence = _own_statement(sentence)
    lower = sentence.lower()
    words = word_set(lower)
    if lower[-1:] in ("", "?") or sentence[0] in "\"'" or not _OPINIONS.isdisjoint(words):
        return Analysis()
    denial = read_denial(sentence, words)
    if denial is not None:
        return Analysis(_ways(sentence, lower, words), ((denial,),))
    if is_denied(lower):
        return _analyze_denied(sentence, lower, words)
    clauses = _clauses(sentence, lower, words)
    sure = clauses[0] and clauses[0][-1][1] not in DOUBTFUL
    events: Sequence[Event] = () if sure else events_in(sentence)
    if events and "but " in lower:
        events = _not_undone(events, lower)
    ways = () if any(map(_moves, events)) else _ways(sentence, lower, words)
    if ways and _is_immaterial(lower):
        rest = _NEXT_CLAUSE.search(lower)
        ways = [way for way in ways if rest and way[0] > rest.start()]
    return Analysis(ways, clauses, events)


def _own_statement(sentence: str) -> str:
    """Return what a sentence states itself, without reported speech, an opinion or a quotation."""
    words = word_set(sentence.lower())
    if not _SAYING.isdisjoint(words):
        speech = _REPORTED_SPEECH.search(sentence.lower())
        sentence = sentence if speech is None else sentence[: speech.start()]
    if not _OPINIONS.isdisjoint(words):
        sentence = _before_opinion(sentence)
    if sentence[:1] in _QUOTES or sentence[:2].lower() == "xx":
        sentence = _after_speech(sentence)
    return sentence


def _analyze_denied(sentence: str, lower: str, words: Set[str]) -> Analysis:
    """Analyze a sentence that denies something: only what it does not deny counts."""
    lead = _LEAD.match(sentence)
    if lead is not None and not is_denied(lower[lead.end() :]):
        matches = _matches(sentence, words, lead.end(), len(sentence))
        return Analysis((), (matches,), () if matches else events_in(sentence))
    head = sentence[: max(lower.find(" but "), 0)]
    if head and not is_denied(head.lower()):  # it is locked, but you have no key
        found = _matches(head, word_set(head.lower()), 0, len(head))
        clause = tuple(one for one in found if one[1] is read_state)
        return Analysis((), (clause,) if clause else _reasons(sentence))
    lost = not is_denied(_LOSING.sub("", lower))
    events = events_in(sentence) if lost else ()
    return Analysis(_ways(sentence, lower, words), _reasons(sentence), events)


def _clauses(sentence: str, lower: str, words: Set[str]) -> list[list[FormMatch]]:
    """Return the matches of the whole sentence, then, if there are none, of each clause."""
    contrast = "; " in lower or ", but " in lower  # no form covers two such clauses
    contrast = contrast or (", and " in lower and _SECOND_PLACE.search(lower) is not None)
    whole = [] if contrast else _matches(sentence, words, 0, len(sentence))
    if not (whole or contrast) and "," in lower[:_MAX_INTERJECTION_CHARS]:
        said = _INTERJECTION.match(sentence)
        if said is not None:
            whole = _matches(sentence, words, said.end(), len(sentence))
    joined = not _JOINING.isdisjoint(words) or ";" in lower or ", to the " in lower
    if whole or not joined:
        return [whole]
    cuts = [cut.span() for cut in _BETWEEN_CLAUSES.finditer(sentence)]
    if not cuts:
        return [whole]
    begins = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(sentence)]
    return [whole, *(_matches(sentence, words, *span) for span in zip(begins, ends, strict=True))]


def _ways(sentence: str, lower: str, words: Set[str]) -> Sequence[tuple[int, int]]:
    """Return the spans of the ways of a sentence that are not in a name: *the South Road*."""
    ways = ways_in(lower, words)
    return ways and [way for way in ways if not _IN_NAME.match(sentence, way[0])]


def _after_speech(sentence: str) -> str:
    """Return what a speaker does after the words, at its place: *"Yes," says Ann, and leaves*."""
    found = _SPEECH.match(sentence)
    if found is None:
        return sentence
    who = found["who"] or found["whom"]
    return f"{who[0].upper()}{who[1:]} ".rjust(found.end()) + sentence[found.end() :]


def _before_opinion(sentence: str) -> str:
    """Return the clauses before an opinion: *you see a bed, and wonder who sleeps there*."""
    cut = _OPINION_JOINT.search(sentence)
    return sentence[: cut.start()] if cut is not None else sentence


def _not_undone(events: Sequence[Event], lower: str) -> Sequence[Event]:
    """Return the events unless *but* undoes them: *you lift it, but it slips back*."""
    undone = _UNDONE.search(lower)
    if undone is None or any(event.subject.start > undone.start() for event in events):
        return events
    return ()


def _reasons(sentence: str) -> Sequence[Sequence[FormMatch]]:
    """Return the match of the reason in a refusal: *you can't, as the chest is locked*."""
    reason = _REASON.search(sentence)
    found = IN_STATE.match(sentence, reason.end()) if reason is not None else None
    return () if found is None else (((found, read_state),),)


def _is_immaterial(lower: str) -> bool:
    """True if the subject leads nowhere: *the wind blows from the west*."""
    article, _, rest = lower.partition(" ")
    noun = rest.partition(" ")[0]
    return article in ("a", "an", "the") and (noun in IMMATERIAL or noun in WATERS)


def _moves(event: Event) -> bool:
    """True if a person comes or leaves, so that a direction in the clause is not an exit."""
    who = event.subject.text.lower()
    if _COMING_OR_LEAVING.isdisjoint(event.kinds):
        acts = "travel" in event.kinds and not event.verb.endswith("ing")
        named = names_person(who) or not WITH_ARTICLE.match(event.subject.text)
        return acts and named and who not in SELVES and not is_passable(who)
    named = is_passable(f"{head_noun(who)} {event.tail}")  # the vandals left by the north exit
    return (not named or "come" in event.kinds) and who not in SELVES


def _matches(sentence: str, words: Set[str], begin: int, end: int) -> list[FormMatch]:
    """Return the matches of a clause, up to the first one that cannot fit by chance.

    Args:
        sentence: Sentence of the clause.
        words: Words of the sentence, in lower case.
        begin: Start of the clause.
        end: End of the clause.
    """
    found: list[FormMatch] = []
    first = sentence[begin:end].split(None, 1)[:1]
    for pattern, read, needed in forms_for(first[0].lower()) if first else ():
        possible = not needed or not needed.isdisjoint(words)
        match = pattern.match(sentence, begin, end) if possible else None
        if match is not None:
            found.append((match, read))
            if read not in DOUBTFUL:
                break
    return found
