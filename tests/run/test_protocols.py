"""Protocols: numbers of episodes, their tasks, and results."""

from __future__ import annotations

from typing import Any

import pytest
import run_plugin  # noqa: F401 - registers the policies used here

from gym_memory.baselines.scripted import Random
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.memory.history import History
from gym_memory.run import EpisodeResult, rollout
from gym_memory.run.config import Job
from gym_memory.run.play import Listener, play_job
from gym_memory.run.protocols import RestartBudget, make_protocol
from gym_memory.run.results.score import score_by_trial, units
from gym_memory.testing.chat import ScriptedServer


def job(protocol: str, policy: str = "greedy", env: str = "FakeHouse", seed: int = 0) -> Job:
    return Job(env, "history", policy, seed, protocol)


def test_single_episode_plays_once() -> None:
    (row,) = play_job(job("single_episode", "walkthrough"))
    assert row.result.success
    assert row.trial == 0


def test_trials_keep_environment_policy_and_task() -> None:
    rows = list(play_job(job("trials?k=3", seed=4)))
    assert [row.trial for row in rows] == [0, 1, 2]
    assert {row.result.task_id for row in rows} == {"fakehouse/train/4"}
    # The policy fails its first trial and knows so in the second.
    assert [row.result.success for row in rows] == [False, True, True]
    assert [row.result.cost_usd for row in rows] == [0.25, 0.25, 0.25]
    summary = make_protocol("trials?k=3").summarize([row.result for row in rows])
    assert (summary.score, summary.success) == (1.0, True)


def test_trials_keep_memory_and_clear_episode_layers() -> None:
    class Watch(Listener):
        memories: list[Any] = []  # noqa: RUF012

        def step(self, trial: int, t: int, info: dict[str, Any]) -> None:
            if t == 0:
                self.memories.append(info["memory_stats"])

    list(play_job(job("trials?k=2"), Watch()))
    assert [stats.episodes for stats in Watch.memories] == [1, 1]


def test_later_trials_of_a_random_policy_are_no_replays() -> None:
    first, second = play_job(job("trials?k=2", "random", "FakeHouse?max_steps=200", 2))
    assert first.result.curve != second.result.curve or first.result.steps != second.result.steps


def test_restart_budget_spends_it_and_stops_at_a_win() -> None:
    rows = list(play_job(job("restart_budget?steps=120", "sleepy?delay=0")))
    assert [row.result.steps for row in rows] == [50, 50, 20]
    rows = list(play_job(job("restart_budget?steps=120")))
    assert [row.result.success for row in rows] == [False, True]


def test_restart_budget_counts_the_best_life() -> None:
    def life(steps: int, *curve: tuple[int, float], success: bool = False) -> EpisodeResult:
        return EpisodeResult(steps=steps, curve=curve, normalized=curve[-1][1], success=success)

    lives = [
        life(10, (0, 0.0), (4, 0.5), (9, 0.25)),
        life(20, (0, 0.0), (3, 0.25), (6, 0.75)),
        life(5, (0, 0.0)),
    ]
    summary = RestartBudget(35).summarize(lives)
    assert summary == (0.75, False, 35, ((0, 0.0), (4, 0.5), (16, 0.75)))


def test_game_that_is_over_at_once_does_not_loop() -> None:
    protocol = RestartBudget(10)
    played = list(protocol.episodes(lambda limit=None: EpisodeResult(steps=0)))
    assert len(played) == 1


@pytest.mark.parametrize("spec", ["trials?k=0", "trials?k=true", "restart_budget?steps=x"])
def test_wrong_numbers_are_refused(spec: str) -> None:
    with pytest.raises(InvalidArgumentError, match="expected"):
        make_protocol(spec)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'trials'"):
        make_protocol("trial")
    with pytest.raises(UnknownNameError, match="parameter of protocol 'trials'"):
        make_protocol("trials?n=3")


def test_error_ends_the_job_and_names_task_and_step() -> None:
    rows = list(play_job(job("trials?k=4", "bad?at=2&seed=0")))
    assert len(rows) == 1
    result = rows[0].result
    assert result.failed == "ZeroDivisionError: a mistake over two lines"
    assert "run_plugin.py" in result.detail
    assert (result.task_id, result.steps) == ("fakehouse/train/0", 2)
    assert (result.normalized, result.success) == (0.0, False)


def test_trials_before_the_error_are_kept() -> None:
    rows = list(play_job(job("trials?k=4", "bad?seed=0&trial=2")))
    assert [bool(row.result.failed) for row in rows] == [False, False, True]
    assert [row.trial for row in rows] == [0, 1, 2]
    rows = list(play_job(Job("FakeHouse?nothing=1", "none", "random", 0)))
    assert rows[0].result.failed.startswith("UnknownNameError: unknown parameter")


