"""Agents' knowledge before a game: examples that the engines confirm, and rules."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.llm.knowledge import KNOWLEDGE, examples_of, rules_of
from gym_memory.baselines.llm.language import fill
from gym_memory.core.errors import UnknownNameError
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.llm.prompts import load_prompt, read_slots

ENVS = {
    "alfworld": "ALFWorld?path=generated&split=train&task_type={kind}",
    "scienceworld": "ScienceWorld?simplification=easy&split=train&task={kind}",
    "webshop": "WebShop?path=synthetic&split=train",
}


def episodes(name: str) -> list[tuple[str, list[str]]]:
    """Return task ids and lines of the examples of a file."""
    text = resources.files("gym_memory.llm.prompts").joinpath("examples", f"{name}.txt").read_text()
    _, *parts = re.split(r"^# (.*)$", text, flags=re.MULTILINE)
    return [(task, p.strip().splitlines()) for task, p in zip(parts[::2], parts[1::2], strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ENVS))
def test_examples_are_won_games_word_for_word(name: str) -> None:
    for task, lines in episodes(name):
        env = ENVIRONMENTS.make(ENVS[name].format(kind=task.split("/")[1]))
        obs, info = env.reset(options={"task_id": task})
        said = [line for line in lines[1:] if not line.startswith("Thought: ")]
        assert said[0] == " ".join(obs["text"].removeprefix(obs["task"]).split())
        for action, answer in zip(said[1::2], said[2::2], strict=True):
            obs, *_, info = env.step(action.removeprefix("Action: "))
            assert answer == " ".join(obs["text"].split())
        assert info["success"], task
        env.close()


def test_examples_are_of_the_task_type_in_six_orders() -> None:
    task = "household/pick_heat_then_place_in_recep/valid_unseen/3"
    shown = [examples_of(f"alfworld-{number}", task) for number in range(1, 7)]
    assert len(set(shown)) == 6
    assert all(text.count("heat") >= 4 and text.count("Task: ") == 2 for text in shown)
    assert "Thought: " not in examples_of("alfworld", task, thoughts=False)
    for wrong in ("alfred", "alfworld-7"):
        with pytest.raises(UnknownNameError, match="alfworld"):
            examples_of(wrong, task)
    with pytest.raises(UnknownNameError, match="examples"):
        make_policy("react?examples=alfred&model=m&base_url=http://127.0.0.1:9/v1")


def test_examples_and_rules_reach_a_prompt_without_slots_for_them() -> None:
    prompt = load_prompt("react")
    slots = dict.fromkeys(prompt.slots, "") | {"recalled_lessons": "", "task": "Cook."}
    bare = fill(prompt, slots)
    knowing = fill(prompt, {**slots, "knowledge": "Fry in a pan.", "examples": "Action: look"})
    found = read_slots(knowing[-1]["content"])
    assert found["examples"] == "Action: look"
    assert found["task"] == "Cook.\n\nRules of the game:\nFry in a pan."
    assert knowing[0] == bare[0]
    assert (
        "Rules"
        not in fill(
            load_prompt("stma_plan"), {**slots, "knowledge": "x", "subgoal": "", "feedback": ""}
        )[-1]["content"]
    )


def test_rules_of_the_game_in_play() -> None:
    assert (
        rules_of("cooking", "") == KNOWLEDGE["cooking"] == rules_of("game", "cooking/stma-2/test/0")
    )
    assert "50 turns" not in rules_of("game", "cooking/hard/test/0")
    assert rules_of("game", "cleaning/standard/test/0") == ""
    assert rules_of("Be quick.", "x") == "Be quick."
