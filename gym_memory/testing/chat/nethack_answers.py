"""Answers to the prompt of NetPlay: the descender by rules plays it.

The observation is rebuilt from the slots of the prompt, and the plan is read from the last
thought in the transcript. So what it reaches shows what the prompt carries.
"""

from __future__ import annotations

import json
import re
import zlib

from gym_memory.baselines.rules.nethack.descender import Descender, Descent
from gym_memory.core.records import Observation, Triple
from gym_memory.testing.chat.answers import Slots, answers

__all__ = ["facts_recalled"]

_LINE = re.compile(r"^(?P<subject>[^:>\[]+): (?P<rest>.+)$")
_RELATION = re.compile(
    r"^(has (?:unexplored )?exit|has item|was last seen in|is in|is through .+? of|"
    r"is (?:up|down) of|wield|wear|is) (.+)$"
)
_THOUGHT = re.compile(r"^Thought: (.+)$", re.MULTILINE)
_PLAN = re.compile(
    r"(?P<aim>.*?)(?:; last action: (?P<action>.*?))?(?:; nothing new for: (?P<idle>\d+) steps)?"
    r"(?:; turn: (?P<turn>\d+))?(?:; prayed: at turn (?P<prayed>\d+))?"
)
_SKILLS = (
    "melee attack", "press key", "move to", "go to", "take off", "put on", "kick", "search",
    "rest", "eat", "quaff", "drop", "answer", "select", "wield", "wear", "throw", "zap",
)  # fmt: skip


def facts_recalled(memory: str) -> list[Triple]:
    """The facts in what a memory recalls, up to the first recalled observation."""
    facts = []
    for line in memory.split("\n"):
        if line.startswith("[step "):
            break
        found = _LINE.match(line)
        for part in found["rest"].split("; ") if found else ():
            said = _RELATION.match(part)
            if found and said:
                facts.append(Triple(found["subject"], said[1], said[2]))
    return facts


def read_descent(thought: str) -> Descent:
    """Read a descender's plan as it is written."""
    found = _PLAN.fullmatch(thought)
    assert found is not None
    turn, idle, prayed = (int(found[name] or 0) for name in ("turn", "idle", "prayed"))
    action = found["action"] or ""
    return Descent(found["aim"], action, idle=idle, turn=turn, prayed=prayed)


@answers("netplay")
def netplay(slots: Slots) -> str:
    """The descender's action as a skill with its arguments, its plan as the thought."""
    policy = Descender()
    policy.reset({"dialect": "nethack"}, zlib.crc32(slots["history"].encode()))
    thoughts = _THOUGHT.findall(slots["history"])
    policy.focus = read_descent(thoughts[-1]) if thoughts else Descent()
    observation = Observation(
        text=slots["observation"],
        task=slots["task"],
        inventory=slots["inventory"],
        valid_actions=tuple(line for line in slots["actions"].split("\n") if line),
        memory=slots["memory"],
        triples=tuple(facts_recalled(slots["memory"])),
        episodes=(),
        lessons=(),
    )
    action = policy.act(observation, {})
    skill = next((name for name in _SKILLS if action.startswith(f"{name} ")), action)
    rest = action[len(skill) :].strip()
    arguments = [rest] if rest else []
    return json.dumps({"thought": str(policy.focus), "skill": skill, "arguments": arguments})
