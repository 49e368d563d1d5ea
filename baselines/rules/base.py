"""The bases of players that follow rules: one reads by extraction, one asks advisors in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.rules.beliefs import Beliefs, Transcript
from gym_memory.baselines.rules.plan import Move, Plan, saw
from gym_memory.baselines.rules.travel import shows_only, try_any, try_new
from gym_memory.core.records import Observation, PlanState, Step, Task
from gym_memory.extract import get_extractor
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import PLAYER

__all__ = ["Advised", "Advisor", "RulePolicy"]


class RulePolicy(Policy):
    """Read the observation by the extraction rules of its dialect.

    From step to step such a policy keeps the plan that it publishes as ``focus``, and what it has
    read already of a transcript that goes on.
    """

    start: ClassVar[PlanState] = PlanState()
    """The plan before the first step."""
    dialect: ClassVar[str] = "textworld"
    """Whose rules it reads by where the info of the reset names no dialect."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)
        self._task_id, self._dialect = "", self.dialect
        self._transcript = Transcript()
        self.focus = self.start

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan."""
        self._rng = np.random.default_rng(seed)
        self._task_id = info.get("task_id", "")
        self._dialect = info.get("dialect", self._dialect)
        self._transcript = Transcript()
        self.focus = self.start

    def _task(self, obs: Observation) -> Task:
        return Task(self._task_id, obs["task"], self._dialect)

    def _place(self, obs: Observation) -> str:
        """Return the place that the observation names; empty without one."""
        rules = get_extractor(self._dialect)
        found = rules.extract(Step(0, obs["text"]), TemporalGraph(), self._task(obs))
        places = [m.triple.object for m in found.mentions if m.triple[:2] == (PLAYER, "is in")]
        return places[-1] if places else ""


# ------------------------------------------------------------ advisors

Advisor = Callable[[Beliefs], Iterable[Move]]
"""What to do, going by the beliefs, the best first; nothing where it knows nothing."""

_PATIENCE = 10
"""Steps without anything new, after which an aim is given up."""
_RESTLESS = 3
"""Steps without anything new, after which who remembers nothing no longer looks at things."""
_WITHOUT_EFFECT_TWICE = ("examine ", "read ", "take ", "open ", "unlock ")
"""What, done twice in a row, was refused the first time or shows the same again."""


class Advised(RulePolicy):
    """Do what the first of the advisors says that can be done; try new things where none does.

    An aim that led nowhere a few times, or under which nothing new was seen for many steps, is
    given up. ``advisors`` are in order, the most urgent first.
    """

    start: ClassVar[Plan] = Plan()
    focus: Plan

    def __init__(self, *advisors: Advisor) -> None:
        super().__init__()
        self._advisors = advisors

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action; publishes the plan behind it as ``focus``."""
        plan = self.focus
        idle, seen = saw(plan, obs["text"], obs["inventory"])
        plan = replace(plan, idle=idle, seen=seen)
        if idle == 0:
            plan = plan.take_up()
        elif idle >= _PATIENCE and not plan.aim.waits:
            plan = replace(plan.give_up(plan.aim), idle=1)
        rules = get_extractor(self._dialect)
        t = info.get("moves")
        beliefs = Beliefs(obs, rules, self._task(obs), plan, self._rng, self._transcript, t)
        move = self._decide(beliefs, plan)
        forgets = not (obs["memory"] or obs["triples"])
        if forgets and plan.idle >= _RESTLESS and shows_only(move.action):
            move = try_any(beliefs, self._rng) or move
        self.focus = plan.after(move)
        return beliefs.spelled(move.action)

    def _decide(self, beliefs: Beliefs, plan: Plan) -> Move:
        for advise in self._advisors:
            for move in advise(beliefs):
                if (
                    beliefs.can(move.action)
                    and not plan.has_given_up(move.aim)
                    and not (
                        move.action == plan.action and move.action.startswith(_WITHOUT_EFFECT_TWICE)
                    )
                ):
                    return move
        return try_new(beliefs, self._rng)
