"""Archive of the explorer: visited states, and actions worth trying."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from gym_memory.graph.schema import direction_in

__all__ = ["Archive", "Cell", "Key", "Option", "Visit", "VisitTrail", "lights", "option_of"]

Key = Hashable
"""Identity of a state."""
Option = tuple[object, str]
"""An action, with its place if it is a move, since moves differ between places."""
Sign = tuple[str, object]
"""A possible cause of a loss: its kind (place, word or verb) and its value."""
_MAX_POSITIVES = 3
_VALUE_NATS = 3.0
"""Log-ratio, in nats, between the weights of the best state and of one without points."""
_MAX_UNTRIED = 8
"""Most untried actions that add to the promise of a state, about one attempt's worth."""
_LUCKY_FACTOR = 5.0
"""Factor for an action if its object or preposition has gained points every time."""
_PROMISING, _DOUBTFUL, _RISKY, _IDLE = 2.0, 0.3, 0.1, 0.05
_PRIORS = {
    word: worth
    for worth, words in (
        (_PROMISING, "take get open unlock read search light push pull move turn_on switch_on"),
        (_DOUBTFUL, "put give insert tie show"),
        (_RISKY, "eat drink burn break throw cut destroy jump fill pour close lock turn_off"),
        (_IDLE, "drop put_down put_out"),
    )
    for word in words.split()
}
"""Prior worth of verbs in any story; all others have 1."""
_SHOWING = frozenset(("look", "inventory", "wait", "help", "goal", "verbose", "brief", "super"))
"""Actions that change nothing, so none of them starts an attempt."""
_LIGHTING = re.compile(r"(?:light|(?:turn|switch) on) ")
_PREPOSITIONS = frozenset(
    ("in", "into", "on", "onto", "to", "with", "at", "from", "under", "behind")
)
_PARTICLES = frozenset(("up", "down", "in", "out", "on", "off"))


class VisitTrail(NamedTuple):
    """States of one attempt from the start, and its best score."""

    best: float
    trail: tuple[Key, ...]


class Visit(NamedTuple):
    """A visit to a state: its score, the path to it, and perhaps a snapshot."""

    score: float
    path: tuple[str, ...]
    trail: tuple[Key, ...]
    snapshot: Any


class Cell:
    """A state with the path to it, its score and its untried actions.

    Different visits to a coarse state may allow different actions, so each untried action keeps the
    best visit that allowed it.
    """

    def __init__(
        self,
        key: Key,
        where: object,
        unexplored: frozenset[str] = frozenset(),
        *,
        dark: bool = False,
    ):
        self.key, self.where, self.unexplored, self.dark = key, where, unexplored, dark
        self.score = -math.inf
        self.options: dict[str, Option] = {}
        self.visits: dict[str, Visit] = {}
        self.words: frozenset[str] = frozenset()
        self.ways: dict[str, Key] = {}
        self.fatal: set[str] = set()
        self.gains: list[float] = []

    @property
    def path(self) -> tuple[str, ...]:
        """Return the actions of the first visit."""
        return next(iter(self.visits.values())).path if self.visits else ()

    def wants(self, actions: Iterable[str], score: float) -> bool:
        """True if a visit allows a new action, or a useful one at a better score.

        Useful actions are untried, or led to another state, which is then explored again with the
        better score.
        """
        return any(
            score > self.visits[action].score if action in self.visits else action not in _SHOWING
            for action in actions
            if action not in self.visits or action in self.options or self._leads_on(action)
        )

    def _leads_on(self, action: str) -> bool:
        return action not in self.fatal and self.ways.get(action, self.key) != self.key

    def offer(self, actions: Iterable[str], visit: Visit) -> list[Option]:
        """Record the actions of a visit; return those that no earlier visit allowed."""
        self.score = max(self.score, visit.score)
        wanted = [action for action in actions if self.wants((action,), visit.score)]
        new = [action for action in wanted if action not in self.visits]
        self.options.update((action, option_of(self.where, action)) for action in wanted)
        self.visits.update(dict.fromkeys(wanted, visit))
        return [self.options[action] for action in new]


