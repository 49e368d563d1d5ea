"""Training loop: several environments stepped together, one batch of decisions a tick."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np

from gym_memory.baselines.rl.shared.learner import Experience, Learner, playable, save_player
from gym_memory.core.errors import CheckpointError, InvalidArgumentError
from gym_memory.core.records import value_of
from gym_memory.core.settings import Help, Settings
from gym_memory.core.tensors import flattened, nested, read_tensors, write_tensors
from gym_memory.core.training_folder import (
    BEST,
    LAST,
    TRAINING,
    check_config,
    write_config,
    write_curve,
)

__all__ = ["Deal", "Envs", "LocalEnvs", "MakeEnv", "Score", "TrainSettings", "Trainer"]
__all__ += ["evaluate"]

MakeEnv = Callable[[str], Any]
"""Takes a split, returns a fresh environment with its memory."""


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


# ------------------------------------------------------------ environments


class Envs(Protocol):
    """Environments by split and *slot*, a number from 0; opened when they are first called."""

    def call(self, split: str, name: str, arguments: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """Call a method of :class:`EnvSlot` in several slots; return the answers in their order."""
        ...

    def close(self, split: str) -> None:
        """Close the environments of a split; harmless if none is open."""
        ...


class EnvSlot:
    """An environment with its memory, and the calls of the training; plain values go in and out."""

    def __init__(self, env: Any):
        self.env = env

    def versions(self) -> dict[str, str]:
        """Return the versions of the backend."""
        return dict(self.env.get_wrapper_attr("versions")())

    def reset(self, seed: int) -> Any:
        """Start an episode."""
        return self.env.reset(seed=seed)

    def step(self, action: str) -> Any:
        """Take a step."""
        obs, reward, *rest = self.env.step(action)
        return obs, float(reward), *rest

    def memory(self) -> Any:
        """Return the state of the memory."""
        return self.env.get_wrapper_attr("memory").state()

    def remember(self, state: dict[str, Any]) -> None:
        """Replace the memory's state by what :meth:`memory` returned."""
        self.env.get_wrapper_attr("memory").load_state(state)

    def replay(self, seed: int, actions: list[str], memory: dict[str, Any]) -> Any:
        """Replay an episode up to a step; return its observation and info."""
        self.reset(seed)
        for action in actions:
            self.step(action)
        # A memory may keep more than this episode's actions bring about.
        self.remember(memory)
        return self.env.get_wrapper_attr("restore")(self.env.get_wrapper_attr("snapshot")())


