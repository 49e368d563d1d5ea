"""ReasoningBank (2509.25140): general items from successes and failures, by the nearest task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from gym_memory.core.records import Outcome, Step, Task
from gym_memory.core.settings import Help
from gym_memory.memory.base import MEMORIES
from gym_memory.memory.experience.base import ExperienceMemory, ExperienceSettings, Trial
from gym_memory.memory.experience.items import (
    Item,
    effective_actions,
    listed,
    script,
    without_numbers,
)
from gym_memory.memory.lessons.causes import read_acts
from gym_memory.memory.roles.llm_experience import LLMExtractItems

__all__ = ["ReasoningBank", "ReasoningBankSettings", "extract_items"]

_MOST_ITEMS = 3
_MOST_STEPS = 40
_GOAL_CHARS = 300


@dataclass(frozen=True)
class ReasoningBankSettings(ExperienceSettings):
    """Settings of ReasoningBank."""

    k: Annotated[int, Help("Items to show at most; 10.", low=1)] = 10
    tasks: Annotated[int, Help("Nearest past tasks whose items are shown; 1.", low=1)] = 1


@MEMORIES.register("reasoningbank")
class ReasoningBank(ExperienceMemory):
    """ReasoningBank: a few general items from each episode, found by its task.

    An episode gives at most three items, each title, description and content, from one prompt for
    successes and another for failures. At the start the items of the ``tasks`` nearest past tasks
    are shown. The bank only grows, up to ``capacity``.

    What differs from the paper: rules write by default, one item an episode, which names its goal
    and the kinds of things, so that a reader can put its own in their place. The environment says
    whether it was a success, not a judge. Of equally near tasks the latest counts. MaTTS, several
    trajectories of a task compared at test time, is left out.
    """

    name: ClassVar[str] = "reasoningbank"
    settings_class = ReasoningBankSettings
    settings: ReasoningBankSettings

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        rule = extract_items
        self._extract = LLMExtractItems(self._model, rule) if self._model else rule

    def _choose(self, step: Step) -> Sequence[Item]:
        found = self._bank.nearest(self._task.goal)
        found.sort(key=lambda near: (-near.similarity, -near.item.born))
        episodes = list(dict.fromkeys(near.item.born for near in found))[: self.settings.tasks]
        return [near.item for near in found if near.item.born in episodes][: self.settings.k]

    def _write(self, trial: Trial) -> Iterable[Item]:
        outcome = trial.outcome._replace(success=trial.success)
        texts = self._extract(trial.trace, outcome, trial.task)
        return [trial.draft(text) for text in texts[:_MOST_ITEMS]]

    def _roles(self) -> Iterable[object]:
        return (self._extract,)


def extract_items(trace: Sequence[Step], outcome: Outcome, task: Task) -> list[str]:
    """Extract one item by rules: the order that won, or the action refused most and its remedy."""
    acts = read_acts(trace, task)
    goal = f"Goal: {' '.join(task.goal.split())[:_GOAL_CHARS].rstrip('. ')}.\n"
    if outcome.success:
        steps = script(effective_actions(trace, acts))
        if not steps:
            return []
        return [f"{goal}Keep the order that won: {listed(steps[:_MOST_STEPS])}."]
    vain = [act for act in acts if not (act.changed or act.news or act.reward)]
    refused = Counter(act.action for act in vain).most_common(1)
    if not refused:
        return []
    (action, times), accepted = refused[0], [act.action for act in acts if act not in vain]
    text = (
        f"{goal}Leave what is refused. "
        f"Do not do {listed([without_numbers(action)])} again: {times} times it changed nothing."
    )
    if action in accepted[1:]:  # it worked in the end, after something else
        before = accepted[accepted.index(action, 1) - 1]
        text += f"\nDo {listed([without_numbers(before)])} first."
    return [text]
