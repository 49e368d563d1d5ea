"""Published experiments that train before they test: formation and refinement of a part."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_memory.cli import options
from gym_memory.cli.ldm2 import prepare
from gym_memory.memory.ldm2.memory import LDM2
from gym_memory.papers.comparison import Comparison
from gym_memory.papers.experiments import PaperExperiment, load_experiment
from gym_memory.run.config import RunConfig
from gym_memory.testing.chat import ScriptedServer
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers import RecordTrajectory

ENV = "FakeHouse?max_steps=4"


def part(name: str, path: Path, **stages: object) -> Comparison:
    config = RunConfig((ENV,), (f"ldm2?learn=false&store={path}",), ("ldm2",), (0,))
    return Comparison(name, config, {}, **stages)  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder in which the part ``demos`` was played and its last episode lost."""
    env = RecordTrajectory(FakeHouse(), str(tmp_path / "demos" / "steps" / "a.jsonl.gz"))
    for seed in range(3):
        env.reset(seed=seed)
        walk = env.get_wrapper_attr("oracle")().walkthrough
        for action in walk if seed < 2 else walk[:1]:
            env.step(action)
    env.close()
    return tmp_path


def tuples(path: Path) -> int:
    return LDM2(store=str(path)).stats().lessons


def test_a_part_is_formed_then_refined_from_a_copy(folder: Path) -> None:
    store, refined = folder / "store.db", folder / "refined.db"
    for _ in range(2):  # going on changes nothing
        prepare(part("initial", store, form=("demos",)), folder, options.Playing())
    assert tuples(store) == tuples(folder / "demos" / "steps" / "a.jsonl.gz") - 1, "wins alone"
    with ScriptedServer() as server:
        policy = f"ldm2?model=scripted&base_url={server.base_url}"
        stage = {"envs": [ENV], "policy": policy, "seeds": "0:1"}
        for _ in range(2):
            prepare(part("refined", refined, refine=stage), folder, options.Playing())
        received = server.received
        prepare(part("refined-2", refined, refine=stage), folder, options.Playing())
        assert server.received == received > 0
    assert tuples(refined) >= tuples(store)
    assert (folder / "refined-refinement-1" / "explored.jsonl").exists()


@pytest.mark.parametrize("name", ["clin-table1", "ldm2-table1", "ldm2-table2"])
def test_folder_keeps_the_input_of_later_parts(name: str, tmp_path: Path) -> None:
    experiment: PaperExperiment = load_experiment(name)
    parts = experiment.plan({"model": "m"}, memory_llm=True, folder=tmp_path)
    kept = [m for p in parts for m in p.config.memories if "store=" in m]
    assert kept
    assert all(str(tmp_path) in memory for memory in kept)
    assert any(not p.cells for p in parts), "a part that only teaches is in no table"
    for p in parts:
        assert p.refine is None or "model" in p.refine["policy"]
