"""Voices of games: names, wordings and themes that differ between train, valid and test.

``train.json``, ``valid.json`` and ``test.json`` have sentence forms and words. A game uses only
those of its split, so players are tested on new wordings. A :class:`Voice` draws a game's names,
sentences, furniture and things from them.
"""

from __future__ import annotations

import dataclasses
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple

from gym_memory.core.text import compounds
from gym_memory.games.textworld.worldgen import Cell, new_holder

__all__ = ["SHARED", "Holder", "Name", "Voice", "add_holders", "add_things", "expanded"]
__all__ += ["load_voices", "things_of"]

SHARED = frozenset({"key", "note", "of"})
"""Words in names of all splits, in addition to letters and numbers."""

_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
_SLOT = re.compile(r"\{(\w+)\}")
_ENDS = (".", "!", "?")
_MAX_NUMBERED = 60
_LETTERS = "ABCDEFGHJKLMNOPQRSTUVW"
_OFF_STYLE_SHARE = 0.3
"""Probability that a name deviates from its game's style."""
_PRONOUN_SHARE = 0.4
"""Probability of using *it* where possible."""
_UNPAIRED = 500


class Name(NamedTuple):
    """A name in commands, with its form in sentences.

    A proper name has no article; ``indefinite`` has the words before it in a list: ``a pair of``.
    """

    name: str
    proper: bool = False
    indefinite: str = ""

    def __str__(self) -> str:
        return self.name if self.proper else f"the {self.name}"


@lru_cache(maxsize=3)
def load_voices(split: str) -> Mapping[str, Any]:
    """Read the forms and words of a split."""
    return json.loads((files(__package__) / f"{split}.json").read_text(encoding="utf-8"))


def expanded(form: str) -> Iterator[str]:
    """Yield all expansions of a form with alternatives.

    >>> list(expanded("(Go|Walk) to {room}"))
    ['Go to {room}', 'Walk to {room}']
    """
    parts = _CHOICE.split(form)
    choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
    return ("".join(chosen) for chosen in product(*choices))


def things_of(one: Sequence[str], some: Sequence[str], pairs: Sequence[str]) -> list[Name]:
    """Return names of things: countable, uncountable, and pairs."""
    return [
        *(Name(name, proper=name[-1].isdigit()) for name in one),
        *(Name(name, indefinite="some") for name in some),
        *(Name(name, indefinite="a pair of") for name in pairs),
    ]


class Voice:
    """A choice of words of one split (``train``, ``valid`` or ``test``) for one game."""

    def __init__(self, split: str, rng: random.Random):
        self.data = load_voices(split)
        self.words: Mapping[str, Sequence[str]] = self.data["words"]
        self._rng = rng
        self._used: list[frozenset[str]] = []
        self._styles = {kind: rng.choice(styles) for kind, styles in self.data["names"].items()}

    def name(self, kind: str) -> Name:
        """Draw a new name for a ``key``, ``lock``, ``note`` or ``room``."""
        rng, styles = self._rng, self.data["names"][kind]
        for _ in range(_UNPAIRED):
            style = rng.choice(styles) if rng.random() < _OFF_STYLE_SHARE else self._styles[kind]
            slots = {slot: self._draw_word(kind, slot) for slot in _SLOT.findall(style)}
            if self.take(name := style.format(**slots)):
                return Name(name, proper="n" in slots or "letter" in slots)
        raise ValueError(f"the voice has too few words for so many names of a {kind}")

    def _draw_word(self, kind: str, slot: str) -> str:
        if slot == "n":
            return str(self._rng.randint(1, _MAX_NUMBERED))
        if slot == "letter":
            return self._rng.choice(_LETTERS)
        part = {"adj": "adjectives", "mat": "materials"}.get(slot.lower(), "nouns")
        word = self._rng.choice(self.words[f"{kind} {part}"])
        return word.upper() if slot.isupper() else word.title() if slot[0].isupper() else word

    def take(self, name: str) -> bool:
        """Reserve a name and return True, unless its words include another's or vice versa.

        TextWorld rejects names that begin with I or P (the inventory, the player).
        """
        words = frozenset(compounds(name))
        if name[0] in "IP" or any(words <= other or other <= words for other in self._used):
            return False
        self._used.append(words)
        return True

    def furniture(self, part: str, count: int) -> list[Name]:
        """Draw new ``supporters`` or ``containers``."""
        found: list[Name] = []
        for _ in range(_UNPAIRED):
            if len(found) == count:
                break
            adjective = self._rng.choice(("", *self.words["furniture adjectives"]))
            name = f"{adjective} {self._rng.choice(self.words[part])}".strip()
            if self.take(name):
                found.append(Name(name))
        return found

    def things(self, count: int) -> list[Name]:
        """Draw new things without use, up to ``count`` if the voice has enough words."""
        words = self.words
        all_things = things_of(words["things"], words["some"], words["pairs"])
        self._rng.shuffle(all_things)
        return [thing for thing in all_things[:count] if self.take(thing.name)]

    def say(self, relation: str | Sequence[str], *, it: str = "", **names: object) -> str:
        """Write a sentence with one of the forms of a relation, filled with names.

        ``it`` is a slot that may become *it* at the start of the sentence.
        """
        forms = self.data["forms"][relation] if isinstance(relation, str) else relation
        fitting = [form for form in forms if set(_SLOT.findall(form)) <= set(names)]
        form = self._rng.choice(list(expanded(self._rng.choice(fitting))))
        if it and form.startswith(f"{{{it}}} ") and self._rng.random() < _PRONOUN_SHARE:
            names[it] = "it"
        return finish_sentence(form.format(**names))


def finish_sentence(text: str) -> str:
    """Add a capital at the start and a full stop at the end, except to an empty text.

    >>> finish_sentence("the key opens it")
    'The key opens it.'
    """
    text = text.strip()
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text.endswith(_ENDS) else ".")


@dataclasses.dataclass(frozen=True)
class Holder:
    """An unlocked piece of furniture of kind ``c`` (container) or ``s`` (supporter)."""

    name: Name
    kind: str
    cell: Cell
    shut: bool = False

    @property
    def prep(self) -> str:
        """Return the preposition for its contents, *in* or *on*."""
        return "in" if self.kind == "c" else "on"


def add_holders(
    maker: Any, rng: random.Random, places: dict[Any, Any], holders: Iterable[Holder]
) -> None:
    """Put furniture into its rooms and into ``places`` (cell to room)."""
    for holder in holders:
        piece = new_holder(maker, rng, holder.kind, holder.name.name)
        if holder.kind == "c":
            piece.add_property("closed" if holder.shut else "open")
        places[holder.cell].add(piece)
        places[holder] = piece


def add_things(
    maker: Any, places: dict[Any, Any], things: Iterable[tuple[Name, Cell | Holder]]
) -> None:
    """Put things on the floor of a cell, or in or on furniture."""
    for thing, place in things:
        look = finish_sentence(f"{thing} look ordinary") if thing.indefinite else None
        entity = maker.new("o", thing.name, look)
        entity.infos.indefinite = thing.indefinite or None
        places[place].add(entity)
