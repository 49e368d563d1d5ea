"""Experience kept for off-policy updates: bags, n-step transitions, a prioritized replay."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.settings import check_int, check_share

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["BagStore", "Batch", "Ints", "NStep", "Replay", "Sample", "StoredTransition", "torch"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


# ------------------------------------------------------------ bags


class Batch(NamedTuple):
    """Lists of numbers end to end, with the offset and the length of each."""

    values: Ints
    offsets: Ints
    lengths: Ints

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> Batch:
        """Lay lists end to end."""
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        numbers = itertools.chain.from_iterable(lists)
        values = np.fromiter(numbers, np.int64, int(lengths.sum()))
        return cls(values, np.cumsum(lengths) - lengths, lengths)


class BagStore:
    """Distinct bags, numbered as they come; the same action occurs in most observations."""

    def __init__(self) -> None:
        self._bags: dict[int, Any] = {}
        self._numbers: dict[Any, int] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._bags)

    def add(self, bags: Iterable[Any]) -> Ints:
        """Return the numbers of an observation's bags; store those that are new."""
        found = []
        for bag in bags:
            number = self._numbers.get(bag)
            if number is None:
                number = self._numbers[bag] = self._next
                self._bags[number] = bag
                self._next += 1
            found.append(number)
        return np.array(found, np.int64)

    def distinct(self, *columns: Ints) -> tuple[list[Any], list[Ints]]:
        """Return the distinct bags of some columns, and the columns as places among these."""
        numbers, places = np.unique(np.concatenate(columns), return_inverse=True)
        ends = np.cumsum([len(column) for column in columns])
        return [self._bags[number] for number in numbers.tolist()], np.split(places, ends[:-1])

    def keep(self, observations: Iterable[Ints]) -> None:
        """Forget all bags but those of some observations."""
        used = set(np.concatenate([*observations, np.zeros(0, np.int64)]).tolist())
        self._bags = {number: bag for number, bag in self._bags.items() if number in used}
        self._numbers = {bag: number for number, bag in self._bags.items()}

    def state(self) -> list[Any]:
        """Return the next number, then every bag with its own, as JSON-able values."""
        return [self._next, *self._bags.items()]

    def load_state(self, state: list[Any], bag_of: Callable[[Any], Any]) -> None:
        """Replace everything; ``bag_of`` makes a bag of JSON-able values."""
        self._next, *bags = state
        self._bags = {number: bag_of(stored) for number, stored in bags}
        self._numbers = {bag: number for number, bag in self._bags.items()}


# ------------------------------------------------------------ off-policy


class StoredTransition(NamedTuple):
    """A transition over up to n steps; at the end ``next_obs`` is None and ``discount`` 0.

    An observation is the numbers of its bags: that of the situation, then that of each action.
    """

    obs: Ints
    action: int
    reward: float
    next_obs: Ints | None
    discount: float


class NStep:
    """A queue that turns the steps of one episode into n-step transitions."""

    def __init__(self, n: int, gamma: float, steps: Iterable[tuple[Ints, int, float]] = ()):
        self.n, self.gamma = n, gamma
        self.steps = deque(steps)
        """Steps not yet given out, oldest first: observation, action, reward."""

    def add(
        self,
        obs: Ints,
        action: int,
        reward: float,
        next_obs: Ints | None,
        *,
        terminated: bool = False,
        truncated: bool = False,
    ) -> list[StoredTransition]:
        """Add a step; return the transitions that it completes, oldest first."""
        if truncated and not terminated:
            return self._flush(obs, end=False)
        self.steps.append((obs, action, reward))
        if terminated:
            return self._flush(None, end=True)
        if len(self.steps) < self.n:
            return []
        return [self._oldest(next_obs, end=False)]

    def _flush(self, next_obs: Ints | None, *, end: bool) -> list[StoredTransition]:
        return [self._oldest(next_obs, end=end) for _ in range(len(self.steps))]

    def _oldest(self, next_obs: Ints | None, *, end: bool) -> StoredTransition:
        total, discount = 0.0, 1.0
        for _, _, reward in self.steps:
            total += discount * reward
            discount *= self.gamma
        obs, action, _ = self.steps.popleft()
        return StoredTransition(obs, action, total, next_obs, 0.0 if end else discount)


