"""Reflexion (Shinn et al.): a plan for the next trial after a failed one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.core.settings import check_int
from gym_memory.llm.base import ChatModel
from gym_memory.memory.base import is_over
from gym_memory.memory.lessons.base import LessonMemory
from gym_memory.memory.lessons.causes import (
    idle_actions,
    needed_acts,
    plan_of,
    read_acts,
    vain_verbs,
)
from gym_memory.memory.roles.llm import chat_model
from gym_memory.memory.roles.llm_lessons import LLMReflect
from gym_memory.memory.roles.text import score_in_words

__all__ = ["Reflexion", "reflect"]

_MOST_STEPS = 60
_MOST_IDLE = 8
_MAX_REFLECTION_CHARS = 4000


class Reflexion(LessonMemory):
    """Reflections on the latest failed trials of one task instance.

    A trial that did not win gives one: what lost the game or wasted steps, and a plan for the next
    trial. The AriGraph paper's baseline is this with ``inner="rag"``.

    Differences from the paper: rules write the reflections unless ``llm`` is given: the shortest
    known way to the score, what lost the game, and what was not tried.

    Args:
        keep: Reflections to keep, >= 1; the paper keeps at most 3.
        inner: Memory of the present trial, a name with parameters.
        llm: A chat model that reflects, or its spec; None for the rules.
    """

    name: ClassVar[str] = "reflexion"
    heading: str = "Plans after earlier trials, the last one counts most:"
    cut: bool = True

    def __init__(
        self, *, keep: int = 3, inner: str = "history?window=5", llm: str | ChatModel | None = None
    ):
        super().__init__(inner, reflections="trial")  # they are about one task instance
        check_int("keep", keep, 1)
        self.keep = keep
        self._reflect = LLMReflect.or_rule(chat_model(llm), reflect)
        self._reflections: list[str] = []

    def _start(self, task: Task, last: Task) -> None:
        if is_over("trial", last, task):
            self._reflections = []

    def _learn(self, trace: Sequence[Step], outcome: Outcome) -> None:
        if not outcome.success:
            reflection = self._reflect(trace, outcome, self._reflections, self._task)
            self._reflections = [*self._reflections, reflection[:_MAX_REFLECTION_CHARS]][
                -self.keep :
            ]

    def _lessons(self) -> Sequence[str]:
        return self._reflections

    def _rank(self, cue: Cue) -> Iterable[int]:
        return reversed(range(len(self._reflections)))

    def _learnt(self) -> dict[str, Any]:
        return {"reflections": list(self._reflections)}

    def _relearn(self, state: dict[str, Any]) -> None:
        self._reflections = [str(reflection) for reflection in state["reflections"]]


def reflect(trace: Sequence[Step], outcome: Outcome, previous: Sequence[str], task: Task) -> str:
    """Return a rule-based reflection of one paragraph."""
    acts = read_acts(trace, task)
    needed = needed_acts(acts)
    sentences = [score_in_words(outcome)]
    plan = plan_of(acts)[:_MOST_STEPS]
    if plan:
        sentences.append(f"These steps lead to all that scored; do them first: {_listed(plan)}.")
    if outcome.lost and acts:
        sentences.append(f'After "{acts[-1].action}" the game was lost; do not repeat it.')
    costly = dict.fromkeys(act.action for act in acts if act.reward < 0)
    if costly:
        sentences.append(f"These cost points; do not repeat them: {_listed(costly)}.")
    vain = [f"{verb} ..." for verb in vain_verbs(acts, needed)]
    idle = [*vain, *idle_actions(acts, needed)][:_MOST_IDLE]
    if idle:
        sentences.append(f"These led to nothing; do not spend steps on them: {_listed(idle)}.")
    sentences.append("Then go on with what was not tried yet.")
    return " ".join(sentences)


def _listed(actions: Iterable[str]) -> str:
    return ", ".join(f'"{" ".join(action.split())[:200]}"' for action in actions)
