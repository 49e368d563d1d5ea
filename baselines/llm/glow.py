"""GLoW (arXiv 2509.24116): a language model reads the best trajectories and compares attempts.

The explorer keeps the archive and restores states. The model chooses the state to explore from
(global analysis), acts there (with ReAct's prompt) and writes down advantages between attempts
(local reflection). The paper's analysis and choice of a state are one call here.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from gym_memory.baselines.llm.react import React, ReactSettings
from gym_memory.baselines.rules.archive import Cell
from gym_memory.baselines.rules.explorer import Explorer
from gym_memory.core.errors import ModelError
from gym_memory.core.records import Observation, Step, Transition
from gym_memory.memory.roles.text import prose, trace_text

__all__ = ["Glow", "GlowSettings"]

_MAX_STATES, _MAX_ACTIONS, _TRACE_TOKENS = 20, 60, 4000
_NUMBER = re.compile(r"^\W*state\W*:\D*(\d+)", re.IGNORECASE | re.MULTILINE)


@dataclasses.dataclass(frozen=True, kw_only=True)
class GlowSettings(ReactSettings):
    """Settings of GLoW: ReAct's and those of the explorer, which checks them.

    Attributes:
        frontier: Best trajectories that the model reads; 5 in the paper.
        attempts: Attempts from a state, each with notes on earlier ones; 3 in the paper.
        patience: Steps of an attempt without anything new.
        restore: ``snapshot`` or ``replay``.
    """

    frontier: int = 5
    attempts: int = 3
    patience: int = 8
    restore: str = "snapshot"


class Glow(React):
    """GLoW: the explorer with a model in its three roles."""

    settings_class = GlowSettings
    settings: GlowSettings

    def set_up(self) -> None:
        """Start with an empty archive."""
        own = self.settings
        self.search = _GlowExplorer(self, own.frontier, own.attempts, own.patience, own.restore)
        self._task = ""
        self._notes: list[str] = []
        self._trace: list[Step] = []

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode; keep the archive of the same task."""
        super().reset(info, seed)
        self.search.keep_state = self.keep_state
        self.search.reset(info, seed)
        self._trace = []

    def back(self) -> Any:
        """Return the snapshot of the model's chosen state; None while an attempt goes on."""
        kept = self.search.back()
        if kept is not None:
            self._past, self._acted, self._trace = [], False, []
        return kept

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action on the way to the chosen state, or the model's action there."""
        self._task = obs["task"]
        return self.search.act(obs, info)

    def update(self, transition: Transition) -> None:
        """Record the step."""
        super().update(transition)
        text, reward = transition.next_obs["text"], self.reward_of(transition)
        self._trace.append(Step(len(self._trace), text, transition.action, reward))
        self.search.update(transition)

    def counters(self) -> dict[str, float]:
        """Return the counts of unusable answers and of restored states."""
        return {**super().counters(), **self.search.counters()}

    def situation(self, obs: Observation) -> dict[str, str]:
        """Return the slots, including notes on earlier attempts from the same state."""
        return {**super().situation(obs), "lessons": "\n".join(self._notes)}

    # ------------------------------------------------------------ the explorer's roles

    def choose(self, obs: Observation) -> str:
        """Return the model's action."""
        return super().act(obs, {})

    def select(self, cells: list[Cell]) -> Cell | None:
        """Return the model's choice among the most promising cells, or the first of them."""
        self._notes = []
        promise = self.search.archive.promise
        best = sorted(cells, key=promise, reverse=True)[:_MAX_STATES]
        return self.attempt(lambda: best[self._ask_state(best)], best[0]) if best else None

    def _ask_state(self, cells: list[Cell]) -> int:
        states = "\n".join(f"{i}. {_describe(cell)}" for i, cell in enumerate(cells, 1))
        answer = self.ask("glow_states", task=self._task, frontier=self._frontier(), states=states)
        found = _NUMBER.search(answer.text)
        number = int(found[1]) if found else 0
        if not 1 <= number <= len(cells):
            raise ModelError(
                "answer", f"expected 'State: 1' to {len(cells)}, got {answer.text[:200]!r}"
            )
        return number - 1

    def _frontier(self) -> str:
        archive = self.search.archive
        return "\n".join(
            f"{best:g} points: {', '.join(archive.cells[trail[-1]].path[-_MAX_ACTIONS:])}"
            for best, trail in archive.frontier
        )

    def reflect(self, target: Cell) -> None:
        """Add the model's notes on the last attempt to the earlier ones."""
        before = "\n".join(self._notes)
        trace = trace_text(self._trace, _TRACE_TOKENS)
        gain = f"{target.gains[-1]:g} points more than the {target.score:g} at its start."
        slots = {"frontier": self._frontier(), "previous": before, "trace": trace}
        answer = self.attempt(
            lambda: prose(self.ask("glow_notes", task=self._task, evaluation=gain, **slots).text),
            "",
        )
        self._notes += [answer[:2000]] if answer else []


class _GlowExplorer(Explorer):
    """An explorer that delegates its roles."""

    def __init__(self, owner: Glow, *args: Any):
        super().__init__(*args)
        self._owner = owner

    def select(self, cells: list[Cell]) -> Cell | None:
        return self._owner.select(cells)

    def decide(self, cell: Cell, obs: Observation) -> str:
        return self._owner.choose(obs)

    def reflect(self, target: Cell) -> None:
        self._owner.reflect(target)


def _describe(cell: Cell) -> str:
    place = cell.where if isinstance(cell.where, str) else "a place without a name"
    last = ", ".join(cell.path[-5:]) or "the start"
    tried = f"{len(cell.gains)} attempts, at best {max(cell.gains, default=0):g} points more"
    return (
        f"{place}; {cell.score:g} points; after {last}; untried: {', '.join(cell.options)}; {tried}"
    )
