"""Protocols: the number of episodes per seed, and their scoring.

Each has a name and parameters, such as ``trials?k=3``. Results of two protocols never share a
table.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from gym_memory.core import components
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Registry
from gym_memory.core.settings import check_flag, check_int, check_name
from gym_memory.llm import episode_usage
from gym_memory.run import EpisodeResult, OnStep

__all__ = ["PROTOCOLS", "BestOf", "EpisodePlayer", "Interactions", "JobScore", "OneTask"]
__all__ += ["Kept", "Protocol", "RestartBudget", "SingleEpisode", "Tales", "TestTimeLearning"]
__all__ += ["Terms", "Trials", "make_protocol"]

Play = Callable[..., EpisodeResult]
"""``play(limit=None, returns=False)``: one more episode of the same task and memory.

The arguments are those of :func:`.rollout`.
"""

PROTOCOLS = Registry("protocol", "gym_memory.protocols", components.PROTOCOLS)


class JobScore(NamedTuple):
    """A value (:attr:`.EpisodeResult.value`) of one seed's episodes, and their steps.

    ``success`` is None if a win is undefined; ``curve`` is that of the result.
    """

    score: float
    success: bool | None
    steps: int
    curve: tuple[tuple[int, float], ...]


class EpisodePlayer(ABC):
    """Player of one job's episodes, as protocols see it."""

    env: Any
    policy: Any
    seed: int

    @abstractmethod
    def play(self, *, limit: int | None = None, returns: bool = False) -> EpisodeResult:
        """Play one more episode of the job's task, see :func:`.rollout`."""

    @abstractmethod
    def play_by(self, episode: Callable[[OnStep], EpisodeResult]) -> EpisodeResult:
        """Play one more episode by a function of the callback for each step."""


Kept = Literal["empty", "frozen", "online"]
"""Use of earlier episodes by a memory: none, read-only, or while it continues to learn."""


class Terms(NamedTuple):
    """Terms of an episode, with which its score is cited.

    Attributes:
        memory: ``empty`` at the start, kept and ``frozen``, or kept and learning (``online``).
        order: Order of the tasks; empty if it changes no result.
        same_task: Whether earlier episodes of the same task may be recalled.
    """

    memory: Kept
    order: str = ""
    same_task: bool = False


class Protocol(ABC):
    """A protocol: the order of a seed's episodes, and their scoring."""

    environment: Mapping[str, Any] = {}
    """Settings of the environment that the protocol fixes."""

    def terms(self, trial: int, kept: Kept) -> Terms:
        """Return the terms of an episode, given the memory's use of earlier jobs (``kept``)."""
        return Terms("online", "trials of one task", True)

    @abstractmethod
    def run(self, player: EpisodePlayer) -> Generator[EpisodeResult, None, None]:
        """Play the episodes of a job, one after the other."""

    @abstractmethod
    def summarize(self, results: Sequence[EpisodeResult]) -> JobScore:
        """Score ``results``, at least one and all without failure."""


class OneTask(Protocol):
    """A protocol whose episodes all play the task of the job."""

    def run(self, player: EpisodePlayer) -> Generator[EpisodeResult, None, None]:
        """Play the episodes of a job, one after the other."""
        yield from self.episodes(player.play)

    @abstractmethod
    def episodes(self, play: Play) -> Iterator[EpisodeResult]:
        """Play the episodes of one seed, one after the other."""


class SingleEpisode(OneTask):
    """One episode per seed, with an initially empty memory."""

    def terms(self, trial: int, kept: Kept) -> Terms:
        """Return the terms of the episode; a store may already have filled the memory."""
        return Terms(kept, "as played" if kept == "online" else "", kept != "empty")

    def episodes(self, play: Play) -> Iterator[EpisodeResult]:
        """Play one episode."""
        yield play()

    def summarize(self, results: Sequence[EpisodeResult]) -> JobScore:
        """Score the episode."""
        last = results[-1]
        return JobScore(last.value, last.success, last.steps, last.curve)


class Trials(OneTask):
    """Trials of one task instance; the memory is kept (CLIN, Reflexion).

    Each layer's lifetime decides what survives from trial to trial. The last trial counts.

    Args:
        k: Trials, >= 1 (CLIN plays 5).
        stop: Whether a trial that wins is the last one, as in CLIN's paper.
    """

    def __init__(self, k: int = 5, stop: bool = False):
        check_flag("stop", stop)
        self.k, self.stop = check_int("k", k, 1), stop

    def episodes(self, play: Play) -> Iterator[EpisodeResult]:
        """Play at most ``k`` episodes of the same task."""
        for _ in range(self.k):
            result = play()
            yield result
            if self.stop and result.success:
                return

    def summarize(self, results: Sequence[EpisodeResult]) -> JobScore:
        """Score the last trial."""
        return SingleEpisode().summarize(results)


class RestartBudget(OneTask):
    """Restarts of one task instance until a win or the last step; the best episode counts.

    Args:
        steps: Environment steps in total, >= 1.
    """

    def __init__(self, steps: int = 500):
        self.steps = check_int("steps", steps, 1)

    def episodes(self, play: Play) -> Iterator[EpisodeResult]:
        """Play until the budget is spent or the game is won."""
        left = self.steps
        while left > 0:
            result = play(limit=left)
            yield result
            left -= result.steps
            if result.success or not result.steps:
                return

    def summarize(self, results: Sequence[EpisodeResult]) -> JobScore:
        """Return the best score, and the steps of all episodes."""
        return _best(results)


