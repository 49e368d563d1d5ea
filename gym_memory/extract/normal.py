"""The normal form of a text: plain lines, without the markup of a game.

Terminal colours, tags, boxes, JSON and dotted leaders become plain lines, with the way back from
each character to the original. See :func:`normal`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gym_memory.extract import Extraction, Mention
from gym_memory.extract.label_kinds import STATE, kind_of_label
from gym_memory.extract.notes.words import SUPPORTER, kind_of_noun
from gym_memory.extract.records import RECORD_LEAD, record_lines

__all__ = ["MappedText", "normal"]


class MappedText(NamedTuple):
    """A text with the offset of each character in the original; no offsets if unchanged."""

    text: str
    positions: Sequence[int] = ()

    def in_original(self, found: Extraction) -> Extraction:
        """Return the extraction with spans in the original text."""
        if not self.positions:
            return found
        at = self.positions
        mentions = (
            m if m.start < 0 else Mention(m.triple, at[m.start], at[m.end - 1] + 1)
            for m in found.mentions
        )
        return found._replace(mentions=tuple(mentions))

    def replaced(self, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]) -> MappedText:
        """Return the text with matches of a pattern replaced."""
        text, positions = self
        changes = [(*found.span(), new(found)) for found in pattern.finditer(text)]
        if not changes:
            return self
        parts: list[str] = []
        end = 0
        for begin, after, word in changes:
            parts += [text[end:begin], word]
            end = after
        changed = "".join((*parts, text[end:]))
        if all(len(word) == after - begin for begin, after, word in changes):
            return MappedText(changed, positions)
        places: list[int] = []
        end = 0
        for begin, after, word in changes:
            places += range(end, begin)
            places += _aligned(word, text, begin, after)
            end = after
        places += range(end, len(text))
        return MappedText(changed, [positions[p] for p in places] if positions else places)


def _aligned(word: str, text: str, begin: int, end: int) -> Iterable[int]:
    """Return the offset in the replaced part of the text for each character of a word."""
    return range(begin, end) if len(word) == end - begin else _sought(word, text, begin, end)


def _sought(word: str, text: str, begin: int, end: int) -> Iterator[int]:
    at = begin
    for character in word:
        found = text.find(character, at, end)
        at = found if found >= 0 else at
        yield min(at, end - 1)
        at += found >= 0


@lru_cache(maxsize=1024)
def normal(text: str) -> MappedText:
    r"""Return a text in plain lines, in sentence case and in the present tense.

    >>> normal("You came into the **hall**.").text
    'You go into the hall.'
    >>> normal("[bold]Cellar[/bold]\n<120hp 85m>").text
    'Cellar\nHp: 120, M: 85'
    """
    worded = MappedText(_in_sentence_case(text))
    if "he agent " in text and not _YOU.search(text):
        worded = worded.replaced(_AGENT, _as_you)
    if not text.isascii():
        worded = _replaced(worded, _SIGNS)
    worded = _stepped(worded, _STEPS)
    if "{" in worded.text:
        worded = worded.replaced(RECORD_LEAD, _nothing)
    lines = record_lines(worded.text) if worded.text.lstrip()[:1] in ("{", "[", "<") else None
    if lines is not None:
        at = worded.positions
        worded = MappedText(lines.text, [at[p] for p in lines.positions] if at else lines.positions)
    worded = _stepped(worded, _LINE_STEPS)
    past = any(map(worded.text.__contains__, _PAST_HINTS))
    if past and _NARRATED.search(worded.text) and not _PRESENT.search(worded.text):
        worded = worded.replaced(_PAST, lambda found: _TENSE[found[0]])
    elif past and _WAS.search(worded.text) and not _PRESENT.search(worded.text):
        worded = worded.replaced(_WAS, lambda found: _TENSE[found[0]])
    return worded


def _stepped(worded: MappedText, steps: _Steps) -> MappedText:
    """Apply the steps whose marks are in a text."""
    text = worded.text
    for at, (mark, gated) in steps.fitting(text):
        if mark in text:
            worded = _replaced(worded, gated)
            if worded.text != text:  # which may have brought other marks
                for mark, gated in steps.steps[at + 1 :]:
                    if mark in worded.text:
                        worded = _replaced(worded, gated)
                return worded
    return worded


def _replaced(worded: MappedText, gated: Sequence[_Step]) -> MappedText:
    for needles, pattern, new in gated:
        if not needles or any(map(worded.text.__contains__, needles)):
            worded = worded.replaced(pattern, new)
    return worded


# Marks around words

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_PROMPT = re.compile(r"^[ \t]*<(?P<values>\d+\w+(?: \d+\w+)*)>[ \t]*", re.MULTILINE)
_HTML = (
    r"/?(?:a|b|big|br|center|code|dd|div|dl|dt|em|font|h[1-6]|hr|i|img|kbd|li|mark|ol|p|pre|q|s|small"
    r"|span|strong|sub|sup|table|tbody|td|th|thead|tr|tt|u|ul)(?=[ />])"
)
_TAG = re.compile(rf"<(?P<tag>{_HTML})[^<>]*>", re.IGNORECASE)
_BREAKING = re.compile(r"/?(?:br|p|div|h[1-6]|hr|li|ol|ul|table|tr|dt|dd|pre)", re.IGNORECASE)
_PAIR = re.compile(r"\[(?P<tag>/?[a-z][\w#]*)(?:[ =][^\[\]\n]*)?\](?=(?P<rest>.?))", re.DOTALL)
_TEMPLATE = re.compile(r"\{\{(?:[^{}|]*\|)*(?P<word>[^{}|]*)\}\}")
_EMPHASIS = re.compile(
    r"(?:(?<=[ (])(?P<inner>\*\*?|__?|`)(?=\w)([^*_`\n]*[\w:])(?P=inner)(?=[ ,.;:!?)\n]|$)"
    r"|(?<![^\n])(?P<line>\*\*?|__?)(?=\w)([^*_`\n]*[.!?])(?P=line)$"
    r"|(?<![^\n])(?P<first>\*\*?|__?|`)(?=\w)([^*_`\n]*[\w:])(?P=first)(?=[ ,.;:!?)]))",
    re.MULTILINE,
)
"""Marks around words inside of a line; around a whole line they make a title."""
_LINK = re.compile(r"\[(?P<word>[^\[\]\n]+)\]\([^()\s]*\)")
_STRUCK = re.compile(r"~~[^~\n]+~~ ?")
_EITHER_ARTICLE = re.compile(r"\b[Aa]\(n\)")
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d+);")
_FRAME_RULE = re.compile(r"[┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╭╮╰╯─━═]{3,}")
_FRAME_CELL = re.compile(
    r"^[ \t]*[│║┃|][ \t]*(?P<cell>[^│║┃|\n]*?)[ \t]*[│║┃|][ \t]*$", re.MULTILINE
)
_CELL_PAIR = re.compile(r"(?P<label>[A-Za-z][\w ]*?)(?: {2,}|: ?)(?P<value>\S.*)")


def _tag(found: re.Match[str]) -> str:
    if not _BREAKING.fullmatch(found["tag"]):
        return ""
    return "\n# " if found["tag"][0] in "hH" and found["tag"][1:].isdigit() else "\n"


def _pair(found: re.Match[str]) -> str:
    closed = found["tag"][0] == "/" or f"[/{found['tag']}" in found.string
    return "" if closed or "[/]" in found.string else found[0]


def _prompt(found: re.Match[str]) -> str:
    pairs = re.findall(r"(\d+)([^\W\d]\w*)", found["values"])
    line = ", ".join(f"{name.capitalize()}: {value}" for value, name in pairs)
    return line if found.end() == len(found.string) else f"{line}\n"


def _cell(found: re.Match[str]) -> str:
    pair = _CELL_PAIR.fullmatch(found["cell"])
    return f"{pair['label']}: {pair['value']}" if pair else found["cell"]


def _nothing(found: re.Match[str]) -> str:
    return ""


def _inner(found: re.Match[str]) -> str:
    return found[2] or found[4] or found[6]


def _dashes(found: re.Match[str]) -> str:
    return "-" * len(found[0])


_Step = tuple[tuple[str, ...], re.Pattern[str], Callable[[re.Match[str]], str]]
_MarkedStep = tuple[str, Sequence[_Step]]
_COMMON = re.compile(r"[\w\s,.]")
_MOST_CHOICES = 256


class _Steps:
    """A sequence of steps, with a fast test of which ones may apply to a text.

    The test looks for a mark's rarest character first, which takes a fifth of the time.
    """

    def __init__(self, *steps: _MarkedStep):
        self.steps = steps
        self._rarest = [_COMMON.sub("", mark)[-1:] for mark, _ in steps]
        self._signs = tuple(dict.fromkeys(self._rarest))
        self._chosen: dict[tuple[bool, ...], list[tuple[int, _MarkedStep]]] = {}

    def fitting(self, text: str) -> list[tuple[int, _MarkedStep]]:
        """Return the steps, with their positions, whose rarest characters are in a text."""
        present = tuple(map(text.__contains__, self._signs))
        chosen = self._chosen.get(present)
        if chosen is None:
            if len(self._chosen) >= _MOST_CHOICES:
                self._chosen.clear()
            has = dict(zip(self._signs, present, strict=True))
            chosen = [(n, self.steps[n]) for n, sign in enumerate(self._rarest) if has[sign]]
            self._chosen[present] = chosen
        return chosen


_PICTURE = re.compile(r"^[ \t]*[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?[ \t]*", re.MULTILINE)
_GUILLEMETS = re.compile(r"^«[ \t]*(?P<title>[^«»\n]+?)[ \t]*»$", re.MULTILINE)
_SIGNS: Sequence[_Step] = (
    ((), _PICTURE, _nothing),
    (("»",), _GUILLEMETS, lambda found: f"<< {found['title']} >>"),
)
"""Pictures that begin a line, and quotation marks around all of it."""
_STEPS = _Steps(
    ("\x1b", [((), _ESCAPE, _nothing)]),
    ("<", [((), _PROMPT, _prompt), ((), _TAG, _tag)]),
    ("&", [((), _ENTITY, lambda found: html.unescape(found[0]))]),
    ("[", [(("[/",), _PAIR, _pair)]),
    ("](", [((), _LINK, lambda found: found["word"])]),
    ("~~", [((), _STRUCK, _nothing)]),
    ("{{", [((), _TEMPLATE, lambda found: found["word"])]),
    ("(n)", [((), _EITHER_ARTICLE, lambda found: found[0][0])]),
    ("*", [((), _EMPHASIS, _inner)]),
    ("_", [((" _", "\n_", "(_", "__"), _EMPHASIS, _inner)]),
    ("`", [((), _EMPHASIS, _inner)]),
    ("─", [((), _FRAME_RULE, _dashes)]),
    ("━", [((), _FRAME_RULE, _dashes)]),
    ("═", [((), _FRAME_RULE, _dashes)]),
    ("│", [((), _FRAME_CELL, _cell)]),
    ("║", [((), _FRAME_CELL, _cell)]),
    ("┃", [((), _FRAME_CELL, _cell)]),
    ("|", [((), _FRAME_CELL, _cell)]),
)
"""By the mark that a text must have: required parts, the pattern to replace, and how."""


# Lines

_ANY_TAG = re.compile(r"</?[a-zA-Z][\w-]*(?:[ =][^<>]*)?/?>")
_LED = (
    r"^[ \t]*(?P<label>[A-Z][\w']*(?: [\w']+){0,3}) ?(?:\.{3,}:?|->|=>|→) ?"
    r"(?P<value>[^\s.][^\n]*)$"
)
_LEADER = re.compile(_LED, re.MULTILINE)
_ID = re.compile(r"[ \t]*\((?:id|ID|Id|#)[:= #]*[\w-]+\)")
_SPEAKER_ENDS = (
    *("bservation:", "BSERVATION:", "bs:", "eedback:", "esponse:", "utput:", "ame:", "esult:"),
    *("essage:", "utcome:", "vent:", "escription:", "arration:", "ailed:", "ailure:", "rror:"),
    *("uccess:", "one:", "ok:", "OK:", "kay:"),
)
_SPEAKERS = (
    *("observation", "obs", "feedback", "response", "game", "output", "narrator", "result"),
    *("message", "outcome", "event", "description", "narration"),
    *("(?:(?:the )?(?:action|command|move) )?failed", "failure", "error", "success"),
    *("done", "ok", "okay"),
)
_SPEAKER = re.compile(
    rf"(?:^|(?<=[.!?] ))(?:{'|'.join(_SPEAKERS)}):[ \t]+"
    r"(?=(?-i:[A-Z\"(]|(?:the|your|you|it) )[^\n]*[.!?])",
    re.IGNORECASE | re.MULTILINE,
)
"""A speaker's name before prose."""
_FINAL_PROMPT = re.compile(r"(?<!\s)\s+>[ \t]*\Z")
_COUNT_BEFORE = re.compile(
    r"^\[(?P<label>[A-Z][a-z]+):? (?P<value>\d[\w/:]*)\][ \t]+(?=\S)", re.MULTILINE
)
"""A count in brackets before prose: *[Turn 9] You are in the granary*."""
_STACK = re.compile(
    r"^[(\[] ?\d{1,3}[)\]] (?=(?:An?|The|Some) [^\n]*\b(?:here|ground|floor)\b[^\n]*\.$)",
    re.MULTILINE,
)
"""Count before a sentence about equal things."""
_TAGGED = re.compile(r"^\[[A-Z]{2,12}\] (?=(?:The|You|Your|An?) [^\n]*[.!]$)", re.MULTILINE)
"""A sort of message in brackets before a sentence: *[ALERT] The gate is closed.*"""
_THING_SAID = re.compile(r"^[a-z][\w' -]{0,40}: (?=You [a-z]+ [^\n]*[.!]$)", re.MULTILINE)
"""The one of several things that a sentence is about."""
_BAR = re.compile(r"\[[#=*.|█▓▒░ -]{3,}\] ?")
_BRACKETED_PAIRS = re.compile(r"\][ \t]*\[(?=[A-Z$][\w ]{0,20}: ?\S)")
"""Between two pairs that each have brackets."""
_COLUMNS = re.compile(r"(?<=[^\s:.,-]) {3,}(?=[A-Z$][\w ]{0,20}: ?\S)")
"""Gap of a status line before a label."""
_STATUS_LINE = re.compile(
    r"^[ \t]*[\[<(]?[A-Z$][A-Za-z]{0,11}(?:: ?| )[$-]?\d[^\n]*$", re.MULTILINE
)
_OUTER_BRACKETS = re.compile(r"^[ \t]*[\[<(]|[\])>][ \t]*$")
_COLUMN_GAP = re.compile(r"[ \t]*[|;][ \t]*|[ \t]{2,}")
_NAMED_VALUE = re.compile(r"[A-Z$][\w ]{0,20}: ?[^\s:][^:]*")
_COUNT = re.compile(
    r"(?P<label>[A-Z$][A-Za-z]{0,11})(?P<gap>: ?| )(?P<value>[$-]?\d[\w/%().]*)(?P<end> |$)"
)
_TITLE_OF_STATUS = re.compile(
    r"\A[ \t]*(?![A-Z][A-Za-z]{0,11} \d)"
    r"(?P<place>[A-Z][\w',.& -]{1,40}?(?: \([^()\n]{1,20}\))?)(?: {3,}| *\|) *"
    r"(?=[A-Z$][\w ]{0,15}: ?\S|[A-Z][A-Za-z]* \d|\d+/\d+[ \t]*(?:\n|$))"
)
"""Place at the left end of the first line, with counts at the right."""
_QUOTED_LINE = re.compile(r"^> (?=[*_]?[A-Z][^\n]*[.!?][*_]*$)", re.MULTILINE)
_BAGGED = re.compile(
    r"^(?:\[\W\] ?|\W)?(?P<things>[\w',\d -]{2,60}?)"
    r"(?: (?:is|are|was|were|has been|have been))? (?P<how>added to|removed from) "
    r"(?:your |my |the )?(?:inventory|(?:back)?pack|bag|pockets?)\W*$",
    re.MULTILINE,
)
_KEY = re.compile(r"[(\[](?P<letter>[nsewudNSEWUD])[)\]](?=orth|outh|ast|est|p\b|own\b)")
_LETTER = re.compile(r"[(\[](\w)[)\]]")
_KEY_LINE = re.compile(
    r"^[ \t]*(?:[(\[][nsewud][)\]](?:orth|outh|ast|est|p|own)\b[ \t,|/]*){2,}$",
    re.IGNORECASE | re.MULTILINE,
)
_REMARK = re.compile(r"^\[(?P<said>[A-Z][^\[\]\n:]*[.!?])\]$", re.MULTILINE)
"""A sentence in brackets."""
_LETTERED = re.compile(
    r"^(?:[A-Z]\w+\n)?(?P<letter>[a-zA-Z$]) - (?=(?:an?|the|some|\d+) )", re.MULTILINE
)
"""Line of an inventory by letters, perhaps below the name of its class."""
_PLUS = re.compile(r"(?<= )[+-]\d+ (?=[a-z])")


