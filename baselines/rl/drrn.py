"""DRRN (He et al. 2016): Q(situation, action) from encodings of both, any number of actions.

Differences from the paper: double DQN with a target network, n-step returns, prioritized replay, a
network over both encodings instead of an inner product, and relations of recalled facts without
names as features (:mod:`gym_memory.baselines.rl.shared.features`).
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.rl.shared.bags import (
    BagEncoder,
    BagLearner,
    BagSettings,
    BagStore,
    Batch,
    Ints,
    ObservationBags,
    torch,
)
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.settings import Help, check_int, check_share

__all__ = ["DrrnLearner", "DrrnSettings", "NStep", "Replay", "StoredTransition"]


@dataclasses.dataclass(frozen=True)
class DrrnSettings(BagSettings):
    """Settings of DRRN, beyond those of every learner that sees bags."""

    n_steps: Annotated[int, Help("Steps of a return before the network's own estimate.", 1)] = 3
    batch: Annotated[int, Help("Transitions per update.", low=1)] = 64
    capacity: Annotated[int, Help("Transitions in the replay, at least a batch.", low=1)] = 65536
    alpha: Annotated[float, Help("Prioritization: 0 none, 1 full.", low=0, high=1)] = 0.6
    beta: Annotated[float, Help("Importance sampling: 0 none, 1 full.", low=0, high=1)] = 0.4
    learn_start: Annotated[int, Help("Steps before the first update.", low=0)] = 500
    update_every: Annotated[int, Help("Environment steps per update.", low=1)] = 4
    target_every: Annotated[int, Help("Updates between copies to the target network.", 1)] = 200
    epsilon_start: Annotated[float, Help("Share of random actions at the start.", 0, 1)] = 1.0
    epsilon_end: Annotated[float, Help("Share of random actions at the end.", low=0, high=1)] = 0.05
    epsilon_steps: Annotated[int, Help("Steps over which the share falls.", low=0)] = 8000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("capacity", self.capacity, self.batch)


class QNetwork(torch.nn.Module):
    """Q = w . relu(A s + B a + c), with one more layer between: cheap with many actions."""

    def __init__(self, settings: DrrnSettings):
        super().__init__()
        self.encoder = BagEncoder(settings.vocabulary, settings.dim)
        self.of_state = torch.nn.Linear(settings.dim, settings.hidden)
        self.of_action = torch.nn.Linear(settings.dim, settings.hidden, bias=False)
        self.layer = torch.nn.Linear(settings.hidden, settings.hidden)
        self.head = torch.nn.Linear(settings.hidden, 1)

    def forward(self, bags: list[Any], states: Ints, actions: Ints) -> torch.Tensor:
        """Return the values of pairs, given as indices of situation and action among the bags."""
        encoded = self.encoder(Batch.of(bags))
        numbers = (*np.unique(states, return_inverse=True), actions)
        used, where, acts = (torch.from_numpy(n).to(encoded.device) for n in numbers)
        s, a = self.of_state(encoded.index_select(0, used)), self.of_action(encoded)
        mixed = s.index_select(0, where) + a.index_select(0, acts)
        return self.head(torch.relu(self.layer(torch.relu(mixed)))).squeeze(1)


class StoredTransition(NamedTuple):
    """A transition over up to n steps; at a game's end ``next_obs`` is None, ``discount`` 0.

    DRRN's observations are the numbers of bags, the situation's first, then each action's.
    """

    obs: Any
    action: int
    reward: float
    next_obs: Any
    discount: float


class NStep:
    """A queue that turns the steps of one episode into n-step transitions."""

    def __init__(self, n: int, gamma: float, steps: Iterable[tuple[Any, int, float]] = ()):
        self.n, self.gamma = n, gamma
        self.steps = deque(steps)  # the oldest first

    def add(self, obs: Any, later: Any, step: Experience) -> list[StoredTransition]:
        """Add a step; return the completed transitions, oldest first."""
        if step.terminated or not step.truncated:
            self.steps.append((obs, step.action, step.reward))
        else:
            later = obs  # the outcome of a truncated step is unknown
        over = step.terminated or step.truncated
        complete = len(self.steps) if over else max(len(self.steps) - self.n + 1, 0)
        return [self._oldest(None if step.terminated else later) for _ in range(complete)]

    def _oldest(self, next_obs: Any) -> StoredTransition:
        total, discount = 0.0, 1.0
        for _, _, reward in self.steps:
            total += discount * reward
            discount *= self.gamma
        obs, action, _ = self.steps.popleft()
        return StoredTransition(obs, action, total, next_obs, 0.0 if next_obs is None else discount)


class Sample(NamedTuple):
    """Drawn transitions with their indices and importance weights, of shape (batch,)."""

    places: Ints
    weights: NDArray[np.float64]
    transitions: list[StoredTransition]


class Replay:
    """A ring of transitions, drawn in proportion to ``priority ** alpha`` (Schaul et al. 2016).

    A new transition gets the largest priority so far; ``epsilon`` keeps all above zero. At these
    sizes numpy's cumulative sum is as fast as a sum tree.
    """

    def __init__(self, capacity: int, alpha: float = 0.6, epsilon: float = 1e-3):
        self.capacity = check_int("capacity", capacity, 1)
        self.alpha, self.epsilon = check_share("alpha", alpha), epsilon
        self.transitions: list[StoredTransition] = []
        self._shares = np.zeros(capacity)
        self._next, self._largest = 0, 1.0

    def __len__(self) -> int:
        return len(self.transitions)

    def add(self, stored: StoredTransition) -> None:
        """Add a transition, replacing the oldest if full."""
        place = self._next
        self.transitions[place : place + 1] = [stored]
        self._shares[place] = self._largest**self.alpha
        self._next = (place + 1) % self.capacity

    def draw(self, batch: int, beta: float, rng: np.random.Generator) -> Sample:
        """Draw a transition from each of ``batch`` equal segments of the priorities' sum.

        ``beta`` in [0, 1] sets the correction by importance sampling.
        """
        if not self.transitions:
            raise InvalidArgumentError("expected a replay with transitions, got an empty one")
        sums = np.cumsum(self._shares[: len(self)])
        at = (np.arange(batch) + rng.random(batch)) / batch * sums[-1]
        places = np.minimum(np.searchsorted(sums, at, "right"), len(self) - 1)
        weights = (len(self) * self._shares[places] / sums[-1]) ** -beta
        drawn = [self.transitions[place] for place in places.tolist()]
        return Sample(places, weights / weights.max(), drawn)

    def update(self, places: Ints, errors: NDArray[np.float64]) -> None:
        """Set the priorities of drawn transitions to their absolute errors."""
        priorities = np.abs(errors) + self.epsilon
        self._largest = max(self._largest, float(priorities.max()))
        self._shares[places] = priorities**self.alpha

    def loss(self, drawn: Sample, values: torch.Tensor, goals: NDArray[Any]) -> torch.Tensor:
        """Return the weighted loss of drawn transitions; update their priorities."""
        arrays = (goals.astype(np.float32), drawn.weights.astype(np.float32))
        target, weights = (torch.from_numpy(array).to(values.device) for array in arrays)
        self.update(drawn.places, (values.detach() - target).cpu().numpy().astype(np.float64))
        losses = torch.nn.functional.smooth_l1_loss(values, target, reduction="none")
        return (weights * losses).mean()

    def state(self) -> dict[str, Any]:
        """Return plain values, but observations as arrays; ``shares`` are the weights of a draw."""
        shares = self._shares[: len(self)].tolist()
        numbers = {"next": self._next, "largest": self._largest}
        return {"transitions": self.transitions, "shares": shares, **numbers}

    def load_state(self, record: dict[str, Any], read: Callable[[Any], Any] = np.array) -> None:
        """Load what :meth:`state` returned; ``read`` returns an observation from plain values."""
        self.transitions = [
            StoredTransition(read(obs), i, reward, None if later is None else read(later), discount)
            for obs, i, reward, later, discount in record["transitions"]
        ]
        self._next, self._largest = record["next"], record["largest"]
        self._shares[: len(self)] = record["shares"]


class DrrnLearner(BagLearner):
    """A learner by double DQN; see the module."""

    name = "drrn"
    settings_class = DrrnSettings
    settings: DrrnSettings
    network_class: type[torch.nn.Module] = QNetwork

    def __init__(self, settings: DrrnSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        self.target = self.new_network()
        self.bags = BagStore()
        self.replay = Replay(settings.capacity, settings.alpha)
        self.slots: dict[int, NStep] = {}

    @property
    def epsilon(self) -> float:
        """Return the present probability of a random action."""
        s = self.settings
        done = min(self.steps / max(s.epsilon_steps, 1), 1.0)
        return s.epsilon_start + done * (s.epsilon_end - s.epsilon_start)

    def act(self, seen: list[ObservationBags], *, explore: bool) -> list[int]:
        """Choose greedily, or at random with probability epsilon to explore."""
        chosen = [-1] * len(seen)
        for i, one in enumerate(seen if explore else ()):
            if self.rng.random() < self.epsilon:
                chosen[i] = int(self.rng.integers(len(one.bags) - 1))
        greedy = [i for i, choice in enumerate(chosen) if choice < 0]
        for i, values in zip(greedy, self.values([seen[i] for i in greedy]), strict=True):
            # equal actions get equal values in any batch, so the first one is taken
            chosen[i] = int(np.argmax(np.round(values.astype(float), 4)))
        return chosen

    def values(self, seen: list[ObservationBags]) -> list[NDArray[np.float32]]:
        """Return Q of every action of each observation."""
        store = BagStore()
        return self._all_values(store, [store.add(one.bags) for one in seen]) if seen else []

    def _all_values(self, store: BagStore, observations: list[Ints]) -> list[NDArray[np.float32]]:
        bags, pairs, counts = store.pairs(observations)
        with torch.inference_mode():
            values = self.online(bags, *pairs).cpu().numpy()
        return np.split(values, np.cumsum(counts)[:-1])

    def observe(self, slot: int, experience: Experience) -> None:
        """Store a step; it may complete n-step transitions."""
        s, e = self.settings, experience
        self.steps += 1
        queue = self.slots.setdefault(slot, NStep(s.n_steps, s.gamma))
        obs, over = self.bags.add(e.seen.bags), e.terminated or e.truncated
        for complete in queue.add(obs, None if over else self.bags.add(e.next_seen.bags), e):
            self.replay.add(complete)
        if self.steps % self.replay.capacity == 0:  # the replay has overwritten the others
            stored = [obs for t in self.replay.transitions for obs in (t.obs, t.next_obs)]
            queued = [obs for queue in self.slots.values() for obs, _, _ in queue.steps]
            self.bags.keep([obs for obs in stored + queued if obs is not None])

    def learn(self) -> dict[str, float]:
        """Make one update for every ``update_every`` steps since the start."""
        s = self.settings
        logged: dict[str, float] = {}
        due = (self.steps - s.learn_start) // s.update_every
        while self.updates < due and len(self.replay) >= s.batch:
            logged = self.update()
        return logged

    def update(self) -> dict[str, float]:
        """Make one update on drawn transitions; return values to log."""
        s = self.settings
        if not self.updates:  # the weights may be those of a trained player
            self.target.load_state_dict(self.online.state_dict())
        drawn = self.replay.draw(s.batch, s.beta, self.rng)
        transitions = drawn.transitions
        rewards, discounts = np.array([(t.reward, t.discount) for t in transitions]).T
        goals = rewards + discounts * self.next_values(transitions)
        values = self._taken_values(self.online, [(t.obs, t.action) for t in transitions])
        loss = self.replay.loss(drawn, values, goals)
        self.descend(loss)
        self.updates += 1
        if self.updates % s.target_every == 0:
            self.target.load_state_dict(self.online.state_dict())
        logged = {"loss": float(loss.detach()), "value": float(values.detach().mean())}
        return {"updates": float(self.updates), **logged, "epsilon": self.epsilon}

    def next_values(self, transitions: list[StoredTransition]) -> NDArray[np.float64]:
        """Return the values of next states: the online network chooses, the target evaluates."""
        found = np.zeros(len(transitions))
        later = {n: t.next_obs for n, t in enumerate(transitions) if t.next_obs is not None}
        if later:
            observations = list(later.values())
            best = [int(one.argmax()) for one in self._all_values(self.bags, observations)]
            with torch.inference_mode():
                taken = list(zip(observations, best, strict=True))
                found[list(later)] = self._taken_values(self.target, taken).cpu().numpy()
        return found

    def _taken_values(self, network: Any, taken: list[tuple[Ints, int]]) -> torch.Tensor:
        """Return a network's values of one action of each observation."""
        pairs = np.array([(obs[0], obs[1 + action]) for obs, action in taken])
        bags, (states, actions) = self.bags.distinct(*pairs.T)
        return network(bags, states, actions)

    def progress(self) -> dict[str, Any]:
        """Also return the target network and the replay."""
        return super().progress() | {
            "target": self.target.state_dict(),
            "bags": self.bags.state(),
            "replay": self.replay.state(),
            "slots": {slot: list(queue.steps) for slot, queue in self.slots.items()},
        }

    def load_progress(self, state: dict[str, Any]) -> None:
        """Also load the target network and the replay."""
        super().load_progress(state)
        self.target.load_state_dict(state["target"])
        self.bags = BagStore(state["bags"])
        self.replay.load_state(state["replay"])
        for slot, steps in state["slots"].items():
            queue = [(np.array(obs), *rest) for obs, *rest in steps]
            self.slots[int(slot)] = NStep(self.settings.n_steps, self.settings.gamma, queue)
