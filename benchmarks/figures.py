"""Draw the figures of docs/results that come from kept data; benchmarks/tables.py writes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from poison import run as poison
from rank import LARGEST, shipped
from tables_kept import read

from gym_memory.draw.figures import colours
from gym_memory.draw.forest import ForestRow, forest_figure
from gym_memory.draw.svg import picture
from gym_memory.evaluate.exam.session import KINDS, SILENCE
from gym_memory.evaluate.rank.page import exam_figure, lead_figure

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


def exam() -> str:
    """Return exam against play, a point a memory."""
    made = shipped(LARGEST)
    return picture(exam_figure(made), colours(card.memory for card in made))


def leads(tier: str) -> str:
    """Return how far each memory is behind the best one."""
    return picture(lead_figure(shipped(tier)), {})


def knows() -> str:
    """Return the right answers of the exam at 500 tokens: all, and each kind of question."""
    asked = [
        mark
        for mark in read("exam/exam.json.gz")["marks"]
        if (mark["budget"], mark["wording"]) == (500, "unseen")
    ]
    kinds = {mark["kind"]: KINDS[mark["kind"]].title for mark in asked if mark["kind"] in KINDS}
    kinds = {kind: title for kind, title in kinds.items() if kind not in SILENCE}
    rows = []
    for mark in sorted(asked, key=lambda mark: -mark["right"]):
        if mark["kind"] == "all":
            own = {m["kind"]: m["right"] for m in asked if m["memory"] == mark["memory"]}
            parts = {title: own[kind] for kind, title in kinds.items() if kind in own}
            rows.append(ForestRow(mark["memory"], mark["right"], tuple(mark["ci"]), parts))
    title, along = "What do memories still know?", "right answers at 500 tokens"
    figure = forest_figure("exam", title, along, rows, [*kinds.values()], "the game")
    return picture(figure, {})


def deceived() -> str:
    """Return how often each memory believes planted facts: all texts, and each believed one."""
    attacks, _ = poison.read_attacks()
    rows = poison.believed(poison.kept_rows(), attacks)
    title, along = "Which memory believes it?", "share of games in which a recall states it"
    names = [attack.name for attack in attacks if any(row.parts[attack.name] for row in rows)]
    unit = "the game, mean over all texts"
    return picture(forest_figure("poison", title, along, rows, names, unit), {})


FIGURES: dict[Path, Callable[[], str]] = {
    PICTURES / "exam-and-play.svg": exam,
    PICTURES / "exam.svg": knows,
    PICTURES / "poison.svg": deceived,
    PICTURES / "ranking.svg": partial(leads, LARGEST),
    PICTURES / "ranking-streams.svg": partial(leads, "streams"),
}
