"""``gym-memory play``, ``view`` and ``serve``: games for a person or a program, and recordings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from gym_memory.cli import options
from gym_memory.cli.show import output, progress
from gym_memory.core.errors import InvalidArgumentError, ResultsError
from gym_memory.core.names import Spec
from gym_memory.draw.escape import visible
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["play", "serve", "serve_scripted", "view"]


def play(
    env: options.Env,
    memory: options.Memory = DEFAULT_MEMORY,
    seed: Annotated[int, Option("--seed", "-s", min=0, help="Chooses the task.")] = 0,
    budget: options.Budget = DEFAULT_BUDGET,
    task_id: options.TaskId = "",
    plugins: options.Plugins = None,
    web: Annotated[
        bool, Option("--web", help="Play in a web page; the game is recorded like an agent's.")
    ] = False,
    out: Annotated[
        Path, Option("--out", "-o", metavar="FOLDER", help="With --web: folder of the games.")
    ] = Path("results/human"),
    port: Annotated[
        int, Option(min=0, max=65535, help="With --web: TCP port; 0 chooses a free one.")
    ] = 0,
    browser: Annotated[bool, Option(help="With --web: open a browser.")] = True,
) -> None:
    """Play a game yourself, with the memory that an agent would have. Ctrl-D ends.

    Example: `gym-memory play -e "Cooking?level=rl-1" -m history --seed 3`

    In a page, with the memory's map beside it: `gym-memory play --web -e "TreasureHunt?level=easy"`
    """
    from gym_memory.baselines.scripted import Human
    from gym_memory.run import rollout
    from gym_memory.run.config import Job

    options.load_plugins(plugins)
    if web:
        from gym_memory.viewer.play import PlayDefaults
        from gym_memory.viewer.server import serve

        defaults = PlayDefaults(env, memory, seed, budget, task_id, out, start=True)
        serve([], port=port, browser=browser, play=defaults)
        return
    game = Job(Spec(env), Spec(memory), Spec("human"), seed, budget=budget).make_env()
    last: dict[str, Any] = {}

    def on_step(t: int, info: dict[str, Any]) -> None:
        last.update(info, t=t)

    console = output()
    policy = Human(read=input, write=lambda text: console.print(text))
    try:
        result = rollout(game, policy, seed, task_id=task_id, on_step=on_step)
    except (EOFError, KeyboardInterrupt):
        console.print(f"\nYou left after {last.get('t', 0)} steps with {last.get('score', 0):g}.")
        return
    finally:
        game.close()
    end = "You won!" if result.success else "You lost." if result.lost else "Out of steps."
    console.print(f"\n{end} {result.score:g} of {result.max_score:g} in {result.steps} steps.")


def view(
    paths: Annotated[
        list[Path], Argument(help="Results folders, folders of them, or steps/*.jsonl.gz.")
    ],
    html: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write a replay as one file instead of serving pages."),
    ] = None,
    episode: Annotated[
        list[str] | None,
        Option(
            metavar="WORDS",
            help="Open the replay of an episode, e.g. `arigraph planner seed 3` or its number in "
            "--list; twice for two side by side, where they first differ.",
        ),
    ] = None,
    listed: Annotated[bool, Option("--list", help="Print the recorded episodes.")] = False,
    host: Annotated[
        str, Option(help="Address to listen on; others than this machine need the token.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="TCP port; 0 takes a free one.")] = 0,
    browser: Annotated[bool, Option(help="Open a browser.")] = True,
) -> None:
    """Browse, replay and compare recorded runs in the browser; or write a replay as one file.

    Example: `gym-memory view results/first`

    Two episodes side by side, with `--html replay.html` as a file to keep or to send:
    `gym-memory view results/first --episode "arigraph planner seed 3"
    --episode "history planner seed 3"`
    """
    from gym_memory.viewer.recordings import choose, compared_at, find, write_replay

    if listed:
        for number, recording in enumerate(find(paths)):
            print(f"{number}: {visible(recording.title)}")
        return
    chosen = []
    if episode or html:
        recordings = find(paths)
        if not recordings:
            raise ResultsError("expected recorded episodes (steps/*.jsonl.gz), found none there")
        chosen = [choose(recordings, words) for words in episode or ["0"]]
        if len(chosen) > 2:
            raise InvalidArgumentError(f"expected one or two episodes, got {len(chosen)}")
    if html is None:
        from gym_memory.viewer.server import serve

        start = compared_at(chosen) if chosen else ""
        serve(paths, host=host, port=port, browser=browser, start=start)
        return
    write_replay(chosen, html)
    titles = " | ".join(recording.title for recording in chosen)
    progress().print(f"{html}: {titles}", soft_wrap=True)


def serve(
    env: options.Env,
    memory: options.Memory = DEFAULT_MEMORY,
    budget: options.Budget = DEFAULT_BUDGET,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8000,
    max_sessions: options.MaxSessions = 64,
    idle: options.Idle = 600.0,
    plugins: options.Plugins = None,
) -> None:
    """Serve an environment with a memory to OpenEnv clients; Ctrl-C ends it.

    Each connection is a session with its own game. `/health` reports that it is up. A request
    carries the printed token as `Authorization: Bearer TOKEN`; GYM_MEMORY_TOKEN sets it.

    Example: `gym-memory serve -e "Cooking?level=rl-1" -m arigraph --port 8000`
    """
    from gym_memory.train.openenv import make_app
    from gym_memory.viewer.server import serve_programs

    options.load_plugins(plugins)
    app = make_app(env, memory, budget, max_sessions=max_sessions, idle_s=idle)
    serve_programs(app, f"{env} with memory {memory}", host, port, "", "openenv")


def serve_scripted(
    port: Annotated[int, Option(help="TCP port; 0 takes a free one.", min=0, max=65535)] = 0,
    host: Annotated[str, Option(help="Address to listen on.")] = "127.0.0.1",
    latency: Annotated[float, Option(help="Seconds before each response.", min=0)] = 0.0,
    fault: Annotated[
        list[str] | None, Option(help="Fault and its share, NAME=RATE, e.g. 429=0.1. Repeatable.")
    ] = None,
    seed: Annotated[int, Option(help="Seed of the draw of faults.")] = 0,
    dialect: Annotated[
        str, Option(help="Kind of server to imitate: reasoning, think, vllm, no_usage, ...")
    ] = "plain",
) -> None:
    """Serve the OpenAI chat format on localhost with rule-based answers to the prompt alone.

    Point any client of an OpenAI-compatible endpoint at it; it needs no key. Ctrl-C ends it.

    Example: `gym-memory serve-scripted --port 8000 --latency 0.2 --fault 429=0.1`
    """
    from gym_memory.testing.chat import Faults, ScriptedServer, ZooServer

    rates = {}
    for text in fault or ():
        name, _, share = text.partition("=")
        try:
            rates[name] = float(share)
        except ValueError:
            raise InvalidArgumentError(
                f"expected --fault NAME=RATE such as 429=0.1, got {text!r}"
            ) from None
    faults = Faults(rates=rates, seed=seed)
    try:
        kind: Any = ScriptedServer if dialect == "plain" else partial(ZooServer, dialect)
        server = kind(port=port, host=host, latency=latency, faults=faults)
    except OSError as error:
        raise InvalidArgumentError(f"cannot listen on {host}:{port}: {error}") from error
    typer.echo(f"serving at {server.base_url} (model: scripted)")
    try:
        server.serve_forever()
    finally:
        server.close()
