"""LDM2: formation, the two-level index, retrieval, refinement, lifetimes, the language model."""

from __future__ import annotations

import gzip
import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work import calls

from gym_memory.core.errors import (
    InvalidArgumentError,
    ResultsError,
    StoreError,
    UnknownNameError,
)
from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.core.trajectory import Trajectory
from gym_memory.llm.client import OpenAIChat
from gym_memory.memory.base import count_tokens
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.ldm2.formation import LONGEST, choose, evaluate, summarize
from gym_memory.memory.ldm2.index import (
    Addition,
    EncodedTypes,
    Example,
    IndexedExample,
    Library,
    NearestType,
    pending,
)
from gym_memory.memory.ldm2.memory import LDM2
from gym_memory.memory.roles.base import Subgoal
from gym_memory.memory.stores.store import Store
from gym_memory.testing.chat import Faults, ScriptedServer
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers import RecordTrajectory

KEYS = "Find the {} key. Unlock the {} chest."
COOK = "Wash the {0} in the sink, then heat the {0} with the microwave."
LOST = Outcome(0.0, 2.0, 0.0, False, True, 3)


def outcome(score: float, steps: int = 3) -> Outcome:
    return Outcome(score, 2.0, score / 2, score == 2, False, steps)


def process(task: Task, *played: tuple[str, str, float], score: float = 2.0) -> Trajectory:
    """A trajectory from (action, answer, reward), the first of them the reset observation."""
    steps = tuple(Step(t, text, a, r) for t, (a, text, r) in enumerate(played))
    return Trajectory(0, task, steps, outcome(score, len(steps) - 1), True)


def hunt(color: str = "red", number: int = 0) -> Trajectory:
    return process(
        Task(f"hunt/{number}", KEYS.format(color, color)),
        ("", f"You are in a hall. A {color} key lies on the floor.", 0.0),
        (f"take {color} key", f"You pick up the {color} key.", 1.0),
        ("go east", f"You are in a vault. A {color} chest is locked.", 0.0),
        (f"unlock {color} chest with {color} key", f"You unlock the {color} chest.", 1.0),
    )


def meal(food: str = "egg", number: int = 0) -> Trajectory:
    return process(
        Task(f"meal/{number}", COOK.format(food)),
        ("", f"You are in a kitchen. You see a sink and a microwave. You hold the {food}.", 0.0),
        (f"wash {food} in sink", f"You wash the {food} in the sink.", 1.0),
        (f"heat {food} with microwave", f"You heat the {food} with the microwave.", 1.0),
    )


def walkthroughs(split: str) -> list[Trajectory]:
    """The fake house's own solutions."""
    played = []
    for number in range({"train": 8, "test": 4}[split]):
        env = FakeHouse(split=split)
        obs, info = env.reset(seed=number)
        steps = [Step(0, obs["text"])]
        for action in env.oracle().walkthrough:
            obs, reward, _, _, info = env.step(action)
            steps.append(Step(info["moves"], obs["text"], action, float(reward)))
        task = Task(info["task_id"], obs["task"])
        played.append(Trajectory(number, task, tuple(steps), outcome(2), True))
    return played


def formed(*trajectories: Trajectory, **arguments: Any) -> LDM2:
    memory = LDM2(**arguments)
    memory.form(trajectories)
    return memory


def shown(memory: LDM2, trajectory: Trajectory, at: int = 0) -> list[Example]:
    """The examples after the first ``at`` actions of a trajectory."""
    memory.begin(trajectory.task, 0)
    for step in trajectory.steps[: at + 1]:
        memory.observe(step)
    cue = Cue(trajectory.steps[at].text, trajectory.task.goal)
    return [example for _, example in memory.nearest(cue)]


def actions(memory: LDM2, trajectory: Trajectory, at: int = 0) -> list[str]:
    return [example.action for example in shown(memory, trajectory, at)]


def play(memory: LDM2, trajectory: Trajectory) -> None:
    """What a wrapper does with a memory in one episode."""
    memory.begin(trajectory.task, 0)
    for step in trajectory.steps:
        memory.observe(step)
    memory.end(trajectory.outcome)


