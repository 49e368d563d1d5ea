"""Training loop: several environments stepped together, one batch of decisions per tick."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np

from gym_memory.baselines.rl.shared.learner import Experience, Learner
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import playable, value_of
from gym_memory.core.settings import Help, Settings

__all__ = ["Deal", "Envs", "Score", "TrainSettings", "TrainingLoop", "evaluate"]


@dataclasses.dataclass(frozen=True)
class TrainSettings(Settings):
    """Length of a training, its games, and its measurements."""

    steps: Annotated[int, Help("Environment steps.", low=1)] = 50_000
    max_cpu_minutes: Annotated[
        float, Help("CPU minutes over all resumes, evaluation included; 0: no limit.", low=0)
    ] = 0.0
    stop_at: Annotated[
        float, Help("Stop at this mean normalized score on the valid games; above 1: never.")
    ] = 2.0
    games: Annotated[int, Help("Training games, the first ones of the split.", low=1)] = 20
    valid_games: Annotated[int, Help("Games of the valid split to measure on.", low=1)] = 20
    envs: Annotated[int, Help("Environments stepped together.", low=1)] = 8
    reward_scale: Annotated[
        float, Help("Factor on rewards; settings are made for rewards of about 1.", above=0)
    ] = 1.0
    evaluate_every: Annotated[int, Help("Steps between measurements.", low=1)] = 2_500
    checkpoint_every: Annotated[int, Help("Steps between checkpoints.", low=1)] = 5_000
    seed: Annotated[int, Help("Seed of all chance.", low=0)] = 0


class Envs(Protocol):
    """Environments by split and *slot*, a number from 0; opened when they are first called."""

    def call(self, split: str, name: str, arguments: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """Call a method of :class:`.EnvSlot` in several slots; return the answers in order."""
        ...

    def close(self, split: str) -> None:
        """Close the environments of a split; harmless if none is open."""
        ...


class Score(NamedTuple):
    """Means over episodes."""

    score: float
    success: float
    steps: float


@dataclasses.dataclass
class RunningEpisode:
    """An episode of a slot; ``info`` is the last one, for its score."""

    game: int = 0
    actions: list[str] = dataclasses.field(default_factory=list)
    obs: Any = None
    info: dict[str, Any] = dataclasses.field(default_factory=dict)
    seen: Any = None


def evaluate(learner: Learner, envs: Envs, seeds: Sequence[int], at_once: int = 8) -> Score:
    """Play one greedy episode of each seed, ``at_once`` together, on fresh ``valid`` games."""
    slots: list[RunningEpisode] = []
    for start in range(0, len(seeds), at_once):
        try:
            slots += _play(learner, envs, seeds[start : start + at_once])
        finally:
            envs.close("valid")
    each = [(value_of(s.info), bool(s.info["success"]), len(s.actions)) for s in slots]
    return Score(*np.mean(each, axis=0).tolist())


def _play(learner: Learner, envs: Envs, seeds: Sequence[int]) -> list[RunningEpisode]:
    slots = []
    for obs, info in envs.call("valid", "reset", {n: (seed,) for n, seed in enumerate(seeds)}):
        obs = playable(obs, info)
        slots.append(RunningEpisode(obs=obs, info=info, seen=learner.see(obs)))
    playing = dict(enumerate(slots))
    while playing:
        chosen = learner.act([slot.seen for slot in playing.values()], explore=False)
        answers = envs.call("valid", "step", _choose(playing, chosen))
        for number, choice, answer in zip(list(playing), chosen, answers, strict=True):
            slot = playing[number]
            obs, _, terminated, truncated, slot.info = answer
            if terminated or truncated:
                del playing[number]
            else:
                slot.obs = playable(obs, slot.info)
                slot.seen = learner.see(slot.obs, "", slot.seen, choice)
    return slots


def _choose(slots: Mapping[int, RunningEpisode], chosen: Sequence[int]) -> dict[int, tuple[str]]:
    """Return the chosen actions as arguments of a step; each slot notes its own."""
    for slot, choice in zip(slots.values(), chosen, strict=True):
        slot.actions.append(slot.obs["valid_actions"][choice])
    return {number: (slot.actions[-1],) for number, slot in slots.items()}


class Deal:
    """An endless order of games: rounds of all games in random order."""

    def __init__(self, games: int, *seed: int):
        self.left: list[int] = []  # games of this round, the next one last
        self.rng = np.random.default_rng(seed)
        self._games = games

    def __call__(self) -> int:
        """Return the next game."""
        self.left = self.left or self.rng.permutation(self._games).tolist()
        return self.left.pop()

    def state(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {"queue": self.left, "rng": self.rng.bit_generator.state}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from where the state was taken."""
        self.left, self.rng.bit_generator.state = state["queue"], state["rng"]