class Archive:
    """All visited states and the best trajectories.

    Args:
        k: Number of frontier trajectories.
    """

    def __init__(self, k: int):
        self.k = k
        self.cells: dict[Key, Cell] = {}
        self.frontier: list[VisitTrail] = []
        self._known: set[Option | str] = set()
        self.tried: Counter[Option] = Counter()
        self._taken: Counter[object] = Counter()
        self._risks: Counter[Sign] = Counter()
        self._deaths: Counter[Sign] = Counter()
        self._verbs: Counter[str] = Counter()
        self._words: Counter[str] = Counter()
        self._fresh: Counter[str] = Counter()
        self.lucky: Counter[str] = Counter()
        self._gains: dict[tuple[frozenset[str], str], float] = {}
        self._stalls: Counter[Key] = Counter()
        self._values: dict[Key, float] = {}

    @property
    def top(self) -> float:
        """Return the best score so far, at least one point."""
        return max(1.0, self.frontier[0].best if self.frontier else 0.0)

    def expect(self, words: Iterable[str]) -> None:
        """Count words of the task as objects that may gain points."""
        self.lucky.update(words)

    def visit(self, cell: Cell, actions: Iterable[str], visit: Visit, action: str) -> bool:
        """Record a visit; return True if its actions use a new exit or a new word."""
        self.cells.setdefault(cell.key, cell)
        parts = {
            part
            for where, act in cell.offer(actions, visit)
            for part in ([(where, act)] if where else act.split())
        }
        new = not parts <= self._known
        self._known |= parts
        self._fresh[_verb(action)] += new
        return new

    def take(self, cell: Cell, action: str) -> None:
        """Count an action taken in a state."""
        self._taken[cell.where] += 1
        self._words.update(_objects(action))
        self.tried[cell.options.pop(action, ("", action))] += 1
        self._verbs[_verb(action)] += 1
        self._words[_without_object(action)] += 1
        self._risks.update(_loss_signs(cell, action))

    def reoffer(self, cell: Cell, action: str) -> None:
        """Make an action untried again, because its answer was new although no state changed."""
        if action in cell.visits:  # an earlier visit allowed it
            cell.options[action] = option = option_of(cell.where, action)
            self.tried[option] -= 1

    def record_loss(self, cell: Cell, action: str) -> None:
        """Record an action that lost the game, and its possible causes."""
        cell.fatal.add(action)
        self._deaths.update(_loss_signs(cell, action))

    def survival(self, signs: Iterable[Sign]) -> float:
        """Return the share of actions that did not lose the game, for the worst of the signs.

        A verb or a word is blamed only from its second loss on.
        """
        return min(
            1 - max(0, self._deaths[kind, sign] - (kind != "place")) / (1 + self._risks[kind, sign])
            for kind, sign in signs
        )

    def record_gain(self, words: frozenset[str], action: str, gain: float) -> None:
        """Record an action that changed the score."""
        self._fresh[_verb(action)] += gain > 0
        self._gains[words, action] = gain
        if gain > 0 and not direction_in(action):
            self.lucky.update((_without_object(action), *_objects(action)))

    def record_attempt(self, best: float, trail: tuple[Key, ...]) -> None:
        """Keep the trajectory of an attempt if it is among the best; ties go to the latest."""
        others = (t for t in self.frontier if t.trail != trail[: len(t.trail)])
        self.frontier = sorted([VisitTrail(best, trail), *others], key=lambda t: -t.best)[: self.k]
        self._stalls = Counter(t.trail[-1] for t in self.frontier)
        self._values = {key: t.best for t in reversed(self.frontier) for key in t.trail}

    def promise(self, cell: Cell) -> float:
        """Return the worth of exploring from a state.

        The worth grows with the value of the best frontier trajectory through the state (v' of
        GLoW), with its untried actions, and with the frontier trajectories that end there. It falls
        with attempts from the state, actions taken in its place, and losses after similar texts.
        """
        if self.is_hopeless(cell):
            return 0.0
        key = cell.key
        untried = sum(
            sorted(self._novelty(cell, action) for action in cell.options)[-_MAX_UNTRIED:]
        )
        value = (self._values.get(key, cell.score) + cell.score) / (2 * self.top)
        lived = self.survival(_loss_signs(cell))
        worth = math.exp(_VALUE_NATS * value) * untried * (1 + self._stalls[key]) * lived**2
        return worth / (1 + len(cell.gains)) / math.sqrt(1 + self._taken[cell.where])

    def _novelty(self, cell: Cell, action: str) -> float:
        """Return the worth of trying an action, from its prior and the tries so far."""
        option, words, frame = cell.options[action], _objects(action), _without_object(action)
        tried = 1 + self.tried[option]
        if cell.dark:
            return _PROMISING if lights(action) else _IDLE / tried
        if option[0]:
            return (1 + (action in cell.unexplored)) / tried
        lucky = max(self.lucky[part] / (1 + self._words[part]) for part in (frame, *words))
        rarest = min(self._words[word] for word in words)
        often = self._words[frame] if " " in frame else 0
        prior = (
            _prior(action)
            * (1 + _LUCKY_FACTOR * lucky)
            * self.survival((("verb", _verb(action)),)) ** 2
        )
        return prior / tried / math.sqrt((1 + rarest) * (1 + often))

    def is_hopeless(self, cell: Cell) -> bool:
        """True if it is dark and no action gives light."""
        return cell.dark and not any(map(lights, cell.visits))

    def weights(
        self, cell: Cell, actions: Iterable[str], advantage: Mapping[Option, float]
    ) -> list[float]:
        """Return a weight > 0 for each of a state's untried actions.

        A weight combines the success of the verb so far, the points of actions after similar texts
        (EvoTest's positives), and the advantage of the action in earlier attempts.
        """
        near = sorted((_similarity(seen, cell.words), a, g) for (seen, a), g in self._gains.items())
        gains: dict[str, float] = defaultdict(float)
        for likeness, action, gain in near[-_MAX_POSITIVES:]:
            gains[action] += likeness * gain / self.top
        weights = []
        for action in actions:
            option, verb = cell.options[action], _verb(action)
            fresh = (1 + self._fresh[verb]) / (2 + self._verbs[verb])
            worth = fresh * self._novelty(cell, action) + gains[action]
            weights.append(max(0.01, worth) * math.exp(advantage.get(option, 0.0) / self.top))
        return weights

    def routes(self, start: Key) -> dict[Key, tuple[str, ...]]:
        """Return the shortest known action sequence from a state to each reachable state."""
        routes: dict[Key, tuple[str, ...]] = {start: ()}
        queue = deque([start])
        while queue:
            key = queue.popleft()
            for action, there in self.cells[key].ways.items():
                if there not in routes:
                    routes[there] = (*routes[key], action)
                    queue.append(there)
        return routes


