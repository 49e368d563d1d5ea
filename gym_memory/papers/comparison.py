"""Plan a comparison of a published experiment, with its differences from the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.baselines.base import POLICIES
from gym_memory.core.names import Spec, specs
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.memory.encoders import DEFAULT_MODEL
from gym_memory.papers.presets import memory_with_model, policy_with_model, settings_taken
from gym_memory.run.config import RunConfig, format_seeds, parse_seeds

__all__ = ["Comparison", "PlanChoices", "TableCell", "compare_part"]

_FILES = ("store", "checkpoint", "value")
"""Parameters that may refer, in capitals, to a file in the folder of the run."""


class TableCell(NamedTuple):
    """A cell of a table, by canonical names."""

    env: str
    memory: str
    policy: str


class PlanChoices(NamedTuple):
    """A user's choices for an experiment; see :meth:`.PaperExperiment.plan`."""

    model: Mapping[str, str]
    memory_llm: bool
    seeds: str = ""
    folder: Path = Path()
    encoder: str = DEFAULT_MODEL
    max_steps: int | None = None
    train_steps: int | None = None


class Comparison(NamedTuple):
    """One comparison of an experiment.

    Attributes:
        name: Name of the comparison and of its folder.
        cells: Name of each played cell (with its model) in the experiment.
        games: Number of games in the paper.
        doubts: Intended differences of each played cell from the paper's.
        form: Parts to form the memory's tuples from, before the comparison.
        refine: Environments, policy and seeds by which to refine these tuples.
        learn: Learners to train first: baseline, environment and settings by folder.
    """

    name: str
    config: RunConfig
    cells: Mapping[TableCell, TableCell]
    games: int = 1
    doubts: Mapping[TableCell, tuple[str, ...]] = {}
    form: tuple[str, ...] = ()
    refine: Mapping[str, Any] | None = None
    learn: Mapping[Path, Mapping[str, Any]] = {}


def compare_part(part: Mapping[str, Any], given: PlanChoices) -> Comparison:
    """Build the comparison of a part of an experiment."""
    suffix = part.get("suffix", "")
    memories, policies = {}, {}
    for named in part["memories"]:
        placed = _placed(named, given, suffix)
        by_model = given.memory_llm and not part.get("learn")  # learners use the rule-based memory
        memories[memory_with_model(placed, given.model) if by_model else placed] = Spec(named)
    for named in part["policies"]:
        placed = _placed(named, given, suffix)
        if given.encoder != DEFAULT_MODEL and "encoder" in settings_taken(POLICIES, placed):
            placed = Spec(placed).with_parameter("encoder", given.encoder)
        policies[policy_with_model(placed, given.model)] = Spec(named)
    limits = {"max_steps": given.max_steps} if given.max_steps else {}
    added = {**limits, **({"navigate": True} if part.get("navigate") else {})}
    envs = {_with(env, added): env for env in part["envs"]}
    own = parse_seeds(part["seeds"])
    config = RunConfig(
        envs=specs(envs),
        memories=specs(memories),
        policies=specs(policies),
        seeds=parse_seeds(given.seeds) if given.seeds else _once(own, part),
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
    doubts = {cell: _doubts(cell, part, given) for cell in cells}
    refine = part.get("refine")
    if refine:
        chosen = parse_seeds(refine["seeds"])
        memory = Spec(next(iter(memories)))  # all batches are searched while it is refined
        every = {key: value for key, value in memory.kwargs.items() if key != "batch"}
        refine = {
            "memory": Spec.of(memory.name, every),
            "envs": [_with(env, limits) for env in refine["envs"]],
            "policy": policy_with_model(refine["policy"], given.model),
            "seeds": format_seeds(chosen[: len(config.seeds)] if given.seeds else chosen),
        }
    training = {"steps": given.train_steps} if given.train_steps else {}
    learn = {
        given.folder / f"{name.lower()}{suffix}": {
            **what,
            **training,
            "env": _with(what["env"], limits),
        }
        for name, what in part.get("learn", {}).items()
    }
    form = tuple(part.get("form", ()))
    return Comparison(part["name"], config, cells, len(own), doubts, form, refine, learn)


def _once(seeds: tuple[int, ...], part: Mapping[str, Any]) -> tuple[int, ...]:
    """Return seeds of different tasks if a part plays each task once."""
    if not part.get("once"):
        return seeds
    counts = []
    for env in part["envs"]:
        opened = ENVIRONMENTS.make(env)
        counts.append(len(opened.task_ids))
        opened.close()
    return seeds[: max(counts)]


def _doubts(cell: TableCell, part: Mapping[str, Any], given: PlanChoices) -> tuple[str, ...]:
    """Return the differences from the paper's experiment due to the user's choices."""
    found = [f"at most {given.max_steps} steps"] if given.max_steps else []
    if given.train_steps and part.get("learn"):
        found.append(f"trained for {given.train_steps} steps")
    by_rules = not given.memory_llm and not part.get("learn")
    if by_rules and memory_with_model(cell.memory, given.model) != cell.memory:
        found.append("rules write the memory")
    return tuple(found)


def _with(env: str, settings: Mapping[str, Any]) -> Spec:
    spec = Spec(env)
    for key, value in settings.items():
        spec = spec.with_parameter(key, value)
    return spec


def _placed(spec: str, given: PlanChoices, suffix: str) -> str:
    """Return a spec with its files and encoder filled in, also in nested specs."""
    name, kwargs = Spec(spec).parts
    for key, value in kwargs.items():
        if not isinstance(value, str):
            continue
        if key in _FILES and value.isupper():
            end = ".db" if key == "store" else ""
            kwargs[key] = str(given.folder / f"{value.lower()}{suffix}{end}")
        elif value == DEFAULT_MODEL:
            kwargs[key] = given.encoder
        elif "?" in value:
            kwargs[key] = _placed(value, given, suffix)
    return Spec.of(name, kwargs)
