"""Titles of places: decorated, underlined or bracketed lines, and lines above a description."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from gym_memory.extract.label_kinds import EXITS, LABEL, kind_of_label
from gym_memory.extract.notes.words import ROOM, kind_of_noun
from gym_memory.extract.wording import LEADS, either

__all__ = ["BANNER", "RULE", "RULE_MARKS", "STATE_OF_PLACE", "Title", "is_rule", "title_of"]


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


RULE = re.compile(r"\W*([-=~_*+])\1{2,}\W*")
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
RULE_MARKS = "-=~_*+"
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


def title_of(lines: Sequence[re.Match[str]], at: int) -> Title | None:
    """Return the title in a line; None for another line."""
    line = lines[at].group()
    start = lines[at].start() + len(line) - len(line.lstrip())
    words = line.strip()
    follows = at + 1 < len(lines) and lines[at + 1].start() == lines[at].end() + 1
    framed = _FRAME.fullmatch(words) if words[:1] in _FRAME_MARKS else None
    if framed is not None:
        if words[0] == "[" and sum(map(_in_brackets, lines)) > 1:
            return None  # buttons: [Back] and [Buy Now]
        name = framed["name"]
        plain = words[0] not in "[*_" or all(map(_TITLE_WORD.match, name.split()))
        plain = plain or (follows and kind_of_noun(name.lower()) == ROOM)
        if plain and _may_be_place(name):
            return Title(name, start + framed.start("name"), True, True)
        return None
    if at == 0 and words[-1:] == "." and _may_stop(words[:-1], lines[0].string, follows=follows):
        words = words[:-1]
    if words.endswith((".", "!", "?")) or len(words) > _MAX_TITLE_CHARS:
        return None  # true of most lines, and the pattern below is slow to fail
    if at == 0 and words[-1:] == ":" and follows and _names_room(words[:-1]):
        words = words[:-1]  # Kitchen: above its description
    if ":" in words and not any(map(words.partition(":")[0].__contains__, _AFTER_TITLE)):
        return None
    if at == 0 and follows and words.islower() and kind_of_noun(words) == ROOM:
        words = words.capitalize()
    bare = _BARE.fullmatch(words)
    if bare is None or not _may_be_place(bare["name"]):
        return None
    if follows and BANNER.match(lines[at + 1].group()):
        return None
    if at and _ABOVE_INSCRIPTION.search(lines[at - 1].group()):
        return None
    below = lines[at + 1].group() if at + 1 < len(lines) else ""
    sure = follows and below[:1] in RULE_MARKS and RULE.fullmatch(below) is not None
    described = follows and (_DESCRIPTION.match(below) is not None or _lists_exits(below))
    named = all(map(_TITLE_WORD.match, bare["name"].split()))
    heads_exits = at == 0 and "xits" in lines[0].string and _VERB.search(words) is None
    phrase = _PHRASE_START.match(words) is not None and _names_room(words)  # In the sitting room
    if not (named or phrase or (described and (heads_exits or _is_heading(words)))):
        return None
    first = at == 0 or lines[at].start() > lines[at - 1].end() + 1
    heads = at == 0 or (at == 1 and _NO_PLACE.fullmatch(lines[0].group().strip()) is not None)
    apart = (named or phrase) and heads and not follows and _DESCRIPTION.match(below) is not None
    if not (sure or described or first):
        return None
    remark = bare["remark"] or ""
    remark = "" if STATE_OF_PLACE.fullmatch(remark) else remark
    return Title(bare["name"], start, sure, described, apart, remark)


def _in_brackets(line: re.Match[str]) -> bool:
    words = line.group().strip()
    return words[:1] == "[" and _FRAME.fullmatch(words) is not None


def _may_stop(name: str, text: str, *, follows: bool) -> bool:
    """True if a first line may be a title with a full stop: *Old Wharf.*, above a description."""
    words, with_exits = name.split(), " exit" in text
    if with_exits and all(map(_TITLE_WORD.match, words)):
        return True
    if not follows or len(words) > (
        _MAX_HEADING_WORDS + 1 if with_exits else _MAX_LOWER_CASE_WORDS
    ):
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
    return not line[-1].isalnum() and RULE.fullmatch(line) is not None


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