def _leader(found: re.Match[str]) -> str:
    several = len(_LEADER.findall(found.string)) > 1
    return f"{found['label']}: {found['value']}" if several else found[0]


def _lettered(found: re.Match[str]) -> str:
    if "\n" not in found.string.strip() and found.start() == 0:
        return "You take "
    return (
        "Inventory:\n- " if _LETTERED.search(found.string) == found or not found.start() else "- "
    )


def _key_line(found: re.Match[str]) -> str:
    return f"Exits: {', '.join(key.lower() for key in re.findall(_LETTER, found[0]))}"


def _status(found: re.Match[str]) -> str:
    """Return a line of counts, some without a colon, as one label per line, in equal length."""
    line = found[0]
    if line.lstrip()[0] in "[<(":
        line = _OUTER_BRACKETS.sub(lambda bracket: " " * len(bracket[0]), line).rstrip()
    parts = []
    for part in _COLUMN_GAP.sub(_broken, line).split("\n"):
        bare = part.strip()
        counted = "".join(count[0] for count in _COUNT.finditer(bare)) == bare
        if bare and not counted and not _NAMED_VALUE.fullmatch(bare):
            return found[0]
        parts.append(_COUNT.sub(_count, part) if counted else part)
    pairs = "\n".join(parts)
    return pairs.ljust(len(found[0])) if "\n" in pairs.strip() else found[0]


