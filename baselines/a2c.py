"""Advantage actor-critic over valid actions with graph features, in the manner of KG-A2C.

KG-A2C (Ammanabrolu and Hausknecht 2020) decodes templates and objects with masks from its graph.
Where the valid actions are given there is nothing to decode: the actor scores each of them, by
the relations that the recalled facts tell of what it names, and the critic looks at the situation
and at the strongest that each unit finds among the actions. As there: several games side by
side, returns of 8 steps, entropy weight 0.03. It sees what DRRN sees.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.learning.bags import (
    BagLearner,
    BagNetwork,
    BagSettings,
    Scenes,
    Seen,
    scenes_of,
)
from gym_memory.baselines.learning.encoders import Encoder
from gym_memory.baselines.learning.learner import Experience
from gym_memory.baselines.learning.player import LearnedPolicy
from gym_memory.checks import check_int
from gym_memory.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["A2c", "A2cLearner", "A2cSettings"]

Floats = NDArray[np.floating[Any]]

_NEVER = -1e9
"""Logit of a place in the table that holds no action."""


@dataclasses.dataclass(frozen=True)
class A2cSettings(BagSettings):
    """Settings, besides those of every learner by bags.

    Attributes:
        n_steps: Steps of each game between two updates.
        lr: Learning rate of Adam; higher than DRRN's, because every step is used once.
        entropy: Weight of the policy's entropy.
        value_weight: Weight of the critic's squared error.
        repeat_penalty: What a command's logit loses for each time that it was given in this place
            in this episode; part of the policy, in training and in play.
    """

    n_steps: int = 8
    lr: float = 3e-3
    entropy: float = 0.03
    value_weight: float = 0.5
    repeat_penalty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("n_steps", self.n_steps, 1)


class Table(NamedTuple):
    """Several observations, their actions side by side.

    Attributes:
        logits: Of shape (observations, most actions); ``-1e9`` where there is no action.
        values: The critic's, of shape (observations,).
    """

    logits: torch.Tensor
    values: torch.Tensor


class Step(NamedTuple):
    """A step of a rollout; ``last`` is 1 where it ended the game, 2 where the episode was cut."""

    seen: Seen
    action: int
    reward: float
    last: int


class ActorCritic(BagNetwork):
    """Both heads over one encoder.

    Args:
        settings: Sizes.
        encoder: Bags to vectors.
    """

    def __init__(self, settings: A2cSettings, encoder: Encoder):
        super().__init__(encoder)
        hidden = settings.hidden
        self.of_state = torch.nn.Linear(settings.dim, hidden)
        self.of_action = torch.nn.Linear(settings.dim, hidden, bias=False)
        self.actor = torch.nn.Sequential(
            torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
        )
        self.critic = torch.nn.Sequential(
            torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
        )

    def forward(self, scenes: Scenes) -> Table:
        """Logits and values of observations with at least one action each."""
        encoded = self.encoder(scenes.bags)
        device, counts = encoded.device, scenes.counts
        n, total = len(counts), len(scenes.actions)
        rows = torch.from_numpy(np.repeat(np.arange(n), counts)).to(device)
        begins = np.repeat(np.cumsum(counts) - counts, counts)
        columns = torch.from_numpy(np.arange(total) - begins).to(device)
        s = self.of_state(encoded[torch.from_numpy(scenes.states).to(device)])
        a = self.of_action(encoded)[torch.from_numpy(scenes.actions).to(device)]
        mixed = torch.relu(s[rows] + a)
        logits = s.new_full((n, int(counts.max())), _NEVER)
        logits[rows, columns] = self.actor(mixed).squeeze(1)
        # Nothing in ``mixed`` is negative.
        best = torch.zeros_like(s).scatter_reduce(0, rows[:, None].expand_as(mixed), mixed, "amax")
        return Table(logits, self.critic(best).squeeze(1))


class A2cLearner(BagLearner):
    """Learns; see the module."""

    name = "a2c"
    settings_class = A2cSettings
    settings: A2cSettings

    def __init__(self, settings: A2cSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        self._rollouts: dict[int, list[Step]] = {}
        self._after: dict[int, Seen] = {}

    def _network(self, encoder: Encoder) -> BagNetwork:
        return ActorCritic(self.settings, encoder)

    # ------------------------------------------------------------ acting

    def _table(self, seen: list[Seen]) -> Table:
        """Logits with the penalty for what was tried, and values."""
        table: Table = self._online(scenes_of(seen))
        tried = np.zeros(table.logits.shape, np.float32)
        for row, one in zip(tried, seen, strict=True):
            row[: len(one.commands)] = one.times
        penalty = self.settings.repeat_penalty * torch.from_numpy(tried).to(table.logits.device)
        return Table(table.logits - penalty, table.values)

    def act(self, seen: list[Seen], *, explore: bool) -> list[int]:
        """Drawn from the policy, or its likeliest action."""
        with torch.no_grad():
            logits = self._table(seen).logits.cpu().numpy().astype(np.float64)
        if explore:
            logits += self._rng.gumbel(size=logits.shape)
        # Equal actions stay equal whatever else is in the batch: the first one is taken.
        return np.argmax(np.round(logits, 4), axis=1).tolist()

    # ------------------------------------------------------------ learning

    def observe(self, slot: int, experience: Experience) -> None:
        """Add a step to the slot's rollout."""
        e = experience
        self._steps += 1
        last = 1 if e.terminated else 2 if e.truncated else 0
        self._rollouts.setdefault(slot, []).append(Step(e.seen, e.action, e.reward, last))
        self._after[slot] = e.next_seen

    def learn(self) -> dict[str, float]:
        """One update when every slot has a whole rollout; the rollouts are then forgotten."""
        if not self._rollouts or min(map(len, self._rollouts.values())) < self.settings.n_steps:
            return {}
        s = self.settings
        steps = [step for slot in sorted(self._rollouts) for step in self._rollouts[slot]]
        table = self._table([step.seen for step in steps])
        returns, counted = self._returns(table.values.detach().cpu().numpy())
        target = torch.from_numpy(returns.astype(np.float32)).to(table.values.device)
        weight = torch.from_numpy(counted.astype(np.float32)).to(table.values.device)
        log = torch.log_softmax(table.logits, 1)
        entropy = -(log.exp() * log).sum(1)
        actions = torch.tensor([step.action for step in steps], device=log.device)
        chosen = log.gather(1, actions[:, None]).squeeze(1)
        gain = target - table.values.detach()
        each = -chosen * gain + s.value_weight * (target - table.values) ** 2 - s.entropy * entropy
        loss = (weight * each).sum() / weight.sum().clamp(min=1.0)
        self._descend(loss)
        self._updates += 1
        self._rollouts = {}
        return {
            "updates": float(self._updates),
            "loss": float(loss.detach()),
            "value": float(table.values.detach().mean()),
            "entropy": float(entropy.detach().mean()),
        }

    def _returns(self, values: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Discounted returns of all steps, slot after slot, and which steps count.

        A step whose episode was cut does not count: the environment lists no actions after it, so
        there is nothing to go on from. Its predecessors go on from the value of its own state.
        """
        open_slots = [slot for slot in sorted(self._rollouts) if not self._rollouts[slot][-1].last]
        later: dict[int, float] = {}
        if open_slots:
            with torch.no_grad():
                found = self._table([self._after[slot] for slot in open_slots]).values
            later = dict(zip(open_slots, found.cpu().tolist(), strict=True))
        returns, counted = np.zeros(len(values)), np.ones(len(values), bool)
        end = 0
        for slot in sorted(self._rollouts):
            steps = self._rollouts[slot]
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
                following = returns[place] = step.reward + self.settings.gamma * following
        return returns, counted

    # ------------------------------------------------------------ keeping

    def progress(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Rollouts under way, too."""
        tensors, record = super().progress()
        record["rollouts"] = {
            str(slot): [[self.pack(step.seen), *step[1:]] for step in steps]
            for slot, steps in self._rollouts.items()
        }
        record["after"] = {str(slot): self.pack(seen) for slot, seen in self._after.items()}
        return tensors, record

    def load_progress(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        super().load_progress(tensors, record)
        self._rollouts = {
            int(slot): [Step(self.unpack(seen), *rest) for seen, *rest in steps]
            for slot, steps in record["rollouts"].items()
        }
        self._after = {int(slot): self.unpack(seen) for slot, seen in record["after"].items()}


class A2c(LearnedPolicy):
    """Plays a trained actor."""

    name = "a2c"
    learner_class = A2cLearner
