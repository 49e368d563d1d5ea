"""What is recorded of a memory, and the story that a page tells of it."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from gym_memory.core.errors import InvalidArgumentError, ResultsError
from gym_memory.core.records import Cue, PlanState, Reason, Reasons, Step, Task, Triple
from gym_memory.core.trajectory import read_rows, read_trajectory
from gym_memory.draw.page import table
from gym_memory.graph import TemporalGraph
from gym_memory.llm import logged_calls
from gym_memory.memory.base import make_memory
from gym_memory.run.compare import compare
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.play import play_job
from gym_memory.testing.chat import ScriptedServer
from gym_memory.testing.fake_env import FAKE_ID
from gym_memory.viewer.recordings import Recording, choose, find, head_of, load
from gym_memory.viewer.server import run_rows
from gym_memory.viewer.story import CHUNK, Story, build_story
from gym_memory.wrappers.record import RecordTrajectory, StepDetail

pytestmark = pytest.mark.slow

SPECS = ("arigraph", "arigraph?recall=semantic&encoder=hash", "stma", "rag", "history", "none")


def played(path: Path, memory: str, **options: Any) -> Iterator[tuple[RecordTrajectory, Any]]:
    """Walk through the fake house with a recorder; yields after the reset and every step."""
    env = RecordTrajectory(
        gym.make(FAKE_ID, memory=memory, max_steps=25), str(path), **{"detail": True, **options}
    )
    obs, _ = env.reset(seed=3)
    yield env, obs
    for number in range(20):
        valid = obs["valid_actions"]
        obs, _, terminated, truncated, _ = env.step(valid[(number * 7) % len(valid)])
        yield env, obs
        if terminated or truncated:
            break
    env.close()


def live_at(story: Story, t: int) -> set[Triple]:
    return {
        Triple(fact["s"], fact["r"], fact["o"])
        for fact in story.facts
        if any(a <= t and (b is None or t < b) for a, b, _ in fact["when"])
    }


@pytest.mark.parametrize("memory", SPECS)
def test_story_equals_the_memory_and_its_recalls(tmp_path: Path, memory: str) -> None:
    path = tmp_path / "a.jsonl.gz"
    recalled, graph = [], None
    for env, obs in played(path, memory):
        recalled.append(obs)
        graph = env.get_wrapper_attr("memory").graph
    story = build_story(read_rows(path))
    assert len(story.beats) == len(recalled)
    for t, (beat, obs) in enumerate(zip(story.beats, recalled, strict=True)):
        facts = [story.facts[n] for n in beat.heavy["recalled"]]
        assert [(f["s"], f["r"], f["o"]) for f in facts] == [tuple(f) for f in obs["triples"]]
        assert beat.heavy["memory"] == obs["memory"]
        assert tuple(beat.heavy["episodes"]) == obs["episodes"]
        if isinstance(graph, TemporalGraph):
            assert live_at(story, t) == set(graph.as_of(t))
        else:
            assert live_at(story, t) == set(obs["triples"])
    json.dumps(story.light())
    assert sum(len(story.chunk(n)) for n in range(story.n_chunks)) == len(story.beats)
    assert story.n_chunks == -(-len(story.beats) // CHUNK)


@pytest.mark.parametrize("memory", SPECS[:2])
def test_every_recalled_fact_has_a_reason(tmp_path: Path, memory: str) -> None:
    path = tmp_path / "a.jsonl.gz"
    list(played(path, memory))
    for row in read_rows(path):
        assert sum(run[0] for run in row["why"]) == len(row["recalled"])
        for _, why, score, way in row["why"]:
            assert why
            if "similar" in why:
                assert -1 <= score <= 1
                assert way
    if "semantic" in memory:
        paths = [len(way) for row in read_rows(path) for *_, way in row["why"]]
        assert max(paths) == 2  # depth 2: a query, and a name that it led to


def test_reasons_need_no_new_model_calls(server: ScriptedServer) -> None:
    """Show reasons without new calls of the model, which cost."""
    llm = f"openai?model=scripted&base_url={server.base_url}"
    memory = make_memory("arigraph?recall=semantic&encoder=hash")
    asked = type(memory)(recall="semantic", encoder="hash", llm=llm)  # type: ignore[call-arg]
    asked.begin(Task("a", "find the key"), 0)
    with logged_calls() as calls:
        asked.observe(Step(0, "-= Kitchen =-\nYou are in a kitchen. You can see a key."))
        cue = Cue("You are in a kitchen.", "find the key")
        recall = asked.recall(cue, 500)
        before = len(calls)
        assert before
        reasons = asked.reasons(cue, 500)
        assert len(calls) == before
    assert len(reasons.triples) == len(recall.triples)


def test_replay_explains_equation_1(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    list(played(path, "arigraph?recent=0"))
    scores = [
        [run[2] for run in row["why_episodes"] for _ in range(run[0])]
        for row in read_rows(path)
        if "why_episodes" in row
    ]
    assert scores
    for found in scores:
        assert found == sorted(found, reverse=True)
        assert all(score > 0 for score in found)


def test_rows_without_detail_are_learnt_again(tmp_path: Path) -> None:
    plain, full = tmp_path / "plain.jsonl.gz", tmp_path / "full.jsonl.gz"
    list(played(plain, "arigraph", detail=False, valid_actions=True))
    list(played(full, "arigraph"))
    stories = []
    for file in (plain, full):
        head, story = load(Recording("0", file, 0, Job("", "arigraph", "", 0), None))
        stories.append(story)
        assert ("learnt again" in head["note"]) == (file == plain)
    again, recorded = stories
    assert [fact["when"] for fact in again.facts] == [fact["when"] for fact in recorded.facts]
    for a, b in zip(again.beats, recorded.beats, strict=True):
        assert a.heavy["memory"] == b.heavy["memory"]
        assert a.heavy["why"] == b.heavy["why"]
    head, story = load(Recording("0", plain, 0, Job("", "oracle", "", 0), None))
    assert "cannot be learnt again" in head["note"]
    assert story.beats[0].heavy["text"]
    # The rows are what they were to all other readers.
    assert [e.steps for e in read_trajectory(plain)] == [e.steps for e in read_trajectory(full)]


def test_earlier_trials_are_learnt_again_too(tmp_path: Path) -> None:
    plain, full = tmp_path / "plain.jsonl.gz", tmp_path / "full.jsonl.gz"
    for file in (plain, full):
        env = gym.make(FAKE_ID, memory="reflexion")
        env = RecordTrajectory(env, str(file), valid_actions=True, detail=file == full)
        for plan in (("go east", "look"), ("look",)):
            env.reset(seed=0)
            for action in plan:
                env.step(action)
        env.close()
    job = Job("", "reflexion", "", 0)
    (_, again), (_, kept) = (load(Recording("0", f, 1, job, None)) for f in (plain, full))
    lessons = [[list(beat.heavy["lessons"]) for beat in story.beats] for story in (again, kept)]
    assert lessons[0] == lessons[1]
    assert '"go east"' in lessons[0][0][0]


def test_a_lost_episode_and_contents_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    env = RecordTrajectory(gym.make(FAKE_ID, memory="none"), str(path))
    env.reset(seed=0)
    *way, _, _, _ = env.get_wrapper_attr("oracle")().walkthrough
    for action in (*way, "eat apple"):
        env.step(action)
    env.close()
    rows = list(read_rows(path))
    text = "This room is called the kitchen. In it, you see: \n\ta bowl (containing an orange)"
    rows[0] |= {"dialect": "scienceworld", "text": text}
    path.write_bytes(gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in rows)))
    _, story = load(Recording("0", path, 0, Job("", "arigraph", "", 0), None))
    assert story.beats[-1].light["end"] == "lost"
    kinds = {fact["o"]: fact["kind"] for fact in story.facts if fact["s"] == "bowl"}
    assert kinds == {"orange": "holds"}


def test_undone_steps_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    env = RecordTrajectory(gym.make(FAKE_ID, memory="arigraph"), str(path), detail=True)
    obs, _ = env.reset(seed=0)
    for number in range(3):
        obs, *_ = env.step(obs["valid_actions"][number])
    kept = env.snapshot()
    for number in range(4):
        obs, *_ = env.step(obs["valid_actions"][-1 - number % len(obs["valid_actions"])])
    obs, _ = env.restore(kept)
    for number in (1, 0, 2):
        obs, *_ = env.step(obs["valid_actions"][number])
    graph = env.get_wrapper_attr("memory").graph
    env.close()
    story = build_story(read_rows(path))
    assert [beat.light["t"] for beat in story.beats] == list(range(7))
    for t in range(7):
        assert live_at(story, t) == set(graph.as_of(t)), t


def test_prompts_and_answers_are_recorded(tmp_path: Path, server: ScriptedServer) -> None:
    path = tmp_path / "a.jsonl.gz"
    policy = f"react?model=scripted&base_url={server.base_url}"
    (row,) = play_job(Job("FakeHouse?max_steps=6", "arigraph", policy, 0), record=str(path))
    assert not row.result.failed
    story = build_story(read_rows(path))
    calls = [call for beat in story.beats for call in beat.heavy["calls"]]
    counters = row.result.counters
    assert len(calls) == counters["llm_calls"] > 0
    assert sum(b.light["prompt"] for b in story.beats) == counters["llm_prompt_tokens"]
    assert sum(b.light["completion"] for b in story.beats) == counters["llm_completion_tokens"]
    assert not story.beats[0].heavy["calls"]
    first = story.beats[1]
    # The prompt that led to the action shows what was seen before it.
    assert story.beats[0].heavy["text"].split("\n")[0] in str(first.heavy["calls"][0]["messages"])
    assert first.heavy["calls"][0]["answer"]


def test_list_of_runs_counts_the_tokens_of_models(tmp_path: Path, server: ScriptedServer) -> None:
    policy = f"react?model=scripted&base_url={server.base_url}"
    config = RunConfig(("Fetch?level=easy&max_steps=3",), ("none",), (policy,), (0,))
    (row,) = compare(config, tmp_path / "run", workers=1)
    (listed,) = run_rows(find([tmp_path / "run"]))
    counters = row.result.counters
    used = counters["llm_prompt_tokens"] + counters["llm_completion_tokens"]
    assert listed["tokens"] == used > 0


def test_recorder_without_memory_records_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    env = RecordTrajectory(gym.make("FakeHouseRaw-v0"), str(path), detail=True)
    obs, _ = env.reset(seed=0)
    env.step(obs["valid_actions"][0])
    env.close()
    story = build_story(read_rows(path))
    assert not story.facts
    assert story.beats[1].heavy["valid_actions"]


def test_rows_of_another_kind_are_named() -> None:
    with pytest.raises(ResultsError, match="got none"):
        build_story([])
    with pytest.raises(ResultsError, match="expected the rows"):
        build_story([{"t": 0}])


def test_words_choose_an_episode(tmp_path: Path) -> None:
    recordings = [
        Recording(str(n), tmp_path, trial, Job("Cooking?level=hard", memory, "planner", seed), None)
        for n, (memory, seed, trial) in enumerate(
            [("none", 1, 0), ("arigraph", 10, 0), ("arigraph", 1, 1), ("arigraph", 1, 0)]
        )
    ]
    assert choose(recordings, "arigraph seed 1").key == "2"
    assert choose(recordings, "arigraph seed=1 trial=1").key == "3"
    assert choose(recordings, "hard none").key == "0"
    assert choose(recordings, "3").key == "3"
    with pytest.raises(InvalidArgumentError, match="0: Cooking"):
        choose(recordings, "arigraph seed 2")


def test_keys_stay_when_runs_are_added(tmp_path: Path) -> None:
    def play(name: str) -> Path:
        file = tmp_path / name / "steps.jsonl.gz"
        file.parent.mkdir()
        list(play_job(Job("FakeHouse?max_steps=2", "none", "random", 0), record=str(file)))
        return file

    late = play("b")
    (key,) = (recording.key for recording in find([late]))
    early = play("a")
    keys = [recording.key for recording in find([early, late])]
    assert keys[1] == key
    assert len(set(keys)) == 2
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", key) for key in keys)


def test_a_folder_lists_its_recordings(tmp_path: Path, runs: Path) -> None:
    assert find([]) == []
    with pytest.raises(ResultsError, match="not a results folder"):
        find([tmp_path])
    shutil.copytree(runs, tmp_path / "run")
    whole = find([tmp_path])
    assert len(whole) == 4
    whole[0].file.unlink()
    assert find([tmp_path]) == whole[1:]


def test_a_note_on_a_recalled_fact_is_recorded() -> None:
    detail = StepDetail(None)
    fact = Triple("key", "opens", "locker")
    reasons = Reasons((Reason("was read", note="said by the porter"), Reason("here")))
    shown = {"triples": (fact, Triple("you", "is in", "hall")), "valid_actions": ()}
    row = detail.of(shown, None, PlanState(), reasons)
    assert row["why"] == [[1, "was read", None, [], "said by the porter"], [1, "here", None, []]]


def test_head_of_a_replay_names_no_server() -> None:
    job = Job("Fetch", "arigraph", "react?base_url=http://localhost:8000/v1&model=m", 0)
    assert head_of(Recording("0", Path("steps"), 0, job, None))["policy"] == "react?model=m"


def test_interval_in_a_table_is_one_word() -> None:
    shown = table(["memory", "score"], [("a, b", "0.50 [0.40, 0.60]")], numbers=["score"])
    assert "<td>a, b</td>" in shown
    assert ">0.50 [0.40,&nbsp;0.60]<" in shown
