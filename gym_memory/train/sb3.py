"""Train PPO and MaskablePPO by Stable-Baselines3, with the folder and curve of other learners.

SB3's own loop steps the training games. Between its updates, the valid games are played and a
checkpoint is written.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import gymnasium as gym
import numpy as np

from gym_memory.baselines.rl.sb3 import (
    POLICY,
    RelationFeatures,
    Sb3,
    action_logits,
    common_names,
    lexicon_of,
    pointed,
    save,
)
from gym_memory.baselines.rl.shared.envs import EnvSlot, LocalEnvs, MakeEnv
from gym_memory.baselines.rl.shared.trainer import Listener, Trainer
from gym_memory.baselines.rl.shared.training import Deal, Envs, TrainSettings
from gym_memory.core.errors import BackendError, InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.process import child_environment
from gym_memory.core.records import Observation, value_of
from gym_memory.core.settings import Help, Settings
from gym_memory.core.tensors import check_device, flattened, load_moments, nested, write_tensors
from gym_memory.core.training_folder import LAST, TRAINING
from gym_memory.wrappers import IndexActions

if TYPE_CHECKING:
    import stable_baselines3
    import torch
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv
else:
    torch = require("torch", "rl", "the RL baselines")
    stable_baselines3 = require("stable_baselines3", "rl", "SB3's PPO")
    BaseCallback = require("stable_baselines3.common.callbacks", "rl", "SB3's PPO").BaseCallback
    _vectors = require("stable_baselines3.common.vec_env", "rl", "SB3's PPO")
    DummyVecEnv, SubprocVecEnv = _vectors.DummyVecEnv, _vectors.SubprocVecEnv

__all__ = ["Sb3Learner", "Sb3Player", "Sb3Settings", "Sb3Trainer"]

_LOGGED = {"loss": "train/loss", "value_loss": "train/value_loss", "kl": "train/approx_kl"}
"""Columns of the curve, and their names in SB3's log."""


@dataclasses.dataclass(frozen=True)
class Sb3Settings(Settings):
    """Settings of PPO; the names are SB3's."""

    algorithm: Annotated[
        Literal["maskable_ppo", "ppo"], Help("MaskablePPO of sb3-contrib, or PPO.")
    ] = "maskable_ppo"
    vector: Annotated[
        Literal["dummy", "subproc"],
        Help(
            "dummy: this process steps the training games; subproc: a process each, by SB3's "
            "SubprocVecEnv. The weights are the same."
        ),
    ] = "dummy"
    learning_rate: Annotated[float, Help("Step size of Adam.", above=0)] = 1e-3
    n_steps: Annotated[int, Help("Steps of each environment between updates.", low=2)] = 64
    batch_size: Annotated[int, Help("Steps of a minibatch.", low=2)] = 256
    n_epochs: Annotated[int, Help("Passes over the steps at each update.", low=1)] = 4
    gamma: Annotated[float, Help("Discount.", low=0, high=1)] = 0.95
    ent_coef: Annotated[
        float,
        Help("Weight of the entropy; with 0.01 some trainings stop reading before it pays off.", 0),
    ] = 0.03
    max_actions: Annotated[int, Help("Numbers of actions; more are left out.", low=1)] = 128
    dim: Annotated[int, Help("Size of an embedding.", low=1)] = 64
    hidden: Annotated[int, Help("Units of the hidden layer.", low=1)] = 64


class Sb3Learner:
    """A network in training, in the form that :func:`.evaluate` plays."""

    name: ClassVar[str] = "sb3"
    settings_class: ClassVar[type] = Sb3Settings
    trainer_class: ClassVar[type[Trainer]]
    """Trainer to use instead of :class:`.Trainer`."""

    def __init__(self, settings: Sb3Settings, *, seed: int = 0, device: str = "cpu"):
        self.settings, self.seed, self.device = settings, seed, check_device(device)
        self.model: Any = None
        """Algorithm of SB3, after its trainer has begun."""

    def attach(self, model: Any, names: Sequence[str]) -> None:
        """Use the network of an algorithm from now on."""
        self.model, self._lexicon = model, lexicon_of(names)
        self._sizes = model.get_env().get_attr("sizes")[0]

    def see(self, obs: Observation, task_id: str = "", before: Any = None, action: int = -1) -> Any:
        """Return the observation as it is."""
        return obs

    def act(self, seen: Sequence[Observation], *, explore: bool = False) -> list[int]:
        """Return the index of the likeliest valid action of each observation."""
        network = self.model.policy.features_extractor
        rows = (action_logits(network, obs, self._lexicon, self._sizes) for obs in seen)
        return [int(row.argmax()) for row in rows]


