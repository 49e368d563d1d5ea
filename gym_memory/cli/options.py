"""Options that several commands share: one by one, and in groups."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from typer import Option

from gym_memory.core.names import Spec, import_plugin, sources, specs
from gym_memory.core.settings import Help, default_of
from gym_memory.run import DEFAULT_STEP_TIMEOUT, DEFAULT_TIMEOUT
from gym_memory.wrappers.memory import DEFAULT_BUDGET

if TYPE_CHECKING:
    from gym_memory.papers.presets import Preset
    from gym_memory.run.config import RunConfig

__all__ = ["AllowVersionMismatch", "BaseUrl", "Budget", "Budgets", "Callbacks", "RunChoices"]
__all__ += ["Concurrency", "Env", "Envs", "Host", "Idle", "Json", "MaxCost", "MaxSessions"]
__all__ += ["MaxSteps", "MaxTokens", "Memories"]
__all__ += ["Memory", "MemoryLlm", "Model", "Out", "Playing", "Plugins", "Policies", "Policy"]
__all__ += ["Port", "Protocol", "ResetTimeout", "RetryFailed", "Seeds", "StepTimeout", "TaskId"]
__all__ += ["Timeout", "WorkerMemory", "Workers", "grouped", "load_plugins", "with_max_steps"]

_ID = re.compile(r"^gym_memory/([^?]+)-v0(?=\?|$)")
"""A Gymnasium id of this library, with or without parameters."""


def named(value: Any) -> Any:
    """Import the user's files behind names; remove namespace and version from Gymnasium ids."""
    if not isinstance(value, str):
        return None if value is None else [*map(named, value)]
    name = _ID.sub(r"\1", value)
    for source in sources([name]):
        import_plugin(source)
    return name


_SPEC = "NAME?key=value&..., or one of yours, ./FILE.py:NAME"
_POLICY = f"Policy: {_SPEC}. `gym-memory list policies NAME` lists the keys."

