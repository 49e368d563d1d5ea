"""ReasoningBank's MaTTS: attempts at a task that are compared, or checked one after the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from stream import LOST, WAY, WON, begin, items, made, play
from work import calls

from gym_memory.core.records import Cue, Outcome, Step
from gym_memory.llm.client import OpenAIChat
from gym_memory.memory.experience.items import Item
from gym_memory.memory.experience.reasoningbank import compare_attempts
from gym_memory.run.config import Job
from gym_memory.run.worker import play_job
from gym_memory.testing.chat import Faults, ScriptedServer

GOAL, OTHER = "put potato in shelf", "heat some egg"
HEAD = f"Goal: {GOAL}.\n"
DETOUR = ("go to shelf 2", "look", "look", "take potato 1 from fridge 1")
ORDER = ('Keep the order that won: "go to fridge", "take potato from fridge", "go to shelf", '
         '"move potato to shelf".')  # fmt: skip
REFUSAL = 'Leave what is refused. Do not do "look" again: 2 times it changed nothing.'
CONTRAST = (
    'It made the difference to do "go to fridge", "move potato to shelf": worse attempts lacked it.'
)
HALF = Outcome(0.5, 1.0, 0.5, False, False, 3)


def parallel(attempts: int = 2, **more: Any) -> Any:
    return made("reasoningbank", scaling="parallel", attempts=attempts, **more)


def sequential(attempts: int = 2, **more: Any) -> Any:
    return made("reasoningbank", scaling="sequential", attempts=attempts, **more)


def texts(memory: Any) -> list[str]:
    return [item.text.removeprefix(HEAD) for item in items(memory)]


def held(memory: Any) -> list[Any]:
    """Return the attempts that wait to be compared."""
    return list(memory.state().get("attempts", ()))


def runs(item: Item) -> list[tuple[int, bool]]:
    return [(origin.run, origin.success) for origin in item.origins]


def attempt(effects: str, done: str, score: float, note: str = "", won: bool = False) -> Item:
    """Build an attempt from its actions, one letter each."""
    more = (note, "\n".join(effects), "\n".join(done))
    return Item("", "", "success" if won else "failure", "g", tuple(done), more, utility=score)


# --- the rule -----------------------------------------------------------------------------------


def test_trait_of_all_successes_and_no_failure_decides() -> None:
    won = [attempt("abcd", "abcd", 1, "Do abcd.", True), attempt("dbe", "dbe", 1, "Do dbe.", True)]
    lost = [attempt("", "d", 0), attempt("f", "fe", 0)]
    # The shorter success comes first; of b and d, which both have, a failure did d.
    assert compare_attempts([lost[0], *won, lost[1]]) == [
        "Do dbe.", 'Goal: g.\nIt made the difference to do "b": worse attempts lacked it.'
    ]  # fmt: skip
    assert compare_attempts(won) == ["Do dbe."]
    assert compare_attempts([won[0], attempt("", "abcd", 0)]) == ["Do abcd."]


def test_without_a_success_the_best_is_compared() -> None:
    best, worst = attempt("ab", "ab", 0.5, "Not c."), attempt("a", "ad", 0, "Not d.")
    assert compare_attempts([worst, best]) == [
        "Not c.", 'Goal: g.\nIt made the difference to do "b": worse attempts lacked it.'
    ]  # fmt: skip
    assert compare_attempts([worst, worst]) == ["Not d."]
    assert compare_attempts([attempt("", "a", 0)]) == []


def test_a_check_counts_if_the_next_attempt_is_better() -> None:
    steps = [attempt("", "a", score, f"Note {n}.") for n, score in enumerate((0, 0.5, 0.2, 0.2, 0))]
    won = attempt("", "a", 1, "Note 5.", True)
    assert compare_attempts([*steps, won], checked=True) == ["Note 5.", "Note 0.", "Note 4."]
    assert compare_attempts([*steps, won]) == ["Note 5."]


# --- parallel -----------------------------------------------------------------------------------


def test_attempts_are_contrasted_once_there_are_enough() -> None:
    memory = parallel(inner="none")
    assert play(memory, GOAL, LOST, DETOUR) == ""
    assert items(memory) == []
    assert play(memory, GOAL, WON) == "", "an attempt does not see those before"
    assert texts(memory) == [ORDER, CONTRAST]
    assert [runs(item) for item in items(memory)] == [[(1, False), (2, True)]] * 2
    assert {(item.kind, item.key, item.born, item.more) for item in items(memory)} == {
        ("success", GOAL, 2, ())
    }
    shown = begin(memory, GOAL)
    assert shown.index(CONTRAST) < shown.index(ORDER), "the order is the best item, so the last"
    memory.end(WON)
    play(memory, GOAL, WON)
    assert len(items(memory)) == 2, "the next attempts are held again"


def test_failures_give_the_refused_action_of_the_best() -> None:
    memory = parallel(3)
    for actions in (("wait", "wait", "wait", "look", "go"), DETOUR, ("jump", *DETOUR)):
        play(memory, GOAL, LOST, actions)
    assert texts(memory) == [REFUSAL], "that of the shortest"
    assert items(memory)[0].kind == "failure"
    play(memory, OTHER, LOST, DETOUR)
    play(memory, OTHER, HALF, DETOUR)
    play(memory, OTHER, LOST, DETOUR)
    assert texts(memory)[1].endswith(REFUSAL)
    assert len(items(memory)) == 2


def test_fewer_attempts_count_after_one_at_another_task() -> None:
    memory = parallel(3)
    play(memory, GOAL, LOST, DETOUR)
    play(memory, GOAL, WON)
    before = json.dumps(memory.state()["bank"])
    begin(memory, OTHER)
    assert json.dumps(memory.state()["bank"]) == before, "an episode that begins changes nothing"
    memory.end(WON)  # without an action it is no attempt
    assert items(memory) == []
    play(memory, OTHER, LOST, DETOUR)
    assert texts(memory) == [ORDER, CONTRAST]
    assert [runs(item) for item in items(memory)] == [[(1, False), (2, True)]] * 2
    assert (memory.bank.episode, len(held(memory))) == (3, 1)
    play(memory, GOAL, WON)
    assert texts(memory)[2].endswith(REFUSAL)
    assert runs(items(memory)[2]) == [(3, False)]


def test_single_attempt_equals_play_without_scaling() -> None:
    single, plain = parallel(1), made("reasoningbank")
    for memory in (single, plain):
        play(memory, GOAL, LOST, DETOUR)
        play(memory, GOAL, WON)
        play(memory, OTHER, LOST, DETOUR)
    assert items(single) == items(plain)
    assert single.state() == plain.state()
    assert "attempts" not in plain.state()


def test_attempts_live_as_long_as_the_items() -> None:
    memory = parallel(3, lifetime="trial")
    play(memory, GOAL, WON)
    play(memory, OTHER, LOST, DETOUR)
    assert (items(memory), len(held(memory))) == ([], 1)
    frozen = parallel(1, learn=False)
    play(frozen, GOAL, WON)
    assert (items(frozen), held(frozen)) == ([], [])


def test_a_win_for_the_gate_is_not_compared() -> None:
    memory = parallel(4, gate=1)
    for n in range(4):
        play(memory, GOAL, WON if n == 3 else LOST, WAY if n == 3 else DETOUR)
    assert (len(held(memory)), memory.bank.held[0][0]) == (3, GOAL)
    play(memory, OTHER, LOST, DETOUR)
    assert texts(memory) == [REFUSAL]


# --- sequential ---------------------------------------------------------------------------------


def test_an_attempt_is_shown_to_the_next_one() -> None:
    memory = sequential(3, inner="none")
    assert play(memory, GOAL, LOST, DETOUR) == ""
    shown = play(memory, GOAL, LOST, ("wait", "wait", "wait"))
    assert shown.split("\n")[1:7] == [
        "1. Check the last attempt at this task, a failure: were its steps right, and needed?",
        "Final score: 0 of 100. The agent made next to no progress.",
        HEAD.strip(),
        REFUSAL,
        "Step 0",
        "Observation: You are in the middle of a room.",
    ]
    assert shown.endswith(
        "Step 4\nAction: take potato 1 from fridge 1\nObservation: Nothing happens."
    )
    assert memory.ids(memory.recall(Cue("", GOAL), 1000).lessons) == [0], "it is no item"
    assert begin(memory, OTHER) == "", "the attempt is at another task"
    shown = play(memory, GOAL, WON)
    assert "Step 3\nAction: wait" in shown
    assert "Step 4" not in shown, "the last attempt alone"
    assert texts(memory) == [ORDER, CONTRAST, REFUSAL.replace("look", "wait")]
    shown = begin(memory, GOAL)
    assert "Check the last attempt" not in shown
    assert ORDER in shown


def test_quotes_of_the_game_are_not_advice() -> None:
    memory = sequential()
    begin(memory, GOAL)
    memory.observe(Step(1, 'A sign: "go north" and "go south".', "look"))
    memory.end(LOST)
    shown = begin(memory, GOAL)
    assert "A sign: 'go north' and 'go south'." in shown
    assert '"' not in shown


# --- state --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaling", ["parallel", "sequential"])
def test_state_between_attempts_leads_to_the_same_items(scaling: str) -> None:
    memory = made("reasoningbank", scaling=scaling)
    play(memory, GOAL, LOST, DETOUR)
    play(memory, GOAL, LOST, ("wait", "wait"))
    begin(memory, GOAL)
    shown = memory.recall(Cue("", GOAL), 1000).lessons
    saved, kept = json.dumps(memory.state()), memory.snapshot()
    loaded = made("reasoningbank", scaling=scaling)
    loaded.load_state(json.loads(saved))
    twin = memory.fork()
    play(memory, GOAL, WON)
    after = json.dumps(memory.state())
    assert len(items(memory)) == 2 + (scaling == "sequential")
    for other in (loaded, twin):
        assert json.dumps(other.state()) == saved
        assert other.recall(Cue("", GOAL), 1000).lessons == shown
        play(other, GOAL, WON)
        assert json.dumps(other.state()) == after
    memory.restore(kept)
    assert json.dumps(memory.state()) == saved
    play(memory, GOAL, WON)
    assert json.dumps(memory.state()) == after


def test_attempts_are_compared_in_a_store(tmp_path: Path) -> None:
    place = str(tmp_path / "items.db")
    kept, own = parallel(store=place), parallel()
    for memory in (kept, own):
        play(memory, GOAL, LOST, DETOUR)
        play(memory, GOAL, WON)
        play(memory, OTHER, WON)
    assert items(kept) == items(own)
    assert begin(made("reasoningbank", store=place), GOAL) == begin(own, GOAL)


def test_a_step_makes_at_most_five_calls_an_item() -> None:
    memory = sequential(inner="none")
    for n in range(1000):
        memory.bank.add(Item(f'Do "take thing {n}".', f"find thing {n} in room {n % 9}"))
    play(memory, GOAL, LOST, [f"take thing {n}" for n in range(300)])
    begin(memory, GOAL)  # encodes the keys, once

    def play_steps() -> None:
        for t in range(1, 21):
            memory.observe(Step(t, f"You see thing {t} on the shelf.", "look"))
            assert "Check the last attempt" in memory.recall(Cue("You see thing 4"), 1000).text

    assert calls(play_steps) < 20 * 5 * 1000


# --- a model, and a game ------------------------------------------------------------------------


def test_a_model_compares(server: ScriptedServer) -> None:
    model: Any = OpenAIChat("scripted", server.base_url, retries=0)
    memory = parallel(llm=model)
    play(memory, GOAL, LOST, DETOUR)
    assert memory.stats().extraction_calls == 0
    play(memory, GOAL, WON)
    assert texts(memory) == [
        'Order Use it for such a task. Do in this order: "go to fridge 1", '
        '"take potato 1 from fridge 1", "go to shelf 2", "move potato 1 to shelf 2".'
    ]
    assert [origin.author for origin in items(memory)[0].origins] == ["model", "model"]
    stats = memory.stats()
    assert (stats.extraction_calls, stats.fallbacks) == (1, 0)


def test_a_model_checks(server: ScriptedServer) -> None:
    model: Any = OpenAIChat("scripted", server.base_url, retries=0)
    memory = sequential(llm=model, inner="none")
    play(memory, GOAL, LOST, DETOUR)
    note = 'Another end Use it for such a task. Do not do "take potato 1 from fridge 1".'
    assert f"\n{note}\nStep 0\n" in play(memory, GOAL, LOST, ("look", "wait"))
    (item,) = texts(memory)
    assert item.endswith('Do not do "wait".')
    stats = memory.stats()
    assert (stats.extraction_calls, stats.fallbacks) == (3, 0)


def test_the_rule_compares_after_a_failed_call() -> None:
    with ScriptedServer(faults=Faults(rates={"500": 1.0})) as broken:
        memory = parallel(llm=OpenAIChat("m", broken.base_url, retries=0))
        play(memory, GOAL, LOST, DETOUR)
        play(memory, GOAL, WON)
    assert texts(memory) == [ORDER, CONTRAST]
    assert {origin.author for origin in items(memory)[0].origins} == {"rules"}
    assert memory.stats().fallbacks == 1


@pytest.mark.slow
@pytest.mark.parametrize("scaling", ["parallel", "sequential"])
def test_a_learner_plays_attempts_in_a_real_game(scaling: str) -> None:
    pytest.importorskip("textworld", reason="needs the extra textworld")
    memory = f"reasoningbank?attempts=2&scaling={scaling}"
    job = Job(
        "Cooking?gata_actions=true&level=rl-2&max_steps=10", memory, "learner", 0, "trials?k=3"
    )
    once, again = ([row.result for row in play_job(job)] for _ in range(2))
    assert not any(result.failed for result in once)
    assert [(r.steps, r.curve) for r in once] == [(r.steps, r.curve) for r in again]
    assert len(once) == 3
