"""The layout of a game's text: titles of places, labelled values and lists, and the prose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from gym_memory.extract.label_kinds import (
    CARRIED,
    CONTENTS,
    EXITS,
    HERE,
    HOLDER,
    LABEL,
    PLACE,
    STATE,
    WITHIN,
    kind_of_label,
)
from gym_memory.extract.titles import BANNER, RULE, RULE_MARKS, Title, is_rule, title_of
from gym_memory.graph.schema import DIRECTIONS, SHORT_DIRECTIONS

__all__ = ["LabelItems", "Layout", "LayoutItem", "layout_of"]


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
_COLUMN_RULE = re.compile(r"\|?:?-{2,}:?(?:\|:?-{2,}:?)+\|?")
_BULLET = re.compile(
    r"[ \t]*(?:[-*+•·>]|\d{1,2}[.)]|[a-zA-Z]\)|[\[(] ?\d{1,3}x?[\])](?=[ \t]+[a-z])"
    r"|<[a-z][a-z ]*>)[ \t]+"
)
_CHOICE = re.compile(r"[ \t]*(?:\[?(?:\d{1,2}|[a-z])[.):\]]|>)[ \t]+[A-Z]")
_COUNTED = re.compile(
    rf"{_BULLET.pattern}[a-z][\w ]*: (?:\d|(?:open|closed|shut|(?:un)?locked|(?:un)?lit|on|off"
    rf"|empty)$)"
    r"|[ \t]*[a-z][\w' ]{0,20}: [\w/%]+(?:[;,|] [a-z][\w' ]{0,20}: [\w/%]+)*$"
    r"|[ \t]*[a-z][\w.]{0,20}=(?:[\w/%.-]+|\[[^\[\]\n]*\])"
    r"(?:[;,|]? [a-z][\w.]{0,20}=(?:[\w/%.-]+|\[[^\[\]\n]*\]))+$"
)
"""A list of numbers, and a line of pairs of one word each, may have labels in lower case."""
_MARK = re.compile(rf"(?:{_BULLET.pattern}|[ \t]*)[\[(|`]*[ \t]*(?:(?:\*\*|__)[ \t]*)?")
_MARKS = frozenset(" \t-*+•·<>[(|`_0123456789")
_AFTER_LETTER = (")", ".", ":", "]")
"""First characters of a mark, and second ones of a mark that begins with a letter."""
_STARTS = " \t-*+•·>=_~<#[0123456789abcdefghijklmnopqrstuvwxyz"
"""First characters of lines of lists, of titles, and of labels."""
"""Without one of these a line has no label."""
_NEXT = re.compile(
    r"(?:, (?=[A-Z])|(?<![ \t])(?:[ \t]*[|;][ \t]*|[ \t]{2,}| (?=/ [A-Z])/ ))"
    r"(?=(?:[A-Za-z]|\$)[\w' ]{0,20}(?:: ?|=| = )[^|])"
    r"|(?<=\S) (?=[A-Za-z$]\w{0,8}[:=]\S)"
)
"""Between two pairs of a line."""
_SENTENCE_END = (".", "!", "?", '."', '!"', '?"', ":")
_LONG = 45
"""Characters from which a line without a stop is taken for a wrapped one."""
_ANSWERS = re.compile(r"(?:taken|dropped)\b", re.IGNORECASE)
_SAYING = re.compile(
    r"\w (?:says?|said|reads?|states?|announces?|declares?|asks?|adds?|repl(?:y|ies)|answers?"
    r"|(?:whisper|shout|mutter|murmur|call|cr(?:y|ie)|explain|continue|growl|hiss)(?:s|e[ds])?)$"
)
"""Last words of a sentence before what is said, which is no label: *the book says*."""
_SAYS = re.compile(
    r"(?:the|you|it|there) (?:[^:]{1,80} )?(?:is|are|was|were) [^:]{1,80}$", re.IGNORECASE
)
"""A sentence behind a colon: *Failure: the box is locked.*"""
_DIRECTED = re.compile(rf"(?:{'|'.join(DIRECTIONS)})\b", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:you|your|i|my|it|there)\b", re.IGNORECASE)
"""A line below a label that begins so is a sentence, not an item."""
_CONTAINING = re.compile(r"(?:,? (?:which )?contain(?:s|ing))?:$")
"""Words behind the name of an item whose contents follow below it."""
_IS_WAY = re.compile(rf"(?:{'|'.join((*DIRECTIONS, *SHORT_DIRECTIONS))})", re.IGNORECASE)
_HOLDING = re.compile(r"(?:which )?(?:containing|contains|holding|holds) ")
"""Words before an inner item: *a basket*, and below it *containing a pearl*."""
_FIRST = re.compile(r"[^.!?]+[.!?](?=[ \t]+[A-Z])")
"""First of several sentences: it names a thing, the others describe it."""
_LISTING = re.compile(
    r"(?:There are (?:several|many|some|a few|other) (?:objects|things|items) here"
    r"|(?:Things|Objects) that are here|You see here|Here (?:is|are)|You see several \w+ here)[.:]?"
)
"""A sentence that heads a list."""
_LISTINGS = ("There are ", "Things ", "Objects ", "You see ", "Here ")
_MOST_STATE_WORDS = 4


@lru_cache(maxsize=1024)
def layout_of(text: str) -> Layout:
    """Return the parts of a text."""
    if text[-1:] in ".!?" and not _MARKED.search(text):
        return Layout((), (), text)
    if ":" in text:
        if "Exits:" in text or _HEADING.search(text):
            text = _LAST_OF_LINE.sub(r"\1\n", text)
        if ". " in text and ": " in text:
            text = "\n".join(
                _INLINE.sub(_alone, line) if ". " in line and ": " in line else line
                for line in text.split("\n")
            )
    titles: list[Title] = []
    labels: list[LabelItems] = []
    lines = list(_LINE.finditer(text))
    cut = [False] * len(lines)
    at = 0
    while at < len(lines):
        if _is_prose(text, lines, at):
            at += 1
            continue
        after = _headed(text, lines, at, labels)
        title = title_of(lines, at) if after == at else None
        if title is not None:
            titles.append(title)
            after = at + 1
        elif is_rule(lines[at].group()) or _is_table_head(lines, at) or _is_choice(lines, at):
            after = at + 1
        elif after == at:
            after = _labelled(text, lines, at, labels)
        cut[at:after] = [True] * (after - at)
        at = max(at + 1, after)
    return Layout(tuple(titles), tuple(labels), _prose(text, lines, cut))


_MARKED = re.compile(r"[\n:=|\[#*]")
"""Without one of these a text that ends a sentence is prose."""
_INLINE = re.compile(
    r"(?P<before>^|(?<=[.!?])[ \t]|(?<=[.!?][ \t]))(?P<label>[A-Z][\w']*(?: [\w']+){0,4}):"
    r"(?:[ \t]+|(?=\d+[(/]))"
    r"(?P<value>(?:[^\n.:!?]|\.(?=\d))*)(?<!\b[A-Z])(?P<stop>[.!?]?)(?:(?P<gap>[ \t])(?=[A-Z])|$)"
)
"""A label in a line of sentences, with its value up to the full stop."""
_GOAL = re.compile(
    r"(?:(?:your|the|current|main|new) )?(?:tasks?|goals?|objectives?|quests?|mission)",
    re.IGNORECASE,
)
"""Labels of what is to be done, in a sentence of any length."""
_LAST_OF_LINE = re.compile(r"([.!?][ \t]*)[ \t](?=\w[^.!?:\n]*:[ \t]*\n|Exits:)")
"""End of the sentence before the last one of a line, if that is a label."""
_HEADING = re.compile(r":[ \t]*\n")


def _is_prose(text: str, lines: Sequence[re.Match[str]], at: int) -> bool:
    """True of most lines of sentences, as a fast test before the slow ones."""
    line = lines[at].group()
    if line[-1] not in ".!?" or line[0] in _STARTS or _is_divided(line):
        return False
    below = lines[at + 1].start() if at + 1 < len(lines) else -1
    return (below < 0 or text[below] not in _STARTS) and not line.startswith(_LISTINGS)


def _alone(found: re.Match[str]) -> str:
    """Return a label and its value on a line of their own."""
    short = len(found["value"].split()) <= _MOST_STATE_WORDS or _GOAL.fullmatch(found["label"])
    sure = found["gap"] or found["label"].lower() in DIRECTIONS
    if kind_of_label(found["label"]) == STATE and not (short and sure):
        return found[0]
    begin, end = found.start("label") - found.start(), len(found[0]) - len(found["gap"] or "")
    return "\n" * len(found["before"]) + found[0][begin:end] + "\n" * len(found["gap"] or "")


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
        words, blank = line.group(), 0
        if cut[n]:
            begin = _indent(line)
            first = _FIRST.match(words, begin) if begin else None
            blank = first.end() if first else len(words)
        parts += [gap, " " * blank, words[blank:]]
        end = line.end()
    return "".join(parts)


def _is_divided(line: str) -> bool:
    return ":" in line or "=" in line or "|" in line


def _is_choice(lines: Sequence[re.Match[str]], at: int) -> bool:
    """True if a line is one of several that number the possible actions."""
    line = lines[at].group()
    if not _may_be_marked(line) or _CHOICE.match(line) is None:
        return False
    near = (lines[other].group() for other in (at - 1, at + 1) if 0 <= other < len(lines))
    return any(map(_CHOICE.match, near))


def _is_table_head(lines: Sequence[re.Match[str]], at: int) -> bool:
    """True of the names of columns, with a rule of ``|---|`` below."""
    if "|" not in lines[at].group() or at + 1 == len(lines):
        return False
    return _COLUMN_RULE.fullmatch(lines[at + 1].group().strip()) is not None


def _labelled(text: str, lines: Sequence[re.Match[str]], at: int, labels: list[LabelItems]) -> int:
    """Read the label of a line with its values or the list below; return the line after it."""
    line = lines[at]
    found = None
    if _is_divided(line.group()):
        begin = line.start() + len(_mark(line.group()))
        found = LABEL.match(text, begin, line.end())
    if found is None:
        return at
    kind = kind_of_label(found["label"])
    value = _trimmed(found["value"])
    if kind == HERE and value.isdecimal():  # a count
        kind = STATE
    if kind == STATE and at + 1 < len(lines) and BANNER.match(lines[at + 1].group()):
        return at
    if kind == PLACE:
        value = value.removesuffix(".")
        within = WITHIN.match(value)
        if within is None and found["label"].lower().endswith((" are", " am", "'re", "'m")):
            return at
    if (
        _ANSWERS.match(value)
        or _SAYS.match(value)
        or (
            kind == STATE
            and (
                not value
                or len(found["label"].split()) > _MOST_STATE_WORDS
                or "," in found["label"]
                or _SAYING.search(found["label"])
                or not (
                    found["label"][0].isupper()
                    or found["label"] == "$"
                    or _COUNTED.match(line.group())
                )
            )
        )
    ):
        return at
    label = LayoutItem(found["label"], found.start("label"))
    if value:
        more = _NEXT.search(value) if ":" in value or "=" in value else None
        first = value[: more.start()] if more else value
        first = first.partition(" | ")[0] if kind == STATE else first
        labels.append(LabelItems(kind, label, (LayoutItem(first.strip(), found.start("value")),)))
        while more is not None:
            here = found.start("value") + more.end()
            pair = LABEL.match(text, here, found.start("value") + len(value))
            if pair is None:
                break
            more = _NEXT.search(value, more.end())
            end = found.start("value") + (more.start() if more else len(value))
            if kind == EXITS and _IS_WAY.fullmatch(pair["label"]):
                more_ways = LayoutItem(_trimmed(text[here:end]), here)
                labels.append(LabelItems(EXITS, label, (more_ways,)))
                continue
            named = LayoutItem(pair["label"], pair.start("label"))
            value_item = LayoutItem(_trimmed(text[pair.start("value") : end]), pair.start("value"))
            labels.append(LabelItems(kind_of_label(pair["label"]), named, (value_item,)))
        return at + 1
    return _list(text, lines, at, LabelItems(kind, label, ()), labels)


def _headed(text: str, lines: Sequence[re.Match[str]], at: int, labels: list[LabelItems]) -> int:
    """Read a list below a heading without a colon; return the line after it."""
    if at + 1 == len(lines):
        return at
    line = lines[at].group()
    if line.startswith(_LISTINGS) and _LISTING.fullmatch(line.strip()):
        label = LayoutItem("here", lines[at].start())
        return _list(text, lines, at, LabelItems(HERE, label, ()), labels)
    below = lines[at + 1].group()
    if below[:1] in RULE_MARKS and RULE.fullmatch(below) and kind_of_label(line.strip()) == EXITS:
        label = LayoutItem(line, lines[at].start())
        return _list(text, lines, at + 1, LabelItems(EXITS, label, ()), labels)
    if not (_may_be_marked(below) and _BULLET.match(below)):
        return at
    name = lines[at].group().strip(" \t#*_=[]")
    kind = kind_of_label(name)
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
    """Read the lines of a list below its label; inner lists are indented further."""
    own = _indent(lines[at])
    items: list[LayoutItem] = []
    end, at = lines[at].end(), at + 1
    while at < len(lines):
        line, mark = lines[at], _mark(lines[at].group())
        body = _trimmed(line.group()[len(mark) :])
        marked = mark.strip() != ""
        gap = line.start() - end
        further = marked or _indent(line) > own
        first_line = head.kind != HOLDER and not body.endswith(_SENTENCE_END)
        directed = head.kind == EXITS and _DIRECTED.match(body) is not None
        loose = (
            directed or (own == 0 and head.kind in (CARRIED, HERE) and not body.endswith(":"))
            if items
            else first_line
        )
        if not body or gap > (1 if items or head.kind != CARRIED else 2) or not (further or loose):
            break
        if not (marked or further) and _begins_other(body):
            break
        named = marked or body.endswith(":") or (further and not _CLAUSE.match(body))
        if body.endswith(_SENTENCE_END) and not named:
            break
        inner = LABEL.match(body) if _is_divided(body) else None
        if inner is not None and not inner["value"] and kind_of_label(inner["label"]) == HOLDER:
            nested = LabelItems(
                HOLDER, LayoutItem(inner["label"], line.end() - len(line.group().lstrip())), ()
            )
            at = _list(text, lines, at, nested, labels)
            end = lines[at - 1].end()
            items.append(nested.label._replace(text=re.sub(CONTENTS, "", inner["label"])))
            continue
        if items and not marked and _indent(line) > _indent(lines[at - 1]) > own:
            items[-1] = items[-1]._replace(text=_CONTAINING.sub("", items[-1].text))
            holder = items[-1]._replace(text=items[-1].text.partition(" (")[0])
            at = _list(text, lines, at - 1, LabelItems(HOLDER, holder, ()), labels)
            end = lines[at - 1].end()
            continue
        first = _FIRST.match(body)
        held = _HOLDING.match(body)
        begin = held.end() if held else 0
        items.append(
            LayoutItem((first[0] if first else body)[begin:], line.start() + len(mark) + begin)
        )
        end, at = line.end(), at + 1
    labels.append(head._replace(items=tuple(items)))
    return at


def _begins_other(line: str) -> bool:
    """True if a line below a list is a label of another kind with its value: *exits: up*."""
    label = LABEL.match(line) if _is_divided(line) else None
    return label is not None and label["value"] != "" and kind_of_label(label["label"]) != STATE


def _mark(line: str) -> str:
    """Return the marks of a list, and the blanks, before the words of a line."""
    found = _MARK.match(line) if _may_be_marked(line) else None
    return found[0] if found else ""


def _may_be_marked(line: str) -> bool:
    """True unless a line begins with a word, as a fast test before the slow ones."""
    return line[0] in _MARKS or line[1:2] in _AFTER_LETTER


def _trimmed(value: str) -> str:
    """Return a value without marks after it and brackets that close earlier text."""
    value = value.rstrip(" \t\r|`*_")
    while (
        value and value[-1] in ")]" and value.count(value[-1]) > value.count("(["[value[-1] == "]"])
    ):
        value = value[:-1].rstrip(" \t\r|`*_")
    return value


def _indent(line: re.Match[str]) -> int:
    return len(line.group()) - len(line.group().lstrip())
