"""Answers to the prompts of policies: a plan, a decision, a verdict.

The player by rules plays them, from an observation that is rebuilt from the slots of the prompt;
where the task is one of ScienceWorld's, the one for that.
So what an agent achieves here shows what its prompts carry: what the memory recalls, the plan,
the latest steps, what is seen and what can be done.
"""

from __future__ import annotations

import json
import re
import zlib

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import LAST, NEW_EXIT, READING, Move, Notes
from gym_memory.baselines.rules.textworld.planner import Planner
from gym_memory.baselines.rules.travel import step_towards
from gym_memory.core.records import Observation, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.memory.reading import read_description, read_head, read_line, split_entries
from gym_memory.testing.chat.answers import Slots, answers
from gym_memory.testing.chat.scientist import Scientist, is_science

__all__ = ["choice_of", "facts_of", "last_action", "observation_of"]

MAX_WALK_MOVES = 12
_IGNORED = frozenset({"is at"})
"""Facts that the prompt's player leaves alone: it would take where one stands in a room for a
room."""
_WANDERING = "wander"
"""The aim of a plan that is made without a list of actions where something lies at hand."""
_LOOKED = re.compile(r"(?:examine|read) (?P<thing>.+)")
_MOST_LOOKS = 6
_FIRST_STEP = re.compile(r"^1\. (.+)$", re.MULTILINE)


def facts_of(memory: str) -> list[Triple]:
    """The facts in what a memory recalls, whatever their form, up to the first entry.

    Recalled observations follow below that. Lines with stars tell what was done. Where observations
    follow upon prose, that is the first of them, not facts: *You are in Room T.*
    """
    head, entries = split_entries(memory)
    lines = [line for line in head.split("\n") if line and line[:2] != "* "]
    stated = [read_line(line) or read_description(line) for line in lines]
    if entries and not all(stated):
        return []
    return [fact for facts in stated for fact in facts if fact.relation not in _IGNORED]


def observation_of(slots: Slots) -> Observation:
    """The observation that a prompt shows.

    What the player knows of the past is the facts that the memory recalls, else the transcript
    that it recalls, else the latest steps.
    """
    memory, history = slots["memory"], _without_thoughts(slots["history"])
    facts = facts_of(memory)
    return Observation(
        text=slots["observation"],
        task=slots["task"],
        inventory=slots["inventory"],
        valid_actions=tuple(line for line in slots["actions"].split("\n") if line),
        memory=memory if split_entries(memory)[1] and not facts else history,
        triples=tuple(facts),
        episodes=(),
        lessons=(),
    )


def _without_thoughts(history: str) -> str:
    return "\n".join(line for line in history.split("\n") if not line.startswith("Thought: "))


def last_action(slots: Slots) -> str:
    """The action that led to the present observation, "" if there is none."""
    head = read_head(slots["history"].rpartition("\n")[2])
    return head.action if head else ""


def choice_of(slots: Slots, aim: str) -> tuple[str, str]:
    """What the player by rules does: an action, and the aim behind it.

    Args:
        slots: Slots of a prompt; without ``actions`` nothing is known of what can be done.
        aim: The aim so far.
    """
    if is_science(slots["task"]):
        scientist = Scientist(slots, aim)
        return scientist.act(), str(scientist.notes)
    planner = Planner()
    planner.reset({}, zlib.crc32(slots["history"].encode()))
    planner.focus = str(Move(last_action(slots), aim))
    action = planner.act(observation_of(slots), {})
    return action, planner.focus.rpartition(LAST)[0]


def _aim(plan: str) -> str:
    """The first sub-goal of a numbered plan."""
    step = _FIRST_STEP.search(plan)
    return step[1] if step else ""


def _pursued(aim: str) -> str:
    """What of a plan is no more than a plan: not that one wanders, nor that the last thing is read.

    >>> _pursued("read letter, note"), _pursued("read note | stuck: go up x1"), _pursued("wander")
    ('read letter', ' | stuck: go up x1', '')
    """
    head, bar, notes = aim.partition(" | ")
    if head.startswith("read "):
        head = head.rpartition(", ")[0]
    return head.removeprefix(_WANDERING) + bar + notes


