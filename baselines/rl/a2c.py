"""Advantage actor-critic over valid actions with graph features, similar to KG-A2C."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, NamedTuple

import numpy as np

from gym_memory.baselines.rl.shared.bags import (
    BagEncoder,
    BagLearner,
    BagSettings,
    Batch,
    Ints,
    ObservationBags,
    torch,
)
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.baselines.rl.shared.rollouts import NEVER, LogitTable, Rollouts, cells
from gym_memory.core.settings import Help

__all__ = ["A2cLearner", "A2cSettings", "Scenes", "scenes_of"]


@dataclasses.dataclass(frozen=True)
class A2cSettings(BagSettings):
    """Settings of A2C, beyond those of every learner that sees bags."""

    n_steps: Annotated[int, Help("Steps of each game between two updates.", low=1)] = 8
    lr: Annotated[
        float,
        Help("Learning rate of Adam; above DRRN's, because every step is used once.", above=0),
    ] = 3e-3
    entropy: Annotated[float, Help("Weight of the policy's entropy.")] = 0.03
    value_weight: Annotated[float, Help("Weight of the critic's squared error.")] = 0.5


class Scenes(NamedTuple):
    """A batch of observations: distinct bags, and the indices of situations and actions.

    ``counts`` has the number of actions by observation; ``actions`` concatenates all of them.
    """

    bags: list[Any]
    states: Ints
    actions: Ints
    counts: Ints


def scenes_of(seen: list[ObservationBags]) -> Scenes:
    """Number the distinct bags of observations in order."""
    place: dict[Any, int] = {}
    places = [[place.setdefault(bag, len(place)) for bag in one.bags] for one in seen]
    return Scenes(
        list(place),
        np.array([state for state, *_ in places], np.int64),
        np.array([action for _, *actions in places for action in actions], np.int64),
        np.array([len(actions) for _, *actions in places], np.int64),
    )


class ActorCritic(torch.nn.Module):
    """A network with two heads over one encoder.

    The critic sees the situation and the maximum of each unit over the actions.
    """

    def __init__(self, settings: A2cSettings):
        super().__init__()
        self.encoder = BagEncoder(settings.vocabulary, settings.dim)
        hidden = settings.hidden
        self.of_state = torch.nn.Linear(settings.dim, hidden)
        self.of_action = torch.nn.Linear(settings.dim, hidden, bias=False)
        self.actor = torch.nn.Sequential(
            torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
        )
        self.critic = torch.nn.Sequential(
            torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
        )

    def forward(self, scenes: Scenes) -> LogitTable:
        """Return logits and values of observations with at least one action each."""
        encoded = self.encoder(Batch.of(scenes.bags))
        device, counts = encoded.device, scenes.counts
        rows, columns = cells(counts, device)
        s = self.of_state(encoded[torch.from_numpy(scenes.states).to(device)])
        a = self.of_action(encoded)[torch.from_numpy(scenes.actions).to(device)]
        mixed = torch.relu(s[rows] + a)
        logits = s.new_full((len(counts), int(counts.max())), NEVER)
        logits[rows, columns] = self.actor(mixed).squeeze(1)
        # ``mixed`` has no negative values
        best = torch.zeros_like(s).scatter_reduce(0, rows[:, None].expand_as(mixed), mixed, "amax")
        return LogitTable(logits, self.critic(best).squeeze(1))


class A2cLearner(BagLearner):
    """An actor-critic learner; see the module."""

    name = "a2c"
    settings_class = A2cSettings
    settings: A2cSettings
    network_class = ActorCritic

    def __init__(self, settings: A2cSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        self.rollouts = Rollouts()

    def table(self, seen: list[ObservationBags]) -> LogitTable:
        """Return logits and values."""
        table: LogitTable = self.online(scenes_of(seen))
        return table

    def act(self, seen: list[ObservationBags], *, explore: bool) -> list[int]:
        """Draw from the policy, or choose its likeliest action."""
        with torch.no_grad():
            logits = self.table(seen).logits.cpu().numpy().astype(np.float64)
        if explore:
            logits += self.rng.gumbel(size=logits.shape)
        # equal actions get equal values in any batch, so the first one is taken
        return np.argmax(np.round(logits, 4), axis=1).tolist()

    def observe(self, slot: int, experience: Experience) -> None:
        """Add a step to the slot's rollout."""
        self.steps += 1
        self.rollouts.add(slot, experience)

    def learn(self) -> dict[str, float]:
        """Make one update once every slot has a full rollout; then clear the rollouts."""
        s = self.settings
        if not self.rollouts.ready(s.n_steps):
            return {}
        loss, logged = self.rollouts.loss(
            self.table, gamma=s.gamma, entropy=s.entropy, value_weight=s.value_weight
        )
        self.descend(loss)
        self.updates += 1
        self.rollouts.clear()
        return {"updates": float(self.updates), **logged}

    def progress(self) -> dict[str, Any]:
        """Also return the unfinished rollouts."""
        return super().progress() | self.rollouts.state(self.pack)

    def load_progress(self, state: dict[str, Any]) -> None:
        """Also load the unfinished rollouts."""
        super().load_progress(state)
        self.rollouts.load_state(state, self.unpack)
