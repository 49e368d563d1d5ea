"""Run TextWorld's game logic fast: state, rules, admissible commands, events.

TextWorld matches every rule against every fact after every command. Here, rules are compiled once
to patterns over numbered slots, facts are indexed, and only rules that depend on a change are
matched again, on demand. The results are the same. A fact is a tuple, ``("in", "f_0", "I")``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from gym_memory.games.textworld.knowledge import FactPattern, RuleText, load_knowledge
from gym_memory.games.textworld.matching import Matcher, compile_matcher

__all__ = ["Binding", "Fact", "Index", "Logic", "Rule", "RuleMove", "State", "World", "load_logic"]

Fact = tuple[str, ...]
Binding = list[str | None]
"""Entity in each slot of a rule; None in an open slot."""


@lru_cache(maxsize=1 << 16)
def _fingerprint(fact: Fact) -> int:
    return int.from_bytes(blake2b("\0".join(fact).encode(), digest_size=16).digest(), "big")


class Index:
    """An index of constant facts by predicate, or by predicate and one argument.

    Attributes:
        found: Facts by ``(predicate, position, entity)`` and by ``(predicate,)``.
    """

    def __init__(self, facts: Iterable[Fact]):
        self.facts = frozenset(facts)
        found: dict[tuple[Any, ...], list[Fact]] = {}
        for fact in sorted(self.facts):
            for key in _keys(fact):
                found.setdefault(key, []).append(fact)
        self.found = {key: frozenset(facts) for key, facts in found.items()}


def _keys(fact: Fact) -> list[tuple[Any, ...]]:
    name = fact[0]
    return [(name,), *((name, i, fact[i]) for i in range(1, len(fact)))]


class State:
    """A set of facts of a game: shared facts of the start, and the changes since.

    Attributes:
        facts_now: All true facts, updated in place.
        index: The same by predicate, or by predicate and one argument.
        keys: Fingerprint of the changes by predicate; in one game, equal fingerprints mean equal
            facts of the predicate.
        key: Fingerprint of the changes of all predicates.
    """

    def __init__(self, start: Index):
        self.keys: dict[str, int] = {}
        self.key = 0
        self.index: dict[tuple[Any, ...], Collection[Fact]] = {**start.found}
        self.facts_now = set(start.facts)
        self._added: set[Fact] = set()
        self._removed: set[Fact] = set()
        self._owned: set[tuple[Any, ...]] = set()

    def __contains__(self, fact: Fact) -> bool:
        return fact in self.facts_now

    @property
    def facts(self) -> frozenset[Fact]:
        """Return all true facts."""
        return frozenset(self.facts_now)

    @property
    def changes(self) -> tuple[frozenset[Fact], frozenset[Fact]]:
        """Return the facts added and the facts removed since the start."""
        return frozenset(self._added), frozenset(self._removed)

    def change(self, added: Iterable[Fact], removed: Iterable[Fact]) -> None:
        """Add facts, then remove others."""
        for fact in added:
            if fact not in self:
                self._put(fact)
        for fact in removed:
            if fact in self:
                self._drop(fact)

    def become(self, changes: tuple[frozenset[Fact], frozenset[Fact]]) -> None:
        """Set the state to these changes since the start."""
        added, removed = changes
        self.change(
            [*(added - self._added), *(self._removed - removed)],
            [*(removed - self._removed), *(self._added - added)],
        )

    def _put(self, fact: Fact) -> None:
        self.facts_now.add(fact)
        if fact in self._removed:
            self._removed.remove(fact)
        else:
            self._added.add(fact)
        self._toggle_fingerprint(fact)
        for key in _keys(fact):
            self._own_entry(key).add(fact)

    def _drop(self, fact: Fact) -> None:
        self.facts_now.discard(fact)
        if fact in self._added:
            self._added.remove(fact)
        else:
            self._removed.add(fact)
        self._toggle_fingerprint(fact)
        for key in _keys(fact):
            self._own_entry(key).discard(fact)

    def _toggle_fingerprint(self, fact: Fact) -> None:
        mark = _fingerprint(fact)
        self.key ^= mark
        self.keys[fact[0]] = self.keys.get(fact[0], 0) ^ mark

    def _own_entry(self, key: tuple[Any, ...]) -> set[Fact]:
        """Return a modifiable entry of the index, and copy a shared one."""
        entry = self.index.get(key, ())
        if key not in self._owned:
            self._owned.add(key)
            entry = self.index[key] = set(entry)
        return cast("set[Fact]", entry)

    def matching(self, pattern: FactPattern, binding: Binding) -> Iterable[Fact]:
        """Return facts that may match, from the smallest index entry of the bound slots."""
        best: Collection[Fact] | None = None
        for position, slot in enumerate(pattern.slots, 1):
            value = binding[slot]
            if value is not None:
                found = self.index.get((pattern.predicate, position, value))
                if not found:
                    return ()
                if best is None or len(found) < len(best):
                    best = found
        return self.index.get((pattern.predicate,), ()) if best is None else best


_REMOVING = re.compile(r"removing the (\{\w+\}) from .*")
_DRINK_EVENT = "drinking the {f}"
"""Event of a rule of cooking games that Inform reports differently."""
_FIELD = re.compile(r"\{([^{}]+)\}")
_PLAYER = "P"
_PLAYER_AT = FactPattern("at", (0, 1))
_MAX_CACHED = 1024
"""Limit on cached lists of commands per game, as many games are cached at once."""


class RuleMove(NamedTuple):
    """An applicable instance of a rule."""

    added: tuple[Fact, ...]
    removed: tuple[Fact, ...]


class Rule:
    """A rule of a knowledge base, compiled to patterns over its placeholders (slots)."""

    def __init__(self, rule: RuleText, subtypes: Mapping[str, frozenset[str]]):
        self.name = rule.name
        """Name in the knowledge base, e.g. ``take/c``."""
        self.command = rule.command
        self.types = [subtypes[slot.type] for slot in rule.slots]
        self._start: Binding = [slot.fixed for slot in rule.slots]
        self.preconditions = list(rule.preconditions)
        self.added = sorted(rule.added)
        self.removed = sorted(rule.removed)
        seen = {s for p in self.preconditions for s in p.slots}
        self.free = [i for i in range(len(rule.slots)) if i not in seen and self._start[i] is None]
        self.fields = {slot.name: i for i, slot in enumerate(rule.slots)}
        self.output = frozenset(self.fields[name] for name in _FIELD.findall(self.command))
        templates = [rule.event]
        if _REMOVING.fullmatch(rule.event):  # "get x" is reported as "taking x", wherever x is
            templates.append(_REMOVING.sub(r"taking the \1", rule.event))
        if rule.event == _DRINK_EVENT:
            templates.append("drinking carried thing the {f}")
        self.events = [self._compile_event(template) for template in templates]
        self._matchers: dict[tuple[tuple[bool, ...], frozenset[int] | None], Matcher] = {}
        self._lister: Matcher | None = None

    def _compile_event(self, template: str) -> tuple[str, re.Pattern[str], list[int]]:
        """Return the first word of the event, its pattern, and the slots of its groups."""
        parts = _FIELD.split(template.lower())
        names = _FIELD.findall(template)
        text = "".join(re.escape(p) if i % 2 == 0 else "(.+)" for i, p in enumerate(parts))
        slots = [self.fields[name] for name in names]
        return template.lower().partition(" ")[0], re.compile(text), slots

    def solutions(
        self, state: State, types: Mapping[str, str], given: Mapping[int, str] | None = None
    ) -> list[Binding]:
        """Return bindings that fulfil all preconditions, with distinct entities for distinct slots.

        Args:
            state: The facts.
            types: Type of each entity.
            given: Slots bound beforehand.
        """
        start = self._start
        if given:
            start = start.copy()
            for slot, entity in given.items():
                if types[entity] not in self.types[slot] or entity in start:
                    return []
                start[slot] = entity
        return self._matched(self._matcher(start, None), state, types, start)

    def commands(self, state: State, types: Mapping[str, str]) -> list[Binding]:
        """Return one solution for each command that the rule allows."""
        if self._lister is None:
            self._lister = self._matcher(self._start, self.output)
        return self._matched(self._lister, state, types, self._start)

    def _matcher(self, start: Binding, output: frozenset[int] | None) -> Matcher:
        bound = tuple([value is not None for value in start])
        matcher = self._matchers.get((bound, output))
        if matcher is None:
            matcher = compile_matcher(self.preconditions, self.types, bound, output)
            self._matchers[bound, output] = matcher
        return matcher

    def _matched(
        self, matcher: Matcher, state: State, types: Mapping[str, str], start: Binding
    ) -> list[Binding]:
        found: list[Binding] = matcher(state.facts_now, state.index, types, start)
        if not self.free or not found:
            return found
        filled = (self._fill_free(types, list(binding)) for binding in found)
        return [binding for binding in filled if binding is not None]

    def _fill_free(self, types: Mapping[str, str], binding: Binding) -> Binding | None:
        """Fill slots that occur only in postconditions with unused entities of their type."""
        filled = binding.copy()
        for slot in self.free:
            left = (e for e in types if types[e] in self.types[slot] and e not in filled)
            filled[slot] = next(left, None)
            if filled[slot] is None:
                return None
        return filled

    def can_hold(self, kinds: frozenset[str]) -> bool:
        """True if the rule can hold in a world with entities of these types."""
        return all(kinds & types for types in self.types)

    def moves_player(self) -> bool:
        """True if the rule moves the player."""
        return any(p.predicate == "at" and self._start[p.slots[0]] == _PLAYER for p in self.added)

    def move(self, binding: Binding) -> RuleMove:
        """Return the rule's changes under a binding."""

        def ground(patterns: Iterable[FactPattern]) -> tuple[Fact, ...]:
            return tuple((p.predicate, *(str(binding[s]) for s in p.slots)) for p in patterns)

        return RuleMove(ground(self.added), ground(self.removed))


