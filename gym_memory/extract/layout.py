"""The layout of a game's text: the title of a place, labelled values and lists, and the prose.

A title is decorated, underlined, labelled, or a line of its own above a description. What is left
of a line, a list or a table is a label with its items.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

__all__ = [
    "CARRIED",
    "CONTENTS",
    "EXITS",
    "HERE",
    "HOLDER",
    "PLACE",
    "STATE",
    "LabelItems",
    "Layout",
    "LayoutItem",
]
__all__ += ["Layout", "Title", "layout_of"]

PLACE, EXITS, CARRIED, HERE, HOLDER, STATE = "place", "exits", "carried", "here", "holder", "state"
"""Kinds of labels: the place, ways out, all that is carried, what is here or in something, else."""


class Title(NamedTuple):
    """A line that may name a place; ``sure`` by its form, ``described`` if prose follows."""

    name: str
    start: int
    sure: bool
    described: bool


class LayoutItem(NamedTuple):
    """A value or a part of a list, and where it begins in the text."""

    text: str
    start: int

    @property
    def span(self) -> tuple[int, int]:
        """Return the characters of the text."""
        return self.start, self.start + len(self.text)


class LabelItems(NamedTuple):
    """A label of a kind with its items; of a state the one item is its value."""

    kind: str
    label: LayoutItem
    items: tuple[LayoutItem, ...]


class Layout(NamedTuple):
    """The parts of a text."""

    titles: tuple[Title, ...]
    labels: tuple[LabelItems, ...]
    prose: str
    """The text with blanks in the place of titles and labels, and of breaks inside sentences."""


_LINE = re.compile(r"[^\n]+")
_RULE = re.compile(r"\W*([-=~_*+])\1{2,}\W*")
_FRAME = re.compile(
    r"(?:={2,}|-=|\*\*|__|<<|#{1,4} |\[|-{2,}|~{2,})[ \t]*"
    r"(?P<name>[^\W\d_](?:[\w',&.() /-]*[\w')])?)"
    r"[ \t]*(?:={2,}|=-.*|\*\*|__|>>|#{0,4}|\]|-{2,}|~{2,})"
)
"""A name between marks, perhaps with a status behind it."""
_FRAMES = "=-*_<#[~"
_BARE = re.compile(
    r"(?P<name>[A-Z][\w',&/ -]{0,58}?[\w')])"
    r"(?:(?: \(|, )(?:on|in|at|by|near|under|beside) [^()\n]*\)?)?"
)
_SMALL = re.compile(
    r"[A-Z0-9(]|(?:of|the|in|at|on|to|and|a|an|by|with|from|for|le|la|de|du|near|under)$"
)
_NO_PLACE = re.compile(
    r"(?:(?:turn|day|time|round|step|level|chapter|act|part|game|move)s?"
    r"(?: (?:\d|of\b|[ivx]+\b).*)?"
    r"|(?:taken|dropped|ok|okay|done|opened|closed|yes|no|help|the end|game over|it|you|darkness)"
    r"|(?:you're|i'm|welcome|instructions?|commands?|hints?|goals?|tasks?|quests?|objectives?|mission|score"
    r"|status|inventory|exits?|items?|notes?|warning|error|stats?|press|type|your|release|copyright|version"
    r"|observation|action|result|feedback|history|legend|available|possible|current|description"
    r"|summary|rules?)\b.*)",
    re.IGNORECASE,
)
"""Lines that head something else."""
_BANNER = re.compile(r"(?:an? |infocom )?interactive |copyright\b|\(c\)", re.IGNORECASE)
"""Line below the name of a story."""
_BULLET = re.compile(r"[ \t]*(?:[-*+•·>]|\d{1,2}[.)])[ \t]+")
_COUNTED = re.compile(rf"{_BULLET.pattern}[a-z][\w ]*: \d")
"""A list of numbers may have labels in lower case."""
_MARK = re.compile(rf"(?:{_BULLET.pattern}|[ \t]*)[\[(|`]*[ \t]*(?:(?:\*\*|__)[ \t]*)?")
_LABEL = re.compile(
    r"(?P<label>[A-Za-z][\w'/]*(?:,?[ -][\w'/]+){0,11})(?: \([^()\n]{1,60}\))?[ \t]*"
    r"(?:(?:\*\*|__)[ \t]*)?"
    r"(?::(?!//|\d\d\b)|=|\|)[ \t]*(?:(?:\*\*|__)[ \t]*)?(?P<value>[^\n]*)"
)
_DIVIDER = re.compile(r"[:=|]")
"""Without one of these a line has no label."""
_NEXT = re.compile(
    r"(?:, (?=[A-Z])|(?<![ \t])(?:[ \t]*[|;][ \t]*|[ \t]{2,}))"
    r"(?=[A-Za-z][\w' ]{0,20}(?:: ?|=| = )[^|])"
)
"""Between two pairs of a line."""
_KINDS = tuple(
    (kind, re.compile(words, re.IGNORECASE))
    for kind, words in (
        (PLACE, r"(?:your |current )?(?:location|room|place|area|position)|you are here|where"),
        (EXITS, r"(?:there are )?(?:[a-z]+ )?(?:exits?|paths|ways(?: out)?)(?: (?:are|here))?"
                r"|[a-z]+ directions|(?:from here )?you can (?:go|move|travel|walk)(?: to)?"
                r"|(?:neighbou?ring|nearby|connected|adjacent|reachable|linked)"
                r" (?:areas?|locations?|rooms?|places?)"),
        (CARRIED, r"(?:in )?(?:your |my )?inventory(?:,? you see| contains)?"
                  r"|(?:(?:you|i)(?:'re|'m| are| am) )?(?:now |currently )?(?:carrying|holding)"
                  r"(?: the following)?|(?:you|i) (?:have|carry|hold)"
                  r"|(?:items|things) (?:held|carried)|in your (?:hands?|pockets?|bag|possession)"
                  r"|(?:your )?(?:backpack|rucksack|satchel)"),
        (HERE, r"(?:(?:(?:in|on|at|inside) [\w' -]+|around (?:you|me)),? )?"
               r"(?:you|i) (?:can )?(?:also )?(?:see|notice|find)(?: here| the following(?: \w+)?)?"
               r"|(?:visible )?(?:items|objects|things)"
               r"(?: here| nearby| in view| present| on the map| in (?:the )?room)?|here"
               r"|(?:characters|people|npcs|creatures|enemies|monsters)(?: here| present)?"
               r"|on the (?:ground|floor)"),
        (HOLDER, r"(?:(?:on|in|inside) )?(?:the |your )?[\w', -]+?"
                 r" (?:contains?|holds?|consists? of)(?: the following(?: \w+)?)?"
                 r"|(?:on|in|inside|under) (?:the|a|an) [\w' -]+"),
    )
)  # fmt: skip
_SENTENCE_END = (".", "!", "?", '."', '!"', '?"', ":")
_DESCRIPTION = re.compile(r"[ \t]*[A-Z\"'(*_][^\n]*[.!?]")
_LONG = 45
"""Characters from which a line without a stop is taken for a wrapped one."""
_ANSWERS = re.compile(r"(?:taken|dropped)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:you|your|i|my|it|there)\b", re.IGNORECASE)
"""A line below a label that begins so is a sentence, not an item."""
CONTENTS = r"(?:,? (?:that|which)\b| (?:contains?|holds?|consists? of)\b).*"
"""Regular expression of what follows a holder in a label."""
_FIRST = re.compile(r"[^.!?]+[.!?](?=[ \t]+[A-Z])")
"""First of several sentences: it names a thing, the others describe it."""
_MOST_WORDS = 7
_MOST_STATE_WORDS = 4
_HEADING_WORDS = 3
_TALK = re.compile(
    r"(?:you|i|we|he|she|it|they|there|here|this|that|what|where|who|how|please|the|an?|some)\b"
    r"|\w+(?:ing|ed)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def layout_of(text: str) -> Layout:
    """Return the parts of a text."""
    if text[-1:] in ".!?" and not _MARKED.search(text):
        return Layout((), (), text)
    if ":" in text:
        text = _LAST_OF_LINE.sub(r"\1\n", text)
    titles: list[Title] = []
    labels: list[LabelItems] = []
    lines = list(_LINE.finditer(text))
    cut = [False] * len(lines)
    at = 0
    while at < len(lines):
        after = _headed(text, lines, at, labels)
        title = _title(text, lines, at) if after == at else None
        if title is not None:
            titles.append(title)
            after = at + 1
        elif _RULE.fullmatch(lines[at].group()):
            after = at + 1
        elif after == at:
            after = _labelled(text, lines, at, labels)
        cut[at:after] = [True] * (after - at)
        at = max(at + 1, after)
    return Layout(tuple(titles), tuple(labels), _prose(text, lines, cut))


_MARKED = re.compile(r"[\n:=|\[#*]")
"""Without one of these a text that ends a sentence is prose."""
_LAST_OF_LINE = re.compile(
    r"(?<=[.!?])([ \t]*)[ \t]"
    r"(?=\w[^.!?:\n]*:[ \t]*\n|Exits:)"
)
"""Blank before the last sentence of a line, if it is a label."""


def _prose(text: str, lines: Sequence[re.Match[str]], cut: Sequence[bool]) -> str:
    parts, end = [], 0
    for n, line in enumerate(lines):
        gap = text[end : line.start()]
        if (
            gap == "\n"
            and not (cut[n] or cut[n - 1])
            and line.start() - 1 - lines[n - 1].start() >= _LONG
        ):
            gap = gap if lines[n - 1].group().rstrip().endswith(_SENTENCE_END) else " "
        begin = _indent(line)
        first = _FIRST.match(line.group(), begin) if cut[n] and begin else None
        blank = first.end() if first else len(line.group()) if cut[n] else 0
        parts += [gap, " " * blank, line.group()[blank:]]
        end = line.end()
    return "".join(parts)


def _title(text: str, lines: Sequence[re.Match[str]], at: int) -> Title | None:
    """Return the title that a line is."""
    line = lines[at].group()
    start = lines[at].start() + len(line) - len(line.lstrip())
    words = line.strip()
    follows = at + 1 < len(lines) and lines[at + 1].start() == lines[at].end() + 1
    framed = _FRAME.fullmatch(words) if words[:1] in _FRAMES else None
    if framed is not None:
        name = framed["name"]
        plain = words[0] not in "[*_" or all(map(_SMALL.match, name.split()))
        if plain and _may_be_place(name):
            return Title(name, start + framed.start("name"), True, True)
        return None
    if words.endswith((".", "!", "?")) and ", " not in words and " (" not in words:
        return None  # most lines; the form is slow to fail
    bare = _BARE.fullmatch(words)
    if bare is None or not _may_be_place(bare["name"]):
        return None
    if follows and _BANNER.match(lines[at + 1].group()):
        return None
    sure = follows and _RULE.fullmatch(lines[at + 1].group()) is not None
    described = follows and _DESCRIPTION.match(lines[at + 1].group()) is not None
    if not (all(map(_SMALL.match, bare["name"].split())) or (described and _is_heading(words))):
        return None
    first = at == 0 or lines[at].start() > lines[at - 1].end() + 1
    if not (sure or described or first):
        return None
    return Title(bare["name"], start, sure, described)


def _is_heading(line: str) -> bool:
    """True if a line that is not in title case may still be a name: *Forest path*."""
    return len(line.split()) <= _HEADING_WORDS and _TALK.match(line) is None


def _may_be_place(name: str) -> bool:
    return len(name.split()) <= _MOST_WORDS and not _NO_PLACE.fullmatch(name)


def _labelled(text: str, lines: Sequence[re.Match[str]], at: int, labels: list[LabelItems]) -> int:
    """Read the label of a line with its values or the list below; return the line after it."""
    line = lines[at]
    found = None
    if _DIVIDER.search(line.group()):
        begin = _MARK.match(line.group())
        found = _LABEL.match(text, line.start() + (begin.end() if begin else 0), line.end())
    if found is None:
        return at
    kind = _kind(found["label"])
    value = _trimmed(found["value"])
    if _ANSWERS.match(value) or (
        kind == STATE
        and (
            not value
            or len(found["label"].split()) > _MOST_STATE_WORDS
            or "," in found["label"]
            or not (found["label"][0].isupper() or _COUNTED.match(line.group()))
        )
    ):
        return at
    label = LayoutItem(found["label"], found.start("label"))
    if value:
        more = _NEXT.search(value)
        first = value[: more.start()] if more else value
        labels.append(LabelItems(kind, label, (LayoutItem(first.strip(), found.start("value")),)))
        while more is not None:
            here = found.start("value") + more.end()
            pair = _LABEL.match(text, here, found.start("value") + len(value))
            if pair is None:
                break
            more = _NEXT.search(value, more.end())
            end = found.start("value") + (more.start() if more else len(value))
            named = LayoutItem(pair["label"], pair.start("label"))
            value_item = LayoutItem(_trimmed(text[pair.start("value") : end]), pair.start("value"))
            labels.append(LabelItems(_kind(pair["label"]), named, (value_item,)))
        return at + 1
    return _list(text, lines, at, LabelItems(kind, label, ()), labels)


def _headed(text: str, lines: Sequence[re.Match[str]], at: int, labels: list[LabelItems]) -> int:
    """Read a list below a heading without a colon; return the line after it."""
    if at + 1 == len(lines) or not _BULLET.match(lines[at + 1].group()):
        return at
    name = lines[at].group().strip(" \t#*_=[]")
    kind = _kind(name)
    if kind in (PLACE, STATE):
        return at
    label = LayoutItem(name, lines[at].start() + lines[at].group().index(name))
    return _list(text, lines, at, LabelItems(kind, label, ()), labels)


def _list(
    text: str,
    lines: Sequence[re.Match[str]],
    at: int,
    head: LabelItems,
    labels: list[LabelItems],
) -> int:
    """Read the lines of a list below its label; lists inside it stand further to the right."""
    own = _indent(lines[at])
    items: list[LayoutItem] = []
    end, at = lines[at].end(), at + 1
    while at < len(lines):
        line, mark = lines[at], _MARK.match(lines[at].group())
        body = _trimmed(line.group()[mark.end() if mark else 0 :])
        marked = mark is not None and mark.group().strip() != ""
        gap = line.start() - end
        further = marked or _indent(line) > own
        first_line = head.kind != HOLDER and not body.endswith(_SENTENCE_END)
        loose = own == 0 and head.kind == CARRIED if items else first_line
        if not body or gap > (1 if items or head.kind != CARRIED else 2) or not (further or loose):
            break
        named = marked or body.endswith(":") or (further and not _CLAUSE.match(body))
        if body.endswith(_SENTENCE_END) and not named:
            break
        inner = _LABEL.match(body) if _DIVIDER.search(body) else None
        if inner is not None and not inner["value"] and _kind(inner["label"]) == HOLDER:
            nested = LabelItems(
                HOLDER, LayoutItem(inner["label"], line.end() - len(line.group().lstrip())), ()
            )
            at = _list(text, lines, at, nested, labels)
            end = lines[at - 1].end()
            items.append(nested.label._replace(text=re.sub(CONTENTS, "", inner["label"])))
            continue
        if items and not marked and _indent(line) > _indent(lines[at - 1]) > own:
            holder = items[-1]._replace(text=items[-1].text.partition(" (")[0])
            at = _list(text, lines, at - 1, LabelItems(HOLDER, holder, ()), labels)
            end = lines[at - 1].end()
            continue
        first = _FIRST.match(body)
        items.append(
            LayoutItem(first[0] if first else body, line.start() + (mark.end() if mark else 0))
        )
        end, at = line.end(), at + 1
    labels.append(head._replace(items=tuple(items)))
    return at


def _trimmed(value: str) -> str:
    """Return a value without marks behind it and brackets that close what began before it."""
    value = value.rstrip(" \t\r|`*_")
    while (
        value and value[-1] in ")]" and value.count(value[-1]) > value.count("(["[value[-1] == "]"])
    ):
        value = value[:-1].rstrip(" \t\r|`*_")
    return value


def _indent(line: re.Match[str]) -> int:
    return len(line.group()) - len(line.group().lstrip())


@lru_cache(maxsize=1024)
def _kind(label: str) -> str:
    return next((kind for kind, words in _KINDS if words.fullmatch(label)), STATE)
