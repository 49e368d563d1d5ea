"""Compile the preconditions of a rule to a Python expression that finds solutions.

The expression is one comprehension over the indexed facts, most constrained first. Interpreting the
same plan takes six times as long, and listing the valid actions is most of a step. The source code
has only numbers; names from a game's file are passed as values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from gym_memory.games.textworld.knowledge import FactPattern

__all__ = ["Matcher", "compile_matcher"]

Matcher = Callable[[Set[Any], Mapping[Any, Any], Mapping[str, str], Sequence[str | None]], Any]
"""(facts, index, types, given slots) -> bindings, as tuples of entities or None by slot."""


def compile_matcher(
    preconditions: Sequence[FactPattern],
    types: Sequence[frozenset[str]],
    bound: Sequence[bool],
    output: frozenset[int] | None,
) -> Matcher:
    """Compile the preconditions of a rule.

    Args:
        preconditions: Patterns over slots.
        types: Types that a slot takes; distinct slots take distinct entities.
        bound: Whether each slot is given.
        output: Slots of the output; of equal outputs, one solution is found. None finds all.
    """
    known = {slot for slot, is_bound in enumerate(bound) if is_bound}
    plan = _plan(preconditions, known, output)
    settled = len(plan)
    if output is not None:  # once the output is bound, one solution is enough
        seen = set(known)
        for i, pattern in enumerate(plan):
            if output <= seen:
                settled = i
                break
            seen.update(pattern.slots)
    writer = _PatternWriter(types)
    given = " ".join(f"for s{slot} in (given[{slot}],)" for slot in sorted(known))
    first = writer.clauses(plan[:settled], known)
    rest = writer.clauses(plan[settled:], known)
    parts = (f"s{slot}" if slot in known else "None" for slot in range(len(types)))
    binding = f"({''.join(f'{part}, ' for part in parts)})"
    if rest:
        one = f"next(({binding} for _ in NOTHING {rest}), None)"
        source = f"[one for _ in NOTHING {given} {first} for one in ({one},) if one]"
    else:
        source = f"[{binding} for _ in NOTHING {given} {first}]"
    matcher: Matcher = eval(f"lambda facts, index, types, given: {source}", writer.values)
    return matcher


def _plan(
    preconditions: Sequence[FactPattern], known: set[int], output: frozenset[int] | None
) -> list[FactPattern]:
    """Order the preconditions by few unknown slots, then by many known ones."""
    known, rest, plan = set(known), list(preconditions), []

    def promise(pattern: FactPattern) -> tuple[int, int, int]:
        unknown = [slot for slot in pattern.slots if slot not in known]
        wanted = sum(slot in (output or ()) for slot in unknown)
        return -len(unknown), len(pattern.slots) - len(unknown), wanted

    while rest:
        pattern = max(rest, key=promise)
        rest.remove(pattern)
        plan.append(pattern)
        known.update(pattern.slots)
    return plan


class _PatternWriter:
    def __init__(self, types: Sequence[frozenset[str]]):
        self._types = types
        self.values: dict[str, Any] = {"NOTHING": ((),), "NONE": ()}

    def clauses(self, plan: Sequence[FactPattern], known: set[int]) -> str:
        """Yield the loops and tests of patterns; add their slots to the known ones."""
        return " ".join(clause for pattern in plan for clause in self._clauses(pattern, known))

    def _clauses(self, pattern: FactPattern, known: set[int]) -> list[str]:
        name, slots = self._value(pattern.predicate), pattern.slots
        fresh = [slot for slot in dict.fromkeys(slots) if slot not in known]
        if not fresh:
            return [f"if ({name}, {''.join(f's{slot}, ' for slot in slots)}) in facts"]
        position = next((i for i, slot in enumerate(slots, 1) if slot in known), None)
        names, tests = [], []
        for i, slot in enumerate(slots, 1):
            is_first = slot in fresh and f"s{slot}" not in names
            names.append(f"s{slot}" if is_first else f"x{i}")
            if not is_first and i != position:
                tests.append(f"x{i} == s{slot}")
        for slot in fresh:
            tests.append(f"types[s{slot}] in {self._value(self._types[slot])}")
            overlapping = (o for o in sorted(known) if self._types[slot] & self._types[o])
            tests += [f"s{slot} != s{other}" for other in overlapping]
            known.add(slot)
        entry = f"_, {', '.join(names)}"
        if position is None:  # facts of one predicate may differ in length
            length = len(names) + 1
            loop = f"for fact in index.get(({name},), NONE) if len(fact) == {length} "
            loop += f"for {entry} in (fact,)"
        else:
            loop = f"for {entry} in index.get(({name}, {position}, s{slots[position - 1]}), NONE)"
        return [loop, *(f"if {test}" for test in tests)]

    def _value(self, value: Any) -> str:
        name = f"V{len(self.values)}"
        self.values[name] = value
        return name
