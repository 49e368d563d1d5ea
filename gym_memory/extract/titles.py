"""Titles of places: decorated, underlined or bracketed lines, and lines above a description."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from gym_memory.extract.label_kinds import EXITS, LABEL, kind_of_label
from gym_memory.extract.notes.words import ROOM, kind_of_noun
from gym_memory.extract.wording import LEADS, either

__all__ = ["BANNER", "STATE_OF_PLACE", "Title", "is_rule", "title_of"]


class Title(NamedTuple):
    """A line that may name a place.

    Its form makes it ``sure``, prose below makes it ``described``. It is ``apart`` if a blank line
    comes before the prose, as after any heading.
    """

    name: str
    start: int
    sure: bool
    described: bool
    apart: bool = False
    remark: str = ""
    """Text in brackets after the name: *west end*."""


_RULE = re.compile(r"\W*([-=~_*+])\1{2,}\W*")
_FRAME = re.compile(
    r"(?:={2,}|=>|-=|\*{2,}|__|<<|>>|#{1,6} |\[|-{2,}|~+|[—–]+)[ \t]*"
    r"(?P<name>[^\W\d_](?:[\w',&.() /—–-]*[\w')])?)"
    r"[ \t]*(?:={2,}|=-.*|\*{2,}|__|>>|<<|#{0,6}|\]|-{2,}|~+|[—–]+)"
)
"""A name between marks, perhaps with a status after it."""
_FRAME_MARKS = "=-*_<>#[~—–"
_BARE = re.compile(
    r"(?P<name>(?:[A-Z][a-z]{0,2}\. )?[A-Z][\w',&/ -]{0,58}?[\w')])"
    r"(?:(?: \(|, )(?:on|in|at|by|near|under|beside|above|below|behind|inside|outside) [^()\n]*\)?"
    r"| [(\[](?P<remark>[^()\[\]\n]{1,40})[)\]])?"
)
_AFTER_TITLE = (" (", " [", ", ")
"""Beginnings of what may follow a bare title."""
STATE_OF_PLACE = re.compile(
    r"(?:you are here|(?:very |pitch )?dark"
    r"|lit|safe|unsafe|visited|explored|indoors|outdoors|quiet|empty"
    r"|locked|open|danger(?:ous)?|new|night|day)\b.*",
    re.IGNORECASE,
)
"""Remark after a title about the state of the place; others are part of its name."""
_PHRASE_START = re.compile(
    r"(?:in|on|at|by|under|behind|beside|beneath|below|above|near|inside|outside|among|between|atop"
    r"|along|before|halfway|top|bottom|foot|end|edge)\b",
    re.IGNORECASE,
)
"""First word of a title that is a phrase: *At the foot of the cliff*."""
_ABOVE_INSCRIPTION = re.compile(
    r":\s*$|\b(?:carved|written|inscribed|engraved|read(?:s|ing)?|say(?:s|ing)|painted|scratched|etched|chalked|spelt"
    r"|scrawled|printed)\b[^.]*$",
    re.IGNORECASE,
)
"""Line above an inscription, after which no title follows."""
_TITLE_WORD = re.compile(
    r"[A-Z0-9(]|-$|(?:of|the|in|at|on|to|and|a|an|by|with|from|for|le|la|de|du|near|under)$"
)
_NO_PLACE = re.compile(
    r"(?:(?:turn|day|time|round|step|level|chapter|act|part|game|move)s?"
    r"(?: (?:\d|of\b|[ivx]+\b).*)?"
    rf"|{either('other_titles')}|(?:your )?{either('other_headings')}\b.*)",
    re.IGNORECASE,
)
"""Lines that head something other than a place."""
BANNER = re.compile(r"(?:an? |infocom )?interactive |copyright\b|\(c\)", re.IGNORECASE)
"""Line below the name of a story."""
_DESCRIPTION = re.compile(r"[ \t]*[A-Z\"'(*_](?:[^\n]*[.!?]|[^\n:=|]{38,}[a-z,][ \t]*$)")
"""A line of prose, perhaps wrapped before its first full stop."""
_AFTER_HEAD = re.compile(
    r" (?:of|in|on|at|along|by|near|to|between|above|below|under|behind|beside|outside|beyond) "
)
"""Preposition after the head noun of a title."""
_VERB = re.compile(rf"\b(?:is|are|am|was|were|has|have|you|your|{LEADS})\b", re.IGNORECASE)
"""Words by which a line with a full stop is a sentence."""
_MAX_TITLE_CHARS = 100
_MAX_TITLE_WORDS = 10
_MAX_HEADING_WORDS = 7
"""Most words of a title that is not in title case."""
_MAX_LOWER_CASE_WORDS = 3
_SENTENCE_WORD = re.compile(
    r"(?:you|i|we|he|she|it|they|there|here|this|that|what|where|who|how|please|the|an?|some)\b"
    r"|\w+(?:ing|ed)\b",
    re.IGNORECASE,
)


class _TextLine(NamedTuple):
    """A line of a text that has no empty lines, with those around it.

    Attributes:
        number: Number of the line in the text, from 0.
        words: Its words, without space around.
        start: Offset of its first word in the text.
        text: The whole text.
        above: Line above, perhaps beyond empty ones; empty for the first line.
        below: Line below, perhaps beyond empty ones; empty for the last line.
        follows: True if no empty line comes before the one below.
        begins: True for the first line of the text or of a paragraph.
    """

    number: int
    words: str
    start: int
    text: str
    above: str
    below: str
    follows: bool
    begins: bool

    @classmethod
    def of(cls, lines: Sequence[re.Match[str]], at: int) -> _TextLine:
        """Return a line of a text."""
        found = lines[at]
        line = found.group()
        below = lines[at + 1] if at + 1 < len(lines) else None
        return cls(
            at,
            line.strip(),
            found.start() + len(line) - len(line.lstrip()),
            found.string,
            lines[at - 1].group() if at else "",
            "" if below is None else below.group(),
            below is not None and below.start() == found.end() + 1,
            at == 0 or found.start() > lines[at - 1].end() + 1,
        )


def title_of(lines: Sequence[re.Match[str]], at: int) -> Title | None:
    """Return the title in a line; None for another line."""
    line = _TextLine.of(lines, at)
    framed = _FRAME.fullmatch(line.words) if line.words[:1] in _FRAME_MARKS else None
    if framed is None:
        return _bare_title(line)
    if line.words[0] == "[" and sum(map(_in_brackets, lines)) > 1:
        return None  # buttons: [Back] and [Buy Now]
    return _framed_title(line, framed)


def _framed_title(line: _TextLine, framed: re.Match[str]) -> Title | None:
    """Return the title between marks: *== Old Mill ==*."""
    name = framed["name"]
    named = line.words[0] not in "[*_" or _is_in_title_case(name)
    if (named or (line.follows and kind_of_noun(name.lower()) == ROOM)) and _may_be_place(name):
        return Title(name, line.start + framed.start("name"), True, True)
    return None


def _bare_title(line: _TextLine) -> Title | None:
    """Return the title in a line without marks."""
    words = _bare_words(line)
    bare = _BARE.fullmatch(words) if words else None
    if bare is None or not _may_be_place(bare["name"]):
        return None
    if line.follows and BANNER.match(line.below):
        return None
    if _ABOVE_INSCRIPTION.search(line.above):
        return None
    prose = _DESCRIPTION.match(line.below) is not None
    sure = line.follows and is_rule(line.below)
    described = line.follows and (prose or _lists_exits(line.below))
    titled = _is_in_title_case(bare["name"]) or (
        _PHRASE_START.match(words) is not None and _names_room(words)  # In the sitting room
    )
    if not titled:
        heads_exits = line.number == 0 and "xits" in line.text and _VERB.search(words) is None
        if not (described and (heads_exits or _is_heading(words))):
            return None
    if not (sure or described or line.begins):
        return None
    apart = titled and prose and not line.follows and _heads_text(line)
    remark = bare["remark"] or ""
    remark = "" if STATE_OF_PLACE.fullmatch(remark) else remark
    return Title(bare["name"], line.start, sure, described, apart, remark)


def _bare_words(line: _TextLine) -> str:
    """Return a line as words of a title; empty for a line that is none.

    The first line of a text may have a stop or a colon, or be in lower case.
    """
    words = line.words
    is_first = line.number == 0
    heads = is_first and line.follows
    if is_first and words[-1:] == "." and _may_stop(words[:-1], line):
        words = words[:-1]
    if words.endswith((".", "!", "?")) or len(words) > _MAX_TITLE_CHARS:
        return ""  # true of most lines, and the pattern of a title is slow to fail
    if heads and words[-1:] == ":" and _names_room(words[:-1]):
        words = words[:-1]  # Kitchen: above its description
    if ":" in words and not any(map(words.partition(":")[0].__contains__, _AFTER_TITLE)):
        return ""
    if heads and words.islower() and kind_of_noun(words) == ROOM:
        return words.capitalize()
    return words


def _heads_text(line: _TextLine) -> bool:
    """True if at most a line such as *Turn 3* comes before a line."""
    return line.number == 0 or (
        line.number == 1 and _NO_PLACE.fullmatch(line.above.strip()) is not None
    )


def _is_in_title_case(name: str) -> bool:
    return all(map(_TITLE_WORD.match, name.split()))


def _in_brackets(line: re.Match[str]) -> bool:
    words = line.group().strip()
    return words[:1] == "[" and _FRAME.fullmatch(words) is not None


def _may_stop(name: str, line: _TextLine) -> bool:
    """True if a first line may be a title with a full stop: *Old Wharf.*, above a description."""
    with_exits = " exit" in line.text
    if with_exits and _is_in_title_case(name):
        return True
    most = _MAX_HEADING_WORDS + 1 if with_exits else _MAX_LOWER_CASE_WORDS
    if not line.follows or len(name.split()) > most:
        return False
    return _names_room(name) and name[0].isupper() and _VERB.search(name) is None


def _names_room(name: str) -> bool:
    """True if the head noun or the last word of a name means a room."""
    head = _AFTER_HEAD.split(name.lower(), maxsplit=1)[0]
    return ROOM in (kind_of_noun(head), kind_of_noun(name.rpartition(" ")[2].lower()))


def _lists_exits(line: str) -> bool:
    """True if a line lists exits, so that the line above it names the place."""
    label = LABEL.match(line) if ":" in line else None
    return label is not None and kind_of_label(label["label"]) == EXITS


def is_rule(line: str) -> bool:
    """True if a line underlines or separates others: *-----*."""
    return not line[-1].isalnum() and _RULE.fullmatch(line) is not None


def _is_heading(line: str) -> bool:
    """True if a line without title case may still be a name: *Forest path*."""
    words = line.split()
    if _PHRASE_START.match(line) and len(words) > 1:
        return len(words) <= _MAX_HEADING_WORDS
    is_room = _names_room(line)
    talks = _SENTENCE_WORD.match(line) is not None and not is_room
    lower = [word for word in words if not _TITLE_WORD.match(word)]
    few = len(words) <= _MAX_HEADING_WORDS and len(lower) < _MAX_LOWER_CASE_WORDS + is_room
    return few and not talks


def _may_be_place(name: str) -> bool:
    if len(name.split()) > _MAX_TITLE_WORDS:
        return False
    if _NO_PLACE.fullmatch(name) is None:
        return True
    modifier, _, noun = name.lower().rpartition(" ")  # Observation Deck
    return modifier.isalpha() and kind_of_noun(noun) == ROOM
