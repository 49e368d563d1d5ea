"""Answer the prompts of agents: a plan, a decision, a verdict.

The rule-based planner plays, from an observation that is rebuilt from the prompt; for a task of
ScienceWorld or ALFWorld, that game's player. So a score shows whether prompts contain what is
needed.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gym_memory.baselines.rules.alfworld import Searcher
from gym_memory.baselines.rules.base import AdvisedPolicy, step_towards
from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.learner import Course, LessonFollower
from gym_memory.baselines.rules.nethack import Descender, Descent
from gym_memory.baselines.rules.plan import Aim, Kind, Plan
from gym_memory.baselines.rules.qa import answer_to, bridge_from, evidence_in
from gym_memory.baselines.rules.textworld.hunting import Reading
from gym_memory.baselines.rules.textworld.plan_text import read_aim, read_plan, write_plan
from gym_memory.baselines.rules.textworld.planner import Planner
from gym_memory.core.records import Observation, Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.games.alfworld.rules import goal_in
from gym_memory.graph.schema import DIRECTIONS, EXIT, way_relation
from gym_memory.memory.reading import read_line, read_operation, split_entries
from gym_memory.memory.roles.notes import read_description
from gym_memory.testing.chat.memories import LESSON_FACT, facts_in, graph_of, lessons_of, plan_in
from gym_memory.testing.chat.registry import OTHERS, Slots, answers
from gym_memory.testing.chat.scienceworld import IN_VAIN, Scientist, is_science, plan_for

__all__ = ["ariadne_act", "ariadne_plan", "facts_of", "facts_recalled", "observation_of", "rebuilt"]


MAX_WALK_MOVES = 12
_MOST_LOOKS = 6
_PATIENCE = 3
"""Steps with the same goal after which a plan advances."""
_SPOT = "is at"
"""Relation withheld from the planner, which would treat a spot in a room as a room."""

_LOOKED = re.compile(r"(?:examine|read) (?P<thing>.+)")
_NOT_AGAIN = re.compile(r" \(not again: .+\)")
_FIRST_STEP = re.compile(r"^1\. (.+)$", re.MULTILINE)
_THOUGHT = re.compile(r"^Thought: (.+)$", re.MULTILINE)
_AFTER = "I am after this: "
_BROUGHT = re.compile(r"Do again what brought points: (.+?)\.(?: |$)")
_NEXT = re.compile(r'Next \((\d+) of \d+\): "(?P<action>.+?)"(?: in the (?P<place>.+))?')
_UNLOCK = re.compile(r"unlock (.+) with (.+)")


# ------------------------------------------------------------ what a prompt carries


def facts_of(memory: str, *, spots: bool = False) -> list[Triple]:
    """Return the facts of a recall, in any form, above its observations.

    Prose above observations is the first observation, not facts: *You are in Room T.*
    """
    head, entries = split_entries(memory)
    lines = [line for line in head.split("\n") if line and line[:2] != "* "]
    stated = [read_line(line) or read_description(line) for line in lines]
    if entries and not all(stated):
        return []
    return [fact for facts in stated for fact in facts if spots or fact.relation != _SPOT]


def rebuilt(slots: Slots, memory: str, facts: Iterable[Triple]) -> Observation:
    """Return the observation in a prompt, with its recall."""
    return Observation(
        text=slots["observation"],
        task=slots["task"],
        inventory=slots["inventory"],
        valid_actions=tuple(
            line for line in slots["actions"].split("\n") if line and not read_operation(line)
        ),
        memory=memory,
        triples=tuple(facts),
        episodes=(),
        lessons=(),
    )


def observation_of(slots: Slots, facts: Sequence[Triple] | None = None) -> Observation:
    """Return the planner's observation.

    The past is ``facts`` or the recalled ones, else the recalled transcript, else the latest steps.
    """
    memory = slots["memory"]
    if facts is None:
        facts = facts_of(memory, spots=_is_household(slots["task"]))
    if facts or not split_entries(memory)[1]:
        lines = slots["history"].split("\n")
        memory = "\n".join(line for line in lines if not line.startswith("Thought: "))
    return rebuilt(slots, memory, facts)


def _last_action(slots: Slots) -> str:
    entries = split_entries(slots["history"])[1]
    return entries[-1].action if entries else ""


def _beliefs(slots: Slots) -> Beliefs:
    task = Task("", slots["task"])
    rules = get_extractor(task.dialect)
    return Beliefs(observation_of(slots), rules, task, Plan(action=_last_action(slots)))


def _is_household(task: str) -> bool:
    """True if a task is one of ALFWorld's, by its wording: *put a hot apple in fridge*."""
    goal = goal_in(task)
    return goal is not None and goal.place not in ("a", "an", "some", "the")