def _broken(gap: re.Match[str]) -> str:
    return "\n".rjust(len(gap[0]))


def _count(found: re.Match[str]) -> str:
    gap = ":" if found["gap"] == " " else found["gap"]
    return f"{found['label']}{gap}{found['value']}" + "\n" * len(found["end"])


def _title_of_status(found: re.Match[str]) -> str:
    return f"{found['place']}\n---\n"


def _quoted_line(found: re.Match[str]) -> str:
    first = 0 if found.string.startswith("> ") else found.string.find("\n> ") + 1
    alone = first == found.start() and found.string.find("\n> ", found.end()) < 0
    return "" if alone else found[0]  # several are choices


def _count_before(found: re.Match[str]) -> str:
    return f"{found['label']}: {found['value']}\n"


def _bagged(found: re.Match[str]) -> str:
    return f"{'Gained' if found['how'] == 'added to' else 'Lost'}: {found['things']}"


def _own_state(found: re.Match[str]) -> str:
    state = "open" if found["state"] == "ajar" else found["state"]
    return f"{found['head']}{found['rest']} {found['head']} is {state}."


_OWN_STATE = re.compile(
    r"(?<![\w,] )(?<!\w)(?P<head>(?:An?|The) [^.,\n]{2,40}), (?:its|whose) \w+(?: is)? "
    r"(?P<state>ajar|open|closed|shut|locked),(?P<rest>[^.\n]*\.)"
)
_STATE_IN_BRACKETS = re.compile(
    r"(?<=\w )\[(?P<state>open|closed|shut|locked|unlocked|empty|lit|unlit|on|off|broken)\]"
)
_ONE_WAY = r"(?:[ns][ew]?|[ewud]|(?:north|south)(?:east|west)?|east|west|up|down)"
_TITLE_WITH_WAYS = re.compile(
    rf"^(?P<title>[A-Z][\w',. -]{{1,40}}?) \[ ?(?P<ways>[NESWUD]{{2,6}}"
    rf"|{_ONE_WAY}(?:[, /]+{_ONE_WAY})*) ?\]$",
    re.IGNORECASE | re.MULTILINE,
)
"""A title with the exits of the place behind it: *The Quay [N, W]*."""
_LABEL_AT_END = re.compile(
    r"(?<=[\w.!?]) \[(?P<pair>[A-Z][\w ]{0,20}: [^\[\]\n]+)\]\.?$", re.MULTILINE
)
_ITEMS_IN_BRACKETS = re.compile(r"(?<=: )\[[\w' -]{1,30}\](?:,? ?\[[\w' -]{1,30}\])+")


