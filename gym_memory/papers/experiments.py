"""Published experiments: what to run, and the paper's numbers beside it.

One YAML file an experiment, package data; docs/papers.md describes its keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec, specs
from gym_memory.core.optional import require
from gym_memory.core.trajectory import read_rows
from gym_memory.games.scienceworld.catalog import CLIN
from gym_memory.memory.encoders import DEFAULT_MODEL
from gym_memory.papers.presets import memory_with_model, policy_with_model
from gym_memory.run.config import EpisodeRow, RunConfig, parse_seeds
from gym_memory.run.results.score import Unit, grouped

__all__ = [
    "GAINS",
    "MEASURES",
    "Comparison",
    "PaperExperiment",
    "PublishedNumbers",
    "TableCell",
    "TokensPerStep",
]
__all__ += ["experiment_names", "growth", "load_experiment", "tokens_of"]


_BEST = 3

MEASURES: Mapping[str, Callable[[Sequence[Unit]], float | None]] = {
    "score": lambda own: float(np.mean([unit.score for unit in own])),
    "success": lambda own: _mean([unit.success for unit in own if unit.success is not None]),
    "sigma": lambda own: float(np.std([unit.score for unit in own])),
    "top3": lambda own: float(np.mean(sorted((unit.score for unit in own), reverse=True)[:_BEST])),
    "first": lambda own: _mean([unit.trials[0] for unit in own if unit.trials]),
    "trials": lambda own: _mean([len(unit.trials) for unit in own if unit.success]),
    "improved": lambda own: _mean(
        [unit.trials[-1] > unit.trials[0] for unit in own if unit.trials]
    ),
}
"""Name to a number of one cell: mean, share won, standard deviation over jobs (sigma), mean of the
best three (top3), first trial, trials to a win, share of jobs whose last trial beats the first."""

GAINS: Mapping[str, Callable[[Sequence[tuple[Unit, Unit]]], float | None]] = {
    "gain": lambda pairs: _mean([one.score - base.score for one, base in pairs]),
    "better": lambda pairs: _mean([one.score > base.score for one, base in pairs]),
    "worse": lambda pairs: _mean([one.score < base.score for one, base in pairs]),
}
"""Name to a number of a cell beside a base cell on the same seeds: mean gain, share of gains."""


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def growth(paths: Iterable[str]) -> dict[str, list[tuple[float, float]]]:
    """Return curves by name over the steps of recorded episodes, means of the first of each file.

    ``facts``: all facts of the graph; ``updates``: facts that a step replaced or ended, summed.
    """
    facts: dict[int, list[float]] = {}
    updates: dict[int, list[float]] = {}
    for path in paths:
        ended = 0
        for row in (row for row in read_rows(path) if row["episode"] == 0):
            ended += len(row.get("went", ()))
            facts.setdefault(row["t"], []).append(row.get("stats", {}).get("facts", 0))
            updates.setdefault(row["t"], []).append(ended)
    curves = {"facts": facts, "updates": updates}
    return {
        name: [(float(t), float(np.mean(values))) for t, values in sorted(of.items())]
        for name, of in curves.items()
    }


_SHARED = ("budget", "envs", "navigate", "protocol")
"""Keys of an experiment that hold for each of its parts that does not say another."""


class TableCell(NamedTuple):
    """A cell of a table, by canonical names."""

    env: str
    memory: str
    policy: str


class TokensPerStep(NamedTuple):
    """Prompt and completion tokens a step, all calls of policy and memory together."""

    prompt: float
    completion: float


class PublishedNumbers(NamedTuple):
    """Numbers of a system that is not played here, by environment and measure."""

    system: str
    numbers: Mapping[str, Mapping[str, float]]


class Comparison(NamedTuple):
    """One comparison of an experiment.

    Attributes:
        name: Its name, and that of its folder.
        config: What is played.
        cells: Cell that is played (with its model) to the cell as the experiment names it.
        form: Parts whose steps the memory's tuples are formed from before it.
        refine: Environments, policy and seeds by which they are refined before it.
        learn: Learners to train before it: folder to baseline, environment and settings.
    """

    name: str
    config: RunConfig
    cells: Mapping[TableCell, TableCell]
    form: tuple[str, ...] = ()
    refine: Mapping[str, Any] | None = None
    learn: Mapping[Path, Mapping[str, Any]] = {}


class PaperExperiment(NamedTuple):
    """A table or figure of a paper.

    Attributes:
        expected: What the paper reports of a cell, by the measures of :mod:`.measures`.
        tokens: What it reports of a memory, by the memory's canonical name.
        published: Systems that are not played here.
        figures: Pictures to draw: ``steps``, ``trials``, ``scores``, ``growth``, ``batches``.
        base: Memory and policy of the cell that gains are measured against.
        pool: Whether a number over all environments counts each episode, not each environment.
        tokens_per: ``step`` or ``task``.
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
            train_steps: Steps of a training, for a short run; None for the trainer's default.
        """
        found = []
        for part in self.parts:
            given = {**part, "seeds": seeds or part["seeds"]}
            given["limits"] = {"max_steps": max_steps} if max_steps else {}
            given["training"] = {"steps": train_steps} if train_steps else {}
            given["memories"] = {
                _placed(named, folder, encoder): Spec(named) for named in part["memories"]
            }
            found.append(_comparison(given, model, memory_llm, folder))
        return found


def _comparison(
    part: Mapping[str, Any], model: Mapping[str, str], memory_llm: bool, folder: Path
) -> Comparison:
    memories = {
        memory_with_model(placed, model) if memory_llm else placed: named
        for placed, named in part["memories"].items()
    }
    policies = {
        policy_with_model(_placed(named, folder), model): Spec(named) for named in part["policies"]
    }
    added = {**part["limits"], **({"navigate": True} if part.get("navigate") else {})}
    envs = {_with(env, added): env for env in part["envs"]}
    config = RunConfig(
        envs=specs(envs),
        memories=specs(memories),
        policies=specs(policies),
        seeds=parse_seeds(part["seeds"]),
        budgets=(part["budget"],),
        **{key: part[key] for key in ("protocol", "task_id") if key in part},
    )
    cells = {
        TableCell(env, memory, policy): TableCell(
            Spec(envs[env]), memories[memory], policies[policy]
        )
        for env in config.envs
        for memory in config.memories
        for policy in config.policies
        if not part.get("train")
    }
    refine = part.get("refine")
    if refine:
        refine = {**refine, "policy": policy_with_model(refine["policy"], model)}
        refine["envs"] = [_with(env, part["limits"]) for env in refine["envs"]]
    learn = {
        folder / name.lower(): {**what, **part["training"]}
        for name, what in part.get("learn", {}).items()
    }
    return Comparison(part["name"], config, cells, tuple(part.get("form", ())), refine, learn)


def _with(env: str, settings: Mapping[str, Any]) -> Spec:
    spec = Spec(env)
    for key, value in settings.items():
        spec = spec.with_parameter(key, value)
    return spec


def _placed(spec: str, folder: Path, encoder: str = DEFAULT_MODEL) -> str:
    """Return a spec with the file that ``store=STORE`` stands for, and with the encoder."""
    name, kwargs = Spec(spec).parts
    for key, value in kwargs.items():
        if key in ("store", "checkpoint") and value.isupper():
            kwargs[key] = str(folder / f"{value.lower()}{'.db' * (key == 'store')}")
        elif value == DEFAULT_MODEL:
            kwargs[key] = encoder
    return Spec.of(name, kwargs)


def tokens_of(rows: Iterable[EpisodeRow], per: str = "step") -> TokensPerStep | None:
    """Return the tokens a step, or a ``task``, of all language models; None without one."""
    results = [row.result for row in rows]
    steps = max(sum(1 if per == "task" else result.steps for result in results), 1)
    prompt, completion = (
        sum(result.counters.get(f"llm_{kind}_tokens", 0) for result in results) / steps
        for kind in TokensPerStep._fields
    )
    return TokensPerStep(prompt, completion) if prompt else None


def experiment_names() -> tuple[str, ...]:
    """Names of all experiments, sorted."""
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
    """Yield the comparisons of a part: one, or one for each seeds or game of its environments."""
    part = {**{key: record[key] for key in _SHARED if key in record}, **part}
    envs, name = part.get("envs"), part["name"]
    if "clin" in part:
        named = part.get("tasks", [row.task for row in CLIN])
        scene = f"ScienceWorld?split={part['clin']}&task="
        games = {scene + row.task: f"0:{row.n}" for row in CLIN if row.task in named}
        envs = list(games) if "seeds" in part else games
    if "games" in part:
        for number, (env, game) in enumerate(part["games"].items(), 1):
            yield {**part, "envs": [env], "task_id": game, "name": f"{name}-{number}"}
    elif isinstance(envs, dict):
        for seeds, own in grouped(envs, envs.__getitem__).items():
            yield {**part, "envs": own, "seeds": seeds, "name": f"{name}-{seeds.split(':')[-1]}"}
    else:
        yield {**part, "envs": envs}


def _numbers(row: Mapping[str, Any], envs: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the numbers of a row by environment and measure; a list has one an environment."""
    if "system" in row:
        return {
            f"ScienceWorld?split=clin&task={task.task}": {
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
