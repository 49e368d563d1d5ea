"""Names that a stranger gives in a file or from a page import and build nothing."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path

import gymnasium as gym
import pytest
from strangers import CANARY, knocked, listener, set_trap, watched

from gym_memory.core.errors import GymMemoryError, UnknownNameError, UntrustedError
from gym_memory.core.trajectory import RowWriter, read_rows
from gym_memory.core.trust import GAMES, check_bare, check_game
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.memory.base import MEMORIES
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.results.archive import open_memory
from gym_memory.run.results.report import read_source
from gym_memory.run.results.verify import verify
from gym_memory.testing.fake_env import FAKE_ID
from gym_memory.viewer.play import PlayDefaults, PlayedGame
from gym_memory.viewer.recordings import Recording, find, load
from gym_memory.wrappers.record import RecordTrajectory


def recorded(file: Path) -> None:
    """Record a few steps without the content of the memory."""
    env = RecordTrajectory(gym.make(FAKE_ID, memory="none", max_steps=9), str(file), detail=False)
    obs, _ = env.reset(seed=3)
    for _ in range(4):
        obs, *_ = env.step(obs["valid_actions"][0])
    env.close()


def results_of(folder: Path, **named: str) -> Path:
    """Return a results folder whose configuration names something."""
    parts = {"envs": "FakeHouse", "memories": "none", "policies": "random", **named}
    config = RunConfig(**{k: (v,) for k, v in parts.items()}, seeds=(0,))  # type: ignore[arg-type]
    (job,) = config.jobs()
    recorded(folder / "steps" / f"{job.config}-seed0.jsonl.gz")
    (folder / "config.json").write_text(json.dumps({"format": 1, **config.to_json()}))
    return folder


def look_at(folder: Path) -> None:
    for recording in find([folder]):
        load(recording)
    read_source(folder)
    verify(folder)


def enter_memory(name: str, folder: Path) -> None:
    look_at(results_of(folder / "run", memories=name))


def enter_environment(name: str, folder: Path) -> None:
    look_at(results_of(folder / "run", envs=name))


def enter_policy(name: str, folder: Path) -> None:
    look_at(results_of(folder / "run", policies=name))


def enter_protocol_and_plugin(name: str, folder: Path) -> None:
    path = results_of(folder / "run") / "config.json"
    record = {**json.loads(path.read_text()), "plugins": [CANARY]}
    path.write_text(json.dumps(record))
    look_at(path.parent)
    path.write_text(json.dumps({**record, "protocol": name}))
    look_at(path.parent)


def enter_steps(name: str, folder: Path) -> None:
    recorded(folder / "a.jsonl.gz")
    writer = RowWriter(folder / "b.jsonl.gz")
    for row in read_rows(folder / "a.jsonl.gz"):
        writer.write({**row, "dialect": name, "task_id": name})
    writer.close()
    open_memory(folder / "b.jsonl.gz")
    load(find([folder / "b.jsonl.gz"])[0])


def enter_saved_memory(name: str, folder: Path) -> None:
    record = {"format": 1, "memory": name, "state": {"task": [name, name, name]}}
    (folder / "m.json").write_text(json.dumps(record))
    open_memory(folder / "m.json")


def enter_checkpoint(name: str, folder: Path) -> None:
    pytest.importorskip("safetensors")
    pytest.importorskip("torch")
    from gym_memory.baselines.base import learner_classes
    from gym_memory.baselines.rl.players import load_player
    from gym_memory.core.tensors import write_tensors

    for baseline, learner in learner_classes().items():
        fields = dataclasses.fields(learner.settings_class)
        texts = {field.name: name for field in fields if isinstance(field.default, str)}
        record = {"baseline": baseline, "settings": texts, "learnt": {"names": [name]}}
        write_tensors(folder / "c.safetensors", {}, record)
        with pytest.raises(GymMemoryError):
            load_player(folder / "c.safetensors", learner)


def enter_story(name: str, folder: Path) -> None:
    pytest.importorskip("textworld")
    from textworld.generator.data import KnowledgeBase as KB

    from gym_memory.games.textworld.engine import load_game

    rules = {**KB.default().serialize(), "text_grammars_path": name}
    data = {"world": [], "infos": {}, "quests": [], "KB": rules, "objective": name}
    (folder / "game.json").write_text(json.dumps(data))
    load_game(folder / "game.json")


def enter_page(name: str, folder: Path) -> None:
    play = PlayDefaults(out=folder / "games")
    plain = {"env": "Cooking", "memory": "none", "seed": 0, "budget": 100}
    for part in ("env", "memory"):
        with pytest.raises(GymMemoryError):
            PlayedGame({**plain, part: name}, play, lambda message: None)
    assert not play.out.exists()


ENTRIES = [
    *(enter_memory, enter_environment, enter_policy, enter_protocol_and_plugin, enter_steps),
    *(enter_saved_memory, enter_checkpoint, enter_story, enter_page),
]


@pytest.mark.slow
@pytest.mark.parametrize("enter", ENTRIES, ids=lambda entry: entry.__name__)
def test_no_entry_imports_or_builds_what_it_names(
    enter: Callable[[str, Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    monkeypatch.syspath_prepend(trap)
    with listener() as server:
        for number, name in enumerate(set_trap(trap)):
            folder = tmp_path / f"{number}"
            folder.mkdir()
            with contextlib.suppress(GymMemoryError):
                enter(name.format(port=server.getsockname()[1]), folder)
        assert not knocked(server)
    assert sorted(path.name for path in trap.iterdir()) == [f"{CANARY}.py"]
    assert CANARY not in sys.modules


def test_trap_detects_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk above can fail: on the command line these names do what they say."""
    from gym_memory.memory.base import make_memory
    from gym_memory.wrappers.make import make_env

    monkeypatch.syspath_prepend(tmp_path)
    names = set_trap(tmp_path)
    with pytest.raises((GymMemoryError, TypeError)):
        make_env("Foreign", entry=f"{CANARY}:run")
    assert sys.modules.pop(CANARY)
    assert (tmp_path / "sang").exists()
    with watched() as seen:
        make_memory(names[5])
    assert seen
    assert (tmp_path / "loot" / "b.db").exists()


