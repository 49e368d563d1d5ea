"""Write Inform's text about a generated world: names, lists, descriptions.

The templates are TextWorld's input to Inform. Descriptions have substitutions
(``[if c_0 is open]an open[otherwise]a closed[end if]``), which are compiled once per game.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gym_memory.core.text import enumerated
from gym_memory.games.textworld.logic import State

__all__ = ["NOWHERE", "Holdings", "UnknownTextError", "Wording", "printed"]
__all__ += ["tidy_lines"]

NOWHERE = ""
"""Place of things out of play."""
_CENTRING = " " * 8
"""Spaces before a centred line, which answers show flush left."""
_CUT_WORDS = ("sliced", "diced", "chopped")
_HEAT_WORDS = ("needs_cooking", "burned", "fried", "roasted", "grilled")
"""Predicates of food in its printed name; the first true one counts."""
_RAW = {"needs_cooking": "raw"}
PREPARED = frozenset({*_CUT_WORDS, *_HEAT_WORDS[1:], "raw", "uncut"})
"""Words that refer to food in such a state."""


class UnknownTextError(Exception):
    """An error for a description that only Inform can print."""


class Holdings:
    """Inform's object tree: the place of each thing, and the contents of each place, latest first.

    The initial contents are shared; changes are separate.
    """

    def __init__(self, start: Mapping[str, tuple[str, ...]]):
        self._start = start
        self._places = {thing: place for place, things in start.items() for thing in things}
        self._held: dict[str, tuple[str, ...]] = {}
        self._moved: dict[str, str] = {}

    def within(self, place: str) -> tuple[str, ...]:
        """Return the things directly in or on a place, in list order."""
        held = self._held.get(place)
        return self._start.get(place, ()) if held is None else held

    def place_of(self, thing: str) -> str:
        """Return the direct holder of a thing."""
        place = self._moved.get(thing)
        return self._places.get(thing, NOWHERE) if place is None else place

    def move(self, thing: str, place: str) -> None:
        """Move a thing to the front of a place."""
        old = self.place_of(thing)
        if old:
            self._held[old] = tuple([x for x in self.within(old) if x != thing])
        self._moved[thing] = place
        if place:
            self._held[place] = (thing, *self.within(place))

    @property
    def changes(self) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
        """Return the changes since the start."""
        return self._held.copy(), self._moved.copy()

    def become(self, changes: tuple[dict[str, tuple[str, ...]], dict[str, str]]) -> None:
        """Set the state to these changes since the start."""
        self._held, self._moved = changes[0].copy(), changes[1].copy()


class View(NamedTuple):
    """A state to describe, and the examined thing."""

    state: State
    holdings: Holdings
    noun: str = ""


Piece = str | Callable[[View], str]
_Tokens = deque[tuple[str, bool]]
Test = Callable[[View], bool]

_LONE_QUOTE = re.compile(r"(?<![A-Za-z])'|'(?![A-Za-z])")
_NEWLINES = re.compile(r" *\n[ \n]*")
_SUBSTITUTION = re.compile(r"\[([^\[\]]*)\]")
_CHUNK_CHARS = 200
"""Length of the pieces in which TextWorld passes an objective to Inform."""
_BRANCH = re.compile(r"else\b|otherwise\b|end if$")
_UNEVEN_BREAK = re.compile(r"[^\n ] +\n *[^\n ]")
_UNSUPPORTED_CHARS = '"\t\\'
_IS = re.compile(r"(?:(?:the )?(\w+) is )?(open|closed|locked)")
_HAS = re.compile(r"there is (something|nothing) (?:in|on) (?:the )?(\w+)")
_EMPTY = re.compile(r"(?:the )?(\w+) contains nothing")
_LIST = re.compile(r"((?:is-are )?(?:a )?)list of things (?:in|on) (?:the )?(\w+)")


def printed(text: str) -> str:
    r"""Convert a plain text to Inform's output.

    A quotation mark not between letters becomes a double one. Several line breaks in the source end
    a paragraph; a single one is a space.

    >>> printed("it's 'so'\n\n far")
    'it\'s "so"\n\nfar'
    """
    text = _LONE_QUOTE.sub('"', text)
    if "\n" not in text:
        return text
    return _NEWLINES.sub(lambda found: "\n\n" if found[0].count("\n") > 1 else " ", text)


def printed_objective(text: str) -> str:
    """Convert an objective, which TextWorld passes in pieces, to Inform's output."""
    lines = text.split("\n")
    return "\n".join(
        "".join(printed(line[i : i + _CHUNK_CHARS]) for i in range(0, len(line), _CHUNK_CHARS))
        for line in lines
    )