class Sample(NamedTuple):
    """Transitions drawn, with their places and importance weights, of shape (batch,)."""

    places: Ints
    weights: Floats
    transitions: list[StoredTransition]


class Replay:
    """A ring of transitions, drawn in proportion to ``priority ** alpha`` (Schaul et al. 2016).

    A sum tree serves a draw and an update in O(log capacity), a batch at a time. A new transition
    gets the largest priority so far, so that each is drawn soon.

    Args:
        capacity: Transitions kept, >= 1; rounded up to a power of two.
        alpha: 0 draws evenly, 1 in full proportion.
        epsilon: Added to every priority, so that none is zero.
    """

    def __init__(self, capacity: int, alpha: float = 0.6, epsilon: float = 1e-3):
        self.capacity = 1 << (check_int("capacity", capacity, 1) - 1).bit_length()
        self.alpha, self.epsilon = check_share("alpha", alpha), epsilon
        self._tree = np.zeros(2 * self.capacity)
        self.transitions: list[StoredTransition] = []
        self._next = 0
        self._largest = 1.0

    def __len__(self) -> int:
        return len(self.transitions)

    def add(self, stored: StoredTransition) -> None:
        """Put a transition in the place of the oldest."""
        place = self._next
        self.transitions[place : place + 1] = [stored]
        self._set_one(place, self._largest)
        self._next = (place + 1) % self.capacity

    def draw(self, batch: int, beta: float, rng: np.random.Generator) -> Sample:
        """Draw transitions, one from each of ``batch`` equal shares of the priorities' sum.

        ``beta`` in [0, 1] corrects the uneven draw by importance sampling.
        """
        if not self.transitions:
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
        weights = (len(self) * chance) ** -beta
        drawn = [self.transitions[place] for place in places.tolist()]
        return Sample(places, weights / weights.max(), drawn)

    def update(self, places: Ints, errors: Floats) -> None:
        """Set the priorities of drawn transitions to their absolute errors."""
        priorities = np.abs(errors) + self.epsilon
        self._largest = max(self._largest, float(priorities.max()))
        self._set(places, priorities)

    def probabilities(self) -> Floats:
        """Return the chance of each stored transition to be drawn, by place, shape (size,)."""
        return self._tree[self.capacity : self.capacity + len(self)] / self._tree[1]

    def _set(self, places: Ints, priorities: Floats) -> None:
        tree, nodes = self._tree, places + self.capacity
        tree[nodes] = priorities**self.alpha
        while nodes[0] > 1:
            nodes >>= 1  # a node that is there twice is summed twice, which is faster than sorting
            tree[nodes] = tree[2 * nodes] + tree[2 * nodes + 1]

    def _set_one(self, place: int, priority: float) -> None:
        """Set a single priority, without arrays: a fifth of the time."""
        tree, node = self._tree, place + self.capacity
        tree[node] = (np.array([priority]) ** self.alpha)[0]  # as _set raises many
        while node > 1:
            node >>= 1
            tree[node] = tree[2 * node] + tree[2 * node + 1]

    def state(self) -> dict[str, Any]:
        """Return values as of JSON, observations as they are."""
        return {
            "transitions": self.transitions,
            "leaves": self._tree[self.capacity : self.capacity + len(self)].tolist(),
            "next": self._next,
            "largest": self._largest,
        }

    def load_state(self, record: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self.transitions = [
            StoredTransition(np.array(obs), action, reward, later and np.array(later), discount)
            for obs, action, reward, later, discount in record["transitions"]
        ]
        self._next, self._largest = record["next"], record["largest"]
        self._tree[:] = 0
        self._tree[self.capacity : self.capacity + len(self)] = record["leaves"]
        for node in range(self.capacity - 1, 0, -1):
            self._tree[node] = self._tree[2 * node] + self._tree[2 * node + 1]
