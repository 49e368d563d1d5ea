"""Controls of memories over trials, and the gate that judges consolidations."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from stream import LOST, WAY, WON, begin, items, made, play

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.records import Cue, Outcome
from gym_memory.memory import Memory, make_memory
from gym_memory.memory.stores.store import Store

GOAL = "put a potato in shelf"
SPEC = "memrl?tau=0.3&inner=none"


def spoilt(how: str, spec: str = SPEC) -> Memory:
    return make_memory(f"placebo?how={how}&of={quote(spec)}")


def lessons(memory: Memory, goal: str = GOAL) -> tuple[str, ...]:
    begin(memory, goal)  # type: ignore[arg-type]
    return memory.recall(Cue("", goal), 1000).lessons


@pytest.mark.parametrize("how", ["actions", "world", "raw"])
def test_placebo_corrupts_text_and_not_the_memory(how: str) -> None:
    honest, other = make_memory(SPEC), spoilt(how)
    for memory in (honest, other):
        play(memory, GOAL, WON)  # type: ignore[arg-type]
    assert other.state()["of"]["bank"] == honest.state()["bank"]
    (true,), (false,) = lessons(honest), lessons(other)
    assert true != false
    assert false.startswith("1. Goal: put a potato in shelf.")
    again = other.recall(Cue("", GOAL), 1000)
    assert again.lessons == (false,), "the same all through a trial"
    assert again.text.endswith(false)


def test_another_world_shares_no_action() -> None:
    other = spoilt("world")
    play(other, GOAL, WON)  # type: ignore[arg-type]
    (text,) = lessons(other)
    quoted = re.findall('"([^"]*)"', text)
    assert len(quoted) == len(WAY)
    assert not any(word in action for action in quoted for word in ("potato", "shelf", "fridge"))


def test_exchanged_actions_of_other_tasks_were_valid_once() -> None:
    other = spoilt("actions")
    play(other, GOAL, WON)  # type: ignore[arg-type]
    (text,) = lessons(other)
    assert set(re.findall('"([^"]*)"', text)) <= {"look", "1", "2", "3", "4"}


def test_raw_shows_whole_episodes_of_at_most_same_length() -> None:
    honest, other = make_memory(SPEC), spoilt("raw")
    walk = ["look", "wait", *WAY]
    for memory in (honest, other):
        play(memory, GOAL, WON, walk)  # type: ignore[arg-type]
    (true,), (false,) = lessons(honest), lessons(other)
    assert '"look", "wait", "go to fridge 1"' in false
    assert len(false) <= len(true)
    with pytest.raises(InvalidArgumentError, match="expected of as a memory of experience"):
        spoilt("raw", "clin")
    with pytest.raises(UnknownNameError):
        spoilt("upside-down")


def test_outcomes_are_those_of_any_episode() -> None:
    other = spoilt("outcomes", "exprag?inner=none")
    for n in range(40):
        play(other, f"{GOAL} {n}", WON if n % 2 else LOST)  # type: ignore[arg-type]
    honest = made("exprag?inner=none")
    honest.load_state(other.state()["of"])
    kept = [item.origins[0] for item in items(honest)]
    right = [origin.success == bool(int(origin.task.split()[-1]) % 2) for origin in kept]
    assert 8 < sum(right) < 32, "an outcome says nothing about its episode"


@pytest.mark.parametrize("spec", ["memrl", "simutil", "skills", "memp", "exprag", "exprecent"])
def test_a_frozen_pass_leaves_the_store_as_it_is(spec: str, tmp_path: Path) -> None:
    place = str(tmp_path / "items.db")
    play(make_memory(f"{spec}?store={place}"), GOAL, WON)  # type: ignore[arg-type]
    before = Store(place).records()
    play(spoilt("frozen", f"{spec}?store={place}"), GOAL, LOST)  # type: ignore[arg-type]
    assert Store(place).records() == before


def gated(gate: int) -> str:
    """Play wins, then a failure that used the first procedure; return that."""
    memory = made(f"memp?gate={gate}&k=1")
    for n in range(4):
        play(memory, f"{GOAL} {n}", WON)
    play(memory, GOAL, LOST, ["look"])
    assert memory.bank.items[1].uses
    return memory.bank.items[1].text


def test_consolidation_is_taken_back_if_held_out_check_falls() -> None:
    assert '"go to fridge"' not in gated(0)
    assert '"go to fridge"' in gated(1)


def test_a_held_out_win_writes_no_item() -> None:
    memory = made("memp?gate=2&least=1")
    for n in range(9):
        play(memory, f"goal {n} of many", WON)
    assert [win[0] for win in memory.bank.held] == ["goal 3 of many", "goal 7 of many"]
    goals = {item.goal for item in items(memory)}
    assert not goals & {"goal 3 of many", "goal 7 of many"}
    assert len(goals) == 7
    assert memory.bank.coverage(1) == 1.0, "all goals have the same script"


def test_outcome_without_a_win_is_not_a_success() -> None:
    memory = made("memrl")
    play(memory, GOAL, Outcome(3.0, 0.0, None, None, False, 3))
    (item,) = items(memory)
    assert (item.kind, item.origins[0].success, item.origins[0].score) == ("failure", False, 0.0)
