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
from dataclasses import replace

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Kind, Plan
from gym_memory.baselines.rules.textworld.delivering import Delivery
from gym_memory.baselines.rules.textworld.hunting import Reading
from gym_memory.baselines.rules.textworld.planner import Planner
from gym_memory.baselines.rules.textworld.searching import Round
from gym_memory.baselines.rules.textworld.tidying import Tidying
from gym_memory.baselines.rules.travel import step_towards
from gym_memory.core.records import Observation, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.graph.schema import DIRECTIONS
from gym_memory.memory.reading import read_description, read_head, read_line, split_entries
from gym_memory.testing.chat.answers import Slots, answers
from gym_memory.testing.chat.scientist import Scientist, is_science

__all__ = ["choice_of", "facts_of", "last_action", "observation_of"]

MAX_WALK_MOVES = 12
_IGNORED = frozenset({"is at"})
"""Facts that the prompt's player leaves alone: it would take where one stands in a room for a
room."""
_LOOKED = re.compile(r"(?:examine|read) (?P<thing>.+)")
_MOST_LOOKS = 6
_DIRECTION = "|".join(DIRECTIONS)
_AIM = re.compile(
    rf"(?P<text>.*?)(?:, (?P<exit>{_DIRECTION}) of (?P<place>[^,]+?))?"
    rf"(?:, by (?P<route>(?:{_DIRECTION})(?: (?:{_DIRECTION}))*))?"
    r"(?: \(not again: (?P<given_up>.+)\))?"
)
_COUNTED = re.compile(r"(?P<aim>.+) x(?P<times>\d+)")
_KINDS = {
    "explore": Kind.EXPLORE, "look round": Kind.EXPLORE, "wander": Kind.WANDER,
    "survey": Kind.SURVEY, "search ": Kind.SEARCH, "find ": Kind.FIND, "cook: ": Kind.COOK,
    "tidy: ": Kind.TIDY, "read ": Kind.READ, "look at ": Kind.READ, "try ": Kind.TRY,
}  # fmt: skip
_INSTRUCTION = re.compile(r"do (\d+): ")
_DELIVERY = re.compile(
    r"(?:find|fetch|bring) (?P<thing>[\w -]+?) for (?P<holder>[\w -]+?)"
    r"(?: (?:in|near) (?P<room>[\w -]+?))?(?: but not (?P<been>[\w -]+?))?(?::.*)?"
)
_NOT_AGAIN = re.compile(r" \(not again: .+\)")
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


def read_plan(text: str) -> Plan:
    """Read a plan as :func:`written` puts it; the player's own state is not in a prompt.

    >>> read_plan("fetch bowl, by east south").aim
    Aim(text='fetch bowl', kind=<Kind.OTHER: 1>, exit=None, route=('east', 'south'), instruction=0)
    """
    found = _AIM.fullmatch(text)
    assert found is not None
    counted = (_COUNTED.fullmatch(one) for one in (found["given_up"] or "").split("; "))
    given_up = tuple((_read_aim(one["aim"]).key, int(one["times"])) for one in counted if one)
    exit_ = (found["place"], found["exit"]) if found["exit"] else None
    route = tuple((found["route"] or "").split())
    return Plan(replace(_read_aim(found["text"]), exit=exit_, route=route), given_up=given_up)


def _read_aim(text: str) -> Aim:
    kind = next((kind for start, kind in _KINDS.items() if text.startswith(start)), Kind.OTHER)
    delivery = _DELIVERY.fullmatch(text)
    if kind is Kind.TIDY:
        pairs = (entry.rpartition(" to ") for entry in text.removeprefix("tidy: ").split("; "))
        return Tidying.of([(thing, target) for thing, _, target in pairs if thing])
    if kind is Kind.SEARCH:
        purpose, _, been = text.partition(" after ")
        return Round.of(purpose, been.split(" and ") if been else ())
    if delivery is not None:
        thing, holder, room, searched = delivery.group("thing", "holder", "room", "been")
        rooms = tuple(searched.split(" and ")) if searched else ()
        return Delivery(text, kind, thing=thing, holder=holder, room=room or "", been=rooms)
    if text.startswith("read "):
        return Reading(text, kind, pages=tuple(text.removeprefix("read ").split(", ")))
    instruction = _INSTRUCTION.match(text)
    return Aim(text, kind, instruction=int(instruction[1]) if instruction else 0)


def written(plan: Plan) -> str:
    """Return a plan in words: the aim, and the aims that led nowhere."""
    given_up = "; ".join(f"{aim} x{times}" for aim, times in plan.given_up)
    return f"{plan.aim} (not again: {given_up})" if given_up else str(plan.aim)


