"""EvoTest: gains by shared words, loops, the tree of guidance, wins that freeze it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from stream import items, made

from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.memory.experience.evotest import choose_parent, loops_in
from gym_memory.memory.experience.items import Item

GAME = Task("zork/0", "Find treasure.", "zork")


def trial(memory: Any, score: float, *, won: bool = False, steps: int = 2) -> str:
    """Play a trial in which the last action brings the score; return the guidance shown."""
    memory.begin(GAME, 0)
    memory.observe(Step(0, "West of House. There is a mailbox."))
    shown = [item.text for item in items(memory) if item.id in memory.shown
             and item.kind == "guidance"]  # fmt: skip
    for t in range(1, steps + 1):
        memory.observe(
            Step(t, f"Room {t}.", f"go {t}", score if t == steps else 0.0, done=t == steps)
        )
    memory.end(Outcome(score, 100.0, max(score, 0) / 100, won, False, steps))
    return "".join(shown)


def nodes(memory: Any) -> list[Item]:
    return [item for item in items(memory) if item.kind == "guidance"]


def node(id: int, score: float, depth: int, parent: int = 0) -> Item:
    more = (str(parent),) if parent else ()
    return Item("", str(depth), "guidance", utility=score, id=id, more=more)


# --- the tree -----------------------------------------------------------------------------------


def test_parent_by_score_depth_and_children() -> None:
    # N = 3, ln 3 = 1.0986. Root: 0 + 1 sqrt(1.0986 / 3) = .605; children: score + .8 * 1.048.
    tree = [node(1, 0.0, 0), node(2, 0.0, 1, 1), node(3, -0.3, 1, 1)]
    assert math.sqrt(math.log(3) / 3) == pytest.approx(0.605, abs=1e-3)
    assert 0.8 * math.sqrt(math.log(3)) == pytest.approx(0.839, abs=1e-3)
    assert choose_parent(tree, 1.0, 0.8).id == 2
    assert choose_parent(tree, 1.0, 0.5).id == 1  # .605 against .524
    assert choose_parent([tree[0]._replace(utility=0.3), *tree[1:]], 1.0, 0.8).id == 1
    assert choose_parent(tree, 0.0, 0.8).id == 1  # of equals the older
    # A single node counts as two: ln 2.
    assert choose_parent(tree[:1], 1.0, 0.8).id == 1


def test_each_trial_scores_its_guidance_and_makes_a_child() -> None:
    memory = made("evotest")
    assert trial(memory, 5) == ""
    root, child = nodes(memory)
    assert (root.utility, root.uses, root.text, root.more) == (5, 1, "", ())
    assert (child.uses, child.key, child.more) == (0, "1", (str(root.id),))
    assert "These steps lead to all that scored" in child.text
    assert trial(memory, 7) == child.text
    assert [(n.utility, n.uses, n.key) for n in nodes(memory)] == [(5, 1, "0"), (7, 1, "1"),
                                                                  (0, 0, "2")]  # fmt: skip
    assert nodes(memory)[2].more == (str(child.id),)


def test_win_freezes_guidance_and_miss_releases_it() -> None:
    memory = made("evotest")
    trial(memory, 5)
    trial(memory, 20, won=True)
    assert len(nodes(memory)) == 2
    best = nodes(memory)[1]
    assert trial(memory, 20, won=True) == best.text
    assert trial(memory, 8) == best.text
    assert nodes(memory)[1].utility == pytest.approx((20 + 20 + 8) / 3)
    assert len(nodes(memory)) == 3


def test_best_guidance_is_replayed_after_a_low_score() -> None:
    memory = made("evotest")
    trial(memory, 60)
    trial(memory, 10)  # exactly 50 behind
    assert len(nodes(memory)) == 2
    assert trial(memory, 60) == ""  # the best is the first, without guidance
    assert len(nodes(memory)) == 3
    trial(memory, 11)
    assert len(nodes(memory)) == 4  # 49 behind


# --- gains --------------------------------------------------------------------------------------


def gain(memory: Any, state: str, points: int) -> None:
    memory.bank.add(Item(f'STATE: {state}\nACTION: "x"\nGAIN: {points}', state, "gain"))


def test_gains_by_jaccard() -> None:
    memory = made("evotest", inner="none", lifetime="forever")
    states = ("A hall with a lamp", "a HALL", "kitchen", "a hall with lamp and key", "hall hall")
    for points, state in enumerate(states, 1):
        gain(memory, state, points)
    memory.begin(GAME, 0)
    memory.observe(Step(0, "A hall with a lamp."))
    shown = memory.recall(Cue("A hall with a lamp."), 1000).lessons
    # 4 of 4 words, 4 of 6, then 2 of 4; "kitchen" shares none, the last 1 of 4.
    assert [text[-1] for text in shown] == ["1", "4", "2"]
    memory.observe(Step(1, "A kitchen.", "go east"))
    assert memory.recall(Cue("A kitchen."), 1000).lessons[0][-1] == "3"
    memory.observe(Step(2, "Outside.", "go out"))
    assert memory.recall(Cue("Outside."), 1000).lessons == ()


def test_gain_is_kept_with_state_before_it_and_once() -> None:
    memory = made("evotest")
    for _ in range(2):
        memory.begin(GAME, 0)
        memory.observe(Step(0, "x" * 500))
        memory.observe(Step(1, "Taken.", "take egg", 5.0))
        memory.observe(Step(2, "Ouch.", "hit", -1.0))
        memory.end(Outcome(4.0, 100.0, 0.04))
    (kept,) = [item for item in items(memory) if item.kind == "gain"]
    assert kept.text == f'STATE: {"x" * 400}\nACTION: "take egg"\nGAIN: 5'
    assert [origin.run for origin in kept.origins] == [1, 2]


# --- loops --------------------------------------------------------------------------------------


def steps(*actions: str, gains: dict[int, float] | None = None) -> list[Step]:
    gains = gains or {}
    return [Step(0, ""), *(Step(t, "", a, gains.get(t, 0.0)) for t, a in enumerate(actions, 1))]


def test_loops() -> None:
    numbers = [str(n) for n in range(1, 30)]
    assert loops_in(steps(*numbers[:11])) == []  # less than twelve steps
    assert loops_in(steps(*numbers[:12])) == [tuple(numbers[2:12])]
    assert loops_in(steps(*numbers[:12], gains={12: 1})) == []
    assert loops_in(steps(*numbers[:12], gains={2: 1})) == [tuple(numbers[2:12])]
    # Alternating actions are a loop in spite of a gain.
    back = ["a", "b"] * 6
    assert loops_in(steps(*back, gains={12: 1})) == [tuple(back[2:])]
    assert loops_in(steps(*["a"] * 12, gains={12: 1})) == []
    # Ten further steps to the next one.
    assert len(loops_in(steps(*numbers[:21]))) == 1
    assert loops_in(steps(*numbers[:22]))[1] == tuple(numbers[12:22])


def test_last_three_of_at_most_fifty_loops_are_shown() -> None:
    memory = made("evotest", inner="none", lifetime="forever")
    for n in range(60):
        memory.bank.add(Item(f"loop {n}", f"loop {n}", "loop"))
    trial(memory, 0)
    assert [item.text for item in items(memory) if item.kind == "loop"] == [
        f"loop {n}" for n in range(10, 60)]  # fmt: skip
    memory.begin(GAME, 0)
    memory.observe(Step(0, "Nothing known."))
    loops = [text for text in memory.recall(Cue(""), 1000).lessons if "loop" in text]
    assert [text.split()[-1] for text in loops] == ["59", "58", "57"]
