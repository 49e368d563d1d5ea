"""The facts of a TextWorld game in play, indexed for matching rules.

A fact is a plain tuple ``(predicate, entity id, ...)``, e.g. ``("in", "f_0", "I")``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

__all__ = ["Binding", "Fact", "Index", "Pattern", "State"]

Fact = tuple[str, ...]
Binding = list[str | None]
"""Entity in each slot of a rule; None where the slot is open."""


class Pattern(NamedTuple):
    """A predicate over slots: argument ``i`` is what is bound to ``slots[i]``."""

    predicate: str
    slots: tuple[int, ...]


@lru_cache(maxsize=1 << 16)
def _fingerprint(fact: Fact) -> int:
    return int.from_bytes(blake2b("\0".join(fact).encode(), digest_size=16).digest(), "big")


class Index:
    """Facts that do not change, found by predicate, or by predicate and one argument.

    Attributes:
        facts: All of them.
        found: ``(predicate, position, entity)``, or ``(predicate,)``, to the facts that fit.
    """

    def __init__(self, facts: Iterable[Fact]):
        self.facts = frozenset(facts)
        found: dict[tuple[Any, ...], list[Fact]] = {}
        for fact in sorted(self.facts):
            for key in _keys(fact):
                found.setdefault(key, []).append(fact)
        self.found = {key: frozenset(facts) for key, facts in found.items()}


def _keys(fact: Fact) -> list[tuple[Any, ...]]:
    """Where a fact is found."""
    name = fact[0]
    return [(name,), *((name, i, fact[i]) for i in range(1, len(fact)))]


class State:
    """The facts of a game in play: those at its start, and what has changed since.

    Starting again, saving and going back cost no more than the changes.

    Args:
        start: The facts at the start; shared by all states of the game.

    Attributes:
        keys: Fingerprint of what has changed, for each predicate: where two states of a game have
            equal keys the predicate holds of the same entities.
    """

    def __init__(self, start: Index):
        self.start = start
        self.keys: dict[str, int] = {}
        self._added: set[Fact] = set()
        self._removed: set[Fact] = set()
        self._touched: dict[tuple[Any, ...], set[Fact]] = {}

    def __contains__(self, fact: Fact) -> bool:
        return fact in self._added or (fact in self.start.facts and fact not in self._removed)

    @property
    def facts(self) -> frozenset[Fact]:
        """All that is true."""
        return (self.start.facts - self._removed) | self._added

    @property
    def changes(self) -> tuple[frozenset[Fact], frozenset[Fact]]:
        """Facts that became true and facts that ceased to be true since the start."""
        return frozenset(self._added), frozenset(self._removed)

    def change(self, added: Iterable[Fact], removed: Iterable[Fact]) -> None:
        """Make facts true, then others false."""
        for fact in added:
            if fact not in self:
                self._put(fact)
        for fact in removed:
            if fact in self:
                self._drop(fact)

    def become(self, changes: tuple[frozenset[Fact], frozenset[Fact]]) -> None:
        """Go to the state with these changes since the start."""
        added, removed = changes
        self.change(
            [*(added - self._added), *(self._removed - removed)],
            [*(removed - self._removed), *(self._added - added)],
        )

    def _put(self, fact: Fact) -> None:
        if fact in self._removed:
            self._removed.remove(fact)
        else:
            self._added.add(fact)
        self.keys[fact[0]] = self.keys.get(fact[0], 0) ^ _fingerprint(fact)
        for key in _keys(fact):
            self._own(key).add(fact)

    def _drop(self, fact: Fact) -> None:
        if fact in self._added:
            self._added.remove(fact)
        else:
            self._removed.add(fact)
        self.keys[fact[0]] = self.keys.get(fact[0], 0) ^ _fingerprint(fact)
        for key in _keys(fact):
            self._own(key).discard(fact)

    def _own(self, key: tuple[Any, ...]) -> set[Fact]:
        """The state's own copy of an entry, to be changed."""
        entry = self._touched.get(key)
        if entry is None:
            entry = self._touched[key] = set(self.start.found.get(key, ()))
        return entry

    def matching(self, pattern: Pattern, binding: Binding) -> Iterable[Fact]:
        """Facts that may match: the smallest entry that the bound slots offer."""
        best: Collection[Fact] | None = None
        for position, slot in enumerate(pattern.slots, 1):
            value = binding[slot]
            if value is not None:
                found = self._find((pattern.predicate, position, value))
                if not found:
                    return ()
                if best is None or len(found) < len(best):
                    best = found
        return self._find((pattern.predicate,)) if best is None else best

    def _find(self, key: tuple[Any, ...]) -> Collection[Fact]:
        entry = self._touched.get(key)
        return self.start.found.get(key, ()) if entry is None else entry