@pytest.mark.parametrize("name", sorted({*MEMORIES.names()} - {"oracle"}))
def test_memory_without_parameters_touches_no_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recorded(tmp_path / "a.jsonl.gz")
    file = tmp_path / "a.jsonl.gz"
    with watched() as seen:
        head, _ = load(Recording("0", file, 0, Job("", name, "", 0), None))
    assert head["note"] == (
        f"What the memory held was learnt again from the recorded steps, by {name}."
    )
    assert seen == []
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl.gz"]


def test_recorded_memory_is_learnt_again_with_its_default_settings(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    recorded(file)
    plain, given = (
        load(Recording("0", file, 0, Job("", memory, "", 0), None))
        for memory in ("history", f"history?window=1&store={tmp_path}/x.db")
    )
    assert given[0]["note"].endswith("by history with its default settings.")
    shown = [[beat.heavy["memory"] for beat in story.beats] for _, story in (plain, given)]
    assert shown[0] == shown[1]


def test_pages_may_start_our_games_with_plain_settings() -> None:
    ours = {name for name in ENVIRONMENTS.builtin() if name != "Foreign"}
    assert set(GAMES) == ours
    for spec in ("Cooking?level=hard&split=train&max_steps=5", "ScienceWorld?task=boil",
                 "NetHack?task=MiniHack-Room-5x5-v0", "ALFWorld?inventory=false"):  # fmt: skip
        assert check_game(spec) == spec


@pytest.mark.parametrize(
    "spec",
    [
        *("TextWorld?path=game.z8", "Cooking?level=/etc/passwd", "Cooking?level=..%2fx"),
        *("Cooking?level=a:b", "Cooking?memory=clin", "Cooking?recall=semantic", "Cooking?level="),
        *("Cooking?level=a%26path=b", "Cooking?level=http://x", "Cooking?level=" + "x" * 65),
    ],
)
def test_other_settings_are_refused(spec: str) -> None:
    with pytest.raises(UntrustedError, match="expected plain settings of a game from a page"):
        check_game(spec)


@pytest.mark.parametrize("spec", ["Foreign?entry=os:system", "FakeHouse", "os:system", "Cookin"])
def test_other_environments_are_refused(spec: str) -> None:
    with pytest.raises(UnknownNameError, match="unknown environment of a page"):
        check_game(spec)


@pytest.mark.parametrize("name", ["clin?k=1", "nothing", "", None, 3, ["clin"], {}])
def test_bare_names_alone_pass(name: object) -> None:
    assert check_bare(MEMORIES, "clin", "a memory", "a page") == "clin"
    with pytest.raises(UntrustedError, match=r"expected a memory .* in a page, got"):
        check_bare(MEMORIES, name, "a memory", "a page")
