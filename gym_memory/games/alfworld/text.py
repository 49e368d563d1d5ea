"""The text of a household game, told by its grammar (TextWorld's ``.twl2``).

A grammar has rules ``name -> text``, some only under a condition on the facts; the first that
applies is told. A text may hold ``#name#`` (another rule), ``{o.name}`` (an attribute of a bound
entity), ``{... | facts}`` (once for every way to match the facts) and ``[{... | facts}]`` (the
same as a list in words). Facts are matched in alphabetical order, each entity in one role only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from gym_memory.core.errors import CorruptGameError
from gym_memory.games.textworld.knowledge import FactPattern
from gym_memory.games.textworld.logic import State

__all__ = ["Bound", "Grammar", "Sentence", "Teller", "parse_grammar"]

Bound = Mapping[str, str]
"""Variable to entity id."""

_BLOCK = re.compile(r'grammar\s*::\s*"""')
_BLOCK_END = re.compile(r'"""\s*;')
_ACTION = re.compile(r"action\s+(\w+)\s*\{")
_ACTION_END = re.compile(r"\n\}")
_FIELD = r'\b{}\s*::\s*"([^"]*)"\s*;'
_TOKEN = re.compile(
    r"(?P<list>\[\{(?P<each>[^{}|]+)(?:\|(?P<given>[^{}\[\]]+))?\}\])"
    r"|\{(?P<expression>[^{}|]+)(?:\|(?P<facts>[^{}\[\]]+))?\}"
    r"|#(?P<rule>[^#]+)#"
    r"|(?P<literal>[^\[\]{}#]+)"
)
_TERM = re.compile(r"\s*(\w+)\(([^()]*)\)\s*(?:&|$)")
_LITERAL = re.compile(r"'([^']*)'")
_ATTRIBUTE = re.compile(r"(\w+)(?:\.(name|id|definite|indefinite))?")
_DEEPEST = 40


class Sentence(NamedTuple):
    """How an action is commanded and answered."""

    template: str
    feedback: str


class Grammar(NamedTuple):
    """A whole grammar.

    Attributes:
        rules: Name of a rule to its alternatives: condition (may be empty) and text.
        actions: Lower-case name of an action to its sentence.
    """

    rules: Mapping[str, tuple[tuple[str, str], ...]]
    actions: Mapping[str, Sentence]


def parse_grammar(text: str) -> Grammar:
    """Read a grammar.

    Raises:
        CorruptGameError: It is none.
    """
    rules: dict[str, tuple[tuple[str, str], ...]] = {}
    for _, block in _closed(_BLOCK, _BLOCK_END, text):
        try:
            for name, alternatives in json.loads(block, strict=False).items():
                read = tuple((rule.get("condition", ""), rule["rhs"]) for rule in alternatives)
                rules[name] = (*rules.get(name, ()), *read)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise CorruptGameError(f"the game's grammar cannot be read: {error}") from error
    actions = {}
    for found, body in _closed(_ACTION, _ACTION_END, text):
        fields = [re.search(_FIELD.format(field), body) for field in ("template", "feedback")]
        template, feedback = (field[1] if field else "" for field in fields)
        actions[found[1].lower()] = Sentence(template, feedback)
    if not rules or not actions:
        raise CorruptGameError("the game's grammar has no rules or no actions")
    return Grammar(rules, actions)


def _closed(
    begin: re.Pattern[str], end: re.Pattern[str], text: str
) -> Iterator[tuple[re.Match[str], str]]:
    """Each beginning with what follows it up to the next end; takes linear time."""
    for piece in end.split(text)[:-1]:
        found = begin.search(piece)
        if found is not None:
            yield found, piece[found.end() :]


class _Part(NamedTuple):
    """A piece of a text."""

    kind: str
    content: str
    given: str = ""


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[_Part, ...]:
    found, position = [], len(text) - len(text.lstrip())
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise CorruptGameError(f"the game's grammar cannot be read at {text[position:][:40]!r}")
        position = token.end()
        kind = token.lastgroup or ""
        if token["list"]:
            found.append(_Part("list", token["each"].strip(), token["given"] or ""))
        elif token["expression"]:
            found.append(_Part("each", token["expression"].strip(), token["facts"] or ""))
        else:
            found.append(_Part(kind, token[kind]))
    return tuple(found)


