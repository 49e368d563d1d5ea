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

import dataclasses
import functools
from typing import Annotated, Any, ClassVar, Literal

from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings, match_action
from gym_memory.baselines.registry import POLICIES
from gym_memory.core.optional import require
from gym_memory.core.records import Observation
from gym_memory.core.settings import check_flag, check_int

__all__ = ["Stma", "StmaSettings"]

_MAX_PLAN_ACTIONS = 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class StmaSettings(LanguageSettings):
    """The shared ones, without past observations, and those of the critic.

    Attributes:
        rounds: Plans that the critic may turn down at one step, >= 0.
        critic: Whether there is a critic (the paper's ablation).
        history: Past observations to show; none by default, as in the paper, for the beliefs tell
            the past. The last action is shown in any case.
    """

    history: int | None = 0
    history_tokens: int = 200
    rounds: int = 3
    critic: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("rounds", self.rounds, 0)
        check_flag("critic", self.critic)


@POLICIES.register("stma")
class Stma(LanguagePolicy):
    """Plans several actions, criticises each before it is played.

    Attributes:
        rejected: Proposals that the critic turned down.
        unapproved: Proposals that were played all the same.
    """

    name: ClassVar[str] = "stma"
    settings_class = StmaSettings
    settings: StmaSettings
    max_tokens: int = 1024

    def set_up(self) -> None:
        """Count from nothing."""
        self.rejected = self.unapproved = 0

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
        for turn in range(self.settings.rounds + 1):
            if not self._planned:
                self._plan(situation, feedback, self.held_to(obs))
            action = self._planned[0] if self._planned else ""
            if not action:
                break  # planning failed: nothing to criticise
            feedback = self._criticism(action, situation, obs) if self.settings.critic else ""
            if not feedback:
                break
            self.rejected += 1
            if turn == self.settings.rounds:
                self.unapproved += 1
            else:
                self._planned = []
        self.focus = self._subgoal
        self._planned = self._planned[1:] if not feedback else []
        return self.act_on(action, obs)

    def _plan(self, situation: dict[str, str], feedback: str, valid: tuple[str, ...]) -> None:
        """Ask the planner, for ``valid`` actions if there are any.

        Where it fails, the subgoal is kept and no action is planned.
        """

        def answer() -> tuple[str, list[str]]:
            schema = _plan_schema(valid)
            asked = self.ask(
                "stma_plan", schema, subgoal=self._subgoal, feedback=feedback, **situation
            )
            return asked.parsed.subgoal, asked.parsed.actions[:_MAX_PLAN_ACTIONS]

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
            reason = asked.parsed.feedback.strip() or f"{action!r} is not suitable."
            return "" if asked.parsed.suitable else reason

        return self.attempt(answer, "")


@functools.lru_cache(maxsize=64)
def _plan_schema(valid: tuple[str, ...]) -> Any:
    """A plan; of ``valid`` actions, where there are any."""
    pydantic = require("pydantic", "llm", "answers in JSON")
    action: Any = Literal[valid] if valid else str
    actions = Annotated[list[action], pydantic.Field(min_length=1)]
    return pydantic.create_model(
        "Plan", thought=(str, ""), subgoal=(str, ...), actions=(actions, ...)
    )


@functools.cache
def _verdict_schema() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    return pydantic.create_model(
        "Verdict", thought=(str, ""), suitable=(bool, ...), feedback=(str, "")
    )
