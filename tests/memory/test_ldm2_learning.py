"""LDM2: refinement, lifetimes, files, the language model, speed."""

from __future__ import annotations

import gzip
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from ldm2_games import (
    GOOD,
    LOST,
    POOR,
    actions,
    dump,
    formed,
    hunt,
    meal,
    outcome,
    play,
    process,
    shown,
    tuples,
)
from work import calls

from gym_memory.core.errors import (
    InvalidArgumentError,
    ResultsError,
    StoreError,
    UnknownNameError,
)
from gym_memory.core.records import Cue, Step, Task
from gym_memory.llm.client import OpenAIChat
from gym_memory.memory.ldm2.formation import LONGEST
from gym_memory.memory.ldm2.index import (
    Example,
)
from gym_memory.memory.ldm2.memory import LDM2
from gym_memory.memory.stores.store import Store
from gym_memory.testing.chat import Faults, ScriptedServer
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers import RecordTrajectory

# ---------------------------------------------------------------- refinement


def learnt(memory: LDM2) -> list[str]:
    return [e[-1] for a in memory.state()["tuples"] for e in a["entries"]]


def test_refine_adds_tuples_after_the_first_difference() -> None:
    memory = LDM2()
    assert memory.refine(POOR, GOOD) == 0
    assert memory.refine(GOOD, GOOD) == 0
    assert memory.refine(GOOD, POOR) == 3
    memory.begin(meal().task, 0)
    assert learnt(memory) == ["take key", "unlock chest", "look"]
    first = Example(*memory.state()["tuples"][0]["entries"][0][2:])
    assert first.observation == "You are in a vault. A key lies here."
    assert first.history.endswith("Summary: go east"), "the history is that of the whole process"


def test_refined_tuples_join_the_types_there_are() -> None:
    memory = formed(hunt("red"), hunt("blue", 1), meal(), batch_size=3)
    kinds = {entry[0] for entry in memory.state()["tuples"][0]["entries"]}
    memory.refine(GOOD, POOR)
    (addition,) = memory.state()["tuples"][1:]
    assert addition["batch"] == 0
    assert {entry[0] for entry in addition["entries"]} <= kinds
    assert addition["processes"] == [], "the one known scored as high"
    assert "unlock chest" in actions(memory, GOOD, 2)


def test_better_episode_is_learnt() -> None:
    memory = LDM2()
    play(memory, POOR._replace(outcome=LOST, steps=tuple(s._replace(reward=0) for s in POOR.steps)))
    assert learnt(memory) == []
    play(memory, POOR)
    assert learnt(memory) == ["go east", "look", "take key"], "the first one whole"
    play(memory, POOR)
    assert len(learnt(memory)) == 3
    play(memory, GOOD)
    assert learnt(memory)[3:] == ["take key", "unlock chest"], "until its last rewarded step"
    play(memory, POOR)
    assert len(learnt(memory)) == 5


def test_long_pages_are_kept_whole() -> None:
    page = "You see a shelf. " + "There is a cup on it. " * 400
    memory = formed(process(GOOD.task, ("", page, 0.0), ("take cup", "You take the cup.", 1.0)))
    (example,) = shown(memory, process(GOOD.task, ("", page, 0.0)))
    assert example.observation == page.strip()


def test_an_endless_episode_is_not_learnt() -> None:
    memory = LDM2()
    memory.begin(GOOD.task, 0)
    for t in range(LONGEST + 1):
        memory.observe(Step(t, "A hall.", "wait" if t else "", float(t == LONGEST)))
    assert len(memory.state()["trace"]) == LONGEST
    memory.end(outcome(2))
    assert learnt(memory) == []


def test_capacity_limits_the_tuples() -> None:
    memory = LDM2(capacity=4, lifetime="forever")
    play(memory, POOR)
    assert tuples(memory) == 3
    play(memory, GOOD)
    play(memory, meal())
    assert tuples(memory) == 3


def test_a_new_goal_gets_a_type_of_its_own() -> None:
    memory = LDM2(lifetime="forever")
    play(memory, GOOD)
    play(memory, meal())
    kinds = [{e[0] for e in addition["entries"]} for addition in memory.state()["tuples"]]
    assert len(kinds) == 2
    assert kinds[0].isdisjoint(kinds[1])
    assert actions(memory, meal("ham"), 0)[0] == "wash egg in sink"


# ---------------------------------------------------------------- lifetimes and state


