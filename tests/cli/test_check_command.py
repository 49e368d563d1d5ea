"""`gym-memory check` names the contract that one's own memory, policy or environment breaks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gym_memory.cli import main

MEMORIES = """
from gym_memory.core.records import Recall
from gym_memory.memory import Memory


class Good(Memory):
    name, lifetimes = "Good", {"last": "episode"}

    def begin(self, task, seed):
        self.last = ""

    def observe(self, step):
        self.last = step.text

    def recall(self, cue, budget):
        return Recall(text=self.last[: budget * 4])

    def state(self):
        return {"last": self.last}

    def load_state(self, state):
        self.last = state["last"]


class Raises(Good):
    def observe(self, step):
        self.rooms["kitchen"] += 1


class WrongType(Good):
    def recall(self, cue, budget):
        return self.last


class OverBudget(Good):
    def recall(self, cue, budget):
        return Recall(text=self.last + "!" * 5000)


class Outside(Good):
    def begin(self, task, seed):
        self.last, self.seen = "", []

    def observe(self, step):
        self.seen.append(step.text)

    def recall(self, cue, budget):
        return Recall(text=" ".join(self.seen)[: budget * 4])


class Tuples(Good):
    def state(self):
        return {"last": self.last, "pair": (1, 2)}


class Sets(Good):
    def observe(self, step):
        self.last = " ".join(set(step.text.split()))


class Changes(Good):
    def recall(self, cue, budget):
        self.last = self.last[1:]
        return Recall(text=self.last[: budget * 4])
"""
POLICIES = """
import random


class Good:
    def act(self, obs, info):
        return (obs["valid_actions"] or ("look",))[-1]


class Raises(Good):
    def act(self, obs, info):
        return obs["valid_action"][0]


class WrongType(Good):
    def act(self, obs, info):
        return 3


class Chance(Good):
    def act(self, obs, info):
        return random.choice(obs["valid_actions"] or ("look",))


class NoReset(Good):
    def __init__(self):
        self.steps = 0

    def act(self, obs, info):
        self.steps += 1
        valid = obs["valid_actions"] or ("look",)
        return valid[self.steps // 30 % len(valid)]


class Changes(Good):
    def act(self, obs, info):
        obs["text"] = ""
        return super().act(obs, info)


class NeedsActions(Good):
    def act(self, obs, info):
        return obs["valid_actions"][0]
"""
ENVIRONMENTS = """
import random

from gym_memory.core.records import Oracle
from gym_memory.games import Feedback, TextEnv


class Good(TextEnv):
    def __init__(self, *, max_steps=30, valid_actions=True, render_mode=None):
        super().__init__(max_steps=max_steps, valid_actions=valid_actions, render_mode=render_mode)
        self._ids = ["a", "b"]
        self.count = 0

    def _open(self, task_id):
        self.count = 0
        return Feedback("You are at 0.", max_score=40.0)

    def _send(self, action):
        self.count += action == "on"
        taken = action in self.verbs
        return Feedback(f"You are at {self.count}.", self.count, 40.0, accepted=taken)

    verbs = ("on", "wait")

    def _list_valid_actions(self):
        return self.verbs

    def goal(self):
        return "Go on."

    def oracle(self):
        return Oracle()

    def versions(self):
        return {"count": "1"}


class Raises(Good):
    def _send(self, action):
        return self.rooms[action]


class WrongType(Good):
    def _send(self, action):
        return super()._send(action)._replace(text=3)


class Refuses(Good):
    def _list_valid_actions(self):
        return ("on", "fly")


class Outside(Good):
    total = 0

    def _send(self, action):
        Outside.total += 1
        return super()._send(action)._replace(text=f"Step {Outside.total}.")


class Chance(Good):
    def _send(self, action):
        return super()._send(action)._replace(text=str(random.random()))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: Any) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"memories": MEMORIES, "policies": POLICIES, "worlds": ENVIRONMENTS}.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def faults(capsys: Any, *words: str) -> dict[str, str]:
    """Return the checks that found a fault, with what they found."""
    with pytest.raises(SystemExit) as ended:
        main(["check", *words, "--json"])
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    wrong = {each["name"]: each["found"] for each in found if not each["ok"]}
    assert ended.value.code == int(bool(wrong))
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", ["memories", "policies", "worlds"])
def test_correct_component_has_no_fault(folder: Path, capsys: Any, name: str) -> None:
    assert faults(capsys, f"./{name}.py:Good") == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "check", "said"),
    [
        ("memories.py:Raises", "plays", "AttributeError"),
        ("memories.py:WrongType", "plays", "expected WrongType.recall to return a Recall"),
        ("memories.py:OverBudget", "budget", "tokens under a budget of 0"),
        ("memories.py:Outside", "state is whole", "outside of state()"),
        ("memories.py:Tuples", "state is JSON", "tuples become lists"),
        ("memories.py:Sets", "same in any process", "sort sets"),
        ("memories.py:Changes", "same twice", "two recalls differ: text: "),
        ("policies.py:Raises", "plays", "KeyError"),
        ("policies.py:WrongType", "plays", "expected the action as text, got 3 (int)"),
        ("policies.py:Chance", "same twice", "draw from the seed"),
        ("policies.py:NoReset", "reset", "clear in reset"),
        ("policies.py:Changes", "observation", "changed"),
        ("policies.py:NeedsActions", "no memory", "IndexError"),
        ("worlds.py:Raises", "plays", "AttributeError"),
        ("worlds.py:WrongType", "plays", "expected Feedback.text as text, got 3 (int)"),
        ("worlds.py:Refuses", "valid actions", "was listed and refused"),
        ("worlds.py:Outside", "snapshot", "outside of the snapshot"),
        ("worlds.py:Chance", "same twice", "two games of seed 0 differ: ('wait', '0."),
    ],
)
def test_faulty_component_is_named(
    folder: Path, capsys: Any, own: str, check: str, said: str
) -> None:
    wrong = faults(capsys, f"./{own}")
    assert check in wrong
    assert said in wrong[check]


@pytest.mark.slow
def test_console_shows_the_line(folder: Path, capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["check", "./memories.py:Raises"])
    text = capsys.readouterr().out
    assert 'memories.py:27, in observe: self.rooms["kitchen"] += 1' in text
    assert "1 of 1 checks found a fault." in text


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memory", "policy", "game"])
def test_template_of_new_keeps_its_contract(folder: Path, capsys: Any, kind: str) -> None:
    main_ends(["new", kind, "first-one"])
    assert "gym-memory check ./first_one.py:FirstOne" in capsys.readouterr().out
    assert faults(capsys, "./first_one.py:FirstOne") == {}


def main_ends(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert not ended.value.code


@pytest.mark.parametrize(
    "words",
    [
        ["quality", "-e", "Fetch", "-m", "none", "-m", "history"],
        ["run", "-e", "Fetch", "-m", "none", "--memory", "history"],
        ["run", "-e", "Fetch", "-p", "random", "-p", "planner"],
        ["memory", "inspect", "x", "-m", "none", "-m", "history"],
    ],
    ids=" ".join,
)
def test_repeated_option_is_refused(capsys: Any, words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "once, got it 2 times" in capsys.readouterr().err
