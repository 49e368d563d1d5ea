"""A household game: its commands, their effects and their answers.

The domain is compiled once, facts are indexed, and the commands of a state are computed on demand
and cached. Text, commands and wins equal the stock engine's; ``benchmarks/alfworld`` compares them
step by step.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import CorruptGameError
from gym_memory.core.files import read_json
from gym_memory.games.alfworld.pddl import Action, parse_domain, parse_problem
from gym_memory.games.textworld.knowledge import FactPattern
from gym_memory.games.textworld.logic import Binding, Fact, State

__all__ = ["NOTHING_HAPPENS", "Bound", "Game", "Grammar", "HouseholdPlay", "PlayState", "Sentence"]
__all__ += ["TextGenerator", "entity_names", "load_game", "parse_grammar"]

Bound = Mapping[str, str]
"""Entity ids by variable."""

_BLOCK = re.compile(r'grammar\s*::\s*"""')
_BLOCK_END = re.compile(r'"""\s*;')
_ACTION = re.compile(r"action\s+(\w+)\s*\{")
_ACTION_END = re.compile(r"\n\}")
_FIELD = r'\b{}\s*::\s*"([^"]*)"\s*;'
_TEMPLATE_PART = re.compile(
    r"(?P<list>\[\{(?P<each>[^{}|]+)(?:\|(?P<given>[^{}\[\]]+))?\}\])"
    r"|\{(?P<expression>[^{}|]+)(?:\|(?P<facts>[^{}\[\]]+))?\}"
    r"|#(?P<rule>[^#]+)#"
    r"|(?P<literal>[^\[\]{}#]+)"
)
_TERM = re.compile(r"\s*(\w+)\(([^()]*)\)\s*(?:&|$)")
_LITERAL = re.compile(r"'([^']*)'")
_ATTRIBUTE = re.compile(r"(\w+)(?:\.(name|id|definite|indefinite))?")
_MAX_DEPTH = 40


class Sentence(NamedTuple):
    """A template of an action's command and answer."""

    template: str
    feedback: str


class Grammar(NamedTuple):
    """Alternatives (condition, text) of each rule, and the actions by lower-case name."""

    rules: Mapping[str, tuple[tuple[str, str], ...]]
    actions: Mapping[str, Sentence]


def parse_grammar(text: str) -> Grammar:
    """Parse a grammar."""
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
    """Yield each match of ``begin`` with the text up to the next ``end``, in linear time."""
    for piece in end.split(text)[:-1]:
        found = begin.search(piece)
        if found is not None:
            yield found, piece[found.end() :]


class _TermPart(NamedTuple):
    kind: str
    content: str
    given: str = ""


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[_TermPart, ...]:
    found, position = [], len(text) - len(text.lstrip())
    while position < len(text):
        token = _TEMPLATE_PART.match(text, position)
        if token is None:
            raise CorruptGameError(f"the game's grammar cannot be read at {text[position:][:40]!r}")
        position = token.end()
        kind = token.lastgroup or ""
        if token["list"]:
            found.append(_TermPart("list", token["each"].strip(), token["given"] or ""))
        elif token["expression"]:
            found.append(_TermPart("each", token["expression"].strip(), token["facts"] or ""))
        else:
            found.append(_TermPart(kind, token[kind]))
    return tuple(found)


