"""``gym-memory train``: train a baseline on the training games of an environment."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from rich.progress import TextColumn
from typer import Argument, Option

from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.learner import Learner
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import Envs, TrainSettings
from gym_memory.cli import options
from gym_memory.cli.show import new_progress, now_and_then, print_json, print_table, progress
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.run.callbacks import following, make_callback
from gym_memory.run.play import training_mixtures
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["command", "interrupted", "print_curve", "read_settings", "train", "train_symbolic"]


@dataclasses.dataclass(frozen=True)
class Arena:
    """An environment and memory for a training and its measurements; ``env`` has no split yet.

    Valid games have their own split and step limit. ``teacher_memory`` is that of a teacher beside
    the learner; empty for none.
    """

    env: str
    memory: str
    budget: int
    valid_split: str
    valid_max_steps: int
    teacher_memory: str = ""

    def __post_init__(self) -> None:
        if Spec(self.env).name == "Panel":
            raise InvalidArgumentError(
                f"expected an environment with training games, got {self.env!r}: a panel is for "
                "tests. Train on its world (gym-memory panel show), then play the panel"
            )
        if "split" in Spec(self.env).kwargs:
            raise InvalidArgumentError(f"expected {self.env!r} without a split: training sets it")

    def make(self, split: str) -> Any:
        """Make an environment for ``train`` or ``valid``."""
        from gym_memory.wrappers.make import make_env

        name, kwargs = Spec(self.env).parts
        if split == "valid":
            kwargs |= {"split": self.valid_split, "max_steps": self.valid_max_steps}
        else:
            kwargs |= {"split": split}
        env = make_env(name, memory=self.memory, budget=self.budget, **kwargs)
        if split == "train" and self.teacher_memory:
            from gym_memory.train.steps import AdvisedObservation

            return AdvisedObservation(env, self.teacher_memory)
        return env

    def record(self) -> dict[str, Any]:
        """Return the values that must be equal to resume a folder."""
        record = {**dataclasses.asdict(self), "env": Spec(self.env)}
        if self.valid_split == "valid":
            del record["valid_split"]
        del record["teacher_memory"]  # a setting of the baseline
        return record

    def folder(self, baseline: str, seed: int) -> Path:
        """Return the folder of a run without ``--out``."""
        names = (baseline, Spec(self.env).name, Spec(self.memory).name, str(seed))
        return Path("runs") / "-".join(names).lower()


@options.grouped
def command(
    baseline: Annotated[
        str, Argument(help="Which policy to train: drrn, gata, a2c, bc, text, sb3 or lm.")
    ],
    env: options.Env,
    training: TrainSettings,
    memory: options.Memory = DEFAULT_MEMORY,
    out: Annotated[
        Path | None,
        Option(
            *("--out", "-o"),
            metavar="FOLDER",
            help="Folder of the run; default: one in runs/, named after the run.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the baseline; see `gym-memory list settings`. Repeatable.",
        ),
    ] = None,
    start: Annotated[
        Path | None,
        Option(
            metavar="FOLDER",
            help="Training whose best player it starts from, such as one on an easier level.",
        ),
    ] = None,
    valid_split: Annotated[str, Option(help="Name of the split to measure on.")] = "valid",
    valid_max_steps: Annotated[int, Option(min=1, help="Step limit of a valid game.")] = 100,
    budget: options.Budget = DEFAULT_BUDGET,
    device: Annotated[str, Option(help="cpu, cuda or cuda:1, ...")] = "cpu",
    callbacks: options.Callbacks = [],  # noqa: B006 - typer copies it
    ray: options.Ray = None,
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
) -> None:
    """Train on the training games, measure on the valid games, keep the best player.

    If interrupted, run the command again: it continues. Of its options only --steps,
    --max-cpu-minutes and --stop-at may change. Then play the learner like any other policy:
    `gym-memory run -p drrn --checkpoint FOLDER -e "Cooking?split=test&..."`.

    A step is one action in one environment. The folder holds the best and the last player and the
    curve. With --ray the actors of a cluster hold the environments; the weights are the same.

    Example: `gym-memory train drrn -e "Cooking?level=rl-1&gata_actions=true" -m arigraph
    --max-cpu-minutes 3 --out runs/rl-1`
    """
    gc.set_threshold(50_000, 20, 50)  # learners keep many objects: up to a fifth of the time
    loaded = options.load_plugins(plugins, env, memory)
    learner = _learner(baseline, settings or [], training.seed, device)
    teacher = getattr(learner, "teacher_memory", "")
    arena = Arena(env, memory, budget, valid_split, valid_max_steps, teacher)
    record = arena.record()
    if start is not None:
        _start_from(learner, start)
        record["start"] = str(start)
    for split, what in (("train", "training"), (valid_split, "valid")):
        for mixture in training_mixtures(env, split, what):
            progress().print(f"Warning: {mixture}")
    folder = out or arena.folder(baseline, training.seed)
    followed = {
        "baseline": baseline,
        **record,
        **dataclasses.asdict(training),
        **{f"set.{name}": value for name, value in vars(learner.settings).items()},
    }
    with (
        _shown(training, callbacks, followed, folder) as listener,
        _envs(arena, training, ray, loaded) as envs,
        _trainer(learner, envs, training, folder, record, listener) as trainer,
    ):
        with interrupted(trainer) as caught:
            curve = trainer.run()
        if curve:
            _finish(trainer, folder, device)
    if json_lines:
        print_json(curve)
    elif curve:
        print_curve(curve, folder)
    if caught:
        progress().print(f"stopped at step {trainer.steps}: run the command again to continue")
        raise KeyboardInterrupt


def train(
    folder: Path,
    baseline: str,
    env: str,
    valid_split: str = "valid",
    memory: str = DEFAULT_MEMORY,
    **settings: Any,
) -> None:
    """Train a baseline with its default settings into a folder."""
    training = TrainSettings(**settings)
    learner = _learner(baseline, [], training.seed, "cpu")
    longest = int(Spec(env).kwargs.get("max_steps", 100))
    arena = Arena(env, memory, DEFAULT_BUDGET, valid_split, longest)
    with (
        _shown(training, (), arena.record(), folder) as listener,
        _trainer(
            learner, LocalEnvs(arena.make), training, folder, arena.record(), listener
        ) as trainer,
    ):
        with interrupted(trainer) as caught:
            trainer.run()
        if caught:
            raise KeyboardInterrupt
        _finish(trainer, folder, "cpu")


def train_symbolic(folder: Path, env: str, steps: int, games: int = 20) -> None:
    """Train the policy ``symbolic`` in training games, one after the other; save it to a folder."""
    from gym_memory.baselines.rl.symbolic import Symbolic
    from gym_memory.run.loop import rollout

    if folder.exists():
        return
    made = Arena(env, DEFAULT_MEMORY, DEFAULT_BUDGET, "valid", 100).make("train")
    policy, played, episode = Symbolic(), 0, 0
    with contextlib.closing(made):
        while played < steps:
            result = rollout(
                made, policy, episode % games, policy_seed=episode, limit=steps - played
            )
            played, episode = played + max(result.steps, 1), episode + 1
    policy.save(folder)


def _learner(baseline: str, settings: list[str], seed: int, device: str) -> Any:
    from gym_memory.baselines.base import POLICIES, learner_classes
    from gym_memory.core.settings import make_settings

    policy = None
    with contextlib.suppress(UnknownNameError):
        policy = POLICIES.get(baseline)
    learner_class = getattr(policy, "learner_class", None)
    if learner_class is None:
        raise UnknownNameError("baseline to train", baseline, learner_classes())
    made = make_settings(learner_class.settings_class, read_settings(settings))
    return learner_class(made, seed=seed, device=device)


def _start_from(learner: Any, folder: Path) -> None:
    """Give a learner the weights and the vocabulary of a trained player of the same settings."""
    from gym_memory.baselines.rl.players import load_player

    if not isinstance(learner, Learner):
        raise InvalidArgumentError(
            "expected a learner of this library for --start, got sb3: load its model in Python"
        )
    player = load_player(folder, type(learner), learner.device)
    try:
        learner.load_weights(*player.weights())
    except (InvalidArgumentError, RuntimeError) as error:
        own, others = vars(learner.settings), vars(player.settings)
        wanted = " ".join(f"--set {k}={v}" for k, v in others.items() if own[k] != v)
        raise InvalidArgumentError(
            f"expected the settings of the player in {str(folder)!r}: give {wanted}"
        ) from error


def _envs(
    arena: Arena, training: TrainSettings, ray: str | None, plugins: tuple[str, ...]
) -> contextlib.AbstractContextManager[Any]:
    """Return the environments: of this process, or of Ray workers."""
    if ray is None:
        return contextlib.nullcontext(LocalEnvs(arena.make))
    from gym_memory.train.collect import RayEnvs

    return RayEnvs(ray, arena.env, arena.make, training.envs, plugins)


def _trainer(learner: Any, envs: Envs, *how: Any) -> contextlib.closing[Any]:
    trainer_class = getattr(learner, "trainer_class", Trainer)
    return contextlib.closing(trainer_class(learner, envs, *how))


def read_settings(words: list[str]) -> dict[str, Any]:
    """Return ``["lr=0.001"]`` as values."""
    pairs = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise InvalidArgumentError(f"expected --set name=value, got {word!r}")
        pairs.append(f"{quote(name)}={quote(value)}")
    return Spec("settings?" + "&".join(pairs)).parts[1] if pairs else {}


@contextlib.contextmanager
def interrupted(trainer: Any) -> Iterator[list[int]]:
    """End the training with a checkpoint at Ctrl-C, after the present tick; at once at a second."""
    caught: list[int] = []

    def stop(number: int, frame: Any) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)
        trainer.stop()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield caught
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _shown(
    training: TrainSettings, specs: Sequence[str], config: Mapping[str, Any], folder: Path
) -> Iterator[Any]:
    """Show progress on standard error and call the callbacks; yield the listener."""
    for spec in specs:
        make_callback(spec)  # report a wrong name before the training
    bar = new_progress(TextColumn("{task.fields[said]}"), times=False)
    show, pace = now_and_then(10), _Pace(training)
    scores, followers = "", None
    with bar, contextlib.ExitStack() as stack:
        task = bar.add_task("train", total=training.steps, said="")

        def listener(done: int, row: dict[str, Any] | None) -> None:
            nonlocal scores, followers
            measuring = row is not None and "measuring" in row
            if row is not None and not measuring:
                scores = f"valid {row['valid_score']:.2f}"
                if followers is None:  # only now: the folder of another run is refused before
                    followers = stack.enter_context(following(specs, config, folder))
                for follower in followers:
                    follower.measure(row)
            now = f"playing {row['measuring']} valid games" if row and measuring else ""
            said = ", ".join(filter(None, (f"{done:,} steps", scores, pace.said(done), now)))
            bar.update(task, completed=done, total=pace.total(done), said=said)
            if measuring:
                bar.refresh()
            show(f"train: {said}")

        yield listener


class _Pace:
    """Speed of a training, and the time left by the limit that ends it first."""

    def __init__(self, training: TrainSettings):
        self._training = training
        self._wall, self._cpu = time.monotonic(), time.process_time()
        self._first: int | None = None

    def _left(self, done: int) -> tuple[float, str, float] | None:
        """Return the seconds left, the limit and the steps per second; None before any step."""
        self._first = done if self._first is None else self._first
        steps, took = done - self._first, time.monotonic() - self._wall
        if not steps:
            return None
        found = [(max(self._training.steps - done, 0) * took / steps, "steps")]
        if self._training.max_cpu_minutes:
            used = time.process_time() - self._cpu
            cpu = max(60 * self._training.max_cpu_minutes - used, 0)
            found.append((cpu * took / max(used, 1e-3), "CPU minutes"))
        return (*min(found), steps / took)

    def said(self, done: int) -> str:
        """Return the speed, the time left and the limit that ends the training first."""
        left = self._left(done)
        if left is None:
            return ""
        seconds, limit, speed = left
        shown = f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
        return f"{speed:.0f} steps/s, {shown} left by the limit in {limit}"

    def total(self, done: int) -> float:
        """Return the step at which the first limit ends the training."""
        left = self._left(done)
        if left is None or left[1] == "steps":
            return self._training.steps
        seconds, _, speed = left
        return min(done + seconds * speed, self._training.steps)


def _finish(trainer: Any, folder: Path, device: str) -> None:
    from gym_memory.core.files import write_atomic
    from gym_memory.core.optional import environment_record

    record = {
        "steps": trainer.steps,
        "cpu_seconds": round(trainer.cpu_seconds, 1),
        "device": device,
        "best": max(trainer.curve, key=lambda row: (row["valid_score"], -row["valid_steps"])),
        "training": dataclasses.asdict(trainer.settings),
        "environment": environment_record(trainer.versions),
    }
    write_atomic(folder / "result.json", json.dumps(record, indent=2) + "\n")


def print_curve(curve: list[dict[str, Any]], folder: Path) -> None:
    """Print the measurements of a training."""
    from gym_memory.run.results.score import format_number

    names = ("steps", "updates", "train_score", "valid_score", "valid_steps", "cpu_seconds")
    lines = [[format_number(row.get(name), "g") for name in names] for row in curve]
    minor = ("updates", "valid_steps")
    print_table(names, lines, right=names, minor=minor, title=f"training, kept in {folder}")