class Logic:
    """Compiled rules of a knowledge base.

    Attributes:
        subtypes: Each type with its subtypes.
        walks: Rules that move the player to another room.
        groups: Rules by the variable predicates on which they depend.
    """

    def __init__(
        self,
        rules: Mapping[str, Rule],
        subtypes: Mapping[str, frozenset[str]] = MappingProxyType({}),
    ):
        self.rules, self.subtypes = dict(rules), subtypes
        # TextWorld tries rules with many preconditions first
        self._changing = sorted(
            (r for r in self.rules.values() if r.added or r.removed),
            key=lambda r: -len(r.preconditions),
        )
        self.walks = [r for r in self._changing if r.moves_player()]
        self.groups: dict[tuple[str, ...], list[Rule]] = {}
        changeable = {p.predicate for r in self._changing for p in (*r.added, *r.removed)}
        for rule in self.rules.values():
            read = {p.predicate for p in rule.preconditions} & changeable
            self.groups.setdefault(tuple(sorted(read)), []).append(rule)
        self._by_verb: dict[str, list[tuple[re.Pattern[str], list[int], Rule]]] = {}
        for rule in self._changing:
            for verb, regex, slots in rule.events:
                self._by_verb.setdefault(verb, []).append((regex, slots, rule))

    def candidates(self, event: str) -> list[tuple[Rule, dict[int, str]]]:
        """Return rules that may cause ``event``, with the names for their slots."""
        found = []
        for regex, slots, rule in self._by_verb.get(event.partition(" ")[0], ()):
            match = regex.fullmatch(event)
            if match:
                found.append((rule, dict(zip(slots, match.groups(), strict=True))))
        return found


