"""CLIN (Majumder et al.): causal abstractions that are rewritten after every trial."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.files import typed
from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.core.settings import check_flag, check_int, check_text, checked
from gym_memory.llm.base import ChatModel
from gym_memory.memory.base import is_over
from gym_memory.memory.lessons.abstractions import ALIVE, abstract_causes, generalize_causes
from gym_memory.memory.lessons.base import LessonMemory
from gym_memory.memory.lessons.causes import (
    idle_actions,
    needed_acts,
    plan_of,
    read_acts,
    vain_verbs,
)
from gym_memory.memory.roles.base import CausalAbstraction, Learnings
from gym_memory.memory.roles.llm import chat_model
from gym_memory.memory.roles.llm_lessons import LLMAbstractCauses, LLMGeneralizeCauses, LLMReflect
from gym_memory.memory.roles.text import numbered, unmarked
from gym_memory.memory.stores.store import Store

__all__ = ["Clin"]

_QUOTED = re.compile(r'"([^"]*)"')
_LINE_CHARS = 2000
_MOST_LINES = 120
_MOST_IDLE = 10
_PLAN = "Do this first, in this order: "
_KIND = "learnings"


class Clin(LessonMemory):
    """CLIN's memory: what causes what, as sentences of four forms.

    ``X MAY BE NECESSARY TO Y``, ``X SHOULD BE NECESSARY TO Y``, ``X MAY NOT CONTRIBUTE TO Y`` and
    ``X DOES NOT CONTRIBUTE TO Y``, written again after each trial (Algorithm 1); see
    :mod:`gym_memory.memory.lessons.abstractions`. A new task instance starts from a meta-memory
    (section 3.3) of the best trials of the same kind of task (Gen-Env). Without such trials it is
    of other tasks in the same environment (Gen-Task): those that began alike or under the same
    seed, or if there are none, all. ``lifetime="trial"`` is the paper's Adapt, which starts empty.

    Differences from the paper: rules write the memory unless ``llm`` is given. It holds at most
    120 sentences, and shows those that matter now with their ids.

    Args:
        lifetime: How long abstractions and archive are kept: while the task instance
            (``trial``) or the goal (``task``) stays the same, or ``forever``.
        store: SQLite file or URL of a server for the archive of ``forever``; None: the object.
        use: Use of the archive: ``read`` (start from it), ``write`` (fill it) or ``both``.
        past: Memories of the last trials that the generator sees, >= 1.
        archive: Instances of one kind of task that the archive holds, >= 1.
        advice: Ablation: free-form advice instead of causal abstractions.
        places: Whether the rules also report ways, untried exits, and where things are.
        inner: Memory of the present trial, a name with parameters; CLIN shows 5 turns.
        llm: Chat model as memory generator, or its spec; None for the rules.
    """

    name: ClassVar[str] = "clin"

    @checked
    def __init__(
        self,
        *,
        lifetime: Literal["trial", "task", "forever"] = "trial",
        store: str | None = None,
        use: Literal["read", "write", "both"] = "both",
        past: int = 3,
        archive: int = 10,
        advice: bool = False,
        places: bool = True,
        inner: str = "history?window=5",
        llm: str | ChatModel | None = None,
    ):
        super().__init__(inner, memories=lifetime, archive=lifetime)
        if store is not None and lifetime != "forever":
            raise InvalidArgumentError(
                f"expected store together with lifetime='forever', got {lifetime!r}"
            )
        for label, number in (("past", past), ("archive", archive)):
            check_int(label, number, 1)
        self.lifetime, self.use = lifetime, use
        self.past, self.archive, self.advice = past, archive, advice
        self._store = Store(store) if store is not None else None
        model = chat_model(llm)
        rule = functools.partial(abstract_causes, places=places)
        self._abstract = LLMAbstractCauses.or_rule(model, rule)
        self._general = LLMGeneralizeCauses.or_rule(model, generalize_causes)
        self._advise = LLMReflect.or_rule(model, advise, "advice")
        self._memories: list[list[str]] = []
        self._archive: list[_BestTrial] = []
        self._seen, self._seed = "", 0
        self._is_new = False

    def begin(self, task: Task, seed: int | None) -> None:
        """Start a trial; instances of different tasks are paired by seed."""
        self._seed = seed or 0
        super().begin(task, seed)

    def _start(self, task: Task, last: Task) -> None:
        self._is_new = False
        if not is_over("trial", last, task):
            return
        if is_over(self.lifetime, last, task):
            self._archive = []
        if self._store is not None:
            records = self._store.records(self.name, kind=_KIND)
            found = [_BestTrial.read(record.payload) for record in records]
            self._archive = sorted(found, key=lambda entry: entry.task)  # whichever came first
        self._memories, self._is_new = [], True

    def observe(self, step: Step) -> None:
        """Add a step; at the first step of a new instance, build the meta-memory."""
        super().observe(step)
        if len(self._trace) == 1:
            self._seen = self._trace[0].text
        if self._is_new:
            self._is_new = False
            meta = self._meta_memory(self._task)
            self._memories = [meta] if meta else []

    def _meta_memory(self, task: Task) -> list[str]:
        if self.use == "write":
            return []
        own = [entry for entry in self._archive if entry.task == task.id]
        if own:
            return list(own[-1].sentences)
        alike = [e for e in self._archive if e.goal == task.goal or e.kind == _kind(task.id)]
        here = [e for e in self._archive if e.seen == self._seen and e.seed == self._seed]
        here = here or [e for e in self._archive if e.seen == self._seen]
        here = here or [e for e in self._archive if e.seed == self._seed]
        crucial = sorted(alike or here or self._archive, key=lambda e: e.worth, reverse=True)
        if not crucial:
            return []
        learnings = [entry.learnings() for entry in crucial[: self.archive]]
        if self.advice:  # advice has no form that could be made general
            return list(crucial[0].sentences)
        return [str(a) for a in self._general(learnings, task, bool(alike))]

    def _learn(self, trace: Sequence[Step], outcome: Outcome) -> None:
        """Rewrite the memory (Algorithm 1, line 11) and archive it if this trial was the best."""
        if self.advice:
            text = self._advise(trace, outcome, self._lessons(), self._task)
            lines = [unmarked(line) for line in text.splitlines()]
            memory = [line[:_LINE_CHARS] for line in lines if line][:_MOST_LINES]
        else:
            previous = [_parsed(sentences) for sentences in self._memories]
            found = self._abstract(trace, outcome, previous, self._task)
            memory = [str(abstraction)[:_LINE_CHARS] for abstraction in found][:_MOST_LINES]
        self._memories = [*self._memories, memory][-self.past :]
        if self.lifetime == "trial" or self.use == "read":
            return
        entry = _BestTrial(
            self._task.id, self._task.goal, self._seen, tuple(memory), outcome, self._seed
        )
        if self._store is None:
            self._archive = self._with(self._archive, entry)
        else:
            self._store.update(
                self.name,
                entry.kind,
                _KIND,
                lambda known: [
                    e.payload() for e in self._with([_BestTrial.read(k) for k in known], entry)
                ],
            )

    def _with(self, entries: Sequence[_BestTrial], new: _BestTrial) -> list[_BestTrial]:
        rivals = [e for e in entries if e.task == new.task]
        if any(e.worth > new.worth for e in rivals):
            return list(entries)
        kept = [e for e in entries if e.task != new.task] + [new]
        alike = [e for e in kept if e.kind == new.kind]
        if len(alike) > self.archive:
            kept.remove(min(alike, key=lambda e: (e.worth, e.task)))
        return kept

    def _lessons(self) -> Sequence[str]:
        return self._memories[-1] if self._memories else ()

    def _rank(self, cue: Cue) -> Iterable[int]:
        """Rank possible or planned actions first, then necessary or deadly ones, then the rest."""
        valid = set(cue.valid_actions)
        ranks = []
        for index, sentence in enumerate(self._lessons()):
            found = _QUOTED.search(sentence)
            action = found[1] if found else ""
            value = 3 * (action in valid) + (bool(action) and action in cue.focus)
            value += 2 * ("NECESSARY" in sentence or ALIVE in sentence)
            ranks.append((-value, index))
        return [index for _, index in sorted(ranks)]

    def _learnt(self) -> dict[str, Any]:
        return {
            "memories": [list(sentences) for sentences in self._memories],
            "archive": [entry.payload() for entry in self._archive],
            "seen": self._seen,
            "seed": self._seed,
            "is_new": self._is_new,
        }

    def _relearn(self, state: dict[str, Any]) -> None:
        self._memories = [[str(sentence) for sentence in m] for m in state["memories"]]
        self._archive = [_BestTrial.read(payload) for payload in state["archive"]]
        self._seen = check_text("seen", state["seen"])
        self._seed = check_int("seed", state.get("seed", 0), 0)
        self._is_new = check_flag("is_new", state["is_new"])


def advise(trace: Sequence[Step], outcome: Outcome, previous: Sequence[str], task: Task) -> str:
    """Return rule-based advice on what to repeat and omit, then the earlier advice that remains."""
    acts = read_acts(trace, task)
    needed = needed_acts(acts)
    lines = []
    plan = plan_of(acts)
    if plan:
        lines.append(_PLAN + ", ".join(f'"{action}"' for action in plan) + ".")
    if outcome.lost and acts:
        lines.append(f'Do not do "{acts[-1].action}" then: it lost the game.')
    idle = [*(f"{verb} ..." for verb in vain_verbs(acts, needed)), *idle_actions(acts, needed)]
    lines += [f'Do not spend steps on "{action}".' for action in idle[:_MOST_IDLE]]
    lines += [line for line in previous if not (plan and line.startswith(_PLAN))]
    return numbered(dict.fromkeys(lines))


class _BestTrial(NamedTuple):
    """Best trial of a task instance; ``seen`` is its first observation, ``seed`` its seed."""

    task: str
    goal: str
    seen: str
    sentences: tuple[str, ...]
    outcome: Outcome
    seed: int = 0

    @property
    def kind(self) -> str:
        return _kind(self.task)

    @property
    def worth(self) -> tuple[float, bool]:
        """Return the rank of a trial; a lost trial ranks below one with a score of 0."""
        return self.outcome.value, not self.outcome.lost

    def learnings(self) -> Learnings:
        return Learnings(self.goal, tuple(_parsed(self.sentences)), self.outcome)

    def payload(self) -> dict[str, Any]:
        return {**self._asdict(), "sentences": list(self.sentences), "outcome": list(self.outcome)}

    @classmethod
    def read(cls, payload: dict[str, Any]) -> _BestTrial:
        sentences, outcome = tuple(payload["sentences"]), typed(Outcome, payload["outcome"])
        return cls(**{**payload, "sentences": sentences, "outcome": outcome})


def _kind(task_id: str) -> str:
    """Return family and level of a task id such as ``cooking/rl-1/train/0``."""
    return "/".join(task_id.split("/")[:2])


def _parsed(sentences: Iterable[str]) -> list[CausalAbstraction]:
    parsed = (CausalAbstraction.parse(sentence) for sentence in sentences)
    return [abstraction for abstraction in parsed if abstraction is not None]
