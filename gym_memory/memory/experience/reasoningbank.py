"""ReasoningBank (2509.25140): general items from successes and failures, by the nearest task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from gym_memory.core.records import Outcome, Step, Task
from gym_memory.core.settings import Help
from gym_memory.memory.experience.base import ExperienceMemory, ExperienceSettings, Trial
from gym_memory.memory.experience.items import (
    Item,
    actions_of,
    effective_actions,
    listed,
    script,
    without_numbers,
)
from gym_memory.memory.lessons.causes import read_acts
from gym_memory.memory.roles.llm_experience import LLMCompareAttempts, LLMExtractItems
from gym_memory.memory.roles.text import score_in_words, trace_text

__all__ = ["ReasoningBank", "ReasoningBankSettings", "compare_attempts", "extract_items"]

_MOST_ITEMS, _MOST_COMPARED = 3, 5
_TRACES_TOKENS = 4000
"""Tokens of all attempts that are compared."""
_MOST_STEPS = 40
_GOAL_CHARS = 300


@dataclass(frozen=True)
class ReasoningBankSettings(ExperienceSettings):
    """Settings of ReasoningBank."""

    k: Annotated[int, Help("Items to show at most; 10.", low=1)] = 10
    tasks: Annotated[int, Help("Nearest past tasks whose items are shown; 1.", low=1)] = 1
    scaling: Annotated[
        Literal["none", "parallel", "sequential"],
        Help(
            "Learn from each attempt, or from several at a task, compared or each shown the last."
        ),
    ] = "none"
    attempts: Annotated[int, Help("Attempts at a task to learn from together; 3.", low=1)] = 3


class ReasoningBank(ExperienceMemory):
    """ReasoningBank: a few general items from each episode, found by its task.

    An episode gives at most three items, each title, description and content, from one prompt for
    successes and another for failures. At the start the items of the ``tasks`` nearest past tasks
    are shown. The bank only grows, up to ``capacity``.

    With ``scaling`` (MaTTS) at most five items come from ``attempts`` attempts at a task, or fewer
    if one at another task ends. ``parallel`` compares them; ``sequential`` shows each to the next
    to check, and learns from the checks as well.

    Differences from the paper: rules write by default, one item per episode, which names the goal
    and the kinds of things, so that a reader can replace them by its own. The environment decides
    on success, not a judge. If tasks are equally near, the latest counts. The attempts of MaTTS are
    trials in sequence. A check is the item that the attempt alone would give; the rules keep it if
    the next attempt is better.
    """

    name: ClassVar[str] = "reasoningbank"
    settings_class = ReasoningBankSettings
    settings: ReasoningBankSettings

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self._extract = LLMExtractItems.or_rule(self._model, extract_items)
        self._compare = LLMCompareAttempts.or_rule(self._model, compare_attempts)
        self._attempts: list[Item] = []

    def _choose(self, step: Step) -> Sequence[Item]:
        found = self.bank.nearest(self._task.goal)
        found.sort(key=lambda near: (-near.similarity, -near.item.born))
        episodes = list(dict.fromkeys(near.item.born for near in found))[: self.settings.tasks]
        return [near.item for near in found if near.item.born in episodes][: self.settings.k]

    def _lessons(self) -> Sequence[str]:
        shown = self._attempts_at(self._task) if self.settings.scaling == "sequential" else []
        check = "Check the last attempt at this task, a {}: were its steps right, and needed?\n{}"
        return [*super()._lessons(), *(check.format(a.kind, a.text) for a in shown[-1:])]

    def _attempts_at(self, task: Task) -> list[Item]:
        return [a for a in self._attempts if (a.origins[0].task, a.goal) == (task.id, task.goal)]

    def _take(self, trial: Trial) -> None:
        if not self._attempts_at(trial.task):
            self._learn_together()
        super()._take(trial)
        win = (trial.task.goal, *script(actions_of(trial.trace)))
        if self.settings.scaling == "none" or win in self.bank.held:
            return
        self._attempts.append(self._attempt(trial))
        if len(self._attempts) >= self.settings.attempts:
            self._learn_together()

    def _attempt(self, trial: Trial) -> Item:
        """Return an attempt as an item; ``more``: a note, the actions with an effect, and all."""
        checked = self.settings.scaling == "sequential"
        extract = self._extract if checked else extract_items
        note = "\n".join(extract(trial.trace, trial.outcome, trial.task)[:_MOST_ITEMS])
        trace = trace_text(trial.trace, _TRACES_TOKENS // self.settings.attempts).replace('"', "'")
        text = "\n".join([score_in_words(trial.outcome), *[note] * checked, trace])
        steps = effective_actions(trial.trace, read_acts(trial.trace, trial.task))
        more = ["\n".join(script(actions)) for actions in (steps, actions_of(trial.trace))]
        trial = trial._replace(origin=trial.origin._replace(run=self.bank.episode))
        return trial.draft(text, more=(note, *more), utility=trial.outcome.value)

    def _learn_together(self) -> None:
        """Write the items of the attempts held."""
        if self._attempts:
            origin, goal = self._attempts[-1].origins[0], self._attempts[-1].goal
            super()._take(Trial(Task(origin.task, goal), (), Outcome(), origin))
            self._attempts = []

    def _write(self, trial: Trial) -> Iterable[Item]:
        if trial.origin.run:
            texts = self._compare(self._attempts, self.settings.scaling == "sequential")
            origins = tuple(attempt.origins[0] for attempt in self._attempts)
            best = max(self._attempts, key=_rank)._replace(more=(), utility=0.0, origins=origins)
            return [best._replace(text=text) for text in texts[:_MOST_COMPARED]]
        if self.settings.scaling != "none":
            return []
        outcome = trial.outcome._replace(success=trial.success)
        texts = self._extract(trial.trace, outcome, trial.task)
        return [trial.draft(text) for text in texts[:_MOST_ITEMS]]

    def _learnt(self) -> dict[str, Any]:
        attempts = [attempt.payload() for attempt in self._attempts]
        return {**super()._learnt(), **({"attempts": attempts} if attempts else {})}

    def _relearn(self, state: dict[str, Any]) -> None:
        super()._relearn(state)
        self._attempts = [Item.read(attempt) for attempt in state.get("attempts", ())]


def extract_items(trace: Sequence[Step], outcome: Outcome, task: Task) -> list[str]:
    """Return one rule-based item: the order that won, or the most refused action and its remedy."""
    acts = read_acts(trace, task)
    goal = _goal_line(task.goal)
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


def compare_attempts(attempts: Sequence[Item], checked: bool = False) -> list[str]:
    """Return rule-based items of several attempts at a task.

    The first is the note of the best. Then come what had an effect in each of the best and was done
    in no other, and, if each was ``checked``, the notes after which the next attempt was better.
    """
    best, level = max(attempts, key=_rank), lambda attempt: _rank(attempt)[:2]
    order = dict.fromkeys(best.more[1].split("\n")) if best.more[1] else {}
    good = [a.more[1].split("\n") for a in attempts if level(a) == level(best)]
    others = [a.more[2].split("\n") for a in attempts if level(a) < level(best)]
    shared = set(order).intersection(*good).difference(*others) if others else ()
    steps = [step for step in order if step in shared][:_MOST_STEPS]
    contrast = f"It made the difference to do {listed(steps)}: worse attempts lacked it."
    texts = [best.more[0], *[_goal_line(best.goal) + contrast] * bool(steps)]
    if checked:
        texts += [a.more[0] for a, b in pairwise(attempts) if level(a) < level(b)]
    return [text for text in dict.fromkeys(texts) if text]


def _rank(attempt: Item) -> tuple[bool, float, int]:
    """Order attempts: a win before a failure, then by score, then the shorter one."""
    return attempt.kind == "success", attempt.utility, -len(attempt.actions)


def _goal_line(goal: str) -> str:
    return f"Goal: {' '.join(goal.split())[:_GOAL_CHARS].rstrip('. ')}.\n"
