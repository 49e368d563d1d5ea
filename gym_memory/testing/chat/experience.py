"""Answers for the memories of experience: items, workflows, rules, bullets, guidance and notes."""

from __future__ import annotations

import json
import re

from gym_memory.memory.lessons.causes import things_of
from gym_memory.memory.roles.text import unmarked
from gym_memory.testing.chat.memories import read_trace
from gym_memory.testing.chat.registry import Slots, answers

__all__ = ["workflow"]

_QUOTED = re.compile(r'"([^"]+)"')
_WORD = re.compile(r"[^\W\d_]{4,}")


def _done(slots: Slots) -> list[str]:
    return [step.action for step in read_trace(slots["trace"]) if step.action] or ["look"]


@answers("reasoning_success")
def _reasoning_success(slots: Slots) -> str:
    """Return the order of the actions as one item."""
    order = ", ".join(f'"{action}"' for action in _done(slots))
    return (
        "# Memory Item 1\n## Title\nOrder\n## Description\nUse it for such a task.\n"
        f"## Content\nDo in this order: {order}."
    )


@answers("reasoning_failure")
def _reasoning_failure(slots: Slots) -> str:
    """Return the last action as one to avoid."""
    return (
        "# Memory Item 1\n## Title\nAnother end\n## Description\nUse it for such a task.\n"
        f'## Content\nDo not do "{_done(slots)[-1]}".'
    )


@answers("workflows")
def workflow(slots: Slots) -> str:
    """Return the actions as one workflow, with a slot for the first thing."""
    actions = _done(slots)
    thing = next((things_of(action)[0] for action in actions if things_of(action)), "thing")
    lines = [f'{n}. go on: "{a.replace(thing, "{object}")}"' for n, a in enumerate(actions, 1)]
    return "\n".join(["Workflow 1: do the task", *(lines if len(lines) > 1 else lines * 2)])


@answers("rules")
def _rules(slots: Slots) -> str:
    """Agree with the first rule, and add the first action that only the success names."""
    failure, _, success = slots["trials"].rpartition("Success: ")
    new = [action for action in _QUOTED.findall(success) if f'"{action}"' not in failure]
    edits = [f'ADD: It helps to do "{new[0]}".'] if new else []
    first = slots["rules"].split("\n")[0]
    known = first.startswith("1. ")
    return "\n".join([*([f"AGREE 1: {unmarked(first)}"] if known else []), *edits]) or "none"


@answers("bullets_reflect")
def _bullets_reflect(slots: Slots) -> str:
    """Call every bullet helpful if the task was completed, else harmful."""
    tag = "helpful" if "completed the task" in slots["evaluation"] else "harmful"
    ids = re.findall(r"^\[([\w-]+)\]", slots["playbook"], re.MULTILINE)
    return json.dumps({"reasoning": "", "bullet_tags": [{"id": id, "tag": tag} for id in ids]})


@answers("bullets_curate")
def _bullets_curate(slots: Slots) -> str:
    """Add the last action as a strategy, or as a mistake."""
    won, last = "completed the task" in slots["evaluation"], _done(slots)[-1]
    section = "strategies" if won else "mistakes"
    add = {"type": "ADD", "section": section, "content": f'{"End" if won else "Do not end"} '
           f'with "{last}".'}  # fmt: skip
    return json.dumps({"reasoning": "", "operations": [add]})


@answers("evolve")
def _evolve(slots: Slots) -> str:
    """Return what brought points, then all that is not a loop."""
    gains = [step.action for step in read_trace(slots["trace"]) if step.reward > 0]
    first = ", ".join(f'"{action}"' for action in gains)
    return f"Do first: {first or 'what is new'}. Then try what was not tried yet."


@answers("note")
def _note(slots: Slots) -> str:
    """Return the longer words of the observation."""
    words = list(dict.fromkeys(_WORD.findall(slots["observation"].lower())))[:8]
    context = f"What came of {slots['action'] or 'looking'}."
    return json.dumps({"keywords": words, "context": context, "tags": words[:3]})


@answers("note_links")
def _note_links(slots: Slots) -> str:
    """Link the first neighbour."""
    return json.dumps({"should_evolve": True, "actions": ["strengthen"],
                       "suggested_connections": [1], "new_context_neighborhood": []})  # fmt: skip