def _bare_items(found: re.Match[str]) -> str:
    return ", ".join(re.findall(r"\[(.+?)\]", found[0]))


_FLOW = re.compile(r"(?<=: |= )\{(?P<pairs>[\w'\" -]+: ?[^{}\n]+)\}$", re.MULTILINE)
"""Pairs in braces behind a label."""


_IN_OR_ON = re.compile(r"\bin/on (?=(?:the )?(?P<place>[\w-]+))")


def _in_or_on(found: re.Match[str]) -> str:
    return "on " if kind_of_noun(found["place"]) == SUPPORTER else "in "


_ATTRIBUTE = re.compile(r"^(?P<name>[a-z]\w*)\.(?P<key>[a-z]\w*) ?= ?(?P<value>\w+)$", re.MULTILINE)
_STATE_KEYS = ("state", "status")
_LABEL_IN_BRACKETS = re.compile(
    r"^\[(?P<label>[A-Z][A-Za-z ]{1,15})\][ \t]+(?=[^\s:])", re.MULTILINE
)


def _bracketed_label(found: re.Match[str]) -> str:
    return found[0] if kind_of_label(found["label"]) == STATE else f"{found['label']}: "


def _attribute(found: re.Match[str]) -> str:
    value = found["value"] if found["key"] in _STATE_KEYS else ""
    value = value or (found["key"] if found["value"].lower() == "true" else "")
    return f"{found['name'].capitalize()}: {value}" if value else found[0]