def dump(memory: LDM2) -> str:
    return json.dumps(memory.state())


def tuples(memory: LDM2) -> int:
    return memory.stats().lessons


# ---------------------------------------------------------------- formation


def test_tuples_of_a_trajectory() -> None:
    """One for each action, with the history before it (Eqs. 1 and 6)."""
    memory = formed(hunt())
    entries = memory.state()["tuples"][0]["entries"]
    assert [entry[2:] for entry in entries] == [
        [
            "Find the red key. Unlock the red chest.",
            "Subgoal 1: Find the red key - incomplete\n"
            "Subgoal 2: Unlock the red chest - incomplete\n"
            "Summary: nothing was done yet",
            "You are in a hall. A red key lies on the floor.",
            "take red key",
        ],
        [
            "Find the red key. Unlock the red chest.",
            "Subgoal 1: Find the red key - incomplete\n"
            "Subgoal 2: Unlock the red chest - incomplete\n"
            "Summary: take red key (1 points)",
            "You pick up the red key.",
            "go east",
        ],
        [
            "Find the red key. Unlock the red chest.",
            "Subgoal 1: Find the red key - incomplete\n"
            "Subgoal 2: Unlock the red chest - incomplete\n"
            "Summary: take red key, go east (1 points)",
            "You are in a vault. A red chest is locked.",
            "unlock red chest with red key",
        ],
    ]


def test_subgoals_are_judged_by_single_actions() -> None:
    recipe = "Directions:\n  slice the red potato\n  fry the red potato\n  prepare meal\n\nEnjoy!"
    trace = [
        Step(0, "You are in a kitchen."),
        Step(1, recipe, "examine cookbook"),
        Step(2, "You take the red potato.", "take red potato from fridge"),
        Step(3, "You can't fry the red potato yet.", "fry red potato"),
    ]
    task = Task("t", "Cook a meal. Eat it.")
    parts = ["slice the red potato", "fry the red potato", "prepare meal"]
    assert evaluate(trace, task) == [Subgoal(part, False) for part in parts]
    trace.append(Step(4, "You sliced the red potato.", "use knife"))
    trace.append(Step(5, "You fried the red potato.", "cook red potato with stove"))
    assert [subgoal.complete for subgoal in evaluate(trace, task)] == [True, True, False]
    assert [s.text for s in evaluate(trace[:1], task)] == ["Cook a meal", "Eat it"]


def test_the_summary_tells_the_latest_actions_and_the_points() -> None:
    trace = [Step(t, "", f"go {t}" if t else "", 0.5) for t in range(13)]
    summary = summarize("", trace, Task("", ""))
    assert summary == (
        "earlier steps, then go 3, go 4, go 5, go 6, go 7, go 8, go 9, go 10, go 11, go 12 "
        "(6.5 points)"
    )


@given(st.lists(st.tuples(st.text("ab ", min_size=1, max_size=8), st.booleans()), max_size=5))
@settings(max_examples=50)
def test_pending_names_no_complete_subgoal(parts: list[tuple[str, bool]]) -> None:
    history = "\n".join(
        f"Subgoal {n}: x{n} {text} - {'complete' if done else 'incomplete'}"
        for n, (text, done) in enumerate(parts)
    )
    left = pending(history + "\nSummary: Subgoal 9: y - incomplete?").split()
    for n, (_, done) in enumerate(parts):
        assert (f"x{n}" in " ".join(left).replace(".", "").split()) == (not done)
    assert "y" not in left


