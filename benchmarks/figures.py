"""Draw the figures of docs/results that come from kept data; benchmarks/tables.py writes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from rank import LARGEST, shipped

from gym_memory.draw.figures import colours
from gym_memory.draw.svg import picture
from gym_memory.evaluate.rank.page import exam_figure, lead_figure

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


def exam() -> str:
    """Return exam against play, a point a memory."""
    made = shipped(LARGEST)
    return picture(exam_figure(made), colours(card.memory for card in made))


def leads(tier: str) -> str:
    """Return how far each memory is behind the best one."""
    return picture(lead_figure(shipped(tier)), {})


FIGURES: dict[Path, Callable[[], str]] = {
    PICTURES / "exam-and-play.svg": exam,
    PICTURES / "ranking.svg": partial(leads, LARGEST),
    PICTURES / "ranking-streams.svg": partial(leads, "streams"),
}
