"""A transformer over text alone, :class:`.CopyReader`, and how it learns.

It clones a teacher with a memory of its own, in states that the learner visits (DAgger, Ross et
al. 2011). Without a teacher it learns the values of actions from rewards, as DRRN does: double
Q-learning with n-step returns and a prioritized replay.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import numpy as np

from gym_memory.baselines.rl.drrn import NStep, Replay
from gym_memory.baselines.rl.reader import (
    PARTS,
    CopyReader,
    Observations,
    ReaderSettings,
    WordList,
    Words,
    lines_of,
)
from gym_memory.baselines.rl.shared.adam import Adam
from gym_memory.baselines.rl.shared.bags import Discount, torch
from gym_memory.baselines.rl.shared.learner import Experience, Learner
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help, check_int

__all__ = ["TextLearner", "TextSettings"]

_LEAST_PRIORITY = 0.05
"""Least priority of a labelled state, even if its loss is 0."""
_BETA = 0.4
"""Share of the correction by importance sampling."""


@dataclasses.dataclass(frozen=True)
class TextSettings(ReaderSettings):
    """Settings of the text baseline, beyond those of its reader."""

    longest: Annotated[int, Help("Most words of the memory to read, the last ones.", 1)] = 4096
    teacher_memory: Annotated[
        str, Help("Memory of the planner that teaches; empty for RL alone.")
    ] = "arigraph"
    beta_steps: Annotated[
        int, Help("Steps over which the share of the teacher's actions falls from 1 to 0.", low=0)
    ] = 1500
    batch: Annotated[int, Help("Labelled states or transitions per update.", low=1)] = 8
    update_every: Annotated[int, Help("Steps per update.", low=1)] = 3
    learn_start: Annotated[int, Help("Steps before the first update.", low=0)] = 64
    shown: Annotated[int, Help("Labelled states to keep; later ones are dropped.", low=1)] = 65536
    capacity: Annotated[int, Help("Transitions in the replay, for RL.", low=1)] = 32768
    n_steps: Annotated[int, Help("Steps of a return before the network's own estimate.", 1)] = 3
    gamma: Discount = 0.9
    target_every: Annotated[int, Help("Updates by RL between copies to the target.", low=1)] = 200
    epsilon_steps: Annotated[
        int, Help("Steps of RL over which the share of random actions falls from 1.", low=0)
    ] = 8000
    epsilon_end: Annotated[float, Help("Share of random actions from then on.", 0, 1)] = 0.05
    lr: Annotated[float, Help("Learning rate of AdamW.", above=0)] = 2e-3
    decay: Annotated[float, Help("Weight decay of AdamW.")] = 0.01
    clip: Annotated[float, Help("Largest norm of the gradient.", above=0)] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("capacity", self.capacity, self.batch)


class TextLearner(Learner):
    """A learner that clones a teacher or, without one, learns values from rewards."""

    name = "text"
    settings_class = TextSettings
    settings: TextSettings

    def __init__(self, settings: TextSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        # The batches are small: a second thread costs more than it gains.
        torch.set_num_threads(1)
        self.words = WordList()
        self.network, self.target = self._new_network(), self._new_network()
        self.optimizer = Adam(self.network.parameters(), settings.lr, settings.decay)
        self.shown: list[Words] = []
        self.losses: list[float] = []
        self.replay = Replay(settings.capacity)
        self.slots: dict[int, NStep] = {}

    def _new_network(self) -> CopyReader:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            return CopyReader(self.settings).to(self.device)

    # ------------------------------------------------------------ seeing

    @property
    def teacher_memory(self) -> str:
        """Return the memory of the teacher; empty for RL alone."""
        return self.settings.teacher_memory

    def see(
        self, obs: Observation, task_id: str = "", before: Any = None, action: int = -1
    ) -> Words:
        """Encode an observation; it may hold the teacher's advice."""
        words, parts = [], []
        for part, name in enumerate(PARTS):
            found = self.words.numbers(obs[name])  # type: ignore[literal-required]
            words.append(found[-self.settings.longest :])
            parts.append(np.full(len(words[-1]), part, np.int32))
        actions = tuple(self.words.numbers(action) for action in obs["valid_actions"])
        advice = obs.get("advice", "")
        valid = tuple(obs["valid_actions"])
        label = valid.index(advice) if advice in valid else -1
        earned = obs.get("earned", 0.0)
        return Words(np.concatenate(words), np.concatenate(parts), actions, label, earned)

    def pack(self, seen: Words) -> list[Any]:
        """Return an encoded observation as JSON-able values."""
        actions = [action.tolist() for action in seen.actions]
        return [seen.words.tolist(), seen.parts.tolist(), actions, seen.label, seen.earned]

    def unpack(self, packed: list[Any]) -> Words:
        """Return the inverse of :meth:`pack`."""
        words, parts, actions, *others = packed
        rows = tuple(np.array(action, np.int32) for action in actions)
        return Words(np.array(words, np.int32), np.array(parts, np.int32), rows, *others)

    def read(self, seen: list[Words], chance: np.random.Generator | None = None) -> torch.Tensor:
        """Return a number per action of observations: a logit, or by RL its value.

        Args:
            seen: Observations.
            chance: Draws the words that are zeroed; without it, none is.

        Returns:
            Of shape (observations, most actions), filled with :data:`.NEVER`.
        """
        table: torch.Tensor = self.network(lines_of(seen, self.words), chance)
        return table

    # ------------------------------------------------------------ acting

    @property
    def beta(self) -> float:
        """Return the present share of the teacher's actions."""
        steps = self.settings.beta_steps
        return max(0.0, 1 - self.steps / steps) if steps and self.teacher_memory else 0.0

    @property
    def epsilon(self) -> float:
        """Return the present share of random actions of RL."""
        s = self.settings
        done = min(self.steps / max(s.epsilon_steps, 1), 1.0)
        return 0.0 if self.teacher_memory else 1 + done * (s.epsilon_end - 1)

    def act(self, seen: list[Words], *, explore: bool) -> list[int]:
        """Choose the best actions.

        To explore, RL chooses a share at random; a learner with a teacher draws from the softmax,
        except for the teacher's share.
        """
        with torch.no_grad():
            logits = self.read(seen).cpu().numpy().astype(np.float64)
        if explore and self.teacher_memory:
            logits += self.rng.gumbel(size=logits.shape)
        chosen: list[int] = np.argmax(np.round(logits, 4), axis=1).tolist()
        beta, epsilon = (self.beta, self.epsilon) if explore else (0.0, 0.0)
        for i, one in enumerate(seen):
            if beta and one.label >= 0 and self.rng.random() < beta:
                chosen[i] = one.label
            if epsilon and self.rng.random() < epsilon:
                chosen[i] = int(self.rng.integers(len(one.actions)))
        return chosen

    def seeded(self, seed: int) -> None:
        """Seed the random generators, for playing."""
        self.rng = np.random.default_rng([seed, 0])

    # ------------------------------------------------------------ learning

    def observe(self, slot: int, experience: Experience) -> None:
        """Keep a labelled state or, without a teacher, the step."""
        self.steps += 1
        s, e = self.settings, experience
        if not self.teacher_memory:
            queue = self.slots.setdefault(slot, NStep(s.n_steps, s.gamma))
            later = None if e.terminated or e.truncated else e.next_seen
            for complete in queue.add(e.seen, later, e):
                self.replay.add(complete)
        elif e.seen.label >= 0 and len(self.shown) < s.shown:
            self.shown.append(e.seen)
            self.losses.append(1.0)

    def learn(self) -> dict[str, float]:
        """Make all updates that are due."""
        s, logged = self.settings, {}
        due = (self.steps - s.learn_start) // s.update_every
        kept = self.shown if self.teacher_memory else self.replay
        while self.updates < due and len(kept) >= s.batch:
            logged = self._clone() if self.teacher_memory else self._reinforce()
        return {"updates": float(self.updates), **logged} if logged else {}

    def _clone(self) -> dict[str, float]:
        """Make one update by cross-entropy, on states drawn by their loss when last drawn."""
        wrong = np.array(self.losses) + _LEAST_PRIORITY
        drawn = self.rng.choice(len(wrong), self.settings.batch, p=wrong / wrong.sum()).tolist()
        seen = [self.shown[number] for number in drawn]
        logits = self.read(seen, self.rng)
        target = torch.tensor([one.label for one in seen], device=logits.device)
        losses = torch.nn.functional.cross_entropy(logits, target, reduction="none")
        self._descend(losses.mean())
        for number, loss in zip(drawn, losses.tolist(), strict=True):
            self.losses[number] = loss
        agreed = (logits.argmax(1) == target).float().mean()
        clone_loss = float(losses.detach().mean())
        return {"clone_loss": clone_loss, "agreed": float(agreed), "beta": self.beta}

    def _reinforce(self) -> dict[str, float]:
        """Make one update by double Q-learning on drawn transitions, as DRRN does."""
        s = self.settings
        if self.updates % s.target_every == 0:
            self.target.load_state_dict(self.network.state_dict())
        drawn = self.replay.draw(s.batch, _BETA, self.rng)
        steps = drawn.transitions
        goals = np.array([step.reward for step in steps], np.float32)
        later = [n for n, step in enumerate(steps) if step.next_obs is not None]
        if later:
            lines = lines_of([steps[n].next_obs for n in later], self.words)
            with torch.no_grad():
                best = self.network(lines).argmax(1, keepdim=True)
                after = self.target(lines).gather(1, best).squeeze(1)
            goals[later] += [steps[n].discount for n in later] * after.cpu().numpy()
        taken = torch.tensor([[step.action] for step in steps], device=self.device)
        values = self.read([step.obs for step in steps]).gather(1, taken).squeeze(1)
        loss = self.replay.loss(drawn, values, goals)
        self._descend(loss)
        logged = {"loss": float(loss.detach()), "value": float(values.detach().mean())}
        return {**logged, "epsilon": self.epsilon}

    def _descend(self, loss: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip)
        self.optimizer.step()
        self.updates += 1

    # ------------------------------------------------------------ checkpoints

    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the network; it depends on no vocabulary."""
        return dict(self.network.state_dict()), {}

    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Load the network."""
        self.network.load_state_dict(tensors)

    def progress(self) -> dict[str, Any]:
        """Also return words, labelled states, the target network and the replay."""
        kept = Observations()
        replay = self.replay.state()
        replay["transitions"] = [
            (kept.number(obs), *step, later and kept.number(later), discount)
            for obs, *step, later, discount in replay["transitions"]
        ]
        slots = {
            slot: [(kept.number(obs), *step) for obs, *step in queue.steps]
            for slot, queue in self.slots.items()
        }
        return super().progress() | {
            "texts": self.words.state(),
            "shown": list(map(kept.number, self.shown)),
            "losses": self.losses,
            "target": self.target.state_dict(),
            "observations": kept.state(),  # once all have a number
            "replay": replay,
            "slots": slots,
        }

    def load_progress(self, state: dict[str, Any]) -> None:
        """Also load words, labelled states, the target network and the replay."""
        super().load_progress(state)
        self.words.load_state(state["texts"])
        self.losses = state["losses"]
        self.target.load_state_dict(state["target"])
        kept = list(Observations.read(state["observations"]))
        self.shown = [kept[number] for number in state["shown"]]
        self.replay.load_state(state["replay"], kept.__getitem__)
        for slot, steps in state["slots"].items():
            queue = [(kept[obs], *step) for obs, *step in steps]
            self.slots[int(slot)] = NStep(self.settings.n_steps, self.settings.gamma, queue)
