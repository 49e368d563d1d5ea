"""Play episodes once, replay them into each memory, and ask it questions."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec, specs
from gym_memory.core.records import Cue, Oracle, Recall, Step, Task, Triple
from gym_memory.core.settings import check_int, check_name
from gym_memory.evaluate.exam import events, questions
from gym_memory.evaluate.exam.account import Account, PlayedEpisode, record
from gym_memory.evaluate.exam.questions import WORDINGS, ExamQuestion, QuestionText, Verdict
from gym_memory.evaluate.exam.reading import RecallReading
from gym_memory.evaluate.quality.observer import spaced, squeezed
from gym_memory.memory.base import Memory, check_budget, count_tokens, make_memory
from gym_memory.run.config import Job, RunConfig
from gym_memory.wrappers.memory import DEFAULT_MEMORY

__all__ = ["KINDS", "SILENCE", "ExamAnswer", "ExamConfig", "answer_questions", "ask", "examine"]

KINDS: dict[str, type[ExamQuestion]] = {
    kind.kind: kind
    for kind in (
        questions.Where, questions.Read, questions.Near, questions.Past, questions.Did,
        questions.OrderQuestion, questions.Route, questions.Inside, questions.Count,
        questions.Saw, questions.Unseen, events.MoveQuestion, events.DropQuestion, events.Next,
        events.There, events.Pitfall, events.Premise,
    )
}  # fmt: skip
"""All kinds of question, in table order."""
SILENCE = frozenset(name for name, kind in KINDS.items() if kind.wants_silence)
"""Kinds of question without an answer, which are left out of every mean."""


def ask(account: Account, rng: random.Random, per_kind: int) -> list[ExamQuestion]:
    """Return questions after the last step of an account.

    ``per_kind`` limits the worded questions of each kind and the questions from the policy's plan.
    """
    without = RecallReading(Recall(), account)
    plan = account.moment.focus
    named = spaced(squeezed(plan))
    questions: list[ExamQuestion] = []
    for kind in KINDS.values():
        left, planned = per_kind, per_kind if plan else 0
        for question in kind.make(account, rng):
            if not (left or planned):
                break
            about = question.about
            to_plan = planned > 0 and bool(about) and all(spaced(n.lower()) in named for n in about)
            if not (left or to_plan):
                continue
            if not kind.wants_silence and question.grade(without) == "right":
                continue
            text = _shortened(question.text, account) if left else QuestionText()
            text = text._replace(focus=plan) if to_plan else text
            questions.append(dataclasses.replace(question, text=text))
            left, planned = max(left - 1, 0), planned - to_plan
    return questions


def _shortened(text: QuestionText, account: Account) -> QuestionText:
    """Return a question whose names are shortened."""
    cut = {half: account.with_short_names(getattr(text, half)) for half in ("unseen", "everyday")}
    partial = cut["unseen"] if cut["unseen"] != text.unseen else ""
    return text._replace(partial=partial, everyday=cut["everyday"])


OnProgress = Callable[[int, int], None]
"""Callback for progress: episodes done, episodes in all."""


@dataclasses.dataclass(frozen=True)
class ExamConfig:
    """A configuration of an exam.

    Args:
        envs: Environments.
        memories: Memories to examine.
        policies: Policies that play the episodes and observe ``DEFAULT_MEMORY``.
        seeds: Seeds, one per episode.
        budgets: Token budgets of a recall.
        lengths: Numbers of steps after which to ask; the largest is the step limit. A
            shorter episode gets its questions once, at its end.
        per_kind: Most questions of one kind at a time.
        wordings: Words ``seen`` in development, ``unseen`` ones, or the policy's plan at that
            time (``focus``).
    """

    envs: tuple[Spec, ...]
    memories: tuple[Spec, ...]
    policies: tuple[Spec, ...] = (Spec("planner"), Spec("random"))
    seeds: tuple[int, ...] = tuple(range(20))
    budgets: tuple[int, ...] = (200, 500, 1000, 2000)
    lengths: tuple[int, ...] = (50, 150, 500)
    per_kind: int = 4
    wordings: tuple[str, ...] = WORDINGS

    def __post_init__(self) -> None:
        for name in ("envs", "memories", "policies"):
            object.__setattr__(self, name, specs(getattr(self, name)))
        RunConfig(self.envs, self.memories, self.policies, self.seeds)  # validates all four
        for name, values in (("budgets", self.budgets), ("lengths", self.lengths)):
            if not values or len(set(values)) < len(values) or min(values) < 1:
                raise InvalidArgumentError(f"expected {name} as distinct ints >= 1, got {values}")
            object.__setattr__(self, name, tuple(sorted(check_budget(v) for v in values)))
        if not self.wordings or len(set(self.wordings)) < len(self.wordings):
            raise InvalidArgumentError(f"expected distinct wordings, got {self.wordings}")
        for wording in self.wordings:
            check_name("wording", wording, WORDINGS)
        check_int("per_kind", self.per_kind, 1)

    def jobs(self) -> list[Job]:
        """Return the episodes to play."""
        limit = max(self.lengths)
        return [
            Job(env.with_parameter("max_steps", limit), Spec(DEFAULT_MEMORY), policy, seed)
            for seed in self.seeds
            for env in self.envs
            for policy in self.policies
        ]


class ExamAnswer(NamedTuple):
    """An answer of one memory to one question.

    ``length`` is the step at which it was asked, or would have been if the episode ended earlier.
    ``budget`` is the recall's limit and ``tokens`` its size.
    """

    env: str
    policy: str
    seed: int
    length: int
    question: ExamQuestion
    wording: str
    memory: str
    budget: int
    tokens: int
    verdict: Verdict


def examine(config: ExamConfig, on_progress: OnProgress | None = None) -> Iterator[ExamAnswer]:
    """Yield the answers of all memories, episode by episode."""
    for memory in config.memories:
        make_memory(memory)  # report a wrong name before play
    jobs = config.jobs()
    for done, job in enumerate(jobs):
        if on_progress is not None:
            on_progress(done, len(jobs))
        env = config.envs[done // len(config.policies) % len(config.envs)]
        recording = record(job)
        sheets = _sheets(recording, config)
        for memory in config.memories:
            answers = answer_questions(
                make_memory(memory), recording, sheets, config.budgets, config.wordings
            )
            for length, question, wording, budget, tokens, verdict in answers:
                yield ExamAnswer(
                    env, job.policy, job.seed, length, question, wording, memory, budget, tokens,
                    verdict,
                )  # fmt: skip
    if on_progress is not None:
        on_progress(len(jobs), len(jobs))


Sheets = dict[int, tuple[int, Account, list[ExamQuestion]]]
"""Requested length, episode up to then, and questions, keyed by the last step."""


def _sheets(recording: PlayedEpisode, config: ExamConfig) -> Sheets:
    job, last = recording.job, len(recording.moments) - 1
    sheets: Sheets = {}
    for length in config.lengths:
        t = min(length, last)
        if t not in sheets:
            rng = random.Random(f"{job.env} {job.policy} {job.seed} {t}")
            account = Account(recording.moments[: t + 1])
            sheets[t] = length, account, ask(account, rng, config.per_kind)
    return sheets


def answer_questions(
    memory: Memory,
    recording: PlayedEpisode,
    sheets: Sheets,
    budgets: Sequence[int],
    wordings: Sequence[str] = WORDINGS,
) -> Iterator[tuple[int, ExamQuestion, str, int, int, Verdict]]:
    """Replay an episode into a memory and ask it the questions.

    The memory learns as it does in play. A question is passed as the focus, like a policy's plan,
    together with the last observation.

    Yields:
        ``(length, question, wording, budget, tokens of the recall, verdict)``.
    """
    task, current = recording.task, recording.moments[0]

    def oracle() -> Oracle:
        return Oracle(current.facts)

    if memory.uses_oracle:
        memory.oracle = oracle
    memory.begin(task, recording.job.seed)
    for t, moment in enumerate(recording.moments):
        current = moment
        seen = memory.admit(moment.step, task.goal)
        memory.observe(seen)
        if t in sheets:
            length, account, questions = sheets[t]
            questions_in_words = [
                (question, wording, text)
                for question in questions
                for wording in wordings
                if (text := getattr(question.text, wording))
            ]
            for graded in _grade_all(memory, seen, account, task, questions_in_words, budgets):
                yield length, *graded
        if t == max(sheets):
            return


def _grade_all(
    memory: Memory,
    step: Step,
    account: Account,
    task: Task,
    questions: Sequence[tuple[ExamQuestion, str, str]],
    budgets: Sequence[int],
) -> Iterator[tuple[ExamQuestion, str, int, int, Verdict]]:
    for budget in budgets:
        read: dict[tuple[str, tuple[Triple, ...]], RecallReading] = {}  # many recalls are identical
        for question, wording, text in questions:
            cue = Cue(step.text, task.goal, step.inventory, step.valid_actions, text)
            recall: Recall = memory.recall(cue, budget)
            key = recall.text, recall.triples
            reading = read.get(key)
            if reading is None:
                reading = read[key] = RecallReading(recall, account)
            tokens = count_tokens(recall.text)
            yield question, wording, budget, tokens, question.grade(reading)
