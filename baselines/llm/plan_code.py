"""Plans as code: a small subset of Python, interpreted node by node and never executed.

Statements: ``act(text)``, ``name = ask(question, options)``, ``if``, ``for`` over a list,
``assert``, ``pass``. Values: texts, f-strings, lists, names, ``in``, ``==`` and the like.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gym_memory.core.errors import ModelError

__all__ = ["Ask", "PlanFailed", "parse_plan", "run_plan"]

Ask = Callable[[str, Sequence[str]], str]
"""Chooses an option as the answer to a question."""

_MAX_CODE, _MAX_TEXT, _MAX_STATEMENTS = 4000, 2000, 500
_COST_OF_ASK = 25
"""Statements that a question counts for, since each may call a model."""
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Eq: lambda a, b: bool(a == b),
    ast.NotEq: lambda a, b: bool(a != b),
}


class PlanFailed(Exception):
    """Reports a line that cannot be carried out as it is written, and why."""


def parse_plan(code: str) -> list[ast.stmt]:
    """Return the statements of a plan; raises ModelError where it is no Python."""
    try:
        return ast.parse(code[:_MAX_CODE]).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ModelError("answer", f"expected a plan in Python, got {error}") from error


def run_plan(
    plan: Sequence[ast.stmt], names: Callable[[], Mapping[str, Any]], ask: Ask
) -> Iterator[str]:
    """Yield the actions of a plan, each when it is to be taken.

    Args:
        plan: What :func:`parse_plan` returned.
        names: Returns what the plan may look at now, texts and lists of texts by name.
        ask: Answers the questions of the plan.

    Raises:
        PlanFailed: An assertion does not hold, or a line is outside the subset.
    """
    run = _Run(names, ask)
    try:
        yield from run.block(plan)
    except PlanFailed as failure:
        raise PlanFailed(f"line {run.line}: {failure}") from None


class _Run:
    def __init__(self, names: Callable[[], Mapping[str, Any]], ask: Ask):
        self._names, self._ask = names, ask
        self._own: dict[str, Any] = {}
        self._left = _MAX_STATEMENTS
        self.line = 0

    def block(self, statements: Sequence[ast.stmt]) -> Iterator[str]:
        for statement in statements:
            self._left, self.line = self._left - 1, statement.lineno
            if self._left < 0:
                raise PlanFailed("the plan takes too many steps")
            yield from self._statement(statement)

    def _statement(self, statement: ast.stmt) -> Iterator[str]:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="act"), args=[action], keywords=[])):
                yield self._text(action)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._own[name] = self._value(value)
            case ast.Assert(test=test, msg=message):
                if not self._value(test):
                    raise PlanFailed(self._text(message) if message else ast.unparse(test))
            case ast.If(test=test, body=body, orelse=orelse):
                yield from self.block(body if self._value(test) else orelse)
            case ast.For(target=ast.Name(id=name), iter=values, body=body, orelse=[]):
                listed = self._value(values)
                if isinstance(listed, str):
                    raise PlanFailed("expected a list to go through, got a text")
                for self._own[name] in listed:
                    yield from self.block(body)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                raise PlanFailed(f"not possible in a plan: {ast.unparse(statement)[:80]}")

    def _text(self, node: ast.expr) -> str:
        value = self._value(node)
        if not isinstance(value, str) or len(value) > _MAX_TEXT:
            raise PlanFailed(f"expected a text of at most {_MAX_TEXT} characters")
        return value

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str() as value):
                return value
            case ast.Name(id=name):
                known = {**self._own, **self._names()}
                if name not in known:
                    raise PlanFailed(f"{name!r} is not known; known are {', '.join(known)}")
                return known[name]
            case ast.JoinedStr(values=parts):
                found = "".join(self._text(part) for part in parts)
                return found[:_MAX_TEXT]
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self._text(value)
            case ast.List(elts=values):
                return [self._text(value) for value in values]
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                return _COMPARE[type(op)](self._text(left), self._value(right))
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self._value(value) for value in values)
            case ast.BoolOp(values=values):
                return any(self._value(value) for value in values)
            case ast.UnaryOp(op=ast.Not(), operand=value):
                return not self._value(value)
            case ast.Call(func=ast.Name(id="ask"), args=[question, options], keywords=[]):
                offered = self._value(options)
                if not offered or isinstance(offered, str):
                    raise PlanFailed("expected a list of options to choose from")
                self._left -= _COST_OF_ASK
                return self._ask(self._text(question), offered)
        raise PlanFailed(f"not possible in a plan: {ast.unparse(node)[:80]}")
