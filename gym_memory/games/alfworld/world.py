"""A household game in play: its commands, their effects and their answers.

The domain is compiled once, facts are indexed, and the commands of a state are computed when
needed and kept. Text, commands and wins equal the stock engine's, which plays 20 to 30 steps a
second; ``benchmarks/alfworld`` compares them step by step.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import CorruptGameError
from gym_memory.core.files import read_json
from gym_memory.games.alfworld.pddl import Action, parse_domain, parse_problem
from gym_memory.games.alfworld.text import Teller, parse_grammar
from gym_memory.games.textworld.logic import Binding, Fact, State

__all__ = ["NOTHING_HAPPENS", "Game", "HouseholdPlay", "PlayState", "entity_names", "load_game"]

NOTHING_HAPPENS = "Nothing happens."
_BANNER = "-= Welcome to TextWorld, ALFRED! =-\n\n"
_TASK = re.compile(r"Your task is to: (.*?)\.?\s*\Z", re.DOTALL)
_ESCAPES = {"_bar_": "|", "_minus_": "-", "_plus_": "+", "_dot_": ".", "_comma_": ","}
_MAX_KEPT = 4096


class _Move(NamedTuple):
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
    """Compile a game file: everything that does not change in play.

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
        self.teller = Teller(self.grammar, self.names)
        self.plans = {a.name: a.query.plan(self.facts) for a in self.actions}
        self.goal_plan = self.goal.plan(self.facts)
        written = frozenset().union(*(a.writes for a in self.actions))
        self.reads = {a.name: tuple(sorted(a.reads & written)) for a in self.actions}
        self.by_verb: dict[str, list[Action]] = {}
        for action in self.actions:
            verb = self.grammar.actions[action.name].template.partition(" ")[0]
            self.by_verb.setdefault(verb, []).append(action)
        self.commands: dict[tuple[Any, ...], dict[str, _Move]] = {}
        """Commands of an action in a state, kept; changes nothing but the time they take."""

    @cached_property
    def intro(self) -> str:
        """Return the first text."""
        return self.teller.tell("#intro#", State(self.facts), {}).removeprefix(_BANNER)

    @cached_property
    def goal_text(self) -> str:
        """Return the task in words, as the game states it."""
        found = _TASK.search(self.intro)
        if found is None:
            raise CorruptGameError("the game does not say what its task is")
        return found[1]


@lru_cache(maxsize=64)
def load_game(path: Path, changed: int) -> Game:
    """Load a ``game.tw-pddl``, kept for the process until its time ``changed`` differs."""
    try:
        data = read_json(path)
        if not isinstance(data, dict):
            raise CorruptGameError("expected a JSON object")
        return Game(data)
    except (OSError, ValueError, CorruptGameError) as error:
        raise CorruptGameError(f"{path} is not an ALFWorld game: {error}") from error


class PlayState(NamedTuple):
    """Hold a state of a game in play."""

    game: Game
    changes: tuple[frozenset[Fact], frozenset[Fact]]
    place: str


class HouseholdPlay:
    """Play a game.

    In ``state`` a fact made false also appears as ``not_<predicate>``, which texts use. ``place``
    is the receptacle gone to last.
    """

    def __init__(self, game: Game):
        self.game = game
        self.state = State(game.facts)
        self.place = ""

    def send(self, command: str) -> str | None:
        """Do a command and return its answer; None when nothing happens."""
        move = None
        for action in self.game.by_verb.get(command.partition(" ")[0], ()):
            move = move or self._commands_of(action).get(command)
        if move is None:
            return None
        action, binding = move
        added, removed = action.outcome(self.state, binding)
        self.state.change(
            [*added, *(_denied(fact) for fact in removed)],
            [*removed, *(_denied(fact) for fact in added)],
        )
        bound = self._bound(move)
        if command.startswith("go to "):
            self.place = command.removeprefix("go to ")
        feedback = self.game.grammar.actions[action.name].feedback
        return self.game.teller.tell(feedback, self.state, bound)

    def commands(self) -> tuple[str, ...]:
        """Return all commands that change something now, sorted."""
        found: set[str] = set()
        for action in self.game.actions:
            found.update(self._commands_of(action))
        return tuple(sorted(found))

    def _commands_of(self, action: Action) -> dict[str, _Move]:
        keys, kept = self.state.keys, self.game.commands
        key = action.name, *[keys.get(predicate, 0) for predicate in self.game.reads[action.name]]
        found = kept.get(key)
        if found is None:
            if len(kept) >= _MAX_KEPT:
                kept.clear()
            found = kept[key] = self._match(action)
        return found

    def _match(self, action: Action) -> dict[str, _Move]:
        template = self.game.grammar.actions[action.name].template
        found = {}
        for case, binding in action.query.solutions(self.state, self.game.plans[action.name]):
            if not action.is_idle(case, binding):
                move = _Move(action, binding)
                command = self.game.teller.tell(template, self.state, self._bound(move))
                found[command] = move
        return found

    def _bound(self, move: _Move) -> dict[str, str]:
        return {
            name: str(entity)
            for name, entity in zip(move.action.parameters, move.binding, strict=False)
        }

    def inventory(self) -> str:
        """Return the things held, in words."""
        bound = {"a": self.game.agent}
        return self.game.teller.tell("#inventory.feedback#", self.state, bound)

    def won(self) -> bool:
        """True if the goal is met."""
        solutions = self.game.goal.solutions(self.state, self.game.goal_plan)
        return next(solutions, None) is not None

    def save(self) -> PlayState:
        """Return the present state; further commands do not change it."""
        return PlayState(self.game, self.state.changes, self.place)

    def load(self, state: PlayState) -> None:
        """Go to a state, of this or another game."""
        if state.game is not self.game:
            self.game, self.state = state.game, State(state.game.facts)
        self.state.become(state.changes)
        self.place = state.place


def _denied(fact: Fact) -> Fact:
    return f"not_{fact[0]}", *fact[1:]