def _seen_before(aim: str, plan: str, last: str) -> str:
    """An aim that notes what was looked at last, for no plan says so.

    >>> _seen_before("explore | stuck: go up x1", "explore", "examine desk")
    'explore | stuck: read desk x1; look at desk x1; go up x1'
    """
    looked = [one for one, _ in Notes.read(plan + LAST).stuck if one.startswith(READING)]
    found = _LOOKED.fullmatch(last)
    looked += [verb + found["thing"] for verb in READING] if found else []
    looks = tuple((one, 1) for one in list(dict.fromkeys(looked))[-_MOST_LOOKS:])
    notes = Notes.read(aim + LAST)
    others = tuple(one for one in notes.stuck if (one[0], 1) not in looks)
    # A player keeps the last ones of too many.
    notes = notes._replace(stuck=looks + others)
    return notes.written_into(Move("", aim.partition(" | ")[0])).removesuffix(LAST)


@answers("ariadne_plan")
def ariadne_plan(slots: Slots) -> str:
    """The aim of the player by rules as the one sub-goal."""
    plan, last = _aim(slots["plan"]), last_action(slots)
    action, aim = choice_of({**slots, "actions": ""}, plan)
    step = {
        "sub_goal_1": _seen_before(aim, plan, last),
        "reason": f"it is not done yet; {action} may come next",
    }
    return json.dumps({"main_goal": slots["task"][:200], "plan_steps": [step]})


@answers("ariadne_act")
def ariadne_act(slots: Slots) -> str:
    """The action of the player by rules, towards the first sub-goal."""
    planned, possible = _aim(slots["plan"]), slots["actions"].split("\n")
    action, aim = choice_of(slots, _pursued(planned))
    named = NEW_EXIT.search(planned)
    through = f"go {named['direction']}" if named else ""
    elsewhere = action == "look" or action.startswith("go ")
    if named and elsewhere and through in possible and named["place"] == _beliefs(slots).here:
        # The player by rules may know by now, from the map, where it leads, and plan anew.
        action = through
    exit_ = NEW_EXIT.search(aim)
    whole_way = f"go to {exit_['place']}" if exit_ else ""
    if whole_way in possible and len(_walk(slots, aim, action)) > 2:
        action = whole_way
    return json.dumps({"reason_for_action": f"for: {aim}", "action_to_take": action})


def _thought(slots: Slots) -> str:
    """The aim in the last thought of the transcript."""
    thoughts = re.findall(r"^Thought: I am after this: (.+)$", slots["history"], re.MULTILINE)
    return thoughts[-1] if thoughts else ""


@answers("plain")
def plain(slots: Slots) -> str:
    """The action of the player by rules, who starts afresh at every step."""
    return choice_of(slots, "")[0]


@answers("react")
def react(slots: Slots) -> str:
    """The action of the player by rules, the aim kept in thoughts."""
    action, aim = choice_of(slots, _thought(slots))
    return f"Thought: I am after this: {aim}\nAction: {action}"


@answers("reflexion")
def reflexion(slots: Slots) -> str:
    """What the plans say brought points, where it is possible and not done; else as ReAct."""
    possible = slots["actions"].split("\n")
    for advice in re.findall(r"Do again what brought points: (.+?)\.(?: |$)", slots["lessons"]):
        for action in advice.split(", then "):
            if action in possible and f"> {action}\n" not in slots["history"]:
                return f"Thought: I am after this: {_thought(slots)}\nAction: {action}"
    return react(slots)


@answers("stma_plan")
def stma_plan(slots: Slots) -> str:
    """The aim of the player by rules; its action, and the known way on where it is a walk."""
    action, aim = choice_of(slots, slots["subgoal"])
    return json.dumps({"thought": "", "subgoal": aim, "actions": _walk(slots, aim, action)})


def _walk(slots: Slots, aim: str, first: str) -> list[str]:
    """The moves to the exit that an aim names, beginning with the first one."""
    moves, exit_ = [first], NEW_EXIT.search(aim)
    if exit_ is None or not first.startswith("go "):
        return moves
    beliefs = _beliefs({**slots, "actions": ""})
    for _ in range(MAX_WALK_MOVES):
        here = beliefs.ways(beliefs.here).get(moves[-1].removeprefix("go "), "")
        if not here:
            break
        beliefs.here = here
        onward = step_towards(beliefs, exit_["place"]) or f"go {exit_['direction']}"
        moves.append(onward)
        if here == exit_["place"]:
            break
    return moves


def _beliefs(slots: Slots) -> Beliefs:
    task = Task("", slots["task"])
    rules = get_extractor(task.dialect)
    return Beliefs(observation_of(slots), rules, task, action=last_action(slots))


@answers("stma_critic")
def stma_critic(slots: Slots) -> str:
    """Suitable is what the player by rules would do now."""
    action, _ = choice_of(slots, slots["subgoal"])
    suitable = action == slots["action"]
    feedback = "" if suitable else f"Better now: {action}."
    return json.dumps({"thought": "", "suitable": suitable, "feedback": feedback})
