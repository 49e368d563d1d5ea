"""The explorer: states told apart, an archive that is gone back to, trials that get better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_memory.baselines.rules.archive import Archive, Cell
from gym_memory.baselines.rules.explorer import Explorer, state_of
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import format_spec
from gym_memory.core.records import Observation, Triple
from gym_memory.run.jobs import Job, play_job
from gym_memory.run.protocols import make_protocol
from gym_memory.testing.chat import Faults, ScriptedServer
from gym_memory.testing.fake_env import register_fake

register_fake()
ZORK = Path(__file__).parents[3] / "shared" / "data" / "stories" / "zork1.z3"


def seen(*facts: tuple[str, str, str], **more: Any) -> Observation:
    obs = {"text": "", "task": "", "inventory": "", "valid_actions": (), "memory": ""}
    triples = tuple(Triple(*fact) for fact in facts)
    return {**obs, "triples": triples, "episodes": (), "lessons": (), **more}  # type: ignore[typeddict-item]


HERE = ("you", "is in", "hall")


def test_a_state_is_the_place_what_is_there_and_what_is_carried() -> None:
    hall = seen(HERE, ("lamp", "is in", "hall"))
    assert state_of(hall) == state_of(seen(HERE, ("lamp", "is in", "hall"), text="Hall"))
    assert state_of(hall) != state_of(seen(HERE))
    assert state_of(hall) != state_of(seen(HERE, ("lamp", "is in", "hall"), inventory="a key"))
    assert state_of(hall) == state_of(
        seen(
            HERE, ("lamp", "is in", "hall"), ("den", "is east of", "hall"), ("cup", "is in", "den")
        )
    )


def test_without_facts_the_listed_actions_tell_states_apart() -> None:
    assert state_of(seen(text="A", valid_actions=("go",))) == state_of(
        seen(text="B", valid_actions=("go",))
    )
    assert state_of(seen(text="A")) != state_of(seen(text="B"))


def cell(key: int, *options: str, score: float = 0.0, unread: frozenset[str] = frozenset()) -> Cell:
    made = Cell("hall", options, unread)
    made.reach((), (key,), score, None)
    return made


def test_a_state_is_worth_its_trajectories_and_what_is_untried() -> None:
    archive = Archive(k=2)
    low, high, stuck, done = cell(1, "a"), cell(2, "b"), cell(3, "c"), cell(4)
    unread = cell(5, "north", unread=frozenset({"north"}))
    for key, one in enumerate((low, high, stuck, done, unread), 1):
        archive.add(key, one, "")
    assert archive.promise(unread) == 2 * archive.promise(low)
    archive.finish(10.0, (2, 3))
    assert archive.promise(high) > archive.promise(low)
    assert archive.promise(stuck) == 2 * archive.promise(high)
    assert archive.promise(done) == 0
    risky = cell(6, "x", "y")
    before = archive.promise(risky)
    archive.take(risky, "x")
    archive.die(risky, "x")
    assert 0 < archive.promise(risky) < before / 4


def test_the_frontier_keeps_the_best_trajectories() -> None:
    archive = Archive(k=2)
    for best, trail in ((1.0, (1,)), (5.0, (2, 3)), (3.0, (4,)), (5.0, (2, 3, 6))):
        archive.finish(best, trail)
    assert [(t.best, t.trail) for t in archive.frontier] == [(5.0, (2, 3, 6)), (3.0, (4,))]


def test_what_gained_points_at_a_similar_text_is_tried_first() -> None:
    archive = Archive(k=1)
    archive.note(frozenset({"window", "house"}), "enter", 10.0)
    archive.finish(10.0, (1,))
    look, enter = archive.weights(cell(2, "look", "enter"), frozenset({"window", "open"}), {})
    assert enter > look
    less, more = archive.weights(cell(3, "x", "y"), frozenset(), {("", "y"): 10.0})
    assert more > less


@pytest.mark.parametrize("restore", ["snapshot", "replay"])
def test_going_back_is_counted(restore: str) -> None:
    job = Job("FakeHouse", "arigraph", f"explorer?restore={restore}", 0, "interactions?steps=150")
    rows = [row.result for row in play_job(job)]
    counts = rows[-1].counters
    assert (counts["restored"] > 0) is (restore == "snapshot")
    assert (counts["replayed"] > 0, counts["restarted"] > 0) == (restore == "replay",) * 2
    assert sum(row.steps for row in rows) <= 150
    again = [row.result for row in play_job(job)]
    assert [(row.steps, row.curve, row.counters) for row in again] == [
        (row.steps, row.curve, row.counters) for row in rows
    ]


@pytest.mark.parametrize("memory", ["arigraph", "none"])
@pytest.mark.parametrize("seed", range(4))
def test_a_house_is_won_by_exploring(seed: int, memory: str) -> None:
    spec = "interactions?steps=250"
    rows = [row.result for row in play_job(Job("FakeHouse", memory, "explorer", seed, spec))]
    assert rows[-1].success


def test_trials_get_better_without_going_back() -> None:
    spec = "evotest?k=8&steps=25&actions=true"
    rows = [row.result for row in play_job(Job("FakeHouse", "arigraph", "explorer", 1, spec))]
    assert [row.failed for row in rows] == [""] * 8
    assert not any(row.counters["restored"] for row in rows)
    half = len(rows) // 2
    assert sum(r.value for r in rows[half:]) > sum(r.value for r in rows[:half])
    assert make_protocol(spec).summarize(rows).score == pytest.approx(
        sum(r.value for r in rows) / len(rows)
    )


def test_another_task_starts_with_an_empty_archive() -> None:
    policy = Explorer()
    policy.reset({"task_id": "one"})
    policy.archive.finish(1.0, (1,))
    policy.reset({"task_id": "one"})
    assert policy.archive.frontier
    policy.reset({"task_id": "two"})
    assert not policy.archive.frontier


@pytest.mark.parametrize("bad", [{"frontier": 0}, {"patience": 0}, {"restore": "walk"}])
def test_bad_settings_are_named(bad: dict[str, Any]) -> None:
    with pytest.raises((InvalidArgumentError, UnknownNameError), match=next(iter(bad))):
        Explorer(**bad)


@pytest.mark.slow
@pytest.mark.skipif(not ZORK.exists(), reason=f"no {ZORK.name}")
def test_zork_gives_points_within_300_interactions() -> None:
    job = Job(f"Jericho?path={ZORK}", "none", "explorer", 1, "interactions?steps=300")
    (row,) = play_job(job)
    best = max(value for _, value in row.result.curve) * row.result.max_score
    assert best >= 10


@pytest.mark.slow
def test_a_model_plays_all_three_roles() -> None:
    with ScriptedServer() as server:
        llm = format_spec("openai", {"model": "scripted", "base_url": server.base_url})
        spec = format_spec("glow", {"llm": llm, "patience": 1})
        (row,) = play_job(Job("FakeHouse", "arigraph", spec, 0, "interactions?steps=60"))
    result = row.result
    assert result.failed == ""
    assert result.counters["restored"] > 0
    assert result.counters["fallbacks"] == 0
    for role in ("react", "glow_states", "glow_notes"):
        assert result.counters[f"llm_calls_{role}"] > 0


@pytest.mark.slow
def test_without_a_usable_answer_the_most_promising_state_is_chosen() -> None:
    with ScriptedServer(faults=Faults(rates={"unasked_text": 1.0})) as server:
        llm = format_spec("openai", {"model": "scripted", "base_url": server.base_url})
        spec = format_spec("glow", {"llm": llm, "patience": 3})
        (row,) = play_job(Job("FakeHouse", "none", spec, 0, "interactions?steps=20"))
    assert row.result.failed == ""
    assert row.result.counters["fallbacks"] > 0
