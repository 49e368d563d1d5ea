"""``gym-memory run``: one combination, episode by episode."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from gym_memory.cli import options
from gym_memory.cli.compare import PRESET, agent_of, default_out, play_config
from gym_memory.cli.show import new_table, output
from gym_memory.run.jobs import EpisodeRow, with_parameter

__all__ = ["command"]


@options.grouped
def command(
    env: options.Env,
    memory: options.Memory = "",
    policy: options.Policy = "",
    preset: Annotated[str, typer.Option(metavar="PRESET", help=PRESET)] = "",
    seeds: options.Seeds = "0:1",
    protocol: options.Protocol = "",
    checkpoint: Annotated[
        str, typer.Option(help="What a trained policy has learnt, a file or folder.")
    ] = "",
    *,
    asked: options.Asked,
    playing: options.Playing,
) -> None:
    """Play one environment with one memory and one policy; print every episode.

    The memory is `arigraph` and the policy `random` where none is named.

    Example: `gym-memory run -e "TreasureHunt?level=easy" -m history -p walkthrough --seeds 0:5`

    A paper's agent, without a key against `gym-memory serve-scripted --port 8000`:
    `gym-memory run -e "TreasureHunt?level=easy" --preset ariadne --model scripted
    --base-url http://127.0.0.1:8000/v1`
    """
    agent = agent_of(preset, policy)
    player = agent.policy
    config = asked.config(
        [env],
        [memory or agent.memory],
        [with_parameter(player, "checkpoint", checkpoint) if checkpoint else player],
        seeds,
        protocol or agent.protocol,
        navigate=agent.navigate,
    )
    rows = play_config(config, playing.out or default_out("run", config), playing)
    if not playing.json_lines:
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
