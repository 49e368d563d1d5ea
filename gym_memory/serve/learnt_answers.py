"""Answers to the prompts that show lessons: CLIN's goal and action, LDM2's action.

A goal is the next item of the plan that the learnings give, and where they give none, or it is
done, the aim of the player by rules; the player by lessons carries an item out.
"""

from __future__ import annotations

import json
import re
import zlib

import numpy as np

from gym_memory.baselines.learner import Advice, Learner
from gym_memory.baselines.planning.beliefs import Beliefs
from gym_memory.memory.extract import get_extractor
from gym_memory.serve.analogy import analogies, read_examples, read_present
from gym_memory.serve.answers import Slots, answers
from gym_memory.serve.play_answers import choice_of, facts_of, last_action, observation_of
from gym_memory.types import Task

__all__: list[str] = []

_LEARNING = re.compile(r"^(\d+)\. .*(?:NECESSARY|CONTRIBUTE)\b.*$", re.MULTILINE)
_GOAL = re.compile(r"^Thought: (.+)$", re.MULTILINE)
_NEXT = "Next: "
_PATIENCE = 4
_TURN = re.compile(r"^\[step \d+\](?: > (.*))?$", re.MULTILINE)
_CANDIDATES = 4


@answers("clin_goal")
def clin_goal(slots: Slots) -> str:
    """The next item of the learnings' plan, all of them used; after its end, an aim."""
    found = list(_LEARNING.finditer(slots["memory"]))
    plan = [_item(*item) for item in Advice.read([learning[0] for learning in found]).plan]
    goals = _GOAL.findall(slots["history"])
    number = _progress(plan, goals, last_action(slots)) if goals else 0
    if number < len(plan):
        ids = [int(learning[1]) for learning in found]
        return json.dumps({"learnings": ids, "goal": plan[number]})
    last = goals[-1] if goals and not goals[-1].startswith(_NEXT) else ""
    memory = slots["memory"] if facts_of(slots["memory"]) else ""  # a transcript: the history is
    _, aim = choice_of({**slots, "memory": memory, "actions": ""}, last)
    return json.dumps({"learnings": [], "goal": aim})


def _item(action: str, place: str) -> str:
    return f'{_NEXT}"{action}" in the {place}' if place else f'{_NEXT}"{action}"'


def _progress(plan: list[str], goals: list[str], done: str) -> int:
    """The item to go for: the next one where the last is done, or leads nowhere."""
    last = goals[-1]
    if last not in plan:
        return len(plan)
    stuck = goals[-_PATIENCE:] == [last] * _PATIENCE and not done.startswith("go ")
    return plan.index(last) + (last.startswith(f'{_NEXT}"{done}"') or stuck)


@answers("clin_act")
def clin_act(slots: Slots) -> str:
    """The next action of a plan, else the one of the player by rules."""
    slots = {**slots, "memory": ""}
    if not slots["goal"].startswith(_NEXT):
        return choice_of(slots, slots["goal"])[0]
    observation = observation_of(slots)
    task = Task("", slots["task"])
    here = Beliefs(observation, get_extractor(task.dialect), task, action=last_action(slots)).here
    learner = Learner()
    learner.reset({}, zlib.crc32(slots["history"].encode()))
    learner.focus = f"{slots['goal']} | here: {here}"
    observation["lessons"] = tuple(slots["learnings"].split("\n"))
    return learner.act(observation, {})


@answers("ldm2")
def ldm2(slots: Slots) -> str:
    """The analogies of the examples; without examples any action is as good as another.

    Nothing but the examples tells what to do, so an agent that is shown none plays by chance.
    """
    possible = [action for action in slots["actions"].split("\n") if action]
    present = read_present(slots["memory"], slots["observation"])
    worth = analogies(read_examples(slots["memory"]), present, possible, _in_vain(slots))
    if not worth:
        draw = np.random.default_rng(zlib.crc32((slots["history"] + slots["observation"]).encode()))
        worth = {possible[int(n)]: 1.0 for n in draw.permutation(len(possible))[:_CANDIDATES]}
    chosen = sorted(worth, key=lambda action: -worth[action])[:_CANDIDATES]
    total = sum(worth[action] for action in chosen)
    return json.dumps(
        {"actions": [{"action": a, "confidence": round(worth[a] / total, 3)} for a in chosen]}
    )


def _in_vain(slots: Slots) -> list[str]:
    """Actions that were done at this very sight before, by the latest steps."""
    seen = _lines(slots["observation"])
    turns = _TURN.split(slots["history"])
    return [
        then for text, then in zip(turns[2::2], turns[3::2], strict=False) if _lines(text) == seen
    ]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
