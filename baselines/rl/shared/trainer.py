"""A training in a folder: its identity, curve, players and the state to resume from."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gym_memory.baselines.rl.shared.learner import Learner
from gym_memory.baselines.rl.shared.training import Envs, TrainingLoop, TrainSettings
from gym_memory.core.errors import CheckpointError
from gym_memory.core.records import playable
from gym_memory.core.tensors import flattened, nested, read_tensors, write_tensors
from gym_memory.core.training_folder import (
    BEST,
    LAST,
    TRAINING,
    check_config,
    write_config,
    write_curve,
)

__all__ = ["Listener", "Trainer"]

Listener = Callable[[int, dict[str, Any] | None], None]
"""Called after every tick with the steps so far, and with a new line of the curve if there is one.
Before the valid games are played, it gets their number as ``measuring``."""

_WHAT = "training run"
_LIMITS = ("steps", "max_cpu_minutes", "stop_at")
"""Settings that may change when a run is resumed; all others must stay."""
_COUNTS = ("steps", "finished", "curve", "recent", "best", "logged")
"""Attributes of a trainer's progress, plain values."""


class Trainer(TrainingLoop):
    """A training that is kept in a folder and resumed from it.

    Args:
        learner: A fresh learner.
        envs: Environments of the splits ``train`` and ``valid``.
        settings: Length, games and measurements.
        folder: Folder of the run; a run with the same configuration is resumed.
        config: Plain values that also identify the run (environment, memory, ...).
        listener: Called during the training.
    """

    def __init__(
        self,
        learner: Learner,
        envs: Envs,
        settings: TrainSettings,
        folder: Path,
        config: dict[str, Any],
        listener: Listener = lambda steps, row: None,
    ):
        super().__init__(learner, envs, settings)
        self.folder, self.listener = folder, listener
        self._identity = {
            "baseline": learner.name,
            **config,
            "settings": dataclasses.asdict(learner.settings),
            "training": {k: v for k, v in vars(settings).items() if k not in _LIMITS},
        }
        self.curve: list[dict[str, Any]] = []
        self.best: list[float] = []
        self._cpu_before, self._cpu_start = 0.0, time.process_time()
        self._stopped = False
        self.versions: dict[str, str] = self._all("versions")[0]

    def stop(self) -> None:
        """End after the present tick, with a checkpoint."""
        self._stopped = True

    def close(self) -> None:
        """Close the environments."""
        self.envs.close("train")

    @property
    def cpu_seconds(self) -> float:
        """Return the CPU seconds of this training so far, over all resumes."""
        return self._cpu_before + time.process_time() - self._cpu_start

    def run(self) -> list[dict[str, Any]]:
        """Train to the end; return the curve."""
        self.begin()
        s = self.settings
        while self.steps < s.steps and not self.ended:
            before = self.steps
            self.tick()
            row = None
            if self.steps // s.evaluate_every > before // s.evaluate_every:
                row = self.measure()
            if self.steps // s.checkpoint_every > before // s.checkpoint_every:
                self.save()
            self.listener(self.steps, row)
        return self.finish()

    @property
    def ended(self) -> bool:
        """True if a limit other than the number of steps is reached."""
        s = self.settings
        late = s.max_cpu_minutes and self.cpu_seconds >= 60 * s.max_cpu_minutes
        return self._stopped or bool(late) or bool(self.best and self.best[0] >= s.stop_at)

    def finish(self) -> list[dict[str, Any]]:
        """Measure a last time, unless just done or the training was stopped; return the curve."""
        measured = bool(self.curve) and self.curve[-1]["steps"] == self.steps
        if not (measured or self._stopped):
            self.listener(self.steps, self.measure())
        self.save()
        return self.curve

    def measure(self) -> dict[str, Any]:
        """Play the valid games; keep the best player; write the curve; return its new line."""
        self.listener(self.steps, {"measuring": self.settings.valid_games})
        row = {**super().measure(), "cpu_seconds": round(self.cpu_seconds, 2)}
        self.curve.append(row)
        rank = [row["valid_score"], -row["valid_steps"]]
        if not self.best or rank > self.best:
            self.best = rank
            self._save_player(BEST, row)
        write_curve(self.folder, self.curve)
        return row

    # ------------------------------------------------------------ the folder

    def _all(self, name: str) -> list[Any]:
        return self.envs.call("train", name, dict.fromkeys(range(self.settings.envs), ()))

    def begin(self) -> None:
        """Start, or resume the training in the folder."""
        known = check_config(self.folder, self._identity, _WHAT)
        path = self.folder / TRAINING
        if not path.exists():
            self.start()
        else:
            try:
                self._load(*read_tensors(path))
            except CheckpointError as error:
                raise CheckpointError(f"{error}: delete it to start again") from error
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                raise CheckpointError(
                    f"expected a training checkpoint of this version at {str(path)!r}: {error!r}"
                ) from error
            write_curve(self.folder, self.curve)
        # Last, so that a wrong setting can be corrected in the same folder.
        if not known:
            write_config(self.folder, self._identity, _WHAT)

    def _save_player(self, file: str, row: dict[str, Any] | None) -> None:
        self.learner.save(self.folder / file, {**self._identity, "measured": row})

    def save(self) -> None:
        """Write the last player, and the state to resume from."""
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
        """Return the progress of the training, as plain values."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        return {**counts, **self.deal.state(), "cpu_seconds": self.cpu_seconds}

    def _load_counts(self, record: dict[str, Any]) -> None:
        for name in _COUNTS:
            setattr(self, name, record[name])
        self.deal.load_state(record)
        self._cpu_before = record["cpu_seconds"]

    def _load(self, found: dict[str, Any], record: dict[str, Any]) -> None:
        """Restore the state of :meth:`save`; replay the episodes in progress."""
        state = nested(found)
        self.learner.load_weights(state["weights"], record["learnt"])
        self.learner.load_progress(state["progress"])
        self._load_counts(record)
        slots = record["slots"]
        calls = {n: (kept["game"], kept["actions"], kept["memory"]) for n, kept in enumerate(slots)}
        came = self.envs.call("train", "replay", calls)
        for slot, kept, (obs, info) in zip(self.episodes, slots, came, strict=True):
            slot.game, slot.actions = kept["game"], kept["actions"]
            slot.obs, slot.seen = playable(obs, info), self.learner.unpack(kept["seen"])
