"""Experience kept for off-policy updates: distinct lists of numbers, a prioritized replay."""

from __future__ import annotations

import itertools
from collections import deque
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

__all__ = ["Batch", "Ints", "NStep", "RaggedLists", "Replay", "Sample", "StoredTransition"]
__all__ += ["first_best", "gather_distinct", "torch"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


# ------------------------------------------------------------ lists of numbers


class Batch(NamedTuple):
    """Lists of numbers end to end, with the offset and the length of each."""

    values: Ints
    offsets: Ints
    lengths: Ints

    def split(self) -> tuple[Ints, Batch]:
        """Return the first number of each list, and the lists without it; no list is empty."""
        is_rest = np.ones(len(self.values), bool)
        is_rest[self.offsets] = False
        offsets = self.offsets - np.arange(len(self.offsets))
        return self.values[self.offsets], Batch(self.values[is_rest], offsets, self.lengths - 1)

    def take(self, which: Ints) -> Batch:
        """Return some of the lists, in the order given."""
        return _gather(self.values, self.offsets[which], self.lengths[which])


def _gather(values: NDArray[Any], starts: Ints, lengths: Ints) -> Batch:
    offsets = np.cumsum(lengths) - lengths
    where = np.arange(int(lengths.sum())) + np.repeat(starts - offsets, lengths)
    return Batch(values[where].astype(np.int64), offsets, lengths)


class RaggedLists:
    """Distinct lists of non-negative numbers, each stored once under its own number.

    The same action in the same relations occurs in most observations of an episode.
    """

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._ids: dict[tuple[int, ...], int] = {}
        self._values = np.zeros(1024, np.int32)
        self._starts = np.zeros(257, np.int64)
        self._used = 0

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, values: tuple[int, ...]) -> int:
        """Return the number of a list; store it if it is new."""
        number = self._ids.get(values)
        if number is None:
            number = self._ids[values] = len(self._ids)
            end = self._used + len(values)
            if end > len(self._values):
                self._values = np.resize(self._values, max(end, 2 * len(self._values)))
            if number + 2 > len(self._starts):
                self._starts = np.resize(self._starts, 2 * len(self._starts))
            self._values[self._used : end] = values
            self._starts[number + 1] = self._used = end
        return number

    def gather(self, numbers: Ints) -> Batch:
        """Return the lists of these numbers."""
        starts = self._starts[numbers]
        return _gather(self._values, starts, self._starts[numbers + 1] - starts)

    def keep(self, numbers: Ints) -> Ints:
        """Forget all lists but these, which become 0, 1, ...; return old number to new, or -1."""
        kept = self.gather(numbers)
        renamed = np.full(len(self), -1, np.int64)
        renamed[numbers] = np.arange(len(numbers))
        starts = np.concatenate([kept.offsets, [len(kept.values)]])
        self.load_state({"values": kept.values.astype(np.int32), "starts": starts})
        return renamed

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all lists end to end, and the start of each with the end of the last."""
        return {
            "values": self._values[: self._used].copy(),
            "starts": self._starts[: len(self) + 1].copy(),
        }

    def load_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._clear()
        flat = arrays["values"].tolist()
        for start, end in itertools.pairwise(arrays["starts"].tolist()):
            self.add(tuple(flat[start:end]))


def gather_distinct(store: Any, *columns: Ints) -> tuple[Any, list[Ints]]:
    """Return the distinct items that some columns name, and the columns as numbers of these."""
    used, where = np.unique(np.concatenate(columns), return_inverse=True)
    return store.gather(used), np.split(where, np.cumsum([len(c) for c in columns])[:-1])


def first_best(values: NDArray[Any], lists: Batch) -> Ints:
    """Return where the greatest value of each list is, the first of equal ones; none is empty."""
    greatest = np.maximum.reduceat(values, lists.offsets)
    found = np.flatnonzero(values == np.repeat(greatest, lists.lengths))
    return found[np.searchsorted(found, lists.offsets)]


# ------------------------------------------------------------ off-policy


class StoredTransition(NamedTuple):
    """A transition over up to n steps; ``next_obs`` is -1 and ``discount`` 0 at the end."""

    obs: int
    action: int
    reward: float
    next_obs: int
    discount: float


class NStep:
    """A queue that turns the steps of one episode into n-step transitions."""

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
    ) -> list[StoredTransition]:
        """Add a step; return the transitions that it completes, oldest first."""
        if truncated and not terminated:
            return self._flush(obs, end=False)
        self._steps.append((obs, action, reward))
        if terminated:
            return self._flush(-1, end=True)
        if len(self._steps) < self.n:
            return []
        return [self._oldest(next_obs, end=False)]

    def _flush(self, next_obs: int, *, end: bool) -> list[StoredTransition]:
        return [self._oldest(next_obs, end=end) for _ in range(len(self._steps))]

    def _oldest(self, next_obs: int, *, end: bool) -> StoredTransition:
        total, discount = 0.0, 1.0
        for _, _, reward in self._steps:
            total += discount * reward
            discount *= self.gamma
        obs, action, _ = self._steps.popleft()
        return StoredTransition(obs, action, total, next_obs, 0.0 if end else discount)

    def observations(self) -> list[int]:
        """Return the observations of steps not yet given out."""
        return [obs for obs, _, _ in self._steps]

    def rename(self, renamed: Ints) -> None:
        """Give the observations other numbers: ``renamed[old]`` is the new one."""
        self._steps = deque((int(renamed[obs]), a, r) for obs, a, r in self._steps)

    def state(self) -> list[list[float]]:
        """Return the steps not yet given out."""
        return [list(step) for step in self._steps]

    def load_state(self, state: list[list[float]]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._steps = deque((int(o), int(a), float(r)) for o, a, r in state)


class Sample(NamedTuple):
    """Transitions drawn, with their places and importance weights; columns of shape (batch,)."""

    places: Ints
    weights: Floats
    obs: Ints
    actions: Ints
    rewards: Floats
    next_obs: Ints
    discounts: Floats


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
        self._ints = np.zeros((self.capacity, 3), np.int64)
        self._floats = np.zeros((self.capacity, 2))
        self._next = self._size = 0
        self._largest = 1.0

    def __len__(self) -> int:
        return self._size

    def add(self, stored: StoredTransition, boost: float = 1.0) -> None:
        """Put a transition in the place of the oldest, its first priority times ``boost``."""
        place = self._next
        self._ints[place] = stored.obs, stored.action, stored.next_obs
        self._floats[place] = stored.reward, stored.discount
        self._set_one(place, self._largest * boost)
        self._next = (place + 1) % self.capacity
        self._size = min(self._size + 1, self.capacity)

    def draw(self, batch: int, beta: float, rng: np.random.Generator) -> Sample:
        """Draw transitions, one from each of ``batch`` equal shares of the priorities' sum.

        ``beta`` in [0, 1] corrects the uneven draw by importance sampling.
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
        obs, actions, next_obs = self._ints[places].T
        rewards, discounts = self._floats[places].T
        return Sample(places, weights / weights.max(), obs, actions, rewards, next_obs, discounts)

    def update(self, places: Ints, errors: Floats) -> None:
        """Set the priorities of drawn transitions to their absolute errors."""
        priorities = np.abs(errors) + self.epsilon
        self._largest = max(self._largest, float(priorities.max()))
        self._set(places, priorities)

    def observations(self) -> Ints:
        """Return the observations that are stored, distinct and in order."""
        found = np.unique(self._ints[: self._size, ::2])
        return found[found >= 0]

    def rename(self, renamed: Ints) -> None:
        """Give the observations other numbers: ``renamed[old]`` is the new one."""
        for column in (0, 2):
            old = self._ints[: self._size, column]
            self._ints[: self._size, column] = np.where(old >= 0, renamed[old], -1)

    def probabilities(self) -> Floats:
        """Return the chance of each stored transition to be drawn, by place, shape (size,)."""
        return self._tree[self.capacity : self.capacity + self._size] / self._tree[1]

    def _set(self, places: Ints, priorities: Floats) -> None:
        tree, nodes = self._tree, places + self.capacity
        tree[nodes] = priorities**self.alpha
        while nodes[0] > 1:
            nodes >>= 1  # a node that is there twice is summed twice, which is faster than sorting
            tree[nodes] = tree[2 * nodes] + tree[2 * nodes + 1]

    def _set_one(self, place: int, priority: float) -> None:
        tree, node = self._tree, place + self.capacity
        tree[node] = (np.array([priority]) ** self.alpha)[0]  # as _set raises many
        while node > 1:
            node >>= 1
            tree[node] = tree[2 * node] + tree[2 * node + 1]

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return arrays and plain values."""
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
