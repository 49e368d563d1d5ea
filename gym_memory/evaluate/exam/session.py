"""The exam itself: episodes are played once, replayed into every memory, and asked about."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.records import Cue, Oracle, Recall, Task, Triple
from gym_memory.core.tokens import count_tokens
from gym_memory.evaluate.exam.account import Account, Recording, record
from gym_memory.evaluate.exam.questions import Question, Verdict, ask
from gym_memory.evaluate.exam.reading import Reading
from gym_memory.evaluate.exam.wordings import WORDINGS
from gym_memory.memory.base import Memory, check_budget, make_memory
from gym_memory.run.jobs import Job, RunConfig, with_parameter
from gym_memory.wrappers.memory import DEFAULT_MEMORY

__all__ = ["Answer", "ExamConfig", "examine", "sit"]

OnProgress = Callable[[int, int], None]
"""Called with episodes done and episodes in all."""


@dataclasses.dataclass(frozen=True)
class ExamConfig:
    """What to ask whom.

    Args:
        envs: Environments.
        memories: Memories that sit the exam.
        policies: Who plays the episodes, with ``DEFAULT_MEMORY`` in the observation.
        seeds: Seeds, one episode each.
        budgets: Tokens that a recall may take.
        lengths: Steps after which questions are asked. An episode that ends before is asked
            about at its end, once. The longest is the step limit.
        per_kind: Most questions of a kind at a time.
        wordings: How to ask: in words that were ``seen`` in development, ``unseen`` ones, by the
            policy's published plan as it was then (``focus``).

    Raises:
        InvalidArgumentError: A list is empty or holds something twice, or a number is wrong.
    """

    envs: tuple[str, ...]
    memories: tuple[str, ...]
    policies: tuple[str, ...] = ("planner", "random")
    seeds: tuple[int, ...] = tuple(range(20))
    budgets: tuple[int, ...] = (200, 500, 1000, 2000)
    lengths: tuple[int, ...] = (50, 150, 500)
    per_kind: int = 4
    wordings: tuple[str, ...] = WORDINGS

    def __post_init__(self) -> None:
        RunConfig(self.envs, self.memories, self.policies, self.seeds)  # checks all four
        for name, values in (("budgets", self.budgets), ("lengths", self.lengths)):
            if not values or len(set(values)) < len(values) or min(values) < 1:
                raise InvalidArgumentError(f"expected {name} as distinct ints >= 1, got {values}")
            object.__setattr__(self, name, tuple(sorted(check_budget(v) for v in values)))
        if not self.wordings or len(set(self.wordings)) < len(self.wordings):
            raise InvalidArgumentError(f"expected distinct wordings, got {self.wordings}")
        for wording in self.wordings:
            if wording not in WORDINGS:
                raise UnknownNameError("wording", wording, WORDINGS)
        if self.per_kind < 1:
            raise InvalidArgumentError(f"expected per_kind >= 1, got {self.per_kind}")

    def jobs(self) -> list[Job]:
        """The episodes to play."""
        limit = max(self.lengths)
        return [
            Job(with_parameter(env, "max_steps", limit), DEFAULT_MEMORY, policy, seed)
            for seed in self.seeds
            for env in self.envs
            for policy in self.policies
        ]


class Answer(NamedTuple):
    """What one memory said to one question.

    Attributes:
        env: Environment.
        policy: Who played.
        seed: Seed of the episode.
        length: Steps that were asked for; the episode may have ended before.
        question: The question.
        wording: How it was asked.
        memory: The memory.
        budget: Tokens that the recall was allowed.
        tokens: Tokens that it took.
        verdict: What the answer is worth.
    """

    env: str
    policy: str
    seed: int
    length: int
    question: Question
    wording: str
    memory: str
    budget: int
    tokens: int
    verdict: Verdict


def examine(config: ExamConfig, on_progress: OnProgress | None = None) -> Iterator[Answer]:
    """Play, replay and ask; answers come episode by episode."""
    for memory in config.memories:
        make_memory(memory)  # a wrong name is told before anything is played
    jobs = config.jobs()
    for done, job in enumerate(jobs):
        if on_progress is not None:
            on_progress(done, len(jobs))
        env = config.envs[done // len(config.policies) % len(config.envs)]
        recording = record(job)
        sheets = _sheets(recording, config)
        for memory in config.memories:
            sat = sit(make_memory(memory), recording, sheets, config.budgets, config.wordings)
            for length, question, wording, budget, tokens, verdict in sat:
                yield Answer(
                    env, job.policy, job.seed, length, question, wording, memory, budget, tokens,
                    verdict,
                )  # fmt: skip
    if on_progress is not None:
        on_progress(len(jobs), len(jobs))


Sheets = dict[int, tuple[int, Account, list[Question]]]
"""Step after which to ask: the length it stands for, the episode up to it, and the questions."""


def _sheets(recording: Recording, config: ExamConfig) -> Sheets:
    job, last = recording.job, len(recording.moments) - 1
    sheets: Sheets = {}
    for length in config.lengths:
        t = min(length, last)
        if t not in sheets:
            rng = random.Random(f"{job.env} {job.policy} {job.seed} {t}")
            account = Account(recording.moments[: t + 1])
            sheets[t] = length, account, ask(account, rng, config.per_kind)
    return sheets


def sit(
    memory: Memory,
    recording: Recording,
    sheets: Sheets,
    budgets: Sequence[int],
    wordings: Sequence[str] = WORDINGS,
) -> Iterator[tuple[int, Question, str, int, int, Verdict]]:
    """Replay an episode into a memory and ask it.

    The memory learns what it would have learnt in play. What is asked is its focus, beside the
    present observation, just as a policy's plan is.

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
        memory.observe(moment.step)
        if t in sheets:
            length, account, questions = sheets[t]
            asked = [
                (question, wording, text)
                for question in questions
                for wording in wordings
                if (text := getattr(question.text, wording))
            ]
            for answered in _asked(memory, account, task, asked, budgets):
                yield length, *answered
        if t == max(sheets):
            return


def _asked(
    memory: Memory,
    account: Account,
    task: Task,
    asked: Sequence[tuple[Question, str, str]],
    budgets: Sequence[int],
) -> Iterator[tuple[Question, str, int, int, Verdict]]:
    step = account.moment.step
    for budget in budgets:
        read: dict[tuple[str, tuple[Triple, ...]], Reading] = {}  # many recalls are the same
        for question, wording, text in asked:
            cue = Cue(step.text, task.goal, step.inventory, step.valid_actions, text)
            recall: Recall = memory.recall(cue, budget)
            key = recall.text, recall.triples
            reading = read.get(key)
            if reading is None:
                reading = read[key] = Reading(recall, account)
            tokens = count_tokens(recall.text)
            yield question, wording, budget, tokens, question.grade(reading)
