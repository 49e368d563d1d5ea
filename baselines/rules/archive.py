"""The archive of states of the explorer: what was reached, what is worth trying."""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from gym_memory.graph.schema import direction_in

__all__ = ["Archive", "Cell", "Key", "Option", "Trajectory", "option_of"]

Key = Hashable
"""Distinguishes a state from others."""
Option = tuple[object, str]
"""An action, and the place for a move: moves differ from place to place, other actions do not."""
_POSITIVES = 3
_GREED = 3.0
"""How much more a state of the best value is worth than one of none, as a power of e."""
_PARTICLES = frozenset(("up", "down", "in", "out", "on", "off"))


class Trajectory(NamedTuple):
    """The states of one attempt from the start on, and the best score on the way."""

    best: float
    trail: tuple[Key, ...]


class Cell:
    """A state: the actions and states that lead to it, its score, and what is untried there."""

    def __init__(self, where: object, options: Iterable[str], unread: frozenset[str]):
        self.where = where
        self.options = {action: option_of(where, action) for action in options}
        self.unread = unread
        self.ways: dict[str, Key] = {}
        self.fatal: set[str] = set()
        self.gains: list[float] = []
        self.score = -math.inf

    def reach(self, path: tuple[str, ...], trail: tuple[Key, ...], score: float, kept: Any) -> None:
        """Note a way to the state, better than any before."""
        self.path, self.trail, self.score, self.kept = path, trail, score, kept


class Archive:
    """All states that were reached, and the best trajectories.

    Args:
        k: Trajectories of the frontier.
    """

    def __init__(self, k: int):
        self.k = k
        self.cells: dict[Key, Cell] = {}
        self.frontier: list[Trajectory] = []
        self._known: set[Option | str] = set()
        self._tried: Counter[Option] = Counter()
        self._taken: Counter[object] = Counter()
        self._deaths: Counter[object] = Counter()
        self._verbs: Counter[str] = Counter()
        self._words: Counter[str] = Counter()
        self._fresh: Counter[str] = Counter()
        self._gains: dict[tuple[frozenset[str], str], float] = {}
        self._stalls: Counter[Key] = Counter()
        self._values: dict[Key, float] = {}

    @property
    def start(self) -> Cell:
        """Return the first state."""
        return next(iter(self.cells.values()))

    @property
    def top(self) -> float:
        """Return the best score so far, at least one point."""
        return max(1.0, self.frontier[0].best if self.frontier else 0.0)

    def add(self, key: Key, cell: Cell, action: str) -> bool:
        """Add a state, which an action led to; True if it offers a new way or names a new thing."""
        self.cells[key] = cell
        parts = {
            part
            for where, act in cell.options.values()
            for part in ([(where, act)] if where else act.split())
        }
        new = not parts <= self._known
        self._known |= parts
        self._fresh[_verb(action)] += new
        return new

    def take(self, cell: Cell, action: str) -> None:
        """Count an action that is taken in a state."""
        self._taken[cell.where] += 1
        self._words.update(_objects(action))
        self._tried[cell.options.pop(action, ("", action))] += 1
        self._verbs[_verb(action)] += 1

    def die(self, cell: Cell, action: str) -> None:
        """Count an action that lost the game."""
        cell.fatal.add(action)
        self._deaths[cell.where] += 1

    def note(self, words: frozenset[str], action: str, gain: float) -> None:
        """Keep an action that changed the score."""
        self._fresh[_verb(action)] += gain > 0
        self._gains[words, action] = gain

    def finish(self, best: float, trail: tuple[Key, ...]) -> None:
        """Keep a trajectory if it is among the best; of equal ones the latest."""
        others = (t for t in self.frontier if t.trail != trail[: len(t.trail)])
        self.frontier = sorted([Trajectory(best, trail), *others], key=lambda t: -t.best)[: self.k]
        self._stalls = Counter(t.trail[-1] for t in self.frontier)
        self._values = {key: t.best for t in reversed(self.frontier) for key in t.trail}

    def promise(self, cell: Cell) -> float:
        """Return how much a state is worth exploring: its value and what is untried there.

        The value is that of the best frontier trajectory through it. v' of GLoW: untried actions
        and unread exits, each worth less the more often it or its words were tried elsewhere, times
        the frontier trajectories that end there. Attempts from the state, actions at the place and
        losses there make it worth less.
        """
        key = cell.trail[-1]
        untried = sum(self._novelty(cell, action) for action in cell.options)
        value = (self._values.get(key, cell.score) + cell.score) / (2 * self.top)
        lived = 1 - self._deaths[cell.where] / (1 + self._taken[cell.where])
        worth = math.exp(_GREED * value) * untried * (1 + self._stalls[key]) * lived**2
        return worth / (1 + len(cell.gains)) / math.sqrt(1 + self._taken[cell.where])

    def _novelty(self, cell: Cell, action: str) -> float:
        option = cell.options[action]
        rarest = 0 if option[0] else min(self._words[word] for word in _objects(action))
        return (1 + (action in cell.unread)) / (1 + self._tried[option]) / math.sqrt(1 + rarest)

    def weights(
        self, cell: Cell, words: frozenset[str], advantage: Mapping[Option, float]
    ) -> list[float]:
        """Return how much each untried action of a state is worth trying, > 0.

        Verbs count that led to something new, actions that gained points at similar texts
        (EvoTest's positives), and advantages of earlier attempts from the same state.
        """
        near = sorted((_alike(seen, words), a, g) for (seen, a), g in self._gains.items())
        gains: dict[str, float] = defaultdict(float)
        for likeness, action, gain in near[-_POSITIVES:]:
            gains[action] += likeness * gain / self.top
        weights = []
        for action, option in cell.options.items():
            verb = _verb(action)
            fresh = (1 + self._fresh[verb]) / (2 + self._verbs[verb])
            worth = fresh * self._novelty(cell, action) + gains[action]
            weights.append(max(0.01, worth) * math.exp(advantage.get(option, 0.0) / self.top))
        return weights

    def routes(self, start: Key) -> dict[Key, tuple[str, ...]]:
        """Return the shortest known actions to every state that can be reached from one."""
        routes: dict[Key, tuple[str, ...]] = {start: ()}
        queue = deque([start])
        while queue:
            key = queue.popleft()
            for action, there in self.cells[key].ways.items():
                if there not in routes:
                    routes[there] = (*routes[key], action)
                    queue.append(there)
        return routes


def option_of(where: object, action: str) -> Option:
    """Return what counts as one option wherever it is met."""
    return where if direction_in(action) else "", action


def _verb(action: str) -> str:
    first, *rest = action.split()[:2] or [""]
    return " ".join((first, *(word for word in rest if word in _PARTICLES)))


def _objects(action: str) -> list[str]:
    """Return the words behind the verb, or the verb where there are none."""
    return action.split()[1:] or [action]


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard similarity of two sets of words, in [0, 1]."""
    return len(one & other) / max(1, len(one | other))
