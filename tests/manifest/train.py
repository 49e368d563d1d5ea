"""Train each learner for a few updates and hash the weights."""

from __future__ import annotations

import platform
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gym_memory.core.optional import require
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.train.steps import AdvisedObservation
from gym_memory.wrappers import MemoryObservation

from .play import hashed

__all__ = ["LEARNERS", "machine", "train"]

_PROCESSOR = Path("/proc/cpuinfo")
STEPS = 120
TINY = {"vocabulary": 256, "hidden": 8, "dim": 8}
REPLAY = {**TINY, "batch": 8, "capacity": 64, "learn_start": 20}


def _drrn() -> Any:
    from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings

    return DrrnLearner(DrrnSettings(**REPLAY, epsilon_steps=60, target_every=5))


def _bc() -> Any:
    from gym_memory.baselines.rl.bc import BcLearner, BcSettings

    return BcLearner(BcSettings(**REPLAY, beta_steps=40, rl_after=60, clone_every=2))


def _gata() -> Any:
    from gym_memory.baselines.rl.gata import GataLearner, GataSettings

    return GataLearner(GataSettings(**REPLAY, epsilon_steps=60, target_every=5))


def _ltl_gata() -> Any:
    from gym_memory.baselines.rl.ltl_gata import LtlGataLearner, LtlGataSettings

    return LtlGataLearner(LtlGataSettings(**REPLAY, epsilon_steps=60, target_every=5))


def _a2c() -> Any:
    from gym_memory.baselines.rl.a2c import A2cLearner, A2cSettings

    return A2cLearner(A2cSettings(**TINY, n_steps=4))


def _text() -> Any:
    from gym_memory.baselines.rl.text import TextLearner, TextSettings

    sizes = {"dim": 16, "heads": 2, "layers": 2, "vocabulary": 256, "batch": 4}
    return TextLearner(TextSettings(**sizes, learn_start=8, update_every=2, beta_steps=60))


LEARNERS: dict[str, Callable[[], Any]] = {
    "drrn": _drrn,
    "bc": _bc,
    "gata": _gata,
    "ltl-gata": _ltl_gata,
    "a2c": _a2c,
    "text": _text,
}


def machine() -> str:
    """Return the version of torch and the processor, on which the last bits of weights depend.

    MKL distinguishes more processors than torch: it has code of its own for makers and models.
    """
    torch = require("torch", "rl", "the RL baselines")
    model = platform.processor() or platform.machine()
    if _PROCESSOR.exists():
        fields = dict(
            re.findall(r"^(vendor_id|cpu family|model)\s*: (.+)$", _PROCESSOR.read_text(), re.M)
        )
        model = " ".join(fields.values()) or model
    return f"torch {torch.__version__} {torch.backends.cpu.get_cpu_capability()} {model}"


def train(name: str) -> dict[str, str]:
    """Train a learner in the fake house; return a hash of its weights."""
    require("torch", "rl", "the RL baselines")
    from gym_memory.baselines.rl.shared.envs import LocalEnvs
    from gym_memory.baselines.rl.shared.trainer import Trainer
    from gym_memory.baselines.rl.shared.training import TrainSettings
    from gym_memory.core.tensors import read_tensors
    from gym_memory.core.training_folder import LAST

    def house(split: str) -> Any:
        env = MemoryObservation(FakeHouse(split=split, max_steps=25))
        return AdvisedObservation(env) if name == "text" and split == "train" else env

    rounds = {"evaluate_every": STEPS, "checkpoint_every": STEPS}
    how = TrainSettings(steps=STEPS, games=3, valid_games=1, envs=2, **rounds)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(LEARNERS[name](), LocalEnvs(house), how, Path(folder), {})
        trainer.run()
        trainer.close()
        tensors, _ = read_tensors(Path(folder) / LAST)
    weights = [[key, tensors[key].tolist()] for key in sorted(tensors)]
    return {"weights": hashed(weights), "machine": machine()}