class TrainingLoop:
    """A learner in its training games; :class:`.Trainer` ticks and measures it to the end."""

    def __init__(self, learner: Learner, envs: Envs, settings: TrainSettings):
        self.learner, self.envs, self.settings = learner, envs, settings
        self.deal = Deal(settings.games, settings.seed, 1)
        self.episodes = [RunningEpisode() for _ in range(settings.envs)]
        self.recent: list[float] = []
        """Scores of the episodes that ended since the last measurement."""
        self.logged: dict[str, float] = {}
        self.steps = self.finished = 0

    def start(self) -> None:
        """Start an episode in every environment."""
        started = self._deal_to(range(len(self.episodes)))
        for slot, start in zip(self.episodes, started, strict=True):
            self._see_start(slot, *start)

    def _deal_to(self, numbers: Iterable[int]) -> list[Any]:
        """Assign games to slots and reset; return observations and infos, not yet encoded."""
        seeds = {}
        for number in numbers:
            slot = self.episodes[number]
            slot.game, slot.actions = self.deal(), []
            seeds[number] = (slot.game,)
        return self.envs.call("train", "reset", seeds) if seeds else []

    def _see_start(self, slot: RunningEpisode, obs: Any, info: dict[str, Any]) -> None:
        if not obs["valid_actions"]:
            raise InvalidArgumentError(
                f"expected games that list valid actions, got none in {info['task_id']!r}: "
                "a trained policy chooses from them"
            )
        slot.obs, slot.seen = obs, self.learner.see(obs, info["task_id"])

    def tick(self) -> None:
        """Step all environments at once; then show them to the learner in order."""
        slots = dict(enumerate(self.episodes))
        chosen = self.learner.act([slot.seen for slot in self.episodes], explore=True)
        answers = self.envs.call("train", "step", _choose(slots, chosen))
        started = iter(self._deal_to(n for n, answer in enumerate(answers) if any(answer[2:4])))
        for number, (slot, choice) in enumerate(zip(self.episodes, chosen, strict=True)):
            obs, reward, terminated, truncated, info = answers[number]
            over = terminated or truncated
            obs = obs if over else playable(obs, info)
            seen = self.learner.see(obs, info["task_id"], slot.seen, choice)
            worth = self.settings.reward_scale * reward
            step = Experience(slot.seen, choice, worth, seen, terminated, truncated)
            self.learner.observe(number, step)
            if over:
                self.recent.append(value_of(info))
                self.finished += 1
                self._see_start(slot, *next(started))
            else:
                slot.obs, slot.seen = obs, seen
        self.steps += len(self.episodes)
        self.logged = self.learner.learn() or self.logged

    def measure(self) -> dict[str, Any]:
        """Play the valid games; return a line of the curve."""
        s = self.settings
        score = evaluate(self.learner, self.envs, range(s.valid_games), s.envs)
        recent, self.recent = self.recent, []
        return {
            "steps": self.steps,
            "episodes": self.finished,
            "train_score": float(np.mean(recent)) if recent else None,
            **{f"valid_{name}": value for name, value in score._asdict().items()},
            **self.logged,
        }
