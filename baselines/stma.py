"""STMA's planner and critic (Lei et al., Section 4.3): several actions at once, each checked.

The planner proposes a subgoal and the actions that reach it (D.4). Before each of them the critic
looks at the present situation and says whether it is still right (D.5); where it is not, the
planner plans anew with the critic's feedback. The beliefs that both work from are what the memory
recalls (the paper's pairing: memory ``stma``).

The paper does not say how often the two may disagree before something is done: after ``rounds``
plans that were turned down, the last proposal is played. Answers are JSON where the paper has
YAML.
"""

from __future__ import annotations

import functools
from typing import Annotated, Any, ClassVar

from gym_memory.baselines.language import LanguagePolicy, match_action
from gym_memory.checks import check_flag, check_int
from gym_memory.llm import ChatModel
from gym_memory.optional import require
from gym_memory.types import Observation

__all__ = ["Stma"]

_MOST = 20


class Stma(LanguagePolicy):
    """Plans several actions, criticises each before it is played.

    Args:
        llm: As of :class:`gym_memory.baselines.language.LanguagePolicy`, like the rest.
        model: Likewise.
        base_url: Likewise.
        rounds: Plans that the critic may turn down at one step, >= 0.
        critic: Whether there is a critic (the paper's ablation).
        history: Past observations to show; none by default, as in the paper, for the beliefs tell
            the past. The last action is shown in any case.
        history_tokens: Tokens that they may take.
        temperature: Sampling temperature.
    """

    name: ClassVar[str] = "stma"
    max_tokens: int = 1024

    def __init__(
        self,
        llm: str | ChatModel = "openai",
        model: str = "",
        base_url: str = "",
        *,
        rounds: int = 3,
        critic: bool = True,
        history: int | None = 0,
        history_tokens: int = 200,
        temperature: float = 0.2,
    ):
        check_int("rounds", rounds, 0)
        check_flag("critic", critic)
        self.rounds, self.critic = rounds, critic
        self.rejected = self.unapproved = 0
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
        self._subgoal = ""
        self._planned: list[str] = []

    def counters(self) -> dict[str, float]:
        """Also proposals that the critic turned down, and those played all the same."""
        counts = {"rejected": self.rejected, "unapproved": self.unapproved}
        return {**super().counters(), **counts}

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """The next action of the plan that the critic lets pass."""
        situation = self.situation(obs)
        feedback = ""
        for turn in range(self.rounds + 1):
            if not self._planned:
                self._plan(situation, feedback)
            action = self._planned[0] if self._planned else ""
            if not action:
                break  # planning failed: nothing to criticise
            feedback = self._criticism(action, situation, obs) if self.critic else ""
            if not feedback:
                break
            self.rejected += 1
            if turn == self.rounds:
                self.unapproved += 1
            else:
                self._planned = []
        self.focus = self._subgoal
        self._planned = self._planned[1:] if not feedback else []
        return self.act_on(action, obs)

    def _plan(self, situation: dict[str, str], feedback: str) -> None:
        """Ask the planner; where it fails, the subgoal is kept and no action is planned."""

        def answer() -> tuple[str, list[str]]:
            asked = self.ask(
                "stma_plan", _plan_schema(), subgoal=self._subgoal, feedback=feedback, **situation
            )
            return asked.parsed.subgoal, asked.parsed.actions[:_MOST]

        kept: tuple[str, list[str]] = (self._subgoal, [])
        self._subgoal, self._planned = self.attempt(answer, kept)

    def _criticism(self, action: str, situation: dict[str, str], obs: Observation) -> str:
        """Why the action is unsuitable, "" if it is suitable.

        An action that is not possible needs no model to be turned down.
        """
        if obs["valid_actions"] and not match_action(action, obs["valid_actions"]):
            return f"{action!r} is not among the possible actions."

        def answer() -> str:
            asked = self.ask(
                "stma_critic", _verdict_schema(), subgoal=self._subgoal, action=action, **situation
            )
            told = asked.parsed.feedback.strip() or f"{action!r} is not suitable."
            return "" if asked.parsed.suitable else told

        return self.attempt(answer, "")


@functools.cache
def _plan_schema() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    actions = Annotated[list[str], pydantic.Field(min_length=1)]
    return pydantic.create_model(
        "Plan", thought=(str, ""), subgoal=(str, ...), actions=(actions, ...)
    )


@functools.cache
def _verdict_schema() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    return pydantic.create_model(
        "Verdict", thought=(str, ""), suitable=(bool, ...), feedback=(str, "")
    )
