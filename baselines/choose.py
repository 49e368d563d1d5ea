"""Choose: the valid action that a local model finds most likely as the answer.

No answer has to be read, so nothing can be malformed, and small models play too (the idea of
SayCan and CALM without what they add). The prompt goes through the model once a step, all
actions share its keys and values.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gym_memory.baselines.language import LanguagePolicy, fill
from gym_memory.errors import InvalidArgumentError, UnknownNameError
from gym_memory.llm import ChatModel
from gym_memory.prompts import load_prompt
from gym_memory.types import Observation

__all__ = ["Choose"]

_NORMALIZATIONS = ("none", "characters")


class Choose(LanguagePolicy):
    """Scores each valid action by its likelihood.

    Args:
        llm: A model that scores (:class:`gym_memory.llm.Scorer`) or its spec,
            ``transformers?model=/weights/qwen``.
        model: As of :class:`gym_memory.baselines.language.LanguagePolicy`.
        prompt: Name of the prompt that the actions are to answer.
        per: ``characters`` divides a log-likelihood by the length of its action, so that long
            actions are not at a loss; ``none`` takes it as it is.
        temperature: 0 takes the most likely action; above, actions are drawn by softmax of the
            log-likelihoods over it.
        history: Past observations to show.
        history_tokens: Tokens that they may take.

    Raises:
        InvalidArgumentError: The model cannot score.
        UnknownNameError: ``per`` is not one of the above.
    """

    name: ClassVar[str] = "choose"

    def __init__(
        self,
        llm: str | ChatModel = "transformers",
        model: str = "",
        *,
        prompt: str = "plain",
        per: str = "characters",
        temperature: float = 0.0,
        history: int | None = 5,
        history_tokens: int = 1000,
    ):
        if per not in _NORMALIZATIONS:
            raise UnknownNameError("per", per, _NORMALIZATIONS)
        if isinstance(temperature, bool) or not temperature >= 0:
            raise InvalidArgumentError(f"expected temperature >= 0, got {temperature!r}")
        super().__init__(
            llm, model, history=history, history_tokens=history_tokens, temperature=temperature
        )
        if not hasattr(self.llm, "score"):
            raise InvalidArgumentError(
                "expected a model that scores, such as 'transformers?model=/weights/qwen', got "
                f"{self.llm!r}"
            )
        self._score = self.llm.score
        self._prompt, self._per = load_prompt(prompt), per

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """The most likely valid action; ``look`` where none is listed."""
        valid = obs["valid_actions"]
        if not valid:
            return self.act_on("", obs)
        slots = self.situation(obs)
        scores = self.attempt(lambda: self._score(fill(self._prompt, slots), valid), None)
        if scores is None:
            return self.act_on("", obs)
        logits = np.array(scores)
        if self._per == "characters":
            logits /= np.array([max(len(action), 1) for action in valid])
        if self.temperature:
            shares = np.exp((logits - logits.max()) / self.temperature)
            return valid[int(self._rng.choice(len(valid), p=shares / shares.sum()))]
        return valid[int(logits.argmax())]
