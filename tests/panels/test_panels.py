"""Panels: the file, the environment, what differs, and the commands."""

from __future__ import annotations

import dataclasses
import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from gym_memory.cli import main
from gym_memory.core.errors import BackendError, InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec, sources
from gym_memory.panels.digests import check_panel
from gym_memory.panels.env import PanelEnv, make_world
from gym_memory.panels.panel import (
    Panel,
    PanelTask,
    load_panel,
    panel_names,
    shared_plan,
    write_panel,
)


def test_panel_is_read_as_written(panel_file: str, tmp_path: Path) -> None:
    panel = load_panel(panel_file)
    assert sorted(task.task_id[-2:] for task in panel.tasks) == ["q0", "q1", "q2"]
    write_panel(panel, tmp_path / "again.json.gz")
    assert (tmp_path / "again.json.gz").read_bytes() == Path(panel_file).read_bytes()
    assert load_panel(str(tmp_path / "again.json.gz")).digest == panel.digest


def test_kept_walkthrough_is_followed_without_a_solution(
    panel_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = load_panel(panel_file)
    env = make_world(panel, panel.worlds[0])
    tasks = []
    for task in panel.tasks:
        env.reset(options={"task_id": task.task_id})
        tasks.append(task._replace(way=env.get_wrapper_attr("oracle")().walkthrough))
    write_panel(dataclasses.replace(panel, tasks=tuple(tasks)), panel_file)
    monkeypatch.setattr(env.unwrapped, "oracle", None)
    kept = load_panel(panel_file)
    assert kept.tasks == tuple(tasks)
    assert kept.digest != panel.digest
    assert [d for _, found in check_panel(kept.tasks, env) for d in found] == []


def test_one_changed_word_is_exactly_one_text(panel_file: str, questions: Path) -> None:
    panel = load_panel(panel_file)
    env = make_world(panel, panel.worlds[0])
    assert [d for _, found in check_panel(panel.tasks, env) for d in found] == []
    questions.write_text(questions.read_text().replace("Holm is a harbour", "Holm is a haven"))
    changed = make_world(panel, panel.worlds[0])
    (found,) = [d for _, found in check_panel(panel.tasks, changed) for d in found]
    assert found[:3] == ("hotpot_dev/file/q1", 1, "text")
    assert "Holm is a haven." in found.found


def test_other_first_text_is_refused(panel_file: str, questions: Path) -> None:
    questions.write_text(questions.read_text().replace("island is Holm", "isle is Holm"))
    env = PanelEnv(panel_file)
    env.reset(options={"task_id": "hotpot_dev/file/q0"})
    with pytest.raises(
        BackendError, match="task hotpot_dev/file/q1 begins with another text than that"
    ):
        env.reset(options={"task_id": "hotpot_dev/file/q1"})


def test_other_later_text_is_refused(panel_file: str, questions: Path) -> None:
    questions.write_text(questions.read_text().replace("Holm is a harbour", "Holm is a haven"))
    env = PanelEnv(panel_file)
    with pytest.raises(BackendError, match="q1 has, at step 1, another text than that of panel"):
        env.reset(options={"task_id": "hotpot_dev/file/q1"})


@pytest.mark.parametrize("more", [{"navigate": True}, {"recall": "semantic"}])
def test_added_actions_are_refused(panel_file: str, more: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError, match="expected a panel without navigate"):
        gym.make("gym_memory/Panel-v0", panel=panel_file, **more)


def test_missing_task_is_named(panel_file: str, questions: Path) -> None:
    questions.write_text(json.dumps(json.loads(questions.read_text())[:2]))
    panel = load_panel(panel_file)
    env = make_world(panel, panel.worlds[0])
    (found,) = [d for _, found in check_panel(panel.tasks, env) for d in found]
    assert found[:3] == ("hotpot_dev/file/q2", 0, "task")


def test_damaged_panel_is_an_error(panel_file: str) -> None:
    record = json.loads(gzip.decompress(Path(panel_file).read_bytes()))
    for wrong in (
        {**record, "format": 2},
        {**record, "worlds": [*record["worlds"], *record["worlds"]]},
        {**record, "worlds": [{**record["worlds"][0], "env": "Foreign?make=os:getcwd"}]},
        {**record, "worlds": []},
        [],
    ):
        Path(panel_file).write_bytes(gzip.compress(json.dumps(wrong).encode()))
        with pytest.raises(InvalidArgumentError, match="expected"):
            load_panel(panel_file)
    Path(panel_file).write_bytes(b"no panel")
    with pytest.raises(InvalidArgumentError, match="expected a panel"):
        load_panel(panel_file)


def test_panel_name_is_a_spec() -> None:
    spec = Spec("panel:cooking-hard?isolate=process")
    assert spec.parts == ("Panel", {"panel": "cooking-hard", "isolate": "process"})
    assert Spec.of(*spec.parts) == spec == "panel:cooking-hard?isolate=process"
    assert Spec("Panel?panel=cooking-hard") == "panel:cooking-hard"
    assert sources(["panel:cooking-hard", "./mine.py:Mine"]) == ["./mine.py"]
    with pytest.raises(UnknownNameError, match="Did you mean 'cooking-medium'"):
        PanelEnv("cooking-meduim")


def test_other_setting_is_refused(panel_file: str) -> None:
    assert PanelEnv(panel_file, max_steps=9).max_steps == 9
    with pytest.raises(InvalidArgumentError, match="without max_steps=10"):
        PanelEnv(panel_file, max_steps=10)


def test_bare_resets_play_each_task_once(panel_file: str) -> None:
    env = PanelEnv(panel_file)
    infos = [env.reset()[1] for _ in range(4)]
    assert [info["task_id"] for info in infos] == [*env.task_ids, env.task_ids[0]]
    assert [info["panel_round"] for info in infos] == [0, 0, 0, 1]
    assert infos[0]["backend_version"].count(f"panel mine@{env.panel.digest}") == 1


def test_vector_environments_play_each_task_once(panel_file: str) -> None:
    envs = gym.make_vec(
        "gym_memory/Panel-v0",
        num_envs=2,
        panel=panel_file,
        memory="none",
        vectorization_mode="sync",
    )
    played = []
    _, infos = envs.reset(seed=0, options={"stride": 2})
    for _ in range(6):
        _, _, ended, _, infos = envs.step(["answer[Vell]"] * 2)
        played += [
            str(infos["task_id"][lane])[-2:]
            for lane in range(2)
            if ended[lane] and not infos["panel_round"][lane]
        ]
    assert sorted(played) == ["q0", "q1", "q2"]


def test_shared_plan_is_each_task_once(panel_file: str) -> None:
    env = Spec.of("Panel", {"panel": panel_file})
    assert shared_plan([env]) == ("0:3", "single_episode")
    assert shared_plan([env, "Fetch"]) == ("", "")


def run(arguments: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)


def test_check_command_finds_the_text(
    panel_file: str, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["panel", "check", panel_file, "--json"]) == 0
    (same,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (same["state"], same["differ"], same["tasks"]) == ("same", 0, 3)
    questions.write_text(questions.read_text().replace("Ness is a harbour", "Ness is a haven"))
    assert run(["panel", "check", panel_file, "--json"]) == 1
    _, found = map(json.loads, capsys.readouterr().out.splitlines())
    assert (found["task_id"], found["step"], found["part"]) == ("hotpot_dev/file/q2", 1, "text")


def test_run_refuses_other_settings(panel_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["panel", "run", panel_file, "--max-steps", "5"]) == 2
    assert "expected no --max-steps" in capsys.readouterr().err


def test_missing_data_names_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Spec("ALFWorld?path=$ALFWORLD_DATA&split=valid_seen")
    panel = Panel("away", "", (PanelTask(world, "x"),), get="run alfworld-download")
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    with pytest.raises(BackendError, match="run alfworld-download, and name its folder in"):
        make_world(panel, world)


def test_panel_of_a_missing_package_is_not_checked(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("nle", reason="pip install 'gym-memory[nethack]'")
    if importlib.util.find_spec("minihack"):
        pytest.skip("MiniHack is installed")
    assert run(["panel", "check", "minihack-balrog"]) == 0
    shown, why = capsys.readouterr()
    assert "not checked" in shown
    assert "pip install minihack" in why


@pytest.mark.parametrize("name", panel_names())
def test_shipped_panel_is_whole(name: str) -> None:
    panel = load_panel(name)
    assert panel.about
    assert panel.source
    for task in panel.tasks:
        assert len({*map(len, task.shown)}) <= 1


@pytest.mark.slow
def test_shipped_text_is_this_installations(python: Any) -> None:
    """In a process of its own, since tests may not play the games of the tables."""
    pytest.importorskip("textworld", reason="needs the extra textworld")
    code = """
from gym_memory.panels.digests import check_panel
from gym_memory.panels.env import make_world
from gym_memory.panels.panel import load_panel
panel = load_panel("cooking-medium")
env = make_world(panel, panel.worlds[0])
print([d for _, found in check_panel(panel.tasks[:2], env) for d in found])
"""
    assert python(code).strip() == "[]"
