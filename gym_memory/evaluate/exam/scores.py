"""Score an exam by memory, budget, wording and kind of question, and write its files.

The files have the numbers, every question with all answers, a page of tables and two plots.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from gym_memory.core.files import encode, json_by_entry, write_atomic
from gym_memory.draw.figures import colours
from gym_memory.draw.svg import Line, line_figure, picture
from gym_memory.evaluate.exam.questions import WORDINGS
from gym_memory.evaluate.exam.session import KINDS, SILENCE, ExamAnswer, ExamConfig
from gym_memory.run.config import format_seeds
from gym_memory.run.results import intervals
from gym_memory.run.results.score import ENGINE_MEMORY, format_interval

__all__ = ["AGES", "ALL", "REFERENCE", "ExamScore", "age_picture", "ahead"]
__all__ += ["budget_picture", "by_age", "by_game", "by_length", "exam_record", "exam_scores"]
__all__ += ["leads", "main_wording", "totals", "write_exam"]

ALL = "all"
"""All kinds that have an answer."""
REFERENCE = "arigraph"
"""Baseline memory of the comparisons."""
AGES = (5, 15, 50, 150, 500)
"""Upper limits, in steps, of the age ranges into which answers are grouped."""
_LETTERS = {"right": "+", "wrong": "x", "unproven": "?", "silent": "."}


@dataclasses.dataclass(frozen=True)
class ExamScore:
    """A cell of the table: shares in [0, 1] of ``n`` answers.

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
    keys = sorted(cells, key=lambda c: (c[1], memories[c[0]], WORDINGS.index(c[2]), order[c[3]]))
    return [_mark(*key, cells[key]) for key in keys]


def _mark(
    memory: str, budget: int, wording: str, kind: str, answers: Sequence[ExamAnswer]
) -> ExamScore:
    shares = {verdict: _share(answers, verdict) for verdict in ("right", "wrong", "unproven")}
    tokens = sum(answer.tokens for answer in answers) / len(answers)
    # Questions about one game are not independent; all policies and lengths of a seed play it.
    games = [(answer.env, answer.seed) for answer in answers]
    ci = intervals.scores([float(a.verdict == "right") for a in answers], games).interval()
    return ExamScore(memory, budget, wording, kind, len(answers), **shares, ci=ci, tokens=tokens)


def _share(answers: Sequence[ExamAnswer], verdict: str = "right") -> float:
    return sum(answer.verdict == verdict for answer in answers) / len(answers)


def totals(mark: ExamScore | None) -> tuple[str, ...]:
    """Format the interval, false and unproven answers and tokens; None becomes a dash."""
    if mark is None:
        return ("–",) * 4
    shares = f"{mark.wrong:.2f}", f"{mark.unproven:.2f}"
    return format_interval(mark.ci), *shares, f"{mark.tokens:.0f}"


def main_wording(wordings: Iterable[str]) -> str:
    """Return the wording that tables show first: unseen, else the first one, else ``seen``."""
    found = list(wordings)
    return "unseen" if "unseen" in found else next(iter(found), "seen")


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
    wording = main_wording(answer.wording for answer in answers)
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
    """Return the scores that are better than that of memory ``of``, each paired with it.

    Memories in ``apart`` are ignored.
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
    """Return a sentence per memory, except ``oracle``, that beats ``arigraph`` in some cell."""
    table = list(table)
    wording = main_wording(mark.wording for mark in table)
    table = [mark for mark in table if mark.wording == wording]
    gaps: dict[str, list[str]] = {}
    for mark, other in ahead(table, REFERENCE, apart=(ENGINE_MEMORY,)):
        gap = f"{mark.kind} at {mark.budget} ({mark.right:.2f}, {other.right:.2f})"
        gaps.setdefault(mark.memory, []).append(gap)
    return [
        f"{name} is ahead of {REFERENCE} in {', '.join(found)}." for name, found in gaps.items()
    ]


def exam_record(config: ExamConfig, answers: Sequence[ExamAnswer]) -> dict[str, Any]:
    """Return all counts as JSON values, the same for the same configuration."""
    return {
        "settings": dataclasses.asdict(config),
        "kinds": {name: kind.title for name, kind in KINDS.items()},
        "marks": [mark.to_json() for mark in exam_scores(answers)],
        "by_age": by_age(answers),
        "by_length": by_length(answers),
        "by_game": by_game(answers),
    }


def write_exam(folder: Path, config: ExamConfig, answers: Sequence[ExamAnswer]) -> list[Path]:
    """Write ``exam.json``, ``questions.jsonl.gz``, ``exam.md`` and the plots; return their paths.

    A line of ``questions.jsonl.gz`` is a question in one wording; ``answers`` has for each memory
    one letter per budget: ``+`` right, ``x`` wrong, ``?`` unproven, ``.`` silent. Without answers
    there are no plots.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = ("exam.json", "questions.jsonl.gz", "exam.md", "exam_budget.svg", "exam_age.svg")
    numbers, questions, page, budgets, ages = (folder / name for name in names)
    record = exam_record(config, answers)
    write_atomic(numbers, json_by_entry(record))
    write_atomic(questions, _questions(answers))
    write_atomic(page, _page(config, exam_scores(answers)))
    if not answers:
        return [numbers, questions, page]
    write_atomic(budgets, budget_picture(record))
    write_atomic(ages, age_picture(record))
    return [numbers, questions, page, budgets, ages]


