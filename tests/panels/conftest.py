"""Panels of the tests, since these may not play the games of the tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gym_memory.core.names import Spec
from gym_memory.panels.digests import content_of, observe, shown
from gym_memory.panels.env import make_world
from gym_memory.panels.panel import Panel, PanelTask, write_panel

QUESTIONS = [
    {
        "_id": f"q{n}",
        "question": f"Which island is {place} on?",
        "answer": island,
        "type": "bridge",
        "supporting_facts": [[place, 0]],
        "context": [
            [place, [f"{place} is a harbour.", f" It is on {island}."]],
            ["Quay", ["A quay is a wall."]],
        ],
    }
    for n, (place, island) in enumerate((("Skarn", "Vell"), ("Holm", "Oro"), ("Ness", "Tyr")))
]


def of_world(spec: Spec, name: str) -> Panel:
    draft = Panel(name, "A panel of a test.", (PanelTask(Spec("Fetch"), "none"),))
    env = make_world(draft, spec)
    tasks = []
    for task_id in env.get_wrapper_attr("task_ids"):
        seen = list(observe(env, task_id))
        obs, _ = env.reset(options={"task_id": task_id})
        digests = tuple(shown(obs, step) for step, obs in enumerate(seen))
        tasks.append(PanelTask(spec, task_id, digests, content_of(env, obs)))
    env.close()
    return Panel(name, draft.about, tuple(tasks))


@pytest.fixture
def panel_of() -> Callable[[Spec, str], Panel]:
    return of_world


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "hotpot_dev.json"
    path.write_text(json.dumps(QUESTIONS))
    return path


@pytest.fixture
def panel_file(tmp_path: Path, questions: Path) -> str:
    spec = Spec.of("MultiHopQA", {"path": str(questions), "dataset": "hotpotqa", "max_steps": 9})
    path = tmp_path / "mine.json.gz"
    write_panel(of_world(spec, "mine"), path)
    return str(path)
