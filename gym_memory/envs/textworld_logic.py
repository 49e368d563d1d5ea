"""TextWorld's game logic, compiled for speed: facts, rules, admissible commands.

TextWorld matches every rule against every fact after every command. Here a rule is compiled once
into patterns over numbered slots, facts are indexed by predicate and argument, and the
admissible commands are computed only when somebody asks. The answers are the same.

A fact is a plain tuple ``(predicate, entity id, ...)``, e.g. ``("in", "f_0", "I")``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

from gym_memory.optional import require

__all__ = ["Fact", "Logic", "Move", "Rule", "State", "World", "load_logic"]

Fact = tuple[str, ...]
Binding = list[str | None]

_REMOVING = re.compile(r"removing the (\{\w+\}) from .*")
_FIELD = re.compile(r"\{([^{}]+)\}")
_MAX_KEPT_STATES = 4096
_PLAYER = "P"


class Pattern(NamedTuple):
    """A predicate over slots: ``slots[i]`` is where argument ``i`` is bound."""

    predicate: str
    slots: tuple[int, ...]


_PLAYER_AT = Pattern("at", (0, 1))


class Move(NamedTuple):
    """An applicable instance of a rule."""

    rule: str
    added: tuple[Fact, ...]
    removed: tuple[Fact, ...]


@lru_cache(maxsize=1 << 16)
def _fingerprint(fact: Fact) -> int:
    return int.from_bytes(blake2b("\0".join(fact).encode(), digest_size=16).digest(), "big")


class State:
    """A set of facts with the indexes that matching needs.

    Attributes:
        facts: All that is true.
        key: Fingerprint of the facts: equal sets have equal keys, in every process.
    """

    def __init__(self, facts: Iterable[Fact] = ()):
        self.facts: set[Fact] = set()
        self.key = 0
        self._index: dict[tuple[str, int, str], set[Fact]] = {}
        self._of_predicate: dict[str, set[Fact]] = {}
        for fact in facts:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        """Make a fact true."""
        if fact in self.facts:
            return
        self.facts.add(fact)
        self.key ^= _fingerprint(fact)
        self._of_predicate.setdefault(fact[0], set()).add(fact)
        for position in range(1, len(fact)):
            key = (fact[0], position, fact[position])
            self._index.setdefault(key, set()).add(fact)

    def remove(self, fact: Fact) -> None:
        """Make a fact false."""
        if fact not in self.facts:
            return
        self.facts.remove(fact)
        self.key ^= _fingerprint(fact)
        self._of_predicate[fact[0]].discard(fact)
        for position in range(1, len(fact)):
            self._index[fact[0], position, fact[position]].discard(fact)

    def become(self, facts: frozenset[Fact]) -> None:
        """Change into the given set of facts, at the cost of the difference."""
        for fact in self.facts - facts:
            self.remove(fact)
        for fact in facts - self.facts:
            self.add(fact)

    def matching(self, pattern: Pattern, binding: Binding) -> Iterable[Fact]:
        """Facts that may match: the smallest index entry that the bound slots offer."""
        best: Iterable[Fact] | None = None
        size = 0
        for position, slot in enumerate(pattern.slots, 1):
            value = binding[slot]
            if value is not None:
                found = self._index.get((pattern.predicate, position, value))
                if not found:
                    return ()
                if best is None or len(found) < size:
                    best, size = found, len(found)
        return self._of_predicate.get(pattern.predicate, ()) if best is None else best


class Rule:
    """One rule of a knowledge base, compiled to patterns over slots (its placeholders).

    Args:
        rule: A ``textworld.logic.Rule``.
        event: Inform 7's report of the action, with ``{placeholder}`` fields.
        subtypes: Each type with all its subtypes.
        fixed: Placeholders that always stand for one entity.
    """

    def __init__(
        self,
        rule: Any,
        event: str,
        subtypes: Mapping[str, frozenset[str]],
        fixed: Mapping[Any, Any],
    ):
        self.name: str = rule.name
        self.command: str = rule.command_template
        slot = {placeholder: i for i, placeholder in enumerate(rule.placeholders)}
        self.types = [subtypes[p.type] for p in rule.placeholders]
        self.start: Binding = [fixed[p].name if p in fixed else None for p in rule.placeholders]

        def patterns(predicates: Iterable[Any]) -> list[Pattern]:
            return [Pattern(p.name, tuple(slot[a] for a in p.parameters)) for p in predicates]

        self.preconditions = patterns(rule.preconditions)
        self.added = sorted(patterns(rule.added))
        self.removed = sorted(patterns(rule.removed))
        seen = {s for p in self.preconditions for s in p.slots}
        self.free = [i for i in range(len(slot)) if i not in seen and self.start[i] is None]
        self.fields = {p.name: i for p, i in slot.items()}
        self.output = frozenset(self.fields[name] for name in _FIELD.findall(self.command))
        templates = [event]
        if _REMOVING.fullmatch(event):  # "get x" is reported as plain taking, wherever x is
            templates.append(_REMOVING.sub(r"taking the \1", event))
        self.events = [self._compile_event(template) for template in templates]
        self._plans: dict[tuple[bool, ...], list[Pattern]] = {}

    def _compile_event(self, template: str) -> tuple[re.Pattern[str], list[int]]:
        parts = _FIELD.split(template.lower())
        names = _FIELD.findall(template)
        text = "".join(re.escape(p) if i % 2 == 0 else "(.+)" for i, p in enumerate(parts))
        return re.compile(text), [self.fields[name] for name in names]

    def solutions(
        self,
        state: State,
        types: Mapping[str, str],
        given: Mapping[int, str] | None = None,
        output: frozenset[int] | None = None,
    ) -> list[Binding]:
        """Bindings under which all preconditions hold; distinct slots hold distinct entities.

        Args:
            state: The facts.
            types: Type of each entity.
            given: Slots bound beforehand.
            output: Slots that matter: once they are bound one solution is enough. None: all.
        """
        binding = list(self.start)
        for slot, entity in (given or {}).items():
            if types[entity] not in self.types[slot] or entity in binding:
                return []
            binding[slot] = entity
        found: list[Binding] = []
        self._solve(state, types, self._plan(binding), 0, binding, output, found)
        return found

    def _plan(self, binding: Binding) -> list[Pattern]:
        """The preconditions, most constrained first, for slots bound as in ``binding``."""
        key = tuple(value is not None for value in binding)
        if key not in self._plans:
            known = {slot for slot, bound in enumerate(key) if bound}
            rest, order = list(self.preconditions), []
            while rest:
                pattern = max(rest, key=lambda p: self._promise(p, known))
                rest.remove(pattern)
                order.append(pattern)
                known.update(pattern.slots)
            self._plans[key] = order
        return self._plans[key]

    def _promise(self, pattern: Pattern, known: set[int]) -> tuple[int, int]:
        unknown = [s for s in pattern.slots if s not in known]
        return -len(unknown), sum(s in self.output for s in unknown)

    def _solve(
        self,
        state: State,
        types: Mapping[str, str],
        plan: list[Pattern],
        depth: int,
        binding: Binding,
        output: frozenset[int] | None,
        found: list[Binding],
    ) -> bool:
        if depth == len(plan):
            filled = self._fill_free(types, binding)
            if filled is not None:
                found.append(filled)
            return filled is not None
        one_is_enough = output is not None and all(binding[s] is not None for s in output)
        pattern, success = plan[depth], False
        for fact in state.matching(pattern, binding):
            bound = self._bind(pattern, fact, types, binding)
            if bound is not None and self._solve(
                state, types, plan, depth + 1, bound, output, found
            ):
                success = True
                if one_is_enough:
                    break
        return success

    def _bind(
        self, pattern: Pattern, fact: Fact, types: Mapping[str, str], binding: Binding
    ) -> Binding | None:
        """The binding in which the pattern reads as the fact; None where there is none."""
        bound = binding
        for position, slot in enumerate(pattern.slots, 1):
            value, known = fact[position], bound[slot]
            if known is None:
                if types[value] not in self.types[slot] or value in bound:
                    return None
                if bound is binding:
                    bound = binding.copy()
                bound[slot] = value
            elif known != value:
                return None
        return bound

    def _fill_free(self, types: Mapping[str, str], binding: Binding) -> Binding | None:
        """Slots that only the postconditions name take any unused entity of their type."""
        if not self.free:
            return binding
        filled = binding.copy()
        for slot in self.free:
            left = (e for e in types if types[e] in self.types[slot] and e not in filled)
            filled[slot] = next(left, None)
            if filled[slot] is None:
                return None
        return filled

    def moves_player(self) -> bool:
        """Whether the rule takes the player elsewhere."""
        return any(p.predicate == "at" and self.start[p.slots[0]] == _PLAYER for p in self.added)

    def move(self, binding: Binding) -> Move:
        """What the rule changes under a binding."""

        def ground(patterns: Iterable[Pattern]) -> tuple[Fact, ...]:
            return tuple((p.predicate, *(str(binding[s]) for s in p.slots)) for p in patterns)

        return Move(self.name, ground(self.added), ground(self.removed))


class Logic:
    """The compiled rules of a knowledge base.

    Attributes:
        rules: All rules that have a command, by name.
        walks: Those that take the player to another room.
    """

    def __init__(self, rules: Mapping[str, Rule]):
        self.rules = dict(rules)
        # TextWorld tries the rules with many preconditions first.
        self._changing = sorted(
            (r for r in self.rules.values() if r.added or r.removed),
            key=lambda r: -len(r.preconditions),
        )
        self.walks = [r for r in self._changing if r.moves_player()]

    @classmethod
    def compile(cls, kb: Any) -> Logic:
        """Compile a ``textworld.generator.data.KnowledgeBase``."""
        subtypes = {
            t.name: frozenset(s.name for s in kb.logic.types.get(t.name).subtypes)
            for t in kb.logic.types
        }
        fixed = kb.types.constants_mapping
        return cls(
            {
                name: Rule(rule, kb.inform7_events[name], subtypes, fixed)
                for name, rule in kb.rules.items()
                if name in kb.inform7_events and rule.command_template
            }
        )

    def candidates(self, event: str) -> list[tuple[Rule, dict[int, str]]]:
        """Rules that ``event`` may report, with the names (lower case) it puts into slots."""
        found = []
        for rule in self._changing:
            for regex, slots in rule.events:
                match = regex.fullmatch(event)
                if match:
                    found.append((rule, dict(zip(slots, match.groups(), strict=True))))
        return found


@lru_cache(maxsize=16)
def load_logic(serialized_kb: str) -> Logic:
    """The compiled logic of a knowledge base as it stands in a game's .json, kept for the process.

    Args:
        serialized_kb: JSON text of the game's ``KB`` entry.
    """
    data = require("textworld.generator.data", "textworld", "TextWorld games")
    return Logic.compile(data.KnowledgeBase.deserialize(json.loads(serialized_kb)))


class World:
    """Entities and rules of one game, and what they make of a state.

    Args:
        logic: The compiled rules.
        types: Type of each entity id.
        names: Name of each entity id as the game prints it; ids without a name are left out.
    """

    def __init__(self, logic: Logic, types: Mapping[str, str], names: Mapping[str, str]):
        self.logic, self.types, self.names = logic, dict(types), dict(names)
        self._ids: dict[str, list[str]] = {}
        for entity, name in self.names.items():
            self._ids.setdefault(name.lower(), []).append(entity)
        self._commands: dict[int, tuple[str, ...]] = {}

    def admissible_commands(self, state: State) -> tuple[str, ...]:
        """All commands that the rules allow, sorted; kept by state."""
        commands = self._commands.get(state.key)
        if commands is None:
            if len(self._commands) >= _MAX_KEPT_STATES:
                self._commands.clear()
            commands = tuple(sorted(self._match_commands(state)))
            self._commands[state.key] = commands
        return commands

    def _match_commands(self, state: State) -> set[str]:
        commands = set()
        for rule in self.logic.rules.values():
            for binding in rule.solutions(state, self.types, output=rule.output):
                names = {f: self.names.get(str(binding[i]), "None") for f, i in rule.fields.items()}
                commands.add(rule.command.format(**names))
        return commands

    def detect(self, state: State, event: str) -> Move | None:
        """The state change that Inform 7 reports as ``event``; None when nothing changes."""
        for rule, named in self.logic.candidates(event.lower()):
            for given in self._resolve(list(named.items())):
                solutions = rule.solutions(state, self.types, given)
                if solutions:
                    return rule.move(min(solutions, key=lambda b: [str(v) for v in b]))
        return None

    def _resolve(self, named: list[tuple[int, str]]) -> list[dict[int, str]]:
        """All ways to read names as entities (names need not be unique)."""
        ways: list[dict[int, str]] = [{}]
        for slot, name in named:
            ways = [{**way, slot: entity} for way in ways for entity in self._ids.get(name, ())]
        return ways

    def title(self, state: State) -> str:
        """The player's room as the status line prints it; empty where there is none."""
        for fact in state.matching(_PLAYER_AT, [_PLAYER, None]):
            return self.names.get(fact[2], "").title()
        return ""

    def detect_walk(self, state: State, title: str) -> Move | None:
        """The move into the room of that title.

        Walking through a door by its name is reported under that name, not as a direction; the
        status line shows where it led.
        """
        for rule in self.logic.walks:
            for binding in rule.solutions(state, self.types):
                move = rule.move(binding)
                rooms = [f[2] for f in move.added if f[:2] == ("at", _PLAYER)]
                if any(self.names.get(room, "").title() == title for room in rooms):
                    return move
        return None
