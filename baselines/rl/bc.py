"""Behaviour cloning and DAgger (Ross et al. 2011) on DRRN's scorer, then RL fine-tuning.

A teacher labels states of the training games, and all labels are kept. Cross-entropy over
``Q / temperature`` raises Q of the teacher's action above the others by a margin in units of
reward, so that RL can start from these values. RL updates are DRRN's, over all played steps;
cloning updates between them preserve what was cloned (as in DQfD, Hester et al. 2018).
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings
from gym_memory.baselines.rl.shared.bags import BagStore, Ints, ObservationBags, torch
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.baselines.rl.shared.rollouts import cells
from gym_memory.baselines.rl.shared.teachers import PlannerTeacher, RecordedTeacher, TeacherAdvice
from gym_memory.baselines.rules.plan import Plan
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help

__all__ = ["BcLearner", "BcSettings", "LabelledState"]


@dataclasses.dataclass(frozen=True)
class BcSettings(DrrnSettings):
    """Settings of cloning, and DRRN's with some other defaults."""

    teacher: Annotated[
        str,
        Help(
            "planner, which labels every state, or a recorded trajectory (a file, or a folder "
            "with files), which labels the states that it visits."
        ),
    ] = "planner"
    dialect: Annotated[str, Help("Dialect of the game's texts, for the planner.")] = "textworld"
    beta_steps: Annotated[
        int,
        Help(
            "Steps over which the share of the teacher's actions falls from 1 to 0 (Algorithm "
            "3.1); 0: the teacher plays alone until RL begins.",
            low=0,
        ),
    ] = 5000
    rl_after: Annotated[int, Help("Steps before RL begins; 0: never.", low=0)] = 0
    temperature: Annotated[
        float, Help("Temperature of the cloned softmax, in units of reward.", above=0)
    ] = 0.1
    clone_every: Annotated[int, Help("RL updates per cloning update; 0: RL alone.", low=0)] = 4
    shown: Annotated[int, Help("Labelled states to keep; later ones are dropped.", low=1)] = 65536
    learn_start: Annotated[int, Help("Steps before the first update.", low=0)] = 200
    update_every: Annotated[int, Help("Environment steps per update.", low=1)] = 2
    epsilon_start: Annotated[float, Help("Share of random actions at the start.", 0, 1)] = 0.05


class LabelledState(NamedTuple):
    """DRRN's encoding of an observation, with the teacher's advice.

    Attributes:
        seen: DRRN's encoding.
        actions: The valid actions; empty while evaluating, as are the fields below.
        label: Index of the teacher's action; -1 if it named no valid one.
        advice: The teacher's action and plan.
    """

    seen: ObservationBags
    actions: tuple[str, ...] = ()
    label: int = -1
    advice: TeacherAdvice = TeacherAdvice("")


