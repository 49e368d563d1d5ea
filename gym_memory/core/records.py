"""Records that cross a boundary between layers."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple, TypedDict

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.settings import shown

__all__ = ["LARGEST", "Cue", "MemoryStats", "Observation", "Oracle", "Outcome", "PlanState"]
__all__ += ["Reason", "Reasons", "Recall", "Step", "Substitute", "Task", "Transition", "Triple"]
__all__ += ["check_bounded", "value_of"]

LARGEST = 1e100
"""Bound of every number that is kept: sums and squares of them stay finite."""


class Triple(NamedTuple):
    """A semantic fact, the paper's ``(object1, relation, object2)``."""

    subject: str
    relation: str
    object: str

    def __str__(self) -> str:
        return f"{self.subject}, {self.relation}, {self.object}"


class Task(NamedTuple):
    """The task of an episode, as the agent may know it.

    ``id`` is a stable name, ``cooking/hard/test/7``; ``dialect`` the family of the text.
    """

    id: str
    goal: str
    dialect: str = "textworld"


class Step(NamedTuple):
    """The agent's view of one environment step; all that a memory may learn from.

    ``t`` counts the steps of the episode and ``action`` led here: 0 and empty at ``reset``.
    ``inventory`` and ``valid_actions`` are empty where the backend offers none. ``done``: the
    episode ended here. ``thought``: the policy's own words before that action, such as a goal.
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
    """The question behind a recall: the present situation and the policy's aim."""

    text: str
    task: str = ""
    inventory: str = ""
    valid_actions: tuple[str, ...] = ()
    focus: str = ""


@dataclasses.dataclass(frozen=True)
class PlanState:
    """A policy's plan; a player adds fields of its own.

    The words of ``aim`` steer the recall, ``action`` is the last one, and ``thought`` may be kept
    with the step.
    """

    aim: object = ""
    action: str = ""
    thought: str = dataclasses.field(default="", kw_only=True)

    def notes(self) -> dict[str, str]:
        """Return what to show beside the aim, by name."""
        return {"last action": self.action} if self.action else {}

    def __str__(self) -> str:
        return "; ".join((str(self.aim), *(f"{name}: {x}" for name, x in self.notes().items())))


class Substitute(NamedTuple):
    """A step not decided by the policy's model: the reason, and the answer that was not played."""

    reason: str
    answer: str = ""


class Recall(NamedTuple):
    """The answer of a memory to a cue, the most relevant first.

    ``text`` is all of it, rendered within the token budget; ``lessons`` are causal abstractions,
    reflections or examples.
    """

    text: str = ""
    triples: tuple[Triple, ...] = ()
    episodes: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()


class OperationResult(NamedTuple):
    """The result of an operation of the policy on its memory; ``free`` if it takes no step."""

    answer: str
    free: bool


class Reason(NamedTuple):
    """The reason why a recall shows something.

    ``why`` names the part of the search that found it; ``score`` is what it was ranked by, None
    where a search only orders; ``path`` is what led to it; ``note`` is shown beside it, such as its
    source.
    """

    why: str
    score: float | None = None
    path: tuple[str, ...] = ()
    note: str = ""


class Reasons(NamedTuple):
    """A reason for each item of a recall, in its order; empty where not reported."""

    triples: tuple[Reason, ...] = ()
    episodes: tuple[Reason, ...] = ()
    lessons: tuple[Reason, ...] = ()


class Outcome(NamedTuple):
    """The end of an episode; ``score`` is in the backend's own points.

    ``max_score`` is 0 where unknown; then ``normalized_score``, else in [0, 1], is None.
    ``success`` is the backend's own win, None where nothing says what a win is, and ``lost`` its
    own loss.
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
        """Return the normalized score, or the score where the best one is unknown."""
        return value_of(self._asdict())


def check_bounded(name: str, value: Any) -> float:
    """Return ``value`` if it is a number that can be kept, from ``-LARGEST`` to ``LARGEST``."""
    if type(value) is float and -LARGEST <= value <= LARGEST:  # asking an abstract class is slow
        return value
    if isinstance(value, Real) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            if abs(float(value)) <= LARGEST:
                return value  # type: ignore[return-value]
    raise InvalidArgumentError(
        f"expected {name} as a number from -{LARGEST:g} to {LARGEST:g}, got {shown(value)}"
    )


def value_of(info: Mapping[str, Any]) -> float:
    """Return the normalized score of an info or a recorded row, the score where that is None."""
    normalized = info.get("normalized_score")
    name, value = "normalized_score", normalized
    if normalized is None:
        name, value = "score", info.get("score", 0.0)
    return float(check_bounded(name, value))


class Oracle(NamedTuple):
    """Engine facts of the present state; for scoring, and for the control ``oracle`` alone.

    ``facts`` are in the vocabulary of the family's extraction rules; ``walkthrough`` wins from the
    initial state; ``objects`` has further data of the family (kinds of entities, goals, ...).
    """

    facts: frozenset[Triple] = frozenset()
    walkthrough: tuple[str, ...] = ()
    objects: Mapping[str, Any] = {}


@dataclasses.dataclass(frozen=True)
class MemoryStats:
    """Size and cost of a memory after a step; two runs compare equal whatever their clocks.

    ``facts`` include retired ones, ``tokens`` are those of the last recall, ``fallbacks`` count
    roles of a language model that failed, ``writes`` operations of the policy on the memory in this
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
    """The one flat observation Dict that every policy sees."""

    text: str
    task: str
    inventory: str
    valid_actions: tuple[str, ...]
    memory: str
    triples: tuple[Triple, ...]
    episodes: tuple[str, ...]
    lessons: tuple[str, ...]


class Transition(NamedTuple):
    """One step of the loop as handed to ``Policy.update``."""

    obs: Observation
    action: str
    reward: float
    next_obs: Observation
    terminated: bool
    truncated: bool
    info: dict[str, Any]
