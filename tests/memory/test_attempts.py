"""The last attempts in AriGraph's recall: without gaps, counted, within the budget."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.base import count_tokens
from gym_memory.memory.reading import MAX_RUN, TranscriptStep, entry_head, split_entries
from gym_memory.memory.recall.past import fit_attempts, last_attempts
from gym_memory.memory.stores.episodes import Episode

HALL = "You are in a hall.\nThere is an exit to the east."
DEN = "You are in a den.\nThere is a lamp."
MOVES = [("go east", DEN), *[("wait", "Time passes.")] * 5, ("light lamp", "It is too wet.")]


def taught(memory: AriGraph, moves: Sequence[tuple[str, str]] = MOVES) -> AriGraph:
    memory.begin(Task("house/0", "Light the lamp."), 0)
    memory.observe(Step(0, HALL))
    for t, (action, text) in enumerate(moves, 1):
        memory.observe(Step(t, text, action))
    memory.observe(Step(len(moves) + 1, "Nothing happens.", "sing"))
    return memory


def recalled(memory: AriGraph, budget: int = 1000) -> str:
    return memory.recall(Cue("Nothing happens.", "Light the lamp."), budget).text


def test_recall_lists_the_last_actions_with_counts() -> None:
    assert recalled(taught(AriGraph())).endswith(
        "[step 1] > go east\nYou are in a den.\n[step 2-6] > wait\nTime passes.\n"
        "[step 7] > light lamp\nIt is too wet."
    )


@pytest.mark.parametrize("memory", [AriGraph(attempts=0), AriGraph(episodic=False)])
def test_setting_hides_the_attempts(memory: AriGraph) -> None:
    assert "[step 7]" not in recalled(taught(memory))


def test_whole_answer_of_an_attempt_is_shown_once() -> None:
    moves = [(f"dance {n}", f"You dance in the hall {n}.") for n in range(12)]
    text = recalled(taught(AriGraph(recent=2), moves))
    assert all(text.count(f"> dance {n}\n") == 1 for n in range(12))


def test_attempts_of_an_earlier_episode_are_hidden() -> None:
    memory = taught(AriGraph(lifetime="forever"))
    memory.end(Outcome(steps=8))
    memory.begin(Task("house/1", "Light the lamp."), 1)
    memory.observe(Step(0, HALL))
    memory.observe(Step(1, DEN, "go east"))
    memory.observe(Step(2, "Nothing happens.", "sing"))
    assert "light lamp\n" not in recalled(memory)
    assert recalled(memory).endswith("[step 1] > go east\nYou are in a den.")


def test_small_budget_keeps_the_last_attempts() -> None:
    moves = [(f"take leaf {n} of the big oak", f"You take leaf {n}.") for n in range(40)]
    text = recalled(taught(AriGraph(), moves), 150)
    last = split_entries(text)[1][-3:]
    assert [entry.t for entry in last] == [38, 39, 40]
    assert count_tokens(text) <= 150


MOVE = st.tuples(st.sampled_from(["wait", "go east", "dig"]), st.sampled_from([DEN, "No.", "Yes."]))


@settings(max_examples=40, deadline=None)
@given(st.lists(MOVE, max_size=30), st.integers(0, 400))
def test_attempts_keep_the_budget_and_are_true(moves: list[tuple[str, str]], budget: int) -> None:
    memory = taught(AriGraph(), moves)
    text = recalled(memory, budget)
    assert count_tokens(text) <= budget
    for entry in split_entries(text)[1]:
        action, answer = ("", HALL) if entry.t == 0 else moves[(entry.t or 0) - 1]
        assert entry.action == action
        assert answer.startswith(entry.text)


@given(st.lists(MOVE, max_size=30), st.integers(0, 30), st.integers(0, 600))
def test_attempts_are_read_back_without_gaps(
    moves: list[tuple[str, str]], most: int, left: int
) -> None:
    done = [Episode(t, t, text, action) for t, (action, text) in enumerate(moves, 1)]
    text, whole = fit_attempts(last_attempts(done[::-1], most), left)
    assert len(text) <= left
    read = split_entries(text)[1]
    latest = done[len(done) - len(read) :]
    assert [(entry.t, entry.action) for entry in read] == [(e.t, e.action) for e in latest]
    assert whole - {""} <= {"No.", "Yes."}


def test_run_is_read_by_steps_and_cut_if_endless() -> None:
    assert entry_head(7, "wait", 3) == "[step 5-7] > wait"
    read = split_entries("[step 5-7] > wait\nIt dawns.")[1]
    assert read == [
        TranscriptStep(5, "wait"),
        TranscriptStep(6, "wait"),
        TranscriptStep(7, "wait", "It dawns."),
    ]
    assert len(split_entries("[step 1-999999999] > wait")[1]) == MAX_RUN
    assert [entry.t for entry in split_entries("[step 9-3] > wait")[1]] == [3]
