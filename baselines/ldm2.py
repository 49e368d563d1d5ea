"""LDM2's agent (Wang et al., Section 3.2): imitate what was done in situations like this one.

The examples are what the memory recalls (the paper's pairing: memory ``ldm2``). One call a step
gives actions with confidences, as the paper's tree exploration asks for them; the most confident
one is played.
"""

from __future__ import annotations

import functools
from types import GenericAlias
from typing import Annotated, Any, ClassVar

from gym_memory.baselines.language import LanguagePolicy, match_action
from gym_memory.errors import ModelError
from gym_memory.optional import require
from gym_memory.types import Observation

__all__ = ["Ldm2"]


class Ldm2(LanguagePolicy):
    """Imitates examples.

    Arguments are those of :class:`gym_memory.baselines.language.LanguagePolicy`.
    """

    name: ClassVar[str] = "ldm2"

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """The most confident of the candidates."""
        nothing: dict[str, float] = {}
        candidates = self.attempt(lambda: self.candidates(obs), nothing)
        return self.act_on(max(candidates, key=lambda a: candidates[a], default=""), obs)

    def candidates(self, obs: Observation) -> dict[str, float]:
        """Possible next actions and the confidence in each; the confidences sum to 1.

        Answers that are no valid action are dropped, the others scaled.

        Raises:
            ModelError: No usable answer, or no valid action in it.
        """
        answer = self.ask("ldm2", _schema(), **self.situation(obs))
        confidence: dict[str, float] = {}
        for candidate in answer.parsed.actions:
            valid = obs["valid_actions"]
            action = match_action(candidate.action, valid) if valid else candidate.action.strip()
            if action:
                confidence[action] = confidence.get(action, 0.0) + candidate.confidence
        total = sum(confidence.values())
        if not total:
            raise ModelError("answer", "expected at least one valid action with confidence > 0")
        return {action: share / total for action, share in confidence.items()}


@functools.cache
def _schema() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    share = Annotated[float, pydantic.Field(ge=0, le=1)]
    candidate = pydantic.create_model("Candidate", action=(str, ...), confidence=(share, ...))
    several = pydantic.Field(min_length=1)
    return pydantic.create_model("Candidates", actions=(GenericAlias(list, (candidate,)), several))