Env = Annotated[
    str, Option("--env", "-e", metavar="ENV", callback=named, help=f"Environment: {_SPEC}.")
]
Envs = Annotated[
    list[str],
    Option("--env", "-e", metavar="ENV", callback=named, help=f"Environment: {_SPEC}. Repeatable."),
]
Memory = Annotated[
    str, Option("--memory", "-m", metavar="MEMORY", callback=named, help=f"Memory: {_SPEC}.")
]
Memories = Annotated[
    list[str],
    Option(
        "--memory", "-m", metavar="MEMORY", callback=named, help=f"Memory: {_SPEC}. Repeatable."
    ),
]
Policy = Annotated[str, Option("--policy", "-p", metavar="POLICY", callback=named, help=_POLICY)]
Policies = Annotated[
    list[str],
    Option("--policy", "-p", metavar="POLICY", callback=named, help=f"{_POLICY} Repeatable."),
]
Host = Annotated[str, Option(help="Address to listen on; every request needs the token.")]
Port = Annotated[int, Option(help="TCP port.", min=1, max=65535)]
MaxSessions = Annotated[
    int, Option(metavar="N", min=1, help="Most sessions at a time; further ones are refused.")
]
Idle = Annotated[
    float, Option(metavar="SECONDS", help="Idle time after which a session is closed.")
]
Model = Annotated[str, Option(help="Language model of the policies; default: GYM_MEMORY_MODEL.")]
BaseUrl = Annotated[
    str,
    Option(help="OpenAI-compatible endpoint of the model; default: OPENAI_BASE_URL, else OpenAI."),
]
MemoryLlm = Annotated[
    bool,
    Option(
        "--memory-llm", help="Let the model also play the memories' roles; by default rules do."
    ),
]
Navigate = Annotated[
    bool | None,
    Option(
        help="Add actions `go to PLACE` if the memory keeps a graph; default: the preset's choice."
    ),
]
Seeds = Annotated[
    str,
    Option("--seeds", "-s", metavar="SEEDS", help="0:20 for the seeds 0 to 19, 1,2,5, or both."),
]
Protocol = Annotated[
    str, Option(metavar="PROTOCOL", help="single_episode, trials?k=5, restart_budget?steps=500.")
]
Budget = Annotated[
    int, Option(metavar="TOKENS", help="Token budget of a recall, at 4 characters per token.")
]
Budgets = Annotated[
    list[int],
    Option(
        "--budget",
        metavar="TOKENS",
        help="Token budget of a recall, at 4 characters per token. Repeat it for a sweep, which "
        "shows the score by budget.",
    ),
]
MaxSteps = Annotated[
    int | None, Option(metavar="N", help="Step limit of every environment, instead of its own.")
]
MaxCost = Annotated[
    float | None,
    Option(
        "--max-cost-usd",
        metavar="USD",
        min=0.0,
        help="Hard stop: most US dollars that all episodes together may spend on language models.",
    ),
]
MaxTokens = Annotated[
    int | None,
    Option(
        "--max-tokens",
        metavar="N",
        min=0,
        help="Hard stop: most prompt and completion tokens of all episodes together.",
    ),
]
TaskId = Annotated[
    str,
    Option("--task-id", metavar="ID", help="Play this task; seeds then vary only what is random."),
]
Workers = Annotated[
    int | None,
    Option("--workers", "-w", metavar="N", help="Worker processes; default: one per core."),
]
Ray = Annotated[
    str | None,
    Option(
        "--ray",
        metavar="ADDRESS",
        help="Play on a Ray cluster: its address, `auto` for the one that this machine belongs to, "
        "`local` to start one here (docs/clusters.md).",
    ),
]
Concurrency = Annotated[
    int | None,
    Option(
        metavar="N",
        min=1,
        help="Episodes played concurrently by all workers together, in threads: for agents that "
        "wait for a language model. Default: one per worker.",
    ),
]
WorkerMemory = Annotated[
    float | None,
    Option(
        metavar="GIB",
        min=0.1,
        help="Memory limit of a worker; an episode that exceeds it fails. Default: an equal share.",
    ),
]
Timeout = Annotated[
    float,
    Option(metavar="SECONDS", help="An episode that takes longer counts as failed.", min=0.001),
]
StepTimeout = Annotated[
    float,
    Option(
        metavar="SECONDS",
        min=0.001,
        help="Time limit of a step, including the policy's choice and the memory's work.",
    ),
]
ResetTimeout = Annotated[float, Option(metavar="SECONDS", min=0.001, help="Time limit of a reset.")]
Out = Annotated[
    Path | None,
    Option("--out", "-o", metavar="FOLDER", help="Results folder; default: one in results/."),
]
Json = Annotated[bool, Option("--json", help="Print JSON, one object per row, instead of a table.")]
Plugins = Annotated[
    list[str] | None,
    Option(
        "--import",
        metavar="MODULE",
        help="Module that registers your environments, memories or policies. Repeatable.",
    ),
]
RetryFailed = Annotated[
    bool, Option("--retry-failed", help="Play failed episodes of the folder again.")
]
Callbacks = Annotated[
    list[str],
    Option(
        "--callback",
        metavar="CALLBACK",
        callback=named,
        help="Logger of the run: tensorboard, wandb, mlflow, or ./FILE.py:NAME. Repeatable.",
    ),
]
AllowVersionMismatch = Annotated[
    bool, Option("--allow-version-mismatch", help="Allow episodes of different backend versions.")
]


