"""What ``gym-memory exam`` keeps: numbers, every question with all answers, and two plots."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from gym_memory.core.files import encode, write_atomic
from gym_memory.evaluate.exam.marks import (
    AGES,
    ALL,
    Mark,
    by_age,
    by_game,
    by_length,
    main_wording,
    marks,
    told_ahead,
)
from gym_memory.evaluate.exam.questions import KINDS
from gym_memory.evaluate.exam.sitting import Answer, ExamConfig
from gym_memory.run.jobs import format_seeds
from gym_memory.run.results.plots import PALETTE
from gym_memory.run.results.report import format_interval

__all__ = ["exam_record", "plot_ages", "plot_budgets", "write_exam"]

_LETTERS = {"right": "+", "wrong": "x", "unproven": "?", "silent": "."}
_MARKERS = "osD^vP*X<>hd"


def exam_record(config: ExamConfig, answers: Sequence[Answer]) -> dict[str, Any]:
    """Everything that was counted, as JSON values; the same for the same configuration."""
    return {
        "settings": dataclasses.asdict(config),
        "kinds": {name: kind.title for name, kind in KINDS.items()},
        "marks": [mark.to_json() for mark in marks(answers)],
        "by_age": by_age(answers),
        "by_length": by_length(answers),
        "by_game": by_game(answers),
    }


def write_exam(folder: Path, config: ExamConfig, answers: Sequence[Answer]) -> list[Path]:
    """Write ``exam.json``, ``questions.jsonl.gz``, ``exam.md`` and the plots; returns their paths.

    Where nothing could be asked there is nothing to plot.

    A line of ``questions.jsonl.gz`` is a question in one wording; ``answers`` has for each memory
    one letter a budget: ``+`` right, ``x`` wrong, ``?`` unproven, ``.`` silent.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = ("exam.json", "questions.jsonl.gz", "exam.md", "exam_budget.png", "exam_age.png")
    numbers, questions, page, budgets, ages = (folder / name for name in names)
    record = exam_record(config, answers)
    write_atomic(numbers, _compact(record))
    write_atomic(questions, _questions(answers))
    write_atomic(page, _page(config, marks(answers)))
    if not answers:
        return [numbers, questions, page]
    plot_budgets(record, budgets)
    plot_ages(record, ages)
    return [numbers, questions, page, budgets, ages]


def _page(config: ExamConfig, table: Sequence[Mark]) -> str:
    """The tables and the plots as Markdown, one table a budget."""
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
            every = cells.get((budget, memory, main, ALL))
            if every is None:
                shares += ["–"] * 4
            else:
                shares += [format_interval(every.ci), f"{every.wrong:.2f}"]
                shares += [f"{every.unproven:.2f}", f"{every.tokens:.0f}"]
            for wording in others:
                mark = cells.get((budget, memory, wording, ALL))
                shares += ["–" if mark is None else f"{mark.right:.2f} {format_interval(mark.ci)}"]
            lines += [f"| {memory} | {' | '.join(shares)} |"]
        lines += [""]
    asked = {
        wording: {mark.kind: mark.n for mark in table if mark.wording == wording}
        for wording in (main, *others)
    }
    for wording, numbers in asked.items():
        told = ", ".join(f"{kind} {numbers[kind]}" for kind in kinds if kind in numbers)
        lines += [f"Questions, {wording}: {told or 'none'}.", ""]
    lines += [*told_ahead(table), ""] if told_ahead(table) else []
    lines += ["![by budget](exam_budget.png)", "", "![by age](exam_age.png)", ""] if table else []
    return "\n".join(lines)


def _compact(record: dict[str, Any]) -> str:
    """JSON with one row of a table a line."""
    parts = []
    for name, value in record.items():
        if isinstance(value, list):
            rows = ",\n".join(f"  {json.dumps(row)}" for row in value)
            parts.append(f' "{name}": [\n{rows}\n ]')
        else:
            parts.append(f' "{name}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _questions(answers: Iterable[Answer]) -> bytes:
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


def plot_budgets(record: dict[str, Any], path: Path) -> None:
    """Draw the share of right answers against the budget: a panel a kind, a line a memory."""
    main = main_wording(record["settings"]["wordings"])
    kinds = [kind for kind in (*KINDS, ALL) if any(m["kind"] == kind for m in record["marks"])]
    panels = [(kind, record["kinds"].get(kind, "all with an answer")) for kind in kinds]
    figure, axes = _figure(panels, "tokens of a recall", "right answers by budget")
    for axis, (kind, _) in zip(axes, panels, strict=False):
        cells = [m for m in record["marks"] if (m["kind"], m["wording"]) == (kind, main)]
        _lines(axis, record, cells, "budget")
        axis.set_xscale("log")
        budgets = record["settings"]["budgets"]
        axis.set_xticks(budgets, [str(budget) for budget in budgets])
        axis.minorticks_off()
    _finish(figure, axes, path)


def plot_ages(record: dict[str, Any], path: Path) -> None:
    """Draw the share of right answers against the age of the evidence: a panel a budget."""
    panels = [(budget, f"{budget} tokens") for budget in record["settings"]["budgets"]]
    figure, axes = _figure(panels, "steps since the evidence was shown", "right answers by age")
    for axis, (budget, _) in zip(axes, panels, strict=False):
        cells = [cell for cell in record["by_age"] if cell["budget"] == budget]
        _lines(axis, record, cells, "age")
        axis.set_xscale("log")
        shown = sorted({cell["age"] for cell in cells})
        starts = dict(zip(AGES, (0, *(end + 1 for end in AGES)), strict=False))
        axis.set_xticks(shown, [f"{starts.get(end, '')}-{end}" for end in shown])
        axis.minorticks_off()
    _finish(figure, axes, path)


def _figure(panels: Sequence[Any], xlabel: str, title: str) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    columns = min(len(panels), 5)
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(3.1 * columns, 2.7 * rows + 0.9), dpi=110, layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False, sharey=True).flat)
    for axis, (_, name) in zip(axes, panels, strict=False):
        axis.set_title(name, fontsize=10, loc="left")
        axis.set_ylim(-0.03, 1.05)
        axis.set_xlabel(xlabel, fontsize=8)
        axis.tick_params(labelsize=8)
        axis.grid(axis="y", color="#e3e3e3", linewidth=0.8)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    figure.suptitle(title, fontsize=11)
    return figure, axes


def _lines(axis: Any, record: dict[str, Any], cells: Sequence[dict[str, Any]], x: str) -> None:
    for i, memory in enumerate(record["settings"]["memories"]):
        points = sorted((c[x], c["right"]) for c in cells if c["memory"] == memory)
        axis.plot(
            [place for place, _ in points],
            [share for _, share in points],
            color=PALETTE[(i + 1) % len(PALETTE)],
            marker=_MARKERS[i % len(_MARKERS)],
            linestyle="-" if i < len(PALETTE) else "--",
            markersize=4,
            linewidth=1.4,
            alpha=0.9,
            label=memory,
        )


def _finish(figure: Any, axes: Sequence[Any], path: Path) -> None:
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=8, frameon=False)
    buffer = BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    write_atomic(path, buffer.getvalue())
