"""Behaviour cloning and DAgger (Ross et al. 2011) on DRRN's scorer, then RL fine-tuning.

A teacher names an action in the states of the training games. ``beta_steps`` says who plays
meanwhile: the learner, but for a share beta of the teacher's actions that falls from 1 to 0
(Algorithm 3.1 of the paper), or the teacher alone (``beta_steps=0``: behaviour cloning). Either
way the labelled states are aggregated, and Q of the teacher's action is raised above the others'
by cross-entropy over ``Q / temperature``: a soft margin of a few temperatures, in units of reward,
so that the values stay of a size that RL can go on from.

From ``rl_after`` steps on the updates are those of
:class:`~gym_memory.baselines.rl.drrn.DrrnLearner` on everything that was played, the teacher's
steps included, and each ``clone_every``-th one is followed by a cloning update, which keeps what was shown from washing out (as in DQfD, Hester et
al. 2018, which has a hard margin in every update).
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gym_memory.baselines.rl.shared.interning import Ragged
from gym_memory.baselines.rl.shared.player import LearnedPolicy
from gym_memory.baselines.rl.shared.teachers import Advice, PlannerTeacher, Recorded, Teacher

from gym_memory.baselines.registry import POLICIES
from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings
from gym_memory.baselines.rl.shared.bags import Seen
from gym_memory.baselines.rl.shared.checkpoints import arrays, prefixed
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.core.optional import require
from gym_memory.core.records import Observation
from gym_memory.core.settings import check_int

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["Bc", "BcLearner", "BcSettings", "Taught"]


@dataclasses.dataclass(frozen=True)
class BcSettings(DrrnSettings):
    """Settings, besides DRRN's, some of which have other defaults.

    Attributes:
        teacher: ``planner``, which labels every state that is visited, or a recorded trajectory
            (a file, or a folder with files in it), of whatever player, which labels the states of
            its own course.
        dialect: Dialect of the game's texts, for the planner.
        beta_steps: Steps over which the share of the teacher's actions falls from 1 to 0; 0: the
            teacher plays on its own as long as there is no RL.
        rl_after: Steps before RL begins; 0: never.
        clone_every: RL updates for each cloning update; 0: RL alone.
        shown: Labelled states kept; the first ones.
        temperature: Of cloning, where it is the margin of the teacher's action, and of exploration
            by ``softmax``; in units of reward.
    """

    teacher: str = "planner"
    dialect: str = "textworld"
    beta_steps: int = 5000
    rl_after: int = 0
    clone_every: int = 4
    shown: int = 65536
    learn_start: int = 200
    update_every: int = 2
    epsilon_start: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("beta_steps", "rl_after", "clone_every"):
            check_int(name, getattr(self, name), 0)
        check_int("shown", self.shown, 1)


class Taught(NamedTuple):
    """What DRRN sees, and what the teacher says to it.

    Attributes:
        seen: DRRN's part.
        actions: The valid actions; empty while evaluating, as all below.
        label: Index of the teacher's action; -1 where it named none that is valid.
        advice: What the teacher said.
    """

    seen: Seen
    actions: tuple[str, ...] = ()
    label: int = -1
    advice: Advice = Advice("", "")


class BcLearner(DrrnLearner):
    """Learns; see the module."""

    name = "bc"
    settings_class = BcSettings
    settings: BcSettings

    def __init__(self, settings: BcSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        self._teacher: Teacher | None = None
        # Stores of their own: what was shown stays when the replay forgets.
        self._shown_bags, self._shown = Ragged(), Ragged()
        self._labelled: list[tuple[int, int]] = []

    # ------------------------------------------------------------ acting

    def see(self, obs: Observation, task_id: str = "", before: Any = None, action: int = -1) -> Any:
        """Encode an observation as :class:`Taught`; while training, ask the teacher."""
        seen = super().see(obs, task_id, before.seen if before else None, action)
        if not task_id:
            return Taught(seen)
        actions = tuple(obs["valid_actions"])
        done = before.actions[action] if before else ""
        advice = self._ask().advise(obs, task_id, before.advice if before else None, done)
        label = actions.index(advice.action) if advice.action in actions else -1
        return Taught(seen, actions, label, advice)

    def _ask(self) -> Teacher:
        if self._teacher is None:
            name = self.settings.teacher
            self._teacher = (
                PlannerTeacher(self.settings.dialect) if name == "planner" else Recorded(Path(name))
            )
        return self._teacher

    def pack(self, seen: Any) -> list[Any]:
        """As JSON-able values."""
        return [super().pack(seen.seen), seen.actions, seen.label, seen.advice]

    def unpack(self, packed: list[Any]) -> Any:
        """The inverse of :meth:`pack`."""
        seen, actions, label, advice = packed
        return Taught(super().unpack(seen), tuple(actions), label, Advice(*advice))

    @property
    def beta(self) -> float:
        """Present share of the teacher's actions."""
        s = self.settings
        if self.reinforces:
            return 0.0
        return max(0.0, 1 - self._steps / s.beta_steps) if s.beta_steps else 1.0

    @property
    def reinforces(self) -> bool:
        """Whether RL has begun."""
        return bool(self.settings.rl_after) and self._steps >= self.settings.rl_after

    def act(self, seen: list[Any], *, explore: bool) -> list[int]:
        """As DRRN, but for the teacher's share."""
        chosen = super().act([one.seen for one in seen], explore=explore)
        beta = self.beta if explore else 0.0
        if beta:
            for i, one in enumerate(seen):
                if one.label >= 0 and self._rng.random() < beta:
                    chosen[i] = one.label
        return chosen

    # ------------------------------------------------------------ learning

    def observe(self, slot: int, experience: Experience) -> None:
        """Store a step, and its state where it is labelled."""
        taught = experience.seen
        later = experience.next_seen.seen
        super().observe(slot, experience._replace(seen=taught.seen, next_seen=later))
        if taught.label >= 0 and len(self._labelled) < self.settings.shown:
            bags = tuple(self._shown_bags.add(bag) for bag in taught.seen.bags)
            self._labelled.append((self._shown.add(bags), taught.label))

    def _update(self) -> dict[str, float]:
        if not self.reinforces:
            if not self._labelled:
                self._updates += 1
                return {"updates": float(self._updates)}
            logged = self._clone()
            self._updates += 1
            # So that RL begins with the clone's own estimates.
            self._target.load_state_dict(self._online.state_dict())
            return {"updates": float(self._updates), "beta": self.beta, **logged}
        logged = super()._update()
        every = self.settings.clone_every
        if every and self._labelled and self._updates % every == 0:
            logged |= self._clone()
        return logged

    def _clone(self) -> dict[str, float]:
        """One update by cross-entropy on states drawn evenly."""
        s = self.settings
        drawn = self._rng.integers(len(self._labelled), size=s.batch)
        numbers, labels = np.array(self._labelled, np.int64)[drawn].T
        states, actions = self._shown.gather(numbers).split()
        counts = actions.lengths
        bags, pairs = self._shown_bags.gather_distinct(np.repeat(states, counts), actions.values)
        values = self._online(bags, *pairs)
        rows = np.repeat(np.arange(s.batch), counts)
        columns = np.arange(len(rows)) - np.repeat(actions.offsets, counts)
        logits = values.new_full((s.batch, int(counts.max())), -torch.inf)
        logits[torch.from_numpy(rows), torch.from_numpy(columns)] = values / s.temperature
        target = torch.from_numpy(labels).to(logits.device)
        loss = torch.nn.functional.cross_entropy(logits, target)
        self._descend(loss)
        agreed = (logits.argmax(1) == target).float().mean()
        return {"clone_loss": float(loss.detach()), "agreed": float(agreed)}

    # ------------------------------------------------------------ keeping

    def progress(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """DRRN's, and what was shown."""
        tensors, record = super().progress()
        tensors |= prefixed("shown_bags", self._shown_bags.state())
        tensors |= prefixed("shown", self._shown.state())
        return tensors, {**record, "labelled": self._labelled}

    def load_progress(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace them."""
        super().load_progress(tensors, record)
        self._shown_bags.load_state(arrays(tensors, "shown_bags"))
        self._shown.load_state(arrays(tensors, "shown"))
        self._labelled = [(number, label) for number, label in record["labelled"]]


@POLICIES.register("bc")
class Bc(LearnedPolicy):
    """Plays what was cloned."""

    name = "bc"
    learner_class = BcLearner
