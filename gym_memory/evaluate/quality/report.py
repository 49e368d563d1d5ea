"""What ``gym-memory quality`` keeps: the numbers, and AriGraph's Figures 5 and 6."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gym_memory.evaluate.quality.score import EpisodeQuality, Quality, curves, summarize

__all__ = ["plot_growth", "quality_record", "row_record", "write_quality"]

_WINDOW = 5
"""Steps over which the curve of updates is averaged."""


def row_record(row: Quality) -> dict[str, Any]:
    """A row as JSON values; what could not be counted is null."""
    return {name: _plain(value) for name, value in dataclasses.asdict(row).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 6)
    return value


def quality_record(episodes: Sequence[EpisodeQuality], **settings: Any) -> dict[str, Any]:
    """Everything as JSON values: rows, the worst episode of each, curves, task by task.

    Args:
        episodes: The episodes.
        **settings: What made them, to be kept with the numbers.
    """
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
    """Write ``quality.json`` and ``quality.png`` into a folder; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers, picture = folder / "quality.json", folder / "quality.png"
    record = quality_record(episodes, **settings)
    numbers.write_text(_one_entry_a_line(record), encoding="utf-8")
    plot_growth(record["curves"], picture)
    return numbers, picture


def _one_entry_a_line(record: Mapping[str, Any]) -> str:
    """JSON that a diff can be read of: each entry of each part on a line of its own."""
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


def plot_growth(shown: Mapping[str, Mapping[str, Sequence[float]]], path: Path) -> None:
    """Draw live facts and facts retired per step over the steps of an episode.

    Args:
        shown: Label to its curves ``live`` and ``updates``, as in :func:`quality_record`.
        path: Picture to write.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.6), layout="constrained")
    size, rate = figure.subplots(1, 2)
    for number, (name, series) in enumerate(shown.items()):
        style = {"linestyle": ("-", "--", ":")[number // 10 % 3], "linewidth": 1.2}
        size.plot(series["live"], label=name, **style)
        updates = np.asarray(series["updates"], dtype=float)
        window = np.ones(min(_WINDOW, len(updates)))
        smooth = np.convolve(updates, window, "same")
        smooth /= np.convolve(np.ones(len(updates)), window, "same")
        rate.plot(smooth, **style)
    size.set(xlabel="step", ylabel="live facts", title="Size of the graph", ylim=(0, None))
    rate.set(
        xlabel="step", ylabel=f"facts retired a step (mean of {_WINDOW})", title="Updates",
        ylim=(0, None),
    )  # fmt: skip
    figure.legend(loc="outside right center", fontsize="x-small")
    figure.savefig(path, dpi=90, metadata={"Software": None})