class BestOf(Trials):
    """Several episodes of one task instance, the best of which counts (LDM2, Eq. 5).

    The memory ``ldm2?batch=each`` gives one episode per batch memory. Choosing by score is an upper
    bound, and a win ends the trial; with ``chooser="model"`` the policy's model chooses by actions
    and observations, as in the paper. Its choice is an additional row, which gives the score.

    Args:
        k: Episodes, >= 1; None for one per batch of the memory.
        chooser: ``score`` or ``model``.
    """

    def __init__(self, k: int | None = 4, chooser: str = "score"):
        check_name("chooser", chooser, ("score", "model"))
        super().__init__(1 if k is None else k, stop=chooser == "score")
        self._every, self._by_model = k is None, chooser == "model"

    def run(self, player: EpisodePlayer) -> Generator[EpisodeResult, None, None]:
        """Play the episodes of a job, and choose among them."""
        if self._every and player.env.has_wrapper_attr("memory"):
            memory = player.env.get_wrapper_attr("memory")
            self.k = max(len(getattr(memory, "batches", ())), 1)
        if not self._by_model:
            yield from super().run(player)
            return
        choose = getattr(player.policy, "choose", None)
        if choose is None:
            raise InvalidArgumentError("chooser=model needs a policy that chooses, such as ldm2")
        played = []
        for result in self.episodes(player.play):
            played.append(result)
            yield result
        yield player.play_by(lambda on_step: _chosen(played, choose))

    def summarize(self, results: Sequence[EpisodeResult]) -> JobScore:
        """Return the best or chosen score, and the steps of all episodes."""
        if not self._by_model:
            return _best(results)
        steps = sum(result.steps for result in results)
        return SingleEpisode().summarize(results)._replace(steps=steps)


class Tales(RestartBudget):
    """Restarts of a lost game until the last step, as in TALES; the best final score counts.

    The score of an episode is its last one, at the end or truncation.

    Args:
        steps: Environment steps in total, >= 1.
        actions: Whether valid actions are listed.
    """

    def __init__(self, steps: int = 100, actions: bool = False):
        super().__init__(steps)
        self.environment = _fixed(steps, check_flag("actions", actions))

    def summarize(self, results: Sequence[EpisodeResult]) -> JobScore:
        """Return the best score at the end of an episode."""
        return _best([dataclasses.replace(r, curve=((r.steps, r.value),)) for r in results])


class TestTimeLearning(Trials):
    """Trials of one game, scored by the area under their curve (EvoTest's J-TTL).

    The area is the mean of the trials' final scores. Memory and policy are kept over the trials.

    Args:
        k: Trials, >= 1.
        steps: Steps of a trial, >= 1.
        actions: Whether valid actions are listed.
    """

    def __init__(self, k: int = 50, steps: int = 110, actions: bool = False):
        super().__init__(k)
        self.environment = _fixed(check_int("steps", steps, 1), check_flag("actions", actions))

    def summarize(self, results: Sequence[EpisodeResult]) -> JobScore:
        """Return the mean score of the trials, and the steps of all."""
        mean = sum(r.value for r in results) / len(results)
        return _best(results)._replace(score=mean)


class Interactions(RestartBudget):
    """A budget of steps on one task instance; the policy may go back (GLoW, Go-Explore).

    Going back to a saved state costs no step; replaying the way there costs its steps.

    Args:
        steps: Environment steps in total, >= 1.
        actions: Whether valid actions are listed.
    """

    def __init__(self, steps: int = 1000, actions: bool = True):
        super().__init__(steps)
        self.environment = _fixed(steps, check_flag("actions", actions))

    def episodes(self, play: Play) -> Iterator[EpisodeResult]:
        """Play until the budget is spent or the game is won."""
        return super().episodes(partial(play, returns=True))


def _chosen(played: Sequence[EpisodeResult], choose: Callable[[], int | None]) -> EpisodeResult:
    """Return the episode that a model chooses, or else the first one, without its steps."""
    with episode_usage() as meter:
        number = choose() or 0
    result = played[number]
    counters = {"chosen": float(number + 1)}
    plain = dataclasses.replace(
        result, steps=0, cost_usd=0.0, seconds=0.0, counters=counters, notes=(), models=()
    )
    return plain.with_usage(meter)


def _fixed(steps: int, actions: bool) -> dict[str, Any]:
    return {"max_steps": steps, "valid_actions": actions}


def _best(results: Sequence[EpisodeResult]) -> JobScore:
    best, played = -math.inf, 0
    curve: list[tuple[int, float]] = []
    for result in results:
        for step, score in result.curve:
            if score > best:
                best = score
                curve.append((played + step, score))
        played += result.steps
    won = [r.success for r in results if r.success is not None]
    best = curve[-1][1] if curve else 0.0
    return JobScore(best, any(won) if won else None, played, tuple(curve))


def make_protocol(spec: str) -> Protocol:
    """Build a protocol from a name with parameters.

    >>> make_protocol("trials?k=3").k
    3
    """
    protocol: Protocol = PROTOCOLS.make(spec)
    return protocol
