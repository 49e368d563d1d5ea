"""Load published experiments: runs, and the paper's numbers.

One YAML file an experiment, package data; docs/papers.md describes its keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.core.optional import require
from gym_memory.games.scienceworld.catalog import CLIN
from gym_memory.memory.encoders import DEFAULT_MODEL
from gym_memory.papers.comparison import Comparison, PlanChoices, TableCell, compare_part
from gym_memory.papers.measures import GAINS, MEASURES, TokensPerStep
from gym_memory.run.results.score import grouped

__all__ = ["PaperExperiment", "PublishedNumbers", "experiment_names", "load_experiment"]

_SHARED = ("budget", "envs", "navigate", "once", "pairs", "protocol")
"""Keys of an experiment that are defaults of its parts."""
_SCENE = "ScienceWorld?simplification=easy&split={split}&task={task}"
"""CLIN's environments, with the simplifications of its authors' command."""
_COUNTS = {row.task: row.n for row in CLIN}
"""Number of test variations by task in CLIN."""


class PublishedNumbers(NamedTuple):
    """Published numbers of a system that is not run here, by environment and measure."""

    system: str
    numbers: Mapping[str, Mapping[str, float]]


class PaperExperiment(NamedTuple):
    """A table or figure of a paper.

    Attributes:
        expected: Numbers of the paper for each cell, by the measures of :mod:`.measures`.
        tokens: Numbers of the paper for each memory, by its canonical name.
        published: Systems that are not played here.
        figures: Pictures to draw: ``steps``, ``trials``, ``scores``, ``growth``, ``batches``.
        base: Memory and policy of the cell with which gains compare.
        pool: Whether a mean over environments weights each episode equally, not each environment.
        tokens_per: ``step`` or ``task``.
        groups: Environments of each further mean, by its name.
        best: Policies of each row that shows the one with the best mean success, by its name.
        shown: Measures to show beside those of the paper.
        rows: The paper's names of rows by the value of an environment's parameter.
        ours: Notes that our data replaces the paper's, by the beginning of task ids.
    """

    name: str
    title: str
    note: str
    parts: tuple[Mapping[str, Any], ...]
    expected: Mapping[TableCell, Mapping[str, float]]
    tokens: Mapping[str, TokensPerStep] = {}
    published: tuple[PublishedNumbers, ...] = ()
    figures: tuple[str, ...] = ()
    base: tuple[str, str] | None = None
    pool: bool = False
    tokens_per: str = "step"
    groups: Mapping[str, tuple[str, ...]] = {}
    best: Mapping[str, tuple[str, ...]] = {}
    ours: Mapping[str, str] = {}
    shown: tuple[str, ...] = ()
    rows: Mapping[str, str] = {}

    def plan(
        self,
        model: Mapping[str, str],
        *,
        memory_llm: bool,
        seeds: str = "",
        folder: Path = Path(),
        encoder: str = DEFAULT_MODEL,
        max_steps: int | None = None,
        train_steps: int | None = None,
    ) -> list[Comparison]:
        """Return the comparisons to run with a model.

        Args:
            model: Parameters of the chat model ``openai``; empty takes all from the environment.
            memory_llm: Whether the model plays the roles of the memories too.
            seeds: Seeds instead of the experiment's own; empty for those.
            folder: Where memories keep what they learn for later parts, ``store=STORE``.
            encoder: Encoder instead of the one that an extra brings.
            max_steps: Step limit of an episode, for a short run; None for the game's own.
            train_steps: Steps of a training, for a short run; None for the experiment's own.
        """
        given = PlanChoices(model, memory_llm, seeds, folder, encoder, max_steps, train_steps)
        return [compare_part(part, given) for part in self.parts]


def experiment_names() -> tuple[str, ...]:
    """Return the names of all experiments, sorted."""
    files = (path.name for path in resources.files(__package__).iterdir())
    return tuple(sorted(name[:-5] for name in files if name.endswith(".yaml")))


def load_experiment(name: str) -> PaperExperiment:
    """Read an experiment."""
    if name not in experiment_names():
        raise UnknownNameError("experiment", name, experiment_names())
    record = _read(name)
    try:
        envs = record.get("envs", ())
        base = record.get("base")
        return PaperExperiment(
            name,
            record["title"],
            record["note"].strip(),
            tuple(part for one in record["parts"] for part in _parts(record, one)),
            {
                TableCell(env, *(Spec(row[key]) for key in TableCell._fields[1:])): numbers
                for row in record["expected"]
                for env, numbers in _numbers(row, envs).items()
            },
            {
                Spec(row["memory"]): TokensPerStep(row["prompt"], row["completion"])
                for row in record.get("tokens", ())
            },
            tuple(
                PublishedNumbers(row["name"], _numbers(row, envs))
                for row in record.get("published", ())
            ),
            tuple(record.get("figures", ())),
            (Spec(base["memory"]), Spec(base["policy"])) if base else None,
            bool(record.get("pool")),
            record.get("tokens_per", "step"),
            _lengths() if any("clin" in part for part in record["parts"]) else {},
            {name: tuple(map(Spec, own)) for name, own in record.get("best", {}).items()},
            record.get("ours", {}),
            tuple(record.get("show", ())),
            record.get("rows") or {row.task: row.short for row in CLIN},
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidArgumentError(f"experiment {name!r} is not well formed: {error!r}") from error


def _read(name: str) -> dict[str, Any]:
    yaml = require("yaml", "llm", "published experiments")
    record = yaml.safe_load(
        resources.files(__package__).joinpath(f"{name}.yaml").read_text("utf-8")
    )
    return {**_read(record["like"]), **record} if "like" in record else record


def _parts(record: Mapping[str, Any], part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the comparisons of a part: one, or one for each set of seeds or game."""
    part = {**{key: record[key] for key in _SHARED if key in record}, **part}
    envs, name = part.get("envs"), part["name"]
    if "half" in part or "each" in part:
        for one in _by_task(part):
            yield from _parts({}, one)
    elif "clin" in part:
        named = part.get("tasks", list(_COUNTS))
        games = {_scene(part["clin"], task): f"0:{_COUNTS[task]}" for task in named}
        yield from _parts(
            {}, {**_without(part, "clin"), "envs": list(games) if "seeds" in part else games}
        )
    elif "games" in part:
        for number, (env, game) in enumerate(part["games"].items(), 1):
            yield {**part, "envs": [env], "task_id": game, "name": f"{name}-{number}"}
    elif isinstance(envs, dict):
        for seeds, own in grouped(envs, envs.__getitem__).items():
            yield {**part, "envs": own, "seeds": seeds, "name": f"{name}-{seeds.split(':')[-1]}"}
    else:
        yield {**part, "envs": envs}


