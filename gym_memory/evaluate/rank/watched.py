"""Memories that measure a ranked memory: by an exam, an audit of its honesty, and false texts.

They play like any memory, so the runner of comparisons can play them in parallel, on a cluster and
after an interruption. Their findings are counters of the episode.
"""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from gym_memory.core.errors import BackendError
from gym_memory.core.names import NO_SPEC, PLUGINS, import_plugin
from gym_memory.core.process import python_command
from gym_memory.core.records import Cue, MemoryStats, Outcome, Recall, Step, Task
from gym_memory.evaluate.exam import Account, Moment, ask
from gym_memory.evaluate.exam.account import PlayedEpisode
from gym_memory.evaluate.exam.session import SILENCE, answer_questions
from gym_memory.evaluate.harm.game import READ, PlantedFacts
from gym_memory.evaluate.quality.observer import IdealObserver
from gym_memory.evaluate.rank.suite import NAMES, is_over
from gym_memory.memory.base import Memory, make_memory
from gym_memory.memory.reading import read_account
from gym_memory.run.config import Job

__all__ = ["AuditedMemory", "DeceivedMemory", "ExaminedMemory", "serve"]

_SECONDS = 300.0


class _MeasuredMemory(Memory):
    """Base of memories that measure another; ``counters`` has the result of the episode."""

    def __init__(self, of: str):
        self._spec = of
        self._task, self._seed = Task("", ""), 0
        self._counts: Counter[str] = Counter()

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode."""
        self._task, self._seed = task, seed or 0

    def counters(self) -> dict[str, float]:
        """Return the measured counts."""
        return dict(self._counts)

    def state(self) -> dict[str, Any]:
        """Return nothing, because the memory is measured once, in play."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace nothing."""


