"""Agent Workflow Memory (2409.07429): routines of successes with slots for what differs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from gym_memory.core.records import Step, Task
from gym_memory.core.settings import Help
from gym_memory.memory.experience.base import ExperienceMemory, ExperienceSettings, Trial
from gym_memory.memory.experience.items import Bank, Item, effective_actions, listed, script
from gym_memory.memory.lessons.causes import read_acts, things_of, verb_of
from gym_memory.memory.roles.base import Workflow
from gym_memory.memory.roles.llm_experience import LLMInduceWorkflows

__all__ = ["WorkflowMemory", "WorkflowSettings", "fill_slots", "induce_workflows"]

_LEAST_STEPS = 2
_MOST_STEPS = 60
_MOST_WORDS = 200
_MOST_SLOTS = 9
_LEAD = re.compile(r"^(?:to|at|in|on) ")
_SLOT = re.compile(r"<([1-9])>")


@dataclass(frozen=True)
class WorkflowSettings(ExperienceSettings):
    """Settings of AWM."""

    k: Annotated[int, Help("Workflows to show at most; 3 in EvoMemBench's port.", low=1)] = 3


class WorkflowMemory(ExperienceMemory):
    """Agent Workflow Memory: routines induced online from every success.

    The rule (authors' code) drops actions without effect, keeps one trajectory per template of the
    task, then one per abstract sequence of actions, with a concrete example. A recall shows the
    ``k`` workflows with the most similar goals; the paper shows all, as does a large ``k``.

    Differences from the paper: rules induce by default. Things that the goal names become slots,
    and a recall fills them from the present goal if it fits the template, else from the example.
    A template keeps its shortest trajectory. A model's workflows have 200 words.
    """

    name: ClassVar[str] = "workflows"
    settings_class = WorkflowSettings
    settings: WorkflowSettings

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self._induce = LLMInduceWorkflows.or_rule(self._model, induce_workflows)

    def _choose(self, step: Step) -> Sequence[Item]:
        return [near.item for near in self.bank.nearest(self._task.goal, self.settings.k)]

    def _write(self, trial: Trial) -> Iterable[Item]:
        for flow in self._induce(trial.trace, trial.task) if trial.success else ():
            text = " ".join(flow.text.split(" ")[:_MOST_WORDS])
            yield trial.draft(text, more=(flow.template, flow.abstract, *flow.things))

    def _add(self, bank: Bank, draft: Item, trial: Trial) -> None:
        template, abstract = draft.more[:2]
        for known in bank.items.values():
            if abstract == known.more[1]:
                bank.merge(known, draft)
                return
        for known in bank.items.values():
            if template and template == known.more[0]:
                shorter = len(abstract) < len(known.more[1])
                new = known._replace(text=draft.text, more=draft.more, actions=draft.actions)
                bank.merge(new if shorter else known, draft)
                return
        bank.add(draft)

    def _lessons(self) -> Sequence[str]:
        goal = self._task.goal
        return [fill_slots(i.text, i.more[0], i.more[2:], goal) for i in self._shown()]


def induce_workflows(trace: Sequence[Step], task: Task) -> list[Workflow]:
    """Return the rule-based workflow of a success; none for less than two steps."""
    steps = script(effective_actions(trace, read_acts(trace, task)))[:_MOST_STEPS]
    if len(steps) < _LEAST_STEPS:
        return []
    goal = " ".join(task.goal.split()).rstrip(".")
    named = {_LEAD.sub("", thing) for step in steps for thing in things_of(step)}
    places = {
        thing: found.start()
        for thing in sorted(named)
        if (found := re.search(rf"\b{re.escape(thing)}\b", goal, re.IGNORECASE))
    }
    things = sorted(places, key=lambda thing: (places[thing], -len(thing)))[:_MOST_SLOTS]
    slots = {thing: f"<{number}>" for number, thing in enumerate(things, 1)}

    def slotted(text: str) -> str:
        if not slots:
            return text
        any_thing = "|".join(re.escape(t) for t in sorted(slots, key=lambda t: (-len(t), t)))
        return re.sub(
            rf"\b(?:{any_thing})\b", lambda found: slots[found[0].lower()], text, flags=re.I
        )

    abstract = []
    for step in steps:
        slots_in = (_SLOT.search(thing) for thing in things_of(slotted(step)))
        kinds = ", ".join(slot[0] if slot else "*" for slot in slots_in)
        abstract.append(f"{verb_of(step)}({kinds})")
    order = listed(map(slotted, steps))
    text = f"Goal: {slotted(goal)}.\nDo in this order: {order}."
    return [Workflow(text, slotted(goal), " ".join(abstract), tuple(things))]


def fill_slots(text: str, template: str, things: Sequence[str], goal: str) -> str:
    """Fill the slots of a text from the goal, or from the example's ``things``.

    >>> fill_slots('"take <1>"', "find the <1>", ["mug"], "Find the red cup.")
    '"take red cup"'
    """
    pattern, *rest = map(re.escape, _SLOT.split(template))
    seen: set[str] = set()
    for number, literal in zip(rest[::2], rest[1::2], strict=True):
        pattern += (f"(?P=s{number})" if number in seen else f"(?P<s{number}>.+)") + literal
        seen.add(number)
    found = re.fullmatch(pattern, " ".join(goal.split()).rstrip("."), re.IGNORECASE)
    own = dict(enumerate(things, 1))
    if found and template:
        own = {int(name[1:]): thing.lower() for name, thing in found.groupdict().items()}
    return _SLOT.sub(lambda slot: own.get(int(slot[1]), slot[0]), text)
