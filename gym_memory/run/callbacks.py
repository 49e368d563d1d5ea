"""Callbacks that follow a run: the user's, ``./hooks.py:Mine``, or a logger of this file."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_memory.core import components
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Registry
from gym_memory.core.optional import require
from gym_memory.run.config import EpisodeRow, Job

__all__ = ["CALLBACKS", "Callback", "MLflow", "TensorBoard", "WandB", "following"]
__all__ += ["make_callback", "watches_steps"]

CALLBACKS = Registry("callback", "gym_memory.callbacks", components.CALLBACKS)
"""Callbacks by name; other packages add theirs by the entry-point group."""


class Callback:
    """A listener to a run; the base class does nothing.

    ``step`` is called in the worker that plays, on an object of its own; everything else in the
    main process. An error in it ends the run; finished episodes are kept.
    """

    def begin(self, config: Mapping[str, Any], folder: Path) -> None:
        """Handle the start of a run, given its configuration and folder."""

    def step(self, job: Job, trial: int, t: int, info: Mapping[str, Any]) -> None:
        """Handle a played step; ``t`` is 0 for the reset."""

    def episode(self, row: EpisodeRow) -> None:
        """Handle a finished episode."""

    def measure(self, row: Mapping[str, Any]) -> None:
        """Handle a measurement of a training, a row of its curve."""

    def end(self) -> None:
        """Handle the end of the run, even if it was interrupted."""


def make_callback(spec: str) -> Callback:
    """Build a callback from a name with parameters."""
    found = CALLBACKS.make(spec)
    if not isinstance(found, Callback):
        raise InvalidArgumentError(
            f"expected {spec!r} as a subclass of gym_memory.run.callbacks.Callback, got {found!r}"
        )
    return found


def watches_steps(spec: str) -> bool:
    """True if a worker has to build the callback."""
    return getattr(CALLBACKS.get(spec.partition("?")[0]), "step", None) is not Callback.step


@contextlib.contextmanager
def following(
    specs: Sequence[str], config: Mapping[str, Any], folder: Path
) -> Iterator[list[Callback]]:
    """Build and begin callbacks; end them in any case."""
    callbacks = [make_callback(spec) for spec in specs]
    with contextlib.ExitStack() as stack:
        for callback in callbacks:
            callback.begin(config, folder)
            stack.callback(callback.end)
        yield callbacks


_PARAMETER_CHARS = 6000
"""Most characters of a parameter in MLflow."""
_EPISODE_NUMBERS = ("score", "normalized", "success", "steps", "tokens", "memory_ms", "cost_usd")


class _Logger(Callback):
    """A logger of rows as numbers, which for an episode are named by its combination."""

    def __init__(self) -> None:
        self._episodes = 0

    def episode(self, row: EpisodeRow) -> None:
        """Log the numbers of an episode that did not fail; the step is the number of episodes."""
        self._episodes += 1
        place = f"{row.job.env}/{row.job.memory}/{row.job.policy}"
        values = {"failed": float(bool(row.result.failed))}
        if not row.result.failed:
            found = ((name, getattr(row.result, name)) for name in _EPISODE_NUMBERS)
            values |= {name: float(value) for name, value in found if value is not None}
        self.log({f"{place}/{name}": x for name, x in values.items()}, self._episodes)

    def measure(self, row: Mapping[str, Any]) -> None:
        """Log a row of a training curve; the step is the training's."""
        values = {k: float(v) for k, v in row.items() if k != "steps" and v is not None}
        self.log(values, int(row["steps"]))

    @abstractmethod
    def log(self, values: Mapping[str, float], step: int) -> None:
        """Write named numbers."""


class TensorBoard(_Logger):
    """Events in ``tensorboard/`` of the results folder, for ``tensorboard --logdir``."""

    def begin(self, config: Mapping[str, Any], folder: Path) -> None:
        """Open the file, and write the settings as a text."""
        require("tensorboard", "rl", "the callback tensorboard")
        writer = require("torch.utils.tensorboard", "rl", "the callback tensorboard")
        self._writer = writer.SummaryWriter(str(folder / "tensorboard"))
        table = [f"| {name} | {value} |" for name, value in config.items()]
        self._writer.add_text("settings", "\n".join(["| setting | value |", "|---|---|", *table]))

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Write scalars."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def end(self) -> None:
        """Close the file."""
        self._writer.close()


class WandB(_Logger):
    """A logger to Weights & Biases; ``wandb?mode=offline`` needs no account.

    Args:
        project: Name of the project.
        mode: ``online``, ``offline`` or ``disabled``.
    """

    def __init__(self, project: str = "gym-memory", mode: str = "online"):
        super().__init__()
        self.project, self.mode = project, mode

    def begin(self, config: Mapping[str, Any], folder: Path) -> None:
        """Start a run."""
        wandb = require("wandb", "wandb", "the callback wandb")
        self._run = wandb.init(
            project=self.project,
            name=folder.resolve().name,
            mode=self.mode,
            dir=str(folder),
            config=dict(config),
            settings=wandb.Settings(silent=True, console="off"),
        )

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Log scalars."""
        self._run.log(dict(values), step=step)

    def end(self) -> None:
        """Finish the run."""
        self._run.finish()


class MLflow(_Logger):
    """A logger to MLflow.

    Args:
        uri: Tracking server or ``sqlite:///...``; empty for ``mlflow.db`` in the results folder.
        experiment: Name of the experiment.
    """

    def __init__(self, uri: str = "", experiment: str = "gym-memory"):
        super().__init__()
        self.uri, self.experiment = uri, experiment

    def begin(self, config: Mapping[str, Any], folder: Path) -> None:
        """Start a run."""
        mlflow = require("mlflow", "mlflow", "the callback mlflow")
        uri = self.uri or f"sqlite:///{(folder / 'mlflow.db').resolve()}"
        self._client = mlflow.MlflowClient(tracking_uri=uri)
        found = self._client.get_experiment_by_name(self.experiment)
        ident = found.experiment_id if found else self._client.create_experiment(self.experiment)
        run = self._client.create_run(ident, run_name=folder.resolve().name)
        self._id = run.info.run_id
        for name, value in config.items():
            self._client.log_param(self._id, name, str(value)[:_PARAMETER_CHARS])

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Log metrics, whose names MLflow restricts to a few characters."""
        for name, value in values.items():
            plain = "".join(c if c.isalnum() or c in "_-./ " else "-" for c in name)
            self._client.log_metric(self._id, plain, value, step=step)

    def end(self) -> None:
        """Finish the run."""
        self._client.set_terminated(self._id)
