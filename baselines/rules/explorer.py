"""A player that archives states over attempts and returns to the most promising one.

It runs the loop of GLoW (arXiv 2509.24116): the best trajectories rank the states (global), and
attempts from one state are compared with each other (local). Both roles are rule-based here; the
policy ``glow`` uses a language model.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable
from typing import Annotated, Any, Literal

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.rules.archive import Archive, Cell, Key, Option, Visit, lights, option_of
from gym_memory.core.records import Observation, Transition
from gym_memory.core.settings import Help, checked
from gym_memory.core.text import letter_words
from gym_memory.extract import get_extractor
from gym_memory.graph.schema import (
    DIRECTIONS,
    EXIT,
    INVENTORY,
    LOCATIONS,
    PLAYER,
    UNEXPLORED,
    direction_in,
    direction_of,
)

__all__ = ["Explorer", "place_of", "things_of"]

_NAMED_THING = re.compile(
    r"\b(?:an?|the|some) ((?:[a-z-]+ )?[a-z-]+)(?= here\b|[.,;)]| and | is | are )"
)
_REMARK = re.compile(r"\(([^()]+)\)")
_FUNCTION_WORDS = frozenset((
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "for", "from", "in",
    "into", "is", "it", "many", "of", "on", "or", "out", "that", "the", "then", "to", "up", "with",
    "you", "your",
))  # fmt: skip
_DARK = re.compile(
    r"\b(?:pitch[- ](?:black|dark)|too dark to see|in(?:to)? (?:the dark|darkness|a dark place)"
    r"|(?:light|lamp|lantern|torch|candle|flame) (?:is|goes|has gone|went) (?:now )?(?:out|off)"
    r"|extinguish(?:es|ed)? (?:the|your))\b",
    re.IGNORECASE,
)
_GUMBEL_SCALE = 0.5
_START = Visit(0.0, (), (), None)
_GUESSED_VERBS = ("take", "open")
"""Verbs to try on known or named objects if no valid action is listed."""


class Explorer(Policy):
    """A Go-Explore player: it returns to a promising archived state and tries new actions there.

    A state consists of the facts about the place, the inventory and the valid actions; without
    facts, of the last two. An attempt ends after ``patience`` steps without a new option or points.
    If the protocol allows it, the player then restores a state, and states are coarser
    (:func:`state_of`). Otherwise it walks to the state, after a loss from the start.

    Args:
        frontier: Number of best trajectories that value the states (k = 5 in GLoW).
        attempts: Attempts from a state before another is chosen (n = 3 in GLoW).
        patience: Most consecutive steps of an attempt without anything new.
        restore: Way to return to a state: load a snapshot, or replay the actions.
    """

    @checked
    def __init__(
        self,
        frontier: Annotated[int, Help("best trajectories that value the states", low=1)] = 5,
        attempts: Annotated[int, Help("attempts from a state", low=1)] = 3,
        patience: Annotated[int, Help("steps of an attempt without anything new", low=1)] = 8,
        restore: Annotated[
            Literal["snapshot", "replay"], Help("way to return to a state")
        ] = "snapshot",
    ):
        self.attempts, self.patience, self.restore = attempts, patience, restore
        self.archive = Archive(frontier)
        self._frontier = frontier
        self._task_id = self._go = ""
        self._rng = np.random.default_rng(0)
        self._counts: Counter[str] = Counter()
        self._advantage: dict[Option, float] = defaultdict(float)
        self._texts: set[str] = set()
        self._begin(None)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start a trial; another task instance starts with an empty archive."""
        self._rng = np.random.default_rng(seed)
        rules = get_extractor(info.get("dialect", "plain"))
        self._go = getattr(rules, "move_prefix", "")
        if info["task_id"] != self._task_id:
            self._task_id, self.archive = info["task_id"], Archive(self._frontier)
            self._texts.clear()
        self._begin(None)

    def _begin(self, cell: Cell | None, visit: Visit = _START) -> None:
        """Continue from a visit to a cell, or from the start of an episode."""
        self._path, self._trail = list(visit.path), list(visit.trail)
        self._here: Cell | None = None
        self._last_action = ""
        self._last_view: object = None
        self._dark = cell is not None and cell.dark
        self._state: Key = None
        self._where: object = None
        self._queue: list[str] = []
        self._best = self._start_score = visit.score
        self._idle = 0
        self._attempt: list[Option] = []
        self._over = cell is None and bool(self.archive.cells)
        self._target: Cell | None = cell

    def back(self) -> Any:
        """Return the snapshot of the next state to explore from; None while an attempt goes on."""
        if not self._over or not self._trail:
            return None
        self._end_attempt()
        target = self._choose(self.archive.cells.values())
        if target is None:
            self._over = False
            return None
        visit = target.visits[self._likeliest(target, list(target.options))]
        if self.restore == "replay":
            self._counts["restarted"] += 1
            self._begin(target, self._start)
            self._start_score, self._queue = visit.score, list(visit.path)
            snapshot = self._start.snapshot
        else:
            self._counts["restored"] += 1
            self._begin(target, visit)
            snapshot = visit.snapshot
        self._trail.pop()
        return snapshot

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action on the way to the chosen state, or an untried one there."""
        cell = self._here or self._record_arrival(obs, info)
        self._here = None
        if self._over and self.keep_state is None:
            self._end_attempt()
            self._plan_walk(cell)
        if self._queue and obs["valid_actions"] and self._queue[0] not in obs["valid_actions"]:
            self._queue.clear()
        if self._queue:
            self._counts["replayed"] += 1
            action = self._queue.pop(0)
        else:
            action = self.decide(cell, obs)
            self._attempt.append(option_of(cell.where, action))
        self.archive.take(cell, action)
        self._last_action = action
        self._path.append(action)
        return action

    def update(self, transition: Transition) -> None:
        """Record the gain of the step, and end the attempt if it is over."""
        gain, score = transition.reward, float(transition.info["score"])
        here = self.archive.cells[self._trail[-1]]
        if gain:
            self.archive.record_gain(_words_of(transition.obs["text"]), transition.action, gain)
            self._idle = 0
        self._best = max(self._best, score)
        if transition.terminated:
            self.archive.record_loss(here, transition.action)
        self._over = self._over or transition.terminated or transition.truncated
        if transition.truncated or (transition.terminated and self.keep_state is None):
            self._end_attempt()
        elif not transition.terminated:
            self._here = self._record_arrival(transition.next_obs, transition.info)

    def counters(self) -> dict[str, float]:
        """Return the number of returns of each kind, and of replayed steps."""
        return {name: self._counts[name] for name in ("restored", "restarted", "replayed")}

    def _record_arrival(self, obs: Observation, info: dict[str, Any]) -> Cell:
        """Record a visit to the present state and return its cell."""
        score = self._score = float(info["score"])
        archive = self.archive
        if not archive.cells:
            archive.expect(_words_of(obs["task"]) - _FUNCTION_WORDS)
        can_go_back = self.keep_state is not None
        state = state_of(obs, archive.lucky if can_go_back else None)
        where, actions, unexplored = _options(obs, self._go)
        same = self._state in (state, None) or (
            self._where == where and direction_in(self._last_action) is None
        )
        stayed = self._dark and same and not lights(self._last_action)
        self._dark = stayed or _DARK.search(obs["text"]) is not None
        self._state, self._where = state, where
        key = (state, self._dark)
        seen = (key, obs["inventory"], obs["valid_actions"])
        cell = archive.cells.get(key) or Cell(key, where, unexplored, dark=self._dark)
        if self._trail and self._last_action:
            archive.cells[self._trail[-1]].ways[self._last_action] = key
            if seen == self._last_view and obs["text"] not in self._texts:
                archive.reoffer(cell, self._last_action)
        self._last_view = seen
        self._texts.add(obs["text"])
        self._trail.append(key)
        cell.words = _words_of(obs["text"])
        snapshot = self.keep_state() if can_go_back and cell.wants(actions, score) else None
        visit = Visit(score, tuple(self._path), tuple(self._trail), snapshot)
        if not self._path:
            self._start = visit
        fresh = archive.visit(cell, actions, visit, self._last_action)
        self._idle = 0 if fresh else self._idle + 1
        exhausted = (
            self._idle >= self.patience or not _untried(cell, obs) or archive.is_hopeless(cell)
        )
        self._over = self._over or (exhausted and not self._queue)
        return cell

    def _end_attempt(self) -> None:
        """Add the trajectory of the attempt to the frontier and its gain to its cell."""
        self.archive.record_attempt(self._best, tuple(self._trail))
        if self._target is not None:
            self._target.gains.append(self._best - self._start_score)
            self.reflect(self._target)

    def _choose(self, cells: Iterable[Cell]) -> Cell | None:
        """Return the present target if it has attempts left, else the most promising cell."""
        target = self._target
        open_cells = [cell for cell in cells if cell.options]
        if target in open_cells and len(target.gains) % self.attempts:
            return target
        self._advantage.clear()
        return self.select(open_cells)

    def _plan_walk(self, here: Cell) -> None:
        """Queue the actions to the most promising state within known reach."""
        routes = self.archive.routes(self._trail[-1])
        near = [cell for key, cell in self.archive.cells.items() if key in routes]
        target = self._choose(near)
        self._over, self._idle, self._target = False, 0, target
        self._best = self._start_score = self._score
        self._attempt = []
        if target is not None:
            self._queue = list(routes[target.key])

    def select(self, cells: list[Cell]) -> Cell | None:
        """Return the most promising of the cells; None if there is none."""
        return max(cells, key=self.archive.promise, default=None)

    def decide(self, cell: Cell, obs: Observation) -> str:
        """Return an untried action of a cell, drawn by weight, or any valid one."""
        options = _untried(cell, obs)
        if options:
            return self._likeliest(cell, options)
        known = [action for action in obs["valid_actions"] if action not in cell.fatal]
        return known[int(self._rng.integers(len(known)))] if known else "look"

    def _likeliest(self, cell: Cell, options: list[str]) -> str:
        weights = self.archive.weights(cell, options, self._advantage)
        noise = _GUMBEL_SCALE * self._rng.gumbel(size=len(options))
        return options[int(np.argmax(np.log(weights) + noise))]

    def reflect(self, target: Cell) -> None:
        """Credit each action of the last attempt with its advantage over earlier attempts."""
        *others, gain = target.gains
        for option in self._attempt:
            self._advantage[option] += gain - sum(others) / max(1, len(others))


def place_of(obs: Observation) -> str:
    """Return the place according to the memory; empty if unknown."""
    return next((t.object for t in obs["triples"] if t[:2] == (PLAYER, "is in")), "")


def state_of(obs: Observation, lucky: Container[str] | None = None) -> Key:
    """Return the identity of a state: place, facts about it, inventory and valid actions.

    Args:
        obs: The observation.
        lucky: Words that have gained points. They make the state coarser: the place (its moves if
            it is dark), the lucky words among carried objects, and remarks on these objects
            (*providing light*). Such states need listed actions, a memory of places, and a policy
            that can restore the visit at which an action was valid.
    """
    place, triples, listed = place_of(obs), obs["triples"], obs["valid_actions"]
    carried = obs["inventory"] or frozenset(t.subject for t in triples if t.object == INVENTORY)
    if triples and listed and lucky is not None:
        text = carried if isinstance(carried, str) else " ".join(carried)
        held = frozenset(t.subject for t in triples if t.object == INVENTORY)
        states = {t.object for t in triples if t.relation == "is" and t.subject in held}
        matters = frozenset(word for word in _words_of(text) if word in lucky)
        return place or _moves(listed), matters, frozenset((*_REMARK.findall(text), *states))
    about = frozenset(
        t for t in triples
        if place in (t.subject, t.object)
        and t.subject != PLAYER
        and not direction_of(t.relation)
        and t.relation not in (EXIT, UNEXPLORED)
    )  # fmt: skip
    return place, about, carried, listed or ("" if place else obs["text"])


def _untried(cell: Cell, obs: Observation) -> list[str]:
    """Return the untried actions of a cell that are valid now."""
    listed = obs["valid_actions"]
    return [action for action in cell.options if not listed or action in listed]


def _options(obs: Observation, go: str) -> tuple[object, Iterable[str], frozenset[str]]:
    """Return the identity of the place, the actions to try there, and its unused exits.

    An unknown place is identified by its valid moves. If no valid actions are listed, they are
    guessed from facts and text; ``go`` is the prefix of directions in this game.
    """
    place, listed = place_of(obs), obs["valid_actions"]
    unexplored = frozenset(t.object for t in obs["triples"] if t[:2] == (place, UNEXPLORED))
    if listed:
        return place or _moves(listed), listed, unexplored
    words = _words_of(obs["text"])
    unexplored |= {way for way in DIRECTIONS if way in words}
    acts = [f"{verb} {thing}" for thing in things_of(obs) for verb in _GUESSED_VERBS]
    return place, (*[go + way for way in DIRECTIONS], *acts), unexplored


def _moves(actions: Iterable[str]) -> tuple[str, ...]:
    return tuple(filter(direction_in, actions))


def things_of(obs: Observation) -> tuple[str, ...]:
    """Return the objects known to be here or named in the text."""
    place, text = place_of(obs), obs["text"].lower()
    known = (t.subject for t in obs["triples"] if t.object == place and t.relation in LOCATIONS)
    things = dict.fromkeys([*known, *_NAMED_THING.findall(text)])
    return tuple(thing for thing in things if thing != PLAYER and thing not in DIRECTIONS)


def _words_of(text: str) -> frozenset[str]:
    return frozenset(letter_words(text[:400]))
