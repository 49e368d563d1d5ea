"""The command line: output, refusals, exit statuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gym_memory import __version__
from gym_memory.cli import COMMANDS, main
from gym_memory.cli.compare import DEMO, demo_summary
from gym_memory.cli.doctor import PURPOSES
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job
from gym_memory.run.results.score import table, units

PLUGIN_FOLDER = Path(__file__).parents[1] / "run"
PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
HOUSE = ("--import", "run_plugin", "--env", "FakeHouse")


class Run:
    """Calls ``main`` in this process."""

    def __init__(self, capsys: Any):
        self.capsys = capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(words)
        out, err = self.capsys.readouterr()
        return int(end.value.code or 0), out, err


@pytest.fixture
def run(capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PLUGIN_FOLDER))
    monkeypatch.setenv("COLUMNS", "200")
    return Run(capsys)


def flat(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


# ---------------------------------------------------------------- help


def test_help_lists_every_command(run: Run) -> None:
    status, out, _ = run("--help")
    assert status == 0
    for name in COMMANDS:
        assert f" {name} " in out
    assert run("--version")[1] == f"gym-memory {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(run: Run, name: str) -> None:
    status, out, _ = run(name, "--help")
    assert status == 0
    assert f"Example: gym-memory {name}" in flat(out)


def test_command_without_arguments_prints_help(run: Run) -> None:
    assert "Commands" in run()[1]


@pytest.mark.slow
def test_command_runs_as_module_and_script() -> None:
    script = Path(sys.executable).with_name("gym-memory")
    for command in ([sys.executable, "-m", "gym_memory"], [str(script)]):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True)
        assert done.stdout == f"gym-memory {__version__}\n"


LATIN = b"f\xfcr"


@pytest.mark.parametrize("option", ["--env", "--memory", "--policy", "--task-id", "--protocol"])
def test_words_of_another_encoding_are_refused(run: Run, option: str, tmp_path: Path) -> None:
    words = ("compare", *HOUSE, option, os.fsdecode(LATIN), "--seeds", "0:1", "--out", "x")
    status, _, err = run(*words)
    assert (status, err.count("\n")) == (2, 1), err
    assert r"UTF-8 text, got 'f\udcfcr'" in err
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_bytes_of_another_encoding_are_refused() -> None:
    words = [sys.executable, "-m", "gym_memory", "compare", *HOUSE, "--memory", LATIN]
    done = subprocess.run(words, capture_output=True, text=True, cwd=PLUGIN_FOLDER)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert r"UTF-8 text, got 'f\udcfcr'" in done.stderr


# ---------------------------------------------------------------- compare, run, report


@pytest.mark.slow
def test_compare_prints_json_rows_and_keeps_a_report(run: Run, tmp_path: Path) -> None:
    words = ("compare", *HOUSE, "-m", "none", "-m", "history?window=3", "-p", "walkthrough")
    status, out, err = run(*words, "-s", "0:2", "-w", "1", "-o", "out", "--json")
    assert status == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["memory"] for row in rows] == ["none", "history?window=3"]
    for row in rows:
        assert list(row)[:7] == ["env", "memory", "policy", "n", "n_failed", "score", "score_ci"]
        assert (row["n"], row["n_tasks"], row["score"], row["score_ci"][1]) == (2, 2, 1.0, 1.0)
    assert "out/report.md" in err
    assert (tmp_path / "out" / "report.md").is_file()
    status, again, _ = run(*words, "-s", "0:2", "-o", "out", "--json")
    assert (status, again) == (0, out)


@pytest.mark.slow
def test_compare_prints_a_table(run: Run, tmp_path: Path) -> None:
    words = ("compare", *HOUSE, "-m", "none", "-p", "random", "-s", "0,1", "-w", "1")
    status, out, _ = run(*words, "--max-steps", "5")
    assert status == 0
    assert "│ FakeHouse?max_steps=5 │ none   │ random │ 2 │      0 │" in out
    (folder,) = (tmp_path / "results").iterdir()
    assert folder.name.startswith("compare-")


@pytest.mark.slow
def test_failed_episodes_are_an_exit_status(run: Run) -> None:
    words = ("-m", "none", "-p", "bad", "-s", "0:2", "-w", "1", "-o", "out")
    status, out, err = run("compare", *HOUSE, *words)
    assert status == 1
    assert "1 of 2 jobs failed and score 0" in flat(err)
    assert "ZeroDivisionError: a mistake over two lines" in flat(err)
    assert "│ 2 │      1 │ 0.500 │" in out
    assert run("report", "out")[0] == 1


@pytest.mark.slow
def test_run_prints_every_episode(run: Run) -> None:
    words = ("run", *HOUSE, "-m", "none", "-p", "greedy", "--protocol", "trials?k=2", "-w", "1")
    status, out, _ = run(*words, "-o", "out")
    assert status == 0
    assert out.count("fakehouse/train/0") == 2
    assert "out of steps" in out
    assert "won" in out


@pytest.mark.slow
def test_run_takes_a_checkpoint_and_a_task(run: Run) -> None:
    status, _, err = run("run", *HOUSE, "-m", "none", "-p", "random", "--checkpoint", "x.pt")
    assert status == 2
    assert "unknown parameter of policy 'random' 'checkpoint'" in err
    words = ("run", *HOUSE, "-m", "none", "--task-id", "fakehouse/train/6", "-w", "1")
    status, out, _ = run(*words)
    assert status == 0
    assert "fakehouse/train/6" in out


@pytest.mark.slow
def test_report_combines_folders(run: Run, tmp_path: Path) -> None:
    for name, seeds in (("a", "0:2"), ("b", "2:4")):
        words = ("compare", *HOUSE, "-m", "none", "-p", "walkthrough", "-s", seeds, "-w", "1")
        assert run(*words, "-o", name)[0] == 0
    status, out, _ = run("report", "a", "b", "-o", "both", "--json")
    assert status == 0
    assert json.loads(out)["n"] == 4
    assert (tmp_path / "both" / "report.md").is_file()
    assert run("report", "a", "b")[0] == 2


@pytest.mark.slow
def test_other_configuration_in_the_same_folder_is_refused(run: Run) -> None:
    words = ("compare", *HOUSE, "-m", "none", "-w", "1", "-o", "out", "-s")
    assert run(*words, "0:1")[0] == 0
    status, _, err = run(*words, "0:2")
    assert status == 2
    assert "holds a run with seeds [0], this one has [0, 1]: use another --out" in err


# ---------------------------------------------------------------- mistakes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("comapre",), "Did you mean 'compare'?"),
        (("compare", "-e", "Cokking"), "unknown environment 'Cokking'"),
        (("compare", "-e", "Cokking"), "Did you mean 'Cooking'?"),
        (("compare", *HOUSE, "-m", "nome"), "unknown memory 'nome'"),
        (("compare", *HOUSE, "-p", "randm", "-m", "none"), "Did you mean 'random'?"),
        (("compare", "-e", "FakeHouse?split=tst", "--import", "run_plugin"), "Did you mean 'test'"),
        (("compare", "-e", "FakeHouse?level=1", "--import", "run_plugin"), "'level': expected one"),
        (("compare", *HOUSE, "-s", "5:2"), "expected seeds such as 0:20"),
        (("compare", *HOUSE, "-s", "x"), "expected seeds such as 0:20"),
        (("compare", *HOUSE, "--protocol", "trial"), "Did you mean 'trials'?"),
        (("compare", *HOUSE, "--budget", "-3"), "expected a token budget"),
        (
            ("compare", *HOUSE, "--max-steps", "0", "-m", "none"),
            "expected max_steps as an int >= 1",
        ),
        (("compare", *HOUSE, "-w", "0", "-m", "none"), "expected workers as an int >= 1, got 0"),
        (("compare", *HOUSE, *HOUSE[2:]), "'FakeHouse' is given twice in envs"),
        (("compare", "-e", "FakeHouse", "--import", "no_module"), "cannot import 'no_module'"),
        (("compare", "-e", "FakeHouse?x", "--import", "run_plugin"), "expected name?key=value"),
        (("compare", *HOUSE, "-p", "human", "-m", "none"), "use gym-memory play"),
        (("run", *HOUSE, "-o", "/dev/null/x", "-m", "none"), "cannot use '/dev/null/x'"),
        (("report", "nowhere"), "is not a results folder"),
        (("list", "polices"), "Did you mean 'policies'?"),
        (("play", "-e", "Cokking"), "Did you mean 'Cooking'?"),
        (("play", "-e", "FakeHouse", "--import", "run_plugin", "-m", "x"), "unknown memory 'x'"),
    ],
)
def test_mistake_gives_one_line_and_status_2(
    run: Run, words: tuple[str, ...], message: str
) -> None:
    status, out, err = run(*words)
    assert status == 2
    assert message in err
    assert out == ""
    assert [line for line in err.splitlines() if line.strip()] == [err.strip()]
    assert err.strip().startswith("error: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("compare",), "Missing option '--env'"),
        (("compare", *HOUSE, "--bugdet", "3"), "No such option: --bugdet"),
        (("compare", *HOUSE, "--timeout", "0"), "--timeout"),
        (("compare", *HOUSE, "--workers", "two"), "valid integer"),
        (("play", "-e", "FakeHouse", "--seed", "-1"), "--seed"),
    ],
)
def test_wrong_word_gives_status_2(run: Run, words: tuple[str, ...], message: str) -> None:
    status, _, err = run(*words)
    assert status == 2
    assert message in flat(err)
    assert "Traceback" not in err


@pytest.mark.slow
def test_debug_shows_the_traceback() -> None:
    command = [sys.executable, "-m", "gym_memory", "list", "polices"]
    plain = subprocess.run(command, capture_output=True, text=True)
    debug = subprocess.run([*command, "--debug"], capture_output=True, text=True)
    assert "Traceback" not in plain.stderr
    assert "Traceback" in debug.stderr
    assert "UnknownNameError" in debug.stderr


@pytest.mark.slow
def test_closed_output_pipe_ends_quietly() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "gym_memory", "list", "memories"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert "Traceback" not in done.stderr


# ---------------------------------------------------------------- list, doctor, play, demo


@pytest.mark.slow  # imports torch
def test_list_names_everything(run: Run) -> None:
    status, out, _ = run("list", "--json", "--import", "run_plugin")
    assert status == 0
    entries = [json.loads(line) for line in out.splitlines()]
    names = {
        kind: {e["name"] for e in entries if e["kind"] == kind}
        for kind in ("environments", "memories", "policies", "protocols", "wrappers")
    }
    assert {"Cooking", "TreasureHunt", "FakeHouse"} <= names["environments"]
    assert {"none", "history"} <= names["memories"]
    assert {"random", "walkthrough", "sleepy"} <= names["policies"]
    assert names["protocols"] == {
        "single_episode", "trials", "restart_budget", "best_of", "tales", "evotest", "interactions",
        "stream",
    }  # fmt: skip
    assert {"MemoryObservation", "IndexActions"} <= names["wrappers"]
    cooking = next(e for e in entries if e["name"] == "Cooking")
    assert {"rl-1", "medium", "hardest"} <= set(cooking["levels"])
    layers = {e["name"]: e["layers"] for e in entries if e["kind"] == "memories"}
    assert layers["arigraph"] == {"graph": "episode", "episodes": "episode"}
    # What a service keeps is not known before it answers.
    assert [name for name in layers if not layers[name]] == ["none", "remote"]
    assert all(e["about"] for e in entries)
    assert "history" in run("list", "memories")[1]


HEAVY = """
import sys
from gym_memory.cli import main
try:
    main(["list"])
