"""Load the rules of a knowledge base, parsed by TextWorld once and then cached.

Importing TextWorld and parsing a knowledge base take two seconds per process; reading JSON takes
milliseconds. The name of a cached file is a digest of the knowledge base and TextWorld's version.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.metadata import version
from typing import Any, NamedTuple

from gym_memory.core.files import cache_dir, read_json, write_atomic
from gym_memory.core.optional import check_installed, require

__all__ = ["FactPattern", "Knowledge", "RuleText", "Slot", "load_knowledge", "textworld_version"]

_FORMAT = 1


class FactPattern(NamedTuple):
    """A predicate over slots: argument ``i`` is the binding of ``slots[i]``."""

    predicate: str
    slots: tuple[int, ...]


class Slot(NamedTuple):
    """A placeholder of a rule; ``fixed`` is its only possible entity, or None."""

    name: str
    type: str
    fixed: str | None


class RuleText(NamedTuple):
    """A rule whose predicates are patterns over slot numbers."""

    name: str
    command: str
    event: str
    slots: tuple[Slot, ...]
    preconditions: tuple[FactPattern, ...]
    added: tuple[FactPattern, ...]
    removed: tuple[FactPattern, ...]


class Knowledge(NamedTuple):
    """A knowledge base: types with their subtypes, and rules with a command."""

    subtypes: Mapping[str, frozenset[str]]
    rules: tuple[RuleText, ...]


_RULE_LIMITS = {"": 40_000, "type ": 100, "(": 1200}
"""Limits of a knowledge base: characters, types, predicates. TextWorld's parser takes 1.5 ms per
predicate; Cooking, the largest, has 31,000, 56 and 590."""


@lru_cache(maxsize=1)
def textworld_version() -> str:
    """Return the installed version without an import."""
    check_installed("textworld", "textworld", "TextWorld games")
    return version("textworld")


def load_knowledge(serialized_kb: str) -> Knowledge:
    """Read the rules in the JSON text of a game's ``KB`` entry."""
    content = f"{_FORMAT}\n{textworld_version()}\n{serialized_kb}"
    digest = hashlib.sha256(content.encode()).hexdigest()[:32]
    path = cache_dir() / "textworld" / "rules" / f"{digest}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        return _from_json(read_json(path))
    found = _parsed(serialized_kb)
    with contextlib.suppress(OSError):  # an unwritable cache only costs time
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, json.dumps(_to_json(found)))
    return found


def _parsed(serialized_kb: str) -> Knowledge:
    data = require("textworld.generator.data", "textworld", "TextWorld games")
    record = json.loads(serialized_kb)
    logic: str = record["logic"]
    for part, most in _RULE_LIMITS.items():
        count = logic.count(part)
        if count > most:
            raise ValueError(f"expected rules with at most {most} of {part!r}, got {count}")
    try:
        kb = data.KnowledgeBase.deserialize(record)
    except Exception as error:  # errors of TextWorld's parser
        first = next(iter(str(error).strip().splitlines()), "")
        raise ValueError(f"the rules cannot be read: {type(error).__name__}: {first}") from None
    fixed = kb.types.constants_mapping
    subtypes = {
        t.name: frozenset(s.name for s in kb.logic.types.get(t.name).subtypes)
        for t in kb.logic.types
    }
    rules = tuple(
        _rule(rule, kb.inform7_events[name], fixed)
        for name, rule in kb.rules.items()
        if name in kb.inform7_events and rule.command_template
    )
    return Knowledge(subtypes, rules)


def _rule(rule: Any, event: str, fixed: Mapping[Any, Any]) -> RuleText:
    number = {placeholder: i for i, placeholder in enumerate(rule.placeholders)}

    def patterns(predicates: Iterable[Any]) -> tuple[FactPattern, ...]:
        return tuple(
            FactPattern(p.name, tuple(number[a] for a in p.parameters)) for p in predicates
        )

    return RuleText(
        rule.name,
        rule.command_template,
        event,
        tuple(
            Slot(p.name, p.type, fixed[p].name if p in fixed else None) for p in rule.placeholders
        ),
        patterns(rule.preconditions),
        patterns(rule.added),
        patterns(rule.removed),
    )


def _to_json(knowledge: Knowledge) -> dict[str, Any]:
    return {
        "subtypes": {name: sorted(names) for name, names in knowledge.subtypes.items()},
        "rules": [rule._asdict() for rule in knowledge.rules],
    }


def _from_json(record: Any) -> Knowledge:
    """Convert from JSON; raise an error if anything is wrong."""
    subtypes = {str(t): frozenset(map(str, names)) for t, names in record["subtypes"].items()}
    return Knowledge(subtypes, tuple(_rule_of(rule, subtypes) for rule in record["rules"]))


def _rule_of(record: Mapping[str, Any], subtypes: Mapping[str, Any]) -> RuleText:
    slots = tuple(Slot(*slot) for slot in record["slots"])
    preconditions, added, removed = (
        tuple(FactPattern(str(name), tuple(numbers)) for name, numbers in record[part])
        for part in ("preconditions", "added", "removed")
    )
    for pattern in (*preconditions, *added, *removed):
        if not all(type(slot) is int and 0 <= slot < len(slots) for slot in pattern.slots):
            raise ValueError(f"expected numbers of {len(slots)} slots, got {pattern}")
    texts = record["name"], record["command"], record["event"]
    if not all(type(text) is str for text in (*texts, *(slot.name for slot in slots))):
        raise TypeError("expected texts")
    if not all(slot.type in subtypes and isinstance(slot.fixed, str | None) for slot in slots):
        raise ValueError("expected slots of known types")
    return RuleText(*texts, slots, preconditions, added, removed)
