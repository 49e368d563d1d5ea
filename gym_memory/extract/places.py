"""Where the agent is, and the ways out that sentences name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gym_memory.extract.layout import PLACE, Layout, Title
from gym_memory.extract.notes.words import CONTAINER, ROOM, SUPPORTER, kind_of_noun
from gym_memory.extract.scene import COMPASS, NAME, Scene, has_any, is_name, place_name

__all__ = ["ARE", "MOVED", "PASSABLE", "YOU", "is_denied", "read_place", "ways_in"]

YOU = r"(?:You|I|We)"
ARE = r"(?:'re| are|'m| am)"
_END = (
    r"(?: (?:above|along|at|before|behind|below|beneath|beside|facing|filled|from|full|in|near|on"
    r"|overlooking|surrounded|under|again|now|once more|(?:\w+ed )?with|where|which|that|and)\b"
    r"[^.]*)?(?=\s*(?:[.,;!?]|$))"
)
"""What follows the name of a place in a sentence, and is left out on a second visit."""
_ROOM = re.compile(
    rf"{YOU}(?:{ARE}| find (?:your|my)self| stand| wake(?: up)?)"
    r"(?: now| currently| standing| back| again| outside)* "
    r"(?:in |inside |at |(?P<other>on (?=an? |the )|(?=(?:above|behind|below|beneath|beside|near"
    rf"|outside|under) )))(?P<name>{NAME}){_END}"
)
_CALLED = re.compile(
    rf"This (?:\w+ )?(?:room|location|place|area) is (?:called )?(?P<name>{NAME}){_END}"
)
MOVED = re.compile(rf"{YOU} (?:walk|go|step|head|climb|enter|return|move|travel|arrive)\b")
_ENTERED = re.compile(
    rf"{YOU} (?:[^.,]{{1,60}} and )?"
    r"(?:enter|arrive (?:at|in)|(?:walk|go|step|head|climb)(?: out| up| down| back)? into"
    r"|return to|reach"
    rf"|(?:move|go|walk|travel) (?:from {NAME} )?to) "
    rf"(?P<name>{NAME}){_END}"
)
_NO_ROOM = re.compile(
    r"(?:the )?(?:middle|centre|center|front|process|midst)\b|"
    r"(?:trouble|danger|luck|charge|control|love|pain|line|position|need|\d)"
)
_DENIED = re.compile(
    r"\b(?:not|never|no longer|cannot|can't|don't|isn't|aren't|if|would|could|should)\b"
)
_WAY = re.compile(
    rf"\b(?P<way>{COMPASS}|(?:up|down)(?= stair))(?:ward)?s?\b"
    r"(?!-[a-z]*ern| of\b"
    r"| (?:wall|side|end|edge|face|bank|corner|shore|wing|part|half|tower|coast)\b)"
    r"|(?:\b(?:lead(?:s|ing)?|go(?:es|ing)?|runs?|head(?:s|ing)?|climb(?:s|ing)?|slopes?|winds?"
    r"|twist(?:s|ing)|dips?|stairs?|staircase|stairway|steps|ladder|ramp|path|passage|scramble|slide"
    r"|chute|ways?|exits?|or|and)|,)(?: steeply| sharply| back| off| out| also| is)? "
    r"(?P<steep>up|down)(?:wards?)?\b(?! to the (?:floor|ceiling))"
)
PASSABLE = re.compile(
    r"\b(?:paths?|passage(?:way)?s?|doors?|doorways?|exits?|stairs?|staircase|stairway|steps|corridors?"
    r"|tunnels?|halls?|hallway|openings?|holes?|gates?|gateway|arch|archway|roads?|trails?|tracks?"
    r"|ways?|crawl(?:way)?|entrances?|ladder|ramp|chimney|bridge|street|alley|window|scramble|slide"
    r"|lead(?:s|ing)?|go(?:es)?|runs?|head(?:s|ing)?|continues?|leave|reach|exit|winds?|climbs?|descends?)\b"
)
_BARRED = re.compile(
    r"\b(?:no|nothing|not|never|can't|cannot|blocked|blocks|barred|impossible|\w*unclimbable|impassable"
    r"|sealed|nailed|prevents?|boarded|rubble|locked|collapsed|once|might|would|could|if|wall)\b"
)
_DENYING = ("no", "never", "n't", "if", "ould")
"""Letters without one of which :data:`_DENIED` is not found, as a fast test."""
_CLAUSE = re.compile(r";|,? \bbut\b|, (?:although|though|where|which|while)\b")
_OF_LAST = re.compile(r",? (?:which|but it)\b")
_DIRECTED = ("north", "south", "east", "west", "up", "down")
_PLACES = (_ROOM, _CALLED, _ENTERED)
_PLACE_WORDS = re.compile(r"You|I\b|I'|We|This")
_REFUSAL = re.compile(
    r"\b(?:cannot|\w+'d|no|not|nothing|nowhere|\w+n't|block\w*|locked|closed|shut|bump|wall"
    r"|invalid|impossible|fail\w*|refuse\w*|unknown|must|unable|already|which|fatal|unclear|obstacle"
    r"|imp(?:assable|enetrable)|boarded|bar(?:s|red)?|solid|steep|narrow|would|stuck|prevents?)\b",
    re.IGNORECASE,
)
"""Words of short answers to a move that did not succeed."""
_SHUT = re.compile(r"\b(?:door|gate|closed|shut|lock\w*|open|hatch|lid)\b", re.IGNORECASE)
"""Words of what bars a way for now."""
_DARK = re.compile(r"\bdark(?:ness)?\b|pitch.black", re.IGNORECASE)
_MAX_REFUSAL_CHARS = 160


def read_place(draft: Scene, layout: Layout, sentences: Sequence[tuple[str, int]]) -> None:
    """Read where the agent is; after a move that nothing explains, the place is unknown."""
    for labelled in layout.labels:
        if labelled.kind == PLACE and labelled.items:
            name = place_name(labelled.items[0].text)
            if is_name(name):
                draft.arrive(name, *labelled.items[0].span)
                return
    for title in reversed(layout.titles):
        if _is_place(draft, title, layout):
            draft.arrive(place_name(title.name), title.start, title.start + len(title.name))
            return
    for at in () if draft.is_look else reversed(range(len(sentences))):
        sentence, offset = sentences[at]
        for pattern in _PLACES if _PLACE_WORDS.match(sentence) else ():
            found = pattern.match(sentence)
            if found is None or _is_doubtful(sentence) or _NO_ROOM.match(found["name"]):
                continue
            if found.groupdict().get("other") is not None and draft.room and not draft.is_move:
                continue  # on a chair, beside a table
            name = place_name(found["name"])
            if draft.room and " now " in sentence and kind_of_noun(name) in (CONTAINER, SUPPORTER):
                return  # now on the bed, in the same room
            if is_name(name):
                start = offset + found.start("name")
                if any(_is_refusal(before) for before, _ in sentences[:at]):
                    draft.direction = None  # the place is named again after a refused move
                    draft.is_move = draft.is_move and name != draft.left
                draft.arrive(name, start, start + len(found["name"]))
                return
    if draft.is_move and sentences and draft.direction not in ("in", "out"):  # of the chair
        if not _is_refusal(layout.prose):
            draft.lose_place()
        elif draft.direction and not _SHUT.search(layout.prose):
            draft.lose_way(draft.direction)


def _is_place(draft: Scene, title: Title, layout: Layout) -> bool:
    """True if a title names a place: by its form, by what follows, by a visit or a move."""
    name = place_name(title.name)
    if not is_name(name):
        return False
    if draft.is_look:
        return name == draft.room
    return title.sure or title.described or draft.is_move or draft.kind_of(name) == ROOM


def is_denied(sentence: str) -> bool:
    """True if a sentence in lower case denies or supposes something."""
    return has_any(sentence, _DENYING) and _DENIED.search(sentence) is not None


def _is_refusal(text: str) -> bool:
    """True if a short answer says that a move did not succeed."""
    short = len(text.strip()) <= _MAX_REFUSAL_CHARS
    return short and _REFUSAL.search(text) is not None and _DARK.search(text) is None


def _is_doubtful(sentence: str) -> bool:
    return sentence.endswith("?") or is_denied(sentence.lower())


def ways_in(sentence: str) -> Sequence[tuple[int, int]]:
    """Return where a sentence in lower case names directions in which something leads."""
    if not has_any(sentence, _DIRECTED) or not PASSABLE.search(sentence):
        return ()
    begin, ways = 0, []
    for cut in [*_CLAUSE.finditer(sentence), None]:
        end = cut.start() if cut else len(sentence)
        if not _BARRED.search(sentence, begin, end):
            ways += [
                found.span(found.lastgroup or 0) for found in _WAY.finditer(sentence, begin, end)
            ]
        elif _OF_LAST.match(sentence, begin):  # a door to the west, which is nailed shut
            del ways[-1:]
        begin = end
    return ways