def test_life_cut_by_the_budget_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report the end of the last life to the memory, too."""
    ended: list[int] = []
    monkeypatch.setattr(History, "end", lambda _, outcome: ended.append(outcome.steps))
    rows = list(play_job(job("restart_budget?steps=120", "sleepy?delay=0")))
    assert ended == [row.result.steps for row in rows] == [50, 50, 20]


def test_won_trial_can_end_the_job() -> None:
    won = list(play_job(job("trials?k=4&stop=true", seed=4)))
    assert [row.result.success for row in won] == [False, True]
    failing = list(play_job(job("trials?k=4&stop=true", "sleepy?delay=0")))
    assert len(failing) == 4
    first, *later = [mean for mean, _ in score_by_trial(units([*won, *failing]))]
    assert later == [0.5] * 3
    assert first < 0.5


def test_the_best_of_several_processes_counts() -> None:
    results = [row.result for row in play_job(job("best_of?k=3", seed=4))]
    assert [result.success for result in results] == [False, True]
    summary = make_protocol("best_of?k=3").summarize(results[::-1])
    assert (summary.score, summary.success) == (1.0, True)
    assert summary.steps == sum(result.steps for result in results)


def test_a_model_chooses_among_processes(server: ScriptedServer) -> None:
    agent = f"ldm2?model=scripted&base_url={server.base_url}"
    rows = list(play_job(job("best_of?chooser=model&k=2", agent, "FakeHouse?max_steps=3")))
    *played, chosen = [row.result for row in rows]
    assert len(played) == 2
    number = int(chosen.counters["chosen"])
    assert chosen.value == played[number - 1].value
    assert chosen.counters["llm_calls_choose"] == 1
    assert chosen.models == ("scripted",)
    summary = make_protocol("best_of?chooser=model&k=2").summarize([*played, chosen])
    assert (summary.score, summary.steps) == (chosen.value, sum(r.steps for r in played))
    (refused,) = play_job(job("best_of?chooser=model"))
    assert "a policy that chooses" in refused.result.failed


def life(steps: int, *curve: tuple[int, float]) -> EpisodeResult:
    return EpisodeResult(steps=steps, curve=curve, normalized=curve[-1][1])


def test_tales_counts_the_best_end_of_a_life() -> None:
    summary = make_protocol("tales").summarize(
        [life(60, (0, 0.0), (9, 0.6), (60, 0.2)), life(40, (0, 0.0))]
    )
    assert (summary.score, summary.steps) == (0.2, 100)
    rows = list(play_job(job("tales?steps=70", "sleepy?delay=0")))
    assert [row.result.steps for row in rows] == [70]


def test_evotest_is_the_area_under_the_curve_of_trials() -> None:
    summary = make_protocol("evotest").summarize(
        [life(110, (0, 0.0), (9, 0.5)), life(20, (0, 0.1))]
    )
    assert (summary.score, summary.steps) == (0.3, 130)
    rows = list(play_job(job("evotest?k=3&steps=5", "sleepy?delay=0")))
    assert [(row.trial, row.result.steps) for row in rows] == [(0, 5), (1, 5), (2, 5)]


@pytest.mark.parametrize(
    ("spec", "listed"),
    [("tales", False), ("tales?actions=true", True), ("evotest", False), ("interactions", True),
     ("interactions?actions=false", False)],
)  # fmt: skip
def test_protocol_decides_whether_actions_are_listed(spec: str, listed: bool) -> None:
    env = job(spec).make_env()
    assert bool(env.reset(seed=0)[0]["valid_actions"]) is listed
    steps = {"tales": 100, "evotest": 110, "interactions": 1000}
    assert env.unwrapped.max_steps == steps[spec.partition("?")[0]]


def test_a_setting_that_a_protocol_fixes_cannot_be_another() -> None:
    (row,) = play_job(job("tales", env="FakeHouse?max_steps=30"))
    assert "max_steps" in row.result.failed


class Returning(Random):
    """Go back to the start after every third step."""

    name = "returning"

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        super().reset(info, seed)
        self.kept, self.steps, self.seen = None, 0, []

    def back(self) -> Any:
        return self.kept if self.steps % 3 == 0 else None

    def act(self, obs: Any, info: dict[str, Any]) -> str:
        if self.kept is None and self.keep_state is not None:
            self.kept = self.keep_state()
        self.steps += 1
        self.seen.append((info["moves"], obs["text"]))
        return super().act(obs, info)


@pytest.mark.parametrize(("protocol", "moves"), [("interactions?steps=7", 3), ("tales?steps=7", 7)])
def test_only_some_protocols_let_a_policy_go_back(protocol: str, moves: int) -> None:
    policy, spec = Returning(), make_protocol(protocol)
    env = job(protocol).make_env()
    (result,) = spec.episodes(lambda **kwargs: rollout(env, policy, 0, **kwargs))
    assert result.steps == 7
    assert [move for move, _ in policy.seen] == [step % moves for step in range(7)]
    assert len({text for move, text in policy.seen if not move}) == 1