def _choice(slots: Slots, aim: str, facts: Sequence[Triple] | None = None) -> tuple[str, str]:
    """Return the player's action and the plan behind it, given the plan so far."""
    if is_science(slots["task"]):
        scientist = Scientist(slots, aim)
        return scientist.act(), str(scientist.notes)
    household = _is_household(slots["task"])
    planner: AdvisedPolicy = Searcher() if household else Planner()
    planner.reset(
        {"dialect": "alfworld"} if household else {}, zlib.crc32(slots["history"].encode())
    )
    plan = read_plan(aim)
    planner.focus = replace(plan, action=_last_action(slots), done=plan.aim.instruction)
    action = planner.act(observation_of(slots, facts), {})
    return action, write_plan(planner.focus)


def _walk(slots: Slots, aim: str, first: str) -> list[str]:
    """Return the moves to the exit that an aim names, beginning with the first one."""
    moves, exit_ = [first], read_plan(aim).aim.exit
    if exit_ is None or not first.startswith("go "):
        return moves
    beliefs = _beliefs({**slots, "actions": ""})
    for _ in range(MAX_WALK_MOVES):
        here = beliefs.ways(beliefs.here).get(moves[-1].removeprefix("go "), "")
        if not here:
            break
        beliefs.here = here
        moves.append(step_towards(beliefs, exit_[0]) or f"go {exit_[1]}")
        if here == exit_[0]:
            break
    return moves


# ------------------------------------------------------------ Ariadne


@answers("ariadne_plan")
def ariadne_plan(slots: Slots) -> str:
    """Return the player's aim as the one sub-goal."""
    before = _first_goal(slots["plan"])
    action, aim = _choice({**slots, "actions": ""}, before)
    plan = _seen_before(aim, before, _last_action(slots))
    again = _NOT_AGAIN.search(plan)
    step = {
        "sub_goal_1": _NOT_AGAIN.sub("", plan),
        "reason": f"it is not done yet; {action} may come next{again[0] if again else ''}",
    }
    return json.dumps({"main_goal": slots["task"][:200], "plan_steps": [step]})


@answers("ariadne_act")
def ariadne_act(slots: Slots) -> str:
    """Return the player's action towards the first sub-goal."""
    planned, possible = _first_goal(slots["plan"]), slots["actions"].split("\n")
    action, aim = _choice(slots, _pursued(planned))
    named = read_plan(planned).aim.exit
    through = f"go {named[1]}" if named else ""
    elsewhere = action == "look" or action.startswith("go ")
    if named and elsewhere and through in possible and named[0] == _beliefs(slots).here:
        # The map may show its goal by now, so that the player plans again.
        action = through
    exit_ = read_plan(aim).aim.exit
    whole_way = f"go to {exit_[0]}" if exit_ else ""
    if whole_way in possible and len(_walk(slots, aim, action)) > 2:
        action = whole_way
    return json.dumps({"reason_for_action": f"for: {aim}", "action_to_take": action})


def _first_goal(plan: str) -> str:
    """Return the first sub-goal of a plan, with the repetitions that its reason forbids."""
    step, again = _FIRST_STEP.search(plan), _NOT_AGAIN.search(plan)
    return (step[1] if step else "") + (again[0] if again else "")


def _pursued(text: str) -> str:
    """Return the rest of a plan: without wandering, and without reading the last thing again.

    >>> _pursued("read letter, note"), _pursued("read note (not again: go up x1)")
    ('read letter', ' (not again: go up x1)')
    """
    plan = read_plan(text)
    aim = plan.aim
    if isinstance(aim, Reading):
        pages = aim.pages[:-1]
        aim = replace(aim, text=f"read {', '.join(pages)}" if pages else "", pages=pages)
    elif aim.kind is Kind.WANDER:
        aim = Aim(aim.text.removeprefix("wander"), aim.kind)
    return write_plan(replace(plan, aim=aim))