def _loss_signs(cell: Cell, action: str = "") -> list[Sign]:
    """Return possible causes of a loss: the place, words of the text, and a verb but for moves."""
    verb = [("verb", _verb(action))] if action and not direction_in(action) else []
    return [("place", (cell.where, cell.dark)), *(("word", word) for word in cell.words), *verb]


def lights(action: str) -> bool:
    """True if an action may make light."""
    return _LIGHTING.match(action) is not None


def option_of(where: object, action: str) -> Option:
    """Return an action as an option; only a move includes its place."""
    return where if direction_in(action) else "", action


def _prior(action: str) -> float:
    first, *rest = action.split()[:2] or [""]
    return _PRIORS.get("_".join((first, *rest)), _PRIORS.get(first, 1.0))


def _without_object(action: str) -> str:
    """Return an action without its first object: *put in case* for *put sword in case*."""
    words = action.split()
    ends = (n for n, word in enumerate(words) if n > 1 and word in _PREPOSITIONS)
    return " ".join((words[0], *words[next(ends, len(words)) :])) if words else ""


def _verb(action: str) -> str:
    first, *rest = action.split()[:2] or [""]
    return " ".join((first, *(word for word in rest if word in _PARTICLES)))


def _objects(action: str) -> list[str]:
    """Return the nouns after the verb, or the verb if there are none."""
    return [word for word in action.split()[1:] if word not in _PREPOSITIONS] or [action]


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard similarity of two sets of words, in [0, 1]."""
    return len(one & other) / max(1, len(one | other))
