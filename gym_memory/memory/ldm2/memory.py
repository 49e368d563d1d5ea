"""LDM2 (Wang et al., 2023): tuples of what was done in which situation, shown as examples."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, ClassVar, Literal, NamedTuple

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.files import typed
from gym_memory.core.records import Cue, MemoryStats, Outcome, Recall, Step, Task
from gym_memory.core.settings import check_int, checked
from gym_memory.core.trajectory import Trajectory, read_trajectory
from gym_memory.llm.base import ChatModel
from gym_memory.memory.base import CHARS_PER_TOKEN, Lifetime, Memory, check_budget, is_over
from gym_memory.memory.encoders import Encoder, make_encoder
from gym_memory.memory.ldm2.formation import LONGEST, TupleBank, clipped, recordings
from gym_memory.memory.ldm2.index import Example, said
from gym_memory.memory.roles.llm import chat_model
from gym_memory.memory.stores.store import Store

__all__ = ["LDM2"]

_HEAD = "Examples of what was done in situations like this one:"
_SO_FAR = "So far in this task:"
_OWN_SHARE = 4
"""A quarter of the budget is kept free for the history of the present episode."""
EACH = "each"
_LEAST_EXAMPLE = 120
"""Characters under which an example says nothing."""


class _TuplePlace(NamedTuple):
    batch: int
    goal_type: str
    observation_type: str


class LDM2(Memory):
    """LDM2's dynamic memory: formation, two-level index, retrieval, refinement.

    Tuples (goal, history, observation -> action; Eqs. 1 and 6) are *formed* from trajectories in
    batches, with goal types and in them observation types (Eqs. 7 and 8). A recall shows the
    nearest ``examples`` tuples of the present types, then the history of the episode. *Refinement*
    adds the part of a better process where it first departs from a worse one (Eq. 10).

    The paper plays one process with each batch memory and takes the best (Eq. 5): ``batch="each"``
    with the protocol ``best_of``. By default all batch memories are searched.

    Differences from the paper: rules play the parts of a language model unless ``llm`` is given.
    Types are clusters of embeddings; tuples are ranked by the cosine of the observation together
    with the remaining subgoals. An unrelated goal gets no examples.

    Args:
        store: Source of tuples: a recorded file or a folder of ``*.jsonl.gz``, formed when the
            memory is made; or a store (file or URL) that keeps them; empty: neither.
        batch_size: Trajectories per batch memory, B >= 1; the paper has 100 in shopping and 50 in
            households.
        examples: Tuples to show at most, >= 1.
        batch: The one batch memory to use; ``each`` for the next one with every episode of the
            same task instance; None for all.
        encoder: Encoder of goals, observations and subgoals. The default needs no weights.
        lifetime: How long tuples learnt in episodes are kept: ``trial``, ``task`` or ``forever``.
            None: ``forever`` with a store, else ``task``. What was formed always stays.
        capacity: Number of tuples at which learning from episodes ends, >= 1.
        learn: Whether episodes are learnt from; False for a store that several workers evaluate.
        llm: A chat model that plays those parts, or its spec; None for the rules.
    """

    name: ClassVar[str] = "ldm2"

    @checked
    def __init__(
        self,
        *,
        store: str = "",
        batch_size: int = 100,
        examples: int = 5,
        batch: int | str | None = None,
        encoder: str | Encoder = "hash",
        lifetime: Literal["trial", "task", "forever"] | None = None,
        capacity: int = 200_000,
        learn: bool = True,
        llm: str | ChatModel | None = None,
    ):
        for label, number in (
            ("batch_size", batch_size), ("examples", examples), ("capacity", capacity),
        ):  # fmt: skip
            check_int(label, number, 1)
        if isinstance(batch, str) and batch != EACH:
            raise InvalidArgumentError(f"expected batch as an int, {EACH!r} or None, got {batch!r}")
        self.batch_size, self.examples, self.batch = batch_size, examples, batch
        self.learn = learn
        self._turn = 0
        self._encoder = make_encoder(encoder)
        files = recordings(store)
        kept = Store(store) if store and not files else None
        self.lifetime: Lifetime = "forever" if kept else lifetime or "task"
        self.lifetimes = {"tuples": self.lifetime, "history": "episode"}
        self._bank = TupleBank(self._encoder, chat_model(llm), kept, batch_size, capacity)
        self._task = Task("", "")
        self._trace: list[Step] = []
        self._complete, self._history = True, ""
        self._places: list[_TuplePlace] = []
        if files:
            self.form(t for file in files for t in read_trajectory(file))

    @property
    def batches(self) -> tuple[int, ...]:
        """Return the numbers of the batch memories, any of which ``batch`` may name."""
        return self._bank.library.batches

    def _in_use(self) -> int | None:
        if isinstance(self.batch, str):
            return self.batches[self._turn % len(self.batches)] if self.batches else None
        return self.batch

    def form(self, trajectories: Iterable[Trajectory]) -> int:
        """Form batch memories from trajectories worth imitating; return the number of tuples."""
        return self._bank.form(trajectories)

    def refine(self, better: Trajectory, worse: Trajectory) -> int:
        """Add what a better process did from where it departs from a worse (Eq. 10); count it."""
        score = better.outcome.value
        if score <= worse.outcome.value:
            return 0
        return self._bank.learn(
            better.task, better.steps, score, worse.steps, self._in_use(), lasting=True
        )

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode: drop tuples whose lifetime is over, find the goal type."""
        last, self._task = self._task, task
        self._turn = self._turn + 1 if task == last else 0
        if is_over(self.lifetime, last, task):
            self._bank.library = self._bank.formed
        self._bank.refresh()
        self._trace, self._complete, self._history = [], True, ""
        found = self._bank.goal_types(task.goal, self._in_use())
        self._places = [_TuplePlace(batch, kind, "") for _, batch, kind in found]

    def observe(self, step: Step) -> None:
        """Take in a step: extend the history, find the observation types."""
        self._trace.append(clipped(step))
        if len(self._trace) > LONGEST:
            del self._trace[0]
            self._complete = False
        self._history = self._bank.historian(self._trace, self._task)
        text, find = self._trace[-1].text, self._bank.observation_type
        self._places = [
            _TuplePlace(batch, kind, find(batch, kind, text)) for batch, kind, _ in self._places
        ]

    def end(self, outcome: Outcome) -> None:
        """Refine the memory if <= 512 steps beat the best process of their goal type."""
        rewarded = [at for at, step in enumerate(self._trace) if step.reward > 0]
        if rewarded and self._complete and self.learn:
            steps = self._trace[: rewarded[-1] + 1]
            self._bank.learn(self._task, steps, outcome.value, batch=self._in_use())

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Recall examples of the situation, nearest first, then the history of the episode."""
        room = check_budget(budget) * CHARS_PER_TOKEN
        own = f"{_SO_FAR}\n{self._history}" if self._history else ""
        kept = min(len(own), room // _OWN_SHARE)
        shown = self._shown(cue, room - kept - len(_HEAD) - 2)
        lines = [_HEAD, *shown] if shown else []
        own = own[: room - sum(len(line) + 1 for line in lines)]
        text = "\n".join([*lines, own] if own else lines)
        return Recall(text=text, lessons=tuple(shown))

    def nearest(self, cue: Cue) -> list[tuple[float, Example]]:
        """Return the tuples that a recall shows, with their cosines, nearest first."""
        if not self._places:
            return []
        text = clipped(Step(0, cue.text)).text
        here = bool(self._trace) and text == self._trace[-1].text
        seen = self._encoder.encode([text])
        key = self._bank.library.keys(seen, [self._history])[0]
        found: list[tuple[float, Example]] = []
        for batch, kind, situation in self._places:
            if not here or not situation:
                situation = self._bank.library.nearest_observation_type(batch, kind, seen[0])
            found += self._bank.library.nearest(batch, kind, situation, key, self.examples)
        distinct: dict[tuple[str, str, str], tuple[float, Example]] = {}
        for near, example in sorted(found, key=lambda pair: -pair[0]):
            if len(distinct) == self.examples:
                break
            distinct.setdefault(said(example), (near, example))  # batches may share tuples
        return list(distinct.values())

    def _shown(self, cue: Cue, room: int) -> list[str]:
        if room < _LEAST_EXAMPLE:
            return []
        examples = [example for _, example in self.nearest(cue)]
        shown: list[str] = []
        for at, example in enumerate(examples):
            share = max(room // (len(examples) - at), _LEAST_EXAMPLE)
            if room < share:
                break
            shown.append(_render(example, cue.task, at + 1, share - 1))
            room -= len(shown[-1]) + 1
        return shown

    def state(self) -> dict[str, Any]:
        """Return all tuples with their types, and the episode."""
        return {
            **self._bank.state(),
            "task": list(self._task),
            "turn": self._turn,
            "history": self._history,
            "trace": [[s.t, s.text, s.action, s.reward] for s in self._trace],
            "complete": self._complete,
            "places": [list(place) for place in self._places],
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        task = typed(Task, state["task"])
        trace = tuple(typed(Step, step) for step in state["trace"])
        places = tuple(_TuplePlace(*place) for place in state["places"])
        self._bank.load_state(state)
        for batch, kind, situation in places:
            known = self._bank.library.observation_types(batch, kind)
            if situation and situation not in known:
                raise LookupError(f"there are no tuples of {situation!r:.80}")
        whole, turn = bool(state["complete"]), int(state["turn"])
        episode = (task, str(state["history"]), trace, whole, places, turn)
        self.restore((self._bank.snapshot(), episode))

    def snapshot(self) -> Any:
        """Return the state; shares the tuples."""
        trace, places = tuple(self._trace), tuple(self._places)
        episode = (self._task, self._history, trace, self._complete, places, self._turn)
        return self._bank.snapshot(), episode

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot."""
        tuples, episode = snapshot
        self._task, self._history, trace, self._complete, places, self._turn = episode
        self._bank.restore(tuples)
        self._trace, self._places = list(trace), list(places)

    def fork(self) -> LDM2:
        """Return an independent copy that shares the tuples there are, and the store."""
        twin = copy.copy(self)
        twin._bank = copy.copy(self._bank)
        twin.restore(self.snapshot())
        return twin

    def stats(self) -> MemoryStats:
        """Return tuples held, calls of the language model and the size of the last recall."""
        calls, fallbacks = self._bank.counts()
        lessons = len(self._bank.library)
        return MemoryStats(lessons=lessons, extraction_calls=calls, fallbacks=fallbacks)


def _render(example: Example, goal: str, number: int, room: int) -> str:
    action = f"Action: {example.action}"
    lead = f"{number}. "
    if example.goal.split() != goal.split():
        lead += f"Goal: {_cut(' '.join(example.goal.split()), room // 5)}\n"
    left = room - len(lead) - len(action) - len("\nObservation: \n")
    seen = "\n".join(line for line in example.observation.splitlines() if line.strip())
    seen = _cut(seen, max(left - len(example.history), left // 2))
    history = _cut(example.history, left - len(seen))
    return f"{lead}{history}\nObservation: {seen}\n{action}"[:room]


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(room - 3, 0)] + "..."
