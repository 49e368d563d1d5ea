"""LDM2: formation, the two-level index, retrieval."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldm2_games import (
    COOK,
    GOOD,
    KEYS,
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
    walkthroughs,
)

from gym_memory.core.records import Cue, Step, Task
from gym_memory.memory.base import count_tokens
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.ldm2.formation import choose, evaluate, summarize
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


def test_summary_has_the_latest_actions_and_points() -> None:
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


def test_trajectories_form_batch_memories() -> None:
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


def test_memory_may_be_frozen() -> None:
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


def test_clusters_separate_different_and_join_similar_texts() -> None:
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


def test_remaining_subgoals_decide_between_equal_observations() -> None:
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


def test_examples_show_the_action_to_imitate() -> None:
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


@pytest.mark.slow
@given(st.integers(0, 400), st.integers(1, 8), st.text(max_size=200))
@settings(max_examples=60)
def test_examples_fit_the_budget(budget: int, examples: int, text: str) -> None:
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
