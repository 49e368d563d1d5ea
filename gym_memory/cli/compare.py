"""``gym-memory compare``: the main job."""

from __future__ import annotations

import hashlib
import json
import signal
from pathlib import Path

import typer

from gym_memory.cli import options
from gym_memory.cli.show import output, print_json, print_scores, progress, shown_progress
from gym_memory.experiment.compare import DEFAULT_TIMEOUT, compare
from gym_memory.experiment.jobs import EpisodeRow, RunConfig, parse_seeds
from gym_memory.results.report import format_interval
from gym_memory.results.score import differences, table, units
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["command", "play_config"]


def command(
    env: options.Envs,
    memory: options.Memories = [DEFAULT_MEMORY],  # noqa: B006 - typer copies it
    policy: options.Policies = ["random"],  # noqa: B006
    seeds: options.Seeds = "0:10",
    protocol: options.Protocol = "single_episode",
    budget: options.Budget = None,
    max_steps: options.MaxSteps = None,
    task_id: options.TaskId = "",
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
    """Play every environment x memory x policy x seed; print one table, write a report.

    Interrupted or killed, the same command goes on where it was. Names: `gym-memory list`.

    Example: `gym-memory compare -e "Cooking?level=medium&split=test" -m none -m history
    -p random -p walkthrough --seeds 0:20 --workers 2 --out results/first`
    """
    config = RunConfig(
        envs=tuple(options.with_max_steps(spec, max_steps) for spec in env),
        memories=tuple(memory),
        policies=tuple(policy),
        seeds=parse_seeds(seeds),
        protocol=protocol,
        budget=DEFAULT_BUDGET if budget is None else budget,
        task_id=task_id,
        plugins=options.load_plugins(plugins),
    )
    rows = play_config(
        config,
        out or default_out("compare", config),
        workers=workers,
        timeout=timeout,
        max_cost_usd=max_cost_usd,
        max_tokens=max_tokens,
        retry_failed=retry_failed,
        allow_version_mismatch=allow_version_mismatch,
        json_lines=json_lines,
    )
    raise typer.Exit(int(any(row.result.failed for row in rows)))


def default_out(name: str, config: RunConfig) -> Path:
    """A folder named after the configuration, so that the same command finds it again."""
    text = json.dumps(config.to_json(), sort_keys=True)
    return Path("results") / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def play_config(
    config: RunConfig,
    out: Path,
    *,
    workers: int | None,
    timeout: float,
    max_cost_usd: float | None = None,
    max_tokens: int | None = None,
    spending: Path | None = None,
    retry_failed: bool = False,
    allow_version_mismatch: bool = False,
    json_lines: bool = False,
    quiet: bool = False,
) -> list[EpisodeRow]:
    """Run ``compare`` with a progress bar, then print its table and where the report lies.

    With ``quiet`` the table is left to the caller.
    """
    try:
        # A polite kill is an interruption like Ctrl-C.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with shown_progress(f"{len(config.jobs())} jobs") as on_progress:
            rows = compare(
                config,
                out,
                workers=options.default_workers() if workers is None else workers,
                timeout=timeout,
                max_cost_usd=max_cost_usd,
                max_tokens=max_tokens,
                spending=spending,
                retry_failed=retry_failed,
                allow_version_mismatch=allow_version_mismatch,
                on_progress=on_progress,
            )
    except KeyboardInterrupt:
        progress().print(f"Interrupted. What is finished is in {out}; the same command goes on.")
        raise typer.Exit(130) from None
    all_units = units(rows)
    if json_lines:
        print_json([row.to_json() for row in table(all_units)])
    elif not quiet:
        print_scores(table(all_units))
        _print_differences(config, rows)
    failed = [unit for unit in all_units if unit.failed]
    if failed:
        first = failed[0]
        progress().print(
            f"{len(failed)} of {len(all_units)} jobs failed and score 0, the first one: "
            f"{first.env} {first.memory} {first.policy} seed {first.seed}: {first.failed}",
            markup=False,
        )
    progress().print(f"Report: {out / 'report.md'}", markup=False, soft_wrap=True)
    return rows


def _print_differences(config: RunConfig, rows: list[EpisodeRow]) -> None:
    """One line for each compared memory over all environments; the rest is in the report."""
    gaps = differences(units(rows), "memory")
    for gap in gaps:
        if gap.env == "all" or len(config.envs) == 1:
            output().print(
                f"{gap.name} - {gap.against}, {gap.other}, {gap.n} pairs: "
                f"{gap.difference:+.3f} {format_interval(gap.ci, '+')}",
                markup=False,
            )
