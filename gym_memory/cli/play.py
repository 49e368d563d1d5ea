"""``gym-memory play``: a person at the terminal."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gym_memory.cli import options
from gym_memory.cli.show import output
from gym_memory.experiment.jobs import Job
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["command"]


def command(
    env: options.Env,
    memory: options.Memory = DEFAULT_MEMORY,
    seed: Annotated[int, typer.Option("--seed", "-s", min=0, help="Chooses the task.")] = 0,
    budget: options.Budget = None,
    task_id: options.TaskId = "",
    plugins: options.Plugins = None,
) -> None:
    """Play a game yourself, with the memory that an agent would have. Ctrl-D ends.

    Example: `gym-memory play -e "Cooking?level=rl-1" -m history --seed 3`
    """
    from gym_memory.baselines.human import Human
    from gym_memory.run import rollout

    options.load_plugins(plugins)
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
