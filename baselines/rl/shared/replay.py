"""Replay: n-step returns on the way in, draws in proportion to priorities on the way out."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from gym_memory.baselines.rl.shared.interning import Ints
from numpy.typing import NDArray

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.settings import check_int

__all__ = ["NStep", "Replay", "Sample", "Stored"]

Floats = NDArray[np.float64]


class Stored(NamedTuple):
    """A transition over up to n steps.

    Attributes:
        obs: Number of the observation.
        action: Number of the action taken there.
        reward: Discounted sum of the rewards in between.
        next_obs: Number of the observation to go on from; -1 where the episode ended.
        discount: gamma to the power of the steps in between; 0 where the episode ended.
    """

    obs: int
    action: int
    reward: float
    next_obs: int
    discount: float


class NStep:
    """Turns the steps of one episode into n-step transitions.

    A step whose episode is cut (truncated) has no value of its own to go on from: the
    environment lists no actions there. Its predecessors go on from the observation before it,
    and the last step itself is dropped: being out of time is no property of the state.

    Args:
        n: Steps, >= 1.
        gamma: Discount a step, in [0, 1].
    """

    def __init__(self, n: int, gamma: float):
        self.n, self.gamma = n, gamma
        self._steps: deque[tuple[int, int, float]] = deque()

    def add(
        self,
        obs: int,
        action: int,
        reward: float,
        next_obs: int,
        *,
        terminated: bool = False,
        truncated: bool = False,
    ) -> list[Stored]:
        """Take in a step; returns the transitions that it completed, oldest first."""
        steps = self._steps
        if truncated and not terminated:
            return self._flush(obs, end=False)
        steps.append((obs, action, reward))
        if terminated:
            return self._flush(-1, end=True)
        if len(steps) < self.n:
            return []
        return [self._oldest(next_obs, end=False)]

    def _flush(self, next_obs: int, *, end: bool) -> list[Stored]:
        found = []
        while self._steps:
            found.append(self._oldest(next_obs, end=end))
        return found

    def _oldest(self, next_obs: int, *, end: bool) -> Stored:
        total, discount = 0.0, 1.0
        for _, _, reward in self._steps:
            total += discount * reward
            discount *= self.gamma
        obs, action, _ = self._steps.popleft()
        return Stored(obs, action, total, next_obs, 0.0 if end else discount)

    def observations(self) -> list[int]:
        """The observations of steps not yet given out."""
        return [obs for obs, _, _ in self._steps]

    def rename(self, renamed: Ints) -> None:
        """Give these observations other numbers: ``renamed[old]`` is the new one."""
        self._steps = deque((int(renamed[obs]), a, r) for obs, a, r in self._steps)

    def state(self) -> list[list[float]]:
        """Steps not yet given out."""
        return [list(step) for step in self._steps]

    def load_state(self, state: list[list[float]]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._steps = deque((int(o), int(a), float(r)) for o, a, r in state)


class Sample(NamedTuple):
    """Transitions drawn, as columns of shape (batch,).

    Attributes:
        places: Where they stand, for :meth:`Replay.update`.
        weights: Importance weights, the largest 1.
    """

    places: Ints
    weights: Floats
    obs: Ints
    actions: Ints
    rewards: Floats
    next_obs: Ints
    discounts: Floats


class Replay:
    """A ring of transitions, drawn in proportion to ``priority ** alpha`` (Schaul et al. 2016).

    A sum tree answers a draw and an update in O(log capacity), a batch at a time. A new
    transition gets the largest priority so far, so that each is drawn soon.

    Args:
        capacity: Transitions kept, >= 1; rounded up to a power of two.
        alpha: 0 draws evenly, 1 in full proportion.
        epsilon: Added to every priority, so that none is zero.
    """

    def __init__(self, capacity: int, alpha: float = 0.6, epsilon: float = 1e-3):
        check_int("capacity", capacity, 1)
        if not 0 <= alpha <= 1:
            raise InvalidArgumentError(f"expected alpha in [0, 1], got {alpha!r}")
        self.capacity = 1 << max(capacity - 1, 0).bit_length()
        self.alpha, self.epsilon = alpha, epsilon
        self._tree = np.zeros(2 * self.capacity)
        self._ints = np.zeros((self.capacity, 3), np.int64)
        self._floats = np.zeros((self.capacity, 2))
        self._next = self._size = 0
        self._largest = 1.0

    def __len__(self) -> int:
        return self._size

    def add(self, stored: Stored, boost: float = 1.0) -> None:
        """Keep a transition in the place of the oldest.

        Args:
            stored: The transition.
            boost: Factor on its first priority, > 0.
        """
        place = self._next
        self._ints[place] = stored.obs, stored.action, stored.next_obs
        self._floats[place] = stored.reward, stored.discount
        self._set(np.array([place]), np.array([self._largest * boost]))
        self._next = (place + 1) % self.capacity
        self._size = min(self._size + 1, self.capacity)

    def draw(self, batch: int, beta: float, rng: np.random.Generator) -> Sample:
        """Draw transitions, one from each of ``batch`` equal shares of the priorities' sum.

        Args:
            batch: How many.
            beta: 0: no correction of the uneven draw, 1: full (importance sampling).
            rng: Chance.

        Raises:
            InvalidArgumentError: Nothing is stored.
        """
        if not self._size:
            raise InvalidArgumentError("expected a replay with transitions, got an empty one")
        total = self._tree[1]
        mass = (np.arange(batch) + rng.random(batch)) / batch * total
        places = np.ones(batch, np.int64)
        while places[0] < self.capacity:
            places *= 2
            left = self._tree[places]
            right = mass >= left
            # Rounding may lead into an empty branch; there is always one that is not.
            right &= self._tree[places + 1] > 0
            mass = np.where(right, mass - left, mass)
            places += right
        chance = self._tree[places] / total
        places -= self.capacity
        weights = (self._size * chance) ** -beta
        ints, floats = self._ints[places], self._floats[places]
        return Sample(
            places,
            weights / weights.max(),
            ints[:, 0],
            ints[:, 1],
            floats[:, 0],
            ints[:, 2],
            floats[:, 1],
        )

    def update(self, places: Ints, errors: Floats) -> None:
        """Set the priorities of drawn transitions to their absolute errors."""
        priorities = np.abs(errors) + self.epsilon
        self._largest = max(self._largest, float(priorities.max()))
        self._set(places, priorities)

    def observations(self) -> Ints:
        """The observations that are stored, distinct and in order."""
        found = np.unique(self._ints[: self._size, ::2])
        return found[found >= 0]

    def rename(self, renamed: Ints) -> None:
        """Give the stored observations other numbers: ``renamed[old]`` is the new one."""
        for column in (0, 2):
            old = self._ints[: self._size, column]
            self._ints[: self._size, column] = np.where(old >= 0, renamed[old], -1)

    def probabilities(self) -> Floats:
        """Chance of each stored transition to be drawn, by place, shape (size,)."""
        return self._tree[self.capacity : self.capacity + self._size] / self._tree[1]

    def _set(self, places: Ints, priorities: Floats) -> None:
        nodes = places + self.capacity
        self._tree[nodes] = priorities**self.alpha
        while nodes[0] > 1:
            nodes = np.unique(nodes // 2) if len(nodes) > 1 else nodes // 2
            self._tree[nodes] = self._tree[2 * nodes] + self._tree[2 * nodes + 1]

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and plain values."""
        size = self._size
        arrays = {
            "ints": self._ints[:size].copy(),
            "floats": self._floats[:size].copy(),
            "leaves": self._tree[self.capacity : self.capacity + size].copy(),
        }
        return arrays, {"next": self._next, "largest": self._largest}

    def load_state(self, arrays: dict[str, NDArray[Any]], record: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        size = len(arrays["ints"])
        self._size, self._next, self._largest = size, record["next"], record["largest"]
        self._ints[:size], self._floats[:size] = arrays["ints"], arrays["floats"]
        self._tree[:] = 0
        self._tree[self.capacity : self.capacity + size] = arrays["leaves"]
        for node in range(self.capacity - 1, 0, -1):
            self._tree[node] = self._tree[2 * node] + self._tree[2 * node + 1]