@dataclasses.dataclass(frozen=True)
class RunChoices:
    """Options of a run, apart from environments, memories, policies and seeds."""

    model: Model = ""
    base_url: BaseUrl = ""
    memory_llm: MemoryLlm = False
    navigate: Navigate = None
    budget: Budgets = dataclasses.field(default_factory=list)
    max_steps: MaxSteps = None
    task_id: TaskId = ""
    plugins: Plugins = None

    @property
    def chat(self) -> dict[str, str]:
        """Return the parameters of the language model that are given."""
        return given_model(self.model, self.base_url)

    def config(
        self,
        envs: Sequence[str],
        memories: Sequence[str],
        policies: Sequence[str],
        seeds: str,
        protocol: str,
        agent: Preset | None = None,
    ) -> RunConfig:
        """Return the run to play; an option overrides what a paper's agent sets.

        Raises:
            GymMemoryError: A name, a number or a plugin is wrong.
        """
        from gym_memory.panels.panel import shared_plan
        from gym_memory.papers.presets import memory_with_model, policy_with_model
        from gym_memory.run.config import RunConfig, parse_seeds

        plugins = load_plugins(self.plugins, *envs, *memories, *policies)
        if agent and agent.navigate if self.navigate is None else self.navigate:
            envs = [Spec(spec).with_parameter("navigate", True) for spec in envs]
        if self.memory_llm or (agent and agent.llm):
            memories = [memory_with_model(spec, self.chat) for spec in memories]
        if self.chat:
            policies = [policy_with_model(spec, self.chat) for spec in policies]
        all_tasks, of_panel = shared_plan(envs) if not (seeds and protocol) else ("", "")
        of_agent = agent.protocol if agent else ""
        if of_agent in ("", "single_episode"):
            of_agent = of_panel or "single_episode"
        return RunConfig(
            envs=specs(with_max_steps(spec, self.max_steps) for spec in envs),
            memories=specs(memories),
            policies=specs(policies),
            seeds=parse_seeds(seeds or all_tasks or "0:10"),
            protocol=Spec(protocol or of_agent),
            budgets=tuple(self.budget) or (agent.budget if agent else DEFAULT_BUDGET,),
            task_id=self.task_id,
            plugins=plugins,
        )


@dataclasses.dataclass(frozen=True)
class Playing:
    """Options of execution, which do not change the episodes of a run."""

    workers: Workers = None
    ray: Ray = None
    concurrency: Concurrency = None
    timeout: Timeout = DEFAULT_TIMEOUT
    step_timeout: StepTimeout = DEFAULT_STEP_TIMEOUT
    reset_timeout: ResetTimeout = DEFAULT_STEP_TIMEOUT
    worker_memory: WorkerMemory = None
    max_cost_usd: MaxCost = None
    max_tokens: MaxTokens = None
    out: Out = None
    json_lines: Json = False
    retry_failed: RetryFailed = False
    allow_version_mismatch: AllowVersionMismatch = False
    callbacks: Callbacks = dataclasses.field(default_factory=list)

    def arguments(self) -> dict[str, Any]:
        """Return these options as arguments of :func:`gym_memory.run.compare.compare`."""
        own = dataclasses.asdict(self)
        del own["out"], own["json_lines"]
        return own


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option to a command for every field of its dataclass parameters."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {
        name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)
    }
    keyword = inspect.Parameter.KEYWORD_ONLY
    flat: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in groups:
            flat.append(parameter.replace(annotation=hints[name], kind=keyword))
            continue
        kinds = get_type_hints(groups[name], include_extras=True)
        flat += [
            inspect.Parameter(
                f.name, keyword, default=default_of(f), annotation=_as_option(kinds[f.name])
            )
            for f in dataclasses.fields(groups[name])
        ]

    @functools.wraps(command)
    def run(**values: Any) -> None:
        for name, kind in groups.items():
            taken = {f.name: values.pop(f.name) for f in dataclasses.fields(kind)}
            values[name] = kind(**taken)
        command(**values)

    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run


def _as_option(hint: Any) -> Any:
    """Return the hint of a declared setting as that of an option; any other as it is."""
    kind, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    for about in extras:
        if isinstance(about, Help):
            return Annotated[kind, Option(min=about.low, max=about.high, help=about.text)]
    return hint


def given_model(model: str, base_url: str) -> dict[str, str]:
    """Return the parameters of a language model that are given; the environment gives the rest."""
    named = {"model": model, "base_url": base_url}
    return {name: value for name, value in named.items() if value}


def with_max_steps(env: str, max_steps: int | None) -> Spec:
    """Return the environment with the step limit of ``--max-steps``, if it is given."""
    spec = Spec(env)
    return spec if max_steps is None else spec.with_parameter("max_steps", max_steps)


def load_plugins(plugins: Sequence[str] | None, *specs: str) -> tuple[str, ...]:
    """Import the user's modules and files, also those behind ``specs``; return their names."""
    return tuple(dict.fromkeys(map(import_plugin, [*(plugins or ()), *sources(specs)])))
