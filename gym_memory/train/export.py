"""Export results: Parquet of steps or chats, a Minari dataset, or a descriptive card."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym

from gym_memory.core.errors import InvalidArgumentError, ResultsError
from gym_memory.core.files import read_json, write_atomic
from gym_memory.core.names import Spec
from gym_memory.core.optional import require
from gym_memory.core.settings import check_name
from gym_memory.core.trajectory import reading_rows
from gym_memory.core.version import __version__
from gym_memory.draw.escape import visible, without_tags
from gym_memory.games.base import env_id, register_envs
from gym_memory.run.results import read_config, read_episodes
from gym_memory.run.results.citing import PANEL_HEADS, cited_panels, panel_lines
from gym_memory.run.results.folder import read_environment
from gym_memory.run.results.score import score_lines, table, units
from gym_memory.train.steps import RecordedEpisode, chat_rows, played, step_rows
from gym_memory.wrappers.encode import PromptObservation, render_prompt

__all__ = ["FORMATS", "export", "to_minari", "to_parquet", "write_card"]


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
    front = {
        "pretty_name": f"Episodes of {folder.name}",
        "license": "other",
        "license_name": "those of the games' engines",
        "task_categories": ["reinforcement-learning"],
        "size_categories": [_size(steps)],
        "configs": [
            {"config_name": name.removesuffix(".parquet"), "data_files": name, "default": not at}
            for at, name in enumerate(reversed(data))
        ],
    }
    return _page(
        folder,
        {name: value for name, value in front.items() if value},
        {
            "": f"{len(rows)} episodes with {steps} steps of text games, played by gym-memory with "
            "memories in the observation. A failed episode counts 0.",
            "Scores": _table(header, cells),
            **({"Panels": _table(PANEL_HEADS, cited)} if (cited := panel_lines(rows)) else {}),
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
        {
            "license": "mit",
            "pipeline_tag": "reinforcement-learning",
            "library_name": "gym-memory",
        },
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
    return without_tags("\n".join(lines) + "\n")


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


_ROW_GROUP = 4096

ROWS: dict[str, Callable[..., Iterator[dict[str, Any]]]] = {
    "stepwise": step_rows,
    "chat": chat_rows,
}
FORMATS = (*ROWS, "minari", "card")
"""Forms that :func:`export` writes."""


def export(
    folder: str | os.PathLike[str],
    form: str = "stepwise",
    out: str | os.PathLike[str] | None = None,
    max_actions: int | None = None,
) -> tuple[str, int]:
    """Write the episodes of a results folder in a trainer's format; return the path and the rows.

    Args:
        folder: A results folder with recorded steps; for a card also the folder of a training.
        form: One of :data:`FORMATS`.
        out: The file, or the Minari dataset's name; by default ``FORM.parquet`` or ``README.md``
            in the folder, or ``gym_memory/FOLDER-v0``.
        max_actions: Valid actions that a prompt lists, at most; None for all.
    """
    check_name("format", form, FORMATS)
    if form == "card":
        return str(write_card(folder, out)), 1
    episodes, panels = played(folder), cited_panels(read_environment(folder))
    with reading_rows(Path(folder) / "steps"):
        if form != "minari":
            target = Path(out or Path(folder) / f"{form}.parquet")
            return str(target), to_parquet(ROWS[form](episodes, max_actions), target, panels)
        held = list(episodes)
    name = str(out or f"gym_memory/{Path(folder).name}-v0")
    return to_minari(held, name, ", ".join(panels.values()))


def to_parquet(
    rows: Iterator[dict[str, Any]], path: Path, panels: Mapping[str, str] | None = None
) -> int:
    """Write rows of plain values for ``datasets`` and ``pyarrow``; return their number.

    ``panels``, environment to ``NAME@DIGEST``, are kept as the metadata ``panels``.
    """
    pyarrow = require("pyarrow", "export", "Parquet files")
    parquet = require("pyarrow.parquet", "export", "Parquet files")
    held = list(rows)
    if not held:
        raise ResultsError("expected finished episodes with recorded steps or items, got none")
    table = pyarrow.Table.from_pylist(held)
    if "logprobs" in table.column_names:  # a column needs a type even if all values are unknown
        kind = pyarrow.list_(pyarrow.float64())
        at = table.column_names.index("logprobs")
        table = table.set_column(at, "logprobs", table["logprobs"].cast(kind))
    if panels:
        table = table.replace_schema_metadata({"panels": json.dumps(panels)})
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.tmp")
    parquet.write_table(table, scratch, row_group_size=_ROW_GROUP)
    os.replace(scratch, path)
    return len(held)


def to_minari(
    episodes: Sequence[RecordedEpisode], dataset_id: str, panel: str = ""
) -> tuple[str, int]:
    """Write a Minari dataset of episodes of one environment and memory; return folder and size.

    ``panel``, ``NAME@DIGEST``, is named in its description.
    """
    minari = require("minari", "minari", "Minari datasets")
    cells = {(e.job.env, e.job.memory, e.job.budget) for e in episodes}
    if len(cells) != 1 or any(e.trial for e in episodes):
        raise ResultsError(
            f"expected episodes of one environment with one memory, one a seed, got {len(cells)} "
            "pairs of them or several trials: a Minari dataset has one environment"
        )
    ((spec, memory, budget),) = cells
    name, kwargs = Spec(spec).parts
    register_envs()

    def make(**more: Any) -> gym.Env[Any, Any]:
        given = {**kwargs, **more}
        return PromptObservation(gym.make(env_id(name), memory=memory, budget=budget, **given))

    env = make()
    judged = make(split="test") if "test" in env.get_wrapper_attr("splits") else env
    try:
        made = minari.create_dataset_from_buffers(
            dataset_id,
            [_buffer(number, episode) for number, episode in enumerate(episodes)],
            env=env,
            observation_space=_text_space(_prompt(row) for e in episodes for row in e.rows),
            action_space=_text_space(row["action"] for e in episodes for row in e.rows),
            eval_env=judged,
            author="gym-memory",
            algorithm_name=", ".join(dict.fromkeys(e.job.policy for e in episodes)),
            description=f"{spec} with memory {memory}, recorded by gym-memory {__version__}"
            + f", panel {panel}" * bool(panel),
            requirements=["gym-memory"],
            data_format="arrow",
        )
    except ValueError as error:
        raise InvalidArgumentError(f"cannot make the dataset {dataset_id!r}: {error}") from error
    finally:
        env.close()
        judged.close()
    return str(made.storage.data_path), len(episodes)


def _prompt(row: Any) -> str:
    return render_prompt({**row, "valid_actions": tuple(row.get("valid_actions", ()))})


def _text_space(texts: Any) -> gym.spaces.Text:
    """Return the narrowest space of texts; Minari stores Gymnasium's own kind, with its letters."""
    letters, longest = set("abcdefghijklmnopqrstuvwxyz "), 1
    for text in texts:
        letters.update(text)
        longest = max(longest, len(text))
    return gym.spaces.Text(longest, min_length=0, charset="".join(sorted(letters)))


def _buffer(number: int, episode: RecordedEpisode) -> Any:
    buffer = require("minari", "minari", "Minari datasets").data_collector.EpisodeBuffer
    rows = episode.rows
    return buffer(
        id=number,
        seed=episode.job.seed,
        options={"task_id": rows[0]["task_id"]},
        observations=[_prompt(row) for row in rows],
        actions=[row["action"] for row in rows[1:]],
        rewards=[float(row["reward"]) for row in rows[1:]],
        terminations=[row["terminated"] for row in rows[1:]],
        truncations=[row["truncated"] for row in rows[1:]],
    )
