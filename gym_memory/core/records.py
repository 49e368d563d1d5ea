"""Records that cross a boundary between layers."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple, NotRequired, TypedDict, TypeVar

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.settings import shown

__all__ = ["LARGEST", "Cue", "MemoryStats", "Observation", "Oracle", "Outcome", "PlanState"]
__all__ += ["Reason", "Reasons", "Recall", "Step", "Substitute", "Task", "Transition", "Triple"]
__all__ += ["changed", "check_bounded", "playable", "rewarded", "value_of"]

LARGEST = 1e100
"""Largest number in a record, so that sums and squares stay finite."""

Record = TypeVar("Record")


def changed(record: Record, **values: Any) -> Record:
    """Return a frozen dataclass with changed values, ten times as fast as ``replace``.

    The class must have no ``__post_init__`` and no slots.

    >>> changed(PlanState("find the key"), action="look").action
    'look'
    """
    twin = object.__new__(type(record))
    vars(twin).update(vars(record), **values)
    return twin


class Triple(NamedTuple):
    """A fact: the paper's ``(object1, relation, object2)``."""

    subject: str
    relation: str
    object: str

    def __str__(self) -> str:
        return f"{self.subject}, {self.relation}, {self.object}"


class Task(NamedTuple):
    """A task of an episode, as known to the agent.

    ``id`` is a stable name such as ``cooking/hard/test/7``; ``dialect`` names the family of texts.
    """

    id: str
    goal: str
    dialect: str = "textworld"


class Step(NamedTuple):
    """A step of the environment as the agent sees it: the only input of a memory.

    ``action`` led to step ``t`` of the episode; at ``reset`` they are empty and 0. ``inventory``
    and ``valid_actions`` are empty if the backend has none. ``done`` is True at the end of the
    episode. ``thought`` is text of the policy before the action, such as a goal.
    """

    t: int
    text: str
    action: str = ""
    reward: float = 0.0
    inventory: str = ""
    valid_actions: tuple[str, ...] = ()
    done: bool = False
    thought: str = ""


class Cue(NamedTuple):
    """A query of a recall: the current situation and the policy's aim."""

    text: str
    task: str = ""
    inventory: str = ""
    valid_actions: tuple[str, ...] = ()
    focus: str = ""


@dataclasses.dataclass(frozen=True)
class PlanState:
    """A policy's plan; subclasses add fields.

    The words of ``aim`` guide the recall, ``action`` is the last action, and a memory may store
    ``thought`` with the step.
    """

    aim: object = ""
    action: str = ""
    thought: str = dataclasses.field(default="", kw_only=True)

    def notes(self) -> dict[str, str]:
        """Return named notes to show with the aim."""
        return {"last action": self.action} if self.action else {}

    def __str__(self) -> str:
        return "; ".join((str(self.aim), *(f"{name}: {x}" for name, x in self.notes().items())))


class Substitute(NamedTuple):
    """A step that the policy's model did not decide: the reason and the unused answer."""

    reason: str
    answer: str = ""


class Recall(NamedTuple):
    """An answer of a memory to a cue, the most relevant items first.

    ``text`` renders all of it within the token budget; ``lessons`` are causal abstractions,
    reflections or examples.
    """

    text: str = ""
    triples: tuple[Triple, ...] = ()
    episodes: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()


class OperationResult(NamedTuple):
    """A result of a policy's operation on its memory; ``free`` if it takes no step."""

    answer: str
    free: bool


class Reason(NamedTuple):
    """A reason for an item of a recall.

    ``why`` names the part of the search that found it, along ``path``. ``score`` ranks it, or is
    None if the search only orders items. ``note``, such as its source, is shown with it.
    """

    why: str
    score: float | None = None
    path: tuple[str, ...] = ()
    note: str = ""


class Reasons(NamedTuple):
    """A reason for each item of a recall, in order; empty if not reported."""

    triples: tuple[Reason, ...] = ()
    episodes: tuple[Reason, ...] = ()
    lessons: tuple[Reason, ...] = ()