@lru_cache(maxsize=1024)
def _terms(condition: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Parse ``holds(a:agent, o:object) & ...`` into predicates with their variables."""
    terms, position = [], 0
    while position < len(condition.rstrip()):
        term = _TERM.match(condition, position)
        if term is None:
            raise CorruptGameError(f"the game's grammar has an odd condition: {condition!r}")
        variables = (a.partition(":")[0].strip() for a in term[2].split(",") if a.strip())
        terms.append((term[1], tuple(variables)))
        position = term.end()
    return tuple(terms)


class TextGenerator:
    """A generator of the text of a state.

    Args:
        grammar: The grammar.
        names: Entity id to the name that is printed.
    """

    def __init__(self, grammar: Grammar, names: Mapping[str, str]):
        self._grammar = grammar
        self._names = names

    def generate(self, text: str, state: State, bound: Bound) -> str:
        """Fill in the variables of a text, such as ``You open the {r.name}.``, from a state."""
        return "".join(self._generate(text, state, bound, 0))

    def _generate(self, text: str, state: State, bound: Bound, depth: int) -> Iterator[str]:
        if depth > _MAX_DEPTH:
            raise CorruptGameError("the game's grammar goes round in circles")
        for kind, content, given in _parts(text):
            if kind == "literal":
                yield content
            elif kind == "rule":
                yield from self._generate(
                    self._choose(content, state, bound), state, bound, depth + 1
                )
            else:
                texts = [
                    "".join(self._generate(content, state, b, depth + 1))
                    if content.startswith("#")
                    else self._evaluate(content, b)
                    for b in (matches(given, state, bound) if given else (bound,))
                ]
                if kind == "each":
                    yield from texts
                else:
                    say = lambda rule, b=bound: self.generate(f"#{rule}#", state, b)  # noqa: E731
                    yield _enumerate(texts, say)

    def _choose(self, rule: str, state: State, bound: Bound) -> str:
        for condition, text in self._grammar.rules.get(rule, ()):
            if not condition or next(matches(condition, state, bound), None) is not None:
                return text
        raise CorruptGameError(f"the game's grammar has no rule {rule!r} that applies")

    def _evaluate(self, expression: str, bound: Bound) -> str:
        """Return the value of attributes and quoted texts joined by ``+`` and ``or``."""
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
    """Return an enumeration with the grammar's separators."""
    if not things:
        return say("list_empty")
    if len(things) == 1:
        return things[0]
    return say("list_separator").join(things[:-1]) + say("list_last_separator") + things[-1]


def matches(condition: str, state: State, bound: Bound) -> Iterator[dict[str, str]]:
    """Yield bindings of a condition's variables, alphabetically, to distinct entities."""
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


NOTHING_HAPPENS = "Nothing happens."
_BANNER = "-= Welcome to TextWorld, ALFRED! =-\n\n"
_TASK = re.compile(r"Your task is to: (.*?)\.?\s*\Z", re.DOTALL)
_ESCAPES = {"_bar_": "|", "_minus_": "-", "_plus_": "+", "_dot_": ".", "_comma_": ","}
_MAX_CACHED = 4096


class _WorldMove(NamedTuple):
    action: Action
    binding: Binding


def entity_names(ids: Iterable[str]) -> dict[str, str]:
    """Return names as ALFWorld prints them: ``mug_bar__plus_00...`` becomes ``mug 2``.

    The alphabetically first id of a kind gets the highest number.
    """
    kinds = {}
    for entity in ids:
        text = entity
        for escape, letter in _ESCAPES.items():
            text = text.replace(escape, letter)
        kind, bar, _ = text.partition("|")
        kinds[entity] = (kind + "basin" * ("basin" in entity)) if bar else ""
    left = Counter(kind for kind in kinds.values() if kind)
    names = {}
    for entity in sorted(kinds):
        kind = kinds[entity]
        if kind:
            names[entity] = f"{kind} {left[kind]}"
            left[kind] -= 1
        else:
            names[entity] = entity
    return names


class Game:
    """A compiled game file: everything that stays constant in play.

    Args:
        data: Content of a ``game.tw-pddl``: ``pddl_domain``, ``pddl_problem``, ``grammar`` and,
            if known, ``walkthrough``.
    """

    def __init__(self, data: Mapping[str, Any]):
        parts = [data.get(key) for key in ("pddl_domain", "pddl_problem", "grammar")]
        if not all(isinstance(part, str) for part in parts):
            raise CorruptGameError("expected pddl_domain, pddl_problem and grammar as texts")
        domain, problem, grammar = map(str, parts)
        walkthrough = data.get("walkthrough") or ()
        self.walkthrough = tuple(str(command) for command in walkthrough)
        self.grammar = parse_grammar(grammar)
        self.facts, self.goal = parse_problem(problem)
        self.actions = [a for a in parse_domain(domain) if a.name in self.grammar.actions]
        self.names = entity_names(
            {entity for fact in self.facts.facts if fact[0][-1] != ":" for entity in fact[1:]}
        )
        agents = sorted(fact[1] for fact in self.facts.found.get(("agent:",), ()))
        if not agents:
            raise CorruptGameError("the game has no agent")
        self.agent = agents[0]
        self.ids = {name: entity for entity, name in self.names.items()}
        self.teller = TextGenerator(self.grammar, self.names)
        self.plans = {a.name: a.query.plan(self.facts) for a in self.actions}
        self.goal_plan = self.goal.plan(self.facts)
        written = frozenset().union(*(a.writes for a in self.actions))
        self.reads = {a.name: tuple(sorted(a.reads & written)) for a in self.actions}
        self.by_verb: dict[str, list[Action]] = {}
        for action in self.actions:
            verb = self.grammar.actions[action.name].template.partition(" ")[0]
            self.by_verb.setdefault(verb, []).append(action)
        self.commands: dict[tuple[Any, ...], dict[str, _WorldMove]] = {}
        """A cache of commands by action and state."""

    @cached_property
    def intro(self) -> str:
        """Return the first text."""
        return self.teller.generate("#intro#", State(self.facts), {}).removeprefix(_BANNER)

    @cached_property
    def goal_text(self) -> str:
        """Return the task as the game states it."""
        found = _TASK.search(self.intro)
        if found is None:
            raise CorruptGameError("the game does not say what its task is")
        return found[1]


@lru_cache(maxsize=64)
def load_game(path: Path, changed: int) -> Game:
    """Load a ``game.tw-pddl``, cached for the process by its modification time ``changed``."""
    try:
        data = read_json(path)
        if not isinstance(data, dict):
            raise CorruptGameError("expected a JSON object")
        return Game(data)
    except (OSError, ValueError, CorruptGameError) as error:
        raise CorruptGameError(f"{path} is not an ALFWorld game: {error}") from error


class PlayState(NamedTuple):
    """A state of a game in play."""

    game: Game
    changes: tuple[frozenset[Fact], frozenset[Fact]]
    place: str


class HouseholdPlay:
    """A game in play.

    ``state`` also has facts that became false, as ``not_<predicate>``, for the texts. ``place`` is
    the last receptacle that the agent went to.
    """

    def __init__(self, game: Game):
        self.game = game
        self.state = State(game.facts)
        self.place = ""

    def send(self, command: str) -> str | None:
        """Execute a command and return its answer; None if nothing happens."""
        move = None
        for action in self.game.by_verb.get(command.partition(" ")[0], ()):
            move = move or self._commands_of(action).get(command)
        if move is None:
            return None
        action, binding = move
        added, removed = action.outcome(self.state, binding)
        self.state.change(
            [*added, *(_negation(fact) for fact in removed)],
            [*removed, *(_negation(fact) for fact in added)],
        )
        bound = self._bound(move)
        if command.startswith("go to "):
            self.place = command.removeprefix("go to ")
        feedback = self.game.grammar.actions[action.name].feedback
        return self.game.teller.generate(feedback, self.state, bound)

    def commands(self) -> tuple[str, ...]:
        """Return all commands with an effect, sorted."""
        found: set[str] = set()
        for action in self.game.actions:
            found.update(self._commands_of(action))
        return tuple(sorted(found))

    def _commands_of(self, action: Action) -> dict[str, _WorldMove]:
        keys, kept = self.state.keys, self.game.commands
        key = action.name, *[keys.get(predicate, 0) for predicate in self.game.reads[action.name]]
        found = kept.get(key)
        if found is None:
            if len(kept) >= _MAX_CACHED:
                kept.clear()
            found = kept[key] = self._match(action)
        return found

    def _match(self, action: Action) -> dict[str, _WorldMove]:
        template = self.game.grammar.actions[action.name].template
        found = {}
        for case, binding in action.query.solutions(self.state, self.game.plans[action.name]):
            if not action.is_idle(case, binding):
                move = _WorldMove(action, binding)
                command = self.game.teller.generate(template, self.state, self._bound(move))
                found[command] = move
        return found

    def _bound(self, move: _WorldMove) -> dict[str, str]:
        return {
            name: str(entity)
            for name, entity in zip(move.action.parameters, move.binding, strict=False)
        }

    def inventory(self) -> str:
        """Return the inventory text."""
        bound = {"a": self.game.agent}
        return self.game.teller.generate("#inventory.feedback#", self.state, bound)

    def won(self) -> bool:
        """True if the goal is met."""
        solutions = self.game.goal.solutions(self.state, self.game.goal_plan)
        return next(solutions, None) is not None

    def save(self) -> PlayState:
        """Return the present state, which later commands leave unchanged."""
        return PlayState(self.game, self.state.changes, self.place)

    def load(self, state: PlayState) -> None:
        """Load a state, of this or another game."""
        if state.game is not self.game:
            self.game, self.state = state.game, State(state.game.facts)
        self.state.become(state.changes)
        self.place = state.place


def _negation(fact: Fact) -> Fact:
    return f"not_{fact[0]}", *fact[1:]