@lru_cache(maxsize=1024)
def _terms(condition: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """``holds(a:agent, o:object) & ...`` as predicates with their variables."""
    terms, position = [], 0
    while position < len(condition.rstrip()):
        term = _TERM.match(condition, position)
        if term is None:
            raise CorruptGameError(f"the game's grammar has an odd condition: {condition!r}")
        variables = (a.partition(":")[0].strip() for a in term[2].split(",") if a.strip())
        terms.append((term[1], tuple(variables)))
        position = term.end()
    return tuple(terms)


class Teller:
    """Tells what a grammar says of a state.

    Args:
        grammar: The grammar.
        names: Entity id to the name that is printed.
    """

    def __init__(self, grammar: Grammar, names: Mapping[str, str]):
        self._grammar = grammar
        self._names = names

    def tell(self, text: str, state: State, bound: Bound) -> str:
        """The text with everything filled in.

        Args:
            text: E.g. ``#look.feedback#`` or ``You open the {r.name}.``
            state: The facts.
            bound: The entities that the text is about.

        Raises:
            CorruptGameError: The grammar lacks a rule or cannot be read.
        """
        return "".join(self._tell(text, state, bound, 0))

    def _tell(self, text: str, state: State, bound: Bound, depth: int) -> Iterator[str]:
        if depth > _DEEPEST:
            raise CorruptGameError("the game's grammar goes round in circles")
        for kind, content, given in _parts(text):
            if kind == "literal":
                yield content
            elif kind == "rule":
                yield from self._tell(self._choose(content, state, bound), state, bound, depth + 1)
            else:
                told = [
                    "".join(self._tell(content, state, b, depth + 1))
                    if content.startswith("#")
                    else self._evaluate(content, b)
                    for b in (matches(given, state, bound) if given else (bound,))
                ]
                if kind == "each":
                    yield from told
                else:
                    say = lambda rule, b=bound: self.tell(f"#{rule}#", state, b)  # noqa: E731
                    yield _enumerate(told, say)

    def _choose(self, rule: str, state: State, bound: Bound) -> str:
        for condition, text in self._grammar.rules.get(rule, ()):
            if not condition or next(matches(condition, state, bound), None) is not None:
                return text
        raise CorruptGameError(f"the game's grammar has no rule {rule!r} that applies")

    def _evaluate(self, expression: str, bound: Bound) -> str:
        """An expression of attributes and quoted texts with ``+`` and ``or``."""
        value = ""
        for alternative in re.split(r"\s+or\s+", expression):
            value = "".join(self._operand(part, bound) for part in alternative.split(" + "))
            if value:
                break
        return value

    def _operand(self, part: str, bound: Bound) -> str:
        quoted, attribute = _LITERAL.fullmatch(part.strip()), _ATTRIBUTE.fullmatch(part.strip())
        if quoted is not None:
            return quoted[1]
        if attribute is None or attribute[1] not in bound:
            raise CorruptGameError(f"the game's grammar cannot be read: {{{part}}}")
        entity = bound[attribute[1]]
        if attribute[2] in ("definite", "indefinite"):
            return "the" if attribute[2] == "definite" else "a"
        return entity if attribute[2] == "id" else self._names.get(entity, entity)


def _enumerate(things: list[str], say: Callable[[str], str]) -> str:
    """A list in words, with the grammar's own separators."""
    if not things:
        return say("list_empty")
    if len(things) == 1:
        return things[0]
    return say("list_separator").join(things[:-1]) + say("list_last_separator") + things[-1]


def matches(condition: str, state: State, bound: Bound) -> Iterator[dict[str, str]]:
    """Ways to bind the variables of a condition, alphabetically; no entity has two roles."""
    return _extend(_terms(condition.strip()), 0, state, dict(bound))


def _extend(
    terms: tuple[tuple[str, tuple[str, ...]], ...], depth: int, state: State, bound: dict[str, str]
) -> Iterator[dict[str, str]]:
    if depth == len(terms):
        yield bound
        return
    predicate, variables = terms[depth]
    pattern = FactPattern(predicate, tuple(range(len(variables))))
    for fact in sorted(state.matching(pattern, [bound.get(v) for v in variables])):
        fresh = dict(bound)
        for variable, value in zip(variables, fact[1:], strict=True):
            if variable in bound:
                if bound[variable] != value:
                    break
            elif value in fresh.values() and fresh.get(variable) != value:
                break
            else:
                fresh[variable] = value
        else:
            yield from _extend(terms, depth + 1, state, fresh)
