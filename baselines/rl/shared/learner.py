"""Learners, and the policy that plays a trained one."""

from __future__ import annotations

import dataclasses
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.rl.shared import checkpoints
from gym_memory.core.errors import CheckpointError, InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help, make_settings

__all__ = ["Checkpoint", "Device", "Experience", "LearnedPolicy", "Learner", "check_device"]
__all__ += ["load_player", "playable", "save_player"]


class Experience(NamedTuple):
    """One environment step as given to :meth:`Learner.observe`.

    ``seen`` and ``next_seen`` are encoded observations, ``action`` the index of a valid action.
    """

    seen: Any
    action: int
    reward: float
    next_seen: Any
    terminated: bool
    truncated: bool


def playable(obs: Observation) -> Observation:
    """Return the observation; one without valid actions gets the action ``look``."""
    return obs if obs["valid_actions"] else {**obs, "valid_actions": ("look",)}


def check_device(name: str) -> str:
    """Return the name of a device that torch finds here."""
    torch = require("torch", "rl", "the RL baselines")
    gpus = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    found = ["cpu", *["cuda"][: len(gpus)], *gpus]
    if name not in found:
        raise InvalidArgumentError(
            f"expected device as one of {', '.join(found)}, which is what torch "
            f"{torch.__version__} finds here, got {name!r}"
        )
    return name


class Learner(ABC):
    """A learning baseline: its networks, their data, and its updates."""

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
        """Encode an observation once, for :meth:`act` and :meth:`observe`.

        Args:
            obs: The observation.
            task_id: The training game; empty while evaluating, where nothing may be learnt.
            before: The encoded observation before; None at the start of an episode.
            action: Index of the valid action taken there.
        """

    @abstractmethod
    def pack(self, seen: Any) -> Any:
        """Return an encoded observation as JSON-able values, for a checkpoint amid an episode."""

    @abstractmethod
    def unpack(self, packed: Any) -> Any:
        """Return the inverse of :meth:`pack`."""

    @abstractmethod
    def act(self, seen: list[Any], *, explore: bool) -> list[int]:
        """Choose the index of a valid action for each observation, in one batch."""

    @abstractmethod
    def observe(self, slot: int, experience: Experience) -> None:
        """Keep a step of a slot's environment."""

    @abstractmethod
    def learn(self) -> dict[str, float]:
        """Make all updates that are due; return what to log, with their count ``updates``."""

    @abstractmethod
    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return all that playing needs: tensors, and JSON-able values."""

    @abstractmethod
    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace it by what :meth:`weights` returned."""

    def progress(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return all that the training needs besides the weights: tensors, and JSON-able values."""
        record = {
            "rng": self.rng.bit_generator.state,
            "steps": self.steps,
            "updates": self.updates,
        }
        return checkpoints.moments(self.optimizer), record

    def load_progress(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace it by what :meth:`progress` returned."""
        checkpoints.load_moments(self.optimizer, tensors)
        self.rng.bit_generator.state = record["rng"]
        self.steps, self.updates = record["steps"], record["updates"]


# ------------------------------------------------------------ playing

L = TypeVar("L", bound=Learner)
Checkpoint = Annotated[
    str,
    Help(
        "Folder that gym-memory train wrote, the best or last file in it, or shipped: one that "
        "comes with the package, trained on Cooking rl-4 with arigraph."
    ),
]
"""The argument of every learned policy that names its weights."""
Device = Annotated[str, Help("cpu, cuda or cuda:1, ...")]
"""The argument that names the place of its tensors."""


def save_player(path: Path, learner: Learner, about: dict[str, Any]) -> None:
    """Write the weights of a learner, with notes ``about`` them (environment, scores, ...)."""
    tensors, record = learner.weights()
    head = {"baseline": learner.name, "settings": dataclasses.asdict(learner.settings)}
    checkpoints.write(path, tensors, {**head, "about": about, "learnt": record})


def load_player(path: str | os.PathLike[str], learner_class: type[L], device: str = "cpu") -> L:
    """Return a learner that can play, from a file or from the folder of a training run."""
    file = checkpoints.locate(path, learner_class.name)
    tensors, record = checkpoints.read(file)
    if "slots" in record:
        raise CheckpointError(
            f"expected a player, got the state of a training at {str(file)!r}: give the folder, "
            f"or {checkpoints.BEST} or {checkpoints.LAST} in it"
        )
    if record.get("baseline") != learner_class.name:
        raise CheckpointError(
            f"expected a checkpoint of {learner_class.name!r} at {str(file)!r}, "
            f"got one of {record.get('baseline')!r}"
        )
    check_device(device)
    try:
        settings: Any = make_settings(learner_class.settings_class, record["settings"])
        learner = learner_class(settings, device=device)
        learner.load_weights(tensors, record["learnt"])
    except (
        ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError
    ) as error:  # fmt: skip
        raise CheckpointError(
            f"expected a checkpoint of this version of {learner_class.name!r} at {str(file)!r}: "
            f"{error}"
        ) from error
    return learner


class LearnedPolicy(Policy):
    """A policy that plays a learner greedily, in the same loop as every other policy."""

    learner_class: ClassVar[type[Learner]]
    explores: bool = False

    def __init__(self, checkpoint: Checkpoint = "", *, device: Device = "cpu"):
        if not checkpoint:
            name = self.learner_class.name
            raise InvalidArgumentError(
                f"expected {name}?checkpoint=FOLDER: train one with "
                f"'gym-memory train {name} --env ENV --out FOLDER'"
            )
        self.device = device
        self.load(checkpoint)
        self._seen: Any = None
        self._action = -1

    def load(self, path: str | os.PathLike[str]) -> None:
        """Read a checkpoint."""
        self.learner = load_player(path, self.learner_class, self.device)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode."""
        self._seen, self._action = None, -1

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the valid action of the highest value; ``look`` if none is listed."""
        obs = playable(obs)
        self._seen = self.learner.see(obs, "", self._seen, self._action)
        self._action = self.learner.act([self._seen], explore=self.explores)[0]
        return obs["valid_actions"][self._action]
