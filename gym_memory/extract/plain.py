"""Rules for English text of any game: the default of all dialects.

They read the forms that text games share: places, things with their states and contents, ways out,
the inventory, what was just done, and labelled lines of a status display. Sentences of another
form, and those that deny, suppose or ask, give no facts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from gym_memory.core.records import Step, Task
from gym_memory.extract import Extraction
from gym_memory.extract.draft import PUTTING, attributed, written_on
from gym_memory.extract.labels import read_answer, read_carried, read_label
from gym_memory.extract.layout import CARRIED, HOLDER, STATE, LabelItems, LayoutItem, layout_of
from gym_memory.extract.notes import read_writing
from gym_memory.extract.places import read_place
from gym_memory.extract.scene import LOOKING, Scene, split_sentences
from gym_memory.extract.sentences import CARRYING, HAVING, read_sentence
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import clean_name

__all__ = ["PlainRules", "reworded"]

_MAX_TEXT_CHARS = 100_000
_MAX_WRITING_CHARS = 10_000


class PlainRules:
    """Extract the facts of one step of any game.

    >>> text = "You are in the attic. You see a chest that is closed. To the East you see the hall."
    >>> step = Step(0, text)
    >>> for mention in PlainRules().extract(step, TemporalGraph(), Task("", "")).mentions:
    ...     print(mention.triple)
    you, is in, attic
    chest, is in, attic
    chest, is, closed
    attic, has exit, east
    hall, is seen east of, attic
    """

    general = True
    """True: any English text may be read, so finding facts does not show which game wrote it."""

    @attributed
    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """See :class:`~gym_memory.extract.Extractor`."""
        worded = reworded(step.text[:_MAX_TEXT_CHARS])
        text = worded.text
        draft, layout = Scene(step.action, graph), layout_of(text)
        sentences = split_sentences(layout.prose)
        draft.sentences = len(sentences)
        if not written_on(step.action):  # words of a text do not move the agent
            read_place(draft, layout, sentences)
        for sentence, offset in sentences:
            read_sentence(draft, sentence, offset)
        draft.offset = 0
        for labelled in layout.labels:
            read_label(draft, labelled)
        if step.action:
            read_answer(draft, text)
        looked = LOOKING.match(step.action) if draft.is_look and not draft.arrived else None
        if looked is not None and not (
            len(text) > _MAX_WRITING_CHARS
            or any(labelled.kind != STATE for labelled in layout.labels)
        ):
            name = clean_name(step.action[looked.end() :])
            writing = read_writing(name, text, draft.kind_of)
            draft.add_reported(writing, name)
        draft.link_back()
        if step.reward and PUTTING.match(step.action):
            draft.note_placing(praised=step.reward > 0)
        elif step.reward < 0:
            draft.note_loss()
        _read_inventory(draft, step.inventory)
        return worded.in_original(draft.extraction())


def _read_inventory(draft: Scene, text: str) -> None:
    """Read an inventory text apart from the observation; nothing in it has evidence."""
    draft.offset = -1
    labels, sentences = _inventory_of(text)
    for labelled in labels:
        read_label(draft, labelled)
    for item in sentences:
        read_carried(draft, (item,), whole=False)


@lru_cache(maxsize=1024)
def _inventory_of(text: str) -> tuple[tuple[LabelItems, ...], tuple[LayoutItem, ...]]:
    """Return the labels of an inventory text, and what its sentences say is carried."""
    layout = layout_of(reworded(text).text)
    matches = (
        CARRYING.match(sentence) or HAVING.match(sentence)
        for sentence, _ in split_sentences(layout.prose)
    )
    return (
        tuple(labelled for labelled in layout.labels if labelled.kind in (CARRIED, HOLDER)),
        tuple(LayoutItem(found["items"], 0) for found in matches if found is not None),
    )


# A text as others are written: not all in capitals, without emphasis, in the present tense

_EMPHASIS = re.compile(r"(?<![^ (\n])(\*\*?|__?|`)(?=\w)([^*_`\n]*\w)\1(?=[ ,.;:!?)])")
"""Marks around words inside of a line; around a whole line they make a title."""
_EITHER_ARTICLE = re.compile(r"\b[Aa]\(n\)")
_NARRATED = re.compile(
    r"(?:You|I|We) (?:were|was|stood|saw|came|went|walked|stepped|entered|could see|noticed)\b"
)
_PRESENT = re.compile(r"\b(?:is|are|am|can|see)\b|'(?:re|m)\b")
_TENSE = {
    "was": "is", "were": "are", "could": "can", "saw": "see", "stood": "stand", "lay": "lies",
    "noticed": "notice", "came": "go", "went": "go", "walked": "go", "stepped": "go",
    "entered": "enter", "arrived": "arrive", "returned": "return", "led": "lead", "ran": "run",
    "held": "hold", "carried": "carry", "had": "have", "picked": "pick", "took": "take",
    "dropped": "drop", "opened": "open", "closed": "close", "contained": "contains",
}  # fmt: skip
_PAST = re.compile(rf"\b(?:{'|'.join(_TENSE)})\b")


class MappedText(NamedTuple):
    """A text, and where each of its characters is in the original; empty if unchanged."""

    text: str
    positions: Sequence[int] = ()

    def in_original(self, found: Extraction) -> Extraction:
        """Return an extraction whose spans point into the original text."""
        if not self.positions:
            return found
        at = self.positions
        mentions = (
            m if m.start < 0 else m._replace(start=at[m.start], end=at[m.end - 1] + 1)
            for m in found.mentions
        )
        return found._replace(mentions=tuple(mentions))


@lru_cache(maxsize=1024)
def reworded(text: str) -> MappedText:
    """Return a text as others are written.

    >>> reworded("You came into the **hall**.").text
    'You go into the hall.'
    """
    worded = MappedText(_in_sentence_case(text))
    if "(n)" in text:
        worded = _replaced(worded, _EITHER_ARTICLE, lambda found: found[0][0])
    if "*" in text or "_" in text or "`" in text:
        worded = _replaced(worded, _EMPHASIS, lambda found: found[2])
    if _NARRATED.search(text) and not _PRESENT.search(text):
        worded = _replaced(worded, _PAST, lambda found: _TENSE[found[0]])
    return worded


def _replaced(worded: MappedText, pattern: re.Pattern[str], new: Callable[..., str]) -> MappedText:
    text, positions = worded
    parts: list[str] = []
    places: list[int] = []
    end = 0
    for found in pattern.finditer(text):
        before, word = found.start(), new(found)
        first, last = found.start(found.lastindex or 0), found.end() - 1
        parts += [text[end:before], word]
        places += [*range(end, before), *(min(first + n, last) for n in range(len(word)))]
        end = found.end()
    if not parts:
        return worded
    places += range(end, len(text))
    return MappedText(
        "".join((*parts, text[end:])), [positions[p] for p in places] if positions else places
    )


def _in_sentence_case(text: str) -> str:
    if not text.isupper():
        return text
    lower = text.lower()
    if len(lower) != len(text):
        return text
    lower = re.sub(r"(?:^|[.!?:]\s+|\n[^\S\n]*)[a-z]|\bi\b", lambda m: m.group().upper(), lower)
    return re.sub(r"^[^\n.!?:,]{1,40}$", lambda m: m.group().title(), lower, flags=re.MULTILINE)
