"""Write what ``gym-memory quality`` keeps: the numbers, and AriGraph's Figures 5 and 6."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gym_memory.core.files import write_atomic
from gym_memory.evaluate.quality.score import EpisodeQuality, Quality, curves, summarize
from gym_memory.run.results.svg import PALETTE, Line, line_figure, picture

__all__ = ["growth_picture", "quality_record", "row_record", "write_quality"]

_WINDOW = 5
"""Steps over which the curve of updates is averaged."""


def row_record(row: Quality) -> dict[str, Any]:
    """Return a row as JSON values; what could not be counted is null."""
    record = dataclasses.asdict(row) | {"map": row.map.shares}
    return {name: _plain(value) for name, value in record.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 6)
    return value


def quality_record(episodes: Sequence[EpisodeQuality], **settings: Any) -> dict[str, Any]:
    """Return all as JSON values: rows, the worst episode of each, curves, tasks, settings."""
    return {
        "settings": settings,
        "rows": [row_record(row) for row in summarize(episodes)],
        "worst": {
            name: {
                "precision": _plain(min(float(np.mean(e.precision)) for e in group)),
                "recall": _plain(min(float(np.mean(e.recall)) for e in group)),
                "staleness": _plain(max(float(np.mean(e.staleness)) for e in group)),
            }
            for name, group in _grouped(episodes).items()
        },
        "curves": {
            name: dict(zip(("live", "updates"), map(_plain, curves(group)), strict=True))
            for name, group in _grouped(episodes).items()
        },
        "tasks": [[e.env, e.policy, e.seed, e.task_id, e.steps] for e in episodes],
    }


def _grouped(episodes: Iterable[EpisodeQuality]) -> dict[str, list[EpisodeQuality]]:
    groups: dict[str, list[EpisodeQuality]] = {}
    for episode in episodes:
        groups.setdefault(f"{episode.env}, {episode.policy}", []).append(episode)
    return groups


def write_quality(
    folder: Path, episodes: Sequence[EpisodeQuality], **settings: Any
) -> tuple[Path, Path]:
    """Write ``quality.json`` and ``quality.svg`` into a folder; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers, drawn = folder / "quality.json", folder / "quality.svg"
    record = quality_record(episodes, **settings)
    write_atomic(numbers, _one_entry_a_line(record))
    write_atomic(drawn, growth_picture(record["curves"]))
    return numbers, drawn


def _one_entry_a_line(record: Mapping[str, Any]) -> str:
    """Return JSON for readable diffs: each entry of each part on a line of its own."""
    parts = []
    for name, part in record.items():
        if isinstance(part, dict):
            lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in part.items()]
            start, end = "{", "}"
        else:
            lines = [json.dumps(value) for value in part]
            start, end = "[", "]"
        body = ",\n  ".join(lines)
        parts.append(f" {json.dumps(name)}: {start}\n  {body}\n {end}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def growth_picture(shown: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Draw live and retired facts over the steps of an episode; ``shown`` maps labels to curves."""
    colour = {name: number % len(PALETTE) for number, name in enumerate(shown)}
    size: list[Line] = []
    rate: list[Line] = []
    for name, series in shown.items():
        updates = np.asarray(series["updates"], dtype=float)
        window = np.ones(min(_WINDOW, len(updates)))
        smooth = np.convolve(updates, window, "same")
        smooth /= np.convolve(np.ones(len(updates)), window, "same")
        for lines, values in ((size, series["live"]), (rate, smooth.tolist())):
            points = [(float(step), float(value)) for step, value in enumerate(values)]
            lines.append(Line("", "", "", name, colour[name], points))
    panels = [("live facts", size), (f"facts retired a step (mean of {_WINDOW})", rate)]
    figure = line_figure("growth", "Size of the graph and its updates", panels, "step", "facts")
    return picture(figure, colour)
