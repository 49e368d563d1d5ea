"""Who reads what is written on things: rules, a statistical parser, or both.

The rest of a game's text is read by the rules of its dialect; a reader is asked for notes, goals
and recipes, whose words nobody knows in advance.
"""

from __future__ import annotations

from typing import Protocol

from gym_memory.extract import READERS
from gym_memory.extract.base import Mention
from gym_memory.extract.notes.named import KindOf
from gym_memory.extract.notes.recipes import read_prose_recipe
from gym_memory.extract.notes.statements import read_statements
from gym_memory.extract.notes.telling import Told

__all__ = ["Reader", "RulesReader", "RulesThenParser"]


class Reader(Protocol):
    """Reads a text whose author is unknown. Keeps no state: the same text says the same."""

    def statements(self, text: str, kind_of: KindOf, *, note: bool = False) -> Told:
        """What a text tells of keys, locks and places.

        Args:
            text: The text.
            kind_of: What is known of a name.
            note: Whether it is short and of one matter, so that the only key and the only lock in
                it belong together even where no sentence says so.
        """
        ...

    def recipe(self, text: str, kind_of: KindOf) -> tuple[Mention, ...]:
        """What a recipe requires, what is to be done to it, and where the meal is prepared."""
        ...


@READERS.register("rules")
class RulesReader:
    """Read by the rules of ``notes/statements.py`` and ``notes/recipes.py``."""

    def statements(self, text: str, kind_of: KindOf, *, note: bool = False) -> Told:
        """See :class:`Reader`."""
        return read_statements(text, kind_of, note=note)

    def recipe(self, text: str, kind_of: KindOf) -> tuple[Mention, ...]:
        """See :class:`Reader`."""
        return read_prose_recipe(text, kind_of)


@READERS.register("both")
class RulesThenParser:
    """The rules, and the parser for a text of which they make nothing.

    Raises:
        MissingDependencyError: The extra ``parser`` is not installed.
    """

    def __init__(self) -> None:
        from gym_memory.extract.notes.parsed import ParserReader

        self._rules, self._parser = RulesReader(), ParserReader()

    def statements(self, text: str, kind_of: KindOf, *, note: bool = False) -> Told:
        """See :class:`Reader`."""
        told = self._rules.statements(text, kind_of, note=note)
        return told if told.facts else self._parser.statements(text, kind_of, note=note)

    def recipe(self, text: str, kind_of: KindOf) -> tuple[Mention, ...]:
        """See :class:`Reader`."""
        return self._rules.recipe(text, kind_of) or self._parser.recipe(text, kind_of)
