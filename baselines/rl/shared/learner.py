"""Interface between learners and the training loop: see, act, observe, learn, save."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gym_memory.core.records import Observation
from gym_memory.core.tensors import check_device, load_moments, write_tensors

__all__ = ["Experience", "Learner"]


class Experience(NamedTuple):
    """One environment step: encoded observations, and the index of a valid action."""

    seen: Any
    action: int
    reward: float
    next_seen: Any
    terminated: bool
    truncated: bool


class Learner(ABC):
    """A learning baseline: its networks, their data, and its updates.

    ``see`` encodes an observation once, for ``act`` and ``observe``.
    """

    name: ClassVar[str]
    settings_class: ClassVar[type]
    optimizer: Any
    """An Adam, of torch or :class:`.Adam`."""

    def __init__(self, settings: Any, *, seed: int = 0, device: str = "cpu"):
        self.settings, self.seed, self.device = settings, seed, check_device(device)
        self.rng = np.random.default_rng([seed, 0])
        self.steps = self.updates = 0

    @abstractmethod
    def see(self, obs: Observation, task_id: str = "", before: Any = None, action: int = -1) -> Any:
        """Encode an observation, given the encoded one ``before`` it and the action taken there.

        ``task_id`` is the training game; it is empty in evaluation, where nothing may be learnt.
        """

    @abstractmethod
    def act(self, seen: list[Any], *, explore: bool) -> list[int]:
        """Choose the index of a valid action for each observation, in one batch."""

    @abstractmethod
    def observe(self, slot: int, experience: Experience) -> None:
        """Keep a step of a slot's environment."""

    @abstractmethod
    def learn(self) -> dict[str, float]:
        """Make all updates that are due; return values to log, with their count ``updates``."""

    @abstractmethod
    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the player's state: tensors, and JSON-able values."""

    @abstractmethod
    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace it by a result of :meth:`weights`."""

    def save(self, path: Path, about: dict[str, Any]) -> None:
        """Write the player's state, with notes ``about`` it (environment, scores, ...)."""
        weights, record = self.weights()
        head = {"baseline": self.name, "settings": dataclasses.asdict(self.settings)}
        write_tensors(path, weights, {**head, "about": about, "learnt": record})

    def pack(self, seen: Any) -> Any:
        """Return an encoded observation as JSON-able values."""
        return seen

    @abstractmethod
    def unpack(self, packed: Any) -> Any:
        """Return the inverse of :meth:`pack`."""

    def progress(self) -> dict[str, Any]:
        """Return the rest of the training's state: tensors and JSON-able values."""
        rng = self.rng.bit_generator.state
        adam = self.optimizer.state_dict()["state"]
        return {"adam": adam, "rng": rng, "steps": self.steps, "updates": self.updates}

    def load_progress(self, state: dict[str, Any]) -> None:
        """Replace it by a result of :meth:`progress`."""
        load_moments(self.optimizer, state["adam"])
        self.rng.bit_generator.state = state["rng"]
        self.steps, self.updates = state["steps"], state["updates"]
