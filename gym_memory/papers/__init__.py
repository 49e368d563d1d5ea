"""Published experiments: what to run, and the paper's numbers beside it.

One YAML file an experiment, package data::

    title: what it is
    note: what to know when comparing
    parts:                      # each a comparison of its own
      - {name: main, envs: [...], memories: [...], policies: [...], seeds: "0:5"}
                                # train: true    is played for what it teaches, not for the table
                                # form: [names]  first forms LDM2's tuples from those parts' steps
                                # refine: {env: ..., policy: ..., seeds: ...}  first explores those
    expected:                   # the paper's numbers, normalized to [0, 1]
      - {env: ..., memory: ..., policy: ..., score: 1.0, success: 1.0}
    tokens:                     # where the paper tells them: prompt and completion tokens a step
      - {memory: ..., prompt: 6000, completion: 500}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import format_spec, parse_spec
from gym_memory.core.optional import require
from gym_memory.papers.presets import memory_with_model, policy_with_model
from gym_memory.run.jobs import EpisodeRow, RunConfig, parse_seeds

__all__ = [
    "Cell",
    "Comparison",
    "Expected",
    "Experiment",
    "TokensPerStep",
    "experiment_names",
    "load_experiment",
    "tokens_of",
]


class Cell(NamedTuple):
    """A cell of a table, by canonical names."""

    env: str
    memory: str
    policy: str


class Expected(NamedTuple):
    """What the paper reports, in [0, 1]; None where it reports nothing."""

    score: float | None = None
    success: float | None = None


class TokensPerStep(NamedTuple):
    """Prompt and completion tokens a step, all calls of policy and memory together."""

    prompt: float
    completion: float


class Comparison(NamedTuple):
    """One comparison of an experiment.

    Attributes:
        name: Its name, and that of its folder.
        config: What is played.
        cells: Cell that is played (with its model) to the cell as the experiment names it.
        form: Parts whose steps the memory's tuples are formed from before it.
        refine: Environment, policy and seeds by which they are refined before it; None for
            none.
    """

    name: str
    config: RunConfig
    cells: Mapping[Cell, Cell]
    form: tuple[str, ...] = ()
    refine: Mapping[str, str] | None = None


class Experiment(NamedTuple):
    """A table or figure of a paper."""

    name: str
    title: str
    note: str
    parts: tuple[Mapping[str, Any], ...]
    expected: Mapping[Cell, Expected]
    tokens: Mapping[str, TokensPerStep] = {}
    """What the paper reports of a memory, by its canonical name."""

    def plan(
        self,
        model: Mapping[str, str],
        *,
        memory_llm: bool,
        seeds: str = "",
        folder: Path = Path(),
    ) -> list[Comparison]:
        """Return the comparisons to run with a model.

        Args:
            model: Parameters of the chat model ``openai``; empty takes all from the environment.
            memory_llm: Whether the model plays the roles of the memories too.
            seeds: Seeds instead of the experiment's own; empty for those.
            folder: Where memories keep what they learn for later parts, ``store=STORE``.
        """
        return [self._part(part, model, memory_llm, seeds, folder) for part in self.parts]

    def _part(
        self,
        part: Mapping[str, Any],
        model: Mapping[str, str],
        memory_llm: bool,
        seeds: str,
        folder: Path,
    ) -> Comparison:
        memories = {}
        for named in part["memories"]:
            placed = _placed(named, folder)
            memories[memory_with_model(placed, model) if memory_llm else placed] = named
        policies = {policy_with_model(named, model): named for named in part["policies"]}
        config = RunConfig(
            envs=tuple(part["envs"]),
            memories=tuple(memories),
            policies=tuple(policies),
            seeds=parse_seeds(seeds or part["seeds"]),
            **{key: part[key] for key in ("protocol",) if key in part},
        )
        cells = {
            Cell(env, memory, policy): Cell(env, _canonical(memories[memory]), _canonical(named))
            for env in config.envs
            for memory in config.memories
            for policy, named in policies.items()
            if not part.get("train")
        }
        refine = part.get("refine")
        if refine:
            refine = {**refine, "policy": policy_with_model(refine["policy"], model)}
        return Comparison(part["name"], config, cells, tuple(part.get("form", ())), refine)


def _canonical(spec: str) -> str:
    return format_spec(*parse_spec(spec))


def _placed(memory: str, folder: Path) -> str:
    """Return a memory with the file that ``store=STORE`` or another name in capitals stands for."""
    name, kwargs = parse_spec(memory)
    store = kwargs.get("store", "")
    if store.isupper():
        kwargs = {**kwargs, "store": str(folder / f"{store.lower()}.db")}
    return format_spec(name, kwargs)


def tokens_of(rows: Iterable[EpisodeRow]) -> TokensPerStep | None:
    """Return the tokens a step of all language models; None without one."""
    results = [row.result for row in rows]
    steps = max(sum(result.steps for result in results), 1)
    prompt, completion = (
        sum(result.counters.get(f"llm_{kind}_tokens", 0) for result in results) / steps
        for kind in TokensPerStep._fields
    )
    return TokensPerStep(prompt, completion) if prompt else None


def experiment_names() -> tuple[str, ...]:
    """Names of all experiments, sorted."""
    files = (path.name for path in resources.files(__name__).iterdir())
    return tuple(sorted(name[:-5] for name in files if name.endswith(".yaml")))


def load_experiment(name: str) -> Experiment:
    """Read an experiment."""
    if name not in experiment_names():
        raise UnknownNameError("experiment", name, experiment_names())
    yaml = require("yaml", "llm", "published experiments")
    record = yaml.safe_load(resources.files(__name__).joinpath(f"{name}.yaml").read_text("utf-8"))
    try:
        expected = {
            Cell(*(_canonical(row[key]) for key in Cell._fields)): Expected(
                row.get("score"), row.get("success")
            )
            for row in record["expected"]
        }
        tokens = {
            _canonical(row["memory"]): TokensPerStep(row["prompt"], row["completion"])
            for row in record.get("tokens", ())
        }
        parts = tuple(record["parts"])
        return Experiment(name, record["title"], record["note"].strip(), parts, expected, tokens)
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidArgumentError(f"experiment {name!r} is not well formed: {error!r}") from error