@lru_cache(maxsize=16)
def load_logic(serialized_kb: str) -> Logic:
    """Compile the JSON text of a game's ``KB`` entry; cached for the process."""
    knowledge = load_knowledge(serialized_kb)
    rules = {rule.name: Rule(rule, knowledge.subtypes) for rule in knowledge.rules}
    return Logic(rules, knowledge.subtypes)


class _Group(NamedTuple):
    """Rules that depend on the same predicates, with a cache of their commands by state."""

    read: tuple[str, ...]
    rules: list[Rule]
    commands: dict[tuple[int | None, ...], tuple[str, ...]]


class World:
    """Entities and rules of one game.

    Args:
        logic: The compiled rules.
        types: Type of each entity id.
        names: Printed name of each entity id with a name.
    """

    def __init__(self, logic: Logic, types: Mapping[str, str], names: Mapping[str, str]):
        self.logic, self.types, self.names = logic, dict(types), dict(names)
        self._ids: dict[str, list[str]] = {}
        for entity, name in self.names.items():
            self._ids.setdefault(name.lower(), []).append(entity)
        kinds = frozenset(self.types.values())
        self._groups = [
            _Group(read, possible, {})
            for read, rules in logic.groups.items()
            if (possible := [rule for rule in rules if rule.can_hold(kinds)])
        ]
        self._cached = 0
        """Number of cached entries in the groups."""
        self._listed: dict[int, tuple[str, ...]] = {}
        self._reports: dict[str, list[tuple[Rule, dict[int, str]]]] = {}
        self._texts: dict[str, dict[tuple[str | None, ...], str]] = {}

    def admissible_commands(self, state: State) -> tuple[str, ...]:
        """Return all commands that the rules allow, sorted.

        Commands of a group of rules are cached by the state of its predicates.
        """
        listed = self._listed.get(state.key)
        if listed is not None:
            return listed
        if max(self._cached, len(self._listed)) >= _MAX_CACHED:
            self.forget()
        commands: set[str] = set()
        changes = state.keys.get
        for read, rules, known in self._groups:
            key = tuple(map(changes, read))
            found = known.get(key)
            if found is None:
                found = known[key] = self._match(rules, state)
                self._cached += 1
            commands.update(found)
        listed = self._listed[state.key] = tuple(sorted(commands))
        return listed

    def forget(self) -> None:
        """Empty the cache of admissible commands."""
        for group in self._groups:
            group.commands.clear()
        self._cached = 0
        self._listed.clear()

    def _match(self, rules: Iterable[Rule], state: State) -> tuple[str, ...]:
        commands: dict[str, None] = {}
        for rule in rules:
            bindings = rule.commands(state, self.types)
            if not bindings:
                continue
            texts = self._texts.setdefault(rule.name, {})
            for binding in bindings:
                key = tuple([binding[slot] for slot in rule.output])
                text = texts.get(key)
                if text is None:
                    names = {f: self.names.get(str(binding[i])) for f, i in rule.fields.items()}
                    text = texts[key] = rule.command.format(**names)
                commands[text] = None
        return tuple(commands)  # takes half the time of a set

    def detect(self, state: State, event: str) -> RuleMove | None:
        """Return the move that Inform 7 reports as ``event``; None if nothing changes."""
        reports = self._reports.get(event)
        if reports is None:
            reports = self._reports[event] = [
                (rule, dict(zip(named, chosen, strict=True)))
                for rule, named in self.logic.candidates(event.lower())
                if rule.can_hold(frozenset(self.types.values()))
                for chosen in product(*(self._ids.get(name, ()) for name in named.values()))
            ]
        for rule, given in reports:
            solutions = rule.solutions(state, self.types, given)
            if solutions:
                return rule.move(min(solutions, key=lambda b: [str(v) for v in b]))
        return None

    def title(self, state: State) -> str:
        """Return the player's room as the status line prints it; empty if there is none."""
        for fact in state.matching(_PLAYER_AT, [_PLAYER, None]):
            return self.names.get(fact[2], "").title()
        return ""

    def detect_walk(self, state: State, title: str) -> RuleMove | None:
        """Return the player's move into the room with a title.

        Needed because Inform reports walking through a named door by that name, without a
        direction.
        """
        for rule in self.logic.walks:
            for binding in rule.solutions(state, self.types):
                move = rule.move(binding)
                rooms = [f[2] for f in move.added if f[:2] == ("at", _PLAYER)]
                if any(self.names.get(room, "").title() == title for room in rooms):
                    return move
        return None
