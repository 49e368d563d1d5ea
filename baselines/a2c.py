"""Advantage actor-critic over valid actions with graph features, in the manner of KG-A2C.

KG-A2C (Ammanabrolu and Hausknecht 2020) decodes templates and objects with masks from its graph.
Where the valid actions are given there is nothing to decode: the actor scores each of them, by
the relations that the recalled facts tell of what it names, and the critic looks at the situation
and at the strongest that each unit finds among the actions. As there: several games side by
side, returns of 8 steps, entropy weight 0.03. It sees what DRRN sees (:meth:`DrrnLearner.see`).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from gym_memory.baselines.drrn import DrrnLearner, Seen
from gym_memory.baselines.learning.encoders import Encoder
from gym_memory.baselines.learning.interning import Batch, Ints, Ragged
from gym_memory.baselines.learning.learner import Experience, LearnedPolicy
from gym_memory.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["A2c", "A2cLearner", "A2cSettings"]

_NEVER = -1e9
"""Logit of a place in the table that holds no action."""


@dataclasses.dataclass(frozen=True)
class A2cSettings:
    """Settings.

    Attributes:
        encoder: As in DRRN, and so down to ``gamma``.
        dim: Size of an encoding.
        hidden: Width of the layers over situation and action.
        vocabulary: Rows of the embedding table.
        words: ``auto`` or ``always``.
        common: Share of the training games in which a name must stand to be told by name.
        gamma: Discount a step.
        n_steps: Steps of each game between two updates.
        lr: Learning rate of Adam.
        clip: Largest norm of the gradient.
        entropy: Weight of the policy's entropy.
        value_weight: Weight of the critic's squared error.
        repeat_penalty: What a command's logit loses for each time that it was given in this place
            in this episode; part of the policy, in training and in play.
    """

    encoder: str = "bag"
    dim: int = 64
    hidden: int = 64
    vocabulary: int = 4096
    words: str = "auto"
    common: float = 0.8
    gamma: float = 0.9
    n_steps: int = 8
    lr: float = 3e-3
    clip: float = 5.0
    entropy: float = 0.03
    value_weight: float = 0.5
    repeat_penalty: float = 0.5
    # What it plays is used once, so there is no replay to speak of.
    capacity: ClassVar[int] = 1
    alpha: ClassVar[float] = 0.0


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


class ActorCritic(torch.nn.Module):
    """Both heads over one encoder.

    Args:
        settings: Sizes.
        encoder: Bags to vectors.
    """

    def __init__(self, settings: A2cSettings, encoder: Encoder):
        super().__init__()
        hidden = settings.hidden
        self.encoder = encoder
        self.of_state = torch.nn.Linear(settings.dim, hidden)
        self.of_action = torch.nn.Linear(settings.dim, hidden, bias=False)
        self.actor = torch.nn.Sequential(
            torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
        )
        self.critic = torch.nn.Sequential(
            torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
        )

    def forward(self, bags: Batch, states: Ints, actions: Ints, counts: Ints) -> Table:
        """Logits and values.

        Args:
            bags: Distinct bags.
            states: Which bag is the situation, of each observation, shape (n,).
            actions: Which bags are the actions, those of each observation end to end.
            counts: Actions of each observation, >= 1, shape (n,).
        """
        encoded = self.encoder(bags)
        device, n = encoded.device, len(counts)
        rows = torch.from_numpy(np.repeat(np.arange(n), counts)).to(device)
        begins = np.repeat(np.cumsum(counts) - counts, counts)
        columns = torch.from_numpy(np.arange(len(actions)) - begins).to(device)
        s = self.of_state(encoded[torch.from_numpy(states).to(device)])
        a = self.of_action(encoded)[torch.from_numpy(actions).to(device)]
        mixed = torch.relu(s[rows] + a)
        logits = s.new_full((n, int(counts.max())), _NEVER)
        logits[rows, columns] = self.actor(mixed).squeeze(1)
        # Nothing in ``mixed`` is negative.
        best = torch.zeros_like(s).scatter_reduce(0, rows[:, None].expand_as(mixed), mixed, "amax")
        return Table(logits, self.critic(best).squeeze(1))


class A2cLearner(DrrnLearner):
    """Learns; see the module."""

    name = "a2c"
    settings_class = A2cSettings  # type: ignore[assignment]
    settings: A2cSettings  # type: ignore[assignment]

    def __init__(self, settings: A2cSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)  # type: ignore[arg-type]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            sizes = {"rows": settings.vocabulary, "dim": settings.dim}
            encoder = Encoder(settings.encoder, self._texts, **sizes)
            self._net = ActorCritic(settings, encoder).to(device)
        self._online: Any = self._net
        self._optimizer = torch.optim.Adam(self._net.parameters(), lr=settings.lr, fused=True)
        self._rollouts: dict[int, list[Step]] = {}
        self._after: dict[int, Seen] = {}

    # ------------------------------------------------------------ acting

    def _table(self, seen: list[Seen]) -> Table:
        """Logits with the penalty for what was tried, and values."""
        store = Ragged()
        records = [[store.add(bag) for bag in one.bags] for one in seen]
        table: Table = self._net(
            store.gather(np.arange(len(store))),
            np.array([record[0] for record in records], np.int64),
            np.array([number for record in records for number in record[1:]], np.int64),
            np.array([len(record) - 1 for record in records], np.int64),
        )
        tried = np.zeros(table.logits.shape, np.float32)
        for row, one in zip(tried, seen, strict=True):
            times = [one.tried.get((one.place, command), 0) for command in one.commands]
            row[: len(times)] = times
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
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._net.parameters(), s.clip)
        self._optimizer.step()
        self._updates += 1
        self._rollouts = {}
        return {
            "updates": float(self._updates),
            "loss": float(loss.detach()),
            "value": float(table.values.detach().mean()),
            "entropy": float(entropy.detach().mean()),
        }

    def _returns(self, values: Any) -> tuple[Any, Any]:
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
        """Optimizer, rollouts under way, chance and counters."""
        tensors = {
            f"adam.{number}.{name}": tensor
            for number, kept in self._optimizer.state_dict()["state"].items()
            for name, tensor in kept.items()
        }
        rollouts = {
            str(slot): [[self.pack(step.seen), *step[1:]] for step in steps]
            for slot, steps in self._rollouts.items()
        }
        record = {
            "rollouts": rollouts,
            "after": {str(slot): self.pack(seen) for slot, seen in self._after.items()},
            "texts": self._texts.state(),
            "rng": self._rng.bit_generator.state,
            "steps": self._steps,
            "updates": self._updates,
        }
        return tensors, record

    def load_progress(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        state = self._optimizer.state_dict()
        state["state"] = {}
        for name, tensor in tensors.items():
            _, number, key = name.split(".")
            state["state"].setdefault(int(number), {})[key] = tensor
        self._optimizer.load_state_dict(state)
        self._rollouts = {
            int(slot): [Step(self.unpack(seen), *rest) for seen, *rest in steps]
            for slot, steps in record["rollouts"].items()
        }
        self._after = {int(slot): self.unpack(seen) for slot, seen in record["after"].items()}
        self._texts.load_state(record["texts"])
        self._rng.bit_generator.state = record["rng"]
        self._steps, self._updates = record["steps"], record["updates"]


class A2c(LearnedPolicy):
    """Plays a trained actor."""

    name = "a2c"
    learner_class = A2cLearner