def test_batches() -> None:
    """B trajectories a batch memory; each can be used alone."""
    memory = formed(*(hunt(c, n) for n, c in enumerate(("red", "blue", "pink"))), batch_size=2)
    assert memory.batches == (0, 1)
    sizes = [len(addition["entries"]) for addition in memory.state()["tuples"]]
    assert sizes == [6, 3]
    for batch, colors in ((None, ("red", "blue", "pink")), (0, ("red", "blue")), (1, ("pink",))):
        memory.batch = batch
        found = actions(memory, hunt("green"))
        assert {f"take {color} key" for color in colors} <= set(found)
        assert all(any(color in action for color in colors) for action in found)
    memory.batch = 7
    assert actions(memory, hunt("green")) == []
    memory.batch = None
    assert memory.form([hunt("gold")]) == 3
    assert memory.batches == (0, 1, 2)


def test_batches_take_turns() -> None:
    """A process with each batch memory, for as many episodes of one task instance (Eq. 5)."""
    memory = formed(
        *(hunt(c, n) for n, c in enumerate(("red", "blue"))), batch_size=1, batch="each"
    )
    green = hunt("green")
    turns = []
    for _ in range(3):
        turns.append({action.split()[1] for action in actions(memory, green) if "take" in action})
        assert dump(memory) == dump(memory.fork()), "whose turn it is belongs to the state"
    assert turns == [{"red"}, {"blue"}, {"red"}]
    assert "take red key" in actions(memory, hunt("green", 7)), "another instance begins anew"
    untaught = LDM2(batch="each")
    assert actions(untaught, green) == []
    play(untaught, green)
    assert tuples(untaught) == 3


def test_a_memory_may_stay_as_it_is() -> None:
    memory = formed(meal("ham"), learn=False)
    play(memory, POOR)
    assert tuples(memory) == 2
    assert memory.refine(GOOD, POOR) == 3, "what is asked for is learnt"


def test_the_same_tuple_is_kept_once() -> None:
    memory = formed(hunt("red", 0), hunt("red", 1))
    assert tuples(memory) == 3
    assert memory.form([hunt("red", 2)]) == 3, "another batch memory is independent"
    assert len(actions(memory, hunt("red"))) == len(set(actions(memory, hunt("red"))))


def test_a_trajectory_without_actions_forms_nothing() -> None:
    empty = hunt()._replace(steps=hunt().steps[:1])
    memory = formed(empty)
    assert (tuples(memory), memory.batches) == (0, ())


def test_choose_takes_the_best_process() -> None:
    long = hunt()._replace(outcome=outcome(2, 9), steps=hunt().steps * 2)
    assert choose([long._replace(outcome=LOST), long, hunt(), hunt()]) == 2


# ---------------------------------------------------------------- the index


WORDS = st.sampled_from(["key", "chest", "egg", "pan", "door", "lamp", "hall", "fry"])
TEXTS = st.lists(st.lists(WORDS, max_size=4).map(" ".join), min_size=1, max_size=25)


@given(TEXTS)
@settings(max_examples=60)
def test_clusters_are_repeatable(texts: list[str]) -> None:
    cluster = EncodedTypes(make_encoder("hash"), 0.6)
    names = cluster(texts)
    assert len(names) == len(texts)
    assert cluster(texts) == names
    of = dict(zip(texts, names, strict=True))
    assert [of[text] for text in texts] == names, "equal texts have one type"
    assert len(set(names)) <= np.ceil(np.sqrt(len(set(texts))))
    assert all(names)


def test_clusters_part_what_differs_and_join_what_is_alike() -> None:
    cluster = EncodedTypes(make_encoder("hash"), 0.6)
    goals = [KEYS.format(c, c) for c in ("red", "blue")] + [COOK.format(f) for f in ("egg", "ham")]
    a, b, c, d = cluster(goals)
    assert a == b != c == d
    assert len(set(cluster([KEYS.format(c, c) for c in "abcdefghi"]))) == 1
    assert cluster([]) == []


def test_nearest_type_takes_the_type_of_the_nearest_examples() -> None:
    classify = NearestType(make_encoder("hash"))
    types = {"keys": [KEYS.format("red", "red")], "meals": [COOK.format("egg")]}
    assert classify(COOK.format("ham"), types) == "meals"
    assert classify(KEYS.format("blue", "blue"), types) == "keys"


