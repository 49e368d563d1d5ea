"""Count shares of right answers by memory, budget, wording and kind of question."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gym_memory.evaluate.exam.questions import WORDINGS
from gym_memory.evaluate.exam.session import KINDS, SILENCE, ExamAnswer
from gym_memory.run.results import intervals
from gym_memory.run.results.score import format_interval

__all__ = ["AGES", "ALL", "REFERENCE", "UPPER_BOUND", "ExamScore", "ahead", "by_age"]
__all__ += ["by_game", "by_length", "exam_scores", "leads", "main_wording", "totals"]

ALL = "all"
"""All kinds that have an answer."""
REFERENCE, UPPER_BOUND = "arigraph", "oracle"
"""The memory that others are compared with; the one that no comparison counts."""
AGES = (5, 15, 50, 150, 500)
"""Upper ends, in steps, of the ranges of ages by which answers are sorted."""


@dataclasses.dataclass(frozen=True)
class ExamScore:
    """Hold one cell of the table: shares in [0, 1] of ``n`` answers.

    ``ci`` is the 95 % interval of ``right`` over games, None for a single one; ``tokens`` the mean
    of the recalls.
    """

    memory: str
    budget: int
    wording: str
    kind: str
    n: int
    right: float
    wrong: float
    unproven: float
    ci: tuple[float, float] | None
    tokens: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values, rounded."""
        record = dataclasses.asdict(self)
        for name in ("right", "wrong", "unproven", "tokens"):
            record[name] = round(record[name], 4)
        record["ci"] = None if self.ci is None else [round(end, 4) for end in self.ci]
        return record


def exam_scores(answers: Iterable[ExamAnswer]) -> list[ExamScore]:
    """Score every memory, budget, wording and kind, and all kinds that have an answer."""
    cells: dict[tuple[str, int, str, str], list[ExamAnswer]] = {}
    for answer in answers:
        kind = answer.question.kind
        for name in (kind,) if kind in SILENCE else (kind, ALL):
            cell = answer.memory, answer.budget, answer.wording, name
            cells.setdefault(cell, []).append(answer)
    order = {kind: i for i, kind in enumerate((*KINDS, ALL))}
    memories = {memory: i for i, memory in enumerate(dict.fromkeys(cell[0] for cell in cells))}
    keys = sorted(
        cells,
        key=lambda c: (c[1], memories[c[0]], WORDINGS.index(c[2]), order[c[3]]),
    )
    return [_mark(*key, cells[key]) for key in keys]


def _mark(
    memory: str, budget: int, wording: str, kind: str, answers: Sequence[ExamAnswer]
) -> ExamScore:
    shares = {verdict: _share(answers, verdict) for verdict in ("right", "wrong", "unproven")}
    tokens = sum(answer.tokens for answer in answers) / len(answers)
    # Questions about a game are not independent; all policies and lengths of a seed play the same.
    games = [(answer.env, answer.seed) for answer in answers]
    ci = intervals.scores([float(a.verdict == "right") for a in answers], games).interval()
    return ExamScore(memory, budget, wording, kind, len(answers), **shares, ci=ci, tokens=tokens)


def _share(answers: Sequence[ExamAnswer], verdict: str = "right") -> float:
    return sum(answer.verdict == verdict for answer in answers) / len(answers)


def totals(mark: ExamScore | None) -> tuple[str, ...]:
    """Return interval, false and unproven answers and tokens for a reader; dashes for None."""
    if mark is None:
        return ("–",) * 4
    shares = f"{mark.wrong:.2f}", f"{mark.unproven:.2f}"
    return format_interval(mark.ci), *shares, f"{mark.tokens:.0f}"


def main_wording(wordings: Iterable[str]) -> str:
    """Return the wording whose scores come first: the unseen one, or the first that there is."""
    found = list(wordings)
    return "unseen" if "unseen" in found else found[0]


def by_age(answers: Iterable[ExamAnswer]) -> list[dict[str, Any]]:
    """Return the share of right answers by memory, budget and age of the evidence."""

    def oldest(answer: ExamAnswer) -> int | None:
        age = answer.question.age
        return None if age is None else next((end for end in AGES if age <= end), age)

    return _split(answers, "age", oldest)


def by_length(answers: Iterable[ExamAnswer]) -> list[dict[str, Any]]:
    """Return the share of right answers by memory, budget and length of the episode."""
    return _split(answers, "length", lambda answer: answer.length)


def by_game(answers: Iterable[ExamAnswer]) -> list[dict[str, Any]]:
    """Return the share of right answers by memory, budget, environment and policy."""
    return _split(answers, "game", lambda answer: f"{answer.env} {answer.policy}")


def _split(
    answers: Iterable[ExamAnswer], name: str, key: Callable[[ExamAnswer], int | str | None]
) -> list[dict[str, Any]]:
    """Return shares of right answers to the questions that have one, in the main wording."""
    answers = list(answers)
    wording = main_wording(dict.fromkeys(answer.wording for answer in answers) or ("seen",))
    cells: dict[tuple[str, int, Any], list[ExamAnswer]] = {}
    for answer in answers:
        value = key(answer)
        shown = (answer.wording, value is None) == (wording, False)
        if shown and answer.question.kind not in SILENCE:
            cells.setdefault((answer.memory, answer.budget, value), []).append(answer)
    return [
        {
            "memory": memory, "budget": budget, name: value, "n": len(cell),
            "right": round(_share(cell), 4),
        }
        for (memory, budget, value), cell in cells.items()
    ]  # fmt: skip


def ahead(
    table: Iterable[ExamScore], of: str, apart: Iterable[str] = ()
) -> list[tuple[ExamScore, ExamScore]]:
    """Return scores better than those of the memory ``of``, each with the one of ``of``.

    Memories in ``apart`` do not count.
    """
    table = list(table)
    reference = {
        (mark.budget, mark.wording, mark.kind): mark for mark in table if mark.memory == of
    }
    out = {of, *apart}
    return [
        (mark, other)
        for mark in table
        if mark.memory not in out
        and (other := reference.get((mark.budget, mark.wording, mark.kind))) is not None
        and mark.right > other.right
    ]


def leads(table: Iterable[ExamScore]) -> list[str]:
    """Return a sentence for each memory but the upper bound that beats ``arigraph`` somewhere."""
    table = list(table)
    wording = main_wording(dict.fromkeys(mark.wording for mark in table) or ("seen",))
    table = [mark for mark in table if mark.wording == wording]
    gaps: dict[str, list[str]] = {}
    for mark, other in ahead(table, REFERENCE, apart=(UPPER_BOUND,)):
        gap = f"{mark.kind} at {mark.budget} ({mark.right:.2f}, {other.right:.2f})"
        gaps.setdefault(mark.memory, []).append(gap)
    return [
        f"{name} is ahead of {REFERENCE} in {', '.join(found)}." for name, found in gaps.items()
    ]
