"""Place of the agent, by labels, titles and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from gym_memory.core.records import Triple
from gym_memory.core.text import word_set
from gym_memory.extract.denials import is_denied
from gym_memory.extract.events import CONDITIONS, IMMATERIAL, SELVES, events_in
from gym_memory.extract.label_kinds import PLACE, WITHIN
from gym_memory.extract.layout import Layout
from gym_memory.extract.notes.words import CONTAINER, ROOM, SUPPORTER, kind_of_noun, verb_forms
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import (
    NAME,
    SEEMING,
    has_any,
    is_name,
    is_place_name,
    place_name,
)
from gym_memory.extract.titles import STATE_OF_PLACE, Title
from gym_memory.extract.wording import ARE, LEADS, YOU, either, phrases
from gym_memory.graph.schema import DIRECTIONS, head_noun

__all__ = ["MOVED", "named_places", "read_place"]

_YOU = r"(?:[Yy]ou|I|[Ww]e)"
_AFTER_NAME = (
    r"(?: (?:above|along|at|before|behind|below|beneath|beside|between|facing|filled|from|full"
    r"|in|inside|near|on|outside|leading|overlooking|surrounded|under|again|now|as|when|while|just|you"
    r"|once more"
    r"|(?:\w+ed )?with|where|which|that|and)\b"
    r"[^.]*)?(?=\s*(?:[.,;!?]|$))"
)
"""Words after the name of a place, which are not part of it."""
_ADJECTIVES = (
    r"an? (?:(?:very |pretty |rather |quite )?[a-z-]+, "
    r"(?!(?:an?|the|one|some|your|his|her|its|which|that|who|where|with|and|but"
    r"|there|you|it|on|in|at|to|from|of|\w+ed (?:with|by|in|to|from|on)|\w+ing)\b))+"
    r"(?=[\w'/-]+(?: [\w'-]+){0,2}(?:[.,;!?]| (?:of|with|in|at|that|which|where)\b))"
)
"""Adjectives that commas divide: *a large, bright room*."""
_BEING = re.compile(
    rf"{_YOU}(?:{ARE}| stand| a?w[ao]ke(?: up|n)?)"
    r"(?: now| currently| standing| back| again| outside| trapped| locked| stuck)* "
    r"(?:in (?!front of )|inside |within |at |aboard |on board |(?P<other>on (?=an? |the |[A-Z])"
    r"|(?=(?:in front of|above|behind|below|beneath|beside|near|outside|under) )))"
    rf"(?P<name>(?:{_ADJECTIVES})?{NAME}){_AFTER_NAME}"
)
_CALLED = re.compile(
    r"(?:This|The current|Your(?: current)?) (?:\w+ )?(?:room|location|place|area|position) is "
    rf"(?:called |named |(?<!^This room is )|(?=[A-Z]|the |an? ))(?P<name>{NAME}){_AFTER_NAME}"
)
_PASSING = (
    r"(?:over|through|across|past|between|along|under|beneath|around|off|out of|from|down|up|by|on)"
)
_GO = rf"(?:{'|'.join(form for verb in phrases('going') for form in verb_forms(verb))})"
MOVED = re.compile(
    rf"{YOU} (?:(?:[^.,;]+,? and )?{_GO}|enter|return|arrive|follow|(?:\w+ly )?\w+ (?:your|my) way"
    rf"|(?:\w+ly )?(?!are|stand|sit|lie)\w+ {_PASSING} (?:the|an?)|(?:try|want|attempt) to)\b"
)
_ADVERBS = (
    r"(?: (?:at last|finally|eventually|soon|then|out|up|down|back|over|on|along"
    r"|north|south|east|west|inside|through))*"
)
_ENTERED = re.compile(
    rf"(?:{_YOU}(?: have|'ve| are)?(?: \w+ly)? "
    r"(?:[^.,]{1,80}?,? (?:and|until|then|(?:manage|continue|go on) to) (?:you |I |we )?)?"
    r"(?:enter(?:ed)?(?: in(?:to)?)?"
    r"|reach(?:ed)?(?! for | out | into | down | up | across | toward)"
    r"|arrived? (?:at|in|on)"
    r"|(?:return|teleport)(?:ed)? (?:in)?to"
    r"|(?:find|found) (?:your|my|our)sel(?:f|ves)"
    r"(?: back| once more| once again| again| \w+(?:ed|ing|ly))?"
    r" (?:in(?:side)?|within|at|on)"
    r"|end(?:ed)? up (?:in|at|on)|land(?:ed)? in|(?:get|got|fall|fell|tumble) into"
    rf"|{_GO} out (?:in|at|on(?:to)?)|{either('emerging')}{_ADVERBS} (?:in|at|on)"
    rf"|{_GO}(?:, \w+ing(?: \w+)?,)?{_ADVERBS} (?:(?:in)?to|aboard|inside)"
    rf"|{_GO} (?:through|across|over|past|along) (?:the|an?) {NAME} (?:in)?to"
    rf"|{_GO} (?:from|out of|off) {NAME} (?:(?:in|on)?to)|"
    rf"follow(?:ed)? (?:the|a|an) {NAME}{_ADVERBS} (?:in)?to)"
    rf"|{_YOU} \w+ (?:your|our|my) way{_ADVERBS} (?:in)?to"
    rf"|{_YOU} are {either('taken')}{_ADVERBS} (?:in)?to"
    rf"|(?:The|An?) {NAME} (?:brings?|brought|leads?|led|takes?|took|carries|carried) "
    rf"(?:you|me|us){_ADVERBS} (?:in)?to"
    rf"|(?:Moved|Went|Travell?ed|Teleported|Walked|Returned)(?: back)? (?:in)?to|Entered|Entering"
    rf"|Arrived (?:at|in)|Arriving (?:at|in)) (?P<name>(?:{_ADJECTIVES})?{NAME}){_AFTER_NAME}"
)
_LEFT = re.compile(
    rf"{_YOU}(?: [^.,]+? and| \w+ly)? (?:leave|exit) (?P<name>(?:the|this) {NAME}){_AFTER_NAME}"
)
_THIS_IS = re.compile(
    r"(?:This|It) (?:is|seems to be|appears to be|looks like|must be) "
    rf"(?P<name>(?:the|an?) {NAME}|room \w+){_AFTER_NAME}"
)
"""Place in a description without a title: *this is the hall*."""
_ROOM_IS = re.compile(
    rf"The (?P<name>(?:[\w'-]+ ){{0,3}}?[\w'-]+) "
    r"(?:is|are|was|were|has|holds|held|contains|smells|smelled|looks"
    rf"|seems|stretches|extends|widens|narrows|{LEADS})\b"
    r"(?! (?:open|ajar|closed|shut|(?:un)?locked|to the|not|no|visible|now)\b)"
)
"""Room that the first sentence of a description has as its subject: *the hallway is dusty*."""
_FRAGMENT = re.compile(
    rf"(?:(?:In|At|Inside) )?(?P<name>(?:(?<=In )|(?:The|An?) |the |an? ){NAME}"
    r"|[A-Z][\w'-]*(?: (?!(?:the|an?) )[\w'-]+){0,3})\.$"
)
"""A first sentence that only names the place: *A narrow alley.*, *In the hall.*, *Hall.*"""
_POSES = either("poses")
_INTO = re.compile(
    rf"{_YOU}(?: (?!watch|see|hear|notice|feel)[^.,;]{{3,60}}?,? and(?: then)?)?"
    rf"(?:(?: \w+ly)? (?!look|peer|gaze|stare|glance|see|shout|call|bump|crash|smash|bang|slam"
    rf"|run\b)\w+(?: (?:your|my) way)?{_ADVERBS}"
    rf"(?: {_PASSING} (?:the|an?|some) [\w' -]{{1,40}}?)? (?:into|onto)"
    rf"|{ARE}(?: now)? [a-z]+ (?:in|inside|within|at)|(?: \w+ly)? {_POSES} (?:in|inside|within|at))"
    rf" (?P<name>(?:(?:the|an?) |(?=[A-Z])){NAME}){_AFTER_NAME}"
)
"""A place after any verb, valid only after a move or in a first text."""
_INSIDE = re.compile(rf"{YOU} (?:\w+ly )?\w+(?: back)? (?:inside|in|there|across)(?=[.,!]|$)")
"""Answer that the agent arrives where it meant to go."""
_FALLS = re.compile(
    r"\bYou (?:fall|plunge|tumble|plummet|drop) (?:through|down)(?: (?:the|an?) |[.!]|$)"
)
_LYING = re.compile(rf"{_YOU}(?:'re| are)? (?:a?wake|lie|lying|sit)\w*\b")
_NO_ROOM = re.compile(
    rf"(?:(?:the|a|an|your|my) )?(?:(?:{'|'.join(sorted(CONDITIONS))}|\d\w*(?!-))\b"
    r"|(?:(?!ground|[a-z]+(?:st|nd|rd|th) )[\w-]+ ){0,3}(?:floor|ground)$"
    r"|(?:dark(?:ness| place)?|rain|snow|drizzle|downpour|cold)$)",
    re.IGNORECASE,
)
"""Words after *in*, *at* or *of* that name no place."""
_MIDDLE_OF = re.compile(r"the (?:middle|cent(?:er|re)|midst) of ")
_FORMS = (
    (
        _BEING,
        frozenset(("are", "re", "am", "m", "stand", "wake", "awake", "awaken", "woke", "awoke")),
    ),
    (_CALLED, frozenset(("is",))),
    (_ENTERED, frozenset(phrases("entering"))),
    (_INTO, frozenset(("into", "onto", "are", "re", "am", "m", *phrases("poses")))),
)
"""Forms of sentences that say where the agent is, each with words of which it needs one."""
_BEFORE_YOU = re.compile(
    r"(?:(?:[A-Z][a-z]+ly|After|At|By|From|Here|In|Next|Now|On|Soon|Then|Through|With)"
    r"(?: [a-z]+){0,5}?,?|(?:As|Before|When)(?: [a-z]+){2,5}?,"
    r"|It (?:is|was) [^.,;:!?]{2,40} (?:when|before|by the time)"
    r"|[A-Z][^.,;:!?]{3,80},? and(?: suddenly| then| now)?) (?=(?:you|we) )"
)
"""Words before *you* that say when or how: *at last you reach the summit*."""
_AS_YOU = re.compile(
    r"(?:As|When|Once) (?=(?:you|we) (?:enter|reach|arrive|step|walk|come|go|climb)\b)"
)
"""Words before an arrival in a leading clause: *as you enter the granary, the door slams*."""
_FIRST_WORDS = re.compile(
    r"You|I\b|I'|We|This|The current|Moved|Went|Trav|Telep|Walked|Returned|Enter|Arriv"
)
_BROUGHT = re.compile(r"(?:The|An?) [\w' -]{2,40} (?:you|me|us) ")
"""Beginning of a sentence in which something brings the agent: *the lift takes you*."""
_FAILURE = re.compile(rf"\b{either('blocked')}\b", re.IGNORECASE)
"""Words of a short answer to a failed move."""
_CLOSED = re.compile(
    r"\b(?:door|gate|closed|shut|lock\w*|open|hatch|lid|lets?|allows?|blocks?|guard\w*)\b",
    re.IGNORECASE,
)
"""Words for what blocks a way temporarily."""
_DARK = re.compile(r"\bdark(?:ness)?\b|pitch.black", re.IGNORECASE)
_MAX_LATE_SENTENCES = 3
"""Sentences of a first text that may name the place: *you wake up. The ward is empty*."""
_MAX_FAILURE_CHARS = 160
_GOES = re.compile(rf"{YOU} {_GO} (?:{'|'.join(DIRECTIONS)})[.!]", re.IGNORECASE)
"""A move that succeeds, after what the agent did first: *you go north*."""
_MOVE_KINDS = frozenset(("travel", "leave", "come", "follow"))


def read_place(draft: Scene, layout: Layout, sentences: Sequence[tuple[str, int]]) -> None:
    """Read where the agent is; after a move to no named place, forget its place."""
    titles = layout.titles
    if titles and not (draft.action or draft.room) and _heads_story(titles[0], sentences):
        titles = ()
    if layout.labels and _read_label(draft, layout):
        return
    if titles and _read_title(draft, reversed(titles), apart=False):
        return
    apart = any(title.apart for title in titles)
    if not draft.is_look and _read_sentences(draft, sentences, titled=apart):
        return
    if titles and _read_title(draft, titles[:1], apart=True):
        return
    if _read_description(draft, sentences) or _read_leaving(draft, sentences):
        return
    _read_unnamed(draft, layout.prose, sentences)


def _heads_story(title: Title, sentences: Sequence[tuple[str, int]]) -> bool:
    """True if a first title is that of the story, as the text says that *the* place is another."""
    said = sentences[0][0] if sentences else ""
    found = _BEING.match(said) if said.startswith("You are in the ") else None
    name = place_name(found["name"]) if found is not None else ""
    apart = set(name.split()).isdisjoint(title.name.lower().split())
    return title.sure and name != "" and apart and kind_of_noun(name) == ROOM


def _read_description(draft: Scene, sentences: Sequence[tuple[str, int]]) -> bool:
    """Read the place that a description without a title says *this* is; return False without."""
    if not sentences or draft.is_look or (draft.room and not draft.is_move):
        return False
    found, offset = _described_room(draft, sentences)
    listed = " exit" in draft.text and " leading " in draft.text
    is_fragment = found is None and not listed
    if found is None and (draft.direction or draft.is_first or listed):
        found = _FRAGMENT.match(sentences[0][0])
    name = place_name(found["name"]) if found is not None else ""
    if found is None or not is_name(name) or not _may_be_room(found["name"]):
        return False
    is_room = name.startswith("room ") or kind_of_noun(name.partition(" of ")[0]) == ROOM
    if not (is_room or name == draft.destination or (draft.direction and not is_fragment)):
        return False
    draft.arrive(name, offset + found.start("name"), offset + found.end("name"))
    return True


def _described_room(
    draft: Scene, sentences: Sequence[tuple[str, int]]
) -> tuple[re.Match[str] | None, int]:
    """Match the first sentence that says what room this is; return its start too."""
    first, offset = sentences[0]
    found = _THIS_IS.match(first)
    if found is not None:
        return found, offset
    for sentence, start in sentences[: _MAX_LATE_SENTENCES if draft.is_first else 1]:
        found = _match_room(draft, sentence)
        if found is not None:
            return found, start
    return None, offset


def _match_room(draft: Scene, sentence: str) -> re.Match[str] | None:
    """Match a first sentence that describes a room while the place is unknown."""
    aim = draft.destination
    found = _ROOM_IS.match(sentence) if draft.is_first or draft.direction or aim else None
    name = found["name"].lower() if found is not None else ""
    failed = not draft.is_first and _is_failure(sentence)
    if not name or failed or (kind_of_noun(name) != ROOM and name != aim):
        return None
    return found


def _read_label(draft: Scene, layout: Layout) -> bool:
    """Read the place that a label names; return False without one."""
    for labelled in layout.labels:
        if labelled.kind == PLACE and labelled.items:
            name = place_name(_unremarked(WITHIN.sub("", labelled.items[0].text.strip('"'))))
            if is_place_name(name) and any(map(str.isalpha, name)):
                draft.arrive(name, *labelled.items[0].span)
                return True
    return False


def _read_title(draft: Scene, titles: Iterable[Title], *, apart: bool) -> bool:
    """Read the first title that names a place; return False without one."""
    for title in titles:
        if title.apart == apart and _is_place(draft, title):
            _arrive(draft, title)
            return True
    return False


def _read_sentences(draft: Scene, sentences: Sequence[tuple[str, int]], *, titled: bool) -> bool:
    """Read the place that the last possible sentence names; return False without one.

    In a text with a title, a sentence about a way into a place does not name it.
    """
    latest = [at for at, (sentence, _) in enumerate(sentences) if " are now " in sentence]
    for at in (*latest[-1:], *reversed(range(len(sentences)))):
        sentence, offset = sentences[at]
        for found in named_places(sentence):
            name = place_name(SEEMING.sub("", found["name"]))
            if _is_aside(draft, found):
                continue
            if draft.room and " now " in sentence and _is_here(draft, name):
                return True  # now on the bed, in the same room
            if is_name(name) and not _is_furniture(draft, found, name, titled=titled):
                start = offset + found.start("name")
                if any(_is_failure(before) for before, _ in sentences[:at]):
                    draft.direction = None  # the text only repeats the place after a refusal
                    draft.is_move = draft.is_move and name != draft.left
                draft.arrive(name, start, start + len(found["name"]))
                return True
    return False


def _is_aside(draft: Scene, found: re.Match[str]) -> bool:
    """True if a sentence says what the agent is beside: *you are on a chair, beside a table*."""
    if found.groupdict().get("other") is None or not draft.room or draft.is_move:
        return False
    return not has_any(found.string, (" now ", " suddenly "))


def _is_furniture(draft: Scene, found: re.Match[str], name: str, *, titled: bool) -> bool:
    """True if a name is that of a thing that the agent uses or enters, not of a place."""
    return (
        (_LYING.match(found[0]) is not None and kind_of_noun(name) == SUPPORTER)  # wake in a bed
        or (draft.event is not None and "wear" in draft.event.kinds)  # climb into the suit
        or (found.re is _INTO and (titled or not (draft.is_move or draft.is_first)))
        # at a shelf with things on it
        or (found.re is _ENTERED and has_any(draft.text, (f"on the {name},", f"on {name},")))
    )


def _is_here(draft: Scene, name: str) -> bool:
    """True if a name means furniture or a thing in the place of the agent."""
    if kind_of_noun(name) in (CONTAINER, SUPPORTER):
        return True
    return Triple(name, "is in", draft.room) in draft.graph


def _read_leaving(draft: Scene, sentences: Sequence[tuple[str, int]]) -> bool:
    """Leave the place unknown if the agent left it; return False otherwise."""
    for sentence, _ in sentences if " leave " in draft.text or " exit " in draft.text else ():
        found = _LEFT.match(sentence)
        name = place_name(found["name"]) if found is not None else ""
        if name and (name == draft.room or kind_of_noun(name) == ROOM):
            draft.lose_place()
            return True
    return False


def _read_unnamed(draft: Scene, prose: str, sentences: Sequence[tuple[str, int]]) -> None:
    """Read a move whose text names no place: it may fail, reach its aim or lead anywhere."""
    if has_any(prose, (" through", " down")) and _FALLS.search(prose):
        draft.lose_place()
        return
    aim = draft.destination if draft.is_move and sentences else ""
    inside = _INSIDE.match(sentences[0][0]) if aim else None
    if inside is not None and not _is_failure(sentences[0][0]):
        draft.arrive(aim, sentences[0][1], sentences[0][1] + inside.end())
        return
    if draft.is_move and _acts_otherwise(sentences):
        return
    if draft.is_move and sentences and draft.direction not in ("in", "out"):  # of the chair
        if not _is_failure(prose):
            draft.lose_place()
        elif draft.direction and not _CLOSED.search(prose):
            draft.lose_way(draft.direction)


def _unremarked(name: str) -> str:
    """Return the name of a place without a state in brackets after it."""
    bare, _, remark = name.rstrip(")]").partition(" (" if ")" in name else " [")
    return bare if remark and STATE_OF_PLACE.fullmatch(remark) else name


@lru_cache(maxsize=4096)
def named_places(sentence: str) -> tuple[re.Match[str], ...]:
    """Return the matches of the forms in which a sentence says where the agent is."""
    if has_any(sentence, (" you ", " we ", " me ", " us ")):
        lead = _AS_YOU.match(sentence) or _BEFORE_YOU.match(sentence)
        brought = _BROUGHT.match(sentence) is not None
    else:
        lead, brought = None, False
    begin = lead.end() if lead is not None else 0
    if not (begin or brought or _FIRST_WORDS.match(sentence)):
        return ()
    words = word_set(sentence.lower())
    forms = [form for form, required in _FORMS if not required.isdisjoint(words)]
    found = [one for form in forms if (one := form.match(sentence, begin))]
    if begin and not found and _FIRST_WORDS.match(sentence):  # you are in the den and you see a cat
        found = [one for form in forms if (one := form.match(sentence))]
    if not found or _is_doubtful(sentence[: max(one.end("name") for one in found)]):
        return ()
    if sentence.endswith("?") or " if " in sentence:
        return ()
    return tuple([one for one in found if _may_be_room(one["name"])])


def _may_be_room(name: str) -> bool:
    """True unless a name means no place, as in *in a hurry* or *at a conclusion*."""
    middle = _MIDDLE_OF.match(name)
    if middle is not None:
        return kind_of_noun(name[middle.end() :]) == ROOM
    if " of " not in name and kind_of_noun(name) == ROOM:
        return True  # the front porch
    return not _NO_ROOM.match(name) and head_noun(name) not in IMMATERIAL


def _arrive(draft: Scene, title: Title) -> None:
    """Arrive at the place of a title; brackets belong to the name of a new place."""
    name = place_name(title.name)
    if title.remark:
        whole = place_name(f"{title.name} ({title.remark})")
        if draft.kind_of(name) != ROOM or draft.kind_of(whole) == ROOM:
            name = whole
    draft.arrive(name, title.start, title.start + len(title.name))


def _acts_otherwise(sentences: Sequence[tuple[str, int]]) -> bool:
    """True if the agent did something other than move: ``d`` may mean *drop*."""
    return any(
        event.thing.text and event.subject.text.lower() in SELVES
        for sentence, _ in sentences[:1]
        for event in events_in(sentence)
        if not _MOVE_KINDS.issuperset(event.kinds)
    ) and not any(_GOES.match(sentence) for sentence, _ in sentences[1:])


def _is_place(draft: Scene, title: Title) -> bool:
    """True if a title names a place, by its form, the lines below, a move or a past visit."""
    name = place_name(title.name)
    if not is_place_name(name):
        return False
    if draft.is_look:
        return name == draft.room
    if title.sure or title.described or title.apart or draft.is_move:
        return True
    return draft.kind_of(name) == ROOM


def _is_failure(text: str) -> bool:
    """True if a short answer says that a move failed."""
    short = len(text.strip()) <= _MAX_FAILURE_CHARS
    return short and _FAILURE.search(text) is not None and _DARK.search(text) is None


def _is_doubtful(sentence: str) -> bool:
    return sentence.endswith("?") or is_denied(sentence.lower())
