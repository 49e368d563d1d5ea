"""Reflexion and the placebo of lessons."""

from __future__ import annotations

import json
import re

import pytest
from test_clin import DETOUR, chat, play, trial_of

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.memory import Memory, make_memory
from gym_memory.memory.base import count_tokens
from gym_memory.memory.reflexion import Reflexion, reflect
from gym_memory.testing.chat import Faults, ScriptedServer

WIN = ["open wooden door", "go east", "open fridge", "take apple from fridge", "go west"]
WIN += ["go west", "put apple on table"]
QUOTED = re.compile(r'"([^"]*)"')


def lessons(memory: Memory) -> tuple[str, ...]:
    return memory.recall(Cue(""), 10_000).lessons


# --- reflexion ----------------------------------------------------------------------------------


def test_a_plan_for_the_next_trial() -> None:
    trace, outcome, task = trial_of([*DETOUR[:-1], "eat apple"])
    assert reflect(trace, outcome, (), task).split(". ") == [
        "Final score: 50 of 100",
        "The agent made a critical mistake that ended the task",
        'These steps lead to all that scored; do them first: "open wooden door", "go east", '
        '"open fridge", "take apple from fridge"',
        'After "eat apple" the game was lost; do not repeat it',
        'These led to nothing; do not spend steps on them: "look", "close fridge"',
        "Then go on with what was not tried yet.",
    ]


def test_costs_are_named() -> None:
    trace = [Step(0, "A hall."), Step(1, "Ouch.", "hit wall", -1.0)]
    sentences = reflect(trace, Outcome(-1.0), (), Task("", ""))
    assert 'These cost points; do not repeat them: "hit wall".' in sentences


def test_reflects_after_failures_and_keeps_three() -> None:
    memory = Reflexion()
    play(memory, WIN)
    assert lessons(memory) == ()
    for actions in (["look"], ["inventory"], WIN, DETOUR, [*DETOUR[:-1], "eat apple"]):
        play(memory, actions)
    sentences = lessons(memory)
    assert [line.partition(".")[0] for line in sentences] == ["3", "2", "1"]  # the newest first
    assert 'After "eat apple" the game was lost' in sentences[0]
    assert memory.stats().lessons == 3
    assert len(memory.state()["reflections"]) == 3


def test_another_instance_starts_without_reflections() -> None:
    memory = Reflexion()
    play(memory, DETOUR)
    assert lessons(memory)
    memory.begin(trial_of([], 1)[2], 0)
    assert not lessons(memory)


def test_a_reflection_that_is_too_long_is_cut() -> None:
    memory = Reflexion()
    play(memory, DETOUR)
    recall = memory.recall(Cue(""), 60)
    assert recall.lessons[0].startswith("1. Final score: 50 of 100.")
    assert "Then go on" not in recall.lessons[0]
    assert recall.lessons[0] in recall.text
    assert count_tokens(recall.text) <= 60


def test_inner_memory_is_a_parameter() -> None:
    memory = Reflexion(inner="arigraph")
    play(memory, DETOUR)
    recall = memory.recall(Cue("elsewhere"), 1000)
    assert recall.triples
    assert recall.lessons
    assert Reflexion(inner="history?window=2").inner.window == 2


def test_model_reflects_and_rules_replace_failed_calls() -> None:
    with ScriptedServer(faults=Faults(["", "500"])) as server:
        memory = Reflexion(llm=chat(server))
        play(memory, DETOUR)
        assert "Do again what brought points: take apple from fridge." in lessons(memory)[0]
        assert memory.stats().fallbacks == 0
        play(memory, DETOUR)
        assert "These steps lead to all that scored" in lessons(memory)[0]
    stats = memory.stats()
    assert (stats.extraction_calls, stats.fallbacks, stats.lessons) == (2, 1, 2)


@pytest.mark.parametrize("wrong", [{"keep": 0}, {"keep": 1.5}, {"inner": "reflexion"}])
def test_wrong_values_are_refused(wrong: dict) -> None:
    with pytest.raises(InvalidArgumentError, match=f"expected {next(iter(wrong))}"):
        Reflexion(**wrong)


# --- placebo ------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", ["clin", "reflexion"])
def test_placebo_has_the_form_and_not_the_content(of: str) -> None:
    honest, memory = make_memory(of), make_memory(f"placebo?of={of}")
    for one in (honest, memory):
        play(one, DETOUR)
        one.begin(trial_of([])[2], 0)
    true, false = lessons(honest), lessons(memory)
    assert len(true) == len(false)
    assert [QUOTED.sub("_", line) for line in true] == [QUOTED.sub("_", line) for line in false]
    sentences = list(zip(map(QUOTED.findall, true), map(QUOTED.findall, false), strict=True))
    pairs = {pair for old, new in sentences for pair in zip(old, new, strict=True)}
    assert len({old for old, _ in pairs}) == len(pairs)  # one for each, the same everywhere
    assert all(old != new for old, new in pairs)
    seen = {action for step in trial_of(DETOUR)[0] for action in step.valid_actions}
    assert {new for _, new in pairs} <= seen
    text = memory.recall(Cue(""), 10_000).text
    assert all(line in text for line in false)


def test_placebo_differs_between_trials_and_is_repeatable() -> None:
    sentences = []
    for _ in range(2):
        memory = make_memory("placebo")
        for _ in range(2):
            play(memory, DETOUR)
            memory.begin(trial_of([])[2], 0)
            sentences.append([QUOTED.findall(line) for line in lessons(memory)])
    assert sentences[:2] == sentences[2:]
    assert sentences[0] != sentences[1]


def test_placebo_belongs_to_its_instance() -> None:
    memory = make_memory("placebo")
    play(memory, DETOUR)
    twin = memory.fork()
    twin.begin(Task("another", "goal"), 0)
    assert twin.state()["actions"] == []
    assert memory.state()["actions"]
    assert json.dumps(memory.fork().state()) == json.dumps(memory.state())
