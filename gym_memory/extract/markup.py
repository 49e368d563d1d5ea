"""Markup around words: terminal colours, tags, emphasis, links and frames."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from gym_memory.extract.rewriting import Rewrite, Rewriter, nothing

__all__ = ["MARKUP", "SIGNS"]


_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_COLOUR_WORD = re.compile(r"%\^\w+%\^")
_COLOUR_LETTER = re.compile(r"[{|][a-zA-Z](?![a-zA-Z]*[:|])")
_GAUGE = r"\d+(?:[/(]\d+\)?)?[a-zA-Z]+"
_PROMPT = re.compile(rf"^[ \t]*<?(?P<values>{_GAUGE}(?: {_GAUGE})*) ?>[ \t]*", re.MULTILINE)
"""A line of gauges before a command: *<120hp 85m>*, *312H 88M 90V >*."""
_HTML = (
    r"/?(?:a|b|big|br|center|code|dd|div|dl|dt|em|font|h[1-6]|hr|i|img|kbd|li|mark|ol|p|pre|q|s|small"
    r"|span|strong|sub|sup|table|tbody|td|th|thead|tr|tt|u|ul)(?=[ />])"
)
_TAG = re.compile(rf"<(?P<tag>{_HTML})[^<>]*>", re.IGNORECASE)
_TAGS = re.compile(rf"<{_HTML}[^<>]*>(?:\s*<{_HTML}[^<>]*>)*", re.IGNORECASE)
"""All tags in a row, matched at once, so that a long row takes no longer than its length."""
_ITEM_TAG = re.compile(r"<(?:li|tr|dt)\b[^<>]*>", re.IGNORECASE)
"""Beginning of an item of a list or a table, which begins a line."""
_BREAKING = re.compile(r"/?(?:br|p|div|h[1-6]|hr|li|ol|ul|table|tr|dt|dd|pre)", re.IGNORECASE)
_PAIR = re.compile(r"\[(?P<tag>/?[a-z][\w#]*)(?:[ =][^\[\]\n]*)?\](?=(?P<rest>.?))", re.DOTALL)
_TEMPLATE = re.compile(r"\{\{(?:[^{}|]*\|)*(?P<word>[^{}|]*)\}\}")
_EMPHASIS = re.compile(
    r"(?:(?<=[ (])(?P<inner>\*\*?|__?|`)(?=\w)([^*_`\n]*[\w:])(?P=inner)(?=[ ,.;:!?)\n]|$)"
    r"|(?<![^\n])(?P<line>\*\*?|__?)(?=\w)([^*_`\n]*[.!?])(?P=line)$"
    r"|(?<![^\n])(?P<first>\*\*?|__?|`)(?=\w)([^*_`\n]*[\w:])(?P=first)(?=[ ,.;:!?)]))",
    re.MULTILINE,
)
"""Marks around words within a line; around a whole line they make a title."""
_LINK = re.compile(r"\[(?P<word>[^\[\]\n]+)\]\([^()\s]*\)")
_CHOICE_LINK = re.compile(r"^[ \t]*(?:[-*] )?\[\[(?![\"\'{\[])[^\[\]\n]+\]\][ \t]*$", re.MULTILINE)
_INNER_LINK = re.compile(
    r"\[\[(?![\"\'{\[])(?P<word>[^\[\]\n|>]*[^\[\]\n|>-])(?:(?:->|\|)[^\[\]\n]*)?\]\]"
)
_QUOTES = re.compile(r"''(?P<word>[^'\n](?:[^\n']|'(?!'))*)''")
_SLASHES = re.compile(r"(?<![:\w/])//(?P<word>[^/\n]+)//")
"""Bold and italic words and links of Twine."""
_STRUCK = re.compile(r"~~[^~\n]+~~ ?")
_EITHER_ARTICLE = re.compile(r"\b[Aa]\(n\)")
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d+);")
_FRAME_RULE = re.compile(r"[┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╭╮╰╯─━═]{3,}")
_FRAME_CELL = re.compile(
    r"^[ \t]*[│║┃|][ \t]*(?P<cell>[^│║┃|\n]*?)[ \t]*[│║┃|][ \t]*$", re.MULTILINE
)
_CELL_PAIR = re.compile(r"(?P<label>[A-Za-z][\w ]*?)(?: {2,}|: ?)(?P<value>\S.*)")


def _tags(found: re.Match[str]) -> str:
    """Return the line breaks of tags in a row; those up to an item make one."""
    items = list(_ITEM_TAG.finditer(found[0]))
    rest = found[0][items[-1].end() :] if items else found[0]
    return "\n" * bool(items) + _TAG.sub(_tag, rest)


def _tag(found: re.Match[str]) -> str:
    if not _BREAKING.fullmatch(found["tag"]):
        return ""
    return "\n# " if found["tag"][0] in "hH" and found["tag"][1:].isdigit() else "\n"


def _pair(found: re.Match[str]) -> str:
    closed = found["tag"][0] == "/" or f"[/{found['tag']}" in found.string
    return "" if closed or "[/]" in found.string else found[0]


def _prompt(found: re.Match[str]) -> str:
    pairs = re.findall(r"([\d/()]+)([a-zA-Z]+)", found["values"])
    line = ", ".join(f"{name.capitalize()}: {value}" for value, name in pairs)
    return line if found.end() == len(found.string) else f"{line}\n"


def _cell(found: re.Match[str]) -> str:
    pair = _CELL_PAIR.fullmatch(found["cell"])
    return f"{pair['label']}: {pair['value']}" if pair else found["cell"]


def _inner(found: re.Match[str]) -> str:
    return found[2] or found[4] or found[6]


def _dashes(found: re.Match[str]) -> str:
    return "-" * len(found[0])


_PICTURE = re.compile(
    r"(?:^[ \t]*[\u2600-\u27bf\U0001f300-\U0001faff]|[\u2600-\u2793\U0001f300-\U0001faff])"
    r"\ufe0f?[ \t]*",
    re.MULTILINE,
)
_ARROW = re.compile("[\u2794\u2798-\u27af\u21d2]\ufe0f?")
_GUILLEMETS = re.compile(r"^«[ \t]*(?P<title>[^«»\n]+?)[ \t]*»$", re.MULTILINE)
_APOSTROPHE = re.compile(r"(?<=\w)’(?=\w)")
SIGNS: Sequence[Rewrite] = (
    ((), _PICTURE, nothing),
    ((), _ARROW, lambda found: "->"),
    (("’",), _APOSTROPHE, lambda found: "'"),
    (("»",), _GUILLEMETS, lambda found: f"<< {found['title']} >>"),
)
"""Rewrites for pictures, arrows, guillemets around a line, and curved apostrophes."""
MARKUP = Rewriter(
    ("\x1b", [((), _ESCAPE, nothing)]),
    (">", [(tuple("0123456789"), _PROMPT, _prompt), (("<",), _TAGS, _tags)]),
    ("%^", [((), _COLOUR_WORD, nothing)]),
    ("{x", [((), _COLOUR_LETTER, nothing)]),
    ("|n", [((), _COLOUR_LETTER, nothing)]),
    ("&", [((), _ENTITY, lambda found: html.unescape(found[0]))]),
    ("[", [(("[/",), _PAIR, _pair)]),
    ("[[", [((), _CHOICE_LINK, nothing), ((), _INNER_LINK, lambda found: found["word"])]),
    ("''", [((), _QUOTES, lambda found: f"**{found['word']}**")]),
    ("//", [((), _SLASHES, lambda found: found["word"])]),
    ("](", [((), _LINK, lambda found: found["word"])]),
    ("~~", [((), _STRUCK, nothing)]),
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
"""Rewriter of markup, by the mark that a text must have."""
