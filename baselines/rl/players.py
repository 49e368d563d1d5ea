"""Trained players: their files, and the policies that play them in the one loop."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from gym_memory.baselines.base import Policy
from gym_memory.baselines.rl.a2c import A2cLearner
from gym_memory.baselines.rl.bc import BcLearner
from gym_memory.baselines.rl.drrn import DrrnLearner
from gym_memory.baselines.rl.gata import GataLearner
from gym_memory.baselines.rl.ltl_gata import LtlGataLearner
from gym_memory.baselines.rl.shared.learner import Learner
from gym_memory.baselines.rl.text import TextLearner
from gym_memory.core.errors import CheckpointError, InvalidArgumentError
from gym_memory.core.records import Observation, playable
from gym_memory.core.settings import Help, check_name, checked, make_settings
from gym_memory.core.tensors import check_device, read_tensors
from gym_memory.core.training_folder import BEST, LAST

__all__ = ["SHIPPED", "A2c", "Bc", "Checkpoint", "Device", "Drrn", "Gata", "LearnedPolicy"]
__all__ += ["LtlGata", "Text", "load_player", "locate"]

SHIPPED = Path(__file__).parent / "trained"
"""Folder of the players that ship, one file each; agents/trained.py and smollm/mixed.py in
benchmarks train them."""

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
"""Argument that names the device of the weights."""


def locate(checkpoint: str | os.PathLike[str], name: str) -> Path:
    """Return the file of a player, given the file, a training's folder or ``shipped``."""
    path = Path(checkpoint)
    if str(checkpoint) != "shipped":
        return path / BEST if path.is_dir() else path
    names = sorted(file.stem for file in SHIPPED.glob("*.safetensors"))
    check_name("checkpoint that ships", name, names)
    return SHIPPED / f"{name}.safetensors"


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


class Drrn(LearnedPolicy):
    """A trained DRRN."""

    learner_class = DrrnLearner


class Gata(LearnedPolicy):
    """A trained GATA-like agent."""

    learner_class = GataLearner


class LtlGata(LearnedPolicy):
    """A trained LTL-GATA."""

    learner_class = LtlGataLearner


class A2c(LearnedPolicy):
    """A trained actor."""

    learner_class = A2cLearner


class Bc(LearnedPolicy):
    """A policy cloned from demonstrations."""

    learner_class = BcLearner


class Text(LearnedPolicy):
    """A trained reader of text."""

    learner_class = TextLearner
    learner: TextLearner

    @checked
    def __init__(
        self,
        checkpoint: Checkpoint = "",
        *,
        mode: Annotated[
            Literal["greedy", "sample"],
            Help("greedy or sample: without a memory, greedy play walks in circles."),
        ] = "greedy",
        device: Device = "cpu",
    ):
        self.explores = mode == "sample"
        super().__init__(checkpoint, device=device)
        if self.explores and not self.learner.teacher_memory:
            raise InvalidArgumentError(
                "expected mode=greedy for a player trained by reward, whose values are no chances"
            )

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode; seeds the sampling."""
        super().reset(info, seed)
        self.learner.seeded(seed or 0)
