"""Rules for general English, the default for games without rules of their own.

They read the forms that text games share: places, things with states and contents, exits, the
inventory, results of actions, and labelled lines. Other sentences, and those that deny, suppose or
ask, state no facts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from gym_memory.core.records import Step, Task
from gym_memory.core.text import sentence_spans
from gym_memory.extract import Extraction
from gym_memory.extract.answers import learn_word, read_answer
from gym_memory.extract.denials import EMPTY_HANDS
from gym_memory.extract.draft import PUTTING, attributed, quoted_part, written_on
from gym_memory.extract.known import meant
from gym_memory.extract.label_kinds import CARRIED, HOLDER, STATE
from gym_memory.extract.labels import read_carried, read_label
from gym_memory.extract.layout import LabelItems, Layout, LayoutItem, layout_of
from gym_memory.extract.listed import end_unlisted
from gym_memory.extract.normal import normal
from gym_memory.extract.notes import read_writing
from gym_memory.extract.owning import CARRYING, HAVING
from gym_memory.extract.places import read_place
from gym_memory.extract.rewriting import MappedText
from gym_memory.extract.scene import LOOKING, Scene
from gym_memory.extract.sentences import read_sentence, states_nothing
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, clean_name, is_readable

__all__ = ["PlainRules"]

_MAX_TEXT_CHARS = 100_000
_MAX_WRITING_CHARS = 10_000
_MAX_SENTENCE_CHARS = 1000
_OPENERS = re.compile(r"\b(?:[Kk]eys?|keycards?|locks?|unlocks?)\b")
"""Words of a description that may say what opens what."""


class _Page(NamedTuple):
    """A text in plain lines, its layout, and its sentences of readable length with their starts."""

    worded: MappedText
    layout: Layout
    sentences: tuple[tuple[str, int], ...]


@lru_cache(maxsize=1024)
def _page(text: str) -> _Page:
    """Divide a text, whatever the facts before it."""
    worded = normal(text)
    layout = layout_of(worded.text)
    spans = sentence_spans(layout.prose)
    return _Page(
        worded, layout, tuple([one for one in spans if len(one[0]) <= _MAX_SENTENCE_CHARS])
    )


def _reads_alike(text: str, other: str) -> bool:
    """True if two texts of equal layout differ only in sentences that state nothing."""
    one, two = _page(text[:_MAX_TEXT_CHARS]), _page(other[:_MAX_TEXT_CHARS])
    if one.layout[:2] != two.layout[:2]:
        return False
    apart = set(one.sentences).symmetric_difference(two.sentences)
    return all(states_nothing(sentence) for sentence, _ in apart)


class PlainRules:
    """Extraction rules for general English, one step at a time.

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
    """True, since facts in a text do not show which game wrote it."""

    @partial(attributed, reads_alike=_reads_alike)
    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """See :class:`~gym_memory.extract.Extractor`."""
        worded, layout, sentences = _page(step.text[:_MAX_TEXT_CHARS])
        text = worded.text
        draft = Scene(step.action, graph, text, step.inventory)
        draft.sentences = len(sentences)
        if not written_on(step.action):  # what the agent reads does not move it
            read_place(draft, layout, sentences)
        for sentence, offset in sentences:
            read_sentence(draft, sentence, offset)
        draft.offset = 0
        for labelled in layout.labels:
            read_label(draft, labelled)
        if step.action:
            read_answer(draft, text, layout.prose)
            learn_word(draft)
        if draft.is_look and not draft.arrived:
            _read_writing(draft, text, layout.labels)
        if draft.is_look and draft.aim not in ("", draft.room):
            end_unlisted(draft, draft.aim)
        elif draft.is_listed and draft.room and not draft.is_look:
            end_unlisted(draft, draft.room)
        draft.link_back()
        if step.reward and PUTTING.match(step.action):
            draft.note_placing(praised=step.reward > 0)
        elif step.reward < 0:
            draft.note_loss()
        if step.inventory:
            _read_inventory(draft, step.inventory)
        return worded.in_original(draft.extraction())


def _read_writing(draft: Scene, text: str, labels: Sequence[LabelItems]) -> None:
    """Read what is written on the thing that the action looks at."""
    looked = LOOKING.match(draft.action)
    is_report = len(text) > _MAX_WRITING_CHARS or any(label.kind != STATE for label in labels)
    if looked is None or is_report:
        return
    name = meant(draft, clean_name(draft.action[looked.end() :]))
    reads = is_readable(name) or looked[0].lower() == "read "
    quoted = None if is_readable(name) else quoted_part(text)
    if not (reads or quoted or _OPENERS.search(text)):
        return  # the text describes a thing, and reports no writing
    draft.offset, words = quoted or (0, text)
    draft.add_reported(read_writing(name, words, draft.kind_of), name)
    draft.offset = 0


def _read_inventory(draft: Scene, text: str) -> None:
    """Read the separate inventory text, whose facts have no span."""
    draft.offset = -1
    labels, sentences, is_empty = _inventory_of(text)
    if is_empty:
        draft.keep_only(INVENTORY, ())
    for labelled in labels:
        read_label(draft, labelled)
    if sentences:
        read_carried(draft, sentences, whole=not labels)


@lru_cache(maxsize=1024)
def _inventory_of(text: str) -> tuple[tuple[LabelItems, ...], tuple[LayoutItem, ...], bool]:
    """Return labels and carried things of an inventory text, and whether it says *nothing*."""
    _, layout, sentences = _page(text)
    matches = [CARRYING.match(sentence) or HAVING.match(sentence) for sentence, _ in sentences]
    return (
        tuple([labelled for labelled in layout.labels if labelled.kind in (CARRIED, HOLDER)]),
        tuple([LayoutItem(found["items"], 0) for found in matches if found is not None]),
        any(EMPTY_HANDS.match(sentence) for sentence, _ in sentences),
    )