class Outcome(NamedTuple):
    """An end of an episode.

    ``score`` is in the backend's points. ``max_score`` is 0 if unknown; then ``normalized_score``
    is None, otherwise it is in [0, 1]. ``success`` and ``lost`` are the backend's own; ``success``
    is None if it does not define a win.
    """

    score: float = 0.0
    max_score: float = 0.0
    normalized_score: float | None = 0.0
    success: bool | None = False
    lost: bool = False
    steps: int = 0

    @classmethod
    def from_info(cls, info: Mapping[str, Any]) -> Outcome:
        """Build the outcome from the info of an episode's last step."""
        return cls(
            score=info["score"],
            max_score=info["max_score"],
            normalized_score=info["normalized_score"],
            success=info["success"],
            lost=info["lost"],
            steps=info["moves"],
        )

    @property
    def value(self) -> float:
        """Return the normalized score, or the score if the maximum is unknown."""
        return value_of(self._asdict())


def check_bounded(name: str, value: Any) -> float:
    """Return ``value`` if it is a number from ``-LARGEST`` to ``LARGEST``."""
    if type(value) is float and -LARGEST <= value <= LARGEST:  # isinstance(Real) is slow
        return value
    if isinstance(value, Real) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            if abs(float(value)) <= LARGEST:
                return value  # type: ignore[return-value]
    raise InvalidArgumentError(
        f"expected {name} as a number from -{LARGEST:g} to {LARGEST:g}, got {shown(value)}"
    )


def value_of(info: Mapping[str, Any]) -> float:
    """Return the normalized score of an info or a recorded row, or else the score."""
    normalized = info.get("normalized_score")
    name, value = "normalized_score", normalized
    if normalized is None:
        name, value = "score", info.get("score", 0.0)
    return float(check_bounded(name, value))


class Oracle(NamedTuple):
    """Facts of the engine about the current state, only for scoring and the control ``oracle``.

    ``facts`` use the vocabulary of the extraction rules, ``walkthrough`` wins from the initial
    state, and ``objects`` has further data, such as kinds of entities and goals.
    """

    facts: frozenset[Triple] = frozenset()
    walkthrough: tuple[str, ...] = ()
    objects: Mapping[str, Any] = {}


@dataclasses.dataclass(frozen=True)
class MemoryStats:
    """Size and cost of a memory after a step; comparisons ignore times.

    ``facts`` include retired ones; ``tokens`` are those of the last recall. ``fallbacks`` counts
    failed calls of a language model, ``writes`` the policy's operations on the memory in the
    episode.
    """

    facts: int = 0
    live_facts: int = 0
    episodes: int = 0
    lessons: int = 0
    tokens: int = 0
    extraction_calls: int = 0
    fallbacks: int = 0
    writes: int = 0
    update_ms: float = dataclasses.field(default=0.0, compare=False)
    recall_ms: float = dataclasses.field(default=0.0, compare=False)


class Observation(TypedDict):
    """A flat observation Dict, as every policy sees it.

    ``earned`` is the reward of the step, if a learner reads it and it is not 0.
    """

    text: str
    task: str
    inventory: str
    valid_actions: tuple[str, ...]
    memory: str
    triples: tuple[Triple, ...]
    episodes: tuple[str, ...]
    lessons: tuple[str, ...]
    earned: NotRequired[float]


class Transition(NamedTuple):
    """A step of the loop, as passed to ``Policy.update``."""

    obs: Observation
    action: str
    reward: float
    next_obs: Observation
    terminated: bool
    truncated: bool
    info: dict[str, Any]


def rewarded(obs: Observation, info: Mapping[str, Any]) -> Observation:
    """Return the observation with the step's reward as ``earned``, unless it is 0 or hidden."""
    return {**obs, "earned": info["earned"]} if info.get("earned") else obs


def playable(obs: Observation, info: Mapping[str, Any]) -> Observation:
    """Return the observation as learners read it; without valid actions it gets ``look``."""
    obs = rewarded(obs, info)
    return obs if obs["valid_actions"] else {**obs, "valid_actions": ("look",)}
