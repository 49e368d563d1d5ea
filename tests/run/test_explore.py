"""Tree exploration: the beam, the limits, snapshots on real environments, refinement."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from gym_memory.baselines.scripted import Walkthrough
from gym_memory.cli import main
from gym_memory.core.errors import InvalidArgumentError, ResultsError
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation, Outcome, PlanState, Step, Task, Transition
from gym_memory.core.trajectory import Trajectory, read_trajectory
from gym_memory.memory.ldm2.memory import LDM2
from gym_memory.papers.explore import Exploration, explore
from gym_memory.papers.refine import RefineConfig, form, refine
from gym_memory.run import rollout
from gym_memory.testing.chat import ScriptedServer
from gym_memory.testing.fake_env import FAKE_ID
from gym_memory.wrappers import RecordTrajectory


class Bold:
    """Prefers actions in their order, the first with confidence 0.5, the next 0.25, ..."""

    def __init__(self, *, splits: bool = True, most: int = 3):
        self.splits, self.most = splits, most
        self.asked: list[tuple[str, ...]] = []
        self.focus = PlanState()
        self.past: list[str] = []

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        self.past = []

    def update(self, transition: Transition) -> None:
        self.past.append(transition.action)

    def candidates(self, obs: Observation) -> dict[str, float]:
        self.asked.append(tuple(self.past))
        # Not the same from step to step, so that paths differ.
        turned = len(self.past) % len(obs["valid_actions"])
        actions = obs["valid_actions"][turned:] + obs["valid_actions"][:turned]
        return {action: 0.5 ** (n + 1) for n, action in enumerate(actions[: self.most])}

    def disagree(self, obs: Observation) -> bool:
        return self.splits

    def snapshot(self) -> Any:
        return tuple(self.past)

    def restore(self, snapshot: Any) -> None:
        self.past = list(snapshot)


def house(steps: int = 5, memory: str = "history") -> gym.Env[Any, Any]:
    return gym.make(FAKE_ID, memory=memory, max_steps=steps)


def actions(process: Trajectory) -> tuple[str, ...]:
    return tuple(step.action for step in process.steps[1:])


def test_paths_keep_the_product_of_their_confidences() -> None:
    policy = Bold()
    found = explore(house(), policy, 0)
    assert len(found.leaves) == 4
    assert found.confidences == tuple(sorted(found.confidences, reverse=True))
    assert found.confidences[0] == 0.5**5
    assert actions(found.leaves[0]) == actions(found.greedy)
    assert len({actions(leaf) for leaf in found.leaves}) == 4
    assert found.whole
    assert found.splits > 0
    assert found.calls == len(policy.asked) == len(set(policy.asked)), "nothing is asked twice"


def test_a_process_can_be_played_again() -> None:
    """Snapshots lead back to the very state: text, score and rewards are those of a replay."""
    found = explore(house(6), Bold(), 3)
    for process in (found.greedy, *found.leaves):
        env = house(6)
        obs, info = env.reset(seed=3)
        assert process.steps[0].text == obs["text"]
        for step in process.steps[1:]:
            obs, reward, terminated, truncated, info = env.step(step.action)
            assert (step.text, step.reward, step.t) == (obs["text"], reward, info["moves"])
            assert step.done == (terminated or truncated)
        assert process.finished
        assert process.outcome.score == info["score"]


def test_exploring_is_deterministic_and_leaves_the_greedy_process_alone() -> None:
    def reported(found: Exploration) -> list[Any]:
        return [*map(actions, found.leaves), found.confidences, found.calls, found.steps]

    first, second = explore(house(), Bold(), 1), explore(house(), Bold(), 1)
    assert reported(first) == reported(second)
    narrow = explore(house(), Bold(splits=False), 1)
    assert actions(narrow.greedy) == actions(first.greedy)
    assert [actions(leaf) for leaf in narrow.leaves] == [actions(narrow.greedy)]
    assert narrow.splits == 0
    assert narrow.best is narrow.greedy
    assert narrow.steps == narrow.calls == 5


@pytest.mark.parametrize("limit", ["max_calls", "max_steps"])
def test_limits_hold_for_the_tree(limit: str) -> None:
    free = explore(house(), Bold(), 0)
    cut = explore(house(), Bold(), 0, **{limit: 3})
    assert not cut.whole
    assert actions(cut.greedy) == actions(free.greedy)
    beyond = cut.calls - 5 if limit == "max_calls" else cut.steps - 5
    assert beyond <= 3 + 4 * (limit == "max_steps"), "a row of steps is not broken off"
    assert explore(house(), Bold(), 0, width=1).leaves[0].steps == free.leaves[0].steps


def test_the_best_leaf_wins() -> None:
    task, low, high = Task("t", "g"), Outcome(1, 2, 0.5), Outcome(2, 2, 1.0, True)
    steps = (Step(0, "a"), Step(1, "b", "x", 1.0))
    greedy, best = Trajectory(0, task, steps, low, True), Trajectory(1, task, steps, high, True)
    assert Exploration(greedy, (greedy, best), (0.5, 0.1), 1, 1, 1, True).best is best
    assert Exploration(best, (greedy, best), (0.5, 0.1), 1, 1, 1, True).best is best
    equal = best._replace(outcome=low, steps=steps[:1])
    assert Exploration(greedy, (equal,), (0.5,), 1, 1, 1, True).best is greedy


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="candidates"):
        explore(house(), object(), 0)  # type: ignore[arg-type]
    for wrong in ({"width": 0}, {"max_calls": -1}, {"max_steps": True}):
        with pytest.raises(InvalidArgumentError, match=next(iter(wrong))):
            explore(house(), Bold(), 0, **wrong)  # type: ignore[arg-type]


# ---------------------------------------------------------------- formation and refinement


@pytest.fixture(scope="module")
def demonstrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return three walkthroughs: too few to know all preparations."""
    path = tmp_path_factory.mktemp("demos") / "few.jsonl.gz"
    env = RecordTrajectory(
        gym.make("gym_memory/Cooking-v0", level="rl-2", split="train", memory="none"), str(path)
    )
    for seed in range(3):
        rollout(env, Walkthrough(), seed)
    env.close()
    return path


