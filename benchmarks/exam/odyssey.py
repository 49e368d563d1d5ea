"""Ask AgentOdyssey's own exam about an episode, answered from the recall of each memory.

    python -m benchmarks exam/odyssey    # writes the tables of docs/agentodyssey.md

The package writes ten choices to each question from its log of the episode. An answer is the choice
that the recall for the question contains; if there are several, each counts in part. The package's
agents ask a language model instead, so its published numbers are not comparable.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import gymnasium as gym
from keep import write_measured

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.base import make_policy
from gym_memory.core.records import Cue
from gym_memory.evaluate.exam import ExamConfig, exam_scores
from gym_memory.evaluate.exam import examine as examine_ours
from gym_memory.run import rollout

MEMORIES = ("arigraph", "stma", "rag", "simulacra", "summary", "history", "present", "none")
SEEDS, STEPS, BUDGET, PER_KIND = range(3), 100, 500, 10
WORLD = "remnant"
KINDS = (
    *("visited_area", "acquired_object", "action_at_time_location", "next_action"),
    "drop_discard_location",
)
"""Kinds of the package's questions; these episodes have no crafting or killing."""


def questions(log: list[dict[str, Any]], state: dict[str, Any], seed: int) -> Any:
    """Return the questions that the package asks about an episode, by kind."""
    folder = Path(str(distribution("agentodyssey").locate_file("")))
    place = f"generated/{WORLD}"
    config = json.loads((folder / f"assets/env_configs/{place}/initial.json").read_text("utf-8"))
    config["curr_agents_state"] = state
    with tempfile.TemporaryDirectory() as kept:
        ended, lines = Path(kept) / "config.json", Path(kept) / "log.jsonl"
        ended.write_text(json.dumps(config, default=list), "utf-8")
        lines.write_text("".join(json.dumps(row) + "\n" for row in log), "utf-8")
        sys.path.insert(0, str(folder))
        try:
            own = importlib.import_module("tools.generate_episodic_memory_qa")
            own.build_choices_with_answer_idx = choices
            with contextlib.redirect_stdout(io.StringIO()):
                return own.generate_episodic_memory_qa(
                    str(folder / f"assets/world_definitions/{place}/default.json"),
                    str(ended), str(lines), PER_KIND, seed,
                )  # fmt: skip
        finally:
            sys.path.remove(str(folder))


def choices(answer: str, others: Collection[str], max_choices: int = 10) -> tuple[list[str], int]:
    """Replace the package's choice, which samples from the order of a set."""
    found = sorted({str(other) for other in others if other} - {str(answer)})
    shown = [*random.sample(found, min(max_choices - 1, len(found))), str(answer)]
    random.shuffle(shown)
    return shown, shown.index(str(answer))


def credit(question: dict[str, Any], recalled: str) -> float:
    """Return 1 / n if the right choice is among the n that a recall contains, else 0."""
    named = [
        choice
        for choice in question["choices"]
        if re.search(rf"\b{re.escape(choice.lower())}\b", recalled.lower())
    ]
    right = question["choices"][question["answer_idx"]]
    return 1 / len(named) if right in named else 0.0


def examine(memory: str, seed: int) -> dict[str, list[float]]:
    """Play an episode and return the credit for each question, by kind."""
    env = gym.make(
        "gym_memory/AgentOdyssey-v0", world=WORLD, tutorial=False, memory=memory, budget=BUDGET
    )
    raw, log = env.unwrapped, []

    def note(t: int, info: dict[str, Any]) -> None:
        if log:
            log[-1]["action"] = raw._actions[-1]
        log.append({"observation": {"text": raw._feedback.text, "step": t}, "action": ""})

    rollout(env, make_policy("random"), seed, limit=STEPS, on_step=note)
    state = raw._engine.env.curr_agents_state
    held = env.get_wrapper_attr("memory")
    found: dict[str, list[float]] = {}
    for kind, asked in questions(log, state, seed).items():
        for question in asked if kind in KINDS else ():
            cue = Cue(log[-1]["observation"]["text"], task=question["question"])
            found.setdefault(kind, []).append(credit(question, held.recall(cue, BUDGET).text))
    env.close()
    return found


def measure() -> dict[str, dict[str, Any]]:
    """Return the credits of each memory over all episodes by kind, and its share in our exam."""
    kept: dict[str, dict[str, Any]] = {}
    config = ExamConfig(
        (f"AgentOdyssey?tutorial=false&world={WORLD}",), MEMORIES, ("random",), tuple(SEEDS),
        (BUDGET,), (STEPS,), wordings=("unseen",),
    )  # fmt: skip
    ours = {
        score.memory: score for score in exam_scores(examine_ours(config)) if score.kind == "all"
    }
    for memory in MEMORIES:
        for seed in SEEDS:
            for kind, credits in examine(memory, seed).items():
                row = kept.setdefault(memory, {}).setdefault(kind, [])
                row += credits
        shares = {kind: round(sum(row) / len(row), 3) for kind, row in kept[memory].items()}
        kept[memory] = {**shares, "ours": round(ours[memory].right, 3)}
        print(memory, kept[memory], flush=True)
    return kept


if __name__ == "__main__":
    write_measured("exam/odyssey", measure())
    subprocess.run([sys.executable, "benchmarks/tables.py"], check=True)