_LINE_STEPS = _Steps(
    ("=", [((), _ATTRIBUTE, _attribute)]),
    ("in/on", [((), _IN_OR_ON, _in_or_on)]),
    ("{", [((), _FLOW, lambda found: found["pairs"])]),
    ("</", [((), _ANY_TAG, _nothing)]),
    ("...", [((), _LEADER, _leader)]),
    ("->", [((), _LEADER, _leader)]),
    ("=>", [((), _LEADER, _leader)]),
    ("→", [((), _LEADER, _leader)]),
    (">", [(("> ",), _QUOTED_LINE, _quoted_line)]),
    (" added to ", [((), _BAGGED, _bagged)]),
    (" removed from ", [((), _BAGGED, _bagged)]),
    ("   ", [((), _TITLE_OF_STATUS, _title_of_status)]),
    ("|", [((), _TITLE_OF_STATUS, _title_of_status)]),
    ("", [(tuple("0123456789"), _STATUS_LINE, _status)]),
    ("(", [(("(id", "(ID", "(Id", "(#"), _ID, _nothing), ((), _STACK, _nothing)]),
    (":", [(_SPEAKER_ENDS, _SPEAKER, _nothing)]),
    ("[", [((), _TAGGED, _nothing), ((), _LABEL_IN_BRACKETS, _bracketed_label)]),
    ("[", [((), _STACK, _nothing)]),
    ("[", [((), _COUNT_BEFORE, _count_before), ((), _BAR, _nothing)]),
    (": You ", [((), _THING_SAID, _nothing)]),
    (" >", [((), _FINAL_PROMPT, _nothing)]),
    ("   ", [((), _COLUMNS, lambda found: "\n")]),
    ("[", [(("][", "] [", "]  ["), _BRACKETED_PAIRS, lambda found: "]\n[")]),
    (" [", [
        ((), _TITLE_WITH_WAYS, lambda found: f"Exits: {found['ways']}\n{found['title']}"),
        ((), _LABEL_AT_END, lambda found: f"\n{found['pair']}"),
        ((), _STATE_IN_BRACKETS, lambda found: f"({found['state']})"),
        ((), _ITEMS_IN_BRACKETS, _bare_items),
    ]),
    ("]", [
        (("]o", "]O", "]a", "]A", "]e", "]E"), _KEY_LINE, _key_line),
        (("]o", "]O", "]a", "]A", "]e", "]E", "]p"), _KEY, lambda found: found["letter"]),
        ((".]", "!]", "?]"), _REMARK, lambda found: found["said"]),
    ]),
    (")", [
        ((")o", ")O", ")a", ")A", ")e", ")E"), _KEY_LINE, _key_line),
        ((")o", ")O", ")a", ")A", ")e", ")E", ")p"), _KEY, lambda found: found["letter"]),
    ]),
    (" - ", [((), _LETTERED, _lettered)]),
    (", its ", [((), _OWN_STATE, _own_state)]),
    (", whose ", [((), _OWN_STATE, _own_state)]),
)  # fmt: skip


