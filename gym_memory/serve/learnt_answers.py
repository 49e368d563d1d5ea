"""Answers to the prompts that show lessons: CLIN's goal and action, LDM2's action.

A goal is the next item of the plan that the learnings give, and where they give none, or it is
done, the aim of the player by rules; the player by lessons carries an item out.
"""

from __future__ import annotations

import json
import re
import zlib

from gym_memory.baselines.learner import Advice, Learner
from gym_memory.baselines.planning.beliefs import Beliefs
from gym_memory.memory.extract import get_extractor
from gym_memory.serve.answers import Slots, answers
from gym_memory.serve.play_answers import choice_of, facts_of, last_action, observation_of
from gym_memory.types import Task

__all__: list[str] = []

_LEARNING = re.compile(r"^(\d+)\. .*(?:NECESSARY|CONTRIBUTE)\b.*$", re.MULTILINE)
_GOAL = re.compile(r"^Thought: (.+)$", re.MULTILINE)
_NEXT = "Next: "
_PATIENCE = 4
_EXAMPLE = re.compile(r"^Action: (.+)$", re.MULTILINE)


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
    """Every example votes for the possible action most like its own.

    Likeness is the same verb, then words in common, then what the player by rules would do:
    other things lie here than in the examples.
    """
    possible = [action for action in slots["actions"].split("\n") if action]
    own, _ = choice_of({**slots, "memory": ""}, "")
    votes: dict[str, float] = {}
    for rank, example in enumerate(_EXAMPLE.findall(slots["memory"]), 1):
        words = example.split()
        alike = [action for action in possible if action.split()[0] == words[0]]
        if alike:
            best = max(alike, key=lambda a: (a == own, len({*a.split()} & {*words})))
            votes[best] = votes.get(best, 0.0) + 1 / rank
    votes = votes or {own: 1.0}
    chosen = sorted(votes, key=lambda action: -votes[action])[:4]
    total = sum(votes[action] for action in chosen)
    return json.dumps(
        {"actions": [{"action": a, "confidence": round(votes[a] / total, 3)} for a in chosen]}
    )
