"""Ariadne (Anokhin et al., AriGraph): a plan updated at each step, and a decision by it.

Planning writes the plan as JSON (sub-goals in order, with the progress of each); decision picks
a valid action with a reason (ReAct). The plan is the ``focus`` of the next recall. The prompts
have the slots and answers of appendix E, without the emotion. The authors' code makes four more
calls a step for the memory; here they are roles of the memory (``arigraph?llm=...``).
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any, Literal, NamedTuple

from gym_memory.baselines.llm.answers import NO_DECISION
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.core.errors import ModelError
from gym_memory.core.optional import require
from gym_memory.core.records import Observation, PlanState
from gym_memory.core.settings import Help

__all__ = ["Ariadne", "AriadneSettings", "SubGoal", "decision_schema", "plan_schema"]

_SUB_GOAL = "sub_goal"
_MAX_SUB_GOALS = 10


class SubGoal(NamedTuple):
    """A step of the plan with its progress."""

    text: str
    reason: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AriadneSettings(LanguageSettings):
    """Settings of Ariadne: the planning interval; 5 past observations, as in the authors' code."""

    temperature: Annotated[
        float | None, Help("Sampling temperature; 0.2 in the authors' code.", low=0)
    ] = 0.2
    plan_every: Annotated[
        int, Help("Steps from one planning to the next; 1 as in the paper.", low=1)
    ] = 1


class Ariadne(LanguagePolicy):
    """Ariadne: an agent that plans, then decides, and keeps its last plan if planning fails."""

    settings_class = AriadneSettings
    settings: AriadneSettings

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan."""
        super().reset(info, seed)
        self._plan: tuple[SubGoal, ...] = ()
        self._planned_before = 0

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Update and publish the plan, then return the decision."""
        situation = self.situation(obs)
        actions = situation.pop("actions")
        if not self._plan or self._planned_before >= self.settings.plan_every:
            self._plan = self.attempt(lambda: self._ask_plan(situation), self._plan)
            self._planned_before = 0
        self._planned_before += 1
        self.focus = PlanState("; ".join(step.text for step in self._plan))
        slots = {**situation, "actions": actions, "plan": self._plan_text()}
        schema = decision_schema(self.held_to(obs))
        action, _ = self.attempt(
            lambda: self.decide("ariadne_act", obs, schema, field="action_to_take", **slots),
            NO_DECISION,
        )
        return self.act_on(action, obs)

    def _ask_plan(self, situation: dict[str, str]) -> tuple[SubGoal, ...]:
        schema = plan_schema(self.settings.constrain)
        answer = self.ask("ariadne_plan", schema, plan=self._plan_text(), **situation)
        written = answer.parsed.model_dump()["plan_steps"]
        steps = [_sub_goal(step) for step in written[:_MAX_SUB_GOALS]]
        plan = tuple(step for step in steps if step.text)
        if not plan:
            raise ModelError("answer", "expected a plan with at least one sub-goal")
        return plan

    def _plan_text(self) -> str:
        lines = []
        for number, (text, reason) in enumerate(self._plan, 1):
            lines += [f"{number}. {text}", *([f"   {reason}"] if reason else ())]
        return "\n".join(lines)


def _sub_goal(step: dict[str, str]) -> SubGoal:
    """Parse a step of the answer; the paper numbers the keys (``sub_goal_1``)."""
    text = next((value for key, value in step.items() if key.startswith(_SUB_GOAL)), "")
    return SubGoal(" ".join(text.split())[:400], " ".join(step.get("reason", "").split())[:400])


@functools.cache
def plan_schema(strict: bool) -> Any:
    """Return the schema of a plan; if strict, including that of its steps."""
    pydantic = require("pydantic", "llm", "answers in JSON")
    step: Any = dict[str, str]
    if strict:
        step = pydantic.create_model("Step", sub_goal=(str, ...), reason=(str, ""))
    steps = Annotated[list[step], pydantic.Field(min_length=1)]
    return pydantic.create_model("Plan", main_goal=(str, ""), plan_steps=(steps, ...))


@functools.lru_cache(maxsize=64)
def decision_schema(valid: tuple[str, ...]) -> Any:
    """Return the schema of a decision for a valid action, or for any action if none is listed."""
    pydantic = require("pydantic", "llm", "answers in JSON")
    text = Annotated[str, pydantic.Field(min_length=1, max_length=1000)]
    action = Literal[valid] if valid else text
    return pydantic.create_model(
        "Decision", reason_for_action=(str, ""), action_to_take=(action, ...)
    )