class BcLearner(DrrnLearner):
    """A learner that imitates a teacher, then learns from rewards."""

    name = "bc"
    settings_class = BcSettings
    settings: BcSettings

    def __init__(self, settings: BcSettings, *, seed: int = 0, device: str = "cpu"):
        super().__init__(settings, seed=seed, device=device)
        self.teacher: PlannerTeacher | RecordedTeacher | None = None
        # a separate store, since shown states outlive the replay
        self.shown_bags = BagStore()
        self.labelled: list[tuple[Ints, int]] = []

    # ------------------------------------------------------------ acting

    def see(self, obs: Observation, task_id: str = "", before: Any = None, action: int = -1) -> Any:
        """Encode an observation as :class:`LabelledState`; get advice while training."""
        seen = super().see(obs, task_id, before.seen if before else None, action)
        if not task_id:
            return LabelledState(seen)
        actions = tuple(obs["valid_actions"])
        done = before.actions[action] if before else ""
        advice = self._teacher().advise(obs, task_id, before.advice if before else None, done)
        label = actions.index(advice.action) if advice.action in actions else -1
        return LabelledState(seen, actions, label, advice)

    def _teacher(self) -> PlannerTeacher | RecordedTeacher:
        if self.teacher is None:
            name = self.settings.teacher
            self.teacher = (
                PlannerTeacher(self.settings.dialect)
                if name == "planner"
                else RecordedTeacher(Path(name))
            )
        return self.teacher

    def pack(self, seen: Any) -> list[Any]:
        """Return an encoded state as JSON-able values."""
        advice = [seen.advice.action, seen.advice.plan.pack()]
        return [super().pack(seen.seen), seen.actions, seen.label, advice]

    def unpack(self, packed: list[Any]) -> Any:
        """Return the inverse of :meth:`pack`."""
        seen, actions, label, advice = packed
        advice = TeacherAdvice(advice[0], Plan.unpack(advice[1]))
        return LabelledState(super().unpack(seen), tuple(actions), label, advice)

    @property
    def beta(self) -> float:
        """Return the probability of following the teacher at this step."""
        s = self.settings
        if self.reinforces:
            return 0.0
        return max(0.0, 1 - self.steps / s.beta_steps) if s.beta_steps else 1.0

    @property
    def reinforces(self) -> bool:
        """True if RL has begun."""
        return bool(self.settings.rl_after) and self.steps >= self.settings.rl_after

    def act(self, seen: list[Any], *, explore: bool) -> list[int]:
        """Choose as DRRN, or follow the teacher."""
        chosen = super().act([one.seen for one in seen], explore=explore)
        beta = self.beta if explore else 0.0
        if beta:
            for i, one in enumerate(seen):
                if one.label >= 0 and self.rng.random() < beta:
                    chosen[i] = one.label
        return chosen

    # ------------------------------------------------------------ learning

    def observe(self, slot: int, experience: Experience) -> None:
        """Store a step, and its state if it is labelled."""
        taught = experience.seen
        later = experience.next_seen.seen
        super().observe(slot, experience._replace(seen=taught.seen, next_seen=later))
        if taught.label >= 0 and len(self.labelled) < self.settings.shown:
            self.labelled.append((self.shown_bags.add(taught.seen.bags), taught.label))

    def update(self) -> dict[str, float]:
        """Make one update by cloning, or by RL interleaved with cloning; return values to log."""
        if not self.reinforces:
            if not self.labelled:
                self.updates += 1
                return {"updates": float(self.updates)}
            logged = self._clone()
            self.updates += 1
            # RL starts from the clone's estimates
            self.target.load_state_dict(self.online.state_dict())
            return {"updates": float(self.updates), "beta": self.beta, **logged}
        logged = super().update()
        every = self.settings.clone_every
        if every and self.labelled and self.updates % every == 0:
            logged |= self._clone()
        return logged

    def _clone(self) -> dict[str, float]:
        """Make one update by cross-entropy on uniformly drawn states."""
        s = self.settings
        drawn = self.rng.integers(len(self.labelled), size=s.batch)
        shown, labels = zip(*(self.labelled[number] for number in drawn), strict=True)
        bags, pairs, counts = self.shown_bags.pairs(shown)
        values = self.online(bags, *pairs)
        logits = values.new_full((s.batch, int(counts.max())), -torch.inf)
        logits[cells(counts, values.device)] = values / s.temperature
        target = torch.tensor(labels, device=logits.device)
        loss = torch.nn.functional.cross_entropy(logits, target)
        self.descend(loss)
        agreed = (logits.argmax(1) == target).float().mean()
        return {"clone_loss": float(loss.detach()), "agreed": float(agreed)}

    # ------------------------------------------------------------ checkpoints

    def progress(self) -> dict[str, Any]:
        """Also return the shown states."""
        shown = {"shown": self.shown_bags.state(), "labelled": self.labelled}
        return super().progress() | shown

    def load_progress(self, state: dict[str, Any]) -> None:
        """Also load the shown states."""
        super().load_progress(state)
        self.shown_bags = BagStore(state["shown"])
        self.labelled = [(np.array(obs), label) for obs, label in state["labelled"]]
