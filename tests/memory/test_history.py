"""The transcript: kept and cut pairs, and the cost of a step."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work import calls

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Cue, Step, Task
from gym_memory.games.spaces import memory_observation_space
from gym_memory.memory.base import CHARS_PER_TOKEN, count_tokens
from gym_memory.memory.history import History

TASK = Task("house/0", "Find the key.")


def filled(pairs: list[tuple[str, str]], window: int | None = None) -> History:
    memory = History(window)
    memory.begin(TASK, 0)
    for t, (action, text) in enumerate(pairs):
        memory.observe(Step(t, text, action))
    return memory


PAIRS = [("", "You are in a hall."), ("go east", "A kitchen."), ("open fridge", "It is empty.")]


def test_whole_transcript() -> None:
    recall = filled(PAIRS).recall(Cue("something else"), 1000)
    assert recall.text == ("You are in a hall.\n> go east\nA kitchen.\n> open fridge\nIt is empty.")
    assert recall.episodes == ("It is empty.", "A kitchen.", "You are in a hall.")
    assert recall.triples == ()
    assert recall.lessons == ()


def test_present_observation_is_not_repeated() -> None:
    recall = filled(PAIRS).recall(Cue(" It is empty.\n"), 1000)
    assert recall.text == "You are in a hall.\n> go east\nA kitchen.\n> open fridge"
    assert recall.episodes == ("A kitchen.", "You are in a hall.")


def test_only_the_reset_observation() -> None:
    memory = filled(PAIRS[:1])
    assert memory.recall(Cue("You are in a hall."), 1000).text == ""
    assert memory.recall(Cue("elsewhere"), 1000).episodes == ("You are in a hall.",)


@pytest.mark.parametrize("window", [1, 2, 3, 10])
def test_window_limits_the_pairs(window: int) -> None:
    pairs = [("look", f"Room {n}.") for n in range(8)]
    memory = filled(pairs, window)
    expected = tuple(f"Room {n}." for n in reversed(range(8)))
    assert memory.recall(Cue("Room 7."), 1000).episodes == expected[1:][:window]
    assert memory.recall(Cue("elsewhere"), 1000).episodes == expected[:window]
    assert memory.stats().episodes == min(window + 1, 8)


def test_recent_pairs_come_first() -> None:
    pairs = [("look", "x" * 33) for _ in range(10)]  # 7 + 33 + 1 characters: 41 a pair
    recall = filled(pairs).recall(Cue("elsewhere"), 25)  # 100 characters
    assert recall.episodes == ("x" * 33,) * 2
    assert recall.text == "> look\n" + "x" * 33 + "\n> look\n" + "x" * 33


def test_older_pair_never_fills_a_gap_in_history() -> None:
    pairs = [("", "small"), ("look", "y" * 400), ("wait", "newest")]
    recall = filled(pairs).recall(Cue("elsewhere"), 20)
    assert recall.episodes == ("newest",)


def test_too_long_observation_keeps_its_beginning() -> None:
    memory = filled([("", "small"), ("look", "-= Hall =- " + "z" * 5000)])
    recall = memory.recall(Cue("elsewhere"), 10)
    assert recall.text == "> look\n-= Hall =- " + "z" * 21
    assert count_tokens(recall.text) == 10
    assert recall.episodes == ("-= Hall =- " + "z" * 21,)


def test_too_long_past_and_present_action() -> None:
    memory = filled([("", "z" * 500), ("go east", "A kitchen.")])
    recall = memory.recall(Cue("A kitchen."), 10)
    assert recall.text == "z" * 29 + "\n> go east"
    assert count_tokens(recall.text) <= 10


@pytest.mark.parametrize("window", [0, -1, 1.5, True, "5"])
def test_bad_window_is_refused(window: object) -> None:
    with pytest.raises(InvalidArgumentError, match="expected window as an int >= 1 or None, got"):
        History(window)  # type: ignore[arg-type]


def test_full_is_the_whole_transcript_whatever_the_budget() -> None:
    pairs = [("look", f"Room {n}. " + "x" * 100) for n in range(50)]
    full = History(full=True)
    full.begin(TASK, 0)
    for t, (action, text) in enumerate(pairs):
        full.observe(Step(t, text, action))
    for budget in (0, 10, 100_000):
        recall = full.recall(Cue("elsewhere"), budget)
        assert recall == filled(pairs).recall(Cue("elsewhere"), 100_000)
        assert count_tokens(recall.text) > 1000
    assert not full.keeps_budget
    assert filled(pairs).keeps_budget
    with pytest.raises(InvalidArgumentError, match="full"):
        History(5, full=True)
    with pytest.raises(InvalidArgumentError, match="full"):
        History(full="yes")  # type: ignore[arg-type]


def test_full_history_fits_the_observation_space() -> None:
    memory = History(full=True)
    memory.begin(TASK, 0)
    for t in range(12):
        memory.observe(Step(t, f"{t} " + "x" * 100_000, "look"))
    recall = memory.recall(Cue("elsewhere"), 10)
    assert memory_observation_space()["memory"].contains(recall.text)
    assert recall.episodes[0].startswith("11 ")
    assert len(recall.episodes) == 9


def test_bad_budget_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="expected a token budget"):
        filled(PAIRS).recall(Cue(""), -1)


def test_reset_forgets() -> None:
    memory = filled(PAIRS)
    memory.begin(TASK, 1)
    assert memory.state() == {"pairs": []}
    assert memory.recall(Cue("A kitchen."), 100).text == ""


texts = st.text(st.sampled_from("ab \n>"), max_size=12)


@pytest.mark.slow
@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    pairs=st.lists(st.tuples(texts, texts), max_size=8),
    window=st.none() | st.integers(1, 4),
    budget=st.integers(0, 20),
    present=st.booleans(),
)
def test_recall_equals_that_of_a_naive_model(pairs, window, budget, present) -> None:
    """The recall is the longest gapless run of whole pairs from the newest back that fits."""
    memory = filled(pairs, window)
    cue = Cue(pairs[-1][1] if pairs and present else "elsewhere")
    recall = memory.recall(cue, budget)
    room = budget * CHARS_PER_TOKEN
    assert len(recall.text) <= room

    held = [(action, text.strip()) for action, text in pairs]
    tail = ""
    if held and held[-1][1] == cue.text.strip():
        action, _ = held.pop()
        tail = f"> {action}\n" if action else ""
    tail = tail[:room]
    if window is not None:
        held = held[-window:]
    best = -1
    for n in range(len(held) + 1):
        kept = held[len(held) - n :]
        text = "".join((f"> {a}\n" if a else "") + t + "\n" for a, t in kept) + tail
        if len(text) <= room:
            best, whole = n, text
    assert best >= 0
    if best or not held:
        assert recall.text == whole.rstrip("\n")
        assert recall.episodes == tuple(t for _, t in reversed(held[len(held) - best :]))
    else:
        assert len(recall.episodes) <= 1
        assert all(held[-1][1].startswith(part) for part in recall.episodes)


@settings(derandomize=True, max_examples=40, deadline=None)
@given(pairs=st.lists(st.tuples(texts, texts), max_size=8), cut=st.integers(0, 8))
def test_snapshot_equals_replay(pairs, cut) -> None:
    memory = filled(pairs[:cut])
    snapshot = memory.snapshot()
    for t, (action, text) in enumerate(pairs[cut:]):
        memory.observe(Step(t, text, action))
    memory.restore(snapshot)
    assert memory.state() == filled(pairs[:cut]).state()
    for t, (action, text) in enumerate(pairs[cut:]):
        memory.observe(Step(t, text, action))
    assert memory.state() == filled(pairs).state()
    assert memory.recall(Cue("b"), 9) == filled(pairs).recall(Cue("b"), 9)


@pytest.mark.slow
def test_step_costs_its_own_text_however_long_the_episode() -> None:
    memory = History()
    memory.begin(TASK, 0)
    costs = []
    for block in range(10):

        def walk(first: int = 1000 * block) -> None:
            for n in range(1000):
                text = f"You are in room {first + n}. " + "x" * 200
                memory.observe(Step(n, text, "go east"))
                assert memory.recall(Cue(text), 1000).episodes[0:1] != (text,)

        costs.append(calls(walk))
    assert costs[9] < 1.5 * costs[1]