def _page(config: ExamConfig, table: Sequence[ExamScore]) -> str:
    """Return the tables and the plots as Markdown, one table per budget."""
    main = main_wording(config.wordings)
    others = [wording for wording in config.wordings if wording != main]
    kinds = [kind for kind in (*KINDS, ALL) if any(mark.kind == kind for mark in table)]
    cells = {(mark.budget, mark.memory, mark.wording, mark.kind): mark for mark in table}
    lines = [
        "# Memory exam",
        "",
        f"Environments: {', '.join(config.envs)}; policies: {', '.join(config.policies)}; seeds: "
        f"{format_seeds(config.seeds)}; asked after {', '.join(map(str, config.lengths))} steps. "
        f"Share of right answers in {main} wordings; `all` has the questions with an answer and "
        "its 95 % interval over games; `wrong` is the share answered by something false, "
        "`unproven` by what is true and could not be known, `used` the mean tokens"
        + "".join(f"; `all, {wording}` is asked in that way" for wording in others)
        + ".",
        "",
    ]
    heads = [*kinds, "95 %", "wrong", "unproven", "used"]
    heads += [f"all, {wording}" for wording in others]
    for budget in config.budgets:
        lines += [f"## {budget} tokens", ""]
        lines += [f"| memory | {' | '.join(heads)} |"]
        lines += ["|---|" + "---:|" * len(heads)]
        for memory in config.memories:
            marked = [cells.get((budget, memory, main, kind)) for kind in kinds]
            shares = ["–" if mark is None else f"{mark.right:.2f}" for mark in marked]
            shares += totals(cells.get((budget, memory, main, ALL)))
            for wording in others:
                mark = cells.get((budget, memory, wording, ALL))
                shares += ["–" if mark is None else f"{mark.right:.2f} {format_interval(mark.ci)}"]
            lines += [f"| {memory} | {' | '.join(shares)} |"]
        lines += [""]
    counts = {
        wording: {mark.kind: mark.n for mark in table if mark.wording == wording}
        for wording in (main, *others)
    }
    for wording, numbers in counts.items():
        counted = ", ".join(f"{kind} {numbers[kind]}" for kind in kinds if kind in numbers)
        lines += [f"Questions, {wording}: {counted or 'none'}.", ""]
    lines += [*leads(table), ""] if leads(table) else []
    lines += ["![by budget](exam_budget.svg)", "", "![by age](exam_age.svg)", ""] if table else []
    return "\n".join(lines)


def _questions(answers: Iterable[ExamAnswer]) -> bytes:
    rows: dict[tuple[Any, ...], dict[str, str]] = {}
    for a in answers:
        q = a.question
        text = getattr(q.text, a.wording)
        key = (a.env, a.policy, a.seed, a.length, q.kind, a.wording, text, q.answer, q.age)
        letters = rows.setdefault(key, {})
        letters[a.memory] = letters.get(a.memory, "") + _LETTERS[a.verdict]
    fields = ("env", "policy", "seed", "length", "kind", "wording", "question", "answer", "age")
    buffer = BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
        for key, letters in rows.items():
            line = {**dict(zip(fields, key, strict=True)), "answers": letters}
            file.write(encode(json.dumps(line, ensure_ascii=False)) + b"\n")
    return buffer.getvalue()


def budget_picture(record: dict[str, Any]) -> str:
    """Return the share of right answers against the budget as SVG, one panel per kind."""
    main = main_wording(record["settings"]["wordings"])
    kinds = [kind for kind in (*KINDS, ALL) if any(m["kind"] == kind for m in record["marks"])]
    panels = []
    for kind in kinds:
        cells = [m for m in record["marks"] if (m["kind"], m["wording"]) == (kind, main)]
        name = record["kinds"].get(kind, "all with an answer")
        panels.append((name, _lines(record, cells, "budget")))
    at = {float(budget): str(budget) for budget in record["settings"]["budgets"]}
    return _picture(record, panels, "right answers by budget", "tokens of a recall", at)


def age_picture(record: dict[str, Any]) -> str:
    """Return the share of right answers against the age of the evidence, one panel per budget."""
    panels = []
    for budget in record["settings"]["budgets"]:
        cells = [cell for cell in record["by_age"] if cell["budget"] == budget]
        panels.append((f"{budget} tokens", _lines(record, cells, "age")))
    starts = dict(zip(AGES, (0, *(end + 1 for end in AGES)), strict=False))
    ages = sorted({cell["age"] for cell in record["by_age"]})
    at = {float(end): f"{starts.get(end, '')}-{end}" for end in ages}
    return _picture(record, panels, "right answers by age", "steps since the evidence", at)


def _lines(record: dict[str, Any], cells: Sequence[dict[str, Any]], x: str) -> list[Line]:
    colour = colours(record["settings"]["memories"])
    return [
        Line("", memory, "", memory, colour[memory], points)
        for memory in record["settings"]["memories"]
        if (points := sorted((c[x], c["right"]) for c in cells if c["memory"] == memory))
    ]


def _picture(
    record: dict[str, Any],
    panels: Sequence[tuple[str, Sequence[Line]]],
    title: str,
    along: str,
    at: dict[float, str],
) -> str:
    figure = line_figure("exam", title, panels, along, "share", (0.0, 1.0), log=True, at=at)
    return picture(figure, colours(record["settings"]["memories"]))
