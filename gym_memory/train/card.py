"""Cards of recorded runs and of trained players, in the form that model and data hubs read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_memory.core.errors import ResultsError
from gym_memory.core.files import read_json, write_atomic
from gym_memory.core.html import visible
from gym_memory.run.results import read_config, read_episodes
from gym_memory.run.results.folder import read_environment
from gym_memory.run.results.score import score_lines, table, units

__all__ = ["write_card"]


def write_card(folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> Path:
    """Write the card of a results or training folder, by default as ``README.md`` in it."""
    place = Path(folder)
    if (place / "result.json").exists():
        text = _of_player(place)
    elif (place / "episodes.jsonl").exists():
        text = _of_run(place)
    else:
        raise ResultsError(
            f"expected a results folder, or the folder of a finished training, got {str(place)!r}"
        )
    target = Path(out or place / "README.md")
    write_atomic(target, text)
    return target


def _of_run(folder: Path) -> str:
    config, rows = read_config(folder), [row for job in read_episodes(folder) for row in job]
    if not rows:
        raise ResultsError(f"expected finished episodes in {str(folder)!r}, got none")
    header, cells = score_lines(table(units(rows)))
    steps = sum(row.result.steps for row in rows)
    data = sorted(path.name for path in folder.glob("*.parquet"))
    files = "\n".join(f"- `{name}`" for name in data) or (
        "Write them by `gym-memory export FOLDER --format stepwise` or `--format chat`."
    )
    tags = {"task_categories": ["reinforcement-learning"], "size_categories": [_size(steps)]}
    return _page(
        folder,
        {"pretty_name": f"Episodes of {folder.name}", **tags},
        {
            "": f"{len(rows)} episodes with {steps} steps of text games, played by gym-memory with "
            "memories in the observation. A failed episode counts 0.",
            "Scores": _table(header, cells),
            "Made by": f"```sh\n{config.command('results/NAME')}\n```",
            "Files": files,
            "Versions": _versions(read_environment(folder)),
            "Limits": "The episodes are from the games, seeds and policies above and no others. "
            "The texts are those of the games, under the licences of their engines.",
        },
    )


def _of_player(folder: Path) -> str:
    config, result = _record(folder / "config.json"), _record(folder / "result.json")
    best, trained = result.get("best", {}), result.get("training", {})
    baseline, env, memory = (str(config.get(key, "")) for key in ("baseline", "env", "memory"))
    spec = f"{env}{'&' if '?' in env else '?'}split=test"
    command = f'gym-memory run -p {baseline} --checkpoint FOLDER -e "{spec}" -m "{memory}"'
    return _page(
        folder,
        {"pipeline_tag": "reinforcement-learning", "library_name": "gym-memory"},
        {
            "": f"A player of `{visible(env)}` by the baseline `{visible(baseline)}`, trained with "
            f"the memory `{visible(memory)}` by `gym-memory train`.",
            "Use": f"```sh\n{visible(command)}\n```",
            "Measured on valid games": _table(("measure", "value"), best.items()),
            "Training": _table(("setting", "value"), trained.items()),
            "Versions": _versions(result.get("environment", {})),
            "Limits": "It knows the games of its training split and was chosen on the valid "
            "games; only the test split measures it.",
        },
    )


def _record(path: Path) -> dict[str, Any]:
    try:
        return dict(read_json(path))
    except (OSError, TypeError, ValueError) as error:
        raise ResultsError(f"expected a readable {path.name} at {str(path)!r}: {error}") from error


def _page(folder: Path, front: Mapping[str, Any], sections: Mapping[str, str]) -> str:
    tags = {"tags": ["gym-memory", "text-games", "memory"]}
    lines = ["---", *(f"{key}: {json.dumps(value)}" for key, value in {**front, **tags}.items())]
    lines += ["---", "", f"# {visible(folder.resolve().name)}"]
    for title, text in sections.items():
        lines += ["", *([f"## {title}", ""] if title else []), text]
    return "\n".join(lines) + "\n"


def _versions(environment: Mapping[str, Any]) -> str:
    backends: Mapping[str, str] = environment.get("backends") or {}
    names = ("gym_memory", "python", "git_commit")
    found = {name: environment[name] for name in names if environment.get(name)}
    return _table(("part", "version"), {**found, **backends}.items())


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    cells = [[visible(str(cell)).replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *cells])


def _size(steps: int) -> str:
    bounds = ((1000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
    return next((name for bound, name in bounds if steps < bound), "n>100K")