class LocalEnvs:
    """Environments of this process."""

    def __init__(self, make: MakeEnv):
        self._make = make
        self._open: dict[tuple[str, int], EnvSlot] = {}

    def call(self, split: str, name: str, arguments: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """Call a method in one slot after the other; see :class:`Envs`."""
        for slot in arguments:
            if (split, slot) not in self._open:
                self._open[split, slot] = EnvSlot(self._make(split))
        return [getattr(self._open[split, slot], name)(*given) for slot, given in arguments.items()]

    def opened(self, split: str) -> list[Any]:
        """Return the open environments of a split, by slot."""
        return [slot.env for (name, _), slot in sorted(self._open.items()) if name == split]

    def close(self, split: str) -> None:
        """Close the environments of a split."""
        for key in [key for key in self._open if key[0] == split]:
            self._open.pop(key).env.close()


# ------------------------------------------------------------ playing


class Score(NamedTuple):
    """Means over episodes."""

    score: float
    success: float
    steps: float


@dataclasses.dataclass
class _RunningEpisode:
    """An episode of a slot; ``info`` is the last one, for its score."""

    game: int = 0
    actions: list[str] = dataclasses.field(default_factory=list)
    obs: Any = None
    info: dict[str, Any] = dataclasses.field(default_factory=dict)
    seen: Any = None


def evaluate(learner: Learner, envs: Envs, seeds: Sequence[int], at_once: int = 8) -> Score:
    """Play one greedy episode of each seed, ``at_once`` together, on fresh ``valid`` games."""
    slots: list[_RunningEpisode] = []
    for start in range(0, len(seeds), at_once):
        try:
            slots += _play(learner, envs, seeds[start : start + at_once])
        finally:
            envs.close("valid")
    each = [(value_of(s.info), bool(s.info["success"]), len(s.actions)) for s in slots]
    return Score(*np.mean(each, axis=0).tolist())


def _play(learner: Learner, envs: Envs, seeds: Sequence[int]) -> list[_RunningEpisode]:
    slots = []
    for obs, info in envs.call("valid", "reset", {n: (seed,) for n, seed in enumerate(seeds)}):
        obs = playable(obs, info)
        slots.append(_RunningEpisode(obs=obs, info=info, seen=learner.see(obs)))
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


def _choose(slots: Mapping[int, _RunningEpisode], chosen: Sequence[int]) -> dict[int, tuple[str]]:
    """Return the chosen actions as arguments of a step; each slot notes its own."""
    for slot, choice in zip(slots.values(), chosen, strict=True):
        slot.actions.append(slot.obs["valid_actions"][choice])
    return {number: (slot.actions[-1],) for number, slot in slots.items()}


class Deal:
    """An endless order of games: each once, in an order by chance, then again.

    ``left`` are the games still to come of this round, the next one last.
    """

    def __init__(self, games: int, *seed: int):
        self.left: list[int] = []
        self.rng = np.random.default_rng(seed)
        self._games = games

    def __call__(self) -> int:
        """Return the next game."""
        self.left = self.left or self.rng.permutation(self._games).tolist()
        return self.left.pop()


# ------------------------------------------------------------ the training

_WHAT = "training run"
_LIMITS = ("steps", "max_cpu_minutes", "stop_at")
"""Settings that may change from one start of a run to the next; all else must stay."""
_COUNTS = ("steps", "finished", "curve", "recent", "best", "logged")
"""Attributes of a trainer that say how far it is, plain values."""


class Trainer:
    """A training of one learner.

    Args:
        learner: A fresh learner.
        make_env: Makes environments of the splits ``train`` and ``valid``, in this process.
        settings: Length, games and measurements.
        folder: Folder of the run; one with the same configuration in it is resumed.
        config: Plain values that also identify the run (environment, memory, ...).
        listener: Called after every tick with the steps so far, and a new line of the curve if
            there is one; before the valid games are played, with their number as ``measuring``.
        envs: Environments elsewhere; None for this process.
    """

    def __init__(
        self,
        learner: Learner,
        make_env: MakeEnv,
        settings: TrainSettings,
        folder: Path,
        config: dict[str, Any],
        listener: Callable[[int, dict[str, Any] | None], None] = lambda steps, row: None,
        envs: Envs | None = None,
    ):
        self.learner, self.settings, self.folder = learner, settings, folder
        self._envs, self.listener = envs or LocalEnvs(make_env), listener
        self._identity = {
            "baseline": learner.name,
            **config,
            "settings": dataclasses.asdict(learner.settings),
            "training": {k: v for k, v in vars(settings).items() if k not in _LIMITS},
        }
        self._stopped = False
        self._deal = Deal(settings.games, settings.seed, 1)
        self.episodes = [_RunningEpisode() for _ in range(settings.envs)]
        self.versions: dict[str, str] = self._all("versions")[0]
        self.curve: list[dict[str, Any]] = []
        self.recent: list[float] = []
        self.best: list[float] = []
        self.logged: dict[str, float] = {}
        self._cpu_before, self._cpu_start = 0.0, time.process_time()
        self.steps = self.finished = 0

    def stop(self) -> None:
        """End after the present tick, with a checkpoint."""
        self._stopped = True

    def close(self) -> None:
        """Close the environments."""
        self._envs.close("train")

    @property
    def cpu_seconds(self) -> float:
        """Return the CPU seconds of this training so far, over all resumes."""
        return self._cpu_before + time.process_time() - self._cpu_start

    def run(self) -> list[dict[str, Any]]:
        """Train to the end; return the curve."""
        self._begin()
        s = self.settings
        while self.steps < s.steps and not self._ended():
            before = self.steps
            self._tick()
            row = None
            if self.steps // s.evaluate_every > before // s.evaluate_every:
                row = self._measure()
            if self.steps // s.checkpoint_every > before // s.checkpoint_every:
                self._save()
            self.listener(self.steps, row)
        return self._finish()

    def _ended(self) -> bool:
        """True at a limit other than that in steps."""
        s = self.settings
        late = s.max_cpu_minutes and self.cpu_seconds >= 60 * s.max_cpu_minutes
        return self._stopped or bool(late) or bool(self.best and self.best[0] >= s.stop_at)

    def _finish(self) -> list[dict[str, Any]]:
        measured = bool(self.curve) and self.curve[-1]["steps"] == self.steps
        if not (measured or self._stopped):
            self.listener(self.steps, self._measure())
        self._save()
        return self.curve

    # ------------------------------------------------------------ playing

    def _begin(self) -> None:
        known = check_config(self.folder, self._identity, _WHAT)
        path = self.folder / TRAINING
        if not path.exists():
            self._start()
        else:
            try:
                self._load(*read_tensors(path))
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                raise CheckpointError(
                    f"expected a training checkpoint of this version at {str(path)!r}: {error!r}"
                ) from error
            write_curve(self.folder, self.curve)
        # Last, so that a wrong setting can be corrected in the same folder.
        if not known:
            write_config(self.folder, self._identity, _WHAT)

    def _start(self) -> None:
        started = self._deal_to(range(len(self.episodes)))
        for slot, start in zip(self.episodes, started, strict=True):
            self._see_start(slot, *start)

    def _all(self, name: str) -> list[Any]:
        return self._envs.call("train", name, dict.fromkeys(range(self.settings.envs), ()))

    def _deal_to(self, numbers: Iterable[int]) -> list[Any]:
        """Deal games to slots and reset; return observations and infos, not seen by the learner."""
        seeds = {}
        for number in numbers:
            slot = self.episodes[number]
            slot.game, slot.actions = self._deal(), []
            seeds[number] = (slot.game,)
        return self._envs.call("train", "reset", seeds) if seeds else []

    def _see_start(self, slot: _RunningEpisode, obs: Any, info: dict[str, Any]) -> None:
        if not obs["valid_actions"]:
            raise InvalidArgumentError(
                f"expected games that list valid actions, got none in {info['task_id']!r}: "
                "a trained policy chooses from them"
            )
        slot.obs, slot.seen = obs, self.learner.see(obs, info["task_id"])

    def _tick(self) -> None:
        """Step every environment, all at once; then the learner sees them in order."""
        slots = dict(enumerate(self.episodes))
        chosen = self.learner.act([slot.seen for slot in self.episodes], explore=True)
        answers = self._envs.call("train", "step", _choose(slots, chosen))
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

    # ------------------------------------------------------------ measuring

    def _measure(self) -> dict[str, Any]:
        """Play the valid games; keep the best player; add a line to the curve."""
        s = self.settings
        self.listener(self.steps, {"measuring": s.valid_games})
        games = range(s.valid_games)
        score = evaluate(self.learner, self._envs, games, s.envs)
        row = {
            "steps": self.steps,
            "episodes": self.finished,
            "train_score": float(np.mean(self.recent)) if self.recent else None,
            "valid_score": score.score,
            "valid_success": score.success,
            "valid_steps": score.steps,
            **self.logged,
            "cpu_seconds": round(self.cpu_seconds, 2),
        }
        self.curve.append(row)
        self.recent = []
        rank = [score.score, -score.steps]
        if not self.best or rank > self.best:
            self.best = rank
            self._save_player(BEST, row)
        write_curve(self.folder, self.curve)
        return row

    # ------------------------------------------------------------ checkpoints

    def _save_player(self, file: str, row: dict[str, Any] | None) -> None:
        save_player(self.folder / file, self.learner, {**self._identity, "measured": row})

    def _save(self) -> None:
        self._save_player(LAST, self.curve[-1] if self.curve else None)
        weights, learnt = self.learner.weights()
        state = {"weights": weights, "progress": self.learner.progress()}
        record = {
            "learnt": learnt,
            **self._counts(),
            "slots": [
                {
                    "game": slot.game,
                    "actions": slot.actions,
                    "seen": self.learner.pack(slot.seen),
                    "memory": memory,
                }
                for slot, memory in zip(self.episodes, self._all("memory"), strict=True)
            ],
        }
        write_tensors(self.folder / TRAINING, flattened(state), record)

    def _counts(self) -> dict[str, Any]:
        """Return how far the training is, as plain values."""
        dealt = {"queue": self._deal.left, "rng": self._deal.rng.bit_generator.state}
        counts = {name: getattr(self, name) for name in _COUNTS}
        return {**counts, **dealt, "cpu_seconds": self.cpu_seconds}

    def _load_counts(self, record: dict[str, Any]) -> None:
        for name in _COUNTS:
            setattr(self, name, record[name])
        self._deal.left, self._deal.rng.bit_generator.state = record["queue"], record["rng"]
        self._cpu_before = record["cpu_seconds"]

    def _load(self, found: dict[str, Any], record: dict[str, Any]) -> None:
        """Restore what :meth:`_save` wrote; play the episodes in progress up to their step."""
        state = nested(found)
        self.learner.load_weights(state["weights"], record["learnt"])
        self.learner.load_progress(state["progress"])
        self._load_counts(record)
        slots = record["slots"]
        calls = {n: (kept["game"], kept["actions"], kept["memory"]) for n, kept in enumerate(slots)}
        came = self._envs.call("train", "replay", calls)
        for slot, kept, (obs, info) in zip(self.episodes, slots, came, strict=True):
            slot.game, slot.actions = kept["game"], kept["actions"]
            slot.obs, slot.seen = playable(obs, info), self.learner.unpack(kept["seen"])
