"""Replays without items: exact, repeatable, and without a trace in memory or engine."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("textworld")

from gym_memory.baselines.base import Policy, make_policy
from gym_memory.cli import main as command_line
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Cue, Recall, Triple
from gym_memory.core.trajectory import read_rows
from gym_memory.evaluate.credit import by_item, credit, rule_errors
from gym_memory.graph import TemporalGraph
from gym_memory.memory.recall.features import FactFeatures, fact_features
from gym_memory.run import rollout
from gym_memory.run.config import Job
from gym_memory.run.play import play_job
from gym_memory.run.replays import Replays, without
from gym_memory.wrappers.make import make_env
from gym_memory.wrappers.record import RecordTrajectory

HOUSE = {"path": "generated", "split": "train"}


class Follower(Policy):
    """Wins if the first observation's facts hold one of ``wanted``, else looks around."""

    uses_oracle = True

    def __init__(self, wanted: int):
        self.wanted = wanted

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        self.plan: list[str] | None = None

    def act(self, obs: Any, info: dict[str, Any]) -> str:
        if self.plan is None:
            known = [t for t in obs["triples"] if t.relation == "has unexplored exit"]
            self.plan = list(self.oracle().walkthrough) if len(known) >= self.wanted else []
        return self.plan.pop(0) if self.plan else "look"


def hunt(**more: Any) -> Any:
    return make_env("TreasureHunt", level="easy", memory="arigraph", max_steps=40, **more)


def exits(worths: Any) -> list[Any]:
    return [w for w in worths if "has unexplored exit" in w.text]


@pytest.mark.slow
def test_facts_that_only_help_together_are_each_worth_win() -> None:
    env = hunt()
    replays = Replays(env, Follower(2), 3, step=0)
    assert replays.whole.success
    worths = replays.worths(("fact",), alone=True, samples=6)
    two = exits(worths)
    assert [(w.score, w.alone) for w in two] == [(1.0, 0.0), (1.0, 0.0)]
    assert all(w.steps < 0 for w in two), "they save steps, too"
    others = [w for w in worths if w not in two]
    assert others
    assert {w.score for w in others} == {0.0}
    none = replays.without(frozenset(w.key for w in worths))
    assert sum(w.shapley for w in worths) == pytest.approx(replays.whole.value - none.value)


@pytest.mark.slow
def test_leave_one_out_misses_redundant_items() -> None:
    worths = exits(Replays(hunt(), Follower(1), 3, step=0).worths(alone=True, samples=20))
    assert [(w.score, w.alone) for w in worths] == [(0.0, 1.0), (0.0, 1.0)]
    assert sum(w.shapley for w in worths) == pytest.approx(1.0)
    assert all(0 < w.shapley < 1 for w in worths)


@pytest.mark.slow
def test_replays_from_a_snapshot_and_from_the_reset_agree() -> None:
    whole = Replays(hunt(), make_policy("planner"), 3)
    later = Replays(hunt(), make_policy("planner"), 3, step=4)
    assert later.whole.value == whole.whole.value
    assert later.whole.steps == whole.whole.steps - 4
    with pytest.raises(InvalidArgumentError, match="expected step as one before the end"):
        Replays(hunt(), make_policy("planner"), 3, step=400)


def stream(memory: str, path: str = "") -> Any:
    env = make_env("ALFWorld", memory=memory, budget=2000, **HOUSE)
    if path:
        env = RecordTrajectory(env, path, detail=True)
    policy = make_policy("learner")
    played = [*credit(env, policy, range(20), demonstrated=14, kinds=("lesson",), samples=1)]
    return env, played


@pytest.mark.slow
def test_a_credited_stream_repeats_and_plays_as_without_replays() -> None:
    env, first = stream("memrl?inner=history")
    _, second = stream("memrl?inner=history")
    rows = [episode.to_json() for episode in first]
    assert rows == [episode.to_json() for episode in second]
    json.dumps(rows)
    plain = make_env("ALFWorld", memory="memrl?inner=history", budget=2000, **HOUSE)
    for seed in range(14):
        rollout(plain, make_policy("walkthrough"), seed)
    for episode in first:
        result = rollout(plain, make_policy("learner"), episode.seed)
        assert (result.value, result.steps) == (episode.result.value, episode.result.steps)
    memories = [e.get_wrapper_attr("memory") for e in (env, plain)]
    assert memories[0].state() == memories[1].state(), "replays leave no trace"
    assert any(worth.score for episode in first for worth in episode.worths)
    assert {error.items for error in rule_errors([first])} == {len(by_item(first))}


