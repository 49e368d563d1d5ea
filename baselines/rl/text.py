"""A small transformer over text alone: no facts, no roles, no lexicon, no signposts.

It reads the words of the text, the task, the inventory and the rendered memory, and those of each
valid action, by the copy attention of :mod:`gym_memory.baselines.rl.shared.reader`.

It learns by cloning a teacher that goes by a memory of its own, the same whatever the learner sees,
in states that the learner comes to (DAgger, Ross et al. 2011), and, from ``rl_after`` steps on, by
advantage actor-critic.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from gym_memory.baselines.rl.shared.encoders import Texts
from gym_memory.baselines.rl.shared.player import LearnedPolicy
from gym_memory.baselines.rl.shared.reader import PARTS, Ints, Reader, Words, lines_of
from gym_memory.baselines.rl.shared.rollouts import Rollouts, Table, actor_critic_loss

from gym_memory.baselines.registry import POLICIES
from gym_memory.baselines.rl.shared.checkpoints import load_moments, moments
from gym_memory.baselines.rl.shared.learner import Experience, Learner
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.records import Observation
from gym_memory.core.settings import check_int, check_name, check_number, check_share

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["Text", "TextLearner", "TextSettings"]

_TOKEN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*|[>:;,.\n]")
_LEAST = 0.05
"""Priority of a state whose label is certain."""


@dataclasses.dataclass(frozen=True)
class TextSettings:
    """Settings.

    Attributes:
        words: ``own``: vectors of words learnt from nothing; ``minilm``: MiniLM's, frozen.
        vocabulary: Rows for words and their pieces, by a stable hash.
        dim: Size of a vector.
        heads: Heads of the copy attention; they divide ``dim``.
        layers: Layers.
        forget: Share of the words of an observation whose vectors are taken away while cloning,
            all places of a word together (Gal and Ghahramani 2016), so that what is learnt does
            not hang on names.
        longest: Words of the memory that are read, the last ones.
        teacher: Who is cloned: ``planner``; empty for RL alone.
        teacher_memory: The memory that the teacher goes by.
        beta_steps: Steps over which the share of the teacher's own actions falls from 1 to 0.
        rl_after: Steps before RL begins; 0: never.
        batch: Labelled states an update.
        update_every: Steps an update by cloning.
        learn_start: Steps before the first one.
        shown: Labelled states kept; the first ones.
        n_steps: Steps of each game between two updates by RL.
        gamma: Discount a step.
        entropy: Weight of the policy's entropy.
        value_weight: Weight of the critic's squared error.
        lr: Learning rate of AdamW.
        decay: Its weight decay.
        clip: Largest norm of the gradient.

    Raises:
        InvalidArgumentError: A number is out of its range.
        UnknownNameError: A name is not one of those that there are.
    """

    words: str = "own"
    vocabulary: int = 4096
    dim: int = 64
    heads: int = 4
    layers: int = 3
    forget: float = 0.2
    longest: int = 4096
    teacher: str = "planner"
    teacher_memory: str = "arigraph"
    beta_steps: int = 1500
    rl_after: int = 0
    batch: int = 8
    update_every: int = 3
    learn_start: int = 64
    shown: int = 65536
    n_steps: int = 8
    gamma: float = 0.9
    entropy: float = 0.03
    value_weight: float = 0.5
    lr: float = 2e-3
    decay: float = 0.01
    clip: float = 1.0

    def __post_init__(self) -> None:
        check_name("words", self.words, ("own", "minilm"))
        check_name("teacher", self.teacher, ("", "planner"))
        check_int("vocabulary", self.vocabulary, 2)
        for name in ("heads", "layers", "longest", "batch", "update_every", "shown", "n_steps"):
            check_int(name, getattr(self, name), 1)
        if check_int("dim", self.dim, 1) % self.heads:
            raise InvalidArgumentError(
                f"expected heads that divide dim={self.dim}, got {self.heads}"
            )
        for name in ("beta_steps", "rl_after", "learn_start"):
            check_int(name, getattr(self, name), 0)
        check_share("gamma", self.gamma)
        check_share("forget", self.forget)
        check_number("lr", self.lr, above=0)
        check_number("clip", self.clip, above=0)


class TextLearner(Learner):
    """Learns; see the module."""

    name = "text"
    settings_class = TextSettings
    settings: TextSettings

    def __init__(self, settings: TextSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        # The batches are small: a second thread costs more than it brings.
        torch.set_num_threads(1)
        self._rng = np.random.default_rng([seed, 0])
        self._texts = Texts()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            sizes = ("words", "vocabulary", "dim", "heads", "layers", "forget")
            given = {name: getattr(settings, name) for name in sizes}
            self._network = Reader(self._texts, **given).to(self.device)
        self._optimizer = torch.optim.AdamW(
            self._network.parameters(), lr=settings.lr, weight_decay=settings.decay, fused=True
        )
        self._shown: list[Words] = []
        self._losses: list[float] = []
        self._rollouts = Rollouts()
        self._steps = self._updates = self._cloned = 0

    # ------------------------------------------------------------ seeing

    def see(
        self, obs: Observation, task_id: str = "", before: Any = None, action: int = -1
    ) -> Words:
        """Words to numbers; the teacher's advice stands in the observation, where there is one."""
        words, parts = [], []
        for part, name in enumerate(PARTS):
            found = self._numbers(obs[name])  # type: ignore[literal-required]
            words.append(found[-self.settings.longest :])
            parts.append(np.full(len(words[-1]), part, np.int32))
        actions = tuple(self._numbers(action) for action in obs["valid_actions"])
        advice = obs.get("advice", "")
        valid = tuple(obs["valid_actions"])
        label = valid.index(advice) if advice in valid else -1
        return Words(np.concatenate(words), np.concatenate(parts), actions, label)

    def _numbers(self, text: str) -> Ints:
        return np.array(
            [self._texts.number(word) for word in _TOKEN.findall(text.lower())], np.int32
        )

    def pack(self, seen: Words) -> list[Any]:
        """As JSON-able values."""
        actions = [action.tolist() for action in seen.actions]
        return [seen.words.tolist(), seen.parts.tolist(), actions, seen.label]

    def unpack(self, packed: list[Any]) -> Words:
        """The inverse of :meth:`pack`."""
        words, parts, actions, label = packed
        rows = tuple(np.array(action, np.int32) for action in actions)
        return Words(np.array(words, np.int32), np.array(parts, np.int32), rows, label)

    def _read(self, seen: list[Words], chance: np.random.Generator | None = None) -> Table:
        ends = frozenset(self._texts.number(mark) for mark in ".\n")
        table: Table = self._network(lines_of(seen, ends), chance)
        return table

    # ------------------------------------------------------------ acting

    @property
    def beta(self) -> float:
        """Present share of the teacher's actions."""
        steps = self.settings.beta_steps
        return max(0.0, 1 - self._steps / steps) if steps and not self.reinforces else 0.0

    @property
    def reinforces(self) -> bool:
        """Whether RL has begun."""
        s = self.settings
        return not s.teacher or (bool(s.rl_after) and self._steps >= s.rl_after)

    def act(self, seen: list[Words], *, explore: bool) -> list[int]:
        """Drawn from the policy but for the teacher's share, or its likeliest action."""
        with torch.no_grad():
            logits = self._read(seen).logits.cpu().numpy().astype(np.float64)
        if explore:
            logits += self._rng.gumbel(size=logits.shape)
        chosen: list[int] = np.argmax(np.round(logits, 4), axis=1).tolist()
        beta = self.beta if explore else 0.0
        for i, one in enumerate(seen):
            if beta and one.label >= 0 and self._rng.random() < beta:
                chosen[i] = one.label
        return chosen

    def seeded(self, seed: int) -> None:
        """Begin all chance anew, for playing."""
        self._rng = np.random.default_rng([seed, 0])

    # ------------------------------------------------------------ learning

    def observe(self, slot: int, experience: Experience) -> None:
        """Keep a state that is labelled, and the step where RL goes on from it."""
        self._steps += 1
        if experience.seen.label >= 0 and len(self._shown) < self.settings.shown:
            self._shown.append(experience.seen)
            self._losses.append(1.0)
        if self.reinforces:
            self._rollouts.add(slot, experience)

    def learn(self) -> dict[str, float]:
        """All updates that are due."""
        s, logged = self.settings, {}
        while (
            not self.reinforces
            and len(self._shown) >= s.batch
            and self._cloned < (self._steps - s.learn_start) // s.update_every
        ):
            logged = self._clone()
        if self._rollouts.ready(s.n_steps):
            logged |= self._reinforce()
        return {"updates": float(self._updates), **logged} if logged else {}

    def _clone(self) -> dict[str, float]:
        """One update by cross-entropy, on states drawn by how wrong they were when last drawn."""
        wrong = np.array(self._losses) + _LEAST
        drawn = self._rng.choice(len(wrong), self.settings.batch, p=wrong / wrong.sum()).tolist()
        seen = [self._shown[number] for number in drawn]
        logits = self._read(seen, self._rng).logits
        target = torch.tensor([one.label for one in seen], device=logits.device)
        losses = torch.nn.functional.cross_entropy(logits, target, reduction="none")
        self._descend(losses.mean())
        for number, loss in zip(drawn, losses.tolist(), strict=True):
            self._losses[number] = loss
        self._cloned += 1
        agreed = (logits.argmax(1) == target).float().mean()
        clone_loss = float(losses.detach().mean())
        return {"clone_loss": clone_loss, "agreed": float(agreed), "beta": self.beta}

    def _reinforce(self) -> dict[str, float]:
        """One update by advantage actor-critic on the steps since the last one."""
        steps = self._rollouts.steps()
        table = self._read([step.seen for step in steps])
        values = table.values.detach().cpu().numpy()
        returns, counted = self._rollouts.returns(values, self.settings.gamma, self._critic)
        actions = [step.action for step in steps]
        loss, logged = actor_critic_loss(table, actions, returns, counted, self.settings)
        self._descend(loss)
        self._rollouts.clear()
        return logged

    def _critic(self, seen: list[Words]) -> list[float]:
        with torch.no_grad():
            values: list[float] = self._read(seen).values.cpu().tolist()
        return values

    def _descend(self, loss: torch.Tensor) -> None:
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), self.settings.clip)
        self._optimizer.step()
        self._updates += 1

    # ------------------------------------------------------------ keeping

    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The network: words have no numbers of their own in it."""
        return dict(self._network.state_dict()), {}

    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace it."""
        self._network.load_state_dict(tensors)

    def progress(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Optimizer, words, what was shown and played, chance and counters."""
        record = {
            "texts": self._texts.state(),
            "shown": [self.pack(seen) for seen in self._shown],
            "losses": self._losses,
            "rng": self._rng.bit_generator.state,
            "counts": [self._steps, self._updates, self._cloned],
        }
        return moments(self._optimizer), record | self._rollouts.state(self.pack)

    def load_progress(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        load_moments(self._optimizer, tensors)
        self._texts.load_state(record["texts"])
        self._shown = [self.unpack(packed) for packed in record["shown"]]
        self._losses = record["losses"]
        self._rng.bit_generator.state = record["rng"]
        self._steps, self._updates, self._cloned = record["counts"]
        self._rollouts.load_state(record, self.unpack)


@POLICIES.register("text")
class Text(LearnedPolicy):
    """Plays what was learnt.

    Args:
        checkpoint: As every learned policy.
        mode: ``greedy``, the likeliest action, or ``sample``, by the chances: one that remembers
            nothing walks in circles when it is greedy.
        device: ``cpu`` or ``cuda``.

    Raises:
        InvalidArgumentError: As every learned policy.
        UnknownNameError: ``mode`` is neither.
        CheckpointError: As every learned policy.
    """

    name = "text"
    learner_class = TextLearner
    learner: TextLearner

    def __init__(self, checkpoint: str = "", *, mode: str = "greedy", device: str = "cpu"):
        check_name("mode", mode, ("greedy", "sample"))
        self.explores = mode == "sample"
        super().__init__(checkpoint, device=device)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode; seeds the sampling."""
        super().reset(info, seed)
        self.learner.seeded(seed or 0)
