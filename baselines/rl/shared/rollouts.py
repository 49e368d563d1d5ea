"""Experience kept for on-policy updates, and the loss of actor and critic over it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.rl.shared.bags import Ints, torch
from gym_memory.baselines.rl.shared.learner import Experience

__all__ = ["NEVER", "LogitTable", "RolloutStep", "Rollouts", "cells"]

NEVER = -1e9
"""Logit of a cell without an action."""


class LogitTable(NamedTuple):
    """Logits of shape (observations, most actions), and the value of each observation.

    Rows with fewer actions are filled with :data:`NEVER`.
    """

    logits: torch.Tensor
    values: torch.Tensor


def cells(counts: Ints, device: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return row and column of every action in a table of observations by actions."""
    rows = np.repeat(np.arange(len(counts)), counts)
    columns = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return torch.from_numpy(rows).to(device), torch.from_numpy(columns).to(device)


class RolloutStep(NamedTuple):
    """A step of a rollout; ``last`` is 1 if it ended the game, 2 if the episode was truncated."""

    seen: Any
    action: int
    reward: float
    last: int


class Rollouts:
    """Steps of every slot since the last update, and the observation after them."""

    def __init__(self) -> None:
        self._steps: dict[int, list[RolloutStep]] = {}
        self._after: dict[int, Any] = {}

    def add(self, slot: int, experience: Experience) -> None:
        """Add a step to the slot's rollout."""
        e = experience
        last = 1 if e.terminated else 2 if e.truncated else 0
        self._steps.setdefault(slot, []).append(RolloutStep(e.seen, e.action, e.reward, last))
        self._after[slot] = e.next_seen

    def ready(self, n_steps: int) -> bool:
        """True if every slot has that many steps."""
        return bool(self._steps) and min(map(len, self._steps.values())) >= n_steps

    def steps(self) -> list[RolloutStep]:
        """Return all steps, slot after slot."""
        return [step for slot in sorted(self._steps) for step in self._steps[slot]]

    def clear(self) -> None:
        """Forget the steps; the present observations stay."""
        self._steps = {}

    def returns(
        self,
        values: NDArray[np.floating[Any]],
        gamma: float,
        critic: Callable[[list[Any]], list[float]],
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the discounted returns of all steps, slot after slot, and which steps count.

        Args:
            values: The critic's values of all steps, shape (steps,).
            gamma: Discount per step.
            critic: Returns the values of observations, for unfinished episodes.
        """
        open_slots = [slot for slot in sorted(self._steps) if not self._steps[slot][-1].last]
        found = critic([self._after[slot] for slot in open_slots]) if open_slots else []
        later = dict(zip(open_slots, found, strict=True))
        returns, counted = np.zeros(len(values)), np.ones(len(values), bool)
        end = 0
        for slot in sorted(self._steps):
            steps = self._steps[slot]
            begin, end = end, end + len(steps)
            following = later.get(slot, 0.0)
            for place in range(end - 1, begin - 1, -1):
                step = steps[place - begin]
                if step.last == 2:
                    following = returns[place] = float(values[place])
                    counted[place] = False
                    continue
                if step.last:
                    following = 0.0
                following = returns[place] = step.reward + gamma * following
        return returns, counted

    def loss(
        self,
        read: Callable[[list[Any]], LogitTable],
        *,
        gamma: float,
        entropy: float,
        value_weight: float,
    ) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of advantage actor-critic with an entropy bonus, and values to log.

        ``read`` returns logits and values of observations.
        """

        def critic(seen: list[Any]) -> list[float]:
            with torch.no_grad():
                values: list[float] = read(seen).values.cpu().tolist()
            return values

        steps = self.steps()
        table = read([step.seen for step in steps])
        device = table.values.device
        values = table.values.detach().cpu().numpy()
        returns, counted = self.returns(values, gamma, critic)
        target = torch.from_numpy(returns.astype(np.float32)).to(device)
        weight = torch.from_numpy(counted.astype(np.float32)).to(device)
        log = torch.log_softmax(table.logits, 1)
        spread = -(log.exp() * log).sum(1)
        actions = torch.tensor([step.action for step in steps], device=device)
        chosen = log.gather(1, actions[:, None]).squeeze(1)
        gain = target - table.values.detach()
        error = (target - table.values) ** 2
        each = -chosen * gain + value_weight * error - entropy * spread
        loss = (weight * each).sum() / weight.sum().clamp(min=1.0)
        return loss, {
            "loss": float(loss.detach()),
            "value": float(table.values.detach().mean()),
            "entropy": float(spread.detach().mean()),
        }

    def state(self, pack: Callable[[Any], Any]) -> dict[str, Any]:
        """Return JSON-able values; ``pack`` converts observations to them."""
        return {
            "rollouts": {
                str(slot): [[pack(step.seen), *step[1:]] for step in steps]
                for slot, steps in self._steps.items()
            },
            "after": {str(slot): pack(seen) for slot, seen in self._after.items()},
        }

    def load_state(self, record: dict[str, Any], unpack: Callable[[Any], Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._steps = {
            int(slot): [RolloutStep(unpack(seen), *rest) for seen, *rest in steps]
            for slot, steps in record["rollouts"].items()
        }
        self._after = {int(slot): unpack(seen) for slot, seen in record["after"].items()}
