"""Layout of a game's text: titles of places, labels with values or lists, and prose."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
from gym_memory.extract.things import WITH_ARTICLE
from gym_memory.extract.titles import BANNER, Title, is_rule, title_of
from gym_memory.graph.schema import DIRECTIONS, SHORT_DIRECTIONS

__all__ = ["LabelItems", "Layout", "LayoutItem", "layout_of"]


class LayoutItem(NamedTuple):
    """A label, value or list item, and its start in the text."""

    text: str
    start: int

    @property
    def span(self) -> tuple[int, int]:
        """Return the start and the end in the text."""
        return self.start, self.start + len(self.text)


class LabelItems(NamedTuple):
    """A label with its kind and items; the one item of a state is its value."""

    kind: str
    label: LayoutItem
    items: tuple[LayoutItem, ...]


class Layout(NamedTuple):
    """A text as its titles, labels and prose."""

    titles: tuple[Title, ...]
    labels: tuple[LabelItems, ...]
    prose: str
    """Text with its titles, labels and line breaks within sentences blanked."""


_LINE = re.compile(r"[^\n]+")
_COLUMN_RULE = re.compile(r"\|?:?-{2,}:?(?:\|:?-{2,}:?)+\|?")
_BULLET = re.compile(
    r"(?:[ \t]*-(?=(?i:an?|the|some) |[A-Z][a-z])|[ \t]*(?:[-*+•·>]|\d{1,2}[.)]"
    r"|[a-zA-Z]\)|[\[(] ?\d{1,3}x?[\])](?=[ \t]+[a-z])"
    r"|<[a-z][a-z ]*>|[a-zA-Z$]:(?=[ \t]+(?:an?|the|some|\d+) ))[ \t]+)"
)
_COUNTED = re.compile(r"(?:an?|\d+) [a-z]")
"""First words of a thing in a list without marks: *2 figs*."""
_CHOICE = re.compile(r"[ \t]*(?:\[?(?:\d{1,2}|[a-z])[.):\]]|>)[ \t]+[A-Z]")
_LOWER_CASE_LABELS = re.compile(
    rf"{_BULLET.pattern}[a-z][\w ]*: (?:\d|(?:open|closed|shut|(?:un)?locked|(?:un)?lit|on|off"
    rf"|empty)$)"
    r"|[ \t]*[a-z][\w' ]{0,20}: [\w/%]+(?:[;,|] [a-z][\w' ]{0,20}: [\w/%]+)*$"
    r"|[ \t]*[a-z][\w.]{0,20}=(?:[\w/%.-]+|\[[^\[\]\n]*\])"
    r"(?:[;,|]? [a-z][\w.]{0,20}=(?:[\w/%.-]+|\[[^\[\]\n]*\]))+$"
    r"|[ \t]*[a-z]\w{0,20} ?= ?[\w/%.-]+$"
)
"""A bulleted value or a line of pairs, whose labels may be in lower case."""
_MARK = re.compile(rf"(?:{_BULLET.pattern}|[ \t]*)[\[(|`]*[ \t]*(?:(?:\*\*|__)[ \t]*)?")
_MARKS = frozenset(" \t-*+•·<>[(|`_0123456789")
"""First characters of a mark."""
_AFTER_LETTER = (")", ".", ":", "]")
"""Second characters of a mark that begins with a letter."""
_NO_PROSE_STARTS = " \t-*+•·>=_~<#[0123456789abcdefghijklmnopqrstuvwxyz"
"""First characters of the lines of lists, of decorated titles, and of labels in lower case."""
_BETWEEN_PAIRS = re.compile(
    r"(?:, (?=[A-Z])|(?<![ \t])(?:[ \t]*[|;][ \t]*|[ \t]{2,}| (?=/ [A-Z])/ ))"
    r"(?=(?:[A-Za-z]|\$)[\w' ]{0,20}(?:: ?|=| = )[^|])"
    r"|(?<=\S) (?=[A-Za-z$]\w{0,8}[:=]\S)|(?<=\d) (?=[A-Z][a-z]+: \S)"
)
"""Boundary between two pairs of a line."""
_STOPPED_ITEM = re.compile(
    r"(?P<text>(?!(?:You|I|It|There|That|This|The|Nothing|None)\b)"
    r"\*?[A-Z][\w'-]*(?: [\w'-]+){0,4}\*?)\. ?"
)
"""A thing before a full stop in a list."""
_ARTICLES = ("A ", "An ", "Some ")
_SENTENCE_END = (".", "!", "?", '."', '!"', '?"', ":")
_MIN_WRAPPED_CHARS = 45
"""Least characters of a line that may be wrapped, if no stop ends it."""
_ANSWER = re.compile(r"(?:taken|dropped)\b|(?:done|got (?:it|them))[.!]*$", re.IGNORECASE)
_SAYING = re.compile(
    r"\w (?:says?|said|reads?|states?|announces?|declares?|asks?|adds?|repl(?:y|ies)|answers?"
    r"|(?:goes|went) on"
    r"|(?:whisper|shout|mutter|murmur|call|cr(?:y|ie)|explain|continue|growl|hiss)(?:s|e[ds])?)$"
)
"""End of a sentence before its quotation, which is not a label: *the book says*."""
_SAYS = re.compile(
    r"(?:the|you|it|there) (?:[^:]{1,80} )?(?:is|are|was|were) [^:]{1,80}$", re.IGNORECASE
)
"""A sentence after a colon: *Failure: the box is locked.*"""
_STARTS_WITH_DIRECTION = re.compile(rf"(?:{'|'.join(DIRECTIONS)})\b", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:you|your|i|my|it|there)\b", re.IGNORECASE)
"""First word of a line that is a sentence, not an item."""
_CONTAINING = re.compile(r"(?:,? (?:which )?contain(?:s|ing))?:$")
"""Words after the name of an item whose contents are listed below it."""
_COUNT_OF_LIST = re.compile(r" ?[\[(]\d+(?: ?/ ?\d+)?[\])]\s*$")
"""Number of items after the heading of a list: *Inventory (2/10)*."""
_COLUMN = re.compile(r"(?<=[\w)]) {3,}(?=[A-Z].*[.!]$)")
"""Gap between the name of an item and its description."""
_IS_WAY = re.compile(rf"(?:{'|'.join((*DIRECTIONS, *SHORT_DIRECTIONS))})", re.IGNORECASE)
_HOLDING = re.compile(r"(?:which )?(?:containing|contains|holding|holds) ")
"""Words before an inner item: *containing a pearl* below *a basket*."""
_FIRST_SENTENCE = re.compile(r"[^.!?]+[.!?](?=[ \t]+[A-Z])")
"""First of several sentences, which names the thing that the others describe."""
_LISTING = re.compile(
    r"(?:There are (?:several|many|some|a few|other) (?:objects|things|items) here"
    r"|(?:Things|Objects) that are here|You see here|Here (?:is|are)|You see several \w+ here)[.:]?"
)
"""A sentence that heads a list."""
_LISTING_STARTS = ("There are ", "Things ", "Objects ", "You see ", "Here ")
_ONLY_A_THING = re.compile(
    r"An?(?: (?![a-z'-]*[a-rt-z]s\b|is\b|was\b|here\b|\w+ed\b)[a-z][a-z'-]*){1,4}"
    r"(?:\.|(?: of [a-z]+)?(?: \([a-z ]+\))?)"
    r"|[A-Z][a-z'-]+(?: (?:the |of )?[A-Z][a-z'-]+){1,3}\."
)
"""A line that only names a thing or a person: *A rusty key.*, *Sir Hugh.*"""
_MAX_VALUE_WORDS = 6
_MAX_TITLE_BLANKS = 3
"""Blanks that a title with a full stop has fewer than."""
_MAX_STATE_WORDS = 4
_MARKED = re.compile(r"[\n:=|\[#*]")
"""Marks for a fast test: every text with a title or a label has one of them."""
_INLINE_LABEL = re.compile(
    r"(?P<before>^|(?<=[.!?])[ \t]|(?<=[.!?][ \t]))(?P<label>[A-Z][\w']*(?: [\w']+){0,7}"
    r"|[a-z][\w']*(?: [\w']+){0,3} contains):(?:[ \t]+|(?=\d+[(/]))"
    r"(?P<value>(?:[^\n.:!?]|\.(?=\d)|:(?=[^()\n]{0,80}\)))*)(?:(?<!\b[A-Z])|(?<=, [NSEWUD]))"
    r"(?P<stop>[.!?]?)(?:(?P<gap>[ \t])(?=[A-Z])|$)"
)
"""A label in a line of sentences, with its value up to the full stop."""
_DESCRIBES = re.compile(r"An? (?:\w+ ){3,}")
"""Beginning of a value that describes what the label names: *key: a small key of brass*."""
_GOAL = re.compile(
    r"(?:(?:your|the|current|main|new) )?(?:tasks?|goals?|objectives?|quests?|mission)",
    re.IGNORECASE,
)
"""Labels of tasks, whose values may have any length."""
_BEFORE_LABEL_AT_END = re.compile(r"([.!?][ \t]*)[ \t](?=\w[^.!?:\n]*:[ \t]*\n|Exits:)")
"""End of a sentence before a label that ends the line."""
_HEADING = re.compile(r":[ \t]*\n")


def layout_of(text: str) -> Layout:
    """Return the titles, labels and prose of a text."""
    if text[-1:] in ".!?" and not _MARKED.search(text):
        return Layout((), (), text)
    if ":" in text:
        if "Exits:" in text or _HEADING.search(text):
            text = _BEFORE_LABEL_AT_END.sub(r"\1\n", text)
        if ". " in text and ": " in text:
            text = "\n".join(
                _INLINE_LABEL.sub(_on_own_line, line) if ". " in line and ": " in line else line
                for line in text.split("\n")
            )
    return _LayoutReader(text).read()


class _LayoutReader:
    """A reader of the layout of a text, line by line."""

    def __init__(self, text: str):
        self.text = text
        self.lines = list(_LINE.finditer(text))
        self.titles: list[Title] = []
        self.labels: list[LabelItems] = []

    def read(self) -> Layout:
        """Return the layout."""
        is_prose = [True] * len(self.lines)
        at = 0
        while at < len(self.lines):
            after = at if self._is_prose(at) else self._structured(at)
            is_prose[at:after] = [False] * (after - at)
            at = max(at + 1, after)
        return Layout(tuple(self.titles), tuple(self.labels), self._prose(is_prose))

    def _line(self, at: int) -> str:
        """Return the text of a line; empty beyond the last."""
        return self.lines[at].group() if at < len(self.lines) else ""

    def _structured(self, at: int) -> int:
        """Read a list, title, rule or label; return the position after it, ``at`` for prose."""
        after = self._headed(at)
        if after > at:
            return after
        title = title_of(self.lines, at)
        if title is not None:
            self.titles.append(title)
            return at + 1
        if is_rule(self._line(at)) or self._is_table_head(at) or self._is_choice(at):
            return at + 1
        return self._labelled(at)

    def _is_prose(self, at: int) -> bool:
        """True for most lines of prose, as a fast test before slow ones."""
        line = self._line(at)
        if line[-1] not in ".!?" or line[0] in _NO_PROSE_STARTS or _is_divided(line):
            return False
        if at == 0 and (line.count(" ") < _MAX_TITLE_BLANKS or " exit" in self.text):
            return False  # perhaps a title: Old Wharf.
        below = self._line(at + 1)
        is_apart = not below or below[0] not in _NO_PROSE_STARTS
        return is_apart and not line.startswith(_LISTING_STARTS)

    def _is_choice(self, at: int) -> bool:
        """True if a line is one of several numbered actions."""
        line = self._line(at)
        if not _may_be_marked(line) or _CHOICE.match(line) is None:
            return False
        near = (self._line(other) for other in (at - 1, at + 1) if other >= 0)
        return any(map(_CHOICE.match, near))

    def _is_table_head(self, at: int) -> bool:
        """True if a line has the names of columns, with a rule ``|---|`` below."""
        below = self._line(at + 1).strip()
        return "|" in self._line(at) and _COLUMN_RULE.fullmatch(below) is not None

    def _prose(self, is_prose: Sequence[bool]) -> str:
        """Return the text with all other lines blanked, and wrapped lines of prose joined."""
        parts, end = [], 0
        for n, line in enumerate(self.lines):
            start = line.start()
            if not is_prose[n]:
                begin = _indent(line)
                first = (
                    _FIRST_SENTENCE.match(self.text, start + begin, line.end()) if begin else None
                )
                after = first.end() if first else line.end()
                parts += [self.text[end:start], " " * (after - start)]
                end = after
            elif n and is_prose[n - 1] and _is_wrapped(self.lines[n - 1], start):
                parts += [self.text[end : start - 1], " "]
                end = start
        last = self.lines[-1].end() if self.lines else 0
        return "".join((*parts, self.text[end:last]))

    # ------------------------------------------------------------ labels

    def _labelled(self, at: int) -> int:
        """Read a label with its value or the list below it; return the position after them."""
        line = self.lines[at]
        if not _is_divided(line.group()):
            return at
        found = LABEL.match(self.text, line.start() + len(_mark(line.group())), line.end())
        if found is None:
            return at
        kind = kind_of_label(found["label"])
        value = _trimmed(found["value"])
        if kind == HERE and value.isdecimal():  # a count
            kind = STATE
        if kind == PLACE:
            value = value.removesuffix(".")
        if _is_sentence(kind, found["label"], value, line.group()):
            return at
        if kind == STATE and BANNER.match(self._line(at + 1)):
            return at
        label = LayoutItem(found["label"], found.start("label"))
        if not value:
            return self._list(at, LabelItems(kind, label, ()))
        self._read_pairs(kind, label, LayoutItem(value, found.start("value")))
        return self._things_below(at + 1) if kind == EXITS else at + 1

    def _read_pairs(self, kind: str, label: LayoutItem, value: LayoutItem) -> None:
        """Read the value of a label, and further labels with values in the same line."""
        more = _BETWEEN_PAIRS.search(value.text) if ":" in value.text or "=" in value.text else None
        first = value.text[: more.start()] if more else value.text
        first = first.partition(" | ")[0] if kind == STATE else first
        self.labels.append(LabelItems(kind, label, (LayoutItem(first.strip(), value.start),)))
        while more is not None:
            begin = value.start + more.end()
            pair = LABEL.match(self.text, begin, value.span[1])
            if pair is None:
                break
            more = _BETWEEN_PAIRS.search(value.text, more.end())
            end = value.start + (more.start() if more else len(value.text))
            if kind == EXITS and _IS_WAY.fullmatch(pair["label"]):
                own, its, start = EXITS, label, begin
            else:
                own, start = kind_of_label(pair["label"]), pair.start("value")
                its = LayoutItem(pair["label"], pair.start("label"))
            item = LayoutItem(_trimmed(self.text[start:end]), start)
            self.labels.append(LabelItems(own, its, (item,)))

    def _things_below(self, at: int) -> int:
        """Read lines below the exits that only name things; return the position after them."""
        begin = at
        while _ONLY_A_THING.fullmatch(self._line(at)):
            at += 1
        things = tuple(LayoutItem(line.group(), line.start()) for line in self.lines[begin:at])
        if things:
            self.labels.append(LabelItems(HERE, LayoutItem("here", things[0].start), things))
        return at

    # ------------------------------------------------------------ lists

    def _headed(self, at: int) -> int:
        """Read a list below a heading without a colon; return the position after it."""
        line, below, start = self._line(at), self._line(at + 1), self.lines[at].start()
        if not below:
            return at
        if line.startswith(_LISTING_STARTS) and _LISTING.fullmatch(line.strip()):
            return self._list(at, LabelItems(HERE, LayoutItem("here", start), ()))
        if is_rule(below) and kind_of_label(line.strip()) == EXITS:
            return self._list(at + 1, LabelItems(EXITS, LayoutItem(line, start), ()))
        if not (_may_be_marked(below) and _BULLET.match(below)):
            counted = _COUNTED.match(below) and kind_of_label(line.strip()) == CARRIED
            if not counted:
                return at
        name = _COUNT_OF_LIST.sub("", line).strip(" \t#*_=[]")
        kind = kind_of_label(name)
        if kind in (PLACE, STATE):
            return at
        label = LayoutItem(name, start + line.index(name))
        return self._list(at, LabelItems(kind, label, ()))

    def _list(self, at: int, head: LabelItems) -> int:
        """Read the list below a label, with inner lists; return the position after it."""
        own = _indent(self.lines[at])
        items: list[LayoutItem] = []
        bulleted = False
        end, at = self.lines[at].end(), at + 1
        while at < len(self.lines):
            line, mark = self.lines[at], _mark(self._line(at))
            body = _trimmed(line.group()[len(mark) :])
            indent = _indent(line)
            marked = mark.strip() != ""
            stopped = [] if marked or not body else _stopped_items(head.kind, body)
            alone = len(stopped) == 1 and (not items or body.startswith(_ARTICLES))
            if stopped and not (items or alone) and line.start() <= end + 1:
                start = line.start() + len(mark)
                items = [LayoutItem(text, start + begin) for begin, text in stopped]
                at += 1
                break
            if (
                not body
                or line.start() - end > (1 if items or head.kind != CARRIED else 2)
                or _ends_list(
                    head, body, own, len(items), marked=marked or alone, further=indent > own
                )
                or (bulleted and not marked and indent <= own and head.kind != EXITS)
            ):
                break
            bulleted = marked if not items else bulleted
            inner = _holder_label(body)
            if inner:
                label = LayoutItem(inner, line.start() + indent)
                at = self._list(at, LabelItems(HOLDER, label, ()))
                items.append(label._replace(text=re.sub(CONTENTS, "", inner)))
            elif items and not marked and indent > _indent(self.lines[at - 1]) > own:
                items[-1] = items[-1]._replace(text=_CONTAINING.sub("", items[-1].text))
                holder = items[-1]._replace(text=items[-1].text.partition(" (")[0])
                at = self._list(at - 1, LabelItems(HOLDER, holder, ()))
            else:
                begin, name = _item_of(body)
                items.append(LayoutItem(name, line.start() + len(mark) + begin))
                at += 1
            end = self.lines[at - 1].end()
        self.labels.append(head._replace(items=tuple(items)))
        return at


def _holder_label(line: str) -> str:
    """Return the label of a line that heads the contents of a thing; empty for another line."""
    label = LABEL.match(line) if _is_divided(line) else None
    if label is None or label["value"] or kind_of_label(label["label"]) != HOLDER:
        return ""
    return label["label"]


def _item_of(line: str) -> tuple[int, str]:
    """Return the start and the name of the item in a line of a list."""
    first = _FIRST_SENTENCE.match(line)
    held = _HOLDING.match(line)
    begin = held.end() if held else 0
    return begin, _COLUMN.split((first[0] if first else line)[begin:])[0]


def _on_own_line(found: re.Match[str]) -> str:
    """Put a label and its value on a line of their own."""
    short = len(found["value"].split()) <= _MAX_STATE_WORDS or _GOAL.fullmatch(found["label"])
    sure = found["gap"] or found["label"].lower() in DIRECTIONS
    if kind_of_label(found["label"]) == STATE and not (short and sure):
        return found[0]
    begin, end = found.start("label") - found.start(), len(found[0]) - len(found["gap"] or "")
    return "\n" * len(found["before"]) + found[0][begin:end] + "\n" * len(found["gap"] or "")


def _is_wrapped(line: re.Match[str], below: int) -> bool:
    """True if a sentence goes on in the next line, given the start of that line."""
    start, end = line.span()
    return (
        below == end + 1
        and end - start >= _MIN_WRAPPED_CHARS
        and not line.group().rstrip().endswith(_SENTENCE_END)
    )


def _is_divided(line: str) -> bool:
    return ":" in line or "=" in line or "|" in line


def _is_sentence(kind: str, label: str, value: str, line: str) -> bool:
    """True if what looks like a label and its value is a sentence, an answer or prose."""
    if _ANSWER.match(value) or _SAYS.match(value):
        return True
    if kind == PLACE:
        return WITHIN.match(value) is None and label.lower().endswith((" are", " am", "'re", "'m"))
    if kind != STATE:
        return False
    if not value or len(label.split()) > _MAX_STATE_WORDS or "," in label or _SAYING.search(label):
        return True
    if label.startswith("There ") or value[0] in '"“':
        return True
    if _DESCRIBES.match(value):
        return True
    if value[-1] == "." and len(value.split()) > _MAX_VALUE_WORDS and label.startswith("The "):
        return True
    return not (label[0].isupper() or label == "$" or _LOWER_CASE_LABELS.match(line))


def _ends_list(
    head: LabelItems, body: str, own: int, count: int, *, marked: bool, further: bool
) -> bool:
    """True if a line is not part of the list below a label.

    Args:
        head: Label of the list.
        body: Line without its mark.
        own: Indent of the label.
        count: Number of items so far.
        marked: True if the line has a mark, such as a bullet.
        further: True if the line is indented further than the label.
    """
    further = further or marked
    is_sentence = body.endswith(_SENTENCE_END)
    names = WITH_ARTICLE.match(body) is not None and not is_sentence
    if not further:
        if not count:
            continues = names or (head.kind != HOLDER and not is_sentence)
        else:
            directed = head.kind == EXITS and _STARTS_WITH_DIRECTION.match(body) is not None
            listed = head.kind in (CARRIED, HERE) or (head.kind == HOLDER and names)
            flat = own == 0 and listed and not body.endswith(":")
            continues = directed or flat
        if not continues or _begins_other(body):
            return True
    named = marked or body.endswith(":") or (further and not _SENTENCE_START.match(body))
    return is_sentence and not named


def _stopped_items(kind: str, body: str) -> list[tuple[int, str]]:
    """Return the items of a line that full stops divide: *Trees. Old sign.*; [] for another."""
    if kind not in (CARRIED, HERE, HOLDER) or not body.endswith("."):
        return []
    found = list(_STOPPED_ITEM.finditer(body))
    whole = "".join(item[0] for item in found) == body
    sure = kind != HOLDER or all(item["text"].startswith(_ARTICLES) for item in found)
    return [(item.start(), item["text"].strip("*")) for item in found] if whole and sure else []


def _begins_other(line: str) -> bool:
    """True if a line is a label of another kind with its value: *exits: up*."""
    label = LABEL.match(line) if _is_divided(line) else None
    return label is not None and label["value"] != "" and kind_of_label(label["label"]) != STATE


def _mark(line: str) -> str:
    """Return the marks and blanks before the words of a line."""
    found = _MARK.match(line) if _may_be_marked(line) else None
    return found[0] if found else ""


def _may_be_marked(line: str) -> bool:
    """True unless a line begins with a word, as a fast test before a slow one."""
    return line[0] in _MARKS or line[1:2] in _AFTER_LETTER


def _trimmed(value: str) -> str:
    """Return a value without trailing marks and unmatched closing brackets."""
    value = value.rstrip(" \t\r|`*_")
    while (
        value and value[-1] in ")]" and value.count(value[-1]) > value.count("(["[value[-1] == "]"])
    ):
        value = value[:-1].rstrip(" \t\r|`*_")
    return value


def _indent(line: re.Match[str]) -> int:
    return len(line.group()) - len(line.group().lstrip())
