"""STMA's planner and critic (Lei et al., Section 4.3): plan several actions, check each one.

The planner proposes a subgoal and its actions (D.4). Before each action, the critic checks it
against the present situation (D.5); after an objection, the planner plans again with the feedback.
The paper's memory is ``stma``. The paper has no limit; here the last proposal is played after
``rounds`` rejected plans. Answers are JSON where the paper has YAML.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any, Literal

from gym_memory.baselines.llm.answers import undressed
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.core.optional import require
from gym_memory.core.records import Observation, PlanState
from gym_memory.core.settings import Help

__all__ = ["Stma", "StmaSettings", "plan_schema", "verdict_schema"]

_MAX_PLAN_ACTIONS = 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class StmaSettings(LanguageSettings):
    """Settings of STMA: the critic's; prompts have no past observations.

    Attributes:
        critic: Whether there is a critic (the paper's ablation).
    """

    history: Annotated[
        int | None,
        Help(
            "Past observations to show; none by default, as in the paper, for the beliefs hold the "
            "past. The last action is always shown.",
            low=0,
        ),
    ] = 0
    history_tokens: int = 200
    rounds: Annotated[int, Help("Plans that the critic may turn down at one step.", low=0)] = 3
    critic: bool = True


class Stma(LanguagePolicy):
    """STMA's agent: it plans several actions, and criticizes each before playing it.

    The memory gets the last objection of a step with the action (Algorithm 2, line 4).
    """

    settings_class = StmaSettings
    settings: StmaSettings

    def set_up(self) -> None:
        """Reset the counters."""
        self.rejected = self.unapproved = 0

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan."""
        super().reset(info, seed)
        self._subgoal = ""
        self._planned: list[str] = []

    def counters(self) -> dict[str, float]:
        """Return the counters, including rejected proposals and those played anyway."""
        counts = {"rejected": self.rejected, "unapproved": self.unapproved}
        return {**super().counters(), **counts}

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action of a plan that the critic accepts."""
        situation = self.situation(obs)
        feedback = objection = ""
        for turn in range(self.settings.rounds + 1):
            if not self._planned:
                self._plan(situation, feedback, self.held_to(obs))
            action = self._planned[0] if self._planned else ""
            if not action:
                break  # planning failed, so there is nothing to criticize
            feedback = self._criticism(action, situation, obs) if self.settings.critic else ""
            if not feedback:
                break
            objection = feedback
            self.rejected += 1
            if turn == self.settings.rounds:
                self.unapproved += 1
            else:
                self._planned = []
        self.focus = PlanState(self._subgoal, thought=objection)
        self._planned = self._planned[1:] if not feedback else []
        return self.act_on(action, obs)

    def _plan(self, situation: dict[str, str], feedback: str, valid: tuple[str, ...]) -> None:
        """Make a plan, of ``valid`` actions if there are any; on failure, keep only the subgoal."""

        def answer() -> tuple[str, list[str]]:
            schema = plan_schema(valid)
            reply = self.ask(
                "stma_plan", schema, subgoal=self._subgoal, feedback=feedback, **situation
            )
            return reply.parsed.subgoal, reply.parsed.actions[:_MAX_PLAN_ACTIONS]

        kept: tuple[str, list[str]] = (self._subgoal, [])
        self._subgoal, self._planned = self.attempt(answer, kept)

    def _criticism(self, action: str, situation: dict[str, str], obs: Observation) -> str:
        if obs["valid_actions"] and not undressed(action, obs["valid_actions"]):
            return f"{action!r} is not among the possible actions."

        def answer() -> str:
            reply = self.ask(
                "stma_critic", verdict_schema(), subgoal=self._subgoal, action=action, **situation
            )
            reason = reply.parsed.feedback.strip() or f"{action!r} is not suitable."
            return "" if reply.parsed.suitable else reason

        return self.attempt(answer, "There was no verdict: plan again.")


@functools.lru_cache(maxsize=64)
def plan_schema(valid: tuple[str, ...]) -> Any:
    """Return the schema of a plan of valid actions, or of any actions if none are listed."""
    pydantic = require("pydantic", "llm", "answers in JSON")
    action: Any = Literal[valid] if valid else str
    actions = Annotated[list[action], pydantic.Field(min_length=1)]
    return pydantic.create_model(
        "Plan", thought=(str, ...), subgoal=(str, ...), actions=(actions, ...)
    )


@functools.cache
def verdict_schema() -> Any:
    """Return the schema of the critic's verdict."""
    pydantic = require("pydantic", "llm", "answers in JSON")
    return pydantic.create_model(
        "Verdict", thought=(str, ...), suitable=(bool, ...), feedback=(str, "")
    )
