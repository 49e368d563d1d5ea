"""DRRN (He et al. 2016): Q(situation, action) from encodings of both, any number of actions.

What differs from the paper and from the public DRRNs of text games: double DQN with a target
network, n-step returns, prioritized replay whose priorities are really updated, and a situation
and actions that are described by relations of the recalled facts with names taken out (see
:mod:`gym_memory.baselines.learning.features`), because what is learnt about a name does not carry
over to games with other names. Equal bags of features are encoded once a batch.
"""

from __future__ import annotations

import dataclasses
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.learning.encoders import Encoder, Texts
from gym_memory.baselines.learning.features import Lexicon, describe
from gym_memory.baselines.learning.interning import Batch, Ints, Ragged, Vocabulary
from gym_memory.baselines.learning.learner import Experience, LearnedPolicy, Learner
from gym_memory.baselines.learning.replay import NStep, Replay
from gym_memory.optional import require
from gym_memory.types import Observation

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["Drrn", "DrrnLearner", "DrrnSettings"]


@dataclasses.dataclass(frozen=True)
class DrrnSettings:
    """Settings.

    Attributes:
        encoder: ``bag`` (words and relations), ``gru`` or ``minilm`` (text besides relations).
        dim: Size of an encoding.
        hidden: Width of the layer over situation and action.
        vocabulary: Rows of the embedding table.
        words: ``auto``: words are features only where no facts are recalled; ``always``.
        common: Share of the training games in which a name must stand to be told by name.
        gamma: Discount a step.
        n_steps: Steps of a return before the network's own estimate takes over.
        lr: Learning rate of Adam.
        batch: Transitions an update.
        capacity: Transitions in the replay.
        alpha: Prioritization: 0 none, 1 full.
        beta: Correction of the uneven draw.
        reward_boost: Factor on the first priority of a transition with a positive reward.
        learn_start: Steps before the first update.
        update_every: Environment steps an update.
        target_every: Updates between copies to the target network.
        clip: Largest norm of the gradient.
        explore: ``epsilon`` (greedy but for a share of random actions) or ``softmax``.
        epsilon_start: Share of random actions at the start.
        epsilon_end: Share after ``epsilon_steps``.
        epsilon_steps: Steps over which the share falls.
        temperature: Of ``softmax``, in units of reward.
        repeat_penalty: What a command loses in value, while acting, for each time that it was given
            in this place in this episode: it breaks circles.
        count_bonus: Added reward ``count_bonus / sqrt(n)`` for the n-th visit of a memory state
            (the recalled facts, or the text where there are none) in a task.
    """

    encoder: str = "bag"
    dim: int = 64
    hidden: int = 64
    vocabulary: int = 4096
    words: str = "auto"
    common: float = 0.8
    gamma: float = 0.9
    n_steps: int = 3
    lr: float = 1e-3
    batch: int = 64
    capacity: int = 65536
    alpha: float = 0.6
    beta: float = 0.4
    reward_boost: float = 1.0
    learn_start: int = 500
    update_every: int = 4
    target_every: int = 200
    clip: float = 5.0
    explore: str = "epsilon"
    epsilon_start: float = 1.0
    epsilon_end: float = 0.05
    epsilon_steps: int = 8000
    temperature: float = 0.1
    repeat_penalty: float = 0.1
    count_bonus: float = 0.0


class Seen(NamedTuple):
    """An observation as bags of numbers.

    Attributes:
        bags: The situation's bag, then each action's; a bag is the number of its text (0 where
            the encoder reads none) and the rows of its features.
        key: Stable hash of the memory state.
        place: Stable hash of the agent's place, or of what is seen where no fact tells the place.
        commands: Stable hash of each action's text.
        tried: How often each command was given in each place of the episode so far.
    """

    bags: tuple[tuple[int, ...], ...]
    key: int
    place: int
    commands: tuple[int, ...]
    tried: dict[tuple[int, int], int]


class QNetwork(torch.nn.Module):
    """Q = w . relu(A s + B a + c), with one more layer between: cheap where actions are many.

    Args:
        settings: Sizes.
        encoder: Bags to vectors.
    """

    def __init__(self, settings: DrrnSettings, encoder: Encoder):
        super().__init__()
        self.encoder = encoder
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


