"""CLIN's controller and executor (Majumder et al., Section 3.1).

The controller selects useful learnings and sets a goal; the executor turns the goal into a valid
action. An invalid action is replaced by the most similar valid one, if their sentence embeddings
are similar enough; otherwise the executor tries again. The paper's memory is ``clin``, whose
learnings have the numbers that the controller names.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import warnings
from typing import Annotated, Any, NamedTuple

from gym_memory.baselines.llm.answers import UnreadableAnswerError
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.core.errors import MissingDependencyError
from gym_memory.core.optional import require
from gym_memory.core.records import Observation, PlanState
from gym_memory.core.settings import Help
from gym_memory.memory.encoders import DEFAULT_MODEL, Encoder, make_encoder
from gym_memory.memory.roles.text import prose

__all__ = ["Clin", "ClinSettings", "usual_encoder"]

_ID = re.compile(r"\s*(\d+)\.")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClinSettings(LanguageSettings):
    """Settings of CLIN: those of its executor.

    Attributes:
        controller: Whether the controller sets goals (the ablation Abl-Controller-Base).
        encoder: Sentence encoder of that comparison; empty for none; None for sentence-transformers
            if its weights are available, else hashed words.
    """

    history_tokens: int | None = 1000
    temperature: float = 0.0
    controller: bool = True
    tries: Annotated[
        int, Help("Answers of the executor at one step: 5 in the paper, 3 in its code.", low=1)
    ] = 5
    threshold: Annotated[
        float, Help("Least cosine at which a similar valid action is taken.", low=0, high=1)
    ] = 0.9
    encoder: str | None = None
    constrain: bool = dataclasses.field(default=False, init=False)


class _GroundedGoal(NamedTuple):
    """A goal with the ids of its learnings and a reason (Figure 6)."""

    text: str
    learnings: tuple[int, ...] = ()
    rationale: str = ""


class Clin(LanguagePolicy):
    """CLIN's agent: it sets a goal with the help of learnings, then chooses an action for it.

    Attributes:
        similar_actions: Number of answers replaced by a similar valid action.
    """

    settings_class = ClinSettings
    settings: ClinSettings

    def set_up(self) -> None:
        """Reset the counter."""
        self.similar_actions = 0

    def counters(self) -> dict[str, float]:
        """Return the counters, including answers replaced by a similar valid action."""
        return {**super().counters(), "similar_actions": self.similar_actions}

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the executor's action for the controller's goal."""
        situation = self.situation(obs)
        actions, memory = situation.pop("actions"), situation.pop("memory")
        kept = _GroundedGoal(str(self.focus.aim))
        if self.settings.controller:
            kept = self.attempt(lambda: self._control(situation, memory), kept)
        goal, ids, rationale = kept
        self.focus = PlanState(goal, thought=f"{goal} ({rationale})" if rationale else goal)
        self.think(goal)
        chosen = self.settings.controller
        used = [lesson for lesson in obs["lessons"] if _id(lesson) in ids or not chosen]
        slots = {**situation, "actions": actions, "goal": goal, "learnings": "\n".join(used)}
        return self._execute(slots, obs)

    def _control(self, situation: dict[str, str], memory: str) -> _GroundedGoal:
        answer = self.ask("clin_goal", _goal_schema(), memory=memory, **situation).parsed
        goal, rationale = (" ".join(x.split())[:1000] for x in (answer.goal, answer.rationale))
        return _GroundedGoal(goal, tuple(answer.learnings), rationale)

    def _execute(self, slots: dict[str, str], obs: Observation) -> str:
        valid, feedback, answer, action = obs["valid_actions"], "", "", ""
        for turn in range(self.settings.tries):
            if turn:
                self.invalid_actions += bool(answer)
                feedback = f"{answer[:200]!r} is not among the possible actions."
            answer = self.attempt(functools.partial(self._ask_action, feedback, slots), "")
            action = self._exact_action(answer, obs) if answer else ""
            if action or not valid:
                break
        return self.act_on(action or answer, obs)

    def _ask_action(self, feedback: str, slots: dict[str, str]) -> str:
        return prose(self.ask("clin_act", feedback=feedback, **slots).text)

    def _exact_action(self, answer: str, obs: Observation) -> str:
        try:
            return self.read(answer, obs).action
        except UnreadableAnswerError:
            return self._similar_action(answer, obs["valid_actions"])

    def _similar_action(self, answer: str, valid: tuple[str, ...]) -> str:
        name = self.settings.encoder
        if name == "" or not valid:
            return ""
        encoder = make_encoder(name) if name else usual_encoder()
        vectors = encoder.encode([answer[:200], *valid])
        likeness = vectors[1:] @ vectors[0]
        best = int(likeness.argmax())
        if likeness[best] <= self.settings.threshold:
            return ""
        self.similar_actions += 1
        return valid[best]


@functools.cache
def usual_encoder() -> Encoder:
    """Return the default encoder of actions: hashed words without the weights."""
    try:
        return make_encoder(DEFAULT_MODEL)
    except MissingDependencyError as missing:
        warnings.warn(f"CLIN compares actions by hashed words instead: {missing}", stacklevel=2)
        return make_encoder("hash")


def _id(lesson: str) -> int:
    number = _ID.match(lesson)
    return int(number[1]) if number else 0


@functools.cache
def _goal_schema() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    goal = Annotated[str, pydantic.Field(min_length=1)]
    return pydantic.create_model(
        "Goal", learnings=(list[int], []), rationale=(str, ""), goal=(goal, ...)
    )
