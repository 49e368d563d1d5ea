"""Choose: the valid action that a local model finds most likely as the answer.

No answer has to be read, so small models play too (the idea of SayCan and CALM). A likelihood
alone favours common actions; ``pmi`` subtracts the log-likelihood of an action after the same
prompt with empty slots (domain-conditional PMI of Holtzman et al. 2021, Equation 3).
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.base import POLICIES
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings, fill
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help
from gym_memory.llm import ChatModel, Scorer
from gym_memory.llm.prompts import load_prompt

__all__ = ["Choose", "ChooseSettings"]

Score = Literal["sum", "char", "token", "pmi"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChooseSettings(LanguageSettings):
    """The shared ones but the endpoint, and how actions are scored.

    Attributes:
        llm: A model that scores (:class:`gym_memory.llm.Scorer`) or its spec,
            ``transformers?model=/weights/qwen``.
        prompt: Name of the prompt that the actions are to answer.
        score: ``char`` and ``token`` divide a log-likelihood by the action's length; ``sum`` does
            not; ``pmi`` subtracts the one without the situation.
    """

    llm: str | ChatModel = dataclasses.field(default="transformers", kw_only=False)
    base_url: str = dataclasses.field(default="", init=False)
    history_tokens: int = 1000
    temperature: Annotated[
        float,
        Help(
            "0 takes the most likely action; above, a softmax of the scores over it draws.", low=0
        ),
    ] = 0.0
    constrain: bool = dataclasses.field(default=False, init=False)
    prompt: str = "plain"
    score: Score = "char"


@POLICIES.register("choose")
class Choose(LanguagePolicy):
    """Scores each valid action by its likelihood."""

    settings_class = ChooseSettings
    settings: ChooseSettings

    def set_up(self) -> None:
        """Check that the model scores; load the prompt."""
        if not hasattr(self.llm, "score"):
            raise InvalidArgumentError(
                "expected a model that scores, such as 'transformers?model=/weights/qwen', got "
                f"{self.llm!r}"
            )
        self._scorer: Scorer = self.llm
        self._prompt = load_prompt(self.settings.prompt)
        empty = dict.fromkeys(self._prompt.slots, "") | {"recalled_lessons": ""}
        self._nothing = fill(self._prompt, empty)
        self._prior: dict[str, float] = {}

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the best valid action by its score; ``look`` where none is listed."""
        valid = obs["valid_actions"]
        if not valid:
            return self.act_on("", obs)
        scores = self.attempt(lambda: self.scores(obs), None)
        if scores is None:
            return self.act_on("", obs)
        if self.settings.temperature:
            shares = np.exp((scores - scores.max()) / self.settings.temperature)
            return valid[int(self._rng.choice(len(valid), p=shares / shares.sum()))]
        return valid[int(scores.argmax())]

    def scores(self, obs: Observation) -> NDArray[np.float64]:
        """Return the score of each valid action; raises ModelError without an answer."""
        valid = obs["valid_actions"]
        scores = np.array(self._scorer.score(fill(self._prompt, self.situation(obs)), valid))
        kind = self.settings.score
        if kind == "char":
            return scores / [max(len(action), 1) for action in valid]
        if kind == "token":
            return scores / np.maximum(self._scorer.lengths(valid), 1)
        if kind == "pmi":
            return scores - [self._prior_of(action) for action in valid]
        return scores

    def _prior_of(self, action: str) -> float:
        if action not in self._prior:
            self._prior[action] = self._scorer.score(self._nothing, [action])[0]
        return self._prior[action]
