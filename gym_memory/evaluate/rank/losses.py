"""Explain a memory's losses: the costliest games, and the abilities that the exam missed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gym_memory.evaluate.rank.card import Card
from gym_memory.evaluate.rank.suite import SuiteCell

__all__ = ["LostGame", "best_of", "lost_abilities", "lost_games"]

_LOST_SHARE = 0.1
"""Smallest gap in the share of right answers that counts as a lost ability."""


class LostGame(NamedTuple):
    """A game in which the best memory scored higher."""

    memory: str
    best: str
    env: str
    policy: str
    task: str
    budget: int
    score: float
    best_score: float

    def command(self, out: str) -> str:
        """Return the command that plays the game with both memories and shows where they differ."""
        words = ["gym-memory", "compare", "-e", self.env, "-m", self.best, "-m", self.memory]
        words += ["-p", self.policy, "--task-id", self.task, "--seeds", "0"]
        words += ["--budget", str(self.budget), "--out", out]
        show = ["gym-memory", "view", out, "--episode", "0", "--episode", "1"]
        return f"{shlex.join(words)}; {shlex.join(show)}"


def best_of(cards: Sequence[Card], own: Sequence[str]) -> str:
    """Return the best-ranked memory of others; empty if there is none."""
    found = (c.memory for c in cards if c.rank and not c.control and c.memory not in own)
    return next(found, "")


def lost_games(
    own: Mapping[str, Sequence[SuiteCell]], best: str, theirs: Sequence[SuiteCell], most: int = 3
) -> list[LostGame]:
    """Return the games that cost the user's memories most, worst first, one budget per game."""
    known = {(cell.part, cell.env, cell.policy, cell.budget): cell for cell in theirs}
    found: dict[tuple[str, ...], LostGame] = {}
    for memory, cells in own.items():
        for cell in cells:
            other = known.get((cell.part, cell.env, cell.policy, cell.budget))
            if other is None or other.tasks != cell.tasks or cell.policy == "random":
                continue
            for task, ours, them in zip(cell.tasks, cell.scores, other.scores, strict=True):
                game = LostGame(memory, best, cell.env, cell.policy, task, cell.budget, ours, them)
                key = (memory, cell.env, cell.policy, task)
                if them - ours > 0 and (key not in found or _cost(game) > _cost(found[key])):
                    found[key] = game
    return sorted(found.values(), key=_cost, reverse=True)[:most]


def _cost(game: LostGame) -> float:
    return game.best_score - game.score


def lost_abilities(own: Card, best: Card) -> list[tuple[str, float, float]]:
    """Return the abilities of the exam with both shares of right answers, worst first."""
    found = [
        (name, ours.value, best.abilities[name].value)
        for name, ours in own.abilities.items()
        if name in best.abilities
    ]
    lost = [
        (name, ours, theirs)
        for name, ours, theirs in found
        if ours is not None and theirs is not None and theirs - ours >= _LOST_SHARE
    ]
    return sorted(lost, key=lambda each: each[1] - each[2])
