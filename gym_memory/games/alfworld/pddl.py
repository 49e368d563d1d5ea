"""Read planning domains and problems (PDDL) and match their conditions.

The reader supports typed parameters, ``and or not exists =`` and conditional effects. It compiles a
condition to a :class:`Query`: alternative patterns over numbered slots, which are matched against
facts. PDDL ignores case, so all names are lower case here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from gym_memory.core.errors import CorruptGameError
from gym_memory.games.textworld.knowledge import FactPattern
from gym_memory.games.textworld.logic import Binding, Fact, Index, State

__all__ = ["Action", "Case", "Effect", "Expression", "Problem", "Query", "ground"]
__all__ += ["parse_domain", "parse_problem"]

Expression = str | list["Expression"]
"""A word, or a list in brackets."""

_SYMBOL = re.compile(r"[()]|[^\s()]+")
_COMMENT = re.compile(r";[^\n]*")
_MAX_DEPTH = 100
_MAX_CASES = 1000
"""Limit on the alternatives of a condition, which each ``or`` inside an ``and`` multiplies."""
_MAX_WORDS = 50
_FIELDS = (":parameters", ":precondition", ":effect")


class Case(NamedTuple):
    """A way to satisfy a condition: patterns that hold, patterns that fail, unequal slots.

    ``holds`` binds every slot of ``fails``.
    """

    holds: tuple[FactPattern, ...] = ()
    fails: tuple[FactPattern, ...] = ()
    distinct: tuple[tuple[int, int], ...] = ()


class Effect(NamedTuple):
    """An effect of an action, perhaps conditional."""

    when: tuple[Case, ...]
    added: tuple[FactPattern, ...]
    removed: tuple[FactPattern, ...]


class Problem(NamedTuple):
    """Initial facts, with the types of entities (``mug:``), and the goal."""

    facts: Index
    goal: Query


class Query:
    """A condition over slots, which holds if one of ``cases`` holds.

    ``start`` binds the constants.
    """

    def __init__(self, parameters: Sequence[tuple[str, str]] = ()):
        self.slots: list[str] = []
        self.start: Binding = []
        self._constants: dict[str, int] = {}
        self._types: dict[int, str] = {}
        self.scope = {name: self._variable(name, kind) for name, kind in parameters}
        self.cases: tuple[Case, ...] = (Case(),)

    def _slot(self, name: str, value: str | None) -> int:
        self.slots.append(name)
        self.start.append(value)
        return len(self.slots) - 1

    def _variable(self, name: str, kind: str) -> int:
        slot = self._slot(name, None)
        self._types[slot] = kind
        return slot

    def require(self, condition: Expression) -> Query:
        """Set the condition."""
        self.cases = tuple(self._typed(case) for case in self.read(condition, self.scope))
        return self

    def _typed(self, case: Case) -> Case:
        """Add the types of variables; a type without entities makes a case impossible."""
        patterns = (*case.holds, *case.fails)
        used = {slot for p in patterns for slot in p.slots}.union(self.scope.values())
        typed = sorted(slot for slot in used if slot in self._types)
        kinds = tuple(FactPattern(f"{self._types[slot]}:", (slot,)) for slot in typed)
        return case._replace(holds=(*case.holds, *kinds))

    def pattern(self, literal: Expression, scope: dict[str, int]) -> FactPattern:
        """Return a literal as a pattern over slots, with own slots for constants."""
        name, *arguments = _literal(literal)
        slots = []
        for argument in arguments:
            known = scope if argument.startswith("?") else self._constants
            if argument not in known:
                if known is scope:
                    raise CorruptGameError(f"expected a declared variable, got {argument!r}")
                known[argument] = self._slot(argument, argument)
            slots.append(known[argument])
        return FactPattern(name, tuple(slots))

    def read(
        self, condition: Expression, scope: dict[str, int], *, negated: bool = False
    ) -> list[Case]:
        """Return the disjunctive normal form of a condition."""
        if condition == []:
            return [] if negated else [Case()]
        head, *rest = condition if isinstance(condition, list) else [condition]
        if head in ("and", "or"):
            parts = [self.read(part, scope, negated=negated) for part in rest]
            disjunction = (head == "or") != negated
            number = (sum if disjunction else math.prod)(len(part) for part in parts)
            if number > _MAX_CASES:
                raise CorruptGameError(
                    f"expected a condition of at most {_MAX_CASES} alternatives, got {number}"
                )
            if disjunction:
                return [case for part in parts for case in part]
            return [_all_of(chosen) for chosen in product(*parts)]
        if head == "not" and len(rest) == 1:
            return self.read(rest[0], scope, negated=not negated)
        if head == "exists" and len(rest) == 2 and not negated:
            inner = {name: self._variable(name, kind) for name, kind in _declared(_words(rest[0]))}
            return self.read(rest[1], {**scope, **inner})
        if head in ("exists", "forall", "imply", "when", "increase"):
            raise CorruptGameError(f"conditions with {head!r} are not supported here")
        pattern = self.pattern(condition, scope)
        if head == "=" and len(pattern.slots) == 2:
            if not negated:
                raise CorruptGameError("conditions with a positive '=' are not supported")
            return [Case(distinct=((pattern.slots[0], pattern.slots[1]),))]
        return [Case(fails=(pattern,)) if negated else Case(holds=(pattern,))]

    def solutions(
        self, state: State, plans: Sequence[Sequence[FactPattern]]
    ) -> Iterator[tuple[Case, Binding]]:
        """Yield the bindings that satisfy the condition with their cases, perhaps repeatedly.

        ``plans`` come from :meth:`plan`.
        """
        for case, plan in zip(self.cases, plans, strict=True):
            for binding in _match(state, plan, self.start, 0):
                if _allowed(state, case, binding):
                    yield case, binding

    def plan(self, facts: Index) -> tuple[tuple[FactPattern, ...], ...]:
        """Return the patterns of each case, those with the fewest candidates first."""
        plans = []
        for case in self.cases:
            known = {slot for slot, value in enumerate(self.start) if value is not None}
            rest, order = list(case.holds), []
            while rest:
                best = min(rest, key=lambda p: _candidates(p, known, facts))
                rest.remove(best)
                order.append(best)
                known.update(best.slots)
            plans.append(tuple(order))
        return tuple(plans)


def _all_of(cases: Sequence[Case]) -> Case:
    return Case(
        tuple(pattern for case in cases for pattern in case.holds),
        tuple(pattern for case in cases for pattern in case.fails),
        tuple(pair for case in cases for pair in case.distinct),
    )


def _candidates(pattern: FactPattern, known: set[int], facts: Index) -> tuple[int, int]:
    unknown = sum(slot not in known for slot in pattern.slots)
    total = len(facts.found.get((pattern.predicate,), ()))
    return (unknown, 0) if unknown < len(pattern.slots) else (max(total, 1), unknown)


def _match(
    state: State, plan: Sequence[FactPattern], binding: Binding, depth: int
) -> Iterator[Binding]:
    if depth == len(plan):
        yield binding
        return
    pattern = plan[depth]
    for fact in state.matching(pattern, binding):
        bound = binding.copy()
        for slot, value in zip(pattern.slots, fact[1:], strict=True):
            if bound[slot] is None:
                bound[slot] = value
            elif bound[slot] != value:
                break
        else:
            yield from _match(state, plan, bound, depth + 1)


def ground(pattern: FactPattern, binding: Binding) -> Fact:
    """Return the fact of a pattern under a binding of all its slots."""
    return pattern.predicate, *(str(binding[slot]) for slot in pattern.slots)


def _allowed(state: State, case: Case, binding: Binding) -> bool:
    """True if no negative pattern holds and unequal slots differ."""
    return all(binding[a] != binding[b] for a, b in case.distinct) and not any(
        ground(pattern, binding) in state for pattern in case.fails
    )


class Action:
    """An action schema; its parameters come first in ``query``."""

    def __init__(self, name: str, parts: dict[str, Expression]):
        self.name = name
        declared = _declared(_words(parts.get(":parameters", [])))
        self.parameters = tuple(variable[1:] for variable, _ in declared)
        self.query = Query(declared).require(parts.get(":precondition", []))
        self.effects = tuple(self._effects(parts.get(":effect", []), (Case(),)))
        self.reads = frozenset(
            pattern.predicate for case in self.query.cases for pattern in (*case.holds, *case.fails)
        )
        self.writes = frozenset(p.predicate for e in self.effects for p in (*e.added, *e.removed))

    def _effects(self, effect: Expression, when: tuple[Case, ...]) -> Iterator[Effect]:
        if not effect or isinstance(effect, str):
            return
        head, *rest = effect
        if head == "and":
            for part in rest:
                yield from self._effects(part, when)
        elif head == "when" and len(rest) == 2:
            condition, inner = rest
            yield from self._effects(inner, tuple(self.query.read(condition, self.query.scope)))
        elif head == "not" and len(rest) == 1:
            yield Effect(when, (), (self.query.pattern(rest[0], self.query.scope),))
        elif head == "forall":
            raise CorruptGameError(f"action {self.name}: effects with 'forall' are not supported")
        elif head != "increase":
            yield Effect(when, (self.query.pattern(effect, self.query.scope),), ())

    def outcome(self, state: State, binding: Binding) -> tuple[list[Fact], list[Fact]]:
        """Return the added facts and the deleted ones, without overlap."""
        added: list[Fact] = []
        removed: list[Fact] = []
        for effect in self.effects:
            if any(_met(state, case, binding) for case in effect.when):
                added += (ground(pattern, binding) for pattern in effect.added)
                removed += (ground(pattern, binding) for pattern in effect.removed)
        return added, [fact for fact in removed if fact not in added]

    def is_idle(self, case: Case, binding: Binding) -> bool:
        """True if a case of the condition already implies the effects.

        Fast Downward drops such instances, so they are no commands; for example, the agent cannot
        go to its present place.
        """
        added = {ground(p, binding) for e in self.effects for p in e.added}
        removed = {ground(p, binding) for e in self.effects for p in e.removed} - added
        return added <= {ground(p, binding) for p in case.holds} and removed <= {
            ground(p, binding) for p in case.fails
        }


def _met(state: State, case: Case, binding: Binding) -> bool:
    return all(ground(p, binding) in state for p in case.holds) and _allowed(state, case, binding)


def _parse(text: str) -> list[Expression]:
    """Parse a PDDL file into nested lists."""
    stack: list[list[Expression]] = [[]]
    for token in _SYMBOL.findall(_COMMENT.sub("", text).lower()):
        if token == "(":
            stack.append([])
            if len(stack) > _MAX_DEPTH:
                raise CorruptGameError("the planning problem is nested too deeply")
        elif token != ")":
            stack[-1].append(token)
        elif len(stack) > 1:
            done = stack.pop()
            stack[-1].append(done)
    first = stack[0][0] if len(stack) == 1 and stack[0] else None
    if not isinstance(first, list) or first[:1] != ["define"]:
        raise CorruptGameError("expected a planning problem, (define ...), with matching brackets")
    return first


def _words(expression: Expression) -> list[str]:
    if isinstance(expression, str) or not all(isinstance(word, str) for word in expression):
        raise CorruptGameError(f"expected a list of words, got {str(expression)[:80]}")
    return [str(word) for word in expression]


def _literal(expression: Expression) -> list[str]:
    """Return the predicate and its arguments."""
    words = _words(expression)
    if not 0 < len(words) <= _MAX_WORDS:
        raise CorruptGameError(
            f"expected a predicate and less than {_MAX_WORDS} arguments, got {len(words)} words"
        )
    return words


def _declared(words: Iterable[str]) -> list[tuple[str, str]]:
    """Return ``a b - t c`` as (name, type) pairs; the default type is ``object``."""
    found: list[tuple[str, str]] = []
    waiting: list[str] = []
    stream = iter(words)
    for word in stream:
        if word == "-":
            kind = next(stream, "object")
            found += [(name, kind) for name in waiting]
            waiting = []
        else:
            waiting.append(word)
    return found + [(name, "object") for name in waiting]


@lru_cache(maxsize=16)
def parse_domain(text: str) -> tuple[Action, ...]:
    """Parse the actions of a domain, in order."""
    actions = []
    for part in _parse(text)[2:]:
        if isinstance(part, list) and part[:1] == [":action"] and len(part) % 2 == 0:
            name, *fields = part[1:]
            parts = dict(zip(map(str, fields[::2]), fields[1::2], strict=True))
            for field in sorted(parts.keys() - set(_FIELDS)):
                # without its condition, an action would apply to anything
                raise CorruptGameError(
                    f"action {name}: expected {', '.join(_FIELDS)}, got {field!r}"
                )
            actions.append(Action(str(name), parts))
    if not actions:
        raise CorruptGameError("expected a planning domain with actions")
    return tuple(actions)


def parse_problem(text: str) -> Problem:
    """Parse a problem."""
    parts = {str(p[0]): p[1:] for p in _parse(text)[1:] if isinstance(p, list) and p}
    if not parts.get(":init") or len(parts.get(":goal", [])) != 1:
        raise CorruptGameError("expected a planning problem with :init and a :goal")
    facts: list[Fact] = []
    for literal in parts[":init"]:
        if isinstance(literal, list) and literal[:1] != ["="]:
            facts.append(tuple(_literal(literal)))
    kinds = _declared(_words(parts.get(":objects", [])))
    facts += [(f"{kind}:", name) for name, kind in kinds]
    facts += [("object:", name) for name, kind in kinds if kind != "object"]
    return Problem(Index(facts), Query().require(parts[":goal"][0]))
