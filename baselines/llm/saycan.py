"""Choose the likeliest valid action by a model (``choose``), weighted by affordances (SayCan).

No answer has to be parsed, so small models can play. A likelihood alone favours common actions;
``pmi`` subtracts the log-likelihood of an action after the same prompt with empty slots
(domain-conditional PMI of Holtzman et al. 2021, Equation 3).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.actions import parse_action
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings, fill
from gym_memory.baselines.rules.explorer import place_of
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation, Transition, rewarded
from gym_memory.core.settings import Help
from gym_memory.core.text import compounds, stem
from gym_memory.llm import ChatModel, Scorer
from gym_memory.llm.prompts import load_prompt

__all__ = ["Affordances", "Choose", "ChooseSettings", "SayCan", "SayCanSettings"]
__all__ += ["overlap"]

Score = Literal["sum", "char", "token", "pmi"]
State = tuple[str, str, tuple[str, ...]]
"""Place, inventory, and the valid actions, or the text if none are listed."""

_MIN_AFFORDANCE = 1e-3
"""Least affordance, for actions of value zero or below, whatever their likelihood."""


# --- choose -------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChooseSettings(LanguageSettings):
    """Settings of `choose`: the scoring of actions; it has no endpoint.

    Attributes:
        llm: A scoring model (:class:`gym_memory.llm.Scorer`) or its spec,
            ``transformers?model=/weights/qwen``.
        prompt: Name of the prompt that the actions answer.
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


class Choose(LanguagePolicy):
    """A model that scores each valid action by its likelihood."""

    settings_class = ChooseSettings
    settings: ChooseSettings

    def set_up(self) -> None:
        """Check that the model can score, and load the prompt."""
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
        """Return the valid action with the best score; ``look`` if none is listed."""
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


# --- SayCan (Ahn et al. 2022) -------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class SayCanSettings(ChooseSettings):
    """Settings of SayCan: those of ``choose``, and the source of affordances.

    Attributes:
        llm: A model that scores, or its spec; without it and ``model``, a rule scores the words
            that an action shares with task, lessons and memory.
        score: ``sum`` as in the paper; others as in ``choose``, only for a model.
        value: Folder of a trained DRRN whose values are the affordances; empty to learn them.
    """

    llm: str | ChatModel = dataclasses.field(default="", kw_only=False)
    score: Score = "sum"
    value: str = ""


class Affordances:
    """Estimates of p(c | s, action), the probability of success, from this policy's steps.

    A step succeeds if it gains points or reaches a new state of the episode, without losing. The
    share of successes of an action form, ``take <> from <>``, is kept over all episodes. It is
    divided by one plus the number of times that the action was taken in this state of the episode.
    """

    def __init__(self) -> None:
        self._tries: Counter[str] = Counter()
        self._wins: Counter[str] = Counter()
        self.begin()

    def begin(self) -> None:
        """Start an episode."""
        self._here: Counter[tuple[State, str]] = Counter()
        self._seen: set[State] = set()

    def add(self, step: Transition) -> None:
        """Count a step."""
        state, form = _state(step.obs), parse_action(step.action).form
        self._seen.add(state)
        self._tries[form] += 1
        self._wins[form] += self.useful(step)
        self._here[state, step.action] += 1

    def useful(self, step: Transition) -> bool:
        """True if a step is a success."""
        new = not step.terminated and _state(step.next_obs) not in self._seen
        return step.reward > 0 or (new and step.reward == 0)

    def of(self, obs: Observation, action: str) -> float:
        """Return the affordance of an action, in (0, 1)."""
        form = parse_action(action).form
        share = (self._wins[form] + 1) / (self._tries[form] + 2)
        return share / (1 + self.tried(obs, action))

    def ranked(self, obs: Observation, actions: tuple[str, ...]) -> list[str]:
        """Return actions by shared words times affordance, best first: rule-based SayCan."""
        worth = overlap({**obs, "valid_actions": actions})
        worth = worth + np.log([self.of(obs, action) for action in actions])
        return [actions[i] for i in np.argsort(-np.round(worth, 9), kind="stable")]

    def tried(self, obs: Observation, action: str) -> int:
        """Return how often the action was taken in this state of the episode."""
        return self._here[_state(obs), action]


class SayCan(Choose):
    """SayCan: argmax p(c | s, action) p(action | instruction) (section 3, Algorithm 1).

    The first factor is the affordance, the second the language model's likelihood. The paper's
    affordances are values of trained skills; here every valid action can be carried out, so
    success is progress, learnt while playing, or the value of a DRRN.
    """

    settings_class = SayCanSettings
    settings: SayCanSettings
    default_llm: ClassVar[str] = "transformers"

    def set_up(self) -> None:
        """Load the scorer and the values."""
        if self.llm is not None:
            super().set_up()
        self.learnt = Affordances()
        self._learner: Any = None
        if self.settings.value:
            from gym_memory.baselines.rl.drrn import DrrnLearner  # needs torch
            from gym_memory.baselines.rl.players import load_player

            self._learner = load_player(self.settings.value, DrrnLearner)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode, keeping the statistics of action forms."""
        super().reset(info, seed)
        self.learnt.begin()

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the best valid action by likelihood and affordance."""
        return super().act(rewarded(obs, info), info)

    def update(self, transition: Transition) -> None:
        """Learn from the step."""
        super().update(transition)
        self.learnt.add(transition)

    def scores(self, obs: Observation) -> NDArray[np.float64]:
        """Return the logarithm of likelihood times affordance of each valid action."""
        likely = overlap(obs) if self.llm is None else super().scores(obs)
        return likely + np.log(self.affordances(obs))

    def affordances(self, obs: Observation) -> NDArray[np.float64]:
        """Return the affordance of each valid action, > 0; the scale does not matter."""
        if self._learner is None:
            return np.array([self.learnt.of(obs, action) for action in obs["valid_actions"]])
        (values,) = self._learner.values([self._learner.see(obs)])
        return np.maximum(values.astype(np.float64), _MIN_AFFORDANCE)


def overlap(obs: Observation) -> NDArray[np.float64]:
    """Return the log-likelihood of each valid action by shared words.

    The weight of an action is one plus the mean, over its words, of the number of texts (task,
    lessons, memory) with the word; weights are normalized.
    """
    texts = (obs["task"], " ".join(obs["lessons"]), obs["memory"])
    sources = [{stem(word) for word in compounds(text)} for text in texts]
    weights = np.ones(len(obs["valid_actions"]))
    for i, action in enumerate(obs["valid_actions"]):
        parsed = parse_action(action)
        words = [stem(w) for part in (parsed.verb, *parsed.names) for w in compounds(part)]
        held = sum(word in source for word in words for source in sources)
        weights[i] += held / max(len(words), 1)
    shares: NDArray[np.float64] = np.log(weights / weights.sum())
    return shares


def _state(obs: Observation) -> State:
    return place_of(obs), obs["inventory"], obs["valid_actions"] or (obs["text"],)
