"""Learners, their checkpoints, and the policy that plays a trained one."""

from __future__ import annotations

import dataclasses
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.core.errors import CheckpointError, InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help, check_name, make_settings
from gym_memory.core.tensors import load_moments, read_tensors, write_tensors
from gym_memory.core.training_folder import BEST, LAST

__all__ = ["SHIPPED", "Checkpoint", "Device", "Experience", "LearnedPolicy", "Learner"]
__all__ += ["check_device", "load_player", "locate", "playable", "rewarded", "save_player"]

SHIPPED = Path(__file__).parents[1] / "trained"
"""Folder of the players that ship, one file each; agents/trained.py and smollm/mixed.py in
benchmarks train them."""


class Experience(NamedTuple):
    """One environment step: encoded observations, and the index of a valid action."""

    seen: Any
    action: int
    reward: float
    next_seen: Any
    terminated: bool
    truncated: bool


def rewarded(obs: Observation, info: Mapping[str, Any]) -> Observation:
    """Return the observation with what the step ``earned``, unless that is 0 or hidden."""
    return {**obs, "earned": info["earned"]} if info.get("earned") else obs


def playable(obs: Observation, info: Mapping[str, Any]) -> Observation:
    """Return the observation as learners read it; without valid actions it gets ``look``."""
    obs = rewarded(obs, info)
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
        """Encode an observation.

        Args:
            obs: The observation.
            task_id: The training game; empty while evaluating, where nothing may be learnt.
            before: The encoded observation before; None at the start of an episode.
            action: Index of the valid action taken there.
        """

    @abstractmethod
    def act(self, seen: list[Any], *, explore: bool) -> list[int]:
        """Choose the index of a valid action for each observation, in one batch."""

    @abstractmethod
    def observe(self, slot: int, experience: Experience) -> None:
        """Keep a step of a slot's environment."""

    @abstractmethod
    def learn(self) -> dict[str, float]:
        """Make all updates that are due; return what to log, with their count ``updates``."""

    # ------------------------------------------------------------ checkpoints

    @abstractmethod
    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return all that playing needs: tensors, and JSON-able values."""

    @abstractmethod
    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace it by what :meth:`weights` returned."""

    def pack(self, seen: Any) -> Any:
        """Return an encoded observation as JSON-able values."""
        return seen

    @abstractmethod
    def unpack(self, packed: Any) -> Any:
        """Return the inverse of :meth:`pack`."""

    def progress(self) -> dict[str, Any]:
        """Return all that training needs besides the weights: tensors and JSON-able values."""
        rng = self.rng.bit_generator.state
        adam = self.optimizer.state_dict()["state"]
        return {"adam": adam, "rng": rng, "steps": self.steps, "updates": self.updates}

    def load_progress(self, state: dict[str, Any]) -> None:
        """Replace it by what :meth:`progress` returned."""
        load_moments(self.optimizer, state["adam"])
        self.rng.bit_generator.state = state["rng"]
        self.steps, self.updates = state["steps"], state["updates"]


# ------------------------------------------------------------ playing

L = TypeVar("L", bound=Learner)
Checkpoint = Annotated[
    str,
    Help(
        "Folder that gym-memory train wrote, the best or last file in it, or shipped: one that "
        "comes with the package, trained on Cooking rl-4 with arigraph (lm: on rl-2, see docs)."
    ),
]
"""Argument of every learned policy that names its weights."""
Device = Annotated[str, Help("cpu, cuda or cuda:1, ...")]
"""Argument that names the place of its tensors."""


def locate(checkpoint: str | os.PathLike[str], name: str) -> Path:
    """Return the file of a player: itself, the best one in a folder, or ``shipped`` with us."""
    path = Path(checkpoint)
    if str(checkpoint) != "shipped":
        return path / BEST if path.is_dir() else path
    names = sorted(file.stem for file in SHIPPED.glob("*.safetensors"))
    check_name("checkpoint that ships", name, names)
    return SHIPPED / f"{name}.safetensors"


def save_player(path: Path, learner: Learner, about: dict[str, Any]) -> None:
    """Write the weights of a learner, with notes ``about`` them (environment, scores, ...)."""
    weights, record = learner.weights()
    head = {"baseline": learner.name, "settings": dataclasses.asdict(learner.settings)}
    write_tensors(path, weights, {**head, "about": about, "learnt": record})


def load_player(path: str | os.PathLike[str], learner_class: type[L], device: str = "cpu") -> L:
    """Return a learner that can play, from a file or from the folder of a training run."""
    name = learner_class.name
    file = locate(path, name)
    weights, record = read_tensors(file)
    if "slots" in record:
        raise CheckpointError(
            f"expected a player, got the state of a training at {str(file)!r}: give the folder, "
            f"or {BEST} or {LAST} in it"
        )
    if record.get("baseline") != name:
        got = record.get("baseline")
        raise CheckpointError(
            f"expected a checkpoint of {name!r} at {str(file)!r}, got one of {got!r}"
        )
    check_device(device)
    try:
        settings: Any = make_settings(learner_class.settings_class, record["settings"])
        learner = learner_class(settings, device=device)
        learner.load_weights(weights, record["learnt"])
    except (
        ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError
    ) as error:  # fmt: skip
        raise CheckpointError(
            f"expected a checkpoint of this version of {name!r} at {str(file)!r}: {error}"
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
        self.learner = load_player(checkpoint, self.learner_class, device)
        self._seen: Any = None
        self._action = -1

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode."""
        self._seen, self._action = None, -1

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the valid action of the highest value; ``look`` if none is listed."""
        obs = playable(obs, info)
        self._seen = self.learner.see(obs, "", self._seen, self._action)
        self._action = self.learner.act([self._seen], explore=self.explores)[0]
        return obs["valid_actions"][self._action]