class Wording:
    """Names and descriptions of one game.

    Args:
        infos: TextWorld's notes on each entity.
        foods: Entities whose names include how they are cut and cooked.
        doors: Entities without an article.
    """

    def __init__(
        self, infos: Mapping[str, Mapping[str, Any]], foods: Iterable[str], doors: Iterable[str]
    ):
        self._infos = infos
        self._foods = frozenset(foods)
        self._doors = frozenset(doors)
        self._descriptions: dict[str, tuple[Piece, ...]] = {}

    def name(self, entity: str) -> str:
        """Return the name without article."""
        return str(self._infos[entity]["name"])

    def definite(self, entity: str) -> str:
        """Return the name with its definite article."""
        return self.name(entity) if entity in self._doors else f"the {self.name(entity)}"

    def opening(self, entity: str) -> str:
        """Return the name with its capitalized definite article."""
        return self.name(entity) if entity in self._doors else f"The {self.name(entity)}"

    def noun(self, thing: str, state: State) -> str:
        """Return the name in lists and descriptions, such as ``sliced fried carrot``."""
        name = self.name(thing)
        if thing not in self._foods:
            return name
        cut = next((word for word in _CUT_WORDS if (word, thing) in state), "")
        heat = next((word for word in _HEAT_WORDS if (word, thing) in state), "")
        return " ".join(filter(None, (cut, _RAW.get(heat, heat), name)))

    def indefinite(self, thing: str, state: State) -> str:
        """Return the noun with its indefinite article."""
        noun = self.noun(thing, state)
        article = self._infos[thing].get("indefinite")
        return f"{article or ('an' if noun[0] in 'aeiouAEIOU' else 'a')} {noun}"

    def listed(self, things: Sequence[str], state: State) -> str:
        """Return an enumeration with indefinite articles."""
        return enumerated([self.indefinite(thing, state) for thing in things]) or "nothing"

    def inventory(self, things: Sequence[str], state: State) -> str:
        """Return the answer to ``inventory``."""
        if not things:
            return "You are carrying nothing."
        return f"You are carrying: {self.listed(things, state)}."

    def heading(self, room: str) -> str:
        """Return a room's heading in Inform's output."""
        return f"-= {printed(self.name(room).title())} =-"

    def room(self, room: str, view: View, floor: Sequence[str]) -> str:
        """Return a room's heading and description, and the list of things on the floor."""
        text = f"{self.heading(room)}\n{self._describe(room, view)}"
        if floor:
            text = f"{text}\n\nThere is {self.listed(floor, view.state)} on the floor."
        return tidy_lines(text)

    def thing(self, thing: str, view: View) -> str:
        """Return the description of a thing; empty if it has none."""
        return tidy_lines(self._describe(thing, view))

    def _describe(self, entity: str, view: View) -> str:
        pieces = self._descriptions.get(entity)
        if pieces is None:
            pieces = self._descriptions[entity] = self._compiled(entity)
        return _written(pieces, view)

    def check(self) -> None:
        """Compile every description.

        Raises:
            UnknownTextError: A description has an unknown substitution.
        """
        for entity, info in self._infos.items():
            if info["name"] and info["desc"]:
                self._descriptions[entity] = self._compiled(entity)

    def _compiled(self, entity: str) -> tuple[Piece, ...]:
        info = self._infos[entity]
        text = info["desc"] or ""
        if not text.isascii() or any(mark in text for mark in _UNSUPPORTED_CHARS):
            raise UnknownTextError(text)
        if info["type"] != "r":  # TextWorld writes line breaks as substitutions here
            text = text.replace("\n", "[line break]")
        elif _UNEVEN_BREAK.search(text):
            raise UnknownTextError(text)
        parts = _SUBSTITUTION.split(printed(text))
        if any(mark in part for part in parts[::2] for mark in "[]"):
            raise UnknownTextError(text)
        tokens = deque((part, i % 2 == 1) for i, part in enumerate(parts) if part)
        pieces = tuple(self._sequence(tokens, entity))
        if tokens:
            raise UnknownTextError(tokens[0][0])
        return pieces

    def _sequence(self, tokens: _Tokens, entity: str) -> list[Piece]:
        """Compile tokens up to the end of the branch."""
        found: list[Piece] = []
        while tokens and not (tokens[0][1] and _BRANCH.match(tokens[0][0])):
            part, is_code = tokens.popleft()
            if not is_code:
                found.append(part)
            elif part.startswith("if "):
                found.append(self._choice(part, tokens, entity))
            else:
                found.append(self._substitution(part, entity))
        return found

    def _choice(self, code: str, tokens: _Tokens, entity: str) -> Piece:
        branches: list[tuple[Test, list[Piece]]] = []
        while code != "end if":
            condition = code.partition("if ")[2]
            test = self._test(condition, entity) if condition else lambda view: True
            branches.append((test, self._sequence(tokens, entity)))
            # a choice without an end extends to the end of the text
            code = tokens.popleft()[0] if tokens else "end if"

        def choose(view: View) -> str:
            for test, pieces in branches:
                if test(view):
                    return _written(pieces, view)
            return ""

        return choose

    def _test(self, condition: str, entity: str) -> Test:
        tests = [self._atom(atom.strip(), entity) for atom in condition.split(" and ")]
        return tests[0] if len(tests) == 1 else lambda view: all(test(view) for test in tests)

    def _atom(self, atom: str, entity: str) -> Test:
        if found := _IS.fullmatch(atom):
            thing = self._known(found[1] or entity)
            if found[2] == "closed":  # a locked thing is also closed
                return lambda view: ("open", thing) not in view.state
            fact = found[2], thing
            return lambda view: fact in view.state
        if found := _HAS.fullmatch(atom):
            place, wanted = self._known(found[2]), found[1] == "something"
            return lambda view: bool(view.holdings.within(place)) is wanted
        if found := _EMPTY.fullmatch(atom):
            place = self._known(found[1])
            return lambda view: not view.holdings.within(place)
        raise UnknownTextError(atom)

    def _substitution(self, code: str, entity: str) -> Piece:
        if code == "line break":
            return "\n"
        if code == "noun" and self._infos[entity]["type"] != "r":
            return lambda view: self.noun(entity, view.state)
        found = _LIST.fullmatch(code)
        if not found:
            raise UnknownTextError(code)
        place, verb, article = self._known(found[2]), "is-are" in found[1], "a " in found[1]

        def write(view: View) -> str:
            things = view.holdings.within(place)
            say = self.indefinite if article else self.noun
            if verb and not things:  # Inform uses the number of the last printed list
                raise UnknownTextError(code)
            text = enumerated([say(thing, view.state) for thing in things]) or "nothing"
            return f"{'are' if len(things) > 1 else 'is'} {text}" if verb else text

        return write

    def _known(self, entity: str) -> str:
        if entity not in self._infos:
            raise UnknownTextError(entity)
        return entity


def _written(pieces: Iterable[Piece], view: View) -> str:
    return "".join([piece if isinstance(piece, str) else piece(view) for piece in pieces])


def tidy_lines(text: str) -> str:
    """Return a text without its banner, trailing spaces and repeated empty lines."""
    lines: list[str] = []
    for line in text.split("\n"):
        line = (line.lstrip() if line.startswith(_CENTRING) else line).rstrip()
        if line and (lines or any(map(str.isalnum, line))):  # the banner has no letters
            lines.append(line)
        elif lines and lines[-1]:
            lines.append("")
    return "\n".join(lines).rstrip()
