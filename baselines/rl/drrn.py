"""DRRN (He et al. 2016): Q(situation, action) from encodings of both, any number of actions.

What differs from the paper and from the public DRRNs of text games: double DQN with a target
network, n-step returns, prioritized replay whose priorities are really updated, and a situation
and actions that are described by relations of the recalled facts with names taken out (see
:mod:`gym_memory.baselines.rl.shared.features`), because what is learnt about a name does not carry
over to games with other names. Equal bags of features are encoded once a batch.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from gym_memory.baselines.rl.shared.encoders import Encoder
from gym_memory.baselines.rl.shared.interning import Batch, Ints, Ragged
from gym_memory.baselines.rl.shared.player import LearnedPolicy
from numpy.typing import NDArray

from gym_memory.baselines.registry import POLICIES
from gym_memory.baselines.rl.shared.bags import (
    BagLearner,
    BagNetwork,
    BagSettings,
    Seen,
    scenes_of,
)
from gym_memory.baselines.rl.shared.checkpoints import arrays, part, prefixed
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.baselines.rl.shared.replay import NStep, Replay, Sample
from gym_memory.core.optional import require
from gym_memory.core.settings import check_int, check_name, check_number, check_share

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["Drrn", "DrrnLearner", "DrrnSettings"]


@dataclasses.dataclass(frozen=True)
class DrrnSettings(BagSettings):
    """Settings, besides those of every learner by bags.

    Attributes:
        n_steps: Steps of a return before the network's own estimate takes over.
        batch: Transitions an update.
        capacity: Transitions in the replay, at least a batch.
        alpha: Prioritization: 0 none, 1 full.
        beta: Correction of the uneven draw.
        reward_boost: Factor on the first priority of a transition with a positive reward.
        learn_start: Steps before the first update.
        update_every: Environment steps an update.
        target_every: Updates between copies to the target network.
        explore: ``epsilon`` (greedy but for a share of random actions) or ``softmax``.
        epsilon_start: Share of random actions at the start.
        epsilon_end: Share after ``epsilon_steps``.
        epsilon_steps: Steps over which the share falls.
        temperature: Of ``softmax``, in units of reward.
        repeat_penalty: What a command loses in value, while acting, for each time that it was given
            after this text in this episode: it breaks circles. Like the two bonuses it goes by the
            game's bare text, the same for all memories, and is off unless it is asked for.
        count_bonus: Added reward ``count_bonus / sqrt(n)`` for the n-th time that a text comes in a
            task.
        discovery_bonus: Added reward for a step whose text has a word for the first time in the
            episode.
    """

    n_steps: int = 3
    batch: int = 64
    capacity: int = 65536
    alpha: float = 0.6
    beta: float = 0.4
    reward_boost: float = 1.0
    learn_start: int = 500
    update_every: int = 4
    target_every: int = 200
    explore: str = "epsilon"
    epsilon_start: float = 1.0
    epsilon_end: float = 0.05
    epsilon_steps: int = 8000
    temperature: float = 0.1
    repeat_penalty: float = 0.0
    count_bonus: float = 0.0
    discovery_bonus: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("n_steps", "batch", "update_every", "target_every"):
            check_int(name, getattr(self, name), 1)
        check_int("capacity", self.capacity, self.batch)
        for name in ("learn_start", "epsilon_steps"):
            check_int(name, getattr(self, name), 0)
        for name in ("alpha", "beta", "epsilon_start", "epsilon_end"):
            check_share(name, getattr(self, name))
        check_name("exploration", self.explore, ("epsilon", "softmax"))
        check_number("reward_boost", self.reward_boost, above=0)
        check_number("temperature", self.temperature, above=0)


class QNetwork(BagNetwork):
    """Q = w . relu(A s + B a + c), with one more layer between: cheap where actions are many.

    Args:
        settings: Sizes.
        encoder: Bags to vectors.
    """

    def __init__(self, settings: DrrnSettings, encoder: Encoder):
        super().__init__(encoder)
        self.of_state = torch.nn.Linear(settings.dim, settings.hidden)
        self.of_action = torch.nn.Linear(settings.dim, settings.hidden, bias=False)
        self.layer = torch.nn.Linear(settings.hidden, settings.hidden)
        self.head = torch.nn.Linear(settings.hidden, 1)

    def forward(self, bags: Batch, states: Ints, actions: Ints) -> torch.Tensor:
        """Values of pairs.

        Args:
            bags: Distinct bags.
            states: Which bag is the situation, of each pair, shape (pairs,).
            actions: Which bag is the action, likewise.

        Returns:
            float32 of shape (pairs,).
        """
        encoded = self.encoder(bags)
        used, where = np.unique(states, return_inverse=True)
        device = encoded.device
        s = self.of_state(encoded[torch.from_numpy(used).to(device)])
        a = self.of_action(encoded)
        mixed = s[torch.from_numpy(where).to(device)] + a[torch.from_numpy(actions).to(device)]
        return self.head(torch.relu(self.layer(torch.relu(mixed)))).squeeze(1)


class DrrnLearner(BagLearner):
    """Learns; see the module."""

    name = "drrn"
    settings_class = DrrnSettings
    settings: DrrnSettings

    def __init__(self, settings: DrrnSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        self._target = self._new_network()
        self._bags, self._observations = Ragged(), Ragged()
        self._replay = Replay(settings.capacity, settings.alpha)
        self._slots: dict[int, NStep] = {}
        self._counts: dict[str, int] = {}

    def _network(self, encoder: Encoder) -> BagNetwork:
        return QNetwork(self.settings, encoder)

    # ------------------------------------------------------------ acting

    @property
    def epsilon(self) -> float:
        """Present share of random actions."""
        s = self.settings
        done = min(self._steps / max(s.epsilon_steps, 1), 1.0)
        return s.epsilon_start + done * (s.epsilon_end - s.epsilon_start)

    def act(self, seen: list[Seen], *, explore: bool) -> list[int]:
        """Greedy, or as the setting ``explore`` says."""
        s, rng = self.settings, self._rng
        chosen = [-1] * len(seen)
        if explore and s.explore == "epsilon":
            epsilon = self.epsilon
            for i, one in enumerate(seen):
                if rng.random() < epsilon:
                    chosen[i] = int(rng.integers(len(one.commands)))
        asked = [i for i, choice in enumerate(chosen) if choice < 0]
        for i, values in zip(asked, self._values([seen[i] for i in asked]), strict=True):
            liked = values - s.repeat_penalty * np.array(seen[i].times)
            if explore and s.explore == "softmax":
                liked = liked / s.temperature + rng.gumbel(size=len(liked))
            # Equal actions stay equal whatever else is in the batch: the first one is taken.
            chosen[i] = int(np.argmax(np.round(liked, 4)))
        return chosen

    def _values(self, seen: list[Seen]) -> list[NDArray[np.float32]]:
        """Q of every action of each observation."""
        if not seen:
            return []
        scenes = scenes_of(seen)
        states = np.repeat(scenes.states, scenes.counts)
        with torch.no_grad():
            values = self._online(scenes.bags, states, scenes.actions).cpu().numpy()
        return np.split(values, np.cumsum(scenes.counts)[:-1])

    # ------------------------------------------------------------ learning

    def observe(self, slot: int, experience: Experience) -> None:
        """Store a step; completes n-step transitions."""
        s, e = self.settings, experience
        self._steps += 1
        reward = e.reward
        if s.count_bonus:
            key = f"{e.task_id} {e.next_seen.place}"
            self._counts[key] = self._counts.get(key, 0) + 1
            reward += s.count_bonus / self._counts[key] ** 0.5
        if len(e.next_seen.known) > len(e.seen.known):
            reward += s.discovery_bonus
        queue = self._slots.setdefault(slot, NStep(s.n_steps, s.gamma))
        for stored in queue.add(
            self._keep(e.seen),
            e.action,
            reward,
            self._keep(e.next_seen) if not (e.terminated or e.truncated) else -1,
            terminated=e.terminated,
            truncated=e.truncated,
        ):
            self._replay.add(stored, s.reward_boost if stored.reward > 0 else 1.0)
        if self._steps % self._replay.capacity == 0:
            self._forget()

    def _keep(self, seen: Seen) -> int:
        return self._observations.add(tuple(self._bags.add(bag) for bag in seen.bags))

    def _forget(self) -> None:
        """Drop what the replay has overwritten, so that the stores stop growing."""
        waiting = [obs for queue in self._slots.values() for obs in queue.observations()]
        used = np.union1d(self._replay.observations(), np.array(waiting, np.int64))
        records = self._observations.gather(used)
        bags = self._bags.keep(np.unique(records.values))
        self._observations = Ragged()
        for start, length in zip(records.offsets, records.lengths, strict=True):
            self._observations.add(tuple(bags[records.values[start : start + length]].tolist()))
        renamed = np.full(int(used[-1]) + 1, -1, np.int64)
        renamed[used] = np.arange(len(used))
        self._replay.rename(renamed)
        for queue in self._slots.values():
            queue.rename(renamed)

    def learn(self) -> dict[str, float]:
        """One update for every ``update_every`` steps since the start."""
        s = self.settings
        logged: dict[str, float] = {}
        while (
            self._steps >= s.learn_start
            and len(self._replay) >= s.batch
            and self._updates < (self._steps - s.learn_start) // s.update_every
        ):
            logged = self._update()
        return logged

    def _update(self) -> dict[str, float]:
        s = self.settings
        drawn = self._replay.draw(s.batch, s.beta, self._rng)
        goals = drawn.rewards + drawn.discounts * self._next_values(drawn)
        now = self._observations.gather(drawn.obs)
        states = now.values[now.offsets]
        actions = now.values[now.offsets + 1 + drawn.actions]
        bags, (states, actions) = self._bags.gather_distinct(states, actions)
        values = self._online(bags, states, actions)
        target = torch.from_numpy(goals.astype(np.float32)).to(values.device)
        weights = torch.from_numpy(drawn.weights.astype(np.float32)).to(values.device)
        loss = (
            weights * torch.nn.functional.smooth_l1_loss(values, target, reduction="none")
        ).mean()
        self._descend(loss)
        errors = (values.detach() - target).cpu().numpy().astype(np.float64)
        self._replay.update(drawn.places, errors)
        self._updates += 1
        if self._updates % s.target_every == 0:
            self._target.load_state_dict(self._online.state_dict())
        return {
            "updates": float(self._updates),
            "loss": float(loss.detach()),
            "value": float(values.detach().mean()),
            "epsilon": self.epsilon,
        }

    def _next_values(self, drawn: Sample) -> NDArray[np.float64]:
        """Double DQN: the online network chooses, the target network values the choice."""
        found = np.zeros(len(drawn.obs))
        alive = np.flatnonzero(drawn.next_obs >= 0)
        if not len(alive):
            return found
        states, actions = self._observations.gather(drawn.next_obs[alive]).split()
        each = np.repeat(states, actions.lengths)
        with torch.no_grad():
            bags, (s, a) = self._bags.gather_distinct(each, actions.values)
            values = self._online(bags, s, a).cpu().numpy()
            spans = zip(actions.offsets, actions.lengths, strict=True)
            best = np.array([b + int(np.argmax(values[b : b + n])) for b, n in spans])
            bags, (s, a) = self._bags.gather_distinct(states, actions.values[best])
            found[alive] = self._target(bags, s, a).cpu().numpy()
        return found

    # ------------------------------------------------------------ keeping

    def progress(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Target network and replay, too."""
        tensors, record = super().progress()
        stored, record["replay"] = self._replay.state()
        tensors |= prefixed("replay", stored)
        tensors |= prefixed("bags", self._bags.state())
        tensors |= prefixed("observations", self._observations.state())
        tensors |= prefixed("target", self._target.state_dict())
        record["slots"] = {str(slot): queue.state() for slot, queue in self._slots.items()}
        record["counts"] = self._counts
        return tensors, record

    def load_progress(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        super().load_progress(tensors, record)
        self._replay.load_state(arrays(tensors, "replay"), record["replay"])
        self._bags.load_state(arrays(tensors, "bags"))
        self._observations.load_state(arrays(tensors, "observations"))
        self._target.load_state_dict(part(tensors, "target"))
        s = self.settings
        self._slots = {int(slot): NStep(s.n_steps, s.gamma) for slot in record["slots"]}
        for slot, queue in record["slots"].items():
            self._slots[int(slot)].load_state(queue)
        self._counts = record["counts"]


@POLICIES.register("drrn")
class Drrn(LearnedPolicy):
    """Plays a trained DRRN."""

    name = "drrn"
    learner_class = DrrnLearner