def _seen_before(text: str, before: str, last: str) -> str:
    """Return a plan that forbids looking again at the thing last looked at.

    >>> _seen_before("explore (not again: go up x1)", "explore", "examine desk")
    'explore (not again: read desk x1; look at desk x1; go up x1)'
    """
    looked = [aim for aim, _ in read_plan(before).given_up if aim.kind is Kind.READ]
    if found := _LOOKED.fullmatch(last):
        looked += [read_aim(f"{verb} {found['thing']}").key for verb in ("read", "look at")]
    looks = tuple((one, 1) for one in list(dict.fromkeys(looked))[-_MOST_LOOKS:])
    plan = read_plan(text)
    others = tuple(one for one in plan.given_up if (one[0], 1) not in looks)
    # A player keeps only the last ones.
    return write_plan(replace(plan, given_up=looks + others))


# ------------------------------------------------------------ plain, ReAct, Reflexion, STMA, QA


@answers("plain")
def plain(slots: Slots) -> str:
    """Return the player's action, without a plan from the step before."""
    return _choice(slots, "")[0]


_HEADING = re.compile(r"^## (Task|What you (?:remember|carry|see now|can do))$", re.MULTILINE)
_SLOTS = {
    "Task": "task",
    "What you remember": "memory",
    "What you carry": "inventory",
    "What you see now": "observation",
    "What you can do": "actions",
}