def _scene(split: str, task: str) -> str:
    return _SCENE.format(split=split, task=task)


def _lengths() -> dict[str, tuple[str, ...]]:
    """Return the environments of CLIN's short and long tasks."""
    by_length = grouped(CLIN, lambda row: row.length)
    return {
        length: tuple(Spec(_scene("clin", row.task)) for row in rows)
        for length, rows in by_length.items()
    }


def _by_task(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a part for each task, with its own files: one half of each pair, or ``each`` task."""
    if "half" in part:
        half = part["half"]
        learnt = half if part.get("train") else 1 - half  # the half that writes the files
        for number, pair in enumerate(part["pairs"], 1):
            played, env = pair[1 - learnt], _scene("clin", pair[half])
            if part.get("train"):  # in the world in which the other half is then played
                env = Spec(env).with_parameter("world_of", played)
            own = {"envs": [env], "seeds": f"0:{_COUNTS[played]}"}
            yield _named(_without(part, "clin"), f"-{number}{'ab'[learnt]}", own)
        return
    named = list(_COUNTS) if part["each"] == "clin" else part["each"]
    for task in named:
        text = json.dumps(_without(part, "each", "seeds")).replace("TASK", task)
        seeds = part["seeds"] if "seeds" in part else f"0:{_COUNTS[task]}"
        own = {"seeds": seeds[task] if isinstance(seeds, dict) else seeds}
        yield _named(json.loads(text), f"-{task}", own)


def _named(part: Mapping[str, Any], suffix: str, own: Mapping[str, Any]) -> dict[str, Any]:
    kept = _without(part, "half", "each")
    formed = [name + suffix for name in part.get("form", ())]
    return {**kept, "name": part["name"] + suffix, "suffix": suffix, "form": formed, **own}


def _without(part: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key not in keys}


def _numbers(row: Mapping[str, Any], envs: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the numbers of a row by environment and measure; a list has one per environment."""
    if "system" in row:
        return {
            Spec(_scene("clin", task.task)): {
                "score": max(task.published[row["system"]], 0.0) / 100
            }
            for task in CLIN
        }
    envs = [row["env"]] if "env" in row else row.get("envs", envs)
    found: dict[str, dict[str, float]] = {Spec(env): {} for env in envs}
    for measure in (*MEASURES, *GAINS):
        values = row.get(measure, [])
        values = values if isinstance(values, list) else [values]
        for env, value in zip(found, values, strict=bool(values)):
            if value is not None:
                found[env][measure] = value
    return {env: numbers for env, numbers in found.items() if numbers}
