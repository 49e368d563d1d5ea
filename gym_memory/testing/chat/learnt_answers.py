"""Answers to the prompts that show lessons: CLIN's goal and action, LDM2's action.

A goal is the next item of the plan that the learnings give, and where they give none, or it is
done, the aim of the player by rules; the player by lessons carries an item out.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.learner import Course, Learner
from gym_memory.baselines.rules.plan import Plan
from gym_memory.core.records import Task
from gym_memory.extract import get_extractor
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import DIRECTIONS
from gym_memory.memory.reading import fact_line, split_entries
from gym_memory.testing.chat.analogy import analogies, read_examples, read_present
from gym_memory.testing.chat.answers import Slots, answers
from gym_memory.testing.chat.graph_answers import facts_in, graph_of
from gym_memory.testing.chat.learnings import LESSON_FACT, lessons_of, plan_in
from gym_memory.testing.chat.play_answers import choice_of, facts_of, last_action, observation_of
from gym_memory.testing.chat.scientist import IN_VAIN, Scientist, is_science, plan_for

__all__: list[str] = []

_GOAL = re.compile(r"^Thought: (.+)$", re.MULTILINE)
_NEXT = re.compile(r"Next \((\d+) of (\d+)\): (.+)")
_ITEM = re.compile(r'"(?P<action>.+?)"(?: in the (?P<place>.+))?')
_UNLOCK = re.compile(r"unlock (.+) with (.+)")
_PATIENCE = 3
_CANDIDATES = 4


@answers("clin_goal")
def clin_goal(slots: Slots) -> str:
    """The next item of the learnings' plan, all of them used; after its end, an aim.

    The aim is that of the player by rules, who takes what learnings tell of places for facts.
    """
    lessons = lessons_of(slots["memory"])
    task = slots["task"]
    plan = plan_for(task, lessons) if is_science(task) else plan_in(lessons)
    goals = _GOAL.findall(slots["history"])
    number = _progress(plan, goals, last_action(slots))
    if number < len(plan):
        action, place = plan[number]
        where = f" in the {place}" if place else ""
        goal = f'Next ({number + 1} of {len(plan)}): "{action}"{where}'
        return json.dumps({"learnings": list(lessons), "goal": goal})
    last = goals[-1] if goals and not _NEXT.match(goals[-1]) else ""
    told = _told(slots, slots["memory"])
    if not told and facts_of(slots["memory"]):  # a transcript is no news: the history is one
        told = slots["memory"]
    _, aim = choice_of({**slots, "memory": told, "actions": ""}, last)
    return json.dumps({"learnings": list(lessons), "goal": aim})


def _told(slots: Slots, memory: str) -> str:
    """What the lessons of a memory are to the player by rules."""
    if is_science(slots["task"]):
        return memory  # that player reads lessons itself
    lessons = lessons_of(memory)
    told = _facts(lessons.values(), plan_in(lessons))
    return _with_history(told, slots) if told else ""


def _facts(lessons: Iterable[str], plan: Sequence[tuple[str, str]]) -> str:
    """What learnings tell of places and things, as a memory would: one fact a line.

    They tell how a trial begins. What the plan, which is done by then, took or opened is no
    longer so.
    """
    done = "; ".join(action for action, _ in plan)
    facts = []
    for lesson in lessons:
        found = LESSON_FACT.fullmatch(lesson)
        if found is None:
            continue
        direction = (found["action"] or "").rpartition(" ")[2]
        if found["thing"]:
            if found["thing"] not in done:
                state = f"; is {found['state']}" if found["state"] else ""
                holder = found["holder"] or found["place"]
                facts.append(f"{found['thing']}: is in {holder}{state}")
        elif found["text"]:
            facts.append(f"{found['page']}: says {found['text']}")
        elif found["raw"]:
            facts.append(f"{found['raw']}: needs to be {found['how']}")
        elif found["recipe"]:
            facts.append(f"{found['recipe']}: requires {found['key']}")
        elif found["lock"]:
            facts.append(f"{found['key']}: opens {found['lock']}")
        elif direction in DIRECTIONS and found["there"]:
            facts.append(f"{found['there']}: is {direction} of {found['here']}")
        elif direction in DIRECTIONS:
            facts.append(f"{found['here']}: has exit {direction}")
    for action, _ in plan:
        unlocked = _UNLOCK.fullmatch(action)
        if unlocked is not None:
            facts += [f"{unlocked[2]}: opens {unlocked[1]}", f"{unlocked[1]}: is open"]
    return "\n".join(facts)


def _with_history(facts: str, slots: Slots) -> str:
    """Facts, and what the latest steps changed of them."""
    graph = graph_of(facts_of(facts))
    for _, action, text in split_entries(slots["history"])[1]:
        if text.strip():
            for fact in facts_in(text.strip(), slots["task"], action, known=_lines_of(graph)):
                graph.add(fact, 0)
    return _lines_of(graph)


def _lines_of(graph: TemporalGraph) -> str:
    return "\n".join(fact_line(fact[0], [f"{fact[1]} {fact[2]}"]) for fact in graph.live())


def _progress(plan: Sequence[tuple[str, str]], goals: list[str], done: str) -> int:
    """The item to go for: the next one where the last is done, or leads nowhere."""
    if not goals:
        return 0
    found = _NEXT.match(goals[-1])
    number = int(found[1]) - 1 if found else len(plan)
    if found is None or number >= len(plan):
        return len(plan)
    stuck = goals[-_PATIENCE:] == [goals[-1]] * _PATIENCE and not done.startswith("go ")
    return number + (found[3].startswith(f'"{done}"') or stuck or done == IN_VAIN)


@answers("clin_act")
def clin_act(slots: Slots) -> str:
    """The next action of a plan, else what the player by rules does for the goal."""
    learnings = slots["learnings"].split("\n")
    item = _NEXT.match(slots["goal"])
    if item is None:
        told = _told(slots, slots["learnings"])
        return choice_of({**slots, "memory": told}, slots["goal"])[0]
    if is_science(slots["task"]):
        found = _ITEM.fullmatch(item[3])
        player = Scientist({**slots, "memory": slots["learnings"]}, "")
        return player.carry_out(found["action"], found["place"] or "") if found else player.act()
    observation = observation_of({**slots, "memory": ""})
    task = Task("", slots["task"])
    here = Beliefs(
        observation, get_extractor(task.dialect), task, Plan(action=last_action(slots))
    ).here
    learner = Learner()
    learner.reset({}, zlib.crc32(slots["history"].encode()))
    found = _ITEM.fullmatch(item[3])
    learner.focus = Course.of([(found["action"], found["place"] or "")] if found else [], here)
    observation["lessons"] = tuple(learnings)
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
    sight = _lines(slots["observation"])
    entries = split_entries(slots["history"])[1]
    return [then.action for entry, then in pairwise(entries) if _lines(entry.text) == sight]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
