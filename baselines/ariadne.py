"""Ariadne (Anokhin et al., AriGraph): a plan kept from step to step, and a decision by it.

Two calls a step: planning writes the plan anew as JSON (sub-goals in order, with the progress of
each), decision picks one of the valid actions with a reason (ReAct). Both see the task, what the
memory recalls, the last observations and the present one. The plan is published as ``focus``, so
it steers the next recall. The prompts are those of the paper's appendix E in slots and answers,
in other words; the emotion that its plan carries is left out. Both calls begin with the same
rules and the same situation and differ only in their end, so a server's prefix cache has nearly
all of the second one.

The authors' code makes four more calls a step for the memory: extraction, outdated facts,
entities to look up, and whether to show unexplored exits. They are roles of the memory here, by
rules or by a model (``arigraph?llm=...``).
"""

from __future__ import annotations

import functools
from typing import Annotated, Any, ClassVar, NamedTuple

from gym_memory.baselines.language import LanguagePolicy
from gym_memory.checks import check_int
from gym_memory.errors import ModelError
from gym_memory.llm import ChatModel, Completion
from gym_memory.optional import require
from gym_memory.types import Observation

__all__ = ["Ariadne", "SubGoal"]

_SUB_GOAL, _MOST = "sub_goal", 10


class SubGoal(NamedTuple):
    """A step of the plan and how far it is."""

    text: str
    reason: str = ""


class Ariadne(LanguagePolicy):
    """Plans, then decides.

    Where planning fails, the last plan is kept.

    Args:
        llm: As of :class:`gym_memory.baselines.language.LanguagePolicy`, like the rest.
        model: Likewise.
        base_url: Likewise.
        plan_every: Steps from one planning to the next, >= 1; 1 as in the paper. Between them the
            plan is kept, so a larger number takes fewer calls.
        history: Past observations to show at most; 5 in the authors' code.
        history_tokens: Tokens that they may take.
        temperature: Sampling temperature.

    Where the environment offers ``go to <place>`` (:class:`gym_memory.wrappers.Navigate`), the
    decision is told to prefer it for places farther than one move.
    """

    name: ClassVar[str] = "ariadne"

    def __init__(
        self,
        llm: str | ChatModel = "openai",
        model: str = "",
        base_url: str = "",
        *,
        plan_every: int = 1,
        history: int | None = 5,
        history_tokens: int = 400,
        temperature: float = 0.2,
    ):
        check_int("plan_every", plan_every, 1)
        self.plan_every = plan_every
        super().__init__(
            llm,
            model,
            base_url,
            history=history,
            history_tokens=history_tokens,
            temperature=temperature,
        )

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan."""
        super().reset(info, seed)
        self._plan: tuple[SubGoal, ...] = ()
        self._planned_before = 0

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Plan, publish the plan, decide."""
        situation = self.situation(obs)
        actions = situation.pop("actions")
        if not self._plan or self._planned_before >= self.plan_every:
            self._plan = self.attempt(lambda: self._planned(situation), self._plan)
            self._planned_before = 0
        self._planned_before += 1
        self.focus = "; ".join(step.text for step in self._plan)
        slots = {**situation, "actions": actions, "plan": self._told()}
        answer = self.attempt(lambda: self._decided(slots, obs), "")
        return self.act_on(answer, obs)

    def _planned(self, situation: dict[str, str]) -> tuple[SubGoal, ...]:
        answer = self.ask("ariadne_plan", _plan_schema(), plan=self._told(), **situation)
        steps = [_sub_goal(step) for step in answer.parsed.plan_steps[:_MOST]]
        plan = tuple(step for step in steps if step.text)
        if not plan:
            raise ModelError("answer", "expected a plan with at least one sub-goal")
        return plan

    def _decided(self, slots: dict[str, str], obs: Observation) -> str:
        def read(answer: Completion) -> str:
            return str(answer.parsed.action_to_take)

        return self.decide("ariadne_act", read, obs, _decision_schema(), **slots)

    def _told(self) -> str:
        """The plan as a prompt shows it."""
        lines = []
        for number, (text, reason) in enumerate(self._plan, 1):
            lines += [f"{number}. {text}", *([f"   {reason}"] if reason else ())]
        return "\n".join(lines)


def _sub_goal(step: dict[str, str]) -> SubGoal:
    """A step of the answer; the paper numbers the key (``sub_goal_1``)."""
    text = next((value for key, value in step.items() if key.startswith(_SUB_GOAL)), "")
    return SubGoal(" ".join(text.split())[:400], " ".join(step.get("reason", "").split())[:400])


@functools.cache
def _plan_schema() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    steps = Annotated[list[dict[str, str]], pydantic.Field(min_length=1)]
    return pydantic.create_model("Plan", main_goal=(str, ""), plan_steps=(steps, ...))


@functools.cache
def _decision_schema() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    action = Annotated[str, pydantic.Field(min_length=1, max_length=1000)]
    return pydantic.create_model(
        "Decision", reason_for_action=(str, ""), action_to_take=(action, ...)
    )