class Sb3Trainer(Trainer):
    """A training by SB3.

    It stops between two updates, so that one continued there ends with the same weights.

    Args:
        learner: A fresh learner; its ``model`` is the algorithm of SB3 once :meth:`run` begins.
        envs: Environments of this process, of the splits ``train`` and ``valid``.
        settings: Length, games and measurements.
        folder: Folder of the run; one with the same configuration in it is resumed.
        config: Plain values that also identify the run.
        listener: As of :class:`.Trainer`.
        callbacks: Callbacks of SB3 beside the trainer's own.
    """

    learner: Any

    def __init__(
        self,
        learner: Sb3Learner,
        envs: Envs,
        settings: TrainSettings,
        folder: Path,
        config: dict[str, Any],
        listener: Listener = lambda steps, row: None,
        callbacks: Sequence[Any] = (),
    ):
        if not isinstance(envs, LocalEnvs):
            raise InvalidArgumentError(
                "expected train sb3 without --ray: SB3 steps its environments in this process"
            )
        super().__init__(learner, envs, settings, folder, config, listener)  # type: ignore[arg-type]
        del self._identity["settings"]["vector"]
        self._callbacks = callbacks
        self._make = envs.make
        self._games = envs.opened("train")
        self._measured_at = self._saved_at = 0
        self._halted = False

    def run(self) -> list[dict[str, Any]]:
        """Train to the end; return the curve."""
        self.begin()
        self._measured_at = self._saved_at = self.steps
        left = self.settings.steps - self.steps
        if left > 0 and not self.ended:
            callback = [_TrainerCallback(self), *self._callbacks]
            try:
                self.learner.model.learn(left, callback=callback, reset_num_timesteps=False)
            except (EOFError, ConnectionError) as error:
                raise BackendError(
                    "a process that stepped training games ended. The weights are kept up to the "
                    "last checkpoint: run the same command again"
                ) from error
        self.learner.model.num_timesteps = self.steps
        if not self._halted:
            self._log()
            self.finish()
        return self.curve

    def close(self) -> None:
        """Close the environments, and the processes that step them."""
        if self.learner.model is not None:
            with contextlib.suppress(EOFError, ConnectionError):  # of a process that ended
                self.learner.model.get_env().close()
        super().close()

    # ------------------------------------------------------------ called by SB3's loop

    def between_updates(self) -> None:
        """Measure and save if due; halt at a limit other than that in steps."""
        s, row = self.settings, None
        self._log()
        if self.steps // s.evaluate_every > self._measured_at // s.evaluate_every:
            self._measured_at, row = self.steps, self.measure()
            self.listener(self.steps, row)
        if self.ended:
            self._halted = True
            self.finish()
        elif self.steps // s.checkpoint_every > self._saved_at // s.checkpoint_every:
            self._saved_at = self.steps
            self.save()

    def stepped(self, steps: int, dones: Sequence[bool], infos: Sequence[dict[str, Any]]) -> bool:
        """Count a step of every environment; return True to continue.

        SB3 asks only after a step, so the first step after halting is not counted.
        """
        if self._halted:
            return False
        self.steps = steps
        ended = [value_of(info) for done, info in zip(dones, infos, strict=True) if done]
        self.recent += ended
        self.finished += len(ended)
        self.listener(steps, None)
        return True

    def _log(self) -> None:
        model = self.learner.model
        values = model.logger.name_to_value if hasattr(model, "_logger") else {}
        found = {name: float(values[key]) for name, key in _LOGGED.items() if key in values}
        if found:
            self.logged = {"updates": float(model._n_updates), **found}

    # ------------------------------------------------------------ the model

    def _build(self, names: Sequence[str]) -> None:
        own: Sb3Settings = self.learner.settings
        torch.set_num_threads(1)  # the batches are small
        contrib = require("sb3_contrib", "rl", "MaskablePPO")
        kind = contrib.MaskablePPO if own.algorithm == "maskable_ppo" else stable_baselines3.PPO
        model = pointed(
            kind(
                "MultiInputPolicy",
                self._vector(names),
                policy_kwargs={
                    **POLICY,
                    "features_extractor_kwargs": {"dim": own.dim, "hidden": own.hidden},
                },
                learning_rate=own.learning_rate,
                n_steps=own.n_steps,
                batch_size=min(own.batch_size, own.n_steps * len(self._games)),
                n_epochs=own.n_epochs,
                gamma=own.gamma,
                ent_coef=own.ent_coef,
                seed=self.learner.seed,
                device=self.learner.device,
            )
        )
        self.learner.attach(model, names)

    def _vector(self, names: Sequence[str]) -> Any:
        """Return the training games as a vector environment of SB3, with features."""
        s, own = self.settings, self.learner.settings
        deals = [Deal(s.games, s.seed, slot) for slot in range(s.envs)]
        wrapped = functools.partial(_wrapped, names, own.max_actions, s.reward_scale)
        if own.vector == "dummy":
            pairs = zip(self._games, deals, strict=True)
            return DummyVecEnv([functools.partial(wrapped, env, deal) for env, deal in pairs])
        opened: list[Any] = [
            functools.partial(_opened, self._make, wrapped, deal) for deal in deals
        ]
        with child_environment(OMP_NUM_THREADS="1"):
            return SubprocVecEnv(opened, start_method="spawn")

    # ------------------------------------------------------------ beginning and checkpoints

    def start(self) -> None:
        """Build the model."""
        self._build(common_names(self._games[0], self.settings.games, seed=self.settings.seed))

    def _save_player(self, file: str, row: dict[str, Any] | None) -> None:
        save(self.folder / file, self.learner.model, **self._identity, measured=row)

    def save(self) -> None:
        """Write the last player, and the state from which the training resumes."""
        self._save_player(LAST, self.curve[-1] if self.curve else None)
        model, policy = self.learner.model, self.learner.model.policy
        record = {
            "names": model.get_env().get_attr("names")[0],
            **self._counts(),
            "updates": model._n_updates,
            "episodes": model.get_env().env_method("episode"),
        }
        state = {
            "weights": policy.state_dict(),
            "adam": policy.optimizer.state_dict()["state"],
            "chance": _chance(self.learner.device),
            "observed": {name: torch.as_tensor(a) for name, a in (model._last_obs or {}).items()},
        }
        write_tensors(self.folder / TRAINING, flattened(state), record)

    def _load(self, found: dict[str, Any], record: dict[str, Any]) -> None:
        state = nested(found)
        self._load_counts(record)
        self._build(record["names"])
        model = self.learner.model
        model.policy.load_state_dict(state["weights"])
        load_moments(model.policy.optimizer, state["adam"])
        model.num_timesteps, model._n_updates = self.steps, record["updates"]
        if state["observed"]:
            episodes = record["episodes"]
            for slot, episode in enumerate(episodes):
                model.get_env().env_method("resume", episode, indices=slot)
            model._last_obs = {name: a.numpy() for name, a in state["observed"].items()}
            model._last_episode_starts = np.array([not e["actions"] for e in episodes])
        _set_chance(self.learner.device, state["chance"])


