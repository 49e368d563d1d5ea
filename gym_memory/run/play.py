"""Play a job by its protocol, and warn of jobs that learn from their test tasks."""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from gym_memory.baselines.base import make_policy
from gym_memory.core.errors import (
    GymMemoryError,
    MachineError,
    ModelDownError,
    ModelError,
    ResultsError,
)
from gym_memory.core.frames import users_frame
from gym_memory.core.machine import machine_fault
from gym_memory.core.names import Spec
from gym_memory.core.secrets import scrubbed
from gym_memory.llm import Budget, Meter, episode_usage
from gym_memory.llm.model import MOST_FAILURES
from gym_memory.panels.leaks import panels_with
from gym_memory.run.config import EpisodeRow, Job, RunConfig, check_result
from gym_memory.run.loop import EpisodeResult, OnStep, rollout
from gym_memory.run.protocols import EpisodePlayer, make_protocol
from gym_memory.wrappers.record import RecordTrajectory

__all__ = ["JobPlayer", "Listener", "mixtures", "play_job", "training_mixtures"]

_DETAIL_CHARS = 4000


class Listener:
    """A listener to a job in play; the base class does nothing."""

    def begin(self, trial: int) -> None:
        """Handle the start of an episode, before its reset."""

    def step(self, trial: int, t: int, info: dict[str, Any]) -> None:
        """Handle a played step; ``t`` is 0 for the reset."""


class JobPlayer(EpisodePlayer):
    """A job in play: environment, policy, and progress."""

    env: Any = None

    def __init__(self, job: Job, listener: Listener, spending: Budget | None = None):
        self.job, self.seed = job, job.seed
        self.trial, self.task_id, self.steps = 0, job.task_id, 0
        self._began = time.perf_counter()
        self._listener, self._spending, self._meter = listener, spending, Meter()

    def open(self, record: str) -> None:
        """Build environment and policy."""
        self.env, self.policy = self.job.make_env(), make_policy(self.job.policy)
        if record:
            self.env = RecordTrajectory(self.env, record, detail=True)

    def play(self, *, limit: int | None = None, returns: bool = False) -> EpisodeResult:
        """Play one more episode of the job's task; for the arguments see :func:`.rollout`.

        Trial 0 plays under the job's seed; later trials seed the policy from the seed and the
        trial.
        """
        from gym_memory.run.replays import credit_exactly  # slow to import, and needed only to play

        self._begin()
        job, policy_seed = self.job, self.job.seed
        if self.trial:
            policy_seed = int(np.random.SeedSequence((job.seed, self.trial)).generate_state(1)[0])
        named: dict[str, Any] = {"task_id": job.task_id, "policy_seed": policy_seed, "limit": limit}
        credit_exactly(self.env, self.policy, job.seed, **named)
        episode = partial(rollout, self.env, self.policy, job.seed, **named, returns=returns)
        return self._measured(lambda on_step: episode(on_step=on_step))

    def play_by(self, episode: Callable[[OnStep], EpisodeResult]) -> EpisodeResult:
        """Play one more episode by a function, which gets the callback for each step."""
        self._begin()
        return self._measured(episode)

    def _begin(self) -> None:
        self._listener.begin(self.trial)
        self._began = time.perf_counter()

    def _measured(self, episode: Callable[[OnStep], EpisodeResult]) -> EpisodeResult:
        with episode_usage(self._spending, MOST_FAILURES) as self._meter:  # even if it fails
            result = episode(self._on_step)
        check_result(result)
        usage = self._meter.total()
        if usage.failures and not usage.calls:
            first = next(iter(self._meter.notes()), "")
            never = f"the model never answered, {usage.failures} calls failed"
            raise ModelError("server", f"{never}; {first}" if first else never)
        return result

    def _on_step(self, t: int, info: dict[str, Any]) -> None:
        self.task_id, self.steps = str(info.get("task_id", "")), t
        self._listener.step(self.trial, t, info)

    def row(self, result: EpisodeResult) -> EpisodeRow:
        """Return the row of the episode that was just played, and count it."""
        row = EpisodeRow(self.job, self.trial, result)
        self.trial, self.steps = self.trial + 1, 0
        self._began = time.perf_counter()
        return row

    def failure(self, error: BaseException) -> EpisodeResult:
        """Return the result of an episode that a fault ended."""
        whole = scrubbed("".join(traceback.format_exception(error)))
        lines, own = whole[-_DETAIL_CHARS:], users_frame(whole)
        if own and not users_frame(lines):  # below a deep stack or a long message
            place = f'  File "{own.file}", line {own.line}, in {own.name}\n    {own.code}'
            lines = f"{place}\n[...]\n{lines}"
        message = " ".join(scrubbed(f"{type(error).__name__}: {error}").split())[:500]
        known = {"task_id": self.task_id, "steps": self.steps}
        took = time.perf_counter() - self._began
        failed = EpisodeResult.failure(message, lines, **known, seconds=took)
        return failed.with_usage(self._meter)

    def close(self) -> None:
        """Close the environment in any state."""
        if self.env is not None:
            with contextlib.suppress(Exception):
                self.env.close()


