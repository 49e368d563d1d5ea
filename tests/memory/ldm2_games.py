"""Played tasks from which the tests of LDM2 form memories."""

from __future__ import annotations

import json
from typing import Any

from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.core.trajectory import Trajectory
from gym_memory.memory.ldm2.index import (
    Example,
)
from gym_memory.memory.ldm2.memory import LDM2
from gym_memory.testing.fake_env import FakeHouse

KEYS = "Find the {} key. Unlock the {} chest."
COOK = "Wash the {0} in the sink, then heat the {0} with the microwave."
LOST = Outcome(0.0, 2.0, 0.0, False, True, 3)


def outcome(score: float, steps: int = 3) -> Outcome:
    return Outcome(score, 2.0, score / 2, score == 2, False, steps)


def process(task: Task, *played: tuple[str, str, float], score: float = 2.0) -> Trajectory:
    """Return a trajectory from (action, answer, reward), beginning with the reset observation."""
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
    """Return the fake house's own solutions."""
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
    """Return the examples after the first ``at`` actions of a trajectory."""
    memory.begin(trajectory.task, 0)
    for step in trajectory.steps[: at + 1]:
        memory.observe(step)
    cue = Cue(trajectory.steps[at].text, trajectory.task.goal)
    return [example for _, example in memory.nearest(cue)]


def actions(memory: LDM2, trajectory: Trajectory, at: int = 0) -> list[str]:
    return [example.action for example in shown(memory, trajectory, at)]


def play(memory: LDM2, trajectory: Trajectory) -> None:
    """Drive a memory through one episode as the wrapper does."""
    memory.begin(trajectory.task, 0)
    for step in trajectory.steps:
        memory.observe(step)
    memory.end(trajectory.outcome)


def dump(memory: LDM2) -> str:
    return json.dumps(memory.state())


def tuples(memory: LDM2) -> int:
    return memory.stats().lessons


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