except SystemExit as end:
    heavy = {"torch", "stable_baselines3", "matplotlib", "textworld", "packaging"}
    heavy |= {"gym_memory.run.compare", "gym_memory.run.replays", "gym_memory.papers.experiments"}
    heavy &= set(sys.modules)
    sys.exit(str(heavy) if heavy else end.code)
"""


@pytest.mark.slow
def test_the_overview_names_all_and_imports_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", HEAVY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in ("Cooking", "arigraph", "drrn", "trials", "ldm2", "IndexActions"):
        assert f" {name} " in done.stdout
    assert "Remembers nothing" in done.stdout


@pytest.mark.slow
def test_help_fits_80_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    commands = [(name,) for name in COMMANDS]
    for words in commands:  # grows by the commands inside a command
        out = run(*words, "--help")[1]
        nested = re.findall(r"^  ([a-z]+)  ", out.partition("\nCommands:")[2], re.MULTILINE)
        commands += [(*words, name) for name in nested]
        assert "…" not in out
        assert "`" not in out
        assert not re.search(r"\w\.\.\.$", out.partition("Options:")[2], re.MULTILINE)
        assert max(map(len, out.splitlines())) <= 80
    assert {("memory", "inspect"), ("memory", "restore"), ("ldm2", "form")} < set(commands)
    assert "OPENAI_BASE_URL" in run("compare", "--help")[1]


@pytest.mark.slow
def test_an_environment_may_be_named_by_its_id(run: Run) -> None:
    words = ("-m", "none", "-p", "walkthrough", "-s", "0", "-w", "1", "-o", "out", "--json")
    env = "gym_memory/FakeHouse-v0?max_steps=9"
    status, out, _ = run("compare", "--import", "run_plugin", "-e", env, *words)
    assert status == 0
    assert json.loads(out)["env"] == "FakeHouse?max_steps=9"


@pytest.mark.parametrize("url", ["http://user:secret@x/v1", "https://secret@x:1/v1"])
def test_url_with_credentials_is_refused_before_anything_is_written(
    run: Run, tmp_path: Path, url: str
) -> None:
    words = ("-m", "none", "-p", "react", "--base-url", url, "-o", "out")
    status, _, err = run("compare", *HOUSE, *words)
    assert status == 2
    assert "expected a URL without user, password or key" in err
    assert "secret" not in err
    assert not (tmp_path / "out").exists()


def test_list_shows_the_values_of_a_parameter(run: Run) -> None:
    def values(*words: str) -> dict[str, dict[str, str]]:
        out = run("list", *words, "--json")[1]
        return {entry["name"]: entry for entry in map(json.loads, out.splitlines())}

    assert values("environments", "Fetch")["level"]["values"] == "easy medium hard"
    arigraph = values("memories", "arigraph")
    assert arigraph["recall"]["values"] == "structural semantic"
    assert arigraph["width"]["values"] == ">= 1"


@pytest.mark.parametrize("words", [("environments",), ("environments", "Cooking"), ("memories",)])
def test_list_shows_no_markup_of_docstrings(run: Run, words: tuple[str, ...]) -> None:
    assert "`" not in run("list", *words)[1]


def test_list_keeps_names_whole_and_links_short(run: Run) -> None:
    assert "(the one that holds json_2.1.1)" in flat(run("list", "environments", "ALFWorld")[1])
    scored = flat(run("list", "policies", "choose")[1])
    assert "A scoring model (Scorer) or its spec" in scored


def test_list_marks_missing_packages(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from gym_memory.baselines.base import POLICIES
    from gym_memory.core.errors import MissingDependencyError

    def absent(name: str) -> Any:
        raise MissingDependencyError("torch", "pip install 'gym-memory[rl]'")

    monkeypatch.setattr(POLICIES, "get", absent)
    status, out, _ = run("list", "policies")
    assert status == 0
    assert "pip install 'gym-memory[rl]'" in flat(out)


@pytest.mark.slow
def test_doctor_reports_present_and_missing_packages(
    run: Run, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("GYM_MEMORY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    status, out, _ = run("doctor", "--json")
    assert status == 0
    found = {entry["name"]: entry for entry in map(json.loads, out.splitlines())}
    assert found["gymnasium"]["state"] == "ok"
    assert str(tmp_path / "cache") in found["cache folder"]["found"]
    assert found["Java"]["state"] == "missing"
    assert "default-jre" in found["Java"]["remedy"]
    assert found["ALFWORLD_DATA"]["state"] == "missing"
    wanted = set(tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"])
    assert set(PURPOSES) == wanted - {"all", "dev", "docs"}
    assert len(found) == len(out.splitlines())  # one line an extra
    assert not {"dev", "docs"} & set(found)
    shown = run("doctor")[1]
    assert "cache folder" in shown
    assert shown.splitlines()[-1].startswith("gym-memory works here. Missing or broken in part:")


def test_doctor_reports_a_fault_by_its_status(run: Run, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GYM_MEMORY_CACHE", str(tmp_path / "file" / "cache"))
    status, out, _ = run("doctor")
    assert status == 1
    assert "set GYM_MEMORY_CACHE to a folder" in flat(out)
    assert out.splitlines()[-1].startswith("gym-memory does not work here: cache folder: set")


@pytest.mark.slow
@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 1\n", "#!/no/such/shell\n"])
def test_doctor_notices_a_java_that_fails(
    run: Run, tmp_path: Path, monkeypatch: Any, script: str
) -> None:
    java = tmp_path / "java"
    java.write_text(script)
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    found = {
        entry["name"]: entry for entry in map(json.loads, run("doctor", "--json")[1].splitlines())
    }
    assert found["Java"]["state"] == "broken"
    assert found["ALFWORLD_DATA"]["state"] == "ok"


def play(*words: str, typed: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gym_memory", "play", *HOUSE, "-m", "none", *words],
        input=typed,
        capture_output=True,
        text=True,
        cwd=PLUGIN_FOLDER,
    )


@pytest.mark.slow
def test_a_person_can_win_lose_patience_and_leave() -> None:
    from gym_memory.testing.fake_env import FakeHouse

    house = FakeHouse()
    house.reset(seed=0)
    won = play(typed="\n".join(house.oracle().walkthrough) + "\n")
    assert won.returncode == 0
    assert "You won! 2 of 2" in won.stdout
    left = play("--seed", "1", typed="look\n[bold]odd[/bold]\n")
    assert left.returncode == 0
    assert "You left after 2 steps with 0." in left.stdout
    assert "Traceback" not in left.stderr
    assert "fakehouse/train/1" in left.stdout


def test_demo_compares_memories_in_a_suitable_game() -> None:
    levels = " ".join(DEMO.envs)
    assert all(part in levels for part in ("Cooking?level=medium", "TreasureHunt?level=hardest"))
    assert DEMO.memories == ("none", "history", "arigraph")
    assert DEMO.policies == ("planner",)


def test_demo_ends_with_its_result_and_the_next_step(tmp_path: Path) -> None:
    rows = [
        EpisodeRow(
            Job(env, memory, "planner", 0),
            0,
            EpisodeResult(task_id=env, normalized=0.25 * (1 + number)),
        )
        for env in DEMO.envs
        for number, memory in enumerate(DEMO.memories)
    ]
    assert demo_summary(table(units(rows)), Path("results/demo")) == (
        "With the same policy, steps and tokens, arigraph scores Cooking 0.75 (none 0.25, history "
        "0.50); TreasureHunt 0.75 (none 0.25, history 0.50). Watch it play: gym-memory view "
        "results/demo"
    )
