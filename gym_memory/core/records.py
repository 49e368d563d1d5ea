"""Records that cross a boundary between layers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

from gym_memory.core.settings import check_bounded

__all__ = [
    "Cue",
    "MemoryStats",
    "Observation",
    "Oracle",
    "Outcome",
    "PlanState",
    "Reason",
    "Reasons",
    "Recall",
    "Step",
    "Task",
    "Transition",
    "Triple",
    "value_of",
]


class Triple(NamedTuple):
    """A semantic fact, the paper's ``(object1, relation, object2)``."""

    subject: str
    relation: str
    object: str

    def __str__(self) -> str:
        return f"{self.subject}, {self.relation}, {self.object}"


class Task(NamedTuple):
    """What an episode is about, as the agent may know it.

    Attributes:
        id: Stable name of the task instance, e.g. ``cooking/hard/test/7``.
        goal: The goal in words, the observation's ``task`` text.
        dialect: Family of the text that the backend writes (``textworld``, ``alfworld``, ...).
    """

    id: str
    goal: str
    dialect: str = "textworld"


class Step(NamedTuple):
    """What the agent saw at one environment step; all that a memory may learn from.

    Attributes:
        t: Environment steps taken in this episode (the paper's step t), 0 at ``reset``.
        text: The backend's feedback.
        action: The action that led here; empty at ``reset``.
        reward: Reward of that action.
        inventory: The inventory text; empty where the backend offers none.
        valid_actions: The valid actions shown; empty when they were not asked for.
        done: Whether the episode ended here (terminated or truncated).
        thought: The policy's own words before that action, such as a goal or a critic's feedback.
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
    """What a recall is steered by: the present situation and what the policy is after."""

    text: str
    task: str = ""
    inventory: str = ""
    valid_actions: tuple[str, ...] = ()
    focus: str = ""


@dataclasses.dataclass(frozen=True)
class PlanState:
    """A policy's plan, and all that it keeps from step to step; memory gets aim and thought alone.

    A player may narrow the types and add fields of its own.

    Attributes:
        aim: What it is after; its words (``str``) steer the recall.
        thought: Its words before the action, which a memory may keep with the step.
        action: The last action.
        done: Parts of the task that are done.
        astray: Whether directions in the task no longer apply.
        given_up: Aims that led nowhere, and how often; the latest last.
        searched: Whether everything was searched once more.
        idle: Steps since something new was seen.
        seen: Hashes of the latest observations, the latest last.
    """

    aim: object = ""
    action: str = ""
    done: int = 0
    astray: bool = False
    given_up: tuple[tuple[object, int], ...] = ()
    searched: bool = False
    idle: int = 0
    seen: tuple[int, ...] = ()
    thought: str = ""

    def notes(self) -> dict[str, str]:
        """Return what there is to show besides the aim, by name."""
        shown = {
            "last action": self.action,
            "done": f"{self.done}{' (then went elsewhere)' * self.astray}" if self.done else "",
            "given up": ", ".join(f"{aim} ({times}x)" for aim, times in self.given_up),
            "searched": "everything" * self.searched,
            "nothing new for": f"{self.idle} steps" if self.idle else "",
        }
        return {name: text for name, text in shown.items() if text}

    def __str__(self) -> str:
        return "; ".join((str(self.aim), *(f"{name}: {x}" for name, x in self.notes().items())))


class Recall(NamedTuple):
    """What a memory answers to a cue.

    Attributes:
        text: All of it rendered for a reader, within the token budget.
        triples: Recalled facts, most relevant first.
        episodes: Recalled past observations, most relevant first.
        lessons: Recalled lessons (causal abstractions, reflections, examples), likewise.
    """

    text: str = ""
    triples: tuple[Triple, ...] = ()
    episodes: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()


class Written(NamedTuple):
    """The result of an operation of the policy on its memory; ``free`` if it takes no step."""

    answer: str
    free: bool


class Reason(NamedTuple):
    """Why a recall shows something.

    Attributes:
        why: The part of the search that found it, in a few words.
        score: What it was ranked by, the higher the better; None where a search only orders.
        path: What led to it, beginning with what was searched for; empty where nothing did.
        note: What else there is to say of this item, such as its source; pages show it beside it.
    """

    why: str
    score: float | None = None
    path: tuple[str, ...] = ()
    note: str = ""


class Reasons(NamedTuple):
    """Why a recall shows what it shows; both in the recall's own order, empty where not told.

    Attributes:
        triples: A reason for each of its facts.
        episodes: A reason for each of its observations.
        lessons: A reason for each of its lessons.
    """

    triples: tuple[Reason, ...] = ()
    episodes: tuple[Reason, ...] = ()
    lessons: tuple[Reason, ...] = ()


class Outcome(NamedTuple):
    """How an episode ended.

    Attributes:
        score: Last score in the backend's own points.
        max_score: Highest score that can be reached; 0 when unknown.
        normalized_score: ``clip(score, 0, max_score) / max_score`` in [0, 1]; None when
            ``max_score`` is unknown.
        success: The backend's own win; None when nothing says what a win is.
        lost: The backend's own loss (as against running out of steps).
        steps: Environment steps taken.
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


def value_of(info: Mapping[str, Any]) -> float:
    """Return the normalized score of an info or a recorded row, the score where that is None."""
    normalized = info.get("normalized_score")
    name, value = "normalized_score", normalized
    if normalized is None:
        name, value = "score", info.get("score", 0.0)
    return float(check_bounded(name, value))


class Oracle(NamedTuple):
    """Engine facts of the present state; for scoring and upper bounds only, never for a memory.

    Attributes:
        facts: All that is true now, in the vocabulary of the family's extraction rules.
        walkthrough: Actions that win from the initial state; empty when the backend has none.
        objects: Further engine data (kinds of entities, goal positions, ...), family specific.
    """

    facts: frozenset[Triple] = frozenset()
    walkthrough: tuple[str, ...] = ()
    objects: Mapping[str, Any] = {}


@dataclasses.dataclass(frozen=True)
class MemoryStats:
    """Size and cost of a memory after a step.

    The times do not take part in comparisons: two equal runs compare equal although their
    clocks differ.

    Attributes:
        facts: Facts ever held, retired ones included.
        live_facts: Facts held to be true now.
        episodes: Observations stored.
        lessons: Lessons stored.
        tokens: Tokens of the last rendered recall.
        extraction_calls: Calls of the extraction role (for an LLM role: paid calls).
        fallbacks: Times a failed LLM role fell back to its rule-based default.
        writes: Operations of the policy on the memory in this episode.
        update_ms: Wall milliseconds of the last ``observe``.
        recall_ms: Wall milliseconds of the last ``recall``.
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
