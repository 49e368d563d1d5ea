"""JSON and XML as labelled lines, with the offset of each character in the original."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from gym_memory.extract.label_kinds import CARRIED, EXITS, HERE, PLACE, STATE, kind_of_label

__all__ = ["RECORD_LEAD", "RecordLines", "record_lines"]

_JSON_TOKEN = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.)*)"|(?P<bare>-?\d[\w.+-]*|true|false|null)|(?P<mark>[][{}:,])'
)
_PYTHON = re.compile(r"(?<=[\[{:, ])'|'(?=[\]}:,])|\b(?:True|False|None)\b(?=[,\]}])")
_OF_PYTHON = {"'": '"', "True": "true", "False": "false", "None": "null"}
"""JSON literal for each Python literal."""
_MAX_CHARS_BEFORE_QUOTE = 8
RECORD_LEAD = re.compile(
    r"\A\s*(?:```\w*\s*|(?i:observation|obs|state|response|output|result|json|data"
    r"|info): ?)(?=[\[{]\s*[\[{\"'])|(?<=[\]}])\s*```\s*\Z"
)
"""Words and marks around a record."""
_ELEMENT = re.compile(
    r"<(?P<close>/)?(?P<tag>[a-zA-Z][\w-]*)(?P<more>[^<>]*?)(?P<empty>/)?>|(?P<text>[^<>]+)"
)
_ATTRIBUTE = re.compile(r"(?P<key>[\w-]+)=[\"'](?P<value>[^\"'<>]*)[\"']")
_SENTENCE_END = (".", "!", "?")
_ANONYMOUS_KEYS = ("", "id")
"""Keys whose values name nothing."""
_NUMBERED_KEYS = ("id", "name", "n", "number", "index")
"""Keys of a thing whose number names it."""
_NAME_KEYS = ("name", "item", "object", "entity", "thing")
"""Keys whose value is the name of the object."""
_STATUS_KEYS = ("state", "status")
"""Keys of a thing whose value is a state."""
_SPEECH_KEYS = (
    "speaker",
    "said_by",
    "sender",
    "author",
    "from",
    "says",
    "said",
    "speech",
    "dialogue",
)
"""Keys of an object that is speech, not a report."""
_ADVICE_KEYS = re.compile(
    r"(?:hint|tip|task|goal|objective|quest|mission|instruction|example|rule)s?"
)
"""Keys of advice and tasks, which state no facts."""
_PLACES_KEYS = ("rooms", "locations", "places", "areas")
"""Keys of several places, each with its exits and things."""
_EXIT_KEYS = ("direction", "dir")
"""Keys of an exit whose value is its direction."""
_DESTINATION_KEYS = ("to", "leads_to", "destination", "target")
"""Keys of an exit whose value is the place behind it."""
_STATE_KEYS = {
    "open": "closed", "closed": "open", "locked": "unlocked", "unlocked": "locked", "lit": "unlit",
    "broken": "", "empty": "", "dark": "",
}  # fmt: skip
"""State of a thing by a key that is false; a key that is true is the state itself."""
_PLACE_KEYS = ("on", "in", "under", "inside")
"""Keys of a thing whose value is its place."""
_CONTENT_KEYS = ("contains", "holds", "inside")
"""Keys of a thing whose values are its contents."""
_CARRIED_KEYS = ("held", "carried", "equipped", "worn", "in_inventory", "holding")
"""Keys of a thing that is carried if their value is true."""
_OWNED_KEYS = ("items", "things", "objects", "belongings", "possessions", "has", "have", "holds")
"""Keys of the player whose values are carried."""
_NO_THING = ("", "none", "null", "empty", "nothing")
_SELVES = ("player", "agent", "you", "character")
_ESCAPED = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")


class RecordLines(NamedTuple):
    """Lines of text with the offset of each character in the original."""

    text: str
    positions: Sequence[int]


class _Word(NamedTuple):
    """A word or sentence with the offset of each character in the original."""

    text: str
    at: Sequence[int]


class _RecordLine(NamedTuple):
    """A label with its values, or prose without values."""

    label: _Word
    values: list[_Word]


class _Fields(NamedTuple):
    """A JSON object as its pairs, with tests of its meaning."""

    pairs: list[tuple[_Word, _Node]]

    @property
    def name(self) -> _Word | None:
        """Return the name in the object; None without one."""
        named = {key.text: value for key, value in self.pairs}
        found = (named[key] for key in _NAME_KEYS if isinstance(named.get(key), _Word))
        return next(found, None)  # type: ignore[return-value]

    @property
    def is_placed(self) -> bool:
        """True if the object names a thing and its place."""
        return self.name is not None and any(
            (key.text in _CARRIED_KEYS and isinstance(value, _Word) and value.text == "true")
            or (
                (kind_of_label(key.text) == PLACE or key.text in _PLACE_KEYS)
                and isinstance(value, _Word)
            )
            for key, value in self.pairs
        )

    @property
    def is_count(self) -> bool:
        """True if the object counts things."""
        return bool(self.pairs) and all(
            isinstance(value, _Word) and value.text.isdecimal() for _, value in self.pairs
        )

    @property
    def is_outfit(self) -> bool:
        """True if the object has a thing for each part of a body or bag, and no states."""
        return not any(isinstance(value, _Fields) for _, value in self.pairs) and not all(
            isinstance(value, _Word) and _is_state(value.text) for _, value in self.pairs
        )

    @property
    def named(self) -> list[_Node]:
        """Return the objects in it with their keys as names; empty if any value is another."""
        if not all(isinstance(value, _Fields) for _, value in self.pairs):
            return []
        return [
            _Fields([(_fixed(_NAME_KEYS[0], key), key), *value.pairs])
            for key, value in self.pairs
            if isinstance(value, _Fields)
        ]

    @property
    def describes_things(self) -> bool:
        """True if each value is the place or the state of its key."""
        return bool(self.pairs) and all(
            isinstance(value, _Fields)
            and key.text not in _SELVES
            and kind_of_label(key.text) == STATE
            and all(
                k.text in _STATUS_KEYS or kind_of_label(k.text) == PLACE for k, _ in value.pairs
            )
            for key, value in self.pairs
        )

    @property
    def is_place(self) -> bool:
        """True if the object lists the things or exits of a place."""
        return any(kind_of_label(key.text) in (EXITS, HERE) for key, _ in self.pairs)

    @property
    def holds_lists(self) -> bool:
        """True if the object lists the contents of several things."""
        return bool(self.pairs) and all(isinstance(value, list) for _, value in self.pairs)

    def word(self, keys: Sequence[str]) -> _Word | None:
        """Return the first word with one of the keys; None without one."""
        words = (v for k, v in self.pairs if k.text in keys and isinstance(v, _Word))
        return next(words, None)

    @property
    def is_speech(self) -> bool:
        """True if the object is speech."""
        return any(key.text in _SPEECH_KEYS for key, _ in self.pairs)


_Node = _Word | _Fields | list["_Node"]
_NO_WORD = _Word("", ())


def record_lines(text: str) -> RecordLines | None:
    r"""Return a text that is JSON or XML as lines ``Label: value, value``; None for other text.

    >>> record_lines('{"room": "Dairy", "exits": ["south", "west"]}').text
    'Room: Dairy\nExits: south, west'
    >>> record_lines('[{"name": "gate", "state": "shut", "location": "Dairy"}]').text
    'Gate: shut\nThe gate is in the Dairy.'
    >>> record_lines("<room name='Vault'><item>ledger</item></room>").text
    'Room: Vault\nItem: ledger'
    """
    lines = _xml_lines(text) if text.lstrip().startswith("<") else _json_lines(text)
    if not lines:
        return None
    written: list[_Word] = []
    for label, values in lines:
        if written:
            written.append(_fixed("\n", label))
        if values:
            words = label.text[:1].upper() + label.text[1:].replace("_", " ")
            label = label._replace(text=words)
        written.append(label)
        for n, value in enumerate(values):
            written += [_fixed(", " if n else ": ", value), value]
    return RecordLines(
        "".join(word.text for word in written), [at for word in written for at in word.at]
    )


# JSON


def _json_lines(text: str) -> list[_RecordLine]:
    if "'" in text and "'" in text[:_MAX_CHARS_BEFORE_QUOTE]:
        text = _PYTHON.sub(lambda found: _OF_PYTHON[found[0]], text)  # of the same length
    try:
        json.loads(text)
        lines: list[_RecordLine] = []
        _write_node(_NO_WORD, _tree(_JSON_TOKEN.finditer(text)), lines)
    except (ValueError, RecursionError):
        return []
    return lines


def _tree(tokens: Iterator[re.Match[str]]) -> _Node:
    """Return the next value of valid JSON."""
    return _value(next(tokens), tokens)


def _value(found: re.Match[str], tokens: Iterator[re.Match[str]]) -> _Node:
    if found["mark"] == "{":
        pairs = []
        while (key := next(tokens))["mark"] != "}":
            if key["mark"] is None:
                next(tokens)  # the colon
                value = _tree(tokens)
                if not (isinstance(value, _Word) and value.text == "null"):
                    pairs.append((_word(key), value))
        return _Fields(pairs)
    if found["mark"] == "[":
        items = []
        while (item := next(tokens))["mark"] != "]":
            if item["mark"] != ",":
                items.append(_value(item, tokens))
        return items
    return _word(found)


def _word(found: re.Match[str]) -> _Word:
    group = "bare" if found["text"] is None else "text"
    text, start = found[group], found.start(group)
    if "\\" not in text:
        return _Word(text, range(start, start + len(text)))
    letters, at, end = "", [], 0
    for escape in _ESCAPED.finditer(text):
        letter = json.loads(f'"{escape[0]}"')
        letters += text[end : escape.start()] + letter
        at += [*range(start + end, start + escape.start()), *[start + escape.start()] * len(letter)]
        end = escape.end()
    return _Word(letters + text[end:], [*at, *range(start + end, start + len(text))])


def _write_node(label: _Word, node: _Node, lines: list[_RecordLine]) -> None:
    """Write a value below its key: the words of a list on one line, sentences as prose."""
    if isinstance(node, _Fields):
        _write_fields(label, node, lines)
        return
    values = node if isinstance(node, list) else [node]
    if _ADVICE_KEYS.fullmatch(label.text):
        return
    if kind_of_label(label.text) == HERE:
        for value in values:
            if isinstance(value, _Fields) and value.is_placed:
                _write_attributes(label, value, lines)
        others = [v for v in values if not (isinstance(v, _Fields) and v.is_placed)]
        if values and not others:
            return
        values = others
    if kind_of_label(label.text) == EXITS:
        values = [_exit(value) for value in values]
    words = [v.name if isinstance(v, _Fields) else v for v in values if not isinstance(v, list)]
    named = [word for word in words if word is not None and word.text]
    if named and all(_is_prose(word.text) for word in named):
        lines += [_RecordLine(word, []) for word in named]
    elif label.text not in _ANONYMOUS_KEYS and named and not _describes_each(label, values):
        lines.append(_RecordLine(label, named))
    elif not values and kind_of_label(label.text) not in (STATE, PLACE):
        lines.append(_RecordLine(label, [_fixed("none", label)]))
    for value in values:
        if isinstance(value, _Fields):
            _write_attributes(label, value, lines)
        elif isinstance(value, list):
            _write_node(label, value, lines)


def _describes_each(label: _Word, values: Sequence[_Node]) -> bool:
    """True for a list of objects below a label that does not place them."""
    return kind_of_label(label.text) == STATE and all(isinstance(v, _Fields) for v in values)


def _write_fields(label: _Word, fields: _Fields, lines: list[_RecordLine]) -> None:
    """Write an object below its key, by the kind of the key and the form of the object."""
    name = None if label.text in _SELVES else fields.name
    if name is None:
        if _write_group(label, fields, lines):
            return
        if kind_of_label(label.text) == PLACE:
            name = fields.word(("title",))
            fields = _Fields([pair for pair in fields.pairs if pair[1] is not name])
    elif label.text == "here" and fields.is_place:
        label = _fixed("location", label)
    if name is not None and label.text:
        lines.append(_RecordLine(label, [name]))
    _write_attributes(label, fields, lines)


def _write_group(label: _Word, fields: _Fields, lines: list[_RecordLine]) -> bool:
    """Write an object whose keys are things, exits or places; return False for another."""
    kind = kind_of_label(label.text)
    holds_things = kind in (CARRIED, HERE)
    if holds_things and fields.is_count:
        counted = [key for key, count in fields.pairs if count.text != "0"]  # type: ignore[union-attr]
        lines.append(_RecordLine(label, counted or [_fixed("none", label)]))
    elif not label.text and fields.describes_things:
        for one in fields.named:
            _write_attributes(_fixed("objects", label), one, lines)  # type: ignore[arg-type]
    elif kind == EXITS:
        for way, value in fields.pairs:
            keys = (*_DESTINATION_KEYS, *_NAME_KEYS)
            there = value.word(keys) if isinstance(value, _Fields) else None
            _write_node(way, value if there is None else there, lines)
    elif kind == CARRIED and fields.is_outfit:
        worn = [word for _, value in fields.pairs for word in _words_in(value)]
        lines.append(_RecordLine(label, worn or [_fixed("none", label)]))
    elif holds_things and fields.named:
        _write_node(label, fields.named, lines)
    elif kind == HERE and fields.holds_lists:
        lines.append(_RecordLine(label, [key for key, _ in fields.pairs]))
        for key, things in fields.pairs:
            _write_inside(key, label, things, lines)
    elif label.text in _PLACES_KEYS:
        for key, value in fields.pairs:
            own = value.pairs if isinstance(value, _Fields) else [(key, value)]
            _write_attributes(label, _Fields([(_fixed("name", key), key), *own]), lines)
    else:
        return False
    return True


def _write_attributes(label: _Word, fields: _Fields, lines: list[_RecordLine]) -> None:
    """Write what an object says of the thing that it names: states, place and contents."""
    if fields.is_speech:
        return
    way = fields.word(_EXIT_KEYS)
    if way is not None:
        _write_exit(way, fields, lines)
        return
    name = None if label.text in _SELVES else fields.name
    if label.text in _PLACES_KEYS:
        name = name or fields.word(("id",))
    if name is None or kind_of_label(label.text) == PLACE or _is_prose(name.text):
        _write_own(label, name, fields, lines)
        return
    for key, value in fields.pairs:
        if value is name:
            continue
        if not isinstance(value, _Word):
            _write_inside(name, key, value, lines, label)
        elif (
            not _write_attribute(name, key, value, lines)
            and not label.text
            and key.text not in _ANONYMOUS_KEYS
        ):
            _write_node(key, value, lines)


def _write_exit(way: _Word, fields: _Fields, lines: list[_RecordLine]) -> None:
    """Write an exit and the place behind it."""
    there = fields.word(_DESTINATION_KEYS) or fields.word(
        [key.text for key, _ in fields.pairs if kind_of_label(key.text) == PLACE]
    )
    label = _fixed("exits", way) if there is None else way
    lines.append(_RecordLine(label, [there or way]))


def _write_own(label: _Word, name: _Word | None, fields: _Fields, lines: list[_RecordLine]) -> None:
    """Write the values of a place or a player, each below its own key."""
    is_self = label.text in _SELVES
    name = fields.name if is_self else name
    for key, value in fields.pairs:
        if value is name or (key.text in _STATE_KEYS and isinstance(value, _Word)):
            continue
        if is_self and key.text in _OWNED_KEYS:
            key = _fixed("inventory", key)
        elif is_self and key.text in ("at", "in"):
            key = _fixed("location", key)
        _write_node(key, value, lines)


def _write_attribute(name: _Word, key: _Word, value: _Word, lines: list[_RecordLine]) -> bool:
    """Write a state or the place of a thing; return False for another attribute."""
    if key.text in _STATUS_KEYS:
        lines.append(_RecordLine(name, [value]))
        return True
    sentence: _Word | None = None
    if key.text in _CARRIED_KEYS:
        if value.text == "true":
            sentence = _place_sentence(name, _fixed("inventory", key))
    elif key.text in _STATE_KEYS:
        state = key if value.text == "true" else _fixed(_STATE_KEYS[key.text], key)
        if state.text:
            sentence = _state_sentence(name, state)
    elif kind_of_label(key.text) == PLACE:
        sentence = _place_sentence(name, value)
    elif key.text in _PLACE_KEYS:
        sentence = _place_sentence(name, value, key.text)
    else:
        return False
    if sentence is not None:
        lines.append(_RecordLine(sentence, []))
    return True


def _write_inside(
    name: _Word, key: _Word, node: _Node, lines: list[_RecordLine], label: _Word = _NO_WORD
) -> None:
    """Write the contents of a thing or what a person carries; other values below their own key.

    Exits of one of several things below a label are exits of another place.
    """
    kind = kind_of_label(key.text)
    if kind == EXITS and label.text:
        ways = node if isinstance(node, list) else [node]
        words = [way for node in ways for way in _ways(node)]
        label = _joined([_fixed("Exits of the ", name), name])
        lines.append(_RecordLine(label, words or [_fixed("none", key)]))
        return
    if key.text == "on" and isinstance(node, list):
        key = _joined([_fixed("On the ", name), name])
    elif kind == HERE or key.text in _CONTENT_KEYS:
        key = _Word(f"{name.text} contains", [*name.at, *_fixed(" contains", name).at])
    elif kind == CARRIED:
        for thing in node if isinstance(node, list) else ():
            if isinstance(thing, _Word):
                words = [name, _fixed(" is holding the ", thing), thing, _fixed(".", thing)]
                lines.append(_RecordLine(_joined(words), []))
        return
    _write_node(key, node, lines)


def _exit(node: _Node) -> _Node:
    """Return an exit and the place behind it, a list of two words, as one word."""
    match node:
        case [_Word() as way, _Word() as there]:
            return _joined([way, _fixed(": ", there), there])
    return node


def _ways(node: _Node) -> Iterator[_Word]:
    """Yield the exits that a value names, perhaps with the places behind them."""
    if isinstance(node, _Word):
        yield node
    for key, value in node.pairs if isinstance(node, _Fields) else ():
        yield _joined([key, _fixed(": ", value), value]) if isinstance(value, _Word) else key


def _words_in(node: _Node) -> list[_Word]:
    """Return the words of a value and the names of its objects."""
    nodes = node if isinstance(node, list) else [node]
    words = (value.name if isinstance(value, _Fields) else value for value in nodes)
    return [word for word in words if isinstance(word, _Word) and word.text not in _NO_THING]


def _is_state(text: str) -> bool:
    return text in _STATE_KEYS or text in ("true", "false") or text.isdecimal()


def _is_prose(text: str) -> bool:
    return "\n" in text or (" " in text and text.endswith(_SENTENCE_END))


def _place_sentence(name: _Word, place: _Word, where: str = "in") -> _Word:
    """Return a sentence that places a thing."""
    owner = "your" if kind_of_label(place.text) == CARRIED else "the"
    words = [_fixed("The ", name), name, _fixed(f" is {where} {owner} ", place), place]
    words.append(_fixed(".", place))
    return _joined(words)


def _state_sentence(name: _Word, state: _Word) -> _Word:
    """Return a sentence that gives the state of a thing."""
    return _joined([_fixed("The ", name), name, _fixed(" is ", state), state, _fixed(".", state)])


def _joined(words: Sequence[_Word]) -> _Word:
    return _Word("".join(w.text for w in words), [at for w in words for at in w.at])


def _fixed(text: str, near: _Word) -> _Word:
    """Return words that are not in the original, at the offset of others that are."""
    return _Word(text, list(near.at[:1] or [0]) * len(text))


# XML


class _Tag(NamedTuple):
    """An open tag, the label of its content, and the state of what the content names."""

    name: _Word
    label: _Word
    state: _Word | None


def _xml_lines(text: str) -> list[_RecordLine]:
    """Return contents and attributes below their tags, and sentences; [] for other text."""
    lines: list[_RecordLine] = []
    opened: list[_Tag] = []
    for found in _ELEMENT.finditer(text):
        if found["close"]:
            if not opened or opened.pop().name.text != found["tag"]:
                return []
        elif found["tag"]:
            tag = _read_tag(found, opened, lines)
            if not found["empty"]:
                opened.append(tag)
        elif words := found["text"].strip():
            start = found.start() + found["text"].index(words)
            content = _at(words, start)
            if words.endswith(_SENTENCE_END) and (opened or "\n" in text[found.start() : start]):
                lines.append(_RecordLine(content, []))
            elif opened:
                lines.append(_RecordLine(opened[-1].label, [content]))
                if opened[-1].state is not None:
                    lines.append(_RecordLine(_state_sentence(content, opened[-1].state), []))
            else:
                return []  # prose with tags
    return [] if opened else lines


def _read_tag(found: re.Match[str], opened: Sequence[_Tag], lines: list[_RecordLine]) -> _Tag:
    """Write the attributes of a tag, and return the tag."""
    name = _at(found["tag"], found.start("tag"))
    more = found.start("more")
    attributes = {a["key"]: a for a in _ATTRIBUTE.finditer(found["more"])}
    given = {key: _at(a["value"], more + a.start("value")) for key, a in attributes.items()}
    way, state = _first(given, _EXIT_KEYS), _first(given, _STATUS_KEYS)
    label = _tag_label(name, opened) if way is None else way
    for key, a in attributes.items():
        if a["value"].isdecimal() and key not in _NUMBERED_KEYS:
            lines.append(_RecordLine(_at(key, more + a.start("key")), [given.pop(key)]))
    named = [word for word in given.values() if word not in (way, state)]
    if named:
        lines.append(_RecordLine(label, named[:1]))
    elif way is not None and found["empty"]:
        lines.append(_RecordLine(_fixed("exits", way), [way]))
    if named and state is not None:
        lines.append(_RecordLine(_state_sentence(named[0], state), []))
    return _Tag(name, label, state)


def _first(given: Mapping[str, _Word], keys: Sequence[str]) -> _Word | None:
    return next((given[key] for key in keys if key in given), None)


def _tag_label(tag: _Word, opened: Sequence[_Tag]) -> _Word:
    """Return the label of a tag: that of the list or the place around it, or its own name."""
    outer = opened[-1].name if opened else _NO_WORD
    kind = kind_of_label(outer.text)
    if kind == PLACE and tag.text in ("name", "title"):
        return outer
    if kind in (CARRIED, HERE) and kind_of_label(tag.text) in (HERE, STATE):
        return outer
    return tag


def _at(text: str, start: int) -> _Word:
    return _Word(text, range(start, start + len(text)))
