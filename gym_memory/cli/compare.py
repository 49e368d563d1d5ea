"""``gym-memory run``, ``compare`` and ``demo``: play, and print one table."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text
from typer import Option

from gym_memory.cli import SHOWN, options
from gym_memory.cli.show import (
    output,
    print_json,
    print_scores,
    print_table,
    progress,
    shown_progress,
)
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.frames import users_frame
from gym_memory.core.names import Spec, specs
from gym_memory.draw.svg import short_spec
from gym_memory.papers.presets import PRESETS, Preset, make_preset
from gym_memory.run.compare import KeptWorkers, compare
from gym_memory.run.config import EpisodeRow, RunConfig
from gym_memory.run.play import mixtures
from gym_memory.run.results.labels import labels
from gym_memory.run.results.losses import Loss, losses
from gym_memory.run.results.report import build_report
from gym_memory.run.results.score import (
    Difference,
    TableRow,
    Unit,
    combination,
    differences,
    format_interval,
    format_number,
    format_p,
    notes_on,
    seeds_go_round,
    stopped_jobs,
    table,
    units,
    with_fallbacks,
)
from gym_memory.run.results.sweep import comparable
from gym_memory.wrappers.memory import DEFAULT_MEMORY

__all__ = ["DEMO", "agent_of", "compare_all", "default_out", "demo", "play_config", "play_parts"]
__all__ += ["print_episodes", "run"]

PRESET = (
    "A paper's agent with the paper's memory, protocol, budget and `--navigate`: NAME, or "
    "NAME?key=value to change a parameter; `variant=ours` has our defaults. One of "
    f"{', '.join(PRESETS)}."
)


@options.grouped
def compare_all(
    env: options.Envs,
    memory: options.Memories = [],  # noqa: B006 - typer copies it
    policy: options.Policies = [],  # noqa: B006
    preset: Annotated[list[str], Option(metavar="PRESET", help=f"{PRESET} Repeatable.")] = [],  # noqa: B006
    seeds: options.Seeds = "",
    protocol: options.Protocol = "",
    *,
    chosen: options.RunChoices,
    playing: options.Playing,
) -> None:
    """Play every environment x memory x policy x seed; print one table, write a report.

    By default the memory is `arigraph`, the policy `random` and the seeds 0:10, or each task of a
    panel; `gym-memory list` has more names. With `--preset`, each paper's agent plays with its own
    memory and with those of `--memory`; several agents have a folder each. If interrupted, run the
    command again: it continues.

    Example: `gym-memory compare -e "Cooking?level=medium&split=test" -m none -m history
    -p random -p walkthrough --seeds 0:20 --workers 2 --out results/first`

    Papers' agents: `gym-memory compare -e "Cooking?level=stma-2" --preset ariadne --preset stma
    -m none --model qwen --base-url http://localhost:8000/v1 --max-tokens 5000000`
    """
    parts: dict[str, RunConfig] = {}
    for name in preset or [""]:
        agent = agent_of(name, *policy[:1])
        own = [agent.memory] if preset or not memory else []
        parts[name] = chosen.config(
            env,
            [*own, *(spec for spec in memory if spec not in own)],
            policy or [agent.policy],
            seeds,
            protocol,
            agent,
        )
    configs = list(parts.values())
    out = playing.out or default_out("compare", *configs)
    if len(configs) == 1:
        rows = play_config(configs[0], out, playing)
        raise typer.Exit(int(any(row.result.failed for row in rows)))
    folders = [out / name.partition("?")[0] for name in parts]
    if len(set(folders)) < len(preset):
        folders = [out / f"{number}-{folder.name}" for number, folder in enumerate(folders, 1)]
    play_parts(dict(zip(folders, configs, strict=True)), out, playing)
    scores = build_report(folders, out, allow_version_mismatch=playing.allow_version_mismatch)
    _show(scores, playing.json_lines)
    _tell_report(out)
    raise typer.Exit(int(any(row.n_failed for row in scores)))


def agent_of(preset: str, policy: str = "") -> Preset:
    """Return the agent: a preset, else a policy with the usual memory."""
    if preset and policy:
        raise InvalidArgumentError("--preset names the policy: expected no --policy beside it")
    return make_preset(preset) if preset else Preset(policy or "random", DEFAULT_MEMORY)


def default_out(name: str, *configs: RunConfig) -> Path:
    """Return a folder named after the configuration, so that the same command finds it again."""
    text = "".join(json.dumps(config.to_json(), sort_keys=True) for config in configs)
    return Path("results") / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def play_parts(
    parts: Mapping[Path, RunConfig], out: Path, playing: options.Playing
) -> list[list[EpisodeRow]]:
    """Play several configurations, each into its folder; the hard stops apply to all together."""
    out.mkdir(parents=True, exist_ok=True)
    spending = out / "spending.sqlite"
    with KeptWorkers() as kept:
        return [
            play_config(config, folder, playing, spending=spending, quiet=True, kept=kept)
            for folder, config in parts.items()
        ]


def play_config(
    config: RunConfig,
    out: Path,
    playing: options.Playing,
    *,
    spending: Path | None = None,
    quiet: bool = False,
    kept: KeptWorkers | None = None,
) -> list[EpisodeRow]:
    """Run ``compare`` with a progress bar, then print its table and the path of the report.

    With ``quiet``, the caller prints the table.
    """
    for mixture in mixtures(config):
        progress().print(f"Warning: {mixture}")
    try:
        with shown_progress(f"{len(config.jobs())} jobs") as on_progress:
            rows = compare(
                config,
                out,
                spending=spending,
                on_progress=on_progress,
                kept=kept,
                **playing.arguments(),
            )
    except KeyboardInterrupt:
        progress().print(
            f"Interrupted. Finished episodes are in {out}; run the command again to continue."
        )
        raise typer.Exit(130) from None
    all_units = units(rows)
    if not quiet:
        _show(table(all_units), playing.json_lines)
        if not playing.json_lines:
            _print_differences(config, rows)
            _print_losses(losses(all_units), out)
    for note in notes_on(all_units):
        progress().print(f"Note: {note}")
    stopped = stopped_jobs(rows)
    if stopped:
        progress().print(
            f"{len(stopped)} of {len(config.jobs())} jobs were stopped by the limit and have no "
            "score: run the same command with a higher limit to continue"
        )
    _print_failures(all_units, out)
    _tell_report(out)
    return rows


def _print_failures(all_units: Sequence[Unit], folder: Path) -> None:
    """Print how many jobs failed, the first failure, and the traceback under ``--debug``."""
    failed = [unit for unit in all_units if unit.failed]
    if not failed:
        return
    console, first = progress(), failed[0]
    console.print(
        f"{len(failed)} of {len(all_units)} jobs failed and score 0, the first one: "
        f"{' '.join(map(short_spec, combination(first)))} seed {first.seed}: {first.failed}"
    )
    detail = next((result.detail for result in first.episodes if result.failed), "")
    frame = users_frame(detail)
    if SHOWN["debug"] and detail:
        console.print(detail.rstrip(), soft_wrap=True)
    elif frame is not None:
        console.print(f"  {frame}", soft_wrap=True)
        where = f"in {folder / 'logs'} and under --debug"
        console.print(f"The whole traceback is {where}.", soft_wrap=True)


def _show(rows: Sequence[TableRow], json_lines: bool) -> None:
    repeated = next((row for row in rows if row.n_tasks < row.n), None)
    if repeated:
        progress().print(f"Warning: {seeds_go_round(repeated)}")
    for row in with_fallbacks(rows):
        progress().print(
            f"Warning: {short_spec(row.policy)} on {row.env} with {short_spec(row.memory)}: "
            f"fallbacks decided {row.fallbacks:.0%} of the steps, since the model gave no usable "
            "answer; gym-memory view shows each with its prompt, the answer and what is wrong"
        )
    if json_lines:
        print_json([row.to_json() for row in rows])
    else:
        print_scores(rows)
        for sentence in labels(rows):
            output().print(sentence)


def _tell_report(out: Path) -> None:
    progress().print(f"Report: {out / 'report.md'}", soft_wrap=True)


def _print_differences(config: RunConfig, rows: list[EpisodeRow]) -> None:
    """Print one line per compared memory, over all environments; the report has the rest."""
    gaps = differences(comparable(units(rows)), "memory")
    for gap in gaps:
        if gap.env == "all" or len(config.envs) == 1:
            output().print(
                f"{short_spec(gap.name)} - {short_spec(gap.against)}, {short_spec(gap.other)}, "
                f"{gap.n} pairs: "
                f"{gap.difference:+.3f} {_certainty(gap)}"
            )


def _print_losses(found: Sequence[Loss], out: Path) -> None:
    from gym_memory.viewer.recordings import find, lost

    if not found:
        return
    rivals = dict.fromkeys(short_spec(loss.best.memory) for loss in found)
    output().print(
        f"The games that cost most against {' and '.join(rivals)}, each with the command that "
        "shows where they part:"
    )
    recordings = find([out])
    for loss in found:
        unit, best = loss
        output().print(
            f"  {short_spec(unit.env)} seed {unit.seed}, {short_spec(unit.policy)}: "
            f"{short_spec(unit.memory)} {unit.score:.2f}, "
            f"{short_spec(best.memory)} {best.score:.2f}"
        )
        pair = "".join(f" --episode {number}" for number in lost(loss, recordings))
        output().print(f"    gym-memory view {shlex.quote(str(out))}{pair}", soft_wrap=True)


def _certainty(gap: Difference) -> str:
    if gap.p is None:
        return "without an interval, since jobs failed"
    return f"{format_interval(gap.ci, '+')}, p {format_p(gap.p)}"


@options.grouped
def run(
    env: options.Env,
    memory: options.Memory = "",
    policy: options.Policy = "",
    preset: Annotated[str, Option(metavar="PRESET", help=PRESET)] = "",
    seeds: options.Seeds = "0:1",
    protocol: options.Protocol = "",
    checkpoint: Annotated[
        str, Option(help="Checkpoint of a trained policy: a file, a folder, or shipped.")
    ] = "",
    *,
    chosen: options.RunChoices,
    playing: options.Playing,
) -> None:
    """Play one environment with one memory and one policy; print every episode.

    By default the memory is `arigraph` and the policy `random`.

    Example: `gym-memory run -e "TreasureHunt?level=easy" -m history -p walkthrough --seeds 0:5`

    A paper's agent, without a key against `gym-memory serve-scripted --port 8000`:
    `gym-memory run -e "TreasureHunt?level=easy" --preset ariadne --model scripted
    --base-url http://127.0.0.1:8000/v1`
    """
    agent = agent_of(preset, policy)
    player = agent.policy
    config = chosen.config(
        [env],
        [memory or agent.memory],
        [Spec(player).with_parameter("checkpoint", checkpoint) if checkpoint else player],
        seeds,
        protocol,
        agent,
    )
    rows = play_config(config, playing.out or default_out("run", config), playing)
    if not playing.json_lines:
        print_episodes(rows)
    raise typer.Exit(int(any(row.result.failed for row in rows)))


def print_episodes(rows: list[EpisodeRow]) -> None:
    """Print one line per episode."""
    numbers = ("seed", "trial", "score", "max", "normalized", "steps", "refused", "seconds")
    lines = []
    for row in rows:
        result = row.result
        end = "won" if result.success else "lost" if result.lost else "out of steps"
        lines.append((
            result.task_id, str(row.job.seed), str(row.trial + 1), f"{result.score:g}",
            f"{result.max_score:g}", format_number(result.normalized, ".3f"),
            str(result.steps), str(result.n_invalid), f"{result.seconds:.2f}",
            Text(f"failed: {result.failed}", "red") if result.failed else end,
        ))  # fmt: skip
    minor = ("seconds", "refused", "max", "trial", "normalized")
    print_table(("task", *numbers, "end"), lines, right=numbers, minor=minor, title="episodes")


DEMO = RunConfig(
    envs=specs(("Cooking?level=medium&split=test", "TreasureHunt?level=hardest&split=test")),
    memories=specs(("none", "history", "arigraph")),
    policies=specs(("planner",)),
    seeds=tuple(range(8)),
)
"""Configuration of the demo."""


def demo_summary(rows: Sequence[TableRow], out: Path) -> str:
    """Return a sentence about the result and the next step."""
    parts = []
    for env in DEMO.envs:
        score = {row.memory: row.score for row in rows if row.env == env}
        others = ", ".join(f"{name} {score[name]:.2f}" for name in DEMO.memories[:-1])
        parts.append(f"{env.name} {score[DEMO.memories[-1]]:.2f} ({others})")
    return (
        f"With the same policy, steps and tokens, {DEMO.memories[-1]} scores {'; '.join(parts)}. "
        f"Watch it play: gym-memory view {out}"
    )


def demo(
    out: Annotated[Path, Option("--out", "-o", help="Results folder.")] = Path("results/demo"),
    workers: options.Workers = None,
) -> None:
    """Play two generated worlds with three memories, in about a minute.

    Example: `gym-memory demo --out results/demo`
    """
    rows = play_config(DEMO, out, options.Playing(workers=workers, retry_failed=True))
    output().print(demo_summary(table(units(rows)), out))
    raise typer.Exit(int(any(row.result.failed for row in rows)))