class DrrnLearner(Learner):
    """Learns; see the module."""

    name = "drrn"
    settings_class = DrrnSettings
    settings: DrrnSettings

    def __init__(self, settings: DrrnSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        # The batches are small: a second thread costs more than it brings.
        torch.set_num_threads(1)
        self._rng = np.random.default_rng([seed, 0])
        self._vocabulary = Vocabulary(settings.vocabulary)
        self._lexicon = Lexicon(settings.common)
        self._texts = Texts()

        def encoder() -> Encoder:
            sizes = {"rows": settings.vocabulary, "dim": settings.dim}
            return Encoder(settings.encoder, self._texts, **sizes)

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._online = QNetwork(settings, encoder()).to(device)
            self._target = QNetwork(settings, encoder()).to(device)
        self._target.load_state_dict(self._online.state_dict())
        self._optimizer = torch.optim.Adam(self._online.parameters(), lr=settings.lr, fused=True)
        self._bags, self._observations = Ragged(), Ragged()
        self._replay = Replay(settings.capacity, settings.alpha)
        self._slots: dict[int, NStep] = {}
        self._counts: dict[str, int] = {}
        self._steps = self._updates = 0

    # ------------------------------------------------------------ acting

    def see(
        self, obs: Observation, task_id: str = "", before: Seen | None = None, action: int = -1
    ) -> Seen:
        """Encode an observation."""
        self._vocabulary.frozen = not task_id
        state, actions, here = describe(obs, self._lexicon, task_id, words=self.settings.words)
        rows = self._vocabulary.rows
        told = ["" for _ in range(len(actions) + 1)]
        if self._online.encoder.reads:
            told = [obs["text"], *obs["valid_actions"]]
        bags = [
            (self._texts.number(text), *rows(features))
            for text, features in zip(told, (state, *actions), strict=True)
        ]
        tried: dict[tuple[int, int], int] = {}
        if before is not None:
            done = (before.place, before.commands[action])
            tried = {**before.tried, done: before.tried.get(done, 0) + 1}
        place = here or f"{obs['text']}\n{obs['inventory']}"
        commands = tuple(_code(command) for command in obs["valid_actions"])
        return Seen(tuple(bags), memory_key(obs), _code(place), commands, tried)

    def pack(self, seen: Seen) -> list[Any]:
        """As JSON-able values."""
        return [*seen[:-1], [[*pair, times] for pair, times in seen.tried.items()]]

    def unpack(self, packed: list[Any]) -> Seen:
        """The inverse of :meth:`pack`."""
        bags, key, place, commands, tried = packed
        tried = {(there, command): times for there, command, times in tried}
        return Seen(tuple(map(tuple, bags)), key, place, tuple(commands), tried)

    @property
    def epsilon(self) -> float:
        """Present share of random actions."""
        s = self.settings
        done = min(self._steps / max(s.epsilon_steps, 1), 1.0)
        return s.epsilon_start + done * (s.epsilon_end - s.epsilon_start)

    def act(self, seen: list[Seen], *, explore: bool) -> list[int]:
        """Greedy, or as the setting ``explore`` says."""
        counts = [len(one.bags) - 1 for one in seen]
        s, rng = self.settings, self._rng
        chosen = [-1] * len(seen)
        if explore and s.explore == "epsilon":
            epsilon = self.epsilon
            chosen = [int(rng.integers(n)) if rng.random() < epsilon else -1 for n in counts]
        asked = [i for i, choice in enumerate(chosen) if choice < 0]
        if asked:
            numbers: dict[tuple[int, ...], int] = {}
            records = [[numbers.setdefault(b, len(numbers)) for b in seen[i].bags] for i in asked]
            bags = _batch(list(numbers))
            states = np.concatenate([np.full(len(r) - 1, r[0], np.int64) for r in records])
            actions = np.concatenate([np.array(r[1:], np.int64) for r in records])
            with torch.no_grad():
                values = self._online(bags, states, actions).cpu().numpy()
            begin = 0
            for i in asked:
                mine = values[begin : begin + counts[i]]
                begin += counts[i]
                one = seen[i]
                times = [one.tried.get((one.place, command), 0) for command in one.commands]
                mine = mine - s.repeat_penalty * np.array(times)
                if explore and s.explore == "softmax":
                    noise = rng.gumbel(size=len(mine))
                    mine = mine / s.temperature + noise
                # Equal actions stay equal whatever else is in the batch: the first one is taken.
                chosen[i] = int(np.argmax(np.round(mine, 4)))
        return chosen

    # ------------------------------------------------------------ learning

    def observe(self, slot: int, experience: Experience) -> None:
        """Store a step; completes n-step transitions."""
        s, e = self.settings, experience
        self._steps += 1
        reward = e.reward
        if s.count_bonus:
            key = f"{e.task_id} {e.next_seen.key}"
            self._counts[key] = self._counts.get(key, 0) + 1
            reward += s.count_bonus / self._counts[key] ** 0.5
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
        bags, (states, actions) = self._distinct(states, actions)
        values = self._online(bags, states, actions)
        target = torch.from_numpy(goals.astype(np.float32)).to(values.device)
        weights = torch.from_numpy(drawn.weights.astype(np.float32)).to(values.device)
        loss = (
            weights * torch.nn.functional.smooth_l1_loss(values, target, reduction="none")
        ).mean()
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._online.parameters(), s.clip)
        self._optimizer.step()
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

    def _next_values(self, drawn: Any) -> NDArray[np.float64]:
        """Double DQN: the online network chooses, the target network values the choice."""
        found = np.zeros(len(drawn.obs))
        alive = np.flatnonzero(drawn.next_obs >= 0)
        if not len(alive):
            return found
        later = self._observations.gather(drawn.next_obs[alive])
        counts = later.lengths - 1
        is_action = np.ones(len(later.values), bool)
        is_action[later.offsets] = False
        actions = later.values[is_action]
        states = np.repeat(later.values[later.offsets], counts)
        with torch.no_grad():
            bags, (s, a) = self._distinct(states, actions)
            values = self._online(bags, s, a).cpu().numpy()
            begins = np.cumsum(counts) - counts
            best = np.array(
                [b + int(np.argmax(values[b : b + n])) for b, n in zip(begins, counts, strict=True)]
            )
            bags, (s, a) = self._distinct(states[best], actions[best])
            found[alive] = self._target(bags, s, a).cpu().numpy()
        return found

    def _distinct(self, *columns: Ints) -> tuple[Batch, list[Ints]]:
        """The distinct bags that some columns name, and the columns as numbers of these."""
        used, where = np.unique(np.concatenate(columns), return_inverse=True)
        return self._bags.gather(used), np.split(where, np.cumsum([len(c) for c in columns])[:-1])

    # ------------------------------------------------------------ keeping

    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The network, the rows of its features, the common names."""
        record = {"vocabulary": self._vocabulary.names, "lexicon": self._lexicon.state()}
        return dict(self._online.state_dict()), record

    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        self._online.load_state_dict(tensors)
        self._vocabulary = Vocabulary(self.settings.vocabulary, record["vocabulary"])
        self._lexicon.load_state(record["lexicon"])

    def progress(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Target network, optimizer, replay, chance and counters."""
        arrays, replay = self._replay.state()
        tensors = {f"replay.{name}": torch.from_numpy(array) for name, array in arrays.items()}
        for name, store in (("bags", self._bags), ("observations", self._observations)):
            values, starts = store.state()
            tensors[f"{name}.values"] = torch.from_numpy(values)
            tensors[f"{name}.starts"] = torch.from_numpy(starts)
        tensors |= {f"target.{name}": t for name, t in self._target.state_dict().items()}
        for number, kept in self._optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{number}.{name}": t for name, t in kept.items()}
        record = {
            "replay": replay,
            "slots": {str(slot): queue.state() for slot, queue in self._slots.items()},
            "texts": self._texts.state(),
            "counts": self._counts,
            "rng": self._rng.bit_generator.state,
            "steps": self._steps,
            "updates": self._updates,
        }
        return tensors, record

    def load_progress(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        parts: dict[str, dict[str, Any]] = {}
        for name, tensor in tensors.items():
            part, _, rest = name.partition(".")
            parts.setdefault(part, {})[rest] = tensor
        arrays = {name: tensor.numpy() for name, tensor in parts["replay"].items()}
        self._replay.load_state(arrays, record["replay"])
        for name, store in (("bags", self._bags), ("observations", self._observations)):
            store.load_state(parts[name]["values"].numpy(), parts[name]["starts"].numpy())
        self._target.load_state_dict(parts["target"])
        state = self._optimizer.state_dict()
        state["state"] = {}
        for name, tensor in parts.get("adam", {}).items():
            number, _, key = name.partition(".")
            state["state"].setdefault(int(number), {})[key] = tensor
        self._optimizer.load_state_dict(state)
        s = self.settings
        self._slots = {int(slot): NStep(s.n_steps, s.gamma) for slot in record["slots"]}
        for slot, queue in record["slots"].items():
            self._slots[int(slot)].load_state(queue)
        self._texts.load_state(record["texts"])
        self._counts = record["counts"]
        self._rng.bit_generator.state = record["rng"]
        self._steps, self._updates = record["steps"], record["updates"]


def memory_key(obs: Observation) -> int:
    """Stable hash of what the memory shows: the facts in any order, or else the text."""
    facts = sorted(map(str, obs["triples"]))
    return _code("\n".join(facts or (obs["text"], obs["inventory"])))


def _code(text: str) -> int:
    return zlib.crc32(text.encode())


def _batch(bags: list[tuple[int, ...]]) -> Batch:
    lengths = np.array([len(bag) for bag in bags], np.int64)
    values = np.array([row for bag in bags for row in bag], np.int64)
    return Batch(values, np.cumsum(lengths) - lengths, lengths)


class Drrn(LearnedPolicy):
    """Plays a trained DRRN."""

    name = "drrn"
    learner_class = DrrnLearner
