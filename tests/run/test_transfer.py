"""CLIN's experiments: training, tests, and the unchanged archive."""

from __future__ import annotations

from pathlib import Path

import pytest
import run_plugin  # noqa: F401 - registers FakeHouse in this process

from gym_memory.cli import main
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.memory.stores.store import Store
from gym_memory.papers.transfer import SETUPS, trained_on, transfer
from gym_memory.run.config import RunConfig
from gym_memory.run.play import play_job

CONFIG = RunConfig(("FakeHouse?split=test",), ("clin",), ("learner",), (0, 1))


@pytest.mark.parametrize("setup", sorted(SETUPS))
def test_plans(setup: str, tmp_path: Path) -> None:
    sources = ("FakeHouse?max_steps=9&split=train",) if setup == "gen-task" else ()
    runs = transfer(setup, CONFIG, tmp_path / "a.db", sources=sources, train_seeds=(3, 4), trials=2)
    assert list(runs) == (["test"] if setup == "adapt" else ["train", "test"])
    test = runs["test"]
    assert (test.envs, test.seeds) == (CONFIG.envs, CONFIG.seeds)
    several = "trials?k=2&stop=true"
    assert test.protocol == (several if setup in ("adapt", "gen-adapt") else "single_episode")
    if setup == "adapt":
        assert test.memories == ("clin",)
        return
    train = runs["train"]
    assert train.envs == (sources or ("FakeHouse?split=train",))
    assert (train.seeds, train.protocol) == ((3, 4), several)
    assert "use=write" in train.memories[0]
    assert "use=read" in test.memories[0]


def test_other_task_is_learnt_in_the_tested_environment(tmp_path: Path) -> None:
    tested = RunConfig(
        ("ScienceWorld?split=clin&task=find-living-thing",), ("clin",), ("learner",), (4, 7)
    )
    sources = ("ScienceWorld?split=clin&task=find-plant",)
    assert transfer("gen-task", tested, tmp_path / "a.db", sources=sources)["train"].seeds == (4, 7)
    assert len(transfer("gen-env", tested, tmp_path / "a.db")["train"].seeds) == 10


def test_wrong_experiments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="gen-env"):
        transfer("gen_env", CONFIG, tmp_path / "a.db")
    for setup, sources in (("gen-task", ()), ("adapt", ("FakeHouse",))):
        with pytest.raises(InvalidArgumentError, match="train on"):
            transfer(setup, CONFIG, tmp_path / "a.db", sources=sources)
    other = RunConfig(CONFIG.envs, ("history",), CONFIG.policies, (0,))
    with pytest.raises(UnknownNameError, match="history"):
        transfer("gen-env", other, tmp_path / "a.db")
    assert trained_on(Spec("Cooking")) == "Cooking?split=train"


@pytest.mark.slow
def test_testing_starts_from_the_archive_and_leaves_it(tmp_path: Path) -> None:
    archive = tmp_path / "archive.db"
    runs = transfer("gen-env", CONFIG, archive, train_seeds=(0, 1), trials=2)
    for job in runs["train"].jobs():
        assert not any(row.result.failed for row in play_job(job))
    held = Store(archive).records("clin")
    assert {record.payload["task"] for record in held} == {
        "fakehouse/train/0",
        "fakehouse/train/1",
    }
    lessons = []
    for job in runs["test"].jobs():
        env = job.make_env()
        _, info = env.reset(seed=job.seed)
        lessons.append(info["memory_stats"].lessons)
        env.close()
        assert not any(row.result.failed for row in play_job(job))
    assert min(lessons) > 0
    assert Store(archive).records("clin") == held


@pytest.mark.slow
def test_command_plays_a_transfer_experiment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["transfer", "gen-adapt", "-e", "Cooking?level=rl-1&split=test&max_steps=5"]
    words += ["-p", "learner", "--seeds", "0", "--train-seeds", "0:2", "--trials", "2"]
    words += ["--workers", "1", "--out", str(tmp_path / "out"), "--json"]
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert "use=read" in line
    assert sorted(p.name for p in (tmp_path / "out").glob("*/episodes.jsonl")) == [
        "episodes.jsonl",
        "episodes.jsonl",
    ]
