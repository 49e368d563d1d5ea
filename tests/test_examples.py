"""Every example runs unchanged, and the commands of the tutorials work."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
SAYS = {
    "cleanrl_drrn.py": r"train: score (?:0\.[2-9]|1).* over 1 games, at random 0\.0\d$",
    "dqn.py": r"arigraph: score on 20 test games: [01]\.\d\d$",
    "grpo.py": r"arigraph: 1 updates, curve in results/grpo$",
    "ppo.py": r"arigraph \{'mode': 'sample', .*\}: [01]\.\d\d after \d+ CPU-seconds$",
    "drrn.py": r"drrn: score on 6 test games: (?:0\.[5-9]|1).*\nrandom: .*: 0\.[0-4]\d$",
    "llm_agent.py": r"none, .* 1\.00 in 91 .*\narigraph, .* 1\.00 in 65 .* 0\.0[1-9]\d\d USD$",
    "own_memory.py": r"none: score 0\.2.*\nbrief: score 0\.[4-9].*\nhistory: .*\narigraph: score 1",
    "own_policy.py": r"none: mean score 0\.07.*\nhistory: .*\narigraph: mean score 0\.42",
    "sb3_masked.py": r"score on 2 test games: [01]\.\d\d$",
    "torchrl_rollout.py": r"10 steps, rewards sum to \d\.0$",
    "vector.py": r"AsyncVectorEnv of 4\n(game \d recalls [1-9]\d* facts\n){4}0 games .*\n\d+ steps",
}
"""What each example prints."""
SERVERS = {"memory_service.py"}
"""Examples that do not end; tests/memory/test_remote.py plays with them."""
SHORT = {
    "cleanrl_drrn.py": "--games 1 --test-games 1 --steps 800 --epsilon-steps 300",
    "dqn.py": "400",
    "grpo.py": "--max-steps 1 --budget 20 --max-actions 2",
    "own_memory.py": "--games 3",
    "ppo.py": "512 arigraph rl-1",
}
"""Arguments of the examples that take longer as they stand."""
NEEDS = {
    "cleanrl_drrn.py": "torch",
    "dqn.py": "stable_baselines3",
    "grpo.py": "gguf",
    "ppo.py": "stable_baselines3",
    "drrn.py": "torch",
    "llm_agent.py": "openai",
    "sb3_masked.py": "sb3_contrib",
    "torchrl_rollout.py": "torchrl",
}
LISTED = set(re.findall(r"^\| `(\S+)` \| .+ \|$", (EXAMPLES / "README.md").read_text(), re.M))
"""Files in the table of the examples."""
TUTORIALS = ("first-comparison", "reading-a-report", "train-an-agent", "language-model-agent")
FEWER = {
    **{
        "--seeds 0:5": "--seeds 0:1",
        "--seeds 0:10": "--seeds 0:1",
        "--seeds 0:3": "--seeds 0:1",
        "seed 3": "seed 0",
    },
    **{"--games 20": "--games 2 --valid-games 1", "--steps 12500": "--steps 50"},
}
"""What a test plays instead."""
SERVES = re.compile(r"gym-memory view \S+$|pip install")

pytest.importorskip("textworld", reason="needs the extra textworld")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return variables for a process that finds this tree and the command `gym-memory`."""
    folder = tmp_path_factory.mktemp("bin")
    command = folder / "gym-memory"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gym_memory "$@"\n')
    command.chmod(0o755)
    path = os.pathsep.join((str(folder), os.environ["PATH"]))
    ours = {"PATH": path, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return {**os.environ, **ours, "MPLBACKEND": "agg"}


def run(words: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=550
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_each_example_is_in_the_table_and_run() -> None:
    files = {path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".ipynb")}
    folders = {f"{path.name}/" for path in EXAMPLES.iterdir() if any(path.glob("*.py"))}
    assert files | folders == LISTED  # tests/doors/test_sdk.py plays those of the folder
    assert {name for name in files if name.endswith(".py")} == {*SAYS, *SERVERS}


@pytest.mark.parametrize("name", SAYS)
def test_script(name: str, tmp_path: Path, environment: dict[str, str]) -> None:
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"needs {NEEDS[name]}")
    words = [sys.executable, str(EXAMPLES / name), *SHORT.get(name, "").split()]
    shown = run(words, tmp_path, environment)
    assert re.search(SAYS[name], shown, re.MULTILINE), shown


def printed(book: Any) -> list[str]:
    """Return what the cells of a notebook print, and the last lines that are no tables."""
    return [
        "".join(out.get("text") or out.get("data", {}).get("text/plain", ""))
        for cell in book.cells
        for out in cell.get("outputs", ())
        if out.get("name") == "stdout"
    ]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat", reason="needs nbclient and ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    book = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(nbformat.read(path, 4), timeout=300, resources=where)
    played = client.execute()
    assert printed(book) == printed(played), "store the notebook with the outputs of now"
    for notebook in (book, played):
        outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
        assert any("<table" in str(out.get("data", {}).get("text/html", "")) for out in outputs)
        assert str(ROOT) not in str(outputs)


def blocks(page: str) -> Iterator[tuple[str, str]]:
    text = (ROOT / "docs" / "tutorials" / f"{page}.md").read_text(encoding="utf-8")
    for few, fewer in FEWER.items():
        text = text.replace(few, fewer)
    yield from re.findall(r"^```(sh|python)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """Return the folder in which the commands of the first page ran; the second page reads it."""
    folder = tmp_path_factory.mktemp("first")
    follow("first-comparison", folder, environment)
    return folder


@pytest.mark.parametrize("page", TUTORIALS)
def test_tutorial(
    page: str, tmp_path: Path, environment: dict[str, str], request: pytest.FixtureRequest
) -> None:
    for package in {"train-an-agent": ["torch"], "language-model-agent": ["openai"]}.get(page, []):
        pytest.importorskip(package)
    if page in ("first-comparison", "reading-a-report"):
        played = request.getfixturevalue("first") / "results"
        assert (played / "first" / "report.md").is_file()
        shutil.copytree(played, tmp_path / "results")
    if page != "first-comparison":
        follow(page, tmp_path, environment)


def follow(page: str, folder: Path, environment: dict[str, str]) -> None:
    """Run the commands of a page."""
    port, variables, serving = str(free_port()), dict(environment), []
    try:
        for language, block in blocks(page):
            block = block.replace("8000", port)
            if language == "python":
                run([sys.executable, "-c", block], folder, variables)
                continue
            for line in block.replace("\\\n", " ").splitlines():
                set_here = re.fullmatch(r"export (\w+)='?(.*?)'?", line)
                if set_here:
                    variables[set_here[1]] = set_here[2]
                elif line.endswith(" &"):
                    words = ["sh", "-c", f"exec {line.removesuffix(' &')}"]
                    serving.append(subprocess.Popen(words, cwd=folder, env=variables))
                    wait_for(int(port))
                elif not SERVES.match(line):
                    run(["sh", "-ec", line], folder, variables)
    finally:
        for process in serving:
            process.terminate()
            process.wait()


def wait_for(port: int) -> None:
    for _ in range(600):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("nothing listens")