@pytest.mark.parametrize(
    ("lifetime", "same_task", "same_goal", "other"),
    [("trial", 3, 0, 0), ("task", 3, 3, 0), ("forever", 3, 3, 3), (None, 3, 3, 0)],
)
def test_lifetime_decides_what_is_cleared(
    lifetime: str | None, same_task: int, same_goal: int, other: int
) -> None:
    for task, kept in (
        (POOR.task, same_task),
        (POOR.task._replace(id="hunt/10"), same_goal),
        (meal().task, other),
    ):
        memory = formed(meal("ham"), lifetime=lifetime)
        play(memory, POOR)
        assert tuples(memory) == 2 + 3
        memory.begin(task, 0)
        assert tuples(memory) == 2 + kept, "what was formed stays"


def test_state_keeps_batches_apart(tmp_path: Path) -> None:
    memory = formed(meal("ham"))
    play(memory, POOR)
    memory.save(tmp_path / "memory.json")
    other = LDM2()
    other.load(tmp_path / "memory.json")
    assert dump(other) == dump(memory)
    assert actions(other, POOR) == actions(memory, POOR)
    other.begin(meal().task, 0)
    assert tuples(other) == 2


def test_a_snapshot_shares_the_tuples_and_keeps_them() -> None:
    memory = formed(*(hunt(c, n) for n, c in enumerate("abc")))
    memory.begin(GOOD.task, 0)
    snapshot, state = memory.snapshot(), dump(memory)
    assert snapshot[0][0] is memory.snapshot()[0][0]
    twin = memory.fork()
    memory.form([meal()])
    play(memory, meal("ham"))
    assert dump(twin) == state
    play(twin, POOR)
    memory.restore(snapshot)
    assert dump(memory) == state


# ---------------------------------------------------------------- files


def test_a_store_outlives_the_memory(tmp_path: Path) -> None:
    path = str(tmp_path / "tuples.db")
    first = LDM2(store=path)
    first.form([hunt("red"), hunt("blue", 1)])
    play(first, meal())
    assert first.lifetimes["tuples"] == "forever"
    second = LDM2(store=path)
    assert second.state()["tuples"] == first.state()["tuples"]
    assert actions(second, meal("ham")) == actions(first, meal("ham"))
    # Each takes in at its next episode what the other has learnt.
    play(first, process(Task("s", "buy sandals"), ("", "shop", 0.0), ("search[a]", "list", 1.0)))
    assert tuples(second) + 1 == tuples(first)
    second.begin(hunt().task, 0)
    assert tuples(second) == tuples(first)
    second.form([meal("fish")])
    first.begin(hunt().task, 0)
    assert tuples(first) == tuples(second)
    assert len(Store(path).records("ldm2")) == 4


WRITER = """
import sys
from gym_memory.memory.ldm2.memory import LDM2
from gym_memory.core.trajectory import Trajectory
from gym_memory.core.records import Outcome, Step, Task
memory = LDM2(store=sys.argv[1])
for n in range(10):
    steps = (Step(0, f"a place {sys.argv[2]} {n}"), Step(1, "yes", f"do {sys.argv[2]} {n}", 1.0))
    won = Outcome(1.0, 1.0, 1.0, True, False, 1)
    memory.form([Trajectory(0, Task("t", "win"), steps, won, True)])
memory.begin(Task("t", "win"), 0)
print(memory.stats().lessons)
"""


@pytest.mark.slow
def test_two_processes_on_one_store(python: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "tuples.db")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: python(WRITER, path, name), ("one", "two")))
    found = sorted(learnt(LDM2(store=path)))
    assert found == sorted(f"do {name} {n}" for name in ("one", "two") for n in range(10))


def recorded(path: Path, episodes: int) -> None:
    env = RecordTrajectory(FakeHouse(), str(path))
    for seed in range(episodes):
        env.reset(seed=seed)
        for action in env.get_wrapper_attr("oracle")().walkthrough:
            env.step(action)
    env.close()