def play_job(
    job: Job, listener: Listener | None = None, record: str = "", spending: Budget | None = None
) -> Iterator[EpisodeRow]:
    """Play a job, episode by episode; a fault of environment, memory or policy is a failed episode.

    Args:
        job: Job to play.
        listener: Listener to the job.
        record: File for the steps, see :mod:`gym_memory.core.trajectory`; empty keeps none.
        spending: Limit for all language models; an episode over it fails.
    """
    player = JobPlayer(job, listener or Listener(), spending)
    try:
        player.open(record)
        with contextlib.closing(make_protocol(job.protocol).run(player)) as results:
            for result in results:
                yield player.row(result)
    except (ResultsError, ModelDownError):  # these end the run
        raise
    except (Exception, SystemExit) as error:  # a package for the command line may call sys.exit
        if fault := machine_fault(error):
            raise MachineError(
                f"{fault}. Finished episodes are kept: run the same command again when the "
                "machine has room"
            ) from error
        yield player.row(player.failure(error))
    finally:
        player.close()


def mixtures(config: RunConfig) -> Iterator[str]:
    """Yield warnings about panels whose tasks this run also learns from."""
    tested = [env for env in config.envs if env.name == "Panel"]
    tests = getattr(make_protocol(config.protocol), "tests", ())
    tested += [spec for spec in map(Spec, tests) if spec.name == "Panel"]
    names = {env.kwargs.get("panel"): env for env in tested}
    for memory in config.memories:
        kept = Job(config.envs[0], memory, config.policies[0], 0).kept
        for env in tested if kept == "online" else ():
            yield (
                f"{memory} learns while it plays {env}: its row is that of a memory that learns "
                "from the test. Add learn=false to freeze it"
            )
    for env in config.envs if names else ():
        if env.name != "Panel":
            for name, count in _panels_in(env).items():
                if name in names:
                    yield f"{count} tasks of {names[name]} are also in {env}: play them separately"


def training_mixtures(env: str, split: str, what: str) -> Iterator[str]:
    """Yield warnings about panels whose tasks a training plays as ``what``."""
    spec = Spec(env)
    for name, count in _panels_in(Spec.of(spec.name, {**spec.kwargs, "split": split})).items():
        yield (
            f"{count} of the {what} games are those of panel:{name}: after this training its "
            "score is not that of unseen tasks"
        )


def _panels_in(env: Spec) -> dict[str, int]:
    with contextlib.suppress(GymMemoryError):  # reported when it is played
        made: Any = Job(env, Spec("none"), Spec("random"), 0).make_env()
        with contextlib.closing(made):
            return panels_with(env, made.get_wrapper_attr("task_ids"))
    return {}
