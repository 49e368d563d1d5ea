"""Normal form of a text: plain lines, in sentence case and in the present tense."""

from __future__ import annotations

import re

from gym_memory.extract.lines import LINES, STATUS_LINE
from gym_memory.extract.markup import MARKUP, SIGNS
from gym_memory.extract.records import RECORD_LEAD, record_lines
from gym_memory.extract.rewriting import MappedText, nothing, signs_in

__all__ = ["normal"]

_SIGNS_OF_PROSE = frozenset(";!?'\"-")
"""Signs that are no marks, except in :data:`_UNSTRIKING_MARKS`."""
_UNSTRIKING_MARKS = tuple(
    mark
    for mark, _ in (*MARKUP.marked, *LINES.marked)
    if mark and signs_in(mark) <= _SIGNS_OF_PROSE
)
"""Marks that consist of common characters."""
_TITLE_BEFORE_SENTENCE = re.compile(
    r"\A(?P<title>[A-Z][\w'-]+(?: (?:of|the|in|[A-Z][\w'-]+)){1,4}) "
    r"(?=(?:You|This|There|It)(?:'re|'s| are| is| stand) )"
)
"""Title of a place before its description, in a text without line breaks."""
_YOU = re.compile(r"\b(?:[Yy]ou|[Yy]our|YOU)\b")
_AGENT = re.compile(
    r"\b(?P<article>[Tt])he agent(?P<own>'s)?(?: (?P<verb>is|has|sees|holds|carries|enters)\b)?"
    r"|(?:^|(?<=[.:!?] ))(?:[Aa]gent|[Pp]layer) "
    r"(?P<bare>is|has|sees|holds|carries|enters)\b",
    re.MULTILINE,
)
_SECOND_PERSON = {"is": "are", "has": "have", "sees": "see", "holds": "hold", "carries": "carry",
             "enters": "enter"}  # fmt: skip
_PAST_NARRATION = re.compile(
    r"(?:You|I|We) (?:had|(?!need|feed|heed|speed|proceed|succeed|bleed)\w+ed|took|crept"
    r"|were|was|stood|saw|came|went|walked|stepped|entered|could see|noticed"
    r"|found)\b"
)
_PAST_HINTS = (
    *("was", "were", " stood", " saw", " came", " went", " walked", " stepped", " entered"),
    *(" could", " noticed", " found", " held", " led ", " lay ", " hung ", " sat "),
)
"""Parts for a fast test: every text in the past tense has one of them."""
_WAS = re.compile(r"\b(?:was|were)\b")
_PRESENT_FORM = re.compile(r"\b(?:is|are|am|can|see)\b|'(?:re|m)\b")
_PRESENT_FORMS = {
    "was": "is", "were": "are", "could": "can", "saw": "see", "stood": "stand", "lay": "lies",
    "noticed": "notice", "found": "find",
    "came": "go", "went": "go", "walked": "go", "stepped": "go",
    "entered": "enter", "arrived": "arrive", "returned": "return", "led": "lead", "ran": "run",
    "held": "hold", "carried": "carry", "had": "have", "picked": "pick", "took": "take",
    "dropped": "drop", "opened": "open", "closed": "close", "contained": "contains",
}  # fmt: skip
_PAST_FORM = re.compile(rf"\b(?:{'|'.join(_PRESENT_FORMS)})\b")


def normal(text: str) -> MappedText:
    r"""Return a text in plain lines, in sentence case and in the present tense.

    >>> normal("You came into the **hall**.").text
    'You go into the hall.'
    >>> normal("[bold]Cellar[/bold]\n<120hp 85m>").text
    'Cellar\nHp: 120, M: 85'
    """
    worded = MappedText(_in_sentence_case(text))
    if "\n" not in text and _TITLE_BEFORE_SENTENCE.match(worded.text):
        worded = worded.replaced(_TITLE_BEFORE_SENTENCE, lambda found: f"{found['title']}\n")
    if ("gent " in text or "layer " in text) and not _YOU.search(text):
        worded = worded.replaced(_AGENT, _as_you)
    return _in_present_tense(_in_plain_lines(worded))


def _in_plain_lines(worded: MappedText) -> MappedText:
    text = worded.text
    signs = signs_in(text)
    if signs <= _SIGNS_OF_PROSE and not any(map(text.__contains__, _UNSTRIKING_MARKS)):
        return worded
    if not text.isascii():
        worded = worded.rewritten(SIGNS)
        signs = signs_in(worded.text)
    worded = MARKUP.apply(worded, signs)
    if "{" in worded.text:
        worded = worded.replaced(RECORD_LEAD, nothing)
    lines = record_lines(worded.text) if worded.text.lstrip()[:1] in ("{", "[", "<") else None
    if lines is not None:
        at = worded.positions
        worded = MappedText(lines.text, [at[p] for p in lines.positions] if at else lines.positions)
    return LINES.apply(worded, signs if worded.text is text else signs_in(worded.text))


def _in_present_tense(worded: MappedText) -> MappedText:
    text = worded.text
    if " is " in text or " are " in text or not any(map(text.__contains__, _PAST_HINTS)):
        return worded  # as a fast test: most texts in the present tense have *is* or *are*
    past = _PAST_FORM if _PAST_NARRATION.search(text) else _WAS
    if _PRESENT_FORM.search(text):
        return worded
    return worded.replaced(past, lambda found: _PRESENT_FORMS[found[0]])


def _as_you(found: re.Match[str]) -> str:
    """Return *you* for *the agent*, in a text that never says *you*."""
    if found["bare"]:
        return f"You {_SECOND_PERSON[found['bare']]}"
    you = "You" if found["article"] == "T" else "you"
    you += "r" if found["own"] else ""
    return f"{you} {_SECOND_PERSON[found['verb']]}" if found["verb"] else you


def _in_sentence_case(text: str) -> str:
    if not text.isupper() or STATUS_LINE.fullmatch(text):
        return text
    lower = text.lower()
    if len(lower) != len(text):
        return text
    lower = re.sub(r"(?:^|[.!?:]\s+|\n[^\S\n]*)[a-z]|\bi\b", lambda m: m.group().upper(), lower)
    return re.sub(
        r"^(?!(?:You|I|It|There) )[^\n.!?:,]{1,40}$",
        lambda m: m.group().title(),
        lower,
        flags=re.MULTILINE,
    )