def test_batches_are_formed_once(demonstrations: Path, tmp_path: Path) -> None:
    memory = f"ldm2?store={tmp_path / 'tuples.db'}&batch_size=2"
    played = list(read_trajectory(demonstrations))
    reported: list[tuple[int, int]] = []
    first = form(memory, played[:2])
    assert first.batches == (0,)
    second = form(memory, played, lambda done, total: reported.append((done, total)))
    assert second.batches == (0, 1), "the first batch was there"
    assert reported == [(0, 3), (2, 3), (3, 3)]
    assert form(memory, played).stats().lessons == second.stats().lessons
    with pytest.raises(InvalidArgumentError, match="STORE"):
        form(f"ldm2?store={demonstrations}", played)
    with pytest.raises(InvalidArgumentError, match="STORE"):
        form("history", played)


def test_refinement_adds_the_steps_that_improved_a_process(
    demonstrations: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = f"ldm2?store={tmp_path / 'tuples.db'}"
    main_ok("ldm2", "form", str(demonstrations), "-m", memory)
    before = LDM2(store=str(tmp_path / "tuples.db")).stats().lessons
    assert f"the store has {before} tuples" in capsys.readouterr().out
    with ScriptedServer() as server:
        llm = Spec.of("openai", {"model": "scripted", "base_url": server.base_url})
        words = ["ldm2", "refine", "-e", "Cooking?level=rl-2&split=train&max_steps=30"]
        words += ["-m", memory, "-p", Spec.of("ldm2", {"llm": llm}), "--seeds", "22,23"]
        words += ["--max-calls", "150", "--out", str(tmp_path / "out"), "--json"]
        main_ok(*words)
        received = server.received
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        main_ok(*words)
        assert server.received == received, "explored tasks are not explored again"
    again = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert again == rows
    after = LDM2(store=str(tmp_path / "tuples.db")).stats().lessons
    assert after == before + sum(row["added"] for row in rows)
    assert rows[0]["best"] > rows[0]["greedy"]
    assert rows[0]["added"] > 0
    assert sum(row["counters"]["llm_calls"] for row in rows) == received
    assert all(row["failed"] == "" for row in rows)
    with pytest.raises(ResultsError, match="width"):
        refine(
            RefineConfig(
                "Cooking?level=rl-2&max_steps=30&split=train", memory, "ldm2", (22,), width=2
            ),
            tmp_path / "out",
        )


def main_ok(*words: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 0


def test_task_that_cannot_be_explored_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Bold):
        def candidates(self, obs: Observation) -> dict[str, float]:
            raise RuntimeError("out of ideas")

    monkeypatch.setattr("gym_memory.papers.refine.make_policy", lambda _: Broken())
    config = RefineConfig(
        "FakeHouse?max_steps=3", f"ldm2?store={tmp_path / 't.db'}", "ldm2", (0, 1)
    )
    rows = refine(config, tmp_path / "out")
    assert [row.failed for row in rows] == ["RuntimeError: out of ideas"] * 2
    assert refine(config, tmp_path / "out") == rows
    monkeypatch.setattr("gym_memory.papers.refine.make_policy", lambda _: Bold(most=1))
    again = refine(config, tmp_path / "out", retry_failed=True)
    assert [row.failed for row in again] == ["", ""]
    assert all(row.steps == 3 and row.added == 0 for row in again)
    assert refine(config, tmp_path / "out") == again


class Guide(Bold):
    """Would rather look around than go on with the solution of house 0."""

    def __init__(self) -> None:
        super().__init__()
        env = house()
        env.reset(seed=0)
        self.solution = list(env.get_wrapper_attr("oracle")().walkthrough)

    def candidates(self, obs: Observation) -> dict[str, float]:
        done = len(self.past)
        if self.past != self.solution[:done]:
            return {"look": 1.0}
        return {"look": 0.5, self.solution[done]: 0.5}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.parametrize("taken_in", [False, True])
def test_kill_during_refinement_changes_nothing(
    taken_in: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def config(store: str) -> RefineConfig:
        path = tmp_path / f"{store}.db"
        return RefineConfig("FakeHouse?max_steps=12", f"ldm2?store={path}", "ldm2", (0,), width=12)

    monkeypatch.setattr("gym_memory.papers.refine.make_policy", lambda _: Guide())
    undisturbed = refine(config("undisturbed"), tmp_path / "undisturbed")
    assert undisturbed[0].best > undisturbed[0].greedy
    assert undisturbed[0].added > 0

    child = os.fork()
    if not child:
        take_in = LDM2.refine

        def killed(memory: LDM2, better: Trajectory, worse: Trajectory) -> int:
            if taken_in:
                take_in(memory, better, worse)
            os.kill(os.getpid(), signal.SIGKILL)
            return 0

        LDM2.refine = killed  # type: ignore[method-assign]
        try:
            refine(config("killed"), tmp_path / "killed")
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL

    monkeypatch.setattr("gym_memory.papers.refine.explore", None)
    assert refine(config("killed"), tmp_path / "killed") == undisturbed
    known, same = (
        LDM2(store=str(tmp_path / f"{store}.db")).state()["tuples"]
        for store in ("undisturbed", "killed")
    )
    assert same == known
    assert {p.name for p in (tmp_path / "killed").iterdir()} == {"config.json", "explored.jsonl"}
