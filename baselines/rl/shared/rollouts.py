"""Rollouts of an actor-critic: the latest steps of every slot, their returns, and the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.core.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["NEVER", "Rollouts", "Step", "Table", "actor_critic_loss"]

Floats = NDArray[np.floating[Any]]

NEVER = -1e9
"""Logit of a place in the table that holds no action."""


class Table(NamedTuple):
    """Several observations, their actions side by side.

    Attributes:
        logits: Of shape (observations, most actions); :data:`NEVER` where there is no action.
        values: The critic's, of shape (observations,).
    """

    logits: torch.Tensor
    values: torch.Tensor


class Step(NamedTuple):
    """A step of a rollout; ``last`` is 1 where it ended the game, 2 where the episode was cut."""

    seen: Any
    action: int
    reward: float
    last: int


class Weights(Protocol):
    """The settings that the loss goes by."""

    @property
    def entropy(self) -> float: ...

    @property
    def value_weight(self) -> float: ...


class Rollouts:
    """The steps of every slot since the last update, and what is seen after them."""

    def __init__(self) -> None:
        self._steps: dict[int, list[Step]] = {}
        self._after: dict[int, Any] = {}

    def add(self, slot: int, experience: Experience) -> None:
        """Add a step to the slot's rollout."""
        e = experience
        last = 1 if e.terminated else 2 if e.truncated else 0
        self._steps.setdefault(slot, []).append(Step(e.seen, e.action, e.reward, last))
        self._after[slot] = e.next_seen

    def ready(self, n_steps: int) -> bool:
        """Whether every slot has that many steps."""
        return bool(self._steps) and min(map(len, self._steps.values())) >= n_steps

    def steps(self) -> list[Step]:
        """All steps, slot after slot."""
        return [step for slot in sorted(self._steps) for step in self._steps[slot]]

    def clear(self) -> None:
        """Forget the steps; what is seen now stays."""
        self._steps = {}

    def returns(
        self, values: Floats, gamma: float, critic: Callable[[list[Any]], list[float]]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Discounted returns of all steps, slot after slot, and which steps count.

        A step whose episode was cut does not count: the environment lists no actions after it, so
        there is nothing to go on from. Its predecessors go on from the value of its own state.

        Args:
            values: The critic's of all steps, shape (steps,).
            gamma: Discount a step.
            critic: Values of what is seen after the last steps of slots whose episode goes on.
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

    def state(self, pack: Callable[[Any], Any]) -> dict[str, Any]:
        """As JSON-able values; ``pack`` makes such of what was seen."""
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
            int(slot): [Step(unpack(seen), *rest) for seen, *rest in steps]
            for slot, steps in record["rollouts"].items()
        }
        self._after = {int(slot): unpack(seen) for slot, seen in record["after"].items()}


def actor_critic_loss(
    table: Table, actions: list[int], returns: Floats, counted: NDArray[np.bool_], settings: Weights
) -> tuple[torch.Tensor, dict[str, float]]:
    """Loss of advantage actor-critic with an entropy bonus, and what to log of it."""
    device = table.values.device
    target = torch.from_numpy(returns.astype(np.float32)).to(device)
    weight = torch.from_numpy(counted.astype(np.float32)).to(device)
    log = torch.log_softmax(table.logits, 1)
    entropy = -(log.exp() * log).sum(1)
    chosen = log.gather(1, torch.tensor(actions, device=device)[:, None]).squeeze(1)
    gain = target - table.values.detach()
    error = (target - table.values) ** 2
    each = -chosen * gain + settings.value_weight * error - settings.entropy * entropy
    loss = (weight * each).sum() / weight.sum().clamp(min=1.0)
    return loss, {
        "loss": float(loss.detach()),
        "value": float(table.values.detach().mean()),
        "entropy": float(entropy.detach().mean()),
    }