@pytest.mark.slow
def test_exact_utility_follows_the_replays() -> None:
    env, played = stream("memrl?inner=history&utility=exact&alpha=1")
    bank = env.get_wrapper_attr("memory").state()["bank"]
    utilities = {payload[10]: payload[8] for payload in bank[1:]}
    last = {w.key.name: w.score for episode in played for w in episode.worths}
    assert last
    assert {id: utilities[id] for id in last if id in utilities} == {
        id: score for id, score in last.items() if id in utilities
    }
    job = Job("ALFWorld?path=generated", "memrl?utility=exact", "learner", 0, "trials?k=2")
    assert [row.result.failed for row in play_job(job)] == ["", ""], "jobs replay by themselves"
    fresh = make_env("ALFWorld", memory="memrl?utility=exact", max_steps=1, **HOUSE)
    fresh.reset(seed=0)
    with pytest.raises(InvalidArgumentError, match="expected replays for utility='exact'"):
        fresh.step("look")


@pytest.mark.slow
def test_worths_are_recorded_beside_the_recall(tmp_path: Any) -> None:
    from gym_memory.core.trajectory import read_rows
    from gym_memory.viewer.recordings import find, load

    file = tmp_path / "steps.jsonl.gz"
    env, played = stream("memrl?inner=history", str(file))
    env.close()
    noted = [row for row in read_rows(file) if "why_lessons" in row]
    assert noted
    assert noted[0]["why_lessons"][0][4].startswith("worth ")
    number = noted[0]["episode"]
    _, story = load(find([file])[number])
    assert story.beats[0].heavy["why_lessons"] == noted[0]["why_lessons"]
    assert len(played) == 6


def test_recall_loses_an_item_in_text_and_parts_alike() -> None:
    text = "Learnt:\n1. Do a.\n2. Do b.\npan: is in den; is hot\n"
    text += "[step 3] > look\nA den.\n[step 4]\nA hall."
    facts = (Triple("pan", "is in", "den"), Triple("pan", "is", "hot"))
    recall = Recall(text, facts, ("A den.", "A hall."), ("1. Do a.", "2. Do b."))
    less = without(recall, [False, True], [True, False], [False, True])
    assert less.text == "Learnt:\n1. Do a.\npan: is in den\n[step 4]\nA hall."
    assert less[1:] == ((facts[0],), ("A hall.",), ("1. Do a.",))
    listed = Recall("[pan, is in, den]\n[pan, is, hot]", facts)
    assert without(listed, [True, False], [], []).text == "[pan, is, hot]"


@pytest.mark.slow
def test_killed_credit_leaves_no_half_episode(tmp_path: Path) -> None:
    """Neither show nor continue what it had recorded."""
    words = ["credit", "-e", "Fetch?max_steps=3", "-p", "random", "--kinds", "lesson"]
    words += ["--out", str(tmp_path)]
    script = Path(sys.executable).with_name("gym-memory")
    process = subprocess.Popen([script, *words, "--seeds", "0:10000"], stderr=subprocess.DEVNULL)
    try:
        while not sum(path.stat().st_size for path in tmp_path.glob("*steps*")):
            assert process.poll() is None
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    assert not (tmp_path / "steps.jsonl.gz").exists()
    with pytest.raises(SystemExit, match="0"):
        command_line([*words, "--seeds", "0:2", "--json"])
    rows = list(read_rows(tmp_path / "steps.jsonl.gz"))
    assert [row["t"] for row in rows] == [0, 1, 2, 3] * 2
    assert list(tmp_path.glob("*.tmp")) == []


@pytest.mark.slow
def test_export_has_a_row_an_item_with_features_of_facts(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra export")
    file = tmp_path / "items.parquet"
    words = ["credit", "-e", "Fetch?max_steps=6", "-p", "random", "--seeds", "0"]
    with pytest.raises(SystemExit, match="0"):
        command_line([*words, "--most", "4", "--export", str(file), "--json"])
    rows = parquet.read_table(file).to_pylist()
    assert len(rows) == 4
    facts = [row for row in rows if row["kind"] == "fact"]
    assert [row for row in rows if row["relation"] is None] == [r for r in rows if r not in facts]
    assert {row["item"].split(", ")[1] for row in facts} == {row["relation"] for row in facts}
    assert all(row["moves"] >= -1 and 0 <= row["age"] <= 6 and row["rank"] >= 0 for row in facts)


def test_features_have_place_and_mentions_of_a_fact() -> None:
    graph = TemporalGraph()
    for t, line in enumerate(
        ("you | is in | hall", "attic | is north of | hall", "pan | is in | attic")
    ):
        graph.add(Triple(*line.split(" | ")), t)
    pan, gone = Triple("pan", "is in", "attic"), Triple("jar", "is", "open")
    found = fact_features(graph, Cue("A hall.", focus="fetch the pan"), (gone, pan), t=5)
    assert found[pan] == FactFeatures("is in", 1, 1, 3, True, False, False, False, False)
    assert (found[gone].moves, found[gone].age) == (-1, -1)
