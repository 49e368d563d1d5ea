"""Tasks of a test that training also has: found by content, and warned of."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from gym_memory.cli.train import Arena
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec, specs
from gym_memory.core.records import Oracle
from gym_memory.games.base import ENVIRONMENTS, Feedback
from gym_memory.memory.base import make_memory
from gym_memory.panels.digests import content_of
from gym_memory.panels.env import make_world
from gym_memory.panels.leaks import find_leaks, panels_with
from gym_memory.panels.panel import Panel, PanelTask
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.play import mixtures, play_job, training_mixtures
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.train.trl import task_rows


@pytest.mark.slow
def test_same_task_under_another_name_is_found() -> None:
    pytest.importorskip("textworld", reason="needs the extra textworld")
    train, valid = (Spec(f"Cooking?level=rl-1&split={split}") for split in ("train", "valid"))
    draft = Panel("draft", "", (PanelTask(valid, "cooking/rl-1/valid/0"),))
    env = make_world(draft, train)
    obs, _ = env.reset(options={"task_id": "cooking/rl-1/train/1"})
    content = content_of(env, obs)
    for known, shared in (
        (content, (("asked", "cooking/rl-1/valid/0", "cooking/rl-1/train/1"),)),
        ("0" * 12, ()),
    ):
        panel = Panel("asked", "", (PanelTask(valid, "cooking/rl-1/valid/0", (), known),))
        found = {r.world.kwargs["split"]: r for r in find_leaks([panel], 2)}
        assert (found["train"].tasks, found["train"].shared) == (2, shared)


class BlindHouse(FakeHouse):
    """A house in three variants, of which neither facts nor a solution are known."""

    splits = ("train", "valid", "test")

    def _open(self, task_id: str) -> Feedback:
        head, _, number = task_id.rpartition("/")
        return super()._open(f"{head}/{int(number) % 3 * 3}")

    def goal(self) -> str:
        return "Explore."

    def oracle(self) -> Oracle:
        return Oracle(frozenset(), ())


def test_tasks_that_begin_alike_are_compared_further(
    monkeypatch: pytest.MonkeyPatch, panel_of: Callable[[Spec, str], Panel]
) -> None:
    monkeypatch.setitem(ENVIRONMENTS.loaded, "BlindHouse", BlindHouse)
    panel = panel_of(Spec("BlindHouse?split=test"), "asked")
    panel = dataclasses.replace(panel, tasks=panel.tasks[2:3])
    train, valid = find_leaks([panel])
    assert (train.tasks, train.alike, valid.alike) == (8, 8, 2)
    same = [other for _, own, other in (*train.shared, *valid.shared)]
    assert same == [*(f"fakehouse/train/{n}" for n in (0, 3, 6)), "fakehouse/valid/9"]


def test_panel_of_a_task_is_found() -> None:
    ids = [f"cooking/medium/held_out/{n}" for n in range(3)]
    assert panels_with("Cooking?level=medium", ids) == {"cooking-medium": 3}
    assert panels_with("Cooking?level=medium", ["cooking/medium/train/0"]) == {}


def test_training_on_a_panel_is_warned_of() -> None:
    pytest.importorskip("textworld", reason="needs the extra textworld")
    assert [*training_mixtures("Cooking?level=medium", "train", "training")] == []
    (warning,) = training_mixtures("Cooking?level=medium", "held_out", "valid")
    assert "20 of the valid games are those of panel:cooking-medium" in warning
    with pytest.raises(InvalidArgumentError, match="a panel is for tests"):
        Arena("panel:cooking-medium", "none", 100, "valid", 9)
    with pytest.warns(UserWarning, match="holds test tasks: give its rows as eval_dataset"):
        assert len(task_rows("panel:cooking-medium")) == 20


def test_run_that_learns_on_its_panel_is_warned_of(panel_file: str) -> None:
    env = Spec.of("Panel", {"panel": panel_file})
    for memory, warned in (("memp?store=x.db", 1), ("memp?learn=false&store=x.db", 0), ("memp", 0)):
        config = RunConfig((env,), specs((memory,)), specs(("random",)), (0,))
        assert len([*mixtures(config)]) == warned


def test_run_of_panel_and_its_world_is_warned_of() -> None:
    pytest.importorskip("textworld", reason="needs the extra textworld")
    envs = specs(("panel:cooking-medium", "Cooking?level=medium&split=held_out"))
    config = RunConfig(envs, specs(("none",)), specs(("random",)), (0,))
    (warning,) = mixtures(config)
    assert "20 tasks of panel:cooking-medium are also in Cooking?level=medium" in warning


@pytest.mark.parametrize("left_out", [False, True])
def test_recalls_of_very_task_are_counted_and_left_out(left_out: bool) -> None:
    protocol = f"stream?again=2&leave_one_task_out={str(left_out).lower()}&shown=0&tasks=2"
    env = Spec("FakeHouse?max_steps=6")
    rows = [*play_job(Job(env, Spec("exprecent"), Spec("walkthrough"), 0, Spec(protocol)))]
    assert not any(row.result.failed for row in rows)
    learnt, again = rows[0].result.counters, rows[2].result.counters
    assert (learnt["recalls_of_task"], again["recalls"] > 0) == (0, True)
    assert again["recalls_of_task"] == (0 if left_out else again["recalls"])


def test_memory_without_origins_cannot_leave_tasks_out() -> None:
    protocol = Spec("stream?leave_one_task_out=true&shown=0&tasks=2")
    job = Job(Spec("FakeHouse"), Spec("history"), Spec("random"), 0, protocol)
    (row,) = play_job(job)
    assert "expected a memory of experience for leave_one_task_out" in row.result.failed
    assert make_memory("history").name in row.result.failed