def test_a_library_never_changes() -> None:
    entry = IndexedExample("g", "o", Example("goal", "Summary: -", "a hall", "go east"))
    first = Library(make_encoder("hash")).extended([Addition(0, (entry,))])
    other = entry._replace(example=entry.example._replace(observation="a vault"))
    second = first.extended([Addition(0, (other,)), Addition(3, (entry,))])
    assert (len(first), first.batches) == (1, (0,))
    assert (len(second), second.batches) == (3, (0, 3))
    assert first.goal_types(0) == {"g": ("goal",)}
    assert first.observation_types(0, "g") == {"o": ["a hall"]}
    assert second.observation_types(0, "g") == {"o": ["a hall", "a vault"]}


@given(TEXTS, st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_search_is_exact(texts: list[str], chance: random.Random) -> None:
    """The nearest are those that a search over all tuples of the type finds."""
    encoder = make_encoder("hash")
    examples = [Example("goal", f"Summary: {n}", t, f"do {n}") for n, t in enumerate(texts)]
    entries = tuple(IndexedExample("g", chance.choice("ab"), example) for example in examples)
    library = Library(encoder).extended([Addition(0, entries)])
    key = library.keys(encoder.encode(["key in hall"]), ["Summary: -"])[0]
    for kind in sorted({entry.observation_type for entry in entries}):
        own = [entry.example for entry in entries if entry.observation_type == kind]
        vectors = library.keys(
            encoder.encode([e.observation for e in own]), [e.history for e in own]
        )
        best = sorted((float(v @ key) for v in vectors), reverse=True)[:4]
        found = library.nearest(0, "g", kind, key, 4)
        assert [near for near, _ in found] == pytest.approx(best, abs=1e-4)
        assert {e.action for _, e in found} <= {e.action for e in own}


# ---------------------------------------------------------------- retrieval


def test_recall_goes_by_goal_type_then_by_observation() -> None:
    memory = formed(
        *(hunt(c, n) for n, c in enumerate(("red", "blue", "pink"))),
        *(meal(f, n) for n, f in enumerate(("egg", "ham", "fish"))),
    )
    assert {a.split()[0] for a in actions(memory, hunt("green"), 0)} == {"take"}
    assert {a.split()[0] for a in actions(memory, hunt("green"), 2)} == {"unlock"}
    assert actions(memory, meal("bread"), 0)[0].startswith("wash")
    assert actions(memory, meal("bread"), 1)[0].startswith("heat")


def test_what_remains_decides_between_equal_observations() -> None:
    """The same text, but one player has sliced already: only the history tells."""
    task = Task("t", "Slice the {0}. Fry the {0}.")
    start, idle = ("", "A kitchen.", 0.0), "Time passes."
    demonstrations = [
        process(task, start, ("wait", idle, 0.0), ("slice egg", "You slice the egg.", 1.0)),
        process(
            task, start, ("slice egg", "You slice the egg.", 1.0), ("wait", idle, 0.0),
            ("fry egg", "You fry the egg.", 1.0),
        ),
    ]  # fmt: skip
    demonstrations = [
        t._replace(task=task._replace(goal=task.goal.format("egg"))) for t in demonstrations
    ]
    memory = formed(*demonstrations)
    ham = task._replace(goal=task.goal.format("ham"))
    fresh = process(ham, start, ("wait", idle, 0.0))
    sliced = process(ham, start, ("slice ham", "You slice the ham.", 1.0), ("wait", idle, 0.0))
    assert actions(memory, fresh, 1)[0] == "slice egg"
    assert actions(memory, sliced, 2)[0] == "fry egg"


def test_a_goal_unlike_all_gets_no_examples() -> None:
    memory = formed(hunt())
    alien = process(Task("x", "buy cheap sandals"), ("", "Welcome to the shop", 0.0))
    assert actions(memory, alien) == []
    recall = memory.recall(Cue("Welcome to the shop", "buy cheap sandals"), 200)
    assert recall.lessons == ()
    assert recall.text == (
        "So far in this task:\nSubgoal 1: buy cheap sandals - incomplete\n"
        "Summary: nothing was done yet"
    )


def test_examples_say_what_is_to_be_imitated() -> None:
    memory = formed(hunt("red"), hunt("blue", 1))
    shown(memory, hunt("green"), 2)
    recall = memory.recall(Cue(hunt("green").steps[2].text, hunt("green").task.goal), 500)
    assert len(recall.lessons) == 2
    for lesson in recall.lessons:
        assert lesson in recall.text
        goal, past, summary, seen, action = (
            lesson.index(word) for word in ("Goal: ", "Subgoal 2", "Summary", "Observation", "Act")
        )
        assert goal < past < summary < seen < action
        assert lesson.splitlines()[-1].startswith("Action: unlock ")
    assert recall.text.endswith("Summary: take green key, go east (1 points)")
    same = memory.recall(Cue(hunt("red").steps[2].text, hunt("red").task.goal), 500)
    assert sum("Goal: " in lesson for lesson in same.lessons) == 1, "only where it differs"


@given(st.integers(0, 400), st.integers(1, 8), st.text(max_size=200))
@settings(max_examples=60)
def test_budget(budget: int, examples: int, text: str) -> None:
    memory = formed(*(hunt(c, n) for n, c in enumerate("abcdefgh")), examples=examples)
    memory.begin(hunt("z").task, 0)
    memory.observe(Step(0, text))
    recall = memory.recall(Cue(text, "a goal"), budget)
    assert count_tokens(recall.text) <= budget
    assert len(recall.lessons) <= examples
    assert all(lesson in recall.text and "Action: " in lesson for lesson in recall.lessons)
    if budget == 400:
        assert len(recall.lessons) == examples


def test_walkthroughs_teach_unseen_houses() -> None:
    """The next verb of the solution is the nearest example's; not so with shuffled actions."""
    memory = formed(*walkthroughs("train"))
    state = memory.state()
    entries = [entry for addition in state["tuples"] for entry in addition["entries"]]
    mixed = [entry[-1] for entry in entries]
    random.Random(0).shuffle(mixed)
    for entry, action in zip(entries, mixed, strict=True):
        entry[-1] = action
    placebo = LDM2()
    placebo.load_state(state)

    def accuracy(taught: LDM2) -> float:
        hits = [
            game.steps[at + 1].action.split()[0] == actions(taught, game, at)[0].split()[0]
            for game in walkthroughs("test")
            for at in range(len(game.steps) - 1)
        ]
        return sum(hits) / len(hits)

    assert accuracy(memory) >= 0.9
    assert accuracy(placebo) <= 0.5


# ---------------------------------------------------------------- refinement

GOOD = process(
    Task("hunt/9", KEYS.format("red", "red")),
    ("", "You are in a hall.", 0.0),
    ("go east", "You are in a vault. A key lies here.", 0.0),
    ("take key", "You pick up the key.", 1.0),
    ("unlock chest", "You unlock the chest.", 1.0),
    ("look", "You are in a vault.", 0.0),
)
POOR = process(
    GOOD.task,
    ("", "You are in a hall.", 0.0),
    ("go east", "You are in a vault. A key lies here.", 0.0),
    ("look", "You are in a vault. A key lies here.", 0.0),
    ("take key", "You pick up the key.", 1.0),
    score=1.0,
)


def learnt(memory: LDM2) -> list[str]:
    return [e[-1] for a in memory.state()["tuples"] for e in a["entries"]]


def test_refine_adds_what_follows_the_first_different_step() -> None:
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


def test_episode_is_learnt_when_it_beats_what_is_known() -> None:
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


def test_capacity() -> None:
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
def test_lifetime(lifetime: str | None, same_task: int, same_goal: int, other: int) -> None:
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


def test_state_keeps_what_was_formed_apart(tmp_path: Path) -> None:
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


def test_files_that_are_neither(tmp_path: Path) -> None:
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
def test_wrong_arguments(arguments: dict[str, Any], error: type[Exception]) -> None:
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


def test_rules_stand_in_for_a_failing_model() -> None:
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
