"""``gym-memory play``: a person at the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gym_memory.cli import options
from gym_memory.cli.show import output
from gym_memory.run.jobs import Job
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["command"]


def command(
    env: options.Env,
    memory: options.Memory = DEFAULT_MEMORY,
    seed: Annotated[int, typer.Option("--seed", "-s", min=0, help="Chooses the task.")] = 0,
    budget: options.Budget = None,
    task_id: options.TaskId = "",
    plugins: options.Plugins = None,
    web: Annotated[
        bool, typer.Option("--web", help="Play in a page; the game is stored as any agent's.")
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="With --web: where games go.")
    ] = Path("results/human"),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="With --web: TCP port; 0 takes a free one.")
    ] = 0,
    browser: Annotated[bool, typer.Option(help="With --web: open a browser.")] = True,
) -> None:
    """Play a game yourself, with the memory that an agent would have. Ctrl-D ends.

    Example: `gym-memory play -e "Cooking?level=rl-1" -m history --seed 3`

    In a page, with the memory's map beside it: `gym-memory play --web -e "TreasureHunt?level=easy"`
    """
    from gym_memory.baselines.human import Human
    from gym_memory.run import rollout

    options.load_plugins(plugins)
    if web:
        from gym_memory.viewer.play import PlayDefaults
        from gym_memory.viewer.server import serve

        tokens = DEFAULT_BUDGET if budget is None else budget
        serve(
            [],
            port=port,
            browser=browser,
            play=PlayDefaults(env, memory, seed, tokens, task_id, out),
        )
        return
    job = Job(env, memory, "human", seed, budget=DEFAULT_BUDGET if budget is None else budget)
    game = job.make_env()
    last: dict[str, Any] = {}

    def on_step(t: int, info: dict[str, Any]) -> None:
        last.update(info, t=t)

    console = output()
    policy = Human(read=input, write=lambda text: console.print(text, markup=False))
    try:
        result = rollout(game, policy, seed, task_id=task_id, on_step=on_step)
    except (EOFError, KeyboardInterrupt):
        console.print(f"\nYou left after {last.get('t', 0)} steps with {last.get('score', 0):g}.")
        return
    finally:
        game.close()
    end = "You won!" if result.success else "You lost." if result.lost else "Out of steps."
    console.print(f"\n{end} {result.score:g} of {result.max_score:g} in {result.steps} steps.")