def test_recordings_are_formed(tmp_path: Path) -> None:
    recorded(tmp_path / "a.jsonl.gz", 2)
    recorded(tmp_path / "b.jsonl.gz", 1)
    one = LDM2(store=str(tmp_path / "a.jsonl.gz"))
    both = LDM2(store=str(tmp_path))
    assert 8 <= tuples(one) <= tuples(both)
    assert [len(a["entries"]) for a in both.state()["tuples"]] == [sum(
        len(walk) for seed in (0, 1, 0) for walk in [_walkthrough(seed)]
    )]  # fmt: skip
    assert LDM2(store=str(tmp_path), batch_size=1).batches == (0, 1, 2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jsonl.gz", "b.jsonl.gz"]


def _walkthrough(seed: int) -> tuple[str, ...]:
    env = FakeHouse()
    env.reset(seed=seed)
    return env.oracle().walkthrough


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl.gz"
    broken.write_bytes(gzip.compress(b'{"episode": 0}\n'))
    with pytest.raises(ResultsError, match=r"broken\.jsonl\.gz"):
        LDM2(store=str(broken))
    with pytest.raises(ResultsError, match=r"absent\.jsonl\.gz"):
        LDM2(store=str(tmp_path / "absent.jsonl.gz"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoreError, match="empty"):
        LDM2(store=str(tmp_path / "empty"))
    other = tmp_path / "other.db"
    other.write_text("some text that is no database " * 40)
    with pytest.raises(StoreError, match=r"other\.db"):
        LDM2(store=str(other))
    store = Store(tmp_path / "wrong.db")
    store.add("ldm2", "library", "addition", {"batch": "?"})
    with pytest.raises(StoreError, match=r"tuples of LDM2 .*wrong\.db"):
        LDM2(store=store.place)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"batch_size": 0}, InvalidArgumentError),
        ({"examples": True}, InvalidArgumentError),
        ({"capacity": 1.5}, InvalidArgumentError),
        ({"batch": "all"}, InvalidArgumentError),
        ({"learn": 1}, InvalidArgumentError),
        ({"store": None}, InvalidArgumentError),
        ({"encoder": ""}, InvalidArgumentError),
        ({"lifetime": "episode"}, UnknownNameError),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        LDM2(**arguments)


# ---------------------------------------------------------------- the language model


ROLES = ("subgoals", "past", "cluster", "classify", "compare")


def test_a_model_plays_the_roles(server: ScriptedServer) -> None:
    before = {role: server.served[role] for role in ROLES}

    def asked() -> dict[str, int]:
        return {role: server.served[role] - before[role] for role in ROLES}

    memory = LDM2(llm=OpenAIChat("scripted", server.base_url, retries=0))
    memory.form([hunt("red"), hunt("blue", 1), meal()])
    # 8 actions, 3 of them the first ones, which have no past; goals, then observations by type.
    assert asked() == {"subgoals": 8, "past": 5, "cluster": 3, "classify": 0, "compare": 0}
    kinds = {entry[0] for entry in memory.state()["tuples"][0]["entries"]}
    assert kinds == {"find", "wash"}, "types are named by the model"
    assert actions(memory, hunt("green"), 2)[0].startswith("unlock")
    assert asked() == {"subgoals": 11, "past": 7, "cluster": 3, "classify": 4, "compare": 0}
    recall = memory.recall(Cue(hunt("green").steps[2].text, hunt("green").task.goal), 300)
    assert "Summary: take green key, then go east" in recall.text
    assert memory.refine(GOOD, POOR) == 3
    assert asked()["compare"] == 1
    stats = memory.stats()
    assert (stats.extraction_calls, stats.fallbacks) == (sum(asked().values()), 0)
    count = stats.extraction_calls
    memory.recall(Cue("elsewhere"), 300)
    assert memory.stats().extraction_calls == count, "a recall asks nothing"


def test_rules_replace_a_failing_model() -> None:
    with ScriptedServer(faults=Faults(rates={"500": 1.0})) as broken:
        memory = LDM2(llm=OpenAIChat("scripted", broken.base_url, retries=0))
        plain = LDM2()
        for taught in (memory, plain):
            taught.form([hunt("red"), meal()])
            taught.refine(GOOD, POOR)
        assert memory.state()["tuples"] == plain.state()["tuples"]
        assert actions(memory, hunt("green"), 0) == actions(plain, hunt("green"), 0)
        stats = memory.stats()
        assert stats.fallbacks == stats.extraction_calls > 0


# ---------------------------------------------------------------- speed


@pytest.mark.slow
def test_a_step_among_thousands_of_tuples() -> None:
    chance = random.Random(0)
    names = [f"{a}{b}" for a in ("oak", "tin", "red", "old", "wet") for b in range(400)]
    games = [hunt(f"{chance.choice(names)} {chance.choice(names)}", n) for n in range(1000)]
    memory = formed(*games)
    assert tuples(memory) > 2900
    shown(memory, hunt("gold"), 2)

    def play() -> None:
        for number in range(10):
            game = hunt(f"gold{number}")
            memory.begin(game.task, 0)
            for step in game.steps:
                memory.observe(step)
                assert memory.recall(Cue(step.text, game.task.goal), 1000).lessons

    assert calls(play) / 40 < 2_500