# Case and tense

_YOU = re.compile(r"\b(?:[Yy]ou|[Yy]our|YOU)\b")
_AGENT = re.compile(
    r"\b(?P<article>[Tt])he agent(?P<own>'s)?(?: (?P<verb>is|has|sees|holds|carries|enters)\b)?"
)
_OF_AGENT = {"is": "are", "has": "have", "sees": "see", "holds": "hold", "carries": "carry",
             "enters": "enter"}  # fmt: skip


def _as_you(found: re.Match[str]) -> str:
    """Return *you* for an agent of whom a text speaks without ever saying *you*."""
    you = "You" if found["article"] == "T" else "you"
    you += "r" if found["own"] else ""
    return f"{you} {_OF_AGENT[found['verb']]}" if found["verb"] else you


_NARRATED = re.compile(
    r"(?:You|I|We) (?:were|was|stood|saw|came|went|walked|stepped|entered|could see|noticed)\b"
)
_PAST_HINTS = (" w", " stood", " saw", " came", " stepped", " entered", " could", " noticed")
"""Letters of which a match of :data:`_NARRATED` has at least one, as a fast test."""
_WAS = re.compile(r"\b(?:was|were)\b")
_PRESENT = re.compile(r"\b(?:is|are|am|can|see)\b|'(?:re|m)\b")
_TENSE = {
    "was": "is", "were": "are", "could": "can", "saw": "see", "stood": "stand", "lay": "lies",
    "noticed": "notice", "came": "go", "went": "go", "walked": "go", "stepped": "go",
    "entered": "enter", "arrived": "arrive", "returned": "return", "led": "lead", "ran": "run",
    "held": "hold", "carried": "carry", "had": "have", "picked": "pick", "took": "take",
    "dropped": "drop", "opened": "open", "closed": "close", "contained": "contains",
}  # fmt: skip
_PAST = re.compile(rf"\b(?:{'|'.join(_TENSE)})\b")


def _in_sentence_case(text: str) -> str:
    if not text.isupper() or _STATUS_LINE.fullmatch(text):
        return text
    lower = text.lower()
    if len(lower) != len(text):
        return text
    lower = re.sub(r"(?:^|[.!?:]\s+|\n[^\S\n]*)[a-z]|\bi\b", lambda m: m.group().upper(), lower)
    return re.sub(r"^[^\n.!?:,]{1,40}$", lambda m: m.group().title(), lower, flags=re.MULTILINE)