def choice_of(slots: Slots, aim: str) -> tuple[str, str]:
    """Return what the rule-based player does: an action, and the plan behind it.

    Args:
        slots: Slots of a prompt; without ``actions`` nothing is known of what can be done.
        aim: The plan so far.
    """
    if is_science(slots["task"]):
        scientist = Scientist(slots, aim)
        return scientist.act(), str(scientist.notes)
    planner = Planner()
    planner.reset({}, zlib.crc32(slots["history"].encode()))
    plan = read_plan(aim)
    planner.focus = replace(plan, action=last_action(slots), done=plan.aim.instruction)
    action = planner.act(observation_of(slots), {})
    return action, written(planner.focus)


def _aim(plan: str) -> str:
    """Return the first sub-goal of a numbered plan, with what its reason says not to do again."""
    step, again = _FIRST_STEP.search(plan), _NOT_AGAIN.search(plan)
    return (step[1] if step else "") + (again[0] if again else "")


def _pursued(text: str) -> str:
    """Return what of a plan is left to do: not to wander, nor to read the last thing again.

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
    return written(replace(plan, aim=aim))


def _seen_before(text: str, before: str, last: str) -> str:
    """Return a plan that names what was looked at last as something not to look at again.

    >>> _seen_before("explore (not again: go up x1)", "explore", "examine desk")
    'explore (not again: read desk x1; look at desk x1; go up x1)'
    """
    looked = [aim for aim, _ in read_plan(before).given_up if aim.kind is Kind.READ]
    found = _LOOKED.fullmatch(last)
    verbs = ("read", "look at") if found else ()
    looked += [_read_aim(f"{verb} {found['thing']}").key for verb in verbs if found]
    looks = tuple((one, 1) for one in list(dict.fromkeys(looked))[-_MOST_LOOKS:])
    plan = read_plan(text)
    others = tuple(one for one in plan.given_up if (one[0], 1) not in looks)
    # A player keeps the last ones of too many.
    return written(replace(plan, given_up=looks + others))


@answers("ariadne_plan")
def ariadne_plan(slots: Slots) -> str:
    """The aim of the player by rules as the one sub-goal."""
    plan, last = _aim(slots["plan"]), last_action(slots)
    action, aim = choice_of({**slots, "actions": ""}, plan)
    plan = _seen_before(aim, plan, last)
    again = _NOT_AGAIN.search(plan)
    step = {
        "sub_goal_1": _NOT_AGAIN.sub("", plan),
        "reason": f"it is not done yet; {action} may come next{again[0] if again else ''}",
    }
    return json.dumps({"main_goal": slots["task"][:200], "plan_steps": [step]})


@answers("ariadne_act")
def ariadne_act(slots: Slots) -> str:
    """The action of the player by rules, towards the first sub-goal."""
    planned, possible = _aim(slots["plan"]), slots["actions"].split("\n")
    action, aim = choice_of(slots, _pursued(planned))
    named = read_plan(planned).aim.exit
    through = f"go {named[1]}" if named else ""
    elsewhere = action == "look" or action.startswith("go ")
    if named and elsewhere and through in possible and named[0] == _beliefs(slots).here:
        # The player by rules may know by now, from the map, where it leads, and plan anew.
        action = through
    exit_ = read_plan(aim).aim.exit
    whole_way = f"go to {exit_[0]}" if exit_ else ""
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
    moves, exit_ = [first], read_plan(aim).aim.exit
    if exit_ is None or not first.startswith("go "):
        return moves
    beliefs = _beliefs({**slots, "actions": ""})
    for _ in range(MAX_WALK_MOVES):
        here = beliefs.ways(beliefs.here).get(moves[-1].removeprefix("go "), "")
        if not here:
            break
        beliefs.here = here
        onward = step_towards(beliefs, exit_[0]) or f"go {exit_[1]}"
        moves.append(onward)
        if here == exit_[0]:
            break
    return moves


def _beliefs(slots: Slots) -> Beliefs:
    task = Task("", slots["task"])
    rules = get_extractor(task.dialect)
    return Beliefs(observation_of(slots), rules, task, Plan(action=last_action(slots)))


@answers("stma_critic")
def stma_critic(slots: Slots) -> str:
    """Suitable is what the player by rules would do now."""
    action, _ = choice_of(slots, slots["subgoal"])
    suitable = action == slots["action"]
    feedback = "" if suitable else f"Better now: {action}."
    return json.dumps({"thought": "", "suitable": suitable, "feedback": feedback})
