"""What a baseline that learns offers to the training loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.records import Observation

__all__ = ["Experience", "Learner", "check_device", "playable"]


class Experience(NamedTuple):
    """One environment step as handed to :meth:`Learner.observe`.

    Attributes:
        task_id: The task instance played.
        seen: What :meth:`Learner.see` made of the observation acted on.
        action: Index of the valid action taken.
        reward: Reward of the environment.
        next_seen: What ``see`` made of the observation after.
        terminated: The game ended.
        truncated: The episode was cut.
    """

    task_id: str
    seen: Any
    action: int
    reward: float
    next_seen: Any
    terminated: bool
    truncated: bool


def check_device(name: str) -> str:
    """Return ``name`` if tensors can be there.

    Raises:
        InvalidArgumentError: They cannot.
    """
    torch = require("torch", "rl", "the RL baselines")
    gpus = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    found = ["cpu", *["cuda"][: len(gpus)], *gpus]
    if name not in found:
        raise InvalidArgumentError(
            f"expected device as one of {', '.join(found)}, which is what torch "
            f"{torch.__version__} finds here, got {name!r}"
        )
    return name


def playable(obs: Observation) -> Observation:
    """The observation; where it lists no valid action, ``look`` is the one."""
    return obs if obs["valid_actions"] else {**obs, "valid_actions": ("look",)}


class Learner(ABC):
    """A learning baseline: networks, what they learn from, and how.

    The loop steps several environments together; each has a *slot*, a number from 0. All chance
    comes from ``seed``. A learner holds torch tensors; everything else in it is plain values, so
    that a checkpoint is a safetensors file and a JSON file.

    Args:
        settings: The baseline's settings dataclass, plain values.
        seed: Seed of all chance.
        device: ``cpu`` or ``cuda``.

    Raises:
        InvalidArgumentError: There is no such device here.
    """

    name: ClassVar[str]
    settings_class: ClassVar[type]

    def __init__(self, settings: Any, *, seed: int = 0, device: str = "cpu"):
        self.settings, self.seed, self.device = settings, seed, check_device(device)

    @abstractmethod
    def see(self, obs: Observation, task_id: str = "", before: Any = None, action: int = -1) -> Any:
        """Encode an observation once, for :meth:`act` and :meth:`observe`.

        Args:
            obs: The observation.
            task_id: The training game, which the vocabulary learns from; empty while evaluating,
                where nothing may be learnt.
            before: What was seen a step before in this episode; None at its start.
            action: Index of the valid action taken there.
        """

    @abstractmethod
    def pack(self, seen: Any) -> Any:
        """What was seen as JSON-able values, for a checkpoint amid an episode."""

    @abstractmethod
    def unpack(self, packed: Any) -> Any:
        """The inverse of :meth:`pack`."""

    @abstractmethod
    def act(self, seen: list[Any], *, explore: bool) -> list[int]:
        """Indices of the valid actions to take, one for each observation, in one batch.

        Each observation has at least one; only that after the last step of an episode, which is
        seen and never acted on, may have none.
        """

    @abstractmethod
    def observe(self, slot: int, experience: Experience) -> None:
        """Take in a step of a slot's environment."""

    @abstractmethod
    def learn(self) -> dict[str, float]:
        """Update the networks as often as is due; returns what to log, empty when nothing was.

        The key ``updates`` counts all updates so far.
        """

    @abstractmethod
    def weights(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """All that playing needs: tensors, and JSON-able values."""

    @abstractmethod
    def load_weights(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace it by what :meth:`weights` returned."""

    @abstractmethod
    def progress(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """All that going on with the training needs besides the weights, likewise."""

    @abstractmethod
    def load_progress(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        """Replace it by what :meth:`progress` returned."""