def _prompted(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the player's action for the prompt of ``prompted``: a state under headings."""
    _, *parts = _HEADING.split(str(messages[-1]["content"]))
    found = dict.fromkeys([*_SLOTS.values(), "history", "lessons"], "")
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        found[_SLOTS[title]] = text.strip()
    actions = re.findall(r"^- (.+)$", found["actions"], re.MULTILINE)
    return plain({**found, "actions": "\n".join(actions)})


OTHERS["## What you see now\n"] = _prompted


def _aim_in(history: str) -> str:
    """Return the aim in the last thought that names one."""
    thoughts = [text for text in _THOUGHT.findall(history) if text.startswith(_AFTER)]
    return thoughts[-1].removeprefix(_AFTER) if thoughts else ""


@answers("calm")
def calm(slots: Slots) -> str:
    """Return the player's action, and another to choose from."""
    return f"1. {_choice(slots, '')[0]}\n2. inventory"


@answers("react")
def react(slots: Slots) -> str:
    """Return the player's action, with the aim as the thought; note a new aim first."""
    action, aim = _choice(slots, _aim_in(slots["history"]))
    if "note: TEXT" in slots["actions"].split("\n") and aim not in slots["lessons"]:
        action = f"note: {aim}"
    return f"Thought: {_AFTER}{aim}\nAction: {action}"


@answers("reflexion")
def reflexion(slots: Slots) -> str:
    """Return an untried action that gained points according to the plans, else ReAct's."""
    possible = slots["actions"].split("\n")
    for advice in _BROUGHT.findall(slots["lessons"]):
        for action in advice.split(", then "):
            if action in possible and f"> {action}\n" not in slots["history"]:
                return f"Thought: {_AFTER}{_aim_in(slots['history'])}\nAction: {action}"
    return react(slots)


@answers("glow_states")
def glow_states(slots: Slots) -> str:
    """Choose the state with the most points; the first one wins a tie."""
    points = [float(found) for found in re.findall(r"; (-?[\d.]+) points; after", slots["states"])]
    best = points.index(max(points)) if points else 0
    return f"Analysis: it has most points.\nState: {best + 1}"


@answers("glow_notes")
def glow_notes(slots: Slots) -> str:
    """Note the gain of the attempt."""
    return f"At its start: it gained {slots['evaluation']}"


@answers("stma_plan")
def stma_plan(slots: Slots) -> str:
    """Return the player's aim and action, with the rest of the route of a walk."""
    action, aim = _choice(slots, slots["subgoal"])
    return json.dumps({"thought": "", "subgoal": aim, "actions": _walk(slots, aim, action)})


@answers("stma_critic")
def stma_critic(slots: Slots) -> str:
    """Accept the action that the player would take now."""
    action, _ = _choice(slots, slots["subgoal"])
    suitable = action == slots["action"]
    feedback = "" if suitable else f"Better now: {action}."
    return json.dumps({"thought": "", "suitable": suitable, "feedback": feedback})


@answers("adaplanner")
def adaplanner(slots: Slots) -> str:
    """Return a plan with the player's action, and with the rest of the route of a walk."""
    before = slots["plan"].partition("\n")[0].removeprefix("# ")
    action, aim = _choice(slots, before)
    return "\n".join([f"# {aim}", *(f"act({one!r})" for one in _walk(slots, aim, action))])


@answers("adaplanner_ask")
def adaplanner_ask(slots: Slots) -> str:
    """Return the player's action if it is an option, else the first option."""
    options = slots["options"].split("\n")
    action, _ = _choice(slots, "")
    return action if action in options else options[0]


@answers("qa_query")
def qa_query(slots: Slots) -> str:
    """Return the name to look up next, from the sentence closest to the question."""
    return json.dumps({"look_up": bridge_from(slots["task"], evidence_in(slots["memory"]))})


@answers("qa_answer")
def qa_answer(slots: Slots) -> str:
    """Return the rule-based reader's answer."""
    found = answer_to(slots["task"], evidence_in(slots["memory"]))
    return json.dumps({"reason": "It shares most words with the question.", "answer": found})


# ------------------------------------------------------------ CLIN


@answers("clin_goal")
def clin_goal(slots: Slots) -> str:
    """Return the next item of the learnings' plan; after its end, the player's aim."""
    lessons, task = lessons_of(slots["memory"]), slots["task"]
    plan = plan_for(task, lessons) if is_science(task) else plan_in(lessons)
    goals = _THOUGHT.findall(slots["history"])
    number = _progress(plan, goals, _last_action(slots))
    if number < len(plan):
        action, place = plan[number]
        where = f" in the {place}" if place else ""
        goal = f'Next ({number + 1} of {len(plan)}): "{action}"{where}'
    else:
        last = goals[-1] if goals and not _NEXT.match(goals[-1]) else ""
        _, goal = _choice_by_lessons({**slots, "actions": ""}, last)
    return json.dumps({"learnings": list(lessons), "goal": goal})


def _progress(plan: Sequence[tuple[str, str]], goals: list[str], done: str) -> int:
    """Return the item to pursue: the next one if the last is done or fails."""
    if not goals:
        return 0
    found = _NEXT.match(goals[-1])
    if found is None or int(found[1]) > len(plan):
        return len(plan)
    stuck = goals[-_PATIENCE:] == [goals[-1]] * _PATIENCE and not done.startswith("go ")
    return int(found[1]) - 1 + (found["action"] == done or stuck or done == IN_VAIN)


@answers("clin_act")
def clin_act(slots: Slots) -> str:
    """Return the next action of a plan, else the player's action for the goal."""
    slots = {**slots, "memory": slots["learnings"]}
    item = _NEXT.fullmatch(slots["goal"])
    if item is None:
        return _choice_by_lessons(slots, slots["goal"])[0]
    errand = (item["action"], item["place"] or "")
    if is_science(slots["task"]):
        return Scientist(slots, "").carry_out(*errand)
    here = _beliefs({**slots, "memory": ""}).here
    learner = LessonFollower()
    learner.reset({}, zlib.crc32(slots["history"].encode()))
    learner.focus = Course.of([errand], here)
    observation = observation_of({**slots, "memory": ""})
    observation["lessons"] = tuple(slots["learnings"].split("\n"))
    return learner.act(observation, {})


def _choice_by_lessons(slots: Slots, aim: str) -> tuple[str, str]:
    """Return the choice of a player that treats learnings as facts, updated by later steps."""
    if is_science(slots["task"]):
        return _choice(slots, aim)  # that player reads lessons itself
    facts = list(_facts_in(lessons_of(slots["memory"])))
    if facts:
        _, entries = split_entries(slots["history"])
        for _, action, text, reward in entries:
            if text.strip():
                facts += facts_in(Step(1, text.strip(), action, reward), slots["task"])
        facts = list(graph_of(facts).live())
    else:
        facts = facts_of(slots["memory"])
    return _choice({**slots, "memory": ""}, aim, facts)


def _facts_in(lessons: Mapping[int, str]) -> Iterator[Triple]:
    """Yield the facts that learnings state.

    They describe the start of a trial; things taken or opened by their plan, which is done by now,
    have changed.
    """
    plan = plan_in(lessons)
    done = "; ".join(action for action, _ in plan)
    for found in map(LESSON_FACT.fullmatch, lessons.values()):
        if found is None:
            continue
        direction = (found["action"] or "").rpartition(" ")[2]
        if found["thing"]:
            if found["thing"] not in done:
                yield Triple(found["thing"], "is in", found["holder"] or found["place"])
                if found["state"]:
                    yield Triple(found["thing"], "is", found["state"])
        elif found["text"]:
            yield Triple(found["page"], "says", found["text"])
        elif found["raw"]:
            yield Triple(found["raw"], "needs to be", found["how"])
        elif found["recipe"]:
            yield Triple(found["recipe"], "requires", found["key"])
        elif found["lock"]:
            yield Triple(found["key"], "opens", found["lock"])
        elif direction in DIRECTIONS and found["there"]:
            yield Triple(found["there"], way_relation(direction), found["here"])
        elif direction in DIRECTIONS:
            yield Triple(found["here"], EXIT, direction)
    for action, _ in plan:
        if unlocked := _UNLOCK.fullmatch(action):
            yield Triple(unlocked[2], "opens", unlocked[1])
            yield Triple(unlocked[1], "is", "open")


# ------------------------------------------------------------ NetHack


_LINE = re.compile(r"^(?P<subject>[^:>\[]+): (?P<rest>.+)$")
_RELATION = re.compile(
    r"^(has (?:unexplored )?exit|has item|was last seen in|is in|is through .+? of|"
    r"is (?:up|down) of|wield|wear|is) (.+)$"
)
_PLAN = re.compile(
    r"(?P<aim>.*?)(?:; last action: (?P<action>.*?))?(?:; nothing new for: (?P<idle>\d+) steps)?"
    r"(?:; turn: (?P<turn>\d+))?(?:; prayed: at turn (?P<prayed>\d+))?"
)
_SKILLS = (
    "melee attack", "press key", "move to", "go to", "take off", "put on", "kick", "search",
    "rest", "eat", "quaff", "drop", "answer", "select", "wield", "wear", "throw", "zap",
)  # fmt: skip


def facts_recalled(memory: str) -> list[Triple]:
    """Return the facts in a recall, up to its first observation."""
    facts = []
    for line in f"\n{memory}".partition("\n[step ")[0].split("\n"):
        found = _LINE.match(line)
        for part in found["rest"].split("; ") if found else ():
            fact = _RELATION.match(part)
            if found and fact:
                facts.append(Triple(found["subject"], fact[1], fact[2]))
    return facts


def _descent(thought: str) -> Descent:
    found = _PLAN.fullmatch(thought)
    assert found is not None
    turn, idle, prayed = (int(found[name] or 0) for name in ("turn", "idle", "prayed"))
    return Descent(found["aim"], found["action"] or "", idle=idle, turn=turn, prayed=prayed)


@answers("netplay")
def netplay(slots: Slots) -> str:
    """Return the descender's action as a skill with arguments, and its plan as the thought."""
    policy = Descender()
    policy.reset({"dialect": "nethack"}, zlib.crc32(slots["history"].encode()))
    thoughts = _THOUGHT.findall(slots["history"])
    policy.focus = _descent(thoughts[-1]) if thoughts else Descent()
    memory = slots["memory"]
    action = policy.act(rebuilt(slots, memory, facts_recalled(memory)), {})
    skill = next((name for name in _SKILLS if action.startswith(f"{name} ")), action)
    rest = action[len(skill) :].strip()
    arguments = [rest] if rest else []
    return json.dumps({"thought": str(policy.focus), "skill": skill, "arguments": arguments})
