"""Answer the prompt of NetPlay: the rule-based descender plays, from the prompt alone."""

from __future__ import annotations

import json
import re
import zlib

from gym_memory.baselines.rules.nethack import Descender, Descent
from gym_memory.core.records import Triple
from gym_memory.testing.chat.play import rebuilt
from gym_memory.testing.chat.registry import Slots, answers

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
    """Return the facts in what a memory recalls, up to the first recalled observation."""
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
