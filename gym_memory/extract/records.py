"""JSON and XML as labelled lines, with the way back from each character to the original."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

__all__ = ["RecordLines", "record_lines"]

_JSON_TOKEN = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.)*)"|(?P<bare>-?\d[\w.+-]*|true|false|null)|(?P<mark>[][{}:,])'
)
_ELEMENT = re.compile(
    r"<(?P<close>/)?(?P<tag>[a-zA-Z][\w-]*)(?P<more>[^<>]*?)(?P<empty>/)?>|(?P<text>[^<>]+)"
)
_ATTRIBUTE = re.compile(r"[\w-]+=[\"'](?P<value>[^\"'<>]*)[\"']")
_SENTENCE_END = (".", "!", "?")
_ANONYMOUS = ("", "id")
"""Keys whose values name nothing."""


class RecordLines(NamedTuple):
    """Lines, and where each character of them is in the original."""

    text: str
    positions: Sequence[int]


class _RecordLine(NamedTuple):
    """A label and its values, each with the position of its first character."""

    label: tuple[str, int]
    values: list[tuple[str, int]]


def record_lines(text: str) -> RecordLines | None:
    r"""Return a text that is JSON or XML as lines ``Label: value, value``; None for other text.

    >>> record_lines('{"room": "Dairy", "exits": ["south", "west"]}').text
    'Room: Dairy\nExits: south, west'
    >>> record_lines("<room name='Vault'><item>ledger</item></room>").text
    'Room: Vault\nItem: ledger'
    """
    lines = _xml_lines(text) if text.lstrip().startswith("<") else _json_lines(text)
    if not lines:
        return None
    parts: list[str] = []
    positions: list[int] = []

    def write(words: str, at: int, *, fixed: bool = False) -> None:
        parts.append(words)
        positions.extend([at] * len(words) if fixed else range(at, at + len(words)))

    for n, (label, values) in enumerate(lines):
        write("\n" if n else "", label[1], fixed=True)
        write(label[0][:1].upper() + label[0][1:].replace("_", " "), label[1])
        for m, (value, at) in enumerate(values):
            write(", " if m else ": ", at, fixed=True)
            write(value, at)
    return RecordLines("".join(parts), positions)


def _json_lines(text: str) -> list[_RecordLine]:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [line for line in _json_pairs(text) if line.values and line.label[0] not in _ANONYMOUS]


def _json_pairs(text: str) -> Iterator[_RecordLine]:
    """Yield the pairs of all objects; the name of an object goes under the key of the object."""
    line, word = _RecordLine(("", 0), []), ("", 0)
    above: list[tuple[str, int]] = []
    for found in _JSON_TOKEN.finditer(text):
        mark = found["mark"]
        if mark == ":":
            yield line
            line, word = (
                _RecordLine(above[-1] if word[0] == "name" and above[-1][0] else word, []),
                ("", 0),
            )
        elif mark is None:
            group = "bare" if found["text"] is None else "text"
            word = (found[group], found.start(group))
        else:
            if word[0]:
                line.values.append(word)
                word = ("", 0)
            if mark == "{":
                above.append(line.label)
            elif mark == "}":
                above.pop()
    yield line


def _xml_lines(text: str) -> list[_RecordLine]:
    """Return short contents and attributes by their tags, sentences alone; [] for other text."""
    lines: list[_RecordLine] = []
    opened: list[tuple[str, int]] = []
    for found in _ELEMENT.finditer(text):
        words = (found["text"] or "").strip()
        if found["text"] is None and not found["close"]:
            tag = (found["tag"], found.start("tag"))
            values = [
                (a["value"], found.start("more") + a.start("value"))
                for a in _ATTRIBUTE.finditer(found["more"])
            ]
            if values:
                lines.append(_RecordLine(tag, values[:1]))
            if not found["empty"]:
                opened.append(tag)
        elif found["close"]:
            if not opened or opened.pop()[0] != found["tag"]:
                return []
        elif words:
            start = found.start() + found["text"].index(words)
            if words.endswith(_SENTENCE_END) and (opened or "\n" in text[found.start() : start]):
                lines.append(_RecordLine((words, start), []))
            elif opened:
                lines.append(_RecordLine(opened[-1], [(words, start)]))
            else:
                return []  # tags within prose
    return [] if opened else lines