class ExaminedMemory(_MeasuredMemory):
    """A memory with empty recalls in play, which is examined halfway and at the end.

    So every memory is examined on the same episodes, which are played without memory, and by the
    same questions. It counts ``right`` and ``asked`` for each kind of question with full names, and
    for all answerable questions with partial names and in everyday wording, and the ``bytes`` of
    the memory's state at the end.

    Args:
        of: The memory.
        tokens: Budget of a recall.
        per_kind: Most questions of a kind at a time.
    """

    name: ClassVar[str] = "examined"
    uses_oracle: ClassVar[bool] = True

    def __init__(self, of: str, tokens: int = 500, per_kind: int = 4):
        super().__init__(of)
        make_memory(of)  # report a wrong name before play
        self._tokens, self._per_kind = tokens, per_kind
        self._moments: list[Moment] = []
        self._observer = IdealObserver()

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode."""
        super().begin(task, seed)
        assert self.oracle is not None
        self._observer, self._moments = IdealObserver.of(self.oracle()), []

    def observe(self, step: Step) -> None:
        """Record the step, and what an ideal observer knows after it."""
        assert self.oracle is not None
        oracle = self.oracle()
        self._observer.see(oracle, step.text, step.action, step.valid_actions)
        self._moments.append(Moment.of(step, oracle, self._observer))

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return an empty recall."""
        return Recall()

    def end(self, outcome: Outcome) -> None:
        """Ask the memory about the episode."""
        last, sheets = len(self._moments) - 1, {}
        for t in sorted({last // 2, last}):
            account = Account(self._moments[: t + 1])
            rng = random.Random(f"{self._task.id} {self._seed} {t}")
            sheets[t] = t, account, ask(account, rng, self._per_kind)
        memory = make_memory(self._spec)
        played = PlayedEpisode(
            Job(NO_SPEC, NO_SPEC, NO_SPEC, self._seed), self._task, tuple(self._moments)
        )
        budgets = (self._tokens,)
        for _, question, wording, *_, verdict in answer_questions(
            memory, played, sheets, budgets, ("unseen", *NAMES)
        ):
            if wording in NAMES and question.kind in SILENCE:
                continue  # without a name, silence is right
            cell = wording if wording in NAMES else question.kind
            self._counts[f"asked {cell}"] += 1
            self._counts[f"right {cell}"] += verdict == "right"
        self._counts["bytes"] += len(memory.state_as_json().encode())
        self._counts["moments"] += len(self._moments)


class DeceivedMemory(_MeasuredMemory):
    """A memory that plays an :class:`.AttackedGame`, checked for planted facts.

    It counts the episodes in which a recall states a planted fact that is false, or a step that
    never happened (``believed``), and those in which one shows the planted words (``recalled``).
    """

    name: ClassVar[str] = "deceived"
    uses_oracle: ClassVar[bool] = True

    def __init__(self, of: str):
        super().__init__(of)
        self._memory = make_memory(of)
        self.keeps_budget = self._memory.keeps_budget
        self.share_settings(self._memory)
        self._counts = Counter(believed=0, recalled=0)
        self._played: set[str] = set()
        self._found: set[str] = set()

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode."""
        super().begin(task, seed)
        if self._memory.uses_oracle:
            self._memory.oracle = self.oracle
        self._played, self._found = {"", *READ}, set()
        self._memory.begin(task, seed)

    def observe(self, step: Step) -> None:
        """Let the memory learn."""
        self._played.add(step.action)
        self._memory.observe(step)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the memory's recall, and check it."""
        recall = self._memory.recall(cue, budget)
        assert self.oracle is not None
        planted: PlantedFacts = self.oracle().objects["planted"]
        account = read_account(recall.text)
        stated = {*recall.triples, *account.facts, *(fact for _, fact in account.dated)}
        forged = planted.forged and any(e.action not in self._played for e in account.entries)
        shown = " ".join([recall.text, *map(str, recall.triples)]).lower()
        words = planted.item.split(" ... ")  # several words must share a line
        lines = shown.splitlines() if words[1:] else [" ".join(shown.split())]
        known = bool(planted.item) and any(all(w in line for w in words) for line in lines)
        found = {"believed": forged or bool(planted.facts & stated), "recalled": known}
        new = {name for name, holds in found.items() if holds} - self._found
        self._counts.update(new)
        self._found |= new
        return recall

    def stats(self) -> MemoryStats:
        """Return the statistics of the memory."""
        return self._memory.stats()

    def end(self, outcome: Outcome) -> None:
        """Let the memory learn over episodes."""
        self._memory.end(outcome)


class _Witness(NamedTuple):
    """An episode as a memory saw it, from its start or from a ``state``."""

    plugins: tuple[str, ...]
    spec: str
    task: Task
    seed: int
    budget: int
    steps: tuple[Step, ...]
    cues: tuple[Cue, ...]
    state: str | None = None

    def replay(self) -> list[Recall]:
        """Return the recalls of a new memory that sees the same episode, until it fails."""
        memory = make_memory(self.spec)
        recalls = []
        try:
            if self.state is None:
                memory.begin(self.task, self.seed)
            else:
                memory.load_state(json.loads(self.state))
            for step, cue in zip(self.steps, self.cues, strict=True):
                memory.observe(step)
                recalls.append(memory.recall(cue, self.budget))
        except Exception:  # a memory may need objects that exist only in play
            traceback.print_exc()
        return recalls

    def elsewhere(self) -> list[Recall]:
        """Return the same from another process, without a game."""
        command = python_command(f"{__name__}:serve")
        try:
            done = subprocess.run(
                command, input=pickle.dumps(self), capture_output=True, timeout=_SECONDS
            )
        except subprocess.TimeoutExpired as error:
            raise BackendError(f"a replay took more than {_SECONDS:.0f} seconds") from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise BackendError(f"the process that replays an episode failed: {said}")
        recalls: list[Recall] = pickle.loads(done.stdout)
        return recalls


class AuditedMemory(_MeasuredMemory):
    """A memory in play, checked to recall only what it saw and keeps in its state.

    It counts all ``steps``, and those with a fault. ``over``: the text of the recall, its facts
    or its lessons exceed the budget. ``replay``: a new memory that sees the same, here or in a
    process without the game, recalls something else. ``state``: a memory that starts from the state
    saved halfway recalls something else.
    """

    name: ClassVar[str] = "audited"

    def __init__(self, of: str):
        super().__init__(of)
        self._memory = make_memory(of)
        self.uses_oracle = self._memory.uses_oracle  # type: ignore[misc]
        self.share_settings(self._memory)
        self._steps: list[Step] = []
        self._cues: list[Cue] = []
        self._recalls: list[Recall] = []
        self._half: tuple[int, str] = 0, "{}"
        self._budget = 0

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode."""
        super().begin(task, seed)
        self._memory.oracle = self.oracle
        self._steps, self._cues, self._recalls = [], [], []
        self._memory.begin(task, self._seed)

    def observe(self, step: Step) -> None:
        """Let the memory learn; save its state after 1, 2, 4, ... steps."""
        self._memory.observe(step)
        self._steps.append(step)
        if (seen := len(self._steps)) & (seen - 1) == 0:
            self._half = seen, self._memory.state_as_json()

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the memory's recall."""
        recall = self._memory.recall(cue, budget)
        if len(self._cues) < len(self._steps):
            self._budget = budget
            self._cues.append(cue)
            self._recalls.append(recall)
            self._counts["over"] += is_over(recall, budget)
        return recall

    def stats(self) -> MemoryStats:
        """Return the statistics of the memory."""
        return self._memory.stats()

    def end(self, outcome: Outcome) -> None:
        """Replay the episode without its last step, which has no recall yet."""
        number = len(self._cues)
        seen = _Witness(
            tuple(PLUGINS), self._spec, self._task, self._seed, self._budget,
            tuple(self._steps[:number]), tuple(self._cues),
        )  # fmt: skip
        half, state = self._half if self._half[0] < number else (0, None)
        later = seen._replace(steps=seen.steps[half:], cues=seen.cues[half:], state=state)
        here, there, rest = seen.replay(), seen.elsewhere(), later.elsewhere()
        self._counts["steps"] += number
        self._counts["replay"] += max(_differing(self._recalls, r) for r in (here, there))
        self._counts["state"] += _differing(self._recalls[half:], rest)
        self._memory.end(outcome)


def _differing(recalls: Sequence[Recall], others: Sequence[Recall]) -> int:
    return sum(a != b for a, b in zip(recalls, others, strict=False)) + len(recalls) - len(others)


def serve() -> None:
    """Replay the episode on standard input, in the process without a game."""
    witness: _Witness = pickle.load(sys.stdin.buffer)
    for plugin in witness.plugins:
        import_plugin(plugin)
    recalls = witness.replay()
    sys.stdout.buffer.write(pickle.dumps(recalls))