def _chance(device: str) -> dict[str, Any]:
    """Return the random state of SB3: numpy's for minibatches, torch's for actions."""
    on_device = {} if device == "cpu" else {"device": torch.cuda.get_rng_state(device)}
    state = np.random.get_state(legacy=False)
    return {"torch": torch.get_rng_state(), "numpy": state, **on_device}


def _set_chance(device: str, state: dict[str, Any]) -> None:
    torch.set_rng_state(state["torch"])
    np.random.set_state(state["numpy"])
    if device != "cpu":
        torch.cuda.set_rng_state(state["device"], device)


class _TrainerCallback(BaseCallback):
    """A callback that reports to the trainer."""

    def __init__(self, trainer: Sb3Trainer):
        super().__init__()
        self._trainer = trainer

    def _on_rollout_start(self) -> None:
        self._trainer.between_updates()

    def _on_step(self) -> bool:
        own = self.locals
        return self._trainer.stepped(self.num_timesteps, own["dones"], own["infos"])


def _wrapped(names: Sequence[str], max_actions: int, scale: float, env: Any, deal: Deal) -> Any:
    return _DealtGames(RelationFeatures(IndexActions(env, max_actions), names), deal, scale)


def _opened(make: MakeEnv, wrapped: Callable[..., Any], deal: Deal) -> Any:
    """Make the environment of a process that leaves Ctrl-C to the trainer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return wrapped(make("train"), deal)


class _DealtGames(gym.Wrapper[Any, Any, Any, Any]):
    """An environment that plays training games in the order of a deal."""

    def __init__(self, env: Any, deal: Deal, scale: float):
        super().__init__(env)
        self._deal, self._scale = deal, scale
        self._game, self._actions = 0, list[int]()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start the next game; SB3 passes no seed."""
        self._game, self._actions = self._deal(), []
        return self.env.reset(seed=self._game, options=options)

    def step(self, action: Any) -> Any:
        """Take a step; scale its reward."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._actions.append(int(action))
        return obs, self._scale * float(reward), terminated, truncated, info

    def episode(self) -> dict[str, Any]:
        """Return what :meth:`resume` needs, as plain values."""
        memory = EnvSlot(self.env).memory()
        played = {"game": self._game, "actions": self._actions, "memory": memory}
        return {**played, **self._deal.state()}

    def resume(self, episode: dict[str, Any]) -> None:
        """Replay an episode up to where it was."""
        self._deal.load_state(episode)
        self._game, self._actions = episode["game"], episode["actions"]
        EnvSlot(self.env).replay(self._game, self._actions, episode["memory"])


Sb3Learner.trainer_class = Sb3Trainer


class Sb3Player(Sb3):
    """A trained PPO or MaskablePPO of Stable-Baselines3."""

    learner_class = Sb3Learner
