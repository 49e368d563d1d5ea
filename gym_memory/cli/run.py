"""``gym-memory run``: one combination, episode by episode."""

from __future__ import annotations

import typer
from rich.markup import escape

from gym_memory.cli import options
from gym_memory.cli.compare import default_out, play_config
from gym_memory.cli.show import new_table, output, print_json
from gym_memory.experiment.compare import DEFAULT_TIMEOUT
from gym_memory.experiment.jobs import EpisodeRow, RunConfig, parse_seeds, with_parameter
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["command"]


def command(
    env: options.Env,
    memory: options.Memory = DEFAULT_MEMORY,
    policy: options.Policy = "random",
    seeds: options.Seeds = "0:1",
    protocol: options.Protocol = "single_episode",
    budget: options.Budget = None,
    max_steps: options.MaxSteps = None,
    task_id: options.TaskId = "",
    checkpoint: str = typer.Option("", help="What a trained policy has learnt, a file or folder."),
    workers: options.Workers = None,
    timeout: options.Timeout = DEFAULT_TIMEOUT,
    max_cost_usd: options.MaxCost = None,
    max_tokens: options.MaxTokens = None,
    out: options.Out = None,
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
    retry_failed: options.RetryFailed = False,
    allow_version_mismatch: options.AllowVersionMismatch = False,
) -> None:
    """Play one environment with one memory and one policy; print every episode.

    Example: `gym-memory run -e "TreasureHunt?level=easy" -m history -p walkthrough --seeds 0:5`
    """
    config = RunConfig(
        envs=(options.with_max_steps(env, max_steps),),
        memories=(memory,),
        policies=(with_parameter(policy, "checkpoint", checkpoint) if checkpoint else policy,),
        seeds=parse_seeds(seeds),
        protocol=protocol,
        budget=DEFAULT_BUDGET if budget is None else budget,
        task_id=task_id,
        plugins=options.load_plugins(plugins),
    )
    rows = play_config(
        config,
        out or default_out("run", config),
        workers=workers,
        timeout=timeout,
        max_cost_usd=max_cost_usd,
        max_tokens=max_tokens,
        retry_failed=retry_failed,
        allow_version_mismatch=allow_version_mismatch,
        json_lines=json_lines,
    )
    if json_lines:
        print_json([])
    else:
        _print_episodes(rows)
    raise typer.Exit(int(any(row.result.failed for row in rows)))


def _print_episodes(rows: list[EpisodeRow]) -> None:
    numbers = ("seed", "trial", "score", "max", "normalized", "steps", "refused", "seconds")
    table = new_table("task", *numbers, "end", right=numbers, title="episodes")
    for row in rows:
        result = row.result
        end = "won" if result.success else "lost" if result.lost else "out of steps"
        table.add_row(
            *(escape(result.task_id), str(row.job.seed), str(row.trial + 1)),
            *(f"{result.score:g}", f"{result.max_score:g}", f"{result.normalized:.3f}"),
            *(str(result.steps), str(result.n_invalid), f"{result.seconds:.2f}"),
            f"[red]failed: {escape(result.failed)}[/red]" if result.failed else end,
        )
    output().print(table)
