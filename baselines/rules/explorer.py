"""A player that remembers states across attempts and goes back to the most promising one.

GLoW's loop (arXiv 2509.24116) with its two scales: all states are ranked by the best trajectories,
the attempts from one state by each other. Rules play both roles; the policy ``glow`` gives them to
a language model.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from gym_memory.baselines.base import POLICIES, Policy
from gym_memory.baselines.rules.archive import Archive, Cell, Key, Option, option_of
from gym_memory.core.records import Observation, Transition
from gym_memory.core.settings import Help, checked
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

_NAMED = re.compile(r"\b(?:an?|the|some) ((?:[a-z-]+ )?[a-z-]+)(?= here\b|[.,;)]| and | is | are )")
_WORD = re.compile(r"[a-z]+")
_NOISE = 0.5
_GUESSES = ("take", "open")
"""Verbs to try on things that are known or named, where no valid action is listed."""


@POLICIES.register("explorer")
class Explorer(Policy):
    """Archive every state with the way to it, choose one, try what was not tried there, repeat.

    A state is what the memory knows of the place and what is carried, with the valid actions; a
    memory without facts leaves the inventory and the valid actions. An attempt ends after
    ``patience`` steps without a new option or points. Under a protocol that lets a policy go back
    it then does; under any other it walks on by known actions, from the start in a new trial.

    Args:
        frontier: Best trajectories that give states their value (k = 5 in GLoW).
        attempts: Attempts from a state before another is chosen (n = 3 in GLoW).
        patience: Steps of an attempt without anything new.
        restore: Go back by a snapshot, or by replaying every action from the start.
    """

    name: ClassVar[str] = "explorer"

    @checked
    def __init__(
        self,
        frontier: Annotated[int, Help("best trajectories that give states their value", low=1)] = 5,
        attempts: Annotated[int, Help("attempts from a state", low=1)] = 3,
        patience: Annotated[int, Help("steps of an attempt without anything new", low=1)] = 8,
        restore: Annotated[
            Literal["snapshot", "replay"], Help("how to go back, where the protocol lets it")
        ] = "snapshot",
    ):
        self.attempts, self.patience, self.restore = attempts, patience, restore
        self.archive = Archive(frontier)
        self._frontier = frontier
        self._task_id = ""
        self._rng = np.random.default_rng(0)
        self._counts: Counter[str] = Counter()
        self._advantage: dict[Option, float] = defaultdict(float)
        self._begin(None)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start a trial; another task instance starts with an empty archive."""
        self._rng = np.random.default_rng(seed)
        if info["task_id"] != self._task_id:
            self._task_id, self.archive = info["task_id"], Archive(self._frontier)
        self._begin(None)

    def _begin(self, cell: Cell | None) -> None:
        """Continue from a cell, or from the start of an episode."""
        self._path = list(cell.path) if cell else []
        self._trail = list(cell.trail) if cell else []
        self._came_by = ""
        self._queue: list[str] = []
        self._best = cell.score if cell else 0.0
        self._idle = 0
        self._attempt: list[Option] = []
        self._over = cell is None and bool(self.archive.cells)
        self._target: Cell | None = cell

    # ------------------------------------------------------------ the loop's calls

    def back(self) -> Any:
        """Return the snapshot of the next state to explore from, once an attempt is over."""
        if not self._over or not self._trail:
            return None
        self._close()
        target = self._choose(self.archive.cells.values())
        if target is None:
            self._over = False
            return None
        if self.restore == "snapshot":
            self._counts["restored"] += 1
            self._begin(target)
            self._trail.pop()
            return target.kept
        self._counts["restarted"] += 1
        start = self.archive.start
        self._begin(start)
        self._trail.pop()
        self._target, self._queue = target, list(target.path)
        return start.kept

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action: of the way to a state, or one that was not tried there."""
        cell = self._arrive(obs, info)
        if self._over and self.keep_state is None:
            self._close()
            self._set_out(cell)
        if self._queue and obs["valid_actions"] and self._queue[0] not in obs["valid_actions"]:
            self._queue.clear()
        if self._queue:
            self._counts["replayed"] += 1
            action = self._queue.pop(0)
        else:
            action = self.decide(cell, obs)
            self._attempt.append(option_of(cell.where, action))
        self.archive.take(cell, action)
        self._came_by = action
        self._path.append(action)
        return action

    def update(self, transition: Transition) -> None:
        """Note what the step gained, and whether the attempt is over."""
        gain, score = transition.reward, float(transition.info["score"])
        here = self.archive.cells[self._trail[-1]]
        if gain:
            self.archive.note(_words(transition.obs["text"]), transition.action, gain)
            self._idle = 0
        self._best = max(self._best, score)
        if transition.terminated:
            self.archive.die(here, transition.action)
        self._over = self._over or transition.terminated or transition.truncated
        if transition.truncated or (transition.terminated and self.keep_state is None):
            self._close()

    def counters(self) -> dict[str, float]:
        """Return how often it went back and how, and the steps that were replays."""
        return {name: self._counts[name] for name in ("restored", "restarted", "replayed")}

    # ------------------------------------------------------------ attempts

    def _arrive(self, obs: Observation, info: dict[str, Any]) -> Cell:
        """Return the cell of the present state, made if it is new."""
        key = state_of(obs)
        archive, cell = self.archive, self.archive.cells.get(key)
        if self._trail and self._came_by:
            archive.cells[self._trail[-1]].ways[self._came_by] = key
        self._trail.append(key)
        score = float(info["score"])
        self._idle += 1
        if cell is None:
            cell = Cell(*_options(obs))
            if archive.add(key, cell, self._came_by):
                self._idle = 0
        if score > cell.score:
            kept = self.keep_state() if self.keep_state is not None else None
            cell.reach(tuple(self._path), tuple(self._trail), score, kept)
        wanting = self._idle >= self.patience or not cell.options
        self._over = self._over or (wanting and not self._queue)
        return cell

    def _close(self) -> None:
        """End an attempt: the frontier keeps its trajectory, its target what it gained."""
        self.archive.finish(self._best, tuple(self._trail))
        if self._target is not None:
            self._target.gains.append(self._best - self._target.score)
            self.reflect(self._target)

    def _choose(self, cells: Iterable[Cell]) -> Cell | None:
        """Return the cell to explore from: the present target until its attempts are made."""
        target = self._target
        open_cells = [cell for cell in cells if cell.options]
        if target in open_cells and len(target.gains) % self.attempts:
            return target
        self._advantage.clear()
        return self.select(open_cells)

    def _set_out(self, here: Cell) -> None:
        """Walk to the most promising state that known actions lead to."""
        routes = self.archive.routes(self._trail[-1])
        near = [cell for key, cell in self.archive.cells.items() if key in routes]
        target = self._choose(near)
        self._over, self._idle, self._target = False, 0, target
        self._best, self._attempt = here.score, []
        if target is not None:
            self._queue = list(routes[target.trail[-1]])

    # ------------------------------------------------------------ roles

    def select(self, cells: list[Cell]) -> Cell | None:
        """Return the most promising of the cells; None if there is none."""
        promise = {id(cell): self.archive.promise(cell) for cell in cells}
        return max(cells, key=lambda cell: promise[id(cell)], default=None)

    def decide(self, cell: Cell, obs: Observation) -> str:
        """Return an untried action of a cell by weighted chance, or any valid one."""
        options = list(cell.options)
        if not options:
            known = [action for action in obs["valid_actions"] if action not in cell.fatal]
            return known[int(self._rng.integers(len(known)))] if known else "look"
        weights = self.archive.weights(cell, _words(obs["text"]), self._advantage)
        noise = _NOISE * self._rng.gumbel(size=len(options))
        return options[int(np.argmax(np.log(weights) + noise))]

    def reflect(self, target: Cell) -> None:
        """Note the advantage of the last attempt over those before it for each of its actions."""
        *others, gain = target.gains
        for option in self._attempt:
            self._advantage[option] += gain - sum(others) / max(1, len(others))


def place_of(obs: Observation) -> str:
    """Return the place that the memory knows; empty if it knows none."""
    return next((t.object for t in obs["triples"] if t[:2] == (PLAYER, "is in")), "")


def state_of(obs: Observation) -> Key:
    """Return what distinguishes a state: place, facts about it, inventory, valid actions."""
    place, triples = place_of(obs), obs["triples"]
    about = frozenset(
        t for t in triples
        if place in (t.subject, t.object)
        and t.subject != PLAYER
        and not direction_of(t.relation)
        and t.relation not in (EXIT, UNEXPLORED)
    )  # fmt: skip
    carried = obs["inventory"] or frozenset(t.subject for t in triples if t.object == INVENTORY)
    return place, about, carried, obs["valid_actions"] or ("" if place else obs["text"])


def _options(obs: Observation) -> tuple[object, Iterable[str], frozenset[str]]:
    """Return what distinguishes places, what to try here, and the exits that were never taken.

    Without a place the listed moves are one. Without a list, guess from the facts and the text.
    """
    place, listed = place_of(obs), obs["valid_actions"]
    unread = frozenset(t.object for t in obs["triples"] if t[:2] == (place, UNEXPLORED))
    if listed:
        return place or tuple(filter(direction_in, listed)), listed, unread
    words = _words(obs["text"].lower())
    unread |= {way for way in DIRECTIONS if way in words}
    acts = [f"{verb} {thing}" for thing in things_of(obs) for verb in _GUESSES]
    return place, (*DIRECTIONS, *acts), unread


def things_of(obs: Observation) -> tuple[str, ...]:
    """Return the things that are known to be in this place or that the text names."""
    place, text = place_of(obs), obs["text"].lower()
    known = (t.subject for t in obs["triples"] if t.object == place and t.relation in LOCATIONS)
    things = dict.fromkeys([*known, *_NAMED.findall(text)])
    return tuple(thing for thing in things if thing != PLAYER and thing not in DIRECTIONS)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()[:400]))
